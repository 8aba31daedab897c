defmodule PtcRunner.SubAgent.JudgedTest do
  @moduledoc "Rules hold for the value as it was given: before keys become atoms, and before integers become floats."
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.SubAgent.{AnswerStream, Signature}
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.Signature.Coercion
  alias PtcRunner.Test.Answers

  @object %{"kind" => 100, "c" => 0}
  @member {:where, :any, [enum: [@object, [@object]]]}
  # Both names are atoms, and the third is none.
  @atoms [:kind, :c]
  @text ~s({"v": {"c": 0, "kind": 100}})
  @wrong ~s({"v": {"c": 1, "kind": 100, "no atom of the judged test": 1}})

  defp finish(type, text) do
    {:cont, stream} =
      AnswerStream.feed(AnswerStream.new({:signature, [], type}, halt: :certain), text)

    AnswerStream.finish(stream)
  end

  defp handled(type, text) do
    agent = %{Answers.agent({:signature, [], type}) | max_turns: 1}
    state = %{Answers.state() | remaining_turns: 0}
    {:stop, {outcome, step}, _turn, _tokens} = JsonHandler.handle_json_answer(text, agent, state)
    {outcome, if(outcome == :ok, do: step.return, else: step.fail.message)}
  end

  describe "enumerations of objects" do
    # Of each kind: the type of "v". Beside a date, Elixir judges the answer.
    @kinds [
      @member,
      {:optional, @member},
      {:where, :map, [enum: [@object]]},
      {:where, {:map, [{"c", :int}, {"kind", :int}]}, [enum: [@object]]},
      {:ref, "S"},
      {:where, {:ref, "Any"}, [enum: [@object]]},
      {:one_of, [@member, :int], nil},
      {:one_of, [{:map, [{"c", :date}]}, {:ref, "S"}], nil}
    ]

    test "are judged by the keys of the text, whichever atoms exist" do
      for atom <- @atoms, do: assert(String.to_existing_atom(Atom.to_string(atom)) == atom)

      for type <- @kinds, date <- [[], [{"d", {:optional, :date}}]] do
        type = {:defs, %{"S" => @member, "Any" => :any}, {:map, [{"v", type} | date]}}
        assert {type, finish(type, @text)} == {type, {:ok, %{"v" => @object}}}
        assert {type, handled(type, @text)} == {type, {:ok, %{"v" => @object}}}
        assert {:ok, %{"v" => @object}, []} = Agent.answer(@text, {:signature, [], type})

        # Keys that become equal with underscores.
        assert {:ok, %{"v" => @object}} =
                 finish(type, String.replace(@text, "{\"v\"", ~s({"x-y": 1, "x_y": 1, "v")))

        assert {:error, [error]} = finish(type, @wrong)
        refute error.message =~ "kind: 100"
        assert {:error, line} = handled(type, @wrong)
        refute line =~ "kind: 100"
      end
    end

    test "in lists, in maps of a type, and as lists" do
      date = {"d", {:optional, :date}}

      for {type, text} <- [
            {{:list, @member}, ~s([{"c": 0, "kind": 100}, [{"kind": 100, "c": 0}]])},
            {{:map_of, @member}, ~s({"x": {"c": 0, "kind": 100}})},
            {{:one_of, [{:list, :date}, @member], nil}, ~s([{"c": 0, "kind": 100}])}
          ] do
        text = ~s({"v": #{text}})
        type = {:map, [{"v", type}, date]}
        assert {type, finish(type, text)} == {type, {:ok, PtcRunner.Json.Codec.decode!(text)}}
      end
    end

    test "keys with hyphens are compared as they stand" do
      type = {:map, [{"v", {:where, :any, [enum: [%{"a-b" => 1}]]}}, {"d", {:optional, :date}}]}
      assert {:ok, %{"v" => _}} = finish(type, ~s({"v": {"a-b": 1}}))
      assert {:error, [_]} = finish(type, ~s({"v": {"a_b": 1}}))
    end

    test "an enumeration with atoms as keys takes them" do
      type = {:map, [{"v", {:where, :any, [enum: [%{kind: 100}]]}}, {"d", {:optional, :date}}]}
      assert finish(type, ~s({"v": {"kind": 100}})) == {:ok, %{"v" => %{"kind" => 100}}}
    end

    test "many keys, deep values and structs" do
      deep = Enum.reduce(1..1_000, 1, fn _, inner -> %{"kind" => [inner]} end)
      wide = Map.new(1..10_000, &{"k#{&1}", &1})
      type = {:map, [{"v", {:where, :any, [enum: [deep, wide]]}}, {"d", {:optional, :date}}]}

      for value <- [deep, wide] do
        text = PtcRunner.Json.Codec.encode!(%{"v" => value})
        assert {:ok, %{"v" => ^value}} = finish(type, text)
      end

      assert JsonHandler.atomize_value(%{kind: %{c: 0}}, {:where, :any, [enum: [1]]}) ==
               %{"kind" => %{"c" => 0}}
    end
  end

  describe "defaults, structs and decimals" do
    @unit {:where, :string, [default: "kg"]}

    test "are those of Agent.answer/3" do
      range = {:struct, Range, {:map, [{"first", :int}, {"last", :int}]}}

      for {type, text} <- [
            {{:map, [{"n", :int}, {"unit", @unit}]}, ~s({"n": 3})},
            {{:map, [{"n", :int}, {"unit", {:optional, @unit}}]}, ~s({"n": 3})},
            {{:list, {:map, [{"n", :float}, {"unit", @unit}]}},
             ~s([{"n": 3}, {"unit": "g", "n": 1}])},
            {{:map, [{"r", range}]}, ~s({"r": {"first": 1, "last": 2}})},
            {{:map, [{"p", :decimal}, {"unit", @unit}]}, ~s({"p": "1.50", "more": 1})},
            {{:map, [{"at", :date}, {"unit", @unit}]}, ~s({"at": "2024-02-29"})},
            {{:map, [{"n", :int}]}, ~s({"n": 3, "more": 1})}
          ] do
        assert {:ok, value, []} = Agent.answer(text, {:signature, [], type})
        assert {type, finish(type, text)} == {type, {:ok, value}}
        assert {type, handled(type, text)} == {type, {:ok, value}}
      end
    end

    test "texts are still no numbers" do
      type = {:map, [{"n", :int}, {"unit", @unit}]}

      assert finish(type, ~s({"n": "3"})) ==
               {:error, [%{path: ["n"], message: "expected int, got string"}]}
    end

    test "validate_and_complete/5 fills them too" do
      {:signature, _, _} =
        signature = Signature.annotate!("{n :int, unit :string}", "unit", default: "kg")

      assert {:ok, %{"unit" => "kg"}} = handled(elem(signature, 2), ~s({"n": 1}))
    end
  end

  describe "integers that no float is equal to" do
    @odd 9_007_199_254_740_993

    test "stay integers where rules hold for them" do
      for rules <- [[multiple_of: 3], [min: @odd], [max: @odd], [enum: [@odd]]],
          n <- [@odd, -@odd],
          type = {:where, :float, rules} do
        valid? = Signature.validate({:signature, [], type}, n) == :ok

        case Coercion.coerce(n, type) do
          {:ok, value, warnings} ->
            assert {type, n, valid?, value, warnings} === {type, n, true, n, []}
            assert Coercion.coerce([value], {:list, type}) === {:ok, [n], []}

          {:error, error} ->
            assert {type, n, valid?} == {type, n, false}
            assert error =~ "got #{n}"
        end
      end
    end

    test "of any size" do
      type = {:where, :float, [min: 0]}

      for bits <- [53, 62, 63, 64, 65, 128, 1_000, 1_022] do
        exact = Integer.pow(2, bits)
        assert Coercion.coerce(exact, type) === {:ok, :math.pow(2, bits), []}
        assert Coercion.coerce(exact + 1, type) === {:ok, exact + 1, []}
        assert {:error, "expected at least 0" <> _} = Coercion.coerce(-exact - 1, type)
      end

      for n <- [Integer.pow(2, 1_024) - 1, Integer.pow(10, 5_000)],
          do: assert({:error, "cannot coerce to float"} = Coercion.coerce(n, type))
    end

    test "others become floats, and so does each without a rule for numbers" do
      assert Coercion.coerce(3, {:where, :float, [multiple_of: 3]}) === {:ok, 3.0, []}
      assert Coercion.coerce(@odd, {:where, :float, [description: "n"]}) === {:ok, @odd * 1.0, []}
      assert Coercion.coerce(@odd, :float) === {:ok, @odd * 1.0, []}
    end
  end
end
