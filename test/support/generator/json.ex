defmodule PtcRunner.Test.Generator.Json do
  @moduledoc false
  # Random terms for the JSON writer, including terms without a JSON form; and random JSON texts
  # with the terms that they mean.

  import PtcRunner.Test.Random

  alias PtcRunner.Test.Strange

  @doc "A term that is JSON, unless `odd` percent of its leaves are not."
  def term(odd), do: term(odd, 4)

  defp term(odd, 0), do: leaf(odd)

  defp term(odd, depth) do
    below = lazy(fn -> term(odd, depth - 1) end)

    frequency([
      {4, leaf(odd)},
      {2, list_of(below, 0..5)},
      {3, map(list_of({key(odd), below}, 0..5), &Map.new/1)},
      {1, map([row(odd), integer(2..5)], fn [row, count] -> List.duplicate(row, count) end)}
    ])
  end

  defp row(odd) do
    %{
      "id" => integer(0..9),
      "name" => string(),
      :mixed => leaf(odd),
      "a key longer than any" => 1
    }
  end

  defp leaf(odd) do
    frequency([
      {4 * (100 - odd), scalar()},
      {4 * odd,
       one_of(
         [{1, 2}, self(), make_ref(), &Map.put/3, <<1::3>>, 1..2, [1 | 2], "\xFFx"] ++
           Strange.plain()
       )}
    ])
  end

  defp key(odd) do
    frequency([
      {300, string()},
      {100, one_of([:a, nil, true, :ключ, 7, -1.5, Integer.pow(10, 30)])},
      {odd, one_of([{1, 2}, [], %{}, ~D[2025-01-01], <<"a", 0x80>>])}
    ])
  end

  defp scalar do
    one_of([
      nil,
      true,
      false,
      one_of([:ok, :Grüße, String, :""]),
      string(),
      integer(-10..10),
      map(integer(0..130), &(Integer.pow(2, &1) - 1)),
      map(integer(0..130), &(-Integer.pow(2, &1) - 1)),
      float()
    ])
  end

  @doc "Any finite float, or one of few digits, near the limits of a layout."
  def float do
    bits = {integer(0..0xFFFFFFFF), integer(0..0xFFFFFFFF)}
    few_digits = {integer(-99_999_999..99_999_999), integer(-14..10)}

    one_of([
      map(bits, fn {high, low} ->
        case <<high::32, low::32>> do
          <<float::float>> -> float
          _not_finite -> low / 1000
        end
      end),
      map(few_digits, fn {digits, exponent} -> digits * :math.pow(10, exponent) end)
    ])
  end

  @doc "A string around the lengths at which the native code uses another algorithm."
  def string do
    char = one_of([?a, ?z, ?", ?\\, ?/, ?\n, 0, 0x1F, 0x7F, ?ä, ?€, 0x1F600, 0x2028, 0xFFFD])
    plain = frequency([{9, ?x}, {1, char}])

    one_of([list_of(char, 0..6), list_of(plain, 0..20), list_of(plain, 30..70)])
    |> map(&List.to_string/1)
  end

  @doc "`{text, term}`: a text in one of the many forms of the term."
  def text(depth \\ 4)
  def text(0), do: one_of([written_string(), written_scalar()])

  def text(depth) do
    below = lazy(fn -> text(depth - 1) end)
    entry = {one_of([written_string(), {~s("a"), "a"}, {~s("b"), "b"}]), below}

    frequency([
      {2, text(0)},
      {2, map(list_of(spaced(below), 0..5), &array/1)},
      {3, map(list_of(map(entry, &entry/1), 0..6), &object/1)},
      {1, map([entry, entry, integer(2..4)], &rows/1)}
    ])
  end

  defp array(items), do: {["[", Enum.intersperse(texts(items), ","), "]"], values(items)}

  defp entry({{key_text, key}, {text, value}}), do: {[key_text, ":", text], {key, value}}

  # Of duplicate keys the first one counts.
  defp object(entries),
    do:
      {["{", Enum.intersperse(texts(entries), ","), "}"], entries |> values() |> first_of_each()}

  defp rows([first, second, count]),
    do: [entry(first), entry(second)] |> object() |> List.duplicate(count) |> array()

  defp first_of_each(pairs), do: pairs |> Enum.reverse() |> Map.new()

  defp spaced(template) do
    blank = one_of(["", "", " ", "\n\t", "\r\n  "])

    map({blank, template, blank}, fn {before, {text, value}, behind} ->
      {[before, text, behind], value}
    end)
  end

  defp written_scalar do
    one_of([
      {"null", nil},
      {"true", true},
      {"false", false},
      map(integer(-999..999), &{Integer.to_string(&1), &1}),
      map(integer(17..21), &{String.duplicate("9", &1), Integer.pow(10, &1) - 1}),
      map(float(), &{Float.to_string(&1), &1}),
      one_of([{"-0", 0}, {"-0.0", -0.0}, {"1E2", 100.0}, {"0.5e-1", 0.05}, {"1e-999", 0.0}])
    ])
  end

  defp written_string do
    map({string(), integer(0..3)}, fn {string, style} ->
      {[?", for(<<char::utf8 <- string>>, do: written_char(char, style)), ?"], string}
    end)
  end

  defp written_char(char, _style) when char in [?", ?\\], do: [?\\, char]
  defp written_char(?\n, _style), do: "\\n"
  defp written_char(?/, 1), do: "\\/"
  defp written_char(char, style) when char < 0x20 or style == 0, do: escaped(char)
  defp written_char(char, _style), do: <<char::utf8>>

  defp escaped(char) when char > 0xFFFF do
    for <<unit::16 <- :unicode.characters_to_binary([char], :utf8, :utf16)>>, do: escaped(unit)
  end

  defp escaped(char), do: ["\\u", char |> Integer.to_string(16) |> String.pad_leading(4, "0")]

  defp texts(pairs), do: Enum.map(pairs, &elem(&1, 0))
  defp values(pairs), do: Enum.map(pairs, &elem(&1, 1))
end
