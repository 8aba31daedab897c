defmodule PtcRunner.SubAgent.Loop.JsonSize do
  @moduledoc false
  # How many bytes a term takes as compact JSON, without writing it.

  @spec of(term()) :: non_neg_integer()
  def of(nil), do: 4
  def of(true), do: 4
  def of(false), do: 5
  def of(atom) when is_atom(atom), do: quoted(Atom.to_string(atom))
  def of(text) when is_binary(text), do: quoted(text)
  def of(integer) when is_integer(integer), do: byte_size(Integer.to_string(integer))
  def of(float) when is_float(float), do: byte_size(:erlang.float_to_binary(float, [:short]))

  def of(%module{} = time) when module in [Date, Time, DateTime, NaiveDateTime],
    do: byte_size(module.to_iso8601(time)) + 2

  def of(map) when is_map(map) and not is_struct(map) do
    sizes = for {key, value} <- map, do: quoted(to_string(key)) + 1 + of(value)
    enclosed(sizes)
  end

  def of(list) when is_list(list), do: list |> Enum.map(&of/1) |> enclosed()

  def of(other),
    do: raise(Protocol.UndefinedError, protocol: PtcRunner.Json.Encoder, value: other)

  # Two brackets, and a comma between any two.
  defp enclosed([]), do: 2
  defp enclosed(sizes), do: Enum.sum(sizes) + length(sizes) + 1

  defp quoted(text), do: escaped(text, 2)

  defp escaped(<<byte, rest::binary>>, size) when byte in [?", ?\\, ?\b, ?\t, ?\n, ?\f, ?\r],
    do: escaped(rest, size + 2)

  defp escaped(<<byte, rest::binary>>, size) when byte < 0x20, do: escaped(rest, size + 6)
  defp escaped(<<_byte, rest::binary>>, size), do: escaped(rest, size + 1)
  defp escaped(<<>>, size), do: size
end
