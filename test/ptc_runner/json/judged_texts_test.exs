defmodule PtcRunner.Json.JudgedTextsTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Text, Texts}
  alias PtcRunner.{Native, Quanta}
  alias PtcRunner.SubAgent.Signature.Validator
  alias PtcRunner.Test.SliceClock

  @rounds String.to_integer(System.get_env("PTC_ROUNDS", "300"))

  @names ["id", "user_id", "user-id", "_pin", "a", "b"]

  @ruled [
    {{:where, :int, [min: 3, multiple_of: 2]}, ["4", "36893488147419103232"]},
    {{:where, :float, [exclusive_max: 2.5]}, ["-0", "2.4999", "1e-3", "-9e99"]},
    {{:where, :string, [min_length: 2, max_length: 3]}, [~S("ab"), ~S("\u00e4\ud83d\ude00")]},
    {{:where, :string, [pattern: "^a+$"]}, [~S("aa"), ~S("\u0061")]},
    {{:where, :string, [enum: ["open", "b\n"]]}, [~S("open"), ~S("b\u000a")]},
    {{:where, :string, [format: :date]}, [~S("2024-02-29"), ~S("2024\u002d02-29")]},
    {{:where, :any, [enum: [1, [2], %{"a" => [1.5]}]]}, ["1.0", "[2]", ~S({"\u0061":[1.5]})]},
    {{:where, :decimal, [min: 1]}, [~S("1.50")]},
    {{:where, {:list, :int}, [unique: true, max_items: 3]}, ["[1, 2]", "[]"]}
  ]

  @scalars %{
    string: [~S("x"), ~S("\ud83d\ude00"), ~S("")],
    int: ["0", "-7", "123456789012345678901234567890"],
    float: ["1.5", "2", "1E3", "-0.0"],
    bool: ["true", "false"],
    keyword: [~S("ok"), ~S("\u006fk"), "null"],
    map: ["{}", ~S({"a": [1]})],
    any: ["null", "[]", ~S({"a": "\n"})],
    datetime: [~S("2024-02-29T10:00:00Z")],
    date: [~S("2024-02-29")],
    decimal: [~S("1.5"), "1.5"]
  }

  @others ~w(null true 1 1.0 1e2 "" "x" [] {} [1] {"id":"x","id":1} {"b":null}) ++
            ["1e400", "123456789012345678901234567890"]

  test "a text is of a type if what it is decoded to is valid" do
    judged =
      for seed <- 1..@rounds do
        :rand.seed(:exsss, seed)
        of = type(3)
        items = Enum.map(1..40, fn _ -> value(of, 3) end)
        # The same mistake in each copy would hide the others.
        one = if :rand.uniform(3) == 1, do: [Enum.random(@others)], else: []
        copies = List.duplicate(items, div(17_000, IO.iodata_length(items)) + 1)
        text = "[" <> Enum.join(List.flatten(copies) ++ one, " ,") <> "]"
        same(text, {:list, of})
      end

    valid = Enum.count(judged, & &1)
    assert valid > @rounds / 5 and valid < 4 * @rounds / 5, "#{valid} of #{@rounds}"
  end

  defp same(text, type) do
    answer = Texts.typed(Json.text(text), type)

    case Codec.decode(text) do
      {:ok, decoded} ->
        valid? = Validator.validate(decoded, type) == :ok
        assert if(valid?, do: %Text{binary: text}, else: decoded) == answer, inspect({text, type})
        valid?

      {:error, _error} ->
        assert {:error, "the answer is not JSON. " <> _} = answer
        false
    end
  end

  defp type(0), do: Enum.random(Map.keys(@scalars) ++ Enum.map(@ruled, &elem(&1, 0)))

  defp type(depth) do
    case :rand.uniform(10) do
      n when n <= 3 -> type(0)
      4 -> {:optional, type(depth - 1)}
      5 -> {:list, type(depth - 1)}
      6 -> {:map_of, type(depth - 1)}
      7 -> {:one_of, for(_ <- 1..:rand.uniform(3), do: type(depth - 1)), Enum.random([nil, "id"])}
      8 -> {:closed_map, fields(depth)}
      _ -> {:map, fields(depth)}
    end
  end

  defp fields(depth) do
    for name <- Enum.take_random(@names, :rand.uniform(4)), do: {name, type(depth - 1)}
  end

  # Mostly of the type.
  defp value(type, depth) do
    if :rand.uniform(600) == 1, do: Enum.random(@others), else: valid(type, depth)
  end

  defp valid({:optional, type}, depth),
    do: if(:rand.uniform(3) == 1, do: "null", else: value(type, depth))

  defp valid({:list, type}, depth),
    do: "[#{Enum.map_join(1..:rand.uniform(4)//1, ",", fn _ -> value(type, depth) end)}]"

  defp valid({:map_of, type}, depth), do: object(Enum.map(@names, &{&1, type}), depth)
  defp valid({:one_of, types, _}, depth), do: value(Enum.random(types), depth)

  defp valid({kind, fields}, depth) when kind in [:map, :closed_map] do
    more = if kind == :map and :rand.uniform(4) == 1, do: [{"more", :any}], else: []
    fields |> Kernel.++(more) |> Enum.shuffle() |> object(depth)
  end

  defp valid(type, _depth) when is_atom(type), do: Enum.random(@scalars[type])

  defp valid(type, _depth) do
    {_type, values} = List.keyfind(@ruled, type, 0)
    Enum.random(values)
  end

  defp object(fields, depth) do
    members = for {name, type} <- fields, do: [key(name), ": ", value(type, depth)]
    "{#{Enum.join(members, ", ")}}"
  end

  defp key("user_id"), do: Enum.random([~S("user_id"), ~S("user-id"), ~S("\u0075ser_id")])
  defp key("a"), do: Enum.random([~S("a"), ~S("\u0061")])
  defp key(name), do: inspect(name)

  @row "{id :int, name :string, note :string?, price :float, tags [:string], ok :bool, at {city :string?, x :int}}"

  defp rows(change) do
    rows =
      for n <- 1..1_000 do
        %{
          "id" => n,
          "name" => "row #{n}",
          "note" => if(rem(n, 2) == 0, do: "a\n\"b"),
          "price" => n / 8,
          "tags" => ["t"],
          "ok" => true,
          "at" => %{"city" => nil, "x" => -n}
        }
      end

    Codec.encode!(List.update_at(rows, 700, change))
  end

  defp run(answer, signature) do
    program =
      ~s({"program": {"op": "pipe", "steps": [{"op": "call", "tool": "fetch"}, {"op": "sum", "field": "id"}]}})

    Json.run(program,
      max_heap: 0,
      tools: %{"fetch" => {fn _ -> answer end, signature: signature}}
    )
  end

  test "an answer that is a text, and one that is decoded, have the same result and the same errors" do
    for {text, signature} <- [
          {rows(& &1), "() -> [#{@row}]"},
          {rows(&Map.put(&1, "id", "x")), "() -> [#{@row}]"},
          {rows(&Map.delete(&1, "name")), "() -> [#{@row}]"},
          {rows(&put_in(&1, ["at", "x"], 1.5)), "() -> [#{@row}]"},
          {rows(& &1), "() -> [{id :datetime}]"},
          {rows(& &1), "() -> {rows [#{@row}]}"},
          {rows(& &1), "() -> :any"}
        ] do
      decoded = run(Codec.decode!(text), signature)
      assert run(Json.text(text), signature) == decoded
      assert run({:ok, Json.text(text)}, signature) == decoded
    end

    assert {:ok, 500_500, _, _} = run(Json.text(rows(& &1)), "() -> [#{@row}]")

    assert {:error, {_, message}} =
             run(Json.text(rows(&Map.put(&1, "id", "x"))), "() -> [#{@row}]")

    assert message =~ ~s([700].id: expected integer, got string "x")
  end

  test "an answer that is no JSON is an error of the tool" do
    text = rows(& &1) <> "]"

    for signature <- ["() -> [#{@row}]", "() -> :any", nil] do
      assert {:error, {_kind, message}} = run(Json.text(text), signature)
      assert message =~ "the answer is not JSON. JSON decode error: Unexpected"
    end
  end

  test "a valid text is not decoded" do
    rows = List.duplicate(%{"id" => 1, "name" => "a name", "list" => [[1], [2]]}, 20_000)
    text = Codec.encode!(rows)
    type = {:list, {:map, [{"id", :int}, {"name", :string}, {"list", {:list, {:list, :int}}}]}}

    task =
      Task.async(fn ->
        :erlang.garbage_collect()
        Process.flag(:max_heap_size, %{size: 100_000, kill: true, error_logger: false})
        match?(%Text{}, Texts.typed(Json.text(text), type))
      end)

    assert Task.await(task, 60_000)
  end

  test "a run reads in place what was judged" do
    text = rows(& &1)
    # Of a decoded text they are some 60,000 more.
    words = div(byte_size(text), 8) + div(byte_size(text), 50) + 8_000

    program =
      ~s({"program": {"op": "pipe", "steps": [{"op": "call", "tool": "fetch"}, {"op": "count"}]}})

    run =
      &Json.run(program, max_heap: words, tools: %{"fetch" => {fn _ -> &1 end, "() -> [#{@row}]"}})

    assert {:ok, 1_000, _, _} = run.(Json.text(text))
    assert {:error, {:memory_exceeded, _bytes}} = run.(Codec.decode!(text))
  end

  describe "a hostile text is judged as what it is decoded to, and holds no scheduler:" do
    @any_row {:list, {:map, [{"a", {:optional, :int}}]}}
    @node {:map, [{"a", {:one_of, [{:ref, "n"}, :int], nil}}]}
    @wide {:list, {:map, for(n <- 1..1_000, do: {"f#{n}", :int})}}

    for {name, type, text} <- [
          {"long keys", @any_row, {:rows, 10, 1_000, "\"" <> String.duplicate("k", 2_000)}},
          {"long keys of any names", {:list, {:map_of, :int}}, {:rows, 5, 1_000, "\"kkkkkkk"}},
          {"escaped keys", @any_row,
           {:rows, 10, 300, "\"" <> String.duplicate("\\u0041", 1_000)}},
          {"keys that are just short enough", @any_row,
           {:rows, 80, 1_000, "\"" <> String.duplicate("k", 250)}},
          {"keys with escapes that are just short enough", @any_row,
           {:rows, 80, 80, "\"" <> String.duplicate("\\u0041", 500)}},
          {"a thousand fields", @wide, {:rows, 300, 1_000, "\"f"}},
          {"a field is missing", @wide, {:rows, 300, 999, "\"f"}},
          {"deep lists", {:defs, %{"n" => {:list, {:ref, "n"}}}, {:ref, "n"}},
           {:deep, "[", "", "]"}},
          {"deep objects", {:defs, %{"n" => @node}, {:ref, "n"}}, {:deep, "{\"a\":", "1", "}"}},
          {"deep objects, and another value at the end", {:defs, %{"n" => @node}, {:ref, "n"}},
           {:deep, "{\"a\":", "null", "}"}},
          {"strings that are long", {:list, {:where, :string, [pattern: "^a+$"]}},
           {:list, 50, "\"" <> String.duplicate("a", 60_000) <> "\""}},
          {"strings with escapes", {:list, {:where, :string, [pattern: "^a+$"]}},
           {:list, 50, "\"" <> String.duplicate("\\u0061", 10_000) <> "\""}}
        ] do
      test name do
        text = hostile(unquote(Macro.escape(text)))
        type = unquote(Macro.escape(type))
        {:ok, decoded} = Codec.decode(text, timeout: :infinity, max_heap: 0)
        valid? = Validator.validate(decoded, type) == :ok
        assert SliceClock.holds(fn -> Quanta.finish(Native.text_has_type(text, type)) end) == []
        judged? = Quanta.finish(Native.text_has_type(text, type))
        # Objects with keys of 2 MB are decoded.
        assert judged? == (valid? and unquote(name) not in ["long keys", "escaped keys"])
        assert match?(%Text{}, Texts.typed(Json.text(text), type)) == judged?
      end
    end

    # A third of the rows is megabytes, too; with PTC_CASES all of them.
    @part if PtcRunner.Test.Environment.many?(), do: 1, else: 3

    defp hostile({:rows, rows, members, name}) do
      rows = max(div(rows, @part), 1)
      row = "{" <> Enum.map_join(1..members, ",", &~s(#{name}#{&1}":#{&1})) <> "}"
      hostile({:list, rows, row})
    end

    defp hostile({:list, count, item}),
      do: "[" <> (item |> List.duplicate(count) |> Enum.join(",")) <> "]"

    defp hostile({:deep, open, inner, close}),
      do: String.duplicate(open, 50_000) <> inner <> String.duplicate(close, 50_000)
  end

  test "the record of a call shows the beginning of a text, without firewalled values" do
    text = "[" <> String.duplicate(~s({"id": 1, "_pin": 7}, ), 2_000) <> "{}]"
    beginning = Texts.shown(Json.text(text), 64)
    assert beginning == ~s([%{"_pin" => …, "id" => 1}, %{… (a JSON text of 44004 bytes\))
    assert Texts.shown(Json.text(~s(  {"items": [1], "b": "x)), 64) =~ ~s("items" => [1]})

    assert Texts.shown(Json.text(~s("#{String.duplicate("x", 9_000)}")), 64) ==
             "a JSON text of 9002 bytes"

    assert Texts.shown([1, %{"_pin" => 2}], 64) == ~s([1, %{"_pin" => …}])
  end
end
