defmodule PtcRunnerMcp.StdioTest do
  # The script as a client's configuration starts it, in an operating system's process of its own.
  use ExUnit.Case, async: true
  import PtcRunnerMcp.Requests
  alias PtcRunner.Json.Codec

  @script Path.expand("../../bin/ptc-mcp", __DIR__)
  @options Path.expand("../support/stdio_options.exs", __DIR__)

  defp json(message), do: Codec.encode!(message) <> "\n"

  # Waits until the output has this, so that the input does not end before.
  defp until(pattern),
    do: "for _ in $(seq 1 3000); do grep -q '#{pattern}' out && break; sleep 0.1; done"

  # Runs the script with what these commands of the shell write as its input. Gives the lines of its output, and what it has written to its standard error.
  defp serve(folder, input) do
    env = [{"MIX_ENV", "test"}, {"SCRIPT", @script}, {"OPTIONS", @options}]
    command = "{ #{input}; } | \"$SCRIPT\" --config \"$OPTIONS\" >out 2>err; echo $?"
    {status, 0} = System.cmd("bash", ["-c", command], cd: folder, env: env)
    lines = folder |> Path.join("out") |> File.read!() |> String.split("\n", trim: true)
    {String.trim(status), Enum.map(lines, &Codec.decode!/1), File.read!(Path.join(folder, "err"))}
  end

  @tag :tmp_dir
  test "a client that reads no answers does not fill the memory, and the server ends", %{
    tmp_dir: folder
  } do
    # Each answer has the id of its request.
    long = String.duplicate("x", 50_000)
    asked = for n <- 1..500, do: json(handshake("#{n}#{long}", "ping"))
    File.write!(Path.join(folder, "asked"), asked)
    # Both pipes stay open, and nobody reads the second one.
    command =
      "mkfifo in out; exec 8<>in 9<>out; cat asked >&8 & " <>
        "timeout -s KILL 300 \"$SCRIPT\" --config \"$OPTIONS\" <in >out 2>err; echo $?; kill %1 2>/dev/null"

    env = [{"MIX_ENV", "test"}, {"SCRIPT", @script}, {"OPTIONS", @options}]

    assert {"1\n", _killed} = System.cmd("bash", ["-c", command], cd: folder, env: env)
  end

  @tag :tmp_dir
  test "hostile lines, prints, and the end of the input in a run", %{tmp_dir: folder} do
    first = [
      json(
        handshake(1, "initialize", %{"protocolVersion" => "2025-06-18", "capabilities" => %{}})
      ),
      "garbage\n",
      "\n",
      json(handshake(2, "no/such/method")),
      String.duplicate("[", 1_000_000) <> "\n",
      for(n <- 1..10_000, do: json(handshake("p#{n}", "ping"))),
      json(handshake(3, "tools/call", run(call("prints", %{})))),
      json(handshake(4, "tools/call", run(call("wait", %{})))),
      json(%{
        "jsonrpc" => "2.0",
        "method" => "notifications/cancelled",
        "params" => %{"requestId" => 4}
      })
    ]

    last = [
      json(handshake(6, "tools/call", run(call("wait", %{})))),
      ~s({"jsonrpc": "2.0", "id": 7, "meth)
    ]

    File.write!(Path.join(folder, "first"), first)

    File.write!(
      Path.join(folder, "peak"),
      json(handshake(5, "tools/call", run(call("peak", %{}))))
    )

    File.write!(Path.join(folder, "last"), last)

    input =
      "cat first; head -c 100000000 /dev/zero | tr '\\0' x; echo; cat peak; #{until("id..5,")}; cat last"

    {status, written, stderr} = serve(folder, input)

    assert status == "0", stderr
    answers = Map.new(written, &{&1["id"], &1})
    assert answers[1]["result"]["protocolVersion"] == "2025-06-18"
    assert answers[2]["error"]["code"] == -32_601
    assert answers[3]["result"]["structuredContent"]["value"] == "printed"
    assert Enum.all?(1..10_000, &(answers["p#{&1}"]["result"] == %{}))

    errors = for %{"id" => nil, "error" => error} <- written, do: error["message"]
    assert Enum.any?(errors, &(&1 =~ "This is no JSON: Unexpected token at position 0"))
    assert Enum.any?(errors, &(&1 =~ "Nesting exceeds 512 levels"))

    assert Enum.any?(
             errors,
             &(&1 =~ "The message has 100000000 bytes, and no more than 4000000 are read")
           )

    assert Enum.any?(errors, &(&1 =~ "Unexpected end of input"))
    assert length(errors) == 4

    # What was cancelled and what ran at the end have no answer, and nothing of them is left: the process has ended.
    refute Map.has_key?(answers, 4)
    refute Map.has_key?(answers, 6)

    assert stderr =~ "a tool prints" and stderr =~ "a tool logs" and
             stderr =~ "a configuration prints"

    kilobytes = answers[5]["result"]["structuredContent"]["value"]
    assert kilobytes < 400_000
  end

  defp gone?(pid, left) do
    case System.cmd("kill", ["-0", "--", "-#{pid}"], stderr_to_stdout: true) do
      {_text, 0} when left > 0 -> Process.sleep(100) && gone?(pid, left - 1)
      {_text, status} -> status != 0
    end
  end

  @tag :tmp_dir
  test "other servers end with this one, also those that do not want to", %{tmp_dir: folder} do
    fake = Path.expand("../support/fake_server.sh", __DIR__)
    pids = Path.join(folder, "pids")

    servers =
      for mode <- ["good", "stubborn", "silent"], into: %{} do
        {mode,
         %{
           "command" => fake,
           "args" => [mode],
           "env" => %{"FAKE_PIDS" => pids},
           "ptc" => %{"approve" => "none"}
         }}
      end

    File.write!(Path.join(folder, "servers.json"), Codec.encode!(%{"mcpServers" => servers}))

    File.write!(
      Path.join(folder, "in"),
      json(handshake(1, "tools/call", run(call("good.echo", %{}))))
    )

    command =
      "{ cat in; #{until("result")}; } | #{@script} --servers servers.json >out 2>err; echo $?"

    {status, 0} = System.cmd("bash", ["-c", command], cd: folder, env: [{"MIX_ENV", "test"}])
    assert String.trim(status) == "0", File.read!(Path.join(folder, "err"))
    answer = folder |> Path.join("out") |> File.read!() |> Codec.decode!()
    assert answer["result"]["structuredContent"]["value"] == "good heard"

    pids = pids |> File.read!() |> String.split()
    assert length(pids) == 3

    for pid <- pids do
      assert gone?(pid, 600), pid
    end
  end

  @tag :tmp_dir
  test "wrong arguments are told on the standard error", %{tmp_dir: folder} do
    env = [{"MIX_ENV", "test"}]

    {text, status} =
      System.cmd("bash", ["-c", "#{@script} --sever x </dev/null 2>err"], cd: folder, env: env)

    assert {text, status} == {"", 1}
    assert File.read!(Path.join(folder, "err")) =~ "unknown argument --sever"

    {text, status} =
      System.cmd("bash", ["-c", "#{@script} --help </dev/null 2>err"], cd: folder, env: env)

    assert {text, status} == {"", 0}
    assert File.read!(Path.join(folder, "err")) =~ "There are: --config FILE"
  end
end
