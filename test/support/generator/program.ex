defmodule PtcRunner.Test.Generator.Program do
  @moduledoc false
  # Random meaningful programs. Every node is generated for the kind of value that it should
  # have, in a scope that knows the kinds of the current value and of the bound names:
  #
  #     :rows  list of row maps      :row   such a map       :any  any value
  #     :number  :string  :bool
  #
  # A kind is not guaranteed (fields may be missing, and sometimes a node of another
  # kind is used), so programs also fail as real ones do.

  import PtcRunner.Test.Random

  alias PtcRunner.Test.Generator.{Consume, Data, Leaf}

  @kinds [:rows, :row, :number, :string, :bool, :any]

  @type kind :: :rows | :row | :number | :string | :bool | :any
  @type scope :: %{
          depth: integer(),
          current: :absent | :null | kind(),
          names: [{String.t(), kind()}]
        }

  # Half of the programs are one short pipe. It shows the details of the operations,
  # which the rest of a long program often hides.
  @doc "A whole program; `current` is the kind of `\"__input\"` in the memory, usually `:absent`."
  @spec program(:absent | kind()) :: PtcRunner.Test.Random.generator(map())
  def program(current) do
    scope = %{depth: 0, current: current, names: []}

    frequency([
      {1,
       map({integer(1..5), one_of(@kinds)}, fn {n, kind} -> node(kind, %{scope | depth: n}) end)},
      {1, map(one_of(@kinds), &pipe(&1, scope))}
    ])
  end

  @doc "A node whose value should be of this kind."
  @spec node(kind(), scope()) :: PtcRunner.Test.Random.generator(term())
  def node(kind, %{depth: 0} = scope), do: Leaf.node(kind, scope)

  def node(kind, scope) do
    inner = %{scope | depth: scope.depth - 1}

    lazy(fn ->
      frequency([
        {2, Leaf.node(kind, scope)},
        {4, control(kind, inner)},
        {14, grown(kind, inner)},
        {18, consumer(kind, inner)},
        {1, node(:any, inner)}
      ])
    end)
  end

  defp consumer(kind, scope) do
    lazy(fn -> Consume.node(kind, scope) || grown(kind, scope) end)
  end

  ## Control: any kind

  defp control(kind, scope) do
    frequency([{3, choice(kind, scope)}, {8, bind(kind, scope)}, {2, pipe(kind, scope)}])
  end

  defp choice(kind, scope) do
    %{
      "op" => "if",
      "condition" => node(:bool, scope),
      "then" => node(kind, scope),
      "else" => node(kind, scope)
    }
  end

  defp bind(kind, scope) do
    map({one_of(@kinds), one_of(["x", "x", "x", "total", "__input"])}, fn {bound, name} ->
      body =
        if name == "__input",
          do: %{scope | current: bound},
          else: %{scope | names: [{name, bound} | List.keydelete(scope.names, name, 0)]}

      value = frequency([{8, node(bound, scope)}, {1, Leaf.literal(nil)}])
      %{"op" => "let", "name" => name, "value" => value, "in" => node(kind, body)}
    end)
  end

  @doc "A pipe that ends in a value of this kind."
  @spec pipe(kind(), scope()) :: PtcRunner.Test.Random.generator(map())
  def pipe(kind, scope) do
    from = frequency([{6, {:rows, integer(0..2)}}, {2, {:row, integer(0..1)}}, {1, {:any, 0}}])

    map(from, fn {from, middle} ->
      step = %{scope | current: from}

      steps =
        [first_step(from, scope)] ++
          List.duplicate(Consume.node(from, step), middle) ++
          [Consume.node(kind, step) || node(kind, step)]

      %{"op" => "pipe", "steps" => steps}
    end)
  end

  # Only a direct `var "__input"` as the first step sees the outer current value.
  defp first_step(from, %{current: from} = scope) do
    one_of([Leaf.var("__input"), node(from, %{scope | current: :null})])
  end

  defp first_step(from, scope), do: node(from, %{scope | current: :null})

  ## Operations that build a value from others

  defp grown(:rows, scope) do
    frequency([
      {2, %{"op" => "concat", "lists" => list_of(node(:rows, scope), 0..3)}},
      {4, pipe(:rows, scope)}
    ])
  end

  defp grown(:row, scope) do
    frequency([
      {3, fields(scope)},
      {3, %{"op" => "object", "fields" => fields(scope)}},
      {2, %{"op" => "merge", "objects" => list_of(node(:row, scope), 0..3)}},
      {2, pipe(:row, scope)}
    ])
  end

  defp grown(:number, scope) do
    operand = frequency([{3, node(:number, scope)}, {1, Data.number()}])
    rounded = frequency([{2, operand}, {1, Data.edge_of_rounding()}])

    frequency([
      {8, %{"op" => one_of(~w(add sub mul div)), "left" => operand, "right" => operand}},
      {1, %{"op" => "pct", "part" => operand, "whole" => operand}},
      {2, %{"op" => "round", "value" => rounded, "precision" => precision()}},
      {8, pipe(:number, scope)}
    ])
  end

  defp grown(:string, scope), do: pipe(:string, scope)

  defp grown(:bool, scope) do
    frequency([
      {3, %{"op" => one_of(["and", "or"]), "conditions" => list_of(node(:bool, scope), 0..3)}},
      {2, %{"op" => "not", "condition" => node(:bool, scope)}},
      {4, pipe(:bool, scope)}
    ])
  end

  defp grown(:any, scope) do
    literals = Leaf.literal(list_of(Data.any(), 0..3))

    frequency([
      {3, map(one_of(@kinds -- [:any]), &grown(&1, scope))},
      {2, pipe(:any, scope)},
      {2, %{"op" => "zip", "lists" => list_of(node(:rows, scope), 0..3)}},
      {1, %{"op" => "concat", "lists" => [node(:rows, scope), literals]}}
    ])
  end

  defp fields(scope) do
    {number, string} = {node(:number, scope), node(:string, scope)}

    frequency([
      {3, %{"id" => number, "name" => string, "amount" => number}},
      {2, %{"result" => node(:any, scope), "items" => node(:rows, scope)}},
      {1, %{"active" => node(:bool, scope), "nested" => %{"a" => [%{"op" => "count"}]}}},
      {1, %{"__input" => Data.any(), "tags" => Data.any(), "id" => integer(1..4)}}
    ])
  end

  defp precision do
    maybe(80, frequency([{12, integer(0..4)}, {4, 15}, {1, one_of([16, -1, nil, 1.0])}]))
  end
end
