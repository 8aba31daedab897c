defmodule PtcRunnerMcp.Client do
  @moduledoc """
  A client of one other server, over standard input and output. It is a process of its own, so a server that is slow or dead holds nobody else.

  A server that ends is started again, up to five times in a minute. One that floods its output, or that does not begin to speak in time, is ended as if
  it had ended itself.
  """

  use GenServer, restart: :transient

  alias PtcRunner.Json.Codec
  alias PtcRunnerMcp.{Child, Config, Lines, Protocol}

  @version "2025-11-25"
  # Milliseconds to begin, restarts in as many milliseconds, bytes of a message, pages and tools of a list.
  @start 30_000
  @restarts 5
  @within 60_000
  @message 16_000_000
  @pages 50
  @tools 5_000
  # Points of what a server may write between two answers: of a notification, and of a line that is no message.
  @noise 10_000
  @note 1
  @garbage 20
  # Milliseconds between two lists: a server may say after each of them that it has changed.
  @between 1_000

  defstruct [:config, :owner, :child, :start, lines: %Lines{most: @message}] ++
              [status: :starting, era: :handshake, pending: %{}, next: 1, starts: [], noise: 0] ++
              [listed: 0, anew: nil]

  @doc """
  Starts a client. It tells `owner` with `{PtcRunnerMcp.Client, name, status}` what becomes of its server: `{:ready, tools}` with what the server
  lists, and `{:down, reason}`. The option `:start` is the milliseconds in which a server must list its tools.

      iex> {:ok, [config]} = PtcRunnerMcp.Config.parse(~s({"mcpServers": {"a": {"command": "/no/such/command"}}}))
      iex> {:ok, _pid} = PtcRunnerMcp.Client.start_link({config, self(), []})
      iex> receive do {PtcRunnerMcp.Client, "a", status} -> status end
      {:down, ~s(the server a does not run: there is no command "/no/such/command")}

  """
  @spec start_link({Config.t(), pid(), keyword()}) :: GenServer.on_start()
  def start_link({config, owner, opts}),
    do: GenServer.start_link(__MODULE__, {config, owner, opts})

  @doc """
  Calls a tool: the result of `tools/call`, or an error in words for the model.

      iex> PtcRunnerMcp.Client.call(spawn(fn -> :ok end), "echo", %{}, 1_000)
      {:error, "the server of this tool does not run any more"}

  """
  @spec call(pid(), String.t(), map(), timeout()) :: {:ok, map()} | {:error, String.t()}
  def call(client, name, args, timeout) do
    GenServer.call(client, {:call, name, args, timeout}, :infinity)
  catch
    :exit, _reason -> {:error, "the server of this tool does not run any more"}
  end

  @impl true
  def init({config, owner, opts}) do
    Process.flag(:trap_exit, true)

    {:ok, %__MODULE__{config: config, owner: owner, start: Keyword.get(opts, :start, @start)},
     {:continue, :start}}
  end

  @impl true
  def handle_continue(:start, state), do: {:noreply, begin(state)}

  @impl true
  def handle_call({:call, _name, _args, _timeout}, _from, %{status: {:down, why}} = state),
    do: {:reply, {:error, why}, state}

  def handle_call({:call, _name, _args, _timeout}, _from, %{status: :starting} = state),
    do: {:reply, {:error, "the server #{state.config.name} starts just now: try again"}, state}

  def handle_call({:call, name, args, timeout}, {caller, _tag} = from, state) do
    monitor = Process.monitor(caller)
    params = %{"name" => name, "arguments" => args}
    {:noreply, request(state, "tools/call", params, {:call, from, monitor}, timeout)}
  end

  @impl true
  def handle_info({port, {:data, piece}}, %{child: {port, _pid}} = state),
    do: {:noreply, read(state, Lines.add(state.lines, piece))}

  def handle_info({port, {:exit_status, status}}, %{child: {port, _pid}} = state),
    do: {:noreply, ended(state, "it ended with status #{status}")}

  # A process that has ended before it was written to may be told in this way only.
  def handle_info({:EXIT, port, _reason}, %{child: {port, _pid}} = state),
    do: {:noreply, ended(state, "it has closed its input")}

  def handle_info({:timeout, id}, state) do
    case Map.pop(state.pending, id) do
      {{{:call, from, monitor}, _timer}, pending} ->
        Process.demonitor(monitor, [:flush])
        GenServer.reply(from, {:error, "the server #{state.config.name} did not answer in time"})
        {:noreply, cancelled(%{state | pending: pending}, id)}

      {{_own, _timer}, pending} ->
        {:noreply, ended(%{state | pending: pending}, "it did not list its tools in time")}

      {nil, _pending} ->
        {:noreply, state}
    end
  end

  # Nobody waits for the answer any more.
  def handle_info({:DOWN, monitor, :process, _pid, _reason}, state) do
    case Enum.find(state.pending, &match?({_id, {{:call, _from, ^monitor}, _timer}}, &1)) do
      {id, {_what, timer}} ->
        Process.cancel_timer(timer)
        {:noreply, cancelled(%{state | pending: Map.delete(state.pending, id)}, id)}

      nil ->
        {:noreply, state}
    end
  end

  def handle_info(:list, %{status: :ready} = state),
    do: {:noreply, list(%{state | anew: nil}, nil, [], 1)}

  def handle_info(:list, state), do: {:noreply, %{state | anew: nil}}
  def handle_info(:begin, state), do: {:noreply, begin(state)}
  # Of a process that was ended before.
  def handle_info(_other, state), do: {:noreply, state}

  @impl true
  def terminate(_reason, state) do
    if state.child, do: Child.stop(state.child)
    :ok
  end

  defp begin(%{config: config} = state) do
    now = System.monotonic_time(:millisecond)
    starts = Enum.filter(state.starts, &(&1 > now - @within))

    if length(starts) > @restarts do
      down(
        %{state | starts: starts},
        "the server #{config.name} does not run: it ended #{length(starts)} times in a minute"
      )
    else
      state = %{
        state
        | starts: [now | starts],
          lines: %Lines{most: @message},
          noise: 0,
          status: :starting
      }

      case Child.start(config.command, config.args, config.env, config.cwd) do
        {:ok, child} -> hello(%{state | child: child})
        {:error, why} -> down(state, "the server #{config.name} does not run: #{why}")
      end
    end
  end

  defp hello(state) do
    params = %{
      "protocolVersion" => @version,
      "capabilities" => %{},
      "clientInfo" => Protocol.me()
    }

    request(%{state | era: :handshake}, "initialize", params, :initialize, state.start)
  end

  defp request(state, method, params, what, timeout) do
    id = state.next

    params =
      if state.era == :modern,
        do: Map.put(params, "_meta", Protocol.envelope(hd(Protocol.modern()))),
        else: params

    write(state, %{"jsonrpc" => "2.0", "id" => id, "method" => method, "params" => params})
    timer = Process.send_after(self(), {:timeout, id}, timeout)
    %{state | next: id + 1, pending: Map.put(state.pending, id, {what, timer})}
  end

  defp cancelled(state, id) do
    params = %{"requestId" => id, "reason" => "nobody waits for the answer"}
    write(state, %{"jsonrpc" => "2.0", "method" => "notifications/cancelled", "params" => params})
    state
  end

  # Arguments come from a program and may have what JSON does not have.
  defp write(%{child: nil}, _message), do: :ok
  defp write(state, message), do: Child.write(state.child, PtcRunnerMcp.Message.write(message))

  defp read(state, {:more, lines}) when lines.bytes > @message,
    do: ended(state, "it wrote a message of more than #{@message} bytes")

  defp read(state, {:more, lines}), do: %{state | lines: lines}

  defp read(state, {:too_long, bytes, _lines}),
    do: ended(state, "it wrote a message of #{bytes} bytes")

  defp read(state, {:line, line, lines}) do
    case %{state | lines: lines} |> line(line) |> quiet() do
      %{child: nil} = ended -> ended
      state -> read(state, Lines.next(state.lines))
    end
  end

  # A port does not wait until its lines are read. So what is no message is not looked at for long.
  defp line(state, <<first, _rest::binary>>) when first not in [?{, ?\s],
    do: noise(state, @garbage)

  defp line(state, ""), do: noise(state, @note)

  defp line(state, line) do
    case Codec.decode(line, depth: 512) do
      {:ok, %{"id" => id, "method" => method}} -> asked(noise(state, @note), id, method)
      {:ok, %{"id" => id} = message} -> answered(state, id, message)
      {:ok, %{"method" => "notifications/tools/list_changed"}} -> listed_anew(noise(state, @note))
      {:ok, %{"method" => _method}} -> noise(state, @note)
      _garbage -> noise(state, @garbage)
    end
  end

  defp noise(state, points), do: %{state | noise: state.noise + points}

  defp quiet(%{noise: noise} = state) when noise > @noise,
    do: ended(state, "it wrote too much that answers nothing")

  defp quiet(state), do: state

  # A server may ask whether this client is there. It has declared that it can do nothing else.
  defp asked(state, id, "ping"),
    do: tap(state, &write(&1, %{"jsonrpc" => "2.0", "id" => id, "result" => %{}}))

  defp asked(state, id, _method),
    do:
      tap(
        state,
        &write(&1, Protocol.error(id, {:method_not_found, "This client does not offer that"}))
      )

  defp answered(state, id, message) do
    case Map.pop(state.pending, id) do
      {nil, _pending} ->
        noise(state, @garbage)

      {{what, timer}, pending} ->
        Process.cancel_timer(timer)
        answer(what, message, %{state | pending: pending, noise: 0})
    end
  end

  defp answer({:call, from, monitor}, message, state) do
    Process.demonitor(monitor, [:flush])
    GenServer.reply(from, of_call(message, state))
    state
  end

  defp answer(:initialize, %{"result" => %{}}, state) do
    write(state, %{"jsonrpc" => "2.0", "method" => "notifications/initialized"})
    list(state, nil, [], 1)
  end

  # A server of the later era only has no such method.
  defp answer(:initialize, %{"error" => _error}, state),
    do: list(%{state | era: :modern}, nil, [], 1)

  defp answer({:list, tools, page}, %{"result" => %{"tools" => more} = result}, state)
       when is_list(more) do
    tools = tools ++ more

    case result["nextCursor"] do
      cursor when is_binary(cursor) and page < @pages and length(tools) < @tools ->
        list(state, cursor, tools, page + 1)

      _last ->
        listed = System.monotonic_time(:millisecond)
        tell(%{state | status: :ready, listed: listed}, {:ready, Enum.take(tools, @tools)})
    end
  end

  defp answer(_what, message, state),
    do:
      ended(
        state,
        "it does not list its tools: " <> (message["error"] |> inspect() |> String.slice(0, 200))
      )

  defp list(state, cursor, tools, page) do
    params = if cursor, do: %{"cursor" => cursor}, else: %{}
    request(state, "tools/list", params, {:list, tools, page}, state.start)
  end

  defp listed_anew(%{status: :ready, anew: nil} = state) do
    if Enum.any?(state.pending, &match?({_id, {{:list, _, _}, _}}, &1)) do
      state
    else
      wait = max(0, state.listed + @between - System.monotonic_time(:millisecond))
      %{state | anew: Process.send_after(self(), :list, wait)}
    end
  end

  defp listed_anew(state), do: state

  defp of_call(%{"result" => %{} = result}, state) do
    if result["resultType"] in [nil, "complete"],
      do: {:ok, result},
      else:
        {:error, "the server #{state.config.name} asks for something that a program cannot give"}
  end

  defp of_call(%{"error" => %{"message" => text}}, _state) when is_binary(text),
    do: {:error, text}

  defp of_call(_other, state),
    do: {:error, "the server #{state.config.name} answered with neither a result nor an error"}

  # The server's process is ended where it has not ended itself, and what waits for it is told.
  defp ended(state, why) do
    why = "the server #{state.config.name} has ended: #{why}"
    Child.stop(state.child)

    for {_id, {what, timer}} <- state.pending do
      Process.cancel_timer(timer)

      with {:call, from, monitor} <- what do
        Process.demonitor(monitor, [:flush])
        GenServer.reply(from, {:error, why})
      end
    end

    Process.send_after(self(), :begin, 100 * length(state.starts))
    down(%{state | child: nil, pending: %{}}, why)
  end

  defp down(state, why), do: tell(%{state | status: {:down, why}}, {:down, why})

  defp tell(state, status) do
    send(state.owner, {__MODULE__, state.config.name, status})
    state
  end
end
