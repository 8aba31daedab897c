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

  @doc "Calls a tool with its literal arguments."
  @spec call(map(), term(), term()) :: term()
  def call(tools, name, args) do
    case tools do
      %{^name => tool} -> tool |> outcome(args) |> value(name)
      _ when is_binary(name) -> fail("Tool '#{name(name)}' not found" <> similar(name, tools))
      _ -> fail("Tool '#{shown(name)}' not found")
    end
  end

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

  defp value({:returned, {:error, reason}}, name) do
    fail("Tool '#{name(name)}' error: #{shown(reason)}")
  end

  defp value({:returned, value}, _name), do: value
  defp value({how, text}, name), do: fail("Tool '#{name(name)}' #{how}: #{text}")
end
