defmodule PtcRunner.Test.Peer do
  @moduledoc """
  A VM of its own, in which a test may define what this one must not have.
  """

  @doc "Starts a VM with the code of this one; it ends with the test process."
  @spec start() :: pid()
  def start do
    paths = Enum.flat_map(:code.get_path(), &[~c"-pa", &1])
    {:ok, peer, _node} = :peer.start_link(%{connection: :standard_io, args: paths})
    {:ok, _apps} = call(peer, Application, :ensure_all_started, [:elixir])
    peer
  end

  @doc "Calls a function there."
  @spec call(pid(), module(), atom(), [term()]) :: term()
  def call(peer, module, function, args), do: :peer.call(peer, module, function, args, 60_000)

  @doc "Evaluates code there."
  @spec eval(pid(), String.t(), keyword()) :: term()
  def eval(peer, code, binding \\ []) do
    {value, _binding} = call(peer, Code, :eval_string, [code, binding])
    value
  end
end
