defmodule PtcRunner.Json.Given do
  @moduledoc false
  # What a run is given by its options. Most runs have no other options than maps: these are read at once, and nothing
  # else is looked at for them, here and later.

  alias PtcRunner.Json.{Control, Limits, Now, Runner, ToolContext}
  alias PtcRunner.Options

  @limits [
    timeout: {{:maybe, :timeout}, nil},
    max_heap: {{:maybe, :max_heap}, nil},
    max_depth: {:depth, Limits.default_max_depth()},
    keys: {{:one_of, [:strings, :any]}, :strings},
    strict: {:boolean, false},
    structs: {{:one_of, [:maps, :values]}, :maps},
    edition: {{:maybe, {:one_of, [1, 2]}}, nil}
  ]

  # Those of a run without these options.
  @no_limits {nil, nil, Limits.default_max_depth()}

  # Errors in the maps are reported after errors in the program.
  @running @limits ++
             [
               context: {:any, %{}},
               memory: {:any, %{}},
               tools: {:any, %{}},
               tool_concurrency: {{:up_to, 1_024}, 1},
               now: {:now, nil},
               max_tool_calls: {{:maybe, :count}, nil},
               on_call: {{:maybe, {:function, 1}}, nil},
               on_journal: {{:maybe, {:function, 1}}, nil},
               pause_ttl: {{:or_infinity, :count}, :infinity},
               firewall: {:boolean, false},
               tool_context: {{:maybe, :named}, nil}
             ]

  # Fields of `PtcRunner.Json.Control`, from this library's own functions.
  @own [control: {:any, nil}]

  @public Options.table(@running, @own)
  @all Options.table(@running ++ @own)

  @typedoc """
  The limits, the maps (which are not checked yet), and `how`: the maximum number of tools at a time; with the time of the start
  as text, if that is given; and with a control, if an option is about calls.
  """
  @type t ::
          {Limits.given(), context :: term(), memory :: term(), tools :: term(), how()}

  @type how ::
          pos_integer()
          | {pos_integer(), now :: String.t()}
          | {pos_integer(), now :: String.t() | nil, Control.t()}

  @doc "The options that say how a program is read, and within which limits."
  @spec limits() :: [{atom(), {Options.kind(), default :: term()}}]
  def limits, do: @limits

  @doc """
  Reads the options of a function; with `:own`, they may have a control.

      iex> PtcRunner.Json.Given.read([context: %{"n" => 1}], "f/2")
      {{nil, nil, 10_000}, %{"n" => 1}, %{}, %{}, 1}

      iex> PtcRunner.Json.Given.read([timeout: 50, now: "2024-02-29"], "f/2")
      {{50, nil, 10_000}, %{}, %{}, %{}, {1, "2024-02-29T00:00:00Z"}}

      iex> {_limits, _context, _memory, _tools, {1, nil, control}} = PtcRunner.Json.Given.read([max_tool_calls: 3], "f/2")
      iex> control.max_tool_calls
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
    do: {@no_limits, context || %{}, memory || %{}, tools || %{}, 1}

  # With any other option, or one that is given twice.
  defp maps(_rest, _context, _memory, _tools, opts, function), do: all(opts, @public, function)

  defp all(opts, table, function) do
    {timeout, max_heap, max_depth, keys, strict, structs, edition, context, memory, tools, most,
     now, max_tool_calls, on_call, on_journal, pause_ttl, firewall, tool_context,
     own} = Options.read!(opts, table, function)

    limits = Limits.given(timeout, max_heap, max_depth, keys, strict, structs, edition)
    {:ok, now} = Now.text(now)
    control = control(max_tool_calls, on_call, on_journal, pause_ttl, firewall, tool_context, own)
    {limits, context, memory, tools, how(most, now, control)}
  end

  defp control(nil, nil, nil, :infinity, false, nil, nil), do: nil

  defp control(max_tool_calls, on_call, on_journal, pause_ttl, firewall, tool_context, own) do
    control = %Control{
      max_tool_calls: max_tool_calls,
      on_call: on_call,
      on_journal: on_journal,
      pause_ttl: pause_ttl,
      firewall: firewall,
      tool_context: ToolContext.named(tool_context)
    }

    if own, do: struct!(control, own), else: control
  end

  defp how(most, nil, nil), do: most
  defp how(most, now, nil), do: {most, now}
  defp how(most, now, control), do: {most, now, control}

  @doc "The three parts of `how`; the control has no more than its defaults where no option is about calls."
  @spec parts(how()) :: {pos_integer(), String.t() | nil, Control.t()}
  def parts({_most, _now, _control} = how), do: how
  def parts({most, now}), do: {most, now, %Control{}}
  def parts(most), do: {most, nil, %Control{}}

  @doc "The id of a run that goes on, if it has one."
  @spec run_id(t()) :: String.t() | nil
  def run_id({_limits, _context, _memory, _tools, {_most, _now, %{run_id: id}}}), do: id
  def run_id(_given), do: nil

  @doc "How a run with these tools is driven: whether its calls are counted, or decided about, is known before it."
  @spec with_tools(how(), map(), map()) :: Runner.how()
  def with_tools(how, tools, settings) do
    {most, now, control} = parts(how)
    how(most, now, Control.for_run(control, tools, settings))
  end
end
