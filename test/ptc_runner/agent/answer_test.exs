defmodule PtcRunner.Agent.AnswerTest do
  # Answers that are values: as they stand, coerced, repaired, refused.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent

  defp value(text, signature, opts \\ []) do
    {:ok, value, _warnings} = Agent.answer(text, signature, opts)
    value
  end

  test "what is right has no warnings" do
    for {text, signature, value} <- [
          {~s({"n": 1}), "{n :int}", %{"n" => 1}},
          {"So: ```json\n[1, 2]\n```", "[:int]", [1, 2]},
          {~s({"items": [1]}), "[:int]", [1]},
          {~s({"a": 1}), nil, %{"a" => 1}},
          {~s({"a-b": 1}), "{a_b :int}", %{"a_b" => 1}}
        ] do
      assert Agent.answer(text, signature) == {:ok, value, []}
    end
  end

  # In some releases of Elixir, DateTime.from_iso8601/1 raises for them.
  test "a time that is in another year than 9999 in UTC is no datetime" do
    alias PtcRunner.SubAgent.Loop.JsonHandler
    alias PtcRunner.SubAgent.Signature

    for time <- ["9999-12-31T23:59:59-05:00", "-9999-01-01T00:00:00+05:00"] do
      text = ~s({"at": "#{time}"})

      for types <- ["{at :datetime}", "{at :datetime?}", [at: {:one_of, [:datetime, :int], nil}]] do
        assert {:error, [%{message: message} | _], _feedback} = Agent.answer(text, types)
        assert message =~ "expected"
      end

      {:ok, signature} = Signature.parse("() -> {at :datetime}")
      assert JsonHandler.atomize_keys(%{"at" => time}, signature)[:at] == time

      assert {:error, _errors} =
               JsonHandler.validate_return(%{parsed_signature: signature}, %{at: time})

      assert {:error, _text} = Signature.Coercion.coerce(time, :datetime)
    end
  end

  test "numbers, texts and dates stand bare, in a fence, or in an object" do
    for text <-
          ["42", " 42\n", ~s({"value": 42}), ~s(It is {"value": 42}.)] ++
            ["```json\n42\n```", "```\n42```", "So:\n```json\n42\n```\nDone.", "```json42\n```"] do
      assert value(text, ":int") == 42
    end

    assert {:error, _errors, _feedback} = Agent.answer("```json\n42", ":int")

    assert value(~s("open"), ":string", enums: %{"" => ["open"]}) == "open"

    assert {:error, [%{message: "expected one of" <> _}], _} =
             Agent.answer(~s("x"), ":string", enums: %{"" => ["open"]})

    assert value(~s({"value": null}), ":int?") == nil
    assert value("null", ":int?") == nil
    assert value(~s("2026-05-03T09:14:00Z"), ":datetime") == ~U[2026-05-03 09:14:00Z]
  end

  test "an object stands bare where it is one of several types, or may be null" do
    union = {:signature, [], {:one_of, [{:map, [{"b", :int}]}, :string], nil}}
    described = {:signature, [], {:optional, {:where, {:map, [{"b", :int}]}, [description: "d"]}}}

    for signature <- ["{b :int}?", union, described] do
      assert Agent.answer(~s({"b": 1}), signature) == {:ok, %{"b" => 1}, []}
      assert Agent.answer(~s({"value": {"b": 1}}), signature) == {:ok, %{"b" => 1}, []}
      assert {:error, [_ | _], _feedback} = Agent.answer(~s({"b": "x"}), signature)
    end

    assert Agent.answer("null", "{b :int}?") == {:ok, nil, []}
    assert Agent.answer("{}", "{b :int}?") == {:ok, nil, []}
    assert Agent.answer(~s({"items": [1]}), "[:int]?") == {:ok, [1], []}
    assert Agent.answer("[1]", "[:int]?") == {:ok, [1], []}
  end

  test "a value in a fence that is no object or list is an error where one is expected" do
    for text <- ["42", "null", "true", ~s("x")],
        text <- ["```json\n#{text}\n```", "So:\n```\n#{text}\n```", text],
        type <- ["{a :int}", "{a :int?}", "[:int]", ":map", ":datetime", nil],
        opts <- [[], [coerce: false], [repair: false], [truncated: :complete]] do
      answer = Agent.answer(text, type, opts)
      assert {text, type, match?({:error, [_ | _], _}, answer)} == {text, type, true}
    end

    model = fn messages -> if length(messages) == 2, do: "```json5\n```", else: ~s({"a": 1}) end
    assert {:ok, step} = Agent.loop(model, task: "t", answer: :value, returns: "{a :int}")
    assert {step.return, length(step.turns)} == {%{"a" => 1}, 2}
  end

  test "slips are coerced, with warnings, or not" do
    text = ~s({"n": "4", "ok": "true"})
    assert {:ok, %{"n" => 4, "ok" => true}, [_, _]} = Agent.answer(text, "{n :int, ok :bool}")

    assert {:error, [_, _], _} =
             Agent.answer(text, "{n :int, ok :bool}", coerce: false, repair: false)
  end

  test "what is broken is repaired, with warnings, or not" do
    text = ~s({'n': 4 'userId': 7,})

    assert {:ok, %{"n" => 4, "user_id" => 7}, [_ | _]} =
             Agent.answer(text, "{n :int, user_id :int}")

    assert {:error, [%{path: [], message: "JSON parse error"}], feedback} =
             Agent.answer(text, "{n :int}", repair: false)

    assert feedback =~ "line 1, column 2"
  end

  test "broken and almost right" do
    text = ~s({"at": "2026-05-03T09:14:00+02:00", "n": "4",})
    assert %{"at" => ~U[2026-05-03 07:14:00Z], "n" => 4} = value(text, "{at :datetime, n :int}")
  end

  test "enumerations" do
    opts = [enums: %{"rows.status" => ["open", "closed"]}]
    signature = "{rows [{status :string}]}"
    assert %{"rows" => [_]} = value(~s({"rows": [{"status": "open"}]}), signature, opts)

    assert {:error, [%{path: ["rows", 1, "status"]}], feedback} =
             Agent.answer(~s({"rows": [{"status": "open"}, {"status": "opne"}]}), signature, opts)

    assert feedback =~ ~s(rows[1].status: expected one of "open", "closed", got "opne")

    assert_raise ArgumentError, ~r/Did you mean "rows.status"/, fn ->
      Agent.answer("{}", signature, enums: %{"row.status" => ["open"]})
    end
  end

  test "nothing found, nothing right" do
    assert {:error, [%{path: [], message: "No valid JSON found in response"}],
            "Error: No valid" <> _} = Agent.answer("I do not know.", "{n :int}")

    assert {:error, [%{path: [], message: _}], _} = Agent.answer("[1]", nil)
    assert {:error, [%{path: ["n"]}], _} = Agent.answer("{}", "{n :int}")
    assert {:error, [%{path: ["value"]}], _} = Agent.answer("\"x\"", ":int")
    assert_raise ArgumentError, fn -> Agent.answer("{}", "{n :integer}") end
  end

  test "limits end it" do
    text = String.duplicate("[", 100_000)
    assert {:error, [%{message: message}], _} = Agent.answer(text, "[:int]", max_heap: 1_000)
    assert message =~ "memory"
  end

  describe "programs" do
    test "out of prose and fences, wrapped, repaired" do
      node = ~s({"op": "literal", "value": 1})

      for text <- [
            ~s({"program": #{node}}),
            "Here:\n```json\n{\"program\": #{node}}\n```\nDone.",
            node,
            "I use [load] first: {\"program\": #{node}}",
            "```\n{\"program\": {\"op\": 'literal', \"value\": 1}\n```"
          ] do
        assert {:ok, program, _warnings} = Agent.program(text)
        assert PtcRunner.Json.run!(program) == 1
      end

      assert {:ok, _program, [~s(put the operation under "program")]} = Agent.program(node)
    end

    test "half a program is none" do
      whole =
        ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "a"}, {"op": "count"}]}})

      for size <- 1..(byte_size(whole) - 1) do
        assert {:error, {:parse_error, _}, feedback} = Agent.program(binary_part(whole, 0, size))
        assert feedback =~ "Write the whole program again"
      end
    end

    test "what is wrong" do
      assert {:error, {:parse_error, "No valid JSON found in response"}, _} =
               Agent.program("I cannot.")

      assert {:error, {:parse_error, message}, _} = Agent.program("[1, 2]")
      assert message =~ ~s({"program": NODE})
      assert {:error, {:parse_error, "Missing required field 'program'"}, _} = Agent.program("{}")

      assert {:error, {:parse_error, message}, _} =
               Agent.program(~s({"program": {"op": }}), repair: false)

      assert message =~ "line 1, column 20: unexpected }"

      assert {:error, {:validation_error, _}, _} =
               Agent.program(~s({"program": {"op": "take", "count": -1}}))
    end
  end

  test "programs that are cut off at any byte are errors, or the same program" do
    load = ~s({"op": "load", "name": "rows"})

    nodes = [
      ~s({"op": "pipe", "steps": [#{load}, {"op": "sort_by", "field": "a", "order": "desc"}, {"op": "take", "count": 12}]}),
      ~s({"a": {"op": "literal", "value": 12}, "b": {"op": "literal", "value": [1, 2]}}),
      ~s({"op": "get", "path": ["a", "b"], "default": 15}),
      ~s({"op": "sort_by", "field": "a", "order": "desc"}),
      ~s({"op": "call", "tool": "refund", "args": {"amount": 1250, "to": "x"}}),
      ~s({"op": "literal", "value": 1250})
    ]

    around = [
      {"", ""},
      {"", "\n"},
      {"```json\n", ""},
      {"```json\n", "\n```"},
      {"Here:\n```\n", "```\n"},
      {"", "```"},
      {"", " …"}
    ]

    # A bare object with several operations counts as several programs.
    for node <- nodes,
        text <- [node, ~s({"program": #{node}})],
        {:ok, %{source: whole}, _} <- [Agent.program(text)],
        {before, rest} <- around do
      for size <- 0..(byte_size(text) - 1) do
        cut = before <> binary_part(text, 0, size) <> rest

        # The source of a repaired program is a map.
        with {:ok, %{source: source}, _warnings} <- Agent.program(cut),
             do: assert(PtcRunner.Agent.Source.same?(source, whole), cut)
      end
    end

    assert {:ok, _program, [_]} = Agent.program(~s(```json\n{"program": #{load}\n```))
  end

  test "a program is compiled from its part of the text" do
    json =
      ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "n"}, {"op": "count"}]}})

    assert {:ok, %{source: ^json}, []} = Agent.program("So:\n```json\n#{json}\n```")
    # In a text, the brackets would count too.
    assert {:ok, %{source: %{}}, []} = Agent.program(json, max_depth: 3)
    assert {:ok, %{source: %{"program" => %{}}}, [_]} = Agent.program(~s({"op": "count"}))
  end

  test "Json.run says where prose and a fence stand before the program" do
    text = "Here it is:\n```json\n{\"program\": {\"op\": \"count\"}}\n```"

    for result <- [PtcRunner.Json.run(text), PtcRunner.Json.compile(text)] do
      assert {:error, {:parse_error, message}} = result
      assert message =~ "The program stands in a code fence: use PtcRunner.Agent.program/2"
    end
  end
end

defmodule PtcRunner.Agent.AnswerNativeCallsTest do
  # Tracing of native functions changes their code, which other tests should not call meanwhile.
  use ExUnit.Case, async: false

  alias PtcRunner.Agent

  alias PtcRunner.Native

  test "an answer that can be used, as it is or coerced, takes one native call" do
    signature = PtcRunner.SubAgent.Signature.parsed!("{n :int, name :string?}")
    all = for {name, arity} <- Native.__info__(:functions), do: {name, arity}

    for text <- [~s({"n": 1}), ~s(So: {"n": 1}.), ~s({"n": "1", "name": "x"}), ~s({"n": "1"})],
        do: assert({text, calls_of(text, signature, all)} == {text, [:answer_read]})

    rows = PtcRunner.SubAgent.Signature.parsed!("[{n :int, name :string?}]")
    text = ~s([{"n": "1"}, {"n": 2, "name": "x"}])
    assert calls_of(text, rows, all) == [:answer_read]
  end

  test "what a coercion in vain has built counts for no limit" do
    late = "[" <> Enum.map_join(1..100, ",", &~s("#{&1}")) <> ~s(,"x"])

    for timeout <- [5_000, :infinity] do
      assert {:error, [%{message: "Response takes too much memory to read"}], _feedback} =
               Agent.answer(late, "[:int]", max_heap: 1_000, timeout: timeout)
    end

    errors = fn max_heap -> Agent.answer(late, "[:int]", max_heap: max_heap) |> elem(1) end
    assert errors.(20_000) == errors.(0)
  end

  test "a field that a type has twice is coerced to both" do
    assert {:ok, %{"a" => 1.0}, [_to_integer, _to_float]} =
             Agent.answer(~s({"a": "1"}), "{a :int, a :float}")
  end

  test "an answer that cannot be used is searched once, and repaired once where JSON was found" do
    signature = PtcRunner.SubAgent.Signature.parsed!("{n :int, name :string?}")

    for {text, expected} <- [
          {~s(So: {"n": "x"}), [:answer_read, :repair_value]},
          {~s({"n": [1], "Name": "x"}), [:answer_read, :repair_value]},
          {"{n: x}", [:answer_read, :repair_value, :repair_value]},
          {~s({"n": 1}), [:answer_read]}
        ] do
      patterns = [answer_read: 7, answer_parse: 2, answer_find: 2, repair_value: 5]
      assert {text, calls_of(text, signature, patterns)} == {text, expected}
    end
  end

  defp calls_of(text, signature, patterns) do
    task =
      Task.async(fn ->
        receive do
          :go -> Agent.answer(text, signature)
        end
      end)

    for {name, arity} <- patterns, do: :erlang.trace_pattern({Native, name, arity}, true, [])
    :erlang.trace(task.pid, true, [:call])
    send(task.pid, :go)
    Task.await(task, 60_000)
    delivered = :erlang.trace_delivered(task.pid)
    assert_receive {:trace_delivered, _pid, ^delivered}
    for {name, arity} <- patterns, do: :erlang.trace_pattern({Native, name, arity}, false, [])
    calls()
  end

  defp calls do
    receive do
      {:trace, _pid, :call, {PtcRunner.Native, name, _args}} -> [name | calls()]
    after
      0 -> []
    end
  end
end
