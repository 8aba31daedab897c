defmodule PtcRunner.Agent.Lisp.Fences do
  @moduledoc false
  # Where programs of PTC-Lisp stand in a text: in fences, and between brackets. Each line is read once.

  alias PtcRunner.Agent.Parts

  @languages ~w(clojure clj cljs cljc edn lisp ptc-lisp ptc_lisp ptclisp scheme)
  @opens ~r/\A[ \t]*(`{3,}|~{3,})[ \t]*([\w.+#-]*)[ \t]*(.*)\z/s
  @form ~r/\A\s*[(;]/

  @type fence :: %{text: String.t(), span: Parts.span(), closed?: boolean()}

  @doc """
  The fences of a text that have programs: those that name the language, or else those that name none, or another one, and begin like
  a program.

      iex> PtcRunner.Agent.Lisp.Fences.programs("```json\\n{}\\n```\\nand\\n```clj\\n(inc 1)\\n```")
      [%{text: "(inc 1)\\n", span: {26, 8}, closed?: true}]

      iex> PtcRunner.Agent.Lisp.Fences.programs("```\\n(inc 1")
      [%{text: "(inc 1", span: {4, 6}, closed?: false}]

  """
  @spec programs(String.t()) :: [fence()]
  def programs(text) do
    fences = text |> lines() |> outside(text, [])

    case Enum.filter(fences, &(String.downcase(&1.language) in @languages)) do
      [] -> Enum.filter(fences, &(&1.text =~ @form))
      named -> named
    end
    |> Enum.map(&Map.delete(&1, :language))
  end

  defp lines(text) do
    {lines, _end} =
      text
      |> String.split("\n")
      |> Enum.map_reduce(0, fn line, at -> {{at, line}, at + byte_size(line) + 1} end)

    lines
  end

  defp outside([], _text, fences), do: Enum.reverse(fences)

  defp outside([{at, line} | rest], text, fences) do
    # Without the blanks at its end, so that the expression need not try where they begin.
    case Regex.run(@opens, String.trim_trailing(line), return: :index) do
      [_all, {mark_at, size}, {language_at, language_size}, {more_at, more_size}] ->
        mark = binary_part(line, mark_at, size)
        language = binary_part(line, language_at, language_size)
        more = binary_part(line, more_at, more_size)

        cond do
          # All in one line.
          more != "" and String.ends_with?(more, mark) ->
            fence = fence(text, language, at + more_at, at + more_at + more_size - size, true)
            outside(rest, text, [fence | fences])

          String.starts_with?(more, "(") ->
            inside(rest, text, {mark, language, at + more_at}, fences)

          true ->
            inside(rest, text, {mark, language, at + byte_size(line) + 1}, fences)
        end

      nil ->
        outside(rest, text, fences)
    end
  end

  defp inside([], text, {_mark, language, from}, fences) do
    fence = fence(text, language, min(from, byte_size(text)), byte_size(text), false)
    Enum.reverse([fence | fences])
  end

  defp inside([{at, line} | rest], text, {mark, language, from} = open, fences) do
    trimmed = String.trim_trailing(line)

    if String.ends_with?(trimmed, mark) do
      # Models write the end of a fence behind the last bracket, too.
      to = at + byte_size(trimmed) - byte_size(mark)
      to = if String.trim(trimmed) == mark, do: at, else: to
      outside(rest, text, [fence(text, language, from, max(to, from), true) | fences])
    else
      inside(rest, text, open, fences)
    end
  end

  defp fence(text, language, from, to, closed?) do
    %{
      text: binary_part(text, from, to - from),
      span: {from, to - from},
      closed?: closed?,
      language: language
    }
  end

  @doc """
  What stands in a text from the first line that begins with a bracket to the last one that ends with one; nil if there is none.

      iex> PtcRunner.Agent.Lisp.Fences.form("So:\\n(+ 1\\n  2)\\nThat is all.")
      "(+ 1\\n  2)"

  """
  @spec form(String.t()) :: String.t() | nil
  def form(text) do
    lines = text |> String.split("\n") |> Enum.drop_while(&(not (&1 =~ ~r/\A\s*\(/)))

    case lines |> Enum.reverse() |> Enum.drop_while(&(not closes?(&1))) do
      [] -> if lines == [], do: nil, else: Enum.join(lines, "\n")
      lines -> lines |> Enum.reverse() |> Enum.join("\n")
    end
  end

  defp closes?(line), do: line |> String.trim_trailing() |> String.ends_with?(")")
end
