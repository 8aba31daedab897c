defmodule PtcRunner.Json.Run.Rounds.Running do
  @moduledoc false
  # The processes in which the tools of rounds run: which rounds wait for which one.

  alias PtcRunner.Json.{Deadline, ToolWorker}
  alias PtcRunner.Json.Run.Rounds
  alias PtcRunner.Json.Run.Rounds.Gathered
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.Sandbox.Guarded
  require Guarded

  @typedoc "What a round waits with: its call, and, if its caller decides about calls, what is kept of it with the time that its tool has."
  @type waits :: {call :: tuple(), {term(), timeout()} | nil}

  @doc "How many processes run a tool."
  @spec busy(Rounds.t()) :: non_neg_integer()
  def busy(%{pids: pids, idle: idle}), do: map_size(pids) - length(idle)

  @doc "Makes the gathered calls of several rounds."
  @spec together(Rounds.t()) :: Rounds.t()
  def together(rounds) do
    {name, fun, members, batch, gathered} = Gathered.take(rounds.gathered)
    [first | _] = all = for {round, _waits, _args, _words} <- members, do: round
    rounds = %{rounds | gathered: gathered, batches: Map.put(rounds.batches, first, all)}
    waits = for {round, waits, _args, _words} <- members, do: {round, waits}
    call(rounds, first, {name, fun, batch, :next}, waits)
  end

  @doc "Makes a call, or a list of calls, for which these rounds wait. The answer comes for `at`."
  @spec call(Rounds.t(), non_neg_integer(), ToolWorker.request(), [{non_neg_integer(), waits()}]) ::
          Rounds.t()
  def call(rounds, at, {name, _fun, _args, _then} = request, waits) do
    # Before the tool begins.
    spans = for {round, waits} <- waits, do: {round, waits, Telemetry.tool_began(name)}
    {process, rounds} = send_to(rounds, {rounds.ref, rounds.ref, at}, request)

    waiting =
      for {round, {call, running}, span} <- spans, reduce: rounds.waiting do
        waiting -> Map.put(waiting, round, {call, process, span, until(running)})
      end

    %{rounds | waiting: waiting}
  end

  defp until(nil), do: nil
  defp until({running, timeout}), do: {running, Deadline.from_now(timeout)}

  defp send_to(%{idle: []} = rounds, reply_to, {name, _fun, _args, _then} = request) do
    start = {reply_to, rounds.heap, request}
    {pid, monitor} = Guarded.start(rounds.heap, rounds.ref, &ToolWorker.start/1, start)
    process = {pid, monitor, nil, %{name => []}}
    {process, %{rounds | pids: Map.put(rounds.pids, monitor, pid)}}
  end

  defp send_to(%{idle: [{pid, monitor, tag, known} | idle]} = rounds, reply_to, request) do
    {name, _fun, _args, _then} = request
    request = if is_map_key(known, name), do: put_elem(request, 1, nil), else: request
    send(pid, {tag, reply_to, request})
    {{pid, monitor, nil, Map.put(known, name, [])}, %{rounds | idle: idle}}
  end

  @doc "Whether a round waits for the process of a monitor."
  @spec waits?({non_neg_integer(), tuple()}, reference()) :: boolean()
  def waits?({_round, {_call, {_pid, monitor, _tag, _known}, _span, _running}}, of),
    do: monitor == of

  @doc "Stops a process whose tool takes too long; returns the round for which its answer would have come."
  @spec stop_late(Rounds.t(), pid(), reference()) :: {non_neg_integer(), Rounds.t()}
  def stop_late(rounds, pid, monitor) do
    Guarded.stop(pid, monitor)
    # Only its death ensures that no message follows.
    Process.alive?(pid)
    {round, _waits} = Enum.min(Enum.filter(rounds.waiting, &waits?(&1, monitor)))
    at = Enum.find_value(rounds.batches, round, fn {at, all} -> if round in all, do: at end)
    drop(rounds.ref, at)
    {at, %{rounds | pids: Map.delete(rounds.pids, monitor)}}
  end

  @doc "Stops the calls of the rounds after one. A list of calls goes on if one of its rounds does."
  @spec stop_after(Rounds.t(), integer(), :timeout | :stopped) :: Rounds.t()
  def stop_after(rounds, round, why) do
    {later, waiting} = Enum.split_with(rounds.waiting, fn {at, _waits} -> at > round end)

    goes_on =
      for {_at, {_call, {_pid, monitor, _tag, _known}, _span, _running}} <- waiting,
          into: %{},
          do: {monitor, []}

    pids = Enum.reduce(later, rounds.pids, &stop(&1, &2, why, goes_on))
    %{rounds | waiting: Map.new(waiting), pids: pids}
  end

  defp stop({_round, {_call, {pid, monitor, _tag, _known}, span, _running}}, pids, why, goes_on) do
    told(span, {:error, why})

    cond do
      is_map_key(goes_on, monitor) ->
        pids

      is_map_key(pids, monitor) ->
        Guarded.stop(pid, monitor)
        Map.delete(pids, monitor)

      true ->
        pids
    end
  end

  @doc "Stops all processes. No message of them follows."
  @spec stop_all(Rounds.t(), reference()) :: :ok
  def stop_all(rounds, ref) do
    for {monitor, pid} <- rounds.pids, do: Guarded.stop(pid, monitor)
    # After the alias has ended, no further answer can arrive.
    :erlang.unalias(ref)
    drop(ref)
  end

  defp drop(ref) do
    Guarded.await do
      {^ref, _at, _result, _tag} -> drop(ref)
    after
      0 -> :ok
    end
  end

  defp drop(ref, round) do
    Guarded.await do
      {^ref, ^round, _result, _tag} -> :ok
    after
      0 -> :ok
    end
  end

  @doc "Tells the end of a call to telemetry."
  @spec told(term(), {:ok, term(), non_neg_integer()} | {:error, term()}) :: term()
  def told(span, {:ok, _value, _words}), do: Telemetry.tool_ended(span, :ok)
  def told(span, {:error, _reason} = error), do: Telemetry.tool_ended(span, error)
end
