defmodule PtcRunner.Agent.Turn do
  @moduledoc false
  # One turn of a loop whose model writes PTC-JSON: from its answer to the result, to what it looked at, or to what went wrong.
  #
  #   text ──Source──▶ program ──check──▶ Run ──▶ value ──▶ result, look, or findings that make it doubtful

  alias PtcRunner.Agent.{
    Checking,
    Describe,
    Feedback,
    Judging,
    Look,
    Made,
    Paused,
    Result,
    Run,
    Source,
    Steps
  }

  alias PtcRunner.Native.Telemetry.Agent, as: Telemetry
  alias PtcRunner.Firewall.{Marks, Shape}
  alias PtcRunner.Json.{Budget, Check, Within}

  @look "look"
  @of_values [:unknown_tool, :unknown_field, :wrong_result, :missing_result]

  @compiling [:timeout, :max_heap, :max_depth, :strict, :edition, :keys, :repair, :truncated]
  @running [:context, :returns, :enums, :descriptions] ++
             [:timeout, :max_heap, :max_depth, :strict, :edition, :keys, :tool_concurrency, :now] ++
             [:recorded_calls, :recorded_bytes, :on_call, :on_journal, :on_event, :pause_ttl] ++
             [:firewall, :tool_context, :replays, :unknown, :approve]

  @type outcome ::
          {:done, term(), map()} | {:again, String.t(), map()} | {:paused, Paused.t()}

  @doc "What the loop does with an answer."
  @spec outcome(String.t(), map()) :: outcome()
  def outcome(text, state) do
    findings = Keyword.get(state.opts, :findings, :feedback)
    reading = [tools: state.tools, findings: findings] ++ only(state, @compiling)

    case Source.read(text, reading) do
      {:ok, program, warnings} ->
        run(program, text, warnings, state)

      {:error, error, told} ->
        Telemetry.invalid(error)

        {:again, told,
         Steps.record(text, state, result: %{error: told}, why: Feedback.why(error))}
    end
  end

  # The program whose value was doubted, unchanged: its value counts, and its tools are not called again.
  defp run(program, text, warnings, %{doubted: {source, value, memory, notes}} = state) do
    if Source.same?(program.source, source) do
      fields = [program: source(program), result: value, memory: memory]
      {:done, value, Steps.record(text, state, [{:prints, warnings ++ notes} | fields])}
    else
      run(program, text, warnings, %{state | doubted: nil})
    end
  end

  defp run(program, text, warnings, state) do
    case refused(program, state) do
      [] ->
        ran(program, text, warnings, state, [])

      errors ->
        told = Feedback.refused(errors)
        error = Check.error(errors)
        Telemetry.invalid(error)
        # A field that is not there is why an argument or the result is null.
        cause = Enum.find(errors, hd(errors), &(&1.code == :unknown_field))
        why = "the program was not run: #{Check.line(cause)}"
        fields = [program: source(program), result: %{error: told}, why: why, prints: warnings]
        {:again, told, Steps.record(text, state, [{:refused, program.source} | fields])}
    end
  end

  # A program that was refused before is run.
  defp refused(program, state) do
    before = Map.get(state, :refused)

    if Keyword.get(state.opts, :check, true) and
         not (before != nil and Source.same?(program.source, before)) do
      checked = [{:memory, state.memory} | only(state, [:findings | @running])]
      {errors, tools} = Checking.errors(program, state.tools, checked)

      # Where no tool is called, the run tells more about fields that are not there, and about a wrong result: it has the value.
      called? = Enum.any?(state.tools, &(&1.name in tools))
      if not called?, do: Enum.reject(errors, &(&1.code in @of_values)), else: errors
    else
      []
    end
  end

  defp ran(program, text, warnings, state, more) do
    counts = state.budget && Budget.counted(state.budget)
    # A value under "look" need not match the signature.
    findings = Keyword.get(state.opts, :findings, :feedback)
    own = [memory: state.memory, findings: findings, budget: state.budget, run_id: run_id(state)]
    own = [{:within, state.within} | own]
    within_counts = Within.counted(state.within)
    opts = more ++ own ++ only(state, @running)
    record = &Steps.record(text, state, [{:program, source(program)} | &1])
    ran = Run.noted(program, state.tools, Keyword.delete(opts, :returns))
    %{dropped_calls: dropped, approval: decided} = elem(ran, tuple_size(ran) - 1)
    record = &record.([{:dropped, Map.keys(dropped)}, {:approval, decided} | &1])

    case ran do
      {:paused, paused, info} ->
        {:paused,
         Paused.of_loop(
           Paused.of_run(paused, state.opts, info),
           {text, warnings, counts},
           state |> Map.put(:within_counts, within_counts) |> Steps.approved(decided)
         )}

      {:ok, value, info} ->
        judged = Judging.judged(value, opts, info)

        # A result that declares the field is a result.
        if match?(%{@look => _}, value) and
             not (Result.declares?(opts[:returns], @look) and elem(judged, 0) == :ok),
           do: look(value, info, record, state),
           else: judged(judged, program, warnings, info, record, state)

      {:error, error, told, info} ->
        fields = [result: %{error: told}, why: Feedback.why(error), tool_calls: info.tool_calls]
        {:again, told, record.([{:prints, warnings ++ info.warnings} | fields])}
    end
  end

  defp look(%{@look => value}, info, record, state) do
    memory = Marks.delete(info.memory, @look)
    kept = Map.drop(info.delta, [@look | Marks.unnamed(memory)])
    found = found(info, state)
    fields = [result: value, memory: memory, tool_calls: info.tool_calls, findings: found]
    why = "the last program looked at a value, and gave no result"
    turn = record.([ok?: true, why: why] ++ fields)
    told = Look.text(value, Shape.entry(info.shape, @look), kept)
    {:again, told <> Feedback.found(found) <> Made.looked(info.made), turn}
  end

  defp judged({:ok, value, info}, program, warnings, _info, record, state) do
    notes = warnings ++ info.warnings ++ Feedback.notes(info.findings)
    turn = [memory: info.memory, tool_calls: info.tool_calls]

    case found(info, state) do
      [] ->
        {:done, value, record.([result: value, prints: notes] ++ turn)}

      found ->
        told = Feedback.findings(found, Shape.conceal(value, info.shape), info.made)
        doubted = {program.source, value, info.memory, notes}
        new = [result: %{error: told}, why: missing(found), findings: found, doubted: doubted]
        {:again, told, record.([{:prints, warnings ++ info.warnings} | new] ++ turn)}
    end
  end

  defp judged({:error, error, told, _info}, _program, warnings, info, record, state) do
    found = found(info, state)
    told = told <> Feedback.found(found)
    turn = [memory: info.memory, tool_calls: info.tool_calls, prints: warnings ++ info.warnings]
    new = [result: %{error: told}, why: why(error, found), findings: found]
    {:again, told, record.(new ++ turn)}
  end

  defp run_id(%{runs: runs, number: number}), do: "#{runs}-#{number}"

  # What was not there comes first: it is why the result does not fit.
  defp why(error, []), do: Feedback.why(error)
  defp why(error, found), do: "#{missing(found)}; #{Feedback.why(error)}"

  defp missing(found),
    do: "#{Feedback.what("the program", found)}: #{hd(Feedback.notes(found))}"

  # Findings about a field or a conversion that the model was not told about yet.
  defp found(info, state) do
    if Enum.any?(info.findings, &(&1.field != nil and &1.field not in state.told)),
      do: info.findings,
      else: []
  end

  @doc "What the loop does with an answer whose run was paused: it goes on with these options."
  @spec resumed(map(), {String.t(), [String.t()]}, map(), keyword()) :: outcome()
  def resumed(run, {text, warnings}, state, more) do
    case Source.again(run) do
      {:ok, program} ->
        ran(program, text, warnings, state, more)

      {:error, error} ->
        raise ArgumentError, "the program of the paused run is not one: #{inspect(error)}"
    end
  end

  defp only(state, names), do: Keyword.take(state.opts, names)

  defp source(%{source: source}) when is_binary(source), do: source
  defp source(%{source: source}), do: Describe.value(source, 65_536)
end
