defmodule PtcRunner.Agent.OperatorsTest do
  # No character that can carry meaning is dropped from a value's place: what stands before or between values is an error.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Agent.Tool
  alias PtcRunner.SubAgent.Signature.Type

  doctest PtcRunner.Agent.Source.Safe

  @before [
    "!",
    "~",
    "<",
    ">",
    "^",
    "&",
    "|",
    "%",
    "?",
    "=",
    "≥",
    "≤",
    "≠",
    "¬",
    "==",
    "!=",
    "not ",
    "NOT ",
    "− ",
    "±",
    "!!"
  ]
  @values [
    {"true", :bool},
    {"5", :int},
    {"2.5", :float},
    {~s({"a": 1}), {:map, [{"a", :int}]}},
    {"[1, 2]", {:list, :int}},
    {~s("x"), :string},
    {"null", {:optional, :string}}
  ]

  test "an operator before a value is an error, with and without a type" do
    for operator <- @before, {value, type} <- @values, type <- [type, :any] do
      text = ~s({"v": #{operator}#{value}, "w": 1})
      signature = {:signature, [], {:map, [{"v", type}, {"w", :int}]}}

      assert {:error, [%{message: message}], _} = Agent.answer(text, signature), text
      assert message == "JSON parse error"

      assert {:error, _, _} =
               Agent.answer(
                 ~s({"l": [#{value}, #{operator}#{value}], "w": 1}),
                 "{l [:any], w :int}"
               )
    end
  end

  test "a sign or a negation before a whole answer" do
    for before <- ["not ", "NOT ", "Not\n", "!", "! ", "~ ", "¬ ", "!!"],
        {value, type} <- [
          {~s({"a": 1}), "{a :int}"},
          {"{a: 1}", "{a :int}"},
          {"[1, 2]", "[:int]"}
        ],
        text <- [before <> value, "```json\n#{before}#{value}\n```"] do
      assert {:error, [%{message: message}], _} = Agent.answer(text, type), text
      assert message =~ "before its value"
    end

    for prose <- ["Not sure, but: ", "- ", "-[x] done\n", "> "],
        do: assert({:ok, %{"a" => 1}, []} = Agent.answer(prose <> ~s({"a": 1}), "{a :int}"))
  end

  test "signs before objects and lists, and what stands between two values" do
    for value <- [
          ~s(-{"a": 1}),
          ~s(+{"a": 1}),
          "-[1]",
          "+[1]",
          "1 or 2",
          "1 and 2",
          "(1)",
          "5 > 3",
          "true || false",
          "a == b"
        ],
        type <- [":any", ":int", ":bool", "{a :int}", "[:int]"] do
      assert {:error, _, _} = Agent.answer(~s({"v": #{value}}), "{v #{type}}"), value
    end
  end

  test "words beside a text in quotes, or before brackets, are an error, and no part of them is lost" do
    for value <- [
          ~s(never "x"),
          ~s(-"x"),
          ~s(≈"x"),
          ~s("x" + "y"),
          ~s("x" or "y"),
          ~s("x"&"y"),
          ~s(about {"b": 1})
        ],
        type <- [":string", ":any"],
        text <- [~s({"v": #{value}}), ~s({"v": #{value}, "w": 1}), ~s([{"v": #{value}}])] do
      signature =
        if String.starts_with?(text, "["), do: "[{v #{type}}]", else: "{v #{type}, w :int?}"

      assert {:error, [_ | _], _} = Agent.answer(text, signature), text
    end

    # A text without quotes is kept whole, or it is none.
    assert {:error, [_ | _], _} = Agent.answer("{\"v\": never {}}", "{v :string}")

    assert {:ok, %{"v" => "never {}"}, [_ | _]} =
             Agent.answer(~s({"v": never {}, "w": 1}), "{v :string}")

    assert {:ok, %{"v" => ~s(x "y" z)}, [_ | _]} =
             Agent.answer(~s({"v": "x "y" z"}), "{v :string}")

    assert {:ok, %{"v" => "see [1]"}, [_ | _]} = Agent.answer(~s({"v": see [1]}), "{v :string}")

    assert {:error, [%{message: "The answer has ! before" <> _}], _} =
             Agent.answer(~s(!{"v": 1}), "{v :int}")

    assert {:error, [_], _} = Agent.answer("```json\n-[1]\n```", "[:int]")
    assert {:ok, [1], []} = Agent.answer("- [1]", "[:int]")
    assert {:ok, %{"v" => 1}, []} = Agent.answer("-[x] done\n{\"v\": 1}", "{v :int}")
  end

  test "an operator in the text of a string stays in it" do
    for text <- ["!a", ">5", "not paid", "~10", "5%", "a & b"] do
      assert {:ok, %{"v" => ^text}, [_]} = Agent.answer(~s({"v": #{text}}), "{v :string}")
    end
  end

  @words [
    "not",
    "never",
    "no",
    "approximately",
    "about",
    "at least",
    "less than",
    "almost",
    "ca.",
    "un",
    "maybe"
  ]
  @places [
    {"field", {:map, [{"v", :type}, {"w", :int}]}, ~s({"v": VALUE, "w": 1})},
    {"last field", {:map, [{"w", :int}, {"v", :type}]}, ~s({"w": 1, "v": VALUE})},
    {"item", {:map, [{"l", {:list, :type}}]}, ~s({"l": [VALUE]})},
    {"row", {:list, {:map, [{"v", :type}, {"w", :string}]}}, ~s([{"v": VALUE, "w": "a"}])},
    {"optional", {:map, [{"v", {:optional, :type}}]}, ~s({"v": VALUE})},
    {"map of", {:map, [{"m", {:map_of, :type}}]}, ~s({"m": {"k": VALUE}})},
    {"union", {:map, [{"u", {:one_of, [{:map, [{"v", :type}]}, {:list, :bool}], nil}}]},
     ~s({"u": {"v": VALUE}})},
    {"name", {:defs, %{"N" => {:map, [{"v", :type}]}}, {:list, {:ref, "N"}}}, ~s([{"v": VALUE}])},
    {"default", {:map, [{"v", {:where, :type, [default: nil]}}]}, ~s({"v": VALUE})},
    {"beside a fault", {:map, [{"v", :type}, {"w", :int}]}, ~s({v: VALUE, 'w': 1,})}
  ]

  test "an operator or a word before a value is an error at each kind of place, in a fence and behind thinking" do
    for {place, type, text} <- @places,
        {value, kind} <- @values,
        not match?({:optional, _}, kind),
        sign <- @before ++ Enum.map(@words, &(&1 <> " ")) do
      text = String.replace(text, "VALUE", sign <> value)
      signature = {:signature, [], typed(type, kind)}

      for text <- [text, "```json\n#{text}\n```", "<think>#{text}</think>\n#{text}"] do
        case Agent.answer(text, signature) do
          {:error, [_ | _], _feedback} -> :ok
          other -> flunk("#{place}: #{text}\n#{inspect(other)}")
        end
      end
    end
  end

  test "an operator behind a value, or between two, is an error at each kind of place" do
    for {place, type, text} <- @places,
        {value, kind} <- @values,
        kind != :string and not match?({:optional, _}, kind),
        behind <- [
          "!",
          "%",
          "?",
          " < 3",
          " ^ 2",
          " & 1",
          " | 1",
          " ~ 2",
          " = 1",
          " ≥ 1",
          " not 1",
          " or so",
          "++"
        ] do
      text = String.replace(text, "VALUE", value <> behind)

      case Agent.answer(text, {:signature, [], typed(type, kind)}) do
        {:error, [_ | _], _feedback} -> :ok
        other -> flunk("#{place}: #{text}\n#{inspect(other)}")
      end
    end
  end

  test "a bare value with an operator is an error" do
    for {value, type} <- [{"5", ":int"}, {"2.5", ":float"}, {"true", ":bool"}],
        sign <- @before ++ Enum.map(@words, &(&1 <> " ")),
        text <- [sign <> value, ~s({"value": #{sign}#{value}}), "```\n#{sign}#{value}\n```"] do
      case Agent.answer(text, type) do
        {:error, [_ | _], _feedback} -> :ok
        other -> flunk("#{text}: #{inspect(other)}")
      end
    end
  end

  test "an operator is left out neither where the type lists values, nor before a key" do
    numbers = {:signature, [], {:map, [{"v", {:where, :int, [enum: [1, 5]]}}]}}
    texts = {:signature, [], {:map, [{"v", {:where, :string, [enum: ["<5", "paid"]]}}]}}

    for sign <- ["!", "<", "¬", "not ", "~"] do
      assert {:error, _, _} = Agent.answer(~s({"v": #{sign}5}), numbers)
      assert {:error, _, _} = Agent.answer(~s({"v": #{sign}paid}), texts)
      assert {:error, _, _} = Agent.answer(~s({"v": #{sign}"paid"}), texts)
      assert {:error, _, _} = Agent.answer(~s({#{sign}"v": 5}), numbers)
    end

    for sign <- ["<", ">=", "!=", "~", "?"],
        do: assert({:error, _, _} = Agent.answer(~s({"v" #{sign} 5}), numbers))

    assert {:ok, %{"v" => "<5"}, []} = Agent.answer(~s({"v": "<5"}), texts)
  end

  defp typed(:type, kind), do: kind
  defp typed({:where, :type, rules}, kind), do: {:where, {:optional, kind}, rules}
  defp typed(type, kind), do: Type.map(type, &typed(&1, kind))

  test "an operator before an argument, a literal or an operation is no program" do
    for sign <- @before ++ Enum.map(@words, &(&1 <> " ")),
        value <- ["1", "true", ~s("x"), "[1]", "{}"] do
      for node <- [
            ~s({"op": "literal", "value": #{sign}#{value}}),
            ~s({"op": "call", "tool": "pay", "args": {"id": #{sign}#{value}}}),
            ~s({"op": "call", "tool": "pay", "args": #{sign}{"id": #{value}}}),
            ~s({"op": "set", "fields": {"a": #{sign}#{value}}}),
            ~s(#{sign}{"op": "literal", "value": #{value}})
          ] do
        case Agent.program(~s({"program": #{node}})) do
          {:error, {:parse_error, _}, _} ->
            :ok

          # A text without quotes keeps its words, and no argument of a tool is one.
          {:ok, %{source: source}, [_ | _]} ->
            assert inspect(source) =~ sign <> value, node
            refute node =~ "pay"
        end
      end
    end
  end

  test "a condition with an operator before it is no program" do
    rows = ~s({"op": "load", "name": "rows"})

    for operator <- @before do
      where = ~s({"op": "eq", "field": "a", "value": 1})

      for node <- [
            ~s({"op": "filter", "where": #{operator}#{where}}),
            ~s({"op": "filter", "where": {"op": "eq", "field": "a", "value": #{operator}1}}),
            ~s({"op": "filter", "where": {"op": "eq", "field": "a", "value": #{operator}"x"}}),
            ~s({"op": "filter", "where": {"op": "and", "conditions": [#{operator}#{where}]}})
          ] do
        text = ~s({"program": {"op": "pipe", "steps": [#{rows}, #{node}]}})
        assert {:error, {:parse_error, message}, _} = Agent.program(text), text
        assert message =~ "line 1, column"
      end
    end
  end

  test "an operator before a whole program is an error" do
    for sign <- ["!", "-", "¬", "≥"], around <- [& &1, &"```json\n#{&1}\n```"] do
      text = around.(sign <> ~s({"program": {"op": "literal", "value": 1}}))
      assert {:error, {:parse_error, message}, _} = Agent.program(text)
      assert message == "The answer has #{sign} before its program"
    end
  end

  describe "a program that calls a tool that may write" do
    @call ~s({"program": {"op": "call", "tool": "pay", "args": {"id": 1}}})

    test "is repaired in keys, quotes, commas and closing brackets" do
      for text <- [
            String.replace(@call, ~s("), "'"),
            String.replace(@call, "1}", "1,}"),
            String.replace(@call, ~s("op"), "op"),
            String.replace(@call, ~s("call", ), ~s("call" )),
            String.replace(@call, "}}}", "}}]")
          ] do
        assert {:ok, program, [_ | _]} = Agent.program(text), text
        assert {:ok, %{"id" => 1}, _, _} = Json.run(program, tools: %{"pay" => & &1})
      end
    end

    test "is not repaired in anything else" do
      for {from, to} <- [
            {"1", "True"},
            {"1", "+1"},
            {"1", "1_000"},
            {"1", "later"},
            {"1", ~s("a "b" c")},
            {~s("id": 1), ~s("id": 1 /* 2 */)},
            {~s("args":), ~s("args")}
          ] do
        text = String.replace(@call, from, to)
        assert {:error, {:parse_error, message}, feedback} = Agent.program(text), text

        assert message =~
                 "A program that calls a tool which may write (pay) is repaired only in keys, quotes, commas and closing brackets"

        assert feedback =~ "Write the whole program again"

        reads = %Tool{name: "pay", fun: & &1, effect: :read}
        assert {:ok, _program, [_ | _]} = Agent.program(text, tools: [reads])

        assert {:error, {:parse_error, ^message}, _} =
                 Agent.program(text, tools: [%{reads | effect: :write}])
      end
    end

    test "in a loop the tools' effects are known" do
      text = String.replace(@call, "1", "True")
      pay = %Tool{name: "pay", fun: fn _ -> 1 end, effect: :read}

      ask = fn texts ->
        {:ok, left} = Elixir.Agent.start_link(fn -> texts end)

        fn _request ->
          {:ok, Elixir.Agent.get_and_update(left, fn [text | rest] -> {text, rest} end)}
        end
      end

      assert {:ok, %{return: 1}} = Agent.loop(ask.([text]), task: "Pay.", tools: [pay])

      assert {:ok, %{return: 1, turns: [first, _]}} =
               Agent.loop(ask.([text, @call]), task: "Pay.", tools: [%{pay | effect: :write}])

      assert inspect(first) =~ "may write (pay)"
    end
  end
end
