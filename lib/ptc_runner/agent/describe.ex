defmodule PtcRunner.Agent.Describe do
  @moduledoc false
  # Describes data for a prompt: its type, as a signature (`PtcRunner.Agent.DataType`), and a sample.

  alias PtcRunner.Agent.{DataType, Plain}
  alias PtcRunner.Firewall.{Public, Redacted}
  alias PtcRunner.Json.{Codec, Encodable, Values}
  alias PtcRunner.Shown
  alias PtcRunner.Shown.{Budget, Head, Line}

  # @parts is the number of parts of a value that are read for its type, @sampled for its sample. An element of a nested list is looked for in
  # @searched other values at its place, and those of all nested lists in @looks, of which each field that is not a plain value takes @looks_of_part
  # for itself and for each of its fields.
  @depth 8
  @parts 20_000
  @sampled 2_000
  @searched 10_000
  @looks 100_000
  @looks_of_part 20
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
  that is empty in the first row, at any depth, has the element of another row.

      iex> PtcRunner.Agent.Describe.sample([%{"id" => 1, "_pin" => 2, "tags" => ["a", "b", "c"]}, %{"id" => 2}])
      ~s([{"id":1,"tags":["a","… 2 more"]}])

      iex> PtcRunner.Agent.Describe.sample([%{"id" => 1, "tags" => []}, %{"id" => 2, "tags" => ["x"]}])
      ~s([{"id":1,"tags":["x"]}])

      iex> PtcRunner.Agent.Describe.sample([%{"a" => %{"tags" => []}}, %{"a" => %{"tags" => ["x"]}}])
      ~s([{"a":{"tags":["x"]}}])

  """
  @spec sample(term()) :: String.t()
  def sample(value), do: value |> sampled() |> json(@line)

  # The text beside it says how many elements a list has.
  defp sampled(value) do
    left = Budget.new(@sampled)

    case filled(value, [], @depth, Budget.new(@looks)) do
      [first | _rest] -> [part(first, @depth - 1, left)]
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

  defp part([first], depth, left), do: [part(first, depth - 1, left)]

  defp part([first | _rest] = list, depth, left) do
    more = if List.improper?(list), do: @omitted, else: "#{@omitted} #{length(list) - 1} more"
    [part(first, depth - 1, left), more]
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
    limit = shown_fields(depth)
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

  # A value in which each list that is empty, or null, is the first list with elements among the other values at its place. Only what a
  # sample shows is filled: the first element of each list.
  defp filled(value, _others, 0, _looks), do: value

  defp filled([first | rest], others, depth, looks) do
    others = Stream.concat(among(rest, looks), Stream.flat_map(others, &among(&1, looks)))
    [filled(first, others, depth - 1, looks) | rest]
  end

  defp filled(value, others, depth, looks) do
    cond do
      empty?(value) ->
        case others |> Stream.take(@searched) |> Enum.find(&(not empty?(&1))) do
          [_ | _] = list -> filled(list, others, depth, looks)
          _other -> value
        end

      is_map(value) and not Values.value?(value) ->
        fields = if map_size(value) <= @wide, do: :maps.to_list(value), else: first(value, @wide)
        # Few of the fields that are null are lists in other rows, so they come last.
        {nulls, filled} = Enum.split_with(fields, &match?({_key, nil}, &1))
        Enum.reduce(filled ++ nulls, value, &filled_field(&1, &2, others, depth, looks))

      true ->
        value
    end
  end

  defp empty?(value), do: value in [nil, []] or Values.unloaded?(value)

  defp filled_field({key, value}, map, others, depth, looks)
       when value == nil or is_list(value) or is_map(value) do
    parts = if is_map(value), do: 1 + map_size(value), else: 1

    if Budget.spend?(looks, @looks_of_part * parts),
      do: %{map | key => filled(value, for_key(others, key), depth - 1, looks)},
      else: map
  end

  defp filled_field(_field, map, _others, _depth, _looks), do: map

  defp for_key(others, key) do
    Stream.flat_map(others, fn
      %{^key => value} -> [value]
      _other -> []
    end)
  end

  # The elements of a list, which may be improper, until the budget is spent.
  defp among(list, looks) do
    Stream.unfold(list, fn
      [value | rest] -> if Budget.spend?(looks, 1), do: {value, rest}
      _end -> nil
    end)
  end

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
    Enum.find_value(first(map, shown_fields(depth)), fn
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

  # The number of fields of a map that a sample shows.
  defp shown_fields(depth), do: if(depth >= @depth - 1, do: 50, else: 10)

  defp text_of(key) when is_atom(key), do: Atom.to_string(key)
  defp text_of(key), do: key

  # Of an atom and a text of one name the text counts.
  defp place(key) when is_atom(key), do: {Atom.to_string(key), 0}
  defp place(key), do: {key, 1}

  defp join("", name), do: name
  defp join(path, name), do: path <> "." <> name
end
