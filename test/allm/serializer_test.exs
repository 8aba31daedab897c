defmodule ALLM.SerializerTest do
  use ExUnit.Case, async: true

  alias ALLM.{Engine, Serializer, Tool}
  alias ALLM.Error.ValidationError
  alias PtcRunner.Json.Codec
  alias PtcRunner.Test.Random
  alias PtcRunner.Test.Generator.Engine, as: Generator

  doctest Serializer
  doctest Serializer.Restore

  defp tool(opts \\ []), do: Tool.new([name: "a", description: "b", schema: %{}] ++ opts)
  defp decoded(struct), do: struct |> Serializer.to_json!() |> Codec.decode!()
  defp tagged(data, tag \\ "ALLM.Engine"), do: Codec.encode!(%{"__type__" => tag, "data" => data})

  defp assert_error(json, opts \\ [], error) do
    expected = %ValidationError{
      reason: :invalid_request,
      errors: [error],
      message: "invalid JSON for ALLM.Serializer.from_json/2"
    }

    assert Serializer.from_json(json, opts) == {:error, expected}
  end

  test "an engine, with every field" do
    engine =
      Engine.new(
        adapter: String,
        adapter_opts: [mode: :strict, timeout: 5],
        model: "m",
        tools: [tool(handler: {String, :upcase}, manual: true, metadata: %{at: ~D[2025-11-20]})],
        params: %{:temperature => 0.5, "s" => [1, nil]},
        context: %{at: ~U[2025-11-20 06:27:00Z]},
        retry: [max: 3],
        metadata: %{1 => true}
      )

    assert decoded(engine) == %{
             "__type__" => "ALLM.Engine",
             "data" => %{
               "adapter" => "Elixir.String",
               "adapter_opts" => [["mode", "strict"], ["timeout", 5]],
               "model" => "m",
               "tools" => [
                 %{
                   "__type__" => "ALLM.Tool",
                   "data" => %{
                     "name" => "a",
                     "description" => "b",
                     "schema" => %{},
                     "handler" => ["Elixir.String", "upcase"],
                     "manual" => true,
                     "metadata" => %{"at" => "2025-11-20"}
                   }
                 }
               ],
               "tool_executor" => nil,
               "tool_result_encoder" => nil,
               "image_adapter" => nil,
               "params" => %{"temperature" => 0.5, "s" => [1, nil]},
               "context" => %{"at" => "2025-11-20T06:27:00Z"},
               "retry" => [["max", 3]],
               "middleware" => [],
               "metadata" => %{"1" => true}
             }
           }
  end

  test "retry" do
    for {retry, json} <- [{:default, "default"}, {false, false}, {[a: 1], [["a", 1]]}] do
      engine = Engine.new(retry: retry)
      assert decoded(engine)["data"]["retry"] == json
      assert Serializer.from_json(Serializer.to_json!(engine)) == {:ok, engine}
    end
  end

  test "what loses its type" do
    engine =
      Engine.new(
        adapter_opts: [mode: :strict],
        params: %{at: ~D[2025-11-20]},
        tools: [tool(handler: {String, :upcase}, schema: %{a: 1})]
      )

    assert {:ok, back} = Serializer.from_json(Serializer.to_json!(engine))
    assert back.adapter_opts == [mode: "strict"]
    assert back.params == %{at: "2025-11-20"}
    assert [%Tool{handler: ["Elixir.String", "upcase"], schema: %{"a" => 1}}] = back.tools
  end

  test "every serializable engine and tool comes back" do
    seed = PtcRunner.Test.Environment.seed()

    for n <- 1..PtcRunner.Test.Environment.cases(500) do
      {struct, _} =
        Random.build(
          Random.one_of([Generator.engine(), Generator.tool()]),
          :rand.seed_s(:exsss, {seed, n, 0})
        )

      json = Serializer.to_json!(struct)
      assert Serializer.from_json(json) === {:ok, struct}
      assert IO.iodata_to_binary(Serializer.to_iodata!(struct)) == json

      # without the tag, by `:as`
      %{"data" => data} = Codec.decode!(json)
      assert Serializer.from_json(Codec.encode!(data), as: struct.__struct__) === {:ok, struct}
    end
  end

  test "nothing unserializable passes, wherever it stands" do
    for value <- [&Map.put/3, self(), make_ref(), {1, 2}, 1..2, <<1::3>>, [1 | 2]],
        nest <- [& &1, &[1, &1], &%{a: [%{b: &1}]}] do
      nested = nest.(value)

      fields = Map.keys(Engine.new()) -- [:__struct__]

      engines =
        for(field <- fields, do: Engine.new([{field, nested}])) ++
          for(field <- [:adapter_opts, :retry], do: Engine.new([{field, [key: nested]}])) ++
          for(field <- [:params, :context, :metadata], do: Engine.new([{field, %{key: nested}}])) ++
          for(field <- [:model, :middleware], do: Engine.new([{field, [nested]}])) ++
          for(
            opt <- [:schema, :metadata],
            do: Engine.new(tools: [tool(), struct!(tool(), [{opt, %{a: nested}}])])
          )

      for engine <- engines do
        error = assert_raise Protocol.UndefinedError, fn -> Serializer.to_json!(engine) end
        assert error.value == value
        assert_raise Protocol.UndefinedError, fn -> Serializer.to_iodata!(engine) end
      end
    end

    for handler <- [&is_nil/1, fn _, _ -> 1 end, {String, :upcase, 1}, {"a", :b}],
        struct <- [tool(handler: handler), Engine.new(tools: [tool(), tool(handler: handler)])] do
      assert_raise Protocol.UndefinedError, fn -> Serializer.to_json!(struct) end
    end

    assert_raise Codec.EncodeError, fn -> Serializer.to_json!(Engine.new(model: <<0xFF>>)) end
  end

  test "validation errors come back" do
    error =
      ValidationError.new(:invalid_request, [{:json, :malformed}, {[:tools, 0, :name], :missing}],
        message: "no"
      )

    assert Serializer.from_json(Serializer.to_json!(error)) === {:ok, error}

    for spoiled <- [
          %{"reason" => 1},
          %{"errors" => [1]},
          %{"errors" => 1},
          %{"message" => nil},
          %{"errors" => [["a", 1]]}
        ] do
      %{"data" => data} = decoded(error)

      assert_error(
        tagged(Map.merge(data, spoiled), "ALLM.Error.ValidationError"),
        {:data, :malformed_struct}
      )
    end
  end

  test "an atom that does not exist is an error, and is not made" do
    name = "qzx_serializer_#{System.unique_integer([:positive])}"

    for data <- [
          %{adapter: name},
          %{tool_executor: "Elixir.#{name}"},
          %{params: %{name => 1}},
          %{context: %{name => 1}},
          %{metadata: %{name => 1}},
          %{adapter_opts: [["timeout", 1], [name, 1]]},
          %{retry: [[name, 1]]},
          %{adapter: String.duplicate("a", 300)}
        ] do
      assert_error(tagged(data), {:_unknown, :atom_decode_failed})
    end

    # values, and what stands below the first keys, are no atoms at all
    deep = %{"params" => %{"temperature" => %{name => name}}, "model" => name}
    assert {:ok, engine} = Serializer.from_json(tagged(deep))
    assert engine.params == %{temperature: %{name => name}}
    assert_raise ArgumentError, fn -> String.to_existing_atom(name) end
  end

  test "the other errors" do
    for json <- ["", "{", "[1,]", "nope", <<?", 0xFF, ?">>],
        do: assert_error(json, {:json, :malformed})

    for json <- ["{}", "[]", "1", "null", ~s("x")],
        do: assert_error(json, {:format, :missing_type_tag})

    for json <- ["[]", "1"], do: assert_error(json, [as: Engine], {:format, :missing_type_tag})

    for as <- [String, No.Such, "ALLM.Engine"],
        do: assert_error("{}", [as: as], {:format, :unknown_type_tag})

    for tag <- ["ALLM.Engine", "ALLM.Tool", "ALLM.Error.ValidationError"] do
      assert_error(Codec.encode!(%{"__type__" => tag}), {:data, :missing})

      for data <- [nil, [], 1, "x"],
          do: assert_error(tagged(data, tag), {:data, :malformed_struct})
    end
  end

  test "data that makes no such struct" do
    for data <- [%{}, %{name: "a", description: "b"}, %{name: 1, description: "b", schema: %{}}],
        do: assert_error(tagged(data, "ALLM.Tool"), {:data, :malformed_struct})

    assert_error(
      tagged(%{decoded(tool())["data"] | "manual" => nil}, "ALLM.Tool"),
      {:data, :malformed_struct}
    )

    for data <- [
          %{tools: 1},
          %{tools: [%{}]},
          %{tools: [1]},
          %{params: []},
          %{adapter: 1},
          %{adapter_opts: 1},
          %{middleware: 1}
        ],
        do: assert_error(tagged(data), {:data, :malformed_struct})

    assert_error(tagged(%{tools: [%{"__type__" => "ALLM.Tool"}]}), {:data, :missing})
  end

  test "tags decide, and unknown ones leave the map as it is" do
    json = Serializer.to_json!(tool())
    assert Serializer.from_json(json, as: Engine) == {:ok, tool()}
    assert Serializer.from_json(json, as: :nonsense) == {:ok, tool()}

    for tag <- ["Decimal", "Elixir.ALLM.Engine", nil, 5, ["ALLM.Engine"]] do
      map = %{"__type__" => tag, "data" => %{"a" => 1}}
      assert Serializer.from_json(Codec.encode!(map)) == {:ok, map}
      assert Serializer.from_json(Codec.encode!(map), as: Engine) == {:ok, map}
    end
  end

  test "fields that are no fields are ignored" do
    assert Serializer.from_json(tagged(%{"model" => "m", "api_key" => "x"})) ==
             {:ok, Engine.new(model: "m")}
  end
end
