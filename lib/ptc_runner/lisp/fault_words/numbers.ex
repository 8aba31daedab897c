defmodule PtcRunner.Lisp.FaultWords.Numbers do
  @moduledoc false
  # The errors of arithmetic, bits and conversions of numbers.

  alias PtcRunner.Lisp.{FaultWords, Text, Words}

  # The reasons of operands that are no numbers, by built-in.
  @operators ~w(+ - * /)
  @conversions ~w(abs floor ceil round trunc sqrt double float int +' *' -')

  @spec words(atom(), String.t(), String.t() | nil, [term()]) :: FaultWords.words() | nil
  def words(:division_by_zero, _name, _detail, _terms),
    do: {:arithmetic_error, "division by zero"}

  def words(:expected_number, _name, _detail, [value]),
    do: {:type_error, "expected number, got #{Words.type(value)}"}

  def words(:not_a_number, name, place, [value]),
    do: {reason(name), "#{name}: expected a number#{place(place)}, got #{described(value)}"}

  def words(:not_integer, name, _detail, [value]),
    do: {:type_error, "#{name}: expected an integer, got #{described(value)}"}

  def words(:shift_amount, name, _detail, [value]) do
    {:type_error,
     "#{name}: shift amount must be a non-negative integer, got #{Words.shown(value)}"}
  end

  def words(:at_least_two, name, _detail, [got]),
    do: {:arity_error, "#{name} requires at least 2 arguments, got #{got}"}

  def words(:int_of_infinity, _name, _detail, [value]),
    do: {:arithmetic_error, "cannot convert #{Text.str(value)} to integer"}

  def words(:int_overflow, _name, _detail, _terms), do: {:arithmetic_error, "integer overflow"}

  def words(:number_too_large, name, _detail, _terms),
    do: {:arithmetic_error, "#{name}: the result is too large for a number"}

  def words(:no_value, name, _detail, _terms),
    do: {:arithmetic_error, "#{name} has no value here"}

  def words(:bad_arith, name, _detail, terms) do
    case Enum.find(terms, &(not is_number(&1))) do
      nil -> words(:number_too_large, name, nil, terms)
      value -> words(:not_a_number, name, nil, [value])
    end
  end

  def words(_code, _name, _detail, _terms), do: nil

  defp reason(name) when name in @operators, do: :type_error
  defp reason(name) when name in @conversions, do: :runtime_error
  defp reason(_name), do: :arithmetic_error

  defp place(nil), do: ""
  defp place(place), do: " as argument #{place}"

  defp described(value) do
    word = Words.type(value)
    shown = Words.shown(value)
    if word == shown, do: word, else: "#{word} #{shown}"
  end
end
