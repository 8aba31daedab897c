defmodule PtcRunner.Json.Given do
  @moduledoc false
  # What a run is given by its options. Most runs have no other options than maps: these are read at once, and nothing
  # else is looked at for them, here and later.

  alias PtcRunner.Json.Control.Rules
  alias PtcRunner.Json.{Control, Limits, Now, Run, ToolContext, Tools, Within}
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.Options
  require Telemetry

  @limits [
    timeout: {{:maybe, :timeout}, nil},
    max_heap: {{:maybe, :max_heap}, nil},
    max_depth: {:depth, Limits.default_max_depth()},
    keys: {{:one_of, [:strings, :any]}, :strings},
    strict: {:boolean, false},
    structs: {{:one_of, [:maps, :values]}, :maps},
    edition: {{:maybe, {:one_of, [1, 2]}}, nil}
  ]

  # The limits of a run without these options.
  @no_limits {nil, nil, Limits.default_max_depth()}

  # The options about calls, besides their number, of a run that decides about none.
  @no_decisions {nil, nil, :infinity, false, nil, [], :refuse, nil}

  # The options of control.
  @control [
    tool_concurrency: {{:up_to, 1_024}, 1},
    now: {:now, nil},
    on_call: {{:maybe, {:function, 1}}, nil},
    on_journal: {{:maybe, {:function, 1}}, nil},
    pause_ttl: {{:or_infinity, :count}, :infinity},
    firewall: {:boolean, false},
    tool_context: {{:maybe, :named}, nil},
    within: {:any, nil},
    unknown: {{:one_of, [:refuse, :ask]}, :refuse}
  ]

  # Errors in the maps are reported after errors in the program.
  @running @limits ++
             [
               context: {:any, %{}},
               memory: {:any, %{}},
               tools: {:any, %{}},
               max_tool_calls: {{:maybe, :count}, nil}
             ] ++ @control

  # Parts of `PtcRunner.Json.Control`, and of its rules, from this library's own functions.
  @own [control: {:any, nil}]

  @public Options.table(@running, @own)
  @all Options.table(@running ++ @own)

  # The maps are not checked yet. `most`: how many tools run at the same time at most; `now`: the time of the start as
  # text, if that is given; `control`: only if an option is about calls; `counted`: the same control, if it only counts them.
  defstruct limits: @no_limits,
            context: %{},
            memory: %{},
            tools: %{},
            most: 1,
            now: nil,
            control: nil,
            counted: nil

  @type t :: %__MODULE__{
          limits: Limits.given(),
          context: term(),
          memory: term(),
          tools: term(),
          most: pos_integer(),
          now: String.t() | nil,
          control: Control.t() | nil,
          counted: Control.t() | nil
        }

  @doc "The options that say how a program is read, and within which limits."
  @spec limits() :: [{atom(), {Options.kind(), default :: term()}}]
  def limits, do: @limits

  @doc "The options of control, which runs of PTC-Lisp and of agents have, too."
  @spec control_options() :: [{atom(), {Options.kind(), default :: term()}}]
  def control_options, do: @control

  @doc """
  Reads the options of a function; with `:own`, they may have a control.

      iex> PtcRunner.Json.Given.read([context: %{"n" => 1}], "f/2")
      %PtcRunner.Json.Given{limits: {nil, nil, 10_000}, context: %{"n" => 1}}

      iex> PtcRunner.Json.Given.read([timeout: 50, now: "2024-02-29"], "f/2")
      %PtcRunner.Json.Given{limits: {50, nil, 10_000}, now: "2024-02-29T00:00:00Z"}

      iex> PtcRunner.Json.Given.read([max_tool_calls: 3], "f/2").control.rules.max_tool_calls
      3

  """
  @spec read(keyword(), String.t()) :: t()
  def read(opts, function), do: maps(opts, nil, nil, nil, opts, function)

  @spec read(keyword(), String.t(), :own) :: t()
  def read(opts, function, :own), do: all(opts, @all, function)

  defp maps([{:context, context} | rest], nil, memory, tools, opts, function)
       when is_map(context),
       do: maps(rest, context, memory, tools, opts, function)

  defp maps([{:memory, memory} | rest], context, nil, tools, opts, function)
       when is_map(memory),
       do: maps(rest, context, memory, tools, opts, function)

  defp maps([{:tools, tools} | rest], context, memory, nil, opts, function) when is_map(tools),
    do: maps(rest, context, memory, tools, opts, function)

  defp maps([], context, memory, tools, _opts, _function),
    do: new(@no_limits, context || %{}, memory || %{}, tools || %{}, 1, nil, {nil, nil})

  # With any other option, or one that is given twice.
  defp maps(_rest, _context, _memory, _tools, opts, function), do: all(opts, @public, function)

  defp all(opts, table, function) do
    {timeout, max_heap, max_depth, keys, strict, structs, edition, context, memory, tools,
     max_tool_calls, most, now, on_call, on_journal, pause_ttl, firewall, tool_context, within,
     unknown, own} = Options.read!(opts, table, function)

    limits = Limits.given(timeout, max_heap, max_depth, keys, strict, structs, edition)
    {:ok, now} = Now.text(now)
    within = Within.plans!(within, function)

    control =
      control(
        max_tool_calls,
        on_call,
        on_journal,
        pause_ttl,
        firewall,
        tool_context,
        {within, unknown},
        own
      )

    others = {on_call, on_journal, pause_ttl, firewall, tool_context, within, unknown, own}
    counted = if others == @no_decisions, do: control
    new(limits, context, memory, tools, most, now, {control, counted})
  end

  # The VM makes a map of variables faster than one that has constants too.
  defp new(limits, context, memory, tools, most, now, {control, counted}) do
    %__MODULE__{
      limits: limits,
      context: context,
      memory: memory,
      tools: tools,
      most: most,
      now: now,
      control: control,
      counted: counted
    }
  end

  defp control(nil, nil, nil, :infinity, false, nil, {[], :refuse}, nil), do: nil

  defp control(max_tool_calls, on_call, on_journal, pause_ttl, firewall, tool_context, plans, own) do
    {within, unknown} = plans

    rules = %Rules{
      max_tool_calls: max_tool_calls,
      on_call: on_call,
      on_journal: on_journal,
      pause_ttl: pause_ttl,
      firewall: firewall,
      tool_context: ToolContext.named(tool_context),
      within: within,
      unknown: unknown
    }

    control = %Control{rules: rules}
    if own, do: Control.with_parts(control, own), else: control
  end

  @doc "The control; it has no more than its defaults where no option is about calls."
  @spec control(t()) :: Control.t()
  def control(%__MODULE__{control: control}), do: control || %Control{}

  @doc "The id of a run that goes on, if it has one."
  @spec run_id(t()) :: String.t() | nil
  def run_id(%__MODULE__{control: %{run_id: id}}), do: id
  def run_id(_given), do: nil

  @doc "The run of a program with this, and with these functions of its tools. Nothing decides about its calls, and nothing counts them."
  @spec run(t(), Run.program(), map()) :: Run.t()
  def run(%__MODULE__{} = given, program, tools) do
    %__MODULE__{context: context, memory: memory, limits: limits, most: most, now: now} = given

    # An update takes less time than a new map, most of whose values are constants.
    %{
      %Run{}
      | program: program,
        context: context,
        memory: memory,
        tools: tools,
        limits: limits,
        most: most,
        now: now
    }
  end

  @doc "How a run with these tools is driven: whether its calls are counted, or decided about, is known before it."
  @spec with_tools(Run.t(), Control.t(), Tools.settings()) :: Run.t()
  def with_tools(%Run{} = run, control, settings) do
    firewall? = control.rules.firewall != false
    run = %{run | settings: control.settings |> Map.merge(settings) |> Tools.batching()}

    case Control.for_run(control, run.tools, settings) do
      {:decides, control} -> counted(%{run | control: control, firewall?: firewall?})
      {:counts, budget} -> counted(%{run | budget: budget, firewall?: firewall?})
    end
  end

  defp counted(run) do
    Telemetry.on?() && Telemetry.counted(run)
    run
  end
end
