defmodule PtcRunner.Agent.Calls do
  @moduledoc false
  # Wraps tools for a run: functions that coerce and validate their arguments, validate the tool's
  # result, and record the call. Tools run in a separate process, so calls are recorded in a table that
  # belongs to the caller and is deleted with it.

  alias PtcRunner.Agent.{Tool, ToolError}
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.Json.Values
  alias PtcRunner.SubAgent.Signature.{Annotations, ErrorText, ToolCall}

  # Maximum number of bytes of a result that are kept.
  @shown 256

  @typedoc "A call: `result` is the beginning of the result as `inspect/1` shows it, or the error's text."
  @type call :: %{
          name: String.t(),
          args: map(),
          result: String.t() | nil,
          warnings: [String.t()],
          ok?: boolean()
        }

  @doc "Calls `fun` with the tools' functions; returns its result and the calls in their order."
  @spec noted([Tool.t()], (%{String.t() => (map() -> term())} -> result)) :: {result, [call()]}
        when result: term()
  def noted([], fun), do: {fun.(%{}), []}

  def noted(tools, fun) do
    table = :ets.new(:calls, [:ordered_set, :public])

    try do
      result = fun.(Map.new(tools, &{&1.name, fn args -> call(&1, args, table) end}))
      {result, for({_key, call} <- :ets.tab2list(table), do: call)}
    after
      :ets.delete(table)
    end
  end

  # A call that raises has no result.
  defp call(tool, args, table) do
    key = :erlang.unique_integer([:monotonic])
    call = %{name: tool.name, args: args, result: nil, warnings: [], ok?: false}
    note(table, key, call)

    case answer(tool, args) do
      {:ok, value, warnings} ->
        note(table, key, %{
          call
          | result: Shown.text(value, @shown),
            warnings: warnings,
            ok?: true
        })

        value

      {:error, text} ->
        error = ToolError.new(text)
        note(table, key, %{call | result: error.text})
        {:error, error}
    end
  end

  # The table is deleted if the run ended before its tool.
  defp note(table, key, call) do
    :ets.insert(table, {key, call})
  rescue
    ArgumentError -> false
  end

  defp answer(%Tool{signature: nil, fun: fun}, args) do
    case unwrapped(fun.(args)) do
      {:error, reason} -> {:error, reason}
      value -> {:ok, value, []}
    end
  end

  defp answer(%Tool{signature: signature} = tool, args) do
    # A signature does not know structs, and programs read them as maps of their fields.
    case ToolCall.call(signature, args, &checked(tool, &1), :enabled, &Values.plain/1) do
      {:ok, value, warnings} ->
        {:ok, value, warnings}

      {:error, {:tool_error, {:not_allowed, errors}}} ->
        {:error, wrong_arguments(tool, ErrorText.text(errors, args, []))}

      {:error, {:tool_error, reason}} ->
        {:error, reason}

      {:error, {:invalid_input, _errors, message}} ->
        {:error, wrong_arguments(tool, message)}

      {:error, {:invalid_output, _errors, message}} ->
        {:error, "its result is not what its signature says. " <> message}
    end
  end

  defp wrong_arguments(tool, message),
    do: "#{message}\nIt is #{tool.name}#{Signature.render(tool.signature)}"

  defp checked(%Tool{notes: nil, fun: fun}, args), do: unwrapped(fun.(args))

  defp checked(%Tool{notes: notes, fun: fun, signature: {:signature, params, _}}, args) do
    case Annotations.errors(args, {:map, params}, notes.enums) do
      [] -> unwrapped(fun.(args))
      errors -> {:error, {:not_allowed, errors}}
    end
  end

  # Programs have no tuples.
  defp unwrapped({:ok, value}), do: value
  defp unwrapped(other), do: other
end
