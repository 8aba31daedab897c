defmodule PtcRunner.Lisp.BatchTest do
  # Tools that take lists of calls: those of `pmap` and `pcalls` go together.
  use ExUnit.Case, async: true

  alias PtcRunner.Lisp

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

  test "outside of them a call is a list of one" do
    tools = %{"double" => lists(&(&1 * 2))}
    {:ok, step} = Lisp.run("(mapv #(tool/double {:n %}) [1 2])", tools: tools)
    assert {step.return, received()} == {[2, 4], [[1], [2]]}
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
