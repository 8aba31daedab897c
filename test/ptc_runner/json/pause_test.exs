defmodule PtcRunner.Json.PauseTest do
  # Runs that wait for a decision, go on, are recorded and replayed.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Paused}
  alias PtcRunner.Json.Paused.Stored

  @each ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "ids"},
    {"op": "map", "expr": {"op": "call", "tool": "x", "args": {"id": {"op": "var", "name": "__input"}}, "on_error": null}}]}})

  @pair ~s({"program": {"op": "let", "name": "a", "value": {"op": "call", "tool": "x", "args": {"n": 1}},
    "in": {"op": "call", "tool": "y", "args": {"a": {"op": "var", "name": "a"}}}}})

  defp json(map), do: map |> Codec.encode!() |> Codec.decode!()
  defp etf(term), do: term |> :erlang.term_to_binary() |> :erlang.binary_to_term()

  # Goes on until the run ends; the paused run goes through its stored forms.
  defp finish({:paused, paused}, decision, opts) do
    assert {:ok, ^paused} = paused |> Paused.to_map() |> json() |> Paused.from_map()
    paused |> etf() |> Json.resume(decision, opts) |> finish(decision, opts)
  end

  defp finish(result, _decision, _opts), do: result

  describe "pause" do
    test "approve: true pauses without a hook, and nothing is called twice" do
      {:ok, made} = Agent.start_link(fn -> [] end)

      note = fn name ->
        fn args -> Agent.update(made, &[{name, args} | &1]) && {name, args} end
      end

      opts = [
        tools: %{"x" => {note.(:x), effect: :read}, "y" => {note.(:y), approve: true}},
        memory: %{"kept" => 1}
      ]

      assert {:paused, %Paused{calls: [call]} = paused} = Json.run(@pair, opts)

      assert %{
               id: "2",
               tool: "y",
               args: %{"a" => {:x, %{"n" => 1}}},
               effect: :write,
               number: 2,
               path: ["program", "in"],
               started: false
             } = call

      assert call.text == ~S(y with %{"a" => {:x, %{"n" => 1}}})
      assert Agent.get(made, & &1) == [{:x, %{"n" => 1}}]

      assert finish({:paused, paused}, :approve, opts) ==
               {:ok, {:y, call.args}, %{}, %{"kept" => 1}}

      assert Agent.get(made, &length/1) == 2

      assert Json.resume(paused, {:answer, 5}, opts) == {:ok, 5, %{}, %{"kept" => 1}}
      assert Json.resume(paused, {:run, %{}}, opts) == {:ok, {:y, %{}}, %{}, %{"kept" => 1}}

      assert Json.resume(paused, {:deny, "no"}, opts) ==
               {:error, {:execution_error, "Tool 'y' was refused: no"}}

      assert Json.resume(paused, %{"2" => {:answer, 5}}, opts) == {:ok, 5, %{}, %{"kept" => 1}}
      assert {:paused, %{calls: [^call]}} = Json.resume(paused, %{}, opts)
      assert Agent.get(made, &length/1) == 3
    end

    test "the calls of a loop wait together, in every form" do
      {:ok, compiled} = Json.compile(@each)
      opts = [context: %{"ids" => [1, 2, 3]}, tools: %{"x" => {& &1["id"], approve: true}}]

      for program <- [@each, compiled, Codec.decode!(@each)] do
        assert {:paused, paused} = Json.run(program, opts)
        assert Enum.map(paused.calls, & &1.id) == ["1.0.1", "1.1.1", "1.2.1"]
        assert Enum.map(paused.calls, & &1.args["id"]) == [1, 2, 3]
        # One decision for all, and the run has ended.
        assert Json.resume(paused, :approve, opts) == {:ok, [1, 2, 3], %{}, %{}}
        assert finish({:paused, paused}, :approve, opts) == {:ok, [1, 2, 3], %{}, %{}}
        assert finish({:paused, paused}, {:answer, 0}, opts) == {:ok, [0, 0, 0], %{}, %{}}
      end

      # A run that is explained goes step by step.
      assert {:paused, %{calls: [%{id: "1"}]} = paused} = Json.explain(@each, opts).result
      assert {:paused, %{calls: [%{id: "2"}]}} = Json.resume(paused, :approve, opts)
      assert finish({:paused, paused}, :approve, opts) == {:ok, [1, 2, 3], %{}, %{}}
    end

    test "a loop goes on in its order up to the first call that waits, whatever its rounds call" do
      rows = for n <- 1..80, do: %{"n" => n, "odd" => rem(n, 2) == 1}
      get = fn field -> %{op: "get", field: field} end
      call = fn tool -> %{op: "call", tool: tool, args: %{"n" => get.("n")}} end
      odd = %{op: "if", condition: %{op: "eq", field: "odd", value: true}, then: call.("x")}

      # Several calls in a round, or none, and what is kept of its item.
      for body <- [
            call.("x"),
            Map.put(odd, :else, get.("n")),
            Map.put(odd, :else, %{op: "list", items: [call.("x"), call.("y")]}),
            %{op: "list", items: [call.("y"), call.("x"), call.("y")]}
          ],
          loop <- ["map", "set", "filter"],
          stops <- [1, 2, 40, 79, 80, 81] do
        of_loop =
          case loop do
            "map" -> %{op: "map", expr: body}
            "set" -> %{op: "set", fields: %{"v" => body}}
            "filter" -> %{op: "filter", where: %{op: "not", condition: body}}
          end

        steps = [%{op: "load", name: "rows"}, of_loop]
        value = %{op: "pipe", steps: steps}
        last = %{op: "list", items: [%{op: "var", name: "v"}, %{op: "call", tool: "end"}]}

        program = Codec.encode!(%{program: %{op: "let", name: "v", value: value, in: last}})

        {:ok, made} = Agent.start_link(fn -> [] end)

        tool = fn name ->
          fn args -> Agent.update(made, &[{name, args} | &1]) && {name, args} end
        end

        tools = for name <- ["x", "y", "end"], into: %{}, do: {name, tool.(name)}
        opts = [context: %{"rows" => rows}, tools: tools]
        expected = Json.run(program, opts)
        calls = made |> Agent.get_and_update(&{&1, []}) |> Enum.reverse()

        hook = fn
          %{tool: "end"} -> :pause
          %{args: %{"n" => n}} when n >= stops -> :pause
          _call -> :run
        end

        opts = [on_call: hook] ++ opts
        assert finish(Json.run(program, opts), :approve, opts) == expected
        # Each once, and each after those that it needs.
        assert made |> Agent.get(& &1) |> Enum.sort() == Enum.sort(calls)

        if stops == 81 do
          {:paused, paused} = Json.run(program, opts)
          [%{id: id}] = paused.calls
          assert length(Paused.answered(paused)) == length(calls) - 1
          assert id == if(calls == [{"end", %{}}], do: "1", else: "2")
          # Other data is another program, and a budget holds for what the journal answers.
          most = length(calls) - 1

          assert {:ok, _, _, _} =
                   Json.resume(paused, :approve, [max_tool_calls: most + 1] ++ opts)

          assert {:error, {_kind, text}} =
                   Json.resume(paused, :approve, [max_tool_calls: 3] ++ opts)

          assert text =~ "no more than 3 calls"
          other = Keyword.put(opts, :context, %{"rows" => tl(rows)})
          assert {:error, {_kind, text}} = Json.resume(paused, :approve, other)
          assert text =~ "give the same :context"
        end
      end
    end

    test "calls that overlap wait together, all of them" do
      tools = %{"x" => {& &1["id"], approve: true}}
      opts = [context: %{"ids" => Enum.to_list(1..10)}, tools: tools, tool_concurrency: 4]
      assert {:paused, paused} = Json.run(@each, opts)
      ids = for n <- 0..9, do: "1.#{n}.1"
      assert Enum.map(paused.calls, & &1.id) == ids
      assert finish({:paused, paused}, :approve, opts) == {:ok, Enum.to_list(1..10), %{}, %{}}

      # One is decided about: the others still wait.
      assert {:paused, again} = Json.resume(paused, %{"1.1.1" => :approve}, opts)
      assert Enum.map(again.calls, & &1.id) == ids -- ["1.1.1"]
      # How many may overlap may change.
      assert finish({:paused, again}, :approve, Keyword.put(opts, :tool_concurrency, 64)) ==
               {:ok, Enum.to_list(1..10), %{}, %{}}

      assert finish({:paused, again}, :approve, Keyword.delete(opts, :tool_concurrency)) ==
               {:ok, Enum.to_list(1..10), %{}, %{}}
    end

    test "an earlier round that fails is the error; a later one waits for those before" do
      program = String.replace(@each, ~s(, "on_error": null), "")
      tools = %{"x" => fn %{"id" => id} -> if id == 3, do: {:error, "three"}, else: id end}
      hook = fn wait -> fn call -> if call.args["id"] == wait, do: :pause, else: :run end end
      opts = [context: %{"ids" => [1, 2, 3, 4, 5]}, tools: tools, tool_concurrency: 8]
      error = {:error, {:execution_error, ~S(Tool 'x' error: "three")}}
      assert Json.run(program, [{:on_call, hook.(5)} | opts]) == error

      assert {:paused, %{calls: [%{args: %{"id" => 2}}]} = paused} =
               Json.run(program, [{:on_call, hook.(2)} | opts])

      assert Json.resume(paused, :approve, [{:on_call, nil} | opts]) == error
    end

    test "a budget holds over the pause" do
      opts = [
        context: %{"ids" => [1, 2, 3]},
        tools: %{"x" => {& &1["id"], approve: true, max_calls: 2}}
      ]

      assert finish(Json.run(@each, opts), :approve, opts) ==
               {:error,
                {:execution_error,
                 "Tool 'x' was called 2 times; no more than 2 calls are allowed"}}
    end

    test "now is that of the start" do
      program =
        ~s({"program": {"op": "let", "name": "t", "value": {"op": "now"}, "in": {"t": {"op": "var", "name": "t"}, "x": {"op": "call", "tool": "x"}}}})

      opts = [tools: %{"x" => {fn _ -> 1 end, approve: true}}]
      assert {:paused, paused} = Json.run(program, [{:now, "2001-02-03T04:05:06Z"} | opts])
      assert paused.now == "2001-02-03T04:05:06Z"
      assert {:ok, %{"t" => "2001-02-03T04:05:06Z"}, _, _} = Json.resume(paused, :approve, opts)
      assert {:paused, paused} = Json.run(program, opts)
      Process.sleep(1_100)
      now = paused.now
      assert {:ok, %{"t" => ^now}, _, _} = Json.resume(paused, :approve, opts)
    end

    test "what cannot go on is said" do
      opts = [
        context: %{"ids" => [1, 2], "other" => 1},
        tools: %{"x" => {& &1["id"], approve: true}}
      ]

      {:paused, paused} = Json.run(@each, opts)

      refused = fn paused, decision, opts ->
        assert {:error, {:execution_error, text}} = Json.resume(paused, decision, opts)
        text
      end

      assert refused.(paused, :approve, Keyword.put(opts, :context, %{"ids" => [1, 3]})) =~
               "The data that the program reads is not what it was"

      assert {:ok, [1, 2], _, _} =
               Json.resume(
                 paused,
                 :approve,
                 Keyword.put(opts, :context, %{"ids" => [1, 2], "other" => 2})
               )

      assert refused.(paused, :approve, [{:edition, 1} | opts]) =~
               "paused in edition 2 of the language, and cannot go on in edition 1"

      assert refused.(paused, %{"9" => :approve}, opts) ==
               ~S(No call "9" waits. These wait: "1.0.1", "1.1.1")

      assert refused.(%{paused | version: 2}, :approve, opts) =~
               "version 2, and this library reads version 1"

      assert refused.(%{paused | journal: "x"}, :approve, opts) =~ "cannot be read"

      {:paused, second} = Json.resume(paused, %{"1.0.1" => :approve}, opts)
      other = String.replace(@each, ~s("id":), ~s("no":))

      assert refused.(%{second | program: other}, :approve, opts) ==
               ~S(The program calls 'x' with %{"no" => 1}, but the journal has 'x' with %{"id" => 1})

      assert refused.(%{paused | program: other}, :approve, opts) ==
               ~S(The program calls 'x' with %{"no" => 1}, but the journal has 'x' with %{"id" => 1})

      {:paused, short} = Json.run(@each, [{:pause_ttl, 1} | opts])
      Process.sleep(5)

      assert refused.(short, :approve, opts) =~
               "The paused run has expired: it could be resumed until 20"

      assert_raise ArgumentError, ~r/a decision must be/, fn ->
        Json.resume(paused, :yes, opts)
      end

      assert_raise ArgumentError, ~r/a decision must be/, fn ->
        Json.resume(paused, %{"1.0.1" => :yes}, opts)
      end

      twice = [{"1.0.1", {:deny, "no"}}, {"1.0.1", :approve}]

      assert_raise ArgumentError, ~S(a call can have one decision, and "1.0.1" has several), fn ->
        Json.resume(paused, twice, opts)
      end
    end

    test "the longest time that a run may wait" do
      opts = [tools: %{"x" => {& &1, approve: true}}, context: %{"ids" => [1]}]

      for ttl <- [Integer.pow(10, 13), Integer.pow(10, 18), Integer.pow(10, 40)] do
        assert {:paused, paused} = Json.run(@each, [{:pause_ttl, ttl} | opts])
        assert {:ok, ^paused} = paused |> Paused.to_map() |> json() |> Paused.from_map()
        assert {:ok, until, 0} = DateTime.from_iso8601(paused.expires_at)
        assert until.year in 2_300..9_999
        assert {:ok, [_], _, _} = Json.resume(paused, :approve, opts)
      end
    end

    test "what cannot be kept is said" do
      opts = [tools: %{"x" => fn _ -> fn -> 1 end end, "y" => {& &1, approve: true}}]

      assert {:error,
              {:execution_error, "The run cannot be paused: tool 'x' answered with a function"}} =
               Json.run(@pair, opts)
    end

    test "a program or a plan that cannot be kept is an error, and no exception" do
      pay = %{"op" => "call", "tool" => "pay", "args" => %{}}
      never = %{"op" => "call", "tool" => "read", "args" => %{"x" => self()}}
      no = %{"op" => "literal", "value" => false}
      node = %{"op" => "if", "condition" => no, "then" => never, "else" => pay}
      tools = %{"read" => {fn _ -> 1 end, effect: :read}, "pay" => {fn _ -> 1 end, approve: true}}
      program = %{"program" => node}
      {:ok, plan} = Json.plan(program, tools: tools)
      error = &{:error, {:execution_error, "The run cannot be paused: " <> &1}}
      assert Json.run(program, tools: tools) == error.("its program has a process")

      assert Json.run(%{"program" => pay}, tools: tools, within: plan) ==
               error.("the plan cannot be kept: it has a process")
    end

    test "its size is that of the program, the calls, the answers and 1 KB" do
      rows = for n <- 1..100, do: %{"id" => n, "padding" => String.duplicate("x", 1_000)}

      program =
        ~s({"program": {"op": "let", "name": "all", "value": {"op": "pipe", "steps": [{"op": "load", "name": "rows"},
        {"op": "map", "expr": {"op": "call", "tool": "x", "args": {"id": {"op": "get", "field": "id"}}}}]}, "in": {"op": "call", "tool": "y"}}})

      for answer <- [
            & &1["id"],
            &%{"name" => "customer #{&1["id"]}", "n" => &1["id"] * 7},
            fn _ -> :crypto.strong_rand_bytes(100) end
          ] do
        opts = [context: %{"rows" => rows}, tools: %{"x" => answer, "y" => {& &1, approve: true}}]
        {:paused, paused} = Json.run(program, opts)

        {ids, _tools, _args, _kinds, answers} = :erlang.binary_to_term(paused.journal)
        ids = if is_list(ids), do: :erlang.term_to_binary(ids), else: ""

        assert length(answers) == 100

        [size, calls, answers] =
          for term <- [paused, paused.calls, answers],
              do: byte_size(:erlang.term_to_binary(term))

        assert size <= byte_size(program) + calls + answers + byte_size(ids) + 1_024,
               "#{size}"
      end
    end
  end

  describe "the binary of a journal" do
    alias PtcRunner.Json.Paused.Packed

    test "has the entries, whatever is equal in them" do
      :rand.seed(:exsss, {4, 0, 1})

      for _ <- 1..500 do
        count = :rand.uniform(6) - 1
        some = fn values -> fn -> Enum.random(values) end end
        same = fn values -> values |> Enum.random() |> List.wrap() |> some.() end
        [tool, args, outcome] = for _ <- 1..3, do: Enum.random([some, same])
        tool = tool.(["a", "b"])
        args = args.([%{}, %{"n" => 1}, %{"n" => 1.0}])

        outcome =
          outcome.([{:ok, 1, 2}, {:ok, {1}, nil}, {:failed, "no"}, {:cached, {:ok, [], 0}}])

        loop = :rand.uniform(2)
        first = Enum.random([0, 0, 1])
        kind = Enum.random([:plain, :loop, :twice])

        entries =
          for at <- 0..(count - 1)//1 do
            id =
              case kind do
                :plain -> at + 1
                :loop -> {loop, at + first, 1}
                :twice -> {loop, div(at, 2), rem(at, 2) + 1}
              end

            {id, tool.(), args.(), outcome.()}
          end

        assert entries |> Packed.pack() |> Packed.unpack() === {:ok, entries}
      end
    end

    test "that is no journal takes no more memory than it has" do
      for columns <- [
            {1_000_000_000_000, {"x"}, {%{}}, {3}, []},
            {{1_000_000_000_000}, {"x"}, {%{}}, {3}, []},
            {{1}, {"x"}, {%{}}, {3}, []},
            {[1], {"x"}, {%{}}, [3, 3], [1]},
            {[0], {"x"}, {%{}}, {3}, [1]},
            {["1"], {"x"}, {%{}}, {3}, [1]},
            {1, {:x}, {%{}}, {3}, [1]},
            {1, {"x"}, {%{}}, {0x1_0000_0000_0000}, [1]},
            {1, {"x"}, {%{}}, {0}, [1]},
            {1, {"x"}, {%{}}, {3}, [1 | 2]}
          ] do
        assert {columns, {:error, "The journal of the paused run cannot be read here"}} ==
                 {columns, columns |> :erlang.term_to_binary() |> Packed.unpack()}
      end
    end
  end

  describe "a run that was paused by release 0.1.0" do
    @stored "test/support/stored/paused_0_1_0"
    @program ~s({"program": {"op": "let", "name": "found", "value": {"op": "pipe", "steps": [{"op": "load", "name": "orders"},
      {"op": "map", "expr": {"op": "call", "tool": "customer", "args": {"id": {"op": "get", "field": "id"}}, "on_error": null}}]},
      "in": {"at": {"op": "now"}, "found": {"op": "var", "name": "found"}, "paid": {"op": "call", "tool": "pay", "args": {"names": {"op": "var", "name": "found"}}}}}})

    defp stored_opts do
      customer = fn %{"id" => id} ->
        Enum.at(
          [
            {:error, :unknown},
            "Ada",
            {:vip, ~D[2024-02-29]},
            %{"name" => "Bob", "score" => 1.0e20}
          ],
          id
        )
      end

      [
        context: %{"orders" => for(n <- 0..3, do: %{"id" => n, "total" => n * 1.5}), "other" => 1},
        tools: %{
          "customer" => {customer, effect: :read},
          "pay" => {fn _ -> :paid end, approve: true}
        },
        memory: %{"kept" => [1, nil]}
      ]
    end

    # Writes the files: `PTC_STORE=1 mix test test/ptc_runner/json/pause_test.exs`, once for a release.
    @tag skip: System.get_env("PTC_STORE") == nil
    test "is written" do
      {:paused, paused} = Json.run(@program, [{:now, "2026-11-23T01:00:00Z"} | stored_opts()])
      File.mkdir_p!(Path.dirname(@stored))
      File.write!(@stored <> ".term", :erlang.term_to_binary(paused))
      File.write!(@stored <> ".json", [Codec.encode!(Paused.to_map(paused)), "\n"])
    end

    test "goes on here, as a term and as JSON" do
      {:ok, of_json} =
        (@stored <> ".json") |> File.read!() |> Codec.decode!() |> Paused.from_map()

      of_term = (@stored <> ".term") |> File.read!() |> :erlang.binary_to_term()
      # Releases of Erlang/OTP write the same terms as other bytes.
      whole = &struct(&1.__struct__, Map.from_struct(&1))
      term = whole.(%{of_term | calls: Enum.map(of_term.calls, whole), journal: nil})
      # It had no keys then. Those of its calls are always the same.
      term = Stored.keyed(term)
      assert %{of_json | journal: nil} == term
      # Its journal had no columns of equal values.
      assert Paused.entries(of_json) === Paused.entries(of_term)

      never = %{
        "customer" => {fn _ -> flunk("called again") end, effect: :read},
        "pay" => {fn _ -> :paid end, approve: true}
      }

      for paused <- [of_json, of_term] do
        assert [%{id: "5", tool: "pay", path: ["program", "in", "paid"], effect: :write}] =
                 paused.calls

        assert {:ok, result, _, %{"kept" => [1, nil]}} =
                 Json.resume(paused, :approve, Keyword.put(stored_opts(), :tools, never))

        assert result == %{
                 "at" => "2026-11-23T01:00:00Z",
                 "found" => [
                   nil,
                   "Ada",
                   {:vip, ~D[2024-02-29]},
                   %{"name" => "Bob", "score" => 1.0e20}
                 ],
                 "paid" => :paid
               }
      end
    end
  end

  describe "a caller that was killed" do
    test "its calls are told before they start; what was started and has no answer waits" do
      me = self()

      opts = [
        context: %{"ids" => [1, 2, 3]},
        tools: %{
          "x" => fn %{"id" => id} ->
            send(me, {:did, id})
            if(id == 2, do: Process.sleep(:infinity), else: id)
          end
        }
      ]

      {pid, monitor} =
        spawn_monitor(fn ->
          Json.run(@each, [{:timeout, 60_000}, {:on_journal, &send(me, {:entry, &1})} | opts])
        end)

      assert_receive {:did, 2}
      Process.exit(pid, :kill)
      assert_receive {:DOWN, ^monitor, _, _, _}

      events =
        Stream.repeatedly(fn ->
          receive do
            {:entry, map} -> map
          after
            0 -> nil
          end
        end)
        |> Enum.take_while(& &1)
        |> json()

      assert {:ok, paused} = Paused.recover(events)
      assert [%{id: "2", tool: "x", args: %{"id" => 2}, started: true}] = paused.calls
      assert {:ok, ^paused} = paused |> Paused.to_map() |> json() |> Paused.from_map()
      opts = Keyword.put(opts, :tools, %{"x" => & &1["id"]})

      # Killed again before it has reached the call: it waits still.
      me = self()
      noted = Keyword.put(opts, :on_journal, &send(me, {:entry, &1}))
      assert {:ok, _, _, _} = Json.resume(paused, {:answer, :was_done}, noted)
      assert_received {:entry, start}
      assert {:ok, %{calls: [%{id: "2", started: true}]} = again} = Paused.recover(json([start]))
      assert Json.resume(again, {:answer, :was_done}, opts) == {:ok, [1, :was_done, 3], %{}, %{}}
      assert_received {:entry, %{"id" => "2"} = answered}
      assert {:ok, %{calls: []}} = Paused.recover(json([start, answered]))
      assert Json.resume(paused, {:answer, :was_done}, opts) == {:ok, [1, :was_done, 3], %{}, %{}}
      assert Json.resume(paused, :approve, opts) == {:ok, [1, 2, 3], %{}, %{}}
    end

    test "a read is made again" do
      events = fn effect ->
        me = self()

        Json.run(@pair,
          tools: %{"x" => {fn _ -> 1 end, effect: effect}, "y" => & &1},
          on_journal: &send(me, {:entry, &1})
        )

        [start, started | _rest] =
          for _ <- 1..5,
              do:
                (receive do
                   {:entry, map} -> map
                 end)

        [start, started]
      end

      assert {:ok, %{calls: [%{started: true}]}} = Paused.recover(events.(:write))
      assert {:ok, %{calls: []} = paused} = Paused.recover(events.(:read))

      assert Json.resume(paused, :approve, tools: %{"x" => fn _ -> 1 end, "y" => & &1}) ==
               {:ok, %{"a" => 1}, %{"a" => 1}, %{"a" => 1}}
    end

    test "a function of :on_journal that fails refuses the call" do
      fun = fn event -> if event["started"], do: raise("disk full") end
      tools = %{"x" => fn _ -> flunk("called") end}

      assert {:error,
              {:execution_error,
               "Tool 'x' was refused: the function of :on_journal raised: disk full"}} =
               Json.run(@pair, tools: tools, on_journal: fun)

      assert {:error,
              {:execution_error, "The run was refused: the function of :on_journal raised: no"}} =
               Json.run(@pair, tools: tools, on_journal: fn _ -> raise "no" end)
    end
  end

  describe "record and replay" do
    test "every kind of value comes back as it was" do
      values = [
        1.0e300,
        -0.0,
        2 ** 200,
        {:ok, %{a: 1}},
        ~D[2024-02-29],
        <<255>>,
        <<1::3>>,
        [1 | 2],
        "é",
        %{1 => 2},
        %{"$ptc" => 1},
        :shipped,
        nil,
        %{"a" => [1.5, true]},
        1.0
      ]

      for value <- values do
        {result, journal} =
          Json.record(@pair, tools: %{"x" => fn _ -> value end, "y" => & &1["a"]})

        assert {:ok, ^value, _, _} = result
        replayed = Json.replay(@pair, json(journal))
        assert replayed === result
        assert :erlang.term_to_binary(replayed) == :erlang.term_to_binary(result)
      end

      assert {{:error,
               {:execution_error, "Tool 'x' answered with a process, which a journal cannot hold"}},
              _} = Json.record(@pair, tools: %{"x" => fn _ -> self() end})
    end

    test "errors too" do
      for {tools, timeout} <- [
            {%{"x" => fn _ -> raise "no" end}, 60_000},
            {%{"x" => fn _ -> exit(:no) end}, 60_000},
            {%{"x" => fn _ -> Process.sleep(:infinity) end}, 80},
            {%{"x" => fn _ -> Enum.to_list(1..1_000_000) end}, 60_000},
            {%{"x" => fn _ -> Process.exit(self(), :kill) end}, 60_000},
            {%{"x" => {fn _ -> 1 end, max_calls: 0}}, 60_000},
            {%{"z" => & &1}, 60_000}
          ] do
        {{:error, _} = result, journal} =
          Json.record(@pair, tools: tools, timeout: timeout, max_heap: 100_000)

        assert Json.replay(@pair, json(journal)) == result
      end

      {result, journal} =
        Json.record(@pair, tools: %{"x" => & &1}, on_call: fn _ -> {:deny, "no"} end)

      assert Json.replay(@pair, json(journal)) == result
    end

    test "overlapping calls, caught errors and a round that fails" do
      tool = fn %{"id" => id} ->
        if(rem(id, 3) == 0, do: raise("three"), else: Process.sleep(rem(id * 7, 5)) && id)
      end

      for program <- [@each, String.replace(@each, ~s(, "on_error": null), "")],
          concurrency <- [1, 4, 64],
          cache <- [false, true] do
        opts = [
          context: %{"ids" => Enum.to_list(1..20) ++ [1, 2, 3]},
          tools: %{"x" => {tool, cache: cache}},
          tool_concurrency: concurrency
        ]

        {result, journal} = Json.record(program, opts)
        assert Json.replay(program, json(journal), Keyword.delete(opts, :tools)) === result
        assert Json.replay(program, json(journal), context: opts[:context]) === result
      end
    end

    test "departures are said" do
      {_result, journal} = Json.record(@pair, tools: %{"x" => fn _ -> 1 end, "y" => & &1})

      said = fn program, journal ->
        assert {:error, {:execution_error, text}} = Json.replay(program, journal)
        text
      end

      assert said.(String.replace(@pair, ~s("y"), ~s("z")), journal) ==
               ~S(The program calls 'z' with %{"a" => 1}, but the journal has 'y' with %{"a" => 1})

      # Also where more would follow.
      assert said.(String.replace(@pair, ~s("n": 1), ~s("n": 2)), journal) ==
               ~S(The program calls 'x' with %{"n" => 2}, but the journal has 'x' with %{"n" => 1})

      assert said.(@pair, %{journal | "calls" => Enum.take(journal["calls"], 1)}) ==
               ~S(The program calls 'y' with %{"a" => 1}, but the journal has no more calls)

      assert said.(~s({"program": {"op": "call", "tool": "x", "args": {"n": 1}}}), journal) ==
               ~S(The program has ended, but the journal has 'y' with %{"a" => 1})

      assert said.(@pair, %{}) =~ "No journal"
      assert said.(@pair, %{journal | "journal" => 9}) =~ "version 9"
      assert said.(@pair, %{journal | "calls" => [1]}) =~ "no entry of a journal: 1"

      assert {:error, {:execution_error, "The journal is of edition 2" <> _}} =
               Json.replay(@pair, journal, edition: 1)
    end

    test "the time of the run is recorded" do
      program = ~s({"program": {"t": {"op": "now"}, "x": {"op": "call", "tool": "x"}}})
      {result, journal} = Json.record(program, tools: %{"x" => fn _ -> 1 end})
      Process.sleep(1_100)
      assert Json.replay(program, json(journal)) == result
    end
  end
end
