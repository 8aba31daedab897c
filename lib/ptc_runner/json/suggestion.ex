defmodule PtcRunner.Json.Suggestion do
  @moduledoc false
  # "Did you mean": finds the known name that is most similar to an unknown one. The similarity is the
  # standard Jaro formula, implemented natively because `String.jaro_distance/2` counts transpositions
  # differently in older Elixir versions.

  alias PtcRunner.{Native, Quanta}
  require Quanta

  @threshold 0.8

  # An unknown name with more than this number of bytes for each byte of the longest known name is not compared: a score
  # above the threshold needs a known name with more than a third of its letters.
  @bytes_per_byte 12

  @doc """
  The end of the message about an unknown operation: a suggestion, or an empty text.

      iex> PtcRunner.Json.Suggestion.hint("filtre", ["count", "filter"])
      ". Did you mean 'filter'?"

      iex> PtcRunner.Json.Suggestion.hint("open_file", ["count", "filter"])
      ""

  """
  @spec hint(String.t(), [String.t()]) :: String.t()
  def hint(unknown, names), do: sentence(unknown, names, &". Did you mean '#{&1}'?")

  @doc """
  What `say` makes of the most similar name, or an empty text.

      iex> PtcRunner.Json.Suggestion.sentence("fitler", ["count", "filter"], &(" Did you mean " <> &1))
      " Did you mean filter"

  """
  @spec sentence(String.t(), [String.t()], (String.t() -> String.t())) :: String.t()
  def sentence(unknown, names, say) do
    case closest(unknown, names) do
      {:ok, name} -> say.(name)
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
    longest = names |> Enum.map(&byte_size/1) |> Enum.max(fn -> 0 end)

    with true <- byte_size(unknown) <= @bytes_per_byte * longest,
         {name, score} when score > @threshold <- best(String.downcase(unknown), names, nil) do
      {:ok, name}
    else
      _no_suggestion -> :error
    end
  end

  @doc """
  The Jaro similarity of two names by their graphemes, from 0.0 (nothing in common) to 1.0 (equal).

      iex> PtcRunner.Json.Suggestion.similarity("lod", "load")
      0.9166666666666666

  """
  @spec similarity(String.t(), String.t()) :: float()
  def similarity(a, b) do
    {^b, similarity} = best(a, [b], nil)
    similarity
  end

  # One native call compares as many names as a slice allows.
  defp best(word, names, best) do
    case Quanta.run!(Native.nearest(word, names)) do
      {:ok, found, []} -> better(best, found)
      {:ok, found, rest} -> best(word, rest, better(best, found))
    end
  end

  defp better({_name, most} = best, {_found, score}) when score <= most, do: best
  defp better(best, nil), do: best
  defp better(_best, found), do: found
end
