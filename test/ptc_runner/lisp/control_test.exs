defmodule PtcRunner.Lisp.ControlTest do
  # Who decides about calls of PTC-Lisp: budgets, hooks, the journal, keys.
  use ExUnit.Case, async: true

  alias PtcRunner.Json.{Call, Paused}
  alias PtcRunner.Lisp

  doctest PtcRunner.Lisp.Data

  defp ok(program, opts) do
    assert {:ok, step} = Lisp.run(program, opts)
    step
  end

  defp fail(program, opts) do
    assert {:error, step} = Lisp.run(program, opts)
    step
  end

  describe "on_call" do
    test "sees each call once, in order, with its number and its arguments" do
      me = self()

      hook = fn %Call{} = call ->
        send(me, {call.number, call.id, call.tool, call.args, call.effect})
        :run
      end

      tools = %{"a" => & &1["n-1"], "b" => {fn _ -> 2 end, effect: :read}}
      program = "(mapv (fn [i] (tool/a {:n-1 i})) [1 2]) (tool/b)"
      assert ok(program, tools: tools, on_call: hook).return == 2

      assert for(_ <- 1..3, do: assert_receive({_, _, _, _, _})) == [
               {1, "1", "a", %{"n_1" => 1}, :write},
               {2, "2", "a", %{"n_1" => 2}, :write},
               {3, "3", "b", %{}, :read}
             ]
    end

    test "other arguments, an answer, a denial" do
      hook = fn
        %Call{args: %{"n" => 1}} -> {:run, %{"n" => 10}}
        %Call{args: %{"n" => 2}} -> {:answer, %{"given" => true}}
        %Call{args: %{"n" => 3}} -> {:deny, "not three"}
        %Call{args: %{"n" => 4}} -> {:decided, :run, by: "Ann"}
      end

      run = fn n ->
        Lisp.run("(try (tool/t {:n #{n}}) (catch e :caught))",
          tools: %{"t" => & &1["n"]},
          on_call: hook
        )
      end

      assert {:ok, %{return: 10, tool_calls: [%{args: %{"n" => 1}, result: 10}]}} = run.(1)
      assert {:ok, %{return: %{"given" => true}}} = run.(2)
      assert {:error, step} = run.(3)

      assert %{reason: :execution_error, message: "Tool 't' was refused: not three"} =
               Map.take(step.fail, [:reason, :message])

      assert [%{error: "Tool 't' was refused: not three"}] = step.tool_calls
      assert {:ok, %{return: 4}} = run.(4)
    end

    test "a hook that fails denies the call, and its prints stay" do
      step =
        fail(~S|(println "before") (tool/t)|,
          tools: %{"t" => & &1},
          on_call: fn _ -> raise "no" end
        )

      assert step.prints == ["before"]
      assert step.fail.message =~ "the function of :on_call raised"
    end

    test "is not asked about a call whose arguments its tool refuses" do
      tools = %{"t" => {& &1["n"], signature: "(n :int) -> :int"}}

      hook = fn call ->
        if call.args == %{"n" => 4}, do: :run, else: {:deny, inspect(call.args)}
      end

      assert ok(~S|(tool/t {:n "4"})|, tools: tools, on_call: hook).return == 4
      assert fail(~S|(tool/t {:n "x"})|, tools: tools, on_call: hook).fail.reason == :tool_error
    end
  end

  describe "budgets" do
    test "of a run and of a tool have one reason, and no try catches it" do
      program = "(mapv (fn [i] (try (tool/t {:i i}) (catch e nil))) [1 2 3])"

      for opts <- [
            [tools: %{"t" => & &1}, max_tool_calls: 2],
            [tools: %{"t" => {& &1, max_calls: 2}}]
          ] do
        step = fail(program, opts)
        assert step.fail.reason == :tool_call_limit_exceeded

        assert step.fail.message ==
                 "tool_call_limit_exceeded: Tool 't' was called 2 times; no more than 2 calls are allowed"

        assert length(step.tool_calls) == 2
      end

      assert length(ok(program, tools: %{"t" => & &1}, max_tool_calls: 3).return) == 3
    end

    test "a tool has its own time, and a try catches that it is late" do
      slow = fn _ -> Process.sleep(:infinity) end
      opts = [tools: %{"slow" => {slow, timeout: 30}, "t" => fn _ -> 1 end}, timeout: 60_000]
      step = fail("(tool/slow)", opts)
      assert step.fail.message == "Tool 'slow' failed: it did not answer within 30 ms"

      assert ok("[(try (tool/slow) (catch e (ex-message e))) (tool/t)]", opts).return ==
               ["it did not answer within 30 ms", 1]
    end

    test "equal calls of a tool with a cache are made once, also 1 and 1.0, and one that failed is made again" do
      made = :counters.new(1, [])

      tool = fn %{"n" => n} ->
        :counters.add(made, 1, 1)
        if :counters.get(made, 1) == 1, do: {:error, "first"}, else: n
      end

      opts = [tools: %{"t" => {tool, cache: true, max_calls: 2}}]

      step =
        ok(
          "[(try (tool/t {:n 1}) (catch e 0)) (tool/t {:n 1}) (tool/t {:n 1.0}) (tool/t {:n 1})]",
          opts
        )

      assert step.return == [0, 1, 1, 1]
      assert for(call <- step.tool_calls, do: call[:cached]) == [nil, nil, true, true]
      assert :counters.get(made, 1) == 2
    end
  end

  describe "what tools are told" do
    test "a tool of two arguments gets the context and the key of its call" do
      tools = %{
        "who" => fn args, more -> [args["n"], more.context.actor, more.key, more.attempt] end
      }

      step =
        ok("[(tool/who {:n 1}) (tool/who {:n 2})]", tools: tools, tool_context: [actor: "Eve"])

      assert [[1, "Eve", first, 1], [2, "Eve", second, 1]] = step.return
      assert [run, "1"] = String.split(first, ".")
      assert second == run <> ".2"
      assert fail("(tool/who)", tools: tools).fail.message =~ "KeyError"
    end

    test "what tools say is checked" do
      for {form, text} <- [
            {{& &1, approve: 5}, "option :approve of tool \"t\" must be true or false, got: 5"},
            {{& &1, batch: 0},
             "option :batch of tool \"t\" must be an integer from 1 to 10000, or nil for the default, got: 0"}
          ] do
        step = fail("(tool/t)", tools: %{"t" => form})
        assert step.fail.reason == :invalid_tool
        assert step.fail.message == "Tool 't': " <> text
      end
    end
  end

  describe "on_journal" do
    test "is told of the run, each call and each answer; a run that was killed goes on" do
      me = self()
      program = "(println \"a\") (def x (tool/read)) [x (tool/pay {:sum x})]"

      tools = fn pay ->
        %{"read" => {fn _ -> 5 end, effect: :read}, "pay" => pay}
      end

      killed = fn ->
        Lisp.run(program,
          tools: tools.(fn _ -> Process.sleep(:infinity) end),
          timeout: :infinity,
          on_journal: &send(me, {:event, &1})
        )
      end

      {pid, monitor} = spawn_monitor(killed)
      events = for _ <- 1..4, do: assert_receive({:event, map}) && map
      Process.exit(pid, :kill)
      assert_receive {:DOWN, ^monitor, :process, _pid, :killed}

      assert [
               %{"paused" => 1, "lisp" => _},
               %{"id" => "1", "started" => true},
               %{"answer" => 5},
               %{"id" => "2"}
             ] = events

      assert {:ok, %Paused{calls: [%Call{tool: "pay", started: true}]} = paused} =
               Paused.recover(events)

      answers = tools.(fn _ -> "paid" end)
      assert {:ok, step} = Lisp.resume(paused, {:answer, "was paid"}, tools: answers)
      assert {step.return, step.prints} == {[5, "was paid"], ["a"]}
      assert {:ok, step} = Lisp.resume(paused, :approve, tools: answers)
      assert step.return == [5, "paid"]
    end

    test "one that fails refuses the run, or the call" do
      step = fail("(tool/t)", tools: %{"t" => & &1}, on_journal: fn _ -> raise "full" end)
      assert step.fail.message =~ "The run was refused: the function of :on_journal raised"
      hook = fn event -> if event["started"], do: throw(:no) end
      step = fail("(tool/t)", tools: %{"t" => & &1}, on_journal: hook)
      assert step.fail.message =~ "Tool 't' was refused: the function of :on_journal"
    end
  end

  test "options of another kind raise" do
    for {name, value} <- [
          on_call: 5,
          on_journal: fn -> 1 end,
          pause_ttl: -1,
          tool_context: 5,
          now: "x"
        ] do
      assert_raise ArgumentError, ~r/option :#{name} of PtcRunner.Lisp must be/, fn ->
        Lisp.run("1", [{name, value}])
      end
    end
  end
end
