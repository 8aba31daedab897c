defmodule Bench.Section do
  @moduledoc false
  # A section of the benchmarks: its measurements, and its part of the report.

  alias Bench.{Bars, Harness, Table}

  @typedoc """
  What one process measures: a function that makes its data, and the groups. A group with the key `:also` is
  measured for those sections as well. A section that does not measure time gives a function that returns results.
  """
  @type block :: {(... -> map), [Harness.group()]} | (... -> [map])

  @doc "The names of the section, or of its parts, on the command line."
  @callback names() :: [atom]

  @callback blocks(quick? :: boolean) :: [block]

  @doc "The tables of the report. A table without rows is not shown."
  @callback tables(results :: [Harness.result() | map]) :: [Table.t()]

  @doc "The performance goals of the project, judged."
  @callback bars(results :: [Harness.result() | map]) :: [Bars.bar()]

  @spec group(atom, atom, pos_integer, [Harness.side()], atom) :: Harness.group()
  def group(section, name, rows, sides, origin \\ :built),
    do: %{section: section, case: name, rows: rows, origin: origin, sides: sides}

  @doc "A side that calls `fun` with the value that `pick` takes from the data; `pick` is not timed."
  @spec call(atom, (map -> term), (term -> term), (term -> term)) :: Harness.side()
  def call(name, pick \\ & &1, fun, value \\ & &1) do
    prepare = fn data ->
      input = pick.(data)
      fn -> fun.(input) end
    end

    side(name, prepare, value)
  end

  @doc "A side as the harness knows it."
  @spec side(atom, (map -> (... -> term)), (term -> term)) :: Harness.side()
  def side(name, prepare, value \\ & &1), do: %{name: name, prepare: prepare, value: value}

  @doc "The sides of jiffy: an empty list if it is not installed."
  @spec if_jiffy([Harness.side()]) :: [Harness.side()]
  def if_jiffy(sides), do: if(Bench.Jiffy.available?(), do: sides, else: [])

  @doc "The results of one case: all, or those with a given number of rows."
  @spec of([Harness.result()], atom, pos_integer | nil) :: [Harness.result()]
  def of(results, name, rows \\ nil),
    do: for(%{case: ^name} = result <- results, rows in [nil, result.rows], do: result)
end
