defmodule Demo.Show do
  @moduledoc false
  # Prints the demo: headings, programs, and answers as aligned tables.

  @doc "The heading of a section."
  def heading(text) do
    IO.puts(["\n", text, "\n", String.duplicate("=", String.length(text))])
  end

  @doc "A program, printed as the model wrote it and returned as it is."
  def program(text) do
    IO.puts("")
    for line <- String.split(text, "\n", trim: true), do: IO.puts("    " <> line)
    text
  end

  @doc "A text under a name, indented; long lines are cut."
  def text(name, text) do
    IO.puts(["\n  ", name, ":"])

    for line <- text |> String.trim() |> String.split("\n"),
        do:
          IO.puts(
            "    " <>
              if(String.length(line) > 150, do: String.slice(line, 0, 149) <> "…", else: line)
          )
  end

  @doc "A list of objects: a column for each of the names, a line for each object."
  def table(rows, names) do
    columns = for name <- names, do: column(name, Enum.map(rows, & &1[name]))
    lines = Enum.zip_with(columns, &Enum.join(&1, "  "))
    IO.puts(["\n", Enum.map(lines, &["  ", String.trim_trailing(&1), "\n"])])
  end

  @doc "One object: a line for each of the names."
  def object(map, names) do
    width = longest(names)
    lines = for name <- names, do: ["  ", String.pad_trailing(name, width), "  ", cell(map[name])]
    IO.puts(["\n", Enum.intersperse(lines, "\n"), "\n"])
  end

  # The cells of one column, name and rule first, all of one width.
  defp column(name, values) do
    cells = [name | cells(values)]
    width = longest(cells)
    [head | body] = Enum.map(cells, aligner(values, width))
    [head, String.duplicate("-", width) | body]
  end

  defp aligner(values, width) do
    if Enum.all?(values, &is_number/1),
      do: &String.pad_leading(&1, width),
      else: &String.pad_trailing(&1, width)
  end

  # The numbers of a column that holds a float all get two decimals, to stand in line.
  defp cells(values) do
    decimals = if Enum.any?(values, &is_float/1), do: &decimals/1, else: &cell/1
    Enum.map(values, &if(is_number(&1), do: decimals.(&1), else: cell(&1)))
  end

  defp decimals(number), do: :erlang.float_to_binary(number / 1, decimals: 2)

  defp cell(text) when is_binary(text), do: text
  defp cell(float) when is_float(float), do: float |> Float.round(2) |> to_string()
  defp cell(value), do: inspect(value)

  defp longest(cells), do: cells |> Enum.map(&String.length/1) |> Enum.max()
end
