defmodule PtcRunner.Agent.HostileSchemasTest do
  # Schemas of tools that are made to take long, or to become large: their time and the size of their types are bounded, and nothing is
  # left out without a line.
  # The processor's time is that of the whole VM: no other test runs in theirs.
  use PtcRunner.Test.Apart

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Agent.Tool.Schemas
  alias PtcRunner.Test.Room

  # Words of the types of a tool.
  @most 2_000_000

  defp ref(name), do: %{"$ref" => "#/$defs/#{name}"}
  defp object(properties), do: %{"type" => "object", "properties" => properties}

  defp nested(count, first, fun), do: Enum.reduce(1..count, first, fn _, inner -> fun.(inner) end)

  # Schemas of arguments, and whether something of them cannot be kept.
  defp hostile do
    text = %{"type" => "string"}
    tree = object(%{"left" => ref("tree"), "n" => %{"type" => "integer"}})

    bomb =
      for n <- 1..60,
          into: %{},
          do: {"b#{n}", object(%{"x" => ref("b#{n + 1}"), "y" => ref("b#{n + 1}")})}

    unions =
      for n <- 1..60,
          into: %{},
          do: {"u#{n}", %{"anyOf" => [object(%{"a" => ref("u#{n + 1}")}), ref("u#{n + 1}")]}}

    chain = for n <- 1..5_000, into: %{}, do: {"c#{n}", ref("c#{n + 1}")}
    long = String.duplicate("x", 1_000_000)

    [
      {:itself, %{"p" => %{"$ref" => "#"}}, %{}, false},
      {:loop, %{"p" => ref("a")}, %{"a" => ref("b"), "b" => ref("a")}, true},
      {:tree, %{"p" => ref("tree")}, %{"tree" => tree}, false},
      {:bomb, %{"p" => ref("b1")}, bomb, true},
      {:unions, %{"p" => ref("u1")}, unions, true},
      {:chain, %{"p" => ref("c1")}, chain, true},
      {:deep, %{"p" => nested(5_000, text, &object(%{"d" => &1}))}, %{}, true},
      {:deep_lists, %{"p" => nested(6_000, text, &%{"type" => "array", "items" => &1})}, %{},
       true},
      {:deep_all, %{"p" => nested(5_000, text, &%{"allOf" => [&1]})}, %{}, false},
      {:nested, %{"p" => nested(5_000, text, &%{"anyOf" => [&1, %{"type" => "null"}]})}, %{},
       false},
      {:wide,
       for(
         n <- 1..20_000,
         into: %{},
         do: {"w#{n}", %{"type" => "string", "enum" => ["a"], "description" => "d"}}
       ), %{}, false},
      {:all, %{"p" => %{"allOf" => for(n <- 1..20_000, do: object(%{"p#{n}" => %{}}))}}, %{},
       false},
      {:many, %{"p" => %{"anyOf" => for(n <- 1..20_000, do: object(%{"p#{n}" => text}))}}, %{},
       true},
      {:many_bombs, for(n <- 1..100, into: %{}, do: {"p#{n}", ref("b1")}), bomb, true},
      {:references_in_all, %{"p" => %{"allOf" => List.duplicate(ref("b1"), 90)}}, bomb, true},
      {:enumeration, %{"p" => %{"enum" => Enum.to_list(1..50_000)}}, %{}, false},
      {:texts, %{"p" => %{"const" => long, "description" => long}, long => text}, %{}, false},
      {:wrong, %{"p" => %{"type" => List.duplicate("x", 50_000), "required" => [1, 2]}}, %{},
       true}
    ]
  end

  test "hostile schemas end soon, with types of a bounded size, and say what is not kept" do
    for {name, properties, defs, lost?} <- hostile() do
      schema = properties |> object() |> Map.put("$defs", defs)
      {ms, read} = Room.least_ms(3_000, fn -> Schemas.arguments(schema) end)
      assert {name, ms < 3_000} == {name, true}
      assert {name, [_ | _] = read.fields} == {name, read.fields}
      words = :erts_debug.flat_size({read.fields, read.data.type, read.notes})
      assert {name, words, words < @most} == {name, words, true}
      if lost?, do: assert({name, read.lines} != {name, []})
    end
  end

  @tag timeout: 100_000
  test "tools of them are called, checked and shown in time" do
    for {name, properties, defs, _lost?} <- hostile() do
      schema = properties |> object() |> Map.put("$defs", defs)
      list = [%{"type" => "function", "name" => "t", "parameters" => schema}]
      {:ok, [tool], lines} = Tool.from_openai(list, %{"t" => & &1})
      assert length(lines) <= 21
      assert Enum.all?(lines, &(byte_size(&1) < 5_000))

      deep = nested(200, "x", &%{Enum.random(["x", "d", "left", "a"]) => &1})
      program = %{"program" => %{"op" => "call", "tool" => "t", "args" => %{"p" => deep}}}

      {ms, _done} =
        Room.least_ms(3_000, fn ->
          PtcRunner.Json.run(program, tools: %{"t" => tool}, timeout: 10_000, max_heap: nil)
          PtcRunner.Json.check(program, tools: %{"t" => tool})
          PtcRunner.Agent.prompt(tools: [tool])
        end)

      assert {name, ms, ms < 3_000} == {name, ms, true}
    end
  end
end
