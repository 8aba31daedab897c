defmodule PtcRunner.Native.Application do
  @moduledoc false
  # Starts with the application: replaces modules of `ptc_runner` with those of the overlay, if it is a
  # dependency, decides which edition of the language is the default, looks for `:telemetry`, loads the library's modules, and
  # starts the reaper, which kills the processes of tools whose callers have ended.

  use Application

  alias PtcRunner.Json.Edition
  alias PtcRunner.Native.{Overlay, Reaper, Telemetry}

  @impl true
  def start(_type, _args) do
    with :ok <- Overlay.start(), :ok <- Edition.decide() do
      Telemetry.refresh()
      load_modules()
      Supervisor.start_link([Reaper], strategy: :one_for_one, name: __MODULE__)
    end
  end

  # A module that is loaded by the first run that needs it is loaded by the code server, for which the run's process waits. Until
  # OTP 25.2 that wait never ends in a process that is over its `max_heap_size`. A release has loaded all modules already.
  defp load_modules do
    for app <- [:ptc_runner_native, :elixir, :stdlib, :kernel],
        {:ok, modules} = :application.get_key(app, :modules),
        modules = modules -- :erlang.loaded(),
        do: :code.ensure_modules_loaded(modules)
  end
end
