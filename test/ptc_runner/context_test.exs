defmodule PtcRunner.ContextTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Context

  doctest Context

  test "a bare struct has no history and nothing else" do
    assert %Context{} == %Context{ctx: nil, memory: nil, tools: nil, turn_history: []}
  end

  test "new stores its arguments unchecked" do
    assert Context.new(1, 2, 3, 4) == %Context{ctx: 1, memory: 2, tools: 3, turn_history: 4}
    assert Context.new() == %Context{ctx: %{}, memory: %{}, tools: %{}, turn_history: []}
  end

  test "names are strings" do
    context = Context.new(%{"a" => 2, a: 1}, %{"a" => 4, a: 3})
    assert Context.get_ctx(context, "a") == {:ok, 2}
    assert Context.get_memory(context, "a") == {:ok, 4}
    assert {:error, {:execution_error, text}} = Context.get_ctx(context, :a)
    assert text == "Context key must be a string, got :a"
    assert {:error, {:execution_error, text}} = Context.get_memory(context, ["a"])
    assert text == ~s(Memory key must be a string, got ["a"])
    assert_raise FunctionClauseError, fn -> apply(Context, :put_memory, [context, :a, 1]) end
  end

  test "put_memory changes the memory only" do
    context = Context.new(%{"a" => 1}, %{"a" => 1, "b" => 1}, %{}, [:turn])

    assert Context.put_memory(context, "a", nil) ==
             %Context{context | memory: %{"a" => nil, "b" => 1}}
  end
end
