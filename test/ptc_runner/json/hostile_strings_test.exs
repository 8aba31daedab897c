defmodule PtcRunner.Json.HostileStringsTest do
  # Long strings count by their bytes, wherever an operation looks at them. Bounds are generous: what
  # is forbidden here takes many seconds, or holds a scheduler of the VM for a long time.
  use ExUnit.Case, async: false

  alias PtcRunner.Json
  alias PtcRunner.Test.{SliceClock, Watch}

  @rows %{"op" => "load", "name" => "rows"}
  @input %{"op" => "var", "name" => "__input"}
  @mega 1_000_000

  # Milliseconds.
  @too_long 1_000
  @hold 150

  defp load(name), do: %{"op" => "load", "name" => name}
  defp pipe(steps), do: %{"op" => "pipe", "steps" => steps}

  # A list of which only the number counts is not made: this looks at all of it.
  defp whole, do: %{"op" => "drop", "count" => 0}
  defp count, do: %{"op" => "count"}
  defp filter(where), do: pipe([@rows, %{"op" => "filter", "where" => where}, count()])

  defp run(node, context, opts \\ []) do
    Json.run(%{"program" => node}, opts ++ [context: context, timeout: 50])
  end

  # The result and whether it came in time; no scheduler was held.
  defp timely(fun) do
    {{micros, result}, holds} = Watch.holds(@hold, fn -> :timer.tc(fun) end)
    assert holds == [], "held a scheduler for #{inspect(holds)} ms"
    assert micros < @too_long * 1_000, "took #{div(micros, 1_000)} ms"
    result
  end

  # The CPU time of all native calls so far, in milliseconds.
  defp native, do: SliceClock.lines() |> Enum.map(& &1.total) |> Enum.sum() |> div(1_000_000)

  # A copy of its own: equal strings at different places in memory.
  defp long(size, last \\ "z"), do: :binary.copy("x", size - 1) <> last

  defp long_rows(count, size, last \\ fn _n -> "z" end),
    do: for(n <- 1..count, do: %{"t" => long(size, last.(n))})

  describe "contains" do
    test "with a part longer than the texts looks at no byte" do
      rows = for n <- 1..20_000, do: %{"t" => "row #{n}"}

      for size <- [100_000, 10 * @mega] do
        needle = long(size)
        contains = %{"op" => "contains", "field" => "t", "value" => needle}

        assert {:ok, 0, _, _} =
                 timely(fn -> run(filter(contains), %{"rows" => rows}, timeout: 1_000) end)

        contains = %{contains | "value" => load("needle")}
        context = %{"rows" => rows, "needle" => needle}
        assert {:ok, 0, _, _} = timely(fn -> run(filter(contains), context, timeout: 1_000) end)
      end
    end

    test "with a long part in long texts ends at the deadline" do
      text = long(8 * @mega)
      rows = List.duplicate(%{"t" => text}, 2_000)
      needle = "y" <> long(2 * @mega)
      contains = %{"op" => "contains", "field" => "t", "value" => load("needle")}
      context = %{"rows" => rows, "needle" => needle}
      assert timely(fn -> run(filter(contains), context) end) == {:error, {:timeout, 50}}
    end

    test "finds what stands across the pieces in which a text is searched" do
      for at <- [0, 65_530, 65_535, 65_536, 131_060, 199_990] do
        text = :binary.copy("a", at) <> "needle" <> :binary.copy("b", 200_000 - at)
        contains = %{"op" => "contains", "value" => "needle"}
        assert {:ok, true, _, _} = run(pipe([load("t"), contains]), %{"t" => text})
      end
    end
  end

  describe "comparisons of long equal strings" do
    for op <- ~w(eq neq gt gte lt lte) do
      test "#{op} ends at the deadline" do
        compare = %{"op" => unquote(op), "field" => "t", "value" => load("x")}
        context = %{"rows" => long_rows(5, 4 * @mega), "x" => long(4 * @mega)}
        # Enough rounds that no machine is that fast.
        node = pipe([load("rounds"), %{"op" => "map", "expr" => filter(compare)}, count()])
        context = Map.put(context, "rounds", Enum.to_list(1..400))
        assert timely(fn -> run(node, context) end) == {:error, {:timeout, 50}}
      end
    end

    test "are right" do
      context = %{"a" => long(3 * @mega), "b" => long(3 * @mega), "c" => long(3 * @mega, "y")}

      for {op, value, expected} <- [
            {"eq", "b", true},
            {"eq", "c", false},
            {"neq", "c", true},
            {"gt", "c", true},
            {"lt", "c", false},
            {"lte", "b", true}
          ] do
        node = pipe([load("a"), %{"op" => op, "value" => load(value)}])
        assert {:ok, ^expected, _, _} = run(node, context, timeout: 1_000)
      end
    end
  end

  test "membership, order, extremes and repetition end at the deadline" do
    context = %{
      "rows" => long_rows(20, 2 * @mega, &<<&1>>),
      "many" => for(_ <- 1..20, do: long(2 * @mega)),
      "x" => long(2 * @mega, "y")
    }

    again = fn node ->
      pipe([load("rounds"), %{"op" => "map", "expr" => node}, count()])
    end

    context = Map.put(context, "rounds", Enum.to_list(1..1_000))

    for node <- [
          pipe([load("many"), %{"op" => "contains", "value" => load("x")}]),
          pipe([load("many"), %{"op" => "in", "value" => load("x")}]),
          pipe([@rows, %{"op" => "filter_in", "field" => "t", "value" => load("many")}, count()]),
          pipe([load("many"), %{"op" => "distinct"}, count()]),
          pipe([@rows, %{"op" => "sort_by", "field" => "t"}, whole(), count()]),
          pipe([@rows, %{"op" => "min_by", "field" => "t"}]),
          pipe([@rows, %{"op" => "max_by", "field" => "t"}]),
          pipe([@rows, %{"op" => "max", "field" => "t"}])
        ] do
      assert timely(fn -> run(again.(node), context) end) == {:error, {:timeout, 50}},
             inspect(node)
    end
  end

  describe "keys of a megabyte" do
    setup do
      key = fn n -> long(@mega, <<n>>) end
      small = for _ <- 1..4, do: Map.new(1..20, &{key.(&1), &1})
      large = for _ <- 1..2, do: Map.new(1..40, &{key.(&1), &1})
      {:ok, key: key.(20), small: small, large: large}
    end

    test "in look-ups end at the deadline", %{key: key, small: small, large: large} do
      # So many that none is done in time, even where a key is found where it was the last time.
      rounds = Enum.to_list(1..500_000)
      again = &pipe([load("rounds"), %{"op" => "map", "expr" => &1}, count()])
      each = &pipe([@rows, %{"op" => "map", "expr" => &1}, count()])

      for rows <- [small, large],
          node <- [
            each.(%{"op" => "get", "field" => key}),
            each.(%{"op" => "get", "path" => [key]}),
            each.(%{"op" => "select", "fields" => [key]}),
            each.(%{"op" => "in", "value" => load("key")}),
            each.(%{"op" => "contains", "value" => load("key")}),
            each.(%{"op" => "keys"}),
            each.(%{"op" => "merge", "objects" => [@input, @input]}),
            pipe([@rows, %{"op" => "sum", "field" => key}]),
            pipe([@rows, %{"op" => "max", "field" => key}]),
            filter(%{"op" => "eq", "field" => key, "value" => 1}),
            pipe([
              load("pairs"),
              %{"op" => "filter_in", "field" => "t", "value" => load("first")},
              count()
            ])
          ] do
        context = %{
          "rows" => rows,
          "rounds" => rounds,
          "key" => key,
          "first" => hd(rows),
          "pairs" => for(_ <- 1..5, do: %{"t" => long(@mega, <<3>>)})
        }

        opts = [max_heap: 0]
        result = timely(fn -> run(again.(node), context, opts) end)
        assert result == {:error, {:timeout, 50}}, inspect(node, printable_limit: 50)
      end
    end

    test "of one new map are hashed before the deadline, or not at all" do
      wide = Map.new(1..40, &{long(2 * @mega, <<&1>>), &1})
      node = %{"op" => "merge", "objects" => List.duplicate(load("wide"), 3)}
      before = native()
      assert run(node, %{"wide" => wide}) == {:error, {:timeout, 50}}
      assert native() - before < 150
      assert {:ok, merged, _, _} = run(node, %{"wide" => wide}, timeout: :infinity)
      assert map_size(merged) == 40
    end

    test "are found", %{key: key, small: small, large: large} do
      for rows <- [small, large] do
        node = pipe([@rows, %{"op" => "map", "expr" => %{"op" => "get", "field" => key}}])
        expected = List.duplicate(20, length(rows))
        assert {:ok, ^expected, _, _} = run(node, %{"rows" => rows}, timeout: 10_000)
      end
    end

    test "of new maps are counted" do
      fields = Map.new(1..30, &{long(@mega, <<&1>>), %{"op" => "get", "field" => "n"}})
      node = pipe([load("rounds"), %{"op" => "map", "expr" => fields}, whole(), count()])
      context = %{"rounds" => for(n <- 1..5_000, do: %{"n" => n})}
      result = timely(fn -> run(node, context, max_heap: 0) end)
      assert result == {:error, {:timeout, 50}}
    end
  end

  describe "other huge terms of the host" do
    test "tuples, functions, bitstrings and improper lists end at the deadline" do
      million = Enum.to_list(1..@mega)
      improper = fn -> Enum.reduce(1..@mega, :end, &[&1 | &2]) end
      nested = fn -> Enum.reduce(1..300_000, {}, &{&1, &2}) end
      bits = fn -> <<0::size(80_000_001)>> end

      makes = [
        tuple: fn -> List.to_tuple(million) end,
        nested: nested,
        improper: improper,
        key: fn -> %{List.to_tuple(million) => 1} end,
        bits: bits,
        list: fn -> Enum.map(million, & &1) end
      ]

      for {name, make} <- makes do
        context = %{"rows" => for(_ <- 1..6, do: %{"t" => make.()}), "x" => make.()}
        eq = filter(%{"op" => "eq", "field" => "t", "value" => load("x")})
        again = pipe([load("rounds"), %{"op" => "map", "expr" => eq}, count()])
        context = Map.put(context, "rounds", Enum.to_list(1..200))
        assert timely(fn -> run(again, context) end) == {:error, {:timeout, 50}}, "#{name}"
      end
    end

    test "compare as they did" do
      fun = fn x -> x end

      for term <- [
            {1, {2, "a"}},
            [1 | 2],
            <<1::3>>,
            fun,
            self(),
            make_ref(),
            :atom,
            %{{1} => [2]}
          ] do
        eq = pipe([load("a"), %{"op" => "eq", "value" => load("b")}])
        assert {:ok, true, _, _} = run(eq, %{"a" => term, "b" => term})
        assert {:ok, false, _, _} = run(eq, %{"a" => term, "b" => {1, {2, "b"}}})
        distinct = pipe([@rows, %{"op" => "distinct"}, count()])
        assert {:ok, 2, _, _} = run(distinct, %{"rows" => [term, "x", term]})
      end
    end
  end
end
