defmodule PtcRunner.AgentTest do
  use ExUnit.Case, async: true
  doctest PtcRunner.Agent
  doctest PtcRunner.Agent.Wrapper
  doctest PtcRunner.Agent.Describe
  doctest PtcRunner.Agent.Prompt
  doctest PtcRunner.Agent.Tool
  doctest PtcRunner.Agent.ToolError
  doctest PtcRunner.Json.Encodable
  doctest PtcRunner.Json.Fence
  doctest PtcRunner.SubAgent.Signature.Annotations
end
