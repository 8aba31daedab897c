defmodule Bench.Table do
  @moduledoc false
  # Numbers and tables as text: Markdown whose source is aligned, so it reads well in a terminal too.

  @doc "An aligned Markdown table. The columns of these numbers (from 0) stand left, the others right."
  @spec markdown([String.t()], [[String.t()]], [non_neg_integer]) :: String.t()
  def markdown(header, rows, left \\ [0]) do
    columns =
      [header | rows]
      |> Enum.zip_with(&(&1 |> Enum.map(fn cell -> String.length(cell) end) |> Enum.max()))
      |> Enum.with_index(fn width, column -> {max(width, 3), column in left} end)

    rule = [
      "|",
      for({width, left?} <- columns, do: [dashes(width + 1), if(left?, do: "-|", else: ":|")])
    ]

    [head | body] = for row <- [header | rows], do: line(row, columns)
    IO.iodata_to_binary([head, rule, "\n" | body])
  end

  defp line(row, columns) do
    cells = for {cell, column} <- Enum.zip(row, columns), do: [" ", pad(cell, column), " |"]
    ["|", cells, "\n"]
  end

  defp pad(cell, {width, true}), do: String.pad_trailing(cell, width)
  defp pad(cell, {width, false}), do: String.pad_leading(cell, width)

  defp dashes(width), do: String.duplicate("-", width)

  @doc "A measured side as `median (min..max)` in the unit that suits the median; `-` for nothing."
  @spec times([number] | nil, float | nil) :: String.t()
  def times(nil, _median), do: "-"

  def times(samples, median) do
    {unit, name} = unit(median)

    "#{digits(median / unit)} #{name} (#{digits(Enum.min(samples) / unit)}..#{digits(Enum.max(samples) / unit)})"
  end

  defp unit(ns) when ns < 1_000, do: {1, "ns"}
  defp unit(ns) when ns < 1_000_000, do: {1_000, "µs"}
  defp unit(_ns), do: {1_000_000, "ms"}

  @doc "A quotient, such as `0.58`."
  @spec ratio(float | nil) :: String.t()
  def ratio(nil), do: "-"
  def ratio(number) when number < 10, do: fixed(number, 2)
  def ratio(number), do: digits(number)

  @doc "Three digits that matter: `1.23`, `12.3`, `123`, `1,234`."
  @spec digits(number) :: String.t()
  def digits(number) when number < 10, do: fixed(number, 2)
  def digits(number) when number < 100, do: fixed(number, 1)
  def digits(number), do: number |> round() |> count()

  @doc "An integer with commas: `1,000,000`."
  @spec count(integer) :: String.t()
  def count(integer) do
    integer
    |> Integer.to_string()
    |> String.reverse()
    |> String.replace(~r/(\d{3})(?=\d)/, "\\1,")
    |> String.reverse()
  end

  @spec fixed(number, non_neg_integer) :: String.t()
  def fixed(number, decimals), do: :erlang.float_to_binary(number * 1.0, decimals: decimals)
end
