# 100 clients over HTTP at once: throughput, latencies, and the memory of the server, which runs in a process of its own.
#
#   cd mcp && MIX_ENV=prod mix run --no-start bench/http.exs [SECONDS] [CLIENTS]
#
# First the time of a trivial call inside of the server: from a request of HTTP to its response, without a socket.

defmodule Bench do
  alias PtcRunner.Json.Codec

  def message(program) do
    meta = %{
      "io.modelcontextprotocol/protocolVersion" => "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities" => %{}
    }

    params = %{"_meta" => meta, "name" => "run_program", "arguments" => %{"program" => program}}
    Codec.encode!(%{"jsonrpc" => "2.0", "id" => 1, "method" => "tools/call", "params" => params})
  end

  def headers do
    [
      {"host", "localhost"},
      {"content-type", "application/json"},
      {"accept", "application/json, text/event-stream"},
      {"mcp-protocol-version", "2026-07-28"},
      {"mcp-method", "tools/call"},
      {"mcp-name", "run_program"}
    ]
  end

  def at(sorted, part),
    do: elem(sorted, min(trunc(tuple_size(sorted) * part), tuple_size(sorted) - 1))

  def inside(name, body) do
    server = PtcRunnerMcp.new(options())
    request = %{method: "POST", headers: headers(), body: body}

    one = fn ->
      elem(:timer.tc(fn -> %{status: 200} = PtcRunnerMcp.Http.respond(server, request) end), 0)
    end

    for _ <- 1..1_000, do: one.()
    times = for(_ <- 1..5_000, do: one.()) |> Enum.sort() |> List.to_tuple()
    IO.puts("#{name} at the server: median #{at(times, 0.5)} µs, p99 #{at(times, 0.99)} µs")
  end

  def options do
    {options, _} = Code.eval_file(Path.expand("options.exs", __DIR__))
    options
  end

  # One client: a connection that stays, a request after another.
  def client(port, body, until, times \\ []) do
    {:ok, socket} =
      :gen_tcp.connect({127, 0, 0, 1}, port, [:binary, active: false, nodelay: true])

    head = for {name, value} <- headers(), do: [name, ": ", value, "\r\n"]
    request = ["POST /mcp HTTP/1.1\r\n", head, "content-length: #{byte_size(body)}\r\n\r\n", body]
    loop(socket, IO.iodata_to_binary(request), until, times)
  end

  defp loop(socket, request, until, times) do
    began = System.monotonic_time(:microsecond)

    if began >= until do
      :gen_tcp.close(socket)
      times
    else
      :ok = :gen_tcp.send(socket, request)
      response(socket, "")
      loop(socket, request, until, [System.monotonic_time(:microsecond) - began | times])
    end
  end

  defp response(socket, got) do
    {:ok, more} = :gen_tcp.recv(socket, 0, 60_000)
    got = got <> more

    with [head, body] <- String.split(got, "\r\n\r\n", parts: 2),
         "HTTP/1.1 200" <> _ = head,
         [_, length] = Regex.run(~r/content-length: (\d+)/i, head),
         true <- byte_size(body) >= String.to_integer(length) do
      true = body =~ ~s("isError") == false
    else
      _ -> response(socket, got)
    end
  end

  def memory(pid) do
    status = File.read!("/proc/#{pid}/status")

    for name <- ["VmRSS", "VmHWM"],
        do:
          Regex.run(~r/#{name}:\s+(\d+)/, status)
          |> List.last()
          |> String.to_integer()
          |> div(1024)
  end
end

{:ok, _} = Application.ensure_all_started(:ptc_runner_native)

[seconds, clients] =
  (System.argv() ++ ["60", "100"]) |> Enum.take(2) |> Enum.map(&String.to_integer/1)

trivial = Bench.message(%{"op" => "literal", "value" => 1})

calls =
  Bench.message(%{
    "op" => "pipe",
    "steps" => [
      %{"op" => "range", "from" => 1, "to" => 20},
      %{
        "op" => "map",
        "expr" => %{"op" => "call", "tool" => "rate", "args" => %{"day" => %{"op" => "it"}}}
      },
      %{"op" => "sum", "expr" => %{"op" => "it"}}
    ]
  })

Bench.inside("a trivial call", trivial)
Bench.inside("a program with 20 calls of a tool", calls)

port = 20_000 + :rand.uniform(20_000)
args = ["ptc.mcp", "--config", Path.expand("options.exs", __DIR__), "--http", "#{port}"]

server =
  Port.open({:spawn_executable, System.find_executable("mix")}, [
    :binary,
    :exit_status,
    args: args
  ])

{:os_pid, pid} = Port.info(server, :os_pid)

wait = fn wait ->
  case :gen_tcp.connect({127, 0, 0, 1}, port, []) do
    {:ok, socket} -> :gen_tcp.close(socket)
    {:error, _} -> Process.sleep(200) && wait.(wait)
  end
end

wait.(wait)

try do
  for {name, body} <- [{"a trivial call", trivial}, {"20 calls of a tool", calls}] do
    # Warm.
    Bench.client(port, body, System.monotonic_time(:microsecond) + 1_000_000)
    [before, _] = Bench.memory(pid)
    until = System.monotonic_time(:microsecond) + seconds * 1_000_000
    tasks = for _ <- 1..clients, do: Task.async(fn -> Bench.client(port, body, until) end)

    times =
      tasks |> Task.await_many(:infinity) |> List.flatten() |> Enum.sort() |> List.to_tuple()

    [rss, peak] = Bench.memory(pid)

    IO.puts(
      "#{clients} clients for #{seconds} s, #{name}: #{div(tuple_size(times), seconds)} requests a second, " <>
        "median #{Bench.at(times, 0.5) / 1000} ms, p99 #{Bench.at(times, 0.99) / 1000} ms; " <>
        "memory #{before} MB before, #{rss} MB after, at most #{peak} MB"
    )
  end
after
  System.cmd("kill", ["#{pid}"])
end
