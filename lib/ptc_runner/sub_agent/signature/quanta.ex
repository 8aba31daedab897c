defmodule PtcRunner.SubAgent.Signature.Quanta do
  @moduledoc false
  # A native walk to its end. One that takes long goes on in quanta, calls of a millisecond or two on
  # a dirty scheduler, so that many long walks do not make a short one wait.

  alias PtcRunner.Native

  @doc "What comes of a walk along `type` that said this at the end of its first quantum."
  @spec finish(term(), term()) :: term()
  def finish(type, {:more, state, terms}),
    do: finish(type, Native.signature_resume(type, state, terms))

  def finish(_type, other), do: other
end
