defmodule PtcRunner.Native.TelemetryTest do
  # Not async: whether events are wanted is one setting for all processes.
  use ExUnit.Case, async: false

  alias PtcRunner.Json
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.SubAgent.{Loop.JsonHandler, Signature}
  alias PtcRunner.Test.Answers
  require Telemetry

  doctest Telemetry

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

    defp events do
      receive do
        {[:ptc_runner | _] = event, measured, metadata} ->
          [{event, measured, metadata} | events()]
      after
        0 -> []
      end
    end

    test "a run has a start and a stop" do
      assert Json.run!(~s({"program": {"result": [1, 2]}})) == [1, 2]

      assert [
               {[:ptc_runner, :json, :run, :start], started,
                %{program: :text, telemetry_span_context: ref}},
               {[:ptc_runner, :json, :run, :stop], measured,
                %{telemetry_span_context: ref} = metadata}
             ] = events()

      assert Map.keys(started) == [:monotonic_time, :system_time]
      assert %{duration: duration, words: words, suspensions: 0, tool_calls: 0} = measured
      assert duration > 0 and words > 0
      assert measured.monotonic_time == started.monotonic_time + duration
      assert %{outcome: :ok, error: nil, program: :text} = metadata
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
      Application.put_env(:ptc_runner, :default_timeout, -1)
      on_exit(fn -> Application.delete_env(:ptc_runner, :default_timeout) end)
      tools = %{"t" => & &1}
      assert_raise ArgumentError, fn -> Json.run(~s({"program": {}}), tools: tools) end

      assert [
               {[_, _, _, :start], _, _},
               {[:ptc_runner, :json, :run, :exception], measured, metadata}
             ] = events()

      assert Map.keys(measured) == [:duration, :monotonic_time]
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

      for {tool, outcome} <- [
            {fn _ -> raise "no network" end, :execution_error},
            {fn _ -> {:error, :gone} end, :execution_error},
            {fn _ -> Process.sleep(:infinity) end, :timeout}
          ] do
        {:error, _reason} = Json.run(program, tools: %{"t" => tool}, timeout: 100)

        assert [_run, {[:ptc_runner, :tool, :start], _, %{tool: "t"}}, exception, _stop] =
                 events()

        assert {[:ptc_runner, :tool, :exception], %{duration: _}, metadata} = exception
        assert %{tool: "t", outcome: ^outcome, kind: :error, stacktrace: []} = metadata
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

    test "a run inside a tool's process counts for itself" do
      inner = fn _ -> Json.run!(~s({"program": {"op": "literal", "value": 1}})) end

      assert Json.run!(~s({"program": {"op": "call", "tool": "inner"}}),
               tools: %{"inner" => inner}
             ) == 1

      stops = for {[_, _, _, :stop], measured, _} <- events(), do: measured.tool_calls
      assert Enum.sort(stops) == [0, 1]
      assert Process.get({Telemetry, :counts}) == nil
    end

    test "every event of the guide is executed, and no other" do
      guide = File.read!("guides/observability.md")
      told = Regex.scan(~r/`\[(:ptc_runner[^\]]*)\]`/, guide, capture: :all_but_first)

      told =
        told |> Enum.uniq() |> Enum.map(fn [text] -> elem(Code.eval_string("[#{text}]"), 0) end)

      assert Enum.sort(told) == [
               [:ptc_runner, :answer, :stop],
               [:ptc_runner, :json, :run, :exception],
               [:ptc_runner, :json, :run, :start],
               [:ptc_runner, :json, :run, :stop],
               [:ptc_runner, :signature, :coerce],
               [:ptc_runner, :tool, :exception],
               [:ptc_runner, :tool, :start],
               [:ptc_runner, :tool, :stop]
             ]
    end
  end
end
