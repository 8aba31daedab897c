defmodule PtcRunner.Test.Places do
  @moduledoc """
  The paths inside a term of maps and lists. A path is the list of the keys and indices that
  lead to a part; structs and terms that are not maps or proper lists have no paths inside.
  """

  @type place :: [term()]

  @doc """
  The places of a term and of all terms in it, outermost first.

      iex> PtcRunner.Test.Places.all(%{"a" => [1, 2]})
      [[], ["a"], ["a", 0], ["a", 1]]
  """
  @spec all(term()) :: [place(), ...]
  def all(term), do: [[] | for({key, part} <- parts(term), place <- all(part), do: [key | place])]

  @doc """
  The term at a place.

      iex> PtcRunner.Test.Places.at(%{"a" => [1, 2]}, ["a", 1])
      2
  """
  @spec at(term(), place()) :: term()
  def at(term, []), do: term
  def at(map, [key | place]) when is_map(map), do: map |> Map.fetch!(key) |> at(place)
  def at(list, [index | place]), do: list |> Enum.fetch!(index) |> at(place)

  @doc """
  The term with another part at a place.

      iex> PtcRunner.Test.Places.put(%{"a" => [1, 2]}, ["a", 1], nil)
      %{"a" => [1, nil]}
  """
  @spec put(term(), place(), term()) :: term()
  def put(_term, [], new), do: new
  def put(map, [key | place], new) when is_map(map), do: %{map | key => put(map[key], place, new)}
  def put(list, [index | place], new), do: List.update_at(list, index, &put(&1, place, new))

  @doc """
  The term without the part at a place (the whole term becomes an empty map).

      iex> PtcRunner.Test.Places.delete(%{"a" => [1, 2]}, ["a", 0])
      %{"a" => [2]}
  """
  @spec delete(term(), place()) :: term()
  def delete(_term, []), do: %{}
  def delete(map, [key]) when is_map(map), do: Map.delete(map, key)
  def delete(list, [index]), do: List.delete_at(list, index)
  def delete(term, [key | place]), do: put(term, [key], term |> at([key]) |> delete(place))

  defp parts(map) when is_map(map) and not is_struct(map), do: Map.to_list(map)

  defp parts([_ | _] = list) do
    if List.improper?(list),
      do: [],
      else: list |> Enum.with_index() |> Enum.map(&{elem(&1, 1), elem(&1, 0)})
  end

  defp parts(_term), do: []
end
