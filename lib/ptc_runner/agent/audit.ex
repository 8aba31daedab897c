defmodule PtcRunner.Agent.Audit do
  @moduledoc false
  # The calls of a step or of a paused run or loop, as one list.

  alias PtcRunner.Agent.Paused
  alias PtcRunner.Step

  @unknown "it was started, and its answer is not known"

  @doc "See `PtcRunner.Agent.audit/1`."
  @spec calls(Step.t() | Paused.t()) :: [map()]
  def calls(%Paused{kind: :run, approvals: approvals} = paused),
    do: plans(approvals, paused, 1) ++ of_turn(paused, 1)

  def calls(%Paused{loop: loop} = paused) do
    before = Enum.map(Enum.reverse(loop.turns), &{&1.number, of_turn(&1)})
    now = {loop.number, of_turn(paused, loop.number)}
    plans = loop |> Map.get(:approvals, []) |> Enum.reverse() |> plans(paused, loop.number)
    with_plans(before ++ [now], plans)
  end

  def calls(%{turns: turns, usage: usage}) do
    plans = for decided <- (usage || %{})[:approvals] || [], do: plan(decided, decided.turn)
    with_plans(Enum.map(turns || [], &{&1.number, of_turn(&1)}), plans)
  end

  # What was decided about a program comes before its calls.
  defp with_plans(turns, plans) do
    by_turn = Enum.group_by(plans, & &1.turn)
    Enum.flat_map(turns, fn {number, calls} -> Map.get(by_turn, number, []) ++ calls end)
  end

  defp plans(approvals, paused, number) do
    for(decided <- approvals, do: plan(decided, decided.turn)) ++
      case paused.run do
        %{plan: %{} = map, made_at: since} -> [waiting_plan(map, number, since)]
        _no_plan -> []
      end
  end

  defp waiting_plan(map, number, since) do
    decided = %{decision: :waits, plan: map["digest"], by: nil, at: since, note: nil, error: nil}
    plan(decided, number)
  end

  defp plan(decided, turn) do
    %{
      turn: turn,
      tool: nil,
      args: %{},
      asked: nil,
      answer: nil,
      error: decided.error,
      duration_us: nil,
      decision: decided.decision,
      by: decided.by,
      at: decided.at,
      note: decided.note,
      key: nil,
      attempt: nil,
      plan: digest(decided.plan)
    }
  end

  # A plan that waited is a map that is JSON.
  defp digest(%{program: _, tools: _, options: _} = digest),
    do: for({name, value} <- digest, into: %{}, do: {Atom.to_string(name), value})

  defp digest(other), do: other

  defp of_turn(turn), do: for(call <- turn.tool_calls, do: audited(call, turn.number))

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
