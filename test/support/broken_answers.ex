defmodule PtcRunner.Test.BrokenAnswers do
  @moduledoc """
  Answers with one or two faults and a known correct value: a random type, a value of it, its JSON in one of
  several styles, and typical faults of models.

  Independent of `test/vectors/answer_repair.eterm`: other names, other strings, other faults.
  """

  alias PtcRunner.Test.BrokenAnswers.{Faults, Tokens, Values, Wraps}

  @type case :: %{
          kind: String.t(),
          syntax?: boolean(),
          signature: String.t(),
          text: String.t(),
          expect: term()
        }

  @doc "`count` answers, the same for the same seed."
  @spec cases(integer(), pos_integer()) :: [case()]
  def cases(seed, count) do
    :rand.seed(:exsss, {seed, 7, 11})
    for _ <- 1..count, do: broken()
  end

  # Not every fault is possible in every value.
  defp broken do
    type = Values.type()
    value = Values.value(type)
    answer = %{type: type, value: value, tokens: Tokens.of(value, type, Tokens.style())}

    with {kind, faults} <- kinds(),
         %{} = answer <- Enum.reduce_while(faults, answer, &fault/2) do
      {wrap, text} = answer.tokens |> Tokens.text() |> Wraps.wrap(Enum.random(1..4) == 1)

      %{
        kind: wrap <> kind,
        syntax?: Enum.all?(faults, &Faults.syntax?/1),
        signature: Values.signature(type),
        text: text,
        expect: answer.value
      }
    else
      nil -> broken()
    end
  end

  defp kinds do
    case Enum.random(1..5) do
      5 ->
        [a, b] = Faults.pair()
        {"#{a}+#{b}", [a, b]}

      _one ->
        fault = Faults.one()
        {"#{fault}", [fault]}
    end
  end

  defp fault(kind, answer) do
    case Faults.apply(kind, answer) do
      nil -> {:halt, nil}
      answer -> {:cont, answer}
    end
  end
end
