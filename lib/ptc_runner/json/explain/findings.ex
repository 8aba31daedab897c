defmodule PtcRunner.Json.Explain.Findings do
  @moduledoc false
  # Finds possible problems in an explanation.

  alias PtcRunner.Json.Explain
  alias PtcRunner.Json.Explain.{About, Format}

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
    do: filter(operation) ++ Enum.flat_map(operation.keys, &key(operation, &1))

  defp filter(%{op: op, items_in: items, items_out: 0, ended: ended, path: path})
       when op in @filters and is_integer(items) and items > 0 and ended > 0,
       do: [kept_nothing(path, items)]

  defp filter(_operation), do: []

  defp key(%{path: path}, %{key: key, looked: looked, found: 0}) when looked > 0,
    do: [not_found(path, key, looked)]

  defp key(_operation, _found), do: []

  @doc "Whether an operation keeps some of its items."
  @spec filter?(String.t()) :: boolean()
  def filter?(op), do: op in @filters

  @doc "The finding that a filter kept nothing of so many items."
  @spec kept_nothing(Explain.path(), pos_integer()) :: Explain.finding()
  def kept_nothing(path, items),
    do: %{kind: :kept_nothing, path: path, message: "kept nothing of #{Format.number(items)}"}

  @doc "The finding that none of so many values had a key, or what a path of keys leads to."
  @spec not_found(Explain.path(), term(), pos_integer()) :: Explain.finding()
  def not_found(path, key, looked) do
    message = "none of #{Format.number(looked)} had #{field(key)}"
    %{kind: :key_not_found, path: path, message: message}
  end

  @doc "A key, or a path of keys, as text."
  @spec field(term()) :: String.t()
  def field(path) when is_list(path), do: Enum.map_join(path, ".", &About.name/1)
  def field(key), do: About.name(key)
end
