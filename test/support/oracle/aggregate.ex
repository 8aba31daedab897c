defmodule PtcRunner.Test.Oracle.Aggregate do
  @moduledoc false
  # sum avg min max min_by max_by, over a proper list and one field.

  import PtcRunner.Test.Oracle.Fail, only: [fail: 1, shown: 1]

  alias PtcRunner.Test.Oracle.Arithmetic

  @doc "One aggregation of `items` by `field`."
  @spec aggregate(String.t(), list(), term()) :: term()
  def aggregate("sum", items, field) do
    total("sum", for(item <- items, number = summand(item, field), do: number))
  end

  def aggregate("avg", items, field) do
    mean(for item <- items, is_map(item), is_number(value(item, field)), do: value(item, field))
  end

  def aggregate("min", items, field), do: items |> extreme(field, &</2) |> value(field)
  def aggregate("max", items, field), do: items |> extreme(field, &>/2) |> value(field)
  def aggregate("min_by", items, field), do: extreme(items, field, &</2)
  def aggregate("max_by", items, field), do: extreme(items, field, &>/2)

  @doc "The same over the values of an expression, each with its item."
  @spec of_pairs(String.t(), [{value :: term(), item :: term()}]) :: term()
  def of_pairs("sum", pairs),
    do: total("sum", for({number, _} when number != nil <- pairs, do: number))

  def of_pairs("avg", pairs),
    do: mean(for {number, _} when is_number(number) <- pairs, do: number)

  def of_pairs("min", pairs), do: pairs |> best(&</2) |> elem(0)
  def of_pairs("max", pairs), do: pairs |> best(&>/2) |> elem(0)
  def of_pairs("min_by", pairs), do: pairs |> best(&</2) |> elem(1)
  def of_pairs("max_by", pairs), do: pairs |> best(&>/2) |> elem(1)

  defp best(pairs, better?) do
    pairs
    |> Enum.reject(fn {value, _item} -> value == nil end)
    |> Enum.reduce(nil, fn
      pair, nil -> pair
      pair, best -> if better?.(elem(pair, 0), elem(best, 0)), do: pair, else: best
    end) || {nil, nil}
  end

  @doc "A value that `sum` can add; nil counts as none."
  @spec summand!(term()) :: number() | nil
  def summand!(number) when is_number(number) or is_nil(number), do: number
  def summand!(other), do: fail("sum requires numeric values, got #{shown(other)}")

  # A number, or nil for an item without a value.
  defp summand(item, field) when is_map(item) do
    item |> value(field) |> summand!()
  end

  defp summand(item, _field), do: fail("sum requires list of maps, got #{shown(item)}")

  defp mean([]), do: nil

  defp mean(numbers),
    do: Arithmetic.guarded("avg", fn -> total("avg", numbers) / length(numbers) end)

  defp total(op, numbers) do
    Enum.reduce(numbers, 0, fn number, sum -> Arithmetic.guarded(op, fn -> sum + number end) end)
  end

  # The first item with the best value; nil if no item has a value.
  defp extreme(items, field, better?) do
    items
    |> Enum.filter(&(is_map(&1) and value(&1, field) != nil))
    |> Enum.reduce(nil, fn
      item, nil -> item
      item, best -> if better?.(value(item, field), value(best, field)), do: item, else: best
    end)
  end

  defp value(nil, _field), do: nil
  defp value(item, field), do: Map.get(item, field)
end
