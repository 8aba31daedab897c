defmodule PtcRunner.Json.OptionsTest do
  # Options that are wrong, odd, missing, given twice.
  use ExUnit.Case, async: true

  alias PtcRunner.Json

  doctest PtcRunner.Json.Inputs

  @program ~s({"program": {"op": "load", "name": "n"}})

  defp forms do
    {:ok, compiled} = Json.compile(@program)
    [@program, %{"program" => %{"op" => "load", "name" => "n"}}, compiled]
  end

  test "of two equal options the first counts" do
    opts = [context: %{"n" => 1}, context: %{"n" => 2}, timeout: 50, timeout: -1]
    for form <- forms(), do: assert(Json.run(form, opts) == {:ok, 1, %{}, %{}})
  end

  test "nil stands for the default of a limit" do
    for form <- forms() do
      assert {:ok, nil, _, _} = Json.run(form, timeout: nil, max_heap: nil)
    end
  end

  test "timeouts that are none raise" do
    for form <- forms(), timeout <- [-1, 1.5, :soon, "1", 2 ** 32, 2 ** 70] do
      assert_raise ArgumentError, ~r/:timeout .* milliseconds/, fn ->
        Json.run(form, timeout: timeout)
      end
    end

    for timeout <- [0, 1, 2 ** 32 - 1, :infinity] do
      assert {:ok, nil, _, _} = Json.run(@program, timeout: timeout)
    end
  end

  test "heaps that are none raise" do
    for form <- forms(), heap <- [-1, 1, 232, 1.5, :infinity, "1", 2 ** 64] do
      assert_raise ArgumentError, ~r/max_heap/, fn -> Json.run(form, max_heap: heap) end
    end

    for heap <- [0, 233, 2 ** 40],
        do: assert({:ok, nil, _, _} = Json.run(@program, max_heap: heap))
  end

  test "depths that are none raise" do
    for depth <- [0, -1, 1.5, :infinity, nil, 2 ** 32] do
      assert_raise ArgumentError, ~r/max_depth/, fn -> Json.run(@program, max_depth: depth) end

      assert_raise ArgumentError, ~r/max_depth/, fn ->
        Json.compile(@program, max_depth: depth)
      end
    end

    assert {:ok, nil, _, _} = Json.run(@program, max_depth: 2 ** 32 - 1)
  end

  test "contexts, memories and tools that are no maps are an error, after those of the program" do
    for form <- forms(),
        name <- [:context, :memory, :tools],
        value <- [[], nil, "x", 1, [a: 1]] do
      message = "Option :#{name} must be a map, got #{inspect(value)}"
      assert Json.run(form, [{name, value}]) == {:error, {:execution_error, message}}

      assert {:error, {:validation_error, _}} =
               Json.run(~s({"program": {"op": "lod"}}), [{name, value}])

      assert {:error, {:parse_error, _}} = Json.run("{", [{name, value}])
    end
  end

  test "tools that are no functions of one argument are an error, even if nothing calls them" do
    wrong = %{"b" => 1, "a" => fn -> 1 end, "ok" => & &1, "c" => &+/2, d: nil, e: & &1}
    message = "Tools must be functions with arity 1. Invalid: d, a, b, c"

    for form <- forms() do
      assert Json.run(form, tools: wrong) == {:error, {:validation_error, message}}
    end

    assert {:error, {:validation_error, "Unknown operation" <> _}} =
             Json.run(~s({"program": {"op": "lod"}}), tools: wrong)

    many = Map.new(1..100, &{"t#{&1}", &1})
    assert {:error, {:validation_error, message}} = Json.run(@program, tools: many)
    assert message =~ "t100"
  end

  test "structs are maps, as context and as memory" do
    date = ~D[2024-01-31]
    assert Json.run(@program, context: date, memory: date) == {:ok, nil, %{}, date}
  end

  test "contexts may have any keys" do
    assert {:ok, 5, _, _} = Json.run(@program, context: %{"n" => 5, :n => 1, 1 => 2, nil => 3})
    large = Map.new(1..1_000, &{"k#{&1}", &1})
    assert {:ok, 5, _, _} = Json.run(@program, context: Map.put(large, "n", 5))
  end

  test "run!/2 takes the same options, and gives the result or raises" do
    assert Json.run!(@program, context: %{"n" => [1]}) == [1]
    assert_raise RuntimeError, fn -> Json.run!(@program, context: []) end
    assert_raise ArgumentError, fn -> Json.run!(@program, timeout: -1) end
  end

  test "programs that are none" do
    for program <- [[], nil, 1, 1.5, :a, {}, {1}, self(), <<1::3>>, [program: 1], &is_nil/1] do
      text = "Input must be a string or map, got #{inspect(program)}"
      assert Json.run(program) == {:error, {:parse_error, text}}
      assert Json.compile(program) == {:error, {:parse_error, text}}
      assert Json.run(program, tools: %{"a" => 1}) == {:error, {:parse_error, text}}
    end

    for program <- [%{}, %{program: 1}, ~D[2024-01-31], MapSet.new()] do
      assert Json.run(program) == {:error, {:parse_error, "Missing required field 'program'"}}
    end
  end
end
