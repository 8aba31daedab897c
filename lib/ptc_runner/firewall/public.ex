defmodule PtcRunner.Firewall.Public do
  @moduledoc false
  # The public part of a term: without the values of firewalled keys in maps, structs and keyword lists.
  #
  # For texts that are not made with `inspect/1`; `PtcRunner.Shown` does the same for those that are.

  alias PtcRunner.Firewall.Redacted
  alias PtcRunner.Shown.{Budget, Head}

  @concealed "…"

  @doc """
  The public part, or `:too_large` if the term has more than `parts` parts.

  Firewalled entries of maps are left out. Of a pair, as keyword lists have them, the value becomes `"…"`. A struct
  that is not wholly public becomes the map of its public fields.

      iex> PtcRunner.Firewall.Public.part(%{"id" => 1, "_pin" => 2, "at" => ~D[2026-05-03]}, 100)
      {:ok, %{"id" => 1, "at" => ~D[2026-05-03]}}

      iex> PtcRunner.Firewall.Public.part([id: 1, _pin: 2], 100)
      {:ok, [id: 1, _pin: "…"]}

      iex> PtcRunner.Firewall.Public.part(Enum.to_list(1..100), 99)
      :too_large

  """
  @spec part(term(), pos_integer()) :: {:ok, term()} | :too_large
  def part(term, parts), do: Budget.within(parts, :too_large, &{:ok, public(term, &1)})

  defp public([_ | _] = list, left), do: list(list, left)

  defp public({key, value}, left) do
    Budget.spend!(left, 2)
    value = if Head.hidden?(key), do: @concealed, else: public(value, left)
    {public(key, left), value}
  end

  defp public(tuple, left) when is_tuple(tuple) do
    Budget.spend!(left, tuple_size(tuple))
    tuple |> Tuple.to_list() |> Enum.map(&public(&1, left)) |> List.to_tuple()
  end

  defp public(%MapSet{} = set, left) do
    Budget.spend!(left, MapSet.size(set))
    list = MapSet.to_list(set)
    public = Enum.map(list, &public(&1, left))
    if public === list, do: set, else: public
  end

  # Programs read an association that is not loaded as null.
  defp public(%{__struct__: Ecto.Association.NotLoaded}, _left), do: nil

  defp public(%module{} = struct, left) when is_atom(module) do
    fields = Map.from_struct(struct)
    public = fields |> Redacted.without(struct) |> map(left)
    if public === fields, do: struct, else: public
  end

  defp public(map, left) when is_map(map), do: map(map, left)
  defp public(leaf, _left), do: leaf

  defp list([first | rest], left) do
    Budget.spend!(left, 1)
    [public(first, left) | list(rest, left)]
  end

  defp list([], _left), do: []
  defp list(tail, left), do: public(tail, left)

  defp map(map, left) do
    Budget.spend!(left, map_size(map))

    for {key, value} <- map, not Head.hidden?(key), into: %{} do
      {public(key, left), public(value, left)}
    end
  end
end
