defmodule PtcRunner.SubAgent.Signature.Given do
  @moduledoc false
  # Signatures that are given as Elixir terms: as fields, or as a JSON Schema.

  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Annotate, FromSchema, Parser}

  @words %{
    string: :string,
    int: :int,
    float: :float,
    bool: :bool,
    boolean: :bool,
    keyword: :keyword,
    any: :any,
    map: :map,
    datetime: :datetime,
    date: :date,
    decimal: :decimal,
    number: :number
  }

  # The type terms of two and three parts.
  @parts [:list, :map, :closed_map, :map_of, :optional, :ref]
  @wide [:where, :one_of, :defs, :struct]
  @alone ". A type alone is written as {:signature, [], type}"

  @doc """
  Whether a term is a signature as fields or as a JSON Schema, alone or as arguments and result.

      iex> Enum.map([[a: :int], %{"type" => "null"}, {[a: :int], :any}, %{}, [:int], 1], &PtcRunner.SubAgent.Signature.Given.given?/1)
      [true, true, true, false, true, false]

  """
  @spec given?(term()) :: boolean()
  def given?({{:signature, [], _type}, _returns}), do: true
  def given?({params, _returns}), do: params == [] or part?(params)
  def given?(other), do: part?(other)

  defp part?([_ | _] = list), do: not List.improper?(list)
  defp part?(map), do: is_map(map) and not is_struct(map) and map != %{}

  @doc """
  What to write instead of a term that is no signature, if that is known.

      iex> PtcRunner.SubAgent.Signature.Given.hint({:list, :int})
      ". A type alone is written as {:signature, [], type}"

      iex> PtcRunner.SubAgent.Signature.Given.hint(7)
      ""

  """
  @spec hint(term()) :: String.t()
  def hint(%{__struct__: PtcRunner.Agent.Tool}),
    do: ". The signature of a tool is in its field :signature"

  def hint(word) when is_map_key(@words, word), do: @alone
  def hint({kind, _type}) when kind in @parts, do: @alone
  def hint({kind, _type, _more}) when kind in @wide, do: @alone
  def hint(_other), do: ""

  @doc "The signature, or the text of what is wrong."
  @spec read(term()) :: {:ok, Signature.t()} | {:error, String.t()}
  def read({params, returns}) do
    {:ok, {:signature, params(params), type(returns, "->")}}
  catch
    {:no_type, text} -> {:error, text}
  end

  def read(returns) do
    {:ok, {:signature, [], type(returns, "")}}
  catch
    {:no_type, text} -> {:error, text}
  end

  defp params([]), do: []

  defp params(given) do
    case type(given, "") do
      {kind, fields} when kind in [:map, :closed_map] ->
        fields

      _other ->
        bad("", "the arguments must be fields, or a JSON Schema of an object", given)
    end
  end

  @doc "The type of a term, at the path of errors."
  @spec type(term(), String.t()) :: Signature.type()
  def type(word, _path) when is_map_key(@words, word), do: Map.fetch!(@words, word)

  def type(text, path) when is_binary(text) do
    case Parser.parse(text) do
      {:ok, {:signature, [], type}} -> type
      {:ok, _signature} -> bad(path, "a type has no arguments", text)
      {:error, why} -> raise_at(path, why)
    end
  end

  # Fields, by name.
  def type([{name, _type} | _] = fields, path) when is_atom(name) do
    if Keyword.keyword?(fields),
      do: {:map, fields(fields, path)},
      else: bad(path, "fields must be a keyword list", fields)
  end

  def type([type], path), do: {:list, type(type, path <> "[]")}

  def type(map, path) when is_map(map) and not is_struct(map) and map != %{} do
    case map |> Map.keys() |> Enum.split_with(&is_binary/1) do
      {_keys, []} -> schema(map, path)
      {[], keys} -> of_keys(Enum.all?(keys, &(is_atom(&1) and &1 != nil)), map, path)
      {_some, _others} -> bad(path, "keys must be atoms (fields) or strings (a JSON Schema)", map)
    end
  end

  def type({kind, type}, path) when kind in [:optional, :list, :map_of],
    do: {kind, type(type, path)}

  def type({:ref, name}, _path) when is_binary(name), do: {:ref, name}

  def type({kind, fields}, path) when kind in [:map, :closed_map] and is_list(fields) do
    cond do
      fields == [] ->
        {kind, []}

      Enum.all?(fields, &match?({name, _type} when is_binary(name), &1)) ->
        {kind, fields(fields, path)}

      kind == :closed_map and Keyword.keyword?(fields) ->
        {kind, fields(fields, path)}

      true ->
        ruled(kind, fields, path)
    end
  end

  # A signature without arguments stands for its result.
  def type({:signature, [], type}, _path), do: type
  def type({:where, type, rules}, path), do: ruled(type, rules, path)
  def type({:struct, module, type}, path), do: {:struct, module, type(type, path)}

  def type({:one_of, types, field}, path) when is_list(types),
    do: {:one_of, Enum.map(types, &type(&1, path)), field}

  def type({:defs, names, type}, path) when is_map(names) do
    names = Map.new(names, fn {name, type} -> {name, type(type, path)} end)
    {:defs, names, type(type, path)}
  end

  def type({type, rules}, path), do: ruled(type, rules, path)

  def type(other, path) do
    words = @words |> Map.keys() |> Enum.sort() |> Enum.map_join(", ", &inspect/1)
    bad(path, "a type must be one of #{words}, fields, [type] or {type, rules}", other)
  end

  defp of_keys(true, map, path), do: {:map, fields(Enum.sort(map), path)}
  defp of_keys(false, map, path), do: bad(path, "the names of fields must be atoms", map)

  defp fields(fields, path) do
    made =
      for {name, type} <- fields do
        name = to_string(name)
        {name, type(type, join(path, name))}
      end

    case made -- Enum.uniq_by(made, &elem(&1, 0)) do
      [] -> made
      [{name, _type} | _] -> raise_at(path, "the field #{Shown.quoted(name)} is given twice")
    end
  end

  defp join("", name), do: name
  defp join("->", name), do: "-> " <> name
  defp join(path, name), do: path <> "." <> name

  defp ruled(type, rules, path) do
    if not Keyword.keyword?(rules), do: bad(path, "rules must be a keyword list", rules)

    with [_ | _] <- rules,
         {:error, why} <- rules |> annotated(type(type, path)) do
      raise_at(path, String.replace_prefix(why, "the result: ", ""))
    else
      [] -> type(type, path)
      {:ok, {:signature, [], type}} -> type
    end
  end

  defp annotated(rules, type), do: Annotate.annotate({:signature, [], type}, "", rules)

  defp schema(schema, path) do
    case FromSchema.read(schema, []) do
      {:ok, {:signature, [], type}, []} ->
        type

      {:ok, _signature, dropped} ->
        raise_at(
          path,
          "a type cannot keep all of this JSON Schema: " <>
            (dropped |> FromSchema.sentences() |> Shown.few(& &1)) <>
            ". Signature.from_schema/2 returns a signature without these parts"
        )

      {:error, why} ->
        raise_at(path, "no JSON Schema: #{why}")
    end
  end

  @spec bad(String.t(), String.t(), term()) :: no_return()
  defp bad(path, wanted, got), do: raise_at(path, "#{wanted}, got #{Shown.text(got, 200)}")

  @spec raise_at(String.t(), String.t()) :: no_return()
  defp raise_at("", text), do: throw({:no_type, text})
  defp raise_at("->", text), do: throw({:no_type, "the result: " <> text})
  defp raise_at(path, text), do: throw({:no_type, "#{Shown.name(path)}: #{text}"})
end
