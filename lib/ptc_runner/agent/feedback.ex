defmodule PtcRunner.Agent.Feedback do
  @moduledoc false
  # Feedback to the model about a program that has no result or an invalid one.

  alias PtcRunner.Agent.{Describe, Prompt, Tool}
  alias PtcRunner.Json
  alias PtcRunner.Json.{Message, Suggestion}
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.JsonRepair.Cut
  alias PtcRunner.SubAgent.Signature.ErrorText

  @again "Write the whole program again, as one JSON object."

  # Maximum number of bytes of one feedback.
  @limit 16_000

  @doc "Feedback about a text without a program, or an invalid program."
  @spec program(Json.error()) :: String.t()
  def program(error), do: sentence(Json.format_error(error))

  @doc "Feedback about a program that was cut off."
  @spec truncated(Json.error()) :: String.t()
  def truncated(error), do: "#{error |> Json.format_error() |> Cut.feedback()} #{@again}"

  @doc """
  Feedback about a run that failed. It lists the tools if a tool was not found, and has the whole text of a
  tool that failed.
  """
  @spec run(Message.fault(), [Tool.t()]) :: String.t()
  def run({:unknown_tool, name, _functions}, tools) do
    name = Shown.name(name)
    sentence("ExecutionError: Tool '#{name}' not found. " <> there_is(name, tools))
  end

  def run({:tool_failed, text}, _tools), do: sentence("ExecutionError: " <> text)
  def run(fault, _tools), do: fault |> Message.error() |> program()

  @doc "Feedback about an invalid value."
  @spec result([map()], term()) :: String.t()
  def result(errors, value) do
    lines =
      for line <- ErrorText.first_lines(errors, value, Shown.most(), 12_000), do: "\n- " <> line

    sentence(
      "The program ran, but what it returned is not what was asked for:#{lines}\n" <>
        "It returned #{Describe.value(value, 1_000)}"
    )
  end

  defp there_is(_name, []), do: "There are no tools."

  defp there_is(name, tools) do
    hint =
      case Suggestion.closest(name, tools |> Enum.map(& &1.name) |> Enum.sort()) do
        {:ok, close} -> "Did you mean '#{close}'? "
        :error -> ""
      end

    lines = Enum.map_join(tools, "\n", &Prompt.tool/1)
    "#{hint}There are these tools:\n" <> Shown.cut(lines, 8_000)
  end

  defp sentence(text) do
    text = Shown.cut(text, @limit)
    if text =~ ~r/[.?!]\z/, do: "#{text} #{@again}", else: "#{text}\n#{@again}"
  end
end
