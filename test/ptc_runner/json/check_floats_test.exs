defmodule PtcRunner.Json.CheckFloatsTest do
  # A float where an integer is needed fails in each run: the check says so, and says nothing where a run succeeds.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Json

  @floats [
    ~s(2.5),
    ~s(2.0),
    ~s({"op": "round", "value": 2.5}),
    ~s({"op": "round", "value": 5}),
    ~s({"op": "round", "value": {"op": "load", "name": "n"}}),
    ~s({"op": "div", "left": 4, "right": 2}),
    ~s({"op": "pct", "part": 1, "whole": 2}),
    ~s({"op": "mul", "left": 2.5, "right": 2}),
    ~s({"op": "sub", "left": {"op": "load", "name": "n"}, "right": 0.5}),
    ~s({"op": "add", "left": {"op": "round", "value": {"op": "load", "name": "f"}}, "right": {"op": "load", "name": "f"}}),
    ~s({"op": "abs", "value": {"op": "div", "left": -4, "right": 2}}),
    ~s({"op": "if", "condition": {"op": "load", "name": "n"}, "then": {"op": "div", "left": 4, "right": 2}, "else": 0.5}),
    ~s({"op": "switch", "cases": [{"when": {"op": "eq", "left": 1, "value": {"op": "load", "name": "n"}}, "then": 1.5}], "else": 2.0}),
    ~s({"op": "let", "name": "v", "value": {"op": "round", "value": 2}, "in": {"op": "var", "name": "v"}}),
    ~s({"op": "get", "from": {"a": [{"op": "div", "left": 4, "right": 2}]}, "field": "a"})
    |> then(&~s({"op": "coalesce", "values": [{"op": "get", "from": #{&1}, "path": [0]}, 0.5]})),
    ~s({"op": "coalesce", "values": [null, {"op": "pct", "part": 1, "whole": 2}]}),
    ~s({"op": "coalesce", "values": [{"op": "pipe", "steps": [{"op": "load", "name": "rows"}, {"op": "avg", "expr": {"op": "it"}}]}, 0.5]})
  ]
  # Floats, or null where there are no items.
  @nullable for expr <- [
                  ~s({"op": "avg", "expr": {"op": "it"}}),
                  ~s({"op": "avg", "expr": {"op": "div", "left": {"op": "it"}, "right": 2}}),
                  ~s({"op": "median", "expr": {"op": "div", "left": {"op": "it"}, "right": 2}}),
                  ~s({"op": "max", "expr": {"op": "round", "value": {"op": "it"}}})
                ],
                do: ~s({"op": "pipe", "steps": [{"op": "load", "name": "rows"}, #{expr}]})
  @integers [
    "2",
    ~s({"op": "floor", "value": 2.5}),
    ~s({"op": "ceil", "value": {"op": "div", "left": 1, "right": 2}}),
    ~s({"op": "pipe", "steps": [{"op": "load", "name": "rows"}, {"op": "count"}]}),
    ~s({"op": "load", "name": "n"}),
    ~s({"op": "add", "left": 1, "right": 2}),
    # A number of the data may be an integer, and what is made of such numbers.
    ~s({"op": "load", "name": "f"}),
    ~s({"op": "add", "left": {"op": "load", "name": "f"}, "right": 1}),
    ~s({"op": "abs", "value": {"op": "load", "name": "f"}}),
    ~s({"op": "pipe", "steps": [{"op": "load", "name": "rows"}, {"op": "sum", "expr": {"op": "it"}}]}),
    ~s({"op": "coalesce", "values": [{"op": "pipe", "steps": [{"op": "load", "name": "rows"}, {"op": "max", "expr": {"op": "it"}}]}, 0]}),
    ~s({"op": "if", "condition": {"op": "load", "name": "n"}, "then": 2, "else": 0.5}),
    ~s({"op": "to_number", "value": "3"}),
    ~s({"op": "date_part", "value": "2024-01-02T03:04:05", "part": "second"}),
    ~s({"op": "pipe", "steps": [{"op": "load", "name": "rows"}, {"op": "median", "expr": {"op": "it"}}]})
  ]
  @context %{"n" => 7, "f" => 3, "rows" => [1, 2, 3]}
  @types %{"n" => ":int", "f" => ":float", "rows" => "[:int]"}

  # Programs that need an integer, and the codes of their findings.
  defp uses(value) do
    [
      {~s({"op": "call", "tool": "t", "args": {"n": #{value}}}), :wrong_argument},
      {~s({"op": "call", "tool": "o", "args": {"n": #{value}}}), :wrong_argument},
      {~s({"op": "range", "from": #{value}, "to": 9}), :wrong_integer},
      {~s({"op": "range", "from": 1, "to": #{value}}), :wrong_integer},
      {~s({"op": "mod", "left": #{value}, "right": 2}), :wrong_integer},
      {~s({"op": "mod", "left": 9, "right": #{value}}), :wrong_integer},
      {~s({"op": "date_add", "value": "2024-01-01", "amount": #{value}, "unit": "day"}),
       :wrong_integer}
    ]
  end

  defp tools do
    %{
      "t" => {& &1, "(n :int) -> :any"},
      "o" => {& &1, "(n :int?) -> :any"},
      "l" => {& &1, "(ns [:int]) -> :any"}
    }
  end

  test "floats are findings, and the runs fail" do
    uses =
      Enum.flat_map(@floats, &uses/1) ++
        (@nullable |> Enum.flat_map(&uses/1) |> Enum.reject(&optional?/1))

    for {node, code} <- uses, structs <- [:maps, :values] do
      program = ~s({"program": #{node}})
      opts = [tools: tools(), structs: structs]

      assert {:error, [%{code: ^code, message: message}]} =
               Json.check(program, [context: @types] ++ opts),
             node

      samples = Map.new(@context, fn {name, value} -> {name, {:sample, value}} end)
      assert {:error, [%{code: ^code}]} = Json.check(program, [context: samples] ++ opts)
      assert message =~ "int"

      assert {:error, _} =
               Json.run(
                 program,
                 [tools: validated(), context: @context] ++ Keyword.delete(opts, :tools)
               )
    end
  end

  defp optional?({node, _code}), do: node =~ ~s("tool": "o")

  test "an optional integer may be null, and a list may have a float: a warning" do
    for {args, value} <- [
          {~s({"n": %}), hd(@nullable)},
          {~s({"ns": {"op": "concat", "lists": [[{"op": "load", "name": "n"}], [%]]}}), "2.5"}
        ] do
      tool = if args =~ "ns", do: "l", else: "o"
      args = String.replace(args, "%", value)
      program = ~s({"program": {"op": "call", "tool": "#{tool}", "args": #{args}}})

      assert {:ok, %{warnings: [%{code: :maybe_wrong_argument}]}} =
               Json.check(program, tools: tools(), context: @types)
    end
  end

  test "where structs are values, what may be a decimal is no float" do
    decimal = %{__struct__: Decimal, sign: 1, coef: 25, exp: -1}

    for node <- [
          ~s({"op": "round", "value": {"op": "load", "name": "d"}}),
          ~s({"op": "div", "left": {"op": "load", "name": "d"}, "right": 2}),
          ~s({"op": "abs", "value": {"op": "div", "left": {"op": "load", "name": "d"}, "right": 2}}),
          ~s({"op": "mul", "left": {"op": "abs", "value": {"op": "load", "name": "d"}}, "right": {"op": "literal", "value": "1.19"}})
        ] do
      program = ~s({"program": {"op": "call", "tool": "d", "args": {"n": #{node}}}})
      opts = [tools: %{"d" => {& &1, "(n :any) -> :any"}}, structs: :values]

      for type <- [":any", {:sample, decimal}] do
        assert {:ok, _} = Json.check(program, [context: %{"d" => type}] ++ opts)
      end

      assert {:ok, %{"n" => %{coef: _}}, _, _} =
               Json.run(program, [context: %{"d" => decimal}] ++ opts)
    end
  end

  test "integers are none, and the runs succeed" do
    for value <- @integers, {node, _code} <- uses(value) do
      program = ~s({"program": #{node}})
      assert {:ok, _} = Json.check(program, tools: tools(), context: @types), node
      assert {:ok, _, _, _} = Json.run(program, tools: validated(), context: @context)
    end
  end

  test "an integer of a JSON Schema takes a float without a fraction" do
    {:ok, {:signature, [], {:map, params}}, _} =
      PtcRunner.SubAgent.Signature.from_json_schema(
        %{
          "type" => "object",
          "properties" => %{"n" => %{"type" => "integer"}},
          "required" => ["n"]
        },
        []
      )

    tool = %Tool{name: "t", fun: & &1, signature: {:signature, params, :any}}

    for value <- Enum.slice(@floats, 1, 6) ++ @integers do
      program = ~s({"program": {"op": "call", "tool": "t", "args": {"n": #{value}}}})
      assert {:ok, _} = Json.check(program, tools: %{"t" => tool}, context: @types), value
    end

    program = ~s({"program": {"op": "call", "tool": "t", "args": {"n": 2.5}}})
    assert {:error, [%{code: :wrong_argument}]} = Json.check(program, tools: %{"t" => tool})
  end

  test "a result that is a float without a fraction is converted, and no finding" do
    for value <- Enum.slice(@floats, 1, 6) do
      assert {:ok, _} =
               Json.check(~s({"program": {"op": "object", "fields": {"n": #{value}}}}),
                 returns: "{n :int}",
                 context: @types
               )
    end
  end

  defp validated do
    for {name, {fun, signature}} <- tools(), into: %{} do
      {name,
       %Tool{name: name, fun: fun, signature: PtcRunner.SubAgent.Signature.parsed!(signature)}}
    end
  end
end
