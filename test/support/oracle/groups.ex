defmodule PtcRunner.Test.Oracle.Groups do
  @moduledoc false
  # group_by and join.

  import PtcRunner.Test.Oracle.Current, only: [key: 3]
  import PtcRunner.Test.Oracle.Fail, only: [fail: 1, list!: 2, shown: 1]

  alias PtcRunner.Test.Oracle.Eval

  @doc "Runs one of these operations."
  @spec run(String.t(), map(), Eval.environment()) :: [map()]
  def run("group_by", node, env) do
    pairs =
      env
      |> Eval.current!()
      |> list!("group_by requires a list")
      |> Enum.map(&{names(node, &1, env), &1})

    groups = Enum.group_by(pairs, &elem(&1, 0), &elem(&1, 1))

    for keys <- pairs |> Enum.map(&elem(&1, 0)) |> Enum.uniq(),
        do: Map.merge(Map.new(keys), made(node, groups[keys], env))
  end

  def run("join", node, env) do
    items = env |> Eval.current!() |> list!("join requires a list")
    others = list!(Eval.template(node["with"], env), "join requires a list in 'with'")
    for item <- items ++ others, not is_map(item), do: no_map(item)

    left = node["left"] || node["on"]
    right = node["right"] || node["on"]
    members = Enum.group_by(others, &Map.get(&1, right))

    Enum.flat_map(items, fn item ->
      case Map.get(item, left) do
        nil -> joined(node, item, [])
        key -> joined(node, item, Map.get(members, key, []))
      end
    end)
  end

  # The keys of a group under their names, in the order in which later ones win.
  defp names(%{"fields" => fields}, item, env),
    do: for(field <- fields, do: {field, key(%{"field" => field}, item, env)})

  defp names(%{"field" => field} = node, item, env),
    do: [{Map.get(node, "as", field), key(node, item, env)}]

  defp names(node, item, env), do: [{Map.get(node, "as", "key"), key(node, item, env)}]

  defp made(%{"each" => fields}, items, env),
    do: Eval.object(fields, %{env | current: {:value, items}})

  defp made(_node, items, _env), do: %{"items" => items}

  defp joined(%{"kind" => "group", "as" => name}, item, found), do: [Map.put(item, name, found)]
  defp joined(%{"kind" => "left", "as" => name}, item, []), do: [Map.put(item, name, nil)]
  defp joined(%{"kind" => "left"}, item, []), do: [item]
  defp joined(%{"as" => name}, item, found), do: Enum.map(found, &Map.put(item, name, &1))
  defp joined(_node, item, found), do: Enum.map(found, &Map.merge(&1, item))

  defp no_map(item), do: fail("join requires lists of maps, got #{shown(item)}")
end
