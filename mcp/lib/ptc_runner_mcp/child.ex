defmodule PtcRunnerMcp.Child do
  @moduledoc """
  The operating system's process of another server: it is started in a group of its own, and ends with all that it has started.
  """

  # A server that is told to end has so many milliseconds, and then as many again.
  @patience 400

  @typedoc "A port, and the id of its process."
  @type t :: {port(), non_neg_integer() | nil}

  @doc """
  Starts a command. Its standard error is that of this VM.

      iex> {:ok, child} = PtcRunnerMcp.Child.start("cat", [], %{}, nil)
      iex> PtcRunnerMcp.Child.write(child, "hello")
      iex> receive do {_port, {:data, data}} -> data end
      "hello\\n"
      iex> PtcRunnerMcp.Child.stop(child)
      :ok
      iex> PtcRunnerMcp.Child.start("no such command", [], %{}, nil)
      {:error, ~s(there is no command "no such command")}

  """
  @spec start(String.t(), [String.t()], %{String.t() => String.t()}, String.t() | nil) ::
          {:ok, t()} | {:error, String.t()}
  def start(command, args, env, cwd) do
    case System.find_executable(command) do
      nil ->
        {:error, "there is no command #{inspect(command)}"}

      path ->
        # What seals paused runs is nobody else's.
        hidden = for name <- ["PTC_MCP_KEYS", "PTC_MCP_FDS"], do: {to_charlist(name), false}
        env = hidden ++ for({name, value} <- env, do: {to_charlist(name), to_charlist(value)})
        folder = if cwd, do: [cd: cwd], else: []
        opts = [:binary, :exit_status, :hide, args: args, env: env] ++ folder
        port = Port.open({:spawn_executable, path}, opts)
        {:ok, {port, os_pid(port)}}
    end
  rescue
    error in [ErlangError, ArgumentError] ->
      {:error, "it cannot be started: #{Exception.message(error)}"}
  end

  defp os_pid(port) do
    case Port.info(port, :os_pid) do
      {:os_pid, pid} -> pid
      nil -> nil
    end
  end

  @doc """
  Writes one line. A process that has ended is told by a message of its port.

      iex> {:ok, child} = PtcRunnerMcp.Child.start("cat", [], %{}, nil)
      iex> PtcRunnerMcp.Child.write(child, ["a", "b"])
      :ok
      iex> receive do {_port, {:data, data}} -> data end
      "ab\\n"
      iex> PtcRunnerMcp.Child.stop(child)
      iex> PtcRunnerMcp.Child.write(child, "late")
      :ok

  """
  @spec write(t(), iodata()) :: :ok
  def write({port, _pid}, text) do
    Port.command(port, [text, ?\n])
    :ok
  rescue
    ArgumentError -> :ok
  end

  @doc """
  Closes the input of the process, and ends its group if that is not enough.

      iex> {:ok, child} = PtcRunnerMcp.Child.start("sleep", ["100"], %{}, nil)
      iex> {PtcRunnerMcp.Child.stop(child), PtcRunnerMcp.Child.stop(child)}
      {:ok, :ok}

  """
  @spec stop(t()) :: :ok
  def stop({port, pid}) do
    if Port.info(port), do: Port.close(port)
    if pid && not gone?(pid, @patience), do: end_group(pid)
    :ok
  rescue
    # It has ended in between.
    ArgumentError -> :ok
  end

  defp end_group(pid) do
    signal("-TERM", pid)
    if not gone?(pid, @patience), do: signal("-KILL", pid)
  end

  # By the clock: on a busy machine each look takes long, and who ends this process does not wait for ever.
  defp gone?(pid, patience), do: gone_until?(pid, System.monotonic_time(:millisecond) + patience)

  defp gone_until?(pid, until) do
    cond do
      signal("-0", pid) != 0 ->
        true

      System.monotonic_time(:millisecond) >= until ->
        false

      true ->
        Process.sleep(20)
        gone_until?(pid, until)
    end
  end

  # The process leads its group. Right after its start it has none yet: then the process itself has the signal.
  defp signal(name, pid) do
    with status when status != 0 <- kill(name, "-#{pid}"), do: kill(name, "#{pid}")
  end

  defp kill(name, target) do
    {_text, status} = System.cmd("kill", [name, "--", target], stderr_to_stdout: true)
    status
  end
end
