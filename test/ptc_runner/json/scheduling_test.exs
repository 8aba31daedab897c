defmodule PtcRunner.Json.SchedulingTest do
  # No run holds a scheduler of the VM for long, whatever it is given: work that takes long goes to
  # a dirty scheduler. Bounds are generous, as the machine may be busy: what is forbidden here would
  # hold a scheduler for seconds.
  use ExUnit.Case, async: false

  alias PtcRunner.Json
  alias PtcRunner.Json.Parser
  alias PtcRunner.Test.Watch

  doctest Watch

  # Milliseconds.
  @too_long 150

  @load %{"op" => "load", "name" => "x"}
  @other %{"op" => "load", "name" => "y"}

  defp pipe(steps), do: %{"op" => "pipe", "steps" => [@load | steps]}

  defp run(node, context, opts \\ []) do
    Json.run(%{"program" => node}, opts ++ [context: context, timeout: :infinity, max_heap: 0])
  end

  # Only what is small leaves the process: copying its result is not what is measured.
  defp assert_no_hold(what, fun) do
    {_result, holds} =
      Watch.holds(@too_long, fn ->
        fun.()
        :done
      end)

    assert holds == [], "#{what} held a scheduler for #{inspect(holds)} ms"
  end

  defp rows(count) do
    for n <- 1..count do
      key = rem(n * 7_919, 1_000_003)
      %{"id" => n, "key" => [1, 2, key], "name" => "name #{key}"}
    end
  end

  test "long lists" do
    rows = rows(300_000)

    steps = [
      [%{"op" => "count"}],
      [%{"op" => "sum", "field" => "id"}],
      [%{"op" => "sort_by", "field" => "key"}, %{"op" => "first"}],
      [%{"op" => "sort_by", "field" => "name"}, %{"op" => "first"}],
      [%{"op" => "distinct"}, %{"op" => "count"}],
      [%{"op" => "max_by", "field" => "key"}],
      [%{"op" => "select", "fields" => ["id", "key"]}, %{"op" => "count"}],
      [%{"op" => "filter", "where" => %{"op" => "gt", "field" => "key", "value" => [1, 2, 9]}}],
      [%{"op" => "map", "expr" => %{"a" => %{"op" => "get", "field" => "id"}}}],
      [%{"op" => "filter_in", "field" => "key", "value" => pipe([])}, %{"op" => "count"}]
    ]

    for steps <- steps do
      assert_no_hold(inspect(steps), fn -> run(pipe(steps), %{"x" => rows}) end)
    end

    zip = %{"op" => "zip", "lists" => [@load, @load]}
    assert_no_hold("zip", fn -> run(zip, %{"x" => rows}) end)
  end

  test "large maps" do
    x = Map.new(1..100_000, &{"k#{&1}", &1})
    y = Map.new(50_000..150_000, &{"k#{&1}", &1})
    context = %{"x" => x, "y" => y}

    assert_no_hold("merge", fn ->
      run(%{"op" => "merge", "objects" => [@load, @other]}, context)
    end)

    assert_no_hold("keys", fn -> run(pipe([%{"op" => "keys"}]), context) end)
  end

  test "large values: equal lists, deep terms, long strings" do
    long = Enum.to_list(1..8_000_000)
    same = Enum.to_list(1..8_000_000)
    eq = %{"op" => "eq", "value" => @other}

    list = fn ->
      run(pipe([%{"op" => "map", "expr" => eq}]), %{"x" => List.duplicate(long, 20), "y" => same})
    end

    assert_no_hold("eq of long lists", list)

    megabyte = :binary.copy("abcdefgh", 131_072)
    strings = Enum.map(1..9, &"s#{&1}") ++ List.duplicate(megabyte, 2_000)

    assert_no_hold("distinct of long strings", fn ->
      run(pipe([%{"op" => "distinct"}]), %{"x" => strings})
    end)

    rows = List.duplicate(%{"a" => megabyte <> "x"}, 4_000)

    for op <- ~w(eq lt in contains) do
      filter = %{
        "op" => "filter",
        "where" => %{"op" => op, "field" => "a", "value" => megabyte <> "y"}
      }

      assert_no_hold("#{op} of long strings", fn -> run(pipe([filter]), %{"x" => rows}) end)
    end

    for op <- ~w(min max_by sort_by) do
      copies =
        for n <- 1..1_000,
            do: %{"a" => if(rem(n, 2) == 0, do: megabyte <> "z", else: megabyte <> "y")}

      context = %{"x" => Enum.take(copies, 100) |> List.duplicate(20) |> Enum.concat()}

      assert_no_hold("#{op} of long strings", fn ->
        run(pipe([%{"op" => op, "field" => "a"}]), context)
      end)
    end

    members = %{"op" => "filter_in", "field" => "a", "value" => @other}
    context = %{"x" => rows, "y" => strings}
    assert_no_hold("filter_in of long strings", fn -> run(pipe([members]), context) end)

    fifty = :binary.copy(megabyte, 50)
    contains = %{"op" => "contains", "field" => "a", "value" => "abcdefgha!"}

    assert_no_hold("contains in 50 MB", fn -> run(pipe([contains]), %{"x" => %{"a" => fifty}}) end)
  end

  test "binaries that do not start at a byte are not copied at every look" do
    <<_::3, unaligned::binary-size(8_000_000), _::5>> = :binary.copy(<<0xA5>>, 8_000_001)
    context = %{"x" => List.duplicate(%{"a" => unaligned}, 60)}
    filter = %{"op" => "filter", "where" => %{"op" => "typeof"}}

    for step <- [filter, %{"op" => "sort_by", "field" => "a"}, %{"op" => "max", "field" => "a"}] do
      {_result, megabytes} = Watch.growth(fn -> run(pipe([step]), context) && :done end)
      assert megabytes < 200, "#{inspect(step)} took #{megabytes} MB"
    end
  end

  test "programs of megabytes, as text and as maps, run, compiled and checked" do
    conditions = fn count ->
      for n <- 1..count, do: %{"op" => "eq", "field" => "f#{n}", "value" => [n, "x"]}
    end

    node = %{"op" => "and", "conditions" => conditions.(100_000)}
    {:ok, text} = PtcRunner.Test.JsonText.encode(%{"program" => node})
    assert byte_size(text) > 4_000_000
    program = %{"program" => node}

    for {form, source} <- [text: text, map: program] do
      assert_no_hold("run of #{form}", fn -> Json.run(source) end)
      assert_no_hold("compile of #{form}", fn -> Json.compile(source) end)
      assert_no_hold("wrong tools with #{form}", fn -> Json.run(source, tools: %{"t" => 1}) end)
    end

    assert_no_hold("parse", fn -> Parser.parse(text) end)
    assert_no_hold("validate", fn -> Json.Validator.validate(node) end)

    digits = ~s({"program": {"op": "literal", "value": #{String.duplicate("7", 1_000_000)}}})
    assert_no_hold("compile of a long number", fn -> Json.compile(digits) end)
  end

  test "many small calls one after the other let others have their turns" do
    brackets = String.duplicate("[", 60_000)

    node = %{
      "op" => "and",
      "conditions" =>
        List.duplicate(%{"op" => "not", "condition" => %{"op" => "literal", "value" => 1}}, 900)
    }

    {_result, holds} =
      Watch.holds(@too_long, fn ->
        for _ <- 1..600, do: Parser.parse(brackets)
        for _ <- 1..600, do: Json.compile(%{"program" => node})
        for _ <- 1..600, do: Json.run(%{"program" => node})
        :done
      end)

    assert holds == []
  end

  # A filter in a filter: many steps, nothing built but the numbers in between.
  defp long_work(levels) do
    Enum.reduce(1..levels, %{"op" => "literal", "value" => false}, fn _, inner ->
      steps = [
        %{"op" => "filter", "where" => inner},
        %{"op" => "count"},
        %{"op" => "lt", "value" => 0}
      ]

      pipe(steps)
    end)
  end

  @list Enum.to_list(1..2_000)

  test "others go on while runs take all the time they have" do
    {result, ticks} =
      Watch.ticks(fn ->
        work = fn -> run(long_work(4), %{"x" => @list}, timeout: 300) end
        1..4 |> Enum.map(fn _ -> Task.async(work) end) |> Task.await_many(:infinity)
      end)

    assert result == List.duplicate({:error, {:timeout, 300}}, 4)
    assert ticks > 20
  end

  test "small runs end while fifty long ones wait for their turn" do
    opts = [context: %{"x" => @list}, timeout: 60_000]
    long = for _ <- 1..50, do: spawn(fn -> Json.run(%{"program" => long_work(4)}, opts) end)
    Process.sleep(20)

    for n <- 1..200 do
      assert Json.run(%{"program" => %{"op" => "literal", "value" => n}}) == {:ok, n, %{}, %{}}
    end

    assert Enum.all?(long, &Process.alive?/1)

    # Their callers dead, the dirty schedulers are free at once: this needs one.
    for pid <- long, do: Process.exit(pid, :kill)

    assert {:ok, 2_000_000, _, _} =
             run(pipe([%{"op" => "count"}]), %{"x" => Enum.to_list(1..2_000_000)}, timeout: 30_000)

    assert Watch.survivors(long) == []
  end

  test "long runs share the dirty schedulers with others, and with the VM's own work" do
    opts = [context: %{"x" => @list}, timeout: 5_000]
    long = for _ <- 1..8, do: spawn(fn -> Json.run(%{"program" => long_work(4)}, opts) end)
    Process.sleep(20)
    context = %{"x" => Enum.to_list(1..1_000_000)}
    assert {:ok, 1, _, _} = run(pipe([%{"op" => "distinct"}, %{"op" => "first"}]), context)
    # Large heaps are collected on dirty schedulers too.
    assert :erlang.garbage_collect()
    assert Enum.all?(long, &Process.alive?/1), "the long runs had to end first"
    for pid <- long, do: Process.exit(pid, :kill)
  end
end
