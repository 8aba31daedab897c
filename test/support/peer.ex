defmodule PtcRunner.Test.Peer do
  @moduledoc """
  A separate VM, in which a test may define modules that this VM must not have.
  """

  # Milliseconds, on a busy machine too.
  @timeout 240_000

  @doc "Starts a VM with the code of this one and additional environment variables; it ends with the test process."
  @spec start([{charlist(), charlist()}]) :: pid()
  def start(env \\ []) do
    paths = Enum.flat_map(code_path(), &[~c"-pa", &1])
    options = %{connection: :standard_io, args: paths, env: env, wait_boot: @timeout}
    {:ok, peer, _node} = :peer.start_link(options)
    {:ok, _apps} = call(peer, Application, :ensure_all_started, [:elixir])
    peer
  end

  @doc """
  The code path of this VM, without the current directory: if that has the name of an application, the VM takes it for
  the folder of that application.
  """
  @spec code_path() :: [charlist()]
  def code_path, do: :code.get_path() -- [~c"."]

  @doc "Calls a function there, with a timeout in milliseconds."
  @spec call(pid(), module(), atom(), [term()], timeout()) :: term()
  def call(peer, module, function, args, timeout \\ @timeout),
    do: :peer.call(peer, module, function, args, timeout)

  @doc "Evaluates code there, with a timeout in milliseconds."
  @spec eval(pid(), String.t(), keyword(), timeout()) :: term()
  def eval(peer, code, binding \\ [], timeout \\ @timeout) do
    {value, _binding} = call(peer, Code, :eval_string, [code, binding], timeout)
    value
  end
end
