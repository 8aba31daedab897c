defmodule PtcRunner.Json.CheckFloatsTest do
  # A float where an integer is needed fails in each run: the check says so, and says nothing where a run succeeds.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Json

  @floats [
    ~s(2.5),
    ~s(2.0),
    ~s({"op": "round", "value": 2.5}),
    ~s({"op": "round", "value": 5}),
    ~s({"op": "round", "value": {"op": "load", "name": "n"}}),
    ~s({"op": "div", "left": 4, "right": 2}),
    ~s({"op": "pct", "part": 1, "whole": 2})
  ]
  @integers [
    "2",
    ~s({"op": "floor", "value": 2.5}),
    ~s({"op": "ceil", "value": {"op": "div", "left": 1, "right": 2}}),
    ~s({"op": "pipe", "steps": [{"op": "load", "name": "rows"}, {"op": "count"}]}),
    ~s({"op": "load", "name": "n"}),
    ~s({"op": "add", "left": 1, "right": 2})
  ]
  @context %{"n" => 7, "rows" => [1, 2]}
  @types %{"n" => ":int", "rows" => "[:int]"}

  # Programs that need an integer, and the codes of their findings.
  defp uses(value) do
    [
      {~s({"op": "call", "tool": "t", "args": {"n": #{value}}}), :wrong_argument},
      {~s({"op": "call", "tool": "o", "args": {"n": #{value}}}), :wrong_argument},
      {~s({"op": "range", "from": #{value}, "to": 9}), :wrong_integer},
      {~s({"op": "range", "from": 1, "to": #{value}}), :wrong_integer},
      {~s({"op": "mod", "left": #{value}, "right": 2}), :wrong_integer},
      {~s({"op": "mod", "left": 9, "right": #{value}}), :wrong_integer},
      {~s({"op": "date_add", "value": "2024-01-01", "amount": #{value}, "unit": "day"}),
       :wrong_integer}
    ]
  end

  defp tools, do: %{"t" => {& &1, "(n :int) -> :any"}, "o" => {& &1, "(n :int?) -> :any"}}

  test "floats are findings, and the runs fail" do
    for value <- @floats, {node, code} <- uses(value) do
      program = ~s({"program": #{node}})

      assert {:error, [%{code: ^code, message: message}]} =
               Json.check(program, tools: tools(), context: @types),
             node

      assert message =~ "int"
      assert {:error, _} = Json.run(program, tools: validated(), context: @context)
    end
  end

  test "integers are none, and the runs succeed" do
    for value <- @integers, {node, _code} <- uses(value) do
      program = ~s({"program": #{node}})
      assert {:ok, _} = Json.check(program, tools: tools(), context: @types), node
      assert {:ok, _, _, _} = Json.run(program, tools: validated(), context: @context)
    end
  end

  test "an integer of a JSON Schema takes a float without a fraction" do
    {:ok, {:signature, [], {:map, params}}, _} =
      PtcRunner.SubAgent.Signature.from_json_schema(
        %{
          "type" => "object",
          "properties" => %{"n" => %{"type" => "integer"}},
          "required" => ["n"]
        },
        []
      )

    tool = %Tool{name: "t", fun: & &1, signature: {:signature, params, :any}}

    for value <- Enum.drop(@floats, 1) ++ @integers do
      program = ~s({"program": {"op": "call", "tool": "t", "args": {"n": #{value}}}})
      assert {:ok, _} = Json.check(program, tools: %{"t" => tool}, context: @types), value
    end

    program = ~s({"program": {"op": "call", "tool": "t", "args": {"n": 2.5}}})
    assert {:error, [%{code: :wrong_argument}]} = Json.check(program, tools: %{"t" => tool})
  end

  test "a result that is a float without a fraction is converted, and no finding" do
    for value <- Enum.drop(@floats, 1) do
      assert {:ok, _} =
               Json.check(~s({"program": {"op": "object", "fields": {"n": #{value}}}}),
                 returns: "{n :int}",
                 context: @types
               )
    end
  end

  defp validated do
    for {name, {fun, signature}} <- tools(), into: %{} do
      {name,
       %Tool{name: name, fun: fun, signature: PtcRunner.SubAgent.Signature.parsed!(signature)}}
    end
  end
end
