defmodule PtcRunner.Json.Control.Told do
  @moduledoc false
  # Tells who follows a run of each decision about a call.

  alias PtcRunner.Json.{Control, Entry}
  alias PtcRunner.Json.Control.Decided
  alias PtcRunner.Native.Telemetry

  @decision [:ptc_runner, :tool, :decision]

  @typedoc """
  What is told of a call: the arguments that the tool gets, and, where these are others, those that the program gives (`asked`). `given`: those
  that its function is called with, which converts them.
  `by`, `note` and `at`: see `PtcRunner.Json.Control.Decided`. `attempt`: of a call that its tool gets.
  """
  @type call :: %{
          tool: term(),
          id: String.t(),
          key: String.t(),
          attempt: pos_integer() | nil,
          decision: atom(),
          args: term(),
          asked: term(),
          given: term(),
          by: String.t() | atom(),
          note: String.t() | nil,
          at: String.t() | nil,
          outcome: Entry.outcome() | nil
        }

  @doc """
  A decision about the last call of the control: an entry whose outcome may be nil, the arguments that the tool gets, and those that its
  function is called with.
  """
  @spec told(Control.t(), entry, atom(), {term(), term()}, Decided.t() | nil) :: :ok
        when entry: {Entry.id(), term(), term(), Entry.outcome() | nil}
  def told(control, entry, decision, sent, decided),
    do: told(control, entry, control.number, decision, sent, decided)

  @doc "Whether somebody is told of a decision."
  @spec anybody?(Control.t()) :: boolean()
  def anybody?(%{rules: %{watch: watch}}), do: watch != nil or Telemetry.heard?([@decision])

  @doc "An answer of a journal to the call with this number."
  @spec replayed(Control.t(), Entry.t(), pos_integer()) :: :ok
  def replayed(control, {id, name, args, outcome}, number) do
    {sent, outcome} =
      case outcome do
        {:sent, sent, outcome} -> {sent, outcome}
        {:cached, outcome} -> {args, outcome}
        outcome -> {args, outcome}
      end

    told(control, {id, name, args, outcome}, number, :replay, {sent, sent}, nil)
  end

  defp told(control, {id, name, args, outcome}, number, decision, {sent, given}, decided) do
    if Telemetry.heard?([@decision]) do
      metadata = %{tool: name, id: Entry.text(id), decision: decision}
      Telemetry.execute(@decision, %{number: number}, metadata)
    end

    case control.rules.watch do
      nil ->
        :ok

      {:decisions, _watch} when decision == :run and decided == nil and sent === args ->
        :ok

      {:decisions, watch} ->
        tell(watch, control, {id, name, args, outcome}, decision, {sent, given}, decided)

      watch ->
        tell(watch, control, {id, name, args, outcome}, decision, {sent, given}, decided)
    end

    :ok
  end

  defp tell(watch, control, {id, name, args, outcome}, decision, {sent, given}, decided) do
    decided = decided || %Decided{}

    watch.(%{
      tool: name,
      id: Entry.text(id),
      key: Control.key(control, id),
      attempt: if(decision in [:run, :approved], do: Control.attempt(control, id)),
      decision: decision,
      args: sent,
      asked: if(sent === args, do: nil, else: args),
      given: given,
      by: decided.by,
      note: decided.note,
      at: decided.at,
      outcome: outcome
    })
  end
end
