defmodule PtcRunner.Test.Oracle.Objects do
  @moduledoc false
  # set unset rename entries from_entries index_by.

  import PtcRunner.Test.Oracle.Current, only: [key: 3]
  import PtcRunner.Test.Oracle.Fail, only: [fail: 1, list!: 2, map!: 2, proper_list?: 1, shown: 1]

  alias PtcRunner.Test.Oracle.Eval

  @doc "Runs one of these operations."
  @spec run(String.t(), map(), Eval.environment()) :: term()
  def run("entries", _node, env) do
    map = env |> Eval.current!() |> map!("entries requires a map")
    for key <- map |> Map.keys() |> Enum.sort(), do: %{"key" => key, "value" => Map.get(map, key)}
  end

  def run("from_entries", _node, env) do
    env
    |> Eval.current!()
    |> list!("from_entries requires a list")
    |> Enum.map(&entry/1)
    |> Map.new()
  end

  def run("index_by", node, env) do
    env
    |> Eval.current!()
    |> list!("index_by requires a list")
    |> Enum.map(&{name!(key(node, &1, env)), &1})
    |> Map.new()
  end

  def run(op, node, env) do
    current = Eval.current!(env)

    if proper_list?(current),
      do: Enum.map(current, &changed(op, node, &1, env)),
      else: changed(op, node, current, env)
  end

  # What is no map ends the program, a list in a list too.
  defp changed(op, _node, value, _env) when not is_map(value),
    do: fail("#{op} requires a map or a list of maps, got #{shown(value)}")

  defp changed("set", node, map, env),
    do: Map.merge(map, Eval.object(node["fields"], %{env | current: {:value, map}}))

  defp changed("unset", node, map, _env), do: Map.drop(map, node["fields"])

  # Larger old names come later, so they win.
  defp changed("rename", node, map, _env) do
    names =
      node["fields"] |> Map.to_list() |> Enum.sort() |> Enum.filter(&is_map_key(map, elem(&1, 0)))

    for {old, new} <- names, reduce: Map.drop(map, Enum.map(names, &elem(&1, 0))) do
      renamed -> Map.put(renamed, new, Map.get(map, old))
    end
  end

  defp entry(%{"key" => key} = entry) when is_binary(key) or is_integer(key),
    do: {name!(key), Map.get(entry, "value")}

  defp entry(item),
    do:
      fail(
        "from_entries requires a list of maps with a string or integer key, got #{shown(item)}"
      )

  defp name!(key) when is_binary(key), do: key
  defp name!(key) when is_integer(key), do: Integer.to_string(key)
  defp name!(key), do: fail("index_by requires string or integer keys, got #{shown(key)}")
end
