defmodule PtcRunner.SubAgent.WholeTextTest do
  # A string is converted only if all of it is a value of the type.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.SubAgent.{JsonParser, Signature.Coercion}
  alias PtcRunner.Test.{Environment, SignatureOracle}

  @not_numbers ["1,234.50", "1/2", "2026-01-01", "3.14abc", "1_000", "1,5", "3 apples", "0x10"] ++
                 ["5.", "1e", "1.e3", "1e+", "12%", "$1", "1 2", "1.2.3", "--1", "+ 1", "", " "] ++
                 ["1\0", "1\xff", "1\xa0", "1\u200b", "\u0661", "Infinity", "NaN", ".5", "1e309"]

  test "a float takes no number at the start of a text, alone, in maps, in lists and as optional" do
    for text <- @not_numbers do
      reason = {:error, "cannot coerce string \"#{text}\" to float"}
      assert Coercion.coerce(text, :float) == reason
      assert Coercion.coerce(%{"a" => text}, {:map, [{"a", :float}]}) == reason
      assert Coercion.coerce([1.0, text], {:list, {:optional, :float}}) == reason
    end
  end

  test "white space around a float is ignored" do
    for blank <- [
          " ",
          "\n\t",
          "\u0085",
          "\u00a0",
          "\u1680",
          "\u2003",
          "\u2028",
          "\u205f",
          "\u3000"
        ],
        text <- [blank <> "1.5", "1.5" <> blank, blank <> "1.5" <> blank <> blank] do
      assert Coercion.coerce(text, :float) == {:ok, 1.5, ["coerced string \"#{text}\" to float"]}
    end
  end

  test "random texts of digits, signs and other characters" do
    parts = ~w(1 0 23 . , - + e E / : _ % true false nil T Z x 2026-01-01 09:14:00) ++ [" ", "\n"]

    :rand.seed(:exsss, Environment.seed())

    for _number <- 1..Environment.cases(4_000) do
      text = Enum.map_join(1..Enum.random(1..6), fn _ -> Enum.random(parts) end)

      for type <- [:float, :int, :bool, :keyword, :datetime] do
        assert {text, Coercion.coerce(text, type)} === {text, SignatureOracle.coerce(text, type)}
      end
    end
  end

  test "a tool is not called with a number that its text only begins with" do
    refund = fn _args -> flunk("the tool was called") end
    tools = %{"refund" => {refund, "(amount :float) -> :string"}}

    for text <- @not_numbers, String.valid?(text) do
      args = %{"amount" => text}
      program = %{"program" => %{"op" => "call", "tool" => "refund", "args" => args}}
      assert {:error, {:execution_error, message}, _feedback} = Agent.run(program, tools)
      assert message =~ "amount"
    end
  end

  test "answers and repairs take no such number either" do
    for text <- @not_numbers, String.valid?(text) do
      answer = PtcRunner.Json.Codec.encode!(%{"a" => text})
      assert {:error, _errors, _feedback} = Agent.answer(answer, "{a :float}")
      assert {:ok, %{"a" => ^text}, []} = JsonParser.repair(answer, "{a :float}")
    end

    assert {:ok, %{"a" => 1234.5}, [_coerced]} =
             Agent.answer(~s({"a": " 1234.50 "}), "{a :float}")

    assert {:ok, %{"a" => 7.5}, [_one, _two]} = Agent.answer(~s({"a": "+07.5",}), "{a :float}")
  end
end
