defmodule PtcRunner.SubAgent.JsonRepair.Twins do
  @moduledoc false
  # Keys of one object that differ in hyphens and underscores only. They become one key of an answer, so one of their values would be lost.

  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature.Firewall

  @doc """
  An error for each object, at any depth, with such keys whose values differ.

      iex> alias PtcRunner.SubAgent.JsonRepair.Twins
      iex> Twins.clashes(%{"rows" => [%{"a-b" => 1, "a_b" => 1}, %{"a-b" => 1, "a_b" => 2}]})
      [%{path: ["rows", 1], message: ~s("a-b" and "a_b" are one field, and their values differ: write one of them)}]

  """
  @spec clashes(term()) :: [%{path: list(), message: String.t()}]
  def clashes(value), do: value |> walk([], []) |> Enum.reverse()

  defp walk(map, path, found) when is_map(map) and not is_struct(map) do
    found =
      case for {key, _value} <- map, :binary.match(key, "-") != :nomatch, do: key do
        [] -> found
        hyphened -> map |> differing(hyphened) |> Enum.reduce(found, &[clash(&1, path) | &2])
      end

    Enum.reduce(map, found, fn
      {key, value}, found when is_map(value) or is_list(value) ->
        walk(value, [String.replace(key, "-", "_") | path], found)

      _scalar, found ->
        found
    end)
  end

  defp walk([_ | _] = list, path, found), do: items(list, 0, path, found)
  defp walk(_scalar, _path, found), do: found

  defp items([value | rest], index, path, found) when is_map(value) or is_list(value),
    do: items(rest, index + 1, path, walk(value, [index | path], found))

  defp items([_scalar | rest], index, path, found), do: items(rest, index + 1, path, found)
  defp items([], _index, _path, found), do: found

  # The keys that become one, of each name that has several values.
  defp differing(map, hyphened) do
    for {plain, keys} <- Enum.group_by(hyphened, &String.replace(&1, "-", "_")),
        keys = if(is_map_key(map, plain), do: [plain | keys], else: keys),
        [_, _ | _] <- [keys |> Enum.map(&Map.fetch!(map, &1)) |> Enum.uniq()],
        do: Enum.sort(keys)
  end

  @doc false
  # What is told of keys that are one field. Keys inside a firewalled field are not shown.
  @spec told([String.t()], list()) :: %{path: list(), message: String.t()}
  def told(keys, path) do
    names =
      if Enum.any?(path, &Firewall.hidden?/1),
        do: "Several keys",
        else: Enum.map_join(keys, " and ", &(&1 |> Shown.name() |> inspect()))

    %{path: path, message: names <> " are one field, and their values differ: write one of them"}
  end

  defp clash(keys, path), do: told(keys, Enum.reverse(path))
end
