defmodule PtcRunner.Schema2Test do
  # The schemas and the prompt of edition 2. `bin/schema-check` validates the golden programs against the schemas.
  use ExUnit.Case, async: true

  alias PtcRunner.{Json, Schema}
  alias PtcRunner.Json.Codec
  alias PtcRunner.Schema.{Families, Prompt2, Table}
  alias PtcRunner.Test.{Nulls, Vectors}

  @keywords ~w(type properties required additionalProperties items anyOf enum $ref $defs description)

  defp schemas do
    [
      Schema.to_json_schema(edition: 2),
      Schema.to_llm_schema(edition: 2),
      Schema.to_llm_schema(edition: 2, optional: :null),
      Schema.to_llm_schema(edition: 2, operations: [])
    ]
  end

  defp operations(schema), do: schema["$defs"]["operation"]["anyOf"]

  defp name(%{"properties" => %{"op" => %{"enum" => [name]}}}), do: name
  defp name(%{"properties" => %{"op" => %{"const" => name}}}), do: name

  # Every schema inside a schema, with itself.
  defp parts(schema) do
    below =
      Map.values(schema["properties"] || %{}) ++
        Map.values(schema["$defs"] || %{}) ++
        (schema["anyOf"] || []) ++
        for(key <- ["items", "additionalProperties"], is_map(schema[key]), do: schema[key])

    [schema | Enum.flat_map(below, &parts/1)]
  end

  describe "the schemas" do
    test "have each operation of the edition" do
      all = Schema.valid_operation_names(edition: 2)
      assert "list" in all
      assert Enum.map(operations(Schema.to_json_schema(edition: 2)), &name/1) == all
      assert Enum.map(operations(Schema.to_llm_schema(edition: 2)), &name/1) == all
    end

    test "close every object, or give its values a type" do
      for schema <- schemas(), %{"type" => "object"} = object <- parts(schema) do
        case object["additionalProperties"] do
          false -> assert Enum.all?(object["required"], &is_map_key(object["properties"], &1))
          %{"$ref" => _} -> :ok
          %{"type" => "string"} -> :ok
        end
      end
    end

    test "give every property a type" do
      for schema <- schemas(), part <- parts(schema) do
        assert is_binary(part["type"]) or is_binary(part["$ref"]) or is_list(part["anyOf"]),
               inspect(part)

        # a reference stands alone
        if part["$ref"], do: assert(map_size(part) == 1)
        if part["type"] == "array", do: assert(is_map(part["items"]))
      end
    end

    test "for structured outputs have only keywords that providers know" do
      for schema <- tl(schemas()),
          part <- parts(schema),
          do: assert(Map.keys(part) -- @keywords == [])

      for schema <- schemas() do
        assert schema["type"] == "object"
        references = for %{"$ref" => "#/$defs/" <> name} <- parts(schema), do: name
        assert Enum.uniq(references) -- Map.keys(schema["$defs"]) == []
        assert {:ok, _text} = Codec.encode(schema)
      end
    end

    test "with all fields required have two forms of call" do
      operations = operations(Schema.to_llm_schema(edition: 2, optional: :null))
      for form <- operations, do: assert(length(form["required"]) == map_size(form["properties"]))

      assert [without, with_error] = for(form <- operations, name(form) == "call", do: form)
      assert without["required"] == ["op", "args", "tool"]
      assert with_error["required"] == ["op", "args", "on_error", "tool"]
      assert length(operations) == length(Schema.valid_operation_names(edition: 2)) + 1
    end

    test "have only the families that were chosen" do
      names = fn families ->
        operations(Schema.to_llm_schema(edition: 2, operations: families)) |> Enum.map(&name/1)
      end

      always = names.([])
      for name <- ~w(load pipe filter eq sum get sort_by list), do: assert(name in always)
      for name <- ~w(add call object typeof), do: refute(name in always)
      assert "add" in names.([:numbers])
      assert names.(Families.all()) == names.(:all)

      for wrong <- [[:nope], :text, "text", [:text | :dates]] do
        assert_raise ArgumentError, ~r/must be :all or a list of families/, fn ->
          Schema.to_llm_schema(edition: 2, operations: wrong)
        end
      end
    end

    @tag :edition_2
    test "null in every optional field changes no result" do
      for %{program: text, opts: opts} = vector <- Vectors.read("ptc_json_edition_2"),
          is_binary(text) and vector.tools == %{} and Keyword.get(opts, :edition, 2) == 2,
          match?({:ok, _}, Json.compile(text, edition: 2, strict: true)) do
        options = [edition: 2, context: vector.context, memory: vector.memory] ++ opts
        {:ok, program} = Codec.decode(text)
        nulls = Nulls.filled(program)
        assert {nulls, Json.run(nulls, options)} == {nulls, Json.run(program, options)}
      end
    end
  end

  describe "the prompt" do
    test "has at most 6 KB" do
      assert byte_size(Schema.to_prompt(edition: 2)) <= 6_144
      assert byte_size(Schema.to_prompt(edition: 2, examples: 0)) <= 5_000
      assert byte_size(Schema.to_prompt(edition: 2, examples: 0, operations: [])) <= 3_500
    end

    test "names every operation, and what it needs" do
      prompt = Schema.to_prompt(edition: 2, examples: 0)
      [_intro, rest] = String.split(prompt, "## Operations\n")
      [list | _rules] = String.split(rest, "\n\n")
      named = Regex.scan(~r/[a-z_]+/, list) |> List.flatten()
      assert Schema.valid_operation_names(edition: 2) -- named == []

      for operation <- Table.operations(2), field <- Table.required(operation) do
        assert field in named, "#{operation.name}.#{field}"
      end
    end

    test "says which fields are never computed" do
      prompt = Schema.to_prompt(edition: 2, examples: 0)
      [_before, rest] = String.split(prompt, "Never computed: ")
      [never | _rest] = String.split(rest, ". All others")
      computed = [:template, :expr, :text, :cases, :sort_keys]

      types =
        computed ++
          for(kind <- [:list, :list_or_node, :map], type <- [:template, :expr], do: {kind, type})

      for %{name: name, fields: fields} <- Table.operations(2), field <- fields do
        plain? = field.type not in types and field.type != :boolean
        # Of some operations only: they are named.
        named? = never =~ ~r/\b#{field.name}\b/
        shared = field.name in ~w(left right value part fields)
        if plain?, do: assert(named?, "#{name}.#{field.name}")
        if named? and not shared, do: assert(plain?, "#{name}.#{field.name}")
      end

      for about <- [
            "value of literal",
            "part of date_part",
            "fields of select, unset, rename and group_by"
          ],
          do: assert(never =~ about)
    end

    @tag :edition_2
    test "shows examples that run" do
      context = %{
        "employees" => [%{"id" => 1, "name" => "Ada"}, %{"id" => 2, "name" => "Bob"}],
        "customers" => [%{"id" => 7, "country" => "UK"}, %{"id" => 8, "country" => "CH"}],
        "orders" => [
          %{"customer_id" => 7, "price" => 2, "quantity" => 5},
          %{"customer_id" => 8, "price" => 30, "quantity" => 1},
          %{"customer_id" => 7, "price" => 1, "quantity" => 1}
        ],
        "products" => [
          %{"kind" => "a", "price" => 1},
          %{"kind" => "a", "price" => 3},
          %{"kind" => "b", "price" => 9}
        ]
      }

      tools = %{
        "expenses" => fn %{"id" => id, "year" => 2024} ->
          if id == 2, do: {:error, "gone"}, else: 12.5
        end
      }

      results = [
        [%{"name" => "Ada", "spent" => 12.5}, %{"name" => "Bob", "spent" => 0}],
        [
          %{"country" => "CH", "orders" => 1, "revenue" => 30},
          %{"country" => "UK", "orders" => 2, "revenue" => 11}
        ],
        [%{"kind" => "a", "price" => 3}]
      ]

      for {{_title, program}, result} <- Enum.zip(Prompt2.examples(), results) do
        opts = [edition: 2, strict: true, context: context, tools: tools]
        assert Json.run!(program, opts) == result
      end

      assert length(results) == length(Prompt2.examples())
    end

    test "has as many examples as asked for, of the families that were chosen" do
      titles = for {title, _program} <- Prompt2.examples(), do: title
      shown = fn opts -> Enum.filter(titles, &(Schema.to_prompt([edition: 2] ++ opts) =~ &1)) end
      assert shown.(examples: 0) == []
      assert shown.(examples: 1) == Enum.take(titles, 1)
      refute Schema.to_prompt(edition: 2, operations: []) =~ ~s("op":"call")
    end
  end
end
