defmodule PtcRunner.Json.SentTest do
  # What was sent is what a person reads and approves; what a paused run had, it keeps.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.Paused
  alias PtcRunner.Test.Room

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

  test "arguments that are no map are no decision" do
    signature = "(amount :int) -> :any"
    tool = tools()["pay"]

    for args <- [[1], nil, 5, "x", [amount: 1], {1}, ~D[2024-01-01]],
        tools <- [%{"pay" => tool}, %{"pay" => {tool, signature}}],
        said <- [& &1, &{:decided, &1, by: "Ann"}] do
      assert {:error, {:execution_error, why}} =
               Json.run(@pay, tools: tools, on_call: fn _ -> said.({:run, args}) end)

      assert why =~ "was refused: the function of :on_call returned {:run, "
      assert why =~ "whose arguments are no map"
      {:paused, paused} = Json.run(@pay, tools: tools, on_call: fn _ -> :pause end)

      assert_raise ArgumentError, ~r/whose arguments are no map/, fn ->
        Json.resume(paused, said.({:run, args}), tools: tools, on_call: nil)
      end
    end

    refute_received {:paid, _}
  end

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

  test "every answer that is kept shows what was sent, and what the program gave" do
    me = self()
    hook = fn call -> {:run, %{call.args | "amount" => 100}} end
    opts = [tools: tools(), on_call: hook]
    expected = %{"args" => %{"amount" => 100}, "asked" => %{"amount" => 1000}, "answer" => 100}

    {{:ok, 100, _, _}, journal} = Json.record(@pay, opts)
    assert [call] = journal["calls"]
    assert Map.take(call, Map.keys(expected)) == expected
    assert Json.replay(@pay, journal) == {:ok, 100, %{}, %{}}

    {:ok, 100, _, _} = Json.run(@pay, [{:on_journal, &send(me, {:entry, &1})} | opts])
    assert_received {:entry, %{"answer" => 100} = entry}
    assert Map.take(entry, Map.keys(expected)) == expected

    # Also of a run that waits at a later call, stored or not; and it goes on.
    then =
      ~s({"program": {"op": "let", "name": "a", "value": {"op": "call", "tool": "pay", "args": {"amount": 1000}}, "in": {"op": "call", "tool": "ask"}}})

    asks = Map.put(tools(), "ask", fn _ -> 1 end)
    waits = fn call -> if call.tool == "ask", do: :pause, else: hook.(call) end
    {:paused, paused} = Json.run(then, tools: asks, on_call: waits)
    {:ok, stored} = paused |> Paused.to_map() |> Paused.from_map()
    assert stored == paused

    for paused <- [paused, stored] do
      assert [call] = Paused.answered(paused)
      assert Map.take(call, Map.keys(expected)) == expected
      assert Json.resume(paused, :approve, tools: asks, on_call: nil) == {:ok, 1, %{}, %{}}
    end

    # An equal call of the cache was sent to no tool.
    twice =
      ~s({"program": {"op": "list", "items": [{"op": "call", "tool": "pay", "args": {"amount": 1000}}, {"op": "call", "tool": "pay", "args": {"amount": 1000}}]}})

    cached = Map.new(tools(), fn {name, fun} -> {name, {fun, cache: true}} end)
    {{:ok, [100, 100], _, _}, journal} = Json.record(twice, tools: cached, on_call: hook)

    assert [%{"asked" => _}, %{"cached" => true, "args" => %{"amount" => 1000}} = second] =
             journal["calls"]

    refute is_map_key(second, "asked")
    assert Json.replay(twice, journal) == {:ok, [100, 100], %{}, %{}}
  end

  test "a run that had :on_call goes on with it, or where the caller says so" do
    {:paused, paused} = Json.run(@pay, tools: tools(), on_call: fn _ -> :pause end)
    assert paused.hooks == [:on_call]

    assert {:error, {:execution_error, message}} = Json.resume(paused, :approve, tools: tools())
    assert message =~ "give the function again, or on_call: nil"
    assert {:ok, 1000, _, _} = Json.resume(paused, :approve, tools: tools(), on_call: nil)

    assert {:ok, 1000, _, _} =
             Json.resume(paused, :approve, tools: tools(), on_call: fn _ -> :run end)

    # A journal is as little left out by mistake.
    {:paused, paused} =
      Json.run(@pay, tools: tools(), on_call: fn _ -> :pause end, on_journal: fn _ -> :ok end)

    assert paused.hooks == [:on_call, :on_journal]
    given = [tools: tools(), on_call: nil]
    assert {:error, {:execution_error, message}} = Json.resume(paused, :approve, given)
    assert message =~ "on_journal: nil"
    assert {:ok, 1000, _, _} = Json.resume(paused, :approve, [{:on_journal, nil} | given])

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

  test "times and memory of the run hold after the pause, and those that are given" do
    hangs = %{"pay" => {fn _ -> Process.sleep(:infinity) end, approve: true}}

    paused =
      Room.growing(100, fn timeout ->
        opts = [tools: hangs, timeout: timeout, max_heap: 50_000, pause_ttl: 60_000]
        assert {:paused, paused} = Json.run(@pay, opts)
        {:ok, paused} = paused |> Paused.to_map() |> Paused.from_map()
        assert {paused.timeout, paused.max_heap, paused.pause_ttl} == {timeout, 50_000, 60_000}
        assert Json.resume(paused, :approve, tools: hangs) == {:error, {:timeout, timeout}}
        paused
      end)

    slow = %{"pay" => {fn _ -> Process.sleep(paused.timeout + 50) end, approve: true}}
    assert {:ok, _, _, _} = Json.resume(paused, :approve, tools: slow, timeout: 60_000)

    large = %{"pay" => {fn _ -> Enum.to_list(1..100_000) end, approve: true}}
    more = [tools: large, timeout: 60_000]
    assert {:error, {:memory_exceeded, _}} = Json.resume(paused, :approve, more)
    assert {:ok, _, _, _} = Json.resume(paused, :approve, [{:max_heap, 0} | more])

    # What waits again expires like the first.
    two =
      ~s({"program": {"op": "list", "items": [{"op": "call", "tool": "pay", "args": {"amount": 1}}, {"op": "call", "tool": "pay", "args": {"amount": 2}}]}})

    asks = %{"pay" => {& &1["amount"], approve: true}}
    {:paused, paused} = Json.run(two, tools: asks, pause_ttl: 60_000)
    first = %{hd(paused.calls).id => :approve}
    assert {:paused, %{expires_at: until}} = Json.resume(paused, first, tools: asks)
    assert is_binary(until)
    given = [tools: asks, pause_ttl: :infinity]
    assert {:paused, %{expires_at: nil}} = Json.resume(paused, first, given)
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
