defmodule PtcRunner.SubAgent.RandomAnswerTest do
  # Random answers × random signatures: the library, whole and in chunks, and the oracle must agree.
  # `PTC_SEED` repeats a run, `PTC_CASES=4` takes four times as many.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent.Answer
  alias PtcRunner.SubAgent.{AnswerStream, JsonParser}
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.Test.{AnswerGenerator, AnswerOracle, Answers, Environment}

  doctest AnswerGenerator
  doctest AnswerOracle

  @cases 1_000

  @tag timeout: 600_000
  test "the library and the oracle agree on random answers" do
    seed = Environment.seed()
    cases = Environment.cases(@cases)

    outcomes =
      for n <- 1..cases do
        random = AnswerGenerator.random_case(seed, n)
        expected = AnswerOracle.handle(random.text, random.signature)

        check(
          :parse,
          JsonParser.parse(random.text),
          AnswerOracle.parse(random.text),
          random,
          {seed, n}
        )

        check(:handle, handled(random), short(expected), random, {seed, n})
        streamed(random, expected, {seed, n})
        elem(expected, 0)
      end

    # Both kinds of outcome are met often enough to mean something.
    assert Enum.count(outcomes, &(&1 == :ok)) > cases / 20
    assert Enum.count(outcomes, &(&1 == :error)) > cases / 20
  end

  defp handled(%{text: text, signature: signature}) do
    case JsonHandler.handle_json_answer(text, Answers.agent(signature), Answers.state()) do
      {:stop, {:ok, step}, _turn, _tokens} -> {:ok, step.return}
      {:continue, _state, turn} -> {:error, turn.result.error}
    end
  end

  defp short({:ok, value}), do: {:ok, value}

  defp short({:error, errors}) when is_list(errors),
    do: {:error, JsonHandler.format_validation_errors(errors)}

  defp short({:error, "wrapper"}),
    do: {:error, ~s(Expected {"items": [...]} wrapper for array response)}

  defp short({:error, "object"}),
    do: {:error, "Response must be a JSON object, not an array or primitive"}

  defp short({:error, "no_json_found"}), do: {:error, "No valid JSON found in response"}
  defp short({:error, "invalid_json"}), do: {:error, "JSON parse error"}

  # A stream that goes to its end says what the whole text says; one that stops, stops an answer that is wrong. Which of several
  # values counts is the rule of `Agent.answer/3`: see `PtcRunner.Agent.StreamedAnswersTest`.
  defp streamed(random, expected, place) do
    chunks = Answers.cut(random.text, random.cuts)
    whole = random.text |> Answer.exactly(random.signature, []) |> rooted()
    certain = run(random.signature, chunks, halt: :certain)

    # The rule of `JsonHandler` for several values is another one: the value is wrong by one of the two.
    right? = elem(expected, 0) == :ok and elem(whole, 0) == :ok

    if match?({:halted, _}, certain),
      do: check(:certain, right?, false, random, place)

    if match?({:ended, _}, certain),
      do: check(:finish, ended(certain), whole, random, place)

    if elem(expected, 0) == :ok and match?({:ended, {:ok, _}}, certain) and one?(random.text),
      do: check(:oracle, ended(certain), short(expected), random, place)

    case run(random.signature, chunks, []) do
      {:ended, _} = early -> check(:finish, ended(early), whole, random, place)
      {:halted, [_one]} -> early(random, right?, place)
    end
  end

  defp one?(text), do: length(String.split(text, ["{", "["])) == 2

  # The one way out: a fence that comes later, or around which the first JSON does not count.
  defp early(random, true, place),
    do: check(:early, String.contains?(random.text, "```"), true, random, place)

  defp early(_random, false, _place), do: :ok

  defp run(signature, chunks, opts), do: Answers.stream(AnswerStream.new(signature, opts), chunks)

  defp ended({:ended, outcome}), do: rooted(outcome)

  defp rooted({:ok, value}), do: {:ok, value}
  defp rooted({:error, errors}), do: {:error, JsonHandler.format_validation_errors(errors)}

  defp check(what, answer, expected, random, {seed, n}) do
    if answer !== expected do
      flunk("""
      #{what}, case #{n} of seed #{seed}
      signature: #{inspect(random.signature)}
      text:      #{inspect(random.text, binaries: :as_strings)}
      library:   #{inspect(answer)}
      oracle:    #{inspect(expected)}
      """)
    end
  end
end
