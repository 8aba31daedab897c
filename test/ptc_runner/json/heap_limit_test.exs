defmodule PtcRunner.Json.HeapLimitTest do
  # Until OTP 25.2, a process that exceeds its heap limit and then reaches a `receive` holds its scheduler
  # for ever. The callers of `test/support/heap_limits.exs` would, so they run in a VM of their own, which is killed.
  use ExUnit.Case, async: true

  @script Path.expand("../../support/heap_limits.exs", __DIR__)
  @seconds 280

  test "callers and tools with a heap limit are killed, and none of them hangs" do
    ebin = Path.join(Application.app_dir(:ptc_runner_native), "ebin")
    command = ["-s", "KILL", "#{@seconds}", "elixir", "-pa", ebin, @script]
    {output, status} = System.cmd("timeout", command, stderr_to_stdout: true)

    assert status == 0, "the VM was killed after #{@seconds} seconds:\n" <> output
    refute output =~ "hangs"
    assert output =~ ~r/^a map with calls: [1-9]\d* killed, [1-9]\d* ended$/m
    assert length(Regex.scan(~r/: \d+ killed, \d+ ended$/m, output)) == 14
  end
end
