defmodule PtcRunner.Native.Reaper do
  @moduledoc false
  # The one permanent process of the application: kills processes whose callers have ended. The native
  # side (native/ptc_nif/src/guard.rs) monitors the callers, stores the pids, and sends `:orphans`.
  # If the application is not started, `PtcRunner.Sandbox.Guarded` starts a process that monitors instead.

  use GenServer

  alias PtcRunner.Native

  @spec start_link(term()) :: GenServer.on_start()
  def start_link(_arg), do: GenServer.start_link(__MODULE__, nil, name: __MODULE__)

  @impl true
  def init(nil) do
    # An earlier reaper may have left orphans. Without the library there are none.
    if :erlang.function_exported(Native, :take_orphans, 0), do: send(self(), :orphans)
    {:ok, nil}
  end

  @impl true
  def handle_info(:orphans, state) do
    for pid <- Native.take_orphans(), do: Process.exit(pid, :kill)
    {:noreply, state}
  catch
    # The native module has been deleted.
    :error, :undef -> {:noreply, state}
  end

  def handle_info(_other, state), do: {:noreply, state}

  # Requests of others must not end this process: after a few ends the application would stop.
  @impl true
  def handle_call(_request, _from, state), do: {:noreply, state}

  @impl true
  def handle_cast(_request, state), do: {:noreply, state}
end
