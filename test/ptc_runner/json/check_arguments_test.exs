defmodule PtcRunner.Json.CheckArgumentsTest do
  # A check says of the arguments of a call what its run says.
  use ExUnit.Case, async: true

  import ExUnit.CaptureLog

  alias PtcRunner.{Agent, Json}

  doctest PtcRunner.Agent.Arguments
  doctest PtcRunner.Json.Check.Arguments
  doctest PtcRunner.Json.Check.Constants
  doctest PtcRunner.Json.Check.Partly

  @count %{
    "op" => "pipe",
    "steps" => [%{"op" => "load", "name" => "rows"}, %{"op" => "count"}]
  }
  @context %{"rows" => [%{"n" => 1}], "o" => %{"x" => 1, "y" => 2}}

  @types [
    :string,
    :int,
    :float,
    :bool,
    :keyword,
    :date,
    :datetime,
    :decimal,
    :any,
    :map,
    {:where, :int, [min: 1, max: 9]},
    {:where, :decimal, [min: 0]},
    {:where, :string, [max_length: 3]},
    {:where, :string, [enum: ["open", "paid"]]},
    {:where, :string, [enum: ["open", "paid"], ignore_case: true]},
    {:where, :string, [pattern: "^[a-z]+$"]},
    {:where, :int, [enum: [1, 2]]},
    {:where, :int, [default: 3]},
    {:list, :date},
    {:list, {:where, :int, [min: 1]}},
    {:where, {:list, :string}, [max_items: 1]},
    {:map, [{"x", :date}, {"y", {:optional, :int}}]},
    {:closed_map, [{"x", :int}]},
    {:map_of, :decimal},
    {:one_of, [:date, :int], nil}
  ]

  @values [
    nil,
    true,
    0,
    1,
    7,
    2.5,
    2.0,
    -1.5,
    "",
    "7",
    "x",
    "open",
    "OPEN",
    "2024-02-29",
    "2024-02-30",
    "2023-12-31",
    "2024-02-29T10:00:00Z",
    "2024-02-29T10:00:00",
    "12.50",
    [],
    ["2024-02-29"],
    ["x", "y"],
    [0],
    %{},
    %{"x" => "2024-02-29"},
    %{"x" => 1},
    %{"x" => 1, "z" => 2},
    %{"a" => "1.5"}
  ]

  defp tools(type), do: %{"checked" => {& &1, signature: {:signature, [{"a", type}], :any}}}

  defp call(args), do: %{"program" => %{"op" => "call", "tool" => "checked", "args" => args}}

  # The log has what tests beside this one log, too: the tool has a name that no other one has.
  defp run(program, tools) do
    log =
      capture_log(fn ->
        send(self(), {:run, Json.run(program, tools: tools, context: @context)})
      end)

    assert_received {:run, result}
    {elem(result, 0), log =~ ~s(tool "checked": dropped the undeclared argument)}
  end

  defp check(program, tools) do
    context = Map.new(@context, fn {name, value} -> {name, {:sample, value}} end)
    Json.check(program, tools: tools, context: context)
  end

  test "of constants, a check refuses what a run refuses" do
    for type <- @types, wrapped <- [type, {:optional, type}], value <- @values do
      program = call(%{"a" => value})
      tools = tools(wrapped)
      {ran, _dropped?} = run(program, tools)

      checked =
        case check(program, tools) do
          {:ok, _checked} ->
            :ok

          {:error, findings} ->
            assert Enum.all?(findings, &(&1.code == :wrong_argument)) && :error
        end

      assert checked == ran, inspect({wrapped, value})
    end
  end

  test "constants beside a computed argument are judged, too" do
    for type <- @types, value <- @values do
      signature = {:signature, [{"a", type}, {"n", :int}], :any}
      tools = %{"checked" => {& &1, signature: signature}}
      program = call(%{"a" => value, "n" => @count})
      {ran, _dropped?} = run(program, tools)
      assert elem(check(program, tools), 0) == ran, inspect({type, value})
    end
  end

  test "constants in a list or an object that has computed parts, too" do
    computed = %{"op" => "get", "from" => %{"op" => "load", "name" => "o"}, "field" => "x"}
    any = %{"op" => "coalesce", "values" => [%{"op" => "load", "name" => "none"}, computed]}

    for type <- @types, {value, at} <- Enum.with_index(@values) do
      other = if rem(at, 2) == 0, do: computed, else: any
      alone = elem(check(call(%{"a" => [value]}), tools({:list, type})), 0)
      field = {:map, [{"of", type}, {"by", :any}]}

      forms = [
        {{:list, type}, [value, other]},
        {{:list, type}, [other, value, other]},
        {{:list, type}, %{"op" => "list", "items" => [other, value]}},
        {{:map, [{"in", {:list, type}}]}, %{"in" => [value, other]}},
        {{:list, {:list, type}}, [other, [value, other]]},
        {{:list, field}, [%{"of" => value, "by" => other}, %{"of" => value, "by" => 1}]},
        {{:list, field},
         [
           %{"op" => "object", "fields" => %{"of" => value, "by" => other}},
           %{"of" => value, "by" => 1}
         ]}
      ]

      # Every other one, by turns; with PTC_CASES each.
      taken =
        if PtcRunner.Test.Environment.many?(),
          do: forms,
          else: forms |> Enum.drop(rem(at, 2)) |> Enum.take_every(2)

      for {type, node} <- taken do
        checked = elem(check(call(%{"a" => node}), tools(type)), 0)
        # Of an object without some of its fields not all errors are known.
        known? =
          type != {:list, field} and not match?({:map, [{"in", {:list, {:one_of, _, _}}}]}, type)

        if alone == :error and known?, do: assert({checked, type, node} == {:error, type, node})

        if checked == :error do
          {ran, _dropped?} = run(call(%{"a" => node}), tools(type))
          assert {ran, type, node} == {:error, type, node}
        end
      end
    end
  end

  test "such a constant is named by its place, and what only may be wrong stays a warning" do
    computed = %{"op" => "get", "from" => %{"op" => "load", "name" => "o"}, "field" => "x"}
    tools = tools({:list, :int})

    for {type, value} <- [int: 2.5, float: "x", int: "x", date: "2024-02-30", keyword: 2.5] do
      program = call(%{"a" => [computed, value]})

      assert {:error, [%{code: :wrong_argument, message: message, path: ["program"]}]} =
               Json.check(program, tools: tools({:list, type}))

      assert message =~ "Tool 'checked' does not take these arguments: a[1]: expected "
    end

    list = %{"op" => "concat", "lists" => [[computed], [2.5]]}

    assert {:ok, %{warnings: [%{code: :maybe_wrong_argument}]}} =
             check(call(%{"a" => list}), tools)

    # Which type of a union an object is of may depend on what is computed.
    union = {:one_of, [{:map, [{"k", :string}, {"n", :int}]}, {:map, [{"n", :string}]}], nil}

    object = %{"k" => computed, "n" => "x"}
    assert {:ok, _} = check(call(%{"a" => [object, object]}), tools({:list, union}))
  end

  test "computed values of a kind that cannot be converted" do
    for {type, node, fits?} <- [
          {:date, @count, false},
          {:datetime, @count, false},
          {:decimal, @count, true},
          {:date, %{"op" => "load", "name" => "rows"}, false},
          {:decimal, %{"op" => "load", "name" => "rows"}, false},
          {:decimal, %{"op" => "load", "name" => "o"}, false},
          {:decimal, %{"op" => "eq", "left" => @count, "value" => 1}, false},
          {:int, %{"op" => "div", "left" => @count, "right" => 2}, false},
          {{:optional, :date}, @count, false},
          {{:map, [{"x", :date}]}, %{"op" => "load", "name" => "o"}, false},
          {:date,
           %{
             "op" => "if",
             "condition" => %{"op" => "eq", "left" => @count, "value" => 1},
             "then" => "x",
             "else" => "2024-02-30"
           }, false}
        ] do
      program = call(%{"a" => node})
      tools = tools(type)
      ran = if fits?, do: :ok, else: :error
      assert {^ran, _} = run(program, tools)
      assert elem(check(program, tools), 0) == ran, inspect({type, node})
    end
  end

  test "what may be a constant that does not fit is a warning" do
    node = %{
      "op" => "if",
      "condition" => %{"op" => "eq", "left" => @count, "value" => 1},
      "then" => "2024-02-29",
      "else" => "2024-02-30"
    }

    assert {:ok, %{warnings: [%{code: :maybe_wrong_argument, message: message}]}} =
             check(call(%{"a" => node}), tools(:date))

    assert message =~ "a: expected a date, got \"2024-02-30\""
  end

  test "an argument that a run drops is a warning of the check" do
    map = {:map, [{"x", :int}]}
    object = %{"x" => 1, "y" => 2}

    for {type, args} <- [
          {:int, %{"a" => 1, "b" => 2}},
          {:int, %{"a" => 1, "b" => @count}},
          {map, %{"a" => object}},
          {{:list, map}, %{"a" => [object]}},
          {{:optional, map}, %{"a" => %{"op" => "load", "name" => "o"}}},
          {map, %{"a" => %{"x" => @count, "y" => 1}}}
        ] do
      tools = tools(type)
      assert {:ok, true} = run(call(args), tools)
      assert {:ok, %{warnings: warnings}} = check(call(args), tools)
      assert :unknown_argument in Enum.map(warnings, & &1.code), inspect(args)
      assert {:ok, _value, %{warnings: [_ | _]}} = Agent.run(call(args), tools, context: @context)
    end

    assert {:ok, %{warnings: []}} = check(call(%{"a" => %{"x" => 1}}), tools(map))
  end

  test "null is a keyword, also where it is computed" do
    either = fn value ->
      %{
        "op" => "if",
        "condition" => %{"op" => "eq", "left" => @count, "value" => 1},
        "then" => nil,
        "else" => value
      }
    end

    for node <- [nil, either.(nil), either.("x")] do
      program = call(%{"a" => node})
      assert {:ok, false} = run(program, tools(:keyword))
      assert {:ok, %{warnings: []}} = check(program, tools(:keyword))
    end
  end

  test "a keyword alone, in lists and in unions with lists: a check of data and constants says what a run says" do
    load = %{"op" => "load", "name" => "d"}

    types = [
      :keyword,
      {:optional, :keyword},
      {:list, :keyword},
      {:one_of, [:keyword, {:list, :keyword}], nil},
      {:one_of, [:keyword, {:list, :int}], nil},
      {:one_of, [:int, {:list, {:one_of, [:keyword, :int], nil}}], nil}
    ]

    values = ["x", nil, true, 3, %{}, %{"a" => 1}] ++ [[], ["x"], [nil], [true], [1], [["x"]]]

    for type <- types, value <- values do
      tools = %{"checked" => {& &1, {:signature, [{"k", type}], :any}}}
      program = call(%{"k" => load})
      ran = Agent.run(program, tools, context: %{"d" => value})
      checked = Json.check(program, tools: tools, context: %{"d" => {:sample, value}})
      # What a conversion may make fit is a warning.
      found? = not match?({:ok, %{warnings: []}}, checked)
      assert {type, value, elem(ran, 0) == :error} == {type, value, found?}
      assert elem(ran, 0) == :error or elem(checked, 0) == :ok

      result = [returns: {:signature, [], type}]
      given = Agent.run(%{"program" => load}, %{}, [context: %{"d" => value}] ++ result)
      checked = Json.check(%{"program" => load}, [context: %{"d" => {:sample, value}}] ++ result)
      assert {type, value, elem(given, 0)} == {type, value, elem(checked, 0)}
    end

    # A date is an object to a program, and no keyword.
    known = [context: %{"d" => {:sample, ~D[2024-02-29]}}, returns: ":keyword"]

    assert {:ok, %{warnings: [%{code: :maybe_wrong_result}]}} =
             Json.check(%{"program" => load}, known)
  end

  test "several errors are told at once, and none twice" do
    signature =
      {:signature, [{"at", :date}, {"n", {:where, :int, [min: 1]}}, {"s", :string}], :any}

    tools = %{"checked" => {& &1, signature: signature}}
    args = %{"at" => "no", "n" => 0, "s" => %{"op" => "load", "name" => "rows"}}
    assert {:error, findings} = check(call(args), tools)
    text = Enum.map_join(findings, "\n", & &1.message)
    for name <- ["at", "n"], do: assert(length(String.split(text, name <> ": expected")) == 2)
    assert text =~ "Argument 's'"
  end

  test "a number that no float can hold is a decimal before the run as in the run" do
    for {type, right?} <- [
          {:decimal, true},
          {{:where, :decimal, [max: 5]}, false},
          {:float, false}
        ] do
      tools = %{"pay" => {fn args -> args["d"] end, signature: {:signature, [{"d", type}], :any}}}
      program = ~s({"program": {"op": "call", "tool": "pay", "args": {"d": 1e400}}})
      assert {type, match?({:ok, _, _, _}, Json.run(program, tools: tools))} == {type, right?}
      assert {type, match?({:ok, _}, Json.check(program, tools: tools))} == {type, right?}
      assert match?({:ok, _}, Json.plan(program, tools: tools)) == (type != :float)
    end
  end

  test "whoever knows the tools reads such a number, and nobody else" do
    answer = &"It is 1e400:\n```json\n#{&1}\n```\nNot 2e500."
    decimal = {& &1["d"], signature: {:signature, [{"d", :decimal}], :any}}

    for {value, tool, right?} <- [
          {"1e400", decimal, true},
          {"[1e400]", {& &1["d"], signature: {:signature, [{"d", {:list, :decimal}}], :any}},
           true},
          {~s({"op": "let", "name": "n", "value": -1e400, "in": {"op": "var", "name": "n"}}),
           decimal, true},
          {~s({"op": "add", "left": 1e400, "right": 1}), decimal, false},
          {"1e400", {& &1["d"], "(d :float) -> :any"}, false},
          {"1e400", & &1["d"], false}
        ] do
      program = ~s({"program": {"op": "call", "tool": "pay", "args": {"d": #{value}}}})
      tools = %{"pay" => tool}
      check = [tools: tools]

      read = [
        run: Json.run(program, tools: tools),
        record: program |> Json.record(tools: tools) |> elem(0),
        check: Json.check(program, tools: tools),
        plan: Json.plan(program, tools: tools),
        explain: Json.explain(program, tools: tools).result,
        compile: Json.compile(program, check: check),
        program: Agent.program(answer.(program), tools: tools),
        agent: Agent.run(program, tools),
        loop: Agent.loop(fn _ -> answer.(program) end, task: "Pay", tools: tools, max_turns: 1)
      ]

      for {entry, result} <- read,
          do: assert({entry, value, elem(result, 0) == :ok} == {entry, value, right?})

      for {entry, result} <- [
            compile: Json.compile(program),
            check: Json.check(program),
            plan: Json.plan(program),
            run: Json.run(program),
            program: Agent.program(program)
          ],
          do: assert({entry, elem(result, 0)} == {entry, :error})
    end
  end
end
