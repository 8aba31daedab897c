defmodule PtcRunner.Json.PlanRandomTest do
  # Recorded runs of random programs lie within their plans. PTC_SEED repeats a run, PTC_CASES=40 takes 10,000 programs of each kind.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.Codec
  alias PtcRunner.Json.Plan.Digest
  alias PtcRunner.Test.{Calling, Environment, Flowing, Generator, Scrambled}

  doctest Scrambled

  @cases 250
  @reading [:edition, :keys, :structs]
  @now "2024-02-29T10:30:00Z"

  defp each_case(build, check) do
    seed = Environment.seed()

    for n <- 1..Environment.cases(@cases), made = build.(seed, n) do
      try do
        check.(made)
      rescue
        error ->
          reraise "PTC_SEED=#{seed}, case #{n}: #{inspect(made, limit: :infinity)}\n#{Exception.message(error)}",
                  __STACKTRACE__
      end
    end
  end

  defp calling(seed, n) do
    text = Codec.encode!(Calling.program(seed, n))
    {text, [context: Calling.context(), now: @now, tools: Calling.tools(fn _, _ -> :ok end)]}
  end

  # Only programs that are right: what a wrong one does is its error.
  defp modern(seed, n) do
    %{program: program, context: context, memory: memory} = Generator.modern_case(seed, n)
    program = %{"program" => program}
    opts = [context: context, memory: memory, now: @now, edition: 2, tools: tools()]
    if match?({:ok, _plan}, Json.plan(program, edition: 2)), do: {program, opts}
  end

  # Programs most of which reach a tool, over rows with secrets; in the data, keys are texts.
  defp flowing(seed, n) do
    :rand.seed(:exsss, {seed, n, 8})
    %{form: form, program: program} = flowing = Flowing.program()
    opts = Flowing.options(flowing, 0, fn _args -> :ok end)
    if form in [:strings, :texts], do: {%{"program" => program}, opts}
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
    opts = Keyword.take(opts, [:context, :memory | @reading])
    {:ok, plan} = Json.plan(program, opts)
    # The plan of a compiled program is made from what it keeps of its source.
    {:ok, compiled} = Json.compile(program, Keyword.take(opts, @reading))
    assert Json.plan(compiled, opts) == {:ok, plan}
    plan
  end

  # The calls that were made, in their order.
  defp recorded(program, opts) do
    me = self()
    hook = fn call -> send(me, {:called, call.tool, call.args}) && :run end
    {Json.run(program, [{:on_call, hook} | opts]), calls([])}
  end

  defp calls(all) do
    receive do
      {:called, tool, args} -> calls([{tool, args} | all])
    after
      0 -> Enum.reverse(all)
    end
  end

  @tag timeout: 600_000
  test "the digest of a text, of a compiled text and of the same map are equal" do
    keys = for n <- 5_000..1//-1, do: ~s("#{n}":#{n})
    large = ["{#{Enum.join(keys, ",")}}", ~s("#{String.duplicate("x", 1_100_000)}")]

    # Numbers and texts as nobody writes them, and what is too large to be written where the text is read.
    values =
      ~w([-0,-0.0,0.0,1e2,1.25e-7,123456789012345678901234567890] ["\\ud83d\\ude00\\u0000é"] {"b":1,"a":2,"b":3} {}) ++
        large

    literals = for value <- values, do: ~s({"program":{"value": #{value} ,"op":"literal"}})
    each_case(&{calling(&1, &2), modern(&1, &2)}, &same_digests/1)
    for text <- literals, do: same_digest(text, edition: 2)
  end

  defp same_digests({{text, opts}, modern}) do
    same_digest(text, Keyword.take(opts, @reading))

    # A program of terms may have some that are no JSON.
    with {program, opts} <- modern,
         {:ok, text} <- Codec.encode(program),
         do: same_digest(text, Keyword.take(opts, @reading))
  end

  defp same_digest(text, opts) do
    {:ok, compiled} = Json.compile(text, opts)

    digests =
      for program <- [text, compiled, Codec.decode!(text)] do
        {:ok, plan} = Json.plan(program, opts)
        plan.digest
      end

    assert [digest, digest, digest] = digests
    assert digest.program == Digest.program(text)
  end

  test "no tool is called more often or less often than its plan says" do
    for build <- [&calling/2, &modern/2, &flowing/2] do
      each_case(build, fn {program, opts} ->
        plan = plan!(program, opts)
        {result, calls} = recorded(program, opts)
        counts = Enum.frequencies_by(calls, &elem(&1, 0))
        known = for tool <- plan.tools, do: tool.name
        assert Map.keys(counts) -- known == []

        for tool <- plan.tools do
          count = Map.get(counts, tool.name, 0)
          assert tool.most == nil or count <= tool.most, "#{count} calls: #{inspect(tool)}"

          assert tool.least == nil or not match?({:ok, _, _, _}, result) or count >= tool.least,
                 "#{count} calls: #{inspect(tool)}"
        end
      end)
    end
  end

  @tag timeout: 600_000
  test "a run depends on no part of the data that its plan does not name" do
    for build <- [&calling/2, &modern/2, &flowing/2] do
      each_case(build, fn {program, opts} ->
        plan = plan!(program, opts)
        {result, calls} = recorded(program, opts)

        if match?({:ok, _, _, _}, result) do
          {:ok, value, _delta, _memory} = result
          {other, others} = again(program, opts, plan.flows.reads)
          assert {:ok, ^value, _, _} = other
          assert others == calls

          # Only what flows into the result, or decides about it.
          {from, deciding} = plan.flows.result
          {other, _calls} = again(program, opts, closed(from ++ deciding, plan))
          with {:ok, again, _, _} <- other, do: assert(again === value)

          for {tool, known} <- Enum.take(plan.flows.tools, 2),
              {name, from, deciding} <- Enum.take(known.arguments, 2) do
            # All arguments are made of what flows into any of them.
            all = for {_name, from, deciding} <- known.arguments, do: from ++ deciding
            into = if name == nil, do: Enum.concat(all), else: from ++ deciding
            {other, others} = again(program, opts, closed(known.guard ++ into, plan))

            if match?({:ok, _, _, _}, other),
              do: assert(values(others, tool, name) === values(calls, tool, name))
          end
        end
      end)
    end
  end

  defp again(program, opts, sources) do
    opts =
      opts
      |> Keyword.update!(:context, &Scrambled.but(&1, sources, :context))
      |> Keyword.update(:memory, %{}, &Scrambled.but(&1, sources, :memory))

    recorded(program, opts)
  end

  defp values(calls, tool, nil), do: for({^tool, args} <- calls, do: args)
  defp values(calls, tool, name), do: for({^tool, args} <- calls, do: args[name])

  # What a tool answers depends on its arguments.
  defp closed(sources, plan, seen \\ []) do
    tools = for {root, [tool | _], _} <- sources, root in [:answer, :error], do: tool

    case Enum.uniq(tools) -- seen do
      [] ->
        sources

      more ->
        flows =
          for tool <- more,
              known = plan.flows.tools[tool],
              {_name, from, deciding} <- [{nil, known.guard, []} | known.arguments],
              source <- from ++ deciding,
              do: source

        closed(flows ++ sources, plan, more ++ seen)
    end
  end
end
