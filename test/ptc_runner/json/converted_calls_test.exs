defmodule PtcRunner.Json.ConvertedCallsTest do
  # What a person sees of a call, what the journal and the audit have, and what the tool gets are the same arguments.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Agent.{Arguments, Tool}
  alias PtcRunner.Json
  alias PtcRunner.Json.Paused

  @signature {:signature,
              [
                {"amount", :int},
                {"at", {:optional, :date}},
                {"o", {:optional, {:map, [{"n", :int}]}}},
                {"as",
                 {:where, :string, [enum: ["open", "paid"], ignore_case: true, default: "open"]}}
              ], :any}
  @args ~s({"amount": "1000", "at": "2024-02-29", "o": {"n": "5", "gone": 1}, "as": "PAID", "typo": 7})
  @asked %{
    "amount" => "1000",
    "at" => "2024-02-29",
    "o" => %{"n" => "5", "gone" => 1},
    "as" => "PAID",
    "typo" => 7
  }
  @sent %{"amount" => 1000, "at" => ~D[2024-02-29], "o" => %{"n" => 5}, "as" => "paid"}

  defp program(args \\ @args), do: ~s({"program": {"op": "call", "tool": "pay", "args": #{args}}})

  defp tool(more \\ []) do
    me = self()

    struct!(
      %Tool{
        name: "pay",
        fun: fn args ->
          send(me, {:paid, args})
          args["amount"]
        end,
        signature: @signature
      },
      more
    )
  end

  defp tools(more \\ []), do: %{"pay" => tool(more)}

  defp schema_tool do
    me = self()

    schema = %{
      "type" => "object",
      "required" => ["user-id"],
      "properties" => %{
        "user-id" => %{"type" => "integer"},
        "note" => %{"type" => "string", "default" => "-"}
      }
    }

    {:ok, [tool], _} =
      Tool.from_openai([%{type: "function", name: "pay", parameters: schema}], fn _name, args ->
        send(me, {:paid, args})
        {:ok, 1}
      end)

    tool
  end

  @tag capture_log: true
  test "a hook sees what the tool gets" do
    me = self()

    hook = fn call ->
      send(me, {:asked, call.args, call.asked})
      :run
    end

    assert {:ok, 1000, _, _} = Json.run(program(), tools: tools(), on_call: hook)
    assert_received {:asked, @sent, @asked}
    assert_received {:paid, @sent}

    assert {:ok, 1000, info} = Agent.run(program(), [tool()], on_call: hook)
    assert_received {:asked, @sent, @asked}
    assert_received {:paid, @sent}
    # What was converted and dropped is still told.
    assert Enum.any?(info.warnings, &(&1 =~ "typo"))
    assert Enum.any?(info.warnings, &(&1 =~ "o.gone"))

    assert {:ok, 1, _, _} =
             Json.run(program(~s({"user_id": "7"})),
               tools: %{"pay" => schema_tool()},
               on_call: hook
             )

    assert_received {:asked, %{"note" => "-", "user-id" => 7} = sent, %{"user_id" => "7"}}
    assert_received {:paid, ^sent}
  end

  @tag capture_log: true
  test "what a person approves is what is sent, also of a stored run" do
    for {tools, opts} <- [
          {tools(), [on_call: fn _ -> :pause end]},
          {tools(approve: true), []}
        ] do
      assert {:paused, paused} = Json.run(program(), [tools: tools] ++ opts)
      assert [%{args: @sent, asked: @asked} = call] = paused.calls
      assert call.text =~ "1000"
      refute call.text =~ "typo"
      {:ok, stored} = paused |> Paused.to_map() |> Paused.from_map()
      assert stored == paused

      for paused <- [paused, stored] do
        assert {:ok, 1000, _, _} = Json.resume(paused, :approve, tools: tools, on_call: nil)
        assert_received {:paid, @sent}
      end
    end
  end

  @tag capture_log: true
  test "a person approves what was read where the tool would make something else of the arguments by now" do
    assert {:paused, paused} = Json.run(program(), tools: tools(), on_call: fn _ -> :pause end)

    other = {:signature, [{"amount", :int}, {"typo", {:optional, :any}}], :any}

    assert {:ok, 1000, _, _} =
             Json.resume(paused, :approve, tools: tools(signature: other), on_call: nil)

    assert_received {:paid, args}
    assert args == %{"amount" => 1000}
  end

  @tag capture_log: true
  test "the journal has what was sent, and what the program gave; a replay finds it" do
    me = self()
    opts = [tools: tools(), on_call: fn _ -> :run end]

    {:ok, 1000, _, _} = Json.run(program(), [{:on_journal, &send(me, {:entry, &1})} | opts])

    for _ <- 1..2 do
      assert_received {:entry, %{"args" => %{"amount" => 1000, "as" => "paid"} = args} = entry}
      assert entry["asked"]["amount"] == "1000"
      refute is_map_key(args, "typo")
    end

    {{:ok, 1000, _, _}, journal} = Json.record(program(), opts)
    assert [%{"args" => %{"amount" => 1000}, "asked" => %{"amount" => "1000"}}] = journal["calls"]
    assert {:ok, 1000, _, _} = Json.replay(program(), journal)
  end

  @tag capture_log: true
  test "what the hook sends instead is converted, too" do
    me = self()
    hook = fn call -> {:run, %{"amount" => "100", "as" => call.args["as"], "more" => 1}} end
    sent = %{"amount" => 100, "as" => "paid"}

    {:ok, 100, _, _} =
      Json.run(program(), tools: tools(), on_call: hook, on_journal: &send(me, {:entry, &1}))

    assert_received {:paid, ^sent}
    assert_received {:entry, %{"started" => true, "args" => ^sent}}
  end

  test "nobody is asked about a call that its tool refuses" do
    for args <- [~s({"amount": "x"}), ~s({"amount": 1, "as": "lost"}), ~s({})] do
      hook = fn _call -> flunk("asked") end

      for run <- [
            &Json.run(&1, tools: tools(), on_call: hook),
            &Json.run(&1, tools: tools(approve: true))
          ] do
        assert {:error, {:execution_error, text}} = run.(program(args))
        assert text =~ "Tool validation errors"
      end

      caught = ~s({"op": "call", "tool": "pay", "args": #{args}, "on_error": "no"})

      assert {:ok, "no", _, _} =
               Json.run(~s({"program": #{caught}}), tools: tools(), on_call: hook)

      refute_received {:paid, _}
    end
  end

  test "arguments that were converted are converted to themselves" do
    values = %{
      :int => ["7", 7],
      :float => ["1.5", 2],
      :string => ["x"],
      :bool => ["true", false],
      :date => ["2024-02-29"],
      :datetime => ["2024-02-29T10:00:00+02:00"],
      :decimal => ["1.50", 2.5, 3],
      :keyword => ["a"],
      {:list, :int} => [["1", 2]],
      {:map, [{"n", {:where, :int, [default: 1]}}]} => [%{}, %{"n" => "2", "x" => 1}],
      {:map_of, :date} => [%{"a" => "2024-02-29"}],
      {:optional, :int} => [nil, "1"],
      {:where, :string, [enum: ["a"], aliases: %{"b" => "a"}]} => ["a", "b"]
    }

    for {type, values} <- values, value <- values do
      tool = %Tool{name: "t", fun: & &1, signature: {:signature, [{"v", type}], :any}}
      assert {:ok, sent, passed, _warnings} = Arguments.read(tool, %{"v" => value})
      assert {:ok, ^sent, ^passed, []} = Arguments.read(tool, sent), inspect({type, value})
    end
  end
end
