defmodule PtcRunner.Agent.Values do
  @moduledoc false
  # The values in the text of an answer, if there are several: which one counts is decided as for programs.

  alias PtcRunner.Agent.Candidates

  # Maximum number of values that are compared.
  @values 64
  # After a closing bracket in one JSON value only these follow.
  @after_value ~r/[}\]]\s*[^,}\]\s]/

  @type choice ::
          :one
          | {:only, String.t()}
          | {:last, String.t(), pos_integer()}
          | {:several, pos_integer()}

  @doc """
  The text of the value that counts. `fitting` returns the value of a text, or `:error` if it is not of the type.

    * `:one` - there are not several values that fit
    * `{:only, text}` - one of several texts fits, or all that fit have one value
    * `{:last, text, count}` - the last one, because the words before it take back the one before
    * `{:several, count}` - it is not known which one counts

      iex> fitting = &PtcRunner.SubAgent.JsonParser.parse/1
      iex> PtcRunner.Agent.Values.choose(~s({"n": 1} or {"n": 2}), fitting)
      {:several, 2}
      iex> PtcRunner.Agent.Values.choose(~s({"n": 1} Correction: {"n": 2}), fitting)
      {:last, ~s({"n": 2}), 2}

  """
  @spec choose(String.t(), (String.t() -> {:ok, term()} | :error)) :: choice()
  def choose(text, fitting) do
    with true <- String.valid?(text) and text =~ @after_value,
         [_, _ | _] = spans <- Candidates.regions(text, @values),
         [_ | _] = found <- fitting(spans, text, fitting) do
      case found |> Enum.map(&elem(&1, 1)) |> Enum.uniq() do
        [_one] -> {:only, found |> hd() |> part(text)}
        [_, _ | _] -> corrected(found, text)
      end
    else
      _one -> :one
    end
  end

  # Values in fences count before those in the words around them.
  defp fitting(spans, text, fitting) do
    found =
      for {from, size} = span <- spans,
          {:ok, value} <- [fitting.(binary_part(text, from, size))],
          do: {span, value}

    case Enum.filter(found, fn {{from, _size}, _value} -> fenced?(binary_part(text, 0, from)) end) do
      [] -> found
      fenced -> fenced
    end
  end

  defp fenced?(before), do: before |> :binary.matches("```") |> length() |> rem(2) == 1

  defp corrected(found, text) do
    [{last, _value} = one, {before, _other} | _] = Enum.reverse(found)

    if Candidates.corrects?(text, before, last),
      do: {:last, part(one, text), length(found)},
      else: {:several, length(found)}
  end

  defp part({{from, size}, _value}, text), do: binary_part(text, from, size)
end
