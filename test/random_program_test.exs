defmodule PtcRunner.RandomProgramTest do
  # Random programs, run by the library and by the oracle: the answers must be identical, the
  # texts of errors included. PTC_SEED repeats a run, PTC_CASES=4 takes four times as many.
  use ExUnit.Case, async: true

  # Data with atoms as keys are among the cases.
  @moduletag :capture_log

  import PtcRunner.Test.Agreement

  alias PtcRunner.Test.{
    Disguise,
    Environment,
    Generator,
    JsonText,
    Oracle,
    Places,
    Random,
    Shrink
  }

  alias PtcRunner.Test.Generator.Data

  doctest Disguise
  doctest Environment
  doctest JsonText
  doctest Oracle
  doctest Places
  doctest Random
  doctest Shrink

  @cases 1_000

  @tag timeout: 600_000
  test "the library and the oracle agree on random programs" do
    assert_agreement(&Generator.random_case/2, @cases, validated())
  end

  @tag timeout: 600_000
  test "the interpreter and the oracle agree on wrong programs that nobody validated" do
    assert_agreement(&Generator.spoilt_case/2, div(@cases, 4), unvalidated())
  end

  @tag timeout: 600_000
  test "the library and the oracle agree on pipelines that keep a part of what they make" do
    assert_agreement(&Generator.dropping_case/2, div(@cases, 2), validated())
  end

  @tag timeout: 600_000
  test "the interpreter and the oracle agree on such pipelines that nobody validated" do
    assert_agreement(&Generator.dropping_case/2, div(@cases, 4), unvalidated())
  end

  @tag timeout: 600_000
  test "they agree on programs over atoms and structs, where structs are values" do
    assert_agreement(&Generator.right_case/2, div(@cases, 4), values())
  end

  @tag timeout: 600_000
  test "they agree on pipelines over dates, decimals and atoms" do
    assert_agreement(&Generator.values_case/2, div(@cases, 2), values())
  end

  @tag :edition_2
  @tag timeout: 600_000
  test "the library and the oracle agree on random programs of edition 2" do
    assert_agreement(&Generator.modern_case/2, @cases, validated())
  end

  @tag :edition_2
  @tag timeout: 600_000
  test "the interpreter and the oracle agree on wrong programs of edition 2 that nobody validated" do
    assert_agreement(&Generator.spoilt_modern_case/2, div(@cases, 4), unvalidated())
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

  @cut [
    [%{"op" => "sort_by", "field" => "amount"}, %{"op" => "take", "count" => 7}],
    [
      %{"op" => "sort_by", "field" => "amount", "order" => "desc"},
      %{"op" => "select", "fields" => ["id", "amount"]},
      %{"op" => "take", "count" => 300}
    ],
    [%{"op" => "sort_by", "field" => "name"}, %{"op" => "first"}],
    [
      %{"op" => "sort_by", "field" => "n", "order" => "desc"},
      %{"op" => "nth", "index" => 9_000}
    ],
    [%{"op" => "sort_by", "field" => "name"}, %{"op" => "count"}],
    [%{"op" => "select", "fields" => ["id", "n"]}, %{"op" => "last"}],
    [%{"op" => "select", "fields" => ["id", "n"]}, %{"op" => "count"}],
    [
      %{
        "op" => "filter",
        "where" => %{
          "op" => "and",
          "conditions" => [
            %{"op" => "gt", "field" => "n", "value" => 100},
            %{"op" => "lt", "field" => "n", "value" => 15_000}
          ]
        }
      },
      %{"op" => "map", "expr" => %{"id" => %{"op" => "get", "field" => "n"}, "x" => 1}},
      %{"op" => "take", "count" => 5}
    ],
    [
      %{"op" => "map", "expr" => %{"id" => %{"op" => "get", "path" => ["nested", "a", "b"]}}},
      %{"op" => "take", "count" => 5}
    ]
  ]

  test "the library and the oracle agree on long lists of which a part is kept" do
    %{context: context, memory: memory} = Generator.random_case(1, 1)
    rows = rows()

    for steps <- @cut do
      program = %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => "rows"} | steps]}
      context = %{context | "rows" => rows}
      long_case = %{program: program, context: context, memory: memory}
      assert agree?(long_case, validated()), inspect(steps)
    end
  end

  test "the library and the oracle agree on long lists" do
    %{context: context, memory: memory} = Generator.random_case(1, 1)
    rows = rows()
    load = %{"op" => "load", "name" => "rows"}

    for step <- @long_programs do
      program = %{"op" => "pipe", "steps" => [load, step]}
      context = %{context | "rows" => rows}
      long_case = %{program: program, context: context, memory: memory}
      assert agree?(long_case, validated()), inspect(step)
    end
  end

  # 20,000 rows, each one of 500 and its number.
  defp rows do
    template = List.duplicate(Data.row(), 500)
    {rows, _state} = Random.build(template, :rand.seed_s(:exsss, 1))
    for {row, n} <- rows |> Stream.cycle() |> Enum.zip(1..20_000), do: Map.put(row, "n", n)
  end

  test "most random programs end well, and every operation is among them" do
    assert_covered(&Generator.random_case/2, 1)
  end

  @tag :edition_2
  test "most random programs of edition 2 end well, and every operation is among them" do
    assert_covered(&Generator.modern_case/2, 2)
  end

  defp assert_covered(generator, edition) do
    cases = for n <- 1..2_000, do: generator.(1, n)
    programs = for %{program: program} <- cases, do: inspect(program, limit: :infinity)

    operations = operations(edition)

    assert operations -- Oracle.Check.names(edition) == [],
           "operations without a rule in test/support/oracle: see docs/architecture.md"

    for name <- operations do
      assert Enum.any?(programs, &(&1 =~ ~s("op" => "#{name}"))),
             "no random program has #{name}: add it to test/support/generator"
    end

    {expected, _answers} = validated()
    assert Enum.count(cases, &match?({{:ok, _, _, _}, _calls}, expected.(&1))) > 1_000
  end

  defp operations(1), do: Map.keys(PtcRunner.Schema.operations())
  defp operations(2), do: PtcRunner.Schema.valid_operation_names(edition: 2)
end
