defmodule PtcRunner.Json.SchedulingTest do
  # No run holds a scheduler of the VM for long, whatever it is given: work that takes long goes to
  # a dirty scheduler. What is measured is the CPU time of the scheduler's thread, so a busy machine
  # does not matter. The bound is generous: what is forbidden here would hold a scheduler for seconds.
  use ExUnit.Case, async: false

  alias PtcRunner.Json
  alias PtcRunner.Json.Parser
  alias PtcRunner.Test.{Room, SliceClock, Watch}

  doctest Room
  doctest Watch

  # Microseconds of CPU time a call, on average.
  # A string that was made by appending is trimmed by the VM at the first look, which takes as long as the
  # machine takes to get memory.
  @too_long if SliceClock.strict?(), do: 20_000, else: 200_000

  # Where nothing is appended, less data show the same.
  @too_long_for_less if SliceClock.strict?(), do: 20_000, else: 60_000

  @load %{"op" => "load", "name" => "x"}
  @other %{"op" => "load", "name" => "y"}

  defp pipe(steps), do: %{"op" => "pipe", "steps" => [@load | steps]}

  defp run(node, context, opts \\ []) do
    Json.run(%{"program" => node}, opts ++ [context: context, timeout: :infinity, max_heap: 0])
  end

  defp assert_no_holds(cases, too_long \\ @too_long) do
    long =
      for {what, fun} <- cases,
          {_result, times} = SliceClock.during(fun),
          {nif, time} when time > too_long <- times,
          do: {what, nif, time}

    assert long == [], "NIFs that held a scheduler, for microseconds a call: #{inspect(long)}"
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

    cases = for steps <- steps, do: {inspect(steps), fn -> run(pipe(steps), %{"x" => rows}) end}
    zip = %{"op" => "zip", "lists" => [@load, @load]}
    assert_no_holds([{"zip", fn -> run(zip, %{"x" => rows}) end} | cases])
  end

  test "large maps" do
    x = Map.new(1..100_000, &{"k#{&1}", &1})
    y = Map.new(50_000..150_000, &{"k#{&1}", &1})
    context = %{"x" => x, "y" => y}

    merge = %{"op" => "merge", "objects" => [@load, @other]}

    assert_no_holds([
      {"merge", fn -> run(merge, context) end},
      {"keys", fn -> run(pipe([%{"op" => "keys"}]), context) end}
    ])
  end

  test "long lists that are equal" do
    # Made where they are used: a copy to another process would not share the parts.
    list = fn -> Enum.to_list(1..1_000_000) end

    twice = fn ->
      lists = {list.(), list.()}
      for n <- 1..30, do: %{"k" => elem(lists, rem(n, 2)), "n" => n}
    end

    values = fn -> Enum.to_list(1..9) ++ for(%{"k" => list} <- twice.(), do: list) end
    eq = %{"op" => "filter", "where" => %{"op" => "eq", "field" => "k", "value" => @other}}

    cases = [
      {"eq", fn -> run(pipe([eq]), %{"x" => twice.(), "y" => list.()}) end},
      {"distinct", fn -> run(pipe([%{"op" => "distinct"}]), %{"x" => values.()}) end},
      {"sort_by",
       fn -> run(pipe([%{"op" => "sort_by", "field" => "k"}]), %{"x" => twice.()}) end},
      {"max", fn -> run(pipe([%{"op" => "max", "field" => "k"}]), %{"x" => twice.()}) end}
    ]

    assert_no_holds(cases, @too_long_for_less)
  end

  test "long strings that are equal almost to the end" do
    megabyte = :binary.copy("abcdefgh", 131_072)
    [x, y, z] = for last <- ~w(x y z), do: :binary.copy(megabyte <> last)
    rows = for n <- 1..300, do: %{"a" => if(rem(n, 2) == 0, do: y, else: z)}
    few = for n <- 1..9, do: "s#{n}"
    strings = few ++ for(%{"a" => string} <- rows, do: string)
    context = %{"x" => rows, "y" => x}

    filters =
      for op <- ~w(eq lt in contains) do
        where = %{"op" => op, "field" => "a", "value" => @other}
        {op, fn -> run(pipe([%{"op" => "filter", "where" => where}]), context) end}
      end

    steps =
      for op <- ~w(min max_by sort_by) do
        {op, fn -> run(pipe([%{"op" => op, "field" => "a"}]), context) end}
      end

    members = %{"op" => "filter_in", "field" => "a", "value" => @other}

    literal = %{
      "op" => "filter",
      "where" => %{"op" => "eq", "field" => "a", "value" => :binary.copy(y <> "x")}
    }

    fifty = %{"a" => :binary.copy(megabyte, 50)}
    contains = %{"op" => "contains", "field" => "a", "value" => "abcdefgha!"}

    assert_no_holds(
      [
        {"distinct", fn -> run(pipe([%{"op" => "distinct"}]), %{"x" => strings}) end},
        {"in a list",
         fn ->
           run(pipe([%{"op" => "in", "value" => :binary.copy(y <> "x")}]), %{"x" => strings})
         end},
        {"filter_in", fn -> run(pipe([members]), %{context | "y" => strings}) end},
        {"eq of a literal", fn -> run(pipe([literal]), context) end},
        {"contains in 50 MB", fn -> run(pipe([contains]), %{"x" => fifty}) end}
      ] ++ filters ++ steps,
      @too_long_for_less
    )
  end

  test "binaries that do not start at a byte are not copied at every look" do
    <<_::3, unaligned::binary-size(8_000_000), _::5>> = :binary.copy(<<0xA5>>, 8_000_001)
    rows = List.duplicate(%{"a" => unaligned}, 50)
    get = %{"op" => "get", "field" => "a"}
    input = %{"op" => "var", "name" => "__input"}
    typeof = %{"op" => "pipe", "steps" => [input, get, %{"op" => "typeof"}]}
    contains = %{"op" => "contains", "field" => "a", "value" => "no"}

    steps = [
      %{"op" => "map", "expr" => typeof},
      %{"op" => "filter", "where" => contains},
      %{"op" => "sum", "field" => "a"}
    ]

    for step <- steps do
      {_result, megabytes} = Watch.growth(fn -> run(pipe([step]), %{"x" => rows}) end)
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

    digits = ~s({"program": {"op": "literal", "value": #{String.duplicate("7", 1_000_000)}}})

    cases =
      for {form, source} <- [text: text, map: program, digits: digits] do
        [
          {{form, :run}, fn -> Json.run(source) end},
          {{form, :compile}, fn -> Json.compile(source) end},
          {{form, :wrong_tools}, fn -> Json.run(source, tools: %{"t" => 1}) end}
        ]
      end

    parse = {:parse, fn -> Parser.parse(text) end}
    validate = {:validate, fn -> Json.Validator.validate(node) end}
    assert_no_holds([parse, validate | Enum.concat(cases)])
  end

  test "many small calls one after the other let others have their turns" do
    brackets = String.duplicate("[", 60_000)

    node = %{
      "op" => "and",
      "conditions" =>
        List.duplicate(%{"op" => "not", "condition" => %{"op" => "literal", "value" => 1}}, 900)
    }

    # Each is too short to be left, so it is charged: after some of them it is another process's turn.
    for {what, call} <- [
          parse: fn -> Parser.parse(brackets) end,
          compile: fn -> Json.compile(%{"program" => node}) end,
          run: fn -> Json.run(%{"program" => node}) end
        ] do
      before = reductions()
      for _ <- 1..100, do: call.()
      charged = div(reductions() - before, 100)
      assert charged > 150, "#{what}: #{charged} reductions a call, of 4,000 in a turn"
    end
  end

  defp reductions, do: self() |> Process.info(:reductions) |> elem(1)

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
        work = fn -> run(long_work(4), %{"x" => @list}, timeout: 500) end
        1..4 |> Enum.map(fn _ -> Task.async(work) end) |> Task.await_many(:infinity)
      end)

    assert result == List.duplicate({:error, {:timeout, 500}}, 4)
    assert ticks > 5
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

    many = %{"x" => Enum.to_list(1..2_000_000)}
    count = pipe([%{"op" => "count"}])
    assert {:ok, 2_000_000, _, _} = run(count, many, timeout: 30_000)

    assert Watch.survivors(long) == []
  end

  test "long runs share the dirty schedulers with others, and with the VM's own work" do
    opts = [context: %{"x" => @list}, timeout: 30_000]
    long = for _ <- 1..8, do: spawn(fn -> Json.run(%{"program" => long_work(4)}, opts) end)
    Process.sleep(20)
    context = %{"x" => Enum.to_list(1..200_000)}
    assert {:ok, 1, _, _} = run(pipe([%{"op" => "distinct"}, %{"op" => "first"}]), context)
    # Large heaps are collected on dirty schedulers too.
    assert :erlang.garbage_collect()
    assert Enum.all?(long, &Process.alive?/1), "the long runs had to end first"
    for pid <- long, do: Process.exit(pid, :kill)
  end
end
