defmodule PtcRunner.Test.Answers do
  @moduledoc """
  Agents, states and streams for tests of answers.

      iex> PtcRunner.Test.Answers.cut("abcdef", [1, 3])
      ["a", "bcd", "e", "f"]
  """

  alias PtcRunner.SubAgent.AnswerStream

  @doc "An agent with a signature."
  def agent(signature), do: %{parsed_signature: signature, max_turns: 3, field_descriptions: nil}

  @doc "A state in its first turn, with all required keys."
  def state do
    %{
      turn: 1,
      turns: [],
      messages: [],
      remaining_turns: 2,
      turn_tokens: nil,
      start_time: 0,
      trace_mode: false,
      collect_messages: false,
      expanded_prompt: "",
      original_prompt: "",
      llm_requests: 1,
      total_input_tokens: 0,
      total_output_tokens: 0
    }
  end

  @doc "The text in chunks of these sizes, which are repeated."
  @spec cut(binary(), [pos_integer()]) :: [binary()]
  def cut(text, sizes), do: text |> cut(sizes, sizes, []) |> Enum.reverse()

  defp cut("", _left, _sizes, chunks), do: chunks
  defp cut(text, [], sizes, chunks), do: cut(text, sizes, sizes, chunks)

  defp cut(text, [size | left], sizes, chunks) do
    size = min(size, byte_size(text))
    chunk = binary_part(text, 0, size)
    rest = binary_part(text, size, byte_size(text) - size)
    cut(rest, left, sizes, [chunk | chunks])
  end

  @doc "Feeds all chunks and finishes, or stops if the stream halts."
  @spec stream(AnswerStream.t(), [binary()]) :: {:ended, term()} | {:halted, [map()]}
  def stream(stream, [chunk | chunks]) do
    case AnswerStream.feed(stream, chunk) do
      {:cont, stream} -> stream(stream, chunks)
      {:halt, {:error, errors}} -> {:halted, errors}
    end
  end

  def stream(stream, []), do: {:ended, AnswerStream.finish(stream)}
end
