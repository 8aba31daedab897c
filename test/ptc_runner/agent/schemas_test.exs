defmodule PtcRunner.Agent.SchemasTest do
  # JSON Schemas of tools: what they demand holds, what they allow arrives, and a check before a run says the same.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Agent.Tool
  alias PtcRunner.SubAgent.Signature.FromSchema
  alias PtcRunner.Test.Environment

  doctest PtcRunner.Agent.Tool.Schemas
  doctest PtcRunner.Agent.SchemaCall
  doctest PtcRunner.Json.Check.Arguments
  doctest FromSchema.Opened
  doctest FromSchema.Shared
  doctest FromSchema.Sound
  doctest FromSchema.Discriminator
  doctest FromSchema.Size
  doctest FromSchema

  defp tool(schema) do
    list = [%{"type" => "function", "name" => "t", "parameters" => schema}]
    {:ok, [tool], lines} = Tool.from_openai(list, %{"t" => & &1})
    {tool, lines}
  end

  defp program(args),
    do: Json.Codec.encode!(%{program: %{op: "call", tool: "t", args: args}})

  # What a run, an agent and a check say of the same call.
  defp called(tool, args) do
    program = program(args)

    run =
      case Json.run(program, tools: %{"t" => tool}) do
        {:ok, got, _, _} -> {:ok, got}
        {:error, {:execution_error, text}} -> {:error, text}
      end

    agent =
      case Agent.run(program, [tool]) do
        {:ok, got, _info} -> {:ok, got}
        {:error, {:execution_error, _text}, _told} -> :error
      end

    {run, agent, elem(Json.check(program, tools: %{"t" => tool}), 0)}
  end

  defp taken(schema, args) do
    {tool, _lines} = tool(schema)
    assert {{:ok, got}, {:ok, got}, :ok} = called(tool, args)
    got
  end

  defp refused(schema, args) do
    {tool, _lines} = tool(schema)
    assert {{:error, text}, :error, :error} = called(tool, args)
    text
  end

  defp object(properties, more \\ %{}),
    do: Map.merge(%{"type" => "object", "properties" => properties}, more)

  test "unions with discriminators, const and references hold" do
    card =
      object(%{"kind" => %{"const" => "card"}, "no" => %{"type" => "string"}}, %{
        "required" => ["kind", "no"]
      })

    iban =
      object(%{"kind" => %{"const" => "iban"}, "iban" => %{"type" => "string"}}, %{
        "required" => ["kind", "iban"]
      })

    for schema <- [
          object(%{"pay" => %{"oneOf" => [card, iban]}}, %{"required" => ["pay"]}),
          object(
            %{"pay" => %{"anyOf" => [%{"$ref" => "#/$defs/a"}, %{"$ref" => "#/$defs/b"}]}},
            %{
              "required" => ["pay"],
              "$defs" => %{"a" => card, "b" => iban}
            }
          ),
          object(%{"pay" => %{"$ref" => "#/$defs/p"}}, %{
            "required" => ["pay"],
            "$defs" => %{
              "p" => %{"oneOf" => [card, iban], "discriminator" => %{"propertyName" => "kind"}}
            }
          })
        ] do
      assert %{"pay" => %{"kind" => "card", "no" => "7"}} =
               taken(schema, %{pay: %{kind: "card", no: "7"}})

      assert refused(schema, %{pay: %{kind: "cash"}}) =~ ~s("card", "iban")
      refused(schema, %{pay: %{kind: "card"}})
      refused(schema, %{})
    end

    # A union of the arguments themselves.
    schema = %{"oneOf" => [card, iban]}
    assert taken(schema, %{kind: "iban", iban: "X"}) == %{"iban" => "X", "kind" => "iban"}
    refused(schema, %{kind: "cash"})
    refused(schema, %{kind: "iban", no: "7"})
  end

  test "other arguments: not declared, forbidden, allowed, of a type; nested, too" do
    s = %{"type" => "string"}
    int = %{"additionalProperties" => %{"type" => "integer"}}

    refused(object(%{"a" => s}), %{a: "x", z: 1})
    refused(object(%{"a" => s}, %{"additionalProperties" => false}), %{a: "x", z: 1})

    assert taken(object(%{"a" => s}, %{"additionalProperties" => true}), %{a: "x", z: 1})["z"] ==
             1

    assert taken(object(%{"a" => s}, int), %{a: "x", z: 1})["z"] == 1
    assert refused(object(%{"a" => s}, int), %{a: "x", z: "q"}) =~ "z: expected integer"

    for around <- [
          &{object(%{"o" => &1}), %{o: &2}, fn got -> got["o"] end},
          &{object(%{"o" => %{"type" => "array", "items" => &1}}), %{o: [&2]},
           fn got -> hd(got["o"]) end},
          &{object(%{"o" => %{"anyOf" => [%{"type" => "string"}, &1]}}), %{o: &2},
           fn got -> got["o"] end},
          &{object(%{"o" => %{"$ref" => "#/$defs/o"}}, %{"$defs" => %{"o" => &1}}), %{o: &2},
           fn got -> got["o"] end}
        ],
        {more, value, taken?} <- [
          {%{}, 1, true},
          {%{"additionalProperties" => true}, 1, true},
          {int, 1, true},
          {%{"additionalProperties" => false}, 1, false}
        ] do
      {schema, args, inside} = around.(object(%{"a" => s}, more), %{a: "x", z: value})

      if taken?,
        do: assert(inside.(taken(schema, args)) == %{"a" => "x", "z" => value}),
        else: refused(schema, args)
    end

    assert taken(%{"type" => "object"}, %{z: 1}) == %{"z" => 1}
    assert taken(Map.put(int, "type", "object"), %{z: 1}) == %{"z" => 1}
    refused(Map.put(int, "type", "object"), %{z: "x"})
    refused(object(%{}), %{z: 1})
    refused(object(%{"a" => false, "b" => s}), %{a: 1})
  end

  test "twins of names stay two, and a name in another spelling arrives as the declared one" do
    twins = object(%{"user-id" => %{"type" => "string"}, "user_id" => %{"type" => "integer"}})
    args = %{"user-id" => "x", "user_id" => 1}
    assert taken(twins, args) == args
    assert taken(twins, %{"user-id" => "x"}) == %{"user-id" => "x"}
    assert taken(twins, %{"user_id" => 1}) == %{"user_id" => 1}
    refused(twins, %{"user-id" => 1})

    assert taken(object(%{"user-id" => %{"type" => "integer"}}, %{"required" => ["user-id"]}), %{
             "user_id" => 7
           }) ==
             %{"user-id" => 7}

    # In answers, too.
    entry = %{
      "name" => "t",
      "inputSchema" => %{"type" => "object"},
      "outputSchema" => Map.put(twins, "required", ["user-id", "user_id"])
    }

    {:ok, [tool], []} = Tool.from_mcp([entry], fn _, args -> %{"structuredContent" => args} end)
    assert {:ok, ^args, _, _} = Json.run(program(args), tools: %{"t" => tool})

    assert {:error, _} =
             Json.run(program(%{"user-id" => 1, "user_id" => 1}), tools: %{"t" => tool})
  end

  test "numbers keep their digits, lists of an enumeration are lists" do
    number = object(%{"n" => %{"type" => "number"}})

    for n <- [9_007_199_254_740_993, 20, 2.5, Integer.pow(10, 30)],
        do: assert(taken(number, %{n: n})["n"] === n)

    assert taken(number, %{n: "9007199254740993"})["n"] === 9_007_199_254_740_993
    list = %{"type" => "array", "items" => %{"type" => "string"}}

    for values <- [["x", "y"], [["x"], ["y"]]] do
      {tool, _} = tool(object(%{"l" => Map.put(list, "enum", values)}))
      assert {:signature, [{"l", {:optional, type}}], :any} = tool.signature
      assert PtcRunner.SubAgent.Signature.render({:signature, [], type}) == "-> [:string]"
      assert {{:ok, %{"l" => ["x"]}}, _, :ok} = called(tool, %{l: ["x"]})
      assert {{:error, _}, _, :error} = called(tool, %{l: ["z"]})
    end
  end

  test "what is no schema takes any value, and is listed" do
    for {schema, line, args} <- [
          {%{"type" => "date"}, "p is not validated by type", [1, "a"]},
          {%{"$ref" => "other.json"}, "p is not validated by $ref", [1]},
          {%{"$ref" => 5}, "p is not validated by $ref", [1]},
          {%{"type" => "string", "minLength" => "3"}, "p is not validated by minLength", [""]},
          {5, "p is not validated: it is no schema: 5", [1]},
          {%{"allOf" => [%{"type" => "string"}, %{"type" => "object"}]},
           "p is not validated: no value fits it", [1]},
          {%{"type" => "string", "not" => %{"const" => "a"}}, "p is not validated by not", ["b"]}
        ] do
      {tool, lines} = tool(object(%{"p" => schema, "q" => %{"type" => "integer"}}))
      assert lines == ["t: " <> line]
      for value <- args, do: assert({{:ok, _}, _, :ok} = called(tool, %{p: value}))
      assert {{:error, _}, _, :error} = called(tool, %{q: "x"})
    end

    assert {_tool, []} =
             tool(
               object(%{
                 "p" => %{"type" => "string", "title" => "P", "propertyOrder" => 3, "x-a" => 1}
               })
             )
  end

  test "null for an argument that may be missing and knows no null is not sent to a server" do
    me = self()

    schema =
      object(
        %{
          "a" => %{"$ref" => "#/$defs/s"},
          "b" => %{"enum" => ["x"]},
          "c" => %{"anyOf" => [%{"type" => "integer"}, %{"type" => "null"}]},
          "d" => true
        },
        %{"$defs" => %{"s" => %{"type" => "string"}}}
      )

    call = fn _, args -> send(me, args) && %{"structuredContent" => %{}} end
    {:ok, [tool], []} = Tool.from_mcp([%{"name" => "t", "inputSchema" => schema}], call)
    {:ok, _, _, _} = Json.run(program(%{a: nil, b: nil, c: nil, d: nil}), tools: %{"t" => tool})
    assert_received args
    assert args == %{"c" => nil, "d" => nil}
  end

  test "null for an argument with a default is the default, unless null is a value of it" do
    schema =
      object(%{
        "a" => %{"type" => "integer", "default" => 3},
        "b" => %{"type" => ["integer", "null"], "default" => 3},
        "c" => %{"type" => "integer"}
      })

    {tool, _lines} = tool(schema)
    assert taken(schema, %{"a" => nil, "b" => nil}) == %{"a" => 3, "b" => nil}
    assert {:ok, _value, info} = Agent.run(program(%{"a" => nil}), [tool])
    assert info.warnings == [~S(t: took the default of "a" for null)]

    signature = {:signature, [{"a", {:optional, {:where, :int, [default: 4]}}}], :any}

    assert {:ok, %{"a" => 4}, info} =
             Agent.run(program(%{"a" => nil}), %{"t" => {& &1, signature}})

    assert info.warnings == [~S(t: took the default of "a" for null)]
  end

  test "the seventh digit of a second in an argument is a warning" do
    at = "2024-01-01T00:00:00.1234567Z"
    tools = %{"t" => {&length(&1["at"]), "(at [:datetime]) -> :int"}}
    assert {:ok, 2, info} = Agent.run(program(%{"at" => [at, "2024-01-01T00:00:00Z"]}), tools)
    assert ~s(t: cut "#{at}" to microseconds) in info.warnings
  end

  test "a check tells the errors of all arguments, whatever their kind" do
    kinds =
      for kind <- ["card", "iban"],
          do: object(%{"kind" => %{"const" => kind}}, %{"required" => ["kind"]})

    schema =
      object(
        %{
          "a" => %{"enum" => ["u", "v"]},
          "b" => %{"type" => "integer", "minimum" => 1},
          "c" => %{"oneOf" => kinds},
          "d" => %{"type" => "boolean"}
        },
        %{"required" => ["a", "b", "d"]}
      )

    {tool, _lines} = tool(schema)
    args = %{a: "zz", b: 0, c: %{kind: "x"}}
    {:error, findings} = Json.check(program(args), tools: %{"t" => tool})
    text = Enum.map_join(findings, "\n", & &1.message)

    assert text =~ "'a'" and text =~ "b: expected at least 1" and
             text =~ ~s(by kind: "card", "iban") and text =~ "'d'"

    {:error, {_kind, text}} = Json.run(program(args), tools: %{"t" => tool})
    for name <- ["a", "b", "c", "d"], do: assert(text =~ "\n- #{name}: ")
  end

  test "errors escape marks of direction and separators of lines" do
    mark = "a\u202Eb\u2066c\u2028d\u200F\u061C"

    for fun <- [
          fn _ -> {:error, mark} end,
          fn _ -> raise mark end,
          fn _ -> throw(mark) end,
          &Map.fetch!(&1, mark)
        ] do
      assert {:error, {_kind, text}} = Json.run(program(%{}), tools: %{"t" => fun})
      assert text =~ "b"
      refute text =~ ~r/[\x{85}\x{61C}\x{200E}\x{200F}\x{2028}-\x{202E}\x{2066}-\x{2069}]/u
    end

    first = %{program: %{op: "pipe", steps: [%{op: "load", name: "d"}, %{op: "first"}]}}
    assert {:error, {_kind, text}} = Json.run(Json.Codec.encode!(first), context: %{"d" => mark})
    assert text =~ "\\u202E" and text =~ "\\u2028"
  end

  test "a person reads a text with such marks as a text, in calls and plans" do
    mark = "pay Ada\u202Eb\u061C\u{E0041}"
    shown = ~S("pay Ada\u202Eb\u061C\uDB40\uDC41")
    tools = %{"t" => {&Map.get(&1, "to"), approve: true}}
    args = %{"to" => mark, mark => %{"op" => "load", "name" => mark}}

    {:paused, %{calls: [call]}} =
      Json.run(%{"program" => %{"op" => "call", "tool" => "t", "args" => Map.take(args, ["to"])}},
        tools: tools
      )

    assert call.text == ~s(t with %{"to" => #{shown}})

    assert {:ok, plan} =
             Json.plan(%{"program" => %{"op" => "call", "tool" => "t", "args" => args}})

    assert to_string(plan) =~ "    #{shown}: #{shown}\n"
    assert to_string(plan) =~ "It reads: #{shown}\n"
  end

  test "names that a pattern of the schema allows arrive" do
    patterns = %{"^x-" => %{"type" => "integer"}}

    for more <- [%{}, %{"additionalProperties" => false}],
        schema <- [
          %{"type" => "object", "patternProperties" => patterns},
          %{"type" => "object", "patternProperties" => patterns, "properties" => %{"a" => %{}}}
        ] do
      schema = Map.merge(schema, more)

      for {schema, args} <- [
            {schema, %{"x-1" => 2}},
            {%{"type" => "object", "properties" => %{"o" => schema}}, %{"o" => %{"x-1" => 2}}}
          ] do
        assert taken(schema, args) == args
      end
    end
  end

  # Random schemas, each with a value that is mostly valid.

  defp random(0), do: scalar()

  defp random(depth) do
    case :rand.uniform(9) do
      1 -> list(random(depth - 1))
      n when n in 2..4 -> random_object(depth)
      5 -> union(depth)
      6 -> with({schema, value} <- random(depth - 1), do: {%{"allOf" => [schema, true]}, value})
      7 -> nullable(random(depth - 1))
      _ -> scalar()
    end
  end

  defp mostly(valid, other), do: if(:rand.uniform(8) == 1, do: other, else: Enum.random(valid))

  defp scalar do
    Enum.random([
      {%{"type" => "string"}, Enum.random(["", "é", "12", "a b"])},
      {%{"type" => "string", "minLength" => 2}, mostly(["ab"], "a")},
      {%{"type" => "string", "format" => "date"}, mostly(["2024-02-29"], "2024-02-30")},
      {%{"type" => "integer"}, mostly([0, -7, 9_007_199_254_740_993], 1.5)},
      {%{"type" => "integer", "minimum" => 1}, mostly([1], 0)},
      {%{"type" => "number", "maximum" => 9}, mostly([9, 2.5], 10)},
      {%{"type" => "boolean"}, mostly([true, false], 1)},
      {%{"enum" => ["a", 1, nil]}, mostly(["a", 1, nil], "b")},
      {%{"const" => "card"}, mostly(["card"], "cash")},
      {%{"type" => ["string", "integer"]}, mostly(["a", 5], true)},
      {%{"$ref" => "#/$defs/node"},
       mostly([%{"v" => 1, "next" => %{"v" => 2}}, %{"next" => %{}}], %{"v" => "x", "z" => 1})},
      {true, Enum.random([1, "a", %{"k" => [nil]}])},
      {%{}, 7}
    ])
  end

  defp list({schema, value}) do
    more = Enum.random([%{}, %{"minItems" => 1}, %{"uniqueItems" => true}])

    {Map.merge(%{"type" => "array", "items" => schema}, more),
     Enum.random([[value], [value, value], []])}
  end

  defp nullable({%{"type" => type} = schema, value}) when is_binary(type),
    do:
      {Enum.random([%{schema | "type" => [type, "null"]}, Map.put(schema, "nullable", true)]),
       Enum.random([value, nil])}

  defp nullable({schema, value}),
    do: {%{"anyOf" => [schema, %{"type" => "null"}]}, Enum.random([value, nil])}

  defp union(depth) do
    branches =
      for kind <- ["a", "b"] do
        {schema, value} = random_object(depth - 1)
        properties = Map.put(schema["properties"], "kind", %{"const" => kind})

        {schema |> Map.put("properties", properties) |> Map.put("required", ["kind"]),
         Map.put(value, "kind", kind)}
      end

    {_schema, value} = Enum.random(branches)

    {%{Enum.random(["anyOf", "oneOf"]) => Enum.map(branches, &elem(&1, 0))},
     mostly([value], Map.put(value, "kind", "c"))}
  end

  defp random_object(depth) do
    fields =
      for name <- Enum.take_random(~w(a b user-id user_id x), 3),
          do: {name, random(max(depth - 1, 0))}

    required = for {name, _field} <- fields, :rand.uniform(3) == 1, do: name

    others =
      Enum.random([
        %{},
        %{},
        %{"additionalProperties" => true},
        %{"additionalProperties" => false},
        %{"additionalProperties" => %{"type" => "integer"}}
      ])

    value =
      for {name, {_schema, value}} <- fields, :rand.uniform(6) > 1, into: %{}, do: {name, value}

    value = if :rand.uniform(4) == 1, do: Map.put(value, "z", Enum.random([1, "q"])), else: value

    {object(Map.new(fields, fn {name, {schema, _}} -> {name, schema} end), others)
     |> Map.put("required", required), value}
  end

  @tag timeout: 600_000
  test "check, run and agent agree on random schemas and calls, and what arrives is what was given" do
    node = %{
      "type" => "object",
      "properties" => %{"v" => %{"type" => "integer"}, "next" => %{"$ref" => "#/$defs/node"}}
    }

    seed = Environment.seed()

    outcomes =
      for n <- 1..Environment.cases(300) do
        :rand.seed(:exsss, {seed, n, 36})
        {schema, args} = random_object(3)
        {tool, _lines} = tool(Map.put(schema, "$defs", %{"node" => node}))

        case called(tool, args) do
          {{:ok, got}, {:ok, got}, :ok} ->
            # Texts that are numbers or the reverse are converted, nothing else.
            assert same?(args, got),
                   "PTC_SEED=#{seed}, case #{n}: #{inspect({schema, args, got})}"

            :ok

          {{:error, _}, :error, :error} ->
            :error

          other ->
            flunk(
              "PTC_SEED=#{seed}, case #{n}: #{inspect({schema, args, other}, limit: :infinity)}"
            )
        end
      end

    assert Enum.count(outcomes, &(&1 == :ok)) > div(length(outcomes), 10)
    assert Enum.count(outcomes, &(&1 == :error)) > div(length(outcomes), 10)
  end

  defp same?(a, b) when is_map(a) and is_map(b),
    do: Map.keys(a) == Map.keys(b) and Enum.all?(a, fn {key, value} -> same?(value, b[key]) end)

  defp same?([a | as], [b | bs]), do: same?(a, b) and same?(as, bs)
  defp same?(same, same), do: true
  defp same?(a, b), do: to_string(a) == to_string(b)
end
