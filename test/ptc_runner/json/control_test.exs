defmodule PtcRunner.Json.ControlTest do
  # Budgets and decisions, in every form of running.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Json
  alias PtcRunner.Json.{Call, Entry, Kept, Paused}
  alias PtcRunner.Test.Room

  doctest Call
  doctest PtcRunner.Json.Control
  doctest PtcRunner.Json.Control.Order
  doctest Entry
  doctest Kept
  doctest Paused
  doctest PtcRunner.Json.Budget
  doctest PtcRunner.Json.Deadline
  doctest PtcRunner.Json.Evaluation
  doctest PtcRunner.Json.Given
  doctest PtcRunner.Json.Tools

  # Each item calls the tool, and a call that fails gives nil.
  @each ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "ids"},
    {"op": "map", "expr": {"op": "call", "tool": "x", "args": {"id": {"op": "var", "name": "__input"}}, "on_error": null}}]}})

  @pair ~s({"program": {"op": "let", "name": "a", "value": {"op": "call", "tool": "x", "args": {"n": 1}},
    "in": {"op": "call", "tool": "y", "args": {"a": {"op": "var", "name": "a"}}}}})

  # The VM keeps a map of up to 32 keys as one tuple of values, and a larger one as a tree, whose update takes four times as long.
  test "what each call copies is small" do
    for module <- [
          Json.Control,
          Json.Control.Rules,
          Json.Run,
          Json.Run.Rounds,
          PtcRunner.Lisp.Asking
        ] do
      assert {module, map_size(struct(module))} <= {module, 32}
    end

    # Room for another field.
    assert map_size(%Json.Control{}) <= 28
  end

  # All forms of running the same program.
  defp forms(text) do
    {:ok, compiled} = Json.compile(text)
    map = Json.Codec.decode!(text)

    [
      text: &Json.run(text, &1),
      map: &Json.run(map, &1),
      compiled: &Json.run(compiled, &1),
      explain: &Json.explain(text, &1).result,
      overlapping: &Json.run(text, [{:tool_concurrency, 8} | &1]),
      compiled_overlapping: &Json.run(compiled, [{:tool_concurrency, 64} | &1])
    ]
  end

  defp counting do
    counter = :counters.new(1, [])

    tool = fn args ->
      :counters.add(counter, 1, 1)
      args["id"] || args["n"]
    end

    {tool, fn -> :counters.get(counter, 1) end}
  end

  describe "budgets" do
    test "of a tool, in every form of running" do
      for {form, run} <- forms(@each), most <- [0, 1, 2, 10, 29] do
        {tool, count} = counting()

        opts = [
          context: %{"ids" => Enum.to_list(1..30)},
          tools: %{"x" => {tool, max_calls: most}}
        ]

        assert {:error, {:execution_error, text}} = run.(opts), "#{form}"

        times =
          if most == 1,
            do: "1 time; no more than 1 call is",
            else: "#{most} times; no more than #{most} calls are"

        assert text == "Tool 'x' was called #{times} allowed"
        assert count.() <= most
        if form not in [:overlapping, :compiled_overlapping], do: assert(count.() == most)
      end
    end

    test "of the run, in every form of running" do
      for {form, run} <- forms(@each) do
        {tool, count} = counting()
        opts = [context: %{"ids" => Enum.to_list(1..30)}, tools: %{"x" => tool, "y" => tool}]

        assert run.([{:max_tool_calls, 10} | opts]) ==
                 {:error,
                  {:execution_error,
                   "Tool 'x' was called 10 times; no more than 10 calls are allowed"}},
               "#{form}"

        assert count.() <= 10
        assert {:ok, ids, _, _} = run.([{:max_tool_calls, 30} | opts])
        assert ids == Enum.to_list(1..30)
      end

      assert Json.run(@pair, tools: %{"x" => & &1["n"], "y" => & &1}, max_tool_calls: 1) ==
               {:error,
                {:execution_error, "Tools were called 1 time; no more than 1 call is allowed"}}
    end

    test "of nested loops whose calls overlap, with errors that the program catches" do
      nested = ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "ids"},
          {"op": "map", "expr": {"op": "pipe", "steps": [{"op": "load", "name": "ids"},
            {"op": "map", "expr": {"op": "call", "tool": "x", "args": {"id": {"op": "var", "name": "__input"}}, "on_error":
              {"op": "call", "tool": "y", "on_error": 0}}}]}}]}})

      # A call that is stopped may still count itself after the run, so each run has its own counters.
      counted = fn ->
        made = :counters.new(2, [])
        {made, fn place -> fn _ -> :counters.add(made, place, 1) && {:error, "no"} end end}
      end

      opts = [context: %{"ids" => Enum.to_list(1..40)}, tool_concurrency: 64]

      for most <- [0, 1, 63, 64, 65, 500], hook <- [nil, fn _ -> :run end] do
        {made, count} = counted.()
        tools = %{"x" => {count.(1), max_calls: most}, "y" => count.(2)}
        result = Json.run(nested, [{:tools, tools}, {:on_call, hook} | opts])
        assert {:error, {:execution_error, text}} = result
        assert text =~ "Tool 'x' was called #{most} time"
        assert :counters.get(made, 1) <= most

        {made, count} = counted.()
        tools = %{"x" => count.(1), "y" => count.(2)}
        opts = [{:tools, tools}, {:on_call, hook}, {:max_tool_calls, most} | opts]
        assert {:error, {:execution_error, text}} = Json.run(nested, opts)
        assert text =~ "were called #{most} time" or text =~ "was called #{most} time"
        assert :counters.get(made, 1) + :counters.get(made, 2) <= most
      end
    end

    test "a run within its budget is the run without one" do
      for {_form, run} <- forms(@each) do
        opts = [context: %{"ids" => Enum.to_list(1..30)}, tools: %{"x" => & &1["id"]}]
        assert run.([{:max_tool_calls, 30} | opts]) == run.(opts)
      end
    end
  end

  describe "on_call" do
    test "is called once for each call, in the caller, with its place" do
      for {form, run} <- forms(@each) do
        me = self()

        hook = fn %Call{} = call ->
          send(me, {:asked, self(), call})
          :run
        end

        opts = [
          context: %{"ids" => [1, 2, 3]},
          tools: %{"x" => {& &1["id"], effect: :read}},
          on_call: hook
        ]

        assert run.(opts) == {:ok, [1, 2, 3], %{}, %{}}, "#{form}"

        calls =
          for _ <- 1..3,
              do:
                (receive do
                   {:asked, ^me, call} -> call
                 end)

        refute_received {:asked, _, _}
        assert Enum.map(calls, & &1.args) == for(n <- 1..3, do: %{"id" => n})
        assert Enum.map(calls, & &1.number) == [1, 2, 3]

        assert Enum.uniq(Enum.map(calls, &{&1.tool, &1.effect, &1.path})) == [
                 {"x", :read, ["program", "steps", 1, "expr"]}
               ]
      end
    end

    test "paths are those of explain" do
      paths = fn program ->
        me = self()

        hook = fn call ->
          send(me, {:path, call.path})
          :run
        end

        tools = %{"x" => fn _ -> 1 end, "y" => fn _ -> 2 end}
        {:ok, _, _, _} = Json.run(program, tools: tools, on_call: hook)

        explained =
          for %{op: "call"} = operation <- Json.explain(program, tools: tools).operations,
              do: operation.path

        {Stream.repeatedly(fn ->
           receive do
             {:path, path} -> path
           after
             0 -> nil
           end
         end)
         |> Enum.take_while(& &1), explained}
      end

      assert {[["program", "value"], ["program", "in"]] = same, same} = paths.(@pair)

      nested =
        ~s({"program": {"a": {"op": "call", "tool": "x", "args": {"b": [1, {"op": "call", "tool": "y"}]}}, "c": {"op": "if",
        "condition": {"op": "call", "tool": "x"}, "then": {"op": "call", "tool": "y"}, "else": {"op": "call", "tool": "x"}}}})

      {seen, explained} = paths.(nested)
      assert length(seen) == 4
      assert seen -- explained == []
      assert ["program", "a", "args", "b", 1] in seen or Enum.any?(seen, &(List.last(&1) == 1))
    end

    test "its decisions" do
      tools = %{"x" => &{:x, &1}, "y" => &{:y, &1}}

      decide = fn decision ->
        Json.run(@pair,
          tools: tools,
          on_call: fn call -> if call.tool == "x", do: decision, else: :run end
        )
      end

      assert {:ok, {:y, %{"a" => {:x, %{"n" => 1}}}}, _, _} = decide.(:run)
      assert {:ok, {:y, %{"a" => {:x, %{"n" => 2}}}}, _, _} = decide.({:run, %{"n" => 2}})
      assert {:ok, {:y, %{"a" => 7}}, _, _} = decide.({:answer, 7})
      assert decide.({:deny, "no"}) == {:error, {:execution_error, "Tool 'x' was refused: no"}}
      assert decide.({:deny, :no}) == {:error, {:execution_error, "Tool 'x' was refused: :no"}}

      assert {:error,
              {:execution_error, "Tool 'x' was refused: the function of :on_call returned nil"}} =
               decide.(nil)

      assert {:paused, %Paused{}} = decide.(:pause)
    end

    test "its time is that of the run" do
      test = self()
      call = ~s({"program": {"op": "call", "tool": "x", "on_error": 0}})
      one = ~s({"program": {"op": "pipe", "steps": [{"op": "literal", "value": [1]},
        {"op": "map", "expr": {"op": "call", "tool": "x", "on_error": 0}}]}})
      # No call starts after the end.
      tools = %{"x" => fn _ -> send(test, :called) end}
      told = &send(test, {:journal, &1})
      opts = [tools: tools, on_journal: told]

      for program <- [call, one], concurrency <- [1, 4] do
        Room.growing(20, fn timeout ->
          slow = fn _call -> Process.sleep(2 * timeout) && :run end
          opts = [timeout: timeout, on_call: slow, tool_concurrency: concurrency] ++ opts
          assert Json.run(program, opts) == {:error, {:timeout, timeout}}
          assert_received {:journal, %{"paused" => 1}}
          assert_received {:journal, %{"ended" => ["timeout", ^timeout]}}
          refute_received {:journal, _started}
          refute_received :called
        end)
      end

      # A tool has what is left.
      tools = %{"x" => fn _ -> Process.sleep(:infinity) end}
      slow = fn _call -> Process.sleep(900) && :run end

      times =
        for program <- [call, one], concurrency <- [1, 4] do
          opts = [tools: tools, timeout: 1_000, on_call: slow, tool_concurrency: concurrency]

          Task.async(fn ->
            {ms, result} = Room.least_wait_ms(1_700, fn -> Json.run(program, opts) end)
            assert result == {:error, {:timeout, 1_000}}
            ms
          end)
        end

      for ms <- Task.await_many(times, 60_000), do: assert(ms <= 1_700)
    end

    test "other arguments may have any terms" do
      pid = self()
      call = ~s({"program": {"op": "call", "tool": "x", "args": {"n": 1}, "on_error": 0}})
      huge = Enum.to_list(1..100_000)
      deep = Enum.reduce(1..10_000, 1, fn _, inner -> %{"a" => inner} end)

      for term <- [pid, fn -> 1 end, {1, 2}, [1 | 2], <<1::3>>, :none, ~D[2024-02-29], huge, deep],
          args <- [%{"a" => term}, %{term => 1}] do
        opts = [tools: %{"x" => & &1}, on_call: fn _ -> {:run, args} end]
        assert {:ok, ^args, _, _} = Json.run(call, opts)

        assert {{:ok, _, _, _}, %{}} =
                 Json.record(call, [
                   {:max_tool_calls, 1} | Keyword.put(opts, :tools, %{"x" => fn _ -> 1 end})
                 ])

        # A tool with a signature refuses what is none, and the program may catch that.
        signed = %{"x" => {& &1, signature: "(n :int) -> :int"}}
        assert {:ok, 0, _, _} = Json.run(call, Keyword.put(opts, :tools, signed))
      end

      # The limits are those of any call.
      opts = [
        tools: %{"x" => & &1},
        on_call: fn _ -> {:run, %{"a" => huge}} end,
        max_heap: 50_000
      ]

      assert {:error, {:memory_exceeded, _}} = Json.run(call, opts)
    end

    test "a refusal is not caught by the program, and the tool is not called" do
      for {form, run} <- forms(@each),
          hook <- [
            fn _ -> {:deny, "no"} end,
            fn _ -> raise "no" end,
            fn _ -> throw(:no) end,
            fn _ -> :maybe end
          ] do
        {tool, count} = counting()

        assert {:error, {:execution_error, "Tool 'x' was refused: " <> _}} =
                 run.(context: %{"ids" => [1, 2]}, tools: %{"x" => tool}, on_call: hook),
               "#{form}"

        assert count.() == 0
      end
    end
  end

  describe "tools say what they are" do
    test "a signature" do
      double = {fn %{"n" => n} -> 2 * n end, "(n :int) -> :int"}
      program = ~s({"program": {"op": "call", "tool": "double", "args": {"n": "21"}}})
      assert Json.run(program, tools: %{"double" => double}) == {:ok, 42, %{}, %{}}
      program = ~s({"program": {"op": "call", "tool": "double", "args": {"n": "x"}}})

      assert {:error,
              {:execution_error,
               "Tool 'double' error: Tool validation errors:\n- n: expected integer" <> _}} =
               Json.run(program, tools: %{"double" => double})
    end

    test "a struct" do
      tool = %Tool{
        name: "double",
        fun: fn %{"n" => n} -> 2 * n end,
        signature: "(n :int) -> :int",
        max_calls: 0
      }

      program = ~s({"program": {"op": "call", "tool": "double", "args": {"n": "21"}}})

      assert {:error,
              {:execution_error,
               "Tool 'double' was called 0 times; no more than 0 calls are allowed"}} =
               Json.run(program, tools: %{"double" => tool})

      assert Json.run(program, tools: %{"double" => %{tool | max_calls: 1}}) ==
               {:ok, 42, %{}, %{}}
    end

    test "wrong options" do
      for {options, word} <- [
            {[effect: :reed], ":effect"},
            {[max_calls: -1], ":max_calls"},
            {[timeout: "1"], ":timeout"},
            {[cache: 1], ":cache"},
            {[approve: nil], ":approve"},
            {[max_call: 1], "Did you mean :max_calls?"}
          ] do
        for run <- [
              &Json.run("{}", tools: &1),
              &PtcRunner.Agent.run(~s({"program": {"op": "count"}}), &1)
            ] do
          error = assert_raise ArgumentError, fn -> run.(%{"x" => {& &1, options}}) end

          assert error.message =~ word
        end
      end

      assert_raise ArgumentError, ~r/:max_tool_calls/, fn ->
        Json.run("{}", max_tool_calls: -1)
      end

      assert_raise ArgumentError, ~r/:on_call/, fn -> Json.run("{}", on_call: fn -> :run end) end
      assert_raise ArgumentError, ~r/:pause_ttl/, fn -> Json.run("{}", pause_ttl: -1) end

      assert {:error, {:validation_error, "Tools must be functions with arity 1. Invalid: x"}} =
               Json.run(@pair, tools: %{"x" => {1, 2}})
    end

    test "a timeout of one call is an error of the tool" do
      slow = fn %{"id" => id} -> if id == 2, do: Process.sleep(:infinity), else: id end

      for {form, run} <- forms(@each) do
        # The other calls need less.
        Room.growing(200, fn timeout ->
          opts = [
            context: %{"ids" => [1, 2, 3]},
            tools: %{"x" => {slow, timeout: timeout}},
            timeout: 60_000
          ]

          assert run.(opts) == {:ok, [1, nil, 3], %{}, %{}}, "#{form}"
        end)
      end

      program = ~s({"program": {"op": "call", "tool": "x", "args": {"id": 2}}})

      assert Json.run(program, tools: %{"x" => {slow, timeout: 30}}) ==
               {:error, {:execution_error, "Tool 'x' did not answer within 30 ms"}}

      assert Json.run(program, tools: %{"x" => {slow, timeout: 30}}, timeout: 10) ==
               {:error, {:timeout, 10}}

      refute_receive _, 20
    end

    test "a cache: equal arguments are called once" do
      for {form, run} <- forms(@each) do
        {tool, count} = counting()
        slow = fn args -> Process.sleep(2) && tool.(args) end
        ids = [1, 2, 1, 1.0, 2, 1, 1, 3]
        opts = [context: %{"ids" => ids}, tools: %{"x" => {slow, cache: true, max_calls: 4}}]
        assert run.(opts) == {:ok, ids, %{}, %{}}, "#{form}"
        assert count.() == 4

        failing = fn args -> tool.(args) && raise "no" end
        {:ok, all, _, _} = run.(Keyword.put(opts, :tools, %{"x" => {failing, cache: true}}))
        assert all == List.duplicate(nil, 8)
        assert count.() == 8
      end
    end
  end
end
