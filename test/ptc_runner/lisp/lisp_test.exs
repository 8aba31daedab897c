defmodule PtcRunner.LispTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Lisp
  alias PtcRunner.Lisp.{Function, Program}
  alias PtcRunner.Test.Room

  doctest PtcRunner.Lisp
  doctest PtcRunner.Lisp.Arguments
  doctest PtcRunner.Lisp.Duration
  doctest PtcRunner.Lisp.Ended
  doctest PtcRunner.Lisp.Evaluation
  doctest PtcRunner.Lisp.Function
  doctest PtcRunner.Lisp.Given
  doctest PtcRunner.Lisp.Keyword
  doctest PtcRunner.Lisp.Ledger
  doctest PtcRunner.Lisp.Names
  doctest PtcRunner.Lisp.Preparing
  doctest PtcRunner.Lisp.Prints
  doctest PtcRunner.Lisp.Program
  doctest PtcRunner.Lisp.Regex
  doctest PtcRunner.Lisp.Remembered
  doctest PtcRunner.Lisp.Finished
  doctest PtcRunner.Lisp.Symbol
  doctest PtcRunner.Lisp.ToolAnswer
  doctest PtcRunner.Lisp.Tools
  doctest PtcRunner.Lisp.Var
  doctest PtcRunner.Tool

  defp ok(program, opts \\ []) do
    {:ok, step} = Lisp.run(program, opts)
    step
  end

  defp fail(program, opts \\ []) do
    {:error, step} = Lisp.run(program, opts)
    step
  end

  describe "options" do
    test "what is no option of this library is ignored" do
      assert ok("1", journal: %{}, filter_context: true, caller: self()).return == 1
    end

    test "a value of another kind raises, nil is the default" do
      assert_raise ArgumentError, ~r/:max_symbols/, fn -> Lisp.run("1", max_symbols: -1) end
      assert_raise ArgumentError, ~r/:timeout|timeout/, fn -> Lisp.run("1", timeout: "1") end
      assert_raise ArgumentError, ~r/keyword list/, fn -> Lisp.run("1", %{timeout: 1}) end
      assert_raise ArgumentError, ~r/a text or a/, fn -> Lisp.run(:program) end
      assert ok("1", timeout: nil, memory: nil, tools: nil).return == 1
    end

    test "limits of the program" do
      step = fail("(+ 1 2)", max_program_bytes: 6)
      assert step.fail.reason == :program_too_large
      assert step.fail.message == "program size 7 bytes exceeds limit of 6"

      step = fail("(+ a b c)", max_symbols: 3)
      assert step.fail.reason == :symbol_limit_exceeded
      assert step.fail.message == "program contains 4 unique symbols/keywords, exceeds limit of 3"
    end

    test "the time of a run includes that of its tools, and its prints and calls stay" do
      tools = %{"slow" => fn _ -> Process.sleep(:infinity) end}

      Room.growing(50, fn timeout ->
        step = fail(~S|(println "a") (tool/slow)|, tools: tools, timeout: timeout)
        assert step.fail.reason == :timeout
        assert step.fail.message == "execution exceeded #{timeout}ms limit"
        assert step.prints == ["a"]
        assert [%{name: "slow", result: nil, error: error}] = step.tool_calls
        assert is_binary(error)
      end)
    end

    test "a run that builds too much" do
      step = fail("(loop [x [1]] (recur [x x x x]))", max_heap: 1_000)
      assert step.fail.reason == :memory_exceeded
      assert step.fail.details == %{limit_bytes: 8_000}
    end
  end

  describe "programs" do
    test "survive term_to_binary, and run where their handle is gone" do
      {:ok, program} = Lisp.compile("(defn f [x] (* 2 x)) (f data/n)")
      stored = program |> :erlang.term_to_binary() |> :erlang.binary_to_term()
      assert ok(stored, context: %{n: 4}).return == 8
      elsewhere = %{program | handle: make_ref()}
      assert ok(elsewhere, context: %{n: 5}).return == 10
      assert %Program{} = program
    end

    test "what a program needs is found when it runs" do
      {:ok, program} = Lisp.compile("(f (tool/n))")
      assert fail(program).fail.message == "Undefined variable: f"
      memory = ok("(defn f [x] (inc x))").memory
      assert fail(program, memory: memory).fail.reason == :unknown_tool
      assert ok(program, memory: memory, tools: %{"n" => fn _ -> 1 end}).return == 2
    end
  end

  describe "functions of the memory" do
    test "have no reference, and mention other names of the memory" do
      first = ok("(def k 10) (defn g [x] (+ x k)) (defn f [x] (g (* 2 x)))")
      assert %Function{kind: :closure, captured: captured} = first.memory["f"]
      assert captured == %{}
      stored = first.memory |> :erlang.term_to_binary() |> :erlang.binary_to_term()
      assert ok("(f 1)", memory: stored).return == 12
    end

    test "are found in collections and in what others have captured" do
      first =
        ok("(def fs {:a [(let [n 3] (fn [x] (+ x n)))]}) (def h (comp inc (first (:a fs))))")

      assert ok("[((first (:a fs)) 1) (h 1)]", memory: first.memory).return == [4, 5]
    end

    test "are found in the history" do
      first = ok("(fn [x] (* x x))")
      assert ok("(*1 3)", turn_history: [first.return]).return == 9
    end

    test "a name of the memory stands before a built-in, also in functions of the memory" do
      first = ok("(defn size [xs] (count xs))")
      assert ok("(size [1 2])", memory: first.memory).return == 2
      memory = Map.put(first.memory, "count", 5)
      assert fail("(size [1 2])", memory: memory).fail.reason == :not_callable
    end
  end

  describe "tools" do
    test "arguments have texts as keys" do
      args = fn program -> hd(ok(program, tools: %{"t" => & &1}).tool_calls).args end

      assert args.(~S|(tool/t {:a-b 1 "c-d" [{:e-f {1 2}}]})|) == %{
               "a_b" => 1,
               "c_d" => [%{"e_f" => %{"1" => 2}}]
             }

      assert args.("(tool/t)") == %{}
    end

    test "of keys of arguments that become one text, the later one of the map counts, and a text before a keyword" do
      args = fn program -> hd(ok(program, tools: %{"t" => & &1}).tool_calls).args end

      for {program, value} <- [
            {"{:a_b 1 :a-b 2}", 1},
            {"{:a-b 1 :a_b 2}", 2},
            {~S({"a_b" 1 "a-b" 2}), 1},
            {~S({"a-b" 1 :a_b 2}), 1},
            {~S({"a_b" 1 :a-b 2}), 1},
            {~S({:a-b 1 "a-b" 2 :a_b 3}), 2}
          ] do
        assert args.("(tool/t #{program})") == %{"a_b" => value}
        assert args.("(tool/t {:in [#{program}]})") == %{"in" => [%{"a_b" => value}]}
      end
    end

    test "messages of tools that throw or exit have no stack trace" do
      for tool <- [fn _ -> throw(:no) end, fn _ -> exit({:no, self()}) end] do
        step = fail("(tool/t)", tools: %{"t" => tool})
        assert step.fail.reason == :tool_error
        refute step.fail.message =~ ".ex:"
      end
    end

    test "a maximum number of calls" do
      step =
        fail("(map (fn [i] (tool/t {:i i})) [1 2 3])", tools: %{"t" => & &1}, max_tool_calls: 2)

      assert step.fail.reason == :tool_call_limit_exceeded
      assert length(step.tool_calls) == 2
    end

    test "equal calls of a tool with a cache are made once" do
      test = self()
      tool = fn %{"n" => n} -> send(test, {:called, n}) && n end
      step = ok("(map (fn [n] (tool/t {:n n})) [1 2 1])", tools: %{"t" => {tool, cache: true}})
      assert step.return == [1, 2, 1]
      assert_received {:called, 1}
      assert_received {:called, 2}
      refute_received {:called, _}
      assert [_, _, %{cached: true, duration_ms: 0}] = step.tool_calls
    end

    test "long results are cut in the ledger" do
      long = String.duplicate("ab", 10_000)
      step = ok("(count (tool/t))", tools: %{"t" => fn _ -> long end})
      assert step.return == 20_000
      assert [%{result_truncated: true, result_bytes: 20_000, result: cut}] = step.tool_calls
      assert byte_size(cut) <= 16_384
    end

    test "tools with signatures get converted arguments" do
      tool = {fn %{"n" => n} -> n * 2 end, "(n :int) -> :int"}
      assert ok(~S|(tool/t {:n "21"})|, tools: %{"t" => tool}).return == 42
      step = fail(~S|(tool/t {:n "x"})|, tools: %{"t" => tool})
      assert step.fail.reason == :tool_error
    end

    test "what is no tool" do
      step = fail("1", tools: %{"t" => 5})
      assert step.fail.reason == :invalid_tool
      assert step.fail.message =~ "Tool 't': "
    end
  end
end
