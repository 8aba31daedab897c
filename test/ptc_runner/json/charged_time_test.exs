defmodule PtcRunner.Json.ChargedTimeTest do
  # Calls that are too short to be a per cent of a time slice each are charged together, so a process that
  # makes thousands of them is preempted in time.
  use ExUnit.Case, async: false

  alias PtcRunner.Json

  defp reductions(fun) do
    {:reductions, before} = Process.info(self(), :reductions)
    fun.()
    {:reductions, now} = Process.info(self(), :reductions)
    now - before
  end

  defp compiled(node) do
    {:ok, program} = Json.compile(%{"program" => node})
    program
  end

  test "short runs of one process are charged together" do
    sum = [%{"op" => "load", "name" => "rows"}, %{"op" => "sum", "field" => "n"}]
    program = compiled(%{"op" => "pipe", "steps" => sum})
    context = fn rows -> %{"rows" => List.duplicate(%{"n" => 1}, rows)} end

    calls = fn context ->
      reductions(fn ->
        for _ <- 1..1_000,
            do: {:ok, _, _, _} = Json.run(program, context: context, timeout: 5_000)
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
    program = compiled(%{"op" => "pipe", "steps" => steps})
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
end
