defmodule PtcRunner.Lisp.Evaluation do
  @moduledoc false
  # From a program and its options to a step. `Preparing` makes the program, which is run here, and `Ended` makes the step.

  alias PtcRunner.Json.{Control, Paused, Run, Runner, ToolProcess, Within}

  alias PtcRunner.Lisp.{Asking, Ended, Firewalled, Given, Planning, Preparing, Program}

  alias PtcRunner.{Native, Step}
  alias PtcRunner.Json.Run.Start
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.Sandbox.Weight
  require Telemetry
  require Weight

  @doc """
  Runs a program.

      iex> given = PtcRunner.Lisp.Given.read(context: %{"n" => 1})
      iex> {:ok, step} = PtcRunner.Lisp.Evaluation.run("(println \\"n\\") (+ data/n 1)", given)
      iex> {step.return, step.prints}
      {2, ["n"]}

  """
  @spec run(String.t() | Program.t(), Given.t()) :: result()
  def run(program, %Given{} = given), do: program |> controlled(given) |> elem(0)

  @typedoc "What a run ends with, or the run that waits."
  @type result :: {:ok, Step.t()} | {:error, Step.t()} | {:paused, Paused.t()}

  @doc "Runs a program, and returns the control at the end of the run too, if it has one."
  @spec controlled(String.t() | Program.t(), Given.t()) :: {result(), Control.t() | nil}
  def controlled(program, %Given{} = given) do
    {result, run} = told_of(program, given)
    {result, run && run.control}
  end

  @doc "Runs a program that is compiled for observation, and returns the run at its end too, if it has begun."
  @spec observed(String.t() | Program.t(), Given.t()) :: {result(), Run.t() | nil}
  def observed(program, %Given{} = given), do: told_of(program, %{given | observed?: true})

  defp told_of(program, given) do
    if Telemetry.on?() do
      told = %{tools: given.tools, limits: {given.timeout, given.max_heap, 1}}
      key = {__MODULE__, make_ref()}

      result =
        Telemetry.run(:lisp, program, given.own[:run_id], told, fn ->
          {result, run} = evaluated(program, given)
          Process.put(key, run)
          result
        end)

      {result, Process.delete(key)}
    else
      evaluated(program, given)
    end
  end

  @doc """
  Goes on with a run without tools that began at this time in milliseconds. `reply` is that of its first native call, and `:none` before it.

      iex> given = PtcRunner.Lisp.Given.read([])
      iex> began = System.monotonic_time(:millisecond)
      iex> {:ok, step} = PtcRunner.Lisp.Evaluation.goes_on("(inc 1)", given, :none, began)
      iex> step.return
      2

  """
  @spec goes_on(String.t() | Program.t(), Given.t(), Run.Reply.t() | :none, integer()) :: result()
  def goes_on(program, given, reply, began),
    do: program |> evaluated(given, reply, began) |> elem(0)

  defp evaluated(program, given),
    do: evaluated(program, given, :none, System.monotonic_time(:millisecond))

  defp evaluated(program, given, reply, began) do
    {timeout, max_heap} = limits = Given.limits(given)

    with {:ok, program, signature, {tools, settings}} <-
           Preparing.prepared(program, given, limits),
         {:ok, seen} <- Firewalled.seen(program, given) do
      case first_steps(reply, program, tools, seen, limits) do
        {:ok, {:ok, _value, _defined}, words} = done when Weight.is_little(words) ->
          {Ended.quiet(done, given, signature, words, began), nil}

        reply ->
          run = started(program, Firewalled.tools(tools, given, program), seen, limits)
          begin = &begin(&1, reply, {left(timeout, began), max_heap, 1})
          {outcome, run} = run |> deciding(seen, settings) |> ran(begin)
          {Ended.of_run(outcome, program, given, signature, run, began), run}
      end
    else
      error -> {Ended.unread(program, error, given, began), nil}
    end
  end

  # Most runs without tools, about which nobody decides, end in their first native call. So nothing else is prepared before it.
  defp first_steps(
         :none,
         program,
         tools,
         %Given{max_tool_calls: nil, on_call: nil, on_journal: nil, within: [], own: own} = given,
         limits
       )
       when tools == %{} and own == %{} and not given.observed? do
    if Telemetry.on?(),
      do: :none,
      else: Start.first_steps_of_lisp(program, limits, given.context, environment(given))
  end

  defp first_steps(reply, _program, _tools, _given, _limits), do: reply

  defp begin(run, :none, limits), do: Start.begin(%{run | limits: limits})

  defp begin(_run, {:limits, state, terms}, {timeout, max_heap, _reading}),
    do: Native.resume(state, terms, {:limits, timeout, max_heap})

  defp begin(_run, reply, _limits), do: reply

  # What is refused before the run begins has no control.
  defp ran({:error, reason, run}, _begin), do: {{:error, reason}, run}
  defp ran(%Run{control: nil} = run, begin), do: Runner.driven(run, fn -> begin.(run) end)
  defp ran(run, begin), do: Runner.decided(run, begin)

  defp started(program, tools, given, {timeout, max_heap}) do
    %Run{
      program: program,
      context: given.context,
      memory: given.memory,
      environment: environment(given),
      tools: tools,
      now: given.now,
      most: given.tool_concurrency,
      limits: {timeout, max_heap, 1},
      strategy: %Asking{print_length: given.max_print_length},
      max_heap: max_heap,
      process: ToolProcess.new(max_heap),
      observation: (given.observed? && Native.observation(program.handle)) || nil
    }
  end

  defp environment(%Given{memory: memory, history: history, budget: budget} = given),
    do: {memory, history, budget || %{}, given.strict_data}

  # Nothing decides about the calls of most runs, and nothing counts them.
  defp deciding(
         %Run{} = run,
         %Given{max_tool_calls: nil, on_call: nil, on_journal: nil, within: [], own: own},
         settings
       )
       when own == %{} and settings == %{} do
    Telemetry.on?() && Telemetry.counted(run)
    run
  end

  defp deciding(%Run{tools: tools, program: program} = run, given, settings) do
    control = Given.control(given)

    with {:ok, control} <- within(program, given, control, tools, settings) do
      # Calls of `pmap` that go to their tool together.
      together = control.settings |> Map.merge(settings) |> PtcRunner.Json.Tools.batching()
      run = %{run | settings: together}

      run =
        case Control.for_run(control, tools, settings) do
          {:decides, control} ->
            %{run | control: control}

          {:counts, nil} ->
            run

          {:counts, budget} ->
            settings = Map.merge(control.settings, settings)
            %{run | control: %{control | tools: tools, budget: budget, settings: settings}}
        end

      Telemetry.on?() && Telemetry.counted(run)
      run
    else
      {:error, reason} -> {:error, reason, run}
    end
  end

  defp within(_program, _given, %Control{rules: %{within: []}} = control, _tools, _settings),
    do: {:ok, control}

  defp within(program, given, control, tools, settings) do
    %Given{context: context, memory: memory, timeout: timeout, max_heap: max_heap} = given

    data = %PtcRunner.Json.Given{
      context: context,
      memory: memory,
      tools: Planning.forms(given.tools),
      limits: {timeout, max_heap, 1}
    }

    Within.begin(program, data, Control.with_rules(control, said: settings), tools, settings)
  end

  defp left(:infinity, _began), do: :infinity
  defp left(timeout, began), do: max(timeout - (System.monotonic_time(:millisecond) - began), 0)
end
