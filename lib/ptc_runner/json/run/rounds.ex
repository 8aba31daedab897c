defmodule PtcRunner.Json.Run.Rounds do
  @moduledoc false
  # Drives the rounds of a loop that calls tools concurrently. The native calls of all rounds run in
  # the caller, which has their terms; the tools run in several processes at the same time.
  #
  # The rounds start in the order of the list. When one fails, later ones are stopped. Earlier ones
  # continue, because one of them may fail too: the first error in the order of the list counts.

  alias PtcRunner.Json.{Control, Deadline, Entry, Keyed, Run, ToolProcess, ToolWorker}
  alias PtcRunner.Json.Control.Answers
  alias PtcRunner.Json.Run.{Controlled, Driver, InCaller, Reply}
  alias PtcRunner.Json.Run.Rounds.Loop
  alias PtcRunner.Native
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.Sandbox.{Guarded, Weight}
  require Guarded
  require Reply

  @behaviour Driver

  # `ref`: the alias for all answers, and the tag of all monitors. It is an argument of the functions that
  # receive, which lets the VM skip older messages of the caller.
  # `waiting`: by round: its call, its process, and the start of the call for telemetry (nil if
  # nobody listens). `pids`: by monitor. `idle`: processes without a call. `values`: by round.
  # `limited?`: whether the caller has a heap limit.
  #
  # `round`: of these, the round that is driven.
  #
  # If the caller decides about each call, `control` does that; `id` is that of the loop, `calls` has the number of calls by
  # round, and `asked` what is known of the call that a round waits for: `{:running, call, until}` of a tool that runs;
  # `{:join, key, id}` if an equal call runs; `{:paused, id}`.
  @enforce_keys [:ref, :state, :terms, :run, :heap, :most, :deadline, :limited?]
  defstruct @enforce_keys ++
              [waiting: %{}, pids: %{}, idle: [], values: %{}, error: nil] ++
              [control: nil, id: nil, calls: %{}, asked: %{}, round: nil]

  @type t :: %__MODULE__{}

  @doc """
  Runs all rounds of a loop at whose start a run was suspended, whose tools share its heap limit. Returns the loop's value, or
  the first error.
  """
  @spec run(Reply.t(), Run.t()) :: {:ok, [term()]} | {:error, term()}
  def run(Reply.fork(loop: name, list: list) = loop, run) do
    ref = :erlang.alias()

    case ref |> new(loop, run) |> go_on(list, 0, ref) do
      %{error: {_round, reason}} -> {:error, reason}
      %{values: values} -> {:ok, Loop.value(name, list, values)}
    end
  end

  @doc """
  Runs them for a run whose caller decides about each call. `id`: that of the loop; `:paused`: calls wait for a decision, and no other one can go on.
  """
  @spec controlled(Reply.t(), Run.t(), id :: pos_integer()) ::
          {{:ok, [term()]} | {:error, term()} | :paused, Control.t()}
  def controlled(Reply.fork(loop: name, list: list) = loop, %Run{control: control} = run, id) do
    before = control.paused
    ref = :erlang.alias()
    rounds = %{new(ref, loop, run) | control: control, id: id}
    %{control: control} = rounds = go_on(rounds, list, 0, ref)
    paused = for {_round, {:paused, id}} <- rounds.asked, do: id

    case rounds do
      _some when paused != [] ->
        # Rounds after one that failed are not asked for.
        waiting = Enum.filter(control.paused, &(&1.id in paused))
        {:paused, %{control | paused: waiting}}

      %{error: {round, reason}} ->
        {{:error, reason}, Answers.beyond(%{control | paused: before}, id, round)}

      %{values: values} ->
        {{:ok, Loop.value(name, list, values)}, control}
    end
  end

  defp new(ref, Reply.fork(state: state, terms: terms, left: left), run) do
    %__MODULE__{
      ref: ref,
      state: state,
      terms: terms,
      run: run,
      heap: ToolProcess.share(run.max_heap, run.most),
      most: run.most,
      deadline: Deadline.from_now(left),
      limited?: Guarded.limited?()
    }
  end

  # `items` have not started; the first of them is the item of `round`.
  defp go_on(%{error: nil} = rounds, [item | items], round, ref)
       when map_size(rounds.waiting) + map_size(rounds.asked) < rounds.most do
    fn -> Native.round(rounds.state, rounds.terms, item) end
    |> Driver.start(one(rounds, round))
    |> stepped()
    |> go_on(items, round + 1, ref)
  end

  defp go_on(%{waiting: waiting} = rounds, _items, _round, ref) when waiting == %{},
    do: ended(rounds, ref)

  defp go_on(%{waiting: waiting, pids: pids} = rounds, items, round, ref) do
    left = Deadline.left(Loop.next_deadline(rounds))

    # A message that arrives takes space on the heap, and the VM may then collect garbage while the process is in
    # the receive. It has no reason to if all terms that native functions made are on the heap already.
    rounds.limited? && :erlang.garbage_collect(self(), type: :minor)

    Guarded.await do
      {^ref, at, result, tag} when is_map_key(waiting, at) ->
        rounds |> answered(at, result, tag) |> go_on(items, round, ref)

      # The call was stopped.
      {^ref, _at, _result, _tag} ->
        go_on(rounds, items, round, ref)

      {^ref, monitor, :process, _pid, reason} when is_map_key(pids, monitor) ->
        rounds |> ended(monitor, reason) |> go_on(items, round, ref)
    after
      left -> rounds |> late(System.monotonic_time(:millisecond)) |> go_on(items, round, ref)
    end
  end

  defp late(%{deadline: deadline} = rounds, now) when deadline <= now or rounds.control == nil,
    do: fail(rounds, -1, :timeout)

  # A tool has its own time.
  defp late(rounds, now) do
    late =
      for {round, {_call, _process, _span, {_running, until}}} <- rounds.waiting,
          until <= now,
          do: round

    Enum.reduce(late, rounds, fn round, rounds ->
      case Map.pop(rounds.waiting, round) do
        {nil, _waiting} ->
          rounds

        {{call, {pid, monitor, _tag, _known}, span, {running, _until}}, waiting} ->
          Guarded.stop(pid, monitor)
          # Only its death ensures that no message follows.
          Process.alive?(pid)
          drop(rounds.ref, round)
          timeout = rounds.control.settings[elem(running, 1)].timeout
          result = {:error, Controlled.late(elem(running, 1), timeout)}
          told(span, result)
          rounds = %{rounds | waiting: waiting, pids: Map.delete(rounds.pids, monitor)}
          result(rounds, round, call, running, result)
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

  # One round, as a run of its own.
  defp one(rounds, round), do: %Run{strategy: %{rounds | round: round}}

  defp stepped({result, %Run{strategy: %{round: round} = rounds}}) do
    case result do
      :waits -> rounds
      {:error, :deadline} -> fail(rounds, -1, :timeout)
      {:error, reason} -> fail(rounds, round, reason)
      {:ok, value, _words} -> %{rounds | values: Map.put(rounds.values, round, value)}
    end
  end

  # The round waits for the tool. `answered/4` goes on with it.
  @impl true
  def request(call, %Run{strategy: %{round: round} = rounds} = run) do
    case asked_for(call, rounds, round) do
      {:waits, rounds} -> {:ended, :waits, %{run | strategy: rounds}}
      {:resume, answer, rounds} -> {:resume, answer, %{run | strategy: rounds}}
      {:failed, text, rounds} -> {:failed, :failed, text, %{run | strategy: rounds}}
      {{:error, _reason} = error, rounds} -> {:ended, error, %{run | strategy: rounds}}
    end
  end

  defp asked_for(Reply.call(left: left), rounds, _round) when left <= 0,
    do: {{:error, :deadline}, rounds}

  defp asked_for(call, %{control: nil} = rounds, round) do
    Reply.call(tool: name, args: args) = call

    with {:ok, fun} <- InCaller.tool(rounds.run, name, args) do
      begin(call, fun, args, nil, rounds, round)
    else
      error -> {error, rounds}
    end
  end

  defp asked_for(Reply.call(tool: name, args: args, pc: pc) = call, rounds, round) do
    number = Map.get(rounds.calls, round, 0) + 1
    rounds = %{rounds | calls: Map.put(rounds.calls, round, number)}
    id = {rounds.id, round, number}
    step = asked(rounds, fn -> Control.decide(rounds.control, id, name, args, pc) end)
    decided(step, call, rounds, round, id)
  end

  # The application's own function of events may fail, and its caller go on.
  defp asked(rounds, decide) do
    decide.()
  catch
    kind, reason ->
      ended(rounds, rounds.ref)
      :erlang.raise(kind, reason, __STACKTRACE__)
  end

  defp ended(rounds, ref) do
    for {monitor, pid} <- rounds.pids, do: Guarded.stop(pid, monitor)
    # After the alias has ended, no further answer can arrive.
    :erlang.unalias(ref)
    drop(ref)
    rounds
  end

  defp decided(step, call, rounds, round, id) do
    case step do
      {:answer, value, words, control} ->
        rounds = %{rounds | control: control}

        case Controlled.weighed(value, words, rounds.heap) do
          {:ok, value, words} -> {:resume, {:answer, value, words}, rounds}
          error -> {error, rounds}
        end

      {:failed, text, control} ->
        {:failed, text, %{rounds | control: control}}

      {:run, running, fun, args, {timeout, _left}, control} ->
        begin(
          call,
          fun,
          args,
          {running, Deadline.from_now(timeout)},
          %{rounds | control: control},
          round
        )

      {:join, key, control} ->
        asked = Map.put(rounds.asked, round, {:join, key, id, call})
        {:waits, %{rounds | control: control, asked: asked}}

      {:wait, control} ->
        {:waits,
         %{
           rounds
           | control: control,
             asked: Map.put(rounds.asked, round, {:paused, Entry.text(id)})
         }}

      {:ended, reason, control} ->
        {{:error, reason}, %{rounds | control: control}}
    end
  end

  defp begin(call, fun, args, running, rounds, round) do
    with {:ok, _words} <- args |> Keyed.args() |> Weight.within(rounds.heap) do
      Reply.call(tool: name) = call
      span = Telemetry.tool_began(name)

      {process, rounds} =
        send_to(rounds, {rounds.ref, rounds.ref, round}, {name, fun, args, :next})

      {:waits,
       %{rounds | waiting: Map.put(rounds.waiting, round, {call, process, span, running})}}
    else
      error -> {error, rounds}
    end
  end

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

  defp answered(rounds, round, result, tag) do
    {{call, {pid, monitor, nil, known}, span, running}, waiting} = Map.pop!(rounds.waiting, round)
    rounds = %{rounds | waiting: waiting, idle: [{pid, monitor, tag, known} | rounds.idle]}
    told(span, result)

    case running do
      nil -> went_on(rounds, round, call, result)
      {running, _until} -> result(rounds, round, call, running, result)
    end
  end

  # The answer is kept, and given to the rounds that wait for an equal call.
  defp result(rounds, round, call, {_id, name, args, _sent, cached?} = running, result) do
    case Answers.answered(rounds.control, running, result) do
      {:ok, control} ->
        rounds = went_on(%{rounds | control: control}, round, call, result)
        if cached?, do: joined(rounds, {name, args}), else: rounds

      {:error, reason, control} ->
        fail(%{rounds | control: control}, round, reason)
    end
  end

  defp joined(rounds, key) do
    outcome = Control.in_cache(rounds.control, key)
    joining = for {round, {:join, ^key, id, call}} <- rounds.asked, do: {round, id, call}

    Enum.reduce(Enum.sort_by(joining, &elem(&1, 0)), rounds, fn {round, id, call}, rounds ->
      if is_map_key(rounds.asked, round) do
        rounds = %{rounds | asked: Map.delete(rounds.asked, round)}

        rounds
        |> asked(fn -> Control.from_cache(rounds.control, id, key, outcome) end)
        |> decided(call, rounds, round, id)
        |> resumed(call, round)
      else
        rounds
      end
    end)
  end

  defp resumed({:resume, {:answer, value, words}, rounds}, call, round),
    do: went_on(rounds, round, call, {:ok, value, words})

  defp resumed({:failed, text, rounds}, call, round),
    do: went_on(rounds, round, call, {:error, {:tool_failed, text}})

  defp resumed({{:error, reason}, rounds}, _call, round), do: fail(rounds, round, reason)

  defp went_on(rounds, round, call, result) do
    case result do
      {:ok, value, words} ->
        reply = Driver.resume(call, {:answer, value, words})
        reply |> Driver.drive(one(rounds, round)) |> stepped()

      {:error, {:tool_failed, text} = reason} ->
        case Driver.failed(call, :failed, text) do
          :uncaught -> fail(rounds, round, reason)
          reply -> reply |> Driver.drive(one(rounds, round)) |> stepped()
        end

      {:error, reason} ->
        fail(rounds, round, reason)
    end
  end

  defp ended(rounds, monitor, reason) do
    {pid, pids} = Map.pop!(rounds.pids, monitor)
    Guarded.forget(pid)
    rounds = %{rounds | pids: pids, idle: List.keydelete(rounds.idle, monitor, 1)}

    case Enum.find(rounds.waiting, fn {_at, waits} -> waits |> elem(1) |> elem(1) == monitor end) do
      nil ->
        rounds

      {round, {_call, _process, span, running}} ->
        reason = Guarded.ended(reason, rounds.heap)
        told(span, {:error, reason})
        rounds = %{rounds | waiting: Map.delete(rounds.waiting, round)}
        rounds |> ended_with(running, reason) |> fail(round, reason)
    end
  end

  defp ended_with(rounds, nil, _reason), do: rounds

  defp ended_with(rounds, {running, _until}, reason) do
    # Its error ends the run in any case.
    case Answers.answered(rounds.control, running, {:error, reason}) do
      {:ok, control} -> %{rounds | control: control}
      {:error, _reason, control} -> %{rounds | control: control}
    end
  end

  defp told(span, {:ok, _value, _words}), do: Telemetry.tool_ended(span, :ok)
  defp told(span, {:error, _reason} = error), do: Telemetry.tool_ended(span, error)

  # Keeps the error of the first round.
  defp fail(%{error: {first, _reason}} = rounds, round, _other) when first < round, do: rounds

  defp fail(rounds, round, reason) do
    {later, waiting} = Enum.split_with(rounds.waiting, fn {at, _waits} -> at > round end)

    why = if reason == :timeout, do: :timeout, else: :stopped
    pids = Enum.reduce(later, rounds.pids, &stop(&1, &2, why))
    asked = for {at, asked} <- rounds.asked, at <= round, into: %{}, do: {at, asked}
    %{rounds | error: {round, reason}, waiting: Map.new(waiting), pids: pids, asked: asked}
  end

  defp stop({_round, {_call, {pid, monitor, _tag, _known}, span, _running}}, pids, why) do
    Guarded.stop(pid, monitor)
    told(span, {:error, why})
    Map.delete(pids, monitor)
  end
end
