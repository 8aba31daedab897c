defmodule PtcRunner.Json.Paused.Stored do
  @moduledoc false
  # A paused run as a map that is JSON, and back; and what was written down of a run whose process was killed.

  alias PtcRunner.IsoTime
  alias PtcRunner.Json.{Call, Entry, Kept, Keyed, Now, Paused}
  alias PtcRunner.Json.Paused.{Packed, Sound}
  alias PtcRunner.Shown

  @version 1
  @keys %{"strings" => :strings, "any" => :any}
  @hooks for name <- Paused.hooks(), into: %{}, do: {Atom.to_string(name), name}
  @unknown %{"refuse" => :refuse, "ask" => :ask}
  @structs %{"maps" => :maps, "values" => :values}

  @doc "See `PtcRunner.Json.Paused.to_map/1`."
  @spec to_map(Paused.t()) :: map()
  def to_map(%Paused{} = paused) do
    answered = paused |> Paused.entries() |> Enum.map(&Entry.weighed/1)
    paused |> unanswered() |> Map.put("answered", answered)
  end

  @doc """
  What is sealed of a paused run: the map without the answers, and the packed journal. `unsealed/1` reads it: what the journal has is
  checked where the run goes on.

      iex> program = ~s({"program": {"op": "call", "tool": "pay"}})
      iex> {:paused, paused} = PtcRunner.Json.run(program, tools: %{"pay" => {fn _ -> 1 end, approve: true}})
      iex> paused |> PtcRunner.Json.Paused.Stored.sealed() |> PtcRunner.Json.Paused.Stored.unsealed() == {:ok, paused}
      true

  """
  @spec sealed(Paused.t()) :: {map(), binary()}
  def sealed(%Paused{} = paused), do: {unanswered(paused), paused.journal}

  @doc "See `sealed/1`."
  @spec unsealed(term()) :: {:ok, Paused.t()} | {:error, String.t()}
  def unsealed({%{"paused" => @version} = map, journal}) when is_binary(journal),
    do: read(map, fn -> {:ok, [], journal} end)

  def unsealed(other), do: {:error, "no paused run: #{Shown.text(other, 200)}"}

  defp unanswered(paused) do
    more = if paused.attempts == %{}, do: %{}, else: %{"attempts" => paused.attempts}

    more =
      if paused.recovered == false, do: more, else: Map.put(more, "recovered", paused.recovered)

    more = if paused.lisp == nil, do: more, else: Map.put(more, "lisp", kept(paused.lisp))

    Map.merge(more, %{
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
      "timeout" => time(paused.timeout),
      "max_heap" => paused.max_heap,
      "max_tool_calls" => paused.max_tool_calls,
      "tool_concurrency" => paused.tool_concurrency,
      "firewall" => paused.firewall,
      "pause_ttl" => time(paused.pause_ttl),
      "run_id" => paused.run_id,
      "within" => paused.within,
      "unknown" => Atom.to_string(paused.unknown),
      "plan" => paused.plan,
      "hooks" => Enum.map(paused.hooks, &Atom.to_string/1),
      "calls" => Enum.map(paused.calls, &call/1)
    })
  end

  defp kept(term) do
    {:ok, json} = Kept.encode(term)
    json
  end

  defp time(:infinity), do: "infinity"
  defp time(ms), do: ms

  defp call(call) do
    asked = if call.asked == nil, do: %{}, else: %{"asked" => kept(call.asked)}

    Map.merge(asked, %{
      "id" => call.id,
      "tool" => call.tool,
      "args" => kept(call.args),
      "effect" => Atom.to_string(call.effect),
      "approve" => call.approve,
      "number" => call.number,
      "path" => kept(call.path),
      "text" => call.text,
      "key" => call.key,
      "attempt" => call.attempt,
      "started" => call.started
    })
  end

  @doc "See `PtcRunner.Json.Paused.from_map/1`."
  @spec from_map(term()) :: {:ok, Paused.t()} | {:error, String.t()}
  def from_map(%{"paused" => @version} = map) do
    read(map, fn ->
      with {:ok, answered} <- list(map, "answered", &answer/1),
           do: {:ok, answered, answered |> Entry.list() |> Packed.pack()}
    end)
  end

  def from_map(%{"paused" => other}),
    do:
      {:error,
       "the paused run has version #{Shown.text(other, 50)}, and this library reads version #{@version}"}

  def from_map(other), do: {:error, "no paused run: #{Shown.text(other, 200)}"}

  # `answers` gives those that are checked here, and the journal.
  defp read(map, answers) do
    with {:ok, program} <- field(map, "program"),
         {:ok, memory} <- field(map, "memory"),
         {:ok, lisp} <- map |> Map.put_new("lisp", nil) |> field("lisp"),
         {:ok, answered, journal} <- answers.(),
         {:ok, calls} <- list(map, "calls", &waiting/1),
         paused = %{paused(map, program, memory, calls, journal) | lisp: lisp},
         :ok <- times(paused),
         :ok <- Sound.check(paused, answered),
         do: {:ok, keyed(paused)}
  end

  @doc """
  The run with the keys and the attempts of the calls that wait. These are those of the run, whatever a map says: one of an
  earlier release has none.
  """
  @spec keyed(Paused.t()) :: Paused.t()
  def keyed(%Paused{calls: calls, attempts: attempts} = paused) do
    run = Keyed.run(paused)

    calls =
      for call <- calls do
        {:ok, id} = Entry.id(call.id)
        %{call | key: Keyed.key(run, id), attempt: Map.get(attempts, call.id, 0) + 1}
      end

    %{paused | calls: calls}
  end

  defp paused(map, program, memory, calls, journal) do
    %Paused{
      calls: calls,
      program: program,
      memory: memory,
      now: map["now"],
      made_at: map["made_at"],
      expires_at: Map.get(map, "expires_at", :none),
      edition: map["edition"],
      keys: @keys[map["keys"]],
      strict: map["strict"],
      structs: @structs[map["structs"]],
      max_depth: map["max_depth"],
      journal: journal,
      fingerprint: map["fingerprint"],
      forks: map["forks"],
      timeout: read_time(map["timeout"]),
      max_heap: map["max_heap"],
      max_tool_calls: map["max_tool_calls"],
      tool_concurrency: Map.get(map, "tool_concurrency", 1),
      firewall: Map.get(map, "firewall", false),
      pause_ttl: map |> Map.get("pause_ttl", "infinity") |> read_time(),
      hooks: hooks(Map.get(map, "hooks", [])),
      within: Map.get(map, "within", []),
      unknown: @unknown[Map.get(map, "unknown", "refuse")],
      plan: map["plan"],
      run_id: map["run_id"],
      attempts: Map.get(map, "attempts", %{}),
      recovered: Map.get(map, "recovered", false)
    }
  end

  defp read_time("infinity"), do: :infinity
  defp read_time(ms), do: ms

  defp hooks(names) when is_list(names), do: Enum.map(names, &(@hooks[&1] || &1))
  defp hooks(other), do: other

  defp field(map, name) do
    with {:ok, json} <- Map.fetch(map, name),
         {:ok, value} <- Kept.decode(json) do
      {:ok, value}
    else
      {:error, sentence} -> {:error, "\"#{name}\" of the paused run: #{sentence}"}
      :error -> Sound.invalid(name)
    end
  end

  defp times(paused) do
    cond do
      not is_binary(paused.now) or Now.text(paused.now) != {:ok, paused.now} ->
        Sound.invalid("now")

      not time?(paused.made_at) ->
        Sound.invalid("made_at")

      paused.expires_at != nil and not time?(paused.expires_at) ->
        Sound.invalid("expires_at")

      true ->
        :ok
    end
  end

  defp time?(text), do: is_binary(text) and match?({:ok, _, _}, IsoTime.datetime(text))

  defp list(map, name, read) do
    with %{^name => list} when is_list(list) <- map,
         {:ok, values} <- each(list, read, []) do
      {:ok, values}
    else
      {:error, sentence} -> {:error, "\"#{name}\" of the paused run: #{sentence}"}
      _no_list -> Sound.invalid(name)
    end
  end

  defp each([json | rest], read, done) do
    with {:ok, value} <- read.(json), do: each(rest, read, [value | done])
  end

  defp each([], _read, done), do: {:ok, Enum.reverse(done)}
  defp each(_improper, _read, _done), do: :no_list

  defp answer(json) do
    with {:ok, entry} <- Entry.decode(json) do
      if Entry.started?(entry), do: {:error, "a call has no answer"}, else: {:ok, entry}
    end
  end

  defp waiting(%{"id" => id, "tool" => tool, "effect" => effect} = json)
       when is_binary(tool) and effect in ["read", "write"] do
    with {:ok, _id} <- Entry.id(id),
         {:ok, args} <- Kept.decode(json["args"]),
         {:ok, asked} <- Kept.decode(json["asked"]),
         {:ok, path} <- Kept.decode(json["path"]) do
      {:ok,
       %Call{
         id: id,
         tool: tool,
         args: args,
         asked: asked,
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

  @doc "See `PtcRunner.Json.Paused.recover/1`."
  @spec recover(term()) :: {:ok, Paused.t()} | {:error, String.t()}
  def recover([_ | _] = events) do
    if List.improper?(events), do: no_journal(events), else: events |> runs() |> recovered(events)
  end

  def recover(other), do: no_journal(other)

  # A run that was resumed has what it had before.
  defp recovered([_ | _] = runs, _events), do: runs |> List.last() |> of_run()
  defp recovered([], events), do: no_journal(events)

  defp no_journal(other), do: {:error, "no journal of a run: #{Shown.text(other, 200)}"}

  @doc """
  The runs of what `:on_journal` got: the start of each, and what has happened since.

      iex> start = %{"paused" => 1}
      iex> PtcRunner.Json.Paused.Stored.runs([start, %{"id" => "1"}, start])
      [{start, [%{"id" => "1"}]}, {start, []}]

  Nothing of what stands before the first start is a run.
  """
  @spec runs([map()]) :: [{start :: map(), events :: [map()]}]
  def runs(events), do: runs(events, [])

  defp runs([%{"paused" => _version} = start | rest], done) do
    {since, rest} = Enum.split_while(rest, &(not match?(%{"paused" => _}, &1)))
    runs(rest, [{start, since} | done])
  end

  defp runs([_other | _rest], []), do: []
  defp runs([], done), do: Enum.reverse(done)

  @doc "The paused run of its start and of what has happened since."
  @spec of_run({map(), [map()]}) :: {:ok, Paused.t()} | {:error, String.t()}
  def of_run({start, events}) do
    with {:ok, paused} <- from_map(Map.put(start, "answered", [])),
         # What the run had when it was resumed itself.
         {:ok, before} <- list(start, "answered", &Entry.decode/1),
         {:ok, since} <- list(%{"journal" => events}, "journal", &event/1) do
      entries = Enum.map(before, &{&1, %{}}) ++ since
      {started, answered} = last(entries)
      reached = MapSet.new(entries, fn {entry, _json} -> Entry.text(elem(entry, 0)) end)

      calls = Enum.map(started, &started/1) ++ Enum.reject(paused.calls, &(&1.id in reached))

      answered = Entry.list(for {entry, _json} <- answered, do: entry)
      hooks = List.delete(paused.hooks, :on_journal)

      paused = %{
        paused
        | calls: Paused.sorted(calls),
          journal: Packed.pack(answered),
          hooks: hooks,
          attempts: attempts(paused.attempts, entries, answered),
          recovered: true
      }

      with :ok <- Sound.check(paused, answered), do: {:ok, keyed(paused)}
    end
  end

  defp event(json), do: with({:ok, entry} <- Entry.decode(json), do: {:ok, {entry, json}})

  # How often each call was started that has no answer: what the run knew when it began, and what it has written down since.
  defp attempts(before, entries, answered) do
    started =
      for {entry, json} <- entries, Entry.started?(entry), into: %{} do
        count = json["attempt"]
        {Entry.text(elem(entry, 0)), if(is_integer(count) and count > 0, do: count, else: 1)}
      end

    before
    |> Map.merge(started)
    |> Map.drop(for entry <- answered, do: Entry.text(elem(entry, 0)))
  end

  # The last word about each call.
  defp last(entries) do
    entries
    |> Map.new(fn {entry, json} -> {elem(entry, 0), {entry, json}} end)
    |> Map.values()
    |> Enum.reject(fn {entry, json} -> Entry.started?(entry) and json["effect"] == "read" end)
    |> Enum.split_with(fn {entry, _json} -> Entry.started?(entry) end)
  end

  defp started({{id, tool, asked, outcome}, json}) do
    effect = if json["effect"] == "read", do: :read, else: :write

    {args, asked} =
      case outcome do
        {:sent, sent, :started} -> {sent, asked}
        :started -> {asked, nil}
      end

    call = %Call{id: Entry.text(id), tool: tool, args: args, effect: effect, started: true}
    call = %{call | number: json["number"] || 1, path: nil, asked: asked}
    %{call | text: Call.text(call)}
  end
end
