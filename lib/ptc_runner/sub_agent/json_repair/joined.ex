defmodule PtcRunner.SubAgent.JsonRepair.Joined do
  @moduledoc false
  # Words or an operator beside a text in quotes, as in `not "a"` and `"a" + "b"`, have a meaning that JSON cannot have: a reading that
  # makes one text of them is none. And a reading that makes several texts of one is none.

  # A quote that ends a text, and one that begins one.
  @ends ~r/[^\s"]"(?:\s|[^\w\s"])/
  @begins ~r/(?:\s|[^\w\s"])"[^\s"]/

  @doc """
  Whether a repair has read several parts as one text. The repairs are those of the native side, with offsets in the text.

      iex> alias PtcRunner.SubAgent.JsonRepair.Joined
      iex> text = ~s({"a": not "x"})
      iex> Joined.any?([{:missing_start_quote, 6, 12, 1, 7, ["a"]}], text)
      true

      iex> alias PtcRunner.SubAgent.JsonRepair.Joined
      iex> sum = ~s({"a": "x" + "y"})
      iex> quoted = ~s({"a": "x "y" z"})
      iex> for {text, from, to} <- [{sum, 8, 12}, {quoted, 9, 11}] do
      ...>   Joined.any?([{:inner_quote, from, from + 1, 1, 9, ["a"]}, {:inner_quote, to, to + 1, 1, 13, ["a"]}], text)
      ...> end
      [true, false]

  """
  @spec any?([tuple()], String.t()) :: boolean()
  def any?(repairs, text), do: words?(repairs, text) or expression?(repairs, text)

  @doc """
  Whether a repair has read a number that follows a quote at once as another text. The quote may as well be one of the text.

      iex> text = ~s(["Total: "12," of which 3"])
      iex> repairs = [{:missing_comma, 10, 10, 1, 11, [0]}, {:number_as_text, 10, 12, 1, 11, [1]}]
      iex> PtcRunner.SubAgent.JsonRepair.Joined.divided?(repairs, text)
      true

  """
  @spec divided?([tuple()], String.t()) :: boolean()
  def divided?(repairs, text) do
    numbers = for {:number_as_text, at, _stop, _line, _column, _path} <- repairs, do: at

    numbers != [] and
      Enum.any?(repairs, fn
        {:missing_comma, at, at, _line, _column, _path} when at > 0 ->
          :binary.at(text, at - 1) == ?" and at in numbers

        _other ->
          false
      end)
  end

  # The quote that was not added to a text is its end: there is no other one.
  defp words?(repairs, text) do
    Enum.any?(repairs, fn
      {:missing_start_quote, start, stop, _line, _column, _path} ->
        text |> binary_part(start, stop - start) |> String.contains?("\"")

      # A bracket that the text has opened and not closed is one of the JSON.
      {:bare_word, start, stop, _line, _column, _path} ->
        part = binary_part(text, start, stop - start)
        count(part, "{") != count(part, "}") or count(part, "[") != count(part, "]")

      _other ->
        false
    end)
  end

  defp count(text, bracket), do: text |> :binary.matches(bracket) |> length()

  # Quotes inside of a text stand around a word: the first one begins something, and the second one ends it.
  defp expression?(repairs, text) do
    inner = for {:inner_quote, at, _stop, _line, _column, path} <- repairs, do: {path, at}

    inner
    |> Enum.chunk_by(&elem(&1, 0))
    |> Enum.any?(fn
      [{_path, first}, {_same, second} | _] ->
        around(text, first) =~ @ends and around(text, second) =~ @begins

      _one ->
        false
    end)
  end

  defp around(text, at) when at > 0 and at + 1 < byte_size(text), do: binary_part(text, at - 1, 3)
  defp around(_text, _at), do: ""
end
