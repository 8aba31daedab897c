defmodule PtcRunner.SubAgent.TypeExtractor.Spec do
  @moduledoc false
  # Converts the specs and types of a module, as the compiler stores them, to the text of a signature.

  # Maximum depth of expanding the module's own types.
  @expansions 3

  @doc "The signature of a function, from the spec of that name with the highest arity."
  @spec signature(module(), atom(), [String.t()]) :: String.t() | nil
  def signature(module, name, names) do
    with {:ok, attributes} <- attributes(module),
         [_ | _] = specs <-
           for(
             {:attribute, _, :spec, {{^name, arity}, clauses}} <- attributes,
             do: {arity, clauses}
           ),
         {_arity, [{:type, _, :fun, [{:type, _, :product, params}, returns]} | _]} <-
           Enum.max_by(specs, &elem(&1, 0)) do
      types = {types(attributes), @expansions}
      "(#{params(params, names, types)}) -> #{text(returns, types)}"
    else
      _ -> nil
    end
  end

  @doc "The clauses of a function's spec, as the compiler stores them, and the definitions of its module."
  @spec clauses(module(), atom(), arity()) :: {[tuple()], definitions()} | nil
  def clauses(module, name, arity) do
    with {:ok, attributes} <- attributes(module),
         [clauses] <- for({:attribute, _, :spec, {{^name, ^arity}, all}} <- attributes, do: all) do
      {clauses, defined(attributes)}
    else
      _ -> nil
    end
  end

  @typedoc "The variables and the type of each definition, by its name and arity."
  @type definitions :: %{{atom(), arity()} => {[tuple()], tuple()}}

  @doc "The types that a module defines; none if its file has no debug information."
  @spec definitions(module()) :: definitions()
  def definitions(module) do
    case attributes(module) do
      {:ok, attributes} -> defined(attributes)
      _ -> %{}
    end
  end

  defp defined(attributes) do
    for {:attribute, _, kind, {name, type, vars}} <- attributes,
        kind in [:type, :opaque],
        into: %{},
        do: {{name, length(vars)}, {vars, type}}
  end

  # Reads the specs and types of a module in one read of its file.
  defp attributes(module) do
    with {^module, beam, _file} <- :code.get_object_code(module),
         {:ok, {^module, [debug_info: {:debug_info_v1, backend, data}]}} <-
           :beam_lib.chunks(beam, [:debug_info]) do
      case data do
        {:elixir_v1, %{}, attributes} -> {:ok, attributes}
        _of_erlang -> backend.debug_info(:erlang_v1, module, data, [])
      end
    end
  end

  defp types(attributes) do
    for {:attribute, _, :type, {name, type, []}} <- attributes, into: %{}, do: {name, type}
  end

  defp params(params, names, types) do
    params
    |> Enum.with_index()
    |> zip(names)
    |> Enum.map_join(", ", fn {{type, index}, name} ->
      "#{param(name, index)} #{text(type, types)}"
    end)
  end

  # Every parameter, with its name or an empty name.
  defp zip([], _names), do: []
  defp zip([param | params], [name | names]), do: [{param, name} | zip(params, names)]
  defp zip([param | params], []), do: [{param, ""} | zip(params, [])]

  defp param(<<first, rest::binary>> = name, index)
       when first in ?a..?z or first in ?A..?Z or first == ?_,
       do: if(identifier?(rest), do: name, else: "arg#{index}")

  defp param(_name, index), do: "arg#{index}"

  defp identifier?(<<c, rest::binary>>)
       when c in ?a..?z or c in ?A..?Z or c in ?0..?9 or c in [?_, ?-],
       do: identifier?(rest)

  defp identifier?(rest), do: rest == ""

  defp text({:ann_type, _, [_name, type]}, types), do: text(type, types)
  defp text({:paren_type, _, [type]}, types), do: text(type, types)
  defp text({:type, _, name, []}, _types), do: builtin(name)
  defp text({:type, _, :list, [type]}, types), do: "[#{text(type, types)}]"
  defp text({:type, _, :map, :any}, _types), do: ":map"
  defp text({:type, _, :map, fields}, types), do: map(fields, types)
  defp text({:type, _, :union, members}, types), do: union(members, types)
  defp text({:remote_type, _, [module, name, []]}, _types), do: remote(module, name)
  defp text({:user_type, _, name, []}, types), do: own(name, types)
  defp text(_other, _types), do: ":any"

  defp builtin(:binary), do: ":string"
  defp builtin(name) when name in [:integer, :non_neg_integer, :pos_integer], do: ":int"
  defp builtin(name) when name in [:float, :number], do: ":float"
  defp builtin(:boolean), do: ":bool"
  defp builtin(:atom), do: ":keyword"
  defp builtin(:map), do: ":map"
  defp builtin(:list), do: "[:any]"
  defp builtin(_name), do: ":any"

  defp remote({:atom, _, module}, {:atom, _, :t})
       when module in [String, DateTime, Date, Time, NaiveDateTime],
       do: ":string"

  defp remote(_module, _name), do: ":any"

  defp own(name, {own, left}) do
    case own do
      %{^name => type} when left > 0 -> text(type, {own, left - 1})
      _ -> ":any"
    end
  end

  # A struct is shown by its fields: no model can write its module.
  defp map(fields, types) do
    case for {:type, _, :map_field_exact, [{:atom, _, key}, type]} <- fields,
             key != :__struct__,
             do: {key, type} do
      [] -> ":map"
      fields -> "{#{Enum.map_join(fields, ", ", fn {key, type} -> field(key, type, types) end)}}"
    end
  end

  defp field(key, type, types), do: "#{key} #{text(type, types)}"

  defp union([{:atom, _, nil}, type], types), do: optional(text(type, types))
  defp union([type, {:atom, _, nil}], types), do: optional(text(type, types))

  defp union([{_, _, :tuple, [tag, a]}, {_, _, :tuple, [other, b]}], types) do
    case {tag, other} do
      {{:atom, _, :ok}, {:atom, _, :error}} -> outcome(a, b, types)
      {{:atom, _, :error}, {:atom, _, :ok}} -> outcome(b, a, types)
      _others -> ":any"
    end
  end

  defp union(_members, _types), do: ":any"

  defp outcome(result, error, types),
    do: "{result #{text(result, types)}, error #{optional(text(error, types))}}"

  defp optional(text), do: if(String.ends_with?(text, "?"), do: text, else: text <> "?")
end
