defmodule PtcRunner.Test.Generator.Leaf do
  @moduledoc false
  # Nodes without sub-expressions: values of the context, of the memory, of names that are
  # bound around them, of tools, and constants.

  import PtcRunner.Test.Random

  alias PtcRunner.Test.Generator.{Data, Program}

  @doc "A node without sub-expressions whose value should be of this kind."
  @spec node(Program.kind(), Program.scope()) :: PtcRunner.Test.Random.generator(map())
  def node(kind, scope) do
    lazy(fn ->
      frequency(
        [{3, source(kind)}] ++
          for({name, ^kind} <- scope.names, do: {4, var(name)}) ++
          if(scope.current == kind, do: [{3, var("__input")}], else: [])
      )
    end)
  end

  defp source(:rows) do
    frequency([
      {6, load(one_of(["rows", "more"]))},
      {1, load("empty")},
      {1, var("cache")},
      {2, call("rows")},
      {2, literal(Data.rows())}
    ])
  end

  defp source(:row) do
    frequency([{4, load("user")}, {2, call("echo")}, {2, literal(Data.row())}])
  end

  defp source(:number) do
    frequency([{3, load("n")}, {4, literal(Data.number())}, {1, literal(Data.enormous())}])
  end

  defp source(:string), do: one_of([load("s"), literal(Data.string())])
  defp source(:bool), do: one_of([load("flag"), literal(one_of([true, false]))])

  defp source(:any) do
    tool = frequency([{6, one_of(["echo", "odd"])}, {1, one_of(~w(fail boom throws exits))}])

    frequency([
      {2, load(one_of(["any", "odd", "nums", "wide", "__input"]))},
      {2, var(one_of(["total", "seen", "__input"]))},
      {2, literal(Data.any())},
      {1, literal(%{"op" => "count"})},
      {1, call(tool)}
    ])
  end

  defp load(name), do: %{"op" => "load", "name" => name}

  @doc "Reads a bound or remembered value."
  @spec var(PtcRunner.Test.Random.template()) :: map()
  def var(name), do: %{"op" => "var", "name" => name}

  @doc "A constant."
  @spec literal(PtcRunner.Test.Random.template()) :: map()
  def literal(value), do: %{"op" => "literal", "value" => value}

  defp call(tool) do
    args = one_of([%{}, %{"id" => Data.any()}, %{"op" => "count", "result" => Data.number()}])
    %{"op" => "call", "tool" => tool, "args" => maybe(80, args)}
  end
end
