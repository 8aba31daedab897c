defmodule Bench.Cases do
  @moduledoc false
  # What is compared with what: every group is one table row, its sides are the columns.

  alias Bench.{ByHand, Jiffy, Programs}
  alias PtcRunner.Json

  @tools %{"double" => &ByHand.double/1}
  # From here on the default limits (1 s, 1,250,000 words) could be what is measured.
  @many_rows 100_000

  @over_rows %{
    filter_sum: {&ByHand.filter_sum/1, tuned: &ByHand.filter_sum_tuned/1},
    filter_sort: {&ByHand.filter_sort/1, tuned: &ByHand.filter_sort_tuned/1},
    map_object: {&ByHand.map_object/1, tuned: &ByHand.map_object_tuned/1},
    get_distinct: {&ByHand.get_distinct/1, tuned: &ByHand.get_distinct_tuned/1},
    tool_map: {&ByHand.tool_map/1, isolated: &ByHand.tool_map_isolated/1}
  }

  @doc "The pipelines over rows, in the order of the tables."
  @spec pipelines() :: [atom]
  def pipelines, do: [:filter_sum, :filter_sort, :map_object, :get_distinct]

  @doc "A program over `rows` rows beside the same in Elixir."
  @spec over_rows(atom, pos_integer, Bench.Data.origin()) :: Bench.Harness.group()
  def over_rows(name, rows, origin \\ :built) do
    {elixir, [{second, second_fun}]} = Map.fetch!(@over_rows, name)
    text = Programs.text(name)
    limits = limits(rows)

    sides =
      program_sides(text, &([context: &1.context, tools: @tools] ++ limits)) ++
        [on_rows(:elixir, elixir), on_rows(second, second_fun)]

    %{section: name, case: name, rows: rows, origin: origin, sides: sides}
  end

  @doc "The literal with `rows` rows of context, which it must not notice."
  @spec literal(pos_integer) :: Bench.Harness.group()
  def literal(rows) do
    sides = program_sides(Programs.text(:literal), &[context: &1.context])
    %{section: :literal, case: :literal, rows: rows, origin: :built, sides: sides}
  end

  @doc "The groups whose cost is that of a call, not of data."
  @spec fixed() :: [Bench.Harness.group()]
  def fixed do
    with_rows = &[context: &1.context]
    five_steps = program_sides(Programs.text(:five_steps), with_rows)
    by_hand = on_rows(:elixir, &ByHand.five_steps/1)

    [
      fixed(:five_steps, five_steps ++ [by_hand] ++ jiffy(:five_steps, with_rows)),
      fixed(:literal, program_sides(Programs.text(:literal), none()) ++ jiffy(:literal, none())),
      fixed(
        :literal_objects,
        program_sides(Programs.text(:literal_objects), none()) ++ jiffy(:literal_objects, none())
      ),
      fixed(:tool_once, tool_once())
    ]
  end

  defp fixed(name, sides) do
    %{section: :fixed, case: name, rows: 10, origin: :built, sides: sides}
  end

  defp none, do: fn _data -> [] end

  defp tool_once do
    tool = &ByHand.double/1

    program_sides(Programs.text(:tool_once), fn _data -> [tools: @tools] end) ++
      [
        side(:spawn, fn _data -> fn -> ByHand.isolated(tool, %{"n" => 21}) end end),
        side(:elixir, fn _data -> fn -> tool.(%{"n" => 21}) end end)
      ]
  end

  # The options are made anew for every call, as an application makes them.
  defp program_sides(text, make_opts) do
    {:ok, program} = Json.compile(text)

    for {name, input} <- [text: text, compiled: program] do
      prepare = fn data -> fn -> Json.run(input, make_opts.(data)) end end
      side(name, prepare, fn {:ok, value, _delta, _memory} -> value end)
    end
  end

  # Jiffy only decodes the text; that its answer is right shows in what the decoded program gives.
  defp jiffy(name, make_opts) do
    text = Programs.text(name)
    rows = Bench.Data.rows(:built, 10)
    opts = make_opts.(%{context: %{"rows" => rows}})
    value = fn decoded -> Json.run!(decoded, opts) end

    if Jiffy.available?(),
      do: [side(:jiffy, fn _data -> fn -> Jiffy.decode(text) end end, value)],
      else: []
  end

  defp on_rows(name, fun), do: side(name, fn %{rows: rows} -> fn -> fun.(rows) end end)

  defp side(name, prepare, value \\ & &1), do: %{name: name, prepare: prepare, value: value}

  defp limits(rows) when rows >= @many_rows, do: [timeout: :infinity, max_heap: 0]
  defp limits(_rows), do: []
end
