defmodule PtcRunner.SubAgent.SignatureDoctestTest do
  # The examples of the documentation; those of the guide are run by GuidesTest.
  use ExUnit.Case, async: true

  doctest PtcRunner.SubAgent.Signature
  doctest PtcRunner.SubAgent.Signature.Coercion
  doctest PtcRunner.SubAgent.Signature.Parser
  doctest PtcRunner.SubAgent.Signature.Renderer
  doctest PtcRunner.SubAgent.Signature.TypeResolver
  doctest PtcRunner.SubAgent.Signature.Validator
  doctest PtcRunner.SubAgent.Template
  doctest PtcRunner.SubAgent.TypeExtractor
end
