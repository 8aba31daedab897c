defmodule PtcRunner.SubAgent.Loop.JsonHandler.Place do
  @moduledoc false
  # Describes the position of a JSON error for people and LLMs: line, column, and the text there.

  # Maximum length of the line that is shown before the position.
  @before 40

  @doc false
  # `place` is the native result: {kind, offset} or {kind, limit, offset}.
  def describe(text, place) do
    offset = elem(place, tuple_size(place) - 1)
    {line, column, start} = line_and_column(text, offset)
    "line #{line}, column #{column}: #{what(text, place)}#{context(text, start, offset)}"
  end

  @doc false
  # Line and column count from 1, columns in characters; `start` is the line's offset.
  def line_and_column(text, offset) do
    text |> binary_part(0, min(offset, byte_size(text))) |> count(1, 1, 0, 1)
  end

  # One pass without allocation, which other processes can interrupt. `next` is the offset of
  # what follows the first byte.
  defp count(<<?\n, rest::binary>>, line, _column, _start, next),
    do: count(rest, line + 1, 1, next, next + 1)

  defp count(<<byte, rest::binary>>, line, column, start, next) when byte in 0x80..0xBF,
    do: count(rest, line, column, start, next + 1)

  defp count(<<_byte, rest::binary>>, line, column, start, next),
    do: count(rest, line, column + 1, start, next + 1)

  defp count(<<>>, line, column, start, _next), do: {line, column, start}

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
    before = binary_part(text, 0, min(offset, byte_size(text)))
    from = max(start, offset - @before)

    case before
         |> binary_part(from, byte_size(before) - from)
         |> whole()
         |> String.trim_leading() do
      "" -> ""
      shown -> if firewalled?(before), do: "", else: " after " <> shown
    end
  end

  # Whether a text of JSON has a firewalled key: what follows may be part of its value. Reads each byte once or twice.
  defp firewalled?(<<?", first, rest::binary>>) when first in [?_, ?-], do: key?(rest)

  defp firewalled?(<<"\"\\u00", code::binary-size(2), rest::binary>>)
       when code in ["5f", "5F", "2d", "2D"],
       do: key?(rest)

  defp firewalled?(<<_byte, rest::binary>>), do: firewalled?(rest)
  defp firewalled?(<<>>), do: false

  defp key?(<<?\\, _escaped, rest::binary>>), do: key?(rest)
  defp key?(<<?", rest::binary>> = string), do: colon?(rest) or firewalled?(string)
  defp key?(<<_byte, rest::binary>>), do: key?(rest)
  defp key?(<<>>), do: false

  defp colon?(<<blank, rest::binary>>) when blank in [?\s, ?\t, ?\n, ?\r], do: colon?(rest)
  defp colon?(rest), do: match?(<<?:, _rest::binary>>, rest)

  # Drops the rest of a truncated character at the start.
  defp whole(<<byte, rest::binary>>) when byte in 0x80..0xBF, do: whole(rest)
  defp whole(text), do: if(String.valid?(text), do: text, else: "")
end
