defmodule PtcRunner.Json.Evaluation do
  @moduledoc false
  # From a program and what it is given to its value: reads the program's form, checks the maps, and runs it.

  alias PtcRunner.Agent.Tool.Names
  alias PtcRunner.Firewall.{Guard, Kept}

  alias PtcRunner.Json.{
    AtomKeys,
    Contract,
    Control,
    ExactArguments,
    Explain,
    Fence,
    Given,
    Inputs,
    Limits,
    Message,
    Parser
  }

  alias PtcRunner.Json.{Paused, Planning, Program, Run, Runner, Tools, Within}
  alias PtcRunner.Native.Telemetry
  require Telemetry

  @typedoc "`PtcRunner.Json.Runner.run/1`, or a function like it."
  @type runner :: (Run.t() -> Run.outcome())

  @doc """
  Runs a program.

      iex> given = PtcRunner.Json.Given.read([context: %{"n" => 1}], "f/2")
      iex> PtcRunner.Json.Evaluation.run(~s({"program": {"op": "load", "name": "n"}}), given)
      {:ok, 1, 3}

  """
  @spec run(PtcRunner.Json.program(), Given.t()) :: Run.outcome()
  def run(program, given), do: watched(program, given, :plain)

  @doc "Runs a program with another function than `PtcRunner.Json.Runner.run/1`."
  @spec run(PtcRunner.Json.program(), Given.t(), runner()) :: Run.outcome()
  def run(program, given, run), do: watched(program, given, run)

  # A small program takes so little time that each call on the way to it counts.
  @compile {:inline, watched: 3, noted: 3, started: 3, first?: 5, plain?: 1, valued: 5}

  defp watched(program, given, run) do
    if Telemetry.on?() do
      run_id = Given.run_id(given)
      Telemetry.run(program, run_id, given, fn -> noted(program, given, run) end)
    else
      noted(program, given, run)
    end
  end

  defp noted(program, given, run) do
    with {:error, fault} <- started(program, given, run), do: {:error, Fence.note(fault, program)}
  end

  defp started(program, %Given{most: 1, now: nil, control: nil} = given, :plain) do
    %Given{limits: limits, context: context, memory: memory, tools: tools} = given

    if first?(program, limits, context, memory, tools),
      do: Runner.run(program, limits, context, memory, tools, nil),
      else: with_all(program, given, :plain)
  end

  defp started(program, given, run), do: with_all(program, given, run)

  defp with_all(program, %Given{limits: limits, tools: tools} = given, run) do
    program = ExactArguments.quoted(program, tools)

    with {:ok, program} <- source(program, limits),
         {:ok, started} <- with_tools(program, given),
         do: if(run == :plain, do: Runner.run(started), else: run.(started))
  end

  # A text or a compiled program, and no option besides limits, maps of data and plain tools: nothing else is looked at.
  defp first?(%Program{}, {_timeout, _max_heap, depth}, context, memory, tools),
    do: is_integer(depth) and is_map(context) and is_map(memory) and plain?(tools)

  defp first?(program, _limits, context, memory, tools),
    do: is_binary(program) and is_map(context) and is_map(memory) and plain?(tools)

  # Functions of one argument whose names are texts: nothing has to be checked, counted or decided for them.
  defp plain?(tools) when tools == %{}, do: true
  defp plain?(tools), do: is_map(tools) and all_plain?(:maps.to_list(tools))

  defp all_plain?([{name, tool} | rest]) when is_binary(name) and is_function(tool, 1),
    do: all_plain?(rest)

  defp all_plain?(rest), do: rest == []

  @doc """
  What `PtcRunner.Json.run/2` returns.

      iex> given = PtcRunner.Json.Given.read([context: %{"n" => 1}], "f/2")
      iex> PtcRunner.Json.Evaluation.of(~s({"program": {"op": "load", "name": "n"}}), given)
      {:ok, 1, %{}, %{}}

  """
  @spec of(PtcRunner.Json.program(), Given.t()) :: PtcRunner.Json.result()
  # The struct is matched once where it has nothing but data, plain tools and a number of calls.
  def of(program, %Given{most: 1, now: nil, control: control, counted: control} = given) do
    %Given{limits: limits, context: context, memory: memory, tools: tools} = given

    if Telemetry.on?() != false or not first?(program, limits, context, memory, tools) do
      given = planned(program, given)
      program |> run(given) |> result(program, given)
    else
      case Runner.run(program, limits, context, memory, tools, control) do
        {:ok, value, _words} -> valued(value, program, limits, context, memory)
        {:error, fault} -> result({:error, Fence.note(fault, program)}, program, given)
      end
    end
  end

  def of(program, given) do
    given = planned(program, given)
    program |> run(given) |> result(program, given)
  end

  @doc "The result of what a run ended with: see `PtcRunner.Json.run/2`."
  @spec result(Run.outcome(), PtcRunner.Json.program(), Given.t()) :: PtcRunner.Json.result()
  def result({:ok, value, _words}, program, %Given{} = given) do
    %Given{limits: limits, context: context, memory: memory, tools: tools, control: control} =
      given

    result = valued(value, program, limits, context, memory)

    case control do
      %{rules: %{firewall: firewall, plan: plan}} when firewall != false ->
        marked(result, program, {context, memory, of_tools(firewall, tools), limits}, plan)

      _none ->
        result
    end
  end

  def result({:error, fault}, program, %Given{} = given),
    do: {:error, AtomKeys.error(fault, given.context, given.memory, program, given.limits)}

  def result({:paused, control}, program, given), do: paused(control, program, given)

  defp valued(value, program, limits, context, memory) do
    if AtomKeys.nothing?(value), do: AtomKeys.warn(context, memory, program, limits)
    Contract.of(value, memory, program, limits)
  end

  # What comes from firewalled data stays known to be so in the memory.
  defp marked({:ok, value, delta, memory}, program, given, plan),
    do: {:ok, value, delta, Kept.memory(memory, delta, program, given, plan)}

  defp of_tools(true, forms), do: Guard.tools(forms)
  defp of_tools(tools, _forms), do: tools

  @doc """
  The value of what a run ended with, for `PtcRunner.Agent`: before the rules of memory, and an error is a fault.
  """
  @spec value(Run.outcome(), PtcRunner.Json.program(), Given.t()) ::
          {:ok, term()} | {:error, Message.fault()} | {:paused, Paused.t()}
  def value({:ok, value, _words}, _program, _given), do: {:ok, value}
  def value({:paused, control}, program, given), do: paused(control, program, given)
  def value(error, _program, _given), do: error

  defp paused(control, program, %Given{limits: limits, memory: memory}) do
    with {:ok, paused} <- Paused.new(control, program, memory, limits), do: {:paused, paused}
  end

  @doc "See `PtcRunner.Json.explain/2`."
  @spec explain(PtcRunner.Json.program(), Given.t()) :: Explain.t()
  def explain(program, %Given{limits: limits} = given) do
    given = named(program, given)
    {timeout, max_heap, reading} = Limits.about(limits, program)
    {of_run, _max_heap, _reading} = Limits.resolve(limits)
    limits = {of_run, max_heap, reading}

    with {:ok, source} <- program |> ExactArguments.quoted(given.tools) |> explained(),
         {:ok, run} <- with_tools(source, %{given | limits: limits}) do
      {outcome, explanation} = Explain.Observed.run(run, timeout)
      %{explanation | result: result(outcome, program, given)}
    else
      {:error, _reason} = error -> %Explain{result: error}
    end
  end

  # What a compiled program keeps of its source is compiled again, for observation.
  defp explained(%Program{} = program), do: {:ok, program}
  defp explained(program), do: source(program)

  # The run with the functions of its tools, and who decides about their calls.
  defp with_tools(program, %Given{tools: tools, control: control} = given) do
    context = control && control.rules.tool_context

    case maps(program, given.context, given.memory, tools, given.limits, context != nil) do
      :ok when control == nil -> {:ok, Given.run(given, program, tools)}
      :ok -> decided(program, given, {tools, %{}})
      :forms -> decided(program, given, Tools.read!(tools, context))
      error -> error
    end
  end

  defp decided(program, given, {tools, settings}) do
    with {:ok, control} <- guarded(program, given, Given.control(given)),
         {:ok, control} <- Within.begin(program, given, control, tools, settings),
         do: {:ok, given |> Given.run(program, tools) |> Given.with_tools(control, settings)}
  end

  # With a firewall, flows of firewalled data into arguments are known before the run, or watched in it.
  defp guarded(program, %Given{tools: forms} = given, %{rules: %{firewall: firewall}} = control)
       when firewall != false and forms != %{} do
    tools = of_tools(firewall, forms)

    with {:ok, flows} <- flows(program, given.limits, control.rules.plan),
         {:ok, watch} <- Guard.check(flows, {given.context, given.memory}, tools),
         do: {:ok, Control.with_rules(%{control | secret: watch}, firewall: tools)}
  end

  defp guarded(_program, _given, control), do: {:ok, control}

  defp flows(program, limits, nil) do
    if Planning.calls?(program),
      do: flows(program, limits, Planning.flows(program, limits)),
      else: {:ok, %{}}
  end

  defp flows(_program, _limits, {:ok, flows, _kept}), do: {:ok, flows}
  defp flows(_program, _limits, error), do: error

  @doc """
  What a run is given, with the plan of its program where it has a firewall and may call tools: it is asked before the run and after it.

      iex> program = ~s({"program": {"op": "call", "tool": "t", "args": {}}})
      iex> given = PtcRunner.Json.Given.read([tools: %{"t" => fn _ -> 1 end}, firewall: true], "f/2")
      iex> PtcRunner.Json.Evaluation.planned(program, given).control.rules.plan
      {:ok, %{"t" => [calls: []]}, %{nil => {[], [{:answer, ["t"], true}]}}}

  """
  @spec planned(PtcRunner.Json.program(), Given.t()) :: Given.t()
  # A text or a compiled program whose tools have texts as names, and nothing decides about their calls.
  def planned(text, %Given{control: nil, limits: {_timeout, _max_heap, depth}} = given)
      when is_binary(text) and is_integer(depth),
      do: given

  def planned(%Program{keys: keys}, %Given{control: nil, limits: {_, _, depth}} = given)
      when keys != :any and is_integer(depth),
      do: given

  def planned(program, given), do: with_plan(program, named(program, given))

  defp with_plan(program, %Given{tools: tools, control: %{rules: %{plan: nil}} = control} = given)
       when is_map(tools) and tools != %{} and control.rules.firewall != false do
    plan = program |> ExactArguments.quoted(tools) |> plan(given.limits)
    %{given | control: Control.with_rules(control, plan: plan)}
  end

  defp with_plan(_program, given), do: given

  # With `keys: :any`, names of tools may be atoms, too. What has a name twice is an error of its own.
  defp named(program, %Given{tools: tools, limits: {_timeout, _max_heap, reading}} = given) do
    if is_map(tools) and tools != %{} and elem(Paused.reading(program, reading), 1) and
         Names.twin(tools) == nil,
       do: %{given | tools: Map.new(tools, &with_text/1)},
       else: given
  end

  defp with_text({name, form}) when is_atom(name), do: {Atom.to_string(name), form}
  defp with_text(named), do: named

  @doc "The plan of a program that may call tools: see `PtcRunner.Json.Planning.flows/2`. `nil` for others, and for what is no program."
  @spec plan(PtcRunner.Json.program(), Limits.given()) ::
          Planning.flows() | {:error, Message.error()} | nil
  def plan(program, limits) do
    with {:ok, source} <- source(program, limits),
         true <- Planning.calls?(source) do
      Planning.flows(source, limits)
    else
      _none -> nil
    end
  end

  defp maps(_program, context, memory, tools, _limits, _given?)
       when is_map(context) and is_map(memory) and tools == %{},
       do: :ok

  defp maps(program, context, memory, tools, limits, given?),
    do: Inputs.check(program, context, memory, tools, limits, given?)

  @doc """
  The form in which a program is run: a compiled one that needs more than it has is compiled again, a map is parsed. Texts are
  passed to the native side unchanged.
  """
  @spec source(PtcRunner.Json.program(), Limits.given()) ::
          {:ok, Run.program()} | {:error, term()}
  def source(%Program{} = program, limits) do
    with {:error, fault} <- Program.asked(program, limits) do
      {timeout, max_heap, _reading} = Limits.resolve(limits)
      {:error, Program.error(fault, {timeout, max_heap})}
    end
  end

  def source(program, _limits), do: source(program)

  @doc "The form in which a program runs that is not compiled."
  @spec source(PtcRunner.Json.program()) :: {:ok, Program.source()} | {:error, term()}
  def source(text) when is_binary(text), do: {:ok, text}

  def source(program),
    do: with({:ok, node} <- Parser.parse(program), do: {:ok, {:checked, node}})
end
