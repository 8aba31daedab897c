defmodule PtcRunner.SubAgent.Signature.FromSchema.Size do
  @moduledoc false
  # How many parts a type has, counted to a limit.

  alias PtcRunner.SubAgent.Signature.FromSchema.Opened

  @doc """
  What is left of a number of parts without those of a type, or `:larger`.

      iex> PtcRunner.SubAgent.Signature.FromSchema.Size.left({:map, [{"a", :int}, {"b", {:list, :int}}]}, 10)
      6
      iex> PtcRunner.SubAgent.Signature.FromSchema.Size.left({:list, :int}, 1)
      :larger

  """
  @spec left(Opened.type(), non_neg_integer()) :: non_neg_integer() | :larger
  def left(_type, :larger), do: :larger
  def left(_type, 0), do: :larger
  def left({:where, type, _rules}, left), do: left(type, left - 1)
  def left({kind, type}, left) when kind in [:optional, :list, :map_of], do: left(type, left - 1)
  def left({:one_of, types, _field}, left), do: Enum.reduce_while(types, left - 1, &within/2)

  def left({:open_map, fields, others}, left) do
    case left(others, left) do
      :larger -> :larger
      left -> left({:map, fields}, left)
    end
  end

  def left({kind, fields}, left) when kind in [:map, :closed_map],
    do: Enum.reduce_while(fields, left - 1, fn {_name, type}, left -> within(type, left) end)

  def left(_scalar, left), do: left - 1

  defp within(type, left) do
    case left(type, left) do
      :larger -> {:halt, :larger}
      left -> {:cont, left}
    end
  end
end
