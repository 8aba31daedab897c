defmodule PtcRunner.Json.HostileProgramsTest do
  # Programs of edition 2 that are small and ask for much: each ends by its limits or its deadline with a plain error.
  # The slice clock of the tests checks that none holds a scheduler.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Test.Room

  @timeout 2_000
  # For a machine that runs other tests at the same time.
  @late 10_000

  defp op(name, fields \\ %{}), do: Map.put(fields, "op", name)
  defp pipe(steps), do: op("pipe", %{"steps" => steps})
  defp range(to), do: op("range", %{"from" => 1, "to" => to})
  defp it, do: op("it")

  defp ends(program, options \\ []) do
    options = [timeout: @timeout] ++ options
    run = fn -> Json.run(%{"program" => program}, options) end
    {ms, result} = Room.least_ms(@timeout + @late, run)
    assert ms < @timeout + @late
    result
  end

  defp limited(program, options \\ []) do
    assert {:error, {kind, limit}} = ends(program, options)
    assert kind in [:memory_exceeded, :timeout] and is_integer(limit)
  end

  test "a million groups with one item each" do
    limited(pipe([range(1_000_000), op("group_by", %{"expr" => it()})]))
    group = op("group_by", %{"expr" => it(), "each" => %{"n" => op("count")}})
    limited(pipe([range(1_000_000), group]))
    {:ok, count, _, _} = ends(pipe([range(20_000), group, op("count")]), max_heap: 0)
    assert count == 20_000
  end

  test "a join that would make 10,000,000,000 rows" do
    rows = for n <- 1..100_000, do: %{"k" => 1, "n" => n}
    load = op("load", %{"name" => "rows"})
    join = op("join", %{"with" => load, "on" => "k"})
    limited(pipe([load, join]), context: %{"rows" => rows})
    limited(pipe([load, join, op("count")]), context: %{"rows" => rows})
    group = op("join", %{"with" => load, "on" => "k", "kind" => "group", "as" => "all"})

    limited(pipe([load, group, op("flat_map", %{"expr" => op("get", %{"field" => "all"})})]),
      context: %{"rows" => rows}
    )
  end

  test "a fold that doubles a list, and one that doubles a text" do
    acc = op("var", %{"name" => "acc"})
    twice = op("concat", %{"lists" => [acc, acc]})
    limited(pipe([range(60), op("fold", %{"init" => [1], "expr" => twice})]))
    text = op("text", %{"parts" => [acc, acc]})
    limited(pipe([range(60), op("fold", %{"init" => "a", "expr" => text})]))
    # Values that share their parts are small in memory, and as large as a copy in a result.
    pair = op("list", %{"items" => [acc, acc]})
    limited(pipe([range(60), op("fold", %{"init" => 1, "expr" => pair})]))
  end

  test "ranges, chunks and lists of lists" do
    limited(range(1_000_000_000_000))
    limited(range(Integer.pow(10, 30)))
    limited(pipe([range(3_000_000), op("chunk", %{"size" => 1})]))
    nested = op("flat_map", %{"expr" => range(10_000)})
    limited(pipe([range(10_000), nested]))
  end

  test "texts of long ranges" do
    text = op("map", %{"expr" => op("text", %{"parts" => [it(), range(1_000)]})})
    limited(pipe([range(100_000), text]))
    limited(pipe([range(5_000_000), op("to_text")]))
    parts = List.duplicate(op("var", %{"name" => "long"}), 1_000)
    value = op("literal", %{"value" => String.duplicate("a", 100_000)})

    limited(
      op("let", %{"name" => "long", "value" => value, "in" => op("text", %{"parts" => parts})})
    )
  end

  test "templates that are nested deeply" do
    echo = %{"t" => fn args -> args end}

    for wrap <- [&[&1], &%{"a" => &1}] do
      deep = Enum.reduce(1..1_000, range(3), fn _, inner -> wrap.(inner) end)
      expected = Enum.reduce(1..1_000, [1, 2, 3], fn _, inner -> wrap.(inner) end)
      assert {:ok, [^expected], _, _} = ends(op("list", %{"items" => [deep]}))
      call = op("call", %{"tool" => "t", "args" => %{"x" => deep}})
      assert {:ok, %{"x" => ^expected}, _, _} = ends(call, tools: echo)
      object = op("set", %{"fields" => %{"x" => deep}})
      rows = op("literal", %{"value" => for(n <- 1..100_000, do: %{"n" => n})})
      limited(pipe([rows, object]))
    end

    nodes = Enum.reduce(1..20_000, it(), fn _, inner -> op("list", %{"items" => [inner]}) end)
    assert {:error, {:validation_error, error}} = ends(nodes)
    assert error == "Program nesting exceeds 10000 levels"
  end

  test "patterns" do
    text = String.duplicate("a", 200_000)
    long = op("literal", %{"value" => text})

    for pattern <- ["(a*)*b", "(a|aa)+$", "(?:a?){30}a{30}b", "(x+x+)+y"] do
      result = ends(op("matches", %{"left" => long, "pattern" => pattern}))
      assert match?({:ok, _, _, _}, result) or match?({:error, {:timeout, _}}, result)
    end

    for pattern <- [
          "a{1000}{1000}",
          "(((((x{100}){100}){100}){100}){100})",
          String.duplicate("(", 100_000)
        ] do
      assert {:error, {:validation_error, error}} = ends(op("matches", %{"pattern" => pattern}))
      assert error =~ "Field 'pattern' is"
    end

    all = op("extract", %{"value" => long, "pattern" => "a*?", "all" => true})
    result = ends(all)

    assert match?({:ok, _, _, _}, result) or
             match?({:error, {kind, _}} when kind in [:timeout, :memory_exceeded], result)
  end

  test "replacements that grow" do
    long = op("literal", %{"value" => String.duplicate("a", 1_000_000)})
    with_long = %{"value" => long, "find" => "a", "with" => String.duplicate("b", 10_000)}
    limited(op("replace", with_long))
    split = op("split", %{"value" => long, "by" => "a"})
    result = ends(pipe([split, op("count")]))

    assert match?({:ok, 1_000_001, _, _}, result) or
             match?({:error, {kind, _}} when kind in [:timeout, :memory_exceeded], result)
  end
end
