# Runs in a VM of its own: `test/ptc_runner/native/unloaded_test.exs` starts it. For each of the given kinds, the native module is deleted
# while a run of that kind goes on. Prints the kind and the results of its runs; all else that is printed is logs.
{:ok, _apps} = Application.ensure_all_started(:ptc_runner_native)

alias PtcRunner.{Agent, Json}

secret = "s3cret-value"
rows = for i <- 1..2_000, do: %{"id" => i, "v" => secret}
call = %{"op" => "call", "tool" => "t", "args" => %{"n" => 1, "p" => secret}}
expr = %{"a" => call, "b" => %{"op" => "get", "field" => "v"}}
steps = [%{"op" => "load", "name" => "rows"}, %{"op" => "map", "expr" => expr}]
map = %{"program" => %{"op" => "pipe", "steps" => steps}}
two = %{"program" => %{"a" => call, "b" => call}}
signature = "(n :int, p :string) -> :string"

delete = fn _args ->
  :code.delete(PtcRunner.Native)
  secret
end

purge = fn _args ->
  :code.delete(PtcRunner.Native)
  :code.purge(PtcRunner.Native)
  secret
end

# On a machine that stands still, the default of a second would be over.
opts = [context: %{"rows" => rows}, tools: %{"t" => delete}, timeout: 60_000]

work = fn
  "map" ->
    Json.run(map, opts)

  "one" ->
    Json.run(%{"program" => call}, opts)

  "two" ->
    Json.run(two, opts)

  "overlap" ->
    Json.run(map, [tool_concurrency: 4] ++ opts)

  "purge" ->
    Json.run(map, Keyword.put(opts, :tools, %{"t" => purge}))

  # The feedback is no log: it lists the calls with the arguments that the model wrote.
  "agent" ->
    with {:error, error, _feedback} <-
           Agent.run(map, %{"t" => {delete, signature}},
             context: %{"rows" => rows},
             timeout: 60_000
           ),
         do: {:error, error}

  "before" ->
    delete.(nil) && Json.run(map, opts)
end

shown = fn result ->
  leak = if inspect(result, limit: :infinity, printable_limit: :infinity) =~ secret, do: " LEAK"
  IO.puts("RESULT#{leak} " <> String.replace(inspect(result), secret, "…"))
end

for kind <- System.argv() do
  IO.puts("KIND #{kind}")

  # In a plain process, and in one that reports its crashes with all that it has.
  for start <- [&spawn_monitor/1, &:proc_lib.spawn_opt(&1, [:monitor])] do
    {pid, monitor} =
      start.(fn ->
        result =
          try do
            work.(kind)
          catch
            kind, reason -> {kind, reason, __STACKTRACE__}
          end

        shown.(result)
        # An application may raise for the error.
        if elem(result, 0) == :error, do: raise("no result: #{inspect(result)}")
      end)

    receive do
      {:DOWN, ^monitor, :process, ^pid, _reason} -> :ok
    after
      120_000 -> IO.puts("HANGS")
    end
  end

  :code.purge(PtcRunner.Native)
  :code.delete(PtcRunner.Native)
  :code.purge(PtcRunner.Native)
  {:module, _native} = :code.load_file(PtcRunner.Native)
end

# The logger has its own processes.
Process.sleep(200)
System.halt(0)
