defmodule PtcRunner.Test.Generator.Consume do
  @moduledoc false
  # The operations that use the current value, by its kind.

  import PtcRunner.Test.Random

  alias PtcRunner.Test.Generator.{Data, Program, Spoil, Template}

  @fields ~w(id name amount active tags nested items date)

  @doc "A node that computes a value of `kind` from the current value; nil if there is none."
  @spec node(Program.kind(), Program.scope()) :: PtcRunner.Test.Random.generator(map()) | nil
  def node(kind, scope), do: made(kind, scope.current, scope)

  defp made(:rows, :rows, scope) do
    item = %{scope | current: :row}

    frequency([
      {4, %{"op" => one_of(["filter", "reject"]), "where" => predicate(item)}},
      {3, %{"op" => "map", "expr" => one_of([Program.node(:row, item), made(:row, :row, item)])}},
      {3,
       %{"op" => "sort_by", "field" => field(), "order" => maybe(70, one_of(["asc", "desc"]))}},
      {2, %{"op" => one_of(["take", "drop"]), "count" => count()}},
      {2, %{"op" => "distinct"}},
      {2, %{"op" => "select", "fields" => list_of(field(), 0..3)}},
      {2, %{"op" => "filter_in", "field" => field(), "value" => collection(scope)}}
    ])
  end

  defp made(:rows, :row, _scope), do: get("items", [])

  defp made(:row, :rows, _scope) do
    one_of([
      %{"op" => one_of(["first", "last"])},
      %{"op" => "nth", "index" => count()},
      %{"op" => one_of(["min_by", "max_by"]), "field" => field()}
    ])
  end

  defp made(:row, :row, scope) do
    one_of([
      %{"op" => "select", "fields" => list_of(field(), 0..3)},
      %{"op" => "merge", "objects" => [input(), Program.node(:row, scope)]},
      %{"id" => get("id", 0), "of" => Program.node(:any, scope)}
    ])
  end

  defp made(:number, :rows, _scope) do
    one_of([
      %{"op" => "count"},
      %{"op" => "sum", "field" => one_of(["amount", "id"])},
      %{"op" => "avg", "field" => field()},
      %{"op" => one_of(["min", "max"]), "field" => one_of(["amount", "id"])}
    ])
  end

  defp made(:number, :row, _scope), do: one_of([get("id", 0), get("amount", 1.5)])
  defp made(:string, :row, _scope), do: one_of([get("name", ""), %{"op" => "typeof"}])
  defp made(:bool, current, scope), do: comparison(current, scope)

  defp made(:any, :rows, scope) do
    item = %{scope | current: :row}

    one_of([
      made(:rows, :rows, scope),
      made(:row, :rows, scope),
      %{"op" => "map", "expr" => Program.node(:any, item)},
      %{"op" => "map", "expr" => made(:any, :row, item)},
      %{"op" => one_of(["min", "max"]), "field" => field()},
      column()
    ])
  end

  defp made(:any, :row, scope) do
    one_of([
      made(:row, :row, scope),
      %{"op" => "keys"},
      get("active", one_of([true, 0])),
      get(field(), nil),
      %{"op" => "get", "path" => one_of([[], ["nested"], ["nested", "a"], ["nested", "a", "b"]])},
      %{"op" => "get", "field" => field(), "default" => Data.any()}
    ])
  end

  defp made(:any, :any, _scope) do
    one_of([
      %{"op" => "typeof"},
      %{"op" => one_of(~w(keys count first last distinct))},
      get(field(), nil),
      %{"op" => "get", "path" => ["a", "b"]}
    ])
  end

  defp made(:string, current, _scope) when current != :absent, do: %{"op" => "typeof"}
  defp made(_kind, _current, _scope), do: nil

  # The values of one field, and an operation on them.
  defp column do
    items = frequency([{3, "id"}, {1, field()}])
    id = %{"op" => "eq", "value" => Data.id()}

    made =
      one_of([
        %{"op" => one_of(~w(distinct distinct count first last))},
        %{"op" => one_of(~w(contains in eq)), "value" => Data.id()},
        %{"op" => one_of(~w(filter reject)), "where" => id}
      ])

    %{"op" => "pipe", "steps" => [input(), %{"op" => "map", "expr" => get(items, nil)}, made]}
  end

  defp input, do: %{"op" => "var", "name" => "__input"}

  defp field, do: frequency([{10, one_of(@fields)}, {1, "nope"}])
  defp get(field, default), do: %{"op" => "get", "field" => field, "default" => default}

  defp count do
    frequency([{8, integer(0..4)}, {1, Integer.pow(2, 64)}, {1, Integer.pow(2, 63) - 1}])
  end

  defp predicate(item) do
    frequency([{2, comparison(:row, item)}, {1, Program.node(:bool, item)}])
  end

  # Without a current value every comparison fails, so a pipe provides one.
  defp comparison(:absent, scope), do: Program.pipe(:bool, scope)

  defp comparison(:row, scope) do
    frequency([
      {3, compare(~w(eq neq gt gte lt lte), "id", Data.id())},
      {4, compare(~w(eq neq gt gte lt lte), one_of(["id", "amount"]), operand(:number, scope))},
      {2, compare(~w(eq neq gt lte contains), "name", operand(:string, scope))},
      {2, compare(["contains"], one_of(["name", "tags"]), one_of(["", "a", "b"]))},
      {2, compare(~w(contains in), one_of(["tags", "nested", "name"]), operand(:string, scope))},
      {1,
       compare(~w(eq neq), one_of(["active", "date"]), one_of([true, false, nil, Data.odd()]))},
      {2, compare(all(), field(), operand(:any, scope))},
      {1, compare(all(), maybe(50, nil), operand(:row, scope))}
    ])
  end

  defp comparison(:null, scope), do: compare(all(), maybe(50, nil), operand(:any, scope))
  defp comparison(kind, scope), do: compare(all(), maybe(50, nil), operand(kind, scope))

  defp all, do: ~w(eq neq gt gte lt lte contains in)

  defp compare(ops, field, value) do
    %{"op" => one_of(ops), "field" => field, "value" => value}
  end

  # A literal, or an operation, which edition 1 evaluates without validation. So
  # wrong operations are run here.
  defp operand(kind, %{edition: 2} = scope),
    do: frequency([{12, plain(kind)}, {8, Template.template(kind, scope)}])

  defp operand(kind, scope) do
    node = Program.node(kind, scope)
    frequency([{12, plain(kind)}, {8, node}, {1, map(node, &Spoil.spoil/1)}])
  end

  defp plain(:number), do: Data.number()
  defp plain(:string), do: Data.string()
  defp plain(:bool), do: one_of([true, false, nil])
  defp plain(:rows), do: Data.rows()
  defp plain(:row), do: Data.row()
  defp plain(:any), do: frequency([{4, Data.any()}, {1, Data.odd()}])

  defp collection(scope) do
    one_of([
      list_of(Data.id(), 0..3),
      list_of(Data.any(), 0..4),
      %{"a" => 1, "b" => 2, "name" => 3},
      %{
        "op" => "pipe",
        "steps" => [Program.node(:rows, scope), %{"op" => "map", "expr" => get(field(), nil)}]
      },
      Program.node(:rows, scope),
      Data.any()
    ])
  end
end
