defmodule PtcRunner.Agent.RunTest do
  # Programs with tools that are checked, and what the model is told when something is wrong.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}

  defp call(tool, args),
    do: %{"program" => %{"op" => "call", "tool" => tool, "args" => args}}

  defp feedback(program, tools, opts \\ []) do
    {:error, _error, feedback} = Agent.run(program, tools, opts)
    feedback
  end

  describe "tools" do
    test "arguments are coerced before the call, and the coercions are told" do
      test = self()
      tools = %{"t" => {&send(test, &1), "(n :int, at :string?) -> :any"}}

      assert {:ok, %{"n" => 4}, info} = Agent.run(call("t", %{"n" => "4", "x" => 1}), tools)
      assert_received %{"n" => 4} = args
      refute is_map_key(args, "x")

      assert info.warnings == [
               ~s(t: dropped the undeclared argument "x"),
               ~s(t: coerced string "4" to integer)
             ]

      assert [call] = info.tool_calls
      assert %{name: "t", ok?: true, status: :ok, result: ~s(%{"n" => 4})} = call
      assert {call.args, call.raw_args} == {%{"n" => 4}, %{"n" => "4", "x" => 1}}
    end

    test "wrong arguments are told with the signature, and the tool is not called" do
      tools = %{"t" => {fn _ -> flunk() end, "(n :int) -> :any"}}
      text = feedback(call("t", %{"n" => "four"}), tools)
      assert text =~ ~s(- n: expected integer, got string "four")
      assert text =~ "It is t(n :int) -> :any"
      assert text =~ "Write the whole program again"
    end

    test "values that arguments may not have" do
      tool =
        {& &1, signature: "(region :string) -> :any", enums: %{"region" => ["North", "South"]}}

      assert {:ok, %{"region" => "North"}, _} =
               Agent.run(call("t", %{"region" => "North"}), %{"t" => tool})

      text = feedback(call("t", %{"region" => "east"}), %{"t" => tool})
      assert text =~ ~s(- region: expected one of "North", "South", got "east")
    end

    test "a result that is not what the signature says" do
      tools = %{"t" => {fn _ -> "3" end, "() -> :int"}}
      assert feedback(call("t", %{}), tools) =~ "its result is not what its signature says"
    end

    test "ok tuples are opened, error texts keep their line breaks" do
      tools = %{
        "good" => fn _ -> {:ok, [1, 2]} end,
        "bad" => {fn _ -> {:error, "no such city:\n  Rom\nnear: Rome"} end, "() -> :any"},
        "raising" => fn _ -> raise "down\nfor a while" end,
        "atom" => fn _ -> {:error, {:timeout, 50}} end
      }

      assert {:ok, [1, 2], _info} = Agent.run(call("good", %{}), tools)

      assert feedback(call("bad", %{}), tools) =~
               "Tool 'bad' error: no such city:\n  Rom\nnear: Rome\n"

      assert feedback(call("raising", %{}), tools) =~ "Tool 'raising' raised: down\nfor a while"
      assert feedback(call("atom", %{}), tools) =~ "Tool 'atom' error: {:timeout, 50}"
    end

    test "a tool's error text is bounded, and may be no UTF-8" do
      for text <- [String.duplicate("x\n", 100_000), <<0xFF, 0xFE>>] do
        assert byte_size(feedback(call("t", %{}), %{"t" => fn _ -> {:error, text} end})) < 5_000
      end
    end

    test "a tool that there is not is told with those that there are" do
      tools = %{
        "search" => {& &1, "(q :string) -> [:string]"},
        "fetch" => {& &1, signature: "(id :int) -> :any", description: "One item."}
      }

      text = feedback(call("serch", %{}), tools)
      assert text =~ "Tool 'serch' not found. Did you mean 'search'? There are these tools:\n"
      assert text =~ "- search(q :string) -> [:string]"
      assert text =~ "- fetch(id :int) -> :any\n  One item"
      assert feedback(call("search", %{}), %{}) =~ "There are no tools."
    end

    test "a tool that fails with the words of another error is a tool that failed" do
      tools = %{"t" => fn _ -> {:error, "' not found"} end}
      assert feedback(call("t", %{}), tools) =~ "ExecutionError: Tool 't' error: ' not found\n"
      refute feedback(call("t", %{}), tools) =~ "There are these tools"
    end

    test "calls are kept when the run fails, in their order, for each of a list's items" do
      tools = %{"t" => {fn %{"n" => n} -> n end, "(n :int) -> :int"}}

      program =
        ~s({"program": {"op": "pipe", "steps": [{"op": "literal", "value": [1, 2, 3]},
        {"op": "map", "expr": {"op": "call", "tool": "t", "args": {"n": 1}}}, {"op": "sum", "field": "x"}]}})

      {:error, _error, _feedback, info} = Agent.Run.noted(program, Agent.Tool.list!(tools), [])

      assert length(info.tool_calls) == 3
    end

    test "ALLM tools and engines, with the engine's context" do
      schema = %{
        type: "object",
        properties: %{city: %{type: "string", enum: ["Rome", "Bonn"], description: "a capital"}},
        required: ["city"]
      }

      tool =
        ALLM.Tool.new(
          name: "weather",
          description: "The weather",
          schema: schema,
          handler: fn args, context -> {:ok, {args, context} |> inspect()} end
        )

      engine = ALLM.Engine.new(tools: [tool], context: %{user: 1})
      assert {:ok, text, _info} = Agent.run(call("weather", %{"city" => "Rome"}), engine)
      assert text =~ "user: 1"
      assert {:ok, _text, _info} = Agent.run(call("weather", %{"city" => "Bonn"}), [tool])

      assert feedback(call("weather", %{"city" => "Paris"}), engine) =~
               ~s(expected one of "Rome", "Bonn")

      prompt = Agent.prompt(tools: engine, language: :none)

      assert prompt =~
               ~s(weather(city :string\) -> :any\n  The weather. city: a capital. city is one of "Rome", "Bonn")
    end

    test "what is no tool raises" do
      for tools <- [
            %{"t" => 1},
            %{"t" => fn -> 1 end},
            %{"t" => {& &1, 1}},
            %{1 => & &1},
            nil,
            :x
          ] do
        assert_raise ArgumentError, fn -> Agent.run(call("t", %{}), tools) end
      end

      assert_raise ArgumentError, ~r/tool "t": invalid signature/, fn ->
        Agent.run(call("t", %{}), %{"t" => {& &1, "(n :integer) -> :int"}})
      end

      assert_raise ArgumentError, ~r/Did you mean :description/, fn ->
        Agent.run(call("t", %{}), %{"t" => {& &1, descripton: "x"}})
      end

      assert_raise ArgumentError, ~r/path "m"/, fn ->
        Agent.run(call("t", %{}), %{
          "t" => {& &1, signature: "(n :int) -> :int", enums: %{"m" => [1]}}
        })
      end
    end

    test "no table and no process is left, whether the run ends or the caller dies" do
      tables = length(:ets.all())
      for _ <- 1..20, do: Agent.run(call("t", %{}), %{"t" => fn _ -> exit(:x) end})
      assert length(:ets.all()) <= tables + 5
    end
  end

  describe "the context" do
    test "names may be atoms, and keys inside, too" do
      program = %{"program" => %{"op" => "load", "name" => "n"}}
      assert {:ok, 3, _info} = Agent.run(program, %{}, context: %{n: 3})

      assert {:ok, [%{id: 1}], _info} = Agent.run(program, %{}, context: %{n: [%{id: 1}]})

      error =
        assert_raise ArgumentError, fn ->
          Agent.run(program, %{}, context: %{n: [%{id: 1}]}, keys: :strings)
        end

      assert error.message =~ "n[0].id is an atom"
      assert {:ok, ~D[2025-11-20], _info} = Agent.run(program, %{}, context: %{n: ~D[2025-11-20]})
    end
  end

  describe "the result" do
    test "must fit the signature and the enumerations" do
      program = %{"program" => %{"op" => "literal", "value" => %{"status" => "opne"}}}
      assert {:ok, _value, _info} = Agent.run(program, %{}, returns: "{status :string}")

      assert {:error, {:invalid_result, [%{path: ["status"]}]}, feedback} =
               Agent.run(program, %{}, returns: "{status :string}", enums: %{"status" => ["open"]})

      assert feedback =~ ~s(- status: expected one of "open", got "opne")
      assert feedback =~ ~s(It returned {"status":"opne"})
      assert feedback(program, %{}, returns: "{count :int}") =~ "- count: expected field, got nil"
    end

    test "memory goes from one run to the next" do
      program = ~s({"program": {"result": {"op": "literal", "value": 1}, "kept": 7}})
      {:ok, 1, info} = Agent.run(program, %{})
      assert info.memory == %{"kept" => 7}
      next = ~s({"program": {"op": "var", "name": "kept"}})
      assert {:ok, 7, _info} = Agent.run(next, %{}, memory: info.memory)
    end

    test "feedback is bounded, whatever the program returned" do
      wide = %{
        "program" => %{"op" => "literal", "value" => List.duplicate(%{"x" => "y"}, 10_000)}
      }

      assert byte_size(feedback(wide, %{}, returns: "[{n :int}]")) < 16_500

      deep = Enum.reduce(1..40, 1, fn _, x -> [x, x] end)
      program = %{"program" => %{"op" => "load", "name" => "x"}}

      assert byte_size(
               feedback(program, %{}, context: %{"x" => deep}, returns: ":int", max_heap: 0)
             ) < 5_000
    end
  end

  test "compiled programs are taken" do
    {:ok, program} = Json.compile(call("t", %{}))
    assert {:ok, 1, _info} = Agent.run(program, %{"t" => fn _ -> 1 end})
  end

  # What the firewall has to know of a program is found out within the limits of the run.
  test "a limit that the program's plan exceeds is the error of the run" do
    compare = fn op -> %{"op" => op, "field" => "a", "value" => 1} end

    steps = [
      %{"op" => "load", "name" => "rows"},
      %{
        "op" => "reject",
        "where" => %{"op" => "and", "conditions" => [compare.("lte"), compare.("gt")]}
      },
      %{
        "op" => "filter",
        "where" => %{"op" => "or", "conditions" => [compare.("eq"), compare.("neq")]}
      },
      %{"op" => "count"}
    ]

    program = %{"program" => %{"op" => "pipe", "steps" => steps}}
    opts = [context: %{"rows" => [%{"a" => 1}]}]

    kinds =
      for words <- 233..1_500//20 do
        case Agent.run(program, %{"t" => fn _ -> 1 end}, [max_heap: words] ++ opts) do
          {:ok, 1, _info} ->
            :ok

          {:error, {:memory_exceeded, bytes}, "MemoryError: " <> _} when bytes == 8 * words ->
            :memory
        end
      end

    assert Enum.uniq(kinds) == [:memory, :ok]
  end
end
