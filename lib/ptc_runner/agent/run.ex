defmodule PtcRunner.Agent.Run do
  @moduledoc false
  # Runs one program with validated tool calls and a validated result.

  alias PtcRunner.Agent.{Calls, Describe, Feedback, Tool}
  alias PtcRunner.Json
  alias PtcRunner.Json.{Message, Values}
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.Annotations

  # The options of the run itself.
  @own [:returns, :enums, :descriptions]

  @type info :: %{
          memory: map(),
          delta: map(),
          tool_calls: [Calls.call()],
          warnings: [String.t()]
        }

  @type result ::
          {:ok, term(), info()} | {:error, Json.error() | {:invalid_result, [map()]}, String.t()}

  @doc "See `PtcRunner.Agent.run/3`; the options are already validated."
  @spec run(Json.program(), [Tool.t()], keyword()) :: result()
  def run(program, tools, opts) do
    warnings = Tool.warnings(tools)

    case noted(program, tools, opts) do
      {:ok, value, info} -> {:ok, value, %{info | warnings: warnings ++ info.warnings}}
      {:error, error, feedback, _info} -> {:error, error, feedback}
    end
  end

  @doc "The same; an error includes the record of what happened before it."
  @spec noted(Json.program(), [Tool.t()], keyword()) ::
          {:ok, term(), info()} | {:error, term(), String.t(), info()}
  def noted(program, tools, opts) do
    string_keys!(opts)
    given = opts |> Keyword.drop(@own) |> Keyword.replace_lazy(:context, &named/1) |> read()

    {result, calls} = Calls.noted(tools, &Json.outcome(program, [{:tools, &1} | given]))
    memory = Keyword.get(opts, :memory, %{})
    info = %{memory: memory, delta: %{}, tool_calls: calls, warnings: warnings(calls)}

    case result do
      {:ok, value, delta, memory} -> judged(value, opts, %{info | delta: delta, memory: memory})
      {:error, fault} -> {:error, Message.error(fault), Feedback.run(fault, tools), info}
    end
  end

  defp warnings(calls),
    do: for(call <- calls, warning <- call.warnings, do: "#{call.name}: #{warning}")

  @doc """
  The options with those that say how programs read data: ordinary Elixir data has atom keys, structs and dates.

      iex> PtcRunner.Agent.Run.read(timeout: 50)
      [structs: :values, keys: :any, timeout: 50]

  """
  @spec read(keyword()) :: keyword()
  def read(opts), do: [{:structs, :values} | Keyword.put_new(opts, :keys, :any)]

  # Names of data may be atoms, because there are few of them.
  defp named(%_struct{} = context), do: context |> Values.fields() |> named()
  defp named(context), do: Map.new(context, fn {name, value} -> {to_string(name), value} end)

  # With `keys: :strings`, atom keys inside the data are refused: programs would not find them, and would not
  # report it.
  defp string_keys!(opts) do
    context = Keyword.get(opts, :context, %{})

    with :strings <- Keyword.get(opts, :keys),
         path when path != nil <- Describe.atom_key(named(context)) do
      raise ArgumentError,
            "programs find string keys, and #{path} is an atom. Give data with string keys, or keys: :any"
    end
  end

  @doc "Validates the value of a run."
  @spec judged(term(), keyword(), info()) ::
          {:ok, term(), info()} | {:error, term(), String.t(), info()}
  def judged(value, opts, info) do
    with [_ | _] = errors <- errors(value, opts),
         {:error, _no_structs} <- read(value, opts) do
      {:error, {:invalid_result, errors}, Feedback.result(errors, value), info}
    else
      [] -> {:ok, value, info}
      {:ok, plain} -> {:ok, plain, info}
    end
  end

  # A signature does not know structs, and programs read them as maps of their fields.
  defp read(value, opts) do
    plain = Values.plain(value)
    if plain != value and errors(plain, opts) == [], do: {:ok, plain}, else: {:error, value}
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
