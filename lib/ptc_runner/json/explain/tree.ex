defmodule PtcRunner.Json.Explain.Tree do
  @moduledoc false
  # Writes an explanation as text: the tree of operations on the left, their counts in columns beside it.

  alias PtcRunner.Json.Check.Words
  alias PtcRunner.Json.{Explain, Near}
  alias PtcRunner.Json.Explain.{About, Findings, Format}
  alias PtcRunner.Schema.Table

  @bar 10
  @widest 56
  # Levels of the tree that are drawn, three columns each: what is deeper is cut off.
  @levels 20
  # Maximum number of operations in the text.
  @lines 500

  @doc "The text, with a line for each operation, or each form of PTC-Lisp, and one for the whole."
  @spec text(Explain.t() | PtcRunner.Lisp.Explain.t()) :: String.t()
  def text(%{operations: []} = explanation), do: headline(explanation) <> "\n"

  def text(%{operations: operations} = explanation) do
    whole = operations |> Enum.map(&own/1) |> Enum.sum()
    {shown, hidden} = Enum.split(operations, @lines)
    trees = branches(shown)
    width = trees |> Enum.map(&String.length/1) |> Enum.max() |> min(@widest)
    rows = shown |> Enum.zip(trees) |> Enum.map(&row(&1, width, whole, explanation))

    head = [String.pad_trailing("", width), "runs", "items", "own time", "", "words", ""]
    lines = aligned([head | rows])
    more = if hidden == [], do: [], else: ["… and #{length(hidden)} operations more"]
    Enum.join([headline(explanation) | lines] ++ more, "\n") <> "\n"
  end

  defp headline(explanation) do
    calls = explanation.operations |> Enum.map(& &1.tool_calls) |> Enum.sum()
    times = "#{Format.time(explanation.duration)}, #{Format.number(explanation.words)} words"
    tools = if calls > 0, do: ", tools called #{times(calls)}", else: ""

    near = if explanation.near == [], do: "", else: "\n! near: #{Near.text(explanation.near)}"

    case explanation.result do
      {:error, %PtcRunner.Step{} = step} ->
        "! #{PtcRunner.Lisp.format_error(step)}\n#{times}#{tools}#{near}"

      {:error, reason} ->
        "! #{PtcRunner.Json.format_error(reason)}\n#{times}#{tools}#{near}"

      _ok ->
        times <> tools <> near
    end
  end

  # The time of a call includes the wait for its tool.
  defp own(operation), do: operation.time + operation.tool_time

  defp row({operation, tree}, width, whole, explanation) do
    [
      tree |> Format.fit(width) |> String.pad_trailing(width),
      Format.number(operation.runs),
      items(operation),
      if(operation.runs > 0, do: Format.time(own(operation)), else: ""),
      bar(own(operation), whole),
      if(operation.runs > 0, do: Format.number(operation.words), else: ""),
      notes(operation, explanation)
    ]
  end

  defp items(%{items_in: nil, items_out: nil, op: op} = operation) do
    if condition?(op) and operation.ended > 0,
      do: "#{Format.number(operation.held)} true",
      else: ""
  end

  defp items(%{items_in: nil, items_out: out}), do: "→ #{Format.number(out)}"
  defp items(%{items_in: into, items_out: nil}), do: "#{Format.number(into)} →"

  defp items(%{items_in: into, items_out: out}),
    do: "#{Format.number(into)} → #{Format.number(out)}"

  # Conditions of edition 1.
  defp condition?(op) do
    case Table.shape(op) do
      {shape, fields} -> shape in ["compared", "connective", "negation"] and is_list(fields)
      nil -> false
    end
  end

  defp bar(_own, 0), do: ""
  defp bar(own, whole), do: String.duplicate("█", round(@bar * own / whole))

  defp notes(operation, explanation) do
    left =
      if operation.tool_calls > 0,
        do: [
          "left for a tool #{times(operation.tool_calls)}, #{Format.time(operation.tool_time)}"
        ],
        else: []

    breaks = if operation.breaks > 0, do: ["gave way #{times(operation.breaks)}"], else: []
    never = if operation.runs == 0, do: ["never reached"], else: []
    found = for finding <- Findings.about(operation), do: "! " <> finding.message
    failed = if operation.path == explanation.failed_at, do: ["! ended here"], else: []
    type = if operation[:type], do: [Words.shown(operation.type)], else: []
    kinds = kinds(Map.get(operation, :kinds, []))
    Enum.join(type ++ kinds ++ left ++ breaks ++ never ++ found ++ failed, ", ")
  end

  # What the values of a form were.
  defp kinds([]), do: []
  defp kinds(kinds), do: [Enum.map_join(kinds, " or ", &Atom.to_string/1)]

  defp times(1), do: "once"
  defp times(count), do: "#{Format.number(count)} times"

  # The names with the lines of the tree in front. The operations are visited in reverse order, so it is
  # known whether another part follows at the same depth.
  defp branches(operations) do
    {lines, _open} =
      operations
      |> Enum.reverse()
      |> Enum.map_reduce(MapSet.new(), fn %{depth: depth} = operation, open ->
        drawn = min(depth - 1, @levels)
        trunk = for level <- 1..drawn//1, do: if(level in open, do: "│  ", else: "   ")
        fork = if depth == 0, do: "", else: if(depth in open, do: "├─ ", else: "└─ ")
        open = open |> MapSet.filter(&(&1 <= depth)) |> MapSet.put(depth)
        {IO.iodata_to_binary([trunk, fork, role(operation), operation.about]), open}
      end)

    Enum.reverse(lines)
  end

  # The role of an operation in the one around it, if that has several parts.
  defp role(%{path: [_program]}), do: ""

  defp role(%{path: path}) do
    case Enum.take(path, -2) do
      [_, index] when is_integer(index) -> ""
      [_, part] when part in ~w(where expr condition) -> ""
      [_, part] -> About.name(part) <> ": "
    end
  end

  # Aligns numbers to the right, bars and notes to the left.
  defp aligned(rows) do
    widths =
      for column <- 0..5,
          do: rows |> Enum.map(&(&1 |> Enum.at(column) |> String.length())) |> Enum.max()

    for [tree, runs, items, time, bar, words, notes] <- rows do
      [_tree, w_runs, w_items, w_time, w_bar, w_words] = widths

      [
        tree,
        String.pad_leading(runs, w_runs),
        String.pad_leading(items, w_items),
        String.pad_leading(time, w_time),
        String.pad_trailing(bar, w_bar),
        String.pad_leading(words, w_words),
        notes
      ]
      |> Enum.join("  ")
      |> String.trim_trailing()
    end
  end
end
