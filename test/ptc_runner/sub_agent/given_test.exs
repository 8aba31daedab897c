defmodule PtcRunner.SubAgent.GivenTest do
  @moduledoc "Signatures as fields and as JSON Schemas."
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Json
  alias PtcRunner.SubAgent.{AnswerStream, JsonParser, Signature}
  alias PtcRunner.SubAgent.Signature.Given

  doctest Given

  defp type(given) do
    assert {:ok, {:signature, [], type}} = Signature.parse(given)
    type
  end

  defp error(given) do
    assert {:error, text} = Signature.parse(given)
    assert_raise ArgumentError, "invalid signature: " <> text, fn -> Signature.parsed!(given) end
    text
  end

  test "fields" do
    assert type(a: :int, b: :boolean, c: "[:string]?") ==
             {:map, [{"a", :int}, {"b", :bool}, {"c", {:optional, {:list, :string}}}]}

    assert type(%{b: :date, a: %{c: :decimal}}) ==
             {:map, [{"a", {:map, [{"c", :decimal}]}}, {"b", :date}]}

    assert type([[id: :int]]) == {:list, {:map, [{"id", :int}]}}
    assert type(a: [[:float]]) == {:map, [{"a", {:list, {:list, :float}}}]}
    assert type(a: {:optional, b: :int}) == {:map, [{"a", {:optional, {:map, [{"b", :int}]}}}]}
    assert type(a: {:closed_map, b: :int}) == {:map, [{"a", {:closed_map, [{"b", :int}]}}]}
    assert type(a: {:map_of, :int}) == {:map, [{"a", {:map_of, :int}}]}
    assert type(a: {:map, [{"b", :int}]}) == {:map, [{"a", {:map, [{"b", :int}]}}]}

    assert type(a: {:one_of, [:int, [b: :int]], nil}) ==
             {:map, [{"a", {:one_of, [:int, {:map, [{"b", :int}]}], nil}}]}

    # A list of lists has no tag, because this is a field.
    assert type(a: [list: :int]) == {:map, [{"a", {:map, [{"list", :int}]}}]}

    assert type(a: %{"type" => "string", "minLength" => 1}) ==
             {:map, [{"a", {:where, :string, [min_length: 1]}}]}
  end

  test "rules" do
    assert type(a: {:int, min: 0, max: 9}) == {:map, [{"a", {:where, :int, [min: 0, max: 9]}}]}

    assert type(a: {{:optional, :int}, default: 3}) ==
             {:map, [{"a", {:optional, {:where, :int, [default: 3]}}}]}

    assert type(a: {[:string], min_items: 1, min_length: 2}) ==
             {:map,
              [{"a", {:where, {:list, {:where, :string, [min_length: 2]}}, [min_items: 1]}}]}

    assert type(a: {[b: :int], description: "d"}) ==
             {:map, [{"a", {:where, {:map, [{"b", :int}]}, [description: "d"]}}]}

    assert type(a: {:map, description: "any"}) ==
             {:map, [{"a", {:where, :map, [description: "any"]}}]}

    assert type(a: {:int, []}) == {:map, [{"a", :int}]}
    assert type(a: {:where, :int, [min: 0]}) == {:map, [{"a", {:where, :int, [min: 0]}}]}
  end

  test "JSON Schemas, and arguments" do
    schema = %{
      "type" => "object",
      "properties" => %{"n" => %{"type" => "integer"}},
      "required" => ["n"]
    }

    assert type(schema) == {:map, [{"n", {:where, :int, [whole: true]}}]}

    assert Signature.parse({schema, n: :int}) ==
             {:ok, {:signature, [{"n", {:where, :int, [whole: true]}}], {:map, [{"n", :int}]}}}

    assert Signature.parse({[], :int}) == {:ok, {:signature, [], :int}}
  end

  test "errors say where" do
    assert error(a: :integer) =~ "a: a type must be one of :any, :bool, :boolean"
    assert error(a: [b: {:string, min: 0}]) == "a.b: :min does not fit :string"
    assert error(a: [[b: 1]]) =~ "a[].b: a type must be"
    assert error(a: {:int, mni: 0}) =~ "a: :mni is not a rule. Did you mean :min?"
    assert error(a: {:int, 5}) == "a: rules must be a keyword list, got 5"
    assert error(a: "{b :in}") =~ "a: "
    assert error(a: "(b :int) -> :int") =~ "a type has no arguments"
    assert error(a: :int, a: :string) == ~s(the field "a" is given twice)

    assert error(%{:a => :int, "b" => :int}) =~
             "keys must be atoms (fields) or strings (a JSON Schema)"

    assert error(%{1 => :int}) =~ "the names of fields must be atoms"
    assert error([:int, :string]) =~ "a type must be"
    assert error({[a: :int], 5}) =~ "the result: a type must be"
    assert error({[:int], :int}) =~ "the arguments must be fields"
    assert error(%{"type" => "strin"}) =~ ~s(no JSON Schema: #: "type" must be one of)

    assert error(a: %{"type" => "string", "format" => "hostname"}) ==
             "a: a type cannot keep all of this JSON Schema: # is not validated by format: rules have no format \"hostname\". " <>
               "Signature.from_schema/2 returns a signature without these parts"
  end

  test "what is no signature stays none" do
    for other <- [nil, 1, %{}, [], [1 | 2], {:a}, ~D[2026-01-01], :int] do
      assert {:error, "signature must be a parsed" <> _} = Signature.validate(other, 1)
      assert {:error, "signature must be a string" <> _} = Signature.parse(other)
    end
  end

  test "a type alone, and a tool, are refused with what to write instead" do
    for type <- [:int, {:list, :int}, {:map, [{"a", :int} | :b]}, {:where, :int, [min: 1]}] do
      error = assert_raise ArgumentError, fn -> Signature.to_json_schema(type) end
      assert error.message =~ "A type alone is written as {:signature, [], type}"
      assert error.message =~ "signature must be a string, got"
    end

    tool = %PtcRunner.Agent.Tool{name: "t", fun: & &1}
    error = assert_raise ArgumentError, fn -> Signature.input_json_schema(tool) end
    assert String.ends_with?(error.message, "The signature of a tool is in its field :signature")

    for other <- [7, nil, {:a, :b}, self()] do
      error = assert_raise ArgumentError, fn -> Signature.to_json_schema(other) end
      refute error.message =~ "alone"
    end
  end

  test "they are taken wherever a text is" do
    given = [n: {:int, min: 1}]
    assert Signature.validate(given, %{"n" => 1}) == :ok
    assert {:error, [%{path: ["n"]}]} = Signature.validate(given, %{"n" => 0})

    assert {:error, [%{path: ["n"]}]} =
             Signature.validate(%{"type" => "object", "required" => ["n"]}, %{})

    assert Signature.validate_input({given, :any}, %{"n" => 2}) == :ok
    assert Signature.returns_list?([[a: :int]])
    refute Signature.returns_list?(given)
    assert Signature.render(given) == "-> {n :int}"
    assert Signature.to_json_schema(given)["required"] == ["n"]
    assert Signature.input_json_schema({given, :any})["required"] == ["n"]
    assert {:ok, _} = Signature.annotate(given, "n", max: 3)

    assert Signature.call_tool({given, :int}, %{"n" => "5"}, & &1["n"]) ==
             {:ok, 5, ["coerced string \"5\" to integer"]}

    assert {:ok, %{"n" => 5}, _} = Agent.answer(~s({"n": 5}), given)

    assert {:error, _, _} =
             Agent.answer(~s({"n": 0}), %{
               "type" => "object",
               "properties" => %{"n" => %{"minimum" => 1}}
             })

    assert {:ok, %{"n" => 5}, _warnings} = JsonParser.repair(~s({'n': 5,}), given)
    assert {:cont, _} = given |> AnswerStream.new() |> AnswerStream.feed(~s({"n": ))
    program = fn n -> %{"program" => %{"op" => "call", "tool" => "t", "args" => %{"n" => n}}} end
    tools = %{"t" => {& &1["n"], {given, :int}}}
    assert {:error, {:execution_error, text}, _} = Agent.run(program.(0), tools)
    assert text =~ "at least 1"
    assert {:ok, 2, _} = Agent.run(program.(2), tools)

    assert_raise ArgumentError, ~r/give {arguments, result}/, fn ->
      Agent.run(program.(1), %{"t" => {& &1["n"], %{"type" => "object"}}})
    end

    assert {:error, [_ | _]} = Json.check(program.(1), tools: %{"t" => {[m: :int], :any}})

    assert {:ok, _} =
             Json.check(program.(1), tools: %{"t" => {[n: :int], :any}}, returns: [a: :int])

    wrong = Json.check(program.(1), tools: %{"t" => {[n: :int], :string}}, returns: [a: :int])
    assert {:error, [_ | _]} = wrong
  end
end
