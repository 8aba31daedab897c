defmodule PtcRunner.Firewall.Outline do
  @moduledoc false
  # What an error shows of a term with firewalled fields: its keys, and not its values. A program that has asked for a value has taken
  # it out of there.

  alias PtcRunner.Firewall.Redacted
  alias PtcRunner.Json.Values
  alias PtcRunner.Shown
  alias PtcRunner.Shown.{Budget, Head}

  # Maximum number of parts that are looked at. A text shows fewer.
  @parts 20_000

  # Maximum number of the items of a list that are kept: `inspect/1` shows one less.
  @items 51

  @doc """
  The term, without values if a part of it stands under a firewalled key.

      iex> alias PtcRunner.{Firewall, Shown}
      iex> for term <- [[%{"id" => 7, "_pin" => 4711}], [%{"id" => 7, "at" => [1, nil]}]], do: Shown.text(Firewall.Outline.of(term))
      [~S([%{"_pin" => …, "id" => …}]), ~S([%{"at" => [1, nil], "id" => 7}])]

  """
  @spec of(term()) :: term()
  def of(term) when not (is_map(term) or is_list(term) or is_tuple(term)), do: term

  def of(term) do
    if hidden?(term), do: Budget.within(@parts, Shown.concealed(), &outline(term, &1)), else: term
  end

  # What lies beyond the parts that are looked at is not shown.
  defp hidden?(term) do
    budget = Budget.new(@parts)

    try do
      any?([term], budget)
    catch
      {Budget, ^budget} -> false
    end
  end

  defp any?([first | rest], left) do
    Budget.spend!(left)
    any?(first, left) or any?(rest, left)
  end

  defp any?({key, value}, left), do: Head.hidden?(key) or any?(key, left) or any?(value, left)
  defp any?(tuple, left) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> any?(left)

  defp any?(map, left) when is_map(map) do
    Budget.spend!(left, map_size(map))

    cond do
      Values.value?(map) or Values.unloaded?(map) -> false
      is_struct(map) and Redacted.names(map) != [] -> true
      true -> map |> Map.delete(:__meta__) |> :maps.to_list() |> any?(left)
    end
  end

  defp any?(_leaf, _left), do: false

  defp outline([_ | _] = list, left), do: items(list, @items, left)
  defp outline({key, value}, left) when is_atom(key), do: {key, outline(value, left)}

  defp outline(tuple, left) when is_tuple(tuple),
    do: tuple |> Tuple.to_list() |> items(@items, left) |> List.to_tuple()

  defp outline(%_{} = struct, left) do
    if not Values.value?(struct) and Head.plain?(struct),
      do: Map.merge(struct, struct |> Map.from_struct() |> fields(left)),
      else: Shown.concealed()
  end

  defp outline(map, left) when is_map(map), do: fields(map, left)
  defp outline(_leaf, _left), do: Shown.concealed()

  defp items([_ | _], 0, _left), do: [Shown.concealed()]

  defp items([first | rest], most, left) do
    Budget.spend!(left)
    [outline(first, left) | items(rest, most - 1, left)]
  end

  defp items([], _most, _left), do: []
  defp items(_tail, _most, _left), do: [Shown.concealed()]

  defp fields(map, left) do
    Budget.spend!(left, map_size(map))
    Map.new(map, fn {key, value} -> {key, outline(value, left)} end)
  end
end
