defmodule PtcRunner.Agent.SchemaCall do
  @moduledoc false
  # A call of a tool that is described by JSON Schemas: names are as the schema has them, arguments that it allows arrive, all others are
  # errors.

  require Logger

  alias PtcRunner.Agent.{Nearly, Tool}
  alias PtcRunner.Json.{Text, Values}
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.KeyNormalizer
  alias PtcRunner.SubAgent.Signature.{Coercion, ToolCall}
  alias PtcRunner.SubAgent.Signature.FromSchema.{Opened, Shared}

  # Maximum number of undeclared arguments that are reported, and nesting of types in which names are looked for.
  @most 20
  @deepest 100

  @doc """
  The arguments with the names of the schema, as they are sent, and the warnings; or the errors, with the arguments that they are about.

      iex> schema = %{"properties" => %{"user-id" => %{"type" => "integer"}}, "required" => ["user-id"]}
      iex> data = PtcRunner.Agent.Tool.Schemas.arguments(schema).data
      iex> PtcRunner.Agent.SchemaCall.read(data, %{"user_id" => "7"})
      {:ok, %{"user-id" => "7"}, %{"user-id" => 7}, [~s(coerced string "7" to integer)]}
      iex> {:error, errors, _args, nil} = PtcRunner.Agent.SchemaCall.read(data, %{"user-id" => nil, "z" => 1})
      iex> for error <- errors, do: {error.path, error.message}
      [{["z"], "unexpected field: the tool has no such argument"}, {["user-id"], "expected int, got keyword"}]

  """
  @spec read(map(), term()) ::
          {:ok, named :: term(), sent :: term(), warnings :: [String.t()]}
          | {:error, [map()], named :: term(), text :: String.t() | nil}
  def read(data, raw) do
    {args, told} = raw |> named(data.type) |> Nearly.defaults_of(data.defaults)

    with [] <- undeclared(data, args),
         {:ok, coerced, warnings} <- ToolCall.data_input(data.type, args),
         {:ok, sent} <- opened(data, coerced) do
      {:ok, args, sent, told ++ warnings}
    else
      [_ | _] = errors -> {:error, others(data, args, errors), args, nil}
      {:error, {:invalid_input, [], text}} -> {:error, [], args, text}
      {:error, {:invalid_input, errors, _text}} -> {:error, errors, args, nil}
      {:error, errors} -> {:error, errors, args, nil}
    end
  end

  @doc """
  What a call gives that its tool has answered with `value`.

      iex> data = %{returns: :int, results: :enabled}
      iex> PtcRunner.Agent.SchemaCall.result(%PtcRunner.Agent.Tool{name: "t", fun: & &1, data: data}, 7, [])
      {:ok, 7, []}

  """
  @spec result(Tool.t(), term(), [String.t()]) ::
          {:ok, term(), [String.t()]} | {:error, {:invalid_output, [map()], String.t()}}
  def result(%Tool{data: data} = tool, value, warnings) do
    reading = {&Values.plain/1, &is_struct(&1, Text)}
    ToolCall.data_output(data.returns, value, warnings, unfit(tool), reading)
  end

  defp unfit(%Tool{data: %{results: :enabled}}), do: nil

  defp unfit(%Tool{name: name}) do
    fn lines -> Logger.warning("tool #{Shown.quoted(name)}: #{Shown.few(lines, & &1)}") end
  end

  # What a coercion does not know: the types of other fields.
  defp opened(%{others: nil}, coerced), do: {:ok, coerced}
  defp opened(%{others: type}, coerced), do: Opened.coerced(coerced, type)

  # The given errors, and those of the types.
  defp others(data, args, errors) do
    with {:ok, coerced, _warnings} <- Coercion.data(args, data.type),
         {:ok, _coerced} <- opened(data, coerced) do
      errors
    else
      {:error, found} when is_list(found) -> errors ++ found
      {:error, text} -> errors ++ [%{path: [], message: text}]
    end
  end

  # Arguments that the tool does not have, and of which its schema says nothing.
  defp undeclared(%{open: :unsaid, names: known}, args)
       when is_map(args) and not is_struct(args) do
    names = for {name, _value} <- args, not is_map_key(known, key(name)), do: name

    for name <- names |> Enum.sort() |> Enum.take(@most),
        do: %{path: [key(name)], message: "unexpected field: the tool has no such argument"}
  end

  defp undeclared(_data, _args), do: []

  defp key(name) when is_binary(name), do: name
  defp key(name) when is_atom(name), do: Atom.to_string(name)
  defp key(name), do: Shown.text(name, 200)

  # A key that differs from the name of one field only in hyphens and underscores is that field's, if its own key is not there.
  defp named(value, type), do: named(value, type, %{}, 0)

  defp named(value, _type, _names, @deepest), do: value

  defp named(map, {kind, fields}, names, depth)
       when kind in [:map, :closed_map] and is_map(map) and not is_struct(map) and fields != [] do
    known = Map.new(fields)

    map
    |> Map.keys()
    |> Enum.reject(&(not is_binary(&1) or is_map_key(known, &1)))
    |> Enum.reduce(map, &renamed(&2, &1, fields))
    |> each(fn key -> Map.get(known, key) end, names, depth)
  end

  defp named(map, {:map_of, type}, names, depth) when is_map(map) and not is_struct(map),
    do: each(map, fn _key -> type end, names, depth)

  defp named([_ | _] = list, {:list, type}, names, depth) do
    if scalar?(type) or List.improper?(list),
      do: list,
      else: Enum.map(list, &named(&1, type, names, depth + 1))
  end

  defp named(value, {:optional, type}, names, depth), do: named(value, type, names, depth)
  defp named(value, {:where, type, _rules}, names, depth), do: named(value, type, names, depth)

  defp named(value, {:defs, inner, type}, names, depth),
    do: named(value, type, Map.merge(names, inner), depth)

  defp named(value, {:ref, name}, names, depth),
    do: named(value, Map.get(names, name, :any), names, depth + 1)

  # The fields of all types that a union may be: a key that one of them declares is no other spelling of a field of another one.
  defp named(map, {:one_of, types, field}, names, depth)
       when is_map(map) and not is_struct(map) do
    types = told(types, field, map)
    union = {:one_of, types, nil}
    fields = Shared.fields(if(names == %{}, do: union, else: {:defs, names, union}))
    map = named(map, {:map, fields}, names, depth + 1)
    others = for type <- types, {:map_of, other} <- [plain(type)], do: other
    known = if others == [], do: %{}, else: Map.new(fields)

    if others == [],
      do: map,
      else: each(map, &if(not is_map_key(known, &1), do: one(others)), names, depth)
  end

  defp named([_ | _] = list, {:one_of, types, _field}, names, depth) do
    case for type <- types, {:list, item} <- [plain(type)], do: item do
      [] -> list
      items -> named(list, {:list, one(items)}, names, depth)
    end
  end

  defp named(value, _type, _names, _depth), do: value

  defp one([type]), do: type
  defp one(types), do: {:one_of, types, nil}

  defp plain({:where, type, _rules}), do: plain(type)
  defp plain(type), do: type

  # The types of which the discriminator has the value in the map; all if there are none.
  defp told(types, nil, _map), do: types

  defp told(types, field, map) do
    value = Map.get(map, field)

    case Enum.filter(types, &of?(plain(&1), field, value)) do
      [] -> types
      told -> told
    end
  end

  defp of?({_kind, fields}, field, value) when is_list(fields) do
    case List.keyfind(fields, field, 0) do
      {_field, {:where, _type, rules}} -> value in (rules[:enum] || [])
      _other -> false
    end
  end

  defp of?(_type, _field, _value), do: false

  defp scalar?(type), do: is_atom(type) or match?({:where, scalar, _} when is_atom(scalar), type)

  defp renamed(map, key, fields) do
    low = KeyNormalizer.normalize_key(key)

    case for {name, _type} <- fields, KeyNormalizer.normalize_key(name) == low, do: name do
      [name] when not is_map_key(map, name) -> map |> Map.delete(key) |> Map.put(name, map[key])
      _none -> map
    end
  end

  defp each(map, type_of, names, depth) do
    Enum.reduce(map, map, fn {key, value}, map ->
      type = if is_map(value) or is_list(value), do: type_of.(key)

      if type == nil do
        map
      else
        case named(value, type, names, depth + 1) do
          ^value -> map
          other -> Map.put(map, key, other)
        end
      end
    end)
  end
end
