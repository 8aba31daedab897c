defmodule PtcRunner.Json.Paused do
  @moduledoc """
  A run that waits for a decision about calls of tools: what `PtcRunner.Json.run/2` returns as `{:paused, paused}`, and
  `PtcRunner.Json.resume/3` goes on with.

    * `calls` - the calls that wait, each a `PtcRunner.Json.Call`
    * `program`, `memory` - the program's source, and the memory
    * `now` - the time that the operation `now` gives in this run
    * `made_at`, `expires_at` - ISO 8601 texts; without an end of its time, `expires_at` is `nil`
    * `edition`, `keys`, `strict`, `structs`, `max_depth` - how the program is read
    * `journal` - the calls that were answered, packed: see `answered/1`
    * `fingerprint` - a hash of the data that the program names. The data is not here: give it again.
    * `forks`, `version` - whether calls may overlap; the version of this form

  It is plain data: it may be sent to another node, and written by `:erlang.term_to_binary/1` or as JSON, see `to_map/1`. Its size
  is that of the program, the memory, the calls and their answers, and less than 1 KB.

  New in this library.
  """

  alias PtcRunner.Json.{Call, Control, Edition, Entry, Kept, Limits, Message, Program}
  alias PtcRunner.Shown

  @version 1

  @enforce_keys [:calls, :program, :memory, :now, :made_at, :expires_at, :edition, :keys] ++
                  [:strict, :structs, :max_depth, :journal, :fingerprint, :forks]
  defstruct @enforce_keys ++ [version: @version]

  @typedoc "See the module's documentation."
  @type t :: %__MODULE__{
          calls: [Call.t()],
          program: String.t() | map(),
          memory: map(),
          now: String.t(),
          made_at: String.t(),
          expires_at: String.t() | nil,
          edition: 1 | 2,
          keys: :strings | :any,
          strict: boolean(),
          structs: :maps | :values,
          max_depth: pos_integer(),
          journal: binary(),
          fingerprint: String.t(),
          forks: boolean(),
          version: pos_integer()
        }

  @doc false
  # The paused run of a control, or the error of a run that cannot be kept.
  @spec new(Control.t(), PtcRunner.Json.program(), map(), Limits.given()) ::
          {:ok, t()} | {:error, Message.error()}
  def new(control, program, memory, limits) do
    paused = base(control, program, memory, limits)
    calls = Enum.sort_by(control.paused, &key(&1.id))

    with :ok <- memory_kept(memory),
         :ok <- entries_kept(control.entries),
         :ok <- calls_kept(calls),
         do: {:ok, %{paused | calls: calls, journal: packed(Entry.list(control.entries))}}
  end

  defp key(text) do
    {:ok, id} = Entry.id(text)
    if is_tuple(id), do: Tuple.to_list(id), else: [id]
  end

  @doc false
  # A run that nothing waits in.
  @spec base(Control.t(), PtcRunner.Json.program(), map(), Limits.given()) :: t()
  def base(control, program, memory, {_timeout, _max_heap, reading}) do
    {depth, any_keys?, strict?, values?, edition} = reading(program, reading)
    now = DateTime.utc_now()

    %__MODULE__{
      calls: [],
      program: source(program),
      memory: memory,
      now: control.now,
      made_at: DateTime.to_iso8601(now),
      expires_at: expires_at(now, control.pause_ttl),
      edition: edition,
      keys: if(any_keys?, do: :any, else: :strings),
      strict: strict?,
      structs: if(values?, do: :values, else: :maps),
      max_depth: depth,
      journal: packed([]),
      fingerprint: control.fingerprint,
      forks: control.forks?
    }
  end

  defp expires_at(_now, :infinity), do: nil
  defp expires_at(now, ms), do: now |> DateTime.add(ms, :millisecond) |> DateTime.to_iso8601()

  defp source(%Program{source: source}), do: source
  defp source({:observed, _observation, _consts, {_handle, source}}), do: source(source)
  defp source({:checked, node}), do: %{"program" => node}
  defp source(source), do: source

  @doc false
  # How a program is read with these options.
  @spec reading(term(), Limits.reading()) :: tuple()
  def reading(%Program{} = program, reading), do: Program.reading(program, reading)

  def reading(_source, depth) when is_integer(depth),
    do: {depth, false, false, false, Edition.default()}

  def reading(_source, reading), do: Edition.filled(reading)

  defp memory_kept(memory) do
    with {:error, kind} <- Kept.check(memory),
         do: {:error, {:execution_error, "The run cannot be paused: its memory has #{kind}"}}
  end

  defp entries_kept([]), do: :ok

  defp entries_kept([{_id, name, _args, _outcome} = entry | rest]) do
    case Entry.encode(entry) do
      {:ok, _json} -> entries_kept(rest)
      {:error, kind} -> {:error, unpausable(name, "answered with", kind)}
    end
  end

  defp calls_kept([]), do: :ok

  defp calls_kept([call | rest]) do
    case Kept.check(call.args) do
      :ok -> calls_kept(rest)
      {:error, kind} -> {:error, unpausable(call.tool, "is called with", kind)}
    end
  end

  defp unpausable(name, verb, kind),
    do: {:execution_error, "The run cannot be paused: tool '#{Shown.name(name)}' #{verb} #{kind}"}

  # By columns, which repeat names of tools and arguments. Without ids these are 1, 2, 3, …
  defp packed(entries) do
    {ids, tools, args, outcomes} = columns(entries, {[], [], [], []})
    ids = if ids == Enum.to_list(1..length(ids)//1), do: length(ids), else: ids
    {kinds, values} = outcomes |> Enum.map(&kind/1) |> Enum.unzip()
    :erlang.term_to_binary({ids, tools, args, kinds, values}, compressed: 6, minor_version: 2)
  end

  defp columns([{id, tool, args, outcome} | rest], {ids, tools, all, outcomes}),
    do: columns(rest, {[id | ids], [tool | tools], [args | all], [outcome | outcomes]})

  defp columns([], {ids, tools, args, outcomes}),
    do: {Enum.reverse(ids), Enum.reverse(tools), Enum.reverse(args), Enum.reverse(outcomes)}

  # Words that are not known are weighed when they are needed.
  defp kind({:ok, value, nil}), do: {2, {:ok, value, nil}}
  defp kind({:ok, value, words}), do: {words + 3, value}
  defp kind({:failed, text}), do: {1, text}
  defp kind(other), do: {2, other}

  defp outcome(kind, value) when kind > 2, do: {:ok, value, kind - 3}
  defp outcome(1, text), do: {:failed, text}
  defp outcome(2, other), do: other

  defp unpacked(binary) when is_binary(binary) do
    {ids, tools, args, kinds, values} = :erlang.binary_to_term(binary, [:safe])
    ids = if is_integer(ids), do: Enum.to_list(1..ids//1), else: ids
    {:ok, entries(ids, tools, args, kinds, values)}
  rescue
    _not_packed -> {:error, "The journal of the paused run cannot be read here"}
  end

  defp entries([id | ids], [tool | tools], [args | all], [kind | kinds], [value | values]),
    do: [{id, tool, args, outcome(kind, value)} | entries(ids, tools, all, kinds, values)]

  defp entries([], [], [], [], []), do: []

  @doc """
  The calls that have been answered, as a list of maps that are JSON.

      iex> program = ~s({"program": {"op": "let", "name": "x", "value": {"op": "call", "tool": "a"}, "in": {"op": "call", "tool": "b"}}})
      iex> tools = %{"a" => fn _ -> [1] end, "b" => {fn _ -> [2] end, approve: true}}
      iex> {:paused, paused} = PtcRunner.Json.run(program, tools: tools)
      iex> PtcRunner.Json.Paused.answered(paused)
      [%{"id" => "1", "tool" => "a", "args" => %{}, "answer" => [1]}]

  """
  @spec answered(t()) :: [map()]
  def answered(%__MODULE__{} = paused) do
    for entry <- entries(paused) do
      {:ok, json} = Entry.encode(entry)
      json
    end
  end

  defp entries(%{journal: journal}) do
    {:ok, entries} = unpacked(journal)
    entries
  end

  # Going on

  @doc false
  # The limits and the control of a run that goes on, or an error. Raises for decisions of no known form.
  @spec control(t(), term(), Limits.given(), 1 | 2 | nil) ::
          {:ok, Limits.given(), Control.t()} | {:error, Message.error()}
  def control(%__MODULE__{} = paused, decisions, {timeout, max_heap, _reading}, edition) do
    decisions = decisions!(decisions, paused.calls)

    with :ok <- version(paused.version),
         :ok <- edition(paused.edition, edition),
         :ok <- expired(paused.expires_at),
         {:ok, decisions} <- known(decisions, paused.calls),
         {:ok, entries} <- unpacked(paused.journal) do
      waiting = for call <- paused.calls, into: %{}, do: {id(call.id), call}

      reading =
        {paused.max_depth, paused.keys == :any, paused.strict, paused.structs == :values,
         paused.edition}

      control = %Control{
        journal: if(paused.forks, do: Map.new(entries, &{elem(&1, 0), &1}), else: entries),
        decisions: decisions,
        waiting: waiting,
        fingerprint: paused.fingerprint,
        forks?: paused.forks,
        now: paused.now
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
    with {:ok, until, _offset} <- DateTime.from_iso8601(text),
         :lt <- DateTime.compare(DateTime.utc_now(), until) do
      :ok
    else
      _late ->
        {:error, "The paused run has expired: it could be resumed until #{Shown.cut(text, 50)}"}
    end
  end

  defp decisions!(decision, calls) when is_tuple(decision) or is_atom(decision) do
    decision!(decision)
    Map.new(calls, &{&1.id, decision})
  end

  defp decisions!(decisions, _calls) when is_map(decisions) or is_list(decisions) do
    Map.new(decisions, fn {id, decision} -> {id, decision!(decision)} end)
  rescue
    _error in [FunctionClauseError, Protocol.UndefinedError] -> wrong!(decisions)
  end

  defp decisions!(other, _calls), do: wrong!(other)

  defp decision!(:approve), do: :approve
  defp decision!({kind, _what} = decision) when kind in [:run, :answer, :deny], do: decision
  defp decision!(other), do: wrong!(other)

  @spec wrong!(term()) :: no_return()
  defp wrong!(other) do
    raise ArgumentError,
          "a decision must be :approve, {:run, args}, {:answer, value} or {:deny, reason}, " <>
            "for all calls or in a map from their ids, got: #{Shown.text(other, 200)}"
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

  # JSON

  @doc """
  The paused run as a map that is JSON.

      iex> program = ~s({"program": {"op": "call", "tool": "pay"}})
      iex> {:paused, paused} = PtcRunner.Json.run(program, tools: %{"pay" => {fn _ -> 1 end, approve: true}})
      iex> map = PtcRunner.Json.Paused.to_map(paused)
      iex> PtcRunner.Json.Paused.from_map(map) == {:ok, paused}
      true

  """
  @spec to_map(t()) :: map()
  def to_map(%__MODULE__{} = paused) do
    %{
      "paused" => paused.version,
      "program" => kept(paused.program),
      "memory" => kept(paused.memory),
      "now" => paused.now,
      "made_at" => paused.made_at,
      "expires_at" => paused.expires_at,
      "edition" => paused.edition,
      "keys" => Atom.to_string(paused.keys),
      "strict" => paused.strict,
      "structs" => Atom.to_string(paused.structs),
      "max_depth" => paused.max_depth,
      "fingerprint" => paused.fingerprint,
      "forks" => paused.forks,
      "answered" => Enum.map(entries(paused), &Entry.weighed/1),
      "calls" => Enum.map(paused.calls, &call/1)
    }
  end

  defp kept(term) do
    {:ok, json} = Kept.encode(term)
    json
  end

  defp call(call) do
    %{
      "id" => call.id,
      "tool" => call.tool,
      "args" => kept(call.args),
      "effect" => Atom.to_string(call.effect),
      "approve" => call.approve,
      "number" => call.number,
      "path" => kept(call.path),
      "text" => call.text,
      "started" => call.started
    }
  end

  @doc """
  The paused run of a map that `to_map/1` has made, or what is wrong with it.

      iex> PtcRunner.Json.Paused.from_map(%{"paused" => 1})
      {:error, ~S(the paused run has no valid "program")}

      iex> PtcRunner.Json.Paused.from_map(%{"paused" => 2})
      {:error, "the paused run has version 2, and this library reads version 1"}

      iex> PtcRunner.Json.Paused.from_map([])
      {:error, "no paused run: []"}

  """
  @spec from_map(term()) :: {:ok, t()} | {:error, String.t()}
  def from_map(%{"paused" => @version} = map) do
    with {:ok, program} <- field(map, "program", &(is_binary(&1) or is_map(&1))),
         {:ok, memory} <- field(map, "memory", &is_map/1),
         {:ok, now} <- field(map, "now", &(PtcRunner.Json.Now.text(&1) == {:ok, &1})),
         {:ok, made_at} <- field(map, "made_at", &time?/1),
         {:ok, expires_at} <- field(map, "expires_at", &(&1 == nil or time?(&1))),
         {:ok, edition} <- field(map, "edition", &(&1 in [1, 2])),
         {:ok, keys} <- field(map, "keys", &(&1 in ["strings", "any"])),
         {:ok, strict} <- field(map, "strict", &is_boolean/1),
         {:ok, structs} <- field(map, "structs", &(&1 in ["maps", "values"])),
         {:ok, depth} <-
           field(map, "max_depth", &(is_integer(&1) and &1 > 0 and &1 < 0x1_0000_0000)),
         {:ok, fingerprint} <- field(map, "fingerprint", &is_binary/1),
         {:ok, forks} <- field(map, "forks", &is_boolean/1),
         {:ok, answered} <- list(map, "answered", &Entry.decode/1),
         :ok <- answers(answered),
         {:ok, calls} <- list(map, "calls", &waiting/1) do
      {:ok,
       %__MODULE__{
         calls: calls,
         program: program,
         memory: memory,
         now: now,
         made_at: made_at,
         expires_at: expires_at,
         edition: edition,
         keys: String.to_existing_atom(keys),
         strict: strict,
         structs: String.to_existing_atom(structs),
         max_depth: depth,
         journal: packed(Entry.list(answered)),
         fingerprint: fingerprint,
         forks: forks
       }}
    end
  end

  def from_map(%{"paused" => other}),
    do:
      {:error,
       "the paused run has version #{Shown.text(other, 50)}, and this library reads version #{@version}"}

  def from_map(other), do: {:error, "no paused run: #{Shown.text(other, 200)}"}

  defp field(map, name, good?) do
    with {:ok, json} <- Map.fetch(map, name),
         {:ok, value} <- Kept.decode(json),
         true <- good?.(value) do
      {:ok, value}
    else
      {:error, sentence} -> {:error, "\"#{name}\" of the paused run: #{sentence}"}
      _missing_or_wrong -> {:error, "the paused run has no valid \"#{name}\""}
    end
  end

  defp time?(text), do: is_binary(text) and match?({:ok, _, _}, DateTime.from_iso8601(text))

  defp list(map, name, read) do
    case map do
      %{^name => list} when is_list(list) ->
        list
        |> Enum.reduce_while({:ok, []}, fn json, {:ok, done} ->
          case read.(json) do
            {:ok, value} -> {:cont, {:ok, [value | done]}}
            {:error, sentence} -> {:halt, {:error, "\"#{name}\" of the paused run: #{sentence}"}}
          end
        end)
        |> then(fn result -> with {:ok, list} <- result, do: {:ok, Enum.reverse(list)} end)

      _other ->
        {:error, "the paused run has no valid \"#{name}\""}
    end
  end

  defp answers(entries) do
    if Enum.any?(entries, &match?({_, _, _, :started}, &1)),
      do: {:error, "\"answered\" of the paused run: a call has no answer"},
      else: :ok
  end

  defp waiting(%{"id" => id, "tool" => tool, "effect" => effect} = json)
       when is_binary(tool) and effect in ["read", "write"] do
    with {:ok, _id} <- Entry.id(id),
         {:ok, args} <- Kept.decode(json["args"]),
         {:ok, path} <- Kept.decode(json["path"]) do
      {:ok,
       %Call{
         id: id,
         tool: tool,
         args: args,
         effect: String.to_existing_atom(effect),
         approve: json["approve"] == true,
         number: json["number"],
         path: path,
         text: json["text"],
         started: json["started"] == true
       }}
    else
      :error -> {:error, "no id of a call: #{Shown.text(id, 100)}"}
      error -> error
    end
  end

  defp waiting(other), do: {:error, "no call: #{Shown.text(other, 200)}"}

  # A run whose process was killed

  @doc """
  The paused run of what `:on_journal` got from a run whose process was killed: the maps in their order.

  Calls that were started and have no answer wait in it, with `started: true`: whether their tools have done their work is not
  known. Decide about each: `{:answer, value}` if it has, `:approve` to call it again. Calls of tools with `effect: :read`
  that were started are simply made again. Without a call that waits, any decision goes on.

      iex> me = self()
      iex> program = ~s({"program": {"op": "call", "tool": "pay"}})
      iex> PtcRunner.Json.run(program, tools: %{"pay" => fn _ -> "paid" end}, on_journal: &send(me, {:entry, &1}))
      {:ok, "paid", %{}, %{}}
      iex> events = for _ <- 1..2, do: (receive do {:entry, map} -> map end)
      iex> {:ok, paused} = PtcRunner.Json.Paused.recover(events)
      iex> for call <- paused.calls, do: call.text
      ["pay with %{}; it was started, and its answer is not known"]
      iex> PtcRunner.Json.resume(paused, {:answer, "paid"}, tools: %{"pay" => fn _ -> raise "again?" end})
      {:ok, "paid", %{}, %{}}

  """
  @spec recover([map()]) :: {:ok, t()} | {:error, String.t()}
  def recover([%{"paused" => @version} = start | events]) do
    with {:ok, paused} <- from_map(Map.put(start, "answered", [])),
         {:ok, entries} <- list(%{"answered" => events}, "answered", &event/1) do
      {:ok, entries_before} = before(start)
      entries = entries_before ++ entries
      {started, answered} = last(entries)
      reached = MapSet.new(entries, fn {entry, _json} -> Entry.text(elem(entry, 0)) end)
      calls = for {{id, tool, args, :started}, more} <- started, do: started(id, tool, args, more)
      calls = calls ++ Enum.reject(paused.calls, &(&1.id in reached))

      {:ok,
       %{
         paused
         | calls: Enum.sort_by(calls, &key(&1.id)),
           journal: packed(Entry.list(for {entry, _more} <- answered, do: entry))
       }}
    end
  end

  def recover(other), do: {:error, "no journal of a run: #{Shown.text(other, 200)}"}

  # What the run had when it was resumed itself.
  defp before(start) do
    list(%{"answered" => start["answered"]}, "answered", &event/1)
  end

  defp event(json), do: with({:ok, entry} <- Entry.decode(json), do: {:ok, {entry, json}})

  # The last word about each call.
  defp last(entries) do
    entries
    |> Map.new(fn {entry, json} -> {elem(entry, 0), {entry, json}} end)
    |> Map.values()
    |> Enum.reject(fn {{_, _, _, outcome}, json} ->
      outcome == :started and json["effect"] == "read"
    end)
    |> Enum.split_with(fn {{_, _, _, outcome}, _json} -> outcome == :started end)
  end

  defp started(id, tool, args, json) do
    effect = if json["effect"] == "read", do: :read, else: :write
    call = %Call{id: Entry.text(id), tool: tool, args: args, effect: effect, started: true}
    call = %{call | number: json["number"] || 1, path: nil}
    %{call | text: Call.text(call)}
  end
end
