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
    * `timeout`, `max_heap`, `max_tool_calls`, `tool_concurrency`, `firewall`, `pause_ttl` - as the run had them:
      `PtcRunner.Json.resume/3` takes them from here
    * `hooks` - which of the options `:on_call`, `:on_journal` and `:tool_context` the run had. Their values are not here: give them again.
    * `within` - the plans that the run is within, as `PtcRunner.Json.Plan.to_map/1` gives them; `unknown` - as the run had it
    * `plan` - the plan of a program that waits itself to be approved, before its first call: see the option `:approve` of `PtcRunner.Agent.loop/3`
    * `run_id` - the id of the run in events of telemetry, with which the keys of its calls begin; the run that goes on has it too
    * `attempts` - by id, how often a call was started whose answer is not known
    * `recovered` - whether it was made by `recover/1`, after a crash: then it is not known which of its calls waited
    * `lisp` - of a run of PTC-Lisp, what it was given beside context, memory and tools, as a map; else `nil`. `PtcRunner.Lisp.resume/3` goes on with it.
    * `forks`, `version` - whether calls may overlap; the version of this form

  It is plain data: it may be sent to another node, and written by `:erlang.term_to_binary/1` or as JSON, see `to_map/1`. Its size
  is that of the program, the memory, the calls and their answers, and less than 1 KB.

  Not in `ptc_runner`.
  """

  alias PtcRunner.Json.{Call, Control, Edition, Entry, Kept, Keyed, Limits, Message, Program}
  alias PtcRunner.Json.Within
  alias PtcRunner.Json.Paused.{Packed, Sealed, Stored, Used}
  alias PtcRunner.Shown

  # Of this form.
  @version 1

  # 1,000 years: a time has four digits for its year.
  @most_ttl 1_000 * 366 * 86_400_000

  # Options that are given again when the run goes on.
  @hooks [:on_call, :on_journal, :tool_context]

  @enforce_keys [:calls, :program, :memory, :now, :made_at, :expires_at, :edition, :keys] ++
                  [:strict, :structs, :max_depth, :journal, :fingerprint, :forks]
  defstruct @enforce_keys ++
              [
                timeout: nil,
                max_heap: nil,
                max_tool_calls: nil,
                tool_concurrency: 1,
                firewall: false,
                pause_ttl: :infinity,
                hooks: [],
                within: [],
                unknown: :refuse,
                plan: nil,
                run_id: nil,
                attempts: %{},
                recovered: false,
                lisp: nil,
                version: @version
              ]

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
          timeout: timeout() | nil,
          max_heap: non_neg_integer() | nil,
          max_tool_calls: non_neg_integer() | nil,
          tool_concurrency: pos_integer(),
          firewall: boolean(),
          pause_ttl: timeout(),
          hooks: [:on_call | :on_journal | :tool_context],
          within: [map()],
          unknown: :refuse | :ask,
          plan: map() | nil,
          run_id: String.t() | nil,
          attempts: %{String.t() => pos_integer()},
          recovered: boolean(),
          lisp: map() | nil,
          version: pos_integer()
        }

  @doc false
  # The paused run of a control, or the error of a run that cannot be kept.
  @spec new(Control.t(), PtcRunner.Json.program(), map(), Limits.given()) ::
          {:ok, t()} | {:error, Message.error()}
  def new(control, program, memory, limits) do
    calls = sorted(control.paused)

    with :ok <- memory_kept(memory),
         :ok <- options_kept(control.rules.lisp),
         :ok <- entries_kept(control.entries),
         :ok <- calls_kept(calls),
         :ok <- program_kept(source(program)),
         :ok <- plans_kept(control.rules.within) do
      paused = base(control, program, memory, limits)
      {:ok, %{paused | calls: calls, journal: Packed.pack(Entry.list(control.entries))}}
    end
  end

  @doc false
  @spec hooks() :: [:on_call | :on_journal | :tool_context]
  def hooks, do: @hooks

  @doc false
  # Calls in the order of their ids.
  @spec sorted([Call.t()]) :: [Call.t()]
  def sorted(calls), do: Enum.sort_by(calls, &key(&1.id))

  defp key(text) do
    {:ok, id} = Entry.id(text)
    if is_tuple(id), do: Tuple.to_list(id), else: [id]
  end

  @doc false
  # A run that nothing waits in.
  @spec base(Control.t(), PtcRunner.Json.program(), map(), Limits.given()) :: t()
  def base(control, program, memory, {_given, _given_heap, reading}) do
    {depth, any_keys?, strict?, values?, edition} = reading(program, reading)
    {timeout, max_heap, _reading} = control.limits
    now = DateTime.utc_now()

    %__MODULE__{
      calls: [],
      program: source(program),
      memory: memory,
      now: control.now,
      made_at: DateTime.to_iso8601(now),
      expires_at: expires_at(now, control.rules.pause_ttl),
      edition: edition,
      keys: if(any_keys?, do: :any, else: :strings),
      strict: strict?,
      structs: if(values?, do: :values, else: :maps),
      max_depth: depth,
      journal: Packed.pack([]),
      fingerprint: control.rules.fingerprint,
      forks: control.forks?,
      timeout: timeout,
      max_heap: max_heap,
      max_tool_calls: control.rules.max_tool_calls,
      tool_concurrency: control.most,
      firewall: control.rules.firewall != false,
      pause_ttl: control.rules.pause_ttl,
      hooks: for(name <- @hooks, Map.fetch!(control.rules, name), do: name),
      within: Within.to_maps(control.rules.within),
      unknown: control.rules.unknown,
      plan: control.rules.hold,
      run_id: control.run_id,
      attempts: attempts(control),
      lisp: control.rules.lisp
    }
  end

  defp attempts(%{attempts: attempts}) when attempts == %{}, do: attempts

  # What was answered since is not attempted again.
  defp attempts(%{attempts: attempts, entries: entries}) do
    answered = for entry <- entries, do: elem(entry, 0)
    for {id, count} <- Map.drop(attempts, answered), into: %{}, do: {Entry.text(id), count}
  end

  defp expires_at(_now, :infinity), do: nil

  defp expires_at(now, ms),
    do: now |> DateTime.add(min(ms, @most_ttl), :millisecond) |> DateTime.to_iso8601()

  defp source(%Program{source: source}), do: source
  defp source({:observed, _observation, program}), do: source(program)
  defp source({:checked, node}), do: %{"program" => node}
  # Of another language.
  defp source(%_program{source: source}), do: source
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

  # A text can always be kept, and a map may have terms that are no JSON.
  defp program_kept(program) when is_binary(program), do: :ok

  defp program_kept(program) do
    with {:error, kind} <- Kept.check(program),
         do: {:error, {:execution_error, "The run cannot be paused: its program has #{kind}"}}
  end

  defp plans_kept(within) do
    with {:error, text} <- Within.kept(within),
         do: {:error, {:execution_error, "The run cannot be paused: #{text}"}}
  end

  defp options_kept(options) do
    with {:error, kind} <- Kept.check(options),
         do:
           {:error,
            {:execution_error, "The run cannot be paused: one of its options has #{kind}"}}
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

  @doc """
  The calls that have been answered, as a list of maps that are JSON.

      iex> program = ~s({"program": {"op": "let", "name": "x", "value": {"op": "call", "tool": "a"}, "in": {"op": "call", "tool": "b"}}})
      iex> tools = %{"a" => fn _ -> [1] end, "b" => {fn _ -> [2] end, approve: true}}
      iex> {:paused, paused} = PtcRunner.Json.run(program, tools: tools)
      iex> [answered] = PtcRunner.Json.Paused.answered(paused)
      iex> Map.delete(answered, "key")
      %{"id" => "1", "tool" => "a", "args" => %{}, "answer" => [1]}

  """
  @spec answered(t()) :: [map()]
  def answered(%__MODULE__{} = paused) do
    run = Keyed.run(paused)

    for entry <- entries(paused) do
      {:ok, json} = Entry.encode(entry)
      Map.put(json, "key", Keyed.key(run, elem(entry, 0)))
    end
  end

  @doc false
  # The entries of the journal. Raises if it cannot be read.
  @spec entries(t()) :: [Entry.t()]
  def entries(%__MODULE__{journal: journal}) do
    case Packed.unpack(journal) do
      {:ok, entries} -> entries
      {:error, sentence} -> raise ArgumentError, sentence
    end
  end

  @doc """
  The paused run as a map that is JSON.

      iex> program = ~s({"program": {"op": "call", "tool": "pay"}})
      iex> {:paused, paused} = PtcRunner.Json.run(program, tools: %{"pay" => {fn _ -> 1 end, approve: true}})
      iex> map = PtcRunner.Json.Paused.to_map(paused)
      iex> PtcRunner.Json.Paused.from_map(map) == {:ok, paused}
      true

  """
  @spec to_map(t()) :: map()
  defdelegate to_map(paused), to: Stored

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
  defdelegate from_map(map), to: Stored

  @doc """
  The paused run as one text that may be given away, for example to a browser: who holds it can neither read nor change it.

  `keys` is a list of binaries of 32 bytes. The first of them seals, and `open/3` takes a text of any of them: to rotate, put a new key in front, and
  drop the old one when its texts have expired. Options, both required:

    * `:bind` - who may go on with the run: any term that the application knows again when the text comes back, as `{:user, 7}`. It is not in
      the text. It must be equal by `===`, so take ids, and not a struct that changes when it is loaded again.
    * `:ttl` - the milliseconds until the text ends

  It is encrypted and authenticated with AES-256-GCM, under a random nonce: seal less than four billion texts with one key. Raises
  `ArgumentError` for keys of another form, and for a run of more than 8 MB as text.

      iex> alias PtcRunner.Json.Paused
      iex> keys = [:crypto.strong_rand_bytes(32)]
      iex> program = ~s({"program": {"op": "call", "tool": "pay"}})
      iex> {:paused, paused} = PtcRunner.Json.run(program, tools: %{"pay" => {fn _ -> 1 end, approve: true}})
      iex> text = Paused.seal(paused, keys, bind: {:user, 7}, ttl: 60_000)
      iex> Paused.open(text, keys, bind: {:user, 7}) == {:ok, paused}
      true
      iex> {Paused.open(text, keys, bind: {:user, 8}), Paused.open(text <> "AAAA", keys, bind: {:user, 7})}
      {{:error, :invalid_seal}, {:error, :invalid_seal}}

  """
  @spec seal(t(), [binary()], keyword()) :: String.t()
  def seal(%__MODULE__{} = paused, keys, opts),
    do: Sealed.seal("run", Stored.sealed(paused), keys, opts, "PtcRunner.Json.Paused.seal/3")

  @doc """
  The paused run of a text of `seal/3`, or always the same error, which does not say why: the text was changed, is of another key, another
  person or another kind, has expired, was used, or is no such text.

  It takes bounded time and memory for any text, and makes no atom. Options:

    * `:bind` - as for `seal/3`, required
    * `:used` - a module of `PtcRunner.Json.Paused.Used`, which lets each text through once: give it where the run goes on, and leave it out where the
      calls are only shown. A text that was let through is used, whatever becomes of the run then.

  """
  @spec open(term(), [binary()], keyword()) :: {:ok, t()} | {:error, :invalid_seal}
  def open(text, keys, opts) do
    {keys, bind, used} = Sealed.opening!(keys, opts, "PtcRunner.Json.Paused.open/3")

    with {:ok, sealed, claim} <- Sealed.open("run", text, keys, bind),
         {:ok, paused} <- Stored.unsealed(sealed),
         true <- Used.first?(used, claim),
         do: {:ok, paused},
         else: (_other -> {:error, :invalid_seal})
  end

  @doc """
  The paused run of what `:on_journal` got from a run whose process was killed: the maps in their order.

  Calls that were started and have no answer wait in it, with `started: true`: whether their tools have done their work is not
  known. Decide about each: `{:answer, value}` if it has, `:approve` to call it again. Calls of tools with `effect: :read`
  that were started are simply made again. Without a call that waits, any decision goes on. The maps may be those of several
  runs, one after another: the last one counts, which has what a run that was resumed had before. Give `:on_journal` to the run that goes on, too: it does not ask for it.

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
  defdelegate recover(events), to: Stored

  defimpl Inspect do
    alias PtcRunner.Shown.Brief

    def inspect(paused, _opts) do
      calls = for call <- paused.calls, do: call.text
      calls = if paused.plan, do: ["the approval of its plan" | calls], else: calls
      expires = if paused.expires_at, do: ", until #{paused.expires_at}", else: ""
      "#PtcRunner.Json.Paused<waits for #{Brief.names(calls)}#{expires}>"
    end
  end
end
