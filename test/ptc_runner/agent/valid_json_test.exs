defmodule PtcRunner.Agent.ValidJsonTest do
  # Of a text that is valid JSON nothing of the syntax is repaired: each leaf of the answer is the leaf of the text at the same
  # path, converted. `PTC_SEED` repeats a run, `PTC_CASES=500` takes 1,000,000 (`bin/test --all`).
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Json.Codec
  alias PtcRunner.Test.{AnswerGenerator, Environment}

  @cases 1_000
  @broken 200
  @ruled 1_000

  # Those of the types of `RuledGenerator`.
  @defaults ["none", 5]

  @tag timeout: 3_600_000
  test "each leaf of an answer is a leaf of the text, at its path" do
    seed = Environment.seed()
    cases = Environment.cases(@cases)

    counted =
      1..cases
      |> Task.async_stream(&outcome(seed, &1), ordered: false, timeout: :infinity)
      |> Enum.frequencies_by(fn {:ok, outcome} -> outcome end)

    assert counted[:same] > cases / 10
    assert counted[:converted] > cases / 30
    assert counted[:error] > cases / 10
  end

  @tag timeout: 3_600_000
  test "what is valid beside a break keeps its meaning" do
    seed = Environment.seed()
    cases = Environment.cases(@broken)

    for {name, break} <- breaks() do
      counted =
        1..cases
        |> Task.async_stream(&outcome(seed, &1, break), ordered: false, timeout: :infinity)
        |> Enum.frequencies_by(fn {:ok, outcome} -> outcome end)

      assert counted[:converted] > cases / 50, "#{name}: #{inspect(counted)}"
    end
  end

  @tag timeout: 3_600_000
  test "each leaf of an answer is a leaf of the text, also with rules, unions, names and maps of a type" do
    seed = Environment.seed()
    cases = Environment.cases(@ruled)

    counted =
      1..cases
      |> Task.async_stream(
        &judged(AnswerGenerator.ruled_case(seed, &1), {seed, &1}, fn t -> t end),
        ordered: false,
        timeout: :infinity
      )
      |> Enum.frequencies_by(fn {:ok, outcome} -> outcome end)

    assert counted[:same] > cases / 10
    assert counted[:converted] > cases / 400
    assert counted[:error] > cases / 20
  end

  # An object or a list with a comma too many, with a comment, and with brackets that close nothing.
  defp breaks do
    [
      comma: &"#{String.slice(&1, 0..-2//1)},#{String.last(&1)}",
      comment: &"#{String.first(&1)} // all\n#{String.slice(&1, 1..-1//1)}",
      close: &(&1 <> "]}")
    ]
  end

  defp outcome(seed, n, break \\ & &1),
    do: judged(AnswerGenerator.valid_case(seed, n), {seed, n}, break)

  defp judged(%{type: type, text: text}, {seed, n}, break) do
    {:ok, source} = Codec.decode(text)
    text = if source not in [[], %{}], do: break.(text), else: text

    case Agent.answer(text, type && {:signature, [], type}) do
      {:ok, answer, warnings} ->
        unless of?(answer, source) or of?(answer, %{"value" => source}) or
                 wrapped?(answer, source),
               do:
                 flunk(
                   "seed #{seed}, case #{n}: #{text}\nfor #{inspect(type)}\ngives #{inspect(answer)}\n#{inspect(warnings)}"
                 )

        if warnings == [], do: :same, else: :converted

      {:error, _errors, _feedback} ->
        :error
    end
  end

  # A list may be under "items", a value under "value".
  defp wrapped?(answer, %{"items" => items}) when is_list(answer), do: of?(answer, items)
  defp wrapped?(answer, %{"value" => value}), do: of?(answer, value)
  defp wrapped?(absent, empty) when empty == %{}, do: absent in [nil | @defaults]
  defp wrapped?(_answer, _source), do: false

  defp of?(same, same), do: true

  defp of?(%DateTime{} = time, text) when is_binary(text),
    do: match?({:ok, ^time, _offset}, DateTime.from_iso8601(text))

  defp of?(%Date{} = date, text) when is_binary(text), do: Date.to_iso8601(date) == text

  defp of?(%{__struct__: Decimal} = decimal, source) when is_binary(source) or is_number(source),
    do: rational(decimal) == rational(source)

  defp of?(%Range{} = range, source) when is_map(source),
    do: Enum.all?([:first, :last, :step], &of?(Map.fetch!(range, &1), source[to_string(&1)]))

  defp of?(%_struct{}, _source), do: false

  # A default, where the text has null.
  defp of?(default, nil) when default in @defaults, do: true

  defp of?(answer, source) when is_map(answer) and is_map(source) do
    fields?(answer, source) or (map_size(source) == 1 and of?(answer, hd(Map.values(source))))
  end

  # An object that stands alone in a list.
  defp of?(answer, [one]) when is_map(answer), do: of?(answer, one)

  defp of?(answer, source) when is_list(answer) and is_list(source),
    do:
      length(answer) == length(source) and
        answer |> Enum.zip(source) |> Enum.all?(fn {a, s} -> of?(a, s) end)

  # A value where a list is declared is the list of it.
  defp of?([one], source), do: of?(one, source) or inside?([one], source)

  # A text where a list, an object, a number or a boolean is declared, and a number where a text is.
  defp of?(answer, text) when is_binary(text),
    do:
      (is_atom(answer) and to_string(answer) == text) or parsed?(answer, text) or
        inside?(answer, text)

  defp of?(text, number) when is_binary(text) and is_number(number),
    do:
      match?(
        {^number, ""},
        if(is_integer(number), do: Integer.parse(text), else: Float.parse(text))
      )

  defp of?(answer, source) when is_number(answer) and is_number(source), do: answer == source

  # A boolean of `yes_no: true`.
  defp of?(answer, source) when is_boolean(answer) and source in [0, 1],
    do: answer == (source == 1)

  defp of?(_answer, _source), do: false

  defp fields?(answer, source) do
    Enum.all?(answer, fn {key, value} ->
      leaves = for {name, leaf} <- source, spelled(name) == spelled(to_string(key)), do: leaf
      Enum.any?(leaves, &of?(value, &1)) or (leaves == [] and value in @defaults)
    end)
  end

  # A numerator and a denominator that is a power of ten.
  defp rational(%{sign: sign, coef: coef, exp: exp}) when exp >= 0,
    do: {sign * coef * 10 ** exp, 1}

  defp rational(%{sign: sign, coef: coef, exp: exp}) do
    if rem(coef, 10) == 0,
      do: rational(%{sign: sign, coef: div(coef, 10), exp: exp + 1}),
      else: {sign * coef, 10 ** -exp}
  end

  defp rational(source) do
    text = if is_binary(source), do: String.trim(source), else: to_string(source)

    case Regex.run(~r/\A(-?)([0-9]+)(?:\.([0-9]+))?\z/, text) do
      [_, sign, whole | more] ->
        fraction = Enum.join(more)
        sign = if sign == "-", do: -1, else: 1
        coef = String.to_integer(whole <> fraction)
        rational(%{sign: sign, coef: coef, exp: -String.length(fraction)})

      nil ->
        :none
    end
  end

  defp parsed?(answer, text) when is_integer(answer),
    do: Integer.parse(String.trim(text)) == {answer, ""}

  defp parsed?(answer, text) when is_float(answer),
    do: match?({^answer, ""}, Float.parse(String.trim(text)))

  defp parsed?(_answer, _text), do: false

  defp inside?(answer, text) when is_binary(text) do
    case Codec.decode(text) do
      {:ok, value} when not is_binary(value) -> of?(answer, value)
      _none -> false
    end
  end

  defp inside?(_answer, _source), do: false

  defp spelled(name), do: name |> String.replace(["_", "-"], "") |> String.downcase()
end
