defmodule PtcRunner.SubAgent do
  @moduledoc """
  Agents: a prompt, the signature its answer must match, and the tools it may call.

  The struct is `PtcRunner.SubAgent.Definition`. Nothing in this library needs that very struct:
  `PtcRunner.SubAgent.Loop.JsonHandler` takes any map that has the keys it reads.
  """

  @typedoc "An agent."
  @type t :: PtcRunner.SubAgent.Definition.t()
end
