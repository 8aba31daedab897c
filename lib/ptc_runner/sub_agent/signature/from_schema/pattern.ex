defmodule PtcRunner.SubAgent.Signature.FromSchema.Pattern do
  @moduledoc false
  # Patterns of ECMAScript, which JSON Schema has, in the syntax of the rule `pattern`. What both mean differently is written
  # in another way; look-around and references to groups have no other form.

  @digits "0-9"
  @letters "0-9A-Za-z_"
  @blanks ~S(\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff})
  @sets %{?d => @digits, ?w => @letters, ?s => @blanks}
  @negated %{?D => @digits, ?W => @letters, ?S => @blanks}
  @any ~S([^\n\r\x{2028}\x{2029}])
  @signs ~c"tnrvf"
  @punctuation ~c"!\"#$%&'()*+,-./:;=?@[\\]^_`{|}~"

  @doc """
  The pattern in the syntax of rules, or why it has none.

      iex> alias PtcRunner.SubAgent.Signature.FromSchema.Pattern
      iex> Pattern.of("^[A-Z]{2}-\\\\d+$")
      {:ok, "^[A-Z]{2}-[0-9]+$"}
      iex> Pattern.of("a(?=b)")
      {:error, "it has a look-around"}

  """
  @spec of(String.t()) :: {:ok, String.t()} | {:error, String.t()}
  def of(pattern), do: outside(pattern, [])

  defp outside("", done), do: {:ok, done |> Enum.reverse() |> IO.iodata_to_binary()}
  defp outside("(?:" <> rest, done), do: outside(rest, ["(?:" | done])

  defp outside(<<"(?<", char, _rest::binary>>, _done) when char in ~c"=!",
    do: {:error, "it has a look-around"}

  defp outside("(?<" <> rest, done), do: outside(rest, ["(?<" | done])

  defp outside(<<"(?", char, _rest::binary>>, _done) when char in ~c"=!",
    do: {:error, "it has a look-around"}

  defp outside("(?" <> _rest, _done), do: {:error, "it has flags"}
  defp outside("[]" <> rest, done), do: outside(rest, [~S([^\s\S]) | done])
  defp outside("[^]" <> rest, done), do: outside(rest, [~S([\s\S]) | done])
  defp outside("[^" <> rest, done), do: inside(rest, ["[^" | done], false)
  defp outside("[" <> rest, done), do: inside(rest, ["[" | done], false)
  defp outside("." <> rest, done), do: outside(rest, [@any | done])

  defp outside("{" <> rest, done) do
    case Regex.run(~r/\A[0-9]+(,[0-9]*)?\}/, rest) do
      [count | _] -> rest |> after_text(count) |> outside([count, "{" | done])
      nil -> outside(rest, ["\\{" | done])
    end
  end

  defp outside(<<char, rest::binary>>, done) when char in ~c"}]",
    do: outside(rest, [<<?\\, char>> | done])

  defp outside("\\b" <> rest, done), do: outside(rest, ["(?-u:\\b)" | done])
  defp outside("\\B" <> _rest, _done), do: {:error, "it has \\B"}

  defp outside(<<?\\, char, rest::binary>>, done) when is_map_key(@sets, char),
    do: outside(rest, ["[", @sets[char], "]" | done] |> swapped())

  defp outside(<<?\\, char, rest::binary>>, done) when is_map_key(@negated, char),
    do: outside(rest, ["[^", @negated[char], "]" | done] |> swapped())

  defp outside("\\" <> rest, done) do
    with {:ok, text, rest} <- escape(rest), do: outside(rest, [text | done])
  end

  defp outside(<<char::utf8, rest::binary>>, done), do: outside(rest, [<<char::utf8>> | done])
  defp outside(_other, _done), do: {:error, "it is not UTF-8"}

  # The last three parts were added in reading order.
  defp swapped([open, set, close | done]), do: [close, set, open | done]

  # `set?`: the item before is a set, after which a hyphen is a character, as it is before a set.
  defp inside("", _done, _set?), do: {:error, "a class is not closed"}
  defp inside("]" <> rest, done, _set?), do: outside(rest, ["]" | done])
  defp inside("-]" <> rest, done, _set?), do: outside(rest, ["\\-]" | done])
  defp inside("--" <> _rest, _done, _set?), do: {:error, "it has -- in a class"}
  defp inside("-" <> rest, done, true), do: inside(rest, ["\\-" | done], false)

  defp inside(<<"-\\", char, _rest::binary>> = text, done, false)
       when is_map_key(@sets, char) or is_map_key(@negated, char),
       do: inside(text, done, true)

  defp inside(<<char, rest::binary>>, done, _set?) when char in ~c"[&~^",
    do: inside(rest, [<<?\\, char>> | done], false)

  defp inside("\\b" <> rest, done, _set?), do: inside(rest, ["\\x08" | done], false)
  defp inside("\\B" <> _rest, _done, _set?), do: {:error, "it has \\B"}

  defp inside(<<?\\, char, rest::binary>>, done, _set?) when is_map_key(@sets, char),
    do: inside(rest, [@sets[char] | done], true)

  defp inside(<<?\\, char, rest::binary>>, done, _set?) when is_map_key(@negated, char),
    do: inside(rest, [["[^", @negated[char], "]"] | done], true)

  defp inside("\\" <> rest, done, _set?) do
    with {:ok, text, rest} <- escape(rest), do: inside(rest, [text | done], false)
  end

  defp inside(<<char::utf8, rest::binary>>, done, _set?),
    do: inside(rest, [<<char::utf8>> | done], false)

  defp inside(_other, _done, _set?), do: {:error, "it is not UTF-8"}

  defp escape(<<char, rest::binary>>) when char in @signs, do: {:ok, <<?\\, char>>, rest}

  defp escape(<<?0, char, _rest::binary>>) when char in ?0..?9,
    do: {:error, "it has an octal escape"}

  defp escape("0" <> rest), do: {:ok, "\\x00", rest}

  defp escape(<<char, _rest::binary>>) when char in ?1..?9 or char == ?k,
    do: {:error, "it has a reference to a group"}

  defp escape(<<?c, char, rest::binary>>) when char in ?a..?z or char in ?A..?Z,
    do: {:ok, code(rem(char, 32)), rest}

  defp escape(<<char, ?{, rest::binary>>) when char in ~c"pP" do
    case Regex.run(~r/\A[A-Za-z_=0-9]+\}/, rest) do
      [name] -> {:ok, <<?\\, char, ?{, name::binary>>, after_text(rest, name)}
      nil -> {:error, "it has an unknown property of characters"}
    end
  end

  defp escape(<<"x", digits::binary-size(2), rest::binary>>), do: hex(digits, rest)

  defp escape("u{" <> rest) do
    case Regex.run(~r/\A([0-9A-Fa-f]{1,6})\}/, rest) do
      [all, digits] -> hex(digits, after_text(rest, all))
      nil -> unknown("u")
    end
  end

  defp escape(<<"u", digits::binary-size(4), rest::binary>>) do
    with {high, ""} when high in 0xD800..0xDBFF <- Integer.parse(digits, 16),
         <<"\\u", digits::binary-size(4), rest::binary>> <- rest,
         {low, ""} when low in 0xDC00..0xDFFF <- Integer.parse(digits, 16) do
      {:ok, code(0x10000 + (high - 0xD800) * 0x400 + low - 0xDC00), rest}
    else
      _other -> hex(digits, rest)
    end
  end

  # Angle brackets begin and end words in the syntax of rules.
  defp escape(<<char, rest::binary>>) when char in ~c"<>", do: {:ok, <<char>>, rest}
  defp escape(<<char, rest::binary>>) when char in @punctuation, do: {:ok, <<?\\, char>>, rest}
  defp escape(<<char::utf8, _rest::binary>>), do: unknown(<<char::utf8>>)
  defp escape(_nothing), do: unknown("")

  defp unknown(char), do: {:error, "it has the unknown escape \\#{char}"}

  defp hex(digits, rest) do
    case Integer.parse(digits, 16) do
      {code, ""} when code in 0..0xD7FF or code in 0xE000..0x10FFFF -> {:ok, code(code), rest}
      _other -> {:error, "it has half of a surrogate pair"}
    end
  end

  defp code(code), do: "\\x{#{Integer.to_string(code, 16)}}"

  defp after_text(text, start),
    do: binary_part(text, byte_size(start), byte_size(text) - byte_size(start))
end
