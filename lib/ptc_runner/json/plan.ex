defmodule PtcRunner.Json.Plan do
  @moduledoc """
  What a program will do, as `PtcRunner.Json.plan/2` and `PtcRunner.Lisp.plan/2` know it before the program runs.

    * `tools` - each tool that may be called, sorted by name: see `t:tool/0`
    * `reads` - the parts of the context that the program reads, such as `"orders.total"`, sorted
    * `memory` - the same for the memory
    * `result` - what flows into the result: `from`, and `decided_by`, as for the arguments of a tool
    * `flows` - the same flows as data for software: see `t:flows/0`
    * `digest` - of the program, its tools and its options: see `t:digest/0`
    * `text` - the SHA-256 of the program's text, if it was given as one: a run of the same text is known by it at once
    * `at_most`, `where` - what `approve/2` has narrowed: numbers of calls, and conditions

  A part of the data is shown as a path. A path through a list means what all its items have there, so it stands for the number of
  items too, and where an item is no object, for the item itself. `"count(orders)"` is the number of items alone, `"keys(order)"` the names of the fields;
  `"answer of lookup.email"` is a part of what a tool answered, `"error of lookup"` the text of its error, `"memory.total"` a part of the
  memory, `"time of the run"` what `now` gives. `"unknown"` means that any part of the data may be meant.

  A constant of the program stands in the plan with its value, so who approves it reads it. A run with the option `:within` makes only
  calls that its plan has: see the section *Within a plan* of `PtcRunner.Json.run/2`, `approve/2` and `within?/2`.

  `IO.puts(plan)` writes a text that a person can approve:

      iex> program = ~s({"program": {"op": "pipe", "steps": [
      ...>   {"op": "load", "name": "orders"},
      ...>   {"op": "filter", "where": {"op": "eq", "field": "status", "value": "late"}},
      ...>   {"op": "map", "expr": {"op": "call", "tool": "refund", "args": {"id": {"op": "get", "field": "id"}, "note": "late"}}}]}})
      iex> {:ok, plan} = PtcRunner.Json.plan(program, tools: %{"refund" => fn _ -> :ok end})
      iex> to_string(plan) <> "\\n"
      \"""
      The program may call:
        refund (write): ≤ count(orders)
          id: orders.id
          note: "late"
          decided by: orders.status
      It reads: orders.id, orders.status
      The result: answer of refund; decided by: orders.status
      \"""
  """

  alias PtcRunner.Shown.Line
  alias PtcRunner.Json.Plan.{Approved, Comparison, Formula, Paths, Pattern, Recipes, Stored}

  defstruct tools: [],
            reads: [],
            memory: [],
            result: %{from: [], decided_by: []},
            flows: nil,
            digest: nil,
            text: nil,
            at_most: %{},
            where: %{}

  @typedoc """
  A tool that the program may call.

    * `effect` - what the tool says: `:read` or `:write`
    * `calls` - how often, as a formula: `"1"`, `"≤ 1"`, `"= count(employees)"`, `"≤ count(orders) × 3"`, `"2 to 4"`, `"unknown"`
    * `least`, `most` - the same as numbers; nil where they are not known. They need the `:context` where the formula counts items.
      A budget of the tool or of the run is included.
    * `arguments` - for each argument the parts that flow into it, an empty list for a constant. The name `"*"` stands for all arguments,
      where these are not known by name.
    * `decided_by` - the parts that decide whether and how often the tool is called, or which of several values an argument has
    * `sites` - the calls of the tool, one by one: see `t:site/0`
    * `formula` - how often it is called, as data
  """
  @type tool :: %{
          name: String.t(),
          effect: :read | :write,
          calls: String.t(),
          least: non_neg_integer() | nil,
          most: non_neg_integer() | nil,
          arguments: %{String.t() => [String.t()]},
          decided_by: [String.t()],
          sites: [site()],
          formula: {Formula.t(), Formula.t()}
        }

  @typedoc """
  A call in the program.

    * `least`, `most`, `formula` - how often it is made, as for its tool
    * `arguments` - what is known of its arguments, as a pattern: `{:is, constant}`, `{:object, fields}`, `{:list, items}`, `{:one_of, patterns}`,
      `{:among, constants}`, `{:part, root, path}` for a part of the data as it is, and `{:made, digest, constants}` for what an
      expression makes, with the constants in it: two programs have it in common only if it is the same expression
  """
  @type site :: %{
          least: non_neg_integer() | nil,
          most: non_neg_integer() | nil,
          formula: {Formula.t(), Formula.t()},
          arguments: Pattern.t()
        }

  @typedoc """
  Digests (SHA-256, as 64 hexadecimal digits) of the program, of the signature of each tool that was given to `PtcRunner.Json.plan/2` and that the program
  calls, and of the options that say how a program is read.
  """
  @type digest :: %{
          program: String.t(),
          tools: %{String.t() => String.t()},
          options: String.t()
        }

  @typedoc """
  A step of a path: a key, `:each` item of a list, each `:value` of an object, the `:keys` of an object. What is left at a step is only an `:object`, or only
  what is an `:other` value than an object, or what is `:single`, which is no list, or an object `:without` some of its fields.
  """
  @type step ::
          String.t()
          | :each
          | :value
          | :keys
          | :object
          | :other
          | :single
          | {:without, [String.t()]}

  @typedoc """
  A part of the data: where it begins, its path, and whether all of it counts, or only how many items it has. The first step of
  the path is the name of the context's or the memory's value, or of the tool.
  """
  @type source ::
          {:context | :memory | :answer | :error | :now | :unknown, [step()], whole? :: boolean()}

  @typedoc """
  What decides about the calls of each tool; what flows into its arguments (nil for arguments that are not known by name), and into the result.
  `counted`: the parts whose number of items is that of the tool's calls (`:calls`), or of a list in an argument.
  """
  @type flows :: %{
          tools: %{
            String.t() => %{
              guard: [source()],
              arguments: [{String.t() | nil, from :: [source()], decided_by :: [source()]}],
              counted: [{String.t() | :calls | nil, [source()]}]
            }
          },
          reads: [source()],
          result: {from :: [source()], decided_by :: [source()]}
        }

  @typedoc "What the native side knows of a tool, see `native/ptc_program/src/plan/reply.rs`."
  @type known ::
          {name :: String.t(), least :: Formula.t(), most :: Formula.t(), guard :: [source()],
           counted :: [source()],
           arguments :: [{String.t() | nil, [source()], [source()], [source()]}]}

  @type t :: %__MODULE__{
          tools: [tool()],
          reads: [String.t()],
          memory: [String.t()],
          result: %{from: [String.t()], decided_by: [String.t()]},
          flows: flows() | nil,
          digest: digest() | nil,
          text: String.t() | nil,
          at_most: %{String.t() => non_neg_integer()},
          where: %{String.t() => (map() -> term()) | :given_again}
        }

  @doc false
  # From what the native side says; `tools` has what each tool says about itself, `most` the budget of the run.
  @spec new(
          {{[known()], [source()], {[source()], [source()], [source()]}, kept :: list()},
           {list(), list()} | {:sites, [Recipes.site()]}},
          map(),
          map(),
          non_neg_integer() | nil,
          digest() | nil
        ) ::
          t()
  def new({{tools, reads, result, _kept}, recipes}, data, settings, most, digest) do
    {from, deciding, _counted} = result
    sites = recipes |> sites() |> Enum.group_by(& &1.tool)

    %__MODULE__{
      digest: digest,
      tools:
        tools
        |> Enum.map(&tool(&1, sites, data, settings, most))
        |> Enum.sort_by(& &1.name),
      reads: Paths.texts(for {:context, _path, _whole?} = source <- reads, do: source),
      memory: Paths.texts(for {:memory, _path, _whole?} = source <- reads, do: source),
      result: %{from: Paths.texts(from), decided_by: Paths.texts(deciding)},
      flows: %{
        tools: Map.new(tools, &flows/1),
        reads: reads,
        result: {from, deciding}
      }
    }
  end

  # The calls of a program of another language are known already.
  defp sites({:sites, sites}), do: sites
  defp sites(recipes), do: Recipes.sites(recipes)

  defp flows({name, _least, _most, guard, counted, arguments}) do
    counted = [
      {:calls, counted} | for({name, _from, _by, counted} <- arguments, do: {name, counted})
    ]

    arguments = for {name, from, deciding, _counted} <- arguments, do: {name, from, deciding}
    {name, %{guard: guard, arguments: arguments, counted: counted}}
  end

  defp tool({name, least, most, guard, _counted, arguments}, sites, data, settings, of_run) do
    setting = Map.get(settings, name, %{})
    {least, most} = Formula.cached({least, most}, setting[:cache])
    sites = sites |> Map.get(name, []) |> Enum.map(&site(&1, setting[:cache], data))
    limit = limit(setting[:max_calls], of_run)
    {from, to} = Formula.numbers({least, most}, data)

    %{
      name: name,
      effect: Map.get(setting, :effect, :write),
      calls: Formula.text({least, most}, limit),
      least: limited(from, limit),
      most: limited(to || limit, limit),
      arguments:
        Map.new(arguments, fn {name, from, _by, _counted} -> {name || "*", Paths.texts(from)} end),
      decided_by: Paths.texts(Enum.concat([guard | for({_, _, by, _} <- arguments, do: by)])),
      sites: sites,
      formula: {least, most}
    }
  end

  defp site(%{formula: formula, arguments: arguments}, cache, data) do
    formula = Formula.cached(formula, cache)
    {least, most} = Formula.numbers(formula, data)
    %{least: least, most: most, formula: formula, arguments: arguments}
  end

  defp limit(nil, most), do: most
  defp limit(own, nil), do: own
  defp limit(own, most), do: min(own, most)

  defp limited(nil, _limit), do: nil
  defp limited(number, limit), do: min(number, limit)

  @doc """
  The text for a person.

      iex> PtcRunner.Json.Plan.text(%PtcRunner.Json.Plan{reads: ["n"], result: %{from: ["n"], decided_by: []}})
      "The program calls no tool\\nIt reads: n\\nThe result: n"
  """
  @spec text(t()) :: String.t()
  def text(%__MODULE__{} = plan) do
    [
      called(plan.tools, plan.where),
      listed("It reads", plan.reads),
      listed("It reads of the memory", plan.memory),
      "The result: " <>
        shown(plan.result.from) <> decided("; decided by", plan.result.decided_by)
    ]
    |> Enum.reject(&(&1 == ""))
    |> Enum.join("\n")
    |> String.split("\n")
    |> Enum.map_join("\n", &Line.escape/1)
  end

  defp called([], _where), do: "The program calls no tool"

  defp called(tools, where) do
    ["The program may call:" | Enum.flat_map(tools, &(lines(&1) ++ condition(&1, where)))]
    |> Enum.join("\n")
  end

  defp condition(%{name: name}, where) when is_map_key(where, name),
    do: ["    only where a condition of the application holds"]

  defp condition(_tool, _where), do: []

  defp lines(tool) do
    arguments =
      for {name, from} <- Enum.sort(tool.arguments),
          do: "    #{name(name)}: #{argument(name, from, Map.get(tool, :sites, []))}"

    ["  #{name(tool.name)} (#{tool.effect}): #{tool.calls}#{numbers(tool)}" | arguments] ++
      if(tool.decided_by == [], do: [], else: ["    decided by: #{shown(tool.decided_by)}"])
  end

  # With the constants among the values that the argument has in each of the calls.
  defp argument(name, from, sites) do
    patterns = for %{arguments: {:object, %{^name => pattern}}} <- sites, uniq: true, do: pattern

    if Enum.any?(patterns, &Pattern.constant?/1),
      do: Pattern.texts(patterns, from),
      else: shown(from)
  end

  # Names are data, and must not look like lines of the text.
  defp name("*"), do: "all arguments"
  defp name(name), do: Paths.name(name)

  defp numbers(%{calls: calls, least: least, most: most}) do
    cond do
      not String.contains?(calls, "count(") or most == nil -> ""
      least == most -> ", here #{most}"
      least in [nil, 0] -> ", here at most #{most}"
      true -> ", here #{least} to #{most}"
    end
  end

  defp listed(_what, []), do: ""
  defp listed(what, paths), do: what <> ": " <> shown(paths)

  defp decided(_what, []), do: ""
  defp decided(what, paths), do: what <> ": " <> shown(paths)

  defp shown([]), do: "constant"
  defp shown(paths), do: Enum.join(paths, ", ")

  @doc """
  Narrows a plan: what a person approves of it.

    * `:tools` - the names of the tools that may be called. Without it, those of the plan.
    * `:at_most` - how often: a map of tools and numbers
    * `:where` - a function of the arguments that the program gives: a call is only made if it returns neither `nil` nor `false`. It is asked before
      each call of the tools in `:tools`, or, without that option, of the tools that write. A map of tools and functions has one for each. It
      may run in another process than the caller of the run.

  A program may be within the narrowed plan although its own plan has more calls: it is refused at the first one that is too many.

      iex> program = ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "orders"},
      ...>   {"op": "map", "expr": {"op": "call", "tool": "refund", "args": {"id": {"op": "get", "field": "id"}}}}]}})
      iex> tools = %{"refund" => fn %{"id" => id} -> "refunded \#{id}" end}
      iex> {:ok, plan} = PtcRunner.Json.plan(program, tools: tools)
      iex> approved = PtcRunner.Json.Plan.approve(plan, tools: ["refund"], at_most: %{"refund" => 2}, where: fn %{"id" => id} -> id < 100 end)
      iex> hd(approved.tools).calls
      "= count(orders), no more than 2"
      iex> run = &PtcRunner.Json.run(program, tools: tools, context: %{"orders" => Enum.map(&1, fn id -> %{"id" => id} end)}, within: approved)
      iex> {:ok, value, _delta, _memory} = run.([7, 8])
      iex> value
      ["refunded 7", "refunded 8"]
      iex> run.([7, 800])
      {:error, {:refused, ~S(The call of 'refund' with %{"id" => 800} is not within the plan: the condition does not hold)}}
      iex> run.([7, 8, 9])
      {:error, {:refused, "The program is not within the plan: it calls 'refund' at least 3 times, and the plan has at most 2 calls"}}

  """
  @spec approve(t(), keyword()) :: t()
  defdelegate approve(plan, opts), to: Approved

  @doc """
  Whether each run of a program with the plan `new` makes only calls that `approved` has: the same tools, no more often, with constants that are those
  of the approved plan, and with parts of the data that come from where those of the approved plan come from.

  What is computed must be computed by the same expression of the same parts. What decides about calls (`decided_by`), and which rows are taken, is not
  compared: `approve/2` has the option `:where`. Conditions of `new` do not count.

      iex> pay = &~s({"program": {"op": "call", "tool": "pay", "args": {"to": "\#{&1}", "sum": {"op": "load", "name": "\#{&2}"}}}})
      iex> plan = fn to, sum -> {:ok, plan} = PtcRunner.Json.plan(pay.(to, sum)); plan end
      iex> approved = plan.("landlord", "rent")
      iex> for {to, sum} <- [{"landlord", "rent"}, {"somebody", "rent"}, {"landlord", "savings"}], do: PtcRunner.Json.Plan.within?(plan.(to, sum), approved)
      [true, false, false]

  """
  @spec within?(t(), t()) :: boolean()
  def within?(%__MODULE__{} = new, %__MODULE__{} = approved),
    do: Comparison.check(new, approved, :plan) == :ok

  @doc """
  The plan as a map that is JSON, with its digest; `from_map/1` reads it. It has all constants whole. Conditions of `approve/2` are functions, and are not in it: a
  run within such a plan is refused until they are given again.

      iex> {:ok, plan} = PtcRunner.Json.plan(~s({"program": {"op": "call", "tool": "pay", "args": {"to": "Ada"}}}))
      iex> {:ok, text} = plan |> PtcRunner.Json.Plan.to_map() |> PtcRunner.Json.Codec.encode()
      iex> {:ok, map} = PtcRunner.Json.Codec.decode(text)
      iex> PtcRunner.Json.Plan.from_map(map) == {:ok, plan}
      true

  Raises `ArgumentError` if a constant of the program, which then is no text, cannot be kept: for example a process.
  """
  @spec to_map(t()) :: map()
  defdelegate to_map(plan), to: Stored

  @doc """
  The plan of a map that `to_map/1` has made, or what is wrong with it.

      iex> PtcRunner.Json.Plan.from_map(%{"plan" => 9})
      {:error, "the plan has version 9, and this library reads version 1"}

  """
  @spec from_map(term()) :: {:ok, t()} | {:error, String.t()}
  defdelegate from_map(map), to: Stored

  defimpl Inspect do
    # One line; `to_string/1` has all of it.
    def inspect(plan, _opts) do
      parts = [calls(plan.tools), "reads " <> PtcRunner.Shown.Brief.names(plan.reads)]
      "#PtcRunner.Json.Plan<#{Enum.join(parts, "; ")}>"
    end

    defp calls([]), do: "no tool"

    defp calls(tools) do
      tools
      |> Enum.map(&"#{PtcRunner.Shown.name(&1.name)} (#{&1.effect}): #{&1.calls}")
      |> PtcRunner.Shown.Brief.names()
    end
  end

  defimpl String.Chars do
    def to_string(plan), do: PtcRunner.Json.Plan.text(plan)
  end
end
