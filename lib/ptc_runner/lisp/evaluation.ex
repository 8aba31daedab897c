defmodule PtcRunner.Lisp.Evaluation do
  @moduledoc false
  # From a program and its options to a step:
  #
  #   size ─▶ tools ─▶ signature ─▶ program (read, analyzed, compiled) ─▶ names ─▶ functions of the memory ─▶ run ─▶ result
  #
  # The first of these that fails is the result, and nothing runs before all names are known.

  alias PtcRunner.Json.{Control, Limits, Paused, Run, Runner, ToolProcess, Within}

  alias PtcRunner.Lisp.{
    Asking,
    ErrorPlace,
    FaultWords,
    Finished,
    Firewalled,
    Given,
    Inside,
    Names,
    Planning,
    Program,
    Tools
  }

  alias PtcRunner.{Native, Step}
  alias PtcRunner.Json.Run.Start
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.Sandbox.Weight
  alias PtcRunner.SubAgent.Signature
  require Telemetry
  require Weight

  @bytes_per_word 8

  @typep limits :: {timeout(), non_neg_integer()}

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

  @doc """
  The end of a run that has not begun, because of this error.

      iex> given = PtcRunner.Lisp.Given.read([])
      iex> began = System.monotonic_time(:millisecond)
      iex> {:error, step} = PtcRunner.Lisp.Evaluation.unread("(inc)\\n(if)", {:error, :invalid_arity, "an if", {6, 4}}, given, began)
      iex> {step.fail.message, step.usage.error_at.line}
      {"an if", 2}

  """
  @spec unread(String.t() | Program.t(), Program.fail(), Given.t(), integer()) ::
          {:error, Step.t()}
  def unread(program, error, given, began) do
    {timeout, max_heap, _reading} = Limits.resolve({given.timeout, given.max_heap, 1})
    ended = error |> failed(given, {timeout, max_heap}) |> used(0, began)
    located(ended, place_in_text(error, program))
  end

  defp place_in_text({:error, _reason, _message, at}, program) do
    text = if is_binary(program), do: program, else: program.source
    ErrorPlace.of_problem(text, at)
  end

  defp place_in_text(_limit, _program), do: nil

  # `error_at` says where the error is, if that is a place in the text.
  defp located(result, nil), do: result

  defp located({ended, %Step{usage: usage} = step}, at),
    do: {ended, %{step | usage: Map.put(usage, :error_at, at)}}

  defp evaluated(program, given),
    do: evaluated(program, given, :none, System.monotonic_time(:millisecond))

  defp evaluated(program, given, reply, began) do
    {timeout, max_heap, _reading} = Limits.resolve({given.timeout, given.max_heap, 1})
    limits = {timeout, max_heap}

    with :ok <- size(program, given.max_program_bytes),
         {:ok, tools, settings} <- tools(given),
         {:ok, program, signature} <- prepared(program, given, tools, limits),
         {:ok, seen} <- Firewalled.seen(program, given) do
      case first_steps(reply, program, tools, seen, limits) do
        {:ok, {:ok, _value, _defined}, words} = done when Weight.is_little(words) ->
          {done |> step(given, signature, limits) |> quiet(words, began), nil}

        reply ->
          run = started(program, Firewalled.tools(tools, given, program), seen, limits)
          begin = &begin(&1, reply, {left(timeout, began), max_heap, 1})
          {outcome, run} = run |> deciding(seen, settings) |> ran(begin)
          {outcome, at} = ErrorPlace.split(outcome)

          result =
            outcome
            |> named(program)
            |> ended(given, signature, run)
            |> told(run, outcome, began)
            |> located(ErrorPlace.of_run(program, at, limits))

          {result, run}
      end
    else
      error -> {unread(program, error, given, began), nil}
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
      else: Start.first_steps_of_lisp(program, limits, given.context, own(given))
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

  @doc """
  What is wrong with a program before it runs: its size, its syntax, its names.

      iex> given = PtcRunner.Lisp.Given.read(tools: %{"find" => fn _ -> 1 end})
      iex> PtcRunner.Lisp.Evaluation.checked("(tool/fnd)", given)
      {:error, :unknown_tool, "Unknown tool: fnd. Available tools: find", {:names, ["tool/fnd"]}}

  """
  @spec checked(String.t() | Program.t(), Given.t()) :: {:ok, Program.t()} | Program.fail()
  def checked(program, given) do
    {timeout, max_heap, _reading} = Limits.resolve({given.timeout, given.max_heap, 1})

    with :ok <- size(program, given.max_program_bytes),
         {:ok, tools, _settings} <- tools(given),
         {:ok, program, _signature} <- compiled(program, given, {timeout, max_heap}),
         :ok <- Names.check(program, given, tools),
         do: {:ok, program}
  end

  @doc """
  A compiled program with the functions of its memory and history.

      iex> given = PtcRunner.Lisp.Given.read([])
      iex> {:ok, program} = PtcRunner.Lisp.Evaluation.with_memory("(inc 1)", given)
      iex> program.added
      []

  """
  @spec with_memory(String.t() | Program.t(), Given.t()) :: {:ok, Program.t()} | Program.fail()
  def with_memory(program, given) do
    {timeout, max_heap, _reading} = Limits.resolve({given.timeout, given.max_heap, 1})
    limits = {timeout, max_heap}

    with {:ok, program, _signature} <- compiled(program, given, limits),
         do: Program.with_memory(program, given.memory, given.history, limits)
  end

  @doc """
  A text that is no program, which is a run that has failed: its events are executed.

      iex> PtcRunner.Lisp.Evaluation.refused("(", {:parse_error, "unbalanced parentheses: 1 unclosed '('"})
      :ok

  """
  @spec refused(String.t(), {atom(), String.t()}) :: :ok
  def refused(text, {reason, message}) do
    if Telemetry.on?() do
      given = Given.read([])
      {timeout, max_heap, _reading} = Limits.resolve({given.timeout, given.max_heap, 1})
      told = %{tools: %{}, limits: {timeout, max_heap, 1}}

      Telemetry.run(:lisp, text, nil, told, fn ->
        failed({:error, reason, message, nil}, given, {timeout, max_heap})
      end)
    end

    :ok
  end

  @doc "Compiles a program, whatever names it mentions."
  @spec compiled(String.t() | Program.t(), Given.t(), limits()) ::
          {:ok, Program.t(), Signature.t() | nil} | Program.fail()
  def compiled(program, %Given{} = given, limits) do
    with :ok <- size(program, given.max_program_bytes),
         {:ok, signature} <- signature(given.signature),
         {:ok, program} <- built(program, given, limits),
         :ok <- symbols(program, given.max_symbols),
         do: {:ok, program, signature}
  end

  defp prepared(program, given, tools, limits) do
    with {:ok, program, signature} <- compiled(program, given, limits),
         :ok <- Names.check(program, given, tools),
         {:ok, program} <- Program.with_memory(program, given.memory, given.history, limits),
         do: {:ok, program, signature}
  end

  defp size(%Program{source: source}, most), do: size(source, most)
  defp size(source, most) when byte_size(source) <= most, do: :ok

  defp size(source, most) do
    {:error, :program_too_large,
     "program size #{byte_size(source)} bytes exceeds limit of #{most}", nil}
  end

  # A journal answers, and no tool is called.
  defp tools(%Given{own: %{replay?: true}}), do: {:ok, %{}, %{}}

  defp tools(%Given{tools: tools, tool_context: context}) do
    with {:error, text} <- Tools.read(tools, context), do: {:error, :invalid_tool, text, nil}
  end

  defp signature(nil), do: {:ok, nil}

  defp signature(text) do
    with {:error, why} <- Signature.parse(text),
         do: {:error, :parse_error, "Invalid signature: #{why}", nil}
  end

  defp built(%Program{source: source}, %Given{observed?: true} = given, limits),
    do: built(source, given, limits)

  defp built(%Program{} = program, _given, _limits), do: {:ok, program}

  defp built(source, %Given{observed?: observed?, max_symbols: most}, limits),
    do: Program.build(source, [], [], limits, observed?, most)

  defp symbols(%Program{names: %{symbols: count}}, most) when count <= most, do: :ok

  defp symbols(%Program{names: %{symbols: count}}, most),
    do: Program.too_many_symbols(count, most)

  defp started(program, tools, given, {timeout, max_heap}) do
    %Run{
      program: program,
      context: given.context,
      memory: given.memory,
      own: own(given),
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

  # What the native part gets in the place of the memory.
  defp own(%Given{memory: memory, history: history, budget: budget, strict_data: strict?}),
    do: {memory, history, budget || %{}, strict?}

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

  # An error with what the program knows of it: the names beside one that is not bound, and its functions.
  defp named({:error, {:expensive_to_inspect, fault}}, program),
    do: named({:error, fault}, program)

  defp named({:error, {:inside, form, fault}}, program) do
    {:error, fault} = named({:error, fault}, program)
    {:error, {:inside, form, fault}}
  end

  defp named({:error, {:execution, :unbound, name, detail, _none}}, program) do
    %{globals: globals, builtins: builtins} = program.names
    {:error, {:execution, :unbound, name, detail, List.delete(globals, name) ++ builtins}}
  end

  defp named({:error, {:execution, code, name, detail, terms}}, program),
    do: {:error, {:execution, code, name, detail, Inside.shown(terms, program.consts)}}

  defp named(outcome, _program), do: outcome

  # What a run ended with.
  defp ended({:paused, control}, given, _signature, %Run{program: program, limits: limits}) do
    case Paused.new(control, program, given.memory, limits) do
      {:ok, paused} -> {:paused, paused}
      {:error, fault} -> failed({:error, fault}, given, limits)
    end
  end

  defp ended(outcome, given, signature, %Run{limits: {timeout, max_heap, _reading}}),
    do: step(outcome, given, signature, {timeout, max_heap})

  defp step({:ok, {:ok, value, defined}, _words}, given, signature, _limits) do
    value = Finished.rounded(value, given.float_precision)
    memory = Finished.memory(given.memory, defined)

    case Finished.validated(value, signature) do
      :ok -> {:ok, Step.ok(value, memory)}
      {:error, text} -> {:error, Step.error(:validation_error, text, memory)}
    end
  end

  defp step({:ok, {ended, value, defined}, _words}, given, _signature, _limits) do
    mark = if ended == :return, do: :__ptc_return__, else: :__ptc_fail__
    value = Finished.rounded(value, given.float_precision)
    {:ok, Step.ok({mark, value}, Finished.memory(given.memory, defined))}
  end

  defp step({:error, fault}, given, _signature, limits),
    do: failed({:error, fault}, given, limits)

  defp failed({:error, reason, message, _at}, given, _limits),
    do: {:error, Step.error(reason, message, given.memory)}

  defp failed({:error, limit}, given, {timeout, max_heap})
       when limit in [:timeout, :memory_exceeded] do
    amount = if limit == :timeout, do: timeout, else: max_heap * @bytes_per_word
    failed({:error, {limit, amount}}, given, {timeout, max_heap})
  end

  defp failed({:error, fault}, given, _limits) do
    {reason, message, details} = FaultWords.of(fault)
    {:error, Step.error(reason, message, given.memory, details)}
  end

  defp told({:paused, _paused} = paused, _run, _outcome, _began), do: paused

  defp told({ended, step}, %Run{strategy: asking}, outcome, began) do
    step = %{step | prints: Enum.reverse(asking.prints), tool_calls: Enum.reverse(asking.calls)}
    used({ended, step}, words(outcome), began)
  end

  # A step without prints and calls.
  defp quiet({ended, step}, words, began),
    do: used({ended, %{step | prints: [], tool_calls: []}}, words, began)

  defp used({ended, step}, words, began), do: {ended, %{step | usage: usage(words, began)}}

  @doc """
  What a run has used that has built so many words, and began at this time in milliseconds.

      iex> PtcRunner.Lisp.Evaluation.usage(3, System.monotonic_time(:millisecond)).memory_bytes
      24

  """
  @spec usage(non_neg_integer(), integer()) :: %{
          duration_ms: non_neg_integer(),
          memory_bytes: non_neg_integer()
        }
  def usage(words, began), do: lasted(words, System.monotonic_time(:millisecond) - began)

  @doc """
  What a run has used that has built so many words, and took so many milliseconds.

      iex> PtcRunner.Lisp.Evaluation.lasted(3, 7)
      %{duration_ms: 7, memory_bytes: 24}

  """
  @spec lasted(non_neg_integer(), integer()) :: %{
          duration_ms: integer(),
          memory_bytes: non_neg_integer()
        }
  def lasted(words, duration),
    do: %{duration_ms: duration, memory_bytes: words * @bytes_per_word}

  defp words({:ok, _value, words}), do: words
  defp words(_error), do: 0
end
