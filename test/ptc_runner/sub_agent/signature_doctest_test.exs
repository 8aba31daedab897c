defmodule PtcRunner.SubAgent.SignatureDoctestTest do
  # The examples of the documentation, and of the guide.
  use ExUnit.Case, async: true

  import PtcRunner.Test.Guide

  doctest PtcRunner.SubAgent.Signature
  doctest PtcRunner.SubAgent.Signature.Coercion
  doctest PtcRunner.SubAgent.Signature.Parser
  doctest PtcRunner.SubAgent.Signature.Renderer
  doctest PtcRunner.SubAgent.Signature.TypeResolver
  doctest PtcRunner.SubAgent.Signature.Validator
  doctest PtcRunner.SubAgent.Template
  doctest PtcRunner.SubAgent.TypeExtractor

  guide_test("guides/signatures.md")
end
