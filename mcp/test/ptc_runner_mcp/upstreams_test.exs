defmodule PtcRunnerMcp.UpstreamsTest do
  use ExUnit.Case, async: false
  import PtcRunnerMcp.Requests
  import PtcRunnerMcp.Waiting
  alias PtcRunnerMcp.Upstreams

  @fake Path.expand("../support/fake_server.sh", __DIR__)

  defp start(servers, tools, opts \\ []) do
    servers =
      for {name, mode, ptc} <- servers,
          into: %{},
          do: {name, %{"command" => @fake, "args" => [mode], "ptc" => ptc}}

    file = Path.join(System.tmp_dir!(), "ptc_mcp_#{System.unique_integer([:positive])}.json")
    File.write!(file, PtcRunner.Json.Codec.encode!(%{"mcpServers" => servers}))
    on_exit(fn -> File.rm(file) end)
    on_exit(&Upstreams.stop/0)
    Upstreams.start(file, tools, opts)

    # The others are waited for: on a machine that stands still they may take longer than the first look at the tools waits.
    assert soon(fn ->
             Enum.all?(:sys.get_state(Upstreams).clients, fn {name, client} ->
               name == "silent" or client.status != :starting
             end)
           end)

    PtcRunnerMcp.new(tools: &Upstreams.catalogue/0, tool_concurrency: 1)
  end

  defp ask(server, name, args) do
    PtcRunnerMcp.handle(
      server,
      handshake(1, "tools/call", %{"name" => name, "arguments" => args})
    )["result"]
  end

  test "many tools that cannot be read are told in few words" do
    server = start([{"x", "broken", %{}}], %{})
    notes = server.catalogue.().notes
    assert length(notes) == 6
    assert List.last(notes) == "x: 94 more tools are left out"

    assert [%{"name" => "echo"}] =
             ask(server, "search_tools", %{"query" => "echo"})["structuredContent"]["value"]
  end

  test "one program over the tools of several servers, and names that clash" do
    server =
      start(
        [
          {"a", "good", %{"approve" => "none"}},
          {"b", "good", %{"approve" => "none"}},
          {"c", "pages", %{"approve" => "none"}}
        ],
        tools()
      )

    names = for tool <- server.catalogue.().tools, do: tool.name
    assert names == ~w(a.echo a.search b.echo b.search first rate refund second)

    program = %{
      "one" => call("a.echo", %{"text" => "x"}),
      "two" => call("rate", %{"day" => 2}),
      "three" => call("first", %{})
    }

    result = ask(server, "run_program", %{"program" => program})

    assert result["structuredContent"]["value"] == %{
             "one" => "good heard",
             "two" => 1.0,
             "three" => "pages heard"
           }

    wrong =
      ask(server, "run_program", %{"program" => call("a.echo", %{"text" => 7, "txet" => 1})})

    assert wrong["isError"]
  end

  test "readOnlyHint counts only where the file says so; what writes waits for a person" do
    server =
      start(
        [
          {"a", "good", %{}},
          {"b", "pages", %{"trustReadOnlyHint" => true}},
          {"c", "evil", %{"readOnly" => ["echo"], "only" => ["echo"]}}
        ],
        []
      )

    effects =
      for tool <- server.catalogue.().tools,
          into: %{},
          do: {tool.name, {tool.effect, tool.approve}}

    assert effects["search"] == {:write, true}
    assert effects["first"] == {:read, false}
    assert effects["c.echo"] == {:read, false}
    result = ask(server, "run_program", %{"program" => call("search", %{})})
    assert [%{"tool" => "search"}] = result["structuredContent"]["waiting"]
  end

  test "descriptions of other servers are data, and an entry that is none does not hold the others" do
    server = start([{"evil", "evil", %{}}], [])
    result = ask(server, "describe_tools", %{"names" => ["echo"]})
    assert [%{"tool" => text}] = result["structuredContent"]["value"]
    refute text =~ ~r/^\s*#/m
    refute hd(result["content"])["text"] =~ "\n"
    assert [note] = result["structuredContent"]["notes"]
    assert note =~ "evil: a tool is left out"
  end

  test "slow, silent and dead servers do not hold the others" do
    {micros, server} =
      :timer.tc(fn ->
        start(
          [
            {"good", "good", %{"approve" => "none"}},
            {"silent", "silent", %{}},
            {"dead", "dead", %{}},
            {"slow", "slow", %{"approve" => "none", "timeout" => 300}}
          ],
          [],
          start: 60_000
        )
      end)

    # The silent one has a minute for its start.
    assert micros < 50_000_000
    result = ask(server, "search_tools", %{"query" => "says"})

    assert Enum.any?(
             result["structuredContent"]["notes"],
             &(&1 =~ "the server silent is starting")
           )

    assert Enum.any?(result["structuredContent"]["notes"], &(&1 =~ "dead"))

    assert List.last(result["content"])["text"] =~ "the server silent is starting"
    wrong = ask(server, "run_program", %{"program" => call("other", %{})})
    assert hd(wrong["content"])["text"] =~ "Note: the server silent is starting"

    each = %{
      "fast" => call("good.echo", %{}),
      "slow" => %{"op" => "call", "tool" => "slow.echo", "args" => %{}, "on_error" => "none"}
    }

    {micros, result} = :timer.tc(fn -> ask(server, "run_program", %{"program" => each}) end)
    assert result["structuredContent"]["value"] == %{"fast" => "good heard", "slow" => "none"}
    # The slow one has 300 ms, and a call without a time of its own has 30 seconds.
    assert micros < 25_000_000
  end

  test "a file that is wrong" do
    assert_raise ArgumentError, ~r/cannot be read: no such file/, fn ->
      Upstreams.start("/no/such/file", [])
    end

    path = Path.join(System.tmp_dir!(), "servers_#{System.unique_integer([:positive])}.json")
    File.write!(path, "{")
    on_exit(fn -> File.rm(path) end)

    assert_raise ArgumentError, ~r/\A#{Regex.escape(path)}: the file is no JSON: /, fn ->
      Upstreams.start(path, [])
    end
  end
end
