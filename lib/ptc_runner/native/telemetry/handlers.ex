defmodule PtcRunner.Native.Telemetry.Handlers do
  @moduledoc false
  # Whether an event has a handler: asks the table that `:telemetry` asks itself when an event is executed.

  @table :telemetry_handler_table

  @doc "Whether this release of `:telemetry` has the table, and its function."
  @spec known?() :: boolean()
  def known?, do: Code.ensure_loaded?(@table) and function_exported?(@table, :list_for_event, 1)

  @doc """
  Whether one of these events has a handler. The process of the table has its name; without it nothing can be attached.

      iex> PtcRunner.Native.Telemetry.Handlers.any?([[:ptc_runner, :json, :run, :stop]])
      false

  """
  @spec any?([[atom()]]) :: boolean()
  def any?(events), do: :erlang.whereis(@table) != :undefined and found?(events)

  # The module may be missing.
  defp found?([event | events]),
    do: apply(@table, :list_for_event, [event]) != [] or found?(events)

  defp found?([]), do: false
end
