defmodule PtcRunner.Json.Deadline do
  @moduledoc false
  # The end of a time: a `System.monotonic_time/1` in milliseconds, or `:infinity`, which is later than any.

  @type t :: integer() | :infinity

  @doc "The end of so many milliseconds from now on."
  @spec from_now(timeout()) :: t()
  def from_now(:infinity), do: :infinity
  def from_now(timeout), do: System.monotonic_time(:millisecond) + timeout

  @doc """
  The milliseconds that are left, at least 0.

      iex> for timeout <- [:infinity, 0], do: timeout |> PtcRunner.Json.Deadline.from_now() |> PtcRunner.Json.Deadline.left()
      [:infinity, 0]

  """
  @spec left(t()) :: timeout()
  def left(:infinity), do: :infinity
  def left(deadline), do: max(deadline - System.monotonic_time(:millisecond), 0)
end
