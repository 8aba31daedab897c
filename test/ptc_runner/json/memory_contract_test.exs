defmodule PtcRunner.Json.MemoryContractTest do
  # What a program's value does to the memory.
  use ExUnit.Case, async: true

  alias PtcRunner.Json

  @memory %{"kept" => 1, "n" => 0, "__input" => 9, :atom => 2}

  # By four ways to the same value: a literal, an explicit object, a load, a tool.
  defp runs(value, memory) do
    literal = %{"op" => "literal", "value" => value}
    load = %{"op" => "load", "name" => "v"}
    call = %{"op" => "call", "tool" => "t"}
    pipe = %{"op" => "pipe", "steps" => [load, %{"op" => "get", "path" => []}]}

    for node <- [literal, load, call, pipe] do
      opts = [context: %{"v" => value}, tools: %{"t" => fn _ -> value end}, memory: memory]
      Json.run(%{"program" => node}, opts)
    end
  end

  defp assert_contract(value, result, delta, memory \\ @memory) do
    expected = {:ok, result, delta, Map.merge(memory, delta)}
    for run <- runs(value, memory), do: assert(run === expected)
  end

  test "a value that is no map changes nothing" do
    for value <- [nil, false, 0, "result", [], [%{"result" => 1}], {:a, %{"result" => 1}}] do
      assert_contract(value, value, %{})
    end
  end

  test "a map updates the memory, shallowly" do
    assert_contract(%{}, %{}, %{})
    assert_contract(%{"n" => %{"a" => 1}}, %{"n" => %{"a" => 1}}, %{"n" => %{"a" => 1}})

    assert_contract(%{"n" => %{"b" => 2}}, %{"n" => %{"b" => 2}}, %{"n" => %{"b" => 2}}, %{
      "n" => %{"a" => 1}
    })

    assert_contract(%{1 => 2, nil => 3}, %{1 => 2, nil => 3}, %{1 => 2, nil => 3})
  end

  test "a result is taken out, whatever it is" do
    for result <- [1, nil, false, [], %{"result" => 2}, %{"n" => 1}, ~D[2024-01-31]] do
      assert_contract(%{"result" => result}, result, %{})
      assert_contract(%{"result" => result, "n" => 5}, result, %{"n" => 5})
      assert_contract(%{result: result, n: 5}, result, %{n: 5})
    end
  end

  test "the string key wins over the atom, other spellings mean nothing" do
    assert_contract(%{"result" => 1, result: 2}, 1, %{result: 2})

    for key <- ["Result", "result ", "results", ~c"result", :Result] do
      assert_contract(%{key => 1}, %{key => 1}, %{key => 1})
    end
  end

  test "structs are maps: their fields land in the memory" do
    date = ~D[2024-01-31]
    assert_contract(date, date, Map.merge(%{}, date))
    assert {:ok, ^date, delta, memory} = hd(runs(date, %{"kept" => 1}))
    assert Map.keys(delta) == Map.keys(date)
    assert memory === Map.merge(%{"kept" => 1}, date)
  end

  test "an object's fields are evaluated, its result is taken out" do
    program = %{
      "result" => %{"op" => "add", "left" => %{"op" => "var", "name" => "n"}, "right" => 1},
      "n" => %{"op" => "literal", "value" => 7},
      "other" => %{"not" => "evaluated"}
    }

    for node <- [program, %{"op" => "object", "fields" => program}] do
      assert Json.run(%{"program" => node}, memory: %{"n" => 1}) ==
               {:ok, 2, %{"n" => 7, "other" => %{"not" => "evaluated"}},
                %{"n" => 7, "other" => %{"not" => "evaluated"}}}
    end
  end

  test "nothing of the run gets into the memory: bindings, current values" do
    let = %{
      "op" => "let",
      "name" => "bound",
      "value" => %{"op" => "literal", "value" => 1},
      "in" => %{"result" => %{"op" => "var", "name" => "bound"}, "a" => 1}
    }

    pipe = %{"op" => "pipe", "steps" => [let, %{"op" => "get", "field" => "a"}]}

    assert Json.run(%{"program" => let}, memory: %{"m" => 1}) ==
             {:ok, 1, %{"a" => 1}, %{"a" => 1, "m" => 1}}

    assert Json.run(%{"program" => pipe}, memory: %{"m" => 1}) == {:ok, 1, %{}, %{"m" => 1}}
  end

  test "the memory of one turn is that of the next" do
    turn = fn program, memory ->
      {:ok, result, _delta, memory} = Json.run(program, memory: memory)
      {result, memory}
    end

    {nil, memory} = turn.(~s({"program": {"result": null, "list": [1, 2]}}), %{})

    {2, memory} =
      turn.(
        ~s({"program": {"op": "pipe", "steps": [{"op": "var", "name": "list"}, {"op": "count"}]}}),
        memory
      )

    {3, memory} = turn.(~s({"program": {"result": 3, "list": null, "total": 3}}), memory)
    assert memory == %{"list" => nil, "total" => 3}
  end

  test "a memory of 100,000 keys and a value of 100,000 keys" do
    memory = Map.new(1..100_000, &{"m#{&1}", &1})
    value = Map.new(50_000..150_000, &{"m#{&1}", -&1})
    assert_contract(Map.put(value, "result", 1), 1, value, memory)
  end

  test "an error gives no memory" do
    assert Json.run(~s({"program": {"op": "first"}}), memory: %{"m" => 1}) ==
             {:error, {:execution_error, "No input available"}}
  end
end
