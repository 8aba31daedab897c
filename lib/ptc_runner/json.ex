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

  alias PtcRunner.Json.{Contract, ErrorText, Explain, Fence, Inputs, Limits, Message}
  alias PtcRunner.Json.{Now, Parser, Program, Runner}
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.{Options, Shown}
  require Telemetry

  @limits [
    timeout: {{:maybe, :timeout}, nil},
    max_heap: {{:maybe, :max_heap}, nil},
    max_depth: {:depth, Limits.default_max_depth()},
    keys: {{:one_of, [:strings, :any]}, :strings},
    strict: {:boolean, false},
    structs: {{:one_of, [:maps, :values]}, :maps},
    edition: {{:maybe, {:one_of, [1, 2]}}, nil}
  ]

  # Those of a run without these options.
  @no_limits {nil, nil, Limits.default_max_depth()}

  @compile_options Options.table(@limits)

  # Errors in the maps are reported after errors in the program.
  @run_options Options.table(
                 @limits ++
                   [
                     context: {:any, %{}},
                     memory: {:any, %{}},
                     tools: {:any, %{}},
                     tool_concurrency: {{:up_to, 1_024}, 1},
                     now: {:now, nil}
                   ]
               )

  @typedoc """
  Why a program has no result: texts for an LLM, the timeout in milliseconds, the heap in bytes.
  """
  @type error ::
          {:parse_error, String.t()}
          | {:validation_error, String.t()}
          | {:execution_error, String.t()}
          | {:timeout, non_neg_integer()}
          | {:memory_exceeded, non_neg_integer()}

  @typedoc "Execution metrics: real time in milliseconds, memory built in bytes."
  @type metrics :: %{duration_ms: integer(), memory_bytes: integer()}

  @typedoc "JSON text, the map it stands for, or a compiled program."
  @type program :: String.t() | map() | Program.t()

  @typedoc "See `run/2`."
  @type option ::
          {:context, map()}
          | {:memory, map()}
          | {:tools, %{String.t() => (map() -> term())}}
          | {:tool_concurrency, pos_integer()}
          | {:now, DateTime.t() | String.t() | nil}
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

    * `:context` - map read by `load`, by default `%{}`. Its keys, and those of nested maps, are
      strings: see `:keys`.
    * `:memory` - map read by `var`, by default `%{}`; its keys are strings too
    * `:tools` - map of names and functions of one argument, by default `%{}`
    * `:timeout` - milliseconds or `:infinity`, by default #{Limits.default_timeout()} or the application
      environment's `:ptc_runner_native, :default_timeout`. The time of tools counts.
    * `:max_heap` - words the program may build, and the heap of the process its tools run in, by
      default #{Limits.default_max_heap()} or the application environment's
      `:ptc_runner_native, :default_max_heap`; 0 for no limit. The caller's own data does not count. For both,
      the environment of `:ptc_runner` counts where this one has no value.
    * `:max_depth` - maximum nesting of operations, and in a text also of brackets, by default
      #{Limits.default_max_depth()}. New in this library.
    * `:keys` - `:strings` (the default), or `:any`: if there is no such string key, `load`, `var`, and
      `field`, `fields` and `path` of the operations also find the atom key of that name. New in this library.
    * `:strict` - `true` rejects every field that an operation does not have, and every condition that is an
      object without `"op"` (it would always be true), and makes `load` fail for a name that the context does not have. By default only mistyped fields are rejected, so that other
      fields can hold comments, and `load` of an unknown name returns `nil`. New in this library.
    * `:structs` - `:maps` (the default) takes structs as the maps that they are, or `:values`: see the section
      *Structs*. New in this library.
    * `:edition` - the edition of the language, 1 or 2: see the section *Editions*. New in this library.
    * `:tool_concurrency` - maximum number of tools that run at the same time, by default 1. With more, the
      calls for different items of a `map`, `filter` or `reject` may overlap, in as many processes, which
      share the heap limit, and in edition 2 the calls in different fields of one object, or members of one list, that
      the program builds; everything else stays in order. Results are in the order of the list. If several
      items fail, the first of them in that order is the error, and calls for later items are stopped. Within what
      overlaps, the calls of one item or field stay in order. New in this library.
    * `:now` - the time that the operation `now` gives, for tests and for runs that are repeated: a `DateTime` or an ISO 8601 text,
      in the years 0 to 9999, without its fraction of a second. By default the time of the run's start. New in this library.

  A compiled program keeps the `:keys`, `:strict` and `:structs` that it was compiled with. If this call needs more,
  the program is compiled again for this run. It always keeps its edition, and `:edition` has no effect.

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
      "ExecutionError: Unknown name 'orders' in operation 'load'. There are none"

  ## Structs

  By default a struct is a map with atom keys, as in PtcRunner: of two dates the days are compared before the years. With
  `structs: :values`, as in `PtcRunner.Agent`, a struct is a map of its fields, whatever `:keys` says, and an Ecto association that is
  not loaded is `nil`. `Date`, `Time`, `NaiveDateTime`, `DateTime` and `Decimal` are then values: they have no fields, are never
  the memory, and are compared by their meaning everywhere, also with ISO 8601 texts and with numbers. An atom other than `nil`,
  `true` and `false` is compared as the text of its name ([how](programs.md#structs-dates-and-decimals)).

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

  or `{:error, reason}`, see `t:error/0`. Raises `ArgumentError` for unknown options and
  for invalid limits, such as a negative timeout.

      iex> program = ~s({"program": {"result": {"op": "literal", "value": 42}, "seen": 1}})
      iex> PtcRunner.Json.run(program, memory: %{"seen" => 0, "kept" => true})
      {:ok, 42, %{"seen" => 1}, %{"kept" => true, "seen" => 1}}

      iex> PtcRunner.Json.run(~s({"program": {"op": "count"}}))
      {:error, {:execution_error, "No input available"}}

  """
  @spec run(program(), [option()]) :: {:ok, term(), map(), map()} | {:error, error()}
  def run(program, opts \\ []) do
    {limits, _context, memory, _tools, _how} = given = given(opts, "PtcRunner.Json.run/2")

    case ran(program, given, &Runner.run/6) do
      {:ok, value, _words} -> Contract.of(value, memory, program, limits)
      {:error, fault} -> {:error, Message.error(fault)}
    end
  end

  @doc false
  # Like `run/2`, for `PtcRunner.Agent`: the value is that before the rules of memory, an error is a fault, and
  # `run` is called instead of `Runner.run/6`.
  @spec value(program(), [option()], function()) :: {:ok, term()} | {:error, Message.fault()}
  def value(program, opts, run \\ &Runner.run/6) do
    with {:ok, value, _words} <- ran(program, given(opts, "PtcRunner.Json.run/2"), run),
         do: {:ok, value}
  end

  # A small program takes so little time that each call on the way to it counts.
  @compile {:inline, ran: 3, run: 3}

  defp ran(program, given, run) do
    value =
      if Telemetry.on?(),
        do: Telemetry.run(program, fn -> run(program, given, run) end),
        else: run(program, given, run)

    with {:error, fault} <- value, do: {:error, Fence.note(fault, program)}
  end

  defp run(program, {limits, context, memory, tools, how}, run) do
    with {:ok, program} <- source(program, limits),
         :ok <- maps(program, context, memory, tools, limits),
         do: run.(program, context, memory, tools, limits, how)
  end

  # Most runs have no other options than maps, of which nothing is checked here.
  defp given(opts, function), do: given(opts, nil, nil, nil, opts, function)

  defp given([{:context, context} | rest], nil, memory, tools, opts, function)
       when is_map(context),
       do: given(rest, context, memory, tools, opts, function)

  defp given([{:memory, memory} | rest], context, nil, tools, opts, function)
       when is_map(memory),
       do: given(rest, context, memory, tools, opts, function)

  defp given([{:tools, tools} | rest], context, memory, nil, opts, function) when is_map(tools),
    do: given(rest, context, memory, tools, opts, function)

  defp given([], context, memory, tools, _opts, _function),
    do: {@no_limits, context || %{}, memory || %{}, tools || %{}, 1}

  # With any other option, or one that is given twice.
  defp given(_rest, _context, _memory, _tools, opts, function), do: read(opts, function)

  defp read(opts, function) do
    {timeout, max_heap, max_depth, keys, strict, structs, edition, context, memory, tools,
     concurrency, now} = Options.read!(opts, @run_options, function)

    {Limits.given(timeout, max_heap, max_depth, keys, strict, structs, edition), context, memory,
     tools, how(concurrency, now)}
  end

  defp how(concurrency, nil), do: concurrency

  defp how(concurrency, now) do
    {:ok, now} = Now.text(now)
    {concurrency, now}
  end

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
    end
  end

  @doc """
  Compiles a program once, to be run many times.

  Takes `:timeout`, `:max_heap`, `:max_depth`, `:keys`, `:strict`, `:structs` and `:edition`, see `run/2`: parsing, checking and
  compiling have the limits of a run; the program keeps `:keys`, `:strict`, `:structs` and `:edition`.
  Errors are those of parsing and validation, and of the limits.

      iex> {:ok, program} = PtcRunner.Json.compile(~s({"program": {"op": "load", "name": "n"}}))
      iex> for n <- 1..3, do: PtcRunner.Json.run!(program, context: %{"n" => n})
      [1, 2, 3]

      iex> PtcRunner.Json.compile(~s({"program": {"op": "load"}}))
      {:error, {:validation_error, "Operation 'load' requires field 'name'"}}

      iex> PtcRunner.Json.compile(~s({"program": {"op": "eq", "feild": "x", "value": 1}}))
      {:error, {:validation_error, "Unknown field 'feild' in operation 'eq'. Did you mean 'field'?"}}

      iex> PtcRunner.Json.compile(~s({"program": {"op": "count", "comment": "all"}}), strict: true)
      {:error, {:validation_error, "Unknown field 'comment' in operation 'count'. There are none"}}

  """
  @spec compile(program(), [compile_option()]) :: {:ok, Program.t()} | {:error, error()}
  def compile(program, opts \\ []) do
    {timeout, max_heap, max_depth, keys, strict, structs, edition} =
      Options.read!(opts, @compile_options, "PtcRunner.Json.compile/2")

    compiled(program, Limits.given(timeout, max_heap, max_depth, keys, strict, structs, edition))
  end

  defp compiled(%Program{} = program, given), do: source(program, given)

  defp compiled(program, given) do
    {timeout, max_heap, reading} = Limits.resolve(given)
    limits = {timeout, max_heap}

    with {:ok, _source} <- source(program) do
      case Program.compile(program, reading, limits) do
        {:ok, program} -> {:ok, program}
        {:error, fault} -> {:error, fault |> Fence.note(program) |> Program.error(limits)}
      end
    end
  end

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

  New in this library.
  """
  @spec explain(program(), [option()]) :: Explain.t()
  def explain(program, opts \\ []) do
    {limits, context, memory, tools, how} = given(opts, "PtcRunner.Json.explain/2")
    of_value = &Contract.of(&1, memory, program, limits)
    {timeout, max_heap, reading} = Limits.resolve(limits)
    {program, reading} = Program.again(program, reading)
    limits = {timeout, max_heap, reading}

    with {:ok, program} <- source(program),
         :ok <- maps(program, context, memory, tools, limits) do
      {result, explanation} = Explain.Observed.run(program, context, memory, tools, limits, how)
      result = with {:ok, value, _words} <- result, do: of_value.(value)
      %{explanation | result: result}
    else
      {:error, _reason} = error -> %Explain{result: error}
    end
  end

  # A compiled program is compiled from its source again, for observation.
  @doc """
  Formats an error for an LLM: the kind of error, and what to change. Takes any term.

      iex> PtcRunner.Json.format_error({:parse_error, "unexpected token"})
      "ParseError: unexpected token"

      iex> PtcRunner.Json.format_error({:timeout, 1000})
      "TimeoutError: execution exceeded 1000ms limit"

  """
  @spec format_error(error() | term()) :: String.t()
  defdelegate format_error(error), to: ErrorText, as: :format

  # Texts and compiled programs are passed to the native side unchanged.
  defp source(%Program{} = program, given) do
    with {:error, fault} <- Program.asked(program, given) do
      {timeout, max_heap, _reading} = Limits.resolve(given)
      {:error, Program.error(fault, {timeout, max_heap})}
    end
  end

  defp source(program, _given), do: source(program)

  defp source(text) when is_binary(text), do: {:ok, text}

  defp source(program),
    do: with({:ok, node} <- Parser.parse(program), do: {:ok, {:checked, node}})

  defp maps(_program, context, memory, tools, _limits)
       when is_map(context) and is_map(memory) and tools == %{},
       do: :ok

  defp maps(program, context, memory, tools, limits),
    do: Inputs.check(program, context, memory, tools, limits)
end
