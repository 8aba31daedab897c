defmodule PtcRunner.SubAgent.ConformanceTest do
  # Texts in `test/conformance`: y_ must be read, n_ must be refused, i_ is what the standard leaves
  # open, with our choice below.
  use ExUnit.Case, async: true

  alias PtcRunner.Native
  alias PtcRunner.SubAgent.{AnswerStream, JsonParser}
  alias PtcRunner.Test.AnswerOracle.Decode
  alias PtcRunner.Test.Answers

  @directory Path.expand("../../conformance", __DIR__)

  # Of the texts that the standard leaves open, what the decoder of answers says.
  @choices %{
    "i_string_lone_high_surrogate" => :refused,
    "i_string_lone_low_surrogate" => :refused,
    "i_string_surrogates_swapped" => :refused,
    "i_string_high_twice" => :refused,
    "i_string_high_then_letter" => :refused,
    "i_number_overflow" => :refused,
    "i_number_negative_overflow" => :refused,
    "i_number_underflow" => {:read, [0.0]},
    "i_number_1024_digits" => {:read, [String.to_integer(String.duplicate("9", 1024))]},
    "i_number_1025_digits" => :refused,
    "i_number_huge_exponent" => {:read, [0.0]},
    # an answer is looked for in a text: what stands before and after it is prose
    "i_structure_bom" => {:read, []},
    "i_structure_after" => {:read, []},
    "i_structure_500_arrays" => {:read, Enum.reduce(2..500, [], fn _, list -> [list] end)},
    "i_structure_utf16" => :refused
  }

  for path <- Path.wildcard(Path.join(@directory, "*.json")) do
    name = Path.basename(path, ".json")
    @tag text: File.read!(path), name: name
    test name, %{text: text, name: name} do
      assert outcome(text) === expected(name, text)
      assert_in_chunks(text)
    end
  end

  test "there are texts of all kinds, and a choice for each that is left open" do
    names =
      for path <- Path.wildcard(Path.join(@directory, "*.json")), do: Path.basename(path, ".json")

    assert Enum.count(names, &match?("y_" <> _, &1)) > 30
    assert Enum.count(names, &match?("n_" <> _, &1)) > 50
    assert Enum.sort(for "i_" <> _ = name <- names, do: name) == Enum.sort(Map.keys(@choices))
  end

  defp outcome(text) do
    case JsonParser.parse(text) do
      {:ok, value} -> {:read, value}
      {:error, _reason} -> :refused
    end
  end

  # The oracle knows what is right; the reader that programs go through says the same.
  defp expected("y_" <> _, text) do
    {:ok, value} = Decode.whole(text)
    assert Native.json_decode(text, :infinity, {:infinity, 0}) === {:ok, value}
    {:read, value}
  end

  defp expected("n_" <> _, text) do
    assert Decode.whole(text) == :error
    assert {:error, _} = Native.json_decode(text, :infinity, {:infinity, 0})
    :refused
  end

  defp expected("i_" <> _ = name, _text), do: Map.fetch!(@choices, name)

  # A stream halts only at what is refused.
  defp assert_in_chunks(text) do
    whole = ~s({"a": ) <> text <> "}"
    fenced = "```json\n" <> whole <> "\n```"

    for text <- [whole, fenced] do
      expected = outcome(text)

      case Answers.stream(AnswerStream.new(nil), Answers.cut(text, [1])) do
        {:ended, {:ok, value}} -> assert {:read, value} === normalized(expected)
        {:ended, {:error, _}} -> assert expected == :refused
        {:halted, [_]} -> assert expected == :refused
      end
    end
  end

  defp normalized({:read, value}),
    do: {:read, PtcRunner.SubAgent.KeyNormalizer.normalize_keys(value)}

  defp normalized(:refused), do: :refused
end
