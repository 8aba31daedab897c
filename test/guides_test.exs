alias PtcRunner.Test.Guides

# What getting_started.md has the reader write into a file, and the test of another guide that goes with it.
Code.compile_string(Guides.file("guides/getting_started.md", "lib/shop.ex"))
Code.compile_string(Guides.file("guides/testing_programs.md", "test/shop_test.exs"))

defmodule PtcRunner.GuidesTest do
  use ExUnit.Case, async: true

  doctest Guides.Readme
  doctest Guides.Cheatsheet
  doctest Guides.DropIn
  doctest Guides.Engine
  doctest Guides.Observability
  doctest Guides.Answers
  doctest Guides.Signatures
  doctest Guides.GettingStarted
  doctest Guides.ErrorsAndFeedback
  doctest Guides.TestingPrograms
end
