defmodule PtcRunner.Step do
  @moduledoc """
  What a run of an agent ends with: its result or why there is none, and what happened on the way.

      iex> PtcRunner.Step.ok(%{"count" => 5}, %{}).return
      %{"count" => 5}

  """

  alias PtcRunner.Options

  defstruct [
    :return,
    :fail,
    :memory,
    :journal,
    :signature,
    :usage,
    :turns,
    :trace_id,
    :parent_trace_id,
    :name,
    :field_descriptions,
    :prints,
    :tool_calls,
    :pmap_calls,
    :catalog_ops,
    :child_traces,
    :child_steps,
    :messages,
    :prompt,
    :original_prompt,
    :tools,
    :prelude_trace,
    summaries: %{},
    tool_cache: %{}
  ]

  @typedoc "Why there is no result: a code, a text for people and LLMs, and what else is known."
  @type fail :: %{reason: term(), message: term(), details: map()}

  @typedoc "A run's end. `usage` counts turns, tokens and milliseconds, see `PtcRunner.SubAgent.Loop.Metrics`."
  @type t :: %__MODULE__{
          return: term(),
          fail: fail() | nil,
          memory: map() | nil,
          journal: map() | nil,
          signature: String.t() | nil,
          usage: map() | nil,
          turns: [PtcRunner.Turn.t()] | nil,
          trace_id: String.t() | nil,
          parent_trace_id: String.t() | nil,
          name: String.t() | nil,
          field_descriptions: map() | nil,
          prints: [String.t()] | nil,
          tool_calls: [map()] | nil,
          pmap_calls: [map()] | nil,
          catalog_ops: [map()] | nil,
          child_traces: [term()] | nil,
          child_steps: [t()] | nil,
          messages: [map()] | nil,
          prompt: String.t() | nil,
          original_prompt: String.t() | nil,
          tools: map() | nil,
          prelude_trace: term(),
          summaries: map() | nil,
          tool_cache: map()
        }

  @doc """
  A run that has a result.

      iex> step = PtcRunner.Step.ok(5, %{"seen" => true})
      iex> {step.return, step.memory, step.fail, step.tool_calls}
      {5, %{"seen" => true}, nil, []}

  """
  @spec ok(term(), map()) :: t()
  def ok(return, memory), do: %{empty() | return: return, memory: memory}

  @doc """
  A run that has none. Options: `:journal` and `:tool_cache`, kept as they are.

      iex> PtcRunner.Step.error(:timeout, "took too long", %{}).fail
      %{reason: :timeout, message: "took too long", details: %{}}

  """
  @spec error(term(), term(), map(), map(), keyword()) :: t()
  def error(reason, message, memory, details \\ %{}, opts \\ []) do
    Options.check_close!(opts, %{journal: :any, tool_cache: :any}, "PtcRunner.Step.error/5")

    %{
      empty()
      | fail: %{reason: reason, message: message, details: details},
        memory: memory,
        journal: opts[:journal],
        tool_cache: Keyword.get(opts, :tool_cache, %{})
    }
  end

  defp empty do
    %__MODULE__{
      prints: [],
      tool_calls: [],
      pmap_calls: [],
      catalog_ops: [],
      child_traces: [],
      child_steps: []
    }
  end

  # Beside `ptc_runner` the struct is that package's, of any release, so each field may be missing.
  defimpl Inspect do
    alias PtcRunner.Shown.Brief

    def inspect(step, _opts) do
      parts = [
        outcome(step),
        Brief.count(number(step, :turns), "turn"),
        Brief.count(number(step, :tool_calls), "tool call")
      ]

      "#PtcRunner.Step<#{Enum.join(parts, ", ")}>"
    end

    # The compiler would warn of the name of a field that the struct of an old release does not have.
    defp number(step, field), do: length(Map.get(step, field) || [])

    defp outcome(%{fail: %{reason: reason} = fail}),
      do: "fail: #{Brief.value(reason)} #{Brief.value(Map.get(fail, :message))}"

    defp outcome(step), do: "return: " <> Brief.value(Map.get(step, :return))
  end
end
