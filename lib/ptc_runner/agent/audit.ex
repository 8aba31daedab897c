defmodule PtcRunner.Agent.Audit do
  @moduledoc false
  # The calls of a step or of a paused loop, as one list.

  alias PtcRunner.Agent.Paused
  alias PtcRunner.Step

  @doc "See `PtcRunner.Agent.audit/1`."
  @spec calls(Step.t() | Paused.t()) :: [map()]
  def calls(%Paused{kind: :run} = paused), do: Enum.map(paused.tool_calls, &audited(&1, 1))

  def calls(%Paused{loop: loop} = paused) do
    before =
      for turn <- Enum.reverse(loop.turns),
          call <- turn.tool_calls,
          do: audited(call, turn.number)

    before ++ Enum.map(paused.tool_calls, &audited(&1, loop.number))
  end

  def calls(%{turns: turns}),
    do: for(turn <- turns || [], call <- turn.tool_calls, do: audited(call, turn.number))

  defp put_context(entry, %{context: context}), do: Map.put(entry, :context, context)
  defp put_context(entry, _call), do: entry

  defp audited(call, turn) do
    %{
      turn: turn,
      tool: call.name,
      args: call.args,
      answer: if(call.status == :ok, do: call.result),
      error: if(call.status != :ok, do: call.result || "it did not finish"),
      duration_us: call[:duration_us],
      decision: call[:decision] || :run
    }
    |> put_context(call)
  end
end
