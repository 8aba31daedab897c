defmodule Bench.Sections.Programs do
  @moduledoc false
  # Measures programs over rows, over rows from elsewhere and over almost no data, beside the same in Elixir.
  @behaviour Bench.Section

  import Bench.Section
  import Bench.Table, only: [table: 4, words: 2, number: 2, times: 1, quotients: 2, count: 1]
  alias Bench.{Bars, ByHand, Data, Harness, Jiffy, Programs, Table}
  alias PtcRunner.Json

  @row_counts [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000]
  @most_tool_calls 10_000
  @origin_rows 10_000
  # From this size on the default limits (1 s, 1,250,000 words) could affect the measurement.
  @many_rows 100_000

  @pipelines [:filter_sum, :filter_text, :filter_sort, :map_object, :get_distinct]
  @over_rows @pipelines ++ [:select_count, :tool_map, :literal]
  # Maximum time of a call of a small compiled program, by rows, in nanoseconds.
  @small_runs %{1 => 500, 10 => 700}
  @tools %{"double" => &ByHand.double/1}
  @programs [:text, :compiled]

  @impl true
  def names, do: @over_rows ++ [:fixed, :origin]

  @doc "The sides of a case beside the program."
  @spec others(atom) :: [{atom, (Bench.ByHand.rows() -> term)}]
  def others(:filter_sum),
    do: [elixir: &ByHand.filter_sum/1, one_pass: &ByHand.filter_sum_one_pass/1]

  def others(:filter_text),
    do: [elixir: &ByHand.filter_text/1, one_pass: &ByHand.filter_text_one_pass/1]

  def others(:filter_sort),
    do: [
      elixir: &ByHand.filter_sort/1,
      written: &ByHand.filter_sort_written/1,
      tuned: &ByHand.filter_sort_tuned/1
    ]

  def others(:select_count), do: [elixir: &ByHand.select_count/1]

  def others(:map_object),
    do: [
      elixir: &ByHand.map_object/1,
      tuned: &ByHand.map_object_tuned/1,
      bare: &PtcRunner.Native.bare_objects/1
    ]

  def others(:get_distinct),
    do: [elixir: &ByHand.get_distinct/1, tuned: &ByHand.get_distinct_tuned/1]

  def others(:tool_map), do: [elixir: &ByHand.tool_map/1, isolated: &ByHand.tool_map_isolated/1]
  def others(:literal), do: []

  @doc "A case in words."
  @spec title(atom) :: String.t()
  def title(:filter_sum), do: "filter, sum"
  def title(:filter_text), do: "filter by a string, sum"
  def title(:filter_sort), do: "filter(and), sort desc, select, take"
  def title(:select_count), do: "select, count"
  def title(:map_object), do: "map with an object of 3 fields"
  def title(:get_distinct), do: "get path, distinct, count"
  def title(:tool_map), do: "map with a tool call for each row"
  def title(:literal), do: "literal"
  def title(:five_steps), do: "10 rows, 5 steps"
  def title(:literal_objects), do: "literal, 10 objects"
  def title(:tool_once), do: "one tool call"

  @impl true
  def blocks(quick?) do
    counts = if quick?, do: List.delete(@row_counts, 1_000_000), else: @row_counts
    by_rows = for rows <- counts, do: {Data.maker(:built, rows), over_rows(rows)}

    origins =
      for origin <- [:decoded, :received, :heavy] do
        groups = for name <- @pipelines, do: over_rows(:origin, name, @origin_rows, origin)
        {Data.maker(origin, @origin_rows), groups}
      end

    [{Data.maker(:built, 10), fixed()} | by_rows ++ origins]
  end

  defp over_rows(rows) do
    for name <- @over_rows, name != :tool_map or rows <= @most_tool_calls do
      # The origin table shows the built rows beside the others.
      also = if name in @pipelines and rows == @origin_rows, do: [:origin], else: []
      name |> over_rows(name, rows, :built) |> Map.put(:also, also)
    end
  end

  # The time of the literal must not depend on the rows of its context.
  defp over_rows(section, name, rows, origin) do
    limits = if rows >= @many_rows, do: [timeout: :infinity, max_heap: 0], else: []
    opts = &([context: &1.context, tools: @tools] ++ limits)
    opts = if name == :literal, do: &[context: &1.context], else: opts
    # The bare loop cannot be stopped, so it gets no more rows.
    others = for {side, _} = other <- others(name), side != :bare or rows <= 10_000, do: other
    group(section, name, rows, program(name, opts) ++ on_rows(others), origin)
  end

  # Cases whose time is that of the call, not of the data.
  defp fixed do
    no_opts = fn _data -> [] end
    by_hand = on_rows(elixir: &ByHand.five_steps/1)
    tool_once = program(:tool_once, fn _data -> [tools: @tools] end)
    tool = &ByHand.double/1

    [
      five_steps: beside_jiffy(:five_steps, &[context: &1.context], by_hand),
      literal: beside_jiffy(:literal, no_opts),
      literal_objects: beside_jiffy(:literal_objects, no_opts),
      tool_once:
        tool_once ++
          [
            side(:yardstick, fn _data -> fn -> ByHand.isolated(tool, %{"n" => 21}) end end),
            side(:elixir, fn _data -> fn -> tool.(%{"n" => 21}) end end)
          ]
    ]
    |> Enum.map(fn {name, sides} -> group(:fixed, name, 10, sides) end)
  end

  # The options are built for every call, as an application builds them.
  defp program(name, make_opts) do
    text = Programs.text(name)
    {:ok, compiled} = Json.compile(text)

    for {side, input} <- [text: text, compiled: compiled] do
      prepare = fn data -> fn -> Json.run(input, make_opts.(data)) end end
      side(side, prepare, fn {:ok, value, _delta, _memory} -> value end)
    end
  end

  # Jiffy only decodes the text. Its result is correct if the decoded program returns the right value.
  defp beside_jiffy(name, make_opts, others \\ []) do
    text = Programs.text(name)
    value = &Json.run!(&1, make_opts.(%{context: %{"rows" => Data.rows(:built, 10)}}))
    jiffy = side(:yardstick, fn _data -> fn -> Jiffy.decode(text) end end, value)
    program(name, make_opts) ++ others ++ if_jiffy([jiffy])
  end

  defp on_rows(sides), do: for({name, fun} <- sides, do: call(name, & &1.rows, fun))

  @impl true
  def tables(results) do
    Enum.map(@over_rows, &rows_table(&1, results)) ++
      [fixed_table(results), growth_table(results), origin_table(results)]
  end

  defp rows_table(name, results) do
    intro = "```json\n#{Programs.text(name)}\n```"
    rows = for %{section: ^name} = result <- results, do: result
    table(title(name), intro, rows, [words("rows", &count(&1.rows)) | columns(name)])
  end

  defp columns(name) do
    others = Keyword.keys(others(name))
    times(@programs ++ others) ++ quotients(@programs, others)
  end

  defp fixed_table(results) do
    intro = "What a call costs when there is hardly any data. The literal here has no context."
    columns = times([:text, :compiled, :elixir, :yardstick]) ++ quotients(@programs, [:yardstick])
    words = [words("program", &title(&1.case)), words("its yardstick", &yardstick(&1.case))]
    rows = for %{section: :fixed} = result <- results, do: result
    table("Small programs", intro, rows, words ++ columns)
  end

  defp yardstick(:tool_once), do: "a bare spawn_monitor, one message"

  defp yardstick(_name),
    do: if(Jiffy.available?(), do: "jiffy.decode of the text", else: Jiffy.missing())

  defp growth_table(results) do
    intro =
      "The exponent e in time = c × rows^e, by least squares through the logarithms of the medians: 1 is linear."

    rows =
      for name <- @over_rows,
          results = for(%{section: ^name} = result <- results, do: result),
          {_exponent, range} <- [Bars.exponent(results, :text)],
          do: {name, range, results}

    exponents =
      for side <- @programs ++ [:elixir, :one_pass, :tuned] do
        number(Table.label(side), fn {_name, _range, results} -> exponent(results, side) end)
      end

    words = [words("pipeline", &title(elem(&1, 0))), words("rows", &elem(&1, 1))]
    table("Growth", intro, rows, words ++ exponents)
  end

  defp exponent(results, side) do
    with {exponent, _range} <- Bars.exponent(results, side),
         do: Table.ratio(exponent),
         else: (_ -> "-")
  end

  defp origin_table(results) do
    intro =
      "Rows built in Elixir, decoded from JSON text, and received from another process; " <>
        "*heavy* is the same in a process with 50 MB more on its heap."

    # The built rows are those of the main tables; they are not measured twice.
    rows =
      for true <- [Enum.any?(results, &(&1.section == :origin))],
          name <- @pipelines,
          %{case: ^name, rows: @origin_rows} = result <- results,
          do: result

    words = [words("pipeline", &title(&1.case)), words("origin", &Atom.to_string(&1.origin))]
    others = [:elixir, :one_pass, :tuned]
    columns = times(@programs ++ others) ++ quotients(@programs, others)
    table("Origin of the data, 10,000 rows", intro, rows, words ++ columns)
  end

  @impl true
  def bars(results) do
    over_rows = fn name, rows ->
      for %{section: ^name} = result <- results, result.rows in rows, do: result
    end

    pipeline = fn what, name, rows, limit ->
      opts = [place: &"#{count(&1.rows)} rows", beside: :one_pass]
      Bars.ratio(over_rows.(name, rows), what, @programs, :elixir, limit, opts)
    end

    over = fn what, name, origins, yardstick, limit ->
      results =
        for %{case: ^name, rows: 10_000, origin: origin} = result <- results,
            origin in origins,
            do: result

      Bars.ratio(results, what, @programs, yardstick, limit)
    end

    fixed = fn what, name, sides, limit, words ->
      results = for %{section: :fixed, case: ^name} = result <- results, do: result
      Bars.ratio(results, what, sides, :yardstick, limit, words: words)
    end

    decode = "jiffy.decode of the text"
    all = 1_000..1_000_000
    growing = Enum.flat_map([:filter_sum, :map_object, :get_distinct], &over_rows.(&1, all))

    small =
      for result <- over_rows.(:filter_sum, [1, 10]) do
        limit = @small_runs[result.rows]
        median = Harness.median(Harness.side(result, :compiled))
        what = "filter, sum compiled; #{result.rows} rows"
        Bars.at_most(what, {limit, "≤ #{limit} ns"}, {median, "#{round(median)} ns"})
      end

    small ++
      [
        pipeline.("filter, sum; 10,000 rows and up", :filter_sum, 10_000..1_000_000, 0.6),
        pipeline.(
          "filter by a string, sum; 10,000 rows and up",
          :filter_text,
          10_000..1_000_000,
          0.8
        ),
        pipeline.(
          "filter(and), sort desc, select, take; 10,000 rows and up",
          :filter_sort,
          10_000..1_000_000,
          0.8
        ),
        over.("filter, sum; 10,000 rows", :filter_sum, [:built], :one_pass, 1.15),
        over.(
          "filter(and), sort desc, select, take; 10,000 rows",
          :filter_sort,
          [:built],
          :elixir,
          0.4
        ),
        over.("select, count; 10,000 rows", :select_count, [:built], :elixir, 0.2),
        over.("map with an object of 3 fields; 10,000 rows", :map_object, [:built], :bare, 1.15),
        pipeline.("get path, distinct, count; 10,000 rows", :get_distinct, [10_000], 1.0),
        over.(
          "get path, distinct, count; keys not shared, 50 MB of live heap",
          :get_distinct,
          [:heavy],
          :elixir,
          1.0
        ),
        pipeline.("map with an object of 3 fields; 10,000 rows", :map_object, [10_000], 1.5),
        fixed.("10 rows, 5 steps, program as text", :five_steps, [:text], 1.0, decode),
        fixed.("literal (a number), program as text", :literal, [:text], 1.0, decode),
        fixed.("literal (10 objects), program as text", :literal_objects, [:text], 1.0, decode),
        fixed.("program with one tool call", :tool_once, @programs, 2.0, "a bare spawn_monitor"),
        Bars.growth(
          growing,
          "growth exponent, 1,000 to 1,000,000 rows, no sort",
          @programs,
          1.05
        )
      ]
  end
end
