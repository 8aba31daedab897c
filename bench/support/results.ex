defmodule Bench.Results do
  @moduledoc """
  The numbers of `RESULTS.md`, for pictures.
  """

  @units %{"ns" => 1, "µs" => 1_000, "ms" => 1_000_000, "s" => 1_000_000_000}

  @doc """
  The rows of the first table of a section: maps of column and cell.

      iex> text = "## filter\\n\\n| rows | text |\\n|---|---|\\n| 1,000 | 24.2 µs (23.6..25.8) |\\n\\nprose"
      iex> Bench.Results.rows(text, "filter")
      [%{"rows" => "1,000", "text" => "24.2 µs (23.6..25.8)"}]

  """
  @spec rows(String.t(), String.t()) :: [%{String.t() => String.t()}]
  def rows(text, section) do
    [_before, rest] = String.split(text, "## #{section}\n", parts: 2)

    [head, _rule | rows] =
      rest
      |> String.split("\n")
      |> Enum.drop_while(&(not String.starts_with?(&1, "|")))
      |> Enum.take_while(&String.starts_with?(&1, "|"))
      |> Enum.map(&cells/1)

    for row <- rows, do: head |> Enum.zip(row) |> Map.new() |> tuned()
  end

  # A program of one pass has its tuned form under another name.
  defp tuned(%{"one-pass comprehension" => cell} = row),
    do: Map.put_new(row, "Elixir, tuned", cell)

  defp tuned(row), do: row

  @doc """
  The median of a cell in nanoseconds, or nil.

      iex> Enum.map(["24.2 µs (23.6..25.8)", "1,431 µs", "-"], &Bench.Results.nanoseconds/1)
      [24200.0, 1431000.0, nil]

  """
  @spec nanoseconds(String.t()) :: float() | nil
  def nanoseconds(cell) do
    case Regex.run(~r/^([\d.,]+) (ns|µs|ms|s)\b/u, cell) do
      [_all, number, unit] ->
        {number, ""} = number |> String.replace(",", "") |> Float.parse()
        number * @units[unit]

      nil ->
        nil
    end
  end

  defp cells(line) do
    line |> String.trim("|") |> String.split("|") |> Enum.map(&String.trim/1)
  end
end
