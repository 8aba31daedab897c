defmodule PtcRunner.Lisp.BesideTest do
  # Programs beside a stand-in for `ptc_runner`: where each one runs, and what goes from one side to the other.
  use ExUnit.Case, async: true

  alias PtcRunner.Lisp
  alias PtcRunner.Lisp.Beside
  alias PtcRunner.Test.{LispOriginal, LispVectors}

  doctest PtcRunner.Lisp.Beside
  doctest PtcRunner.Lisp.Beside.Choice

  @sides %{original: LispOriginal, sources: LispOriginal.Sources}

  defp run(program, opts \\ []), do: Beside.run(program, opts, @sides)
  defp place(program, opts \\ []), do: program |> run(opts) |> elem(0)

  defp value!(program, opts) do
    {place, {:ok, step}} = run(program, opts)
    {place, step.return}
  end

  describe "where a program runs" do
    test "natively, if nothing of what is left out is in it" do
      assert {:native, {:ok, %{return: 3, memory: %{}}}} = run("(+ 1 2)")

      assert place("(+ 1 data/n)", context: %{n: 1}, filter_context: false, journal: %{}) ==
               :native

      assert place("(+ 1 n)", memory: %{"n" => 1}, turn_history: [], budget: nil) == :native
      assert place("(/ 1 0)") == :native
    end

    test "in the original, if a name or a form is not one of this language, and nothing runs before" do
      me = self()
      tools = %{"pay" => fn _args -> send(me, :paid) end}
      assert value!("(describe 5)", []) == {:original, "described 5"}
      assert value!("(do (tool/pay) (describe 5))", tools: tools) == {:original, "described 5"}
      assert_received :paid
      refute_received :paid

      for text <- ["(task 1)", "(crm/get 1)", "(tool/none)", "(", "(doc map)", "(mcp/x)"],
          do: assert(place(text) == :original)

      # Its own messages, of its own step.
      assert {:original, {:error, %{fail: %{reason: :unbound_var}}}} = run("(task 1)")
    end

    test "in the original, if an option is not known here" do
      assert place("1", prelude: %{name: "crm"}) == :original
      assert place("1", trace_context: %{id: 1}) == :original
      assert place("1", trace_context: nil, prelude: []) == :native
      assert place("1", max_print_length: -1) == :original
      assert place("(pmap inc [1])", pmap_timeout: 5) == :original
      assert place("(map inc [1])", pmap_timeout: 5) == :native
      assert place("(pmap inc [1])", pmap_max_concurrency: 2) == :native
    end

    test "in the original, if it keeps the answers of a tool between runs, or the tool says what is not known here" do
      cached = %{"a" => {fn _ -> 1 end, cache: true}}
      assert place("(tool/a)", tools: cached) == :native
      assert place("(tool/a)", tools: cached, tool_cache: %{}) == :original

      assert place("(tool/a)", tools: %{"a" => {fn _ -> 1 end, visibility: :private}}) ==
               :original

      assert place("(tool/a)", tools: %{"a" => %{any: :struct}}) == :original
    end

    test "natively, whatever becomes of it, if only this library has what is asked for" do
      deny = fn _call -> {:deny, "no"} end
      tools = %{"pay" => fn _args -> flunk("was called") end}
      assert {:native, {:error, step}} = run("(tool/pay)", tools: tools, on_call: deny)
      assert step.fail.message =~ "was refused"
      assert {:native, {:error, step}} = run("(describe (tool/pay))", tools: tools, on_call: deny)
      assert step.fail.reason == :unbound_var

      asks = %{"pay" => {fn _args -> flunk("was called") end, approve: true}}

      assert {:native, {:paused, _paused}} =
               run("(tool/pay)", tools: asks, prelude: %{name: "crm"})

      assert {:native, {:error, _step}} = run("(task (tool/pay))", tools: asks)
      {:ok, program} = Lisp.compile("(+ 1 2)")
      assert value!(program, []) == {:native, 3}
      assert_raise ArgumentError, fn -> run("1", on_call: deny, timeout: -1) end
    end

    test "what the caller gives of a journal is in the step" do
      {:native, {:ok, step}} = run("1", journal: %{"a" => 1}, tool_cache: %{k: 1}, summaries: nil)
      assert {step.journal, step.tool_cache, step.summaries} == {%{"a" => 1}, %{k: 1}, %{}}
    end
  end

  describe "memory" do
    test "functions of ours are the original's in a step, and ours again in the next program" do
      {:native, {:ok, first}} =
        run(~S|(def k 2) (let [m 10] (defn f "Docs" [x & r] (+ (* k x) m (count r)))) (f 1)|)

      assert first.return == 12
      assert {:closure, params, _tree, captured, _history, meta} = first.memory["f"]
      assert params == [{:var, "x"}, {:var, "&"}, {:var, "r"}]
      assert {captured, meta.docstring} == {%{"m" => 10}, "Docs"}

      assert value!("(describe (f 1 2 3))", memory: first.memory) ==
               {:original, "described 14"}

      assert value!("(f 1 2 3)", memory: first.memory) == {:native, 14}
      assert value!("(pr-str f)", memory: first.memory) == {:native, "#fn[x & r]"}

      # What has not changed is the very same term.
      {:native, {:ok, second}} = run("(def seen (f 1))", memory: first.memory)
      assert :erts_debug.same(second.memory["f"], first.memory["f"])
    end

    test "functions of the original are taken by their source, with what they have captured" do
      {:ok, first} =
        LispOriginal.run(
          ~S|(defn g [x] (inc x)) (let [a 3 h #(* a %)] (defn f "Docs" [x] (g (h x)))) (def fs {:all [f #(str % "!")]})|
        )

      assert value!("(f 2)", memory: first.memory) == {:native, 7}
      assert value!("(map (first (:all fs)) [1 2])", memory: first.memory) == {:native, [4, 7]}
      assert value!("((second (:all fs)) 1)", memory: first.memory) == {:native, "1!"}

      # And through the store of another node.
      memory = first.memory |> :erlang.term_to_binary() |> :erlang.binary_to_term()
      {:native, {:ok, second}} = run("(def f2 (comp inc f)) (f2 2)", memory: memory)
      assert second.return == 8
      # `comp` makes an Elixir function there, which has no source.
      assert value!("(f2 2)", memory: second.memory) == {:original, 8}
      assert value!("(f 2)", memory: second.memory) == {:native, 7}
    end

    test "a function that mentions what is left out belongs to the original" do
      {:ok, step} = LispOriginal.run("(defn f [x] (describe x)) (defn g [x] (f x)) (def n 5)")
      assert value!("(g 1)", memory: step.memory) == {:original, "described 1"}
      assert place("n", memory: step.memory) == :native
      # A value of the memory may have such a name.
      assert place("task", memory: %{"task" => 1}) == :native
    end

    test "a recursive function, and two that call each other" do
      {:ok, step} =
        LispOriginal.run(
          "(def even nil) (defn fact [n] (if (< n 2) 1 (* n (fact (dec n))))) (defn odd [n] (if (= n 0) false (even (dec n)))) (defn even [n] (if (= n 0) true (odd (dec n))))"
        )

      assert value!("[(fact 20) (odd 7)]", memory: step.memory) ==
               {:native, [2_432_902_008_176_640_000, true]}
    end

    test "results of earlier turns" do
      {:ok, step} = LispOriginal.run("(let [a 2] (fn [x] (* a x)))")
      assert value!("(*1 4)", turn_history: [step.return]) == {:native, 8}
      assert value!("(+ 1 2)", turn_history: [fn -> 1 end]) == {:native, 3}
      assert place("(str *1)", turn_history: [{:re_mp, nil, nil, "a"}]) == :original
    end

    test "values without a source: the original has the program, if the program mentions them" do
      {:ok, step} = LispOriginal.run(~S|(def p #"a+") (def c (comp inc inc)) (def n 1)|)
      assert place("n", memory: step.memory) == :native
      assert value!("(re-find p \"baa\")", memory: step.memory) == {:original, "aa"}
      assert value!("(c 1)", memory: step.memory) == {:original, 3}
    end

    test "a program with try has no source for the original: the function stays this library's" do
      {:native, {:ok, step}} =
        run("(defn f [x] (try (tool/a) (catch e x)))", tools: %{"a" => fn _ -> raise "no" end})

      assert %Lisp.Function{} = step.memory["f"]

      assert {:native, 5} =
               value!("(f 5)", memory: step.memory, tools: %{"a" => fn _ -> raise "no" end})
    end
  end

  test "a function that calls a tool, and one that reads data" do
    tools = %{"double" => fn %{"n" => n} -> 2 * n end}
    source = "(def k 1) (defn f [n] (+ k data/plus (tool/double {:n n})))"
    opts = [tools: tools, context: %{"plus" => 100}]

    for run <- [&LispOriginal.run(source, &1), &elem(run(source, &1), 1)] do
      {:ok, step} = run.(opts)
      assert {:closure, _, _, _, _, _} = step.memory["f"]
      assert value!("(f 4)", [memory: step.memory] ++ opts) == {:native, 109}

      assert value!("(describe (f 4))", [memory: step.memory] ++ opts) ==
               {:original, "described 109"}
    end
  end

  test "variables, patterns and built-ins in results are the original's" do
    {:native, {:ok, step}} = run(~S|[(def a 1) #"x+" inc (comp inc dec) {:f (fn [x] x)}]|)
    assert [%LispOriginal.Var{name: "a"}, {:re_mp, _, _, "x+"}, inc, comp, map] = step.return
    assert inc.().name == "inc" and comp.().kind == :comp
    assert {:closure, [{:var, "x"}], _, _, _, _} = map["f"]
  end

  test "results, memory and errors of the golden cases, with each program before them on the other side" do
    wrong =
      for name <- LispVectors.files(),
          case <- LispVectors.compared(name),
          wrong = wrong(case),
          do: wrong

    assert wrong == []
  end

  # Each program before the last one runs in the original, if it can.
  defp wrong(case) do
    {:ok, left} = Agent.start_link(fn -> length(Map.get(case, :setup, [])) end)

    LispVectors.wrong(case, fn source, opts ->
      before? = Agent.get_and_update(left, &{&1 > 0, &1 - 1})

      cond do
        before? and not String.contains?(source, "(try") ->
          LispOriginal.run(source, opts)

        before? ->
          source |> run(opts) |> elem(1)

        true ->
          source |> run(opts) |> elem(1) |> then(fn {ended, step} -> {ended, ours(step)} end)
      end
    end)
  end

  # With this library's functions again, as the cases name them.
  defp ours(step),
    do: %{
      step
      | return: LispOriginal.theirs(step.return),
        memory: LispOriginal.theirs(step.memory)
    }
end
