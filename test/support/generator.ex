defmodule PtcRunner.Test.Generator do
  @moduledoc """
  Random programs with data for them. The seed and the number of
  the case determine everything (except pids and references).
  """

  alias PtcRunner.Test.Generator.{Data, Dropped, Program, Spoil, Texts, Values}
  alias PtcRunner.Test.Random

  @typedoc "Without an edition it is a case of edition 1."
  @type random_case :: %{
          required(:program) => term(),
          required(:context) => map(),
          required(:memory) => map(),
          optional(:edition) => 2
        }

  @doc "Case number `n` of a seed. Three programs in ten are spoilt, some of them twice."
  @spec random_case(integer(), integer()) :: random_case()
  def random_case(seed, n), do: build(seed, n, Random.frequency([{14, 0}, {4, 1}, {2, 2}]))

  @doc "Like `random_case/2`, of edition 2, with texts and dates in the rows."
  @spec modern_case(integer(), integer()) :: random_case()
  def modern_case(seed, n), do: build_2(seed, n, Random.frequency([{14, 0}, {4, 1}, {2, 2}]))

  @doc "Like `modern_case/2`, with one to three things wrong in the program."
  @spec spoilt_modern_case(integer(), integer()) :: random_case()
  def spoilt_modern_case(seed, n),
    do: seed |> build_2(n, Random.integer(1..3)) |> Map.update!(:program, &timeless/1)

  # What nobody validated runs without the option `:now`.
  defp timeless(%{"op" => "now"}), do: %{"op" => "literal", "value" => "2024-02-29T10:30:00Z"}

  defp timeless(map) when is_map(map) and not is_struct(map),
    do: Map.new(map, fn {key, value} -> {key, timeless(value)} end)

  defp timeless([first | rest]), do: [timeless(first) | timeless(rest)]
  defp timeless(other), do: other

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
    program = &Dropped.pipe(%{depth: 0, current: &1, names: [], edition: 1})
    build(seed, n, Random.frequency([{9, 0}, {1, 1}]), program)
  end

  defp build(seed, n, spoils, program \\ &Program.program/1) do
    state = :rand.seed_s(:exsss, {seed, n, 0})
    {random_case, _state} = Random.build(template(spoils, program), state)
    random_case
  end

  defp build_2(seed, n, spoils) do
    data = %{context: Data.context(Texts.row()), memory: Data.memory()}

    random_case =
      Random.map(data, fn data ->
        program = Program.program(current(data.memory), 2)

        Random.map({program, spoils}, fn {program, spoils} ->
          Random.map(spoilt(program, spoils, 2), &Map.merge(data, %{program: &1, edition: 2}))
        end)
      end)

    {random_case, _state} = random_case.(:rand.seed_s(:exsss, {seed, n, 2}))
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

  defp spoilt(program, n, edition \\ 1)
  defp spoilt(program, 0, _edition), do: program

  defp spoilt(program, n, edition),
    do: Random.map(Spoil.spoil(program, edition), &spoilt(&1, n - 1, edition))

  defp current(%{"__input" => input}) when is_map(input), do: :row
  defp current(%{"__input" => [_ | _]}), do: :rows
  defp current(%{"__input" => _}), do: :any
  defp current(_memory), do: :absent
end
