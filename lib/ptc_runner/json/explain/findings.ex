defmodule PtcRunner.Json.Explain.Findings do
  @moduledoc false
  # Finds possible problems in an explanation.

  alias PtcRunner.Json.Explain
  alias PtcRunner.Json.Explain.About

  @filters ["filter", "reject", "filter_in"]

  @doc """
  The findings for operations, in the order of the program.
  """
  @spec of([Explain.operation()]) :: [Explain.finding()]
  def of(operations), do: Enum.flat_map(operations, &about/1)

  @doc """
  The findings for one operation.

      iex> operation = %{path: ["program"], op: "sum", items_in: 2, items_out: nil, ended: 1,
      ...>   keys: [%{key: "totl", looked: 2, found: 0}]}
      iex> PtcRunner.Json.Explain.Findings.about(operation)
      [%{kind: :key_not_found, path: ["program"], message: "none of 2 had totl"}]

  """
  @spec about(map()) :: [Explain.finding()]
  def about(operation),
    do: kept_nothing(operation) ++ Enum.flat_map(operation.keys, &key(operation, &1))

  defp kept_nothing(%{op: op, items_in: items, items_out: 0, ended: ended} = operation)
       when op in @filters and is_integer(items) and items > 0 and ended > 0 do
    count = PtcRunner.Json.Explain.Format.number(items)
    [%{kind: :kept_nothing, path: operation.path, message: "kept nothing of #{count}"}]
  end

  defp kept_nothing(_operation), do: []

  defp key(operation, %{key: key, looked: looked, found: 0}) when looked > 0 do
    count = PtcRunner.Json.Explain.Format.number(looked)
    [%{kind: :key_not_found, path: operation.path, message: "none of #{count} had #{shown(key)}"}]
  end

  defp key(_operation, _found), do: []

  defp shown(path) when is_list(path), do: Enum.map_join(path, ".", &About.name/1)
  defp shown(key), do: About.name(key)
end
