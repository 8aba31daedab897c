defmodule PtcRunner.SubAgent.RulesTest do
  @moduledoc "Rules beside types: min, pattern, enum, default and the others, against plain Elixir."
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.Signature.{Coercion, RuleText, Validator}
  alias PtcRunner.Test.Room

  doctest RuleText

  defp decimal(sign \\ 1, coef, exp), do: %{__struct__: Decimal, sign: sign, coef: coef, exp: exp}

  defp valid?(value, type, rules), do: Validator.validate(value, {:where, type, rules}) == :ok

  defp message(value, type, rules) do
    {:error, [%{path: [], message: message}]} = Validator.validate(value, {:where, type, rules})
    message
  end

  describe "numbers" do
    test "bounds agree with Elixir on integers and floats of any size" do
      :rand.seed(:exsss, {1, 2, 3})
      numbers = [0, -0.0, 1, 1.0, 0.1, 9_007_199_254_740_993, 9_007_199_254_740_992.0, 1.0e308]

      numbers =
        numbers ++ [Integer.pow(10, 400), -Integer.pow(10, 400), Integer.pow(2, 64), 1.0e23]

      numbers = numbers ++ [99_999_999_999_999_991_611_392, -1.5, -1, 2, 1 / 3]
      numbers = numbers ++ for(_ <- 1..20, do: :rand.uniform() * :rand.uniform(1_000_000))

      for value <- numbers, bound <- numbers do
        assert valid?(value, :any, min: bound) == value >= bound, "#{value} >= #{bound}"
        assert valid?(value, :any, max: bound) == value <= bound, "#{value} <= #{bound}"
        assert valid?(value, :any, exclusive_min: bound) == value > bound
        assert valid?(value, :any, exclusive_max: bound) == value < bound
      end
    end

    test "multiples agree with Elixir on integers, and are exact on the texts of floats" do
      for value <- [0, 7, -9, 10, Integer.pow(6, 90), -Integer.pow(10, 50)],
          unit <- [1, 3, 7, Integer.pow(6, 40)] do
        assert valid?(value, :int, multiple_of: unit) == (rem(value, unit) == 0)
      end

      assert valid?(0.3, :float, multiple_of: 0.1)
      assert valid?(4.02, :float, multiple_of: 0.01)
      refute valid?(4.025, :float, multiple_of: 0.01)
      assert valid?(1.0e308, :float, multiple_of: 0.5)
      refute valid?(1.0e308, :float, multiple_of: 0.123456789)
      assert valid?(-2.5, :float, multiple_of: 0.5)
    end

    test "decimals are compared exactly, whatever their exponent" do
      assert valid?(decimal(125, -2), :any, min: 1.25, max: decimal(1250, -3))
      refute valid?(decimal(12_500_000_000_000_000_001, -19), :any, max: 1.25)
      assert valid?(decimal(1, 1_000_000_000), :any, min: 5, multiple_of: 5)
      refute valid?(decimal(1, 1_000_000_000), :any, multiple_of: 3)
      refute valid?(decimal(-1, 1, 1_000_000_000), :any, min: 0)
      assert message(decimal(-1, 5, -1), :any, min: 0) == "expected at least 0, got -0.5"
    end

    test "an enumeration of decimals has numbers, in any form" do
      rules = [enum: [decimal(1250, -2), "0.10", 7, 2.5]]

      for value <- [decimal(125, -1), "12.500", "1e-1", decimal(70, -1), "7", "2.50"],
          do: assert(valid?(value, :decimal, rules))

      for value <- [decimal(126, -1), "0.11", "-7", decimal(7, 1)],
          do: refute(valid?(value, :decimal, rules))

      assert {:ok, made, _warnings} = Coercion.coerce("12.5", {:where, :decimal, rules})
      assert made in ["12.5", decimal(125, -1)]
      assert {:error, _text} = Coercion.coerce("12.6", {:where, :decimal, rules})

      {:ok, with_default} =
        PtcRunner.SubAgent.Signature.annotate("{n :string}", "n", description: "é")

      assert {:signature, [], {:map, [{"n", {:where, :string, [description: "é"]}}]}} =
               with_default

      assert PtcRunner.SubAgent.Signature.annotate("{n :string}", "n", description: <<255>>) ==
               {:error, ~s("n": :description must be a text in UTF-8, got <<255>>)}
    end

    test "messages" do
      assert message(-5, :int, min: 0) == "expected at least 0, got -5"
      assert message(11, :int, max: 10) == "expected at most 10, got 11"
      assert message(0, :float, exclusive_min: 0) == "expected more than 0, got 0"
      assert message(2.5, :float, exclusive_max: 2.5) == "expected less than 2.5, got 2.5"
      assert message(7, :int, multiple_of: 5) == "expected a multiple of 5, got 7"
      # A wrong type is the only error.
      assert message("7", :int, min: 9) == "expected int, got string"
    end
  end

  describe "texts" do
    test "lengths count code points, as Elixir does" do
      texts = ["", "a", "äöü", "日本語", "👨‍👩‍👧", "e\u0301", String.duplicate("é", 3000)]

      for text <- texts, count <- [0, 1, 2, 3, 5, 7, 3000, 6000] do
        length = text |> String.codepoints() |> length()
        assert valid?(text, :string, min_length: count) == length >= count
        assert valid?(text, :string, max_length: count) == length <= count
      end

      assert message("ab", :string, min_length: 3) == "expected at least 3 characters, got 2"
      assert message("ab", :string, max_length: 1) == "expected at most 1 character, got 2"
    end

    test "a pattern is found anywhere, in linear time" do
      assert valid?("xa1", :string, pattern: "[a-c]\\d")
      refute valid?("xa1", :string, pattern: "^[a-c]\\d$")

      assert message("b", :string, pattern: "^a") ==
               ~s(expected a text that matches "^a", got "b")

      long = String.duplicate("a", 2_000_000)
      {ms, false} = Room.least_ms(20_000, fn -> valid?(long, :string, pattern: "^(a+)+$x") end)
      assert ms < 20_000
      assert valid?(long <> "b", :string, pattern: "a+b$")
    end

    test "formats" do
      assert valid?("2024-02-29", :string, format: :date)

      assert message("2023-02-29", :string, format: :date) ==
               ~s[expected a date (YYYY-MM-DD), got "2023-02-29"]

      assert valid?("2024-02-29T10:00:00+02:00", :string, format: :datetime)
      refute valid?("2024-02-29T10:00:00", :string, format: :datetime)
      assert valid?("10:30:00", :string, format: :time)
      assert valid?("ada@example.org", :string, format: :email)
      refute valid?("ada", :string, format: :email)
      assert valid?("https://example.org/a?b#c", :string, format: :uri)
      refute valid?("example.org", :string, format: :uri)
      assert valid?("f81d4fae-7dec-11d0-a765-00a0c91e6bf6", :string, format: :uuid)
    end

    test "binaries that are not UTF-8, and bitstrings, are no danger" do
      for text <- [<<255>>, <<0xE2, 0x28>>, <<1::3>>, String.duplicate(<<128>>, 10_000)],
          rules <- [
            [min_length: 1],
            [pattern: "a"],
            [format: :email],
            [format: :uri],
            [enum: ["a"]]
          ] do
        assert Validator.validate(text, {:where, :any, rules}) in [:ok] or
                 match?({:error, [_]}, Validator.validate(text, {:where, :any, rules}))
      end

      # A binary within another one that is not aligned.
      <<_::1, text::binary-size(5), _::7>> = <<0::1, "abcde", 0::7>>
      assert valid?(text, :string, enum: ["abcde"], pattern: "^abcde$", min_length: 5)
    end
  end

  describe "enumerations" do
    test "few and many texts, numbers, and values of any kind" do
      many = for n <- 1..100, do: "value#{n}"
      assert valid?("value77", :string, enum: many)
      refute valid?("value0", :string, enum: many)
      assert message("opne", :string, enum: ["open"]) == ~s(expected one of "open", got "opne")
      assert valid?(1.0, :float, enum: [1, 2]) and valid?(1, :int, enum: [1, 2])
      refute valid?(true, :any, enum: [1, 2])
      assert valid?([1, %{"a" => 2.0}], :any, enum: [nil, [1.0, %{"a" => 2.0}]])
      assert valid?(nil, :any, enum: [nil, "a"])
      refute valid?(nil, :any, enum: ["a"])
      assert valid?(:open, :keyword, enum: ["open"]) and valid?(:open, :keyword, enum: [:open])
    end

    test "coercion takes another case and aliases, with a warning; validation does not" do
      rules = [enum: ["Open", "Größe"], ignore_case: true, aliases: %{"offen" => "Open"}]
      assert {:ok, "Open", []} = Coercion.coerce("Open", {:where, :string, rules})

      assert Coercion.coerce("oPEN", {:where, :string, rules}) ==
               {:ok, "Open", [~s(coerced string "oPEN" to "Open")]}

      assert {:ok, "Größe", [_]} =
               Coercion.coerce("GRÖSSE" |> String.replace("SS", "ß"), {:where, :string, rules})

      assert {:ok, "Open", [_]} = Coercion.coerce("offen", {:where, :string, rules})
      assert {:ok, "Open", [_]} = Coercion.coerce("OFFEN", {:where, :string, rules})
      refute valid?("oPEN", :string, rules)

      assert Coercion.coerce("zu", {:where, :string, rules}) ==
               {:error, ~s(expected one of "Open", "Größe", got "zu")}

      assert {:ok, 2, [_]} =
               Coercion.coerce("two", {:where, :int, [enum: [1, 2], aliases: %{"two" => 2}]})

      assert {:ok, :open, [_ | _]} =
               Coercion.coerce("OPEN", {:where, :keyword, [enum: ["open"], ignore_case: true]})

      assert {:ok, 2, [_]} = Coercion.coerce("2", {:where, :int, [enum: [1, 2]]})
    end
  end

  describe "lists" do
    test "unique agrees with ==" do
      :rand.seed(:exsss, {4, 5, 6})
      values = [1, 1.0, 2, "a", "b", :a, nil, [1], [1.0], %{"a" => 1}, %{"a" => 2}, {1}, -0.0, 0]

      for _ <- 1..400 do
        list = for _ <- 1..:rand.uniform(12)//1, do: Enum.random(values)
        indexed = Enum.with_index(list)
        equal? = Enum.any?(for {a, i} <- indexed, {b, j} <- indexed, i < j, do: a == b)
        assert valid?(list, {:list, :any}, unique: true) == not equal?, inspect(list)
        assert valid?(list, :any, unique: true) == not equal?
      end
    end

    test "items, counted after coercion" do
      assert message([1], {:list, :int}, min_items: 2) == "expected at least 2 items, got 1"
      assert message([1, 2], {:list, :int}, max_items: 1) == "expected at most 1 item, got 2"

      assert message([1, 2, 1], {:list, :int}, unique: true) ==
               "expected different items, got 1 twice"

      assert message([1, 2.0, 1.0], {:list, :float}, unique: true) ==
               "expected different items, got 1.0 twice"

      assert {:error, "expected different items, got 1 twice"} =
               Coercion.coerce(["1", 1], {:where, {:list, :int}, [unique: true]})

      assert {:ok, [1, 2], _} = Coercion.coerce(["1", 2], {:where, {:list, :int}, [unique: true]})
      assert valid?([], {:list, :int}, max_items: 0)
    end

    test "100,000 items, many equal prefixes, and improper lists" do
      assert valid?(Enum.to_list(1..100_000), {:list, :int}, unique: true, min_items: 100_000)
      refute valid?([5 | Enum.to_list(1..100_000)], {:list, :int}, unique: true)
      prefix = String.duplicate("a", 10_000)
      assert valid?(for(n <- 1..2_000, do: prefix <> "#{n}"), {:list, :string}, unique: true)

      assert {:error, [%{message: message}]} =
               Validator.validate([1, 1 | 2], {:where, {:list, :int}, [unique: true]})

      assert message == "expected list, got improper list"
    end

    test "a long list of ruled values is suspended and continues" do
      type =
        {:list,
         {:map,
          [
            {"n", {:where, :int, [min: 0]}},
            {"s", {:where, :string, [enum: ["a"], ignore_case: true]}}
          ]}}

      rows = for n <- 1..50_000, do: %{"n" => n, "s" => "a"}
      assert Validator.validate(rows, type) == :ok
      assert {:ok, ^rows, []} = Coercion.coerce(rows, type)
      wrong = rows ++ [%{"n" => -1, "s" => "A"}]

      assert {:error, [%{path: [50_000, "n"]}, %{path: [50_000, "s"]}]} =
               Validator.validate(wrong, type)

      mixed = rows ++ [%{"n" => "1", "s" => "A"}]
      assert {:ok, coerced, [_, _]} = Coercion.coerce(mixed, type)
      assert List.last(coerced) == %{"n" => 1, "s" => "a"}
    end
  end

  describe "defaults" do
    test "are put in where a field is missing" do
      type = {:map, [{"a", :int}, {"days", {:where, :int, [default: 3, max: 9]}}]}
      assert Coercion.coerce(%{"a" => 1}, type) == {:ok, %{"a" => 1, "days" => 3}, []}
      assert Coercion.coerce(%{a: 1}, type) == {:ok, %{:a => 1, :days => 3}, []}
      assert Coercion.coerce(%{"a" => "1", "x" => 2}, type) |> elem(1) == %{"a" => 1, "days" => 3}

      assert Coercion.coerce(%{"a" => 1, "days" => 4}, type) ==
               {:ok, %{"a" => 1, "days" => 4}, []}

      assert Validator.validate(%{"a" => 1}, type) == :ok
      assert {:error, _} = Validator.validate(%{"a" => 1, "days" => 10}, type)
      optional = {:map, [{"days", {:optional, {:where, :int, [default: 3]}}}]}
      assert Coercion.coerce(%{}, optional) == {:ok, %{"days" => 3}, []}
      assert Coercion.coerce(%{"days" => nil}, optional) == {:ok, %{"days" => nil}, []}

      assert {:ok, %{"days" => 3}, []} =
               Coercion.coerce(%{}, {:map, [{"days", {:where, {:optional, :int}, [default: 3]}}]})
    end

    test "in large maps, nested maps and lists" do
      fields = for n <- 1..60, do: {"f#{n}", {:where, :int, [default: n]}}
      expected = Map.new(1..60, &{"f#{&1}", &1})
      assert {:ok, ^expected, []} = Coercion.coerce(%{}, {:map, fields})
      assert {:ok, filled, []} = Coercion.coerce(%{"f40" => 0}, {:map, fields})
      assert filled == %{expected | "f40" => 0}
      nested = {:map, [{"rows", {:list, {:map, fields}}}]}

      assert {:ok, %{"rows" => [^expected, ^expected]}, []} =
               Coercion.coerce(%{"rows" => [%{}, %{"x" => 1}]}, nested)
    end
  end

  test "yes and no" do
    for {given, truth} <- [
          {"yes", true},
          {"NO", false},
          {1, true},
          {0, false},
          {"1", true},
          {"Off", false},
          {"True", true}
        ] do
      assert {:ok, ^truth, [_]} = Coercion.coerce(given, {:where, :bool, [yes_no: true]})
    end

    assert Coercion.coerce(1, {:where, :bool, [yes_no: true]}) |> elem(2) == [
             "coerced integer 1 to boolean"
           ]

    assert {:ok, true, []} = Coercion.coerce(true, {:where, :bool, [yes_no: true]})

    for wrong <- ["maybe", 2, nil, 1.0],
        do: assert({:error, _} = Coercion.coerce(wrong, {:where, :bool, [yes_no: true]}))

    assert {:error, _} = Coercion.coerce("yes", :bool)
  end

  test "any value against any rule: no crash, and only values of the rule's kind are judged" do
    values =
      [
        nil,
        true,
        :a,
        1,
        -1.5,
        Integer.pow(10, 5_000),
        "",
        "a",
        <<3::5>>,
        [],
        [1 | 2],
        {},
        {1, 2},
        self(),
        make_ref(),
        &is_list/1
      ] ++
        [
          %{},
          %{a: 1},
          ~D[2024-01-01],
          1..2,
          decimal(:NaN, 0),
          decimal(:inf, 0),
          Enum.reduce(1..1_000, 1, fn _, x -> [x] end)
        ]

    rules =
      [
        [min: 0],
        [multiple_of: 0.5],
        [max_length: 2],
        [pattern: "a"],
        [format: :uuid],
        [enum: [1, "a", nil]],
        [enum: ["a"]]
      ] ++
        [
          [unique: true],
          [min_items: 1],
          [default: 1],
          [description: "x"],
          [enum: ["a"], ignore_case: true, aliases: %{"b" => "a"}]
        ]

    for value <- values,
        rules <- rules,
        type <- [:any, {:list, {:where, :any, rules}}, {:optional, {:where, :string, rules}}] do
      type = if type == :any, do: {:where, :any, rules}, else: type

      assert Validator.validate(value, type) == :ok or
               match?({:error, [_ | _]}, Validator.validate(value, type))

      assert elem(Coercion.coerce(value, type), 0) in [:ok, :error]
    end

    for value <- [nil, :a, "a", [], %{}, self()],
        do: assert(valid?(value, :any, min: 5, multiple_of: 2))

    for value <- [1, :a, [], %{}],
        do: assert(valid?(value, :any, min_length: 5, pattern: "x", format: :date))

    for value <- [1, "a", %{}], do: assert(valid?(value, :any, min_items: 5, unique: true))
  end

  test "values of firewalled fields are not shown" do
    type =
      {:map,
       [
         {"_pin", {:where, :int, [max: 5]}},
         {"_s", {:where, :string, [enum: ["x"], ignore_case: true]}}
       ]}

    assert {:error, [pin, text]} = Validator.validate(%{"_pin" => 77, "_s" => "secret"}, type)
    assert pin.message == "expected at most 5, got integer"
    assert text.message == ~s(expected one of "x", got string)

    assert {:error, "expected at most 5, got integer"} =
             Coercion.coerce(%{"_pin" => 77, "_s" => "x"}, type)

    assert {:ok, _, ["coerced string to an allowed value"]} =
             Coercion.coerce(%{"_pin" => 1, "_s" => "X"}, type)
  end

  test "terms that are no rules are no types" do
    for rules <-
          [
            [min: "a"],
            [nope: 1],
            [min: 1, min: 2],
            [pattern: "("],
            [pattern: "(?=a)"],
            [enum: []],
            [enum: [1 | 2]]
          ] ++
            [
              [unique: false],
              [format: :nope],
              [max_length: -1],
              :min,
              [:min],
              [multiple_of: 0],
              [{:min, 1} | 2]
            ] do
      assert Coercion.coerce(1, {:where, :any, rules}) == {:error, "unsupported type"}
      assert_raise FunctionClauseError, fn -> Validator.validate(1, {:where, :any, rules}) end
    end
  end
end
