defmodule PtcRunner.Agent.Ask do
  @moduledoc false
  # Asks the model function. Whatever it does, the loop goes on to its end, with the calls that were made before.

  alias PtcRunner.Sandbox.Guarded
  require Guarded

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
    ref = :erlang.alias([:reply])
    {pid, monitor} = Guarded.start(0, ref, &__MODULE__.serve/1, {ref, ask, messages})

    Guarded.await do
      {^ref, reply} ->
        Guarded.leave(pid, monitor)
        reply

      {^ref, ^monitor, :process, _pid, reason} ->
        Guarded.forget(pid)
        {:error, failed(:exit, reason, [])}
    after
      timeout ->
        Guarded.stop(pid, monitor)
        Guarded.drop(ref)
        {:error, "the model function did not answer within #{timeout} ms"}
    end
  end

  @doc false
  def serve({reply_to, ask, messages}),
    do: send(reply_to, {reply_to, reply(ask, messages, :infinity)})

  # After the alias has ended, no further answer can arrive.

  defp failed(kind, reason, trace),
    do: "the model function " <> Guarded.failure(kind, reason, trace)
end
