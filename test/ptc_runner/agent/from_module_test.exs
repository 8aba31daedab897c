defmodule PtcRunner.Agent.FromModuleTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Json.Codec
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.Test.ToolsOfModule, as: Shop

  defp all do
    {:ok, tools, dropped} = Tool.from_module(Shop, except: [twice: 1])
    {Map.new(tools, &{&1.name, &1}), dropped}
  end

  defp run(tools, name, args) do
    program = %{"program" => %{"op" => "call", "tool" => name, "args" => args}}
    PtcRunner.Json.run(Codec.encode!(program), tools: tools)
  end

  test "signatures and descriptions" do
    {tools, _} = all()
    shown = for {name, tool} <- tools, into: %{}, do: {name, Signature.render(tool.signature)}
    assert Map.keys(shown) == ~w(bare first now orders place size strange twice)

    assert shown["orders"] ==
             "(customer :int, status :keyword?, since :string?, opts :any?) -> [:map]"

    assert shown["place"] ==
             "(customer :int, items [{count :int, sku :string}], note :string?) -> :int"

    assert shown["size"] == "(map :map) -> :int"
    assert shown["now"] == "-> :datetime"
    assert shown["first"] =~ "[:int]) -> :int?"
    assert shown["bare"] == "(left :any, right :any) -> :any"
    assert tools["orders"].description == "The orders of a customer."
    assert Enum.all?(tools, fn {_, tool} -> tool.effect == :write end)
  end

  test "what is not validated, and what is left out" do
    {_, dropped} = all()
    assert "#{inspect(Shop)}.quiet/0 is left out: it has no @doc" in dropped
    refute Enum.any?(dropped, &(&1 =~ "hidden"))
    assert "bare: it has no @spec: its arguments are not validated" in dropped
    assert Enum.any?(dropped, &(&1 =~ "place: items.count is not validated by pos_integer"))
    strange = for "strange: " <> line <- dropped, do: line

    assert Enum.sort(strange) == [
             "a is not validated by pid",
             "arg is not validated by tuple",
             "c is not validated by range",
             "d is not validated by union",
             "e is not validated by fun"
           ]
  end

  test "calls with positions, defaults, structs, dates and atoms" do
    {tools, _} = all()

    orders = fn args ->
      with {:ok, [%{"is" => is}], _, _} <- run(tools, "orders", args), do: is
    end

    assert orders.(%{"customer" => 1}) == "{1, :open, nil, []}"
    assert orders.(%{"customer" => 1, "status" => "closed"}) == "{1, :closed, nil, []}"

    assert orders.(%{"customer" => 1, "status" => "closed", "since" => "2026-01-02"}) ==
             "{1, :closed, ~D[2026-01-02], []}"

    assert {:error, error} = orders.(%{"customer" => 1, "opts" => [1]})
    assert inspect(error) =~ "status must be given if opts is"
    assert {:error, _} = orders.(%{"status" => "open"})
    assert {:error, error} = orders.(%{"customer" => 1, "status" => "no_atom_of_this_name"})
    assert inspect(error) =~ "no_atom_of_this_name"
    assert_raise ArgumentError, fn -> String.to_existing_atom("no_atom_of" <> "_this_name") end

    assert {:ok, 8, _, _} =
             run(tools, "place", %{"customer" => 7, "items" => [%{"sku" => "a", "count" => 1}]})

    assert {:error, error} = run(tools, "place", %{"customer" => 7, "items" => []})
    assert inspect(error) =~ ":error"
    assert {:ok, 1, _, _} = run(tools, "size", %{"map" => %{"a" => 1}})
    assert {:ok, ~U[2026-11-23 11:00:00Z], _, _} = run(tools, "now", %{})
    assert {:ok, "1-2", _, _} = run(tools, "bare", %{"left" => 1, "right" => 2})
    assert {:ok, 3, _, _} = run(tools, "twice", %{"one" => 1, "two" => 2})
  end

  test "a signature that is put in the place of the spec's is the one that counts" do
    {tools, _} = all()

    own = %{
      tools["orders"]
      | signature: "(customer :int, status :string, since :string?, opts :any?) -> :any"
    }

    [tool] = Tool.list!([own])
    assert tool.spec == nil
    [same] = Tool.list!([tools["orders"]])
    assert same.spec == tools["orders"].spec
  end

  test "which functions" do
    assert {:ok, [%{name: "now"}, %{name: "size"}], []} =
             Tool.from_module(Shop, only: [:size, now: 0])

    assert {:ok, [%{name: "hidden"}], _} = Tool.from_module(Shop, only: [:hidden])

    assert {:ok, [%{name: "now"}], []} =
             Tool.from_module(Shop, only: [:size, :now], except: [:size])

    assert {:ok, [short], _} = Tool.from_module(Shop, only: [orders: 1])
    assert short.fun.(%{"arg1" => 5}) == {:ok, [%{"is" => "{5, :open, nil, []}"}]}
  end

  test "errors" do
    assert {:error, collision} = Tool.from_module(Shop)

    assert collision ==
             "#{inspect(Shop)}.twice/2 has the name of #{inspect(Shop)}.twice/1: \"twice\""

    assert {:error, why} = Tool.from_module(Shop, only: [now: 3])
    assert why =~ "has no public function now/3"

    for bad <- [No.Such.Module, nil, 1, "Shop"],
        do: assert({:error, "the tools are functions of a module" <> _} = Tool.from_module(bad))

    for bad <- [[only: 1], [only: [1]], [only: [:a | :b]]],
        do: assert({:error, "the options only:" <> _} = Tool.from_module(Shop, bad))

    for bad <- [[other: []], 1],
        do: assert_raise(ArgumentError, fn -> Tool.from_module(Shop, bad) end)

    {:module, in_memory, _, _} = defmodule(InMemory, do: def(one(a), do: a))
    assert {:error, why} = Tool.from_module(in_memory)
    assert why =~ "has no docs"

    assert {:ok, [%{name: "one"}], ["one: it has no @spec" <> _]} =
             Tool.from_module(in_memory, only: [:one])

    assert {:ok, [%{name: "reverse"}], _} = Tool.from_module(:lists, only: [reverse: 1])
  end

  test "an agent takes the list, and the model reads the types" do
    {:ok, tools, _} = Tool.from_module(Shop, only: [:orders])
    prompt = PtcRunner.Agent.prompt(tools: tools)

    assert prompt =~
             "- orders(customer :int, status :keyword?, since :string?, opts :any?) -> [:map]"

    program =
      ~s({"program": {"op": "pipe", "steps": [{"op": "call", "tool": "orders", "args": {"customer": 4}}, {"op": "count"}]}})

    assert {:ok, 1, _} = PtcRunner.Agent.run(program, tools)
  end
end
