defmodule PtcRunner.Json.NumbersTest do
  # `mod`, `abs`, `floor`, `ceil`, `median` and `percentile` against Elixir's arithmetic; random numbers.
  # PTC_SEED repeats a run, PTC_CASES=4 takes four times as many.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Test.{Environment, Room}

  setup do
    seed = Environment.seed()
    :rand.seed(:exsss, seed)
    %{seed: seed}
  end

  defp value(node, x, opts \\ []) do
    node = %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => "x"}, node]}

    case Json.run(%{"program" => node}, [context: %{"x" => x}, edition: 2] ++ opts) do
      {:ok, value, _, _} -> value
      {:error, error} -> error
    end
  end

  @it %{"op" => "var", "name" => "__input"}

  defp random_number do
    case :rand.uniform(8) do
      1 ->
        Enum.random(-10..10)

      2 ->
        Enum.random(-1_000_000..1_000_000)

      3 ->
        Enum.random([1, -1]) * Integer.pow(Enum.random(2..1_000), Enum.random(1..30))

      4 ->
        (:rand.uniform() - 0.5) * 10

      5 ->
        (:rand.uniform() - 0.5) * :math.pow(10, Enum.random(-300..300))

      6 ->
        Enum.random(-100..100) * 1.0

      7 ->
        Enum.random([9_223_372_036_854_775_807, -9_223_372_036_854_775_808, 0, -0.0, 2 ** 53 + 1])

      8 ->
        Enum.random([
          9_007_199_254_740_993.0,
          1.0e308,
          -1.0e308,
          5.0e-324,
          4_503_599_627_370_497.5
        ])
    end
  end

  # The same arithmetic with the same errors.
  defp calculated(op, fun) do
    fun.()
  rescue
    ArithmeticError ->
      {:execution_error, "#{op} failed: bad argument in arithmetic expression (badarith)"}
  end

  test "the least small integer is made of a float as the integer that it is" do
    for op <- ["floor", "ceil"], least <- [-Integer.pow(2, 59), -Integer.pow(2, 60)] do
      program = ~s({"program": {"op": "#{op}", "value": {"op": "load", "name": "a"}}})
      assert {:ok, value, _delta, _memory} = Json.run(program, context: %{"a" => least * 1.0})
      assert value === least
    end
  end

  test "abs of -0.0 is what the VM says" do
    abs = %{"op" => "abs", "value" => -0.0}
    shown = fn zero -> :erlang.float_to_binary(zero, [:short]) end
    assert {:ok, zero, _delta, _memory} = PtcRunner.Json.run(%{"program" => abs}, edition: 2)
    assert shown.(zero) == shown.(abs(Process.get(:none, -0.0)))
  end

  test "abs, floor and ceil of random numbers", %{seed: seed} do
    for _ <- 1..Environment.cases(2_000), number = random_number() do
      for {op, fun} <- [{"abs", &abs/1}, {"floor", &floor/1}, {"ceil", &ceil/1}] do
        found = value(%{"op" => op}, number)
        assert {seed, op, number, found} === {seed, op, number, fun.(number)}
      end
    end
  end

  test "mod of random integers", %{seed: seed} do
    mod = %{
      "op" => "mod",
      "left" => %{"op" => "get", "field" => "a"},
      "right" => %{"op" => "get", "field" => "b"}
    }

    for _ <- 1..Environment.cases(4_000), a = random_number(), b = random_number() do
      expected =
        cond do
          is_float(a) or is_float(b) ->
            {:execution_error, "mod requires integer operands, got: #{inspect(a)}, #{inspect(b)}"}

          b == 0 ->
            {:execution_error, "division by zero"}

          true ->
            Integer.mod(a, b)
        end

      assert {seed, a, b, value(mod, %{"a" => a, "b" => b})} === {seed, a, b, expected}
    end
  end

  describe "median and percentile" do
    test "of random numbers", %{seed: seed} do
      for _ <- 1..Environment.cases(1_000) do
        numbers = List.duplicate(nil, Enum.random(0..9)) |> Enum.map(fn _ -> random_number() end)
        others = Enum.random([[], [nil, "7", true], [[1]]])
        items = Enum.shuffle(numbers ++ others)
        # Numbers that are equal have the order of the items.
        sorted = items |> Enum.filter(&is_number/1) |> Enum.sort(&<=/2)
        p = Enum.random([0, 25, 50, 75, 90, 100, Enum.random(0..100), :rand.uniform() * 100])

        for {node, expected} <- [
              {%{"op" => "median"}, calculated("median", fn -> median(sorted) end)},
              {%{"op" => "percentile", "p" => p},
               calculated("percentile", fn -> percentile(sorted, p) end)}
            ] do
          by_expr = value(Map.put(node, "expr", @it), items)
          rows = Enum.map(items, &%{"n" => &1}) ++ [%{}, 5]
          by_field = value(Map.put(node, "field", "n"), rows)
          assert {seed, items, node, by_expr} === {seed, items, node, expected}
          assert {seed, items, node, by_field} === {seed, items, node, expected}
        end
      end
    end

    defp median([]), do: nil

    defp median(sorted) do
      {half, count} = {div(length(sorted), 2), length(sorted)}

      if rem(count, 2) == 1,
        do: Enum.at(sorted, half),
        else: (Enum.at(sorted, half - 1) + Enum.at(sorted, half)) / 2
    end

    defp percentile([], _p), do: nil

    defp percentile(sorted, p) do
      rank = p / 100 * (length(sorted) - 1)
      {a, part} = {Enum.at(sorted, trunc(rank)), rank - trunc(rank)}
      if part == 0, do: a, else: a + (Enum.at(sorted, trunc(rank) + 1) - a) * part
    end

    test "of 100,000 numbers, suspended and resumed" do
      numbers = Enum.shuffle(1..100_001)
      floats = Enum.map(numbers, &(&1 / 2))
      big = Enum.map(numbers, &(&1 + 2 ** 70))

      for {items, middle, ninety} <- [
            {numbers, 50_001, 90_001},
            {floats, 25_000.5, 45_000.5},
            {big, 50_001 + 2 ** 70, 90_001 + 2 ** 70},
            {Enum.flat_map(numbers, &[&1, "x"]), 50_001, 90_001}
          ] do
        rows = Enum.map(items, &%{"n" => &1})
        opts = [timeout: 20_000, max_heap: 0]
        assert value(%{"op" => "median", "expr" => @it}, items, opts) === middle
        assert value(%{"op" => "median", "field" => "n"}, rows, opts) === middle
        assert value(%{"op" => "percentile", "expr" => @it, "p" => 90}, items, opts) === ninety
        assert value(%{"op" => "percentile", "field" => "n", "p" => 90}, rows, opts) === ninety
      end
    end

    test "of decimals, as values, is a decimal" do
      decimal = %Decimal{sign: 1, coef: 15, exp: -1}
      items = [%{"n" => 1}, %{"n" => decimal}]

      for {op, exact} <- [
            {%{"op" => "median"}, %Decimal{sign: 1, coef: 125, exp: -2}},
            {%{"op" => "percentile", "p" => 50}, %Decimal{sign: 1, coef: 1250, exp: -3}}
          ] do
        assert value(Map.put(op, "field", "n"), items) == 1
        assert value(Map.put(op, "field", "n"), items, structs: :values) == exact
      end
    end

    test "of what is no proper list" do
      for op <- ["median", "percentile"], form <- [%{"field" => "n"}, %{"expr" => @it}] do
        node = Map.merge(%{"op" => op, "p" => 50}, form)
        assert value(node, 5) == {:execution_error, "#{op} requires a list, got 5"}
        improper = {:execution_error, "#{op} requires a list, got [1 | 2]"}
        assert value(node, [1 | 2]) == improper
      end
    end
  end

  test "mod of very long integers is counted before it is done" do
    mod = %{
      "op" => "mod",
      "left" => %{"op" => "get", "field" => "a"},
      "right" => %{"op" => "get", "field" => "b"}
    }

    {a, b} = {Bitwise.bsl(1, 4_000_000) + 1, Bitwise.bsl(1, 2_000_000) - 1}

    divided = fn -> value(mod, %{"a" => a, "b" => b}, timeout: 50, max_heap: 0) end
    {ms, answer} = Room.least_ms(500, divided)
    assert answer == {:timeout, 50}
    assert ms < 500
  end
end
