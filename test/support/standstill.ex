defmodule PtcRunner.Test.Standstill do
  @moduledoc """
  Notices when the machine stands still, as one of a cloud may for seconds: the clocks go on meanwhile, also those of CPU time. A process of the
  operating system that wants to run fifty times in a second tells by how much it was late.
  """

  @script ~S"""
  last=${EPOCHREALTIME/[.,]/} most=0 count=0
  while read -rt 0.02; (($? > 128)); do
    now=${EPOCHREALTIME/[.,]/}
    late=$((now - last - 20000)) last=$now
    if ((late > most)); then most=$late; fi
    if ((late > 100000)); then count=$((count + 1)); fi
  done
  echo "$most $count"
  """

  @doc """
  Starts to watch. The calling process must live until the end.

      iex> watch = PtcRunner.Test.Standstill.start()
      iex> Process.sleep(50)
      iex> {late, count} = PtcRunner.Test.Standstill.stop(watch)
      iex> late >= 0 and count >= 0
      true

  """
  @spec start() :: port() | nil
  def start do
    if bash = System.find_executable("bash") do
      Port.open({:spawn_executable, bash}, [:binary, line: 100, args: ["-c", @script]])
    end
  end

  @doc """
  For how many nanoseconds the machine stood still at most, and how often for more than 100 ms. Any process may ask, once.
  """
  @spec stop(port() | nil) :: {non_neg_integer(), non_neg_integer()}
  def stop(nil), do: {0, 0}

  def stop(watch) do
    Port.connect(watch, self())
    Port.command(watch, "\n")

    receive do
      {^watch, {:data, {:eol, line}}} ->
        [late, count] = line |> String.split() |> Enum.map(&String.to_integer/1)
        {1_000 * late, count}
    after
      10_000 -> {0, 0}
    end
  rescue
    # It was killed.
    _error in ArgumentError -> {0, 0}
  end
end
