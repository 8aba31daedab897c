defmodule PtcRunner.Lisp.OracleTest do
  # Built-ins of numbers and texts, compared with what Elixir makes of the same arguments.

  use ExUnit.Case, async: true

  import Bitwise

  alias PtcRunner.Lisp

  # Values of each kind.
  @count 300

  setup do
    :rand.seed(:exsss, {1, 2, 3})
    :ok
  end

  # The value of a program with `data/a` and `data/b` for each pair, in one run.
  defp values(program, pairs) do
    rows = for {a, b} <- pairs, do: [a, b]
    source = "(for [[a b] data/rows] #{program})"
    assert {:ok, step} = Lisp.run(source, context: %{"rows" => rows}, timeout: 20_000)
    step.return
  end

  defp same(program, pairs, expected) do
    for {pair, {got, wanted}} <-
          Enum.zip(pairs, Enum.zip(values(program, pairs), Enum.map(pairs, expected))) do
      assert got === wanted,
             "#{program} of #{inspect(pair)}: #{inspect(got)}, not #{inspect(wanted)}"
    end
  end

  defp pairs(make), do: for(_ <- 1..@count, do: {make.(), make.()})

  defp integer do
    bits = Enum.random([3, 8, 31, 62, 63, 64, 65, 200])
    Enum.random([1, -1]) * (:rand.uniform(1 <<< bits) - 1)
  end

  defp float do
    Enum.random([-1, 1]) * :rand.uniform() * :math.pow(10, :rand.uniform(40) - 20)
  end

  @parts ["a", "B", "ß", "é", "e\u0301", "☕", "👍🏽", "👨\u200D👩\u200D👧", " ", "\n", "\r\n"] ++
           ["\"", "\#{", "\\", ",", "\t", "\0", "\u00A0"]

  defp text(parts \\ @parts),
    do: for(_ <- 1..:rand.uniform(12), into: "", do: Enum.random(parts))

  test "arithmetic of integers of any size" do
    pairs = pairs(&integer/0)
    same("(+ a b)", pairs, fn {a, b} -> a + b end)
    same("(- a b)", pairs, fn {a, b} -> a - b end)
    same("(* a b)", pairs, fn {a, b} -> a * b end)
    same("(bit-and a b)", pairs, fn {a, b} -> a &&& b end)
    same("(bit-xor a b)", pairs, fn {a, b} -> bxor(a, b) end)
    same("(bit-not a)", pairs, fn {a, _} -> bnot(a) end)
    same("(max a b)", pairs, fn {a, b} -> max(a, b) end)
    divided = Enum.reject(pairs, fn {_, b} -> b == 0 end)
    same("(mod a b)", divided, fn {a, b} -> Integer.mod(a, b) end)
    same("(rem a b)", divided, fn {a, b} -> rem(a, b) end)
    same("(quot a b)", divided, fn {a, b} -> div(a, b) end)
    same("(/ a b)", divided, fn {a, b} -> a / b end)
    shifts = for {a, _} <- pairs, do: {a, :rand.uniform(130) - 1}
    same("(bit-shift-left a b)", shifts, fn {a, b} -> a <<< b end)
    same("(bit-shift-right a b)", shifts, fn {a, b} -> a >>> b end)
    same("(bit-set a b)", shifts, fn {a, b} -> a ||| 1 <<< b end)
    same("(bit-clear a b)", shifts, fn {a, b} -> a &&& bnot(1 <<< b) end)
    same("(bit-flip a b)", shifts, fn {a, b} -> bxor(a, 1 <<< b) end)
    same("(bit-test a b)", shifts, fn {a, b} -> (a >>> b &&& 1) == 1 end)
  end

  test "floats, their integers and their texts" do
    pairs = pairs(&float/0)
    same("(+ a b)", pairs, fn {a, b} -> a + b end)
    same("(/ a b)", pairs, fn {a, b} -> a / b end)
    same("(floor a)", pairs, fn {a, _} -> floor(a) end)
    same("(ceil a)", pairs, fn {a, _} -> ceil(a) end)
    same("(round a)", pairs, fn {a, _} -> round(a) end)
    same("(str a)", pairs, fn {a, _} -> inspect(a) end)
    same("(parse-double (str a))", pairs, fn {a, _} -> a end)

    same("(pr-str a)", pairs, fn {a, _} ->
      :erlang.float_to_binary(a, [:compact, decimals: 10])
    end)
  end

  test "numbers of texts" do
    parts = ["1", "0", "42", ".", "e", "E", "+", "-", " ", "_", "9223372036854775807", "x"]
    text = fn -> for _ <- 1..:rand.uniform(4), into: "", do: Enum.random(parts) end
    pairs = pairs(text)

    same("(parse-long a)", pairs, fn {a, _} ->
      case Integer.parse(a) do
        {value, ""} when value in -0x8000000000000000..0x7FFFFFFFFFFFFFFF -> value
        _none -> nil
      end
    end)

    same("(parse-double a)", pairs, fn {a, _} ->
      case Float.parse(a) do
        {value, ""} -> value
        _none -> nil
      end
    end)
  end

  test "texts" do
    pairs = pairs(&text/0)
    same("(.length a)", pairs, fn {a, _} -> String.length(a) end)
    same("(split a \"\")", pairs, fn {a, _} -> String.graphemes(a) end)

    graphemes = fn text, from, count ->
      text |> String.graphemes() |> Enum.slice(from, count) |> Enum.join()
    end

    same("(subs a 1 3)", pairs, fn {a, _} -> graphemes.(a, 1, 2) end)
    same("(subs a 2)", pairs, fn {a, _} -> graphemes.(a, 2, 99) end)
    found = for {a, b} <- pairs, do: {a <> b <> a, b}

    same("(index-of a b)", found, fn {a, b} ->
      {place, _length} = :binary.match(a, b)
      String.length(binary_part(a, 0, place))
    end)

    same("(last-index-of a b)", found, fn {a, b} ->
      places =
        for at <- 0..(byte_size(a) - byte_size(b)), binary_part(a, at, byte_size(b)) == b, do: at

      String.length(binary_part(a, 0, Enum.max(places)))
    end)
  end

  test "texts, valid or not" do
    pairs = pairs(fn -> text([<<0xFF>>, <<0xE2, 0x82>>] ++ @parts) end)

    # Later releases of Elixir escape more characters (the no-break space, the zero-width joiner); here they are printable everywhere.
    if Version.match?(System.version(), "< 1.18.0"),
      do: same("(pr-str a)", pairs, fn {a, _} -> inspect(a) end)

    same("(str a b)", pairs, fn {a, b} -> a <> b end)
    same("(upper-case a)", pairs, fn {a, _} -> String.upcase(a) end)
    same("(downcase a)", pairs, fn {a, _} -> String.downcase(a) end)
    same("(trim a)", pairs, fn {a, _} -> String.trim(a) end)
    same("(triml a)", pairs, fn {a, _} -> String.trim_leading(a) end)
    same("(trimr a)", pairs, fn {a, _} -> String.trim_trailing(a) end)
    same("(split a \",\")", pairs, fn {a, _} -> String.split(a, ",") end)
    same("(replace a \"e\" b)", pairs, fn {a, b} -> String.replace(a, "e", b) end)
    same("(includes? a b)", pairs, fn {a, b} -> String.contains?(a, b) end)
    same("(starts-with? a b)", pairs, fn {a, b} -> String.starts_with?(a, b) end)
  end
end
