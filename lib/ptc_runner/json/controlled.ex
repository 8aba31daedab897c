defmodule PtcRunner.Json.Controlled do
  @moduledoc false
  # Drives a run whose calls are decided about: see `PtcRunner.Json.Control`. The run stays in its caller, and asks there
  # before each call; only tools run in processes of their own.

  alias PtcRunner.Json.{
    Control,
    Deadline,
    Driver,
    Entry,
    Fingerprint,
    Fork,
    Limits,
    Now,
    Paused,
    Place
  }

  alias PtcRunner.Firewall.Watch
  alias PtcRunner.Json.{Program, Runner, Text, Texts, ToolProcess, ToolWorker}
  alias PtcRunner.Json.Control.{Answers, Replays}
  alias PtcRunner.Native
  alias PtcRunner.Native.{ErrorHandler, Panic, Telemetry}
  alias PtcRunner.Native.Telemetry.Ids
  alias PtcRunner.Sandbox.Weight
  alias PtcRunner.Shown
  require Telemetry

  @type result ::
          {:ok, term(), non_neg_integer()} | {:error, term()} | {:paused, Control.t()}

  @doc "Runs a program; returns what the run ends with, and the control."
  @spec run(
          Runner.program(),
          map(),
          map(),
          Limits.given(),
          pos_integer(),
          String.t() | nil,
          Control.t()
        ) :: {result(), Control.t()}
  def run(program, context, memory, limits, tool_concurrency, now, control) do
    {timeout, max_heap, reading} = limits = Limits.resolve(limits)
    now = now || control.now || if(control.keeps?, do: now())
    forks? = if control.forks? == nil, do: tool_concurrency > 1, else: control.forks?
    deadline = Deadline.from_now(timeout)

    control = %{
      control
      | limits: limits,
        deadline: deadline,
        now: now,
        forks?: forks?,
        most: tool_concurrency,
        run_id: control.run_id || Ids.run_id()
    }

    given =
      if now,
        do: {context, memory, timeout, max_heap, now},
        else: {context, memory, timeout, max_heap}

    with {:ok, begin, {handle, consts, source}, reading} <-
           prepared(program, given, reading, forks?),
         fingerprint = fn -> Fingerprint.of(handle, consts, context, any_keys?(reading)) end,
         :ok <- same(control.fingerprint, fingerprint),
         :ok <-
           Answers.begin(control, fn -> start(control, program, memory, limits, fingerprint) end) do
      control = %{control | place: Place.new(handle, consts, source)}

      case driven(begin, control, limits, tool_concurrency) do
        {:paused, control} ->
          paused = Control.started_before(control) ++ control.paused
          control = %{control | fingerprint: fingerprint.(), paused: paused}
          {{:paused, control}, control}

        ended ->
          ended
      end
    else
      {:error, reason} -> {Runner.finish({:error, reason}, limits), control}
    end
  catch
    :error, reason -> {Panic.error(reason, __STACKTRACE__), control}
  end

  # The run as a paused one, in which only calls wait that were started before it: who is killed again before
  # it reaches them has to decide about them again.
  defp start(control, program, memory, limits, fingerprint) do
    more = if control.fingerprint == nil, do: %{}, else: %{"resumed" => true}
    control = %{control | fingerprint: fingerprint.(), entries: Entry.list(control.journal)}

    case Paused.new(%{control | paused: Control.started_before(control)}, program, memory, limits) do
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
          "The data that the program reads is not what it was when the run was paused"}}
  end

  defp any_keys?({_depth, any_keys?, _strict?, _values?, _edition}), do: any_keys?
  defp any_keys?(_depth), do: false

  # How to start the run; its native part with its constants and its source, and how that was read.
  defp prepared({:observed, observation, program}, given, reading, forks?) do
    %Program{handle: handle, consts: consts, source: source} = program
    given = {elem(given, 0), elem(given, 1), elem(given, 2), elem(given, 3), given_now(given)}
    begin = begun(given, &Native.run_observed(observation, consts, &1, forks?, true), &decoded/2)

    {:ok, begin, {handle, consts, source}, reading}
  end

  defp prepared(%Program{handle: handle, consts: consts} = program, given, reading, forks?) do
    reading = Program.reading(program, reading)
    Native.source_bytes(handle)
    {:ok, begin(handle, consts, given, forks?), {handle, consts, program.source}, reading}
  rescue
    # The handle is from another node, or from this one before a restart.
    ArgumentError ->
      reading = Program.reading(program, reading)
      compiled(program.source, given, reading, forks?)
  end

  defp prepared(source, given, reading, forks?), do: compiled(source, given, reading, forks?)

  defp compiled(source, given, reading, forks?) do
    with {:ok, handle, consts} <-
           Program.build(source, reading, {elem(given, 2), elem(given, 3)}),
         do: {:ok, begin(handle, consts, given, forks?), {handle, consts, source}, reading}
  end

  defp begin(handle, consts, given, forks?) do
    over_texts = fn given, run ->
      Texts.start({:asks, handle, consts}, given, nil, forks?, fn _, given, _, _ ->
        run.(given)
      end)
    end

    begun(given, &Native.run_asking(handle, consts, &1, forks?), over_texts)
  end

  # Texts in the context are found when the program is compiled.
  defp begun(given, run, over_texts),
    do: fn -> with :texts <- run.(given), do: over_texts.(given, run) end

  defp decoded(given, run), do: with({:ok, given} <- Texts.decoded(given), do: run.(given))

  defp given_now({_context, _memory, _timeout, _max_heap, now}), do: now
  defp given_now(_given), do: nil

  defp driven(begin, control, {_timeout, max_heap, _reading} = limits, tool_concurrency) do
    run = {control, ToolProcess.new(max_heap), max_heap, tool_concurrency, 1}
    :erlang.module_loaded(Native) || Code.ensure_loaded(Native)
    handler = ErrorHandler.install()

    try do
      {result, {control, process, _, _, _}} = Driver.start(begin, &call/2, run)
      ToolProcess.stop(process)
      if result == :paused, do: {:paused, control}, else: {Runner.finish(result, limits), control}
    after
      ErrorHandler.restore(handler)
    end
  end

  # The processes of a fork need the whole heap limit.
  defp call({:fork, _, _, _, _, _} = loop, {control, process, max_heap, most, id}) do
    ToolProcess.stop(process)
    {result, control} = Fork.controlled(loop, control, id, max_heap, most)
    run = {control, ToolProcess.new(max_heap), max_heap, most, id + 1}

    case result do
      {:ok, value} -> {:ok, {:joined, value, 0}, run}
      other -> {other, run}
    end
  end

  # The run does not read in place what the tool has answered. It was looked at as a text.
  defp call({:decode, state, _terms, {name, text}}, {_control, _process, max_heap, _, _} = run),
    do: answered(:call, state, name, decoded(name, text, state, max_heap), run)

  # Answers of a journal, one after another.
  defp call({:call, _, _, _, _, _, _} = call, {%{journal: [_ | _]} = control, _, _, _, _} = run) do
    case Replays.from(control) do
      nil -> decided(call, run)
      replays -> replayed(call, replays, run)
    end
  end

  defp call(call, run), do: decided(call, run)

  defp replayed(call, replays, {control, process, max_heap, most, id}) do
    case answers(call, replays, id, max_heap) do
      {^call, _replays, ^id} ->
        decided(call, {control, process, max_heap, most, id})

      {reply, replays, id} ->
        {:resumed, reply, {Replays.done(control, replays), process, max_heap, most, id}}
    end
  end

  # Resumes the run as long as its calls have plain answers in the journal.
  defp answers({:call, _, _, name, args, _, _} = call, replays, id, max_heap) do
    case Replays.next(replays, id, name, args, max_heap) do
      {:answer, value, words, replays} ->
        call |> Driver.resume({:answer, value, words}) |> answers(replays, id + 1, max_heap)

      :other ->
        {call, replays, id}
    end
  end

  defp answers(reply, replays, id, _max_heap), do: {reply, replays, id}

  defp decided(
         {kind, built, _, name, args, left, {weight, pc}},
         {control, process, max_heap, most, id}
       ) do
    case decide(control, id, name, args, pc, process) do
      {:answer, value, words, control} ->
        run = {control, process, max_heap, most, id + 1}
        answered(kind, built, name, weighed(value, words, max_heap), run)

      {:failed, text, control} ->
        run = {control, process, max_heap, most, id + 1}
        answered(kind, built, name, {:error, {:tool_failed, text}}, run)

      {:run, {_, _, asked, _, _} = running, fun, args, {timeout, still}, control} ->
        weight = if args === asked, do: weight

        called =
          {name, fun, args, weight, min(left, still), timeout, then(kind, running, control)}

        {result, process} = called(called, process, max_heap)
        result = readable(result, name, control.secret, built, max_heap)

        case Answers.answered(control, running, result) do
          {:ok, control} ->
            answered(kind, built, name, result, {control, process, max_heap, most, id + 1})

          {:error, reason, control} ->
            {{:error, reason}, {control, process, max_heap, most, id + 1}}
        end

      {:wait, control} ->
        {:paused, {control, process, max_heap, most, id + 1}}

      {:ended, reason, control} ->
        {{:error, reason}, {control, process, max_heap, most, id + 1}}
    end
  end

  # An answer that is kept, or that a run gets whose loops fork, is decoded.
  defp then(:last, _running, _control), do: :done

  defp then(:call, {_, _, _, _, false}, %{keeps?: false, forks?: false}), do: :in_place
  defp then(:call, _running, _control), do: :next

  # A text that may have firewalled fields, and that is looked at, is decoded.
  defp readable(
         {:ok, %Text{binary: binary} = text, _words} = answer,
         name,
         secret,
         state,
         max_heap
       ) do
    if secret != nil and Watch.looks?(secret, name) and Text.hidden?(text),
      do: decoded(name, binary, state, max_heap),
      else: answer
  end

  defp readable(answer, _name, _secret, _state, _max_heap), do: answer

  defp decoded(name, text, state, max_heap) do
    with {:ok, value} <-
           ToolWorker.decoded(name, Texts.answer(text, Native.time_left(state), max_heap)),
         {:ok, words} <- Weight.within(value, max_heap),
         do: {:ok, value, words}
  end

  # The application's own function of events may fail, and its caller go on.
  defp decide(control, id, name, args, pc, process) do
    Control.decide(control, id, name, args, pc)
  catch
    kind, reason ->
      ToolProcess.stop(process)
      :erlang.raise(kind, reason, __STACKTRACE__)
  end

  defp called({name, fun, args, weight, left, timeout, then}, process, max_heap) do
    with {:ok, _words} <- weigh(args, weight, max_heap) do
      {result, process} =
        if Telemetry.on?(),
          do:
            Telemetry.tool(name, fn ->
              ToolProcess.call(process, name, fun, args, min(left, timeout), then)
            end),
          else: ToolProcess.call(process, name, fun, args, min(left, timeout), then)

      # The process has ended with its call.
      if result == {:error, :timeout} and timeout < left,
        do: {{:error, late(name, timeout)}, ToolProcess.new(max_heap)},
        else: {result, process}
    else
      error -> {error, process}
    end
  end

  @doc "The error of a tool that took longer than it may; the program may catch it."
  @spec late(String.t(), timeout()) :: {:tool_failed, String.t()}
  def late(name, timeout),
    do: {:tool_failed, "Tool '#{Shown.name(name)}' did not answer within #{timeout} ms"}

  defp weigh(_args, weight, max_heap)
       when is_integer(weight) and (weight <= max_heap or max_heap == 0),
       do: {:ok, weight}

  defp weigh(args, _weight, max_heap), do: Weight.within(args, max_heap)

  @doc "A value that no tool had to answer, with its words, which may be known."
  @spec weighed(term(), non_neg_integer() | nil, non_neg_integer()) ::
          {:ok, term(), non_neg_integer()} | {:error, term()}
  def weighed(value, words, max_heap)
      when is_integer(words) and (words <= max_heap or max_heap == 0),
      do: {:ok, value, words}

  def weighed(value, _words, max_heap),
    do: with({:ok, words} <- Weight.within(value, max_heap), do: {:ok, value, words})

  defp answered(:call, _state, name, {:ok, %Text{} = text, words}, run),
    do: {:ok, {:text, Texts.lent(name, text), words}, run}

  defp answered(:call, _state, _name, {:ok, value, words}, run),
    do: {:ok, {:answer, value, words}, run}

  # The answer is the program's value: what the run has built includes that answer.
  defp answered(:last, built, _name, {:ok, _value, words}, {_, _, max_heap, _, _} = run)
       when max_heap > 0 and built + words > max_heap,
       do: {{:error, :memory_exceeded}, run}

  defp answered(:last, built, _name, {:ok, value, words}, run),
    do: {{:ok, value, built + words}, run}

  defp answered(:call, _state, _name, {:error, {:tool_failed, text}}, run),
    do: {:failed, :failed, text, run}

  defp answered(_kind, _built, _name, error, run), do: {error, run}
end
