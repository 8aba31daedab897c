defmodule PtcRunner.Json.SuggestionTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Json.Suggestion
  alias PtcRunner.Native

  doctest Suggestion

  @names Enum.sort(~w(count else eq filter filter_in get gt gte load map max max_by select sum))

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

    test "compares long names on a dirty scheduler" do
      name = String.duplicate("ab", 2_000)
      assert Native.closest_name(name, [name <> "c"]) == :busy
      assert Suggestion.closest(name, [name <> "c"]) == {:ok, name <> "c"}
    end

    test "does no work for names that are far too long" do
      name = String.duplicate("filter", 200_000)
      {microseconds, result} = :timer.tc(fn -> Suggestion.closest(name, @names) end)
      assert result == :error
      assert microseconds < 500_000
    end
  end

  test "hint/2 is the end of a sentence" do
    assert Suggestion.hint("cuont", @names) == ". Did you mean 'count'?"
    assert Suggestion.hint("teleport", @names) == ""
  end
end
