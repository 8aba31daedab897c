defmodule PtcRunner.Agent.Feedback do
  @moduledoc false
  # Feedback to the model about a program that has no result or an invalid one.

  alias PtcRunner.Agent.{Catalogue, Describe, Prompt, Tool}
  alias PtcRunner.Agent.Lisp.{Allowed, Told}
  alias PtcRunner.Json
  alias PtcRunner.Json.{Check, Explain, Hints, Message, Suggestion}
  alias PtcRunner.Json.Explain.Noticed
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.JsonRepair.Cut
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.Signature.ErrorText

  @again "Write the whole program again, as one JSON object."

  # Maximum number of bytes of one feedback.
  @limit 16_000

  @doc "Feedback about a text without a program, or an invalid program."
  @spec program(Message.fault(), 1 | 2) :: String.t()
  def program(fault, edition), do: fault |> hinted(edition) |> sentence()

  # The error, and what to write instead, if the mistake is a typical one.
  defp hinted(fault, edition) do
    error = fault |> Message.error() |> Json.format_error()

    case Hints.of_fault(fault, edition) do
      "" -> error
      hint -> "#{error}\n#{hint}"
    end
  end

  # Maximum number of findings of a check.
  @found 19

  @doc """
  Feedback about a program that was not run, because of certain errors; at most 20 lines about them.

      iex> error = %{path: ["program", "steps", 1], message: "sum reads field 'x', which no value has. There are: 'y'"}
      iex> PtcRunner.Agent.Feedback.refused([error]) |> String.split("\\n")
      ["The program was not run, because it cannot work:",
       "- program.steps[1]: sum reads field 'x', which no value has. There are: 'y'",
       "Write the whole program again, as one JSON object."]

  """
  @spec refused([map(), ...]) :: String.t()
  def refused(errors) do
    more = length(errors) - @found - 1
    shown = if more > 0, do: Enum.take(errors, @found), else: errors
    lines = for error <- shown, into: "", do: "\n- " <> Shown.cut(Check.line(error), 600)
    more = if more > 0, do: "\n- and #{more + 1} more", else: ""
    "The program was not run, because it cannot work:#{lines}#{more}\n#{@again}"
  end

  @doc "Feedback about a program that was cut off."
  @spec truncated(Json.error()) :: String.t()
  def truncated(error), do: "#{error |> Json.format_error() |> Cut.feedback()} #{@again}"

  @doc """
  Feedback about a run that failed. It lists the tools if a tool was not found, and has the whole text of a
  tool that failed. `made` are the calls that the run has made, see `PtcRunner.Agent.Made`.
  """
  @spec run(Message.fault(), [Tool.t()], String.t(), 1 | 2) :: String.t()
  def run(fault, tools, made, edition) do
    case Message.fault(fault) do
      {:unknown_tool, name, _functions} ->
        name = if is_binary(name), do: Shown.name(name), else: Shown.text(name, 256)
        sentence("ExecutionError: Tool '#{name}' not found. " <> there_is(name, tools), made)

      {:tool_failed, text} ->
        sentence("ExecutionError: " <> Shown.lines(text), made)

      _fault ->
        fault |> hinted(edition) |> sentence(made)
    end
  end

  @doc "Feedback about an invalid value."
  @spec result([map()], term(), String.t()) :: String.t()
  def result(errors, value, made) do
    lines =
      for line <- ErrorText.first_lines(errors, value, Shown.most(), 12_000), do: "\n- " <> line

    sentence(
      "The program ran, but what it returned is not what was asked for:#{lines}\n" <>
        "It returned #{Describe.value(value, 1_000)}",
      made
    )
  end

  @doc "Feedback about an answer that was stopped while it came in; these errors were found."
  @spec stopped([map(), ...], keyword()) :: String.t()
  def stopped(errors, opts) do
    lines = for error <- Enum.take(errors, Shown.most()), do: "\n- " <> line(error)
    text = "Your answer was stopped, because it cannot become valid:#{lines}"
    "#{Shown.cut(text, @limit)}\n#{please(opts)}"
  end

  @doc "What the model is to do after an answer that is of no use."
  @spec please(keyword()) :: String.t()
  def please(opts) do
    case Keyword.get(opts, :answer, :program) do
      :program -> if Allowed.lisp?(opts), do: Told.again(), else: @again
      :value -> "Please return a valid JSON object matching the expected output format."
    end
  end

  @doc """
  Why there is no result, for people: without instructions to the model.

      iex> PtcRunner.Agent.Feedback.why({:invalid_result, [%{path: ["n"], message: "expected int, got string"}]})
      "the result does not fit: n: expected int, got string"

      iex> PtcRunner.Agent.Feedback.why({:timeout, 50})
      "TimeoutError: execution exceeded 50ms limit"

  """
  @spec why(Json.error() | {:invalid_result, [map()]} | [map()]) :: String.t()
  def why({:invalid_result, errors}), do: "the result does not fit: " <> why(errors)

  def why(errors) when is_list(errors) do
    errors
    |> Shown.first(5, &%{path: [], message: "and #{&1} more"})
    |> Enum.map_join("; ", &line/1)
  end

  def why(error), do: Json.format_error(error)

  defp line(%{path: [], message: message}), do: message
  defp line(error), do: JsonHandler.format_validation_errors([error])

  @doc "Feedback about a value whose program looked for fields that nothing had."
  @spec findings([Noticed.finding(), ...], term(), String.t()) :: String.t()
  def findings(findings, value, made) do
    sentence(
      "The program ran, but #{what("it", findings)}:#{lines(findings)}\n" <>
        "It returned #{Describe.value(value, 1_000)}\n" <>
        "If that is right all the same, write the same program again: its value is taken, and it is not run a " <>
        "second time. If not:",
      made
    )
  end

  @doc "The findings as an addition to other feedback; \"\" if there are none."
  @spec found([Noticed.finding()]) :: String.t()
  def found([]), do: ""
  def found(findings), do: "\n#{what("The program", findings)}:#{lines(findings)}"

  @doc """
  What findings are about, as a part of a sentence.

      iex> PtcRunner.Agent.Feedback.what("it", [%{kind: :not_converted}])
      "it converted values, and all became null"

  """
  @spec what(String.t(), [Noticed.finding(), ...]) :: String.t()
  def what(who, findings) do
    case {kind?(findings, :key_not_found), kind?(findings, :not_converted)} do
      {true, true} ->
        "#{who} read fields that are not there, and converted values that all became null"

      {false, true} ->
        "#{who} converted values, and all became null"

      _fields ->
        "#{who} read fields that are not there"
    end
  end

  defp kind?(findings, kind), do: Enum.any?(findings, &(&1.kind == kind))

  @doc "The findings as warnings."
  @spec notes([Noticed.finding()]) :: [String.t()]
  def notes(findings),
    do: for(finding <- findings, do: "#{Explain.path_text(finding.path)}: #{finding.message}")

  defp lines(findings), do: for(line <- notes(findings), into: "", do: "\n- " <> line)

  defp there_is(_name, []), do: "There are no tools."

  defp there_is(name, tools) do
    names = tools |> Enum.map(& &1.name) |> Enum.sort()
    hint = Suggestion.sentence(name, names, &"Did you mean '#{&1}'? ")

    if Catalogue.in?(tools) do
      "#{hint}Find the tools with search_tools."
    else
      lines = Enum.map_join(tools, "\n", &Prompt.tool/1)
      "#{hint}There are these tools:\n" <> Shown.cut(lines, 8_000)
    end
  end

  defp sentence(text, made \\ "") do
    text = Shown.cut(text, @limit - byte_size(made))
    between = if text =~ ~r/[.?!:]\z/, do: " ", else: "\n"
    "#{text}#{between}#{@again}#{made}"
  end
end
