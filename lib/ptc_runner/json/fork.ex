defmodule PtcRunner.Json.Fork do
  @moduledoc false
  # Runs the rounds of a loop that calls tools concurrently. The native calls of all rounds run in
  # the caller, which has their terms; the tools run in several processes at the same time.
  #
  # The rounds start in the order of the list. When one fails, later ones are stopped. Earlier ones
  # continue, because one of them may fail too: the first error in the order of the list counts.

  alias PtcRunner.Json.ToolWorker
  alias PtcRunner.{Native, Quanta}
  alias PtcRunner.Native.{Panic, Telemetry}
  alias PtcRunner.Sandbox.{Guarded, Weight}
  require Telemetry

  # `ref`: the alias for all answers, and the tag of all monitors. It is an argument of the functions that
  # receive, which lets the VM skip older messages of the caller.
  # `waiting`: by round: its state and terms, its process, and the start of the call for telemetry (false if
  # that is off). `pids`: by monitor. `idle`: processes without a call. `values`: by round.
  # `limited?`: whether the caller has a heap limit.
  @enforce_keys [:ref, :state, :terms, :find, :heap, :most, :deadline, :limited?]
  defstruct @enforce_keys ++
              [waiting: %{}, pids: %{}, idle: [], values: %{}, error: nil]

  @type find :: (term() -> {:ok, (term() -> term())} | {:error, term()})

  @doc """
  Runs all rounds of a loop at whose start a run was suspended, with at most `most` tools at a time, whose
  processes share `max_heap` words. Returns the loop's value, or the first error.
  """
  @spec run(tuple(), find(), Guarded.max_heap(), pos_integer()) ::
          {:ok, [term()]} | {:error, term()}
  def run({:fork, state, terms, loop, list, left}, find, max_heap, most) do
    ref = :erlang.alias()

    fork = %__MODULE__{
      ref: ref,
      state: state,
      terms: terms,
      find: find,
      heap: share(max_heap, most),
      most: most,
      deadline: deadline(left),
      limited?: Guarded.limited?()
    }

    case go_on(fork, list, 0, ref) do
      %{error: {_round, reason}} -> {:error, reason}
      %{values: values} -> {:ok, value(loop, list, values)}
    end
  end

  defp share(0, _most), do: 0

  defp share(max_heap, most) do
    {:min_heap_size, least} = :erlang.system_info(:min_heap_size)
    max(div(max_heap, most), least)
  end

  defp deadline(:infinity), do: :infinity
  defp deadline(left), do: System.monotonic_time(:millisecond) + left

  defp left(:infinity), do: :infinity
  defp left(deadline), do: max(deadline - System.monotonic_time(:millisecond), 0)

  defp value("map", list, values),
    do: for({_, i} <- Enum.with_index(list), do: Map.fetch!(values, i))

  defp value(loop, list, values) do
    for {item, index} <- Enum.with_index(list),
        Map.fetch!(values, index) in [nil, false] == (loop == "reject"),
        do: item
  end

  # `items` have not started; the first of them is the item of `round`.
  defp go_on(%{error: nil} = fork, [item | items], round, ref)
       when map_size(fork.waiting) < fork.most do
    fork
    |> step(Panic.instead(fn -> Native.round(fork.state, fork.terms, item) end), round)
    |> go_on(items, round + 1, ref)
  end

  defp go_on(%{waiting: waiting} = fork, _items, _round, ref) when waiting == %{} do
    for {monitor, pid} <- fork.pids, do: Guarded.stop(pid, monitor)
    # After the alias has ended, no further answer can arrive.
    :erlang.unalias(ref)
    drop(ref)
    fork
  end

  defp go_on(%{waiting: waiting, pids: pids} = fork, items, round, ref) do
    left = left(fork.deadline)
    Guarded.settle(fork.limited?)

    receive do
      {^ref, at, result, tag} when is_map_key(waiting, at) ->
        fork |> answered(at, result, tag) |> go_on(items, round, ref)

      # The call was stopped.
      {^ref, _at, _result, _tag} ->
        go_on(fork, items, round, ref)

      {^ref, monitor, :process, _pid, reason} when is_map_key(pids, monitor) ->
        fork |> ended(monitor, reason) |> go_on(items, round, ref)
    after
      left -> fork |> fail(-1, :timeout) |> go_on(items, round, ref)
    end
  end

  defp drop(ref) do
    Guarded.settle()

    receive do
      {^ref, _at, _result, _tag} -> drop(ref)
    after
      0 -> :ok
    end
  end

  defp step(fork, {:ok, value, _words}, round),
    do: %{fork | values: Map.put(fork.values, round, value)}

  defp step(fork, {next, _state, _terms} = left, round) when next in [:more, :long] do
    Telemetry.on?() && Telemetry.suspended()
    step(fork, Panic.instead(fn -> Quanta.go_on(left) end), round)
  end

  defp step(fork, {:error, reason}, round), do: fail(fork, round, reason)

  defp step(fork, {:call, _state, _terms, _name, _args, left}, _round) when left <= 0,
    do: fail(fork, -1, :timeout)

  defp step(fork, {:call, state, terms, name, args, _left}, round) do
    with {:ok, fun} <- fork.find.(name),
         {:ok, _words} <- Panic.instead(fn -> Weight.of(args, fork.heap) end) do
      span = Telemetry.on?() && Telemetry.tool_began(name)
      {process, fork} = request(fork, {fork.ref, round}, name, fun, args)
      %{fork | waiting: Map.put(fork.waiting, round, {state, terms, process, span})}
    else
      :too_much -> fail(fork, round, :memory_exceeded)
      {:error, reason} -> fail(fork, round, reason)
    end
  end

  defp request(%{idle: []} = fork, reply_to, name, fun, args) do
    start = [reply_to, fork.heap, name, fun, args]
    {pid, monitor} = Guarded.start(fork.heap, fork.ref, ToolWorker, :start, start)
    process = {pid, monitor, nil, %{name => []}}
    {process, %{fork | pids: Map.put(fork.pids, monitor, pid)}}
  end

  defp request(%{idle: [{pid, monitor, tag, known} | idle]} = fork, reply_to, name, fun, args) do
    send(pid, {tag, reply_to, name, if(is_map_key(known, name), do: nil, else: fun), args})
    {{pid, monitor, nil, Map.put(known, name, [])}, %{fork | idle: idle}}
  end

  defp answered(fork, round, result, tag) do
    {{state, terms, {pid, monitor, nil, known}, span}, waiting} = Map.pop!(fork.waiting, round)

    fork = %{fork | waiting: waiting, idle: [{pid, monitor, tag, known} | fork.idle]}
    told(span, result)

    case result do
      {:ok, value, words} ->
        resume = fn -> Native.resume(state, terms, {:answer, value, words}) end
        step(fork, Panic.instead(resume), round)

      {:error, reason} ->
        fail(fork, round, reason)
    end
  end

  defp ended(fork, monitor, reason) do
    {pid, pids} = Map.pop!(fork.pids, monitor)
    Guarded.forget(pid)
    fork = %{fork | pids: pids, idle: List.keydelete(fork.idle, monitor, 1)}

    case Enum.find(fork.waiting, fn {_at, waits} -> waits |> elem(2) |> elem(1) == monitor end) do
      nil ->
        fork

      {round, {_state, _terms, _process, span}} ->
        reason = Guarded.ended(reason, fork.heap)
        told(span, {:error, reason})
        fail(%{fork | waiting: Map.delete(fork.waiting, round)}, round, reason)
    end
  end

  defp told(false, _result), do: :ok
  defp told(span, {:ok, _value, _words}), do: Telemetry.tool_ended(span, :ok)
  defp told(span, {:error, _reason} = error), do: Telemetry.tool_ended(span, error)

  # Keeps the error of the first round.
  defp fail(%{error: {first, _reason}} = fork, round, _other) when first < round, do: fork

  defp fail(fork, round, reason) do
    {later, waiting} = Enum.split_with(fork.waiting, fn {at, _waits} -> at > round end)

    why = if reason == :timeout, do: :timeout, else: :stopped
    pids = Enum.reduce(later, fork.pids, &stop(&1, &2, why))
    %{fork | error: {round, reason}, waiting: Map.new(waiting), pids: pids}
  end

  defp stop({_round, {_state, _terms, {pid, monitor, _tag, _known}, span}}, pids, why) do
    Guarded.stop(pid, monitor)
    told(span, {:error, why})
    Map.delete(pids, monitor)
  end
end
