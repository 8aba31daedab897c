defmodule PtcRunner.Json.ControlledTextsTest do
  # Runs whose calls are decided about, over texts in the context, end as over what these are decoded to, and read them in place.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Paused}

  @rows for n <- 1..500, do: %{"id" => n, "name" => "row #{rem(n, 7)}", "price" => n / 8}

  @load ~s({"op": "load", "name": "rows"})
  @call ~s({"op": "call", "tool": "seen", "args": {"row": {"op": "var", "name": "__input"}}})

  @programs [
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "filter", "where": {"op": "lt", "field": "id", "value": 9}}, {"op": "map", "expr": #{@call}}]}),
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "first"}, #{@call}, {"op": "get", "path": ["row", "id"]}]}),
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "nth", "index": 3}, #{@call}]}),
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "sum", "field": "name"}]}),
    ~s({"op": "call", "tool": "failing", "args": {"row": {"op": "pipe", "steps": [#{@load}, {"op": "last"}]}}, "on_error": {"op": "pipe", "steps": [#{@load}, {"op": "count"}]}}),
    ~s({"op": "call", "tool": "failing", "args": {"n": 1}}),
    ~s({"a": {"op": "pipe", "steps": [{"op": "call", "tool": "rows"}, {"op": "count"}]}, "b": {"op": "pipe", "steps": [#{@load}, {"op": "sum", "field": "price"}]}})
  ]

  setup_all do
    text = Codec.encode!(@rows)
    {:ok, text: text, texts: %{"rows" => Json.text(text)}, decoded: %{"rows" => @rows}}
  end

  defp tools(text) do
    %{
      "seen" => & &1,
      "failing" => fn args -> {:error, args} end,
      "rows" => fn _ -> Json.text(text) end
    }
  end

  defp of(node), do: ~s({"program": #{node}})

  # The result, and the calls that were decided about. Their ids are others where the calls of a loop wait together, which they do over data.
  defp decided(program, context, decide, opts) do
    {:ok, calls} = Agent.start_link(fn -> [] end)

    on_call = fn call ->
      Agent.update(calls, &[%{call | key: nil, id: nil} | &1])
      decide.(call)
    end

    result = Json.run(program, [context: context, on_call: on_call] ++ opts)
    {result, Agent.get(calls, & &1)}
  end

  test "a decision can answer with a text" do
    call = of(~s({"op": "call", "tool": "seen", "args": {}}))

    decided = fn answer ->
      Json.run(call, tools: %{"seen" => & &1}, on_call: fn _ -> {:answer, Json.text(answer)} end)
    end

    assert {:ok, [1, %{"a" => 2}], _, _} = decided.(~s([1, {"a": 2}]))
    assert {:error, {:execution_error, text}} = decided.("[1,")
    assert text =~ "Tool 'seen' was refused: the answer is not JSON"

    assert {:paused, paused} =
             Json.run(call, tools: %{"seen" => & &1}, on_call: fn _ -> :pause end)

    assert {:ok, [3], _, _} =
             Json.resume(paused, {:answer, Json.text("[3]")},
               tools: %{"seen" => & &1},
               on_call: nil
             )
  end

  test "whatever is decided", given do
    decisions = [
      fn _ -> :run end,
      fn _ -> {:run, %{"row" => %{"id" => 7}}} end,
      fn _ -> {:answer, %{"row" => %{"id" => 8}}} end,
      fn _ -> {:answer, Json.text(~s({"row": {"id": 8}}))} end,
      fn _ -> {:deny, "no"} end,
      fn call -> if call.number < 4, do: :run, else: {:deny, "enough"} end
    ]

    for node <- @programs, decide <- decisions, opts <- [[], [tool_concurrency: 2]] do
      opts = [tools: tools(given.text), timeout: 10_000] ++ opts
      expected = decided(of(node), given.decoded, decide, opts)
      assert decided(of(node), given.texts, decide, opts) == expected
      {:ok, compiled} = Json.compile(of(node))
      assert decided(compiled, given.texts, decide, opts) == expected
    end
  end

  test "the text is not decoded", given do
    words = div(byte_size(given.text), 8)
    sum = of(~s({"op": "pipe", "steps": [#{@load}, {"op": "sum", "field": "price"}]}))
    opts = [context: given.texts, max_heap: words, tools: tools(given.text)]
    assert Json.run!(sum, [on_call: fn _ -> :run end] ++ opts) == 15_656.25
    assert Json.run!(sum, [on_journal: fn _ -> :ok end] ++ opts) == 15_656.25

    assert {:error, {:memory_exceeded, _}} =
             Json.run(sum, [tool_concurrency: 2, on_call: fn _ -> :run end] ++ opts)
  end

  # Goes on until the run ends; the paused run goes through its stored form.
  defp finish({:paused, paused}, opts) do
    {:ok, paused} =
      paused |> Paused.to_map() |> Codec.encode!() |> Codec.decode!() |> Paused.from_map()

    paused |> Json.resume(:approve, opts) |> finish(opts)
  end

  defp finish(result, _opts), do: result

  test "a run is paused, stored and resumed", given do
    for node <- @programs do
      opts = [
        tools: Map.new(tools(given.text), fn {name, fun} -> {name, {fun, approve: true}} end)
      ]

      expected =
        of(node)
        |> Json.run([context: given.decoded] ++ opts)
        |> finish([context: given.decoded] ++ opts)

      opts = [context: given.texts] ++ opts
      assert of(node) |> Json.run(opts) |> finish(opts) == expected
    end
  end

  test "a run is recorded and replayed", given do
    for node <- @programs do
      opts = [context: given.texts, tools: tools(given.text)]
      {result, journal} = Json.record(of(node), opts)
      assert result == Json.run(of(node), Keyword.put(opts, :context, given.decoded))
      assert Json.replay(of(node), journal, context: given.texts) == result
    end
  end

  test "a text that is not JSON, or does not fit, is the same error", given do
    count = of(~s({"op": "pipe", "steps": [#{@load}, {"op": "count"}]}))

    for {text, opts} <- [
          {given.text <> "]", []},
          {given.text, [timeout: 0]},
          {given.text, [max_heap: 300]}
        ] do
      opts = [context: %{"rows" => Json.text(text)}] ++ opts
      assert {:error, _} = expected = Json.run(count, opts)
      assert Json.run(count, [on_call: fn _ -> :run end] ++ opts) == expected
    end
  end
end
