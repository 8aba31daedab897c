defmodule PtcRunner.Lisp do
  @moduledoc ~S"""
  Runs programs in PTC-Lisp: a small Clojure, as LLMs write it, that reads data, transforms it and calls tools.

      iex> program = "(->> data/orders (filter #(> (:total %) 100)) (map :total) (reduce +))"
      iex> orders = [%{"total" => 50}, %{"total" => 150}, %{"total" => 200}]
      iex> {:ok, step} = PtcRunner.Lisp.run(program, context: %{"orders" => orders})
      iex> step.return
      350

  A program runs natively, on the given terms: nothing of the context is copied. It runs in the calling process; only tools run in a
  process of their own.

  `PtcRunner.Agent` with `language: :lisp` asks a model for programs, and runs them with this module. All forms and built-ins, each with an
  example: [PTC-Lisp](lisp.md).

  ## Turns

  What a program defines is in the memory of its step, and the next program finds it there, functions too:

      iex> {:ok, first} = PtcRunner.Lisp.run("(defn vat [x] (* x 0.25))")
      iex> {:ok, second} = PtcRunner.Lisp.run("(vat 80)", memory: first.memory)
      iex> second.return
      20.0

  ## Tools

      iex> tools = %{"double" => fn %{"n" => n} -> 2 * n end}
      iex> {:ok, step} = PtcRunner.Lisp.run("(tool/double {:n 21})", tools: tools)
      iex> {step.return, hd(step.tool_calls).name}
      {42, "double"}

  ## Errors

  Every error can be shown to the LLM that wrote the program:

      iex> {:error, step} = PtcRunner.Lisp.run("(+ 1 totl)")
      iex> PtcRunner.Lisp.format_error(step)
      "unbound_var: Undefined variable: totl"

  The step says where in the text the error is, also that of a run: the innermost form that was running.

      iex> {:error, step} = PtcRunner.Lisp.run("(map (fn [x]\n       (/ 1 x))\n     [1 0])")
      iex> {step.fail.reason, step.usage.error_at}
      {:arithmetic_error, %{line: 2, column: 8, offset: 20, length: 7}}

  """

  alias PtcRunner.Json.Limits
  alias PtcRunner.Json.{Call, Paused, Plan}

  alias PtcRunner.Lisp.{
    ErrorText,
    Evaluation,
    Explain,
    Explaining,
    Given,
    GoingOn,
    Planning,
    Preparing,
    Program,
    Pure
  }

  alias PtcRunner.{Shown, Step}

  @typedoc "A text, or a compiled program."
  @type program :: String.t() | Program.t()

  @typedoc "See `run/2`."
  @type option ::
          {:context, map()}
          | {:memory, map()}
          | {:turn_history, [term()]}
          | {:tools, %{String.t() => PtcRunner.Tool.form()}}
          | {:signature, String.t() | tuple() | nil}
          | {:float_precision, non_neg_integer() | nil}
          | {:timeout, timeout()}
          | {:max_heap, non_neg_integer()}
          | {:max_program_bytes, non_neg_integer()}
          | {:max_symbols, non_neg_integer()}
          | {:max_print_length, non_neg_integer()}
          | {:max_tool_calls, non_neg_integer() | nil}
          | {:strict_data, boolean()}
          | {:budget, term()}
          | {:on_call, (Call.t() -> term()) | nil}
          | {:on_journal, (map() -> term()) | nil}
          | {:pause_ttl, timeout()}
          | {:tool_concurrency, pos_integer()}
          | {:tool_context, map() | keyword() | nil}
          | {:now, DateTime.t() | String.t() | nil}
          | {:within, Plan.t() | map() | [Plan.t() | map()] | nil}
          | {:unknown, :refuse | :ask}
          | {:firewall, boolean()}

  @typedoc "Why a program has no value: `t:PtcRunner.Step.fail/0` without details."
  @type error :: %{reason: atom(), message: String.t()}

  @doc """
  Runs a program; never raises for one.

  Returns `{:ok, step}`, `{:error, step}` or `{:paused, paused}` (see *Decisions*). The fields of the step:

    * `return` - the value of the program. `(return value)` ends the program with `{:__ptc_return__, value}`, and `(fail value)` with
      `{:__ptc_fail__, value}`.
    * `fail` - in an error: a map with `reason` and `message`
    * `memory` - what the program has defined, for the option `:memory` of the next one
    * `prints` and `tool_calls` - in order, also in an error
    * `usage` - a map with `duration_ms` and `memory_bytes`. If there is an error that has a place in the text, also with `error_at`: a map with
      `line` and `column` (from 1, in characters), `offset` and `length` (in bytes). The place is the innermost form of the program that was running; a
      function of the memory has none, so it is the form that calls it. A limit (`:timeout`, `:memory_exceeded`) has no place.

  ## Options

    * `:context` - map that `data/key` reads, by default `%{}`; its keys are strings or atoms. A `PtcRunner.Json.text/1` stands for its value, and
      is not decoded if it is long.
    * `:memory` - values of earlier programs by name, by default `%{}`
    * `:turn_history` - results of earlier programs, the oldest first: `*1` is the last
    * `:tools` - map of names and tools, see `PtcRunner.Tool.new/2`
    * `:signature` - `return` must be of the type that it says, as in `"() -> {total :float}"`
    * `:float_precision` - number of decimals to which floats in `return` are rounded
    * `:timeout` - milliseconds or `:infinity`, by default #{Limits.default_timeout()}; the time of tools counts
    * `:max_heap` - words that the program may build, by default #{Limits.default_max_heap()}; 0 for no limit. What it is given does not
      count.
    * `:max_program_bytes` - by default 1,000,000
    * `:max_symbols` - unique symbols and keywords of the program, by default 10,000
    * `:max_print_length` - characters of one print, by default 2,000
    * `:max_tool_calls` - the maximum number of calls, by default `nil`: no maximum. A tool has its own with `max_calls:`.
    * `:strict_data` - `true` makes `data/key` fail where the context has no such key, by default `false`
    * `:budget` - what `(budget/remaining)` gives
    * `:on_call` - function of a `PtcRunner.Json.Call`, which decides about each call: see *Decisions*
    * `:on_journal` - function of a map: it is told of the run, of each call before it starts, and of each answer, as in
      `PtcRunner.Json.run/2`. `PtcRunner.Json.Paused.recover/1` makes a paused run of these maps.
    * `:pause_ttl` - milliseconds or `:infinity`, the default: how long a paused run may go on
    * `:tool_concurrency` - how many tools of `pmap` and `pcalls` run at the same time, by default 8. Each has its part of the heap limit.
    * `:tool_context` - map or keyword list that tools of two arguments get, and no program sees: `fn args, %{context: c} -> … end`
    * `:firewall` - with `true`, the program sees data, memory, history and answers of tools without their firewalled fields (their names begin with `_`), so
      nothing of them is in its value, its prints, its errors or the arguments of tools. A program that names such a field (`:_pin`) is refused where what it reads
      has firewalled data, and for it an answer with them is an error of the tool. By default `false`.
    * `:within` - a plan that the program must be within, see `plan/2`
    * `:unknown` - what happens to a call of a tool of which the plan cannot say how often it is called: `:refuse` (the default), or `:ask`, which lets
      a person decide
    * `:now` - the time that a run has; by default the clock. A run that can pause or is recorded has the time of its start throughout.

  Other options are ignored, because options of `ptc_runner` that have no effect here must not fail.

  Tools can also be given as in `PtcRunner.Json.run/2`: `{function, options}` with the options `approve: true`, `effect:`, `max_calls:`, `timeout:`,
  `cache:`, `signature:` and `batch:` (the calls of `pmap` and `pcalls` go together to a tool that takes lists, see `PtcRunner.Agent.Tool`; where nothing counts, records or decides about calls, so do those of
  `map`, `mapv`, `for` and `doseq` that do not depend on each other's answers).

  ## Decisions

  `:on_call` returns what it returns for `PtcRunner.Json.run/2`: `:run`, `{:run, args}`, `{:answer, value}`, `{:deny, reason}`, `:pause`, or one of
  them in `{:decided, decision, by: name, note: text, at: time}`. No `try` catches a denial.

      iex> tools = %{"pay" => fn %{"to" => name} -> "paid \#{name}" end}
      iex> on_call = fn %PtcRunner.Json.Call{args: %{"to" => name}} -> if name == "Ada", do: :run, else: {:deny, "nothing for " <> name} end
      iex> {:ok, step} = PtcRunner.Lisp.run(~S|(tool/pay {:to "Ada"})|, tools: tools, on_call: on_call)
      iex> step.return
      "paid Ada"
      iex> {:error, step} = PtcRunner.Lisp.run(~S|(try (tool/pay {:to "Eve"}) (catch e 0))|, tools: tools, on_call: on_call)
      iex> step.fail.message
      "Tool 'pay' was refused: nothing for Eve"

  With `:pause`, and at a tool that says `approve: true`, the run ends as `{:paused, paused}`: `resume/3` goes on.

  ## Examples

      iex> {:ok, step} = PtcRunner.Lisp.run("(def n (inc n)) (println n) {:n n}", memory: %{"n" => 1})
      iex> {step.return, step.memory, step.prints}
      {%{"n" => 2}, %{"n" => 2}, ["2"]}

      iex> {:error, step} = PtcRunner.Lisp.run("(/ 1 0)")
      iex> {step.fail.reason, step.fail.message}
      {:arithmetic_error, "arithmetic_error: division by zero"}

  """
  @spec run(program(), [option() | {atom(), term()}]) ::
          {:ok, Step.t()} | {:error, Step.t()} | {:paused, Paused.t()}
  def run(program, opts \\ [])

  def run(program, opts) when is_binary(program) or is_struct(program, Program) do
    with :other <- Pure.run(program, opts), do: Evaluation.run(program, Given.read(opts))
  end

  def run(other, _opts), do: refuse(other)

  @doc ~S"""
  What a program will do, before it runs: the tools that it names, with the constants of their arguments, and the data that it reads.

  A plan of PTC-Lisp names each tool that may be called. It may also name tools that are not called in the end. A call outside of loops and functions is made at most
  once; how often others are made, and what flows into an argument that is no constant, is `unknown`. The functions of `:memory` that the
  program mentions belong to it, so give the memory. The options are those of `run/2`.

  Who has approved a plan gives it as `:within`: a run makes only calls that it has. `PtcRunner.Json.Plan.approve/2` narrows it, for example to a number of
  calls. Another program is within the plan if it calls the same tools no more often, with the same constants.

      iex> program = ~S|(doseq [id data/ids] (tool/refund {:id id :note "late"}))|
      iex> tools = %{"refund" => fn %{"id" => id} -> "refunded #{id}" end}
      iex> {:ok, plan} = PtcRunner.Lisp.plan(program, tools: tools)
      iex> plan |> to_string() |> String.split("\n")
      ["The program may call:", "  refund (write): unknown", "    id: unknown", ~S(    note: "late"), "It reads: ids", "The result: unknown"]
      iex> approved = PtcRunner.Json.Plan.approve(plan, at_most: %{"refund" => 2})
      iex> run = &PtcRunner.Lisp.run(&1, tools: tools, context: %{"ids" => &2}, within: approved)
      iex> {:ok, _step} = run.(program, [7, 8])
      iex> {:error, step} = run.(program, [7, 8, 9])
      iex> {step.fail.reason, length(step.tool_calls)}
      {:refused, 2}
      iex> {:error, step} = run.(~S|(tool/refund {:id 1 :note "gift"})|, [])
      iex> step.fail.message
      ~S(The program is not within the plan: the argument id of 'refund' is 1, and the plan has computed)

  """
  @spec plan(program(), [option()]) :: {:ok, Plan.t()} | {:error, error()}
  def plan(program, opts \\ [])

  def plan(program, opts) when is_binary(program) or is_struct(program, Program) do
    with error when elem(error, 0) == :error <- Planning.plan(program, opts) do
      given = Given.read(opts)
      error(error, Given.limits(given))
    end
  end

  def plan(other, _opts), do: refuse(other)

  @doc ~S"""
  Runs a program, and says of each form how often it ran, its time, its words, its calls of tools, and what its values were: see
  `PtcRunner.Lisp.Explain`.

  The options are those of `run/2`, and `result` is what `run/2` returns; a run that fails or pauses is explained up to that point. Tools are called.

      iex> program = "(defn vat [x] (* x 0.25))\n(->> data/sums (filter #(> % 10)) (map vat))"
      iex> explanation = PtcRunner.Lisp.explain(program, context: %{"sums" => [5, 20, 40]})
      iex> {:ok, step} = explanation.result
      iex> step.return
      [5.0, 10.0]
      iex> for %{op: "call", path: ["program", 2 | _]} = form <- explanation.operations, do: {form.about, form.runs, form.items_out}
      [{"(map vat)", 1, 2}, {"(filter #(> % 10))", 1, 2}, {"#(> % 10)", 3, nil}]

      iex> explanation = PtcRunner.Lisp.explain("(+ 1\n  (/ 1 0))")
      iex> {explanation.failed_at, elem(explanation.result, 1).fail.reason}
      {["program", 2, 3], :arithmetic_error}

  """
  @spec explain(program(), [option()]) :: Explain.t()
  def explain(program, opts \\ [])

  def explain(program, opts) when is_binary(program) or is_struct(program, Program),
    do: Explaining.explain(program, Given.read(opts))

  def explain(other, _opts), do: refuse(other)

  @doc ~S"""
  Goes on with a paused run. It runs anew: the calls that were answered get their answers from its journal, and print what they printed.

  The decisions are those of `PtcRunner.Json.resume/3`: `:approve`, `{:run, args}`, `{:answer, value}` or `{:deny, reason}`, for all calls that
  wait or for each. `PtcRunner.Json.Paused` has the functions that store a paused run, and seal it.

  Give the context and the tools again, and the functions that the run had. The memory, the history of turns, the time and the other
  options are those of the paused run; `:timeout`, `:max_heap`, `:max_tool_calls` and `:pause_ttl` may be others.

      iex> tools = %{"total" => fn _ -> 70 end, "pay" => {fn %{"sum" => sum} -> "paid #{sum}" end, approve: true}}
      iex> {:paused, paused} = PtcRunner.Lisp.run("(def due (tool/total)) (println due) (tool/pay {:sum due})", tools: tools)
      iex> for call <- paused.calls, do: call.text
      [~S(pay with %{"sum" => 70})]
      iex> {:ok, paused} = paused |> PtcRunner.Json.Paused.to_map() |> PtcRunner.Json.Paused.from_map()
      iex> {:ok, step} = PtcRunner.Lisp.resume(paused, :approve, tools: tools)
      iex> {step.return, step.prints, step.memory}
      {"paid 70", ["70"], %{"due" => 70}}

  """
  @spec resume(Paused.t(), term(), [option()]) ::
          {:ok, Step.t()} | {:error, Step.t()} | {:paused, Paused.t()}
  def resume(%Paused{} = paused, decisions, opts \\ []),
    do: GoingOn.resume(paused, decisions, opts)

  @doc """
  Runs a program, and returns what `run/2` returns with a journal of its calls: a map that is JSON. The options are those of `run/2`.

      iex> {{:ok, step}, journal} = PtcRunner.Lisp.record("(tool/price {:id 7})", tools: %{"price" => fn _ -> 12 end})
      iex> [call] = journal["calls"]
      iex> {step.return, Map.take(call, ["tool", "args", "answer"])}
      {12, %{"tool" => "price", "args" => %{"id" => 7}, "answer" => 12}}

  """
  @spec record(program(), [option()]) ::
          {{:ok, Step.t()} | {:error, Step.t()} | {:paused, Paused.t()}, map()}
  def record(program, opts \\ [])

  def record(program, opts) when is_binary(program) or is_struct(program, Program),
    do: GoingOn.record(program, opts)

  def record(other, _opts), do: refuse(other)

  @doc """
  Runs a program with the answers of a journal: no tool is called. `journal` is what `record/2` has returned, a paused run, or the maps that
  `:on_journal` got. Give what else the run was given: context, memory, the history of turns. A program that makes other calls than the
  journal has, or fewer, is an error.

      iex> program = "(println (tool/price {:id 7})) (def seen true)"
      iex> {{:ok, step}, journal} = PtcRunner.Lisp.record(program, tools: %{"price" => fn _ -> 12 end})
      iex> {:ok, again} = PtcRunner.Lisp.replay(program, journal)
      iex> {again.prints, again.memory} == {step.prints, step.memory}
      true

      iex> {_result, journal} = PtcRunner.Lisp.record("(tool/price {:id 7})", tools: %{"price" => fn _ -> 12 end})
      iex> {:error, step} = PtcRunner.Lisp.replay("(tool/price {:id 8})", journal)
      iex> step.fail.message
      ~S(The program calls 'price' with %{"id" => 8}, but the journal has 'price' with %{"id" => 7})

  """
  @spec replay(program(), map() | Paused.t() | [map()], [option()]) ::
          {:ok, Step.t()} | {:error, Step.t()}
  def replay(program, journal, opts \\ [])

  def replay(program, journal, opts) when is_binary(program) or is_struct(program, Program),
    do: GoingOn.replay(program, journal, opts)

  def replay(other, _journal, _opts), do: refuse(other)

  @doc """
  Compiles a program, for runs with several contexts. Names are looked up when it runs. Options: `:timeout`, `:max_heap`,
  `:max_program_bytes` and `:max_symbols`.

      iex> {:ok, program} = PtcRunner.Lisp.compile("(* 2 data/n)")
      iex> for n <- [1, 2], do: elem(PtcRunner.Lisp.run(program, context: %{n: n}), 1).return
      [2, 4]

      iex> PtcRunner.Lisp.compile("(* 2 data/n")
      {:error, %{reason: :parse_error, message: "unbalanced parentheses: 1 unclosed '('"}}

  """
  @spec compile(String.t(), [option()]) :: {:ok, Program.t()} | {:error, error()}
  def compile(program, opts \\ [])

  def compile(program, opts) when is_binary(program) do
    given = Given.read(opts)
    limits = Given.limits(given)

    case Preparing.compiled(program, given, limits) do
      {:ok, program, _signature} -> {:ok, program}
      error -> error(error, limits)
    end
  end

  def compile(other, _opts), do: refuse(other)

  @doc """
  Checks the syntax of a program, and whether its names are known: variables of `:memory`, tools of `:tools`. Nothing runs. The options
  are those of `run/2`.

      iex> PtcRunner.Lisp.check("(map inc xs)", memory: %{"xs" => [1]})
      :ok

      iex> PtcRunner.Lisp.check("(if)")
      {:error, %{reason: :invalid_arity, message: "Analysis error: expected (if cond then else?)"}}

  """
  @spec check(program(), [option()]) :: :ok | {:error, error()}
  def check(program, opts \\ [])

  def check(program, opts) when is_binary(program) or is_struct(program, Program) do
    given = Given.read(opts)

    case Preparing.checked(program, given) do
      {:ok, _program} ->
        :ok

      error ->
        error(error, Given.limits(given))
    end
  end

  def check(other, _opts), do: refuse(other)

  @doc """
  An error as one text, for an LLM: the reason and the message, without the reason where the message begins with it.

      iex> {:error, error} = PtcRunner.Lisp.check("(println x y)")
      iex> PtcRunner.Lisp.format_error(error)
      "unbound_var: Undefined variables: x, y"

      iex> PtcRunner.Lisp.format_error(%{reason: :arithmetic_error, message: "arithmetic_error: division by zero"})
      "arithmetic_error: division by zero"

  """
  @spec format_error(Step.t() | Step.fail() | error()) :: String.t()
  def format_error(%{fail: %{reason: _, message: _} = fail}), do: format_error(fail)

  def format_error(%{reason: reason, message: message}) when is_binary(message) do
    reason = if is_atom(reason), do: Atom.to_string(reason), else: Shown.text(reason, 100)
    ErrorText.of(reason, message)
  end

  def format_error(%{reason: reason, message: message}),
    do: "#{Shown.text(reason, 100)}: #{Shown.text(message)}"

  defp error({:error, reason, message, _at}, _limits),
    do: {:error, %{reason: reason, message: message}}

  defp error({:error, :timeout}, {timeout, _max_heap}),
    do: {:error, %{reason: :timeout, message: "execution exceeded #{timeout}ms limit"}}

  defp error({:error, :memory_exceeded}, {_timeout, max_heap}) do
    {:error,
     %{reason: :memory_exceeded, message: "the program takes more than #{max_heap} words"}}
  end

  defp refuse(other) do
    raise ArgumentError,
          "a program of PtcRunner.Lisp is a text or a PtcRunner.Lisp.Program, got: #{Shown.text(other, 200)}"
  end
end
