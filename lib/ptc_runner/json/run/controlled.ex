defmodule PtcRunner.Json.Run.Controlled do
  @moduledoc false
  # Drives a run whose calls are decided about: see `PtcRunner.Json.Control`. The run stays in its caller, and asks there
  # before each call; only tools run in processes of their own.

  alias PtcRunner.Firewall.Watch
  alias PtcRunner.Json.Control
  alias PtcRunner.Json.Control.{Answers, Deciding, Order, Replays}
  alias PtcRunner.Json.{Deadline, Entry, Fingerprint, Keyed, Limits, Now, Paused, Place}
  alias PtcRunner.Json.{Program, Run, Text, Texts, ToolProcess, Tools}
  alias PtcRunner.Json.Run.{Driver, InCaller, Reply, Rounds, Start, Turn}
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.Native.Telemetry.Ids
  alias PtcRunner.Sandbox.Weight
  alias PtcRunner.Shown
  require Reply
  require Telemetry

  @behaviour Driver

  # The ids of the next calls, see `Turn`. The strategy of another language has an `id` too.
  defstruct id: 1, turn: nil

  @doc """
  Prepares a run that has a control: its native part, and what the control must know. The run that is told to
  `:on_journal` is told here, before its first call. Returns it, and the fingerprint of its data; or why it does not start, and the control.
  """
  @spec prepared(Run.t()) :: {:ok, Run.t(), (() -> term())} | {{:error, term()}, Control.t()}
  def prepared(%Run{program: program, control: control, limits: limits} = run) do
    {timeout, max_heap, _reading} = limits = Limits.resolve(limits)
    now = run.now || control.now || if(control.keeps?, do: now())
    forks? = if control.forks? == nil, do: forks?(run), else: control.forks?
    run_id = control.run_id || Ids.run_id() || Ids.new()

    control = %{
      control
      | tools: run.tools,
        limits: limits,
        deadline: Deadline.from_now(timeout),
        now: now,
        forks?: forks?,
        most: run.most,
        run_id: run_id,
        key_run: control.key_run || run_id
    }

    run = %{run | now: now, forks?: forks?, control: control, limits: limits, max_heap: max_heap}

    with {:ok, run} <- compiled(run),
         fingerprint = fingerprint(run),
         :ok <- same(control.rules.fingerprint, fingerprint),
         :ok <- Answers.begin(control, fn -> started(run, program, fingerprint) end) do
      control = Answers.known(%{control | place: place(run)})
      strategy = run.strategy || %__MODULE__{}
      process = ToolProcess.new(max_heap)
      {:ok, %{run | strategy: strategy, control: control, process: process}, fingerprint}
    else
      error -> {error, control}
    end
  end

  # The parallel forms of another language have workers, however many tools run at a time.
  defp forks?(%Run{strategy: strategy}) when strategy != nil, do: true

  # A text that is read in place would be decoded for a loop whose calls wait together.
  defp forks?(%Run{most: most, settings: settings, control: control} = run),
    do: most > 1 or settings != %{} or (Order.waits?(control) and not Texts.in_place?(run))

  # A run of another language has its strategy, and is compiled.
  defp compiled(%Run{strategy: nil} = run), do: Start.compiled(run)
  defp compiled(run), do: {:ok, run}

  defp fingerprint(%Run{strategy: nil, context: context} = run) do
    %Run{limits: {_timeout, _max_heap, reading}} = run
    %Program{handle: handle, consts: consts} = program(run)
    fn -> Fingerprint.of(handle, consts, context, any_keys?(reading)) end
  end

  defp fingerprint(%Run{strategy: %strategy{}} = run),
    do: fn -> run |> strategy.data() |> Fingerprint.of_parts() end

  defp place(%Run{strategy: nil} = run) do
    %Program{handle: handle, consts: consts, source: source} = program(run)
    Place.new(handle, consts, source)
  end

  defp place(_run), do: nil

  defp program(%Run{program: {:observed, _observation, program}}), do: program
  defp program(%Run{program: program}), do: program

  @doc "The control of a run that is paused, which knows the data of the run."
  @spec paused(Control.t(), (() -> term())) :: Control.t()
  def paused(control, fingerprint) do
    paused = Control.started_before(control) ++ control.paused
    Control.with_rules(%{control | paused: paused}, fingerprint: fingerprint.())
  end

  # The run as a paused one, in which only calls wait that were started before it: who is killed again before
  # it reaches them has to decide about them again.
  defp started(%Run{control: control, memory: memory, limits: limits}, program, fingerprint) do
    more = if control.rules.fingerprint == nil, do: %{}, else: %{"resumed" => true}
    control = Control.with_rules(control, fingerprint: fingerprint.())
    control = %{control | entries: Entry.list(control.journal)}

    waiting = %{control | paused: Control.started_before(control)}

    case Paused.new(waiting, program, memory, limits) do
      {:ok, paused} -> paused |> Paused.to_map() |> Map.merge(more)
      {:error, {_kind, text}} -> raise ArgumentError, text
    end
  end

  defp now do
    {:ok, now} = Now.text(DateTime.utc_now())
    now
  end

  defp same(nil, _fingerprint), do: :ok

  defp same(expected, fingerprint) do
    if fingerprint.() == expected,
      do: :ok,
      else:
        {:error,
         {:execution_error,
          "The data that the program reads is not what it was when the run was paused: give the same :context"}}
  end

  defp any_keys?({_depth, any_keys?, _strict?, _values?, _edition}), do: any_keys?
  defp any_keys?(_depth), do: false

  @impl true
  # Where tools run one after another, rounds are no runs of their own until one waits for a person, unless their calls go to a tool together.
  def request(Reply.fork(tools: names) = loop, %Run{most: 1, settings: settings} = run) do
    if Tools.batch?(names, settings) do
      rounds(loop, run)
    else
      Reply.fork(loop: name, list: list) = loop
      loop = Reply.fork(loop: name, list: list)
      {:resume, {:in_turn, nil, 0}, run |> at() |> Turn.begin(loop) |> go_on_at(run)}
    end
  end

  def request(Reply.fork() = loop, run), do: rounds(loop, run)

  # It was looked at as a text.
  def request(Reply.decode(tool: name) = request, run),
    do: request |> InCaller.decoded(run.max_heap) |> InCaller.answered(request, name, run)

  # Answers of a journal, one after another.
  def request(Reply.call() = call, %Run{control: %{journal: [_ | _]} = control} = run) do
    case Replays.from(control) do
      nil -> decided(call, run)
      replays -> replayed(call, replays, run)
    end
  end

  # The journal has no more answers.
  def request(Reply.ahead() = calls, %Run{control: %{journal: []}} = run),
    do: calls |> Reply.first() |> decided(run)

  def request(Reply.ahead() = calls, run), do: calls |> Reply.first() |> request(run)
  def request(call, run), do: decided(call, run)

  # The processes of the rounds need the whole heap limit.
  defp rounds(loop, %Run{max_heap: max_heap} = run) do
    ToolProcess.stop(run.process)
    {id, nil} = run |> at() |> Turn.over()
    {result, control, id} = Rounds.controlled(loop, run, id)
    run = go_on_at({id, nil}, %{run | control: control, process: ToolProcess.new(max_heap)})

    case result do
      {:ok, value, words} -> {:resume, {:joined, value, words}, run}
      other -> {:ended, other, run}
    end
  end

  @impl true
  def told_apart(result), do: result

  @impl true
  def tool_late(name, timeout),
    do: {:tool_failed, "Tool '#{Shown.name(name)}' did not answer within #{timeout} ms"}

  defp replayed(call, replays, %Run{control: control, max_heap: max_heap} = run) do
    case answers(call, replays, at(run), max_heap) do
      {^call, _replays, _at} ->
        decided(call, run)

      {reply, replays, at} ->
        {:resumed, reply, go_on_at(at, %{run | control: Replays.done(control, replays)})}
    end
  end

  # Resumes the run as long as its calls have plain answers in the journal.
  defp answers(Reply.call(tool: name, args: args, round: round) = call, replays, at, max_heap) do
    {id, next} = Turn.next(at, round)

    case Replays.next(replays, id, name, args, max_heap) do
      {:answer, value, words, replays} ->
        call |> Driver.resume({:replayed, value, words}) |> answers(replays, next, max_heap)

      :other ->
        {call, replays, at}
    end
  end

  # The run has looked ahead, which costs less than to stop at each call.
  defp answers(Reply.ahead(args: all) = calls, replays, at, max_heap) do
    case several(all, calls, {replays, at}, max_heap, {[], 0}) do
      {{[], 0}, _so_far} ->
        {Reply.first(calls), replays, at}

      {{values, words}, {replays, at}} ->
        answer = {:replayed_all, Enum.reverse(values), words}
        calls |> Driver.resume(answer) |> answers(replays, at, max_heap)
    end
  end

  defp answers(reply, replays, at, _max_heap), do: {reply, replays, at}

  # The answers that the journal has for calls of the same place, each in the next round if the rounds run in turn.
  defp several([args | all], calls, {replays, at} = so_far, max_heap, {values, words} = answers) do
    Reply.ahead(tool: name, round: round) = calls
    {id, next} = Turn.next(at, round)

    case Replays.next(replays, id, name, args, max_heap) do
      {:answer, value, more, replays} ->
        calls = Reply.ahead(calls, round: round && round + 1)
        several(all, calls, {replays, next}, max_heap, {[value | values], words + more})

      :other ->
        {answers, so_far}
    end
  end

  defp several([], _calls, so_far, _max_heap, answers), do: {answers, so_far}

  @doc "Decides about a call, and does what was decided. The strategy of the run has the id of the call."
  @spec decided(Reply.t(), Run.t()) :: Driver.step()
  def decided(Reply.call(tool: name, args: args, pc: pc, round: round) = call, run) do
    {id, next} = Turn.next(at(run), round)
    run |> decide(id, name, args, pc) |> done(call, {id, name, next}, run)
  end

  def decided(Reply.last(tool: name, args: args, pc: pc) = call, run) do
    {id, next} = Turn.next(at(run), nil)
    run |> decide(id, name, args, pc) |> done(call, {id, name, next}, run)
  end

  # The strategy of another language has no loops that the run goes through.
  defp at(%Run{strategy: %__MODULE__{id: id, turn: turn}}), do: {id, turn}
  defp at(%Run{strategy: %{id: id}}), do: {id, nil}

  defp go_on_at({id, turn}, %Run{strategy: %__MODULE__{}} = run),
    do: %{run | strategy: %__MODULE__{id: id, turn: turn}}

  defp go_on_at({id, nil}, %Run{strategy: strategy} = run),
    do: %{run | strategy: %{strategy | id: id}}

  # One copy of the run costs less than one for each of these.
  defp go_on_at({id, turn}, control, process, %Run{strategy: %__MODULE__{}} = run) do
    strategy = %__MODULE__{id: id, turn: turn}
    %{run | strategy: strategy, control: control, process: process}
  end

  defp go_on_at({id, nil}, control, process, %Run{strategy: strategy} = run),
    do: %{run | strategy: %{strategy | id: id}, control: control, process: process}

  defp done(step, call, {id, name, next}, %Run{max_heap: max_heap, process: process} = run) do
    case step do
      {:answer, value, words, control} ->
        value
        |> weighed(words, max_heap)
        |> InCaller.answered(call, name, go_on_at(next, control, process, run))

      {:failed, text, control} ->
        run = go_on_at(next, control, process, run)
        InCaller.answered({:error, {:tool_failed, text}}, call, name, run)

      {:run, running, fun, args, {timeout, still}, control} ->
        {result, process} = called(call, running, fun, args, {timeout, still}, control, run)
        result = readable(result, name, control.secret, Reply.state(call), max_heap)

        case Answers.answered(control, running, result) do
          {:ok, control} ->
            InCaller.answered(result, call, name, go_on_at(next, control, process, run))

          {:error, reason, control} ->
            {:ended, {:error, reason}, go_on_at(next, control, process, run)}
        end

      {:wait, control} ->
        waits(call, id, go_on_at(next, control, process, run))

      {:ended, reason, control} ->
        {:ended, {:error, reason}, go_on_at(next, control, process, run)}
    end
  end

  # The calls of later rounds may wait too.
  defp waits(Reply.call() = call, {_, _, _} = id, %Run{strategy: %{turn: {loop, _, _}}} = run) do
    ToolProcess.stop(run.process)
    {result, control} = Rounds.after_one_that_waits(loop, call, run, id)
    run = %{run | control: control, process: ToolProcess.new(run.max_heap)}
    {:ended, result, run}
  end

  defp waits(_call, _id, run), do: {:ended, :paused, run}

  # An answer that is kept, or that a run gets whose loops fork, is decoded.
  defp then(Reply.last(), _running, _control), do: :done

  defp then(_call, {_, _, _, _, false}, %{keeps?: false, forks?: false}), do: :in_place
  defp then(_call, _running, _control), do: :next

  # A text that may have firewalled fields, and that is looked at, is decoded.
  defp readable(
         {:ok, %Text{binary: binary} = text, _words} = answer,
         name,
         secret,
         state,
         max_heap
       ) do
    if secret != nil and Watch.looks?(secret, name) and Text.hidden?(text),
      do: InCaller.decoded(name, binary, state, max_heap),
      else: answer
  end

  defp readable(answer, _name, _secret, _state, _max_heap), do: answer

  @doc "Decides about a call. The application's own function of events may fail, and its caller go on: then no tool runs any more."
  @spec decide(Run.t(), Entry.id(), term(), term(), non_neg_integer()) :: Control.step()
  def decide(%Run{control: control, process: process}, id, name, args, pc) do
    Deciding.decide(control, id, name, args, pc)
  catch
    kind, reason ->
      ToolProcess.stop(process)
      :erlang.raise(kind, reason, __STACKTRACE__)
  end

  defp called(call, {_, name, asked, _, _} = running, fun, given, {timeout, still}, control, run) do
    %Run{process: process, max_heap: max_heap, strategy: %strategy{}} = run
    {left, weight} = room(call)
    args = Keyed.args(given)
    weight = if args === asked, do: weight
    left = min(left, still)

    with {:ok, _words} <- InCaller.weigh(args, weight, max_heap) do
      then = then(call, running, control)
      begin = fn -> ToolProcess.call(process, name, fun, given, min(left, timeout), then) end
      {result, process} = if Telemetry.on?(), do: Telemetry.tool(name, begin), else: begin.()

      # The process has ended with its call.
      if result == {:error, :timeout} and timeout < left,
        do: {{:error, strategy.tool_late(name, timeout)}, ToolProcess.new(max_heap)},
        else: {strategy.told_apart(result), process}
    else
      error -> {error, process}
    end
  end

  # The time that a call has, and the weight of its arguments.
  defp room(Reply.call(left: left, weight: weight)), do: {left, weight}
  defp room(Reply.last(left: left, weight: weight)), do: {left, weight}

  @doc "A value that no tool had to answer, with its words, which may be known."
  @spec weighed(term(), non_neg_integer() | nil, non_neg_integer()) ::
          {:ok, term(), non_neg_integer()} | {:error, term()}
  def weighed(value, words, max_heap)
      when is_integer(words) and (words <= max_heap or max_heap == 0),
      do: {:ok, value, words}

  def weighed(value, _words, max_heap),
    do: with({:ok, words} <- Weight.within(value, max_heap), do: {:ok, value, words})
end
