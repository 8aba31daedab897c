defmodule PtcRunner.Agent.LoopTest do
  # A canned model: it gives one answer after the other, and keeps what it was asked with.
  use ExUnit.Case, async: true

  doctest PtcRunner.Agent.Look

  alias PtcRunner.Agent
  alias PtcRunner.Json.Codec

  defp model(answers) do
    {:ok, pid} = Elixir.Agent.start_link(fn -> {answers, []} end)

    ask = fn messages ->
      Elixir.Agent.get_and_update(pid, fn {[answer | answers], asked} ->
        {answer, {answers, [messages | asked]}}
      end)
    end

    {ask, fn -> pid |> Elixir.Agent.get(&elem(&1, 1)) |> Enum.reverse() end}
  end

  defp literal(value), do: Codec.encode!(%{program: %{op: "literal", value: value}})

  test "a right answer ends it" do
    {ask, asked} = model([literal(%{"n" => 1})])

    assert {:ok, step} =
             Agent.loop(ask, task: "Count.", context: %{"rows" => [1]}, returns: "{n :int}")

    assert {step.return, step.signature, step.fail} == {%{"n" => 1}, "-> {n :int}", nil}
    assert [[%{role: :system, content: prompt}, %{role: :user, content: "Count."}]] = asked.()
    assert prompt =~ "PTC-JSON" and prompt =~ "- rows [:int]" and prompt =~ "{n :int}"
    assert step.usage.turns == 1 and step.prompt == prompt and step.original_prompt == "Count."
  end

  test "each kind of mistake is told, and the whole transcript is kept" do
    answers = [
      "I would count them.",
      ~s({"program": {"op": "cuont"}}),
      ~s({"program": {"op": "call", "tool": "lokup", "args": {}}}),
      ~s({"program": {"op": "call", "tool": "lookup", "args": {"id": "x"}}}),
      literal("one"),
      "```json\n#{literal(1)}\n```"
    ]

    {ask, asked} = model(answers)
    tools = %{"lookup" => {& &1, "(id :int) -> :any"}}
    {:ok, step} = Agent.loop(ask, [task: "Count.", tools: tools, returns: ":int"], max_turns: 6)

    assert step.return == 1
    told = for messages <- tl(asked.()), do: List.last(messages).content

    for {text, part} <-
          Enum.zip(told, [
            "No valid JSON found",
            "Did you mean 'count'?",
            "Did you mean 'lookup'?",
            "Argument 'id' of tool 'lookup' must be :int, and is \"x\"",
            "expected integer, got string \"one\""
          ]) do
      assert text =~ part
    end

    assert List.last(told) =~ "This is your last turn"
    assert Enum.map(step.turns, & &1.raw_response) == answers
    assert Enum.map(step.turns, & &1.success?) == [false, false, false, false, false, true]
    assert step.tool_calls == []
    assert length(step.messages) == 2 + 6 + 5
  end

  test "the budget ends it" do
    {ask, _asked} = model(List.duplicate("no", 3))
    assert {:error, step} = Agent.loop(ask, [task: "x"], max_turns: 3)
    assert %{reason: :max_turns, message: message} = step.fail
    assert message =~ "No valid JSON" and length(step.turns) == 3
  end

  test "an error of the model ends it" do
    assert {:error, %{fail: %{reason: :model_error, message: ":overloaded"}}} =
             Agent.loop(fn _ -> {:error, :overloaded} end, task: "x")

    assert_raise ArgumentError, ~r/must answer with a text/, fn ->
      Agent.loop(fn _ -> :nothing end, task: "x")
    end
  end

  test "texts of any kind use up the budget, and none is kept beyond its limit" do
    texts =
      ["", " ", <<255, 254>>, "[", String.duplicate("[", 10_000_000)] ++
        [
          String.duplicate("x", 10_000_000),
          ~s({"program": {"op": "l\xff"}}),
          ~s({"program": {"look": 1}})
        ]

    for text <- texts, answer <- [:program, :value] do
      ask = fn messages -> if(hd(messages).role == :system, do: text) end
      task = [task: "x", answer: answer, returns: ":int"]
      assert {:error, step} = Agent.loop(ask, task, max_turns: 3)
      assert %{reason: :max_turns, message: message} = step.fail
      assert is_binary(message) and byte_size(message) < 1_000
      assert [%{number: 1}, %{number: 2}, %{number: 3}] = step.turns
      assert length(step.messages) == 2 + 3 + 2
      assert :erlang.external_size(step) < 100_000
      assert {:ok, _log} = step |> Codec.encode!() |> Codec.decode()
    end
  end

  test "an answer that is too long is told, and its beginning is kept" do
    {ask, asked} = model([String.duplicate("x", 301), literal(7)])
    assert {:ok, %{return: 7} = step} = Agent.loop(ask, [task: "x"], max_bytes: 300)
    assert [_system, _user, head, told] = List.last(asked.())
    assert head.content =~ "xxx" and byte_size(head.content) < 350
    assert told.content =~ "Your answer has 301 bytes, and may have 300."
    assert [%{success?: false, raw_response: kept}, %{success?: true}] = step.turns
    assert kept == head.content
  end

  test "what a model counted may be missing, and may be huge" do
    for {usage, sum} <- [
          {nil, nil},
          {%{}, nil},
          {[tokens: 3], 6},
          {%{:tokens => 1.7e308, "x" => "y"}, 1.7e308}
        ] do
      {ask, _asked} = model([{:ok, "no", usage}, {:ok, literal(1), usage}])
      assert {:ok, step} = Agent.loop(ask, task: "x")
      assert step.usage[:tokens] == sum
    end

    for usage <- [5, [1 | 2], [1], "tokens"] do
      assert_raise ArgumentError, ~r/usage must be a map/, fn ->
        Agent.loop(fn _ -> {:ok, "no", usage} end, task: "x")
      end
    end
  end

  test "looking at something, and memory between turns" do
    answers = [
      ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"},
         {"look": {"op": "first"}, "n": {"op": "count"}}]}}),
      ~s({"program": {"op": "var", "name": "n"}})
    ]

    {ask, asked} = model(answers)

    assert {:ok, step} =
             Agent.loop(ask,
               task: "x",
               context: %{"rows" => [%{"a" => 1}, %{"a" => 2}]},
               returns: ":int"
             )

    assert step.return == 2
    assert step.memory == %{"n" => 2}

    assert List.last(List.last(asked.())).content ==
             ~s(You looked at: {"a":1}\nKept in memory: n.\nYou have 4 turns left.)

    assert [%{success?: true, result: %{"a" => 1}}, %{success?: true, result: 2}] = step.turns
  end

  test "memory that is given, and tokens that are counted" do
    {ask, _asked} =
      model([
        {:ok, "no", %{input_tokens: 5}},
        {:ok, ~s({"program": {"op": "var", "name": "n"}}), %{input_tokens: 7, model: "m"}}
      ])

    assert {:ok, %{return: 9} = step} = Agent.loop(ask, task: "x", memory: %{"n" => 9})
    assert step.usage.input_tokens == 12
  end

  test "values instead of programs" do
    {ask, asked} = model([~s({"n": []}), ~s({"n": "4"})])

    assert {:ok, %{return: %{"n" => 4}}} =
             Agent.loop(ask, task: "x", answer: :value, returns: "{n :int}")

    [[%{content: prompt} | _] | _] = asked.()
    refute prompt =~ "PTC-JSON"
    assert prompt =~ "Answer with JSON, and nothing else, that fits {n :int}"
  end

  test "limits are those of the run, in each turn" do
    forever = %{"t" => fn _ -> Process.sleep(:infinity) end}

    {ask, _asked} =
      model(List.duplicate(~s({"program": {"op": "call", "tool": "t", "args": {}}}), 2))

    assert {:error, step} =
             Agent.loop(ask, [task: "x", tools: forever], max_turns: 2, timeout: 20)

    assert step.fail.message =~ "TimeoutError: execution exceeded 20ms limit"
  end

  test "options are checked before the model is asked" do
    ask = fn _ -> flunk() end

    assert_raise ArgumentError, ~r/Did you mean :returns/, fn ->
      Agent.loop(ask, retruns: ":int")
    end

    assert_raise ArgumentError, ~r/:max_turns/, fn ->
      Agent.loop(ask, [task: "x"], max_turns: 0)
    end

    assert_raise ArgumentError, fn -> Agent.loop(ask, task: "x", returns: "{n :integer}") end
  end

  test "steps and turns are written as JSON" do
    {ask, _asked} = model([~s({"program": {"op": "call", "tool": "t", "args": {"a": 1}}})])

    {:ok, step} =
      Agent.loop(ask, task: "x", tools: %{"t" => fn _ -> {:ok, %{pid: self(), at: {1, 2}}} end})

    json = step |> Codec.encode!() |> Codec.decode!()

    assert %{"return" => %{"at" => [1, 2], "pid" => "#PID" <> _}, "usage" => %{"turns" => 1}} =
             json

    assert [%{"number" => 1, "success?" => true, "tool_calls" => [%{"name" => "t"}]}] =
             json["turns"]

    refute is_map_key(json, "fail")
    {:error, error} = Codec.decode("[1,]")

    assert Codec.encode!(error) |> Codec.decode!() == %{
             "error" => "unexpected_token",
             "position" => 3,
             "message" => "Unexpected token at position 3"
           }
  end
end
