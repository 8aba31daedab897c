defmodule PtcRunner.Shown.Budget do
  @moduledoc false
  # The number of parts that a walk over a term may still visit: a term of few words can have any number of parts.

  @type t :: :counters.counters_ref()

  @doc """
  The result of a walk that may visit so many parts, or `beyond` if it visits more.

      iex> walk = fn budget -> Enum.each(1..10, fn _part -> PtcRunner.Shown.Budget.spend!(budget) end) end
      iex> {PtcRunner.Shown.Budget.within(10, :too_large, walk), PtcRunner.Shown.Budget.within(9, :too_large, walk)}
      {:ok, :too_large}

  """
  @spec within(non_neg_integer(), beyond, (t() -> result)) :: result | beyond
        when result: term(), beyond: term()
  def within(parts, beyond, walk) do
    budget = new(parts)

    try do
      walk.(budget)
    catch
      {__MODULE__, ^budget} -> beyond
    end
  end

  @doc """
  The number of parts that a walk visits, up to a maximum at which it ends.

      iex> walk = fn budget -> Enum.each(1..10, fn _part -> PtcRunner.Shown.Budget.spend!(budget) end) end
      iex> {PtcRunner.Shown.Budget.spent(20, walk), PtcRunner.Shown.Budget.spent(5, walk)}
      {10, 5}

  """
  @spec spent(non_neg_integer(), (t() -> term())) :: non_neg_integer()
  def spent(parts, walk) do
    budget = new(parts)

    try do
      walk.(budget)
    catch
      {__MODULE__, ^budget} -> :ok
    end

    parts - max(left(budget), 0)
  end

  @doc "A budget of so many parts."
  @spec new(non_neg_integer()) :: t()
  def new(parts) do
    budget = :counters.new(1, [])
    :counters.put(budget, 1, parts)
    budget
  end

  @doc "The parts that are left."
  @spec left(t()) :: integer()
  def left(budget), do: :counters.get(budget, 1)

  @doc "Takes parts, and ends the walk of `within/3` if there are not so many."
  @spec spend!(t(), non_neg_integer()) :: :ok
  def spend!(budget, parts \\ 1) do
    :counters.sub(budget, 1, parts)
    if left(budget) < 0, do: exceeded!(budget), else: :ok
  end

  @doc "Takes parts if there are so many; whether there are."
  @spec spend?(t(), non_neg_integer()) :: boolean()
  def spend?(budget, parts) do
    enough? = left(budget) >= parts
    if enough?, do: :counters.sub(budget, 1, parts)
    enough?
  end

  @doc "Ends the walk of `within/3`."
  @spec exceeded!(t()) :: no_return()
  def exceeded!(budget), do: throw({__MODULE__, budget})
end
