defmodule PtcRunner.CLI.Progress do
  @moduledoc false
  # Shows a progress line on stderr for work that takes longer than a second.

  @first 1_000
  @every 200

  @doc """
  Does the work in the calling process and shows the line meanwhile; returns the result of the work.

      iex> PtcRunner.CLI.Progress.around(fn -> 42 end, 1_000)
      42

  """
  @spec around((() -> result), timeout()) :: result when result: term()
  def around(work, timeout) do
    began = System.monotonic_time(:millisecond)
    # The line's process has the group leader of the caller, and ends with the work.
    {line, monitor} = spawn_monitor(fn -> wait(began, timeout, @first) end)

    try do
      work.()
    after
      send(line, :done)

      receive do
        {:DOWN, ^monitor, :process, ^line, _reason} -> :ok
      end
    end
  end

  defp wait(began, timeout, milliseconds) do
    receive do
      :done -> if milliseconds == @every, do: clear()
    after
      milliseconds ->
        show(System.monotonic_time(:millisecond) - began, timeout, milliseconds)
        wait(began, timeout, @every)
    end
  end

  # If the terminal cannot overwrite a line, only the first line is written.
  defp show(elapsed, timeout, milliseconds) do
    text = "running: #{seconds(elapsed)} s#{limit(timeout)}"

    cond do
      IO.ANSI.enabled?() -> IO.write(:stderr, "\r\e[2K" <> text)
      milliseconds == @first -> IO.write(:stderr, text <> "\n")
      true -> :ok
    end
  end

  defp clear, do: if(IO.ANSI.enabled?(), do: IO.write(:stderr, "\r\e[2K"))

  defp limit(:infinity), do: ""
  defp limit(timeout), do: " of at most #{seconds(timeout)} s"

  defp seconds(milliseconds), do: :erlang.float_to_binary(milliseconds / 1_000, decimals: 1)
end
