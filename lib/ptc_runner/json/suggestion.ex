defmodule PtcRunner.Json.Suggestion do
  @moduledoc false
  # "Did you mean": the known name that is most similar to an unknown one. The similarity is the
  # textbook Jaro formula, written out here because `String.jaro_distance/2` counts transpositions
  # differently in older Elixir versions.

  @threshold 0.8

  # A grapheme may have any number of bytes. Names of more than so many, for each byte of the longest known
  # name, are not looked at: that is four bytes for each of the graphemes that are compared.
  @bytes_per_byte 12

  @doc """
  The end of the message about an unknown operation: a suggestion, or nothing.

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
  The most similar of `names`, which stand in ascending order: of equally similar ones the first.

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

    # Against a name of a third of its length or less, the score cannot exceed 7/9: an unknown
    # name of any size costs no more than a few letters.
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

  # Each letter of `a`, from the left, takes the first equal letter of `b` that is still free and
  # stands inside the window. Gives the matched letters of `a` and, with their places, of `b`.
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
