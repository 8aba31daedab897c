defmodule PtcRunnerMcp.Writer do
  @moduledoc """
  Writes lines to a port, in a process of its own: a client that reads slowly does not hold who serves it. How many bytes wait is counted, so
  that a client that never reads is noticed before they fill the memory.
  """

  @enforce_keys [:pid, :waiting, :most]
  defstruct @enforce_keys

  @typedoc "A writer, the counter of the bytes that wait, and the maximum of them."
  @type t :: %__MODULE__{pid: pid(), waiting: :atomics.atomics_ref(), most: pos_integer()}

  @doc """
  Starts a writer that ends with the calling process. `most` is the number of bytes that may wait.

      iex> {:ok, child} = PtcRunnerMcp.Child.start("cat", [], %{}, nil)
      iex> writer = PtcRunnerMcp.Writer.start(elem(child, 0), 1_000)
      iex> PtcRunnerMcp.Writer.write(writer, "hello")
      :ok
      iex> receive do {_port, {:data, data}} -> data end
      "hello\\n"
      iex> PtcRunnerMcp.Child.stop(child)
      :ok

  """
  @spec start(port(), pos_integer()) :: t()
  def start(port, most) do
    waiting = :atomics.new(1, [])
    %__MODULE__{pid: spawn_link(fn -> loop(port, waiting) end), waiting: waiting, most: most}
  end

  @doc "Writes one line. What does not fit any more is not written: see `full?/1`."
  @spec write(t(), binary()) :: :ok
  def write(writer, line) do
    if not full?(writer) do
      :atomics.add(writer.waiting, 1, byte_size(line) + 1)
      send(writer.pid, {:write, line})
    end

    :ok
  end

  @doc """
  Whether as many bytes wait as may: the client does not read.

      iex> {:ok, child} = PtcRunnerMcp.Child.start("sleep", ["100"], %{}, nil)
      iex> writer = PtcRunnerMcp.Writer.start(elem(child, 0), 1_000_000)
      iex> for _ <- 1..100, do: PtcRunnerMcp.Writer.write(writer, String.duplicate("x", 100_000))
      iex> PtcRunnerMcp.Writer.full?(writer)
      true
      iex> PtcRunnerMcp.Child.stop(child)
      :ok

  """
  @spec full?(t()) :: boolean()
  def full?(writer), do: :atomics.get(writer.waiting, 1) >= writer.most

  @doc "Waits until all lines are written, at most so many milliseconds."
  @spec flush(t(), non_neg_integer()) :: :ok
  def flush(writer, timeout) do
    monitor = Process.monitor(writer.pid)
    send(writer.pid, {:flush, self(), monitor})

    receive do
      {:flushed, ^monitor} -> Process.demonitor(monitor, [:flush])
      {:DOWN, ^monitor, :process, _pid, _reason} -> true
    after
      timeout -> Process.demonitor(monitor, [:flush])
    end

    :ok
  end

  # The port's owner is told that a client is gone.
  defp loop(port, waiting) do
    receive do
      {:write, line} ->
        try do
          Port.command(port, [line, ?\n])
        rescue
          ArgumentError -> false
        end

        :atomics.sub(waiting, 1, byte_size(line) + 1)

      {:flush, from, monitor} ->
        send(from, {:flushed, monitor})
    end

    loop(port, waiting)
  end
end
