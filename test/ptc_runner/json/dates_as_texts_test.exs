defmodule PtcRunner.Json.DatesAsTextsTest do
  # A program over dates and times, and the same program over their ISO 8601 texts, give the same: each operation that takes a text, in
  # each place of a program, over each kind of date and in each form of a run.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.Codec

  # Two values of a kind. Their order is that of their texts.
  @kinds [
    {~D[2023-12-31], ~D[2024-02-29]},
    {~T[09:05:07], ~T[10:30:00]},
    {~T[09:05:07.001], ~T[10:30:00.120]},
    {~N[2023-12-31 23:59:59], ~N[2024-02-29 10:30:00]},
    {~N[2024-02-29 10:30:00.000001], ~N[2024-02-29 10:30:00.500000]},
    {~U[2023-12-31 23:59:59Z], ~U[2024-02-29 10:30:00Z]},
    {~U[2024-02-29 10:30:00.000000Z], ~U[2024-02-29 10:30:00.123456Z]}
  ]

  @comparisons ~w(eq neq gt gte lt lte contains in starts_with ends_with)
  @orders ~w(gt gte lt lte)
  @patterns ["^\\d{4}", "0", "(\\d+)[-:](\\d+)", "(?<y>\\d{2})", "Z$", "^x"]
  @parts ~w(year quarter month week day weekday yearday hour minute second date month_start week_start year_month)
  @units ~w(year month week day hour minute second)

  defp op(name, fields \\ []),
    do: fields |> Map.new(fn {key, value} -> {to_string(key), value} end) |> Map.put("op", name)

  defp get(field), do: op("get", field: field)
  defp load(name), do: op("load", name: name)
  defp pipe(steps), do: op("pipe", steps: steps)
  defp rows(step), do: pipe([load("rows"), step])

  # An operation on the field "a": given as a value, as a field, and as the current value.
  defp on(name, fields \\ []) do
    a = get("a")

    [
      op(name, [value: a] ++ fields),
      op(name, [field: "a"] ++ fields),
      pipe([a, op(name, fields)])
    ]
  end

  defp compared(name, left, value), do: op(name, left: left, value: value)

  defp beginnings(text) do
    case String.split(text, "T") do
      [day, clock] ->
        beginnings(day) ++ for(n <- [2, 5], do: "#{day}T#{String.slice(clock, 0, n)}")

      [<<_, _, ":", _::binary>> = clock] ->
        [String.slice(clock, 0, 5)]

      [day] ->
        [day, String.slice(day, 0, 4), String.slice(day, 0, 7)]
    end
  end

  # Nodes over a row; `text` is that of its "a".
  defp of_row(text) do
    [a, b, l, m, n, s] = Enum.map(~w(a b l m n s), &get/1)
    part = String.slice(text, 2, 4)
    texts = [String.slice(text, 0, 4), part, text, "", "zzz", s]
    values = [a, b, n, l, m, [text], [a]]
    nested = [%{"k" => a}, %{"k" => text}, [a], [b, text]]

    List.flatten([
      Enum.map(~w(upper lower trim length to_text to_number), &on/1),
      for(by <- ["-", ":", "T", "0", text, a, b], do: on("split", by: by)),
      op("split", value: s, by: a),
      for(
        {find, with} <- [{"0", "x"}, {a, "x"}, {"-", b}, {b, a}],
        do: on("replace", find: find, with: with)
      ),
      op("replace", value: s, find: a, with: b),
      for(pattern <- @patterns, all <- [true, false]) do
        on("extract", pattern: pattern, all: all)
      end,
      for(pattern <- @patterns) do
        [op("matches", left: a, pattern: pattern), op("matches", field: "a", pattern: pattern)]
      end,
      # In an order a date stands only beside a date and the beginning of one.
      for(
        name <- @comparisons,
        texts = if(name in @orders, do: beginnings(text), else: texts),
        value <- texts ++ values ++ nested
      ) do
        [
          compared(name, a, value),
          op(name, field: "a", value: value),
          pipe([a, op(name, value: value)]),
          compared(name, value, a)
        ]
      end,
      for(name <- @comparisons, left <- nested, value <- nested, do: compared(name, left, value)),
      op("text", parts: [a, "x", b], separator: "|"),
      op("text", parts: [l, m, %{"k" => [a]}]),
      for(value <- nested ++ [l], do: op("to_text", value: value)),
      for(part <- @parts, do: on("date_part", part: part)),
      for(unit <- @units, do: on("date_add", amount: 3, unit: unit)),
      for(unit <- @units, {from, to} <- [{a, b}, {a, text}, {text, b}, {n, a}]) do
        op("date_diff", from: from, to: to, unit: unit)
      end,
      op("get", from: m, key: a),
      op("get", from: m, key: b, default: "none"),
      op("get", from: l, path: [0]),
      op("get", key: a),
      pipe([op("list", items: [%{"key" => a, "value" => b}]), op("from_entries")]),
      pipe([a, op("typeof")]),
      op("coalesce", values: [n, a]),
      op("if", condition: a, then: b, else: 0),
      op("set", fields: %{"x" => a, "a" => op("upper", value: a)}),
      for(name <- ~w(add sub mul div mod), do: op(name, left: a, right: 1)),
      op("round", value: a),
      op("range", from: a, to: b),
      op("call", tool: "echo", args: %{"x" => a, "y" => l}),
      op("call", tool: "shout", args: %{"x" => a}),
      op("call", tool: "shout_all", args: %{"xs" => l}),
      op("call", tool: "rows", args: %{})
    ])
    |> Enum.map(&pipe([load("row"), &1]))
  end

  # Nodes over the rows, by each of their fields.
  defp of_rows(text) do
    row = fn name -> pipe([load("row"), get(name)]) end

    for f <- ~w(a b n s),
        key = get(f),
        step <- [
          op("group_by", field: f),
          op("group_by", fields: [f, "b"], each: %{"n" => op("count")}),
          op("group_by", expr: key, as: "k", each: %{"n" => op("count")}),
          op("group_by", expr: op("text", parts: [key]), each: %{"n" => op("count")}),
          op("index_by", field: f),
          op("index_by", expr: key),
          pipe([op("index_by", field: f), op("keys")]),
          pipe([op("index_by", expr: key), op("entries")]),
          pipe([op("index_by", field: f), op("get", key: text)]),
          op("distinct", field: f),
          op("distinct", expr: key),
          pipe([op("map", expr: key), op("distinct")]),
          op("sort_by", field: f, order: "desc"),
          op("sort_by", expr: key),
          op("sort_by", by: [%{"field" => f}, %{"field" => "s", "order" => "desc"}]),
          op("min", field: f),
          op("max", expr: key),
          op("min_by", field: f),
          op("max_by", expr: key),
          op("sum", field: f),
          op("avg", field: f),
          op("filter_in", field: f, value: [text, "zzz"]),
          op("filter_in", field: f, value: row.("l")),
          op("filter_in", field: f, value: row.("m")),
          op("join", with: load("rows"), on: f),
          op("join", with: load("rows"), left: f, right: "s", as: "o"),
          op("join", with: load("rows"), left: "s", right: f, kind: "left"),
          op("filter", where: op("gt", field: f, value: hd(beginnings(text)))),
          op("reject", where: op("starts_with", field: f, value: String.slice(text, 0, 4))),
          op("count", where: op("lte", field: f, value: text)),
          op("fold", init: "", expr: op("text", parts: [op("var", name: "acc"), key])),
          op("concat", lists: [pipe([op("map", expr: key)]), [text]]),
          pipe([op("map", expr: key), op("contains", value: text)]),
          pipe([op("map", expr: key), op("in", value: text)]),
          op("map", expr: op("call", tool: "echo", args: %{"d" => key})),
          op("map", expr: op("call", tool: "shout", args: %{"x" => key}, on_error: "none"))
        ],
        do: rows(step)
  end

  defp texts(%module{} = value) when module in [Date, Time, NaiveDateTime, DateTime],
    do: module.to_iso8601(value)

  defp texts(map) when is_map(map),
    do: Map.new(map, fn {key, value} -> {to_string(key), texts(value)} end)

  defp texts(list) when is_list(list), do: Enum.map(list, &texts/1)
  defp texts(name) when is_atom(name) and name not in [nil, true, false], do: to_string(name)
  defp texts(other), do: other

  # A row as Ecto has it.
  defp named(row), do: Map.new(row, fn {key, value} -> {String.to_atom(key), value} end)

  defp tools(rows) do
    %{
      "echo" => & &1,
      "shout" => {fn %{"x" => x} -> x <> "!" end, "(x :string) -> :string"},
      "shout_all" => {fn %{"xs" => xs} -> Enum.join(xs, "!") end, "(xs [:string]) -> :string"},
      "rows" => fn _args -> rows end
    }
  end

  # An error shows the value, so only its kind is compared.
  defp outcome({:ok, value, delta, memory}), do: {:ok, texts(value), texts(delta), texts(memory)}
  defp outcome({:error, {kind, _text}}), do: {:error, kind}

  defp outcomes(program, opts) do
    text = Codec.encode!(program)
    {:ok, compiled} = Json.compile(text, Keyword.take(opts, [:structs, :keys, :edition]))

    [
      Json.run(program, opts),
      Json.run(text, [strict: true] ++ opts),
      Json.run(compiled, Keyword.drop(opts, [:structs, :keys, :edition])),
      Json.explain(program, opts).result
    ]
    |> Enum.map(&outcome/1)
    |> Enum.uniq()
  end

  # Two kinds of one struct share the nodes; with PTC_CASES each takes all. Dates are of one kind.
  defp taken(nodes, number) do
    if number == 0 or PtcRunner.Test.Environment.many?(),
      do: nodes,
      else: Enum.drop(nodes, rem(number, 2)) |> Enum.take_every(2)
  end

  for {{x, y}, number} <- Enum.with_index(@kinds) do
    test "kind #{number}: #{inspect(x)}" do
      {x, y} = unquote(Macro.escape({x, y}))
      text = texts(y)

      row = %{
        "a" => y,
        "b" => x,
        "l" => [y, x],
        "m" => %{text => 1, "k" => y},
        "n" => nil,
        "s" => "on #{text}."
      }

      more = [%{"a" => x, "s" => text}, %{"b" => y, "s" => texts(x)}, %{"a" => nil}, %{"n" => y}]
      rows = [row | Enum.map(more, &Map.merge(row, &1))]
      given = %{"row" => row, "rows" => rows}

      named = %{
        "row" => row |> named() |> Map.put(:m, row["m"]),
        "rows" => Enum.map(rows, &named/1)
      }

      opts = [structs: :values, edition: 2, now: "2024-05-05T00:00:00Z"]

      for node <- taken(of_row(text) ++ of_rows(text), unquote(number)),
          program = %{"program" => node} do
        plain = outcomes(program, [context: texts(given), tools: tools(texts(rows))] ++ opts)
        assert [_one] = plain

        for {keys, context} <- [strings: given, any: named] do
          more = [context: context, tools: tools(rows), keys: keys]
          assert {node, outcomes(program, more ++ opts)} == {node, plain}
        end
      end
    end
  end

  describe "a date beside the beginning of the text of one" do
    test "is compared with its first moment" do
      days = for day <- [~D[2024-01-31], ~D[2024-02-01], ~D[2025-01-01]], do: %{"d" => day}
      at = for n <- [~U[2024-01-31 23:00:00Z], ~U[2024-02-01 00:00:00Z]], do: %{"d" => n}

      for {rows, name, value, count} <- [
            {days, "gte", "2024-02", 2},
            {days, "lt", "2024-02", 1},
            {days, "lt", "2025", 2},
            {days, "gt", "2024", 3},
            {days, "gt", "today", 0},
            {days, "lt", "today", 0},
            {at, "gte", "2024-02", 1},
            {at, "lt", "2024-01-31T23:30", 1},
            {at, "lt", "2024-01-31 23:00", 0},
            {at, "gte", "2024-01-31T23Z", 2},
            {at, "gte", "2024-02-01T00:30+01:00", 1},
            {at, "gt", "23:00", 0},
            # A date and a time of day have no order.
            {days, "gt", "10:00:00", 0},
            {days, "lt", "10:00:00", 0},
            # The same instant in another zone.
            {at, "lte", "2024-02-01T00:00:00+01:00", 1},
            {at, "gt", "2024-01-31", 2}
          ] do
        where = op(name, field: "d", value: value)
        computed = op(name, left: get("d"), value: op("text", parts: [value]))

        turned =
          op(String.replace(name, ~w(g l), &%{"g" => "l", "l" => "g"}[&1], global: false),
            left: value,
            value: get("d")
          )

        for where <- [where, computed, turned] do
          program = %{"program" => pipe([load("rows"), op("filter", where: where), op("count")])}
          opts = [context: %{"rows" => rows}, structs: :values, edition: 2]
          assert {where, Json.run!(program, opts)} == {where, count}
        end
      end
    end

    test "a decimal beside a text that is no number" do
      price = %{__struct__: Decimal, sign: 1, coef: 125, exp: -1}

      for name <- ~w(gt gte lt lte) do
        program = %{"program" => op(name, left: load("p"), value: "abc")}
        assert Json.run!(program, context: %{"p" => price}, structs: :values, edition: 2) == false
      end
    end
  end
end
