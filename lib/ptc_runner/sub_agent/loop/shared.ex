defmodule PtcRunner.SubAgent.Loop.Shared do
  @moduledoc """
  Functions that all kinds of agent runs share.
  """

  alias PtcRunner.Json.Codec

  @doc """
  Adds to a usage whether there was a schema, and its size as JSON in bytes.

      iex> PtcRunner.SubAgent.Loop.Shared.add_schema_metrics(%{}, %{"type" => "object"})
      %{schema_used: true, schema_bytes: 17}

      iex> PtcRunner.SubAgent.Loop.Shared.add_schema_metrics(%{turns: 1}, nil)
      %{turns: 1, schema_used: false}

  """
  @spec add_schema_metrics(map(), term()) :: map()
  def add_schema_metrics(usage, schema) when is_map(schema),
    do: Map.merge(usage, %{schema_used: true, schema_bytes: byte_size(Codec.encode!(schema))})

  def add_schema_metrics(usage, _schema), do: Map.put(usage, :schema_used, false)

  @doc """
  The messages of a run, the system prompt first; `nil` if the state disables collecting them.

      iex> state = %{collect_messages: true, current_system_prompt: "Answer in JSON."}
      iex> PtcRunner.SubAgent.Loop.Shared.build_collected_messages(state, [])
      [%{role: :system, content: "Answer in JSON."}]

  """
  @spec build_collected_messages(map(), [map()]) :: [map()] | nil
  def build_collected_messages(%{collect_messages: false}, _messages), do: nil

  def build_collected_messages(%{collect_messages: true} = state, messages) do
    prompt = Map.get(state, :current_system_prompt) || ""
    [%{role: :system, content: prompt} | messages]
  end
end
