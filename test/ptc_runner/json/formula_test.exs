defmodule PtcRunner.Json.FormulaTest do
  # Arithmetic on two fields, constants or items is one instruction, which goes on from item to item in the body of `sum`
  # and `avg`: the oracle must agree on every mixture of numbers and other values, and on lists that end in another way.
  use ExUnit.Case, async: true

  import PtcRunner.Test.Agreement

  alias PtcRunner.Json

  @max 9_223_372_036_854_775_807

  @numbers [
    0,
    1,
    -3,
    2.5,
    -0.0,
    1.0e308,
    @max,
    -@max - 1,
    Bitwise.bsl(1, 59),
    Bitwise.bsl(7, 200)
  ]
  @others [nil, "x", true, %{"a" => 1}, [2]]

  @a %{"op" => "get", "field" => "a"}
  @b %{"op" => "get", "field" => "b"}
  @sides [
    {@a, @b},
    {@a, 2},
    {0.5, @b},
    {3, 4},
    {@a, @a},
    {@a, %{"op" => "get", "field" => "b", "default" => 7}},
    {%{"op" => "get", "path" => ["a"]}, %{"op" => "get", "path" => ["m", "b"]}},
    {@a, %{"op" => "get", "field" => "b", "from" => %{"op" => "get", "field" => "m"}}}
  ]

  test "the oracle agrees on formulas over rows of all kinds" do
    state = :rand.seed_s(:exsss, 5)

    Enum.reduce(1..600, state, fn _n, state ->
      {rows, state} = rows(state)
      {op, state} = one_of(~w(add sub mul div), state)
      {{left, right}, state} = one_of(@sides, state)
      {tail, state} = one_of([[], [], [], [], :improper, 7], state)
      {outer, state} = one_of(outer(%{"op" => op, "left" => left, "right" => right}), state)
      rows = if is_list(tail), do: rows, else: Enum.reduce(Enum.reverse(rows), tail, &[&1 | &2])
      assert agree?(over(outer, rows), validated()), inspect({outer, rows}, limit: :infinity)
      state
    end)
  end

  test "the oracle agrees on formulas over items" do
    it = %{"op" => "it"}

    for op <- ~w(add sub mul div),
        {left, right} <- [{it, it}, {it, 3}, {0.5, it}],
        items <- [[], [1], [1, 2.5, 3], [4, 0], [1, @max, 5], [1, "x"], [nil], [1.0e308, 1.0e308]] do
      for outer <- outer(%{"op" => op, "left" => left, "right" => right}) do
        assert agree?(over(outer, items), validated()), inspect({outer, items})
      end
    end
  end

  test "rows that share no keys, and a row of another kind among thousands" do
    rows = for n <- 1..5_000, do: %{"a" => n, "b" => n / 4, "k#{rem(n, 40)}" => n}
    sum = %{"op" => "sum", "expr" => %{"op" => "mul", "left" => @a, "right" => @b}}

    for odd <- [%{"a" => 1}, %{"a" => @max, "b" => @max}, %{"b" => "x"}, 7, nil] do
      assert agree?(over(sum, List.insert_at(rows, 2_500, odd)), validated()), inspect(odd)
    end

    assert agree?(
             over(sum, rows |> :erlang.term_to_binary() |> :erlang.binary_to_term()),
             validated()
           )
  end

  test "keys that are atoms, and structs" do
    sum = %{"op" => "sum", "expr" => %{"op" => "mul", "left" => @a, "right" => @b}}
    program = %{"program" => over(sum, []).program}
    context = %{"rows" => [%{a: 2, b: 3}, %{"a" => 4, "b" => 5}, %{:a => 1, "b" => 1}]}
    assert Json.run!(program, context: context, keys: :any, edition: 2) == 27
    assert Json.run!(program, context: context, structs: :values, keys: :any, edition: 2) == 27
  end

  test "a long tally ends by its timeout and leaves its scheduler" do
    sum = %{"op" => "sum", "expr" => %{"op" => "mul", "left" => @a, "right" => @a}}
    rows = List.duplicate(%{"a" => 1}, 300_000)
    program = %{"program" => over(sum, []).program}
    opts = [context: %{"rows" => rows}, edition: 2]
    assert Json.run!(program, [timeout: 30_000] ++ opts) == 300_000
    assert {:error, {:timeout, 0}} = Json.run(program, [timeout: 0] ++ opts)
  end

  defp over(step, rows) do
    load = %{"op" => "load", "name" => "rows"}

    %{
      program: %{"op" => "pipe", "steps" => [load, step]},
      context: %{"rows" => rows},
      memory: %{},
      edition: 2
    }
  end

  defp outer(formula) do
    tallies = for op <- ~w(sum avg min max), do: %{"op" => op, "expr" => formula}

    tallies ++
      [
        %{"op" => "map", "expr" => formula},
        %{"op" => "map", "expr" => %{"v" => formula, "w" => [formula, 1]}},
        %{"op" => "map", "expr" => %{"op" => "set", "fields" => %{"v" => formula}}},
        %{"op" => "filter", "where" => %{"op" => "gt", "left" => formula, "value" => 1}},
        %{"op" => "sum", "expr" => %{"op" => "add", "left" => formula, "right" => formula}}
      ]
  end

  # Most rows have two numbers, so that a tally goes on from item to item.
  defp rows(state) do
    {count, state} = :rand.uniform_s(8, state)

    Enum.map_reduce(1..count, state, fn _n, state ->
      {a, state} = value(state)
      {b, state} = value(state)
      {m, state} = value(state)
      row = %{"a" => a, "b" => b, "m" => %{"b" => m}}

      case :rand.uniform_s(12, state) do
        {1, state} -> {Map.delete(row, "b"), state}
        {2, state} -> one_of([Map.delete(row, "m"), 5, nil], state)
        {_other, state} -> {row, state}
      end
    end)
  end

  defp value(state) do
    case :rand.uniform_s(20, state) do
      {1, state} -> one_of(@others, state)
      {2, state} -> one_of(@numbers, state)
      {n, state} when n < 12 -> {n, state}
      {n, state} -> {n / 8, state}
    end
  end

  defp one_of(choices, state) do
    {n, state} = :rand.uniform_s(length(choices), state)
    {Enum.at(choices, n - 1), state}
  end
end
