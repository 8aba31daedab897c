defmodule PtcRunner.Agent.ControlTest do
  # Agents under control: budgets over all turns, decisions, pauses, the audit, cancelling, events.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Agent.{Paused, Tool}
  alias PtcRunner.Json.Codec

  doctest PtcRunner.Agent.Tool

  defp model(answers), do: fn messages -> Enum.at(answers, div(length(messages), 2) - 1) end

  defp each(ids, tool \\ "x"),
    do:
      Codec.encode!(%{
        program: %{
          op: "pipe",
          steps: [
            %{op: "literal", value: ids},
            %{
              op: "map",
              expr: %{op: "call", tool: tool, args: %{id: %{op: "var", name: "__input"}}}
            }
          ]
        }
      })

  defp etf(term), do: term |> :erlang.term_to_binary() |> :erlang.binary_to_term()

  test "1,000 calls are allowed without an option" do
    tools = %{"x" => fn %{"id" => id} -> id end}
    program = Codec.decode!(each(Enum.to_list(1..1_001)))
    opts = [timeout: 20_000, max_heap: 0]

    assert {:error,
            {:execution_error,
             "Tool 'x' was called 1000 times; no more than 1000 calls are allowed"},
            _} = Agent.run(program, tools, opts)

    assert {:ok, _, _} = Agent.run(program, tools, [{:max_tool_calls, 1_001} | opts])
    assert {:ok, _, _} = Agent.run(program, tools, [{:max_tool_calls, :infinity} | opts])

    assert_raise ArgumentError, ~r/:max_tool_calls/, fn ->
      Agent.run(program, tools, max_tool_calls: :none)
    end
  end

  test "a budget is that of all turns" do
    answers = [each([1, 2]), each([3, 4]), each([5, 6])]
    tools = %{"x" => {fn %{"id" => id} -> id end, "(id :int) -> :int"}}
    task = [task: "x", tools: tools, returns: ":string", max_turns: 3, check: false]
    {:error, step} = Agent.loop(model(answers), task, max_tool_calls: 3)
    assert Enum.map(step.tool_calls, & &1.args["id"]) == [1, 2, 3]
    assert step.fail.message =~ "no more than 3 calls are allowed"

    {:error, step} =
      Agent.loop(
        model(answers),
        Keyword.put(task, :tools, [%Tool{name: "x", fun: & &1["id"], max_calls: 5}])
      )

    assert length(step.tool_calls) == 5
  end

  test "a loop pauses, goes on as plain data, and pauses again" do
    test = self()

    model = fn messages ->
      send(test, {:asked, length(messages)})
      each([length(messages), 7])
    end

    pay = fn %{"id" => id} ->
      send(test, {:paid, id})
      id
    end

    tools = %{"x" => {pay, signature: "(id :int) -> :int", approve: true}}
    task = [task: "Pay.", tools: tools, returns: "[:string]", max_turns: 2, coerce: false]

    assert {:paused, %Paused{kind: :loop, calls: [two, seven]} = paused} = Agent.loop(model, task)
    assert %{id: "1.0.1", args: %{"id" => 2}} = two
    assert %{id: "1.1.1", args: %{"id" => 7}} = seven
    assert [%{role: :system}, %{role: :user}, %{role: :assistant}] = paused.messages
    assert_received {:asked, 2}
    again = [model: model, tools: tools]

    assert {:paused, %{calls: [^seven]} = paused} =
             paused |> etf() |> Agent.resume(%{"1.0.1" => :approve}, again)

    assert [
             %{tool: "x", args: %{"id" => 2}, answer: "2", turn: 1, decision: :approved},
             %{tool: "x", args: %{"id" => 7}, answer: nil, turn: 1, decision: :waits}
           ] = Agent.audit(paused)

    # The value does not fit: the second turn pauses too.
    assert {:paused, %{calls: [%{args: %{"id" => 4}}, %{args: %{"id" => 7}}]} = paused} =
             paused |> etf() |> Agent.resume({:answer, 9}, again)

    assert_received {:asked, 4}
    assert List.last(paused.messages).role == :assistant
    assert Enum.at(paused.messages, 3).content =~ "x({\"id\":2}) -> 2"
    assert {:error, step} = paused |> etf() |> Agent.resume({:deny, "no more"}, again)
    assert step.fail.message =~ "Tool 'x' was refused: no more"

    assert for(
             call <- Agent.audit(step),
             do: {call.turn, call.args["id"], call.answer, call.decision}
           ) ==
             [{1, 2, "2", :approved}, {1, 7, "9", :answer}, {2, 4, nil, :deny}]

    assert_received {:paid, 2}
    refute_received {:paid, _}
    refute_received {:asked, _}
    assert length(step.turns) == 2

    assert_raise ArgumentError, ~r/needs the option :model/, fn ->
      Agent.resume(paused, :approve, tools: tools)
    end
  end

  test "the step of a loop that was paused is that of one that was not" do
    answers = [each([1], "y"), each([1, 2])]

    tools = fn approve ->
      %{"x" => {& &1["id"], signature: "(id :int) -> :int", approve: approve}}
    end

    task = &[task: "Pay.", context: %{"rows" => [1]}, tools: tools.(&1), returns: "[:int]"]
    {:ok, plain} = Agent.loop(model(answers), task.(false))
    {:paused, paused} = Agent.loop(model(answers), task.(true))
    again = [model: model(answers), tools: tools.(true), context: %{"rows" => [1]}]
    assert Enum.map(paused.calls, & &1.id) == ["1.0.1", "1.1.1"]
    one = %{"1.0.1" => :approve}
    {:paused, %{calls: [%{id: "1.1.1"}]} = paused} = paused |> etf() |> Agent.resume(one, again)
    {:ok, step} = paused |> etf() |> Agent.resume(:approve, again)

    same = fn step ->
      timeless = fn calls ->
        Enum.map(calls, &Map.drop(&1, [:duration_us, :at, :decision, :by, :key, :attempt]))
      end

      turns = Enum.map(step.turns, &%{&1 | tool_calls: timeless.(&1.tool_calls)})

      usage = Map.delete(step.usage, :duration_ms)
      step = %{step | turns: turns, tool_calls: timeless.(step.tool_calls), usage: usage}

      # Prompt and feedback say which tools wait for approval.
      step
      |> inspect(structs: false, limit: :infinity, printable_limit: :infinity)
      |> String.replace(" (waits for approval)", "")
    end

    assert same.(step) == same.(plain)
  end

  test "a run pauses and goes on, with its result validated" do
    tools = %{"x" => {& &1["id"], signature: "(id :int) -> :int", approve: true}}
    program = each([1, 2])

    assert {:paused, %Paused{kind: :run} = paused} =
             Agent.run(program, tools, returns: "[:int]", tool_concurrency: 2)

    assert length(paused.calls) == 2
    assert {:ok, [1, 2], info} = paused |> etf() |> Agent.resume(:approve, tools: tools)
    assert length(info.tool_calls) == 2
    assert {:error, {:invalid_result, _}, _} = Agent.resume(paused, {:answer, "x"}, tools: tools)
  end

  test "on_call sees what the program gives, and its answers are recorded" do
    test = self()
    tools = %{"x" => {& &1["id"], signature: "(id :int) -> :int", effect: :read}}

    hook = fn call ->
      send(test, {:call, self(), call})
      if(call.args["id"] == 1, do: :run, else: {:answer, 5})
    end

    {:ok, [1, 5], info} = Agent.run(each([1, 2]), tools, on_call: hook)

    assert_received {:call, ^test,
                     %{effect: :read, path: ["program", "steps", 1, "expr"], number: 1}}

    assert [%{status: :ok, result: "1"}, %{status: :ok, result: "5", decision: :answer}] =
             info.tool_calls

    assert Map.has_key?(hd(info.tool_calls), :duration_us)
  end

  test "a run that meets a limit after a call that no tool answered is not repeated" do
    test = self()
    # The list between the steps is not built where nothing is observed.
    rows = for n <- 1..20_000, do: %{"n" => n}
    where = %{op: "gt", field: "n", value: 0}
    steps = [%{op: "load", name: "rows"}, %{op: "filter", where: where}, %{op: "count"}]
    call = %{op: "call", tool: "x", args: %{}}
    count = %{op: "pipe", steps: steps}
    answer = Codec.encode!(%{program: %{op: "let", name: "a", value: call, in: count}})
    model = fn _ -> answer end
    opts = [context: %{"rows" => rows}, max_heap: 20_000, max_turns: 1, max_tool_calls: 1]
    asked = &send(test, {:asked, &1.number})

    # Without a call, it is.
    assert {:ok, %{return: 20_000}} =
             Agent.loop(fn _ -> Codec.encode!(%{program: count}) end, [task: "x"], opts)

    answered = fn call ->
      asked.(call)
      {:answer, 1}
    end

    hook = [on_call: answered, tools: %{"x" => fn _ -> 1 end}]
    assert {:error, step} = Agent.loop(model, [task: "x"], hook ++ opts)
    assert step.fail.message =~ "MemoryError"
    assert [%{decision: :answer}] = Agent.audit(step)
    assert_received {:asked, 1}
    refute_received {:asked, _}

    # Calls that a journal answers are counted once.
    tools = [tools: %{"x" => {fn _ -> 1 end, approve: true}}]
    assert {:paused, paused} = Agent.loop(model, [task: "x"], tools ++ opts)
    again = tools ++ [model: model, context: %{"rows" => rows}]
    assert {:error, step} = Agent.resume(paused, {:answer, 1}, again)
    assert step.fail.message =~ "MemoryError"
    assert [%{decision: :answer}] = Agent.audit(step)

    # A call whose arguments are too many for its process is counted, and does not start.
    wide = %{op: "call", tool: "x", args: %{rows: %{op: "load", name: "rows"}}}
    wide = Codec.encode!(%{program: wide})
    tools = [tools: %{"x" => fn _ -> 1 end}]
    assert {:error, step} = Agent.loop(fn _ -> wide end, [task: "x"], tools ++ opts)
    assert step.fail.message =~ "MemoryError"
  end

  test "a function of events that fails leaves no process and no message behind" do
    answer = each([1, 2, 3, 4, 5, 6])
    tools = %{"x" => fn %{"id" => id} -> id end}

    for concurrency <- [1, 3], fail <- [&throw/1, &raise/1, &exit/1] do
      calls = :counters.new(1, [])

      on_event = fn event ->
        if event.event == :call, do: :counters.add(calls, 1, 1)
        if :counters.get(calls, 1) == 4, do: fail.("no UI")
      end

      opts = [tools: tools, tool_concurrency: concurrency, on_event: on_event]

      # The processes of tools are those that have this one as their parent.
      {:ok, left} =
        Task.await(
          Task.async(fn ->
            assert {_kind, _reason} =
                     (try do
                        Agent.loop(fn _ -> answer end, [task: "x"], opts)
                      catch
                        kind, reason -> {kind, reason}
                      end)

            me = self()
            gone? = fn -> children(me) == [] end
            # Some milliseconds, on a busy machine more.
            {:ok, {eventually(gone?, 3_000), Process.info(me, :message_queue_len)}}
          end),
          :infinity
        )

      assert left == {true, {:message_queue_len, 0}}
    end
  end

  defp children(pid),
    do: Enum.filter(Process.list(), &(Process.info(&1, :parent) == {:parent, pid}))

  defp eventually(fun, left) do
    cond do
      fun.() -> true
      left == 0 -> false
      true -> Process.sleep(20) && eventually(fun, left - 1)
    end
  end

  test "a cancelled loop ends with the model's process and its tool" do
    test = self()

    wait = fn what ->
      send(test, {what, self()})
      Process.sleep(:infinity)
    end

    for {what, model, opts} <- [
          {:model, fn _ -> wait.(:model) end, [model_timeout: 60_000]},
          {:model, fn _ -> wait.(:model) end, []},
          {:tool, fn _ -> each([1]) end,
           [tools: %{"x" => fn _ -> wait.(:tool) end}, timeout: 60_000]}
        ],
        stop <- [&Agent.cancel/1, &Process.exit(&1, :kill)] do
      pid = spawn(fn -> Agent.loop(model, [task: "x"], opts) end)
      assert_receive {^what, inner}
      monitor = Process.monitor(inner)
      stop.(pid)
      assert_receive {:DOWN, ^monitor, :process, _, _}
      refute Process.alive?(pid) and Process.alive?(inner)
    end
  end

  test "events tell what happens" do
    test = self()
    tools = %{"x" => {& &1["id"], "(id :int) -> :int"}}
    opts = [on_event: &send(test, {:event, self(), &1})]

    {:ok, _step} =
      Agent.loop(model(["no", each([1])]), [task: "x", tools: tools, returns: "[:int]"], opts)

    events =
      Stream.repeatedly(fn ->
        receive do
          {:event, ^test, event} -> event
        after
          0 -> nil
        end
      end)
      |> Enum.take_while(& &1)

    assert Enum.map(events, &{&1.event, &1[:turn]}) == [
             turn: 1,
             answer: 1,
             turn_ended: 1,
             turn: 2,
             answer: 2,
             call: nil,
             turn_ended: 2,
             ended: 2
           ]

    assert %{tool: "x", args: %{"id" => 1}, decision: :run} =
             Enum.find(events, &(&1.event == :call))
  end
end
