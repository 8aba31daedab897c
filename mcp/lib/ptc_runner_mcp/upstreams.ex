defmodule PtcRunnerMcp.Upstreams do
  @moduledoc """
  The other servers: a client for each, and one catalogue of all their tools, which changes when they do.
  """

  use GenServer, restart: :temporary

  alias PtcRunnerMcp.{Catalogue, Client, Config, Imported, Names}

  # The first request waits so many milliseconds for servers that start.
  @settle 3_000

  @doc """
  Starts the servers of a file. `tools` are the application's own, in each form that `PtcRunner.Agent` takes. Raises `ArgumentError` for a file that is
  wrong. The options are those of a client.

      iex> PtcRunnerMcp.Upstreams.start("/no/such/file", [])
      ** (ArgumentError) /no/such/file cannot be read: no such file or directory

  """
  @spec start(Path.t(), term(), keyword()) :: :ok
  def start(file, tools, opts \\ []) do
    case Config.read(file) do
      {:ok, servers} ->
        own = Catalogue.new(tools).tools

        {:ok, _pid} =
          DynamicSupervisor.start_child(
            PtcRunnerMcp.Supervisor,
            {__MODULE__, {servers, own, opts}}
          )

        :ok

      {:error, text} ->
        raise ArgumentError, text
    end
  end

  @doc """
  Ends all servers and their processes.

      iex> PtcRunnerMcp.Upstreams.stop()
      :ok

  """
  @spec stop() :: :ok
  def stop do
    for name <- [PtcRunnerMcp.Supervisor],
        Process.whereis(name),
        {_, pid, _, _} <- DynamicSupervisor.which_children(name),
        is_pid(pid),
        do: DynamicSupervisor.terminate_child(name, pid)

    :ok
  end

  @doc """
  The tools of the application and of all servers that are ready, with notes about the others.

      iex> PtcRunnerMcp.Upstreams.catalogue()
      %PtcRunnerMcp.Catalogue{tools: [], names: %{}, notes: []}

  """
  @spec catalogue() :: Catalogue.t()
  def catalogue do
    if Process.whereis(__MODULE__), do: settled()
    :persistent_term.get(__MODULE__, %Catalogue{})
  end

  defp settled do
    if :persistent_term.get({__MODULE__, :settled}, false) == false,
      do: GenServer.call(__MODULE__, :settled, @settle * 2)
  catch
    :exit, _reason -> :ok
  end

  @doc false
  @spec start_link(term()) :: GenServer.on_start()
  def start_link(given), do: GenServer.start_link(__MODULE__, given, name: __MODULE__)

  @impl true
  def init({servers, own, opts}) do
    :persistent_term.put({__MODULE__, :settled}, false)
    Process.flag(:trap_exit, true)

    clients =
      for config <- servers, into: %{} do
        {:ok, pid} = Client.start_link({config, self(), opts})
        {config.name, %{config: config, pid: pid, tools: [], notes: [], status: :starting}}
      end

    Process.send_after(self(), :settle, @settle)
    {:ok, publish(%{own: own, clients: clients, waiting: [], settled: clients == %{}})}
  end

  @impl true
  def handle_call(:settled, _from, %{settled: true} = state), do: {:reply, :ok, state}

  def handle_call(:settled, from, state),
    do: {:noreply, %{state | waiting: [from | state.waiting]}}

  @impl true
  def handle_info({Client, name, status}, state) do
    client = state.clients |> Map.fetch!(name) |> told(status)
    state = publish(%{state | clients: Map.put(state.clients, name, client)})

    {:noreply,
     settle(state, Enum.all?(state.clients, fn {_name, client} -> client.status != :starting end))}
  end

  def handle_info(:settle, state), do: {:noreply, settle(state, true)}
  def handle_info({:EXIT, _pid, _reason}, state), do: {:noreply, state}

  @impl true
  def terminate(_reason, state) do
    clients = for {_name, client} <- state.clients, do: client.pid

    # Beside each other: each may have to wait for its process.
    clients
    |> Enum.map(
      &Task.async(fn -> if Process.alive?(&1), do: GenServer.stop(&1, :shutdown, 4_000) end)
    )
    |> Task.yield_many(4_500)

    :persistent_term.erase(__MODULE__)
  end

  defp told(client, {:ready, listed}) do
    # The function is copied to the process of the tools, and has nothing of the configuration.
    %{config: %{timeout: timeout} = config, pid: pid} = client
    call = fn name, args -> Client.call(pid, name, args, timeout) end
    {tools, notes} = Imported.tools(listed, config, call)
    %{client | tools: tools, notes: notes, status: :ready}
  end

  # The tools stay: calls say why they fail, and the server may come again.
  defp told(client, {:down, why}), do: %{client | status: :down, notes: [why]}

  defp settle(%{settled: true} = state, _now?), do: state
  defp settle(state, false), do: state

  defp settle(state, true) do
    :persistent_term.put({__MODULE__, :settled}, true)
    for from <- state.waiting, do: GenServer.reply(from, :ok)
    %{state | settled: true, waiting: []}
  end

  defp publish(state) do
    clients = Enum.sort(state.clients)

    {tools, notes} =
      Names.merge(state.own, for({name, client} <- clients, do: {name, client.tools}))

    notes =
      notes ++
        for({_name, %{notes: notes}} <- clients, note <- notes, do: note) ++
        for {name, %{status: :starting}} <- clients, do: "the server #{name} is starting"

    :persistent_term.put(__MODULE__, Catalogue.new(tools, notes))
    state
  end
end
