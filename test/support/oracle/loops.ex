defmodule PtcRunner.Test.Oracle.Loops do
  @moduledoc false
  # The operations of edition 2 on the items of a list.

  import PtcRunner.Test.Oracle.Current, only: [each: 4]
  import PtcRunner.Test.Oracle.Fail, only: [both: 2, fail: 1, list!: 2, proper_list?: 1]

  alias PtcRunner.Test.Oracle.Eval

  @doc "Runs one of these operations."
  @spec run(String.t(), map(), Eval.environment()) :: term()
  def run("range", node, env) do
    from = Eval.template(node["from"], env)
    to = Eval.template(node["to"], env)

    unless is_integer(from) and is_integer(to) do
      {from, to} = both(from, to)
      fail("range requires integers, got: #{from}, #{to}")
    end

    Enum.to_list(from..to//1)
  end

  def run(op, node, env) do
    items = env |> Eval.current!() |> list!("#{op} requires a list")
    items(op, items, node, env)
  end

  defp items("some", items, node, env), do: Enum.any?(items, &each(node, "where", &1, env))
  defp items("every", items, node, env), do: Enum.all?(items, &each(node, "where", &1, env))
  defp items("find", items, node, env), do: Enum.find(items, &each(node, "where", &1, env))

  defp items("flat_map", items, node, env) do
    Enum.flat_map(items, fn item ->
      node |> each("expr", item, env) |> list!("flat_map requires list values")
    end)
  end

  defp items("flatten", items, _node, _env),
    do: Enum.flat_map(items, &if(proper_list?(&1), do: &1, else: [&1]))

  defp items("reverse", items, _node, _env), do: Enum.reverse(items)
  defp items("chunk", items, node, _env), do: Enum.chunk_every(items, node["size"])

  defp items("fold", items, node, env) do
    name = Map.get(node, "as", "acc")

    Enum.reduce(items, Eval.template(node["init"], env), fn item, acc ->
      Eval.eval_on(node["expr"], item, Eval.bind(env, name, acc))
    end)
  end
end
