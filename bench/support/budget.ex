defmodule Bench.Budget do
  @moduledoc false
  # Spreads the time of a run over its groups. A group gets its share of the time that is left, by its weight: what
  # one group takes too long is missing in all that follow, and what it leaves is theirs.

  alias Bench.Harness

  @enforce_keys [:until, :left]
  defstruct [:until, :left]

  @opaque t :: %__MODULE__{until: integer, left: :counters.counters_ref()}

  # A measurement that takes no samples has a fixed amount of work, such as three runs over 1,000,000 rows.
  @without_samples 12
  # Milliseconds that a group gets however late it is.
  @least 300
  # What it costs to make so many rows.
  @many_rows_made 6

  @typedoc "A group, the making of the data of these groups, or a function that takes no samples."
  @type measurement :: Harness.group() | {:data, [Harness.group()]} | (... -> term)

  @doc "The time of a run in milliseconds, and the weight of all that it measures."
  @spec new(pos_integer, number) :: t
  def new(milliseconds, weight) do
    left = :counters.new(1, [])
    :counters.add(left, 1, weight)
    %__MODULE__{until: now() + milliseconds, left: left}
  end

  @doc "Whether a round takes so long that few of them must do."
  @spec heavy?(Harness.group()) :: boolean
  def heavy?(group), do: weight(group) > 1

  @doc "The milliseconds of a measurement that begins now."
  @spec take(t, measurement) :: non_neg_integer
  def take(%__MODULE__{until: until, left: left}, measurement) do
    weight = weight(measurement)
    share = max(0, until - now()) * weight / max(weight, :counters.get(left, 1))
    :counters.sub(left, 1, weight)
    max(@least, trunc(share))
  end

  @doc "How much time a measurement gets beside others. A round over many rows takes long, mostly to collect garbage."
  @spec weight(measurement) :: non_neg_integer
  def weight(%{weight: weight}), do: weight
  def weight(%{rows: rows}) when rows >= 1_000_000, do: 12
  def weight(%{rows: rows}) when rows >= 100_000, do: 3
  def weight(%{origin: origin}) when origin in [:heavy, :full], do: 2
  def weight(%{}), do: 1

  def weight({:data, groups}),
    do: if(Enum.any?(groups, &(weight(&1) >= 10)), do: @many_rows_made, else: 0)

  def weight(without_samples) when is_function(without_samples), do: @without_samples

  defp now, do: System.monotonic_time(:millisecond)
end
