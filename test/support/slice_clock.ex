defmodule PtcRunner.Test.SliceClock do
  @moduledoc """
  Measures how long each NIF holds a scheduler's thread while the suite runs, in CPU time of that
  thread. `test_helper.exs` starts it.

  A call on a normal scheduler may take 2 ms. CPU time includes time that a hypervisor takes away, and
  refilling the caches after the system has given the core to another thread. So a call counts as too long only if
  that did not happen while it ran, or if it took more than 20 ms. Of 100,000 rounds of half a millisecond of
  arithmetic on a busy machine 25 took more than 2 ms, one of them undisturbed; on a quiet machine
  almost no call is disturbed. A quantum on a dirty scheduler should take 1 ms, but some steps of the VM cannot be
  suspended, such as making a map of 100,000 keys. So a call there may take half a second, and two seconds if it was
  disturbed: on a busy machine of a cloud one such map took 642 ms, and undisturbed calls took at most 62 ms.

  While the machine stands still, the clock of CPU time goes on. So a call may take longer by as much as it stood still at most
  (`PtcRunner.Test.Standstill`), and calls that took too long are forgiven as often.

  On a machine that is slower than the usual ones (`PtcRunner.Test.Room.slowness/0`), all of this may take so many times longer. This is
  measured when the clock is started, and again when a call has taken too long, because a processor may change its speed.

  With `PTC_STRICT_CLOCK=1`, for an otherwise idle machine, disturbed calls count too, and calls
  on dirty schedulers may take 100 ms.

  It is an ExUnit formatter, so it knows which tests ran when a call took too long. `report/1` prints
  the table at the end of the suite.
  """

  use GenServer

  alias PtcRunner.Native
  alias PtcRunner.Test.{Room, Standstill}

  # The tests that may have held a scheduler for too long: those that ended next.
  @table :ptc_slice_clock
  # What was measured in other VMs, by the module of tests that ran there.
  @apart :ptc_slice_clock_apart

  # In nanoseconds: too long for an undisturbed call on a normal scheduler; for any call there, disturbed or not;
  # reported for a dirty one; too long for an undisturbed call on a dirty one; for any call there.
  @limit 2_000_000
  @long 20_000_000
  @dirty_long 25_000_000
  @dirty_limit 500_000_000
  @dirty_limit_at_all 2_000_000_000
  @strict_dirty_limit 100_000_000

  # Calls of the VM that cannot be suspended: docs/security.md, "Steps that cannot be suspended".
  @vm_calls ~w(aligned_dirty)

  @typedoc "Calls of a NIF on normal or dirty schedulers; the times are in nanoseconds."
  @type line :: %{
          name: String.t(),
          dirty?: boolean(),
          calls: pos_integer(),
          over: non_neg_integer(),
          over_at_all: non_neg_integer(),
          min: non_neg_integer(),
          p50: non_neg_integer(),
          p99: non_neg_integer(),
          max: non_neg_integer(),
          max_alone: non_neg_integer(),
          total: non_neg_integer()
        }

  @doc "Starts to measure; `false` if the system has no such clock."
  @spec start() :: boolean()
  def start do
    # The process that runs the suite owns the table: formatters have ended when the report is made.
    for table <- [@table, @apart], do: :ets.new(table, [:ordered_set, :named_table, :public])
    :persistent_term.put({__MODULE__, :watch}, Standstill.start())
    switch()
  end

  @doc """
  Starts to measure in a VM that makes no report: `add/2` gives its measurements to this one's.

      iex> PtcRunner.Test.SliceClock.switch()
      true
  """
  @spec switch() :: boolean()
  def switch do
    slower()
    Native.clock_switch(true)
  end

  @doc "The measurements of another VM, in which the tests of `module` run (`PtcRunner.Test.Apart`): the last ones count."
  @spec add(module(), [line()]) :: true
  def add(module, lines), do: :ets.insert(@apart, {module, lines})

  @doc """
  The measurements since `start/0`.

      iex> PtcRunner.Json.run("{}")
      iex> Enum.any?(PtcRunner.Test.SliceClock.lines(), &(&1.name == "start"))
      true
  """
  @spec lines() :: [line()]
  def lines do
    for {name, dirty?, calls, {over, over_at_all}, spread} <- Native.clock_read() do
      {min, p50, p99, max, total, max_alone} = spread

      %{
        name: name,
        dirty?: dirty?,
        calls: calls,
        over: over,
        over_at_all: over_at_all,
        min: min,
        p50: p50,
        p99: p99,
        max: max,
        max_alone: max_alone,
        total: total
      }
    end
  end

  @doc """
  Whether disturbed calls count too: `PTC_STRICT_CLOCK=1`, for an otherwise idle machine.
  """
  @spec strict?() :: boolean()
  def strict?, do: System.get_env("PTC_STRICT_CLOCK") == "1"

  @doc """
  The NIFs of which a call has held a normal scheduler for too long since `before`, which an earlier
  `marks/0` gave.
  """
  @spec held_since(map()) :: [String.t()]
  def held_since(before) do
    for {name, mark} <- marks(), mark > Map.get(before, name, 0), do: name
  end

  @doc """
  The NIFs of which a call has held a normal scheduler for too long while `fun` ran, each of three times:
  what happens once may be a hypervisor that took the processor away.
  """
  @spec holds((() -> term())) :: [String.t()]
  def holds(fun), do: holds(fun, 3)

  defp holds(fun, attempts) do
    before = marks()
    fun.()

    with [_ | _] <- held_since(before),
         measure_again(),
         [_ | _] = nifs <- held_since(before) do
      if attempts == 1, do: nifs, else: holds(fun, attempts - 1)
    end
  end

  @doc "For each NIF a number that grows when a call holds a normal scheduler for too long."
  @spec marks() :: %{String.t() => number()}
  def marks do
    for %{dirty?: false} = line <- lines(), mark = mark(line), mark > 0, into: %{} do
      {line.name, mark}
    end
  end

  defp mark(%{max: max} = line), do: too_many(line) + if(max > @long * slower(), do: max, else: 0)

  # The calls of more than 2 ms that count: on a slow machine none, as long as none of them was longer than it may be there.
  defp too_many(line) do
    cond do
      strict?() -> line.over_at_all
      line.over == 0 or line.max_alone <= @limit * slower() -> 0
      true -> line.over
    end
  end

  # How slow the machine was at most when it was measured.
  defp slower do
    with :none <- :persistent_term.get(__MODULE__, :none) do
      slowness = Room.slowness()
      :persistent_term.put(__MODULE__, slowness)
      slowness
    end
  end

  defp measure_again do
    now = Room.slowness_now()
    if now > slower(), do: :persistent_term.put(__MODULE__, now)
  end

  # Functions that are not NIFs, the clock itself, NIFs that run in another VM, that need inputs of megabytes, or
  # that only the benchmarks call.
  @not_measured ~w(load info attach detach clock_switch clock_read take_panics repair_answer_dirty
    stream_new_dirty bare_objects)

  @doc """
  The NIFs without measurements: they have no clock, or no test calls them.
  """
  @spec unmeasured() :: [String.t()]
  def unmeasured do
    measured = MapSet.new(lines() ++ Enum.flat_map(added(), &elem(&1, 1)), & &1.name)
    names = for {name, _arity} <- Native.__info__(:functions), do: Atom.to_string(name)
    (Enum.uniq(names) -- @not_measured) -- MapSet.to_list(measured)
  end

  @doc """
  Prints the measurements. Returns `:ok`, or the errors: calls that held a normal scheduler for too long
  and, if `whole?`, NIFs that were not measured.
  """
  @spec report(whole? :: boolean()) :: :ok | {:error, [String.t()]}
  def report(whole?) do
    lines = lines()
    added = added()

    IO.puts(
      "\nCPU time of the calls in µs (limit on normal schedulers: 2,000; undisturbed calls: alone)"
    )

    IO.puts(row(["NIF", "scheduler", "calls", "min", "p50", "p99", "max", "max alone", "over"]))
    Enum.each(lines, &IO.puts(row(&1)))

    for {module, lines} <- added do
      IO.puts("\nIn the VM of #{inspect(module)}")
      Enum.each(lines, &IO.puts(row(&1)))
    end

    IO.puts("\nThe longest calls, and the test that ended next:")
    Enum.each(longest(), &IO.puts("  " <> &1))

    {late, times} = still = Standstill.stop(:persistent_term.get({__MODULE__, :watch}, nil))

    IO.puts(
      "The machine stood still for #{microseconds(late)} µs at most, #{times} times for more than 100 ms. " <>
        "It was #{Float.round(slower(), 2)} times slower than usual at most."
    )

    all = Enum.concat([lines | Enum.map(added, &elem(&1, 1))])
    too_long = all |> together() |> Enum.flat_map(&too_long(&1, still))

    missing =
      for name <- unmeasured(), whole?, do: "#{name} was not measured: no clock, or no test"

    case too_long ++ missing do
      [] -> :ok
      wrong -> {:error, wrong}
    end
  end

  defp added, do: :ets.tab2list(@apart)

  # The calls of a NIF in all VMs are judged as those of one.
  defp together(lines) do
    for {_nif, lines} <- Enum.group_by(lines, &{&1.name, &1.dirty?}),
        do: Enum.reduce(lines, &together/2)
  end

  defp together(line, other) do
    %{
      line
      | calls: line.calls + other.calls,
        over: line.over + other.over,
        over_at_all: line.over_at_all + other.over_at_all,
        max: max(line.max, other.max),
        max_alone: max(line.max_alone, other.max_alone)
    }
  end

  # A hypervisor can take the processor away without the system's notice. In 100,000 rounds that happened
  # once. `test/hostile_corpus_test.exs` and `test/ptc_runner/slices_test.exs` repeat their calls and
  # need no such allowance.
  @one_in 20_000

  defp too_long(%{dirty?: false, calls: calls, max: max} = line, {late, times}) do
    over = too_many(line)

    if over > 1 + times + div(calls, @one_in) or max > 5 * @long * slower() + late,
      do: [
        "#{line.name} held a normal scheduler for more than 2 ms in #{over} of #{calls} " <>
          "calls, for #{microseconds(max)} µs at most"
      ],
      else: []
  end

  defp too_long(%{name: name, max: max, max_alone: alone}, {late, _times}) do
    long? =
      if strict?(),
        do: max > @strict_dirty_limit,
        else:
          alone > @dirty_limit * slower() + late or max > @dirty_limit_at_all * slower() + late

    if long? and name not in @vm_calls,
      do: [
        "#{name} held a dirty scheduler for #{microseconds(max)} µs (#{microseconds(alone)} µs undisturbed)"
      ],
      else: []
  end

  # The calls that were the longest of their NIF when they ended, longest first.
  defp longest do
    for {{time, _unique}, nif, test} <-
          @table |> :ets.tab2list() |> Enum.reverse() |> Enum.take(40),
        do: "#{microseconds(time)} µs  #{nif}  #{test}"
  end

  defp row(%{} = line) do
    times = [line.min, line.p50, line.p99, line.max, line.max_alone]
    scheduler = if line.dirty?, do: "dirty", else: "normal"
    over = "#{line.over}/#{line.over_at_all}"
    row([line.name, scheduler, "#{line.calls}" | Enum.map(times, &microseconds/1)] ++ [over])
  end

  defp row([name, scheduler | numbers]) do
    numbers = Enum.map(numbers, &String.pad_leading(&1, 11))
    Enum.join([String.pad_trailing(name, 26), String.pad_trailing(scheduler, 9) | numbers])
  end

  defp microseconds(time), do: :erlang.float_to_binary(time / 1000, decimals: 1)

  @impl GenServer
  def init(_options) do
    {:ok, %{}}
  end

  @impl GenServer
  def handle_cast({:test_finished, test}, before) do
    now =
      for line <- lines(), into: %{}, do: {{line.name, line.dirty?}, {longest(line), over(line)}}

    for {{name, _dirty?} = nif, {time, over}} <- now,
        {time_before, over_before} = Map.get(before, nif, {0, 0}),
        time > time_before or over > over_before do
      if over > over_before, do: measure_again()
      key = {max(time, @limit), System.unique_integer()}
      text = "#{inspect(test.module)}: #{test.name}"
      :ets.insert(@table, {key, name, with_over(text, over - over_before)})
    end

    {:noreply, now}
  end

  def handle_cast(_event, before), do: {:noreply, before}

  defp over(line), do: if(line.dirty?, do: 0, else: line.over_at_all)

  defp with_over(text, 0), do: text
  defp with_over(text, calls), do: "#{text} (#{calls} over the limit, disturbed or not)"

  # 0 if there is nothing new.
  defp longest(%{dirty?: true, max: max}), do: if(max > @dirty_long, do: max, else: 0)
  defp longest(%{max_alone: max}), do: if(max > @limit, do: max, else: 0)
end
