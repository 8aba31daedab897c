defmodule PtcRunner.SubAgent.Loop.JsonHandler.Repaired do
  @moduledoc false
  # Reads an invalid answer with repairs, if the caller requests them.

  alias PtcRunner.SubAgent.{JsonParser, JsonRepair, KeyNormalizer}
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.JsonRepair.Names
  alias PtcRunner.SubAgent.Loop.JsonHandler.Answer

  @doc false
  # Returns `{:repaired, value, repairs}`, or the errors: unchanged, or those of the value if only the
  # syntax could be repaired.
  @spec instead(Answer.outcome(), String.t(), map(), keyword()) ::
          Answer.outcome()
          | {:error, JsonParser.truncated()}
          | {:repaired, map() | list(), [JsonRepair.repair()]}
  def instead(wrong, content, agent, opts) do
    if Keyword.get(opts, :repair, false) and not limit?(wrong),
      do: read(wrong, content, agent, opts),
      else: wrong
  end

  @doc false
  # The same for a valid answer in which an optional field has another spelling: it would be lost.
  @spec respelled({:ok, map() | list()}, String.t(), map(), keyword()) ::
          {:ok, map() | list()} | {:repaired, map() | list(), [JsonRepair.repair()]}
  def respelled({:ok, value} = right, content, agent, opts) do
    with true <- Keyword.get(opts, :repair, false),
         true <- lost?(value, agent) do
      typed(right, content, agent, opts)
    else
      _as_declared -> right
    end
  end

  defp lost?(value, %{parsed_signature: {:signature, _params, type}}),
    do: Names.optional?(type) and match?({_value, [_ | _]}, Names.renamed(value, type))

  defp lost?(_value, _agent), do: false

  # An answer that met a limit is not read again.
  defp limit?(wrong), do: wrong in [error: :timeout, error: :memory_exceeded]

  # Dates, keys that become equal, and invalid signatures: a value was found and may be valid.
  defp read({found, value} = wrong, content, agent, opts) when found in [:map, :list] do
    case judge(value, agent) do
      {:ok, _value} -> if lost?(value, agent), do: typed(wrong, content, agent, opts), else: wrong
      {:error, _errors} -> typed(wrong, content, agent, opts)
    end
  end

  defp read(wrong, content, agent, opts), do: typed(wrong, content, agent, opts)

  defp typed(wrong, content, %{parsed_signature: signature} = agent, opts) do
    with {:undecided, value, repairs} <-
           JsonRepair.answer(content, type(signature), list?(signature), opts),
         {:ok, value} <- judge(value, agent) do
      {:repaired, value, repairs}
    else
      {:ok, value, repairs} -> {:repaired, value, repairs}
      # A value that was found in the text is judged as it is.
      {:error, {:truncated, _place}} = cut when elem(wrong, 0) == :error -> cut
      {:error, limit} when limit in [:timeout, :memory_exceeded] -> wrong
      {:error, _errors} -> syntax(wrong, content, agent, opts)
    end
  end

  defp typed(wrong, _content, _agent, _opts), do: wrong

  # If only the syntax can be repaired, the LLM receives the errors of the value.
  defp syntax({:error, _reason} = wrong, content, %{parsed_signature: signature} = agent, opts) do
    with {:error, _reason} <- JsonParser.locate(content, opts),
         {:ok, value, _repairs} <- JsonRepair.answer(content, nil, list?(signature), opts),
         {:error, errors} when is_list(errors) <- judge(value, agent) do
      {:invalid, {errors, 0}, JsonHandler.format_validation_errors(errors)}
    else
      {:error, {:truncated, _place}} = cut -> cut
      _right_or_none -> wrong
    end
  end

  defp syntax(wrong, _content, _agent, _opts), do: wrong

  defp type(nil), do: nil
  defp type({:signature, _params, type}), do: type

  defp list?(signature), do: JsonHandler.signature_expects_list?(signature)

  defp judge(value, agent) do
    atomized =
      if is_list(value),
        do: JsonHandler.atomize_list(value, agent.parsed_signature),
        else: JsonHandler.atomize_keys(value, agent.parsed_signature)

    with :ok <- JsonHandler.validate_return(agent, atomized),
         do: {:ok, KeyNormalizer.normalize_keys(atomized)}
  end

  @doc false
  # The outcome of a turn with its repairs in the step.
  def note({:stop, {:ok, step}, turn, tokens}, repairs) do
    usage = if repairs == [], do: step.usage, else: Map.put(step.usage, :repairs, repairs)
    {:stop, {:ok, %{step | usage: usage}}, turn, tokens}
  end
end
