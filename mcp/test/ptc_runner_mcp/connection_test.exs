defmodule PtcRunnerMcp.ConnectionTest do
  use ExUnit.Case, async: true
  import PtcRunnerMcp.Requests
  alias PtcRunner.Json.Codec
  alias PtcRunnerMcp.Connection

  defp connection(opts \\ []) do
    me = self()
    Connection.new(server(opts), &send(me, {:written, Codec.decode!(&1)}))
  end

  defp line(connection, message), do: Connection.line(connection, Codec.encode!(message))

  # Takes what comes until this many messages were written.
  defp until(connection, count, written \\ []) do
    if length(written) >= count do
      {connection, Enum.reverse(written)}
    else
      receive do
        {:written, message} -> until(connection, count, [message | written])
        message -> connection |> Connection.info(message) |> until(count, written)
      after
        10_000 -> flunk("only #{length(written)} of #{count} messages were written")
      end
    end
  end

  # A tool that says who it is, and then waits.
  defp waits do
    me = self()

    fun = fn _ ->
      send(me, {:tool, self()})
      Process.sleep(:infinity)
    end

    %{"wait" => {fun, effect: :write, signature: "() -> :int"}}
  end

  test "10,000 requests at once: each has its answer, and few run at the same time" do
    connection = connection()
    program = run(%{"op" => "literal", "value" => 1})

    # Each tenth is a program.
    request = fn n ->
      if rem(n, 10) == 0, do: handshake(n, "tools/call", program), else: handshake(n, "ping")
    end

    connection = Enum.reduce(1..10_000, connection, &line(&2, request.(&1)))
    assert map_size(connection.running) <= 32
    {connection, written} = until(connection, 10_000)
    refute Connection.busy?(connection)
    assert written |> Enum.map(& &1["id"]) |> Enum.sort() == Enum.to_list(1..10_000)
    assert Enum.count(written, &(&1["result"]["structuredContent"] == %{"value" => 1})) == 1_000
    assert Enum.count(written, &(&1["result"] == %{})) == 9_000
  end

  test "more bytes than may wait are refused" do
    connection =
      Enum.reduce(
        1..32,
        connection(tools: waits()),
        &line(&2, handshake(&1, "tools/call", run(call("wait", %{}))))
      )

    filler = String.duplicate("x", 3_500_000)
    big = handshake(0, "tools/call", run(%{"op" => "literal", "value" => filler}))
    connection = Enum.reduce(100..120, connection, &line(&2, %{big | "id" => &1}))

    assert_received {:written,
                     %{
                       "id" => 120,
                       "error" => %{
                         "message" => "Too many requests wait: send this one again later"
                       }
                     }}

    assert connection.bytes < 64_000_000
    Connection.close(connection)
  end

  test "a request that is cancelled ends with its tool, has no answer, and makes room" do
    connection =
      line(connection(tools: waits()), handshake(1, "tools/call", run(call("wait", %{}))))

    assert_receive {:tool, pid}
    monitor = Process.monitor(pid)

    cancelled = %{
      "jsonrpc" => "2.0",
      "method" => "notifications/cancelled",
      "params" => %{"requestId" => 1}
    }

    connection = line(connection, cancelled)
    refute Connection.busy?(connection)
    assert_receive {:DOWN, ^monitor, :process, ^pid, _reason}
    {connection, [answer]} = connection |> line(handshake(2, "ping")) |> until(1)
    assert answer["id"] == 2
    # What is not there is not cancelled.
    assert line(connection, cancelled) == connection
    assert line(connection, %{cancelled | "params" => %{}}) == connection
  end

  test "what waits is cancelled, too" do
    connection =
      Enum.reduce(
        1..33,
        connection(tools: waits()),
        &line(&2, handshake(&1, "tools/call", run(call("wait", %{}))))
      )

    assert :queue.len(connection.waiting) == 1

    connection =
      line(connection, %{
        "jsonrpc" => "2.0",
        "method" => "notifications/cancelled",
        "params" => %{"requestId" => 33}
      })

    assert :queue.len(connection.waiting) == 0
    Connection.close(connection)
  end

  test "the room of what waits and is cancelled is free again" do
    waits = run(call("wait", %{"filler" => String.duplicate("x", 1_000_000)}))

    connection =
      Enum.reduce(
        1..40,
        connection(tools: waits()),
        &line(&2, handshake(&1, "tools/call", waits))
      )

    assert connection.bytes > 8_000_000
    cancelled = %{"jsonrpc" => "2.0", "method" => "notifications/cancelled"}

    connection =
      Enum.reduce(33..40, connection, fn id, connection ->
        line(connection, Map.put(cancelled, "params", %{"requestId" => id}))
      end)

    assert connection.bytes == 0
    Connection.close(connection)
  end

  test "what is answered at once takes no room of what waits" do
    wait = run(call("wait", %{}))

    connection =
      Enum.reduce(1..32, connection(tools: waits()), &line(&2, handshake(&1, "tools/call", wait)))

    connection =
      Enum.reduce(33..65, connection, &line(&2, handshake(&1, "initialize")))
      |> line(handshake(66, "ping"))

    cancelled = %{"jsonrpc" => "2.0", "method" => "notifications/cancelled"}
    connection = line(connection, Map.put(cancelled, "params", %{"requestId" => 1}))
    {connection, written} = until(connection, 34)
    assert for(answer <- written, do: answer["id"]) == Enum.to_list(33..66)
    Connection.close(connection)
  end

  test "closing ends all runs and tools" do
    connection =
      line(connection(tools: waits()), handshake(1, "tools/call", run(call("wait", %{}))))

    assert_receive {:tool, pid}
    monitor = Process.monitor(pid)
    Connection.close(connection)
    assert_receive {:DOWN, ^monitor, :process, ^pid, _reason}
  end

  test "an id that is under way" do
    connection =
      line(connection(tools: waits()), handshake(1, "tools/call", run(call("wait", %{}))))

    connection = line(connection, handshake(1, "ping"))

    assert_received {:written,
                     %{
                       "id" => 1,
                       "error" => %{"message" => "A request with this id is under way"}
                     }}

    Connection.close(connection)
  end

  test "a process that is killed is an error of its request" do
    connection =
      line(connection(tools: waits()), handshake(1, "tools/call", run(call("wait", %{}))))

    [{_id, {pid, _monitor}}] = Map.to_list(connection.running)
    Process.exit(pid, :kill)
    {_connection, [answer]} = until(connection, 1)
    assert answer["error"] == %{"code" => -32_603, "message" => "The request ended: :killed"}
  end

  test "progress is told to who asks for it" do
    params =
      Map.put(run(each(Enum.to_list(1..3), "rate", "day")), "_meta", %{"progressToken" => "p"})

    {_connection, [first, answer]} =
      connection() |> line(handshake(1, "tools/call", params)) |> until(2)

    assert first == %{
             "jsonrpc" => "2.0",
             "method" => "notifications/progress",
             "params" => %{"progressToken" => "p", "progress" => 1, "message" => "rate"}
           }

    assert answer["result"]["structuredContent"]["value"] == [0.5, 1.0, 1.5]
  end

  describe "a client of the era of initialize" do
    defp initialized(capabilities) do
      params = %{
        "protocolVersion" => "2025-11-25",
        "capabilities" => capabilities,
        "clientInfo" => %{"name" => "t", "version" => "1"}
      }

      {connection, [answer]} =
        connection() |> line(handshake(0, "initialize", params)) |> until(1)

      assert answer["result"]["protocolVersion"] == "2025-11-25"
      line(connection, %{"jsonrpc" => "2.0", "method" => "notifications/initialized"})
    end

    test "is asked by a request, and the program goes on with its answer" do
      connection = initialized(%{"elicitation" => %{}})

      {connection, [asked]} =
        connection
        |> line(handshake(1, "tools/call", run(call("refund", %{"order" => 7}))))
        |> until(1)

      assert asked["method"] == "elicitation/create"
      assert asked["params"]["message"] =~ "refund"

      response = %{
        "jsonrpc" => "2.0",
        "id" => asked["id"],
        "result" => %{"action" => "accept", "content" => %{"decision" => "approve"}}
      }

      # A response to nothing is nothing.
      connection = line(connection, %{response | "id" => "other"})
      {connection, [answer]} = connection |> line(response) |> until(1)
      assert answer["result"]["structuredContent"]["value"] == "refunded 7"
      refute Map.has_key?(answer["result"], "resultType")
      assert connection.asked == %{}
    end

    test "may answer with an error, and may cancel while it is asked" do
      connection = initialized(%{"elicitation" => %{"form" => %{}}})

      {connection, [asked]} =
        connection
        |> line(handshake(1, "tools/call", run(call("refund", %{"order" => 7}))))
        |> until(1)

      response = %{
        "jsonrpc" => "2.0",
        "id" => asked["id"],
        "error" => %{"code" => -1, "message" => "no"}
      }

      {connection, [answer]} = connection |> line(response) |> until(1)
      assert answer["result"]["isError"]

      {connection, [_asked]} =
        connection
        |> line(handshake(2, "tools/call", run(call("refund", %{"order" => 7}))))
        |> until(1)

      connection =
        line(connection, %{
          "jsonrpc" => "2.0",
          "method" => "notifications/cancelled",
          "params" => %{"requestId" => 2}
        })

      assert connection.asked == %{}
      refute Connection.busy?(connection)
    end

    test "who answers without a decision is not asked for ever" do
      caller = %PtcRunnerMcp.Caller{capabilities: %{"elicitation" => %{}}}
      params = run(call("refund", %{"order" => 7}))

      ask = fn "elicitation/create", _params ->
        send(self(), :asked)
        %{"result" => %{"action" => "accept"}}
      end

      answer = PtcRunnerMcp.Conversation.answer(server(), {1, "tools/call", params}, caller, ask)

      assert %{"isError" => true, "content" => [%{"text" => text}]} = answer["result"]
      assert text =~ "asked 100 times"
      refute Map.has_key?(answer["result"], "resultType")
      for _ <- 1..100, do: assert_received(:asked)
      refute_received :asked
    end

    test "is not asked without the capability" do
      connection = initialized(%{})

      {_connection, [answer]} =
        connection
        |> line(handshake(1, "tools/call", run(call("refund", %{"order" => 7}))))
        |> until(1)

      assert answer["result"]["structuredContent"]["state"]
    end
  end
end
