defmodule PtcRunner.Agent.Stopped do
  @moduledoc false
  # An application that streams stops an answer as soon as it cannot become valid, and gives the loop the text up to
  # there. The model is told the error for which it was stopped, and not only that the text is not complete.

  alias PtcRunner.Agent.{Feedback, Thinking, Wrapper}
  alias PtcRunner.SubAgent.AnswerStream

  @doc """
  The errors and the feedback for a text without a whole JSON value: those of the value that cannot become valid, or else
  the given ones.

      iex> signature = PtcRunner.SubAgent.Signature.parsed!("{n :int}")
      iex> errors = [%{path: [], message: "The JSON is not complete"}]
      iex> {errors, _told} = PtcRunner.Agent.Stopped.instead(~s({"n": "x", "m), errors, "", returns: signature, answer: :value)
      iex> errors
      [%{path: ["n"], message: "expected int, got string"}]

  """
  @spec instead(String.t(), [map(), ...], String.t(), keyword()) :: {[map(), ...], String.t()}
  def instead(text, [_single] = errors, told, opts) do
    with {:signature, _params, _type} = signature <- opts[:returns],
         stream = signature |> Wrapper.wrapped() |> AnswerStream.new(),
         text = Thinking.blanked(text),
         {:halt, {:error, [%{path: [_ | _]} | _] = found}} <- AnswerStream.feed(stream, text) do
      {found, Feedback.stopped(found, opts)}
    else
      _not_stopped -> {errors, told}
    end
  end

  def instead(_text, errors, told, _opts), do: {errors, told}
end
