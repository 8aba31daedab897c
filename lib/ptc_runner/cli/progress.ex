defmodule PtcRunner.CLI.Progress do
  @moduledoc false
  # Shows a progress line on stderr for work that takes longer than a second, and at once for work over a large file.

  @first 1_000
  @every 200
  # In bytes.
  @large 50_000_000
  @megabyte 1_000_000

  @doc """
  Whether the progress of work over so many bytes is shown at once: only on a terminal.

      iex> PtcRunner.CLI.Progress.large?(50_000_001, true)
      true

      iex> PtcRunner.CLI.Progress.large?(50_000_001, false)
      false

      iex> PtcRunner.CLI.Progress.large?(50_000_000, true)
      false

  """
  @spec large?(non_neg_integer(), boolean()) :: boolean()
  def large?(bytes, terminal? \\ terminal?()), do: bytes > @large and terminal?

  # The process of stderr knows how wide it is only if it is a terminal.
  defp terminal?, do: match?({:ok, _columns}, :io.columns(:standard_error))

  @doc """
  Does the work with a function that counts bytes, and shows how many of `bytes` were counted; returns the result of the work.

      iex> ExUnit.CaptureIO.capture_io(:stderr, fn ->
      ...>   PtcRunner.CLI.Progress.counting("reading", 4_000_000, fn count -> count.(3_000_000) end)
      ...> end)
      "\\r\\e[2Kreading: 0 of 4 MB\\r\\e[2Kreading: 3 of 4 MB\\r\\e[2K"

  """
  @spec counting(String.t(), non_neg_integer(), ((non_neg_integer() -> :ok) -> result)) :: result
        when result: term()
  def counting(what, bytes, work) do
    counter = :counters.new(1, [])

    show = fn ->
      overwrite("#{what}: #{megabytes(:counters.get(counter, 1))} of #{megabytes(bytes)} MB")
    end

    show.()

    result =
      work.(fn more ->
        :counters.add(counter, 1, more)
        show.()
      end)

    overwrite("")
    result
  end

  defp overwrite(text), do: IO.write(:stderr, "\r\e[2K" <> text)

  defp megabytes(bytes), do: div(bytes, @megabyte)

  @doc """
  Does the work in the calling process and shows the line meanwhile; returns the result of the work. `over`: the bytes that the
  work is over.

      iex> PtcRunner.CLI.Progress.around(fn -> 42 end, 1_000)
      42

  """
  @spec around((() -> result), timeout(), non_neg_integer()) :: result when result: term()
  def around(work, timeout, over \\ 0) do
    began = System.monotonic_time(:millisecond)
    first = if large?(over), do: @every, else: @first
    over = if over > @large, do: " over #{megabytes(over)} MB", else: ""
    # The line's process has the group leader of the caller, and ends with the work.
    {line, monitor} = spawn_monitor(fn -> wait(began, limit(timeout) <> over, first) end)

    try do
      work.()
    after
      send(line, :done)

      receive do
        {:DOWN, ^monitor, :process, ^line, _reason} -> :ok
      end
    end
  end

  defp wait(began, limits, milliseconds, shown? \\ false) do
    receive do
      :done -> if shown? and IO.ANSI.enabled?(), do: overwrite("")
    after
      milliseconds ->
        show(System.monotonic_time(:millisecond) - began, limits, shown?)
        wait(began, limits, @every, true)
    end
  end

  # If the terminal cannot overwrite a line, only the first line is written.
  defp show(elapsed, limits, shown?) do
    text = "running: #{seconds(elapsed)} s#{limits}"

    cond do
      IO.ANSI.enabled?() -> overwrite(text)
      shown? -> :ok
      true -> IO.write(:stderr, text <> "\n")
    end
  end

  defp limit(:infinity), do: ""
  defp limit(timeout), do: " of at most #{seconds(timeout)} s"

  defp seconds(milliseconds), do: :erlang.float_to_binary(milliseconds / 1_000, decimals: 1)
end
