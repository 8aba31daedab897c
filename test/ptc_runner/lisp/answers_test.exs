defmodule PtcRunner.Lisp.AnswersTest do
  # What Elixir evaluates of a run, and the words of errors.

  use ExUnit.Case, async: true

  alias PtcRunner.Lisp.{Answers, Regex}
  alias PtcRunner.Lisp.Answers.Patterns

  doctest PtcRunner.Lisp.Answers
  doctest PtcRunner.Lisp.Answers.Dates
  doctest PtcRunner.Lisp.Answers.Format
  doctest PtcRunner.Lisp.Answers.Json
  doctest PtcRunner.Lisp.Answers.Patterns
  doctest PtcRunner.Lisp.Answers.Regexes
  doctest PtcRunner.Lisp.Answers.Replacement
  doctest PtcRunner.Lisp.Answers.Search
  doctest PtcRunner.Lisp.FaultWords
  doctest PtcRunner.Lisp.FaultWords.Arguments
  doctest PtcRunner.Lisp.FaultWords.Names
  doctest PtcRunner.Lisp.FaultWords.Reasons
  doctest PtcRunner.Lisp.Text
  doctest PtcRunner.Lisp.Words

  @patterns ["", "a", "a*", "(a)|(b)", "(a)?", "b*?", "^", "$", "\\b", "(?=a)", "a|", "|a"] ++
              ["(|a)(b)?", "é*", "[^a]", "\\s*", "(?<=b)", "\\r?\\n|", "x*(b)?"]
  @letters ["a", "b", "é", "\n", "\r\n", " ", "x", "👍"]

  test "searches, splits and replacements are those of :re" do
    for pattern <- @patterns, seed <- 1..40 do
      :rand.seed(:exsss, {seed, byte_size(pattern), 7})
      text = Enum.map_join(0..:rand.uniform(7), fn _ -> Enum.random(@letters) end)
      text = if seed == 1, do: "", else: text
      new = Enum.random(["[&]", "\\1-", "\\g{2}\\&", "\\\\x", "\\0", "q"])
      {:ok, compiled} = :re.compile(pattern, [:unicode, :ucp])

      all =
        case :re.run(text, compiled, [:global, {:capture, :all, :index}]) do
          {:match, all} -> all
          :nomatch -> []
        end

      assert Patterns.all(text, compiled, :infinity) == {:ok, all}

      regex = %Regex{source: pattern}
      # From Erlang/OTP 28 on, `:re.split` of an empty text has no part.
      split = if text == "", do: [""], else: :re.split(text, compiled, return: :binary)
      assert {{true, ^split}, _} = Answers.answer("re-split", [regex, text], {60_000, 0}, %{})
      replaced = :re.replace(text, compiled, new, [:global, return: :binary])

      assert {{true, ^replaced}, _} =
               Answers.answer("replace", [text, regex, new], {60_000, 0}, %{})
    end
  end

  test "a search that takes too many steps, or too much time, ends" do
    regex = %Regex{source: "(a+)+$"}
    text = String.duplicate("a", 3_000) <> "!"

    assert {{false, "type_error", "Regex complexity limit exceeded (ReDoS protection)"}, _} =
             Answers.answer("re-find", [regex, text], {60_000, 0}, %{})

    regex = %Regex{source: "(a?){20}a{20}|a"}
    assert {{:error, :timeout}, _} = Answers.answer("re-seq", [regex, text], {0, 0}, %{})
  end

  test "a search that fails at each of many places ends at the deadline, and leaves no process and no message" do
    # Each place takes fewer steps than the limit of the matcher; all of them take much longer than a millisecond. No letter must be in the text,
    # so that no matcher sees at once that there is no match.
    text = String.duplicate("a", 32_000)
    regex = %Regex{source: "a*?[bc]"}

    for {name, args} <- [
          {"re-find", [regex, text]},
          {"re-seq", [regex, text]},
          {"re-split", [regex, text]},
          {"split", [text, regex]},
          {"replace", [text, regex, "x"]},
          {"extract", [regex, text]},
          {"extract-int", [regex, text]}
        ] do
      assert {{:error, :timeout}, _} = Answers.answer(name, args, {1, 0}, %{})
      refute_received _
    end

    assert Process.info(self(), :monitors) == {:monitors, []}
  end

  test "a search that builds more than the heap of its run ends" do
    text = String.duplicate("ab", 16_000)

    assert {{:error, :memory_exceeded}, _} =
             Answers.answer("re-seq", [%Regex{source: "a"}, text], {60_000, 1_000}, %{})
  end

  test "a long text is searched up to a whole character" do
    text = String.duplicate("a", 32_766) <> "éé" <> String.duplicate("b", 10)

    assert {{true, nil}, _} =
             Answers.answer("re-find", [%Regex{source: "b"}, text], {60_000, 0}, %{})

    assert {{true, "é"}, _} =
             Answers.answer("re-find", [%Regex{source: "é+"}, text], {60_000, 0}, %{})
  end

  test "texts that are not UTF-8, and values that are no texts" do
    for name <- ["re-find", "re-matches", "re-seq", "re-split"],
        value <- [<<255>>, nil, 5, [1]] do
      assert {{false, "type_error", text}, _} =
               Answers.answer(name, [%Regex{source: "a"}, value], {60_000, 0}, %{})

      assert text =~ name
    end
  end

  test "patterns are compiled once" do
    {_answer, patterns} = Answers.answer("re-find", [%Regex{source: "a"}, "a"], {60_000, 0}, %{})
    assert map_size(patterns) == 1

    assert {_answer, ^patterns} =
             Answers.answer("re-find", [%Regex{source: "a"}, "b"], {60_000, 0}, patterns)
  end

  test "formats with many decimals, large numbers and long directives" do
    format = fn args -> elem(Answers.answer("format", args, {60_000, 0}, %{}), 0) end
    assert format.(["%.2f", 1.0e300]) |> elem(0)
    assert {true, text} = format.(["%.1f", Integer.pow(10, 400)])
    assert byte_size(text) == 403
    assert {false, "runtime_error", _} = format.(["%.999999999f", 1.5])
    assert {true, "1e2"} = format.(["%s", "1e2"])
    assert {false, "type_error", _} = format.([<<"%", 255>>, 1])
  end

  test "dates that are out of range" do
    assert {false, "type_error", _} =
             Answers.Dates.answer(".plusDays", [~D[2024-01-01], Integer.pow(10, 30)])

    assert {false, "type_error", _} =
             Answers.Dates.answer(".minusDays", [~D[2024-01-01], 5_000_000])

    assert {false, "type_error", text} =
             Answers.Dates.answer("java.util.Date.", [Integer.pow(10, 500)])

    assert byte_size(text) < 2_000
  end
end
