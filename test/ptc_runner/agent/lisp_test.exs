defmodule PtcRunner.Agent.LispTest do
  # Agents whose models write PTC-Lisp; a canned model gives one answer after the other.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Agent.Lisp.Prompt
  alias PtcRunner.Test.Room

  doctest PtcRunner.Agent.Lisp.Allowed
  doctest PtcRunner.Agent.Lisp.Fences
  doctest PtcRunner.Agent.Lisp.Prompt
  doctest PtcRunner.Agent.Lisp.Run
  doctest PtcRunner.Agent.Lisp.Source
  doctest PtcRunner.Agent.Lisp.Told

  @orders [
    %{"id" => 1, "customer" => "Ada", "total" => 50, "currency" => "EUR"},
    %{"id" => 2, "customer" => "Bo", "total" => 150, "currency" => "CHF"},
    %{"id" => 3, "customer" => "Ada", "total" => 200, "currency" => "USD"}
  ]

  defp model(answers) do
    {:ok, pid} = Elixir.Agent.start_link(fn -> {answers, []} end)

    ask = fn messages ->
      Elixir.Agent.get_and_update(pid, fn
        {[answer | answers], asked} -> {answer, {answers, [messages | asked]}}
        {[], asked} -> {{:halt, :no_answer_left}, {[], [messages | asked]}}
      end)
    end

    {ask, fn -> pid |> Elixir.Agent.get(&elem(&1, 1)) |> Enum.reverse() end}
  end

  defp loop(answers, task) do
    {ask, asked} = model(answers)
    result = Agent.loop(ask, [language: :lisp] ++ task)
    {result, for(messages <- tl(asked.()), do: List.last(messages).content)}
  end

  defp fence(program), do: "Here it is:\n```clojure\n#{program}\n```\nThat is all."

  test "a task over rows in two turns: definitions and results of one turn are there in the next" do
    answers = [
      fence(
        "(def large (filter #(> (:total %) 100) data/orders))\n(defn total [rows] (sum-by :total rows))\n(println (count large))"
      ),
      fence("(return {:n (count large) :total (total large)})")
    ]

    task = [task: "The large ones.", context: %{"orders" => @orders}]
    {{:ok, step}, [told]} = loop(answers, task ++ [returns: "{n :int, total :int}"])
    assert step.return == %{"n" => 2, "total" => 350}
    assert told =~ "The program printed:\n| 2\nDefined: large, (total rows)."
    assert told =~ "You have 4 turns left."
    assert [%{success?: true, prints: ["2"]}, %{success?: true}] = step.turns
    assert %PtcRunner.Lisp.Function{params: ["rows"]} = step.memory["total"]
  end

  test "*1, *2 and *3 are the values of the turns before" do
    answers = [
      fence("[1 2 3]"),
      fence("(map inc *1)"),
      fence("(return (+ (first *1) (first *2)))")
    ]

    {{:ok, step}, [first, second]} = loop(answers, task: "x", returns: ":int", max_turns: 3)
    assert step.return == 3
    assert first =~ "Its value: [1 2 3]" and first =~ "expected integer"
    assert second =~ "[2 3 4]"
  end

  test "a value that fits ends the loop, and without a type each that is not nil" do
    assert {{:ok, %{return: 3}}, []} = loop([fence("(+ 1 2)")], task: "x", returns: ":int")
    assert {{:ok, %{return: [1]}}, []} = loop(["[1]"], task: "x")
    assert {{:ok, %{return: 5}}, [_told]} = loop(["(def x 5)", "x"], task: "x")
    assert {{:ok, %{return: nil}}, []} = loop(["nil"], task: "x", max_turns: 1)
  end

  test "keys are texts, and values are converted as for JSON" do
    program = ~s|(return {:name :first "rows" [{:id 2.0}]})|
    returns = "{name :string, rows [{id :int}]}"
    assert {{:ok, step}, []} = loop([program], task: "x", returns: returns)
    assert step.return == %{"name" => "first", "rows" => [%{"id" => 2}]}
    assert "rows.[0].id: converted 2.0 to an integer" in hd(step.turns).prints
  end

  test "the model's failure" do
    {{:error, step}, []} = loop([fence(~s[(fail "no such order")])], task: "x", returns: ":int")
    assert step.fail.reason == :failed and step.fail.message == "no such order"
    assert step.fail.details == %{value: "no such order"}
    {{:error, step}, []} = loop([fence("(def a 1) (fail {:code 7})")], task: "x")
    assert step.fail.details.value == %{"code" => 7} and step.memory == %{"a" => 1}
  end

  test "mistakes are told" do
    answers = [
      "I would count them.",
      fence("(count data/orders"),
      "```clojure\n(count [1",
      fence("(count ordrs)"),
      fence("(tool/lokup {:id 1})"),
      fence(~s[(tool/lookup {:id "x"})]),
      fence("(println \"a\") (/ 1 0)"),
      fence("\"three\""),
      fence("(count data/orders)")
    ]

    tools = %{"lookup" => {& &1["id"], "(id :int) -> :int"}}
    task = [task: "x", context: %{"orders" => @orders}, tools: tools, returns: ":int"]
    {{:ok, step}, told} = loop(answers, task ++ [max_turns: 9])
    assert step.return == 3

    for {text, part} <-
          Enum.zip(told, [
            "The answer has no program of PTC-Lisp. Write the whole program again, in one ```clojure fence.",
            "unbalanced parentheses: 1 unclosed '('",
            "it was cut off",
            "Undefined variable: ordrs",
            "Unknown tool: lokup. Available tools: lookup",
            "id: expected integer, got string",
            "division by zero. Write the whole program again, in one ```clojure fence.\nThe program printed:\n| a\nThe error is at line 1, column 15: (/ 1 0)",
            "its value is not what was asked for:"
          ]) do
      assert text =~ part
    end

    assert Enum.map(step.turns, & &1.success?) == List.duplicate(false, 8) ++ [true]
  end

  test "a tool that fails ends the program, and its calls are told; try catches it" do
    tools = %{
      "pay" => {fn %{"to" => to} -> {:ok, "paid " <> to} end, "(to :string) -> :string"},
      "rate" => {fn _ -> {:error, "closed"} end, signature: "() -> :float", effect: :read}
    }

    answers = [
      ~s[(tool/pay {:to "Ada"}) (tool/rate)],
      ~s[(try (tool/rate) (catch e (str e)))]
    ]

    {{:ok, step}, [told]} = loop(answers, task: "x", tools: tools, returns: ":string")
    assert told =~ "Tool 'rate' failed" and told =~ "closed"
    assert told =~ "Do not make them again" and told =~ ~s|pay({"to":"Ada"}) -> "paid Ada"|
    assert step.return =~ "closed"

    assert for(call <- Agent.audit(step), do: {call.turn, call.tool, call.error != nil}) ==
             [{1, "pay", false}, {1, "rate", true}, {2, "rate", true}]
  end

  test "prints are shown within a budget, and no line can be taken for a title" do
    answers = [
      ~S|(println "# Task\n```") (doseq [i (range 1000)] (println "row number" i))|,
      "(return 1)"
    ]

    {{:ok, step}, [told]} = loop(answers, task: "x", returns: ":int")
    assert told =~ "| # Task\n| ```\n| row number 0\n" and told =~ ~r/… and \d+ more prints/
    assert byte_size(told) < 5_000
    assert length(hd(step.turns).prints) == 1_001
  end

  test "limits: time, heap, calls of all turns, of a tool, and its time" do
    Room.growing(100, fn timeout ->
      {{:error, step}, told} =
        loop(["(loop [] (recur))", "(count (range 10000000))"],
          task: "x",
          timeout: timeout,
          max_heap: 10_000,
          max_turns: 2
        )

      assert hd(told) =~ "timeout: execution exceeded #{timeout}ms limit"
      assert step.fail.reason == :max_turns and step.fail.message =~ "memory_exceeded"
    end)

    tools = %{"n" => fn _ -> 1 end, "once" => {fn _ -> 1 end, max_calls: 1}}
    many = [task: "x", tools: tools, max_tool_calls: 3, max_turns: 3]
    answers = ["(def a [(tool/n) (tool/n)])", "[(tool/n) (tool/n)]", "(tool/once)"]
    {{:error, step}, [_, told]} = loop(answers, many)
    assert told =~ "Tools were called 3 times" or told =~ "was called 3 times"
    assert step.fail.message =~ "no more than 3 calls"

    {{:error, step}, []} =
      loop(
        ["[(tool/once) (tool/once)]"],
        (many ++ [max_turns: 1]) |> Enum.uniq_by(&elem(&1, 0)) |> Keyword.put(:max_turns, 1)
      )

    assert step.fail.message =~ "Tool 'once' was called 1 time"

    slow = %{"slow" => {fn _ -> Process.sleep(:infinity) end, timeout: 20}}
    program = "(try (tool/slow) (catch e (str e)))"
    {{:ok, step}, []} = loop([program], task: "x", tools: slow, timeout: 60_000)
    assert step.return =~ "it did not answer within 20 ms"
  end

  test "a cached tool is called once for equal arguments, and both calls are recorded" do
    counter = :counters.new(1, [])
    fun = fn %{"n" => n} -> :counters.add(counter, 1, 1) && n end
    tools = %{"get" => {fun, signature: "(n :int) -> :int", cache: true, effect: :read}}
    program = "(+ (tool/get {:n 2}) (tool/get {:n 2}))"
    {{:ok, step}, []} = loop([program], task: "x", tools: tools)
    assert step.return == 4 and :counters.get(counter, 1) == 1
    assert [%{decision: :run}, %{decision: :cache, by: :cache}] = Agent.audit(step)
  end

  test "tools of two arguments, structs, and what the program gets of them" do
    tools = %{
      "who" => fn _args, %{context: %{actor: actor}} -> %{at: ~D[2026-01-31], by: actor} end
    }

    {ask, _} = model(["(return {:by (:by (tool/who)) :day (str (:at (tool/who)))})"])
    task = [task: "x", tools: tools, tool_context: [actor: "Eve"], language: :lisp]
    assert {:ok, step} = Agent.loop(ask, task, context: %{range: 1..3})
    assert step.return == %{"by" => "Eve", "day" => "2026-01-31"}
    assert [%{context: %{"actor" => "Eve"}} | _] = Agent.audit(step)

    assert {:ok, 3, _info} =
             Agent.run("(:last data/r)", %{}, language: :lisp, context: %{r: 1..3})
  end

  describe "control" do
    defp pay do
      %{
        "due" => {fn _ -> 70 end, signature: "() -> :int", effect: :read},
        "pay" =>
          {fn %{"sum" => sum} -> "paid #{sum}" end,
           signature: "(sum :int) -> :string", approve: true}
      }
    end

    test "a loop waits for a person in its second turn, is stored, and goes on on another node" do
      answers = [
        "(def due (tool/due)) (println due)",
        ~S|(println "now") (return [(tool/pay {:sum (str due)}) *1 due])|
      ]

      {ask, _} = model(answers)
      task = [task: "Pay.", tools: pay(), returns: "[:any]", language: :lisp]
      assert {:paused, %Agent.Paused{kind: :loop} = paused} = Agent.loop(ask, task)
      assert [%{tool: "pay", args: %{"sum" => 70}, asked: %{"sum" => "70"}}] = paused.calls
      keys = [:crypto.strong_rand_bytes(32)]
      text = Agent.Paused.seal(paused, keys, bind: 7, ttl: 60_000)
      assert {:ok, ^paused} = Agent.Paused.open(text, keys, bind: 7)

      {:ok, paused} =
        paused
        |> Agent.Paused.to_map()
        |> PtcRunner.Json.Codec.encode!()
        |> PtcRunner.Json.Codec.decode!()
        |> Agent.Paused.from_map()

      opts = [model: ask, tools: pay()]
      decided = {:decided, :approve, by: "Ann"}
      assert {:ok, step} = Agent.resume(paused, decided, opts)
      assert ["paid 70", _var, 70] = step.return
      assert [%{prints: ["70"]}, %{prints: ["now" | _]}] = step.turns

      assert [
               %{tool: "due", turn: 1, decision: :run},
               %{tool: "pay", turn: 2, decision: :approved, by: "Ann", key: key}
             ] = Agent.audit(step)

      assert key =~ ~r/-2\.1\z/

      {ask, _} = model(["(return [5])"])

      assert {:ok, %{return: [5]} = step} =
               Agent.resume(paused, {:deny, "no"}, [{:model, ask} | tl(opts)])

      assert Enum.any?(step.messages, &(&1.content =~ "Tool 'pay' was refused: no"))
    end

    test "a run of one program, also with the budget of before" do
      program = "(mapv (fn [n] (tool/pay {:sum n})) [1 2])"
      opts = [language: :lisp, max_tool_calls: 1, info: true]
      assert {:paused, paused} = Agent.run(program, pay(), opts)
      assert {:error, error, told, info} = Agent.resume(paused, :approve, tools: pay())
      assert {:tool_call_limit_exceeded, _text} = error
      assert told =~ "no more than 1 call is allowed"

      assert [%{name: "pay", result: ~S("paid 1")}, %{name: "pay", status: :refused}] =
               info.tool_calls

      again = Agent.resume(paused, :approve, tools: pay(), max_tool_calls: 2)
      assert {:paused, paused} = again
      assert {:ok, ["paid 1", "none"], _} = Agent.resume(paused, {:answer, "none"}, tools: pay())
    end

    test "on_call, on_event and on_journal are asked and told as for JSON; a journal is replayed" do
      me = self()
      answers = [fence("(def due (tool/due))"), fence("(return (+ due (tool/due)))")]
      {ask, _} = model(answers)
      task = [task: "Due?", tools: pay(), returns: ":int", language: :lisp]

      hook = fn call ->
        send(me, {:asked, call.key})
        if call.key =~ "-2.", do: {:answer, 5}, else: :run
      end

      {:ok, step} =
        Agent.loop(ask, task,
          on_call: hook,
          on_event: &(&1.event == :call && send(me, {:told, &1.decision})),
          on_journal: &send(me, {:journal, &1})
        )

      assert step.return == 75
      assert_receive {:asked, _}
      assert_receive {:told, :run}
      assert_receive {:told, :answer}
      journal = received()
      assert length(journal) == 5
      {ask, _} = model(answers)

      without =
        for {name, {_fun, opts}} <- pay(),
            into: %{},
            do: {name, {fn _ -> raise "called" end, opts}}

      assert {:ok, again} = Agent.replay(ask, journal, Keyword.put(task, :tools, without))
      assert again.return == 75
      assert for(call <- Agent.audit(again), do: call.decision) == [:replay, :replay]

      other = model([fence("(def due 1)"), fence("(return (tool/due {:n 2}))")]) |> elem(0)
      assert {:error, step} = Agent.replay(other, journal, Keyword.put(task, :max_turns, 2))
      assert step.fail.message =~ "no more calls"
    end

    test "each program that writes is approved by its plan; all turns are within one" do
      me = self()

      tools = %{
        "pay" => {fn %{"sum" => sum} -> "paid #{sum}" end, "(sum :int, to :string) -> :string"}
      }

      task = [task: "Pay.", tools: tools, returns: ":string", language: :lisp, max_turns: 3]
      program = ~S|(return (tool/pay {:sum (+ 1 2) :to "Ada"}))|
      {ask, _} = model(["(def rows [1])", program])

      asked = fn plan ->
        send(me, {:plan, plan})
        :pause
      end

      assert {:paused, paused} = Agent.loop(ask, task, approve: asked)
      assert_receive {:plan, plan}
      refute_receive {:plan, _}, 0

      assert [_, "  pay (write): ≤ 1", "    sum: unknown", ~S(    to: "Ada") | _] =
               plan |> to_string() |> String.split("\n")

      assert {:ok, ^plan} = PtcRunner.Json.Plan.from_map(paused.run.plan)
      opts = [model: ask, tools: tools, approve: asked]
      {:ok, stored} = paused |> Agent.Paused.to_map() |> Agent.Paused.from_map()
      assert {:ok, %{return: "paid 3"}} = Agent.resume(stored, :approve, opts)
      assert {:ok, %{return: "paid 3"}} = Agent.resume(paused, {:within, plan}, opts)

      {ask, _} = model(["nil"])

      assert {:error, step} =
               Agent.resume(paused, {:deny, "too much"}, [{:model, ask} | tl(opts)])

      assert Enum.any?(step.messages, &(&1.content =~ "The program was refused: too much"))

      {ask, _} = model([program, program])
      said = &{:refuse, "not #{hd(&1.tools).name}"}
      assert {:error, step} = Agent.loop(ask, task, approve: said)
      assert Enum.any?(step.messages, &(&1.content =~ "The program was refused: not pay"))

      approved = PtcRunner.Json.Plan.approve(plan, at_most: %{"pay" => 1})
      {ask, _} = model([~S|(tool/pay {:sum 3 :to "Eve"})|, program])
      assert {:ok, %{return: "paid 3"} = step} = Agent.loop(ask, task, within: approved)
      assert Enum.any?(step.messages, &(&1.content =~ "The program is not within the plan"))

      # One call for all turns.
      again = ~S|(def paid (tool/pay {:sum (+ 1 2) :to "Ada"})) nil|
      {:ok, plan} = PtcRunner.Lisp.plan(again, tools: tools)
      {ask, _} = model([again, again])
      assert {:error, step} = Agent.loop(ask, task, within: plan)
      assert for(call <- Agent.audit(step), do: call.tool) == ["pay"]
      assert Enum.any?(step.messages, &(&1.content =~ "is not within the plan"))
    end

    defp received do
      receive do
        {:journal, map} -> [map | received()]
      after
        0 -> []
      end
    end
  end

  test "options of the JSON language are refused by their names" do
    for {name, value} <- [
          check: true,
          findings: :ignore,
          max_depth: 5,
          strict: true,
          edition: 2,
          keys: :any,
          operations: :all,
          repair: false,
          truncated: :error,
          coerce: true,
          catalogue: true,
          answer: :value
        ] do
      message = ~r/option :?#{name}.* works with language: :json/

      assert_raise ArgumentError, message, fn ->
        Agent.loop(fn _ -> "1" end, [task: "x", language: :lisp], [{name, value}])
      end
    end
  end

  test "calls of pmap go to a tool that takes lists together, and its answers are looked at one by one" do
    me = self()

    fun = fn list ->
      send(me, {:list, length(list)})
      for %{"n" => n} <- list, do: if(n == 2, do: {:error, "no two"}, else: {:ok, %{"_n" => n}})
    end

    program = "(pmap (fn [n] (try (tool/find {:n n}) (catch e (ex-message e)))) [1 2 3])"
    ask = fn _messages -> program end
    opts = [language: :lisp, task: "x", firewall: false, tool_concurrency: 1]

    for form <- [{fun, batch: 10}, {fun, batch: 10, signature: "(n :int) -> :map"}] do
      assert {:ok, step} = Agent.loop(ask, [tools: %{"find" => form}] ++ opts)
      assert step.return == [%{"_n" => 1}, "no two", %{"_n" => 3}]
      assert_received {:list, 3}
      assert length(step.tool_calls) == 3
    end

    # What is firewalled is found in each answer.
    tools = %{"find" => {fun, batch: 10, signature: "(n :int) -> {_n :int}"}}

    for tools <- [tools, %{"find" => {fun, batch: 10}}] do
      assert {:ok, step} = Agent.loop(ask, language: :lisp, task: "x", tools: tools)
      assert step.return == [%{}, "no two", %{}]
    end

    wrong = %{"find" => {fn _list -> :none end, batch: 10}}
    assert {:ok, step} = Agent.loop(ask, [tools: wrong] ++ opts)
    assert [text, text, text] = step.return
    assert text =~ "it was given 3 calls, and must answer a list of 3 answers"
  end

  test "programs and the model get nothing of firewalled fields, unless the application says that there is no firewall" do
    # No timestamp and no number of words has so many digits.
    rows = [%{"id" => 1, "_pin" => 884_711_884_711}, %{"id" => 2, "_pin" => 884_711_884_712}]
    hidden = [task: "x", language: :lisp, context: %{"rows" => rows}, max_turns: 1]

    assert {:ok, %{return: 884_711_884_711}} =
             Agent.loop(fn _ -> "(:_pin (first data/rows))" end, [firewall: false] ++ hidden)

    # A field that is named is said.
    {{:error, step}, [told]} =
      loop(["(:_pin (first data/rows))", "(inc data/rows)"], Keyword.put(hidden, :max_turns, 2))

    assert told =~
             "validation_error: The program names the field _pin, and data/rows has it, or other firewalled fields."

    refute inspect(step, structs: false, limit: :infinity) =~ "884711884"

    tools = %{
      "rows" => {fn _ -> rows end, "() -> [{id :int, _pin :int}]"},
      "any" => fn _ -> %{"_pin" => 884_711_884_711, "a" => [_pin: 884_711_884_711, b: 2]} end
    }

    programs = [
      "(def kept (tool/rows)) (println kept data/rows) nil",
      "(+ 1 (tool/any))",
      "(def k2 [*1 kept (tool/any)]) (println k2 (vals (first data/rows))) nil",
      "(return (concat kept data/rows))"
    ]

    {{:ok, step}, told} =
      loop(programs, task: "x", tools: tools, context: %{"rows" => rows}, max_turns: 5)

    assert step.return == [%{"id" => 1}, %{"id" => 2}, %{"id" => 1}, %{"id" => 2}]
    assert length(told) == 3

    refute inspect(step, structs: false, limit: :infinity, printable_limit: :infinity) =~
             "884711884"

    {{:error, _step}, [told]} =
      loop(["(:_pin (tool/any))", "(x"], task: "x", tools: tools, max_turns: 2)

    assert told =~ "its answer has it, or other firewalled fields"

    needs = %{"pay" => {fn _ -> 1 end, "(_card :string) -> :int"}}

    assert_raise ArgumentError, ~r/tool "pay" has firewalled parameters/, fn ->
      Agent.loop(fn _ -> "1" end, task: "x", language: :lisp, tools: needs)
    end
  end

  defmodule Card do
    defstruct [:id, :number]
    def __schema__(:redact_fields), do: [:number]
  end

  test "a field that a struct redacts is no part of what programs see" do
    card = %Card{id: 1, number: 4711}

    opts = [
      task: "x",
      language: :lisp,
      context: %{"card" => card},
      tools: %{"card" => fn _ -> [card] end}
    ]

    program = fn _ -> "[data/card (tool/card) (:number data/card)]" end
    assert {:ok, %{return: [%{"id" => 1} = one, [%{"id" => 1}], nil]}} = Agent.loop(program, opts)
    refute is_map_key(one, "number")

    assert {:ok, %{return: [%{"number" => 4711}, _, 4711]}} =
             Agent.loop(program, [firewall: false] ++ opts)
  end

  test "where the program stands in an answer" do
    for {text, value} <- [
          {"(+ 1 2)", 3},
          {"3", 3},
          {"; three\n(+ 1\n 2)", 3},
          {"The program:\n\n(+ 1 2)\n\nIt adds.", 3},
          {"```clj\n(+ 1 2)\n```", 3},
          {"```\n(+ 1 2)\n```", 3},
          {"~~~lisp\n(+ 1 2)\n~~~", 3},
          {"```clojure (+ 1 2)```", 3},
          {"```clojure\n(+ 1 2)```", 3},
          {"```clojure\n(+ 1 2)\n", 3},
          {"```json\n{}\n```\n```clojure\n(+ 1 2)\n```", 3},
          {"<think>```clojure\n(+ 1 1)\n```</think>```clojure\n(+ 1 2)\n```", 3},
          {"```clojure\n(+ 1 1)\n```\nWait, that is wrong:\n```clojure\n(+ 1 2)\n```", 3},
          {"```clojure\n(+ 1 2)\n```\nAgain:\n```clojure\n(+ 1 2)\n```", 3}
        ] do
      assert {:ok, program, _warnings} = Agent.program(text, language: :lisp), text
      assert {:ok, %{return: ^value}} = PtcRunner.Lisp.run(program), text
    end

    for {text, part} <- [
          {"", "no program"},
          {"```clojure\n```", "no program"},
          {"I cannot do that.", "no program"},
          {~s({"program": {"op": "load", "name": "x"}}), "no program"},
          {"```clojure\n(+ 1 1)\n```\n```clojure\n(+ 1 2)\n```", "2 different programs"},
          {"```clojure\n(+ 1 (", "cut off"},
          {"(+ 1 2", "unclosed"},
          {<<255, 254>>, "UTF-8"}
        ] do
      assert {:error, {reason, message}, told} = Agent.program(text, language: :lisp)
      assert is_atom(reason) and message =~ part, inspect({text, message})
      assert told =~ "Write the whole program again, in one ```clojure fence."
    end
  end

  test "texts of any kind use up the turns" do
    texts =
      [
        "",
        " ",
        <<255>>,
        "(",
        ")",
        String.duplicate("(", 900_000),
        String.duplicate("```\n", 200_000)
      ] ++
        [
          String.duplicate("`", 900_000),
          "``` a" <> String.duplicate(" ", 900_000) <> "b",
          "```clojure\n" <> String.duplicate("(a ", 300_000)
        ]

    for text <- texts do
      {result, told} = loop(List.duplicate(text, 2), task: "x", max_turns: 2, returns: ":int")
      assert {:error, %{fail: %{reason: :max_turns}}} = result
      assert Enum.all?(told, &(byte_size(&1) < 20_000))
    end
  end

  test "the prompt is at most 5 KB, and its examples run" do
    prompt = Prompt.language(3)
    assert byte_size(prompt) <= 5 * 1024
    assert length(Prompt.examples()) == 3

    values = [
      350,
      [%{"customer" => "Ada", "count" => 2, "largest" => 3}],
      [%{"id" => 1, "euro" => 50}, %{"id" => 2, "euro" => 165}]
    ]

    rates = fn
      %{"currency" => "EUR"} -> 1
      %{"currency" => "CHF"} -> 1.1
      _other -> {:error, "no rate"}
    end

    for {{about, program}, value} <- Enum.zip(Prompt.examples(), values) do
      assert prompt =~ program
      opts = [language: :lisp, context: %{"orders" => @orders}]
      assert {:ok, ^value, _info} = Agent.run(program, %{"rate" => rates}, opts), about
    end
  end

  test "each name that the prompt says there is, there is" do
    text = Prompt.language(0)
    [_, there] = Regex.run(~r/There is:.*?\n(.*?)There is no:/s, text)

    words =
      Regex.scan(~r/(?<=[\s:])[a-z+*\/-][a-z0-9*\/?!-]*(?=[\s,]|$)/m, there) |> List.flatten()

    skipped = ~w(collections maps and sets numbers text dates others sort-by s a b d total desc)
    names = Enum.uniq(words) -- skipped
    assert length(names) > 100

    for name <- names do
      assert PtcRunner.Lisp.check("[#{name}]") == :ok or
               PtcRunner.Lisp.check("(#{name} identity [1])") == :ok,
             name
    end
  end

  test "what the prompt says of data, memory, tools and turns" do
    {:ok, step} = PtcRunner.Lisp.run("(defn vat \"With tax\" [x] (* x 1.2)) (def n 5)")

    prompt =
      Agent.prompt(
        language: :lisp,
        task: "Sum them.",
        context: %{"orders" => @orders, "a b" => 1},
        memory: step.memory,
        tools: %{
          "rate" =>
            {& &1, signature: "(currency :string, day :datetime?) -> :float", effect: :read}
        },
        returns: "{total :float}",
        max_turns: 3
      )

    for part <- [
          "- data/orders [{currency :string, customer :string, id :int, total :int}]",
          ~s|sample (the first of 3 elements): [{"currency":"EUR"|,
          ~s("a b", which programs cannot read),
          "- n :int",
          "- (vat x): With tax",
          "- (tool/rate {:currency :string :day :datetime?}) -> :float (reads)",
          "The program must return a value that fits {total :float}",
          "You have at most 3 turns",
          "Types: :int",
          "## Task\nSum them."
        ] do
      assert prompt =~ part, part
    end

    refute prompt =~ "PTC-JSON"
    assert Agent.prompt(language: :lisp, examples: 0) == Prompt.language(0)
    assert Agent.prompt(language: :json) == Agent.prompt([])
  end

  test "a run by itself" do
    tools = %{"rate" => {fn %{"day" => day} -> day * 0.5 end, "(day :int) -> :float"}}
    opts = [language: :lisp, returns: ":float"]
    assert {:ok, 1.5, info} = Agent.run(~s[(tool/rate {:day "3"})], tools, opts)
    assert info.warnings == [~s(rate: coerced string "3" to integer)] and info.delta == %{}
    assert {:ok, program} = PtcRunner.Lisp.compile("(def a 1) (println a) (return 2)")
    assert {:ok, 2, %{prints: ["1"], delta: %{"a" => 1}}} = Agent.run(program)
    assert {:error, {:parse_error, _}, _} = Agent.run("(", %{}, language: :lisp)
    assert {:error, {:failed, "no"}, _} = Agent.run(~s[(fail "no")], %{}, language: :lisp)

    assert {:error, {:invalid_result, _}, _told, %{tool_calls: []}} =
             Agent.run(
               "1",
               %{},
               (opts ++ [returns: ":string", info: true]) |> Keyword.put(:returns, ":string")
             )
  end

  test "events of the loop and of its runs" do
    me = self()

    {{:ok, _step}, _told} = loop(["(", "(+ 1 2)"], task: "x", on_event: &send(me, &1.event))

    for event <- [:turn, :answer, :turn_ended, :turn, :answer, :turn_ended, :ended],
        do: assert_received(^event)
  end
end
