defmodule PtcRunner.Agent.Thinking do
  @moduledoc false
  # What a model writes to itself before it answers, as reasoning models do: it is no part of the answer.

  alias PtcRunner.Agent.Candidates

  @names "think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis"
  @block ~r/<(#{@names})>.*?<\/\1>/is
  @rest ~r/\A.*?<\/(?:#{@names})>/is

  @doc """
  The text with blanks in the place of the thinking, so that places in it stay where they are. A tag inside of JSON is data.

      iex> PtcRunner.Agent.Thinking.blanked("<think>1</think>2")
      "                2"

      iex> PtcRunner.Agent.Thinking.blanked(~s({"html": "<think>1</think>"}))
      ~s({"html": "<think>1</think>"})

      iex> PtcRunner.Agent.Thinking.blanked("so it is 1</think>2")
      "                  2"

  """
  @spec blanked(String.t()) :: String.t()
  def blanked(text) do
    with {_at, _size} <- :binary.match(text, "</"), true <- String.valid?(text) do
      text |> blocks(0) |> begun()
    else
      _none -> text
    end
  end

  defp blocks(text, from) do
    case Regex.run(@block, text, return: :index, offset: from) do
      [{at, size} | _name] ->
        if Candidates.outside?(binary_part(text, from, at - from)),
          do: text |> blank(at, size) |> blocks(at + size),
          else: blocks(text, at + 1)

      nil ->
        text
    end
  end

  # The tag that opens it may be a part of the prompt.
  defp begun(text) do
    with [{0, size}] <- Regex.run(@rest, text, return: :index),
         part = binary_part(text, 0, size),
         true <-
           Candidates.outside?(part) and not (part =~ ~r/<(?:#{@names})>/i) and not (part =~ "\"") do
      blank(text, 0, size)
    else
      _none -> text
    end
  end

  defp blank(text, at, size) do
    blanks =
      for <<byte <- binary_part(text, at, size)>>,
        into: "",
        do: if(byte == ?\n, do: "\n", else: " ")

    rest = binary_part(text, at + size, byte_size(text) - at - size)
    binary_part(text, 0, at) <> blanks <> rest
  end
end
