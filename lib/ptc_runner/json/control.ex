defmodule PtcRunner.Json.Control do
  @moduledoc false
  # Decides about each call of a run, in the process of its caller, before the call starts: what the journal has, what the
  # cache has, the budget, the decision of a person, the hook. And keeps what was answered.
  #
  #   a call ──▶ journal ──▶ tool ──▶ cache ──▶ budget ──▶ decision, hook or `approve` ──▶ run, answer, refuse, wait
  #
  # A run without any of this has no such state: see `PtcRunner.Json.Runner`.

  alias PtcRunner.Json.{Budget, Call, Entry, Kept, Limits, Message, Place, Tools}
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.Sandbox.Guarded
  alias PtcRunner.Shown
  require Telemetry

  # `journal`: what was answered before, by id, or in the order of the calls if no calls overlap. `entries`: what was
  # answered in this run, newest first; kept only if `keeps?`. `waiting`: by id, the calls that waited before this run.
  # `paused`: the calls that wait now. `cache`: by tool and arguments. `watch`: is told each call and its decision.
  defstruct tools: %{},
            settings: %{},
            budget: nil,
            max_tool_calls: nil,
            on_call: nil,
            on_journal: nil,
            pause_ttl: :infinity,
            watch: nil,
            journal: [],
            replay?: false,
            record?: false,
            keeps?: false,
            forks?: nil,
            fingerprint: nil,
            decisions: %{},
            waiting: %{},
            paused: [],
            entries: [],
            cache: %{},
            number: 0,
            place: nil,
            limits: nil,
            now: nil

  @type t :: %__MODULE__{}

  @typedoc "What a person or a hook decides about a call."
  @type decision ::
          :run | :approve | {:run, term()} | {:answer, term()} | {:deny, term()} | :pause

  @typedoc "A call that runs: its id, its tool, the arguments that the program gave, and whether its answer is kept for equal calls."
  @type running :: {Entry.id(), String.t(), term(), cached? :: boolean()}

  @type step ::
          {:run, running(), (term() -> term()), args :: term(), timeout(), t()}
          | {:answer, term(), words :: non_neg_integer() | nil, t()}
          | {:failed, String.t(), t()}
          | {:join, key :: {String.t(), term()}, t()}
          | {:wait, t()}
          | {:ended, reason :: term(), t()}

  @doc "The control of a run with these tools; a budget alone if nothing else is asked for, and nil if not even that."
  @spec for_run(t(), %{String.t() => (term() -> term())}, Tools.settings()) ::
          t() | {:budget, Budget.t()} | nil
  def for_run(%__MODULE__{} = control, tools, settings) do
    settings = Map.merge(control.settings, settings)

    limits =
      for {name, %{max_calls: most}} when most != nil <- settings, into: %{}, do: {name, most}

    budget = control.budget || Budget.new(Map.keys(tools), control.max_tool_calls, limits)
    asks? = Enum.any?(settings, fn {_name, it} -> it.approve end)
    pauses? = control.on_call != nil or asks?
    resumed? = control.forks? != nil
    keeps? = pauses? or control.on_journal != nil or control.record? or resumed?
    special? = Enum.any?(settings, fn {_name, it} -> it.cache or it.timeout != nil end)

    if keeps? or special? or control.watch != nil,
      do: %{control | tools: tools, settings: settings, budget: budget, keeps?: keeps?},
      else: budget && {:budget, budget}
  end

  @doc "Decides about a call. `pc`: its address."
  @spec decide(t(), Entry.id(), term(), term(), non_neg_integer()) :: step()
  def decide(%{journal: [{id, _, _, _} = entry | rest]} = control, id, name, args, _pc),
    do: journaled(control, entry, rest, name, args)

  def decide(%{journal: journal} = control, id, name, args, _pc) when is_map_key(journal, id) do
    {entry, rest} = Map.pop!(journal, id)
    journaled(control, entry, rest, name, args)
  end

  def decide(%{replay?: true} = control, _id, name, args, _pc),
    do: {:ended, error("#{calls(name, args)}, but the journal has no more calls"), control}

  def decide(control, id, name, args, pc),
    do: fresh(%{control | number: control.number + 1}, id, name, args, pc)

  # The journal

  # The control is copied as seldom as possible, because that is what a call costs here.
  defp journaled(control, {_id, name, recorded, _outcome} = entry, rest, name, args)
       when recorded === args,
       do: replayed(control, entry, rest)

  # This is the error then, and not what is left of the journal.
  defp journaled(control, {_id, other, recorded, _outcome}, _rest, name, args),
    do: {:ended, departs(name, args, other, recorded), %{control | journal: []}}

  defp replayed(control, {id, name, args, {:beyond, outcome}}, rest),
    do: replayed(control, {id, name, args, outcome}, rest)

  defp replayed(control, {id, name, args, outcome} = entry, rest) do
    number = control.number + 1
    told(control, name, id, number, :replay, args, nil)

    case outcome do
      {:cached, outcome} ->
        entries = [entry | control.entries]
        given(outcome, %{control | number: number, journal: rest, entries: entries})

      outcome ->
        with :ok <- Budget.take(control.budget, name) do
          entries = [entry | control.entries]
          control = %{control | number: number, journal: rest, entries: entries}

          control =
            if cached?(control, name), do: in_cache(control, name, args, outcome), else: control

          given(outcome, control)
        else
          {:error, reason} -> {:ended, reason, control}
        end
    end
  end

  @typedoc "Answers of a journal that are given one after another: the entries left, those given, the number of the last call."
  @opaque replays :: {[Entry.t()], [Entry.t()], non_neg_integer(), t()}

  @doc """
  What is replayed from here on, for `replay/5`, which copies no control; nil if more is to be done for an answer than to count it
  and to tell it.
  """
  @spec replays(t()) :: replays() | nil
  def replays(%{cache: cache, settings: settings} = control) do
    if cache == %{} and not Enum.any?(settings, fn {_name, setting} -> setting.cache end),
      do: {control.journal, control.entries, control.number, control}
  end

  @doc "The next answer, if it is that of an equal call, which has worked; `:other`: see `decide/5`."
  @spec replay(replays(), Entry.id(), term(), term(), non_neg_integer()) ::
          {:answer, term(), non_neg_integer(), replays()} | :other
  def replay(
        {[{id, name, recorded, {:ok, value, words}} = entry | rest], entries, number, control},
        id,
        name,
        args,
        max_heap
      )
      when recorded === args and is_integer(words) and (words <= max_heap or max_heap == 0) do
    case Budget.take(control.budget, name) do
      :ok ->
        told(control, name, id, number + 1, :replay, args, nil)
        {:answer, value, words, {rest, [entry | entries], number + 1, control}}

      _refused ->
        :other
    end
  end

  def replay(_replays, _id, _name, _args, _max_heap), do: :other

  @doc "The control after these answers."
  @spec after_replays(t(), replays()) :: t()
  def after_replays(control, {rest, entries, number, _control}),
    do: %{control | journal: rest, entries: entries, number: number}

  defp given({:ok, value, words}, control), do: {:answer, value, words, control}
  defp given({:failed, text}, control), do: {:failed, text, control}
  defp given({:ended, reason}, control), do: {:ended, reason, control}

  @doc "The error of a program that makes another call than the journal has."
  @spec departs(term(), term(), String.t(), term()) :: Message.error()
  def departs(name, args, other, recorded),
    do: error("#{calls(name, args)}, but the journal has #{named(other, recorded)}")

  @doc "What is left of the journal of a run that has ended: the error of a replay, or `:ok`."
  @spec left(t()) :: :ok | {:error, Message.error()}
  def left(%{journal: journal}) do
    case for {_id, _, _, _} = entry <- Entry.list(journal), not Entry.beyond?(entry), do: entry do
      [] ->
        :ok

      [{_, name, args, _} | _] ->
        {:error, error("The program has ended, but the journal has #{named(name, args)}")}
    end
  end

  defp calls(name, args), do: "The program calls #{named(name, args)}"
  defp named(name, args), do: "'#{shown(name)}' with #{Shown.text(args, 512)}"
  defp shown(name) when is_binary(name), do: Shown.name(name)
  defp shown(name), do: Shown.text(name)

  # A call that has no answer yet

  defp fresh(control, id, name, args, pc) do
    with {:ok, fun} <- tool(control, name),
         :no <- cached(control, id, name, args),
         :ok <- Budget.take(control.budget, name) do
      decided(control, id, name, args, pc, fun)
    else
      {:error, reason} -> refused(control, id, name, args, reason)
      step -> step
    end
  end

  defp tool(%{tools: tools}, name) when is_binary(name) and is_map_key(tools, name),
    do: {:ok, :erlang.map_get(name, tools)}

  defp tool(%{tools: tools}, name), do: {:error, {:unknown_tool, name, tools}}

  defp refused(control, id, name, args, reason) do
    told(control, name, id, :refused, args, {:ended, Message.error(reason)})
    ended(control, id, name, args, reason)
  end

  defp ended(control, id, name, args, reason) do
    case answered(control, {id, name, args, false}, {:error, reason}) do
      {:ok, control} -> {:ended, reason, control}
      {:error, reason, control} -> {:ended, reason, control}
    end
  end

  defp cached?(%{settings: settings}, name),
    do: match?(%{^name => %{cache: true}}, settings)

  defp cached(control, id, name, args) do
    key = {name, args}

    case control.cache do
      %{^key => :running} ->
        {:join, key, control}

      %{^key => outcome} ->
        from_cache(control, id, key, outcome)

      _cache ->
        :no
    end
  end

  @doc "The answer to a call that is equal to one that has been answered."
  @spec from_cache(t(), Entry.id(), {String.t(), term()}, Entry.outcome()) :: step()
  def from_cache(control, id, {name, args}, outcome) do
    told(control, name, id, :cache, args, outcome)
    entry = {id, name, args, {:cached, outcome}}

    control =
      if control.keeps?, do: %{control | entries: [entry | control.entries]}, else: control

    with :ok <- journal(control, entry) do
      given(outcome, control)
    else
      {:error, reason} -> {:ended, reason, control}
    end
  end

  @doc "What the cache has for a call that is running, or has been answered."
  @spec in_cache(t(), {String.t(), term()}) :: :running | Entry.outcome() | nil
  def in_cache(%{cache: cache}, key), do: Map.get(cache, key)

  defp decided(control, id, name, args, pc, fun) do
    case decision(control, id, name, args, pc) do
      {decision, control} when decision in [:run, :approve] ->
        run(control, id, name, args, fun, args)

      {{:run, others}, control} ->
        run(control, id, name, args, fun, others)

      {{:answer, value}, control} ->
        told(control, name, id, :answer, args, {:ok, value, nil})

        case answered(control, {id, name, args, cached?(control, name)}, {:ok, value, nil}) do
          {:ok, control} -> {:answer, value, nil, control}
          {:error, reason, control} -> {:ended, reason, control}
        end

      {{:deny, reason}, control} ->
        reason = denied(name, reason)
        told(control, name, id, :deny, args, {:ended, reason})
        ended(control, id, name, args, reason)

      {{:pause, call}, control} ->
        told(control, name, id, :pause, args, nil)
        {:wait, %{control | paused: [call | control.paused]}}

      {{:departs, reason}, control} ->
        {:ended, reason, control}
    end
  end

  @doc "The error of a call that was denied."
  @spec denied(String.t(), term()) :: Message.error()
  def denied(name, reason), do: error("Tool '#{Shown.name(name)}' was refused: #{reason(reason)}")

  defp reason(text) when is_binary(text), do: Shown.cut(text)
  defp reason(other), do: Shown.text(other)

  # A person has decided about a call that waited.
  defp decision(%{waiting: waiting} = control, id, name, args, _pc)
       when is_map_key(waiting, id) do
    {call, waiting} = Map.pop!(waiting, id)
    control = %{control | waiting: waiting}

    cond do
      call.tool !== name or call.args !== args ->
        {{:departs, departs(name, args, call.tool, call.args)}, control}

      is_map_key(control.decisions, id) ->
        {Map.fetch!(control.decisions, id), control}

      true ->
        {{:pause, call}, control}
    end
  end

  defp decision(%{on_call: nil} = control, id, name, args, pc) do
    case control.settings do
      %{^name => %{approve: true}} -> paused(control, id, name, args, pc)
      _settings -> {:run, control}
    end
  end

  defp decision(%{on_call: hook} = control, id, name, args, pc) do
    {call, control} = call(control, id, name, args, pc)

    case asked(hook, call) do
      :pause -> {{:pause, with_text(call)}, control}
      decision -> {decision, control}
    end
  end

  defp paused(control, id, name, args, pc) do
    {call, control} = call(control, id, name, args, pc)
    {{:pause, with_text(call)}, control}
  end

  defp call(control, id, name, args, pc) do
    {path, place} = Place.path(control.place, pc)

    {effect, approve?} =
      case control.settings do
        %{^name => setting} -> {setting.effect, setting.approve}
        _settings -> {:write, false}
      end

    call = %Call{
      id: Entry.text(id),
      tool: name,
      args: args,
      effect: effect,
      approve: approve?,
      number: control.number,
      path: path
    }

    # The place changes where a path is asked for that was not known.
    {call, if(place == nil, do: control, else: %{control | place: place})}
  end

  @doc "The calls that were started before this run was resumed, whose answers are not known, and that it has not reached."
  @spec started_before(t()) :: [Call.t()]
  def started_before(%{waiting: waiting}),
    do: for({_id, %{started: true} = call} <- waiting, do: call)

  defp with_text(call), do: %{call | text: Call.text(call)}

  defp asked(hook, call) do
    case hook.(call) do
      decision when decision in [:run, :pause] -> decision
      {what, _} = decision when what in [:run, :answer, :deny] -> decision
      other -> {:deny, "the function of :on_call returned #{Shown.text(other, 200)}"}
    end
  catch
    kind, reason ->
      {:deny, "the function of :on_call #{Guarded.failure(kind, reason, __STACKTRACE__)}"}
  end

  defp run(control, id, name, args, fun, others) do
    told(control, name, id, :run, args, nil)
    cached? = cached?(control, name)

    with :ok <- journal(control, {id, name, args, :started}) do
      timeout =
        case control.settings do
          %{^name => %{timeout: timeout}} when timeout != nil -> timeout
          _settings -> :infinity
        end

      control = if cached?, do: in_cache(control, name, args, :running), else: control
      {:run, {id, name, args, cached?}, fun, others, timeout, control}
    else
      {:error, reason} -> {:ended, reason, control}
    end
  end

  # What was answered

  @doc "Keeps the answer to a call."
  @spec answered(t(), running(), {:ok, term(), non_neg_integer() | nil} | {:error, term()}) ::
          {:ok, t()} | {:error, reason :: term(), t()}
  def answered(%{keeps?: false} = control, {_, _, _, false}, _result), do: {:ok, control}

  def answered(control, {id, name, args, _cached?} = running, result) do
    outcome = outcome(result, control)

    with :ok <- storable(control, name, outcome),
         :ok <- journal(control, {id, name, args, outcome}) do
      {:ok, kept(control, running, outcome)}
    else
      {:error, reason} -> {:error, reason, control}
    end
  end

  defp outcome({:ok, _value, _words} = answered, _control), do: answered
  defp outcome({:error, {:tool_failed, text}}, _control), do: {:failed, text}

  defp outcome({:error, reason}, control) do
    {timeout, max_heap, _reading} = control.limits

    case reason do
      :timeout -> {:ended, {:timeout, timeout}}
      :memory_exceeded -> {:ended, {:memory_exceeded, Limits.bytes(max_heap)}}
      fault -> {:ended, Message.error(fault)}
    end
  end

  defp kept(control, {id, name, args, cached?}, outcome) do
    control =
      if control.keeps?,
        do: %{control | entries: [{id, name, args, outcome} | control.entries]},
        else: control

    if cached?, do: in_cache(control, name, args, outcome), else: control
  end

  defp in_cache(control, name, args, outcome),
    do: %{control | cache: Map.put(control.cache, {name, args}, outcome)}

  # A journal outlives this VM.
  defp storable(%{record?: false, on_journal: nil}, _name, _outcome), do: :ok

  defp storable(_control, name, {:ok, value, _words}) do
    with {:error, kind} <- Kept.check(value),
         do: {:error, unstorable(name, "answered with", kind)}
  end

  defp storable(_control, _name, _outcome), do: :ok

  @doc "The error of a run whose calls cannot be kept."
  @spec unstorable(String.t(), String.t(), String.t()) :: Message.error()
  def unstorable(name, verb, kind),
    do: error("Tool '#{Shown.name(name)}' #{verb} #{kind}, which a journal cannot hold")

  defp journal(%{on_journal: nil}, _entry), do: :ok

  defp journal(%{on_journal: fun} = control, {_id, name, _args, outcome} = entry) do
    with {:ok, json} <- Entry.encode(entry) do
      fun.(if outcome == :started, do: Map.merge(json, started(control, name)), else: json)
      :ok
    else
      {:error, kind} -> {:error, unstorable(name, "was called with", kind)}
    end
  catch
    kind, reason ->
      text = Guarded.failure(kind, reason, __STACKTRACE__)
      {:error, denied(name, "the function of :on_journal #{text}")}
  end

  defp started(control, name) do
    effect =
      case control.settings do
        %{^name => %{effect: effect}} -> effect
        _settings -> :write
      end

    %{"effect" => Atom.to_string(effect), "number" => control.number}
  end

  @doc "Tells the function of `:on_journal` about the run itself, before its first call."
  @spec begin(t(), (() -> map())) :: :ok | {:error, Message.error()}
  def begin(%{on_journal: nil}, _run), do: :ok

  def begin(%{on_journal: fun}, run) do
    fun.(run.())
    :ok
  catch
    kind, reason ->
      text = Guarded.failure(kind, reason, __STACKTRACE__)
      {:error, error("The run was refused: the function of :on_journal #{text}")}
  end

  @doc "Marks the answers that rounds behind a failed one have given: a run in which calls do not overlap never asks for them."
  @spec beyond(t(), pos_integer(), non_neg_integer()) :: t()
  def beyond(control, fork, failed) do
    entries =
      for entry <- control.entries do
        case entry do
          {{^fork, round, _}, name, args, outcome} when round > failed ->
            {elem(entry, 0), name, args, {:beyond, outcome}}

          entry ->
            entry
        end
      end

    %{control | entries: entries}
  end

  # Each decision is an event.
  defp told(control, name, id, decision, args, outcome),
    do: told(control, name, id, control.number, decision, args, outcome)

  defp told(control, name, id, number, decision, args, outcome) do
    if Telemetry.on?() do
      metadata = %{tool: name, id: Entry.text(id), decision: decision}
      Telemetry.execute([:ptc_runner, :tool, :decision], %{number: number}, metadata)
    end

    control.watch && control.watch.({name, Entry.text(id), decision, args, outcome})
    :ok
  end

  defp error(text), do: {:execution_error, text}
end
