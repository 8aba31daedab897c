defmodule PtcRunner.Agent.ToolsFromElsewhereTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Test.Room

  doctest PtcRunner.Agent.Tool.McpAnswer

  # As GitHub's MCP server lists them, shortened.
  @github %{
    "tools" => [
      %{
        "name" => "search_issues",
        "description" => "Search for issues in GitHub repositories",
        "annotations" => %{"title" => "Search issues", "readOnlyHint" => true},
        "inputSchema" => %{
          "type" => "object",
          "required" => ["query"],
          "properties" => %{
            "query" => %{"type" => "string", "description" => "GitHub's search syntax"},
            "order" => %{"type" => "string", "enum" => ["asc", "desc"]},
            "page" => %{"type" => "number", "minimum" => 1},
            "perPage" => %{"type" => "number", "minimum" => 1, "maximum" => 100}
          }
        }
      },
      %{
        "name" => "add_issue_comment",
        "annotations" => %{"title" => "Add a comment", "readOnlyHint" => false},
        "inputSchema" => %{
          "type" => "object",
          "required" => ["owner", "repo", "issue_number", "body"],
          "properties" => %{
            "owner" => %{"type" => "string"},
            "repo" => %{"type" => "string"},
            "issue_number" => %{"type" => "number"},
            "body" => %{"type" => "string"}
          }
        },
        "outputSchema" => %{
          "type" => "object",
          "required" => ["id"],
          "properties" => %{"id" => %{"type" => "integer"}}
        }
      },
      %{
        "name" => "get_me",
        "description" => "The authenticated user",
        "annotations" => %{"readOnlyHint" => true},
        "inputSchema" => %{"type" => "object", "properties" => %{}}
      }
    ]
  }

  defp run(tools, name, args) do
    program = %{"program" => %{"op" => "call", "tool" => name, "args" => args}}

    PtcRunner.Json.run(PtcRunner.Json.Codec.encode!(program),
      tools: Map.new(tools, &{&1.name, &1})
    )
  end

  defp texts(texts),
    do: %{"content" => for(text <- texts, do: %{"type" => "text", "text" => text})}

  describe "from_mcp/2" do
    test "types, effects, descriptions and what is not kept" do
      {:ok, [search, comment, me], dropped} = Tool.from_mcp(@github, fn _, _ -> texts(["x"]) end)

      assert Enum.map([search, comment, me], & &1.effect) == [:read, :write, :read]
      assert comment.description == "Add a comment"
      assert {:signature, fields, {:map, [{"id", :int}]}} = comment.signature
      assert {"issue_number", :number} in fields
      assert me.signature == {:signature, [], :any}
      assert search.notes.enums == %{"order" => ["asc", "desc"]}

      assert dropped == []
      {:signature, fields, _returns} = search.signature
      assert {"page", {:optional, {:where, :number, [min: 1]}}} in fields
      assert {"perPage", {:optional, {:where, :number, [min: 1, max: 100]}}} in fields
    end

    test "arguments are checked before the call, and null is not sent" do
      this = self()

      {:ok, tools, _} =
        Tool.from_mcp(@github, fn name, args ->
          send(this, {name, args})
          texts([~s({"total": 2})])
        end)

      assert {:ok, %{"total" => 2}, _, _} =
               run(tools, "search_issues", %{"query" => "is:open", "page" => nil})

      assert_received {"search_issues", %{"query" => "is:open"} = sent}
      refute is_map_key(sent, "page")

      assert {:error, _} = run(tools, "search_issues", %{"page" => 1})
      assert {:error, _} = run(tools, "search_issues", %{"query" => "a", "order" => "up"})
      refute_received {"search_issues", _}
    end

    test "rules of the schemas are rules of the types" do
      properties = %{
        "id" => %{"type" => ["string", "integer"], "minLength" => 2},
        "code" => %{"type" => "string", "pattern" => "^\\d+$", "format" => "hostname"},
        "on" => %{
          "anyOf" => [
            %{"type" => "string", "format" => "date"},
            %{"type" => "integer", "minimum" => 0}
          ]
        },
        "tags" => %{
          "type" => "array",
          "items" => %{"type" => "string"},
          "maxItems" => 2,
          "uniqueItems" => true
        },
        "size" => %{"type" => "integer", "default" => 10, "maximum" => 50},
        "by" => %{"type" => "object", "additionalProperties" => %{"enum" => ["asc", "desc"]}},
        "odd" => %{"type" => "string", "minLength" => "3", "default" => 5},
        "any" => %{"minimum" => 3, "minProperties" => 1}
      }

      output = %{
        "type" => "object",
        "required" => ["state"],
        "properties" => %{
          "state" => %{"enum" => ["open", "closed"]},
          "n" => %{"type" => "integer", "minimum" => 1}
        }
      }

      this = self()

      tool = %{
        "name" => "t",
        "inputSchema" => %{"type" => "object", "properties" => properties},
        "outputSchema" => output
      }

      call = fn "t", args ->
        send(this, args)
        %{"structuredContent" => Map.get(args, "by", %{"state" => "open"})}
      end

      {:ok, [tool] = tools, dropped} = Tool.from_mcp([tool], call)

      assert Enum.sort(dropped) == [
               "t: any is not validated by minProperties",
               "t: code is not validated by format",
               "t: odd is not validated by default",
               "t: odd is not validated by minLength"
             ]

      assert {:signature, fields, {:map, returned}} = tool.signature

      assert fields == [
               {"any", {:optional, {:where, :any, [min: 3]}}},
               {"by", {:optional, {:map_of, {:where, :string, [enum: ["asc", "desc"]]}}}},
               {"code", {:optional, {:where, :string, [pattern: "^[0-9]+$"]}}},
               {"id", {:optional, {:one_of, [{:where, :string, [min_length: 2]}, :int], nil}}},
               {"odd", {:optional, :string}},
               {"on",
                {:optional,
                 {:one_of, [{:where, :string, [format: :date]}, {:where, :int, [min: 0]}], nil}}},
               {"size", {:optional, {:where, :int, [max: 50, default: 10]}}},
               {"tags", {:optional, {:where, {:list, :string}, [unique: true, max_items: 2]}}}
             ]

      assert {"state", {:where, :string, [enum: ["open", "closed"]]}} in returned

      assert {:ok, %{"state" => "open"}, _, _} =
               run(tools, "t", %{"id" => 7, "on" => "2024-02-29"})

      assert_received %{"id" => 7, "size" => 10}
      assert {:ok, _, _, _} = run(tools, "t", %{"size" => "12", "tags" => ["a", "b"]})
      assert_received %{"size" => 12}

      for args <- [
            %{"id" => "a"},
            %{"size" => 51},
            %{"tags" => ["a", "a"]},
            %{"tags" => ["a", "b", "c"]},
            %{"code" => "x"},
            %{"on" => "2024-02-30"},
            %{"on" => -1},
            %{"by" => %{"a" => "up"}},
            %{"any" => 2}
          ] do
        assert {:error, _} = run(tools, "t", args), inspect(args)
        refute_received _any
      end

      # An answer that breaks a rule is an error.
      assert {:error, _} = run(tools, "t", %{"by" => %{"state" => "asc"}})
    end

    test "answers" do
      answer = fn result ->
        {:ok, [tool], []} =
          Tool.from_mcp([%{name: "t", inputSchema: %{type: "object"}}], fn _, _ -> result end)

        tool.fun.(%{})
      end

      assert answer.(texts(["plain"])) == {:ok, "plain"}
      assert answer.(texts(["[1]", "b"])) == {:ok, [[1], "b"]}
      assert answer.(texts([])) == {:ok, nil}
      assert answer.(texts(["{broken"])) == {:ok, "{broken"}
      assert answer.(%{"structuredContent" => %{"a" => 1}, "content" => []}) == {:ok, %{"a" => 1}}
      assert answer.(Map.put(texts(["no", "way"]), "isError", true)) == {:error, "no\nway"}

      assert answer.(%{"isError" => true}) ==
               {:error, "the tool answered with an error without a text"}

      assert answer.(%{"result" => texts(["in"])}) == {:ok, "in"}
      assert answer.(%{"error" => %{"code" => -32_602, "message" => "bad"}}) == {:error, "bad"}
      assert answer.({:ok, texts(["x"])}) == {:ok, "x"}
      assert answer.({:error, :closed}) == {:error, :closed}
      image = %{"type" => "image", "data" => "AA==", "mimeType" => "image/png"}
      assert answer.(%{"content" => [image]}) == {:ok, image}

      for bad <- [nil, 1, "text", %{}, [1 | 2], %{"content" => [1 | 2]}, self()],
          do: assert({:error, "the call must answer with" <> _} = answer.(bad))
    end

    test "an answer that does not fit the output schema is an error" do
      {:ok, tools, []} =
        Tool.from_mcp([Enum.at(@github["tools"], 1)], fn _, _ -> texts([~s({"id": "none"})]) end)

      args = %{"owner" => "a", "repo" => "b", "issue_number" => 1, "body" => "c"}
      assert {:error, error} = run(tools, "add_issue_comment", args)
      assert inspect(error) =~ "its result is not what its signature says"
    end

    test "an agent takes the list, and the model reads the types" do
      call = fn _, _ -> texts([~s({"login": "ann"})]) end
      {:ok, tools, _} = Tool.from_mcp(@github, call)
      prompt = PtcRunner.Agent.prompt(tools: tools, task: "Who am I?")

      assert prompt =~
               "search_issues(order :string?, page :float?, perPage :float?, query :string)"

      assert prompt =~ ~s(query: GitHub's search syntax. order is one of "asc", "desc")

      program = ~s({"program": {"op": "call", "tool": "get_me"}})
      assert {:ok, %{"login" => "ann"}, _} = PtcRunner.Agent.run(program, tools)
    end

    test "pages, a result of JSON-RPC, and atom keys" do
      call = fn _, _ -> nil end

      assert {:ok, [], ["the list has more pages" <> _]} =
               Tool.from_mcp(%{tools: [], nextCursor: "b"}, call)

      assert {:ok, [%{name: "a"}], []} = Tool.from_mcp(%{result: %{tools: [%{name: :a}]}}, call)
    end

    test "errors say where and what" do
      call = fn _, _ -> nil end

      for {list, said} <- [
            {nil, "the tools must be a list"},
            {%{"tools" => 1}, "the tools must be a list"},
            {[1 | 2], "the tools are not JSON"},
            {[self()], "the tools are not JSON"},
            {[%{"name" => <<255>>}], "the tools are not JSON"},
            {[1], "tools[0] is no tool: 1"},
            {[%{}], "tools[0] has no name"},
            {[%{"name" => 7}], "tools[0] must have a name"},
            {[%{"name" => "a"}, %{"name" => "b"}, %{"name" => "a"}],
             ~s(tools[2] has the name of tools[0]: "a")},
            {[%{"name" => "a", "inputSchema" => []}],
             "tools[0] has a schema under inputSchema that is no object"},
            {[%{"name" => "a", "outputSchema" => 1}],
             "tools[0] has an outputSchema that is no object"}
          ] do
        assert {:error, error} = Tool.from_mcp(list, call)
        assert String.starts_with?(error, said)
      end

      assert {:error, "the tools are called by a function" <> _} =
               Tool.from_mcp([], fn _ -> nil end)
    end

    test "schemas that are deep, recursive or strange end" do
      deep =
        Enum.reduce(1..900, %{"minimum" => 1}, fn _, inner ->
          %{"type" => "array", "items" => inner}
        end)

      tree = %{
        "type" => "object",
        "properties" => %{"next" => %{"$ref" => "#"}, "v" => %{"type" => "integer"}}
      }

      wide =
        Map.new(
          1..20_000,
          &{"f#{&1}",
           %{"type" => "integer", "format" => "int32", "minimum" => 1, "contentEncoding" => "x"}}
        )

      # What is deep, or contains itself, is validated.
      for {schema, kept?} <- [
            {%{"type" => "object", "properties" => %{"deep" => deep}}, true},
            {tree, true},
            {%{"type" => "object", "properties" => wide}, true},
            {%{"properties" => 1, "required" => 2, "items" => 3, "allOf" => 4, "$defs" => 5},
             false}
          ] do
        assert {:ok, [tool], dropped} =
                 Tool.from_mcp([%{"name" => "t", "inputSchema" => schema}], fn _, _ ->
                   texts(["ok"])
                 end)

        assert {schema["properties"] == 1, dropped == []} == {not kept?, kept?}
        assert length(dropped) <= 21
        assert tool.name == "t"
      end
    end
  end

  describe "from_openai/2" do
    test "both APIs, one function for all, entries that are no functions" do
      parameters = %{
        "type" => "object",
        "properties" => %{"a" => %{"type" => "integer"}},
        "required" => ["a"]
      }

      list = [
        %{"type" => "function", "function" => %{"name" => "chat", "parameters" => parameters}},
        %{
          "type" => "function",
          "name" => "responses",
          "parameters" => parameters,
          "strict" => true
        },
        %{"type" => "web_search"},
        %{"type" => "function", "name" => "none"}
      ]

      assert {:ok, tools, [left_out]} = Tool.from_openai(list, fn name, args -> [name, args] end)
      assert left_out == ~s(tools[2] is left out: its type is "web_search", not function)
      assert {:ok, ["chat", %{"a" => 1}], _, _} = run(tools, "chat", %{"a" => 1})
      assert {:ok, ["responses", %{"a" => 2}], _, _} = run(tools, "responses", %{"a" => 2})
      assert {:ok, ["none", %{} = none], _, _} = run(tools, "none", %{})
      assert none == %{}
    end

    test "functions must be there, and belong to a tool" do
      list = [%{type: "function", name: "a"}]

      assert {:ok, [_], []} = Tool.from_openai(list, %{a: & &1})
      assert Tool.from_openai(list, %{a: & &1, b: & &1}) == {:error, ~s(no tool has the name "b")}

      assert {:error, ~s(the tool "a" needs a function of one argument) <> _} =
               Tool.from_openai(list, %{a: 1})

      assert {:error, "the tools are answered by" <> _} = Tool.from_openai(list, nil)

      assert {:error, "a tool's name must be a string" <> _} =
               Tool.from_openai(list, %{1 => & &1})

      assert {:error, "tools[0] has no name"} = Tool.from_openai([%{type: "function"}], %{})
      assert {:error, "tools[0] is no tool: 1"} = Tool.from_openai([1], %{})
    end
  end

  # A schema with a value that is valid for it, by chance.
  defp argument(depth) do
    case :rand.uniform(if depth == 0, do: 5, else: 7) do
      1 -> {%{"type" => "string"}, Enum.random(["", "é", "a \"b\"", "12"])}
      2 -> {%{"type" => "integer"}, Enum.random([0, -7, 2 ** 70])}
      3 -> {%{"type" => "boolean"}, Enum.random([true, false])}
      4 -> {%{"enum" => ["a", "b"]}, Enum.random(["a", "b"])}
      5 -> {%{"type" => ["integer", "null"]}, Enum.random([1, nil])}
      6 -> list(argument(depth - 1))
      7 -> object(depth - 1)
    end
  end

  defp list({schema, value}), do: {%{"type" => "array", "items" => schema}, [value, value]}

  defp object(depth) do
    fields = for name <- Enum.take_random(~w(a b c perPage x-y), 3), do: {name, argument(depth)}

    {%{
       "type" => "object",
       "properties" => Map.new(fields, fn {name, {schema, _}} -> {name, schema} end),
       "required" => Enum.map(fields, &elem(&1, 0))
     }, Map.new(fields, fn {name, {_, value}} -> {name, value} end)}
  end

  test "property: every tool is called with arguments that are valid for its schema" do
    :rand.seed(:exsss, {1, 2, 3})

    for _ <- 1..150 do
      {schema, args} = object(3)
      listed = [%{"name" => "t", "inputSchema" => schema}]
      {:ok, mcp, _} = Tool.from_mcp(listed, fn "t", args -> %{"structuredContent" => args} end)
      openai = [%{"type" => "function", "name" => "t", "parameters" => schema}]
      {:ok, openai, _} = Tool.from_openai(openai, %{"t" => & &1})
      assert {:ok, ^args, _, _} = run(mcp, "t", args)
      assert {:ok, ^args, _, _} = run(openai, "t", args)
    end
  end

  test "a thousand tools are made in time" do
    [search | _] = @github["tools"]
    list = %{"tools" => for(n <- 1..1_000, do: %{search | "name" => "search_#{n}"})}
    made = fn -> Tool.from_mcp(list, fn _, _ -> nil end) end
    {ms, {:ok, tools, dropped}} = Room.least_ms(500, made)
    assert {length(tools), length(dropped)} == {1_000, 0}
    # 50 ms on a quiet machine.
    assert ms < 500
  end
end
