defmodule PtcRunner.Native.Telemetry do
  @moduledoc """
  Events for `:telemetry`, if the application has it: [guide](observability.md).

  This is checked once, when the application starts, and the result is kept in a `:persistent_term`. Without
  `:telemetry`, or if it is switched off, nothing is measured and no event is executed. With it, a handler is looked for at the start
  of each run, turn, answer and coercion: what has none for its events is not measured. So a handler that is attached during a run
  gets no event of it.

  Events are executed in the process that calls this library, except those of tools in a run that has moved to
  the process of its tools.

      config :ptc_runner_native, telemetry: true    # the default: if the module :telemetry exists
      config :ptc_runner_native, telemetry: false

  """

  alias PtcRunner.Json.{Limits, Message, Near, ToolWorker}
  alias PtcRunner.Native.Telemetry.{Handlers, Ids}
  alias PtcRunner.{Shown, Step}

  @key __MODULE__
  # The counters of a run, which its processes share: suspensions; tool calls; the index of the tool that
  # runs in another process; and the start of that call. The names of these tools are kept beside them. `:unheard` while a run
  # goes on whose events have no handler.
  @counts {__MODULE__, :counts}
  # What counts the calls of a run against its limits.
  @budget {__MODULE__, :budget}

  # The events of a run, by the language of its program.
  @runs %{json: [:ptc_runner, :json, :run], lisp: [:ptc_runner, :lisp, :run]}
  @tool [:ptc_runner, :tool]
  @of_runs for {language, run} <- @runs,
               into: %{},
               do: {language, for(event <- [:start, :stop, :exception], do: run ++ [event])}
  @of_tool for event <- [:start, :stop, :exception], do: @tool ++ [event]

  @doc false
  # Whether there may be handlers. One lookup of a few nanoseconds; false, true, or `:handlers` if they can be looked for.
  defmacro on? do
    quote do: :persistent_term.get(unquote(@key), false)
  end

  @doc false
  # Whether one of these events has a handler.
  def heard?(events) do
    case on?() do
      :handlers -> Handlers.any?(events)
      on? -> on?
    end
  end

  @doc """
  Checks again whether events are wanted: for code that loads `:telemetry` or changes the configuration while
  the system runs. Returns the result.

      iex> PtcRunner.Native.Telemetry.refresh()
      false

  """
  @spec refresh() :: boolean()
  def refresh do
    wanted? = Application.get_env(:ptc_runner_native, :telemetry, true)
    on? = wanted? == true and Code.ensure_loaded?(:telemetry)
    # Putting the same value costs nothing; another value makes the VM scan all processes.
    :persistent_term.put(@key, if(on? and Handlers.known?(), do: :handlers, else: on?))
    on?
  end

  @doc false
  # A run of `PtcRunner.Json.run/2` with what it was given, whose `fun` returns its value and words, or an error, or of
  # `PtcRunner.Lisp.run/2`, whose `fun` returns a step. A run that goes on has its id.
  def run(language \\ :json, program, id, %{tools: tools, limits: limits}, fun) do
    cond do
      heard?(@of_runs[language]) or (tools != %{} and heard?(@of_tool)) ->
        Ids.within([run_id: id || Ids.new()], fn ->
          heard(@runs[language], program, limits, fun)
        end)

      # Without tools, no other event is executed in the run.
      tools == %{} ->
        fun.()

      true ->
        Ids.within([run_id: id || Ids.later()], fn -> counting(:unheard, fun) end)
    end
  end

  # A run may be started in one: each has its own budget.
  defp heard(run, program, limits, fun) do
    around = Process.delete(@budget)

    try do
      heard(run, program, limits, System.monotonic_time(), fun)
    after
      if around, do: Process.put(@budget, around), else: Process.delete(@budget)
    end
  end

  defp heard(run, program, limits, began, fun) do
    metadata = %{program: form(program)}

    counting({:counters.new(4, []), []}, fn ->
      span(run, metadata, fn -> made(fun.()) end, fn result ->
        {counts, _names} = Process.get(@counts)
        {suspensions, tool_calls} = {:counters.get(counts, 1), :counters.get(counts, 2)}
        measured = %{words: words(result), suspensions: suspensions, tool_calls: tool_calls}
        ended = outcome(result)
        near = near(limits, began, measured.words, ended.error)
        {:stop, measured, metadata |> Map.merge(ended) |> Map.put(:near, near)}
      end)
    end)
  end

  defp near(limits, began, words, error) do
    ms = System.convert_time_unit(System.monotonic_time() - began, :native, :millisecond)
    Near.found(Limits.resolve(limits), {ms, words}, Process.get(@budget), error)
  end

  @doc false
  # A run that starts in this process, with what counts its calls.
  def counted(run) do
    with {_counts, _names} <- Process.get(@counts),
         budget when budget != nil <- Near.budget(run),
         do: Process.put(@budget, budget)

    :ok
  end

  defp counting(counts, fun) do
    around = Process.put(@counts, counts)

    try do
      fun.()
    after
      if around, do: Process.put(@counts, around), else: Process.delete(@counts)
    end
  end

  # The message of an error is made once, for the event and for the caller.
  defp made({:error, %Step{}} = result), do: result
  defp made({:error, fault}), do: {:error, Message.made(fault)}
  defp made(result), do: result

  @doc false
  # Whether a tool's call in this process has events: those of a run are counted for its own event too.
  def tools? do
    on?() != false and
      case Process.get(@counts) do
        :unheard -> false
        nil -> heard?(@of_tool)
        _counts -> true
      end
  end

  @doc false
  # A tool call of a run that has not moved, in the caller; `fun` returns the reply of the tool's process.
  def tool(name, fun) do
    if tools?(), do: heard_tool(name, fun), else: fun.()
  end

  defp heard_tool(name, fun) do
    count(2)
    metadata = %{tool: name}

    span(@tool, metadata, fun, fn
      {:ok, _answer} -> {:stop, %{}, Map.put(metadata, :outcome, :ok)}
      {{:ok, _answer, _words}, _process} -> {:stop, %{}, Map.put(metadata, :outcome, :ok)}
      {{:error, reason}, _process} -> failed(metadata, reason)
      {:error, reason} -> failed(metadata, reason)
    end)
  end

  @doc false
  # The start of a concurrent tool call, or nil; its result goes to `tool_ended/2`.
  def tool_began(name) do
    if tools?() do
      count(2)
      metadata = %{tool: name, telemetry_span_context: make_ref()}
      {began(@tool, metadata), metadata}
    end
  end

  @doc false
  # `result` is `:ok` or `{:error, reason}`.
  def tool_ended(nil, _result), do: :ok

  def tool_ended({began, metadata}, :ok),
    do: execute(@tool ++ [:stop], ended_since(began), Map.put(metadata, :outcome, :ok))

  def tool_ended({began, metadata}, {:error, reason}) do
    {:exception, _measured, failure} = failed(metadata, reason)
    execute(@tool ++ [:exception], ended_since(began), failure)
  end

  @doc false
  # Wraps a tool for a run that moves to the tools' process: its events are executed there, with the ids that this process
  # had when it was started.
  def told(name, fun) when is_function(fun, 1) do
    case tools?() && Process.get(@counts) do
      false ->
        fun

      {counts, names} ->
        ref = make_ref()
        Process.put(@counts, {counts, [{name, ref} | names]})
        number = length(names) + 1

        fn args ->
          in_call(counts, number, fn -> called(call_metadata(name, counts, ref), fun, args) end)
        end

      nil ->
        fn args -> called(%{tool: name}, fun, args) end
    end
  end

  def told(_name, no_tool), do: no_tool

  # The caller can compute the span of a call too: from the tool and the number of calls.
  defp call_metadata(name, counts, ref),
    do: %{tool: name, telemetry_span_context: {ref, :counters.get(counts, 2)}}

  # Stores the index of the running tool for `ended/1`. Between calls the run is in this process, and
  # counts its suspensions; the tool itself must not count.
  defp in_call(counts, call, fun) do
    Process.delete(@counts)
    :counters.add(counts, 2, 1)
    :counters.put(counts, 4, System.monotonic_time())
    :counters.put(counts, 3, call)
    fun.()
  after
    :counters.put(counts, 3, 0)
    Process.put(@counts, {counts, []})
  end

  defp called(metadata, fun, args) do
    result =
      span(@tool, metadata, fn -> caught(fun, args) end, fn
        {:ok, {:error, _reason} = error} ->
          {:error, fault} = ToolWorker.run(metadata.tool, fn _args -> error end, nil)
          failed(metadata, fault)

        {:ok, _answer} ->
          {:stop, %{}, Map.put(metadata, :outcome, :ok)}

        {kind, reason, trace} ->
          {:error, fault} = ToolWorker.failure(metadata.tool, kind, reason, trace)
          failed(metadata, fault)
      end)

    case result do
      {:ok, answer} -> answer
      {kind, reason, trace} -> :erlang.raise(kind, reason, trace)
    end
  end

  defp caught(fun, args) do
    {:ok, fun.(args)}
  catch
    kind, reason -> {kind, reason, __STACKTRACE__}
  end

  @doc false
  # The process of the tools was killed: if a call was running, it has failed too.
  def ended(reason) do
    with {counts, names} <- Process.get(@counts),
         call when call > 0 <- :counters.get(counts, 3) do
      {name, ref} = Enum.at(names, -call)
      {:exception, _measured, metadata} = failed(call_metadata(name, counts, ref), reason)
      execute(@tool ++ [:exception], ended_since(:counters.get(counts, 4)), metadata)
    end

    :ok
  end

  @doc false
  # Counts a suspension of a run.
  def suspended, do: count(1)

  @doc false
  # Reading an answer of an LLM; `fun` returns the turn's outcome.
  def answer(text, fun) do
    read([:ptc_runner, :answer, :stop], text, fun, &turn/1)
  end

  @doc false
  # A repair; `fun` returns the value and its repairs, or an error.
  def repair(text, fun), do: read([:ptc_runner, :repair, :stop], text, fun, &repaired/1)

  defp repaired({:ok, _value, repairs}), do: {:ok, repairs}
  defp repaired({:error, _reason}), do: {:error, []}

  @doc false
  # Reading a text; `describe` returns the outcome and the repairs.
  def read(event, text, fun, describe) do
    if heard?([event]), do: heard_read(event, text, fun, describe), else: fun.()
  end

  defp heard_read(event, text, fun, describe) do
    began = System.monotonic_time()
    result = fun.()
    measured = %{duration: System.monotonic_time() - began, bytes: byte_size(text)}
    {outcome, repairs} = describe.(result)
    measured = Map.put(measured, :repairs, length(repairs))
    metadata = %{outcome: outcome, repairs: repairs}
    execute(event, measured, metadata)
    result
  end

  @coerce [:ptc_runner, :signature, :coerce]

  @doc false
  # A coercion; `fun` returns `{:ok, value, warnings}` or an error.
  def coerce(fun) do
    if heard?([@coerce]), do: heard_coerce(fun), else: fun.()
  end

  defp heard_coerce(fun) do
    began = System.monotonic_time()
    result = fun.()
    duration = System.monotonic_time() - began

    {warnings, outcome} =
      case result do
        {:ok, _value, warnings} -> {length(warnings), :ok}
        _error -> {0, :error}
      end

    measured = %{duration: duration, warnings: warnings}
    execute(@coerce, measured, %{outcome: outcome})
    result
  end

  @doc false
  def span(event, metadata, fun, describe) do
    metadata = Map.put_new_lazy(metadata, :telemetry_span_context, &make_ref/0)
    began = began(event, metadata)

    try do
      fun.()
    catch
      kind, reason ->
        what = %{kind: kind, reason: told_of(reason), stacktrace: places(__STACKTRACE__)}
        execute(event ++ [:exception], ended_since(began), Map.merge(metadata, what))
        :erlang.raise(kind, reason, __STACKTRACE__)
    else
      result ->
        {name, measured, described} = describe.(result)

        execute(
          event ++ [name],
          Map.merge(ended_since(began), measured),
          Map.merge(metadata, described)
        )

        result
    end
  end

  # An event has no terms of the run: of a reason the exception or its text, of the stack no arguments.
  defp told_of(reason) when is_atom(reason), do: reason

  defp told_of(%{__exception__: true, message: message} = exception)
       when is_binary(message) and map_size(exception) == 3,
       do: exception

  defp told_of(%{__exception__: true} = exception), do: Shown.exception(exception)
  defp told_of(reason), do: Shown.text(reason, 1_000)

  defp places(trace) do
    for {module, function, arity_or_args, place} <- trace do
      arity = if is_list(arity_or_args), do: length(arity_or_args), else: arity_or_args
      {module, function, arity, Keyword.take(place, [:file, :line])}
    end
  end

  @doc false
  def began(event, metadata) do
    began = System.monotonic_time()
    measured = %{monotonic_time: began, system_time: System.system_time()}
    execute(event ++ [:start], measured, metadata)
    began
  end

  @doc false
  def ended_since(began) do
    now = System.monotonic_time()
    %{duration: now - began, monotonic_time: now}
  end

  @doc false
  # The module may be missing.
  def execute(event, measured, metadata),
    do: apply(:telemetry, :execute, [event, measured, Ids.merged(metadata)])

  # A tool of PTC-Lisp: what the program is told, and what is noted.
  defp failed(metadata, {:tool_failed, _said, noted}), do: failed(metadata, {:tool_failed, noted})

  defp failed(metadata, reason) do
    reason = if is_tuple(reason), do: Message.error(reason), else: reason
    kind = if is_tuple(reason), do: elem(reason, 0), else: reason
    failure = %{kind: :error, reason: reason, stacktrace: [], outcome: kind}
    {:exception, %{}, Map.merge(metadata, failure)}
  end

  defp outcome({:error, %Step{fail: %{reason: reason, message: message}}}),
    do: %{outcome: reason, error: {reason, message}}

  defp outcome({:error, fault}) do
    {kind, _what} = error = Message.error(fault)
    %{outcome: kind, error: error}
  end

  defp outcome({:paused, _control}), do: %{outcome: :paused, error: nil}
  defp outcome(_ok), do: %{outcome: :ok, error: nil}

  defp words({_ended, %Step{usage: %{memory_bytes: bytes}}}), do: div(bytes, 8)
  defp words({:ok, _value, words}), do: words
  defp words(_none), do: 0

  defp turn({:continue, _state, _turn}), do: {:retry, []}

  defp turn({:stop, {:ok, step}, _turn, _tokens}),
    do: {:ok, Map.get(step.usage, :repairs, [])}

  defp turn({:stop, {:error, _step}, _turn, _tokens}), do: {:error, []}

  defp form(text) when is_binary(text), do: :text
  defp form(%PtcRunner.Json.Program{}), do: :compiled
  defp form(%PtcRunner.Lisp.Program{}), do: :compiled
  defp form(_other), do: :map

  defp count(place) do
    with {counts, _names} <- Process.get(@counts), do: :counters.add(counts, place, 1)
    :ok
  end
end
