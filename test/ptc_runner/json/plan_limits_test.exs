defmodule PtcRunner.Json.PlanLimitsTest do
  # What runs with default limits is planned, checked and explained with them.
  use ExUnit.Case, async: true

  alias PtcRunner.Json

  defp switch(cases) do
    cases =
      Enum.map_join(1..cases//1, ",", fn n ->
        ~s({"when": {"op": "eq", "field": "a", "value": #{n}}, "then": {"op": "get", "field": "f#{n}"}})
      end)

    ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "o"}, {"op": "switch", "cases": [#{cases}]}]}})
  end

  defp nested(depth) do
    deep =
      Enum.reduce(1..depth//1, ~s({"op": "literal", "value": 0}), fn n, inner ->
        ~s({"op": "switch", "cases": [{"when": {"op": "literal", "value": false}, "then": {"op": "literal", "value": #{n}}}], "else": #{inner}})
      end)

    ~s({"program": #{deep}})
  end

  test "many cases, many literals, and deep nesting" do
    literals =
      ~s({"program": {"op": "list", "items": [#{Enum.map_join(1..20_000, ",", &to_string/1)}]}})

    for program <- [switch(20_000), nested(5_000), literals] do
      opts = [context: %{"o" => %{"a" => 7, "f7" => 1}}]
      assert {:ok, _, _, _} = Json.run(program, opts)
      assert {:ok, _} = Json.plan(program)
      assert {:ok, _} = Json.check(program)
    end

    # An explanation shows each operation, and takes longer.
    for program <- [nested(5_000), literals] do
      assert %Json.Explain{result: {:ok, _, _, _}} = Json.explain(program, timeout: 60_000)
    end
  end
end
