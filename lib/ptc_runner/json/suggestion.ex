defmodule PtcRunner.Json.Suggestion do
  @moduledoc false
  # "Did you mean": finds the known name that is most similar to an unknown one. The similarity is the
  # standard Jaro formula, implemented natively because `String.jaro_distance/2` counts transpositions
  # differently in older Elixir versions.

  alias PtcRunner.{Native, Quanta}
  require Quanta

  @threshold 0.8

  # A grapheme may have any number of bytes. An unknown name with more than this number of bytes for each
  # grapheme of the longest known name is not compared: four bytes for each grapheme that would be compared.
  @bytes_per_byte 12

  @typedoc "A name, and its letters if they are known."
  @type known :: String.t() | {String.t(), [String.grapheme()]}

  @doc """
  The end of the message about an unknown operation: a suggestion, or an empty text.

      iex> PtcRunner.Json.Suggestion.hint("filtre", ["count", "filter"])
      ". Did you mean 'filter'?"

      iex> PtcRunner.Json.Suggestion.hint("open_file", ["count", "filter"])
      ""

  """
  @spec hint(String.t(), [known()]) :: String.t()
  def hint(unknown, names), do: sentence(unknown, names, &". Did you mean '#{&1}'?")

  @doc """
  What `say` makes of the most similar name, or an empty text.

      iex> PtcRunner.Json.Suggestion.sentence("fitler", ["count", "filter"], &(" Did you mean " <> &1))
      " Did you mean filter"

  """
  @spec sentence(String.t(), [known()], (String.t() -> String.t())) :: String.t()
  def sentence(unknown, names, say) do
    case closest(unknown, names) do
      {:ok, name} -> say.(name)
      :error -> ""
    end
  end

  @doc """
  The most similar of `names`, which must be in ascending order; the first of equally similar ones. A name may come with its
  letters.

      iex> PtcRunner.Json.Suggestion.closest("SELECT", ["load", "select"])
      {:ok, "select"}

      iex> PtcRunner.Json.Suggestion.closest("x", ["load", "select"])
      :error

  """
  @spec closest(String.t(), [known()]) :: {:ok, String.t()} | :error
  def closest(unknown, names) do
    names = Enum.map(names, &lettered/1)

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

  defp lettered({_name, _letters} = lettered), do: lettered
  defp lettered(name), do: {name, String.graphemes(name)}

  @doc """
  The Jaro similarity of two lists of graphemes, from 0.0 (nothing in common) to 1.0 (equal).

      iex> PtcRunner.Json.Suggestion.similarity(["l", "o", "d"], ["l", "o", "a", "d"])
      0.9166666666666666

  """
  @spec similarity([String.grapheme()], [String.grapheme()]) :: float()
  def similarity(a, b) do
    {:ok, similarity} = Quanta.run(Native.similarity(a, b))
    similarity
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
