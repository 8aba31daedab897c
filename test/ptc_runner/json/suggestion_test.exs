defmodule PtcRunner.Json.SuggestionTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Json.Suggestion
  alias PtcRunner.Test.Room

  doctest Suggestion

  @names Enum.sort(~w(count else eq filter filter_in get gt gte load map max max_by select sum))

  defp similarity(a, b), do: Suggestion.similarity(a, b)

  describe "similarity/2" do
    test "is that of the textbook" do
      assert_in_delta similarity("martha", "marhta"), 0.944444, 0.000001
      assert_in_delta similarity("dwayne", "duane"), 0.822222, 0.000001
      assert_in_delta similarity("dixon", "dicksonx"), 0.766666, 0.000001
    end

    test "has its ends" do
      assert similarity("map", "map") === 1.0
      assert similarity("", "") === 0.0
      assert similarity("", "map") === 0.0
      assert similarity("map", "") === 0.0
      assert similarity("abc", "xyz") === 0.0
    end

    test "counts transpositions as written, not as some Elixir versions do" do
      assert similarity("else", "select") === (4 / 4 + 4 / 6 + (4 - 3 / 2) / 4) / 3
    end

    test "compares names of thousands of letters too" do
      long = String.duplicate("ab", 2_000)
      assert_in_delta similarity(long, long <> "cd"), 1.0, 0.001
      assert similarity(long, String.duplicate("x", 4_000)) === 0.0
    end

    test "matches only letters inside of the window" do
      assert similarity("abcdef", "fghijk") === 0.0
    end
  end

  describe "closest/2" do
    test "takes the first of equally similar names" do
      assert Suggestion.closest("gtx", ["gta", "gtb"]) == Suggestion.closest("gtx", ["gta"])
      assert Suggestion.closest("maxx", ["max", "xmax"]) == {:ok, "max"}
    end

    test "ignores case" do
      assert Suggestion.closest("FILTER", @names) == {:ok, "filter"}
    end

    test "needs more than 0.8" do
      # (2/5 + 2/2 + 1) / 3, which is 0.7999999999999999 in doubles
      assert Suggestion.closest("gtxyz", ["gt"]) == :error
      assert Suggestion.closest("gtxy", ["gt"]) == {:ok, "gt"}
    end

    test "finds nothing for nothing, among nothing, and in bytes that are no text" do
      assert Suggestion.closest("", @names) == :error
      assert Suggestion.closest("map", []) == :error
      assert Suggestion.closest(<<0xFF, 0xFE>>, @names) == :error
    end

    test "compares letters as Elixir divides a text, whatever the number of names and of their bytes" do
      assert Suggestion.closest("zu\u0308rich", ["bern", "zürich"]) ==
               Suggestion.closest("zxrich", ["bern", "zürich"])

      assert similarity("👨‍👩‍👧a", "👨‍👩‍👧b") === similarity("xa", "xb")
      assert similarity("a\r\nb", "axb") === similarity("ayb", "axb")
      assert similarity(<<0xFF, ?a, ?b>>, <<0xFF, ?a, ?c>>) === similarity("xab", "xac")

      # More than one call's names, the nearest one in the middle and the equally near one behind it.
      names = Enum.sort(["filter", "filtex"] ++ for(n <- 1..20_000, do: "name#{n}"))
      assert Suggestion.closest("filtey", names) == {:ok, "filter"}
      long = String.duplicate("ab", 2_000)
      assert Suggestion.closest(long, ["ab", long <> "c", "b" <> long]) == {:ok, long <> "c"}
    end

    test "does no work for names that are far too long" do
      name = String.duplicate("filter", 200_000)
      {ms, result} = Room.least_ms(500, fn -> Suggestion.closest(name, @names) end)
      assert result == :error
      assert ms < 500
    end
  end

  test "hint/2 is the end of a sentence" do
    assert Suggestion.hint("cuont", @names) == ". Did you mean 'count'?"
    assert Suggestion.hint("teleport", @names) == ""
  end
end
