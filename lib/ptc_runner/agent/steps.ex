defmodule PtcRunner.Agent.Steps do
  @moduledoc false
  # What a loop leaves behind: its turns, the step that it returns, and the events of both.

  alias PtcRunner.Agent.Approval
  alias PtcRunner.Native.Telemetry.Agent, as: Telemetry
  alias PtcRunner.{Shown, Step, Turn}
  alias PtcRunner.SubAgent.Signature

  @doc "Tells the function of `:on_event`: the application follows what happens."
  @spec event(map(), map()) :: :ok
  def event(state, event) do
    if fun = state.opts[:on_event], do: fun.(event)
    :ok
  end

  @doc "The fields of a turn; `took/3` makes the struct."
  @spec record(String.t() | nil, map(), Enumerable.t()) :: map()
  def record(text, state, fields),
    do: Map.merge(%{raw: text, program: nil, memory: state.memory, prints: []}, Map.new(fields))

  @doc "The state after a turn with these fields."
  @spec took(map(), map(), boolean()) :: map()
  def took(%{warnings: [_ | _] = warnings} = state, turn, ok?),
    do: took(%{state | warnings: []}, %{turn | prints: warnings ++ turn.prints}, ok?)

  def took(state, turn, ok?) do
    params = %{
      tool_calls: Map.get(turn, :tool_calls, []),
      memory: turn.memory,
      prints: turn.prints
    }

    make = if ok?, do: &Turn.success/5, else: &Turn.failure/5
    struct = make.(state.number, turn.raw, turn.program, turn.result, params)
    outcome = if ok?, do: if(turn[:ok?], do: :look, else: :ok), else: :retry
    calls = length(params.tool_calls)
    Telemetry.turn_ended(state.turn_began_at, calls, outcome)
    event(state, %{event: :turn_ended, turn: state.number, outcome: outcome})
    state = approved(state, turn[:approval])
    %{state | turns: [struct | state.turns], why: turn[:why]}
  end

  @doc "The state with what was decided about the program of its turn, if something was. One that waits is known by its paused run."
  @spec approved(map(), Approval.decided() | nil) :: map()
  def approved(state, nil), do: state
  def approved(state, %{decision: :waits}), do: state

  def approved(%{approvals: approvals, number: number} = state, decided),
    do: %{state | approvals: [Map.put(decided, :turn, number) | approvals]}

  @doc "The state after a turn whose findings were told: what they said is said once."
  @spec doubting(map(), map()) :: map()
  def doubting(state, turn) do
    fields = for %{field: field} <- Map.get(turn, :findings, []), field != nil, do: field
    # Another program may have changed the memory.
    doubted = if turn.program, do: Map.get(turn, :doubted), else: state.doubted
    state = %{state | told: Enum.into(fields, state.told), doubted: doubted}
    Map.put(state, :refused, Map.get(turn, :refused))
  end

  @doc "The step of a loop whose model function has failed."
  @spec given_up(atom(), term(), map()) :: {:error, Step.t()}
  def given_up(kind, reason, state) do
    Telemetry.turn_ended(state.turn_began_at, 0, :error)
    ended(:error, {kind, shown(reason), %{reason: reason}}, state)
  end

  defp shown({:retries, count}),
    do: "the model function asked for #{count} repetitions of one call"

  defp shown(reason) when is_binary(reason), do: Shown.cut(reason)
  defp shown(%{__exception__: true} = exception), do: Shown.exception(exception)
  defp shown(reason), do: Shown.text(reason)

  @doc "The step of a loop that has ended."
  @spec ended(:ok | :error, term(), map()) :: {:ok | :error, Step.t()}
  def ended(kind, what, state) do
    event(state, %{event: :ended, turn: state.number, outcome: kind})
    step(kind, what, state)
  end

  defp step(:ok, value, state), do: {:ok, value |> Step.ok(state.memory) |> finished(state)}

  defp step(:error, {reason, message, details}, state),
    do: {:error, reason |> Step.error(message, state.memory, details) |> finished(state)}

  # The step's struct may be that of another release of `ptc_runner`: only fields that it has are set.
  defp finished(step, state) do
    turns = Enum.reverse(state.turns)
    ms = System.monotonic_time(:millisecond) - state.began_at

    struct(step,
      usage: usage(state, %{turns: length(turns), duration_ms: ms}),
      turns: turns,
      tool_calls: Enum.flat_map(turns, & &1.tool_calls),
      messages: Enum.reverse(state.messages),
      prompt: state.prompt,
      original_prompt: state.task,
      signature: if(state.opts[:returns], do: Signature.render(state.opts[:returns]))
    )
  end

  defp usage(%{approvals: []} = state, numbers), do: Map.merge(state.usage, numbers)

  defp usage(%{approvals: approvals} = state, numbers),
    do: state.usage |> Map.merge(numbers) |> Map.put(:approvals, Enum.reverse(approvals))
end
