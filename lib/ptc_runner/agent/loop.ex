defmodule PtcRunner.Agent.Loop do
  @moduledoc false
  # Asks a model until there is a result, or no turn is left. Records the turns in a step.
  #
  #   messages ──ask──▶ text ──Turn──▶ outcome ──▶ step
  #      ▲                               │
  #      └─────────── feedback ◀─────────┘

  alias PtcRunner.Agent.{
    Answer,
    Ask,
    Catalogue,
    Feedback,
    Paused,
    Prompt,
    Reply,
    Run,
    Steps,
    Stopped,
    Tool,
    Turn
  }

  alias PtcRunner.Agent.Lisp.Allowed
  alias PtcRunner.Agent.Lisp.Turn, as: LispTurn
  alias PtcRunner.Native.Telemetry.Agent, as: Telemetry
  alias PtcRunner.Native.Telemetry.Ids
  alias PtcRunner.Json.{Keyed, Within}
  alias PtcRunner.{Shown, Step}

  # No model writes more at once. Of a longer answer only the beginning is kept.
  @most_bytes 1_000_000
  @head 4_000
  # A model function that asks for more repetitions of one call has failed.
  @most_retries 10

  @reading [:timeout, :max_heap, :coerce, :repair, :truncated, :enums]

  @doc "See `PtcRunner.Agent.loop/3`; the options are already validated, `:returns` is parsed."
  @spec run(([map()] -> term()), keyword()) :: {:ok | :error, Step.t()} | {:paused, Paused.t()}
  def run(ask, opts) do
    # The task is the user's message; the other parts of the prompt come before it.
    prompt = opts |> Keyword.delete(:task) |> Prompt.text()
    task = Keyword.get(opts, :task, "Do what was said above.")

    given = Tool.list!(Keyword.get(opts, :tools, %{}))
    tools = Catalogue.tools(given, opts)
    id = Telemetry.loop_id()

    state = %{
      loop_id: id,
      # The ids of its runs begin with this, so that a loop that goes on twice has the same keys of calls in both.
      runs: Ids.new(),
      opts: opts,
      tools: tools,
      budget: Run.budget(given, opts, nil),
      within: within(opts, Keyword.get(opts, :memory, %{}), nil),
      warnings: Tool.warnings(tools),
      prompt: prompt,
      task: task,
      messages: [message(:user, task) | earlier(opts)] ++ [message(:system, prompt)],
      memory: Keyword.get(opts, :memory, %{}),
      turns: [],
      number: 1,
      # Turns that only looked for tools, and do not count.
      free: 0,
      searched?: false,
      turn_began_at: nil,
      retries: 0,
      # What was decided about programs, newest first.
      approvals: [],
      # Why the last turn gave no result, for people.
      why: nil,
      # The fields that the model was told about, and the run whose value was doubted for them.
      told: MapSet.new(),
      doubted: nil,
      usage: %{},
      began_at: System.monotonic_time(:millisecond)
    }

    Telemetry.loop(id, fn -> turn(ask, state) end)
  end

  @doc "Goes on with a loop that was paused; see `PtcRunner.Agent.resume/3`."
  @spec resume(([map()] -> term()), Paused.t(), term(), keyword()) ::
          {:ok | :error, Step.t()} | {:paused, Paused.t()}
  def resume(ask, %Paused{loop: loop} = paused, decisions, opts) do
    id = Map.get(loop, :loop_id) || Telemetry.loop_id()
    Telemetry.loop(id, fn -> resumed(ask, paused, id, decisions, opts) end)
  end

  defp resumed(ask, %Paused{loop: loop, run: run} = paused, id, decisions, opts) do
    opts = Keyword.merge(paused.opts, opts)
    given = Tool.list!(Keyword.get(opts, :tools, %{}))
    tools = Catalogue.tools(given, opts)
    {elapsed, loop} = Map.pop!(loop, :elapsed)
    {{text, warnings, counts}, loop} = Map.pop!(loop, :answer)
    {counted, loop} = Map.pop(loop, :within_counts)

    state =
      %{free: 0, searched?: false, runs: Keyed.run(run), approvals: []}
      |> Map.merge(loop)
      |> Map.merge(%{
        loop_id: id,
        opts: opts,
        tools: tools,
        budget: Run.budget(given, opts, counts),
        within: within(opts, loop.memory, counted),
        turn_began_at: Telemetry.turn_began(loop.number),
        began_at: System.monotonic_time(:millisecond) - elapsed
      })

    more = [
      resumes: {run, decisions},
      tool_calls_before: paused.tool_calls,
      made_before: paused.made
    ]

    Steps.event(state, %{event: :resumed, turn: state.number})
    run |> again({text, warnings}, state, more) |> came(ask, state)
  end

  defp again(%{lisp: lisp, program: source}, answer, state, more) when lisp != nil,
    do: LispTurn.resumed(source, answer, state, more)

  defp again(run, answer, state, more), do: Turn.resumed(run, answer, state, more)

  # The plans that all turns are within, and count for together.
  defp within(opts, memory, counted) do
    case Within.plans!(opts[:within], "PtcRunner.Agent.loop/3") do
      [] ->
        []

      plans ->
        Within.shared(plans, {Run.named(Keyword.get(opts, :context, %{})), memory}, counted)
    end
  end

  # The conversation before, newest message first. Its prompt is replaced.
  defp earlier(opts) do
    messages = Keyword.get(opts, :messages, [])

    for %{role: role} = message <- messages, role != :system, reduce: [] do
      earlier -> [Map.take(message, [:role, :content]) | earlier]
    end
  end

  defp message(role, content), do: %{role: role, content: content}

  defp turn(ask, state) do
    turn = %{
      state
      | turn_began_at: Telemetry.turn_began(state.number),
        retries: 0,
        searched?: false
    }

    Steps.event(state, %{event: :turn, turn: state.number})
    asked(ask, turn)
  end

  defp asked(ask, state) do
    timeout = Keyword.get(state.opts, :model_timeout, :infinity)
    messages = Enum.reverse(state.messages)

    reply =
      Telemetry.model(state.number, fn -> understood(Ask.reply(ask, messages, timeout), state) end)

    case reply do
      {:text, nil, numbers} -> no_text(ask, counted(state, numbers))
      {:text, text, numbers} -> read(ask, text, counted(state, numbers))
      {:stopped, errors, text} -> stopped(ask, errors, text, state)
      {:retry, ms} -> retry(ask, ms, state)
      {:halt, reason} -> Steps.given_up(:halted, reason, state)
      {:error, reason} -> Steps.given_up(:model_error, reason, state)
    end
  end

  # A reply of no known form is a mistake of the application. Once tools have been called, their record must not be
  # lost.
  defp understood(reply, state) do
    Reply.read(reply)
  rescue
    error in ArgumentError ->
      if Enum.any?(state.turns, &(&1.tool_calls != [])),
        do: {:error, Exception.message(error)},
        else: reraise(error, __STACKTRACE__)
  end

  defp counted(state, numbers), do: %{state | usage: Reply.add(state.usage, numbers)}

  defp retry(_ask, _ms, %{retries: @most_retries} = state),
    do: Steps.given_up(:model_error, {:retries, @most_retries}, state)

  # The turn is asked for again.
  defp retry(ask, ms, state) do
    Process.sleep(ms)
    asked(ask, %{state | retries: state.retries + 1})
  end

  # A refusal. There is no text that a later turn could be sent.
  defp no_text(ask, state) do
    why = "the answer has no text"
    refused(ask, nil, "Your answer has no text. #{Feedback.please(state.opts)}", why, state)
  end

  # The answer was stopped while it came in, because it could not become valid.
  defp stopped(ask, errors, text, state) do
    head = text && Shown.cut(text, min(most_bytes(state), @head))
    refused(ask, head, Feedback.stopped(errors, state.opts), Feedback.why(errors), state)
  end

  # An answer that is not read: only this much of its text is kept, if there is any.
  defp refused(ask, text, told, why, state) do
    state = if text, do: said(state, text), else: state

    again(
      ask,
      told,
      Steps.took(state, Steps.record(text, state, result: %{error: told}, why: why), false)
    )
  end

  defp said(state, text), do: %{state | messages: [message(:assistant, text) | state.messages]}

  defp most_bytes(state), do: Keyword.get(state.opts, :max_bytes, @most_bytes)

  defp read(ask, text, state) do
    most = most_bytes(state)
    if byte_size(text) > most, do: too_long(ask, text, most, state), else: fits(ask, text, state)
  end

  # Keeps only the head, because each further turn sends it to the model again.
  defp too_long(ask, text, most, state) do
    size = "#{byte_size(text)} bytes, and may have #{most}"
    told = "Your answer has #{size}. Answer shorter."
    refused(ask, Shown.cut(text, min(most, @head)), told, "it had " <> size, state)
  end

  defp fits(ask, text, state) do
    state = said(state, text)
    Steps.event(state, %{event: :answer, turn: state.number, text: text})

    state |> kind() |> outcome(text, state) |> came(ask, state)
  end

  defp kind(state) do
    if Allowed.lisp?(state.opts), do: :lisp, else: Keyword.get(state.opts, :answer, :program)
  end

  defp came(outcome, ask, state) do
    case outcome do
      {:failed, value, turn} ->
        state = %{Steps.took(state, turn, false) | memory: turn.memory}
        Steps.ended(:error, {:failed, turn.why, %{value: value}}, state)

      {:paused, paused} ->
        Steps.event(state, %{event: :paused, turn: state.number, calls: paused.calls})
        Telemetry.turn_ended(state.turn_began_at, length(paused.tool_calls), :paused)
        {:paused, paused}

      {:done, value, turn} ->
        Steps.ended(:ok, value, %{Steps.took(state, turn, true) | memory: turn.memory})

      {:again, told, turn} ->
        state = Steps.doubting(Steps.took(state, turn, turn[:ok?] || false), turn)
        state = Map.put(state, :history, turn[:history] || Map.get(state, :history, []))
        again(ask, told, %{state | memory: turn.memory, searched?: searched?(turn, state)})
    end
  end

  # Whether the turn called only the library's own tools. Some calls may not be recorded.
  defp searched?(turn, state) do
    called = Enum.map(Map.get(turn, :tool_calls, []), & &1.name)
    Catalogue.in?(state.tools) and Catalogue.only?(called ++ Map.get(turn, :dropped, []))
  end

  defp outcome(:lisp, text, state), do: LispTurn.outcome(text, state)
  defp outcome(:program, text, state), do: Turn.outcome(text, state)

  defp outcome(:value, text, state) do
    opts = Keyword.take(state.opts, @reading)

    case Telemetry.value(text, fn -> Answer.read(text, state.opts[:returns], opts) end) do
      {:ok, value, warnings} ->
        {:done, value, Steps.record(text, state, result: value, prints: warnings)}

      {:error, errors, told, whole?} ->
        {errors, told} =
          if whole?, do: {errors, told}, else: Stopped.instead(text, errors, told, state.opts)

        {:again, told,
         Steps.record(text, state, result: %{error: told}, why: Feedback.why(errors))}
    end
  end

  defp again(ask, told, state) do
    state = uncounted(state)
    most = Keyword.get(state.opts, :max_turns, 5)
    left = most - state.number + state.free

    if left == 0 do
      turns = if most == 1, do: "1 turn", else: "#{most} turns"
      message = Shown.cut("no valid answer in #{turns}. The last one: #{state.why}", 4_000)
      Steps.ended(:error, {:max_turns, message, %{feedback: told}}, state)
    else
      told = told <> "\n" <> left(left)
      state = %{state | messages: [message(:user, told) | state.messages]}
      turn(ask, %{state | number: state.number + 1})
    end
  end

  # A turn whose calls were only those of the library's own tools.
  defp uncounted(state) do
    if state.searched? and state.free < Catalogue.free(),
      do: %{state | free: state.free + 1},
      else: state
  end

  defp left(1), do: "This is your last turn: answer now."
  defp left(turns), do: "You have #{turns} turns left."
end
