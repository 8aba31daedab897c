defmodule PtcRunner.Json.AnsweredTextsTest do
  # Runs whose tools answer JSON texts end as over what these are decoded to; long ones are read in place.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.Codec
  alias PtcRunner.Test.{JsonSuite, Room, SliceClock}

  @pad String.duplicate(" ", 5_000)
  @million 1_000_000

  @steps [
    ~s({"op": "count"}),
    ~s({"op": "filter", "where": {"op": "gt", "field": "price", "value": 100}}, {"op": "sum", "field": "price"}),
    ~s({"op": "sum", "field": "big"}),
    ~s({"op": "sort_by", "field": "name"}, {"op": "select", "fields": ["id", "note", "at"]}, {"op": "take", "count": 10}),
    ~s({"op": "group_by", "field": "name"}),
    ~s({"op": "distinct", "field": "tags"}),
    ~s({"op": "first"}, {"op": "keys"}),
    ~s({"op": "map", "expr": {"op": "get", "path": ["at", "city"]}}),
    ~s({"op": "get", "field": "id"}),
    ~s({"op": "entries"}),
    ~s({"op": "first"}, {"op": "sum", "field": "id"}),
    ~s({"op": "take", "count": 20}, {"op": "map", "expr": {"op": "call", "tool": "seen", "args": {"row": {"op": "var", "name": "__input"}}}}),
    ~s({"op": "join", "with": {"op": "call", "tool": "rows"}, "on": "id"}, {"op": "count"})
  ]

  setup_all do
    {:ok, text: Codec.encode!(JsonSuite.rows(2_000))}
  end

  defp of(steps), do: ~s({"program": {"op": "pipe", "steps": [#{steps}]}})
  defp rows(steps), do: of(~s({"op": "call", "tool": "rows"}, #{steps}))

  defp tools(answer),
    do: %{"rows" => fn _ -> answer end, "seen" => & &1, "n" => fn _ -> 3 end}

  # The answer as a text, and as what it stands for.
  defp both(text), do: {tools(Json.text(text)), tools(Codec.decode!(text))}

  # Rows in each form of each program; with PTC_CASES as many as elsewhere here.
  @formed if PtcRunner.Test.Environment.many?(), do: 2_000, else: 500

  test "each form of a program is the same as over the decoded answers" do
    {texts, decoded} = both(Codec.encode!(JsonSuite.rows(@formed)))

    for steps <- @steps, opts <- [[], [keys: :any], [structs: :values]] do
      opts = [max_heap: 0, timeout: 30_000] ++ opts
      program = rows(steps)
      expected = Json.run(program, [tools: decoded] ++ opts)
      assert Json.run(program, [tools: texts] ++ opts) == expected
      {:ok, compiled} = Json.compile(program, opts)
      assert Json.run(compiled, [tools: texts] ++ opts) == expected
      assert Json.run(compiled, [tools: texts, max_tool_calls: 50] ++ opts) == expected
      assert Json.run(compiled, [tools: texts, tool_concurrency: 2] ++ opts) == expected
      assert Json.run(compiled, [tools: texts, on_call: fn _ -> :run end] ++ opts) == expected
      assert Json.explain(program, [tools: texts] ++ opts).result == expected
      # Such a run does not move to the process of its tools.
      held = %{"t" => Json.text("[1]" <> @pad)}
      assert Json.run(compiled, [tools: texts, context: held] ++ opts) == expected
      context = PtcRunner.Context.new(%{}, %{}, texts)
      node = Codec.decode!(program)["program"]

      case expected do
        {:ok, value, _, _} -> assert Json.Interpreter.eval(node, context) == {:ok, value, %{}}
        error -> assert Json.Interpreter.eval(node, context) == error
      end
    end
  end

  test "an answer is not decoded where it is read in place", given do
    # What it is decoded to would take more.
    words = div(byte_size(given.text), 6)
    {texts, decoded} = both(given.text)
    program = rows(~s({"op": "sum", "field": "id"}))
    assert Json.run!(program, tools: texts, max_heap: words) == 2_001_000
    assert {:error, {:memory_exceeded, _}} = Json.run(program, tools: decoded, max_heap: words)
    held = %{"t" => Json.text("[1]" <> @pad)}
    assert Json.run!(program, tools: texts, max_heap: words, context: held) == 2_001_000
  end

  test "the text counts, and so does its index", given do
    {texts, _decoded} = both(given.text)
    sum = rows(~s({"op": "sum", "field": "id"}))
    less = div(byte_size(given.text), 8)
    assert {:error, {:memory_exceeded, _}} = Json.run(sum, tools: texts, max_heap: less)

    twice =
      of(~s({"op": "call", "tool": "rows"}, {"op": "call", "tool": "rows"}, {"op": "count"}))

    assert {:error, {:memory_exceeded, _}} = Json.run(twice, tools: texts, max_heap: less + less)
    assert Json.run!(twice, tools: texts, max_heap: 3 * less) == 2_000
  end

  test "an answer that takes more as a text than decoded is decoded" do
    text = "[1]" <> String.duplicate(" ", @million)
    program = rows(~s({"op": "first"}))

    for context <- [%{}, %{"t" => Json.text("[1]" <> @pad)}] do
      opts = [tools: tools(Json.text(text)), max_heap: 20_000, context: context]
      assert Json.run!(program, opts) == 1
    end
  end

  test "an answer that is not JSON is the error of the tool, which a program may catch", given do
    valid = given.text
    caught = ~s({"op": "call", "tool": "rows", "on_error": {"op": "call", "tool": "n"}})

    for {at, byte} <- [{0, "}"}, {5_000, "\x01"}, {div(byte_size(valid), 2), <<0xFF>>}],
        context <- [%{}, %{"t" => Json.text("[1]" <> @pad)}] do
      spoiled = binary_part(valid, 0, at) <> byte <> binary_part(valid, at, byte_size(valid) - at)
      {:error, error} = Codec.decode(spoiled)
      opts = [tools: tools(Json.text(spoiled)), context: context]

      message =
        "Tool 'rows' error: the answer is not JSON. JSON decode error: " <>
          Exception.message(error)

      for opts <- [opts, [tool_concurrency: 2] ++ opts, [max_tool_calls: 3] ++ opts],
          do:
            assert(
              Json.run(rows(~s({"op": "count"})), opts) == {:error, {:execution_error, message}}
            )

      assert Json.run!(of(caught), opts) == 3
      # Also after another answer was read in place.
      tools = Map.put(opts[:tools], "good", fn _ -> Json.text("[1, 2]" <> @pad) end)
      later = of(~s({"op": "call", "tool": "good"}, {"op": "count"}, #{caught}))
      assert Json.run!(later, Keyword.put(opts, :tools, tools)) == 3
    end
  end

  test "a text that somebody has made of something else is the error of the tool" do
    program = of(~s({"op": "call", "tool": "rows"}))

    for other <- [nil, <<1::3>>, ["[]"]],
        opts <- [[], [tool_concurrency: 2], [max_tool_calls: 3]] do
      tools = tools(%Json.Text{binary: other})

      assert Json.run(program, [tools: tools] ++ opts) ==
               {:error, {:execution_error, "Tool 'rows' error: the JSON text is not a binary"}}

      assert inspect(%Json.Text{binary: other}) == "#PtcRunner.Json.Text<no binary>"
    end
  end

  test "answers that cannot be read in place are decoded" do
    wide = Map.new(1..3_000, &{"k#{&1}", &1})
    long = %{"s" => String.duplicate("x", 100_000), "n" => Integer.pow(7, 2_000)}

    for value <- [wide, long, [], nil, true, 7, "a"],
        context <- [%{}, %{"t" => Json.text("[1]" <> @pad)}] do
      tools = tools(Json.text(Codec.encode!(value) <> @pad))
      program = rows(~s({"op": "typeof"}))
      assert {:ok, type, _, _} = Json.run(program, tools: tools, context: context)
      assert is_binary(type)
      program = of(~s({"op": "call", "tool": "n"}, {"op": "call", "tool": "rows"}))
      assert Json.run!(program, tools: tools, context: context) == value
    end
  end

  test "a text that begins between two bytes, and one that is a part of another", given do
    size = byte_size(given.text)
    <<_::3, unaligned::binary-size(size), _::5>> = <<0::3, given.text::binary, 0::5>>
    <<_, part::binary-size(size), _>> = "x" <> given.text <> "y"
    sum = rows(~s({"op": "sum", "field": "id"}))

    for text <- [unaligned, part],
        do: assert(Json.run!(sum, tools: tools(Json.text(text))) == 2_001_000)
  end

  test "each of many calls answers a text" do
    list = Enum.to_list(1..1_000)
    pad = String.duplicate(" ", 20_000)
    tool = fn %{"n" => n} -> Json.text(~s({"n": #{n}, "rows": [#{n}, {"id": #{n}}]}) <> pad) end

    call = ~s({"op": "call", "tool": "t", "args": {"n": {"op": "var", "name": "__input"}}})
    load = ~s({"op": "load", "name": "list"})

    for {last, expected} <- [
          {~s({"op": "get", "field": "n"}), list},
          {~s({"op": "get", "field": "rows"}, {"op": "last"}), Enum.map(list, &%{"id" => &1})}
        ],
        held <- [%{}, %{"t" => Json.text("[1]" <> @pad)}] do
      map = ~s({"op": "map", "expr": {"op": "pipe", "steps": [#{call}, #{last}]}})

      assert Json.run!(of("#{load}, #{map}"),
               context: Map.put(held, "list", list),
               tools: %{"t" => tool},
               edition: 2,
               max_heap: 0,
               timeout: 30_000
             ) == expected
    end
  end

  test "the time of many calls grows with their number" do
    tool = fn _ -> Json.text(~s([{"id": 1}]) <> @pad) end

    map =
      ~s({"op": "map", "expr": {"op": "pipe", "steps": [{"op": "call", "tool": "t"}, {"op": "count"}]}})

    {:ok, program} = Json.compile(of(~s({"op": "load", "name": "list"}, #{map}, {"op": "count"})))

    time = fn count, limit ->
      opts = [context: %{"list" => Enum.to_list(1..count)}, max_heap: 0, timeout: 60_000]

      {ms, _} =
        Room.least_ms(limit, fn -> Json.run!(program, [tools: %{"t" => tool}] ++ opts) end)

      ms
    end

    limit = 20 * max(time.(1_000, 60_000), 5)
    assert time.(8_000, limit) < limit
  end

  test "what an error shows of an answer is what it shows of the decoded one" do
    for text <- [
          ~S([{"t": "_a"}]),
          ~S([{"_pin": 1}]),
          ~S([{"\u005fpin": 1}]),
          ~S([{"a": [{"_b": 2}]}])
        ] do
      {texts, decoded} = both(text <> @pad)

      for steps <- [~s({"op": "entries"}), ~s({"op": "first"}, {"op": "sum", "field": "t"})] do
        expected = Json.run(rows(steps), tools: decoded)
        assert {:error, {:execution_error, _}} = expected
        assert Json.run(rows(steps), tools: texts) == expected
      end
    end
  end

  describe "hostile answers" do
    # As with the decoded answer, or the error of the decoder; with `:ok` or `:error`.
    defp as_decoded(text, steps) do
      opts = [max_heap: 0, timeout: 60_000]

      case Codec.decode(text, timeout: :infinity) do
        {:ok, value} ->
          assert Json.run(rows(steps), [tools: tools(Json.text(text))] ++ opts) ==
                   Json.run(rows(steps), [tools: tools(value)] ++ opts)

          :ok

        {:error, error} ->
          assert {:error, {:execution_error, message}} =
                   Json.run(rows(steps), [tools: tools(Json.text(text))] ++ opts)

          assert String.ends_with?(message, Exception.message(error))
          :error
      end
    end

    test "the texts of JSONTestSuite are accepted and refused as by the decoder" do
      for {name, text} <- JsonSuite.texts(), padded <- [text <> @pad, @pad <> text] do
        read = as_decoded(padded, ~s({"op": "typeof"}))
        if String.starts_with?(name, "y_"), do: assert(read == :ok, name)
        if String.starts_with?(name, "n_"), do: assert(read == :error, name)
      end
    end

    test "brackets, empty objects, and a long string" do
      brackets = fn open, close -> String.duplicate("[", open) <> String.duplicate("]", close) end
      # The limits are the same for texts ten times as long, with PTC_CASES.
      size = if PtcRunner.Test.Environment.many?(), do: 10 * @million, else: div(@million, 2)
      half = div(size, 2)
      count = rows(~s({"op": "count"}))
      opts = [max_heap: 0, timeout: 120_000]
      assert Json.run!(count, [tools: tools(Json.text(brackets.(half, half)))] ++ opts) == 1

      assert {:error, {:execution_error, "Tool 'rows' error: the answer is not JSON." <> _}} =
               Json.run(count, [tools: tools(Json.text(brackets.(size, 0)))] ++ opts)

      objects = "[" <> String.duplicate("{},", size) <> "{}]"
      assert Json.run!(count, [tools: tools(Json.text(objects))] ++ opts) == size + 1
      string = ~s({"a": ") <> String.duplicate("x", 10 * size) <> ~s(", "b": 1})
      get = rows(~s({"op": "get", "field": "b"}))
      assert Json.run!(get, [tools: tools(Json.text(string))] ++ opts) == 1

      # The default limit of memory is 10 MB.
      objects = "[" <> String.duplicate("{},", 4 * @million) <> "{}]"
      limits = [timeout: 120_000]

      for text <- [objects, brackets.(2 * @million, 2 * @million)],
          tools = tools(Json.text(text)),
          do: assert({:error, {:memory_exceeded, _}} = Json.run(count, [tools: tools] ++ limits))

      assert {:error, {:timeout, 5}} =
               Json.run(count, tools: tools(Json.text(objects)), timeout: 5, max_heap: 0)
    end

    test "hold no scheduler, and end at the deadline" do
      objects = "[" <> String.duplicate(~s({"a":"\\u00e9","b":[1,{"c":"x"}]},), 100_000) <> "1]"
      deep = String.duplicate(~s({"a":), 60_000) <> "1" <> String.duplicate("}", 60_000)
      big = "[" <> String.duplicate(~s({"a":#{String.duplicate("7", 127)}},), 10_000) <> "1]"
      decoded = String.replace(big, String.duplicate("7", 127), String.duplicate("7", 1_000))

      for text <- [objects, deep, big, decoded],
          steps <- [~s({"op": "distinct"}), ~s({"op": "max", "field": "a"}), ~s({"op": "last"})] do
        opts = [tools: tools(Json.text(text)), max_heap: 0]
        assert SliceClock.holds(fn -> Json.run(rows(steps), opts) end) == []
        {ms, _} = Room.least_ms(500, fn -> Json.run(rows(steps), [timeout: 3] ++ opts) end)
        assert ms < 1_000
      end
    end
  end
end
