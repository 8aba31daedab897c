defmodule PtcRunner.Lisp.Duration do
  @moduledoc """
  The time between two moments: what `Duration/between` gives.

      iex> {:ok, step} = PtcRunner.Lisp.run("(Duration/between (java.util.Date. 0) (java.util.Date. 60))")
      iex> step.return
      %PtcRunner.Lisp.Duration{milliseconds: 60_000}

  """

  @enforce_keys [:milliseconds]
  defstruct [:milliseconds]

  @type t :: %__MODULE__{milliseconds: integer()}
end
