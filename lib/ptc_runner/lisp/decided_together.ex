defmodule PtcRunner.Lisp.DecidedTogether do
  @moduledoc false
  # Calls of a tool for rounds that follow one another, which do not depend on each other's answers, of a run whose calls are counted, decided
  # about or recorded: each is decided about in its order, as a single call, and then so many go to the tool in a list as it takes.
  #
  # The run catches no error of its tools there. So it ends with the first call that has no value, and the calls behind it, which its list
  # had too, are only kept.

  alias PtcRunner.Json.{Batch, Control, Keyed, Run, ToolProcess}
  alias PtcRunner.Json.Control.Answers
  alias PtcRunner.Json.Run.{Controlled, InCaller, Reply}
  alias PtcRunner.Json.Run.Rounds.Running
  alias PtcRunner.Lisp.{Asking, Ledger}
  alias PtcRunner.Native.Telemetry
  require Reply
  require Telemetry

  # `ends`: when the time of the run is over; `room`: the words that it may still build; `paused`: the calls that waited before these. `values`: of
  # the calls so far, the newest first.
  @enforce_keys [:name, :pc, :ends, :room, :paused]
  defstruct @enforce_keys ++ [values: [], words: 0]

  @typedoc "What ends the run at a call: its tool has failed, the run ends with an error, or it waits."
  @type stopped :: {:failed, term()} | {:ended, term()} | :paused

  @typedoc """
  What comes of the calls: the answers of all of them or of the first ones; or what ends the run at one of them, with its arguments, when it
  began, and the entries of the calls behind it, the newest first.
  """
  @type step ::
          {:answers, [term()], non_neg_integer(), Run.t()}
          | {stopped(), args :: term(), Ledger.began(), [Ledger.entry()], Run.t()}

  @doc "Decides about the calls with these arguments, and makes them. The strategy of the run has the id of the first one, and gets their entries."
  @spec made(Reply.t(), [term(), ...], Run.t()) :: step()
  def made(Reply.calls(tool: name, left: left, built: built, pc: pc), all, %Run{} = run) do
    %Run{max_heap: max_heap, control: control} = run
    ends = if left == :infinity, do: :infinity, else: now() + max(left, 0)
    room = if max_heap == 0, do: :infinity, else: max_heap - built
    paused = control.paused
    lists(all, %__MODULE__{name: name, pc: pc, ends: ends, room: room, paused: paused}, run)
  end

  defp now, do: System.monotonic_time(:millisecond)

  # The run says that it has met its limit.
  defp lists(all, %{values: values, words: words, room: room}, run)
       when all == [] or (values != [] and words > room),
       do: {:answers, :lists.reverse(values), words, run}

  defp lists(all, so_far, run) do
    began = Ledger.began()
    {members, stopped, rest, run} = decided(all, most(run, so_far.name), so_far, run, [])
    {results, run} = sent(members, so_far, run)

    case kept(members, results, so_far, {began, began}, run) do
      {:values, so_far, run} when stopped == nil -> lists(rest, so_far, run)
      {:values, so_far, run} -> stopped(stopped, rest, so_far, run)
      ended -> ended
    end
  end

  defp most(%Run{settings: settings}, name) do
    case settings do
      %{^name => %{batch: most}} when most != nil -> most
      _alone -> 1
    end
  end

  # The next calls that are made or answered, the one after them that is neither, and those that are left.
  defp decided([args | rest] = all, most, so_far, run, members) when most > 0 do
    %Run{strategy: %{id: id} = asking, control: before, max_heap: max_heap} = run
    next = fn control -> %{run | control: control, strategy: %{asking | id: id + 1}} end

    case Controlled.decide(run, id, so_far.name, args, so_far.pc) do
      {:run, running, fun, given, time, control} ->
        made = with {:ok, _words} <- InCaller.weigh(Keyed.args(given), nil, max_heap), do: :run
        member = {id, args, {made, running, fun, given, time}}
        most = if made == :run, do: most - 1, else: 0
        decided(rest, most, so_far, next.(control), [member | members])

      {:answer, value, words, control} ->
        result = Controlled.weighed(value, words, max_heap)
        cached? = Asking.cached?(control, before, so_far.name, args)
        most = if elem(result, 0) == :ok, do: most - 1, else: 0
        member = {id, args, {:answered, result, cached?}}
        decided(rest, most, so_far, next.(control), [member | members])

      # An equal call is among these, whose answer this one gets.
      {:join, _key, _control} when members != [] ->
        {:lists.reverse(members), nil, all, run}

      {:failed, failed, control} ->
        {:lists.reverse(members), {{:failed, failed}, args}, rest, next.(control)}

      {:wait, control} ->
        {:lists.reverse(members), {:paused, args}, rest, next.(control)}

      {:ended, reason, control} ->
        {:lists.reverse(members), {{:ended, reason}, args}, rest, next.(control)}
    end
  end

  defp decided(rest, _most, _so_far, run, members), do: {:lists.reverse(members), nil, rest, run}

  # Makes those that are to be made; returns what came of each.
  defp sent(members, %{name: name} = so_far, run) do
    case for {_id, _args, {:run, _running, fun, given, time}} <- members, do: {fun, given, time} do
      [] -> {[], run}
      [{fun, _given, time} | _] = calls -> sent(calls, name, fun, left(time, so_far), run)
    end
  end

  defp left({timeout, still}, %{ends: ends}) do
    left = if ends == :infinity, do: :infinity, else: max(ends - now(), 0)
    {timeout, min(left, still)}
  end

  defp sent(calls, name, fun, {timeout, left}, %Run{process: process, settings: settings} = run) do
    all = for {_fun, given, _time} <- calls, do: given

    given =
      case settings do
        %{^name => %{batch: most}} when most != nil -> %Batch{calls: all}
        _alone -> hd(all)
      end

    spans = if Telemetry.on?(), do: Enum.map(all, fn _ -> Telemetry.tool_began(name) end)
    {result, process} = ToolProcess.call(process, name, fun, given, min(left, timeout))

    # The process has ended with its calls.
    {result, process} =
      if result == {:error, :timeout} and timeout < left,
        do: {{:error, Asking.tool_late(name, timeout)}, ToolProcess.new(run.max_heap)},
        else: {result, process}

    results = result |> each(all) |> Enum.map(&Asking.told_apart/1)
    spans && Enum.zip_with(spans, results, &Running.told/2)
    {results, %{run | process: process}}
  end

  defp each({:all, results}, _all), do: results
  defp each(result, all), do: Enum.map(all, fn _call -> result end)

  # Keeps what came of calls, up to one that ends the run.
  defp kept([], [], so_far, _began, run), do: {:values, so_far, run}

  defp kept([{id, args, came} | members], results, so_far, {first, began}, run) do
    {result, cached?, results, control} = answered(came, results, run.control)
    run = %{run | control: control}

    case result do
      {:ok, value, words} ->
        at = System.monotonic_time()

        {entry, _next} =
          if cached?,
            do: {Ledger.cached(so_far.name, args, value), nil},
            else: Ledger.answered(so_far.name, args, value, began, at)

        so_far = %{so_far | values: [value | so_far.values], words: so_far.words + words}
        began = {first, Ledger.after_other(first, at)}
        kept(members, results, so_far, began, Asking.with_entries(run, [entry]))

      {:error, {:tool_failed, failed}} ->
        behind({:failed, failed}, {id, args, began}, {members, results}, so_far, run)

      {:error, reason} ->
        behind({:ended, reason}, {id, args, began}, {members, results}, so_far, run)
    end
  end

  # What came of a call; an error if that cannot be kept.
  defp answered({:answered, result, cached?}, results, control),
    do: {result, cached?, results, control}

  defp answered({:run, running, _fun, _given, _time}, [result | results], control),
    do: answered(result, running, results, control)

  # Its arguments are too large.
  defp answered({error, running, _fun, _given, _time}, results, control),
    do: answered(error, running, results, control)

  defp answered(result, running, results, control) do
    case Answers.answered(control, running, result) do
      {:ok, control} -> {result, false, results, control}
      {:error, reason, control} -> {{:error, reason}, false, results, control}
    end
  end

  # The calls behind one that ends the run were made, and do not count for one that is replayed. None of them waits.
  defp behind(stopped, {id, args, began}, {members, results}, so_far, run) do
    {entries, control} = made_behind(members, results, so_far.name, began, [], run.control)
    entries_of_run = Enum.map(control.entries, &beyond(&1, id))
    control = %{control | entries: entries_of_run, paused: so_far.paused}
    {stopped, args, began, entries, %{run | control: control}}
  end

  defp made_behind(
         [{_id, _args, {:answered, _, _}} | members],
         results,
         name,
         began,
         entries,
         it
       ),
       do: made_behind(members, results, name, began, entries, it)

  defp made_behind([{_id, args, came} | members], results, name, began, entries, control) do
    {result, false, results, control} = answered(came, results, control)
    entries = [Asking.entry_of(result, name, args, began) | entries]
    made_behind(members, results, name, began, entries, control)
  end

  defp made_behind([], _results, _name, _began, entries, control), do: {entries, control}

  defp beyond({at, name, args, outcome}, id) when is_integer(at) and at > id,
    do: {at, name, args, {:beyond, outcome}}

  defp beyond(entry, _id), do: entry

  # The calls that follow one that waits may wait with it.
  defp stopped({:paused, args}, rest, so_far, run) do
    control = Control.by_id(run.control)
    control = waiting(rest, run.strategy.id, so_far, control)
    {:paused, args, Ledger.began(), [], %{run | control: control}}
  end

  defp stopped({stopped, args}, _rest, _so_far, run),
    do: {stopped, args, Ledger.began(), [], run}

  defp waiting([args | rest], id, %{name: name, pc: pc} = so_far, control) do
    case Control.Asking.waits_too(control, id, name, args, pc) do
      {:wait, control} -> waiting(rest, id + 1, so_far, control)
      # What the hook lets run is not made before the one that waits.
      :other when control.rules.on_call != nil -> waiting(rest, id + 1, so_far, control)
      :other -> control
    end
  end

  defp waiting([], _id, _so_far, control), do: control
end
