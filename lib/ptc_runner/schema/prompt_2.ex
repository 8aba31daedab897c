defmodule PtcRunner.Schema.Prompt2 do
  @moduledoc false
  # The description of edition 2 for the system prompt of a model: the operations and their fields from the table, the
  # rest in prose. A sentence about an operation stands there only with the operation. The tests run the examples.

  alias PtcRunner.Schema.Table

  @intro """
  PTC-JSON: write one JSON object {"program": NODE} and nothing else.
  A NODE is an object: "op" names its operation, other keys are its fields. One without "op" is an object of VALUEs; it may be a \
  step or a body. A VALUE is any JSON: NODEs in it, at any depth, are computed, the rest is plain data.
  """

  @legend """
  In parentheses: the fields; `?`: optional, `a|b`: one of them. NODEs: steps, where, expr, when, condition, conditions. NODEs or \
  numbers: operands of arithmetic. Never computed: name, field, as, path, tool, pattern, order, kind, separator, count, index, size, \
  p, precision, decimals, unit, default, value of literal, part of date_part, on, left and right of join, fields of select, unset, \
  rename and group_by. All others are VALUEs.
  """

  # The first is about what every program has.
  @rules [
    {[],
     "pipe hands each result to the next step; loops such as map hand each item to where or expr. An operation works on this " <>
       "current value."},
    {["load", "var", "let"],
     "load reads the data, var names of let (seen in its \"in\") and memory."},
    {["filter"], "\"as\" names a loop's item for inner loops: read it by var or get's from."},
    {["eq", "gt"],
     "Comparisons take field, left or the current value. gt, lt of unlike kinds or null are false."},
    {["in"],
     "in: the value (a list or NODE) holds the field; contains: the field holds the value."},
    {["and", "coalesce"], "and, or, coalesce, if, switch stop early."},
    {["sum"], "Of nothing, sum is 0; avg, min, max, first are null."},
    {["add"],
     "Arithmetic fails on null: use coalesce. pct is part / whole * 100. round needs value; halves go away from zero."},
    {["distinct"], "distinct keeps the first item of each field or expr."},
    {["nth"], "nth counts from 0."},
    {["range"], "range includes its end."},
    {["fold"], "fold: expr sees the item; var acc (or as) is the result so far, at first init."},
    {["fold", "range", "call", "if"],
     "To page: fold over range; expr gives acc if all came, else acc with the next page."},
    {["get"],
     "get: path is a list of keys and list indexes, key a computed one, from what is read."},
    {["sort_by"], "sort_by: order: asc or desc; by: a list of {field or expr, order}."},
    {["switch"], "switch: cases are {when, then}."},
    {["set"], "set adds fields to an object, or to each of a list; they see it as it was."},
    {["rename"], "rename: fields are {old: new}."},
    {["entries", "from_entries"], "entries gives [{key, value}], from_entries takes it."},
    {["group_by"],
     "group_by gives an object for each group, in the order of first items, null too: its key, named as the field or by as (of " <>
       "expr: as or \"key\"), and the fields of each, which see the list of its items (without each: items)."},
    {["join"],
     "join: on, or left and right, name the fields; kind is inner (default), left, or group (as: the list of matches). left and group " <>
       "keep items without a match. The item's keys win; as: the match is under that key."},
    {["text"], "text joins its parts, null as \"\". to_text of 12.5, decimals 2: \"12.50\"."},
    {["upper", "split"],
     "Text operations read value, field or the current value; null gives null. to_number of no number is null."},
    {["matches", "replace"],
     "Patterns: (?i) for any case, no look-around. replace replaces all; find is literal."},
    {["extract"],
     "extract gives the first match: its text, or its groups (a list, or an object if named); all true: a list of all."},
    {["date_diff"],
     "ISO texts compare as text, real dates by time. date_diff: whole units, to minus from. date_add: a text like its input."},
    {["date_part"],
     "Units: year, month, week, day, hour, minute, second. Parts also: quarter, weekday (1 is Monday), yearday, date, month_start, " <>
       "week_start, year_month. week is ISO; its year is that of week_start + 3 days."},
    {["call"],
     "call: if the tool fails, the value is on_error (may be null; var error is the text), or else the run fails."}
  ]

  @memory """
  If the program returns an object, its keys are kept in memory. With the key "result", that value is the answer, the others are kept.
  """

  @examples [
    {"tools", "A tool for each row",
     ~s({"program":{"op":"pipe","steps":[{"op":"load","name":"employees"},{"op":"map","expr":{"name":{"op":"get","field":"name"},) <>
       ~s("spent":{"op":"call","tool":"expenses","args":{"id":{"op":"get","field":"id"},"year":2024},"on_error":0}}}]}})},
    {"groups", "Join, group, aggregate",
     ~s({"program":{"op":"pipe","steps":[{"op":"load","name":"orders"},) <>
       ~s({"op":"join","with":{"op":"load","name":"customers"},"left":"customer_id","right":"id"},) <>
       ~s({"op":"group_by","field":"country","each":{"orders":{"op":"count"},"revenue":{"op":"sum","expr":) <>
       ~s({"op":"mul","left":{"op":"get","field":"price"},"right":{"op":"get","field":"quantity"}}}}},) <>
       ~s({"op":"sort_by","field":"revenue","order":"desc"}]}})},
    {"core", "Inner loop: products above the average of their kind",
     ~s({"program":{"op":"pipe","steps":[{"op":"load","name":"products"},{"op":"filter","as":"p","where":) <>
       ~s({"op":"gt","field":"price","value":{"op":"pipe","steps":[{"op":"load","name":"products"},) <>
       ~s({"op":"filter","where":{"op":"eq","field":"kind","value":{"op":"get","from":{"op":"var","name":"p"},"field":"kind"}}},) <>
       ~s({"op":"avg","field":"price"}]}}}]}})}
  ]

  # What models need most comes first; other categories follow in the order of the table.
  @first [
    "Data",
    "Flow",
    "Filter/Transform",
    "Compare",
    "Logic",
    "Access",
    "Aggregate",
    "Group and join"
  ]

  @doc "The text about these operations, with the first `count` of the examples that use only these."
  @spec text([Table.operation()], non_neg_integer()) :: String.t()
  def text(operations, count) when is_integer(count) and count >= 0 do
    names = MapSet.new(operations, & &1.name)
    rules = for {about, rule} <- @rules, Enum.all?(about, &(&1 in names)), do: "- #{rule}\n"

    String.trim("""
    #{@intro}
    ## Operations
    #{listed(operations)}

    #{@legend}
    #{rules}- #{@memory}
    #{examples(names, count)}
    """)
  end

  # `Category: op(field,field?), ...`, one line per category.
  defp listed(operations) do
    by_category = Enum.group_by(operations, & &1.category)
    categories = operations |> Enum.map(& &1.category) |> Enum.uniq()
    categories = Enum.filter(@first, &(&1 in categories)) ++ (categories -- @first)

    Enum.map_join(categories, "\n", fn category ->
      "#{category}: #{by_category |> Map.fetch!(category) |> entries()}"
    end)
  end

  # Operations with the same fields share one entry, at the place of the first one.
  defp entries(operations) do
    named = for operation <- operations, do: {operation.name, fields(operation)}
    alike = Enum.group_by(named, &elem(&1, 1), &elem(&1, 0))

    named
    |> Enum.map(&elem(&1, 1))
    |> Enum.uniq()
    |> Enum.map_join(", ", fn fields ->
      names = Enum.join(alike[fields], if(fields == "", do: ", ", else: "/"))
      names <> fields
    end)
  end

  defp fields(%{fields: []}), do: ""

  defp fields(%{fields: fields}) do
    {forms, others} = Enum.split_with(fields, &(&1.presence == :alternative))
    {optional, required} = Enum.split_with(others, &(not &1.required?))
    forms = if forms == [], do: [], else: [Enum.map_join(forms, "|", & &1.name)]
    required = Enum.map(required, & &1.name)
    "(#{Enum.join(forms ++ required ++ Enum.map(optional, &(&1.name <> "?")), ",")})"
  end

  @doc "The examples, each with its title."
  @spec examples() :: [{String.t(), String.t()}]
  def examples, do: for({_family, title, program} <- @examples, do: {title, program})

  defp examples(names, count) do
    shown =
      for {_family, title, program} <- @examples,
          Enum.all?(used(program), &(&1 in names)),
          do: "#{title}:\n#{program}"

    case Enum.take(shown, count) do
      [] -> ""
      shown -> "Examples:\n\n" <> Enum.join(shown, "\n\n")
    end
  end

  # The names of the operations of an example.
  defp used(program),
    do: for([_match, name] <- Regex.scan(~r/"op":"(\w+)"/, program), do: name)
end
