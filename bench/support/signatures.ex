defmodule Bench.Signatures do
  @moduledoc false
  # The section `signatures`: its cases, and its part of the report with its own bars.

  alias Bench.{Harness, Jiffy, Layout, Stats, Table}
  alias Bench.SignaturesByHand, as: ByHand
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Coercion, Validator}
  alias PtcRunner.Test.SignatureOracle

  @row {:map, [{"id", :int}, {"score", :float}, {"metadata", :map}]}
  @type_of_data {:map, [{"results", {:list, @row}}]}

  @text "(query :string, options {limit :int?, sort :string?}) -> " <>
          "{results [{id :int, score :float, metadata :map}], total :int}"

  # As long as the signature.
  @json ~s({"query":"rows","options":{"limit":10,"sort":"up"},"results":[{"id":1,"score":2.5,) <>
          ~s("metadata":{"a":"bcdef"}}],"total":17})

  @rows 10_000
  @growth [1_000, 10_000, 100_000, 1_000_000]

  @titles %{
    validate_right: "validate, all right",
    validate_wrong: "validate, every row wrong",
    coerce_nothing: "coerce, nothing to change",
    coerce_all: "coerce, every id and score a string",
    parse: "parse",
    validate_one: "one row: validate",
    coerce_one: "one row: coerce"
  }

  # {case, side, at most so many times as long}
  @bars [
    {:validate_right, :pattern, 2.0},
    {:validate_right, :oracle, 0.15},
    {:coerce_nothing, :elixir, 0.5},
    {:coerce_all, :elixir, 0.7},
    {:validate_wrong, :elixir, 0.7},
    {:parse, :jiffy, 1.0}
  ]

  @sides %{
    native: "this library",
    elixir: "Elixir by hand",
    tuned: "Elixir, tuned",
    pattern: "heads of a function",
    oracle: "walk of the type in Elixir",
    jiffy: "jiffy.decode of as much JSON"
  }

  # Nanoseconds that a call for one row may cost more than Elixir by hand.
  @call_costs 500
  @growth_limit 1.05

  @doc "Measures everything; `quick?` leaves the million rows out."
  @spec measure(Harness.effort(), boolean) :: [Harness.result()]
  def measure(effort, quick?) do
    counts = if quick?, do: List.delete(@growth, 1_000_000), else: @growth

    Enum.flat_map(counts, fn rows ->
      Harness.measure(fn -> data(rows) end, groups(rows), effort, &IO.puts(line(&1)))
    end)
  end

  defp data(count) do
    rows = for id <- 1..count, do: row(id, id / 8)
    strings = for id <- 1..count, do: row("#{id}", "#{id / 8}")
    wrong = for id <- 1..count, do: row("#{id}", id / 8)
    %{right: %{"results" => rows}, strings: %{"results" => strings}, wrong: %{"results" => wrong}}
  end

  defp row(id, score), do: %{"id" => id, "score" => score, "metadata" => %{"page" => 1}}

  defp groups(@rows),
    do: [validate_right(), validate_wrong(), coerce_nothing()] ++ single() ++ [coerce_all(@rows)]

  defp groups(rows), do: [coerce_all(rows)]

  defp validate_right do
    group(:validate_right, @rows, [
      side(:native, & &1.right, &Validator.validate(&1, @type_of_data)),
      side(:pattern, & &1.right, &ByHand.right?/1, fn true -> :ok end),
      side(:elixir, & &1.right, &ByHand.validate/1),
      side(:oracle, & &1.right, &SignatureOracle.validate(&1, @type_of_data))
    ])
  end

  defp validate_wrong do
    group(:validate_wrong, @rows, [
      side(:native, & &1.wrong, &Validator.validate(&1, @type_of_data)),
      side(:elixir, & &1.wrong, &ByHand.validate/1),
      side(:tuned, & &1.wrong, &ByHand.validate_tuned/1)
    ])
  end

  defp coerce_nothing do
    group(:coerce_nothing, @rows, [
      side(:native, & &1.right, &Coercion.coerce(&1, @type_of_data)),
      side(:elixir, & &1.right, &ByHand.coerce/1)
    ])
  end

  defp coerce_all(rows) do
    group(:coerce_all, rows, [
      side(:native, & &1.strings, &Coercion.coerce(&1, @type_of_data)),
      side(:elixir, & &1.strings, &ByHand.coerce/1)
    ])
  end

  defp single do
    one = &hd(&1.right["results"])
    strings = &hd(&1.strings["results"])

    # What jiffy gives is another term; that it is right is known.
    jiffy =
      if Jiffy.available?(),
        do: [side(:jiffy, fn _ -> @json end, &Jiffy.decode/1, fn %{"total" => 17} -> :parsed end)],
        else: []

    [
      group(:validate_one, 1, [
        side(:native, one, &Validator.validate(&1, @row)),
        side(:elixir, one, &ByHand.validate_one/1)
      ]),
      group(:coerce_one, 1, [
        side(:native, strings, &Coercion.coerce(&1, @row)),
        side(:elixir, strings, &ByHand.coerce_one/1)
      ]),
      group(:parse, 1, [
        side(:native, fn _ -> @text end, &Signature.parse/1, fn {:ok, _} -> :parsed end) | jiffy
      ])
    ]
  end

  defp group(name, rows, sides),
    do: %{section: :signatures, case: name, rows: rows, origin: :built, sides: sides}

  defp side(name, pick, fun, value \\ & &1) do
    prepare = fn data ->
      input = pick.(data)
      fn -> fun.(input) end
    end

    %{name: name, prepare: prepare, value: value}
  end

  @doc "The section of the report."
  @spec markdown([Harness.result()]) :: iodata
  def markdown([]), do: []

  def markdown(results) do
    intro =
      "A map with a list of rows `{id :int, score :float, metadata :map}`; the text that is parsed " <>
        "is #{byte_size(@text)} bytes long, the JSON beside it #{byte_size(@json)}."

    [
      Layout.section(
        "Signatures",
        intro,
        ["", "rows", "side", "time", "this library ÷ side"],
        rows(results),
        [0, 2]
      ),
      Layout.section(
        "Signatures: bars",
        "Quotients are medians round by round.",
        ["what", "bar", "measured", ""],
        bars(results),
        [0, 1, 3]
      )
    ]
  end

  defp rows(results) do
    for result <- results, {name, _} <- result.sides do
      quotient =
        if name == :native, do: "", else: Table.ratio(Harness.ratio(result, :native, name))

      [
        @titles[result.case],
        Table.count(result.rows),
        @sides[name],
        Layout.cell(result, name),
        quotient
      ]
    end
  end

  defp bars(results) do
    quotients =
      for {name, side, limit} <- @bars,
          result = find(results, name),
          ratio = Harness.ratio(result, :native, side),
          do: [
            "#{@titles[name]} ÷ #{@sides[side]}",
            "≤ #{limit}",
            Table.ratio(ratio),
            verdict(ratio <= limit)
          ]

    calls =
      for name <- [:validate_one, :coerce_one], result = find(results, name) do
        more =
          Harness.median(Harness.side(result, :native)) -
            Harness.median(Harness.side(result, :elixir))

        [
          @titles[name],
          "≤ Elixir by hand + #{@call_costs} ns",
          "#{round(more)} ns more",
          verdict(more <= @call_costs)
        ]
      end

    quotients ++ calls ++ growth(results)
  end

  defp growth(results) do
    {native, most} = exponent(results, :native)
    {elixir, _} = exponent(results, :elixir)

    [
      [
        "growth of coerce with warnings, 1,000 to #{Table.count(most)} rows",
        "≤ #{@growth_limit}",
        "#{Table.ratio(native)} (Elixir by hand: #{Table.ratio(elixir)})",
        verdict(native <= @growth_limit)
      ]
    ]
  end

  defp exponent(results, side) do
    points =
      for %{case: :coerce_all, rows: rows} = result <- results,
          do: {rows, Harness.median(Harness.side(result, side))}

    {Stats.growth_exponent(points), points |> Enum.map(&elem(&1, 0)) |> Enum.max()}
  end

  defp find(results, name), do: Enum.find(results, &(&1.case == name and &1.rows in [1, @rows]))

  defp verdict(true), do: "reached"
  defp verdict(false), do: "**missed**"

  defp line(result) do
    sides = for {name, _} <- result.sides, do: "#{name} #{Layout.cell(result, name)}"
    "#{@titles[result.case]} · #{Table.count(result.rows)} rows\n    #{Enum.join(sides, " · ")}"
  end
end
