defmodule PtcRunner.Json.SchedulingTest do
  # Callers share the schedulers: what a call costs is charged to its process, and long runs let others go on. That no
  # single call holds a scheduler for long: slices_test.exs.
  use ExUnit.Case, async: false

  alias PtcRunner.Json
  alias PtcRunner.Json.Parser
  alias PtcRunner.Test.{Room, Watch}

  doctest PtcRunner.Test.Standstill
  doctest Room
  doctest Watch

  @load %{"op" => "load", "name" => "x"}

  defp pipe(steps), do: %{"op" => "pipe", "steps" => [@load | steps]}

  defp run(node, context, opts \\ []) do
    Json.run(%{"program" => node}, opts ++ [context: context, timeout: :infinity, max_heap: 0])
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
      charged = div(reductions(fn -> for _ <- 1..100, do: call.() end), 100)
      assert charged > 150, "#{what}: #{charged} reductions a call, of 4,000 in a turn"
    end
  end

  defp reductions(fun) do
    {:reductions, before} = Process.info(self(), :reductions)
    fun.()
    {:reductions, now} = Process.info(self(), :reductions)
    now - before
  end

  test "short runs of one process are charged together" do
    sum = [%{"op" => "load", "name" => "rows"}, %{"op" => "sum", "field" => "n"}]
    {:ok, program} = Json.compile(%{"program" => %{"op" => "pipe", "steps" => sum}})
    context = fn rows -> %{"rows" => List.duplicate(%{"n" => 1}, rows)} end

    calls = fn context ->
      reductions(fn ->
        for _ <- 1..1_000,
            do: {:ok, _, _, _} = Json.run(program, context: context, timeout: 60_000)
      end)
    end

    # 1,000 rows take more than 1,000 units of fuel, which is a per cent of a slice: 40 reductions.
    assert calls.(context.(1_000)) - calls.(context.(1)) > 30_000
  end

  test "rounds of little fuel each, with tool_concurrency" do
    call = %{"op" => "call", "tool" => "t"}
    # The tool is called for no row, so each round is a few instructions.
    body = %{
      "op" => "if",
      "condition" => %{"op" => "get", "field" => "none"},
      "then" => call,
      "else" => call
    }

    steps = [%{"op" => "load", "name" => "rows"}, %{"op" => "map", "expr" => body}]
    {:ok, program} = Json.compile(%{"program" => %{"op" => "pipe", "steps" => steps}})
    context = %{"rows" => List.duplicate(%{"n" => 1}, 3_000)}

    opts = [
      context: context,
      tools: %{"t" => fn _ -> 1 end},
      tool_concurrency: 4,
      timeout: 30_000
    ]

    spent =
      reductions(fn ->
        assert {:ok, [1 | _], _, _} = Json.run(program, opts)
      end)

    # Two calls for each round, of at least 200 units each.
    assert spent > 3_000 * 2 * 200 * 40 / 1_000
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
    Room.growing(500, fn timeout ->
      {result, ticks} =
        Watch.ticks(fn ->
          work = fn -> run(long_work(4), %{"x" => @list}, timeout: timeout) end
          1..4 |> Enum.map(fn _ -> Task.async(work) end) |> Task.await_many(:infinity)
        end)

      assert result == List.duplicate({:error, {:timeout, timeout}}, 4)
      assert ticks > 5
    end)
  end

  test "small runs end while fifty long ones wait for their turn" do
    opts = [context: %{"x" => @list}, timeout: :infinity]
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
    opts = [context: %{"x" => @list}, timeout: :infinity]
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
