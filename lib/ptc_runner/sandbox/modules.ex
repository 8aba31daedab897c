defmodule PtcRunner.Sandbox.Modules do
  @moduledoc false
  # What this library asks about the modules of applications. The code server answers by a message, and a process that is over its
  # heap limit must not wait for one: see `PtcRunner.Sandbox.Guarded.settle/0`.

  alias PtcRunner.Sandbox.Guarded
  require Guarded

  @doc """
  Whether a module is loaded, or can be.

      iex> for module <- [Enum, NoModule], do: PtcRunner.Sandbox.Modules.loaded?(module)
      [true, false]

  """
  @spec loaded?(module()) :: boolean()
  def loaded?(module),
    do: :erlang.module_loaded(module) or (Guarded.settle() == :ok and Code.ensure_loaded?(module))

  @doc """
  What `fun` reads from the files of modules, in a process of its own without a limit: the reading waits for several messages,
  and what it builds meanwhile may be larger than the limit of the caller.

      iex> {:docs_v1, _, :elixir, _, _, _, _} = PtcRunner.Sandbox.Modules.read(fn -> Code.fetch_docs(Enum) end)

  """
  @spec read((() -> value)) :: value when value: term()
  def read(fun) do
    ref = make_ref()
    {pid, monitor} = Guarded.start(0, ref, &answer/1, {self(), ref, fun})

    Guarded.await do
      {^ref, value} ->
        Guarded.leave(pid, monitor)
        value

      {^ref, ^monitor, :process, ^pid, reason} ->
        Guarded.forget(pid)
        exit(reason)
    end
  end

  defp answer({caller, ref, fun}), do: send(caller, {ref, fun.()})
end
