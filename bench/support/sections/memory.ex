defmodule Bench.Sections.Memory do
  @moduledoc false
  # Measures by how much memory grows while a program runs over rows on the caller's heap.
  @behaviour Bench.Section

  import Bench.Table, only: [table: 4, words: 2, number: 2, fixed: 2, count: 1]
  alias Bench.{Bars, Memory, Sections}

  # A list of the half of the rows that passes a filter takes about 3 %, a copy takes 100 %.
  @limit 0.05

  @impl true
  def names, do: [:memory]

  @impl true
  def blocks(quick?), do: [fn -> Memory.measure(if quick?, do: 100_000, else: 1_000_000) end]

  @impl true
  def tables([%{rows: rows} | _] = measured) do
    intro =
      "#{count(rows)} rows on the heap of the calling process, in MB. The three columns in the middle say " <>
        "by how much memory grew at its peak, and how much of the context that is."

    table("Memory", intro, measured, [
      words("run", &title(&1.name)),
      number("context", &megabytes(&1.context_bytes)),
      number("result", &megabytes(&1.result_bytes)),
      number("process at its peak", &growth(&1, :process_growth)),
      number("all processes", &growth(&1, :processes_growth)),
      number("operating system", &growth(&1, :rss_growth)),
      number("heap before", &megabytes(&1.heap_before)),
      number("heap after", &megabytes(&1.heap_after)),
      number("looks", &Enum.join(&1.looks, " and "))
    ])
    |> List.wrap()
  end

  defp title(:copied), do: "for contrast: Elixir's sum in a new process"
  defp title(name), do: "#{Sections.Programs.title(name)} (compiled)"

  defp growth(seen, key) do
    bytes = Map.fetch!(seen, key)
    if bytes, do: "+#{megabytes(bytes)} (#{share(seen, key, 1)})", else: "-"
  end

  defp megabytes(bytes), do: fixed(bytes / 1_000_000, 2)

  defp share(seen, key, decimals) do
    bytes = Map.fetch!(seen, key)

    if bytes,
      do: "#{fixed(bytes / seen.context_bytes * 100, decimals)} %",
      else: "an unknown amount"
  end

  @impl true
  def bars(measured) do
    for %{name: :filter_sum} = seen <- measured do
      Bars.at_most(
        "memory of filter, sum over 1,000,000 rows: the context is not copied",
        {@limit, "process grows by ≤ #{round(@limit * 100)} % of the context"},
        {seen.process_growth / seen.context_bytes, share(seen, :process_growth, 2)},
        "#{count(seen.rows)} rows; whole VM by #{share(seen, :rss_growth, 2)}"
      )
    end
  end
end
