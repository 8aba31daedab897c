defmodule PtcRunner.Agent.Record do
  @moduledoc false
  # The record of a run's tool calls. Tools run in other processes, so it is a table that belongs to the caller and
  # is deleted with it. It is bounded: of a call whose arguments do not fit any more, they are shortened, and calls
  # that do not fit at all are only counted.

  alias PtcRunner.Json.{Keyed, ToolWorker}
  alias PtcRunner.Sandbox.Weight
  alias PtcRunner.Shown

  @enforce_keys [:table, :counts, :places, :calls, :bytes]
  defstruct @enforce_keys

  # Bytes of a record without its arguments, and of one shortened argument.
  @plain 512
  @shortened 256

  # Results up to these words and bytes are kept for the feedback, in addition to their text.
  @kept_words 512
  @kept_bytes 4_096

  @most_warnings 20

  # Less than any key.
  @first -0xFFFF_FFFF_FFFF_FFFF

  # Decisions for which the tool is not called: they take no time.
  @without_tool [:answer, :deny, :cache, :refused, :replay]

  @typedoc "`calls`, `bytes`: what may be recorded. `places`: the place of each tool's count."
  @type t :: %__MODULE__{
          table: :ets.table(),
          counts: :counters.counters_ref(),
          places: %{String.t() => pos_integer()},
          calls: non_neg_integer(),
          bytes: non_neg_integer()
        }

  @typedoc "A call."
  @type call :: PtcRunner.Agent.tool_call()

  @typedoc """
  How a call ended: with the result, if it is `:ok`. Of an error the last element says whether the call may have had an
  effect all the same.
  """
  @type ended ::
          {:ok, text :: String.t(), warnings :: [String.t()], term()}
          | {:error | :refused, text :: String.t(), warnings :: [String.t()], boolean()}

  @typedoc "What is known beyond the call: its result, if that is small, or whether an error may have had an effect."
  @type more :: {:value, term()} | :effect | nil

  @doc "A record for calls of these tools."
  @spec new([String.t()], non_neg_integer(), non_neg_integer()) :: t()
  def new(names, calls, bytes) do
    places = names |> Enum.with_index(4) |> Map.new()
    counts = :counters.new(length(names) + 3, [])
    table = :ets.new(:calls, [:ordered_set, :public])
    %__MODULE__{table: table, counts: counts, places: places, calls: calls, bytes: bytes}
  end

  @doc "Deletes the record. Tools that still run cannot write to it any more."
  @spec delete(t()) :: true
  def delete(record), do: :ets.delete(record.table)

  @doc """
  What was decided about a call that its tool is going to get: the record of the call has it. Calls with equal arguments may come
  in any order.
  """
  @spec told(t(), PtcRunner.Json.Control.Told.call()) :: :ok
  def told(_record, %{decision: :run, by: nil, asked: nil}), do: :ok

  def told(%{table: table, counts: counts}, %{tool: name, given: given} = call) do
    :counters.add(counts, 3, 1)
    :ets.insert(table, {{:told, name, :erlang.phash2(given), key()}, said(call)})
    :ok
  end

  defp said(call) do
    said = call |> Map.take([:decision, :by, :note, :at, :asked]) |> Map.reject(&unsaid?/1)
    if is_map_key(said, :asked), do: %{said | asked: kept(said.asked)}, else: said
  end

  defp unsaid?({_name, value}), do: value == nil

  # What the program gave is kept as it is only if it is small.
  defp kept(args), do: if(large?(args), do: %{"…" => text(args)}, else: args)

  defp said_of(%{counts: counts} = record, name, raw) do
    if :counters.get(counts, 3) > 0,
      do: taken(record, {:told, name, :erlang.phash2(raw), @first}),
      else: %{}
  rescue
    # The table is deleted if the run ended before its tool.
    ArgumentError -> %{}
  end

  defp taken(%{table: table} = record, {:told, name, hash, _last} = last) do
    case :ets.next(table, last) do
      {:told, ^name, ^hash, _key} = next -> taken(record, next, :ets.take(table, next))
      _another -> %{}
    end
  end

  # Another call has taken it.
  defp taken(record, key, []), do: taken(record, key)

  defp taken(record, _key, [{_told, said}]) do
    :counters.sub(record.counts, 3, 1)
    said
  end

  @doc "A key for a call; later calls have greater ones."
  @spec key() :: integer()
  def key, do: :erlang.unique_integer([:monotonic])

  @doc """
  Records that a call begins: the arguments that the tool gets, and those that the program gave. Its words count
  as words that the run has built.
  """
  @spec began(t(), integer(), String.t(), term(), term(), term()) :: :ok
  def began(record, key, name, args, raw, given),
    do: began(record, key, name, {args, raw, given}, Map.take(Keyed.known(), [:key, :attempt]))

  defp began(record, key, name, {args, raw, given}, known) do
    call = %{name: name, args: args, result: nil, warnings: [], ok?: false, status: :unfinished}
    call = if raw === args, do: call, else: Map.put(call, :raw_args, raw)
    call = call |> Map.merge(said_of(record, name, given)) |> Map.merge(known)

    with true <- counted(record, 1, 1) <= record.calls,
         {:ok, call, bytes} <- fitting(call, left(record)),
         true <- counted(record, 2, bytes) <= record.bytes do
      ToolWorker.charge(div(bytes, 8))
      insert(record, {key, call, nil, System.monotonic_time(), nil})
    else
      _full -> :counters.add(record.counts, Map.fetch!(record.places, name), 1)
    end

    :ok
  end

  @doc "Records the end of a call that was recorded."
  @spec ended(t(), integer(), ended()) :: :ok
  def ended(record, key, {status, text, warnings, value}) do
    end_of_call = {status, text, some(warnings), more(status, value)}
    :ets.update_element(record.table, key, [{3, end_of_call}, {5, System.monotonic_time()}])
    :ok
  rescue
    ArgumentError -> :ok
  end

  @doc """
  The calls in their order, and the number of calls of each tool that were not recorded.
  """
  @spec read(t()) :: {[{call(), more()}], %{String.t() => pos_integer()}}
  def read(record) do
    # Many calls begin in the same millisecond, and the text of a time costs more than the rest.
    rows = Enum.filter(:ets.tab2list(record.table), &match?({_, _, _, _, _}, &1))

    {calls, _last} =
      Enum.map_reduce(rows, {nil, nil}, fn {_key, call, ended, began_at, ended_at}, last ->
        {call, more} = whole(call, ended)
        {call, last} = dated(call, began_at, last)
        {{timed(call, began_at, ended_at), more}, last}
      end)

    dropped =
      for {name, place} <- record.places,
          count = :counters.get(record.counts, place),
          count > 0,
          into: %{},
          do: {name, count}

    {calls, dropped}
  end

  defp timed(call, began_at, ended_at) do
    if is_integer(ended_at) and call[:decision] not in @without_tool do
      us = System.convert_time_unit(ended_at - began_at, :native, :microsecond)
      Map.put(call, :duration_us, us)
    else
      call
    end
  end

  # `last`: the last time that was made a text, in milliseconds, and that text.
  defp dated(%{at: _known} = call, _monotonic, last), do: {call, last}

  defp dated(call, monotonic, last) do
    ms = System.convert_time_unit(monotonic + System.time_offset(), :native, :millisecond)
    {_ms, text} = last = text_of(ms, last)
    {Map.put(call, :at, text), last}
  end

  defp text_of(ms, {ms, _text} = last), do: last

  defp text_of(ms, _last),
    do: {ms, ms |> DateTime.from_unix!(:millisecond) |> DateTime.to_iso8601()}

  @doc "Records a call whose tool was not called: it was answered or refused."
  @spec decided(t(), PtcRunner.Json.Control.Told.call()) :: :ok
  def decided(%{places: places}, %{tool: name}) when not is_map_key(places, name), do: :ok

  def decided(record, %{tool: name, args: args} = call) do
    key = key()
    :ok = began(record, key, name, {args, args, args}, %{key: call.key})
    {status, text, value} = decided(call)
    ended(record, key, {status, text, [], value})

    case :ets.lookup(record.table, key) do
      [{_key, recorded, _ended, _, _}] ->
        :ets.update_element(record.table, key, {2, Map.merge(recorded, said(call))})

      [] ->
        :ok
    end

    :ok
  end

  defp decided(%{outcome: {:ok, value, _words}}), do: {:ok, Shown.text(value, @shortened), value}
  defp decided(%{outcome: {:failed, text}}), do: {:error, Shown.cut(text), false}

  defp decided(%{outcome: {:ended, {_kind, text}}}) when is_binary(text),
    do: {:refused, Shown.cut(text), false}

  defp decided(%{decision: decision}), do: {:refused, Atom.to_string(decision), false}

  defp whole(call, nil), do: {call, :effect}

  defp whole(call, {status, text, warnings, more}) do
    ended = %{result: text, warnings: warnings, ok?: status == :ok, status: status}
    {Map.merge(call, ended), more}
  end

  # The table is deleted if the run ended before its tool.
  defp insert(record, row) do
    :ets.insert(record.table, row)
  rescue
    ArgumentError -> false
  end

  defp counted(record, place, more) do
    :counters.add(record.counts, place, more)
    :counters.get(record.counts, place)
  end

  defp left(record), do: record.bytes - :counters.get(record.counts, 2)

  defp fitting(_call, left) when left < @plain, do: :full

  defp fitting(call, left) do
    with :too_large <- sized(call, left), do: call |> shortened() |> sized(left)
  end

  defp sized(call, left) do
    terms = [call.args, call[:raw_args]]

    # The words come first: the table has no shared parts, and a walk through all of them may never end. They do
    # not include the bytes of long strings.
    case Weight.of(terms, max(div(left, 8), 1)) do
      {:ok, words} -> within(call, max(8 * words, :erlang.external_size(terms)), left)
      :too_much -> :too_large
    end
  end

  defp within(call, bytes, left) when bytes + @plain <= left, do: {:ok, call, bytes + @plain}
  defp within(_call, _bytes, _left), do: :too_large

  # Each argument that is large becomes its text; what the program gave is dropped.
  defp shortened(%{args: args} = call) when is_map(args) and map_size(args) <= 32 do
    large = for {key, value} <- args, large?(key) or large?(value), do: key
    short = fn {key, value} -> {short(key), if(key in large, do: text(value), else: value)} end
    names = for key <- large, do: short(key)
    call |> Map.delete(:raw_args) |> Map.merge(%{args: Map.new(args, short), shortened: names})
  end

  defp shortened(%{args: args} = call) do
    call |> Map.delete(:raw_args) |> Map.merge(%{args: %{"…" => text(args)}, shortened: ["…"]})
  end

  defp large?(term) do
    case Weight.of(term, div(@shortened, 8)) do
      {:ok, _words} -> :erlang.external_size(term) > @shortened
      :too_much -> true
    end
  end

  defp text(value), do: Shown.text(value, @shortened)

  defp short(name) when is_binary(name), do: Shown.name(name)
  defp short(name), do: name

  defp some(warnings), do: Shown.first(warnings, @most_warnings, &"… #{&1} more")

  defp more(:ok, value) do
    with {:ok, _words} <- Weight.of(value, @kept_words),
         true <- :erlang.external_size(value) <= @kept_bytes do
      {:value, value}
    else
      _large -> nil
    end
  end

  defp more(_error, effect?), do: if(effect?, do: :effect)
end
