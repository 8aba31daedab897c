defmodule PtcRunner.SubAgent.Loop.JsonHandlerRepairTest do
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.Test.Answers

  defp handle(text, signature, opts) do
    parsed =
      with text when is_binary(text) <- signature,
           {:ok, parsed} <- Signature.parse(text),
           do: parsed

    now = System.monotonic_time(:millisecond)
    state = %{Answers.state() | start_time: now, trace_mode: true}
    JsonHandler.handle_json_answer(text, Answers.agent(parsed), state, opts)
  end

  defp repaired(text, signature) do
    {:stop, {:ok, step}, turn, _tokens} = handle(text, signature, repair: true)
    assert turn.success?
    {step.return, Enum.map(Map.get(step.usage, :repairs, []), & &1.message)}
  end

  defp told(text, signature, opts) do
    {:continue, _state, turn} = handle(text, signature, opts)
    turn.result.error
  end

  test "off by default" do
    assert told(~s({"n": 1,}), "{n :int}", []) == "JSON parse error"
    assert told(~s({"n": 1,}), "{n :int}", repair: false) == "JSON parse error"
  end

  test "what was repaired stands in the usage" do
    assert repaired("Sure! {'n': 1 'm-x': \"a\"}", "{n :int, m_x :string}") ==
             {%{"n" => 1, "m_x" => "a"},
              [
                ~s(line 1, column 8: read ' as a double quote at "n"),
                ~s(line 1, column 14: added a comma after "n"),
                ~s(line 1, column 15: read ' as a double quote at "m-x")
              ]}
  end

  test "a right answer is as without" do
    for opts <- [[], [repair: true]] do
      {:stop, {:ok, step}, _turn, _tokens} = handle(~s({"n": 1}), "{n :int}", opts)
      assert step.return == %{"n" => 1}
      refute Map.has_key?(step.usage, :repairs)
    end
  end

  test "JSON of another type" do
    assert {%{"n" => 7}, [~s(line 1, column 8: coerced string "7" to a number at "n")]} =
             repaired(~s({"n": "7"}), "{n :int}")
  end

  test "lists, wrapped or not" do
    assert {[1, 2], [_]} = repaired("[1 2]", "[:int]")
    assert {[1, 2], [_]} = repaired(~s({"items": [1 2]}), "[:int]")
    assert {[%{"a" => 1}], [_]} = repaired(~s({"items": [{"a": 1,}]}), "[{a :int}]")
    assert {[%{"a" => 1}], [_]} = repaired(~s({"a": 1}), "[{a :int}]")
  end

  test "no signature, any type, dates" do
    assert {%{"a" => 1}, [_]} = repaired("{a: 1}", nil)
    assert {%{"a" => [nil]}, [_, _]} = repaired("{a: [None]}", ":any")

    assert {%{"at" => ~U[2026-05-03 09:14:00Z]}, [_]} =
             repaired(~s({"at": "2026-05-03T09:14:00Z",}), "{at :datetime}")

    assert told(~s({"at": "soon",}), "{at :datetime}", repair: true) =~ "at: expected datetime"
  end

  test "what is missing stays missing, and is told as ever" do
    assert told(~s({"n": 1,}), "{n :int, s :string}", repair: true) ==
             "s: expected field, got nil"

    assert told(~s({"n": 1}), "{n :int, s :string}", repair: true) ==
             "s: expected field, got nil"
  end

  test "what cannot be repaired" do
    assert told("I do not know.", "{n :int}", repair: true) == "No valid JSON found in response"
    assert told(~s({"n": }), "{n :int}", repair: true) == "JSON parse error"
    assert told(~s({"n": 1,} {"n": 2,}), "{n :int}", repair: true) == "JSON parse error"
  end
end
