defmodule PtcRunner.Lisp.ParallelTest do
  # `pmap` and `pcalls`: calls of tools side by side.

  use ExUnit.Case, async: true

  alias PtcRunner.Lisp

  # Answers when so many calls are under way at once, or not at all.
  defp together(count) do
    me = self()

    gate =
      spawn_link(fn ->
        waiting = for _ <- 1..count, do: receive(do: ({:here, pid} -> pid))
        Enum.each(waiting, &send(&1, :go))
        send(me, :met)
      end)

    fn args ->
      send(gate, {:here, self()})
      receive(do: (:go -> args["n"] * 10))
    end
  end

  defp names(step), do: for(call <- step.tool_calls, do: {call.name, call.args, call.result})

  test "the calls of all items run at the same time, and the results are in their order" do
    program = "(pmap (fn [n] (println n) (+ 1 (tool/meet {:n n}))) (range 1 6))"
    {:ok, step} = Lisp.run(program, tools: %{"meet" => together(5)}, timeout: 60_000)
    assert step.return == [11, 21, 31, 41, 51]
    assert step.prints == ~w(1 2 3 4 5)
    assert names(step) == for(n <- 1..5, do: {"meet", %{"n" => n}, n * 10})
    assert_received :met
  end

  test "pcalls, several sequences, tools as values, and closures that come back" do
    tools = %{"meet" => together(2)}
    program = "(pcalls #(tool/meet {:n 1}) (fn [] (tool/meet {:n 2})))"
    assert {:ok, %{return: [10, 20]}} = Lisp.run(program, tools: tools)

    tools = %{"add" => fn args -> args["a"] + args["b"] end}
    program = "(pmap (fn [a b] (tool/add {:a a :b b})) [1 2 3] [10 20])"
    assert {:ok, %{return: [11, 22]}} = Lisp.run(program, tools: tools)

    program = "(pmap tool/add [{:a 1 :b 2} {:a 3 :b 4}])"
    assert {:ok, %{return: [3, 7]}} = Lisp.run(program, tools: tools)

    program = "(def k 5) (map (fn [f] (f 1)) (pmap (fn [n] (fn [x] (+ x n k))) [10 20]))"
    assert {:ok, %{return: [16, 26]}} = Lisp.run(program)
  end

  test "no more tools run at a time than the option says" do
    for most <- [1, 3] do
      # How many there are now, and how many there were at most.
      {:ok, counts} = Agent.start_link(fn -> {0, 0} end)

      tool = fn _args ->
        Agent.update(counts, fn {now, highest} -> {now + 1, max(now + 1, highest)} end)
        wait(fn -> Agent.get(counts, &elem(&1, 1)) >= most end)
        # One too many would come meanwhile.
        Process.sleep(20)
        Agent.update(counts, fn {now, highest} -> {now - 1, highest} end)
      end

      program = "(count (pmap (fn [n] (tool/work {:n n})) (range 9)))"
      opts = [tools: %{"work" => tool}, tool_concurrency: most, timeout: 60_000]
      assert {:ok, %{return: 9}} = Lisp.run(program, opts)
      assert Agent.get(counts, & &1) == {0, most}
    end
  end

  defp wait(done?), do: done?.() || (Process.sleep(1) && wait(done?))

  test "an error in a worker is the form's, with what happened until then" do
    tools = %{
      "boom" => fn _ -> raise "bang" end,
      "five" => fn _ -> 5 end,
      "refuse" => fn _ -> {:error, "no"} end
    }

    for {program, reason, message} <- [
          {"(pmap (fn [n] (tool/boom)) [1])", :pmap_error,
           "pmap_error: tool 'boom' failed: bang"},
          {"(pcalls #(tool/five) #(tool/refuse))", :pcalls_error,
           "pcalls_error: tool 'refuse' failed: no"},
          {"(pmap (fn [n] (/ 1 n)) [1 0])", :pmap_error,
           "pmap_error: arithmetic_error: division by zero"},
          {"(pmap / [1 2] [1 0])", :pmap_error, "pmap_error: arithmetic_error: division by zero"},
          {"(pmap (fn [n] (return n)) [1])", :pmap_error,
           "pmap_error: return called inside pmap"},
          {"(pcalls (fn [] (fail 1)))", :pcalls_error, "pcalls_error: fail called inside pcalls"},
          {"(pmap (fn [n] (pmap (fn [m] (return m)) [n])) [1])", :pmap_error,
           "pmap_error: pmap_error: return called inside pmap"},
          {"(pmap (fn [n] (pcalls #(tool/boom))) [1])", :pmap_error,
           "pmap_error: pcalls_error: tool 'boom' failed: bang"},
          {"(pmap (fn [n] (n)) [1])", :pmap_error, "pmap_error: not callable: 1"}
        ] do
      assert {:error, step} = Lisp.run(program, tools: tools)
      assert {step.fail.reason, step.fail.message} == {reason, message}, program
      assert step.memory == %{}
    end

    program = "(println 1) (pmap (fn [n] (println n) (if (= n 3) (tool/boom) (tool/five))) [2 3])"
    assert {:error, step} = Lisp.run(program, tools: tools)
    assert step.prints == ~w(1 2 3)
    assert [{"five", %{}, 5}, {"boom", %{}, nil}] = names(step)
    assert %{error: "bang"} = List.last(step.tool_calls)
  end

  test "limits are those of the run" do
    tool = fn _ -> 1 end
    program = "(pmap (fn [n] (tool/one {:n n})) (range 4))"
    opts = [tools: %{"one" => tool}, max_tool_calls: 3]
    assert {:error, %{fail: %{reason: :tool_call_limit_exceeded}}} = Lisp.run(program, opts)

    slow = fn _ -> Process.sleep(:infinity) end
    opts = [tools: %{"one" => slow}, timeout: 50]
    assert {:error, %{fail: %{reason: :timeout}}} = Lisp.run(program, opts)

    program = "(pmap (fn [n] (loop [xs []] (recur (conj xs n)))) [1 2])"
    assert {:error, %{fail: %{reason: :memory_exceeded}}} = Lisp.run(program, timeout: 20_000)
  end

  test "definitions of workers are lost, and a worker may catch the error of its tool" do
    program = "(def a 1) (pmap (fn [n] (def a n) (def b n) a) [5 6])"
    assert {:ok, %{return: [5, 6], memory: %{"a" => 1} = memory}} = Lisp.run(program)
    assert map_size(memory) == 1

    tools = %{"odd" => fn %{"n" => n} -> if rem(n, 2) == 1, do: n, else: {:error, "even"} end}

    program = """
    (pmap (fn [n] (try (tool/odd {:n n}) (catch e (str (:tool e) ": " (ex-message e))))) [1 2 3])
    """

    assert {:ok, step} = Lisp.run(program, tools: tools)
    assert step.return == [1, "odd: even", 3]
    assert ["even"] = for(%{error: error} <- step.tool_calls, error, do: error)
  end

  test "workers ask for built-ins, print, and share a cache" do
    program = ~S|(pmap (fn [s] (println (upper-case s)) (re-find #"[a-z]+" s)) ["1ab" "2cd"])|
    assert {:ok, %{return: ["ab", "cd"], prints: ["1AB", "2CD"]}} = Lisp.run(program)

    me = self()
    tool = {fn args -> send(me, {:called, args}) && args["n"] end, cache: true}
    program = "(pmap (fn [n] (tool/get {:n n})) [1 2 1 2 1])"
    assert {:ok, step} = Lisp.run(program, tools: %{"get" => tool})
    assert step.return == [1, 2, 1, 2, 1]
    assert [true, true, true] = for(%{cached: true} <- step.tool_calls, do: true)
    assert_received {:called, %{"n" => 1}}
    assert_received {:called, %{"n" => 2}}
    refute_received {:called, _}
  end

  test "a run with workers is recorded and replayed, and pauses" do
    tools = %{"double" => fn %{"n" => n} -> n * 2 end}
    program = "(pmap (fn [n] (println n) (tool/double {:n n})) [1 2 3])"
    {{:ok, step}, journal} = Lisp.record(program, tools: tools)
    assert step.return == [2, 4, 6]
    assert {:ok, again} = Lisp.replay(program, journal)
    assert {again.return, again.prints} == {step.return, step.prints}
    assert names(again) == names(step)

    on_call = fn _call -> :pause end
    assert {:paused, paused} = Lisp.run(program, tools: tools, on_call: on_call)
    assert length(paused.calls) == 3
    decisions = Map.new(paused.calls, &{&1.id, {:answer, &1.args["n"] * 100}})
    assert {:ok, step} = Lisp.resume(paused, decisions, tools: tools, on_call: on_call)
    assert step.return == [100, 200, 300]
    assert step.prints == ~w(1 2 3)
  end
end
