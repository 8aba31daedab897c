defmodule PtcRunner.ClusterTest do
  # Real nodes. Not async: this VM is one of them meanwhile.
  use ExUnit.Case, async: false

  alias PtcRunner.Json
  alias PtcRunner.Json.Explain
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.Test.{Cluster, Scaling}
  alias PtcRunner.Test.Cluster.Waits

  with {:error, reason} <- Cluster.available(), do: @moduletag(skip: reason)

  @moduletag timeout: 600_000

  @adas ~s({"program": {"op": "pipe", "steps": [
    {"op": "load", "name": "orders"},
    {"op": "filter", "where": {"op": "eq", "field": "customer", "value": "Ada"}},
    {"op": "sum", "field": "total"}]}})

  setup_all do
    :ok = Cluster.start()
    on_exit(&Cluster.stop/0)
    nodes()
  end

  # Who stops a node has a second one of its own.
  setup context do
    if context[:stops_nodes],
      do: %{nodes: [hd(context.nodes)], lost: node!(101..300)},
      else: :ok
  end

  # Two nodes, with the rows 1 to 100 and 101 to 300.
  defp nodes do
    nodes = for rows <- [1..100, 101..300], do: node!(rows)
    %{nodes: Enum.map(nodes, &elem(&1, 1))}
  end

  defp node!(rows) do
    {peer, node} = Cluster.node!()

    rows =
      for n <- rows,
          do: %{"id" => n, "customer" => Enum.at(~w(Ada Bob), rem(n, 2)), "total" => n}

    {:ok, _supervisor} = :erpc.call(node, Scaling, :serve, [rows])
    {peer, node}
  end

  test "a compiled program runs over another node's data", %{nodes: [first, second]} do
    {:ok, program} = Json.compile(@adas)
    evens = fn range -> range |> Enum.filter(&(rem(&1, 2) == 0)) |> Enum.sum() end

    for _ <- 1..2 do
      assert Scaling.there(first, program) == {:ok, evens.(1..100), %{}, %{}}
      assert Scaling.there(second, program) == {:ok, evens.(101..300), %{}, %{}}
    end

    # The node that it came from still has its native part.
    assert Json.run!(program, context: %{"orders" => [%{"customer" => "Ada", "total" => 7}]}) == 7
  end

  test "and in a task that is supervised there", %{nodes: [first, second]} do
    {:ok, program} = Json.compile(@adas)
    tasks = for node <- [first, second], do: Scaling.task(node, program)
    assert Enum.map(tasks, &node(&1.pid)) == [first, second]
    assert [{:ok, 2550, _, _}, {:ok, 20_100, _, _}] = Task.await_many(tasks, 60_000)
  end

  test "limits hold there, and errors come back as data", %{nodes: [first, _second]} do
    program = ~s({"program": {"op": "call", "tool": "wait"}})
    opts = [tools: %{"wait" => &Waits.until_told/1}, timeout: 50]
    assert Scaling.there(first, program, opts) == {:error, {:timeout, 50}}

    assert Scaling.there(first, ~s({"program": {"op": "nope"}})) ==
             {:error, {:validation_error, "Unknown operation 'nope'"}}
  end

  test "a run that was paused on one node goes on on another one", %{nodes: [first, second]} do
    program =
      ~s({"program": {"a": {"op": "call", "tool": "read", "args": {"n": 1}}, "b": {"op": "call", "tool": "write", "args": {"n": 2}}}})

    {:ok, compiled} = Json.compile(program)
    tools = %{"read" => {&Waits.echo/1, effect: :read}, "write" => {&Waits.echo/1, approve: true}}

    for program <- [program, compiled] do
      assert {:paused, paused} = :erpc.call(first, Json, :run, [program, [tools: tools]])
      assert [%{tool: "write", args: %{"n" => 2}, path: ["program", "b"]}] = paused.calls
      value = %{"a" => [1, Atom.to_string(first)], "b" => [2, Atom.to_string(second)]}
      expected = {:ok, value, value, value}

      # `echo` answers with its node: the read was not made again.
      assert :erpc.call(second, Json, :resume, [paused, :approve, [tools: tools]]) == expected
    end
  end

  test "signatures and explanations are data too", %{nodes: [first, _second]} do
    {:ok, signature} = Signature.parse("(n :int) -> {total :int}")

    assert {:error, [%{path: ["total"]}]} =
             :erpc.call(first, Signature, :validate, [signature, %{"total" => "x"}])

    rows = for n <- 1..10, do: %{"customer" => "Bob", "total" => n}
    explanation = :erpc.call(first, Json, :explain, [@adas, [context: %{"orders" => rows}]])
    assert %Explain{result: {:ok, 0, %{}, %{}}} = explanation
    assert Enum.map(explanation.findings, & &1.message) == ["kept nothing of 10"]
    assert to_string(explanation) =~ "! kept nothing of 10"
  end

  test "many programs are fanned out over the nodes", %{nodes: nodes} do
    programs =
      for n <- 1..60 do
        ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "orders"},
          {"op": "filter", "where": {"op": "eq", "field": "id", "value": #{n}}}, {"op": "count"}]}})
      end

    results = for {:ok, count, _, _} <- Scaling.fan_out(programs, nodes, 4), do: count
    # In the order of the programs: odd ones went to the first node, which has these rows.
    assert results == for(n <- 1..60, do: rem(n, 2))
  end

  @tag :stops_nodes
  test "a node is lost in the middle: its part is reported, the rest is kept", given do
    %{nodes: [first], lost: {second_peer, second}} = given
    opts = [tools: %{"wait" => &Waits.until_told/1}, timeout: 120_000]

    program =
      ~s({"program": {"op": "pipe", "steps": [
      {"op": "load", "name": "orders"}, {"n": {"op": "count"}, "told": {"op": "call", "tool": "wait"}}]}})

    # The tool of both nodes waits for a name that this test registers there.
    gathering = Task.async(fn -> Scaling.gather([first, second], program, opts) end)
    assert eventually(fn -> :erpc.call(second, Process, :whereis, [:ptc_test_waits]) != nil end)
    :peer.stop(second_peer)
    assert eventually(fn -> second not in Node.list(:connected) end)
    assert eventually(fn -> :erpc.call(first, Process, :whereis, [:ptc_test_waits]) != nil end)
    send({:ptc_test_waits, first}, :told)

    assert {[%{"n" => 100, "told" => "yes"}], [{^second, {:lost, ^second, :noconnection}}]} =
             Task.await(gathering, 120_000)
  end

  @tag :stops_nodes
  test "a task on a lost node ends with its monitor", %{lost: {peer, node}} do
    program = ~s({"program": {"op": "call", "tool": "wait"}})
    opts = [tools: %{"wait" => &Waits.until_told/1}, timeout: 120_000]
    task = Scaling.task(node, program, opts)
    assert eventually(fn -> :erpc.call(node, Process, :whereis, [:ptc_test_waits]) != nil end)
    :peer.stop(peer)
    assert {{:nodedown, ^node}, _call} = catch_exit(Task.yield(task, 120_000))
  end

  @tag :stops_nodes
  test "a partitioned sum: each node its share, merged by a second program", given do
    %{nodes: [first], lost: {peer, second}} = given
    nodes = [first, second]
    assert Scaling.total(nodes) == {%{"sum" => div(300 * 301, 2), "count" => 300}, []}

    :peer.stop(peer)

    assert {%{"sum" => 5050, "count" => 100}, [{^second, {:lost, ^second, :noconnection}}]} =
             Scaling.total([first, second])
  end

  test "the guide's code is the code that was tested" do
    source = "test/support/scaling.ex" |> File.read!() |> module_body()
    [%{code: code}] = "guides/scaling.md" |> File.read!() |> PtcRunner.Test.Guides.blocks()
    assert module_body(code) == source
  end

  # What stands in a module, behind its documentation.
  defp module_body(code),
    do: code |> String.split("alias PtcRunner.Json", parts: 2) |> List.last() |> words()

  defp words(text), do: text |> String.split() |> Enum.join(" ")

  defp eventually(fun, left \\ 4_000) do
    cond do
      fun.() -> true
      left == 0 -> false
      true -> Process.sleep(25) && eventually(fun, left - 1)
    end
  end
end
