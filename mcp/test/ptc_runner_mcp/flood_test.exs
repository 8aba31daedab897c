defmodule PtcRunnerMcp.FloodTest do
  # It looks at the memory of the VM.
  use ExUnit.Case, async: false
  alias PtcRunnerMcp.{Client, Config}

  @fake Path.expand("../support/fake_server.sh", __DIR__)

  test "garbage, endless notifications, and a gigabyte in one line end the server, in bounded memory" do
    for mode <- ["garbage", "notes", "flood"] do
      servers = %{mode => %{"command" => @fake, "args" => [mode]}}
      {:ok, [config]} = Config.parse(PtcRunner.Json.Codec.encode!(%{"mcpServers" => servers}))
      before = :erlang.memory(:total)
      client = start_supervised!({Client, {config, self(), []}}, id: mode)
      assert_receive {Client, ^mode, {:down, why}}, 60_000
      assert why =~ "it wrote"
      assert {:message_queue_len, waiting} = Process.info(client, :message_queue_len)
      assert waiting < 5_000
      assert :erlang.memory(:total) - before < 200_000_000
      assert {:error, _why} = Client.call(client, "echo", %{}, 100)
      stop_supervised!(mode)
    end
  end
end
