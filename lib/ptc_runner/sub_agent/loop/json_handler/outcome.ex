defmodule PtcRunner.SubAgent.Loop.JsonHandler.Outcome do
  @moduledoc false
  # The outcome of a turn: a retry, or the step that ends the run. The step's struct may be that
  # of another release of `ptc_runner`: only fields that it has are set, when the step is made.

  alias PtcRunner.Step
  alias PtcRunner.SubAgent.Loop.JsonHandler.Feedback
  alias PtcRunner.SubAgent.Loop.{Metrics, Shared}

  @doc false
  def success(value, response, agent, state, opts) do
    preserve? = Keyword.get(opts, :preserve_state, false)
    calls = Keyword.get(opts, :all_tool_calls, [])
    memory = (preserve? and Map.get(state, :memory)) || %{}
    turn = Metrics.build_turn(state, response, nil, value, tool_calls: calls, memory: memory)

    step =
      kept(
        struct(Step,
          return: value,
          memory: memory,
          field_descriptions: agent.field_descriptions,
          tool_calls: calls,
          tools: Map.get(state, :normalized_tools)
        ),
        state,
        preserve?
      )

    {:stop, {:ok, finished(step, response, state, turn, false)}, turn, state.turn_tokens}
  end

  defp kept(step, _state, false), do: step

  defp kept(step, state, true) do
    struct(step,
      child_steps: Map.get(state, :child_steps),
      journal: Map.get(state, :journal),
      tool_cache: Map.get(state, :tool_cache) || %{},
      summaries: Map.get(state, :summaries)
    )
  end

  @doc false
  # `reason` is :json_parse_error, :truncated or :validation_error; for `errors` see `Feedback`.
  def failure(reason, error, errors, response, agent, state, opts) do
    if state.turn >= agent.max_turns,
      do: final(reason, error, response, state, opts),
      else: retry(Feedback.text(error, errors, response, agent, opts), error, response, state)
  end

  defp final(reason, error, response, state, opts) do
    calls = Keyword.get(opts, :all_tool_calls, [])
    turn = failed_turn(state, response, error, calls)
    step = finished(Step.error(reason, error, %{}), response, state, turn, true)
    {:stop, {:error, step}, turn, state.turn_tokens}
  end

  defp retry(feedback, error, response, state) do
    turn = failed_turn(state, response, error, [])

    exchange = [
      %{role: :assistant, content: response},
      %{role: :user, content: feedback}
    ]

    state = %{
      state
      | turn: state.turn + 1,
        messages: state.messages ++ exchange,
        turns: [turn | state.turns],
        remaining_turns: state.remaining_turns - 1
    }

    {:continue, state, turn}
  end

  defp failed_turn(state, response, error, calls) do
    opts = [success?: false, tool_calls: calls, memory: %{}]
    Metrics.build_turn(state, response, nil, %{error: error}, opts)
  end

  # The clock is read after the turn is built, and the schema is read after the clock.
  defp finished(step, response, state, turn, error?) do
    duration_ms = System.monotonic_time(:millisecond) - state.start_time

    usage =
      state
      |> Metrics.build_final_usage(duration_ms, 0)
      |> Shared.add_schema_metrics(Map.get(state, :schema))

    turns =
      Metrics.apply_trace_filter(Enum.reverse([turn | state.turns]), state.trace_mode, error?)

    messages = state.messages ++ [%{role: :assistant, content: response}]

    struct(step,
      usage: usage,
      turns: turns,
      messages: Shared.build_collected_messages(state, messages),
      prompt: state.expanded_prompt,
      original_prompt: state.original_prompt,
      prints: []
    )
  end
end
