defmodule PtcRunner.DoctestsTest do
  # The examples of modules that have no test file of their own, and a check that the examples of every module are run.
  use ExUnit.Case, async: true

  doctest PtcRunner.Agent.Approval
  doctest PtcRunner.Agent.Ask
  doctest PtcRunner.Agent.Run
  doctest PtcRunner.Agent.Source
  doctest PtcRunner.Firewall.Hidden
  doctest PtcRunner.Firewall.Redacted
  doctest PtcRunner.Json
  doctest PtcRunner.Json.Checking
  doctest PtcRunner.Json.Interpreter
  doctest PtcRunner.Json.Near
  doctest PtcRunner.Json.Parser
  doctest PtcRunner.Json.Paused.Stored
  doctest PtcRunner.Json.Runner
  doctest PtcRunner.Json.Texts
  doctest PtcRunner.Json.Validator
  doctest PtcRunner.Lisp.Asking
  doctest PtcRunner.Lisp.ErrorText
  doctest PtcRunner.Lisp.Inside
  doctest PtcRunner.Lisp.Workers
  doctest PtcRunner.Native.Panic
  doctest PtcRunner.Schema.Families
  doctest PtcRunner.Schema.Table
  doctest PtcRunner.SubAgent.JsonRepair.Left
  doctest PtcRunner.SubAgent.Loop.JsonHandler.Union
  doctest PtcRunner.SubAgent.Signature.ToolCall

  @root Path.expand("..", __DIR__)

  test "the examples of every module are run by some test file" do
    files = Path.wildcard(Path.join(@root, "test/**/*_test.exs"))
    run = for file <- files, module <- doctested(File.read!(file)), into: MapSet.new(), do: module
    assert with_examples() -- Enum.to_list(run) == []
  end

  defp with_examples do
    {:ok, modules} = :application.get_key(:ptc_runner_native, :modules)

    for module <- modules,
        not String.starts_with?(inspect(module), "PtcRunner.Test."),
        {:docs_v1, _, _, _, about, _, docs} <- [Code.fetch_docs(module)],
        texts = [about | Enum.map(docs, &elem(&1, 3))],
        Enum.any?(texts, &match?(%{"en" => _}, &1)),
        Enum.any?(texts, &example?/1),
        do: module
  end

  defp example?(%{"en" => text}), do: text =~ ~r/^\s*iex>/m
  defp example?(_hidden_or_none), do: false

  # The modules that a file names in `doctest`, by the aliases that it has.
  defp doctested(source) do
    {_ast, {named, _aliases}} =
      source |> Code.string_to_quoted!() |> Macro.prewalk({[], %{}}, &look/2)

    named
  end

  defp look({:alias, _, [{{:., _, [base, :{}]}, _, parts}]} = node, {named, aliases}) do
    full = for part <- parts, do: Module.concat(name(base, aliases), name(part, %{}))
    {node, {named, Enum.into(full, aliases, &{last(&1), &1})}}
  end

  defp look({:alias, _, [{:__aliases__, _, _} = module]} = node, {named, aliases}) do
    full = name(module, aliases)
    {node, {named, Map.put(aliases, last(full), full)}}
  end

  defp look({:alias, _, [module, [as: short]]} = node, {named, aliases}),
    do: {node, {named, Map.put(aliases, name(short, %{}), name(module, aliases))}}

  defp look({:doctest, _, [{:__aliases__, _, _} = module | _]} = node, {named, aliases}),
    do: {node, {[name(module, aliases) | named], aliases}}

  defp look(node, acc), do: {node, acc}

  defp name({:__aliases__, _, [first | rest]}, aliases) do
    first = Module.concat([first])
    Module.concat([Map.get(aliases, first, first) | rest])
  end

  defp last(module), do: module |> Module.split() |> List.last() |> List.wrap() |> Module.concat()
end

defmodule PtcRunner.DoctestsAloneTest do
  # What these examples change is shared by the whole VM.
  use ExUnit.Case

  doctest PtcRunner.Native
  doctest PtcRunner.Native.ErrorHandler
end
