defmodule PtcRunner.SubAgent.Loop.JsonHandler.Place do
  @moduledoc false
  # Where in a text the JSON goes wrong, for people and LLMs: line, column, what stands there.

  # How much of the line before the place is shown.
  @before 40

  @doc false
  # `place` is what the native side says: {kind, offset} or {kind, limit, offset}.
  def describe(text, place) do
    offset = elem(place, tuple_size(place) - 1)
    {line, column, start} = line_and_column(text, offset)
    "line #{line}, column #{column}: #{what(text, place)}#{context(text, start, offset)}"
  end

  @doc false
  # Line and column count from 1, columns in characters; `start` is the line's offset.
  def line_and_column(text, offset) do
    before = binary_part(text, 0, min(offset, byte_size(text)))
    breaks = :binary.matches(before, "\n")
    start = if breaks == [], do: 0, else: elem(List.last(breaks), 0) + 1
    line = binary_part(before, start, byte_size(before) - start)
    {length(breaks) + 1, characters(line) + 1, start}
  end

  defp characters(text),
    do: for(<<byte <- text>>, Bitwise.band(byte, 0xC0) != 0x80, reduce: 0, do: (n -> n + 1))

  defp what(text, {:unexpected_token, offset}) do
    case binary_part(text, offset, byte_size(text) - offset) do
      <<char::utf8, _rest::binary>> when char >= 0x20 and char != 0x7F ->
        "unexpected #{<<char::utf8>>}"

      <<byte, _rest::binary>> ->
        "unexpected byte 0x#{Base.encode16(<<byte>>)}"

      <<>> ->
        "unexpected end"
    end
  end

  defp what(_text, {:unexpected_end, _offset}), do: "the text ends inside the JSON"
  defp what(_text, {:too_deep, limit, _}), do: "nested more than #{limit} levels deep"
  defp what(_text, {:integer_too_long, limit, _}), do: "an integer of more than #{limit} digits"

  defp context(text, start, offset) do
    from = max(start, offset - @before)
    shown = text |> binary_part(from, min(offset, byte_size(text)) - from) |> whole()

    case String.trim_leading(shown) do
      "" -> ""
      shown -> " after " <> shown
    end
  end

  # Without the rest of a character that was cut in two at the start.
  defp whole(<<byte, rest::binary>>) when byte in 0x80..0xBF, do: whole(rest)
  defp whole(text), do: if(String.valid?(text), do: text, else: "")
end
