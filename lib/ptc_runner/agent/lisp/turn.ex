defmodule PtcRunner.Agent.Lisp.Turn do
  @moduledoc false
  # One turn of a loop whose model writes PTC-Lisp: from its answer to the result, to what it looked at, or to what went wrong.

  alias PtcRunner.Agent.{Feedback, Made, Paused, Steps}
  alias PtcRunner.Agent.Lisp.{Run, Source, Told}
  alias PtcRunner.Json.{Budget, Within}
  alias PtcRunner.Lisp.Ended

  @reading [:timeout, :max_heap]
  @running [:context, :timeout, :max_heap, :recorded_calls, :recorded_bytes, :tool_context] ++
             [:firewall, :on_call, :on_journal, :on_event, :pause_ttl, :now, :replays] ++
             [:unknown, :approve]

  # *1, *2 and *3.
  @history 3

  @type outcome ::
          {:done, term(), map()}
          | {:again, String.t(), map()}
          | {:failed, term(), map()}
          | {:paused, Paused.t()}

  @doc "What the loop does with an answer."
  @spec outcome(String.t(), map()) :: outcome()
  def outcome(text, state) do
    reading = [{:memory, state.memory} | Keyword.take(state.opts, @reading)]

    case Source.read(text, reading) do
      {:ok, program, warnings} ->
        ran(program, text, warnings, state, [])

      {:error, error, told} ->
        Ended.refused(text, error)
        fields = [result: %{error: told}, why: Told.error(error)]
        {:again, told, Steps.record(text, state, fields)}
    end
  end

  @doc "What the loop does with an answer whose run was paused: it goes on with these options."
  @spec resumed(String.t(), {String.t(), [String.t()]}, map(), keyword()) :: outcome()
  def resumed(source, {text, warnings}, state, more),
    do: source |> Run.again!() |> ran(text, warnings, state, more)

  defp ran(program, text, warnings, state, more) do
    history = Map.get(state, :history, [])
    run_id = "#{state.runs}-#{state.number}"
    own = [memory: state.memory, budget: state.budget, history: history, run_id: run_id]
    own = [{:within, state.within} | own]
    within_counts = Within.counted(state.within)
    counts = state.budget && Budget.counted(state.budget)
    ran = Run.noted(program, state.tools, more ++ own ++ Keyword.take(state.opts, @running))
    info = elem(ran, tuple_size(ran) - 1)

    record = fn fields ->
      fields =
        [program: program.source, tool_calls: info.tool_calls] ++
          [dropped: Map.keys(info.dropped_calls), approval: info.approval] ++ fields

      Steps.record(text, state, fields)
    end

    notes = info.prints ++ warnings ++ info.warnings

    case ran do
      {:paused, paused, info} ->
        paused = Paused.of_run(paused, state.opts, info)

        {:paused,
         Paused.of_loop(
           paused,
           {text, warnings, counts},
           state |> Map.put(:within_counts, within_counts) |> Steps.approved(info.approval)
         )}

      {:ok, {how, value}, info} ->
        keep = [memory: info.memory, history: Enum.take(history ++ [value], -@history)]
        ended(how, value, info, notes, {&record.(keep ++ &1), state})

      {:error, error, told, _info} ->
        {:again, told, record.(result: %{error: told}, why: Told.error(error), prints: notes)}
    end
  end

  defp ended(:fail, value, _info, notes, {record, _state}) do
    message = Run.message(value)
    {:failed, value, record.(result: %{error: message}, why: message, prints: notes)}
  end

  defp ended(how, value, info, notes, {record, state}) do
    case Run.judged(value, state.opts) do
      {:ok, result, warnings} ->
        if how == :value and looks?(value, state),
          do: looked(value, info, [], notes, record),
          else: {:done, result, record.(result: result, prints: notes ++ warnings)}

      {:error, errors} ->
        shows? = info.prints != [] or info.delta != %{} or Told.silent?(value)

        if how == :value and shows?,
          do: looked(value, info, errors, notes, record),
          else: unfit(value, info, errors, notes, record)
    end
  end

  # A program that only defines and prints has no result yet, if there is a turn to write another one.
  defp looks?(value, state) do
    left = Keyword.get(state.opts, :max_turns, 5) - state.number
    left > 0 and Told.silent?(value)
  end

  defp looked(value, info, errors, notes, record) do
    told =
      Told.looked(value, info.prints, Told.defined(info.delta), errors, Made.looked(info.made))

    why = "the last program looked at a value, and gave no result"
    shown = if Told.silent?(value), do: nil, else: Run.named(value)
    {:again, told, record.(ok?: true, why: why, result: shown, prints: notes)}
  end

  defp unfit(value, info, errors, notes, record) do
    told = Told.unfit(errors, value, info.prints, info.made)
    why = Feedback.why({:invalid_result, errors})
    {:again, told, record.(result: %{error: told}, why: why, prints: notes)}
  end
end
