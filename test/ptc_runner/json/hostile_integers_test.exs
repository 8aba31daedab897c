defmodule PtcRunner.Json.HostileIntegersTest do
  # Big integers count by their limbs, wherever an operation looks at them. Bounds are generous: what
  # is forbidden here takes many seconds, or holds a scheduler of the VM for a long time.
  use ExUnit.Case, async: false

  import Bitwise, only: [<<<: 2]

  alias PtcRunner.Json
  alias PtcRunner.Test.{Hostile, Watch}

  @rows %{"op" => "load", "name" => "rows"}

  # The bits of an integer of nearly 4 MB.
  @huge 33_000_000
  # Milliseconds.
  @too_long 1_000
  @hold 150

  defp load(name), do: %{"op" => "load", "name" => name}
  defp pipe(steps), do: %{"op" => "pipe", "steps" => steps}

  # A list of which only the number counts is not made: this looks at all of it.
  defp whole, do: %{"op" => "drop", "count" => 0}
  defp count, do: %{"op" => "count"}
  defp again(node), do: pipe([load("rounds"), %{"op" => "map", "expr" => node}, count()])

  defp run(node, context, opts \\ []) do
    Json.run(%{"program" => node}, [context: context, timeout: 50] ++ opts)
  end

  # The context is made in the process that runs the program: a copy would not share its parts.
  defp timely(fun) do
    {{micros, result}, holds} = Watch.holds(@hold, fn -> :timer.tc(fun) end)
    assert holds == [], "held a scheduler for #{inspect(holds)} ms"
    assert micros < @too_long * 1_000, "took #{div(micros, 1_000)} ms"
    result
  end

  # An integer of its own: equal ones at different places in memory.
  defp huge(last \\ 1), do: (1 <<< @huge) + last

  @tag timeout: 120_000
  @tag skip: Hostile.skip_huge_integers()
  test "distinct and all other looks end at the deadline" do
    many = for _ <- 1..40, do: huge()
    rows = for n <- many, do: %{"n" => n}
    # Terms are compared from their highest limb on, and told apart from their lowest one on.
    y = huge(1) + (1 <<< (@huge - 1))
    context = %{"many" => many, "rows" => rows, "x" => huge(2), "y" => y}
    context = Map.put(context, "rounds", Enum.to_list(1..500))

    nodes = [
      pipe([load("many"), %{"op" => "distinct"}, count()]),
      pipe([load("many"), %{"op" => "contains", "value" => load("y")}]),
      pipe([load("many"), %{"op" => "in", "value" => y}]),
      pipe([@rows, %{"op" => "filter_in", "field" => "n", "value" => load("many")}, count()]),
      pipe([@rows, %{"op" => "sort_by", "field" => "n"}, whole(), count()]),
      pipe([@rows, %{"op" => "max", "field" => "n"}]),
      pipe([@rows, %{"op" => "min_by", "field" => "n"}]),
      pipe([@rows, %{"op" => "sum", "field" => "n"}]),
      pipe([
        @rows,
        %{"op" => "filter", "where" => %{"op" => "eq", "field" => "n", "value" => huge(2)}},
        %{"op" => "sum", "field" => "n"}
      ]),
      pipe([
        @rows,
        %{"op" => "filter", "where" => %{"op" => "lt", "field" => "n", "value" => load("x")}},
        %{"op" => "sum", "field" => "n"}
      ]),
      %{"op" => "add", "left" => load("x"), "right" => 1},
      %{"op" => "sub", "left" => load("x"), "right" => load("x")},
      %{"op" => "mul", "left" => load("x"), "right" => 0},
      pipe([@rows, %{"op" => "nth", "index" => huge()}]),
      pipe([@rows, %{"op" => "take", "count" => huge()}])
    ]

    # An integer of this size takes minutes to be shown.
    for {node, index} <- Enum.with_index(nodes) do
      {micros, result} = :timer.tc(fn -> run(again(node), context, max_heap: 0) end)
      assert result == {:error, {:timeout, 50}}, "node #{index}"
      assert micros < @too_long * 1_000
    end
  end

  @tag skip: Hostile.skip_huge_integers()
  test "one look at few of them holds no scheduler" do
    for node <- [
          %{"op" => "add", "left" => load("x"), "right" => load("y")},
          pipe([load("many"), %{"op" => "distinct"}]),
          pipe([@rows, %{"op" => "sum", "field" => "n"}])
        ] do
      # Made where they are used, and nothing of it leaves.
      {:done, holds} =
        Watch.holds(@hold, fn ->
          many = List.duplicate(huge(), 300)
          rows = for n <- many, do: %{"n" => n}
          context = %{"many" => many, "rows" => rows, "x" => hd(many), "y" => huge()}
          for _ <- 1..3, do: run(pipe([node, %{"op" => "typeof"}]), context, timeout: 5_000)
          :done
        end)

      assert holds == []
    end
  end

  @tag skip: Hostile.skip_huge_integers()
  test "are computed with as ever" do
    a = 1 <<< 200
    b = -(1 <<< 300)
    context = %{"a" => a, "b" => b, "rows" => for(n <- [a, b, 1, -a, 2], do: %{"n" => n})}

    for {node, expected} <- [
          {%{"op" => "add", "left" => load("a"), "right" => load("b")}, a + b},
          {%{"op" => "sub", "left" => load("a"), "right" => load("a")}, 0},
          {%{"op" => "mul", "left" => load("a"), "right" => load("b")}, a * b},
          {%{"op" => "div", "left" => load("a"), "right" => load("b")}, a / b},
          {%{"op" => "round", "value" => load("a")}, a * 1.0},
          {pipe([@rows, %{"op" => "sum", "field" => "n"}]), b + 3},
          {pipe([@rows, %{"op" => "avg", "field" => "n"}]), (b + 3) / 5},
          {pipe([@rows, %{"op" => "max", "field" => "n"}]), a},
          {pipe([@rows, %{"op" => "min", "field" => "n"}]), b},
          {pipe([load("b"), %{"op" => "eq", "value" => b}]), true},
          {pipe([load("b"), %{"op" => "lt", "value" => a}]), true},
          {pipe([load("b"), %{"op" => "gt", "value" => -1.0e300}]), true}
        ] do
      assert {:ok, ^expected, _, _} = run(node, context, timeout: 1_000), inspect(node)
    end

    round = %{"op" => "round", "value" => load("x")}
    assert {:error, {:execution_error, _}} = run(round, %{"x" => 1 <<< 1_024}, timeout: 1_000)
    assert {:error, {:execution_error, _}} = run(round, %{"x" => huge()}, timeout: 1_000)
  end

  test "of every length are known by it" do
    # One more than 63 bits is the first that takes a look at its length.
    for bits <- [62, 63, 64, 65, 127, 128, 129, 1_000, 100_000], sign <- [1, -1] do
      n = sign * ((1 <<< bits) - 1)
      node = pipe([load("rows"), %{"op" => "distinct"}, count()])
      assert {:ok, 2, _, _} = timely(fn -> run(node, %{"rows" => [n, n + 1, n]}) end)
    end
  end
end
