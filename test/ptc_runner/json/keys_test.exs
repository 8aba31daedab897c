defmodule PtcRunner.Json.KeysTest do
  # Each call has a key: the same after a pause, after a crash and when a run goes on, so that a service can refuse what it has done.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Agent.Tool
  alias PtcRunner.Json.{Codec, Journal, Keyed, Paused}

  doctest Keyed

  @pair ~s({"program": {"op": "let", "name": "a", "value": {"op": "call", "tool": "pay", "args": {"n": 1}},
    "in": {"b": {"op": "call", "tool": "pay", "args": {"n": 2}}, "a": {"op": "var", "name": "a"}}}})

  @each ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "ids"},
    {"op": "map", "expr": {"op": "call", "tool": "pay", "args": {"n": {"op": "it"}}}}]}})

  defp json(map), do: map |> Codec.encode!() |> Codec.decode!()

  # A tool that answers what it is told of its call.
  defp told(options \\ []),
    do: %{"pay" => {fn _args, call -> {call.key, call.path, call.attempt} end, options}}

  defp events(done \\ []) do
    receive do
      {:event, event} -> events([event | done])
    after
      0 -> Enum.reverse(done)
    end
  end

  defp journaled(me \\ self()), do: [on_journal: &send(me, {:event, &1})]

  describe "a tool of two arguments" do
    test "is told the key, the place and the attempt, whatever its form" do
      forms = [
        {fn _args, call -> call end, []},
        {fn _args, call -> call end, effect: :read, max_calls: 3},
        {fn _args, call -> call end, signature: "(n :int) -> :any"},
        %Tool{name: "pay", fun: fn _args, call -> call end}
      ]

      for form <- forms,
          more <- [[], [tool_concurrency: 4], [on_call: fn _ -> :run end], journaled()] do
        opts = [tools: %{"pay" => form}, tool_context: [actor: "Ada"]] ++ more
        {:ok, compiled} = Json.compile(@pair)

        for program <- [@pair, compiled, Codec.decode!(@pair)] do
          assert {:ok, %{"a" => a, "b" => b}, _, _} = Json.run(program, opts)
          assert %{context: %{actor: "Ada"}, attempt: 1, path: ["program", "value"]} = a
          assert %{context: %{actor: "Ada"}, attempt: 1, path: ["program", "in", "b"]} = b
          [run, "1"] = String.split(a.key, ".")
          assert b.key == run <> ".2"
        end

        assert {:ok, %{"a" => %{key: _}}, _, _} = Json.explain(@pair, opts).result
      end

      bare = [tools: %{"pay" => fn _args, call -> call.key end}, tool_context: %{}]
      assert {:ok, %{"a" => <<_::binary>>}, _, _} = Json.run(@pair, bare)
      assert {:ok, %{"a" => <<_::binary>>}, _info} = Agent.run(@pair, bare[:tools])
    end

    test "each call of each run has another one; those of a loop in the order of its rounds" do
      opts = [context: %{"ids" => Enum.to_list(1..100)}, tools: told()]

      for most <- [1, 7] do
        runs = for _ <- 1..3, do: Json.run!(@each, [{:tool_concurrency, most} | opts])
        keys = for run <- runs, {key, path, 1} <- run, do: {key, path}
        assert length(Enum.uniq(keys)) == 300

        for run <- runs do
          keys = for {key, ["program", "steps", 1, "expr"], 1} <- run, do: key
          [id] = keys |> Enum.map(&(&1 |> String.split(".") |> hd())) |> Enum.uniq()

          expected =
            if most == 1,
              do: for(n <- 1..100, do: "#{id}.#{n}"),
              else: for(n <- 0..99, do: "#{id}.1.#{n}.1")

          assert keys == expected
        end
      end
    end

    test "a call is told its own key, also of a tool that is called by several and in a process that had another call" do
      tools = Map.put(told(), "plain", fn _args -> Keyed.known() end)

      program =
        ~s({"program": {"a": {"op": "call", "tool": "pay"}, "b": {"op": "call", "tool": "plain"}, "c": {"op": "call", "tool": "pay"}}})

      for most <- [1, 3] do
        assert {:ok, %{"a" => {a, _, 1}, "b" => known, "c" => {c, _, 1}}, _, _} =
                 Json.run(program, tools: tools, tool_concurrency: most)

        assert known == %{}
        assert a != c
      end
    end

    test "an answer of the cache is no call; its error is as before" do
      program = ~s({"program": {"op": "pipe", "steps": [{"op": "literal", "value": [1, 1, 1]},
        {"op": "map", "expr": {"op": "call", "tool": "pay", "args": {"n": {"op": "it"}}}}]}})

      assert {:ok, [same, same, same], _, _} = Json.run(program, tools: told(cache: true))
      failing = %{"pay" => {fn _args, call -> raise "key #{is_binary(call.key)}" end, []}}

      assert {:error, {:execution_error, "Tool 'pay' raised: key true"}} =
               Json.run(program, tools: failing)
    end
  end

  describe "the key is the same" do
    test "after a pause, in every form, and when a run goes on twice" do
      opts = [tools: told(approve: true)]
      {:paused, paused} = Json.run(@pair, opts)
      assert [%{key: key, attempt: 1, id: "1"}] = paused.calls
      assert String.ends_with?(key, ".1")
      key_of = [:crypto.strong_rand_bytes(32)]
      sealed = Paused.seal(paused, key_of, bind: 1, ttl: 60_000)

      stored = [
        paused,
        paused |> :erlang.term_to_binary() |> :erlang.binary_to_term(),
        paused |> Paused.to_map() |> json() |> Paused.from_map() |> elem(1),
        sealed |> Paused.open(key_of, bind: 1) |> elem(1)
      ]

      next = String.replace_suffix(key, ".1", ".2")

      for paused <- stored, _twice <- 1..2 do
        assert [%{key: ^key}] = paused.calls
        assert {:paused, again} = Json.resume(paused, :approve, opts)
        assert [%{key: ^next, id: "2"}] = again.calls
        assert [%{"key" => ^key, "answer" => _}] = Paused.answered(again)
        assert {:ok, result, _, _} = Json.resume(again, :approve, opts)
        assert {^key, _, 1} = result["a"]
        assert {^next, _, 1} = result["b"]
      end
    end

    test "of a map that was changed it is still that of the run" do
      {:paused, paused} = Json.run(@pair, tools: told(approve: true))
      map = Paused.to_map(paused)
      [call] = map["calls"]
      assert call["key"] == hd(paused.calls).key
      {:ok, again} = Paused.from_map(%{map | "calls" => [%{call | "key" => "other"}]})
      assert again == paused
    end

    test "of a run of an earlier release, which had none, whenever it goes on" do
      {:paused, paused} = Json.run(@pair, tools: told(approve: true))

      old =
        paused
        |> Paused.to_map()
        |> Map.put("run_id", nil)
        |> Map.update!("calls", fn [call] -> [Map.drop(call, ["key", "attempt"])] end)

      {:ok, old} = Paused.from_map(old)
      # A term of before has no such fields at all.
      [call] = old.calls
      term = %{Map.delete(old, :attempts) | calls: [Map.drop(call, [:key, :attempt])]}

      keys =
        for paused <- [old, term], _ <- 1..2 do
          {:paused, again} = Json.resume(paused, :approve, tools: told(approve: true))

          {:ok, %{"a" => {a, _, 1}, "b" => {b, _, 1}}, _, _} =
            Json.resume(again, :approve, tools: told(approve: true))

          assert b == hd(again.calls).key
          {a, b}
        end

      assert [{a, b}] = Enum.uniq(keys)
      assert String.ends_with?(a, ".1") and String.ends_with?(b, ".2")
    end

    test "after a crash; attempts are counted, over several crashes and with other calls between" do
      me = self()
      {:ok, crashes} = Elixir.Agent.start_link(fn -> 3 end)

      tool = fn %{"n" => n}, call ->
        send(me, {:told, n, call.key, call.attempt})

        if n == 2 and Elixir.Agent.get_and_update(crashes, &{&1, &1 - 1}) > 0,
          do: Process.exit(self(), :kill)

        n
      end

      for effect <- [:write, :read] do
        Elixir.Agent.update(crashes, fn _ -> 3 end)
        opts = [tools: %{"pay" => {tool, effect: effect}}] ++ journaled(me)

        # Without the answer that the killed tool's run has written down: the process of the run died, too.
        lost = fn result ->
          assert({:error, _} = result) && Enum.reject(events(), &is_map_key(&1, "ended"))
        end

        log = lost.(Json.run(@pair, opts))

        {log, result} =
          Enum.reduce(1..3, {log, nil}, fn attempt, {log, _result} ->
            {:ok, paused} = Paused.recover(json(log))

            if effect == :write do
              assert [%{id: "2", started: true, attempt: next, key: key}] = paused.calls
              assert next == attempt + 1
              assert key =~ ~r/\.2\z/
            else
              assert paused.calls == []
            end

            assert paused.attempts == %{"2" => attempt}
            assert {:ok, ^paused} = paused |> Paused.to_map() |> json() |> Paused.from_map()

            case Json.resume(paused, :approve, opts) do
              {:ok, result, _, _} -> {log ++ events(), result}
              error -> {log ++ lost.(error), nil}
            end
          end)

        assert result == %{"a" => 1, "b" => 2}
        assert {:ok, %{attempts: none, calls: []}} = Paused.recover(json(log))
        assert none == %{}

        told =
          for _ <- 1..5,
              do:
                (receive do
                   {:told, n, key, attempt} -> {n, key, attempt}
                 end)

        assert [{1, first, 1} | others] = told
        second = String.replace_suffix(first, ".1", ".2")
        assert others == for(attempt <- 1..4, do: {2, second, attempt})
      end
    end

    test "after a crash, of equal calls that are answered once: the one that was made, or was started, is that of another round now" do
      opts = [context: %{"ids" => [5, 5]}, tool_concurrency: 4]
      {:ok, [_, _], _, _} = Json.run(@each, [tools: told(cache: true)] ++ opts ++ journaled())
      [start, started, answered | _] = events()

      # Then the second round was the first one to call the tool.
      [started, answered] = for event <- [started, answered], do: %{event | "id" => "1.1.1"}
      {:ok, made} = Paused.recover(json([start, started, answered]))
      {:ok, [same, same], _, _} = Json.resume(made, :approve, [tools: told(cache: true)] ++ opts)
      assert {<<_run::binary-size(12), ".1.0.1">>, _path, 1} = same

      {:ok, begun} = Paused.recover(json([start, started]))
      assert [%{id: "1.1.1", started: true}] = begun.calls

      {:ok, [again, again], _, _} =
        Json.resume(begun, :approve, [tools: told(cache: true)] ++ opts)

      assert {key, ["program", "steps", 1, "expr"], 2} = again
      assert key == hd(begun.calls).key
    end

    test "of each run of a loop of an agent that goes on twice" do
      {:ok, asked} = Elixir.Agent.start_link(fn -> 0 end)
      answers = [@each, @pair]

      model = fn _messages ->
        Enum.at(answers, Elixir.Agent.get_and_update(asked, &{&1, &1 + 1}), @pair)
      end

      me = self()

      pay = fn %{"n" => n}, call ->
        send(me, {:paid, n, call.key}) && if(n == 9, do: {:error, "nine"}, else: n)
      end

      tools = %{"pay" => {pay, signature: "(n :int) -> :int", approve: true}}
      task = [task: "Pay.", context: %{"ids" => [9]}, tools: tools]
      {:paused, paused} = Agent.loop(model, task)

      keys =
        for _twice <- 1..2 do
          again = [model: model, tools: tools, context: %{"ids" => [9]}]
          {:paused, paused} = Agent.resume(paused, :approve, again)
          {:ok, paused} = paused |> Agent.Paused.to_map() |> json() |> Agent.Paused.from_map()
          {:paused, paused} = Agent.resume(paused, :approve, again)
          {:ok, step} = Agent.resume(paused, :approve, again)
          assert step.return == %{"a" => 1, "b" => 2}

          paid =
            for _ <- 1..3,
                do:
                  (receive do
                     {:paid, n, key} -> {n, key}
                   end)

          assert Enum.sort(for call <- Agent.audit(step), do: call.key) ==
                   Enum.sort(for {_n, key} <- paid, do: key)

          paid
        end

      assert [paid] = Enum.uniq(keys)
      assert [{9, turn_1}, {1, _}, {2, _}] = paid
      assert turn_1 =~ ~r/-1\.1\.0\.1\z/
      assert length(Enum.uniq(paid)) == 3
    end
  end

  describe "keys stand" do
    test "in what :on_journal gets and in the journal of a recorded run; those of before are still read" do
      opts = [tools: told(), memory: %{}] ++ journaled()
      {:ok, %{"a" => {a, _, 1}, "b" => {b, _, 1}}, _, _} = Json.run(@pair, opts)
      assert [%{"paused" => 1, "run_id" => run}, started, answered | _] = events = events()
      assert a == run <> ".1"
      assert %{"started" => true, "key" => ^a, "attempt" => 1} = started
      assert %{"answer" => _, "key" => ^a} = answered
      assert for(%{"key" => key} <- events, do: key) == [a, a, b, b]

      {{:ok, result, _, _}, journal} = Json.record(@pair, tools: told())
      assert {a, _, 1} = result["a"]

      assert for(call <- journal["calls"], do: call["key"]) == [
               a,
               String.replace_suffix(a, ".1", ".2")
             ]

      assert {:ok, ^result, _, _} = Json.replay(@pair, json(journal))

      old =
        journal
        |> Map.delete("run_id")
        |> Map.update!("calls", fn calls -> for call <- calls, do: Map.delete(call, "key") end)

      assert {:ok, ^result, _, _} = Json.replay(@pair, json(old))
      old = for event <- events, do: Map.drop(event, ["key", "attempt", "run_id", "attempts"])
      assert {:ok, %{calls: []}} = Paused.recover(json(old))
      {:ok, control, _opts} = Journal.control(json(old), @pair, [])
      assert is_binary(control.key_run)
    end

    test "in what a hook decides about, and in the audit of an agent with the attempts" do
      me = self()

      hook = fn call ->
        send(me, {:asked, call.key, call.attempt}) &&
          if(call.args["n"] == 1, do: :run, else: {:answer, 5})
      end

      model = fn _ -> @pair end
      {:ok, step} = Agent.loop(model, task: "Pay.", tools: told(), on_call: hook)

      assert [%{key: a, attempt: 1, decision: :run}, %{key: b, attempt: nil, decision: :answer}] =
               Agent.audit(step)

      assert_received {:asked, ^a, 1}
      assert_received {:asked, ^b, 1}

      # Equal calls that overlap have each its own.
      same = String.replace(@each, ~s({"op": "it"}), "1")
      tools = %{"pay" => fn _ -> Process.sleep(1) end}

      watched = [
        context: %{"ids" => Enum.to_list(1..8)},
        tools: tools,
        tool_concurrency: 8,
        on_event: &send(me, &1)
      ]

      {:ok, step} = Agent.loop(fn _ -> same end, [{:task, "Pay."} | watched])
      keys = for call <- Agent.audit(step), do: call.key
      assert length(Enum.uniq(keys)) == 8
      for key <- keys, do: assert_received(%{event: :call, key: ^key, attempt: 1})

      # Nobody has asked for the keys of this run: it has none.
      {:ok, step} =
        Agent.loop(fn _ -> same end, task: "Pay.", context: %{"ids" => [1]}, tools: tools)

      assert [%{key: nil, attempt: nil}] = Agent.audit(step)

      {:paused, paused} = Agent.loop(model, task: "Pay.", tools: told(approve: true))
      assert [%{decision: :waits, key: key}] = Agent.audit(paused)
      assert key == hd(paused.calls).key
      {:ok, opened} = paused |> Agent.Paused.to_map() |> json() |> Agent.Paused.from_map()
      assert opened.calls == paused.calls
    end
  end
end
