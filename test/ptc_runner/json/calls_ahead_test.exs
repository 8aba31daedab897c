defmodule PtcRunner.Json.CallsAheadTest do
  # The process of the tools calls several rounds of a loop at a time. A run whose calls are decided about makes one call at a time, so
  # both must give the same result after the same calls.
  use ExUnit.Case, async: true

  alias PtcRunner.{Json, Native}

  @rows for n <- 1..100, do: %{"n" => n, "name" => "row #{n}"}

  defp get(field), do: %{"op" => "get", "field" => field}

  defp call(args, more \\ %{}),
    do: Map.merge(%{"op" => "call", "tool" => "t", "args" => args}, more)

  defp over(steps),
    do: %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => "rows"} | steps]}

  defp map(body), do: %{"op" => "map", "expr" => body}
  defp filter(body), do: %{"op" => "filter", "where" => body}

  # The result, and the arguments of all calls.
  defp calls(node, answer, opts) do
    {:ok, log} = Agent.start_link(fn -> [] end)

    tool = fn args ->
      number = Agent.get_and_update(log, &{length(&1) + 1, [args | &1]})
      answer.(number, args)
    end

    opts = Keyword.put_new(opts, :context, %{"rows" => @rows})
    result = Json.run(%{"program" => node}, [tools: %{"t" => tool}] ++ opts)
    args = log |> Agent.get(& &1) |> Enum.reverse()
    Agent.stop(log)
    {result, args}
  end

  # A text that a run reads in place.
  defp long(number), do: Json.text("[#{String.duplicate(" ", 6_000)}#{number}]")

  defp same(node, answer, opts \\ [], decides \\ [on_call: fn _call -> :run end]) do
    one_by_one = calls(node, answer, decides ++ opts)
    assert calls(node, answer, opts) == one_by_one
    one_by_one
  end

  test "the answers stand in the order of the items, whatever they are" do
    for args <- [%{}, %{"n" => get("n")}, %{"n" => get("n"), "of" => %{"name" => get("name")}}],
        answer <- [
          fn number, _args -> number end,
          fn _number, args -> args["n"] end,
          fn number, _args -> %{"id" => number, "list" => Enum.to_list(1..number)} end,
          fn number, _args -> if rem(number, 7) == 0, do: "text #{number}", else: number end,
          fn number, _args -> if rem(number, 5) == 0, do: Json.text("[#{number}]"), else: nil end,
          fn number, _args -> if rem(number, 37) == 0, do: long(number), else: number end,
          fn number, _args -> if number == 1, do: long(number), else: number end,
          fn number, _args -> if rem(number, 37) == 0, do: Enum.to_list(1..300), else: number end
        ] do
      {{:ok, value, _, _}, calls} = same(over([map(call(args))]), answer)
      assert {length(value), length(calls)} == {100, 100}
    end
  end

  test "a tool that fails is the last one called, and what catches its error gets it" do
    for at <- [1, 2, 3, 31, 32, 33, 34, 64, 65, 100] do
      fails = fn number, _args -> if number == at, do: {:error, "no"}, else: number end
      {{:error, _}, calls} = same(over([map(call(%{"n" => get("n")}))]), fails)
      assert length(calls) == at

      caught = call(%{"n" => get("n")}, %{"on_error" => get("name")})
      {{:ok, value, _, _}, calls} = same(over([map(caught)]), fails)
      assert {Enum.at(value, at - 1), length(calls)} == {"row #{at}", 100}

      raises = fn number, _args -> if number == at, do: raise("no"), else: number end
      {{:error, _}, calls} = same(over([map(call(%{}))]), raises)
      assert length(calls) == at
    end
  end

  test "a process that is killed among several calls ends the run" do
    node = over([map(call(%{"n" => get("n")}))])

    for at <- [1, 2, 31, 32, 33, 60, 100] do
      killed = fn number, _args -> if number == at, do: Process.exit(self(), :kill), else: at end
      {{:error, _}, calls} = same(node, killed)
      assert length(calls) == at
      late = fn number, _args -> if number == at, do: Process.sleep(:infinity), else: at end
      {{:error, {:timeout, 50}}, calls} = calls(node, late, timeout: 50)
      assert length(calls) <= at
    end

    # Nothing is left of them.
    refute_received _message
  end

  test "calls are counted before they start" do
    for most <- [0, 1, 2, 31, 32, 33, 50, 100], args <- [%{}, %{"n" => get("n")}] do
      {_result, calls} = same(over([map(call(args))]), fn n, _ -> n end, max_tool_calls: most)
      assert length(calls) == most
    end
  end

  test "the heap limit is met after the same call" do
    list = Enum.to_list(1..300)

    for max_heap <- [2_000, 5_000, 9_000, 20_000, 61_000, 100_000] do
      node = over([map(call(%{"n" => get("n")}))])
      limit = [max_heap: max_heap]
      answer = fn _, _ -> list end
      {result, made} = same(node, answer, limit, on_journal: fn _ -> :ok end)

      # Where calls may wait together, an answer counts as the value of its round.
      {other, more} = calls(node, answer, [on_call: fn _ -> :run end] ++ limit)
      assert elem(other, 1) == elem(result, 1)
      assert (length(more) - length(made)) in 0..1
    end
  end

  test "a loop that needs some answers only makes the calls for these" do
    is = fn _number, %{"n" => n} -> rem(n, 3) == 0 end

    for more <- [
          [],
          [%{"op" => "first"}],
          [%{"op" => "take", "count" => 2}],
          [%{"op" => "count"}],
          [%{"op" => "last"}],
          [%{"op" => "nth", "index" => 3}],
          [%{"op" => "sum", "field" => "n"}]
        ] do
      same(over([filter(call(%{"n" => get("n")})) | more]), is)
      same(over([map(call(%{"n" => get("n")})) | more]), fn number, _ -> %{"n" => number} end)
      same(over([map(call(%{"n" => get("n")})) | more]), fn _, _ -> "no number" end)
    end
  end

  test "calls in arguments, in branches and in loops of loops stay in their order" do
    answer = fn number, args -> if is_integer(args["n"]), do: args["n"], else: number end
    inner = call(%{"n" => get("n")})

    for body <- [
          call(%{"n" => inner}),
          %{
            "op" => "if",
            "condition" => %{"op" => "gt", "field" => "n", "value" => 50},
            "then" => inner,
            "else" => 0
          },
          %{
            "op" => "if",
            "condition" => %{"op" => "in", "field" => "n", "value" => Enum.to_list(1..100//3)},
            "then" => inner,
            "else" => 0
          },
          %{"op" => "concat", "lists" => [%{"op" => "literal", "value" => []}]},
          %{
            "op" => "pipe",
            "steps" => [%{"op" => "literal", "value" => [1, 2, 3]}, map(call(%{}))]
          },
          %{
            "op" => "let",
            "name" => "x",
            "value" => inner,
            "in" => call(%{"n" => %{"op" => "var", "name" => "x"}})
          },
          %{
            "op" => "pipe",
            "steps" => [get("n"), call(%{"n" => %{"op" => "literal", "value" => 1}})]
          }
        ] do
      same(over([map(body)]), answer)
    end
  end

  test "arguments that cannot be computed are an error after the calls before" do
    rows = for(n <- 1..40, do: %{"n" => n, "of" => [n]}) ++ [%{"n" => 41, "of" => "none"}]
    args = %{"n" => %{"op" => "pipe", "steps" => [get("of"), %{"op" => "sum", "field" => "n"}]}}
    opts = [context: %{"rows" => rows}]
    same(over([map(call(args))]), fn number, _ -> number end, opts)
    args = %{"n" => %{"op" => "pipe", "steps" => [get("of"), %{"op" => "first"}]}}
    {{:error, _}, calls} = same(over([map(call(args))]), fn number, _ -> number end, opts)
    assert length(calls) == 40
  end

  test "arguments that take many steps" do
    long = Enum.to_list(1..2_000)

    steps = [
      %{"op" => "load", "name" => "long"},
      %{"op" => "sort_by", "field" => "x"},
      %{"op" => "count"}
    ]

    args = %{"n" => %{"op" => "pipe", "steps" => steps}}
    opts = [context: %{"rows" => @rows, "long" => Enum.map(long, &%{"x" => -&1})}]
    {{:ok, value, _, _}, _calls} = same(over([map(call(args))]), fn number, _ -> number end, opts)
    assert value == Enum.to_list(1..100)
  end

  test "a run that has moved waits for several calls at once, and takes as many answers as there are" do
    program = Json.Codec.encode!(%{"program" => over([map(call(%{"n" => get("n")}))])})
    given = {%{"rows" => @rows ++ @rows}, %{}, 1_000, 0}
    args = fn from, to -> for n <- from..to//1, do: %{"n" => n} end

    {:calls, state, terms, "t", all, _left, _built, _pc} = Native.start(program, 100, given, nil)
    assert all == args.(1, 32)
    {:moved_calls, state, terms, "t", all, _built} = Native.resume(state, terms, {:moved, :a, 0})
    # It had found as many as it looked for.
    assert all == args.(2, 100) ++ args.(1, 29)
    {:moved_calls, state, terms, "t", all, _} = Native.resume(state, terms, {:moved_all, [:b], 0})
    assert all == args.(3, 100) ++ args.(1, 100)
    answers = {:moved_all, Enum.to_list(3..100), 0}
    {:moved_calls, state, terms, "t", all, _built} = Native.resume(state, terms, answers)
    assert all == args.(1, 100)
    answers = {:moved_all, Enum.to_list(101..199), 0}
    {:moved_call, state, terms, "t", last, _built} = Native.resume(state, terms, answers)
    assert last == %{"n" => 100}
    {:ok, value, _words} = Native.resume(state, terms, {:moved, 200, 0})
    assert value == [:a, :b] ++ Enum.to_list(3..200)

    for wrong <- [[], %{}, nil, Enum.to_list(1..513)] do
      {:calls, state, terms, "t", _all, _, _, _} = Native.start(program, 100, given, nil)
      assert_raise ArgumentError, fn -> Native.resume(state, terms, {:moved_all, wrong, 0}) end
    end
  end

  test "a run stays with its caller as long as its calls have small arguments, and each has an answer" do
    rows = for n <- 1..100, do: %{"n" => n, "list" => [n], "text" => String.duplicate("x", 9 * n)}

    start = fn args, max_heap ->
      program = Json.Codec.encode!(%{"program" => over([map(call(args))])})
      Native.start(program, 100, {%{"rows" => rows}, %{}, 1_000, max_heap}, nil)
    end

    calls = start.(%{"n" => get("n")}, 0)
    {:calls, state, terms, "t", all, _left, _built, _pc} = calls
    answers = Enum.map(all, & &1["n"])

    {:calls, state, terms, "t", all, _, _, _} =
      Native.resume(state, terms, {:answers, answers, 0})

    assert Enum.map(all, & &1["n"]) == Enum.to_list(33..100)
    answers = Enum.to_list(33..100)
    {:ok, value, _words} = Native.resume(state, terms, {:answers, answers, 0})
    assert value == Enum.to_list(1..100)

    # An answer is missing.
    {:calls, state, terms, "t", all, _left, _built, _pc} = start.(%{"n" => get("n")}, 0)
    answers = all |> tl() |> Enum.map(& &1["n"])

    assert {:moves, _, _, "t", %{"n" => 32}, _, _} =
             Native.resume(state, terms, {:answers, answers, 0})

    # Arguments that are no flat map, and a first one that is large.
    assert {:moves, _, _, "t", %{"n" => [1]}, _, _} = start.(%{"n" => get("list")}, 0)
    texts = %{"op" => "load", "name" => "rows"}
    assert elem(start.(%{"n" => texts}, 0), 0) in [:moves, :call]
    # The arguments are small beside the heap limit.
    {:calls, _, _, "t", few, _, _, _} = start.(%{"n" => get("n")}, 1_600)
    assert length(few) in 2..20
  end
end
