defmodule PtcRunnerMcp.Stdio do
  @moduledoc """
  The transport over standard input and output: a message in each line.

  A VM writes more than protocol to its standard output: logs, what a compiler says, what a tool prints. So the protocol has descriptors of its
  own. `bin/ptc-mcp` starts the VM with the client's input and output as the descriptors 3 and 4, and with its standard output as the
  standard error.
  """

  alias PtcRunnerMcp.{Connection, Lines, Message, Server}

  @line 65_536
  # What runs when the input ends has so many milliseconds to answer.
  @grace 1_500

  @doc """
  Serves one client until its input ends. Options: `:fds`, the descriptors to read from and to write to; `:most`, the bytes of a message, by
  default 4,000,000; `:grace`, the milliseconds that requests have to end after the input.
  """
  @spec serve(Server.t(), keyword()) :: :ok
  def serve(server, opts \\ []) do
    {from, to} = Keyword.get(opts, :fds, {3, 4})
    # A tool that prints does it on the standard error.
    Process.group_leader(self(), Process.whereis(:standard_error))
    # A client that is gone ends this process with a message, and not with an exit.
    Process.flag(:trap_exit, true)
    port = Port.open({:fd, from, to}, [:binary, :eof, {:line, @line}])
    lines = %Lines{most: Keyword.get(opts, :most, Message.most())}
    connection = Connection.new(server, &write(port, &1))
    connection = read(port, lines, connection)
    until = System.monotonic_time(:millisecond) + Keyword.get(opts, :grace, @grace)
    connection |> finish(until) |> Connection.close()
  end

  # A port that is closed has sent a message, which is read next.
  defp write(port, text) do
    Port.command(port, [text, ?\n])
  rescue
    ArgumentError -> false
  end

  defp read(port, lines, connection) do
    receive do
      {^port, {:data, piece}} ->
        {lines, connection} = piece(Lines.add(lines, piece), connection)
        read(port, lines, connection)

      # The last line is half of one.
      {^port, :eof} when lines.bytes > 0 ->
        {_lines, connection} = piece(Lines.add(lines, {:eol, ""}), connection)
        connection

      {^port, :eof} ->
        connection

      # The client does not read any more.
      {:EXIT, ^port, _reason} ->
        connection

      message ->
        read(port, lines, Connection.info(connection, message))
    end
  end

  defp piece({:more, lines}, connection), do: {lines, connection}
  defp piece({:line, line, lines}, connection), do: {lines, Connection.line(connection, line)}

  defp piece({:too_long, bytes, lines}, connection),
    do: {lines, Connection.too_long(connection, bytes, lines.most)}

  defp finish(connection, until) do
    left = until - System.monotonic_time(:millisecond)

    if Connection.busy?(connection) and left > 0 do
      receive do
        message -> connection |> Connection.info(message) |> finish(until)
      after
        left -> connection
      end
    else
      connection
    end
  end
end
