defmodule PtcRunner.Json.Run.Rounds.Outcome do
  @moduledoc false
  # What the rounds of a loop have come to: its value, the first error in the order of the list, or calls that wait.

  alias PtcRunner.Json.Control
  alias PtcRunner.Json.Control.{Answers, Order}
  alias PtcRunner.Json.Run.{Reply, Rounds}
  alias PtcRunner.Json.Run.Rounds.Loop
  require Reply

  @doc "The result of a loop and its control; `before`: the calls that waited before the loop."
  @spec of(Rounds.t(), Reply.t(), [term()] | nil) ::
          {{:ok, [term()], non_neg_integer()} | {:error, term()} | :paused, Control.t() | nil}
  def of(%{control: nil} = rounds, Reply.fork(loop: name, list: list), _before) do
    case rounds do
      %{error: {_round, reason}} -> {{:error, reason}, nil}
      %{values: values, words: words} -> {{:ok, Loop.value(name, list, values), words}, nil}
    end
  end

  def of(%{control: control} = rounds, Reply.fork(loop: name, list: list), before) do
    paused = for {_round, {:paused, ids}} <- rounds.asked, id <- ids, into: %{}, do: {id, []}

    case rounds do
      _some when paused != %{} ->
        # Rounds after one that failed are not asked for, and what their calls were answered has gaps then.
        waiting = Enum.filter(control.paused, &is_map_key(paused, &1.id))
        {:paused, control |> Order.pausing(waiting) |> Answers.unreached() |> beyond(rounds)}

      %{error: {_round, reason}} ->
        {{:error, reason}, beyond(%{control | paused: before}, rounds)}

      %{values: values, words: words} ->
        {{:ok, Loop.value(name, list, values), words}, control}
    end
  end

  defp beyond(control, %{error: nil}), do: control

  defp beyond(control, %{error: {round, _reason}, id: id}),
    do: Answers.beyond(control, id, round)
end
