defmodule PtcRunner.Agent.Watching do
  @moduledoc false
  # Who is told of the calls of a run, and what the tools say about their calls: for the record, for `:on_event`, and for the audit.

  alias PtcRunner.Agent.{Record, Tool}
  alias PtcRunner.Json.{ToolContext, Tools}

  @doc "What the tools say beside their functions."
  @spec settings([Tool.t()]) :: Tools.settings()
  def settings(tools) do
    for %Tool{name: name} = tool <- tools,
        setting = Tools.of(tool),
        setting != Tools.usual(),
        into: %{},
        do: {name, setting}
  end

  # Decisions are recorded where something else than a call may be decided.
  defp watched?(tools, opts) do
    opts[:on_call] != nil or opts[:on_event] != nil or opts[:resumes] != nil or
      Enum.any?(tools, &(&1.approve or &1.cache))
  end

  @doc """
  The control with who is told of each call, for the record and for `:on_event`: where something else than a call may be decided. A replay
  records what the journal answers.
  """
  @spec control(map(), [Tool.t()], keyword(), Record.t() | nil) :: map()
  def control(control, _tools, _opts, nil), do: control

  def control(control, tools, opts, record) do
    if watched?(tools, opts),
      do: Map.put(control, :watch, decisions(record, opts[:on_event])),
      else: control
  end

  # The record has nothing to keep of a call that is made as if nobody decided.
  defp decisions(record, nil), do: {:decisions, watch(record, nil)}
  defp decisions(record, on_event), do: watch(record, on_event)

  @doc "Who is told of the calls that a journal answers."
  @spec replay(Record.t() | nil, keyword()) :: (map() -> term())
  def replay(nil, _opts), do: & &1
  def replay(record, opts), do: watch(record, opts[:on_event], :replay)

  # What a run that goes on was answered before is recorded already, and what a replay is answered is not.
  defp watch(record, on_event, records \\ nil) do
    fn call ->
      case call.decision do
        decision when decision in [:run, :approved] -> Record.told(record, call)
        ^records -> Record.decided(record, call)
        decision when decision in [:replay, :pause] -> :ok
        _no_tool -> Record.decided(record, call)
      end

      if on_event, do: on_event.(call |> Map.delete(:outcome) |> event())
    end
  end

  # Only what is known is told.
  defp event(call) do
    call = Map.put(call, :event, :call)

    Map.reject(call, fn {name, value} ->
      value == nil and name in [:asked, :by, :note, :at, :attempt]
    end)
  end

  @doc "The calls with what the audit says of for whom they were made."
  @spec audited([Record.call()], map() | nil) :: [Record.call()]
  def audited(calls, nil), do: calls

  def audited(calls, context) do
    audited = ToolContext.audited(context)
    Enum.map(calls, &Map.put(&1, :context, audited))
  end
end
