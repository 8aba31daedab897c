defmodule PtcRunner.Json.Control.Told do
  @moduledoc false
  # Tells who follows a run of each decision about a call.

  alias PtcRunner.Json.{Control, Entry}
  alias PtcRunner.Native.Telemetry

  @decision [:ptc_runner, :tool, :decision]

  @doc "A decision about a call: the last one of the control."
  @spec told(Control.t(), term(), Entry.id(), atom(), term(), Entry.outcome() | nil) :: :ok
  def told(control, name, id, decision, args, outcome),
    do: told(control, name, id, control.number, decision, args, outcome)

  @doc "The same for the call with this number."
  @spec told(
          Control.t(),
          term(),
          Entry.id(),
          pos_integer(),
          atom(),
          term(),
          Entry.outcome() | nil
        ) :: :ok
  def told(control, name, id, number, decision, args, outcome) do
    if Telemetry.heard?([@decision]) do
      metadata = %{tool: name, id: Entry.text(id), decision: decision}
      Telemetry.execute(@decision, %{number: number}, metadata)
    end

    control.watch && control.watch.({name, Entry.text(id), decision, args, outcome})
    :ok
  end
end
