defmodule PtcRunner.Shown.Size do
  @moduledoc false
  # The size of a term as text, in bounded time.

  alias PtcRunner.Native.NativeRecord

  import Bitwise, only: [<<<: 2, >>>: 2]

  # An integer of about 10,000 digits. Converting to digits takes quadratic time, and nothing can interrupt it.
  @huge 1 <<< 33_220

  # Longer lists are not counted to the end.
  @counted 10_000

  # A term of fewer parts is small.
  @small 2_000

  @doc """
  The size of a term, in the unit of its kind.

      iex> Enum.map(["ä", [1, 2], {}, %{a: 1}, 5, self()], &PtcRunner.Shown.Size.of/1)
      ["2 bytes", "a list of 2 elements", "a tuple of 0 elements", "a map of 1 entries",
        "an integer of 3 bits", "cut"]

  """
  @spec of(term()) :: String.t()
  def of(bits) when is_bitstring(bits), do: "#{byte_size(bits)} bytes"
  def of(list) when is_list(list), do: "a list of #{count(list, 0)} elements"
  def of(tuple) when is_tuple(tuple), do: "a tuple of #{tuple_size(tuple)} elements"
  def of(%_{}), do: "a struct"
  def of(map) when is_map(map), do: "a map of #{map_size(map)} entries"
  def of(integer) when is_integer(integer), do: "an integer of #{bits(integer)} bits"
  def of(_other), do: "cut"

  defp count([_ | _], @counted), do: "more than #{@counted}"
  defp count([_ | rest], count), do: count(rest, count + 1)
  defp count(_end, count), do: count

  @doc """
  The kind of a term in words, without its size: the size of a list that a program has made may be a value that is not shown.

      iex> Enum.map(["ä", [1, 2], {}, %{a: 1}, 1..2, 5, 0.5, true, nil, :a], &PtcRunner.Shown.Size.kind/1)
      ["a text", "a list", "a tuple", "a map", "a struct", "an integer", "a float", "a boolean", "nil", "an atom"]

  """
  @spec kind(term()) :: String.t()
  def kind(nil), do: "nil"
  def kind(boolean) when is_boolean(boolean), do: "a boolean"
  def kind(atom) when is_atom(atom), do: "an atom"
  def kind(text) when is_binary(text), do: "a text"
  def kind(integer) when is_integer(integer), do: "an integer"
  def kind(float) when is_float(float), do: "a float"
  def kind(list) when is_list(list), do: "a list"
  def kind(tuple) when is_tuple(tuple), do: "a tuple"
  def kind(%_{}), do: "a struct"
  def kind(map) when is_map(map), do: "a map"
  def kind(_other), do: "a term"

  @doc """
  Whether an integer is shown by its size.

      iex> PtcRunner.Shown.Size.huge?(10)
      false

  """
  @spec huge?(integer()) :: boolean()
  def huge?(integer), do: integer >= @huge or integer <= -@huge

  @doc """
  The number of bits of an integer without its sign.

      iex> PtcRunner.Shown.Size.bits(-8)
      4

  """
  @spec bits(integer()) :: non_neg_integer()
  def bits(integer) when integer < 0, do: bits(-integer)
  def bits(0), do: 0

  # Counts the words of a large integer; only the highest bits are read.
  def bits(integer) do
    below = 64 * max(:erts_debug.flat_size(integer) - 3, 0)
    <<first, rest::binary>> = :binary.encode_unsigned(integer >>> below)
    below + length(Integer.digits(first, 2)) + bit_size(rest)
  end

  @doc """
  Whether a term, written out, has few parts.

      iex> PtcRunner.Shown.Size.small?(%{"a" => [1, 2]})
      true

      iex> PtcRunner.Shown.Size.small?(Enum.reduce(1..40, [], fn _, list -> [list, list] end))
      false

  """
  @spec small?(term(), pos_integer()) :: boolean()
  def small?(term, parts \\ @small), do: count_parts([term], parts) > 0

  defp count_parts(_todo, 0), do: 0
  defp count_parts([], left), do: left
  defp count_parts([[] | todo], left), do: count_parts(todo, left - 1)

  defp count_parts([[first | rest] | todo], left),
    do: count_parts([first, rest | todo], left - 1)

  defp count_parts([tuple | _todo], left) when is_tuple(tuple) and tuple_size(tuple) > left, do: 0

  defp count_parts([tuple | todo], left) when is_tuple(tuple),
    do: count_parts([Tuple.to_list(tuple) | todo], left - 1)

  defp count_parts([map | _todo], left) when is_map(map) and map_size(map) > left, do: 0

  defp count_parts([map | todo], left) when is_map(map),
    do: count_parts([:maps.to_list(map) | todo], left - 1)

  defp count_parts([bits | todo], left) when is_bitstring(bits),
    do: count_parts(todo, max(left - 1 - div(byte_size(bits), 64), 0))

  defp count_parts([leaf | todo], left) do
    if NativeRecord.is?(leaf),
      do: count_parts([NativeRecord.values(leaf) | todo], left - 1),
      else: count_parts(todo, left - 1)
  end
end
