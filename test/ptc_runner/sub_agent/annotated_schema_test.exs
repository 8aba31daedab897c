defmodule PtcRunner.SubAgent.AnnotatedSchemaTest do
  # Schemas of arguments, the strict form, enumerations and descriptions; and the way back.
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.TypeResolver

  doctest PtcRunner.SubAgent.Signature.JsonSchema

  @signature "(id :int, notes [{text :string, at :datetime?}]?) -> [{status :string, n :float?}]"

  test "the arguments' schema without options is that of their map" do
    {:ok, {:signature, params, _returns}} = Signature.parse(@signature)

    assert Signature.input_json_schema(@signature) ==
             Signature.type_to_json_schema({:map, params})

    assert Signature.input_json_schema("() -> :int") ==
             %{
               "type" => "object",
               "properties" => %{},
               "required" => [],
               "additionalProperties" => false
             }
  end

  test "options that say nothing change nothing" do
    for type <- [:int, :any, {:list, {:map, [{"a", {:optional, :bool}}]}}, {:closed_map, []}] do
      assert Signature.type_to_json_schema(type, strict: false, enums: %{}) ==
               Signature.type_to_json_schema(type)
    end
  end

  test "strict: every property is required, at every depth, and optional ones are nullable" do
    schema = Signature.input_json_schema(@signature, strict: true)
    assert schema["required"] == ["id", "notes"]
    notes = schema["properties"]["notes"]
    assert notes["type"] == ["array", "null"]
    assert notes["items"]["required"] == ["text", "at"]
    assert notes["items"]["properties"]["at"] == %{"type" => ["string", "null"]}
    assert notes["items"]["additionalProperties"] == false
  end

  test "there is no strict form of what is not declared" do
    for {signature, place} <- [
          {"(data :map) -> :int", "data"},
          {"(rows [{x :any}]) -> :int", "rows.x"}
        ] do
      assert_raise ArgumentError, ~r/strict: true needs declared fields, and #{place} is/, fn ->
        Signature.input_json_schema(signature, strict: true)
      end
    end
  end

  test "enumerations and descriptions, below a list that is wrapped" do
    opts = [enums: %{"status" => ["open", "closed"]}, descriptions: %{"n" => "in euros"}]
    schema = Signature.to_json_schema(@signature, opts)
    fields = schema["properties"]["items"]["items"]["properties"]
    assert fields["status"] == %{"type" => "string", "enum" => ["open", "closed"]}
    assert fields["n"] == %{"type" => "number", "description" => "in euros"}

    strict = Signature.to_json_schema("{s :string?}", strict: true, enums: %{"s" => ["a"]})
    assert strict["properties"]["s"] == %{"type" => ["string", "null"], "enum" => ["a", nil]}
  end

  test "paths and values that are wrong raise" do
    for opts <- [
          [enums: %{"stats" => ["open"]}],
          [enums: %{"status" => "open"}],
          [enums: %{"status" => []}],
          [enums: %{status: ["open"]}],
          [enums: ["open"]],
          [descriptions: %{"status" => 1}],
          [strict: 1],
          [strikt: true]
        ] do
      assert_raise ArgumentError, fn -> Signature.to_json_schema(@signature, opts) end
    end
  end

  test "what a schema says comes back as options that give the schema again" do
    opts = [
      enums: %{"status" => ["open", "closed"], "rows.kind" => [1, 2]},
      descriptions: %{"rows" => "all of them", "status" => "as of now"}
    ]

    type =
      {:closed_map,
       [
         {"rows", {:list, {:closed_map, [{"kind", :int}, {"x", {:optional, :float}}]}}},
         {"status", {:optional, :string}}
       ]}

    for strict? <- [true, false] do
      schema = Signature.type_to_json_schema(type, [{:strict, strict?} | opts])
      assert {:ok, ^type, found} = Signature.from_json_schema(schema, annotations: true)
      assert Enum.sort(found) == Enum.sort(opts)
    end
  end

  test "an enumeration without a type has that of its values, or none" do
    read = &Signature.from_json_schema(&1, annotations: true)
    assert {:ok, :string, enums: %{"" => ["a"]}, descriptions: %{}} = read.(%{"enum" => ["a"]})
    assert {:ok, :int, _notes} = read.(%{"enum" => [1, 2, nil]})
    assert {:error, _} = read.(%{"enum" => [1, "a"]})
    assert {:error, _} = read.(%{"type" => ["string", "integer"]})
    assert {:error, _} = read.(%{"type" => "null"})
    assert {:error, _} = read.([])

    # without the option nothing has changed
    schema = %{"type" => "string", "enum" => ["a"]}

    assert Signature.from_json_schema(schema) ==
             Signature.from_json_schema(schema, annotations: false)

    assert {:error, "unsupported JSON Schema key(s): enum"} = Signature.from_json_schema(schema)
  end

  test "a text is taken wherever a signature is" do
    assert Signature.validate("(x :int) -> {n :int}", %{"n" => 1}) == :ok
    assert Signature.validate_input("(x :int) -> :int", %{"x" => 1}) == :ok
    assert Signature.render("( x  :int )->:int") == "(x :int) -> :int"
    assert Signature.to_json_schema(":int") == %{"type" => "integer"}
    assert Signature.returns_list?("[:int]")
    assert Signature.public_view("{_a :int}") == {:signature, [], {:map, []}}
    assert TypeResolver.resolve_path("(x {y :int}) -> :int", ["x", "y"]) == {:ok, :int}
    assert TypeResolver.list_element_type("(x [:int]) -> :int", "x") == {:ok, :int}

    for call <- [&Signature.validate(&1, 1), &Signature.render/1, &Signature.returns_list?/1] do
      assert_raise ArgumentError, ~r/invalid signature: .*integer/, fn ->
        call.("(x :integer)")
      end
    end
  end
end
