defmodule Bench.Stats do
  @moduledoc false
  # Statistics, independent of what was measured.

  @doc "The middle value; the mean of the two middle values when there is an even number of them."
  @spec median([number, ...]) :: float
  def median(values) do
    sorted = Enum.sort(values)
    size = length(sorted)
    [low | rest] = Enum.drop(sorted, div(size - 1, 2))
    if rem(size, 2) == 1, do: low * 1.0, else: (low + hd(rest)) / 2
  end

  @doc """
  How many times as long `a` took as `b`: the median of the quotients round by round.

  Two samples of one round ran directly after each other, so a neighbour who slows the machine down
  for a second slows down both, and their quotient hardly moves.
  """
  @spec ratio([number, ...], [number, ...]) :: float
  def ratio(a, b), do: a |> Enum.zip_with(b, &(&1 / &2)) |> median()

  @doc "The slope of the least-squares line through the points in log-log space: `y` grows as `x ** slope`."
  @spec growth_exponent([{x :: number, y :: number}, ...]) :: float
  def growth_exponent(points) do
    logs = for {x, y} <- points, do: {:math.log(x), :math.log(y)}
    size = length(logs)
    mean_x = Enum.sum(for {x, _} <- logs, do: x) / size
    mean_y = Enum.sum(for {_, y} <- logs, do: y) / size
    covariance = Enum.sum(for {x, y} <- logs, do: (x - mean_x) * (y - mean_y))
    covariance / Enum.sum(for {x, _} <- logs, do: (x - mean_x) * (x - mean_x))
  end
end
