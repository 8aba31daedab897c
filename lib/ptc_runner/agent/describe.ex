defmodule PtcRunner.Agent.Describe do
  @moduledoc false
  # Describes data for a prompt: its type, as a signature, and a sample. Reads only the beginning of
  # lists.

  alias PtcRunner.Agent.Plain
  alias PtcRunner.Firewall.{Public, Redacted}
  alias PtcRunner.Json.{Codec, Encodable, Values}
  alias PtcRunner.Shown
  alias PtcRunner.Shown.{Budget, Head, Line}

  # @fields is the number of fields that are shown of a map, @wide the number of keys that the maps of a list may
  # have in all, @parts the number of parts of a value that are read for its type, and for its sample.
  @fields 60
  @wide 200
  @depth 4
  @parts 20_000
  @sampled 2_000

  @text 80
  @line 2_000
  @omitted "…"

  @doc """
  The type of a value, as text.

  If the value has too many parts, or if the budget for `all` values is spent, the type is less exact.

      iex> PtcRunner.Agent.Describe.type([%{"id" => 1, "at" => nil}, %{"id" => 2.5, "at" => "now", "a b" => []}])
      ~s([{"a b" [:any]?, at :string?, id :float}])

  """
  @spec type(term(), Budget.t()) :: String.t()
  def type(value, all \\ Budget.new(@parts)) do
    parts = min(Budget.left(all), @parts)
    own = Budget.new(parts)
    type = of(value, @depth, own)
    Budget.spend?(all, parts - Budget.left(own))
    {text, _left} = text(type, {[], @line})
    text |> IO.iodata_to_binary() |> Shown.cut(@line)
  end

  defp of(nil, _depth, _left), do: :null
  defp of(value, _depth, _left) when is_binary(value), do: :string
  defp of(value, _depth, _left) when is_boolean(value), do: :bool
  defp of(value, _depth, _left) when is_integer(value), do: :int
  defp of(value, _depth, _left) when is_float(value), do: :float
  defp of(value, _depth, _left) when is_atom(value), do: :keyword

  defp of(%module{} = struct, depth, left) when is_atom(module) do
    cond do
      Values.value?(struct) -> value_type(struct)
      Values.unloaded?(struct) -> :null
      true -> struct |> Values.fields() |> Redacted.without(struct) |> of(depth, left)
    end
  end

  defp of(value, 0, _left) when is_list(value), do: {:list, :any}
  defp of(value, 0, _left) when is_map(value), do: :map

  defp of([_ | _] = list, depth, left) do
    if List.improper?(list),
      do: :any,
      else: {:list, list |> Enum.take(elements(depth)) |> element(depth - 1, left, :none)}
  end

  defp of([], _depth, _left), do: {:list, :none}

  defp of(map, depth, left) when is_map(map) do
    if map_size(map) > entries(depth) or not Budget.spend?(left, map_size(map)),
      do: :map,
      else: {:map, fields(map, depth - 1, left)}
  end

  defp of(_other, _depth, _left), do: :any

  # The type of the elements; those that cannot be read any more do not count.
  defp element([], _depth, _left, type), do: type

  defp element([first | rest], depth, left, type) do
    if Budget.spend?(left, 1),
      do: element(rest, depth, left, merge(type, of(first, depth, left))),
      else: if(type == :none, do: :any, else: type)
  end

  defp fields(map, depth, left) do
    for {key, value} <- map,
        name = name(key),
        into: %{},
        do: {name, of(value, depth, left)}
  end

  # The text of a date is shown in the sample.
  defp value_type(%DateTime{}), do: :datetime
  defp value_type(%{__struct__: Decimal}), do: :decimal
  defp value_type(_date_or_time), do: :string

  defp elements(depth), do: if(depth >= @depth - 1, do: 50, else: 5)
  defp entries(depth), do: if(depth >= @depth - 1, do: @wide, else: 40)

  defp name(key) when is_binary(key) or (is_atom(key) and key != nil),
    do: if(not Head.hidden?(key), do: to_string(key))

  defp name(_key), do: nil

  defp merge(same, same), do: same
  defp merge(:none, type), do: type
  defp merge(type, :none), do: type
  defp merge(:null, type), do: optional(type)
  defp merge(type, :null), do: optional(type)
  defp merge({:optional, a}, b), do: optional(merge(a, required(b)))
  defp merge(a, {:optional, b}), do: optional(merge(a, b))
  defp merge(a, b) when a in [:int, :float] and b in [:int, :float], do: :float
  defp merge({:list, a}, {:list, b}), do: {:list, merge(a, b)}
  defp merge(:map, {:map, _fields}), do: :map
  defp merge({:map, _fields}, :map), do: :map

  defp merge({:map, a}, {:map, b}) do
    both = Map.merge(a, b, fn _name, a, b -> merge(a, b) end)

    if map_size(both) > @wide,
      do: :map,
      else: {:map, Map.new(both, fn {name, type} -> {name, in_both(name, type, a, b)} end)}
  end

  defp merge(_a, _b), do: :any

  defp in_both(name, type, a, b) when is_map_key(a, name) and is_map_key(b, name), do: type
  defp in_both(_name, type, _a, _b), do: optional(type)

  defp optional({:optional, _} = type), do: type
  defp optional(:null), do: :null
  defp optional(type), do: {:optional, type}

  defp required({:optional, type}), do: type
  defp required(type), do: type

  # Writes a type behind a text; after its bytes have been spent, nothing more is written.
  defp text(_type, {text, left}) when left < 0, do: {text, left}
  defp text({:optional, type}, text), do: type |> text(text) |> add("?")
  defp text({:list, type}, text), do: type |> text(add(text, "[")) |> add("]")

  defp text({:map, fields}, text) do
    shown = fields |> Enum.sort() |> Enum.take(@fields)
    more = map_size(fields) - length(shown)
    {text, _between} = Enum.reduce(shown, {add(text, "{"), ""}, &field/2)
    text = if more > 0, do: add(text, ", … #{more} more"), else: text
    add(text, "}")
  end

  defp text(:null, text), do: add(text, ":any?")
  defp text(:none, text), do: add(text, ":any")
  defp text(scalar, text), do: add(text, ":#{scalar}")

  defp field({name, type}, {text, between}),
    do: {text(type, add(text, [between, field(name), " "])), ", "}

  defp add({text, left}, _more) when left < 0, do: {text, left}
  defp add({text, left}, more), do: {[text | more], left - IO.iodata_length(more)}

  defp field(name) do
    if byte_size(name) <= 256 and name =~ ~r/\A[A-Za-z_][A-Za-z0-9_]*\z/,
      do: name,
      else: Shown.quoted(name)
  end

  @doc """
  A sample of a value, as JSON: the first element of a list, truncated strings, no firewalled fields.

      iex> PtcRunner.Agent.Describe.sample([%{"id" => 1, "_pin" => 2, "tags" => ["a", "b", "c"]}, %{"id" => 2}])
      ~s([{"id":1,"tags":["a"]}])

  """
  @spec sample(term()) :: String.t()
  def sample(value), do: value |> sampled() |> json(@line)

  defp sampled(value), do: part(value, @depth, Budget.new(@sampled))

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

  defp part([first | _], depth, left), do: [part(first, depth - 1, left)]

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
    for {key, value} <- first(map, div(entries(depth), 4)),
        not Head.hidden?(key) and Budget.spend?(left, 1),
        into: %{},
        do: {if(is_atom(key), do: Atom.to_string(key), else: key), part(value, depth - 1, left)}
  end

  defp part(value, _depth, _left), do: value

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

  # Of an atom and a text of one name the text counts.
  defp place(key) when is_atom(key), do: {Atom.to_string(key), 0}
  defp place(key), do: {key, 1}

  defp join("", name), do: name
  defp join(path, name), do: path <> "." <> name
end
