defmodule PtcRunner.Test.Disguise do
  @moduledoc """
  Data of JSON as Elixir data that mean the same where structs are read as values, and back: texts as atoms,
  maps as structs or with atom keys, ISO 8601 texts under `"at"` as dates, integers under `"price"` as decimals.

  A program over the disguised data must give what it gives over the plain data, disguised in some way: so the
  oracle, which knows plain data only, says what is right.
  """

  import PtcRunner.Test.Random

  # Other tests count the atoms that are made while they run: a text whose atom does not exist stays a text.
  @atoms ~w(id name amount active tags nested items date status at price tag open closed paid reopened)a
  @texts ~w(a b ab abc 1 é žlutý 日本 🙂)a

  @doc "The atoms that texts and keys become."
  @spec atoms() :: [atom()]
  def atoms, do: @atoms ++ @texts

  @doc """
  The data in a random disguise; `keys?` says whether keys may become atoms.

      iex> state = :rand.seed_s(:exsss, 1)
      iex> plain = %{"at" => "2024-02-29", "price" => 12, "status" => ["open", nil]}
      iex> {disguised, _state} = PtcRunner.Test.Disguise.disguise(plain, true).(state)
      iex> PtcRunner.Test.Disguise.plain(disguised)
      %{"at" => "2024-02-29", "price" => 12, "status" => ["open", nil]}
  """
  @spec disguise(term(), boolean()) :: PtcRunner.Test.Random.generator(term())
  def disguise(plain, keys?), do: &build(hidden(plain, keys?), &1)

  defp hidden(map, keys?) when is_map(map) and not is_struct(map) do
    fields = Map.new(map, fn {key, value} -> {key, field(key, value, keys?)} end)
    map(fields, fn fields -> if keys?, do: one_of(forms(fields)), else: quoted(fields) end)
  end

  defp hidden([], _keys?), do: []
  defp hidden([first | rest], keys?), do: [hidden(first, keys?) | hidden(rest, keys?)]

  defp hidden(tuple, keys?) when is_tuple(tuple),
    do: tuple |> Tuple.to_list() |> hidden(keys?) |> List.to_tuple()

  defp hidden(text, _keys?) when is_binary(text), do: one_of([text, atom(text)])
  defp hidden(other, _keys?), do: quoted(other)

  # Not a template: it may contain functions of one argument.
  defp quoted(term), do: fn state -> {term, state} end

  defp field("at", text, _keys?) when is_binary(text) do
    case Date.from_iso8601(text) do
      {:ok, date} -> one_of([text, date])
      {:error, _reason} -> text
    end
  end

  defp field("price", n, _keys?) when is_integer(n) do
    {sign, coef} = {if(n < 0, do: -1, else: 1), abs(n)}

    shift = fn by ->
      %{__struct__: Decimal, sign: sign, coef: coef * Integer.pow(10, by), exp: -by}
    end

    one_of([n, shift.(0), shift.(1), shift.(30)])
  end

  defp field(_key, value, keys?), do: hidden(value, keys?)

  defp forms(fields) do
    case Enum.all?(fields, fn {key, _value} -> is_atom(atom(key)) end) do
      false ->
        [quoted(fields)]

      true ->
        named = Map.new(fields, fn {key, value} -> {atom(key), value} end)
        struct = Map.merge(named, %{__struct__: __MODULE__.Row, __meta__: map_size(fields)})
        [quoted(fields), quoted(named), quoted(struct)]
    end
  end

  defp atom(text) when text in ["nil", "true", "false"], do: text

  defp atom(text) when is_binary(text) do
    String.to_existing_atom(text)
  rescue
    ArgumentError -> text
  end

  defp atom(other), do: other

  @doc """
  The plain data that mean the same.

      iex> PtcRunner.Test.Disguise.plain([:open, ~D[2024-02-29], %{__struct__: Row, id: nil}])
      ["open", "2024-02-29", %{"id" => nil}]
  """
  @spec plain(term()) :: term()
  def plain(%module{} = value) when module in [Date, DateTime], do: module.to_iso8601(value)

  def plain(%{__struct__: Decimal, sign: sign, coef: coef, exp: exp}),
    do: sign * div(coef, Integer.pow(10, -exp))

  def plain(map) when is_map(map) do
    for {key, value} <- Map.to_list(map), key not in [:__struct__, :__meta__], into: %{} do
      {plain(key), plain(value)}
    end
  end

  def plain([first | rest]), do: [plain(first) | plain(rest)]

  def plain(tuple) when is_tuple(tuple),
    do: tuple |> Tuple.to_list() |> plain() |> List.to_tuple()

  def plain(atom) when is_atom(atom) and atom not in [nil, true, false], do: Atom.to_string(atom)
  def plain(other), do: other

  @doc """
  The program over the plain data: its values become plain. An atom in the place of a name of a node is no value; it
  stays, because no program may have one there.

      iex> PtcRunner.Test.Disguise.plain_program(%{"op" => "eq", "field" => :a, "value" => :open})
      %{"op" => "eq", "field" => :a, "value" => "open"}
  """
  @spec plain_program(term()) :: term()
  def plain_program(%{"op" => _} = node) do
    Map.new(node, fn
      {key, name} when is_atom(name) and key not in ["value", "default"] -> {key, name}
      {key, names} when key in ["path", "fields"] and is_list(names) -> {key, names}
      {key, value} -> {plain(key), plain_program(value)}
    end)
  end

  def plain_program(%{} = fields) when not is_struct(fields),
    do: Map.new(fields, fn {key, value} -> {plain(key), plain_program(value)} end)

  def plain_program([first | rest]), do: [plain_program(first) | plain_program(rest)]
  def plain_program(value), do: plain(value)

  @doc "Dates as their ISO 8601 texts, and nothing else changed."
  @spec undated(term()) :: term()
  def undated(%module{} = value) when module in [Date, DateTime], do: module.to_iso8601(value)
  def undated(struct) when is_struct(struct), do: struct

  def undated(map) when is_map(map),
    do: Map.new(map, fn {key, value} -> {key, undated(value)} end)

  def undated([first | rest]), do: [undated(first) | undated(rest)]

  def undated(tuple) when is_tuple(tuple),
    do: tuple |> Tuple.to_list() |> undated() |> List.to_tuple()

  def undated(other), do: other
end
