defmodule PtcRunner.SubAgent.UnionsTest do
  @moduledoc "One of several types, and types by name."
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Coercion, Validator}
  alias PtcRunner.Test.Room

  @circle {:map,
           [
             {"kind", {:where, :string, [enum: ["circle"]]}},
             {"radius", {:where, :float, [min: 0]}}
           ]}
  @square {:map, [{"kind", {:where, :string, [enum: ["square"]]}}, {"side", :float}]}
  @shape {:one_of, [@circle, @square], "kind"}
  @tree {:map,
         [
           {"value", :int},
           {"left", {:optional, {:ref, "Tree"}}},
           {"right", {:optional, {:ref, "Tree"}}}
         ]}
  @trees {:defs, %{"Tree" => @tree}, {:ref, "Tree"}}

  defp valid?(value, type), do: Validator.validate(value, type) == :ok

  defp errors(value, type) do
    {:error, errors} = Validator.validate(value, type)
    Enum.map(errors, &{&1.path, &1.message})
  end

  test "the kind of the value decides" do
    type = {:one_of, [:int, :string, {:list, :int}, {:map, [{"a", :int}]}], nil}
    for value <- [1, "a", [], [1], %{"a" => 1}], do: assert(valid?(value, type))
    assert errors([1, "x"], type) == [{[1], "expected int, got string"}]
    assert errors(%{"a" => "x"}, type) == [{["a"], "expected int, got string"}]
    assert errors(nil, type) == [{[], "expected one of :int, :string, [:int], {a :int}, got nil"}]
    assert Coercion.coerce(%{"a" => "1"}, type) |> elem(1) == %{"a" => 1}

    assert {:error, "expected one of :int, :float, got true"} =
             Coercion.coerce(true, {:one_of, [:int, :float], nil})
  end

  test "a type that has values of that kind counts before one to which they are converted" do
    listed = {:where, :any, [enum: [[1]]]}

    for {types, value} <- [
          {[:string, :float, :bool, listed], true},
          {[:string, listed, :int], 3},
          {[:bool, :int, listed, :string], "true"},
          {[:int, listed, :string], "3"},
          {[listed, :string], [1]}
        ] do
      type = {:one_of, types, nil}
      assert Validator.validate(value, type) == :ok
      assert Coercion.coerce(value, type) == {:ok, value, []}
    end

    text = {:where, :string, [pattern: "^a"]}
    assert {:ok, 3, [_warning]} = Coercion.coerce("3", {:one_of, [:int, text, listed], nil})
  end

  test "otherwise the first type counts that the value has" do
    a = {:map, [{"x", :int}]}
    b = {:map, [{"y", :int}, {"z", {:optional, {:list, :int}}}]}
    type = {:list, {:one_of, [a, b], nil}}
    assert valid?([%{"x" => 1}, %{"y" => 1, "z" => [1]}, %{"x" => 1}], type)
    assert errors([%{"x" => 1}, %{"y" => 1, "z" => ["a"]}], type) |> hd() |> elem(0) == [1]

    assert {:ok, [%{"x" => 1}, %{"y" => 2, "z" => [3]}], warnings} =
             Coercion.coerce([%{"x" => "1"}, %{"y" => "2", "z" => ["3"]}], type)

    assert length(warnings) == 3

    assert {:error, "expected one of {x :int}, {y :int, z [:int]?}, got" <> _} =
             Coercion.coerce([%{"y" => "a"}], type)

    numbers = {:one_of, [{:where, :int, [max: 5]}, {:where, :int, [min: 10]}], nil}

    for {value, valid?} <- [{1, true}, {7, false}, {12, true}],
        do: assert(valid?(value, numbers) == valid?)

    # What a failed trial has made or warned of does not stay.
    mixed = {:one_of, [{:map, [{"n", :int}, {"m", :int}]}, {:map, [{"n", :string}]}], nil}
    assert Coercion.coerce(%{"n" => "1", "m" => "x"}, mixed) == {:ok, %{"n" => "1"}, []}
  end

  test "a field that discriminates" do
    assert valid?(%{"kind" => "circle", "radius" => 1.0}, @shape)
    assert valid?(%{kind: "square", side: 1.0}, @shape)

    assert errors(%{"kind" => "square", "side" => "x"}, @shape) == [
             {["side"], "expected float, got string"}
           ]

    assert errors(%{"kind" => "circle", "radius" => -1.0}, @shape) == [
             {["radius"], "expected at least 0, got -1.0"}
           ]

    assert [{[], "expected one of " <> _}] = errors(%{"kind" => "line"}, @shape)
    assert [{[], "expected one of " <> _}] = errors(%{}, @shape)

    assert Coercion.coerce(%{"kind" => "square", "side" => "2"}, @shape) |> elem(1) == %{
             "kind" => "square",
             "side" => 2.0
           }
  end

  test "types by name, within themselves" do
    leaf = %{"value" => 1}

    assert valid?(
             %{"value" => 1, "left" => leaf, "right" => %{"value" => 2, "left" => nil}},
             @trees
           )

    assert errors(
             %{"value" => 1, "right" => %{"value" => 2, "left" => %{"value" => "x"}}},
             @trees
           ) == [{["right", "left", "value"], "expected int, got string"}]

    {deep, coerced} =
      Enum.reduce(1..5_000, {leaf, leaf}, fn _, {a, b} ->
        {%{"value" => "1", "left" => a}, %{"value" => 1, "left" => b}}
      end)

    assert valid?(coerced, @trees)
    assert {:ok, ^coerced, warnings} = Coercion.coerce(deep, @trees)
    assert length(warnings) == 5_000

    json =
      {:defs,
       %{
         "Json" =>
           {:one_of, [:string, :int, :bool, {:list, {:ref, "Json"}}, {:map_of, {:ref, "Json"}}],
            nil}
       }, {:ref, "Json"}}

    assert valid?(%{"a" => [1, "x", %{"b" => [true]}]}, json)
    assert [{["a", 0, "b"], "expected one of " <> _}] = errors(%{"a" => [%{"b" => 1.5}]}, json)
  end

  test "names are known only inside, and two parameters may use the same one" do
    int = {:defs, %{"T" => :int}, {:list, {:ref, "T"}}}
    text = {:defs, %{"T" => :string}, {:list, {:ref, "T"}}}
    assert valid?(%{"a" => [1], "b" => ["x"]}, {:map, [{"a", int}, {"b", text}]})
    refute valid?(%{"a" => ["x"], "b" => ["x"]}, {:map, [{"a", int}, {"b", text}]})
    assert {:error, "unsupported type"} = Coercion.coerce(1, {:ref, "T"})

    assert {:error, "unsupported type"} =
             Coercion.coerce(%{"a" => [1], "b" => 1}, {:map, [{"a", int}, {"b", {:ref, "T"}}]})
  end

  test "names that stand only for themselves are no types" do
    for type <- [
          {:ref, "A"},
          {:optional, {:ref, "A"}},
          {:one_of, [:int, {:ref, "A"}], nil},
          {:where, {:ref, "A"}, [description: "a"]},
          {:ref, "B"}
        ] do
      defs = {:defs, %{"A" => type, "B" => {:ref, "A"}}, {:ref, "A"}}
      assert {:error, "unsupported type"} = Coercion.coerce(1, defs), inspect(type)
    end

    for type <- [
          {:one_of, :int, nil},
          {:one_of, [:int], :a},
          {:one_of, [:int | :x], nil},
          {:defs, [], :int},
          {:defs, %{a: :int}, :int}
        ] do
      assert {:error, "unsupported type"} = Coercion.coerce(1, type)
    end
  end

  test "a union of no types has no values" do
    for value <- [nil, 1, "a", [1], %{"a" => 1}, :a, {1}, ~D[2026-01-01]] do
      assert {:error, [%{path: [], message: message}]} =
               Validator.validate(value, {:one_of, [], nil})

      assert message =~ "expected no value, got "
      assert {:error, "expected no value, got " <> _} = Coercion.coerce(value, {:one_of, [], nil})
    end

    closed = {:map, [{"a", {:optional, {:one_of, [], nil}}}]}
    assert Validator.validate(%{}, closed) == :ok
    assert {:error, [%{path: ["a"]}]} = Validator.validate(%{"a" => 1}, closed)
    assert Signature.to_json_schema({:signature, [], {:one_of, [], nil}}) == %{"not" => %{}}
  end

  test "unions in unions that are nested deep take no exponential time" do
    a = {:map, [{"next", {:ref, "T"}}, {"x", {:optional, :int}}]}
    b = {:map, [{"next", {:ref, "T"}}, {"y", {:optional, :int}}]}
    type = {:defs, %{"T" => {:one_of, [a, b, {:map, [{"end", :int}]}], nil}}, {:ref, "T"}}
    deep = fn last -> Enum.reduce(1..300, last, fn _, value -> %{"next" => value} end) end
    assert valid?(deep.(%{"end" => 1}), type)
    validated = fn -> Validator.validate(deep.(%{"end" => "x"}), type) end
    {ms, result} = Room.least_ms(2_000, validated)
    assert {:error, [%{path: []}]} = result
    assert ms < 2_000
    assert {:error, _} = Coercion.coerce(deep.(%{"end" => "x"}), type)
    # The second type, at each level.
    second =
      Enum.reduce(1..60, %{"end" => 1}, fn _, value ->
        %{"next" => value, "x" => "no", "y" => 1}
      end)

    assert valid?(second, type)
  end

  test "dates and decimals among other types" do
    type = {:list, {:one_of, [:date, :decimal, :string], nil}}

    assert {:ok, [~D[2024-02-29], %{__struct__: Decimal, coef: 15, exp: -1}, "x", "2023-02-29"],
            _} = Coercion.coerce(["2024-02-29", "1.5", "x", "2023-02-29"], type)

    range = {:struct, Range, {:map, [{"first", :int}, {"last", :int}, {"step", :int}]}}

    assert {:ok, [1..2//1, %{"a" => 1}], []} =
             Coercion.coerce(
               [%{"first" => 1, "last" => 2, "step" => 1}, %{"a" => 1}],
               {:list, {:one_of, [range, {:map, [{"a", :int}]}], nil}}
             )
  end

  test "many rows, suspended; tools; public views" do
    rows =
      for n <- 1..20_000,
          do:
            if(rem(n, 2) == 0,
              do: %{"kind" => "circle", "radius" => 1.0},
              else: %{"kind" => "square", "side" => 2.0}
            )

    assert valid?(rows, {:list, @shape})
    assert valid?(rows, {:list, {:one_of, [@circle, @square], nil}})
    assert {:ok, ^rows, []} = Coercion.coerce(rows, {:list, {:one_of, [@circle, @square], nil}})

    assert {:error, {:invalid_input, _, text}} =
             Signature.call_tool(
               {:signature, [{"s", @shape}], :any},
               %{"s" => %{"kind" => "square", "side" => "x"}},
               & &1
             )

    assert text =~ "s.side"

    hidden =
      {:defs, %{"T" => {:map, [{"a", :int}, {"_b", {:optional, {:ref, "T"}}}]}},
       {:one_of, [{:ref, "T"}, {:map, [{"_c", :int}]}], nil}}

    public = {:defs, %{"T" => {:map, [{"a", :int}]}}, {:one_of, [{:ref, "T"}, {:map, []}], nil}}
    assert Signature.public_view({:signature, [], hidden}) == {:signature, [], public}

    assert Signature.render({:signature, [], {:map, [{"s", @shape}, {"t", @trees}]}}) ==
             "-> {s :any, t :any}"
  end

  test "any value against unions: no crash" do
    values = [
      nil,
      true,
      :a,
      1,
      -1.5,
      "",
      <<3::5>>,
      [],
      [1 | 2],
      {},
      self(),
      %{},
      %{a: 1},
      ~D[2024-01-01],
      1..2,
      Enum.to_list(1..100)
    ]

    types = [
      @shape,
      @trees,
      {:one_of, [:date, :decimal, {:optional, :int}], nil},
      {:one_of, [{:map_of, @shape}, {:list, @trees}], "x"},
      {:optional, {:one_of, [:keyword, :any], nil}}
    ]

    for value <- values,
        type <- types,
        type <- [type, {:list, type}],
        value <- [value, [value]] do
      assert Validator.validate(value, type) == :ok or
               match?({:error, [_ | _]}, Validator.validate(value, type))

      assert elem(Coercion.coerce(value, type), 0) in [:ok, :error]
    end
  end
end
