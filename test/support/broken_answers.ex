defmodule PtcRunner.Test.BrokenAnswers do
  @moduledoc """
  Answers with one or two faults whose truth is known: a random type, a value of it, its JSON in one of
  several styles, and what a model may do to it.

  Independent of `test/vectors/answer_repair.eterm`: other names, other strings, other faults.
  """

  alias PtcRunner.SubAgent.{JsonParser, Signature}
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

  # Not every fault finds its place in every value.
  defp broken do
    type = Values.type()
    value = Values.value(type)
    answer = %{type: type, value: value, tokens: Tokens.of(value, type, Tokens.style())}

    with {kind, faults} <- kinds(),
         %{} = answer <- Enum.reduce_while(faults, answer, &fault/2) do
      {wrap, text} = answer.tokens |> Tokens.text() |> Wraps.wrap(Enum.random(1..4) == 1)

      unless Enum.any?(faults, &Faults.spelling?/1) and right?(text, type),
        do: %{
          kind: wrap <> kind,
          syntax?: Enum.all?(faults, &Faults.syntax?/1),
          signature: Values.signature(type),
          text: text,
          expect: answer.value
        }
    end
    |> case do
      nil -> broken()
      case -> case
    end
  end

  # Keys in another spelling are no fault where only optional fields have them.
  defp right?(text, type) do
    case JsonParser.parse(text) do
      {:ok, value} -> Signature.validate({:signature, [], type}, value) == :ok
      {:error, _reason} -> false
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
