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
    case for item <- items, is_map(item), is_number(value(item, field)), do: value(item, field) do
      [] -> nil
      numbers -> Arithmetic.guarded("avg", fn -> total("avg", numbers) / length(numbers) end)
    end
  end

  def aggregate("min", items, field), do: items |> extreme(field, &</2) |> value(field)
  def aggregate("max", items, field), do: items |> extreme(field, &>/2) |> value(field)
  def aggregate("min_by", items, field), do: extreme(items, field, &</2)
  def aggregate("max_by", items, field), do: extreme(items, field, &>/2)

  # A number, or nil for an item without a value.
  defp summand(item, field) when is_map(item) do
    case value(item, field) do
      number when is_number(number) or is_nil(number) -> number
      other -> fail("sum requires numeric values, got #{shown(other)}")
    end
  end

  defp summand(item, _field), do: fail("sum requires list of maps, got #{shown(item)}")

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
