defmodule PtcRunner.Lisp.FaultWords.Numbers do
  @moduledoc false
  # The errors of arithmetic.

  alias PtcRunner.Lisp.{FaultWords, Words}

  # Built-ins of the program's own operators: their operands must be numbers.
  @operators ~w(+ - * /)

  @spec words(atom(), String.t(), String.t() | nil, [term()]) :: FaultWords.words() | nil
  def words(:division_by_zero, _name, _detail, _terms),
    do: {:arithmetic_error, "division by zero"}

  def words(:bad_arith, name, _detail, terms) do
    cond do
      name in @operators and length(terms) == 1 and not is_number(hd(terms)) ->
        {:type_error, "expected number, got #{Words.type(hd(terms))}"}

      Enum.all?(terms, &is_number/1) ->
        {:arithmetic_error, "#{name}: the result is too large for a float"}

      name in @operators ->
        {:type_error, "#{name}: expected numbers, got #{types(terms)}"}

      true ->
        {:arithmetic_error, "#{name}: expected numbers, got #{types(terms)}"}
    end
  end

  def words(_code, _name, _detail, _terms), do: nil

  defp types(terms), do: terms |> Enum.take(20) |> Enum.map_join(", ", &Words.type/1)
end
