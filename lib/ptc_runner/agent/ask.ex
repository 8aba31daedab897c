defmodule PtcRunner.Agent.Ask do
  @moduledoc false
  # Asks the model function. Whatever it does, the loop goes on to its end, with the calls that were made before.

  alias PtcRunner.Sandbox.Guarded

  @doc """
  The reply of the model function to these messages, or `{:error, text}` if it raises, throws or exits, or does not
  answer within `timeout` milliseconds.

  With a timeout it runs in a process of its own, which is killed then, and when the caller ends.

      iex> PtcRunner.Agent.Ask.reply(fn _messages -> raise "no network" end, [], :infinity)
      {:error, "the model function raised: no network"}

      iex> PtcRunner.Agent.Ask.reply(fn _messages -> Process.sleep(:infinity) end, [], 10)
      {:error, "the model function did not answer within 10 ms"}

  """
  @spec reply(([map()] -> term()), [map()], timeout()) :: term()
  def reply(ask, messages, :infinity) do
    ask.(messages)
  catch
    kind, reason -> {:error, failed(kind, reason, __STACKTRACE__)}
  end

  def reply(ask, messages, timeout) do
    case Guarded.call(0, timeout, &reply(ask, &1, :infinity), messages) do
      {:ok, reply} -> reply
      {:exit, reason} -> {:error, failed(:exit, reason, [])}
      :timeout -> {:error, "the model function did not answer within #{timeout} ms"}
    end
  end

  defp failed(kind, reason, trace),
    do: "the model function " <> Guarded.failure(kind, reason, trace)
end
