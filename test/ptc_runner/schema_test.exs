defmodule PtcRunner.SchemaTest do
  use ExUnit.Case, async: true

  alias PtcRunner.{Json, Schema}
  alias PtcRunner.Test.JsonText

  doctest Schema

  @reference %{"$ref" => "#/$defs/operation"}
  @nested ~w(count eq filter gt gte keys literal load lt lte map sum typeof)

  # The definitions of a list of operation schemas, by name.
  defp by_name(schemas), do: Map.new(schemas, &{&1["properties"]["op"]["const"], &1})

  defp fields(schema), do: Map.delete(schema["properties"], "op")

  describe "operations/0" do
    test "describes every operation and field" do
      types = [:any, :string, :map, :expr, :non_neg_integer, {:list, :expr}, {:list, :string}]

      for {name, definition} <- Schema.operations() do
        assert %{"description" => text, "fields" => fields} = definition
        assert map_size(definition) == 2
        assert String.trim(text) != "", name

        for {field, %{"type" => type, "required" => required?} = spec} <- fields do
          assert map_size(spec) == 2
          assert is_binary(field)
          assert type in types, "#{name}.#{field}"
          assert is_boolean(required?)
        end
      end
    end

    test "requires all fields but a few" do
      optional =
        for {name, %{"fields" => fields}} <- Schema.operations(),
            {field, %{"required" => false}} <- fields,
            do: "#{name}.#{field}"

      assert Enum.sort(optional) ==
               ~w(call.args get.default get.field get.path round.precision sort_by.order)
    end

    test "is what get_operation/1 and valid_operation_names/0 tell" do
      operations = Schema.operations()
      assert Schema.valid_operation_names() == operations |> Map.keys() |> Enum.sort()

      for {name, definition} <- operations,
          do: assert(Schema.get_operation(name) == {:ok, definition})

      for name <- ["nope", :sum, nil, 1], do: assert(Schema.get_operation(name) == :error)
    end
  end

  describe "to_json_schema/0" do
    test "has a definition for each operation, with references" do
      schema = Schema.to_json_schema()
      assert schema["properties"]["program"]["$ref"] == "#/$defs/operation"
      schemas = by_name(schema["$defs"]["operation"]["oneOf"])
      assert schemas |> Map.keys() |> Enum.sort() == Schema.valid_operation_names()

      assert fields(schemas["let"]) ==
               %{"in" => @reference, "name" => %{"type" => "string"}, "value" => @reference}

      assert schemas["let"]["required"] == ["op", "in", "name", "value"]
      assert schemas["let"]["additionalProperties"] == false
      assert fields(schemas["pipe"]) == %{"steps" => %{"type" => "array", "items" => @reference}}
      assert fields(schemas["nth"]) == %{"index" => %{"type" => "integer", "minimum" => 0}}
      assert fields(schemas["literal"]) == %{"value" => %{}}
      assert schemas["get"]["required"] == ["op"]

      assert fields(schemas["get"]) == %{
               "default" => %{},
               "field" => %{"type" => "string"},
               "path" => %{"type" => "array", "items" => %{"type" => "string"}}
             }

      assert fields(schemas["call"]) ==
               %{"args" => %{"type" => "object"}, "tool" => %{"type" => "string"}}
    end

    test "is JSON" do
      assert {:ok, _text} = JsonText.encode(Schema.to_json_schema())
    end
  end

  describe "to_llm_schema/0" do
    test "spells out two levels" do
      program = Schema.to_llm_schema()["properties"]["program"]
      schemas = by_name(program["anyOf"])
      assert schemas |> Map.keys() |> Enum.sort() == Schema.valid_operation_names()

      %{"where" => %{"anyOf" => inner}} = fields(schemas["filter"])
      assert inner |> by_name() |> Map.keys() |> Enum.sort() == @nested

      assert fields(by_name(inner)["filter"]) == %{
               "where" => %{
                 "type" => "object",
                 "properties" => %{"op" => %{"type" => "string"}},
                 "required" => ["op"]
               }
             }

      assert fields(schemas["pipe"]) ==
               %{"steps" => %{"type" => "array", "items" => %{"anyOf" => inner}}}
    end

    test "is JSON without references" do
      assert {:ok, text} = JsonText.encode(Schema.to_llm_schema())
      refute text =~ "$ref"
    end
  end

  describe "to_prompt/1" do
    test "lists the operations by category" do
      assert ["PTC-JSON" <> _ | lines] = String.split(Schema.to_prompt(), "\n")
      ["## Operations" | lines] = Enum.drop_while(lines, &(&1 != "## Operations"))

      expected = [
        "Data: load(name), literal(value), var(name)",
        "Flow: pipe(steps), let(in,name,value), if(condition,else,then)",
        "Logic: and(conditions), or(conditions), not(condition)",
        "Filter/Transform: filter(where), map(expr), select(fields), reject(where), " <>
          "sort_by(field), filter_in(field,value)",
        "Compare: eq(field,value), neq(field,value), gt(field,value), gte(field,value), " <>
          "lt(field,value), lte(field,value), contains(field,value), in(field,value)",
        "Aggregate: count, sum(field), avg(field), min(field), max(field), min_by(field), " <>
          "max_by(field), first, last, nth(index), take(count), drop(count), distinct",
        "Arithmetic: add(left,right), sub(left,right), mul(left,right), div(left,right), " <>
          "round(value), pct(part,whole)",
        "Combine: object(fields), merge(objects), concat(lists), zip(lists)",
        "Access: get()",
        "Introspect: keys, typeof",
        "Tools: call(tool)"
      ]

      # Operations that came later stand among these.
      known = Enum.flat_map(expected, &entries/1)
      shown = lines |> Enum.take_while(&(&1 != "")) |> Enum.map(&entries/1)

      assert for(entries <- shown, do: Enum.filter(entries, &(&1 in known))) -- [[]] ==
               Enum.map(expected, &entries/1)

      assert length(List.flatten(shown)) ==
               length(Schema.valid_operation_names()) + length(shown)
    end

    # `Logic: and(conditions), not(condition)` in its parts.
    defp entries(line),
      do: Regex.scan(~r/^[^:]+:|[a-z_]+(?:\([^)]*\))?(?=, |$)/, line) |> List.flatten()

    test "says what stands in the fields, out of the table" do
      lines = String.split(Schema.to_prompt(), "\n")

      assert (~s|In parentheses stand the required fields. Optional: get takes "field" or "path" (a list of | <>
                ~s|keys), and "default"; sort_by "order" ("asc" or "desc"); round "precision" (0 to 15); | <>
                ~s|call "args".|) in lines

      assert ("Operands and bodies are NODEs (steps, where, expr, conditions, condition, then, else, in, " <>
                "left, right, part, whole, objects, lists, the value of let and round); a bare number will " <>
                ~s|do in arithmetic. In comparisons, filter_in and literal "value" is plain data, but | <>
                "comparisons and filter_in also take a NODE there.") in lines
    end

    test "is short and trimmed" do
      {:ok, schema} = JsonText.encode(Schema.to_llm_schema())

      for examples <- 0..3 do
        prompt = Schema.to_prompt(examples: examples)
        assert prompt == String.trim(prompt)
        assert byte_size(prompt) * 10 < byte_size(schema)
      end
    end

    test "shows as many examples as it is asked for" do
      titles = [
        "Count filtered items:",
        "Percentage using pct (part/whole*100):",
        "Cross-table filter: sum expenses for engineering employees:"
      ]

      for {count, shown} <- [{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 3}] do
        lines = String.split(Schema.to_prompt(examples: count), "\n")
        assert Enum.filter(lines, &(&1 in titles)) == Enum.take(titles, shown)
        assert "Examples:" in lines == shown > 0
      end

      assert Schema.to_prompt() == Schema.to_prompt(examples: 3)
    end

    test "shows examples that run" do
      programs =
        for "{\"program\"" <> _ = line <- String.split(Schema.to_prompt(), "\n"), do: line

      context = %{
        "orders" => [%{"total" => 50}, %{"total" => 101}, %{"total" => 200}],
        "tickets" => [%{"status" => "open"}, %{"status" => "done"}],
        "employees" => [
          %{"id" => 1, "department" => "engineering"},
          %{"id" => 2, "department" => "sales"}
        ],
        "expenses" => [
          %{"employee_id" => 1, "amount" => 10},
          %{"employee_id" => 2, "amount" => 100},
          %{"employee_id" => 1, "amount" => 5}
        ]
      }

      assert Enum.map(programs, &Json.run!(&1, context: context)) == [2, 50.0, 15]
    end
  end
end
