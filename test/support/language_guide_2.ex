defmodule PtcRunner.Test.LanguageGuide2 do
  @moduledoc false
  # The examples of edition 2 in guides/language.md, as in `PtcRunner.Test.LanguageGuide`: of the new operations, and of what is
  # new in the others.

  @rows [
    %{"city" => "Bern", "n" => 2, "price" => 5},
    %{"city" => "Basel", "n" => 1, "price" => 4},
    %{"city" => "Bern", "n" => 3, "price" => 2}
  ]

  @product ~s({"op": "mul", "left": {"op": "get", "field": "n"}, "right": {"op": "get", "field": "price"}})
  @big ~s({"op": "gt", "field": "n", "value": 1})
  @it ~s({"op": "it"})

  def examples, do: Map.merge(old(), new())

  # What is new in operations of edition 1.
  defp old do
    %{
      "sum" => [{@rows, ~s({"op": "sum", "expr": #{@product}})}],
      "avg" => [{[1, 2, "x"], ~s({"op": "avg", "expr": #{@it}})}],
      "max_by" => [{@rows, ~s({"op": "max_by", "expr": #{@product}})}],
      "count" => [{@rows, ~s({"op": "count", "where": #{@big}})}],
      "distinct" => [{@rows, ~s({"op": "distinct", "field": "city"})}],
      "sort_by" => [
        {@rows, ~s({"op": "sort_by", "expr": #{@product}, "order": "desc"})},
        {@rows, ~s({"op": "sort_by", "by": [{"field": "city"}, {"field": "n", "order": "desc"}]})}
      ],
      "filter" => [
        {[%{"max" => 2, "ns" => [1, 3]}, %{"max" => 5, "ns" => [4]}],
         ~s({"op": "filter", "as": "row", "where": {"op": "pipe", "steps": [{"op": "get", "field": "ns"}, ) <>
           ~s({"op": "every", "where": {"op": "lte", "value": {"op": "get", "from": {"op": "var", "name": "row"}, "field": "max"}}}]}})}
      ],
      "gt" => [
        {3, ~s({"op": "gt", "left": {"op": "add", "left": #{@it}, "right": 1}, "value": 3})}
      ],
      "in" => [
        {%{"status" => "new"}, ~s({"op": "in", "field": "status", "value": ["open", "new"]})}
      ],
      "get" => [
        {%{"rates" => %{"EUR" => 2}, "currency" => "EUR"},
         ~s({"op": "get", "from": {"op": "get", "field": "rates"}, "key": {"op": "get", "field": "currency"}})}
      ],
      "if" => [{7, ~s({"op": "if", "condition": #{@it}, "then": ["seen", #{@it}], "else": null})}],
      "call" => [
        {5, ~s({"op": "call", "tool": "double", "args": {"n": #{@it}}})},
        {:none,
         ~s({"op": "call", "tool": "broken", "on_error": {"failed": {"op": "var", "name": "error"}}})}
      ]
    }
  end

  defp new, do: Map.merge(Map.merge(values(), lists()), Map.merge(objects(), texts()))

  defp values do
    %{
      "it" => [{5, ~s({"op": "it"})}],
      "list" => [{5, ~s({"op": "list", "items": [#{@it}, {"n": #{@it}}, null]})}],
      "coalesce" => [
        {%{"b" => 2},
         ~s({"op": "coalesce", "values": [{"op": "get", "field": "a"}, {"op": "get", "field": "b"}, 0]})}
      ],
      "switch" => [
        {-3,
         ~s({"op": "switch", "cases": [{"when": {"op": "gt", "value": 0}, "then": "positive"}, {"when": {"op": "lt", "value": 0}, "then": "negative"}], "else": "zero"})}
      ],
      "now" => [{:none, ~s({"op": "now"})}],
      "date_diff" => [
        {:none,
         ~s({"op": "date_diff", "from": "2024-01-31", "to": "2024-02-29", "unit": "month"})},
        {:none,
         ~s({"op": "date_diff", "from": "2024-03-01T12:00:00", "to": "2024-02-28", "unit": "day"})}
      ],
      "date_add" => [
        {"2024-01-31", ~s({"op": "date_add", "amount": 1, "unit": "month"})},
        {"2024-01-31", ~s({"op": "date_add", "amount": -90, "unit": "minute"})}
      ],
      "date_part" => [
        {%{"on" => "2024-02-29"}, ~s({"op": "date_part", "field": "on", "part": "weekday"})},
        {"2024-02-29", ~s({"op": "date_part", "part": "year_month"})}
      ],
      "mod" => [{:none, ~s({"op": "mod", "left": -7, "right": 3})}],
      "abs" => [{-2.5, ~s({"op": "abs"})}],
      "floor" => [{-2.5, ~s({"op": "floor"})}],
      "ceil" => [{%{"n" => 2.1}, ~s({"op": "ceil", "field": "n"})}],
      "median" => [{@rows, ~s({"op": "median", "field": "price"})}],
      "percentile" => [{[1, 2, 3, 4], ~s({"op": "percentile", "expr": #{@it}, "p": 90})}]
    }
  end

  defp lists do
    %{
      "some" => [{@rows, ~s({"op": "some", "where": #{@big}})}],
      "every" => [{@rows, ~s({"op": "every", "where": #{@big}})}],
      "find" => [{@rows, ~s({"op": "find", "where": #{@big}})}],
      "flat_map" => [
        {[%{"tags" => ["x", "y"]}, %{"tags" => ["z"]}],
         ~s({"op": "flat_map", "expr": {"op": "get", "field": "tags"}})}
      ],
      "flatten" => [{[[1, [2]], 3], ~s({"op": "flatten"})}],
      "reverse" => [{[1, 2, 3], ~s({"op": "reverse"})}],
      "chunk" => [{[1, 2, 3], ~s({"op": "chunk", "size": 2})}],
      "fold" => [
        {[1, 2, 3, 4],
         ~s({"op": "fold", "init": 1, "expr": {"op": "mul", "left": {"op": "var", "name": "acc"}, "right": #{@it}}})}
      ],
      "range" => [{:none, ~s({"op": "range", "from": 1, "to": 4})}],
      "group_by" => [
        {@rows,
         ~s({"op": "group_by", "field": "city", "each": {"rows": {"op": "count"}, "n": {"op": "sum", "field": "n"}}})},
        {[1, 2, 3],
         ~s({"op": "group_by", "expr": {"op": "mod", "left": #{@it}, "right": 2}, "as": "odd"})}
      ],
      "join" => [
        {[%{"id" => 1, "n" => 5}, %{"id" => 2}],
         ~s({"op": "join", "with": [{"id": 1, "name": "Ada"}], "on": "id"})},
        {[%{"id" => 1, "n" => 5}, %{"id" => 2}],
         ~s({"op": "join", "with": [{"of": 1, "name": "Ada"}], "left": "id", "right": "of", "kind": "left", "as": "person"})},
        {[%{"id" => 1}, %{"id" => 2}],
         ~s({"op": "join", "with": [{"id": 1, "x": 7}, {"id": 1, "x": 8}], "on": "id", "kind": "group", "as": "all"})}
      ]
    }
  end

  defp objects do
    %{
      "set" => [
        {@rows |> Enum.take(1), ~s({"op": "set", "fields": {"total": #{@product}, "n": 0}})}
      ],
      "unset" => [{hd(@rows), ~s({"op": "unset", "fields": ["price", "city"]})}],
      "rename" => [{hd(@rows), ~s({"op": "rename", "fields": {"n": "count"}})}],
      "entries" => [{%{"b" => 2, "a" => 1}, ~s({"op": "entries"})}],
      "from_entries" => [
        {[%{"key" => "a", "value" => 1}, %{"key" => 7}], ~s({"op": "from_entries"})}
      ],
      "index_by" => [
        {[%{"id" => 7, "n" => 1}, %{"id" => 8, "n" => 2}], ~s({"op": "index_by", "field": "id"})}
      ]
    }
  end

  defp texts do
    %{
      "text" => [
        {%{"name" => "Ada", "n" => 2},
         ~s({"op": "text", "parts": [{"op": "get", "field": "name"}, ": ", {"op": "get", "field": "n"}]})},
        {[1, 2], ~s({"op": "text", "separator": ", ", "parts": ["all", #{@it}]})}
      ],
      "to_text" => [
        {%{"a" => [1, 2.5]}, ~s({"op": "to_text"})},
        {12.5, ~s({"op": "to_text", "decimals": 2})}
      ],
      "upper" => [{"straße", ~s({"op": "upper"})}],
      "lower" => [{%{"name" => "ADA"}, ~s({"op": "lower", "field": "name"})}],
      "trim" => [{" a b ", ~s({"op": "trim"})}],
      "length" => [{"Zoë", ~s({"op": "length"})}, {[1, 2], ~s({"op": "length"})}],
      "split" => [{"a, b, c", ~s({"op": "split", "by": ", "})}],
      "replace" => [{"1.234.567", ~s({"op": "replace", "find": ".", "with": "'"})}],
      "starts_with" => [
        {%{"name" => "Ada"}, ~s({"op": "starts_with", "field": "name", "value": "A"})}
      ],
      "ends_with" => [{:none, ~s({"op": "ends_with", "left": "a.txt", "value": ".txt"})}],
      "matches" => [{"order 1234", ~S|{"op": "matches", "pattern": "\\d{4}$"}|}],
      "extract" => [
        {"1-2, 3-4", ~S|{"op": "extract", "pattern": "\\d-\\d"}|},
        {"1-2, 3-4", ~S|{"op": "extract", "pattern": "(\\d)-(\\d)", "all": true}|},
        {"1-2", ~S|{"op": "extract", "pattern": "(?P<from>\\d)-(?P<to>\\d)"}|}
      ],
      "to_number" => [{" 12.50 ", ~s({"op": "to_number"})}, {"12 kg", ~s({"op": "to_number"})}]
    }
  end
end
