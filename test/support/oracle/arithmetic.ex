defmodule PtcRunner.Test.Oracle.Arithmetic do
  @moduledoc false
  # add sub mul div pct round, on operands that are already values.

  import PtcRunner.Test.Oracle.Fail, only: [both: 2, fail: 1]

  @doc "A two-operand operation."
  @spec binary(String.t(), term(), term()) :: number()
  def binary(op, left, right) when is_number(left) and is_number(right) do
    if op in ["div", "pct"] and right == 0, do: fail("division by zero")
    guarded(op, fn -> compute(op, left, right) end)
  end

  def binary(op, left, right) do
    {left, right} = both(left, right)
    fail("#{op} requires numeric operands, got: #{left}, #{right}")
  end

  defp compute("add", left, right), do: left + right
  defp compute("sub", left, right), do: left - right
  defp compute("mul", left, right), do: left * right
  defp compute("div", left, right), do: left / right
  defp compute("pct", part, whole), do: part / whole * 100

  @doc "Rounds to `precision` decimal places, ties away from zero; always a float."
  @spec round(term(), term()) :: float()
  def round(value, precision) when is_number(value) and is_integer(precision) do
    unless precision in 0..15 do
      fail("round precision must be between 0 and 15, got: #{precision}")
    end

    double = guarded("round", fn -> value * 1.0 end)

    if negative?(double),
      do: -round_positive(-double, precision),
      else: round_positive(double, precision)
  end

  def round(value, precision) do
    {value, precision} = both(value, precision)
    fail("round requires numeric value and integer precision, got: #{value}, #{precision}")
  end

  # -0.0 is not < 0.0, so the sign bit is read.
  defp negative?(double) do
    <<sign::1, _::63>> = <<double::float>>
    sign == 1
  end

  # The double is a ratio of integers, so the decimal rounding is exact. The text of the
  # decimal result is then read as the nearest double.
  defp round_positive(double, precision) do
    {numerator, denominator} = Float.ratio(double)
    scale = Integer.pow(10, precision)
    units = div(2 * numerator * scale + denominator, 2 * denominator)
    fraction = units |> rem(scale) |> Integer.to_string() |> String.pad_leading(precision, "0")
    String.to_float("#{div(units, scale)}.#{fraction}")
  end

  @doc "Runs arithmetic of the VM; its failures (overflow, too large integers) end the program."
  @spec guarded(String.t(), (... -> number())) :: number()
  def guarded(op, fun) do
    fun.()
  rescue
    ArithmeticError -> fail("#{op} failed: bad argument in arithmetic expression (badarith)")
  end
end
