defmodule PtcRunner.Firewall.KeptTest do
  # What a program keeps in the memory stays firewalled in later programs, and what it has only decided may go into tools.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Firewall.{Kept, Marks}

  doctest Kept
  doctest Marks

  defmodule Account do
    @moduledoc false
    defstruct [:id, :token]
    def __schema__(:redact_fields), do: [:token]
  end

  @users [%{"id" => 1, "_pin" => 4711, "_tags" => ["a", "b"]}, %{"id" => 2, "_pin" => 5}]

  defp op(name, fields \\ []),
    do: Map.put(Map.new(fields, fn {k, v} -> {to_string(k), v} end), "op", name)

  defp users(steps), do: op("pipe", steps: [op("load", name: "users") | steps])
  defp get(field), do: op("get", field: field)
  defp var(name), do: op("var", name: name)
  defp send_of(value), do: op("call", tool: "send", args: %{"x" => value})

  defp options(more \\ []) do
    me = self()
    tools = %{"send" => fn args -> send(me, {:sent, args["x"]}) && "sent" end}
    Keyword.merge([context: %{"users" => @users}, tools: tools, firewall: true], more)
  end

  defp keep(node, more \\ []) do
    assert {:ok, _value, _delta, memory} = Json.run(%{"program" => node}, options(more))
    memory
  end

  defp sent(memory, node, more \\ []) do
    case Json.run(%{"program" => send_of(node)}, options([memory: memory] ++ more)) do
      {:ok, "sent", _, _} ->
        assert_received {:sent, value}
        {:ok, value}

      {:error, {:validation_error, text}} ->
        refute_received {:sent, _value}
        text
    end
  end

  @refused "Firewalled data flows into a tool: memory.kept (which an earlier program has taken from firewalled data) into the argument 'x' " <>
             "of tool 'send', which writes. Give it only other fields, with get or select, or without these, with unset"

  test "a firewalled field is told apart from the rows that it stands in, also where both are kept" do
    rows = op("load", name: "users")
    pin = users([op("first"), get("_pin")])
    many = for n <- 1..70, into: %{}, do: {"f#{n}", users([op("nth", index: 0), get("f#{n}")])}

    for kept <- [
          %{"own" => pin, "rows" => rows},
          %{"rows" => rows, "deep" => %{"own" => pin}},
          [rows, pin],
          %{"own" => users([op("map", expr: get("_pin"))]), "row" => users([op("first")])},
          Map.merge(many, %{"own" => pin, "rows" => rows})
        ] do
      memory = keep(%{"kept" => kept})
      assert memory["_concealed"] == ["kept"]
      assert sent(memory, var("kept")) =~ "Firewalled data flows into a tool"

      unless is_list(kept) do
        own =
          op("get", from: var("kept"), path: if(kept["deep"], do: ["deep", "own"], else: ["own"]))

        assert sent(memory, own) =~ "Firewalled data flows into a tool: memory.kept"
      end
    end

    # Rows alone need no mark, also where a public field stands beside them.
    id = users([op("first"), get("id")])
    memory = keep(%{"kept" => %{"own" => id, "rows" => rows}})
    assert sent(memory, op("get", from: var("kept"), field: "own")) == {:ok, 1}
  end

  test "a value that firewalled data flow into is refused in the next run, whatever its name" do
    first = &users([op("first") | &1])

    for kept <- [
          first.([get("_pin")]),
          users([op("map", expr: get("_pin"))]),
          users([op("sum", field: "_pin")]),
          first.([%{"a" => [get("_pin")]}]),
          first.([op("rename", fields: %{"_pin" => "pin"})]),
          first.([op("text", parts: ["pin ", get("_pin")])]),
          first.([op("eq", field: "_pin", value: 4711)]),
          first.([op("eq", left: op("it"), value: op("load", name: "one"))]),
          first.([op("range", from: 1, to: get("_pin")), op("map", expr: op("literal", value: 1))]),
          first.([get("_tags")]),
          first.([op("entries"), op("map", expr: get("value"))]),
          users([op("index_by", expr: op("text", parts: [get("_pin")]))]),
          op("if", condition: op("literal", value: true), then: first.([get("_pin")]), else: 1)
        ] do
      context = %{"users" => @users, "one" => hd(@users)}
      memory = keep(%{"kept" => kept, "n" => 1}, context: context)
      assert "kept" in memory["_concealed"], inspect(kept)
      assert sent(memory, var("kept")) == @refused
      kind = op("pipe", steps: [var("kept"), op("typeof")])
      assert sent(memory, kind) =~ "memory.kept) (which an earlier program has taken"
      assert sent(memory, var("n")) == {:ok, 1}
    end
  end

  test "rows are kept with their fields, of which only the firewalled ones are refused" do
    for kept <- [
          users([]),
          users([op("filter", where: op("gt", field: "_pin", value: 1))]),
          users([op("select", fields: ["id", "_pin"])]),
          users([op("map", expr: %{"id" => get("id"), "_pin" => get("_pin")})]),
          users([op("group_by", field: "id"), op("flat_map", expr: get("items"))])
        ] do
      memory = keep(%{"kept" => kept})
      each = &op("pipe", steps: [var("kept"), op("map", expr: get(&1))])
      assert sent(memory, each.("id")) == {:ok, [1, 2]}
      assert sent(memory, each.("_pin")) =~ "memory.kept._pin into the argument 'x'"
      assert sent(memory, var("kept")) =~ "memory.kept._"
    end
  end

  test "what firewalled data have only decided is not shown to a model, and may go into a tool" do
    rich = users([op("filter", where: op("gt", field: "_pin", value: 100)), op("count")])
    found = users([op("find", where: op("eq", field: "_pin", value: 5)), get("id")])
    memory = keep(%{"rich" => rich, "found" => found, "all" => users([op("count")])})
    assert %{"_concealed" => ["found", "rich"], "_decided" => ["found", "rich"]} = memory
    assert sent(memory, var("rich")) == {:ok, 1}
    assert sent(memory, var("found")) == {:ok, 2}
    prompt = Agent.prompt(language: :none, memory: memory)
    assert prompt =~ "- rich :any (not shown: it comes from firewalled fields)"
    assert prompt =~ "- all :int"

    # What is made of such a value later is decided by it no more than that value itself.
    memory = keep(%{"kept" => op("add", left: var("rich"), right: 1)}, memory: memory)
    assert sent(memory, var("kept")) == {:ok, 2}
  end

  test "a mark stays with what is made of the value in later programs, and goes with the value" do
    memory = keep(%{"kept" => users([op("sum", field: "_pin")])})
    more = keep(%{"twice" => op("mul", left: var("kept"), right: 2)}, memory: memory)
    assert more["_concealed"] == ["kept", "twice"]
    assert sent(more, var("twice")) =~ "memory.twice (which an earlier program"

    copied = keep(%{"copy" => %{"deep" => [var("kept")]}}, memory: memory)

    assert sent(copied, op("pipe", steps: [var("copy"), get("deep")])) =~
             "memory.copy.deep (which"

    public = keep(%{"kept" => 1}, memory: more)
    assert public["_concealed"] == ["twice"]
    assert sent(public, var("kept")) == {:ok, 1}
  end

  test "a program cannot write the marks, and a whole result is marked by its fields" do
    forged = %{
      "kept" => users([op("sum", field: "_pin")]),
      "_concealed" => [],
      "_decided" => ["kept"]
    }

    memory = keep(forged)
    assert memory["_concealed"] == ["kept"]
    refute is_map_key(memory, "_decided")
    assert sent(memory, var("kept")) == @refused

    row = keep(users([op("first"), op("rename", fields: %{"_pin" => "kept"})]))
    assert Marks.flowing(row) == ["kept"]
    assert sent(row, var("kept")) == @refused
    assert sent(row, var("id")) == {:ok, 1}

    context = %{"users" => [%{"id" => 1, "_who" => %{"kept" => 7}}]}
    who = keep(users([op("first"), get("_who")]), context: context)
    assert sent(who, var("kept")) == @refused
  end

  test "names that are made of firewalled data are not shown; those that a program has written are" do
    by = users([op("index_by", expr: op("text", parts: [get("_pin"), "!"]))])
    context = %{"users" => @users}
    all = op("merge", objects: [%{"look" => 1, "sum" => users([op("sum", field: "_pin")])}, by])
    model = fn _messages -> Json.Codec.encode!(%{"program" => all}) end
    {:error, step} = Agent.loop(model, task: "t", context: context, max_turns: 2)
    assert %{"4711!" => _, "_unnamed" => ["4711!", "5!"]} = step.memory
    refute Enum.any?(step.messages, &(&1.content =~ "4711"))
    assert Enum.any?(step.messages, &(&1.content =~ "Kept in memory: sum."))
    prompt = Agent.prompt(language: :none, memory: step.memory)
    refute prompt =~ "4711"
    assert prompt =~ "- sum :any (not shown"

    # Nor in what a check says of such a value.
    {:ok, _value, %{memory: memory}} =
      Agent.run(%{"program" => %{"by" => by}}, %{}, context: context)

    missing = op("pipe", steps: [var("by"), get("4712!")])

    assert {:error, _error, feedback} =
             Agent.run(%{"program" => op("add", left: missing, right: "x")}, %{},
               memory: memory,
               check: true
             )

    refute feedback =~ "4711"

    # Nor are the keys below a firewalled field of the data.
    context = %{"users" => [%{"id" => 1, "_by" => %{"4711!" => 1}}]}
    missing = users([op("first"), get("_by"), get("4712!")])
    wrong = %{"program" => op("add", left: missing, right: "x")}
    assert {:error, _error, feedback} = Agent.run(wrong, %{}, context: context, check: true)
    refute feedback =~ "4711"
  end

  test "a program with many keys is marked in linear time" do
    rows = for n <- 1..30_000, do: %{"id" => "k#{n}", "_pin" => n}
    by = op("pipe", steps: [op("load", name: "rows"), op("index_by", field: "id")])
    node = op("merge", objects: [by, %{"n" => op("pipe", steps: [by, op("length")])}])

    {ms, memory} =
      PtcRunner.Test.Room.least_ms(20_000, fn ->
        keep(node, context: %{"rows" => rows}, max_heap: 0)
      end)

    assert map_size(memory) == 30_001
    assert ms < 20_000
    assert sent(memory, op("pipe", steps: [var("k7"), get("id")])) == {:ok, "k7"}
    assert sent(memory, var("k7")) =~ "memory.k7._pin"
  end

  test "answers of tools whose fields are not known" do
    tools = %{"find" => fn _ -> %{"n" => 2, "_pin" => 4711} end}
    found = op("call", tool: "find")
    kept = &keep(%{"kept" => &1}, tools: tools)

    for value <- [
          op("pipe", steps: [found, get("_pin")]),
          op("pipe", steps: [found, op("entries"), op("map", expr: get("value"))]),
          op("to_text", value: found),
          op("eq", left: found, value: op("load", name: "users"))
        ] do
      assert sent(kept.(value), var("kept")) == @refused, inspect(value)
    end

    number = op("pipe", steps: [found, op("add", left: get("n"), right: 1)])
    assert sent(kept.(number), var("kept")) == {:ok, 3}
    assert sent(kept.(found), op("pipe", steps: [var("kept"), get("n")])) == {:ok, 2}
    assert sent(kept.(found), var("kept")) =~ "memory.kept._pin into"
  end

  test "in every form of a program and of a run, and in an agent; not without a firewall" do
    node = %{"kept" => users([op("sum", field: "_pin")])}
    program = %{"program" => node}
    {:ok, compiled} = Json.compile(program)

    for form <- [program, compiled, Json.Codec.encode!(program)] do
      assert {:ok, _, _, %{"_concealed" => ["kept"]}} = Json.run(form, options())
      assert %{result: {:ok, _, _, %{"_concealed" => ["kept"]}}} = Json.explain(form, options())
      assert {{:ok, _, _, memory}, _journal} = Json.record(form, options())
      assert memory["_concealed"] == ["kept"]
      assert {:ok, _, _, memory} = Json.run(form, options(firewall: false))
      refute is_map_key(memory, "_concealed")
    end

    assert {:ok, _value, %{memory: memory}} =
             Agent.run(program, %{}, context: %{"users" => @users})

    send_it = %{"program" => send_of(var("kept"))}
    tools = %{"send" => fn _ -> flunk("called") end}
    assert {:error, {:validation_error, @refused}, _} = Agent.run(send_it, tools, memory: memory)

    # A row of a struct, whose fields are atoms.
    pin = op("pipe", steps: [op("load", name: "one"), get("_who")])
    context = %{"one" => %{_who: %{kept: 1}}}
    opts = [context: context, keys: :any]
    assert {:ok, _, _, memory} = Json.run(%{"program" => pin}, options(opts))
    assert memory["_concealed"] == ["kept"]
  end

  test "a loop of an agent: the second turn cannot send what the first one has kept, and can send what was decided" do
    {:ok, turns} = Elixir.Agent.start_link(fn -> 0 end)
    me = self()
    tools = %{"send" => fn args -> send(me, {:sent, args["x"]}) && "sent" end}
    first = %{"look" => 1, "kept" => users([op("sum", field: "_pin")]), "rich" => rich()}

    model = fn _messages ->
      programs = [first, send_of(var("kept")), send_of(var("rich"))]
      turn = Elixir.Agent.get_and_update(turns, &{&1, &1 + 1})
      Json.Codec.encode!(%{"program" => Enum.at(programs, turn)})
    end

    task = [task: "t", context: %{"users" => @users}, tools: tools, max_turns: 5]
    assert {:ok, %{return: "sent"} = step} = Agent.loop(model, task)
    assert_received {:sent, 1}
    refute_received {:sent, _other}
    assert Enum.any?(step.messages, &(&1.content =~ "memory.kept (which an earlier program"))
  end

  defp rich, do: users([op("filter", where: op("gt", field: "_pin", value: 100)), op("count")])

  test "a redacted field of a row whose fields become entries gets a mark, and no other field does" do
    account = struct!(Account, id: 1, token: "t0ken")
    row = op("load", name: "account")
    data = [context: %{"account" => account, "rows" => [account]}, structs: :values, keys: :any]
    first = op("pipe", steps: [op("load", name: "rows"), op("first")])

    for node <- [
          row,
          first,
          op("merge", objects: [%{"x" => 1}, row]),
          op("merge", objects: [row, %{"x" => 1}])
        ] do
      memory = keep(node, data)
      assert Marks.flowing(memory) == ["token"]

      assert sent(memory, var("token"), data) =~
               "memory.token (which an earlier program has taken"

      assert sent(memory, var("id"), data) == {:ok, 1}
    end

    # What is written over it is another value.
    written = op("pipe", steps: [row, op("set", fields: %{"token" => "none"})])
    assert Marks.flowing(keep(written, data)) == []
  end
end
