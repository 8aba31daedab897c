defmodule PtcRunner.SubAgent.Loop.JsonHandlerTest do
  # What the vectors do not have: structs of an app, detailed feedback, many errors, odd terms.
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.{Definition, KeyNormalizer}
  alias PtcRunner.SubAgent.Loop.{JsonHandler, Metrics, Shared}
  alias PtcRunner.{Step, Turn}
  alias PtcRunner.Test.Answers

  doctest JsonHandler
  doctest KeyNormalizer
  doctest Metrics
  doctest Shared
  doctest Step
  doctest Turn
  doctest Definition

  @rows {:signature, [],
         {:map, [{"results", {:list, {:map, [{"id", :int}, {"name", :string}]}}}]}}

  defmodule App do
    defstruct [:parsed_signature, :max_turns, :field_descriptions, :own]
  end

  defp feedback(content, signature, opts) do
    {:continue, state, _turn} =
      JsonHandler.handle_json_answer(content, Answers.agent(signature), Answers.state(), opts)

    List.last(state.messages).content
  end

  describe "agents and states" do
    test "may be structs of this library or of an app" do
      for agent <- [
            %Definition{parsed_signature: @rows, field_descriptions: %{"id" => "number"}},
            %App{parsed_signature: @rows, max_turns: 1, field_descriptions: %{"id" => "number"}}
          ] do
        answer = JsonHandler.handle_json_answer(~s({"results": []}), agent, Answers.state())
        assert {:stop, {:ok, %Step{} = step}, %Turn{success?: true}, nil} = answer
        assert step.return == %{"results" => []}
        assert step.field_descriptions == %{"id" => "number"}
      end
    end

    test "without a signature raise where it is asked for" do
      state = Answers.state()

      for {content, exception} <- [{"{}", KeyError}, {"[]", KeyError}] do
        assert_raise exception, fn ->
          JsonHandler.handle_json_answer(content, %{max_turns: 1}, state)
        end
      end

      assert {:stop, {:error, _}, _, _} =
               JsonHandler.handle_json_answer("none", %{max_turns: 1}, state)
    end
  end

  describe "feedback: :detailed" do
    test "says where the JSON is wrong" do
      content = "Here:\n{\"results\": [\n  {\"id\": 1, \"näme\": }\n]}"

      assert feedback(content, @rows, feedback: :detailed) == """
             Error: JSON parse error
             - line 3, column 21: unexpected } after {"id": 1, "näme":\s
             Please return a valid JSON object matching the expected output format.\
             """

      assert feedback(~s({"results": [), @rows, feedback: :detailed) =~
               "- line 1, column 14: the text ends inside the JSON after {\"results\": ["
    end

    test "says what is wrong with which value" do
      content = ~s({"results": [{"id": "abc", "name": "x"}, {"name": 7}]})

      assert feedback(content, @rows, feedback: :detailed) == """
             Error: 3 values do not match the expected output format
             - results[0].id: expected integer, got string "abc"
             - results[1].id: expected field, got nil
             - results[1].name: expected string, got integer 7
             Please return a valid JSON object matching the expected output format.\
             """

      list = {:signature, [], {:list, :int}}

      assert feedback(~s({"items": [1, "2"]}), list, feedback: :detailed) =~
               ~s(- [1]: expected integer, got string "2")
    end

    test "shows twenty errors of many" do
      content = ~s({"results": [#{Enum.map_join(1..25, ",", fn _ -> "{}" end)}]})
      text = feedback(content, @rows, feedback: :detailed)
      assert length(String.split(text, "\n")) == 23
      assert text =~ "Error: 50 values do not match"
      assert text =~ "\n- and 30 more\n"
    end

    test "has nothing to add where there is no JSON, or JSON of another kind" do
      for content <- ["none", "```42```", "[1]"] do
        assert feedback(content, @rows, feedback: :detailed) == feedback(content, @rows, [])
      end
    end

    test "leaves the word to the app's function" do
      opts = [feedback: :detailed, build_error_feedback: fn error, _ -> "app: #{error}" end]
      assert feedback("none", @rows, opts) == "app: No valid JSON found in response"
    end
  end

  describe "answers that are not ordinary" do
    test "ten thousand errors" do
      rows = Enum.map_join(1..10_000, ",", fn n -> ~s({"id":"#{n}","name":"x"}) end)
      agent = Answers.agent(@rows)

      {:continue, _state, turn} =
        JsonHandler.handle_json_answer(~s({"results":[#{rows}]}), agent, Answers.state())

      errors = String.split(turn.result.error, "; ")
      assert length(errors) == 10_000
      assert List.last(errors) == "results.9999.id: expected int, got string"
    end

    test "no key becomes an atom or a struct" do
      content =
        ~s({"__struct__": "Elixir.DateTime", "no atom of this name 3": {"__struct__": null}})

      agent = Answers.agent({:signature, [], :map})
      {:stop, {:ok, step}, _, _} = JsonHandler.handle_json_answer(content, agent, Answers.state())

      assert step.return == %{
               "__struct__" => "Elixir.DateTime",
               "no atom of this name 3" => %{"__struct__" => nil}
             }

      assert_raise ArgumentError, fn ->
        String.to_existing_atom("no atom of this " <> "name 3")
      end
    end

    test "hyphens become underscores, and the string counts before the atom" do
      # :"user_id" exists, "user-id" is no atom unless a test made it one
      agent = Answers.agent({:signature, [], :any})
      content = ~s({"no-such atom 9": 1, "rows-x": [{"user_id": 1}]})
      {:stop, {:ok, step}, _, _} = JsonHandler.handle_json_answer(content, agent, Answers.state())
      assert step.return == %{"no_such atom 9" => 1, "rows_x" => [%{"user_id" => 1}]}
    end

    test "several keys that a closed map must not have" do
      agent = Answers.agent({:signature, [], {:closed_map, [{"id", :int}]}})
      content = ~s({"zz no atom": 1, "ok": 2, "id": 3})
      {:continue, _, turn} = JsonHandler.handle_json_answer(content, agent, Answers.state())
      assert turn.result.error =~ ~r/\Azz no atom: unexpected field .*; ok: unexpected field/
    end

    test "types that are deep, and values that are" do
      deep = fn inner, levels ->
        Enum.reduce(1..levels, inner, fn _, type -> {:list, type} end)
      end

      content = String.duplicate("[", 10_000) <> "1" <> String.duplicate("]", 10_000)
      agent = Answers.agent({:signature, [], deep.(:int, 10_000)})

      assert {:stop, {:ok, _}, _, _} =
               JsonHandler.handle_json_answer(content, agent, Answers.state())

      agent = Answers.agent({:signature, [], deep.(:string, 10_000)})

      assert {:continue, _, turn} =
               JsonHandler.handle_json_answer(content, agent, Answers.state())

      assert String.ends_with?(turn.result.error, ": expected string, got int")
    end
  end

  describe "atomize_value/2 and atomize_keys/2 of structs" do
    @types [
      :any,
      nil,
      :int,
      :datetime,
      {:map, []},
      {:closed_map, []},
      {:list, :int},
      {:optional, {:map, []}}
    ]

    test "a struct that enumerates pairs is the map of them" do
      pairs = MapSet.new([{"name", 1}, {2, %{"name" => [MapSet.new([{"name", 3}])]}}])
      made = %{:name => 1, 2 => %{name: [%{name: 3}]}}

      for type <- @types do
        assert {type, JsonHandler.atomize_value(pairs, type)} == {type, made}
        assert JsonHandler.atomize_value(MapSet.new(), type) == %{}
      end

      type = {:map, [{"name", :datetime}]}
      at = MapSet.new([{"name", "2024-02-29T00:00:00Z"}])
      assert JsonHandler.atomize_value(at, type) == %{name: ~U[2024-02-29 00:00:00Z]}
      assert JsonHandler.atomize_keys(at, nil) == %{name: "2024-02-29T00:00:00Z"}
    end

    test "what is no pair has no clause, and what enumerates nothing is no Enumerable" do
      for {struct, error} <- [
            {MapSet.new([1]), FunctionClauseError},
            {MapSet.new([{1, 2, 3}]), FunctionClauseError},
            {1..3, FunctionClauseError},
            {Date.range(~D[2024-02-28], ~D[2024-02-29]), FunctionClauseError},
            {~D[2024-02-29], Protocol.UndefinedError},
            {~r/x/, Protocol.UndefinedError},
            {%URI{}, Protocol.UndefinedError},
            {%{__struct__: NoModule, a: 1}, Protocol.UndefinedError}
          ],
          type <- @types do
        assert_raise error, fn -> JsonHandler.atomize_value(struct, type) end
        assert_raise error, fn -> JsonHandler.atomize_value([%{"a" => struct}], type) end
        assert_raise error, fn -> JsonHandler.atomize_keys(struct, nil) end
      end
    end
  end

  describe "format_validation_errors/1" do
    test "writes many as it writes one" do
      error = %{path: ["a", 0, "grün"], message: "m"}
      one = JsonHandler.format_validation_errors([error])
      many = JsonHandler.format_validation_errors(List.duplicate(error, 20_000))
      assert many == Enum.join(List.duplicate(one, 20_000), "; ")
    end

    test "takes what enumerates and what is a string" do
      assert JsonHandler.format_validation_errors([%{path: [:a, nil, 2 ** 70], message: :oops}]) ==
               "a..#{2 ** 70}: oops"

      assert_raise FunctionClauseError, fn ->
        JsonHandler.format_validation_errors([%{path: []} | []])
      end
    end
  end
end
