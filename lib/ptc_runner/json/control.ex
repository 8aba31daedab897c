defmodule PtcRunner.Json.Control do
  @moduledoc false
  # Decides about each call of a run, in the process of its caller, before the call starts: what the journal has, what the
  # cache has, the budget, the decision of a person, the hook. And keeps what was answered.
  #
  #   a call ──▶ journal ──▶ tool ──▶ cache ──▶ budget ──▶ decision, hook or `approve` ──▶ run, answer, refuse, wait
  #
  # A run without any of this has no such state: see `PtcRunner.Json.Run`.

  alias PtcRunner.Firewall.Watch
  alias PtcRunner.Json.{Budget, Call, Deadline, Entry, Keyed, Message, Place, Text, Texts, Tools}
  alias PtcRunner.Json.Within
  alias PtcRunner.Json.Control.{Answers, Decided, Order, Rules, Told, Words}
  alias PtcRunner.SubAgent.KeyNormalizer

  # `rules`: what does not change during the run, see `PtcRunner.Json.Control.Rules`.
  # `journal`: what was answered before, in the order of the calls, or by id once a call has come out of it. `entries`: what was
  # answered in this run, newest first; kept only if `keeps?`. `waiting`: by id, the calls that waited before this run.
  # `paused`: the calls that wait now. `most`: how many tools run at a time. `cache`: by tool and arguments. `secret`: what counts of each
  # tool for the firewall, and is not known before the run.
  # `behind?`: whether a call waits for a person that would have been made before the next one. `limited`: the ids of calls beyond a limit. `last`: the last id in the journal of a run whose calls
  # wait together or overlap.
  # `key_run`: what the keys of the calls begin with. `attempts`: by id, how often a call was started whose answer is not known. `under`: by id, the
  # equal call that was started, whose key a call has.
  #
  # Each call copies it, and a struct of more than 32 keys takes four times as long: the VM keeps it as a tree.
  defstruct rules: %Rules{},
            tools: %{},
            settings: %{},
            budget: nil,
            secret: nil,
            journal: [],
            keeps?: false,
            forks?: nil,
            decisions: %{},
            waiting: %{},
            paused: [],
            entries: [],
            cache: %{},
            number: 0,
            most: 1,
            place: nil,
            limits: nil,
            deadline: :infinity,
            now: nil,
            run_id: nil,
            key_run: nil,
            attempts: %{},
            under: %{},
            behind?: false,
            limited: [],
            last: nil

  @type t :: %__MODULE__{}

  @typedoc "What a person or a hook decides about a call."
  @type decision ::
          :run | :approve | {:run, map()} | {:answer, term()} | {:deny, term()} | :pause

  @typedoc """
  A call that runs: its id, its tool, the arguments that the program gave, those that the tool gets, and whether its answer is
  kept for equal calls.
  """
  @type running :: {Entry.id(), String.t(), term(), sent :: term(), cached? :: boolean()}

  @type step ::
          {:run, running(), (term() -> term()), args :: Keyed.t() | term(),
           {timeout(), left :: timeout()}, t()}
          | {:answer, term(), words :: non_neg_integer() | nil, t()}
          | {:failed, String.t(), t()}
          | {:join, key :: {String.t(), term()}, t()}
          | {:wait, t()}
          | :later
          | {:ended, reason :: term(), t()}

  @doc """
  The control with other rules.

      iex> alias PtcRunner.Json.Control
      iex> Control.with_rules(%Control{}, max_tool_calls: 3).rules.max_tool_calls
      3

  """
  @spec with_rules(t(), keyword()) :: t()
  def with_rules(%__MODULE__{rules: rules} = control, changed),
    do: %{control | rules: struct!(rules, changed)}

  @doc "The parts of a control, with its rules among them, for `with_parts/2`."
  @spec parts(t()) :: map()
  def parts(%__MODULE__{rules: rules} = control),
    do: control |> Map.from_struct() |> Map.delete(:rules) |> Map.merge(Map.from_struct(rules))

  @doc """
  The control with other parts, among which may be rules.

      iex> alias PtcRunner.Json.Control
      iex> control = Control.with_parts(%Control{}, %{run_id: "a", replay?: true})
      iex> {control.run_id, control.rules.replay?}
      {"a", true}

  """
  @spec with_parts(t(), Enumerable.t()) :: t()
  def with_parts(%__MODULE__{} = control, parts) do
    {rules, parts} = Enum.split_with(parts, fn {name, _value} -> is_map_key(%Rules{}, name) end)
    control |> struct!(parts) |> with_rules(rules)
  end

  @doc """
  The control of a run with these tools; a budget alone, or nil, if nothing else is asked for.
  """
  @spec for_run(t(), %{String.t() => (term() -> term())}, Tools.settings()) ::
          {:decides, t()} | {:counts, Budget.t() | nil}
  def for_run(%__MODULE__{rules: rules} = control, tools, settings) do
    settings = control.settings |> Map.merge(settings) |> Map.merge(rules.asking)

    limits =
      for {name, %{max_calls: most}} when most != nil <- settings, into: %{}, do: {name, most}

    budget = control.budget || Budget.new(Map.keys(tools), rules.max_tool_calls, limits)
    budget = Within.budget(budget, rules.counts)
    asks? = Enum.any?(settings, fn {_name, it} -> it.approve end)
    pauses? = rules.on_call != nil or asks?
    resumed? = control.forks? != nil

    keeps? = pauses? or rules.hold != nil or rules.on_journal != nil or rules.record? or resumed?

    special? =
      Enum.any?(settings, fn {_name, it} -> it.cache or it.timeout != nil or it.keyed end)

    if keeps? or special? or rules.watch != nil or control.secret != nil,
      do:
        {:decides, %{control | tools: tools, settings: settings, budget: budget, keeps?: keeps?}},
      else: {:counts, budget}
  end

  @doc "Decides about a call. `pc`: its address."
  @spec decide(t(), Entry.id(), term(), term(), non_neg_integer()) :: step()
  def decide(%{journal: [{id, _, _, _} = entry | rest]} = control, id, name, args, _pc),
    do: journaled(control, entry, rest, name, args)

  def decide(%{journal: journal} = control, id, name, args, _pc) when is_map_key(journal, id) do
    {entry, rest} = Map.pop!(journal, id)
    journaled(control, entry, rest, name, args)
  end

  # Calls that overlap, or that others have waited for, do not come in their order.
  def decide(%{forks?: true, journal: [_ | _]} = control, id, name, args, pc),
    do: control |> by_id() |> decide(id, name, args, pc)

  def decide(%{rules: %{replay?: true}} = control, _id, name, args, _pc),
    do: {:ended, Words.no_more(name, args), control}

  def decide(%{last: last} = control, id, name, args, pc) do
    case Order.missing(last, id) do
      nil -> unanswered(control, id, name, args, pc)
      error -> {:ended, error, %{control | journal: []}}
    end
  end

  @doc "The control whose journal is looked up by the ids of calls."
  @spec by_id(t()) :: t()
  def by_id(%{journal: [_ | _] = entries} = control) do
    journal = for entry <- entries, into: %{}, do: {elem(entry, 0), entry}
    %{control | journal: journal}
  end

  def by_id(control), do: control

  defp unanswered(control, id, name, args, pc),
    do: fresh(%{control | number: control.number + 1}, id, name, args, pc)

  # The journal

  # The control is copied as seldom as possible, because that is what a call costs here.
  defp journaled(control, {_id, name, recorded, _outcome} = entry, rest, name, args)
       when recorded === args,
       do: replayed(control, entry, rest)

  # This is the error then, and not what is left of the journal.
  defp journaled(control, {_id, other, recorded, _outcome}, _rest, name, args),
    do: {:ended, Words.departs(name, args, other, recorded), %{control | journal: []}}

  defp replayed(control, {id, name, args, {:beyond, outcome}}, rest),
    do: replayed(control, {id, name, args, outcome}, rest)

  defp replayed(control, {id, name, args, outcome} = entry, rest) do
    number = control.number + 1
    control = Answers.watched(control, name, outcome)
    Told.replayed(control, {id, name, args, outcome}, number)

    case outcome do
      {:cached, outcome} ->
        entries = [entry | control.entries]
        given(outcome, %{control | number: number, journal: rest, entries: entries})

      outcome ->
        outcome = Entry.answer(outcome)

        with :ok <- Budget.take(control.budget, name, args) do
          entries = [entry | control.entries]
          control = %{control | number: number, journal: rest, entries: entries}

          control =
            if cached?(control, name),
              do: Answers.in_cache(control, name, args, outcome),
              else: control

          given(outcome, control)
        else
          {:error, reason} -> {:ended, over(control, reason), control}
        end
    end
  end

  defp given({:ok, value, words}, control), do: {:answer, value, words, control}
  defp given({:failed, text}, control), do: {:failed, text, control}
  defp given({:ended, reason}, control), do: {:ended, reason, control}

  # A call that has no answer yet

  defp fresh(control, id, name, args, pc) do
    with {:ok, fun} <- tool(control, name),
         :ok <- open(control, name),
         :no <- cached(control, id, name, args),
         :ok <- Budget.take(control.budget, name, args) do
      control |> under_started(id, name, args) |> decided(id, name, args, pc, fun)
    else
      {:denied, reason} ->
        refused(control, id, name, args, reason, :firewall)

      {:error, {:refused, _text} = reason} ->
        refused(control, id, name, args, reason, :plan)

      {:error, reason} ->
        refused(beyond_limit(control, id), id, name, args, over(control, reason), :limit)

      step ->
        step
    end
  end

  # PTC-Lisp has a reason of its own for a budget that is used up.
  defp over(%{rules: %{lisp: nil}}, reason), do: reason

  defp over(_control, {:execution_error, text}),
    do: {:tool_call_limit_exceeded, "tool_call_limit_exceeded: " <> text}

  defp over(_control, reason), do: reason

  defp tool(%{tools: tools}, name) when is_binary(name) and is_map_key(tools, name),
    do: {:ok, :erlang.map_get(name, tools)}

  defp tool(%{tools: tools}, name), do: {:error, {:unknown_tool, name, tools}}

  defp open(%{secret: nil}, _name), do: :ok

  defp open(%{secret: secret, rules: %{firewall: tools}}, name) do
    case Watch.refusal(secret, name, tools) do
      nil -> :ok
      text -> {:denied, Words.denied(name, text)}
    end
  end

  defp beyond_limit(%{limited: ids} = control, id), do: %{control | limited: [id | ids]}

  defp refused(control, id, name, args, reason, by) do
    outcome = {:ended, Message.error(reason)}
    Told.told(control, {id, name, args, outcome}, :refused, {args, args}, %Decided{by: by})
    ended(control, id, name, args, reason)
  end

  defp ended(control, id, name, args, reason) do
    case Answers.answered(control, {id, name, args, args, false}, {:error, reason}) do
      {:ok, control} -> {:ended, reason, control}
      {:error, reason, control} -> {:ended, reason, control}
    end
  end

  defp cached?(%{settings: settings}, name),
    do: match?(%{^name => %{cache: true}}, settings)

  # Without answers to look for, the arguments are not read.
  defp cached(%{cache: cache}, _id, _name, _args) when cache == %{}, do: :no

  defp cached(control, id, name, args) do
    key = cache_key(control, name, args)

    case control.cache do
      %{^key => :running} ->
        {:join, key, control}

      %{^key => outcome} ->
        from_cache(control, id, {name, args}, outcome)

      _cache ->
        :no
    end
  end

  # Of equal calls only one is made. Where calls overlap, it may be another one than that which was started before a crash: its service must know it.
  defp under_started(%{attempts: none} = control, _id, _name, _args) when none == %{}, do: control

  defp under_started(control, id, name, args) do
    case if(cached?(control, name), do: started_equal(control, name, args), else: []) do
      [] -> control
      started -> %{control | under: Map.put(control.under, id, Enum.max(started))}
    end
  end

  # Many calls may wait, and few of them were started.
  defp started_equal(%{attempts: attempts, waiting: waiting} = control, name, args) do
    equal = cache_key(control, name, args)

    for {id, _count} <- attempts,
        %{^id => %{started: true, tool: ^name} = call} <- [waiting],
        equal == cache_key(control, name, asked(call)),
        do: id
  end

  @doc "What equal calls have in common. PTC-Lisp takes `10` and `10.0` for equal arguments."
  @spec cache_key(t(), String.t(), term()) :: {String.t(), term()}
  def cache_key(%{rules: %{lisp: nil}}, name, args), do: {name, args}
  def cache_key(_control, name, args), do: KeyNormalizer.canonical_cache_key(name, args)

  @doc "The answer to a call that is equal to one that has been answered."
  @spec from_cache(t(), Entry.id(), {String.t(), term()}, Entry.outcome()) :: step()
  def from_cache(control, id, {name, args}, outcome) do
    Told.told(control, {id, name, args, outcome}, :cache, {args, args}, %Decided{by: :cache})
    entry = {id, name, args, {:cached, outcome}}

    control =
      if control.keeps?, do: %{control | entries: [entry | control.entries]}, else: control

    with :ok <- Answers.journal(control, entry) do
      given(outcome, control)
    else
      {:error, reason} -> {:ended, reason, control}
    end
  end

  # A decision may answer with a JSON text.
  defp decoded({{:answer, %Text{} = text}, decided, control}) do
    case Texts.answer(text) do
      {:error, why} -> {{:deny, why}, decided, control}
      value -> {{:answer, value}, decided, control}
    end
  end

  defp decoded(decision), do: decision

  @doc "What the cache has for a call that is running, or has been answered."
  @spec in_cache(t(), {String.t(), term()}) :: :running | Entry.outcome() | nil
  def in_cache(%{cache: cache}, key), do: Map.get(cache, key)

  defp decided(control, id, name, args, pc, fun) do
    case control |> decision(id, name, args, pc) |> decoded() |> Order.kept(control, name) do
      :later ->
        :later

      {:run, decided, control} ->
        run(control, {id, name, args, args, pc}, fun, :run, decided)

      {{kind, others}, decided, control} when kind in [:run, :approve] ->
        said = if kind == :run, do: :run, else: :approved
        run(control, {id, name, args, others, pc}, fun, said, decided)

      {{:answer, value}, decided, control} ->
        outcome = {:ok, value, nil}
        sent = sent(control, name, args)
        Told.told(control, {id, name, args, outcome}, :answer, {sent, args}, decided)
        running = {id, name, args, sent, cached?(control, name)}

        case Answers.answered(control, running, outcome) do
          {:ok, control} -> {:answer, value, nil, control}
          {:error, reason, control} -> {:ended, reason, control}
        end

      {{:deny, reason}, decided, control} ->
        reason = Words.denied(name, reason)
        sent = sent(control, name, args)
        Told.told(control, {id, name, args, {:ended, reason}}, :deny, {sent, args}, decided)
        ended(control, id, name, args, reason)

      {{:pause, call}, decided, control} ->
        Told.told(control, {id, name, args, nil}, :pause, {call.args, args}, decided)
        {:wait, %{control | paused: [call | control.paused]}}

      {{:departs, reason}, _decided, control} ->
        {:ended, reason, control}
    end
  end

  @doc """
  Whether a call waits behind one that does, which has no answer yet. The hook is asked about it, and again when the run goes on, unless it lets it
  wait. A decision about it is not used yet.
  """
  @spec waits_too(t(), Entry.id(), term(), term(), non_neg_integer()) :: {:wait, t()} | :other
  def waits_too(control, id, name, args, pc) do
    with true <- asks?(control, name),
         true <- unknown?(control, id, name, args),
         {:ok, _fun} <- tool(control, name),
         :ok <- open(control, name),
         {:ok, sent} <- converted(control, name, args),
         :ok <- Budget.take(control.budget, name, args),
         {:ok, call, decided, control} <- waiting(control, id, name, {args, sent}, pc) do
      Told.told(control, {id, name, args, nil}, :pause, {call.args, args}, decided)
      {:wait, %{control | paused: [call | control.paused]}}
    else
      _other -> :other
    end
  end

  defp waiting(%{waiting: waiting} = control, id, name, {args, _sent}, _pc)
       when is_map_key(waiting, id) do
    {call, waiting} = Map.pop!(waiting, id)

    if call.tool === name and asked(call) === args,
      do: {:ok, call, nil, %{control | waiting: waiting}},
      else: :other
  end

  defp waiting(%{rules: %{on_call: hook}} = control, id, name, args, pc) do
    {call, control} = call(%{control | number: control.number + 1}, id, name, args, pc)

    case hook && Decided.asked(hook, call) do
      nil -> {:ok, with_text(call), nil, control}
      %Decided{decision: :pause} = decided -> {:ok, with_text(call), decided, control}
      _runs -> :other
    end
  end

  # Neither the journal, which is looked up by ids, nor the cache has its answer.
  defp unknown?(%{journal: journal, cache: cache} = control, id, name, args) do
    (journal == [] or not is_map_key(journal, id)) and
      (cache == %{} or not is_map_key(cache, cache_key(control, name, args)))
  end

  # A person has decided about a call that waited.
  defp decision(%{waiting: waiting} = control, id, name, args, _pc)
       when is_map_key(waiting, id) do
    {call, waiting} = Map.pop!(waiting, id)
    control = %{control | waiting: waiting}

    cond do
      call.tool !== name or asked(call) !== args ->
        {{:departs, Words.departs(name, args, call.tool, asked(call))}, nil, control}

      is_map_key(control.decisions, id) ->
        %Decided{decision: decision} = decided = Map.fetch!(control.decisions, id)
        {approved(control, decision, call), decided, control}

      true ->
        {{:pause, call}, nil, control}
    end
  end

  defp decision(control, id, name, args, pc) do
    # Nobody is asked about a call that its tool refuses: the tool says why, and has no effect.
    case asks?(control, name) and converted(control, name, args) do
      false -> {:run, nil, control}
      :refused -> {:run, nil, control}
      {:ok, sent} -> asked(control, id, name, {args, sent}, pc)
    end
  end

  defp asks?(%{rules: %{on_call: nil}, settings: settings}, name),
    do: match?(%{^name => %{approve: true}}, settings)

  defp asks?(_control, _name), do: true

  defp asked(%{rules: %{on_call: nil}} = control, id, name, args, pc) do
    {call, control} = call(control, id, name, args, pc)
    {{:pause, with_text(call)}, nil, control}
  end

  defp asked(%{rules: %{on_call: hook}} = control, id, name, args, pc) do
    {call, control} = call(control, id, name, args, pc)

    case Decided.asked(hook, call) do
      %Decided{decision: :pause} = decided -> {{:pause, with_text(call)}, decided, control}
      %Decided{decision: decision} = decided -> {decision, decided, control}
    end
  end

  # The arguments as the tool gets them.
  defp converted(%{settings: settings}, name, args) do
    case settings do
      %{^name => %{sent: sent}} when sent != nil -> sent.(args)
      _settings -> {:ok, args}
    end
  end

  # What the journal and the audit have of a call. Where nobody reads it, it is as it is.
  defp sent(%{keeps?: false, rules: %{watch: nil}}, _name, args), do: args
  defp sent(%{keeps?: false, rules: %{watch: {:decisions, _watch}}}, _name, args), do: args

  defp sent(control, name, args) do
    case converted(control, name, args) do
      {:ok, sent} -> sent
      :refused -> args
    end
  end

  defp asked(%{asked: nil, args: args}), do: args
  defp asked(%{asked: asked}), do: asked

  # Who approves a call has read its arguments, and not those that the program gave. These are passed on where the tool makes of them what
  # was read: then it also says what it has converted.
  defp approved(control, :approve, %{args: args} = call) do
    asked = asked(call)
    {:approve, if(converted(control, call.tool, asked) === {:ok, args}, do: asked, else: args)}
  end

  defp approved(_control, {:run, others}, _call), do: {:approve, others}
  defp approved(_control, decision, _call), do: decision

  defp call(control, id, name, {args, sent}, pc) do
    {path, place} = Place.path(control.place, pc)

    approve? = match?(%{^name => %{approve: true}}, control.settings)
    text = Entry.text(id)

    call = %Call{
      id: text,
      tool: name,
      args: sent,
      asked: if(sent === args, do: nil, else: args),
      effect: Order.effect(control, name),
      approve: approve?,
      number: control.number,
      path: path,
      key: key(control, id, text),
      attempt: attempt(control, id),
      context: control.rules.tool_context || %{}
    }

    # The place changes where a path is asked for that was not known.
    {call, if(place == nil, do: control, else: %{control | place: place})}
  end

  @doc "The calls that were started before this run was resumed, whose answers are not known, and that it has not reached."
  @spec started_before(t()) :: [Call.t()]
  def started_before(%{waiting: waiting}),
    do: for({_id, %{started: true} = call} <- waiting, do: call)

  # A paused run is stored, and what the application has given the run is not in it.
  defp with_text(call), do: %{call | text: Call.text(call), context: nil}

  # A call has the time of its tool, and what a hook has left of that of the run.
  defp run(control, {id, name, args, _given, _pc} = call, fun, said, decided) do
    left = remaining(control)

    if left > 0,
      do: run(control, call, fun, said, decided, left),
      else: ended(control, id, name, args, :timeout)
  end

  defp run(control, {id, name, args, given, pc}, fun, said, decided, left) do
    sent = sent(control, name, given)
    Told.told(control, {id, name, args, nil}, said, {sent, given}, decided)
    cached? = cached?(control, name)

    with :ok <- Answers.journal(control, {id, name, args, Entry.sent(:started, args, sent)}) do
      timeout =
        case control.settings do
          %{^name => %{timeout: timeout}} when timeout != nil -> timeout
          _settings -> :infinity
        end

      control = if cached?, do: Answers.in_cache(control, name, args, :running), else: control
      {given, control} = keyed(control, id, name, given, pc)
      {:run, {id, name, args, sent, cached?}, fun, given, {timeout, left}, control}
    else
      {:error, reason} -> {:ended, reason, control}
    end
  end

  # What the tool, or the record of its call, is told of the call.
  defp keyed(%{rules: %{watch: watch}, settings: settings} = control, id, name, args, pc) do
    if watch != nil or match?(%{^name => %{keyed: true}}, settings) do
      {path, place} = Place.path(control.place, pc)
      call = %{key: key(control, id), path: path, attempt: attempt(control, id)}
      control = if place == nil, do: control, else: %{control | place: place}
      {%Keyed{args: args, call: call}, control}
    else
      {args, control}
    end
  end

  @doc "The key of a call of this run."
  @spec key(t(), Entry.id()) :: String.t()
  def key(%{key_run: run, under: under}, id), do: Keyed.key(run, Map.get(under, id, id))

  defp key(%{key_run: run, under: under}, _id, text) when under == %{}, do: Keyed.key(run, text)
  defp key(control, id, _text), do: key(control, id)

  @doc "Which attempt a call is that starts in this run."
  @spec attempt(t(), Entry.id()) :: pos_integer()
  def attempt(%{attempts: attempts, under: under}, id),
    do: Map.get(attempts, Map.get(under, id, id), 0) + 1

  # An atom is more than any number. Without a hook, the run knows its time.
  defp remaining(%{rules: %{on_call: nil}}), do: :infinity
  defp remaining(%{deadline: deadline}), do: Deadline.left(deadline)
end
