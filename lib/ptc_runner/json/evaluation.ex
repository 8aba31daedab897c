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
      {_most, _now, %{firewall: firewall}} when firewall != false ->
        marked(result, program, {context, memory, of_tools(firewall, tools), limits})

      _how ->
        result
    end
  end

  def result({:error, fault}, program, {limits, context, memory, _tools, _how}),
    do: {:error, AtomKeys.error(fault, context, memory, program, limits)}

  def result({:paused, control}, program, given), do: paused(control, program, given)

  # What comes from firewalled data stays known to be so in the memory.
  defp marked({:ok, value, delta, memory}, program, given),
    do: {:ok, value, delta, Kept.memory(memory, delta, program, given)}

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

  defp exact(program, tools) when is_map(tools) and tools != %{},
    do: ExactArguments.quoted(program, tools)

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

    with {:ok, flows} <- Planning.flows(program, limits),
         {:ok, watch} <- Guard.check(flows, data, tools),
         do: {:ok, {most, now, %{control | firewall: tools, secret: watch}}}
  end

  defp guarded(_program, _data, _forms, _limits, how), do: {:ok, how}

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
