defmodule PtcRunner.Native.Application do
  @moduledoc false
  # Starts with the application: puts the modules of the overlay in the place of those of
  # `ptc_runner`, where that is among the dependencies, and looks for `:telemetry`.

  use Application

  alias PtcRunner.Native.{Overlay, Telemetry}

  @impl true
  def start(_type, _args) do
    with :ok <- Overlay.start() do
      Telemetry.refresh()
      Supervisor.start_link([], strategy: :one_for_one, name: __MODULE__)
    end
  end
end
