defmodule PtcRunner.Test.Environment do
  @moduledoc "Settings of a test run from environment variables."

  @doc """
  A number of the environment, or the default.

      iex> PtcRunner.Test.Environment.number("PTC_NOT_SET", 7)
      7
  """
  @spec number(String.t(), integer()) :: integer()
  def number(name, default) do
    case System.get_env(name) do
      nil -> default
      text -> String.to_integer(text)
    end
  end

  @doc """
  How many random cases a test takes: as many as it names, times `PTC_CASES` (1). What a test names
  is enough for every operation and type to appear; `bin/test --all` takes 25 times as many.

      iex> PtcRunner.Test.Environment.cases(100) >= 100
      true
  """
  @spec cases(pos_integer()) :: pos_integer()
  def cases(count), do: count * max(number("PTC_CASES", 1), 1)

  @doc """
  Whether more random cases are asked for than the usual ones: then tests that take a part of all combinations take more of them.

      iex> PtcRunner.Test.Environment.many?() == (PtcRunner.Test.Environment.cases(1) > 1)
      true
  """
  @spec many?() :: boolean()
  def many?, do: cases(1) > 1

  @doc "The seed of random tests: `PTC_SEED`, which repeats a run, or a new one."
  @spec seed() :: integer()
  def seed, do: number("PTC_SEED", :rand.uniform(1_000_000_000))
end
