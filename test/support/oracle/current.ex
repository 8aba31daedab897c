defmodule PtcRunner.Test.Oracle.Current do
  @moduledoc false
  # The operations that need the current value. The expressions that they evaluate have
  # either the same current value or the item.

  import PtcRunner.Test.Oracle.Fail, only: [list!: 2, map!: 2]

  alias PtcRunner.Test.Oracle.{Compare, Eval, Lists}

  @comparisons ~w(eq neq gt gte lt lte contains in)
  @others ~w(filter reject map select filter_in get keys typeof)

  @doc "The names of these operations."
  @spec operations() :: [String.t()]
  def operations, do: @comparisons ++ @others ++ Lists.operations()

  @doc "Runs an operation on the current value."
  @spec run(String.t(), map(), term(), Eval.environment()) :: term()
  def run(op, node, current, env) when op in @comparisons do
    left = compared(op, node["field"], current)
    Compare.compare(op, left, Eval.literal_or_node(node["value"], env))
  end

  def run("filter", node, current, env) do
    current
    |> list!("filter requires a list")
    |> Enum.filter(&Eval.eval_on(node["where"], &1, env))
  end

  def run("reject", node, current, env) do
    current
    |> list!("reject requires a list")
    |> Enum.reject(&Eval.eval_on(node["where"], &1, env))
  end

  def run("map", node, current, env) do
    current |> list!("map requires a list") |> Enum.map(&Eval.eval_on(node["expr"], &1, env))
  end

  def run("filter_in", node, current, env) do
    items = list!(current, "filter_in requires a list")
    Lists.filter_in(items, node["field"], Eval.literal_or_node(node["value"], env))
  end

  def run("select", node, current, _env), do: Lists.select(node, current)

  def run("get", node, current, _env) do
    case Compare.dig(current, path(node)) do
      nil -> node["default"]
      value -> value
    end
  end

  def run("keys", _node, current, _env) do
    current |> map!("keys requires a map") |> Map.keys() |> Enum.sort()
  end

  def run("typeof", _node, current, _env), do: Compare.type_of(current)
  def run(op, node, current, _env), do: Lists.run(op, node, current)

  defp compared(_op, nil, current), do: current

  defp compared(op, field, current) do
    current |> map!("#{op} requires a map") |> Map.get(field)
  end

  defp path(%{"field" => field}), do: [field]
  defp path(node), do: node |> Map.get("path", []) |> list!("get path must be a list")
end
