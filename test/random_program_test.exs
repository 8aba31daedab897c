defmodule PtcRunner.RandomProgramTest do
  # Random programs, run by the library and by the oracle: the answers must be identical, the
  # texts of errors included. `PTC_SEED` repeats a run, `PTC_CASES` makes it longer or shorter.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Test.{Generator, JsonText, Oracle, Places, Random, Shrink}

  alias PtcRunner.Test.Generator.Data

  doctest JsonText
  doctest Oracle
  doctest Places
  doctest Random
  doctest Shrink

  @cases 10_000

  @tag timeout: 600_000
  test "the library and the oracle agree on random programs" do
    seed = from_environment("PTC_SEED", :rand.uniform(1_000_000_000))

    for n <- 1..from_environment("PTC_CASES", @cases) do
      random_case = Generator.random_case(seed, n)

      unless agree?(random_case),
        do: random_case |> Shrink.shrink(&disagree?/1) |> report(seed, n)
    end
  end

  # Long enough for sorting, hashing and suspending to be seen.
  @long_programs [
    %{"op" => "count"},
    %{"op" => "distinct"},
    %{"op" => "last"},
    %{"op" => "nth", "index" => 19_999},
    %{"op" => "take", "count" => 19_999},
    %{"op" => "drop", "count" => 19_999},
    %{"op" => "select", "fields" => ["id", "n", "nope"]},
    %{"op" => "sort_by", "field" => "amount"},
    %{"op" => "sort_by", "field" => "amount", "order" => "desc"},
    %{"op" => "sort_by", "field" => "name", "order" => "desc"},
    %{"op" => "sum", "field" => "n"},
    %{"op" => "avg", "field" => "amount"},
    %{"op" => "min", "field" => "amount"},
    %{"op" => "max_by", "field" => "n"},
    %{"op" => "filter", "where" => %{"op" => "gt", "field" => "amount", "value" => 2}},
    %{"op" => "reject", "where" => %{"op" => "in", "field" => "tags", "value" => "a"}},
    %{"op" => "filter_in", "field" => "n", "value" => Enum.to_list(1..30_000//7)},
    %{"op" => "filter_in", "field" => "id", "value" => [1.0, 2, "a"]},
    %{"op" => "map", "expr" => %{"op" => "get", "path" => ["nested"]}},
    %{"op" => "map", "expr" => %{"id" => %{"op" => "get", "field" => "id"}, "x" => [1]}},
    %{"op" => "map", "expr" => %{"op" => "typeof"}}
  ]

  test "the library and the oracle agree on long lists" do
    %{context: context, memory: memory} = Generator.random_case(1, 1)
    rows = for n <- 1..20_000, do: Map.put(row(n), "n", n)
    load = %{"op" => "load", "name" => "rows"}

    for step <- @long_programs do
      program = %{"op" => "pipe", "steps" => [load, step]}
      context = %{context | "rows" => rows}
      assert agree?(%{program: program, context: context, memory: memory}), inspect(step)
    end
  end

  # One of 500 rows.
  defp row(n) do
    {row, _state} = Random.build(Data.row(), :rand.seed_s(:exsss, rem(n, 500)))
    row
  end

  test "most random programs end well, and every operation is among them" do
    cases = for n <- 1..2_000, do: Generator.random_case(1, n)
    programs = for %{program: program} <- cases, do: inspect(program, limit: :infinity)

    for name <- Oracle.Check.names() do
      assert Enum.any?(programs, &(&1 =~ ~s("op" => "#{name}"))), "no program has #{name}"
    end

    assert Enum.count(cases, &match?({{:ok, _, _, _}, _}, expected(&1))) > 1_000
  end

  defp from_environment(name, default) do
    case System.get_env(name) do
      nil -> default
      text -> String.to_integer(text)
    end
  end

  defp disagree?(random_case), do: well_formed?(random_case) and not agree?(random_case)

  # While it shrinks, a case may lose what a case must have.
  defp well_formed?(%{program: _, context: context, memory: memory}) do
    is_map(context) and is_map(memory)
  end

  defp well_formed?(_random_case), do: false

  defp agree?(random_case) do
    expected = expected(random_case)
    Enum.all?(answers(random_case), fn {_form, answer} -> same?(answer, expected) end)
  end

  # `===` takes 0.0 and -0.0 for the same on older VMs; the external format does not.
  defp same?(one, other) do
    one === other and :erlang.term_to_binary(one) == :erlang.term_to_binary(other)
  end

  ## The two sides: an answer, and the calls of tools that were made on the way

  defp expected(%{program: program} = random_case) when is_map(program) do
    traced(&Oracle.run(program, random_case.context, random_case.memory, &1))
  end

  # This is found by the parser, which the oracle does not have.
  defp expected(_random_case), do: {{:error, {:parse_error, "program must be a map"}}, []}

  defp answers(%{program: program} = random_case) do
    map = %{"program" => program}

    forms =
      case JsonText.encode(map) do
        {:ok, text} -> [map: map, text: text, compiled: compiled(text)]
        :error -> [map: map, compiled: compiled(map)]
      end

    for {form, program} <- forms, do: {form, traced(&run(program, random_case, &1))}
  end

  defp compiled(program), do: Json.compile(program)

  defp run({:error, _} = error, _random_case, _tools), do: error

  defp run({:ok, %Json.Program{} = program}, random_case, tools),
    do: run(program, random_case, tools)

  defp run(program, %{context: context, memory: memory}, tools) do
    Json.run(program,
      context: context,
      memory: memory,
      tools: tools,
      timeout: 30_000,
      max_heap: 50_000_000
    )
  end

  defp traced(run) do
    answer = run.(tools(self()))
    {answer, calls()}
  end

  defp calls do
    receive do
      {:tool, name, args} -> [{name, args} | calls()]
    after
      0 -> []
    end
  end

  defp tools(test) do
    %{
      "echo" => fn args -> args end,
      "rows" => fn _args -> [%{"id" => 1, "amount" => 2}, %{"id" => 2, "name" => "b"}] end,
      "odd" => fn _args -> {:ok, ~D[2024-01-31]} end,
      "fail" => fn args -> {:error, args} end,
      "boom" => fn _args -> raise "kaboom" end,
      "throws" => fn args -> throw(args) end,
      "exits" => fn _args -> exit(:killed) end
    }
    |> Map.new(fn {name, tool} ->
      {name,
       fn args ->
         send(test, {:tool, name, args})
         tool.(args)
       end}
    end)
  end

  ## The report of a disagreement

  defp report(random_case, seed, n) do
    {expected, expected_calls} = expected(random_case)

    wrong =
      for {form, {answer, calls}} <- answers(random_case),
          not same?({answer, calls}, {expected, expected_calls}) do
        "as #{form}: #{show({answer, calls})}"
      end

    flunk("""
    The library and the oracle disagree (PTC_SEED=#{seed}, case #{n}, made smaller).

    program: #{show(random_case.program)}
    context: #{show(random_case.context)}
    memory:  #{show(random_case.memory)}

    oracle:  #{show({expected, expected_calls})}
    #{Enum.join(wrong, "\n")}
    """)
  end

  defp show(term), do: inspect(term, pretty: true, limit: :infinity, printable_limit: :infinity)
end
