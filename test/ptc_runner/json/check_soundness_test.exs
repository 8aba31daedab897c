defmodule PtcRunner.Json.CheckSoundnessTest do
  # Random programs over typed data: what runs is never refused, and faults that were put in are found. `bin/test --all` takes
  # 20,000 programs; plain `mix test` 5,000 of a fixed seed.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.Check
  alias PtcRunner.Test.{Environment, Generator}
  alias PtcRunner.Test.Generator.{Deep, Faults, Typed}

  @cases 1_000

  defp seed, do: if(System.get_env("PTC_SEED"), do: Environment.seed(), else: 1)

  # A compiled program is checked by what it keeps of its source, with the same outcome.
  defp check(typed) do
    program = %{"program" => typed.program}
    known = [context: typed.types, tools: typed.tools, memory: %{}, returns: typed.returns]
    checked = Json.check(program, [{:edition, typed.edition} | known])

    with {:ok, compiled} <- Json.compile(program, edition: typed.edition) do
      assert Json.check(compiled, known) == checked, inspect(typed, limit: :infinity)
    end

    checked
  end

  defp run(typed) do
    Json.run(%{"program" => typed.program},
      context: typed.context,
      tools: typed.tools,
      edition: typed.edition
    )
  end

  @tag timeout: 600_000
  test "a program that is right for the types runs, and is not refused" do
    for n <- 1..Environment.cases(@cases) do
      typed = Typed.typed_case(seed(), n)
      assert {:ok, _result, _delta, _memory} = run(typed), inspect(typed, limit: :infinity)

      assert {:ok, %Json.Checked{}} = check(typed),
             inspect({check(typed), typed}, limit: :infinity)
    end
  end

  @tag timeout: 600_000
  test "of the faults that were put in at least 90 % of each kind are found before the run" do
    faults = Typed.faults()
    each = div(Environment.cases(@cases), length(faults) * 4)

    for fault <- faults do
      found = Enum.count(1..each, &found?(check(Typed.typed_case(seed(), &1, fault)), fault))

      assert found >= 0.9 * each, "#{fault}: #{found} of #{each}"
    end
  end

  # A run drops an argument that is not declared.
  defp found?({:ok, checked}, :unknown_argument),
    do: Enum.any?(checked.warnings, &(&1.code == :unknown_argument))

  defp found?(checked, _fault), do: match?({:error, _}, checked)

  # An operation that has ended, with two items at least if it is one of a list, had no value of a wrong kind.
  @tag timeout: 600_000
  test "what is of a wrong kind for an operation is so when it runs" do
    for generator <- [&Generator.right_case/2, &Generator.modern_case/2],
        n <- 1..div(Environment.cases(@cases), 2) do
      random = generator.(seed(), n)
      refute false_refusal(random), inspect({false_refusal(random), random}, limit: :infinity)
    end
  end

  defp false_refusal(random) do
    program = %{"program" => random.program}
    samples = &Map.new(&1, fn {name, value} -> {name, {:sample, value}} end)
    edition = Map.get(random, :edition, 1)
    opts = [context: samples.(random.context), memory: samples.(random.memory), edition: edition]

    with {:error, findings} <- Json.check(program, opts) do
      run = [context: random.context, memory: random.memory, edition: edition]
      operations = Json.explain(program, run).operations
      Enum.find(findings, &(failing?(&1) and ended?(&1, operations)))
    else
      {:ok, _checked} -> nil
    end
  end

  # A field of what is no object is null for some operations.
  defp failing?(finding),
    do: finding.code == :wrong_kind and not (finding.message =~ ~r/needs (an object|objects)/)

  defp ended?(finding, operations) do
    [op | _] = String.split(finding.message, " ")

    operations
    |> Enum.filter(&(&1.op == op and List.starts_with?(finding.path, &1.path)))
    |> Enum.max_by(&length(&1.path), fn -> %{ended: 0} end)
    |> then(&(&1.ended > 0 and (&1[:items_in] == nil or &1.items_in > &1.ended)))
  end

  ## Programs of nested nodes, with faults anywhere

  defp deep_check(deep) do
    Json.check(%{"program" => deep.program},
      context: deep.types,
      tools: deep.tools,
      memory: deep.memory_types,
      returns: deep.returns,
      edition: deep.edition
    )
  end

  defp deep_run(deep) do
    Json.run(%{"program" => deep.program},
      context: deep.context,
      memory: deep.memory,
      tools: deep.tools,
      edition: deep.edition
    )
  end

  @tag timeout: 600_000
  test "nested programs that are right for the types run, and are not refused" do
    failed =
      for n <- 1..Environment.cases(@cases), reduce: 0 do
        failed ->
          deep = Deep.deep_case(seed(), n)
          {ran, checked} = {deep_run(deep), deep_check(deep)}
          ran? = match?({:ok, _result, _delta, _memory}, ran)

          assert match?({:ok, %Json.Checked{}}, checked) or not ran?,
                 inspect({checked, deep}, limit: :infinity)

          if ran?, do: failed, else: failed + 1
      end

    # The generator makes few programs that fail.
    assert failed <= Environment.cases(@cases) / 500
  end

  @tag timeout: 600_000
  test "of the faults at any place of nested programs at least 90 % are found before the run" do
    each = div(Environment.cases(@cases), length(Faults.faults()) * 2)

    found =
      for fault <- Faults.faults() do
        cases =
          1..(each * 40)
          |> Stream.map(&faulty(Deep.deep_case(seed(), &1), fault))
          |> Stream.reject(&is_nil/1)
          |> Enum.take(each)

        {fault, Enum.count(cases, &match?({:error, _}, deep_check(&1))), length(cases)}
      end

    if System.get_env("PTC_SHOW"), do: IO.inspect(found)

    {all, of} =
      {found |> Enum.map(&elem(&1, 1)) |> Enum.sum(),
       found |> Enum.map(&elem(&1, 2)) |> Enum.sum()}

    assert all >= 0.9 * of, inspect(found)

    for {fault, found, of} <- found,
        do: assert({fault, of >= div(each, 2)} == {fault, true}, "#{fault}: #{found} of #{of}")
  end

  # A program with the fault; nil where nothing of this run comes to the fault: a check says nothing of what is never evaluated.
  defp faulty(deep, fault) do
    faulty = Faults.put(deep, fault)

    cond do
      faulty == nil -> nil
      fault in [:result_of_wrong_type, :argument_added] -> faulty
      deep_run(faulty) == deep_run(deep) -> nil
      true -> faulty
    end
  end

  test "a sample of more than 1,000 rows" do
    rows = for n <- 1..2_000, do: if(n < 1_500, do: %{"a" => n}, else: %{"b" => n})
    assert Check.type({:sample, rows}) == {:list, {:open_map, [{"a", :int}]}}

    assert Check.sampled(rows, 10_000) ==
             {:list, {:map, [{"a", {:optional, :int}}, {"b", {:optional, :int}}]}}
  end
end
