defmodule Bench.RepairRates do
  @moduledoc false
  # Counts how many broken answers with a known correct value are restored.

  alias PtcRunner.SubAgent.JsonParser
  alias PtcRunner.Test.BrokenAnswers

  @vectors "test/vectors/answer_repair.eterm"

  # Faults that are visible only with the type.
  @typed ~w(camel_keys bare_element stringified quoted_scalars)

  @type rate :: %{
          name: String.t(),
          cases: pos_integer(),
          restored: non_neg_integer(),
          wrong: non_neg_integer(),
          ambiguous: non_neg_integer(),
          refused: non_neg_integer()
        }

  @doc "The stored cases."
  def stored do
    {:ok, cases} = :file.consult(@vectors)
    for case <- cases, do: Map.put(case, :syntax?, not String.contains?(case.kind, @typed))
  end

  @doc "Generated cases, the same for the same seed."
  def made(seed, count), do: BrokenAnswers.cases(seed, count)

  @doc "Reads an answer with its signature, or without."
  def typed(case), do: JsonParser.repair(case.text, case.signature, truncated: :complete)
  def untyped(case), do: JsonParser.repair(case.text, nil, truncated: :complete)

  @doc "Reads an answer without repairs."
  def plain(case), do: with({:ok, value} <- JsonParser.parse(case.text), do: {:ok, value, []})

  @doc "The results of all cases."
  @spec rate(String.t(), [map()], (map() -> tuple())) :: rate()
  def rate(name, cases, read) do
    found = Enum.frequencies_by(cases, &outcome(read.(&1), &1.expect))

    counts =
      for key <- ~w(restored wrong ambiguous refused)a, into: %{}, do: {key, found[key] || 0}

    Map.merge(counts, %{name: name, cases: length(cases)})
  end

  defp outcome({:ok, expect, _repairs}, expect), do: :restored
  defp outcome({:ok, _other, _repairs}, _expect), do: :wrong
  defp outcome({:error, {:ambiguous, _places}}, _expect), do: :ambiguous
  defp outcome({:error, _reason}, _expect), do: :refused

  @doc "The rates that the report has."
  @spec all() :: [rate()]
  def all do
    for {name, cases} <- [{"stored", stored()}, {"made anew", made(1, 5_000)}],
        {words, cases, read} <- [
          {"with the signature", cases, &typed/1},
          {"without, faults of syntax", Enum.filter(cases, & &1.syntax?), &untyped/1},
          {"parse/1, repairs nothing", cases, &plain/1}
        ],
        do: rate("#{name}, #{words}", cases, read)
  end
end
