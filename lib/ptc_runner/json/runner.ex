defmodule PtcRunner.Json.Runner do
  @moduledoc false
  # Drives a run: starts it, calls the tools that it requests, and converts its end to a result. A long
  # run is resumed in slices on a normal scheduler, where each uses up the process's time slice,
  # and then in quanta on a dirty one.

  alias PtcRunner.Firewall.Faults

  alias PtcRunner.Json.{
    Fork,
    Limits,
    Message,
    Move,
    Program,
    ToolProcess,
    ToolWorker
  }

  alias PtcRunner.{Aligned, Context, Native, Quanta}
  alias PtcRunner.Native.{ErrorHandler, Panic, Telemetry}
  alias PtcRunner.Sandbox.{Guarded, Weight}
  require Telemetry

  # A value of so few words hardly makes the VM collect garbage.
  @small 1_000

  @typedoc """
  The program of a run: a text, an already parsed program (with or, `:unchecked`, without a check),
  a compiled one, or an observed one, with its observation, its constants and its source.
  """
  @type program ::
          String.t()
          | {:checked | :unchecked, term()}
          | Program.t()
          | {:observed, reference(), tuple(), source :: term()}

  @doc """
  Runs a program; returns its value and the words it built, or a fault (see `PtcRunner.Json.Message.error/1`).

      iex> program = {:checked, %{"op" => "load", "name" => "n"}}
      iex> limits = {1_000, 0, 100}
      iex> {:ok, value, _words} = PtcRunner.Json.Runner.run(program, %{"n" => 1}, %{}, %{}, limits)
      iex> value
      1

  """
  @spec run(program(), map(), map(), map(), Limits.given(), pos_integer()) ::
          {:ok, term(), non_neg_integer()} | {:error, Message.fault()}
  def run(program, context, memory, tools, limits, tool_concurrency \\ 1)

  def run(program, context, memory, tools, limits, tool_concurrency)
      when tool_concurrency > 1 and tools != %{} do
    {timeout, max_heap, reading} = limits = Limits.resolve(limits)

    step = start_forking(program, {context, memory, timeout, max_heap}, reading)
    handler = ErrorHandler.install()

    try do
      step
      |> call(tools, limits, ToolProcess.new(max_heap), {:fork, tool_concurrency})
      |> settled(program, memory, limits)
    after
      ErrorHandler.restore(handler)
    end
  catch
    :error, :nif_panicked -> panicked()
    :error, reason when reason in [:undef, :badarg] -> Panic.lost(reason, __STACKTRACE__)
  end

  # A program that may end in its first steps starts without limits.
  def run(program, context, memory, tools, {timeout, max_heap, reading} = limits, _concurrency) do
    case start(program, {context, memory, timeout, max_heap}, reading) do
      {:ok, _value, words} = done when words <= @small -> done
      step -> step |> driven(tools, limits) |> settled(program, memory, limits)
    end
  catch
    :error, :nif_panicked -> panicked()
    :error, reason when reason in [:undef, :badarg] -> Panic.lost(reason, __STACKTRACE__)
  end

  defp settled({:error, fault}, program, memory, limits),
    do: {:error, fault |> Faults.of_run(program, memory) |> cheap(limits)}

  defp settled(done, _program, _memory, _limits), do: done

  defp start_forking(%Program{} = program, given, reading),
    do: start_compiled(program, given, reading, &Native.run_forking/3)

  defp start_forking({:observed, observation, consts, _source}, given, _reading),
    do: Native.run_observed(observation, consts, given, true)

  defp start_forking(source, {_context, _memory, timeout, max_heap} = given, reading) do
    with {:ok, handle, consts} <- Program.build(source, reading, {timeout, max_heap}),
         do: Native.run_forking(handle, consts, given)
  end

  @doc """
  Runs an unchecked AST, for `PtcRunner.Sandbox.execute/3`.

      iex> context = PtcRunner.Context.new(%{"n" => 1})
      iex> PtcRunner.Json.Runner.execute(%{"op" => "count"}, context, 1_000, 0)
      {:error, {:execution_error, "No input available"}}

  """
  @spec execute(term(), Context.t(), timeout(), non_neg_integer()) ::
          {:ok, term(), non_neg_integer()} | {:error, Message.error()}
  def execute(ast, %Context{} = context, timeout, max_heap) do
    limits = {timeout, max_heap, Limits.default_max_depth()}

    {:unchecked, ast}
    |> run(context.ctx || %{}, context.memory || %{}, context.tools || %{}, limits)
    |> worded()
  end

  defp concealed({:error, fault}, ast, memory),
    do: {:error, Faults.of_run(fault, {:unchecked, ast}, memory)}

  defp concealed(done, _ast, _memory), do: done

  defp worded({:error, fault}), do: {:error, Message.error(fault)}
  defp worded(done), do: done

  @doc """
  Runs an unchecked AST, without limits and with the tools in the calling process, for
  `PtcRunner.Json.Interpreter.eval/2`.

      iex> PtcRunner.Json.Runner.eval(%{"op" => "literal", "value" => 1}, PtcRunner.Context.new())
      {:ok, 1}

  """
  @spec eval(term(), Context.t()) :: {:ok, term()} | {:error, Message.error()}
  def eval(ast, %Context{} = context) do
    given = {context.ctx || %{}, context.memory || %{}, :infinity, 0}

    {:unchecked, ast}
    |> start(given, Limits.default_max_depth())
    |> eval_on(context.tools || %{})
    |> concealed(ast, context.memory)
    |> worded()
  catch
    :error, :nif_panicked -> panicked()
    :error, reason when reason in [:undef, :badarg] -> Panic.lost(reason, __STACKTRACE__)
  end

  defp start(text, given, reading) when is_binary(text),
    do: text |> Aligned.text() |> Native.run_text(reading, given)

  defp start(%Program{} = program, given, reading),
    do: start_compiled(program, given, reading, &Native.run_compiled/3)

  defp start({:observed, observation, consts, _source}, given, _reading),
    do: Native.run_observed(observation, consts, given, false)

  defp start({checked, node}, given, reading) do
    Native.run_node(node, checked == :checked, reading, given)
  end

  defp start_compiled(%Program{handle: handle, consts: consts} = program, given, reading, native) do
    native.(handle, consts, given)
  rescue
    # The handle is from another node, or from this one before a restart.
    ArgumentError ->
      {_context, _memory, timeout, max_heap} = given
      {timeout, max_heap, _depth} = Limits.resolve({timeout, max_heap, reading})

      case Program.rebuild(program, {timeout, max_heap}) do
        {:ok, handle, consts} -> native.(handle, consts, given)
        error -> error
      end
  end

  defp driven(step, tools, limits) do
    handler = ErrorHandler.install()

    try do
      drive(step, tools, limits)
    after
      ErrorHandler.restore(handler)
    end
  end

  # Before the first call there is no process to stop.
  defp drive({:limits, state, terms}, tools, limits) do
    {timeout, max_heap, _depth} = limits = Limits.resolve(limits)
    state |> Native.resume(terms, {:limits, timeout, max_heap}) |> drive(tools, limits)
  end

  defp drive({next, _state, _terms} = left, tools, limits) when next in [:more, :long] do
    Telemetry.on?() && Telemetry.suspended()
    left |> Quanta.go_on() |> drive(tools, limits)
  end

  # A call in the first steps: the clock of the deadline starts now.
  defp drive({:call, state, terms, tool, args, nil}, tools, limits) do
    {timeout, max_heap, _depth} = limits = Limits.resolve(limits)
    left = Native.limited(state, {timeout, max_heap})
    drive({:call, state, terms, tool, args, left}, tools, limits)
  end

  # The only call of the run, and its answer is the program's value.
  defp drive({:last, tool, args, weight, left, words}, tools, limits) do
    {timeout, max_heap, _depth} = limits = Limits.resolve(limits)

    with {:ok, fun} <- tool(tools, tool),
         {:ok, _words} <- weigh(args, weight, max_heap),
         {:ok, {answer, more}} <- call_once(max_heap, tool, fun, args, left || timeout) do
      ended(answer, words + more, limits)
    else
      error -> finish(error, limits)
    end
  end

  defp drive({:call, _, _, _, _, _} = step, tools, {_timeout, max_heap, _depth} = limits),
    do: call(step, tools, limits, ToolProcess.new(max_heap), 1)

  defp drive(step, _tools, limits), do: finish(step, limits)

  # Handles call number `at` of the run. A run whose loops fork has `{:fork, most}` instead of a number: it
  # does not move, and requests the calls outside its loops one after another.
  defp call({:call, state, terms, tool, args, left}, tools, limits, process, at) do
    {_timeout, max_heap, _depth} = limits

    with {:ok, fun} <- tool(tools, tool),
         :stay <- unless_it_fails(process, fn -> ready(state, terms, args, max_heap, at) end),
         {{:ok, answer}, process} <- call_tool(process, tool, fun, args, left) do
      # The tool's answer stays in the run, so its words count.
      answer = {:answer, answer, ToolProcess.words(process)}
      step = unless_it_fails(process, fn -> Native.resume(state, terms, answer) end)
      call(step, tools, limits, process, next(at))
    else
      {:move, terms, words} ->
        move({tool, args, left}, {state, terms, words}, tools, limits, process)

      {:error, reason} ->
        stop(process, finish({:error, reason}, limits))

      {{:error, reason}, process} ->
        stop(process, finish({:error, reason}, limits))
    end
  end

  # The answer is the program's value.
  defp call({:last, tool, args, weight, left, words}, tools, limits, process, _at) do
    {_timeout, max_heap, _depth} = limits

    with {:ok, fun} <- tool(tools, tool),
         weigh = fn -> weigh(args, weight, max_heap) end,
         {:ok, _words} <- unless_it_fails(process, weigh),
         {{:ok, answer}, process} <- call_tool(process, tool, fun, args, left) do
      stop(process, ended(answer, words + ToolProcess.words(process), limits))
    else
      {:error, reason} -> stop(process, finish({:error, reason}, limits))
      {{:error, reason}, process} -> stop(process, finish({:error, reason}, limits))
    end
  end

  # The processes of a fork need the whole heap limit.
  defp call({:fork, state, terms, _, _, _} = step, tools, limits, process, {:fork, most} = at) do
    {_timeout, max_heap, _depth} = limits
    ToolProcess.stop(process)

    case Fork.run(step, &tool(tools, &1), max_heap, most) do
      {:ok, value} ->
        step = Native.resume(state, terms, {:joined, value, 0})
        call(step, tools, limits, ToolProcess.new(max_heap), at)

      {:error, reason} ->
        finish({:error, reason}, limits)
    end
  end

  defp call({next, _state, _terms} = left, tools, limits, process, at)
       when next in [:more, :long] do
    left |> resumed(process) |> call(tools, limits, process, at)
  end

  defp call(step, _tools, limits, process, _at), do: stop(process, finish(step, limits))

  # Whether the run stays here: otherwise what it takes along, or that its arguments are too large.
  defp ready(state, terms, args, max_heap, at) do
    with :stay <- pack(state, terms, args, max_heap, at),
         {:ok, _words} <- weigh(args, max_heap),
         do: :stay
  end

  defp pack(_state, _terms, _args, _max_heap, {:fork, _most}), do: :stay
  defp pack(state, terms, args, max_heap, at), do: Move.pack(state, terms, args, max_heap, at)

  defp next({:fork, _most} = fork), do: fork
  defp next(at), do: at + 1

  defp move({tool, args, left}, run, tools, limits, process) do
    {:ok, fun} = told(tools, tool)
    find = &told(tools, &1)
    {result, process} = ToolProcess.move(process, run, {tool, fun, args}, find, left)
    with {:error, reason} <- result, true <- Telemetry.on?(), do: Telemetry.ended(reason)
    stop(process, finish(result, limits))
  end

  # The end of a run whose last call answered its value: what it has built includes that answer.
  defp ended(value, words, {_timeout, max_heap, _depth})
       when max_heap == 0 or words <= max_heap,
       do: {:ok, value, words}

  defp ended(_value, _words, limits), do: finish({:error, :memory_exceeded}, limits)

  # Arguments are copied to the tool's process. The weight of small ones is known.
  defp weigh(_args, weight, max_heap)
       when is_integer(weight) and (weight <= max_heap or max_heap == 0),
       do: {:ok, weight}

  defp weigh(args, _weight, max_heap), do: weigh(args, max_heap)

  defp weigh(args, max_heap) do
    with :too_much <- Weight.of(args, max_heap), do: {:error, :memory_exceeded}
  end

  # Resumes a run that was suspended beside the process of its tools.
  defp resumed(left, process) do
    Telemetry.on?() && Telemetry.suspended()
    unless_it_fails(process, fn -> Quanta.go_on(left) end)
  end

  # If the native library fails or is gone, the process of the tools must be stopped.
  defp unless_it_fails(process, step) do
    step.()
  catch
    :error, reason ->
      ToolProcess.stop(process)
      :erlang.raise(:error, reason, __STACKTRACE__)
  end

  defp stop(process, result) do
    ToolProcess.stop(process)
    result
  end

  defp eval_on({:call, state, terms, tool, args, _left}, tools) do
    with {:ok, fun} <- tool(tools, tool),
         {:ok, answer} <- work(tool, fun, args),
         do: state |> Native.resume(terms, {:answer, answer, 0}) |> eval_on(tools)
  end

  defp eval_on({:last, tool, args, _weight, _left, _words}, tools),
    do: with({:ok, fun} <- tool(tools, tool), do: work(tool, fun, args))

  defp eval_on({next, _state, _terms} = left, tools) when next in [:more, :long],
    do: left |> Quanta.go_on() |> eval_on(tools)

  defp eval_on({:ok, value, _words}, _tools), do: {:ok, value}
  defp eval_on({:error, _fault} = error, _tools), do: error

  defp call_tool(process, name, fun, args, left) do
    if Telemetry.on?(),
      do: Telemetry.tool(name, fn -> ToolProcess.call(process, name, fun, args, left) end),
      else: ToolProcess.call(process, name, fun, args, left)
  end

  defp call_once(max_heap, name, fun, args, left) do
    if Telemetry.on?(),
      do: Telemetry.tool(name, fn -> ToolProcess.once(max_heap, name, fun, args, left) end),
      else: ToolProcess.once(max_heap, name, fun, args, left)
  end

  defp work(name, fun, args) do
    if Telemetry.on?(),
      do: Telemetry.tool(name, fn -> ToolWorker.run(name, fun, args) end),
      else: ToolWorker.run(name, fun, args)
  end

  # The tool, wrapped for calls in another process.
  defp told(tools, name) do
    with {:ok, fun} <- tool(tools, name),
         do: {:ok, if(Telemetry.on?(), do: Telemetry.told(name, fun), else: fun)}
  end

  defp tool(tools, name) when is_binary(name) and is_map_key(tools, name),
    do: {:ok, :erlang.map_get(name, tools)}

  defp tool(tools, name), do: {:error, {:unknown_tool, name, tools}}

  # The value may be large, and the caller may wait for a message next.
  defp finish({:ok, _value, _words} = done, _limits) do
    Guarded.settle()
    done
  end

  defp finish({:error, :timeout}, {timeout, _, _}), do: {:error, {:timeout, timeout}}

  # Without a limit, only terms that are too large to be copied exceed it.
  defp finish({:error, :memory_exceeded}, {_, max_heap, _}),
    do: {:error, {:memory_exceeded, Limits.bytes(Weight.limit(max_heap))}}

  defp finish({:error, _fault} = error, _limits), do: error

  # The terms of this fault are small in memory but may be huge as text. The text is made under the
  # limits of the run, in a process like that of a tool.
  defp cheap({:expensive_to_inspect, fault}, limits) do
    {timeout, max_heap, _depth} = limits = Limits.resolve(limits)
    process = ToolProcess.new(max_heap)
    {result, process} = ToolProcess.call(process, "error", &Message.error/1, fault, timeout)
    ToolProcess.stop(process)

    case result do
      {:ok, error} ->
        error

      {:error, reason} ->
        {:error, fault} = finish({:error, reason}, limits)
        fault
    end
  end

  defp cheap(fault, _limits), do: fault

  defp panicked, do: {:error, {:execution_error, Panic.caught()}}
end
