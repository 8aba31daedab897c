defmodule PtcRunner.Agent.Feedback do
  @moduledoc false
  # Feedback to the model about a program that has no result or an invalid one.

  alias PtcRunner.Agent.{Describe, Prompt, Tool}
  alias PtcRunner.Json
  alias PtcRunner.Json.Suggestion
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature.ErrorText

  @again "Write the whole program again, as one JSON object."

  # Maximum number of bytes of one feedback.
  @limit 16_000

  @doc "Feedback about a text without a program, or an invalid program."
  @spec program(Json.error()) :: String.t()
  def program(error), do: sentence(Json.format_error(error))

  @doc "Feedback about a run that failed. It lists the tools if a tool was not found."
  @spec run(Json.error(), [Tool.t()]) :: String.t()
  def run({:execution_error, "Tool '" <> rest = message}, tools) do
    case missing(rest, tools) do
      nil -> sentence("ExecutionError: " <> message)
      name -> sentence("ExecutionError: Tool '#{name}' not found. " <> there_is(name, tools))
    end
  end

  def run(error, _tools), do: sentence(Json.format_error(error))

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

  # The name of an unknown tool.
  defp missing(rest, tools) do
    with [name, more] <- :binary.split(rest, "' not found"),
         true <- more == "" or String.starts_with?(more, ". Did you mean "),
         false <- Enum.any?(tools, &(&1.name == name)) do
      name
    else
      _other -> nil
    end
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
