defmodule PtcRunner.Test.Oracle.Numbers do
  @moduledoc false
  # mod abs floor ceil median percentile.

  import PtcRunner.Test.Oracle.Current, only: [key: 3]
  import PtcRunner.Test.Oracle.Fail, only: [both: 2, fail: 1, list!: 2, shown: 1]

  alias PtcRunner.Test.Oracle.{Added, Arithmetic, Eval}

  @doc "Runs one of these operations."
  @spec run(String.t(), map(), Eval.environment()) :: term()
  def run("mod", node, env) do
    left = Eval.operand(node["left"], env)

    case {left, Eval.operand(node["right"], env)} do
      {left, 0} when is_integer(left) ->
        fail("division by zero")

      {left, right} when is_integer(left) and is_integer(right) ->
        Integer.mod(left, right)

      {left, right} ->
        {left, right} = both(left, right)
        fail("mod requires integer operands, got: #{left}, #{right}")
    end
  end

  def run(op, node, env) when op in ["abs", "floor", "ceil"] do
    case input(op, node, env) do
      nil -> nil
      number when is_number(number) -> whole(op, number)
      other -> fail("#{op} requires a number, got #{shown(other)}")
    end
  end

  def run(op, node, env) do
    items = env |> Eval.current!() |> list!("#{op} requires a list")

    case items
         |> Enum.map(&key(node, &1, env))
         |> Enum.filter(&is_number/1)
         |> Enum.sort(&<=/2) do
      [] -> nil
      numbers when op == "median" -> median(numbers, length(numbers))
      numbers -> percentile(numbers, node["p"] / 100 * (length(numbers) - 1))
    end
  end

  defp input(_op, %{"value" => value}, env), do: Eval.operand(value, env)
  defp input(op, node, env), do: Added.input(op, node, env)

  defp whole("abs", number), do: abs(number)
  defp whole("floor", number), do: number |> floor() |> normal()
  defp whole("ceil", number), do: number |> ceil() |> normal()

  # Erlang/OTP 25 makes the least small integer out of a float in the form of a large one, which is not equal to it.
  defp normal(integer), do: integer |> :erlang.term_to_binary() |> :erlang.binary_to_term()

  defp median(numbers, count) when rem(count, 2) == 1, do: Enum.at(numbers, div(count, 2))

  defp median(numbers, count) do
    [low, high] = Enum.slice(numbers, div(count, 2) - 1, 2)
    Arithmetic.guarded("median", fn -> (low + high) / 2 end)
  end

  defp percentile(numbers, rank) do
    low = floor(rank)

    case Enum.slice(numbers, low, 2) do
      [a, b] when rank > low ->
        Arithmetic.guarded("percentile", fn -> a + (b - a) * (rank - low) end)

      [a | _] ->
        a
    end
  end
end
