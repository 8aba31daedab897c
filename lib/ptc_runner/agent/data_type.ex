defmodule PtcRunner.Agent.DataType do
  @moduledoc false
  # The type of data, for a prompt: that of all rows, as far as the budget reaches. A value is added to the type of those before it, and most
  # values change nothing, so a row costs hardly more than looking at its fields.

  alias PtcRunner.Firewall.Redacted
  alias PtcRunner.Json.{Codec, Values}
  alias PtcRunner.Shown
  alias PtcRunner.Shown.{Budget, Head, Line}
  alias PtcRunner.SubAgent.Signature.Type

  # Maximum number of fields of one map, and of all maps at one place; of what is nested deeper than @depth only the kind is told.
  @fields 60
  @wide 200
  @depth 8

  # An enumeration has at most so many values, of so many bytes; texts are one only if there are several for each value.
  @most_values 8
  @value_bytes 32
  @enum_bytes 120
  @least_texts 4
  @texts_per_value 2

  # Stands for the key `__struct__` among the fields.
  @struct_key {:__struct__}

  @typedoc """
  A type. The fields of a map are by key, an atom or a text; a key that is not told has `:hidden`. `{:values, :text | :atom, values, number}`: so
  many texts or atoms, which are these.
  """
  @type t ::
          :none
          | :null
          | :any
          | :map
          | :int
          | :float
          | :bool
          | :string
          | :keyword
          | :date
          | :datetime
          | :time
          | :decimal
          | {:values, :text | :atom, %{term() => true}, pos_integer()}
          | {:optional, t()}
          | {:list, t()}
          | {:map, %{term() => t() | :hidden}}

  @typedoc "How many of the rows of a list were read, if not all."
  @type read :: :all | {read :: non_neg_integer(), rows :: pos_integer()}

  @doc """
  The type of a value, and how much of it was read.

      iex> rows = for n <- 1..100, do: %{"id" => n, "at" => if(n < 100, do: ~D[2026-01-31])}
      iex> {type, read} = PtcRunner.Agent.DataType.of(rows, PtcRunner.Shown.Budget.new(1_000))
      iex> {PtcRunner.Agent.DataType.text(type, 200, true), read}
      {"[{at :date?, id :int}]", :all}
      iex> {_type, read} = PtcRunner.Agent.DataType.of(rows, PtcRunner.Shown.Budget.new(100))
      iex> read
      {33, 100}

  """
  @spec of(term(), Budget.t()) :: {t(), read()}
  def of([_ | _] = list, left) do
    if List.improper?(list) do
      {:any, :all}
    else
      {item, read} = rows(list, :none, @depth - 1, left, 0)
      {{:list, item}, if(read == :all, do: :all, else: {read, length(list)})}
    end
  end

  def of(value, left), do: {add(:none, value, @depth, left), :all}

  # The rows until the budget is spent. A row that could be read only in part counts as not read.
  defp rows([], type, _depth, _left, _read), do: {type, :all}

  defp rows([row | rest], type, depth, left, read) do
    if Budget.left(left) > 0 do
      Budget.spend?(left, 1)
      next = add(type, row, depth, left)

      if Budget.left(left) > 0 or rest == [],
        do: rows(rest, next, depth, left, read + 1),
        else: {next, read}
    else
      {if(type == :none, do: :any, else: type), read}
    end
  end

  # The type of the values before and of this one.
  defp add({:optional, _type} = same, nil, _depth, _left), do: same
  defp add(type, nil, _depth, _left), do: optional(type)
  defp add(:any, _value, _depth, _left), do: :any

  defp add({:optional, type} = same, value, depth, left),
    do: kept(same, add(type, value, depth, left), type)

  defp add(:null, value, depth, left), do: optional(add(:none, value, depth, left))

  defp add(type, value, _depth, _left) when is_binary(value), do: text_or(type, value)
  defp add(:bool, value, _depth, _left) when is_boolean(value), do: :bool
  defp add(:none, value, _depth, _left) when is_boolean(value), do: :bool
  defp add(:int, value, _depth, _left) when is_integer(value), do: :int
  defp add(:none, value, _depth, _left) when is_integer(value), do: :int

  defp add(type, value, _depth, _left) when is_number(value) and type in [:int, :float, :none],
    do: :float

  defp add(type, value, _depth, _left) when is_atom(value) and not is_boolean(value),
    do: atom_or(type, value)

  defp add(type, %{__struct__: module} = struct, depth, left) when is_atom(module) do
    cond do
      Values.value?(struct) -> scalar(type, value_type(struct))
      Values.unloaded?(struct) -> add(type, nil, depth, left)
      true -> fields(type, struct, Redacted.names(struct), depth, left)
    end
  end

  defp add(type, map, depth, left) when is_map(map), do: fields(type, map, [], depth, left)

  defp add({:list, _item} = same, [], _depth, _left), do: same
  defp add(:none, [], _depth, _left), do: {:list, :none}

  defp add(:none, list, depth, left) when is_list(list),
    do: add({:list, :none}, list, depth, left)

  defp add({:list, item} = same, list, depth, left) when is_list(list) do
    cond do
      List.improper?(list) -> :any
      depth == 0 -> {:list, :any}
      true -> same_list(same, items(list, item, depth - 1, left), item)
    end
  end

  defp add(_type, _value, _depth, _left), do: :any

  defp kept(same, type, type), do: same
  defp kept(_same, type, _before), do: optional(type)

  defp same_list(same, item, item), do: same
  defp same_list(_same, item, _before), do: {:list, item}

  # Items that cannot be read any more do not count.
  defp items([], item, _depth, _left), do: item

  defp items([value | rest], item, depth, left) do
    if Budget.spend?(left, 1),
      do: items(rest, add(item, value, depth, left), depth, left),
      else: if(item == :none, do: :any, else: item)
  end

  # The text of a date is shown in the sample.
  defp value_type(%DateTime{}), do: :datetime
  defp value_type(%NaiveDateTime{}), do: :datetime
  defp value_type(%Date{}), do: :date
  defp value_type(%{__struct__: Decimal}), do: :decimal
  defp value_type(%Time{}), do: :time

  defp scalar(:none, type), do: type
  defp scalar(type, type), do: type
  defp scalar(_type, _other), do: :any

  defp text_or(:string, _text), do: :string
  defp text_or(:none, text), do: valued(:text, text, %{}, 0)
  defp text_or({:values, :text, values, number}, text), do: valued(:text, text, values, number)
  defp text_or(_type, _text), do: :any

  defp atom_or(:keyword, _atom), do: :keyword
  defp atom_or(:none, atom), do: valued(:atom, atom, %{}, 0)
  defp atom_or({:values, :atom, values, number}, atom), do: valued(:atom, atom, values, number)
  defp atom_or(_type, _atom), do: :any

  # A number that is large enough for all of them need not be counted.
  defp valued(kind, value, values, number) when is_map_key(values, value),
    do: {:values, kind, values, min(number + 1, @texts_per_value * @most_values)}

  defp valued(kind, value, values, number) do
    if map_size(values) < @most_values and short?(value),
      do: {:values, kind, Map.put(values, value, true), number + 1},
      else: if(kind == :text, do: :string, else: :keyword)
  end

  defp short?(text) when is_binary(text),
    do: byte_size(text) <= @value_bytes and String.valid?(text)

  defp short?(atom), do: atom |> Atom.to_string() |> short?()

  # Fields of a map or of a struct, by their keys.
  defp fields(:map, _map, _hidden, _depth, _left), do: :map

  defp fields(type, map, hidden, depth, left) do
    cond do
      type != :none and not match?({:map, _fields}, type) -> :any
      depth == 0 or map_size(map) > @wide or not Budget.spend?(left, map_size(map)) -> :map
      true -> of_fields(type, map, hidden, depth - 1, left)
    end
  end

  defp of_fields(type, map, hidden, depth, left) do
    {before, first?} = if type == :none, do: {%{}, true}, else: {elem(type, 1), false}

    fields =
      :maps.fold(
        fn
          # A map with this key would be a struct.
          :__struct__, _module, fields when is_map_key(fields, @struct_key) ->
            fields

          :__struct__, _module, fields ->
            Map.put(fields, @struct_key, :hidden)

          key, value, fields ->
            case fields do
              %{^key => :hidden} ->
                fields

              %{^key => known} ->
                case add(known, value, depth, left) do
                  ^known -> fields
                  type -> %{fields | key => type}
                end

              _new ->
                Map.put(fields, key, first(key, value, hidden, first?, depth, left))
            end
        end,
        before,
        map
      )

    cond do
      map_size(fields) > @wide -> :map
      not first? and map_size(fields) == map_size(map) and fields === before -> type
      map_size(fields) == map_size(map) -> {:map, fields}
      true -> {:map, :maps.map(&missing(&1, &2, map), fields)}
    end
  end

  # A key that only later rows have is optional.
  defp first(key, value, hidden, first?, depth, left) do
    cond do
      key == :__meta__ or key in hidden or not told?(key) -> :hidden
      first? -> add(:none, value, depth, left)
      true -> :none |> add(value, depth, left) |> optional()
    end
  end

  defp told?(key) when is_binary(key) or (is_atom(key) and key != nil), do: not Head.hidden?(key)
  defp told?(_key), do: false

  defp missing(_key, :hidden, _map), do: :hidden
  defp missing(key, type, map) when is_map_key(map, key), do: type
  defp missing(_key, type, _map), do: optional(type)

  defp optional(:none), do: :null
  defp optional(:null), do: :null
  defp optional(type), do: Type.optional(type)

  @doc """
  The type as text, of at most so many bytes; enumerations only if `values?`.

      iex> {type, :all} = PtcRunner.Agent.DataType.of([%{s: :a}, %{s: :b}], PtcRunner.Shown.Budget.new(100))
      iex> {PtcRunner.Agent.DataType.text(type, 100, true), PtcRunner.Agent.DataType.text(type, 100, false)}
      {~S([{s "a"|"b"}]), "[{s :keyword}]"}

  """
  @spec text(t(), pos_integer(), boolean()) :: String.t()
  def text(type, limit, values?) do
    {text, _left} = write(type, {[], limit}, values?)
    text |> IO.iodata_to_binary() |> Shown.cut(limit)
  end

  # Writes a type behind a text; after its bytes have been spent, nothing more is written.
  defp write(_type, {_text, left} = spent, _values?) when left < 0, do: spent

  defp write({:optional, type}, text, values?) do
    case enum(type, values?) do
      [_, _ | _] = values -> add_text(text, ["(", Enum.intersperse(values, "|"), ")?"])
      _other -> type |> write(text, values?) |> add_text("?")
    end
  end

  defp write({:list, type}, text, values?) do
    case enum(type, values?) do
      [_, _ | _] = values -> add_text(text, ["[", Enum.intersperse(values, "|"), "]"])
      _other -> type |> write(add_text(text, "["), values?) |> add_text("]")
    end
  end

  defp write({:map, fields}, text, values?) do
    fields = named(fields)
    shown = fields |> Enum.sort() |> Enum.take(@fields)
    more = map_size(fields) - length(shown)

    {text, _between} =
      Enum.reduce(shown, {add_text(text, "{"), ""}, fn {name, type}, {text, between} ->
        {write(type, add_text(text, [between, name(name), " "]), values?), ", "}
      end)

    text = if more > 0, do: add_text(text, ", … #{more} more"), else: text
    add_text(text, "}")
  end

  defp write({:values, kind, _values, _number} = type, text, values?) do
    case enum(type, values?) do
      [] -> add_text(text, if(kind == :text, do: ":string", else: ":keyword"))
      values -> add_text(text, Enum.intersperse(values, "|"))
    end
  end

  defp write(:null, text, _values?), do: add_text(text, ":any?")
  defp write(:none, text, _values?), do: add_text(text, ":any")
  defp write(scalar, text, _values?), do: add_text(text, ":#{scalar}")

  defp add_text({_text, left} = spent, _more) when left < 0, do: spent
  defp add_text({text, left}, more), do: {[text | more], left - IO.iodata_length(more)}

  # The values of an enumeration, as JSON; none if it is no enumeration.
  defp enum({:values, kind, values, number}, true) do
    texts =
      for value <- values |> Map.keys() |> Enum.sort(),
          do: value |> to_string() |> Codec.encode!() |> Line.escape()

    several? =
      kind == :atom or (number >= @least_texts and number >= @texts_per_value * map_size(values))

    if several? and IO.iodata_length(texts) <= @enum_bytes, do: texts, else: []
  end

  defp enum(_type, _values?), do: []

  # An atom and a text of one name are one field.
  defp named(fields) do
    for {key, type} <- fields, type != :hidden, reduce: %{} do
      named -> Map.update(named, to_string(key), type, &either(&1, type))
    end
  end

  defp either(same, same), do: same
  defp either(_one, _other), do: :any

  defp name(name) do
    if byte_size(name) <= 256 and name =~ ~r/\A[A-Za-z_][A-Za-z0-9_]*\z/,
      do: name,
      else: Shown.quoted(name)
  end

  @doc "How much of the rows was read, in words; nothing if all were."
  @spec read_text(read()) :: String.t()
  def read_text(:all), do: ""

  def read_text({read, rows}),
    do: " (types of the first #{read} of #{rows} rows)"
end
