defmodule PtcRunner.SlicesTest do
  # No call holds a normal scheduler for more than 2 ms of its own CPU time: a table of inputs, and of the calls
  # that take each of them. The clock is that of the thread, so a busy machine does not matter.
  use ExUnit.Case, async: true

  alias PtcRunner.{Aligned, Json}
  alias PtcRunner.Json.{Codec, Parser, Validator}
  alias PtcRunner.SubAgent.{AnswerStream, JsonParser, KeyNormalizer, Signature}
  alias PtcRunner.Test.{Environment, Hostile, JsonText, SliceClock}

  doctest Aligned

  @row {:signature, [], {:map, [{"a", :int}]}}
  # Each of these lists and texts is long enough to hold a scheduler by itself. With PTC_CASES there are more of them.
  @equal if Environment.many?(), do: 12, else: 4
  @strings if Environment.many?(), do: 300, else: 60
  @fillings ["x", " ", "\n", "`", "``", "```", "[a]", "```json ", "{\"", "a`b"]

  for input <- ~w(unaligned_values unaligned_texts appended_texts long_lists equal_lists
                  equal_strings wide_maps keys_that_become_equal selected_maps many_names unknown_fields
                  large_programs many_constants written_terms)a do
    test "#{input}", do: assert_no_holds(calls(unquote(input)))
  end

  for filling <- @fillings do
    test "answers of 20 MB around which there is nothing but #{inspect(filling)}",
      do: assert_no_holds(answers(unquote(filling)))
  end

  defp assert_no_holds(calls) do
    held = for {name, fun} <- calls, nifs = SliceClock.holds(fun), nifs != [], do: {name, nifs}
    assert held == []
  end

  # A binary of this length that starts three bits after the beginning of a byte.
  defp unaligned(size, byte \\ 0xA5), do: shifted(:binary.copy(<<byte>>, size))

  defp shifted(bytes) do
    <<_::3, binary::binary>> = <<0::3, bytes::binary>>
    binary
  end

  defp op(name, fields \\ []) do
    for {field, value} <- fields, into: %{"op" => name}, do: {"#{field}", value}
  end

  defp load(name), do: op("load", name: name)
  defp filter(test, value), do: op("filter", where: op(test, field: "a", value: value))
  defp map(expr), do: op("map", expr: expr)

  # A call that evaluates the steps with the list `x` of the context.
  defp over(x, steps, more \\ %{}) do
    node = op("pipe", steps: [load("x") | List.wrap(steps)])
    opts = [context: Map.put(more, "x", x), timeout: :infinity, max_heap: 0]
    fn -> Json.run(%{"program" => node}, opts) end
  end

  defp tool(value) do
    program = %{"program" => op("call", tool: "t")}
    fn -> Json.run(program, tools: %{"t" => fn _args -> value end}, max_heap: 0) end
  end

  defp stream(text, opts \\ []), do: @row |> AnswerStream.new(opts) |> AnswerStream.feed(text)

  defp calls(:unaligned_values) do
    long = unaligned(8_000_000)
    many = for n <- 1..50, do: unaligned(100_000, n)
    rows = for binary <- [long | many], do: %{"a" => binary}

    [
      contains: over(rows, filter("contains", "no")),
      contained: over(rows, filter("contains", long)),
      eq: over(rows, filter("eq", unaligned(8_000_000))),
      lt: over(rows, filter("lt", unaligned(8_000_000) <> "x")),
      in: over(rows, filter("in", [unaligned(8_000_000)])),
      distinct: over(many ++ many ++ [long], op("distinct")),
      sort_by: over(rows, op("sort_by", field: "a")),
      key: over(%{long => 1}, op("keys")),
      program: fn -> Json.run(%{"program" => %{"op" => long, long => long}}) end,
      tool: tool(rows),
      encode: fn -> Codec.encode(rows) end,
      encode_key: fn -> Codec.encode(%{long => 1}) end,
      validate: fn -> Signature.validate({:signature, [], {:list, :keyword}}, [long]) end,
      coerce: fn -> Signature.Coercion.coerce([long], {:list, :int}) end,
      normalize_keys: fn -> KeyNormalizer.normalize_keys(%{long => 1}) end
    ]
  end

  defp calls(:unaligned_texts) do
    for content <- ["[1, ", ~s({"program": ), "x"],
        text = content |> String.pad_trailing(8_000_000, "1, ") |> shifted(),
        {name, call} <- [
          run: &Json.run/1,
          compile: &Json.compile/1,
          parse: &Parser.parse/1,
          decode: &Codec.decode/1,
          answer: &JsonParser.parse/1,
          stream: &stream/1,
          signature: &Signature.Parser.parse/1,
          key: &Signature.Renderer.to_lisp_key/1
        ],
        do: {{content, name}, fn -> call.(text) end}
  end

  defp calls(:appended_texts) do
    prose = String.duplicate("no JSON here ", 4_000_000)
    string = String.duplicate("0123456789", 5_000_000)
    append = fn -> prose <> "{\"a\": \"" <> string <> "\"}" end

    [
      answer: fn -> JsonParser.parse(append.()) end,
      decode: fn -> Codec.decode(append.()) end,
      run: fn -> Json.run(append.()) end,
      stream: fn -> stream(append.(), max_bytes: :infinity) end
    ]
  end

  defp calls(:long_lists) do
    rows =
      for n <- 1..100_000, key = rem(n * 7_919, 1_000_003) do
        %{"id" => n, "key" => [1, 2, key], "name" => "name #{key}"}
      end

    for steps <- [
          op("count"),
          op("sum", field: "id"),
          [op("sort_by", field: "key"), op("first")],
          [op("sort_by", field: "name"), op("first")],
          [op("distinct"), op("count")],
          op("max_by", field: "key"),
          [op("select", fields: ["id", "key"]), op("count")],
          op("filter", where: op("gt", field: "key", value: [1, 2, 9])),
          map(%{"a" => op("get", field: "id")}),
          [op("filter_in", field: "key", value: load("x")), op("count")],
          op("zip", lists: [load("x"), load("x")])
        ],
        do: {steps, over(rows, steps)}
  end

  defp calls(:equal_lists) do
    # Two lists at different places in memory.
    {one, other} = {Enum.to_list(1..1_000_000), Enum.map(1..1_000_000, & &1)}
    rows = for n <- 1..@equal, do: %{"a" => if(rem(n, 2) == 0, do: one, else: other), "n" => n}

    [
      eq: over(rows, filter("eq", load("y")), %{"y" => Enum.map(one, & &1)}),
      distinct: over(Enum.to_list(1..9) ++ for(%{"a" => list} <- rows, do: list), op("distinct")),
      sort_by: over(rows, op("sort_by", field: "a")),
      max: over(rows, op("max", field: "a"))
    ]
  end

  defp calls(:equal_strings) do
    megabyte = :binary.copy("abcdefgh", 131_072)
    [x, y, z] = for last <- ~w(x y z), do: :binary.copy(megabyte <> last)
    rows = for n <- 1..@strings, do: %{"a" => if(rem(n, 2) == 0, do: y, else: z)}
    strings = for(n <- 1..9, do: "s#{n}") ++ for(%{"a" => string} <- rows, do: string)
    fifty = %{"a" => :binary.copy(megabyte, 50)}
    literal = :binary.copy(y <> "x")

    for(
      test <- ~w(eq lt in contains),
      do: {test, over(rows, filter(test, load("y")), %{"y" => x})}
    ) ++
      for(test <- ~w(eq lt contains), do: {{test, 1}, over(rows, filter(test, literal))}) ++
      for(op <- ~w(min max_by sort_by), do: {op, over(rows, op(op, field: "a"))}) ++
      [
        distinct: over(strings, op("distinct")),
        in_a_list: over(strings, op("in", value: literal)),
        filter_in: over(rows, op("filter_in", field: "a", value: load("y")), %{"y" => strings}),
        contains_in_50_mb: over(fifty, op("contains", field: "a", value: "abcdefgha!"))
      ]
  end

  defp calls(:wide_maps) do
    wide = Map.new(1..100_000, &{"k-#{&1}", &1})
    other = Map.new(50_000..150_000, &{"k-#{&1}", -&1})
    input = op("var", name: "__input")
    rows = [wide, other, wide]

    [
      tool: tool(wide),
      tools: tool([wide, other]),
      memory: fn ->
        Json.run(%{"program" => op("literal", value: other)}, memory: wide)
      end,
      merge: over(rows, map(op("merge", objects: [input, input]))),
      merge_others: over(wide, op("merge", objects: [load("x"), load("y")]), %{"y" => other}),
      eq: over(rows, map(op("eq", value: wide))),
      keys: over(rows, map(op("keys"))),
      distinct: over(rows, op("distinct")),
      encode: fn -> Codec.encode(wide) end,
      normalize_keys: fn -> KeyNormalizer.normalize_keys(wide) end,
      public_data: fn -> Signature.public_data(%{"a" => wide, "_b" => 1}) end,
      validate: fn -> Signature.validate(@row, wide) end,
      coerce: fn -> Signature.Coercion.coerce(wide, {:map, [{"a", :int}]}) end
    ]
  end

  # A smaller map, whose making takes as long.
  defp calls(:keys_that_become_equal) do
    equal = for n <- 1..2_000, key <- ["k-#{n}", "k_#{n}", :"k-#{n}"], into: %{}, do: {key, n}
    [normalize_keys: fn -> KeyNormalizer.normalize_keys(equal) end]
  end

  defp calls(:selected_maps) do
    names = for n <- 1..40_000, do: "k-#{n}"
    wide = Map.new(names, &{&1, 1})

    for count <- [3_000, 10_000, 40_000], program = select(Enum.take(names, count)) do
      {count, fn -> Json.run(program, context: %{"x" => wide}, timeout: 60_000) end}
    end
  end

  # Changes of many keys of a large map, each in one evaluation.
  defp calls(:many_names) do
    names = for n <- 1..50_000, do: "k-#{n}"
    wide = Map.new(names, &{&1, 1})
    some = Enum.take_every(names, 25)
    same = Map.new(some, &{&1, 2})

    steps = [
      rename: op("rename", fields: Map.new(some, &{&1, "z" <> &1})),
      shift: op("rename", fields: Map.new(Enum.zip(some, tl(some)))),
      set: op("set", fields: same),
      unset: op("unset", fields: some),
      merge: op("merge", objects: [op("it"), same])
    ]

    for {name, step} <- steps,
        node = op("pipe", steps: [load("x"), step]),
        {:ok, compiled} = Json.compile(%{"program" => node}, edition: 2),
        {form, program} <- [map: %{"program" => node}, compiled: compiled],
        keys <- [:strings, :any] do
      opts = [context: %{"x" => wide}, edition: 2, keys: keys, max_heap: 0]
      {{name, form, keys}, fn -> Json.run(program, opts) end}
    end
  end

  # With names of megabytes.
  defp calls(:unknown_fields) do
    fields = Map.new(1..20, &{:binary.copy("x", 2_000_000) <> "#{&1}", 1})
    program = %{"program" => Map.put(fields, "op", "typeof")}
    for strict <- [false, true], do: {strict, fn -> Json.run(program, strict: strict) end}
  end

  # As texts and as maps.
  defp calls(:large_programs) do
    conditions = for n <- 1..100_000, do: op("eq", field: "f#{n}", value: [n, "x"])
    node = op("and", conditions: conditions)
    {:ok, text} = JsonText.encode(%{"program" => node})
    assert byte_size(text) > 4_000_000
    digits = ~s({"program": {"op": "literal", "value": #{String.duplicate("7", 1_000_000)}}})

    calls =
      for {form, program} <- [text: text, map: %{"program" => node}, digits: digits],
          {what, call} <- [
            run: &Json.run/1,
            compile: &Json.compile/1,
            wrong_tools: &Json.run(&1, tools: %{"t" => 1})
          ],
          do: {{form, what}, fn -> call.(program) end}

    [parse: fn -> Parser.parse(text) end, validate: fn -> Validator.validate(node) end] ++ calls
  end

  # Each slice of a run had made a cache for each of them.
  defp calls(:many_constants) do
    names = for n <- 1..300_000, do: "k-#{n}"
    rows = for n <- 1..20_000, do: %{"k-1" => n}

    for keys <- [:strings, :any],
        program = select(names, keys: keys),
        {x, timeout, kind} <- [{%{"k-7" => 1}, 10_000, :ok}, {rows, 100, :error}] do
      opts = [context: %{"x" => x}, timeout: timeout]
      {{keys, kind}, fn -> assert elem(Json.run(program, opts), 0) == kind end}
    end
  end

  # Since OTP 27 an integer has at most 4,194,303 bits.
  @most_bits if Hostile.skip_huge_integers(), do: 4_000_000, else: 32_000_000

  defp calls(:written_terms) do
    big = fn bits -> Bitwise.bsl(1, bits) end
    deep = fn inner, wrap -> Enum.reduce(1..100_000, inner, fn _, value -> wrap.(value) end) end

    for {name, term} <- [
          integer: big.(@most_bits),
          integers: for(n <- 1..200, do: big.(30_000) + n),
          key: %{big.(3_000_000) => 1},
          lists: deep.([], &[&1]),
          maps: deep.(1, &%{"a" => &1}),
          empty: List.duplicate([], 30_000)
        ],
        do: {name, fn -> Codec.encode(term) end}
  end

  defp answers(unit) do
    filling = String.duplicate(unit, div(20_000_000, byte_size(unit)))

    for {where, text} <- [
          alone: filling,
          before: filling <> "{\"a\": 1}",
          behind: "{\"a\": 1}" <> filling,
          fenced: "```\n{}" <> filling <> "\n```",
          in_fence: "```\n" <> filling <> "```"
        ],
        do: {where, fn -> JsonParser.parse(text) end}
  end

  defp select(names, opts \\ []) do
    node = op("pipe", steps: [load("x"), op("select", fields: names)])
    {:ok, program} = Json.compile(%{"program" => node}, [timeout: :infinity, max_heap: 0] ++ opts)
    program
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

  test "of hundreds of thousands of names those that are there are selected" do
    program = select(for(n <- 1..300_000, do: "k-#{n}"), keys: :any)
    context = %{"x" => %{"k-7" => 1, "k-299999": 2}}
    assert {:ok, %{"k-7" => 1, "k-299999": 2} = part, _, _} = Json.run(program, context: context)
    assert map_size(part) == 2
  end
end
