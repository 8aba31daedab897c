defmodule PtcRunner.Agent.SchemaArgumentsTest do
  # Arguments as a JSON Schema says: numbers keep their digits, and what it does not allow is an error.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Agent.Tool

  defp tool(schema) do
    {:ok, [tool], _lost} =
      Tool.from_openai(
        [%{"type" => "function", "function" => %{"name" => "t", "parameters" => schema}}],
        %{"t" => & &1}
      )

    tool
  end

  defp object(properties, more \\ %{}),
    do: Map.merge(%{"type" => "object", "properties" => properties}, more)

  defp call(args), do: ~s({"program": {"op": "call", "tool": "t", "args": #{args}}})

  test "a number keeps an integer, and each of its digits" do
    for schema <- [
          %{"type" => "number"},
          %{"type" => "number", "minimum" => 1},
          %{"type" => ["integer", "number"]},
          %{"type" => ["number", "null"]}
        ],
        number <- ["9007199254740993", "20", "2.5", "100000000000000000000000", "1.0"] do
      tool = tool(object(%{"n" => schema}))
      {expected, ""} = if number =~ ".", do: Float.parse(number), else: Integer.parse(number)
      assert {:ok, %{"n" => got}, _info} = Agent.run(call(~s({"n": #{number}})), [tool])
      assert got === expected

      assert {:ok, %{"n" => ^got}, _, _} =
               Json.run(call(~s({"n": #{number}})), tools: %{"t" => tool})
    end
  end

  test "a number of a signature's text is a float" do
    assert {:ok, %{"n" => 20.0}, _} =
             Agent.run(call(~s({"n": 20})), %{"t" => {& &1, "(n :float) -> :any"}})
  end

  test "null, true and false are no texts in other fields either" do
    texts = %{"additionalProperties" => %{"type" => "string"}}

    for {schema, place, args} <- [
          {object(%{"a" => %{"type" => "integer"}}, texts), "b", ~s({"b": VALUE})},
          {object(%{"o" => object(%{}, texts)}), "o.b", ~s({"o": {"b": VALUE}})},
          {object(%{"l" => %{"type" => "array", "items" => object(%{"a" => %{}}, texts)}}),
           "l[0].b", ~s({"l": [{"b": VALUE}]})},
          {object(%{}, %{
             "additionalProperties" => %{"type" => "array", "items" => %{"type" => "string"}}
           }), "b[0]", ~s({"b": [VALUE]})}
        ],
        value <- ["null", "true", "false"] do
      tools = %{"t" => tool(schema)}
      program = args |> String.replace("VALUE", value) |> call()
      assert {:error, {:execution_error, text}} = Json.run(program, tools: tools), program
      assert text =~ "#{place}: expected string"
      assert {:error, [%{code: :wrong_argument}]} = Json.check(program, tools: tools)
    end
  end

  test "an argument that the schema does not allow is an error" do
    closed = tool(object(%{"a" => %{"type" => "integer"}}, %{"additionalProperties" => false}))
    assert {:ok, %{"a" => 1}, _} = Agent.run(call(~s({"a": 1})), [closed])

    assert {:error, {:execution_error, text}, _} =
             Agent.run(call(~s({"a": 1, "z": 2})), [closed], check: false)

    assert text =~ "z: unexpected field"

    assert {:error, {:execution_error, _}} =
             Json.run(call(~s({"a": 1, "z": 2})), tools: %{"t" => closed})

    assert {:error, [%{code: :unknown_argument}]} =
             Json.check(call(~s({"a": 1, "z": 2})), tools: %{"t" => closed})
  end

  test "a tool without arguments in its schema answers a run as it answers an agent" do
    answer = fn _name, _args -> {:ok, %{"content" => [], "structuredContent" => %{"n" => 5}}} end

    for schema <- [%{"type" => "object"}, %{}, nil, object(%{})] do
      {:ok, [tool], _} = Tool.from_mcp([%{"name" => "t", "inputSchema" => schema}], answer)

      program =
        ~s({"program": {"op": "get", "field": "n", "from": {"op": "call", "tool": "t", "args": {}}}})

      assert {:ok, 5, _, _} = Json.run(program, tools: %{"t" => tool})
      assert {:ok, 5, _} = Agent.run(program, [tool])
    end
  end
end
