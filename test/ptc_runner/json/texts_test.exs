defmodule PtcRunner.Json.TextsTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Texts}
  alias PtcRunner.Test.JsonSuite

  @load ~s({"op": "load", "name": "rows"})

  @programs [
    @load,
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "count"}]}),
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "filter", "where": {"op": "gt", "field": "price", "value": 100}}, {"op": "sum", "field": "price"}]}),
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "sum", "field": "big"}]}),
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "filter", "where": {"op": "eq", "field": "ok", "value": true}}, {"op": "sort_by", "field": "name"}, {"op": "select", "fields": ["id", "note", "at"]}, {"op": "take", "count": 10}]}),
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "sort_by", "field": "at"}, {"op": "last"}]}),
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "group_by", "field": "name"}]}),
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "distinct", "field": "tags"}]}),
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "first"}, {"op": "keys"}]}),
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "nth", "index": 7}, {"op": "entries"}]}),
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "min_by", "field": "price"}]}),
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "map", "expr": {"op": "get", "path": ["at", "city"]}}]}),
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "filter", "where": {"op": "contains", "field": "note", "value": "é"}}, {"op": "count"}]}),
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "get", "field": "id"}]}),
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "first"}, {"op": "sum", "field": "id"}]}),
    ~s({"op": "pipe", "steps": [#{@load}, {"op": "map", "expr": {"op": "get", "field": "missing", "default": 1}}, {"op": "sum", "field": "x"}]}),
    ~s({"op": "merge", "objects": [{"op": "pipe", "steps": [#{@load}, {"op": "first"}]}, {"op": "load", "name": "other"}]}),
    ~s({"both": [#{@load}, {"op": "load", "name": "other"}], "a": {"op": "load", "name": "other"}})
  ]

  setup_all do
    text = Codec.encode!(JsonSuite.rows(2_000))
    other = Codec.encode!(%{"a" => %{"b" => [1, 2, %{"c" => String.duplicate("x", 5_000)}]}})
    {:ok, text: text, other: other}
  end

  defp contexts(%{text: text, other: other}) do
    {%{"rows" => Json.text(text), "other" => Json.text(other), "n" => 1},
     %{"rows" => Codec.decode!(text), "other" => Codec.decode!(other), "n" => 1}}
  end

  defp of(node), do: ~s({"program": #{node}})

  # Rows in each form of each program; with PTC_CASES as many as elsewhere here.
  @formed if PtcRunner.Test.Environment.many?(), do: 2_000, else: 500

  test "each form of a program over texts is the same as over what they are decoded to", given do
    {texts, decoded} = contexts(%{given | text: Codec.encode!(JsonSuite.rows(@formed))})

    for node <- @programs, opts <- [[], [keys: :any], [structs: :values]] do
      opts = [max_heap: 0] ++ opts
      expected = Json.run(of(node), [context: decoded] ++ opts)
      assert Json.run(of(node), [context: texts] ++ opts) == expected
      assert Json.run(Codec.decode!(of(node)), [context: texts] ++ opts) == expected
      {:ok, program} = Json.compile(of(node), opts)
      assert Json.run(program, [context: texts] ++ opts) == expected
      assert Json.run(program, [context: texts, tool_concurrency: 2] ++ opts) == expected
      on_call = fn _call -> :run end
      assert Json.run(program, [context: texts, on_call: on_call] ++ opts) == expected
      assert Json.explain(of(node), [context: texts] ++ opts).result == expected
    end
  end

  test "a text that is not JSON is the error of the decoder, before the program starts", given do
    valid = given.text

    for {at, byte} <- [{0, "}"}, {5_000, "\x01"}, {div(byte_size(valid), 2), <<0xFF>>}],
        spoiled =
          binary_part(valid, 0, at) <> byte <> binary_part(valid, at, byte_size(valid) - at) do
      {:error, error} = Codec.decode(spoiled)
      text = "Context 'rows': JSON decode error: " <> Exception.message(error)
      tools = %{"t" => fn _ -> flunk("it is called") end}
      program = of(~s({"op": "call", "tool": "t"}))
      context = %{"rows" => Json.text(spoiled)}
      expected = {:error, {:execution_error, text}}
      assert Json.run(program, context: context, tools: tools) == expected
      assert Json.run(program, context: context, tools: tools, tool_concurrency: 2) == expected

      assert Json.run(program, context: context, tools: tools, on_call: fn _ -> :run end) ==
               expected

      assert Json.explain(program, context: context, tools: tools).result == expected
    end

    # Errors in the program come first.
    assert {:error, {:validation_error, _}} =
             Json.run(of(~s({"op": "lod"})), context: %{"rows" => Json.text("[")})
  end

  test "the first of equal keys counts, and escaped names are equal" do
    pad = String.duplicate(" ", 5_000)
    text = Json.text(~s({"a": 1, "\\u0061": 2, "b": 3, "a": 4}) <> pad)

    get =
      of(~s({"op": "pipe", "steps": [{"op": "load", "name": "t"}, {"op": "get", "field": "a"}]}))

    assert Json.run!(get, context: %{"t" => text}) == 1
    whole = of(~s({"op": "load", "name": "t"}))
    assert Json.run!(whole, context: %{"t" => text}) == %{"a" => 1, "b" => 3}
    escaped = Json.text(~s({"\\u0061": 2}) <> pad)
    assert Json.run!(get, context: %{"t" => escaped}) == 2
  end

  test "values leave the run as arguments of tools, and as errors", given do
    {texts, decoded} = contexts(given)

    program =
      of(
        ~s({"op": "pipe", "steps": [#{@load}, {"op": "take", "count": 50}, {"op": "map", "expr": {"op": "call", "tool": "seen", "args": {"row": {"op": "var", "name": "__input"}}}}]})
      )

    seen = fn %{"row" => row} = args -> send(self(), {:row, row}) && args end

    run = fn context ->
      Json.run(program, context: context, tools: %{"seen" => seen}, edition: 2)
    end

    assert run.(texts) == run.(decoded)
    assert {:ok, [%{"row" => %{"id" => 1}} | _], _, _} = run.(texts)

    failing = %{"seen" => fn %{"row" => row} -> {:error, row["id"]} end}

    caught =
      of(
        ~s({"op": "pipe", "steps": [#{@load}, {"op": "take", "count": 5}, {"op": "map", "expr": {"op": "call", "tool": "seen", "args": {"row": {"op": "var", "name": "__input"}}, "on_error": "no"}}]})
      )

    assert Json.run!(caught, context: texts, tools: failing, edition: 2) ==
             List.duplicate("no", 5)

    opts = [tools: failing, edition: 2]

    assert Json.run(program, [context: texts] ++ opts) ==
             Json.run(program, [context: decoded] ++ opts)
  end

  test "a tool may return a text" do
    program =
      of(~s({"op": "pipe", "steps": [{"op": "call", "tool": "t"}, {"op": "get", "field": "a"}]}))

    run = fn tool -> Json.run(program, tools: %{"t" => tool}) end
    assert {:ok, 1, _, _} = run.(fn _ -> Json.text(~s({"a": 1})) end)

    assert {:error, {:execution_error, text}} = run.(fn _ -> Json.text(~s({"a": 1,})) end)

    assert text =~
             "Tool 't' error: the answer is not JSON. JSON decode error: Unexpected token at position 8"

    signature = "(x :int?) -> {a :int}"
    assert {:ok, 1, _, _} = run.({fn _ -> Json.text(~s({"a": 1})) end, signature})
    assert {:ok, 1, _, _} = run.({fn _ -> {:ok, Json.text(~s({"a": 1}))} end, signature})

    assert {:error, {:execution_error, _}} =
             run.({fn _ -> Json.text(~s({"a": "x"})) end, signature})
  end

  test "the limits of the run count", given do
    {texts, _decoded} = contexts(given)
    whole = of(@load)
    assert {:error, {:memory_exceeded, _}} = Json.run(whole, context: texts, max_heap: 5_000)
    sum = of(~s({"op": "pipe", "steps": [#{@load}, {"op": "sum", "field": "price"}]}))
    # The index takes a seventh of the text.
    words = div(byte_size(given.text) + byte_size(given.other), 40)
    assert {:ok, _, _, _} = Json.run(sum, context: texts, max_heap: words + 1_000)
    assert {:error, {:timeout, 0}} = Json.run(sum, context: texts, timeout: 0)
  end

  test "texts that cannot be read in place are decoded" do
    wide = Map.new(1..3_000, &{"k#{&1}", &1})
    long = %{"s" => String.duplicate("x", 100_000), "n" => Integer.pow(7, 2_000)}

    for value <- [wide, long, []] do
      text = Codec.encode!(value) <> String.duplicate(" ", 5_000)
      load = of(~s({"op": "load", "name": "t"}))
      assert Json.run!(load, context: %{"t" => Json.text(text)}) == value
    end
  end

  test "a text that begins between two bytes", given do
    size = byte_size(given.text)
    <<_::3, unaligned::binary-size(size), _::5>> = <<0::3, given.text::binary, 0::5>>
    sum = of(~s({"op": "pipe", "steps": [#{@load}, {"op": "sum", "field": "id"}]}))
    assert Json.run!(sum, context: %{"rows" => Json.text(unaligned)}) == 2_001_000
  end

  test "a long run over a text is suspended, and others run" do
    rows = for n <- 1..60_000, do: %{"id" => n, "name" => "n#{rem(n, 1_000)}"}
    text = Codec.encode!(rows)
    context = %{"rows" => Json.text(text)}

    program =
      of(
        ~s({"op": "pipe", "steps": [#{@load}, {"op": "sort_by", "field": "name"}, {"op": "take", "count": 3}]})
      )

    decoded = %{"rows" => rows}
    opts = [max_heap: 0]

    tasks =
      for _ <- 1..4, do: Task.async(fn -> Json.run!(program, [context: context] ++ opts) end)

    expected = Json.run!(program, [context: decoded] ++ opts)
    for task <- tasks, do: assert(Task.await(task, 60_000) == expected)
    assert Json.run!(of(@load), [context: context] ++ opts) == rows
  end

  test "a program that is compiled in several calls", given do
    {texts, decoded} = contexts(given)
    steps = for n <- 1..10_000, do: ~s({"op": "set", "fields": {"k#{n}": #{n}}})
    last = ~s({"op": "load", "name": "n"})
    program = of(~s({"op": "pipe", "steps": [#{Enum.join(steps, ", ")}, #{last}]}))
    map = Codec.decode!(program)

    for program <- [program, map], opts <- [[], [tools: %{"t" => & &1}], [tool_concurrency: 2]] do
      opts = [edition: 2, timeout: 20_000, max_heap: 0] ++ opts
      failing = put_in(map, ["program", "steps", Access.at(0)], %{"op" => "first"})

      for program <- [program, failing] do
        expected = Json.run(program, [context: decoded] ++ opts)
        assert Json.run(program, [context: texts] ++ opts) == expected
      end
    end

    # What nobody validated.
    context = PtcRunner.Context.new(texts, %{}, %{})
    failing = put_in(map, ["program", "steps", Access.at(0)], last |> Codec.decode!())
    assert {:ok, 1, _} = Json.Interpreter.eval(%{"op" => "load", "name" => "n"}, context)
    sum = %{"op" => "sum", "field" => "x"}
    node = update_in(failing, ["program", "steps"], &[sum | tl(&1)]) |> Map.get("program")
    assert {:error, {:execution_error, _}} = Json.Interpreter.eval(node, context)
    # The time of compiling counts. It takes more than 20 ms on a fast machine.
    opts = [edition: 2, timeout: 3, context: texts]

    {ms, {:error, {:timeout, 3}}} =
      PtcRunner.Test.Room.least_ms(2_000, fn -> Json.run(program, opts) end)

    assert ms < 2_000
  end

  test "a value that takes longer than a quantum is compared once" do
    numbers = Enum.join(1..150_000, ",")
    deep = String.duplicate("[", 20_000) <> String.duplicate("]", 20_000)
    objects = String.duplicate(~s({"a":), 20_000) <> "1" <> String.duplicate("}", 20_000)

    for value <- ["[#{numbers}]", deep, objects],
        step <- [
          ~s({"op": "distinct"}),
          ~s({"op": "map", "expr": {"x": {"op": "var", "name": "__input"}}}, {"op": "group_by", "field": "x"}),
          ~s({"op": "sort_by", "field": "x"})
        ] do
      context = %{"rows" => Json.text("[#{value}, #{value}]")}
      program = of(~s({"op": "pipe", "steps": [#{@load}, #{step}, {"op": "count"}]}))
      result = Json.run(program, context: context, timeout: 20_000, max_heap: 0)
      refute match?({:error, {:timeout, _}}, result)
    end
  end

  test "an error shows its values unless the text has a firewalled field" do
    program = of(~s({"op": "pipe", "steps": [#{@load}, {"op": "entries"}]}))
    pad = String.duplicate(" ", 5_000)

    run = fn text ->
      for context <- [Json.text(text <> pad), Json.text(text), Codec.decode!(text)] do
        {:error, {:execution_error, message}} = Json.run(program, context: %{"rows" => context})
        message
      end
    end

    for text <- [~S([{"\u0074": "_a"}]), ~S([{"t": "-1"}, "_b"]), ~S(["\u005fpin"])] do
      assert [message, message, message] = run.(text)
      assert message == "entries requires a map, got #{inspect(Codec.decode!(text))}"
    end

    for text <- [~S([{"_pin": 1}]), ~S([{"\u005fpin": 1}]), ~S([{"a": [{"_b": 2}]}])] do
      assert [message, message, message] = run.(text)
      assert message == "entries requires a map, got a list"
    end
  end

  test "a sample that is a text has the type of what it stands for" do
    rows = ~s([{"n": 1, "city": "Rome"}, {"n": null}])
    program = of(~s({"op": "pipe", "steps": [#{@load}, {"op": "sum", "field": "m"}]}))
    check = &Json.check(program, context: %{"rows" => {:sample, &1}})
    assert {:error, [%{code: :unknown_field}]} = check.(Codec.decode!(rows))
    assert check.(Json.text(rows)) == check.(Codec.decode!(rows))

    assert_raise ArgumentError,
                 "a sample is no JSON text: Unexpected end of input at position 2",
                 fn ->
                   check.(Json.text("[1"))
                 end

    explain = &Json.explain(program, context: %{"rows" => &1}, check: [])
    types = fn rows -> for step <- explain.(rows).operations, do: {step.about, step.type} end
    assert types.(Json.text(rows)) == types.(Codec.decode!(rows))
    assert {:error, {:execution_error, message}} = explain.(Json.text("[1")).result
    assert message =~ "JSON decode error"
  end

  test "inspecting a text does not show it" do
    assert inspect(Json.text("[1, 2]")) == "#PtcRunner.Json.Text<6 bytes>"
    assert Texts.answer([1]) == [1]
  end
end
