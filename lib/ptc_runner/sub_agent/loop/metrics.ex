defmodule PtcRunner.SubAgent.Loop.Metrics do
  @moduledoc """
  Measurements of a run: turns, tokens, milliseconds; and the turns that are kept.

  The state of a run is a map. It must have `:turn`, `:llm_requests`,
  `:total_input_tokens` and `:total_output_tokens`.
  """

  alias PtcRunner.{Options, Turn}

  @turn_options %{success?: :any, prints: :any, tool_calls: :any, memory: :any, type: :any}

  @typedoc "Token counts of one request; any may be missing."
  @type tokens :: %{
          optional(:input) => non_neg_integer(),
          optional(:output) => non_neg_integer(),
          optional(:cache_creation) => non_neg_integer(),
          optional(:cache_read) => non_neg_integer(),
          optional(term()) => term()
        }

  @doc """
  An estimate of the number of tokens of a text: one for four characters.

      iex> PtcRunner.SubAgent.Loop.Metrics.estimate_tokens("twelve chars")
      3

      iex> PtcRunner.SubAgent.Loop.Metrics.estimate_tokens(nil)
      0

  """
  @spec estimate_tokens(String.t() | nil) :: non_neg_integer()
  def estimate_tokens(nil), do: 0
  def estimate_tokens(""), do: 0
  def estimate_tokens(text), do: max(1, text |> String.length() |> div(4))

  @doc """
  Adds the tokens of a request to the totals of the state; `nil` means that they are unknown.

      iex> state = %{llm_requests: 1, turn_tokens: nil, total_input_tokens: 5, total_output_tokens: 0,
      ...>   total_cache_creation_tokens: 0, total_cache_read_tokens: 0}
      iex> state = PtcRunner.SubAgent.Loop.Metrics.accumulate_tokens(state, %{input: 10, output: 2})
      iex> {state.llm_requests, state.total_input_tokens, state.total_output_tokens}
      {2, 15, 2}

  """
  @spec accumulate_tokens(map(), tokens() | nil) :: map()
  def accumulate_tokens(state, nil),
    do: %{state | turn_tokens: nil, llm_requests: state.llm_requests + 1}

  def accumulate_tokens(state, tokens) do
    added = fn total, name -> Map.fetch!(state, total) + Map.get(tokens, name, 0) end

    %{
      state
      | turn_tokens: tokens,
        llm_requests: state.llm_requests + 1,
        total_input_tokens: added.(:total_input_tokens, :input),
        total_output_tokens: added.(:total_output_tokens, :output),
        total_cache_creation_tokens: added.(:total_cache_creation_tokens, :cache_creation),
        total_cache_read_tokens: added.(:total_cache_read_tokens, :cache_read)
    }
  end

  @doc """
  The usage of a run at its end: milliseconds, bytes, turns, and tokens if any were counted.

      iex> state = %{turn: 2, llm_requests: 1, total_input_tokens: 3, total_output_tokens: 4}
      iex> PtcRunner.SubAgent.Loop.Metrics.build_final_usage(state, 12, 0)
      %{duration_ms: 12, memory_bytes: 0, turns: 2, input_tokens: 3, output_tokens: 4,
        total_tokens: 7, llm_requests: 1, system_prompt_tokens: 0}

  """
  @spec build_final_usage(map(), integer(), non_neg_integer(), integer()) :: map()
  def build_final_usage(state, duration_ms, memory_bytes, turn_offset \\ 0) do
    usage = %{
      duration_ms: duration_ms,
      memory_bytes: memory_bytes,
      turns: state.turn + turn_offset
    }

    usage |> put_compaction(state) |> put_tokens(state)
  end

  defp put_compaction(usage, state) do
    case Map.get(state, :compaction_stats) do
      none when none in [nil, false] -> usage
      stats -> Map.put(usage, :compaction, stats)
    end
  end

  defp put_tokens(usage, %{total_input_tokens: input, total_output_tokens: output} = state)
       when input > 0 or output > 0 do
    usage
    |> Map.merge(%{
      input_tokens: input,
      output_tokens: output,
      total_tokens: input + output,
      llm_requests: state.llm_requests,
      system_prompt_tokens: Map.get(state, :system_prompt_tokens, 0)
    })
    |> put_cache_tokens(state)
  end

  defp put_tokens(usage, %{total_input_tokens: _, total_output_tokens: _} = state) do
    if state.llm_requests > 0,
      do: Map.put(usage, :llm_requests, state.llm_requests),
      else: usage
  end

  defp put_cache_tokens(usage, state) do
    creation = Map.get(state, :total_cache_creation_tokens, 0)
    read = Map.get(state, :total_cache_read_tokens, 0)

    if creation > 0 or read > 0,
      do: Map.merge(usage, %{cache_creation_tokens: creation, cache_read_tokens: read}),
      else: usage
  end

  @doc """
  The turns to keep: all (`true`), none (`false`), or all of a failed run (`:on_error`).

      iex> PtcRunner.SubAgent.Loop.Metrics.apply_trace_filter([1, 2], :on_error, false)
      nil

      iex> PtcRunner.SubAgent.Loop.Metrics.apply_trace_filter([1, 2], true, false)
      [1, 2]

  """
  @spec apply_trace_filter(turns, boolean() | :on_error, boolean()) :: turns | nil
        when turns: list() | nil
  def apply_trace_filter(_turns, false, _error?), do: nil
  def apply_trace_filter(turns, true, _error?), do: turns
  def apply_trace_filter(turns, :on_error, true), do: turns
  def apply_trace_filter(_turns, :on_error, false), do: nil

  @doc """
  The record of the turn that ends. Options: `:success?` (`true`), `:prints`, `:tool_calls` (`[]`), `:memory`
  (that of the state) and `:type` (`:normal`). Of a tool call, the name, arguments and result are kept.

      iex> turn = PtcRunner.SubAgent.Loop.Metrics.build_turn(%{turn: 1, memory: %{}}, "raw", nil, 42, [])
      iex> {turn.number, turn.result, turn.success?}
      {1, 42, true}

  """
  @spec build_turn(map(), term(), String.t() | nil, term(), keyword()) :: Turn.t()
  def build_turn(state, raw_response, program, result, opts \\ []) do
    Options.check!(opts, @turn_options, "PtcRunner.SubAgent.Loop.Metrics.build_turn/5")

    params = %{
      prints: Keyword.get(opts, :prints, []),
      tool_calls: opts |> Keyword.get(:tool_calls, []) |> Enum.map(&brief/1),
      memory: Keyword.get_lazy(opts, :memory, fn -> Map.get(state, :memory) end),
      messages: Map.get(state, :current_messages),
      system_prompt: Map.get(state, :current_system_prompt),
      prelude_trace: Process.get(:turn_lisp_prelude_trace),
      type: Keyword.get(opts, :type, :normal)
    }

    if Keyword.get(opts, :success?, true),
      do: Turn.success(state.turn, raw_response, program, result, params),
      else: Turn.failure(state.turn, raw_response, program, result, params)
  end

  defp brief(call), do: %{name: call.name, args: call.args, result: call.result}

  @doc """
  The measurements of a turn: its duration, and its tokens if they are known.

      iex> PtcRunner.SubAgent.Loop.Metrics.build_turn_measurements(7, %{input: 3, output: 4})
      %{duration: 7, tokens: 7, input_tokens: 3, output_tokens: 4}

  """
  @spec build_turn_measurements(integer(), tokens() | nil) :: map()
  def build_turn_measurements(duration, tokens),
    do: tokens |> build_token_measurements() |> Map.put(:duration, duration)

  @doc """
  The tokens only.

      iex> PtcRunner.SubAgent.Loop.Metrics.build_token_measurements(nil)
      %{}

  """
  @spec build_token_measurements(tokens() | nil) :: map()
  def build_token_measurements(nil), do: %{}

  def build_token_measurements(tokens) do
    total = Map.get(tokens, :input, 0) + Map.get(tokens, :output, 0)

    for {name, measured} <- [
          input: :input_tokens,
          output: :output_tokens,
          cache_creation: :cache_creation_tokens,
          cache_read: :cache_read_tokens
        ],
        count = Map.get(tokens, name),
        is_integer(count) and count > 0,
        into: %{tokens: total},
        do: {measured, count}
  end

  @doc """
  The program of a run's last turn.

      iex> step = %PtcRunner.Step{turns: [PtcRunner.Turn.success(1, "raw", "(+ 1 2)", 3)]}
      iex> PtcRunner.SubAgent.Loop.Metrics.extract_program_from_result({:ok, step})
      "(+ 1 2)"

  """
  @spec extract_program_from_result(term()) :: String.t() | nil
  def extract_program_from_result({_outcome, %{turns: [_ | _] = turns}}),
    do: List.last(turns).program

  def extract_program_from_result(_other), do: nil
end
