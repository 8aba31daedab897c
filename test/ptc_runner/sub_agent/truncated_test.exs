defmodule PtcRunner.SubAgent.TruncatedTest do
  # Answers that were cut off: the right value or an error, never another value.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, SubAgent.AnswerStream, SubAgent.JsonParser, SubAgent.Signature}
  alias PtcRunner.Json.Codec
  alias PtcRunner.SubAgent.JsonRepair.Cut
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.Test.{Answers, Environment}

  doctest Cut, import: true

  @types [
    "{total :float, name :string}",
    "{rows [:int]}",
    "{rows [{id :int, name :string, paid_at :datetime?}]}",
    "[{id :int, tags [:string]}]",
    "[[:float]]",
    "{user {name :string, address {city :string, zip :int?}}, ok :bool?}",
    "{ok :bool, note :string?, n :int?}",
    "{m :map, x :any}",
    "{a {b {c {d :bool}}}}",
    ":string",
    "{code :string, state :keyword, list [:bool]?}"
  ]

  @texts [
           "",
           "a",
           "x, y",
           "} ]",
           "say \"yes\", or {no}: [1]",
           "```json\n[1]\n```",
           "žluť €",
           "\\ / \u0001\n"
         ] ++
           ["\"a\": 1", "12", "true", "]}", "a\\u12", "{\"id\": 1}"]

  setup_all do
    :rand.seed(:exsss, Environment.seed())
    documents = for type <- @types, _ <- 1..div(Environment.cases(240), 12), do: document(type)
    %{documents: documents}
  end

  defp document(type) do
    {:ok, {:signature, [], parsed}} = Signature.parse(type)
    text = parsed |> value() |> write(Enum.random([:compact, :wide, :lines]))
    {type, text}
  end

  defp value({:optional, type}), do: if(:rand.uniform(3) == 1, do: nil, else: value(type))

  defp value({:list, type}),
    do: for(_ <- 1..:rand.uniform(4), :rand.uniform(5) > 1, do: value(type))

  defp value({:map, fields}) do
    fields = for {name, type} <- fields, not left_out?(type), do: {name, value(type)}
    {:object, Enum.shuffle(fields)}
  end

  defp value(:int), do: Enum.random([0, 7, 120, -35, 1_234_567])
  defp value(:float), do: Enum.random([0.5, 12.25, -3.0e10, 1.0e-7, 42])
  defp value(:bool), do: Enum.random([true, false])
  defp value(:string), do: Enum.random(@texts)
  defp value(:keyword), do: Enum.random(["open", "closed"])
  defp value(:datetime), do: "2026-05-03T09:14:00Z"
  defp value(:map), do: {:object, [{"k", 1}, {"l", Enum.random(@texts)}]}
  defp value(:any), do: Enum.random([1, "x", [1, [2]], {:object, [{"a", nil}]}, {:object, []}])

  defp left_out?({:optional, _type}), do: :rand.uniform(3) == 1
  defp left_out?(_type), do: false

  defp write({:object, fields}, style) do
    colon = if style == :compact, do: ":", else: ": "
    entries = for {name, value} <- fields, do: [Codec.encode!(name), colon, write(value, style)]
    IO.iodata_to_binary(["{", between(entries, style), "}"])
  end

  defp write(list, style) when is_list(list),
    do: IO.iodata_to_binary(["[", between(Enum.map(list, &write(&1, style)), style), "]"])

  defp write(value, _style), do: Codec.encode!(value)

  defp between([], _style), do: []
  defp between(parts, :compact), do: Enum.intersperse(parts, ",")
  defp between(parts, :wide), do: Enum.intersperse(parts, ", ")
  defp between(parts, :lines), do: ["\n  ", Enum.intersperse(parts, ",\n  "), "\n"]

  # The text of an answer, the part of it that is cut, and what stands around that part.
  @around [
    {"", ""},
    {"Here you are: ", ""},
    {"```json\n", ""},
    {"```json\n", "\n```"},
    {"Sure!\n\n```\n", "\n```\nAnything else?"},
    {"", "\n\nI hope this helps."},
    {"", "\n"},
    {"The answer:\n\n", "  "},
    {"", " …"}
  ]

  describe "documents of twelve types, cut at every byte" do
    @tag timeout: 300_000
    test "Agent.answer/3 and JsonHandler give the right value or an error", %{
      documents: documents
    } do
      wrong =
        for {{type, text}, number} <- Enum.with_index(documents),
            {before, rest} = Enum.at(@around, rem(number, length(@around))),
            right = Agent.answer(text, type),
            {:ok, parsed} = Signature.parse(type),
            size <- 0..(byte_size(text) - 1),
            cut = before <> binary_part(text, 0, size) <> rest,
            {function, value} <- values(cut, type, parsed),
            not match?({:ok, ^value, _}, right),
            do: {function, type, text, cut, value}

      assert wrong == [],
             "#{length(wrong)} wrong, such as #{inspect(Enum.take_random(wrong, 12), pretty: true, limit: :infinity)}"
    end

    test "the whole text gives the value", %{documents: documents} do
      for {type, text} <- documents, do: assert({:ok, _value, []} = Agent.answer(text, type))
    end
  end

  defp values(cut, type, parsed) do
    answered =
      for opts <- [[], [coerce: false]],
          {:ok, value, _} <- [Agent.answer(cut, type, opts)],
          do: value

    handled =
      for {:stop, {:ok, step}, _turn, _tokens} <- [
            JsonHandler.handle_json_answer(cut, Answers.agent(parsed), Answers.state(),
              repair: true
            )
          ],
          do: step.return

    repaired =
      for {:ok, value, _repairs} <- [JsonParser.repair(cut, type)],
          Signature.validate(parsed, value) == :ok,
          do: value

    streamed =
      for {:cont, stream} <- [AnswerStream.feed(AnswerStream.new(parsed), cut)],
          {:ok, value} <- [AnswerStream.finish(stream)],
          do: value

    for(
      {_function, [_ | _]} = found <- [
        answer: answered,
        repair: repaired,
        stream: streamed,
        handler: handled
      ],
      do: found
    )
    |> Enum.flat_map(fn {function, values} -> Enum.map(values, &{function, &1}) end)
    |> Enum.reject(fn {function, value} -> function in [:repair, :handler] and dates?(value) end)
  end

  # Only answers have dates; other functions return their texts.
  defp dates?(value), do: inspect(value) =~ "2026-05-03"

  describe "what is said" do
    @told [
      {"{rows [:int]}", ~s({"rows": [1, 2), ~s(inside "rows", after 2 items)},
      {"{rows [:int]}", ~s({"rows": [1, 2,), ~s(inside "rows", after 2 items)},
      {"{rows [:int]}", ~s({"rows": [), ~s(inside "rows", after 0 items)},
      {"{rows [:string]}", ~s({"rows": ["a", "b), ~s(inside "rows", after 1 item)},
      {"{rows [{id :int, tags [:int]}]}",
       ~s({"rows": [{"id": 1, "tags": []}, {"id": 2, "tags": [3, 4),
       ~s(inside "rows", after 1 item)},
      {"{a {rows [:int]}}", ~s({"a": {"rows": [1, 2), ~s(inside "rows", after 2 items)},
      {"[:int]", "[1, 2, 3", "inside the list, after 3 items"},
      {"[[:int]]", "[[1], [2, 3", "inside the list, after 1 item"},
      {"{total :int}", ~s({"total": 12), ~s(inside "total")},
      {"{total :int}", ~s({"total":), ~s(inside "total")},
      {"{total :int, n :int}", ~s({"total": 12, "), ~s(after "total")},
      {"{total :int, n :int?}", ~s({"total": 12 ), ~s(inside "total")},
      {"{total :int}", ~s({"total": 12\n), ~s(inside "total")},
      {"{total :float}", "{'total': -3.0 …", ~s(after "total")},
      {"{a {b :string, c :bool}}", ~s({"a": {"b": "x", "c": fal), ~s(inside "c")},
      {"{a :int}", "{", "at its beginning"},
      {"{rows [:string]}", "{'rows': ['a', 'b'", ~s(inside "rows", after 2 items)},
      {"{rows [{a :string}]}", "{rows: [{a: 'x'}, {a: 'y'", ~s(inside "rows", after 2 items)},
      {"{a :string, b :bool?}", "{'a': 'x'", ~s(after "a")}
    ]

    test "by errors and feedback" do
      for {type, text, where} <- @told do
        message = "The answer ends #{where}: it was cut off"
        assert {:error, {:truncated, %{message: told}}} = JsonParser.repair(text, type)
        assert {text, told} == {text, message}
        assert {:error, [%{message: ^message}], feedback} = Agent.answer(text, type)
        assert feedback == message <> ". Write it again, shorter."

        {:ok, signature} = Signature.parse(type)
        agent = Answers.agent(signature)
        state = Answers.state()

        {:continue, state, turn} =
          JsonHandler.handle_json_answer(text, agent, state, repair: true)

        assert turn.result == %{error: message}
        assert List.last(state.messages).content == feedback
        last = %{agent | max_turns: 1}

        assert {:stop, {:error, %{fail: %{reason: :truncated, message: ^message}}}, _, _} =
                 JsonHandler.handle_json_answer(text, last, Answers.state(), repair: true)
      end
    end

    test "the value that was found is judged as ever" do
      assert {:error, [%{path: ["n"]}], _} = Agent.answer(~s({"n": "x"} and [1, 2), "{n :int}")
    end
  end

  test "brackets of objects are added after a complete value" do
    for {type, text, value} <- [
          {"{user {name :string}}", ~s({"user": {"name": "Ann"), %{"user" => %{"name" => "Ann"}}},
          {"{ok :bool}", ~s({"ok": true), %{"ok" => true}},
          {"{n :int?}", ~s({"n": null\n), %{"n" => nil}},
          {"{rows [:int]}", ~s({"rows": [1, 2]), %{"rows" => [1, 2]}},
          {"{a :string, b :bool?}", "{'a': 'x', 'b': True", %{"a" => "x", "b" => true}},
          {nil, ~s({"a": {"b": "x"), %{"a" => %{"b" => "x"}}}
        ] do
      assert {:ok, ^value, [_ | _]} = Agent.answer(text, type)
      assert {:ok, ^value, [_ | _]} = JsonParser.repair(text, type)
    end
  end

  test "wide objects are closed only with all their fields, of which the first 64 are known" do
    for {count, right?} <- [{64, true}, {65, false}] do
      fields = Enum.map_join(1..count, ", ", &"f#{&1} :bool")
      text = "{" <> Enum.map_join(1..count, ", ", &~s("f#{&1}": true))
      assert match?({:ok, %{"f1" => true}, _}, Agent.answer(text, "{#{fields}}")) == right?
    end
  end

  test "one object per line, and bare values" do
    assert {:ok, [%{"n" => 1}, %{"n" => 2}], _} =
             Agent.answer(~s({"n": 1}\n{"n": 2}), "[{n :int}]")

    for text <- [
          ~s({"n": 1}\n{"n": 2),
          ~s({"n": 1}\n{"n"),
          ~s({"n": 1}\n{),
          ~s({"n": 1},\n{"n": 2)
        ],
        do: assert({^text, {:error, _, _}} = {text, Agent.answer(text, "[{n :int}]")})

    assert {:ok, 12, []} = Agent.answer("12", ":int")

    for text <- [~s("abc), "tru", "-", "1.", ~s({"value": 1)],
        type <- [":string", ":bool", ":int", ":float"],
        do: assert({:error, _, _} = Agent.answer(text, type))
  end

  test "truncated: :complete closes what is open" do
    opts = [truncated: :complete]
    value = %{"rows" => [1, 2]}
    text = ~s({"rows": [1, 2)
    assert {:ok, ^value, [_, _]} = Agent.answer(text, "{rows [:int]}", opts)
    assert {:ok, ^value, [_, _]} = JsonParser.repair(text, "{rows [:int]}", opts)
    {:ok, signature} = Signature.parse("{rows [:int]}")
    agent = Answers.agent(signature)

    assert {:stop, {:ok, %{return: ^value}}, _, _} =
             JsonHandler.handle_json_answer(text, agent, Answers.state(), [{:repair, true} | opts])

    half =
      ~s({"program": {"op": "pipe", "steps": [{"op": "literal", "value": 7}, {"op": "add", "value": 1)

    assert {:error, {:parse_error, message}, feedback} = Agent.program(half)
    assert message == ~s(The answer ends inside "steps", after 1 item: it was cut off)
    assert feedback =~ "it was cut off. Write it again, shorter."
    assert {:error, {:parse_error, _}, _} = Agent.program("```\n" <> half <> "\n```")
    whole = ~s({"program": {"op": "pipe", "steps": [{"op": "literal", "value": 7})
    assert {:ok, program, [_ | _]} = Agent.program(whole, opts)
    assert PtcRunner.Json.run!(program) == 7

    for call <- [
          fn opts -> Agent.answer(text, nil, opts) end,
          fn opts -> JsonParser.repair(text, nil, opts) end,
          fn opts -> Agent.program(text, opts) end
        ],
        do: assert_raise(ArgumentError, ~r/truncated/, fn -> call.(truncated: true) end)
  end

  test "the loop asks again, and says where the answer ends" do
    model = fn
      [_, _] -> ~s({"rows": [1, 2)
      messages -> send(self(), List.last(messages).content) && ~s({"rows": [1, 2, 3]})
    end

    task = [task: "List them", answer: :value, returns: "{rows [:int]}"]
    assert {:ok, %{return: %{"rows" => [1, 2, 3]}}} = Agent.loop(model, task)
    assert_received "The answer ends inside \"rows\", after 2 items: it was cut off." <> _
    assert {:ok, %{return: %{"rows" => [1, 2]}}} = Agent.loop(model, task, truncated: :complete)
  end

  test "long and deep texts, within their limits" do
    for text <- [
          "[" <> String.duplicate("1, ", 1_000_000),
          String.duplicate(~s({"a": [), 100_000)
        ] do
      assert {:error, {:truncated, %{items: _}}} = JsonParser.repair(text, nil)
      assert {:error, :timeout} = JsonParser.repair(text, nil, timeout: 0)
    end

    deep = String.duplicate("[", 900_000)
    assert {:error, :memory_exceeded} = JsonParser.repair(deep, nil, max_heap: 10_000)
  end
end
