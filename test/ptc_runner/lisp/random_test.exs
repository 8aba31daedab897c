defmodule PtcRunner.Lisp.RandomTest do
  # Random programs, run by the library and by an interpreter in plain Elixir: values, prints, and what is defined are identical, and where one has no
  # value the other has none. `PTC_SEED` repeats a run, `PTC_CASES=10` takes ten times as many.
  use ExUnit.Case, async: true

  alias PtcRunner.Lisp
  alias PtcRunner.Test.{Environment, LispOracle}
  alias PtcRunner.Test.LispOracle.{Random, Written}

  doctest LispOracle

  @cases 2_000
  # Of the programs, at least so many of a hundred have a value.
  @valued 50

  @tag timeout: 600_000
  test "the library and the oracle agree on random programs" do
    seed = Environment.seed()
    :rand.seed(:exsss, seed)

    valued =
      for case <- 1..Environment.cases(@cases) do
        {program, data} = Random.program()
        text = Written.text(program)
        given = Map.new(data)

        expected = LispOracle.run(program, data)
        compiled = if rem(case, 2) == 0, do: compiled(text), else: text
        got = run(compiled, given)

        assert expected in [got, :unknown],
               "PTC_SEED=#{seed}, case #{case}:\n#{text}\nover #{inspect(data)}\n" <>
                 "gives #{inspect(got)}\nand not #{inspect(expected)}"

        if match?({:ok, _, _, _}, expected), do: 1, else: 0
      end

    assert Enum.sum(valued) * 100 > @valued * length(valued)
  end

  defp compiled(text) do
    assert {:ok, program} = Lisp.compile(text)
    program
  end

  defp run(program, data) do
    case Lisp.run(program, context: data, timeout: 20_000, max_heap: 10_000_000) do
      {:ok, step} ->
        {:ok, step.return, step.prints, step.memory}

      {:error, %{fail: %{reason: reason}} = step}
      when reason in [:type_error, :runtime_error, :arity_error, :arithmetic_error] or
             reason in [:not_callable, :destructure_error, :arity_mismatch] ->
        {:wrong, step.prints}

      {:error, step} ->
        {:error, step.fail}
    end
  end
end
