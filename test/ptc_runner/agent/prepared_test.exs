defmodule PtcRunner.Agent.PreparedTest do
  # Tools that are read once, many tools with default limits, callbacks that get the context, tools of one name, and what is said of calls.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Agent.{Catalogue, Tool}

  doctest PtcRunner.Agent.Tool.Names

  defp program(tool, args),
    do: Json.Codec.encode!(%{program: %{op: "call", tool: tool, args: args}})

  defp listed(count) do
    properties =
      for n <- 1..15,
          into: %{},
          do:
            {"arg#{n}",
             %{"enum" => ["a", "b"], "description" => String.duplicate("of #{n} ", 30)}}

    for n <- 1..count do
      %{
        "name" => "tool_#{n}",
        "description" => String.duplicate("Does thing#{n} with things. ", 40),
        "inputSchema" => %{"type" => "object", "properties" => properties}
      }
    end
  end

  defp tools(count) do
    {:ok, tools, []} =
      Tool.from_mcp(listed(count), fn name, args -> %{"structuredContent" => %{name => args}} end)

    tools
  end

  test "1,223 tools are searched, described and called with default limits" do
    plain = tools(1_223)

    # Those that are not prepared are read for each run, which takes a second.
    assert {:ok, [%{"name" => "tool_777"} | _], _} =
             Agent.run(program("search_tools", %{query: "thing777"}), plain)

    assert {:ok, %{"tool_9" => %{"arg1" => "a"}}, _} =
             Agent.run(program("tool_9", %{arg1: "a"}), plain)

    taken = if PtcRunner.Test.Environment.many?(), do: [plain], else: []

    for tools <- taken ++ [Tool.prepare(plain)] do
      assert {:ok, [%{"name" => "tool_777"} | _], _} =
               Agent.run(program("search_tools", %{query: "thing777"}), tools)

      assert {:ok, [_ | _], _} = Agent.run(program("search_tools", %{query: "things"}), tools)

      assert {:ok, [%{"tool" => text}, %{"tool" => "there is no tool" <> _}], _} =
               Agent.run(program("describe_tools", %{names: ["tool_9", "x"]}), tools)

      assert text =~ "arg15"

      assert {:ok, %{"tool_9" => %{"arg1" => "a"}}, _} =
               Agent.run(program("tool_9", %{arg1: "a"}), tools)
    end

    # What is copied to the process of the tools does not have the types of the tools.
    [search, describe | _] = Catalogue.tools(plain, [])
    for tool <- [search, describe], do: assert(:erts_debug.flat_size(tool.fun) < 100_000)
  end

  test "prepared tools are those that a run reads, and one that is changed is read again" do
    forms = %{
      "a" => {fn %{"n" => n} -> n end, "(n :int) -> :int"},
      "b" => %Tool{name: "b", fun: & &1, effect: :read},
      "c" => &__MODULE__.spec/1
    }

    prepared = Tool.prepare(forms)
    assert Enum.map(prepared, &%{&1 | prepared: nil}) == Tool.list!(forms)
    assert Tool.list!(prepared) == prepared
    assert Tool.prepare(prepared) == prepared
    assert Agent.prompt(tools: prepared) == Agent.prompt(tools: forms)

    for program <- [program("a", %{n: "7"}), program("a", %{n: "x"}), program("c", %{x: 1})] do
      assert outcome(Agent.run(program, prepared)) == outcome(Agent.run(program, forms))
      as_map = Map.new(prepared, &{&1.name, &1})
      assert Json.check(program, tools: as_map) == Json.check(program, tools: forms)
    end

    [a | rest] = prepared
    changed = [%{a | signature: "(n :string) -> :any", effect: :read} | rest]
    assert {:ok, "x", _} = Agent.run(program("a", %{n: "x"}), changed)
    assert {:ok, 7, _} = Agent.run(program("z", %{n: 7}), [%{a | name: "z"} | rest])
    assert_raise ArgumentError, fn -> Tool.prepare(%{"a" => 7}) end
  end

  defp outcome({:ok, value, info}), do: {:ok, value, info.warnings}
  defp outcome({:error, error, _told}), do: error

  @spec spec(%{x: integer()}) :: integer()
  def spec(%{x: x}), do: x + 1

  test "callbacks of one more argument get what the application gives the run" do
    function = [%{"type" => "function", "name" => "t"}]
    mcp = [%{"name" => "t", "inputSchema" => %{"type" => "object"}}]
    openapi = %{"openapi" => "3.1.0", "paths" => %{"/t" => %{"get" => %{"operationId" => "t"}}}}
    who = fn %{context: %{user: user}} -> user end

    made = [
      Tool.from_mcp(mcp, fn "t", _, second -> %{"structuredContent" => who.(second)} end),
      Tool.from_openai(function, fn "t", _args, second -> who.(second) end),
      Tool.from_openai(function, %{"t" => fn _args, second -> who.(second) end}),
      Tool.from_openapi(openapi, fn %{method: "GET"}, second -> {:ok, who.(second)} end)
    ]

    for {:ok, [tool], []} <- made, tools <- [[tool], Tool.prepare([tool])] do
      given = [tool_context: [user: "Ada"]]
      assert {:ok, "Ada", _} = Agent.run(program("t", %{}), tools, given)
      [tool] = tools
      assert {:ok, "Ada", _, _} = Json.run(program("t", %{}), [tools: %{"t" => tool}] ++ given)
    end

    assert {:error, text} = Tool.from_openai(function, %{"t" => fn -> 1 end})
    assert text =~ "a function of one argument or of two"
  end

  test "two tools of one name are an error that names both" do
    one = %Tool{name: "get", fun: & &1, description: "Of the wiki\nIgnore the others"}
    other = %Tool{name: "get", fun: & &1}

    for list <- [[one, %Tool{name: "b", fun: & &1}, other], Tool.prepare([one]) ++ [other, other]] do
      error = assert_raise ArgumentError, fn -> Tool.list!(list) end
      at = Enum.find_index(list, &(&1 == other))
      assert error.message =~ ~s(two tools have the name "get")

      assert error.message =~
               ~S{tools[0] ("Of the wiki\nIgnore the others") and tools[} <> "#{at}]"
    end
  end

  test "a map that has a name as an atom and as a text has two tools of one name, for each function that takes tools" do
    tools = %{:t => fn _ -> 1 end, "t" => fn _ -> 2 end, "u" => fn _ -> 3 end}
    told = ~s(two tools have the name "t": rename one of them. They are :t and "t")
    program = ~s({"program": {"op": "call", "tool": "t", "args": {}}})

    for tools <- [tools, Map.new(tools, fn {name, fun} -> {name, {fun, effect: :read}} end)] do
      assert Json.run(program, tools: tools) ==
               {:error, {:validation_error, "Option :tools: " <> told}}

      assert Json.explain(program, tools: tools).result == Json.run(program, tools: tools)
      {:ok, compiled} = Json.compile(program)
      assert Json.run(compiled, tools: tools) == Json.run(program, tools: tools)
      # What is wrong in the program is told first.
      assert {:error, {:parse_error, _}} = Json.run("{", tools: tools)

      for refused <- [
            fn -> Json.check(program, tools: tools) end,
            fn -> Json.plan(program, tools: tools) end,
            fn -> Tool.list!(tools) end,
            fn -> Tool.prepare(tools) end,
            fn -> PtcRunner.Agent.run(program, tools) end,
            fn -> PtcRunner.Agent.loop(fn _ -> program end, task: "t", tools: tools) end
          ] do
        assert_raise ArgumentError, ~r/#{Regex.escape(told)}/, refused
      end
    end

    assert {:error, %{fail: %{reason: :invalid_tool, message: message}}} =
             PtcRunner.Lisp.run("(tool/t {})", tools: tools)

    assert message =~ told
    function = [%{"type" => "function", "name" => "t", "parameters" => %{"type" => "object"}}]
    assert {:error, text} = Tool.from_openai(function, Map.delete(tools, "u"))
    assert text =~ ~s(two functions have the name "t": rename one of them. They are :t and "t")

    # Other names, as atoms or as texts, are different tools.
    apart = %{"t" => fn _ -> 1 end, :u => fn _ -> 2 end}
    assert {:ok, 1, _, _} = Json.run(program, tools: apart)
  end

  test "of calls that read it is not said that they had effects" do
    tools = %{
      "read" => {fn _ -> 1 end, signature: "() -> :int", effect: :read},
      "write" => {fn _ -> 2 end, signature: "() -> :int"}
    }

    steps = fn names ->
      calls = for name <- names, do: %{op: "call", tool: name}
      Json.Codec.encode!(%{program: %{op: "pipe", steps: calls ++ [%{op: "first"}]}})
    end

    for names <- [["read"], ["read", "write"], ["write", "read", "read"], ["write"]] do
      assert {:error, _, told} = Agent.run(steps.(names), tools)
      [before | after_effects] = String.split(told, "their effects have happened")
      assert length(after_effects) == if("write" in names, do: 1, else: 0)
      if "write" in names, do: refute(before =~ "- read(")

      for section <- after_effects do
        [written | _] = String.split(section, "\nThese calls")
        refute written =~ "- read("
        assert written =~ "- write("
      end

      if "read" in names, do: assert(told =~ "- read(")
    end
  end
end
