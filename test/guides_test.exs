alias PtcRunner.Test.Guides

# What getting_started.md has the reader write into a file, and the test of another guide that goes with it.
Code.compile_string(Guides.file("guides/getting_started.md", "lib/shop.ex"))
Code.compile_string(Guides.file("guides/testing_programs.md", "test/shop_test.exs"))
Code.compile_string(Guides.file("guides/tools_under_control.md", "lib/desk.ex"))

defmodule PtcRunner.GuidesTest do
  use ExUnit.Case, async: true

  doctest Guides.Readme
  doctest Guides.Programs
  doctest Guides.Questions
  doctest Guides.Cheatsheet
  doctest Guides.DropIn
  doctest Guides.Engine
  doctest Guides.LargeAnswers
  doctest Guides.Observability
  doctest Guides.Answers
  doctest Guides.Signatures
  doctest Guides.GettingStarted
  doctest Guides.ErrorsAndFeedback
  doctest Guides.TestingPrograms
  doctest Guides.ToolsUnderControl
  doctest Guides.ToolsFromElsewhere
  doctest Guides.ExtractingRecords
  doctest Guides.ResultsThatProvidersEnforce

  # Times are another each time; so is where a long run is left.
  test "the tree of the README is that of its program" do
    code = Guides.examples("README.md")
    [_, explained] = Regex.run(~r/(iex> orders = for n.*?)^iex> for finding/ms, code)
    code = Regex.replace(~r/^(iex|\.\.\.)> /m, explained, "")
    {explanation, _binding} = Code.eval_string(code)

    [tree] =
      Regex.run(~r/^```text\n(\S+ [µm]s, .*?)^```/ms, File.read!("README.md"),
        capture: :all_but_first
      )

    assert shape(tree) == shape(to_string(explanation))
  end

  defp shape(tree) do
    tree
    |> String.replace(~r/[\d.]+ (ns|µs|ms)/u, "TIME")
    |> String.replace(~r/ *█+| *gave way [^,\n]*,?/u, "")
    |> String.replace(~r/ +/, " ")
  end
end
