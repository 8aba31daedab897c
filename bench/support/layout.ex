defmodule Bench.Layout do
  @moduledoc false
  # What the tables of the report have in common: names, columns, sections.

  alias Bench.{Harness, Table}

  @titles %{
    filter_sum: "filter, sum",
    filter_sort: "filter(and), sort desc, select, take",
    map_object: "map with an object of 3 fields",
    get_distinct: "get path, distinct, count",
    tool_map: "map with a tool call for each row",
    literal: "literal",
    five_steps: "10 rows, 5 steps",
    literal_objects: "literal, 10 objects",
    tool_once: "one tool call"
  }

  @labels %{
    text: "program as text",
    compiled: "compiled program",
    elixir: "Elixir by hand",
    tuned: "Elixir, tuned",
    isolated: "Elixir, one process a call"
  }

  @doc "A case in words."
  @spec title(atom) :: String.t()
  def title(name), do: Map.fetch!(@titles, name)

  @doc "A side in words."
  @spec label(atom) :: String.t()
  def label(name), do: Map.fetch!(@labels, name)

  @doc "The column titles of a comparison with `others`."
  @spec header([atom]) :: [String.t()]
  def header(others) do
    names = for name <- [:text, :compiled | others], do: label(name)
    quotients = for other <- others, side <- [:text, :compiled], do: "#{side} ÷ #{label(other)}"
    names ++ quotients
  end

  @doc "The cells below such titles: times, then quotients."
  @spec cells(Harness.result(), [atom]) :: [String.t()]
  def cells(result, others) do
    times = for name <- [:text, :compiled | others], do: cell(result, name)

    quotients =
      for other <- others,
          side <- [:text, :compiled],
          do: Table.ratio(Harness.ratio(result, side, other))

    times ++ quotients
  end

  @doc "A titled table; nothing when it has no rows. The columns `left` hold words."
  @spec section(String.t(), String.t(), [String.t()], [[String.t()]], [non_neg_integer]) :: iodata
  def section(title, intro, header, rows, left \\ [0])
  def section(_title, _intro, _header, [], _left), do: []

  def section(title, intro, header, rows, left) do
    ["## ", title, "\n\n", intro, "\n\n", Table.markdown(header, rows, left), "\n"]
  end

  @doc "One side's times."
  @spec cell(Harness.result(), atom) :: String.t()
  def cell(result, name) do
    case Harness.side(result, name) do
      nil -> "-"
      measured -> Table.times(measured.samples, Harness.median(measured))
    end
  end
end
