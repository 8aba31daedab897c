defmodule PtcRunner.Json.Evaluation do
  @moduledoc false
  # From a program and what it is given to its value: reads the program's form, checks the maps, and runs it.

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

  alias PtcRunner.Json.{Paused, Planning, Program, Runner, Tools}
  alias PtcRunner.Native.Telemetry
  require Telemetry

  @typedoc "What a run ends with; its error is a fault."
  @type outcome ::
          {:ok, term(), non_neg_integer()} | {:error, Message.fault()} | {:paused, Control.t()}

  @typedoc "A function with the arguments of `PtcRunner.Json.Runner.run/6`."
  @type runner ::
          (Runner.program(), map(), map(), map(), Limits.given(), Runner.how() -> outcome())

  @doc """
  Runs a program.

      iex> given = PtcRunner.Json.Given.read([context: %{"n" => 1}], "f/2")
      iex> PtcRunner.Json.Evaluation.run(~s({"program": {"op": "load", "name": "n"}}), given)
      {:ok, 1, 3}

  """
  @spec run(PtcRunner.Json.program(), Given.t()) :: outcome()
  def run(program, given), do: watched(program, given, &Runner.run/6)

  @doc "The same with another function than `PtcRunner.Json.Runner.run/6`."
  @spec run(PtcRunner.Json.program(), Given.t(), runner()) :: outcome()
  def run(program, given, run), do: watched(program, given, run)

  # A small program takes so little time that each call on the way to it counts.
  @compile {:inline, watched: 3, noted: 3, started: 3}

  defp watched(program, given, run) do
    if Telemetry.on?() do
      run_id = Given.run_id(given)
      Telemetry.run(program, run_id, elem(given, 3), fn -> noted(program, given, run) end)
    else
      noted(program, given, run)
    end
  end

  defp noted(program, given, run) do
    with {:error, fault} <- started(program, given, run), do: {:error, Fence.note(fault, program)}
  end

  # A compiled program, and no option besides maps of data: nothing else is looked at.
  defp started(
         %Program{} = program,
         {{_timeout, _max_heap, depth} = limits, context, memory, tools, 1},
         run
       )
       when is_integer(depth) and is_map(context) and is_map(memory) and tools == %{},
       do: run.(program, context, memory, tools, limits, 1)

  defp started(program, {limits, context, memory, tools, how}, run) do
    program = exact(program, tools)

    with {:ok, program} <- source(program, limits),
         {:ok, tools, how} <- with_tools(program, context, memory, tools, limits, how),
         do: run.(program, context, memory, tools, limits, how)
  end

  @doc "The result of what a run ended with: see `PtcRunner.Json.run/2`."
  @spec result(outcome(), PtcRunner.Json.program(), Given.t()) :: PtcRunner.Json.result()
  def result({:ok, value, _words}, program, {limits, context, memory, tools, how}) do
    if AtomKeys.nothing?(value), do: AtomKeys.warn(context, memory, program, limits)
    result = Contract.of(value, memory, program, limits)

    case how do
      {_most, _now, %{firewall: firewall, plan: plan}} when firewall != false ->
        marked(result, program, {context, memory, of_tools(firewall, tools), limits}, plan)

      _how ->
        result
    end
  end

  def result({:error, fault}, program, {limits, context, memory, _tools, _how}),
    do: {:error, AtomKeys.error(fault, context, memory, program, limits)}

  def result({:paused, control}, program, given), do: paused(control, program, given)

  # What comes from firewalled data stays known to be so in the memory.
  defp marked({:ok, value, delta, memory}, program, given, plan),
    do: {:ok, value, delta, Kept.memory(memory, delta, program, given, plan)}

  defp of_tools(true, forms), do: Guard.tools(forms)
  defp of_tools(tools, _forms), do: tools

  @doc """
  The value of what a run ended with, for `PtcRunner.Agent`: before the rules of memory, and an error is a fault.
  """
  @spec value(outcome(), PtcRunner.Json.program(), Given.t()) ::
          {:ok, term()} | {:error, Message.fault()} | {:paused, Paused.t()}
  def value({:ok, value, _words}, _program, _given), do: {:ok, value}
  def value({:paused, control}, program, given), do: paused(control, program, given)
  def value(error, _program, _given), do: error

  defp paused(control, program, {limits, _context, memory, _tools, _how}) do
    with {:ok, paused} <- Paused.new(control, program, memory, limits), do: {:paused, paused}
  end

  @doc "See `PtcRunner.Json.explain/2`."
  @spec explain(PtcRunner.Json.program(), Given.t()) :: Explain.t()
  def explain(program, {limits, context, memory, tools, how} = given) do
    {timeout, max_heap, reading} = Limits.about(limits, program)
    {of_run, _max_heap, _reading} = Limits.resolve(limits)
    limits = {of_run, max_heap, reading}

    with {:ok, source} <- program |> exact(tools) |> explained(),
         {:ok, tools, how} <- with_tools(source, context, memory, tools, limits, how) do
      {outcome, explanation} =
        Explain.Observed.run(source, context, memory, tools, limits, how, timeout)

      %{explanation | result: result(outcome, program, given)}
    else
      {:error, _reason} = error -> %Explain{result: error}
    end
  end

  # What a compiled program keeps of its source is compiled again, for observation.
  defp explained(%Program{} = program), do: {:ok, program}
  defp explained(program), do: source(program)

  defp exact(text, tools) when is_binary(text) and is_map(tools) and tools != %{},
    do: ExactArguments.quoted(text, tools)

  defp exact(program, _tools), do: program

  # The functions of the tools, and who decides about their calls.
  defp with_tools(program, context, memory, tools, limits, how) do
    given = tool_context(how)

    case maps(program, context, memory, tools, limits, given != nil) do
      :ok when not is_tuple(how) or tuple_size(how) == 2 ->
        {:ok, tools, how}

      :ok ->
        decided(program, {context, memory}, tools, {tools, %{}}, limits, how)

      :forms ->
        decided(program, {context, memory}, tools, Tools.read!(tools, given), limits, how)

      error ->
        error
    end
  end

  defp tool_context({_most, _now, control}), do: control.tool_context
  defp tool_context(_how), do: nil

  defp decided(program, data, forms, {tools, settings}, limits, how) do
    with {:ok, how} <- guarded(program, data, forms, limits, Given.parts(how)),
         do: {:ok, tools, Given.with_tools(how, tools, settings)}
  end

  # With a firewall, flows of firewalled data into arguments are known before the run, or watched in it.
  defp guarded(program, data, forms, limits, {most, now, %{firewall: given} = control})
       when given != false and forms != %{} do
    tools = of_tools(given, forms)

    with {:ok, flows} <- flows(program, limits, control.plan),
         {:ok, watch} <- Guard.check(flows, data, tools),
         do: {:ok, {most, now, %{control | firewall: tools, secret: watch}}}
  end

  defp guarded(_program, _data, _forms, _limits, how), do: {:ok, how}

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
      iex> {_, _, _, _, {_, _, control}} = PtcRunner.Json.Evaluation.planned(program, given)
      iex> control.plan
      {:ok, %{"t" => [calls: []]}, %{nil => {[], [{:answer, ["t"], true}]}}}

  """
  @spec planned(PtcRunner.Json.program(), Given.t()) :: Given.t()
  def planned(program, {limits, context, memory, tools, {most, now, %{plan: nil} = control}})
      when is_map(tools) and tools != %{} and control.firewall != false do
    control = %{control | plan: plan(exact(program, tools), limits)}
    {limits, context, memory, tools, {most, now, control}}
  end

  def planned(_program, given), do: given

  @doc "The plan of a program that may call tools: see `PtcRunner.Json.Planning.flows/2`. `nil` for others, and for what is no program."
  @spec plan(PtcRunner.Json.program(), Limits.given()) ::
          Planning.flows() | {:error, Message.fault()} | nil
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
          {:ok, Runner.program()} | {:error, term()}
  def source(%Program{} = program, limits) do
    with {:error, fault} <- Program.asked(program, limits) do
      {timeout, max_heap, _reading} = Limits.resolve(limits)
      {:error, Program.error(fault, {timeout, max_heap})}
    end
  end

  def source(program, _limits), do: source(program)

  @doc "The same for a program that is not compiled."
  @spec source(PtcRunner.Json.program()) :: {:ok, Program.source()} | {:error, term()}
  def source(text) when is_binary(text), do: {:ok, text}

  def source(program),
    do: with({:ok, node} <- Parser.parse(program), do: {:ok, {:checked, node}})
end
