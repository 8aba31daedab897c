defmodule PtcRunner.SlicesTest do
  # Calls that once held a normal scheduler for more than 2 ms of its own CPU time, and others of their
  # kinds. The clock is that of the thread, so a busy machine does not matter.
  use ExUnit.Case, async: true

  alias PtcRunner.{Aligned, Json}
  alias PtcRunner.Json.Codec
  alias PtcRunner.SubAgent.{AnswerStream, JsonParser, KeyNormalizer, Signature}
  alias PtcRunner.Test.SliceClock

  doctest Aligned

  @row {:signature, [], {:map, [{"a", :int}]}}

  defp assert_no_holds(cases) do
    assert [] ==
             for({name, fun} <- cases, nifs = SliceClock.holds(fun), nifs != [], do: {name, nifs})
  end

  # A binary of this length that starts three bits after the beginning of a byte.
  defp unaligned(size, byte \\ 0xA5), do: shifted(:binary.copy(<<byte>>, size))

  defp shifted(bytes) do
    <<_::3, binary::binary>> = <<0::3, bytes::binary>>
    binary
  end

  defp run(step, context) do
    node = %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => "x"}, step]}
    Json.run(%{"program" => node}, context: context, timeout: :infinity, max_heap: 0)
  end

  defp tool(value) do
    program = %{"program" => %{"op" => "call", "tool" => "t"}}
    Json.run(program, tools: %{"t" => fn _args -> value end}, max_heap: 0)
  end

  test "binaries that do not start at a byte, in values" do
    long = unaligned(8_000_000)
    many = for n <- 1..50, do: unaligned(100_000, n)
    rows = for binary <- [long | many], do: %{"a" => binary}
    where = fn op, value -> %{"op" => op, "field" => "a", "value" => value} end

    filter = fn op, value ->
      fn -> run(%{"op" => "filter", "where" => where.(op, value)}, %{"x" => rows}) end
    end

    assert_no_holds([
      {"contains", filter.("contains", "no")},
      {"contains, the other way", filter.("contains", long)},
      {"eq", filter.("eq", unaligned(8_000_000))},
      {"lt", filter.("lt", unaligned(8_000_000) <> "x")},
      {"in", filter.("in", [unaligned(8_000_000)])},
      {"distinct", fn -> run(%{"op" => "distinct"}, %{"x" => many ++ many ++ [long]}) end},
      {"sort_by", fn -> run(%{"op" => "sort_by", "field" => "a"}, %{"x" => rows}) end},
      {"as a key", fn -> run(%{"op" => "keys"}, %{"x" => %{long => 1}}) end},
      {"in a program", fn -> Json.run(%{"program" => %{"op" => long, long => long}}) end},
      {"a tool's answer", fn -> tool(rows) end},
      {"encode", fn -> Codec.encode(rows) end},
      {"encode a key", fn -> Codec.encode(%{long => 1}) end},
      {"validate", fn -> Signature.validate({:signature, [], {:list, :keyword}}, [long]) end},
      {"coerce", fn -> Signature.Coercion.coerce([long], {:list, :int}) end},
      {"normalize_keys", fn -> KeyNormalizer.normalize_keys(%{long => 1}) end}
    ])
  end

  test "texts that do not start at a byte" do
    for content <- ["[1, ", ~s({"program": ), "x"] do
      size = 8_000_000
      text = String.pad_trailing(content, size, "1, ")
      text = shifted(text)

      assert_no_holds(
        run: fn -> Json.run(text) end,
        compile: fn -> Json.compile(text) end,
        parse: fn -> Json.Parser.parse(text) end,
        decode: fn -> Codec.decode(text) end,
        answer: fn -> JsonParser.parse(text) end,
        stream: fn -> @row |> AnswerStream.new() |> AnswerStream.feed(text) end,
        signature: fn -> Signature.Parser.parse(text) end,
        key: fn -> Signature.Renderer.to_lisp_key(text) end
      )
    end
  end

  test "texts of megabytes that were made by appending" do
    prose = String.duplicate("no JSON here ", 4_000_000)
    string = String.duplicate("0123456789", 5_000_000)
    append = fn -> prose <> "{\"a\": \"" <> string <> "\"}" end

    assert_no_holds(
      answer: fn -> JsonParser.parse(append.()) end,
      decode: fn -> Codec.decode(append.()) end,
      run: fn -> Json.run(append.()) end,
      stream: fn ->
        @row |> AnswerStream.new(max_bytes: :infinity) |> AnswerStream.feed(append.())
      end
    )
  end

  test "a text that does not start at a byte is read as any other" do
    text = ~s({"program": {"op": "literal", "value": "#{String.duplicate("é", 40_000)}"}})
    unaligned = shifted(text)
    assert Json.run(unaligned) == Json.run(text)
    assert Codec.decode(unaligned) == Codec.decode(text)
    assert JsonParser.parse(unaligned) == JsonParser.parse(text)
    assert PtcRunner.Native.aligned(unaligned) == :busy
    assert PtcRunner.Native.aligned_dirty(unaligned) == {:ok, text}
  end

  test "maps of 100,000 keys" do
    wide = Map.new(1..100_000, &{"k-#{&1}", &1})
    other = Map.new(50_000..150_000, &{"k-#{&1}", -&1})
    input = %{"op" => "var", "name" => "__input"}
    rows = %{"x" => [wide, other, wide]}
    map = fn expr -> fn -> run(%{"op" => "map", "expr" => expr}, rows) end end

    assert_no_holds([
      {"a tool's answer", fn -> tool(wide) end},
      {"a tool's answers", fn -> tool([wide, other]) end},
      {"memory",
       fn -> Json.run(%{"program" => %{"op" => "literal", "value" => other}}, memory: wide) end},
      {"merge", map.(%{"op" => "merge", "objects" => [input, input]})},
      {"eq", map.(%{"op" => "eq", "value" => wide})},
      {"keys", map.(%{"op" => "keys"})},
      {"distinct", fn -> run(%{"op" => "distinct"}, rows) end},
      {"encode", fn -> Codec.encode(wide) end},
      {"normalize_keys", fn -> KeyNormalizer.normalize_keys(wide) end},
      {"public_data", fn -> Signature.public_data(%{"a" => wide, "_b" => 1}) end},
      {"validate", fn -> Signature.validate(@row, wide) end},
      {"coerce", fn -> Signature.Coercion.coerce(wide, {:map, [{"a", :int}]}) end}
    ])

    # Keys that become equal: a smaller map whose making takes as long.
    equal = for n <- 1..2_000, key <- ["k-#{n}", "k_#{n}", :"k-#{n}"], into: %{}, do: {key, n}
    assert_no_holds(normalize_keys: fn -> KeyNormalizer.normalize_keys(equal) end)
  end

  test "maps of thousands of fields, made by select" do
    names = for n <- 1..40_000, do: "k-#{n}"
    wide = Map.new(names, &{&1, 1})

    assert_no_holds(
      for count <- [3_000, 10_000, 40_000] do
        {:ok, program} = select(Enum.take(names, count))
        {count, fn -> Json.run(program, context: %{"x" => wide}, timeout: 5_000) end}
      end
    )
  end

  test "unknown fields with names of megabytes" do
    fields = Map.new(1..20, &{:binary.copy("x", 2_000_000) <> "#{&1}", 1})
    program = %{"program" => Map.put(fields, "op", "typeof")}

    assert_no_holds(
      for strict <- [false, true], do: {strict, fn -> Json.run(program, strict: strict) end}
    )
  end

  test "programs of hundreds of thousands of constants" do
    # Each slice of a run had made a cache for each of them.
    names = for n <- 1..300_000, do: "k-#{n}"

    for keys <- [:strings, :any] do
      {:ok, program} = select(names, keys: keys)
      rows = for n <- 1..20_000, do: %{"k-1" => n}
      assert_no_holds([{keys, fn -> Json.run(program, context: %{"x" => %{"k-7" => 1}}) end}])

      run = fn -> Json.run(program, context: %{"x" => rows}, timeout: 100) end
      assert SliceClock.holds(fn -> assert run.() == {:error, {:timeout, 100}} end) == []
    end

    context = %{"x" => %{"k-7" => 1, "k-299999": 2}}
    {:ok, program} = select(names, keys: :any)
    assert {:ok, %{"k-7" => 1, "k-299999": 2} = part, _, _} = Json.run(program, context: context)
    assert map_size(part) == 2
  end

  defp select(names, opts \\ []) do
    steps = [%{"op" => "load", "name" => "x"}, %{"op" => "select", "fields" => names}]
    opts = [timeout: :infinity, max_heap: 0] ++ opts
    Json.compile(%{"program" => %{"op" => "pipe", "steps" => steps}}, opts)
  end

  # Since OTP 27 an integer has at most 4,194,303 bits.
  @most_bits if PtcRunner.Test.Hostile.skip_huge_integers(), do: 4_000_000, else: 32_000_000

  test "what is written: long integers, deep nesting" do
    big = fn bits -> Bitwise.bsl(1, bits) end
    deep = fn inner, wrap -> Enum.reduce(1..100_000, inner, fn _, value -> wrap.(value) end) end

    assert_no_holds(
      integer: fn -> Codec.encode(big.(@most_bits)) end,
      integers: fn -> Codec.encode(for n <- 1..200, do: big.(30_000) + n) end,
      key: fn -> Codec.encode(%{big.(3_000_000) => 1}) end,
      lists: fn -> Codec.encode(deep.([], &[&1])) end,
      maps: fn -> Codec.encode(deep.(1, &%{"a" => &1})) end,
      empty: fn -> Codec.encode(List.duplicate([], 30_000)) end
    )
  end

  test "answers of megabytes around which there is nothing but prose, blanks or markers" do
    for unit <- ["x", " ", "\n", "`", "``", "```", "[a]", "```json ", "{\"", "a`b"] do
      filling = String.duplicate(unit, div(20_000_000, byte_size(unit)))

      assert_no_holds([
        {unit, fn -> JsonParser.parse(filling) end},
        {{unit, :before}, fn -> JsonParser.parse(filling <> "{\"a\": 1}") end},
        {{unit, :behind}, fn -> JsonParser.parse("{\"a\": 1}" <> filling) end},
        {{unit, :fenced}, fn -> JsonParser.parse("```\n{}" <> filling <> "\n```") end},
        {{unit, :in_fence}, fn -> JsonParser.parse("```\n" <> filling <> "```") end}
      ])
    end
  end

  test "long parts of long texts" do
    long = :binary.copy("abcdefgh", 131_072)
    rows = for n <- 1..50, do: %{"a" => if(rem(n, 2) == 0, do: long <> "y", else: long <> "z")}
    where = &%{"op" => &1, "field" => "a", "value" => long <> "x"}

    assert_no_holds(
      for op <- ~w(contains eq lt) do
        {op, fn -> run(%{"op" => "filter", "where" => where.(op)}, %{"x" => rows}) end}
      end
    )
  end
end
