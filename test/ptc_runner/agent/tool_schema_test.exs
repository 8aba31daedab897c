defmodule PtcRunner.Agent.ToolSchemaTest do
  use ExUnit.Case, async: true

  import ExUnit.CaptureLog

  alias PtcRunner.Agent
  alias PtcRunner.Agent.ToolSchema
  alias PtcRunner.Test.Room

  doctest ToolSchema
  doctest ToolSchema.Merge
  doctest ToolSchema.Pointer
  doctest ToolSchema.Rules

  defp read(properties, more),
    do: %{"type" => "object", "properties" => properties} |> Map.merge(more) |> ToolSchema.read()

  # The type of one property, and the warnings.
  defp one(schema, more \\ %{}) do
    %{type: {_kind, [{"p", type}]}} =
      read = read(%{"p" => schema}, Map.put(more, "required", ["p"]))

    {type, read.warnings}
  end

  defp run(schema, args) do
    tool = ALLM.Tool.new(name: "t", description: "d", schema: schema, handler: &{:ok, &1})
    program = %{"program" => %{"op" => "call", "tool" => "t", "args" => args}}
    Agent.run(program, [tool])
  end

  test "annotations are ignored" do
    noise = %{
      "title" => "T",
      "$schema" => "https://json-schema.org/draft/2020-12/schema",
      "$id" => "x",
      "$comment" => "c",
      "format" => "date-time",
      "default" => 1,
      "examples" => [1],
      "minimum" => 1,
      "maxLength" => 3,
      "pattern" => "^a",
      "x-own" => %{"deep" => [1]},
      "deprecated" => true,
      "definitions" => %{"a" => 5}
    }

    for {name, type} <- [
          {"string", :string},
          {"integer", :int},
          {"number", :float},
          {"boolean", :bool}
        ] do
      assert one(Map.put(noise, "type", name)) == {type, []}
    end

    assert one(
             Map.merge(noise, %{
               "type" => "array",
               "items" => Map.put(noise, "type", "string"),
               "uniqueItems" => true
             })
           ) ==
             {{:list, :string}, []}

    others = ["format", "default", "minimum", "maxLength", "pattern"]

    schema =
      Map.merge(noise, %{
        "type" => "object",
        "properties" => %{"path" => noise |> Map.drop(others) |> Map.put("type", "string")},
        "required" => ["path"]
      })

    assert {:error, {:execution_error, text}, _told} = run(schema, %{})
    assert text =~ "path"
    assert {:ok, %{"path" => "a"}, %{warnings: []}} = run(schema, %{"path" => "a"})
    assert {:error, _, _} = run(schema, %{"path" => 1.5e300 |> List.wrap()})
  end

  test "rules of an ALLM tool hold, its defaults are filled in, and what is not kept is a warning" do
    schema = %{
      "type" => "object",
      "required" => ["n"],
      "properties" => %{
        "n" => %{"type" => "integer", "minimum" => 0, "exclusiveMaximum" => 9},
        "code" => %{"type" => "string", "pattern" => "^[A-Z]+$", "maxLength" => 3},
        "tags" => %{"type" => "array", "items" => %{"type" => "string"}, "uniqueItems" => true},
        "page" => %{"type" => "integer", "default" => 1},
        "id" => %{"type" => ["string", "integer"]},
        "host" => %{"type" => "string", "format" => "hostname"}
      }
    }

    log =
      capture_log(fn ->
        args = %{"n" => 0, "code" => "AB", "tags" => ["a"], "id" => 7, "host" => "x"}
        assert {:ok, value, info} = run(schema, args)
        assert value == Map.put(args, "page", 1)
        assert info.warnings == ["t: host is not validated by format"]

        for {wrong, told} <- [
              {%{"n" => -1}, "n: expected at least 0, got -1"},
              {%{"n" => 9}, "n: expected less than 9, got 9"},
              {%{"code" => "ab"}, ~s(code: expected a text that matches "^[A-Z]+$", got "ab")},
              {%{"code" => "ABCD"}, "code: expected at most 3 characters, got 4"},
              {%{"tags" => ["a", "a"]}, ~s(tags: expected different items, got "a" twice)},
              {%{"id" => true}, "id: expected string, got boolean true"}
            ] do
          assert {:error, {:execution_error, text}, _feedback} =
                   run(schema, Map.merge(args, wrong))

          assert text =~ told
        end
      end)

    assert log =~ "t: host is not validated by format"
  end

  test "null makes a place optional" do
    for schema <- [
          %{"type" => ["integer", "null"]},
          %{
            "anyOf" => [%{"type" => "integer"}, %{"type" => "null"}],
            "default" => nil,
            "title" => "P"
          },
          %{"oneOf" => [%{"type" => "null"}, %{"type" => "integer", "minimum" => 1}]},
          %{"anyOf" => [%{"type" => "integer"}, %{"const" => nil}]},
          %{"type" => "integer", "nullable" => true},
          %{"anyOf" => [%{"anyOf" => [%{"type" => "integer"}, %{"enum" => [nil]}]}]}
        ] do
      assert one(schema) == {{:optional, :int}, []}, inspect(schema)
    end

    assert one(%{"type" => ["integer", "number"]}) == {:float, []}

    assert one(%{"type" => "array", "items" => %{"type" => ["string", "null"]}}) ==
             {{:list, {:optional, :string}}, []}
  end

  test "enum and const" do
    for {schema, type, values} <- [
          {%{"enum" => ["a", "b"]}, :string, ["a", "b"]},
          {%{"type" => "string", "enum" => ["a", nil]}, {:optional, :string}, ["a"]},
          {%{"const" => 5}, :int, [5]},
          {%{"enum" => ["a", 1]}, :any, ["a", 1]},
          {%{"enum" => [[1], %{"a" => 1}]}, :any, [[1], %{"a" => 1}]},
          {%{
             "oneOf" => [
               %{"const" => "r", "title" => "Read"},
               %{"const" => "w"},
               %{"enum" => ["x"]}
             ]
           }, :string, ["r", "w", "x"]},
          {%{"type" => "array", "enum" => [[1]]}, :any, [[1]]}
        ] do
      read = read(%{"p" => schema}, %{"required" => ["p"]})

      assert {read.type, read.warnings, read.notes.enums} ==
               {{:map, [{"p", type}]}, [], %{"p" => values}}
    end

    schema = %{
      "type" => "object",
      "properties" => %{"mode" => %{"anyOf" => [%{"const" => "r"}, %{"const" => "w"}]}}
    }

    assert {:error, _error, told} = run(schema, %{"mode" => "x"})
    assert told =~ ~s(expected one of "r", "w", got "x")
    assert {:ok, _value, _info} = run(schema, %{"mode" => "r"})
  end

  test "references in the schema" do
    defs = %{
      "$defs" => %{
        "id" => %{"type" => "integer", "description" => "an id"},
        "a/b~c" => %{"type" => "string"},
        "chain" => %{"$ref" => "#/$defs/id"},
        "user" => %{
          "type" => "object",
          "properties" => %{"id" => %{"$ref" => "#/$defs/chain"}},
          "required" => ["id"]
        }
      }
    }

    assert one(%{"$ref" => "#/$defs/id"}, defs) == {:int, []}
    assert one(%{"$ref" => "#/%24defs/id", "description" => "mine"}, defs) == {:int, []}
    assert one(%{"$ref" => "#/$defs/a~1b~0c"}, defs) == {:string, []}
    assert one(%{"$ref" => "#/$defs/user"}, defs) == {{:map, [{"id", :int}]}, []}
    assert one(%{"allOf" => [%{"$ref" => "#/$defs/id"}], "default" => 1}, defs) == {:int, []}

    assert one(%{"anyOf" => [%{"$ref" => "#/$defs/id"}, %{"type" => "null"}]}, defs) ==
             {{:optional, :int}, []}

    assert read(%{"p" => %{"$ref" => "#/$defs/id"}}, defs).notes.descriptions == %{"p" => "an id"}
    root = %{"$ref" => "#/$defs/user"} |> Map.merge(defs) |> ToolSchema.read()
    assert root.type == {:map, [{"id", :int}]}

    for ref <- ["other.json", "#anchor", "#/$defs/none", "#/%zz", 5] do
      assert {:any, ["p is not validated: $ref (" <> _]} = one(%{"$ref" => ref}, defs)
    end
  end

  test "what cannot be kept is any, and a warning names the place" do
    assert {:any, ["p is not validated: anyOf"]} =
             one(%{"anyOf" => [%{"type" => "string"}, %{"type" => "integer"}]})

    assert {:any, ["p is not validated: type"]} = one(%{"type" => ["string", "integer"]})
    assert {:any, ["p is not validated: type"]} = one(%{"type" => "date"})
    assert {:any, ["p is not validated: the schema false"]} = one(false)
    assert {:any, []} = one(true)
    assert {:any, []} = one(%{})

    assert {:string, ["p is not validated by not"]} =
             one(%{"type" => "string", "not" => %{"const" => "a"}})

    assert {{:list, :any}, ["p: its items" <> _]} =
             one(%{"type" => "array", "prefixItems" => [%{}]})

    assert {:map, ["p: its other fields" <> _]} =
             one(%{"type" => "object", "additionalProperties" => %{"type" => "string"}})

    # The rest is validated.
    schema = %{
      "type" => "object",
      "required" => ["path"],
      "properties" => %{
        "path" => %{"type" => "string"},
        "at" => %{"anyOf" => [%{"type" => "object"}, %{"type" => "array"}]}
      }
    }

    log =
      capture_log(fn ->
        assert {:error, _error, told} = run(schema, %{"at" => 1})
        assert told =~ "path"
        assert {:ok, _value, info} = run(schema, %{"path" => "a", "at" => 1})
        assert info.warnings == ["t: at is not validated: anyOf"]
      end)

    assert log =~ "t: at is not validated: anyOf"
  end

  test "alternatives of objects keep what they share, and rules beside a type keep the type" do
    a = %{
      "type" => "object",
      "properties" => %{"kind" => %{"type" => "string"}, "a" => %{"type" => "integer"}},
      "required" => ["kind", "a"]
    }

    b = %{
      "type" => "object",
      "properties" => %{"kind" => %{"type" => "string"}, "b" => %{"type" => "string"}},
      "required" => ["kind"]
    }

    read = ToolSchema.read(%{"oneOf" => [a, b]})

    assert read.type ==
             {:map, [{"a", {:optional, :int}}, {"b", {:optional, :string}}, {"kind", :string}]}

    assert read.warnings == ["the object of arguments is not validated by oneOf"]
    assert {:error, _error, _told} = run(%{"oneOf" => [a, b]}, %{"a" => 1})

    either = Map.put(b, "anyOf", [%{"required" => ["a"]}, %{"required" => ["b"]}])
    assert %{type: {:map, [_, {"kind", :string}]}, warnings: [_]} = ToolSchema.read(either)
    both = ToolSchema.read(%{"allOf" => [a, b]})
    assert both.type == {:map, [{"a", :int}, {"b", {:optional, :string}}, {"kind", :string}]}
    assert both.warnings == []
    # Required, but declared nowhere.
    assert {:error, _error, _told} = run(%{"type" => "object", "required" => ["path"]}, %{})
    assert {:ok, _value, _info} = run(%{"type" => "object"}, %{"anything" => 1})
  end

  test "hostile schemas end soon" do
    ref = fn name -> %{"$ref" => "#/$defs/#{name}"} end
    object = fn properties -> %{"type" => "object", "properties" => properties} end
    tree = object.(%{"left" => ref.("tree"), "n" => %{"type" => "integer"}})

    bomb =
      for n <- 1..60,
          into: %{},
          do: {"b#{n}", object.(%{"x" => ref.("b#{n + 1}"), "y" => ref.("b#{n + 1}")})}

    chain = for n <- 1..5_000, into: %{}, do: {"c#{n}", ref.("c#{n + 1}")}

    deep =
      Enum.reduce(1..5_000, %{"type" => "string"}, fn _, inner -> object.(%{"d" => inner}) end)

    wide =
      for n <- 1..20_000,
          into: %{},
          do: {"w#{n}", %{"type" => "string", "enum" => ["a"], "description" => "d"}}

    all = %{"allOf" => for(n <- 1..20_000, do: object.(%{"p#{n}" => %{}}))}

    nested =
      Enum.reduce(1..5_000, %{"type" => "string"}, fn _, inner ->
        %{"anyOf" => [inner, %{"type" => "null"}]}
      end)

    many = %{"anyOf" => for(n <- 1..20_000, do: object.(%{"p#{n}" => %{"type" => "string"}}))}

    for {name, properties, defs} <- [
          {:itself, %{"p" => %{"$ref" => "#"}}, %{}},
          {:loop, %{"p" => ref.("a")}, %{"a" => ref.("b"), "b" => ref.("a")}},
          {:tree, %{"p" => ref.("tree")}, %{"tree" => tree}},
          {:bomb, %{"p" => ref.("b1")}, bomb},
          {:chain, %{"p" => ref.("c1")}, chain},
          {:deep, %{"p" => deep}, %{}},
          {:wide, wide, %{}},
          {:all, %{"p" => all}, %{}},
          {:nested, %{"p" => nested}, %{}},
          {:many, %{"p" => many}, %{}},
          {:many_bombs, for(n <- 1..100, into: %{}, do: {"p#{n}", ref.("b1")}), bomb},
          {:references_in_all, %{"p" => %{"allOf" => List.duplicate(ref.("b1"), 90)}}, bomb}
        ] do
      {ms, read} = Room.least_ms(3_000, fn -> read(properties, %{"$defs" => defs}) end)
      assert {name, ms < 3_000} == {name, true}
      assert {:map, [_ | _]} = read.type
      assert length(read.warnings) <= 21
      if name not in [:wide, :nested], do: assert({name, read.warnings} != {name, []})
    end

    # A tree is validated down to the place where it contains itself.
    assert {{:map, [{"left", {:optional, :any}}, {"n", {:optional, :int}}]}, [warning]} =
             one(ref.("tree"), %{"$defs" => %{"tree" => tree}})

    assert warning == "p.left is not validated: $ref (it contains itself)"
  end
end
