defmodule PtcRunner.Json.Fence do
  @moduledoc false
  # Recognises a text that is not a program but an answer: prose, and the program in a code fence. A text that
  # begins with the fence keeps the error of the reference implementation, because the golden cases have it. And a number that no float can
  # hold, which is named.

  alias PtcRunner.Json.{Message, NumberTokens}
  alias PtcRunner.Shown

  @hint "The program stands in a code fence: use PtcRunner.Agent.program/2, which takes it out"

  # Maximum bytes of prose before the fence.
  @prose 65_536

  @doc """
  A fault; if it is about the JSON of a text that has a fence, or about a number, the documented error with a hint.

      iex> fault = {:parse, {:unexpected_token, 0}}
      iex> {:parse_error, message} = PtcRunner.Json.Fence.note(fault, "Here it is:\\n```json\\n{}\\n```")
      iex> message =~ "The program stands in a code fence: use PtcRunner.Agent.program/2"
      true

      iex> PtcRunner.Json.Fence.note({:parse, {:unexpected_token, 1}}, "[1e400]")
      {:parse_error, "JSON decode error: Unexpected token at position 1. The number 1e400 is too large for a float: write it as a text"}

      iex> PtcRunner.Json.Fence.note({:parse, :program_missing}, "{}")
      {:parse, :program_missing}

  """
  @spec note(Message.fault(), term()) :: Message.fault()
  def note({:parse, reason} = fault, text) when is_tuple(reason) and is_binary(text) do
    cond do
      prose_and_fence?(text) -> {:parse_error, "#{Message.parse(reason)}. #{@hint}"}
      number = too_large(reason, text) -> {:parse_error, "#{Message.parse(reason)}. #{number}"}
      true -> fault
    end
  end

  def note(fault, _text), do: fault

  defp too_large({:unexpected_token, at}, text) when is_integer(at) do
    with number when number != nil <- NumberTokens.large_at(text, at),
         do: "The number #{Shown.cut(number, 100)} is too large for a float: write it as a text"
  end

  defp too_large(_reason, _text), do: nil

  defp prose_and_fence?(text) do
    case :binary.match(text, ["```", "{"], scope: {0, min(byte_size(text), @prose)}) do
      {0, _size} -> false
      {_at, 3} -> true
      _none -> false
    end
  end
end
