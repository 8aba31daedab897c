defmodule PtcRunner.Test.BrokenAnswers.Values do
  @moduledoc "Random types and values of them."

  @names ~w(invoice_number line_items unit_price shipped_at summary reasoning confidence sentiment
    first_name last_name street postal_code country phone email steps description priority status
    assignee comments author title body labels milestone quantity currency discount rating reviews
    source_url language pages isbn published sku stock warehouse width height weight category result
    answer explanation sql query arguments tool next_action done count min_value max_value x y id)

  @strings [
    "",
    "ok",
    "N/A",
    "Zürich",
    "東京都 渋谷区",
    "👍 done",
    "2026-11-21",
    "2026-11-21T18:00:00Z",
    "12:30",
    "€ 1.299,00",
    "$5",
    "42",
    "true",
    "no",
    "C++",
    "O'Brien",
    "don't",
    "the dog's bowl",
    "rock 'n' roll",
    "https://example.com/a?b=1&c=[2]#d",
    "mail to: a@b.ch",
    "Yes, it works.",
    "First, check the log; then, restart the server.",
    "Note: see section 3 (page 12)",
    "a, b, and c",
    "Total: 12, of which 3 are open",
    "50/50",
    "100%",
    "#1 in sales",
    "-- none --",
    "x = y + 1",
    "if (a) { b(); }",
    "SELECT id, name FROM users WHERE age > 30",
    "f(x) -> y",
    "<b>bold</b>",
    "*very* important",
    "line one\nline two",
    "tab\there",
    "C:\\Users\\ada",
    "\\d+",
    "he said \"hi\"",
    "the \"best\" one, maybe",
    "key: value",
    "[1] Smith et al.",
    "{name}",
    "a/b",
    "// not a comment",
    "The quarterly report shows growth in all regions, with Europe leading.",
    "Customer called about a broken screen. Wants a refund; escalated to Bob."
  ]

  @doc "The type of an answer."
  def type do
    case Enum.random(1..10) do
      1 -> {:list, object(2)}
      2 -> {:list, scalar()}
      _object -> object(3)
    end
  end

  defp object(depth) do
    names = Enum.take_random(@names, Enum.random(2..6))
    {:map, for(name <- names, do: {name, field(depth)})}
  end

  defp field(depth) do
    case Enum.random(1..12) do
      n when n <= 7 or depth == 1 -> maybe(scalar())
      n when n <= 9 -> maybe({:list, scalar()})
      10 -> maybe({:list, object(depth - 1)})
      _object -> maybe(object(depth - 1))
    end
  end

  defp maybe(type), do: if(Enum.random(1..6) == 1, do: {:optional, type}, else: type)

  defp scalar, do: Enum.random([:string, :string, :string, :int, :int, :float, :bool])

  @doc "A value of a type, objects as lists of keys and values."
  def value({:optional, type}), do: if(Enum.random(1..3) == 1, do: nil, else: value(type))
  def value({:list, type}), do: for(_ <- 1..Enum.random(1..4), do: value(type))
  def value({:map, fields}), do: Map.new(fields, fn {name, type} -> {name, value(type)} end)
  def value(:string), do: Enum.random(@strings)
  def value(:bool), do: Enum.random([true, false])
  def value(:float), do: Float.round(:rand.uniform() * Enum.random([1, 100, 10_000]), 2)

  def value(:int),
    do: Enum.random([0, 1, -1, Enum.random(2..99), Enum.random(-9999..9999), 1_234_567])

  @doc "The signature of a type."
  def signature({:optional, type}), do: signature(type) <> "?"
  def signature({:list, type}), do: "[" <> signature(type) <> "]"

  def signature({:map, fields}) do
    fields = Enum.map_join(fields, ", ", fn {name, type} -> name <> " " <> signature(type) end)
    "{" <> fields <> "}"
  end

  def signature(scalar), do: ":#{scalar}"
end
