defmodule PtcRunner.Json.AnyKeysTest do
  # `keys: :any`: where a map has no string of a name, the atom of that name is meant.
  use ExUnit.Case, async: true

  alias PtcRunner.Json

  defmodule Order do
    defstruct [:total, :customer]
  end

  defp run(steps, context, opts \\ []) do
    node = %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => "rows"} | steps]}
    map = %{"program" => node}
    answer = Json.run(map, [context: context, keys: :any] ++ opts)
    {:ok, program} = Json.compile(map, keys: :any)
    assert Json.run(program, [context: context] ++ opts) == answer
    {:ok, plain} = Json.compile(map)
    assert Json.run(plain, [context: context, keys: :any] ++ opts) == answer
    with {:ok, value, _delta, _memory} <- answer, do: value
  end

  defp op(name, fields \\ %{}), do: Map.put(fields, "op", name)

  @gt %{"op" => "gt", "field" => "total", "value" => 100}

  test "rows with atoms as keys are read by every operation that names fields" do
    rows =
      for {n, who} <- [{50, "a"}, {150, "b"}, {250, "a"}], do: %{total: n, customer: %{name: who}}

    for context <- [%{rows: rows}, %{"rows" => rows}] do
      assert run([op("sum", %{"field" => "total"})], context) == 450
      assert run([op("avg", %{"field" => "total"})], context) == 150.0
      assert run([op("max", %{"field" => "total"})], context) == 250
      assert run([op("filter", %{"where" => @gt}), op("count")], context) == 2
      assert run([op("reject", %{"where" => @gt}), op("count")], context) == 1
      get = op("get", %{"path" => ["customer", "name"]})
      assert run([op("map", %{"expr" => get})], context) == ["a", "b", "a"]
      sort = op("sort_by", %{"field" => "total", "order" => "desc"})
      total = op("get", %{"field" => "total"})
      assert run([sort, op("first"), total], context) == 250
      assert run([op("select", %{"fields" => ["total"]}), op("first")], context) == %{total: 50}
      among = op("filter_in", %{"field" => "total", "value" => [50]})
      assert run([among, op("count")], context) == 1
      assert run([op("min_by", %{"field" => "total"})], context) == hd(rows)
    end

    # Without the option neither the rows nor their fields are there.
    program = %{
      "program" => op("pipe", %{"steps" => [op("load", %{"name" => "rows"}), op("first")]})
    }

    error = {:error, {:execution_error, "first requires a list, got nil"}}
    assert Json.run(program, context: %{rows: rows}) == error
    assert Json.run(program, context: %{rows: rows}, keys: :strings) == error
  end

  test "a string is found before the atom of its name" do
    rows = [
      %{"total" => 1, total: 10},
      %{total: 20},
      %{"total" => 3},
      %{"total" => nil, total: 5}
    ]

    assert run([op("sum", %{"field" => "total"})], %{"rows" => rows, rows: []}) == 24

    assert run([op("select", %{"fields" => ["total"]})], %{rows: rows}) == [
             %{"total" => 1},
             %{total: 20},
             %{"total" => 3},
             %{"total" => nil}
           ]
  end

  test "filters that compare fields with constants find atoms too" do
    # Rows of each kind side by side, so that what was found in one is no help for the next.
    rows =
      for n <- 1..40 do
        Enum.at(
          [
            %{"total" => n, "kind" => "a"},
            %{total: n, kind: "a"},
            %{"kind" => "a", total: n},
            %{"total" => n, total: -n, kind: "a"},
            %{kind: "b"}
          ],
          rem(div(n, 2), 5)
        )
      end

    more = op("gt", %{"field" => "total", "value" => 10})
    kind = op("eq", %{"field" => "kind", "value" => "a"})
    total = fn row -> Map.get(row, "total", Map.get(row, :total)) end
    kept = Enum.filter(rows, &(is_integer(total.(&1)) and total.(&1) > 10))
    assert run([op("filter", %{"where" => more})], %{rows: rows}) == kept

    assert run([op("reject", %{"where" => more})], %{rows: rows}) == rows -- kept

    both = op("and", %{"conditions" => [kind, more]})
    steps = [op("filter", %{"where" => both}), op("sum", %{"field" => "total"})]
    numbers = for row <- kept, is_integer(total.(row)), do: total.(row)
    assert run(steps, %{rows: rows}) == Enum.sum(numbers)

    either = op("or", %{"conditions" => [more, op("eq", %{"field" => "kind", "value" => "b"})]})
    other = Enum.count(rows, &(&1[:kind] == "b"))
    count = run([op("filter", %{"where" => either}), op("count")], %{rows: rows})
    assert count == length(kept) + other
  end

  test "structs, and structs turned to maps" do
    orders = for n <- [1, 2], do: %Order{total: n, customer: "c"}
    assert run([op("sum", %{"field" => "total"})], %{rows: orders}) == 3
    maps = Enum.map(orders, &Map.from_struct/1)
    assert run([op("sum", %{"field" => "total"})], %{rows: maps}) == 3
    assert run([op("first")], %{rows: orders}) == hd(orders)
  end

  test "small and large maps, with and without the key, in any order" do
    for size <- [1, 5, 31, 32, 33, 200] do
      wide = Map.new(1..size, &{:"any_keys_#{&1}", &1})
      with_it = Map.put(wide, :total, 7)
      text = Map.new(wide, fn {key, value} -> {"#{key}", value} end)
      rows = [wide, with_it, text, Map.put(text, "total", 1), Map.put(text, :total, 2), with_it]
      assert run([op("sum", %{"field" => "total"})], %{rows: rows}) == 17
    end
  end

  test "memory, lets and the names nil and true" do
    memory = %{seen: 1, nil: 2, true: 3}

    var = fn name ->
      Json.run!(%{"program" => op("var", %{"name" => name})}, memory: memory, keys: :any)
    end

    assert {var.("seen"), var.("nil"), var.("true")} == {1, 2, 3}
    assert var.("nothing of that name anywhere") == nil
    value = op("literal", %{"value" => 9})

    bound =
      op("let", %{"name" => "seen", "value" => value, "in" => op("var", %{"name" => "seen"})})

    assert Json.run!(%{"program" => bound}, memory: memory, keys: :any) == 9
  end

  test "no atom is made" do
    name = "never_an_atom_#{System.unique_integer([:positive])}"
    rows = [%{total: 1}]
    assert run([op("sum", %{"field" => name})], %{rows: rows}) == 0
    assert run([op("select", %{"fields" => [name]})], %{rows: rows}) == [%{}]
    assert_raise ArgumentError, fn -> String.to_existing_atom(name) end
  end

  test "names that are no atom's: too long, not Latin-1, not UTF-8" do
    rows = [%{žluť: 1, total: 2}]
    assert run([op("sum", %{"field" => "žluť"})], %{rows: rows}) == 1
    assert run([op("sum", %{"field" => String.duplicate("x", 100_000)})], %{rows: rows}) == 0
    assert run([op("sum", %{"field" => <<255>>})], %{rows: rows}) == 0
  end

  test "an atom that a tool makes is found after the call" do
    name = "made_by_a_tool_#{System.unique_integer([:positive])}"
    make = fn _ -> [%{String.to_atom(name) => 5}] end
    steps = [op("call", %{"tool" => "make"}), op("sum", %{"field" => name})]
    program = %{"program" => op("pipe", %{"steps" => steps})}
    assert Json.run!(program, tools: %{"make" => make}, keys: :any) == 5
  end

  test "long runs are left and resumed with the option" do
    rows = for n <- 1..100_000, do: %{total: n}
    assert run([op("filter", %{"where" => @gt}), op("count")], %{rows: rows}) == 99_900
    sort = op("sort_by", %{"field" => "total", "order" => "desc"})
    assert run([sort, op("first")], %{rows: rows}, timeout: 10_000) == %{total: 100_000}
  end

  test "strict programs tell atoms among the names that there are" do
    context = %{"orders" => 1, customers: 2}
    assert {:error, {:execution_error, text}} = run([], context, strict: true)
    assert text == "Unknown name 'rows' in operation 'load'. There are: 'customers', 'orders'"
  end

  test "a compiled program keeps the option through storage" do
    {:ok, program} = Json.compile(~s({"program": {"op": "load", "name": "total"}}), keys: :any)
    again = program |> :erlang.term_to_binary() |> :erlang.binary_to_term()
    assert Json.run!(again, context: %{total: 1}) == 1
    # A handle that is gone: the program is made again from its source.
    assert Json.run!(%{again | handle: make_ref()}, context: %{total: 1}) == 1
    assert {:ok, ^program} = Json.compile(program)
    assert {:ok, ^program} = Json.compile(program, keys: :any)
  end

  test "of maps that are put together, the name in the other form counts too" do
    item = %{:id => 1, :n => 9, "s" => "item"}
    match = %{"id" => 1, "n" => 2, :s => "match", "m" => 3}
    join = op("join", %{"on" => "id", "with" => %{"op" => "load", "name" => "matches"}})
    context = %{"rows" => [item, item], "matches" => [match]}
    joined = %{:id => 1, :n => 9, "s" => "item", "m" => 3}
    assert run([join], context, edition: 2) == [joined, joined]
    get = op("map", %{"expr" => op("get", %{"field" => "n"})})
    assert run([join, get], context, edition: 2) == [9, 9]

    load = &%{"op" => "load", "name" => &1}
    merge = op("merge", %{"objects" => [load.("a"), load.("b"), load.("c")]})

    context = %{
      "rows" => 0,
      "a" => %{"id" => 1, :n => 1},
      "b" => %{id: 2, m: 2},
      "c" => %{"n" => 3}
    }

    assert run([merge], context) == %{:id => 2, :m => 2, "n" => 3}
    assert run([merge], %{context | "c" => %{n: 3}}) == %{id: 2, m: 2, n: 3}

    # A map's own keys stay, also those of one name.
    both = %{:id => 1, "id" => 2}
    merge = op("merge", %{"objects" => [load.("a"), load.("b")]})
    assert run([merge], %{"rows" => 0, "a" => %{"x" => 1}, "b" => both}) == Map.put(both, "x", 1)

    large = Map.new(1..100, &{"k#{&1}", &1}) |> Map.put(:n, 5)
    merged = run([merge], %{"rows" => 0, "a" => Map.put(large, "n", 6), "b" => large})
    assert merged == large

    # Keys stay apart without the option.
    plain = %{"program" => merge}
    context = %{"a" => %{"n" => 1}, "b" => %{n: 2}}
    assert Json.run!(plain, context: context) == %{:n => 2, "n" => 1}
  end

  test "a name that is unset or renamed is not found in its other form" do
    rows = [%{:id => 5, "id" => 6, "x" => 1}, %{id: 5}, %{"id" => 6}]
    unset = op("unset", %{"fields" => ["id"]})
    assert run([unset], %{"rows" => rows}, edition: 2) == [%{"x" => 1}, %{}, %{}]
    rename = op("rename", %{"fields" => %{"id" => "x"}})
    expected = [%{"x" => 6}, %{"x" => 5}, %{"x" => 6}]
    assert run([rename], %{"rows" => rows}, edition: 2) == expected
  end

  test "of both forms of a name the string counts, and both are replaced" do
    map = %{:a => 1, "a" => 2, :b => 3}
    run = &run([op("first") | &1], %{"rows" => [map]}, edition: 2)
    assert run.([op("to_text")]) == ~s({"a":2,"b":3})

    assert run.([op("text", %{"parts" => [op("list", %{"items" => [op("it")]})]})]) ==
             ~s([{"a":2,"b":3}])

    assert run.([op("rename", %{"fields" => %{"a" => "c"}})]) == %{:b => 3, "c" => 2}
    assert run.([op("unset", %{"fields" => ["a"]})]) == %{b: 3}
    assert run.([op("select", %{"fields" => ["a", "b"]})]) == %{:b => 3, "a" => 2}
    assert run.([op("set", %{"fields" => %{"a" => 9}})]) == %{:b => 3, "a" => 9}
    # What lists the keys of a map lists both.
    assert run.([op("length")]) == 3
    assert run.([op("keys")]) == [:a, :b, "a"]
  end
end
