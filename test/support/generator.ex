defmodule PtcRunner.Test.Generator do
  @moduledoc """
  Random programs with data for them. The seed and the number of
  the case determine everything (except pids and references).
  """

  alias PtcRunner.Test.Generator.{Data, Dropped, Program, Spoil, Values}
  alias PtcRunner.Test.Random

  @type random_case :: %{program: term(), context: map(), memory: map()}

  @doc "Case number `n` of a seed. Three programs in ten are spoilt, some of them twice."
  @spec random_case(integer(), integer()) :: random_case()
  def random_case(seed, n), do: build(seed, n, Random.frequency([{14, 0}, {4, 1}, {2, 2}]))

  @doc "Like `random_case/2`, with nothing wrong in the program."
  @spec right_case(integer(), integer()) :: random_case()
  def right_case(seed, n), do: build(seed, n, 0)

  @doc "A pipeline over rows of dates, decimals and atoms, which `PtcRunner.Test.Disguise` makes of plain rows."
  @spec values_case(integer(), integer()) :: random_case()
  def values_case(seed, n) do
    template = %{program: Values.pipe(), context: %{"rows" => Values.rows()}, memory: %{}}
    {values_case, _state} = Random.build(template, :rand.seed_s(:exsss, {seed, n, 1}))
    values_case
  end

  @doc "Like `random_case/2`, with one to three things wrong in the program."
  @spec spoilt_case(integer(), integer()) :: random_case()
  def spoilt_case(seed, n), do: build(seed, n, Random.integer(1..3))

  @doc "A pipeline that keeps a part of what it makes; one in ten is spoilt."
  @spec dropping_case(integer(), integer()) :: random_case()
  def dropping_case(seed, n) do
    program = &Dropped.pipe(%{depth: 0, current: &1, names: []})
    build(seed, n, Random.frequency([{9, 0}, {1, 1}]), program)
  end

  defp build(seed, n, spoils, program \\ &Program.program/1) do
    state = :rand.seed_s(:exsss, {seed, n, 0})
    {random_case, _state} = Random.build(template(spoils, program), state)
    random_case
  end

  defp template(spoils, program) do
    Random.map(%{context: Data.context(), memory: Data.memory()}, fn data ->
      program =
        Random.map({program.(current(data.memory)), spoils}, fn {program, spoils} ->
          spoilt(program, spoils)
        end)

      Map.put(data, :program, program)
    end)
  end

  defp spoilt(program, 0), do: program
  defp spoilt(program, n), do: Random.map(Spoil.spoil(program), &spoilt(&1, n - 1))

  defp current(%{"__input" => input}) when is_map(input), do: :row
  defp current(%{"__input" => [_ | _]}), do: :rows
  defp current(%{"__input" => _}), do: :any
  defp current(_memory), do: :absent
end
