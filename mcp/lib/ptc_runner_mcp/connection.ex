defmodule PtcRunnerMcp.Connection do
  @moduledoc """
  One client of a transport that has two directions: its requests run beside each other, each in a process of its own, which ends when the client
  cancels it, and with it its run and its tools.

  The functions run in the process that owns the transport. It gives each line to `line/2` and each other message to `info/2`.
  """

  alias PtcRunnerMcp.{Caller, Conversation, Message, Protocol, Server}

  # So many requests run at once, and so many bytes of requests may wait.
  @most_running 32
  @most_waiting 64_000_000

  @enforce_keys [:server, :key, :write, :caller]
  defstruct @enforce_keys ++ [running: %{}, waiting: :queue.new(), bytes: 0, asked: %{}, next: 1]

  @opaque t :: %__MODULE__{}

  @doc """
  A connection. `write` is a function of a text that sends it as one line.

      iex> me = self()
      iex> connection = PtcRunnerMcp.Connection.new(PtcRunnerMcp.new([]), &send(me, {:written, &1}))
      iex> connection = PtcRunnerMcp.Connection.line(connection, ~s({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
      iex> connection = receive do message -> PtcRunnerMcp.Connection.info(connection, message) end
      iex> receive do {:written, text} -> text end
      ~s({"id":1,"jsonrpc":"2.0","result":{}})
      iex> PtcRunnerMcp.Connection.close(connection)
      :ok

  """
  @spec new(Server.t(), (String.t() -> term()), Caller.t()) :: t()
  def new(server, write, caller \\ %Caller{}),
    do: %__MODULE__{server: server, key: Server.keep(server), write: write, caller: caller}

  @doc """
  Takes one line. It returns at once: what the line asks for runs in a process.

      iex> connection = PtcRunnerMcp.Connection.new(PtcRunnerMcp.new([]), &send(self(), {:written, &1}))
      iex> PtcRunnerMcp.Connection.line(connection, "garbage")
      iex> receive do {:written, text} -> text end
      ~s({"error":{"code":-32700,"message":"This is no JSON: Unexpected token at position 0"},"id":null,"jsonrpc":"2.0"})

  """
  @spec line(t(), binary()) :: t()
  def line(connection, line) do
    case if(blank?(line), do: :blank, else: Message.read(line)) do
      :blank ->
        connection

      {:request, id, method, params} ->
        request(connection, {id, method, params, byte_size(line)})

      {:notification, "notifications/cancelled", params} ->
        cancel(connection, params["requestId"])

      {:notification, _method, _params} ->
        connection

      {:response, id, response} ->
        answered(connection, id, response)

      {:invalid, answer} ->
        write(connection, answer)
    end
  end

  defp blank?(line), do: byte_size(line) < 100 and String.trim(line) == ""

  @doc """
  Tells the client that a line was too long to be read.

      iex> connection = PtcRunnerMcp.Connection.new(PtcRunnerMcp.new([]), &send(self(), {:written, &1}))
      iex> PtcRunnerMcp.Connection.too_long(connection, 100_000_000, 4_000_000)
      iex> receive do {:written, text} -> text =~ "The message has 100000000 bytes, and no more than 4000000 are read" end
      true

  """
  @spec too_long(t(), pos_integer(), pos_integer()) :: t()
  def too_long(connection, bytes, most) do
    text = "The message has #{bytes} bytes, and no more than #{most} are read"
    write(connection, Protocol.error(nil, {:invalid_request, text}))
  end

  defp request(connection, {id, _method, _params, bytes} = request) do
    cond do
      known?(connection, id) ->
        refuse(connection, id, :invalid_request, "A request with this id is under way")

      map_size(connection.running) < @most_running ->
        start(connection, request)

      connection.bytes + bytes > @most_waiting ->
        refuse(
          connection,
          id,
          :internal_error,
          "Too many requests wait: send this one again later"
        )

      true ->
        waiting = :queue.in(request, connection.waiting)
        %{connection | waiting: waiting, bytes: connection.bytes + bytes}
    end
  end

  # What waits is found when its turn comes.
  defp known?(connection, id), do: Map.has_key?(connection.running, id)

  defp refuse(connection, id, name, text), do: write(connection, Protocol.error(id, {name, text}))

  defp start(connection, {id, "initialize" = method, params, _bytes}) do
    capabilities = if is_map(params["capabilities"]), do: params["capabilities"], else: %{}
    answer = PtcRunnerMcp.answer(connection.server, id, method, params, connection.caller)
    caller = %{connection.caller | capabilities: capabilities}
    write(%{connection | caller: caller}, answer)
  end

  defp start(connection, {id, method, params, _bytes}) do
    owner = self()
    notify = fn method, params -> send(owner, {__MODULE__, :notify, method, params}) end
    caller = %{connection.caller | notify: notify}
    key = connection.key

    {pid, monitor} =
      spawn_monitor(fn ->
        server = Server.kept(key)

        answer =
          Conversation.answer(server, {id, method, params}, caller, &ask(owner, id, &1, &2))

        send(owner, {__MODULE__, :answer, id, self(), Message.write(answer)})
      end)

    %{connection | running: Map.put(connection.running, id, {pid, monitor})}
  end

  # Runs in the process of the request, which waits until the client has answered.
  defp ask(owner, id, method, params) do
    ref = make_ref()
    send(owner, {__MODULE__, :ask, id, {self(), ref}, method, params})

    receive do
      {^ref, response} -> response
    end
  end

  defp answered(connection, id, response) do
    case Map.pop(connection.asked, id) do
      {{pid, ref}, asked} ->
        send(pid, {ref, response})
        %{connection | asked: asked}

      {nil, _asked} ->
        connection
    end
  end

  defp cancel(connection, id) do
    case Map.pop(connection.running, id) do
      {{pid, monitor}, running} ->
        stop(pid, monitor)
        next(%{connection | running: running, asked: without(connection.asked, pid)})

      {nil, _running} ->
        waiting = :queue.filter(fn {other, _, _, _} -> other != id end, connection.waiting)
        bytes = :queue.fold(fn {_, _, _, bytes}, sum -> bytes + sum end, 0, waiting)
        %{connection | waiting: waiting, bytes: bytes}
    end
  end

  defp without(asked, pid),
    do: for({id, {of, ref}} <- asked, of != pid, into: %{}, do: {id, {of, ref}})

  defp stop(pid, monitor) do
    Process.demonitor(monitor, [:flush])
    Process.exit(pid, :kill)
  end

  @doc """
  Takes a message of the connection's processes. Other messages are ignored.

      iex> connection = PtcRunnerMcp.Connection.new(PtcRunnerMcp.new([]), & &1)
      iex> PtcRunnerMcp.Connection.info(connection, :other) == connection
      true

  """
  @spec info(t(), term()) :: t()
  def info(connection, {__MODULE__, :answer, id, pid, text}) do
    case connection.running do
      %{^id => {^pid, monitor}} ->
        Process.demonitor(monitor, [:flush])
        connection.write.(text)
        next(%{connection | running: Map.delete(connection.running, id)})

      # It was cancelled.
      _other ->
        connection
    end
  end

  def info(connection, {__MODULE__, :notify, method, params}),
    do: write(connection, %{"jsonrpc" => "2.0", "method" => method, "params" => params})

  def info(connection, {__MODULE__, :ask, id, {pid, _ref} = from, method, params}) do
    case connection.running do
      %{^id => {^pid, _monitor}} ->
        name = "ptc-#{connection.next}"
        asked = Map.put(connection.asked, name, from)
        request = %{"jsonrpc" => "2.0", "id" => name, "method" => method, "params" => params}
        write(%{connection | asked: asked, next: connection.next + 1}, request)

      _other ->
        connection
    end
  end

  def info(connection, {:DOWN, monitor, :process, pid, reason}) do
    case Enum.find(connection.running, &match?({_id, {^pid, ^monitor}}, &1)) do
      {id, _process} ->
        text = "The request ended: " <> (reason |> inspect() |> String.slice(0, 200))
        running = Map.delete(connection.running, id)
        connection = %{connection | running: running, asked: without(connection.asked, pid)}
        connection |> refuse(id, :internal_error, text) |> next()

      nil ->
        connection
    end
  end

  def info(connection, _other), do: connection

  # What is answered at once takes no room, so the next one has its turn.
  defp next(%{running: running} = connection) when map_size(running) >= @most_running,
    do: connection

  defp next(connection) do
    case :queue.out(connection.waiting) do
      {{:value, {id, _method, _params, bytes} = request}, waiting} ->
        connection = %{connection | waiting: waiting, bytes: connection.bytes - bytes}

        if known?(connection, id),
          do: connection |> request(request) |> next(),
          else: connection |> start(request) |> next()

      {:empty, _waiting} ->
        connection
    end
  end

  defp write(connection, message) do
    connection.write.(Message.write(message))
    connection
  end

  @doc """
  Whether a request runs or waits.

      iex> PtcRunnerMcp.Connection.busy?(PtcRunnerMcp.Connection.new(PtcRunnerMcp.new([]), & &1))
      false

  """
  @spec busy?(t()) :: boolean()
  def busy?(connection), do: connection.running != %{}

  @doc """
  Ends all requests with their runs and tools.

      iex> PtcRunnerMcp.Connection.close(PtcRunnerMcp.Connection.new(PtcRunnerMcp.new([]), & &1))
      :ok

  """
  @spec close(t()) :: :ok
  def close(connection) do
    for {_id, {pid, monitor}} <- connection.running, do: stop(pid, monitor)
    Server.forget(connection.key)
  end
end
