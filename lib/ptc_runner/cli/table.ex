defmodule PtcRunner.CLI.Table do
  @moduledoc false
  # Formats rows as a table for a terminal.

  alias PtcRunner.CLI.Plain
  alias PtcRunner.Json.Codec
  alias PtcRunner.Json.Explain.Format

  @rows 200
  @columns 12
  @cell 40

  @doc """
  Whether a value is a list of rows: maps, with few enough columns for a terminal.

      iex> Enum.map([[%{"a" => 1}], [], [1], %{"a" => 1}], &PtcRunner.CLI.Table.rows?/1)
      [true, false, false, false]

  """
  @spec rows?(term()) :: boolean()
  def rows?([_ | _] = list) do
    Enum.all?(list, &(is_map(&1) and map_size(&1) in 1..@columns)) and
      list |> Enum.take(@rows) |> columns() |> length() <= @columns
  end

  def rows?(_other), do: false

  @doc """
  The table. Of many rows the first ones are shown, with the number of further rows.

      iex> rows = [%{"id" => 7, "name" => "Ada"}, %{"id" => 12}]
      iex> PtcRunner.CLI.Table.text(rows)
      "id  name\\n──  ────\\n 7  Ada\\n12\\n"

  """
  @spec text([map()]) :: String.t()
  def text(rows) do
    {shown, hidden} = Enum.split(rows, @rows)
    columns = columns(shown)
    numbers = MapSet.new(Enum.filter(columns, &numbers?(shown, &1)))

    head = Enum.map(columns, &(&1 |> to_string() |> fit()))
    body = for row <- shown, do: Enum.map(columns, &cell(row, &1))

    widths =
      Enum.zip_with([head | body], fn cells ->
        cells |> Enum.map(&String.length/1) |> Enum.max()
      end)

    right? = Enum.map(columns, &(&1 in numbers))
    rule = Enum.map(widths, &String.duplicate("─", &1))

    lines = for cells <- [head, rule | body], do: line(cells, widths, right?)
    Enum.join(lines, "\n") <> "\n" <> more(hidden)
  end

  defp columns(rows), do: rows |> Enum.flat_map(&Map.keys/1) |> Enum.uniq() |> Enum.sort()

  defp numbers?(rows, column),
    do: Enum.all?(rows, &(Map.get(&1, column) == nil or is_number(Map.get(&1, column))))

  defp cell(row, column) do
    case Map.fetch(row, column) do
      :error -> ""
      {:ok, text} when is_binary(text) -> fit(text)
      {:ok, value} -> value |> Codec.encode!() |> fit()
    end
  end

  defp fit(text), do: text |> Plain.text() |> Format.fit(@cell)

  defp line(cells, widths, right?) do
    [cells, widths, right?]
    |> Enum.zip_with(fn
      [cell, width, true] -> String.pad_leading(cell, width)
      [cell, width, false] -> String.pad_trailing(cell, width)
    end)
    |> Enum.join("  ")
    |> String.trim_trailing()
  end

  defp more([]), do: ""

  defp more(rows),
    do: "… and #{Format.number(length(rows))} rows more (all of them with --json)\n"
end
