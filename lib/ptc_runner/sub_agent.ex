defmodule PtcRunner.SubAgent do
  @moduledoc """
  The type of an agent of `ptc_runner`: a prompt, the signature its answer must match, and the tools it may call.

  An agent of this library is a call of `PtcRunner.Agent.loop/3`. This module is for code that was written for `ptc_runner`.

  The struct is `PtcRunner.SubAgent.Definition`. Nothing in this library needs that very struct:
  `PtcRunner.SubAgent.Loop.JsonHandler` takes any map that has the keys it reads.
  """

  @typedoc "An agent."
  @type t :: PtcRunner.SubAgent.Definition.t()
end
