defmodule PtcRunnerMcp.Application do
  @moduledoc false
  # Other servers run under this application's supervisor, so that they end when the VM is told to stop.

  use Application

  @impl true
  def start(_type, _args) do
    children = [{DynamicSupervisor, name: PtcRunnerMcp.Supervisor, max_restarts: 100}]
    Supervisor.start_link(children, strategy: :one_for_one)
  end
end
