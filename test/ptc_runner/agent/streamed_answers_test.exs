defmodule PtcRunner.Agent.StreamedAnswersTest do
  # An answer that streams has the rule of `Agent.answer/3`: thinking is no answer, and of several values one counts or none.
  # `PTC_SEED` repeats a run, `PTC_CASES=4` takes four times as many.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.SubAgent.AnswerStream
  alias PtcRunner.Test.{AnswerGenerator, Answers, Environment}

  @cases 1_000
  @tags [
    {"<think>", "</think>"},
    {"<thinking mode=\"deep\">", "</thinking>"},
    {"<|begin_of_thought|>", "<|end_of_thought|>"},
    {"◁think▷", "◁/think▷"},
    {"[THINK]", "[/THINK]"},
    {"<|channel|>analysis<|message|>", "<|end|>"}
  ]

  describe "random texts in random chunks" do
    @tag timeout: 600_000
    test "end as the whole text does" do
      seed = Environment.seed()
      cases = Environment.cases(@cases)

      outcomes =
        for n <- 1..cases do
          :rand.seed(:exsss, {seed, n, 17})
          random = AnswerGenerator.random_case(seed, n)
          text = decorated(random.text)
          stream = AnswerStream.new(random.signature, halt: :certain)
          whole = Agent.answer(text, random.signature)
          streamed = Answers.stream(stream, Answers.cut(text, random.cuts))

          unless agree?(streamed, whole, {text, random.signature}),
            do:
              flunk(
                "seed #{seed}, case #{n}: #{inspect(text, binaries: :as_strings)}\nfor #{inspect(random.signature)}\n" <>
                  "stream: #{inspect(streamed)}\nanswer: #{inspect(whole)}"
              )

          {elem(streamed, 0), elem(whole, 0)}
        end

      for outcome <- [{:ended, :ok}, {:ended, :error}, {:halted, :error}],
          do: assert(Enum.count(outcomes, &(&1 == outcome)) > cases / 50)
    end

    # What the stream takes, `Agent.answer/3` takes unchanged. What it refuses is converted there, with a warning, or repaired; a
    # repair of blanks, or of brackets around the answer, has no warning. A key that only differs in hyphens has a warning.
    defp agree?({:ended, {:ok, value}}, {:ok, value, warnings}, _text),
      do: Enum.all?(warnings, &(&1 =~ ~r/\Atook the last of \d+ answers\z|\Aread the key /))

    defp agree?({:ended, {:error, [_ | _]}}, {:ok, _value, warnings}, {text, signature}),
      do: warnings != [] or match?({:error, _, _}, Agent.answer(text, signature, repair: false))

    defp agree?({:ended, {:error, [_ | _]}}, {:error, _errors, _feedback}, _text), do: true
    defp agree?({:halted, [_error]}, {:error, _errors, _feedback}, _text), do: true

    # A halted stream has not seen a value behind the wrong one, in brackets or in another fence, and no repair.
    defp agree?({:halted, [_error]}, {:ok, _value, warnings}, {text, _signature}),
      do: warnings != [] or parts(text, ["{", "["]) > 2 or parts(text, "```") > 3

    defp agree?(_streamed, _whole, _text), do: false

    defp parts(text, marks), do: length(String.split(text, marks))
  end

  # What may be a list is not halted for it; `nil` is any object.
  test "a list is a value of a type that takes lists" do
    named = {:defs, %{"T" => {:list, :int}}, {:optional, {:ref, "T"}}}
    union = {:one_of, [{:list, :int}, {:map, [{"a", :int}]}], nil}

    types = [
      :any,
      {:optional, :any},
      {:optional, {:list, :int}},
      {:where, :any, [description: "d"]},
      named,
      union
    ]

    for type <- types,
        halt <- [:early, :certain],
        text <- ["[1]", "```json\n[1]\n```", "[]", "Here: [1, 2]"],
        signature = {:signature, [], type} do
      {:ok, value, []} = Agent.answer(text, signature)
      stream = AnswerStream.new(signature, halt: halt)
      assert {type, text, Answers.stream(stream, [text])} == {type, text, {:ended, {:ok, value}}}
    end

    assert {:halt, {:error, [%{path: []}]}} = AnswerStream.feed(AnswerStream.new(nil), "[1]")
  end

  test "an object without keys is the value, the default, or null" do
    for {type, value} <- [
          {{:optional, :map}, %{}},
          {{:optional, {:map, [{"a", {:optional, :int}}]}}, %{}},
          {{:optional, {:map_of, :int}}, %{}},
          {{:where, :int, [default: 4]}, 4},
          {{:optional, :int}, nil}
        ],
        text <- ["{}", "```json\n{}\n```"],
        signature = {:signature, [], type} do
      assert Agent.answer(text, signature) == {:ok, value, []}
      stream = AnswerStream.new(signature, halt: :certain)
      assert Answers.stream(stream, [text]) == {:ended, {:ok, value}}
    end
  end

  test "a bracket before the value that nothing closes is no part of it" do
    for type <- [{:map, [{"g", :float}]}, {:optional, {:map, [{"g", :float}]}}],
        text <- ["}{```json\n{\"g\":1}", "{```json\n{\"g\":1}\n```", "{ {\"g\":1}"],
        signature = {:signature, [], type} do
      assert {:ok, %{"g" => 1}, _told} = Agent.answer(text, signature)
      stream = AnswerStream.new(signature, halt: :certain)
      streamed = Answers.stream(stream, [text])

      case Agent.answer(text, signature, repair: false) do
        {:ok, value, []} -> assert {text, type, streamed} == {text, type, {:ended, {:ok, value}}}
        {:error, _errors, _feedback} -> assert {:ended, {:error, [_]}} = streamed
      end
    end
  end

  test "null is the default where a value may be null and has one" do
    signature = {:signature, [], {:optional, {:where, :int, [default: 4]}}}

    for text <- ["null", ~s({"value": null}), "```json\nnull\n```"] do
      assert {:ok, 4, [_told]} = Agent.answer(text, signature)
      assert Answers.stream(AnswerStream.new(signature), [text]) == {:ended, {:ok, 4}}
    end

    fields = {:signature, [], {:map, [{"n", {:optional, {:where, :int, [default: 4]}}}]}}
    assert {:ok, %{"n" => 4}, [_told]} = Agent.answer(~s({"n": null}), fields)

    assert Answers.stream(AnswerStream.new(fields), [~s({"n": null})]) ==
             {:ended, {:ok, %{"n" => 4}}}
  end

  test "a text that is the JSON of a list or an object is converted, which no stream does" do
    signature = {:signature, [], :any}

    for text <- ["```json\n\"{}\"\n```", "```\n\"[1]\"\n```"] do
      assert {:ok, value, ["read the text as JSON"]} = Agent.answer(text, signature)
      refute is_binary(value)
      stream = AnswerStream.new(signature, halt: :certain)
      assert {:ended, {:error, [_]}} = Answers.stream(stream, [text])
    end
  end

  defp decorated(text) do
    thought = Enum.random([~s({"id": "x"}), ~s([1]), "```json\n{}\n```", "Is it { or 1?", ""])
    {open, close} = Enum.random(@tags)

    case :rand.uniform(8) do
      1 -> open <> thought <> close <> text
      2 -> open <> text <> close <> thought
      3 -> text <> open <> thought <> close
      4 -> thought <> close <> text
      5 -> text <> "\nCorrection: " <> text
      6 -> text <> "\n" <> open <> thought
      _plain -> text
    end
  end

  describe "thinking" do
    test "is not read, in any tag and cut at any place" do
      for {open, close} <- @tags, sizes <- [[1], [2, 3], [7], [1_000]] do
        for thought <- [
              ~s({"t": "x"}),
              "```json\n[{\"t\": 1}]\n```",
              "{\"t\": 3} no, {",
              "not JSON {,}"
            ] do
          text = ~s(#{open}#{thought}#{close}\n{"t": 2})
          stream = AnswerStream.new("{t :int}", halt: :early)
          assert Answers.stream(stream, Answers.cut(text, sizes)) == {:ended, {:ok, %{"t" => 2}}}
          assert Agent.answer(text, "{t :int}") == {:ok, %{"t" => 2}, []}
        end
      end
    end

    test "shows nothing, and what follows halts" do
      stream = fed(AnswerStream.new("{t :int}"), ~s(<think>{"t": 1}))
      assert AnswerStream.partial(stream) == :none
      stream = fed(stream, ~s(, or {"t": "x"}</th))
      assert AnswerStream.partial(stream) == :none
      stream = fed(stream, ~s(ink>{"t"))
      assert AnswerStream.partial(stream) == {:ok, %{}}

      assert AnswerStream.feed(stream, ~s(: "x"})) ==
               {:halt, {:error, [%{path: ["t"], message: "expected int, got string"}]}}

      {:cont, stream} = AnswerStream.feed(stream, ": 2}")
      assert AnswerStream.partial(stream) == {:ok, %{"t" => 2}}
      assert AnswerStream.finish(stream) == {:ok, %{"t" => 2}}
    end

    test "may stand in several parts, also behind the answer" do
      text = ~s(<think>{"t": 1}</think>So <think>{"t": "x"}</think>{"t": 2}\n<think>{"t": 3})

      for size <- 1..20 do
        stream = AnswerStream.new("{t :int}")
        assert Answers.stream(stream, Answers.cut(text, [size])) == {:ended, {:ok, %{"t" => 2}}}
      end
    end

    test "has no end, or no beginning" do
      for {text, result} <- [
            {~s(<think>{"t": 1}), :error},
            {~s({"t": 1}</think>{"t": 2}), :ok},
            {~s(Is {"t": 1} right?</think>\n```json\n{"t": 2}\n```), :ok}
          ] do
        stream = AnswerStream.new("{t :int}")
        assert {:ended, {^result, value}} = Answers.stream(stream, Answers.cut(text, [5]))
        if result == :ok, do: assert(value == %{"t" => 2})
      end
    end

    test "in a string is data" do
      text = ~s({"html": "<think>{</think>", "n": 1})
      stream = AnswerStream.new("{html :string, n :int}")
      expected = %{"html" => "<think>{</think>", "n" => 1}
      assert Answers.stream(stream, Answers.cut(text, [1])) == {:ended, {:ok, expected}}
    end

    test "of many tags takes linear time, and is decided at the end" do
      text = String.duplicate(~s(<think>{"t": "x"}</think>), 5_000) <> ~s({"t": 2})
      stream = AnswerStream.new("{t :int}")

      {ms, outcome} =
        PtcRunner.Test.Room.least_ms(20_000, fn ->
          Answers.stream(stream, Answers.cut(text, [20]))
        end)

      assert outcome == {:ended, {:ok, %{"t" => 2}}} or match?({:ended, {:error, _}}, outcome)
      assert ms < 20_000
    end

    test "counts as a part of the text where an old stream is fed again" do
      old = fed(AnswerStream.new("{t :int}"), ~s(<think>{"t": "x"}</think>{"t": ))
      _other = fed(old, "1}")
      assert old |> fed("2}") |> AnswerStream.finish() == {:ok, %{"t" => 2}}
      assert {:halt, _} = AnswerStream.feed(old, ~s("x"))
    end
  end

  test "of several values one counts, or none" do
    for {text, expected} <- [
          {~s({"t": 1}\nCorrection: {"t": 2}), {:ok, %{"t" => 2}}},
          {~s({"t": 1} and again {"t": 1}), {:ok, %{"t" => 1}}},
          {~s(With {"t": 9} in mind:\n```json\n{"t": 2}\n```), {:ok, %{"t" => 2}}},
          {~s({"t": 1} or {"t": 2}),
           {:error, [%{path: [], message: "The answer has 2 different values: write one"}]}},
          # the other one is converted by `Agent.answer/3`, so that there are two there as well
          {~s({"t": 1} or {"T": 2}),
           {:error, [%{path: [], message: "The answer has 2 different values: write one"}]}},
          {~s({"t": 1} or {"t": "2"}),
           {:error, [%{path: [], message: "The answer has 2 different values: write one"}]}}
        ] do
      stream = AnswerStream.new("{t :int}", halt: :certain)
      assert Answers.stream(stream, Answers.cut(text, [3])) == {:ended, expected}, text
    end
  end

  test "an optional field in another spelling is an error, because its value would be lost" do
    for {name, key} <- [
          {"user_id", "userId"},
          {"id", "id "},
          {"id", "ID"},
          {"first_name", "First Name"}
        ],
        field <- ["int?", "any?", "map?"],
        {around, path} <- [{"", []}, {"[", [0]}] do
      closing = if around == "[", do: "]", else: ""
      type = "#{around}{#{name} :#{field}, n :int?}#{closing}"
      value = if field == "map?", do: "{}", else: "7"
      text = ~s(#{around}{"n": "x", "#{key}": #{value}}#{closing})
      stream = AnswerStream.new(type, halt: :certain)
      missing = %{path: path ++ [name], message: "expected field, got the key #{inspect(key)}"}
      {:ended, {:error, [^missing, %{path: wrong}]}} = Answers.stream(stream, [text])
      assert wrong == path ++ ["n"]

      right = String.replace(text, ~s("x"), "1")
      assert Answers.stream(stream, [right]) == {:ended, {:error, [missing]}}
      assert {:ok, _value, [_told]} = Agent.answer(right, type)
    end

    # A hyphen is no other spelling, and what is a spelling of two fields or of none is an undeclared key.
    for {text, type} <- [
          {~s({"user-id": 7}), "{user_id :int?}"},
          {~s({"UserId": 7}), "{userId :int?, userid :int?}"},
          {~s({"user": 7}), "{user_id :int?}"}
        ] do
      {:ok, value, []} = Agent.answer(text, type)
      assert Answers.stream(AnswerStream.new(type), [text]) == {:ended, {:ok, value}}
    end

    type = "{_person {first_name :string?}}"
    text = ~s({"_person": {"firstName": "Ann"}})

    assert Answers.stream(AnswerStream.new(type), [text]) ==
             {:ended,
              {:error,
               [
                 %{
                   path: ["_person", "first_name"],
                   message: "expected field, got a key in another spelling"
                 }
               ]}}
  end

  test "a value without an object may be bare or wrapped" do
    for {text, type, value} <- [
          {"5", ":int", 5},
          {~s({"value": 5}), ":int", 5},
          {~s("a"), ":string?", "a"},
          {"<think>4</think>5", ":int", 5},
          {~s({"n": 1}), "{n :int}?", %{"n" => 1}}
        ],
        prose <- [true, false] do
      stream = AnswerStream.new(type, prose: prose)
      assert Answers.stream(stream, Answers.cut(text, [2])) == {:ended, {:ok, value}}
      assert Agent.answer(text, type) == {:ok, value, []}
    end

    assert ":int" |> AnswerStream.new() |> fed(~s({"value": 5})) |> AnswerStream.partial() ==
             {:ok, 5}
  end

  defp fed(stream, chunk) do
    {:cont, stream} = AnswerStream.feed(stream, chunk)
    stream
  end
end
