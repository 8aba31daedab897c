defmodule PtcRunner.Agent.CheckTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Agent

  doctest PtcRunner.Agent.Checking

  @rows [%{"id" => 1, "name" => "a"}, %{"id" => 2, "name" => "b"}]

  # A model that gives these answers, and a tool that tells the test that it was called.
  defp loop(answers, opts \\ []) do
    me = self()

    model = fn messages ->
      send(me, {:messages, messages})
      answers |> Enum.at(div(length(messages), 2) - 1) |> PtcRunner.Json.Codec.encode!()
    end

    tools = %{
      "notify" =>
        {fn args ->
           send(me, {:called, args})
           true
         end, "(name :string) -> :bool"}
    }

    base = [task: "x", context: %{rows: @rows}, tools: tools, max_turns: 3]
    Agent.loop(model, Keyword.merge(base, opts))
  end

  defp feedback do
    for {:messages, messages} <- mailbox(),
        %{role: :user, content: text} <- messages,
        uniq: true,
        do: text
  end

  defp mailbox do
    receive do
      message -> [message | mailbox()]
    after
      0 -> []
    end
  end

  defp notify(name), do: %{"op" => "call", "tool" => "notify", "args" => %{"name" => name}}

  defp program(steps),
    do: %{
      "program" => %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => "rows"} | steps]}
    }

  defp wrong,
    do: program([%{"op" => "map", "expr" => notify(%{"op" => "get", "field" => "nmae"})}])

  defp right,
    do: program([%{"op" => "map", "expr" => notify(%{"op" => "get", "field" => "name"})}])

  test "a program with a certain error is not run: no tool is called, and the model is told" do
    assert {:ok, step} = loop([wrong(), right()])
    assert step.return == [true, true]
    messages = mailbox()
    assert Enum.count(messages, &match?({:called, _}, &1)) == 2
    assert [%{tool_calls: []}, %{tool_calls: [_, _]}] = step.turns
    {:messages, last} = messages |> Enum.filter(&match?({:messages, _}, &1)) |> List.last()

    assert List.last(last).content =~
             "The program was not run, because it cannot work:\n" <>
               "- program.steps[1].expr.args.name: Argument 'name' of tool 'notify' must be :string, and is null\n" <>
               "- program.steps[1].expr.args.name.field: get reads field 'nmae', which no value has. Did you mean 'name'?\n" <>
               "Write the whole program again, as one JSON object."
  end

  test "the message of a failed step names the field that is not there, and not only the null" do
    assert {:error, %{fail: %{message: message}}} = loop([wrong()], max_turns: 1)
    assert message =~ "get reads field 'nmae', which no value has. Did you mean 'name'?"

    names = program([%{"op" => "map", "expr" => %{"op" => "get", "field" => "nmae"}}])
    assert {:error, step} = loop([names], max_turns: 1, returns: "[:string]", tools: %{})

    assert step.fail.message =~
             "the program read fields that are not there: program.steps[1].expr: none of "

    assert step.fail.message =~ "; the result does not fit: 0: expected string"
  end

  test "the same program again is run" do
    assert {:ok, %{turns: [_, _ | _]}} = loop([wrong(), wrong(), right()])
    assert Enum.any?(mailbox(), &match?({:called, _}, &1))
  end

  test "check: false" do
    loop([wrong(), right()], check: false)
    refute Enum.any?(feedback(), &(&1 =~ "was not run"))
  end

  test "at most 20 lines" do
    sum = %{"op" => "sum", "field" => "name"}

    program = %{
      "program" => %{"result" => for(_ <- 1..50, do: hd(tl(program([sum])["program"]["steps"])))}
    }

    items = for _ <- 1..50, do: program([sum])["program"]
    loop([put_in(program, ["program", "result"], items), right()], edition: 2)
    [told] = Enum.filter(feedback(), &(&1 =~ "was not run"))
    assert told |> String.split("\n") |> Enum.count(&String.starts_with?(&1, "- ")) == 20
    assert told =~ "\n- and 31 more\n"
  end

  test "a result that cannot fit, and a value to look at" do
    count = program([%{"op" => "count"}])
    {:ok, step} = loop([right(), count], returns: ":int")
    assert step.return == 2
    messages = mailbox()
    refute Enum.any?(messages, &match?({:called, _}, &1))

    assert inspect(messages, limit: :infinity, printable_limit: :infinity) =~
             "The result must be :int, and is [:bool]"

    look = %{"program" => %{"look" => %{"op" => "load", "name" => "rows"}}}
    {:ok, step} = loop([look, count], returns: ":int")
    assert [%{success?: true}, %{success?: true}] = step.turns
  end

  test "an unknown name of the memory is null, and no error" do
    value = %{"op" => "coalesce", "values" => [%{"op" => "var", "name" => "x"}, 1]}
    {:ok, step} = loop([%{"program" => value}], edition: 2)
    assert {step.return, length(step.turns)} == {1, 1}
  end

  test "a run is checked if it is asked for" do
    tools = %{"f" => {fn _ -> raise "called" end, "(n :int) -> :int"}}
    program = %{"program" => %{"op" => "call", "tool" => "f", "args" => %{"n" => [1]}}}
    assert {:error, {:validation_error, text}, feedback} = Agent.run(program, tools, check: true)
    assert text == "program.args.n: Argument 'n' of tool 'f' must be :int, and is [1]"
    assert feedback =~ text

    assert {:error, {:validation_error, _}, _, %{tool_calls: []}} =
             Agent.run(program, tools, check: true, info: true)
  end
end
