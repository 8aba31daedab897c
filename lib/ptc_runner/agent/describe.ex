defmodule PtcRunner.Agent.Describe do
  @moduledoc false
  # Describes data for a prompt: its type, as a signature (`PtcRunner.Agent.DataType`), and a sample.

  alias PtcRunner.Agent.{DataType, Plain}
  alias PtcRunner.Firewall.{Public, Redacted}
  alias PtcRunner.Json.{Codec, Encodable, Values}
  alias PtcRunner.Shown
  alias PtcRunner.Shown.{Budget, Head, Line}

  # @parts is the number of parts of a value that are read for its type, @sampled for its sample, and @searched the number of rows in which an
  # element of a nested list is looked for.
  @depth 4
  @parts 20_000
  @sampled 2_000
  @searched 10_000
  @entries 40
  # A map of at most so many keys is read in the order of their names.
  @wide 200

  @text 80
  @line 2_000
  @omitted "…"

  @doc """
  The type of a value, as text, and how many of its rows were read, if not all. With `values?`, enumerations show their values.

  If the budget is spent, the type is that of what was read before.

      iex> PtcRunner.Agent.Describe.type([%{"id" => 1, "at" => nil}, %{"id" => 2.5, "at" => "now", "a b" => []}])
      ~s([{"a b" [:any]?, at :string?, id :float}])

  """
  @spec type(term(), Budget.t(), boolean()) :: String.t()
  def type(value, budget \\ Budget.new(@parts), values? \\ true) do
    {type, read} = DataType.of(value, budget)
    DataType.text(type, @line, values?) <> DataType.read_text(read)
  end

  @doc """
  A sample of a value, as JSON: the first element of a list, truncated strings, no firewalled fields. What is cut is marked with `…`. A list
  that is empty in the first row has the element of another row.

      iex> PtcRunner.Agent.Describe.sample([%{"id" => 1, "_pin" => 2, "tags" => ["a", "b", "c"]}, %{"id" => 2}])
      ~s([{"id":1,"tags":["a","… 2 more"]}])

      iex> PtcRunner.Agent.Describe.sample([%{"id" => 1, "tags" => []}, %{"id" => 2, "tags" => ["x"]}])
      ~s([{"id":1,"tags":["x"]}])

  """
  @spec sample(term()) :: String.t()
  def sample(value), do: value |> sampled() |> json(@line)

  # The text beside it says how many elements a list has.
  defp sampled(value) do
    left = Budget.new(@sampled)

    case value do
      [_ | _] = list -> [element(list, @depth - 1, left)]
      other -> part(other, @depth, left)
    end
  end

  @doc """
  A value as JSON in at most `limit` bytes; if it is longer, its sample.

      iex> PtcRunner.Agent.Describe.value(Enum.to_list(1..1_000), 100)
      "[1] (the first of 1000 elements)"

  """
  @spec value(term(), pos_integer()) :: String.t()
  def value(value, limit) do
    # Each part takes at least one byte.
    with {:ok, public} <- Public.part(value, limit),
         {:ok, text} <- written(public, limit) do
      text
    else
      _too_large -> (value |> sampled() |> json(limit)) <> length_of(value)
    end
  end

  @doc """
  The length of a list, in words.

      iex> PtcRunner.Agent.Describe.length_of([1, 2])
      " (the first of 2 elements)"

  """
  @spec length_of(term()) :: String.t()
  def length_of([_, _ | _] = list) do
    if List.improper?(list), do: "", else: " (the first of #{length(list)} elements)"
  end

  def length_of(_value), do: ""

  defp json(value, limit) do
    case written(value, limit) do
      {:ok, text} -> text
      :error -> Shown.text(value, limit)
    end
  end

  # Encodes a term if it has a JSON form, unless its shared parts would make the text too long.
  defp written(value, limit) do
    case encoded(value, limit) do
      {:ok, text} -> {:ok, text}
      {:error, :no_form} -> value |> Plain.term(limit) |> encoded(limit) |> written(value, limit)
      {:error, :too_long} -> :error
    end
  end

  defp written({:error, :no_form}, value, limit) do
    with {:error, _reason} <- value |> sampled() |> Encodable.term() |> encoded(limit),
         do: :error
  end

  defp written({:error, :too_long}, _value, _limit), do: :error
  defp written(done, _value, _limit), do: done

  defp encoded(:error, _limit), do: {:error, :too_long}

  # An encoder of the application can raise, for example for an association that is not loaded.
  defp encoded(value, limit) do
    case Codec.encode(value, max_bytes: limit) do
      {:ok, text} -> {:ok, Line.escape(text)}
      {:error, %Protocol.UndefinedError{}} -> {:error, :no_form}
      {:error, _error} -> {:error, :too_long}
    end
  rescue
    _error -> {:error, :no_form}
  end

  defp part(text, _depth, _left) when is_binary(text), do: Shown.cut(text, @text)
  defp part([], _depth, _left), do: []

  defp part(value, 0, _left) when is_list(value) or (is_map(value) and not is_struct(value)),
    do: @omitted

  defp part([_] = list, depth, left), do: [element(list, depth - 1, left)]

  defp part([_ | _] = list, depth, left) do
    more = if List.improper?(list), do: @omitted, else: "#{@omitted} #{length(list) - 1} more"
    [element(list, depth - 1, left), more]
  end

  # Programs read other structs as maps of their fields.
  defp part(%{__struct__: module} = struct, depth, left) when is_atom(module) do
    cond do
      Values.value?(struct) -> Values.text(struct)
      Values.unloaded?(struct) -> nil
      true -> struct |> Values.fields() |> Redacted.without(struct) |> part(depth, left)
    end
  end

  defp part(tuple, _depth, _left) when is_tuple(tuple) do
    case Public.part(tuple, @sampled) do
      {:ok, public} -> public
      :too_large -> @omitted
    end
  end

  defp part(map, depth, left) when is_map(map) do
    limit = div(entries(depth), 4)
    looked = map |> first(limit) |> Enum.reject(fn {key, _value} -> Head.hidden?(key) end)

    shown =
      for {key, value} <- looked,
          Budget.spend?(left, 1),
          into: %{},
          do: {text_of(key), part(value, depth - 1, left)}

    # An atom and a text of one name are one key.
    names = looked |> Enum.uniq_by(fn {key, _value} -> text_of(key) end) |> length()

    case max(map_size(map) - limit, 0) + names - map_size(shown) do
      0 -> shown
      more -> Map.put(shown, @omitted, "#{more} more")
    end
  end

  defp part(value, _depth, _left), do: value

  # The first element of a list. What has no element in it, and is a list in another row, has that row's.
  defp element([first | rest], depth, left) do
    case {first, rest} do
      {[], [_ | _]} ->
        rest |> rows() |> Enum.find([], &match?([_ | _], &1)) |> part(depth, left)

      {map, [_ | _]} when is_map(map) ->
        map |> part(depth, left) |> filled(map, rest, depth, left)

      _other ->
        part(first, depth, left)
    end
  end

  defp filled(sample, map, rest, depth, left) when is_map(sample) do
    empty =
      for {key, _value} <- first(map, @wide),
          name = text_of(key),
          Map.get(sample, name, :none) in [[], nil],
          do: {key, name}

    if empty == [], do: sample, else: rest |> rows() |> search(empty, sample, depth, left)
  end

  defp filled(sample, _map, _rest, _depth, _left), do: sample

  defp search(rows, keys, sample, depth, left) do
    Enum.reduce_while(rows, {keys, sample}, fn row, {keys, sample} ->
      found =
        for {key, name} <- keys,
            is_map(row),
            [_ | _] = list <- [Map.get(row, key)],
            do: {{key, name}, list}

      shown =
        for {{_key, name}, list} <- found, into: %{}, do: {name, part(list, depth - 1, left)}

      keys = keys -- Enum.map(found, &elem(&1, 0))
      {if(keys == [], do: :halt, else: :cont), {keys, Map.merge(sample, shown)}}
    end)
    |> elem(1)
  end

  # The rows that are searched; the list may be improper.
  defp rows(list), do: rows(list, @searched)
  defp rows([row | rest], left) when left > 0, do: [row | rows(rest, left - 1)]
  defp rows(_rest, _left), do: []

  @doc """
  The path of an atom key, which programs do not find, as text, or nil. Reads only the first element of
  each list.

      iex> PtcRunner.Agent.Describe.atom_key(%{"rows" => [%{id: 1}]})
      "rows[0].id"

  """
  @spec atom_key(term()) :: String.t() | nil
  def atom_key(value), do: atom_key(value, "", @depth)

  defp atom_key(_value, _path, 0), do: nil
  defp atom_key([first | _], path, depth), do: atom_key(first, path <> "[0]", depth - 1)
  defp atom_key(%_struct{}, _path, _depth), do: nil

  defp atom_key(map, path, depth) when is_map(map) do
    Enum.find_value(first(map, div(entries(depth), 4)), fn
      {key, _value} when is_atom(key) -> join(path, Atom.to_string(key))
      {key, value} when is_binary(key) -> atom_key(value, join(path, key), depth - 1)
      _other -> nil
    end)
  end

  defp atom_key(_value, _path, _depth), do: nil

  # The order of atoms is the VM's, that of names is not.
  defp first(map, count) when map_size(map) <= @wide do
    map |> :maps.to_list() |> Enum.sort_by(fn {key, _value} -> place(key) end) |> Enum.take(count)
  end

  # Iterates, because a map may be as large as a table.
  defp first(map, count), do: map |> :maps.iterator() |> :maps.next() |> next(count)

  defp next(:none, _left), do: []
  defp next(_more, 0), do: []
  defp next({key, value, more}, left), do: [{key, value} | next(:maps.next(more), left - 1)]

  defp entries(depth), do: if(depth >= @depth - 1, do: 5 * @entries, else: @entries)

  defp text_of(key) when is_atom(key), do: Atom.to_string(key)
  defp text_of(key), do: key

  # Of an atom and a text of one name the text counts.
  defp place(key) when is_atom(key), do: {Atom.to_string(key), 0}
  defp place(key), do: {key, 1}

  defp join("", name), do: name
  defp join(path, name), do: path <> "." <> name
end
