defmodule PtcRunner.Json.CheckSampleTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.Check

  defp type(value), do: Check.type({:sample, value})

  defp row(n, fields),
    do: Map.new(1..fields, &{"field_#{&1}", if(rem(&1, 2) == 0, do: n, else: "t")})

  test "a thousand rows of twenty fields" do
    assert {:list, {:map, fields}} = type(for n <- 1..1_000, do: row(n, 20))
    assert length(fields) == 20
    assert {"field_2", :int} in fields
    assert {"field_3", :string} in fields
  end

  test "keys of any kind and number" do
    assert type(Map.new(1..100_000, &{"key#{&1}", &1})) == :map
    assert type(Map.new(1..100_000, &{String.duplicate("k", 500) <> "#{&1}", &1})) == :map
    assert type(%{{1, 2} => 3}) == :map
    assert type(%{String.duplicate("k", 5_000_000) => 3}) == :map
    assert type([%{a: 1}, %{"a" => "x"}]) == {:list, {:map, [{"a", {:union, [:int, :string]}}]}}
    <<_::4, key::bitstring>> = <<0::4, "name">>
    assert type(%{key => 1}) == {:map, [{"name", :int}]}
  end

  test "values that are nested, improper, or more than are read" do
    deep = Enum.reduce(1..100_000, 1, fn _, inner -> [%{"a" => inner}] end)
    assert {:list, {:map, [{"a", {:list, _}}]}} = type(deep)
    assert type([1 | 2]) == {:list, :int}
    assert type([%{"a" => [1, 2 | :x]}]) == {:list, {:map, [{"a", {:list, :int}}]}}
    rows = for n <- 1..1_000, do: Map.new(1..250, &{"f#{&1}", n})
    assert {:list, {:open_map, fields}} = type(rows)
    assert length(fields) == 250
    refute Enum.any?(fields, &match?({_, {:optional, _}}, &1))
  end

  test "a large sample beside a program" do
    program =
      ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"}, {"op": "sum", "field": "field_1"}]}})

    rows = for n <- 1..5_000, do: row(n, 20)
    assert {:error, [finding]} = Json.check(program, context: %{"rows" => {:sample, rows}})
    assert finding.message == "sum needs numbers in field 'field_1' of the items, which are texts"
  end
end
