defmodule Bench.Memory do
  @moduledoc false
  # Measures whether a run copies its context. One process holds the rows, another one reads its memory continuously.

  alias Bench.{ByHand, Data, Programs}

  # On a busy machine a watcher may miss a whole run: of several runs, the worst counts.
  @runs 3

  @type measured :: %{
          name: atom,
          rows: pos_integer,
          context_bytes: pos_integer,
          result_bytes: non_neg_integer,
          process_growth: integer,
          processes_growth: integer,
          rss_growth: integer | nil,
          heap_before: non_neg_integer,
          heap_after: non_neg_integer,
          looks: [pos_integer]
        }

  @doc "Runs two programs over `rows` rows, then the same sum in a process that gets a copy, for contrast."
  @spec measure(pos_integer) :: [measured]
  def measure(rows) do
    in_new_process(fn ->
      used_before = used_bytes()
      data = Data.maker(:built, rows).()
      context_bytes = used_bytes() - used_before

      for name <- [:filter_sum, :map_object, :copied] do
        run = runner(name, data)
        seen = for _ <- 1..@runs, do: observe(name, run)
        seen |> Enum.reduce(&worst/2) |> Map.merge(%{rows: rows, context_bytes: context_bytes})
      end
    end)
  end

  defp runner(:copied, %{rows: rows}) do
    fn -> Task.async(fn -> ByHand.filter_sum(rows) end) |> Task.await(:infinity) end
  end

  defp runner(name, data) do
    {:ok, program} = PtcRunner.Json.compile(Programs.text(name))

    fn ->
      opts = [context: data.context, timeout: :infinity, max_heap: 0]
      {:ok, value, _, _} = PtcRunner.Json.run(program, opts)
      value
    end
  end

  defp worst(a, b) do
    Map.merge(a, b, fn
      :name, name, _ -> name
      :looks, these, those -> Enum.zip_with(these, those, &+/2)
      _, this, that -> this && max(this, that)
    end)
  end

  defp observe(name, run) do
    used_before = used_bytes()
    before = look(self())
    heap_before = heap_bytes()
    watchers = start_watchers(self())
    result = run.()
    {peak, looks} = stop_watchers(watchers)
    heap_after = heap_bytes()
    result_bytes = max(0, used_bytes() - used_before)
    # The result must stay alive until its size is known.
    true = result == result

    %{
      name: name,
      result_bytes: result_bytes,
      process_growth: peak.process - before.process,
      processes_growth: peak.processes - before.processes,
      rss_growth: before.rss && peak.rss - before.rss,
      heap_before: heap_before,
      heap_after: heap_after,
      looks: looks
    }
  end

  # The size of the live data on this process's heap. (The sizes of `:erts_debug` take minutes for this much data.)
  defp used_bytes do
    :erlang.garbage_collect()
    :erlang.garbage_collect(self(), type: :minor)
    {:garbage_collection_info, info} = Process.info(self(), :garbage_collection_info)
    (info[:heap_size] + info[:old_heap_size]) * word()
  end

  # Two watchers, because reading the memory of a busy process may have to wait for that process;
  # the numbers of the VM and of the operating system do not.
  defp start_watchers(target) do
    for what <- [:process, :system], do: start_watcher(what, target)
  end

  defp start_watcher(what, target) do
    watch = fn -> watch(what, target, look(what, target), 1) end
    pid = :erlang.spawn_opt(watch, [:link, priority: :high])
    # The first reading is taken before the run starts.
    send(pid, {:ready?, self()})
    receive do: ({^pid, :ready} -> pid)
  end

  defp watch(what, target, peak, looks) do
    receive do
      {:ready?, from} ->
        send(from, {self(), :ready})
        watch(what, target, peak, looks)

      {:stop, from} ->
        send(from, {self(), peak, looks})
    after
      1 ->
        seen = Map.merge(peak, look(what, target), fn _, a, b -> a && max(a, b) end)
        watch(what, target, seen, looks + 1)
    end
  end

  defp stop_watchers(watchers) do
    peaks =
      for pid <- watchers do
        send(pid, {:stop, self()})
        receive do: ({^pid, peak, looks} -> {peak, looks})
      end

    {seen, looks} = Enum.unzip(peaks)
    {Enum.reduce(seen, &Map.merge/2), looks}
  end

  defp look(pid), do: Map.merge(look(:process, pid), look(:system, pid))

  defp look(:process, pid), do: %{process: pid |> Process.info(:memory) |> elem(1)}
  defp look(:system, _pid), do: %{processes: :erlang.memory(:processes), rss: resident_bytes()}

  # Includes native allocations; only on systems with /proc.
  defp resident_bytes do
    with {:ok, text} <- File.read("/proc/self/status"),
         [_, kilobytes] <- Regex.run(~r/VmRSS:\s+(\d+) kB/, text) do
      String.to_integer(kilobytes) * 1024
    else
      _ -> nil
    end
  end

  defp heap_bytes do
    {:total_heap_size, words} = Process.info(self(), :total_heap_size)
    words * word()
  end

  defp word, do: :erlang.system_info(:wordsize)

  defp in_new_process(fun) do
    parent = self()
    {pid, monitor} = spawn_monitor(fn -> send(parent, {self(), fun.()}) end)

    receive do
      {^pid, result} ->
        Process.demonitor(monitor, [:flush])
        result

      {:DOWN, ^monitor, _, _, reason} ->
        raise "the memory run ended: #{Exception.format_exit(reason)}"
    end
  end
end
