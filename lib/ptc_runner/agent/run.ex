defmodule PtcRunner.Agent.Run do
  @moduledoc false
  # One program, with tools that are checked and a result that is checked.

  alias PtcRunner.Agent.{Calls, Describe, Feedback, Tool}
  alias PtcRunner.Json
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.Annotations

  # What belongs to the run itself.
  @own [:returns, :enums, :descriptions]

  @type info :: %{
          memory: map(),
          delta: map(),
          tool_calls: [Calls.call()],
          warnings: [String.t()]
        }

  @type result ::
          {:ok, term(), info()} | {:error, Json.error() | {:invalid_result, [map()]}, String.t()}

  @doc "See `PtcRunner.Agent.run/3`; the options were checked."
  @spec run(Json.program(), [Tool.t()], keyword()) :: result()
  def run(program, tools, opts) do
    with {:error, error, feedback, _info} <- noted(program, tools, opts),
         do: {:error, error, feedback}
  end

  @doc "The same; an error comes with what happened until then."
  @spec noted(Json.program(), [Tool.t()], keyword()) ::
          {:ok, term(), info()} | {:error, term(), String.t(), info()}
  def noted(program, tools, opts) do
    string_keys!(opts)
    given = opts |> Keyword.drop(@own) |> Keyword.replace_lazy(:context, &named/1)

    {result, calls} = Calls.noted(tools, &Json.run(program, [{:tools, &1} | given]))
    memory = Keyword.get(opts, :memory, %{})
    info = %{memory: memory, delta: %{}, tool_calls: calls, warnings: warnings(calls)}

    case result do
      {:ok, value, delta, memory} -> judged(value, opts, %{info | delta: delta, memory: memory})
      {:error, error} -> {:error, error, Feedback.run(error, tools), info}
    end
  end

  defp warnings(calls),
    do: for(call <- calls, warning <- call.warnings, do: "#{call.name}: #{warning}")

  # The names of the data may be atoms: there are few of them.
  defp named(context), do: Map.new(context, fn {name, value} -> {to_string(name), value} end)

  # Inside the data they may not: programs would find nothing and say nothing.
  defp string_keys!(opts) do
    context = Keyword.get(opts, :context, %{})

    with false <- Keyword.get(opts, :keys) == :any,
         path when path != nil <- Describe.atom_key(named(context)) do
      raise ArgumentError,
            "programs find string keys, and #{path} is an atom. Give data with string keys, or keys: :any"
    end
  end

  @doc "The end of a run that has a value: whether it is what was asked for."
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
