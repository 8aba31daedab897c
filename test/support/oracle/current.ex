defmodule PtcRunner.Test.Oracle.Current do
  @moduledoc false
  # The operations that need the current value. The expressions that they evaluate have
  # either the same current value or the item.

  import PtcRunner.Test.Oracle.Fail, only: [list!: 2, map!: 2]

  alias PtcRunner.Test.Oracle.{Aggregate, Compare, Eval, Fields, Lists}

  @comparisons ~w(eq neq gt gte lt lte contains in)
  @aggregates ~w(sum avg min max min_by max_by)
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

  @doc "The same in edition 2, where some of them do not need the current value."
  @spec run_2(String.t(), map(), Eval.environment()) :: term()
  def run_2(op, node, env) when op in @comparisons do
    left = left(op, node, env)
    Compare.compare_2(op, left, Eval.template(node["value"], env))
  end

  def run_2("get", node, env) do
    from =
      case node do
        %{"from" => from} -> Eval.template(from, env)
        _ -> Eval.current!(env)
      end

    value =
      case node do
        %{"key" => key} -> Compare.at(from, Eval.template(key, env))
        _ -> Compare.dig(from, path(node))
      end

    if value == nil, do: node["default"], else: value
  end

  def run_2(op, node, env) when op in ["filter", "reject", "map"] do
    items = env |> Eval.current!() |> list!("#{op} requires a list")

    case op do
      "filter" -> Enum.filter(items, &each(node, "where", &1, env))
      "reject" -> Enum.reject(items, &each(node, "where", &1, env))
      "map" -> Enum.map(items, &each(node, "expr", &1, env))
    end
  end

  def run_2("count", %{"where" => _} = node, env) do
    env
    |> Eval.current!()
    |> list!("count requires a list")
    |> Enum.count(&each(node, "where", &1, env))
  end

  # An element of `by` has the fields of `sort_by`.
  def run_2("sort_by", %{"by" => keys}, env),
    do: keys |> Enum.map(&(&1 |> Map.put("op", "sort_by") |> Fields.given())) |> sorted(env)

  def run_2("sort_by", %{"expr" => _} = node, env), do: sorted([node], env)

  def run_2("distinct", node, env) when is_map_key(node, "expr") or is_map_key(node, "field") do
    env
    |> Eval.current!()
    |> list!("distinct requires a list")
    |> Enum.map(&{key(node, &1, env), &1})
    |> Enum.uniq_by(&elem(&1, 0))
    |> Enum.map(&elem(&1, 1))
  end

  def run_2(op, %{"expr" => _} = node, env) when op in @aggregates do
    items = env |> Eval.current!() |> list!("#{op} requires a list")

    pairs =
      for item <- items do
        value = each(node, "expr", item, env)
        if op == "sum", do: Aggregate.summand!(value)
        {value, item}
      end

    Aggregate.of_pairs(op, pairs)
  end

  def run_2(op, node, env), do: run(op, node, Eval.current!(env), env)

  # `sort_by`: the keys of an item before those of the next.
  defp sorted(keys, env) do
    env
    |> Eval.current!()
    |> list!("sort_by requires a list")
    |> Enum.map(fn item -> {Enum.map(keys, &key(&1, item, env)), item} end)
    |> Enum.sort(fn {left, _item}, {right, _other} -> in_order?(left, right, keys) end)
    |> Enum.map(&elem(&1, 1))
  end

  defp in_order?([], [], []), do: true

  defp in_order?([left | lefts], [right | rights], [key | keys]) do
    cond do
      left == right -> in_order?(lefts, rights, keys)
      key["order"] == "desc" -> left > right
      true -> left < right
    end
  end

  @doc "Evaluates an expression of a node for an item, which has a name if the node says so."
  @spec each(map(), String.t(), term(), Eval.environment()) :: term()
  def each(node, name, item, env),
    do: Eval.eval_on(node[name], item, Eval.bind(env, node["as"], item))

  @doc "The key of an item: the value of `expr`, or that of a field; nil where there is no such field."
  @spec key(map(), term(), Eval.environment()) :: term()
  def key(%{"expr" => expr}, item, env), do: Eval.eval_on(expr, item, env)
  def key(%{"field" => field}, item, _env) when is_map(item), do: Map.get(item, field)
  def key(_field, _item, _env), do: nil

  @doc "What a comparison compares: `left`, or a field of the current value, or that itself."
  @spec left(String.t(), map(), Eval.environment()) :: term()
  def left(_op, %{"left" => left}, env), do: Eval.template(left, env)
  def left(op, node, env), do: compared(op, node["field"], Eval.current!(env))

  defp compared(_op, nil, current), do: current

  defp compared(op, field, current) do
    current |> map!("#{op} requires a map") |> Map.get(field)
  end

  defp path(%{"field" => field}), do: [field]
  defp path(node), do: node |> Map.get("path", []) |> list!("get path must be a list")
end
