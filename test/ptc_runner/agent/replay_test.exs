defmodule PtcRunner.Agent.ReplayTest do
  # What was journaled in production is run again with the answers of then: no tool is called.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Json.{Codec, Paused}

  defp never,
    do: %{
      "rate" =>
        {fn _ -> raise "called" end,
         signature: "(to :string) -> :float", effect: :read, cache: true},
      "pay" =>
        {fn _ -> raise "called" end,
         signature: "(n :int) -> :string", approve: true, max_calls: 1}
    }

  defp tools,
    do: %{
      "rate" =>
        {fn %{"to" => to} -> if(to == "XXX", do: {:error, "none"}, else: byte_size(to) / 2) end,
         signature: "(to :string) -> :float", effect: :read, cache: true},
      "pay" => {fn %{"n" => n} -> "paid #{n}" end, signature: "(n :int) -> :string"}
    }

  defp journal(run) do
    me = self()
    ref = make_ref()
    result = run.(&send(me, {ref, &1}))
    {result, ref |> events([]) |> Codec.encode!() |> Codec.decode!()}
  end

  defp events(ref, done) do
    receive do
      {^ref, event} -> events(ref, [event | done])
    after
      0 -> Enum.reverse(done)
    end
  end

  defp program(node), do: Codec.encode!(%{program: node})
  defp rate(to, more \\ %{}), do: Map.merge(%{op: "call", tool: "rate", args: %{to: to}}, more)
  defp pay(n), do: %{op: "call", tool: "pay", args: %{n: n}}

  test "a run" do
    for node <- [
          rate("USD"),
          %{a: rate("USD"), b: rate("USD"), c: pay("7")},
          rate("XXX", %{on_error: 0}),
          rate("XXX"),
          %{
            op: "pipe",
            steps: [
              %{op: "load", name: "rows"},
              %{op: "map", expr: rate(%{op: "get", field: "c"})}
            ]
          }
        ],
        concurrency <- [1, 4] do
      opts = [
        context: %{rows: [%{c: "A"}, %{c: "BB"}]},
        memory: %{"k" => 1},
        tool_concurrency: concurrency
      ]

      {result, events} = journal(&Agent.run(program(node), tools(), [{:on_journal, &1} | opts]))
      {:ok, paused} = Paused.recover(events)

      for journal <- [events, paused] do
        again =
          Agent.replay(
            paused.program,
            journal,
            [tools: never()] ++ Keyword.take(opts, [:context])
          )

        assert elem(again, 0) == elem(result, 0)
        assert elem(again, 1) == elem(result, 1)
      end

      # The same without an agent.
      plain = Json.replay(paused.program, paused, context: opts[:context])
      assert elem(plain, 0) == elem(result, 0)
      assert elem(plain, 1) == elem(result, 1)
    end
  end

  test "a run that departs says so, and so does one that makes fewer calls" do
    {_result, events} =
      journal(&Agent.run(program(%{a: rate("USD"), b: pay(7)}), tools(), on_journal: &1))

    for node <- [
          %{a: rate("EUR"), b: pay(7)},
          %{a: rate("USD")},
          %{a: rate("USD"), b: pay(7), c: pay(8)}
        ] do
      assert {:error, {:execution_error, text}, _told} =
               Agent.replay(program(node), events, tools: never())

      assert text =~ "journal has"
    end
  end

  test "what no journal is" do
    for wrong <- [
          nil,
          [],
          [1],
          %{},
          [%{"id" => "1"}],
          [1 | 2],
          [%{"paused" => 1}],
          [%{"paused" => 9}]
        ] do
      assert_raise ArgumentError, fn -> Agent.replay(program(pay(1)), wrong, tools: never()) end
      assert {:error, {:execution_error, _}} = Json.replay(program(pay(1)), wrong)
    end
  end

  test "a loop: the turns in their order, also those without a run, and those of a run that was resumed" do
    answers = [
      program(%{op: "lod", name: "x"}),
      program(%{look: rate("USD"), kept: 3}),
      program(%{op: "literal", value: "no number"}),
      program(%{op: "literal", value: "no number"}),
      program(%{op: "add", left: rate("EURO"), right: %{op: "var", name: "kept"}})
    ]

    model = fn messages -> Enum.at(answers, div(length(messages), 2) - 1) end
    task = &[task: "Rates.", tools: &1, returns: ":float", max_turns: 6, check: false]
    {{:ok, step}, events} = journal(&Agent.loop(model, task.(tools()), on_journal: &1))
    assert step.return == 5.0
    assert length(step.turns) == 5
    texts = for %{role: :assistant, content: text} <- step.messages, do: text

    assert {:ok, again} =
             Agent.replay(&Enum.at(texts, div(length(&1), 2) - 1), events, task.(never()))

    assert again.return == step.return
    assert Enum.map(again.turns, & &1.result) == Enum.map(step.turns, & &1.result)
    assert Enum.map(again.messages, & &1.content) == Enum.map(step.messages, & &1.content)

    # With a pause in the last turn.
    asks =
      Map.update!(tools(), "rate", fn {fun, opts} -> {fun, Keyword.put(opts, :approve, true)} end)

    {{:ok, step}, events} =
      journal(fn journal ->
        given = [model: model, tools: asks, on_journal: journal]

        Agent.loop(model, task.(asks), on_journal: journal)
        |> Stream.iterate(fn
          {:paused, paused} -> Agent.resume(paused, {:answer, 4.5}, given)
          ended -> ended
        end)
        |> Enum.find(&(not match?({:paused, _}, &1)))
      end)

    assert step.return == 7.5
    assert {:ok, again} = Agent.replay(model, events, task.(never()))
    assert again.return == 7.5

    assert for(call <- Agent.audit(again), do: {call.turn, call.decision}) == [
             {2, :replay},
             {5, :replay}
           ]
  end

  test "a loop that asks for a call which the journal does not have" do
    {{:ok, _step}, events} =
      journal(
        &Agent.loop(fn _ -> program(rate("USD")) end, [task: "x", tools: tools()], on_journal: &1)
      )

    assert {:error, step} =
             Agent.replay(fn _ -> program(pay(1)) end, events,
               task: "x",
               tools: never(),
               max_turns: 1
             )

    assert step.fail.message =~ "the journal has no more calls"
  end
end
