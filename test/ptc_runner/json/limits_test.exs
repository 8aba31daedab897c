defmodule PtcRunner.Json.LimitsTest do
  # Every run ends at its limits, however it spends its time and its words.
  use ExUnit.Case, async: false

  import Bitwise, only: [<<<: 2]

  alias PtcRunner.Json
  alias PtcRunner.Json.Limits
  alias PtcRunner.Test.Watch

  doctest Limits

  @x %{"op" => "load", "name" => "x"}
  @input %{"op" => "var", "name" => "__input"}
  @list Enum.to_list(1..2_000)

  defp run(node, opts), do: Json.run(%{"program" => node}, opts)
  defp pipe(steps), do: %{"op" => "pipe", "steps" => steps}

  defp let(name, value, body),
    do: %{"op" => "let", "name" => name, "value" => value, "in" => body}

  defp var(name), do: %{"op" => "var", "name" => name}
  defp literal(value), do: %{"op" => "literal", "value" => value}
  defp repeated(times, node, wrap), do: Enum.reduce(1..times, node, fn _, node -> wrap.(node) end)

  # Loops in loops over a list of 2,000: 16 thousand billion rounds, and nothing built.
  defp endless do
    repeated(4, literal(false), fn inner ->
      pipe([@x, %{"op" => "filter", "where" => inner}, %{"op" => "first"}])
    end)
  end

  # The defaults are those of the library here, not the longer ones of the other tests.
  setup do
    others = Application.get_env(:ptc_runner_native, :default_timeout)
    delete_defaults()

    on_exit(fn ->
      delete_defaults()
      Application.put_env(:ptc_runner_native, :default_timeout, others)
    end)
  end

  defp delete_defaults do
    for app <- [:ptc_runner, :ptc_runner_native],
        name <- [:default_timeout, :default_max_heap],
        do: Application.delete_env(app, name)
  end

  describe "timeout" do
    test "ends each kind of long work" do
      rows = for n <- 1..400_000, do: %{"k" => [1, 2, rem(n * 7_919, 1_000_003)], "n" => n}
      same = for n <- 1..400_000, do: %{"k" => [1, 2, rem(n * 7_919, 1_000_003)], "n" => n}
      power = 1 <<< 2_000_000
      square = %{"op" => "mul", "left" => var("b"), "right" => var("b")}
      again = &pipe([@x, %{"op" => "map", "expr" => &1}, %{"op" => "count"}])
      many = &%{"x" => List.duplicate(&1, 10_000)}

      work = [
        {endless(), %{"x" => @list}},
        {again.(pipe([@input, %{"op" => "sort_by", "field" => "k"}, %{"op" => "count"}])),
         many.(rows)},
        {again.(pipe([@input, %{"op" => "distinct"}, %{"op" => "count"}])), many.(rows)},
        {again.(pipe([@input, %{"op" => "sum", "field" => "n"}])), many.(rows)},
        {again.(%{"op" => "eq", "value" => var("same")}), many.(rows)},
        {again.(%{"op" => "contains", "value" => "no"}), many.(:binary.copy("abc", 3_000_000))},
        {again.(%{"op" => "in", "value" => %{"no" => 1}}), many.(rows)},
        {again.(let("b", @input, square)), many.(power)}
      ]

      # Later VMs hold no integer that takes so long.
      tower = {
        let(
          "b",
          %{"op" => "load", "name" => "power"},
          repeated(40, var("b"), &let("b", square, &1))
        ),
        %{"power" => power}
      }

      work = if System.otp_release() < "26", do: [tower | work], else: work

      for {node, context} <- work do
        assert run(node, context: context, memory: %{"same" => same}, timeout: 50, max_heap: 0) ==
                 {:error, {:timeout, 50}},
               inspect(node)
      end
    end

    test "also holds for the message about a huge number" do
      count = pipe([@x, %{"op" => "count"}])

      assert {:error, {_kind, message}} =
               run(count, context: %{"x" => 1 <<< 1_500_000}, timeout: 100)

      assert is_integer(message) or byte_size(message) < 10_000
    end

    test "also holds for the reading of a text" do
      number = "1" <> String.duplicate("7", 20_000)

      text =
        ~s({"program": {"op": "literal", "value": [#{number}) <>
          String.duplicate("," <> number, 1_000) <> "]}}"

      result = Json.run(text, timeout: 1, max_heap: 0)
      assert elem(result, 0) == :error
      assert elem(result, 1) == {:timeout, 1}
    end

    test "of 0 leaves time for a few steps at most" do
      assert run(endless(), context: %{"x" => @list}, timeout: 0) == {:error, {:timeout, 0}}
      call = %{"op" => "call", "tool" => "t"}
      assert run(call, tools: %{"t" => fn _ -> 1 end}, timeout: 0) == {:error, {:timeout, 0}}
    end

    test "of :infinity never ends a run" do
      count = pipe([@x, %{"op" => "count"}])
      context = %{"x" => Enum.to_list(1..500_000)}
      assert {:ok, 500_000, _, _} = run(count, context: context, timeout: :infinity)
      assert {:ok, 500_000, _, _} = run(count, context: context, timeout: 4_294_967_295)
    end
  end

  describe "max_heap" do
    # A machine may stand still for longer than the default.
    setup do: Application.put_env(:ptc_runner_native, :default_timeout, 60_000)

    test "ends each kind of growth, long before an unlimited run would" do
      double = &let("l", %{"op" => "concat", "lists" => [var("l"), var("l")]}, &1)
      zip = &let("l", %{"op" => "zip", "lists" => [var("l"), var("l"), var("l")]}, &1)
      many = for _ <- 1..300, do: %{"op" => "map", "expr" => %{"a" => @input, "b" => 1}}
      start = &let("l", literal(Enum.to_list(1..1_000)), &1)
      merge = %{"op" => "merge", "objects" => List.duplicate(@input, 3)}
      large = Map.new(1..20_000, &{&1, &1})

      growth = [
        {start.(repeated(40, var("l"), double)), %{}},
        {start.(repeated(2_000, var("l"), zip)), %{}},
        {start.(pipe([var("l") | many])), %{}},
        {pipe([@x, %{"op" => "map", "expr" => merge}]), %{"x" => List.duplicate(large, 60)}},
        {pipe([@x, %{"op" => "map", "expr" => %{"op" => "keys"}}]),
         %{"x" => List.duplicate(large, 60)}},
        {pipe([@x, %{"op" => "map", "expr" => %{"op" => "typeof"}}]),
         %{"x" => Enum.to_list(1..1_000_000)}},
        {repeated(3, @input, &pipe([@x, %{"op" => "map", "expr" => &1}])), %{"x" => @list}}
      ]

      for {node, context} <- growth do
        {result, megabytes} = Watch.growth(fn -> run(node, context: context, timeout: 30_000) end)
        assert result == {:error, {:memory_exceeded, 10_000_000}}, inspect(node)
        assert megabytes < 300, "#{megabytes} MB for #{inspect(node)}"
      end
    end

    test "counts what tools answer" do
      tools = %{"rows" => fn _args -> Enum.to_list(1..10_000) end}
      calls = pipe([@x, %{"op" => "map", "expr" => %{"op" => "call", "tool" => "rows"}}])
      opts = [context: %{"x" => @list}, tools: tools, timeout: 30_000]

      # The answers are too long to be shown.
      result = run(calls, opts)
      assert elem(result, 0) == :error
      assert elem(result, 1) == {:memory_exceeded, 10_000_000}
    end

    test "is exact for a list: N words pass, one less does not" do
      # A list of 1,000 takes 2 words an item.
      take = pipe([@x, %{"op" => "take", "count" => 1_000}])
      context = %{"x" => @list}

      least =
        Enum.find(
          1_990..2_100,
          &match?({:ok, _, _, _}, run(take, context: context, max_heap: &1))
        )

      assert least in 2_000..2_020

      assert run(take, context: context, max_heap: least - 1) ==
               {:error, {:memory_exceeded, 8 * (least - 1)}}

      assert {:ok, _, _, _} = run(take, context: context, max_heap: least + 1)
    end

    test "of 0 is no limit; the least is that of the VM" do
      concat = %{"op" => "concat", "lists" => List.duplicate(@x, 400)}
      assert {:error, {:memory_exceeded, _}} = run(concat, context: %{"x" => @list})
      assert {:ok, list, _, _} = run(concat, context: %{"x" => @list}, max_heap: 0)
      assert length(list) == 800_000
      assert {:ok, 1, _, _} = run(literal(1), max_heap: 233)
    end

    test "does not count what the caller passes in" do
      context = %{"x" => Enum.to_list(1..1_000_000)}
      count = pipe([@x, %{"op" => "count"}])

      assert {:ok, 1_000_000, _, _} =
               run(count, context: context, max_heap: 1_000, timeout: 10_000)
    end
  end

  describe "defaults" do
    test "a run ends after a second" do
      assert run(endless(), context: %{"x" => @list}) == {:error, {:timeout, 1_000}}
    end

    test "of the application environment hold for runs and for tools" do
      Application.put_env(:ptc_runner, :default_timeout, 30)
      assert run(endless(), context: %{"x" => @list}) == {:error, {:timeout, 30}}
      hang = %{"t" => fn _ -> Process.sleep(:infinity) end}
      assert run(%{"op" => "call", "tool" => "t"}, tools: hang) == {:error, {:timeout, 30}}

      # On a machine that stands still, even a short run would be late.
      Application.put_env(:ptc_runner, :default_timeout, 60_000)
      Application.put_env(:ptc_runner, :default_max_heap, 1_000)
      concat = %{"op" => "concat", "lists" => [@x, @x]}
      assert run(concat, context: %{"x" => @list}) == {:error, {:memory_exceeded, 8_000}}
      hog = %{"t" => fn _ -> Enum.to_list(1..100_000) end}

      assert run(%{"op" => "call", "tool" => "t"}, tools: hog) ==
               {:error, {:memory_exceeded, 8_000}}
    end

    test "of this application's own environment come first" do
      Application.put_env(:ptc_runner_native, :default_timeout, 30)
      assert run(endless(), context: %{"x" => @list}) == {:error, {:timeout, 30}}

      Application.put_env(:ptc_runner, :default_timeout, 60_000)
      Application.put_env(:ptc_runner, :default_max_heap, 1_000)
      assert run(endless(), context: %{"x" => @list}) == {:error, {:timeout, 30}}

      Application.put_env(:ptc_runner_native, :default_timeout, 60_000)
      concat = %{"op" => "concat", "lists" => [@x, @x]}
      assert run(concat, context: %{"x" => @list}) == {:error, {:memory_exceeded, 8_000}}
      Application.put_env(:ptc_runner_native, :default_max_heap, 2_000)
      assert run(concat, context: %{"x" => @list}) == {:error, {:memory_exceeded, 16_000}}
      Application.put_env(:ptc_runner_native, :default_max_heap, 1_000_000)
      assert {:ok, _, _, _} = run(concat, context: %{"x" => @list})

      Application.put_env(:ptc_runner_native, :default_timeout, "soon")
      assert_raise ArgumentError, fn -> run(endless(), context: %{"x" => @list}) end
    end

    test "give way to options" do
      Application.put_env(:ptc_runner, :default_timeout, 60_000)
      Application.put_env(:ptc_runner, :default_max_heap, 1_000)
      opts = [context: %{"x" => @list}, timeout: 30, max_heap: 1_000_000]
      assert run(endless(), opts) == {:error, {:timeout, 30}}
      concat = %{"op" => "concat", "lists" => [@x, @x]}
      assert {:ok, _, _, _} = run(concat, Keyword.put(opts, :timeout, 60_000))
      assert {:error, {:timeout, 20}} = run(endless(), [timeout: 20] ++ opts)
    end
  end

  test "no run leaves a message" do
    for opts <- [[timeout: 0], [timeout: 5], [max_heap: 233, timeout: 20], [timeout: 50]] do
      run(endless(), [context: %{"x" => @list}] ++ opts)
      run(%{"op" => "concat", "lists" => [@x, @x]}, [context: %{"x" => @list}] ++ opts)
    end

    refute_received _any
  end
end
