defmodule PtcRunner.Json.Control.Deciding do
  @moduledoc false
  # Decides about a call before it starts: what the journal has, what the cache has, the budget, the decision of a person, the hook.
  #
  #   a call ──▶ journal ──▶ tool ──▶ cache ──▶ budget ──▶ decision, hook or `approve` ──▶ run, answer, refuse, wait

  alias PtcRunner.Firewall.Watch
  alias PtcRunner.Json.{Budget, Control, Deadline, Entry, Keyed, Message, Place, Text, Texts}
  alias PtcRunner.Json.Control.{Answers, Asking, Decided, Equal, Order, Told, Words}

  @doc "Decides about a call. `pc`: its address."
  @spec decide(Control.t(), Entry.id(), term(), term(), non_neg_integer()) :: Control.step()
  def decide(%{journal: [{id, _, _, _} = entry | rest]} = control, id, name, args, _pc),
    do: journaled(control, entry, rest, name, args)

  def decide(%{journal: journal} = control, id, name, args, _pc) when is_map_key(journal, id) do
    {entry, rest} = Map.pop!(journal, id)
    journaled(control, entry, rest, name, args)
  end

  # Calls that overlap, or that others have waited for, do not come in their order.
  def decide(%{forks?: true, journal: [_ | _]} = control, id, name, args, pc),
    do: control |> Control.by_id() |> decide(id, name, args, pc)

  def decide(%{rules: %{replay?: true}} = control, _id, name, args, _pc),
    do: {:ended, Words.no_more(name, args), control}

  def decide(%{last: last} = control, id, name, args, pc) do
    case Order.missing(last, id) do
      nil -> unanswered(control, id, name, args, pc)
      error -> {:ended, error, %{control | journal: []}}
    end
  end

  defp unanswered(control, id, name, args, pc),
    do: fresh(%{control | number: control.number + 1}, id, name, args, pc)

  # The journal

  # The control is copied as seldom as possible, because that is what a call costs here.
  defp journaled(control, {_id, name, recorded, _outcome} = entry, rest, name, args)
       when recorded === args,
       do: replayed(control, entry, rest)

  # This is the error then, and not what is left of the journal.
  defp journaled(control, {_id, other, recorded, _outcome}, _rest, name, args),
    do: {:ended, Words.departs(name, args, other, recorded), %{control | journal: []}}

  defp replayed(control, {id, name, args, {:beyond, outcome}}, rest),
    do: replayed(control, {id, name, args, outcome}, rest)

  defp replayed(control, {id, name, args, outcome} = entry, rest) do
    number = control.number + 1
    control = Answers.watched(control, name, outcome)
    Told.replayed(control, {id, name, args, outcome}, number)

    case outcome do
      {:cached, outcome} ->
        entries = [entry | control.entries]
        Control.step(outcome, %{control | number: number, journal: rest, entries: entries})

      outcome ->
        outcome = Entry.answer(outcome)

        with :ok <- Budget.take(control.budget, name, args) do
          entries = [entry | control.entries]
          control = %{control | number: number, journal: rest, entries: entries}

          control =
            if Equal.cached?(control, name),
              do: Answers.in_cache(control, name, args, outcome),
              else: control

          Control.step(outcome, control)
        else
          {:error, reason} -> {:ended, over(control, reason), control}
        end
    end
  end

  # A call that has no answer yet

  defp fresh(control, id, name, args, pc) do
    with {:ok, fun} <- tool(control, name),
         :ok <- open(control, name),
         :no <- Equal.looked_up(control, id, name, args),
         :ok <- Budget.take(control.budget, name, args) do
      control |> Equal.under_started(id, name, args) |> decided(id, name, args, pc, fun)
    else
      {:denied, reason} ->
        refused(control, id, name, args, reason, :firewall)

      {:error, {:refused, _text} = reason} ->
        refused(control, id, name, args, reason, :plan)

      {:error, reason} ->
        refused(beyond_limit(control, id), id, name, args, over(control, reason), :limit)

      step ->
        step
    end
  end

  # PTC-Lisp has a reason of its own for a budget that is used up.
  defp over(%{rules: %{lisp: nil}}, reason), do: reason

  defp over(_control, {:execution_error, text}),
    do: {:tool_call_limit_exceeded, "tool_call_limit_exceeded: " <> text}

  defp over(_control, reason), do: reason

  @doc "The function of a tool."
  @spec tool(Control.t(), term()) :: {:ok, (term() -> term())} | {:error, term()}
  def tool(%{tools: tools}, name) when is_binary(name) and is_map_key(tools, name),
    do: {:ok, :erlang.map_get(name, tools)}

  def tool(%{tools: tools}, name), do: {:error, {:unknown_tool, name, tools}}

  @doc "Whether the firewall lets a tool be called, after what tools have answered."
  @spec open(Control.t(), term()) :: :ok | {:denied, term()}
  def open(%{secret: nil}, _name), do: :ok

  def open(%{secret: secret, rules: %{firewall: tools}}, name) do
    case Watch.refusal(secret, name, tools) do
      nil -> :ok
      text -> {:denied, Words.denied(name, text)}
    end
  end

  defp beyond_limit(%{limited: ids} = control, id), do: %{control | limited: [id | ids]}

  defp refused(control, id, name, args, reason, by) do
    outcome = {:ended, Message.error(reason)}
    Told.told(control, {id, name, args, outcome}, :refused, {args, args}, %Decided{by: by})
    ended(control, id, name, args, reason)
  end

  defp ended(control, id, name, args, reason) do
    case Answers.answered(control, {id, name, args, args, false}, {:error, reason}) do
      {:ok, control} -> {:ended, reason, control}
      {:error, reason, control} -> {:ended, reason, control}
    end
  end

  # A decision may answer with a JSON text.
  defp decoded({{:answer, %Text{} = text}, decided, control}) do
    case Texts.answer(text) do
      {:error, why} -> {{:deny, why}, decided, control}
      value -> {{:answer, value}, decided, control}
    end
  end

  defp decoded(decision), do: decision

  defp decided(control, id, name, args, pc, fun) do
    case control
         |> Asking.decision(id, name, args, pc)
         |> decoded()
         |> Order.kept(control, name) do
      :later ->
        :later

      {:run, decided, control} ->
        run(control, {id, name, args, args, pc}, fun, :run, decided)

      {{kind, others}, decided, control} when kind in [:run, :approve] ->
        said = if kind == :run, do: :run, else: :approved
        run(control, {id, name, args, others, pc}, fun, said, decided)

      {{:answer, value}, decided, control} ->
        outcome = {:ok, value, nil}
        sent = Asking.sent(control, name, args)
        Told.told(control, {id, name, args, outcome}, :answer, {sent, args}, decided)
        running = {id, name, args, sent, Equal.cached?(control, name)}

        case Answers.answered(control, running, outcome) do
          {:ok, control} -> {:answer, value, nil, control}
          {:error, reason, control} -> {:ended, reason, control}
        end

      {{:deny, reason}, decided, control} ->
        reason = Words.denied(name, reason)
        sent = Asking.sent(control, name, args)
        Told.told(control, {id, name, args, {:ended, reason}}, :deny, {sent, args}, decided)
        ended(control, id, name, args, reason)

      {{:pause, call}, decided, control} ->
        Told.told(control, {id, name, args, nil}, :pause, {call.args, args}, decided)
        {:wait, %{control | paused: [call | control.paused]}}

      {{:departs, reason}, _decided, control} ->
        {:ended, reason, control}
    end
  end

  # A call has the time of its tool, and what a hook has left of that of the run.
  defp run(control, {id, name, args, _given, _pc} = call, fun, said, decided) do
    left = remaining(control)

    if left > 0,
      do: run(control, call, fun, said, decided, left),
      else: ended(control, id, name, args, :timeout)
  end

  defp run(control, {id, name, args, given, pc}, fun, said, decided, left) do
    sent = Asking.sent(control, name, given)
    Told.told(control, {id, name, args, nil}, said, {sent, given}, decided)
    cached? = Equal.cached?(control, name)

    with :ok <- Answers.journal(control, {id, name, args, Entry.sent(:started, args, sent)}) do
      timeout =
        case control.settings do
          %{^name => %{timeout: timeout}} when timeout != nil -> timeout
          _settings -> :infinity
        end

      control = if cached?, do: Answers.in_cache(control, name, args, :running), else: control
      {given, control} = keyed(control, id, name, given, pc)
      {:run, {id, name, args, sent, cached?}, fun, given, {timeout, left}, control}
    else
      {:error, reason} -> {:ended, reason, control}
    end
  end

  # What the tool, or the record of its call, is told of the call.
  defp keyed(%{rules: %{watch: watch}, settings: settings} = control, id, name, args, pc) do
    if watch != nil or match?(%{^name => %{keyed: true}}, settings) do
      {path, place} = Place.path(control.place, pc)
      call = %{key: Control.key(control, id), path: path, attempt: Control.attempt(control, id)}
      control = if place == nil, do: control, else: %{control | place: place}
      {%Keyed{args: args, call: call}, control}
    else
      {args, control}
    end
  end

  # An atom is more than any number. Without a hook, the run knows its time.
  defp remaining(%{rules: %{on_call: nil}}), do: :infinity
  defp remaining(%{deadline: deadline}), do: Deadline.left(deadline)
end
