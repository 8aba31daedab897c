defmodule PtcRunner.SubAgent.Signature.Schema.Pattern do
  @moduledoc false
  # Patterns in a JSON Schema. A rule's pattern has the syntax of Rust's `regex`; the one of a schema is read as one of
  # ECMAScript, with its flag `u`. What both write differently is rewritten; what has no other form is no keyword.
  #
  # There are three kinds: `:unicode` is all of ECMAScript, `:portable` has no properties of characters, and `:simple` has
  # neither word boundaries nor named groups, lazy repetitions, codes of characters and counts above 64.

  @type kind :: :unicode | :portable | :simple | :none

  # Classes and signs that are written in the same way. `\\d`, `\\w`, `\\s` are of ASCII in ECMAScript.
  @same ~c"dDwWsStnrfv"
  @syntax ~c"^$\\.*+?()[]{}|/"
  @category ~r/\A\{(?:L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?)\}/
  @count ~r/\A([0-9]+)(?:,([0-9]*))?\}/

  # Greatest count of a repetition in a simple pattern.
  @most 64

  @doc """
  The pattern as it is written in a schema.

      iex> alias PtcRunner.SubAgent.Signature.Schema.Pattern
      iex> Enum.map(["^[A-Z]{2}-[0-9]+$", "(?i)abc", "\\\\A\\\\x{e9}\\\\z", "[[:alpha:]]"], &Pattern.written(:portable, &1))
      [{:ok, "^[A-Z]{2}-[0-9]+$"}, :error, {:ok, "^\\\\u00E9$"}, :error]

      iex> alias PtcRunner.SubAgent.Signature.Schema.Pattern
      iex> for kind <- [:unicode, :portable, :simple], do: Pattern.written(kind, "\\\\bword\\\\b")
      [{:ok, "\\\\bword\\\\b"}, {:ok, "\\\\bword\\\\b"}, :error]

  """
  @spec written(kind(), String.t()) :: {:ok, String.t()} | :error
  def written(:none, _pattern), do: :error
  def written(kind, pattern), do: outside(pattern, kind, :nothing, [])

  # What stands before: nothing that can be repeated, something that can, a repetition, or a lazy one.
  defp outside("", _kind, _before, done),
    do: {:ok, done |> Enum.reverse() |> IO.iodata_to_binary()}

  # As the reader of schemas writes the boundary of ASCII.
  defp outside("(?-u:\\b)" <> rest, kind, _before, done) when kind != :simple,
    do: outside(rest, kind, :nothing, ["\\b" | done])

  defp outside("(?:" <> rest, kind, _before, done),
    do: outside(rest, kind, :nothing, ["(?:" | done])

  defp outside("(?P<" <> rest, kind, _before, done) when kind != :simple,
    do: outside(rest, kind, :nothing, ["(?<" | done])

  defp outside("(?<" <> rest, kind, _before, done) when kind != :simple,
    do: outside(rest, kind, :nothing, ["(?<" | done])

  defp outside("(?" <> _rest, _kind, _before, _done), do: :error

  defp outside("[" <> rest, kind, _before, done) do
    {start, rest} =
      if match?("^" <> _, rest), do: {"[^", after_text(rest, "^")}, else: {"[", rest}

    # A bracket that is the first character of a class is read in different ways.
    if match?("]" <> _, rest), do: :error, else: inside(rest, kind, [start | done])
  end

  defp outside("{" <> rest, kind, :something, done) do
    with [all | counts] <- Regex.run(@count, rest), true <- counts?(counts, kind) do
      rest |> after_text(all) |> outside(kind, :repeated, [all, "{" | done])
    else
      _no -> :error
    end
  end

  defp outside(<<char, rest::binary>>, kind, :something, done) when char in ~c"*+?",
    do: outside(rest, kind, :repeated, [char | done])

  defp outside("?" <> rest, kind, :repeated, done) when kind != :simple,
    do: outside(rest, kind, :lazy, ["?" | done])

  defp outside(<<char, _rest::binary>>, _kind, _before, _done) when char in ~c"{}]*+?",
    do: :error

  defp outside(<<char, rest::binary>>, kind, _before, done) when char in ~c"(|^$",
    do: outside(rest, kind, :nothing, [char | done])

  defp outside(")" <> rest, kind, _before, done),
    do: outside(rest, kind, :something, [")" | done])

  defp outside("\\A" <> rest, kind, _before, done),
    do: outside(rest, kind, :nothing, ["^" | done])

  defp outside("\\z" <> rest, kind, _before, done),
    do: outside(rest, kind, :nothing, ["$" | done])

  defp outside(<<?\\, char, next, _rest::binary>>, _kind, _before, _done)
       when char == ?b and next == ?{,
       do: :error

  defp outside(<<?\\, char, rest::binary>>, kind, _before, done)
       when char in ~c"bB" and kind != :simple,
       do: outside(rest, kind, :nothing, [<<?\\, char>> | done])

  defp outside("\\" <> rest, kind, _before, done) do
    with {:ok, text, rest} <- escape(rest, kind, @syntax),
         do: outside(rest, kind, :something, [text | done])
  end

  defp outside(<<char::utf8, rest::binary>>, kind, _before, done),
    do: outside(rest, kind, :something, [<<char::utf8>> | done])

  defp outside(_no_utf8, _kind, _before, _done), do: :error

  defp inside("]" <> rest, kind, done), do: outside(rest, kind, :something, ["]" | done])

  # Classes in classes, and their differences.
  defp inside("[" <> _rest, _kind, _done), do: :error
  defp inside(<<char, char, _rest::binary>>, _kind, _done) when char in ~c"&-~", do: :error

  defp inside("\\" <> rest, kind, done) do
    with {:ok, text, rest} <- escape(rest, kind, [?- | @syntax]),
         do: inside(rest, kind, [text | done])
  end

  defp inside(<<char::utf8, rest::binary>>, kind, done),
    do: inside(rest, kind, [<<char::utf8>> | done])

  defp inside(_rest, _kind, _done), do: :error

  # What follows a backslash. Of the other punctuation ECMAScript takes no escape.
  defp escape(<<char, rest::binary>>, _kind, _syntax) when char in @same,
    do: {:ok, <<?\\, char>>, rest}

  defp escape(<<char, rest::binary>>, _kind, syntax)
       when char in ?!..?/ or char in ?:..?@ or char in ?[..?` or char in ?{..?~,
       do: {:ok, if(char in syntax, do: <<?\\, char>>, else: <<char>>), rest}

  defp escape(<<char, rest::binary>>, :unicode, _syntax) when char in ~c"pP" do
    case Regex.run(@category, rest) do
      [category] -> {:ok, [?\\, char, category], after_text(rest, category)}
      nil -> :error
    end
  end

  defp escape(<<char, rest::binary>>, kind, _syntax) when char in ~c"xu" and kind != :simple do
    digits = if char == ?x, do: 2, else: 4

    with [all | found] <-
           Regex.run(~r/\A(?:\{([0-9A-Fa-f]{1,4})\}|([0-9A-Fa-f]{#{digits}}))/, rest),
         code = found |> Enum.join() |> String.pad_leading(4, "0") |> String.upcase() do
      {:ok, "\\u" <> code, after_text(rest, all)}
    else
      nil -> :error
    end
  end

  defp escape(_other, _kind, _syntax), do: :error

  defp counts?(_counts, kind) when kind != :simple, do: true

  defp counts?(counts, :simple),
    do: Enum.all?(counts, &(byte_size(&1) < 3 and (&1 == "" or String.to_integer(&1) <= @most)))

  defp after_text(text, start),
    do: binary_part(text, byte_size(start), byte_size(text) - byte_size(start))
end
