defmodule PtcRunner.Lisp.Keyword do
  @moduledoc ~S"""
  A keyword of PTC-Lisp whose name is not in the vocabulary of the language.

  No program makes an atom, so only keywords of the vocabulary are atoms. Others become texts at the end of a run, and stay
  these structs only inside of sets and tuples.

      iex> {:ok, step} = PtcRunner.Lisp.run("[:zork \#{:zork} :count]")
      iex> step.return
      ["zork", MapSet.new([%PtcRunner.Lisp.Keyword{name: "zork"}]), :count]

  """

  @enforce_keys [:name]
  defstruct [:name]

  @type t :: %__MODULE__{name: String.t()}
end
