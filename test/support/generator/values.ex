defmodule PtcRunner.Test.Generator.Values do
  @moduledoc false
  # Rows of dates, decimals and atoms as plain data, and pipelines that compare, order, hash and search them.

  import PtcRunner.Test.Random

  @fields ~w(id status at price tag tags)

  def rows, do: frequency([{3, list_of(row(), 0..7)}, {1, list_of(row(), 20..40)}])

  defp row do
    %{
      "id" => integer(1..3),
      "status" => maybe(90, value("status")),
      "at" => maybe(90, value("at")),
      "price" => maybe(90, value("price")),
      "tag" => maybe(70, value("tag")),
      "tags" => maybe(70, list_of(value("status"), 0..3))
    }
  end

  # Few values, so that they often meet.
  defp value("id"), do: integer(1..3)
  defp value("status"), do: one_of(["open", "closed", "paid", "reopened", "", "nil", nil, true])
  defp value("price"), do: frequency([{6, integer(-2..3)}, {1, 10_000_000_000_000_000_000}])
  defp value("tag"), do: %{"status" => value("status"), "price" => value("price")}
  defp value("tags"), do: list_of(value("status"), 0..2)

  defp value("at"),
    do:
      one_of(["2024-01-31", "2024-02-01", "2023-12-31", "0001-01-01", "-0001-03-01", "9999-12-31"])

  def pipe do
    map(integer(0..2), fn count ->
      steps = [%{"op" => "load", "name" => "rows"}] ++ List.duplicate(step(), count) ++ [last()]
      %{"op" => "pipe", "steps" => steps}
    end)
  end

  defp step do
    one_of([
      %{"op" => one_of(["filter", "reject"]), "where" => where()},
      sorted(),
      %{"op" => "distinct"},
      %{"op" => "select", "fields" => list_of(one_of(@fields), 1..4)},
      filter_in(),
      %{"op" => one_of(["take", "drop"]), "count" => integer(0..5)}
    ])
  end

  defp last do
    map(one_of(@fields), fn field ->
      column = %{"op" => "map", "expr" => %{"op" => "get", "field" => field}}

      on_column =
        one_of([
          %{"op" => "distinct"},
          %{"op" => one_of(["contains", "in"]), "value" => value(field)},
          %{"op" => "map", "expr" => %{"op" => one_of(~w(eq lt gte)), "value" => value(field)}},
          %{"op" => "map", "expr" => %{"op" => "typeof"}},
          %{"op" => one_of(["first", "last", "count"])}
        ])

      one_of([
        step(),
        %{"op" => one_of(~w(min max min_by max_by)), "field" => field},
        %{"op" => "pipe", "steps" => [%{"op" => "var", "name" => "__input"}, column, on_column]}
      ])
    end)
  end

  defp sorted do
    %{
      "op" => "sort_by",
      "field" => one_of(@fields),
      "order" => maybe(70, one_of(["asc", "desc"]))
    }
  end

  defp filter_in do
    map(one_of(@fields), fn field ->
      %{"op" => "filter_in", "field" => field, "value" => list_of(value(field), 0..12)}
    end)
  end

  defp where do
    map(one_of(@fields), fn field ->
      ops = one_of(~w(eq neq gt gte lt lte))

      one_of([
        %{"op" => ops, "field" => field, "value" => value(field)},
        %{"op" => ops, "field" => field, "value" => %{"op" => "get", "field" => field}},
        %{"op" => "contains", "field" => "status", "value" => one_of(["open", "", "ed", nil])},
        %{"op" => "contains", "field" => "tags", "value" => value("status")},
        %{"op" => "in", "field" => "tag", "value" => one_of(["status", "x", "price"])},
        %{"op" => one_of(["and", "or"]), "conditions" => list_of(compared(), 1..3)}
      ])
    end)
  end

  defp compared do
    map(one_of(@fields), fn field ->
      %{"op" => one_of(~w(eq neq gt lte)), "field" => field, "value" => value(field)}
    end)
  end
end
