defmodule PtcRunner.Json.DecimalsTest do
  # Arithmetic with `Decimal` structs, where structs are values: exact, the same in each form of a program, bounded, and an
  # error with floats. The oracle computes with integers.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Test.{Environment, JsonText}
  alias PtcRunner.Test.Oracle.Decimals

  doctest Decimals

  @huge 1_000_000_000

  defp op(name, fields \\ %{}), do: Map.put(fields, "op", name)
  defp get(field), do: op("get", %{"field" => field})
  defp lit(value), do: op("literal", %{"value" => value})
  defp load(name), do: op("load", %{"name" => name})
  defp over(steps), do: op("pipe", %{"steps" => [load("rows") | List.wrap(steps)]})
  defp two(name, left, right), do: op(name, %{"left" => left, "right" => right})
  defp dec(coef, exp), do: Decimals.new(coef, exp)

  # The value, or the text of the error, in each form in which a program runs.
  defp value(node, context, opts \\ []) do
    opts = [context: context, structs: :values, edition: 2, keys: :any] ++ opts
    map = %{"program" => node}
    answer = Json.run(map, opts)

    with {:ok, text} <- JsonText.encode(map) do
      assert Json.run(text, opts) == answer
      {:ok, program} = Json.compile(text, structs: :values, edition: 2, keys: :any)
      assert Json.run(program, Keyword.drop(opts, [:structs, :edition, :keys])) == answer
      assert Json.explain(text, opts).result == answer
      assert {:ok, _checked} = Json.check(text, Keyword.take(opts, [:structs, :edition, :keys]))
    end

    case answer do
      {:ok, value, _delta, _memory} -> value
      {:error, {:execution_error, text}} -> {:error, text}
    end
  end

  defp calculate(name, a, b) do
    names = if name == "pct", do: ["part", "whole"], else: ["left", "right"]
    value(op(name, Map.new(Enum.zip(names, [load("a"), load("b")]))), %{"a" => a, "b" => b})
  end

  describe "operations" do
    test "are exact, with the exponents of decimal arithmetic" do
      assert calculate("add", dec(1, -1), dec(2, -1)) == dec(3, -1)
      assert calculate("add", dec(110, -2), dec(5, 0)) == dec(610, -2)
      assert calculate("sub", dec(100, -2), dec(1, 0)) == dec(0, -2)
      assert calculate("mul", dec(1999, -2), 3) == dec(5997, -2)
      assert calculate("mul", dec(1999, -2), dec(119, -2)) == dec(237_881, -4)
      assert calculate("mul", 7, dec(1, 2)) == dec(7, 2)
      digits = 12_345_678_901_234_567_890_123_456_789
      assert calculate("mul", dec(digits, -2), dec(digits, -2)) == dec(digits * digits, -4)
      assert calculate("add", dec(digits, 0), dec(1, -30)).exp == -30
    end

    test "divide to 28 digits, half up" do
      assert calculate("div", dec(1, 0), 3) == dec(div(Integer.pow(10, 28), 3), -28)
      assert calculate("div", dec(2, 0), 3) == dec(div(Integer.pow(10, 28) * 2, 3) + 1, -28)
      assert calculate("div", dec(1000, -2), 4) == dec(250, -2)
      assert calculate("div", 10, dec(4, 0)) == dec(25, -1)
      assert calculate("pct", dec(1, 0), dec(8, 0)) == dec(125, -1)
      assert calculate("div", dec(1, 0), dec(0, -2)) == {:error, "division by zero"}
      assert calculate("pct", 1, dec(0, 0)) == {:error, "division by zero"}
    end

    test "read the text of a number beside a decimal, as comparisons do" do
      assert calculate("mul", dec(1000, -2), "1.19") == dec(119_000, -4)
      assert calculate("sub", "1e2", dec(5, -1)) == dec(995, -1)
      assert calculate("add", dec(1, 0), :"2.50") == dec(350, -2)

      for text <- ["", "x", "1,5", "NaN", "Infinity", "0x1", " 1"] do
        assert {:error, "add requires numeric operands, got: " <> _} =
                 calculate("add", dec(1, 0), text)
      end

      assert {:error, "add requires numeric operands, got: \"1\", 2"} = calculate("add", "1", 2)
    end

    test "with a float are an error that says so" do
      for name <- ~w(add sub mul div pct), {a, b} <- [{dec(125, -1), 1.5}, {1.5, dec(125, -1)}] do
        assert {:error, text} = calculate(name, a, b)
        assert text =~ "#{name} of a decimal and a float is not exact, got: "
        assert text =~ ~s|Decimal.new("12.5")|
        assert text =~ ~s(Give the number as a text: {"op": "literal", "value": "1.5"})
      end

      for name <- ~w(sum avg median),
          rows <- [[dec(1, 0), 1.5], [1.5, dec(1, 0)], [1, 1.5, nil, dec(1, 0), 2]] do
        rows = Enum.map(rows, &%{p: &1})
        assert {:error, text} = value(over(op(name, %{"field" => "p"})), %{rows: rows})
        assert text =~ "#{name} of decimals and floats is not exact, got "
        assert {:error, ^text} = value(over(op(name, %{"expr" => get("p")})), %{rows: rows})
      end
    end

    test "round, floor, ceil, abs" do
      assert value(op("round", %{"value" => load("a"), "precision" => 2}), %{a: dec(10_005, -3)}) ==
               dec(1001, -2)

      assert value(op("round", %{"value" => load("a")}), %{a: dec(-25, -1)}) == dec(-3, 0)

      assert value(op("round", %{"value" => load("a"), "precision" => 3}), %{a: dec(15, -1)}) ==
               dec(1500, -3)

      assert value(op("floor", %{"value" => load("a")}), %{a: dec(-25, -1)}) === -3
      assert value(op("ceil", %{"value" => load("a")}), %{a: dec(-25, -1)}) === -2
      assert value(op("floor", %{"value" => load("a")}), %{a: dec(25, 1)}) === 250
      assert value(op("abs", %{"value" => load("a")}), %{a: dec(-25, -1)}) == dec(25, -1)

      assert {:error, "mod requires integer operands, got: " <> _} =
               calculate("mod", dec(5, 0), 3)
    end

    test "sum, avg, median, percentile, min, max" do
      rows = for n <- [110, nil, 220, 35], do: %{p: n && dec(n, -2), n: n}
      at = fn name, fields -> value(over(op(name, fields)), %{rows: rows}) end
      assert at.("sum", %{"field" => "p"}) == dec(365, -2)

      assert at.("avg", %{"field" => "p"}) ==
               dec(12_166_666_666_666_666_666_666_666_667, -28)
               |> Map.merge(%{coef: 1_216_666_666_666_666_666_666_666_667, exp: -27})

      assert at.("median", %{"field" => "p"}) == dec(110, -2)
      assert at.("percentile", %{"field" => "p", "p" => 75}) == dec(16_500, -4)
      assert at.("percentile", %{"field" => "p", "p" => 12.5}) == dec(5375, -4) |> padded(-5)
      assert at.("min", %{"field" => "p"}) == dec(35, -2)
      assert at.("max_by", %{"field" => "p"}) == %{p: dec(220, -2), n: 220}
      assert value(over(op("sum", %{"field" => "p"})), %{rows: []}) === 0
      assert value(over(op("sum", %{"field" => "p"})), %{rows: [%{p: dec(1, 2)}]}) == dec(100, 0)

      # Others than numbers: an error in a sum, left out in a mean.
      rows = [%{p: dec(1, 0)}, %{p: "x"}, %{p: 2}]

      assert value(over(op("sum", %{"field" => "p"})), %{rows: rows}) ==
               {:error, ~s(sum requires numeric values, got "x")}

      assert value(over(op("avg", %{"field" => "p"})), %{rows: rows}) == dec(15, -1)
      assert value(over(op("median", %{"field" => "p"})), %{rows: rows}) == dec(15, -1)
    end

    test "text is the digits, without an exponent" do
      text = fn part -> value(op("text", %{"parts" => [load("a"), " EUR"]}), %{a: part}) end
      assert text.(dec(1250, -2)) == "12.50 EUR"
      assert text.(dec(-5, -3)) == "-0.005 EUR"
      assert text.(dec(5, 3)) == "5000 EUR"
      assert text.(dec(1, -9)) == "0.000000001 EUR"
      assert text.(%{dec(0, -2) | sign: -1}) == "-0.00 EUR"
      assert text.(%{dec(1, 0) | coef: :NaN}) == "NaN EUR"
      assert text.(%{dec(-1, 0) | coef: :inf}) == "-Infinity EUR"
      assert value(op("to_text", %{"value" => load("a")}), %{a: dec(1250, -2)}) == "12.50"

      assert value(op("to_text", %{"value" => load("a")}), %{a: [%{p: dec(1250, -2)}]}) ==
               ~s([{"p":"12.50"}])

      assert {:error, text} = text.(dec(1, @huge))
      assert text =~ "text of decimals takes and gives at most 1000 digits before the point"
    end
  end

  defp padded(decimal, exp),
    do: %{decimal | coef: decimal.coef * Integer.pow(10, decimal.exp - exp), exp: exp}

  describe "bounds" do
    test "NaN and infinities are an error" do
      for special <- [%{dec(1, 0) | coef: :NaN}, %{dec(-1, 0) | coef: :inf}] do
        shown = if special.coef == :NaN, do: "NaN", else: "-Infinity"

        for name <- ~w(add sub mul div pct), {a, b} <- [{special, 1}, {dec(1, 0), special}] do
          assert calculate(name, a, b) ==
                   {:error, ~s|#{name} requires finite numbers, got Decimal.new("#{shown}")|}
        end

        for name <- ~w(sum avg median) do
          assert value(over(op(name, %{"field" => "p"})), %{rows: [%{p: 1}, %{p: special}]}) ==
                   {:error, ~s|#{name} requires finite numbers, got Decimal.new("#{shown}")|}
        end

        for name <- ~w(round abs floor ceil) do
          assert value(op(name, %{"value" => load("a")}), %{a: special}) ==
                   {:error, ~s|#{name} requires finite numbers, got Decimal.new("#{shown}")|}
        end
      end
    end

    test "huge exponents and coefficients cost nothing" do
      long = Integer.pow(10, 100_000)
      wide = [dec(1, @huge), dec(1, -@huge), dec(0, @huge), dec(long, 0), dec(1, 1000), long]

      # Computed, these would take more than the time and the memory of a run.
      for a <- wide, b <- [dec(1, 0), dec(1, -@huge)] do
        for name <- ~w(add sub mul div pct), {a, b} <- [{a, b}, {b, a}] do
          assert {:error, text} = calculate(name, a, b)
          assert text =~ "#{name} of decimals takes and gives at most 1000 digits"
          assert byte_size(text) < 5_000
        end

        rows = [%{p: b}, %{p: a}]

        for name <- ~w(sum avg) do
          assert {:error, text} = value(over(op(name, %{"field" => "p"})), %{rows: rows})
          assert text =~ "#{name} of decimals takes and gives at most 1000 digits"
        end
      end

      # They are still compared.
      rows = for exp <- [@huge, 0, -@huge], do: %{p: dec(1, exp)}

      assert value(over([op("sort_by", %{"field" => "p"}), op("map", %{"expr" => get("p")})]), %{
               rows: rows
             }) == [dec(1, -@huge), dec(1, 0), dec(1, @huge)]
    end

    test "a product of many factors ends with an error" do
      product =
        op("fold", %{"init" => 1, "expr" => two("mul", op("var", %{"name" => "acc"}), op("it"))})

      rows = List.duplicate(dec(123_456_789, 3), 200)

      assert {:error, "mul of decimals takes and gives" <> _} =
               value(over(product), %{rows: rows})

      rows = List.duplicate(dec(11, -1), 200)
      assert value(over(product), %{rows: rows}) == dec(Integer.pow(11, 200), -200)
    end

    test "malformed decimals are no numbers" do
      for broken <- [
            %{__struct__: Decimal, sign: 1},
            dec(1, "x"),
            %{dec(1, 0) | coef: -5},
            %{dec(1, 0) | coef: 1.5},
            dec(1, Integer.pow(10, 30))
          ] do
        assert {:error, "add requires numeric operands, got: " <> _} = calculate("add", broken, 1)

        assert {:error, "sum requires numeric values, got " <> _} =
                 value(over(op("sum", %{"field" => "p"})), %{rows: [%{p: broken}]})
      end
    end

    test "without structs as values a decimal is a map" do
      node = two("add", load("a"), 1)

      assert {:error, {:execution_error, "add requires numeric operands, got: " <> _}} =
               Json.run(%{"program" => node}, context: %{"a" => dec(1, 0)}, edition: 2)
    end
  end

  describe "random programs" do
    test "agree with arithmetic by integers, in each form" do
      Enum.reduce(1..Environment.cases(100), :rand.seed_s(:exsss, 28), fn _n, state ->
        {rows, state} = rows(Enum.random(0..12), state)
        {expr, state} = expr(2, state)
        agree(expr, rows)
        state
      end)
    end

    test "also over lists that take many slices" do
      state = :rand.seed_s(:exsss, 29)
      {rows, _state} = rows(20_000, state)
      expr = {"mul", {:field, "p"}, {:field, "q"}}
      agree(expr, rows)
    end
  end

  # Each aggregate of the expression over the rows, in the forms that become one instruction and in those that do not.
  defp agree(expr, rows) do
    node = as_node(expr)

    expected = fn aggregate ->
      caught(fn -> rows |> Enum.map(&of(expr, &1)) |> aggregate.() end)
    end

    run = fn steps -> told(value(over(steps), %{"rows" => rows}, timeout: 60_000)) end
    set = op("set", %{"fields" => %{"x" => node}})

    assert run.(op("map", %{"expr" => node})) == expected.(& &1)

    for {name, fun} <- [{"sum", &Decimals.sum/1}, {"avg", &Decimals.avg/1}] do
      whole = expected.(fun)
      assert run.(op(name, %{"expr" => node})) == whole
      assert run.([op("map", %{"expr" => node}), op(name, %{"expr" => op("it")})]) == whole
      assert run.([set, op(name, %{"field" => "x"})]) == whole

      # Only some of them, and by groups.
      where = op("eq", %{"field" => "g", "value" => 1})
      kept = Enum.filter(rows, &(&1["g"] == 1))
      some = caught(fn -> kept |> Enum.map(&of(expr, &1)) |> fun.() end)
      assert run.([op("filter", %{"where" => where}), op(name, %{"expr" => node})]) == some

      if is_list(expected.(& &1)) do
        both = [set, op("filter", %{"where" => where}), op(name, %{"field" => "x"})]
        assert run.(both) == some
        by = op("group_by", %{"field" => "g", "each" => %{"t" => op(name, %{"field" => "x"})}})

        groups =
          rows
          |> Enum.map(& &1["g"])
          |> Enum.uniq()
          |> Enum.map(fn g ->
            own = for %{"g" => ^g} = row <- rows, do: of(expr, row)
            %{"g" => g, "t" => caught(fn -> fun.(own) end)}
          end)

        unless Enum.any?(groups, &is_atom(&1["t"])), do: assert(run.([set, by]) == groups)
      end
    end

    if is_list(expected.(& &1)) do
      texts = for %{coef: _} = value <- expected.(& &1), do: Decimals.text(value)

      all =
        run.([
          op("map", %{"expr" => node}),
          op("map", %{"expr" => op("text", %{"parts" => [op("it")]})})
        ])

      assert length(all) == length(rows) and texts -- all == []
    end
  end

  defp caught(fun) do
    fun.()
  catch
    # Which of several errors comes first depends on the form.
    reason when reason in [:float, :zero] -> :error
  end

  defp told({:error, text}) do
    assert text == "division by zero" or text =~ "not exact"
    :error
  end

  defp told(value), do: value

  defp of({:field, name}, row), do: row[name]
  defp of({:const, value}, _row), do: value
  defp of({:round, expr, places}, row), do: row |> then(&of(expr, &1)) |> unary("round", places)
  defp of({:abs, expr}, row), do: row |> then(&of(expr, &1)) |> unary("abs", 0)
  defp of({name, left, right}, row), do: Decimals.binary(name, of(left, row), of(right, row))

  defp unary(%{coef: _} = decimal, name, places), do: Decimals.unary(name, decimal, places)
  defp unary(number, "abs", _places), do: abs(number)
  defp unary(number, "round", places), do: Float.round(number * 1.0, places)

  defp as_node({:field, name}), do: get(name)
  defp as_node({:const, value}) when is_number(value), do: value
  defp as_node({:const, value}), do: lit(value)

  defp as_node({:round, expr, places}),
    do: op("round", %{"value" => as_node(expr), "precision" => places})

  defp as_node({:abs, expr}), do: op("abs", %{"value" => as_node(expr)})

  defp as_node({"pct", left, right}),
    do: op("pct", %{"part" => as_node(left), "whole" => as_node(right)})

  defp as_node({name, left, right}), do: two(name, as_node(left), as_node(right))

  defp rows(count, state) do
    Enum.map_reduce(List.duplicate(0, count), state, fn _zero, state ->
      {p, state} = decimal(state)
      {q, state} = number(state)
      {g, state} = uniform(0..2, state)
      {%{"p" => p, "q" => q, "g" => g}, state}
    end)
  end

  defp decimal(state) do
    {digits, state} = uniform(1..22, state)
    {coef, state} = uniform(0..(Integer.pow(10, digits) - 1), state)
    {sign, state} = uniform(0..1, state)
    {exp, state} = uniform(-6..3, state)
    {dec(if(sign == 1, do: -coef, else: coef), exp), state}
  end

  # Mostly decimals and integers of all sizes, few floats.
  defp number(state) do
    case uniform(0..60, state) do
      {0, state} -> {2.5, state}
      {1, state} -> {Integer.pow(7, 40), state}
      {n, state} when n < 30 -> uniform(-20..20, state)
      {_n, state} -> decimal(state)
    end
  end

  defp expr(0, state) do
    case uniform(0..5, state) do
      {n, state} when n < 3 -> {{:field, "p"}, state}
      {n, state} when n < 5 -> {{:field, "q"}, state}
      {_n, state} -> constant(state)
    end
  end

  defp expr(depth, state) do
    case uniform(0..9, state) do
      {0, state} ->
        {expr, state} = expr(depth - 1, state)
        {{:round, expr, 2}, state}

      {1, state} ->
        {expr, state} = expr(depth - 1, state)
        {{:abs, expr}, state}

      {n, state} ->
        {left, state} = expr(depth - 1, state)
        {right, state} = expr(div(depth, 2), state)
        {{Enum.at(~w(add sub mul div pct add sub mul), n - 2), left, right}, state}
    end
  end

  defp constant(state) do
    case uniform(0..9, state) do
      {0, state} -> {{:const, 0.5}, state}
      {n, state} -> {{:const, n - 4}, state}
    end
  end

  defp uniform(first..last//_step, state) do
    {n, state} = :rand.uniform_s(last - first + 1, state)
    {first + n - 1, state}
  end
end
