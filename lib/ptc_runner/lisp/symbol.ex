defmodule PtcRunner.Lisp.Symbol do
  @moduledoc """
  A quoted symbol of PTC-Lisp.

      iex> {:ok, step} = PtcRunner.Lisp.run("'github")
      iex> step.return
      %PtcRunner.Lisp.Symbol{name: "github"}

  """

  @enforce_keys [:name]
  defstruct [:name]

  @type t :: %__MODULE__{name: String.t()}
end
