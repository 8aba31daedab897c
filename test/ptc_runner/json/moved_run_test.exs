defmodule PtcRunner.Json.MovedRunTest do
  # Runs that move to the process of their tools, beside those that stay: what is small moves at its
  # first call, what is large stays. Every promise holds in both.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Native.Reaper
  alias PtcRunner.Test.Watch

  @x %{"op" => "load", "name" => "x"}
  @y %{"op" => "load", "name" => "y"}
  # Too many words for a few calls to move.
  @large Enum.to_list(1..50_000)
  @answer Enum.to_list(1..5_000)

  defp run(node, tools, opts \\ []), do: Json.run(%{"program" => node}, [tools: tools] ++ opts)
  defp call(name, args \\ %{}), do: %{"op" => "call", "tool" => name, "args" => args}
  defp pipe(steps), do: %{"op" => "pipe", "steps" => steps}
  defp concat(lists), do: %{"op" => "concat", "lists" => lists}
  defp error(text), do: {:error, {:execution_error, text}}
  defp hang(_args), do: Process.sleep(:infinity)

  # A call as the program's value, one with more to come that is small, and one with much.
  defp each_way(name, and_then) do
    and_then.(call(name), [])
    later = concat([call(name), call("one")])
    and_then.(later, context: %{"x" => [1]})

    large =
      concat([%{"op" => "if", "condition" => call("one"), "then" => call(name), "else" => @x}, @x])

    and_then.(large, context: %{"x" => @large})
  end

  defp tools(fun), do: %{"t" => fun, "one" => fn _ -> [1] end}

  test "the words of the last answer are added to those built before, as for other calls" do
    # The run builds a list of 2,000 cells, 4,000 words; the answer is 10,000 words that exist already.
    rows = for n <- 1..2_000, do: %{"n" => n}
    tools = %{"t" => fn _ -> @answer end}
    sorted = pipe([@x, %{"op" => "sort_by", "field" => "n", "order" => "desc"}])
    built = pipe([sorted, %{"op" => "drop", "count" => 0}, %{"op" => "first"}])
    last = pipe([built, call("t")])
    more = pipe([last, %{"op" => "drop", "count" => 1}])

    for node <- [last, more] do
      run = &run(node, tools, context: %{"x" => rows}, max_heap: &1)
      assert {:ok, _value, _delta, _memory} = run.(15_000)
      assert {:error, {:memory_exceeded, _bytes}} = run.(13_000)
    end

    assert {:ok, _value, _delta, _memory} = run(call("t"), tools, max_heap: 13_000)
  end

  test "a call that is the value of a run that has stayed is made in the same process" do
    tools = %{
      "one" => fn _ -> Process.put(:pid, self()) == nil end,
      "t" => fn _ -> Process.get(:pid) end
    }

    node = %{"op" => "if", "condition" => call("one"), "then" => call("t"), "else" => @x}

    for concurrency <- [1, 4] do
      opts = [context: %{"x" => @large}, tool_concurrency: concurrency]
      {{:ok, pid, _, _}, pids} = Watch.started(fn -> run(node, tools, opts) end)
      assert pids == [pid]
    end
  end

  describe "the value is the same, whatever moves" do
    test "with loops, bindings, context and memory behind the call" do
      rows = for n <- 1..300, do: %{"n" => n, "s" => "row #{n}"}
      item = %{"op" => "var", "name" => "__input"}

      node = %{
        "op" => "let",
        "name" => "all",
        "value" => @x,
        "in" =>
          pipe([
            @x,
            %{"op" => "map", "expr" => %{"a" => call("t"), "row" => item, "y" => @y}},
            %{"op" => "filter", "where" => %{"op" => "gt", "field" => "a", "value" => 1}},
            %{
              "items" => item,
              "count" => pipe([%{"op" => "var", "name" => "all"}, %{"op" => "count"}]),
              "kept" => %{"op" => "var", "name" => "kept"}
            }
          ])
      }

      for max_heap <- [1_250_000, 0, 60_000] do
        {:ok, counter} = Agent.start_link(fn -> 0 end)
        count = fn _ -> Agent.get_and_update(counter, &{&1, &1 + 1}) end
        opts = [context: %{"x" => rows, "y" => [5]}, memory: %{"kept" => :k}, max_heap: max_heap]
        assert {:ok, value, _, _} = run(node, %{"t" => count}, opts)

        items =
          for {row, a} <- Enum.with_index(rows), a > 1, do: %{"a" => a, "row" => row, "y" => [5]}

        assert value == %{"items" => items, "count" => 300, "kept" => :k}
      end
    end

    test "with each kind of loop, items looked at or not" do
      for {op, field} <- [{"map", "expr"}, {"filter", "where"}, {"reject", "where"}],
          size <- [1, 2, 65, 1_000],
          last <- [[], [%{"op" => "count"}]] do
        flip = fn _ -> Process.put(:flip, not Process.get(:flip, false)) end
        list = Enum.to_list(1..size)
        answers = list |> Enum.map(&(rem(&1, 2) == 0 and &1 > 0))
        # `put` gives what was there before
        answers = [nil | tl(answers) |> Enum.map(& &1)]

        expected =
          case op do
            "map" -> answers
            "filter" -> for({n, true} <- Enum.zip(list, answers), do: n)
            "reject" -> for({n, a} when a != true <- Enum.zip(list, answers), do: n)
          end

        node = pipe([@x, %{"op" => op, field => call("t")} | last])
        assert {:ok, value, _, _} = run(node, %{"t" => flip}, context: %{"x" => list})
        assert value == if(last == [], do: expected, else: length(expected))
      end
    end

    test "with answers that are long lists, improper ones too" do
      for value <- [Enum.to_list(1..10_000), [1 | 2], Enum.to_list(1..99) ++ :tail, []] do
        node = concat([%{"op" => "literal", "value" => []}])

        get = %{
          "op" => "let",
          "name" => "v",
          "value" => call("t"),
          "in" => %{"v" => %{"op" => "var", "name" => "v"}, "n" => node}
        }

        assert {:ok, %{"v" => ^value}, _, _} = run(get, %{"t" => fn _ -> value end})
      end
    end

    test "with faults behind the call" do
      sum = pipe([call("t"), %{"op" => "sum", "field" => "n"}])
      bad = fn _ -> [%{"n" => "x"}] end
      assert run(sum, %{"t" => bad}) == error(~s(sum requires numeric values, got "x"))
      both = concat([call("t"), call("gone")])
      assert run(both, %{"t" => fn _ -> [1] end}) == error("Tool 'gone' not found")
    end
  end

  test "tools are one process for all calls, before and after the run moves" do
    row = %{"op" => "if", "condition" => call("same"), "then" => call("other"), "else" => @x}
    tools = %{"same" => fn _ -> self() end, "other" => fn _ -> self() end}
    rows = for n <- 1..600, do: %{"n" => n}

    node =
      pipe([
        @x,
        %{"op" => "map", "expr" => %{"row" => %{"op" => "var", "name" => "__input"}, "p" => row}}
      ])

    {{:ok, list, _, _}, pids} = Watch.started(fn -> run(node, tools, context: %{"x" => rows}) end)
    assert [pid] = Enum.uniq(for %{"p" => pid} <- list, do: pid)
    assert pids == [pid]
  end

  describe "a tool" do
    test "that fails, however it fails" do
      ends = [
        {fn _ -> {:error, 1} end, error("Tool 't' error: 1")},
        {fn _ -> raise "x" end, error("Tool 't' raised: x")},
        {fn _ -> throw(1) end, error("Tool 't' threw: 1")},
        {fn _ -> exit(:normal) end, error("Tool 't' exited: :normal")},
        {fn _ -> Process.exit(self(), :kill) end, {:error, {:memory_exceeded, 10_000_000}}},
        {fn _ -> hang(spawn_link(fn -> exit(:c) end)) end, error("Process terminated: :c")}
      ]

      for {fun, expected} <- ends do
        each_way("t", fn node, opts -> assert run(node, tools(fun), opts) == expected end)
      end

      assert Process.info(self(), :messages) == {:messages, []}
    end

    test "that outgrows the heap, however much has moved" do
      hog = fn _ -> Enum.to_list(1..10_000_000) end

      each_way("t", fn node, opts ->
        assert run(node, tools(hog), [max_heap: 300_000] ++ opts) ==
                 {:error, {:memory_exceeded, 2_400_000}}
      end)
    end

    test "whose answers take more than the heap limit, kept or not" do
      answer = fn _ -> Enum.to_list(1..2_000) end

      for last <- [[], [%{"op" => "count"}]] do
        node = pipe([@x, %{"op" => "map", "expr" => call("t")} | last])
        opts = [context: %{"x" => Enum.to_list(1..100)}, max_heap: 100_000]
        assert run(node, %{"t" => answer}, opts) == {:error, {:memory_exceeded, 800_000}}
      end
    end

    test "may take its share of the heap beside what has moved and what was built" do
      work = fn _ -> length(Enum.to_list(1..2_000)) end
      rows = for n <- 1..200, do: %{"n" => n, "s" => String.duplicate("x", 50)}

      body = %{
        "row" => %{"op" => "var", "name" => "__input"},
        "a" => call("t"),
        "b" => %{"op" => "literal", "value" => [1]}
      }

      node = pipe([@x, %{"op" => "map", "expr" => body}])
      opts = [context: %{"x" => rows}, max_heap: 250_000, timeout: 20_000]
      assert {:ok, list, _, _} = run(node, %{"t" => work}, opts)
      assert length(list) == 200
    end

    test "whose answer is small only as long as it is shared does not leave" do
      bomb = fn _ -> Enum.reduce(1..40, [], fn _, x -> [x, x] end) end
      list = fn _ -> List.duplicate(Enum.reduce(1..12, [1], fn _, x -> [x, x] end), 200) end
      hidden = fn _ -> Enum.to_list(1..100) ++ [bomb.(1)] end

      for fun <- [bomb, list, hidden] do
        each_way("t", fn node, opts ->
          assert {:error, {:memory_exceeded, _}} =
                   run(node, tools(fun), [max_heap: 300_000] ++ opts)
        end)
      end
    end

    test "that hangs, or comes one time too often, ends at the deadline" do
      each_way("t", fn node, opts ->
        assert run(node, tools(&hang/1), [timeout: 50] ++ opts) == {:error, {:timeout, 50}}
      end)

      nap = fn _ -> Process.sleep(5) end
      node = pipe([@x, %{"op" => "map", "expr" => call("t")}])
      opts = [context: %{"x" => Enum.to_list(1..1_000)}, timeout: 50]
      assert run(node, %{"t" => nap}, opts) == {:error, {:timeout, 50}}
      assert Process.info(self(), :messages) == {:messages, []}
    end

    test "leaves native work behind the call under the deadline" do
      long = for _ <- 1..1_000, do: %{"op" => "sort_by", "field" => "n"}
      rows = fn _ -> for n <- 1..50_000, do: %{"n" => rem(n * 7_919, 50_021)} end
      node = pipe([call("t") | long])
      opts = [timeout: 100, max_heap: 0]
      assert run(node, %{"t" => rows}, opts) == {:error, {:timeout, 100}}
    end

    test "knows its callers and the Logger's metadata, and no ancestors" do
      Logger.metadata(request: 7)
      me = self()
      tell = fn _ -> [Process.get(:"$callers"), Process.get(:"$ancestors"), Logger.metadata()] end

      each_way("t", fn node, opts ->
        assert {:ok, [[^me], nil, [request: 7] | _], _, _} = run(node, tools(tell), opts)
      end)
    after
      Logger.reset_metadata()
    end

    test "takes those that it is linked to along, and is just killed for those that watch" do
      me = self()

      start = fn _ ->
        pid = spawn_link(fn -> hang(1) end)
        send(me, {:linked, pid})
        [%{"n" => 1}]
      end

      watched = fn _ ->
        worker = self()

        spawn(fn ->
          monitor = Process.monitor(worker)
          send(worker, :watching)
          receive do: ({:DOWN, ^monitor, _, _, reason} -> send(me, {:reason, reason}))
        end)

        receive do: (:watching -> [1])
      end

      each_way("t", fn node, opts ->
        assert {:ok, _, _, _} = run(node, tools(start), opts)
        assert_receive {:linked, pid}
        assert Watch.survivors([pid]) == []
        assert {:ok, _, _, _} = run(node, tools(watched), opts)
        assert_receive {:reason, :killed}
      end)
    end
  end

  describe "the death of the caller" do
    test "ends a tool that hangs" do
      me = self()

      tell = fn _ ->
        send(me, {:tool, self()})
        hang(1)
      end

      each_way("t", fn node, opts ->
        for reason <- [:kill, :shutdown] do
          caller = spawn(fn -> run(node, tools(tell), [timeout: :infinity] ++ opts) end)
          assert_receive {:tool, pid}
          Process.exit(caller, reason)
          assert Watch.survivors([caller, pid]) == []
        end
      end)
    end

    test "ends it also where the reaper was killed before" do
      me = self()

      tell = fn _ ->
        send(me, {:tool, self()})
        hang(1)
      end

      caller = spawn(fn -> run(call("t"), tools(tell), timeout: :infinity) end)
      assert_receive {:tool, pid}
      Process.exit(Process.whereis(Reaper), :kill)
      Process.exit(caller, :kill)
      assert Watch.survivors([caller, pid]) == []
    end

    test "is noticed by a reaper that strangers have sent requests to" do
      reaper = Process.whereis(Reaper)
      for _ <- 1..10, do: GenServer.cast(Reaper, :stranger)
      catch_exit(GenServer.call(Reaper, :stranger, 10))
      send(Reaper, :stranger)
      # It answers after it has received the others.
      :sys.get_state(Reaper)
      assert Process.whereis(Reaper) == reaper
    end

    test "of a thousand of them, at any moment, leaves no process behind" do
      nap = fn args -> Process.sleep(Map.get(args, "ms", 0)) && [1] end
      node = concat([call("t"), call("t", %{"ms" => 5}), call("t", %{"ms" => 50})])

      {_, pids} =
        Watch.started(fn ->
          callers =
            for n <- 1..1_000 do
              caller = spawn(fn -> run(node, %{"t" => nap}, timeout: 60_000) end)
              for _ <- 1..rem(n, 7)//1, do: :erlang.yield()
              if rem(n, 2) == 0, do: Process.exit(caller, :kill)
              caller
            end

          assert Watch.survivors(callers) == []
        end)

      assert length(pids) > 1_000
      assert Watch.survivors(pids) == []
    end
  end

  test "a thousand runs at once, one process each" do
    node = pipe([@x, %{"op" => "map", "expr" => call("t")}])

    one = fn n ->
      run(node, %{"t" => fn _ -> n end}, context: %{"x" => [1, 2, 3]}, timeout: 60_000)
    end

    {results, pids} =
      Watch.started(fn ->
        1..1_000 |> Enum.map(&Task.async(fn -> one.(&1) end)) |> Task.await_many(60_000)
      end)

    assert results == for(n <- 1..1_000, do: {:ok, [n, n, n], %{}, %{}})
    assert length(pids) == 2_000
    assert Watch.survivors(pids) == []
  end
end
