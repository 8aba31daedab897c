defmodule PtcRunner.Json.Control.Order do
  @moduledoc false
  # What becomes of the other calls of a loop where one waits for a person: others may wait too, and none that writes is made before it.

  alias PtcRunner.Json.{Call, Control, Entry}
  alias PtcRunner.Json.Control.Decided

  @doc "Whether calls of a run may wait for a person, so that the calls of several rounds wait together."
  @spec waits?(Control.t() | nil) :: boolean()
  def waits?(%{rules: %{on_call: nil}, settings: settings}),
    do: Enum.any?(settings, fn {_name, setting} -> setting.approve end)

  def waits?(control), do: control != nil

  @doc """
  What a tool does; one that has not said it may write.

      iex> alias PtcRunner.Json.{Control, Control.Order}
      iex> control = %Control{settings: %{"find" => %{effect: :read}}}
      iex> for name <- ["find", "pay"], do: Order.effect(control, name)
      [:read, :write]

  """
  @spec effect(Control.t(), String.t()) :: :read | :write
  def effect(%{settings: settings}, name) do
    case settings do
      %{^name => %{effect: effect}} -> effect
      _settings -> :write
    end
  end

  @doc "A decision about a call, with what comes with it; `:later` of one that the hook lets run, and that writes, where an earlier one waits."
  @spec kept({term(), Decided.t() | nil, Control.t()}, Control.t(), String.t()) ::
          {term(), Decided.t() | nil, Control.t()} | :later
  def kept(decision, %{behind?: false}, _name), do: decision

  def kept({decision, _decided, control} = all, _control, name) do
    run? = decision == :run or match?({:run, _args}, decision)
    if run? and effect(control, name) == :write, do: :later, else: all
  end

  @doc "A control that goes on with these calls that wait. Calls beyond a limit are counted anew then, with the limits of then."
  @spec pausing(Control.t(), [Call.t()]) :: Control.t()
  def pausing(%{limited: []} = control, calls), do: %{control | paused: calls}

  def pausing(%{limited: ids, entries: entries} = control, calls) do
    ids = MapSet.new(ids)
    entries = for entry <- entries, not MapSet.member?(ids, id(entry)), do: entry
    %{control | paused: calls, entries: entries, limited: []}
  end

  @doc "The last id of these entries, in the order of the program."
  @spec last([Entry.t()]) :: Entry.id() | nil
  def last(entries) do
    case Entry.in_order(entries) do
      {:ok, last} -> last
      :error -> entries |> Enum.map(&id/1) |> Enum.max_by(&place/1, fn -> nil end)
    end
  end

  @doc """
  The error of a call without an answer, where the journal has answers to later ones: its tool would be called again.

      iex> alias PtcRunner.Json.Control.Order
      iex> for {last, id} <- [{nil, 1}, {2, 3}, {{2, 5, 1}, {2, 0, 1}}], do: Order.missing(last, id)
      [nil, nil, nil]
      iex> Order.missing({2, 5, 1}, 1)
      {:execution_error, "The journal has no call 1, but later ones"}

  """
  @spec missing(Entry.id() | nil, Entry.id()) :: nil | {:execution_error, String.t()}
  def missing(nil, _id), do: nil
  def missing({loop, _, _}, {same, _, _}) when same >= loop, do: nil
  def missing({loop, _, _}, number) when is_integer(number) and number > loop, do: nil
  def missing(last, {loop, _, _}) when is_integer(last) and loop > last, do: nil

  def missing(last, number) when is_integer(last) and is_integer(number) and number > last,
    do: nil

  def missing(_last, id),
    do: {:execution_error, "The journal has no call #{Entry.text(id)}, but later ones"}

  # Ids in the order of the calls.
  defp place({loop, round, number}), do: {loop, round, number}
  defp place(number), do: {number, -1, 0}

  @spec id(Entry.t()) :: Entry.id()
  defp id({id, _name, _args, _outcome}), do: id
end
