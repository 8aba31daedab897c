defmodule PtcRunner.Test.SliceClock do
  @moduledoc """
  Watches how long each NIF holds a normal scheduler's thread while the suite runs, in CPU time of
  that thread: a busy machine does not matter. Started by `test_helper.exs`.

  An ExUnit formatter, so that it knows which tests ran when a call took too long. `report/0` prints
  the table at the end of the suite.
  """

  use GenServer

  alias PtcRunner.Native

  # Which tests may have held a scheduler for too long: those that ended next.
  @table :ptc_slice_clock

  # Without `PTC_STRICT_CLOCK`, in nanoseconds.
  @long 20_000_000

  @typedoc "Calls of a NIF on normal or dirty schedulers; the times are in nanoseconds."
  @type line :: %{
          name: String.t(),
          dirty?: boolean(),
          calls: pos_integer(),
          over: non_neg_integer(),
          min: non_neg_integer(),
          p50: non_neg_integer(),
          p99: non_neg_integer(),
          max: non_neg_integer(),
          total: non_neg_integer()
        }

  @doc "Starts to measure; `false` where the system has no such clock."
  @spec start() :: boolean()
  def start do
    # Belongs to the process that runs the suite: formatters have ended when the report is made.
    :ets.new(@table, [:ordered_set, :named_table, :public])
    Native.clock_switch(true)
  end

  @doc """
  What was measured since `start/0`.

      iex> PtcRunner.Json.run("{}")
      iex> Enum.any?(PtcRunner.Test.SliceClock.lines(), &(&1.name == "run_text"))
      true
  """
  @spec lines() :: [line()]
  def lines do
    for {name, dirty?, calls, over, {min, p50, p99, max, total}} <- Native.clock_read() do
      %{
        name: name,
        dirty?: dirty?,
        calls: calls,
        over: over,
        min: min,
        p50: p50,
        p99: p99,
        max: max,
        total: total
      }
    end
  end

  @doc """
  Whether the limit is 2 ms for every call: `PTC_STRICT_CLOCK=1`, for a machine that does nothing else. What
  the hypervisor takes away counts as CPU time, and fresh memory takes several times as long beside other
  work. So by default the suite fails where a scheduler is held ten times as long.
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

  @doc "For each NIF a number that grows when a call holds a normal scheduler for too long."
  @spec marks() :: %{String.t() => number()}
  def marks do
    for %{dirty?: false} = line <- lines(), mark = mark(line), mark > 0, into: %{} do
      {line.name, mark}
    end
  end

  defp mark(%{over: over, max: max}) do
    cond do
      strict?() -> over
      max > @long -> max
      true -> 0
    end
  end

  @doc "The NIFs of which a call held a normal scheduler for more than 2 ms, and how many did."
  @spec over() :: %{String.t() => pos_integer()}
  def over do
    for %{dirty?: false, over: over, name: name} when over > 0 <- lines(),
        into: %{},
        do: {name, over}
  end

  @doc """
  Calls `fun`; gives its result, and how long the calls of each NIF held a normal scheduler meanwhile: on
  average, in microseconds. Nothing else may call NIFs at the same time.

      iex> program = ~s({"program": {"op": "literal", "value": 1}})
      iex> {_result, times} = PtcRunner.Test.SliceClock.during(fn -> PtcRunner.Json.run(program) end)
      iex> Map.keys(times)
      ["run_text"]
  """
  @spec during((() -> result)) :: {result, %{String.t() => number()}} when result: term()
  def during(fun) do
    before = totals()
    result = fun.()

    times =
      for {name, {calls, total}} <- totals(),
          {calls_before, total_before} = Map.get(before, name, {0, 0}),
          calls > calls_before,
          into: %{},
          do: {name, (total - total_before) / (calls - calls_before) / 1_000}

    {result, times}
  end

  defp totals do
    for %{dirty?: false} = line <- lines(), into: %{}, do: {line.name, {line.calls, line.total}}
  end

  # No NIFs, the clock itself, what runs in another VM, what only inputs of megabytes reach, and what only the
  # benchmarks call.
  @not_measured ~w(load info attach detach clock_switch clock_read take_panics repair_answer_dirty
    stream_new_dirty bare_objects)

  @doc """
  The NIFs that were never measured: a NIF without a clock, or one that no test calls.
  """
  @spec unmeasured() :: [String.t()]
  def unmeasured do
    measured = MapSet.new(lines(), & &1.name)
    names = for {name, _arity} <- Native.__info__(:functions), do: Atom.to_string(name)
    (Enum.uniq(names) -- @not_measured) -- MapSet.to_list(measured)
  end

  @doc """
  Prints what was measured. Returns `:ok`, or what is wrong: calls that held a normal scheduler for too long
  and, if `whole?`, NIFs that were not measured.
  """
  @spec report(whole? :: boolean()) :: :ok | {:error, [String.t()]}
  def report(whole?) do
    lines = lines()
    IO.puts("\nCPU time of the calls in µs (limit on normal schedulers: 2,000)")
    IO.puts(row(["NIF", "scheduler", "calls", "min", "p50", "p99", "max"]))
    Enum.each(lines, &IO.puts(row(&1)))

    too_long =
      for %{dirty?: false, over: over} = line <- lines, too_long?(line) do
        "#{line.name} held a normal scheduler for more than 2 ms in #{over} of #{line.calls} " <>
          "calls, for #{microseconds(line.max)} µs at most"
      end

    missing =
      for name <- unmeasured(), whole?, do: "#{name} was not measured: no clock, or no test"

    Enum.each(too_long ++ culprits(too_long), &IO.puts("  " <> &1))

    case too_long ++ missing do
      [] -> :ok
      wrong -> {:error, wrong}
    end
  end

  # A hypervisor that takes the processor away is counted as CPU time of the thread, and fresh memory
  # takes 7 µs a page on a virtual machine under load: up to 9 ms were measured in tests with a hundred
  # busy callers. So one call in 500 may take a little more. `test/hostile_corpus_test.exs` and
  # `test/ptc_runner/slices_test.exs` repeat their calls and need no such allowance.
  # By default one call in 50 may, since a machine that does other work is slower as a whole.
  @strict {500, 1, 10_000_000}
  @lenient {50, 10, 100_000_000}

  defp too_long?(line) do
    {one_in, some, never} = if strict?(), do: @strict, else: @lenient
    line.over > div(line.calls, one_in) + some or line.max > never
  end

  defp row(%{} = line) do
    times = Enum.map([line.min, line.p50, line.p99, line.max], &microseconds/1)
    scheduler = if line.dirty?, do: "dirty", else: "normal"
    row([line.name, scheduler, "#{line.calls}" | times])
  end

  defp row([name, scheduler | numbers]) do
    numbers = Enum.map(numbers, &String.pad_leading(&1, 11))
    Enum.join([String.pad_trailing(name, 26), String.pad_trailing(scheduler, 9) | numbers])
  end

  defp microseconds(time), do: :erlang.float_to_binary(time / 1000, decimals: 1)

  defp culprits([]), do: []

  defp culprits(_too_long) do
    for {_when, name, test} <- :ets.tab2list(@table), do: "  #{name}: about when #{test} ended"
  end

  @impl GenServer
  def init(_options) do
    {:ok, over()}
  end

  @impl GenServer
  def handle_cast({:test_finished, test}, before) do
    now = over()

    for {name, count} <- now, count > Map.get(before, name, 0) do
      :ets.insert(@table, {System.unique_integer(), name, "#{inspect(test.module)} #{test.name}"})
    end

    {:noreply, now}
  end

  def handle_cast(_event, before), do: {:noreply, before}
end
