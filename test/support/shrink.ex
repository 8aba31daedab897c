defmodule PtcRunner.Test.Shrink do
  @moduledoc """
  Makes a failing term smaller while it keeps failing: removes parts, or replaces them
  by one of their own parts or by nil.
  """

  alias PtcRunner.Test.Places

  @doc """
  The smallest term found for which `fails?` is true, as it must be for `term`.

      iex> PtcRunner.Test.Shrink.shrink(%{"a" => [1, %{"b" => 77}], "c" => 3}, fn term ->
      ...>   is_map(term) and inspect(term) =~ "77"
      ...> end)
      %{"b" => 77}
  """
  @spec shrink(term(), (term() -> boolean())) :: term()
  def shrink(term, fails?) do
    size = size(term)

    case Enum.find(smaller(term), &(size(&1) < size and fails?.(&1))) do
      nil -> term
      smaller -> shrink(smaller, fails?)
    end
  end

  # Lazy, the largest steps first.
  defp smaller(term) do
    places = Places.all(term)

    Stream.concat([
      for(place <- places, place != [], do: Places.delete(term, place)),
      Stream.flat_map(places, &hoisted(term, &1)),
      Stream.map(places, &Places.put(term, &1, nil))
    ])
  end

  defp hoisted(term, place) do
    part = Places.at(term, place)

    part
    |> Places.all()
    |> tl()
    |> Stream.map(&Places.put(term, place, Places.at(part, &1)))
  end

  defp size(term),
    do: term |> inspect(limit: :infinity, printable_limit: :infinity) |> byte_size()
end
