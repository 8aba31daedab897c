defmodule PtcRunner.Json.Run.Rounds.Waiting do
  @moduledoc false
  # The calls that wait with one of the same round: those of the rounds of a loop in it, as long as the loop only keeps the answers. The round goes
  # through them without an answer, and not on in this run.

  alias PtcRunner.Json.{Control, Entry}
  alias PtcRunner.Json.Run.{Driver, Reply}
  require Reply

  @doc "The ids of the calls that wait from this call of a round on, as texts, and the control that keeps these."
  @spec from(Reply.t(), Control.t(), Entry.id()) :: {[String.t()], Control.t()}
  def from(call, control, id),
    do: follow(call, Control.by_id(control), id, [Entry.text(id)])

  defp follow(Reply.call(round: round) = call, control, {loop, at, number}, ids) do
    case call |> Driver.resume({:unanswered, nil, 0}) |> Driver.waiting() do
      # In a run that goes through its loop in turn, later rounds are no part of this one.
      Reply.call(tool: name, args: args, pc: pc, round: ^round) = next ->
        id = {loop, at, number + 1}

        case Control.waits(control, id, name, args, pc) do
          {:wait, control} -> follow(next, control, id, [Entry.text(id) | ids])
          :other -> {ids, control}
        end

      _needs_the_answer ->
        {ids, control}
    end
  end

  # The answer is the value of the round.
  defp follow(_last, control, _id, ids), do: {ids, control}
end
