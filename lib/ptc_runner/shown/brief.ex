defmodule PtcRunner.Shown.Brief do
  @moduledoc false
  # Parts of the one line that `inspect/1` shows of a large struct.

  alias PtcRunner.Shown

  # Names in a list, and bytes of a value.
  @names 5
  @value 200

  @doc """
  The first of some names.

      iex> PtcRunner.Shown.Brief.names(~w(a b c d e f g))
      "a, b, c, d, e, … 2 more"

      iex> PtcRunner.Shown.Brief.names([])
      "nothing"

  """
  @spec names([String.t()]) :: String.t()
  def names([]), do: "nothing"

  def names(names) do
    names |> Shown.first(@names, &"… #{&1} more") |> Enum.map_join(", ", &Shown.cut(&1, @value))
  end

  @doc """
  A number of things.

      iex> {PtcRunner.Shown.Brief.count(1, "turn"), PtcRunner.Shown.Brief.count(3, "turn")}
      {"1 turn", "3 turns"}

  """
  @spec count(non_neg_integer(), String.t()) :: String.t()
  def count(1, thing), do: "1 #{thing}"
  def count(many, thing), do: "#{many} #{thing}s"

  @doc "A value within a few bytes."
  @spec value(term()) :: String.t()
  def value(term), do: Shown.text(term, @value)
end
