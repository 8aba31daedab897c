defmodule PtcRunner.Test.Shared do
  @moduledoc """
  Terms that are small only because their parts are shared.
  """

  @doc "Applies `fun` to `term` repeatedly, `count` times."
  @spec times(term(), non_neg_integer(), (term() -> term())) :: term()
  def times(term, count, fun), do: Enum.reduce(1..count//1, term, fn _, term -> fun.(term) end)

  @doc "A map of 2^count parts that takes `count` times a few words."
  @spec map(term(), non_neg_integer()) :: term()
  def map(term, count), do: times(term, count, &%{"a" => &1, "b" => &1})
end
