defmodule PtcRunner.Json.Suggestion do
  @moduledoc false
  # "Did you mean": finds the known name that is most similar to an unknown one. The similarity is the
  # standard Jaro formula, implemented here because `String.jaro_distance/2` counts transpositions
  # differently in older Elixir versions.

  @threshold 0.8

  # A grapheme may have any number of bytes. An unknown name with more than this number of bytes for each
  # grapheme of the longest known name is not compared: four bytes for each grapheme that would be compared.
  @bytes_per_byte 12

  @doc """
  The end of the message about an unknown operation: a suggestion, or an empty text.

      iex> PtcRunner.Json.Suggestion.hint("filtre", ["count", "filter"])
      ". Did you mean 'filter'?"

      iex> PtcRunner.Json.Suggestion.hint("open_file", ["count", "filter"])
      ""

  """
  @spec hint(String.t(), [String.t()]) :: String.t()
  def hint(unknown, names) do
    case closest(unknown, names) do
      {:ok, name} -> ". Did you mean '#{name}'?"
      :error -> ""
    end
  end

  @doc """
  The most similar of `names`, which must be in ascending order; the first of equally similar ones.

      iex> PtcRunner.Json.Suggestion.closest("SELECT", ["load", "select"])
      {:ok, "select"}

      iex> PtcRunner.Json.Suggestion.closest("x", ["load", "select"])
      :error

  """
  @spec closest(String.t(), [String.t()]) :: {:ok, String.t()} | :error
  def closest(unknown, names) do
    names = Enum.map(names, &{&1, String.graphemes(&1)})

    longest =
      names |> Enum.map(fn {_name, letters} -> length(letters) end) |> Enum.max(fn -> 0 end)

    # If a known name has at most a third of the unknown name's length, the score cannot exceed 7/9. So a
    # longer unknown name is rejected after a few letters.
    with true <- byte_size(unknown) <= @bytes_per_byte * longest,
         true <- at_most?(unknown, 3 * longest),
         letters = unknown |> String.downcase() |> String.graphemes(),
         {name, score} when score > @threshold <- best(letters, names) do
      {:ok, name}
    else
      _no_suggestion -> :error
    end
  end

  @doc """
  The Jaro similarity of two lists of graphemes, from 0.0 (nothing in common) to 1.0 (equal).

      iex> PtcRunner.Json.Suggestion.similarity(["l", "o", "d"], ["l", "o", "a", "d"])
      0.9166666666666666

  """
  @spec similarity([String.grapheme()], [String.grapheme()]) :: float()
  def similarity(letters, letters), do: if(letters == [], do: 0.0, else: 1.0)

  def similarity(a, b) do
    {size_a, size_b} = {length(a), length(b)}
    window = max(div(max(size_a, size_b), 2) - 1, 0)
    {matched_a, used} = matches(a, Enum.with_index(b), window)

    case length(matched_a) do
      0 ->
        0.0

      m ->
        matched_b = used |> Enum.sort() |> Enum.map(fn {_index, letter} -> letter end)
        t = matched_a |> Enum.zip(matched_b) |> Enum.count(fn {x, y} -> x != y end)
        (m / size_a + m / size_b + (m - t / 2) / m) / 3
    end
  end

  # Matches each letter of `a`, from the left, with the first equal letter of `b` that is still free and
  # inside the window. Returns the matched letters of `a` and, with their indices, of `b`.
  defp matches(a, free, window) do
    {matched, used, _free, _index} =
      Enum.reduce(a, {[], [], free, 0}, fn letter, {matched, used, free, index} ->
        case Enum.find(free, fn {x, at} -> x == letter and abs(at - index) <= window end) do
          nil ->
            {matched, used, free, index + 1}

          {_letter, at} = taken ->
            {[letter | matched], [{at, letter} | used], List.delete(free, taken), index + 1}
        end
      end)

    {Enum.reverse(matched), used}
  end

  defp best(letters, names) do
    names
    |> Enum.map(fn {name, name_letters} -> {name, similarity(letters, name_letters)} end)
    |> Enum.max_by(fn {_name, score} -> score end, fn -> {nil, 0.0} end)
  end

  defp at_most?(_text, left) when left < 0, do: false

  defp at_most?(text, left) do
    case String.next_grapheme(text) do
      {_letter, rest} -> at_most?(rest, left - 1)
      nil -> true
    end
  end
end
