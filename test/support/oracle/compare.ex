defmodule PtcRunner.Test.Oracle.Compare do
  @moduledoc false
  # The eight comparisons, `typeof`, `get` and membership, on values.

  import PtcRunner.Test.Oracle.Fail, only: [fail: 1, shown: 1]

  @doc "Compares the value of the field (left) with the value of the program (right)."
  @spec compare(String.t(), term(), term()) :: boolean()
  def compare("eq", left, right), do: left == right
  def compare("neq", left, right), do: left != right
  def compare("gt", left, right), do: left > right
  def compare("gte", left, right), do: left >= right
  def compare("lt", left, right), do: left < right
  def compare("lte", left, right), do: left <= right

  def compare("contains", left, right) when is_binary(left) and is_binary(right) do
    # `:binary.match/2` refuses the empty pattern, which every text contains.
    right == "" or :binary.match(left, right) != :nomatch
  end

  def compare("contains", left, right), do: member?(left, right)
  def compare("in", left, right), do: member?(left, right)

  @doc "The same in edition 2: the four orders compare like with like, and `in` asks both sides."
  @spec compare_2(String.t(), term(), term()) :: boolean()
  def compare_2(op, left, right) when op in ~w(gt gte lt lte) do
    kind = kind(left)
    kind != nil and kind == kind(right) and compare(op, left, right)
  end

  def compare_2("in", left, right) when is_list(left) or is_map(left), do: member?(left, right)
  def compare_2("in", left, right), do: member?(right, left)
  def compare_2(op, left, right), do: compare(op, left, right)

  defp kind(value) when is_number(value), do: :number
  defp kind(value) when is_binary(value), do: :string
  defp kind(value) when is_boolean(value), do: :boolean
  defp kind(value) when is_list(value), do: :list
  defp kind(value) when is_map(value), do: :map
  defp kind(_value), do: nil

  # The specification does not mention improper lists here: their members are those before the tail.
  @doc "Is `value` strictly a member of a list or a key of a map? Nothing else has members."
  @spec member?(term(), term()) :: boolean()
  def member?(map, value) when is_map(map), do: Map.has_key?(map, value)
  def member?([member | _rest], value) when member === value, do: true
  def member?([_member | rest], value), do: is_list(rest) and member?(rest, value)
  def member?(_other, _value), do: false

  @doc "The name of the JSON type of a value."
  @spec type_of(term()) :: String.t()
  def type_of(nil), do: "null"
  def type_of(value) when is_boolean(value), do: "boolean"
  def type_of(value) when is_number(value), do: "number"
  def type_of(value) when is_binary(value), do: "string"
  def type_of(value) when is_map(value), do: "object"
  def type_of(value) when is_list(value), do: "list"
  def type_of(value), do: fail("typeof does not support this value: #{shown(value)}")

  @doc "The value at a computed key of a map, or at an index of a list."
  @spec at(term(), term()) :: term()
  def at(map, key) when is_map(map) and is_binary(key), do: Map.get(map, key)
  def at(map, key) when is_map(map) and is_integer(key), do: Map.get(map, Integer.to_string(key))
  def at([_ | _] = list, index) when is_integer(index) and index >= 0, do: item(list, index)
  def at(_other, _key), do: nil

  defp item([item | _rest], 0), do: item
  defp item([_item | rest], index), do: item(rest, index - 1)
  defp item(_end, _index), do: nil

  @doc "The value at the end of a path of keys, nil if it breaks off."
  @spec dig(term(), [term()]) :: term()
  def dig(value, []), do: value
  def dig(value, [key | path]) when is_integer(key), do: value |> at(key) |> step(path)
  def dig(value, _path) when not is_map(value), do: nil
  def dig(map, path), do: step(map, path)

  defp step(value, []), do: value
  defp step(nil, _path), do: nil
  defp step(value, [key | path]) when is_integer(key), do: value |> at(key) |> step(path)
  defp step(map, [key | path]) when is_map(map), do: map |> Map.get(key) |> step(path)
  defp step(value, _path), do: fail("get expected a map, got: #{shown(value)}")
end
