defmodule PtcRunner.Json.Budget do
  @moduledoc false
  # How many calls a run may make, of all its tools and of each. A call is counted before it starts, in counters that all
  # processes of the run share: calls that overlap do not exceed it.

  alias PtcRunner.Json.Within.Counts
  alias PtcRunner.Shown

  # The calls are in the lower half of the counter. The hashes are short, so that their sums stay small integers.
  @half 0x1_0000_0000
  @hashes 4_096

  import Bitwise

  @typedoc """
  The counters; the maximum of all calls; by tool what a call adds to the first counter, and, if the tool has a maximum of its
  own, the place of its counter and that maximum; and what counts for plans.
  """
  @type t ::
          {:atomics.atomics_ref() | nil, limit(),
           %{String.t() => pos_integer() | {pos_integer(), pos_integer(), non_neg_integer()}},
           [Counts.t()]}

  @typedoc "The counters, the maximum of all calls, and what a call of the tool adds to the first counter."
  @type of_tool :: {:atomics.atomics_ref(), limit(), pos_integer()}

  # An atom is more than any number.
  @typep limit :: non_neg_integer() | :infinity

  @doc """
  A budget for these tools; nil if there is none.

      iex> PtcRunner.Json.Budget.new(["a"], nil, %{})
      nil

      iex> budget = PtcRunner.Json.Budget.new(["a", "b"], nil, %{"a" => 1})
      iex> for name <- ["a", "b", "b", "a"], do: PtcRunner.Json.Budget.take(budget, name, %{})
      [:ok, :ok, :ok, {:error, {:execution_error, "Tool 'a' was called 1 time; no more than 1 call is allowed"}}]

      iex> budget = PtcRunner.Json.Budget.new(["a", "b"], 2, %{})
      iex> for name <- ["a", "b", "b"], do: PtcRunner.Json.Budget.take(budget, name, %{})
      [:ok, :ok, {:error, {:execution_error, "Tools were called 2 times; no more than 2 calls are allowed"}}]

  """
  @spec new([String.t()], non_neg_integer() | nil, %{String.t() => non_neg_integer()}) ::
          t() | nil
  def new(_names, nil, limits) when limits == %{}, do: nil

  def new(names, most, limits) do
    {steps, places} = steps(names, limits, 2, [])
    {:atomics.new(places, signed: false), most || :infinity, :maps.from_list(steps), []}
  end

  @doc "The budget with what counts for plans, which is asked first."
  @spec within(t() | nil, [Counts.t()]) :: t()
  def within(nil, within), do: {nil, :infinity, %{}, within}
  def within({counts, most, steps, _none}, within), do: {counts, most, steps, within}

  defp steps([], _limits, place, steps), do: {steps, place}

  defp steps([name | names], limits, place, steps) do
    case limits do
      %{^name => most} ->
        steps(names, limits, place + 1, [{name, {step(name), place, most}} | steps])

      _none ->
        steps(names, limits, place, [{name, step(name)} | steps])
    end
  end

  # The lower half of the first counter has the calls. The upper half has the sum of the hashes of their tools: if that is
  # their number times the hash of one tool, all calls were of that tool: this is only for the error.
  defp step(name), do: 1 + ((:erlang.phash2(name, @hashes) + 1) <<< 32)

  @doc """
  The budget for calls of one tool, which is not looked up for each of them.

      iex> budget = PtcRunner.Json.Budget.new(["a", "b"], 2, %{})
      iex> one = PtcRunner.Json.Budget.of_tool(budget, "a")
      iex> for counted <- [one, budget, one], do: PtcRunner.Json.Budget.take(counted, "a", %{})
      [:ok, :ok, {:error, {:execution_error, "Tool 'a' was called 2 times; no more than 2 calls are allowed"}}]

  """
  @spec of_tool(t() | nil, String.t()) :: t() | of_tool() | nil
  def of_tool({counts, most, steps, []} = budget, name) do
    case steps do
      %{^name => step} when is_integer(step) -> {counts, most, step}
      _steps -> budget
    end
  end

  def of_tool(budget, _name), do: budget

  @doc "Counts a call of a tool before it starts, or refuses it."
  @spec take(t() | of_tool() | nil, String.t(), args :: term()) ::
          :ok | {:error, {:execution_error | :refused, String.t()}}
  def take(nil, _name, _args), do: :ok
  def take({counts, most, step}, name, _args), do: take(counts, most, step, name)
  def take({counts, most, steps, []}, name, _args), do: taken({counts, most, steps}, name)

  def take({counts, most, steps, within}, name, args),
    do: with(:ok <- planned(within, name, args), do: taken({counts, most, steps}, name))

  defp planned([counts | rest], name, args),
    do: with(:ok <- Counts.take(counts, name, args), do: planned(rest, name, args))

  defp planned([], _name, _args), do: :ok

  defp taken({counts, most, steps}, name) do
    case steps do
      %{^name => {step, place, own_most}} ->
        if :atomics.add_get(counts, place, 1) > own_most do
          :atomics.sub(counts, place, 1)
          over(tool(name), own_most)
        else
          with {:error, _over} = over <- take(counts, most, step, name) do
            :atomics.sub(counts, place, 1)
            over
          end
        end

      %{^name => step} ->
        take(counts, most, step, name)

      # The run reports unknown tools.
      _steps ->
        :ok
    end
  end

  defp take(counts, most, step, name) do
    all = :atomics.add_get(counts, 1, step)

    if (all &&& @half - 1) > most do
      :atomics.sub(counts, 1, step)
      same? = all >>> 32 == ((most + 1) * (step >>> 32) &&& @half - 1)
      over(if(same?, do: tool(name), else: "Tools were"), most)
    else
      :ok
    end
  end

  @doc "What was counted."
  @spec counted(t()) :: {non_neg_integer(), %{String.t() => non_neg_integer()}}
  def counted({nil, _most, _steps, _within}), do: {0, %{}}

  def counted({counts, _most, steps, _within}) do
    own =
      for {name, {_step, place, _most}} <- steps,
          into: %{},
          do: {name, :atomics.get(counts, place)}

    {:atomics.get(counts, 1), own}
  end

  @doc """
  The calls that were counted beside what is allowed, of all tools (nil) and of each that has a maximum.

      iex> budget = PtcRunner.Json.Budget.new(["a", "b"], nil, %{"a" => 2})
      iex> for name <- ["a", "b"], do: PtcRunner.Json.Budget.take(budget, name, %{})
      iex> PtcRunner.Json.Budget.used(budget)
      [{nil, 2, :infinity}, {"a", 1, 2}]

  """
  @spec used(t() | nil) :: [{String.t() | nil, non_neg_integer(), limit()}]
  def used(nil), do: []
  def used({nil, _most, _steps, _within}), do: []

  def used({counts, most, steps, _within}) do
    own =
      for {name, {_step, place, most}} <- Enum.sort(steps),
          do: {name, :atomics.get(counts, place), most}

    [{nil, :atomics.get(counts, 1) &&& @half - 1, most} | own]
  end

  @doc "Sets a budget that nothing was counted in to what was counted before."
  @spec add(t(), {non_neg_integer(), %{String.t() => non_neg_integer()}}) :: :ok
  def add({nil, _most, _steps, _within}, _counted), do: :ok

  def add({counts, _most, steps, _within}, {all, own}) do
    :atomics.put(counts, 1, all)

    for {name, count} <- own,
        {_step, place, _most} <- [steps[name]],
        do: :atomics.add(counts, place, count)

    :ok
  end

  defp tool(name), do: "Tool '#{Shown.name(name)}' was"

  defp over(who, 1),
    do: error("#{who} called 1 time; no more than 1 call is allowed")

  defp over(who, most),
    do: error("#{who} called #{most} times; no more than #{most} calls are allowed")

  defp error(text), do: {:error, {:execution_error, text}}
end
