defmodule PtcRunner.Json.WithinRandomTest do
  # Random programs within their own plan are not refused, and with one call more, another tool or another constant all are. PTC_SEED repeats a
  # run, PTC_CASES=40 takes 10,000 programs of each kind.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Plan}
  alias PtcRunner.Test.{Calling, Changed, Environment, Generator}

  doctest Changed

  @cases 250
  @now "2024-02-29T10:30:00Z"

  defp each_case(build, check) do
    seed = Environment.seed()

    for n <- 1..Environment.cases(@cases), made = build.(seed, n) do
      try do
        check.(made, {seed, n})
      rescue
        error ->
          reraise "PTC_SEED=#{seed}, case #{n}: #{inspect(made, limit: :infinity)}\n#{Exception.message(error)}",
                  __STACKTRACE__
      end
    end
  end

  defp calling(seed, n) do
    opts = [context: Calling.context(), now: @now, tools: Calling.tools(fn _, _ -> :ok end)]
    {Calling.program(seed, n), opts}
  end

  # Only programs that are right: what a wrong one does is its error.
  defp modern(seed, n) do
    %{program: program, context: context, memory: memory} = Generator.modern_case(seed, n)
    program = %{"program" => program}
    opts = [context: context, memory: memory, now: @now, edition: 2, tools: tools()]
    if match?({:ok, _plan}, Json.plan(program, edition: 2)), do: {program, opts}
  end

  defp tools do
    %{
      "echo" => & &1,
      "rows" => fn _ -> [%{"id" => 1, "amount" => 2.5}, %{"id" => 2, "amount" => 7}] end,
      "odd" => fn args -> :erlang.phash2(args, 5) end,
      "fail" => fn _ -> {:error, :no} end,
      "boom" => fn _ -> raise "no" end,
      "throws" => fn _ -> throw(:no) end,
      "exits" => fn _ -> exit(:no) end
    }
  end

  defp plan!(program, opts) do
    {:ok, plan} = Json.plan(program, Keyword.take(opts, [:context, :memory, :edition, :tools]))
    plan
  end

  defp refused?(result), do: match?({:error, {:refused, _text}}, result)

  # A program that names a tool that there is not fails in any case.
  defp known?(plan, opts), do: Enum.all?(plan.tools, &is_map_key(opts[:tools], &1.name))

  @tag timeout: 600_000
  test "none is refused within its own plan, and each has the result that it has without one" do
    for build <- [&calling/2, &modern/2] do
      each_case(build, fn {program, opts}, _case ->
        plan = plan!(program, opts)

        if known?(plan, opts) do
          expected = Json.run(program, opts)
          assert Json.run(program, [within: plan] ++ opts) === expected

          # Each call is looked at.
          watched = Plan.approve(plan, where: fn _args -> true end)
          assert Json.run(program, [within: watched] ++ opts) === expected

          assert Json.run(program, [within: watched, tool_concurrency: 3] ++ opts)
                 |> same?(expected)

          if map = stored(plan) do
            {:ok, kept} = map |> Codec.encode!() |> Codec.decode!() |> Plan.from_map()
            assert kept == plan
            assert Json.run(program, [within: map] ++ opts) === expected
            assert Plan.within?(plan, kept)
          end
        end
      end)
    end
  end

  # Constants of a program that is no text may be processes and functions, which cannot be kept.
  defp stored(plan) do
    Plan.to_map(plan)
  rescue
    error in ArgumentError ->
      assert error.message =~ "the plan cannot be kept: it has a"
      nil
  end

  # With calls that overlap, another item may be the first that fails.
  defp same?({:error, {:refused, _text}}, _expected), do: false
  defp same?({:error, _error}, {:error, _other}), do: true
  defp same?(result, expected), do: result === expected

  @tag timeout: 600_000
  test "each is refused before its first call with one call more, another tool or another constant" do
    for build <- [&calling/2, &modern/2] do
      each_case(build, fn {program, opts}, {seed, n} ->
        plan = plan!(program, opts)

        if plan.tools != [] and known?(plan, opts) do
          me = self()
          hook = fn call -> send(me, {:called, call.tool}) && :run end

          for {kind, changed} <- Changed.all(program, seed + n) do
            tools = Map.put(opts[:tools], "other", fn _args -> 1 end)

            changed_opts =
              [within: plan, on_call: hook, tools: tools] ++ Keyword.delete(opts, :tools)

            assert refused?(Json.run(changed, changed_opts)), "#{kind}: #{inspect(changed)}"
            refute_received {:called, _tool}
            refute Plan.within?(plan!(changed, opts), plan)
            # A count that was approved does not matter to other constants and tools.
            names = for tool <- plan.tools, do: tool.name
            wide = Plan.approve(plan, at_most: Map.new(names, &{&1, 100_000}))

            if kind != :one_more,
              do: assert(refused?(Json.run(changed, Keyword.put(changed_opts, :within, wide))))
          end
        end
      end)
    end
  end
end
