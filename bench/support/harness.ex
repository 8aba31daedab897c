defmodule Bench.Harness do
  @moduledoc false
  # Runs several sides of one comparison fairly. For the reasons see bench/README.md.

  alias Bench.{Budget, Stats}

  # The least number of rounds: of a group, and of one with many rows.
  @rounds 5
  @few_rounds 3
  # Nanoseconds.
  @long_run 1_500_000_000

  @typedoc """
  One way to get a result. `prepare` gets the data and returns the fun that is timed;
  `value` turns what that fun returned into the term that must be the same on all sides.
  """
  @type side :: %{
          name: atom,
          prepare: (data :: map -> (... -> term)),
          value: (term -> term)
        }

  @typedoc "A group with the key `:weight` has another one than its rows say: see `Bench.Budget`."
  @type group :: %{
          required(:section) => atom,
          required(:case) => atom,
          required(:rows) => pos_integer,
          required(:origin) => atom,
          required(:sides) => [side],
          optional(:also) => [atom],
          optional(:weight) => pos_integer
        }

  @typedoc "Nanoseconds per iteration, sample by sample in the order of the rounds."
  @type measured :: %{iterations: pos_integer, samples: [float]}

  @type result :: %{
          section: atom,
          case: atom,
          rows: pos_integer,
          origin: atom,
          rounds: pos_integer,
          seconds: float,
          sides: [{atom, measured}]
        }

  @typedoc "`sample_ns`: the approximate duration of a sample; `budget`: says until when rounds are repeated."
  @type effort :: %{
          sample_ns: pos_integer,
          budget: Bench.Budget.t(),
          max_rounds: pos_integer
        }

  @doc """
  Measures all groups over the same data in one new process that owns this data.

  `on_result` is called in the calling process, as soon as a group is measured.
  """
  @spec measure((... -> map), [group], effort, (result -> term)) :: [result]
  def measure(make_data, groups, effort, on_result) do
    parent = self()

    owner = fn ->
      Process.flag(:priority, :high)
      Budget.take(effort.budget, {:data, groups})
      data = make_data.()
      for group <- groups, do: send(parent, {self(), compare(group, data, effort)})
    end

    {pid, monitor} = spawn_monitor(owner)
    results = for _ <- groups, do: receive_result(pid, monitor, on_result)
    Process.demonitor(monitor, [:flush])
    results
  end

  defp receive_result(pid, monitor, on_result) do
    receive do
      {^pid, result} ->
        on_result.(result)
        result

      {:DOWN, ^monitor, _, _, reason} ->
        raise "the measuring process ended: #{Exception.format_exit(reason)}"
    end
  end

  # The time of a group includes its warm-up: the check and the calibration.
  defp compare(group, data, effort) do
    started = System.monotonic_time(:millisecond)
    until = started + Budget.take(effort.budget, group)
    sides = for side <- group.sides, do: {side, side.prepare.(data)}
    first = check_same!(group, sides)

    funs =
      for {{side, fun}, elapsed} <- Enum.zip(sides, first),
          do: {side.name, fun, calibrate(fun, effort.sample_ns, elapsed), elapsed < @long_run}

    rounds = collect_rounds(funs, rounds(group, effort), until, 0, [])

    measured =
      for {{name, _, iterations, _}, samples} <- Enum.zip(funs, Enum.zip_with(rounds, & &1)),
          do: {name, %{iterations: iterations, samples: samples}}

    seconds = (System.monotonic_time(:millisecond) - started) / 1_000

    group
    |> Map.take([:section, :case, :rows, :origin])
    |> Map.merge(%{sides: measured, rounds: length(rounds), seconds: seconds})
  end

  # Returns how long each side took.
  defp check_same!(group, sides) do
    [{first, expected, _} | rest] =
      checked =
      for {side, fun} <- sides do
        {elapsed, result} = timed(fun)
        {side.name, side.value.(result), elapsed}
      end

    for {name, value, _} <- rest, value !== expected do
      raise "#{group.case}, #{group.rows} rows: #{first} gives #{inspect(expected, limit: 20)} " <>
              "but #{name} gives #{inspect(value, limit: 20)}"
    end

    for {_, _, elapsed} <- checked, do: elapsed
  end

  # A side that took ten samples' time at first is one iteration, however cold it was.
  defp calibrate(_fun, sample_ns, first) when first > 10 * sample_ns, do: 1
  defp calibrate(fun, sample_ns, _first), do: iterations(fun, sample_ns, 1)

  defp iterations(fun, sample_ns, iterations) do
    elapsed = time(fun, iterations)

    if elapsed * 10 < sample_ns,
      do: iterations(fun, sample_ns, iterations * 8),
      else: max(1, ceil(sample_ns * iterations / elapsed))
  end

  defp rounds(group, effort),
    do:
      if(Budget.heavy?(group),
        do: {@few_rounds, effort.max_rounds},
        else: {@rounds, effort.max_rounds}
      )

  # A round that would end after the group's time is not begun, unless there are too few.
  defp collect_rounds(funs, {least, most}, until, last, rounds) do
    count = length(rounds)
    now = System.monotonic_time(:millisecond)

    if count < least or (count < most and now + last <= until) do
      samples = round_of_samples(funs)
      last = System.monotonic_time(:millisecond) - now
      collect_rounds(funs, {least, most}, until, last, [samples | rounds])
    else
      Enum.reverse(rounds)
    end
  end

  # A, B, C, A, B, C, ...: a temporary disturbance of the machine affects all sides.
  defp round_of_samples(funs) do
    for {_, fun, iterations, untimed?} <- funs,
        do: sample(fun, iterations, untimed?) / iterations
  end

  # The untimed run comes first, so that the state of the memory allocators and the caches is that of each side
  # itself, not of the side before it (which made a difference of a third for results of many rows). A run that takes
  # seconds is not run twice for a sample.
  defp sample(fun, iterations, untimed?) do
    if untimed?, do: fun.()
    settle()
    time(fun, iterations)
  end

  defp time(fun, iterations) do
    started = :erlang.monotonic_time()
    repeat(fun, iterations)
    nanoseconds_since(started)
  end

  defp timed(fun) do
    started = :erlang.monotonic_time()
    result = fun.()
    {nanoseconds_since(started), result}
  end

  defp nanoseconds_since(started) do
    elapsed = :erlang.monotonic_time() - started
    max(1, System.convert_time_unit(elapsed, :native, :nanosecond))
  end

  # The same start for every sample. The full collection frees the garbage of the previous sample.
  # The minor one moves the data to the old generation, where a process that has had its data for a
  # while keeps them. Collections during the sample then copy only data of this sample.
  defp settle do
    :erlang.garbage_collect()
    :erlang.garbage_collect(self(), type: :minor)
  end

  # The compiler does not know which fun this is, so it cannot remove a call, although no result is used.
  defp repeat(fun, 1), do: fun.()

  defp repeat(fun, iterations) do
    fun.()
    repeat(fun, iterations - 1)
  end

  @doc "The measured side of that name, or nil."
  @spec side(result, atom) :: measured | nil
  def side(result, name), do: Keyword.get(result.sides, name)

  @doc "Median nanoseconds per iteration."
  @spec median(measured) :: float
  def median(measured), do: Stats.median(measured.samples)

  @doc "How many times as long side `name` takes as side `reference`; nil when one of them was not measured."
  @spec ratio(result, atom, atom) :: float | nil
  def ratio(result, name, reference) do
    with %{samples: a} <- side(result, name),
         %{samples: b} <- side(result, reference),
         do: Stats.ratio(a, b)
  end
end
