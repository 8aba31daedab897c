defmodule PtcRunner.Test.Oracle.Added do
  @moduledoc false
  # The operations that have come with edition 2, by family; those on single values are here.

  import PtcRunner.Test.Oracle.Fail, only: [map!: 2]

  alias PtcRunner.Test.Oracle.{Dates, Eval, Groups, Loops, Numbers, Objects, Text}

  @families [
    {Loops, ~w(some every find flat_map flatten reverse chunk fold range)},
    {Objects, ~w(set unset rename entries from_entries index_by)},
    {Groups, ~w(group_by join)},
    {Text,
     ~w(text to_text upper lower trim length split replace starts_with ends_with matches extract to_number)},
    {Numbers, ~w(mod abs floor ceil median percentile)},
    {Dates, ~w(date_diff date_add date_part now)}
  ]
  @modules for {module, ops} <- @families, op <- ops, into: %{}, do: {op, module}

  @doc "Runs an operation of edition 2. The node has no optional fields that are nil."
  @spec run(String.t(), map(), Eval.environment()) :: term()
  def run("it", _node, env), do: Eval.current!(env)
  def run("list", node, env), do: Enum.map(node["items"], &Eval.template(&1, env))

  def run("coalesce", node, env) do
    Enum.find_value(node["values"], &known(Eval.template(&1, env))) |> value()
  end

  def run("switch", node, env) do
    case Enum.find(node["cases"], &Eval.eval(&1["when"], env)) do
      nil -> Eval.template(node["else"], env)
      chosen -> Eval.template(chosen["then"], env)
    end
  end

  def run(op, node, env), do: @modules[op].run(op, node, env)

  # `false` is a value, too.
  defp known(nil), do: nil
  defp known(value), do: {:value, value}
  defp value(nil), do: nil
  defp value({:value, value}), do: value

  @doc "The input of an operation on one value: `value`, or a field of the current value, or that itself."
  @spec input(String.t(), map(), Eval.environment()) :: term()
  def input(_op, %{"value" => value}, env), do: Eval.template(value, env)

  def input(op, %{"field" => field}, env),
    do: env |> Eval.current!() |> map!("#{op} requires a map") |> Map.get(field)

  def input(_op, _node, env), do: Eval.current!(env)
end
