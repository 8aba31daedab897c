defmodule PtcRunner.Shown.SmallTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Shown
  alias PtcRunner.Shown.Small

  doctest Small

  @leaves [
            nil,
            true,
            false,
            0,
            -7,
            1.5,
            -0.0,
            1.0e20,
            "",
            "a",
            "ä",
            "a\"b",
            "a\\b",
            "\#{a}",
            "#",
            "\n",
            <<255>>
          ] ++
            [:a, :"b c", 12_345_678_901_234_567_890, 97, "x y", "€"]
  @keys ["a", "b", "id", "_a", "-a", "", "a b", "ä", :a, 1, nil]

  defp term(0), do: Enum.random(@leaves)

  defp term(depth) do
    case :rand.uniform(6) do
      1 ->
        for(_ <- 1..(:rand.uniform(4) - 1)//1, do: term(depth - 1))

      2 ->
        for(
          _ <- 1..(:rand.uniform(4) - 1)//1,
          into: %{},
          do: {Enum.random(@keys), term(depth - 1)}
        )

      3 ->
        for(
          _ <- 1..(:rand.uniform(4) - 1)//1,
          into: %{},
          do: {"k#{:rand.uniform(99)}", term(depth - 1)}
        )

      4 ->
        {Enum.random(@leaves), term(depth - 1)}

      5 ->
        [term(depth - 1) | Enum.random([1, "x", []])]

      6 ->
        term(0)
    end
  end

  test "the texts are those of inspect/1, and of what shows any term" do
    :rand.seed(:exsss, {4, 0, 2})
    terms = for _ <- 1..4_000, do: term(3)
    small = for term <- terms, text = Small.text(term), do: {term, text}
    assert length(small) > 800

    for {term, text} <- small do
      assert text == inspect(term)
      # With an option it is shown in the other way.
      assert text == Shown.text(term, 4_000, limit: 50)
    end
  end

  test "what is concealed, or not small, is shown in the other way" do
    wide = Map.new(1..24, &{"k#{&1}", &1})

    for term <- [
          %{"_pin" => 1},
          %{"a" => [%{"-pin" => 1}]},
          wide,
          Enum.map(1..30, &"#{&1}"),
          String.duplicate("x", 65)
        ],
        do: assert({term, nil} == {term, Small.text(term)})

    assert Shown.text(%{"a" => %{"_pin" => 7}}) == ~S(%{"a" => %{"_pin" => …}})
    assert Shown.text(["abc", "def"], 40) == Shown.text(["abc", "def"], 40, limit: 50)
  end
end
