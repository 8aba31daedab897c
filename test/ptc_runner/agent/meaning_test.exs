defmodule PtcRunner.Agent.MeaningTest do
  # No character that can carry meaning is dropped from inside or directly behind the place of a value: the answer is an error.
  use ExUnit.Case, async: true

  doctest PtcRunner.Agent.Behind
  doctest PtcRunner.SubAgent.JsonRepair.Lost
  doctest PtcRunner.SubAgent.JsonRepair.Twins
  doctest PtcRunner.Agent.Answer.Part
  doctest PtcRunner.Agent.Answer.Rows

  alias PtcRunner.Agent

  # Tokens of an answer, between which something is put, and its type.
  @answers [
    {~w({ "total" : 5 }), "{total :int}"},
    {~w({ "total" : 5 , "name" : "ab" }), "{total :int, name :string}"},
    {~w([ 1 , 2 , 3 ]), "[:int]"},
    {~w([ { "a" : 1 } , { "a" : 2 } ]), "[{a :int}]"},
    {~w({ "o" : { "f" : 1.5 } , "ok" : true }), "{o {f :float}, ok :bool}"}
  ]

  # What is put between the tokens of a value says that it is another one.
  @inside [
    "...",
    "…",
    ", ...",
    "..., ",
    " * 3",
    " / 2",
    " % 2",
    "%",
    " %",
    "k",
    " kg",
    "^3",
    "**2",
    " ** 2",
    ".sort",
    ".sort()",
    "..5",
    " || 0",
    " ?? 0",
    " and 3 more",
    "~",
    "<5",
    "×3",
    "½",
    "€",
    "!",
    "max ",
    "min("
  ]

  # The same behind the whole value, in its line.
  @behind [
    "...",
    "…",
    " * 3",
    "*3",
    " / 2",
    " - 1",
    " + [4]",
    " % 2",
    "%",
    "^3",
    "**2",
    " ** 2",
    ".sort",
    ".sort()",
    ".length",
    ".map(f)",
    "[0]",
    "..5",
    " .. 5",
    " || 0",
    " ?? 0",
    " && false",
    " | sort",
    " => 9",
    " == 9",
    " > 9",
    " >= 9",
    " and 3 more",
    ", and 3 more",
    " (3 more)",
    ", etc.",
    " and so on",
    " if x else 9",
    " for i in x",
    "²",
    " × 3",
    "÷2",
    ", ...",
    "k",
    "€",
    " or 7"
  ]

  # What says nothing about a value: sentences, Markdown, the syntax around it.
  @harmless [
    ".",
    "!",
    ";",
    ")",
    "**",
    " ",
    "\n",
    " - as asked",
    " (as asked)",
    " is the answer.",
    ", as asked.",
    "</answer>",
    "`",
    "\n* 3 rows",
    "\n3 more follow",
    " -- done",
    " Hope this helps!"
  ]

  defp wrapped(text), do: [text, "```json\n#{text}\n```", "Here it is:\n#{text}\nIt is done."]

  test "inside of a value" do
    for {tokens, type} <- @answers,
        place <- 1..(length(tokens) - 1),
        mark <- @inside,
        {before, behind} = Enum.split(tokens, place),
        text <- wrapped(Enum.join(before, " ") <> mark <> Enum.join(behind, " ")) do
      {:ok, value, []} = Agent.answer(Enum.join(tokens, " "), type)

      case Agent.answer(text, type) do
        {:error, [_ | _], _feedback} -> :ok
        # A digit more makes another number, and a sign of its own a text of it.
        {:ok, other, _warnings} -> refute other == value, "#{text} is read as #{inspect(value)}"
      end
    end
  end

  test "in the place of a value, also of a text" do
    for dots <- ["...", "…"], type <- ["{n :string}", "{n :any}", ":any"] do
      assert {:error, [%{message: message}], _} = Agent.answer(~s({"n": #{dots}}), type)
      assert message =~ "column 7: #{dots} says that something is left out"
      quoted = ~s({"n": "#{dots}"})
      assert Agent.answer(quoted, type) == {:ok, %{"n" => dots}, []}
    end
  end

  test "behind a value" do
    for {tokens, type} <- @answers,
        mark <- @behind,
        text <- wrapped(Enum.join(tokens, " ") <> mark) do
      assert {:error, [%{message: message} | _], _feedback} = Agent.answer(text, type), text
      # What is in a fence must be JSON as a whole.
      told = ["behind its value", "different values", "JSON parse error", "left out", "operator"]
      assert message =~ ~r/#{Enum.join(told, "|")}/, text
    end
  end

  test "a call or a factor before a value" do
    for {tokens, type} <- @answers,
        {before, behind} <- [{"max(", ")"}, {"sum( ", " )"}, {"2 * ", ""}, {"3×", ""}],
        text <- Enum.take(wrapped(before <> Enum.join(tokens, " ") <> behind), 2) do
      assert {:error, [%{message: message}], _} = Agent.answer(text, type), text
      assert message =~ "before its value"
    end

    for before <- ["JSON.parse(", "print(", "x = ", "1. ", "see ("],
        do:
          assert({:ok, %{"a" => 1}, []} = Agent.answer(before <> ~s({"a": 1}) <> ")", "{a :int}"))
  end

  test "sentences and Markdown are no part of a value" do
    for {tokens, type} <- @answers, mark <- @harmless, text = Enum.join(tokens, " ") do
      {:ok, value, []} = Agent.answer(text, type)
      assert Agent.answer(text <> mark, type) == {:ok, value, []}, text <> mark
    end

    assert {:ok, [1, 2], []} = Agent.answer("**[1, 2]**", "[:int]")
    assert {:ok, %{"a" => 1}, []} = Agent.answer(~s(| n | {"a": 1} | 5 |), "{a :int}")
  end

  test "bold values and keys are read, powers are not" do
    for {text, value} <- [{"[**1**, **2**]", [1, 2]}, {"[ **1** ]", [1]}],
        do: assert({:ok, ^value, [_ | _]} = Agent.answer(text, "[:int]"))

    for text <- ["[1 ** 2, 3]", "[1 ** 2, 3 ** 4]", "[1**2, 3**4]", "[** 1, 2 **]"],
        do: assert({:error, _, _} = Agent.answer(text, "[:int]"))
  end

  test "what stands behind a text in a list is no item, unless it begins a line" do
    for behind <- [" kg", " and more", "-9", " .. 5", "k", " not"],
        do: assert({:error, _, _} = Agent.answer(~s(["x", "y"#{behind}]), "[:string]"))

    assert {:ok, ["x", "y"], [_ | _]} = Agent.answer(~s(["x"\ny]), "[:string]")
    assert {:ok, ["x", "y"], [_]} = Agent.answer(~s(["x" "y"]), "[:string]")
  end

  test "quotes of two texts do not become one text" do
    for between <- ["k", "≥", "1/2", "not", "_"],
        do: assert({:error, _, _} = Agent.answer(~s(["x"#{between}, "y"]), "[:string]"))

    assert {:ok, [text], [_ | _]} = Agent.answer(~s(["He said "yes, I am" to me"]), "[:string]")
    assert text == ~s(He said "yes, I am" to me)
  end

  describe "keys" do
    test "a sign in front of a key is no spelling of it" do
      for sign <- ["-", "+", "!", "~"],
          key <- ["total", ~s("total")],
          type <- [":int", ":int?"] do
        assert {:error, _, _} = Agent.answer("{#{sign}#{key}: 5}", "{total #{type}}")
      end

      assert {:error, _, _} = Agent.answer(~s({"-total": 5}), "{total :int}")

      assert {:ok, %{"sub_total" => 5}, [_]} =
               Agent.answer(~s({"subTotal": 5}), "{sub_total :int}")
    end

    test "two keys that are one field, with different values, are an error that names both" do
      for {a, b} <- [{"user_id", "user-id"}, {"userId", "user_id"}, {"userId", "UserID"}],
          {a, b} <- [{a, b}, {b, a}],
          {open, close} <- [{"", ""}, {~s({"rows": [), "]}"}],
          quote <- [~s("), "'"] do
        type = if open == "", do: "{user_id :int}", else: "{rows [{user_id :int}]}"
        text = &~s(#{open}{#{quote}#{a}#{quote}: 1, #{quote}#{b}#{quote}: #{&1}}#{close})

        assert {:error, [%{path: path, message: message}], feedback} =
                 Agent.answer(text.(2), type)

        assert path == if(open == "", do: [], else: ["rows", 0])

        for key <- [a, b],
            do: assert(message =~ inspect(key) and feedback =~ inspect(key), text.(2))

        if "user_id" in [a, b],
          do: assert({:ok, _value, _warnings} = Agent.answer(text.(1), type))
      end
    end

    test "a field behind an object and an item behind a list are not lost" do
      for {text, type} <- [
            {~s({"n": 1}, "x": 2}), "{n :int, x :int?}"},
            {~s({"n": 1, "s": "a"}\n"x": 2), "{n :int, x :int?}"},
            {~s(Here: {"n": 1}, "x-y": 2}), "{n :int, x_y :int?}"},
            {"[1, 2], 3]", "[:int]"},
            {~s(["a"], "b", "c"]), "[:string]"},
            {~s({"rows": [{"n": 1}]}, x: 2}), "{rows [{n :int, x :int?}]}"},
            {~s({"rows": [{"n": 1}]}}, "x": 2}), "{rows [{n :int, x :int?}]}"},
            {"[1]\n2", "[:int]"},
            {"[1]\n2\n3\n", "[:int]"},
            {~s(["a"] "b"), "[:string]"}
          ] do
        assert {:error, [%{message: message}], _} = Agent.answer(text, type)
        assert message =~ "behind its value", text
      end

      for text <- ["[1]\n\n1. Read the list.", "[1]\n2 rows were left out", "[1], as of 2024"],
          do: assert({:ok, [1], _} = Agent.answer(text, "[:int]"))

      assert {:ok, %{"n" => 1, "x" => 2}, [_]} =
               Agent.answer(~s({"x": 2}, "n": 1}), "{n :int, x :int?}")

      assert {:ok, [1, 2, 3], [_]} = Agent.answer("[1, 2}, 3]", "[:int]")
      assert {:ok, %{"n" => 1}, []} = Agent.answer(~s({"n": 1}, "as asked"), "{n :int}")
      assert {:ok, [1, 2], []} = Agent.answer("[1, 2], 3 of them are new", "[:int]")
    end

    test "keys that the answer has as one key are an error, also where nothing is declared" do
      for {type, open, close, path} <- [
            {":map", "", "", []},
            {":any", "[", "]", [0]},
            {"{o :map}", ~s({"o": {"a": ), "}}", ["o", "a"]},
            {"{o [:any]}", ~s({"o": [1, [), "]]}", ["o", 1, 0]},
            {[xs: {:map_of, {:map, [{"n", :int}]}}], ~s({"xs": {"k-l": ), "}}", ["xs", "k_l"]},
            {"{n :int}", "", "", []},
            {"{a-b {n :int}, a_b {n :int}}", "", "", []},
            {"{s :map}", ~s({"s": ), "}", ["s"]}
          ],
          {key, quote} <- [{"a-b", ~s(")}, {~S(a\u002db), ~s(")}, {"a-b", "'"}],
          quote == ~s(") or is_list(type) or open != "" do
        text = &~s(#{open}{"n": 1, #{quote}#{key}#{quote}: {"n": 1}, "a_b": {"n": #{&1}}}#{close})

        assert {:error, errors, _feedback} = Agent.answer(text.(2), type)
        assert [%{path: ^path, message: message}] = errors
        assert message =~ ~s("a-b" and "a_b" are one field)
        assert {:ok, _value, _warnings} = Agent.answer(text.(1), type)
      end

      assert {:error, [%{path: ["o"]}], _} =
               Agent.answer(~S({"o": "{\"a-b\": 1, \"a_b\": 2}"}), "{o :map}")
    end

    test "declared twins stay two, and so do keys that are no field" do
      assert {:ok, _, []} = Agent.answer(~s({"a_b": 1, "aB": 2}), "{a_b :int, aB :int}")
      assert {:ok, _, []} = Agent.answer(~s({"n": 1, "a_b": 1, "aB": 2}), "{n :int}")
    end

    test "keys of firewalled fields are not shown" do
      answer = ~s({"_o": {"user_id": 1, "user-id": 2}})
      assert {:error, [error], feedback} = Agent.answer(answer, "{_o {user_id :int}}")
      refute inspect(error) =~ "user" or feedback =~ "user-id"
    end
  end
end
