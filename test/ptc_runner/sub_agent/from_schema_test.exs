defmodule PtcRunner.SubAgent.FromSchemaTest do
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Coercion, FromSchema, Validator}

  doctest PtcRunner.SubAgent.Signature.FromSchema
  doctest PtcRunner.SubAgent.Signature.FromSchema.Alternative
  doctest PtcRunner.SubAgent.Signature.FromSchema.Mapped
  doctest PtcRunner.SubAgent.Signature.FromSchema.Pattern
  doctest PtcRunner.SubAgent.Signature.FromSchema.Place

  defp type(schema, opts \\ []) do
    assert {:ok, {:signature, [], type}, []} = Signature.from_json_schema(schema, opts)
    type
  end

  defp dropped(schema) do
    assert {:ok, {:signature, [], _type}, dropped} = Signature.from_json_schema(schema, [])
    for %{path: path, keyword: keyword} <- dropped, do: {path, keyword}
  end

  defp error(schema) do
    assert {:error, text} = Signature.from_json_schema(schema, [])
    text
  end

  defp object(properties, required \\ []),
    do: %{"type" => "object", "properties" => properties, "required" => required}

  @int {:where, :int, [whole: true]}

  describe "types" do
    test "rules become rules, in the order of types" do
      schema =
        object(
          %{
            "id" => %{"type" => "string", "format" => "uuid", "description" => "of the order"},
            "total" => %{
              "type" => "number",
              "minimum" => 0,
              "exclusiveMaximum" => 100,
              "multipleOf" => 0.5
            },
            "rows" => %{
              "type" => "array",
              "items" => %{"type" => "boolean"},
              "minItems" => 1,
              "uniqueItems" => true
            },
            "count" => %{"type" => "integer", "default" => 3, "maximum" => 9}
          },
          ["id", "rows"]
        )

      assert type(schema) ==
               {:map,
                [
                  {"count", {:optional, {:where, :int, [max: 9, default: 3, whole: true]}}},
                  {"id", {:where, :string, [format: :uuid, description: "of the order"]}},
                  {"rows", {:where, {:list, :bool}, [unique: true, min_items: 1]}},
                  {"total",
                   {:optional, {:where, :float, [min: 0, exclusive_max: 100, multiple_of: 0.5]}}}
                ]}
    end

    test "an integer may be written with a fraction of zero, and coercion makes an integer of it" do
      assert Validator.validate(1.0, @int) == :ok
      assert Validator.validate(-0.0, @int) == :ok
      assert Validator.validate(1.0e300, @int) == :ok
      assert {:error, [%{message: "expected int, got float"}]} = Validator.validate(1.5, @int)
      assert {:error, [_]} = Validator.validate(1.0, :int)
      assert {:ok, 5, ["coerced float without fraction to integer"]} = Coercion.coerce(5.0, @int)
      assert {:ok, 7, []} = Coercion.coerce(7, @int)
      assert {:ok, big, [_]} = Coercion.coerce(1.0e25, @int)
      assert is_integer(big) and big == trunc(1.0e25)
      assert {:error, _} = Coercion.coerce(5.5, @int)
      ranged = {:where, :int, [min: 1, whole: true]}

      assert {:error, [%{message: "expected at least 1, got 0.0"}]} =
               Validator.validate(0.0, ranged)

      either = {:one_of, [@int, :string], nil}
      assert Validator.validate(2.0, either) == :ok
      assert {:error, [_]} = Validator.validate(2.5, either)

      assert {:error, ~s("a": :whole does not fit :float)} =
               Signature.annotate("{a :float}", "a", whole: true)
    end

    test "keywords concern only their kinds" do
      assert type(%{"minimum" => 3, "minLength" => 2}) == {:where, :any, [min: 3, min_length: 2]}
      structured = type(%{"properties" => %{"a" => %{"type" => "string"}}})

      for value <- ["x", 1.5, true, nil, [1], %{"a" => "b"}, %{}],
          do: assert(Validator.validate(value, structured) == :ok)

      assert {:error, _} = Validator.validate(%{"a" => 1}, structured)
    end

    test "null, constants and enumerations" do
      assert type(%{"type" => ["string", "null"]}) == {:optional, :string}
      assert type(%{"type" => "null"}) == {:where, :any, [enum: [nil]]}

      assert type(%{"enum" => ["a", "b", nil]}) ==
               {:optional, {:where, :string, [enum: ["a", "b"]]}}

      assert type(%{"const" => 4}) == {:where, :int, [enum: [4], whole: true]}
      assert type(%{"type" => "string", "enum" => ["a", 1]}) == {:where, :string, [enum: ["a"]]}
      assert type(%{"enum" => [1, 5], "minimum" => 2}) == {:where, :int, [enum: [5], whole: true]}
      assert type(%{"const" => %{"a" => [1]}}) == {:where, :any, [enum: [%{"a" => [1]}]]}

      assert type(%{"anyOf" => [%{"const" => "r"}, %{"const" => "w"}, %{"type" => "null"}]}) ==
               {:optional, {:where, :string, [enum: ["r", "w"]]}}
    end

    test "schemas without values" do
      for schema <- [
            false,
            %{"enum" => []},
            %{"allOf" => [%{"type" => "string"}, %{"type" => "null"}]},
            %{"not" => %{}}
          ] do
        type = type(schema)

        for value <- [nil, 1, "a", [], %{}],
            do:
              assert({:error, [%{message: message}]} = Validator.validate(value, type)) &&
                assert(message =~ "no value")
      end
    end

    test "objects are merged, and a closed one closes only its own fields" do
      schema = %{
        "allOf" => [
          object(%{"a" => %{"type" => "string"}}, ["a"]),
          object(%{"a" => %{"minLength" => 2}, "b" => %{"type" => "boolean"}})
        ]
      }

      assert type(schema) ==
               {:map, [{"a", {:where, :string, [min_length: 2]}}, {"b", {:optional, :bool}}]}

      closed = %{
        "allOf" => [
          Map.put(object(%{"a" => true}), "additionalProperties", false),
          object(%{"b" => true})
        ]
      }

      assert type(closed) == {:closed_map, [{"a", {:optional, :any}}]}

      assert type(%{"type" => "object", "additionalProperties" => %{"type" => "boolean"}}) ==
               {:map_of, :bool}
    end

    test "a field with constants tells which alternative it is" do
      shape = fn kind, field ->
        object(%{"kind" => %{"const" => kind}, field => %{"type" => "number"}}, ["kind", field])
      end

      schema = %{"oneOf" => [shape.("circle", "radius"), shape.("square", "side")]}
      assert {:one_of, [_, _], "kind"} = type = type(schema)
      assert Validator.validate(%{"kind" => "square", "side" => 2}, type) == :ok

      assert {:error, [%{path: ["side"], message: "expected float, got string"}]} =
               Validator.validate(%{"kind" => "square", "side" => "2"}, type)
    end

    test "no field tells which alternative it is where another one takes any object" do
      shape = &object(%{"kind" => %{"const" => &1}, "a" => %{"type" => "integer"}}, ["kind"])

      for other <- [
            %{"type" => "object"},
            %{"type" => "object", "additionalProperties" => %{"type" => "string"}},
            %{"enum" => [%{"kind" => "a", "a" => "x"}]}
          ] do
        type = type(%{"anyOf" => [other, shape.("a"), shape.("b")]})
        assert {:one_of, _types, nil} = type
        assert Validator.validate(%{"kind" => "a", "a" => "x"}, type) == :ok
      end
    end

    test "types that contain themselves have names" do
      tree =
        object(
          %{
            "value" => %{"type" => "string"},
            "children" => %{"type" => "array", "items" => %{"$ref" => "#/$defs/Tree"}}
          },
          ["value"]
        )

      schema = %{"$ref" => "#/$defs/Tree", "$defs" => %{"Tree" => tree}}
      assert {:defs, %{"Tree" => _}, {:ref, "Tree"}} = type = type(schema)
      assert Validator.validate(%{"value" => "a", "children" => [%{"value" => "b"}]}, type) == :ok

      assert {:error, [%{path: ["children", 0, "value"]}]} =
               Validator.validate(%{"value" => "a", "children" => [%{"value" => 1}]}, type)

      extended =
        object(%{"left" => %{"allOf" => [%{"$ref" => "#"}, %{"required" => ["v"]}]}, "v" => true})

      type = type(extended)
      assert Validator.validate(%{"left" => %{"v" => 1, "left" => %{"v" => 2}}}, type) == :ok
      assert {:error, [_]} = Validator.validate(%{"left" => %{"v" => 1, "left" => %{}}}, type)

      json = %{
        "anyOf" => [
          %{"type" => ["string", "number", "boolean", "null"]},
          %{"type" => "array", "items" => %{"$ref" => "#"}},
          %{"type" => "object", "additionalProperties" => %{"$ref" => "#"}}
        ]
      }

      assert Validator.validate(%{"a" => [1, %{"b" => nil}]}, type(json)) == :ok
    end

    test "formats can be annotations" do
      assert type(%{"type" => "string", "format" => "email"}, formats: false) == :string

      assert type(%{"type" => "string", "format" => "time"}) ==
               {:where, :string, [format: :full_time]}

      assert {:error, [%{message: message}]} =
               Validator.validate("12:00:00", {:where, :string, [format: :full_time]})

      assert message == ~s[expected a time with an offset (hh:mm:ssZ), got "12:00:00"]
    end
  end

  describe "what is not kept" do
    test "is listed with its place and its keyword" do
      schema =
        object(%{
          "a/b" => %{"not" => %{"required" => ["x"]}},
          "p" => %{"type" => "string", "pattern" => "^(?=a)"},
          "f" => %{"type" => "string", "format" => "hostname"},
          "o" => %{"oneOf" => [%{"type" => "integer"}, %{"type" => "number", "minimum" => 2}]},
          "t" => %{
            "type" => "array",
            "prefixItems" => [%{"type" => "string"}, %{"type" => "number"}]
          },
          "m" => Map.put(object(%{"x" => true}), "additionalProperties", %{"type" => "string"}),
          "r" => %{"$ref" => "https://example.org/other.json"},
          "d" => %{"type" => "integer", "default" => "x"},
          "z" => %{"type" => "string", "minLenght" => 2, "x-note" => 1, "title" => "Z"}
        })

      assert Enum.sort(dropped(schema)) == [
               {"#/properties/a~1b", "not"},
               {"#/properties/d", "default"},
               {"#/properties/f", "format"},
               {"#/properties/m", "additionalProperties"},
               {"#/properties/o", "oneOf"},
               {"#/properties/p", "pattern"},
               {"#/properties/r", "$ref"},
               {"#/properties/t", "prefixItems"},
               {"#/properties/z", "minLenght"}
             ]

      assert {:ok, _signature, [%{reason: "it has a look-around"}]} =
               Signature.from_json_schema(%{"type" => "string", "pattern" => "^(?=a)"}, [])
    end

    test "a default stands also where no field can be missing, but not in one of several schemas" do
      listed = %{"type" => "array", "items" => %{"type" => "string", "default" => "a"}}
      assert type(listed) == {:list, {:where, :string, [default: "a"]}}

      several = %{"anyOf" => [%{"type" => "string", "default" => "a"}, %{"type" => "boolean"}]}
      assert dropped(several) == [{"#/anyOf/0", "default"}]
    end

    test "references in a circle, and too many of them, end" do
      assert dropped(%{"$ref" => "#"}) == [{"#", "$ref"}]

      circle = %{
        "$ref" => "#/$defs/a",
        "$defs" => %{"a" => %{"$ref" => "#/$defs/b"}, "b" => %{"$ref" => "#/$defs/a"}}
      }

      assert [{_, "$ref"}] = dropped(circle)

      assert dropped(%{"anyOf" => [%{"type" => "string"}, %{"$ref" => "#"}]}) == [
               {"#/anyOf/1", "$ref"}
             ]

      doubled =
        for n <- 1..60, into: %{"0" => %{"type" => "string"}} do
          ref = %{"$ref" => "#/$defs/#{n - 1}"}
          {"#{n}", object(%{"a" => ref, "b" => ref})}
        end

      schema = %{"$ref" => "#/$defs/60", "$defs" => doubled}
      assert {:ok, {:signature, [], type}, []} = Signature.from_json_schema(schema, [])
      assert {:error, [_]} = Validator.validate(%{"a" => %{"b" => 1}}, type)

      crossed = %{
        "allOf" =>
          for(
            _ <- 1..12,
            do: %{"anyOf" => for(n <- 1..9, do: %{"type" => "string", "minLength" => n})}
          )
      }

      assert {:ok, _signature, [_ | _]} = Signature.from_json_schema(crossed, [])
    end
  end

  describe "what is no schema" do
    test "is an error that says where" do
      assert error(1) == ~s(#: "the schema" must be a schema, got 1)
      assert error(%{type: "object"}) == "#: its keys must be strings, got :type"

      assert error(object(%{"a" => %{"type" => "text"}})) =~
               ~s(#/properties/a: "type" must be one of array, boolean)

      assert error(object(%{"a" => %{"minimum" => "1"}})) ==
               ~s(#/properties/a: "minimum" must be a number, got "1")

      assert error(%{"anyOf" => []}) == ~s(#: "anyOf" must be an array with schemas, got [])

      assert error(%{"items" => %{"$ref" => "#/$defs/x"}}) ==
               ~s(#/items: "$ref" points to nothing: "#/$defs/x")

      assert error(%{"required" => "a"}) == ~s(#: "required" must be an array, got "a")
      assert error(%{"required" => ["a" | :b]}) =~ ~s("required" must be an array)
      assert error(%{"minLength" => -1}) =~ "an integer from 0 on"
      assert error(%{"multipleOf" => 0}) =~ "a number above 0"
      assert error(%{"enum" => "a"}) =~ "must be an array"
      assert error(%{"properties" => %{a: true}}) =~ "must be strings"
      assert error(%{"properties" => %{"a" => 1}}) == ~s(#: "properties" must be a schema, got 1)
      assert error(%{"pattern" => 1}) =~ "must be a string"
      assert error(%{"$ref" => 1}) =~ "must be a string"
      assert error({1, 2}) =~ "must be a schema"

      assert_raise ArgumentError, ~r/has no option :foo/, fn ->
        Signature.from_json_schema(%{}, foo: 1)
      end
    end
  end

  describe "bounds" do
    test "deep schemas are read" do
      deep =
        Enum.reduce(1..1_000, %{"type" => "string"}, fn _, schema ->
          %{"type" => "array", "items" => schema}
        end)

      type = type(deep)
      assert Validator.validate([], type) == :ok

      deep =
        Enum.reduce(1..20_000, %{"type" => "string"}, fn _, schema -> object(%{"a" => schema}) end)

      assert {:ok, _signature, [%{reason: "it is nested too deeply"}]} =
               Signature.from_json_schema(deep, [])
    end

    test "the work is linear in the number of properties" do
      schema = fn count ->
        object(Map.new(1..count, &{"f#{&1}", %{"type" => "integer", "minimum" => 0}}))
      end

      work(schema.(1_000))
      assert work(schema.(100_000)) < 15 * work(schema.(10_000))
    end

    test "and in the number of schemas, the depth of those at one place, and the values" do
      fields = fn count -> for n <- 1..count, do: %{"properties" => %{"f#{n}" => false}} end

      for schema <- [
            &%{"allOf" => fields.(&1)},
            &Enum.reduce(1..&1, %{"type" => "string"}, fn _, inner -> %{"allOf" => [inner]} end),
            &Enum.reduce(1..&1, %{"type" => "string"}, fn _, inner ->
              %{"anyOf" => [%{"type" => "integer"}, inner]}
            end),
            &%{"allOf" => [%{"enum" => Enum.to_list(1..&1)}, %{"enum" => Enum.to_list(2..&1)}]},
            &%{
              "oneOf" => [
                %{"enum" => Enum.to_list(1..&1)},
                %{"enum" => Enum.to_list(-&1..-1)}
              ]
            }
          ] do
        work(schema.(200))
        assert work(schema.(8_000)) < 15 * work(schema.(1_000))
      end
    end

    defp work(schema) do
      {:reductions, before} = Process.info(self(), :reductions)
      assert {:ok, _signature, _dropped} = Signature.from_json_schema(schema, [])
      {:reductions, later} = Process.info(self(), :reductions)
      later - before
    end
  end

  describe "patterns" do
    test "mean what they mean in ECMAScript" do
      for {pattern, good, bad} <- [
            {"^\\d+$", ["12"], ["৪২", ""]},
            {"^\\w$", ["a", "_"], ["é"]},
            {"^[\\w-]+$", ["a-b"], ["a b"]},
            {"^.$", ["a"], ["\r", "\u2028"]},
            {"^[\\s]$", ["\u00a0", "\ufeff"], ["a"]},
            {"^[[a]$", ["[", "a"], ["b"]},
            {"^a{,2}$", ["a{,2}"], ["aa"]},
            {"\\bfoo\\b", ["a foo b", "éfoo"], ["food"]},
            {"^\\uD83D\\uDC32$", ["🐲"], ["a"]},
            {"^(?<year>[0-9]{4})\\/\\x41$", ["2026/A"], ["2026-A"]},
            {"^[^]$", ["\n"], [""]},
            {"^[a&&b]$", ["&", "a"], ["c"]},
            {"^[+-\\d.]+$", ["+5.", "-9"], ["a", ","]},
            {"^[!-\\S]$", ["!", "-", "a"], [" "]}
          ] do
        type = type(%{"type" => "string", "pattern" => pattern})

        for text <- good,
            do: assert(Validator.validate(text, type) == :ok, "#{pattern} #{inspect(text)}")

        for text <- bad,
            do:
              assert({:error, _} = Validator.validate(text, type), "#{pattern} #{inspect(text)}")
      end
    end

    test "that rules cannot say are dropped" do
      for pattern <- [
            "(a)\\1",
            "a(?!b)",
            "(?i)a",
            "[a--b]",
            "\\B",
            "(",
            "a\\q",
            "\\uD83D",
            "[a",
            "(a{900}){900}",
            <<255>>
          ] do
        assert {:ok, {:signature, [], :string}, [%{keyword: "pattern"}]} =
                 Signature.from_json_schema(%{"type" => "string", "pattern" => pattern}, [])
      end
    end
  end

  test "sentences" do
    assert FromSchema.sentences([%{path: "#/a", keyword: "not", reason: "x"}]) == [
             "#/a is not validated by not: x"
           ]
  end
end
