defmodule PtcRunner.Json.PathIndexTest do
  # In edition 2 an integer in the path of `get` is looked up like a `key`.
  use ExUnit.Case, async: true

  alias PtcRunner.Json

  @order %{"items" => [%{"sku" => "a"}, %{"sku" => "b"}], "by" => %{"7" => "x"}}

  defp get(path, data, opts \\ []) do
    program = ~s({"program": {"op": "get", "path": #{path}, "from": {"op": "load", "name": "o"}}})

    with {:ok, value, _, _} <- Json.run(program, [{:context, %{"o" => data}} | opts]) do
      text = Json.text(PtcRunner.Json.Codec.encode!(data))
      assert {:ok, ^value, _, _} = Json.run(program, [{:context, %{"o" => text}} | opts])
      assert {:ok, _} = Json.check(program)
      assert {:ok, _} = Json.plan(program)
      value
    end
  end

  test "an index of a list, and a key of digits" do
    for {path, data, value} <- [
          {~s(["items", 0, "sku"]), @order, "a"},
          {~s(["items", 1]), @order, %{"sku" => "b"}},
          {~s(["items", 2, "sku"]), @order, nil},
          {~s(["items", -1, "sku"]), @order, nil},
          {~s(["by", 7]), @order, "x"},
          {~s(["by", 7, 0]), @order, nil},
          {~s([1]), [1, 2], 2},
          {~s([1, 0]), [1, [9]], 9},
          {~s([0]), 5, nil},
          {~s([0, "a"]), nil, nil},
          {"[123456789012345678901234567890]", [1], nil}
        ] do
      assert {path, get(path, data)} == {path, value}
    end
  end

  test "a name in a list, and other elements" do
    assert {:error, {:execution_error, "get expected a map, got: " <> _}} =
             get(~s(["items", "sku"]), @order)

    for path <- [~s(["items", 1.5]), ~s(["items", null]), ~s([[0]])] do
      assert get(path, @order) ==
               {:error,
                {:validation_error, "All path elements in 'path' must be strings or integers"}}
    end
  end

  test "edition 1 has names only" do
    assert Json.run(~s({"program": {"op": "get", "path": ["a", 0]}}), edition: 1) ==
             {:error, {:validation_error, "All path elements in 'path' must be strings"}}
  end

  test "the firewall looks behind an index" do
    call = fn field ->
      ~s({"program": {"op": "call", "tool": "t", "args": {"x": {"op": "get", "path": ["rows", 0, "#{field}"], "from": {"op": "load", "name": "o"}}}}})
    end

    opts = [
      context: %{"o" => %{"rows" => [%{"_pin" => 1, "id" => 3}]}},
      tools: %{"t" => & &1},
      firewall: true
    ]

    assert {:ok, %{"x" => 3}, _, _} = Json.run(call.("id"), opts)

    assert {:error, {:validation_error, "Firewalled data flows into a tool: o.rows._pin" <> _}} =
             Json.run(call.("_pin"), opts)
  end
end
