defmodule PtcRunner.Agent.OperatorsTest do
  # No character that can carry meaning is dropped from a value's place: what stands before or between values is an error.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Agent.Tool

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

  test "an operator in the text of a string stays in it" do
    for text <- ["!a", ">5", "not paid", "~10", "5%", "a & b"] do
      assert {:ok, %{"v" => ^text}, [_]} = Agent.answer(~s({"v": #{text}}), "{v :string}")
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
