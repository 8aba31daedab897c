defmodule Bench.ByHand.Groups do
  @moduledoc false
  # Groups, joins and computed columns in plain Elixir, each in the way that is quickest for rows of this shape.

  @type rows :: [Bench.Data.row()]
  @type customers :: [%{String.t() => term}]
  @type visits :: [%{String.t() => String.t()}]
  @type data :: {rows, customers, visits}

  @doc "A customer for each order, in another order."
  @spec customers(pos_integer) :: customers
  def customers(count) do
    for n <- 1..count do
      %{"id" => count + 1 - n, "country" => "country #{rem(n, 40)}", "discount" => rem(n, 7)}
    end
  end

  @doc "A visit for each order, with a name and a day."
  @spec visits(pos_integer) :: [%{String.t() => String.t()}]
  def visits(count) do
    days = List.to_tuple(for n <- 0..365, do: Date.to_iso8601(Date.add(~D[2024-01-01], n)))

    for n <- 1..count do
      side = if rem(n, 2) == 0, do: "North", else: "East"
      # A text of its own in each row.
      day = :binary.copy(elem(days, rem(n * 7, 366)))
      %{"name" => "Visitor #{rem(n, 100)} #{side}", "day" => day}
    end
  end

  @doc "The number and the sum of each category, in the order of the categories' first rows."
  @spec group_totals(data) :: [map]
  def group_totals({rows, _customers, _visits}) do
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

  @spec group_items(data) :: [map]
  def group_items({rows, _customers, _visits}) do
    groups = Enum.group_by(rows, & &1["category"])

    for key <- rows |> Enum.map(& &1["category"]) |> Enum.uniq(),
        do: %{"category" => key, "items" => Map.fetch!(groups, key)}
  end

  @spec join_column(data) :: [map]
  def join_column({rows, customers, _visits}) do
    index = Map.new(customers, fn %{"id" => id} = customer -> {id, customer} end)

    for %{"id" => id, "amount" => amount} = row <- rows, customer = index[id] do
      customer |> Map.merge(row) |> Map.put("net", amount * customer["discount"])
    end
  end

  @spec set_columns(data) :: [map]
  def set_columns({rows, _customers, _visits}) do
    for %{"amount" => amount, "price" => price} = row <- rows do
      row |> Map.put("total", amount * price) |> Map.put("net", price - amount)
    end
  end

  @spec sum_product(data) :: number
  def sum_product({rows, _customers, _visits}) do
    Enum.sum(for %{"amount" => amount, "price" => price} <- rows, do: amount * price)
  end

  @spec filter_pattern(data) :: non_neg_integer
  def filter_pattern({_rows, _customers, visits}) do
    Enum.count(visits, fn %{"name" => name} -> Regex.match?(~r/[24]7 (North|South)/, name) end)
  end

  @spec filter_lower(data) :: non_neg_integer
  def filter_lower({_rows, _customers, visits}) do
    Enum.count(visits, fn %{"name" => name} -> String.downcase(name) == "visitor 7 north" end)
  end

  @spec filter_month(data) :: non_neg_integer
  def filter_month({_rows, _customers, visits}) do
    Enum.count(visits, fn %{"day" => day} -> Date.from_iso8601!(day).month == 3 end)
  end
end
