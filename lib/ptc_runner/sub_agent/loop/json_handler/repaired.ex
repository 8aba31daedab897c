defmodule PtcRunner.SubAgent.Loop.JsonHandler.Repaired do
  @moduledoc false
  # Reads an invalid answer with repairs, if the caller requests them.

  alias PtcRunner.Json.Limits
  alias PtcRunner.SubAgent.JsonRepair
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.JsonRepair.Names
  alias PtcRunner.SubAgent.Loop.JsonHandler.Answer

  @doc false
  # Returns `{:repaired, value, repairs}`, or the outcome: unchanged, or with the errors of the value if only the
  # syntax could be repaired. A valid answer is repaired if an optional field has another spelling: it would be lost.
  @spec instead(Answer.outcome(), String.t(), map(), keyword(), integer()) ::
          Answer.outcome()
          | {:truncated, String.t()}
          | {:repaired, map() | list(), [JsonRepair.repair()]}
  def instead(outcome, content, agent, opts, began) do
    if Keyword.get(opts, :repair, false) and repairable?(outcome, agent),
      do: repaired(outcome, content, agent.parsed_signature, Limits.shared(opts, began)),
      else: outcome
  end

  defp repairable?({:ok, value, _found}, %{parsed_signature: {:signature, _params, type}}),
    do: Names.optional?(type) and match?({_value, [_ | _]}, Names.renamed(value, type))

  defp repairable?({:ok, _value, _found}, _agent), do: false
  # An answer that met a limit is not read again.
  defp repairable?({:error, limit, _}, _agent) when limit in [:timeout, :memory_exceeded],
    do: false

  defp repairable?(_outcome, agent), do: is_map_key(agent, :parsed_signature)

  defp repaired(outcome, content, signature, opts) do
    case {read(content, signature, opts), outcome} do
      {{:ok, value, repairs}, _outcome} -> {:repaired, value, repairs}
      {{:error, limit}, _outcome} when limit in [:timeout, :memory_exceeded] -> outcome
      {{:error, {:truncated, place}}, {:error, _, _}} -> {:truncated, place.message}
      {_refused, {:error, _reason, {:place, _}}} -> syntax(outcome, content, signature, opts)
      {_refused, _found} -> outcome
    end
  end

  # If only the syntax can be repaired, the LLM receives the errors of the value.
  defp syntax({:error, _reason, found} = outcome, content, signature, opts) do
    with {:ok, value, _repairs} <- JsonRepair.answer(content, nil, list?(signature), opts),
         {:error, errors} when is_list(errors) <- Answer.judged(value, signature) do
      {:invalid, {errors, 0}, nil, found}
    else
      {:error, {:truncated, place}} -> {:truncated, place.message}
      _right_or_none -> outcome
    end
  end

  defp read(content, signature, opts) do
    type = if signature, do: elem(signature, 2)

    with {:undecided, value, repairs} <-
           JsonRepair.answer(content, type, list?(signature), opts),
         {:ok, value} <- Answer.judged(value, signature),
         do: {:ok, value, repairs}
  end

  defp list?(signature), do: JsonHandler.signature_expects_list?(signature)

  @doc false
  # The outcome of a turn with its repairs in the step.
  def note({:stop, {:ok, step}, turn, tokens}, repairs) do
    usage = if repairs == [], do: step.usage, else: Map.put(step.usage, :repairs, repairs)
    {:stop, {:ok, %{step | usage: usage}}, turn, tokens}
  end
end
