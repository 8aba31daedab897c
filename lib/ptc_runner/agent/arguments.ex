defmodule PtcRunner.Agent.Arguments do
  @moduledoc false
  # The arguments of a call as its tool gets them. Runs, checks before a run, and what a person sees of a call all ask here:
  #
  #   arguments of the program ──▶ coerced, without what is not declared ──▶ as the function takes them

  alias PtcRunner.Agent.{Nearly, SchemaCall, Spec, Tool}
  alias PtcRunner.Json.Values
  alias PtcRunner.Shown
  alias PtcRunner.Shown.Line
  alias PtcRunner.SubAgent.{KeyNormalizer, Signature}
  alias PtcRunner.SubAgent.Signature.{Base, Enums, ErrorText, ToolCall}

  # Maximum number of undeclared arguments that are reported.
  @most 20

  @typedoc """
  Arguments that were read: `named` are those that the signature knows, `passed` those that the function gets. `errors` are paths and
  messages, `text` has all of them and the signature.
  """
  @type read ::
          {:ok, named :: term(), passed :: term(), warnings :: [String.t()]}
          | {:refused, errors :: [map()], args :: term(), text :: String.t()}

  @doc """
  Reads the arguments of a call.

      iex> tool = %PtcRunner.Agent.Tool{name: "t", fun: & &1, signature: {:signature, [{"at", :date}, {"n", {:optional, :int}}], :any}}
      iex> PtcRunner.Agent.Arguments.read(tool, %{"at" => "2024-02-29", "x" => 1})
      {:ok, %{"at" => ~D[2024-02-29]}, %{"at" => ~D[2024-02-29]}, []}
      iex> {:refused, [error], %{"at" => "2024-02-30"}, text} = PtcRunner.Agent.Arguments.read(tool, %{"at" => "2024-02-30"})
      iex> {error.path, text |> String.split("\\n") |> List.last()}
      {["at"], "It is t(at :date, n :int?) -> :any"}

  """
  @spec read(Tool.t(), term()) :: read()
  def read(tool, raw) do
    # A row that is a struct is an object to the program, so it fits the type of an object by its fields.
    with {:refused, _errors, _args, _text} = refused <- judged(tool, raw) do
      case Values.written(raw) do
        ^raw -> refused
        written -> judged(tool, written)
      end
    else
      {:ok, args, passed, warnings} ->
        {:ok, args, passed, warnings ++ Nearly.cut_arguments(args, raw)}
    end
  end

  defp judged(%Tool{data: data} = tool, raw) when data != nil do
    with {:error, errors, args, text} <- SchemaCall.read(data, raw),
         do: refused(tool, errors, args, text)
  end

  defp judged(%Tool{signature: nil}, raw), do: {:ok, raw, raw, []}

  defp judged(%Tool{} = tool, raw) do
    {:signature, params, _returns} = signature(tool)
    {raw, told} = Nearly.defaults(raw, {:map, params})

    with {:ok, args, warnings} <- ToolCall.input({:map, params}, raw, :json),
         [] <- not_allowed(tool, args),
         {:ok, passed} <- passed(tool, args) do
      {:ok, args, passed, told ++ warnings}
    else
      {:error, {:invalid_input, errors, text}} -> with_enums(tool, raw, errors, text)
      {:error, errors} -> refused(tool, errors, raw, nil)
      errors -> refused(tool, errors, raw, nil)
    end
  end

  defp refused(tool, errors, args, text) do
    text = text || ErrorText.text(errors, args, exact: tool.data != nil)
    {:refused, errors, args, wrong_arguments(tool, text)}
  end

  # The values outside of enumerations are told with the others.
  defp with_enums(
         %Tool{notes: %{enums: enums}, signature: {:signature, params, _}} = tool,
         args,
         errors,
         text
       )
       when enums != %{} and is_map(args) do
    case Enums.beside(errors, Values.plain(args), {:map, params}, enums, :infinity) do
      ^errors -> refused(tool, errors, args, text)
      all -> refused(tool, all, args, nil)
    end
  end

  defp with_enums(tool, args, errors, text), do: refused(tool, errors, args, text)

  defp wrong_arguments(%Tool{signature: nil}, text), do: text

  defp wrong_arguments(tool, text) do
    # Without arguments, the text of a signature begins with its arrow.
    none = if match?({:signature, [], _returns}, tool.signature), do: "() "
    signature = Line.escape(Signature.render(tool.signature))
    "#{text}\nIt is #{Shown.name(tool.name)}#{none}#{signature}"
  end

  @doc "The signature that the arguments and the result of a tool are judged by."
  @spec signature(Tool.t()) :: Signature.t() | nil
  def signature(%Tool{spec: {signature, _form}}), do: signature
  def signature(%Tool{signature: signature}), do: signature

  defp not_allowed(%Tool{notes: nil}, _args), do: []

  defp not_allowed(%Tool{notes: notes, signature: {:signature, params, _}}, args),
    do: Enums.errors(args, {:map, params}, notes.enums, :infinity)

  # The function gets what its spec says.
  defp passed(%Tool{spec: nil}, args), do: {:ok, args}
  defp passed(%Tool{spec: {_signature, form}}, args), do: Spec.given(args, form)

  @doc """
  The arguments that are not passed on, because validation does not find them under a declared name: also those in
  another spelling, and those inside other arguments, by their paths.

      iex> tool = %PtcRunner.Agent.Tool{name: "t", fun: & &1, signature: {:signature, [{"o", {:map, [{"n", :int}]}}], :any}}
      iex> PtcRunner.Agent.Arguments.undeclared(tool, %{"o" => %{"n" => 1, "m" => 2}, "z" => 3})
      ["o.m", "z"]

  """
  @spec undeclared(Tool.t(), term()) :: [term()]
  def undeclared(%Tool{data: data}, _raw) when data != nil, do: []

  def undeclared(%Tool{signature: {:signature, params, _returns}}, raw) when is_map(raw),
    do: {:map, params} |> undeclared(raw, nil) |> Enum.sort() |> Enum.take(@most)

  def undeclared(_tool, _raw), do: []

  defp undeclared({:optional, type}, value, path), do: undeclared(type, value, path)

  defp undeclared({kind, _, _} = type, value, path) when kind in [:where, :struct, :defs],
    do: undeclared(Base.bare(type), value, path)

  defp undeclared({:list, type}, [_ | _] = list, path) do
    if is_atom(type) or List.improper?(list),
      do: [],
      else: list |> Enum.take(@most) |> Enum.flat_map(&undeclared(type, &1, path)) |> Enum.uniq()
  end

  defp undeclared({kind, fields}, map, path) when kind in [:map, :closed_map] and is_map(map) do
    known = Map.new(Enum.flat_map(fields, &spellings/1))

    Enum.flat_map(:maps.to_list(map), fn {key, value} ->
      name = if is_atom(key), do: Atom.to_string(key), else: key

      case known do
        %{^name => type} when is_atom(type) -> []
        %{^name => type} -> undeclared(type, value, joined(path, name))
        _unknown -> [joined(path, key)]
      end
    end)
  end

  defp undeclared(_type, _value, _path), do: []

  # The keys under which validation finds a field.
  defp spellings({name, type}),
    do: for(spelling <- KeyNormalizer.spellings(name), do: {spelling, type})

  defp joined(nil, key), do: key
  defp joined(path, key) when is_binary(path) and is_binary(key), do: path <> "." <> key
  defp joined(_path, key), do: key
end
