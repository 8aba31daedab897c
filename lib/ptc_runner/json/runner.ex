defmodule PtcRunner.Json.Runner do
  @moduledoc false
  # Drives a run: starts it, calls the tools that it requests, and converts its end to a result. A long
  # run is resumed in slices on a normal scheduler, where each uses up the process's time slice,
  # and then in quanta on a dirty one.

  alias PtcRunner.Firewall.Faults
  alias PtcRunner.Json.{Budget, Control, Controlled, Driver, Edition, Fork, Limits, Message}
  alias PtcRunner.Json.{Program, Text, Texts, ToolProcess, ToolWorker}
  alias PtcRunner.{Aligned, Context, Native}
  alias PtcRunner.Native.{ErrorHandler, Panic, Telemetry}
  alias PtcRunner.Sandbox.{Guarded, Weight}
  require Telemetry

  # The call of a tool, with its events.
  defmacrop told(name, call) do
    quote do
      if Telemetry.on?(),
        do: Telemetry.tool(unquote(name), fn -> unquote(call) end),
        else: unquote(call)
    end
  end

  # A value of so few words hardly makes the VM collect garbage.
  @small 1_000

  @typedoc """
  The program of a run: a text, an already parsed program (with or, `:unchecked`, without a check),
  a compiled one, or one that is compiled for observation, with its observation.
  """
  @type program ::
          String.t()
          | {:checked | :unchecked, term()}
          | Program.t()
          | {:observed, reference(), Program.t()}

  @typedoc """
  How many tools run at the same time at most; the time of the start as text, if that is given; how many calls are allowed,
  or who decides about them.
  """
  @type how ::
          pos_integer()
          | {pos_integer(), now :: String.t()}
          | {pos_integer(), now :: String.t() | nil,
             {:budget, Budget.t() | nil, firewall? :: boolean()} | Control.t()}

  @doc """
  Runs a program; returns its value and the words it built, or a fault (see `PtcRunner.Json.Message.error/1`).

      iex> program = {:checked, %{"op" => "load", "name" => "n"}}
      iex> limits = {1_000, 0, 100}
      iex> {:ok, value, _words} = PtcRunner.Json.Runner.run(program, %{"n" => 1}, %{}, %{}, limits)
      iex> value
      1

  """
  @spec run(program(), map(), map(), map(), Limits.given(), how()) ::
          {:ok, term(), non_neg_integer()} | {:error, Message.fault()} | {:paused, Control.t()}
  def run(program, context, memory, tools, limits, how \\ 1)

  def run(program, context, memory, tools, limits, {most, now, {:budget, nil, firewall?}}),
    do: free(program, context, memory, tools, limits, {how(most, now), firewall?})

  def run(program, context, memory, tools, limits, {_tool_concurrency, _now, _allowed} = how),
    do: program |> allowed(context, memory, tools, limits, how) |> elem(0)

  def run(program, context, memory, tools, limits, how),
    do: free(program, context, memory, tools, limits, {how, false})

  # A program that may end in its first steps starts without limits.
  defp free(program, context, memory, tools, limits, {how, firewall?}) when tools == %{} do
    {timeout, max_heap, reading} = limits

    case start(program, given(context, memory, timeout, max_heap, how), reading, false) do
      {:ok, _value, words} = done when words <= @small ->
        done

      step ->
        limits = Limits.resolve(limits)

        given = given(context, memory, timeout, max_heap, how)

        fn -> limited(step, limits) end
        |> driven({program, given, reading, false}, tools, limits, 1)
        |> settled(program, context, memory, limits, firewall?)
    end
  catch
    :error, reason -> Panic.error(reason, __STACKTRACE__)
  end

  defp free(program, context, memory, tools, limits, {how, firewall?}),
    do: limited_run(program, context, memory, tools, limits, {how, firewall?})

  defp how(most, nil), do: most
  defp how(most, now), do: {most, now}

  # `tools` may be those with their budget.
  defp limited_run(program, context, memory, tools, limits, {how, firewall?}) do
    {timeout, max_heap, reading} = limits = Limits.resolve(limits)
    given = given(context, memory, timeout, max_heap, how)
    tool_concurrency = if is_tuple(how), do: elem(how, 0), else: how

    forks? = tool_concurrency > 1

    fn -> start(program, given, reading, forks?) end
    |> driven({program, given, reading, forks?}, tools, limits, tool_concurrency)
    |> settled(program, context, memory, limits, firewall?)
  catch
    :error, reason -> Panic.error(reason, __STACKTRACE__)
  end

  @doc "A run whose calls are counted, or decided about; returns its result, and the control at its end."
  @spec allowed(program(), map(), map(), map(), Limits.given(), how()) ::
          {{:ok, term(), non_neg_integer()} | {:error, Message.fault()} | {:paused, Control.t()},
           Control.t() | nil}
  def allowed(program, context, memory, tools, limits, {most, now, {:budget, budget, firewall?}}) do
    how = {how(most, now), firewall?}
    {limited_run(program, context, memory, {tools, budget}, limits, how), nil}
  end

  def allowed(program, context, memory, tools, limits, {tool_concurrency, now, control}) do
    control = %{control | tools: tools}

    {result, control} =
      Controlled.run(program, context, memory, limits, tool_concurrency, now, control)

    firewall? = control.firewall != false
    {settled(result, program, context, memory, Limits.resolve(limits), firewall?), control}
  end

  defp given(context, memory, timeout, max_heap, {_tool_concurrency, now}),
    do: {context, memory, timeout, max_heap, now}

  defp given(context, memory, timeout, max_heap, _tool_concurrency),
    do: {context, memory, timeout, max_heap}

  defp settled({:error, fault}, program, context, memory, limits, firewall?),
    do: {:error, fault |> Faults.of_run(program, context, memory, firewall?) |> cheap(limits)}

  defp settled(done, _program, _context, _memory, _limits, _firewall?), do: done

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

  defp concealed({:error, fault}, ast, context),
    do: {:error, Faults.of_run(fault, {:unchecked, ast}, context.ctx, context.memory, false)}

  defp concealed({:ok, value, _words}, _ast, _context), do: {:ok, value}

  defp worded({:error, fault}), do: {:error, Message.error(fault)}
  defp worded(done), do: done

  @doc """
  Runs an unchecked AST, without limits and with the tools in the calling process, for
  `PtcRunner.Json.Interpreter.eval/2`. An edition is given only by tests.

      iex> PtcRunner.Json.Runner.eval(%{"op" => "literal", "value" => 1}, PtcRunner.Context.new())
      {:ok, 1}

  """
  @spec eval(term(), Context.t(), Edition.t() | nil) :: {:ok, term()} | {:error, Message.error()}
  def eval(ast, %Context{} = context, edition \\ nil) do
    given = {context.ctx || %{}, context.memory || %{}, :infinity, 0}
    depth = Limits.default_max_depth()
    reading = if edition, do: {depth, false, false, false, edition}, else: depth

    started = {{:unchecked, ast}, given, reading, false}

    fn -> start({:unchecked, ast}, given, reading, false) end
    |> drive(&call_here/2, context.tools || %{}, started, :infinity)
    |> elem(0)
    |> concealed(ast, context)
    |> worded()
  end

  # The context may have texts, which are found when the program is compiled: its errors come first.
  defp start(%Program{} = program, given, reading, forks?),
    do: begin(program, given, reading, forks?)

  defp start(program, given, reading, forks?) do
    case begin(program, given, reading, forks?) do
      :texts -> Texts.start(program, given, reading, forks?, &begin/4)
      reply -> reply
    end
  end

  defp begin(%Program{} = program, given, reading, false),
    do: start_compiled(program, given, reading, &Native.run_compiled/3)

  defp begin(%Program{} = program, given, reading, true),
    do: start_compiled(program, given, reading, &Native.run_forking/3)

  defp begin({:observed, observation, program}, given, _reading, forks?),
    do: Native.run_observed(observation, program.consts, given, forks?, false)

  defp begin(source, given, reading, true) do
    with {:ok, handle, consts} <-
           Program.build(source, reading, {elem(given, 2), elem(given, 3)}),
         do: Native.run_forking(handle, consts, given)
  end

  defp begin(text, given, reading, false) when is_binary(text),
    do: text |> Aligned.text() |> Native.run_text(Edition.filled(reading), given)

  defp begin({checked, node}, given, reading, false),
    do: Native.run_node(node, checked == :checked, Edition.filled(reading), given)

  defp start_compiled(%Program{handle: handle, consts: consts} = program, given, reading, native) do
    native.(handle, consts, given)
  rescue
    # The handle is from another node, or from this one before a restart.
    ArgumentError ->
      {timeout, max_heap, _depth} = Limits.resolve({elem(given, 2), elem(given, 3), reading})

      case Program.rebuild(program, {timeout, max_heap}) do
        {:ok, handle, consts} ->
          start_compiled(%{program | handle: handle, consts: consts}, given, reading, native)

        error ->
          error
      end
  else
    :texts -> Texts.start(program, given, reading, native == (&Native.run_forking/3), &begin/4)
    reply -> reply
  end

  # After `begin`, a process with a heap limit may have been killed, and must not wait for the code server.
  # So the modules that it needs are loaded before.
  defp driven(begin, started, tools, {timeout, max_heap, _} = limits, tool_concurrency) do
    run = {tools, max_heap, ToolProcess.new(max_heap), tool_concurrency}
    :erlang.module_loaded(Native) || Code.ensure_loaded(Native)
    handler = ErrorHandler.install()

    try do
      {result, {_, _, process, _}} = drive(begin, &call/2, run, started, timeout)
      ToolProcess.stop(process)
      finish(result, limits)
    after
      ErrorHandler.restore(handler)
    end
  end

  # A long program is compiled in several calls. If its context has texts, that is the reply of the last one.
  defp drive(begin, call, run, started, timeout) do
    case Panic.instead(begin) do
      {next, _state, _terms} = left when next in [:more, :long] ->
        began = System.monotonic_time(:millisecond)
        Driver.drive(left, &over_texts(&1, &2, call, started, {timeout, began}), run)

      :texts ->
        started |> over_texts(timeout) |> Driver.drive(call, run)

      reply ->
        Driver.drive(reply, call, run)
    end
  end

  defp over_texts(:texts, run, _call, started, {timeout, began}),
    do: {:resumed, over_texts(started, left(timeout, began)), run}

  defp over_texts(request, run, call, _started, _time), do: call.(request, run)

  defp over_texts({program, given, reading, forks?}, timeout) do
    given = put_elem(given, 2, timeout)
    Panic.instead(fn -> Texts.start(program, given, reading, forks?, &begin/4) end)
  end

  defp left(:infinity, _began), do: :infinity
  defp left(timeout, began), do: max(timeout - (System.monotonic_time(:millisecond) - began), 0)

  defp limited({:limits, state, terms}, {timeout, max_heap, _reading}),
    do: Native.resume(state, terms, {:limits, timeout, max_heap})

  defp limited(step, _limits), do: step

  # The run moves to the process of its tools, if its copy is small enough.
  defp call({:moves, _, terms, _, args, _, {:at_most, words}} = call, {_, _, _, _} = run) do
    weight = with {:error, _too_much} <- Weight.within([terms | args], words), do: {:ok, nil}
    call |> put_elem(6, elem(weight, 1)) |> move(run)
  end

  defp call({:moves, _, _, _, _, _, _words} = call, run), do: move(call, run)

  # The processes of a fork need the whole heap limit.
  defp call({:fork, _, _, _, _, _} = loop, {tools, max_heap, process, tool_concurrency}) do
    ToolProcess.stop(process)
    run = {tools, max_heap, ToolProcess.new(max_heap), tool_concurrency}

    case Fork.run(loop, &tool(tools, &1), max_heap, tool_concurrency) do
      {:ok, value} -> {:ok, {:joined, value, 0}, run}
      error -> {error, run}
    end
  end

  # The run does not read in place what the tool has answered.
  defp call({:decode, state, _terms, {name, text}}, {_tools, max_heap, _, _} = run) do
    with {:ok, value} <-
           ToolWorker.decoded(name, Texts.answer(text, Native.time_left(state), max_heap)),
         {:ok, words} <- Weight.within(value, max_heap) do
      {:ok, {:answer, value, words}, run}
    else
      error -> answered(:call, nil, error, run)
    end
  end

  defp call({kind, built, _, name, args, left, weight}, {tools, max_heap, process, most}) do
    {result, process} =
      with {:ok, fun} <- tool(tools, name),
           {:ok, _words} <- weigh(args, weight, max_heap) do
        then = if kind == :last, do: :done, else: :in_place
        told(name, ToolProcess.call(process, name, fun, args, left, then))
      else
        error -> {error, process}
      end

    with {:ok, %Text{} = text, words} <- result do
      {:ok, {:text, Texts.lent(name, text), words}, {tools, max_heap, process, most}}
    else
      _decoded -> answered(kind, built, result, {tools, max_heap, process, most})
    end
  end

  # The tool's answer stays in the run, so its words count.
  defp answered(:call, _state, {:ok, value, words}, run), do: {:ok, {:answer, value, words}, run}

  # The answer is the program's value: what the run has built includes that answer.
  defp answered(:last, built, {:ok, _value, words}, {_tools, max_heap, _, _} = run)
       when max_heap > 0 and built + words > max_heap,
       do: {{:error, :memory_exceeded}, run}

  defp answered(:last, built, {:ok, value, words}, run), do: {{:ok, value, built + words}, run}

  defp answered(:call, _state, {:error, {:tool_failed, text}}, run),
    do: {:failed, :failed, text, run}

  defp answered(_kind, _built, error, run), do: {error, run}

  defp move(call, {tools, max_heap, process, most} = run) do
    {:moves, state, terms, name, args, left, words} = call

    # In the place of the time, the budget: calls are counted in the process of the tools from here on.
    call = {:call, state, terms, name, args, budget(tools), 0}

    with moved when moved != nil <- words,
         {:ok, fun} <- wrapped(tools, name) do
      find = &wrapped(tools, &1)
      # The process may have functions that are not wrapped.
      funs = if Telemetry.tools?(), do: :anew, else: :known
      {result, process} = ToolProcess.move(process, call, words, fun, find, left, funs)
      # The value was copied, and may be large whatever the run has built.
      Guarded.settle()
      with {:error, reason} <- result, do: Telemetry.ended(reason)
      {result, {tools, max_heap, process, most}}
    else
      nil -> call({:call, state, terms, name, args, left, nil}, run)
      error -> {error, run}
    end
  end

  # Calls a tool in the calling process.
  defp call_here({kind, _, _, name, args, _, _}, tools) do
    with {:ok, fun} <- tool(tools, name),
         {:ok, value} <- told(name, ToolWorker.run(name, fun, args)) do
      if kind == :last, do: {{:ok, value, 0}, tools}, else: {:ok, {:moved, value, 0}, tools}
    else
      {:error, {:tool_failed, text}} when kind != :last -> {:failed, :failed_moved, text, tools}
      error -> {error, tools}
    end
  end

  # Arguments are copied to the tool's process. The weight of small ones is known.
  defp weigh(_args, weight, max_heap)
       when is_integer(weight) and (weight <= max_heap or max_heap == 0),
       do: {:ok, weight}

  defp weigh(args, _weight, max_heap), do: Weight.within(args, max_heap)

  defp budget({_tools, budget}), do: budget
  defp budget(_tools), do: nil

  # The tool, wrapped for calls in another process.
  defp wrapped({tools, _budget}, name), do: wrapped(tools, name)

  defp wrapped(tools, name) do
    with {:ok, fun} <- tool(tools, name),
         do: {:ok, if(Telemetry.on?(), do: Telemetry.told(name, fun), else: fun)}
  end

  defp tool(tools, name) when is_binary(name) and is_map_key(tools, name),
    do: {:ok, :erlang.map_get(name, tools)}

  defp tool({tools, budget}, name) do
    with {:ok, fun} <- tool(tools, name),
         :ok <- Budget.take(budget, name),
         do: {:ok, fun}
  end

  defp tool(tools, name), do: {:error, {:unknown_tool, name, tools}}

  @doc "The end of a run, with its limits in the errors."
  @spec finish(term(), Limits.t()) :: term()
  # The caller may wait for a message next.
  def finish({:ok, _value, words} = done, _limits) do
    if words > @small, do: Guarded.settle()
    done
  end

  def finish({:error, :timeout}, {timeout, _, _}), do: {:error, {:timeout, timeout}}

  # Without a limit, only terms that are too large to be copied exceed it.
  def finish({:error, :memory_exceeded}, {_, max_heap, _}),
    do: {:error, {:memory_exceeded, Limits.bytes(Weight.limit(max_heap))}}

  def finish({:error, _fault} = error, _limits), do: error

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
