defmodule PtcRunner.SubAgent.Loop.JsonHandler.Feedback do
  @moduledoc false
  # What an LLM is told about its answer before it tries again.

  alias PtcRunner.SubAgent.Loop.JsonHandler.Detail

  @please "Please return a valid JSON object matching the expected output format."

  @doc false
  # `errors` are those of the validation, nil if it never came to that.
  def text(error, errors, response, agent, opts) do
    case {opts[:build_error_feedback], opts[:feedback]} do
      {build, _style} when build not in [nil, false] -> build.(error, response)
      {_none, :detailed} -> detailed(error, errors, response, agent)
      {_none, _default} -> "Error: #{error}. #{@please}"
    end
  end

  defp detailed(error, errors, response, agent) do
    case Detail.lines(errors, response, agent) do
      [] -> "Error: #{error}. #{@please}"
      lines -> Enum.join(["Error: #{headline(error, errors)}" | lines] ++ [@please], "\n")
    end
  end

  defp headline(error, nil), do: error
  defp headline(_error, [_single]), do: "1 value does not match the expected output format"

  defp headline(_error, errors),
    do: "#{length(errors)} values do not match the expected output format"
end
