defmodule PtcRunner.SubAgent.JsonRepair.Lost do
  @moduledoc false
  # Repairs that leave out, or put into a text, what has a meaning of its own: a part that says that items are missing, an operator, what
  # stands behind a value. An answer is not read with them, because it would say something else.

  alias PtcRunner.Shown

  @shown 40
  @left_out ["...", "…"]
  @values [:bare_word, :number_as_text, :missing_start_quote]
  @structure [",", ":", "{", "}", "[", "]"]

  @typep repair ::
           {kind :: atom(), start :: non_neg_integer(), stop :: non_neg_integer(),
            line :: pos_integer(), column :: pos_integer(), path :: list()}

  @doc """
  The errors of a text that is read with these repairs, which are those of the native side, with offsets in the text.

      iex> alias PtcRunner.SubAgent.JsonRepair.Lost
      iex> [error] = Lost.errors([{:ellipsis, 4, 7, 1, 5, [1]}], "[1, ...]")
      iex> error
      %{path: [], message: "line 1, column 5: ... says that something is left out: write the whole value"}

      iex> alias PtcRunner.SubAgent.JsonRepair.Lost
      iex> for text <- ["[...]", "[a..]"], do: length(Lost.errors([{:bare_word, 1, 4, 1, 2, [0]}], text))
      [1, 0]

      iex> alias PtcRunner.SubAgent.JsonRepair.Lost
      iex> bold = [{:stray_character, 1, 3, 1, 2, [0]}, {:stray_character, 4, 6, 1, 5, [0]}]
      iex> {Lost.errors(bold, "[**5**]"), length(Lost.errors(tl(bold), "[5  ** 2]"))}
      {[], 1}

      iex> alias PtcRunner.SubAgent.JsonRepair.Lost
      iex> kilos = [{:missing_comma, 2, 2, 1, 3, [0]}, {:bare_word, 3, 5, 1, 4, [1]}]
      iex> for text <- ["[5 kg]", "[5\\nkg]"], do: length(Lost.errors(kilos, text))
      [1, 0]

      iex> alias PtcRunner.SubAgent.JsonRepair.Lost
      iex> quotes = &[{:inner_quote, &1, &1 + 1, 1, 1, []}, {:inner_quote, &2, &2 + 1, 1, 1, []}]
      iex> {Lost.errors(quotes.(3, 5), ~s(["a "b" c"])), length(Lost.errors(quotes.(3, 7), ~s(["a"k, "b"])))}
      {[], 1}

  """
  @spec errors([repair()], String.t()) :: [%{path: list(), message: String.t()}]
  def errors(repairs, text) do
    stars = Enum.filter(repairs, &star?(&1, text))

    left_out(repairs, text) ++
      powers(stars, text) ++
      beside(repairs, text) ++
      joined(repairs, text)
  end

  defp left_out(repairs, text) do
    for {kind, _, _, _, _, _} = repair <- repairs,
        kind == :ellipsis or (kind == :bare_word and part(repair, text) in @left_out),
        do:
          error(
            repair,
            "#{part(repair, text)} says that something is left out: write the whole value"
          )
  end

  # Two asterisks around a value or a key are Markdown; others are an operator.
  defp star?({:stray_character, start, _stop, _line, _column, _path}, text),
    do: :binary.at(text, start) == ?*

  defp star?(_repair, _text), do: false

  defp powers([{_, start, stop, _, _, _}, {_, from, until, _, _, _} | rest] = [first | _], text) do
    opens? = not word?(byte(text, start - 1)) and not blank?(byte(text, stop))
    closes? = not blank?(byte(text, from - 1)) and not word?(byte(text, until))
    if opens? and closes?, do: powers(rest, text), else: [operator(first, text)]
  end

  defp powers([one], text), do: [operator(one, text)]
  defp powers([], _text), do: []

  defp operator(repair, text),
    do: error(repair, "#{part(repair, text)} is an operator: write the value that it gives")

  # What stands behind a value in its line, or behind a key without a colon, is a part of it, such as its unit.
  defp beside([{:missing_comma, at, _, _, _, _}, {kind, start, _, _, _, _} = next | rest], text)
       when kind in @values and start >= at do
    if text |> binary_part(at, start - at) |> String.contains?("\n"),
      do: beside([next | rest], text),
      else: [error(next, "#{part(next, text)} stands behind a value: write the value alone")]
  end

  defp beside(
         [{:missing_colon, at, _, _, _, _}, {:bare_word, start, _, _, _, _} = next | rest],
         text
       )
       when start >= at do
    part = part(next, text)

    if String.contains?(part, ":") or not word?(byte(text, start)),
      do: [error(next, "#{part} stands behind a key: write the key, a colon and its value")],
      else: beside(rest, text)
  end

  defp beside([_repair | rest], text), do: beside(rest, text)
  defp beside([], _text), do: []

  # Of two quotes in a text the first one begins something and the second one ends it; otherwise they are the end of one text and the
  # beginning of another one.
  defp joined(repairs, text) do
    inner = for {:inner_quote, _, _, _, _, path} = repair <- repairs, do: {path, repair}

    for [{_path, first}, {_same, second} | _] <- Enum.chunk_by(inner, &elem(&1, 0)),
        between?(elem(first, 1), elem(second, 1), text),
        do: error(first, "it is not clear which quotes end a text: escape those inside of texts")
  end

  defp between?(first, second, text) do
    between = binary_part(text, first + 1, max(second - first - 1, 0))
    ends? = not blank?(byte(text, first - 1)) and not word?(byte(text, first + 1))
    begins? = not word?(byte(text, second - 1)) and word?(byte(text, second + 1))
    blank? = blank?(byte(text, second - 1)) or byte(text, second - 1) in ~c",:{["
    (begins? and blank?) or (ends? and String.contains?(between, @structure))
  end

  defp error({_kind, _start, _stop, line, column, _path}, message),
    do: %{path: [], message: "line #{line}, column #{column}: #{message}"}

  defp part({_kind, start, stop, _line, _column, _path}, text),
    do: text |> binary_part(start, stop - start) |> Shown.cut(@shown)

  defp byte(text, at) when at >= 0 and at < byte_size(text), do: :binary.at(text, at)
  defp byte(_text, _at), do: ?\s

  defp blank?(byte), do: byte in ~c" \t\r\n"

  defp word?(byte), do: byte in ?0..?9 or byte in ?a..?z or byte in ?A..?Z or byte >= 128
end
