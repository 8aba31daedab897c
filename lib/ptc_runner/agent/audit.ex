defmodule PtcRunner.Agent.Audit do
  @moduledoc false
  # The calls of a step or of a paused run or loop, as one list.

  alias PtcRunner.Agent.Paused
  alias PtcRunner.Step

  @unknown "it was started, and its answer is not known"

  @doc "See `PtcRunner.Agent.audit/1`."
  @spec calls(Step.t() | Paused.t()) :: [map()]
  def calls(%Paused{kind: :run} = paused), do: of_turn(paused, 1)

  def calls(%Paused{loop: loop} = paused) do
    before =
      for turn <- Enum.reverse(loop.turns),
          call <- turn.tool_calls,
          do: audited(call, turn.number)

    before ++ of_turn(paused, loop.number)
  end

  def calls(%{turns: turns}),
    do: for(turn <- turns || [], call <- turn.tool_calls, do: audited(call, turn.number))

  defp of_turn(paused, number) do
    Enum.map(paused.tool_calls, &audited(&1, number)) ++
      Enum.map(paused.calls, &waiting(&1, number, paused.run.made_at))
  end

  defp audited(call, turn) do
    %{
      turn: turn,
      tool: call.name,
      args: call.args,
      asked: call[:asked],
      answer: if(call.status == :ok, do: call.result),
      error: if(call.status != :ok, do: call.result || "it did not finish"),
      duration_us: call[:duration_us],
      decision: call[:decision] || :run,
      by: call[:by],
      at: call[:at],
      note: call[:note],
      key: call[:key],
      attempt: call[:attempt]
    }
    |> put_context(call)
  end

  defp put_context(entry, %{context: context}), do: Map.put(entry, :context, context)
  defp put_context(entry, _call), do: entry

  defp waiting(call, turn, since) do
    %{
      turn: turn,
      tool: call.tool,
      args: call.args,
      asked: call.asked,
      answer: nil,
      error: if(call.started, do: @unknown),
      duration_us: nil,
      decision: :waits,
      by: nil,
      at: since,
      note: nil,
      key: call.key,
      attempt: nil
    }
  end
end
