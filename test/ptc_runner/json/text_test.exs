defmodule PtcRunner.Json.TextTest do
  @moduledoc """
  The operations on text against Elixir's `String` and `Regex`, over all code points, random texts and binaries that are
  not UTF-8; long texts and hostile patterns against the limits.
  """

  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Test.Room

  # Letters that have got another case in Unicode 15, 16 or 17.
  @changed_later Enum.concat([
                   [0x19B, 0x264, 0x1C89, 0x1C8A],
                   0xA7CB..0xA7DC,
                   0x10D50..0x10D85,
                   0x16EA0..0x16ED3
                 ])

  # Kinds of characters that the rules of graphemes distinguish.
  @pools [
    0x20..0x7E,
    0x300..0x36F,
    0x1F1E6..0x1F1FF,
    0x1F300..0x1F6FF,
    [0x200D, 0xFE0F, 0x200C, 0x20E3, 0x1F3FB, 0x1F3FF],
    0x1100..0x11FF,
    0xAC00..0xAC40,
    [?\r, ?\n],
    0x900..0x97F,
    0x600..0x605,
    0xE00..0xE7F,
    [0x2764, 0x1F468, 0x1F469, 0x1F467, 0xA9, 0x231A],
    [0x3A3, 0x3C3, 0x130, 0x49, 0x345],
    0xC0..0x17F,
    [0x94D, 0x915, 0xACD, 0xC4D, 0x200D]
  ]

  defp run(steps, x, opts \\ []) do
    steps = [%{"op" => "load", "name" => "x"} | List.wrap(steps)]
    program = %{"program" => %{"op" => "pipe", "steps" => steps}}

    with {:ok, value, _delta, _memory} <-
           Json.run(
             program,
             opts ++ [context: %{"x" => x}, edition: 2, timeout: 60_000, max_heap: 0]
           ),
         do: value
  end

  defp each(op, fields \\ %{}, list),
    do: run(%{"op" => "map", "expr" => Map.put(fields, "op", op)}, list)

  defp random_text(k) do
    pools = Enum.take_random(@pools, k)
    for _ <- 1..:rand.uniform(12), into: "", do: <<pools |> Enum.random() |> Enum.random()::utf8>>
  end

  defp random_texts(count) do
    :rand.seed(:exsss, {24, 5, count})
    for _ <- 1..count, do: random_text(:rand.uniform(4))
  end

  defp random_binary do
    for _ <- 1..:rand.uniform(8), into: "" do
      Enum.random([
        "a",
        " ",
        "ž",
        "ß",
        "\u3000",
        <<0xFF>>,
        <<0xC5>>,
        <<0xE3, 0x80>>,
        <<0x80>>,
        "I"
      ])
    end
  end

  # `String.upcase/1` leaves out some letters behind an invalid byte; here such bytes change nothing but themselves.
  defp valid_parts(<<char::utf8, rest::binary>>, fun),
    do: fun.(<<char::utf8>>) <> valid_parts(rest, fun)

  defp valid_parts(<<byte, rest::binary>>, fun), do: <<byte>> <> valid_parts(rest, fun)
  defp valid_parts(<<>>, _fun), do: <<>>

  describe "against String" do
    test "case and white space of every code point that is assigned" do
      points = Enum.concat([0..0xD7FF, 0xE000..0x2FFFF, 0xE0000..0xE01FF, 0x10FFF0..0x10FFFF])
      texts = for point <- points, do: <<point::utf8>>

      for {op, fun} <- [{"upper", &String.upcase/1}, {"lower", &String.downcase/1}] do
        pairs = Enum.zip(texts, each(op, texts))
        others = for {<<point::utf8>> = text, value} <- pairs, value != fun.(text), do: point
        assert others -- @changed_later == [], op
      end

      for surround <- [& &1, &("a" <> &1 <> "b" <> &1), &(&1 <> "a")] do
        texts = Enum.map(texts, surround)
        assert each("trim", texts) == Enum.map(texts, &String.trim/1)
      end
    end

    test "random texts" do
      texts = for text <- random_texts(20_000), do: String.replace(text, ~r/[ƛɤ]/u, "")
      assert each("upper", texts) == Enum.map(texts, &String.upcase/1)
      assert each("lower", texts) == Enum.map(texts, &String.downcase/1)
      assert each("trim", texts) == Enum.map(texts, &String.trim/1)

      # Since Unicode 15.1 a conjunct of consonants is one grapheme, and joiners have other rules; `String` follows that in
      # recent releases of Erlang/OTP.
      conjuncts? = String.length("\u0915\u094D\u0915") == 1

      texts =
        if conjuncts?,
          do: Enum.reject(texts, &(&1 =~ ~r/[\x{94D}\x{ACD}\x{C4D}\x{200D}]/u)),
          else: texts

      assert each("length", texts) == Enum.map(texts, &String.length/1)

      for part <- ["a", "\u200D", "\r\n", "न", "🇨"] do
        split = each("split", %{"by" => part}, texts)
        assert split == Enum.map(texts, &String.split(&1, part))
        replaced = each("replace", %{"find" => part, "with" => "<č>"}, texts)
        assert replaced == Enum.map(texts, &String.replace(&1, part, "<č>"))

        assert each("starts_with", %{"value" => part}, texts) ==
                 Enum.map(texts, &String.starts_with?(&1, part))

        assert each("ends_with", %{"value" => part}, texts) ==
                 Enum.map(texts, &String.ends_with?(&1, part))
      end
    end

    test "binaries that are not UTF-8" do
      :rand.seed(:exsss, {1, 2, 3})
      texts = for _ <- 1..20_000, do: random_binary()
      upper = for text <- texts, do: valid_parts(text, &String.upcase/1)
      assert each("upper", texts) == upper
      lower = for text <- texts, do: valid_parts(text, &String.downcase/1)
      assert each("lower", texts) == lower
      assert each("trim", texts) == Enum.map(texts, &String.trim/1)
      assert each("length", texts) == Enum.map(texts, &String.length/1)
      assert each("split", %{"by" => "a"}, texts) == Enum.map(texts, &String.split(&1, "a"))
      valid = Enum.map(texts, &String.valid?/1)
      assert each("matches", %{"pattern" => ""}, texts) == valid

      assert {:error, {:execution_error, message}} =
               run(%{"op" => "extract", "pattern" => "a"}, <<0xFF>>)

      assert message == "extract requires a string, got <<255>>"
      assert run(%{"op" => "to_number"}, <<?1, 0xFF>>) == nil
      assert run(%{"op" => "to_text"}, <<0xFF>>) == <<0xFF>>
      assert {:error, {:execution_error, message}} = run(%{"op" => "to_text"}, [<<0xFF>>])
      assert message == "to_text does not support this value: [<<255>>]"
    end

    test "binaries that are no bytes of their own" do
      <<_::3, text::bitstring>> = <<0::3, "Žofie, Brno"::binary>>
      assert run(%{"op" => "upper"}, text) == "ŽOFIE, BRNO"
      assert run(%{"op" => "split", "by" => ", "}, text) == ["Žofie", "Brno"]
      assert run(%{"op" => "extract", "pattern" => "\\w+$"}, text) == "Brno"

      assert run(%{"op" => "text", "parts" => [[%{"op" => "lower"}]]}, text) ==
               ~s(["žofie, brno"])
    end
  end

  describe "values as text" do
    test "are JSON that reads back" do
      values = [
        %{"b" => [1, -2.5, nil, true], "a" => %{"č" => "\"\\\n\u0001é"}},
        Map.new(1..100, &{"k#{&1}", [&1]}),
        [1.0e22, 1.0e-7, 0.1, -0.0, 123_456_789.125],
        [12_345_678_901_234_567_890_123],
        []
      ]

      for value <- values do
        text = run(%{"op" => "to_text"}, value)
        assert {:ok, ^value} = PtcRunner.Native.json_decode(text, :infinity, {:infinity, 0})
        refute text =~ ~r/[,:] /
      end

      floats = for _ <- 1..1_000, do: :rand.uniform() * :math.pow(10, :rand.uniform(600) - 320)
      assert each("to_text", floats) == Enum.map(floats, &Float.to_string/1)
      keys = run(%{"op" => "to_text"}, Map.new(1..100, &{"k#{&1}", 1}))

      assert Regex.scan(~r/k\d+/, keys) |> List.flatten() ==
               Enum.sort(for n <- 1..100, do: "k#{n}")
    end

    test "are checked before the next part is evaluated" do
      part = %{"op" => "load", "name" => "x"}
      call = %{"op" => "call", "tool" => "t"}
      tools = %{"t" => fn _args -> exit(:never) end}

      for value <- [{:ok, 1}, [<<255>>], %{1 => 2}, [1 | 2]],
          part <- [part, [part], [[1, part]]] do
        node = %{"op" => "text", "parts" => ["a", part, call]}
        run = Json.run(%{"program" => node}, context: %{"x" => value}, tools: tools)
        assert {:error, {:execution_error, "text does not support this value: " <> _}} = run
      end
    end

    test "are refused as a whole" do
      for value <- [[1, {:ok, 1}], [1 | 2], %{a: 1}, %{1 => 2}, ~D[2024-02-29], [self()], :done] do
        assert {:error, {:execution_error, message}} = run(%{"op" => "to_text"}, value)
        assert message == "to_text does not support this value: #{inspect(value)}"
      end
    end

    test "where atoms are keys and structs are values" do
      assert run(%{"op" => "to_text"}, %{b: 1, a: "x"}, keys: :any) == ~s({"a":"x","b":1})
      assert run(%{"op" => "to_text"}, [%{s: :open}], structs: :values) == ~s([{"s":"open"}])
      assert run(%{"op" => "upper"}, :open, structs: :values) == "OPEN"
      assert run(%{"op" => "matches", "pattern" => "^o"}, :open, structs: :values)
      assert run(%{"op" => "upper", "field" => "s"}, %{s: "a"}, keys: :any) == "A"
      assert run(%{"op" => "length"}, ~r/a/, structs: :values) == map_size(Map.from_struct(~r/a/))
    end
  end

  describe "numbers" do
    test "as JSON has them" do
      texts =
        ~w(0 -0 1.5 1e3 2.5E-1 +7 -7 007 1. .5 1_0 0x1F NaN Infinity - + +-5 -+5 1e 1e+ 1,5 ١٢) ++
          [" 7\n", "\u00A05", "7 7", ""]

      expected = [0, 0, 1.5, 1.0e3, 0.25, 7, -7] ++ List.duplicate(nil, 15) ++ [7, 5, nil, nil]
      assert each("to_number", texts) == expected
      big = String.duplicate("9", 30_000)
      assert run(%{"op" => "to_number"}, big) == String.to_integer(big)
      assert run(%{"op" => "to_number"}, String.duplicate("9", 1_000_001)) == nil
      assert run(%{"op" => "to_number"}, "1e400") == nil

      assert run(%{"op" => "to_number"}, "-" <> String.duplicate("1", 400)) ==
               String.to_integer("-" <> String.duplicate("1", 400))
    end
  end

  describe "long texts" do
    @megabytes 8

    test "are handled at once where no limit is near" do
      long = String.duplicate("Příliš žluťoučký kůň ", 100_000)
      assert run(%{"op" => "upper"}, long) == String.upcase(long)
      assert run(%{"op" => "length"}, long) == String.length(long)
      assert run(%{"op" => "trim"}, long) == String.trim(long)
      assert run(%{"op" => "split", "by" => " "}, long) == String.split(long, " ")

      assert run(%{"op" => "replace", "find" => "ů", "with" => "u"}, long) ==
               String.replace(long, "ů", "u")

      assert run(%{"op" => "matches", "pattern" => "x"}, long) == false
      words = run(%{"op" => "extract", "pattern" => "k\\p{L}+", "all" => true}, long)
      assert words == 1..100_000 |> Enum.flat_map(fn _ -> ["ký", "kůň"] end)

      assert run(%{"op" => "text", "parts" => [["a", %{"op" => "trim"}]]}, long) ==
               ~s(["a","#{String.trim(long)}"])
    end

    test "end by the deadline" do
      long = String.duplicate("ab", @megabytes * 500_000)
      :rand.seed(:exsss, {7, 8, 9})

      random =
        for <<byte <- :rand.bytes(@megabytes * 500_000)>>, into: "", do: <<?a + rem(byte, 2)>>

      mixed = String.duplicate("ž b", @megabytes * 250_000)

      for {step, text} <- [
            {%{"op" => "matches", "pattern" => "[ab]*a[ab]{400}c"}, random},
            {%{"op" => "extract", "pattern" => "[ab]*a[ab]{400}c"}, random},
            {%{"op" => "extract", "pattern" => "a|b", "all" => true}, long},
            {%{"op" => "extract", "pattern" => ".*[^a-z]|[a-z]", "all" => true}, long},
            {%{"op" => "upper"}, String.duplicate(mixed, 8)},
            {%{"op" => "length"}, String.duplicate(mixed, 8)},
            {%{"op" => "split", "by" => "b"}, long},
            {%{"op" => "replace", "find" => "b", "with" => "cd"}, String.duplicate(long, 8)},
            {%{"op" => "to_text"}, Enum.to_list(1..2_000_000)}
          ] do
        {ms, answer} = Room.least_ms(1_500, fn -> run(step, text, timeout: 20) end)
        assert {:error, {:timeout, 20}} = answer, inspect(step)
        assert ms < 1_500, "#{inspect(step)}: #{ms} ms"
      end
    end

    test "end by the heap limit" do
      long = String.duplicate("a", 2_000_000)
      grow = %{"op" => "replace", "find" => "a", "with" => String.duplicate("b", 10_000)}

      for step <- [
            grow,
            %{"op" => "split", "by" => "a"},
            %{"op" => "extract", "pattern" => "a", "all" => true},
            %{"op" => "upper"},
            %{"op" => "text", "parts" => List.duplicate(%{"op" => "trim"}, 20)},
            %{"op" => "to_text", "value" => [%{"op" => "trim"}]}
          ] do
        assert {:error, {:memory_exceeded, _words}} = run(step, long, max_heap: 100_000)
      end
    end
  end

  describe "patterns" do
    test "that cannot be" do
      for {pattern, reason} <- [
            {"(", "unclosed group"},
            {"(?=a)", "look-around is not supported"},
            {"(a)\\1", "back-references are not supported"},
            {"(?P<a>b)(?P<a>c)", "two groups of the same name"},
            {String.duplicate("(", 40) <> String.duplicate(")", 40),
             "groups or classes nested too deeply"}
          ] do
        assert {:error, {:validation_error, message}} =
                 run(%{"op" => "matches", "pattern" => pattern}, "a")

        assert message == "Field 'pattern' is not a valid regular expression: #{reason}"
      end

      for pattern <- [
            "(\\w{1,20}\\s){1,20}",
            "((a{100}){100}){100}",
            String.duplicate("a", 10_000),
            String.duplicate("\\pL", 2_000),
            "(?i)" <> String.duplicate("[\\w--\\d]", 900)
          ] do
        match = fn -> run(%{"op" => "matches", "pattern" => pattern}, "a") end
        {ms, answer} = Room.least_ms(500, match)
        assert answer == {:error, {:validation_error, "Field 'pattern' is too large"}}
        assert ms < 500
      end
    end

    test "in a compiled program are compiled once" do
      program = ~s({"program": {"op": "matches", "left": "abc", "pattern": "\\\\w{100}|a"}})
      {:ok, compiled} = Json.compile(program, edition: 2)

      runs = fn -> for _ <- 1..200, do: assert({:ok, true, _, _} = Json.run(compiled)) end
      # Compiled each time, they would take seconds.
      {ms, _} = Room.least_ms(1_000, runs)
      assert ms < 1_000
    end

    test "that are computed by a model are searched, not matched from the start" do
      assert run(%{"op" => "matches", "pattern" => "b"}, "abc")
      refute run(%{"op" => "matches", "pattern" => "^b"}, "abc")

      assert run(%{"op" => "extract", "pattern" => "(?<a>x)|(?<b>b)"}, "abc") == %{
               "a" => nil,
               "b" => "b"
             }

      assert run(%{"op" => "extract", "pattern" => "\\b\\w", "all" => true}, "žluť a kůň") == [
               "ž",
               "a",
               "k"
             ]
    end
  end
end
