# Runs in a VM of its own: `test/ptc_runner/json/heap_limit_test.exs` starts it, and kills it if it hangs.
# Random runs whose tools answer JSON texts, with heap limits that many of them exceed, for the seconds given. Prints
# how many there were, or the one that did not end.
defmodule PtcRunner.Test.SmallLimits do
  alias PtcRunner.{Json, Lisp}
  alias PtcRunner.Test.{Agreement, Calling, Generator, LispCalling}

  # Runs take a millisecond.
  @timeout 8_000
  @hangs 6_000

  def runs(generator, seed, until, n \\ 1, runs \\ 0) do
    for words <- [500, 4_000], do: run(generator, seed, n, 233 + :rand.uniform(words))

    if System.monotonic_time(:second) < until,
      do: runs(generator, seed, until, n + 1, runs + 2),
      else: runs + 2
  end

  defp run(:lisp, seed, n, words) do
    source = LispCalling.program(seed, n)
    caller = self()

    # A tool may have messages that nothing takes.
    tools = Calling.tools(fn name, args -> send(caller, send(self(), {name, args})) end)

    ended(words, source, fn ->
      Lisp.run(source,
        tools: tools,
        context: Calling.context(),
        max_heap: words,
        timeout: @timeout
      )
    end)
  end

  defp run(generator, seed, n, words) do
    %{program: program} = random_case = apply(Generator, generator, [seed, n])

    opts = [
      context: Agreement.texts(random_case.context, &Json.text/1),
      memory: random_case.memory,
      tools: self() |> Agreement.tools() |> Agreement.answering(&Json.text/1),
      max_heap: words,
      timeout: @timeout,
      edition: Agreement.edition(random_case)
    ]

    ended(words, program, fn -> Json.run(%{"program" => program}, opts) end)
  end

  defp ended(words, program, run) do
    # Where the caller has other messages, requests to the process of tools come with a monitor.
    send(self(), :other)
    {micros, _result} = :timer.tc(run)
    drop()

    if div(micros, 1_000) > @hangs do
      IO.puts("hangs with #{words} words: #{inspect(program, limit: :infinity)}")
      System.halt(1)
    end
  end

  defp drop do
    receive do
      _message -> drop()
    after
      0 -> :ok
    end
  end
end

[seconds] = System.argv()
{:ok, _apps} = Application.ensure_all_started(:ptc_runner_native)
Logger.configure(level: :error)
until = System.monotonic_time(:second) + String.to_integer(seconds)

counts =
  for generator <- [:random_case, :modern_case, :dropping_case, :lisp] do
    seed = :erlang.phash2({System.os_time(), System.pid(), generator, make_ref()}, 1_000_000)
    Task.async(PtcRunner.Test.SmallLimits, :runs, [generator, seed, until])
  end
  |> Task.await_many(:infinity)

IO.puts("#{Enum.sum(counts)} runs ended")
System.halt(0)
