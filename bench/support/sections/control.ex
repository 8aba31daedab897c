defmodule Bench.Sections.Control do
  @moduledoc false
  # Measures what it costs that calls of tools are counted, decided about, kept and replayed: 100 calls in a map.
  @behaviour Bench.Section

  import Bench.Section
  import Bench.Table, only: [table: 4, words: 2, times: 1, quotients: 2, count: 1]
  alias Bench.{Bars, ByHand, Harness, Table}
  alias PtcRunner.Json
  alias PtcRunner.Json.Paused

  @calls 100
  @map ~s({"op":"pipe","steps":[{"op":"load","name":"rows"},{"op":"map","expr":{"op":"call","tool":"double","args":{"n":21}}}]})
  # The last call waits, so that the answers of the others are in a journal.
  @and_stop ~s({"program":{"op":"let","name":"all","value":#{@map},"in":{"op":"call","tool":"stop"}}})

  @planned_calls 1_000
  @planned [:free, :within, :approved]
  @counted [:plain, :budget, :kept, :hook]
  @resumed [:tools, :by_hook, :resumed]

  @impl true
  def names, do: [:control]

  @impl true
  def blocks(_quick?) do
    make = fn -> %{context: %{"rows" => Enum.to_list(1..@calls)}} end
    [{make, [counted(), within(), resumed(), sealed()]}]
  end

  # `kept`: each call is decided about and kept, because some tool needs a person's decision.
  defp counted do
    {:ok, program} = Json.compile(~s({"program":#{@map}}))
    tools = %{"double" => &ByHand.double/1}
    careful = Map.put(tools, "careful", {&ByHand.double/1, approve: true})

    sides = [
      run(:plain, program, tools: tools),
      run(:budget, program, tools: tools, max_tool_calls: 1_000),
      run(:kept, program, tools: careful),
      run(:hook, program, tools: tools, on_call: fn _call -> :run end)
    ]

    group(:control, :counted, @calls, sides)
  end

  # `within`: its own plan, which is compared before the run; `approved`: with a condition, so that each call is looked at.
  defp within do
    {:ok, program} = Json.compile(~s({"program":#{@map}}))
    tools = %{"double" => &ByHand.double/1}
    context = %{"rows" => Enum.to_list(1..@planned_calls)}
    {:ok, plan} = Json.plan(program, tools: tools)
    approved = Json.Plan.approve(plan, where: fn _args -> true end)

    side = fn name, opts ->
      run = fn _data -> fn -> Json.run(program, [context: context, tools: tools] ++ opts) end end
      side(name, run, &value/1)
    end

    sides = [side.(:free, []), side.(:within, within: plan), side.(:approved, within: approved)]
    group(:control, :within, @planned_calls, sides)
  end

  # The same answers, from tools that have them, from a hook, and from the journal of a paused run.
  defp resumed do
    answer = ByHand.double(%{"n" => 21})
    tools = %{"double" => fn _args -> answer end, "stop" => fn _args -> 1 end}
    careful = %{tools | "stop" => {tools["stop"], approve: true}}

    hook = fn
      %{tool: "stop"} -> {:answer, 1}
      _call -> {:answer, answer}
    end

    resumed = fn data ->
      {:paused, paused} = Json.run(@and_stop, context: data.context, tools: careful)
      fn -> Json.resume(paused, {:answer, 1}, context: data.context, tools: careful) end
    end

    sides = [
      run(:tools, @and_stop, tools: tools),
      run(:by_hook, @and_stop, tools: tools, on_call: hook),
      side(:resumed, resumed, &value/1)
    ]

    group(:control, :resumed, @calls, sides)
  end

  # A pause with the answers, as a text for its owner and back. Each answer is another one.
  defp sealed do
    answer = fn %{"n" => n} -> %{"id" => n, "doubled" => 2 * n} end
    careful = %{"double" => answer, "stop" => {fn _args -> 1 end, approve: true}}
    program = String.replace(@and_stop, ~s("n":21), ~s("n":{"op":"it"}))
    keys = [:crypto.strong_rand_bytes(32)]

    sealed = fn data ->
      {:paused, paused} = Json.run(program, context: data.context, tools: careful)

      fn ->
        text = Paused.seal(paused, keys, bind: {:user, 7}, ttl: 60_000)
        {:ok, opened} = Paused.open(text, keys, bind: {:user, 7})
        opened
      end
    end

    group(:control, :sealed, @calls, [side(:sealed, sealed, &length(&1.calls))])
  end

  defp run(name, program, opts) do
    run = fn data -> fn -> Json.run(program, [{:context, data.context} | opts]) end end
    side(name, run, &value/1)
  end

  defp value({:ok, value, _delta, _memory}), do: value

  @impl true
  def tables(results) do
    [
      table(
        "Tools under control",
        "Each call decided about and kept is in its caller, and only its tool in another process.",
        of(results, :counted),
        [words("calls", &count(&1.rows))] ++
          times(@counted) ++ quotients([:budget, :kept, :hook], [:plain])
      ),
      table(
        "Within a plan",
        "A run within its own plan, and within one with a condition, which looks at each call.",
        of(results, :within),
        [words("calls", &count(&1.rows))] ++
          times(@planned) ++ quotients([:within, :approved], [:free])
      ),
      table(
        "Runs that go on",
        "The same answers, from tools at once, from a hook, and from the journal of a paused run.",
        of(results, :resumed),
        [words("calls", &count(&1.rows))] ++
          times(@resumed) ++ quotients([:resumed], [:tools, :by_hook])
      ),
      table(
        "Sealed runs",
        "A paused run as a text, encrypted and bound to its owner, and back.",
        of(results, :sealed),
        [words("answers", &count(&1.rows))] ++ times([:sealed])
      )
    ]
  end

  @impl true
  def bars(results) do
    counted = of(results, :counted)
    resumed = of(results, :resumed)

    [
      Bars.ratio(counted, "#{@calls} tool calls, counted", [:budget], :plain, 1.05),
      Bars.ratio(
        of(results, :within),
        "#{@planned_calls} tool calls within a plan",
        [:within],
        :free,
        1.03
      ),
      a_call(counted, "a hook that says :run, a call, beside calls that are kept", :kept),
      a_call(counted, "a hook that says :run, a call, beside a run without one", :plain),
      Bars.ratio(resumed, "a resumed run with #{@calls} answers", [:resumed], :by_hook, 1.1),
      Bars.ratio(resumed, "a resumed run with #{@calls} answers", [:resumed], :tools, 1.1),
      sealing(of(results, :sealed))
    ]
  end

  defp sealing(results) do
    what = "sealing and opening a pause with #{@calls} answers"

    case results do
      [result | _] ->
        us = Harness.median(Harness.side(result, :sealed)) / 1_000
        Bars.at_most(what, {100, "≤ 100 µs"}, {us, "#{Table.digits(us)} µs"})

      [] ->
        not_measured(what, "≤ 100 µs")
    end
  end

  defp not_measured(what, limit) do
    %{
      what: what,
      limit: limit,
      measured: "-",
      detail: "not part of this run",
      verdict: :not_measured
    }
  end

  defp a_call(results, what, other) do
    case results do
      [result | _] ->
        [hook, other] = for side <- [:hook, other], do: Harness.median(Harness.side(result, side))
        more = (hook - other) / @calls
        Bars.at_most(what, {300, "≤ 300 ns more"}, {more, "#{Table.digits(more)} ns"})

      [] ->
        not_measured(what, "≤ 300 ns more")
    end
  end
end
