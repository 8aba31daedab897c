defmodule PtcRunner.Test.Room do
  @moduledoc """
  Room for busy machines, which may pause for hundreds of milliseconds: what is measured is measured again or counted, and
  what a timeout cuts off too early gets a longer one.
  """

  @attempts 5
  @unit 1..10_000
  # The microseconds of a unit on the machines for which the limits of the tests were found: of the slower ones.
  @usual 250

  @doc """
  How many milliseconds `fun` works, and its result: of the clock, or of the processors that this VM had meanwhile, if these are
  fewer, because other programs took them away. Calls that take `limit` or longer are repeated, beside other work that tells how
  busy the machine is, by which their time is divided: the least of five is given. What is slow itself is slow each time. For work, not for what waits: see `least_wait_ms/2`.

      iex> {0, :done} = PtcRunner.Test.Room.least_ms(1_000, fn -> :done end)
      iex> {ms, _} = PtcRunner.Test.Room.least_ms(2, fn -> Enum.sum(1..30_000_000//2) end)
      iex> is_integer(ms)
      true
  """
  @spec least_ms(pos_integer(), (() -> result)) :: {non_neg_integer(), result} when result: term()
  def least_ms(limit, fun), do: least(limit, fn -> worked(fun) end, @attempts)

  @doc """
  The same by the clock, for calls that wait.

      iex> {0, :done} = PtcRunner.Test.Room.least_wait_ms(1_000, fn -> :done end)
      iex> {ms, _} = PtcRunner.Test.Room.least_wait_ms(2, fn -> Process.sleep(5) end)
      iex> is_integer(ms)
      true
  """
  @spec least_wait_ms(pos_integer(), (() -> result)) :: {non_neg_integer(), result}
        when result: term()
  def least_wait_ms(limit, fun), do: least(limit, fn -> waited(fun) end, @attempts)

  # What takes long is measured again, beside work whose time on an idle machine is known: the machine is busy, or slow, by so much.
  defp least(limit, measure, attempts) do
    {ms, result} = measure.()
    if ms < limit, do: {ms, result}, else: least(limit, measure, attempts - 1, {ms, result})
  end

  defp least(_limit, _measure, 0, last), do: last

  defp least(limit, measure, attempts, {least, _result}) do
    {{ms, result}, busy} = beside_work(measure)
    least = min(least, trunc(ms / busy))

    if least < limit,
      do: {least, result},
      else: least(limit, measure, attempts - 1, {least, result})
  end

  @doc """
  The result of `fun`, and how many times longer than on an idle machine, which is no slow one, work takes meanwhile: at least 1.

      iex> {:done, busy} = PtcRunner.Test.Room.beside_work(fn -> Process.sleep(50) && :done end)
      iex> busy >= 1
      true
  """
  @spec beside_work((() -> result)) :: {result, float()} when result: term()
  def beside_work(fun) do
    unit = min(unit(), @usual)
    me = self()
    worker = spawn_link(fn -> units(me, 0, System.monotonic_time(:microsecond)) end)
    result = fun.()
    send(worker, :stop)

    receive do
      {^worker, units, micros} -> {result, max(micros / (units * unit), 1.0)}
    end
  end

  defp units(to, done, began) do
    Enum.reduce(@unit, 0, &max/2)

    receive do
      :stop -> send(to, {self(), done + 1, System.monotonic_time(:microsecond) - began})
    after
      0 -> units(to, done + 1, began)
    end
  end

  @doc """
  How many times slower this machine is than those for which the limits of the tests were found: at least 1. For limits of CPU time, which
  other programs do not change.

      iex> PtcRunner.Test.Room.slowness() >= 1
      true
  """
  @spec slowness() :: float()
  def slowness, do: max(unit() / @usual, 1.0)

  @doc """
  The same at this moment: a processor may change its speed.

      iex> PtcRunner.Test.Room.slowness_now() >= 1
      true
  """
  @spec slowness_now() :: float()
  def slowness_now, do: max(least_unit() / @usual, 1.0)

  @doc false
  @spec known() :: pos_integer()
  def known, do: unit()

  # What another VM on this machine found.
  @doc false
  @spec know(pos_integer()) :: :ok
  def know(unit), do: :persistent_term.put({__MODULE__, :unit}, unit)

  # The microseconds of a unit on this machine when it is idle: it is so short that one of many is not interrupted.
  defp unit do
    least = least_unit()
    known = :persistent_term.get({__MODULE__, :unit}, least)
    if least <= known, do: :persistent_term.put({__MODULE__, :unit}, least)
    max(min(least, known), 1)
  end

  defp least_unit,
    do: Enum.min(for _ <- 1..50, do: elem(:timer.tc(fn -> Enum.reduce(@unit, 0, &max/2) end), 0))

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
