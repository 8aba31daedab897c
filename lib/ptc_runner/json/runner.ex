defmodule PtcRunner.Json.Runner do
  @moduledoc false
  # Runs a `PtcRunner.Json.Run` to its end. A long run is resumed in slices on a normal scheduler, where each uses up the
  # process's time slice, and then in quanta on a dirty one.

  alias PtcRunner.Context
  alias PtcRunner.Firewall.Faults
  alias PtcRunner.Json.{Budget, Control, Edition, Limits, Message, Program, Run, ToolProcess}
  alias PtcRunner.Json.Run.{Controlled, Driver, InCaller, InPlace, Reply, Start}
  alias PtcRunner.Native
  alias PtcRunner.Native.{ErrorHandler, Panic, Telemetry}
  alias PtcRunner.Sandbox.{Guarded, Weight}
  require Reply
  require Telemetry
  require Weight

  @doc """
  Runs a program; returns its value and the words it built, or a fault (see `PtcRunner.Json.Message.error/1`).

      iex> alias PtcRunner.Json.{Run, Runner}
      iex> program = {:checked, %{"op" => "load", "name" => "n"}}
      iex> run = %Run{program: program, context: %{"n" => 1}, limits: {1_000, 0, 100}}
      iex> {:ok, value, _words} = Runner.run(run)
      iex> value
      1

  """
  @spec run(Run.t()) :: Run.outcome()
  # A program that may end in its first steps starts without limits.
  def run(%Run{tools: tools, budget: nil, control: nil} = run) when tools == %{} do
    case Start.start(run) do
      {:ok, _value, words} = done when Weight.is_little(words) -> done
      step -> with_limits(step, run)
    end
  catch
    :error, reason -> Panic.error(reason, __STACKTRACE__)
  end

  def run(%Run{control: nil, most: most, settings: settings} = run) do
    run = limited(run, most > 1 or settings != %{})
    run |> driven(fn -> Start.start(run) end) |> elem(0) |> settled(run)
  catch
    :error, reason -> Panic.error(reason, __STACKTRACE__)
  end

  def run(run), do: run |> controlled() |> elem(0)

  @doc """
  Runs a text or a compiled program that has no options besides its limits, only maps of data, and only functions as tools, about
  whose calls nobody decides: a control only counts them. Most such programs that call no tool end in their first steps, for which no struct of a run is made.

      iex> text = ~s({"program": {"op": "load", "name": "n"}})
      iex> {:ok, value, _words} = PtcRunner.Json.Runner.run(text, {nil, nil, 100}, %{"n" => 1}, %{}, %{}, nil)
      iex> value
      1

  """
  @spec run(String.t() | Program.t(), Limits.given(), map(), map(), map(), Control.t() | nil) ::
          Run.outcome()
  def run(program, limits, context, memory, tools, control) do
    case Start.first_steps(program, limits, context, memory, tools) do
      {:ok, _value, words} = done when Weight.is_little(words) ->
        done

      :calls when control == nil ->
        if Telemetry.on?() == false,
          do: unwatched(program, limits, context, memory, tools),
          else: run(of_data(program, limits, context, memory, tools, nil))

      # The whole start knows what is to be done then.
      again when again in [:texts, :rebuild, :calls] ->
        run(of_data(program, limits, context, memory, tools, control))

      step ->
        with_limits(step, of_data(program, limits, context, memory, tools, control))
    end
  catch
    :error, reason -> Panic.error(reason, __STACKTRACE__)
  end

  defp unwatched(program, limits, context, memory, tools) do
    case calling(program, Limits.resolve(limits), context, memory, tools) do
      {:ok, _value, _words} = done ->
        done

      ended ->
        run = of_data(program, limits, context, memory, tools, nil)
        if ended in [:texts, :rebuild], do: run(run), else: settled(ended, run)
    end
  end

  # Most programs that call a tool call one whose answer is their value: nothing of the run is kept then, and no struct of it is made.
  defp calling(program, {_timeout, max_heap, _reading} = limits, context, memory, tools) do
    handler = prepared()

    try do
      case Start.first_steps(program, limits, context, memory, tools) do
        Reply.last(tool: name, args: args, left: left, weight: weight, built: built)
        when is_integer(weight) and (weight <= max_heap or max_heap == 0) and
               is_map_key(tools, name) ->
          max_heap
          |> ToolProcess.once(name, :erlang.map_get(name, tools), args, left)
          |> InCaller.whole(built, max_heap)
          |> finish(limits)

        again when again in [:texts, :rebuild] ->
          again

        reply ->
          run =
            program |> of_data(limits, context, memory, tools, nil) |> in_caller(limits, false)

          reply |> Driver.go_on(run) |> ended() |> elem(0)
      end
    after
      ErrorHandler.restore(handler)
    end
  end

  # The VM makes a map of variables faster than one that has constants too.
  defp of_data(program, limits, context, memory, tools, control) do
    budget = control && Budget.new(Map.keys(tools), control.rules.max_tool_calls, %{})

    %{
      %Run{}
      | program: program,
        limits: limits,
        context: context,
        memory: memory,
        tools: tools,
        budget: budget
    }
  end

  @doc "Runs a program, and returns the control at the end of the run too, if it has one."
  @spec controlled(Run.t()) :: {Run.outcome(), Control.t() | nil}
  def controlled(%Run{control: nil} = run), do: {run(run), nil}

  def controlled(run) do
    {result, %Run{control: control}} = decided(run, &Start.start/1)
    {settled(result, run), control}
  end

  @doc """
  Runs a program whose calls are decided about, of any language: `begin` makes its first native call. Returns what it ends with, and
  the run as it is then.
  """
  @spec decided(Run.t(), (Run.t() -> Reply.t())) :: {Run.outcome(), Run.t()}
  def decided(%Run{} = run, begin) do
    with {:ok, run, fingerprint} <- Controlled.prepared(run),
         :goes <- held(run, fingerprint) do
      case driven(run, fn -> begin.(run) end) do
        {:paused, %Run{control: control} = run} ->
          control = Controlled.paused(control, fingerprint)
          {{:paused, control}, %{run | control: control}}

        ended ->
          ended
      end
    else
      {:paused, control} -> {{:paused, control}, %{run | control: control}}
      {error, control} -> {finish(error, control.limits), %{run | control: control}}
    end
  catch
    :error, reason -> {Panic.error(reason, __STACKTRACE__), run}
  end

  # The program itself waits to be approved.
  defp held(%Run{control: %{rules: %{hold: nil}}}, _fingerprint), do: :goes

  defp held(%Run{control: control}, fingerprint),
    do: {:paused, Controlled.paused(control, fingerprint)}

  defp limited(%Run{limits: limits} = run, forks?),
    do: in_caller(run, Limits.resolve(limits), forks?)

  defp in_caller(run, {_timeout, max_heap, _reading} = limits, forks?) do
    process = ToolProcess.new(max_heap)

    %{
      run
      | strategy: %InCaller{},
        limits: limits,
        max_heap: max_heap,
        forks?: forks?,
        process: process
    }
  end

  defp settled({:error, fault}, run) do
    %Run{program: program, context: context, memory: memory, limits: limits} = run
    fault = Faults.of_run(fault, program, context, memory, run.firewall?)
    {:error, cheap(fault, limits)}
  end

  defp settled(done, _run), do: done

  @doc """
  Runs an unchecked AST, for `PtcRunner.Sandbox.execute/3`.

      iex> context = PtcRunner.Context.new(%{"n" => 1})
      iex> PtcRunner.Json.Runner.execute(%{"op" => "count"}, context, 1_000, 0)
      {:error, {:execution_error, "No input available"}}

  """
  @spec execute(term(), Context.t(), timeout(), non_neg_integer()) ::
          {:ok, term(), non_neg_integer()} | {:error, Message.error()}
  def execute(ast, %Context{} = context, timeout, max_heap),
    do: ast |> unchecked(context, timeout, max_heap) |> run() |> worded()

  defp unchecked(ast, context, timeout, max_heap) do
    %Run{
      program: {:unchecked, ast},
      context: context.ctx || %{},
      memory: context.memory || %{},
      tools: context.tools || %{},
      limits: {timeout, max_heap, Limits.default_max_depth()}
    }
  end

  @doc """
  Runs an unchecked AST, without limits and with the tools in the calling process, for
  `PtcRunner.Json.Interpreter.eval/2`. An edition is given only by tests.

      iex> PtcRunner.Json.Runner.eval(%{"op" => "literal", "value" => 1}, PtcRunner.Context.new())
      {:ok, 1}

  """
  @spec eval(term(), Context.t(), Edition.t() | nil) :: {:ok, term()} | {:error, Message.error()}
  def eval(ast, %Context{} = context, edition \\ nil) do
    %Run{limits: {timeout, max_heap, depth}} = run = unchecked(ast, context, :infinity, 0)
    reading = if edition, do: {depth, false, false, false, edition}, else: depth
    run = %{run | strategy: %InPlace{}, limits: {timeout, max_heap, reading}}

    fn -> Start.start(run) end
    |> Driver.start(run)
    |> elem(0)
    |> concealed(ast, context)
    |> worded()
  end

  defp concealed({:error, fault}, ast, context),
    do: {:error, Faults.of_run(fault, {:unchecked, ast}, context.ctx, context.memory, false)}

  defp concealed({:ok, value, _words}, _ast, _context), do: {:ok, value}

  defp worded({:error, fault}), do: {:error, Message.error(fault)}
  defp worded(done), do: done

  @doc """
  Drives a run from its first native call to its end, and ends the process of its tools. Returns its result, with the run's limits in
  their errors, and the run as it is then.
  """
  @spec driven(Run.t(), (() -> Reply.t())) :: {result :: term(), Run.t()}
  # After `begin`, a process with a heap limit may have been killed, and must not wait for the code server.
  # So the modules that it needs are loaded before.
  def driven(run, begin) do
    handler = prepared()

    try do
      begin |> Driver.start(run) |> ended()
    after
      ErrorHandler.restore(handler)
    end
  end

  defp ended({result, %Run{process: process, limits: limits} = run}) do
    ToolProcess.stop(process)
    {finish(result, limits), run}
  end

  defp prepared do
    :erlang.module_loaded(Native) || Code.ensure_loaded(Native)
    ErrorHandler.install()
  end

  # Goes on with a run that has not ended in its first steps.
  defp with_limits(step, run) do
    %Run{limits: {timeout, max_heap, _reading}} = run = limited(run, false)

    begin = fn ->
      case step do
        {:limits, state, terms} -> Native.resume(state, terms, {:limits, timeout, max_heap})
        step -> step
      end
    end

    run |> driven(begin) |> elem(0) |> settled(run)
  end

  # The end of a run, with its limits in the errors.
  # The caller may wait for a message next.
  defp finish({:ok, _value, words} = done, _limits) do
    if not Weight.is_little(words), do: Guarded.settle()
    done
  end

  defp finish({:error, :timeout}, {timeout, _, _}), do: {:error, {:timeout, timeout}}

  # Without a limit, only terms that are too large to be copied exceed it.
  defp finish({:error, :memory_exceeded}, {_, max_heap, _}),
    do: {:error, {:memory_exceeded, Limits.bytes(Weight.limit(max_heap))}}

  defp finish(other, _limits), do: other

  # The terms of this fault are small in memory but may be huge as text. The text is made under the
  # limits of the run, in a process like that of a tool.
  defp cheap({:expensive_to_inspect, fault}, limits) do
    {timeout, max_heap, _depth} = limits = Limits.resolve(limits)
    process = ToolProcess.new(max_heap)
    {result, process} = ToolProcess.call(process, "error", &Message.error/1, fault, timeout)
    ToolProcess.stop(process)

    case result do
      {:ok, error, _words} ->
        error

      {:error, reason} ->
        {:error, fault} = finish({:error, reason}, limits)
        fault
    end
  end

  defp cheap(fault, _limits), do: fault
end
