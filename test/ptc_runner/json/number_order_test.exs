defmodule PtcRunner.Json.NumberOrderTest do
  # Numbers of JSON texts that are not decoded are compared by their values: integers of 2^53 or more beside floats, and decimals beside both.
  # What a program gives over a text is what it gives over the terms. PTC_SEED repeats a run, PTC_CASES=10 takes ten times as many.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.Codec
  alias PtcRunner.Test.Environment

  @cases 12
  # A longer text is read in place.
  @pad String.duplicate(" ", 5_000)

  # Numbers near each other, where a float and an integer are hard to tell apart.
  defp number do
    base = Enum.random([0, 1, 53, 54, 60, 63, 64, 70, 77, 100, 400, 1_000])
    near = Integer.pow(2, base) * Enum.random([1, 3, 10]) + Enum.random(-2..2)
    integer = Enum.random([1, -1]) * Enum.random([near, Integer.pow(10, Enum.random(0..25))])

    case Enum.random(1..5) do
      1 ->
        integer

      2 ->
        integer

      3 ->
        integer / 1

      4 ->
        integer / 1 + Enum.random([-1.0, 0.5, 1.0])

      5 ->
        Enum.random([
          1.0e23,
          100_000_000_000_000_000_000_000,
          9_007_199_254_740_993,
          9_007_199_254_740_992.0
        ])
    end
  end

  defp rows(numbers) do
    for {n, at} <- Enum.with_index(numbers) do
      %{"n" => n, "m" => Enum.random(numbers), "at" => at, "pair" => [n, at], "by" => %{"k" => n}}
    end
  end

  defp op(name, fields),
    do: fields |> Map.new(fn {k, v} -> {to_string(k), v} end) |> Map.put("op", name)

  defp get(field), do: op("get", field: field)
  defp over(step), do: op("pipe", steps: [op("load", name: "rows"), step])

  # `value` is a number: a constant of the program, or one of the context.
  defp programs(value) do
    compared =
      for name <- ~w(eq neq gt gte lt lte),
          right <- [value, get("m")],
          left <- [get("n"), right] do
        over(op("map", expr: op(name, left: left, value: right)))
      end

    nested =
      for {left, right} <- [{get("pair"), [value, 0]}, {get("by"), %{"k" => value}}],
          name <- ~w(eq lt gt) do
        over(op("map", expr: op(name, left: left, value: right)))
      end

    others = [
      op("filter", where: op("gte", field: "n", value: value)),
      op("filter", where: op("in", field: "n", value: [value, 1, get("m")])),
      op("filter_in", field: "n", value: [value, 7]),
      op("reject", where: op("eq", field: "n", value: get("m"))),
      op("count", where: op("lt", left: get("m"), value: get("n"))),
      op("sort_by", field: "n"),
      op("sort_by", by: [%{"field" => "n", "order" => "desc"}, %{"field" => "m"}]),
      op("sort_by", expr: get("pair")),
      op("min_by", field: "n"),
      op("max_by", expr: get("n")),
      op("max_by", expr: get("by")),
      op("min", field: "n"),
      op("max", field: "m"),
      op("distinct", field: "n"),
      op("distinct", expr: get("by")),
      op("group_by", field: "n", each: %{"c" => op("count", []), "m" => op("max", field: "m")}),
      op("group_by", expr: get("pair"), each: %{"c" => op("count", [])}),
      op("join", with: op("load", name: "rows"), left: "n", right: "m", as: "o"),
      op("join", with: op("load", name: "rows"), on: "n", kind: "group", as: "o"),
      op("map", expr: op("contains", left: get("pair"), value: value)),
      op("find", where: op("gt", left: get("n"), value: value)),
      op("median", field: "n"),
      op("map", expr: op("get", from: get("pair"), key: 0))
    ]

    compared ++ nested ++ Enum.map(others, &over/1)
  end

  # -0.0 and 0.0, 1 and 1.0 are not the same term.
  defp exact(value), do: :erlang.term_to_binary(value)

  defp outcome({:ok, value, _delta, _memory}), do: {:ok, exact(value)}
  defp outcome({:error, reason}), do: {:error, reason}

  # The values of what is compared, where structs are values: a decimal beside numbers of a text.
  defp decimal(number) when is_integer(number),
    do: %{__struct__: Decimal, sign: if(number < 0, do: -1, else: 1), coef: abs(number), exp: 0}

  defp decimal(number) do
    {:ok, made, _} = PtcRunner.SubAgent.Signature.Coercion.coerce(number, :decimal)
    if is_binary(made), do: parts(made), else: made
  end

  defp parts(text) do
    {sign, text} =
      if String.starts_with?(text, "-"),
        do: {-1, binary_part(text, 1, byte_size(text) - 1)},
        else: {1, text}

    {mantissa, exp} =
      case String.split(text, ["e", "E"]) do
        [mantissa] -> {mantissa, 0}
        [mantissa, exp] -> {mantissa, String.to_integer(exp)}
      end

    [whole | fraction] = String.split(mantissa, ".")
    fraction = Enum.join(fraction)

    %{
      __struct__: Decimal,
      sign: sign,
      coef: String.to_integer(whole <> fraction),
      exp: exp - byte_size(fraction)
    }
  end

  test "a program over a text and over its terms" do
    :rand.seed(:exsss, Environment.seed())

    for _case <- 1..Environment.cases(@cases) do
      numbers = for _ <- 1..12, do: number()
      text = Codec.encode!(rows(numbers))
      rows = Codec.decode!(text)
      value = Enum.random(numbers)

      for node <- programs(value) ++ programs(op("load", name: "v")),
          structs <- [:maps, :values],
          v <- [value, decimal(value)],
          structs == :values or v == value do
        run = fn rows ->
          Json.run(%{"program" => node},
            context: %{"rows" => rows, "v" => v},
            structs: structs,
            edition: 2
          )
          |> outcome()
        end

        assert {node, v, run.(Json.text(@pad <> text))} == {node, v, run.(rows)}
      end
    end
  end
end
