defmodule PtcRunner.Test.Oracle.Lists do
  @moduledoc false
  # Operations on a list that evaluate no sub-expression.

  import PtcRunner.Test.Oracle.Fail, only: [fail: 1, list!: 2, shown: 1]

  alias PtcRunner.Test.Oracle.{Aggregate, Compare}

  @operations ~w(sort_by first last nth take drop distinct count sum avg min max min_by max_by)

  @doc "The names of these operations."
  @spec operations() :: [String.t()]
  def operations, do: @operations

  @doc "One list operation on the current value."
  @spec run(String.t(), map(), term()) :: term()
  def run(op, node, current), do: items(op, list!(current, "#{op} requires a list"), node)

  defp items("first", items, _node), do: List.first(items)
  defp items("last", items, _node), do: List.last(items)
  defp items("nth", items, node), do: Enum.at(items, natural!("nth index", node["index"]))
  defp items("take", items, node), do: Enum.take(items, natural!("take count", node["count"]))
  defp items("drop", items, node), do: Enum.drop(items, natural!("drop count", node["count"]))
  defp items("distinct", items, _node), do: Enum.uniq(items)
  defp items("count", items, _node), do: length(items)

  # Stable in both directions. (`:asc` would sort by `:lists.keysort/2`, which may swap 1.0 and 1.)
  defp items("sort_by", items, node) do
    in_order? = if node["order"] == "desc", do: &>=/2, else: &<=/2
    Enum.sort_by(items, &field(&1, node["field"]), in_order?)
  end

  defp items(aggregation, items, node) do
    Aggregate.aggregate(aggregation, items, node["field"])
  end

  defp field(item, field) when is_map(item), do: Map.get(item, field)
  defp field(_item, _field), do: nil

  defp natural!(_what, n) when is_integer(n) and n >= 0, do: n
  defp natural!(what, n), do: fail("#{what} must be a non-negative integer, got #{shown(n)}")

  @doc "Keeps the fields named in the node, of one map or of all maps of a list."
  @spec select(map(), term()) :: map() | list()
  def select(node, current) when is_map(current), do: Map.take(current, selected(node))

  def select(node, current) do
    items = list!(current, "select requires a list")
    fields = selected(node)
    Enum.map(items, &if(is_map(&1), do: Map.take(&1, fields), else: &1))
  end

  defp selected(node), do: node |> Map.get("fields", []) |> list!("select fields must be a list")

  @doc "Keeps the maps whose field is among the allowed values."
  @spec filter_in(list(), term(), term()) :: [map()]
  def filter_in(items, field, allowed) do
    Enum.filter(items, &(is_map(&1) and Compare.member?(allowed, Map.get(&1, field))))
  end

  @doc "Lists of the elements at the same index, up to the length of the shortest list."
  @spec zip([list()]) :: [list()]
  def zip(lists), do: Enum.zip_with(lists, & &1)
end
