defmodule PtcRunner.Native.Application do
  @moduledoc false
  # Starts with the application: replaces modules of `ptc_runner` with those of the overlay, if it is a
  # dependency, decides which edition of the language is the default, looks for `:telemetry`, and starts the reaper, which kills the processes of tools whose callers
  # have ended.

  use Application

  alias PtcRunner.Json.Edition
  alias PtcRunner.Native.{Overlay, Reaper, Telemetry}

  @impl true
  def start(_type, _args) do
    with :ok <- Overlay.start(), :ok <- Edition.decide() do
      Telemetry.refresh()
      Supervisor.start_link([Reaper], strategy: :one_for_one, name: __MODULE__)
    end
  end
end
