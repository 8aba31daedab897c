defmodule Bench.Sections.Repairs do
  @moduledoc false
  # Counts how many broken answers are restored, and how many get a wrong value. Measures no time.
  @behaviour Bench.Section

  import Bench.Table, only: [table: 4, words: 2, number: 2, fixed: 2, count: 1]
  alias Bench.{Bars, RepairRates}

  @impl true
  def names, do: [:repairs]

  @impl true
  def blocks(_quick?), do: [&RepairRates.all/0]

  @impl true
  def tables(rates) do
    intro = """
    *Stored* are the cases of `test/vectors/answer_repair.eterm`. *Made anew* are 5,000 others with other names, other strings and
    other faults, one or two each (`test/support/broken_answers.ex`), of which a type is known too. *Refused* is an answer that stays an error.
    """

    percent = fn key -> &"#{fixed(100 * &1[key] / &1.cases, 2)} %" end

    [
      table("Repairs", intro, rates, [
        words("", & &1.name),
        number("cases", &count(&1.cases)),
        number("restored", percent.(:restored)),
        number("wrong", percent.(:wrong)),
        number("ambiguous", percent.(:ambiguous)),
        number("refused", percent.(:refused))
      ])
    ]
  end

  @impl true
  def bars(rates) do
    Enum.flat_map(rates, fn rate ->
      case limits(rate.name) do
        {least, most} -> [restored(rate, least), wrong(rate, most)]
        nil -> []
      end
    end)
  end

  # In percent: minimum restored, maximum wrong.
  defp limits("stored, with the signature"), do: {98.0, 0.5}
  defp limits("stored, without, faults of syntax"), do: {85.0, 3.0}
  defp limits("made anew, with the signature"), do: {98.0, 0.5}
  defp limits("made anew, without, faults of syntax"), do: {85.0, 3.0}
  defp limits(_plain), do: nil

  defp restored(rate, least) do
    share = 100 * rate.restored / rate.cases

    Bars.at_least(
      "broken answers restored: #{rate.name}",
      {least, "≥ #{fixed(least, 1)} %"},
      {share, "#{fixed(share, 2)} %"},
      "#{count(rate.cases)} cases"
    )
  end

  defp wrong(rate, most) do
    share = 100 * rate.wrong / rate.cases

    Bars.at_most(
      "broken answers with a wrong value: #{rate.name}",
      {most, "≤ #{fixed(most, 1)} %"},
      {share, "#{fixed(share, 2)} %"},
      "#{count(rate.cases)} cases"
    )
  end
end
