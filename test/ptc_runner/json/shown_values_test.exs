defmodule PtcRunner.Json.ShownValuesTest do
  # Errors that a model reads: the keys as they are declared, and what to write instead.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Agent.Tool
  alias PtcRunner.Json.Check.Words
  alias PtcRunner.SubAgent.Signature.Exact

  @decimal %{__struct__: Decimal, sign: 1, coef: 1250, exp: -2}
  @row %{
    "d" => ~D[2025-03-10],
    "t" => ~T[10:00:00],
    "at" => ~U[2025-01-01 10:00:00Z],
    "m" => @decimal,
    "n" => 3
  }

  defp failed(step) do
    program = ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"}, #{step}]}})

    assert {:error, {_kind, text}, feedback} =
             Agent.run(program, %{}, context: %{"rows" => [@row]})

    {text, feedback}
  end

  defp get(field), do: ~s({"op": "get", "field": "#{field}"})

  test "arithmetic of dates says what to use" do
    for step <- [
          ~s({"op": "map", "expr": {"op": "sub", "left": #{get("d")}, "right": #{get("d")}}}),
          ~s({"op": "map", "expr": {"op": "div", "left": #{get("at")}, "right": 2}}),
          ~s({"op": "sum", "field": "d"}),
          ~s({"op": "map", "expr": {"op": "sub", "left": 5, "right": {"op": "literal", "value": "2025-03-10"}}})
        ] do
      assert {_text, feedback} = failed(step)
      assert feedback =~ ~s("op":"date_diff")
    end

    {_text, feedback} =
      failed(
        ~s({"op": "map", "expr": {"op": "add", "left": #{get("m")}, "right": {"op": "literal", "value": "x"}}})
      )

    refute feedback =~ "date_diff"
  end

  test "a quotient of integers beside a decimal: divide last" do
    quotient = ~s({"op": "div", "left": #{get("n")}, "right": 2})

    {text, _} =
      failed(~s({"op": "map", "expr": {"op": "mul", "left": #{get("m")}, "right": #{quotient}}}))

    assert text =~ "1.5. Give the number as a text"
    assert text =~ "divide last"
    product = ~s({"op": "mul", "left": #{get("m")}, "right": #{get("n")}})

    program =
      ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"}, {"op": "map", "expr": {"op": "div", "left": #{product}, "right": 2}}]}})

    assert {:ok, [%{__struct__: Decimal}], _} =
             Agent.run(program, %{}, context: %{"rows" => [@row]})
  end

  test "an operation on a field of items names both forms" do
    for op <- ["sum", "min", "max", "avg"] do
      assert {_text, feedback} = failed(~s({"op": "#{op}"}))
      assert feedback =~ ~s("field") and feedback =~ ~s("expr")
    end
  end

  test "a time of day has its name" do
    prompt = Agent.prompt(context: %{"rows" => [@row]})
    assert prompt =~ "t :time"
    assert prompt =~ ":time is a time of day"
    refute Agent.prompt(context: %{"d" => ~D[2025-01-01]}) =~ ":time is"
  end

  test "twins keep their values" do
    schema = %{
      "type" => "object",
      "properties" => %{
        "user-id" => %{"type" => "integer"},
        "user_id" => %{"type" => "integer"},
        "o" => %{
          "type" => "object",
          "properties" => %{"a-b" => %{"type" => "integer"}, "a_b" => %{"type" => "boolean"}}
        }
      }
    }

    {:ok, [tool], _} =
      Tool.from_openai([%{type: "function", name: "t", parameters: schema}], %{"t" => & &1})

    for {args, lines} <- [
          {~s({"user-id": "x", "user_id": "y"}),
           [
             ~s(user-id: expected integer, got string "x"),
             ~s(user_id: expected integer, got string "y")
           ]},
          {~s({"user-id": "x", "user_id": 1}), [~s(user-id: expected integer, got string "x")]},
          {~s({"user-id": 1, "user_id": "y"}), [~s(user_id: expected integer, got string "y")]},
          {~s({"o": {"a-b": "z", "a_b": 5}}),
           [
             ~s(o.a-b: expected integer, got string "z"),
             ~s(o.a_b: expected boolean, got integer 5)
           ]}
        ] do
      program = ~s({"program": {"op": "call", "tool": "t", "args": #{args}}})
      assert {:error, {:execution_error, text}} = Json.run(program, tools: %{"t" => tool})
      assert {:error, findings} = Json.check(program, tools: %{"t" => tool})
      told = Enum.map_join(findings, "\n", & &1.message)
      assert text |> String.split("\n- ") |> tl() |> length() == length(lines)
      for line <- lines, do: assert(text =~ line and told =~ line)
    end
  end

  test "a union that is not shown as a whole says how many members more there are" do
    members = for n <- 1..24, do: {:literal, String.duplicate("v", 40) <> "#{n}"}
    text = Words.shown({:union, members})
    assert text =~ ~r/ or one of [0-9]+ more\z/
    shown = length(String.split(text, " or ")) - 1
    assert text =~ "or one of #{24 - shown} more"
    assert Words.shown({:union, Enum.map(1..20, &{:literal, &1})}) =~ " or 20"
  end

  test "a tool's answer as a JSON text has dates where they are declared" do
    for {type, text, value} <- [
          {:date, "2024-02-29", ~D[2024-02-29]},
          {:datetime, "2024-02-29T10:00:00+02:00", ~U[2024-02-29 08:00:00Z]},
          {{:optional, :date}, "2024-02-29", ~D[2024-02-29]},
          {{:one_of, [:int, :date], nil}, "2024-02-29", ~D[2024-02-29]},
          {{:one_of, [:string, :date], nil}, "2024-02-29", "2024-02-29"},
          {:string, "2024-02-29", "2024-02-29"}
        ],
        {wrap, unwrap} <- [
          {&{&1, ~s("#{text}")}, & &1},
          {&{{:list, &1}, ~s(["#{text}"])}, &hd/1},
          {&{{:map, [{"d", &1}]}, ~s({"d": "#{text}"})}, & &1["d"]}
        ] do
      {type, json} = wrap.(type)
      tool = %Tool{name: "t", fun: fn _ -> Json.text(json) end, signature: {:signature, [], type}}
      program = ~s({"program": {"op": "call", "tool": "t", "args": {}}})

      assert {:ok, got, _, _} = Json.run(program, tools: %{"t" => tool}, structs: :values)
      assert unwrap.(got) == value
      # It fits as terms, too.
      terms = %{tool | fun: fn _ -> got end}
      assert {:ok, ^got, _, _} = Json.run(program, tools: %{"t" => terms}, structs: :values)
    end

    for type <- [:date, :datetime], text <- ["2024-02-30", "soon"] do
      tool = %Tool{
        name: "t",
        fun: fn _ -> Json.text(~s("#{text}")) end,
        signature: {:signature, [], type}
      }

      program = ~s({"program": {"op": "call", "tool": "t", "args": {}}})
      assert {:error, {:execution_error, message}} = Json.run(program, tools: %{"t" => tool})
      assert message =~ "its result is not what its signature says"

      assert {:error, {:execution_error, ^message}} =
               Json.run(program, tools: %{"t" => %{tool | fun: fn _ -> text end}})
    end

    assert Exact.made?({:defs, %{"T" => :date}, {:ref, "T"}})
  end
end
