defmodule PtcRunner.Json.ControlRandomTest do
  # Random programs under control. PTC_SEED repeats a run, PTC_CASES=10 takes ten times as many.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Paused}
  alias PtcRunner.Test.{Calling, Environment}

  doctest Calling

  @cases 150
  @opts [context: Calling.context(), now: "2024-02-29T10:30:00Z", timeout: 20_000]

  defp json(map), do: map |> Codec.encode!() |> Codec.decode!()

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

  @tag timeout: 600_000
  test "recorded, replayed, paused at each call and resumed: the same result" do
    calls = :counters.new(1, [])

    each_case(@cases, fn program, n ->
      concurrency = if rem(n, 4) == 0, do: Enum.random(2..64), else: 1
      opts = [{:tool_concurrency, concurrency} | @opts]
      tools = Calling.tools(fn _name, _args -> :counters.add(calls, 1, 1) end)
      plain = Json.run(program, [{:tools, tools} | @opts])
      assert Json.run(program, [{:tools, tools} | opts]) === plain

      {recorded, journal} = Json.record(program, [{:tools, tools} | opts])
      assert recorded === plain
      assert Json.replay(program, json(journal), @opts) === plain
      assert replayed(program, [{:tools, tools} | opts]) === {plain, plain}

      # A pause at every call, with all forms in which it may be stored.
      hook = fn _call -> :pause end

      assert finish(
               Json.run(program, [{:on_call, hook}, {:tools, tools} | opts]),
               [{:tools, tools} | opts],
               hook,
               n
             ) === plain

      # A pause at one call only.
      last = max(length(journal["calls"]), 1)

      for number <- Enum.uniq([1, last, :rand.uniform(last)]) do
        at = fn call -> if call.number == number, do: :pause, else: :run end

        assert finish(
                 Json.run(program, [{:on_call, at}, {:tools, tools} | opts]),
                 [{:tools, tools} | opts],
                 nil,
                 n
               ) === plain
      end
    end)

    assert :counters.get(calls, 1) > @cases
  end

  @tag timeout: 600_000
  test "with a hook that sends other arguments: what is kept shows them, and everything has the same result" do
    each_case(div(@cases, 4), fn program, n ->
      concurrency = if rem(n, 4) == 0, do: Enum.random(2..64), else: 1

      opts = [
        {:tools, Calling.tools(fn _name, _args -> :ok end)},
        {:tool_concurrency, concurrency} | @opts
      ]

      others = &if(is_map(&1), do: Map.put(&1, "z", 1), else: &1)
      hook = fn call -> {:run, others.(call.args)} end
      changed = Json.run(program, [{:on_call, hook} | opts])

      {recorded, journal} = Json.record(program, [{:on_call, hook} | opts])
      assert recorded === changed
      assert Json.replay(program, json(journal), @opts) === changed
      assert replayed(program, [{:on_call, hook} | opts]) === {changed, changed}

      for %{"args" => sent} = call <- journal["calls"], call["ended"] == nil do
        assert sent == others.(call["asked"] || sent)
        assert is_map_key(call, "asked") or others.(sent) == sent
      end

      # A person sends the other arguments of the calls that wait.
      pausing = fn call -> if rem(call.number, 2) == 0, do: :pause, else: hook.(call) end

      send_others = fn
        {:paused, paused}, go_on ->
          {:ok, paused} = paused |> Paused.to_map() |> json() |> Paused.from_map()
          decisions = Map.new(paused.calls, &{&1.id, {:run, others.(&1.args)}})
          paused |> Json.resume(decisions, [{:on_call, pausing} | opts]) |> go_on.(go_on)

        result, _go_on ->
          result
      end

      assert program |> Json.run([{:on_call, pausing} | opts]) |> send_others.(send_others) ===
               changed
    end)
  end

  # A run with a journal, and the replay of what its function got.
  defp replayed(program, opts) do
    me = self()
    result = Json.run(program, [{:on_journal, &send(me, {:event, &1})} | opts])
    events = events([])
    {:ok, paused} = events |> json() |> Paused.recover()
    assert Enum.all?(paused.calls, & &1.started)
    own = Keyword.take(opts, [:context])
    assert Json.replay(program, json(events), own) === Json.replay(paused.program, paused, own)
    {result, Json.replay(paused.program, paused, own)}
  end

  defp events(done) do
    receive do
      {:event, event} -> events([event | done])
    after
      0 -> Enum.reverse(done)
    end
  end

  defp finish({:paused, paused}, opts, hook, n) do
    stored =
      case rem(n, 3) do
        0 -> paused
        1 -> paused |> :erlang.term_to_binary() |> :erlang.binary_to_term()
        2 -> paused |> Paused.to_map() |> json() |> Paused.from_map() |> elem(1)
      end

    assert stored === paused
    stored |> Json.resume(:approve, [{:on_call, hook} | opts]) |> finish(opts, hook, n)
  end

  defp finish(result, _opts, _hook, _n), do: result

  @tag timeout: 600_000
  test "no program, order, nesting, on_error or concurrency exceeds a budget" do
    each_case(@cases, fn program, n ->
      made = :ets.new(:made, [:public, :duplicate_bag])
      tools = Calling.tools(fn name, _args -> :ets.insert(made, {name}) end)
      concurrency = Enum.random([1, 1, 2, 8, 64])
      own = %{"a" => :rand.uniform(4) - 1, "b" => nil, "c" => :rand.uniform(8) - 1}
      all = Enum.random([nil, 0, 1, 3, 7])

      limited =
        for {name, fun} <- tools, into: %{}, do: {name, {fun, [max_calls: own[name]] ++ more(n)}}

      opts = [tools: limited, max_tool_calls: all, tool_concurrency: concurrency] ++ @opts
      opts = if rem(n, 3) == 0, do: [{:on_call, fn _ -> :run end} | opts], else: opts

      result =
        if rem(n, 5) == 0, do: Json.explain(program, opts).result, else: Json.run(program, opts)

      counts = made |> :ets.tab2list() |> Enum.frequencies_by(&elem(&1, 0))
      :ets.delete(made)

      for {name, most} <- own, most != nil, do: assert(Map.get(counts, name, 0) <= most)
      if all, do: assert(Enum.sum(Map.values(counts)) <= all)

      # Where the budget is not used up, the result is that without one.
      unless match?({:error, {:execution_error, _}}, result) and
               elem(elem(result, 1), 1) =~ "allowed" do
        plain = Calling.tools(fn _name, _args -> :ok end)
        assert result === Json.run(program, [{:tools, plain} | @opts])
      end
    end)
  end

  defp more(n), do: Enum.at([[], [cache: true], [timeout: 10_000], [effect: :read]], rem(n, 4))

  @tag timeout: 600_000
  test "callers killed at random moments: nothing is done twice, nothing that was answered is lost" do
    each_case(div(@cases, 25), fn program, n ->
      done = :ets.new(:done, [:public, :ordered_set])
      log = :ets.new(:log, [:public, :ordered_set])
      key = fn -> :erlang.unique_integer([:monotonic]) end

      tools =
        succeeding(fn name, args ->
          :ets.insert(done, {key.(), name, args})
          Process.sleep(Enum.random([0, 0, 1]))
        end)

      opts = [tools: tools, tool_concurrency: Enum.at([1, 4], rem(n, 2))] ++ @opts
      plain = Json.run(program, [{:tools, succeeding(fn _, _ -> :ok end)} | @opts])
      journaled = [{:on_journal, fn event -> :ets.insert(log, {key.(), event}) end} | opts]
      result = killing(fn -> Json.run(program, journaled) end, journaled, log, done)
      assert result === plain

      # All that was written down is one journal, whatever was killed.
      events = for {_key, event} <- :ets.tab2list(log), do: event
      {:ok, paused} = events |> json() |> Paused.recover()
      assert Json.replay(program, paused, @opts) === plain

      # Each call of the program was made once.
      {_result, %{"calls" => calls}} =
        Json.record(program, [{:tools, succeeding(fn _, _ -> :ok end)} | @opts])

      expected = for call <- calls, call["ended"] == nil, do: call["tool"]

      made = for {_key, name, _args} <- :ets.tab2list(done), do: name

      # Where calls overlap, some behind one that failed may have been made too.
      if rem(n, 2) == 0 or match?({:ok, _, _, _}, plain),
        do: assert({made -- expected, expected -- made} == {[], []}),
        else: assert(expected -- made == [])

      :ets.delete(done)
      :ets.delete(log)
    end)
  end

  defp succeeding(called) do
    for {name, tool} <- Calling.tools(called), into: %{} do
      {name,
       fn args ->
         try do
           with {:error, _reason} <- tool.(args), do: 0
         catch
           _kind, _reason -> 0
         end
       end}
    end
  end

  # Runs the function in a process that is killed after a random time, until the run ends.
  defp killing(run, opts, log, done) do
    me = self()
    {pid, monitor} = spawn_monitor(fn -> send(me, {:result, self(), run.()}) end)

    receive do
      {:DOWN, ^monitor, :process, _, :normal} -> :ok
    after
      Enum.random([0, 0, 1, 2, 4, 30]) ->
        Process.exit(pid, :kill)
        assert_receive {:DOWN, ^monitor, :process, _, _}
    end

    receive do
      {:result, ^pid, result} -> result
    after
      0 ->
        # The process of a tool may outlive its caller by a moment.
        wait_for_children(pid)
        log |> :ets.tab2list() |> Enum.map(&elem(&1, 1)) |> again(run, opts, log, done)
    end
  end

  defp wait_for_children(pid) do
    if Enum.any?(Process.list(), &(Process.info(&1, :parent) == {:parent, pid})) do
      Process.sleep(1)
      wait_for_children(pid)
    end
  end

  defp again([], run, opts, log, done), do: killing(run, opts, log, done)

  defp again(events, _run, opts, log, done) do
    assert {:ok, paused} = events |> json() |> Paused.recover()
    assert Enum.all?(paused.calls, & &1.started)
    answered = for entry <- Paused.answered(paused), do: {entry["tool"], entry["args"]}
    made = for {_key, tool, args} <- :ets.tab2list(done), do: {tool, args}

    assert answered --
             Enum.map(made, fn {tool, args} ->
               {tool, elem(PtcRunner.Json.Kept.encode(args), 1)}
             end) == []

    # The application knows of each call that was started whether its tool has done its work.
    {decisions, _left} =
      Enum.map_reduce(paused.calls, undecided(made, paused), fn call, left ->
        made = {call.tool, call.args}

        if made in left,
          do:
            {{call.id, {:answer, succeeding(fn _, _ -> :ok end)[call.tool].(call.args)}},
             left -- [made]},
          else: {{call.id, :approve}, left}
      end)

    killing(fn -> Json.resume(paused, Map.new(decisions), opts) end, opts, log, done)
  end

  defp undecided(made, paused) do
    answered =
      for entry <- Paused.answered(paused) do
        {:ok, args} = PtcRunner.Json.Kept.decode(entry["args"])
        {entry["tool"], args}
      end

    made -- answered
  end
end
