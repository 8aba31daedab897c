defmodule PtcRunner.Json.Run.Rounds.Requested do
  @moduledoc false
  # What becomes of what a round asks for while it is driven: an answer at once, or the round waits.

  alias PtcRunner.Json.Run
  alias PtcRunner.Json.Run.Reply
  alias PtcRunner.Json.Run.Rounds.{Asking, Driven, Loop, Worker}
  require Reply

  @doc "What the round that is driven asks for: see `PtcRunner.Json.Run.Driver`."
  @spec request(Reply.t(), Run.t()) :: tuple()
  def request(Reply.ask() = ask, %Run{strategy: rounds} = run) do
    {how, what, rounds} = Worker.asked(ask, rounds, rounds.round)
    {how, what, %{run | strategy: rounds}}
  end

  def request(call, %Run{strategy: %{workers: %_{}, round: round} = rounds} = run) do
    {call, rounds} = Worker.call(call, rounds, round)

    case Asking.asked_for(call, rounds, round) do
      {:waits, rounds} ->
        {:ended, :waits, %{run | strategy: rounds}}

      {:resume, {:answer, value, words} = answer, rounds} ->
        rounds = Worker.answered({:ok, value, words}, call, rounds, round)
        {:resume, answer, %{run | strategy: rounds}}

      {:failed, failed, rounds} ->
        rounds = Worker.answered({:error, {:tool_failed, failed}}, call, rounds, round)

        case Worker.failed(call, rounds, failed) do
          {:error, _reason} = error -> {:ended, error, %{run | strategy: rounds}}
          reply -> {:resumed, reply, %{run | strategy: rounds}}
        end

      {{:error, _reason} = error, rounds} ->
        {:ended, error, %{run | strategy: rounds}}
    end
  end

  def request(call, %Run{strategy: %{round: round} = rounds} = run) do
    case Asking.asked_for(call, rounds, round) do
      {:waits, rounds} ->
        {:ended, :waits, %{run | strategy: rounds}}

      {:resume, {:answer, value, words}, rounds} when elem(call, 0) == :last ->
        {result, rounds} = Loop.last(rounds, call, value, words, rounds.run.max_heap)
        {:ended, result, %{run | strategy: rounds}}

      {:resume, answer, rounds} ->
        {:resume, answer, %{run | strategy: rounds}}

      {:failed, text, rounds} when elem(call, 0) == :last ->
        {:ended, {:error, {:tool_failed, text}}, %{run | strategy: rounds}}

      {:failed, text, rounds} ->
        {:failed, :failed, text, %{run | strategy: rounds}}

      {:unanswered, rounds} ->
        run = %{run | strategy: rounds}
        reply = Driven.unanswered(call)
        if reply == :uncaught, do: {:ended, :waits, run}, else: {:resumed, reply, run}

      {{:error, _reason}, _rounds} = failed ->
        {:ended, :waits, %{run | strategy: Driven.resumed(failed, call, round)}}
    end
  end
end
