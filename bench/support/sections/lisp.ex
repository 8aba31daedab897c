defmodule Bench.Sections.Lisp do
  @moduledoc false
  # Measures PTC-Lisp beside plain Elixir and beside programs of PTC-JSON that say the same.
  @behaviour Bench.Section

  import Bench.Section
  import Bench.Table, only: [table: 4, words: 2, times: 1, quotients: 2, count: 1]
  alias Bench.{Bars, ByHand, Harness, Table}
  alias PtcRunner.{Json, Lisp}

  @rows 10_000
  @fib 20
  # Calls of `fib` that `(fib 20)` makes.
  @fib_calls 21_891
  @rounds 1_000_000
  @items 100_000
  @pages 100
  @lines_a_page 1_380
  @no_limits [timeout: :infinity, max_heap: 0]

  # Case, number of rows, program, and the same by hand.
  @over_rows [
    {:filter, "(filter (fn [x] (> (:amount x) 500)) data/rows)", &ByHand.Lisp.filter/1},
    {:map, "(map (fn [x] (* (:amount x) 2)) data/rows)", &ByHand.Lisp.map/1},
    {:reduce, "(reduce (fn [s x] (+ s (:amount x))) 0 data/rows)", &ByHand.Lisp.reduce/1},
    {:short_filter, "(filter #(> (:amount %) 500) data/rows)", &ByHand.Lisp.filter/1},
    {:column, "(map :amount data/rows)", &ByHand.Lisp.column/1},
    {:total, "(reduce + (map :amount data/rows))", &ByHand.Lisp.total/1},
    {:group_by, "(group-by :category data/rows)", &ByHand.Lisp.groups/1},
    {:sort_by, "(sort-by :price data/rows)", &ByHand.Lisp.sorted/1}
  ]

  @fib_program "(defn fib [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib #{@fib})"
  @loop_program "(loop [i 0 sum 0] (if (= i #{@rounds}) sum (recur (inc i) (+ sum i))))"
  @range_program "(reduce (fn [s i] (+ s i)) 0 (range #{@items}))"

  @csv_program """
  (reduce
    (fn [[n sum] page]
      (reduce
        (fn [[n sum] line]
          (let [amount (parse-long (nth (split line ",") 3))]
            (if (> amount 500) [(inc n) (+ sum amount)] [n sum])))
        [n sum]
        (split-lines page)))
    [0 0]
    data/pages)
  """

  # A program of 17 lines, as a model writes it.
  @report """
  (def paid (filter :active data/rows))
  (def cents (fn [x] (int (* 100 x))))
  (defn line-of [[category orders]]
    (let [amounts (map :amount orders)
          total (reduce + amounts)]
      {:category category
       :orders (count orders)
       :total total
       :average (/ total (count orders))
       :largest (apply max amounts)}))
  (def lines
    (->> paid
         (group-by :category)
         (map line-of)
         (sort-by :total >)))
  {:lines (take 5 lines)
   :cents (cents (reduce + (map :price paid)))}
  """

  # The same question in both languages, for reading and analyzing.
  @top_in_lisp "(->> data/rows (filter #(and (:active %) (> (:amount %) 250))) (sort-by :price >) " <>
                 "(map #(select-keys % [:id :name :price])) (take 10))"

  @call_in_json ~s({"program":{"op":"call","tool":"double","args":{"n":21}}})
  @calls_in_json ~s({"program":{"op":"pipe","steps":[{"op":"load","name":"rows"},) <>
                   ~s({"op":"map","expr":{"op":"call","tool":"double","args":{"n":21}}}]}})
  @call_in_lisp "(tool/double {:n 21})"
  @calls_in_lisp "(mapv (fn [_] (tool/double {:n 21})) data/rows)"

  @impl true
  def names, do: [:lisp]

  @impl true
  def blocks(_quick?) do
    [
      {maker(1), [plus(), compiling(), tool(:tool_once, 1, @call_in_lisp, @call_in_json)]},
      {maker(200), [report()]},
      {maker(1_000), [tool(:tools, 1_000, @calls_in_lisp, @calls_in_json)]},
      {maker(@rows), for({name, program, hand} <- @over_rows, do: rows(name, program, hand))},
      {maker(1), [fib(), loop(), range()]},
      {fn -> %{context: %{"pages" => csv()}} end, [pages()]}
    ]
  end

  defp maker(count), do: Bench.Data.maker(:built, count)

  defp plus, do: group(:lisp, :plus, 1, both("(+ 1 2)", []))

  defp compiling do
    in_json = Bench.Programs.text(:filter_sort)
    done = fn {:ok, _program} -> :ok end

    group(:lisp, :compiling, 1, [
      call(:compile, fn _ -> @top_in_lisp end, &Lisp.compile/1, done),
      call(:json, fn _ -> in_json end, &Json.compile/1, done)
    ])
  end

  defp tool(name, count, in_lisp, in_json) do
    tools = %{"double" => &ByHand.double/1}
    {:ok, compiled} = Json.compile(in_json)

    json =
      side(
        :json,
        fn data -> fn -> Json.run(compiled, context: data.context, tools: tools) end end,
        fn {:ok, value, _delta, _memory} -> value end
      )

    group(:lisp, name, count, [compiled(in_lisp, tools: tools), json])
  end

  defp report, do: group(:lisp, :report, 200, [text(@report, [])])

  defp rows(name, program, by_hand),
    do: group(:lisp, name, @rows, [compiled(program, []), call(:elixir, & &1.rows, by_hand)])

  defp fib do
    by_hand = call(:elixir, fn _ -> @fib end, &ByHand.Lisp.fib/1)
    group(:lisp, :fib, @fib_calls, [compiled(@fib_program, []), by_hand])
  end

  defp loop do
    by_hand = call(:elixir, fn _ -> 0 end, &ByHand.Lisp.count(&1, 0))
    # Its rounds are no rows.
    :lisp |> group(:loop, @rounds, [compiled(@loop_program, []), by_hand]) |> Map.put(:weight, 1)
  end

  defp range do
    by_hand = call(:elixir, fn _ -> @items end, &ByHand.Lisp.sum_range/1)
    group(:lisp, :range, @items, [compiled(@range_program, []), by_hand])
  end

  defp pages do
    by_hand = call(:elixir, & &1.context["pages"], &ByHand.Lisp.pages/1, &Tuple.to_list/1)
    group(:lisp, :pages, @pages * @lines_a_page, [compiled(@csv_program, []), by_hand])
  end

  # 138,000 rows of about 170 bytes.
  defp csv do
    note = String.duplicate("delivered to the back door; ", 5)

    for page <- 1..@pages do
      for line <- 1..@lines_a_page, into: "" do
        id = page * @lines_a_page + line
        "#{id},customer #{id},2026-01-17,#{:erlang.phash2(id, 1000)},#{note}\n"
      end
    end
  end

  defp both(program, opts), do: [text(program, opts), compiled(program, opts)]

  defp text(program, opts), do: running(:text, program, opts)

  defp compiled(program, opts) do
    {:ok, compiled} = Lisp.compile(program)
    running(:compiled, compiled, opts)
  end

  defp running(name, program, opts) do
    run = fn data ->
      opts = [context: data.context] ++ opts ++ @no_limits
      fn -> Lisp.run(program, opts) end
    end

    side(name, run, fn {:ok, step} -> step.return end)
  end

  @impl true
  def tables(results) do
    intro = """
    `plus`: `(+ 1 2)`. `compiling`: a program of four steps, beside the program of PTC-JSON that says the same. `report`: 17 lines over 200 orders.
    `filter`, `map` and `reduce` with closures, then the shapes that are recognized. `fib`: 21,891 calls; `loop`: 1,000,000 rounds of `loop` and `recur`; `range`: `reduce`
    over `(range 100000)`. `pages`: 23 MB of CSV text, split, parsed, filtered and summed by closures.
    """

    sides = [:text, :compiled, :compile, :json, :elixir]

    [
      table("PTC-Lisp", intro, results, [
        words("", &Atom.to_string(&1.case)),
        words("n", &count(&1.rows))
        | times(sides) ++
            quotients([:compiled], [:elixir, :json]) ++ quotients([:compile], [:json])
      ])
    ]
  end

  # The bars in nanoseconds: case, side, what, for each of so many, at most.
  @times [
    {:plus, :text, "(+ 1 2) from its text", 1, 2_000},
    {:plus, :compiled, "(+ 1 2), compiled", 1, 600},
    {:filter, :compiled, "filter with a closure; a row", @rows, 75},
    {:map, :compiled, "map with a closure; a row", @rows, 75},
    {:reduce, :compiled, "reduce with a closure; a row", @rows, 75},
    {:short_filter, :compiled, "(filter #(> (:amount %) k) …); a row", @rows, 30},
    {:column, :compiled, "(map :k …); a row", @rows, 30},
    {:total, :compiled, "(reduce + (map :k …)); a row", @rows, 30},
    {:fib, :compiled, "fib 20; a call", @fib_calls, 60},
    {:loop, :compiled, "loop and recur; a round", @rounds, 40},
    {:range, :compiled, "reduce over a range; an item", @items, 40},
    {:report, :text, "a report of 17 lines over 200 orders, from its text", 1, 100_000},
    {:pages, :compiled, "23 MB of CSV text", 1, 1_000_000_000}
  ]

  # Case, side, yardstick, at most.
  @ratios [
    {:filter, :compiled, :elixir, 1.5},
    {:map, :compiled, :elixir, 1.5},
    {:reduce, :compiled, :elixir, 1.5},
    {:group_by, :compiled, :elixir, 0.7},
    {:sort_by, :compiled, :elixir, 0.7},
    {:tool_once, :compiled, :json, 1.2},
    {:tools, :compiled, :json, 1.2},
    {:compiling, :compile, :json, 1.5}
  ]

  @impl true
  def bars(results) do
    times =
      for {name, side, what, per, limit} <- @times,
          do: at_most(results, name, side, what, per, limit)

    ratios =
      for {name, side, other, limit} <- @ratios,
          do: Bars.ratio(of(results, name), "PTC-Lisp, #{name}", [side], other, limit)

    times ++ ratios
  end

  defp at_most(results, name, side, what, per, limit) do
    limit_text = "≤ #{Table.digits(limit)} ns"

    case of(results, name) do
      [result | _] ->
        measured = Harness.median(Harness.side(result, side)) / per

        Bars.at_most(
          "PTC-Lisp, #{what}",
          {limit, limit_text},
          {measured, "#{Table.digits(measured)} ns"}
        )

      [] ->
        Bars.not_measured("PTC-Lisp, #{what}", limit_text, "not part of this run")
    end
  end
end
