defmodule PtcRunner.Json.BatchTest do
  use ExUnit.Case, async: true

  # Tools that take several calls at once.

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Json.Paused

  doctest PtcRunner.Json.Batch
  doctest PtcRunner.Json.Run.Rounds.Gathered
  doctest PtcRunner.Json.Run.Rounds.Loop

  @it %{"op" => "it"}

  # A tool that takes lists and tells the test of each.
  defp batch(fun, options \\ []) do
    test = self()

    function = fn list ->
      send(test, {:list, Enum.map(list, & &1["n"])})
      Enum.map(list, &fun.(&1["n"]))
    end

    {function, Keyword.merge([effect: :read, batch: 10], options)}
  end

  defp alone(fun, options \\ []) do
    test = self()

    function = fn %{"n" => n} ->
      send(test, {:one, n})
      fun.(n)
    end

    {function, Keyword.merge([effect: :read], options)}
  end

  defp call(tool, n \\ @it), do: %{"op" => "call", "tool" => tool, "args" => %{"n" => n}}

  defp caught(tool, instead), do: Map.put(call(tool), "on_error", instead)

  defp map(body),
    do: %{
      "op" => "pipe",
      "steps" => [%{"op" => "load", "name" => "items"}, %{"op" => "map", "expr" => body}]
    }

  defp program(node), do: Json.Codec.encode!(%{"program" => node})

  defp run(node, items, tools, opts \\ []),
    do: Json.run(program(node), [context: %{"items" => items}, tools: tools] ++ opts)

  defp lists(found \\ []) do
    receive do
      {:list, list} -> lists([list | found])
    after
      0 -> Enum.reverse(found)
    end
  end

  defp ones(found \\ []) do
    receive do
      {:one, n} -> ones([n | found])
    after
      0 -> Enum.reverse(found)
    end
  end

  test "only loops with calls of tools that take lists go in rounds" do
    :erlang.trace_pattern({PtcRunner.Json.Run.Rounds, :run, 2}, true, [:global])
    :erlang.trace_pattern({PtcRunner.Json.Run.Rounds, :controlled, 3}, true, [:global])
    items = [1, 2, 3]

    for {tool, on_call} <- [
          {"one", nil},
          {"many", nil},
          {"one", fn _ -> :run end},
          {"many", fn _ -> :run end}
        ] do
      tools = %{"one" => & &1["n"], "many" => {&Enum.map(&1, fn %{"n" => n} -> n end), batch: 10}}
      opts = [context: %{"items" => items}, tools: tools, on_call: on_call]

      task =
        Task.async(fn ->
          receive do: (:go -> Json.run(program(map(call(tool))), opts))
        end)

      :erlang.trace(task.pid, true, [:call])
      send(task.pid, :go)
      assert {:ok, ^items, _, _} = Task.await(task, 60_000)
      delivered = :erlang.trace_delivered(task.pid)
      assert_receive {:trace_delivered, _pid, ^delivered}
      assert rounds(task.pid) == if(tool == "many", do: 1, else: 0)
    end
  end

  defp rounds(pid) do
    receive do
      {:trace, ^pid, :call, _function} -> 1 + rounds(pid)
    after
      0 -> 0
    end
  end

  test "the calls of a loop go to their tool together, in their order, at most so many at once" do
    assert {:ok, value, _, _} =
             run(map(call("double")), Enum.to_list(1..25), %{"double" => batch(&(&1 * 2))})

    assert value == Enum.map(1..25, &(&1 * 2))
    assert lists() == [Enum.to_list(1..10), Enum.to_list(11..20), Enum.to_list(21..25)]
  end

  test "in set, each, filter and parts of an object" do
    tools = %{"double" => batch(&(&1 * 2)), "odd" => batch(&(rem(&1, 2) == 1))}
    rows = for n <- 1..3, do: %{"n" => n}
    n = %{"op" => "get", "field" => "n"}
    load = %{"op" => "load", "name" => "items"}

    set = %{
      "op" => "pipe",
      "steps" => [load, %{"op" => "set", "fields" => %{"m" => call("double", n)}}]
    }

    assert {:ok, [%{"n" => 1, "m" => 2}, _, %{"m" => 6}], _, _} = run(set, rows, tools)
    assert lists() == [[1, 2, 3]]

    filter = %{"op" => "pipe", "steps" => [load, %{"op" => "filter", "where" => call("odd", n)}]}
    assert {:ok, [%{"n" => 1}, %{"n" => 3}], _, _} = run(filter, rows, tools)
    assert lists() == [[1, 2, 3]]

    object = %{
      "op" => "object",
      "fields" => %{"a" => call("double", 1), "b" => call("double", 2)}
    }

    assert {:ok, %{"a" => 2, "b" => 4}, _, _} = run(object, rows, tools)
    assert [list] = lists()
    assert Enum.sort(list) == [1, 2]
  end

  test "a call outside of a loop is a list of one" do
    assert {:ok, 14, _, _} = run(call("double", 7), [], %{"double" => batch(&(&1 * 2))})
    assert lists() == [[7]]
  end

  test "two such tools in one body are called one after the other, for all rounds" do
    tools = %{"double" => batch(&(&1 * 2)), "next" => batch(&(&1 + 1))}
    body = call("next", call("double"))
    assert {:ok, [3, 5, 7, 9], _, _} = run(map(body), [1, 2, 3, 4], tools)
    assert lists() == [[1, 2, 3, 4], [2, 4, 6, 8]]
  end

  test "the error of one call is that call's" do
    tools = %{"find" => batch(fn n -> if n == 2, do: {:error, "none"}, else: n end)}

    assert {:error, {:execution_error, text}} = run(map(call("find")), [1, 2, 3], tools)
    assert text =~ "Tool 'find' error"
    caught = caught("find", nil)
    assert {:ok, [1, nil, 3], _, _} = run(map(caught), [1, 2, 3], tools)
  end

  test "an answer of another length or shape is an error of each call that says so" do
    for {answer, got} <- [
          {[1], "a list of 1 item"},
          {[1, 2, 3], "a list of 3 items"},
          {:none, ":none"},
          {[1 | 2], "[1 | 2]"},
          {%{"a" => 1}, ~s(%{"a" => 1})}
        ] do
      tools = %{"find" => {fn _list -> answer end, batch: 10}}
      assert {:error, {:execution_error, text}} = run(map(call("find")), [1, 2], tools)

      assert text =~
               "it was given 2 calls, and must answer a list of 2 answers in their order, got: " <>
                 got
    end
  end

  test "a tool that raises, or answers one error for all, is the error of each" do
    else_ = &caught(&1, "failed")

    tools = %{
      "boom" => {fn _ -> raise "boom" end, batch: 5},
      "down" => {fn _ -> {:error, "down"} end, batch: 5}
    }

    assert {:ok, ["failed", "failed"], _, _} = run(map(else_.("boom")), [1, 2], tools)
    assert {:ok, ["failed", "failed"], _, _} = run(map(else_.("down")), [1, 2], tools)
    assert {:error, {_, text}} = run(map(call("boom")), [1, 2], tools)
    assert text =~ "raised"
  end

  test "equal arguments go once with cache: true" do
    tools = %{"double" => batch(&(&1 * 2), cache: true)}
    assert {:ok, [2, 4, 2, 4, 6], _, _} = run(map(call("double")), [1, 2, 1, 2, 3], tools)
    assert lists() == [[1, 2, 3]]
  end

  test "budgets count single calls" do
    tools = %{"double" => batch(&(&1 * 2), max_calls: 3)}
    assert {:error, {:execution_error, text}} = run(map(call("double")), [1, 2, 3, 4], tools)
    assert text =~ "no more than 3 calls are allowed"
    assert lists() == [[1, 2, 3]]

    assert {:error, {_, text}} =
             run(map(call("double")), [1, 2, 3], %{"double" => batch(& &1)}, max_tool_calls: 2)

    assert text =~ "no more than 2 calls"
  end

  test "other tools that write are called in the order of the rounds, each where all rounds before have ended" do
    for tools <- [
          %{"find" => batch(& &1), "pay" => alone(& &1, effect: :write)},
          %{"find" => alone(& &1), "pay" => alone(& &1, effect: :write)}
        ] do
      assert {:ok, _, _, _} = run(map(call("pay", call("find"))), [3, 1, 2], tools)
      assert (ones() -- [3, 1, 2]) in [[], [3, 1, 2]]
      lists()
      failing = fn n -> if n == 1, do: {:error, "no"}, else: n end
      {_fun, options} = tools["find"]
      find = if options[:batch], do: batch(failing), else: alone(failing)

      assert {:error, _} =
               run(map(call("pay", call("find"))), [3, 1, 2], %{tools | "find" => find})

      # The payment of the round before the one that failed was made, and no other.
      assert Enum.filter(ones(), &(&1 == 3)) |> Enum.uniq() == [3]
    end
  end

  test "decisions and the journal see single calls, and the journal is replayed" do
    test = self()
    tools = %{"double" => batch(&(&1 * 2))}

    hook = fn call ->
      send(test, {:asked, call.args})
      if call.args["n"] == 2, do: {:answer, 100}, else: :run
    end

    assert {:ok, [2, 100, 6], _, _} = run(map(call("double")), [1, 2, 3], tools, on_call: hook)
    assert lists() == [[1, 3]]
    for n <- 1..3, do: assert_received({:asked, %{"n" => ^n}})

    {result, journal} =
      Json.record(program(map(call("double"))), context: %{"items" => [1, 2, 3]}, tools: tools)

    assert {:ok, [2, 4, 6], _, _} = result

    assert result ==
             Json.replay(program(map(call("double"))), journal, context: %{"items" => [1, 2, 3]})
  end

  test "a call that waits is left out of the list, and the run goes on" do
    tools = %{"double" => batch(&(&1 * 2))}
    opts = [on_call: fn call -> if call.args["n"] == 2, do: :pause, else: :run end]
    assert {:paused, paused} = run(map(call("double")), [1, 2, 3], tools, opts)
    assert lists() == [[1, 3]]
    assert [%{args: %{"n" => 2}}] = paused.calls
    {:ok, paused} = paused |> Paused.to_map() |> Paused.from_map()

    assert {:ok, [2, 4, 6], _, _} =
             Json.resume(
               paused,
               :approve,
               [context: %{"items" => [1, 2, 3]}, tools: tools] ++ opts
             )

    assert lists() == [[2]]
  end

  describe "decisions about several calls that wait" do
    setup do
      tools = %{"pay" => {fn %{"n" => n} -> n end, approve: true}}
      opts = [context: %{"items" => [1, 2, 3]}, tools: tools]
      {:paused, paused} = Json.run(program(map(call("pay"))), [tool_concurrency: 3] ++ opts)
      assert [1, 2, 3] == for(call <- paused.calls, do: call.args["n"])
      %{paused: paused, opts: opts}
    end

    test "one for all, one for each in their order, or what a function says", %{
      paused: paused,
      opts: opts
    } do
      assert {:ok, [1, 2, 3], _, _} = Json.resume(paused, :approve, opts)

      assert {:ok, [1, 20, 3], _, _} =
               Json.resume(paused, [:approve, {:answer, 20}, {:run, %{"n" => 3}}], opts)

      decide = fn call -> if call.args["n"] == 2, do: {:answer, "no"}, else: :approve end
      assert {:ok, [1, "no", 3], _, _} = Json.resume(paused, decide, opts)
      [a, b, c] = for call <- paused.calls, do: call.id

      assert {:ok, [1, 9, 3], _, _} =
               Json.resume(paused, [{a, :approve}, {b, {:answer, 9}}, {c, :approve}], opts)
    end

    test "a function may leave a call waiting", %{paused: paused, opts: opts} do
      assert {:paused, again} =
               Json.resume(paused, &if(&1.args["n"] == 2, do: :pause, else: :approve), opts)

      assert [%{args: %{"n" => 2}}] = again.calls
      assert {:ok, [1, 2, 3], _, _} = Json.resume(again, [:approve], opts)
    end

    test "a list of another length is an error", %{paused: paused, opts: opts} do
      assert_raise ArgumentError, ~r/3 calls wait, got: 2 decisions/, fn ->
        Json.resume(paused, [:approve, :approve], opts)
      end

      assert_raise ArgumentError, ~r/a decision must be/, fn ->
        Json.resume(paused, [:approve, :approve, :perhaps], opts)
      end

      assert_raise ArgumentError, ~r/a decision must be/, fn ->
        Json.resume(paused, fn _call -> :run end, opts)
      end
    end
  end

  describe "calls of a loop that wait for a person, without tool_concurrency" do
    test "wait together, and run in their order" do
      tools = %{"pay" => alone(& &1, effect: :write, approve: true)}
      opts = [context: %{"items" => Enum.to_list(1..50)}, tools: tools]
      assert {:paused, paused} = Json.run(program(map(call("pay"))), opts)
      assert Enum.to_list(1..50) == for(call <- paused.calls, do: call.args["n"])

      assert Enum.all?(
               paused.calls,
               &(&1.path == hd(paused.calls).path and &1.text =~ "pay with")
             )

      assert byte_size(inspect(paused)) < 2_000

      {:ok, paused} =
        paused
        |> Paused.to_map()
        |> Json.Codec.encode!()
        |> Json.Codec.decode!()
        |> Paused.from_map()

      assert {:ok, value, _, _} = Json.resume(paused, :approve, opts)
      assert value == Enum.to_list(1..50)
      assert ones() == value
      even = &if(rem(&1.args["n"], 2) == 0, do: :approve, else: :pause)
      assert {:paused, again} = Json.resume(paused, even, opts)
      assert length(again.calls) == 25
      assert {:ok, ^value, _, _} = Json.resume(again, :approve, opts)
      assert Enum.sort(ones()) == value
    end

    test "what they need is looked up before, and others that write are not called beyond one that waits" do
      look = alone(&(&1 * 10))
      tools = %{"find" => look, "pay" => alone(& &1, effect: :write, approve: true)}
      opts = [context: %{"items" => [1, 2, 3]}, tools: tools]
      assert {:paused, paused} = Json.run(program(map(call("pay", call("find")))), opts)
      assert [10, 20, 30] == for(call <- paused.calls, do: call.args["n"])
      assert ones() == [1, 2, 3]
      assert {:ok, [10, 20, 30], _, _} = Json.resume(paused, :approve, opts)
      assert ones() == [10, 20, 30]

      writes = %{tools | "find" => alone(&(&1 * 10), effect: :write)}
      opts = [context: %{"items" => [1, 2, 3]}, tools: writes]
      assert {:paused, paused} = Json.run(program(map(call("pay", call("find")))), opts)
      assert [10] == for(call <- paused.calls, do: call.args["n"])
      assert ones() == [1]
    end

    test "one that is refused ends the run, and no later one is made" do
      tools = %{"pay" => alone(& &1, effect: :write, approve: true)}
      opts = [context: %{"items" => [1, 2, 3]}, tools: tools]
      assert {:paused, paused} = Json.run(program(map(call("pay"))), opts)

      assert {:error, {:execution_error, text}} =
               Json.resume(paused, [:approve, {:deny, "no"}, :approve], opts)

      assert text =~ "was refused: no"
      assert ones() == [1]
    end

    test "those that a hook lets wait, and no other one is made before them" do
      test = self()
      tools = %{"pay" => alone(& &1, effect: :write)}

      hook = fn call ->
        send(test, {:asked, call.args["n"]})
        if rem(call.args["n"], 2) == 0, do: :pause, else: :run
      end

      items = [1, 2, 3, 4, 5]
      opts = [context: %{"items" => items}, tools: tools, on_call: hook]
      assert {:paused, paused} = Json.run(program(map(call("pay"))), opts)
      assert [2, 4] == for(call <- paused.calls, do: call.args["n"])
      assert ones() == [1]
      for n <- items, do: assert_received({:asked, ^n})

      # What would have run is asked about again.
      assert {:ok, ^items, _, _} = Json.resume(paused, :approve, opts)
      assert ones() == [2, 3, 4, 5]
      for n <- [3, 5], do: assert_received({:asked, ^n})
      refute_received {:asked, _}

      # One that is left waits again, with those behind it that write.
      leaves = &if(&1.args["n"] == 2, do: :pause, else: :approve)
      assert {:paused, again} = Json.resume(paused, leaves, opts)
      assert [2] == for(call <- again.calls, do: call.args["n"])
      assert ones() == [4]
      assert {:ok, ^items, _, _} = Json.resume(again, :approve, opts)
      assert ones() == [2, 3, 5]
    end

    test "where calls overlap, a hook lets others run" do
      tools = %{"pay" => alone(& &1, effect: :write)}
      hook = fn call -> if call.args["n"] == 2, do: :pause, else: :run end
      opts = [context: %{"items" => [1, 2, 3]}, tools: tools, on_call: hook, tool_concurrency: 2]
      assert {:paused, paused} = Json.run(program(map(call("pay"))), opts)
      assert Enum.sort(ones()) == [1, 3]
      assert {:ok, [1, 2, 3], _, _} = Json.resume(paused, :approve, opts)
      assert ones() == [2]
    end

    test "in set, in parts of an object and of a list, in each, filter and arguments" do
      tools = %{
        "pay" => alone(& &1, effect: :write, approve: true),
        "all" => {& &1, effect: :read}
      }

      field = %{"op" => "get", "field" => "n"}
      rows = %{"op" => "load", "name" => "rows"}
      items = %{"op" => "load", "name" => "items"}
      pair = %{"a" => call("pay", 1), "b" => call("pay", 2)}

      for {node, expected} <- [
            {pair, [1, 2]},
            {%{
               "op" => "pipe",
               "steps" => [
                 rows,
                 %{
                   "op" => "group_by",
                   "field" => "n",
                   "each" => %{"m" => call("pay", %{"op" => "sum", "field" => "n"})}
                 }
               ]
             }, [1, 2]},
            {%{"op" => "object", "fields" => pair}, [1, 2]},
            {%{"op" => "list", "items" => [call("pay", 1), call("pay", 2)]}, [1, 2]},
            {%{"op" => "call", "tool" => "all", "args" => pair}, [1, 2]},
            {%{"op" => "pipe", "steps" => [items, %{"op" => "filter", "where" => call("pay")}]},
             [1, 2]},
            {%{
               "op" => "pipe",
               "steps" => [rows, %{"op" => "set", "fields" => %{"m" => call("pay", field)}}]
             }, [1, 2]},
            {%{
               "op" => "pipe",
               "steps" => [
                 rows,
                 %{"op" => "map", "expr" => %{"id" => field, "m" => call("pay", field)}}
               ]
             }, [1, 2]}
          ],
          hook <- [nil, fn call -> if call.tool == "pay", do: :pause, else: :run end] do
        context = %{"items" => [1, 2], "rows" => [%{"n" => 1}, %{"n" => 2}]}
        opts = [context: context, tools: tools, on_call: hook]
        assert {:paused, paused} = Json.run(program(node), opts)
        assert for(call <- paused.calls, do: call.args["n"]) == expected
        assert ones() == []
        assert {:ok, _value, _, _} = Json.resume(paused, :approve, opts)
        assert ones() == expected
      end
    end

    test "in several loops of one object, and in a loop of a loop" do
      it = %{"op" => "it"}
      items = %{"op" => "load", "name" => "items"}
      map = fn expr -> %{"op" => "pipe", "steps" => [items, %{"op" => "map", "expr" => expr}]} end
      pay = map.(call("pay", it))

      tools = %{
        "pay" => alone(& &1, effect: :write, approve: true),
        "all" => {& &1, effect: :read}
      }

      # The second call of an item needs the answer of the first one, and that of the next item does not.
      twice = map.(call("pay", call("pay", it)))
      # A tool that reads is called where another call waits.
      mixed =
        map.(%{
          "op" => "if",
          "condition" => %{"op" => "eq", "value" => 2},
          "then" => call("all", it),
          "else" => call("pay", it)
        })

      for {node, pauses} <- [
            {%{"a" => pay, "b" => pay}, [[1, 2, 3, 1, 2, 3]]},
            {%{"op" => "list", "items" => [pay, call("pay", 7), pay]}, [[1, 2, 3, 7, 1, 2, 3]]},
            {%{"op" => "call", "tool" => "all", "args" => %{"a" => pay, "b" => pay}},
             [[1, 2, 3, 1, 2, 3]]},
            {map.(pay), [[1, 2, 3, 1, 2, 3, 1, 2, 3]]},
            {map.(%{"all" => pay, "x" => it}), [[1, 2, 3, 1, 2, 3, 1, 2, 3]]},
            {map.(twice), [[1, 1, 1], [1, 2, 1, 2, 1, 2], [2, 3, 2, 3, 2, 3], [3, 3, 3]]},
            {map.(mixed), [[1, 3, 1, 3, 1, 3]]},
            # The parts of one object do not need each other's answers, whatever else stands between them.
            {map.(%{"a" => call("pay", it), "b" => call("pay", 7), "c" => %{"d" => it}}),
             [[1, 7, 2, 7, 3, 7]]}
          ],
          # A program with a tool that takes lists has its rounds from the beginning.
          more <- [%{}, %{"find" => {& &1, batch: 10}}],
          concurrency <- [1, 3] do
        context = %{"items" => [1, 2, 3]}
        opts = [context: context, tools: Map.merge(tools, more), tool_concurrency: concurrency]
        free = Map.new(opts[:tools], fn {name, form} -> {name, free(form)} end)
        expected = Json.run(program(node), Keyword.put(opts, :tools, free))
        ones()
        assert {waited, ^expected} = program(node) |> Json.run(opts) |> all_paused(opts, [])
        assert {node, waited} == {node, pauses}
        # Each was called once.
        assert Enum.sort(ones()) == pauses |> Enum.concat() |> Enum.sort()
      end
    end

    defp free({fun, options}), do: {fun, Keyword.delete(options, :approve)}

    # What waited in each pause, and the result, where each pause is stored.
    defp all_paused({:paused, paused}, opts, before) do
      {:ok, paused} =
        paused
        |> Json.Paused.to_map()
        |> Json.Codec.encode!()
        |> Json.Codec.decode!()
        |> Json.Paused.from_map()

      waited = for call <- paused.calls, do: call.args["n"]
      paused |> Json.resume(:approve, opts) |> all_paused(opts, [waited | before])
    end

    defp all_paused(result, _opts, before), do: {Enum.reverse(before), result}

    test "of one round: what reads is called, and what writes comes behind those that wait" do
      it = %{"op" => "it"}
      items = %{"op" => "load", "name" => "items"}
      get = &%{"op" => "get", "field" => &1}

      node = fn parts ->
        %{"op" => "pipe", "steps" => [items, %{"op" => "map", "expr" => parts}]}
      end

      need = %{"op" => "pipe", "steps" => [call("find", it), call("pay", get.("n"))]}
      me = self()
      tell = fn name -> fn args -> send(me, {name, args["n"]}) && args end end
      hook = fn call -> if call.tool == "pay", do: :pause, else: :run end

      for {parts, waits, made} <- [
            {%{"a" => call("pay", it), "b" => call("find", it), "c" => call("pay", 7)},
             [1, 7, 2, 7], [find: 1, find: 2]},
            {%{"a" => call("pay", it), "b" => call("log", it), "c" => call("pay", 7)}, [1, 2],
             []},
            # The answer of the tool that reads is known, and that of the one that waits is not.
            {%{"a" => call("pay", 5), "b" => need}, [5, 1, 5, 2], [find: 1, find: 2]},
            # Calls of a round are made in their order, and the second one needs the answer of the first one.
            {%{"a" => call("find", call("pay", it)), "b" => call("pay", 7)}, [1, 2], []},
            # What is made of the answer is not known.
            {%{
               "op" => "list",
               "items" => [
                 %{"op" => "pipe", "steps" => [call("pay", it), get.("n")]},
                 call("pay", 7)
               ]
             }, [1, 2], []}
          ],
          on_call <- [nil, hook],
          more <- [%{}, %{"other" => {& &1, batch: 10}}],
          concurrency <- [1, 3] do
        approve = on_call == nil
        pay = {tell.(:pay), effect: :write, approve: approve}
        find = {tell.(:find), effect: :read}
        tools = Map.merge(%{"pay" => pay, "find" => find, "log" => tell.(:log)}, more)

        opts =
          [context: %{"items" => [1, 2]}, tools: tools, on_call: on_call] ++
            [tool_concurrency: concurrency]

        free = Map.put(tools, "pay", {tell.(:pay), effect: :write})
        expected = Json.run(program(node.(parts)), [tools: free, on_call: nil] ++ opts)
        all = made()

        assert {:paused, paused} = Json.run(program(node.(parts)), opts)
        told = {parts, opts}
        before = made()
        assert {told, for(call <- paused.calls, do: call.args["n"])} == {told, waits}
        assert {told, Enum.sort(before)} == {told, made}
        assert {told, until_done({:paused, paused}, opts)} == {told, expected}
        # Each was called once.
        assert {told, Enum.sort(before ++ made())} == {told, Enum.sort(all)}
      end
    end

    defp until_done({:paused, paused}, opts),
      do: paused |> Json.resume(:approve, opts) |> until_done(opts)

    defp until_done(result, _opts), do: result

    defp made do
      receive do
        {name, n} when name in [:pay, :find, :log] -> [{name, n} | made()]
      after
        0 -> []
      end
    end

    test "in a loop of a loop within a budget, and each with its own decision" do
      items = %{"op" => "load", "name" => "items"}
      map = fn expr -> %{"op" => "pipe", "steps" => [items, %{"op" => "map", "expr" => expr}]} end
      node = map.(map.(call("pay", %{"op" => "it"})))
      tools = %{"pay" => alone(& &1, approve: true)}
      opts = [context: %{"items" => [1, 2]}, tools: tools]

      assert {:paused, %{calls: [_, _, _]} = paused} =
               Json.run(program(node), [max_tool_calls: 3] ++ opts)

      # With another limit the fourth one waits, too.
      assert {:paused, %{calls: [_]} = paused} =
               Json.resume(paused, :approve, [max_tool_calls: 4] ++ opts)

      assert Enum.sort(ones()) == [1, 1, 2]

      assert {:ok, [[1, 2], [1, 2]], _, _} =
               Json.resume(paused, :approve, [max_tool_calls: 4] ++ opts)

      assert ones() == [2]

      {:paused, paused} = Json.run(program(node), opts)
      assert for(call <- paused.calls, do: call.id) == ~w(1.0.1 1.0.2 1.1.1 1.1.2)
      # The first call of each round comes before the second one.
      {:paused, paused} =
        Json.resume(paused, %{"1.0.2" => :approve, "1.1.1" => {:answer, 9}}, opts)

      # What was approved is made, though the call before it still waits.
      assert for(call <- paused.calls, do: call.id) == ~w(1.0.1 1.1.2)
      assert ones() == [2]

      assert {:ok, [[1, 2], [9, 7]], _, _} = Json.resume(paused, [:approve, {:answer, 7}], opts)

      assert ones() == [1]
    end

    test "a pause of 1,000 calls is shown within a budget, and goes on" do
      tools = %{"pay" => {fn %{"n" => n} -> n end, approve: true}}
      items = Enum.to_list(1..1_000)
      opts = [context: %{"items" => items}, tools: tools]
      assert {:paused, paused} = Json.run(program(map(call("pay"))), opts)
      assert length(paused.calls) == 1_000
      assert byte_size(inspect(paused)) < 2_000
      assert {:ok, ^items, _, _} = Json.resume(paused, :approve, opts)
      decide = &if(&1.args["n"] > 500, do: {:answer, 0}, else: :approve)
      assert {:ok, value, _, _} = Json.resume(paused, decide, opts)
      assert Enum.sum(value) == div(500 * 501, 2)
    end

    test "of a budget, with the limits of the run that goes on" do
      tools = %{"pay" => alone(& &1, effect: :write, approve: true)}
      opts = [context: %{"items" => [1, 2, 3]}, tools: tools]
      assert {:paused, paused} = Json.run(program(map(call("pay"))), [max_tool_calls: 1] ++ opts)
      assert [1] == for(call <- paused.calls, do: call.args["n"])
      assert {:error, {:execution_error, text}} = Json.resume(paused, :approve, opts)
      assert text =~ "no more than 1 call is allowed"
      assert {:paused, more} = Json.resume(paused, :approve, [max_tool_calls: 3] ++ opts)
      assert [2, 3] == for(call <- more.calls, do: call.args["n"])
      assert {:ok, [1, 2, 3], _, _} = Json.resume(more, :approve, [max_tool_calls: 3] ++ opts)
    end

    test "a list of calls that wait goes to its tool together" do
      tools = %{"pay" => batch(& &1, effect: :write, approve: true)}
      opts = [context: %{"items" => [1, 2, 3]}, tools: tools]
      assert {:paused, paused} = Json.run(program(map(call("pay"))), opts)
      assert length(paused.calls) == 3
      assert {:ok, [1, 2, 3], _, _} = Json.resume(paused, :approve, opts)
      assert lists() == [[1, 2, 3]]
    end
  end

  test "a function of two arguments is told of each call" do
    test = self()
    fun = fn list, more -> send(test, more) && Enum.map(list, & &1["n"]) end
    tools = %{"find" => {fun, batch: 5}}

    assert {:ok, [1, 2], _, _} =
             run(map(call("find")), [1, 2], tools, tool_context: %{who: "ada"})

    assert_received %{
      context: %{who: "ada"},
      calls: [%{key: a, attempt: 1}, %{key: b, path: path}]
    }

    assert a != b and is_list(path)
    assert {:ok, 3, _, _} = run(call("find", 3), [], tools)
    assert_received %{calls: [%{key: _, attempt: 1}]}
  end

  test "the time of a tool is that of a list, and its error that of each call" do
    fun = fn list -> Process.sleep(:infinity) && list end
    tools = %{"slow" => {fun, batch: 5, timeout: 20}}
    body = caught("slow", "late")
    assert {:ok, ["late", "late", "late"], _, _} = run(map(body), [1, 2, 3], tools)

    assert {:error, {:timeout, 100}} =
             run(map(body), [1, 2], %{"slow" => {fun, batch: 5}}, timeout: 100)
  end

  test "a list that is killed for its heap ends the run" do
    fun = fn list -> Enum.map(list, fn _ -> Enum.to_list(1..1_000_000) end) end

    assert {:error, {:memory_exceeded, _}} =
             run(map(call("big")), [1, 2], %{"big" => {fun, batch: 5}}, max_heap: 100_000)
  end

  test "with tool_concurrency, several lists run at a time" do
    running = :atomics.new(2, [])

    # The first lists wait for one another.
    fun = fn list ->
      now = :atomics.add_get(running, 1, 1)
      if now > :atomics.get(running, 2), do: :atomics.put(running, 2, now)
      wait(fn -> :atomics.get(running, 2) >= 2 end)
      :atomics.sub(running, 1, 1)
      Enum.map(list, & &1["n"])
    end

    items = Enum.to_list(1..40)
    tools = %{"find" => {fun, batch: 10, effect: :read}}

    assert {:ok, ^items, _, _} =
             run(map(call("find")), items, tools, tool_concurrency: 3, timeout: 60_000)

    assert :atomics.get(running, 2) in 2..3
  end

  defp wait(done?), do: done?.() || (Process.sleep(1) && wait(done?))

  describe "agents" do
    test "arguments and answers of each call are judged as if it were alone, and recorded" do
      fun = fn list ->
        Enum.map(list, &if(&1["n"] == 3, do: {:error, "none"}, else: &1["n"] * 2))
      end

      tools = %{"double" => {fun, signature: "(n :int) -> :int", batch: 10, effect: :read}}
      body = caught("double", nil)

      assert {:ok, [2, 4, nil, nil], info} =
               Agent.run(program(map(body)), tools, context: %{"items" => [1, "2", 3, "x"]})

      assert [
               {%{"n" => 1}, :ok},
               {%{"n" => 2}, :ok},
               {%{"n" => 3}, :error},
               {%{"n" => "x"}, :refused}
             ] = for(call <- info.tool_calls, do: {call.args, call.status})

      assert ~s(double: coerced string "2" to integer) in info.warnings
    end

    test "a result that does not fit is the error of its call" do
      fun = fn list -> Enum.map(list, &if(&1["n"] == 2, do: "two", else: &1["n"])) end
      tools = %{"same" => {fun, signature: "(n :int) -> :int", batch: 10, effect: :read}}

      assert {:error, _, feedback} =
               Agent.run(program(map(call("same"))), tools, context: %{"items" => [1, 2, 3]})

      assert feedback =~ "its result is not what its signature says"
    end

    test "what raises is the recorded error of each call" do
      tools = %{
        "boom" => {fn _list -> raise "boom" end, signature: "(n :int) -> :int", batch: 10}
      }

      assert {:error, _, _, info} =
               Agent.run(program(map(call("boom"))), tools,
                 context: %{"items" => [1, 2]},
                 info: true
               )

      assert [%{status: :error, args: %{"n" => 1}}, %{status: :error, args: %{"n" => 2}}] =
               info.tool_calls
    end

    test "in a loop with findings" do
      tools = %{"double" => batch(&(&1 * 2), signature: "(n :int) -> :int")}
      items = Enum.to_list(1..4)

      {:ok, step} =
        Agent.loop(fn _ -> program(map(call("double"))) end,
          task: "Double them",
          context: %{"items" => items},
          tools: tools,
          returns: "[:int]"
        )

      assert step.return == [2, 4, 6, 8]
      assert lists() == [[1, 2, 3, 4]]
      assert length(step.tool_calls) == 4
    end
  end

  test "plan and explain see single calls" do
    tools = %{"double" => batch(&(&1 * 2))}
    opts = [context: %{"items" => [1, 2, 3]}, tools: tools]
    {:ok, plan} = Json.plan(program(map(call("double"))), opts)

    {:ok, same} =
      Json.plan(
        program(map(call("double"))),
        Keyword.put(opts, :tools, %{"double" => alone(&(&1 * 2))})
      )

    assert inspect(plan.tools) == inspect(same.tools)
    explain = Json.explain(program(map(call("double"))), opts)
    assert {:ok, [2, 4, 6], _, _} = explain.result
  end

  test "options that are wrong are errors" do
    assert_raise ArgumentError,
                 ~r/option :batch of tool "a" must be an integer from 1 to 10000/,
                 fn ->
                   run(call("a", 1), [], %{"a" => {& &1, batch: 0}})
                 end
  end
end
