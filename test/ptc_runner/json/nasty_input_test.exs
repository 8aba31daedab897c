defmodule PtcRunner.Json.NastyInputTest do
  # Values that are rare in real data and common in bug reports, in every place of every operation:
  # the library must answer what the oracle answers.
  use ExUnit.Case, async: true

  import Bitwise, only: [<<<: 2]
  import PtcRunner.Test.Agreement, only: [agree?: 2, validated: 0]

  alias PtcRunner.Json
  alias PtcRunner.Json.Validator
  alias PtcRunner.Test.{Environment, Strange}

  defmodule Point do
    defstruct [:x, :y]
  end

  defp nasty do
    <<_::3, unaligned::binary-size(40), _::5>> = :binary.copy(<<0xA5>>, 41)

    numbers =
      [0, -1, 0.0, -0.0, 1.0, 5.0e-324, 1.7976931348623157e308, -1.0e308] ++
        [2 ** 53, 2 ** 53 + 1, 2 ** 59, -(2 ** 59) - 1, 2 ** 63 - 1, 2 ** 63, -(2 ** 63) - 1] ++
        [2 ** 64, 2 ** 64 - 1, -(2 ** 64), 10 ** 400, -(10 ** 900)]

    strings =
      ["", "a", "é", "日本", <<255>>, <<0>>, "a" <> <<195>>, "\u0000x", "e\u0301"] ++
        [unaligned, String.duplicate("x", 70), <<1::3>>, <<255, 1::1>>]

    lists =
      [[], [1 | 2], [[1 | 2]], [%{"a" => 1} | %{"a" => 2}], [nil], [[]], ~c"abc", [{:a, 1}]] ++
        [[1, 1.0, 0.0, -0.0], [1 | <<1::3>>]]

    maps =
      [%{}, %{"a" => nil}, %{a: 1}, %{1 => 2, 1.0 => 3}, %{[1 | 2] => 3}, %{"a" => %{"op" => 1}}] ++
        [%{"op" => nil}, %{"op" => "load"}, Map.new(1..32, &{"k#{&1}", &1})] ++
        [Map.new(1..33, &{"k#{&1}", &1}), %{"result" => 1}, %{"__input" => 7}]

    structs =
      [~D[2024-01-31], ~U[2024-01-31 10:00:00Z], ~T[10:00:00], 1..3, MapSet.new([1, 2])] ++
        [%Point{x: 1, y: [2]}, %{"a" => ~D[2024-01-31]}, ~r/x/]

    others =
      [nil, true, false, :atom, :日本, {}, {:error, "x"}, {1, [2 | 3]}, self(), make_ref()] ++
        [&String.length/1, hd(Port.list())] ++ Strange.plain()

    numbers ++ strings ++ lists ++ maps ++ structs ++ others
  end

  # Steps that get a current value.
  @steps [
    %{"op" => "count"},
    %{"op" => "distinct"},
    %{"op" => "first"},
    %{"op" => "last"},
    %{"op" => "nth", "index" => 1},
    %{"op" => "nth", "index" => 2 ** 70},
    %{"op" => "take", "count" => 1},
    %{"op" => "take", "count" => 2 ** 64},
    %{"op" => "drop", "count" => 1},
    %{"op" => "drop", "count" => 2 ** 64},
    %{"op" => "select", "fields" => ["a", "nope", "a"]},
    %{"op" => "sort_by", "field" => "a"},
    %{"op" => "sort_by", "field" => "a", "order" => "desc"},
    %{"op" => "sum", "field" => "a"},
    %{"op" => "avg", "field" => "a"},
    %{"op" => "min", "field" => "a"},
    %{"op" => "max", "field" => "a"},
    %{"op" => "min_by", "field" => "a"},
    %{"op" => "max_by", "field" => "a"},
    %{"op" => "filter", "where" => %{"op" => "var", "name" => "__input"}},
    %{"op" => "reject", "where" => %{"op" => "eq", "field" => "a", "value" => 1}},
    %{"op" => "map", "expr" => %{"op" => "typeof"}},
    %{"op" => "map", "expr" => %{"x" => %{"op" => "get", "field" => "a"}}},
    %{"op" => "filter_in", "field" => "a", "value" => [1, nil, "a", [1 | 2]]},
    %{"op" => "filter_in", "field" => "a", "value" => %{"a" => 1}},
    %{"op" => "get", "field" => "a"},
    %{"op" => "get", "path" => ["a", "b"], "default" => 7},
    %{"op" => "get", "path" => []},
    %{"op" => "keys"},
    %{"op" => "typeof"},
    %{"op" => "contains", "value" => "a"},
    %{"op" => "contains", "value" => 1},
    %{"op" => "in", "value" => 1},
    %{"op" => "in", "field" => "a", "value" => nil},
    %{"op" => "eq", "value" => 1},
    %{"op" => "lt", "value" => "a"},
    %{"op" => "gt", "field" => "a", "value" => 0}
  ]

  # Operations on two values, `x` and `y` of the context.
  @x %{"op" => "load", "name" => "x"}
  @y %{"op" => "load", "name" => "y"}
  @pairs [
    %{"op" => "add", "left" => @x, "right" => @y},
    %{"op" => "sub", "left" => @x, "right" => @y},
    %{"op" => "mul", "left" => @x, "right" => @y},
    %{"op" => "div", "left" => @x, "right" => @y},
    %{"op" => "pct", "part" => @x, "whole" => @y},
    %{"op" => "merge", "objects" => [@x, @y]},
    %{"op" => "concat", "lists" => [@x, @y]},
    %{"op" => "zip", "lists" => [@x, @y]},
    %{"op" => "and", "conditions" => [@x, @y]},
    %{"op" => "or", "conditions" => [@x, @y]},
    %{"op" => "object", "fields" => %{"x" => @x, "y" => @y}},
    %{"op" => "pipe", "steps" => [@x, %{"op" => "eq", "value" => @y}]},
    %{"op" => "pipe", "steps" => [@x, %{"op" => "lte", "value" => @y}]},
    %{"op" => "pipe", "steps" => [@x, %{"op" => "contains", "value" => @y}]},
    %{"op" => "pipe", "steps" => [@x, %{"op" => "in", "value" => @y}]},
    %{"op" => "pipe", "steps" => [@x, %{"op" => "filter_in", "field" => "a", "value" => @y}]}
  ]

  defp assert_agreed(program, context, what) do
    random_case = %{program: program, context: context, memory: %{"kept" => 1}}

    unless agree?(random_case, validated()) do
      answer = Json.run(%{"program" => program}, context: context, memory: %{"kept" => 1})
      expected = PtcRunner.Test.Oracle.run(program, context, %{"kept" => 1}, %{})

      flunk("""
      #{inspect(program)} over #{inspect(what)}
      gives    #{inspect(answer)}
      expected #{inspect(expected)}
      """)
    end
  end

  defp run(node, opts \\ []), do: Json.run(%{"program" => node}, opts)

  describe "each operation, on each nasty value" do
    test "as the current value" do
      for value <- nasty(), step <- @steps do
        assert_agreed(%{"op" => "pipe", "steps" => [@x, step]}, %{"x" => value}, value)
      end
    end

    test "as an item, and as a field of an item" do
      for value <- nasty(), step <- @steps do
        program = %{"op" => "pipe", "steps" => [@x, step]}
        assert_agreed(program, %{"x" => [%{"a" => 1}, value, %{"a" => value}, value]}, value)
      end
    end

    test "as a literal" do
      for value <- nasty() do
        literal = %{"op" => "literal", "value" => value}
        assert_agreed(literal, %{}, value)
        assert_agreed(%{"a" => value}, %{}, value)
        eq = %{"op" => "eq", "field" => "a", "value" => value}
        assert_agreed(%{"op" => "pipe", "steps" => [@x, eq]}, %{"x" => %{"a" => value}}, value)
      end
    end

    test "as a precision, and to be rounded" do
      for value <- nasty(), precision <- [0, 2, 15, value] do
        node = %{"op" => "round", "value" => @x, "precision" => precision}
        assert_agreed(node, %{"x" => value}, value)
      end
    end
  end

  test "each operation on two values, on pairs of nasty values" do
    # Every value stands on both sides, with every 14th on the other one; with PTC_CASES, every fourth.
    every = if Environment.many?(), do: 4, else: 14
    values = Enum.with_index(nasty())

    for {x, i} <- values, {y, j} <- values, rem(i + 3 * j, every) == 0, node <- @pairs do
      assert_agreed(node, %{"x" => x, "y" => y}, {x, y})
    end
  end

  test "a nasty value in the place of a node or of a field is a plain error" do
    for value <- nasty(), not is_map(value) do
      assert {:error, {kind, text}} = run(%{"op" => "pipe", "steps" => [value]})
      assert {kind, text} == {:validation_error, "Node must be a map, got #{inspect(value)}"}
      assert {:error, {:parse_error, _text}} = Json.run(%{"program" => value})
      assert {:error, {:validation_error, _text}} = run(%{"op" => value})
    end

    for value <- nasty(), field <- ~w(name value in), field != "value" or not is_map(value) do
      node = %{"op" => "let", "name" => "n", "value" => @x, "in" => @x}

      case Validator.validate(%{node | field => value}) do
        # What is no name may be any value: it is a template.
        :ok -> assert field != "name" or is_binary(value)
        {:error, {:validation_error, _text}} -> :ok
      end
    end
  end

  test "integers that the VM cannot hold are an arithmetic error, never another value" do
    digits = String.duplicate("7", 11_000_000)
    text = ~s({"program": {"op": "literal", "value": #{digits}}})
    assert {:error, {kind, message}} = Json.run(text, timeout: :infinity, max_heap: 0)
    assert kind in [:parse_error, :execution_error] and byte_size(message) < 1_000

    var = %{"op" => "var", "name" => "x"}
    square = %{"op" => "mul", "left" => var, "right" => var}
    tower = Enum.reduce(1..5, var, fn _, body -> let("x", square, body) end)
    start = %{"op" => "load", "name" => "start"}
    context = %{"start" => 1 <<< (2 ** 20)}

    assert {:error, {:execution_error, "mul failed: bad argument in arithmetic" <> _}} =
             run(let("x", start, tower), context: context, timeout: :infinity, max_heap: 0)

    # Later VMs hold less.
    largest = if System.otp_release() < "26", do: 64 * (2 ** 19 - 1), else: 64 * (2 ** 16 - 1)
    half = 1 <<< (largest - 2)
    add = %{"op" => "add", "left" => start, "right" => start}
    assert {:ok, sum, _, _} = run(add, context: %{"start" => half}, max_heap: 0)
    assert sum == half + half

    assert {:error, {:execution_error, _text}} =
             run(add, context: %{"start" => 2 * half}, max_heap: 0)
  end

  describe "long and large" do
    test "lists of many items" do
      list = Enum.to_list(1..if(Environment.many?(), do: 100_000, else: 30_000))

      for step <- @steps, list <- [list, list ++ 7] do
        program = %{"op" => "pipe", "steps" => [@x, step]}
        assert_agreed(program, %{"x" => list}, "a long list")
      end
    end

    test "distinct takes 0.0 and -0.0, 1 and 1.0 as the VM does, however many there are" do
      for size <- [2, 8, 9, 100] do
        padding = Enum.map(1..size, &"#{&1}")
        list = padding ++ [0.0, -0.0, 0, 1, 1.0, [0.0], [-0.0], %{"a" => 1}, %{"a" => 1.0}]
        program = %{"op" => "pipe", "steps" => [@x, %{"op" => "distinct"}]}
        assert_agreed(program, %{"x" => list ++ list}, size)
      end
    end

    test "a string is the same however the VM stores it, as an item and as a key" do
      texts =
        for size <- [0, 1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 200],
            do: String.duplicate("a", size)

      forms = Enum.flat_map(texts, &forms/1)
      distinct = pipe([@x, %{"op" => "distinct"}])
      assert {:ok, ^texts, _, _} = run(distinct, context: %{"x" => forms ++ forms})

      for text <- texts, key <- forms(text), other <- forms(text <> "b") do
        context = %{"x" => [%{key => 1}, %{other => 2}, %{text => 3}]}
        get = %{"op" => "map", "expr" => %{"op" => "get", "field" => text}}
        assert {:ok, [1, nil, 3], _, _} = run(pipe([@x, get]), context: context)
      end
    end

    test "maps around the size at which the VM changes their layout" do
      for size <- [1, 31, 32, 33, 1_000], other <- [1, 32, 33, 1_000] do
        context = %{"x" => numbered(size), "y" => Map.new(numbered(other), &renumbered/1)}
        assert_agreed(%{"op" => "merge", "objects" => [@x, @y]}, context, {size, other})
        assert_agreed(%{"op" => "merge", "objects" => [@y, @x, @y]}, context, {size, other})
        keys = %{"op" => "pipe", "steps" => [@x, %{"op" => "keys"}]}
        assert_agreed(keys, context, size)
        assert_agreed(%{"op" => "object", "fields" => numbered(size)}, context, size)

        select = %{"op" => "select", "fields" => Map.keys(numbered(other))}
        assert_agreed(%{"op" => "pipe", "steps" => [@x, select]}, context, {size, other})

        get = %{"op" => "map", "expr" => %{"op" => "get", "field" => "k1"}}
        rows = %{"x" => [numbered(size), numbered(other), %{}, numbered(other), nil]}
        assert_agreed(%{"op" => "pipe", "steps" => [@x, get]}, rows, {size, other})
      end
    end
  end

  describe "deep" do
    test "context and result, 1,000 and 100,000 levels" do
      for depth <- [1_000, 100_000] do
        list = nested(depth, [], &[&1])
        map = nested(depth, %{}, &%{"a" => &1})
        context = %{"x" => [list, map, list, map]}
        distinct = %{"op" => "pipe", "steps" => [@x, %{"op" => "distinct"}]}
        assert {:ok, [^list, ^map], %{}, %{}} = run(distinct, context: context)

        eq = %{"op" => "eq", "value" => @x}
        assert {:ok, true, _, _} = run(pipe([@x, eq]), context: %{"x" => nested(depth, 1, &[&1])})

        sort =
          pipe([
            @x,
            %{"op" => "sort_by", "field" => "a"},
            %{"op" => "drop", "count" => 0},
            %{"op" => "count"}
          ])

        assert {:ok, 2, _, _} = run(sort, context: %{"x" => [map, map]})

        assert {:ok, ^map, _, _} = run(@x, context: %{"x" => map})

        assert {:error, {:execution_error, text}} =
                 run(pipe([@x, %{"op" => "sum", "field" => "a"}]), context: %{"x" => [list]})

        assert byte_size(text) < 2_000
      end
    end

    test "literals" do
      literal = nested(100_000, 1, &[&1])
      assert {:ok, ^literal, _, _} = run(%{"op" => "literal", "value" => literal})
      literal = nested(100_000, 1, &%{"a" => &1})
      assert {:ok, result, _, _} = run(%{"op" => "literal", "value" => %{"result" => literal}})
      assert result == literal

      brackets = fn n -> String.duplicate("[", n) <> String.duplicate("]", n) end
      text = &~s({"program": {"op": "literal", "value": #{brackets.(&1)}}})
      assert {:ok, result, _, _} = Json.run(text.(1_000))
      assert result == nested(999, [], &[&1])
      assert {:error, {:parse_error, message}} = Json.run(text.(100_000))
      assert message =~ "Nesting exceeds 10000 levels at position 10"

      {:ok, parsed} = Json.Parser.parse(text.(100_000))
      assert parsed["value"] == nested(99_999, [], &[&1])
    end

    test "programs, 1,000 levels, as text and as maps" do
      one = %{"op" => "literal", "value" => 1}
      yes = %{"op" => "literal", "value" => true}

      programs = [
        {pipe([one]), &pipe([&1]), 1},
        {one, &let("x", one, &1), 1},
        {one, &let("x", &1, %{"op" => "var", "name" => "x"}), 1},
        {yes, &%{"op" => "and", "conditions" => [&1]}, true},
        {yes, &%{"op" => "or", "conditions" => [&1]}, true},
        {yes, &%{"op" => "not", "condition" => &1}, true},
        {one, &%{"op" => "if", "condition" => &1, "then" => one, "else" => yes}, 1},
        {one, &%{"op" => "add", "left" => &1, "right" => 1}, 1_001},
        {one, &pipe([@x, %{"op" => "map", "expr" => &1}, %{"op" => "first"}]), 1},
        {one, &%{"op" => "object", "fields" => %{"result" => &1}},
         nested(999, 1, fn r -> %{"result" => r} end)}
      ]

      for {leaf, wrap, result} <- programs do
        node = nested(1_000, leaf, wrap)
        assert {:ok, ^result, _, _} = run(node, context: %{"x" => [7]})
        {:ok, text} = PtcRunner.Test.JsonText.encode(%{"program" => node})
        assert {:ok, ^result, _, _} = Json.run(text, context: %{"x" => [7]})
        assert Validator.validate(node) == :ok
        assert {:ok, program} = Json.compile(text)
        assert {:ok, ^result, _, _} = Json.run(program, context: %{"x" => [7]})
      end
    end

    test "max_depth counts operations, and in a text brackets, at N and N + 1" do
      wrap = &%{"op" => "not", "condition" => &1}
      node = nested(9, %{"op" => "literal", "value" => true}, wrap)
      assert {:ok, false, _, _} = run(node, max_depth: 10)
      too_deep = {:error, {:validation_error, "Program nesting exceeds 9 levels"}}
      assert run(node, max_depth: 9) == too_deep
      assert Json.compile(%{"program" => node}, max_depth: 9) == too_deep
      assert {:ok, _program} = Json.compile(%{"program" => node}, max_depth: 10)

      # Data may be as deep as it likes; text may not.
      literal = %{"op" => "literal", "value" => nested(50, 1, &[&1])}
      assert {:ok, _, _, _} = run(literal, max_depth: 1)

      assert {:ok, [[1]], _, _} =
               Json.run(~s({"program": {"op": "literal", "value": [[1]]}}), max_depth: 4)

      assert Json.run(~s({"program": {"op": "literal", "value": [[1]]}}), max_depth: 3) ==
               {:error,
                {:parse_error, "JSON decode error: Nesting exceeds 3 levels at position 40"}}
    end
  end

  describe "wide programs" do
    test "a literal of 10,000 items, 2,000 steps, 2,000 names" do
      items = Enum.to_list(1..10_000)
      assert {:ok, ^items, _, _} = run(%{"op" => "literal", "value" => items})

      text =
        ~s({"program": {"op": "literal", "value": #{inspect(items, limit: :infinity, charlists: :as_lists)}}})

      assert {:ok, ^items, _, _} = Json.run(text)

      steps =
        List.duplicate(
          %{"op" => "add", "left" => %{"op" => "var", "name" => "__input"}, "right" => 1},
          2_000
        )

      node = pipe([%{"op" => "literal", "value" => 0} | steps])
      assert {:ok, 2_000, _, _} = run(node)
      {:ok, text} = PtcRunner.Test.JsonText.encode(%{"program" => node})
      assert {:ok, 2_000, _, _} = Json.run(text)

      sum =
        Enum.reduce(
          1..2_000,
          %{"op" => "literal", "value" => 0},
          &%{"op" => "add", "left" => &2, "right" => %{"op" => "var", "name" => "n#{&1}"}}
        )

      lets = Enum.reduce(1..2_000, sum, &let("n#{&1}", %{"op" => "literal", "value" => &1}, &2))
      assert {:ok, 2_001_000, _, _} = run(lets)
    end

    test "of equal keys in a text the first one counts, of equal fields of select any" do
      for keys <- [2, 20, 32, 33, 1_000], pairs <- [30, 33, 2_000] do
        text = Enum.map_join(1..pairs, ",", &~s("k#{rem(&1, keys)}": #{&1}))
        expected = Map.new(pairs..1//-1, &{"k#{rem(&1, keys)}", &1})
        assert {:ok, parsed} = Json.Parser.parse(~s({"program": {#{text}}}))
        assert parsed === expected
        assert {:ok, ran, _, _} = Json.run(~s({"program": {"op": "literal", "value": {#{text}}}}))
        assert ran === expected
        assert {:ok, ran, _, _} = Json.run(~s({"program": {#{text}}}))
        assert ran === expected

        fields = for n <- 1..pairs, do: "k#{rem(n, keys)}"
        select = pipe([@x, %{"op" => "select", "fields" => fields}])
        assert {:ok, selected, _, _} = run(select, context: %{"x" => expected})
        assert selected === expected
      end
    end

    test "an object of 1,000 fields, equal keys in a text" do
      fields = Map.new(1..1_000, &{"k#{&1}", %{"op" => "literal", "value" => &1}})
      assert {:ok, result, _, _} = run(fields)
      assert result == numbered(1_000)

      pairs = Enum.map_join(1..2_000, ",", &~s("k#{rem(&1, 1_000)}": #{&1}))

      assert {:ok, result, _, _} =
               Json.run(
                 ~s({"program": {#{pairs}, "result": {"op": "literal", "op": "count", "value": 5, "value": 6}}})
               )

      assert result == 5
      assert {:ok, %{"k7" => 7, "k0" => 1_000}, _, _} = Json.run(~s({"program": {#{pairs}}}))
    end
  end

  defp pipe(steps), do: %{"op" => "pipe", "steps" => steps}

  defp let(name, value, body),
    do: %{"op" => "let", "name" => name, "value" => value, "in" => body}

  # On the heap, as parts of another binary (the last one not at a byte), and with room to grow.
  defp forms(text) do
    size = byte_size(text)

    <<length::32, _::3, unaligned::binary-size(length), _::5>> =
      <<size::32, 0::3, text::binary, 0::5>>

    part = binary_part("(" <> text <> String.duplicate(")", 100), 1, size)
    grown = for <<byte <- text>>, reduce: <<>>, do: (grown -> <<grown::binary, byte>>)
    [:binary.copy(text), part, unaligned, grown]
  end

  defp nested(depth, leaf, wrap), do: Enum.reduce(1..depth, leaf, fn _, inner -> wrap.(inner) end)
  defp renumbered({key, value}), do: {key, -value}
  defp numbered(size), do: Map.new(1..size, &{"k#{&1}", &1})
end
