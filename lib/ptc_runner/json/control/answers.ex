defmodule PtcRunner.Json.Control.Answers do
  @moduledoc false
  # Keeps what calls were answered: for equal calls, for the journal of the run, and for who follows it by `:on_journal`.

  alias PtcRunner.Firewall.Watch
  alias PtcRunner.Json.{Control, Entry, Kept, Limits, Message, Text}
  alias PtcRunner.Json.Control.{Equal, Order, Words}
  alias PtcRunner.Sandbox.Guarded

  @doc "Keeps the answer to a call."
  @spec answered(
          Control.t(),
          Control.running(),
          {:ok, term(), non_neg_integer() | nil} | {:error, term()}
        ) ::
          {:ok, Control.t()} | {:error, reason :: term(), Control.t()}
  def answered(%{keeps?: false, secret: nil} = control, {_, _, _, _, false}, _result),
    do: {:ok, control}

  def answered(control, {id, name, args, sent, cached?}, result) do
    outcome = outcome(result, control)
    control = watched(control, name, outcome)
    entry = {id, name, args, Entry.sent(outcome, args, sent)}

    with :ok <- storable(control, name, outcome),
         :ok <- journal(control, entry) do
      control = kept(control, entry)
      {:ok, if(cached?, do: in_cache(control, name, args, outcome), else: control)}
    else
      {:error, reason} -> {:error, reason, control}
    end
  end

  @doc "Looks whether an answer has firewalled fields that flow into arguments."
  @spec watched(Control.t(), String.t(), Entry.came()) :: Control.t()
  def watched(%{secret: nil} = control, _name, _outcome), do: control

  # It has no firewalled fields, or nobody looks at it; any other is decoded: see `PtcRunner.Json.Run.Controlled`.
  def watched(control, _name, {:ok, %Text{}, _words}), do: control

  def watched(control, name, {:ok, value, _words}),
    do: %{control | secret: Watch.answered(control.secret, name, value)}

  def watched(control, name, {:cached, outcome}), do: watched(control, name, outcome)
  def watched(control, name, {:sent, _args, outcome}), do: watched(control, name, outcome)
  def watched(control, _name, _outcome), do: control

  defp outcome({:ok, _value, _words} = answered, _control), do: answered
  defp outcome({:error, {:tool_failed, text}}, _control), do: {:failed, text}

  defp outcome({:error, reason}, control) do
    {timeout, max_heap, _reading} = control.limits

    case reason do
      :timeout -> {:ended, {:timeout, timeout}}
      :memory_exceeded -> {:ended, {:memory_exceeded, Limits.bytes(max_heap)}}
      fault -> {:ended, Message.error(fault)}
    end
  end

  defp kept(%{keeps?: true} = control, entry),
    do: %{control | entries: [entry | control.entries]}

  defp kept(control, _entry), do: control

  @doc """
  The control with the answers of the journal for equal calls. Where calls overlap, the one that was made may come behind another one when the run
  goes on, which would be made too then.
  """
  @spec known(Control.t()) :: Control.t()
  def known(%{journal: none} = control) when none in [[], %{}], do: control

  def known(%{journal: journal, settings: settings} = control) do
    case for({name, %{cache: true}} <- settings, do: name) do
      [] ->
        control

      names ->
        for {_id, name, args, came} <- Entry.list(journal), name in names, reduce: control do
          control -> known(control, name, args, Entry.answer(came))
        end
    end
  end

  defp known(control, name, args, outcome) when elem(outcome, 0) in [:ok, :failed],
    do: control |> watched(name, outcome) |> in_cache(name, args, outcome)

  defp known(control, _name, _args, _outcome), do: control

  @doc "Keeps an answer, or that the tool runs, for equal calls."
  @spec in_cache(Control.t(), String.t(), term(), Entry.outcome() | :running) :: Control.t()
  # A tool of PTC-Lisp that has failed is called again.
  def in_cache(%{rules: %{lisp: %{}}} = control, name, args, {kind, _why})
      when kind in [:failed, :ended],
      do: %{control | cache: Map.delete(control.cache, Equal.key(control, name, args))}

  def in_cache(control, name, args, outcome),
    do: %{
      control
      | cache: Map.put(control.cache, Equal.key(control, name, args), outcome)
    }

  # A journal outlives this VM.
  defp storable(%{rules: %{record?: false, on_journal: nil}}, _name, _outcome), do: :ok

  defp storable(_control, name, {:ok, value, _words}) do
    with {:error, kind} <- Kept.check(value),
         do: {:error, Words.unstorable(name, "answered with", kind)}
  end

  defp storable(_control, _name, _outcome), do: :ok

  @doc "Tells the function of `:on_journal` an entry: an answer, or that a call has started."
  @spec journal(Control.t(), Entry.t()) :: :ok | {:error, Message.error()}
  def journal(%{rules: %{on_journal: nil}}, _entry), do: :ok

  def journal(%{rules: %{on_journal: fun}} = control, {id, name, _args, _outcome} = entry) do
    with {:ok, json} <- Entry.encode(entry) do
      json = Map.put(json, "key", Control.key(control, id))
      fun.(if Entry.started?(entry), do: Map.merge(json, of_start(control, id, name)), else: json)
      :ok
    else
      {:error, kind} -> {:error, Words.unstorable(name, "was called with", kind)}
    end
  catch
    kind, reason ->
      text = Guarded.failure(kind, reason, __STACKTRACE__)
      {:error, Words.denied(name, "the function of :on_journal #{text}")}
  end

  defp of_start(control, id, name) do
    %{
      "effect" => Atom.to_string(Order.effect(control, name)),
      "number" => control.number,
      "attempt" => Control.attempt(control, id)
    }
  end

  @doc "Tells the function of `:on_journal` about the run itself, before its first call."
  @spec begin(Control.t(), (() -> map())) :: :ok | {:error, Message.error()}
  def begin(%{rules: %{on_journal: nil}}, _run), do: :ok

  def begin(%{rules: %{on_journal: fun}}, run) do
    fun.(run.())
    :ok
  catch
    kind, reason ->
      text = Guarded.failure(kind, reason, __STACKTRACE__)
      {:error, Words.refused(text)}
  end

  @doc "Keeps the answers of the journal that rounds behind a failed one have given, and that this run has not come to."
  @spec unreached(Control.t()) :: Control.t()
  def unreached(%{journal: journal, entries: entries} = control) do
    case Enum.filter(Entry.list(journal), &Entry.beyond?/1) do
      [] -> control
      left -> %{control | entries: Enum.reverse(left, entries)}
    end
  end

  @doc "Marks the answers that rounds behind a failed one have given: a run in which calls do not overlap never asks for them."
  @spec beyond(Control.t(), pos_integer(), non_neg_integer()) :: Control.t()
  def beyond(control, fork, failed) do
    entries =
      for entry <- control.entries do
        case entry do
          {_id, _name, _args, {:beyond, _outcome}} ->
            entry

          {{^fork, round, _}, name, args, outcome} when round > failed ->
            {elem(entry, 0), name, args, {:beyond, outcome}}

          entry ->
            entry
        end
      end

    %{control | entries: entries}
  end
end
