defmodule PtcRunner.Test.Generator.Listed do
  @moduledoc false
  # Operations of edition 2 on rows: loops that name their item, keys that are computed, groups and joins.

  import PtcRunner.Test.Generator.Template, only: [template: 2]
  import PtcRunner.Test.Random

  alias PtcRunner.Test.Generator.{Added, Data, Program, Texts}

  @fields ~w(id name amount active tags text at)

  @doc "The scope of an expression for each row."
  @spec item(Program.scope()) :: Program.scope()
  def item(scope), do: %{scope | current: :row}

  @doc "An operation that evaluates an expression for each row, which it may name."
  @spec loop([String.t()], String.t(), Program.kind(), Program.scope()) ::
          PtcRunner.Test.Random.generator(map())
  def loop(ops, place, kind, scope) do
    map(frequency([{2, nil}, {1, "row"}, {1, "x"}]), fn name ->
      inner = named(item(scope), name, :row)
      %{"op" => one_of(ops), place => body(kind, inner), "as" => name || maybe(10, nil)}
    end)
  end

  defp body(kind, scope) do
    lazy(fn ->
      consumed = Added.node(kind, scope) || Program.node(kind, scope)
      frequency([{2, Program.node(kind, scope)}, {3, consumed}])
    end)
  end

  defp named(scope, nil, _kind), do: scope

  defp named(scope, name, kind),
    do: %{scope | names: [{name, kind} | List.keydelete(scope.names, name, 0)]}

  @doc "An operation with the key of each row: a field, or an expression."
  @spec keyed([String.t()], Program.scope()) :: PtcRunner.Test.Random.generator(map())
  def keyed(ops, scope), do: merged(%{"op" => one_of(ops)}, key(scope))

  defp key(scope) do
    inner = item(scope)

    frequency([
      {4, %{"field" => field(), "expr" => maybe(10, nil)}},
      {2, %{"expr" => lazy(fn -> body(:number, inner) end), "field" => maybe(10, nil)}},
      {2, %{"expr" => lazy(fn -> body(:string, inner) end)}},
      {1, %{"expr" => lazy(fn -> body(:any, inner) end)}}
    ])
  end

  @doc "Rows in the order of one key or of several."
  @spec sorted(Program.scope()) :: PtcRunner.Test.Random.generator(map())
  def sorted(scope) do
    by = merged(%{"order" => maybe(70, order())}, key(scope))

    one_of([
      merged(%{"op" => "sort_by", "order" => maybe(70, order())}, key(scope)),
      %{"op" => "sort_by", "by" => list_of(by, 1..3)}
    ])
  end

  defp order, do: one_of(["asc", "desc", nil])

  @doc "One value of a key over all rows."
  @spec aggregate(Program.scope()) :: PtcRunner.Test.Random.generator(map())
  def aggregate(scope) do
    numbers = %{"expr" => lazy(fn -> body(:number, item(scope)) end)}
    key = frequency([{3, %{"field" => one_of(["amount", "id"])}}, {3, numbers}, {1, key(scope)}])
    percent = one_of([0, 50, 100, 25, 90.5, 33, maybe(50, 101)])

    one_of([
      merged(%{"op" => one_of(~w(sum avg min max median))}, key),
      merged(%{"op" => "percentile", "p" => percent}, key)
    ])
  end

  @doc "Groups of rows, of which something may be computed."
  @spec group(Program.scope()) :: PtcRunner.Test.Random.generator(map())
  def group(scope) do
    as = %{"as" => maybe(30, one_of(["id", "key", "items", nil]))}
    one = merged(as, key(scope))
    several = %{"fields" => list_of(field(), 0..3)}

    merged(
      %{"op" => "group_by", "each" => maybe(70, each(scope))},
      frequency([{3, one}, {1, several}])
    )
  end

  # Rows as current value.
  defp each(scope) do
    inner = %{scope | current: :rows}

    %{
      "n" => maybe(80, %{"op" => "count"}),
      "amount" => maybe(60, lazy(fn -> aggregate(inner) end)),
      "name" => maybe(30, lazy(fn -> template(:string, inner) end)),
      "items" => maybe(20, lazy(fn -> template(:rows, inner) end)),
      "most" => maybe(20, lazy(fn -> keyed(["min_by", "max_by"], inner) end))
    }
  end

  @doc "Rows with their matches among other rows."
  @spec join(Program.scope()) :: PtcRunner.Test.Random.generator(map())
  def join(scope) do
    on =
      one_of([
        %{"on" => one_of(["id", "name"])},
        %{"left" => field(), "right" => field(), "on" => maybe(10, nil)}
      ])

    with =
      frequency([
        {3, %{"op" => "load", "name" => one_of(["rows", "more"])}},
        {2, list_of(%{"id" => Data.id(), "text" => Texts.text(), "name" => Data.string()}, 0..4)},
        {2, lazy(fn -> template(:rows, scope) end)}
      ])

    kinds =
      one_of([
        %{
          "kind" => maybe(50, one_of(["inner", "left", nil])),
          "as" => maybe(30, one_of(["x", "id"]))
        },
        %{"kind" => "group", "as" => maybe(95, one_of(["items", "found"]))}
      ])

    %{"op" => "join", "with" => with} |> merged(on) |> merged(kinds)
  end

  @doc "A value that is computed step by step."
  @spec fold(Program.kind(), Program.scope()) :: PtcRunner.Test.Random.generator(map())
  def fold(kind, scope) do
    map(frequency([{3, nil}, {1, "sum"}, {1, "x"}]), fn name ->
      inner = named(item(scope), name || "acc", kind)

      %{
        "op" => "fold",
        "as" => name || maybe(10, nil),
        "init" => template(kind, scope),
        "expr" => step(kind, name || "acc", inner)
      }
    end)
  end

  defp step(:number, name, scope) do
    one_of([
      %{
        "op" => "add",
        "left" => var(name),
        "right" => %{"op" => "get", "field" => "id", "default" => 1}
      },
      body(:number, scope)
    ])
  end

  defp step(:any, name, scope) do
    one_of([
      %{
        "op" => "concat",
        "lists" => [%{"op" => "coalesce", "values" => [var(name), []]}, [%{"op" => "it"}]]
      },
      %{"op" => "text", "parts" => [var(name), %{"op" => "get", "field" => field()}]},
      body(:any, scope)
    ])
  end

  defp step(kind, _name, scope), do: body(kind, scope)

  # A node of which some fields are generated together.
  defp merged(one, other), do: map({one, other}, fn {one, other} -> Map.merge(one, other) end)

  defp var(name), do: %{"op" => "var", "name" => name}
  defp field, do: frequency([{10, one_of(@fields)}, {1, "nope"}])
end
