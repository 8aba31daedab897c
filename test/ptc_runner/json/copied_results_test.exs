defmodule PtcRunner.Json.CopiedResultsTest do
  # Results cannot explode when they are copied: a string or an integer that is referred to many times
  # weighs what the copies of it take.
  use ExUnit.Case, async: true

  import Bitwise, only: [<<<: 2]

  alias PtcRunner.Json

  @rows %{"op" => "load", "name" => "rows"}
  @exceeded {:error, {:memory_exceeded, 10_000_000}}

  defp load(name), do: %{"op" => "load", "name" => name}
  defp literal(value), do: %{"op" => "literal", "value" => value}
  defp pipe(steps), do: %{"op" => "pipe", "steps" => steps}
  defp map(expr), do: pipe([@rows, %{"op" => "map", "expr" => expr}])

  defp let(name, value, body),
    do: %{"op" => "let", "name" => name, "value" => value, "in" => body}

  defp var(name), do: %{"op" => "var", "name" => name}

  defp run(node, context, opts \\ []) do
    Json.run(%{"program" => node}, [context: context, timeout: 20_000] ++ opts)
  end

  # What a copy of the term takes, in words.
  defp copied(term), do: :erts_debug.flat_size(term)

  test "one string or integer in many places is as much as its copies" do
    string = String.duplicate("s", 60)
    integer = 1 <<< 3_300_000
    default = %{"op" => "get", "field" => "none", "default" => string}
    field = String.duplicate("k", 60)

    cases = [
      {500_000, map(literal(string))},
      {500_000, map(load("string"))},
      {500_000, let("s", load("string"), map(var("s")))},
      {300_000, map(default)},
      {100_000, map(%{"a" => literal(string), "b" => literal(string)})},
      {150_000, map(%{field => literal(1)})},
      {1_000, map(literal(integer))},
      {1_000, map(load("integer"))},
      {1_000, let("i", load("integer"), map(%{"a" => var("i")}))},
      {1_000, map(%{"op" => "get", "field" => "none", "default" => integer})},
      {50_000, map(Map.new(~w(a b c d e f g h), &{&1, literal(1.5)}))},
      {500_000, map(literal({1, 2, 3, 4}))},
      {50_000, map(Map.new(~w(a b c d e f g h), &{&1, literal(1 <<< 62)}))},
      {500_000, map(literal(String.duplicate("s", 65)))}
    ]

    for {{count, node}, index} <- Enum.with_index(cases) do
      rows = List.duplicate(%{}, count)
      context = %{"rows" => rows, "string" => string, "integer" => integer}
      result = run(node, context)
      assert result == @exceeded, "case #{index}"

      # Without the limit it is that large, and within it not.
      assert {:ok, value, _, _} = run(node, context, max_heap: 0)
      assert copied(value) > 1_250_000
    end
  end

  test "what a program repeats within the limit comes back" do
    string = String.duplicate("s", 60)

    for {count, node} <- [
          {60_000, map(literal(string))},
          {60_000, map(load("string"))},
          {400_000, map(literal(true))},
          {400_000, map(literal(7))},
          {50_000, map(%{"type" => literal("order"), "paid" => literal(1.5)})},
          {20, map(literal(1 <<< 3_300_000))}
        ] do
      context = %{"rows" => List.duplicate(%{}, count), "string" => string}
      assert {:ok, value, _, _} = run(node, context)
      assert length(value) == count
    end
  end

  test "strings that stand in one place each weigh nothing more" do
    # A copy takes 5 million words, but each string stands in memory already.
    rows = for n <- 1..400_000, do: %{"t" => String.pad_leading("#{n}", 60, "0")}
    get = %{"op" => "get", "field" => "t"}
    assert {:ok, texts, _, _} = run(map(get), %{"rows" => rows})
    assert copied(texts) > 1_250_000

    # The same where the program has to be weighed.
    node =
      let(
        "s",
        literal("x"),
        map(%{"op" => "if", "condition" => var("s"), "then" => get, "else" => get})
      )

    assert {:ok, ^texts, _, _} = run(node, %{"rows" => rows})
  end

  describe "whatever shares what" do
    defp many(count, steps), do: Map.new(1..count, &{"k#{&1}", pipe([@rows | steps.(&1)])})

    test "a copy of the result is at most max_heap words" do
      rows = Enum.to_list(1..1_000)

      steps = [
        fn k -> [%{"op" => "drop", "count" => k}] end,
        fn k -> [%{"op" => "take", "count" => 1_000 + k}] end,
        fn _ -> [] end,
        fn k -> [%{"op" => "drop", "count" => k}, %{"op" => "take", "count" => 900}] end
      ]

      for step <- steps,
          count <- [2, 10, 50, 500, 1_000],
          max_heap <- [5_000, 100_000, 1_250_000] do
        case run(many(count, step), %{"rows" => rows}, max_heap: max_heap) do
          {:ok, value, delta, memory} ->
            for part <- [value, delta, memory], do: assert(copied(part) <= max_heap)

          {:error, {:memory_exceeded, _}} ->
            :ok
        end
      end
    end

    test "500 tails of one list" do
      node = many(500, fn k -> [%{"op" => "drop", "count" => k}] end)
      assert run(node, %{"rows" => Enum.to_list(1..200_000)}) == @exceeded
      result = %{"result" => %{"op" => "object", "fields" => node}}
      assert run(result, %{"rows" => Enum.to_list(1..200_000)}) == @exceeded
    end

    test "also of a tool's answer and of the memory" do
      rows = Enum.to_list(1..20_000)
      tools = %{"rows" => fn _ -> rows end}
      call = %{"op" => "call", "tool" => "rows"}
      drop = fn value, k -> pipe([value, %{"op" => "drop", "count" => k}]) end
      node = let("x", call, Map.new(1..60, &{"k#{&1}", drop.(var("x"), &1)}))
      assert {:error, {:memory_exceeded, _}} = run(node, %{}, tools: tools)
      node = Map.new(1..60, &{"k#{&1}", drop.(var("m"), &1)})
      assert {:error, {:memory_exceeded, _}} = run(node, %{}, memory: %{"m" => rows})
    end

    test "what was given can be returned, with what was built" do
      rows = for n <- 1..200_000, do: %{"n" => n, "s" => "text #{n}"}
      count = pipe([@rows, %{"op" => "count"}])
      max = pipe([@rows, %{"op" => "max", "field" => "n"}])
      node = %{"rows" => @rows, "n" => count, "max" => max}
      assert {:ok, %{"n" => 200_000} = value, _, _} = run(node, %{"rows" => rows})
      assert copied(value) > 1_250_000
      assert run(%{"a" => @rows, "b" => @rows}, %{"rows" => rows}) == @exceeded
    end

    test "sharing that the context has already is passed on" do
      shared = Enum.to_list(1..10_000)
      context = %{"rows" => List.duplicate(%{"x" => shared}, 1_000)}
      assert {:ok, [_ | _], _, _} = run(@rows, context)
      get = %{"op" => "get", "field" => "x"}
      assert {:ok, [_ | _], _, _} = run(map(get), context)
      filter = %{"op" => "filter", "where" => get}
      assert {:ok, %{"x" => [_ | _]}, _, _} = run(%{"x" => pipe([@rows, filter])}, context)
    end
  end
end
