defmodule PtcRunner.Json do
  @moduledoc """
  Runs programs in the PTC-JSON language: small JSON programs, as LLMs write them, that load data,
  transform it and call tools.

      iex> program = ~s({"program": {"op": "pipe", "steps": [
      ...>   {"op": "load", "name": "orders"},
      ...>   {"op": "filter", "where": {"op": "gt", "field": "total", "value": 100}},
      ...>   {"op": "sum", "field": "total"}]}})
      iex> orders = [%{"total" => 50}, %{"total" => 150}, %{"total" => 200}]
      iex> {:ok, result, _delta, _memory} = PtcRunner.Json.run(program, context: %{"orders" => orders})
      iex> result
      350

  A program runs natively, on the given terms: nothing of the context is copied. It runs in the
  calling process; only tools run in a process of their own. See `run/2` for the limits.

  `PtcRunner.Agent` asks a model for programs, runs them with this module, and tells the model what was wrong. `PtcRunner.Lisp` runs
  programs in PTC-Lisp. All operations of PTC-JSON, each with an example: [The language](language.md).

  ## Tools

  A tool is a function that takes the map of arguments the program gives and returns any term, or
  `{:error, reason}`:

      iex> tools = %{"double" => fn %{"n" => n} -> 2 * n end}
      iex> program = ~s({"program": {"op": "call", "tool": "double", "args": {"n": 21}}})
      iex> PtcRunner.Json.run!(program, tools: tools)
      42

  ## Errors

  Every error can be shown to the LLM that wrote the program:

      iex> {:error, error} = PtcRunner.Json.run(~s({"program": {"op": "lod", "name": "orders"}}))
      iex> PtcRunner.Json.format_error(error)
      "ValidationError: Unknown operation 'lod'. Did you mean 'load'?"

  """

  alias PtcRunner.Json.{Call, Checked, Checking, ErrorText, Evaluation, Explain, Given}
  alias PtcRunner.Json.{Limits, Paused, Plan, Planning, Program, Recording, Resuming, Text}
  alias PtcRunner.Shown

  @typedoc """
  Why a program has no result: texts for an LLM, the timeout in milliseconds, the heap in bytes.
  """
  @type error ::
          {:parse_error, String.t()}
          | {:validation_error, String.t()}
          | {:execution_error, String.t()}
          | {:refused, String.t()}
          | {:timeout, non_neg_integer()}
          | {:memory_exceeded, non_neg_integer()}

  @typedoc "Execution metrics: real time in milliseconds, memory built in bytes."
  @type metrics :: %{duration_ms: integer(), memory_bytes: integer()}

  @typedoc "JSON text, the map it stands for, or a compiled program."
  @type program :: String.t() | map() | Program.t()

  @typedoc "A function of the arguments; or of the arguments and of what the application gives, see `PtcRunner.Agent.Tool`."
  @type tool_function ::
          (map() -> term()) | (map(), PtcRunner.Agent.Tool.second() -> term())

  @typedoc "See the section *Tools* of `run/2`."
  @type tool ::
          tool_function()
          | {tool_function(), signature :: String.t() | tuple()}
          | {tool_function(), keyword()}
          | PtcRunner.Agent.Tool.t()

  @typedoc "What `:on_call` decides: see the section *Decisions* of `run/2`."
  @type decision ::
          bare_decision() | {:decided, bare_decision(), [{:by | :note | :at, term()}]}

  @typedoc "A decision without who has decided."
  @type bare_decision :: :run | {:run, map()} | {:answer, term()} | {:deny, term()} | :pause

  @typedoc "What is decided about a call that waits: see `resume/3`."
  @type answer :: bare_answer() | {:decided, bare_answer(), [{:by | :note | :at, term()}]}

  @typedoc "What is decided about a call that waits, without who has decided."
  @type bare_answer :: :approve | {:run, map()} | {:answer, term()} | {:deny, term()}

  @typedoc "What `run/2` returns."
  @type result :: {:ok, term(), map(), map()} | {:error, error()} | {:paused, Paused.t()}

  @typedoc "See `run/2`."
  @type option ::
          {:context, map()}
          | {:memory, map()}
          | {:tools, %{String.t() => tool()}}
          | {:tool_concurrency, pos_integer()}
          | {:now, DateTime.t() | String.t() | nil}
          | {:max_tool_calls, non_neg_integer() | nil}
          | {:on_call, (Call.t() -> decision()) | nil}
          | {:on_journal, (map() -> term()) | nil}
          | {:pause_ttl, non_neg_integer() | :infinity}
          | {:firewall, boolean()}
          | {:tool_context, map() | keyword() | nil}
          | {:within, Plan.t() | map() | [Plan.t() | map()] | nil}
          | {:unknown, :refuse | :ask}
          | compile_option()

  @typedoc "See `check/2`."
  @type check_option ::
          {:context, %{term() => String.t() | Checked.type() | {:sample, term()}} | nil}
          | {:memory, %{term() => String.t() | Checked.type() | {:sample, term()}} | nil}
          | {:tools, map() | nil}
          | {:returns, term()}
          | compile_option()

  @typedoc "See `plan/2`."
  @type plan_option ::
          {:context, map() | nil}
          | {:memory, map() | nil}
          | {:tools, map() | nil}
          | {:max_tool_calls, non_neg_integer() | nil}
          | compile_option()

  @typedoc "See `compile/2`."
  @type compile_option ::
          {:timeout, timeout()}
          | {:max_heap, non_neg_integer()}
          | {:max_depth, pos_integer()}
          | {:keys, :strings | :any}
          | {:strict, boolean()}
          | {:structs, :maps | :values}
          | {:edition, 1 | 2 | nil}

  @doc """
  Runs a program.

  A text must contain only the program: `PtcRunner.Agent.program/2` extracts one from a model's answer with
  prose and a code fence.

  ## Options

  Options other than `:context`, `:memory`, `:tools`, `:timeout` and `:max_heap` are new in this library: `ptc_runner` does not have them.

    * `:context` - map read by `load`, by default `%{}`. Its keys, and those of nested maps, are
      strings: see `:keys`.
    * `:memory` - map read by `var`, by default `%{}`; its keys are strings too
    * `:tools` - map of names and functions of one argument, by default `%{}`. Names are strings, and with `keys: :any` they may be atoms.
    * `:timeout` - milliseconds or `:infinity`, by default #{Limits.default_timeout()} or the application
      environment's `:ptc_runner_native, :default_timeout`. The time of tools counts.
    * `:max_heap` - words the program may build, and the heap of the process its tools run in, by
      default #{Limits.default_max_heap()} or the application environment's
      `:ptc_runner_native, :default_max_heap`; 0 for no limit. The caller's own data does not count. For both,
      the environment of `:ptc_runner` counts where this one has no value.
    * `:max_depth` - maximum nesting of operations, and in a text also of brackets, by default
      #{Limits.default_max_depth()}.
    * `:keys` - `:strings` (the default), or `:any`: if there is no such string key, `load`, `var`, and
      `field`, `fields` and `path` of the operations also find the atom key of that name.
    * `:strict` - `true` rejects every field that an operation does not have, and every condition that is an
      object without `"op"` (it would always be true), and makes `load` fail for a name that the context does not have. By default only mistyped fields are rejected, so that other
      fields can hold comments, and `load` of an unknown name returns `nil`.
    * `:structs` - `:maps` (the default) takes structs as the maps that they are, or `:values`: see the section
      *Structs*.
    * `:edition` - the edition of the language, 1 or 2: see the section *Editions*.
    * `:tool_concurrency` - maximum number of tools that run at the same time, by default 1. With more, the
      calls for different items of a `map`, `filter` or `reject` may overlap, in as many processes, which
      share the heap limit, and in edition 2 the calls in different fields of one object, or members of one list, that
      the program builds (of `object`, `set`, `list`, of the arguments of a tool, or of `each` where there is one group), and
      for different items of `set` and `index_by`, or groups of `group_by`; everything else stays in order. Results are in the order of the list. If several
      items fail, the first of them in that order is the error, and calls for later items are stopped. Within what
      overlaps, the calls of one item or field stay in order.
    * `:now` - the time that the operation `now` gives, for tests and for runs that are repeated: a `DateTime` or an ISO 8601 text,
      in the years 0 to 9999, without its fraction of a second. By default the time of the run's start.

    * `:max_tool_calls` - the maximum number of calls in the run, by default `nil`: no maximum
    * `:on_call` - a function of a `PtcRunner.Json.Call` that decides about each call: see the section *Decisions*
    * `:pause_ttl` - milliseconds until a paused run expires, at most 1,000 years of them, by default `:infinity`
    * `:on_journal` - a function that gets each entry of the run's journal when it is made, as a map that is JSON, so that a run
      whose process is killed can go on: see `PtcRunner.Json.Paused.recover/1`.
    * `:tool_context` - a map or a keyword list for tools of two arguments, which the program does not see: see `PtcRunner.Agent.Tool`.
    * `:firewall` - `true` refuses a program in which firewalled data flow into the arguments of a tool: see the section
      *Firewalled data*. By default `false`, in `PtcRunner.Agent` `true`.
    * `:within` - a plan, as a `PtcRunner.Json.Plan` or the map of `PtcRunner.Json.Plan.to_map/1`: the run makes only calls that it has. See the section
      *Within a plan*. A list of plans is also possible: each of them counts.
    * `:unknown` - what happens to a call of which the plan cannot say how often it is made: `:refuse` (the default) refuses the program, with `:ask` the run is paused
      before each such call.

  A compiled program keeps the `:keys`, `:strict` and `:structs` that it was compiled with. If this call needs more,
  the program is compiled again for this run. It always keeps its edition, and `:edition` has no effect.

  ## Tools

  A tool is a function of one argument, or of two with the option `:tool_context`; `{function, signature}`, whose arguments and result are coerced and validated as in
  `PtcRunner.Agent.run/3`; `{function, options}`; or a `PtcRunner.Agent.Tool`. The options:

    * `:signature`, `:description`, `:enums`, `:descriptions` - see `PtcRunner.Agent`
    * `:effect` - `:read` or `:write`, by default `:write`
    * `:max_calls` - how often the tool may be called in one run
    * `:timeout` - milliseconds of one call. A call that takes longer is an error of the tool, which the program may catch with `on_error`.
    * `:cache` - `true`: in one run, the tool is called once for equal arguments (by `===`), and its answer, or error, counts for all
    * `:approve` - `true`: without `:on_call`, the run is paused before the call
    * `:batch` - how many calls the function takes at once, as a list of arguments, to answer a list: see *One call for many* in `PtcRunner.Agent.Tool`

  A call is counted before it starts, also one that `:on_call` answers; one that the cache answers is not. A run that exceeds
  `:max_tool_calls` or `:max_calls` ends with an error that the program cannot catch:

      iex> program = ~s({"program": {"op": "pipe", "steps": [
      ...>   {"op": "literal", "value": [1, 2, 3]}, {"op": "map", "expr": {"op": "call", "tool": "tick", "on_error": 0}}]}})
      iex> PtcRunner.Json.run(program, tools: %{"tick" => {fn _ -> 1 end, max_calls: 2}})
      {:error, {:execution_error, "Tool 'tick' was called 2 times; no more than 2 calls are allowed"}}

  ## Firewalled data

  Fields whose names begin with `_` or `-` are firewalled. With `firewall: true`, a program in which a firewalled field flows into an
  argument of a tool is refused before it runs, with the path of the flow:

      iex> program = ~s({"program": {"op": "pipe", "steps": [
      ...>   {"op": "load", "name": "users"},
      ...>   {"op": "map", "expr": {"op": "call", "tool": "mail", "args": {"to": {"op": "get", "field": "_email"}}}}]}})
      iex> opts = [context: %{"users" => [%{"id" => 1, "_email" => "a@b"}]}, firewall: true]
      iex> PtcRunner.Json.run(program, [tools: %{"mail" => fn _ -> :ok end}] ++ opts)
      {:error, {:validation_error, "Firewalled data flows into a tool: users._email into the argument 'to' of tool 'mail', which writes. Give it only other fields, with get or select, or without these, with unset"}}

  A tool may have such an argument if it only reads (`effect: :read`) and its signature declares the argument firewalled:

      iex> program = ~s({"program": {"op": "call", "tool": "find", "args": {"_email": {"op": "get", "from": {"op": "load", "name": "user"}, "field": "_email"}}}})
      iex> find = {fn %{"_email" => _} -> 1 end, signature: "(_email :string) -> :int", effect: :read}
      iex> PtcRunner.Json.run(program, context: %{"user" => %{"_email" => "a@b"}}, tools: %{"find" => find}, firewall: true)
      {:ok, 1, %{}, %{}}

  A row that is passed as a whole flows with all its fields: the data of the run are looked at where they flow, and signatures of the
  tools say which fields their answers have. Where no signature says so, the answers are looked at when they come, and the first call
  into which firewalled data would flow ends the run; `on_error` does not catch that. What is computed from a firewalled field counts.
  That a firewalled field decides whether a tool is called, or with which of several public values, is not a flow: `plan/2` shows what
  decides.

  What a program keeps in the memory stays firewalled there: the new memory has the names of such values in `"_concealed"`, and a later
  run that gives one to a tool is refused. Values about which firewalled data have only decided stand in `"_decided"` too; they may go into tools.

      iex> program = ~s({"program": {"pin": {"op": "get", "from": {"op": "load", "name": "user"}, "field": "_pin"}}})
      iex> {:ok, _value, _delta, memory} = PtcRunner.Json.run(program, context: %{"user" => %{"_pin" => 4711}}, firewall: true)
      iex> memory
      %{"pin" => 4711, "_concealed" => ["pin"]}
      iex> program = ~s({"program": {"op": "call", "tool": "mail", "args": {"to": {"op": "var", "name": "pin"}}}})
      iex> {:error, {:validation_error, text}} = PtcRunner.Json.run(program, memory: memory, tools: %{"mail" => fn _ -> :ok end}, firewall: true)
      iex> String.slice(text, 0, 119)
      "Firewalled data flows into a tool: memory.pin (which an earlier program has taken from firewalled data) into the argume"

  ## Decisions

  The function of `:on_call` runs in the calling process, once for each call, before the call. Its time counts: a call that it allows
  after the end of `:timeout` does not start. It is not stopped itself, so what it waits for needs a limit of its own. It returns

    * `:run`, or `{:run, args}` with other arguments, a map
    * `{:answer, value}` - the tool is not called
    * `{:deny, reason}` - ends the run; the program cannot catch it. So does a function that raises or returns something else.
    * `:pause` - `run/2` returns `{:paused, paused}`, and `resume/3` goes on. The calls of a loop, of the parts of an object or list, and of the arguments of a
      call wait together. No call of a later round that writes is made before them; what the function lets run there is asked about again.
    * `{:decided, decision, by: name, note: text, at: time}` - one of these with who or what has decided, a note, and the time (a `DateTime`
      or an ISO 8601 text): `PtcRunner.Agent.audit/1` and the option `:on_event` tell them. Each of the three may be left out.

  An example:

      iex> program = ~s({"program": {"op": "call", "tool": "pay", "args": {"to": "Ada"}, "on_error": 0}})
      iex> on_call = fn %PtcRunner.Json.Call{effect: :write, args: %{"to" => name}} -> {:deny, "nothing for " <> name} end
      iex> PtcRunner.Json.run(program, tools: %{"pay" => fn _ -> :paid end}, on_call: on_call)
      {:error, {:execution_error, "Tool 'pay' was refused: nothing for Ada"}}

  ## Within a plan

  A person approves a plan, and the run makes only the calls that it has, with the constants that it has, and no more often:

      iex> program = &~s({"program": {"op": "call", "tool": "pay", "args": {"to": "\#{&1}", "sum": {"op": "load", "name": "rent"}}, "on_error": 0}})
      iex> opts = [tools: %{"pay" => fn %{"to" => name, "sum" => sum} -> "\#{sum} to \#{name}" end}, context: %{"rent" => 900}]
      iex> {:ok, plan} = PtcRunner.Json.plan(program.("the landlord"), opts)
      iex> PtcRunner.Json.run(program.("the landlord"), [within: plan] ++ opts)
      {:ok, "900 to the landlord", %{}, %{}}
      iex> PtcRunner.Json.run(program.("somebody"), [within: plan] ++ opts)
      {:error, {:refused, ~S(The program is not within the plan: the argument to of 'pay' is "somebody", and the plan has "the landlord")}}

  A program is refused before its first call wherever that can be known: by its own plan, see `PtcRunner.Json.Plan.within?/2`. That is also so if it calls
  a tool that is not in `:tools`, or one whose signature has changed. What only the run knows, such as the number of rows or a condition of
  `PtcRunner.Json.Plan.approve/2`, is looked at before each call. `on_error` does not catch a refusal.

  The program that the plan was made of is within it by its digest, and what the plan says of it is not compared again. How often a plan calls a tool may be
  `"unknown"`: another program with such calls is refused, unless a number was approved or `:unknown` says otherwise. A paused run keeps its plan.

  ## Editions

  Edition 1 is the language of PtcRunner. Edition 2 adds operations for groups, joins, text and dates, and computed values
  in the arguments of tools ([the language](language.md)). Without the option `:edition`, the application environment's
  `:ptc_runner_native, :edition` counts, and else edition 2, but edition 1 beside `ptc_runner` 0.4 to 0.6, whose programs keep
  their meaning. The environment is read once, when the application starts.

  ## Keys are strings

  A program is JSON, so its keys are strings, and `"total"` is not `:total`: a row `%{total: 1}` has no
  `"total"`, which counts as `nil`. A program's text never creates atoms. Data whose keys are atoms
  (such as Ecto structs converted to maps) is read with `keys: :any`:

      iex> orders = [%{total: 50}, %{total: 150}]
      iex> program = ~s({"program": {"op": "pipe", "steps": [
      ...>   {"op": "load", "name": "orders"}, {"op": "sum", "field": "total"}]}})
      iex> PtcRunner.Json.run!(program, context: %{orders: orders}, keys: :any)
      200
      iex> {:error, error} = PtcRunner.Json.run(program, context: %{orders: orders}, strict: true)
      iex> PtcRunner.Json.format_error(error)
      "ExecutionError: Unknown name 'orders' in operation 'load'. There are none. The context has the key :orders, an atom, and keys are texts: give %{\\"orders\\" => …}, or keys: :any"

  Without `strict: true` such a name is `nil`, as in PtcRunner. A run whose value is `nil`, or that ends with an error, then logs a warning that says it.

  ## Structs

  By default a struct is a map with atom keys, as in PtcRunner: of two dates the days are compared before the years. With
  `structs: :values`, as in `PtcRunner.Agent`, a struct is a map of its fields, whatever `:keys` says, and an Ecto association that is
  not loaded is `nil`. `Date`, `Time`, `NaiveDateTime`, `DateTime` and `Decimal` are then values: they have no fields, are never
  the memory, and are compared by their meaning everywhere, also with ISO 8601 texts and with numbers. An atom other than `nil`,
  `true` and `false` is compared as the text of its name ([how](programs.md#structs-dates-and-decimals)). Arithmetic with a `Decimal`
  is exact and gives one; with a float it is an error ([how](programs.md#arithmetic-with-decimals)).

      iex> program = ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "days"}, {"op": "max", "field": "day"}]}})
      iex> days = [%{"day" => ~D[2024-01-31]}, %{"day" => "2024-02-29"}, %{"day" => ~D[2024-03-01]}]
      iex> PtcRunner.Json.run!(program, context: %{"days" => days}, structs: :values)
      ~D[2024-03-01]

  ## Returns

  `{:ok, result, memory_delta, new_memory}` by the memory contract:

    * a result that is not a map leaves the memory as it is
    * a map with `"result"` (or else `:result`) gives that as the result; its other keys are the
      delta, merged into the memory
    * any other map is the result and the delta

  or `{:error, reason}`, see `t:error/0`; or `{:paused, paused}`, see `resume/3`. Raises `ArgumentError` for unknown options and
  for invalid limits, such as a negative timeout.

      iex> program = ~s({"program": {"result": {"op": "literal", "value": 42}, "seen": 1}})
      iex> PtcRunner.Json.run(program, memory: %{"seen" => 0, "kept" => true})
      {:ok, 42, %{"seen" => 1}, %{"kept" => true, "seen" => 1}}

      iex> PtcRunner.Json.run(~s({"program": {"op": "count"}}))
      {:error, {:execution_error, "No input available"}}

  """
  @spec run(program(), [option()]) :: result()
  def run(program, opts \\ []) do
    Evaluation.of(program, Given.read(opts, "PtcRunner.Json.run/2"))
  end

  @doc """
  Goes on with a paused run.

  `decisions` is what is decided about the calls that wait: one decision for all of them, a list with one for each in the order of `calls`, a map from their ids, or a
  function of a call (`t:PtcRunner.Json.Call.t/0`) that returns its decision, or `:pause`. Calls without a decision wait again. A decision is

    * `:approve` - the tool is called with the arguments that the program gives
    * `{:run, args}` - the tool is called with these arguments, a map
    * `{:answer, value}` - the tool is not called, and `value` is its answer
    * `{:deny, reason}` - ends the run with an error
    * `{:decided, decision, by: name, note: text, at: time}` - one of these, with who has decided, as in `run/2`

  The options are those of `run/2`. Give the same `:context` and `:tools` again; the program, its memory, the time of `now`, the
  edition and `:keys`, `:strict`, `:structs` and `:max_depth` are those of the paused run, and so are `:timeout`, `:max_heap`, `:max_tool_calls`,
  `:tool_concurrency`, `:firewall` and `:pause_ttl` unless they are given. A run that had `:on_call` or `:on_journal` needs it again: without it, the result is
  an error. With `nil` it goes on without. The program runs anew, and the calls
  that were answered before get their answers from the journal: their tools are not called, and `:on_call` is not asked again.
  Returns what `run/2` returns, so the run may be paused again. It is an error if the data that the program reads has changed,
  if the program makes another call than the journal has, if the run has expired, if `:edition` is another one, and if
  a decision is about a call that does not wait.

  A paused run is data: two processes that resume the same one both call what was approved. Take it out of its table first, as in
  the guide [Tools under control](tools_under_control.md). Whoever can change it there can change the answers in it.

      iex> program = ~s({"program": {"op": "call", "tool": "pay", "args": {"to": "Ada"}}})
      iex> opts = [tools: %{"pay" => {fn %{"to" => name} -> "paid " <> name end, approve: true}}]
      iex> {:paused, paused} = PtcRunner.Json.run(program, opts)
      iex> for call <- paused.calls, do: call.text
      [~S(pay with %{"to" => "Ada"})]
      iex> PtcRunner.Json.resume(paused, :approve, opts)
      {:ok, "paid Ada", %{}, %{}}
      iex> PtcRunner.Json.resume(paused, {:deny, "not Ada"}, opts)
      {:error, {:execution_error, "Tool 'pay' was refused: not Ada"}}

  Not in `ptc_runner`.
  """
  @spec resume(
          Paused.t(),
          answer() | [answer()] | %{String.t() => answer()} | (Call.t() -> answer() | :pause),
          [option()]
        ) :: result()
  def resume(paused, decisions, opts \\ [])

  def resume(%Paused{} = paused, decisions, opts), do: Resuming.resume(paused, decisions, opts)

  def resume(other, _decisions, _opts) do
    raise ArgumentError,
          "PtcRunner.Json.resume/3 needs a PtcRunner.Json.Paused, as Paused.from_map/1 makes it of what was stored, got: " <>
            Shown.text(other, 200)
  end

  @doc """
  Runs a program and records its calls: returns what `run/2` returns, and a journal for `replay/3`.

  A journal is a map that is JSON: it can be written to a file or a database. Values that JSON does not have are in it as objects
  with the key `"$ptc"`, and `replay/3` gives them back as they were. Functions, processes, ports and references cannot be
  recorded: the run ends with an error where a tool answers with one.

      iex> program = ~s({"program": {"op": "call", "tool": "rate", "args": {"to": "USD"}}})
      iex> {result, journal} = PtcRunner.Json.record(program, tools: %{"rate" => fn _ -> 1.25 end})
      iex> result
      {:ok, 1.25, %{}, %{}}
      iex> for call <- journal["calls"], do: Map.delete(call, "key")
      [%{"id" => "1", "tool" => "rate", "args" => %{"to" => "USD"}, "answer" => 1.25}]
      iex> PtcRunner.Json.replay(program, journal)
      {:ok, 1.25, %{}, %{}}

  Not in `ptc_runner`.
  """
  @spec record(program(), [option()]) :: {result(), journal :: map()}
  def record(program, opts \\ []), do: Recording.record(program, opts)

  @doc """
  Runs a program with the answers of a journal: no tool is called. Returns what `record/2` returned as the result of the run, or
  an error that says where the program departs from the journal.

  The journal may also be that of a run with `:on_journal`: the list of its maps, or what `PtcRunner.Json.Paused.recover/1` makes of them.

  The options are those of `run/2`; without `:now` and `:edition` those of the journal count, and of a journal of `:on_journal` also the memory, the limits, `:keys`,
  `:strict` and `:structs`. Tools are not needed, and those that are given are not called.

      iex> {_result, journal} = PtcRunner.Json.record(~s({"program": {"op": "call", "tool": "rate", "args": {"to": "USD"}}}),
      ...>   tools: %{"rate" => fn _ -> 1.25 end})
      iex> PtcRunner.Json.replay(~s({"program": {"op": "call", "tool": "rate", "args": {"to": "EUR"}}}), journal)
      {:error, {:execution_error, ~S(The program calls 'rate' with %{"to" => "EUR"}, but the journal has 'rate' with %{"to" => "USD"})}}

      iex> me = self()
      iex> program = ~s({"program": {"op": "call", "tool": "rate", "args": {"to": "USD"}}})
      iex> {:ok, 1.25, _, _} = PtcRunner.Json.run(program, tools: %{"rate" => fn _ -> 1.25 end}, on_journal: &send(me, {:journal, &1}))
      iex> journal = for _ <- 1..3, do: (receive do {:journal, map} -> map end)
      iex> {:ok, paused} = PtcRunner.Json.Paused.recover(journal)
      iex> PtcRunner.Json.replay(paused.program, paused)
      {:ok, 1.25, %{}, %{}}

  Not in `ptc_runner`.
  """
  @spec replay(program(), journal :: map() | [map()] | Paused.t(), [option()]) ::
          {:ok, term(), map(), map()} | {:error, error()}
  def replay(program, journal, opts \\ []), do: Recording.replay(program, journal, opts)

  @doc """
  Makes a value of a JSON text, which a program reads as if it had been decoded.

      iex> program = ~s({"program": {"op": "pipe", "steps": [
      ...>   {"op": "load", "name": "orders"},
      ...>   {"op": "filter", "where": {"op": "gt", "field": "total", "value": 100}},
      ...>   {"op": "sum", "field": "total"}]}})
      iex> orders = PtcRunner.Json.text(~s([{"total": 50}, {"total": 150}, {"total": 200}]))
      iex> PtcRunner.Json.run!(program, context: %{"orders" => orders})
      350

  It may be a value of the map `:context`, and a tool may return it. The results and errors are those of a run over what
  `PtcRunner.Json.Codec.decode/1` makes of the text. A long text is not decoded: the program reads in it what it needs. A text that is not
  valid JSON, wherever it is, ends the run before its first step, or is an error of the tool:

      iex> program = ~s({"program": {"op": "load", "name": "other"}})
      iex> PtcRunner.Json.run(program, context: %{"orders" => PtcRunner.Json.text("[1,]")})
      {:error, {:execution_error, "Context 'orders': JSON decode error: Unexpected token at position 3"}}

  See the guide *Large answers of tools*. Not in `ptc_runner`.
  """
  @spec text(String.t()) :: Text.t()
  def text(binary) when is_binary(binary), do: %Text{binary: binary}

  @doc """
  Runs a program and returns only its result; raises `RuntimeError` instead of an error.

  The options are those of `run/2`.

      iex> PtcRunner.Json.run!(~s({"program": {"op": "literal", "value": 42}}))
      42

      iex> PtcRunner.Json.run!(~s({"program": {"op": "first"}}))
      ** (RuntimeError) PtcRunner error: {:execution_error, "No input available"}

  """
  @spec run!(program(), [option()]) :: term()
  def run!(program, opts \\ []) do
    case run(program, opts) do
      {:ok, result, _delta, _memory} -> result
      {:error, reason} -> raise "PtcRunner error: #{Shown.text(reason, 8_192)}"
      {:paused, paused} -> raise "PtcRunner error: the run is paused: #{hd(paused.calls).text}"
    end
  end

  @doc """
  Compiles a program once, to be run many times.

  Takes `:timeout`, `:max_heap`, `:max_depth`, `:keys`, `:strict`, `:structs` and `:edition`, see `run/2`: parsing, checking and
  compiling have the limits of a run; the program keeps `:keys`, `:strict`, `:structs` and `:edition`.
  Errors are those of parsing and validation, and of the limits.

  `:check` takes the options `:context`, `:memory`, `:tools` and `:returns` of `check/2`; then a program with a certain error is a
  `:validation_error` with all findings, one in a line.

      iex> {:ok, program} = PtcRunner.Json.compile(~s({"program": {"op": "load", "name": "n"}}))
      iex> for n <- 1..3, do: PtcRunner.Json.run!(program, context: %{"n" => n})
      [1, 2, 3]

      iex> PtcRunner.Json.compile(~s({"program": {"op": "load"}}))
      {:error, {:validation_error, "Operation 'load' requires field 'name'"}}

      iex> PtcRunner.Json.compile(~s({"program": {"op": "eq", "feild": "x", "value": 1}}))
      {:error, {:validation_error, "Unknown field 'feild' in operation 'eq'. Did you mean 'field'?"}}

      iex> PtcRunner.Json.compile(~s({"program": {"op": "count", "comment": "all"}}), strict: true)
      {:error, {:validation_error, "Unknown field 'comment' in operation 'count'. There are: 'where'"}}

      iex> PtcRunner.Json.compile(~s({"program": {"op": "load", "name": "n"}}), check: [context: %{"n" => ":int"}, returns: ":string"])
      {:error, {:validation_error, "program: The result must be :string, and is :int"}}

  """
  @spec compile(program(), [compile_option() | {:check, keyword() | nil}]) ::
          {:ok, Program.t()} | {:error, error()}
  def compile(program, opts \\ []), do: Checking.compile(program, opts)

  @doc """
  Checks a program against the types of its data before it runs.

  What is certain is an error: `{:error, findings}` has all of them, in the order of the program. What is only likely is a warning, in
  `checked.warnings`. A program without an error is `{:ok, %PtcRunner.Json.Checked{}}`.

  ## Options

    * `:context` - the types of what `load` reads: a map of names and types. A type is the text of a signature (`"[{id :int}]"`), a parsed
      one, or `{:sample, value}`: the type of that value, of which up to 1,000 rows of each list and up to 200,000 values are looked at. Keys that are missing in some rows are
      optional, values of several kinds become a union. Without the option nothing is known of the context.
    * `:memory` - the same for `var`. Without the option, a name that no operation around a `var` binds is a warning.
    * `:tools` - as for `run/2`. The arguments of a tool with a signature are checked; a signature alone also does.
    * `:returns` - the signature of the result
    * `:edition`, `:strict`, `:keys`, `:structs`, `:timeout`, `:max_heap`, `:max_depth` - as for `compile/2`

  ## Examples

      iex> program = ~s({"program": {"op": "pipe", "steps": [
      ...>   {"op": "load", "name": "orders"},
      ...>   {"op": "sum", "field": "totl"}]}})
      iex> {:error, [finding]} = PtcRunner.Json.check(program, context: %{"orders" => "[{id :int, total :float}]"})
      iex> finding.message
      "sum reads field 'totl', which no value has. Did you mean 'total'?"
      iex> {finding.path, finding.suggestion, finding.line}
      {["program", "steps", 1, "field"], "total", 3}

      iex> program = ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "orders"}, {"op": "count"}]}})
      iex> {:ok, checked} = PtcRunner.Json.check(program, context: %{"orders" => {:sample, [%{"id" => 1}]}}, returns: ":int")
      iex> {checked.type, checked.reads}
      {:int, ["orders"]}

  Not in `ptc_runner`. Raises `ArgumentError` for wrong options and types.
  """
  @spec check(program(), [check_option()]) ::
          {:ok, Checked.t()} | {:error, [Checked.finding(), ...]}
  def check(program, opts \\ []), do: Checking.check(program, opts)

  @doc """
  Says what a program will do, and runs nothing: which tools it may call, how often, with which parts of the data, and what flows into
  its result. See `PtcRunner.Json.Plan`; `IO.puts(plan)` is a text that a person can approve.

  A run lies within its plan. The largest number of calls, the flows and the reads hold for every run of the program, and where
  they are not known the plan says `"unknown"`. The least number of calls holds for a run that ends without an error and whose
  `:on_call` neither answers nor denies calls.

  ## Options

    * `:context`, `:memory` - the data of the run. It is optional: with it, the formulas are numbers too.
    * `:tools` - as for `run/2`: their effects and budgets are in the plan. Without it, every tool counts as one that writes.
    * `:max_tool_calls` - the budget of the run
    * `:edition`, `:strict`, `:keys`, `:structs`, `:timeout`, `:max_heap`, `:max_depth` - as for `compile/2`

  ## Examples

      iex> program = ~s({"program": {"op": "pipe", "steps": [
      ...>   {"op": "load", "name": "employees"},
      ...>   {"op": "map", "expr": {"op": "call", "tool": "mail", "args": {"to": {"op": "get", "field": "email"}, "text": "Hello"}}}]}})
      iex> {:ok, plan} = PtcRunner.Json.plan(program, context: %{"employees" => [%{"email" => "a@b"}, %{"email" => "c@d"}]})
      iex> [tool] = plan.tools
      iex> {tool.name, tool.calls, tool.least, tool.most}
      {"mail", "= count(employees)", 2, 2}
      iex> tool.arguments
      %{"text" => [], "to" => ["employees.email"]}
      iex> {plan.reads, plan.result}
      {["employees.email"], %{from: ["answer of mail"], decided_by: ["count(employees)"]}}

      iex> PtcRunner.Json.plan(~s({"program": {"op": "lod", "name": "orders"}}))
      {:error, {:validation_error, "Unknown operation 'lod'. Did you mean 'load'?"}}

  Not in `ptc_runner`. Raises `ArgumentError` for wrong options.
  """
  @spec plan(program(), [plan_option()]) :: {:ok, Plan.t()} | {:error, error()}
  def plan(program, opts \\ []), do: Planning.plan(program, opts)

  @doc """
  Runs a program and reports the work of each operation: see `PtcRunner.Json.Explain`.

  The options are those of `run/2`, and so is the `:result` in the explanation. If a run ends early, the
  explanation has the operations up to there, and `:failed_at`. If a program is not well-formed, it has
  no operations, and `:failed_at` is the path of the error.

      iex> program = ~s({"program": {"op": "pipe", "steps": [
      ...>   {"op": "load", "name": "rows"},
      ...>   {"op": "filter", "where": {"op": "gt", "field": "n", "value": 1}},
      ...>   {"op": "sum", "field": "m"}]}})
      iex> explanation = PtcRunner.Json.explain(program, context: %{"rows" => [%{"n" => 1}, %{"n" => 2}]})
      iex> explanation.result
      {:ok, 0, %{}, %{}}
      iex> for operation <- explanation.operations, do: {operation.about, operation.runs, operation.items_in, operation.items_out}
      [{"pipe", 1, nil, nil}, {"load rows", 1, nil, 2}, {"filter", 1, 2, 1}, {"gt n 1", 2, nil, nil}, {"sum m", 1, 1, nil}]
      iex> for finding <- explanation.findings, do: finding.message
      ["none of 1 had m"]

  With `check:`, the options `:context`, `:memory`, `:tools` and `:returns` of `check/2`, each operation has its `:type`: that of its value, as
  far as the types tell it before the run. Without `:context` and `:memory` there, those of the run are the samples.

      iex> program = ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"}, {"op": "sum", "field": "n"}]}})
      iex> explanation = PtcRunner.Json.explain(program, context: %{"rows" => [%{"n" => 1}]}, check: [context: %{"rows" => "[{n :int}]"}])
      iex> for operation <- explanation.operations, do: {operation.about, operation.type}
      [{"pipe", :int}, {"load rows", {:list, {:map, [{"n", :int}]}}}, {"sum n", :int}]

  Not in `ptc_runner`.
  """
  @spec explain(program(), [option() | {:check, keyword() | nil}]) :: Explain.t()
  def explain(program, opts \\ []), do: Checking.explain(program, opts)

  @doc """
  Formats an error for an LLM: the kind of error, and what to change. Takes any term.

      iex> PtcRunner.Json.format_error({:parse_error, "unexpected token"})
      "ParseError: unexpected token"

      iex> PtcRunner.Json.format_error({:timeout, 1000})
      "TimeoutError: execution exceeded 1000ms limit"

  """
  @spec format_error(error() | term()) :: String.t()
  defdelegate format_error(error), to: ErrorText, as: :format
end
