defmodule PtcRunner.CLI.Excerpt do
  @moduledoc false
  # Shows a position in a text: as much of its line as fits, with the position underlined.

  alias PtcRunner.CLI.{Place, Plain}

  @width 76
  @before 24

  @doc """
  Two lines: the text and the underline.

      iex> text = ~s({"program":\\n  {"op": "fitler"}})
      iex> PtcRunner.CLI.Excerpt.lines(text, {14, 16}) |> Enum.join("\\n")
      ~s(  2 |   {"op": "fitler"}}\\n    |   ^^^^^^^^^^^^^^^^)

  """
  @spec lines(binary(), {non_neg_integer(), non_neg_integer()}) :: [String.t()]
  def lines(text, {offset, length}) do
    {number, column} = Place.line_and_column(text, offset)
    line = text |> String.split("\n") |> Enum.at(number - 1, "") |> Plain.text()
    first = max(column - 1 - @before, 0)
    first = if String.length(line) <= @width, do: 0, else: first
    shown = String.slice(line, first, @width)
    gutter = String.pad_leading("#{number}", 3)
    marked = text |> binary_part(offset, min(length, byte_size(text) - offset)) |> first_line()
    indent = column - 1 - first
    carets = marked |> String.length() |> max(1) |> min(max(String.length(shown) - indent, 1))

    [
      gutter <> " | " <> shown,
      String.duplicate(" ", String.length(gutter)) <>
        " | " <> String.duplicate(" ", indent) <> String.duplicate("^", carets)
    ]
  end

  defp first_line(text), do: text |> String.split("\n", parts: 2) |> hd()
end
