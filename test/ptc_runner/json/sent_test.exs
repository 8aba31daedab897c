defmodule PtcRunner.Json.SentTest do
  # What was sent is what a person reads and approves; what a paused run had, it keeps.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.Paused

  @pay ~s({"program": {"op": "call", "tool": "pay", "args": {"amount": 1000}}})

  defp tools(answer \\ fn args -> args["amount"] end) do
    me = self()

    %{
      "pay" => fn args ->
        send(me, {:paid, args})
        answer.(args)
      end
    }
  end

  # The journal of a run whose process is killed while it pays what the hook has sent instead.
  defp journal do
    {:ok, kept} = Agent.start_link(fn -> [] end)

    run = fn ->
      Json.run(@pay,
        tools: tools(fn _ -> Process.sleep(:infinity) end),
        on_call: fn call -> {:run, %{call.args | "amount" => 100}} end,
        on_journal: fn entry -> Agent.update(kept, &[entry | &1]) end,
        timeout: :infinity
      )
    end

    pid = spawn(run)
    wait(fn -> length(Agent.get(kept, & &1)) == 2 end)
    Process.exit(pid, :kill)
    kept |> Agent.get(& &1) |> Enum.reverse()
  end

  defp wait(done), do: done.() || (Process.sleep(1) && wait(done))

  test "the journal and the call that waits show the arguments that were sent" do
    [_run, started] = entries = journal()

    assert %{"started" => true, "args" => %{"amount" => 100}, "asked" => %{"amount" => 1000}} =
             started

    {:ok, paused} = Paused.recover(entries)

    assert [%{args: %{"amount" => 100}, asked: %{"amount" => 1000}, started: true} = call] =
             paused.calls

    assert call.text =~ ~s("amount" => 100})
    refute call.text =~ "1000"

    assert {:ok, ^paused} = paused |> Paused.to_map() |> Paused.from_map()
    assert Json.resume(paused, :approve, tools: tools(), on_call: nil) == {:ok, 100, %{}, %{}}
    assert_received {:paid, %{"amount" => 100}}
    refute_received {:paid, _}

    # Other decisions are as they are given.
    assert Json.resume(paused, {:run, %{"amount" => 5}}, tools: tools(), on_call: nil) ==
             {:ok, 5, %{}, %{}}

    assert Json.resume(paused, {:answer, 7}, tools: tools(), on_call: nil) == {:ok, 7, %{}, %{}}
  end

  test "an entry of arguments that were not changed has no others" do
    me = self()
    Json.run(@pay, tools: tools(), on_call: fn _ -> :run end, on_journal: &send(me, {:entry, &1}))
    assert_received {:entry, %{"started" => true, "args" => %{"amount" => 1000}} = entry}
    refute is_map_key(entry, "asked")
  end

  test "a run that had :on_call goes on with it, or where the caller says so" do
    {:paused, paused} = Json.run(@pay, tools: tools(), on_call: fn _ -> :pause end)
    assert paused.hooks == [:on_call]

    assert {:error, {:execution_error, message}} = Json.resume(paused, :approve, tools: tools())
    assert message =~ "give the function again, or on_call: nil"
    assert {:ok, 1000, _, _} = Json.resume(paused, :approve, tools: tools(), on_call: nil)

    assert {:ok, 1000, _, _} =
             Json.resume(paused, :approve, tools: tools(), on_call: fn _ -> :run end)

    # A tool that asks by itself needs no hook.
    asks = %{"pay" => {& &1["amount"], approve: true}}
    {:paused, paused} = Json.run(@pay, tools: asks)
    assert paused.hooks == []
    assert {:ok, 1000, _, _} = Json.resume(paused, :approve, tools: asks)
  end

  test "limits of the run hold after the pause" do
    program =
      ~s({"program": {"op": "list", "items": [#{Enum.map_join(1..3, ", ", &~s({"op": "call", "tool": "pay", "args": {"amount": #{&1}}}))}]}})

    asks = %{"pay" => {& &1["amount"], approve: true}}

    {:paused, paused} = Json.run(program, tools: asks, tool_concurrency: 2, edition: 2)
    assert {paused.max_tool_calls, paused.tool_concurrency} == {nil, 2}

    {:paused, paused} = Json.run(program, tools: asks, max_tool_calls: 1, edition: 2)
    assert {paused.max_tool_calls, paused.tool_concurrency} == {1, 1}
    assert {:error, {:execution_error, text}} = resumed(paused, tools: asks)
    assert text =~ "1"
    assert {:ok, [1, 2, 3], _, _} = resumed(paused, tools: asks, max_tool_calls: 9)
  end

  defp resumed(paused, opts) do
    case Json.resume(paused, :approve, opts) do
      {:paused, paused} -> resumed(paused, opts)
      ended -> ended
    end
  end

  test "the firewall of the run holds after the pause" do
    program =
      ~s({"program": {"op": "call", "tool": "pay", "args": {"row": {"op": "call", "tool": "look", "args": {}}}}})

    secret = %{"id" => 1, "_pin" => 77}

    for {firewall, ends} <- [{true, :error}, {false, :ok}] do
      tools = %{
        "look" => {fn _ -> secret end, approve: true},
        "pay" => fn %{"row" => %{"id" => 1}} -> 1 end
      }

      {:paused, paused} = Json.run(program, tools: tools, firewall: firewall)
      assert paused.firewall == firewall
      assert elem(Json.resume(paused, :approve, tools: tools), 0) == ends
    end
  end
end
