defmodule PtcRunner.Json.Run.Rounds.Replayed do
  @moduledoc false
  # The first rounds of a loop, as long as their calls have plain answers in a journal: no process is needed for them, and no copy of the control.

  alias PtcRunner.Json.Control.Replays
  alias PtcRunner.Json.Run
  alias PtcRunner.Json.Run.{Driver, Reply, Rounds}
  alias PtcRunner.Json.Run.Rounds.{Asking, Loop}
  alias PtcRunner.Native
  alias PtcRunner.Native.Panic
  require Reply

  @doc """
  Runs these rounds. Returns the items of the others, the number of the first of them, and the reply of the round before that, which something
  else must go on with; nil if there is none.
  """
  @spec first(Rounds.t(), [term()]) ::
          {Rounds.t(), [term()], non_neg_integer(), Reply.t() | nil}
  def first(%{control: control} = rounds, items) do
    replays = Replays.from(control)

    if replays != nil and Replays.any?(replays),
      do: rounds(items, 0, replays, {[], rounds}),
      else: {rounds, items, 0, nil}
  end

  # `rounds` has the values of the rounds so far when they have ended: until then they are a list.
  defp rounds([item | items], round, replays, {_values, %{state: state, terms: terms}} = so_far) do
    if Replays.any?(replays) do
      fn -> Native.resume(state, terms, {:round, item, 0}) end
      |> Panic.instead()
      |> follow(0, replays, {items, round, so_far})
    else
      {done(so_far, round, 0, replays), [item | items], round, nil}
    end
  end

  defp rounds([], round, replays, so_far), do: {done(so_far, round, 0, replays), [], round, nil}

  # `number`: of the calls of the round so far.
  defp follow(Reply.call(left: left) = call, number, replays, at) when left > 0 do
    Reply.call(tool: name, args: args) = call
    {_items, round, {_values, %{id: id, heap: heap}}} = at

    case Replays.next(replays, {id, round, number + 1}, name, args, heap) do
      {:answer, value, words, replays} ->
        call |> Driver.resume({:answer, value, words}) |> follow(number + 1, replays, at)

      :other ->
        stopped(call, number, replays, at)
    end
  end

  defp follow(Reply.last(left: left) = call, number, replays, at) when left > 0 do
    Reply.last(tool: name, args: args) = call
    {items, round, {values, %{id: id, heap: heap, run: %Run{max_heap: max_heap}} = rounds}} = at

    case Replays.next(replays, {id, round, number + 1}, name, args, heap) do
      {:answer, value, words, replays} ->
        {result, rounds} = Loop.last(rounds, call, value, words, max_heap)
        follow(result, number + 1, replays, {items, round, {values, rounds}})

      :other ->
        stopped(call, number, replays, at)
    end
  end

  defp follow({:ok, value, _words}, number, replays, {items, round, {values, rounds}}),
    do: rounds(items, round + 1, replays, {[{round, value, number} | values], rounds})

  defp follow(reply, number, replays, at), do: stopped(reply, number, replays, at)

  defp stopped(reply, number, replays, {items, round, so_far}),
    do: {done(so_far, round, number, replays), items, round + 1, reply}

  defp done({values, rounds}, round, number, replays) do
    calls = for {round, _value, number} <- values, number > 0, into: %{}, do: {round, number}
    calls = if number > 0, do: Map.put(calls, round, number), else: calls
    values = for {round, value, _number} <- values, into: %{}, do: {round, value}
    control = Replays.done(rounds.control, replays)
    Asking.oldest(%{rounds | values: values, calls: calls, control: control})
  end
end
