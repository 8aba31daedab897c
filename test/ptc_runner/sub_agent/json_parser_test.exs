defmodule PtcRunner.SubAgent.JsonParserTest do
  # JSON at the edges. The rules of where it is found have their vectors.
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.JsonParser
  alias PtcRunner.Test.AnswerOracle.Decode

  doctest JsonParser

  describe "numbers" do
    test "integers are exact up to 1024 digits" do
      big = String.duplicate("9", 1024)
      assert JsonParser.parse("[#{big}]") == {:ok, [String.to_integer(big)]}
      assert JsonParser.parse("[9#{big}]") == {:error, :invalid_json}
      assert JsonParser.parse("[-#{big}]") == {:error, :invalid_json}
      assert JsonParser.parse("[#{2 ** 63}, #{-(2 ** 63)}]") == {:ok, [2 ** 63, -(2 ** 63)]}
    end

    test "floats are the nearest ones, with any number of digits" do
      long = "0." <> String.duplicate("1", 10_000)

      assert JsonParser.parse("[#{long}, 1e5, 5e-324, 1e-400, -1E-400]") ==
               {:ok, [0.1111111111111111, 1.0e5, 5.0e-324, 0.0, -0.0]}

      assert JsonParser.parse("[1e400]") == {:error, :invalid_json}
      assert JsonParser.parse("[#{String.duplicate("9", 400)}.5]") == {:error, :invalid_json}
    end

    test "zero keeps its sign where it has a fraction" do
      assert {:ok, [0, zero, minus, exponent, plain]} =
               JsonParser.parse("[-0, 0.0, -0.0, -0.0e1, -0e1]")

      assert for(zero <- [zero, minus, exponent, plain], do: <<zero::float>>) ==
               [<<0.0::float>>, <<-0.0::float>>, <<-0.0::float>>, <<0.0::float>>]
    end
  end

  describe "strings" do
    test "lone surrogates are no characters" do
      assert JsonParser.parse(~S(["\ud83d\ude00 \u0000"])) == {:ok, ["😀 \0"]}

      for text <- [~S(["\ud83d"]), ~S(["\ude00"]), ~S(["\ud83dx"]), ~S(["\ude00\ud83d"])],
          do: assert(JsonParser.parse(text) == {:error, :invalid_json})
    end

    test "bytes outside of the JSON need not be UTF-8, those inside must" do
      assert JsonParser.parse(<<0xFF, ?[, ?1, ?], 0xC3>>) == {:ok, [1]}

      for bytes <- [
            <<0xFF>>,
            <<0xC0, 0x80>>,
            <<0xED, 0xA0, 0x80>>,
            <<0xF4, 0x90, 0x80, 0x80>>,
            <<0xC3>>
          ],
          do: assert(JsonParser.parse(~s(["#{bytes}"])) == {:error, :invalid_json})
    end
  end

  describe "objects" do
    test "the first of equal keys counts, in objects of any size" do
      for size <- [1, 2, 31, 32, 33, 100, 5_000] do
        pairs = Enum.map_join(1..size, ",", &~s("k#{&1}":#{&1}))

        assert {:ok, map} =
                 JsonParser.parse(~s({#{pairs},"k1":"second","\\u006b#{size}":"third"}))

        assert map == Map.new(1..size, &{"k#{&1}", &1})
      end
    end

    test "a value keeps nothing of the text alive" do
      text = ~s({"a": "#{String.duplicate("x", 200)}", "b": "#{String.duplicate("y", 10)}"})

      {:ok, %{"a" => long, "b" => short}} =
        JsonParser.parse(text <> String.duplicate(" ", 10_000))

      assert :binary.referenced_byte_size(long) < 300
      assert :binary.referenced_byte_size(short) < 300
    end
  end

  describe "size and depth" do
    test "a million elements" do
      text = "[" <> String.duplicate("1,", 999_999) <> "1]"
      assert {:ok, list} = JsonParser.parse(text)
      assert length(list) == 1_000_000
    end

    test "a hundred thousand arrays and objects inside one another" do
      for {open, close} <- [{"[", "]"}, {~s({"a":), "}"}] do
        text = String.duplicate(open, 100_000) <> "1" <> String.duplicate(close, 100_000)
        assert {:ok, value} = JsonParser.parse(text)
        assert depth(value, 0) == 100_000
      end
    end

    test "a million levels are the limit" do
      nested = fn levels -> String.duplicate("[", levels) <> String.duplicate("]", levels) end
      assert {:ok, [[_ | _]]} = JsonParser.parse(nested.(1_000_000))
      assert JsonParser.parse(nested.(1_000_001)) == {:error, :invalid_json}
      assert {:error, {:invalid_json, place}} = JsonParser.locate(nested.(1_000_001))
      assert place == {:too_deep, 1_000_000, 1_000_000}
    end

    # 20 MB each, 0.3 s at most on a quiet machine, where one step back would make hours.
    test "hostile texts take linear time" do
      for unit <- ["[", "{\"", "```", "```x [\"", "[a]", "\\\"", "x", "{\"a\":[", "```json\n["] do
        text = String.duplicate(unit, div(20_000_000, byte_size(unit)))
        assert {:error, reason} = JsonParser.parse(text, timeout: 30_000)
        assert reason in [:no_json_found, :invalid_json], unit
      end
    end

    test "a hundred megabytes around and inside" do
      prose = String.duplicate("no JSON here ", 4_000_000)
      string = String.duplicate("0123456789", 5_000_000)
      assert {:ok, %{"a" => ^string}} = JsonParser.parse(~s(#{prose}{"a": "#{string}"}))
    end
  end

  test "anything but a binary has no clause" do
    for other <- [nil, :a, ~c"text", <<1::3>>],
        do: assert_raise(FunctionClauseError, fn -> JsonParser.parse(other) end)
  end

  test "keys never become atoms" do
    names = for n <- 1..2_000, do: "no atom #{n}"
    assert {:ok, %{}} = JsonParser.parse("{#{Enum.map_join(names, ",", &~s("#{&1}":1))}}")
    for name <- names, do: assert_raise(ArgumentError, fn -> String.to_existing_atom(name) end)
  end

  # The decoder of the oracle, which the random tests trust.
  test "the oracle decodes as the vectors have it" do
    for %{text: text, expect: {:ok, value}} <- PtcRunner.Test.Vectors.read("json_parser"),
        String.starts_with?(text, ["{", "["]),
        {:ok, decoded, _rest} <- [Decode.prefix(text)],
        not String.contains?(text, "```"),
        not String.starts_with?(text, ["[x]", "[Note]"]),
        do: assert(decoded === value)
  end

  defp depth([inner], levels), do: depth(inner, levels + 1)
  defp depth(%{"a" => inner}, levels), do: depth(inner, levels + 1)
  defp depth(_value, levels), do: levels
end
