defmodule PtcRunner.Json.Fence do
  @moduledoc false
  # Recognises a text that is not a program but an answer: prose, and the program in a code fence. A text that
  # begins with the fence keeps the error of the reference implementation, because the golden cases have it.

  @hint "The program stands in a code fence: use PtcRunner.Agent.program/2, which takes it out"

  # Maximum bytes of prose before the fence.
  @prose 65_536

  @doc """
  An error; if the text has a fence, with a hint.

      iex> error = {:parse_error, "JSON decode error: Unexpected token at position 0"}
      iex> {:parse_error, message} = PtcRunner.Json.Fence.note(error, "Here it is:\\n```json\\n{}\\n```")
      iex> message =~ "The program stands in a code fence: use PtcRunner.Agent.program/2"
      true

      iex> PtcRunner.Json.Fence.note({:parse_error, "no"}, "{}")
      {:parse_error, "no"}

  """
  @spec note(term(), term()) :: term()
  def note({:parse_error, "JSON decode error: " <> _ = message} = error, text)
      when is_binary(text) do
    if prose_and_fence?(text), do: {:parse_error, "#{message}. #{@hint}"}, else: error
  end

  def note(error, _text), do: error

  defp prose_and_fence?(text) do
    case :binary.match(text, ["```", "{"], scope: {0, min(byte_size(text), @prose)}) do
      {0, _size} -> false
      {_at, 3} -> true
      _none -> false
    end
  end
end
