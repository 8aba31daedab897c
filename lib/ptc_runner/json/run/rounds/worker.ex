defmodule PtcRunner.Json.Run.Rounds.Worker do
  @moduledoc false
  # What rounds of another language do otherwise than those of PTC-JSON: see `PtcRunner.Lisp.Workers`. Without workers, these functions
  # change nothing.

  alias PtcRunner.Json.Run.{Controlled, Driver, Reply, Rounds}
  require Reply

  @typedoc "What a call was answered."
  @type result :: {:ok, term(), non_neg_integer()} | {:error, term()}

  @doc "Answers what a round asks for, which is no call."
  @spec asked(Reply.t(), Rounds.t(), non_neg_integer()) ::
          {:resume, Driver.answer(), Rounds.t()} | {:ended, term(), Rounds.t()}
  def asked(ask, %{workers: %module{} = workers} = rounds, round) do
    {how, what, workers} = module.asked(ask, workers, round)
    {how, what, %{rounds | workers: workers}}
  end

  @doc "The call of a round as its tool gets it."
  @spec call(Reply.t(), Rounds.t(), non_neg_integer()) :: {Reply.t(), Rounds.t()}
  def call(call, %{workers: nil} = rounds, _round), do: {call, rounds}

  def call(call, %{workers: %module{} = workers} = rounds, round) do
    {call, workers} = module.call(call, workers, round)
    {call, %{rounds | workers: workers}}
  end

  @doc "What a tool has answered: its value, or its error."
  @spec told_apart(result(), Rounds.t()) :: result()
  def told_apart(result, %{workers: nil}), do: result
  def told_apart(result, rounds), do: strategy(rounds).told_apart(result)

  @doc "The error of a tool that took longer than it may."
  @spec late(Rounds.t(), String.t(), timeout()) :: {:tool_failed, term()}
  def late(%{workers: nil}, name, timeout), do: Controlled.tool_late(name, timeout)
  def late(rounds, name, timeout), do: strategy(rounds).tool_late(name, timeout)

  defp strategy(%{workers: %{run: %{strategy: %module{}}}}), do: module

  @doc "Keeps what the tool of a call has answered."
  @spec made(result(), Reply.t(), Rounds.t(), non_neg_integer()) :: Rounds.t()
  def made(result, call, rounds, round), do: noted(result, call, rounds, round, false)

  @doc "Keeps what a journal or the cache has answered."
  @spec answered(result(), Reply.t(), Rounds.t(), non_neg_integer()) :: Rounds.t()
  def answered(result, call, rounds, round),
    do: noted(result, call, rounds, round, cached?(rounds, round))

  defp noted(_result, _call, %{workers: nil} = rounds, _round, _cached?), do: rounds

  defp noted(result, call, %{workers: %module{} = workers} = rounds, round, cached?),
    do: %{rounds | workers: module.noted(result, call, workers, round, cached?)}

  # A journal says it of its answers.
  defp cached?(%{control: nil}, _round), do: false

  defp cached?(%{control: control} = rounds, round) do
    id = {rounds.id, round, Map.get(rounds.calls, round, 0)}

    case control.entries do
      [{^id, _name, _args, {:cached, _outcome}} | _] -> true
      [{^id, _name, _args, _outcome} | _] -> false
      _others -> true
    end
  end

  @doc "Goes on with a round whose tool has failed, or returns the error that the round ends with."
  @spec failed(Reply.t(), Rounds.t(), term()) :: Reply.t() | {:error, term()}
  def failed(call, %{workers: nil}, text) do
    with :uncaught <- Driver.failed(call, :failed, text), do: {:error, {:tool_failed, text}}
  end

  def failed(Reply.call(tool: name) = call, %{workers: %module{}}, failed) do
    with {:uncaught, at} <- module.failed(call, failed),
         do: {:error, {:at, at, {:tool_failed, name, failed}}}
  end
end
