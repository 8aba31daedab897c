defmodule PtcRunner.Json.Run.Rounds.Asking do
  @moduledoc false
  # What becomes of a call of a round: it is made now, or gathered, or held, or somebody else answers it.

  alias PtcRunner.Json.{Entry, Keyed}
  alias PtcRunner.Json.Control.{Deciding, Equal}
  alias PtcRunner.Json.Run.{Controlled, InCaller, Reply, Rounds}
  alias PtcRunner.Json.Run.Rounds.{Gathered, Running}
  alias PtcRunner.Sandbox.Weight
  require Reply

  @typedoc "The round waits, goes on with an answer, the error of its tool or without an answer, or ends with an error."
  @type step ::
          {:waits, Rounds.t()}
          | {:unanswered, Rounds.t()}
          | {:resume, {:answer, term(), non_neg_integer()}, Rounds.t()}
          | {:failed, String.t(), Rounds.t()}
          | {{:error, term()}, Rounds.t()}

  @doc "Asks for the call of a round: whether the round waits now, goes on with an answer, or ends."
  @spec asked_for(Reply.t(), Rounds.t(), non_neg_integer()) :: step()
  def asked_for(Reply.call(left: left), rounds, _round) when left <= 0,
    do: {{:error, :deadline}, rounds}

  def asked_for(Reply.last(left: left), rounds, _round) when left <= 0,
    do: {{:error, :deadline}, rounds}

  # Without lists of calls and calls that wait for a person, no more rounds are on their way than tools may run.
  def asked_for(call, %{ordered?: true} = rounds, round) do
    case may_call?(call, rounds, round) do
      :yes -> asked_for_now(call, rounds, round)
      :no -> {:waits, %{rounds | held: :gb_trees.insert(round, call, rounds.held)}}
      :later -> {:waits, later(rounds, round)}
    end
  end

  def asked_for(call, rounds, round), do: asked_for_now(call, rounds, round)

  @doc """
  Whether the call of a round may be made now. Where tools run one after another, one that writes, and does not take lists, is called in the order
  of the rounds: as if all rounds before had ended before this one began. No such call is made where a round before waits for a person (`:later`), but
  others may wait too: those of tools that wait, and those that the hook lets wait. The same holds for the calls of a round that goes on without an answer.
  """
  @spec may_call?(Reply.t(), Rounds.t(), non_neg_integer()) :: :yes | :no | :later
  def may_call?(call, %{settings: settings, asked: asked} = rounds, round) do
    name = tool(call)

    case settings do
      %{^name => setting} when is_map_key(asked, round) -> may_follow?(setting, rounds)
      _says_nothing when is_map_key(asked, round) -> may_follow?(%{}, rounds)
      %{^name => %{batch: most}} when most != nil -> :yes
      %{^name => %{effect: :read}} -> free(rounds)
      _writes when rounds.most > 1 -> free(rounds)
      _writes when rounds.oldest != round -> :no
      %{^name => %{approve: true}} -> free(rounds)
      _writes when rounds.passed > 0 and rounds.control.rules.on_call == nil -> :later
      _writes -> free(rounds)
    end
  end

  # The call of a round in which one before waits for a person.
  defp may_follow?(setting, rounds) do
    hook? = rounds.control.rules.on_call != nil

    case setting do
      %{effect: effect, approve: false} when effect != :read and not hook? -> :later
      setting when setting == %{} and not hook? -> :later
      %{batch: most} when most != nil -> :yes
      _reads_or_waits -> free(rounds)
    end
  end

  defp free(rounds), do: if(Running.busy(rounds) < rounds.most, do: :yes, else: :no)

  @doc "Whether a call of a round waits for a person, and the round goes on without its answer."
  @spec paused?(Rounds.t(), non_neg_integer()) :: boolean()
  def paused?(%{asked: asked}, round), do: match?(%{^round => {:paused, _ids}}, asked)

  # The round does not go on in this run.
  defp later(rounds, round),
    do: if(paused?(rounds, round), do: rounds, else: left(rounds, round, :later))

  defp left(rounds, round, why) do
    asked = Map.put(rounds.asked, round, why)
    oldest(%{rounds | asked: asked, paused: rounds.paused + 1})
  end

  defp paused(%{asked: asked} = rounds, round, id) do
    case asked do
      %{^round => {:paused, ids}} ->
        %{rounds | asked: %{asked | round => {:paused, [Entry.text(id) | ids]}}}

      _first ->
        left(rounds, round, {:paused, [Entry.text(id)]})
    end
  end

  @doc "Looks for the first round that has not ended and does not wait for a person."
  @spec oldest(Rounds.t()) :: Rounds.t()
  def oldest(%{oldest: oldest, values: values} = rounds) when is_map_key(values, oldest),
    do: oldest(%{rounds | oldest: oldest + 1})

  def oldest(%{oldest: oldest, asked: asked} = rounds) do
    case asked do
      %{^oldest => {:paused, _ids}} -> passed(rounds)
      %{^oldest => :later} -> passed(rounds)
      _asked -> rounds
    end
  end

  defp passed(%{oldest: oldest, passed: passed} = rounds),
    do: oldest(%{rounds | oldest: oldest + 1, passed: passed + 1})

  defp asked_for_now(call, %{control: nil} = rounds, round) do
    {name, args, _pc} = asking(call)

    with {:ok, fun} <- InCaller.tool(rounds.run, name, args) do
      begin(call, fun, args, nil, rounds, round)
    else
      error -> {error, rounds}
    end
  end

  defp asked_for_now(call, rounds, round) do
    {name, args, pc} = asking(call)
    number = Map.get(rounds.calls, round, 0) + 1
    id = {rounds.id, round, number}
    control = placed(rounds.control, paused?(rounds, round) or behind?(rounds, name))

    case asked(rounds, fn -> Deciding.decide(control, id, name, args, pc) end) do
      :later ->
        {:waits, later(rounds, round)}

      step ->
        rounds = %{rounds | calls: Map.put(rounds.calls, round, number)}
        decided(step, call, rounds, round, id)
    end
  end

  # The control is copied as seldom as possible, because that is what a call costs here.
  defp placed(%{behind?: behind?} = control, behind?), do: control
  defp placed(control, behind?), do: %{control | behind?: behind?}

  # Calls that overlap, or that go to their tool together, have no order.
  defp behind?(%{passed: 0}, _name), do: false
  defp behind?(%{most: most}, _name) when most > 1, do: false

  defp behind?(%{settings: settings}, name),
    do: not match?(%{^name => %{batch: most}} when most != nil, settings)

  defp asking(Reply.call(tool: name, args: args, pc: pc)), do: {name, args, pc}
  defp asking(Reply.last(tool: name, args: args, pc: pc)), do: {name, args, pc}

  defp tool(Reply.call(tool: name)), do: name
  defp tool(Reply.last(tool: name)), do: name

  # The application's own function of events may fail, and its caller go on.
  defp asked(rounds, decide) do
    decide.()
  catch
    kind, reason ->
      Running.stop_all(rounds, rounds.ref)
      :erlang.raise(kind, reason, __STACKTRACE__)
  end

  @doc "What a round goes on with that waits for an equal call, which has been answered."
  @spec from_cache(
          Rounds.t(),
          Reply.t(),
          {non_neg_integer(), Entry.id()},
          term(),
          Entry.outcome()
        ) ::
          step()
  def from_cache(rounds, call, {round, id}, key, outcome) do
    rounds
    |> asked(fn -> Equal.answered(rounds.control, id, key, outcome) end)
    |> decided(call, rounds, round, id)
  end

  defp decided(step, call, rounds, round, id) do
    case step do
      {:answer, value, words, control} ->
        rounds = %{rounds | control: control}

        case Controlled.weighed(value, words, rounds.heap) do
          {:ok, value, words} -> {:resume, {:answer, value, words}, rounds}
          error -> {error, rounds}
        end

      {:failed, text, control} ->
        {:failed, text, %{rounds | control: control}}

      {:run, running, fun, args, {timeout, _left}, control} ->
        begin(call, fun, args, {running, timeout}, %{rounds | control: control}, round)

      # It goes no further without the answer that comes.
      {:join, _key, control} when is_map_key(rounds.asked, round) ->
        {:waits, %{rounds | control: control}}

      {:join, key, control} ->
        asked = Map.put(rounds.asked, round, {:join, key, id, call})
        joins = Map.update(rounds.joins, key, [round], &[round | &1])
        {:waits, %{rounds | control: control, asked: asked, joins: joins}}

      {:wait, control} ->
        rounds = paused(%{rounds | control: control}, round, id)
        # Workers of another language keep what each call does.
        if rounds.workers == nil, do: {:unanswered, rounds}, else: {:waits, rounds}

      {:ended, reason, control} ->
        {{:error, reason}, %{rounds | control: control}}
    end
  end

  # `running`: the call, and the time that its tool has.
  defp begin(call, fun, args, running, rounds, round) do
    with {:ok, words} <- weigh(call, Keyed.args(args), rounds.heap) do
      name = tool(call)

      case rounds.settings do
        %{^name => %{batch: most}} when most != nil ->
          member = {round, {call, running}, args, words}
          {:waits, %{rounds | gathered: Gathered.add(rounds.gathered, name, most, fun, member)}}

        _alone ->
          {:waits,
           Running.call(rounds, round, {name, fun, args, :next}, [{round, {call, running}}])}
      end
    else
      error -> {error, rounds}
    end
  end

  # The words of small arguments that the program gives are known.
  defp weigh(Reply.call(args: args, weight: weight), args, heap),
    do: InCaller.weigh(args, weight, heap)

  defp weigh(Reply.last(args: args, weight: weight), args, heap),
    do: InCaller.weigh(args, weight, heap)

  defp weigh(_call, args, heap), do: Weight.within(args, heap)
end
