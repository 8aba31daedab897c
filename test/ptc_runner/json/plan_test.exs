defmodule PtcRunner.Json.PlanTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Plan}
  alias PtcRunner.Json.Plan.{Formula, Paths}

  doctest Plan
  doctest Formula
  doctest Paths

  defp plan(program, opts \\ []) do
    text = Codec.encode!(%{"program" => program})
    assert {:ok, plan} = Json.plan(text, opts)
    plan
  end

  defp tool(program, opts \\ []) do
    assert [tool] = plan(program, opts).tools
    tool
  end

  defp calls(program, opts \\ []), do: tool(program, opts).calls

  defp over(name \\ "orders", steps),
    do: %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => name} | steps]}

  defp call(args \\ %{}), do: %{"op" => "call", "tool" => "t", "args" => args}
  defp map(expr), do: %{"op" => "map", "expr" => expr}
  defp get(field), do: %{"op" => "get", "field" => field}
  defp filter(where), do: %{"op" => "filter", "where" => where}
  defp eq(field, value), do: %{"op" => "eq", "field" => field, "value" => value}

  test "the items of a text that is not decoded, and the fields of a struct, are not counted" do
    call = %{"op" => "call", "tool" => "t", "args" => %{}}

    loop = fn steps ->
      %{"program" => %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => "rows"} | steps]}}
    end

    each = loop.([%{"op" => "map", "expr" => call}])
    of_fields = loop.([%{"op" => "entries"}, %{"op" => "map", "expr" => call}])

    for {program, rows, numbers} <- [
          {each, [1, 2], {2, 2}},
          {each, Json.text("[1, 2]"), {nil, nil}},
          {of_fields, %{"a" => 1}, {0, 1}},
          {of_fields, 1..2, {0, nil}},
          {of_fields, Json.text(~s({"a": 1})), {0, nil}}
        ] do
      opts = [context: %{"rows" => rows}, keys: :any, structs: :values]
      assert {:ok, %{tools: [tool]}} = Json.plan(program, opts)
      assert {tool.least, tool.most} == numbers
    end
  end

  test "how often a tool is called" do
    for {program, calls} <- [
          {call(), "1"},
          {[call(), call()] |> then(&%{"op" => "list", "items" => &1}), "2"},
          {%{"op" => "if", "condition" => eq("a", 1), "then" => call(), "else" => 1}, "≤ 1"},
          {%{"op" => "if", "condition" => eq("a", 1), "then" => call(), "else" => call()}, "1"},
          {over([map(call())]), "= count(orders)"},
          {over([filter(eq("a", 1)), map(call())]), "≤ count(orders)"},
          {over([%{"op" => "sort_by", "field" => "a"}, map(call())]), "= count(orders)"},
          {over([%{"op" => "take", "count" => 3}, map(call())]), "= min(3, count(orders))"},
          {over([map(%{"op" => "list", "items" => [call(), call(), call()]})]),
           "= count(orders) × 3"},
          {over([map(over("items", [map(call())]))]), "= count(orders) × count(items)"},
          {over([map(%{"op" => "pipe", "steps" => [get("items"), map(call())]})]),
           "= count(orders.items)"},
          {over([%{"op" => "flat_map", "expr" => get("items")}, map(call())]),
           "= count(orders.items)"},
          {over([map(%{"op" => "set", "fields" => %{"a" => 1}}), map(call())]),
           "= count(orders)"},
          {over([%{"op" => "find", "where" => call()}]),
           "min(1, count(orders)) to count(orders)"},
          {over([%{"op" => "group_by", "field" => "a"}, map(call())]),
           "min(1, count(orders)) to count(orders)"},
          {%{"op" => "coalesce", "values" => [call(), call()]}, "1 to 2"},
          {%{"op" => "pipe", "steps" => [%{"op" => "literal", "value" => [1, 2]}, map(call())]},
           "2"},
          {%{
             "op" => "pipe",
             "steps" => [%{"op" => "range", "from" => 1, "to" => 5}, map(call())]
           }, "5"},
          {Map.put(call(), "on_error", call()), "1 to 2"}
        ] do
      assert {program, calls(program)} == {program, calls}
    end
  end

  # Each operation with a call in each of its operands, over null and over other values. The values of its operands are of the kinds that
  # it takes, so that most of these programs run to their end.
  @operands [
    {"replace", %{"value" => "a-b", "find" => "-", "with" => "+"}},
    {"split", %{"value" => "a-b", "by" => "-"}},
    {"date_add", %{"value" => "2024-02-29", "amount" => 1, "unit" => "day"}},
    {"date_diff", %{"from" => "2024-02-28", "to" => "2024-02-29", "unit" => "day"}},
    {"date_part", %{"value" => "2024-02-29", "part" => "year"}},
    {"add", %{"left" => 1, "right" => 2}},
    {"sub", %{"left" => 1, "right" => 2}},
    {"mul", %{"left" => 1, "right" => 2}},
    {"div", %{"left" => 1, "right" => 2}},
    {"mod", %{"left" => 1, "right" => 2}},
    {"pct", %{"part" => 1, "whole" => 2}},
    {"round", %{"value" => 1.25, "precision" => 1}},
    {"abs", %{"value" => 1}},
    {"to_number", %{"value" => "1"}},
    {"to_text", %{"value" => 1}},
    {"upper", %{"value" => "a"}},
    {"length", %{"value" => "a"}},
    {"extract", %{"value" => "a", "pattern" => "a"}},
    {"matches", %{"left" => "a", "pattern" => "a"}},
    {"text", %{"parts" => ["a", "b"]}},
    {"eq", %{"left" => 1, "value" => 2}},
    {"gt", %{"left" => 1, "value" => 2}},
    {"in", %{"left" => 1, "value" => [1]}},
    {"contains", %{"left" => [1], "value" => 1}},
    {"starts_with", %{"left" => "a", "value" => "a"}},
    {"coalesce", %{"values" => ["a", "b"]}},
    {"list", %{"items" => [1, 2]}},
    {"merge", %{"objects" => [%{"a" => 1}, %{"b" => 2}]}},
    {"concat", %{"lists" => [[1], [2]]}},
    {"zip", %{"lists" => [[1], [2]]}},
    {"range", %{"from" => 1, "to" => 2}},
    {"get", %{"from" => %{"a" => 1}, "key" => "a", "default" => 1}}
  ]

  test "a call in an operand: the run lies within the plan, also where another operand is null" do
    for {op, fields} <- @operands,
        {name, value} <- fields,
        {place, of_call} <- places(value),
        {null, _value} <- [{nil, nil} | Map.to_list(fields)],
        null != name do
      node = fields |> Map.put("op", op) |> Map.put(name, of_call)
      literal = %{"op" => "literal", "value" => nil}
      node = if null && is_map_key(node, null), do: Map.put(node, null, literal), else: node
      about = "#{op}.#{name}#{place}, #{null} null"
      within!(node, value(place, value), about)
      # The same with the current value in the place of the operand.
      if op in ~w(replace split date_add) and null == "value" do
        for input <- [nil, fields["value"]] do
          row = %{"op" => "literal", "value" => %{"x" => input}}
          node = node |> Map.delete("value") |> Map.put("field", "x")
          node = %{"op" => "pipe", "steps" => [row, node]}
          within!(node, value(place, value), about <> " (field)")
        end
      end
    end
  end

  # An operand may be a list of templates.
  defp places([first | rest]), do: [{0, [call() | rest]}, {1, [first | List.wrap(call())]}]
  defp places(_value), do: [{nil, call()}]

  defp value(nil, value), do: value
  defp value(place, list), do: Enum.at(list, place)

  defp within!(node, answer, about) do
    me = self()
    program = %{"program" => node}
    tools = %{"t" => fn _ -> send(me, :called) && answer end}

    case Json.plan(program, edition: 2) do
      {:ok, %{tools: [tool]}} ->
        result = Json.run(program, edition: 2, tools: tools)
        count = called(0)
        assert tool.most == nil or count <= tool.most, "#{about}: #{count}, #{inspect(tool)}"

        if match?({:ok, _, _, _}, result),
          do: assert(count >= tool.least, "#{about}: #{count}, #{inspect(tool)}")

      # It is no template there.
      _constant_or_invalid ->
        Json.run(program, edition: 2, tools: tools)
        assert {about, called(0)} == {about, 0}
    end
  end

  defp called(count) do
    receive do
      :called -> called(count + 1)
    after
      0 -> count
    end
  end

  test "the item of one list is not that of another" do
    items = %{"op" => "get", "from" => %{"op" => "var", "name" => "o"}, "field" => "items"}
    first = over([%{"op" => "first"}])

    program = %{
      "op" => "let",
      "name" => "o",
      "value" => first,
      "in" => over([map(%{"op" => "pipe", "steps" => [items, map(call())]})])
    }

    orders = [%{"items" => [1, 2, 3]}, %{}, %{}]
    assert %{least: 0, most: most} = tool(program, context: %{"orders" => orders})
    assert most >= 9
  end

  test "numbers, where the data is given, and budgets" do
    program = over([filter(eq("a", 1)), map(call())])
    opts = [context: %{"orders" => [1, 2, 3]}]
    assert %{least: 0, most: 3} = tool(program, opts)
    assert %{least: nil, most: nil} = tool(over([map(call())]))

    tools = %{"t" => {fn _ -> 1 end, max_calls: 2, effect: :read}}

    assert %{least: 0, most: 2, effect: :read, calls: calls} =
             tool(program, [{:tools, tools} | opts])

    assert calls == "≤ count(orders), no more than 2"
    assert %{most: 1} = tool(program, [{:max_tool_calls, 1}, {:tools, tools} | opts])

    tools = %{"t" => {fn _ -> 1 end, cache: true}}
    assert %{least: 1, most: 3} = tool(over([map(call())]), [{:tools, tools} | opts])
  end

  test "what flows into arguments, and what decides" do
    program =
      over([
        filter(eq("status", %{"op" => "load", "name" => "wanted"})),
        map(
          call(%{
            "id" => get("customer_id"),
            "to" => %{
              "op" => "get",
              "path" => ["email"],
              "from" => %{"op" => "call", "tool" => "lookup", "args" => %{"n" => 1}}
            },
            "fixed" => "x",
            "sum" => %{"op" => "add", "left" => get("a"), "right" => get("b")}
          })
        )
      ])

    assert %{tools: [lookup, tool]} = plan(program)
    assert lookup.arguments == %{"n" => []}

    assert tool.arguments == %{
             "id" => ["orders.customer_id"],
             "to" => ["answer of lookup.email"],
             "fixed" => [],
             "sum" => ["orders.a", "orders.b"]
           }

    assert tool.decided_by == ["orders.status", "wanted"]

    assert plan(program).reads ==
             ~w(orders.a orders.b orders.customer_id orders.status wanted)
  end

  test "flat_map reads that its values are lists, also where nothing of them is used" do
    flat = %{"op" => "flat_map", "expr" => get("lines")}
    assert plan(over([flat, %{"op" => "literal", "value" => 1}])).reads == ["count(orders.lines)"]
  end

  test "flows through objects, names, choices and folds" do
    through = %{
      "op" => "pipe",
      "steps" => [
        %{
          "x" => over([%{"op" => "sum", "field" => "total"}]),
          "y" => %{"op" => "load", "name" => "z"}
        },
        %{
          "op" => "let",
          "name" => "v",
          "value" => get("x"),
          "in" => call(%{"n" => %{"op" => "var", "name" => "v"}})
        }
      ]
    }

    assert tool(through).arguments == %{"n" => ["orders.total"]}

    chosen = %{
      "op" => "if",
      "condition" => %{"op" => "load", "name" => "flag"},
      "then" => %{"op" => "load", "name" => "a"},
      "else" => %{"op" => "var", "name" => "m"}
    }

    assert %{arguments: %{"n" => ["a", "memory.m"]}, decided_by: ["flag"]} =
             tool(call(%{"n" => chosen}))

    fold = %{
      "op" => "fold",
      "init" => %{"op" => "load", "name" => "start"},
      "expr" => %{"op" => "add", "left" => %{"op" => "var", "name" => "acc"}, "right" => get("n")}
    }

    assert tool(call(%{"n" => over([fold])})).arguments == %{"n" => ["orders.n", "start"]}

    inside = put_in(fold["expr"]["right"], call(%{"n" => %{"op" => "var", "name" => "acc"}}))
    assert tool(over([inside])).arguments == %{"n" => ["answer of t", "start"]}

    selected =
      over([%{"op" => "select", "fields" => ["id"]}, map(call(%{"row" => %{"op" => "it"}}))])

    assert tool(selected).arguments == %{"row" => ["orders.id"]}

    joined =
      over([
        %{
          "op" => "join",
          "with" => %{"op" => "load", "name" => "people"},
          "on" => "id",
          "as" => "who"
        },
        map(call(%{"to" => %{"op" => "get", "path" => ["who", "email"]}}))
      ])

    assert %{arguments: %{"to" => ["people.email"]}, decided_by: ["orders.id", "people.id"]} =
             tool(joined)
  end

  test "the keys of groups decide how often their templates call" do
    for form <- [%{"field" => "a"}, %{"fields" => ["a"]}, %{"expr" => get("a")}] do
      group = Map.merge(%{"op" => "group_by", "each" => %{"x" => call()}}, form)
      assert %{decided_by: ["orders.a"]} = tool(over([group]))
    end
  end

  test "the text, and names that are no names" do
    text = to_string(plan(call(%{"a\nIt reads: nothing" => %{"op" => "load", "name" => "x\ny"}})))
    assert text =~ ~S("a\nIt reads: nothing": "x\ny")
    assert length(String.split(text, "\n")) == 5
  end

  test "a plan of what runs nothing else: texts, maps, compiled programs, editions, errors" do
    text = Codec.encode!(%{"program" => over([map(call())])})
    {:ok, program} = Json.compile(text)
    assert {:ok, plan} = Json.plan(text)
    assert Json.plan(program) == {:ok, plan}
    # Only a text has the digest of a text.
    assert Json.plan(Codec.decode!(text)) == {:ok, %{plan | text: nil}}

    args = Codec.encode!(%{"program" => call(%{"n" => %{"op" => "load", "name" => "x"}})})
    assert {:ok, %{tools: [%{arguments: %{"n" => []}}], reads: []}} = Json.plan(args, edition: 1)

    for wrong <- ["", "{", ~s({"program": 1}), ~s({"program": {"op": "x"}}), %{"a" => 1}, nil] do
      assert {:error, error} = Json.plan(wrong)
      assert {:error, ^error} = Json.compile(wrong)
    end

    assert_raise ArgumentError, fn -> Json.plan(text, contekst: %{}) end
  end
end
