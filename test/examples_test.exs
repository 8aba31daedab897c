defmodule PtcRunner.ExamplesTest do
  # bin/demo runs the examples; this one is quick enough to be run by the tests.
  use ExUnit.Case, async: true

  import ExUnit.CaptureIO

  test "the agent over the earthquakes" do
    out = capture_io(fn -> Code.eval_file("examples/agent.exs") end)
    assert out =~ "Did you mean 'networks_of'?"
    assert out =~ "The program was not run, because it cannot work"
    assert out =~ "103km WNW of Ferndale, CA"
    assert out =~ "of 756 earthquakes; 1 tool call, 5 turns"
  end

  test "what bin/demo says to read next is there" do
    files =
      Regex.scan(~r/^  ([\w\/]+\.(?:md|livemd)) /m, File.read!("bin/demo"),
        capture: :all_but_first
      )

    assert length(files) >= 4
    for [file] <- files, do: assert(File.exists?(file), file)
  end
end
