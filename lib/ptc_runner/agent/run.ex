defmodule PtcRunner.Agent.Run do
  @moduledoc false
  # Runs one program with validated tool calls and a validated result.

  alias PtcRunner.Agent.{Calls, Describe, Feedback, Tool}
  alias PtcRunner.Json
  alias PtcRunner.Json.Explain.Noticed
  alias PtcRunner.Json.Message
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.Annotations

  # The options of the run itself.
  @own [:returns, :enums, :descriptions, :findings]

  @type info :: %{
          memory: map(),
          delta: map(),
          tool_calls: [Calls.call()],
          findings: [Noticed.finding()],
          warnings: [String.t()]
        }

  @type result ::
          {:ok, term(), info()} | {:error, Json.error() | {:invalid_result, [map()]}, String.t()}

  @doc "See `PtcRunner.Agent.run/3`; the options are already validated."
  @spec run(Json.program(), [Tool.t()], keyword()) :: result()
  def run(program, tools, opts) do
    case noted(program, tools, opts) do
      {:ok, value, info} -> {:ok, value, Map.delete(info, :findings)}
      {:error, error, feedback, _info} -> {:error, error, feedback}
    end
  end

  @doc "The same; an error includes the record of what happened before it."
  @spec noted(Json.program(), [Tool.t()], keyword()) ::
          {:ok, term(), info()} | {:error, term(), String.t(), info()}
  def noted(program, tools, opts) do
    string_keys!(opts)
    given = opts |> Keyword.drop(@own) |> Keyword.replace_lazy(:context, &named/1)

    given = strict(given, program)
    findings? = Keyword.get(opts, :findings, :ignore) == :feedback
    {result, calls} = Calls.noted(tools, &ran(program, [{:tools, &1} | given], findings?))

    info = %{
      memory: Keyword.get(opts, :memory, %{}),
      delta: %{},
      tool_calls: calls,
      findings: [],
      warnings: warnings(calls)
    }

    case result do
      {:ok, value, findings} ->
        {:ok, value, delta, memory} = Json.contract(value, info.memory)
        judged(value, opts, %{info | delta: delta, memory: memory, findings: findings})

      {:error, fault} ->
        {:error, Message.error(fault), Feedback.run(fault, tools), info}
    end
  end

  # A compiled program keeps the strictness that it was compiled with.
  defp strict(given, %Json.Program{}), do: given
  defp strict(given, _source), do: Keyword.put_new(given, :strict, true)

  # The run itself is observed: its tools are called once.
  defp ran(program, given, true) do
    with {:ok, {value, findings}} <- Json.value(program, given, &Noticed.run/6),
         do: {:ok, value, findings}
  end

  defp ran(program, given, false),
    do: with({:ok, value} <- Json.value(program, given), do: {:ok, value, []})

  defp warnings(calls),
    do: for(call <- calls, warning <- call.warnings, do: "#{call.name}: #{warning}")

  # Names of data may be atoms, because there are few of them.
  defp named(context), do: Map.new(context, fn {name, value} -> {to_string(name), value} end)

  # Atom keys inside the data are refused: programs would not find them, and would not report it.
  defp string_keys!(opts) do
    context = Keyword.get(opts, :context, %{})

    with false <- Keyword.get(opts, :keys) == :any,
         path when path != nil <- Describe.atom_key(named(context)) do
      raise ArgumentError,
            "programs find string keys, and #{path} is an atom. Give data with string keys, or keys: :any"
    end
  end

  @doc "Validates the value of a run."
  @spec judged(term(), keyword(), info()) ::
          {:ok, term(), info()} | {:error, term(), String.t(), info()}
  def judged(value, opts, info) do
    case errors(value, opts) do
      [] -> {:ok, value, info}
      errors -> {:error, {:invalid_result, errors}, Feedback.result(errors, value), info}
    end
  end

  defp errors(value, opts) do
    with {:signature, _params, type} = signature <- Keyword.get(opts, :returns),
         :ok <- Signature.validate(signature, value) do
      Annotations.errors(value, type, Annotations.of!(opts, type).enums)
    else
      nil -> []
      {:error, errors} -> errors
    end
  end
end
