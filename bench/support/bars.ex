defmodule Bench.Bars do
  @moduledoc false
  # What the project promised itself, against what was measured. A bar over several numbers is judged
  # by the worst of them.

  alias Bench.{Harness, Jiffy, Stats, Table}

  @type verdict :: :reached | :missed | :not_measured
  @type bar :: %{
          what: String.t(),
          limit: String.t(),
          measured: String.t(),
          detail: String.t(),
          verdict: verdict
        }

  # {section, case, rows, sides, yardstick, limit, what}
  @ratio_bars [
    {:filter_sum, :filter_sum, :from_10_000, [:text, :compiled], :elixir, 0.6,
     "filter, sum; 10,000 rows and up"},
    {:filter_sort, :filter_sort, :from_10_000, [:text, :compiled], :elixir, 0.8,
     "filter(and), sort desc, select, take; 10,000 rows and up"},
    {:get_distinct, :get_distinct, :at_10_000, [:text, :compiled], :elixir, 1.0,
     "get path, distinct, count; 10,000 rows"},
    {:map_object, :map_object, :at_10_000, [:text, :compiled], :elixir, 1.5,
     "map with an object of 3 fields; 10,000 rows"},
    {:fixed, :five_steps, :any, [:text], :jiffy, 1.0, "10 rows, 5 steps, program as text"},
    {:fixed, :literal, :any, [:text], :jiffy, 1.0, "literal (a number), program as text"},
    {:fixed, :literal_objects, :any, [:text], :jiffy, 1.0,
     "literal (10 objects), program as text"},
    {:fixed, :tool_once, :any, [:text, :compiled], :spawn, 2.0, "program with one tool call"}
  ]

  @growth_limit 1.05
  @growth_rows 1_000..1_000_000
  # A list of the half of the rows that passes a filter takes about 3 %, a copy takes 100 %.
  @memory_limit 0.05

  @doc "All bars, judged."
  @spec judge([Harness.result()], [Bench.Memory.measured()]) :: [bar]
  def judge(results, memory) do
    Enum.map(@ratio_bars, &ratio_bar(&1, results)) ++ [growth_bar(results), memory_bar(memory)]
  end

  @doc "The growth exponent of one side of a pipeline and the row counts it was taken over; nil when too few were run."
  @spec growth([Harness.result()], atom, atom) :: {float, Range.t()} | nil
  def growth(results, section, side) do
    points =
      for %{section: ^section, origin: :built, rows: rows} = result <- results,
          rows in @growth_rows,
          measured = Harness.side(result, side),
          do: {rows, Harness.median(measured)}

    case Enum.map(points, &elem(&1, 0)) do
      [_, _ | _] = counts -> {Stats.growth_exponent(points), Enum.min(counts)..Enum.max(counts)}
      _ -> nil
    end
  end

  defp ratio_bar({section, name, rows, sides, yardstick, limit, what}, results) do
    ratios =
      for %{section: ^section, case: ^name, origin: :built} = result <- results,
          counts?(rows, result.rows),
          side <- sides,
          ratio = Harness.ratio(result, side, yardstick),
          do: {ratio, side, result}

    limit_text = "≤ #{Table.ratio(limit)} × #{yardstick_name(yardstick)}"

    case ratios do
      [] -> not_measured(what, limit_text, missing(yardstick))
      _ -> judged(what, limit_text, Enum.max_by(ratios, &elem(&1, 0)), limit)
    end
  end

  defp judged(what, limit_text, {worst, side, result}, limit) do
    place = if result.section == :fixed, do: "", else: "#{Table.count(result.rows)} rows, "
    tuned = Harness.ratio(result, side, :tuned)
    beside_tuned = if tuned, do: "; #{Table.ratio(tuned)} × tuned Elixir", else: ""

    %{
      what: what,
      limit: limit_text,
      measured: Table.ratio(worst),
      detail: "#{place}#{side}#{beside_tuned}",
      verdict: verdict(worst, limit)
    }
  end

  defp growth_bar(results) do
    what = "growth exponent, 1,000 to 1,000,000 rows, no sort"
    limit_text = "≤ #{Table.ratio(@growth_limit)}"

    exponents =
      for section <- [:filter_sum, :map_object, :get_distinct],
          side <- [:text, :compiled],
          {exponent, counts} <- [growth(results, section, side)],
          do: {exponent, section, side, counts}

    case exponents do
      [] ->
        not_measured(what, limit_text, "too few row counts in this run")

      _ ->
        {worst, section, side, counts} = Enum.max_by(exponents, &elem(&1, 0))
        {by_hand, _} = growth(results, section, :elixir)
        range = "#{Table.count(counts.first)} to #{Table.count(counts.last)} rows"

        %{
          what: what,
          limit: limit_text,
          measured: Table.ratio(worst),
          detail: "#{section}, #{side}, #{range}; Elixir grows by #{Table.ratio(by_hand)}",
          verdict: verdict(worst, @growth_limit)
        }
    end
  end

  defp memory_bar(memory) do
    what = "memory of filter, sum over 1,000,000 rows: the context is not copied"
    limit_text = "process grows by ≤ #{round(@memory_limit * 100)} % of the context"

    case Enum.find(memory, &(&1.name == :filter_sum)) do
      nil ->
        not_measured(what, limit_text, "not part of this run")

      seen ->
        worst = seen.process_growth / seen.context_bytes

        %{
          what: what,
          limit: limit_text,
          measured: "#{Table.fixed(worst * 100, 2)} %",
          detail: "#{Table.count(seen.rows)} rows; whole VM by #{share(seen, :rss_growth)}",
          verdict: verdict(worst, @memory_limit)
        }
    end
  end

  defp share(seen, key) do
    case Map.fetch!(seen, key) do
      nil -> "an unknown amount"
      bytes -> "#{Table.fixed(bytes / seen.context_bytes * 100, 2)} %"
    end
  end

  defp not_measured(what, limit, why) do
    %{what: what, limit: limit, measured: "-", detail: why, verdict: :not_measured}
  end

  defp missing(:jiffy), do: if(Jiffy.available?(), do: missing(:elixir), else: Jiffy.missing())
  defp missing(_yardstick), do: "not part of this run"

  defp counts?(:any, _rows), do: true
  defp counts?(:at_10_000, rows), do: rows == 10_000
  defp counts?(:from_10_000, rows), do: rows >= 10_000

  defp yardstick_name(:elixir), do: "Elixir by hand"
  defp yardstick_name(:jiffy), do: "jiffy.decode of the text"
  defp yardstick_name(:spawn), do: "a bare spawn_monitor"

  defp verdict(measured, limit) when measured <= limit, do: :reached
  defp verdict(_measured, _limit), do: :missed
end
