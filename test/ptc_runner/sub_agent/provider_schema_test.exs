defmodule PtcRunner.SubAgent.ProviderSchemaTest do
  # Schemas of types with rules, as each provider takes them; and values that come back.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Json.Codec
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Schema, Validator}
  alias PtcRunner.Test.{Environment, ProviderRules, RuledGenerator}

  doctest Schema.Cycles
  doctest Schema.Names
  doctest Schema.Parts
  doctest Schema.Pattern
  doctest Schema.Provider
  doctest Schema.Rules
  doctest Schema.Value
  doctest ProviderRules
  doctest RuledGenerator

  @providers [:plain, :openai_strict, :anthropic, :gemini]

  defp decimal(coef, exp), do: %{__struct__: Decimal, sign: 1, coef: coef, exp: exp}

  defp each(type), do: for(name <- @providers, do: Signature.type_to_json_schema(type, for: name))

  # A keyword is expected as such, a text as the description.
  defp told(base, {key, value}), do: Map.put(base, key, value)
  defp told(base, text), do: Map.put(base, "description", "Rules: " <> text)

  describe "each rule for each provider" do
    for {rule, type, json, plain, openai, anthropic, gemini} <- [
          {[min: 2], :int, "integer", {"minimum", 2}, {"minimum", 2}, "at least 2",
           {"minimum", 2}},
          {[max: 2.5], :float, "number", {"maximum", 2.5}, {"maximum", 2.5}, "at most 2.5",
           {"maximum", 2.5}},
          {[exclusive_min: 2], :int, "integer", {"exclusiveMinimum", 2}, {"exclusiveMinimum", 2},
           "more than 2", {"minimum", 3}},
          {[exclusive_max: 2], :int, "integer", {"exclusiveMaximum", 2}, {"exclusiveMaximum", 2},
           "less than 2", {"maximum", 1}},
          {[multiple_of: 5], :int, "integer", {"multipleOf", 5}, {"multipleOf", 5},
           "a multiple of 5", "a multiple of 5"},
          {[min_length: 1], :string, "string", {"minLength", 1}, "at least 1 character",
           "at least 1 character", "at least 1 character"},
          {[max_length: 9], :string, "string", {"maxLength", 9}, "at most 9 characters",
           "at most 9 characters", "at most 9 characters"},
          {[pattern: "^[a-z]+$"], :string, "string", {"pattern", "^[a-z]+$"},
           {"pattern", "^[a-z]+$"}, {"pattern", "^[a-z]+$"}, ~s(a text that matches "^[a-z]+$")},
          {[format: :date], :string, "string", {"format", "date"}, {"format", "date"},
           {"format", "date"}, {"format", "date"}},
          {[format: :datetime], :string, "string", {"format", "date-time"},
           {"format", "date-time"}, {"format", "date-time"}, {"format", "date-time"}},
          {[format: :time], :string, "string", {"format", "time"}, {"format", "time"},
           {"format", "time"}, {"format", "time"}},
          {[format: :email], :string, "string", {"format", "email"}, {"format", "email"},
           {"format", "email"}, "an email address"},
          {[format: :uri], :string, "string", {"format", "uri"}, "a URI with its scheme",
           {"format", "uri"}, "a URI with its scheme"},
          {[format: :uuid], :string, "string", {"format", "uuid"}, {"format", "uuid"},
           {"format", "uuid"}, "a UUID"},
          {[enum: ["a", "b"]], :string, "string", {"enum", ["a", "b"]}, {"enum", ["a", "b"]},
           {"enum", ["a", "b"]}, {"enum", ["a", "b"]}},
          {[enum: [true]], :bool, "boolean", {"enum", [true]}, {"enum", [true]}, {"enum", [true]},
           "one of true"},
          {[default: "a"], :string, "string", {"default", "a"}, ~s(by default "a"),
           {"default", "a"}, ~s(by default "a")},
          {[description: "in euros."], :float, "number", {"description", "in euros."},
           {"description", "in euros."}, {"description", "in euros."},
           {"description", "in euros."}},
          {[yes_no: true], :bool, "boolean", {"type", "boolean"}, {"type", "boolean"},
           {"type", "boolean"}, {"type", "boolean"}},
          {[enum: ["a"], ignore_case: true, aliases: %{"x" => "a"}], :string, "string",
           {"enum", ["a"]}, {"enum", ["a"]}, {"enum", ["a"]}, {"enum", ["a"]}}
        ] do
      test "#{inspect(rule)} of #{inspect(type)}" do
        expected = unquote(Macro.escape([plain, openai, anthropic, gemini]))
        base = %{"type" => unquote(json)}
        schemas = each({:where, unquote(type), unquote(Macro.escape(rule))})
        assert schemas == Enum.map(expected, &told(base, &1))
      end
    end

    test "of lists" do
      list = %{"type" => "array", "items" => %{"type" => "integer"}}

      for {rule, expected} <- [
            {{:unique, true},
             [{"uniqueItems", true}, "different items", "different items", "different items"]},
            {{:min_items, 1}, for(_ <- 1..4, do: {"minItems", 1})},
            {{:max_items, 3},
             [{"maxItems", 3}, {"maxItems", 3}, "at most 3 items", {"maxItems", 3}]}
          ] do
        assert each({:where, {:list, :int}, [rule]}) == Enum.map(expected, &told(list, &1))
      end

      # The greatest that Anthropic takes, and the rest in words.
      assert Enum.at(each({:where, {:list, :int}, [min_items: 3]}), 2) ==
               Map.merge(list, %{"minItems" => 1, "description" => "Rules: at least 3 items"})
    end

    test "an exclusive bound of a float is the inclusive one and words" do
      assert %{"minimum" => 0.5, "description" => "Rules: more than 0.5"} =
               List.last(each({:where, :float, [exclusive_min: 0.5]}))

      type = {:where, :int, [min: 5, max: 9, exclusive_min: 2, exclusive_max: 20]}
      assert List.last(each(type)) == %{"type" => "integer", "minimum" => 5, "maximum" => 9}
    end

    test "the application's description comes first" do
      assert Signature.type_to_json_schema(
               {:where, :string, [min_length: 1, default: "x", description: "The name."]},
               for: :gemini
             )["description"] == ~s(The name. Rules: at least 1 character; by default "x")
    end
  end

  describe "types" do
    test "dates and times" do
      date = %{"type" => "string", "format" => "date"}
      assert each(:date) == [date, date, date, date]
      time = %{"type" => "string", "format" => "date-time"}
      assert each(:datetime) == [%{"type" => "string"}, time, time, time]
      assert each({:where, :datetime, [struct: true]}) == each(:datetime)
    end

    test "decimals are texts, and their bounds are words" do
      [plain, openai, anthropic, gemini] =
        each({:where, :decimal, [min: 0, exclusive_max: decimal(15, -1)]})

      assert %{"type" => "string", "format" => "decimal", "pattern" => pattern} = plain
      assert plain["description"] == "Rules: at least 0; less than 1.5"
      assert openai == anthropic
      assert %{"pattern" => ^pattern} = openai

      assert gemini == %{
               "type" => "string",
               "description" =>
                 ~s(Rules: a decimal number as text, such as "12.50"; at least 0; less than 1.5)
             }

      for text <- ["0", "12.50", "-3", ".5", "1e3"] do
        assert ProviderRules.fits?(openai, text)
        assert {:ok, _decimal, _} = Signature.Coercion.coerce(text, :decimal)
      end

      # A value of an enumeration may be a decimal.
      assert Signature.type_to_json_schema({:where, :decimal, [enum: [decimal(150, -2), "2"]]}) ==
               %{"type" => "string", "format" => "decimal", "enum" => ["1.50", "2"]}
    end

    test "bounds that are decimals are numbers where they are exact" do
      schema = &Signature.type_to_json_schema({:where, :float, [min: &1]})
      assert schema.(decimal(1250, -2)) == %{"type" => "number", "minimum" => 12.5}
      assert schema.(decimal(12, 2)) == %{"type" => "number", "minimum" => 1200}

      assert schema.(decimal(12_345_678_901_234_567_891, -2)) == %{
               "type" => "number",
               "description" => "Rules: at least 123456789012345678.91"
             }
    end

    test "maps of a type" do
      type = {:map, [{"prices", {:map_of, {:where, :float, [min: 0]}}}]}

      values = %{
        "type" => "object",
        "additionalProperties" => %{"type" => "number", "minimum" => 0}
      }

      plain = Signature.type_to_json_schema(type)
      assert plain["properties"]["prices"] == values
      gemini = Signature.type_to_json_schema(type, for: :gemini)
      assert gemini["properties"]["prices"] == values

      for name <- [:openai_strict, :anthropic] do
        assert_raise ArgumentError, ~r/prices: a map with any keys/, fn ->
          Signature.type_to_json_schema(type, for: name)
        end
      end
    end

    test "any value and any map" do
      assert Signature.type_to_json_schema({:map, [{"x", :map}]}, for: :gemini)["properties"]["x"] ==
               %{"type" => "object", "additionalProperties" => true}

      assert %{"anyOf" => [_, _, _, _]} = Signature.type_to_json_schema(:any, for: :gemini)
      assert Signature.type_to_json_schema({:where, :any, [min: 0]}) == %{"minimum" => 0}

      assert %{"anyOf" => _, "description" => "Rules: at least 0"} =
               Signature.type_to_json_schema({:where, :any, [min: 0]}, for: :gemini)

      # Listed values are a type.
      assert Signature.type_to_json_schema({:where, :any, [enum: ["a", 1, :a]]}, for: :anthropic) ==
               %{
                 "anyOf" => [
                   %{"type" => "integer", "enum" => [1]},
                   %{"type" => "string", "enum" => ["a"]}
                 ]
               }

      for {type, text} <- [{:any, ":any"}, {:map, ":map"}, {{:where, :any, [min: 0]}, ":any"}],
          name <- [:openai_strict, :anthropic] do
        error =
          assert_raise ArgumentError, fn ->
            Signature.to_json_schema(
              {:signature, [], {:map, [{"a", {:list, {:map, [{"b", type}]}}}]}},
              for: name
            )
          end

        assert error.message =~ "a.b: #{text}, whose fields are not declared"
        assert error.message =~ inspect(name)
      end
    end

    test "a union has its types, and constants that tell which one" do
      circle = {:map, [{"kind", {:where, :string, [enum: ["circle"]]}}, {"radius", :float}]}
      square = {:map, [{"kind", {:where, :string, [enum: ["square"]]}}, {"side", :float}]}
      type = {:map, [{"shape", {:optional, {:one_of, [circle, square], "kind"}}}]}

      kinds =
        &for(
          schema <- &1["anyOf"],
          is_map_key(schema, "properties"),
          do: schema["properties"]["kind"]
        )

      [plain, openai, anthropic, gemini] =
        for schema <- each(type), do: schema["properties"]["shape"]

      constants = for kind <- ["circle", "square"], do: %{"type" => "string", "const" => kind}
      assert kinds.(plain) == constants
      assert kinds.(anthropic) == constants
      assert kinds.(openai) == constants
      assert List.last(openai["anyOf"]) == %{"type" => "null"}
      assert [%{"enum" => ["circle"]}, %{"enum" => ["square"]}] = kinds.(gemini)

      # At the root it is a property of an object, which an answer may have or not.
      signature = {:signature, [], {:one_of, [circle, square], "kind"}}
      assert %{"anyOf" => _} = Signature.to_json_schema(signature)

      assert %{"type" => "object", "required" => ["value"]} =
               Signature.to_json_schema(signature, for: :openai_strict)

      shape = %{"kind" => "square", "side" => 2.0}

      for answer <- [shape, %{"value" => shape}] do
        assert {:ok, ^shape, _} = Agent.answer(Codec.encode!(answer), signature)
      end
    end

    test "a struct is its map" do
      type = {:struct, Range, {:map, [{"first", :int}, {"last", {:where, :int, [max: 9]}}]}}

      assert Signature.type_to_json_schema(type) ==
               %{
                 "type" => "object",
                 "properties" => %{
                   "first" => %{"type" => "integer"},
                   "last" => %{"type" => "integer", "maximum" => 9}
                 },
                 "required" => ["first", "last"],
                 "additionalProperties" => false
               }
    end

    test "names are definitions, and a type that contains itself is refused where it is not taken" do
      node =
        {:map,
         [
           {"value", :int},
           {"left", {:optional, {:where, {:ref, "Tree"}, [description: "smaller"]}}}
         ]}

      type = {:defs, %{"Tree" => node}, {:ref, "Tree"}}

      assert Signature.type_to_json_schema(type) == %{
               "$ref" => "#/$defs/Tree",
               "$defs" => %{
                 "Tree" => %{
                   "type" => "object",
                   "properties" => %{
                     "value" => %{"type" => "integer"},
                     "left" => %{"$ref" => "#/$defs/Tree", "description" => "smaller"}
                   },
                   "required" => ["value"],
                   "additionalProperties" => false
                 }
               }
             }

      openai = Signature.type_to_json_schema(type, for: :openai_strict)
      assert %{"type" => "object", "$defs" => %{"Tree" => tree}} = openai

      assert tree["properties"]["left"] == %{
               "anyOf" => [%{"$ref" => "#/$defs/Tree"}, %{"type" => "null"}],
               "description" => "smaller"
             }

      gemini = Signature.type_to_json_schema(type, for: :gemini)
      assert gemini["properties"]["left"]["anyOf"] == [%{"$ref" => "#/$defs/Tree"}]

      assert_raise ArgumentError, ~r/Tree.left: "Tree" contains itself/, fn ->
        Signature.type_to_json_schema(type, for: :anthropic)
      end

      all =
        {:defs, %{"Tree" => {:map, [{"all", {:list, {:ref, "Tree"}}}]}}, {:list, {:ref, "Tree"}}}

      assert %{"$defs" => _} = Signature.type_to_json_schema(all, for: :openai_strict)

      assert_raise ArgumentError,
                   ~r/Tree.all: "Tree" contains itself in a field that is required/,
                   fn ->
                     Signature.type_to_json_schema(all, for: :gemini)
                   end
    end

    test "names of different scopes stay apart, and any text is a name" do
      scope = fn type -> {:defs, %{"a/b ~c" => type}, {:list, {:ref, "a/b ~c"}}} end
      type = {:map, [{"x", scope.(:date)}, {"y", scope.(:decimal)}, {"z", scope.(:date)}]}
      plain = Signature.type_to_json_schema(type)
      assert Map.keys(plain["$defs"]) == ["a/b ~c", "a/b ~c_2"]
      assert plain["properties"]["x"]["items"] == %{"$ref" => "#/$defs/a~1b%20~0c"}
      assert plain["properties"]["z"] == plain["properties"]["x"]
      assert ProviderRules.faults(plain, :plain) == []

      anthropic = Signature.type_to_json_schema(type, for: :anthropic)
      assert Map.keys(anthropic["$defs"]) == ["type", "type_2"]
      assert ProviderRules.faults(anthropic, :anthropic) == []
    end
  end

  describe "the whole schema" do
    test "without an option it is the plain one" do
      for n <- 1..200, type = RuledGenerator.type(1, n) do
        signature = {:signature, [], type}

        assert Signature.to_json_schema(signature) ==
                 Signature.to_json_schema(signature, for: :plain)
      end
    end

    test "lists and single values are properties of an object" do
      assert %{"properties" => %{"items" => %{"minItems" => 1}}, "required" => ["items"]} =
               Signature.to_json_schema({:signature, [], {:where, {:list, :int}, [min_items: 1]}})

      for name <- [:openai_strict, :anthropic, :gemini] do
        assert %{"type" => "object", "properties" => %{"value" => %{"type" => "integer"}}} =
                 Signature.to_json_schema(":int", for: name)
      end

      assert Signature.to_json_schema(":int", for: :plain) == %{"type" => "integer"}

      assert %{
               "properties" => %{"value" => %{"type" => ["integer", "null"]}},
               "required" => ["value"]
             } = Signature.to_json_schema(":int?", for: :openai_strict)

      assert %{"required" => []} = Signature.to_json_schema(":int?", for: :gemini)
    end

    test "the order of the fields is kept for Gemini" do
      schema = Signature.to_json_schema("{z :int, a :int, m {y :int, b :int?}}", for: :gemini)
      assert schema["propertyOrdering"] == ["z", "a", "m"]
      assert schema["properties"]["m"]["propertyOrdering"] == ["y", "b"]
      assert schema["properties"]["m"]["required"] == ["y"]
    end

    test "strict: true and annotations go with rules" do
      type =
        {:map,
         [
           {"a", {:optional, {:where, :string, [enum: ["x"], description: "one"]}}},
           {"b", {:where, :int, [default: 1]}}
         ]}

      schema = Signature.type_to_json_schema(type, strict: true)
      assert schema["required"] == ["a", "b"]

      assert schema["properties"]["a"] == %{
               "type" => ["string", "null"],
               "enum" => ["x", nil],
               "description" => "one"
             }

      assert schema["properties"]["b"]["description"] == "Rules: by default 1"

      # What is given as an option counts.
      opts = [enums: %{"a" => ["y"]}, descriptions: %{"a" => "two", "b" => "three"}, for: :gemini]
      schema = Signature.type_to_json_schema(type, opts)

      assert schema["properties"]["a"] == %{
               "type" => "string",
               "enum" => ["y"],
               "description" => "two"
             }

      assert schema["properties"]["b"]["description"] == "three. Rules: by default 1"

      assert_raise ArgumentError, ~r/strict: true needs declared fields, and p is a map/, fn ->
        Signature.type_to_json_schema({:map, [{"p", {:map_of, :int}}]}, strict: true)
      end
    end

    test "what a provider allows in all is counted" do
      fields = fn type, count -> {:map, for(n <- 1..count, do: {"f#{n}", type})} end
      deep = fn depth -> Enum.reduce(1..depth, :int, fn _, type -> {:map, [{"a", type}]} end) end
      choice = {:one_of, [:int, :bool], nil}

      for {name, fits, too_many, text} <- [
            {:anthropic, fields.({:optional, :int}, 24), fields.({:optional, :int}, 25),
             "25 fields that may be missing, of which 24 are allowed"},
            {:anthropic, fields.(choice, 16), fields.(choice, 17), "17 unions"},
            {:openai_strict, deep.(10), deep.(11), "11 objects in each other"},
            {:openai_strict, fields.(:int, 5_000), fields.(:int, 5_001), "5001 properties"},
            {:openai_strict, {:where, :int, [enum: Enum.to_list(1..1_000)]},
             {:where, :int, [enum: Enum.to_list(1..1_001)]}, "1001 values in enumerations"},
            {:openai_strict,
             {:where, :string,
              [enum: for(n <- 10_000..10_299, do: "#{n}#{String.duplicate("a", 45)}")]},
             {:where, :string,
              [enum: for(n <- 10_000..10_299, do: "#{n}#{String.duplicate("a", 46)}")]},
             "15300 characters in an enumeration of more than 250 texts"},
            {:openai_strict, {:where, :string, [enum: [String.duplicate("a", 120_000)]]},
             {:where, :string, [enum: [String.duplicate("a", 120_001)]]}, "120001 characters"}
          ] do
        assert is_map(Signature.type_to_json_schema(fits, for: name))

        error =
          assert_raise ArgumentError, fn -> Signature.type_to_json_schema(too_many, for: name) end

        assert error.message =~ text
      end
    end

    test "long rules are told in full" do
      pattern = "(?i)" <> String.duplicate("a", 2_000)
      values = for n <- 1..500, do: n * 1.5

      type =
        {:map,
         [
           {"p", {:where, :string, [pattern: pattern]}},
           {"b", {:where, :any, [enum: values ++ [true]]}}
         ]}

      schema = Signature.type_to_json_schema(type, for: :openai_strict)

      assert schema["properties"]["p"]["description"] ==
               "Rules: a text that matches " <> Codec.encode!(pattern)

      assert length(Enum.flat_map(schema["properties"]["b"]["anyOf"], & &1["enum"])) == 501
    end

    test "large and deep types" do
      deep =
        Enum.reduce(1..1_000, {:where, :int, [min: 0]}, fn _, type ->
          {:list, {:map, [{"a", type}]}}
        end)

      assert %{"items" => _} = Signature.type_to_json_schema(deep)
      wide = {:map, for(n <- 1..50_000, do: {"f#{n}", {:where, :int, [min: n]}})}
      assert map_size(Signature.type_to_json_schema(wide)["properties"]) == 50_000

      huge =
        Enum.reduce(1..60, {:where, :int, [min: 0]}, fn _, type ->
          {:map, [{"a", type}, {"b", type}]}
        end)

      assert_raise ArgumentError, ~r/more than 500000 parts/, fn ->
        Signature.type_to_json_schema(huge)
      end
    end

    test "thousands of names that lead to each other, and thousands of scopes" do
      name = &"T#{rem(&1, 5_000)}"

      field = &{:optional, {:ref, name.(&1)}}

      names =
        for n <- 0..4_999,
            into: %{},
            do: {name.(n), {:map, [{"a", field.(n + 1)}, {"b", field.(n * 7)}]}}

      type = {:defs, names, {:ref, "T0"}}
      assert map_size(Signature.type_to_json_schema(type, for: :gemini)["$defs"]) == 5_000

      error =
        assert_raise ArgumentError, fn -> Signature.type_to_json_schema(type, for: :anthropic) end

      assert error.message =~ ~s(T0.a: "T0" contains itself)

      scope = &{:defs, %{"T" => {:map, [{"n", {:where, :int, [min: &1]}}]}}, {:list, {:ref, "T"}}}
      type = {:map, for(n <- 1..5_000, do: {"f#{n}", scope.(n)})}
      schema = Signature.type_to_json_schema(type, for: :gemini)
      assert map_size(schema["$defs"]) == 5_000
      assert ProviderRules.faults(schema, :gemini) == []
    end

    test "a name that is another one's with a number" do
      scope = &{:defs, %{&1 => &2}, {:list, {:ref, &1}}}

      type =
        {:map,
         [{"a", scope.("T", :date)}, {"b", scope.("T_2", :decimal)}, {"c", scope.("T", :bool)}]}

      schema = Signature.type_to_json_schema(type)
      assert Map.keys(schema["$defs"]) == ["T", "T_2", "T_3"]
      assert schema["properties"]["c"]["items"] == %{"$ref" => "#/$defs/T_3"}
    end

    test "what is no type is refused, wherever it stands" do
      for type <- [
            nil,
            {:list, nil},
            {:map, [{"a", :date}, {"b", "x"}]},
            {:where, :int, [:min]},
            {:ref, "A"}
          ],
          opts <- [[], [for: :gemini], [strict: true]] do
        assert_raise ArgumentError, ~r/unsupported type/, fn ->
          Signature.type_to_json_schema(type, opts)
        end
      end
    end
  end

  describe "what is not enforced" do
    test "is listed" do
      signature = Signature.annotate!("{a {b :string}}", "a.b", min_length: 1, pattern: "(?i)x")

      assert Signature.unenforced(signature, for: :plain) == [
               %{path: "a.b", rule: ~s(a text that matches "(?i\)x"), told: :description}
             ]

      assert [
               %{path: "a.b", rule: "at least 1 character", told: :description},
               %{told: :description}
             ] = Signature.unenforced(signature, for: :gemini)

      assert [%{path: "prices", rule: "a map with any keys", told: :not_at_all}] =
               Signature.unenforced({:signature, [], {:map, [{"prices", {:map_of, :int}}]}},
                 for: :anthropic
               )

      assert Signature.unenforced("{a :int}", for: :openai_strict) == []
    end
  end

  test "patterns of rules are written as those of ECMAScript" do
    for {rule, unicode, portable, simple} <- [
          {"^[a-z_]{1,9}(?:-[0-9]+)*$", :same, :same, :same},
          {"a.b|c\\.d\\/", :same, :same, :same},
          {"\\d\\w\\s\\D", :same, :same, :same},
          {"[\\]\\[\\-^\\d]", :same, :same, :same},
          {"\\-\\&\\~\\#[\\&\\~]", "-&~#[&~]", "-&~#[&~]", "-&~#[&~]"},
          {"\\A.\\z", "^.$", "^.$", "^.$"},
          {"\\x{e9}\\x41\\u00DF", "\\u00E9\\u0041\\u00DF", "\\u00E9\\u0041\\u00DF", nil},
          {"(?P<n>a)(?<m>b)", "(?<n>a)(?<m>b)", "(?<n>a)(?<m>b)", nil},
          {"(?-u:\\b)a\\b\\B", "\\ba\\b\\B", "\\ba\\b\\B", nil},
          {"a+?b", :same, :same, nil},
          {"a{65}", :same, :same, nil},
          {"\\p{Lu}\\P{L}", :same, nil, nil},
          {"grün[äöü]", :same, :same, :same}
        ] do
      for {kind, expected} <- [unicode: unicode, portable: portable, simple: simple] do
        wanted =
          case expected do
            nil -> :error
            :same -> {:ok, rule}
            text -> {:ok, text}
          end

        assert {rule, kind, Schema.Pattern.written(kind, rule)} == {rule, kind, wanted}
      end

      assert {:ok, _} = Signature.annotate("{a :string}", "a", pattern: rule)
      assert {:ok, written} = Schema.Pattern.written(:unicode, rule)

      assert {:ok, _} =
               Regex.compile(String.replace(written, ~r/\\u([0-9A-F]{4})/, "\\x{\\1}"), "u")
    end

    for rule <- [
          "(?i)a",
          "\\p{Greek}",
          "\\pL",
          "[[:alpha:]]",
          "[a&&b]",
          "[a--b]",
          "[]a]",
          "a**",
          "a{2}{3}",
          "^*",
          "(?:a+)++",
          "\\x{1F600}",
          "\\b{start}a",
          "}",
          "\\a",
          <<255>>
        ] do
      assert {rule, Schema.Pattern.written(:unicode, rule)} == {rule, :error}
    end
  end

  test "a schema that is read again is the same type, but for decimals" do
    seed = Environment.seed()

    for n <- 1..Environment.cases(500), type = RuledGenerator.type(seed, n) do
      schema = Signature.type_to_json_schema(type)
      assert {:ok, {:signature, [], read}, dropped} = Signature.from_json_schema(schema, [])
      dropped = for %{keyword: keyword} <- dropped, keyword != "format", do: keyword
      assert {seed, n, dropped} == {seed, n, []}
      again = Signature.type_to_json_schema(read)
      assert {:ok, {:signature, [], same}, _dropped} = Signature.from_json_schema(again, [])
      assert {seed, n, same} == {seed, n, read}
      value = RuledGenerator.value(type, false)
      assert {^seed, ^n, {:ok, _value, _}} = {seed, n, Signature.Coercion.coerce(value, read)}
    end
  end

  test "rules that are no rules are refused, and nothing else happens" do
    junk =
      [
        nil,
        -1,
        2 ** 2000,
        1.0e308,
        "x",
        <<255>>,
        :a,
        {1},
        [],
        [1 | 2],
        [1, {1}, nil, %{}],
        %{a: 1},
        self(),
        1..2
      ] ++
        [
          decimal(:NaN, 0),
          decimal(10, 100_000),
          true,
          [<<255>>],
          [~D[2024-01-01]],
          String.duplicate("é", 3_000)
        ]

    rules =
      ~w(min max exclusive_min exclusive_max multiple_of min_length max_length pattern format enum ignore_case)a ++
        ~w(aliases default description unique min_items max_items yes_no struct whole)a

    bases = [
      :int,
      :string,
      :any,
      :decimal,
      {:list, :int},
      {:map, [{"a", :int}]},
      {:map_of, :int},
      {:one_of, [:int], nil}
    ]

    # Each rule and value with each base, and with each provider twice; with PTC_CASES, with each provider and base.
    for rule <- rules,
        {value, n} <- Enum.with_index(junk),
        {base, m} <- Enum.with_index(bases),
        one = Enum.at(@providers, rem(n + m, length(@providers))),
        providers = if(Environment.many?(), do: @providers, else: [one]),
        opts <- [[] | Enum.map(providers, &[for: &1])] do
      try do
        assert is_map(Signature.type_to_json_schema({:where, base, [{rule, value}]}, opts))
      rescue
        error in ArgumentError -> error
      end
    end
  end

  # `PTC_CASES=10` takes ten times as many.
  @tag timeout: 600_000
  test "random types: only what the provider takes, nothing lost, and what comes back is valid" do
    seed = Environment.seed()

    counts =
      for n <- 1..Environment.cases(400), provider <- @providers, reduce: %{} do
        counts -> Map.update(counts, {provider, one(seed, n, provider)}, 1, &(&1 + 1))
      end

    for provider <- @providers, do: assert(counts[{provider, :fits}] > 200)
    assert counts[{:plain, :refused}] == nil
  end

  defp one(seed, n, provider) do
    type = RuledGenerator.type(seed, n)
    signature = {:signature, [], type}
    told = Signature.unenforced(signature, for: provider)

    try do
      Signature.to_json_schema(signature, for: provider)
    rescue
      error in ArgumentError ->
        assert error.message =~ "has no form of this type"
        assert Enum.any?(told, &(&1.told == :not_at_all))
        :refused
    else
      schema ->
        where = {seed, n, provider, type}
        assert {where, ProviderRules.faults(schema, provider)} == {where, []}
        text = Codec.encode!(schema)

        for %{told: how, rule: rule} <- told do
          assert {where, how} == {where, :description}
          assert {where, text =~ inner(rule)} == {where, true}
        end

        for _ <- 1..3, do: sent(schema, type, provider, where)
        :fits
    end
  end

  defp inner(text), do: text |> Codec.encode!() |> String.slice(1..-2//1)

  defp sent(schema, type, provider, where) do
    value = RuledGenerator.value(type, provider == :openai_strict)
    wrapped = wrapped(value, schema, type)
    assert {where, wrapped, ProviderRules.fits?(schema, wrapped)} == {where, wrapped, true}
    signature = {:signature, [], type}

    assert {^where, ^value, {:ok, read, _}} =
             {where, value, Agent.answer(Codec.encode!(wrapped), signature)}

    assert {where, read, Validator.validate(read, type)} == {where, read, :ok}
  end

  # As the model sends it: the root of the schema is an object.
  defp wrapped(value, %{"properties" => properties}, _type) when map_size(properties) == 1 do
    case Map.keys(properties) do
      ["items"] when is_list(value) ->
        %{"items" => value}

      ["value"] ->
        if is_map(value) and is_map_key(value, "value"), do: value, else: %{"value" => value}

      _own ->
        value
    end
  end

  defp wrapped(value, _schema, _type), do: value

  test "types that contain each other are found in time that grows with their references" do
    work = fn count ->
      names = Enum.map(1..count, &"T#{&1}")
      type = {:map, Enum.map(names, &{&1, {:optional, {:ref, &1}}})}
      signature = {:signature, [], {:defs, Map.new(names, &{&1, type}), type}}
      {:reductions, before} = Process.info(self(), :reductions)

      assert_raise ArgumentError, ~r/"T1" contains itself/, fn ->
        Signature.to_json_schema(signature, for: :anthropic)
      end

      {:reductions, later} = Process.info(self(), :reductions)
      later - before
    end

    work.(10)
    assert work.(40) < 30 * work.(10)
  end
end
