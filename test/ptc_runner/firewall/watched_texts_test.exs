defmodule PtcRunner.Firewall.WatchedTextsTest do
  # With a firewall, runs whose tools answer JSON texts end as over what these are decoded to. A text is read in place unless it
  # flows into an argument and may have firewalled fields.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Json.{Codec, ToolWorker}

  @row "{id :int, name :string, note :string}"

  # Made once, and their texts too. An attribute would be compiled wherever it stands.
  setup_all do
    rows = for n <- 1..2_000, do: %{"id" => n, "name" => "row #{n}", "note" => "#{n} is a number"}

    pins = Enum.map(rows, &Map.put(&1, "_pin", 4711))
    nested = Enum.map(rows, &Map.put(&1, "id", %{"n" => 1, "_pin" => 4711}))
    %{rows: rows, pins: pins, nested: nested, text: Codec.encode!(rows)}
  end

  @fetch ~s({"op": "call", "tool": "fetch"})
  @count ~s({"op": "pipe", "steps": [#{@fetch}, {"op": "count"}]})
  @sum ~s({"op": "pipe", "steps": [#{@fetch}, {"op": "sum", "field": "id"}]})
  # The field of an answer flows into an argument.
  @sent ~s({"op": "pipe", "steps": [#{@fetch}, {"op": "take", "count": 3},
    {"op": "map", "expr": {"op": "call", "tool": "send", "args": {"x": {"op": "get", "field": "id"}}}}]})
  # All of the answer does.
  @whole ~s({"op": "pipe", "steps": [{"op": "call", "tool": "send", "args": {"x": #{@fetch}}}, {"op": "get", "field": "x"}, {"op": "count"}]})
  # A call whose error is caught, after the answer.
  @caught ~s({"op": "let", "name": "rows", "value": #{@fetch}, "in": {"op": "list", "items": [
    {"op": "call", "tool": "failing", "args": {"x": {"op": "pipe", "steps": [{"op": "var", "name": "rows"}, {"op": "last"}, {"op": "get", "field": "name"}]}}, "on_error": 7},
    {"op": "pipe", "steps": [{"op": "var", "name": "rows"}, {"op": "nth", "index": 2}]}]}})
  @twice ~s({"op": "pipe", "steps": [{"op": "concat", "lists": [#{@fetch}, #{@sent}, #{@fetch}]}, {"op": "count"}]})
  @programs [@count, @sum, @sent, @whole, @caught, @twice]

  defp tools(answer, form) do
    me = self()

    fetch = fn _ ->
      send(me, {:in_place, ToolWorker.in_place?()})
      if is_function(answer), do: answer.(), else: answer
    end

    %{
      "fetch" => if(form, do: {fetch, form}, else: fetch),
      "send" => fn args ->
        send(me, {:sent, args})
        args
      end,
      "failing" => fn args -> {:error, args["x"]} end
    }
  end

  # The result, the arguments that were sent, and whether each answer was read in place.
  defp run(node, answer, form, opts) do
    {agent?, opts} = Keyword.pop(opts, :agent, false)
    opts = Keyword.merge([max_heap: 0, timeout: 30_000], opts)
    program = ~s({"program": #{node}})
    tools = tools(answer, form)

    result =
      if agent?,
        do: Agent.run(program, tools, opts),
        else: Json.run(program, [tools: tools, firewall: true] ++ opts)

    {told(result), Enum.sort(messages(:sent)), messages(:in_place)}
  end

  defp told(result) when elem(result, 0) == :ok, do: {:ok, elem(result, 1)}
  # The feedback of an agent shows the beginning of a text.
  defp told(result), do: {:error, elem(result, 1)}

  defp messages(kind) do
    receive do
      {^kind, what} -> [what | messages(kind)]
    after
      0 -> []
    end
  end

  test "results, refusals and the arguments that are sent are those of decoded answers", given do
    # With PTC_CASES, all rows.
    all = if PtcRunner.Test.Environment.many?(), do: 2_000, else: 500
    long = Enum.map([given.rows, given.pins, given.nested], &Enum.take(&1, all))

    for rows <- long ++ [Enum.take(given.pins, 40)],
        text = Codec.encode!(rows),
        node <- @programs,
        form <- [nil, "() -> :any", "() -> [#{@row}]"],
        opts <- [[], [agent: true], [max_tool_calls: 50], [tool_concurrency: 2]] do
      {expected, sent, _} = run(node, rows, form, opts)
      assert {^expected, ^sent, _} = run(node, Json.text(text), form, opts)
    end
  end

  test "what is firewalled is refused before it is sent", %{pins: pins, nested: nested} do
    for {rows, node, path} <- [
          {nested, @sent, "fetch.id._pin"},
          {pins, @whole, "fetch._pin"}
        ],
        form <- [nil, "() -> :any"] do
      {result, sent, _} = run(node, Json.text(Codec.encode!(rows)), form, [])
      assert {:error, {_kind, text}} = result
      assert text =~ "answer of #{path} into the argument 'x' of tool 'send', which writes"
      assert sent == []
    end

    escaped = String.replace(Codec.encode!(nested), "_pin", "\\u005fpin")
    assert {{:error, {_, text}}, [], _} = run(@sent, Json.text(escaped), nil, [])
    assert text =~ "answer of fetch.id._pin into"
  end

  test "answers are read in place, also where they flow into arguments", %{text: text} do
    for node <- [@count, @sum, @sent, @whole, @caught],
        opts <- [[], [agent: true]],
        do: assert({_, _, [true]} = run(node, Json.text(text), "() -> [#{@row}]", opts))
  end

  test "a run with kept answers, and one with a cache, gets decoded ones", %{text: text} do
    text = Json.text(text)
    assert {{:ok, 2_000}, _, [false]} = run(@count, text, nil, on_call: fn _ -> :run end)
    assert {{:ok, 2_000}, _, [false]} = run(@count, text, nil, on_journal: fn _ -> :ok end)

    for node <- [@count, @sent] do
      assert {{:ok, _}, _, [false]} = run(node, text, [cache: true], [])
      assert {{:ok, _}, _, [true]} = run(node, text, [timeout: 20_000], [])
      assert {{:ok, _}, _, [true]} = run(node, text, [max_calls: 2], [])
    end
  end

  describe "memory" do
    setup do
      ones = List.duplicate(1, 300)
      text = Codec.encode!(for n <- 1..2_000, do: %{"id" => n, "note" => ones})
      assert byte_size(text) > 1_000_000

      # The text and its index; a list has two words for each item, which is two bytes of the text.
      {:ok, text: text, words: div(byte_size(text), 8) + div(byte_size(text), 50) + 20_000}
    end

    test "an agent's run reads the answer of a tool with a signature in place", given do
      for node <- [@count, @sum, @sent] do
        opts = [agent: true, max_heap: given.words]
        form = "() -> [{id :int, note [:int]}]"
        assert {{:ok, _}, _, [true]} = run(node, Json.text(given.text), form, opts)
        assert {error, _, _} = run(node, fn -> Codec.decode!(given.text) end, form, opts)
        assert {:error, {:memory_exceeded, _}} = error
      end
    end

    test "a text that may have firewalled fields is decoded within the limit", given do
      text = String.replace(given.text, ~s("note"), ~s("_note"))
      assert {{:ok, _}, _, [true]} = run(@count, Json.text(text), nil, max_heap: given.words)
      assert {error, [], _} = run(@sent, Json.text(text), nil, max_heap: given.words)
      assert {:error, {:memory_exceeded, _}} = error
      assert {{:ok, _}, [_, _, _], _} = run(@sent, Json.text(text), nil, max_heap: 0)
    end
  end

  test "an answer that is not JSON is the tool's error, also where it is looked at", given do
    for rows <- [given.rows, given.pins], node <- [@count, @sent] do
      text = Codec.encode!(rows) <> "]"
      {:error, error} = Codec.decode(text)
      assert {{:error, {_, message}}, [], _} = run(node, Json.text(text), nil, [])

      assert message ==
               "Tool 'fetch' error: the answer is not JSON. JSON decode error: " <>
                 Exception.message(error)
    end
  end

  test "a text in place of other texts, and one that is not read in place", given do
    context = %{"t" => Json.text("[1]" <> String.duplicate(" ", 5_000))}
    one = Json.text("[{\"id\": 1}]" <> String.duplicate(" ", 1_000_000))

    for node <- [@count, @sent] do
      text = Json.text(given.text)
      expected = run(node, given.rows, nil, [])
      assert elem(run(node, text, nil, context: context), 0) == elem(expected, 0)
      assert {{:ok, _}, _, _} = run(node, one, nil, max_heap: 20_000)
      assert {{:ok, _}, _, _} = run(node, one, nil, max_heap: 20_000, context: context)
    end
  end
end
