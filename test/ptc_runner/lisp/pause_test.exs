defmodule PtcRunner.Lisp.PauseTest do
  # Runs of PTC-Lisp that wait for a decision, go on, are recorded and replayed.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Paused}
  alias PtcRunner.Lisp
  alias PtcRunner.Test.{Calling, Environment, LispCalling, LispVectors}

  doctest LispCalling
  doctest PtcRunner.Json.Fingerprint

  @cases 100

  defp json(map), do: map |> Codec.encode!() |> Codec.decode!()
  defp etf(term), do: term |> :erlang.term_to_binary() |> :erlang.binary_to_term()

  # Goes on until the run ends; the paused run goes through its stored forms.
  defp finish({:paused, paused}, decision, opts) do
    assert {:ok, ^paused} = paused |> Paused.to_map() |> json() |> Paused.from_map()
    paused |> etf() |> Lisp.resume(decision, opts) |> finish(decision, opts)
  end

  defp finish(result, _decision, _opts), do: result

  # What a step says, without times.
  defp said({how, step}) do
    calls = for call <- step.tool_calls, do: Map.drop(call, [:timestamp, :duration_ms])
    {how, step.return, step.fail, step.memory, step.prints, calls}
  end

  describe "a pause" do
    test "at a tool that says approve: true, with prints and definitions before it" do
      me = self()

      tools = %{
        "total" => fn _ -> send(me, :asked) && 70 end,
        "pay" => {fn %{"sum" => sum} -> "paid #{sum}" end, approve: true}
      }

      program = """
      (defn due [x] (+ x bonus))
      (def t (tool/total))
      (println "due" (due t))
      (tool/pay {:sum (due t)})
      """

      opts = [tools: tools, memory: %{"bonus" => 5}]
      assert {:paused, paused} = Lisp.run(program, opts)
      assert [%{tool: "pay", args: %{"sum" => 75}, approve: true, number: 2}] = paused.calls
      assert inspect(paused) =~ ~S(pay with %{"sum" => 75})
      assert {:ok, step} = finish({:paused, paused}, :approve, tools: tools)
      assert {step.return, step.prints} == {"paid 75", ["due 75"]}
      assert %{"bonus" => 5, "t" => 70, "due" => %Lisp.Function{}} = step.memory
      assert for(call <- step.tool_calls, do: call.result) == [70, "paid 75"]
      assert_receive :asked
      refute_receive :asked, 0

      assert {:ok, %{return: "other"}} = Lisp.resume(paused, {:answer, "other"}, tools: tools)
      assert {:ok, %{return: "paid 1"}} = Lisp.resume(paused, {:run, %{"sum" => 1}}, tools: tools)
      assert {:error, step} = Lisp.resume(paused, {:deny, "no"}, tools: tools)
      assert step.fail.message == "Tool 'pay' was refused: no"
      assert step.prints == ["due 75"]
    end

    test "in a callback of a built-in, at each call in turn" do
      tools = %{"t" => {& &1["n"], approve: true}}
      program = "(sort-by (fn [x] (tool/t {:n (- x)})) [1 3 2])"
      paused = Lisp.run(program, tools: tools)
      assert {:ok, %{return: [3, 2, 1]}} = finish(paused, :approve, tools: tools)
      assert {:ok, %{return: [1, 3, 2]}} = finish(paused, {:answer, 0}, tools: tools)
    end

    test "no try catches it, and the error of a tool that fails later is caught" do
      tools = %{"t" => {fn _ -> {:error, %{code: 7}} end, approve: true}}
      program = ~S|(try (tool/t) (catch e [(ex-message e) (:tool e)]))|
      assert {:paused, _paused} = paused = Lisp.run(program, tools: tools)
      assert {:ok, step} = finish(paused, :approve, tools: tools)
      assert step.return == ["{:code 7}", "t"]
      {:paused, _} = again = Lisp.run("[#{program} (tool/t)]", tools: tools)
      assert {:error, step} = finish(again, :approve, tools: tools)
      assert step.fail.message == "Tool 't' failed: {:code 7}"
      assert for(call <- step.tool_calls, do: call.error) == ["{:code 7}", "{:code 7}"]
    end

    test "the options of the run go on with it" do
      tools = %{"t" => {fn _ -> 1.23456 end, approve: true}}

      opts = [
        tools: tools,
        turn_history: [1, 2],
        float_precision: 2,
        signature: "() -> [:any]",
        budget: %{left: 3},
        max_print_length: 3,
        strict_data: true,
        max_tool_calls: 1
      ]

      program = ~S|(println "abcdef") [*1 *2 (budget/remaining) (tool/t)]|
      plain = Lisp.run(program, [{:tools, %{"t" => fn _ -> 1.23456 end}} | opts])
      assert {:ok, %{return: [2, 1, %{left: 3}, 1.23]}} = plain
      assert said(finish(Lisp.run(program, opts), :approve, tools: tools)) == said(plain)
      assert {:paused, paused} = Lisp.run("(tool/t) data/none", opts)
      assert {:error, step} = Lisp.resume(paused, :approve, tools: tools)
      assert step.fail.message =~ "none"
    end

    test "functions of the memory and of the history survive" do
      {:ok, first} = Lisp.run("(def fs [(let [n 3] (fn [x] (+ x n)))]) (fn [y] (* 2 y))")
      tools = %{"t" => {fn _ -> 5 end, approve: true}}
      opts = [tools: tools, memory: first.memory, turn_history: [first.return]]

      assert {:ok, step} =
               finish(Lisp.run("((first fs) (*1 (tool/t)))", opts), :approve, tools: tools)

      assert step.return == 13
    end

    test "the time is that of the start" do
      program = ~S|[(System/currentTimeMillis) (.getTime (java.util.Date.)) (tool/t)]|
      opts = [tools: %{"t" => {fn _ -> 1 end, approve: true}}]
      {:paused, paused} = Lisp.run(program, [{:now, "2001-02-03T04:05:06Z"} | opts])
      time = 981_173_106_000
      assert {:ok, %{return: [^time, ^time, 1]}} = Lisp.resume(paused, :approve, opts)
      {:paused, paused} = Lisp.run(program, opts)
      {:ok, now, 0} = DateTime.from_iso8601(paused.now)
      now = DateTime.to_unix(now, :millisecond)
      Process.sleep(1_100)
      assert {:ok, %{return: [^now, ^now, 1]}} = Lisp.resume(paused, :approve, opts)
    end

    test "sealed: who holds the text can neither read nor change it" do
      keys = [:crypto.strong_rand_bytes(32)]
      tools = %{"t" => {fn _ -> 5 end, approve: true}}
      {:paused, paused} = Lisp.run("(def f (fn [x] x)) (f (tool/t))", tools: tools)
      text = Paused.seal(paused, keys, bind: 7, ttl: 60_000)
      refute Base.url_decode64!(text) =~ "tool/t"
      assert Paused.open(text, keys, bind: 7) == {:ok, paused}
      assert Paused.open(text, keys, bind: 8) == {:error, :invalid_seal}
      {:ok, opened} = Paused.open(text, keys, bind: 7)
      assert {:ok, %{return: 5}} = Lisp.resume(opened, :approve, tools: tools)
    end

    test "what cannot go on is said" do
      tools = %{"t" => {fn _ -> 5 end, approve: true}, "u" => {fn _ -> 1 end, approve: true}}
      opts = [tools: tools, context: %{"a" => 1, b_c: 2, other: 3}]
      {:paused, paused} = Lisp.run("[data/a data/b-c (tool/t) (tool/u)]", opts)

      refused = fn paused, decision, opts ->
        assert {:error, step} = Lisp.resume(paused, decision, opts)
        assert step.fail.reason == :execution_error
        step.fail.message
      end

      changed = &Keyword.put(opts, :context, &1)
      assert {:paused, second} = Lisp.resume(paused, :approve, changed.(%{"a" => 1, b_c: 2}))

      assert refused.(paused, :approve, changed.(%{"a" => 1, b_c: 3})) =~
               "The data that the program reads is not"

      assert refused.(paused, :approve, changed.(%{"a" => 1.0, b_c: 2})) =~
               "The data that the program reads is not"

      assert refused.(paused, %{"9" => :approve}, opts) == ~S(No call "9" waits. These wait: "1")

      assert refused.(%{second | program: "[data/a data/b-c (tool/u) (tool/t)]"}, :approve, opts) ==
               "The program calls 'u' with %{}, but the journal has 't' with %{}"

      assert refused.(%{paused | lisp: %{}}, :approve, opts) =~ "no valid options of PTC-Lisp"
      assert refused.(%{paused | journal: "x"}, :approve, opts) =~ "cannot be read"
      assert {:error, {:execution_error, text}} = Json.resume(paused, :approve, opts)
      assert text =~ "PtcRunner.Lisp.resume/3 goes on with it"

      {:paused, of_json} =
        Json.run(~s({"program": {"op": "call", "tool": "t"}}), tools: Map.take(tools, ["t"]))

      assert refused.(of_json, :approve, opts) =~ "PtcRunner.Json.resume/3 goes on with it"

      {:paused, hooked} = Lisp.run("(tool/t)", tools: tools, on_call: fn _ -> :pause end)
      assert refused.(hooked, :approve, tools: tools) =~ "The run was paused with :on_call"
      assert {:ok, %{return: 5}} = Lisp.resume(hooked, :approve, tools: tools, on_call: nil)

      {:paused, short} = Lisp.run("(tool/t)", tools: tools, pause_ttl: 1)
      Process.sleep(5)
      assert refused.(short, :approve, tools: tools) =~ "The paused run has expired"

      assert_raise ArgumentError, ~r/a decision must be/, fn ->
        Lisp.resume(paused, :yes, opts)
      end

      assert {:error, step} =
               Lisp.run("(tool/t)", tools: tools, memory: %{"p" => self()}, budget: 1)

      assert step.fail.message == "The run cannot be paused: its memory has a process"
    end
  end

  describe "record and replay" do
    test "prints, definitions, calls and errors come back without tools" do
      tools = %{"a" => fn args -> if args["n"] == 2, do: raise("two"), else: args["n"] end}

      program = """
      (def xs (mapv (fn [n] (try (tool/a {:n n}) (catch e (println (ex-message e)) 0))) [1 2 3]))
      (println xs)
      (tool/a {:n (reduce + xs)})
      """

      {result, journal} = Lisp.record(program, tools: tools)
      assert {:ok, %{return: 4, prints: ["two", "[1 0 3]"]}} = result
      assert journal["language"] == "lisp"
      assert said(Lisp.replay(program, json(journal))) == said(result)
      assert {:ok, compiled} = Lisp.compile(program)
      assert said(Lisp.replay(compiled, json(journal))) == said(result)

      failing = program <> "(tool/a {:n 2})"
      {result, journal} = Lisp.record(failing, tools: tools)
      assert {:error, %{fail: %{message: ~S(Tool 'a' failed: "two")}}} = result
      assert said(Lisp.replay(failing, json(journal))) == said(result)
    end

    test "a budget, a denial and a time come back" do
      program = "(mapv (fn [n] (tool/a {:n n})) [1 2 (System/currentTimeMillis)])"

      for opts <- [
            [max_tool_calls: 1],
            [on_call: fn call -> if call.number == 2, do: {:deny, "no"}, else: :run end],
            []
          ] do
        {result, journal} = Lisp.record(program, [{:tools, %{"a" => & &1["n"]}} | opts])
        assert said(Lisp.replay(program, json(journal))) == said(result)
      end
    end

    test "what is no journal of this program is said" do
      {_result, journal} = Lisp.record("[(tool/a) (tool/b)]", tools: %{"a" => & &1, "b" => & &1})

      said = fn program, journal ->
        assert {:error, step} = Lisp.replay(program, journal)
        step.fail.message
      end

      assert said.("(tool/b)", journal) ==
               "The program calls 'b' with %{}, but the journal has 'a' with %{}"

      assert said.("(tool/a)", journal) ==
               "The program has ended, but the journal has 'b' with %{}"

      assert said.("[(tool/a) (tool/b) (tool/c)]", journal) =~ "the journal has no more calls"
      assert said.("1", 5) == "No journal: 5"
      assert said.("1", %{"journal" => 9}) =~ "version 9"

      {_result, of_json} = Json.record(~s({"program": {"op": "literal", "value": 1}}), [])
      assert said.("1", of_json) =~ "The journal is one of PTC-JSON"

      assert {:error, {_, text}} =
               Json.replay(~s({"program": {"op": "literal", "value": 1}}), journal)

      assert text =~ "The journal is one of PTC-Lisp"
    end
  end

  describe "golden cases" do
    # Cases with tools; their tools may count, so each form of a run has its own.
    defp with_tools do
      for file <- LispVectors.files(),
          case <- LispVectors.cases(file),
          case.tools != %{},
          # They take their time, and are the business of the deadline.
          case.id not in ["mended/parallel/006"],
          do: case
    end

    defp right(case, run), do: assert(LispVectors.wrong(case, run) == nil)

    @tag timeout: 300_000
    test "recorded, and with a hook that says :run, have the same results" do
      cases = with_tools()
      assert length(cases) > 50

      for case <- cases do
        right(case, fn program, opts -> program |> Lisp.record(opts) |> elem(0) end)
        right(case, &Lisp.run(&1, [{:on_call, fn _call -> :run end} | &2]))
      end
    end

    @tag timeout: 300_000
    test "replayed, have the same results" do
      for case <- with_tools() do
        right(case, fn program, opts ->
          {result, journal} = Lisp.record(program, opts)
          stored? = match?({:ok, _}, Codec.encode(journal))

          if stored? and result |> elem(1) |> storable?(),
            do: Lisp.replay(program, json(journal), Keyword.delete(opts, :tools)),
            else: result
        end)
      end
    end

    # An answer that no journal can hold has ended the run, and a program that names an unknown tool has not begun.
    defp storable?(%{fail: %{reason: reason, message: text}}),
      do: reason != :unknown_tool and not (text =~ "which a journal cannot hold")

    defp storable?(_step), do: true
  end

  describe "random programs" do
    @tag timeout: 300_000
    test "recorded, replayed, paused at each call and resumed: the same result" do
      seed = Environment.seed()
      memory = LispCalling.memory()
      calls = :counters.new(1, [])
      tools = Calling.tools(fn _name, _args -> :counters.add(calls, 1, 1) end)

      opts = [
        context: Calling.context(),
        memory: memory,
        now: "2024-02-29T10:30:00Z",
        timeout: 20_000
      ]

      for n <- 1..Environment.cases(@cases) do
        program = LispCalling.program(seed, n)
        with_tools = [{:tools, tools} | opts]

        try do
          plain = said(Lisp.run(program, [{:on_call, fn _ -> :run end} | with_tools]))
          {recorded, journal} = Lisp.record(program, with_tools)
          assert said(recorded) === plain
          assert said(Lisp.replay(program, json(journal), opts)) === plain

          hook = fn _call -> :pause end
          paused = Lisp.run(program, [{:on_call, hook} | with_tools])
          assert said(finish(paused, :approve, [{:on_call, hook} | with_tools])) === plain

          last = max(length(journal["calls"]), 1)
          at = fn call -> if call.number == last, do: :pause, else: :run end
          paused = Lisp.run(program, [{:on_call, at} | with_tools])
          assert said(finish(paused, :approve, [{:on_call, nil} | with_tools])) === plain
        rescue
          error ->
            reraise "PTC_SEED=#{seed}, case #{n}: #{program}\n#{Exception.message(error)}",
                    __STACKTRACE__
        end
      end

      assert :counters.get(calls, 1) > @cases
    end
  end
end
