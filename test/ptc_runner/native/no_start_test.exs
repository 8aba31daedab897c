defmodule PtcRunner.Native.NoStartTest do
  # A node on which the application is not started, as under `mix run --no-start`: without the reaper,
  # each process of a run has one that watches its caller. In a node of its own, since here it is started.
  use ExUnit.Case, async: true

  alias PtcRunner.Test.Peer

  @code """
  false = List.keymember?(Application.started_applications(), :ptc_runner_native, 0)
  nil = Process.whereis(PtcRunner.Native.Reaper)

  map = fn tool -> %{"program" => %{"op" => "pipe", "steps" => [
    %{"op" => "load", "name" => "x"}, %{"op" => "map", "expr" => %{"op" => "call", "tool" => tool}}]}} end

  me = self()
  opts = [context: %{"x" => [1, 2, 3]}, timeout: 60_000]
  hang = fn _ ->
    send(me, {:tool, self()})
    Process.sleep(:infinity)
  end

  gone = fn pids ->
    Enum.all?(pids, fn pid ->
      monitor = Process.monitor(pid)
      receive do {:DOWN, ^monitor, _, _, _} -> true after 60_000 -> false end
    end)
  end

  for concurrency <- [1, 3] do
    opts = [tool_concurrency: concurrency] ++ opts
    before = Process.list()
    id = PtcRunner.Json.run(map.("id"), [tools: %{"id" => fn _ -> 1 end}] ++ opts)
    # On a machine that stands still the tools may not have started at the deadline.
    late = fn late, timeout ->
      PtcRunner.Json.run(map.("hang"), [tools: %{"hang" => hang}, timeout: timeout] ++ Keyword.delete(opts, :timeout))
      |> case do
        {:error, {:timeout, ^timeout}} ->
          started = for _ <- 1..concurrency, do: (receive do {:tool, pid} -> pid after 0 -> nil end)
          if nil in started and timeout < 60_000, do: late.(late, 8 * timeout), else: {:late, started}
        other ->
          {other, []}
      end
    end

    {late, timed_out} = late.(late, 1_000)
    ended = gone.(timed_out)

    caller = spawn(fn -> PtcRunner.Json.run(map.("hang"), [tools: %{"hang" => hang}] ++ opts) end)
    tools = for _ <- 1..concurrency, do: (receive do {:tool, pid} -> pid end)
    alive = Enum.all?(tools, &Process.alive?/1)
    Process.exit(caller, :kill)
    killed = gone.(tools)

    # Those that watched have nothing to watch any more.
    left = gone.(Process.list() -- before)
    {id, late, ended, alive, killed, left}
  end
  """

  test "runs, their deadline and the end of their caller, with and without calls beside one another" do
    peer = Peer.start()
    done = {{:ok, [1, 1, 1], %{}, %{}}, :late, true, true, true, true}
    assert Peer.eval(peer, @code) == [done, done]
  end
end
