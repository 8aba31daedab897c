defmodule PtcRunner.SubAgent.Definition do
  @moduledoc """
  The definition of an agent of `ptc_runner`, for code that was written for it. Times are in milliseconds, sizes in bytes.

  An agent of this library is a call of `PtcRunner.Agent.loop/3`.

      iex> agent = %PtcRunner.SubAgent.Definition{prompt: "Count the words"}
      iex> {agent.max_turns, agent.timeout, agent.memory_limit}
      {5, 5000, 1_048_576}

  """

  defstruct [
    :prompt,
    :signature,
    :parsed_signature,
    :schema,
    :prompt_limit,
    :max_heap,
    :mission_timeout,
    :llm_retry,
    :llm,
    :system_prompt,
    :name,
    :description,
    :field_descriptions,
    :context_descriptions,
    :max_tool_calls,
    :progress_fn,
    :runtime_prelude,
    compaction: false,
    thinking: false,
    tools: %{},
    llm_query: false,
    builtin_tools: [],
    max_turns: 5,
    retry_turns: 0,
    timeout: 5000,
    pmap_timeout: 5000,
    pmap_max_concurrency: 2 * System.schedulers_online(),
    memory_limit: 1_048_576,
    max_depth: 3,
    turn_budget: 20,
    float_precision: 2,
    output: :ptc_lisp,
    ptc_transport: :content,
    ptc_reference: :compact,
    memory_strategy: :strict,
    plan: [],
    journaling: false,
    completion_mode: :implicit,
    format_options: [
      feedback_limit: 10,
      feedback_max_chars: 512,
      history_max_bytes: 512,
      result_limit: 50,
      result_max_chars: 500,
      max_print_length: 2000
    ]
  ]

  @typedoc "A parsed signature: parameters and return type."
  @type parsed_signature :: {:signature, params :: list(), return :: term()} | nil

  @typedoc "An agent."
  @type t :: %__MODULE__{
          parsed_signature: parsed_signature(),
          max_turns: pos_integer(),
          field_descriptions: map() | nil
        }
end
