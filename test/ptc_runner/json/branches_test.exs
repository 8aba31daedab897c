defmodule PtcRunner.Json.BranchesTest do
  # With `tool_concurrency`, the parts of a template that call tools overlap.
  use ExUnit.Case, async: true

  alias PtcRunner.Json

  # Each call waits until this many run at the same time.
  defp together(count) do
    gate = start_supervised!({Agent, fn -> [] end}, id: make_ref())
    test = self()

    fn args ->
      me = self()
      waiting = Agent.get_and_update(gate, &{[me | &1], [me | &1]})
      if length(waiting) == count, do: for(pid <- waiting, do: send(pid, {:go, test}))

      receive do
        {:go, ^test} -> args["n"]
      after
        60_000 -> {:error, "alone"}
      end
    end
  end

  defp call(n), do: %{"op" => "call", "tool" => "t", "args" => %{"n" => n}}

  defp run(program, tool, options \\ []) do
    options = [tools: %{"t" => tool}, tool_concurrency: 4, edition: 2] ++ options
    with {:ok, value, _metrics, _memory} <- Json.run(%{"program" => program}, options), do: value
  end

  test "fields of an object" do
    fields = %{"a" => call(1), "b" => %{"c" => call(2)}, "d" => 5, "e" => [call(3)]}
    expected = %{"a" => 1, "b" => %{"c" => 2}, "d" => 5, "e" => [3]}
    assert run(%{"op" => "object", "fields" => fields}, together(3)) == expected
    assert run(fields, together(3)) == expected
  end

  test "members of a list, and arguments of a tool" do
    list = %{"op" => "list", "items" => [[call(1), call(2)], 7]}
    assert run(list, together(2)) == [[1, 2], 7]
    args = %{"op" => "call", "tool" => "u", "args" => %{"x" => [call(1), call(2)]}}
    tools = %{"t" => together(2), "u" => & &1}
    assert run(args, nil, tools: tools) != nil
    options = [tools: tools, tool_concurrency: 2, edition: 2]
    assert {:ok, %{"x" => [1, 2]}, _, _} = Json.run(%{"program" => args}, options)
  end

  test "items of a list, and fields of set and of a single group, in all forms of a program" do
    rows = %{"op" => "literal", "value" => [%{"n" => 1}]}
    pipe = fn steps -> %{"op" => "pipe", "steps" => [rows | steps]} end
    fields = %{"a" => call(1), "b" => %{"op" => "coalesce", "values" => [call(2)]}, "c" => 5}
    more = Map.take(fields, ["a", "b"])
    first = %{"op" => "first"}

    programs = [
      {%{"op" => "list", "items" => [call(1), 5, call(2)]}, [1, 5, 2]},
      {pipe.([first, %{"op" => "set", "fields" => fields}]),
       %{"n" => 1, "a" => 1, "b" => 2, "c" => 5}},
      {pipe.([%{"op" => "set", "fields" => more}]), [%{"n" => 1, "a" => 1, "b" => 2}]},
      {pipe.([%{"op" => "group_by", "field" => "n", "each" => more}]),
       [%{"n" => 1, "a" => 1, "b" => 2}]},
      {pipe.([%{"op" => "map", "expr" => more}]), [%{"a" => 1, "b" => 2}]}
    ]

    for {node, expected} <- programs do
      {:ok, text} = Json.Codec.encode(%{"program" => node})
      {:ok, compiled} = Json.compile(text, edition: 2)

      for {program, more} <- [
            {%{"program" => node}, [edition: 2]},
            {text, [edition: 2]},
            {compiled, []},
            {text, [edition: 2, on_call: fn _call -> :run end]},
            {text, [edition: 2, keys: :any, structs: :values, strict: true]}
          ] do
        options = [tools: %{"t" => together(2)}, tool_concurrency: 4] ++ more
        assert {:ok, ^expected, _delta, _memory} = Json.run(program, options)
      end

      # Observed, they run one after the other, with the same value.
      options = [tools: %{"t" => & &1["n"]}, tool_concurrency: 4, edition: 2]
      assert %{result: {:ok, ^expected, _delta, _memory}} = Json.explain(text, options)
    end
  end

  test "in the body of a loop that forks, and behind it" do
    map = %{
      "op" => "pipe",
      "steps" => [
        %{"op" => "literal", "value" => [1, 2]},
        %{
          "op" => "map",
          "expr" => %{"a" => call(%{"op" => "var", "name" => "__input"}), "b" => call(0)}
        },
        %{"op" => "list", "items" => [%{"op" => "var", "name" => "__input"}, call(3), call(4)]}
      ]
    }

    assert run(map, & &1["n"]) == [[%{"a" => 1, "b" => 0}, %{"a" => 2, "b" => 0}], 3, 4]
  end

  test "the first error counts, and the error of a branch can be caught" do
    fails = fn args -> if args["n"] > 1, do: {:error, "no #{args["n"]}"}, else: 1 end
    list = %{"op" => "list", "items" => [[call(1), call(2), call(3)]]}
    assert {:error, {:execution_error, text}} = run(list, fails)
    assert text =~ "no 2"
    caught = Map.put(call(2), "on_error", %{"op" => "var", "name" => "error"})
    list = %{"op" => "list", "items" => [[call(1), caught]]}
    assert [[1, text]] = run(list, fails)
    assert text =~ "no 2"
  end

  test "without the option, one after the other" do
    {:ok, order} = Agent.start_link(fn -> [] end)
    tool = fn %{"n" => n} -> Agent.update(order, &[n | &1]) end
    list = %{"op" => "list", "items" => [[call(1), call(2), call(3)]]}
    assert {:ok, _, _, _} = Json.run(%{"program" => list}, tools: %{"t" => tool}, edition: 2)
    assert Agent.get(order, & &1) == [3, 2, 1]
  end
end
