defmodule PtcRunner.Lisp.ScansTest do
  @moduledoc false
  # Loops that pass many rows in one instruction, beside calls of the same functions, which pass none.
  use ExUnit.Case, async: true

  alias PtcRunner.Lisp

  @functions [
    "(fn [x] (> (:amount x) 500))",
    "(fn [x] (<= k (:amount x)))",
    "(fn [x] (* (:amount x) 2))",
    "(fn [x] (:amount x))",
    "(fn [x] (:unit-price x))",
    "(fn [x] (= (:missing x) nil))",
    "(fn [x] (:missing x))"
  ]
  @folds ["(fn [s x] (+ s (:amount x)))", "(fn [s x] (- (:amount x) s))", "(fn [s x] (:id x))"]

  for {name, odd} <- [
        plain: [],
        floats: [{150, %{"amount" => 7.5}}],
        large: [
          {150, %{"amount" => 1_000_000_000_000_000_000_000}},
          {151, %{"amount" => 2 ** 59 - 1}}
        ],
        other_keys: [
          {3, %{"amount" => 600}},
          {200, %{amount: 700}},
          {201, %{"amount" => 1, amount: 900}}
        ],
        no_key: [{299, %{"id" => 1}}],
        no_map: [{128, nil}],
        text: [{129, %{"amount" => "much"}}],
        struct: [{140, URI.parse("https://example.org")}]
      ] do
    test "rows: #{name}" do
      rows = rows(unquote(Macro.escape(Map.new(odd))))

      for function <- @functions, builtin <- ~w(filter remove map keep) do
        assert_same(builtin, function, "", rows)
      end

      for function <- @folds, initial <- ["0", "1.5"] do
        assert_same("reduce", function, initial, rows)
      end
    end
  end

  test "a run that is short of memory ends in a loop that passes rows" do
    rows = rows(%{})
    program = "(reduce (fn [s x] (+ s 1)) 0 (map (fn [x] (* (:amount x) 2)) data/rows))"
    assert {:ok, %{return: 300}} = Lisp.run(program, context: %{"rows" => rows})
    many = List.duplicate(hd(rows), 200_000)
    assert {:error, step} = Lisp.run(program, context: %{"rows" => many}, max_heap: 100_000)
    assert step.fail.reason == :memory_exceeded
  end

  defp rows(odd) do
    for id <- 1..300 do
      row = %{"id" => id, "amount" => rem(id * 37, 1000), "unit_price" => id / 4}
      Map.get(odd, id, row)
    end
  end

  defp assert_same(builtin, function, initial, rows) do
    scanned = "(let [k 500] (#{builtin} #{function} #{initial} data/rows))"
    called = "(let [k 500 f #{function}] (#{builtin} f #{initial} data/rows))"
    assert ended(scanned, rows) == ended(called, rows), scanned
  end

  defp ended(program, rows) do
    case Lisp.run(program, context: %{"rows" => rows}) do
      {:ok, step} -> {:ok, step.return}
      {:error, step} -> {:error, step.fail.reason}
    end
  end
end
