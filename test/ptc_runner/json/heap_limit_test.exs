defmodule PtcRunner.Json.HeapLimitTest do
  # Until OTP 25.2, a process that exceeds its heap limit and then reaches a `receive` holds its scheduler
  # for ever. The callers of `test/support/heap_limits.exs` would, so they run in a VM of their own, which is killed.
  use ExUnit.Case, async: true

  @seconds 280

  test "callers and tools with a heap limit are killed, and none of them hangs" do
    {output, status} = script("heap_limits.exs", [])

    assert status == 0, "the VM was killed after #{@seconds} seconds:\n" <> output
    refute output =~ "hangs"
    assert output =~ ~r/^a map with calls: [1-9]\d* killed, [1-9]\d* ended$/m
    assert length(Regex.scan(~r/: \d+ killed, \d+ ended$/m, output)) == 14
  end

  # About one of 40,000 did not, when a process of tools asked only once whether it had been killed. On a VM with the fault the code of these
  # tools may end it (status 132), in about one of 150,000: docs/security.md, "Limitations".
  @tag :fuzz
  @tag timeout: 300_000
  test "random runs with small limits end" do
    vms = for _vm <- 1..2, do: Task.async(fn -> script("small_limits.exs", ["60"]) end)

    for {output, status} <- Task.await_many(vms, :infinity) do
      assert status == 0, output
      assert output =~ ~r/^[1-9]\d{3,} runs ended$/m
    end
  end

  # Runs a script of `test/support` in a VM of its own.
  defp script(name, args) do
    ebin = Path.join(Application.app_dir(:ptc_runner_native), "ebin")
    file = Path.expand("../../support/#{name}", __DIR__)
    command = ["-s", "KILL", "#{@seconds}", "elixir", "-pa", ebin, file | args]
    System.cmd("timeout", command, stderr_to_stdout: true)
  end
end
