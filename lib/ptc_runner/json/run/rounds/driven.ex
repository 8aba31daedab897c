defmodule PtcRunner.Json.Run.Rounds.Driven do
  @moduledoc false
  # One round of a loop is driven, as a run of its own, with what its call was answered, until it waits again or ends.
  #
  # A round whose call waits for a person goes on without the answer, as long as nothing reads it: the calls that follow wait with it, or are
  # made. Then its end, and an error of the native part, mean nothing.

  alias PtcRunner.Json.Run
  alias PtcRunner.Json.Run.{Driver, Reply, Rounds}
  alias PtcRunner.Json.Run.Rounds.{Asking, Gathered, Loop, Running, Worker}
  require Reply

  @typedoc "What a tool has answered."
  @type result :: {:ok, term(), non_neg_integer()} | {:error, term()}

  @doc "Drives a round from a reply on."
  @spec drive(Reply.t(), Rounds.t(), non_neg_integer()) :: Rounds.t()
  def drive(reply, rounds, round),
    do: reply |> Driver.drive(%Run{strategy: %{rounds | round: round}}) |> stepped()

  defp stepped({result, %Run{strategy: %{round: round} = rounds}}) do
    case result do
      :waits -> rounds
      {:error, {:tool_failed, _text} = reason} -> fail(rounds, round, reason)
      result -> if Asking.paused?(rounds, round), do: rounds, else: ended(result, rounds, round)
    end
  end

  defp ended(result, rounds, round) do
    case result do
      {:error, :deadline} ->
        fail(rounds, -1, :timeout)

      {:error, reason} ->
        fail(rounds, round, reason)

      {:ok, value, _words} ->
        Asking.oldest(%{rounds | values: Map.put(rounds.values, round, value)})
    end
  end

  @doc "Goes on with a round with what is known of its call: see `PtcRunner.Json.Run.Rounds.Asking`."
  @spec resumed(Asking.step(), Reply.t(), non_neg_integer()) :: Rounds.t()
  def resumed({:resume, {:answer, value, words}, rounds}, call, round) do
    rounds = Worker.answered({:ok, value, words}, call, rounds, round)
    with_answer(rounds, round, call, {:ok, value, words})
  end

  def resumed({:failed, text, rounds}, call, round) do
    rounds = Worker.answered({:error, {:tool_failed, text}}, call, rounds, round)
    with_answer(rounds, round, call, {:error, {:tool_failed, text}})
  end

  def resumed({:unanswered, rounds}, call, round) do
    case unanswered(call) do
      :uncaught -> rounds
      reply -> drive(reply, rounds, round)
    end
  end

  def resumed({{:error, :deadline}, rounds}, _call, _round), do: fail(rounds, -1, :timeout)
  def resumed({{:error, reason}, rounds}, _call, round), do: fail(rounds, round, reason)
  def resumed({:waits, rounds}, _call, _round), do: rounds

  @doc "The reply of what follows a call that waits for a person, as long as nothing reads its answer; `:uncaught` if nothing does follow."
  @spec unanswered(Reply.t()) :: Reply.t() | :uncaught
  def unanswered(Reply.call() = call), do: Driver.resume(call, {:unanswered, nil, 0})
  def unanswered(Reply.last()), do: :uncaught

  @doc "Goes on with a round whose tool has answered or failed."
  @spec with_answer(Rounds.t(), non_neg_integer(), Reply.t(), result()) :: Rounds.t()
  def with_answer(rounds, round, Reply.last() = call, result) do
    with {:ok, value, words} <- result,
         {{:ok, _value, _words} = result, rounds} <-
           Loop.last(rounds, call, value, words, rounds.run.max_heap) do
      ended(result, rounds, round)
    else
      {:error, reason} -> fail(rounds, round, reason)
      {{:error, reason}, rounds} -> fail(rounds, round, reason)
    end
  end

  def with_answer(rounds, round, call, result) do
    case result do
      {:ok, value, words} ->
        call |> Driver.resume({:answer, value, words}) |> drive(rounds, round)

      {:error, {:tool_failed, text}} ->
        case Worker.failed(call, rounds, text) do
          {:error, reason} -> fail(rounds, round, reason)
          reply -> drive(reply, rounds, round)
        end

      {:error, reason} ->
        fail(rounds, round, reason)
    end
  end

  @doc "Ends the rounds after one that has failed; the error of the first one counts."
  @spec fail(Rounds.t(), integer(), term()) :: Rounds.t()
  def fail(%{error: {first, _reason}} = rounds, round, _other) when first < round, do: rounds

  def fail(rounds, round, reason) do
    why = if reason == :timeout, do: :timeout, else: :stopped
    asked = for {at, asked} <- rounds.asked, at <= round, into: %{}, do: {at, asked}
    held = for {at, call} <- :gb_trees.to_list(rounds.held), at <= round, do: {at, call}

    Running.stop_after(
      %{
        rounds
        | error: {round, reason},
          asked: asked,
          held: :gb_trees.from_orddict(held),
          gathered: Gathered.drop_after(rounds.gathered, round)
      },
      round,
      why
    )
  end
end
