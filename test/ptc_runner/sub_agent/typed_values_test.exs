defmodule PtcRunner.SubAgent.TypedValuesTest do
  @moduledoc "Dates, decimals, structs, and maps of a type."
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Coercion, Decimals, Validator}

  doctest Decimals

  defmodule Order do
    defstruct [:id, :at, total: 0, note: "none"]
  end

  @order {:struct, Order,
          {:map,
           [{"id", :int}, {"at", {:optional, :date}}, {"total", {:where, :float, [min: 0]}}]}}

  defp decimal(coef, exp, sign \\ 1), do: %{__struct__: Decimal, sign: sign, coef: coef, exp: exp}

  defp coerced!(value, type) do
    {:ok, coerced, _warnings} = Coercion.coerce(value, type)
    coerced
  end

  test "dates" do
    assert coerced!("2024-02-29", :date) == ~D[2024-02-29]
    assert Coercion.coerce(~D[2024-02-29], :date) == {:ok, ~D[2024-02-29], []}

    assert {:error, "invalid date \"2023-02-29\": expected YYYY-MM-DD"} =
             Coercion.coerce("2023-02-29", :date)

    assert {:error, "cannot coerce to date" <> _} = Coercion.coerce(1, :date)
    assert Validator.validate(~D[2024-02-29], :date) == :ok

    assert {:error, [%{message: "expected date (%Date{}), got string"}] = errors} =
             Validator.validate("2024-02-29", :date)

    # The model is told the format.
    assert Signature.format_errors(errors, "28.2.2026") =~
             ~s(expected date (YYYY-MM-DD\), got string "28.2.2026")

    for wrong <- [~T[10:00:00], ~N[2024-01-01 10:00:00], ~U[2024-01-01 10:00:00Z], nil, %{}, 1..2],
        do: assert({:error, _} = Validator.validate(wrong, :date))

    type = {:map, [{"_at", :date}]}

    assert {:error, "invalid date: expected YYYY-MM-DD"} =
             Coercion.coerce(%{"_at" => "secret"}, type)

    assert {:ok, %{"d" => [~D[2024-01-01], ~D[2024-01-02]]}, []} =
             Coercion.coerce(
               %{"d" => ["2024-01-01", ~D[2024-01-02]]},
               {:map, [{"d", {:list, :date}}]}
             )

    assert {:error, {:invalid_input, _, "Tool validation errors:\n- at: " <> _}} =
             Signature.call_tool({:signature, [{"at", :date}], :any}, %{"at" => "soon"}, & &1)
  end

  test "decimals are exact" do
    # One for the tests is loaded.
    assert Decimals.loaded?()

    for {given, coef, exp} <- [
          {"12.50", 1250, -2},
          {"+1.5", 15, -1},
          {" .5 ", 5, -1},
          {12, 12, 0},
          {0.1, 1, -1},
          {"1e3", 1, 3},
          {"1.50E-7", 150, -9},
          {Integer.pow(10, 40), Integer.pow(10, 40), 0}
        ],
        do: assert(coerced!(given, :decimal) == decimal(coef, exp))

    assert coerced!("-0.10", :decimal) == decimal(10, -2, -1)
    assert coerced!(decimal(1250, -2), :decimal) == decimal(1250, -2)
    assert Validator.validate(decimal(1250, -2), :decimal) == :ok
    assert Validator.validate("12.50", :decimal) == :ok

    for wrong <- [
          "abc",
          "1,234.50",
          "",
          "NaN",
          "Infinity",
          "12 EUR",
          String.duplicate("1", 2_000),
          nil,
          [],
          %{},
          <<255>>
        ],
        do: assert({:error, _} = Coercion.coerce(wrong, :decimal))

    for wrong <- ["abc", 1, 1.5, nil, "NaN", "+1"],
        do: assert({:error, _} = Validator.validate(wrong, :decimal))

    assert {:error, "cannot coerce \"abc\" to decimal"} = Coercion.coerce("abc", :decimal)

    assert {:error, "cannot coerce to decimal"} =
             Coercion.coerce(%{"_d" => "abc"}, {:map, [{"_d", :decimal}]})

    type = {:where, :decimal, [min: 0, multiple_of: decimal(1, -2)]}
    assert Validator.validate(decimal(1250, -2), type) == :ok

    assert {:error, [%{message: "expected at least 0, got -12.50"}]} =
             Validator.validate(decimal(1250, -2, -1), type)

    assert {:error, _} = Validator.validate(decimal(1, -3), type)
    assert {:ok, _} = Signature.annotate({:signature, [], {:map, [{"d", :decimal}]}}, "d", min: 0)
  end

  test "bounds hold for decimals, and for their texts" do
    type = {:where, :decimal, [min: 0, max: 10]}
    assert coerced!("9.99", type) == decimal(999, -2)
    assert coerced!(9.99, type) == decimal(999, -2)
    assert {:error, "expected at most 10, got 10.01"} = Coercion.coerce("10.01", type)

    assert {:error, [%{message: "expected at least 0, got \"-1\""}]} =
             Validator.validate("-1", type)
  end

  test "maps of a type" do
    type = {:map_of, :int}
    assert Validator.validate(%{"a" => 1, b: 2}, type) == :ok
    assert Validator.validate(%{}, type) == :ok
    map = %{"a" => 1}
    assert {:ok, same, []} = Coercion.coerce(map, type)
    assert :erts_debug.same(same, map)

    assert Coercion.coerce(%{"a" => "1", "b" => 2}, type) ==
             {:ok, %{"a" => 1, "b" => 2}, [~s(coerced string "1" to integer)]}

    assert {:error, errors} = Validator.validate(%{"a" => 1, "b" => "x", c: "y"}, type)

    assert Enum.sort_by(errors, & &1.path) == [
             %{path: ["b"], message: "expected int, got string"},
             %{path: ["c"], message: "expected int, got string"}
           ]

    assert {:error, [%{path: [], message: "expected map, got list"}]} =
             Validator.validate([], type)

    assert {:error, [%{path: []}]} = Validator.validate(1..2, type)

    assert {:error, [%{path: ["1"], message: "unexpected field" <> _}]} =
             Validator.validate(%{1 => 1}, type)
  end

  test "maps of maps and lists, with paths, rules and hidden keys" do
    type = {:map, [{"by", {:map_of, {:list, {:map_of, {:where, :int, [max: 9]}}}}}, {"n", :int}]}
    value = %{"by" => %{"x" => [%{"k" => 1}, %{"k" => 2, "l" => 3}]}, "n" => 1}
    assert Validator.validate(value, type) == :ok
    assert {:ok, ^value, []} = Coercion.coerce(value, type)
    wrong = put_in(value, ["by", "x"], [%{"k" => 1}, %{"l" => 10}])

    assert Validator.validate(wrong, type) ==
             {:error, [%{path: ["by", "x", 1, "l"], message: "expected at most 9, got 10"}]}

    texts = put_in(value, ["by", "x"], [%{"k" => "1"}, %{}])
    assert coerced!(texts, type) == put_in(value, ["by", "x"], [%{"k" => 1}, %{}])
    hidden = %{"by" => %{"_s" => [%{"k" => 77}]}, "n" => 1}

    assert Validator.validate(hidden, type) ==
             {:error, [%{path: ["by", "_s", 0, "k"], message: "expected at most 9, got integer"}]}

    rows = {:map_of, {:map, [{"id", :int}]}}
    assert {:error, [%{path: ["a", "id"]}]} = Validator.validate(%{"a" => %{"id" => "x"}}, rows)

    assert {:error, [%{path: ["a", "id"], message: "expected field, got nil"}]} =
             Validator.validate(%{"a" => %{}}, rows)
  end

  test "100,000 entries, and 1,000 maps in each other" do
    map = Map.new(1..100_000, &{"key#{&1}", &1})
    assert Validator.validate(map, {:map_of, :int}) == :ok
    assert {:ok, ^map, []} = Coercion.coerce(map, {:map_of, :int})
    texts = Map.new(1..20_000, &{"key#{&1}", "#{&1}"})
    assert coerced!(texts, {:map_of, :int}) == Map.new(1..20_000, &{"key#{&1}", &1})
    assert {:error, errors} = Validator.validate(texts, {:map_of, :int})
    assert length(errors) == 20_000

    {deep, type} =
      Enum.reduce(1..1_000, {1, :int}, fn _, {value, type} ->
        {%{"a" => value}, {:map_of, type}}
      end)

    assert Validator.validate(deep, type) == :ok
    assert {:ok, ^deep, []} = Coercion.coerce(deep, type)
    {wrong, _} = Enum.reduce(1..1_000, {"x", 0}, fn _, {value, _} -> {%{"a" => value}, 0} end)
    assert {:error, [%{path: path}]} = Validator.validate(wrong, type)
    assert length(path) == 1_000
  end

  test "structs" do
    assert coerced!(%{"id" => "1", "at" => "2024-02-29", "total" => 1, "x" => 2}, @order) ==
             %Order{id: 1, at: ~D[2024-02-29], total: 1.0, note: "none"}

    assert coerced!(%{"id" => 1, "total" => 2.5}, @order) == %Order{id: 1, total: 2.5}
    assert coerced!(%{id: 1, total: 2.5}, @order) == %Order{id: 1, total: 2.5}
    order = %Order{id: 1, total: 2.5, note: "mine"}
    assert {:ok, ^order, []} = Coercion.coerce(order, @order)
    assert coerced!(%{order | id: "7"}, @order) == %{order | id: 7}
    assert Validator.validate(order, @order) == :ok
    assert Validator.validate(%{"id" => 1, "total" => 2.5}, @order) == :ok

    assert {:error, [%{path: ["total"], message: "expected at least 0, got -1.0"}]} =
             Validator.validate(%{order | total: -1.0}, @order)

    assert {:error, [%{path: []}]} = Validator.validate(~D[2024-01-01], @order)
    assert {:error, _} = Coercion.coerce(~D[2024-01-01], @order)
    assert Validator.validate_closed(order, @order) == :ok
    rows = for n <- 1..2_000, do: %{"id" => n, "total" => "1.5", "at" => "2024-01-01"}

    assert [%Order{id: 1, at: ~D[2024-01-01], total: 1.5} | _] =
             made = coerced!(rows, {:list, @order})

    assert length(made) == 2_000

    assert {:error, "PtcRunner.Nope is not a struct"} =
             Coercion.coerce(%{"a" => 1}, {:struct, PtcRunner.Nope, {:map, [{"a", :int}]}})

    assert {:ok, %{"o" => %Order{id: 1}}, _} =
             Signature.call_tool(
               {:signature, [{"o", @order}], :any},
               %{"o" => %{"id" => "1", "total" => 1}},
               & &1
             )
  end

  test "structs in structs, in lists and in maps of them" do
    inner = {:struct, Order, {:map, [{"id", :int}]}}

    outer =
      {:struct, Order, {:map, [{"id", :int}, {"note", {:list, inner}}, {"at", {:map_of, inner}}]}}

    value = %{"id" => 1, "note" => [%{"id" => 2}], "at" => %{"k" => %{"id" => "3"}}}

    assert coerced!(value, outer) == %Order{
             id: 1,
             note: [%Order{id: 2}],
             at: %{"k" => %Order{id: 3}}
           }
  end

  test "annotate reaches into structs and maps of a type; rendering and schemas have them" do
    signature =
      {:signature, [],
       {:map, [{"o", @order}, {"by", {:map_of, :int}}, {"d", :decimal}, {"at", :date}]}}

    {:ok,
     {:signature, [], {:map, [{"o", {:struct, Order, {:map, fields}}}, {"by", by} | _]}} =
       annotated} =
      with {:ok, signature} <- Signature.annotate(signature, "o.id", min: 1),
           do: Signature.annotate(signature, "by.any", max: 5)

    assert {"id", {:where, :int, [min: 1]}} in fields
    assert by == {:map_of, {:where, :int, [max: 5]}}
    assert Signature.public_view(annotated) == annotated
    assert Signature.render(annotated) =~ "by :map"

    assert %{"properties" => %{"by" => %{"type" => "object", "additionalProperties" => _}}} =
             Signature.to_json_schema(annotated)
  end

  test "terms that are close to these types are no types" do
    for type <- [
          {:map_of, 1},
          {:struct, Order, :map},
          {:struct, "Order", {:map, []}},
          {:struct, Order, {:closed_map, []}},
          :decimals,
          {:map_of}
        ] do
      assert {:error, "unsupported type"} = Coercion.coerce(%{"a" => 1}, type)
    end
  end
end
