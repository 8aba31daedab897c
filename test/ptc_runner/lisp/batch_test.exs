defmodule PtcRunner.Lisp.BatchTest do
  # Tools that take lists of calls: those of `pmap` and `pcalls` go together.
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

    for opts <- [[], [tool_concurrency: 1], [max_tool_calls: 25], [timeout: 5_000]] do
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

  test "calls of loops that do not depend on each other go together, where nobody decides about calls and nothing counts them" do
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

      # Calls that are counted, decided about or recorded are made one by one.
      for opts <- [
            [max_tool_calls: 25],
            [on_call: fn _ -> :run end],
            [on_journal: fn _ -> :ok end]
          ] do
        {:ok, counted} = Lisp.run(program, [tools: tools] ++ opts)
        assert {counted.return, received()} == {step.return, for(n <- 1..25, do: [n])}
      end

      {result, journal} = Lisp.record(program, tools: tools)
      assert {:ok, %{return: recorded}} = result
      assert recorded == step.return
      received()
      assert {:ok, %{return: ^recorded}} = Lisp.replay(program, journal)

      assert {:error, %{fail: %{reason: :tool_call_limit_exceeded}}} =
               Lisp.run(program, tools: tools, max_tool_calls: 24)

      received()
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
