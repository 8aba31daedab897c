defmodule PtcRunner.Json.Fork do
  @moduledoc false
  # Runs the rounds of a loop that calls tools concurrently. The native calls of all rounds run in
  # the caller, which has their terms; the tools run in several processes at the same time.
  #
  # The rounds start in the order of the list. When one fails, later ones are stopped. Earlier ones
  # continue, because one of them may fail too: the first error in the order of the list counts.

  alias PtcRunner.Json.{Control, Controlled, Deadline, Driver, Entry, ToolProcess, ToolWorker}
  alias PtcRunner.Json.Control.Answers
  alias PtcRunner.Json.Fork.Rounds
  alias PtcRunner.Native
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.Sandbox.{Guarded, Weight}
  require Guarded

  # `ref`: the alias for all answers, and the tag of all monitors. It is an argument of the functions that
  # receive, which lets the VM skip older messages of the caller.
  # `waiting`: by round: its call, its process, and the start of the call for telemetry (nil if
  # nobody listens). `pids`: by monitor. `idle`: processes without a call. `values`: by round.
  # `limited?`: whether the caller has a heap limit.
  #
  # If the caller decides about each call, `control` does that; `id` is that of the loop, `calls` has the number of calls by
  # round, and `asked` what is known of the call that a round waits for: `{:running, call, until}` of a tool that runs;
  # `{:join, key, id}` if an equal call runs; `{:paused, id}`.
  @enforce_keys [:ref, :state, :terms, :find, :heap, :most, :deadline, :limited?]
  defstruct @enforce_keys ++
              [waiting: %{}, pids: %{}, idle: [], values: %{}, error: nil] ++
              [control: nil, id: nil, calls: %{}, asked: %{}]

  @doc """
  Runs all rounds of a loop at whose start a run was suspended, with at most `most` tools at a time, whose
  processes share `max_heap` words. Returns the loop's value, or the first error.
  """
  @spec run(Driver.reply(), ToolProcess.find(), Guarded.max_heap(), pos_integer()) ::
          {:ok, [term()]} | {:error, term()}
  def run({:fork, _state, _terms, name, list, _left} = loop, find, max_heap, most) do
    ref = :erlang.alias()
    fork = new(ref, loop, find, max_heap, most)

    case go_on(fork, list, 0, ref) do
      %{error: {_round, reason}} -> {:error, reason}
      %{values: values} -> {:ok, Rounds.value(name, list, values)}
    end
  end

  @doc """
  The same for a run whose caller decides about each call; `id`: that of the loop. `:paused`: calls wait for a decision, and
  no other one can go on.
  """
  @spec controlled(
          Driver.reply(),
          Control.t(),
          pos_integer(),
          Guarded.max_heap(),
          pos_integer()
        ) :: {{:ok, [term()]} | {:error, term()} | :paused, Control.t()}
  def controlled({:fork, _, _, name, list, _left} = loop, control, id, max_heap, most) do
    before = control.paused
    ref = :erlang.alias()
    fork = %{new(ref, loop, nil, max_heap, most) | control: control, id: id}
    %{control: control} = fork = go_on(fork, list, 0, ref)
    paused = for {_round, {:paused, id}} <- fork.asked, do: id

    case fork do
      _some when paused != [] ->
        # Rounds after one that failed are not asked for.
        waiting = Enum.filter(control.paused, &(&1.id in paused))
        {:paused, %{control | paused: waiting}}

      %{error: {round, reason}} ->
        {{:error, reason}, Answers.beyond(%{control | paused: before}, id, round)}

      %{values: values} ->
        {{:ok, Rounds.value(name, list, values)}, control}
    end
  end

  defp new(ref, {:fork, state, terms, _loop, _list, left}, find, max_heap, most) do
    %__MODULE__{
      ref: ref,
      state: state,
      terms: terms,
      find: find,
      heap: ToolProcess.share(max_heap, most),
      most: most,
      deadline: Deadline.from_now(left),
      limited?: Guarded.limited?()
    }
  end

  # `items` have not started; the first of them is the item of `round`.
  defp go_on(%{error: nil} = fork, [item | items], round, ref)
       when map_size(fork.waiting) + map_size(fork.asked) < fork.most do
    fn -> Native.round(fork.state, fork.terms, item) end
    |> Driver.start(&call(&1, &2, round), fork)
    |> stepped(round)
    |> go_on(items, round + 1, ref)
  end

  defp go_on(%{waiting: waiting} = fork, _items, _round, ref) when waiting == %{},
    do: ended(fork, ref)

  defp go_on(%{waiting: waiting, pids: pids} = fork, items, round, ref) do
    left = Deadline.left(Rounds.next_deadline(fork))

    # A message that arrives takes space on the heap, and the VM may then collect garbage while the process is in
    # the receive. It has no reason to if all terms that native functions made are on the heap already.
    fork.limited? && :erlang.garbage_collect(self(), type: :minor)

    Guarded.await do
      {^ref, at, result, tag} when is_map_key(waiting, at) ->
        fork |> answered(at, result, tag) |> go_on(items, round, ref)

      # The call was stopped.
      {^ref, _at, _result, _tag} ->
        go_on(fork, items, round, ref)

      {^ref, monitor, :process, _pid, reason} when is_map_key(pids, monitor) ->
        fork |> ended(monitor, reason) |> go_on(items, round, ref)
    after
      left -> fork |> late(System.monotonic_time(:millisecond)) |> go_on(items, round, ref)
    end
  end

  defp late(%{deadline: deadline} = fork, now) when deadline <= now or fork.control == nil,
    do: fail(fork, -1, :timeout)

  # A tool has its own time.
  defp late(fork, now) do
    late =
      for {round, {_call, _process, _span, {_running, until}}} <- fork.waiting,
          until <= now,
          do: round

    Enum.reduce(late, fork, fn round, fork ->
      case Map.pop(fork.waiting, round) do
        {nil, _waiting} ->
          fork

        {{call, {pid, monitor, _tag, _known}, span, {running, _until}}, waiting} ->
          Guarded.stop(pid, monitor)
          # Only its death ensures that no message follows.
          Process.alive?(pid)
          drop(fork.ref, round)
          timeout = fork.control.settings[elem(running, 1)].timeout
          result = {:error, Controlled.late(elem(running, 1), timeout)}
          told(span, result)
          fork = %{fork | waiting: waiting, pids: Map.delete(fork.pids, monitor)}
          result(fork, round, call, running, result)
      end
    end)
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

  defp stepped({:waits, fork}, _round), do: fork
  defp stepped({{:error, :deadline}, fork}, _round), do: fail(fork, -1, :timeout)
  defp stepped({{:error, reason}, fork}, round), do: fail(fork, round, reason)

  defp stepped({{:ok, value, _words}, fork}, round),
    do: %{fork | values: Map.put(fork.values, round, value)}

  # The round waits for the tool. `answered/4` goes on with it.
  defp call({:call, _state, _terms, _name, _args, left, _weight}, fork, _round) when left <= 0,
    do: {{:error, :deadline}, fork}

  defp call(
         {:call, _state, _terms, name, args, _left, _weight} = call,
         %{control: nil} = fork,
         round
       ) do
    with {:ok, fun} <- fork.find.(name) do
      begin(call, fun, args, nil, fork, round)
    else
      error -> {error, fork}
    end
  end

  defp call({:call, _state, _terms, name, args, _left, {_weight, pc}} = call, fork, round) do
    number = Map.get(fork.calls, round, 0) + 1
    fork = %{fork | calls: Map.put(fork.calls, round, number)}
    id = {fork.id, round, number}
    step = asked(fork, fn -> Control.decide(fork.control, id, name, args, pc) end)
    decided(step, call, fork, round, id)
  end

  # The application's own function of events may fail, and its caller go on.
  defp asked(fork, decide) do
    decide.()
  catch
    kind, reason ->
      ended(fork, fork.ref)
      :erlang.raise(kind, reason, __STACKTRACE__)
  end

  defp ended(fork, ref) do
    for {monitor, pid} <- fork.pids, do: Guarded.stop(pid, monitor)
    # After the alias has ended, no further answer can arrive.
    :erlang.unalias(ref)
    drop(ref)
    fork
  end

  defp decided(step, call, fork, round, id) do
    case step do
      {:answer, value, words, control} ->
        fork = %{fork | control: control}

        case Controlled.weighed(value, words, fork.heap) do
          {:ok, value, words} -> {:ok, {:answer, value, words}, fork}
          error -> {error, fork}
        end

      {:failed, text, control} ->
        {:failed, :failed, text, %{fork | control: control}}

      {:run, running, fun, args, {timeout, _left}, control} ->
        begin(
          call,
          fun,
          args,
          {running, Deadline.from_now(timeout)},
          %{fork | control: control},
          round
        )

      {:join, key, control} ->
        asked = Map.put(fork.asked, round, {:join, key, id, call})
        {:waits, %{fork | control: control, asked: asked}}

      {:wait, control} ->
        {:waits,
         %{fork | control: control, asked: Map.put(fork.asked, round, {:paused, Entry.text(id)})}}

      {:ended, reason, control} ->
        {{:error, reason}, %{fork | control: control}}
    end
  end

  defp begin(call, fun, args, running, fork, round) do
    with {:ok, _words} <- Weight.within(args, fork.heap) do
      name = elem(call, 3)
      span = Telemetry.tool_began(name)
      {process, fork} = request(fork, {fork.ref, fork.ref, round}, {name, fun, args, :next})
      {:waits, %{fork | waiting: Map.put(fork.waiting, round, {call, process, span, running})}}
    else
      error -> {error, fork}
    end
  end

  defp request(%{idle: []} = fork, reply_to, {name, _fun, _args, _then} = request) do
    start = {reply_to, fork.heap, request}
    {pid, monitor} = Guarded.start(fork.heap, fork.ref, &ToolWorker.start/1, start)
    process = {pid, monitor, nil, %{name => []}}
    {process, %{fork | pids: Map.put(fork.pids, monitor, pid)}}
  end

  defp request(%{idle: [{pid, monitor, tag, known} | idle]} = fork, reply_to, request) do
    {name, _fun, _args, _then} = request
    request = if is_map_key(known, name), do: put_elem(request, 1, nil), else: request
    send(pid, {tag, reply_to, request})
    {{pid, monitor, nil, Map.put(known, name, [])}, %{fork | idle: idle}}
  end

  defp answered(fork, round, result, tag) do
    {{call, {pid, monitor, nil, known}, span, running}, waiting} = Map.pop!(fork.waiting, round)
    fork = %{fork | waiting: waiting, idle: [{pid, monitor, tag, known} | fork.idle]}
    told(span, result)

    case running do
      nil -> went_on(fork, round, call, result)
      {running, _until} -> result(fork, round, call, running, result)
    end
  end

  # The answer is kept, and given to the rounds that wait for an equal call.
  defp result(fork, round, call, {_id, name, args, _sent, cached?} = running, result) do
    case Answers.answered(fork.control, running, result) do
      {:ok, control} ->
        fork = went_on(%{fork | control: control}, round, call, result)
        if cached?, do: joined(fork, {name, args}), else: fork

      {:error, reason, control} ->
        fail(%{fork | control: control}, round, reason)
    end
  end

  defp joined(fork, key) do
    outcome = Control.in_cache(fork.control, key)
    joining = for {round, {:join, ^key, id, call}} <- fork.asked, do: {round, id, call}

    Enum.reduce(Enum.sort_by(joining, &elem(&1, 0)), fork, fn {round, id, call}, fork ->
      if is_map_key(fork.asked, round) do
        fork = %{fork | asked: Map.delete(fork.asked, round)}

        fork
        |> asked(fn -> Control.from_cache(fork.control, id, key, outcome) end)
        |> decided(call, fork, round, id)
        |> resumed(call, round)
      else
        fork
      end
    end)
  end

  defp resumed({:ok, {:answer, value, words}, fork}, call, round),
    do: went_on(fork, round, call, {:ok, value, words})

  defp resumed({:failed, :failed, text, fork}, call, round),
    do: went_on(fork, round, call, {:error, {:tool_failed, text}})

  defp resumed({{:error, reason}, fork}, _call, round), do: fail(fork, round, reason)

  defp went_on(fork, round, call, result) do
    case result do
      {:ok, value, words} ->
        reply = Driver.resume(call, {:answer, value, words})
        reply |> Driver.drive(&call(&1, &2, round), fork) |> stepped(round)

      {:error, {:tool_failed, text} = reason} ->
        case Driver.failed(call, :failed, text) do
          :uncaught -> fail(fork, round, reason)
          reply -> reply |> Driver.drive(&call(&1, &2, round), fork) |> stepped(round)
        end

      {:error, reason} ->
        fail(fork, round, reason)
    end
  end

  defp ended(fork, monitor, reason) do
    {pid, pids} = Map.pop!(fork.pids, monitor)
    Guarded.forget(pid)
    fork = %{fork | pids: pids, idle: List.keydelete(fork.idle, monitor, 1)}

    case Enum.find(fork.waiting, fn {_at, waits} -> waits |> elem(1) |> elem(1) == monitor end) do
      nil ->
        fork

      {round, {_call, _process, span, running}} ->
        reason = Guarded.ended(reason, fork.heap)
        told(span, {:error, reason})
        fork = %{fork | waiting: Map.delete(fork.waiting, round)}
        fork |> ended_with(running, reason) |> fail(round, reason)
    end
  end

  defp ended_with(fork, nil, _reason), do: fork

  defp ended_with(fork, {running, _until}, reason) do
    # Its error ends the run in any case.
    case Answers.answered(fork.control, running, {:error, reason}) do
      {:ok, control} -> %{fork | control: control}
      {:error, _reason, control} -> %{fork | control: control}
    end
  end

  defp told(span, {:ok, _value, _words}), do: Telemetry.tool_ended(span, :ok)
  defp told(span, {:error, _reason} = error), do: Telemetry.tool_ended(span, error)

  # Keeps the error of the first round.
  defp fail(%{error: {first, _reason}} = fork, round, _other) when first < round, do: fork

  defp fail(fork, round, reason) do
    {later, waiting} = Enum.split_with(fork.waiting, fn {at, _waits} -> at > round end)

    why = if reason == :timeout, do: :timeout, else: :stopped
    pids = Enum.reduce(later, fork.pids, &stop(&1, &2, why))
    asked = for {at, asked} <- fork.asked, at <= round, into: %{}, do: {at, asked}
    %{fork | error: {round, reason}, waiting: Map.new(waiting), pids: pids, asked: asked}
  end

  defp stop({_round, {_call, {pid, monitor, _tag, _known}, span, _running}}, pids, why) do
    Guarded.stop(pid, monitor)
    told(span, {:error, why})
    Map.delete(pids, monitor)
  end
end
