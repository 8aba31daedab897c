defmodule PtcRunner.Json.Resuming do
  @moduledoc false
  # Goes on with a paused run: it runs anew, and the calls that were answered before get their answers from the journal.

  alias PtcRunner.Json.{Call, Control, Entry, Evaluation, Given, Keyed, Message, Paused, Runner}
  alias PtcRunner.IsoTime
  alias PtcRunner.Json.Within
  alias PtcRunner.Json.Control.{Decided, Order, Rules}
  alias PtcRunner.Json.Paused.{Packed, Sound, Stored}
  alias PtcRunner.Shown

  @function "PtcRunner.Json.resume/3"

  # Of the form of paused runs.
  @version 1

  # What the options of the run that goes on say about calls.
  @asked [
    :max_tool_calls,
    :on_call,
    :on_journal,
    :pause_ttl,
    :tool_context,
    :watch,
    :firewall,
    :plan,
    :within,
    :unknown,
    :forms,
    :hold
  ]

  @doc "See `PtcRunner.Json.resume/3`."
  @spec resume(Paused.t(), term(), keyword()) :: PtcRunner.Json.result()
  def resume(paused, decisions, opts) do
    given = Given.read(opts, @function)

    with :ok <- json(paused),
         {:ok, paused, given} <- given(paused, decisions, given, opts),
         do: Evaluation.of(paused.program, given)
  end

  defp json(%Paused{lisp: lisp}) when lisp != nil,
    do:
      {:error,
       {:execution_error,
        "The paused run is one of PTC-Lisp: PtcRunner.Lisp.resume/3 goes on with it"}}

  defp json(_paused), do: :ok

  @doc """
  The paused run, and what it goes on with, of any language: the limits, the memory and the control of `given` are those of the
  paused run, unless `opts` say others.
  """
  @spec given(Paused.t(), term(), Given.t(), keyword()) ::
          {:ok, Paused.t(), Given.t()} | {:error, Message.error()}
  def given(paused, decisions, given, opts) do
    paused = whole(paused)

    with :ok <- hooks(paused, opts),
         {:ok, decisions, paused} <- approved(paused, decisions),
         {:ok, given} <- of_paused(paused, decisions, given, opts),
         do: {:ok, paused, given}
  end

  @doc "Resumes a run for `PtcRunner.Agent`: see `PtcRunner.Json.Evaluation.value/3`."
  @spec value(Paused.t(), term(), keyword(), Evaluation.runner()) ::
          {:ok, term()} | {:error, Message.fault()} | {:paused, Paused.t()}
  def value(paused, decisions, opts, run \\ &Runner.run/1) do
    given = Given.read(opts, @function, :own)
    # An agent says itself whether there is a firewall.
    opts = opts |> Keyword.delete(:edition) |> Keyword.put(:firewall, true)

    with {:ok, paused, given} <- given(paused, decisions, given, opts),
         do:
           paused.program |> Evaluation.run(given, run) |> Evaluation.value(paused.program, given)
  end

  # The program is read as before, with the memory and the time of before.
  defp of_paused(paused, decisions, %Given{} = given, opts) do
    with {:ok, limits, control} <- control(paused, decisions, given.limits, opts[:edition]) do
      %Control{rules: asked, budget: budget, settings: settings} = Given.control(given)
      rules = Map.merge(control.rules, Map.take(asked, @asked))
      kept = fn name, given -> if opts[name] == nil, do: Map.fetch!(paused, name), else: given end
      said = &if Keyword.has_key?(opts, &1), do: &2, else: Map.fetch!(paused, &1)
      {timeout, max_heap, reading} = limits

      rules = %{
        rules
        | max_tool_calls: said.(:max_tool_calls, rules.max_tool_calls),
          pause_ttl: said.(:pause_ttl, rules.pause_ttl),
          firewall: said.(:firewall, rules.firewall),
          within: within(paused.within, asked.within),
          unknown: said.(:unknown, rules.unknown)
      }

      run_id = Keyed.run(paused)
      control = %{control | rules: rules, budget: budget, settings: settings, run_id: run_id}

      limits = {kept.(:timeout, timeout), kept.(:max_heap, max_heap), reading}
      most = said.(:tool_concurrency, given.most)

      {:ok,
       %{given | limits: limits, memory: paused.memory, most: most, now: nil, control: control}}
    end
  end

  # Plans whose calls are counted over several runs are those of a loop, and the run may have others.
  defp within(maps, asked) do
    if Enum.all?(asked, & &1.counts), do: asked ++ Within.plans!(maps, @function), else: asked
  end

  # A program that waits itself: the decision is about its plan.
  defp approved(%Paused{plan: plan} = paused, decision) when plan != nil do
    case decided(decision) do
      :approve ->
        {:ok, :approve, %{paused | plan: nil}}

      {:within, within} ->
        within = within |> Within.plans!(@function) |> Within.to_maps()
        {:ok, :approve, %{paused | plan: nil, within: paused.within ++ within}}

      {:deny, reason} ->
        {:error, {:refused, Within.denied(reason)}}

      other ->
        raise ArgumentError,
              "a program waits for its approval: the decision must be :approve, {:within, plan} or {:deny, reason}, " <>
                "also in {:decided, decision, by: name, note: text, at: time}, got: " <>
                Shown.text(other, 200)
    end
  end

  defp approved(paused, decisions), do: {:ok, decisions, paused}

  defp decided({:decided, decision, _more}), do: decision
  defp decided(decision), do: decision

  @fields Map.keys(struct(Paused))
  @fields_of_call Map.keys(struct(Call))

  # A term of an earlier release has fewer fields.
  defp whole(%Paused{calls: calls} = paused) do
    if Map.keys(paused) == @fields,
      do: %{paused | calls: calls(calls)},
      else: struct(Paused, %{Map.from_struct(paused) | calls: calls(calls)})
  end

  defp whole(other), do: other

  defp calls([%Call{} = call | rest]), do: [whole_call(call) | calls(rest)]
  defp calls(other), do: other

  defp whole_call(call) do
    if Map.keys(call) == @fields_of_call,
      do: call,
      else: struct(Call, Map.from_struct(call))
  end

  # What decided about the calls before must not be left out by mistake.
  defp hooks(%Paused{hooks: hooks}, opts) when is_list(hooks) do
    case Enum.reject(hooks, &Keyword.has_key?(opts, &1)) do
      [] ->
        :ok

      [name | _] ->
        {:error,
         {:execution_error,
          "The run was paused with :#{name}, and would go on without it: give #{given(name)} again, or #{name}: nil to go on without one"}}
    end
  end

  # Another form is an error of its own.
  defp hooks(_paused, _opts), do: :ok

  defp given(name) when name in [:on_call, :on_journal], do: "the function"
  defp given(:tool_context), do: "the context"

  # The limits and the control, or an error. Raises for decisions of no known form.
  defp control(paused, decisions, {timeout, max_heap, _reading}, edition) do
    with :ok <- version(paused.version),
         {:ok, entries} <- Packed.unpack(paused.journal),
         :ok <- Sound.check(paused, entries),
         decisions = decisions!(decisions, paused.calls),
         :ok <- edition(paused.edition, edition),
         :ok <- expired(paused.expires_at),
         {:ok, decisions} <- known(decisions, paused.calls) do
      reading =
        {paused.max_depth, paused.keys == :any, paused.strict, paused.structs == :values,
         paused.edition}

      control = %Control{
        journal: entries,
        decisions: decisions,
        waiting: for(call <- Stored.keyed(paused).calls, into: %{}, do: {id(call.id), call}),
        rules: %Rules{fingerprint: paused.fingerprint, lisp: paused.lisp},
        last: if(paused.forks, do: Order.last(entries)),
        forks?: paused.forks,
        now: paused.now,
        attempts: for({id, count} <- paused.attempts, into: %{}, do: {id(id), count})
      }

      {:ok, {timeout, max_heap, reading}, control}
    else
      {:error, text} -> {:error, {:execution_error, text}}
    end
  end

  defp id(text) do
    {:ok, id} = Entry.id(text)
    id
  end

  defp version(@version), do: :ok

  defp version(other),
    do:
      {:error,
       "The paused run has version #{Shown.text(other, 50)}, and this library reads version #{@version}"}

  defp edition(_own, nil), do: :ok
  defp edition(own, own), do: :ok

  defp edition(own, other),
    do:
      {:error,
       "The run was paused in edition #{own} of the language, and cannot go on in edition #{other}"}

  defp expired(nil), do: :ok

  defp expired(text) do
    with {:ok, until, _offset} <- IsoTime.datetime(text),
         :lt <- DateTime.compare(DateTime.utc_now(), until) do
      :ok
    else
      _late ->
        {:error, "The paused run has expired: it could be resumed until #{Shown.cut(text, 50)}"}
    end
  end

  defp decisions!(decision, calls) when is_tuple(decision) or is_atom(decision) do
    decided = decision!(decision)
    Map.new(calls, &{&1.id, decided})
  end

  # What a function leaves waiting waits in the next pause too.
  defp decisions!(decide, calls) when is_function(decide, 1) do
    for call <- calls, decision = decide.(call), decision != :pause, into: %{} do
      {call.id, decision!(decision)}
    end
  end

  # A list has a decision for each call, in their order, or pairs of ids and decisions.
  defp decisions!([{id, _decision} | _] = pairs, _calls) when is_binary(id), do: by_id!(pairs)

  defp decisions!([_ | _] = decisions, calls) when length(decisions) == length(calls),
    do: calls |> Enum.zip_with(decisions, &{&1.id, decision!(&2)}) |> Map.new()

  defp decisions!([_ | _] = decisions, calls) do
    raise ArgumentError,
          "a list of decisions must have one for each call that waits, in the order of `calls`: " <>
            "#{counted(length(calls), "call waits", "calls wait")}, got: #{counted(length(decisions), "decision", "decisions")}"
  end

  defp decisions!(decisions, _calls) when is_map(decisions) or decisions == [],
    do: by_id!(decisions)

  defp decisions!(other, _calls), do: wrong!(other)

  defp by_id!(decisions) do
    decided = Map.new(decisions, fn {id, decision} -> {id, decision!(decision)} end)

    # Of two decisions about one call, neither is known to be the one that was meant.
    if is_list(decisions) and map_size(decided) != length(decisions), do: twice!(decisions)
    decided
  rescue
    _error in [FunctionClauseError, Protocol.UndefinedError] -> wrong!(decisions)
  end

  @spec twice!([{String.t(), term()}]) :: no_return()
  defp twice!(decisions) do
    ids = for {id, _decision} <- decisions, do: id
    id = hd(ids -- Enum.uniq(ids))
    raise ArgumentError, "a call can have one decision, and #{Shown.text(id, 100)} has several"
  end

  defp counted(1, one, _many), do: "1 #{one}"
  defp counted(count, _one, many), do: "#{count} #{many}"

  defp decision!(term) do
    case Decided.of(term, :resume) do
      {:ok, %{decision: decision} = decided} when decision not in [:run, :pause] -> decided
      {:ok, _other} -> wrong!(term)
      {:error, why} -> wrong!(term, why)
    end
  end

  @spec wrong!(term()) :: no_return()
  defp wrong!(other), do: wrong!(other, Shown.text(other, 200))

  @spec wrong!(term(), String.t()) :: no_return()
  defp wrong!(_other, why) do
    raise ArgumentError,
          "a decision must be :approve, {:run, args}, {:answer, value} or {:deny, reason}, " <>
            "also in {:decided, decision, by: name, note: text, at: time}, " <>
            "for all calls, in a list in their order, in a map from their ids, or as the answer of a function of a call, got: #{why}"
  end

  defp known(decisions, calls) do
    ids = Enum.map(calls, & &1.id)

    case Map.keys(decisions) -- ids do
      [] ->
        {:ok, Map.new(decisions, fn {text, decision} -> {id(text), decision} end)}

      [unknown | _] ->
        {:error,
         "No call #{Shown.text(unknown, 100)} waits. These wait: #{Shown.few(ids, &inspect/1)}"}
    end
  end
end
