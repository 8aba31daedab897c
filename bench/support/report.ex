defmodule Bench.Report do
  @moduledoc false
  # The results as one Markdown text, for the terminal and for RESULTS.md.

  alias Bench.{Bars, Cases, Harness, Jiffy, Programs, Table}

  @titles %{
    filter_sum: "filter, sum",
    filter_sort: "filter(and), sort desc, select, take",
    map_object: "map with an object of 3 fields",
    get_distinct: "get path, distinct, count",
    tool_map: "map with a tool call for each row",
    literal: "literal, with rows of context it does not look at",
    five_steps: "10 rows, 5 steps",
    literal_objects: "literal, 10 objects",
    tool_once: "one tool call"
  }

  @labels %{
    text: "program as text",
    compiled: "compiled program",
    elixir: "Elixir by hand",
    tuned: "Elixir, tuned",
    isolated: "Elixir, one process a call"
  }

  @doc "The whole report."
  @spec markdown([Harness.result()], [Bench.Memory.measured()], [{String.t(), String.t()}]) ::
          String.t()
  def markdown(results, memory, facts) do
    [
      "# Benchmark results\n\n",
      "Written by `mix run bench/run.exs`. What is measured, and how to read it: [README.md](README.md).\n\n",
      Table.markdown(["", "of this run"], for({name, text} <- facts, do: [name, text])),
      "\n",
      bars(Bars.judge(results, memory)),
      Enum.map(Cases.pipelines(), &over_rows(&1, results, [:elixir, :tuned])),
      over_rows(:tool_map, results, [:elixir, :isolated]),
      over_rows(:literal, results, []),
      fixed(results),
      growth(results),
      origins(results),
      memory(memory)
    ]
    |> IO.iodata_to_binary()
    |> String.trim_trailing()
    |> Kernel.<>("\n")
  end

  @doc "One line about a measured group, for the impatient."
  @spec line(Harness.result()) :: String.t()
  def line(result) do
    sides = for {name, _} <- result.sides, do: "#{name} #{cell(result, name)}"
    place = "#{result.case} · #{Table.count(result.rows)} rows · #{result.origin}"
    "#{place}\n    #{Enum.join(sides, " · ")}"
  end

  defp bars(bars) do
    rows =
      for bar <- bars, do: [bar.what, bar.limit, bar.measured, verdict(bar.verdict), bar.detail]

    section(
      "Bars",
      "Of several numbers the worst counts; the last column says which one that was.",
      ["what", "bar", "measured", "", "the worst, or why there is none"],
      rows
    )
  end

  defp verdict(:reached), do: "reached"
  defp verdict(:missed), do: "**missed**"
  defp verdict(:not_measured), do: "not measured"

  defp over_rows(name, results, others) do
    measured = for %{section: ^name, origin: :built} = result <- results, do: result
    rows = for result <- measured, do: [Table.count(result.rows) | cells(result, others)]
    section(@titles[name], program(name), ["rows" | header(others)], rows)
  end

  defp header(others) do
    names = for name <- [:text, :compiled | others], do: @labels[name]
    quotients = for other <- others, side <- [:text, :compiled], do: "#{side} ÷ #{@labels[other]}"
    names ++ quotients
  end

  defp cells(result, others) do
    times = for name <- [:text, :compiled | others], do: cell(result, name)

    quotients =
      for other <- others,
          side <- [:text, :compiled],
          do: Table.ratio(Harness.ratio(result, side, other))

    times ++ quotients
  end

  defp fixed(results) do
    header =
      ["program", @labels.text, @labels.compiled, "Elixir by hand", "yardstick", ""] ++
        ["text ÷ yardstick", "compiled ÷ yardstick"]

    rows =
      for %{section: :fixed} = result <- results do
        {yardstick, label} = yardstick(result.case)

        [@titles[result.case]] ++
          for(name <- [:text, :compiled, :elixir, yardstick], do: cell(result, name)) ++
          [
            label
            | for(
                side <- [:text, :compiled],
                do: Table.ratio(Harness.ratio(result, side, yardstick))
              )
          ]
      end

    intro = "What a call costs when there is hardly any data. The literal here has no context."
    section("Small programs", intro, header, rows)
  end

  defp yardstick(:tool_once), do: {:spawn, "bare spawn_monitor, one message"}

  defp yardstick(_name) do
    {:jiffy, if(Jiffy.available?(), do: "jiffy.decode of the text", else: Jiffy.missing())}
  end

  defp growth(results) do
    sides = [:text, :compiled, :elixir, :tuned]

    rows =
      for name <- Cases.pipelines() ++ [:tool_map, :literal],
          growths = for(side <- sides, do: Bars.growth(results, name, side)),
          {_, counts} <- [Enum.find(growths, & &1)] do
        range = "#{Table.count(counts.first)} to #{Table.count(counts.last)}"
        [@titles[name], range | Enum.map(growths, &exponent/1)]
      end

    intro =
      "The exponent e in time = c × rows^e, by least squares through the logarithms of the medians: 1 is linear."

    section("Growth", intro, ["pipeline", "rows" | for(side <- sides, do: @labels[side])], rows)
  end

  defp exponent(nil), do: "-"
  defp exponent({exponent, _counts}), do: Table.ratio(exponent)

  defp origins(results) do
    # The built rows are those of the main tables; they are shown beside the others, not measured twice.
    others = for %{origin: origin} = result <- results, origin != :built, do: result.rows

    rows =
      for name <- Cases.pipelines(),
          others != [],
          origin <- [:built, :decoded, :received],
          %{section: ^name, origin: ^origin, rows: rows} = result <- results,
          rows in others,
          do: [@titles[name], Atom.to_string(origin) | cells(result, [:elixir, :tuned])]

    intro = "Rows built in Elixir, decoded from JSON text, and received from another process."

    section(
      "Origin of the data, 10,000 rows",
      intro,
      ["pipeline", "origin" | header([:elixir, :tuned])],
      rows
    )
  end

  defp memory(measured) do
    header =
      ["run", "context", "result", "process at its peak", "all processes", "operating system"] ++
        ["heap before", "heap after", "looks"]

    rows =
      for seen <- measured do
        growths =
          for key <- [:process_growth, :processes_growth, :rss_growth], do: growth_of(seen, key)

        sizes = for key <- [:context_bytes, :result_bytes], do: megabytes(Map.fetch!(seen, key))
        heaps = for key <- [:heap_before, :heap_after], do: megabytes(Map.fetch!(seen, key))
        [memory_title(seen.name) | sizes ++ growths ++ heaps ++ [Table.count(seen.looks)]]
      end

    section("Memory", memory_intro(measured), header, rows)
  end

  defp memory_intro([]), do: ""

  defp memory_intro([%{rows: rows} | _]) do
    "#{Table.count(rows)} rows on the heap of the calling process, in MB. The three columns in the middle say " <>
      "by how much memory grew at its peak, and how much of the context that is."
  end

  defp memory_title(:copied), do: "for contrast: Elixir's sum in a new process"
  defp memory_title(name), do: "#{@titles[name]} (compiled)"

  defp growth_of(seen, key) do
    case Map.fetch!(seen, key) do
      nil -> "-"
      bytes -> "+#{megabytes(bytes)} (#{Table.fixed(bytes / seen.context_bytes * 100, 1)} %)"
    end
  end

  defp megabytes(bytes), do: Table.fixed(bytes / 1_000_000, 2)

  defp program(name), do: "```json\n#{Programs.text(name)}\n```"

  defp section(_title, _intro, _header, []), do: []

  defp section(title, intro, header, rows) do
    ["## ", title, "\n\n", intro, "\n\n", Table.markdown(header, rows), "\n"]
  end

  defp cell(result, name) do
    case Harness.side(result, name) do
      nil -> "-"
      measured -> Table.times(measured.samples, Harness.median(measured))
    end
  end
end
