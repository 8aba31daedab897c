defmodule PtcRunner.Json.ToolsTest do
  # Tools as programs call them; the process they run in has its own tests, in ToolProcessTest.
  use ExUnit.Case, async: true

  import ExUnit.CaptureLog
  alias PtcRunner.Json
  alias PtcRunner.Test.Watch

  @call %{"op" => "call", "tool" => "t"}
  @x %{"op" => "load", "name" => "x"}

  defp run(node, tools, opts \\ []) do
    Json.run(%{"program" => node}, [tools: tools] ++ opts)
  end

  defp call(fun, opts \\ []), do: run(@call, %{"t" => fun}, opts)
  defp calls(name, args \\ %{}), do: %{"op" => "call", "tool" => name, "args" => args}
  defp error(text), do: {:error, {:execution_error, text}}
  defp hang(_args), do: Process.sleep(:infinity)

  # As an inline function this would not be linked to what calls it.
  defp linked_crash(_args) do
    spawn_link(fn -> exit(:crashed) end)
    hang(%{})
  end

  describe "what a tool gives" do
    test "is the value, whatever it is" do
      values =
        [nil, :ok, :error, {:ok, 1}, {:error, 1, 2}, ~D[2024-01-31], [1 | 2], 10 ** 50, self()] ++
          [<<1::3>>, -0.0, make_ref(), &is_nil/1]

      for value <- values do
        assert {:ok, [^value], %{}, %{}} =
                 run(%{"op" => "concat", "lists" => [calls("list")]}, %{
                   "list" => fn _ -> [value] end
                 })
      end

      assert {:ok, 1, %{"n" => 2}, %{"n" => 2, "kept" => 0}} =
               call(fn _ -> %{"result" => 1, "n" => 2} end, memory: %{"kept" => 0, "n" => 0})
    end

    test "gets the arguments literally in edition 1, or an empty map" do
      args = %{"a" => %{"op" => "load", "name" => "x"}, "n" => [1, %{"b" => nil}]}
      assert {:ok, ^args, _, _} = run(calls("t", args), %{"t" => & &1}, edition: 1)
      assert {:ok, %{}, %{}, %{}} = call(& &1)
    end

    test "may be huge, both ways" do
      rows = for n <- 1..200_000, do: %{"id" => n, "name" => "row"}
      count = %{"op" => "pipe", "steps" => [calls("rows"), %{"op" => "count"}]}
      tools = %{"rows" => fn _ -> rows end}
      opts = [max_heap: 0, timeout: 30_000]
      assert {:ok, 200_000, _, _} = run(count, tools, opts)

      size = fn %{"rows" => rows} -> length(rows) end
      assert {:ok, 200_000, _, _} = run(calls("size", %{"rows" => rows}), %{"size" => size}, opts)
    end
  end

  describe "a tool that fails" do
    test "ends the program with the reason" do
      assert call(fn _ -> {:error, :none} end) == error("Tool 't' error: :none")
      assert call(fn _ -> {:error, "no \"x\""} end) == error(~S(Tool 't' error: "no \"x\""))
      assert call(fn _ -> raise "kaboom" end) == error("Tool 't' raised: kaboom")
      assert call(fn _ -> :erlang.error(:badarg) end) == error("Tool 't' raised: argument error")

      assert call(fn %{"no" => 1} -> 1 end) |> elem(1) |> elem(1) =~
               "Tool 't' raised: no function"

      assert call(fn _ -> throw({:a, 1}) end) == error("Tool 't' threw: {:a, 1}")
      assert call(fn _ -> exit(:normal) end) == error("Tool 't' exited: :normal")
      assert call(fn _ -> exit(:killed) end) == error("Tool 't' exited: :killed")
      assert call(fn _ -> exit({:shutdown, 1}) end) == error("Tool 't' exited: {:shutdown, 1}")
      assert call(&linked_crash/1) == error("Process terminated: :crashed")
      assert run(calls("other"), %{"t" => & &1}) == error("Tool 'other' not found")
      assert run(@call, %{}) == error("Tool 't' not found")
    end

    test "whose name is an atom is found with `keys: :any`, as data are" do
      program = %{"program" => %{"op" => "call", "tool" => "t", "args" => %{"n" => 1}}}
      tools = %{t: {fn %{"n" => n} -> n end, effect: :read}}

      log =
        capture_log(fn ->
          assert Json.run(program, tools: tools) == error("Tool 't' not found")
        end)

      assert log =~
               "the map of tools has the key :t, an atom, and keys are texts: give %{\"t\" => …}"

      any = [tools: tools, keys: :any]
      {:ok, compiled} = Json.compile(program, keys: :any)
      assert Json.run(program, any) == {:ok, 1, %{}, %{}}
      assert Json.run(compiled, tools: tools) == {:ok, 1, %{}, %{}}
      assert Json.explain(program, any).result == {:ok, 1, %{}, %{}}
      assert {{:ok, 1, _, _}, %{"calls" => [%{"tool" => "t"}]}} = Json.record(program, any)
      {:ok, plan} = Json.plan(program, tools: tools)
      assert Json.run(program, [within: plan] ++ any) == {:ok, 1, %{}, %{}}

      waits = [tools: %{t: {fn %{"n" => n} -> n end, approve: true}}]
      {:paused, paused} = Json.run(program, [keys: :any] ++ waits)
      assert Json.resume(paused, :approve, waits) == {:ok, 1, %{}, %{}}

      twins = [tools: %{:t => & &1, "t" => & &1}, keys: :any]
      assert {:error, {:validation_error, text}} = Json.run(program, twins)
      assert text =~ ~s(two tools have the name "t")
    end

    test "that is not there is told with the most similar one that is" do
      tools = %{"weather" => & &1, "search" => & &1, :wether => & &1}
      not_found = &error("Tool '#{&1}' not found" <> &2)
      assert run(calls("weathr"), tools) == not_found.("weathr", ". Did you mean 'weather'?")
      assert run(calls("Search"), tools) == not_found.("Search", ". Did you mean 'search'?")
      assert run(calls("delete"), tools) == not_found.("delete", "")

      later = %{"op" => "concat", "lists" => [calls("list"), calls("serch")]}
      tools = Map.put(tools, "list", fn _ -> [] end)
      assert run(later, tools) == not_found.("serch", ". Did you mean 'search'?")

      many = for n <- 1..100_000, into: %{}, do: {"tool number #{n}", & &1}
      long = String.duplicate("x", 100_000)

      assert {:error, {:execution_error, text}} =
               run(calls("tool nmber 7"), Map.put(many, long, & &1))

      assert text =~ ~r/^Tool 'tool nmber 7' not found\. Did you mean 'tool number \d+'\?$/
    end

    test "ends it at once: nothing later is called" do
      me = self()
      tools = %{"fail" => fn _ -> {:error, 1} end, "tell" => fn _ -> send(me, :called) end}

      for op <- ["concat", "merge", "zip"] do
        field = if op == "merge", do: "objects", else: "lists"

        assert run(%{"op" => op, field => [calls("fail"), calls("tell")]}, tools) ==
                 error("Tool 'fail' error: 1")
      end

      refute_received :called
    end

    test "that hangs is ended at the timeout, which all calls share" do
      assert call(&hang/1, timeout: 30) == {:error, {:timeout, 30}}
      nap = fn _ -> Process.sleep(20) end
      naps = %{"op" => "pipe", "steps" => [@x, %{"op" => "map", "expr" => calls("nap")}]}
      opts = [timeout: 100, context: %{"x" => Enum.to_list(1..1_000)}]
      assert run(naps, %{"nap" => nap}, opts) == {:error, {:timeout, 100}}
      trap = fn _ -> {Process.flag(:trap_exit, true), hang(%{})} end
      assert call(trap, timeout: 30) == {:error, {:timeout, 30}}
    end

    test "that hogs memory is ended at the limit" do
      hog = fn _ -> Enum.to_list(1..10_000_000) end

      assert call(hog, max_heap: 100_000, timeout: 20_000) ==
               {:error, {:memory_exceeded, 800_000}}
    end

    test "that kills itself ends the run, not the caller" do
      suicide = fn _ -> Process.exit(self(), :kill) end
      assert call(suicide) == {:error, {:memory_exceeded, 10_000_000}}
      assert call(suicide, max_heap: 0) == error("Process terminated: :killed")
    end
  end

  describe "the process of the tools" do
    test "knows its callers, and is not the caller" do
      assert {:ok, [callers], _, _} = call(fn _ -> [[self() | Process.get(:"$callers")]] end)
      assert [tool_process, caller] = callers
      assert caller == self()
      assert tool_process != self()

      Process.put(:"$callers", [:outer])
      assert {:ok, [_, :outer], _, _} = call(fn _ -> Process.get(:"$callers") end)
    after
      Process.delete(:"$callers")
    end

    test "is gone after each kind of end, and so is everything it needed" do
      ends = [
        fn _ -> 1 end,
        fn _ -> {:error, 1} end,
        fn _ -> raise "x" end,
        fn _ -> throw(1) end,
        fn _ -> exit(1) end,
        fn _ -> Process.exit(self(), :kill) end,
        &linked_crash/1,
        &hang/1
      ]

      for fun <- ends do
        {_result, pids} = Watch.started(fn -> for _ <- 1..20, do: call(fun, timeout: 20) end)
        assert pids != []
        assert Watch.survivors(pids) == []
      end
    end

    test "dies with the caller, and what watches it too" do
      me = self()

      tell = fn _ ->
        send(me, {:tool, self()})
        hang(%{})
      end

      caller = spawn(fn -> call(tell, timeout: :infinity) end)
      assert_receive {:tool, pid}
      Process.exit(caller, :kill)
      assert Watch.survivors([caller, pid]) == []
    end

    test "can be killed from outside" do
      me = self()

      tell = fn _ ->
        send(me, {:tool, self()})
        hang(%{})
      end

      task = Task.async(fn -> call(tell, timeout: 20_000, max_heap: 0) end)
      assert_receive {:tool, pid}
      Process.exit(pid, :kill)
      assert Task.await(task, 60_000) == error("Process terminated: :killed")
    end

    test "leaves nothing but the messages of the tools in the caller's mailbox" do
      me = self()
      send(me, {:result, 1, 2})
      tell = fn args -> send(me, {:told, args}) end
      late = fn _ -> Process.sleep(15) end

      for _ <- 1..50 do
        call(tell)
        call(late, timeout: 15)
        call(&linked_crash/1)
        call(fn _ -> Process.exit(self(), :kill) end)
      end

      Process.sleep(50)
      {:messages, messages} = Process.info(self(), :messages)
      assert messages == [{:result, 1, 2} | List.duplicate({:told, %{}}, 50)]
    end
  end

  describe "programs with many calls" do
    test "call in the order of evaluation" do
      me = self()

      tools =
        for name <- ~w(a b c d),
            into: %{},
            do:
              {name,
               fn _ ->
                 send(me, name)
                 1
               end}

      order = fn node, opts ->
        assert {:ok, _, _, _} = run(node, tools, opts)

        {:messages, names} = Process.info(me, :messages)
        for name <- names, do: assert_received(^name)
        names
      end

      object = %{"z" => calls("a"), "b" => calls("b"), "a" => calls("c")}
      assert order.(object, []) == ~w(c b a)
      add = %{"op" => "add", "right" => calls("a"), "left" => calls("b")}
      assert order.(add, []) == ~w(b a)
      pct = %{"op" => "pct", "whole" => calls("a"), "part" => calls("b")}
      assert order.(pct, []) == ~w(b a)
      either = %{"op" => "or", "conditions" => [calls("a"), calls("b")]}
      assert order.(either, []) == ~w(a)

      choice = %{
        "op" => "if",
        "condition" => calls("a"),
        "then" => calls("b"),
        "else" => calls("c")
      }

      assert order.(choice, []) == ~w(a b)
      let = %{"op" => "let", "name" => "n", "value" => calls("d"), "in" => calls("a")}
      assert order.(let, []) == ~w(d a)
      map = %{"op" => "pipe", "steps" => [@x, %{"op" => "map", "expr" => object}]}
      assert order.(map, context: %{"x" => [1, 2]}) == ~w(c b a c b a)
    end

    test "in a map over 10,000 rows use one process, and time in proportion" do
      double = %{
        "op" => "map",
        "expr" => %{"n" => calls("count"), "x" => %{"op" => "var", "name" => "__input"}}
      }

      node = %{"op" => "pipe", "steps" => [@x, double]}
      counter = :counters.new(1, [])
      tools = %{"count" => fn _ -> :counters.add(counter, 1, 1) end}

      reductions = fn rows ->
        opts = [context: %{"x" => Enum.to_list(1..rows)}, timeout: 60_000]

        {{result, reductions}, pids} =
          Watch.started(fn ->
            {:reductions, before} = Process.info(self(), :reductions)
            result = run(node, tools, opts)
            {:reductions, later} = Process.info(self(), :reductions)
            {result, later - before}
          end)

        assert {:ok, list, _, _} = result
        assert length(list) == rows
        assert List.last(list) == %{"n" => :ok, "x" => rows}
        assert length(pids) == 1
        reductions
      end

      assert reductions.(10_000) < 40 * (reductions.(1_000) + 1_000)
      assert :counters.get(counter, 1) == 11_000
    end

    test "may run programs inside their tools" do
      inner = fn _ -> Json.run!(%{"program" => calls("n")}, tools: %{"n" => fn _ -> 20 end}) end
      add = %{"op" => "add", "left" => calls("inner"), "right" => calls("inner")}
      assert {:ok, 40, _, _} = run(add, %{"inner" => inner})

      deep = fn deep, n ->
        if n == 0,
          do: 0,
          else:
            Json.run!(%{"program" => calls("t")},
              tools: %{"t" => fn _ -> 1 + deep.(deep, n - 1) end}
            )
      end

      assert deep.(deep, 20) == 20
    end

    test "work from many processes at once, with one compiled program" do
      steps = [@x, %{"op" => "map", "expr" => calls("t")}, %{"op" => "count"}]
      {:ok, program} = Json.compile(%{"program" => %{"op" => "pipe", "steps" => steps}})
      me = self()

      run = fn n ->
        tools = %{"t" => fn _ -> send(me, n) end}
        Json.run(program, context: %{"x" => Enum.to_list(1..n)}, tools: tools, timeout: 30_000)
      end

      results = 1..100 |> Enum.map(&Task.async(fn -> run.(&1) end)) |> Task.await_many(60_000)
      assert results == for(n <- 1..100, do: {:ok, n, %{}, %{}})
      assert Process.info(self(), :message_queue_len) == {:message_queue_len, 5_050}
    end
  end

  describe "processes that tools have linked to theirs end with the run" do
    @typeof %{"op" => "typeof"}
    @rests %{
      "whose value is the call" => [],
      "that goes on with its tools" => [@typeof],
      "that calls the tool twice" => [%{"op" => "call", "tool" => "t"}, @typeof],
      "that fails after the call" => [%{"op" => "sum", "field" => "n"}]
    }

    for {what, rest} <- @rests do
      test what do
        me = self()

        tool = fn _args ->
          send(me, {:linked, spawn_link(fn -> Process.sleep(:infinity) end)})
          1
        end

        run(%{"op" => "pipe", "steps" => [@call | unquote(Macro.escape(rest))]}, %{"t" => tool})
        assert_received {:linked, linked}
        ref = Process.monitor(linked)
        assert_receive {:DOWN, ^ref, :process, ^linked, reason} when reason in [:killed, :noproc]
      end
    end

    test "and after a tool that raised" do
      me = self()

      tool = fn _args ->
        send(me, {:linked, spawn_link(fn -> Process.sleep(:infinity) end)})
        raise "no"
      end

      assert {:error, {:execution_error, "Tool 't' raised: no"}} = call(tool)
      assert_received {:linked, linked}
      ref = Process.monitor(linked)
      assert_receive {:DOWN, ^ref, :process, ^linked, reason} when reason in [:killed, :noproc]
    end
  end
end
