defmodule PtcRunner.Json.Control do
  @moduledoc false
  # What is known of a run whose calls are decided about, in the process of its caller: its rules, the journal, the cache, the budget, the
  # decisions, and what was answered. `PtcRunner.Json.Control.Deciding` decides about each call.
  #
  # A run without any of this has no such state: see `PtcRunner.Json.Run`.

  alias PtcRunner.Json.{Budget, Call, Entry, Keyed, Tools, Within}
  alias PtcRunner.Json.Control.Rules

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

  @doc "The control whose journal is looked up by the ids of calls."
  @spec by_id(t()) :: t()
  def by_id(%{journal: [_ | _] = entries} = control) do
    journal = for entry <- entries, into: %{}, do: {elem(entry, 0), entry}
    %{control | journal: journal}
  end

  def by_id(control), do: control

  @doc "What becomes of a call that has been answered."
  @spec step(Entry.came(), t()) :: step()
  def step({:ok, value, words}, control), do: {:answer, value, words, control}
  def step({:failed, text}, control), do: {:failed, text, control}
  def step({:ended, reason}, control), do: {:ended, reason, control}

  @doc "The calls that were started before this run was resumed, whose answers are not known, and that it has not reached."
  @spec started_before(t()) :: [Call.t()]
  def started_before(%{waiting: waiting}),
    do: for({_id, %{started: true} = call} <- waiting, do: call)

  @doc "The key of a call of this run."
  @spec key(t(), Entry.id()) :: String.t()
  def key(%{key_run: run, under: under}, id), do: Keyed.key(run, Map.get(under, id, id))

  @doc "The key of a call whose id has this text."
  @spec key(t(), Entry.id(), String.t()) :: String.t()
  def key(%{key_run: run, under: under}, _id, text) when under == %{}, do: Keyed.key(run, text)
  def key(control, id, _text), do: key(control, id)

  @doc "Which attempt a call is that starts in this run."
  @spec attempt(t(), Entry.id()) :: pos_integer()
  def attempt(%{attempts: attempts, under: under}, id),
    do: Map.get(attempts, Map.get(under, id, id), 0) + 1
end
