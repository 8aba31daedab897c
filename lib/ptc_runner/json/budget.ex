defmodule PtcRunner.Json.Budget do
  @moduledoc false
  # How many calls a run may make, of all its tools and of each. A call is counted before it starts, in counters that all
  # processes of the run share: calls that overlap do not exceed it.

  alias PtcRunner.Shown

  @typedoc "The counters; the maximum of all calls; for each tool the place of its counter, and its maximum."
  @type t :: {:atomics.atomics_ref(), limit(), %{String.t() => {pos_integer(), limit()}}}

  # An atom is more than any number.
  @typep limit :: non_neg_integer() | :infinity

  @doc """
  A budget for these tools; nil if there is none.

      iex> PtcRunner.Json.Budget.new(["a"], nil, %{})
      nil

      iex> budget = PtcRunner.Json.Budget.new(["a", "b"], nil, %{"a" => 1})
      iex> for name <- ["a", "b", "b", "a"], do: PtcRunner.Json.Budget.take(budget, name)
      [:ok, :ok, :ok, {:error, {:execution_error, "Tool 'a' was called 1 time; no more than 1 call is allowed"}}]

      iex> budget = PtcRunner.Json.Budget.new(["a", "b"], 2, %{})
      iex> for name <- ["a", "b", "b"], do: PtcRunner.Json.Budget.take(budget, name)
      [:ok, :ok, {:error, {:execution_error, "Tools were called 2 times; no more than 2 calls are allowed"}}]

  """
  @spec new([String.t()], non_neg_integer() | nil, %{String.t() => non_neg_integer()}) ::
          t() | nil
  def new(_names, nil, limits) when limits == %{}, do: nil

  def new(names, most, limits) do
    places =
      for {name, place} <- Enum.with_index(names, 2),
          into: %{},
          do: {name, {place, Map.get(limits, name, :infinity)}}

    {:atomics.new(map_size(places) + 1, []), most || :infinity, places}
  end

  @doc "Counts a call of a tool before it starts, or refuses it."
  @spec take(t() | nil, String.t()) :: :ok | {:error, {:execution_error, String.t()}}
  def take(nil, _name), do: :ok

  # The run reports unknown tools.
  def take({_counts, _most, places}, name) when not is_map_key(places, name), do: :ok

  def take({counts, most, places}, name) do
    %{^name => {place, own_most}} = places
    own = :atomics.add_get(counts, place, 1)

    cond do
      own > own_most ->
        :atomics.sub(counts, place, 1)
        over(tool(name), own_most)

      most != :infinity and :atomics.add_get(counts, 1, 1) > most ->
        :atomics.sub(counts, place, 1)
        :atomics.sub(counts, 1, 1)
        over(if(own > most, do: tool(name), else: "Tools were"), most)

      true ->
        :ok
    end
  end

  @doc "How many calls were counted of each tool."
  @spec counted(t()) :: %{String.t() => non_neg_integer()}
  def counted({counts, _most, places}),
    do: Map.new(places, fn {name, {place, _most}} -> {name, :atomics.get(counts, place)} end)

  @doc "Counts calls that were made before."
  @spec add(t(), %{String.t() => non_neg_integer()}) :: :ok
  def add({counts, _most, places}, made) do
    for {name, count} <- made, {:ok, {place, _most}} <- [Map.fetch(places, name)] do
      :atomics.add(counts, place, count)
      :atomics.add(counts, 1, count)
    end

    :ok
  end

  defp tool(name), do: "Tool '#{Shown.name(name)}' was"

  defp over(who, 1),
    do: error("#{who} called 1 time; no more than 1 call is allowed")

  defp over(who, most),
    do: error("#{who} called #{most} times; no more than #{most} calls are allowed")

  defp error(text), do: {:error, {:execution_error, text}}
end
