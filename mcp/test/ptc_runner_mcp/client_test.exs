defmodule PtcRunnerMcp.ClientTest do
  use ExUnit.Case, async: true
  import PtcRunnerMcp.Waiting
  alias PtcRunnerMcp.{Client, Config}

  @fake Path.expand("../support/fake_server.sh", __DIR__)

  defp config(mode, more \\ %{}) do
    {:ok, [config]} =
      Config.parse(
        PtcRunner.Json.Codec.encode!(%{
          "mcpServers" => %{mode => Map.merge(%{"command" => @fake, "args" => [mode]}, more)}
        })
      )

    config
  end

  defp start(mode, more \\ %{}, opts \\ []) do
    start_supervised!(
      Supervisor.child_spec({Client, {config(mode, more), self(), opts}},
        id: mode,
        restart: :temporary
      )
    )
  end

  defp os_pid(client) do
    {_port, pid} = :sys.get_state(client).child
    pid
  end

  # Neither the group nor, before it has one, the process.
  defp gone?(os_pid) do
    Enum.all?(["-#{os_pid}", "#{os_pid}"], fn target ->
      {_text, status} = System.cmd("kill", ["-0", "--", target], stderr_to_stdout: true)
      status != 0
    end)
  end

  test "lists and calls, in the era of initialize and in the later one" do
    for mode <- ["good", "modern"] do
      client = start(mode)
      assert_receive {Client, ^mode, {:ready, [%{"name" => "echo"} | _]}}

      assert {:ok, %{"content" => [%{"text" => text}]}} =
               Client.call(client, "echo", %{"text" => "a"}, 60_000)

      assert text == "#{mode} heard"
    end
  end

  test "a list of several pages" do
    start("pages")

    assert_receive {Client, "pages", {:ready, [%{"name" => "first"}, %{"name" => "second"}]}}
  end

  test "words between messages, and requests that this client does not offer, do not matter" do
    client = start("noisy")
    assert_receive {Client, _, {:ready, _}}

    for _ <- 1..5,
        do:
          assert(
            {:ok, %{"content" => [%{"text" => "heard"}]}} =
              Client.call(client, "echo", %{}, 60_000)
          )
  end

  test "an answer of megabytes" do
    client = start("large")
    assert_receive {Client, _, {:ready, _}}
    assert {:ok, %{"content" => [%{"text" => text}]}} = Client.call(client, "echo", %{}, 60_000)
    assert byte_size(text) == 3_000_000
  end

  test "a server that never answers is told of as down, and started again" do
    client = start("silent", %{}, start: 100)
    assert_receive {Client, _, {:down, why}}
    assert why =~ "did not list its tools in time"
    assert {:error, why} = Client.call(client, "echo", %{}, 100)
    assert why =~ "silent"
  end

  test "a call that is not answered ends in time, and the server is told" do
    log = Path.join(System.tmp_dir!(), "ptc_mcp_#{System.unique_integer([:positive])}")
    on_exit(fn -> File.rm(log) end)
    client = start("slow", %{"env" => %{"FAKE_LOG" => log}})
    assert_receive {Client, _, {:ready, _}}

    assert Client.call(client, "echo", %{}, 50) ==
             {:error, "the server slow did not answer in time"}

    assert soon(fn -> File.read(log) == {:ok, "cancelled\n"} end)

    # Nor does anything stay of a caller that is gone.
    caller = spawn(fn -> Client.call(client, "echo", %{}, 60_000) end)
    assert soon(fn -> map_size(:sys.get_state(client).pending) == 1 end)
    Process.exit(caller, :kill)
    assert soon(fn -> :sys.get_state(client).pending == %{} end)
    assert soon(fn -> File.read(log) == {:ok, "cancelled\ncancelled\n"} end)
  end

  test "a server that dies is started again, but not for ever" do
    client = start("dead")

    for _ <- 1..6,
        do: assert_receive({Client, _, {:down, "the server dead has ended: it " <> _}})

    assert_receive {Client, _, {:down, why}}
    assert why == "the server dead does not run: it ended 6 times in a minute"
    assert Client.call(client, "echo", %{}, 100) == {:error, why}
  end

  test "a server that dies in a call: the call has an error, and the server comes again" do
    client = start("dies")
    assert_receive {Client, _, {:ready, _}}
    assert {:error, why} = Client.call(client, "echo", %{}, 60_000)
    assert why =~ "status 7"
    assert_receive {Client, _, {:ready, _}}
  end

  test "a command that is none, and a list that is none" do
    {:ok, client} = Client.start_link({%{config("good") | command: "/no/such"}, self(), []})
    assert_receive {Client, _, {:down, why}}
    assert why =~ "there is no command"
    GenServer.stop(client)

    start("wrong")
    assert_receive {Client, "wrong", {:down, why}}
    assert why =~ "does not list its tools"
  end

  test "tools that change between list and call" do
    client = start("changes")
    assert_receive {Client, _, {:ready, [%{"name" => "echo"}]}}
    assert Client.call(client, "echo", %{}, 60_000) == {:error, "Unknown tool: echo"}
    assert_receive {Client, _, {:ready, [%{"name" => "other"}]}}
  end

  test "a server that says after each list that it has changed is asked once in a second" do
    client = start("restless")

    listed = fn ->
      assert_receive {Client, _, {:ready, _}}
      :sys.get_state(client).listed
    end

    # A client that is seen late may have listed once more.
    [first, second, third] = listed |> Stream.repeatedly() |> Stream.dedup() |> Enum.take(3)
    assert second - first >= 1_000 and third - second >= 1_000
  end

  test "a server that wants something of a client is an error of the call" do
    client = start("asks")
    assert_receive {Client, _, {:ready, _}}
    assert {:error, why} = Client.call(client, "echo", %{}, 60_000)
    assert why =~ "asks for something"
  end

  test "no process is left, also of a server that ignores that it is to end" do
    for mode <- ["good", "stubborn", "silent"] do
      client = start(mode)
      if mode != "silent", do: assert_receive({Client, ^mode, {:ready, _}})
      assert soon(fn -> :sys.get_state(client).child != nil end)
      pid = os_pid(client)
      refute gone?(pid)
      stop_supervised!(mode)
      assert soon(fn -> gone?(pid) end), mode
    end
  end

  test "no process is left of a server that is ended as soon as it is started" do
    for _ <- 1..20 do
      {:ok, {_port, pid} = child} = PtcRunnerMcp.Child.start("sleep", ["1000"], %{}, nil)
      PtcRunnerMcp.Child.stop(child)
      assert soon(fn -> gone?(pid) end)
    end
  end

  test "keys are not given to other servers, and their own variables are" do
    System.put_env("PTC_MCP_KEYS", "secret")
    client = start("where", %{"env" => %{"FAKE" => "own"}})
    assert_receive {Client, _, {:ready, _}}
    assert {:ok, %{"content" => [%{"text" => ",own"}]}} = Client.call(client, "echo", %{}, 60_000)
  after
    System.delete_env("PTC_MCP_KEYS")
  end
end
