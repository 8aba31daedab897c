defmodule PtcRunner.Agent.AuditTest do
  # Who or what has decided about each call of an agent, when, with which note; what was sent, and what waits.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Agent.Paused
  alias PtcRunner.Json.Codec
  alias PtcRunner.Json.Control.Decided

  doctest Decided

  defp calls(tool, ids),
    do:
      Codec.encode!(%{
        program: %{
          op: "list",
          items: for(id <- ids, do: %{op: "call", tool: tool, args: %{id: id}})
        }
      })

  defp tools(more \\ []),
    do: %{"pay" => {fn %{"id" => id} -> id * 2 end, [{:signature, "(id :int) -> :int"} | more]}}

  defp stored(paused) do
    {:ok, paused} =
      paused |> Paused.to_map() |> Codec.encode!() |> Codec.decode!() |> Paused.from_map()

    paused
  end

  defp said(audit),
    do: for(call <- audit, do: {call.args["id"], call.decision, call.by, call.note})

  test "each decision has who or what made it, when and why" do
    hook = fn
      %{args: %{"id" => 1}} ->
        :run

      %{args: %{"id" => 2}} ->
        {:decided, :run, by: "rule 7", note: "small"}

      %{args: %{"id" => 3}} ->
        {:run, %{"id" => 30}}

      %{args: %{"id" => 4}} ->
        {:decided, {:answer, 0}, by: :policy}

      %{args: %{"id" => 5}} ->
        {:decided, {:deny, "no"}, note: "too much", at: ~U[2026-01-02 03:04:05Z]}
    end

    model = fn messages ->
      if length(messages) == 2, do: calls("pay", [1, 2, 3, 4]), else: calls("pay", [5])
    end

    task = [task: "Pay.", tools: tools(), returns: "{n :int}", max_turns: 2, check: false]

    for more <- [[], [tool_concurrency: 8]] do
      {:error, step} = Agent.loop(model, task, [{:on_call, hook} | more])
      audit = Agent.audit(step)

      assert Enum.sort(said(audit)) == [
               {1, :run, :on_call, nil},
               {2, :run, "rule 7", "small"},
               {4, :answer, :policy, nil},
               {5, :deny, :on_call, "too much"},
               {30, :run, :on_call, nil}
             ]

      assert %{asked: %{"id" => 3}, answer: "60"} = Enum.find(audit, &(&1.args["id"] == 30))
      assert for(%{asked: asked} <- audit, asked != nil, do: asked) == [%{"id" => 3}]
      assert List.last(audit).at == "2026-01-02T03:04:05Z"

      for %{at: at} <- audit do
        assert {:ok, _time, 0} = DateTime.from_iso8601(at)
      end
    end
  end

  test "what was decided about a program comes before its calls, with the digest of its plan" do
    model = fn messages -> calls("pay", [length(messages)]) end
    task = [task: "Pay.", tools: tools(), returns: "{n :int}", max_turns: 3, check: false]
    paid = fn number -> {number, "pay", :run} end

    seen = fn audit -> for entry <- audit, do: {entry.turn, entry.tool, entry.decision} end

    # The function says something else each time.
    answers = :counters.new(1, [])

    approve = fn plan ->
      :counters.add(answers, 1, 1)
      Enum.at([:run, {:refuse, "not now"}, {:within, plan}], :counters.get(answers, 1) - 1)
    end

    {:error, step} = Agent.loop(model, task, approve: approve)
    audit = Agent.audit(step)

    assert seen.(audit) ==
             [{1, nil, :run}, paid.(1), {2, nil, :refused}, {3, nil, :within}, paid.(3)]

    plans = for %{tool: nil} = entry <- audit, do: entry
    assert Enum.uniq(for entry <- plans, do: entry.by) == [:approve]
    assert [nil, why, nil] = for(entry <- plans, do: entry.error)
    assert why =~ "not now"

    {:ok, first} = PtcRunner.Json.plan(calls("pay", [2]), tools: tools())
    assert hd(plans).plan["program"] == first.digest.program
    assert Enum.uniq(for entry <- plans, do: entry.plan["program"]) |> length() == 3
    assert step.usage.approvals |> length() == 3

    # A program that waits is in the list, and then who has decided.
    {:paused, paused} = Agent.loop(model, task, approve: fn _plan -> :pause end)
    assert [%{tool: nil, decision: :waits, plan: digest}] = Agent.audit(stored(paused))
    again = [model: model, approve: fn _plan -> :run end] ++ task

    for {decision, said} <- [
          {:approve, :approved},
          {{:within, paused.run.plan}, :within},
          {{:deny, "no"}, :refused}
        ] do
      decided = {:decided, decision, by: "Ann", note: "ticket 7", at: "2026-01-02T03:04:05Z"}
      {:error, step} = Agent.resume(stored(paused), decided, again)
      [plan | _] = Agent.audit(step)

      assert %{turn: 1, decision: ^said, by: "Ann", note: "ticket 7", plan: ^digest} = plan
      assert plan.at == "2026-01-02T03:04:05Z"
    end

    # Without the function there is no entry, and a program that only reads is not asked about.
    {:error, step} = Agent.loop(model, task)
    assert Enum.all?(Agent.audit(step), & &1.tool)
    assert not is_map_key(step.usage, :approvals)
    reads = Keyword.put(task, :tools, tools(effect: :read))
    {:error, step} = Agent.loop(model, reads, approve: fn _plan -> {:refuse, "no"} end)
    assert Enum.all?(Agent.audit(step), & &1.tool)
  end

  test "a run outside of a loop keeps what was decided about its program" do
    tools = tools(approve: true)
    program = calls("pay", [1])

    said = fn audit ->
      for entry <- audit, do: {entry.turn, entry.tool, entry.decision, entry.by}
    end

    # By the function, before a call waited.
    {:paused, paused} = Agent.run(program, tools, approve: fn plan -> {:within, plan} end)
    wanted = [{1, nil, :within, :approve}, {1, "pay", :waits, nil}]
    assert said.(Agent.audit(paused)) == wanted
    assert said.(Agent.audit(stored(paused))) == wanted
    {:ok, [2], info} = Agent.resume(stored(paused), :approve, tools: tools)
    assert [%{decision: :within, plan: digest}] = info.approvals
    assert is_binary(digest.program)

    # By a person, before a call waited, too.
    {:paused, paused} = Agent.run(program, tools, approve: fn _plan -> :pause end)
    assert said.(Agent.audit(paused)) == [{1, nil, :waits, nil}]
    decided = {:decided, :approve, by: "Ann"}
    {:paused, paused} = Agent.resume(stored(paused), decided, tools: tools)
    wanted = [{1, nil, :approved, "Ann"}, {1, "pay", :waits, nil}]
    assert said.(Agent.audit(stored(paused))) == wanted
    {:ok, [2], info} = Agent.resume(paused, :approve, tools: tools)
    assert [%{decision: :approved, by: "Ann"}] = info.approvals

    {:ok, [2], info} = Agent.run(program, tools(), approve: fn _plan -> :run end)
    assert [%{decision: :run}] = info.approvals
    {:ok, [2], info} = Agent.run(program, tools())
    assert not is_map_key(info, :approvals)

    lisp = [language: :lisp, approve: fn plan -> {:within, plan} end]
    {:paused, paused} = Agent.run("(tool/pay {:id 1})", tools, lisp)

    assert [{1, nil, :within, :approve}, {1, "pay", :waits, nil}] =
             said.(Agent.audit(stored(paused)))

    {:ok, 2, info} = Agent.resume(stored(paused), :approve, tools: tools)
    assert [%{decision: :within}] = info.approvals

    # One that was stored by an earlier release has none, and others are refused.
    map = Paused.to_map(paused)
    assert {:ok, %{approvals: []}} = map |> Map.delete("approvals") |> Paused.from_map()

    for wrong <- [1, [1], [%{"decision" => "run"}]],
        do:
          assert(
            {:error, ~s(no valid "approvals" of the paused run)} =
              Paused.from_map(%{map | "approvals" => wrong})
          )
  end

  test "a person who approves is not the program that runs, and the calls that wait are in the list" do
    model = fn _ -> calls("pay", [1, 2, 3]) end
    given = [model: model, tools: tools(approve: true)]
    task = [task: "Pay.", tools: tools(approve: true), returns: "[:int]"]
    {:paused, paused} = Agent.loop(model, task)
    assert said(Agent.audit(paused)) == for(n <- 1..3, do: {n, :waits, nil, nil})

    for call <- Agent.audit(paused) do
      assert %{answer: nil, error: nil, turn: 1, at: at} = call
      assert at == paused.run.made_at
    end

    {:paused, paused} = Agent.resume(stored(paused), %{"1.0.1" => :approve}, given)

    assert said(Agent.audit(stored(paused))) == [
             {1, :approved, :resume, nil},
             {2, :waits, nil, nil},
             {3, :waits, nil, nil}
           ]

    decided = {:decided, {:run, %{"id" => 20}}, by: "Ann", note: "ticket 7"}
    {:paused, paused} = Agent.resume(stored(paused), %{"1.1.1" => decided}, given)

    assert said(Agent.audit(stored(paused))) == [
             {1, :approved, :resume, nil},
             {20, :approved, "Ann", "ticket 7"},
             {3, :waits, nil, nil}
           ]

    {:ok, step} = Agent.resume(stored(paused), {:decided, {:answer, 9}, by: "Bob"}, given)
    assert step.return == [2, 40, 9]

    assert [%{decision: :approved}, %{asked: %{"id" => 2}, by: "Ann"}, %{answer: "9", by: "Bob"}] =
             Agent.audit(step)

    assert {:ok, _json} = Codec.encode(step.tool_calls)
  end

  test "calls that overlap wait together, and each has its own decision" do
    program = Codec.decode!(calls("pay", [1, 2]))
    {:paused, paused} = Agent.run(program, tools(approve: true), tool_concurrency: 2)
    assert said(Agent.audit(paused)) == [{1, :waits, nil, nil}, {2, :waits, nil, nil}]

    decisions =
      for call <- paused.calls,
          into: %{},
          do: {call.id, {:decided, :approve, by: "a#{call.args["id"]}"}}

    {:ok, [2, 4], info} = Agent.resume(stored(paused), decisions, tools: tools(approve: true))

    assert Enum.sort(for call <- info.tool_calls, do: {call.args["id"], call.by}) == [
             {1, "a1"},
             {2, "a2"}
           ]
  end

  test "what no person decides: the cache, a budget, a rule about secrets" do
    program = Codec.decode!(calls("pay", [1, 1, 2]))

    for {opts, expected} <- [
          {[cache: true], [{1, :run, nil}, {1, :cache, :cache}, {2, :run, nil}]},
          {[cache: true, max_calls: 1],
           [{1, :run, nil}, {1, :cache, :cache}, {2, :refused, :limit}]}
        ] do
      info =
        case Agent.run(program, tools(opts), info: true) do
          {:ok, _value, info} -> info
          {:error, _error, _told, info} -> info
        end

      assert for(
               call <- info.tool_calls,
               do: {call.args["id"], call[:decision] || :run, call[:by]}
             ) == expected
    end

    leak =
      ~s({"program": {"op": "call", "tool": "mail", "args": {"row": {"op": "call", "tool": "look"}}}})

    tools = %{"look" => fn _ -> %{"_pin" => 7} end, "mail" => {fn _ -> 1 end, cache: true}}
    {:error, _error, _told, info} = Agent.run(leak, tools, info: true)
    assert %{decision: :refused, by: :firewall} = Enum.find(info.tool_calls, &(&1.name == "mail"))
  end

  test "events tell what was sent and who decided" do
    me = self()
    hook = fn call -> {:decided, {:run, %{"id" => call.args["id"] + 1}}, by: "rule"} end

    {:ok, _step} =
      Agent.loop(fn _ -> calls("pay", [1]) end, [task: "Pay.", tools: tools(), returns: "[:int]"],
        on_call: hook,
        on_event: &send(me, {:event, &1})
      )

    assert_received {:event,
                     %{
                       event: :call,
                       args: %{"id" => 2},
                       asked: %{"id" => 1},
                       by: "rule",
                       decision: :run
                     } = event}

    refute is_map_key(event, :note)
  end

  test "a decision that is none is refused" do
    program = Codec.decode!(calls("pay", [1]))

    for wrong <- [
          :approve,
          {:decided, :run, 7},
          {:decided, :run, by: 7},
          {:decided, :run, at: "soon"},
          {:decided, :run, who: "x"},
          {:decided, :no, []}
        ] do
      assert {:error, {:execution_error, text}, _} =
               Agent.run(program, tools(), on_call: fn _ -> wrong end)

      assert text =~ "was refused: the function of :on_call returned"
    end

    {:paused, paused} = Agent.run(program, tools(approve: true))

    for wrong <- [
          :run,
          :pause,
          {:decided, :approve, 7},
          {:decided, :approve, note: 7},
          {:decided, :pause, []},
          %{"1" => {:decided, :approve, at: 5}}
        ] do
      assert_raise ArgumentError, ~r/a decision must be/, fn ->
        Agent.resume(paused, wrong, tools: tools(approve: true))
      end
    end
  end
end
