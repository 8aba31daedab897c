defmodule PtcRunner.Json.Fence do
  @moduledoc false
  # Recognises a text that is not a program but an answer: prose, and the program in a code fence. A text that
  # begins with the fence keeps the error of the reference implementation, because the golden cases have it.

  alias PtcRunner.Json.Message

  @hint "The program stands in a code fence: use PtcRunner.Agent.program/2, which takes it out"

  # Maximum bytes of prose before the fence.
  @prose 65_536

  @doc """
  A fault; if it is about the JSON of a text that has a fence, the documented error with a hint.

      iex> fault = {:parse, {:unexpected_token, 0}}
      iex> {:parse_error, message} = PtcRunner.Json.Fence.note(fault, "Here it is:\\n```json\\n{}\\n```")
      iex> message =~ "The program stands in a code fence: use PtcRunner.Agent.program/2"
      true

      iex> PtcRunner.Json.Fence.note({:parse, :program_missing}, "{}")
      {:parse, :program_missing}

  """
  @spec note(Message.fault(), term()) :: Message.fault()
  def note({:parse, reason} = fault, text) when is_tuple(reason) and is_binary(text) do
    if prose_and_fence?(text),
      do: {:parse_error, "#{Message.parse(reason)}. #{@hint}"},
      else: fault
  end

  def note(fault, _text), do: fault

  defp prose_and_fence?(text) do
    case :binary.match(text, ["```", "{"], scope: {0, min(byte_size(text), @prose)}) do
      {0, _size} -> false
      {_at, 3} -> true
      _none -> false
    end
  end
end
