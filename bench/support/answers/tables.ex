defmodule Bench.Answers.Tables do
  @moduledoc false
  # The section `answers` in the report: its bars and its table.

  import Bench.Layout, only: [section: 5, cell: 2]
  alias Bench.Answers.Cases
  alias Bench.{Harness, Jiffy, Table}

  # {case, rows, side, reference, limit, what, the limit in words}
  @bars [
    {:handle, 10_000, :library, :jiffy, 0.8, "handle_json_answer, 10,000 rows, right",
     "jiffy's bare decode"},
    {:handle, 10, :library, :jiffy, 1.5, "handle_json_answer, 10 rows, right",
     "jiffy's bare decode"},
    {:parse, 10_000, :library, :jiffy, 0.6,
     "JsonParser.parse, 10,000 rows inside prose and a fence",
     "jiffy's bare decode of the JSON alone"},
    {:errors, 10_000, :wrong, :right, 2.0, "handle_json_answer, an answer with 10,000 errors",
     "the right answer"},
    {:stream, 10_000, :stream, :whole, 3.0, "AnswerStream, 10,000 rows in 20-byte chunks",
     "the whole text at once"},
    {:repair, 10_000, :on, :off, 1.02, "handle_json_answer with repair: true, 10,000 rows, right",
     "without"},
    {:repaired, 10_000, :broken, :right, 3.0,
     "handle_json_answer with repair: true, a comma missing in every tenth of 10,000 rows",
     "the right answer"}
  ]

  @doc "All bars of the section, judged; none if it was not run."
  @spec bars([Harness.result()]) :: [Bench.Bars.bar()]
  def bars(results) do
    case for(%{section: :answers} = result <- results, do: result) do
      [] -> []
      results -> Enum.map(@bars, &bar(&1, results)) ++ [early_stop()]
    end
  end

  defp bar({name, rows, side, reference, limit, what, words}, results) do
    result = Enum.find(results, &match?(%{case: ^name, rows: ^rows}, &1))
    limit_text = "≤ #{Table.ratio(limit)} × #{words}"

    case Harness.ratio(result, side, reference) do
      nil ->
        bar(what, limit_text, "-", Jiffy.missing(), :not_measured)

      ratio ->
        by_hand = Harness.ratio(result, side, :elixir)
        detail = if by_hand, do: "#{Table.ratio(by_hand)} × Elixir by hand", else: ""
        bar(what, limit_text, Table.ratio(ratio), detail, verdict(ratio <= limit))
    end
  end

  defp early_stop do
    {taken, row_end} = Cases.early_stop()
    what = "AnswerStream, a wrong first row of 10,000, in 20-byte chunks"
    limit = "halted within the first row, which ends at byte #{row_end}"
    bar(what, limit, "byte #{taken}", "", verdict(taken <= row_end))
  end

  defp bar(what, limit, measured, detail, verdict),
    do: %{what: what, limit: limit, measured: measured, detail: detail, verdict: verdict}

  defp verdict(true), do: :reached
  defp verdict(false), do: :missed

  @titles %{
    handle: "handle_json_answer",
    parse: "JsonParser.parse, prose and a fence",
    errors: "handle_json_answer, every row wrong",
    stream: "AnswerStream, 20-byte chunks",
    repair: "handle_json_answer, repair: true",
    repaired: "the same, a comma missing in every tenth row"
  }

  # The side that reads the right answer, by case.
  @right %{errors: :right, repair: :off, repaired: :right}

  @doc "The table; nothing if the section was not run."
  @spec tables([Harness.result()]) :: iodata
  def tables(results) do
    intro = """
    Answers of 10 and of 10,000 rows `{id :int, score :float, name :string}` (400 KB). *Elixir by hand* finds the JSON,
    has jiffy decode it and checks the rows with patterns for this very type; it makes no step and no turn. *Jiffy*
    decodes the JSON, and nothing else. The answer with errors, the stream and the repairs stand beside the right answer, read whole.\
    """

    header = [
      "",
      "rows",
      "library",
      "Elixir by hand",
      "jiffy",
      "right answer, whole",
      "library ÷ jiffy"
    ]

    rows =
      for %{section: :answers} = result <- results do
        [first | _] = for {name, _} <- result.sides, do: name
        cells = for side <- [first, :elixir, :jiffy], do: cell(result, side)
        whole = Map.get(@right, result.case, :whole)
        ratio = Table.ratio(Harness.ratio(result, first, :jiffy))
        [@titles[result.case], Table.count(result.rows)] ++ cells ++ [cell(result, whole), ratio]
      end

    section("Answers", intro, header, rows, [0])
  end
end
