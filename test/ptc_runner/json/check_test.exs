defmodule PtcRunner.Json.CheckTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Json

  doctest PtcRunner.Json.Check
  doctest PtcRunner.Json.Check.Enums
  doctest PtcRunner.Json.Check.Words

  @context %{"orders" => "[{id :int, total :float, name :string, note :string?}]", "n" => ":int"}
  @tools %{"user" => "(id :int, day :string?) -> {name :string}"}

  defp check(steps, opts) do
    steps = [%{"op" => "load", "name" => "orders"} | List.wrap(steps)]
    program = %{"program" => %{"op" => "pipe", "steps" => steps}}
    Json.check(program, [context: @context, tools: @tools, memory: %{}] ++ opts)
  end

  defp errors(steps, opts \\ []) do
    assert {:error, findings} = check(steps, opts)
    for finding <- findings, do: {Enum.drop(finding.path, 3), finding.message, finding.suggestion}
  end

  defp warnings(steps, opts \\ []) do
    assert {:ok, checked} = check(steps, opts)
    for finding <- checked.warnings, do: finding.message
  end

  defp get(field), do: %{"op" => "get", "field" => field}
  defp call(tool, args), do: %{"op" => "call", "tool" => tool, "args" => args}

  test "a field that no row can have" do
    where = %{"op" => "eq", "field" => "totl", "value" => 1}

    assert errors(%{"op" => "filter", "where" => where}) ==
             [
               {["where", "field"],
                "eq reads field 'totl', which no value has. Did you mean 'total'?", "total"}
             ]

    assert [
             {_,
              "get reads field 'x', which no value has. There are: 'id', 'name', 'note', 'total'",
              nil}
           ] = errors(%{"op" => "map", "expr" => get("x")})
  end

  test "a field of something that is no object" do
    assert [{["field"], "get needs an object as current value, which is a list", nil}] =
             errors(get("id"))
  end

  test "a list operation on no list" do
    assert [{[], "count needs a list as current value, which is a number", nil}] =
             errors([%{"op" => "count"}, %{"op" => "count"}])
  end

  test "arithmetic on text, and a sum of texts" do
    add = %{"op" => "add", "left" => get("name"), "right" => 1}

    assert [{["expr", "left"], "add needs a number in 'left', which is a text", nil}] =
             errors(%{"op" => "map", "expr" => add})

    assert [{["field"], "sum needs numbers in field 'name' of the items, which are texts", nil}] =
             errors(%{"op" => "sum", "field" => "name"})
  end

  test "arguments of tools" do
    assert [{["tool"], "Tool 'usr' not found. Did you mean 'user'?", "user"}] =
             errors(call("usr", %{}))

    assert [{["args"], "Tool 'user' needs argument 'id' (:int)", nil}] =
             errors(call("user", %{"day" => "x"}))

    # A run does not pass it on.
    assert warnings(call("user", %{"id" => 1, "to" => 2})) ==
             ["Tool 'user' has no argument 'to'. There are: 'day', 'id'"]

    assert [{["args", "id"], "Argument 'id' of tool 'user' must be :int, and is \"seven\"", nil}] =
             errors(call("user", %{"id" => "seven"}))

    # A text of digits is coerced.
    assert warnings(call("user", %{"id" => "7"})) ==
             ["Argument 'id' of tool 'user' must be :int, and may be \"7\""]
  end

  test "names that are not there" do
    program = %{"program" => %{"op" => "load", "name" => "order"}}
    assert {:error, [finding]} = Json.check(program, context: @context)
    assert finding.message == "load finds no 'order' in the context. Did you mean 'orders'?"

    assert [{_, "var finds no 'x' in the memory. There are none", nil}] =
             errors(%{"op" => "var", "name" => "x"})

    assert {:ok, _checked} = Json.check(program)
  end

  test "a result that cannot fit" do
    assert {:error, [%{message: "The result must be [:int], and is :int", path: ["program"]}]} =
             check(%{"op" => "count"}, returns: "[:int]")

    assert {:error, [%{message: "The result has no field nme, which must be :string"}]} =
             check(%{"op" => "max_by", "field" => "id"}, returns: "{id :int, nme :string}")
  end

  test "an operation without input" do
    assert {:error, [%{message: "No input available in operation 'count'"}]} =
             Json.check(%{"program" => %{"op" => "count"}})
  end

  test "warnings" do
    gt = %{"op" => "gt", "field" => "name", "value" => 1}

    assert warnings(%{"op" => "filter", "where" => gt}) ==
             ["gt is always false: field 'name' is a text, and is compared with a number"]

    assert warnings(%{"op" => "map", "expr" => call("user", %{"id" => 1})}) ==
             ["Tool 'user' is called for each item with the same arguments"]
  end

  test "lines and columns, of texts only" do
    text =
      ~s({"program":\n {"op": "pipe", "steps": [{"op": "load", "name": "n"},\n  {"op": "count"}]}})

    assert {:error, [%{line: 3, column: 3}]} = Json.check(text, context: @context)
    {:ok, program} = Json.compile(text)
    assert {:error, [%{line: 3, column: 3}]} = Json.check(program, context: @context)
    {:ok, map} = PtcRunner.Json.Codec.decode(text)
    assert {:error, [%{line: nil, column: nil}]} = Json.check(map, context: @context)
  end

  test "what is no program is one finding" do
    assert {:error,
            [
              %{
                code: :invalid,
                message: "Unknown operation 'cuont'. Did you mean 'count'?",
                line: 1,
                column: 13
              }
            ]} = Json.check(~s({"program": {"op": "cuont"}}))

    assert {:error, [%{code: :invalid, path: []}]} = Json.check(~s({"program": {"op": "count))
    assert {:error, [%{code: :invalid}]} = Json.check(%{"op" => "count"})
  end

  test "compile refuses" do
    program = %{"program" => %{"op" => "load", "name" => "x"}}
    assert {:ok, _program} = Json.compile(program, check: [])

    assert Json.compile(program, check: [context: %{"n" => ":int"}]) ==
             {:error,
              {:validation_error,
               "program.name: load finds no 'x' in the context. There are: 'n'"}}

    assert_raise ArgumentError, fn -> Json.compile(program, check: [contxt: %{}]) end
  end

  test "a program that was checked is the same program" do
    program =
      ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "n"}, {"op": "filter", "where": {"op": "gt", "field": "a", "value": 1}}]}})

    types = [context: %{"n" => "[{a :int}]"}]
    {:ok, plain} = Json.compile(program)
    {:ok, checked} = Json.compile(program, check: types)
    assert Map.delete(plain, :handle) == Map.delete(checked, :handle)
    assert {:ok, _} = Json.check(plain, types)
    # The same instructions and the same work.
    explained = fn program ->
      explanation = Json.explain(program, context: %{"n" => [%{"a" => 1}, %{"a" => 2}]})

      for operation <- explanation.operations,
          do: Map.drop(operation, [:time, :total_time, :tool_time])
    end

    assert explained.(plain) == explained.(checked)
  end

  test "samples: keys that are missing are optional, values of several kinds are a union, dates and times are :datetime, other structs anything" do
    type = &PtcRunner.Json.Check.type({:sample, &1})
    assert type.([]) == {:list, :never}
    assert type.([%{"a" => 1}, %{}]) == {:list, {:map, [{"a", {:optional, :int}}]}}

    for date <- [~D[2024-02-29], ~T[10:30:00], ~N[2024-02-29 10:30:00], ~U[2024-02-29 10:30:00Z]],
        do: assert(type.(date) == :datetime)

    assert type.([%{"at" => ~D[2024-02-29]}, %{"at" => nil}]) ==
             {:list, {:map, [{"at", {:union, [{:literal, nil}, :datetime]}}]}}

    assert type.(%{__struct__: Decimal, sign: 1, coef: 1, exp: 0}) == :any
    assert type.(1..2) == :any
    assert type.([1, "x"]) == {:list, {:union, [:int, :string]}}
    assert type.(%{a: 1.5}) == {:map, [{"a", :float}]}
    assert type.({1, 2}) == :any
  end

  describe "fields with a default" do
    @status {:string, enum: ["open", "paid"], aliases: %{"settled" => "paid"}, default: "open"}

    test "may be missing in the result, in arguments and in answers" do
      returns = [a: :int, note: {:string, default: "-"}, rows: [[n: {:int, default: 1}]]]
      program = ~s({"program": {"a": 1, "rows": [{}]}})
      assert {:ok, _checked} = PtcRunner.Json.check(program, returns: returns)

      assert {:ok, %{"a" => 1, "note" => "-", "rows" => [%{"n" => 1}]}, _info} =
               PtcRunner.Agent.run(program, %{}, returns: returns, check: true)

      tools = %{"t" => {& &1, {[n: {:int, default: 3}, m: :int, status: @status], :any}}}
      call = ~s({"program": {"op": "call", "tool": "t", "args": {"m": 1}}})
      assert {:ok, _checked} = PtcRunner.Json.check(call, tools: tools)

      assert {:ok, %{"m" => 1, "n" => 3, "status" => "open"}, _info} =
               PtcRunner.Agent.run(call, tools, check: true)
    end

    test "have the type all the same, and the other fields are needed" do
      assert {:error, [%{code: :wrong_result}]} =
               PtcRunner.Json.check(~s({"program": {"note": 1}}),
                 returns: [note: {:string, default: "-"}]
               )

      assert {:error, [%{code: :missing_result}]} =
               PtcRunner.Json.check(~s({"program": {"note": "a"}}),
                 returns: [a: :int, note: {:string, default: "-"}]
               )
    end
  end
end
