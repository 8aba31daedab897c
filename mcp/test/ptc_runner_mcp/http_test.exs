defmodule PtcRunnerMcp.HttpTest do
  use ExUnit.Case, async: true
  import PtcRunnerMcp.Requests
  alias PtcRunner.Json.Codec
  alias PtcRunnerMcp.Http

  @local [
    {"Host", "localhost:4000"},
    {"Content-Type", "application/json"},
    {"Accept", "application/json, text/event-stream"}
  ]

  defp post(message, headers \\ @local, opts \\ []) do
    body = if is_binary(message), do: message, else: Codec.encode!(message)

    response =
      Http.respond(
        server(),
        Map.merge(%{method: "POST", headers: headers, body: body}, Map.new(opts))
      )

    {response.status, if(response.body == "", do: nil, else: Codec.decode!(response.body))}
  end

  defp modern_headers(method, more \\ []),
    do: @local ++ [{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", method}] ++ more

  test "both eras" do
    assert {200, %{"result" => %{"protocolVersion" => "2025-11-25"}}} =
             post(handshake(1, "initialize", %{"protocolVersion" => "2025-11-25"}))

    assert {202, nil} = post(%{"jsonrpc" => "2.0", "method" => "notifications/initialized"})

    assert {200, %{"result" => %{"tools" => [_ | _]}}} =
             post(handshake(1, "tools/list"), [{"MCP-Protocol-Version", "2025-11-25"} | @local])

    assert {200, %{"error" => %{"code" => -32_601}}} = post(handshake(1, "resources/list"))

    assert {200, %{"result" => %{"supportedVersions" => _}}} =
             post(modern(1, "server/discover"), modern_headers("server/discover"))

    assert {404, %{"error" => %{"code" => -32_601}}} =
             post(modern(1, "resources/list"), modern_headers("resources/list"))
  end

  test "headers of the later era must agree with the message" do
    params = run(%{"op" => "literal", "value" => 1})
    call = modern(1, "tools/call", params)

    assert {200, %{"result" => _}} =
             post(call, modern_headers("tools/call", [{"Mcp-Name", "run_program"}]))

    assert {200, %{"result" => _}} =
             post(
               call,
               modern_headers("tools/call", [
                 {"mcp-name", "=?base64?#{Base.encode64("run_program")}?="}
               ])
             )

    for headers <- [
          @local,
          modern_headers("tools/list", [{"Mcp-Name", "run_program"}]),
          modern_headers("tools/call"),
          modern_headers("tools/call", [{"Mcp-Name", "other"}]),
          modern_headers("tools/call", [{"Mcp-Name", "=?base64?cnVuX3Byb2dyYW1?="}]),
          modern_headers("tools/call", [{"Mcp-Name", "run_program"}, {"mcp-name", "other"}]),
          @local ++
            [
              {"mcp-protocol-version", "2025-11-25"},
              {"mcp-method", "tools/call"},
              {"mcp-name", "run_program"}
            ]
        ] do
      assert {400, %{"id" => 1, "error" => %{"code" => -32_020}}} = post(call, headers)
    end

    assert {400, %{"error" => %{"code" => -32_602}}} =
             post(handshake(1, "tools/list"), modern_headers("tools/list"))

    assert {400, %{"error" => %{"code" => -32_022}}} =
             post(handshake(1, "tools/list"), [{"MCP-Protocol-Version", "1.0"} | @local])

    notification = %{"jsonrpc" => "2.0", "method" => "notifications/cancelled"}

    assert {400, %{"error" => %{"code" => -32_022}}} =
             post(notification, [{"MCP-Protocol-Version", "1.0"} | @local])
  end

  test "hosts, origins, methods and media types" do
    ping = handshake(1, "ping")
    [_host | rest] = @local

    for host <- [
          "evil.example",
          "localhost.evil.example",
          "127.0.0.1.evil.example:80",
          "",
          "localhost@evil.example"
        ] do
      assert {403, _} = post(ping, [{"host", host} | rest])
    end

    assert {403, _} = post(ping, rest)
    assert {403, _} = post(ping, [{"host", "localhost"} | @local])

    for host <- ["localhost", "127.0.0.1:1", "[::1]:80", "LOCALHOST"],
        do: assert({200, _} = post(ping, [{"host", host} | rest]))

    for origin <- ["http://evil.example", "null", "https://localhost.evil.example"],
        do: assert({403, _} = post(ping, [{"origin", origin} | @local]))

    assert {200, _} = post(ping, [{"origin", "http://localhost:3000"} | @local])

    for method <- ["GET", "DELETE", "PUT"],
        do: assert({405, _} = post(ping, @local, method: method))

    assert {415, _} = post(ping, [{"host", "localhost"}, {"content-type", "text/plain"}])
    assert {406, _} = post(ping, [{"host", "localhost"}, {"accept", "text/html"}])

    assert Http.respond(server(), %{method: "POST", headers: rest, body: "{}"}, hosts: :any).status ==
             400
  end

  test "bodies that are no request" do
    for body <- [
          "",
          "{",
          "[]",
          "7",
          String.duplicate("[", 1_000_000),
          ~s({"jsonrpc": "2.0", "id": 1})
        ] do
      assert {400, %{"error" => %{"code" => code}}} = post(body)
      assert code in [-32_700, -32_600]
    end

    assert {400, _} = post(%{"jsonrpc" => "2.0", "id" => 1, "result" => %{}})
  end

  test "who asks is what the web server says" do
    tools = %{"me" => {fn _, %{context: context} -> context.who end, effect: :read}}
    server = PtcRunnerMcp.new(tools: tools, tool_context: &%{who: &1.principal})

    request = %{
      method: "POST",
      headers: @local,
      body: Codec.encode!(handshake(1, "tools/call", run(call("me", %{})))),
      principal: "ada"
    }

    assert Codec.decode!(Http.respond(server, request).body)["result"]["structuredContent"][
             "value"
           ] == "ada"
  end

  describe "the web server" do
    setup do
      {:ok, pid} = Http.Inets.start(server(), port: 0, most: 100_000)
      on_exit(fn -> Http.Inets.stop(pid) end)
      %{url: "http://127.0.0.1:#{Http.Inets.port(pid)}/mcp"}
    end

    defp send_to(url, body, headers \\ []) do
      headers = for {name, value} <- headers, do: {to_charlist(name), to_charlist(value)}

      {:ok, {{_, status, _}, headers, body}} =
        :httpc.request(:post, {to_charlist(url), headers, ~c"application/json", body}, [],
          body_format: :binary
        )

      {status, headers, body}
    end

    test "answers, and tells nothing of itself", %{url: url} do
      {200, headers, body} = send_to(url, Codec.encode!(handshake(1, "ping")))
      assert body == ~s({"id":1,"jsonrpc":"2.0","result":{}})
      assert {~c"content-type", ~c"application/json"} in headers
      refute List.keymember?(headers, ~c"server", 0)

      assert {202, _, ""} =
               send_to(
                 url,
                 Codec.encode!(%{"jsonrpc" => "2.0", "method" => "notifications/initialized"})
               )

      assert {404, _, _} = send_to(url <> "s", Codec.encode!(handshake(1, "ping")))

      assert {403, _, _} =
               send_to(url, Codec.encode!(handshake(1, "ping")), [{"host", "evil.example"}])

      assert {:ok, {{_, 405, _}, _, _}} = :httpc.request(:get, {to_charlist(url), []}, [], [])
    end

    test "a client that closes its connection ends its run, and one that sends two requests gets two answers" do
      me = self()
      wait = fn _ -> send(me, {:tool, self()}) && Process.sleep(:infinity) end
      {:ok, pid} = Http.Inets.start(server(tools: %{"wait" => {wait, effect: :write}}), port: 0)

      {:ok, socket} =
        :gen_tcp.connect({127, 0, 0, 1}, Http.Inets.port(pid), [:binary, active: false])

      request = fn message ->
        body = Codec.encode!(message)

        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: #{byte_size(body)}\r\n\r\n#{body}"
      end

      :ok =
        :gen_tcp.send(
          socket,
          request.(handshake(1, "ping")) <>
            request.(handshake(2, "tools/list")) <> request.(handshake(3, "ping"))
        )

      assert answers(socket, "") =~ ~r/"id":1.*"id":2.*"id":3/s

      :ok = :gen_tcp.send(socket, request.(handshake(4, "tools/call", run(call("wait", %{})))))
      assert_receive {:tool, tool}
      monitor = Process.monitor(tool)
      # More requests, which wait for the first, change nothing of it.
      :ok = :gen_tcp.send(socket, request.(handshake(5, "ping")))
      Process.sleep(100)
      :ok = :gen_tcp.send(socket, request.(handshake(6, "ping")))
      Process.sleep(100)
      :gen_tcp.close(socket)
      assert_receive {:DOWN, ^monitor, :process, ^tool, _reason}
      Http.Inets.stop(pid)
    end

    @tag capture_log: true
    test "a function of the application that raises is an error, and the next request is answered" do
      raises = {%{"name" => "raises"}, fn _call -> raise "a secret" end}
      {:ok, pid} = Http.Inets.start(server(extra: [raises]), port: 0)
      url = "http://127.0.0.1:#{Http.Inets.port(pid)}/mcp"

      {500, _, body} =
        send_to(url, Codec.encode!(handshake(1, "tools/call", %{"name" => "raises"})))

      assert Codec.decode!(body)["error"]["code"] == -32_603
      refute body =~ "secret"
      assert {200, _, _} = send_to(url, Codec.encode!(handshake(2, "ping")))
      Http.Inets.stop(pid)
    end

    defp answers(_socket, got) when byte_size(got) > 100_000, do: got

    defp answers(socket, got) do
      if got =~ ~s("id":3),
        do: got,
        else: answers(socket, got <> elem(:gen_tcp.recv(socket, 0, 60_000), 1))
    end

    test "refuses what is too large before it reads it", %{url: url} do
      assert {413, _, _} = send_to(url, String.duplicate("x", 200_000))
    end

    test "refuses a body in chunks, which has no length", %{url: url} do
      {:ok, socket} =
        :gen_tcp.connect({127, 0, 0, 1}, URI.parse(url).port, [:binary, active: false])

      head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\nTransfer-Encoding: chunked\r\n"
      :ok = :gen_tcp.send(socket, head <> "content-length: 2\r\n\r\n5F5E100\r\nx")
      assert {:ok, "HTTP/1.1 501 " <> _} = :gen_tcp.recv(socket, 0, 60_000)
      assert {200, _, _} = send_to(url, Codec.encode!(handshake(1, "ping")))
    end

    test "many at once", %{url: url} do
      program = run(each([1, 2, 3], "rate", "day"))

      1..100
      |> Task.async_stream(
        fn n -> send_to(url, Codec.encode!(handshake(n, "tools/call", program))) end,
        max_concurrency: 100,
        timeout: 300_000
      )
      |> Enum.with_index(1)
      |> Enum.each(fn {{:ok, {200, _, body}}, n} ->
        answer = Codec.decode!(body)
        assert answer["id"] == n
        assert answer["result"]["structuredContent"]["value"] == [0.5, 1.0, 1.5]
      end)
    end
  end
end
