defmodule PtcRunner.SubAgent.Signature.Exact do
  @moduledoc false
  # Numbers of JSON where the type is a decimal. The native reader gives the tuple of a float and its digits for a number that is not the
  # value of its float: no other value of JSON is a tuple. Here each becomes the decimal of its digits where the type is `:decimal`, and its
  # float elsewhere.

  alias PtcRunner.IsoTime
  alias PtcRunner.Json.Values
  alias PtcRunner.SubAgent.{KeyNormalizer, Signature}
  alias PtcRunner.SubAgent.Loop.JsonHandler.Union
  alias PtcRunner.SubAgent.Signature.{Base, Decimals, Type}

  @dates [:date, :datetime]

  @doc """
  Whether a type has decimals: then its JSON is read with the digits of its numbers.

      iex> PtcRunner.SubAgent.Signature.Exact.within?({:map, [{"total", {:optional, {:where, :decimal, [min: 0]}}}]})
      true

      iex> PtcRunner.SubAgent.Signature.Exact.within?({:list, {:map, [{"total", :float}]}})
      false

  """
  @spec within?(term()) :: boolean()
  def within?(:decimal), do: true
  def within?({:where, type, _rules}), do: within?(type)
  def within?({:struct, _module, type}), do: within?(type)
  def within?({:one_of, types, _field}), do: any?(types)
  def within?({kind, type}) when kind in [:optional, :list, :map_of], do: within?(type)
  def within?({kind, fields}) when kind in [:map, :closed_map], do: any?(fields)
  def within?({name, type}) when is_binary(name), do: within?(type)

  def within?({:defs, names, type}) when is_map(names),
    do: within?(type) or any?(:maps.values(names))

  def within?(_other), do: false

  defp any?([type | types]), do: within?(type) or any?(types)
  defp any?(_none), do: false

  @doc """
  A value that was read with the digits of its numbers, as a value of the type: its numbers are decimals where the type is `:decimal`.

      iex> alias PtcRunner.SubAgent.Signature.Exact
      iex> %{"d" => decimal} = Exact.placed(%{"d" => {0.1, "0.10000000000000000001"}}, {:map, [{"d", :decimal}]})
      iex> if is_binary(decimal), do: decimal, else: PtcRunner.Json.Values.text(decimal)
      "0.10000000000000000001"

      iex> PtcRunner.SubAgent.Signature.Exact.placed(%{"d" => {0.1, "0.10000000000000000001"}}, {:map, [{"d", :float}]})
      %{"d" => 0.1}

  """
  @spec placed(term(), Signature.type()) :: term()
  def placed(value, type), do: placed(value, type, %{loaded: Decimals.loaded?()})

  @doc """
  A value with numbers by its type, for what a tool has answered, which is not coerced: each number is a decimal where the type is `:decimal`, and a decimal is a number or a
  text where the type is one and the decimal is exactly that.

      iex> decimal = %{__struct__: Decimal, sign: 1, coef: 1250, exp: -2}
      iex> for type <- [:float, :string, :int], do: PtcRunner.SubAgent.Signature.Exact.converted(decimal, type)
      [12.5, "12.50", decimal]

  """
  @spec converted(term(), Signature.type()) :: term()
  def converted(value, type),
    do: placed(value, type, %{all: true, loaded: Decimals.loaded?()})

  @doc """
  A value of the JSON text that a tool has answered, as `converted/2` makes it, with the dates that are texts there.

      iex> PtcRunner.SubAgent.Signature.Exact.of_json(%{"at" => "2024-02-29", "on" => "2024-02-30"}, {:map, [{"at", :date}, {"on", :date}]})
      %{"at" => ~D[2024-02-29], "on" => "2024-02-30"}

  """
  @spec of_json(term(), Signature.type()) :: term()
  def of_json(value, type),
    do: placed(value, type, %{all: true, texts: true, loaded: Decimals.loaded?()})

  @doc """
  Whether a type has decimals or dates, which an answer of a tool as a JSON text has as numbers and texts.

      iex> PtcRunner.SubAgent.Signature.Exact.made?({:list, {:map, [{"at", {:optional, :date}}]}})
      true

  """
  @spec made?(term()) :: boolean()
  def made?(type), do: within?(type) or Type.any?(type, &(&1 in @dates))

  # `names`: the types of the names around, which are texts; and under atoms, whether each number is converted, and whether there is `Decimal`.
  defp placed(value, type, names) do
    {type, names} = Type.core(type, names)
    at(value, type, names)
  end

  defp at({float, digits}, :decimal, names) when is_float(float) do
    case Decimals.decimal(digits, true, names.loaded) do
      {:ok, decimal, _warnings} -> decimal
      # What has too many digits is the error of its text.
      {:error, _reason} -> digits
    end
  end

  defp at(number, :decimal, %{all: true} = names) when is_number(number) do
    case Decimals.decimal(number, true, names.loaded) do
      {:ok, decimal, _warnings} -> decimal
      {:error, _reason} -> number
    end
  end

  defp at(text, :date, %{texts: true}) when is_binary(text) do
    case Date.from_iso8601(text) do
      {:ok, date} -> date
      {:error, _reason} -> text
    end
  end

  defp at(text, :datetime, %{texts: true}) when is_binary(text) do
    case IsoTime.datetime(text) do
      {:ok, datetime, _offset} -> datetime
      {:error, _reason} -> text
    end
  end

  # A text is what the first type is that takes it.
  defp at(text, {:one_of, types, _field}, %{texts: true} = names) when is_binary(text) do
    type =
      types
      |> Union.members(names)
      |> Enum.map(&Base.bare/1)
      |> Enum.find(&(&1 in [:string, :keyword, :any | @dates]))

    if type in @dates, do: at(text, type, names), else: text
  end

  defp at(%{__struct__: Decimal} = decimal, type, %{all: true})
       when type in [:string, :int, :float] do
    case number_of(decimal, type) do
      {:ok, value} -> value
      :error -> decimal
    end
  end

  defp at(value, {:one_of, types, field}, names)
       when (is_map(value) and not is_struct(value)) or is_list(value),
       do: placed(value, Union.chosen(value, types, field, names), names)

  # The first type that takes the number counts.
  defp at(value, {:one_of, types, _field}, names) do
    number = number(value)

    if is_number(number) and :decimal == types |> Union.members(names) |> taking(number),
      do: placed(value, :decimal, names),
      else: number
  end

  defp at(list, {:list, type}, names) when is_list(list), do: each(list, type, names)
  # One value may stand alone where a list is declared, and the list in an object.
  defp at(value, {:list, type} = whole, names) do
    case value do
      %{"items" => items} when is_list(items) -> map_of(value, fn _key -> whole end, names)
      _one -> placed(value, type, names)
    end
  end

  defp at(map, {:map_of, type}, names) when is_map(map) and not is_struct(map),
    do: map_of(map, fn _key -> type end, names)

  defp at(map, {kind, fields}, names)
       when kind in [:map, :closed_map] and is_map(map) and not is_struct(map) do
    types = Map.new(fields)
    near = Map.new(fields, fn {name, type} -> {spelling(name), type} end)
    # What stands alone under another name may be the object.
    whole = if map_size(map) == 1, do: {kind, fields}
    map_of(map, &(Map.get(types, &1) || Map.get(near, spelling(&1)) || whole), names)
  end

  defp at(map, _type, names) when is_map(map) and not is_struct(map),
    do: map_of(map, fn _key -> nil end, names)

  defp at(list, _type, names) when is_list(list), do: each(list, nil, names)
  defp at(value, _type, _names), do: number(value)

  defp map_of(map, type_of, names),
    do: :maps.map(fn key, value -> placed(value, type_of.(key), names) end, map)

  defp each([first | rest], type, names),
    do: [placed(first, type, names) | each(rest, type, names)]

  defp each(rest, _type, _names), do: rest

  defp number_of(decimal, :string), do: Values.exact_text(decimal)
  defp number_of(decimal, :int), do: Values.integer(decimal)
  defp number_of(decimal, :float), do: Values.float(decimal)

  defp number({float, _digits}) when is_float(float), do: float
  defp number(value), do: value

  defp taking(types, number) do
    types
    |> Enum.map(&Base.bare/1)
    |> Enum.find(
      &(&1 in [:decimal, :any] or (&1 == :float or (&1 == :int and is_integer(number))))
    )
  end

  # A key in another spelling is renamed later.
  defp spelling(name) when is_binary(name),
    do: name |> KeyNormalizer.normalize_key() |> String.replace("_", "") |> String.downcase()

  defp spelling(name), do: name
end
