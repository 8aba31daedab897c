defmodule PtcRunner.Native.Application do
  @moduledoc false
  # Starts with the application: puts the modules of the overlay in the place of those of
  # `ptc_runner`, where that is among the dependencies.

  use Application

  alias PtcRunner.Native.Overlay

  @impl true
  def start(_type, _args) do
    with :ok <- Overlay.start(),
         do: Supervisor.start_link([], strategy: :one_for_one, name: __MODULE__)
  end
end
