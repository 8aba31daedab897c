defmodule PtcRunner.Native.TelemetryTest do
  # Not async: whether events are wanted is one setting for all processes.
  use ExUnit.Case, async: false

  alias PtcRunner.Json
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.SubAgent.{Loop.JsonHandler, Signature}
  alias PtcRunner.Test.{Answers, Room}
  require Telemetry

  doctest Telemetry
  doctest Telemetry.Handlers
  doctest Telemetry.Ids

  # The function of the library that events are executed with.
  @fake """
  defmodule :telemetry do
    def execute(event, measurements, metadata) do
      send(:persistent_term.get(#{inspect(__MODULE__)}), {event, measurements, metadata})
      :ok
    end
  end
  """

  describe "without :telemetry" do
    test "nothing is wanted" do
      refute Code.ensure_loaded?(:telemetry)
      refute Telemetry.on?()
      assert Telemetry.refresh() == false
    end

    test "a run, a tool, an answer and a coercion execute nothing" do
      # A look at a module that is not there would be an error.
      assert Json.run!(~s({"program": {"op": "call", "tool": "t"}}),
               tools: %{"t" => fn _ -> 1 end}
             ) == 1

      assert {:ok, 1, _warnings} = Signature.Coercion.coerce("1", :int)
    end
  end

  describe "with :telemetry" do
    setup do
      :persistent_term.put(__MODULE__, self())
      Code.eval_string(@fake)
      assert Telemetry.refresh()

      on_exit(fn ->
        :code.purge(:telemetry)
        :code.delete(:telemetry)
        :code.purge(:telemetry)
        refute Telemetry.refresh()
      end)
    end

    # A default that makes runs raise, until the test ends; returns the right one.
    defp wrong_default do
      default = Application.get_env(:ptc_runner_native, :default_timeout)
      on_exit(fn -> Application.put_env(:ptc_runner_native, :default_timeout, default) end)
      Application.put_env(:ptc_runner_native, :default_timeout, -1)
      default
    end

    defp events do
      receive do
        {[:ptc_runner | _] = event, measured, metadata} ->
          [{event, measured, metadata} | events()]
      after
        0 -> []
      end
    end

    test "calls of PTC-Lisp that go to their tool in a list are told one by one" do
      tool = {fn list -> Enum.map(list, & &1["n"]) end, batch: 3}
      program = "(mapv #(tool/t {:n %}) [1 2 3 4])"

      {:ok, %{return: [1, 2, 3, 4]}} =
        PtcRunner.Lisp.run(program, tools: %{"t" => tool}, max_tool_calls: 4)

      told = for {[_, :tool, _ | _] = event, _, %{tool: "t"}} <- events(), do: List.last(event)
      assert Enum.frequencies(told) == %{decision: 4, start: 4, stop: 4}
    end

    test "a run that has used more than half of a limit says so" do
      near = fn -> for {[_, :json, :run, :stop], _, metadata} <- events(), do: metadata.near end
      tool = fn ms -> fn _args -> Process.sleep(ms) && 1 end end
      call = ~s({"program": {"op": "call", "tool": "t"}})

      twice =
        ~s({"program": {"a": {"op": "call", "tool": "t"}, "b": {"op": "call", "tool": "t"}}})

      list = ~s({"program": {"op": "range", "from": 1, "to": 4000}})

      Json.run(call, tools: %{"t" => tool.(0)})
      Json.run(list, max_heap: 40_000)
      assert near.() == [[], []]

      # On a busy machine a call of a tool takes longer than the tool itself.
      Json.run(call, tools: %{"t" => tool.(1_600)}, timeout: 3_000)
      assert [[%{limit: :timeout, used: used, of: 3_000}]] = near.()
      assert used >= 1_600
      assert {:error, {:timeout, 50}} = Json.run(call, tools: %{"t" => tool.(500)}, timeout: 50)
      assert [[%{limit: :timeout, used: used, of: 50}]] = near.()
      assert used >= 50

      Json.run(list, max_heap: 20_000)
      assert [[%{limit: :max_heap, used: used, of: 20_000}]] = near.()
      assert used in 10_000..20_000
      assert {:error, {:memory_exceeded, _bytes}} = Json.run(list, max_heap: 6_000)
      assert near.() == [[%{limit: :max_heap, used: 6_000, of: 6_000}]]

      # Counted where the run is driven by its caller, too.
      for more <- [[], [on_call: fn _ -> :run end]] do
        opts = [{:tools, %{"t" => {tool.(0), max_calls: 3}}} | more]
        Json.run(twice, opts ++ [max_tool_calls: 4])
        assert near.() == [[%{limit: :max_calls, tool: "t", used: 2, of: 3}]]
        Json.run(twice, opts ++ [max_tool_calls: 3])

        assert near.() == [
                 [
                   %{limit: :max_tool_calls, used: 2, of: 3},
                   %{limit: :max_calls, tool: "t", used: 2, of: 3}
                 ]
               ]

        assert {:error, _} = Json.run(twice, opts ++ [max_tool_calls: 1])
        assert near.() == [[%{limit: :max_tool_calls, used: 1, of: 1}]]
      end

      # A run inside of another one, and one after it, have their own.
      inner = fn _call -> Json.run(twice, tools: %{"t" => {tool.(0), max_calls: 2}}) && :run end
      Json.run(call, tools: %{"t" => {tool.(0), max_calls: 9}}, on_call: inner)
      Json.run(call, tools: %{"t" => tool.(0)})
      assert near.() == [[%{limit: :max_calls, tool: "t", used: 2, of: 2}], [], []]

      # What a budget of a loop has counted is that of all its turns.
      {:ok, _step} =
        PtcRunner.Agent.loop(fn _ -> twice end,
          task: "T",
          max_tool_calls: 3,
          tools: %{"t" => tool.(0)}
        )

      assert near.() == [[%{limit: :max_tool_calls, used: 2, of: 3}]]
    end

    test "a run has a start and a stop" do
      assert Json.run!(~s({"program": {"result": [1, 2]}})) == [1, 2]

      assert [
               {[:ptc_runner, :json, :run, :start], started,
                %{program: :text, telemetry_span_context: ref}},
               {[:ptc_runner, :json, :run, :stop], measured,
                %{telemetry_span_context: ref} = metadata}
             ] = events()

      assert Enum.sort(Map.keys(started)) == [:monotonic_time, :system_time]
      assert %{duration: duration, words: words, suspensions: 0, tool_calls: 0} = measured
      assert duration > 0 and words > 0
      assert measured.monotonic_time == started.monotonic_time + duration
      assert %{outcome: :ok, error: nil, program: :text} = metadata
    end

    test "values and repairs" do
      {:ok, 7, _warnings} = PtcRunner.Agent.answer(~s(Sure: {"value": "7"}), ":int")

      assert [{[:ptc_runner, :answer, :stop], %{bytes: 20, repairs: 1}, %{outcome: :ok}}] =
               Enum.filter(events(), &match?({[_, :answer, _], _, _}, &1))

      {:error, _, _} = PtcRunner.Agent.answer("no", ":int")

      assert [{_, %{repairs: 0}, %{outcome: :retry, repairs: []}}] =
               Enum.filter(events(), &match?({[_, :answer, _], _, _}, &1))

      {:ok, _value, [_]} = PtcRunner.SubAgent.JsonParser.repair(~s({"a": 1,}))
      {:error, _} = PtcRunner.SubAgent.JsonParser.repair("no", "{a :int}")

      assert [
               {[:ptc_runner, :repair, :stop], %{bytes: 9, repairs: 1, duration: _},
                %{outcome: :ok, repairs: [%{kind: _}]}},
               {[:ptc_runner, :repair, :stop], %{repairs: 0}, %{outcome: :error}}
             ] = events()
    end

    test "turns, calls of the model, and programs that are not well-formed" do
      replies = %{
        2 => {:ok, ~s({"program": {"op": "cuont"}}), %{input_tokens: 5, output_tokens: 2}},
        4 => {:ok, ~s({"program": {"op": "call", "tool": "t"}}), %{input_tokens: 9}}
      }

      ask = fn messages -> Map.fetch!(replies, length(messages)) end
      {:ok, _step} = PtcRunner.Agent.loop(ask, task: "x", tools: %{"t" => fn _ -> 1 end})
      all = events()

      assert [
               {[_, :agent, :turn, :start], _, %{turn: 1, telemetry_span_context: turn}},
               {[_, :agent, :model, :start], _, %{turn: 1, telemetry_span_context: call}},
               {[_, :agent, :model, :stop], model, %{outcome: :ok, telemetry_span_context: call}},
               {[_, :json, :run, :start], _, %{program: :text}},
               {[_, :json, :run, :stop], _, %{outcome: :validation_error, error: error}},
               {[_, :agent, :turn, :stop], _,
                %{outcome: :retry, turn: 1, telemetry_span_context: turn}}
               | more
             ] = all

      assert %{tokens: 7, input_tokens: 5, output_tokens: 2, bytes: 28, duration: _} = model
      assert {:validation_error, "Unknown operation 'cuont'" <> _} = error

      assert [{_, %{tool_calls: 1, duration: _}, %{outcome: :ok, turn: 2}}] =
               for({[_, :agent, :turn, :stop], _, _} = event <- more, do: event)

      {:error, _} = PtcRunner.Agent.loop(fn _ -> {:error, :down} end, task: "x")

      assert [:error, :error] ==
               for({[_, :agent, _, :stop], _, metadata} <- events(), do: metadata.outcome)

      assert_raise ArgumentError, fn -> PtcRunner.Agent.loop(fn _ -> :nonsense end, task: "x") end
      assert Enum.any?(events(), &match?({[_, :agent, :model, :exception], _, _}, &1))
    end

    test "an agent that writes the value" do
      {:ok, _} =
        PtcRunner.Agent.loop(fn _ -> ~s({"n": 1}) end,
          task: "x",
          answer: :value,
          returns: "{n :int}"
        )

      assert [%{outcome: :ok}] = for({[_, :answer, :stop], _, metadata} <- events(), do: metadata)
    end

    test "the form of the program is told" do
      program = ~s({"program": {"op": "literal", "value": 1}})
      {:ok, compiled} = Json.compile(program)
      Json.run(%{"program" => %{"op" => "literal", "value" => 1}})
      Json.run(compiled)

      assert [:map, :compiled] =
               for({[_, _, _, :stop], _, metadata} <- events(), do: metadata.program)
    end

    test "an error is the outcome of a stop" do
      Json.run(~s({"program": {"op": "count"}}))
      assert [_start, {[:ptc_runner, :json, :run, :stop], %{words: 0}, metadata}] = events()

      assert %{outcome: :execution_error, error: {:execution_error, "No input available"}} =
               metadata

      Json.run("{")
      assert [_start, {_event, _measured, %{outcome: :parse_error}}] = events()
    end

    test "what raises is an exception, and raises" do
      wrong_default()
      tools = %{"t" => & &1}
      program = ~s({"program": {"op": "call", "tool": "t"}})
      assert_raise ArgumentError, fn -> Json.run(program, tools: tools) end

      assert [
               {[_, _, _, :start], _, _},
               {[:ptc_runner, :json, :run, :exception], measured, metadata}
             ] = events()

      assert Enum.sort(Map.keys(measured)) == [:duration, :monotonic_time]
      assert %{kind: :error, reason: %ArgumentError{}, stacktrace: [_ | _]} = metadata
    end

    test "a tool has a start and a stop inside its run" do
      program = ~s({"program": {"op": "pipe", "steps": [{"op": "literal", "value": [1, 2, 3]},
        {"op": "map", "expr": {"op": "call", "tool": "id"}}]}})

      assert Json.run!(program, tools: %{"id" => & &1}) == [%{}, %{}, %{}]
      names = for {event, _measured, _metadata} <- events(), do: Enum.take(event, -2)
      calls = Enum.flat_map(1..3, fn _ -> [[:tool, :start], [:tool, :stop]] end)
      assert names == [[:run, :start]] ++ calls ++ [[:run, :stop]]
    end

    test "a run tells how often it called tools and was left" do
      rows = for n <- 1..300_000, do: %{"n" => n}
      program = ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"},
        {"op": "sort_by", "field": "n", "order": "desc"}, {"n": {"op": "call", "tool": "one"}}]}})

      opts = [
        context: %{"rows" => rows},
        tools: %{"one" => fn _ -> 1 end},
        timeout: 20_000,
        max_heap: 0
      ]

      assert Json.run!(program, opts) == %{"n" => 1}
      assert {[_, _, _, :stop], measured, _metadata} = List.last(events())
      assert measured.tool_calls == 1
      assert measured.suspensions > 2
    end

    test "a tool that gives no answer is an exception" do
      program = ~s({"program": {"op": "call", "tool": "t"}})

      for {tool, outcome, timeout} <- [
            {fn _ -> raise "no network" end, :execution_error, 60_000},
            {fn _ -> {:error, :gone} end, :execution_error, 60_000},
            {fn _ -> Process.sleep(:infinity) end, :timeout, 100}
          ] do
        events =
          Room.growing(timeout, fn timeout ->
            {:error, _reason} = Json.run(program, tools: %{"t" => tool}, timeout: timeout)
            events = events()
            assert length(events) == 4
            events
          end)

        assert [_run, {[:ptc_runner, :tool, :start], _, %{tool: "t"} = began}, exception, _stop] =
                 events

        assert {[:ptc_runner, :tool, :exception], %{duration: _}, metadata} = exception
        assert %{tool: "t", outcome: ^outcome, kind: :error, stacktrace: []} = metadata
        assert metadata.telemetry_span_context == began.telemetry_span_context
      end
    end

    test "no event has a value of a firewalled field" do
      rows = [%{"_pin" => "s3cret"}]
      load = %{"op" => "load", "name" => "rows"}
      program = &%{"program" => %{"op" => "pipe", "steps" => [load | &1]}}
      call = %{"op" => "call", "tool" => "t"}
      sum = %{"op" => "sum", "field" => "_pin"}

      tools = [
        fn _ -> {:error, %{_pin: "s3cret"}} end,
        fn _ -> :erlang.error({:no, [_pin: "s3cret"]}) end,
        fn _ -> throw({:_pin, "s3cret"}) end,
        fn _ -> exit(%{_pin: "s3cret"}) end,
        fn _ -> Map.fetch!(Map.new(_pin: "s3cret"), :pin) end
      ]

      for steps <- [[sum], [%{"op" => "map", "expr" => call}], List.duplicate(call, 40)],
          tool <- tools,
          concurrency <- [1, 4] do
        # The tool fails at its last call, when the run has moved to it.
        calls = :counters.new(1, [])

        late = fn args ->
          :counters.add(calls, 1, 1)
          if :counters.get(calls, 1) == 40, do: tool.(args), else: 1
        end

        for tool <- [tool, late] do
          Json.run(program.(steps),
            context: %{"rows" => rows},
            tools: %{"t" => tool},
            tool_concurrency: concurrency
          )

          refute inspect(events(), limit: :infinity, printable_limit: :infinity) =~ "s3cret"
        end
      end
    end

    test "calls that go to the process of the tools together have a start and an end each" do
      program =
        ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "x"},
        {"op": "map", "expr": {"op": "call", "tool": "t", "args": {"n": {"op": "get", "field": "n"}}}}]}})

      rows = for n <- 1..40, do: %{"n" => n}
      opts = [context: %{"x" => rows}]
      assert Json.run!(program, [tools: %{"t" => & &1["n"]}] ++ opts) == Enum.to_list(1..40)

      assert [{[_, _, :run, :start], _, _} | events] = events()
      assert [{[_, _, :run, :stop], %{tool_calls: 40}, _} | calls] = Enum.reverse(events)
      kinds = for {[_, :tool, kind], _, _} <- Enum.reverse(calls), do: kind
      assert kinds == List.flatten(List.duplicate([:start, :stop], 40))

      assert calls |> Enum.uniq_by(fn {_, _, told} -> told.telemetry_span_context end) |> length() ==
               40

      killed = fn %{"n" => n} -> if n == 35, do: Process.exit(self(), :kill), else: n end
      assert {:error, _} = Json.run(program, [tools: %{"t" => killed}] ++ opts)

      assert [{[_, _, :run, :stop], %{tool_calls: 35}, _}, last, first | _] =
               Enum.reverse(events())

      assert {{[_, :tool, :exception], _, told}, {[_, :tool, :start], _, began}} = {last, first}

      assert told.telemetry_span_context == began.telemetry_span_context
    end

    test "calls of a list's items beside one another have a start and a stop each" do
      program = ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "x"},
        {"op": "map", "expr": {"op": "call", "tool": "id"}}]}})

      opts = [context: %{"x" => Enum.to_list(1..20)}, tool_concurrency: 4]
      assert length(Json.run!(program, [tools: %{"id" => & &1}] ++ opts)) == 20

      assert [{[_, _, :run, :start], _, _} | events] = events()
      assert [{[_, _, :run, :stop], %{tool_calls: 20}, _} | calls] = Enum.reverse(events)
      assert length(calls) == 40

      for {_ref, both} <-
            Enum.group_by(calls, fn {_, _, %{telemetry_span_context: ref}} -> ref end) do
        assert [{[_, :tool, :stop], stopped, told}, {[_, :tool, :start], started, _}] = both
        assert stopped.monotonic_time == started.monotonic_time + stopped.duration
        assert %{tool: "id", outcome: :ok} = told
      end
    end

    test "calls beside one another that are killed have an end too" do
      program = ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "x"},
        {"op": "map", "expr": {"op": "if", "condition": {"op": "lt", "value": 3},
          "then": {"op": "call", "tool": "wait"}, "else": {"op": "call", "tool": "bad"}}}]}})

      wait = fn _ -> Process.sleep(:infinity) end

      for {list, bad, outcomes} <- [
            # killed from outside, with a later call that is stopped
            {[3, 1], fn _ -> Process.exit(self(), :kill) end, [:memory_exceeded, :stopped]},
            {[3, 1], fn _ -> exit(:bye) end, [:execution_error, :stopped]},
            {[3, 1], fn _ -> Enum.to_list(1..1_000_000) end, [:memory_exceeded, :stopped]},
            # the deadline
            {[1, 2], wait, [:timeout, :timeout]}
          ] do
        opts = [context: %{"x" => list}, tool_concurrency: 2, max_heap: 100_000]
        opts = [tools: %{"wait" => wait, "bad" => bad}] ++ opts

        Room.growing(300, fn timeout ->
          assert {:error, _} = Json.run(program, [timeout: timeout] ++ opts)
          events = events()
          assert length(for {[_, :tool, :start], _, _} <- events, do: 1) == 2

          ended =
            for {[_, :tool, :exception], %{duration: _}, metadata} <- events,
                do: metadata.outcome

          assert Enum.sort(ended) == outcomes
          assert {[_, _, :run, :stop], %{tool_calls: 2}, _} = List.last(events)
        end)
      end
    end

    test "a run whose loops call tools beside one another counts how often it was left" do
      # So many that no machine sorts them within one slice.
      rows = for n <- 1..200_000, do: %{"n" => rem(n * 7_919, 200_003)}
      sort = ~s({"op": "sort_by", "field": "n", "order": "desc"})
      call = ~s({"op": "call", "tool": "one"})

      # before the loop, in a round of it before and after the call, and after the loop
      for {steps, least} <- [
            {~s(#{sort}, {"op": "take", "count": 2}, {"op": "map", "expr": #{call}}), 1},
            {~s({"op": "take", "count": 2}, {"op": "map", "expr": {"a": {"op": "pipe", "steps": [
                {"op": "load", "name": "rows"}, #{sort}, {"op": "count"}]}, "b": #{call}}}), 2},
            {~s({"op": "take", "count": 2}, {"op": "map", "expr": {"a": #{call}, "b": {"op": "pipe", "steps": [
                {"op": "load", "name": "rows"}, #{sort}, {"op": "count"}]}}}), 2},
            {~s({"op": "take", "count": 2}, {"op": "map", "expr": #{call}}, {"op": "load", "name": "rows"}, #{sort}),
             1}
          ] do
        program =
          ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"}, #{steps}]}})

        opts = [
          context: %{"rows" => rows},
          tools: %{"one" => fn _ -> 1 end},
          tool_concurrency: 2,
          timeout: 60_000,
          max_heap: 0
        ]

        Json.run!(program, opts)
        assert {[_, _, _, :stop], measured, _metadata} = List.last(events())
        assert measured.tool_calls == 2
        assert measured.suspensions >= least
      end
    end

    test "a run that has moved to the process of its tools counts there how often it was left" do
      # Few terms, so that it moves, and much work after the calls.
      program =
        ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "x"},
        {"op": "map", "expr": {"op": "call", "tool": "rows"}},
        {"op": "map", "expr": {"op": "pipe", "steps": [
          {"op": "var", "name": "__input"}, {"op": "sort_by", "field": "n", "order": "desc"}, {"op": "count"}]}}]}})

      me = self()

      rows = fn _ ->
        send(me, {:counts, Process.get({Telemetry, :counts})})
        for n <- 1..200_000, do: %{"n" => rem(n * 7_919, 200_003)}
      end

      opts = [
        context: %{"x" => [1, 2, 3]},
        tools: %{"rows" => rows},
        timeout: 60_000,
        max_heap: 0
      ]

      assert Json.run!(program, opts) == [200_000, 200_000, 200_000]

      assert {[_, _, _, :stop], %{tool_calls: 3, suspensions: suspensions}, _} =
               List.last(events())

      assert suspensions >= 3
      # A tool finds nothing of the run in its process.
      for _call <- 1..3, do: assert_received({:counts, nil})
    end

    test "a tool that was called by a message before the run moved has its events after that too" do
      # As long as the program reads the rows, they are too many to move.
      program =
        ~s({"program": {"op": "let", "name": "a", "value": {"op": "call", "tool": "t"}, "in":
          {"op": "let", "name": "n", "value": {"op": "pipe", "steps": [{"op": "load", "name": "rows"}, {"op": "count"}]}, "in":
            {"op": "pipe", "steps": [{"op": "literal", "value": #{inspect(Enum.to_list(1..40), limit: :infinity)}},
              {"op": "map", "expr": {"t": {"op": "call", "tool": "t"}, "u": {"op": "call", "tool": "u"}}}]}}}})

      me = self()

      tool = fn _ ->
        send(me, {:in, self()})
        1
      end

      rows = for n <- 1..10_000, do: %{"n" => n}

      opts = [
        context: %{"rows" => rows},
        tools: %{"t" => tool, "u" => tool},
        timeout: 60_000
      ]

      assert Json.run!(program, opts) == List.duplicate(%{"t" => 1, "u" => 1}, 40)
      # All calls were in one process.
      pids = for _ <- 1..81, do: assert_received({:in, pid}) && pid
      assert [_process] = Enum.uniq(pids)
      events = events()
      assert {[_, _, _, :stop], %{tool_calls: 81}, _} = List.last(events)

      for {tool, calls} <- [{"t", 41}, {"u", 40}], kind <- [:start, :stop] do
        assert Enum.count(events, &match?({[_, :tool, ^kind], _, %{tool: ^tool}}, &1)) == calls
      end
    end

    test "an interpreted program tells of its tools too" do
      context = PtcRunner.Context.new(%{}, %{}, %{"t" => fn _ -> 1 end})
      assert {:ok, 1, _memory} = Json.Interpreter.eval(%{"op" => "call", "tool" => "t"}, context)
      assert [{[_, :tool, :start], _, _}, {[_, :tool, :stop], _, %{outcome: :ok}}] = events()
    end

    test "an answer has its size, its outcome and its repairs" do
      {:ok, signature} = Signature.parse("{total :int}")
      agent = Answers.agent(signature)

      for {answer, opts, outcome, repairs} <- [
            {~s({"total": 3}), [], :ok, 0},
            {~s({"total": "three"}), [], :retry, 0},
            {~s({'total': 3}), [repair: true], :ok, 1}
          ] do
        JsonHandler.handle_json_answer(answer, agent, Answers.state(), opts)

        assert [{[:ptc_runner, :answer, :stop], measured, %{outcome: ^outcome} = metadata}] =
                 events()

        assert length(metadata.repairs) == measured.repairs

        for %{message: message} <- metadata.repairs,
            do: assert(String.starts_with?(message, "line 1, column "))

        assert measured.bytes == byte_size(answer)
        assert measured.duration > 0
        assert measured.repairs >= repairs and (repairs > 0 or measured.repairs == 0)
      end
    end

    test "a coercion has its warnings" do
      assert {:ok, _value, [_warning]} = Signature.Coercion.coerce("1", :int)
      assert {:error, _reason} = Signature.Coercion.coerce("x", :int)

      assert {:ok, _result, [_]} =
               Signature.call_tool("(n :int) -> :int", %{"n" => "2"}, & &1["n"])

      assert [
               {[:ptc_runner, :signature, :coerce], %{warnings: 1, duration: _}, %{outcome: :ok}},
               {[:ptc_runner, :signature, :coerce], %{warnings: 0}, %{outcome: :error}},
               {[:ptc_runner, :signature, :coerce], %{warnings: 1}, %{outcome: :ok}}
             ] = events()
    end

    test "a configuration switches it off" do
      Application.put_env(:ptc_runner_native, :telemetry, false)
      assert Telemetry.refresh() == false
      Json.run("{}")
      assert events() == []
    after
      Application.delete_env(:ptc_runner_native, :telemetry)
    end

    test "each decision about a call is an event, and a run that waits has its outcome" do
      program =
        ~s({"program": {"a": {"op": "call", "tool": "t", "args": {"n": 1}}, "b": {"op": "call", "tool": "t", "args": {"n": 1}},
        "c": {"op": "call", "tool": "t", "args": {"n": 2}}, "d": {"op": "call", "tool": "t", "args": {"n": 3}}}})

      hook = fn %{args: %{"n" => n}} -> Enum.at([nil, :run, {:answer, 1}, :pause], n) end
      opts = [tools: %{"t" => {fn _ -> 1 end, cache: true}}]
      {:paused, paused} = Json.run(program, [{:on_call, hook} | opts])
      all = events()

      decisions =
        for {[_, :tool, :decision], measured, metadata} <- all,
            do: {measured.number, Map.delete(metadata, :run_id)}

      assert decisions ==
               for(
                 {{number, decision}, id} <-
                   Enum.with_index([{1, :run}, {2, :cache}, {3, :answer}, {4, :pause}]),
                 do: {number, %{tool: "t", id: "1.#{id}.1", decision: decision}}
               )

      assert [:paused] = for({[_, :json, :run, :stop], _, metadata} <- all, do: metadata.outcome)
      {:error, _} = Json.resume(paused, {:deny, "no"}, [{:on_call, nil} | opts])
      {:error, _} = Json.run(program, tools: %{"t" => {fn _ -> 1 end, max_calls: 0, cache: true}})

      assert [:replay, :replay, :replay, :deny, :refused] =
               for({[_, :tool, :decision], _, metadata} <- events(), do: metadata.decision)
    end

    test "a run inside a tool's process counts for itself" do
      inner = fn _ -> Json.run!(~s({"program": {"op": "literal", "value": 1}})) end

      assert Json.run!(~s({"program": {"op": "call", "tool": "inner"}}),
               tools: %{"inner" => inner}
             ) == 1

      stops = for {[_, _, _, :stop], measured, _} <- events(), do: measured.tool_calls
      assert Enum.sort(stops) == [0, 1]
      assert Process.get({Telemetry, :counts}) == nil
    end

    # {event, measurements, metadata} of each row.
    defp table(guide) do
      for [event, measured, metadata] <-
            Regex.scan(~r/^\| `(\[:ptc_runner[^`]*\])` \| (.*) \| (.*) \|$/m, guide,
              capture: :all_but_first
            ),
          into: %{} do
        {elem(Code.eval_string(event), 0), {names(measured), names(metadata)}}
      end
    end

    defp names(cell) do
      # in brackets stands what a name means
      cell = String.replace(cell, ~r/\([^)]*\)/, "")

      for [name] <- Regex.scan(~r/`(\w+)`/, cell, capture: :all_but_first),
          do: String.to_existing_atom(name)
    end

    test "the table of the guide is what is sent: events, measurements and metadata" do
      everything()
      table = table(File.read!("guides/observability.md"))
      sent = events()

      # A run of PTC-Lisp raises for no program: this event says that the library has a fault.
      table_of_faults = [[:ptc_runner, :lisp, :run, :exception]]
      assert table_of_faults -- Map.keys(table) == []

      assert sent |> Enum.map(&elem(&1, 0)) |> Enum.uniq() |> Enum.sort() ==
               Enum.sort(Map.keys(table) -- table_of_faults)

      for {event, measured, metadata} <- sent do
        {measurements, fields} = Map.fetch!(table, event)
        assert {event, Enum.sort(Map.keys(measured))} == {event, Enum.sort(measurements)}
        # The events of a span have what ties them together, which the text below the table tells.
        span =
          if List.last(event) in [:coerce, :decision] or :answer in event or :repair in event,
            do: [],
            else: [:telemetry_span_context]

        keys = Map.keys(metadata) -- [:run_id, :loop_id]
        assert {event, Enum.sort(keys)} == {event, Enum.sort(fields ++ span)}
        # Events of a run and of a loop have their ids.
        in_run? = Enum.at(event, 1) in [:json, :lisp, :tool]

        if Map.get(metadata, :tool) != "t" or is_map_key(metadata, :run_id),
          do: assert({event, in_run?} == {event, is_map_key(metadata, :run_id)})

        if Enum.at(event, 1) == :agent, do: assert(is_binary(metadata.loop_id))
      end
    end

    test "every event of a run has its id, and of a loop its own: also from other processes, and after a pause" do
      one = ~s({"program": {"op": "call", "tool": "t", "args": {"n": "1"}}})
      each = ~s({"program": {"op": "pipe", "steps": [{"op": "literal", "value": [1, 2, 3]},
        {"op": "map", "expr": {"op": "call", "tool": "t", "args": {"n": {"op": "it"}}}}]}})

      inner = fn _ -> Json.run!(~s({"program": {"op": "literal", "value": 1}})) end

      for program <- [one, each],
          more <- [[], [tool_concurrency: 3], [on_call: fn _ -> :run end], [max_tool_calls: 9]] do
        Json.run(program, [{:tools, %{"t" => {inner, "(n :int) -> :int"}}} | more])
        sent = events()
        # The runs inside the tool have ids of their own.
        {outer, others} =
          Enum.split_with(sent, fn {_event, _, m} -> m[:run_id] == elem(hd(sent), 2).run_id end)

        assert Enum.any?(outer, fn {event, _, _} -> :tool in event end)
        assert Enum.any?(outer, fn {event, _, _} -> :coerce in event end)
        assert List.last(sent) |> elem(2) |> Map.get(:run_id) == elem(hd(sent), 2).run_id

        for {event, _, metadata} <- others do
          assert is_binary(metadata[:run_id])
          assert Enum.take(event, 3) == [:ptc_runner, :json, :run]
        end
      end

      tools = %{"t" => {& &1["n"], signature: "(n :int) -> :int", approve: true}}
      {:paused, paused} = PtcRunner.Agent.loop(fn _ -> one end, task: "x", tools: tools)
      before = events()
      map = PtcRunner.Agent.Paused.to_map(paused)
      {:ok, paused} = PtcRunner.Agent.Paused.from_map(map)
      {:ok, _} = PtcRunner.Agent.resume(paused, :approve, model: fn _ -> one end, tools: tools)
      since = events()
      assert [loop] = Enum.uniq(for {_, _, metadata} <- before ++ since, do: metadata.loop_id)
      assert is_binary(loop)

      runs = for {_, _, %{run_id: id}} <- before ++ since, do: id
      assert [_run] = Enum.uniq(runs)
      assert Enum.any?(since, fn {event, _, m} -> :tool in event and is_map_key(m, :run_id) end)

      # Nothing stays in the process.
      assert PtcRunner.Native.Telemetry.Ids.known() == nil
    end
  end

  describe "with :telemetry and its table of handlers" do
    # What it asks for the handlers of an event; each question is counted. Only these events have one.
    @table """
    defmodule :telemetry_handler_table do
      def list_for_event(event) do
        {counter, events} = :persistent_term.get(:telemetry_handler_table)
        :counters.add(counter, 1, 1)
        if event in events, do: [:handler], else: []
      end
    end
    """

    setup do
      :persistent_term.put(__MODULE__, self())
      Code.eval_string(@fake)
      Code.eval_string(@table)
      heard([])
      assert Telemetry.refresh()
      # The application's process has this name.
      table = spawn_link(fn -> Process.sleep(:infinity) end)
      Process.register(table, :telemetry_handler_table)

      on_exit(fn ->
        for module <- [:telemetry, :telemetry_handler_table],
            call <- [:purge, :delete, :purge],
            do: apply(:code, call, [module])

        :persistent_term.erase(:telemetry_handler_table)
        refute Telemetry.refresh()
      end)
    end

    defp heard(events),
      do: :persistent_term.put(:telemetry_handler_table, {:counters.new(1, []), events})

    defp asked do
      {counter, _events} = :persistent_term.get(:telemetry_handler_table)
      count = :counters.get(counter, 1)
      :counters.put(counter, 1, 0)
      count
    end

    @each ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "x"},
      {"op": "map", "expr": {"op": "call", "tool": "t"}}]}})

    test "without a handler nothing is executed, and a run asks once, however many calls it makes" do
      everything()
      assert events() == []
      asked()

      assert Json.run!(~s({"program": {"op": "literal", "value": 1}})) == 1
      assert asked() <= 3

      for {opts, most} <- [{[], 6}, {[tool_concurrency: 4], 6}, {[on_call: fn _ -> :run end], 46}],
          rows <- [[], for(n <- 1..5_000, do: %{"n" => n})] do
        # With the rows, the run is too large to move to its tools.
        program =
          String.replace(
            @each,
            ~s({"op": "load", "name": "x"}),
            ~s({"op": "load", "name": "rows"}, {"op": "load", "name": "x"})
          )

        context = %{"x" => Enum.to_list(1..40), "rows" => rows}
        opts = [context: context, tools: %{"t" => fn _ -> 1 end}] ++ opts
        assert Json.run!(program, opts) == List.duplicate(1, 40)
        assert asked() <= most
        assert Process.get({Telemetry, :counts}) == nil
      end

      assert {:ok, 1, _warnings} = Signature.Coercion.coerce("1", :int)
      assert asked() == 1
    end

    test "a handler that is attached counts from the next run on" do
      assert Json.run!(@each, context: %{"x" => [1]}, tools: %{"t" => fn _ -> 1 end}) == [1]
      assert events() == []
      heard([[:ptc_runner, :tool, :stop]])
      assert Json.run!(@each, context: %{"x" => [1]}, tools: %{"t" => fn _ -> 1 end}) == [1]
      assert [:stop] = for({[_, :tool, name], _, _} <- events(), name == :stop, do: name)
    end

    test "a run inside a decision about a call of a run that nobody hears is heard" do
      inner = fn _call ->
        heard([[:ptc_runner, :json, :run, :stop]])
        Json.run!(~s({"program": {"op": "literal", "value": 1}}))
        heard([])
        :run
      end

      opts = [context: %{"x" => [1]}, tools: %{"t" => fn _ -> 1 end}, on_call: inner]
      assert Json.run!(@each, opts) == [1]

      assert [%{tool_calls: 0}] =
               for({[_, _, :run, :stop], measured, _} <- events(), do: measured)
    end

    test "a handler of one event gets what it gets with handlers of all" do
      table = table(File.read!("guides/observability.md"))
      heard(Map.keys(table))
      everything()
      all = Enum.frequencies_by(events(), &told/1)

      for event <- Map.keys(table) do
        heard([event])
        everything()
        alone = for {^event, _, _} = sent <- events(), do: told(sent)
        expected = for {{^event, _} = told, n} <- all, into: %{}, do: {told, n}
        assert {event, Enum.frequencies(alone)} == {event, expected}
      end
    end

    # What does not depend on times and on processes; of the ids, that they are there.
    defp told({event, measured, metadata}) do
      reason = if is_binary(metadata[:reason]), do: :text, else: metadata[:reason]

      metadata =
        metadata |> Map.drop([:telemetry_span_context, :stacktrace]) |> Map.put(:reason, reason)

      # How near a run came to its end differs.
      metadata =
        if near = metadata[:near],
          do: %{metadata | near: for(%{limit: limit} <- near, do: limit)},
          else: metadata

      ids = for id <- [:run_id, :loop_id], is_map_key(metadata, id), into: %{}, do: {id, :known}

      {event,
       {Map.take(measured, [:tool_calls, :repairs, :warnings, :bytes]), Map.merge(metadata, ids)}}
    end

    test "the error of a run is made once: for the caller, for a model, and for an event" do
      alias PtcRunner.Json.Suggestion
      program = ~s({"program": {"op": "fitler"}})

      for heard <- [[], [[:ptc_runner, :json, :run, :stop]]],
          run <- [
            fn -> Json.run(program) end,
            fn -> Json.record(program) |> elem(0) end,
            fn -> PtcRunner.Agent.run(program, %{}, []) end
          ] do
        heard(heard)
        :erlang.trace_pattern({Suggestion, :closest, 2}, true, [:call_count])
        :erlang.trace_pattern({Suggestion, :closest, 2}, :restart, [:call_count])

        assert {:validation_error, "Unknown operation 'fitler'. Did you mean 'filter'?"} =
                 elem(run.(), 1)

        assert {:call_count, 1} = :erlang.trace_info({Suggestion, :closest, 2}, :call_count)
        :erlang.trace_pattern({Suggestion, :closest, 2}, false, [:call_count])
      end

      assert ["Unknown operation 'fitler'. Did you mean 'filter'?"] =
               Enum.uniq(for({[_, _, _, :stop], _, %{error: {_, text}}} <- events(), do: text))
    end

    test "the error in an event is the one that the caller gets" do
      heard([[:ptc_runner, :json, :run, :stop]])

      for program <- ["{", "Here:\n```json\n{}\n```", %{}, ~s({"program": {"op": "count"}})] do
        {:error, error} = Json.run(program)
        assert [_start, {_event, _measured, %{error: ^error}}] = events()
      end
    end
  end

  # Calls that execute each event there is.
  defp everything do
    call = ~s({"program": {"op": "call", "tool": "t"}})
    twice = ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "x"},
        {"op": "map", "expr": {"op": "call", "tool": "t"}}, {"op": "sum"}]}})

    # Tools that answer, that fail and that are killed; in a process of their own, in that of a moved
    # run, beside one another and in the caller.
    tools = [
      fn _ -> 1 end,
      fn _ -> {:error, :gone} end,
      fn _ -> raise "no" end,
      fn _ -> Process.exit(self(), :kill) end
    ]

    for program <- [call, twice], tool <- tools, concurrency <- [1, 2] do
      opts = [context: %{"x" => [1, 2]}, tools: %{"t" => tool}, tool_concurrency: concurrency]
      Json.run(program, opts)
      Json.run(program, [on_call: fn _ -> :run end] ++ opts)
    end

    hang = fn _ -> Process.sleep(:infinity) end

    for program <- [call, twice] do
      Json.run(program, context: %{"x" => [1, 2]}, tools: %{"t" => hang}, timeout: 100)
    end

    for tool <- Enum.take(tools, 3) do
      context = PtcRunner.Context.new(%{}, %{}, %{"t" => tool})
      Json.Interpreter.eval(%{"op" => "call", "tool" => "t"}, context)
    end

    for program <- ["{", ~s({"program": {"op": "count"}}), ~s({"program": {"op": "fitler"}})],
        do: Json.run(program)

    for program <- ["(+ 1 2)", "(tool/t)", "(/ 1 0)", "(("],
        do: PtcRunner.Lisp.run(program, tools: %{"t" => hd(tools)})

    default = wrong_default()
    assert_raise ArgumentError, fn -> Json.run(call, tools: %{"t" => hd(tools)}) end
    Application.put_env(:ptc_runner_native, :default_timeout, default)

    {:ok, signature} = Signature.parse("{total :int}")
    agent = Answers.agent(signature)

    for answer <- [~s({"total": 3}), ~s({"total": "x"}), "none"],
        do: JsonHandler.handle_json_answer(answer, agent, Answers.state())

    for value <- ["1", "x"], do: Signature.Coercion.coerce(value, :int)

    {:ok, _value, _repairs} = PtcRunner.SubAgent.JsonParser.repair("[1,]")
    {:error, _step} = PtcRunner.Agent.loop(fn _ -> "no" end, [task: "x"], max_turns: 2)
    {:error, _step} = PtcRunner.Agent.loop(fn _ -> {:error, :down} end, task: "x")
    assert_raise ArgumentError, fn -> PtcRunner.Agent.loop(fn _ -> 5 end, task: "x") end
    :ok
  end
end
