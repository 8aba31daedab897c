defmodule PtcRunner.Lisp.CallsAheadTest do
  # Calls for the items of a list, which are made in one request where they do not depend on the answers: what comes of them is what comes of
  # calls one by one.
  use ExUnit.Case, async: true

  alias PtcRunner.Lisp
  alias PtcRunner.Test.Room

  # A tool that keeps the numbers that it is called with.
  defp counting(fun \\ & &1) do
    {:ok, agent} = Agent.start_link(fn -> [] end)

    tool = fn %{"n" => n} ->
      Agent.update(agent, &[n | &1])
      fun.(n)
    end

    {tool, fn -> agent |> Agent.get(& &1) |> Enum.reverse() end}
  end

  # The same program, with calls that are made one by one because somebody decides about them.
  defp both(program, fun, opts \\ []) do
    results =
      for more <- [[], [on_call: fn _call -> :run end]] do
        {tool, made} = counting(fun)
        {ended, step} = Lisp.run(program, [tools: %{"t" => tool}] ++ more ++ opts)
        calls = for call <- step.tool_calls, do: Map.take(call, [:name, :args, :result, :error])
        fail = step.fail && Map.take(step.fail, [:reason, :message])
        {ended, step.return, fail, step.prints, calls, made.()}
      end

    [together, one_by_one] = results
    assert together == one_by_one
    together
  end

  test "the values, the calls and their order are those of calls one by one" do
    for program <- [
          "(mapv (fn [n] (tool/t {:n n})) (range 100))",
          "(map #(tool/t {:n %}) (range 33))",
          "(for [n (range 40) :when (odd? n)] (tool/t {:n n}))",
          "(doseq [n (range 40)] (tool/t {:n n}))",
          "(mapv (fn [n] (println n) (tool/t {:n n})) (range 5))",
          "(mapv (fn [n] (if (odd? n) (tool/t {:n n}) 0)) (range 70))",
          "(filter (fn [n] (tool/t {:n n})) (range 10))",
          "(keep (fn [n] (tool/t {:n n})) (range 10))",
          "(mapv (fn [n] (tool/t {:n n}) (tool/t {:n (inc n)})) (range 10))",
          "(mapv (fn [n] (mapv (fn [k] (tool/t {:n (* n k)})) (range n))) (range 9))",
          "(map-indexed (fn [i n] (tool/t {:n (+ i n)})) (range 10))"
        ] do
      assert {:ok, _value, nil, _prints, _calls, _made} = both(program, &(&1 * 2))
    end
  end

  test "arguments that depend on earlier answers are computed from these" do
    program = """
    (reduce (fn [sum n]
              (let [all (mapv (fn [k] (tool/t {:n (+ sum k)})) (range 3))]
                (+ sum (reduce + all))))
            1 (range 4))
    """

    assert {:ok, 511, nil, [], calls, _made} = both(program, & &1)
    assert length(calls) == 12

    program =
      "(loop [n 1] (if (> n 50) n (recur (+ n (count (for [k [1 2]] (tool/t {:n (* n k)})))))))"

    assert {:ok, 51, nil, [], _calls, _made} = both(program, & &1)
  end

  test "behind a call that has failed none is made" do
    fails = fn n -> if n == 7, do: {:error, "seven"}, else: n end
    program = "(mapv (fn [n] (tool/t {:n n})) (range 100))"
    assert {:error, nil, %{reason: :tool_error}, [], calls, made} = both(program, fails)
    assert made == Enum.to_list(0..7)
    assert %{error: "seven", result: nil} = List.last(calls)

    program = "(mapv (fn [n] (try (tool/t {:n n}) (catch e (:message e)))) (range 10))"
    assert {:ok, value, nil, [], _calls, made} = both(program, fails)
    assert Enum.at(value, 7) == "seven"
    assert made == Enum.to_list(0..9)

    raises = fn n -> if n == 0, do: raise("bang"), else: n end
    program = "(mapv (fn [n] (tool/t {:n n})) (range 3))"
    assert {:error, nil, _fail, [], [%{error: "bang"}], [0]} = both(program, raises)

    assert {:ok, [{:error, 1}, 2], nil, [], _calls, _made} =
             both(
               "(mapv (fn [n] (tool/t {:n n})) [1 2])",
               &if(&1 == 1, do: {:ok, {:error, 1}}, else: &1)
             )
  end

  test "calls that were made before the end of the tool's process are known" do
    program = "(mapv (fn [n] (tool/t {:n n})) (range 100))"

    for {end_, reason, timeout} <- [
          {fn -> Process.sleep(:infinity) end, :timeout, 500},
          {fn -> Process.exit(self(), :kill) end, :memory_exceeded, 60_000},
          {fn -> Enum.to_list(1..10_000_000) end, :memory_exceeded, 60_000}
        ] do
      tool = fn %{"n" => n} -> if n == 5, do: end_.(), else: n end

      Room.growing(timeout, fn timeout ->
        assert {:error, step} = Lisp.run(program, tools: %{"t" => tool}, timeout: timeout)
        assert step.fail.reason == reason
        assert for(call <- step.tool_calls, do: call.result) == [0, 1, 2, 3, 4, nil]
        assert List.last(step.tool_calls).error =~ ~r/./
      end)
    end
  end

  test "more and more calls are made in one request" do
    for program <- [
          "(mapv (fn [n] (tool/t {:n n})) (range 1500))",
          "(mapv (fn [_] (tool/t {:n 7})) (range 700))",
          "(mapv (fn [n] (tool/t {:n n :more (range 40)})) (range 200))",
          "(mapv (fn [n] (tool/t {:n n :row data/row})) (range 300))"
        ] do
      context = %{"row" => Map.new(1..30, &{"k#{&1}", String.duplicate("x", 100)})}
      assert {:ok, _value, nil, [], _calls, _made} = both(program, & &1, context: context)
    end

    fails = fn n -> if n == 900, do: {:error, "no"}, else: n end
    program = "(mapv (fn [n] (tool/t {:n n})) (range 1500))"
    assert {:error, nil, %{reason: :tool_error}, [], calls, made} = both(program, fails)
    assert made == Enum.to_list(0..900)
    assert {length(calls), List.last(calls).error} == {901, "no"}

    program = "(mapv (fn [n] (try (tool/t {:n n}) (catch e (:message e)))) (range 1500))"
    assert {:ok, value, nil, [], _calls, made} = both(program, fails)
    assert {Enum.at(value, 900), length(made)} == {"no", 1500}
  end

  test "large answers, and all that came before the end of the process, are kept" do
    large = Enum.to_list(1..20_000)
    tool = fn %{"n" => n} -> if rem(n, 50) == 49, do: large, else: [n] end
    program = "(reduce + (mapv (fn [n] (count (tool/t {:n n}))) (range 200)))"
    assert {:ok, step} = Lisp.run(program, tools: %{"t" => tool})
    assert step.return == 4 * 20_000 + 196

    program = "(mapv (fn [n] (tool/t {:n n})) (range 1000))"

    tool = fn
      %{"n" => 777} -> Process.exit(self(), :kill)
      %{"n" => n} -> %{"a" => "answer #{n}", "b" => [n, n * 1.5]}
    end

    assert {:error, step} = Lisp.run(program, tools: %{"t" => tool})
    assert step.fail.reason == :memory_exceeded
    assert length(step.tool_calls) == 778
    assert Enum.at(step.tool_calls, 776).result == %{"a" => "answer 776", "b" => [776, 1164.0]}
    assert %{result: nil, args: %{"n" => 777}} = List.last(step.tool_calls)
  end

  test "an argument that is a constant is the same as one that is computed" do
    for {args, got} <- [
          {~S({:a-b 1 "c" nil :d "x" :e -0.0}),
           %{"a_b" => 1, "c" => nil, "d" => "x", "e" => -0.0}},
          {"{}", %{}},
          {"{:k :x}", %{"k" => "x"}},
          {"{:v [1 2]}", %{"v" => [1, 2]}}
        ] do
      assert {:ok, step} = Lisp.run("(tool/t #{args})", tools: %{"t" => & &1})
      assert {:ok, other} = Lisp.run("((fn [x] (tool/t x)) #{args})", tools: %{"t" => & &1})
      assert [%{args: ^got}] = step.tool_calls
      assert :erlang.term_to_binary(step.return) == :erlang.term_to_binary(other.return)
    end
  end

  test "the words of answers count while they are awaited" do
    program = "(mapv (fn [n] (tool/t {:n n})) (range 100))"
    {tool, made} = counting(fn _n -> Enum.to_list(1..2_000) end)
    assert {:error, step} = Lisp.run(program, tools: %{"t" => tool}, max_heap: 50_000)
    assert step.fail.reason == :memory_exceeded
    assert length(made.()) < 20
  end

  test "messages of the caller stay" do
    send(self(), :mine)
    program = "(mapv (fn [n] (tool/t {:n n})) (range 50))"
    {tool, _made} = counting()
    assert {:ok, %{return: values}} = Lisp.run(program, tools: %{"t" => tool})
    assert values == Enum.to_list(0..49)
    assert_received :mine
    assert {:ok, _step} = Lisp.run(program, tools: %{"t" => tool})
    refute_received _message
  end

  test "each entry has its time" do
    {tool, _made} = counting(fn _n -> Process.sleep(2) end)
    program = "(mapv (fn [n] (tool/t {:n n})) (range 5))"
    assert {:ok, step} = Lisp.run(program, tools: %{"t" => tool})
    times = for call <- step.tool_calls, do: call.timestamp
    assert times == Enum.sort(times, DateTime) and length(Enum.uniq(times)) == 5
    assert Enum.all?(step.tool_calls, &(&1.duration_ms >= 2))
  end
end
