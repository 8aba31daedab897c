defmodule PtcRunner.Test.LanguageGuide do
  @moduledoc false
  # Generates guides/language.md from the table of operations, with examples that are run here. A test fails
  # if an operation has no example, or if the guide is out of date. The same test
  # writes the guide: `PTC_WRITE_GUIDES=1 mix test test/language_guide_test.exs`.

  alias PtcRunner.Json
  alias PtcRunner.Json.Codec
  alias PtcRunner.Schema.Table

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
    operations =
      Table.operations(1)
      |> Enum.chunk_by(& &1.category)
      |> Enum.map(fn [%{category: category} | _] = operations ->
        ["## #{category}\n\n", Enum.map(operations, &operation/1)]
      end)

    IO.iodata_to_binary([intro(), operations, File.read!("test/support/language_guide_end.md")])
  end

  defp intro, do: File.read!("test/support/language_guide_start.md") <> "\n"

  defp operation(operation) do
    ["### `#{operation.name}`\n\n", operation.description, "\n\n", fields(operation)] ++
      Enum.map(examples!(operation.name), &example/1)
  end

  defp examples!(name) do
    case examples() do
      %{^name => examples} -> examples
      _others -> raise "no example of #{name}: add one to test/support/language_guide.ex"
    end
  end

  defp fields(%{fields: []}), do: []

  defp fields(%{fields: fields}) do
    rows = Enum.map(fields, &row/1)
    ["| field | for | value | |\n|---|---|---|---|\n", rows, "\n"]
  end

  defp row(field) do
    "| `#{field.name}` | #{field.about} | #{value(field)} | #{presence(field)} |\n"
  end

  defp value(%{values: "", type: type}), do: type(type)
  defp value(%{values: values}), do: String.replace(values, "|", "or")

  # A model should write the expected fields; the validator accepts a program without them.
  defp presence(%{presence: :alternative}), do: "one of them"
  defp presence(%{presence: presence}) when presence in [:expected, :optional], do: "optional"
  defp presence(_required), do: "required"

  defp type(:any), do: "any value"
  defp type(:string), do: "string"
  defp type(:map), do: "object"
  defp type(:expr), do: "node"
  defp type(:non_neg_integer), do: "integer, not negative"
  defp type({:list, :expr}), do: "list of nodes"
  defp type({:list, :string}), do: "list of strings"

  defp example({input, operation}) do
    of = if input == :none, do: "", else: "Of `#{Codec.encode!(input)}`: "
    ["```json\n", operation, "\n```\n\n", of, result(input, operation), "\n\n"]
  end

  defp result(input, operation) do
    # The current value of a program, as if a pipe had passed it.
    memory = %{"seen" => [7]}
    memory = if input == :none, do: memory, else: Map.put(memory, "__input", input)
    tools = %{"double" => fn %{"n" => n} -> n * 2 end}
    opts = [context: %{"people" => @people}, memory: memory, tools: tools]

    case Json.run(~s({"program": #{operation}}), opts) do
      {:ok, value, _delta, _memory} -> "`#{Codec.encode!(value)}`"
      {:error, error} -> "error: `#{Json.format_error(error)}`"
    end
  end
end
