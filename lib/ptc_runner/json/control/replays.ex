defmodule PtcRunner.Json.Control.Replays do
  @moduledoc false
  # Answers of a journal for calls that come one after another, without a copy of the control for each.

  alias PtcRunner.Json.{Budget, Control, Entry}
  alias PtcRunner.Json.Control.Told

  @typedoc """
  Answers of a journal that are given one after another: the entries left, those given, the number of the last call; whether somebody is told
  of each.
  """
  @opaque t ::
            {[Entry.t()] | %{Entry.id() => Entry.t()}, [Entry.t()], non_neg_integer(),
             {Control.t(), boolean()}}

  @doc """
  What is replayed from here on, for `next/5`, which copies no control; nil if more is to be done for an answer than to count it
  and to tell it.
  """
  @spec from(Control.t()) :: t() | nil
  def from(%{cache: cache, settings: settings, secret: secret} = control) do
    if cache == %{} and secret == nil and
         not Enum.any?(settings, fn {_name, setting} -> setting.cache end),
       do: {control.journal, control.entries, control.number, {control, Told.anybody?(control)}}
  end

  @doc "Whether there are more answers."
  @spec any?(t()) :: boolean()
  def any?({journal, _entries, _number, _rest}), do: journal != [] and journal != %{}

  @doc "The next answer, if it is that of an equal call, which has worked; `:other`: see `PtcRunner.Json.Control.Deciding.decide/5`."
  @spec next(t(), Entry.id(), term(), term(), non_neg_integer()) ::
          {:answer, term(), non_neg_integer(), t()} | :other
  def next({[{id, _, _, _} = entry | rest], _, _, _} = replays, id, name, args, max_heap),
    do: plain(entry, rest, replays, {name, args}, max_heap)

  def next({journal, _, _, _} = replays, id, name, args, max_heap)
      when is_map_key(journal, id) do
    {entry, rest} = Map.pop!(journal, id)
    plain(entry, rest, replays, {name, args}, max_heap)
  end

  def next(_replays, _id, _name, _args, _max_heap), do: :other

  defp plain(
         {_id, name, recorded, {:ok, value, words}} = entry,
         rest,
         {_journal, entries, number, {control, told?} = run},
         {name, args},
         max_heap
       )
       when recorded === args and is_integer(words) and (words <= max_heap or max_heap == 0) do
    case Budget.take(control.budget, name, args) do
      :ok ->
        if told?, do: Told.replayed(control, entry, number + 1)
        {:answer, value, words, {rest, [entry | entries], number + 1, run}}

      _refused ->
        :other
    end
  end

  defp plain(_entry, _rest, _replays, _call, _max_heap), do: :other

  @doc "The control after these answers."
  @spec done(Control.t(), t()) :: Control.t()
  def done(control, {rest, entries, number, _run}),
    do: %{control | journal: rest, entries: entries, number: number}
end
