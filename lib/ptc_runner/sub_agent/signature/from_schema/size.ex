defmodule PtcRunner.SubAgent.Signature.FromSchema.Size do
  @moduledoc false
  # How many parts a type has, counted to a limit.

  alias PtcRunner.SubAgent.Signature.FromSchema.Opened
  alias PtcRunner.SubAgent.Signature.Type

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
  def left(type, left), do: type |> Type.children() |> Enum.reduce_while(left - 1, &within/2)

  defp within(type, left) do
    case left(type, left) do
      :larger -> {:halt, :larger}
      left -> {:cont, left}
    end
  end
end
