defmodule Bench.ByHand.Groups do
  @moduledoc false
  # Groups, joins and computed columns in plain Elixir, each in the way that is quickest for rows of this shape.

  @type rows :: [Bench.Data.row()]
  @type customers :: [%{String.t() => term}]

  @doc "A customer for each order, in another order."
  @spec customers(pos_integer) :: customers
  def customers(count) do
    for n <- 1..count do
      %{"id" => count + 1 - n, "country" => "country #{rem(n, 40)}", "discount" => rem(n, 7)}
    end
  end

  @doc "The number and the sum of each category, in the order of the categories' first rows."
  @spec group_totals({rows, customers}) :: [map]
  def group_totals({rows, _customers}) do
    {keys, totals} =
      Enum.reduce(rows, {[], %{}}, fn %{"category" => key, "amount" => amount}, {keys, totals} ->
        case totals do
          %{^key => {count, sum}} -> {keys, %{totals | key => {count + 1, sum + amount}}}
          %{} -> {[key | keys], Map.put(totals, key, {1, amount})}
        end
      end)

    keys
    |> Enum.reverse()
    |> Enum.map(fn key ->
      {count, sum} = Map.fetch!(totals, key)
      %{"category" => key, "n" => count, "total" => sum}
    end)
  end

  @spec group_items({rows, customers}) :: [map]
  def group_items({rows, _customers}) do
    groups = Enum.group_by(rows, & &1["category"])

    for key <- rows |> Enum.map(& &1["category"]) |> Enum.uniq(),
        do: %{"category" => key, "items" => Map.fetch!(groups, key)}
  end

  @spec join_column({rows, customers}) :: [map]
  def join_column({rows, customers}) do
    index = Map.new(customers, fn %{"id" => id} = customer -> {id, customer} end)

    for %{"id" => id, "amount" => amount} = row <- rows, customer = index[id] do
      customer |> Map.merge(row) |> Map.put("net", amount * customer["discount"])
    end
  end

  @spec set_columns({rows, customers}) :: [map]
  def set_columns({rows, _customers}) do
    for %{"amount" => amount, "price" => price} = row <- rows do
      row |> Map.put("total", amount * price) |> Map.put("net", price - amount)
    end
  end
end
