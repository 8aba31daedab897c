defmodule PtcRunner.Agent.FindingsTest do
  # Programs that read fields that are not there: the model is told before the value counts.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Json
  alias PtcRunner.Json.Codec
  alias PtcRunner.Test.{Models, Room}

  doctest PtcRunner.Json.Explain.Noticed

  @rows for n <- 1..3, do: %{"total" => n * 10, "status" => "open"}

  defp pipe(steps) do
    steps = [%{op: "load", name: "rows"} | steps]
    Codec.encode!(%{program: %{op: "pipe", steps: steps}})
  end

  defp loop(answers, task \\ [], opts \\ []) do
    {ask, asked} = Models.canned(answers)
    task = Keyword.merge([task: "x", context: %{"rows" => @rows}], task)
    result = Agent.loop(ask, task, opts)
    told = for messages <- tl(asked.()), do: List.last(messages).content
    {result, told}
  end

  defp right, do: pipe([%{op: "sum", field: "total"}])

  describe "a value that was made for lack of a field" do
    test "is not taken, and the model is told which field" do
      gt = %{op: "gt", field: "totl", value: 5}

      for {steps, parts} <- [
            {[%{op: "sum", field: "totl"}],
             ["program.steps[1]: none of 3 had totl", "It returned 0"]},
            {[%{op: "filter", where: %{op: "eq", field: "stauts", value: "open"}}],
             [
               "program.steps[1]: kept nothing of 3",
               "program.steps[1].where: none of 3 had stauts",
               "It returned []"
             ]},
            # nil is greater than any number.
            {[%{op: "filter", where: gt}, %{op: "count"}], ["where: none of 3 had totl"]},
            {[%{op: "reject", where: %{op: "not", condition: gt}}, %{op: "count"}],
             ["where.condition: none of 3 had totl"]},
            {[%{op: "filter_in", field: "stauts", value: ["open"]}], ["kept nothing of 3"]},
            {[%{op: "map", expr: %{op: "get", path: ["owner", "name"]}}],
             ["none of 3 had owner.name"]},
            {[%{op: "sort_by", field: "totl"}, %{op: "first"}], ["none of 3 had totl"]},
            {[%{op: "first"}, %{op: "get", field: "totl"}], ["none of 1 had totl"]},
            {[%{op: "select", fields: ["total", "nmae"]}], ["none of 3 had nmae"]}
          ] do
        {{:ok, step}, [told]} = loop([pipe(steps), right()])
        assert step.return == 60
        assert told =~ "The program ran, but it read fields that are not there:"
        for part <- parts, do: assert(told =~ part)
        assert told =~ "write the same program again" and told =~ "You have 4 turns left."
        assert [%{success?: false, result: %{error: _}}, %{success?: true}] = step.turns
      end
    end

    test "is taken if the model writes the same program again" do
      doubtful = pipe([%{op: "sum", field: "totl"}])
      {{:ok, step}, [_told]} = loop([doubtful, "Yes:\n```json\n#{doubtful}\n```"])
      assert step.return == 0
      assert [%{success?: false}, %{success?: true, prints: prints}] = step.turns
      assert prints == ["program.steps[1]: none of 3 had totl"]
    end

    test "on the last turn it is no value" do
      {{:error, step}, []} = loop([pipe([%{op: "sum", field: "totl"}])], [], max_turns: 1)
      assert step.fail.reason == :max_turns and step.fail.message =~ "none of 3 had totl"
      assert step.return == nil
    end

    test "each field is told once, another one is told too" do
      answers = for f <- ["totl", "ttl", "totl"], do: pipe([%{op: "sum", field: f}])
      {{:ok, step}, told} = loop(answers)
      assert [one, two] = told
      assert one =~ "had totl" and two =~ "had ttl"
      assert step.return == 0 and List.last(step.turns).prints != []
    end

    test "findings: :ignore takes it" do
      {{:ok, step}, []} = loop([pipe([%{op: "sum", field: "totl"}])], findings: :ignore)
      assert step.return == 0

      assert_raise ArgumentError, ~r/:findings/, fn ->
        Agent.loop(fn _ -> flunk() end, task: "x", findings: :off)
      end
    end
  end

  describe "what get reads from, and paths with indexes" do
    @orders for n <- 1..3,
                do: %{"items" => [%{"sku" => "a#{n}", "note" => nil}], "by" => %{"7" => n}}

    test "have a finding where none had the field" do
      from = %{op: "var", name: "o"}

      for {get, field} <- [
            {%{op: "get", from: from, field: "itms"}, "itms"},
            {%{op: "get", from: from, path: ["by", "8"]}, "by.8"},
            {%{op: "get", from: from, path: ["by", 8]}, "by.8"},
            {%{op: "get", from: from, path: ["items", 1, "sku"]}, "items.1.sku"},
            {%{op: "get", from: from, path: ["items", -1]}, "items.-1"},
            {%{op: "get", path: ["items", 0, "skuu"]}, "items.0.skuu"},
            {%{op: "get", from: %{op: "get", field: "by"}, field: "sku"}, "sku"},
            {%{op: "get", from: %{a: from}, path: ["a", "items", 0, "x"]}, "a.items.0.x"}
          ] do
        map = %{op: "map", as: "o", expr: get}
        task = [context: %{"rows" => @orders}, check: false]
        {{:ok, step}, [told]} = loop([pipe([map]), pipe([%{op: "count"}])], task)
        assert {get, step.return} == {get, 3}
        assert told =~ "program.steps[1].expr: none of 3 had #{field}\n"
      end
    end

    test "have none where one had it" do
      some = [%{"other" => 1} | @orders]

      for rows <- [@orders, some], from? <- [true, false] do
        gets =
          for get <- [
                %{field: "items"},
                %{path: ["by", "7"]},
                %{path: ["by", 7]},
                %{path: ["items", 0, "sku"]},
                %{path: ["items", 0]},
                # It is there, and null.
                %{path: ["items", 0, "note"]}
              ] do
            get = Map.put(get, :op, "get")
            if from?, do: Map.put(get, :from, %{op: "var", name: "o"}), else: get
          end

        each = gets |> Enum.with_index() |> Map.new(fn {get, n} -> {"k#{n}", get} end)
        program = pipe([%{op: "map", as: "o", expr: each}])
        assert {{:ok, _step}, []} = loop([program], context: %{"rows" => rows})
      end
    end

    test "an index far behind is no finding, and a long list is not read again and again" do
      rows = for n <- 1..200_000, do: %{"n" => n}

      for {path, return} <- [
            {[199_999, "n"], 200_000},
            {[200_000, "n"], nil},
            {[150_000, "x"], nil}
          ] do
        assert {{:ok, %{return: ^return}}, []} =
                 loop(
                   [pipe([%{op: "get", path: path}])],
                   [context: %{"rows" => rows}, check: false],
                   timeout: 30_000
                 )
      end
    end
  end

  describe "values of which none could be converted" do
    @priced [
      %{"price" => "12,50 EUR", "n" => "3", "gone" => nil, "at" => "a"},
      %{"price" => "7 EUR", "n" => "x", "gone" => nil, "at" => "b"}
    ]

    defp number(field), do: %{op: "to_number", field: field}

    defp priced(steps),
      do:
        loop(
          [pipe(steps), pipe([%{op: "count"}])],
          [context: %{"rows" => @priced}, check: false],
          []
        )

    test "are a finding where a sum or the like has nothing else" do
      it = %{op: "it"}
      of_value = %{op: "to_number", value: %{op: "get", field: "price"}}
      of_current = %{op: "pipe", steps: [%{op: "get", field: "price"}, %{op: "to_number"}]}
      extract = %{op: "extract", field: "price", pattern: "^[A-Z]+"}

      for {steps, place, op} <- [
            {[%{op: "sum", expr: number("price")}], "steps[1].expr", "to_number"},
            {[%{op: "avg", expr: of_value}], "steps[1].expr", "to_number"},
            {[%{op: "median", expr: of_current}], "steps[1].expr.steps[1]", "to_number"},
            {[%{op: "map", expr: of_value}, %{op: "sum", expr: it}], "steps[1].expr",
             "to_number"},
            {[%{op: "set", fields: %{"p" => number("price")}}, %{op: "sum", field: "p"}],
             "steps[1].fields.p", "to_number"},
            {[%{op: "set", fields: %{"p" => number("price")}}, %{op: "avg", field: "p"}],
             "steps[1].fields.p", "to_number"},
            {[%{op: "sum", expr: %{op: "coalesce", values: [number("price"), 0]}}],
             "steps[1].expr.values[0]", "to_number"},
            {[%{op: "max", expr: number("price")}], "steps[1].expr", "to_number"},
            {[%{op: "sum", expr: %{op: "to_number", value: extract}}], "steps[1].expr.value",
             "extract"},
            {[%{op: "group_by", field: "at", each: %{s: %{op: "sum", expr: number("price")}}}],
             "steps[1].each.s.expr", "to_number"}
          ] do
        {{:ok, step}, [told]} = priced(steps)
        assert step.return == 2

        assert told =~
                 "The program ran, but it converted values, and all became null:\n- program.#{place}: #{op} gave null for each of 2 values\n"

        assert [%{prints: []}, %{success?: true}] = step.turns
      end
    end

    test "are none where one could be, where a value was null before, and where nothing is computed of them" do
      for steps <- [
            [%{op: "sum", expr: number("n")}],
            [%{op: "sum", expr: number("gone")}],
            [%{op: "sum", field: "gone"}],
            [%{op: "sum", expr: %{op: "coalesce", values: [number("gone"), number("n")]}}],
            [
              %{op: "filter", where: %{op: "eq", left: number("price"), value: nil}},
              %{op: "count"}
            ],
            [%{op: "map", expr: number("price")}],
            [
              %{op: "filter", where: %{op: "eq", field: "n", value: "none"}},
              %{op: "sum", expr: number("n")}
            ]
          ] do
        assert {{:ok, _step}, []} = priced(steps)
      end
    end

    test "with a field that is not there, both are told" do
      {{:ok, _step}, [told]} =
        priced([%{op: "sum", expr: number("price")}, %{op: "get", field: "x"}])

      assert told =~
               "but it read fields that are not there, and converted values that all became null:"

      look = pipe([%{look: %{op: "sum", expr: number("price")}}])

      {{:ok, _step}, [told]} =
        loop([look, pipe([%{op: "count"}])], context: %{"rows" => @priced}, check: false)

      assert told =~ "You looked at: 0\nThe program converted values, and all became null:"
    end

    test "an explanation has it too" do
      program = %{
        "program" => Codec.decode!(pipe([%{op: "sum", expr: number("price")}]))["program"]
      }

      explanation = Json.explain(program, context: %{"rows" => @priced})

      assert [
               %{
                 kind: :not_converted,
                 path: ["program", "steps", 1, "expr"],
                 message: "to_number gave null for each of 2 values"
               }
             ] = explanation.findings

      refute Enum.any?(explanation.operations, &is_map_key(&1, :values))
    end
  end

  describe "no finding" do
    test "a filter that keeps nothing of rows that have the field, and a field that some rows have" do
      rows = [%{"a" => 1}, %{"b" => 2}]

      for steps <- [
            [%{op: "filter", where: %{op: "eq", field: "a", value: 9}}],
            [%{op: "sum", field: "b"}],
            [%{op: "filter", where: %{op: "gt", field: "b", value: 5}}, %{op: "count"}]
          ] do
        assert {{:ok, _step}, []} = loop([pipe(steps)], context: %{"rows" => rows})
      end

      assert {{:ok, %{return: 0}}, []} = loop([right()], context: %{"rows" => []})
    end

    test "a branch that never ran" do
      expr = %{
        op: "if",
        condition: %{op: "eq", field: "status", value: "gone"},
        then: %{op: "get", field: "refund"},
        else: %{op: "get", field: "total"}
      }

      assert {{:ok, %{return: [10, 20, 30]}}, []} = loop([pipe([%{op: "map", expr: expr}])])
    end
  end

  describe "tools" do
    setup do
      counter = :counters.new(1, [])

      refund = fn %{"amount" => amount} ->
        :counters.add(counter, 1, 1)
        %{"done" => amount}
      end

      tools = %{"refund" => {refund, "(amount :int) -> :map"}}
      {:ok, tools: tools, count: fn -> :counters.get(counter, 1) end}
    end

    test "are called once, although the value is observed, doubted and confirmed", context do
      program =
        Codec.encode!(%{
          program: %{
            op: "pipe",
            steps: [
              %{op: "call", tool: "refund", args: %{amount: 5}},
              %{op: "get", field: "dnoe"}
            ]
          }
        })

      {{:ok, step}, [told]} = loop([program, program], tools: context.tools)
      assert told =~ "none of 1 had dnoe"
      assert step.return == nil and context.count.() == 1
      assert [%{name: "refund", ok?: true}] = step.tool_calls
    end

    test "calls that overlap are observed too", context do
      call = %{op: "call", tool: "refund", args: %{amount: 7}}

      each = %{
        ok: %{op: "pipe", steps: [call, %{op: "get", field: "done"}]},
        no: %{op: "get", field: "nmae"}
      }

      program = pipe([%{op: "map", expr: each}])

      {{:ok, step}, [told]} =
        loop([program, program], [tools: context.tools, check: false], tool_concurrency: 3)

      assert step.return == List.duplicate(%{"ok" => 7, "no" => nil}, 3)
      assert told =~ "none of 3 had nmae" and not (told =~ "had done")
      assert context.count.() == 3
    end

    test "a run that meets a limit after a call is not repeated", context do
      slow = %{"slow" => fn _ -> Process.sleep(:infinity) end}

      program =
        Codec.encode!(%{
          program: %{
            a: %{op: "call", tool: "refund", args: %{amount: 1}},
            b: %{op: "call", tool: "slow", args: %{}}
          }
        })

      task = [tools: Map.merge(context.tools, slow)]

      Room.growing(500, fn timeout ->
        before = context.count.()
        {{:error, step}, []} = loop([program], task, timeout: timeout, max_turns: 1)
        assert step.fail.message =~ "TimeoutError"
        assert context.count.() == before + 1
      end)
    end
  end

  test "what the model looks at, and an invalid result, come with the findings" do
    look = pipe([%{look: %{op: "sum", field: "totl"}}])
    {{:ok, %{return: 60}}, [told]} = loop([look, right()])

    assert told =~
             "You looked at: 0\nThe program read fields that are not there:\n- program.steps[1].look"

    wrong = pipe([%{op: "map", expr: %{op: "get", field: "totl"}}])
    {{:ok, %{return: 60}}, [told]} = loop([wrong, right()], returns: ":int")
    assert told =~ "expected integer" and told =~ "none of 3 had totl"
  end

  test "a run that is observed gives the value of one that is not" do
    rows = for n <- 1..2_000, do: %{"n" => n, "k" => rem(n, 7)}

    for steps <- [
          [%{op: "filter", where: %{op: "gt", field: "n", value: 50}}, %{op: "sum", field: "n"}],
          [%{op: "filter", where: %{op: "gt", field: "x", value: 50}}, %{op: "count"}],
          [%{op: "sort_by", field: "k"}, %{op: "take", count: 3}],
          [%{op: "map", expr: %{op: "mul", left: %{op: "get", field: "n"}, right: 2}}]
        ] do
      program = pipe(steps)
      opts = [context: %{"rows" => rows}]
      given = Json.Given.read(opts, "a test")
      outcome = Json.Evaluation.run(program, given, &Json.Explain.Noticed.run/1)
      assert {:ok, {value, _findings}, _words} = outcome
      assert value == Json.run!(program, opts)
    end
  end

  test "no number of items is told by a program that reads firewalled fields: it may be one of them" do
    pin = %{op: "get", from: %{op: "load", name: "user"}, field: "_pin"}
    many = %{op: "range", from: 1, to: pin}
    row = %{op: "map", expr: %{op: "object", fields: %{a: %{op: "it"}}}}
    text = %{op: "to_number", value: %{op: "text", parts: ["x", %{op: "it"}]}}
    is_none = %{op: "eq", field: "zz", value: 1}

    for {steps, told} <- [
          {[many, row, %{op: "sum", field: "zz"}], "program.steps[3]: none had zz"},
          {[many, row, %{op: "filter", where: is_none}], "program.steps[3]: kept nothing"},
          {[many, %{op: "sum", expr: text}], "to_number gave null for each value"}
        ] do
      task = [context: %{"rows" => @rows, "user" => %{"_pin" => 73_345}}]
      assert {{:ok, %{return: 60}}, [message]} = loop([pipe(steps), right()], task)
      assert message =~ told
      refute String.replace(message, ",", "") =~ "73345"
    end
  end

  test "nor is their number told by the errors of a result" do
    pin = %{op: "get", from: %{op: "load", name: "user"}, field: "_pin"}
    many = %{op: "range", from: 1, to: pin}

    for {steps, returns} <- [
          {[many], "[:string]"},
          {[many, %{op: "map", expr: %{op: "object", fields: %{a: %{op: "it"}}}}], "[{b :int}]"},
          {[%{op: "object", fields: %{n: many}}], "{n [:string]}"}
        ] do
      context = %{"rows" => @rows, "user" => %{"_pin" => 733}}

      {{:error, step}, [message]} =
        loop([pipe(steps), pipe(steps)], [context: context, returns: returns], max_turns: 2)

      assert message =~ "(its value is not shown)"
      refute message =~ "more"
      refute step.fail.message =~ "more"
      assert length(String.split(message, "\n- ")) == 2
    end
  end

  test "a program that is too costly to observe runs without" do
    # The list between the steps is not built by the program as it usually runs.
    rows = for n <- 1..20_000, do: %{"n" => n}
    steps = [%{op: "filter", where: %{op: "gt", field: "n", value: 0}}, %{op: "count"}]
    task = [context: %{"rows" => rows}]
    assert {{:ok, %{return: 20_000}}, []} = loop([pipe(steps)], task, max_heap: 20_000)
  end

  describe "strict" do
    test "unknown fields and conditions without an operation are errors in an agent" do
      for {step, message} <- [
            {%{op: "count", filter: %{op: "eq", field: "status", value: "open"}},
             "Unknown field 'filter' in operation 'count'"},
            {%{op: "sort_by", field: "total", desc: true},
             "Unknown field 'desc' in operation 'sort_by'"},
            {%{op: "filter", where: %{field: "total", value: 10}},
             "Field 'where' of operation 'filter' must be an operation"}
          ] do
        {{:ok, %{return: 60}}, [told]} = loop([pipe([step]), right()])
        assert told =~ message

        assert {:error, {:validation_error, text}, _feedback} = Agent.program(pipe([step]))
        assert text =~ message
        assert {:error, {:validation_error, ^text}, _} = Agent.run(pipe([step]))
        assert {:error, {:validation_error, ^text}} = Json.compile(pipe([step]), strict: true)
        assert {:ok, _, _} = Agent.program(pipe([step]), strict: false)
        assert {:ok, _program} = Json.compile(pipe([step]))
      end
    end

    test "conditions at each place of the language" do
      object = %{field: "total", value: 1}
      holds = %{op: "literal", value: true}

      for {node, op} <- [
            {%{op: "filter", where: object}, "filter"},
            {%{op: "reject", where: object}, "reject"},
            {%{op: "if", condition: object, then: holds, else: holds}, "if"},
            {%{op: "not", condition: object}, "not"},
            {%{op: "and", conditions: [holds, object]}, "and"},
            {%{op: "filter", where: %{op: "or", conditions: [%{op: "not", condition: %{}}]}},
             "not"},
            {%{op: "filter", where: %{op: "pipe", steps: [holds, object]}}, "filter"},
            {%{op: "filter", where: %{op: "if", condition: holds, then: holds, else: object}},
             "filter"},
            {%{op: "reject", where: %{op: "let", name: "a", value: holds, in: object}}, "reject"},
            {%{op: "some", where: object}, "some"},
            {%{op: "every", where: object}, "every"},
            {%{op: "find", where: object}, "find"},
            {%{op: "count", where: object}, "count"},
            {%{op: "switch", cases: [%{when: holds, then: 1}, %{when: object, then: 2}]},
             "switch"},
            {%{op: "filter", where: %{op: "switch", cases: [%{when: holds, then: object}]}},
             "filter"},
            {%{op: "filter", where: %{op: "switch", cases: [], else: object}}, "filter"},
            {%{op: "filter", where: %{op: "coalesce", values: [holds, object]}}, "filter"},
            {%{op: "find", where: %{op: "if", condition: holds, then: %{op: 5}, else: holds}},
             "find"},
            # In templates, at any depth.
            {%{op: "list", items: [[%{a: %{op: "not", condition: object}}]]}, "not"},
            {%{op: "call", tool: "t", args: %{a: [%{op: "some", where: object}]}}, "some"},
            {%{op: "eq", left: 1, value: %{a: %{op: "find", where: object}}}, "find"}
          ] do
        program = %{"program" => node |> Codec.encode!() |> Codec.decode!()}
        {:error, {:validation_error, text}} = Json.run(program, strict: true)

        assert text =~
                 "of operation '#{op}' must be an operation: an object without 'op' is always true"

        assert {:ok, _program} = Json.compile(program)
        explanation = Json.explain(program, strict: true)
        assert explanation.result == {:error, {:validation_error, text}}
      end

      # A value may be an object.
      value = %{
        "program" => %{
          "op" => "if",
          "condition" => %{"op" => "literal", "value" => true},
          "then" => %{"a" => 1},
          "else" => %{"b" => 2}
        }
      }

      assert {:ok, %{"a" => 1}, _, _} = Json.run(value, strict: true)
    end

    test "the text names the condition of a case" do
      program = %{"op" => "switch", "cases" => [%{"when" => %{"a" => 1}, "then" => %{"b" => 2}}]}
      {:error, {:validation_error, text}} = Json.run(%{"program" => program}, strict: true)
      assert text =~ "Field 'when' of operation 'switch' must be an operation"
    end
  end
end
