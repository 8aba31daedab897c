defmodule PtcRunner.Agent.Loop do
  @moduledoc false
  # Asks a model until there is a result, or no turn is left. Records the turns in a step.
  #
  #   messages ──ask──▶ text ──Source──▶ program ──Run──▶ value ──▶ step
  #      ▲                         │              │         │
  #      └─────── feedback ◀───────┴──────────────┴─────────┘

  alias PtcRunner.Agent.{Answer, Ask, Describe, Feedback, Prompt, Run, Source, Tool}
  alias PtcRunner.Firewall.{Marks, Shape}
  alias PtcRunner.{Shown, Step, Turn}
  alias PtcRunner.SubAgent.Signature

  @look "look"
  @looked 4_000
  @concealed "What comes from fields whose names begin with _ is not shown."
  # No model writes more at once. Of a longer answer only the beginning is kept.
  @most_bytes 1_000_000
  @head 4_000

  @reading [:timeout, :max_heap]
  @compiling [:timeout, :max_heap, :max_depth, :strict, :keys, :repair, :truncated]
  @running [:context, :returns, :enums, :descriptions] ++
             [:timeout, :max_heap, :max_depth, :strict, :keys, :tool_concurrency] ++
             [:recorded_calls, :recorded_bytes]

  @doc "See `PtcRunner.Agent.loop/3`; the options are already validated, `:returns` is parsed."
  @spec run(([map()] -> term()), keyword()) :: {:ok | :error, Step.t()}
  def run(ask, opts) do
    # The task is the user's message; the other parts of the prompt come before it.
    prompt = opts |> Keyword.delete(:task) |> Prompt.text()
    task = Keyword.get(opts, :task, "Do what was said above.")

    tools = Tool.list!(Keyword.get(opts, :tools, %{}))

    turn(ask, %{
      opts: opts,
      tools: tools,
      warnings: Tool.warnings(tools),
      prompt: prompt,
      task: task,
      messages: [message(:user, task), message(:system, prompt)],
      memory: Keyword.get(opts, :memory, %{}),
      turns: [],
      number: 1,
      # The fields that the model was told about, and the run whose value was doubted for them.
      told: MapSet.new(),
      doubted: nil,
      usage: %{},
      began_at: System.monotonic_time(:millisecond)
    })
  end

  defp message(role, content), do: %{role: role, content: content}

  defp turn(ask, state) do
    timeout = Keyword.get(state.opts, :model_timeout, :infinity)

    case Ask.reply(ask, Enum.reverse(state.messages), timeout) do
      {:error, reason} -> ended(:error, {:model_error, shown(reason)}, state)
      {:ok, text, usage} when is_binary(text) -> read(ask, text, counted(state, usage))
      {:ok, text} when is_binary(text) -> read(ask, text, state)
      text when is_binary(text) -> read(ask, text, state)
      other -> raise ArgumentError, "the model must answer with a text, got: #{Shown.text(other)}"
    end
  end

  defp shown(reason) when is_binary(reason), do: Shown.cut(reason)
  defp shown(reason), do: Shown.text(reason)

  # Adds up the provider's numbers, such as tokens. Some providers report none.
  defp counted(state, nil), do: state

  defp counted(state, usage) when is_map(usage) or is_list(usage) do
    if is_list(usage) and not Keyword.keyword?(usage), do: no_usage(usage)
    numbers = for {name, number} <- usage, is_number(number), into: %{}, do: {name, number}
    %{state | usage: Map.merge(state.usage, numbers, fn _name, a, b -> sum(a, b) end)}
  end

  defp counted(_state, usage), do: no_usage(usage)

  @spec no_usage(term()) :: no_return()
  defp no_usage(usage) do
    raise ArgumentError, "the model's usage must be a map, got: #{Shown.text(usage, 200)}"
  end

  # The sum of two floats may exceed the largest float.
  defp sum(a, b) do
    a + b
  rescue
    ArithmeticError -> max(a, b)
  end

  defp read(ask, text, state) do
    most = Keyword.get(state.opts, :max_bytes, @most_bytes)
    if byte_size(text) > most, do: too_long(ask, text, most, state), else: fits(ask, text, state)
  end

  # Keeps only the head, because each further turn sends it to the model again.
  defp too_long(ask, text, most, state) do
    head = Shown.cut(text, min(most, @head))
    told = "Your answer has #{byte_size(text)} bytes, and may have #{most}. Answer shorter."
    state = %{state | messages: [message(:assistant, head) | state.messages]}
    again(ask, told, took(state, record(head, state, result: %{error: told}), false))
  end

  defp fits(ask, text, state) do
    state = %{state | messages: [message(:assistant, text) | state.messages]}

    case outcome(Keyword.get(state.opts, :answer, :program), text, state) do
      {:done, value, turn} ->
        ended(:ok, value, %{took(state, turn, true) | memory: turn.memory})

      {:again, told, turn} ->
        state = doubting(took(state, turn, turn[:ok?] || false), turn)
        again(ask, told, %{state | memory: turn.memory})
    end
  end

  # What `findings` said is said once.
  defp doubting(state, turn) do
    fields = for %{field: field} <- Map.get(turn, :findings, []), field != nil, do: field
    # Another program may have changed the memory.
    doubted = if turn.program, do: Map.get(turn, :doubted), else: state.doubted
    %{state | told: Enum.into(fields, state.told), doubted: doubted}
  end

  defp outcome(:value, text, state) do
    case Answer.read(
           text,
           state.opts[:returns],
           only(state, @reading ++ [:coerce, :repair, :truncated, :enums])
         ) do
      {:ok, value, warnings} ->
        {:done, value, record(text, state, result: value, prints: warnings)}

      {:error, _errors, told} ->
        {:again, told, record(text, state, result: %{error: told})}
    end
  end

  defp outcome(:program, text, state) do
    case Source.read(text, only(state, @compiling)) do
      {:error, _error, told} -> {:again, told, record(text, state, result: %{error: told})}
      {:ok, program, warnings} -> run(program, text, warnings, state)
    end
  end

  # The program whose value was doubted, unchanged: its value counts, and its tools are not called again.
  defp run(%{source: source}, text, warnings, %{doubted: {source, value, memory, notes}} = state) do
    fields = [program: source(%{source: source}), result: value, memory: memory]
    {:done, value, record(text, state, [{:prints, warnings ++ notes} | fields])}
  end

  defp run(program, text, warnings, state) do
    # A value under "look" need not match the signature.
    findings = Keyword.get(state.opts, :findings, :feedback)
    opts = [{:memory, state.memory}, {:findings, findings} | only(state, @running)]
    record = &record(text, state, [{:program, source(program)} | &1])

    case Run.noted(program, state.tools, Keyword.delete(opts, :returns)) do
      {:ok, %{@look => value}, info} ->
        memory = Marks.delete(info.memory, @look)
        kept = Map.delete(info.delta, @look)
        found = found(info, state)

        turn =
          record.(
            result: value,
            memory: memory,
            tool_calls: info.tool_calls,
            findings: found,
            ok?: true
          )

        told = looked(value, Shape.entry(info.shape, @look), kept)
        {:again, told <> Feedback.found(found), turn}

      {:ok, value, info} ->
        notes = warnings ++ info.warnings
        turn = [memory: info.memory, tool_calls: info.tool_calls, prints: notes]

        case {Run.judged(value, opts, info), found(info, state)} do
          {{:ok, value, _info}, []} ->
            notes = notes ++ Feedback.notes(info.findings)
            {:done, value, record.([result: value] ++ Keyword.put(turn, :prints, notes))}

          {{:ok, value, _info}, found} ->
            told = Feedback.findings(found, Shape.conceal(value, info.shape), info.made)
            doubted = {program.source, value, info.memory, notes ++ Feedback.notes(info.findings)}
            new = [result: %{error: told}, findings: found, doubted: doubted]
            {:again, told, record.(new ++ turn)}

          {{:error, _error, told, _info}, found} ->
            told = told <> Feedback.found(found)
            {:again, told, record.([result: %{error: told}, findings: found] ++ turn)}
        end

      {:error, _error, told, info} ->
        notes = warnings ++ info.warnings

        {:again, told,
         record.(result: %{error: told}, tool_calls: info.tool_calls, prints: notes)}
    end
  end

  # Findings about a field that the model was not told about yet.
  defp found(info, state) do
    if Enum.any?(info.findings, &(&1.field != nil and &1.field not in state.told)),
      do: info.findings,
      else: []
  end

  defp only(state, names), do: Keyword.take(state.opts, names)

  defp source(%{source: source}) when is_binary(source), do: source
  defp source(%{source: source}), do: Describe.value(source, 65_536)

  defp looked(value, shape, kept) do
    names = kept |> Map.keys() |> Enum.sort()
    kept = if names == [], do: "", else: "\nKept in memory: #{Shown.few(names, &label/1)}."
    concealed = if shape == :clear, do: "", else: "\n" <> @concealed

    "You looked at: #{value |> Shape.conceal(shape) |> Describe.value(@looked)}#{kept}#{concealed}"
  end

  defp label(name) when is_binary(name), do: Shown.label(name)
  defp label(name), do: Shown.text(name, 256)

  # The fields of a turn; `took/3` makes the struct.
  defp record(text, state, fields),
    do: Map.merge(%{raw: text, program: nil, memory: state.memory, prints: []}, Map.new(fields))

  defp took(%{warnings: [_ | _] = warnings} = state, turn, ok?),
    do: took(%{state | warnings: []}, %{turn | prints: warnings ++ turn.prints}, ok?)

  defp took(state, turn, ok?) do
    params = %{
      tool_calls: Map.get(turn, :tool_calls, []),
      memory: turn.memory,
      prints: turn.prints
    }

    make = if ok?, do: &Turn.success/5, else: &Turn.failure/5
    struct = make.(state.number, turn.raw, turn.program, turn.result, params)
    %{state | turns: [struct | state.turns]}
  end

  defp again(ask, told, state) do
    left = Keyword.get(state.opts, :max_turns, 5) - state.number

    if left == 0 do
      ended(:error, {:max_turns, told}, state)
    else
      told = told <> "\n" <> left(left)
      state = %{state | messages: [message(:user, told) | state.messages]}
      turn(ask, %{state | number: state.number + 1})
    end
  end

  defp left(1), do: "This is your last turn: answer now."
  defp left(turns), do: "You have #{turns} turns left."

  defp ended(:ok, value, state), do: {:ok, value |> Step.ok(state.memory) |> finished(state)}

  defp ended(:error, {reason, message}, state),
    do: {:error, reason |> Step.error(message, state.memory) |> finished(state)}

  # The step's struct may be that of another release of `ptc_runner`: only fields that it has are set.
  defp finished(step, state) do
    turns = Enum.reverse(state.turns)
    ms = System.monotonic_time(:millisecond) - state.began_at

    struct(step,
      usage: Map.merge(state.usage, %{turns: length(turns), duration_ms: ms}),
      turns: turns,
      tool_calls: Enum.flat_map(turns, & &1.tool_calls),
      messages: Enum.reverse(state.messages),
      prompt: state.prompt,
      original_prompt: state.task,
      signature: if(state.opts[:returns], do: Signature.render(state.opts[:returns]))
    )
  end
end
