# The soak test: `bin/test --soak`, or MIX_ENV=test mix run test/soak/soak.exs
#
# Many callers run small programs, heavy programs, tools, answers and signatures for ten minutes;
# one call in twenty is hostile. At the end memory, processes and atoms must be what they were after
# the first minute, and the last minute must do as much work as the first one measured.
#
#   PTC_SOAK_SECONDS  how long (600); the first tenth is for warming up
#   PTC_SOAK_CALLERS  how many callers (200)

defmodule PtcRunner.Soak do
  alias PtcRunner.Json
  alias PtcRunner.SubAgent.{AnswerStream, Signature}
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.Test.{Answers, Hostile}

  @small ~s({"program":{"op":"pipe","steps":[{"op":"load","name":"rows"},
    {"op":"filter","where":{"op":"gt","field":"n","value":2}},{"op":"sum","field":"n"}]}})
  @heavy ~s({"program":{"op":"pipe","steps":[{"op":"load","name":"many"},
    {"op":"sort_by","field":"n"},{"op":"distinct"},{"op":"count"}]}})
  @tool ~s({"program":{"op":"pipe","steps":[{"op":"call","tool":"rows"},{"op":"count"}]}})
  @rows {:signature, [], {:map, [{"results", {:list, {:map, [{"id", :int}]}}}]}}

  # Out of 100 calls; 5 are hostile.
  @kinds [
    small: 50,
    compiled: 10,
    tool: 10,
    answer: 10,
    stream: 5,
    signature: 8,
    heavy: 2,
    hostile: 5
  ]

  def run(seconds, callers) do
    data = data()
    start(data)
    counter = :counters.new(1, [])
    worst = :ets.new(:worst, [:public, :set, write_concurrency: true])
    began = now()
    finish = began + seconds * 1_000
    IO.puts("#{callers} callers for #{seconds} s")
    pids = for n <- 1..callers, do: spawn_link(fn -> caller(n, data, counter, worst, finish) end)
    Process.flag(:priority, :high)
    samples = samples(began, seconds * 100, counter)
    monitors = Enum.map(pids, &Process.monitor/1)
    for monitor <- monitors, do: receive(do: ({:DOWN, ^monitor, _, _, _} -> :ok))
    Process.sleep(500)
    verdict(samples, worst, sample(0, 1))
  end

  defp data do
    {:ok, compiled} = Json.compile(@small)
    {:ok, signature} = Signature.Parser.parse("{a :int, b [:string?], c {d :float}}")

    %{
      compiled: compiled,
      signature: signature,
      rows: for(n <- 1..20, do: %{"n" => n, "name" => "row #{n}"}),
      many:
        for(n <- 1..20_000, do: %{"n" => rem(n * 7_919, 10_007), "name" => "row #{rem(n, 100)}"}),
      answer: ~s(Here: {"results": [) <> Enum.map_join(1..50, ",", &~s({"id": #{&1}})) <> "]}",
      texts: for({_name, make} <- Hostile.texts(), do: make.()),
      needle: :binary.copy("x", 100_000)
    }
  end

  # Callers find the data here without copies.
  defp start(data), do: :persistent_term.put(__MODULE__, data)

  defp caller(n, _data, counter, worst, finish) do
    :rand.seed(:exsss, {n, 0, 0})
    data = :persistent_term.get(__MODULE__)
    loop(n, data, counter, worst, finish)
  end

  defp loop(n, data, counter, worst, finish) do
    kind = kind(:rand.uniform(100), @kinds)
    {time, _result} = :timer.tc(fn -> call(kind, data) end)
    :counters.add(counter, 1, 1)
    note(worst, {n, kind}, time)
    # What a hostile call leaves on this heap is the caller's to collect.
    if kind == :hostile, do: :erlang.garbage_collect()
    # A caller that has answered thinks for a while, as models do; the machine is still busy.
    Process.sleep(:rand.uniform(20))
    if now() < finish, do: loop(n, data, counter, worst, finish)
  end

  defp kind(at, [{kind, share} | _]) when at <= share, do: kind
  defp kind(at, [{_kind, share} | rest]), do: kind(at - share, rest)

  defp note(worst, key, time) do
    with [{_key, before}] when before >= time <- :ets.lookup(worst, key),
         do: :ok,
         else: (_ -> :ets.insert(worst, {key, time}))
  end

  defp call(:small, data),
    do: {:ok, 207, _, _} = Json.run(@small, context: %{"rows" => data.rows})

  defp call(:compiled, data),
    do: {:ok, 207, _, _} = Json.run(data.compiled, context: %{"rows" => data.rows})

  defp call(:heavy, data), do: Json.run(@heavy, context: %{"many" => data.many}, timeout: 5_000)

  defp call(:tool, data) do
    tools = %{"rows" => fn _args -> data.rows end}
    {:ok, 20, _, _} = Json.run(@tool, tools: tools, timeout: 30_000)
  end

  defp call(:answer, data) do
    {:stop, {:ok, _}, _, _} =
      JsonHandler.handle_json_answer(data.answer, Answers.agent(@rows), Answers.state())
  end

  defp call(:stream, data) do
    stream = AnswerStream.new(@rows)
    {head, tail} = String.split_at(data.answer, 100)
    {:cont, stream} = AnswerStream.feed(stream, head)
    {:cont, stream} = AnswerStream.feed(stream, tail)
    # Half of them are left as they are.
    if :rand.uniform(2) == 1, do: {:ok, _} = AnswerStream.finish(stream)
  end

  defp call(:signature, data) do
    {:ok, _, _} =
      Signature.Coercion.coerce(
        %{"a" => "1", "b" => ["x"], "c" => %{"d" => "2.5"}},
        elem(data.signature, 2)
      )
  end

  defp call(:hostile, data) do
    case :rand.uniform(4) do
      1 ->
        Json.run(Enum.random(data.texts), timeout: 50)

      2 ->
        Json.run(program("contains", data.needle), context: %{"rows" => data.many}, timeout: 50)

      3 ->
        Json.run(@heavy, context: %{"many" => data.many}, timeout: 5)

      4 ->
        killed(data)
    end
  end

  # A caller that dies in the middle of a run with a tool that hangs.
  defp killed(data) do
    tools = %{"rows" => fn _args -> Process.sleep(:infinity) end}

    {pid, monitor} =
      spawn_monitor(fn -> Json.run(@tool, tools: tools, context: %{"rows" => data.rows}) end)

    Process.sleep(5)
    Process.exit(pid, :kill)
    receive(do: ({:DOWN, ^monitor, _, _, _} -> :ok))
  end

  defp program(op, value) do
    steps = [
      %{"op" => "load", "name" => "rows"},
      %{"op" => "filter", "where" => %{"op" => op, "field" => "name", "value" => value}}
    ]

    %{"program" => %{"op" => "pipe", "steps" => steps}}
  end

  # Ten intervals; the last one ends when the callers do.
  defp samples(began, interval, counter) do
    {samples, _last} =
      Enum.map_reduce(1..10, {began, 0}, fn n, {since, before} ->
        Process.sleep(max(0, began + n * interval - now()))
        {until, calls} = {now(), :counters.get(counter, 1)}
        sample = sample(calls - before, until - since)
        IO.puts(row(n, sample))
        {sample, {until, calls}}
      end)

    samples
  end

  defp sample(calls, milliseconds) do
    %{
      calls: div(calls * 1_000, max(milliseconds, 1)),
      memory: div(:erlang.memory(:total), 1_048_576),
      resident: resident(),
      processes: :erlang.system_info(:process_count),
      atoms: :erlang.system_info(:atom_count)
    }
  end

  defp resident do
    with {:ok, status} <- File.read("/proc/self/status"),
         [_, kilobytes] <- Regex.run(~r/VmRSS:\s+(\d+)/, status),
         do: div(String.to_integer(kilobytes), 1_024),
         else: (_ -> 0)
  end

  defp row(n, sample) do
    "#{pad(n, 3)}  calls/s #{pad(sample.calls, 6)}  memory #{pad(sample.memory, 5)} MB  resident " <>
      "#{pad(sample.resident, 5)} MB  processes #{pad(sample.processes, 5)}  atoms #{pad(sample.atoms, 6)}"
  end

  defp pad(value, width), do: value |> to_string() |> String.pad_leading(width)

  # The first interval warms up; the second is compared with the last whole one.
  defp verdict(samples, worst, after_all) do
    [_warm, first | _] = samples
    last = List.last(samples)
    IO.puts("after all:\n" <> row("", after_all))
    IO.puts("\nworst time of a call, in ms (wall clock, with all callers at work)")

    for {kind, _share} <- @kinds do
      times = for {{_n, ^kind}, time} <- :ets.tab2list(worst), do: time

      IO.puts(
        "  #{String.pad_trailing("#{kind}", 10)} #{pad(div(Enum.max(times, fn -> 0 end), 1_000), 8)}"
      )
    end

    wrong = [
      {last.calls < first.calls * 0.9,
       "throughput fell from #{first.calls} to #{last.calls} calls a second"},
      {last.atoms > first.atoms + 50, "#{last.atoms - first.atoms} new atoms"},
      {after_all.processes > 100, "#{after_all.processes} processes are left"},
      {last.memory > first.memory * 1.25 + 50,
       "memory grew from #{first.memory} to #{last.memory} MB"},
      {last.resident > first.resident * 1.25 + 100,
       "resident memory grew from #{first.resident} to #{last.resident} MB"}
    ]

    for({true, text} <- wrong, do: text)
  end

  defp now, do: System.monotonic_time(:millisecond)
end

seconds = PtcRunner.Test.Environment.number("PTC_SOAK_SECONDS", 600)
callers = PtcRunner.Test.Environment.number("PTC_SOAK_CALLERS", 200)

case PtcRunner.Soak.run(seconds, callers) do
  [] ->
    IO.puts("\nThe soak test has passed.")

  wrong ->
    IO.puts("\nThe soak test has failed:\n  " <> Enum.join(wrong, "\n  "))
    System.halt(1)
end
