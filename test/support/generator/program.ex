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

  alias PtcRunner.Test.Generator.{Added, Consume, Data, Leaf, Template}

  @kinds [:rows, :row, :number, :string, :bool, :any]

  @type kind :: :rows | :row | :number | :string | :bool | :any
  @type scope :: %{
          depth: integer(),
          current: :absent | :null | kind(),
          names: [{String.t(), kind()}],
          edition: 1 | 2
        }

  # Half of the programs are one short pipe. It shows the details of the operations,
  # which the rest of a long program often hides.
  @doc "A whole program; `current` is the kind of `\"__input\"` in the memory, usually `:absent`."
  @spec program(:absent | kind(), 1 | 2) :: PtcRunner.Test.Random.generator(map())
  def program(current, edition \\ 1) do
    scope = %{depth: 0, current: current, names: [], edition: edition}

    deep =
      map({integer(1..5), one_of(@kinds)}, fn {n, kind} -> node(kind, %{scope | depth: n}) end)

    short = map(one_of(@kinds), &pipe(&1, scope))
    added = map(one_of(@kinds), &Added.grown(&1, %{scope | depth: 1}))

    if edition == 1, do: one_of([deep, short]), else: one_of([deep, short, added])
  end

  @doc "The edition of the program to which a scope belongs."
  @spec edition(scope()) :: 1 | 2
  def edition(scope), do: scope.edition

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
        {if(scope.edition == 2, do: 10, else: 0), lazy(fn -> Added.grown(kind, inner) end)},
        {18, consumer(kind, inner)},
        {1, node(:any, inner)}
      ])
    end)
  end

  defp consumer(kind, scope), do: lazy(fn -> consume(kind, scope) || grown(kind, scope) end)

  # In edition 2 half of the operations on the current value are new ones.
  defp consume(kind, %{edition: 1} = scope), do: Consume.node(kind, scope)

  defp consume(kind, scope) do
    case Enum.reject([Consume.node(kind, scope), Added.node(kind, scope)], &is_nil/1) do
      [] -> nil
      nodes -> one_of(nodes)
    end
  end

  ## Control: any kind

  defp control(kind, scope) do
    frequency([{3, choice(kind, scope)}, {8, bind(kind, scope)}, {2, pipe(kind, scope)}])
  end

  defp choice(kind, scope) do
    %{
      "op" => "if",
      "condition" => node(:bool, scope),
      "then" => Template.part(kind, scope),
      "else" => Template.part(kind, scope)
    }
  end

  defp bind(kind, scope) do
    map({one_of(@kinds), one_of(["x", "x", "x", "total", "__input"])}, fn {bound, name} ->
      body =
        if name == "__input",
          do: %{scope | current: bound},
          else: %{scope | names: [{name, bound} | List.keydelete(scope.names, name, 0)]}

      value = frequency([{8, Template.part(bound, scope)}, {1, Leaf.literal(nil)}])
      %{"op" => "let", "name" => name, "value" => value, "in" => Template.part(kind, body)}
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
          List.duplicate(lazy(fn -> consume(from, step) end), middle) ++
          [lazy(fn -> consume(kind, step) || node(kind, step) end)]

      %{"op" => "pipe", "steps" => steps}
    end)
  end

  # In edition 2 the first step gets the current value of the pipe.
  defp first_step(from, %{edition: 2, current: current} = scope) do
    inner = if current == :absent, do: %{scope | current: :null}, else: scope
    if current == from, do: one_of([%{"op" => "it"}, node(from, inner)]), else: node(from, inner)
  end

  # Only a direct `var "__input"` as the first step sees the outer current value.
  defp first_step(from, %{current: from} = scope) do
    one_of([Leaf.var("__input"), node(from, %{scope | current: :null})])
  end

  defp first_step(from, scope), do: node(from, %{scope | current: :null})

  ## Operations that build a value from others

  defp grown(:rows, scope) do
    frequency([
      {2, %{"op" => "concat", "lists" => list_of(Template.part(:rows, scope), 0..3)}},
      {4, pipe(:rows, scope)}
    ])
  end

  defp grown(:row, scope) do
    frequency([
      {3, fields(scope)},
      {3, %{"op" => "object", "fields" => fields(scope)}},
      {2, %{"op" => "merge", "objects" => list_of(Template.part(:row, scope), 0..3)}},
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
      {2, %{"op" => "zip", "lists" => list_of(Template.part(:rows, scope), 0..3)}},
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
