defmodule PtcRunner.Json.Plan do
  @moduledoc """
  What a program will do, as `PtcRunner.Json.plan/2` knows it before the program runs.

    * `tools` - each tool that may be called, sorted by name: see `t:tool/0`
    * `reads` - the parts of the context that the program reads, such as `"orders.total"`, sorted
    * `memory` - the same for the memory
    * `result` - what flows into the result: `from`, and `decided_by`, as for the arguments of a tool
    * `flows` - the same flows as data for software: see `t:flows/0`

  A part of the data is shown as a path. A path through a list means what all its items have there, so it stands for the number of
  items too, and where an item is no object, for the item itself. `"count(orders)"` is the number of items alone, `"keys(order)"` the names of the fields;
  `"answer of lookup.email"` is a part of what a tool answered, `"error of lookup"` the text of its error, `"memory.total"` a part of the
  memory, `"time of the run"` what `now` gives. `"unknown"` means that any part of the data may be meant.

  `IO.puts(plan)` writes a text that a person can approve:

      iex> program = ~s({"program": {"op": "pipe", "steps": [
      ...>   {"op": "load", "name": "orders"},
      ...>   {"op": "filter", "where": {"op": "eq", "field": "status", "value": "late"}},
      ...>   {"op": "map", "expr": {"op": "call", "tool": "refund", "args": {"id": {"op": "get", "field": "id"}}}}]}})
      iex> {:ok, plan} = PtcRunner.Json.plan(program, tools: %{"refund" => fn _ -> :ok end})
      iex> to_string(plan) <> "\\n"
      \"""
      The program may call:
        refund (write): ≤ count(orders)
          id: orders.id
          decided by: orders.status
      It reads: orders.id, orders.status
      The result: answer of refund; decided by: orders.status
      \"""
  """

  alias PtcRunner.Shown.Line
  alias PtcRunner.Json.Plan.Formula
  alias PtcRunner.Json.Plan.Paths

  defstruct tools: [], reads: [], memory: [], result: %{from: [], decided_by: []}, flows: nil

  @typedoc """
  A tool that the program may call.

    * `effect` - what the tool says: `:read` or `:write`
    * `calls` - how often, as a formula: `"1"`, `"≤ 1"`, `"= count(employees)"`, `"≤ count(orders) × 3"`, `"2 to 4"`, `"unknown"`
    * `least`, `most` - the same as numbers; nil where they are not known. They need the `:context` where the formula counts items.
      A budget of the tool or of the run is included.
    * `arguments` - for each argument the parts that flow into it, an empty list for a constant. The name `"*"` stands for all arguments,
      where these are not known by name.
    * `decided_by` - the parts that decide whether and how often the tool is called, or which of several values an argument has
  """
  @type tool :: %{
          name: String.t(),
          effect: :read | :write,
          calls: String.t(),
          least: non_neg_integer() | nil,
          most: non_neg_integer() | nil,
          arguments: %{String.t() => [String.t()]},
          decided_by: [String.t()]
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
          flows: flows() | nil
        }

  @doc false
  # From what the native side says; `tools` has what each tool says about itself, `most` the budget of the run.
  @spec new(
          {[known()], [source()], {[source()], [source()], [source()]}, kept :: list()},
          map(),
          map(),
          non_neg_integer() | nil
        ) ::
          t()
  def new({tools, reads, {from, deciding, _counted}, _kept}, data, settings, most) do
    %__MODULE__{
      tools: tools |> Enum.map(&tool(&1, data, settings, most)) |> Enum.sort_by(& &1.name),
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

  defp flows({name, _least, _most, guard, counted, arguments}) do
    counted = [
      {:calls, counted} | for({name, _from, _by, counted} <- arguments, do: {name, counted})
    ]

    arguments = for {name, from, deciding, _counted} <- arguments, do: {name, from, deciding}
    {name, %{guard: guard, arguments: arguments, counted: counted}}
  end

  defp tool({name, least, most, guard, _counted, arguments}, data, settings, of_run) do
    setting = Map.get(settings, name, %{})
    {least, most} = Formula.cached({least, most}, setting[:cache])
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
      decided_by: Paths.texts(Enum.concat([guard | for({_, _, by, _} <- arguments, do: by)]))
    }
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
      called(plan.tools),
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

  defp called([]), do: "The program calls no tool"

  defp called(tools) do
    ["The program may call:" | Enum.flat_map(tools, &lines/1)] |> Enum.join("\n")
  end

  defp lines(tool) do
    arguments =
      for {name, from} <- Enum.sort(tool.arguments), do: "    #{name(name)}: #{shown(from)}"

    ["  #{name(tool.name)} (#{tool.effect}): #{tool.calls}#{numbers(tool)}" | arguments] ++
      if(tool.decided_by == [], do: [], else: ["    decided by: #{shown(tool.decided_by)}"])
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
