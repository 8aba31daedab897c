defmodule Bench.Findings do
  @moduledoc false
  # The tables that say something about several measurements at once.

  import Bench.Layout
  alias Bench.{Bars, Cases, Harness, Table}

  @doc "How the time of each pipeline grows with the rows."
  @spec growth([Harness.result()]) :: iodata
  def growth(results) do
    sides = [:text, :compiled, :elixir, :tuned]

    rows =
      for name <- Cases.pipelines() ++ [:tool_map, :literal],
          growths = for(side <- sides, do: Bars.growth(results, name, side)),
          {_, counts} <- [Enum.find(growths, & &1)] do
        range = "#{Table.count(counts.first)} to #{Table.count(counts.last)}"
        [title(name), range | Enum.map(growths, &exponent/1)]
      end

    intro =
      "The exponent e in time = c × rows^e, by least squares through the logarithms of the medians: 1 is linear."

    header = ["pipeline", "rows" | for(side <- sides, do: label(side))]
    section("Growth", intro, header, rows, [0, 1])
  end

  defp exponent(nil), do: "-"
  defp exponent({exponent, _counts}), do: Table.ratio(exponent)

  @doc "The same pipelines over the same rows from elsewhere."
  @spec origins([Harness.result()]) :: iodata
  def origins(results) do
    # The built rows are those of the main tables; they are shown beside the others, not measured twice.
    others = for %{origin: origin} = result <- results, origin != :built, do: result.rows

    rows =
      for name <- Cases.pipelines(),
          others != [],
          origin <- [:built, :decoded, :received],
          %{section: ^name, origin: ^origin, rows: rows} = result <- results,
          rows in others,
          do: [title(name), Atom.to_string(origin) | cells(result, [:elixir, :tuned])]

    intro = "Rows built in Elixir, decoded from JSON text, and received from another process."

    header = ["pipeline", "origin" | header([:elixir, :tuned])]
    section("Origin of the data, 10,000 rows", intro, header, rows, [0, 1])
  end

  @doc "By how much memory grows while a program runs."
  @spec memory([Bench.Memory.measured()]) :: iodata
  def memory(measured) do
    header =
      ["run", "context", "result", "process at its peak", "all processes", "operating system"] ++
        ["heap before", "heap after", "looks"]

    rows =
      for seen <- measured do
        growths =
          for key <- [:process_growth, :processes_growth, :rss_growth], do: growth_of(seen, key)

        sizes = for key <- [:context_bytes, :result_bytes], do: megabytes(Map.fetch!(seen, key))
        heaps = for key <- [:heap_before, :heap_after], do: megabytes(Map.fetch!(seen, key))
        [memory_title(seen.name) | sizes ++ growths ++ heaps ++ [Enum.join(seen.looks, " and ")]]
      end

    section("Memory", memory_intro(measured), header, rows)
  end

  defp memory_intro([]), do: ""

  defp memory_intro([%{rows: rows} | _]) do
    "#{Table.count(rows)} rows on the heap of the calling process, in MB. The three columns in the middle say " <>
      "by how much memory grew at its peak, and how much of the context that is."
  end

  defp memory_title(:copied), do: "for contrast: Elixir's sum in a new process"
  defp memory_title(name), do: "#{title(name)} (compiled)"

  defp growth_of(seen, key) do
    case Map.fetch!(seen, key) do
      nil -> "-"
      bytes -> "+#{megabytes(bytes)} (#{Table.fixed(bytes / seen.context_bytes * 100, 1)} %)"
    end
  end

  defp megabytes(bytes), do: Table.fixed(bytes / 1_000_000, 2)
end
