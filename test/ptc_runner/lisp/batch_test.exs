defmodule PtcRunner.Lisp.BatchTest do
  # Tools that take lists of calls: those of `pmap` and `pcalls` go together, and those of loops that do not depend on each other.
  use ExUnit.Case, async: true

  alias PtcRunner.Lisp

  doctest PtcRunner.Lisp.Together

  # A tool that says how long its lists are.
  defp lists(fun, options \\ []) do
    me = self()

    function = fn list ->
      send(me, {:list, Enum.map(list, & &1["n"])})
      Enum.map(list, &fun.(&1["n"]))
    end

    {function, Keyword.merge([batch: 10], options)}
  end

  defp received do
    receive do
      {:list, list} -> [list | received()]
    after
      0 -> []
    end
  end

  @program "(pmap #(tool/double {:n %}) (range 1 26))"

  test "the calls of all items go to their tool in lists, and the results are in their order" do
    tools = %{"double" => lists(&(&1 * 2))}

    for opts <- [[], [tool_concurrency: 1], [max_tool_calls: 25], [timeout: 60_000]] do
      {:ok, step} = Lisp.run(@program, [tools: tools] ++ opts)
      assert step.return == for(n <- 1..25, do: 2 * n)
      lists = received()
      assert lists |> Enum.map(&length/1) |> Enum.sort() == [5, 10, 10]
      assert lists |> Enum.concat() |> Enum.sort() == Enum.to_list(1..25)
      assert Enum.map(step.tool_calls, & &1.args["n"]) == Enum.to_list(1..25)
      assert Enum.map(step.tool_calls, & &1.result) == step.return
    end
  end

  test "in pcalls, as a value, with more calls behind the first, and beside a tool that takes no lists" do
    tools = %{"double" => lists(&(&1 * 2)), "one" => fn %{"n" => n} -> n + 1 end}
    {:ok, step} = Lisp.run("(pcalls #(tool/double {:n 1}) #(tool/double {:n 2}))", tools: tools)
    assert {step.return, received()} == {[2, 4], [[1, 2]]}

    {:ok, step} = Lisp.run("(pmap tool/double [{:n 1} {:n 2} {:n 3}])", tools: tools)
    assert {step.return, received()} == {[2, 4, 6], [[1, 2, 3]]}

    program = "(pmap (fn [n] (tool/one {:n (tool/double {:n (tool/one {:n n})})})) [1 2 3])"
    {:ok, step} = Lisp.run(program, tools: tools)
    assert step.return == [5, 7, 9]
    assert received() |> Enum.concat() |> Enum.sort() == [2, 3, 4]
  end

  test "calls of loops that do not depend on each other go together, also where they are counted, decided about or recorded" do
    double = &(&1 * 2)
    tools = %{"double" => lists(double)}
    one = %{"double" => fn %{"n" => n} -> n * 2 end}

    for program <- [
          "(mapv #(tool/double {:n %}) (range 1 26))",
          "(map #(tool/double {:n %}) (range 1 26))",
          "(for [n (range 1 26)] (tool/double {:n n}))",
          "(doseq [n (range 1 26)] (tool/double {:n n}))",
          "(into [] (mapv #(tool/double {:n %}) (range 1 26)))"
        ] do
      {:ok, step} = Lisp.run(program, tools: tools)
      made = received()
      assert Enum.concat(made) == Enum.to_list(1..25), program
      assert Enum.map(made, &length/1) == [10, 10, 5], program
      # As if they were made one by one.
      {:ok, alone} = Lisp.run(program, tools: one)
      assert step.return == alone.return

      assert Enum.map(step.tool_calls, &{&1.args, &1.result, &1.error}) ==
               Enum.map(alone.tool_calls, &{&1.args, &1.result, &1.error})

      # What counts, decides and records sees single calls.
      {:ok, plan} = Lisp.plan(program, tools: tools)
      me = self()

      for opts <- [
            [max_tool_calls: 25],
            [on_call: &(send(me, {:asked, &1.args["n"]}) && :run)],
            [on_journal: &send(me, {:journal, &1})],
            [within: plan]
          ] do
        {:ok, counted} = Lisp.run(program, [tools: tools] ++ opts)
        assert {counted.return, received()} == {step.return, made}
        assert Enum.map(counted.tool_calls, & &1.args) == Enum.map(alone.tool_calls, & &1.args)
      end

      assert for(n <- 1..25, do: {:asked, n}) ==
               for(_ <- 1..25, do: receive(do: ({:asked, _} = it -> it)))

      journal = of_journal()

      assert for(%{"id" => id, "answer" => value} <- journal, do: {id, value}) ==
               for(n <- 1..25, do: {"#{n}", n * 2})

      {result, journal} = Lisp.record(program, tools: tools)
      assert {:ok, %{return: recorded}} = result
      assert {recorded, received()} == {step.return, made}
      assert {:ok, %{return: ^recorded} = again} = Lisp.replay(program, journal)
      assert length(again.tool_calls) == 25

      assert {:error, %{fail: %{reason: :tool_call_limit_exceeded}} = limited} =
               Lisp.run(program, tools: tools, max_tool_calls: 24)

      assert {Enum.concat(received()), length(limited.tool_calls)} == {Enum.to_list(1..24), 24}
    end

    # Each of these needs the answer before it.
    for program <- [
          "(reduce (fn [s n] (tool/double {:n (+ s n)})) 0 [1 2 3])",
          "(tool/double {:n (tool/double {:n 2})})"
        ] do
      {:ok, step} = Lisp.run(program, tools: tools)
      assert {:ok, %{return: value}} = Lisp.run(program, tools: one)
      assert step.return == value
      assert Enum.all?(received(), &match?([_one], &1))
    end
  end

  defp of_journal do
    receive do
      {:journal, entry} -> [entry | of_journal()]
    after
      0 -> []
    end
  end

  test "a hook answers, denies, changes and lets wait single calls of a list" do
    tools = %{"double" => lists(&(&1 * 2))}
    program = "(mapv #(tool/double {:n %}) [1 2 3 4 5 6])"

    decide = fn
      %{args: %{"n" => 2}} -> {:answer, 20}
      %{args: %{"n" => 4}} -> {:run, %{"n" => 40}}
      _other -> :run
    end

    {:ok, step} = Lisp.run(program, tools: tools, on_call: decide)
    assert {step.return, received()} == {[2, 20, 6, 80, 10, 12], [[1, 3, 40, 5, 6]]}
    assert Enum.map(step.tool_calls, & &1.result) == step.return

    for {decision, made} <- [{{:deny, "no"}, [[1, 2, 3]]}, {:pause, [[1, 2, 3]]}] do
      decide = &if(&1.args["n"] in [4, 6], do: decision, else: :run)
      result = Lisp.run(program, tools: tools, on_call: decide)
      assert received() == made

      case result do
        {:error, step} ->
          assert step.fail.message =~ "no"
          assert Enum.map(step.tool_calls, & &1.result) == [2, 4, 6, nil]

        {:paused, paused} ->
          assert for(call <- paused.calls, do: {call.id, call.args["n"]}) == [{"4", 4}, {"6", 6}]

          {:ok, step} =
            Lisp.resume(paused, {:answer, 44}, tools: tools, on_call: fn _ -> :run end)

          assert {step.return, received()} == {[2, 4, 6, 44, 10, 44], [[5]]}
      end
    end
  end

  test "calls of a loop that a person approves wait together, and go to their tool together" do
    tools = %{"pay" => lists(&(&1 * 2), approve: true, batch: 3)}
    program = "(println \"before\") (mapv #(tool/pay {:n %}) [1 2 3 4])"
    {:paused, paused} = Lisp.run(program, tools: tools)

    assert for(call <- paused.calls, do: {call.id, call.args["n"]}) ==
             for(n <- 1..4, do: {"#{n}", n})

    assert received() == []
    {:ok, step} = Lisp.resume(paused, :approve, tools: tools)
    assert {step.return, step.prints, received()} == {[2, 4, 6, 8], ["before"], [[1, 2, 3], [4]]}

    # So do those of a tool that takes single calls.
    alone = %{"pay" => {fn %{"n" => n} -> n end, approve: true}}
    {:paused, waits} = Lisp.run(program, tools: alone)
    assert Enum.map(waits.calls, & &1.id) == ["1", "2", "3", "4"]
    {:ok, step} = Lisp.resume(waits, :approve, tools: alone)
    assert step.return == [1, 2, 3, 4]

    # One that is decided about before another one waits again.
    {:paused, waits} = Lisp.resume(waits, %{"2" => :approve}, tools: alone)
    assert Enum.map(waits.calls, & &1.id) == ["1", "2", "3", "4"]

    decisions = %{"1" => :approve, "2" => :approve, "3" => {:deny, "no"}, "4" => :approve}
    {:error, step} = Lisp.resume(paused, decisions, tools: tools)
    assert {step.fail.message =~ "no", received()} == {true, [[1, 2]]}
  end

  test "a call of a list that fails ends a run that is recorded, which is replayed without the calls behind it" do
    some = lists(&if(&1 == 2, do: {:error, "none"}, else: &1), batch: 3)
    program = "(mapv #(tool/find {:n %}) [1 2 3 4])"
    {{:error, step}, journal} = Lisp.record(program, tools: %{"find" => some})
    assert {step.fail.reason, received()} == {:tool_error, [[1, 2, 3]]}

    assert Enum.map(step.tool_calls, &{&1.args["n"], &1.result, &1.error}) == [
             {1, 1, nil},
             {2, nil, "none"},
             {3, 3, nil}
           ]

    {:error, again} = Lisp.replay(program, journal)
    assert again.fail == step.fail

    # Where the program goes on behind the error, calls are made one by one.
    caught = "[(try #{program} (catch e (ex-message e))) (tool/find {:n 9})]"
    {{:ok, step}, journal} = Lisp.record(caught, tools: %{"find" => some})
    assert {step.return, received()} == {["none", 9], [[1], [2], [9]]}
    assert {:ok, %{return: ["none", 9]}} = Lisp.replay(caught, journal)
  end

  test "an agent's calls go to their tool together" do
    alias PtcRunner.Agent
    tools = Agent.Tool.list!(%{"double" => lists(&(&1 * 2), signature: "(n :int) -> :int")})
    program = "(mapv #(tool/double {:n %}) (range 1 13))"
    {:ok, value, info} = Agent.run(program, tools, language: :lisp, max_tool_calls: 12)
    assert {value, received()} == {for(n <- 1..12, do: n * 2), [Enum.to_list(1..10), [11, 12]]}
    assert Enum.map(info.tool_calls, & &1.args["n"]) == Enum.to_list(1..12)

    {:error, {:tool_call_limit_exceeded, _text}, _feedback} =
      Agent.run(program, tools, language: :lisp, max_tool_calls: 11)

    assert Enum.concat(received()) == Enum.to_list(1..11)
  end

  test "a list that takes too long, or that answers too much, ends a run with limits" do
    slow = {fn list -> Process.sleep(:infinity) && list end, batch: 2, timeout: 20}
    program = "(mapv #(tool/find {:n %}) [1 2 3])"
    {:error, step} = Lisp.run(program, tools: %{"find" => slow})
    assert step.fail.message =~ "it did not answer within 20 ms"
    assert Enum.map(step.tool_calls, & &1.args["n"]) == [1, 2]

    large = {fn list -> Enum.map(list, fn _ -> Enum.to_list(1..10_000) end) end, batch: 2}
    opts = [tools: %{"find" => large}, max_heap: 30_000, max_tool_calls: 9]
    {:error, step} = Lisp.run(program, opts)
    assert step.fail.reason == :memory_exceeded
  end

  test "a cache answers an equal call of a list" do
    tools = %{"double" => lists(&(&1 * 2), cache: true)}
    {:ok, step} = Lisp.run("(mapv #(tool/double {:n (mod % 3)}) (range 9))", tools: tools)
    assert step.return == [0, 2, 4, 0, 2, 4, 0, 2, 4]
    assert received() == [[0, 1, 2]]
    assert Enum.map(step.tool_calls, &Map.get(&1, :cached, false)) == for(n <- 0..8, do: n > 2)
  end

  test "a call of a list that fails is the error of the program, and the calls behind it were made" do
    some = lists(&if(&1 == 2, do: {:error, "none"}, else: &1), batch: 3)
    program = "(mapv #(tool/find {:n %}) [1 2 3 4])"
    {:error, step} = Lisp.run(program, tools: %{"find" => some})
    assert {step.fail.reason, step.fail.message =~ "none"} == {:tool_error, true}
    assert received() == [[1, 2, 3]]

    assert Enum.map(step.tool_calls, &{&1.args["n"], &1.result, &1.error}) == [
             {1, 1, nil},
             {2, nil, "none"},
             {3, 3, nil}
           ]

    {:ok, step} = Lisp.run("(try #{program} (catch e (ex-message e)))", tools: %{"find" => some})
    assert step.return == "none"
    assert Enum.map(step.tool_calls, & &1.args["n"]) == [1, 2, 3]
    received()

    wrong = {fn _list -> [1] end, batch: 10}
    {:error, step} = Lisp.run(program, tools: %{"find" => wrong})

    assert step.fail.message =~
             "it was given 4 calls, and must answer a list of 4 answers in their order"

    slow = {fn list -> Process.sleep(:infinity) && list end, batch: 2}
    {:error, step} = Lisp.run(program, tools: %{"find" => slow}, timeout: 50)
    assert step.fail.reason == :timeout

    large = {fn list -> Enum.map(list, fn _ -> Enum.to_list(1..10_000) end) end, batch: 2}
    {:error, step} = Lisp.run(program, tools: %{"find" => large}, max_heap: 30_000)
    assert step.fail.reason == :memory_exceeded
  end

  test "an error of one call is that of its item, and one of all calls is that of each" do
    caught = "(pmap (fn [n] (try (tool/find {:n n}) (catch e (ex-message e)))) [1 2 3])"
    some = lists(&if(&1 == 2, do: {:error, "none"}, else: {:ok, &1}))
    {:ok, step} = Lisp.run(caught, tools: %{"find" => some})
    assert step.return == [1, "none", 3]
    assert Enum.map(step.tool_calls, & &1.error) == [nil, "none", nil]

    {:error, step} = Lisp.run("(pmap #(tool/find {:n %}) [1 2 3])", tools: %{"find" => some})
    assert step.fail.message =~ "none"

    for {fun, text} <- [
          {fn _list -> raise "boom" end, "boom"},
          {fn _list -> {:error, "down"} end, "down"},
          {fn _list -> throw(:ball) end, "it threw :ball"},
          {fn _list -> [1] end,
           "it was given 3 calls, and must answer a list of 3 answers in their order"}
        ] do
      {:ok, step} = Lisp.run(caught, tools: %{"find" => {fun, batch: 10}})
      assert [text_of_one, text_of_one, text_of_one] = step.return
      assert text_of_one =~ text
    end
  end

  test "arguments and answers are those of the signature, each on its own" do
    tool = lists(&if(&1 == 2, do: "two", else: &1), signature: "(n :int) -> :int")
    program = "(pmap (fn [n] (try (tool/find {:n n}) (catch e :wrong))) [1 2 \"x\" 4])"
    {:ok, step} = Lisp.run(program, tools: %{"find" => tool})
    assert step.return == [1, "wrong", "wrong", 4]
    assert received() == [[1, 2, 4]]
  end

  test "with a cache equal arguments are in a list once; limits of calls hold" do
    program = "(pmap #(tool/double {:n (mod % 3)}) (range 9))"
    {:ok, step} = Lisp.run(program, tools: %{"double" => lists(&(&1 * 2), cache: true)})
    assert step.return == [0, 2, 4, 0, 2, 4, 0, 2, 4]
    assert received() == [[0, 1, 2]]

    {:error, step} = Lisp.run(@program, tools: %{"double" => lists(&(&1 * 2), max_calls: 3)})
    assert step.fail.reason == :tool_call_limit_exceeded
  end

  test "calls that wait for a person wait together, and are made together" do
    tools = %{"pay" => lists(&(&1 * 2), approve: true)}
    program = "(println \"before\") (pmap #(tool/pay {:n %}) [1 2 3])"
    {:paused, paused} = Lisp.run(program, tools: tools)
    assert {Enum.map(paused.calls, & &1.args["n"]), received()} == {[1, 2, 3], []}
    {:ok, step} = Lisp.resume(paused, :approve, tools: tools)
    assert {step.return, step.prints, received()} == {[2, 4, 6], ["before"], [[1, 2, 3]]}
  end

  test "a recorded run is replayed without its tool" do
    tools = %{"double" => lists(&(&1 * 2))}
    {{:ok, step}, journal} = Lisp.record(@program, tools: tools)
    assert length(received()) == 3
    {:ok, again} = Lisp.replay(@program, journal)
    assert {again.return, length(again.tool_calls), received()} == {step.return, 25, []}
  end
end
