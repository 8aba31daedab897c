defmodule PtcRunner.SubAgent.AnnotateTest do
  @moduledoc "`Signature.annotate/3`: paths, and rules against types."
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.RuleCheck

  doctest RuleCheck

  defp returns(signature, path, rules) do
    {:ok, {:signature, _params, type}} = Signature.annotate(signature, path, rules)
    type
  end

  defp error(signature, path, rules) do
    {:error, text} = Signature.annotate(signature, path, rules)
    text
  end

  test "paths lead through lists and optional types, with or without brackets" do
    text = "{rows [{total :float?, tags [:string]}]?}"
    total = {:optional, {:where, :float, [min: 0]}}

    expected =
      {:map,
       [{"rows", {:optional, {:list, {:map, [{"total", total}, {"tags", {:list, :string}}]}}}}]}

    for path <- [
          "rows.total",
          "rows[].total",
          "rows.[].total",
          "-> rows.total",
          "->rows[].total",
          "$result.rows.total"
        ],
        do: assert(returns(text, path, min: 0) == expected)

    assert returns(":int", "", min: 0) == {:where, :int, [min: 0]}
    assert returns(":int", "->", min: 0) == {:where, :int, [min: 0]}
    assert returns("[:int]", "[]", min: 0) == {:list, {:where, :int, [min: 0]}}
    assert returns("[[:int]]", "[][]", min: 0) == {:list, {:list, {:where, :int, [min: 0]}}}
  end

  test "the rules of a list of scalars are divided among the list and its items" do
    assert returns("{tags [:string]}", "tags", unique: true, max_length: 5) ==
             {:map,
              [{"tags", {:where, {:list, {:where, :string, [max_length: 5]}}, [unique: true]}}]}

    assert error("{tags [:string]}", "tags[]", unique: true) =~ ":unique does not fit :string"
  end

  test "a parameter comes before a field of the same name" do
    text = "(id :int, n :int) -> {id :int, total :int}"

    {:ok, {:signature, [{"id", id}, _], {:map, [{"id", :int}, _]}}} =
      Signature.annotate(text, "id", min: 1)

    assert id == {:where, :int, [min: 1]}

    assert returns(text, "->id", min: 1) ==
             {:map, [{"id", {:where, :int, [min: 1]}}, {"total", :int}]}

    assert returns(text, "total", min: 1) ==
             {:map, [{"id", :int}, {"total", {:where, :int, [min: 1]}}]}
  end

  @tree {:map, [{"value", :int}, {"left", {:optional, {:ref, "Tree"}}}]}

  defp tree,
    do: {:signature, [], {:map, [{"tree", {:defs, %{"Tree" => @tree}, {:ref, "Tree"}}}]}}

  test "a path through a name changes the type of the name" do
    ruled = {:map, [{"value", {:where, :int, [min: 0]}}, {"left", {:optional, {:ref, "Tree"}}}]}

    for path <- ["tree.value", "tree.left.value", "tree.left.left.left.value"] do
      assert returns(tree(), path, min: 0) ==
               {:map, [{"tree", {:defs, %{"Tree" => ruled}, {:ref, "Tree"}}}]}
    end

    {:ok, signature} = Signature.annotate(tree(), "tree.left.value", min: 0)
    right = %{"tree" => %{"value" => 1, "left" => %{"value" => 0}}}
    assert Signature.validate(signature, right) == :ok

    assert Signature.validate(signature, put_in(right["tree"]["left"]["value"], -1)) ==
             {:error,
              [%{path: ["tree", "left", "value"], message: "expected at least 0, got -1"}]}
  end

  test "at a name, a description or a default is for this use, and other rules for the type" do
    names = %{"Status" => :string}
    type = {:defs, names, {:map, [{"a", {:ref, "Status"}}, {"b", {:ref, "Status"}}]}}
    ruled = &{:defs, %{"Status" => {:where, :string, [enum: ["x"]]}}, {:map, &1}}
    b = {"b", {:ref, "Status"}}

    assert returns({:signature, [], type}, "a", enum: ["x"]) ==
             ruled.([{"a", {:ref, "Status"}}, b])

    both = returns({:signature, [], type}, "a", enum: ["x"], default: "x")
    assert both == ruled.([{"a", {:where, {:ref, "Status"}, [default: "x"]}}, b])
    assert error({:signature, [], both}, "a", default: "y") =~ ~s(expected one of "x", got "y")
    # Once more, at the same place.
    more = returns({:signature, [], both}, "a", description: "d", max_length: 3)
    assert {:defs, %{"Status" => {:where, :string, [max_length: 3, enum: ["x"]]}}, _} = more
    assert {:ok, _} = Signature.annotate({:signature, [], type}, "b", default: "z")
  end

  test "a path into a union is that of each type that has it" do
    circle = {:map, [{"kind", :string}, {"radius", :float}]}
    line = {:map, [{"kind", :string}, {"length", :float}]}

    shapes =
      {:signature, [], {:map, [{"shapes", {:list, {:one_of, [circle, line, :int], "kind"}}}]}}

    shape = fn types -> {:map, [{"shapes", {:list, {:one_of, types, "kind"}}}]} end
    kind = {"kind", {:where, :string, [max_length: 9]}}

    assert returns(shapes, "shapes.kind", max_length: 9) ==
             shape.([{:map, [kind, {"radius", :float}]}, {:map, [kind, {"length", :float}]}, :int])

    assert returns(shapes, "shapes[].radius", min: 0) ==
             shape.([
               {:map, [{"kind", :string}, {"radius", {:where, :float, [min: 0]}}]},
               line,
               :int
             ])

    assert error(shapes, "shapes.area", min: 0) ==
             ~s("shapes.area": no type of the union has field "area")

    assert error(shapes, "shapes.kind", min: 0) == ~s("shapes.kind": :min does not fit :string)
    assert {:ok, _} = Signature.annotate(shapes, "shapes[]", description: "a shape")

    # A union through names, in which the path leads through one name twice.
    names = %{
      "N" =>
        {:map,
         [{"next", {:one_of, [{:ref, "N"}, {:map, [{"value", :int}]}], nil}}, {"value", :int}]}
    }

    assert {:defs, %{"N" => n}, {:ref, "N"}} =
             returns({:signature, [], {:defs, names, {:ref, "N"}}}, "next.value", min: 1)

    ruled = {:where, :int, [min: 1]}

    assert n ==
             {:map,
              [
                {"next", {:one_of, [{:ref, "N"}, {:map, [{"value", ruled}]}], nil}},
                {"value", ruled}
              ]}
  end

  test "paths into maps of a type and structs" do
    prices = {:signature, [], {:map, [{"prices", {:map_of, {:map, [{"net", :float}]}}}]}}
    ruled = {:map, [{"prices", {:map_of, {:map, [{"net", {:where, :float, [min: 0]}}]}}}]}

    for path <- ["prices.*.net", "prices.any.net"],
        do: assert(returns(prices, path, min: 0) == ruled)

    assert returns({:signature, [], {:map_of, :int}}, "*", max: 9) ==
             {:map_of, {:where, :int, [max: 9]}}

    assert error(prices, "prices[].net", min: 0) =~ "has no items"
    assert error(prices, "prices.*.gross", min: 0) =~ ~s(there is no field "gross")
    assert error(prices, "prices", min: 0) =~ ":min does not fit"

    range = {:signature, [], {:struct, Range, {:map, [{"first", :int}, {"last", :int}]}}}

    assert returns(range, "first", min: 0) ==
             {:struct, Range, {:map, [{"first", {:where, :int, [min: 0]}}, {"last", :int}]}}

    assert error(range, "frist", min: 0) =~ ~s(Did you mean "first"?)
  end

  test "names that stand for themselves, or for nothing, are errors" do
    loop = {:signature, [], {:defs, %{"A" => {:ref, "B"}, "B" => {:ref, "A"}}, {:ref, "A"}}}
    assert error(loop, "x", min: 0) == ~s("x": the name "A" stands for itself)
    union = {:signature, [], {:defs, %{"A" => {:one_of, [{:ref, "A"}], nil}}, {:ref, "A"}}}
    assert error(union, "x", min: 0) =~ "stands for itself"
    assert error({:signature, [], {:ref, "C"}}, "x", min: 0) =~ ~s(no type of the name "C")
  end

  test "rules are kept once, in one order, and added to" do
    {:ok, signature} = Signature.annotate("{n :int}", "n", max: 9, min: 0)

    assert returns(signature, "n", %{min: 1, description: "a"}) ==
             {:map, [{"n", {:where, :int, [min: 1, max: 9, description: "a"]}}]}
  end

  test "errors say where and what" do
    assert error("{n :int}", "m", min: 0) == ~s("m": there is no field "m". Fields: "n")
    assert error("{n :int}", "n.x", min: 0) == ~s("n.x": :int has no field "x")
    assert error("{n :int}", "n[]", min: 0) == ~s("n[]": :int has no items)
    assert error("{n :int}", "n", mn: 0) =~ ":mn is not a rule. Did you mean :min?"
    assert error("{n :int}", "n", []) == "no rules are given"
    assert error("{n :int}", "n", :min) =~ "must be a keyword list"
    assert error("{n :int}", :n, min: 0) =~ "a path must be a text"
    assert error("{n :it}", "n", min: 0) =~ "unknown type"
    assert error("{n :string}", "n", min: 0) == ~s("n": :min does not fit :string)
    assert error("{n :int}", "n", pattern: "a") == ~s("n": :pattern does not fit :int)
    assert error("{n :int}", "n", yes_no: true) == ~s("n": :yes_no does not fit :int)
    assert error("{n {a :int}}", "n", enum: [1]) == ~s("n": :enum does not fit {a :int})
    assert error("{n :int}", "n", min: "0") == ~s("n": :min must be a number, got "0")
    assert error("{n :int}", "n", multiple_of: 0) =~ "a number above 0"

    assert error("{n :int}", "n", min: 5, max: 4) ==
             ~s("n": no number is at least 5 and at most 4)

    assert error("{n :int}", "n", min: 5, exclusive_max: 5) ==
             ~s("n": no number is at least 5 and less than 5)

    assert error("{n :string}", "n", min_length: 5, max_length: 4) =~
             ":min_length is above :max_length"

    assert error("{n :string}", "n", pattern: "(?=a)") =~ "look-around"
    assert error("{n :string}", "n", format: :phone) =~ ":format must be one of :date,"

    assert error("{n :string}", "n", enum: ["a", 1]) ==
             ~s("n": :enum has 1: expected string, got int)

    assert error("{n :string}", "n", enum: []) =~ ":enum must be a list of values"
    assert error("{n :string}", "n", ignore_case: true) =~ ":ignore_case needs an :enum"

    assert error("{n :string}", "n", enum: ["a"], aliases: %{"x" => "b"}) ==
             ~s("n": :aliases has "b": expected one of "a", got "b")

    assert error("{n :int}", "n", enum: [1, nil]) ==
             ~s("n": :enum has nil: expected int, got keyword)

    assert error("{n :string}", "n", aliases: %{"none" => nil}) ==
             ~s("n": :aliases has nil: expected string, got keyword)

    assert error("{n :int}", "n", min: 0, default: -1) ==
             ~s("n": :default -1: expected at least 0, got -1)

    assert error("{n :int}", "n", default: "x") == ~s("n": :default "x": expected int, got string)
  end

  test "bounds, values and defaults that fit" do
    assert {:ok, _} = Signature.annotate("{n :float}", "n", min: 0, max: 0, multiple_of: 0.5)

    assert {:ok, _} =
             Signature.annotate("{n :int}", "n",
               min: %{__struct__: Decimal, sign: 1, coef: 5, exp: -1}
             )

    assert {:ok, _} =
             Signature.annotate("{n :keyword}", "n", enum: ["open", :closed], default: :closed)

    assert {:ok, _} = Signature.annotate("{n [:int]}", "n", default: [], description: "numbers")
    assert {:ok, _} = Signature.annotate("{n :string?}", "n", enum: ["a"], default: "a")

    assert_raise ArgumentError, ~r/does not fit/, fn ->
      Signature.annotate!("{n :string}", "n", min: 0)
    end
  end

  test "tools' arguments and results keep the rules" do
    signature =
      "(city :string, days :int?) -> {temperature :float}"
      |> Signature.annotate!("city", enum: ["Bonn", "Rome"], ignore_case: true)
      |> Signature.annotate!("days", min: 1, max: 14, default: 3)
      |> Signature.annotate!("temperature", min: -273.15)

    assert {:ok, %{"temperature" => 20.5}, [_]} =
             Signature.call_tool(signature, %{"city" => "bonn"}, fn %{
                                                                      "city" => "Bonn",
                                                                      "days" => 3
                                                                    } ->
               %{"temperature" => 20.5}
             end)

    assert {:error, {:invalid_input, _, message}} =
             Signature.call_tool(signature, %{"city" => "Paris", "days" => 15}, & &1)

    assert message =~ ~s(city: expected one of "Bonn", "Rome", got "Paris")
    assert message =~ "days: expected at most 14, got 15"

    assert {:error, {:invalid_output, _, message}} =
             Signature.call_tool(signature, %{"city" => "Bonn"}, fn _ ->
               %{"temperature" => -300}
             end)

    assert message =~ "temperature: expected at least -273.15, got -300"

    assert {:error, {:invalid_input, _, _}} =
             Signature.call_tool(signature, %{"city" => "bonn"}, & &1, mode: :strict)

    assert Signature.render(signature) == "(city :string, days :int?) -> {temperature :float}"
    assert Signature.public_view(signature) == signature
  end
end
