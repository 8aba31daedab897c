# Runs in a VM of its own: `test/ptc_runner/json/heap_limit_test.exs` starts it and kills it if it hangs.
# Callers with a limit on their heap, killed in each kind of work. Prints a line for each kind.
{:ok, _apps} = Application.ensure_all_started(:ptc_runner_native)
Application.put_env(:ptc_runner_native, :default_timeout, 60_000)

alias PtcRunner.{Agent, Json}
alias PtcRunner.Json.Codec
alias PtcRunner.SubAgent.JsonParser

rows = for i <- 1..2_000, do: %{"id" => i, "v" => i * 2}
context = %{"rows" => rows}
numbers = Enum.to_list(1..20_000)
text = Codec.encode!(rows)
load = %{"op" => "load", "name" => "rows"}
call = %{"op" => "call", "tool" => "t", "args" => %{"n" => 1}}
pipe = &%{"program" => %{"op" => "pipe", "steps" => &1}}
mapped = pipe.([load, %{"op" => "map", "expr" => call}])

built =
  pipe.([load, %{"op" => "map", "expr" => %{"a" => %{"op" => "get", "path" => ["id"]}, "b" => 1}}])

tools = %{"t" => fn %{"n" => n} -> n end}
given = [context: context, tools: tools]

# What an application does next: it waits for a message.
wait = fn result ->
  receive do
    :never -> result
  after
    5 -> result
  end
end

kinds = %{
  "a map with calls" => fn -> Json.run(mapped, given) end,
  "the same, from text" => fn -> Json.run(Codec.encode!(mapped), given) end,
  "calls that overlap" => fn -> Json.run(mapped, [tool_concurrency: 4] ++ given) end,
  "two calls" => fn ->
    Json.run(%{"program" => %{"a" => call, "b" => call, "rows" => load}}, given)
  end,
  "one call" => fn -> Json.run(pipe.([load, call]), given) end,
  "a call, then a large value" => fn ->
    Json.run(pipe.([%{"x" => call, "y" => built["program"]}]), given)
  end,
  "an answer that is large" => fn ->
    Json.run(%{"program" => call}, tools: %{"t" => fn _ -> :lists.seq(1, 20_000) end})
  end,
  "a tool whose heap ends" => fn ->
    Json.run(mapped,
      context: context,
      max_heap: 9_000,
      tools: %{"t" => fn _ -> :erlang.make_tuple(20_000, 0) end}
    )
  end,
  "a large value, then a receive" => fn -> built |> Json.run(given) |> wait.() end,
  "a decoded text, then a receive" => fn -> text |> Codec.decode!() |> wait.() end,
  "an answer, then a receive" => fn -> text |> JsonParser.parse() |> wait.() end,
  "an agent's run" => fn -> Agent.run(mapped, tools, context: context) end,
  "a list of an agent" => fn -> Agent.run(built, %{}, context: context) |> wait.() end,
  "arguments that are large" => fn ->
    Json.run(%{"program" => put_in(call["args"], load)},
      context: %{"rows" => %{"n" => numbers}},
      tools: tools
    )
  end
}

for {kind, work} <- Enum.sort(kinds) do
  ends =
    for words <- Enum.concat(4_000..40_000//1_000, 50_000..400_000//50_000) do
      limit = %{size: words, kill: true, error_logger: false}

      {pid, monitor} =
        :erlang.spawn_opt(fn -> exit({:ended, is_tuple(work.())}) end, [
          :monitor,
          {:max_heap_size, limit}
        ])

      receive do
        {:DOWN, ^monitor, :process, ^pid, :killed} -> :killed
        # The VM may give this reason if the limit is exceeded while a native function returns.
        {:DOWN, ^monitor, :process, ^pid, {:normal, []}} -> :killed
        {:DOWN, ^monitor, :process, ^pid, {:ended, _}} -> :ended
        {:DOWN, ^monitor, :process, ^pid, other} -> IO.inspect(other, label: kind)
      after
        120_000 -> IO.puts("#{kind} with #{words} words hangs")
      end
    end

  IO.puts(
    "#{kind}: #{Enum.count(ends, &(&1 == :killed))} killed, #{Enum.count(ends, &(&1 == :ended))} ended"
  )
end

System.halt(0)
