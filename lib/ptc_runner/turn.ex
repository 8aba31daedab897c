defmodule PtcRunner.Turn do
  @moduledoc """
  One turn of an agent: what the LLM answered, and what became of it.

      iex> PtcRunner.Turn.success(1, "{}", nil, %{}).success?
      true

  """

  defstruct [
    :number,
    :raw_response,
    :program,
    :result,
    :prints,
    :tool_calls,
    :memory,
    :success?,
    :messages,
    :system_prompt,
    :prelude_trace,
    type: :normal
  ]

  @typedoc "A turn. `number` counts from 1; a failed turn's `result` is `%{error: reason}`."
  @type t :: %__MODULE__{
          number: integer() | nil,
          raw_response: term(),
          program: String.t() | nil,
          result: term(),
          prints: [String.t()] | nil,
          tool_calls: [map()] | nil,
          memory: map() | nil,
          success?: boolean() | nil,
          messages: [map()] | nil,
          system_prompt: String.t() | nil,
          prelude_trace: term(),
          type: atom()
        }

  @doc """
  A turn that went well. `params` may have `:prints`, `:tool_calls`, `:memory`, `:messages`,
  `:system_prompt`, `:prelude_trace` and `:type`.

      iex> turn = PtcRunner.Turn.success(2, "raw", nil, 30, %{memory: %{x: 10}})
      iex> {turn.result, turn.memory, turn.prints}
      {30, %{x: 10}, []}

  """
  @spec success(integer(), term(), String.t() | nil, term(), map()) :: t()
  def success(number, raw_response, program, result, params \\ %{}),
    do: build(number, raw_response, program, result, params, true)

  @doc """
  A turn that did not. Takes what `success/5` takes.

      iex> PtcRunner.Turn.failure(1, "raw", nil, %{error: "no JSON"}).success?
      false

  """
  @spec failure(integer(), term(), String.t() | nil, term(), map()) :: t()
  def failure(number, raw_response, program, result, params \\ %{}),
    do: build(number, raw_response, program, result, params, false)

  defp build(number, raw_response, program, result, params, success?) do
    %__MODULE__{
      number: number,
      raw_response: raw_response,
      program: program,
      result: result,
      prints: Map.get(params, :prints, []),
      tool_calls: Map.get(params, :tool_calls, []),
      memory: Map.get(params, :memory, %{}),
      success?: success?,
      messages: Map.get(params, :messages),
      system_prompt: Map.get(params, :system_prompt),
      prelude_trace: Map.get(params, :prelude_trace),
      type: Map.get(params, :type, :normal)
    }
  end
end
