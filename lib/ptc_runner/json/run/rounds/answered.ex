defmodule PtcRunner.Json.Run.Rounds.Answered do
  @moduledoc false
  # What the processes of rounds have answered, for one call or for a list of them: it is kept, and given to each round that waits for it.

  alias PtcRunner.Json.Control.{Answers, Equal}
  alias PtcRunner.Json.Run.Rounds
  alias PtcRunner.Json.Run.Rounds.{Asking, Driven, Running, Worker}
  alias PtcRunner.Sandbox.Guarded

  @doc "A process has answered, and is idle then."
  @spec answered(Rounds.t(), non_neg_integer(), term(), term()) :: Rounds.t()
  def answered(rounds, at, result, tag) do
    {_call, {pid, monitor, nil, known}, _span, _running} = Map.fetch!(rounds.waiting, at)
    results(%{rounds | idle: [{pid, monitor, tag, known} | rounds.idle]}, at, result)
  end

  # What a process has answered, for all rounds that wait for it.
  defp results(%{batches: batches} = rounds, at, result) when is_map_key(batches, at) do
    {all, batches} = Map.pop!(batches, at)
    results = for result <- each_of(result, all), do: Worker.told_apart(result, rounds)
    {waits, waiting} = Map.split(rounds.waiting, all)

    # Rounds behind one that has failed do not wait any more.
    answered =
      for {round, result} <- Enum.zip(all, results), is_map_key(waits, round) do
        {call, _process, span, running} = Map.fetch!(waits, round)
        Running.told(span, result)
        {round, call, running, result}
      end

    rounds = kept(%{rounds | batches: batches, waiting: waiting}, answered)
    Enum.reduce(answered, rounds, &went_on/2)
  end

  defp results(rounds, round, result) do
    {{call, _process, span, running}, waiting} = Map.pop!(rounds.waiting, round)
    result = Worker.told_apart(result, rounds)
    Running.told(span, result)
    answered = {round, call, running, result}
    rounds = kept(%{rounds | waiting: waiting}, [answered])
    went_on(answered, rounds)
  end

  defp each_of({:all, results}, _all), do: results
  defp each_of(result, all), do: Enum.map(all, fn _round -> result end)

  # All answers are kept before a round goes on with one.
  defp kept(%{control: nil} = rounds, _answered), do: rounds

  defp kept(rounds, answered) do
    Enum.reduce(answered, rounds, fn {round, _call, {running, _until}, result}, rounds ->
      case Answers.answered(rounds.control, running, result) do
        {:ok, control} -> %{rounds | control: control}
        {:error, reason, control} -> Driven.fail(%{rounds | control: control}, round, reason)
      end
    end)
  end

  # The answer is given to its round, and to those that wait for an equal call.
  defp went_on({round, _call, _running, _result}, %{error: {first, _reason}} = rounds)
       when first <= round,
       do: rounds

  defp went_on({round, call, running, result}, rounds) do
    rounds = went_on(rounds, round, call, result)

    case running do
      {{_id, name, args, _sent, true}, _until} -> joined(rounds, {name, args})
      _not_kept -> rounds
    end
  end

  defp joined(%{joins: joins} = rounds, _key) when joins == %{}, do: rounds

  defp joined(rounds, key) do
    outcome = Equal.running_or_answered(rounds.control, key)
    {joining, joins} = Map.pop(rounds.joins, key, [])

    Enum.reduce(Enum.sort(joining), %{rounds | joins: joins}, fn round, rounds ->
      case Map.pop(rounds.asked, round) do
        {{:join, ^key, id, call}, asked} ->
          %{rounds | asked: asked}
          |> Asking.from_cache(call, {round, id}, key, outcome)
          |> Driven.resumed(call, round)

        # An earlier round has failed.
        _no_longer ->
          rounds
      end
    end)
  end

  defp went_on(rounds, round, call, result) do
    result
    |> Worker.made(call, rounds, round)
    |> Driven.with_answer(round, call, result)
  end

  @doc "A process has ended, and with it the calls that it was to make."
  @spec ended(Rounds.t(), reference(), term()) :: Rounds.t()
  def ended(rounds, monitor, reason) do
    {pid, pids} = Map.pop!(rounds.pids, monitor)
    Guarded.forget(pid)
    rounds = %{rounds | pids: pids, idle: List.keydelete(rounds.idle, monitor, 1)}

    case Enum.sort(Enum.filter(rounds.waiting, &Running.waits?(&1, monitor))) do
      [] ->
        rounds

      [{round, _waits} | _] = all ->
        reason = Guarded.ended(reason, rounds.heap)
        rounds = %{rounds | waiting: Map.drop(rounds.waiting, for({at, _} <- all, do: at))}

        all
        |> Enum.reduce(rounds, fn {_at, {_call, _process, span, running}}, rounds ->
          Running.told(span, {:error, reason})
          ended_with(rounds, running, reason)
        end)
        |> Driven.fail(round, reason)
    end
  end

  defp ended_with(rounds, nil, _reason), do: rounds

  defp ended_with(rounds, {running, _until}, reason) do
    # Its error ends the run in any case.
    case Answers.answered(rounds.control, running, {:error, reason}) do
      {:ok, control} -> %{rounds | control: control}
      {:error, _reason, control} -> %{rounds | control: control}
    end
  end

  @doc "The time of the run, or of calls, is over."
  @spec late(Rounds.t(), integer()) :: Rounds.t()
  def late(%{deadline: deadline} = rounds, now) when deadline <= now or rounds.control == nil,
    do: Driven.fail(rounds, -1, :timeout)

  # A tool has its own time.
  def late(rounds, now) do
    late =
      for {round, {_call, _process, _span, {_running, until}}} <- rounds.waiting,
          until <= now,
          do: round

    Enum.reduce(late, rounds, fn round, rounds ->
      case rounds.waiting do
        %{^round => {_call, {pid, monitor, _tag, _known}, _span, {running, _until}}} ->
          {at, rounds} = Running.stop_late(rounds, pid, monitor)
          timeout = rounds.control.settings[elem(running, 1)].timeout
          results(rounds, at, {:error, Worker.late(rounds, elem(running, 1), timeout)})

        # It was in a list with one before.
        _no_longer ->
          rounds
      end
    end)
  end
end
