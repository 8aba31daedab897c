defmodule PtcRunner.Lisp.Var do
  @moduledoc """
  What `def` gives: the name that was bound.

      iex> {:ok, step} = PtcRunner.Lisp.run("(def total 5)")
      iex> {step.return, step.memory}
      {%PtcRunner.Lisp.Var{name: "total"}, %{"total" => 5}}

  """

  @enforce_keys [:name]
  defstruct [:name]

  @type t :: %__MODULE__{name: String.t()}
end
