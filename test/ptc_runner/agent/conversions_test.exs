defmodule PtcRunner.Agent.ConversionsTest do
  # The rules by which a value of valid JSON is converted at its place, at each kind of place: nothing else is converted.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.SubAgent.Signature.Type

  doctest Type
  doctest PtcRunner.Agent.Answer
  doctest PtcRunner.SubAgent.JsonRepair.Names
  doctest PtcRunner.Agent.Answer.Asked
  doctest PtcRunner.Agent.Answer.Told

  @object {:map, [{"b", :int}]}

  # A type, the text of a value, and what it becomes.
  @converted [
    # the text of the digits of a number
    {:string, "17", "17"},
    {:string, "1.50", "1.50"},
    {:string, "-0.0", "-0.0"},
    {:string, "1E+3", "1E+3"},
    {:string, "123456789012345678901234567890", "123456789012345678901234567890"},
    # a text that is a number or a boolean
    {:int, ~s("7"), 7},
    {:int, ~s("-7"), -7},
    {:int, ~s("123456789012345678901"), 123_456_789_012_345_678_901},
    {:float, ~s("2.5"), 2.5},
    {:bool, ~s("true"), true},
    {:bool, ~s("false"), false},
    # a text that is a list or an object
    {{:list, :int}, ~s("[1, 2]"), [1, 2]},
    {@object, ~S("{\"b\": 1}"), %{"b" => 1}},
    # a value where a list is declared
    {{:list, :int}, "3", [3]},
    {{:list, :string}, ~s("a, b"), ["a, b"]},
    {{:list, :bool}, "false", [false]},
    {{:list, @object}, ~s({"b": 1}), [%{"b" => 1}]},
    # a key in another spelling
    {{:map, [{"user_id", :int}]}, ~s({"userId": 1}), %{"user_id" => 1}},
    {{:map, [{"user_id", {:optional, :int}}]}, ~s({"User ID": 1}), %{"user_id" => 1}},
    # the only object of a list
    {@object, ~s([{"b": 1}]), %{"b" => 1}},
    # null for a default
    {{:map, [{"n", {:where, :int, [default: 5]}}]}, ~s({"n": null}), %{"n" => 5}}
  ]

  # A type, and the text of a value that is none of it.
  @wrong [
    {:string, "true"},
    {:string, "{}"},
    {:string, "[]"},
    {:string, ~s(["a"])},
    {:string, ~s({"k": "v", "l": "\\": \\""})},
    {:int, "7.5"},
    {:int, "7.0"},
    {:int, ~s("7.5")},
    {:int, ~s("7 apples")},
    {:int, ~s("7%")},
    {:int, ~s(" 7 ")},
    {:bool, ~s("True")},
    {:int, ~s("1,234")},
    {:int, ~s("1_234")},
    {:int, ~s("")},
    {:int, "true"},
    {:int, "[7]"},
    {:int, "{}"},
    {:float, ~s("1/2")},
    {:float, ~s("1,5")},
    {:bool, "1"},
    {:bool, ~s("yes")},
    {:bool, ~s("1")},
    {{:list, :int}, ~s("1, 2")},
    {{:list, :int}, ~s(["x"])},
    {{:list, :int}, ~s([[1]])},
    {@object, ~s("b")},
    {@object, "[]"},
    {@object, ~s([{"b": 1}, {"b": 1}])},
    {:date, ~s("2024-02-30")},
    {:date, "20240229"},
    {:datetime, ~s("soon")},
    {{:map, [{"user_id", :int}]}, ~s({"userId": 1, "userID": 2})}
  ]

  test "a value is converted by these rules, wherever it stands" do
    for {type, text, value} <- @converted,
        list? <- [match?({:list, _type}, type)],
        {place, type, text, value} <- places(type, text, value),
        {layout, text} <- layouts(text),
        # What stands around an object is removed from valid JSON only.
        layout not in [:comma, :comment] or not (text =~ ~s([{"b": 1}]) and not list?) do
      case Agent.answer(text, {:signature, [], type}) do
        {:ok, ^value, [_ | _]} ->
          :ok

        # A value of another kind does not tell which type of a union is meant.
        {:error, [_ | _], _feedback} when place == :union ->
          :ok

        other ->
          flunk("#{place}, #{layout}: #{text}\nfor #{inspect(type)}\ngives #{inspect(other)}")
      end
    end
  end

  test "every other difference is an error of the type, wherever it stands" do
    for {type, text} <- @wrong,
        {place, type, text, _value} <- places(type, text, nil),
        {layout, text} <- layouts(text) do
      case Agent.answer(text, {:signature, [], type}) do
        {:error, [_ | _], _feedback} ->
          :ok

        other ->
          flunk("#{place}, #{layout}: #{text}\nfor #{inspect(type)}\ngives #{inspect(other)}")
      end
    end
  end

  test "the neighbours of what is converted or wrong stay as they are" do
    type = {:map, [{"a", :string}, {"b", :string}, {"c", {:list, :string}}]}
    text = ~s({"a": 17, "b": "x, \\"c\\": 5", "c": ["}", "]", 1.0]})

    assert {:ok, %{"a" => "17", "b" => ~s(x, "c": 5), "c" => ["}", "]", "1.0"]}, [_ | _]} =
             Agent.answer(text, {:signature, [], type})

    text = ~s({"a": {"d": "x"}, "b": "y", "c": []})
    assert {:error, [%{path: ["a"]}], _} = Agent.answer(text, {:signature, [], type})
  end

  test "each kind of type has its children, and a map of them that does nothing" do
    types = [
      :int,
      {:optional, :int},
      {:list, :int},
      {:map_of, :int},
      {:map, [{"a", :int}, {"b", :string}]},
      {:closed_map, [{"a", :int}]},
      {:where, :int, [min: 1]},
      {:struct, Range, {:map, [{"first", :int}]}},
      {:one_of, [:int, :string], nil},
      {:defs, %{"T" => {:list, :int}}, {:ref, "T"}},
      {:ref, "T"}
    ]

    for type <- types do
      assert Type.map(type, & &1) == type
      {_same, seen} = {Type.map(type, &seen/1), seen()}
      assert Enum.sort(seen) == Enum.sort(Type.children(type))
      assert Type.reduce(type, 0, fn _type, count -> count + 1 end) > length(Type.children(type))
    end
  end

  defp seen(type), do: tap(type, &Process.put(:seen, [&1 | Process.get(:seen, [])]))
  defp seen, do: Process.delete(:seen) || []

  # The type, the text and the value at a place of another one.
  defp places(type, text, value) do
    kind = fn kind, fields ->
      {:map, [{"kind", {:where, :string, [enum: [kind]]}} | fields]}
    end

    [
      {:field, {:map, [{"f", type}]}, ~s({"f": #{text}}), %{"f" => value}},
      {:optional, {:map, [{"f", {:optional, type}}]}, ~s({"f": #{text}}), %{"f" => value}},
      {:list, {:map, [{"l", {:list, type}}]}, ~s({"l": [#{text}, #{text}]}),
       %{"l" => [value, value]}},
      {:object, {:map, [{"n", :int}, {"o", {:closed_map, [{"f", type}]}}]},
       ~s({"n": 1, "o": {"f": #{text}}}), %{"n" => 1, "o" => %{"f" => value}}},
      {:rows, {:list, {:map, [{"f", type}, {"t", :string}]}},
       ~s([{"f": #{text}, "t": "a, b"}, {"f": #{text}, "t": "}"}]),
       [%{"f" => value, "t" => "a, b"}, %{"f" => value, "t" => "}"}]},
      {:map_of, {:map, [{"m", {:map_of, type}}]}, ~s({"m": {"k": #{text}, "l": #{text}}}),
       %{"m" => %{"k" => value, "l" => value}}},
      {:union,
       {:map, [{"u", {:one_of, [kind.("a", [{"f", type}]), kind.("b", [{"g", :int}])], "kind"}}]},
       ~s({"u": {"kind": "a", "f": #{text}}}), %{"u" => %{"kind" => "a", "f" => value}}},
      {:name, {:defs, %{"N" => {:map, [{"f", type}]}}, {:map, [{"n", {:list, {:ref, "N"}}}]}},
       ~s({"n": [{"f": #{text}}]}), %{"n" => [%{"f" => value}]}}
    ]
  end

  # The text alone, in a fence, behind thinking, and with a fault of syntax beside the value.
  defp layouts(text) do
    [
      alone: text,
      fence: "Here:\n```json\n#{text}\n```",
      thinking: "<think>[{\"f\": 0}]</think>#{text}",
      comma: String.slice(text, 0..-2//1) <> "," <> String.last(text),
      comment: String.first(text) <> " // all\n" <> String.slice(text, 1..-1//1)
    ]
  end
end
