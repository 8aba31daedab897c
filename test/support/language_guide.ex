defmodule PtcRunner.Test.LanguageGuide do
  @moduledoc false
  # Generates guides/language.md from the table of operations, with examples that are run here. A test fails
  # if an operation has no example, or if the guide is out of date. The same test
  # writes the guide: `PTC_WRITE_GUIDES=1 mix test test/language_guide_test.exs`.

  alias PtcRunner.Json
  alias PtcRunner.Json.Codec
  alias PtcRunner.Schema.Table
  alias PtcRunner.Test.LanguageGuide2

  @people [
    %{"name" => "Ada", "age" => 36, "tags" => ["x", "y"]},
    %{"name" => "Bob", "age" => 25},
    %{"name" => "Eve", "age" => 36}
  ]

  @numbers [3, 1, 2, 1]

  # name => [{input or :none, the operation}]; the context has "people", memory has "seen".
  defp examples do
    %{
      "load" => [
        {:none, ~s({"op": "load", "name": "people"})},
        {:none, ~s({"op": "load", "name": "peopel"})}
      ],
      "literal" => [{:none, ~s({"op": "literal", "value": {"op": "count"}})}],
      "var" => [
        {:none, ~s({"op": "var", "name": "seen"})},
        {5, ~s({"op": "var", "name": "__input"})}
      ],
      "pipe" => [
        {:none,
         ~s({"op": "pipe", "steps": [{"op": "load", "name": "people"}, {"op": "first"}, {"op": "get", "field": "name"}]})}
      ],
      "let" => [
        {:none,
         ~s({"op": "let", "name": "n", "value": {"op": "literal", "value": 4}, "in": {"op": "mul", "left": {"op": "var", "name": "n"}, "right": 10}})},
        {:none,
         ~s({"op": "let", "name": "n", "value": 4, "in": {"op": "mul", "left": {"op": "var", "name": "n"}, "right": 10}})}
      ],
      "if" => [
        {%{"age" => 36},
         ~s({"op": "if", "condition": {"op": "gt", "field": "age", "value": 30}, "then": {"op": "literal", "value": "old"}, "else": {"op": "literal", "value": "young"}})}
      ],
      "and" => [
        {7, ~s({"op": "and", "conditions": [{"op": "gt", "value": 5}, {"op": "lt", "value": 9}]})}
      ],
      "or" => [
        {7, ~s({"op": "or", "conditions": [{"op": "lt", "value": 5}, {"op": "gt", "value": 6}]})}
      ],
      "not" => [{7, ~s({"op": "not", "condition": {"op": "eq", "value": 7}})}],
      "filter" => [
        {@people, ~s({"op": "filter", "where": {"op": "eq", "field": "name", "value": "Bob"}})},
        {@numbers, ~s({"op": "filter", "where": {"op": "gt", "value": 1}})}
      ],
      "map" => [{@people, ~s({"op": "map", "expr": {"op": "get", "field": "name"}})}],
      "select" => [{@people, ~s({"op": "select", "fields": ["name"]})}],
      "reject" => [
        {@people, ~s({"op": "reject", "where": {"op": "gt", "field": "age", "value": 30}})}
      ],
      "sort_by" => [
        {[%{"n" => 2}, %{"n" => 1}], ~s({"op": "sort_by", "field": "n"})},
        {[%{"n" => 2}, %{"n" => 3}], ~s({"op": "sort_by", "field": "n", "order": "desc"})}
      ],
      "filter_in" => [
        {@people, ~s({"op": "filter_in", "field": "name", "value": ["Bob", "Cid"]})}
      ],
      "eq" => [
        {%{"n" => 1}, ~s({"op": "eq", "field": "n", "value": 1.0})},
        {1, ~s({"op": "eq", "value": 2})}
      ],
      "neq" => [{%{"n" => 1}, ~s({"op": "neq", "field": "n", "value": 2})}],
      "gt" => [
        {%{"n" => 3}, ~s({"op": "gt", "field": "n", "value": 2})},
        {%{}, ~s({"op": "gt", "field": "n", "value": 2})}
      ],
      "gte" => [{%{"n" => 2}, ~s({"op": "gte", "field": "n", "value": 2})}],
      "lt" => [{%{"n" => 3}, ~s({"op": "lt", "field": "n", "value": 2})}],
      "lte" => [{%{"n" => 2}, ~s({"op": "lte", "field": "n", "value": 2})}],
      "contains" => [
        {%{"tags" => ["x", "y"]}, ~s({"op": "contains", "field": "tags", "value": "x"})},
        {%{"name" => "Ada"}, ~s({"op": "contains", "field": "name", "value": "da"})}
      ],
      "in" => [{%{"tags" => ["x", "y"]}, ~s({"op": "in", "field": "tags", "value": "z"})}],
      "count" => [{@people, ~s({"op": "count"})}],
      "sum" => [
        {@people, ~s({"op": "sum", "field": "age"})},
        {[], ~s({"op": "sum", "field": "age"})}
      ],
      "avg" => [
        {[%{"n" => 1}, %{"n" => 2}], ~s({"op": "avg", "field": "n"})},
        {[], ~s({"op": "avg", "field": "n"})}
      ],
      "min" => [{@people, ~s({"op": "min", "field": "age"})}],
      "max" => [{@people, ~s({"op": "max", "field": "age"})}],
      "min_by" => [{@people, ~s({"op": "min_by", "field": "age"})}],
      "max_by" => [{@people, ~s({"op": "max_by", "field": "age"})}],
      "first" => [{@numbers, ~s({"op": "first"})}],
      "last" => [{@numbers, ~s({"op": "last"})}],
      "nth" => [
        {@numbers, ~s({"op": "nth", "index": 2})},
        {@numbers, ~s({"op": "nth", "index": 9})}
      ],
      "take" => [{@numbers, ~s({"op": "take", "count": 2})}],
      "drop" => [{@numbers, ~s({"op": "drop", "count": 3})}],
      "distinct" => [{@numbers, ~s({"op": "distinct"})}],
      "add" => [{:none, ~s({"op": "add", "left": 40, "right": 2})}],
      "sub" => [{:none, ~s({"op": "sub", "left": 1.5, "right": 1})}],
      "mul" => [{@people, ~s({"op": "mul", "left": {"op": "count"}, "right": 100})}],
      "div" => [
        {:none, ~s({"op": "div", "left": 10, "right": 4})},
        {:none, ~s({"op": "div", "left": 1, "right": 0})}
      ],
      "round" => [
        {:none, ~s({"op": "round", "value": 2.345, "precision": 1})},
        {:none, ~s({"op": "round", "value": 2.5})}
      ],
      "pct" => [{:none, ~s({"op": "pct", "part": 1, "whole": 8})}],
      "object" => [
        {@numbers, ~s({"op": "object", "fields": {"n": {"op": "count"}, "unit": "rows"}})}
      ],
      "merge" => [
        {:none,
         ~s({"op": "merge", "objects": [{"op": "literal", "value": {"a": 1, "b": 1}}, {"op": "literal", "value": {"b": 2}}]})}
      ],
      "concat" => [
        {:none,
         ~s({"op": "concat", "lists": [{"op": "literal", "value": [1]}, {"op": "literal", "value": [2, 3]}]})}
      ],
      "zip" => [
        {:none,
         ~s({"op": "zip", "lists": [{"op": "literal", "value": [1, 2]}, {"op": "literal", "value": ["a", "b"]}]})}
      ],
      "get" => [
        {%{"user" => %{"name" => "Ada"}}, ~s({"op": "get", "path": ["user", "name"]})},
        {%{}, ~s({"op": "get", "field": "name", "default": "nobody"})}
      ],
      "keys" => [{%{"b" => 1, "a" => 2}, ~s({"op": "keys"})}],
      "typeof" => [{@numbers, ~s({"op": "typeof"})}],
      "call" => [{:none, ~s({"op": "call", "tool": "double", "args": {"n": 21}})}]
    }
  end

  def text do
    one = Map.new(Table.operations(1), &{&1.name, &1})
    operations = Table.operations(2)
    by_category = Enum.group_by(operations, & &1.category)

    sections =
      for category <- operations |> Enum.map(& &1.category) |> Enum.uniq() do
        [
          "## #{category}\n\n",
          by_category |> Map.fetch!(category) |> Enum.map(&operation(&1, one))
        ]
      end

    IO.iodata_to_binary([
      [intro(), sections, types(operations)],
      File.read!("test/support/language_guide_end.md")
    ])
  end

  defp types(operations) do
    [
      """
      ## Types

      `PtcRunner.Json.check/2` knows of each operation which types go in and which come out. `T` is any type, and `[T]` a list of it.
      [Checked before it runs](errors_and_feedback.md#checked-before-it-runs) says what is reported.

      | operation | from and to |
      |---|---|
      """,
      for(
        %{name: name, types: types} <- operations,
        do: "| `#{name}` | #{types!(name, types)} |\n"
      ),
      "\n"
    ]
  end

  defp types!(name, ""), do: raise("no types of #{name}: add TYPES to its entry")
  defp types!(_name, types), do: String.replace(types, "|", "or")

  defp intro, do: File.read!("test/support/language_guide_start.md") <> "\n"

  defp operation(operation, one) do
    before = one[operation.name]
    mark = if before, do: "", else: "*Edition 2.* "

    [
      "### `#{operation.name}`\n\n",
      [mark, operation.description, "\n\n"],
      fields(operation, before || operation),
      Enum.map(Map.get(examples(), operation.name, []), &example(&1, both?(before))),
      Enum.map(added!(operation.name, before), &example(&1, false))
    ]
  end

  # Examples of edition 1 are shown with the result of edition 2, and with that of edition 1 if it differs.
  defp both?(before), do: before != nil

  defp added!(name, before) do
    case LanguageGuide2.examples() do
      %{^name => examples} -> examples
      _others when before != nil -> []
      _others -> raise "no example of #{name}: add one to test/support/language_guide_2.ex"
    end
  end

  defp fields(%{fields: []}, _before), do: ""

  defp fields(%{fields: fields}, before) do
    before = Map.new(before.fields, &{&1.name, &1})
    rows = Enum.map(fields, &row(&1, before[&1.name]))
    ["| field | for | value | |\n|---|---|---|---|\n", rows, "\n"]
  end

  defp row(field, before) do
    presence = Enum.join([presence(field) | changed(field, before)], "; ")
    "| `#{field.name}` | #{field.about} | #{value(field)} | #{presence} |\n"
  end

  defp changed(_field, nil), do: ["edition 2"]

  defp changed(field, before),
    do:
      if(presence(field) == presence(before), do: [], else: ["#{presence(before)} in edition 1"])

  defp value(%{choices: [_ | _] = choices}), do: Enum.map_join(choices, ", ", &"`\"#{&1}\"`")
  defp value(%{kind: :pattern}), do: "regular expression"
  defp value(%{kind: :operand}), do: "node or number"
  defp value(%{values: "", type: type}), do: type(type)
  defp value(%{values: values}), do: String.replace(values, "|", "or")

  # A model should write the expected fields; the validator accepts a program without them.
  defp presence(%{presence: :alternative}), do: "one of them"

  defp presence(%{presence: presence}) when presence in [:expected, :optional, :nullable],
    do: "optional"

  defp presence(_required), do: "required"

  defp type(:any), do: "any value"
  defp type(:string), do: "string"
  defp type(:map), do: "object"
  defp type(:expr), do: "node"
  defp type(:non_neg_integer), do: "integer, not negative"
  defp type(:pos_integer), do: "positive integer"
  defp type(:percent), do: "number from 0 to 100"
  defp type(:boolean), do: "`true` or `false`"
  defp type(:template), do: "template"
  defp type(:text), do: "string or node"
  defp type(:cases), do: "list of `{\"when\": node, \"then\": template}`"

  defp type(:sort_keys),
    do: "list of `{\"field\": string}` or `{\"expr\": node}`, with `\"order\"`"

  defp type({:list, :expr}), do: "list of nodes"
  defp type({:list, :string}), do: "list of strings"
  defp type({:list, :template}), do: "list of templates"
  defp type({:list_or_node, :template}), do: "list of templates, or node"
  defp type({:map, :template}), do: "object of templates"
  defp type({:map, :string}), do: "object of strings"

  defp example({input, operation}, both?) do
    of = if input == :none, do: "", else: "Of `#{Codec.encode!(input)}`: "
    two = result(input, operation, 2)
    one = if both?, do: result(input, operation, 1), else: two
    differs = if one == two, do: "", else: " (edition 1: #{one})"
    ["```json\n", operation, "\n```\n\n", of, two, differs, "\n\n"]
  end

  defp result(input, operation, edition) do
    # The current value of a program, as if a pipe had passed it.
    memory = %{"seen" => [7]}
    memory = if input == :none, do: memory, else: Map.put(memory, "__input", input)

    tools = %{
      "double" => fn %{"n" => n} -> n * 2 end,
      "broken" => fn _args -> {:error, "gone"} end
    }

    data = [context: %{"people" => @people}, memory: memory, tools: tools]
    opts = [edition: edition, now: "2024-02-29T10:30:00Z"] ++ data

    case Json.run(~s({"program": #{operation}}), opts) do
      {:ok, value, _delta, _memory} -> "`#{Codec.encode!(value)}`"
      {:error, error} -> "error: `#{Json.format_error(error)}`"
    end
  end
end
