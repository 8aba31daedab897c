defmodule PtcRunner.Agent.FromOpenapiTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Test.Room

  doctest PtcRunner.Agent.Tool.OpenApiRequest
  doctest PtcRunner.Agent.Tool.Reference
  doctest PtcRunner.Agent.Tool.OperationChoice

  # The pet store of the OpenAPI examples, shortened, with parts of each kind.
  @store ~S"""
  {"openapi": "3.0.3", "info": {"title": "Store", "version": "1"},
   "paths": {
     "/pets": {
       "parameters": [{"$ref": "#/components/parameters/Trace"}],
       "get": {"operationId": "listPets", "summary": "All pets",
         "parameters": [
           {"name": "limit", "in": "query", "schema": {"type": "integer", "maximum": 100}},
           {"name": "tags", "in": "query", "explode": false, "schema": {"type": "array", "items": {"type": "string"}}},
           {"name": "filter", "in": "query", "style": "deepObject", "schema": {"type": "object", "properties": {"kind": {"enum": ["cat", "dog"]}}}},
           {"name": "session", "in": "cookie", "schema": {"type": "string"}},
           {"name": "Authorization", "in": "header", "schema": {"type": "string"}}],
         "responses": {"200": {"description": "ok", "content": {"application/json; charset=utf-8": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}}}}},
                       "default": {"$ref": "#/components/responses/Error"}}},
       "post": {"operationId": "addPet", "requestBody": {"$ref": "#/components/requestBodies/Pet"},
         "responses": {"201": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}}}},
     "/pets/{id}": {
       "get": {"description": "One pet", "parameters": [
           {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
           {"name": "id", "in": "query", "schema": {"type": "integer"}}],
         "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}, "204": {"description": "none"}}},
       "put": {"operationId": "upload", "requestBody": {"required": true, "content": {"multipart/form-data": {}}}}}},
   "components": {
     "parameters": {"Trace": {"name": "X-Trace", "in": "header", "schema": {"type": "string"}}},
     "requestBodies": {"Pet": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}}},
     "responses": {"Error": {"description": "bad"}},
     "schemas": {"Pet": {"type": "object", "required": ["id", "name"], "properties": {
       "id": {"type": "integer", "readOnly": true}, "name": {"type": "string", "minLength": 1},
       "secret": {"type": "string", "writeOnly": true}, "mother": {"$ref": "#/components/schemas/Pet"},
       "owner": {"type": "string", "nullable": true}}}}}}
  """

  defp store(request \\ &{:ok, &1}) do
    {:ok, tools, dropped} = Tool.from_openapi(@store, request)
    {Map.new(tools, &{&1.name, &1}), dropped}
  end

  defp run(tools, name, args) do
    program = %{"program" => %{"op" => "call", "tool" => name, "args" => args}}
    PtcRunner.Json.run(PtcRunner.Json.Codec.encode!(program), tools: tools)
  end

  defp one(operation, path \\ "/a/{id}", more \\ %{}) do
    document =
      Map.merge(%{"openapi" => "3.1.0", "paths" => %{path => %{"get" => operation}}}, more)

    Tool.from_openapi(document, &{:ok, &1})
  end

  test "names, effects, descriptions, types" do
    {tools, _dropped} = store()
    assert Map.keys(tools) == ["addPet", "get_pets_id", "listPets"]

    assert for({name, tool} <- tools, do: {name, tool.effect}) == [
             {"addPet", :write},
             {"get_pets_id", :read},
             {"listPets", :read}
           ]

    assert tools["listPets"].description == "All pets"
    assert tools["get_pets_id"].description == "One pet"

    assert {:signature,
            [{"X-Trace", {:optional, :string}}, {"body", {:defs, _names, {:map, body}}}],
            {:defs, _, {:map, pet}}} = tools["addPet"].signature

    # The response has the id, the request has the secret.
    name = {"name", {:where, :string, [min_length: 1]}}
    assert [{"mother", _}, ^name, {"owner", {:optional, :string}}, {"secret", _}] = body
    assert [{"id", :int}, {"mother", _}, ^name, {"owner", _}] = pet
    assert {:signature, _, {:defs, _, {:optional, {:map, _}}}} = tools["get_pets_id"].signature
    assert {:signature, _, {:defs, _, {:list, {:map, _}}}} = tools["listPets"].signature
    assert tools["listPets"].notes.enums == %{"filter.kind" => ["cat", "dog"]}
  end

  test "what is not validated or not sent is listed" do
    {tools, dropped} = store()

    assert "PUT /pets/{id} is left out: its body is multipart/form-data, not application/json" in dropped

    # These are rules of the types.
    {:signature, fields, _returns} = tools["listPets"].signature
    assert {"limit", {:optional, {:where, :int, [max: 100]}}} in fields
    refute Enum.any?(dropped, &(&1 =~ ~r/maximum|minLength/))
    assert "listPets: session is not sent: it is in cookie" in dropped

    assert "listPets: the header Authorization is set by the function that makes the request" in dropped

    # A schema that contains itself is validated, too.
    refute Enum.any?(dropped, &(&1 =~ "mother"))
    body = %{"name" => "Rex", "mother" => %{"name" => "Ada", "mother" => %{"name" => ""}}}
    assert {:error, error} = run(tools, "addPet", %{"body" => body})
    assert inspect(error) =~ "body.mother.mother.name: expected at least 1 character"
  end

  test "requests" do
    this = self()

    {tools, _} =
      store(fn request ->
        send(this, request)
        {:ok, nil}
      end)

    run(tools, "get_pets_id", %{"id" => "a/b ü?", "id_query" => 3})

    assert_received %{
      operation: "get_pets_id",
      method: "GET",
      path: "/pets/a%2Fb%20%C3%BC%3F",
      query: [{"id", "3"}],
      body: nil
    }

    run(tools, "listPets", %{
      "limit" => 5,
      "tags" => ["a", "b"],
      "filter" => %{"kind" => "cat"},
      "X-Trace" => "t"
    })

    assert_received %{
      path: "/pets",
      query: [{"limit", "5"}, {"tags", "a,b"}, {"filter[kind]", "cat"}],
      headers: [{"X-Trace", "t"}]
    }

    run(tools, "addPet", %{"body" => %{"name" => "Rex", "secret" => "s"}})

    assert_received %{
      method: "POST",
      path: "/pets",
      headers: [],
      body: %{"name" => "Rex", "secret" => "s"}
    }
  end

  test "arguments and answers that do not fit are errors" do
    {tools, _} = store(fn _ -> {:ok, [%{"id" => "none", "name" => "Rex"}]} end)
    assert {:error, _} = run(tools, "listPets", %{"filter" => %{"kind" => "cow"}})
    assert {:error, _} = run(tools, "addPet", %{})

    {:ok, strict, _} =
      Tool.from_openapi(@store, fn _ -> {:ok, [%{"id" => "none", "name" => "Rex"}]} end,
        results: :error
      )

    assert {:error, error} = run(Map.new(strict, &{&1.name, &1}), "listPets", %{})
    assert inspect(error) =~ "its result is not what its signature says"
    {tools, _} = store(fn _ -> {:error, "503"} end)
    assert {:error, error} = run(tools, "listPets", %{})
    assert inspect(error) =~ "503"
  end

  test "a part of the path never leads to another path, and a header never ends" do
    {tools, _} = store(fn request -> flunk(inspect(request)) end)

    for id <- ["", ".", ".."] do
      assert {:error, error} = run(tools, "get_pets_id", %{"id" => id})
      assert inspect(error) =~ "must not be empty, . or .."
    end

    assert {:error, error} = run(tools, "listPets", %{"X-Trace" => "a\r\nX-Admin: 1"})
    assert inspect(error) =~ "must not have control characters"
  end

  test "an answer that differs from the document is a warning unless asked otherwise" do
    answer = [%{"id" => "none", "name" => "Rex"}]
    program = %{"program" => %{"op" => "call", "tool" => "listPets", "args" => %{}}}

    for {results, expected} <- [
          {:warn,
           ["listPets: the result differs: [0].id: expected integer, got string \"none\""]},
          {false, []}
        ] do
      {:ok, tools, _} = Tool.from_openapi(@store, fn _ -> {:ok, answer} end, results: results)

      ExUnit.CaptureLog.capture_log(fn ->
        assert {:ok, ^answer, %{warnings: ^expected}} = PtcRunner.Agent.run(program, tools)
      end)
    end

    {:ok, tools, _} = Tool.from_openapi(@store, & &1, results: false)
    assert Enum.all?(tools, &match?({:signature, _, :any}, &1.signature))
  end

  test "the operations that are chosen, by name, path, method and tag" do
    operation = &%{"operationId" => &1, "tags" => &2}

    paths = %{
      "/a" => %{"get" => operation.("getA", ["x"]), "post" => operation.("postA", ["x", "y"])},
      "/b" => %{"get" => %{"tags" => ["y"]}, "put" => %{"parameters" => "broken"}}
    }

    document = %{"openapi" => "3.1.0", "paths" => paths}

    names = fn opts ->
      with {:ok, tools, _} <- Tool.from_openapi(document, & &1, opts),
           do: Enum.map(tools, & &1.name)
    end

    for {opts, expected} <- [
          {[only: ["getA"]], ["getA"]},
          {[only: ["GET /b", "postA"]], ["postA", "get_b"]},
          {[only: ["/a"]], ["getA", "postA"]},
          {[tags: ["y"]], ["postA", "get_b"]},
          {[only: ["/a"], tags: ["y"]], ["postA"]},
          {[only: []], []}
        ],
        do: assert(names.(opts) == expected)

    assert {:error, ~s(PUT /b has parameters that are no list) <> _} = names.([])
    assert {:error, ~s(the document has no tag "z") <> _} = names.(tags: ["z"])
    assert {:error, ~s(the document has no operation "getB") <> _} = names.(only: ["getB"])
    assert {:error, "the option tags: is a list" <> _} = names.(tags: "x")
    assert_raise ArgumentError, fn -> names.(results: :maybe) end
  end

  test "styles of lists and objects" do
    list = %{"type" => "array", "items" => %{"type" => "integer"}}
    map = %{"type" => "object"}

    for {parameter, value, expected} <- [
          {%{"in" => "query", "schema" => list}, [1, 2], query: [{"p", "1"}, {"p", "2"}]},
          {%{"in" => "query", "schema" => list}, [], query: []},
          {%{"in" => "query", "style" => "pipeDelimited", "explode" => false, "schema" => list},
           [1, 2], query: [{"p", "1|2"}]},
          {%{"in" => "query", "style" => "spaceDelimited", "schema" => list}, [1, 2],
           query: [{"p", "1 2"}]},
          {%{"in" => "query", "schema" => map}, %{"a" => 1, "b" => true},
           query: [{"a", "1"}, {"b", "true"}]},
          {%{"in" => "query", "explode" => false, "schema" => map}, %{"a" => 1, "b" => 2.5},
           query: [{"p", "a,1,b,2.5"}]},
          {%{"in" => "query", "content" => %{"application/json" => %{"schema" => map}}},
           %{"a" => [1]}, query: [{"p", ~s({"a":[1]})}]},
          {%{"in" => "query", "schema" => %{}}, 2 ** 80, query: [{"p", "#{2 ** 80}"}]},
          {%{"in" => "header", "schema" => list}, [1, 2], headers: [{"p", "1,2"}]},
          {%{"in" => "path", "schema" => list}, [1, 2], path: "/a/1,2"},
          {%{"in" => "path", "schema" => map}, %{"a" => "x,y"}, path: "/a/a,x%2Cy"}
        ] do
      assert {:ok, [tool], _} =
               one(%{"parameters" => [Map.put(parameter, "name", "p")]}, "/a/{p}")

      args =
        if parameter["in"] == "path", do: %{"p" => value}, else: %{"p" => "z", "p_path" => "z"}

      name = for {name, _} <- elem(tool.signature, 1), do: name

      args =
        if parameter["in"] != "path" and name == ["p", "p_path"],
          do: %{args | "p" => value},
          else: args

      assert {:ok, made} = tool.fun.(args)
      for {key, wanted} <- expected, do: assert(Map.fetch!(made, key) == wanted)
    end
  end

  test "names that are there twice" do
    operation = %{"operationId" => "a"}

    twice = %{
      "openapi" => "3.1.0",
      "paths" => %{"/a" => %{"get" => operation}, "/b" => %{"get" => operation}}
    }

    assert Tool.from_openapi(twice, & &1) == {:error, ~s(GET /b has the name of GET /a: "a")}

    made = %{
      "openapi" => "3.1.0",
      "paths" => %{"/a/{b}" => %{"get" => %{}}, "/a/b" => %{"get" => %{}}}
    }

    assert {:ok, [%{name: "get_a_b"}, %{name: "get /a/{b}"}], _} = Tool.from_openapi(made, & &1)
  end

  test "references that lead nowhere, in a circle, or are multiplied" do
    for {parameters, said} <- [
          {[%{"$ref" => "#/components/parameters/x"}], "points to nothing in the document"},
          {[%{"$ref" => "other.json#/x"}], "points to nothing in the document"},
          {[%{"$ref" => "#/loop"}], "has no end"},
          {[%{"name" => "a"}], "has a parameter without name and in"},
          {%{}, "has parameters that are no list"}
        ] do
      assert {:error, "GET /a/{id} " <> why} =
               one(%{"parameters" => parameters}, "/a/{id}", %{"loop" => %{"$ref" => "#/loop"}})

      assert why =~ said
    end

    # Each schema has the next one twice.
    schemas =
      Map.new(1..60, fn n ->
        {"S#{n}",
         %{
           "type" => "object",
           "properties" =>
             Map.new(["a", "b"], &{&1, %{"$ref" => "#/components/schemas/S#{n + 1}"}})
         }}
      end)

    output = %{
      "200" => %{
        "content" => %{
          "application/json" => %{"schema" => %{"$ref" => "#/components/schemas/S1"}}
        }
      }
    }

    {ms, {:ok, [_], dropped}} =
      Room.least_ms(2_000, fn ->
        one(%{"responses" => output}, "/a", %{"components" => %{"schemas" => schemas}})
      end)

    assert dropped != []
    assert ms < 2_000
  end

  test "a discriminator says which schema a body has, by its mapping or by the name of the schema" do
    object = fn properties ->
      %{"type" => "object", "required" => Map.keys(properties), "properties" => properties}
    end

    text = %{"type" => "string"}
    ref = &%{"$ref" => "#/components/schemas/#{&1}"}
    mapped = %{"card" => "#/components/schemas/Card", "iban" => "Iban"}

    for {mapping, card, iban} <- [{mapped, "card", "iban"}, {nil, "Card", "Iban"}],
        keyword <- ["oneOf", "anyOf"],
        inside? <- [false, true] do
      said = if mapping, do: %{"mapping" => mapping}, else: %{}

      pay = %{
        keyword => [ref.("Card"), ref.("Iban")],
        "discriminator" => Map.put(said, "propertyName", "kind")
      }

      body =
        if inside?,
          do: object.(%{"pays" => %{"type" => "array", "items" => pay}}),
          else: ref.("Pay")

      document = %{
        "openapi" => "3.1.0",
        "paths" => %{
          "/a" => %{
            "post" => %{
              "operationId" => "a",
              "requestBody" => %{
                "required" => true,
                "content" => %{"application/json" => %{"schema" => body}}
              }
            }
          }
        },
        "components" => %{
          "schemas" => %{
            "Pay" => pay,
            "Card" => object.(%{"kind" => text, "number" => text}),
            "Iban" => object.(%{"kind" => text, "iban" => text})
          }
        }
      }

      {:ok, [tool], []} = Tool.from_openapi(document, &{:ok, &1.body})
      around = &if(inside?, do: %{"body" => %{"pays" => [&1]}}, else: %{"body" => &1})
      run = &run(%{"a" => tool}, "a", around.(&1))

      for taken <- [%{"kind" => card, "number" => "1"}, %{"kind" => iban, "iban" => "1"}],
          do: assert({:ok, _body, _, _} = run.(taken))

      for refused <- [
            %{"kind" => "cash", "number" => "1"},
            %{"kind" => iban, "number" => "1"},
            %{"kind" => card, "iban" => "1"},
            %{"number" => "1"}
          ],
          do: assert({:error, {:execution_error, _}} = run.(refused))
    end
  end

  test "documents that are none" do
    for {document, said} <- [
          {"{", "the document is not JSON"},
          {[1 | 2], "the document is not JSON"},
          {%{}, ~s(the document has no field "openapi")},
          {%{"openapi" => "2.0"}, "the document must be OpenAPI 3.0 or 3.1"},
          {%{"swagger" => "2.0"}, "the document is Swagger"},
          {%{"openapi" => "3.0.0", "paths" => []}, "paths must be an object"},
          {%{"openapi" => "3.0.0", "paths" => %{"/a" => 1}}, "/a must be an object"},
          {%{"openapi" => "3.0.0", "paths" => %{"/a" => %{"get" => 1}}}, "GET /a is no operation"}
        ] do
      assert {:error, why} = Tool.from_openapi(document, & &1)
      assert why =~ said
    end

    assert {:error, "the requests are made by a function" <> _} = Tool.from_openapi(%{}, nil)
    assert Tool.from_openapi(%{openapi: "3.1.0"}, & &1) == {:ok, [], []}
    assert {:ok, [%{name: "get_a_id"}], [line]} = one(%{})
    assert line == "get_a_id: id is a part of the path that is not declared: it is any text"
  end

  test "a document of a thousand operations is read in time" do
    pet = PtcRunner.Json.Codec.decode!(@store)

    paths =
      for n <- 1..1_000,
          into: %{},
          do: {"/p#{n}", %{"get" => pet["paths"]["/pets"]["get"] |> Map.delete("operationId")}}

    {ms, {:ok, tools, _}} =
      Room.least_ms(2_000, fn -> Tool.from_openapi(%{pet | "paths" => paths}, & &1) end)

    assert length(tools) == 1_000
    assert ms < 2_000
  end
end
