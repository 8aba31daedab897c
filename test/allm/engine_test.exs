defmodule ALLM.EngineTest do
  use ExUnit.Case, async: true

  alias ALLM.{Engine, Tool}
  alias PtcRunner.Test.{EngineOracle, Random}
  alias PtcRunner.Test.Generator.Engine, as: Generator

  doctest Engine
  doctest Tool
  doctest ALLM.Error.ValidationError
  doctest ALLM.Engine.ToolMerge

  @cases 500

  defp tool(name, description \\ "x"),
    do: Tool.new(name: name, description: description, schema: %{})

  defp names(tools), do: Enum.map(tools, & &1.name)

  test "the defaults" do
    assert Map.from_struct(Engine.new()) == %{
             adapter: nil,
             adapter_opts: [],
             model: nil,
             tools: [],
             tool_executor: nil,
             tool_result_encoder: nil,
             image_adapter: nil,
             params: %{},
             context: %{},
             retry: :default,
             middleware: [],
             metadata: %{}
           }

    tool = tool("a")

    assert Map.take(tool, [:handler, :manual, :metadata]) == %{
             handler: nil,
             manual: false,
             metadata: %{}
           }
  end

  test "what is no field, or is missing" do
    assert_raise KeyError, fn -> Engine.new(modle: "m") end
    assert_raise KeyError, fn -> Engine.new(api_key: "secret") end
    assert_raise KeyError, fn -> Tool.new(name: "a", description: "a", schema: %{}, other: 1) end

    for missing <- [:name, :description, :schema] do
      opts = Keyword.delete([name: "a", description: "a", schema: %{}], missing)
      assert_raise ArgumentError, fn -> Tool.new(opts) end
    end

    for manual <- [nil, "yes", 1, :true_] do
      assert_raise ArgumentError,
                   "ALLM.Tool :manual must be a boolean, got: #{inspect(manual)}",
                   fn ->
                     Tool.new(name: "a", description: "a", schema: %{}, manual: manual)
                   end
    end
  end

  test "tools are appended as they come, and nothing else is" do
    engine =
      Engine.new() |> Engine.put_tool(tool("a")) |> Engine.put_tools([tool("a"), tool("b")])

    assert names(engine.tools) == ["a", "a", "b"]
    assert_raise FunctionClauseError, fn -> apply(Engine, :put_tool, [engine, %{name: "c"}]) end
  end

  test "params and context take atoms and strings as keys" do
    for put <- [&Engine.put_param/3, &Engine.put_context/3] do
      engine = Engine.new() |> put.(:a, 1) |> put.("a", 2) |> put.(:a, 3)
      assert %{:a => 3, "a" => 2} in [engine.params, engine.context]
    end
  end

  test "the last of several overrides of a name counts, new names keep their repetitions" do
    engine = Engine.new(tools: [tool("a"), tool("b"), tool("a")])
    opts = [tools: [tool("a", "1"), tool("n", "1"), tool("a", "2"), tool("n", "2")]]
    resolved = Engine.resolve_tools(engine, opts)

    assert for(tool <- resolved, do: {tool.name, tool.description}) ==
             [{"a", "2"}, {"b", "x"}, {"a", "2"}, {"n", "1"}, {"n", "2"}]
  end

  test "what has no name is neither replaced nor replaces" do
    engine = Engine.new(tools: [tool("a"), :odd, %{}])

    assert Engine.resolve_tools(engine, tools: [:odd, %{}, tool("a", "1")]) ==
             [tool("a", "1"), :odd, %{}, :odd, %{}]

    for tools <- [nil, 5, [tool("a") | tool("b")], %{}, []],
        do: assert(Engine.resolve_tools(engine, tools: tools) == engine.tools)

    # names are compared by ===
    assert [%{name: 1}, %{name: 1.0}] =
             Engine.resolve_tools(Engine.new(tools: [%{name: 1}]), tools: [%{name: 1.0}])
  end

  test "long lists of tools" do
    for count <- [7, 8, 9, 10, 1_000, 1_999, 2_001, 30_000] do
      engine = Engine.new(tools: for(n <- 1..count, do: tool("tool #{n}")))
      half = div(count, 2)
      overrides = for n <- count..half//-1, do: tool("tool #{n + half}", "new")
      resolved = Engine.resolve_tools(engine, tools: overrides)

      kept = for n <- 1..(2 * half - 1)//1, n <= count, do: {"tool #{n}", "x"}
      replaced = for n <- (2 * half)..count//1, do: {"tool #{n}", "new"}

      appended =
        for %{name: name} <- overrides,
            "tool " <> n = name,
            String.to_integer(n) > count,
            do: {name, "new"}

      assert for(tool <- resolved, do: {tool.name, tool.description}) ==
               kept ++ replaced ++ appended
    end
  end

  # A model is looked up in a module that is searched for on the code path: slow on a busy machine.
  @tag timeout: 300_000
  test "the resolvers are the rules" do
    each_random({Generator.engine(), Generator.opts()}, fn {engine, opts} ->
      assert Engine.resolve_tools(engine, opts) === EngineOracle.resolve_tools(engine, opts)
      assert Engine.resolve_params(engine, opts) === EngineOracle.resolve_params(engine, opts)
      assert Engine.resolve_model(engine, opts) === (opts[:model] || engine.model)

      merged = Engine.merge_opts(engine, opts)
      assert merged.tools === EngineOracle.resolve_tools(engine, opts)
      assert merged.model === Keyword.get(opts, :model, engine.model)
      assert merged.params === Map.merge(engine.params, opts[:params] || %{})
      assert merged.context === Map.merge(engine.context, opts[:context] || %{})

      assert Map.drop(merged, [:tools, :model, :params, :context]) ===
               Map.drop(engine, [:tools, :model, :params, :context])
    end)
  end

  test "merge_opts/2 is total" do
    each_random({Generator.engine(), Generator.any_opts()}, fn {engine, opts} ->
      assert %Engine{params: %{}, context: %{}} = Engine.merge_opts(engine, opts)
    end)
  end

  test "keys that are never forwarded" do
    keys = Map.keys(Engine.new()) -- [:__struct__]
    opts = for key <- [:api_key, :max_turns | keys], do: {key, 1}
    assert Engine.resolve_params(Engine.new(), opts) == %{max_turns: 1}
    assert Engine.resolve_params(Engine.new(), a: 1, a: 2) == %{a: 2}
  end

  test "an engine survives the external term format" do
    each_random(Generator.engine(), fn engine ->
      assert engine |> :erlang.term_to_binary() |> :erlang.binary_to_term() === engine
    end)
  end

  defp each_random(template, fun) do
    seed = PtcRunner.Test.Environment.seed()

    for n <- 1..PtcRunner.Test.Environment.cases(@cases) do
      {value, _state} = Random.build(template, :rand.seed_s(:exsss, {seed, n, 0}))
      fun.(value)
    end
  end
end
