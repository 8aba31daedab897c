defmodule PtcRunner.Test.Oracle.Tools do
  @moduledoc false
  # Tools: the check of the registry before a run, and one call.

  import PtcRunner.Test.Oracle.Fail, only: [fail: 1, name: 1, shown: 1]
  alias PtcRunner.Test.Oracle.Suggestion

  @doc "All tools must be functions of arity 1."
  @spec check(map()) :: :ok
  def check(tools) do
    case for {name, tool} <- tools, not is_function(tool, 1), do: to_string(name) do
      [] -> :ok
      names -> fail("Tools must be functions with arity 1. Invalid: #{Enum.join(names, ", ")}")
    end
  end

  @typedoc "What a tool has answered, or the error that it has made."
  @type outcome :: {:answered, term()} | {:failed, String.t()}

  @doc "Calls a tool with its arguments. The failure of a tool can be caught; that there is none cannot."
  @spec call(map(), term(), term()) :: outcome()
  def call(tools, name, args) do
    case tools do
      %{^name => tool} -> tool |> outcome(args) |> answer(name)
      _ when is_binary(name) -> fail("Tool '#{name(name)}' not found" <> similar(name, tools))
      _ -> fail("Tool '#{shown(name)}' not found")
    end
  end

  @doc "The answer; a failure ends the program."
  @spec value!(outcome()) :: term()
  def value!({:answered, value}), do: value
  def value!({:failed, text}), do: fail(text)

  defp similar(name, tools) do
    case for known <- Map.keys(tools), is_binary(known), do: known do
      [] -> ""
      known -> Suggestion.text(name, known)
    end
  end

  defp outcome(tool, args) do
    {:returned, tool.(args)}
  rescue
    exception -> {:raised, Exception.message(exception)}
  catch
    :throw, thrown -> {:threw, shown(thrown)}
    :exit, reason -> {:exited, shown(reason)}
  end

  defp answer({:returned, {:error, reason}}, name),
    do: {:failed, "Tool '#{name(name)}' error: #{shown(reason)}"}

  defp answer({:returned, value}, _name), do: {:answered, value}
  defp answer({how, text}, name), do: {:failed, "Tool '#{name(name)}' #{how}: #{text}"}
end
