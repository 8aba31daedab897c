defmodule PtcRunner.Test.Generator.Texts do
  @moduledoc false
  # Texts, dates and patterns for the operations of edition 2.

  import PtcRunner.Test.Random

  alias PtcRunner.Test.Generator.Data

  @doc "A row that also has a text and a date."
  def row do
    map({Data.row(), %{"text" => maybe(80, text()), "at" => maybe(80, date())}}, fn {row, more} ->
      Map.merge(row, more)
    end)
  end

  @doc "Short texts, and some with what upper case, trimming and graphemes are hard for."
  def text do
    frequency([
      {4, one_of([" Ann Lee ", "a,b;c", "order-12", "12.5", "aab", "a-b-c", "k=v"])},
      {2, one_of([" +7 ", "1e3", "007", "-0", "-0.0", "1e999", "+-1", "true", "12 ", "1."])},
      {2, one_of(["Straße", "ŘEŘICHA", "ΑΣ ΟΔΟΣ", "İi", "ﬁx", "ǆ", "e\u0301x", "👩‍👩‍👧 x"])},
      {1, one_of(["\u00a0x\t", "\u3000日本\n", "x\r\ny", "\u2028", "🇨🇿🇨🇿", "\"q\"\\", "\x01"])},
      {1, Data.string()}
    ])
  end

  @doc "Patterns that the engines of Erlang and of the library read alike."
  def pattern do
    one_of([
      "a",
      "[0-9]+",
      "([a-zA-Z]+)-([0-9]+)",
      "(?P<user>[a-z]+)",
      "(?<k>[a-z])=(?<v>[a-z])?",
      "^[ ]*$",
      "(a)|(b)",
      "a*",
      "",
      "(?i)ORDER",
      ".",
      "x$",
      "[^,;]+",
      "é|日",
      "(?:a|ab)(c|-)?"
    ])
  end

  @doc "A pattern that is none."
  def no_pattern, do: one_of(["(", "a)", "[", "a{2,1}", "*a"])

  @doc "ISO 8601 texts, dates of Elixir, and a few that are no dates."
  def date do
    frequency([
      {6, one_of(["2024-02-29", "2024-01-31", "2023-12-31", "2021-01-03", "2024-03-01"])},
      {3, one_of(["2024-02-29T10:30:00", "2024-03-31T23:59:59", "2023-02-28T00:00:00.5"])},
      {3, one_of(["2024-02-29T10:30:00Z", "2024-01-31T23:59:59.999Z", "2024-12-30T00:00:00Z"])},
      {2, one_of(["2024-02-29T23:30:15.250-05:00", "2024-03-01T00:30:00+14:00"])},
      {1, one_of(["9999-12-31", "0000-01-01", "0001-01-01T00:00:00Z"])},
      {1, one_of([~D[2024-02-29], ~N[2024-01-31 10:30:00], ~U[2024-03-01 00:00:00.500Z]])},
      {1, one_of(["2024-02-30", "2024-13-01", "yesterday", "", "2024-02", "2024-01-01T25:00:00"])}
    ])
  end

  @doc "A constant date that a program can have as text."
  def date_text,
    do: one_of(["2024-02-29", "2024-01-31T10:30:00Z", "2023-03-31", "2024-03-01T00:30:00+14:00"])

  def unit, do: one_of(~w(year month week day hour minute second))

  def part do
    one_of(
      ~w(year quarter month week day weekday yearday hour minute second date month_start week_start year_month)
    )
  end
end
