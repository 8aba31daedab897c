defmodule PtcRunner.Json.ToolConcurrencyTest do
  use ExUnit.Case, async: true

  doctest PtcRunner.Json.Run.Rounds.Loop

  alias PtcRunner.Json
  alias PtcRunner.Test.Watch

  @x %{"op" => "load", "name" => "x"}
  @item %{"op" => "var", "name" => "__input"}

  defp run(node, tools, list, opts \\ []) do
    opts = [tools: tools, context: %{"x" => list}, tool_concurrency: 4] ++ opts
    Json.run(%{"program" => node}, opts)
  end

  defp call(name), do: %{"op" => "call", "tool" => name}
  defp pipe(steps), do: %{"op" => "pipe", "steps" => [@x | steps]}
  defp map(expr), do: pipe([%{"op" => "map", "expr" => expr}])

  # The tool that is called for an item, by the item's field.
  defp by_item(names) do
    Enum.reduce(names, %{"op" => "literal", "value" => nil}, fn name, otherwise ->
      is = %{"op" => "eq", "field" => "t", "value" => name}
      %{"op" => "if", "condition" => is, "then" => call(name), "else" => otherwise}
    end)
  end

  defp items(names), do: for(name <- names, do: %{"t" => name})
  defp hang(_args), do: Process.sleep(:infinity)

  test "four tools run at the same time" do
    parent = self()

    # Each waits until all four are there: one after the other they would wait until the deadline.
    barrier =
      spawn_link(fn ->
        tools =
          for _ <- 1..4 do
            receive do
              {:here, tool} -> tool
            end
          end

        for tool <- tools, do: send(tool, :all_are_here)
        send(parent, {:met, length(Enum.uniq(tools))})
      end)

    meet = fn _args ->
      send(barrier, {:here, self()})

      receive do
        :all_are_here -> 1
      end
    end

    result = run(map(call("meet")), %{"meet" => meet}, [1, 2, 3, 4], timeout: 60_000)
    assert result == {:ok, [1, 1, 1, 1], %{}, %{}}
    assert_received {:met, 4}
  end

  test "no more than so many run at a time, in so many processes" do
    running = :atomics.new(2, [])

    # The first calls wait for one another: four run at the same time.
    nap = fn _ ->
      now = :atomics.add_get(running, 1, 1)
      if now > :atomics.get(running, 2), do: :atomics.put(running, 2, now)
      wait(fn -> :atomics.get(running, 2) >= 4 end)
      :atomics.sub(running, 1, 1)
      self()
    end

    opts = [timeout: 60_000]

    {{:ok, pids, _, _}, started} =
      Watch.started(fn -> run(map(call("nap")), %{"nap" => nap}, Enum.to_list(1..50), opts) end)

    assert {:atomics.get(running, 1), :atomics.get(running, 2)} == {0, 4}
    assert length(Enum.uniq(pids)) == 4
    assert length(started) == 4
    assert Watch.survivors(started) == []
  end

  defp wait(done?), do: done?.() || (Process.sleep(1) && wait(done?))

  test "results stand in the order of the list, in each loop, as text, as a map and compiled" do
    {:ok, agent} = Agent.start_link(fn -> 0 end)

    nap = fn _ ->
      Process.sleep(Agent.get_and_update(agent, &{rem(&1 * 7, 5), &1 + 1})) && true
    end

    list = Enum.to_list(1..40)
    tools = %{"t" => nap, "no" => fn _ -> nil end}
    expr = %{"v" => @item, "a" => call("t"), "b" => call("t")}

    for program <- [%{"program" => map(expr)}, text(map(expr)), compiled(map(expr))] do
      opts = [tools: tools, context: %{"x" => list}, tool_concurrency: 5]
      assert {:ok, result, _, _} = Json.run(program, opts)
      assert result == for(n <- list, do: %{"v" => n, "a" => true, "b" => true})
    end

    even = %{
      "op" => "if",
      "condition" => %{"op" => "gt", "value" => 20},
      "then" => call("t"),
      "else" => call("no")
    }

    assert {:ok, kept, _, _} = run(pipe([%{"op" => "filter", "where" => even}]), tools, list)
    assert kept == Enum.to_list(21..40)
    assert {:ok, kept, _, _} = run(pipe([%{"op" => "reject", "where" => even}]), tools, list)
    assert kept == Enum.to_list(1..20)

    assert {:ok, 20, _, _} =
             run(pipe([%{"op" => "filter", "where" => even}, %{"op" => "count"}]), tools, list)

    assert {:ok, [], _, _} = run(map(call("t")), tools, [])
    inner = %{"op" => "map", "expr" => call("t")}
    assert {:ok, [[true], [true, true]], _, _} = run(map(inner), tools, [[1], [1, 2]])

    assert {:ok, [true, nil], _, _} =
             run(%{"op" => "concat", "lists" => [map(call("t")), map(call("no"))]}, tools, [1])
  end

  defp text(node), do: node |> PtcRunner.Json.Codec.encode!() |> then(&~s({"program": #{&1}}))
  defp compiled(node), do: %{"program" => node} |> Json.compile() |> elem(1)

  test "the first error in the order of the list wins, and later calls are stopped" do
    me = self()
    late = fn _ -> Process.sleep(30) && raise "late" end

    tell = fn _ ->
      send(me, {:tool, self()})
      hang(1)
    end

    tools = %{
      "late" => late,
      "early" => fn _ -> {:error, 1} end,
      "hang" => tell,
      "ok" => fn _ -> 1 end
    }

    names = Map.keys(tools)
    list = items(["ok", "late", "early", "hang", "ok"])

    assert run(map(by_item(names)), tools, list) ==
             {:error, {:execution_error, "Tool 'late' raised: late"}}

    list = items(["early", "late", "hang"])

    assert run(map(by_item(names)), tools, list) ==
             {:error, {:execution_error, "Tool 'early' error: 1"}}

    receive do
      {:tool, pid} -> assert Watch.survivors([pid]) == []
    after
      0 -> :ok
    end

    assert {:error, {:execution_error, "Tool 'gone' not found"}} =
             run(map(call("gone")), tools, [1, 2])

    flush()
    assert Process.info(self(), :messages) == {:messages, []}
  end

  defp flush do
    receive do
      {:tool, _} -> flush()
    after
      50 -> :ok
    end
  end

  test "a list that is none, and a fault in a body, are the errors they are without" do
    tools = %{"t" => fn _ -> "x" end}

    for {node, list} <- [
          {map(call("t")), [1 | 2]},
          {map(call("t")), 5},
          {map(%{"op" => "add", "left" => call("t"), "right" => 1}), [1, 2]}
        ] do
      assert {:error, _} = result = run(node, tools, list)
      assert result == Json.run(%{"program" => node}, tools: tools, context: %{"x" => list})
    end
  end

  test "the deadline, a death of the tool or of the caller ends all of them" do
    me = self()

    tell = fn _ ->
      send(me, {:tool, self()})
      hang(1)
    end

    node = map(call("t"))
    assert run(node, %{"t" => &hang/1}, [1, 2, 3], timeout: 40) == {:error, {:timeout, 40}}
    die = fn _ -> Process.exit(self(), :kill) end
    assert {:error, {:memory_exceeded, 10_000_000}} = run(node, %{"t" => die}, [1, 2, 3])
    caller = spawn(fn -> run(node, %{"t" => tell}, [1, 2, 3], timeout: :infinity) end)
    pids = for _ <- 1..3, do: assert_receive({:tool, _}) |> elem(1)
    Process.exit(caller, :kill)
    assert Watch.survivors([caller | pids]) == []
  end

  test "the heap limit is one for all" do
    hog = fn _ -> length(Enum.to_list(1..60_000)) end
    rows = fn _ -> Enum.to_list(1..3_000) end
    list = Enum.to_list(1..40)
    assert {:ok, _, _, _} = run(map(call("t")), %{"t" => hog}, list, max_heap: 8_000_000)
    small = {:error, {:memory_exceeded, 3_200_000}}
    assert run(map(call("t")), %{"t" => hog}, list, max_heap: 400_000) == small
    kept = {:error, {:memory_exceeded, 1_600_000}}
    assert run(map(call("t")), %{"t" => rows}, list, max_heap: 200_000) == kept
  end

  test "answers are found without a search of the caller's other messages" do
    search = fn ->
      for n <- 1..100_000, do: send(self(), {make_ref(), n, make_ref()})
      {:reductions, before} = Process.info(self(), :reductions)

      {:ok, list, _, _} =
        run(map(call("t")), %{"t" => & &1}, Enum.to_list(1..200), timeout: 60_000)

      {:reductions, now} = Process.info(self(), :reductions)
      {length(list), Process.info(self(), :message_queue_len), now - before}
    end

    assert {200, {:message_queue_len, 100_000}, reductions} =
             search |> Task.async() |> Task.await(60_000)

    # A message that is looked at takes a reduction: a search for each answer would take 20 million.
    assert reductions < 2_000_000
  end

  test "must be a number of processes" do
    for wrong <- [0, -1, 1.5, nil, :many, 1_025] do
      assert_raise ArgumentError, fn -> Json.run("{}", tool_concurrency: wrong) end
    end
  end
end
