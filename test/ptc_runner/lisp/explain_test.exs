defmodule PtcRunner.Lisp.ExplainTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Json.{Codec, Paused}
  alias PtcRunner.Lisp
  alias PtcRunner.Lisp.Explain
  alias PtcRunner.Test.Room

  doctest PtcRunner.Lisp.Explain
  doctest PtcRunner.Lisp.Explaining

  # Texts of the forms with the numbers of these keys.
  defp forms(explanation, keys \\ [:runs, :ended]) do
    for form <- explanation.operations, do: {form.about, Enum.map(keys, &Map.fetch!(form, &1))}
  end

  defp form(explanation, about), do: Enum.find(explanation.operations, &(&1.about == about))

  test "each form has its place, its runs and what its values were" do
    rows = [%{"n" => 1}, %{"n" => 2}, %{"n" => nil}]
    program = "(def a \"ä\") (inc 1)\n  (->> data/rows\n (keep :n) (map #(* % 2)))"
    explanation = Lisp.explain(program, context: %{"rows" => rows})

    assert {:ok, %{return: [2, 4], memory: %{"a" => "ä"}}} = explanation.result

    assert forms(explanation, [:path, :span, :op, :depth, :runs, :ended, :items_out, :kinds]) == [
             {"the program", [["program", 1, 1], {0, 64}, "do", 0, 1, 1, 2, [:list]]},
             {~S|(def a "ä")|, [["program", 1, 1], {0, 12}, "def", 1, 1, 1, nil, [:map]]},
             {"(inc 1)", [["program", 1, 13], {13, 7}, "call", 1, 1, 1, nil, [:number]]},
             {"(map #(* % 2))", [["program", 3, 12], {49, 14}, "call", 1, 1, 1, 2, [:list]]},
             {"(keep :n)", [["program", 3, 2], {39, 9}, "call", 2, 1, 1, 2, [:list]]},
             {"data/rows", [["program", 2, 8], {28, 9}, "data", 3, 1, 1, 3, [:list]]},
             {"#(* % 2)", [["program", 3, 17], {54, 8}, "call", 2, 2, 2, nil, [:number]]}
           ]

    assert explanation.findings == [] and explanation.failed_at == nil
    assert explanation.words == explanation.operations |> Enum.map(& &1.words) |> Enum.sum()
  end

  test "a loop is left by its last round" do
    explanation = Lisp.explain("(loop [i 0] (if (< i 5) (recur (inc i)) (do (println i) i)))")

    assert [{_loop, [1, 1]} | inside] = forms(explanation)

    assert inside == [
             {"(if (< i 5) (recur (inc i)) (do (println i) i))", [6, 1]},
             {"(< i 5)", [6, 6]},
             {"(recur (inc i))", [5, 0]},
             {"(inc i)", [5, 5]},
             {"(do (println i) i)", [1, 1]},
             {"(println i)", [1, 1]}
           ]

    assert form(explanation, "(< i 5)").held == 5
  end

  test "values that a loop grows" do
    program =
      "(loop [i 0 acc [] m {}] (if (< i 3) (recur (inc i) (conj acc i) (update m :k conj i)) [acc m]))"

    explanation = Lisp.explain(program)
    assert {:ok, %{return: [[0, 1, 2], %{"k" => [_, _, _]}]}} = explanation.result
    assert %{runs: 3, ended: 3, kinds: []} = form(explanation, "(conj acc i)")
    assert %{runs: 3, ended: 3} = form(explanation, "(update m :k conj i)")
  end

  test "the calls of a function are a form, and recursion counts once" do
    explanation = Lisp.explain("(defn down [n] (if (pos? n) (down (dec n)) n))\n(down 9)")
    calls = form(explanation, "calls of (defn down [n] (if (pos? n) (down (dec n)) n))")
    assert %{runs: 10, ended: 10, op: "fn"} = calls
    assert %{runs: 9, ended: 9} = inner = form(explanation, "(down (dec n))")
    whole = form(explanation, "(down 9)")
    assert inner.total_time <= calls.total_time and calls.total_time <= whole.total_time

    sum = explanation.operations |> Enum.map(&(&1.time + &1.tool_time)) |> Enum.sum()
    assert hd(explanation.operations).total_time == sum
  end

  test "a function that jumps to its start" do
    explanation = Lisp.explain("(defn f [n] (if (> n 3) n (recur (inc n)))) (f 0)")

    assert %{runs: 1, ended: 1} =
             form(explanation, "calls of (defn f [n] (if (> n 3) n (recur (inc n))))")

    assert %{runs: 5, ended: 1} = form(explanation, "(if (> n 3) n (recur (inc n)))")
  end

  test "closures of the memory have a place of their own" do
    {:ok, first} = Lisp.run("(def k 2)\n(defn times [x]\n  (* k x))")
    explanation = Lisp.explain("(map times [1 2])", memory: first.memory)
    assert {:ok, %{return: [2, 4]}} = explanation.result
    assert %{path: ["memory", 1, 2, 3], runs: 2} = form(explanation, "(* k x)")
  end

  test "a tool, and what catches its failure" do
    tools = %{"f" => fn %{"n" => n} -> if n == 2, do: raise("no"), else: n end}
    program = "(mapv (fn [n] (try (inc (tool/f {:n n})) (catch e (:tool e)))) [1 2 3])"
    explanation = Lisp.explain(program, tools: tools)
    assert {:ok, %{return: [2, "f", 4], tool_calls: [_, _, _]}} = explanation.result

    assert [_mapv, _list, {_try, [3, 3]} | inside] = forms(explanation)

    assert inside == [
             {"(inc (tool/f {:n n}))", [3, 2]},
             {"(tool/f {:n n})", [3, 2]},
             {"(:tool e)", [1, 1]}
           ]

    assert %{tool_calls: 3, tool_time: time} = form(explanation, "(tool/f {:n n})")
    assert time > 0
  end

  test "what was left in functions is left when an outer handler goes on" do
    tools = %{"f" => fn _ -> raise "no" end}

    program = """
    (defn g [n] (try (if (pos? n) (g (dec n)) (tool/f {})) (catch e (inc (tool/f {})))))
    [(try (g 2) (catch e 5)) (+ 1 1)]
    """

    explanation = Lisp.explain(program, tools: tools)
    assert {:ok, %{return: [5, 2]}} = explanation.result
    assert %{runs: 3, ended: 0} = form(explanation, "(inc (tool/f {}))")
    # Nothing that was left counts what comes behind.
    sum = explanation.operations |> Enum.map(&(&1.time + &1.tool_time)) |> Enum.sum()
    assert hd(explanation.operations).total_time == sum
    assert %{runs: 1, ended: 1} = hd(explanation.operations)
  end

  test "workers of pmap and pcalls" do
    tools = %{"f" => fn %{"n" => n} -> Process.sleep(3 - n) && n end}

    program =
      "(pmap (fn [n] (+ 1 (tool/f {:n n}))) [1 2 3]) (pcalls #(tool/f {:n 2}) (fn [] (inc 1)))"

    explanation = Lisp.explain(program, tools: tools)
    assert {:ok, %{return: [2, 2]}} = explanation.result
    assert %{runs: 3, ended: 3} = form(explanation, "(+ 1 (tool/f {:n n}))")
    assert %{runs: 3, ended: 3, tool_calls: 3} = form(explanation, "(tool/f {:n n})")
    assert %{runs: 1, ended: 1} = form(explanation, "(inc 1)")
    pmap = form(explanation, "(pmap (fn [n] (+ 1 (tool/f {:n n}))) [1 2 3])")
    assert pmap.total_time >= form(explanation, "(tool/f {:n n})").tool_time
  end

  test "a run that fails is explained up to there" do
    explanation = Lisp.explain("(println 1)\n(defn f [x]\n  (/ x 0))\n(map f [1 2])")
    assert {:error, %{fail: %{reason: :arithmetic_error}, prints: ["1"]}} = explanation.result
    assert explanation.failed_at == ["program", 3, 3]
    assert %{runs: 1, ended: 0} = form(explanation, "(/ x 0)")
    assert to_string(explanation) =~ ~r/^! arithmetic_error: division by zero\n/
    assert to_string(explanation) =~ "! ended here"

    explanation = Lisp.explain("(+ 1 (return 2) (inc 3))")
    assert {:ok, %{return: {:__ptc_return__, 2}}} = explanation.result
    assert %{runs: 0} = form(explanation, "(inc 3)")
    assert to_string(explanation) =~ "never reached"
  end

  test "what is wrong with a text has its place, and nothing has run" do
    assert %Explain{operations: [], failed_at: ["program", 2, 3]} =
             explanation = Lisp.explain("1\n  (if)")

    assert {:error, %{fail: %{reason: :invalid_arity}}} = explanation.result
    assert %Explain{operations: [], failed_at: nil} = Lisp.explain("(inc nope)")
  end

  test "a run that pauses, and one whose calls somebody decides about" do
    tools = %{"pay" => {fn %{"n" => n} -> n end, approve: true}}
    explanation = Lisp.explain("(def n (+ 1 1)) (inc (tool/pay {:n n}))", tools: tools)
    assert {:paused, paused} = explanation.result
    assert %{runs: 1, ended: 0, tool_calls: 1} = form(explanation, "(tool/pay {:n n})")
    assert explanation.failed_at == nil
    {:ok, paused} = paused |> Paused.to_map() |> Paused.from_map()
    assert {:ok, %{return: 3}} = Lisp.resume(paused, :approve, tools: tools)

    tools = %{"f" => {fn _ -> 1 end, max_calls: 2}}

    explanation =
      Lisp.explain("(+ (tool/f {}) (tool/f {}))", tools: tools, on_call: fn _ -> :run end)

    assert {:ok, %{return: 2}} = explanation.result
    assert [%{limit: :max_calls, tool: "f", used: 2, of: 2}] = explanation.near
  end

  test "a run that meets a limit says so" do
    explanation = Lisp.explain("(vec (range 100000))", max_heap: 10_000)
    assert {:error, %{fail: %{reason: :memory_exceeded}}} = explanation.result
    assert [%{limit: :max_heap, used: used, of: 10_000}] = explanation.near
    assert used >= 10_000

    Room.growing(50, fn timeout ->
      explanation = Lisp.explain("(loop [i 0] (recur (inc i)))", timeout: timeout)
      assert {:error, %{fail: %{reason: :timeout}}} = explanation.result
      assert %{limit: :timeout} = Enum.find(explanation.near, &(&1.limit == :timeout))
      assert form(explanation, "(inc i)").runs > 100
    end)
  end

  test "lists of a loop are counted within a bound" do
    program = "(loop [xs (vec (range 20000)) n 0] (if (seq xs) (recur (rest xs) (inc n)) n))"
    explanation = Lisp.explain(program, timeout: 60_000, max_heap: 0)
    assert {:ok, %{return: 20_000}} = explanation.result
    items = explanation.operations |> Enum.map(&(&1.items_out || 0)) |> Enum.sum()
    assert items < 5_000_000
  end

  test "a program with many forms" do
    program = "[" <> String.duplicate("(inc 1) ", 6_000) <> "]"
    explanation = Lisp.explain(program, timeout: 20_000, max_heap: 0)
    assert {:ok, %{return: [2 | _]}} = explanation.result
    assert length(explanation.operations) == 5_000
    assert List.last(explanation.operations).path == ["program", 1, 2 + 4_998 * 8]
  end

  test "a compiled program, and one with the same results unobserved" do
    program =
      "(defn f [x] (reduce + (map #(* % x) data/ns))) (println (f 2)) (sort-by - (map f [1 2 3]))"

    opts = [context: %{"ns" => Enum.to_list(1..50)}]
    {:ok, compiled} = Lisp.compile(program)
    {:ok, step} = Lisp.run(compiled, opts)

    for program <- [program, compiled] do
      explanation = Lisp.explain(program, opts)
      assert {:ok, explained} = explanation.result
      assert {explained.return, explained.prints} == {step.return, step.prints}
      assert %{runs: 200} = form(explanation, "#(* % x)")
    end
  end

  test "as JSON and on one line" do
    explanation = Lisp.explain("(inc 1)")
    assert {:ok, json} = explanation |> Explain.to_json() |> Codec.decode()

    assert [%{"kinds" => ["number"], "span" => [0, 7], "path" => ["program", 1, 1]}] =
             json["operations"]

    assert inspect(explanation) =~ ~r/^#PtcRunner.Lisp.Explain<ok: 2, 1 form, /
    assert inspect(Lisp.explain("(inc")) =~ "error: "

    assert_raise ArgumentError, ~r/a program of PtcRunner.Lisp is a text/, fn ->
      Lisp.explain(5)
    end
  end

  test "a text that is no text" do
    assert {:error, %{fail: %{reason: :parse_error}}} =
             Lisp.explain(<<"(inc ", 0xFF, ")">>).result
  end
end
