defmodule PtcRunner.GuidesTest do
  use ExUnit.Case, async: true

  doctest PtcRunner.Test.Guides.Readme
  doctest PtcRunner.Test.Guides.DropIn
  doctest PtcRunner.Test.Guides.Engine
  doctest PtcRunner.Test.Guides.Observability
  doctest PtcRunner.Test.Guides.Answers
  doctest PtcRunner.Test.Guides.Signatures
end
