defmodule PtcRunner.Lisp.Asking do
  @moduledoc false
  # Drives a run of PTC-Lisp: calls its tools in a process of their own, evaluates the built-ins that it asks for, and keeps what it
  # prints and calls.
  #
  # Where something decides about the calls, counts or keeps them, `PtcRunner.Json.Run.Controlled` makes them, as those of PTC-JSON.

  alias PtcRunner.Json.{Control, Run, ToolProcess}
  alias PtcRunner.Json.Control.Equal
  alias PtcRunner.Json.Run.{Controlled, Driver, InCaller, Reply, Rounds}
  alias PtcRunner.Lisp.{Answers, Arguments, Data, DecidedTogether, ErrorPlace, Ledger, Prints}
  alias PtcRunner.Lisp.{Program, Together, Workers}
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.Sandbox.Weight
  alias PtcRunner.Shown
  require Reply
  require Telemetry

  @behaviour Driver

  # `prints` and `calls` have the newest first. `id`: the one of the next call.
  defstruct prints: [], print_length: 2_000, calls: [], patterns: %{}, id: 1

  @type t :: %__MODULE__{
          prints: [String.t()],
          print_length: non_neg_integer(),
          calls: [Ledger.entry()],
          patterns: Answers.Patterns.t(),
          id: pos_integer()
        }

  # The questions of a run, see `native/ptc_lisp/src/code.rs`.
  @builtin 0
  @print 1

  # A value of so many bytes needs no walk that counts its words.
  @small 64

  @impl true
  def request(Reply.ask(question: @print, asked: text), %Run{strategy: asking} = run) do
    entry = Prints.entry(text, asking.print_length)
    {:resume, {:answer, nil, 0}, %{run | strategy: %{asking | prints: [entry | asking.prints]}}}
  end

  def request(Reply.ask(question: @builtin, asked: {name, args}, left: left), run) do
    %Run{strategy: asking, max_heap: max_heap} = run

    with {:ok, _words} <- Weight.within(args, max_heap),
         {{_ok?, _value} = answer, patterns} <- answer(name, args, left, run),
         {:ok, words} <- weighed(elem(answer, 1), max_heap) do
      resume(answer, words, patterns, run)
    else
      {{false, _reason, _text} = error, patterns} -> resume(error, 0, patterns, run)
      {{:error, limit}, _patterns} -> {:ended, {:error, limit}, %{run | strategy: asking}}
      error -> {:ended, error, run}
    end
  end

  # The processes of the workers need the whole heap limit.
  def request(Reply.fork(loop: form) = calls, %Run{strategy: %{id: id}} = run) do
    ToolProcess.stop(run.process)
    {result, control, id, workers} = Rounds.workers(calls, run, id, Workers.new(run, form))
    run = %{run | control: control, process: ToolProcess.new(run.max_heap)}
    run = Workers.joined(workers, %{run | strategy: %{run.strategy | id: id}})

    case result do
      {:ok, values, words} -> {:resume, {:joined, values, words}, run}
      {:error, reason} -> {:ended, {:error, Workers.error(workers, reason)}, run}
      :paused -> {:ended, :paused, run}
    end
  end

  def request(Reply.call(tool: name, args: args) = call, %Run{control: nil, tools: tools} = run) do
    args = Arguments.of(args)

    case tools do
      %{^name => fun} -> made(call, name, fun, args, run)
      tools -> {:ended, {:error, {:unknown_tool, name, tools}}, run}
    end
  end

  def request(Reply.calls(tool: name, args: asked) = calls, %Run{control: %Control{}} = run) do
    call = Reply.first(calls)

    case DecidedTogether.made(calls, Arguments.all(asked), run) do
      {:answers, values, words, run} ->
        {:resume, {:answers, values, words}, run}

      {stopped, args, began, behind, run} ->
        {step, at} = stopped(stopped, run)
        step = noted(step, name, args, began, run)
        step = put_elem(step, at, step |> elem(at) |> with_entries(behind))
        caught(step, call, name)
    end
  end

  def request(Reply.calls(tool: name, args: asked) = calls, %Run{tools: tools} = run) do
    with %{^name => fun} <- tools, {:ok, all, words} <- together(asked, run) do
      if beyond?(calls, words, run),
        do: {:ended, {:error, :memory_exceeded}, run},
        else: several(calls, name, fun, all, run)
    else
      _one_by_one ->
        calls |> Reply.first() |> request(run)
    end
  end

  def request(Reply.call(tool: name, args: asked) = call, %Run{} = run) do
    args = Arguments.of(asked)
    call = if args === asked, do: call, else: Reply.call(call, args: args, weight: nil)
    began = Ledger.began()

    call |> Controlled.decided(run) |> noted(name, args, began, run) |> caught(call, name)
  end

  @impl true
  def told_apart({:ok, {:value, value}, words}), do: {:ok, value, words}

  def told_apart({:ok, {:failed, said, noted}, _words}),
    do: {:error, {:tool_failed, {said, noted}}}

  def told_apart(error), do: error

  @impl true
  def tool_late(_name, timeout) do
    text = "it did not answer within #{timeout} ms"
    {:tool_failed, {text, text}}
  end

  @impl true
  def data(%Run{program: program, context: context}), do: Data.parts(program, context)

  # A run that may go on later, or is replayed, has the time of its start.
  defp answer(name, args, left, %Run{strategy: asking, now: now, max_heap: max_heap}),
    do: Answers.answer(name, args, {at_least(left), max_heap}, asking.patterns, now)

  defp at_least(:infinity), do: :infinity
  defp at_least(left), do: max(left, 0)

  defp resume(answer, words, patterns, %Run{strategy: asking} = run) do
    {:resume, {:answer, answer, words}, %{run | strategy: %{asking | patterns: patterns}}}
  end

  defp weighed(text, _max_heap) when is_binary(text) and byte_size(text) <= @small,
    do: {:ok, div(byte_size(text), 8) + 3}

  defp weighed(value, max_heap), do: Weight.within(value, max_heap)

  # A call that nothing decides about.
  defp made(call, name, fun, args, run) do
    began = Ledger.began()
    {result, process} = called(call, name, fun, args, run)
    answered(result, call, name, args, began, %{run | process: process})
  end

  defp called(Reply.call(args: asked, left: left, weight: weight), name, fun, args, run) do
    %Run{process: process, max_heap: max_heap} = run
    weight = if args === asked, do: weight

    with {:ok, _words} <- InCaller.weigh(args, weight, max_heap) do
      then = if only_call?(run), do: :done, else: :next
      begin = fn -> ToolProcess.call(process, name, fun, args, left, then) end
      {result, process} = if Telemetry.on?(), do: Telemetry.tool(name, begin), else: begin.()
      # A process that ends with its call would not be asked again.
      process = if then == :done, do: ToolProcess.new(max_heap), else: process
      {told_apart(result), process}
    else
      error -> {error, process}
    end
  end

  # Whether the program has one call, outside of loops and functions.
  defp only_call?(%Run{program: %Program{names: %{calls: [{_tool, once?, _args}]}}}), do: once?
  defp only_call?(_run), do: false

  defp stopped({:failed, failed}, run), do: {{:failed, :failed, failed, run}, 3}
  defp stopped({:ended, reason}, run), do: {{:ended, {:error, reason}, run}, 2}
  defp stopped(:paused, run), do: {{:ended, :paused, run}, 2}

  # The arguments of calls that are made in one request.
  defp together(asked, run) do
    all = Arguments.all(asked)
    with {:ok, words} <- Weight.within(all, run.max_heap), do: {:ok, all, words}
  end

  # Whether a run had built too much before it computed these arguments: the native part looks at the limit only from time to time.
  defp beyond?(_calls, _words, %Run{max_heap: 0}), do: false

  defp beyond?(Reply.calls(built: built), words, %Run{max_heap: max_heap}),
    do: built - words > max_heap

  # Calls for rounds that follow one another. An answer that is no value is given to the run when it waits for that call.
  defp several(calls, name, fun, all, %Run{max_heap: max_heap} = run) do
    Reply.calls(left: left, built: built) = calls
    began = Ledger.began()
    limits = {left, max(max_heap - built, 0)}
    {answers, process} = Together.answers(run, name, fun, all, limits)
    run = %{run | process: process}

    calls
    |> several(name, all, answers, began, run)
    |> with_behind(Together.behind(answers, all), name, began)
  end

  # Calls that went to their tool in a list with one that has failed were made, too.
  defp with_behind(step, [], _name, _began), do: step

  defp with_behind(step, behind, name, began) do
    at = tuple_size(step) - 1
    entries = for {result, args} <- behind, do: entry_of(told_apart(result), name, args, began)
    put_elem(step, at, step |> elem(at) |> with_entries(:lists.reverse(entries)))
  end

  defp several(calls, name, all, answers, began, run) do
    case kept(answers, all, name, began, {[], 0, []}) do
      {values, words, entries, nil} ->
        answer = {:answers, :lists.reverse(values), words}
        {:resume, answer, with_entries(run, entries)}

      {[_ | _] = values, words, entries, {{:error, {:tool_failed, failed}} = result, args, began}} ->
        answer = {:answers, :lists.reverse(values), words}
        reply = calls |> Driver.resume(answer) |> Driver.waiting()

        if elem(reply, 0) in [:ok, :error] do
          entry = Ledger.entry(name, args, {:error, elem(failure(failed), 1)}, began)
          {:resumed, reply, with_entries(run, [entry | entries])}
        else
          answered(result, reply, name, args, began, with_entries(run, entries))
        end

      # The run does not go on, or it waits for the first of these calls.
      {_values, _words, entries, {result, args, began}} ->
        answered(result, calls, name, args, began, with_entries(run, entries))
    end
  end

  # The values of calls, their words, and their entries, the newest first; and what came of the call that has no value, if there is one.
  defp kept([{value, words, at} | answers], [args | all], name, began, {values, sum, entries}) do
    {entry, began} = Ledger.answered(name, args, value, began, at)
    kept(answers, all, name, began, {[value | values], sum + words, [entry | entries]})
  end

  defp kept([{result, at} | _answers], [args | _all], _name, began, {values, words, entries})
       when is_integer(at),
       do: {values, words, entries, {told_apart(result), args, began}}

  defp kept([error | _answers], [args | _all], _name, began, {values, words, entries}),
    do: {values, words, entries, {error, args, began}}

  defp kept([], _all, _name, _began, {values, words, entries}),
    do: {values, words, entries, nil}

  defp answered(result, call, name, args, began, run) do
    result
    |> InCaller.answered(call, name, run)
    |> noted(name, args, began, run)
    |> caught(call, name)
  end

  @doc "Keeps a call of a worker of `pmap` or `pcalls`: its name, its arguments and when it began, and what it was answered."
  @spec with_call(
          t(),
          {term(), term(), Ledger.began()},
          {:ok, term(), non_neg_integer()} | {:error, term()},
          boolean()
        ) :: t()
  def with_call(asking, {name, args, began}, result, cached?) do
    entry =
      case result do
        {:ok, value, _words} when cached? -> Ledger.cached(name, args, value)
        result -> entry_of(result, name, args, began)
      end

    %{asking | calls: [entry | asking.calls]}
  end

  @doc "The entry of a call with what came of it."
  @spec entry_of({:ok, term(), non_neg_integer()} | {:error, term()}, String.t(), term(), began) ::
          Ledger.entry()
        when began: Ledger.began()
  def entry_of({:ok, value, _words}, name, args, began),
    do: Ledger.entry(name, args, {:ok, value}, began)

  def entry_of({:error, {:tool_failed, failed}}, name, args, began),
    do: Ledger.entry(name, args, {:error, elem(failure(failed), 1)}, began)

  def entry_of({:error, reason}, name, args, began),
    do: Ledger.entry(name, args, {:error, text(reason)}, began)

  # The entry of a call for the step: what came of it. One that waits has none.
  defp noted({:resume, {:answer, value, _words}, run} = step, name, args, began, before) do
    entry =
      if cached?(run.control, before.control, name, args),
        do: Ledger.cached(name, args, value),
        else: Ledger.entry(name, args, {:ok, value}, began)

    put_elem(step, 2, with_entry(run, entry))
  end

  defp noted({:failed, kind, failed, run}, name, args, began, _before) do
    {_said, noted} = failed = failure(failed)
    {:failed, kind, failed, with_entry(run, Ledger.entry(name, args, {:error, noted}, began))}
  end

  # A tool that is not there, and a call that no budget and no plan has room for, were not made.
  defp noted({:ended, {:error, {kind, _text}}, _run} = step, _name, _args, _began, _before)
       when kind in [:tool_call_limit_exceeded, :refused],
       do: step

  defp noted({:ended, {:error, {:unknown_tool, _, _}}, _} = step, _name, _args, _began, _before),
    do: step

  defp noted({:ended, {:error, reason}, run} = step, name, args, began, _before),
    do:
      put_elem(step, 2, with_entry(run, Ledger.entry(name, args, {:error, text(reason)}, began)))

  defp noted(step, _name, _args, _began, _before), do: step

  @doc "Whether the cache has answered, now or when the run was recorded: `before` is the control before the call."
  @spec cached?(Control.t() | nil, Control.t() | nil, String.t(), term()) :: boolean()
  def cached?(nil, _before, _name, _args), do: false

  def cached?(control, before, name, args) do
    match?([{_id, _name, _args, {:cached, _outcome}} | _], control.entries) or
      (before.cache != %{} and
         match?({:ok, _, _}, Equal.running_or_answered(before, Equal.key(before, name, args))))
  end

  @doc "What a tool has said that has failed: for the error of the run, and for its entry. A journal that was not made by this language has a text alone."
  @spec failure({String.t(), String.t()} | String.t()) :: {String.t(), String.t()}
  def failure({_said, _noted} = failed), do: failed
  def failure(text), do: {inspect(text, printable_limit: :infinity), text}

  defp with_entry(run, entry), do: with_entries(run, [entry])

  @doc "The run with further entries of calls, the newest first."
  @spec with_entries(Run.t(), [Ledger.entry()]) :: Run.t()
  def with_entries(%Run{strategy: asking} = run, entries),
    do: %{run | strategy: %{asking | calls: entries ++ asking.calls}}

  # A `try` around the call gets the error as a map, and else the run ends with it.
  defp caught({:failed, _kind, {said, noted}, run}, call, name) do
    case resume_failed(call, name, {said, noted}) do
      {:uncaught, at} ->
        text = "Tool '#{Shown.name(name)}' failed: #{said}"
        {:ended, {:error, {:at, at, {:tool_failed, text}}}, run}

      reply ->
        {:resumed, reply, run}
    end
  end

  defp caught(step, _call, _name), do: step

  @doc "Goes on with a run whose tool has failed, if it catches that; if not, the addresses where the run is."
  @spec resume_failed(Reply.t(), String.t(), {String.t(), String.t()} | String.t()) ::
          Reply.t() | {:uncaught, ErrorPlace.addresses()}
  def resume_failed(call, name, failed) do
    {_said, noted} = failure(failed)
    words = div(byte_size(noted) + byte_size(name), 8) + 16

    with :uncaught <- Driver.resume(call, {:failed, error(name, noted), words}),
         do: {:uncaught, []}
  end

  @doc """
  The error of a tool as `catch` gets it.

      iex> PtcRunner.Lisp.Asking.error("find", "no such file").tool
      "find"

  """
  @spec error(String.t(), String.t()) :: map()
  def error(name, noted),
    do: %{%PtcRunner.Lisp.Keyword{name: "message"} => noted, :tool => name}

  defp text(:timeout), do: "it did not answer within the time of the run"
  defp text(:memory_exceeded), do: "it exceeded the heap limit of the run"
  defp text({_kind, text}) when is_binary(text), do: text
  defp text(_reason), do: "it ended the run"
end
