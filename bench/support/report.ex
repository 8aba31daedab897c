defmodule Bench.Report do
  @moduledoc false
  # Formats the results as one Markdown text, for the terminal and for RESULTS.md.

  import Bench.Table, only: [words: 2, number: 2, table: 4]
  alias Bench.{Harness, Table}

  @doc "The whole report, from the sections with their results."
  @spec markdown([{module, [map]}], [{String.t(), String.t()}]) :: String.t()
  def markdown(measured, facts) do
    measured = for {_, [_ | _]} = section <- measured, do: section
    bars = for {section, results} <- measured, bar <- section.bars(results), do: bar
    tables = for {section, results} <- measured, table <- section.tables(results), do: table

    facts = Table.markdown(facts, [words("", &elem(&1, 0)), words("of this run", &elem(&1, 1))])
    tables = for table <- [bars(bars) | tables], table.rows != [], do: ["\n" | section(table)]

    IO.iodata_to_binary([
      "# Benchmark results\n\n",
      "Written by `mix run bench/run.exs`. What is measured, and how to read it: [README.md](README.md). ",
      "Why bars are missed, and what was tried: [MISSED.md](MISSED.md).\n\n",
      [facts | tables]
    ])
  end

  defp bars(bars) do
    intro = "Of several numbers the worst counts; the last column says which one that was."

    table("Bars", intro, bars, [
      words("what", & &1.what),
      words("bar", & &1.limit),
      number("measured", & &1.measured),
      words("", &verdict(&1.verdict)),
      words("the worst, or why there is none", & &1.detail)
    ])
  end

  defp verdict(:reached), do: "reached"
  defp verdict(:missed), do: "**missed**"
  defp verdict(:not_measured), do: "not measured"

  defp section(%{title: title, intro: intro, rows: rows, columns: columns}),
    do: ["## ", title, "\n\n", String.trim(intro), "\n\n", Table.markdown(rows, columns)]

  @doc "One line about a measured group, printed during the run."
  @spec line(Harness.result()) :: String.t()
  def line(result) do
    sides = for {name, _} <- result.sides, do: "#{name} #{Table.time(result, name)}"
    place = "#{result.case} · #{Table.count(result.rows)} rows · #{result.origin}"
    effort = "#{result.rounds} rounds, #{Table.fixed(result.seconds, 1)} s"
    "#{place} · #{effort}\n    #{Enum.join(sides, " · ")}"
  end
end
