defmodule PtcRunner.Json.Control.Asking do
  @moduledoc false
  # Asks about a call: a person who has decided about it, the hook of the run, or, where it waits, whoever goes on with the run.

  alias PtcRunner.Json.{Budget, Call, Control, Entry, Place}
  alias PtcRunner.Json.Control.{Decided, Deciding, Equal, Order, Told, Words}

  @doc """
  Whether a call waits behind one that does, which has no answer yet. The hook is asked about it, and again when the run goes on, unless it lets it
  wait. A decision about it is not used yet.
  """
  @spec waits_too(Control.t(), Entry.id(), term(), term(), non_neg_integer()) ::
          {:wait, Control.t()} | :other
  def waits_too(control, id, name, args, pc) do
    with true <- asks?(control, name),
         true <- unknown?(control, id, name, args),
         {:ok, _fun} <- Deciding.tool(control, name),
         :ok <- Deciding.open(control, name),
         {:ok, sent} <- converted(control, name, args),
         :ok <- Budget.take(control.budget, name, args),
         {:ok, call, decided, control} <- waiting(control, id, name, {args, sent}, pc) do
      Told.told(control, {id, name, args, nil}, :pause, {call.args, args}, decided)
      {:wait, %{control | paused: [call | control.paused]}}
    else
      _other -> :other
    end
  end

  defp waiting(%{waiting: waiting} = control, id, name, {args, _sent}, _pc)
       when is_map_key(waiting, id) do
    {call, waiting} = Map.pop!(waiting, id)

    if call.tool === name and asked(call) === args,
      do: {:ok, call, nil, %{control | waiting: waiting}},
      else: :other
  end

  defp waiting(%{rules: %{on_call: hook}} = control, id, name, args, pc) do
    {call, control} = call(%{control | number: control.number + 1}, id, name, args, pc)

    case hook && Decided.asked(hook, call) do
      nil -> {:ok, with_text(call), nil, control}
      %Decided{decision: :pause} = decided -> {:ok, with_text(call), decided, control}
      _runs -> :other
    end
  end

  # Neither the journal, which is looked up by ids, nor the cache has its answer.
  defp unknown?(%{journal: journal, cache: cache} = control, id, name, args) do
    (journal == [] or not is_map_key(journal, id)) and
      (cache == %{} or not is_map_key(cache, Equal.key(control, name, args)))
  end

  @doc "The decision about a call, that of a person where it has waited."
  @spec decision(Control.t(), Entry.id(), term(), term(), non_neg_integer()) ::
          {term(), Decided.t() | nil, Control.t()}
  def decision(%{waiting: waiting} = control, id, name, args, _pc)
      when is_map_key(waiting, id) do
    {call, waiting} = Map.pop!(waiting, id)
    control = %{control | waiting: waiting}

    cond do
      call.tool !== name or asked(call) !== args ->
        {{:departs, Words.departs(name, args, call.tool, asked(call))}, nil, control}

      is_map_key(control.decisions, id) ->
        %Decided{decision: decision} = decided = Map.fetch!(control.decisions, id)
        {approved(control, decision, call), decided, control}

      true ->
        {{:pause, call}, nil, control}
    end
  end

  def decision(control, id, name, args, pc) do
    # Nobody is asked about a call that its tool refuses: the tool says why, and has no effect.
    case asks?(control, name) and converted(control, name, args) do
      false -> {:run, nil, control}
      :refused -> {:run, nil, control}
      {:ok, sent} -> asked(control, id, name, {args, sent}, pc)
    end
  end

  defp asks?(%{rules: %{on_call: nil}, settings: settings}, name),
    do: match?(%{^name => %{approve: true}}, settings)

  defp asks?(_control, _name), do: true

  defp asked(%{rules: %{on_call: nil}} = control, id, name, args, pc) do
    {call, control} = call(control, id, name, args, pc)
    {{:pause, with_text(call)}, nil, control}
  end

  defp asked(%{rules: %{on_call: hook}} = control, id, name, args, pc) do
    {call, control} = call(control, id, name, args, pc)

    case Decided.asked(hook, call) do
      %Decided{decision: :pause} = decided -> {{:pause, with_text(call)}, decided, control}
      %Decided{decision: decision} = decided -> {decision, decided, control}
    end
  end

  # The arguments as the tool gets them.
  defp converted(%{settings: settings}, name, args) do
    case settings do
      %{^name => %{sent: sent}} when sent != nil -> sent.(args)
      _settings -> {:ok, args}
    end
  end

  @doc "What the journal and the audit have of the arguments of a call. Where nobody reads it, it is as it is."
  @spec sent(Control.t(), term(), term()) :: term()
  def sent(%{keeps?: false, rules: %{watch: nil}}, _name, args), do: args
  def sent(%{keeps?: false, rules: %{watch: {:decisions, _watch}}}, _name, args), do: args

  def sent(control, name, args) do
    case converted(control, name, args) do
      {:ok, sent} -> sent
      :refused -> args
    end
  end

  @doc "The arguments that the program gave a call."
  @spec asked(Call.t()) :: term()
  def asked(%{asked: nil, args: args}), do: args
  def asked(%{asked: asked}), do: asked

  # Who approves a call has read its arguments, and not those that the program gave. These are passed on where the tool makes of them what
  # was read: then it also says what it has converted.
  defp approved(control, :approve, %{args: args} = call) do
    asked = asked(call)
    {:approve, if(converted(control, call.tool, asked) === {:ok, args}, do: asked, else: args)}
  end

  defp approved(_control, {:run, others}, _call), do: {:approve, others}
  defp approved(_control, decision, _call), do: decision

  defp call(control, id, name, {args, sent}, pc) do
    {path, place} = Place.path(control.place, pc)

    approve? = match?(%{^name => %{approve: true}}, control.settings)
    text = Entry.text(id)

    call = %Call{
      id: text,
      tool: name,
      args: sent,
      asked: if(sent === args, do: nil, else: args),
      effect: Order.effect(control, name),
      approve: approve?,
      number: control.number,
      path: path,
      key: Control.key(control, id, text),
      attempt: Control.attempt(control, id),
      context: control.rules.tool_context || %{}
    }

    # The place changes where a path is asked for that was not known.
    {call, if(place == nil, do: control, else: %{control | place: place})}
  end

  # A paused run is stored, and what the application has given the run is not in it.
  defp with_text(call), do: %{call | text: Call.text(call), context: nil}
end
