defmodule PtcRunner.Json.BeyondFailedRoundTest do
  # A round of a loop fails while an earlier one waits for a person. Rounds behind it have made calls: nobody is asked about those that wait there, and
  # what was answered is kept.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Paused}

  @program ~s({"program": {"op": "pipe", "steps": [{"op": "literal", "value": [1, 2, 3]},
    {"op": "map", "expr": {"op": "object", "fields": {
      "a": {"op": "call", "tool": "pay", "args": {"n": {"op": "var", "name": "__input"}}},
      "b": {"op": "call", "tool": "find", "args": {"n": {"op": "var", "name": "__input"}}},
      "c": {"op": "call", "tool": "pay", "args": {"n": 9}}}}}]}})

  # The second round fails once the third one has its answer.
  defp opts do
    answered = :counters.new(1, [])
    made = :ets.new(:made, [:public, :duplicate_bag])

    on_journal = fn
      %{"id" => "1.2.2", "answer" => _} -> :counters.add(answered, 1, 1)
      _event -> :ok
    end

    find = fn %{"n" => n} ->
      :ets.insert(made, {"find", n})
      if n == 2, do: wait(fn -> :counters.get(answered, 1) > 0 end) && raise("two")
      n
    end

    pay = fn %{"n" => n} -> :ets.insert(made, {"pay", n}) && n end
    tools = %{"pay" => {pay, approve: true}, "find" => {find, effect: :read}}
    {made, [tools: tools, on_journal: on_journal, tool_concurrency: 4]}
  end

  defp wait(done?), do: done?.() or (Process.sleep(5) && wait(done?))

  defp stored({:paused, paused}) do
    {:ok, same} =
      paused |> Paused.to_map() |> Codec.encode!() |> Codec.decode!() |> Paused.from_map()

    assert same == paused
    paused
  end

  test "it goes on, waits again, and ends with the error; each call is made once and stays in the journal" do
    {made, opts} = opts()
    paused = @program |> Json.run(opts) |> stored()
    assert for(call <- paused.calls, do: call.id) == ["1.0.1", "1.0.3", "1.1.1"]
    assert "1.2.2" in for(call <- Paused.answered(paused), do: call["id"])

    again =
      paused |> Json.resume(&if(&1.id == "1.1.1", do: :approve, else: :pause), opts) |> stored()

    assert for(call <- again.calls, do: call.id) == ["1.0.1", "1.0.3"]
    assert "1.2.2" in for(call <- Paused.answered(again), do: call["id"])

    assert {:error, {:execution_error, "Tool 'find' raised: two"}} =
             Json.resume(again, :approve, opts)

    assert Enum.sort(:ets.tab2list(made)) ==
             [{"find", 1}, {"find", 2}, {"find", 3}, {"pay", 1}, {"pay", 2}, {"pay", 9}]
  end
end
