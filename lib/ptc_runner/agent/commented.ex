defmodule PtcRunner.Agent.Commented do
  @moduledoc false
  # Values and programs in a comment around JSON are no part of the answer: who comments a program out does not want it to run.

  alias PtcRunner.Agent.Parts

  # What begins a comment, each at the beginning of a line or behind a blank or a bracket: the text need not be UTF-8.
  # `#`, `;` and `--` begin one only directly before JSON: `# Answer: {…}` is a heading.
  @opens ~r/(?<![^\s}\]>])(?:<!--|\/\*)|(?:\A|\n)[ \t]*+(\/\/|(?:#|;|--)++(?=[ \t]*+[{\[]))/
  @begins ["<!--", "/*", "//", "#", ";", "--"]

  # Maximum number of comments that are looked at.
  @most 200

  @doc """
  The text with blanks in the place of comments that hold an object or a list, and whether there are any. In a text in quotes, in an
  object and in a list they stay: there they are data, or left out by a repair. So do those without a bracket.

      iex> alias PtcRunner.Agent.Commented
      iex> Commented.blanked(~s(/* [1] */ [2]))
      {"          [2]", true}
      iex> Commented.blanked("# [1]\\n;; [2]\\n# Answer: [3]")
      {"     \\n      \\n# Answer: [3]", true}
      iex> for text <- [~s({"a": "/* [1] */"}), ~s("<!-- [1] -->"), "// the list:\\n[1]", "see https://a.b/*[1]*/"], do: Commented.blanked(text) == {text, false}
      [true, true, true, true]

  """
  @spec blanked(String.t()) :: {String.t(), commented? :: boolean()}
  def blanked(text) do
    case :binary.match(text, @begins) != :nomatch and found(text, 0, [], @most) do
      none when none in [false, []] -> {text, false}
      spans -> {Parts.without(text, spans), true}
    end
  end

  @doc """
  Whether nothing else than comments of a blanked text had an object or a list.

      iex> alias PtcRunner.Agent.Commented
      iex> for text <- ["/* [1] */ none", "/* [1] */ [2]", "none"], do: text |> Commented.blanked() |> Commented.all?()
      [true, false, false]

  """
  @spec all?({String.t(), commented? :: boolean()}) :: boolean()
  def all?({text, commented?}), do: commented? and Parts.of(text) == {[], nil}

  defp found(_text, _from, spans, 0), do: spans

  defp found(text, from, spans, left) do
    with [_ | _] = indices <- Regex.run(@opens, text, return: :index, offset: from) do
      {at, size} = List.last(indices)

      case outside(text, from, at) do
        :outside -> comment(text, at, size, spans, left)
        {:until, until} -> found(text, until, spans, left - 1)
        :open -> spans
      end
    else
      nil -> spans
    end
  end

  # Whether a place is in an object, in a list or in a text in quotes that begins a line, and where that ends.
  defp outside(text, from, at) do
    before = binary_part(text, from, at - from)

    case Parts.of(before) do
      {_spans, nil} ->
        if before =~ ~r/(?:\A|\n)[ \t]*+"[^\n]*\z/,
          do: {:until, line_end(text, at)},
          else: :outside

      {_spans, {open, _size}} ->
        start = from + open
        size = text |> binary_part(start, byte_size(text) - start) |> Parts.size()
        if size, do: {:until, start + size}, else: :open
    end
  end

  defp line_end(text, at) do
    case :binary.match(text, "\n", scope: {at, byte_size(text) - at}) do
      {stop, _size} -> stop
      :nomatch -> byte_size(text)
    end
  end

  defp comment(text, at, size, spans, left) do
    ends = ends(binary_part(text, at, size))

    case :binary.match(text, ends, scope: {at + size, byte_size(text) - at - size}) do
      {stop, _size} -> holding(text, {at, size}, stop, ends, spans, left)
      :nomatch when ends == "\n" -> holding(text, {at, size}, byte_size(text), "", spans, left)
      :nomatch -> found(text, at + size, spans, left - 1)
    end
  end

  defp ends("<!--"), do: "-->"
  defp ends("/*"), do: "*/"
  defp ends(_line), do: "\n"

  defp holding(text, {at, size}, stop, ends, spans, left) do
    until = if ends in ["\n", ""], do: stop, else: stop + byte_size(ends)

    # An object that begins in a comment of one line and ends in another line is none of the comment.
    case text |> binary_part(at, stop - at) |> Parts.of() do
      {[_ | _], nil} -> found(text, until, [{at, until - at} | spans], left - 1)
      {_none, nil} -> found(text, until, spans, left - 1)
      {_some, _open} when ends in ["\n", ""] -> found(text, at + size, spans, left - 1)
      {_some, _open} -> found(text, until, [{at, until - at} | spans], left - 1)
    end
  end
end
