defmodule PtcRunner.Shown.Line do
  @moduledoc false
  # Names and texts from elsewhere inside a text for readers: no line break or control character of theirs
  # changes the structure of the text around them.

  # Control characters, line and paragraph separators, marks of the direction of writing, spaces without width, letters of tags.
  defguardp is_unseen(char)
            when char < 0x20 or char in 0x7F..0x9F or
                   char in [0x061C, 0x180E, 0x200B, 0x200E, 0x200F, 0xFEFF] or
                   char in 0x2028..0x202E or char in 0x2060..0x206F or char in 0xE0000..0xE007F

  # A heading with number signs, a heading underlined, a fence.
  @structure ~r/^[ \t]*(?:#|=+[ \t]*$|-+[ \t]*$|```|~~~)/m

  @doc ~S"""
  The text on one line: control characters and invalid bytes are escaped.

      iex> PtcRunner.Shown.Line.escape("a\nb\u202Ec" <> <<0xFF>>)
      ~S(a\nb\u202Ec\xFF)

  """
  @spec escape(binary()) :: String.t()
  def escape(text), do: if(seen?(text), do: text, else: escaped(text, &char/1))

  # Marks that change the order in which a text is read, and separators of lines that most programs do not show.
  defguardp is_misleading(char)
            when char in [0x85, 0x061C, 0x200E, 0x200F] or char in 0x2028..0x202E or
                   char in 0x2066..0x2069

  # The pairs of bytes with which these characters begin.
  @misleading [<<0xE2, 0x80>>, <<0xE2, 0x81>>, <<0xD8, 0x9C>>, <<0xC2, 0x85>>]

  @doc ~S"""
  The text with its line breaks, but no mark of direction and no separator of lines or paragraphs: a reader sees what stands there.

      iex> PtcRunner.Shown.Line.seen("a\nb\u202Ec\u2028" <> <<0xFF>>)
      "a\nb\\u202Ec\\u2028" <> <<0xFF>>

  """
  @spec seen(binary()) :: binary()
  def seen(text) do
    if :binary.match(text, @misleading) == :nomatch,
      do: text,
      else: text |> straight() |> IO.iodata_to_binary()
  end

  defp straight(<<char::utf8, rest::binary>>) when is_misleading(char),
    do: [char(char) | straight(rest)]

  defp straight(<<char::utf8, rest::binary>>), do: [<<char::utf8>> | straight(rest)]
  defp straight(<<byte, rest::binary>>), do: [byte | straight(rest)]
  defp straight(<<>>), do: []

  @doc ~S"""
  The text as a string of JSON, on one line.

      iex> PtcRunner.Shown.Line.quoted(~s(say "a"))
      ~S("say \"a\"")

  """
  @spec quoted(binary()) :: String.t()
  def quoted(text), do: ~s("#{escaped(text, &in_quotes/1)}")

  @doc ~S"""
  Whether the text needs no quotes: letters, digits and the marks that names have.

      iex> Enum.map(["user_id", "größe", "a.b-c", "a b", "#", ""], &PtcRunner.Shown.Line.word?/1)
      [true, true, true, false, false, false]

  """
  @spec word?(binary()) :: boolean()
  def word?(text),
    do: String.valid?(text) and text =~ ~r/\A[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.:\/\-]*\z/u

  @doc ~S"""
  The text with its line breaks. Other control characters are escaped, and lines that would be a heading or a
  fence begin with a backslash.

      iex> PtcRunner.Shown.Line.lines("a\r\n\t# b\e")
      "a\n\\\t# b\\u001B"

  """
  @spec lines(binary()) :: String.t()
  def lines(text) do
    text
    |> :binary.split("\r\n", [:global])
    |> Enum.join("\n")
    |> escaped(fn char -> if char in [?\n, ?\t], do: <<char>>, else: char(char) end)
    |> String.replace(@structure, "\\\\\\0")
  end

  defp seen?(<<char::utf8, rest::binary>>) when not is_unseen(char), do: seen?(rest)
  defp seen?(rest), do: rest == ""

  defp escaped(text, show), do: text |> chars(show) |> IO.iodata_to_binary()

  defp chars(<<char::utf8, rest::binary>>, show), do: [show.(char) | chars(rest, show)]
  defp chars(<<byte, rest::binary>>, show), do: ["\\x", hex(byte, 2) | chars(rest, show)]
  defp chars(<<>>, _show), do: []

  defp in_quotes(char) when char in [?", ?\\], do: <<?\\, char>>
  defp in_quotes(char), do: char(char)

  defp char(?\n), do: "\\n"
  defp char(?\r), do: "\\r"
  defp char(?\t), do: "\\t"

  defp char(char) when is_unseen(char),
    do: for(<<unit::16 <- utf16(char)>>, do: ["\\u", hex(unit, 4)])

  defp char(char), do: <<char::utf8>>

  defp utf16(char), do: <<char::utf16>>

  defp hex(number, digits),
    do: number |> Integer.to_string(16) |> String.pad_leading(digits, "0")
end
