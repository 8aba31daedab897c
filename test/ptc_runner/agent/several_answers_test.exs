defmodule PtcRunner.Agent.SeveralAnswersTest do
  # Of several answers in a text one counts, or none; what a model thinks is no answer.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent

  doctest PtcRunner.Agent.Around
  doctest PtcRunner.Agent.Parts
  doctest PtcRunner.Agent.Thinking
  doctest PtcRunner.Agent.Nearly

  defp read(text, type \\ "{t :int}"), do: Agent.answer(text, type)

  test "thinking is no answer" do
    for tag <- ["think", "thinking", "reasoning", "scratchpad"] do
      assert read(~s(<#{tag}>\n{"t": 1}?\n</#{tag}>\n{"t": 2})) == {:ok, %{"t" => 2}, []}

      assert read(~s(So: <#{tag}>{"t": 1</#{tag}>```json\n{"t": 2}\n```)) ==
               {:ok, %{"t" => 2}, []}

      assert {:error, _, _} = read(~s(<#{tag}>{"t": 1}</#{tag}> I do not know.))

      assert {:ok, %{"t" => "<think>1</think>"}, []} =
               read(~s({"t": "<think>1</think>"}), "{t :string}")

      program = ~s({"program": {"op": "literal", "value": 1}})

      assert {:ok, program, []} =
               Agent.program(~s(<#{tag}>{"program": {"op": "count"}}</#{tag}>#{program}))

      assert PtcRunner.Json.run!(program) == 1
    end
  end

  test "the last one after a correction counts, with a warning" do
    for words <- ["Correction:", "No, that is wrong:", "wait, I forgot one.\n"],
        last <- [~s({"t": 2}), ~s({'t': 2,})] do
      assert {:ok, %{"t" => 2}, ["took the last of 2 answers" | _]} =
               read(~s({"t": 1} #{words} #{last}))

      assert {:ok, %{"t" => 2}, ["took the last of 2 answers" | _]} =
               read("```json\n{\"t\": 1}\n```\n#{words}\n```json\n#{last}\n```")
    end
  end

  test "two different answers are an error that says so" do
    for between <- [" ", " or ", "\n", ". Answer: ", "\n```\n\n```json\n"] do
      text =
        if between =~ "```",
          do: "```json\n{\"t\": 1}#{between}{\"t\": 2}\n```",
          else: ~s({"t": 1}#{between}{"t": 2})

      assert {:error, [%{path: [], message: "The answer has 2 different values: write one"}],
              feedback} = read(text)

      assert feedback =~ "2 different values"
      assert {:error, [%{message: "The answer has 2 different values" <> _}], _} = read(text, nil)
    end

    # the same twice, one that does not fit, and one in a fence beside words
    assert read(~s({"t": 1} so {"t": 1})) == {:ok, %{"t" => 1}, []}
    assert read(~s({"x": 1} so {"t": 2})) == {:ok, %{"t" => 2}, []}
    assert read(~s(With {"t": 9} in mind:\n```json\n{"t": 2}\n```)) == {:ok, %{"t" => 2}, []}
    assert {:ok, [%{"t" => 1}, %{"t" => 2}], _} = read(~s({"t": 1}\n{"t": 2}), "[{t :int}]")
  end

  test "null is the default of a field that has one" do
    type =
      {:map,
       [
         {"n", {:optional, {:where, :int, [default: 5]}}},
         {"m", {:where, :int, [default: 6]}},
         {"o", {:optional, :int}}
       ]}

    signature = {:signature, [], type}

    assert {:ok, %{"n" => 5, "m" => 6, "o" => nil}, [_, _]} =
             read(~s({"n": null, "m": null, "o": null}), signature)

    assert {:ok, %{"n" => 5, "m" => 6}, []} = read(~s({}), signature)
    assert {:error, [%{path: ["o"]}], _} = read(~s({"n": null, "m": null, "o": "x"}), signature)
  end

  test "one object in a list, or under a key, is taken if nothing else fits" do
    assert read(~s([{"t": 1}])) == {:ok, %{"t" => 1}, ["took the only object of the list"]}

    assert read(~s({"Order": {"t": 1}})) ==
             {:ok, %{"t" => 1}, [~s(took the object under "Order")]}

    assert {:error, _, _} = read(~s([{"t": 1}, {"t": 1}]))
    assert {:error, _, _} = read(~s({"Order": {"x": 1}}))
    assert {:error, _, _} = read(~s({"Order": {"t": 1}, "Other": {"t": 2}}))
  end

  test "a number with grouping signs is one error, in quotes and without" do
    for number <- ["1,234", "12,345,678"], type <- ["int", "float"] do
      message = "expected #{type}, got string"

      for text <- [~s({"t": #{number}}), ~s({"t": "#{number}"})],
          do:
            assert({:error, [%{path: ["t"], message: ^message}], _} = read(text, "{t :#{type}}"))
    end
  end

  test "a datetime with more than six digits of a second is cut with a warning" do
    assert {:ok, %{"at" => ~U[2024-01-01 00:00:00.123456Z]}, [warning]} =
             read(~s({"at": "2024-01-01T00:00:00.1234567Z"}), "{at :datetime}")

    assert warning == ~s(cut "2024-01-01T00:00:00.1234567Z" to microseconds)
    assert {:ok, _, []} = read(~s({"at": "2024-01-01T00:00:00.123456Z"}), "{at :datetime}")
    assert {:ok, _, []} = read(~s({"at": "2024-01-01T00:00:00.1234567Z"}), "{at :string}")
  end
end
