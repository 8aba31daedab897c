defmodule PtcRunner.Test.Environment do
  @moduledoc "What the environment says about a test run."

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

  @doc "The seed of random tests: `PTC_SEED`, which repeats a run, or a new one."
  @spec seed() :: integer()
  def seed, do: number("PTC_SEED", :rand.uniform(1_000_000_000))
end
