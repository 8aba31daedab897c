defmodule PtcRunner.Test.Watch do
  @moduledoc """
  Measures the side effects of a call: the processes that it starts, how long it holds a scheduler, how
  much memory the node uses meanwhile.
  """

  @doc """
  Calls `fun` in a process of its own; gives its result and every process started meanwhile, by it
  or by those it started.

      iex> {pid, [pid]} = PtcRunner.Test.Watch.started(fn -> spawn(fn -> :ok end) end)
      iex> is_pid(pid)
      true
  """
  @spec started((... -> result)) :: {result, [pid()]} when result: term()
  def started(fun) do
    tracer = spawn_link(fn -> collect([]) end)

    result =
      in_task(fn ->
        :erlang.trace(self(), true, [:procs, :set_on_spawn, {:tracer, tracer}])
        fun.()
      end)

    delivered = :erlang.trace_delivered(:all)

    receive do
      {:trace_delivered, :all, ^delivered} -> send(tracer, {:report, self()})
    end

    receive do
      {^tracer, pids} -> {result, pids}
    end
  end

  defp collect(pids) do
    receive do
      {:trace, _parent, :spawn, pid, _call} -> collect([pid | pids])
      {:report, to} -> send(to, {self(), Enum.reverse(pids)})
      _other -> collect(pids)
    end
  end

  @doc """
  Waits until all these processes have ended; returns those that have not after some seconds.

      iex> PtcRunner.Test.Watch.survivors([spawn(fn -> :ok end)])
      []
  """
  @spec survivors([pid()]) :: [pid()]
  def survivors(pids) do
    monitors = for pid <- pids, do: {pid, Process.monitor(pid)}

    Enum.flat_map(monitors, fn {pid, monitor} ->
      receive do
        {:DOWN, ^monitor, :process, ^pid, _reason} -> []
      after
        60_000 -> [pid]
      end
    end)
  end

  @doc """
  Calls `fun` in a process of its own; gives its result and the times, in milliseconds, for which
  that process held a scheduler without a break, if they were at least as long as `limit`.

  For tests that are not async, or apart: there is only one such monitor per node.
  """
  @spec holds(pos_integer(), (... -> result)) :: {result, [pos_integer()]} when result: term()
  def holds(limit, fun) do
    monitor = spawn_link(fn -> collect_holds([]) end)
    before = :erlang.system_monitor(monitor, [{:long_schedule, limit}])

    {pid, result} = in_task(fn -> {self(), fun.()} end)

    # The last activity of a process is reported once it has left the scheduler.
    Process.sleep(20)
    :erlang.system_monitor(before)
    send(monitor, {:report, pid, self()})

    receive do
      {^monitor, holds} -> {result, holds}
    end
  end

  defp collect_holds(holds) do
    receive do
      {:monitor, pid, :long_schedule, info} -> collect_holds([{pid, info[:timeout]} | holds])
      {:report, pid, to} -> send(to, {self(), for({^pid, hold} <- holds, do: hold)})
    end
  end

  @doc """
  Calls `fun` while another process alternates with all others on the same schedulers; returns
  the result and the number of its time slices.
  """
  @spec ticks((... -> result)) :: {result, non_neg_integer()} when result: term()
  def ticks(fun) do
    ticker = spawn_link(fn -> tick(0) end)
    result = in_task(fun)
    send(ticker, {:report, self()})

    receive do
      {^ticker, ticks} -> {result, ticks}
    end
  end

  defp tick(ticks) do
    receive do
      {:report, to} -> send(to, {self(), ticks})
    after
      1 -> tick(ticks + 1)
    end
  end

  @doc """
  Calls `fun` in a process of its own; gives its result and by how many megabytes the memory of the
  whole node, native memory included, grew at most meanwhile. 0 where the system does not tell.
  """
  @spec growth((... -> result)) :: {result, non_neg_integer()} when result: term()
  def growth(fun) do
    before = resident()
    sampler = spawn_link(fn -> sample(before) end)
    result = in_task(fun)
    send(sampler, {:report, self()})

    receive do
      {^sampler, peak} -> {result, div(peak - before, 1024)}
    end
  end

  defp sample(peak) do
    peak = max(peak, resident())

    receive do
      {:report, to} -> send(to, {self(), peak})
    after
      2 -> sample(peak)
    end
  end

  defp resident do
    with {:ok, status} <- File.read("/proc/self/status"),
         [_line, kilobytes] <- Regex.run(~r/VmRSS:\s+(\d+)/, status) do
      String.to_integer(kilobytes)
    else
      _unknown -> 0
    end
  end

  @doc """
  Loads every module that calls could load, because loading creates the module's atoms.

      iex> PtcRunner.Test.Watch.load_everything()
      :ok
  """
  @spec load_everything() :: :ok
  def load_everything do
    for app <- [:ptc_runner_native, :elixir, :logger, :ex_unit, :stdlib, :kernel],
        {:ok, modules} <- [:application.get_key(app, :modules)],
        module <- modules,
        do: Code.ensure_loaded(module)

    :ok
  end

  defp in_task(fun), do: fun |> Task.async() |> Task.await(:infinity)
end
