defmodule Bench.Sections.Groups do
  @moduledoc false
  # Measures groups, joins and computed columns over rows, beside the same in Elixir.
  @behaviour Bench.Section

  import Bench.Section
  import Bench.Table, only: [table: 4, words: 2, times: 1, quotients: 2, count: 1]
  alias Bench.{Bars, ByHand, Data, Programs}
  alias PtcRunner.Json

  @row_counts [1_000, 10_000, 100_000, 1_000_000]
  # From this size on the default limits (1 s, 1,250,000 words) could affect the measurement.
  @many_rows 100_000
  @cases [
    :group_totals,
    :group_items,
    :join_column,
    :set_columns,
    :sum_product,
    :filter_pattern,
    :filter_lower,
    :filter_month
  ]
  @programs [:text, :compiled]

  @impl true
  def names, do: @cases

  @impl true
  def blocks(quick?) do
    counts = if quick?, do: Enum.filter(@row_counts, &(&1 <= 100_000)), else: @row_counts

    for {rows, origin} <- Enum.map(counts, &{&1, :built}) ++ [{10_000, :received}],
        do: {maker(origin, rows), Enum.map(@cases, &over_rows(&1, rows, origin))}
  end

  defp maker(origin, rows) do
    make = Data.maker(origin, rows)

    fn ->
      %{rows: orders} = make.()
      customers = ByHand.Groups.customers(rows)
      visits = ByHand.Groups.visits(rows)
      context = %{"rows" => orders, "customers" => customers, "visits" => visits}
      %{orders: {orders, customers, visits}, context: context}
    end
  end

  defp over_rows(name, rows, origin) do
    limits = if rows >= @many_rows, do: [timeout: :infinity, max_heap: 0], else: []
    text = Programs.text(name)
    {:ok, compiled} = Json.compile(text, edition: 2)

    programs =
      for {side, input} <- [text: text, compiled: compiled] do
        opts = if side == :text, do: [edition: 2] ++ limits, else: limits
        prepare = fn data -> fn -> Json.run(input, [context: data.context] ++ opts) end end
        side(side, prepare, fn {:ok, value, _delta, _memory} -> value end)
      end

    by_hand = call(:elixir, & &1.orders, Function.capture(ByHand.Groups, name, 1))
    name |> group(name, rows, programs ++ [by_hand], origin) |> weighed()
  end

  # A join of 1,000,000 rows takes seconds, on each side.
  defp weighed(%{case: :join_column, rows: 1_000_000} = group), do: Map.put(group, :weight, 40)
  defp weighed(group), do: group

  @impl true
  def tables(results) do
    for name <- @cases do
      rows = for %{section: ^name} = result <- results, do: result
      intro = "```json\n#{Programs.text(name)}\n```"
      words = [words("rows", &count(&1.rows)), words("origin", &Atom.to_string(&1.origin))]
      columns = times(@programs ++ [:elixir]) ++ quotients(@programs, [:elixir])
      table(title(name), intro, rows, words ++ columns)
    end
  end

  defp title(:group_totals), do: "group_by one field with count and sum"
  defp title(:group_items), do: "group_by one field, with the items"
  defp title(:join_column), do: "join, then a computed column"
  defp title(:set_columns), do: "set of two computed columns"
  defp title(:sum_product), do: "sum of a product"
  defp title(:filter_pattern), do: "filter by a pattern"
  defp title(:filter_lower), do: "filter by a text in lower case"
  defp title(:filter_month), do: "filter by the month of a date"

  @impl true
  def bars(results) do
    limits = [
      group_totals: {0.5, "one Enum.reduce over a map"},
      join_column: {0.7, "an index map and a comprehension"},
      set_columns: {1.0, "two Map.put"},
      sum_product: {1.0, "a comprehension and Enum.sum"},
      filter_pattern: {0.5, "Regex.match?"},
      filter_lower: {0.5, "String.downcase"},
      filter_month: {0.5, "Date.from_iso8601!"}
    ]

    quotients =
      for {name, {limit, words}} <- limits do
        results = for %{section: ^name, rows: 10_000, origin: :built} = it <- results, do: it

        Bars.ratio(results, title(name) <> "; 10,000 rows", @programs, :elixir, limit,
          words: words
        )
      end

    quotients ++
      for name <- [:group_totals, :group_items, :join_column, :set_columns] do
        results = for %{section: ^name, origin: :built} = result <- results, do: result
        what = "growth exponent, 1,000 to 1,000,000 rows, #{title(name)}"
        Bars.growth_beside_elixir(results, what, @programs)
      end
  end
end
