defmodule PtcRunnerMcp.Stdio do
  @moduledoc """
  The transport over standard input and output: a message in each line.

  A VM writes more than protocol to its standard output: logs, what a compiler says, what a tool prints. So the protocol has descriptors of its
  own. `bin/ptc-mcp` starts the VM with the client's input and output as the descriptors 3 and 4, and with its standard output as the
  standard error.
  """

  alias PtcRunnerMcp.{Connection, Lines, Message, Server, Writer}

  # What runs when the input ends has so many milliseconds to answer.
  @grace 1_500
  # So many bytes of answers wait for a client that does not read. Then it is as if it had gone.
  @unread 16_000_000

  @doc """
  Serves one client until its input ends. Options: `:fds`, the descriptors to read from and to write to; `:most`, the bytes of a message, by
  default 4,000,000; `:grace`, the milliseconds that requests have to end after the input.

  `:unread` says that the client has let 16 MB of answers wait without reading them. They are lost.
  """
  @spec serve(Server.t(), keyword()) :: :ok | :unread
  def serve(server, opts \\ []) do
    {from, to} = Keyword.get(opts, :fds, {3, 4})
    # A tool that prints does it on the standard error.
    Process.group_leader(self(), Process.whereis(:standard_error))
    # A client that is gone ends this process with a message, and not with an exit.
    Process.flag(:trap_exit, true)
    port = Port.open({:fd, from, to}, [:binary, :eof])
    lines = %Lines{most: Keyword.get(opts, :most, Message.most())}
    writer = Writer.start(port, @unread)
    connection = Connection.new(server, &Writer.write(writer, &1))
    connection = read({port, writer}, lines, connection)
    until = System.monotonic_time(:millisecond) + Keyword.get(opts, :grace, @grace)
    connection |> finish(until) |> Connection.close()
    unread? = Writer.full?(writer)
    if not unread?, do: Writer.flush(writer, left(until))
    # A write that waits for the client ends with its process.
    Process.unlink(writer.pid)
    Process.exit(writer.pid, :kill)
    if unread?, do: :unread, else: :ok
  end

  # A client that reads none of its answers is as one that has gone.
  defp read({_port, writer} = transport, lines, connection) do
    if Writer.full?(writer), do: connection, else: next(transport, lines, connection)
  end

  defp next({port, _writer} = transport, lines, connection) do
    receive do
      {^port, {:data, piece}} ->
        lines(transport, Lines.add(lines, piece), connection)

      # The last line is half of one.
      {^port, :eof} when lines.bytes > 0 ->
        {_lines, connection} = line(Lines.add(lines, "\n"), connection)
        connection

      {^port, :eof} ->
        connection

      # The client does not read any more.
      {:EXIT, ^port, _reason} ->
        connection

      message ->
        read(transport, lines, Connection.info(connection, message))
    end
  end

  defp lines(transport, {:more, lines}, connection), do: read(transport, lines, connection)

  defp lines({_port, writer} = transport, found, connection) do
    {lines, connection} = line(found, connection)

    if Writer.full?(writer),
      do: connection,
      else: lines(transport, Lines.next(lines), connection)
  end

  defp line({:line, line, lines}, connection), do: {lines, Connection.line(connection, line)}

  defp line({:too_long, bytes, lines}, connection),
    do: {lines, Connection.too_long(connection, bytes, lines.most)}

  defp finish(connection, until) do
    left = left(until)

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

  defp left(until), do: max(0, until - System.monotonic_time(:millisecond))
end
