defmodule PtcRunnerMcp.RandomTest do
  # Messages that are almost right: whatever they are, there is an answer or none, and nothing raises.
  # The atoms of this VM are counted, so no other test runs beside this one.
  use ExUnit.Case, async: false
  import PtcRunnerMcp.Requests
  alias PtcRunner.Json.Codec
  alias PtcRunnerMcp.{Caller, Http, Message}

  @values [
    nil,
    true,
    0,
    -1,
    1.5,
    "",
    "x",
    "run_program",
    "2026-07-28",
    [],
    [1],
    %{},
    %{"a" => %{}},
    %{"op" => "call"}
  ]
  @keys ~w(jsonrpc id method params name arguments program state decision query limit names _meta cursor inputResponses requestState approval
    action content progressToken io.modelcontextprotocol/protocolVersion io.modelcontextprotocol/clientCapabilities elicitation)

  defp seeds do
    state =
      PtcRunnerMcp.handle(
        server(),
        modern(1, "tools/call", run(call("refund", %{"order" => 1})), %{"elicitation" => %{}})
      )

    answer = %{
      "requestState" => state["result"]["requestState"],
      "inputResponses" => %{
        "approval" => %{"action" => "accept", "content" => %{"decision" => "approve"}}
      }
    }

    [
      handshake(1, "initialize", %{"protocolVersion" => "2025-11-25", "capabilities" => %{}}),
      modern(1, "server/discover"),
      modern(1, "tools/list"),
      modern(1, "tools/call", Map.merge(run(call("refund", %{"order" => 1})), answer), %{
        "elicitation" => %{}
      }),
      handshake(1, "tools/call", run(each([1, 2], "rate", "day"))),
      handshake(1, "tools/call", %{
        "name" => "search_tools",
        "arguments" => %{"query" => "rate", "limit" => 2}
      }),
      handshake(1, "tools/call", %{
        "name" => "describe_tools",
        "arguments" => %{"names" => ["rate"]}
      }),
      handshake(1, "tools/call", %{
        "name" => "run_program",
        "arguments" => %{"state" => "x", "decision" => "deny"}
      })
    ]
  end

  # Changes a place or a few of a term.
  defp change(map) when is_map(map) and map_size(map) > 0 do
    {key, value} = Enum.random(map)

    case :rand.uniform(10) do
      1 -> Map.delete(map, key)
      2 -> Map.put(map, Enum.random(@keys), Enum.random(@values))
      3 -> %{map | key => Enum.random(@values)}
      _ -> %{map | key => change(value)}
    end
  end

  defp change([_ | _] = list),
    do: List.update_at(list, :rand.uniform(length(list)) - 1, &change/1)

  defp change(_other), do: Enum.random(@values)

  defp broken(text) do
    at = :rand.uniform(byte_size(text)) - 1

    case :rand.uniform(3) do
      1 ->
        binary_part(text, 0, at)

      2 ->
        binary_part(text, 0, at) <>
          <<:rand.uniform(256) - 1>> <> binary_part(text, at + 1, byte_size(text) - at - 1)

      3 ->
        text <> text
    end
  end

  test "3,000 messages, over both transports" do
    :rand.seed(:exsss, String.to_integer(System.get_env("PTC_SEED", "1")))
    server = server(timeout: 2_000)
    seeds = seeds()
    caller = %Caller{notify: fn _method, _params -> :ok end}
    # What reads and writes has its atoms after these.
    messages(1..1_000, server, caller, seeds)
    atoms = :erlang.system_info(:atom_count)
    messages(1..2_000, server, caller, seeds)
    assert :erlang.system_info(:atom_count) - atoms < 50
  end

  defp messages(numbers, server, caller, seeds) do
    for n <- numbers do
      message =
        Enum.reduce(1..:rand.uniform(3), Enum.random(seeds), fn _, message -> change(message) end)

      answer = PtcRunnerMcp.handle(server, message, caller)

      assert answer == nil or (answer["jsonrpc"] == "2.0" and Map.has_key?(answer, "id")),
             inspect(message)

      if answer, do: assert({:ok, _} = Codec.encode(answer))

      if rem(n, 3) == 0 do
        text = broken(Codec.encode!(message))
        assert elem(Message.read(text), 0) in [:request, :notification, :response, :invalid]

        headers =
          Enum.take_random(
            [
              {"host", "localhost"},
              {"mcp-protocol-version", "2026-07-28"},
              {"mcp-method", "tools/call"},
              {"mcp-name", text},
              {"accept", text},
              {"origin", text}
            ],
            4
          )

        response =
          Http.respond(server, %{
            method: "POST",
            headers: [{"host", "localhost"} | headers],
            body: text
          })

        assert response.status in [200, 202, 400, 403, 404, 406]
      end
    end
  end
end
