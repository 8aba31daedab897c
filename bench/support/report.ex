defmodule Bench.Report do
  @moduledoc false
  # The results as one Markdown text, for the terminal and for RESULTS.md.

  import Bench.Layout
  alias Bench.{Bars, Cases, Findings, Harness, Jiffy, Programs, Table}

  @doc "The whole report."
  @spec markdown([Harness.result()], [Bench.Memory.measured()], [{String.t(), String.t()}]) ::
          String.t()
  def markdown(results, memory, facts) do
    [
      "# Benchmark results\n\n",
      "Written by `mix run bench/run.exs`. What is measured, and how to read it: [README.md](README.md). Why bars are missed, and what was tried: [MISSED.md](MISSED.md).\n\n",
      Table.markdown(["", "of this run"], for({name, text} <- facts, do: [name, text]), [0, 1]),
      "\n",
      bars(
        Bars.judge(results, memory) ++
          Bench.Engine.Tables.bars(results) ++ Bench.Answers.Tables.bars(results)
      ),
      Enum.map(Cases.pipelines(), &over_rows(&1, results, [:elixir, :tuned])),
      over_rows(:tool_map, results, [:elixir, :isolated]),
      over_rows(:literal, results, []),
      fixed(results),
      Findings.growth(results),
      Findings.origins(results),
      Findings.memory(memory),
      Bench.Engine.Tables.tables(results),
      Bench.Answers.Tables.tables(results)
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
      rows,
      [0, 1, 3, 4]
    )
  end

  defp verdict(:reached), do: "reached"
  defp verdict(:missed), do: "**missed**"
  defp verdict(:not_measured), do: "not measured"

  defp over_rows(name, results, others) do
    measured = for %{section: ^name, origin: :built} = result <- results, do: result
    rows = for result <- measured, do: [Table.count(result.rows) | cells(result, others)]
    section(title(name), program(name), ["rows" | header(others)], rows)
  end

  defp fixed(results) do
    header =
      ["program", label(:text), label(:compiled), label(:elixir), "yardstick", ""] ++
        ["text ÷ yardstick", "compiled ÷ yardstick"]

    rows =
      for %{section: :fixed} = result <- results do
        {yardstick, label} = yardstick(result.case)

        [title(result.case)] ++
          for(name <- [:text, :compiled, :elixir, yardstick], do: cell(result, name)) ++
          [label | quotients(result, yardstick)]
      end

    intro = "What a call costs when there is hardly any data. The literal here has no context."
    section("Small programs", intro, header, rows, [0, 5])
  end

  defp quotients(result, yardstick) do
    for side <- [:text, :compiled], do: Table.ratio(Harness.ratio(result, side, yardstick))
  end

  defp yardstick(:tool_once), do: {:spawn, "bare spawn_monitor, one message"}

  defp yardstick(_name) do
    {:jiffy, if(Jiffy.available?(), do: "jiffy.decode of the text", else: Jiffy.missing())}
  end

  defp program(name), do: "```json\n#{Programs.text(name)}\n```"
end
