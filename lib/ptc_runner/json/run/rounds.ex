defmodule PtcRunner.Json.Run.Rounds do
  @moduledoc false
  # Drives the rounds of a loop that calls tools concurrently. The native calls of all rounds run in
  # the caller, which has their terms; the tools run in several processes at the same time.
  #
  # The rounds start in the order of the list. When one fails, later ones are stopped. Earlier ones
  # continue, because one of them may fail too: the first error in the order of the list counts.
  #
  # Calls of tools that take several at once are gathered, and made together. Then more rounds are on their way than tools run at a
  # time, and a call of another tool is held until it may be made.

  alias PtcRunner.Json.{Control, Deadline, Entry, Run, ToolProcess}
  alias PtcRunner.Json.Control.Order
  alias PtcRunner.Json.Run.{Driver, Reply}
  alias PtcRunner.Json.Run.Rounds.{Answered, Asking, Driven, Gathered, Loop, Outcome}
  alias PtcRunner.Json.Run.Rounds.{Replayed, Requested, Running, Worker}
  alias PtcRunner.Native
  alias PtcRunner.Native.Panic
  alias PtcRunner.Sandbox.Guarded
  require Guarded
  require Reply

  @behaviour Driver

  # `ref`: the alias for all answers, and the tag of all monitors. It is an argument of the functions that
  # receive, which lets the VM skip older messages of the caller.
  # `waiting`: by round: its call, its process, and the start of the call for telemetry (nil if
  # nobody listens). `pids`: by monitor. `idle`: processes without a call. `values`: by round.
  # `limited?`: whether the caller has a heap limit. `batches`: by the first round of a list of calls that is made, all its rounds.
  #
  # `gathered`: the calls that are going to be made together; `held`: by round, calls of other tools that may not be made yet; `ahead`: how
  # many rounds are on their way at most; `ordered?`: whether calls may be held. `oldest`: the first round that has not ended and does not
  # wait for a person or for one that does; `paused`: how many do; `passed`: how many of these are before that round. `words`: of the answers that are values of rounds.
  #
  # `round`: of these, the round that is driven. `workers`: what another language keeps of the rounds, a struct of the module that does
  # for them what it does for a run.
  #
  # If the caller decides about each call, `control` does that; `id` is that of the loop, `calls` has the number of calls by
  # round, and `asked` what is known of the call that a round waits for: `{:running, call, until}` of a tool that runs;
  # `{:join, key, id}` if an equal call runs (`joins`: by its key, the rounds); `{:paused, ids}` if it waits for a person, with those that wait with it: the round goes on without the answer; `:later` of one that is not
  # made before those that wait.
  @enforce_keys [:ref, :state, :terms, :run, :heap, :most, :deadline, :limited?] ++
                  [:settings, :ahead, :gathered]
  defstruct @enforce_keys ++
              [waiting: %{}, pids: %{}, idle: [], values: %{}, error: nil] ++
              [control: nil, id: nil, calls: %{}, asked: %{}, round: nil] ++
              [
                batches: %{},
                held: :gb_trees.empty(),
                oldest: 0,
                words: 0,
                joins: %{},
                ordered?: false,
                paused: 0,
                passed: 0,
                workers: nil
              ]

  @type t :: %__MODULE__{}

  # The arguments of a list of calls take this part of the heap limit, or few more.
  @part_of_heap 4

  @doc """
  Runs all rounds of a loop at whose start a run was suspended, whose tools share its heap limit. Returns the loop's value, or
  the first error. The words are of answers that the run does not count itself.
  """
  @spec run(Reply.t(), Run.t()) :: {:ok, [term()], non_neg_integer()} | {:error, term()}
  def run(Reply.fork(list: list) = loop, run) do
    ref = :erlang.alias()
    {result, nil} = ref |> new(loop, run) |> go_on(list, 0, ref) |> Outcome.of(loop, nil)
    result
  end

  @doc """
  Runs them for a run whose caller decides about each call. `id`: that of the loop; `:paused`: calls wait for a decision, and no other one can go on.
  The id of what comes next is the same if no round calls a tool.
  """
  @spec controlled(Reply.t(), Run.t(), id :: pos_integer()) ::
          {{:ok, [term()], non_neg_integer()} | {:error, term()} | :paused, Control.t(),
           pos_integer()}
  def controlled(Reply.fork(list: list) = loop, %Run{control: control} = run, id) do
    ref = :erlang.alias()
    rounds = ordered(%{new(ref, loop, run) | control: control, id: id})
    {rounds, items, round, reply} = Replayed.first(rounds, list)
    rounds = rounds |> replied(reply, round - 1) |> go_on(items, round, ref)
    next = if rounds.calls == %{}, do: id, else: id + 1
    {result, control} = Outcome.of(rounds, loop, control.paused)
    {result, control, next}
  end

  @doc """
  Runs the rounds after one that waits for a decision at this call, with this id: until then the run went through the loop in turn. `:paused`, or the
  error of a run that has no time for it.
  """
  @spec after_one_that_waits(Reply.t(), Reply.t(), Run.t(), Entry.id()) ::
          {:paused | {:error, term()}, Control.t()}
  def after_one_that_waits(
        loop,
        call,
        %Run{control: control} = run,
        {id, round, number} = waiting
      ) do
    ref = :erlang.alias()
    Reply.call(state: state, terms: terms, left: left) = call
    Reply.fork(list: list) = loop = Reply.fork(loop, state: state, terms: terms, left: left)
    rounds = ordered(%{new(ref, loop, run) | control: control, id: id})

    rounds = %{
      rounds
      | asked: %{round => {:paused, [Entry.text(waiting)]}},
        calls: %{round => number},
        # Nobody asks for these values any more.
        values: for(before <- 0..(round - 1)//1, into: %{}, do: {before, nil}),
        oldest: round,
        paused: 1
    }

    [_waits | before] = control.paused
    items = Enum.drop(list, round + 1)

    rounds
    |> Asking.oldest()
    |> then(&Driven.resumed({:unanswered, &1}, call, round))
    |> go_on(items, round + 1, ref)
    |> Outcome.of(loop, before)
  end

  @doc """
  Runs the calls of a form of another language, for a run with a control or without one: `workers` is a struct of the module that answers
  what they ask for, and keeps what they have done. Returns the result, the control, the id of what comes next, and the workers.
  """
  @spec workers(Reply.t(), Run.t(), id :: pos_integer(), workers) ::
          {{:ok, [term()], non_neg_integer()} | {:error, term()} | :paused, Control.t() | nil,
           pos_integer(), workers}
        when workers: struct()
  def workers(Reply.fork(list: list) = loop, %Run{control: control} = run, id, workers) do
    ref = :erlang.alias()
    rounds = %{new(ref, loop, run) | control: control, id: id, workers: workers}
    rounds = rounds |> ordered() |> go_on(list, 0, ref)
    next = if rounds.calls == %{}, do: id, else: id + 1
    {result, control} = Outcome.of(rounds, loop, control && control.paused)
    {result, control, next, rounds.workers}
  end

  defp ordered(%{control: nil} = rounds), do: rounds

  defp ordered(%{control: control} = rounds) do
    if Order.waits?(control),
      do: %{rounds | ordered?: true, settings: control.settings},
      else: rounds
  end

  defp new(ref, Reply.fork(state: state, terms: terms, left: left), run) do
    heap = ToolProcess.share(run.max_heap, run.most)

    %__MODULE__{
      ref: ref,
      state: state,
      terms: terms,
      run: run,
      heap: heap,
      most: run.most,
      settings: run.settings,
      ordered?: run.settings != %{},
      ahead: Loop.ahead(run.settings, run.most),
      gathered: %Gathered{most_words: div(heap, @part_of_heap)},
      deadline: Deadline.from_now(left),
      limited?: Guarded.limited?()
    }
  end

  # `items` have not started; the first of them is the item of `round`.
  defp go_on(rounds, items, round, ref) do
    cond do
      Gathered.full?(rounds.gathered) and Running.busy(rounds) < rounds.most ->
        rounds |> Running.together() |> go_on(items, round, ref)

      released?(rounds) ->
        rounds |> released() |> go_on(items, round, ref)

      rounds.error == nil and items != [] and under_way(rounds, round) < rounds.ahead ->
        [item | items] = items
        rounds |> started(item, round) |> go_on(items, round + 1, ref)

      Gathered.any?(rounds.gathered) and Running.busy(rounds) < rounds.most ->
        rounds |> Running.together() |> go_on(items, round, ref)

      rounds.waiting == %{} ->
        ended(rounds, ref)

      true ->
        wait(rounds, items, round, ref)
    end
  end

  defp started(%{state: state, terms: terms} = rounds, item, round),
    do:
      replied(
        rounds,
        Panic.instead(fn -> Native.resume(state, terms, {:round, item, 0}) end),
        round
      )

  # Most rounds are at their call at once.
  defp replied(rounds, nil, _round), do: rounds

  defp replied(rounds, call, round) when elem(call, 0) in [:call, :last] do
    {call, rounds} = Worker.call(call, rounds, round)
    call |> Asking.asked_for(rounds, round) |> Driven.resumed(call, round)
  end

  defp replied(rounds, reply, round), do: Driven.drive(reply, rounds, round)

  # Rounds that wait for a person do not stop others.
  defp under_way(%{values: values, paused: paused}, started),
    do: started - map_size(values) - paused

  defp wait(%{waiting: waiting, pids: pids} = rounds, items, round, ref) do
    left = Deadline.left(Loop.next_deadline(rounds))

    # A message that arrives takes space on the heap, and the VM may then collect garbage while the process is in
    # the receive. It has no reason to if all terms that native functions made are on the heap already.
    rounds.limited? && :erlang.garbage_collect(self(), type: :minor)

    Guarded.await do
      {^ref, at, result, tag} when is_map_key(waiting, at) ->
        rounds |> Answered.answered(at, result, tag) |> go_on(items, round, ref)

      # The call was stopped.
      {^ref, _at, _result, _tag} ->
        go_on(rounds, items, round, ref)

      {^ref, monitor, :process, _pid, reason} when is_map_key(pids, monitor) ->
        rounds |> Answered.ended(monitor, reason) |> go_on(items, round, ref)
    after
      left ->
        rounds |> Answered.late(System.monotonic_time(:millisecond)) |> go_on(items, round, ref)
    end
  end

  # The round waits for the tool. `PtcRunner.Json.Run.Rounds.Answered` goes on with it.
  @impl true
  defdelegate request(request, run), to: Requested

  defp released?(%{held: held} = rounds) do
    not :gb_trees.is_empty(held) and
      :gb_trees.smallest(held)
      |> then(fn {round, call} -> Asking.may_call?(call, rounds, round) != :no end)
  end

  defp released(rounds) do
    {round, call, held} = :gb_trees.take_smallest(rounds.held)
    call |> Asking.asked_for(%{rounds | held: held}, round) |> Driven.resumed(call, round)
  end

  defp ended(rounds, ref) do
    Running.stop_all(rounds, ref)
    rounds
  end
end
