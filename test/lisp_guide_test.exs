defmodule PtcRunner.LispGuideTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Test.LispGuide

  test "each built-in has an example that does not fail, and no example is of another" do
    assert LispGuide.faults() == []
  end

  test "the pages of PTC-Lisp are what the table of built-ins and the interpreter say" do
    for {path, text} <- [
          {"guides/lisp.md", LispGuide.page()},
          {"guides/lisp_cheatsheet.cheatmd", LispGuide.cheatsheet()}
        ] do
      if System.get_env("PTC_WRITE_GUIDES"), do: File.write!(path, text)

      assert File.read(path) == {:ok, text},
             "#{path} is out of date: PTC_WRITE_GUIDES=1 mix test test/lisp_guide_test.exs"
    end
  end
end
