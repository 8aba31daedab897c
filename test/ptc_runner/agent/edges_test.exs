defmodule PtcRunner.Agent.EdgesTest do
  # What models and tools do besides answering.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Json.Codec
  alias PtcRunner.SubAgent.AnswerStream
  alias PtcRunner.Test.{Models, Room}

  doctest PtcRunner.Agent.Reply
  doctest PtcRunner.Agent.Given
  doctest PtcRunner.Agent.Candidates
  doctest PtcRunner.Agent.Stopped
  doctest PtcRunner.Agent.Feedback
  doctest PtcRunner.SubAgent.Signature.SyntaxText

  defmodule Usage do
    defstruct [:input_tokens, :output_tokens, :details]
  end

  defp literal(value), do: Codec.encode!(%{program: %{op: "literal", value: value}})

  defp loop(answers, task \\ [], opts \\ []) do
    {ask, asked} = Models.canned(answers)
    result = Agent.loop(ask, [task: "x"] ++ task, opts)
    told = for messages <- Enum.drop(asked.(), 1), do: List.last(messages).content
    {result, told}
  end

  describe "the model" do
    test "refuses: there is no text" do
      for none <- [
            nil,
            {:ok, nil},
            {:ok, nil, %{input_tokens: 1}},
            {:ok, %{content: nil, refusal: "no"}}
          ],
          {answer, right} <- [program: literal(1), value: ~s({"value": 1})] do
        {{:ok, step}, [told]} = loop([none, right], answer: answer, returns: ":int")
        assert step.return == 1
        assert told =~ "Your answer has no text."
        assert [%{raw_response: nil, success?: false}, %{success?: true}] = step.turns
        assert {:ok, _json} = step |> Codec.encode!() |> Codec.decode()
      end

      assert {{:error, %{fail: fail}}, _} = loop([nil, nil], [], max_turns: 2)

      assert %{
               reason: :max_turns,
               message: "no valid answer in 2 turns. The last one: the answer has no text"
             } = fail
    end

    test "answers with a message, and its usage may be a struct" do
      usage = %Usage{input_tokens: 5, output_tokens: 2, details: %{cached: 1}}
      {{:ok, step}, []} = loop([{:ok, %{"content" => literal(1)}, usage}])
      assert %{input_tokens: 5, output_tokens: 2, turns: 1} = step.usage
      refute is_map_key(step.usage, :details)
    end

    test "asks for the same call later" do
      {{:ok, step}, _told} = loop([{:retry, 1}, {:retry, 0}, literal(1)], [], max_turns: 1)
      assert step.return == 1 and length(step.turns) == 1

      assert {{:error, step}, _} = loop(List.duplicate({:retry, 0}, 20))
      assert step.fail.reason == :model_error and step.fail.message =~ "10 repetitions"

      for ms <- [-1, :infinity, "1", 1.5] do
        assert_raise ArgumentError, ~r/the model must answer with a text/, fn ->
          loop([{:retry, ms}])
        end
      end
    end

    test "ends the loop" do
      {{:error, step}, _} = loop(["no", {:halt, {:budget, 5}}])

      assert step.fail == %{
               reason: :halted,
               message: "{:budget, 5}",
               details: %{reason: {:budget, 5}}
             }

      assert length(step.turns) == 1
    end

    test "has an error that can be told from others" do
      for reason <- [%{status: 429, retry_after: 3}, {:http, 429}, :overloaded, "text"] do
        {{:error, step}, _} = loop([{:error, reason}])
        assert step.fail.reason == :model_error and step.fail.details == %{reason: reason}
        assert is_binary(step.fail.message)
        assert {:ok, _json} = step |> Codec.encode!() |> Codec.decode()
      end
    end

    test "is stopped while it streams, and told why" do
      returns = "{rows [{id :int}]}"
      part = ~s({"rows": [{"id": "one)

      {:halt, {:error, errors}} =
        halt = returns |> AnswerStream.new() |> AnswerStream.feed(part <> ~s(",))

      for reply <- [halt, {:halt, {:error, errors}, part}, part <> ~s(",)] do
        {{:ok, step}, [told]} = loop([reply, ~s({"rows": []})], answer: :value, returns: returns)
        assert step.return == %{"rows" => []}

        assert told =~
                 "Your answer was stopped, because it cannot become valid:\n- rows.0.id: expected int, got string"

        assert told =~ "Please return a valid JSON object"
        refute told =~ "cut off"
      end
    end
  end

  test "the failure's message is for people, the feedback for the model is a detail" do
    for {answer, why} <- [
          {"I do not know.", "No valid JSON found"},
          {~s({"program": {"op": "cuont"}}), "Unknown operation 'cuont'"},
          {literal("one"), "the result does not fit: expected int, got string"},
          {~s({"program": {"op": "first"}}), "No input available"},
          {~s({"program": {"look": 1}}), "gave no result"}
        ] do
      {{:error, step}, _} = loop([answer], [returns: ":int"], max_turns: 1)
      assert %{reason: :max_turns, message: message, details: %{feedback: feedback}} = step.fail
      assert message =~ "no valid answer in 1 turn. The last one: "
      assert message =~ why
      refute message =~ "Write the whole program" or message =~ "Please"
      assert is_binary(feedback)
    end
  end

  test "an answer that cannot be used: whether its JSON is whole is known from its reading" do
    signature = PtcRunner.SubAgent.Signature.parsed!("{n :int}")

    for {text, opts, whole?} <- [
          {~s({"n": "x"}), [], true},
          {~s(Here: {"n": []} as asked), [], true},
          {~s({"n": "x", "m), [], false},
          {"I do not know", [], false},
          {~s({"n": "x", "m": [) <> String.duplicate("1,", 1_000_000), [timeout: 0], true}
        ] do
      assert {:error, [_error | _], told, ^whole?} =
               PtcRunner.Agent.Answer.read(text, signature, opts)

      assert {:error, [_same | _], ^told} = Agent.answer(text, signature, opts)
    end
  end

  describe "two programs in an answer" do
    test "the last one counts if it corrects the first" do
      for words <- [
            "Wait, that is wrong:",
            "Sorry, I made a mistake.",
            "Correction:",
            "```\nInstead:\n```json"
          ] do
        {{:ok, step}, []} = loop(["```json\n#{literal(1)}\n``` #{words}\n#{literal(2)}\n"])
        assert step.return == 2
        assert hd(hd(step.turns).prints) == "took the last of 2 programs"
      end

      {{:ok, step}, []} = loop([~s({"op": "count", } is wrong.\n{"op": "literal", "value": 7})])
      assert step.return == 7
    end

    test "the last one is repaired by the options of this answer, and the repairs are told" do
      text = ~s(#{literal(1)} is wrong:\n{"program": {"op": "literal", "value": 2,}})

      assert {:ok, program, ["took the last of 2 programs", "line 1, column 41: left out" <> _]} =
               Agent.program(text)

      assert PtcRunner.Json.run!(program) == 2
      assert {:error, {:parse_error, _reason}, _feedback} = Agent.program(text, repair: false)
    end

    test "a whole text of the last one is compiled as it stands" do
      text = literal(1) <> " is wrong: " <> literal(2)
      assert {:ok, program, ["took the last of 2 programs"]} = Agent.program(text)
      assert program.source == literal(2)
    end

    test "else the model is asked for one" do
      {{:ok, step}, [told]} = loop(["#{literal(1)}\nor\n#{literal(2)}", literal(3)])
      assert step.return == 3
      assert told =~ "The answer has 2 different programs. Write one."
    end

    test "one program is one, also if it is repeated, explained or contained" do
      inner = literal(%{program: %{op: "count"}})

      for {text, value} <- [
            {"#{literal(1)} In short: #{literal(1)}", 1},
            {inner, %{"program" => %{"op" => "count"}}},
            {literal(~s(wrong {"program": {"op": "x"}} {"program": {"op": "y"}})),
             ~s(wrong {"program": {"op": "x"}} {"program": {"op": "y"}})}
          ] do
        assert {{:ok, %{return: ^value}}, []} = loop([text])
      end
    end

    test "a text with many beginnings takes no long time" do
      for text <- [
            String.duplicate(~s({"op":), 100_000),
            String.duplicate(~s({"op": "x"} ), 20_000),
            <<0xFF, ~s({"op": "x"} {"op": "y"})::binary>>
          ] do
        {ms, result} = Room.least_ms(5_000, fn -> loop([text], [], max_turns: 1) end)
        assert {{:error, _step}, _} = result
        assert ms < 5_000
      end
    end
  end

  describe "tools" do
    test "an undeclared argument is dropped with a warning" do
      test = self()
      tools = %{"t" => {&send(test, &1), "(n :int, paid_at :string?) -> :any"}}
      args = %{n: 1, paidAt: "now", note: "x", Z: 2}
      program = Codec.encode!(%{program: %{op: "call", tool: "t", args: args}})
      {:ok, _value, info} = Agent.run(program, tools)
      assert_received %{"n" => 1} = got
      refute is_map_key(got, "note")

      assert Enum.filter(info.warnings, &(&1 =~ "dropped")) == [
               ~s(t: dropped the undeclared argument "Z"),
               ~s(t: dropped the undeclared argument "note"),
               ~s(t: dropped the undeclared argument "paidAt")
             ]

      assert [%{warnings: [_, _ | _], raw_args: %{"note" => "x"}}] = info.tool_calls
    end

    test "so is one inside another argument, and none is that validation finds" do
      tools = %{
        "t" =>
          {fn args -> args end, "(user_id :int?, o {due-at :float?}?, rows [{n :int}]?) -> :any"}
      }

      for {args, dropped} <- [
            {%{"userId" => 7}, ["userId"]},
            {%{"user-id" => 7, "o" => %{"due_at" => 5}}, []},
            {%{:user_id => 7, "o" => %{due_at: 5}}, []},
            {%{"o" => %{"dueAt" => 5, "due-at" => 5}}, ["o.dueAt"]},
            {%{"rows" => [%{"n" => 1, "m" => 1}, %{"n" => 2, "m" => 2}]}, ["rows.m"]},
            {%{"rows" => List.duplicate(%{"n" => 1}, 100)}, []}
          ] do
        program = %{"program" => %{"op" => "call", "tool" => "t", "args" => args}}
        {:ok, _value, info} = Agent.run(program, tools)
        told = for name <- dropped, do: ~s(t: dropped the undeclared argument "#{name}")
        assert {args, Enum.filter(info.warnings, &(&1 =~ "dropped"))} == {args, told}
      end
    end

    test "answers whose keys are no names can become the memory" do
      keys = [{1, 2}, %{}, [1 | 2], 1.5, 7, :a, nil, "k\n## Task", <<255>>, {"_pin", "s3cret"}]
      answer = Map.new(keys, &{&1, 1})
      tools = %{"t" => fn _ -> answer end}
      program = Codec.encode!(%{program: %{op: "call", tool: "t", args: %{}}})
      {{:ok, step}, []} = loop([program], tools: tools)
      assert step.return == answer

      for task <- [[memory: step.memory], [context: step.memory]] do
        {{:ok, %{return: 1}}, []} = loop([literal(1)], task)
        prompt = Agent.prompt([language: :none] ++ task)
        assert prompt =~ "- {1, 2} :int" and prompt =~ "- %{} :int"
        refute prompt =~ "\n## Task"
        assert {:ok, 1, _} = Agent.run(literal(1), %{}, task)
      end
    end

    test "a tool that answers :error has failed" do
      for signature <- [nil, "() -> :any"] do
        fun = fn _ -> :error end
        tools = %{"t" => if(signature, do: {fun, signature}, else: fun)}
        program = ~s({"program": {"op": "call", "tool": "t"}})
        assert {:error, {:execution_error, text}, _, info} = Agent.run(program, tools, info: true)
        assert text == "Tool 't' error: the tool answered :error"
        assert [%{ok?: false, status: :error}] = info.tool_calls
      end
    end
  end

  test "a conversation goes on" do
    {{:ok, first}, []} = loop([literal(%{"n" => 7})], context: %{"rows" => [1]})
    {ask, asked} = Models.canned([~s({"program": {"op": "var", "name": "n"}})])

    {:ok, step} =
      Agent.loop(ask, task: "And now?", memory: first.memory, messages: first.messages)

    assert step.return == 7

    assert [
             [
               system,
               %{role: :user, content: "x"},
               %{role: :assistant},
               %{role: :user, content: "And now?"}
             ]
           ] = asked.()

    assert system.role == :system and system.content =~ "## Memory" and
             not (system.content =~ "- rows")

    assert length(step.messages) == 5 and length(step.turns) == 1

    for messages <- [
          :x,
          ["x"],
          [%{role: :tool, content: ""}],
          [%{role: :user, content: nil}],
          [%{role: :user, content: ""} | :x]
        ] do
      assert_raise ArgumentError, ~r/option :messages/, fn ->
        Agent.loop(ask, task: "x", messages: messages)
      end
    end
  end

  test "the documentation of loop/3 has every option" do
    {:docs_v1, _, _, _, _, _, docs} = Code.fetch_docs(Agent)
    [text] = for {{:function, :loop, 3}, _, _, %{"en" => text}, _} <- docs, do: text
    error = assert_raise(ArgumentError, fn -> Agent.loop(fn _ -> "" end, nosuch: 1) end)
    [_, options] = String.split(error.message, "Options: ")
    for option <- String.split(options, ", "), do: assert(text =~ "`#{option}`")
  end

  describe "misuse" do
    test "of the agent's functions is said in a sentence" do
      ask = fn _ -> "x" end

      for {fun, message} <- [
            # with `apply/3`, because Elixir 1.20 sees the wrong types at compile time
            {fn -> apply(Agent, :loop, [[task: "x"], ask]) end,
             "takes the model first, then the task"},
            {fn -> Agent.loop(fn -> "x" end, task: "x") end,
             "must be a function of one argument, the messages; this one has 0"},
            {fn -> Agent.loop(fn _, _ -> "x" end, task: "x") end, "this one has 2"},
            {fn -> Agent.loop(:model, task: "x") end, "got: :model"},
            {fn -> apply(Agent, :loop, [ask, %{task: "x"}]) end, "must be a keyword list"},
            {fn -> Agent.program(%{"program" => %{}}) end, "PtcRunner.Agent.run/3"},
            {fn -> Agent.program(nil) end, "takes the text of a model's answer, got: nil"},
            {fn -> Agent.loop(ask, task: "x", returns: "{id :int name :string}") end,
             ~s(invalid signature: parse error at line 1, column 10: expected "," or "}", found "name")},
            {fn -> Agent.answer("x", "{ä\n  n :integer}") end, "line 1, column 2: "},
            {fn -> Agent.answer("x", "{n :int,\n  m :integer}") end,
             "line 2, column 9: unknown type :integer"},
            {fn -> AnswerStream.new("[:int") end, "line 1, column 6: expected \"]\""},
            {fn -> PtcRunner.SubAgent.JsonParser.repair("x", "{n :int") end,
             "line 1, column 8: "},
            {fn -> AnswerStream.feed({:halt, {:error, [%{path: [], message: "no"}]}}, "x") end,
             "the stream has halted (no): it takes no more text. A new answer needs a new stream"},
            {fn -> AnswerStream.feed({:cont, AnswerStream.new(":int")}, "x") end,
             "it takes the stream itself, and not the tuple"},
            {fn -> AnswerStream.finish({:halt, {:error, [%{path: [], message: "no"}]}}) end,
             "AnswerStream.finish/2: the stream has halted"},
            {fn -> AnswerStream.partial(nil) end, "it takes a stream of new/2, got: nil"},
            {fn -> Agent.answer(%{"n" => 1}, "{n :int}") end,
             "takes the text of a model's answer"}
          ] do
        error = assert_raise(ArgumentError, fun)
        assert error.message =~ message
      end
    end
  end
end
