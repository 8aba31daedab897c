defmodule PtcRunner.Test.Generator.Template do
  @moduledoc false
  # Templates of edition 2: nodes, constants, and maps and lists of both.

  import PtcRunner.Test.Random

  alias PtcRunner.Test.Generator.{Data, Leaf, Program}

  @doc "A node in edition 1; in edition 2 also a constant, or a map or a list of templates."
  @spec part(Program.kind(), Program.scope()) :: PtcRunner.Test.Random.generator(term())
  def part(kind, scope) do
    if Program.edition(scope) == 1, do: Program.node(kind, scope), else: template(kind, scope)
  end

  @doc "A template whose value should be of this kind."
  @spec template(Program.kind(), Program.scope()) :: PtcRunner.Test.Random.generator(term())
  def template(kind, scope) do
    lazy(fn ->
      frequency([{6, Program.node(kind, scope)}, {2, constant(kind)}, {3, made(kind, scope)}])
    end)
  end

  defp made(:row, scope), do: fields(scope)
  defp made(:rows, scope), do: lazy(fn -> list_of(fields(smaller(scope)), 0..3) end)

  defp made(:any, scope) do
    inner = smaller(scope)

    one_of([
      lazy(fn -> list_of(template(:any, inner), 0..3) end),
      lazy(fn -> %{"deep" => %{"list" => [1, template(:any, inner)]}} end),
      %{"op" => one_of([5, nil, true]), "v" => lazy(fn -> template(:any, inner) end)},
      %{"__input" => Data.any(), "n" => lazy(fn -> template(:number, inner) end)},
      Leaf.literal(%{"op" => "it"})
    ])
  end

  defp made(kind, scope), do: Program.node(kind, scope)

  @doc "An object whose values are templates; its own key `op` has no meaning where such an object must stand."
  @spec fields(Program.scope()) :: PtcRunner.Test.Random.generator(map())
  def fields(scope) do
    inner = smaller(scope)

    lazy(fn ->
      %{
        "id" => maybe(80, template(:number, inner)),
        "name" => maybe(40, template(:string, inner)),
        "amount" => maybe(40, template(:number, inner)),
        "more" => maybe(20, template(:any, inner))
      }
    end)
  end

  @doc "Such an object, of which any key may be `op`."
  @spec any_fields(Program.scope()) :: PtcRunner.Test.Random.generator(map())
  def any_fields(scope) do
    frequency([
      {8, fields(scope)},
      {1, lazy(fn -> %{"op" => template(:string, smaller(scope))} end)},
      {1, %{}}
    ])
  end

  defp smaller(scope), do: %{scope | depth: max(scope.depth - 1, 0)}

  defp constant(:number), do: Data.number()
  defp constant(:string), do: Data.string()
  defp constant(:bool), do: one_of([true, false, nil])
  defp constant(:rows), do: list_of(%{"id" => Data.id(), "amount" => Data.number()}, 0..3)
  defp constant(:row), do: %{"id" => Data.id(), "name" => Data.string()}
  defp constant(:any), do: one_of([nil, true, Data.number(), Data.string(), [], %{}])
end
