defmodule PtcRunner.Json.KeysRandomTest do
  # Random programs that write, with a crash at every point of a run, and each run that goes on twice at once: with keys, no write
  # happens twice at a service that knows them, and none is lost. PTC_SEED repeats a run, PTC_CASES=10 takes ten times as many.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Paused}
  alias PtcRunner.Test.{Calling, Environment}

  @cases 30
  @opts [context: Calling.context(), now: "2024-02-29T10:30:00Z", timeout: 20_000]
  # Programs with more events than this are crashed at some of their points.
  @most_points 24

  defp json(map), do: map |> Codec.encode!() |> Codec.decode!()

  # A service that keeps each key with what was asked under it. A key that it knows has no effect.
  defp service do
    %{
      keys: :ets.new(:keys, [:public, :set]),
      effects: :ets.new(:effects, [:public, :duplicate_bag]),
      requests: :ets.new(:requests, [:public, :duplicate_bag])
    }
  end

  defp emptied(service), do: for({_name, table} <- service, do: :ets.delete(table))

  defp asked(service, key, name, args) do
    :ets.insert(service.requests, {key, name, args})

    if :ets.insert_new(service.keys, {key, name, args}),
      do: :ets.insert(service.effects, {key, name, args})

    [{^key, ^name, ^args}] = :ets.lookup(service.keys, key)
    true
  end

  # Tools that always answer, by their arguments alone; `crash` is called between the effect and the answer.
  defp tools(service, options, crash) do
    for {name, tool} <- Calling.tools(fn _name, _args -> :ok end), into: %{} do
      answered = fn args, call ->
        asked(service, call.key, name, args)
        crash.()

        try do
          with {:error, _reason} <- tool.(args), do: 0
        catch
          _kind, _reason -> 0
        end
      end

      {name, {answered, options}}
    end
  end

  defp plain(program, options) do
    service = service()
    result = Json.run(program, [{:tools, tools(service, options, fn -> :ok end)} | @opts])
    effects = for {_key, name, args} <- :ets.tab2list(service.effects), do: {name, args}
    emptied(service)
    {result, Enum.sort(effects)}
  end

  # Runs the function in a process, with a log that it writes. The process dies at the point: a number of an event, which is lost
  # or written, or of a call whose tool has had its effect. Gives what it has written, and its result, if it has one.
  defp crashed(point, service, options, run) do
    me = self()
    log = :ets.new(:log, [:public, :ordered_set])
    count = :counters.new(2, [])

    {pid, monitor} =
      spawn_monitor(fn ->
        caller = self()

        die = fn ->
          Process.exit(caller, :kill)
          Process.sleep(:infinity)
        end

        at = fn place, kind ->
          :counters.add(count, place, 1)
          if point == {kind, :counters.get(count, place)}, do: die.()
        end

        write = fn event ->
          number = :counters.get(count, 1) + 1
          if point == {:lost, number}, do: die.()
          :ets.insert(log, {:erlang.unique_integer([:monotonic]), event})
          at.(1, :written)
        end

        tools = tools(service, options, fn -> at.(2, :called) end)
        send(me, {:result, caller, run.([{:tools, tools}, {:on_journal, write}])})
      end)

    assert_receive {:DOWN, ^monitor, :process, _, _}, 60_000

    result =
      receive do
        {:result, ^pid, result} -> result
      after
        0 -> :crashed
      end

    events = for {_key, event} <- :ets.tab2list(log), do: event
    :ets.delete(log)
    {events, result}
  end

  defp each_case(count, check) do
    seed = Environment.seed()

    for n <- 1..Environment.cases(count) do
      program = Calling.program(seed, n)

      try do
        check.(program, n)
      rescue
        error ->
          reraise "PTC_SEED=#{seed}, case #{n}: #{inspect(program, limit: :infinity)}\n#{Exception.message(error)}",
                  __STACKTRACE__
      end
    end
  end

  # Each effect once, and all of them. Where calls overlap, some behind one that failed may have been made too.
  defp judged(service, expected, exactly?) do
    effects = :ets.tab2list(service.effects)
    assert length(Enum.uniq_by(effects, &elem(&1, 0))) == length(effects)
    effects = Enum.sort(for {_key, name, args} <- effects, do: {name, args})

    if exactly?,
      do: assert(effects == expected),
      else: assert(expected -- effects == [])
  end

  @tag timeout: 900_000
  test "a crash at every point, and each run goes on twice at once" do
    repeated = :counters.new(1, [])

    each_case(@cases, fn program, n ->
      options = Enum.at([[], [effect: :read], [cache: true], [timeout: 20_000]], rem(n, 4))
      most = Enum.at([1, 1, 4], rem(n, 3))
      opts = [{:tool_concurrency, most} | @opts]
      {result, expected} = plain(program, options)
      exactly? = most == 1 or match?({:ok, _, _, _}, result)
      run = &Json.run(program, &1 ++ opts)

      # Of equal calls that overlap and are answered once, each of two processes may make another one.
      processes = if options == [cache: true] and most > 1, do: 1, else: 2

      service = service()
      {events, whole} = crashed(:never, service, options, run)
      assert whole === result
      judged(service, expected, exactly?)
      calls = :ets.info(service.requests, :size)
      emptied(service)

      points =
        for(n <- 1..length(events)//1, kind <- [:lost, :written], do: {kind, n}) ++
          for n <- 1..calls//1, do: {:called, n}

      for point <- Enum.take_random(points, @most_points) do
        service = service()
        {events, ended} = crashed(point, service, options, run)

        # Where calls overlap, one may end the run before the point is reached.
        ends =
          if ended == :crashed,
            do: again(events, service, options, run, opts, processes),
            else: [ended]

        assert Enum.uniq(ends) === [result]
        judged(service, expected, exactly?)
        more = :ets.info(service.requests, :size) - :ets.info(service.effects, :size)
        :counters.add(repeated, 1, more)
        emptied(service)
      end
    end)

    # Without the keys these would have been written twice.
    assert :counters.get(repeated, 1) > @cases
  end

  # Nothing was called before the start was written. Otherwise the run goes on in two processes at once, which know nothing of each other.
  defp again([], service, options, run, _opts, _processes) do
    {_events, result} = crashed(:never, service, options, run)
    [result]
  end

  defp again(events, service, options, _run, opts, processes) do
    {:ok, paused} = events |> json() |> Paused.recover()
    opts = Keyword.take(opts, [:context])
    resume = &Json.resume(paused, :approve, &1 ++ opts)

    1..processes
    |> Task.async_stream(fn _ -> crashed(:never, service, options, resume) |> elem(1) end,
      timeout: :infinity
    )
    |> Enum.map(fn {:ok, result} -> result end)
  end

  @tag timeout: 900_000
  test "a pause at every call, each of which goes on twice at once, sealed" do
    key = [:crypto.strong_rand_bytes(32)]

    each_case(@cases, fn program, n ->
      options = Enum.at([[], [cache: true]], rem(n, 2))
      most = Enum.at([1, 1, 4], rem(n, 3))
      {result, expected} = plain(program, options)
      service = service()
      pause = [on_call: fn _call -> :pause end]
      tools = [tools: tools(service, options, fn -> :ok end)]

      opts = pause ++ tools ++ [{:tool_concurrency, most} | @opts]
      again = pause ++ tools ++ [context: Calling.context()]
      assert twice(Json.run(program, opts), again, key) === result

      # What is approved behind a call that waits is made, also if the run ends with an error in between.
      judged(service, expected, match?({:ok, _, _, _}, result))
      emptied(service)
    end)
  end

  # Both go on from the same text; one of them does so to its end.
  defp twice({:paused, paused}, opts, key) do
    text = Paused.seal(paused, key, bind: 1, ttl: 600_000)

    [one, other] =
      1..2
      |> Task.async_stream(
        fn _ ->
          {:ok, paused} = Paused.open(text, key, bind: 1)
          Json.resume(paused, :approve, opts)
        end,
        timeout: :infinity
      )
      |> Enum.map(fn {:ok, result} -> result end)

    assert timeless(one) === timeless(other)
    twice(one, opts, key)
  end

  defp twice(result, _opts, _key), do: result

  # Where calls overlap, their numbers are in the order in which they start.
  defp timeless({:paused, paused}),
    do: {:paused, for(call <- paused.calls, do: %{call | number: 1}), Paused.answered(paused)}

  defp timeless(result), do: result
end
