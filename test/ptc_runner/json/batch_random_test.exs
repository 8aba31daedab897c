defmodule PtcRunner.Json.BatchRandomTest do
  # Random programs whose tools take several calls at once. PTC_SEED repeats a run, PTC_CASES=10 takes ten times as many.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Test.{Calling, Environment}

  @cases 500
  @opts [context: Calling.context(), now: "2024-02-29T10:30:00Z", timeout: 20_000]

  # The same tools, of which these take lists. What one call raises is its error.
  defp batches(tools, names, lists) do
    for {name, fun} <- tools, into: %{} do
      if name in names do
        fun = fn list ->
          :counters.add(lists, 1, 1)
          Enum.map(list, &answer(fun, &1))
        end

        {name, {fun, batch: Enum.random([1, 2, 3, 100])}}
      else
        {name, fun}
      end
    end
  end

  defp answer(fun, args) do
    fun.(args)
  rescue
    _error -> {:error, :raised}
  catch
    _kind, _value -> {:error, :raised}
  end

  defp singles(tools) do
    for {name, fun} <- tools, into: %{}, do: {name, &answer(fun, &1)}
  end

  # The calls in the order of the rounds of the loops, as they would be made one after another.
  defp calls(journal) do
    journal["calls"]
    |> Enum.sort_by(fn %{"id" => id} ->
      id |> String.split(".") |> Enum.map(&String.to_integer/1)
    end)
    |> Enum.map(&Map.take(&1, ["tool", "args", "answer", "error"]))
  end

  @tag timeout: 600_000
  test "the same single calls in the same order, and the same results, as without" do
    seed = Environment.seed()
    lists = :counters.new(1, [])
    made = :counters.new(1, [])

    for n <- 1..Environment.cases(@cases) do
      program = Calling.program(seed, n)
      plain = singles(Calling.tools(fn _name, _args -> :ok end))
      counted = singles(Calling.tools(fn _name, _args -> :counters.add(made, 1, 1) end))
      names = Enum.take_random(["a", "b", "c"], Enum.random(1..3))
      concurrency = if rem(n, 4) == 0, do: Enum.random(2..8), else: 1
      batched = [tools: batches(counted, names, lists), tool_concurrency: concurrency] ++ @opts
      single = [tools: plain] ++ @opts
      told = "PTC_SEED=#{seed}, case #{n}: #{inspect(program, limit: :infinity)}"

      assert {told, Json.run(program, batched)} === {told, Json.run(program, single)}

      # Calls that may overlap are in the order of their rounds.
      {result, journal} = Json.record(program, batched)
      {same, alone} = Json.record(program, [tool_concurrency: 2] ++ single)
      assert {told, result} === {told, same}

      with {:ok, _, _, _} <- result,
           do: assert({told, calls(journal)} === {told, calls(alone)})

      assert {told, Json.replay(program, journal, @opts)} === {told, result}
    end

    assert :counters.get(lists, 1) > @cases
    assert :counters.get(lists, 1) < :counters.get(made, 1)
  end

  # Approves calls until the run has ended: all, or those of a random choice, of which the first one is always decided about.
  defp approved({:paused, paused}, opts) do
    {:ok, paused} = paused |> Json.Paused.to_map() |> Json.Paused.from_map()
    [first | _] = paused.calls
    some? = Enum.random([true, false])

    decide =
      &if(some? and &1.id != first.id and Enum.random([1, 2]) == 1, do: :pause, else: :approve)

    paused |> Json.resume(decide, opts) |> approved(opts)
  end

  defp approved(result, _opts), do: result

  @tag timeout: 600_000
  test "the same calls and results as without approvals, in whatever order a person decides" do
    seed = Environment.seed()
    pauses = :counters.new(1, [])

    for n <- 1..Environment.cases(@cases) do
      program = Calling.program(seed, n)
      table = :ets.new(:made, [:duplicate_bag, :public])
      made = fn name, args -> :ets.insert(table, {{name, args}}) end
      plain = singles(Calling.tools(made))
      told = "PTC_SEED=#{seed}, case #{n}: #{inspect(program, limit: :infinity)}"
      concurrency = if rem(n, 4) == 0, do: Enum.random(2..8), else: 1

      expected = Json.run(program, [tools: plain] ++ @opts)
      all = table |> :ets.tab2list() |> Enum.sort()
      :ets.delete_all_objects(table)

      tools =
        for {name, fun} <- plain, into: %{} do
          effect = Enum.random([:read, :write])

          case Enum.random(1..4) do
            1 -> {name, {fun, effect: effect}}
            2 -> {name, {&Enum.map(&1, fun), effect: effect, batch: 10, approve: true}}
            _ -> {name, {fun, effect: effect, approve: true}}
          end
        end

      opts = [tools: tools, tool_concurrency: concurrency] ++ @opts
      result = Json.run(program, opts)
      if match?({:paused, _}, result), do: :counters.add(pauses, 1, 1)
      resumed = approved(result, Keyword.drop(opts, [:now, :timeout, :tool_concurrency]))
      assert {told, resumed} === {told, expected}

      # Behind an error, calls of later rounds may have been made.
      with {:ok, _, _, _} <- expected,
           do: assert({told, table |> :ets.tab2list() |> Enum.sort()} === {told, all})

      :ets.delete(table)
    end

    assert :counters.get(pauses, 1) > div(Environment.cases(@cases), 4)
  end
end
