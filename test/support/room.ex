defmodule PtcRunner.Test.Room do
  @moduledoc """
  Room for busy machines, which may pause for hundreds of milliseconds: what is measured is measured again or counted, and
  what a timeout cuts off too early gets a longer one.
  """

  @attempts 5

  @doc """
  How many milliseconds `fun` works, and its result: of the clock, or of the processors that this VM had meanwhile, if these are
  fewer, because other programs took them away. Calls that take `limit` or longer are repeated: the least of five
  is given. What is slow itself is slow each time. For work, not for what waits: see `least_wait_ms/2`.

      iex> {0, :done} = PtcRunner.Test.Room.least_ms(1_000, fn -> :done end)
      iex> {ms, _} = PtcRunner.Test.Room.least_ms(2, fn -> Enum.sum(1..30_000_000//2) end)
      iex> is_integer(ms)
      true
  """
  @spec least_ms(pos_integer(), (() -> result)) :: {non_neg_integer(), result} when result: term()
  def least_ms(limit, fun), do: least(limit, fn -> worked(fun) end, @attempts)

  @doc """
  The same by the clock, for calls that wait.

      iex> {ms, _} = PtcRunner.Test.Room.least_wait_ms(2, fn -> Process.sleep(5) end)
      iex> ms >= 5
      true
  """
  @spec least_wait_ms(pos_integer(), (() -> result)) :: {non_neg_integer(), result}
        when result: term()
  def least_wait_ms(limit, fun), do: least(limit, fn -> waited(fun) end, @attempts)

  defp least(limit, measure, attempts) do
    {ms, result} = measure.()

    if ms < limit or attempts == 1 do
      {ms, result}
    else
      {later, result} = least(limit, measure, attempts - 1)
      {min(ms, later), result}
    end
  end

  defp waited(fun) do
    {micros, result} = :timer.tc(fun)
    {div(micros, 1_000), result}
  end

  defp worked(fun) do
    {before, _since} = :erlang.statistics(:runtime)
    {ms, result} = waited(fun)
    {now, _since} = :erlang.statistics(:runtime)
    {min(ms, now - before), result}
  end

  @doc """
  Calls `check`; if an assertion fails, again, up to five times. For checks of what happens at the same time, each of which
  begins anew. What is wrong itself is wrong each time.

      iex> PtcRunner.Test.Room.again(fn -> :done end)
      :done
  """
  @spec again((() -> result)) :: result when result: term()
  def again(check), do: again(check, @attempts)

  defp again(check, attempts) do
    check.()
  rescue
    error in [ExUnit.AssertionError, MatchError] ->
      if attempts > 1, do: again(check, attempts - 1), else: reraise(error, __STACKTRACE__)
  end

  @doc """
  The reductions of this process while `fun` runs, and its result: work that is counted is the same on every machine.

      iex> {few, :ok} = PtcRunner.Test.Room.work(fn -> Enum.each(1..100, &Function.identity/1) end)
      iex> {many, :ok} = PtcRunner.Test.Room.work(fn -> Enum.each(1..100_000, &Function.identity/1) end)
      iex> many > 100 * few
      true
  """
  @spec work((() -> result)) :: {non_neg_integer(), result} when result: term()
  def work(fun) do
    {:reductions, before} = Process.info(self(), :reductions)
    result = fun.()
    {:reductions, now} = Process.info(self(), :reductions)
    {now - before, result}
  end

  @doc """
  Calls `check` with a timeout in milliseconds; if an assertion fails, with one that is five times as long, up to
  12 seconds. For checks of what a run does before its timeout ends it.

      iex> PtcRunner.Test.Room.growing(100, fn timeout -> true = timeout > 100 end)
      true
  """
  @spec growing(pos_integer(), (pos_integer() -> result)) :: result when result: term()
  def growing(timeout, check) do
    check.(timeout)
  rescue
    error in [ExUnit.AssertionError, MatchError] ->
      if timeout * 5 <= 12_500,
        do: growing(timeout * 5, check),
        else: reraise(error, __STACKTRACE__)
  end
end
