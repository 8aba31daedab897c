defmodule PtcRunner.Lisp.Answers.Replacement do
  @moduledoc false
  # The texts that replace matches, as Erlang's `:re.replace/4` reads them: `&` is the match, `\1`, `\g1` and `\g{1}` are groups, and
  # `\` before another character stands for that character.

  alias PtcRunner.Lisp.Answers.Patterns

  @typedoc "Texts, and the numbers of groups."
  @type t :: [String.t() | non_neg_integer()]

  @doc ~S"""
  Reads a replacement.

      iex> PtcRunner.Lisp.Answers.Replacement.read(~S([&] \1 \g{12} \& $1))
      ["[", 0, "] ", 1, " ", 12, " ", "&", " $1"]

  """
  @spec read(String.t()) :: t()
  def read(text), do: text |> read([]) |> Enum.reverse()

  defp read("", made), do: made
  defp read("&" <> rest, made), do: read(rest, [0 | made])

  defp read("\\g{" <> rest, made) do
    case Integer.parse(rest) do
      {group, "}" <> rest} when group >= 0 -> read(rest, [group | made])
      _none -> read(rest, ["g{" | made])
    end
  end

  defp read("\\g" <> rest, made) do
    case Integer.parse(rest) do
      {group, rest} when group >= 0 -> read(rest, [group | made])
      _none -> read(rest, ["g" | made])
    end
  end

  defp read(<<?\\, digit, _::binary>> = text, made) when digit in ?1..?9 do
    {group, rest} = text |> binary_part(1, byte_size(text) - 1) |> Integer.parse()
    read(rest, [group | made])
  end

  defp read(<<?\\, char::utf8, rest::binary>>, made), do: read(rest, [<<char::utf8>> | made])
  defp read("\\", made), do: ["\\" | made]

  defp read(text, made) do
    case :binary.match(text, ["\\", "&"], scope: {1, byte_size(text) - 1}) do
      {place, 1} ->
        rest = binary_part(text, place, byte_size(text) - place)
        read(rest, [binary_part(text, 0, place) | made])

      :nomatch ->
        [text | made]
    end
  end

  @doc """
  The text with the replacement in the place of each match.

      iex> alias PtcRunner.Lisp.Answers.Replacement
      iex> Replacement.all([[{1, 1}], [{3, 1}]], "abcbd", ["<", 0, ">"])
      "a<b>c<b>d"

  """
  @spec all([Patterns.match()], String.t(), t()) :: String.t()
  def all(matches, text, replacement),
    do: matches |> write(text, 0, replacement, []) |> IO.iodata_to_binary()

  defp write([[{start, length} | _] = match | matches], text, from, replacement, made) do
    before = binary_part(text, from, start - from)
    new = Enum.map(replacement, &put(&1, match, text))
    write(matches, text, start + length, replacement, [[before, new] | made])
  end

  defp write([], text, from, _replacement, made),
    do: Enum.reverse([binary_part(text, from, byte_size(text) - from) | made])

  defp put(literal, _match, _text) when is_binary(literal), do: literal

  defp put(group, match, text) do
    case Enum.at(match, group) do
      {start, length} when start >= 0 -> binary_part(text, start, length)
      _none -> ""
    end
  end
end
