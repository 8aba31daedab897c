defmodule Bench.Sections.Tools do
  @moduledoc false
  # Measures few and many tool calls, beside as many bare processes and beside one process by hand.
  @behaviour Bench.Section

  import Bench.Section
  import Bench.Table, only: [table: 4, words: 2, times: 1, quotients: 2, count: 1]
  alias Bench.{Bars, ByHand}
  alias PtcRunner.Json

  @calls [1, 10, 100, 1_000, 10_000]
  @rows_back [1, 1_000]
  @call ~s({"op":"call","tool":"double","args":{"n":21}})
  @computed ~s({"op":"call","tool":"double","args":{"n":{"op":"get","field":"n"}}})
  @computed_calls [1_000, 10_000]
  @counted ~s({"op":"pipe","steps":[{"op":"call","tool":"rows"},{"op":"count"}]})
  @programs [:text, :compiled]
  # Where the program is run: in a process with nothing but the rows, or with so many live tuples besides.
  @processes %{fresh: 0, full: 250_000}
  @limits %{10 => 0.65, 100 => 0.22, 1_000 => 0.20, 10_000 => 0.25}

  @impl true
  def names, do: [:tools]

  @impl true
  def blocks(_quick?) do
    once = for {name, _} <- @processes, do: {maker(1, name), [once(name), counted(name)]}

    by_calls =
      for calls <- @calls, {name, _} <- @processes, do: {maker(calls, name), [calls(calls, name)]}

    objects = for calls <- @calls, do: {maker(calls, :fresh), [objects(calls)]}
    computed = for calls <- @computed_calls, do: {maker(calls, :fresh), [computed(calls)]}
    back = for rows <- @rows_back, group <- [made(rows), kept(rows)], do: group
    once ++ [{maker(1, :fresh), back} | by_calls] ++ objects ++ computed
  end

  defp maker(count, process) do
    fn ->
      rows = ByHand.Tools.rows(count)
      live = for n <- 1..@processes[process]//1, do: {n, n}
      %{rows: rows, context: %{"rows" => rows}, live: live}
    end
  end

  defp once(process) do
    tool = &ByHand.double/1
    isolated = side(:yardstick, fn _data -> fn -> ByHand.isolated(tool, %{"n" => 21}) end end)
    group(:tools, :once, 1, program(@call) ++ [isolated], process)
  end

  defp counted(process) do
    tool = fn _args -> [1, 2, 3] end
    isolated = side(:yardstick, fn _data -> fn -> ByHand.isolated(tool, %{}) end end, &length/1)
    group(:tools, :counted, 1, program(@counted, %{"rows" => tool}) ++ [isolated], process)
  end

  defp calls(count, process) do
    sides = [
      call(:yardstick, & &1.rows, &ByHand.Tools.each_isolated/1),
      call(:by_hand, & &1.rows, &ByHand.Tools.one_process/1)
    ]

    group(:tools, :calls, count, program(over_rows(@call)) ++ sides, process)
  end

  # The arguments of each call are read from its row, beside the same arguments as constants.
  defp computed(count) do
    [_text, constant] = program(over_rows(@call))
    isolated = call(:yardstick, & &1.rows, &ByHand.Tools.each_isolated_with_row/1)
    sides = [%{constant | name: :constant}, isolated]
    group(:tools, :computed, count, program(over_rows(@computed)) ++ sides)
  end

  defp objects(count) do
    get = &~s({"op":"get","field":"#{&1}"})
    body = ~s({"id":#{get.("id")},"amount":#{get.("amount")},"n":#{@call}})

    sides = [
      call(:yardstick, & &1.rows, &ByHand.Tools.each_isolated_of_objects/1),
      call(:by_hand, & &1.rows, &ByHand.Tools.one_process_of_objects/1)
    ]

    group(:tools, :objects, count, program(over_rows(body)) ++ sides)
  end

  # The tool builds its rows …
  defp made(count), do: back(:made, count, fn _args -> ByHand.Tools.rows(count) end)

  # … or has them already, so they are copied to its process.
  defp kept(count) do
    rows = ByHand.Tools.rows(count)
    back(:kept, count, fn _args -> rows end)
  end

  defp back(name, count, tool) do
    by_hand = side(:by_hand, fn _data -> fn -> ByHand.Tools.count_rows(tool) end end)
    group(:tools, name, count, program(@counted, %{"rows" => tool}) ++ [by_hand])
  end

  defp over_rows(body) do
    ~s({"op":"pipe","steps":[{"op":"load","name":"rows"},{"op":"map","expr":#{body}}]})
  end

  defp program(node, tools \\ %{"double" => &ByHand.double/1}) do
    text = ~s({"program":#{node}})
    {:ok, compiled} = Json.compile(text)

    for {name, input} <- [text: text, compiled: compiled] do
      run = fn data -> fn -> Json.run(input, context: data.context, tools: tools) end end
      side(name, run, fn {:ok, value, _delta, _memory} -> value end)
    end
  end

  @impl true
  def tables(results) do
    [
      tools_table(
        "Tool calls",
        "The yardstick is as many bare `spawn_monitor`s that call and send the result.",
        [:once, :counted, :calls, :objects],
        results
      ),
      computed_table(results),
      tools_table(
        "Rows that a tool answers, counted",
        "By hand: a process that calls the tool and sends back the count.",
        [:made, :kept],
        results
      )
    ]
  end

  defp tools_table(title, intro, names, results) do
    rows = for name <- names, %{section: :tools, case: ^name} = result <- results, do: result
    others = if :calls in names, do: [:yardstick, :by_hand], else: [:by_hand]

    columns =
      [
        words("program", &words_for(&1.case)),
        words("n", &count(&1.rows)),
        words("process", &process(&1.origin))
      ] ++
        times(@programs ++ others) ++ quotients(@programs, others)

    table(title, intro, rows, columns)
  end

  defp computed_table(results) do
    rows = for %{section: :tools, case: :computed} = result <- results, do: result
    others = [:constant, :yardstick]
    columns = times(@programs ++ others) ++ quotients(@programs, others)
    intro = "`#{@computed}` for each row, beside the same arguments as constants."
    table("Computed arguments", intro, rows, [words("n", &count(&1.rows)) | columns])
  end

  defp process(:full), do: "with #{count(@processes.full)} live tuples"
  defp process(_fresh), do: "fresh"

  defp words_for(:once), do: "one call"
  defp words_for(:counted), do: "one call, counted"
  defp words_for(:calls), do: "map with a call, over n rows of 6 fields"
  defp words_for(:objects), do: "map with an object of the row and a call"
  defp words_for(:made), do: "n rows, made by the tool"
  defp words_for(:kept), do: "n rows, held by the tool"

  @impl true
  def bars(results) do
    once =
      for {name, what, limit} <- [
            {:once, "one tool call", 2.2},
            {:counted, "one tool call, counted", 2.7}
          ] do
        opts = [words: "a bare spawn_monitor", place: &process(&1.origin)]
        Bars.ratio(of(results, name), what, @programs, :yardstick, limit, opts)
      end

    many =
      for {calls, limit} <- Enum.sort(@limits) do
        place = &process(&1.origin)
        opts = [words: "as many bare spawn_monitors", beside: :by_hand, place: place]
        what = "#{count(calls)} tool calls in a map"
        Bars.ratio(of(results, :calls, calls), what, @programs, :yardstick, limit, opts)
      end

    computed =
      for {yardstick, limit, words} <- [
            {:constant, 1.15, "constant arguments"},
            {:yardstick, 0.35, "as many bare spawn_monitors"}
          ] do
        opts = [words: words, place: &"#{count(&1.rows)} calls"]
        what = "tool calls in a map, computed arguments"
        Bars.ratio(of(results, :computed), what, @programs, yardstick, limit, opts)
      end

    once ++
      many ++
      computed ++
      for name <- [:made, :kept] do
        Bars.ratio(
          of(results, name, 1_000),
          "#{words_for(name)}, counted",
          @programs,
          :by_hand,
          1.2
        )
      end
  end
end
