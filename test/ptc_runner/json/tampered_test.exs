defmodule PtcRunner.Json.TamperedTest do
  # Paused runs and journals that somebody has changed: each is an error in words, and no tool is called for it.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Paused}
  alias PtcRunner.Json.Paused.Packed

  doctest Packed

  @program ~s({"program": {"op": "let", "name": "a", "value": {"op": "call", "tool": "x"}, "in":
    {"op": "let", "name": "b", "value": {"op": "call", "tool": "y"}, "in": {"op": "call", "tool": "z"}}}})

  @each ~s({"program": {"op": "pipe", "steps": [{"op": "literal", "value": [1, 2, 3]},
    {"op": "map", "expr": {"op": "call", "tool": "z", "args": {"n": {"op": "var", "name": "__input"}}}}]}})

  defp tools(test \\ self()) do
    call = fn name, value -> fn _args -> send(test, {:called, name}) && value end end
    %{"x" => call.("x", 1), "y" => call.("y", [2]), "z" => {call.("z", 3), approve: true}}
  end

  # A paused run whose first two calls were answered.
  defp paused(opts \\ []) do
    {:paused, paused} = Json.run(@program, [{:tools, tools(spawn(fn -> :ok end))} | opts])
    paused
  end

  defp refused(paused, opts \\ []) do
    assert {:error, {:execution_error, text}} =
             Json.resume(paused, :approve, [{:tools, tools()} | opts])

    refute_received {:called, _}
    refute text =~ "native library"
    text
  end

  defp atom(name), do: %{"$ptc" => "atom", "is" => name}
  defp struct_of(name), do: %{"$ptc" => "map", "is" => [[atom("__struct__"), atom(name)]]}

  test "as it was, it goes on" do
    assert {:ok, paused} = paused() |> Paused.to_map() |> Paused.from_map()
    assert Json.resume(paused, :approve, tools: tools()) == {:ok, 3, %{}, %{}}
    assert_received {:called, "z"}
    refute_received {:called, _}
  end

  test "a map that is none says which part" do
    map = Paused.to_map(paused())
    [waits] = map["calls"]
    [first, second] = map["answered"]
    deep = Enum.reduce(1..100_000, 1, fn _, inner -> [inner] end)

    for {name, value, message} <- [
          {"program", 7, ~S(no valid "program")},
          {"program", struct_of("Elixir.PtcRunner.Json.Program"), ~S(no valid "program")},
          {"program", atom("no_such_atom_2"), "there is no atom"},
          {"memory", [], ~S(no valid "memory")},
          {"memory", %{"$ptc" => "nothing", "is" => 1}, "unknown or wrong"},
          {"memory", %{"$ptc" => "tuple"}, ~S(needs "is")},
          {"now", nil, ~S(no valid "now")},
          {"now", "today", ~S(no valid "now")},
          {"made_at", 7, ~S(no valid "made_at")},
          {"expires_at", "later", ~S(no valid "expires_at")},
          {"edition", 3, ~S(no valid "edition")},
          {"keys", "atoms", ~S(no valid "keys")},
          {"strict", nil, ~S(no valid "strict")},
          {"structs", "none", ~S(no valid "structs")},
          {"max_depth", 0, ~S(no valid "max_depth")},
          {"max_depth", 1.0e300, ~S(no valid "max_depth")},
          {"max_depth", Integer.pow(10, 100), ~S(no valid "max_depth")},
          {"fingerprint", nil, ~S(no valid "fingerprint")},
          {"forks", "no", ~S(no valid "forks")},
          {"recovered", "no", ~S(no valid "recovered")},
          {"max_tool_calls", -1, ~S(no valid "max_tool_calls")},
          {"tool_concurrency", 0, ~S(no valid "tool_concurrency")},
          {"firewall", nil, ~S(no valid "firewall")},
          {"hooks", ["on_fire"], ~S(no valid "hooks")},
          {"timeout", "soon", ~S(no valid "timeout")},
          {"timeout", Integer.pow(10, 100), ~S(no valid "timeout")},
          {"max_heap", 1.5, ~S(no valid "max_heap")},
          {"pause_ttl", nil, ~S(no valid "pause_ttl")},
          {"run_id", 7, ~S(no valid "run_id")},
          {"answered", %{}, ~S(no valid "answered")},
          {"answered", [first | second], ~S(no valid "answered")},
          {"answered", [deep], "no entry of a journal"},
          {"answered", [Map.put(first, "id", "0")], "no id of a call"},
          {"answered", [Map.delete(first, "answer")], "no answer of a call"},
          {"answered", [%{"id" => "1", "tool" => "x", "args" => 1, "started" => true}],
           "a call has no answer"},
          {"answered", [second], "The journal has no call 1, but later ones"},
          {"answered", [first, second, first], "The journal has the call 1 twice"},
          {"answered", [first, %{second | "id" => "3"}], "The journal has no call 2"},
          {"answered", [%{first | "id" => "2.0.1"}], "The journal has no call 1"},
          # Only behind a call that waits may a later one of its round be answered.
          {"answered", [first, %{second | "id" => "2.0.2"}], "The journal has no call 2.0.1"},
          {"answered", [%{first | "id" => "1.0.2"}, %{second | "id" => "2"}],
           "The journal has no call 1.0.1"},
          {"calls", 7, ~S(no valid "calls")},
          {"calls", [7], "no call: 7"},
          {"calls", [waits, waits], "The call 3 waits twice"},
          {"calls", [%{waits | "id" => "1"}], "The call 1 waits, but the journal has its answer"},
          {"calls", [%{waits | "id" => String.duplicate("9", 1_000)}], "no id of a call"},
          {"calls", [%{waits | "effect" => "none"}], "no call"},
          {"calls", [%{waits | "number" => "3"}], ~S(no valid "calls")},
          {"calls", [%{waits | "text" => 7}], ~S(no valid "calls")},
          {"calls", [%{waits | "path" => 7}], ~S(no valid "calls")},
          {"calls", [%{waits | "args" => struct_of("Elixir.NoSuchModule2")}], "there is no atom"}
        ] do
      assert {:error, sentence} = Paused.from_map(Map.put(map, name, value)), name
      assert sentence =~ message
      assert byte_size(sentence) < 1_000

      recovered = Paused.recover([Map.put(map, name, value)])
      if name in ["answered", "calls"], do: recovered, else: assert({:error, _} = recovered)
    end

    # Earlier releases do not write these.
    later =
      ["max_tool_calls", "tool_concurrency", "firewall", "hooks"] ++
        ["timeout", "max_heap", "pause_ttl", "run_id", "within", "unknown", "plan"]

    for name <- Map.keys(map) -- ["paused" | later] do
      assert {:error, _sentence} = Paused.from_map(Map.delete(map, name))
    end
  end

  test "what is large or deep is no error by itself" do
    map = Paused.to_map(paused())
    deep = Enum.reduce(1..100_000, 1, fn _, inner -> [inner] end)
    wide = Map.new(1..50_000, &{"key #{&1}", &1})
    assert {:ok, paused} = Paused.from_map(%{map | "memory" => %{"a" => deep, "b" => wide}})
    assert {:ok, 3, %{}, %{"a" => ^deep}} = Json.resume(paused, :approve, tools: tools())

    # Words that are no words are weighed anew.
    for words <- [0.5, -1, Integer.pow(2, 70), "many"], max_heap <- [0, 1_000_000] do
      answered = Enum.map(map["answered"], &Map.put(&1, "words", words))
      assert {:ok, paused} = Paused.from_map(%{map | "answered" => answered})
      opts = [tools: tools(), max_heap: max_heap]
      assert Json.resume(paused, :approve, opts) == {:ok, 3, %{}, %{}}
    end
  end

  test "a map makes no atoms" do
    map = Paused.to_map(paused())

    for n <- 1..1_000 do
      name = "tampered atom #{n}"
      assert {:error, _} = Paused.from_map(%{map | "memory" => %{"a" => atom(name)}})
      assert {:error, _} = Paused.from_map(%{map | "keys" => name, "structs" => name})
      assert {:ok, _} = Paused.from_map(Map.put(map, name, name))
      # Not the number of all atoms: tests beside this one make some.
      assert_raise ArgumentError, fn -> String.to_existing_atom(name) end
    end
  end

  test "a struct whose fields are none" do
    paused = paused()
    [waits] = paused.calls
    pack = &:erlang.term_to_binary/1

    for {field, value, message} <- [
          {:journal, 7, "cannot be read"},
          {:journal, "", "cannot be read"},
          {:journal, pack.({[1], ["x"], [%{}], [2], [:strange]}), "cannot be read"},
          {:journal, pack.({[1], [7], [%{}], [9], [1]}), "cannot be read"},
          {:journal, pack.({[:a], ["x"], [%{}], [9], [1]}), "cannot be read"},
          {:journal, pack.({[1 | 2], ["x"], [%{}], [9], [1]}), "cannot be read"},
          {:journal, pack.({1, ["x"], [%{}], [:a], [1]}), "cannot be read"},
          {:journal, pack.({1, ["x"], [%{}], [Integer.pow(2, 70)], [1]}), "cannot be read"},
          {:journal, pack.({2, ["x"], [%{}], [9], [1]}), "cannot be read"},
          # It says that it becomes 4 GB.
          {:journal, <<131, 80, 0xFFFFFFFF::32, 1, 2, 3>>, "cannot be read"},
          {:journal, Packed.pack([{2, "x", %{}, {:ok, 1, 2}}]), "has no call 1, but later ones"},
          {:calls, 7, ~S(no valid "calls")},
          {:calls, [waits | 7], ~S(no valid "calls")},
          {:calls, [%{id: "1"}], ~S(no valid "calls")},
          {:calls, [%{waits | id: "x"}], ~S(no valid "calls")},
          {:calls, [waits, waits], "waits twice"},
          {:program, self(), ~S(no valid "program")},
          {:program, %{__struct__: Json.Program}, ~S(no valid "program")},
          {:memory, 7, ~S(no valid "memory")},
          {:now, 7, ~S(no valid "now")},
          {:expires_at, 7, ~S(no valid "expires_at")},
          {:expires_at, "never", "has expired"},
          {:edition, 7, ~S(no valid "edition")},
          {:keys, :foo, ~S(no valid "keys")},
          {:strict, 7, ~S(no valid "strict")},
          {:structs, 7, ~S(no valid "structs")},
          {:max_depth, "x", ~S(no valid "max_depth")},
          {:fingerprint, 7, ~S(no valid "fingerprint")},
          {:fingerprint, "0", "The data that the program reads is not what it was"},
          {:forks, 7, ~S(no valid "forks")},
          {:version, 7, "version 7"}
        ],
        max_heap <- [0, 1_000_000] do
      assert refused(Map.put(paused, field, value), max_heap: max_heap) =~ message
    end

    assert_raise ArgumentError, ~r/cannot be read/, fn ->
      Paused.answered(%{paused | journal: "x"})
    end
  end

  test "a call that waits is another one" do
    paused = paused()
    [waits] = paused.calls

    assert refused(%{paused | calls: [%{waits | args: %{"n" => 1}}]}) ==
             ~S(The program calls 'z' with %{}, but the journal has 'z' with %{"n" => 1})

    assert refused(%{paused | calls: [%{waits | tool: "x"}]}) ==
             "The program calls 'z' with %{}, but the journal has 'x' with %{}"

    # Without the call, or with another number, it waits again.
    for calls <- [[], [%{waits | id: "7"}]] do
      assert {:paused, %{calls: [^waits]}} =
               Json.resume(%{paused | calls: calls}, :approve, tools: tools())
    end
  end

  test "calls that overlap: answers that are there twice, or that wait too" do
    opts = [tools: tools(spawn(fn -> :ok end)), tool_concurrency: 3]
    {:paused, paused} = Json.run(@each, opts)
    {:paused, paused} = Json.resume(paused, %{"1.0.1" => :approve}, opts)
    map = Paused.to_map(paused)
    assert [%{"id" => "1.0.1"} = answer] = map["answered"]
    assert {:error, sentence} = Paused.from_map(%{map | "answered" => [answer, answer]})
    assert sentence == "The journal has the call 1.0.1 twice"
    again = [hd(map["calls"]) |> Map.put("id", "1.0.1") | map["calls"]]
    assert {:error, sentence} = Paused.from_map(%{map | "calls" => again})
    assert sentence == "The call 1.0.1 waits, but the journal has its answer"
  end

  test "an answer that has the id of another call" do
    map = Paused.to_map(paused())
    [first, second] = map["answered"]

    for {answered, message} <- [
          {[%{first | "id" => "1.0.1"}], "The journal has no call 1, but later ones"},
          {[%{first | "id" => "1.0.1"}, second], "The journal has no call 1, but later ones"},
          {[first, %{second | "id" => "2.3.1"}], "The journal has no call 2, but later ones"}
        ] do
      assert {:ok, paused} = Paused.from_map(%{map | "answered" => answered})
      assert refused(paused) == message
    end

    # Of a loop.
    program = String.replace(@program, ~s({"op": "call", "tool": "x"}), inner(@each))

    {:paused, paused} =
      Json.run(program, tools: %{tools() | "z" => {fn _ -> 3 end, approve: true}})

    assert Enum.map(paused.calls, & &1.id) == ["1.0.1", "1.1.1", "1.2.1"]
    {:paused, paused} = Json.resume(paused, :approve, tools: tools())
    assert [%{id: "3"}] = paused.calls
    for _ <- 1..3, do: assert_received({:called, "z"})
    assert_received {:called, "y"}
    map = Paused.to_map(paused)
    [_, _, _, %{"id" => "2"}] = answered = map["answered"]

    # All of a loop, or the answers of one round.
    assert {:error, sentence} = Paused.from_map(%{map | "answered" => Enum.drop(answered, 3)})
    assert sentence == "The journal has no call 1, but later ones"

    for gone <- 0..2 do
      {:ok, paused} = Paused.from_map(%{map | "answered" => List.delete_at(answered, gone)})
      assert refused(paused) == "The journal has no call 1.#{gone}.1, but later ones"
    end
  end

  # The node of a program.
  defp inner(program), do: program |> Codec.decode!() |> Map.fetch!("program") |> Codec.encode!()

  test "a journal that is replayed" do
    tools = Map.put(tools(spawn(fn -> :ok end)), "z", fn _ -> 3 end)
    {{:ok, 3, _, _} = result, journal} = Json.record(@program, tools: tools)
    assert Json.replay(@program, journal) == result
    # The order of its lines is that of their numbers.
    [first, second, third] = calls = journal["calls"]
    assert Json.replay(@program, %{journal | "calls" => Enum.reverse(calls)}) == result

    for {name, value, message} <- [
          {"now", 7, "The journal has no valid time: 7"},
          {"now", "today", "The journal has no valid time"},
          {"edition", 7, "The journal has no valid edition: 7"},
          {"edition", nil, "The journal has no valid edition: nil"},
          {"calls", [first | second], "its calls are no list"},
          {"calls", [second, third], "The journal has no call 1, but later ones"},
          {"calls", [first, third], "The journal has no call 2, but later ones"},
          {"calls", [first, first, second, third], "The journal has the call 1 twice"},
          {"calls", [first, %{second | "tool" => 7}, third], "no entry of a journal"},
          {"calls", [%{first | "answer" => atom("no_such_atom_3")}], "there is no atom"},
          {"calls", [first], "The program calls 'y' with %{}, but the journal has no more calls"}
        ] do
      assert {:error, {:execution_error, text}} =
               Json.replay(@program, Map.put(journal, name, value), tools: tools())

      assert text =~ message
    end

    refute_received {:called, _}
    assert json(journal) == journal
  end

  test "what was written down of a run that was killed" do
    me = self()
    on_journal = &send(me, {:entry, &1})
    tools = Map.put(tools(spawn(fn -> :ok end)), "z", fn _ -> 3 end)
    assert {:ok, 3, _, _} = Json.run(@program, tools: tools, on_journal: on_journal)

    [start, _, first, _, second | _] =
      events = for _ <- 1..7, do: assert_received({:entry, map}) && map

    assert {:ok, %{calls: []}} = Paused.recover(events)

    for events <- [
          [],
          7,
          [first],
          [start | 7],
          [start, 7],
          [start, second],
          [start, first, Map.put(second, "id", "x")],
          [Map.put(start, "answered", 7)],
          [Map.delete(start, "answered")],
          [
            start,
            %{"id" => "1", "tool" => "x", "args" => %{}, "started" => true, "number" => "x"}
          ]
        ] do
      assert {:error, sentence} = Paused.recover(events)
      assert is_binary(sentence)
    end
  end

  defp json(map), do: map |> Codec.encode!() |> Codec.decode!()
end
