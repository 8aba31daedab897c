defmodule PtcRunner.Firewall.GuardTest do
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Firewall.{Guard, Inside, Watch}

  doctest Guard
  doctest Inside
  doctest Watch
  doctest PtcRunner.Json.Planning

  @users [%{"id" => 1, "_pin" => 4711, "who" => %{"name" => "Ann"}}]

  defp load(name), do: %{"op" => "load", "name" => name}
  defp get(field), do: %{"op" => "get", "field" => field}
  defp call(tool, args), do: %{"op" => "call", "tool" => tool, "args" => args}
  defp pipe(steps), do: %{"op" => "pipe", "steps" => steps}
  defp each(list, expr), do: pipe([list, %{"op" => "map", "expr" => expr}])

  defp merged(object, steps), do: %{"op" => "merge", "objects" => [object, pipe(steps)]}

  # A tool that must not be called, and one that may.
  defp never(more \\ []), do: {fn _ -> flunk("called") end, more}
  defp tools(more \\ %{}), do: Map.merge(%{"send" => never()}, more)

  defp run(node, opts \\ []) do
    opts = Keyword.merge([context: %{"users" => @users}, tools: tools(), firewall: true], opts)
    Json.run(%{"program" => node}, opts)
  end

  defp refused(path, argument \\ "x", tool \\ "send", why \\ "which writes") do
    {:error,
     {:validation_error,
      "Firewalled data flows into a tool: #{path} into the argument '#{argument}' of tool '#{tool}', #{why}" <>
        ". Give it only other fields, with get or select, or without these, with unset"}}
  end

  describe "a program is refused before it runs" do
    test "where a firewalled field flows into an argument of a tool that writes" do
      assert run(each(load("users"), call("send", %{"x" => get("_pin")}))) ==
               refused("users._pin")
    end

    test "in every way in which it flows" do
      pin = get("_pin")
      nine = %{"op" => "literal", "value" => 9}

      for computed <- [
            %{"op" => "object", "fields" => %{"a" => pin}},
            %{"op" => "list", "items" => [1, pin]},
            %{"op" => "add", "left" => pin, "right" => 1},
            %{"op" => "text", "parts" => ["pin: ", pin]},
            %{
              "op" => "let",
              "name" => "p",
              "value" => pin,
              "in" => %{"op" => "var", "name" => "p"}
            },
            %{
              "op" => "if",
              "condition" => %{"op" => "eq", "field" => "id", "value" => 1},
              "then" => pin,
              "else" => nine
            },
            %{"op" => "coalesce", "values" => [pin, nine]},
            %{"op" => "eq", "left" => pin, "value" => 1},
            pipe([pin, %{"op" => "to_text"}])
          ] do
        assert {:error, {:validation_error, text}} =
                 run(each(load("users"), call("send", %{"x" => computed})))

        assert text =~ "users._pin into the argument 'x' of tool 'send', which writes",
               inspect(computed)
      end

      for list <- [
            pipe([load("users"), %{"op" => "sum", "field" => "_pin"}]),
            pipe([load("users"), %{"op" => "sort_by", "field" => "id"}, %{"op" => "first"}]),
            pipe([
              load("users"),
              %{"op" => "map", "expr" => %{"op" => "unset", "fields" => ["id"]}}
            ]),
            pipe([
              load("users"),
              %{"op" => "map", "expr" => %{"op" => "rename", "fields" => %{"_pin" => "p"}}}
            ]),
            pipe([load("users"), %{"op" => "group_by", "field" => "id"}]),
            pipe([load("users"), %{"op" => "first"}, %{"op" => "entries"}]),
            # A field that is not there does not win.
            merged(%{"x" => pipe([load("users"), %{"op" => "first"}, pin]), "_pin" => 1}, [
              %{"op" => "literal", "value" => %{"a" => 1}},
              %{"op" => "select", "fields" => ["x"]}
            ]),
            merged(pipe([load("users"), %{"op" => "first"}]), [
              %{"op" => "literal", "value" => %{"id" => 1, "_pin" => 1}},
              %{"op" => "unset", "fields" => ["_pin"]}
            ]),
            merged(pipe([load("users"), %{"op" => "first"}]), [
              %{"op" => "literal", "value" => %{"_pin" => 1}},
              %{"op" => "rename", "fields" => %{"_pin" => "n"}}
            ]),
            load("users")
          ] do
        assert {:error, {:validation_error, text}} = run(call("send", %{"x" => list}))
        assert text =~ "_pin into the argument 'x' of tool 'send'", inspect(list)
      end
    end

    test "where a part of the data that has one flows whole; the data are looked at" do
      whole = call("send", %{"x" => load("users")})
      assert run(whole) == refused("users._pin")
      seen = %{"send" => fn _ -> "sent" end}
      assert {:ok, "sent", _, _} = run(whole, context: %{"users" => [%{"id" => 1}]}, tools: seen)

      assert {:ok, ["sent"], _, _} =
               run(each(load("users"), call("send", %{"x" => get("id")})), tools: seen)

      assert {:ok, ["sent"], _, _} =
               run(each(load("users"), call("send", %{"x" => get("who")})), tools: seen)

      for users <- [[[_pin: 1]], [%{_pin: 1}], %{"a" => %{"b" => {1, [%{"-pin" => 1}]}}}] do
        assert {:error, {:validation_error, text}} =
                 run(whole, context: %{"users" => users}, keys: :any)

        assert text =~ "pin into the argument 'x'"
      end
    end

    test "where the data are texts that are not decoded" do
      text = Json.text(~s([{"id": 1, "_pin": 2}]))
      context = %{"users" => text}
      assert run(call("send", %{"x" => load("users")}), context: context) == refused("users._pin")
      seen = %{"send" => fn _ -> "sent" end}
      node = each(load("users"), call("send", %{"x" => get("id")}))
      assert {:ok, ["sent"], _, _} = run(node, context: context, tools: seen)
      escaped = %{"users" => Json.text(~S([{"\u005fpin": 2}]))}
      assert run(call("send", %{"x" => load("users")}), context: escaped) == refused("users._pin")

      tools = %{"find" => fn _ -> text end, "send" => fn _ -> flunk("called") end}

      assert {:error, {:execution_error, "Tool 'send' was refused: " <> _}} =
               run(call("send", %{"x" => call("find", %{})}), tools: tools)
    end

    test "where the name of a value of the context or of the memory is firewalled, or the memory says so" do
      assert run(call("send", %{"x" => load("_key")}), context: %{"_key" => 1}) == refused("_key")
      var = %{"op" => "var", "name" => "_key"}
      assert run(call("send", %{"x" => var}), memory: %{"_key" => 1}) == refused("memory._key")
      memory = %{"pins" => [4711], "_concealed" => ["pins"]}
      var = %{"op" => "var", "name" => "pins"}
      said = "memory.pins (which an earlier program has taken from firewalled data)"
      assert run(call("send", %{"x" => var}), memory: memory) == refused(said)
    end

    test "where the signature of a tool says that its answer has one" do
      answering = {fn _ -> flunk("called") end, signature: "() -> {id :int, _pin :int}"}
      tools = tools(%{"find" => answering})
      found = call("find", %{})
      assert run(call("send", %{"x" => found}), tools: tools) == refused("answer of find._pin")
      get = pipe([found, get("_pin")])
      assert run(call("send", %{"x" => get}), tools: tools) == refused("answer of find._pin")
    end

    test "also where a tool reads, unless it declares the argument firewalled" do
      node = fn name -> each(load("users"), call("look", %{name => get("_pin")})) end
      seen = fn _ -> "seen" end
      look = fn signature -> %{"look" => {seen, signature: signature, effect: :read}} end
      why = "which does not declare it firewalled"

      assert run(node.("x"), tools: look.("(x :int) -> :string")) ==
               refused("users._pin", "x", "look", why)

      assert {:ok, ["seen"], _, _} = run(node.("_x"), tools: look.("(_x :int) -> :string"))

      assert run(node.("_x"), tools: %{"look" => {seen, effect: :read}}) ==
               refused("users._pin", "_x", "look", why)

      writes = %{"look" => {seen, signature: "(_x :int) -> :string"}}
      assert run(node.("_x"), tools: writes) == refused("users._pin", "_x", "look")
    end

    test "also if the call would not be reached, and compiled, checked, as text, as map, explained, recorded, overlapping" do
      call = each(load("users"), call("send", %{"x" => get("_pin")}))

      node = %{
        "op" => "if",
        "condition" => %{"op" => "literal", "value" => false},
        "then" => call,
        "else" => 1
      }

      program = %{"program" => node}
      opts = [context: %{"users" => @users}, tools: tools(), firewall: true]
      {:ok, compiled} = Json.compile(program)
      text = Json.Codec.encode!(program)

      for form <- [program, compiled, text], more <- [[], [tool_concurrency: 8], [edition: 2]] do
        assert Json.run(form, more ++ opts) == refused("users._pin")
        assert Json.explain(form, more ++ opts).result == refused("users._pin")
        assert {error, _journal} = Json.record(form, more ++ opts)
        assert error == refused("users._pin")
      end
    end

    test "where a number of items comes from it: counted in each way, as a list of as many items, and as the number of calls" do
      one = %{"op" => "literal", "value" => 1}
      load = load("users")
      own = &pipe([load, %{"op" => "first"}, get("_list"), &1])

      range =
        &pipe([load, %{"op" => "first"}, %{"op" => "range", "from" => 1, "to" => get("_pin")}, &1])

      users = [%{"id" => 1, "_pin" => 3, "_list" => [1, 2]}]
      acc = %{"op" => "var", "name" => "acc"}

      for of <- [own, range],
          {step, argument} <- [
            {%{"op" => "count"}, "x"},
            {%{"op" => "length"}, "x"},
            {%{
               "op" => "fold",
               "init" => 0,
               "expr" => %{"op" => "add", "left" => acc, "right" => 1}
             }, "x"},
            {%{"op" => "map", "expr" => one}, "x"},
            {%{"op" => "sum", "expr" => one}, "x"},
            {%{"op" => "index_by", "expr" => %{"op" => "literal", "value" => "k"}}, "x"},
            {%{"op" => "chunk", "size" => 1}, "x"},
            {%{"op" => "map", "expr" => call("send", %{"x" => one})}, :calls}
          ] do
        node = if argument == :calls, do: of.(step), else: call("send", %{"x" => of.(step)})
        assert {:error, {:validation_error, text}} = run(node, context: %{"users" => users})

        if argument == :calls,
          do: assert(text =~ "into the number of calls of tool 'send', which writes")

        assert text =~ ~r/users\._(list|pin)/
      end
    end

    test "where decisions over numbers that the program makes tell it exactly, as a number of items, an item, a result or calls" do
      it = %{"op" => "it"}
      pin = %{"op" => "var", "name" => "pin"}
      acc = %{"op" => "var", "name" => "acc"}
      range = %{"op" => "range", "from" => 1, "to" => 10_000}
      below = %{"op" => "lte", "left" => it, "value" => pin}
      same = %{below | "op" => "eq"}
      one = &%{"op" => "if", "condition" => below, "then" => &1, "else" => &2}
      plus = &%{"op" => "add", "left" => &1, "right" => &2}
      fold = &%{"op" => "fold", "init" => 0, "as" => "acc", "expr" => &1}
      sum = %{"op" => "sum", "expr" => it}

      with_pin = fn node ->
        value = pipe([load("users"), %{"op" => "first"}, get("_pin")])
        %{"op" => "let", "name" => "pin", "value" => value, "in" => node}
      end

      exact = [
        [range, %{"op" => "filter", "where" => below}, %{"op" => "count"}],
        [range, %{"op" => "reject", "where" => below}, %{"op" => "length"}],
        [range, %{"op" => "count", "where" => below}],
        [range, %{"op" => "find", "where" => same}],
        [range, %{"op" => "get", "key" => pin}],
        [range, %{"op" => "map", "expr" => one.(1, 0)}, sum],
        [range, %{"op" => "sum", "expr" => one.(1, 0)}],
        [range, %{"op" => "flat_map", "expr" => one.([it], [])}, %{"op" => "count"}],
        [range, %{"op" => "sort_by", "expr" => same, "order" => "desc"}, %{"op" => "first"}],
        [range, %{"op" => "max_by", "expr" => same}],
        [range, %{"op" => "filter", "where" => %{below | "op" => "in", "value" => [pin]}}],
        [range, fold.(one.(plus.(acc, 1), acc))],
        # A search by halves, over numbers that stand in the program.
        [
          %{"op" => "list", "items" => [4096, 2048, 1024]},
          fold.(%{
            "op" => "if",
            "condition" => %{"op" => "lte", "left" => plus.(acc, it), "value" => pin},
            "then" => plus.(acc, it),
            "else" => acc
          })
        ],
        [
          range,
          %{"op" => "group_by", "expr" => below, "as" => "by"},
          %{"op" => "map", "expr" => pipe([get("items"), %{"op" => "count"}])}
        ]
      ]

      for steps <- exact, with_steps = pipe(steps) do
        assert run(with_pin.(call("send", %{"x" => with_steps}))) == refused("users._pin")
      end

      for body <- [one.(call("send", %{"x" => 1}), nil), call("send", %{"x" => one.(1, 0)})] do
        assert {:error, {:validation_error, text}} =
                 run(with_pin.(pipe([range, %{"op" => "map", "expr" => body}])))

        assert text =~ "Firewalled data flows into a tool: users._pin into the"
      end

      # An order changes no number of items. It is in the items.
      sorted = %{"op" => "sort_by", "expr" => same, "order" => "desc"}
      length = fn _args -> "sent" end

      for steps <- [
            [range, sorted, %{"op" => "count"}],
            [range, sorted, %{"op" => "reverse"}, %{"op" => "length"}],
            [range, sorted, %{"op" => "map", "expr" => %{"op" => "literal", "value" => 1}}],
            [range, %{"op" => "map", "expr" => %{"n" => it}}, sorted, %{"op" => "length"}]
          ] do
        assert {:ok, "sent", _, _} =
                 run(with_pin.(call("send", %{"x" => pipe(steps)})), tools: %{"send" => length})
      end

      for steps <- [
            [range, sorted, %{"op" => "take", "count" => 1}],
            [range, sorted, %{"op" => "map", "expr" => plus.(it, 1)}],
            [
              range,
              sorted,
              %{"op" => "filter", "where" => %{same | "value" => 1}},
              %{"op" => "count"}
            ],
            [%{"op" => "zip", "lists" => [range, pipe([range, sorted])]}],
            [
              range,
              sorted,
              fold.(%{
                "op" => "if",
                "condition" => %{same | "left" => acc, "value" => 0},
                "then" => it,
                "else" => acc
              })
            ]
          ] do
        assert run(with_pin.(call("send", %{"x" => pipe(steps)}))) == refused("users._pin")
      end

      # One decision of the program, and one for each row, tells no number.
      seen = %{"send" => fn args -> args["x"] end}
      high = %{"op" => "gt", "field" => "_pin", "value" => 1}

      for {node, sent} <- [
            {with_pin.(
               one.(1, 0)
               |> Map.put("condition", %{same | "left" => pin, "value" => 4711})
             ), 1},
            {pipe([load("users"), %{"op" => "filter", "where" => high}, %{"op" => "count"}]), 1},
            {pipe([load("users"), %{"op" => "count", "where" => high}]), 1},
            {pipe([load("users"), %{"op" => "find", "where" => high}, get("id")]), 1}
          ] do
        assert {:ok, ^sent, _, _} = run(call("send", %{"x" => node}), tools: seen)
      end
    end

    test "but not where public items are counted, or their keys, kinds and items are what is left" do
      seen = %{"send" => fn _ -> "sent" end}
      row = [load("users"), %{"op" => "first"}]
      where = %{"op" => "filter", "where" => %{"op" => "gt", "field" => "_pin", "value" => 1}}

      users = %{
        "users" => [
          %{"id" => 1, "_pin" => 4711, "_b" => 2, "who" => %{"name" => "Ann", "_pin" => 1}}
        ]
      }

      rows = %{"op" => "list", "items" => [load("users"), load("users")]}

      for value <- [
            pipe([load("users"), %{"op" => "count"}]),
            pipe([load("users"), %{"op" => "length"}]),
            pipe([load("users"), where, %{"op" => "count"}]),
            pipe(row ++ [%{"op" => "length"}]),
            pipe(row ++ [%{"op" => "typeof"}]),
            pipe(row ++ [%{"op" => "keys"}]),
            pipe(row ++ [%{"op" => "entries"}, %{"op" => "map", "expr" => get("key")}]),
            pipe([rows, %{"op" => "flatten"}, %{"op" => "select", "fields" => ["id"]}]),
            pipe([
              load("users"),
              %{"op" => "get", "key" => 0},
              %{"op" => "select", "fields" => ["id"]}
            ]),
            pipe(
              row ++
                [
                  %{"op" => "rename", "fields" => %{"_pin" => "p", "id" => "n"}},
                  %{"op" => "set", "fields" => %{"p" => nil, "_b" => nil, "who" => nil}}
                ]
            ),
            pipe(
              row ++
                [
                  %{"op" => "merge", "objects" => [%{"a" => 1}, %{"op" => "it"}]},
                  %{"op" => "unset", "fields" => ["_pin", "_b", "who"]}
                ]
            )
          ] do
        assert {value, {:ok, "sent", %{}, %{}}} ==
                 {value, run(call("send", %{"x" => value}), context: users, tools: seen)}
      end
    end

    test "but not where the entries of an object are kept by their keys, which are constants" do
      seen = %{"send" => fn %{"x" => x} -> x end}
      key = &%{"op" => &1, "field" => "key", "value" => &2}
      left = &%{"op" => &1, "left" => get("key"), "value" => &2}
      logic = &%{"op" => &1, "conditions" => &2}
      none = %{"op" => "not", "condition" => key.("in", ["_pin", "_b"])}
      users = [%{"id" => 1, "name" => "Ann", "_pin" => 4711, "_b" => 2}]

      kept = fn kind, where, data, opts ->
        {last, opts} = Keyword.pop(opts, :last, %{"op" => "from_entries"})

        steps = [
          %{"op" => "first"},
          %{"op" => "entries"},
          %{"op" => kind, "where" => where},
          last
        ]

        opts = [context: %{"users" => data}, tools: seen] ++ opts
        run(call("send", %{"x" => pipe([load("users") | steps])}), opts)
      end

      for {kind, where} <- [
            {"filter", key.("eq", "id")},
            {"filter", key.("in", ["id", "name"])},
            {"filter", left.("in", ["id", "name"])},
            {"filter", logic.("and", [key.("neq", "_pin"), left.("neq", "_b")])},
            {"filter", logic.("or", [key.("eq", "id"), key.("eq", "name")])},
            {"filter", none},
            {"filter", logic.("and", [none, %{"op" => "neq", "field" => "value", "value" => 7}])},
            {"reject", key.("in", ["_pin", "_b"])},
            {"reject", logic.("or", [key.("eq", "_pin"), key.("eq", "_b")])},
            {"reject", %{"op" => "not", "condition" => key.("eq", "name")}},
            {"reject", key.("starts_with", "_")},
            {"filter", %{"op" => "not", "condition" => left.("starts_with", "_")}},
            {"filter", logic.("and", [key.("neq", "_b"), key.("neq", "_pin")])}
          ] do
        assert {:ok, value, _, _} = kept.(kind, where, users, [])
        assert map_size(value) in 1..2 and not is_map_key(value, "_pin"), inspect(where)

        # Atoms as keys, and those of structs: what the condition does not leave out is refused.
        atoms = [Map.new(hd(users), fn {name, value} -> {String.to_atom(name), value} end)]

        for structs <- [:maps, :values], keys <- [:any, :strings] do
          opts = [keys: keys, structs: structs, last: %{"op" => "map", "expr" => get("value")}]

          case kept.(kind, where, atoms, opts) do
            {:ok, value, _, _} -> refute 4711 in value or 2 in value, inspect({where, opts})
            {:error, {_kind, _text}} -> :ok
          end
        end
      end

      for {kind, where} <- [
            {"filter", key.("neq", "_pin")},
            {"filter", key.("in", ["id", "_b"])},
            {"filter", logic.("or", [key.("neq", "_pin"), key.("eq", "id")])},
            {"filter", logic.("and", [key.("neq", "_pin"), key.("neq", "id")])},
            {"filter", %{"op" => "eq", "field" => "value", "value" => "id"}},
            {"reject", logic.("and", [key.("eq", "_pin"), key.("eq", "_b")])},
            {"reject", key.("eq", "id")},
            {"reject", none},
            {"reject", key.("starts_with", "_p")},
            {"filter", key.("starts_with", "_")},
            {"reject", key.("ends_with", "_")},
            {"filter", logic.("or", [none, key.("eq", "_b")])}
          ] do
        assert {:error, {:validation_error, text}} = kept.(kind, where, users, [])
        assert text =~ "users._", inspect(where)
      end

      # The key and the value of an item belong together only where `entries` has made it.
      mixed = %{"key" => "id", "value" => get("_pin")}
      steps = [%{"op" => "filter", "where" => key.("eq", "id")}, %{"op" => "from_entries"}]
      mixed = pipe([load("users"), %{"op" => "map", "expr" => mixed} | steps])
      assert {:error, _} = run(call("send", %{"x" => mixed}), context: %{"users" => users})

      found = [
        %{"op" => "first"},
        %{"op" => "entries"},
        %{"op" => "find", "where" => key.("eq", "name")},
        get("value")
      ]

      opts = [context: %{"users" => users}, tools: seen]
      assert {:ok, "Ann", _, _} = run(call("send", %{"x" => pipe([load("users") | found])}), opts)
    end

    test "but not where nothing in the data has that name; what a firewalled value does not have is a part of it" do
      seen = %{"send" => fn args -> args["x"] end}
      first = &pipe([load("users"), %{"op" => "first"} | &1])
      opts = [tools: seen, context: %{"users" => [%{"id" => 1, "_who" => nil}, %{"id" => 2}]}]

      for {value, sent} <- [
            {first.([get("_pin")]), nil},
            {first.([%{"op" => "select", "fields" => ["id", "_pin"]}]), %{"id" => 1}},
            {first.([%{"op" => "rename", "fields" => %{"id" => "_pin"}}, get("_pin")]), 1},
            {load("_top"), nil}
          ] do
        result = run(call("send", %{"x" => value}), opts)
        assert match?({:ok, ^sent, _, _}, result) or value == load("_top"), inspect(result)
        refute match?({:error, {:validation_error, _}}, result), inspect(result)
      end

      for path <- [["_who"], ["_who", "name"]] do
        node = call("send", %{"x" => first.([%{"op" => "get", "path" => path}])})
        assert run(node, opts) == refused("users." <> Enum.join(path, "."))
      end

      # The keys of a map are looked at as programs read them.
      assert run(call("send", %{"x" => first.([get("_pin")])}),
               context: %{"users" => [%{_pin: 1}]},
               keys: :any
             ) == refused("users._pin")
    end

    test "but not where the entries of a row cannot be those of a list" do
      seen = %{"send" => fn args -> args["x"] end}
      pin = pipe([load("users"), %{"op" => "first"}, get("_pin")])
      where = %{"op" => "neq", "field" => "key", "value" => "p"}

      node =
        pipe([
          load("plain"),
          %{"op" => "first"},
          %{"op" => "set", "fields" => %{"p" => pin}},
          %{"op" => "entries"},
          %{"op" => "filter", "where" => where},
          %{"op" => "from_entries"}
        ])

      context = %{"users" => @users, "plain" => [%{"id" => 7}]}

      assert {:ok, %{"id" => 7}, _, _} =
               run(call("send", %{"x" => node}), context: context, tools: seen)
    end

    test "but not where a row of which fields are set stands before the fields of another one" do
      seen = %{"send" => fn args -> args["x"] end}
      cleared = %{"op" => "set", "fields" => %{"_pin" => nil, "who" => nil}}

      for list <- [load("users"), %{"op" => "concat", "lists" => [load("users"), load("more")]}] do
        join = %{"op" => "join", "on" => "id", "with" => load("users")}
        node = call("send", %{"x" => pipe([list, cleared, join])})
        opts = [context: %{"users" => @users, "more" => []}, tools: seen]
        assert {:ok, [%{"id" => 1, "_pin" => nil, "who" => nil}], _, _} = run(node, opts)
      end
    end

    test "but not without the option, and not if it only decides" do
      seen = %{"send" => fn _ -> "sent" end}
      node = each(load("users"), call("send", %{"x" => get("_pin")}))
      assert {:ok, ["sent"], _, _} = run(node, tools: seen, firewall: false)

      where = %{"op" => "filter", "where" => %{"op" => "gt", "field" => "_pin", "value" => 1}}

      node =
        pipe([load("users"), where, %{"op" => "map", "expr" => call("send", %{"x" => get("id")})}])

      assert {:ok, ["sent"], _, _} = run(node, tools: seen)
    end

    test "an error of the program comes as without the firewall" do
      for node <- [%{"op" => "nope"}, call("send", "x"), call("", %{}), %{"op" => "call"}] do
        assert run(node) == run(node, firewall: false)
      end

      assert run(call("other", %{"x" => 1})) == run(call("other", %{"x" => 1}), firewall: false)
    end
  end

  describe "an answer whose fields no signature says" do
    setup do
      {:ok, calls} = Elixir.Agent.start_link(fn -> [] end)
      seen = fn args -> Elixir.Agent.update(calls, &[args | &1]) end
      {:ok, calls: fn -> Elixir.Agent.get(calls, & &1) end, seen: seen}
    end

    defp find(answer), do: fn _ -> answer end

    test "is looked at when it comes: the call into which it flows ends the run", %{
      calls: calls,
      seen: seen
    } do
      node = fn value -> call("send", %{"x" => value, "y" => 1}) end
      found = call("find", %{})
      tools = &%{"find" => find(&1), "send" => seen}

      for {value, answer, at} <- [
            {found, %{"_pin" => 1}, "find._pin"},
            {pipe([found, get("who")]), %{"who" => [%{"_pin" => 1}]}, "find.who._pin"},
            {pipe([found, %{"op" => "entries"}, %{"op" => "from_entries"}]), %{"_pin" => 1},
             "find._pin"},
            {each(found, get("a")), [%{"a" => 1}, %{"a" => %{"_b" => 1}}], "find.a._b"}
          ],
          on_error <- [%{}, %{"on_error" => 1}],
          concurrency <- [1, 8] do
        assert {:error, {:execution_error, text}} =
                 run(Map.merge(node.(value), on_error),
                   tools: tools.(answer),
                   tool_concurrency: concurrency
                 )

        assert text ==
                 "Tool 'send' was refused: Firewalled data flows into a tool: answer of #{at} into the argument 'x' of tool 'send', which writes. Give it only other fields, with get or select, or without these, with unset"
      end

      assert calls.() == []
      assert {:ok, _, _, _} = run(node.(found), tools: tools.(%{"pin" => 1}))

      assert {:ok, _, _, _} =
               run(node.(pipe([found, get("id")])), tools: tools.(%{"id" => 1, "_pin" => 1}))

      assert length(calls.()) == 2
    end

    test "is looked at for a firewalled field that its signature does not name", %{
      calls: calls,
      seen: seen
    } do
      node = &call("send", %{"x" => pipe([call("find", %{}), &1])})
      pin = get("_pin")
      some = %{"op" => "select", "fields" => ["_pin", "id"]}

      tools =
        &%{"send" => seen, "find" => {find(&1), signature: "() -> {id :int}", effect: :read}}

      for value <- [pin, some] do
        assert {:ok, _, _, _} = run(node.(value), tools: tools.(%{"id" => 1}))

        for answer <- [%{"id" => 1, "_pin" => 4711}, %{"id" => 1, "_pin" => nil}] do
          assert {:error, {:execution_error, text}} = run(node.(value), tools: tools.(answer))

          assert text =~ "answer of find._pin into the argument 'x' of tool 'send'"
        end
      end

      assert length(calls.()) == 2
    end

    test "also where it comes from the cache, from :on_call, or from a journal", %{
      calls: calls,
      seen: seen
    } do
      found = call("find", %{})

      program = %{
        "program" => call("send", %{"x" => %{"op" => "list", "items" => [found, found]}})
      }

      answer = %{"_pin" => 1}
      tools = %{"find" => {find(answer), cache: true}, "send" => {seen, approve: true}}
      opts = [tools: tools, firewall: true]

      assert {:error, {:execution_error, "Tool 'send' was refused: " <> _}} =
               Json.run(program, opts)

      hook = &if(&1.tool == "find", do: {:answer, answer}, else: :run)
      tools = %{"find" => fn _ -> 1 end, "send" => seen}
      opts = [tools: tools, firewall: true, on_call: hook]

      assert {:error, {:execution_error, "Tool 'send' was refused: " <> _}} =
               Json.run(program, opts)

      # It pauses at the second call; what was answered before comes from the journal then.
      steps = [
        call("find", %{}),
        call("wait", %{}),
        call("send", %{"x" => %{"op" => "var", "name" => "it"}})
      ]

      [find, wait, send] = steps

      node = %{
        "op" => "let",
        "name" => "it",
        "value" => find,
        "in" => %{"op" => "list", "items" => [wait, send]}
      }

      tools = %{"find" => find(answer), "wait" => {fn _ -> 1 end, approve: true}, "send" => seen}
      opts = [tools: tools, firewall: true]
      assert {:paused, paused} = Json.run(%{"program" => node}, opts)

      assert {:error, {:execution_error, "Tool 'send' was refused: " <> _}} =
               Json.resume(paused, :approve, opts)

      assert calls.() == []
    end
  end

  describe "an agent" do
    @program Json.Codec.encode!(%{
               "program" => %{
                 "op" => "pipe",
                 "steps" => [
                   %{"op" => "load", "name" => "users"},
                   %{
                     "op" => "map",
                     "expr" => %{
                       "op" => "call",
                       "tool" => "send",
                       "args" => %{"x" => %{"op" => "get", "field" => "_pin"}}
                     }
                   }
                 ]
               }
             })

    test "has a firewall, and can be without one" do
      opts = [context: %{users: @users}, tools: %{"send" => fn _ -> "sent" end}]
      error = refused("users._pin")

      assert {:error, _reason, feedback} =
               Agent.run(@program, opts[:tools], Keyword.delete(opts, :tools))

      assert {:error, elem(error, 1)} == error
      assert feedback =~ "users._pin into the argument 'x' of tool 'send'"
      refute feedback =~ "4711"

      assert {:ok, ["sent"], _} =
               Agent.run(@program, opts[:tools], context: %{users: @users}, firewall: false)
    end

    test "tells the model, which writes another program" do
      {:ok, turns} = Elixir.Agent.start_link(fn -> [] end)

      model = fn messages ->
        Elixir.Agent.update(turns, &[messages | &1])

        if length(Elixir.Agent.get(turns, & &1)) == 1,
          do: {:ok, @program},
          else: {:ok, String.replace(@program, "_pin", "id")}
      end

      opts = [context: %{users: @users}, tools: %{"send" => fn _ -> "sent" end}]
      assert {:ok, step} = Agent.loop(model, [task: "Send."] ++ opts)
      assert step.return == ["sent"]

      assert turns
             |> Elixir.Agent.get(& &1)
             |> hd()
             |> inspect(limit: :infinity, printable_limit: :infinity) =~ "users._pin into"
    end
  end
end
