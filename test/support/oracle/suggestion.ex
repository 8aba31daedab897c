defmodule PtcRunner.Test.Oracle.Suggestion do
  @moduledoc false
  # "Did you mean": the operation most similar to a misspelled name, by Jaro similarity.

  @threshold 0.8

  @doc "The text to append to `Unknown operation '<name>'`, often empty."
  @spec text(String.t(), [String.t()]) :: String.t()
  def text(name, known_names) do
    wanted = String.downcase(name)

    # `max_by` keeps the first of several best ones.
    best = known_names |> Enum.sort() |> Enum.max_by(&similarity(wanted, &1))

    if similarity(wanted, best) > @threshold, do: ". Did you mean '#{best}'?", else: ""
  end

  @doc "The Jaro similarity of two strings, by graphemes, from 0.0 to 1.0."
  @spec similarity(String.t(), String.t()) :: float()
  def similarity(same, same), do: 1.0

  def similarity(a, b) do
    {a, b} = {String.graphemes(a), String.graphemes(b)}
    {la, lb} = {length(a), length(b)}
    window = max(div(max(la, lb), 2) - 1, 0)

    pairs = matching_pairs(a, b, window)
    score(length(pairs), transpositions(pairs, a, b), la, lb)
  end

  # `a` is read left to right; each grapheme takes the first free equal one inside its window.
  defp matching_pairs(a, b, window) do
    a
    |> Enum.with_index()
    |> Enum.reduce([], fn {grapheme, i}, pairs ->
      taken = Enum.map(pairs, &elem(&1, 1))

      found =
        b
        |> Enum.with_index()
        |> Enum.find(fn {other, j} ->
          other == grapheme and abs(i - j) <= window and j not in taken
        end)

      if found, do: [{i, elem(found, 1)} | pairs], else: pairs
    end)
    |> Enum.reverse()
  end

  defp transpositions(pairs, a, b) do
    matched_of_a = for {i, _} <- pairs, do: Enum.fetch!(a, i)
    matched_of_b = for j <- pairs |> Enum.map(&elem(&1, 1)) |> Enum.sort(), do: Enum.fetch!(b, j)

    matched_of_a |> Enum.zip(matched_of_b) |> Enum.count(fn {x, y} -> x != y end)
  end

  defp score(0, _t, _la, _lb), do: 0.0
  defp score(m, t, la, lb), do: (m / la + m / lb + (m - t / 2) / m) / 3
end
