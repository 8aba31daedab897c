defmodule PtcRunner.Lisp.ErrorPlaceTest do
  use ExUnit.Case, async: true
  doctest PtcRunner.Lisp.ErrorPlace

  alias PtcRunner.{Json, Lisp}
  alias PtcRunner.Json.Paused
  alias PtcRunner.Test.Peer

  # The part of a program between the marks, and the program without them.
  defp marked(program) do
    [before, part, behind] = String.split(program, ["⟪", "⟫"])
    {before <> part <> behind, byte_size(before), part}
  end

  defp fails_at(program, opts \\ []) do
    {program, offset, part} = marked(program)
    {:error, step} = Lisp.run(program, opts)
    assert %{error_at: at} = step.usage, "#{program}: #{Lisp.format_error(step)}"

    assert {program, at.offset, binary_part(program, at.offset, at.length)} ==
             {program, offset, part}

    before = binary_part(program, 0, offset) |> String.split("\n")
    assert at.line == length(before)
    assert at.column == String.length(List.last(before)) + 1
    step
  end

  @failing [
    "⟪(/ 1 0)⟫",
    "(+ 1\n   ⟪(/ 1 0)⟫)",
    "(let [x 1\n      y ⟪(+ x \"é\")⟫]\n  y)",
    "\"é\" ⟪(inc \"a\")⟫",
    "(if (= 1 1) ⟪(1 2)⟫ 3)",
    "(defn f [x]\n  ⟪(/ 1 x)⟫)\n(f 1)\n(f 0)",
    "(map (fn [x] ⟪(/ 1 x)⟫) [1 0])",
    "(map #(+ 1 ⟪(/ 1 %)⟫) [1 0])",
    "(reduce (fn [acc x] (conj acc ⟪(/ 1 x)⟫)) [] [1 0])",
    "(loop [i 3 acc []] (if (< i -1) acc (recur (dec i) (conj acc ⟪(/ 1 i)⟫))))",
    "(filter #⟪(> (inc %) 1)⟫ [1 \"a\"])"
    |> String.replace("#⟪(> (inc %) 1)⟫", "#(> ⟪(inc %)⟫ 1)"),
    # What a built-in calls that is no code of the program fails where the built-in is called.
    "(str \"a\")\n⟪(map inc [1 \"a\"])⟫",
    "⟪(sort-by :a > [{:a 1} {:a \"b\"} 3 #{}])⟫"
    |> String.replace(":a > [{:a 1} {:a \"b\"} 3 #{}]", "inc [1 \"b\"]"),
    "(-> 5 (- 5) ⟪(/ 0)⟫)" |> String.replace("(- 5) ⟪(/ 0)⟫", "⟪(/ 0)⟫"),
    "(cond false 1 :else ⟪(/ 1 0)⟫)",
    "(for [x [1 0]] ⟪(/ 1 x)⟫)",
    "(doseq [x [1 0]] (println x) ⟪(/ 1 x)⟫)",
    "(let [[a b] [1 2] {:keys [c]} {:c 0}] ⟪(/ a c)⟫)",
    "(apply (fn [x y] ⟪(/ x y)⟫) [1 0])",
    "((fn [x & r] ⟪(/ x (first r))⟫) 1 0)",
    "⟪(format \"%d\" \"a\")⟫",
    "(try ⟪(/ 1 0)⟫ (catch e 1))",
    "(defn f [n] (if (= n 0) ⟪(/ 1 n)⟫ (+ 1 (f (dec n))))) (f 300)",
    "(when (def a 1) 2)\n[(fn [] 3) ⟪(inc nil)⟫]"
  ]

  test "the innermost part of the program that was running" do
    for program <- @failing, do: fails_at(program)
  end

  test "the same in programs that are compiled before, and where the run is explained" do
    for program <- @failing do
      {text, offset, part} = marked(program)
      {:ok, compiled} = Lisp.compile(text)
      {:error, step} = Lisp.run(compiled)
      at = step.usage.error_at
      assert {text, at.offset, at.length} == {text, offset, byte_size(part)}
      {:error, step} = Lisp.explain(text).result
      assert {text, step.usage.error_at} == {text, at}
    end
  end

  test "tools that fail, called by code, as values, and by workers" do
    tools = %{"find" => fn args -> if args["id"] == 2, do: raise("no"), else: args["id"] end}
    fails_at("(tool/find {:id 1})\n(str ⟪(tool/find {:id 2})⟫)", tools: tools)
    fails_at("(map (fn [x] ⟪(tool/find {:id x})⟫) [1 2])", tools: tools)
    fails_at("(pmap (fn [x] ⟪(tool/find {:id x})⟫) [1 2])", tools: tools)
    fails_at("(pmap (fn [x] ⟪(/ 1 x)⟫) [1 0])", tools: tools)
    fails_at("(str 1)\n⟪(map tool/find [{:id 1} {:id 2}])⟫", tools: tools)
    # What a handler does.
    fails_at("(try (tool/find {:id 2}) (catch e ⟪(/ 1 0)⟫))", tools: tools)
    decided = [tools: tools, on_call: fn _ -> :run end]
    fails_at("(map (fn [x] ⟪(tool/find {:id x})⟫) [1 2])", decided)
  end

  test "a function of the memory has no place in the program: where it is called has" do
    {:ok, %{memory: memory}} = Lisp.run("(defn inverse [x] (/ 1 x))")
    fails_at("(def n 0)\n(+ 1 ⟪(inverse n)⟫)", memory: memory)
    fails_at("(str 1) ⟪(map inverse [1 0])⟫", memory: memory)
  end

  test "a name of a built-in that the memory has" do
    {:ok, %{memory: memory}} = Lisp.run("(def inc (fn [x] (str x)))")
    fails_at("(inc 1) (str (inc 2)) ⟪(/ 1 0)⟫", memory: memory)
  end

  test "a run that goes on behind a pause" do
    tools = %{"pay" => {fn args -> args["n"] end, approve: true}}
    {program, offset, part} = marked("(def n (tool/pay {:n 0}))\n(println n)\n⟪(/ 1 n)⟫")
    {:paused, %Paused{} = paused} = Lisp.run(program, tools: tools)
    {:error, step} = Lisp.resume(paused, :approve, tools: tools)
    assert step.fail.reason == :arithmetic_error
    at = step.usage.error_at
    assert {at.offset, at.length, at.line} == {offset, byte_size(part), 3}
    assert step.prints == ["0"]
  end

  test "errors before the run, and those that have no place" do
    fails_at("(map inc\n  ⟪(if)⟫)")
    fails_at("(+ 1 ⟪totl⟫)")
    fails_at("(str ;tool/fnd\n (⟪tool/fnd⟫ {}))")

    for {program, opts} <- [
          {"(+ 1 2)", [max_program_bytes: 3]},
          {"(+ a b)", [max_symbols: 1]},
          {"(loop [] (recur))", [timeout: 20]},
          {"5", [signature: "() -> :string"]}
        ] do
      {:error, step} = Lisp.run(program, opts)
      refute Map.has_key?(step.usage, :error_at)
    end

    {:ok, step} = Lisp.run("(+ 1 2)")
    assert step.usage |> Map.keys() |> Enum.sort() == [:duration_ms, :memory_bytes]
  end

  # How often a text is compiled, in a VM where nothing else is.
  @compilations """
  alias PtcRunner.{Agent, Lisp, Native}

  count = fn ->
    for({"lisp_compile", _, calls, _, _} <- Native.clock_read(), do: calls) |> Enum.sum()
  end

  compilations = fn fun ->
    before = count.()
    fun.()
    count.() - before
  end

  true = Native.clock_switch(true)
  before_the_run = ["(map inc\\n  (if))", "(+ 1 totl)", "(tool/fnd {})", "(+ 1"]

  for(text <- before_the_run, do: {text, compilations.(fn -> Lisp.run(text) end)}) ++
    for(text <- before_the_run, do: {text, compilations.(fn -> Lisp.explain(text) end)}) ++
    for(
      text <- before_the_run,
      do: {text, compilations.(fn -> Agent.program("```clojure\\n" <> text <> "\\n```", language: :lisp) end)}
    ) ++
    for(text <- ["(/ 1 0)", "(+ 1 2)"], do: {text, compilations.(fn -> Lisp.run(text) end)})
  """

  test "only for the place of an error of the run a text is compiled again" do
    counts = Peer.start() |> Peer.eval(@compilations)
    assert length(counts) == 14
    assert for({text, count} <- counts, count != 1, do: {text, count}) == [{"(/ 1 0)", 2}]
  end

  test "a context with a text that is read in place" do
    rows = for i <- 1..2_000, do: %{"n" => rem(i, 1_999)}
    text = rows |> Json.Codec.encode!() |> Json.text()

    fails_at("(str 1)\n(reduce (fn [s r] (+ s ⟪(/ 1 (:n r))⟫)) 0 data/rows)",
      context: %{"rows" => text}
    )
  end

  test "deep recursion through a function of the memory" do
    {:ok, %{memory: memory}} =
      Lisp.run("(defn down [n f] (if (= n 0) (f n) (+ 1 (down (dec n) f))))")

    fails_at("(str 1) (down 500 (fn [x] ⟪(/ 1 x)⟫))", memory: memory)

    fails_at("(str 1) ⟪(down 500 tool/none)⟫",
      memory: memory,
      tools: %{"none" => fn _ -> raise "no" end}
    )
  end
end
