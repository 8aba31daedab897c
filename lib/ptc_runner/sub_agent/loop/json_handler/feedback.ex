defmodule PtcRunner.SubAgent.Loop.JsonHandler.Feedback do
  @moduledoc false
  # Feedback to an LLM about its invalid answer.

  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.JsonRepair.Cut
  alias PtcRunner.SubAgent.Loop.JsonHandler.{Detail, ErrorLine}

  @please "Please return a valid JSON object matching the expected output format."

  # More errors than these are usually one mistake that is repeated.
  @most Shown.most()
  @bytes 16_000

  @doc false
  # Maximum number of errors, and of bytes, that are shown.
  def most, do: {@most, @bytes}

  @doc false
  # `errors` are the errors of the validation and the number of further ones, nil if there was no validation,
  # `:truncated` if the answer was cut off.
  def text(error, errors, response, agent, opts) do
    case {opts[:build_error_feedback], opts[:feedback]} do
      {build, _style} when build not in [nil, false] -> build.(error, response)
      {_none, _style} when errors == :truncated -> Cut.feedback(error)
      {_none, :detailed} -> detailed(error, errors, response, agent, opts)
      {_none, _default} -> plain(error, errors)
    end
  end

  @doc false
  # `lines` describe an error of syntax, and errors of values.
  def both(syntax, errors, lines) do
    headline = "Error: #{syntax}, and #{headline(nil, {errors, 0})}"
    Enum.join([headline | lines] ++ [@please], "\n")
  end

  defp plain(error, nil), do: sentence(error |> Shown.string() |> Shown.cut())

  # So few errors, which is the usual case, are already written.
  defp plain(error, {errors, more}) do
    if byte_size(error) <= @bytes and Enum.drop(errors, @most) == [],
      do: sentence(error),
      else: sentence(ErrorLine.first(errors, @most, @bytes, more))
  end

  defp sentence(error), do: "Error: #{error}. #{@please}"

  defp detailed(error, errors, response, agent, opts) do
    case Detail.lines(errors, response, agent, opts) do
      [] -> plain(error, errors)
      lines -> Enum.join(["Error: #{headline(error, errors)}" | lines] ++ [@please], "\n")
    end
  end

  defp headline(error, nil), do: error |> Shown.string() |> Shown.cut()
  defp headline(_error, {[_single], 0}), do: "1 value does not match the expected output format"

  defp headline(_error, {errors, more}),
    do: "#{length(errors) + more} values do not match the expected output format"
end
