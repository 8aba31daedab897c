defmodule Demo.Show do
  @moduledoc false
  # Prints the demo: headings, programs, and answers as aligned tables.

  @doc "The heading of a section."
  def heading(text), do: IO.puts(["\n", text, "\n", String.duplicate("=", String.length(text))])

  @doc "A program, printed as the model wrote it and returned as it is."
  def program(text) do
    text
    |> String.split("\n", trim: true)
    |> Enum.each(&IO.puts("    " <> &1))

    text
  end

  @doc "A list of objects: a column for each name, a line for each object."
  def table(rows, columns) do
    cells = for row <- rows, do: for(column <- columns, do: cell(row[column]))
    numeric = for column <- columns, do: Enum.all?(rows, &is_number(&1[column]))
    widths = Enum.zip_with([columns | cells], fn column -> column |> longest() end)
    rules = Enum.map(widths, &String.duplicate("-", &1))

    IO.puts("")
    Enum.each([columns, rules | cells], &IO.puts(line(&1, widths, numeric)))
    IO.puts("")
  end

  @doc "One object: a line for each of the given names."
  def object(map, names) do
    table(for(name <- names, do: %{"" => name, "answer" => map[name]}), ["", "answer"])
  end

  defp longest(cells), do: cells |> Enum.map(&String.length/1) |> Enum.max()

  defp line(cells, widths, numeric) do
    [cells, widths, numeric]
    |> Enum.zip_with(fn
      [cell, width, true] -> String.pad_leading(cell, width)
      [cell, width, false] -> String.pad_trailing(cell, width)
    end)
    |> Enum.join("  ")
    |> String.trim_trailing()
    |> then(&("  " <> &1))
  end

  defp cell(value) when is_float(value), do: :erlang.float_to_binary(value, decimals: 2)
  defp cell(value) when is_binary(value), do: value
  defp cell(value), do: inspect(value)
end
