defmodule PtcRunner.Json.HostileTermsTest do
  # Long strings count by their bytes and big integers by their limbs, wherever an operation looks at them; so do
  # other terms without an end. Bounds are generous: what is forbidden here takes many seconds, or holds a
  # scheduler of the VM for a long time.
  use PtcRunner.Test.Apart

  import Bitwise, only: [<<<: 2]

  alias PtcRunner.Json
  alias PtcRunner.Test.{Hostile, Room, SliceClock, Watch}

  @rows %{"op" => "load", "name" => "rows"}
  @input %{"op" => "var", "name" => "__input"}
  @mega 1_000_000
  # The bits of an integer of nearly 4 MB.
  @huge 33_000_000

  # Milliseconds.
  @deadline 20
  @too_long 3_000
  @hold 150

  # So many that nothing is done in time, even where a key is found where it was the last time. Not an
  # attribute: to compile a list of this length takes half a minute.
  defp rounds, do: Enum.to_list(1..500_000)

  defp load(name), do: %{"op" => "load", "name" => name}
  defp pipe(steps), do: %{"op" => "pipe", "steps" => steps}

  # A list of which only the number counts is not made: this looks at all of it.
  defp whole, do: %{"op" => "drop", "count" => 0}
  defp count, do: %{"op" => "count"}
  defp again(node), do: pipe([load("rounds"), %{"op" => "map", "expr" => node}, whole(), count()])
  defp filter(where), do: pipe([@rows, %{"op" => "filter", "where" => where}, count()])

  defp run(node, context, opts \\ []) do
    Json.run(%{"program" => node}, opts ++ [context: context, timeout: @deadline])
  end

  # The result, which came in time; no scheduler was held. The context is made in the process that runs the
  # program: a copy would not share its parts.
  defp timely(fun, hold \\ @hold) do
    {{micros, result}, holds} = Watch.holds(hold, fn -> :timer.tc(fun) end)

    if holds == [] and micros < @too_long * 1_000,
      do: result,
      else: timely_beside_work(fun, hold)
  end

  # Where other programs take the processor away, the time of the process goes on.
  defp timely_beside_work(fun, hold) do
    Room.again(fn ->
      {{{micros, result}, busy}, holds} =
        Watch.holds(hold, fn -> Room.beside_work(fn -> :timer.tc(fun) end) end)

      assert holds == [], "held a scheduler for #{inspect(holds)} ms"
      ms = trunc(micros / 1_000 / busy)
      assert ms < @too_long, "took #{ms} ms"
      result
    end)
  end

  # As a constant of the VM it is not copied to the process of each program, and no collection of garbage goes through it.
  defp constant(context) do
    :persistent_term.put(__MODULE__, context)
    :persistent_term.get(__MODULE__)
  end

  # The CPU time of all native calls so far, in milliseconds.
  defp native, do: SliceClock.lines() |> Enum.map(& &1.total) |> Enum.sum() |> div(1_000_000)

  # Copies of their own: equal terms at different places in memory.
  defp long(size, last \\ "z"), do: :binary.copy("x", size - 1) <> last
  defp huge(last \\ 1), do: power(@huge) + last
  # A compiler would warn of so large a constant.
  defp power(bits), do: 1 <<< bits
  defp rows(terms, key \\ "t"), do: for(term <- terms, do: %{key => term})
  defp copies(count, make), do: for(_ <- 1..count, do: make.())

  defp compared(value), do: for(op <- ~w(eq neq gt gte lt lte), do: compared(op, value))
  defp compared(op, value), do: filter(%{"op" => op, "field" => "t", "value" => value})

  # Membership, repetition, order and extremes.
  defp looks do
    extremes = for op <- ~w(min max min_by max_by), do: pipe([@rows, by(op)])

    [
      pipe([load("many"), %{"op" => "distinct"}, count()]),
      pipe([load("many"), %{"op" => "contains", "value" => load("x")}]),
      pipe([load("many"), %{"op" => "in", "value" => load("x")}]),
      pipe([@rows, %{"op" => "filter_in", "field" => "t", "value" => load("many")}, count()]),
      pipe([@rows, by("sort_by"), whole(), count()])
    ] ++ extremes
  end

  defp by(op), do: %{"op" => op, "field" => "t"}

  ## Inputs: a context and the programs that look at it

  defp input(:integers) do
    many = copies(40, &huge/0)
    # Terms are compared from their highest limb on, and told apart from their lowest one on.
    x = huge(1) + (1 <<< (@huge - 1))

    kept = fn op ->
      %{"op" => "filter", "where" => %{"op" => op, "field" => "t", "value" => huge(2)}}
    end

    computed = [
      pipe([@rows, by("sum")]),
      pipe([@rows, kept.("eq"), by("sum")]),
      pipe([@rows, kept.("lt"), by("sum")]),
      %{"op" => "add", "left" => load("x"), "right" => 1},
      %{"op" => "sub", "left" => load("x"), "right" => load("x")},
      %{"op" => "mul", "left" => load("x"), "right" => 0},
      pipe([@rows, %{"op" => "nth", "index" => huge()}]),
      pipe([@rows, %{"op" => "take", "count" => huge()}])
    ]

    {%{"many" => many, "rows" => rows(many), "x" => x},
     looks() ++ compared(load("x")) ++ computed}
  end

  defp input(:strings) do
    many = copies(20, fn -> long(2 * @mega) end)
    rows = rows(for n <- 1..20, do: long(2 * @mega, <<n>>))
    {%{"many" => many, "rows" => rows, "x" => long(2 * @mega, "y")}, looks()}
  end

  defp input(:equal_strings) do
    rows = rows(copies(5, fn -> long(4 * @mega) end))
    {%{"rows" => rows, "x" => long(4 * @mega)}, compared(load("x"))}
  end

  defp input(:parts_of_strings) do
    rows = rows(List.duplicate(long(8 * @mega), 2_000))
    {%{"rows" => rows, "x" => "y" <> long(2 * @mega)}, [compared("contains", load("x"))]}
  end

  defp input(:keys_of_small_maps), do: keys(4, 20)
  defp input(:keys_of_large_maps), do: keys(2, 40)

  defp input(:keys_of_new_maps) do
    fields = Map.new(1..30, &{long(@mega, <<&1>>), %{"op" => "get", "field" => "n"}})
    {%{}, [fields]}
  end

  defp input(other) do
    million = Enum.to_list(1..@mega)

    make =
      case other do
        :tuples -> fn -> List.to_tuple(million) end
        :nested_tuples -> fn -> Enum.reduce(1..300_000, {}, &{&1, &2}) end
        :improper_lists -> fn -> Enum.reduce(1..@mega, :end, &[&1 | &2]) end
        :keys_that_are_tuples -> fn -> %{List.to_tuple(million) => 1} end
        :bitstrings -> fn -> <<0::size(80_000_001)>> end
        :lists -> fn -> Enum.map(million, & &1) end
      end

    {%{"rows" => rows(copies(6, make)), "x" => make.()}, [compared("eq", load("x"))]}
  end

  defp keys(count, size) do
    key = fn n -> long(@mega, <<n>>) end
    rows = copies(count, fn -> Map.new(1..size, &{key.(&1), &1}) end)
    key = key.(20)
    each = &pipe([@rows, %{"op" => "map", "expr" => &1}, count()])
    in_first = %{"op" => "filter_in", "field" => "t", "value" => load("first")}
    pairs = rows(copies(5, fn -> long(@mega, <<3>>) end))

    {%{"rows" => rows, "key" => key, "first" => hd(rows), "pairs" => pairs},
     [
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
       pipe([load("pairs"), in_first, count()])
     ]}
  end

  for input <-
        ~w(integers strings equal_strings parts_of_strings keys_of_small_maps keys_of_large_maps
           keys_of_new_maps tuples nested_tuples improper_lists keys_that_are_tuples bitstrings lists)a do
    @tag timeout: 120_000
    @tag skip: input == :integers and Hostile.skip_huge_integers()
    test "each look at #{input} ends at the deadline" do
      {context, nodes} = input(unquote(input))
      context = context |> Map.put("rounds", rounds()) |> constant()
      # A collection of 300 MB of integers holds a scheduler.
      hold = if unquote(input) == :integers, do: @too_long, else: @hold

      # These terms take minutes to be shown.
      for {node, index} <- Enum.with_index(nodes) do
        result = timely(fn -> run(again(node), context, max_heap: 0) end, hold)
        assert result == {:error, {:timeout, @deadline}}, "program #{index}"
      end
    end
  end

  describe "integers" do
    @times if PtcRunner.Test.Environment.many?(), do: 3, else: 1

    @tag skip: Hostile.skip_huge_integers()
    test "of megabytes hold no scheduler when few are looked at" do
      for node <- [
            %{"op" => "add", "left" => load("x"), "right" => load("y")},
            pipe([load("many"), %{"op" => "distinct"}]),
            pipe([@rows, %{"op" => "sum", "field" => "n"}])
          ] do
        Room.again(fn ->
          # Made where they are used, and nothing of it leaves.
          {:done, holds} =
            Watch.holds(@hold, fn ->
              many = List.duplicate(huge(), 150)

              context = %{
                "many" => many,
                "rows" => rows(many, "n"),
                "x" => hd(many),
                "y" => huge()
              }

              for _ <- 1..@times,
                  do: run(pipe([node, %{"op" => "typeof"}]), context, timeout: 5_000)

              :done
            end)

          assert holds == []
        end)
      end
    end

    @tag skip: Hostile.skip_huge_integers()
    test "are computed with as ever" do
      a = 1 <<< 200
      b = -(1 <<< 300)
      context = %{"a" => a, "b" => b, "rows" => rows([a, b, 1, -a, 2], "n")}

      for {node, expected} <- [
            {%{"op" => "add", "left" => load("a"), "right" => load("b")}, a + b},
            {%{"op" => "sub", "left" => load("a"), "right" => load("a")}, 0},
            {%{"op" => "mul", "left" => load("a"), "right" => load("b")}, a * b},
            {%{"op" => "div", "left" => load("a"), "right" => load("b")}, a / b},
            {%{"op" => "round", "value" => load("a")}, a * 1.0},
            {pipe([@rows, %{"op" => "sum", "field" => "n"}]), b + 3},
            {pipe([@rows, %{"op" => "avg", "field" => "n"}]), (b + 3) / 5},
            {pipe([@rows, %{"op" => "max", "field" => "n"}]), a},
            {pipe([@rows, %{"op" => "min", "field" => "n"}]), b},
            {pipe([load("b"), %{"op" => "eq", "value" => b}]), true},
            {pipe([load("b"), %{"op" => "lt", "value" => a}]), true},
            {pipe([load("b"), %{"op" => "gt", "value" => -1.0e300}]), true}
          ] do
        assert {:ok, ^expected, _, _} = run(node, context, timeout: 60_000), inspect(node)
      end

      round = %{"op" => "round", "value" => load("x")}
      assert {:error, {:execution_error, _}} = run(round, %{"x" => 1 <<< 1_024}, timeout: 60_000)
      assert {:error, {:execution_error, _}} = run(round, %{"x" => huge()}, timeout: 60_000)
    end

    test "of every length are known by it" do
      # One more than 63 bits is the first that takes a look at its length.
      for bits <- [62, 63, 64, 65, 127, 128, 129, 1_000, 100_000], sign <- [1, -1] do
        n = sign * ((1 <<< bits) - 1)
        node = pipe([load("rows"), %{"op" => "distinct"}, count()])

        assert {:ok, 2, _, _} =
                 timely(fn -> run(node, %{"rows" => [n, n + 1, n]}, timeout: 60_000) end)
      end
    end
  end

  describe "strings" do
    test "shorter than the part that is searched in them are not looked at" do
      rows = rows(for n <- 1..20_000, do: "row #{n}")

      for size <- [100_000, 10 * @mega], needle = long(size), value <- [needle, load("needle")] do
        context = %{"rows" => rows, "needle" => needle}
        node = compared("contains", value)
        assert {:ok, 0, _, _} = timely(fn -> run(node, context, timeout: 60_000) end)
      end
    end

    test "are searched across the pieces in which they are read" do
      for at <- [0, 65_530, 65_535, 65_536, 131_060, 199_990] do
        text = :binary.copy("a", at) <> "needle" <> :binary.copy("b", 200_000 - at)
        contains = %{"op" => "contains", "value" => "needle"}

        assert {:ok, true, _, _} =
                 run(pipe([load("t"), contains]), %{"t" => text}, timeout: 60_000)
      end
    end

    test "of megabytes are compared right" do
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
        assert {:ok, ^expected, _, _} = run(node, context, timeout: 60_000)
      end
    end
  end

  describe "keys of megabytes" do
    test "of one new map are hashed before the deadline, or not at all" do
      wide = Map.new(1..40, &{long(2 * @mega, <<&1>>), &1})
      node = %{"op" => "merge", "objects" => List.duplicate(load("wide"), 3)}

      Room.again(fn ->
        before = native()
        assert run(node, %{"wide" => wide}) == {:error, {:timeout, @deadline}}
        assert native() - before < 150 * Room.slowness()
      end)

      assert {:ok, merged, _, _} = run(node, %{"wide" => wide}, timeout: :infinity)
      assert map_size(merged) == 40
    end

    test "are found" do
      for {count, size} <- [{4, 20}, {2, 40}] do
        {%{"rows" => rows, "key" => key}, _nodes} = keys(count, size)
        node = pipe([@rows, %{"op" => "map", "expr" => %{"op" => "get", "field" => key}}])
        expected = List.duplicate(20, count)
        assert {:ok, ^expected, _, _} = run(node, %{"rows" => rows}, timeout: 10_000)
      end
    end
  end

  test "other terms of the host compare as they did" do
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
      assert {:ok, true, _, _} = run(eq, %{"a" => term, "b" => term}, timeout: 60_000)
      other = %{"a" => term, "b" => {1, {2, "b"}}}
      assert {:ok, false, _, _} = run(eq, other, timeout: 60_000)
      distinct = pipe([@rows, %{"op" => "distinct"}, count()])
      rows = %{"rows" => [term, "x", term]}
      assert {:ok, 2, _, _} = run(distinct, rows, timeout: 60_000)
    end
  end
end
