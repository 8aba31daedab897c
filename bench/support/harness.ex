defmodule Bench.Harness do
  @moduledoc false
  # Runs several sides of one comparison fairly. For the reasons see bench/README.md.

  alias Bench.Stats

  @typedoc """
  One way to get a result. `prepare` gets the data and returns the fun that is timed;
  `value` turns what that fun returned into the term that must be the same on all sides.
  """
  @type side :: %{
          name: atom,
          prepare: (data :: map -> (... -> term)),
          value: (term -> term)
        }

  @type group :: %{section: atom, case: atom, rows: pos_integer, origin: atom, sides: [side]}

  @typedoc "Nanoseconds per iteration, sample by sample in the order of the rounds."
  @type measured :: %{iterations: pos_integer, samples: [float]}

  @type result :: %{
          section: atom,
          case: atom,
          rows: pos_integer,
          origin: atom,
          sides: [{atom, measured}]
        }

  @typedoc "`sample_ns`: the approximate duration of a sample; `group_ms`: rounds are repeated until then."
  @type effort :: %{
          sample_ns: pos_integer,
          group_ms: pos_integer,
          min_rounds: pos_integer,
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

  defp compare(group, data, effort) do
    sides = for side <- group.sides, do: {side, side.prepare.(data)}
    check_same!(group, sides)

    funs = for {side, fun} <- sides, do: {side.name, fun, calibrate(fun, effort.sample_ns)}
    started = System.monotonic_time(:millisecond)
    rounds = collect_rounds(funs, effort, started, 0, [])

    measured =
      for {{name, _, iterations}, samples} <- Enum.zip(funs, Enum.zip_with(rounds, & &1)),
          do: {name, %{iterations: iterations, samples: samples}}

    group |> Map.take([:section, :case, :rows, :origin]) |> Map.put(:sides, measured)
  end

  defp check_same!(group, sides) do
    [{first, expected} | rest] = for {side, fun} <- sides, do: {side.name, side.value.(fun.())}

    for {name, value} <- rest, value !== expected do
      raise "#{group.case}, #{group.rows} rows: #{first} gives #{inspect(expected, limit: 20)} " <>
              "but #{name} gives #{inspect(value, limit: 20)}"
    end
  end

  defp calibrate(fun, sample_ns, iterations \\ 1) do
    elapsed = time(fun, iterations)

    if elapsed * 10 < sample_ns,
      do: calibrate(fun, sample_ns, iterations * 8),
      else: max(1, ceil(sample_ns * iterations / elapsed))
  end

  defp collect_rounds(funs, effort, started, count, rounds) do
    spent = System.monotonic_time(:millisecond) - started

    if count < effort.min_rounds or (count < effort.max_rounds and spent < effort.group_ms),
      do: collect_rounds(funs, effort, started, count + 1, [round_of_samples(funs) | rounds]),
      else: Enum.reverse(rounds)
  end

  # A, B, C, A, B, C, ...: a temporary disturbance of the machine affects all sides.
  defp round_of_samples(funs) do
    for {_, fun, iterations} <- funs, do: sample(fun, iterations) / iterations
  end

  # The untimed run comes first, so that the state of the memory allocators and the caches is that of each side
  # itself, not of the side before it (which made a difference of a third for results of many rows).
  defp sample(fun, iterations) do
    fun.()
    settle()
    time(fun, iterations)
  end

  defp time(fun, iterations) do
    started = :erlang.monotonic_time()
    repeat(fun, iterations)
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
