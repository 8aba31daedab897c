defmodule PtcRunner.Native.Telemetry.Agent do
  @moduledoc false
  # The events of agents: turns, calls of the model, answers that are values, programs that are not well-formed.

  alias PtcRunner.Agent.Reply
  alias PtcRunner.Json.Given
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.Native.Telemetry.Ids
  require Telemetry

  @turn [:ptc_runner, :agent, :turn]
  @model [:ptc_runner, :agent, :model]

  @of_turn [@turn ++ [:start], @turn ++ [:stop]]
  @of_model for event <- [:start, :stop, :exception], do: @model ++ [event]

  @doc "Calls the function of a loop with this id, which its events have."
  @spec loop(String.t() | nil, (() -> result)) :: result when result: term()
  def loop(id, fun), do: if(id, do: Ids.within([loop_id: id], fun), else: fun.())

  @doc "The id of a new loop; nil without telemetry."
  @spec loop_id() :: String.t() | nil
  def loop_id, do: if(Telemetry.on?(), do: Ids.new())

  @doc "The start of a turn, for `turn_ended/3`; nil if its events have no handler."
  @spec turn_began(pos_integer()) :: {integer(), map()} | nil
  def turn_began(number) do
    if Telemetry.heard?(@of_turn) do
      metadata = %{turn: number, telemetry_span_context: make_ref()}
      {Telemetry.began(@turn, metadata), metadata}
    end
  end

  @doc "The end of a turn with this number of tool calls."
  @spec turn_ended({integer(), map()} | nil, non_neg_integer(), atom()) :: :ok
  def turn_ended(nil, _calls, _outcome), do: :ok

  def turn_ended({began, metadata}, calls, outcome) do
    measured = began |> Telemetry.ended_since() |> Map.put(:tool_calls, calls)
    Telemetry.execute(@turn ++ [:stop], measured, Map.put(metadata, :outcome, outcome))
    :ok
  end

  @doc "One call of the model function; `fun` returns its reply."
  @spec model(pos_integer(), (() -> Reply.t())) :: Reply.t()
  def model(number, fun) do
    if Telemetry.heard?(@of_model),
      do: Telemetry.span(@model, %{turn: number}, fun, &{:stop, measured(&1), outcome(&1)}),
      else: fun.()
  end

  # A provider's number may have the name of a measurement.
  defp measured({:text, text, numbers}) do
    atoms = for {name, number} <- numbers, is_atom(name), into: %{}, do: {name, number}
    own = [:duration, :monotonic_time]

    Map.merge(Map.drop(atoms, own), %{tokens: Reply.tokens(numbers), bytes: byte_size(text || "")})
  end

  defp measured(_no_text), do: %{tokens: 0, bytes: 0}

  defp outcome({:text, nil, _numbers}), do: %{outcome: :no_text}
  defp outcome({:text, _text, _numbers}), do: %{outcome: :ok}
  defp outcome({kind, _what}), do: %{outcome: kind}
  defp outcome({kind, _what, _more}), do: %{outcome: kind}

  @doc "Reading a value; `fun` returns what `PtcRunner.Agent.Answer.read/3` returns."
  @spec value(String.t(), (() -> result)) :: result when result: tuple()
  def value(text, fun) do
    if Telemetry.on?(),
      do: Telemetry.read([:ptc_runner, :answer, :stop], text, fun, &read/1),
      else: fun.()
  end

  defp read({:ok, _value, warnings}), do: {:ok, Enum.map(warnings, &%{message: &1})}
  defp read({:error, _errors, _feedback, _whole?}), do: {:retry, []}

  @doc "A program that is not well-formed, which is a run that has failed."
  @spec invalid(PtcRunner.Json.error()) :: :ok
  def invalid(error) do
    if Telemetry.on?(), do: Telemetry.run("", nil, %Given{}, fn -> {:error, error} end)
    :ok
  end
end
