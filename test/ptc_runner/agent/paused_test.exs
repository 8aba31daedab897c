defmodule PtcRunner.Agent.PausedTest do
  # A paused run or loop of an agent as JSON, and back.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Agent.Paused
  alias PtcRunner.Json.Codec

  doctest Paused

  @program ~s({"program": {"op": "call", "tool": "pay", "args": {"id": 7}}})

  defp tools,
    do: %{
      "pay" => {fn %{"id" => id} -> id * 2 end, signature: "(id :int) -> :int", approve: true}
    }

  defp stored(paused) do
    {:ok, paused} =
      paused |> Paused.to_map() |> Codec.encode!() |> Codec.decode!() |> Paused.from_map()

    paused
  end

  test "a loop goes on as it would without" do
    model = fn messages -> if length(messages) == 2, do: @program, else: flunk("asked again") end

    opts = [
      task: "Pay.",
      tools: tools(),
      returns: ":int",
      context: %{"at" => ~D[2024-02-29], "rows" => [{1, :a}]}
    ]

    {:paused, paused} = Agent.loop(model, opts)
    assert stored(paused) == paused

    given = [model: model, tools: tools(), context: opts[:context]]
    assert {:ok, %{return: 14} = step} = Agent.resume(stored(paused), :approve, given)
    assert {:ok, %{return: 14} = other} = Agent.resume(paused, :approve, given)
    assert length(step.messages) == length(other.messages)

    assert {:error, _} =
             Agent.resume(stored(paused), {:deny, "no"}, [
               {:model, fn _ -> {:halt, :enough} end} | given
             ])
  end

  test "a loop that had answers before, and memory" do
    texts = [~s({"program": {"op": "load", "name": "zz"}}), @program]
    model = fn messages -> Enum.at(texts, div(length(messages), 2) - 1) end

    {:paused, paused} =
      Agent.loop(model,
        task: "Pay.",
        tools: tools(),
        returns: ":int",
        memory: %{"k" => %{"x" => 1.5}}
      )

    assert stored(paused) == paused

    assert {:ok, %{return: 14}} =
             Agent.resume(stored(paused), :approve, model: model, tools: tools())
  end

  test "a map that is none says so" do
    {:paused, paused} = Agent.run(@program, tools())
    map = Paused.to_map(paused)

    for {name, value} <- [
          {"agent_paused", 2},
          {"kind", "walk"},
          {"run", 7},
          {"run", %{"paused" => 1}},
          {"made", nil},
          {"opts", [1]},
          {"messages", %{}},
          {"tool_calls", 7},
          {"loop", %{"elapsed" => 1}},
          {"opts", %{"$ptc" => "atom", "is" => "no such atom 77"}}
        ] do
      assert {:error, sentence} = Paused.from_map(Map.put(map, name, value)), name
      assert is_binary(sentence)
    end

    for name <- Map.keys(map) -- ["approvals"],
        do: assert({:error, _} = Paused.from_map(Map.delete(map, name)))

    # One of an earlier release has none.
    assert Paused.from_map(Map.delete(map, "approvals")) == {:ok, paused}
    assert {:error, _} = Paused.from_map(%{map | "kind" => "loop"})
    assert {:error, _} = Paused.from_map(nil)
  end
end
