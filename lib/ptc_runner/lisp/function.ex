defmodule PtcRunner.Lisp.Function do
  @moduledoc ~S"""
  A function of PTC-Lisp as plain data: what a run gives back for a function in its result and its memory.

  It has no handle, no Elixir function and no pid, so it survives `:erlang.term_to_binary/1`, another process and another node. Where it
  comes back through the memory of a run, it is a function again.

      iex> {:ok, first} = PtcRunner.Lisp.run("(defn twice \"Twice n.\" [n] (* 2 n))")
      iex> {first.memory["twice"].params, first.memory["twice"].doc}
      {["n"], "Twice n."}
      iex> {:ok, second} = PtcRunner.Lisp.run("(map twice [1 2])", memory: first.memory)
      iex> second.return
      [2, 4]

  Fields:

    * `kind` - `:closure`, `:builtin`, or what made it: `:comp`, `:partial`, `:juxt`, `:complement`, `:constantly`, `:fnil`,
      `:every_pred`, `:some_fn`
    * `name` - of a built-in, and of a function that has one
    * `params` - the parameters of a closure as texts; a destructured one is `_`
    * `doc` - the text of `defn`
    * `source` - the text of a closure
    * `captured` - the local values that a closure uses, by their names; the functions that others are made of, by `"1"`, `"2"`, …

  """

  @enforce_keys [:kind]
  defstruct [:kind, :name, :doc, :source, params: [], captured: %{}]

  @type t :: %__MODULE__{
          kind: atom(),
          name: String.t() | nil,
          params: [String.t()],
          doc: String.t() | nil,
          source: String.t() | nil,
          captured: %{String.t() => term()}
        }
end
