defmodule PtcRunner.Test.Cluster do
  @moduledoc """
  Starts nodes for a test, connected to this one.
  """

  @doc "Makes this VM a node; `{:error, reason}` if distribution cannot start."
  @spec start() :: :ok | {:error, String.t()}
  def start do
    # A daemon that already runs is not an error.
    if path = System.find_executable("epmd"), do: System.cmd(path, ["-daemon"])
    name = :"ptc-#{System.unique_integer([:positive])}-#{System.pid()}@127.0.0.1"

    case Node.start(name, :longnames) do
      {:ok, _pid} -> :ok
      {:error, reason} -> {:error, "distribution cannot start: #{inspect(reason, limit: 5)}"}
    end
  end

  @doc "Whether this VM can become a node."
  @spec available() :: :ok | {:error, String.t()}
  def available, do: with(:ok <- start(), do: stop())

  @doc "Stops the distribution of this VM."
  @spec stop() :: :ok
  def stop, do: with({:error, _not_a_node} <- Node.stop(), do: :ok)

  @doc "Starts a node with this library; it ends with the calling process."
  @spec node!() :: {peer :: pid(), node()}
  def node! do
    paths = Enum.flat_map(PtcRunner.Test.Peer.code_path(), &[~c"-pa", &1])

    options = %{
      name: :peer.random_name(~c"ptc"),
      host: ~c"127.0.0.1",
      # Hidden: `:global` would disconnect all nodes from one another when one of them is lost.
      args: [~c"-hidden" | paths],
      longnames: true,
      wait_boot: 240_000
    }

    {:ok, peer, node} = :peer.start_link(options)
    # As in `test_helper.exs`: a busy machine may stand still for longer than the default.
    default = [:ptc_runner_native, :default_timeout, 60_000]
    :ok = :erpc.call(node, Application, :put_env, default)
    {:ok, _apps} = :erpc.call(node, Application, :ensure_all_started, [:ptc_runner_native])
    {peer, node}
  end
end

defmodule PtcRunner.Test.Cluster.Waits do
  @moduledoc "Tools for any node."

  @doc "Returns what it got, and the node that it ran on."
  @spec echo(map()) :: [term()]
  def echo(%{"n" => n}), do: [n, Atom.to_string(node())]

  @doc "Registers a name, so that the test sees it waiting, and returns after a message."
  @spec until_told(map()) :: String.t()
  def until_told(_args) do
    Process.register(self(), :ptc_test_waits)

    receive do
      :told -> "yes"
    end
  end
end
