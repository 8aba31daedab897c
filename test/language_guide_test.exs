defmodule PtcRunner.LanguageGuideTest do
  use ExUnit.Case, async: true

  @path "guides/language.md"

  test "the guide to the language is what the table of operations and the interpreter say" do
    text = PtcRunner.Test.LanguageGuide.text()
    if System.get_env("PTC_WRITE_GUIDES"), do: File.write!(@path, text)

    assert File.read(@path) == {:ok, text},
           "#{@path} is out of date: PTC_WRITE_GUIDES=1 mix test test/language_guide_test.exs"
  end
end
