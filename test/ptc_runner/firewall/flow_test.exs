defmodule PtcRunner.Firewall.FlowTest do
  # Which parts of a program's value come from firewalled fields, and what errors of such programs show.
  use ExUnit.Case, async: true

  alias PtcRunner.Firewall.{Faults, Flow, Marks, Outline, Public, Shape}
  alias PtcRunner.{Json, Schema}

  doctest Faults
  doctest Flow
  doctest Marks
  doctest Outline
  doctest Public
  doctest Shape

  defp pipe(steps), do: %{"op" => "pipe", "steps" => steps}
  defp load(name), do: %{"op" => "load", "name" => name}
  defp var(name), do: %{"op" => "var", "name" => name}
  defp get(field), do: %{"op" => "get", "field" => field}
  defp op(op, fields), do: Map.put(Map.new(fields, fn {k, v} -> {to_string(k), v} end), "op", op)
  defp shape(node, memory \\ %{}), do: Flow.of(%{"program" => node}, memory)

  @pin %{"op" => "get", "field" => "_pin"}

  test "the flow of every operation is known" do
    fields = %{"name" => "n", "value" => 1, "in" => 1, "args" => %{}}

    for name <- Schema.valid_operation_names(edition: 2) do
      shapes = shape(%{"clear" => Map.put(fields, "op", name), "secret" => @pin})
      assert {name, shapes} == {name, {:object, %{"secret" => :secret}}}
    end

    assert shape(pipe([@pin, op("no_operation", [])])) == :secret
  end

  test "what edition 2 takes from a firewalled name is secret" do
    users = load("users")
    of_users = fn steps -> pipe([users | steps]) end
    secret? = %{"op" => "gt", "left" => @pin, "value" => 1}
    cents = op("mul", left: @pin, right: 100)

    for node <- [
          of_users.([op("sum", expr: cents)]),
          of_users.([op("sort_by", by: [%{"field" => "id"}, %{"field" => "_pin"}])]),
          of_users.([op("sort_by", expr: @pin)]),
          of_users.([op("distinct", field: "_pin"), op("count", [])]),
          of_users.([op("count", where: secret?)]),
          of_users.([op("filter", where: secret?)]),
          of_users.([op("some", where: secret?)]),
          of_users.([op("find", where: secret?)]),
          of_users.([op("first", []), op("get", key: "_pin")]),
          of_users.([op("rename", fields: %{"_pin" => "pin"})]),
          of_users.([op("index_by", field: "_pin")]),
          of_users.([op("group_by", field: "_pin", each: %{"n" => op("count", [])})]),
          of_users.([op("group_by", fields: ["id", "_pin"])]),
          of_users.([op("join", with: users, on: "_pin")]),
          of_users.([op("join", with: users, left: "id", right: "_pin")]),
          of_users.([op("fold", init: 0, expr: op("add", left: var("acc"), right: @pin))]),
          of_users.([op("first", []), op("text", parts: ["pin: ", @pin])]),
          of_users.([op("first", []), op("upper", field: "_pin")]),
          of_users.([op("first", []), op("if", condition: true, then: [@pin], else: nil)]),
          of_users.([op("first", []), op("let", name: "p", value: [@pin], in: var("p"))]),
          of_users.([op("first", []), op("call", tool: "t", args: %{"op" => @pin})]),
          of_users.([op("first", []), op("call", tool: "t", on_error: @pin)]),
          of_users.([op("first", []), op("in", left: 1, value: [@pin])]),
          of_users.([op("eq", left: op("it", []), value: [%{"_pin" => 1}])]),
          of_users.([op("first", []), pipe([@pin])])
        ] do
      assert {node, shape(node)} != {node, :clear}
    end

    # The item has a name in the loops inside.
    named = op("map", as: "row", expr: op("map", expr: var("row")))
    assert shape(of_users.([op("map", expr: @pin), named])) != :clear
  end

  test "what edition 2 takes from other fields is clear" do
    of_users = fn steps -> pipe([load("users") | steps]) end

    for node <- [
          of_users.([op("sum", expr: get("n"))]),
          of_users.([op("sort_by", by: [%{"field" => "id"}])]),
          of_users.([op("group_by", field: "city", each: %{"n" => op("count", [])})]),
          of_users.([op("map", expr: %{"name" => op("upper", field: "name")})])
        ] do
      assert shape(node) == :clear
      # A firewalled name elsewhere does not matter.
      both = op("list", items: [node, get("_pin")])
      assert {:object, %{"b" => :secret}} == shape(%{"a" => node, "b" => both})
    end
  end

  test "what shows fields without their names is secret where the data have firewalled fields" do
    row = pipe([load("users"), op("first", [])])

    for step <- [
          op("entries", []),
          op("to_text", []),
          op("text", parts: [op("it", [])]),
          op("get", key: op("text", parts: ["_", "pin"]))
        ] do
      node = %{"program" => %{"n" => 1, "shown" => pipe([row, step])}}
      assert Flow.of(node, %{}, fn -> true end) == {:object, %{"shown" => :secret}}
      assert Flow.of(node, %{}, fn -> false end) == :clear
      {:ok, text} = PtcRunner.Json.Codec.encode(node)
      assert Flow.of(text, %{}, fn -> true end) == {:object, %{"shown" => :secret}}
    end

    # The data are looked at only where it matters.
    assert Flow.of(%{"program" => row}, %{}, fn -> raise "looked" end) == :clear
  end

  test "what reads a firewalled name is secret" do
    row = pipe([load("users"), op("first", [])])
    pins = op("map", expr: %{"id" => get("id"), "p" => @pin})
    of_users = fn steps -> pipe([load("users") | steps]) end

    for {node, shape} <- [
          {of_users.([op("sum", field: "_pin")]), :secret},
          {of_users.([op("max_by", field: "-pin")]), :secret},
          {of_users.([op("sort_by", field: "_pin")]), :secret},
          {load("_secret"), :secret},
          {var("_secret"), :secret},
          {pipe([row, op("get", path: ["a", "_b", "c"])]), :secret},
          {pipe([row, @pin, op("keys", [])]), :secret},
          {of_users.([op("map", expr: @pin)]), {:items, :secret}},
          {of_users.([pins]), {:items, {:object, %{"p" => :secret}}}},
          {of_users.([op("map", expr: @pin), op("count", [])]), :clear},
          {of_users.([op("map", expr: @pin), op("first", [])]), :secret},
          {of_users.([pins, op("sum", field: "p")]), :secret},
          {of_users.([pins, op("sum", field: "id")]), :clear},
          {op("let", name: "x", value: load("_s"), in: %{"a" => var("x"), "b" => 1}),
           {:object, %{"a" => :secret}}},
          {op("add", left: load("_s"), right: 1), :secret},
          {op("round", value: op("mul", left: 2, right: load("_s"))), :secret},
          {op("if", condition: load("_s"), then: load("a"), else: load("b")), :secret},
          {op("merge", objects: [%{"a" => load("_s")}, load("b")]), {:object, %{"a" => :secret}}},
          {op("concat", lists: [load("a"), load("_s")]), :secret},
          {op("zip", lists: [load("a"), load("_s")]), :secret},
          {of_users.([op("filter", where: op("gt", field: "_pin", value: 1))]), :secret},
          {pipe([row, op("eq", value: %{"id" => 1, "_pin" => 4711})]), :secret},
          {op("call", tool: "t", args: %{"pin" => load("_s")}), :secret}
        ] do
      assert shape(node) == shape, inspect(node)
    end
  end

  test "what reads no firewalled name is clear, rows that have firewalled fields too" do
    for node <- [
          load("users"),
          pipe([load("users"), op("select", fields: ["id"]), op("first", [])]),
          pipe([load("users"), op("filter", where: op("eq", field: "id", value: "_"))]),
          op("call", tool: "_t", args: %{}),
          pipe([load("users"), op("map", expr: var("__input"))])
        ] do
      assert shape(node) == :clear
    end
  end

  test "names of a memory that come from firewalled fields" do
    memory = %{"pins" => [4711], "_concealed" => ["pins"]}
    assert shape(var("pins"), memory) == :secret
    assert shape(var("other"), memory) == :clear

    assert shape(op("let", name: "pins", value: op("literal", value: 1), in: var("pins")), memory) ==
             :clear

    assert shape(op("first", []), %{"__input" => [1], "_concealed" => ["__input"]}) == :secret
  end

  test "the work is bounded: shared parts of programs, of shapes and of values" do
    double = fn start -> Enum.reduce(1..60, start, fn _, x -> [x, x] end) end
    literal = op("literal", value: double.(1))
    assert shape(pipe([load("_s"), literal])) == :clear
    assert shape(pipe([load("_s"), %{"a" => double.(1)}])) == :secret
    assert shape(op("eq", value: double.(1))) == :secret
    assert Flow.reads?(%{"program" => %{"a" => double.(1)}}, %{})

    # Two values of 2^60 parts each, that a condition may choose between.
    grown = fn name ->
      Enum.reduce(1..60, load("_s"), fn n, value ->
        op("let",
          name: "#{name}#{n}",
          value: value,
          in: %{"a" => var("#{name}#{n}"), "b" => var("#{name}#{n}")}
        )
      end)
    end

    refute shape(op("if", condition: true, then: grown.("x"), else: grown.("y"))) == :clear

    nested = Enum.reduce(1..40, :secret, fn _, shape -> Shape.items(shape) end)
    assert Shape.conceal(double.(1), nested) == "…"
    rows = List.duplicate(%{"a" => 1, "b" => 2}, 10_000)
    concealed = Shape.conceal(rows, {:items, {:object, %{"a" => :secret}}})
    assert Enum.uniq(concealed) == [%{"a" => "…", "b" => 2}]
  end

  test "deep programs" do
    deep = Enum.reduce(1..10_000, @pin, fn _, node -> op("not", condition: node) end)
    assert shape(deep) == :secret
    deep = Enum.reduce(1..10_000, @pin, fn _, node -> %{"a" => node} end)
    refute shape(deep) == :clear
  end

  # A list instead of the operation, and an error for each place that shows values.
  @secret "s3cret 4711"
  @users [
    %{
      "id" => 1,
      "_pin" => @secret,
      "_n" => 4711,
      "_list" => [@secret],
      "_map" => %{@secret => 1}
    }
  ]

  defp failing do
    of_first = fn steps -> [op("first", []) | steps] end

    [
      [op("sum", field: "_pin")],
      of_first.([@pin, op("count", [])]),
      of_first.([@pin, op("keys", [])]),
      of_first.([@pin, op("eq", field: "a", value: 1)]),
      of_first.([@pin, op("filter", where: op("not", condition: @pin))]),
      of_first.([op("get", path: ["_pin", "a"])]),
      of_first.([op("get", path: ["_list", "a"])]),
      of_first.([op("get", path: ["_map", @secret, "a"])]),
      of_first.([op("add", left: @pin, right: 1)]),
      of_first.([op("div", left: get("_n"), right: @pin)]),
      of_first.([op("round", value: @pin, precision: 1)]),
      of_first.([op("pct", part: @pin, whole: 2)]),
      of_first.([op("concat", lists: [@pin])]),
      of_first.([op("zip", lists: [@pin])]),
      of_first.([op("merge", objects: [@pin])]),
      [op("map", expr: @pin), op("sum", field: "a")],
      [op("map", expr: %{"p" => @pin}), op("sum", field: "p")]
    ]
  end

  test "errors show kinds, in each form of running" do
    context = %{"users" => @users}

    for steps <- failing() do
      node = %{"program" => pipe([load("users") | steps])}
      text = PtcRunner.Json.Codec.encode!(node)
      {:ok, compiled} = Json.compile(text)
      {:ok, from_map} = Json.compile(node)

      errors =
        for program <- [node, text, compiled, from_map], do: Json.run(program, context: context)

      explained = Json.explain(text, context: context)

      others = [
        explained.result,
        Json.Interpreter.eval(node["program"], PtcRunner.Context.new(context)),
        PtcRunner.Sandbox.execute(node["program"], PtcRunner.Context.new(context), timeout: 60_000)
      ]

      assert [{:error, {:execution_error, message} = error}] = Enum.uniq(errors ++ others)
      told = message <> Json.format_error(error)
      refute told =~ "s3cret" or told =~ "4711", told
      assert message =~ ~r/a text|a list|a map|an integer/
      assert Json.Explain.to_text(explained) =~ Json.format_error(error)
    end
  end

  test "errors of runs that have moved to their tools show kinds" do
    tools = %{"t" => fn _ -> 1 end}
    calls = List.duplicate(op("call", tool: "t"), 40)

    for {field, shown} <- [{"_pin", "got a text"}, {"id", "got 1"}] do
      bad = pipe([load("users"), op("first", []), get(field), op("count", [])])
      program = %{"program" => pipe(calls ++ [%{"a" => bad}])}
      opts = [context: %{"users" => @users}, tools: tools, timeout: 20_000]
      {:error, {_kind, message}} = Json.run(program, opts)
      assert message =~ shown
    end
  end

  test "programs that read no firewalled field show the values, without the firewalled ones" do
    program = %{"program" => pipe([load("users"), op("first", []), op("count", [])])}
    context = %{"users" => [%{"id" => 1, "_pin" => @secret}]}
    assert {:error, {_kind, message}} = Json.run(program, context: context)
    assert message == ~s(count requires a list, got %{"_pin" => …, "id" => 1})
  end

  test "behind a firewall they show of rows that have one only the keys, and what they have asked for" do
    user = %{"id" => 1, "salary" => 4711, "_pin" => @secret, "who" => %{"city" => "Rome"}}
    context = %{"users" => [user], "cities" => [%{"id" => 1, "who" => %{"city" => "Rome"}}]}
    first = [load("users"), op("first", [])]

    for {steps, got} <- [
          {first, ~s(%{"_pin" => …, "id" => …, "salary" => …, "who" => %{"city" => …}})},
          {first ++ [op("select", fields: ["id", "who"])],
           ~s(%{"id" => 1, "who" => %{"city" => "Rome"}})},
          {first ++ [get("salary")], "4711"},
          {first ++ [op("unset", fields: ["_pin", "salary"])],
           ~s(%{"id" => 1, "who" => %{"city" => "Rome"}})},
          {[load("cities"), op("first", [])], ~s(%{"id" => 1, "who" => %{"city" => "Rome"}})}
        ] do
      program = %{"program" => pipe(steps ++ [op("count", [])])}
      # A program that names a firewalled field is told kinds.
      kinds? = inspect(steps) =~ "_pin"
      got = if kinds?, do: "a map", else: got
      error = {:error, {:execution_error, "count requires a list, got " <> got}}
      call = op("call", tool: "t", args: %{})
      calls = op("let", name: "a", value: call, in: op("list", items: [call, program["program"]]))
      tool = fn _ -> 1 end
      opts = [context: context, firewall: true]

      assert Json.run(program, opts) == error
      assert Json.explain(program, opts).result == error

      # In the process of the tools, within a budget, and with calls that are decided about.
      for more <- [[], [max_tool_calls: 9], [on_call: fn _ -> :run end], [tool_concurrency: 4]],
          form <- [tool, {tool, cache: true}] do
        opts = [tools: %{"t" => form}] ++ more ++ opts
        assert Json.run(%{"program" => calls}, opts) == error
      end

      assert {:error, fault, _feedback} = PtcRunner.Agent.run(program, %{}, context: context)
      assert {:error, fault} == error
    end
  end

  test "they do not tell how large a value is, which may be a firewalled number" do
    many = op("range", from: 1, to: op("get", from: load("user"), field: "_pin"))
    items = pipe([many, op("map", expr: op("literal", value: "a"))])
    key = pipe([many, op("map", expr: op("object", fields: %{"key" => op("it", [])}))])

    for value <- [many, items, op("text", parts: items), pipe([key, op("from_entries", [])])],
        failing <- [op("abs", value: value), op("date_diff", from: value, to: value, unit: "day")],
        firewall <- [false, true],
        calls <- [[], List.duplicate(op("call", tool: "t", args: %{}), 40)] do
      program = %{"program" => op("list", items: calls ++ [failing])}
      opts = [context: %{"user" => %{"_pin" => 733}}, tools: %{"t" => fn _ -> 1 end}]
      assert {:error, {kind, message}} = Json.run(program, [firewall: firewall] ++ opts)
      assert kind == :execution_error and message =~ ~r/got:? a (list|text|map)/
      refute message =~ "733"
    end
  end

  test "a name that begins with an escape is seen" do
    text =
      ~S({"program": {"op": "pipe", "steps": [{"op": "load", "name": "users"}, {"op": "sum", "field": "\u005fpin"}]}})

    assert Json.run(text, context: %{"users" => @users}) ==
             {:error, {:execution_error, "sum requires numeric values, got a text"}}
  end

  test "left of a comparison is a value, and no name of a firewalled field" do
    add = op("add", left: %{}, right: 1)
    text = "add requires numeric operands, got: %{}, 1"

    for left <- ["_pin", "-0"] do
      program = %{"program" => op("eq", left: left, value: add)}
      assert PtcRunner.Json.run(program, edition: 2) == {:error, {:execution_error, text}}
    end
  end
end
