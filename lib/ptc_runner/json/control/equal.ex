defmodule PtcRunner.Json.Control.Equal do
  @moduledoc false
  # Equal calls of a run: of those of a tool with a cache only one is made, and the others have its answer.

  alias PtcRunner.Json.{Control, Entry}
  alias PtcRunner.Json.Control.{Answers, Asking, Decided, Told}
  alias PtcRunner.SubAgent.KeyNormalizer

  @doc "Whether a tool is not called again for equal arguments."
  @spec cached?(Control.t(), String.t()) :: boolean()
  def cached?(%{settings: settings}, name),
    do: match?(%{^name => %{cache: true}}, settings)

  @doc "What becomes of a call that is equal to another one; `:no` if there is none."
  @spec looked_up(Control.t(), Entry.id(), term(), term()) :: Control.step() | :no
  # Without answers to look for, the arguments are not read.
  def looked_up(%{cache: cache}, _id, _name, _args) when cache == %{}, do: :no

  def looked_up(control, id, name, args) do
    key = key(control, name, args)

    case control.cache do
      %{^key => :running} ->
        {:join, key, control}

      %{^key => outcome} ->
        answered(control, id, {name, args}, outcome)

      _cache ->
        :no
    end
  end

  @doc """
  The control that knows an equal call which was started before. Of equal calls only one is made. Where calls overlap, it may be another one than that
  which was started before a crash: its service must know it.
  """
  @spec under_started(Control.t(), Entry.id(), term(), term()) :: Control.t()
  def under_started(%{attempts: none} = control, _id, _name, _args) when none == %{}, do: control

  def under_started(control, id, name, args) do
    case if(cached?(control, name), do: started_equal(control, name, args), else: []) do
      [] -> control
      started -> %{control | under: Map.put(control.under, id, Enum.max(started))}
    end
  end

  # Many calls may wait, and few of them were started.
  defp started_equal(%{attempts: attempts, waiting: waiting} = control, name, args) do
    equal = key(control, name, args)

    for {id, _count} <- attempts,
        %{^id => %{started: true, tool: ^name} = call} <- [waiting],
        equal == key(control, name, Asking.asked(call)),
        do: id
  end

  @doc "What equal calls have in common. PTC-Lisp takes `10` and `10.0` for equal arguments."
  @spec key(Control.t(), String.t(), term()) :: {String.t(), term()}
  def key(%{rules: %{lisp: nil}}, name, args), do: {name, args}
  def key(_control, name, args), do: KeyNormalizer.canonical_cache_key(name, args)

  @doc "The answer to a call that is equal to one that has been answered."
  @spec answered(Control.t(), Entry.id(), {String.t(), term()}, Entry.outcome()) :: Control.step()
  def answered(control, id, {name, args}, outcome) do
    Told.told(control, {id, name, args, outcome}, :cache, {args, args}, %Decided{by: :cache})
    entry = {id, name, args, {:cached, outcome}}

    control =
      if control.keeps?, do: %{control | entries: [entry | control.entries]}, else: control

    with :ok <- Answers.journal(control, entry) do
      Control.step(outcome, control)
    else
      {:error, reason} -> {:ended, reason, control}
    end
  end

  @doc "What the cache has for a call that is running, or has been answered."
  @spec running_or_answered(Control.t(), {String.t(), term()}) :: :running | Entry.outcome() | nil
  def running_or_answered(%{cache: cache}, key), do: Map.get(cache, key)
end
