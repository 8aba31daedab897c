defmodule PtcRunner.Test.Generator.Dropped do
  @moduledoc false
  # Pipelines that build more than is kept: items that are never built must still be checked,
  # in their order.

  import PtcRunner.Test.Random

  alias PtcRunner.Test.Generator.{Data, Leaf, Program}

  @fields ~w(id name amount active tags nested items)

  @doc "A pipe over rows whose last step keeps only some items, or only their number."
  @spec pipe(Program.scope()) :: PtcRunner.Test.Random.generator(map())
  def pipe(scope) do
    map({integer(1..3), boolean()}, fn {count, more?} ->
      steps =
        [source(scope)] ++
          List.duplicate(made(), count) ++
          [kept()] ++ if(more?, do: [one_of([kept(), made()])], else: [])

      %{"op" => "pipe", "steps" => steps}
    end)
  end

  defp boolean, do: one_of([true, false])

  defp source(%{current: :rows}), do: one_of([Leaf.var("__input"), Data.rows() |> Leaf.literal()])

  defp source(_scope) do
    frequency([
      {6, %{"op" => "load", "name" => one_of(["rows", "more", "empty"])}},
      {4, Leaf.literal(Data.rows())},
      {2, Leaf.literal(list_of(slim_row(), 20..50))},
      {1, %{"op" => "load", "name" => one_of(["user", "any", "odd", "nums"])}}
    ])
  end

  # Many of these fit into an error message.
  defp slim_row, do: %{"id" => Data.id(), "amount" => maybe(90, integer(-9..99))}

  defp made do
    frequency([
      {3, %{"op" => "select", "fields" => list_of(one_of(@fields), 0..3)}},
      {5, %{"op" => "map", "expr" => expr()}},
      {4,
       %{
         "op" => "sort_by",
         "field" => one_of(~w(id amount name)),
         "order" => maybe(70, one_of(["asc", "desc"]))
       }},
      {4, %{"op" => one_of(["filter", "reject"]), "where" => where()}},
      {1, %{"op" => one_of(["take", "drop"]), "count" => count()}},
      {1, %{"op" => "distinct"}}
    ])
  end

  defp kept do
    one_of([
      %{"op" => one_of(~w(first last count count))},
      %{"op" => "take", "count" => count()},
      %{"op" => "nth", "index" => count()}
    ])
  end

  defp count, do: frequency([{8, integer(0..4)}, {1, integer(5..40)}, {1, Integer.pow(2, 64)}])

  # Steps that can fail are before, after and inside steps that cannot.
  defp expr do
    lazy(fn ->
      frequency([
        {3, get(one_of(@fields))},
        {3, path()},
        {2, arithmetic()},
        {1, %{"op" => "eq", "field" => one_of(["id", nil]), "value" => Data.id()}},
        {1, %{"op" => "merge", "objects" => [get("nested"), input()]}},
        {1, %{"op" => "select", "fields" => ["id", "nested"]}},
        {1, %{"op" => "if", "condition" => get("active"), "then" => expr(), "else" => input()}},
        {1, %{"op" => "call", "tool" => "echo", "args" => %{"id" => Data.id()}}},
        {4, %{"op" => "object", "fields" => %{"id" => expr(), "x" => expr(), "n" => 1}}},
        {3, %{"id" => get("id"), "name" => get("name"), "amount" => get("amount")}}
      ])
    end)
  end

  defp where do
    lazy(fn ->
      frequency([
        {6, compare()},
        {3, %{"op" => one_of(["and", "or"]), "conditions" => list_of(compare(), 1..3)}},
        {1, %{"op" => "and", "conditions" => [compare(), get("active")]}},
        {1, get("active")}
      ])
    end)
  end

  defp compare do
    %{
      "op" => one_of(~w(eq neq gt gte lt lte)),
      "field" => one_of(~w(id amount name active nope)),
      "value" => one_of([Data.id(), Data.number(), Data.string(), true, nil])
    }
  end

  # The middle of the path is sometimes a number or a string.
  defp path, do: %{"op" => "get", "path" => one_of([["nested", "a"], ["nested", "a", "b"]])}

  # Missing and wrong fields fail; two literals fail for all items alike, or for none.
  defp arithmetic do
    operand = frequency([{3, get("amount")}, {2, get("id")}, {2, Data.number()}, {1, "a"}])

    %{
      "op" => one_of(~w(add sub mul div)),
      "left" => map(operand, &operand/1),
      "right" => map(operand, &operand/1)
    }
  end

  defp operand(value) when is_number(value) or is_map(value), do: value
  defp operand(value), do: Leaf.literal(value)

  defp get(field), do: %{"op" => "get", "field" => field}
  defp input, do: %{"op" => "var", "name" => "__input"}
end
