defmodule PtcRunner.Lisp.Regex do
  @moduledoc """
  A regular expression of PTC-Lisp, as its source. Patterns are those of PCRE, as in Erlang's `:re`.

      iex> {:ok, step} = PtcRunner.Lisp.run(~S|[#"a+" (re-find #"a+" "baab")]|)
      iex> step.return
      [%PtcRunner.Lisp.Regex{source: "a+"}, "aa"]

  """

  @enforce_keys [:source]
  defstruct [:source]

  @type t :: %__MODULE__{source: String.t()}
end
