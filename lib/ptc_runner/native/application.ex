defmodule PtcRunner.Native.Application do
  @moduledoc false
  # Starts with the application: replaces modules of `ptc_runner` with those of the overlay, if it is a
  # dependency, decides which edition of the language is the default, looks for `:telemetry`, loads the library's modules,
  # makes the tables of what was said of keys and of the sealed texts that were used, and starts the reaper, which kills the processes of tools whose callers have ended.

  use Application

  alias PtcRunner.Json.{AtomKeys, Edition}
  alias PtcRunner.Json.Paused.Used
  alias PtcRunner.Native.{Overlay, Reaper, Telemetry}

  @app :ptc_runner_native

  @impl true
  def start(_type, _args) do
    with :ok <- Overlay.start(), :ok <- Edition.decide() do
      Telemetry.refresh()
      AtomKeys.start()
      Used.Ets.start()
      load_modules()
      Supervisor.start_link([Reaper], strategy: :one_for_one, name: __MODULE__)
    end
  end

  # A module that is loaded by the first run that needs it is loaded by the code server, for which the run's process waits. Until
  # OTP 25.2 that wait never ends in a process that is over its `max_heap_size`. So all modules that this library can call are loaded
  # now: its own, and those of the applications that it cannot start without. A release has loaded them already.
  defp load_modules do
    {:ok, needed} = :application.get_key(@app, :applications)
    {:ok, optional} = :application.get_key(@app, :optional_applications)

    for app <- [@app | needed -- optional],
        {:ok, modules} = :application.get_key(app, :modules),
        do: :code.ensure_modules_loaded(modules -- :erlang.loaded())
  end
end
