defmodule PtcRunner.Native.FirstCallsTest do
  # VMs that have loaded nothing but what starts the application. Until OTP 25.2, a process that is over its heap limit and
  # waits for the code server holds its scheduler for ever, so no call may load a module in its caller.
  use ExUnit.Case, async: true

  alias PtcRunner.Test.{Environment, FirstCalls}

  doctest PtcRunner.Sandbox.Modules

  # Seconds until a VM that hangs is killed. One that works needs two, on a busy machine more.
  @seconds 240

  @tag timeout: 600_000
  test "no call loads a module of this library, of Elixir or of Erlang" do
    {output, status} = vm("loaded()")
    assert status == 0, output
    assert [kinds] = Regex.run(~r/^(\d+) kinds of calls$/m, output, capture: :all_but_first)
    assert String.to_integer(kinds) > 100
    assert Regex.scan(~r/^.* loads \[.*$/m, output) == []
  end

  # The limits of all kinds with PTC_CASES=10. At those of "run" a first run has hung.
  @limits [{"run", [18_000, 20_500, 24_000]}, {"spec", [15_000]}]

  @tag timeout: 3_600_000
  test "callers with a heap limit end in their first run, whatever the limit" do
    limits =
      if Environment.cases(1) < 10,
        do: @limits,
        else:
          for({kind, _run} <- FirstCalls.capped(), do: {kind, Enum.to_list(9_000..25_000//500)})

    for({kind, words} <- limits, words <- words, do: {kind, words})
    |> Task.async_stream(
      fn {kind, words} ->
        {output, status} = vm(~s|capped(#{words}, <<"#{kind}">>)|)
        {kind, words, status, output}
      end,
      max_concurrency: 2,
      timeout: :infinity
    )
    |> Enum.each(fn {:ok, {kind, words, status, output}} ->
      assert {kind, words, status, output} == {kind, words, 0, "ended\n"}
    end)
  end

  # The paths of this VM would have Mix, and what the tests have loaded is not there.
  defp vm(call) do
    paths =
      for app <- [:elixir, :logger, :ptc_runner_native], do: Application.app_dir(app, "ebin")

    code = "'#{FirstCalls}':#{call}, halt()."
    command = ["-s", "KILL", "#{@seconds}", "erl", "-noshell", "-pa"] ++ paths ++ ["-eval", code]
    System.cmd("timeout", command, stderr_to_stdout: true)
  end

  test "these VMs have the applications that the library needs, and no other" do
    {:ok, needed} = :application.get_key(:ptc_runner_native, :applications)
    {:ok, optional} = :application.get_key(:ptc_runner_native, :optional_applications)
    assert Enum.sort(needed -- optional) == [:crypto, :elixir, :kernel, :logger, :stdlib]
  end
end
