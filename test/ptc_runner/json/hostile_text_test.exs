defmodule PtcRunner.Json.HostileTextTest do
  # Reading, compiling and writing have the limits that a run has: they end at the deadline, at the
  # heap limit and with their caller, and give their dirty scheduler back in between.
  use PtcRunner.Test.Apart

  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Parser, Program}
  alias PtcRunner.Native
  alias PtcRunner.SubAgent.{AnswerStream, JsonParser, KeyNormalizer}
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.Test.{Answers, Room, SliceClock, Watch}

  @million 1_000_000

  defp literal(json), do: ~s({"program": {"op": "literal", "value": #{json}}})

  # Twenty integers of a million digits: about two seconds of arithmetic.
  defp integers,
    do: "[" <> Enum.map_join(1..20, ",", fn _ -> String.duplicate("7", @million) end) <> "]"

  # Once only: while others hold the schedulers, a second call would come after them. So all begins anew on a busy machine.
  defp milliseconds(fun) do
    {{micros, result}, busy} = Room.beside_work(fn -> :timer.tc(fun) end)
    {trunc(micros / 1_000 / busy), result}
  end

  # The dirty schedulers are free again soon after the callers have been killed.
  defp free_without(start_caller) do
    Room.again(fn ->
      callers = for _ <- 1..4, do: start_caller.()
      Process.sleep(100)
      for caller <- callers, do: Process.exit(caller, :kill)
      {elapsed, {:ok, _}} = milliseconds(fn -> Native.weigh_dirty([1], 0, 100) end)
      assert elapsed < 1_800
    end)
  end

  # 2^levels operations in a few words.
  defp shared(levels) do
    Enum.reduce(1..levels, %{"op" => "literal", "value" => 1}, fn _, inner ->
      %{"op" => "add", "left" => inner, "right" => inner}
    end)
  end

  describe "integers of a million digits" do
    test "meet the deadline, in programs and everywhere else" do
      json = integers()
      answer = "Here: " <> json
      state = Answers.state()
      agent = %{parsed_signature: nil, max_turns: 3, field_descriptions: nil}
      decode_error = %Codec.DecodeError{reason: :timeout, limit: 50}

      cases = [
        {{:error, {:timeout, 50}}, fn -> Json.run(literal(json), timeout: 50) end},
        {{:error, {:timeout, 50}}, fn -> Json.compile(literal(json), timeout: 50) end},
        {{:error, decode_error}, fn -> Codec.decode(json, timeout: 50) end}
      ]

      for {expected, fun} <- cases do
        {elapsed, result} = Room.least_ms(1_000, fun)
        assert result == expected
        assert elapsed < 1_800
      end

      # Answers have shorter integers: there it is the text that is long.
      rows = "[" <> String.duplicate(~s({"a": [1, 2.5, "x"]},), 500_000) <> "1]"
      assert JsonParser.parse(rows, timeout: 5) == {:error, :timeout}
      assert {:error, :invalid_json} = JsonParser.parse(answer)

      assert {:continue, %{messages: messages}, _turn} =
               JsonHandler.handle_json_answer(rows, agent, state, timeout: 5)

      assert List.last(messages).content =~ "Response takes too long to read"

      {:cont, stream} = AnswerStream.feed(AnswerStream.new("[:any]"), rows)

      assert AnswerStream.finish(stream, timeout: 5) ==
               {:error, [%{path: [], message: "Response takes too long to read"}]}

      assert {:ok, [_ | _]} = AnswerStream.finish(stream, timeout: :infinity)
    end

    test "are read right, and one digit more is said to be too much" do
      digits = String.duplicate("123456789", 20_000)
      {:ok, value, _, _} = Json.run(literal("[#{digits}, -#{digits}]"), timeout: :infinity)
      assert value == [String.to_integer(digits), -String.to_integer(digits)]

      most = String.duplicate("7", @million)
      assert {:ok, %Program{}} = Json.compile(literal("-" <> most))

      assert Json.run(literal("7" <> most)) ==
               {:error,
                {:parse_error,
                 "JSON decode error: Integer of more than 1000000 digits at position 39"}}

      assert {:error, %{reason: :integer_too_long} = error} = Codec.decode("[7#{most}]")
      assert Exception.message(error) == "Integer of more than 1000000 digits at position 1"
    end

    test "do not hold the dirty schedulers once their callers are gone" do
      text = literal(integers())
      free_without(fn -> spawn(fn -> Json.run(text, timeout: :infinity, max_heap: 0) end) end)
    end

    test "let others have the dirty schedulers in between" do
      text = literal(integers())

      Room.again(fn ->
        callers = for _ <- 1..4, do: spawn(fn -> Json.run(text, timeout: 60_000) end)
        Process.sleep(50)

        {elapsed, {:ok, 1_999_000, _, _}} =
          milliseconds(fn ->
            Json.run(
              ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "x"}, {"op": "sum", "field": "a"}]}}),
              context: %{"x" => for(n <- 0..1_999, do: %{"a" => n})},
              timeout: 60_000
            )
          end)

        for caller <- callers, do: Process.exit(caller, :kill)
        assert elapsed < 1_800
      end)
    end
  end

  describe "memory" do
    test "a text that would become too much is refused before it has" do
      # 20 MB.
      maps = "[" <> String.duplicate("{},", 6_666_666) <> "{}]"
      brackets = String.duplicate("[", 20_000_000)

      for {name, json} <- [maps: maps, brackets: brackets] do
        text = literal(json)
        opts = [max_heap: 1_250_000, timeout: :infinity, max_depth: 100_000_000]

        {result, megabytes} = Watch.growth(fn -> Json.run(text, opts) end)
        assert {name, result} == {name, {:error, {:memory_exceeded, 10_000_000}}}
        assert megabytes < 100

        {result, megabytes} =
          Watch.growth(fn -> Codec.decode(json, max_heap: 1_250_000, timeout: :infinity) end)

        assert {:error, %Codec.DecodeError{reason: :memory_exceeded, limit: 1_250_000}} = result
        assert megabytes < 100
      end

      assert JsonParser.parse(maps, max_heap: 1_250_000) == {:error, :memory_exceeded}

      assert {:error, %{reason: :memory_exceeded}} =
               Codec.encode(String.duplicate("x", 20_000_000), max_heap: 1_000)
    end

    test "keys of megabytes with many hyphens take no multiple of their size" do
      key = String.duplicate("a-", 2_500_000)
      text = ~s({"#{key}": 1,})
      spelled = String.duplicate("a_", 2_500_000)

      for fun <- [
            fn -> KeyNormalizer.normalize_key(key) == spelled end,
            fn -> match?({:ok, _, [_]}, JsonParser.repair(text, "{a :int?}")) end
          ] do
        {result, megabytes} = Watch.growth(fun)
        assert result
        assert megabytes < 150
      end
    end

    test "what is just within the limit is read" do
      for json <- ["[1, 2, 3]", ~s("#{String.duplicate("x", 10_000)}"), ~s({"a": [{}, {}]})] do
        {:ok, value} = Codec.decode(json, max_heap: 0)

        enough =
          Enum.find(233..100_000, fn words ->
            match?({:ok, _}, Codec.decode(json, max_heap: words))
          end)

        assert enough <= 2 * :erts_debug.flat_size(value) + div(byte_size(json), 8) + 233
      end
    end

    test "any text is within the default" do
      for unit <- ["0,", "{},", "[],", ~s("",), ~s({"":0},), ~s("a",), "1.5,", ~s({"a":{"a":1}},)] do
        count = 300_000
        json = "[" <> String.duplicate(unit, count) <> "0]"
        assert {:ok, list} = Codec.decode(json)
        assert length(list) == count + 1
      end

      deep = String.duplicate("[", 500_000) <> String.duplicate("]", 500_000)
      assert {:ok, [_]} = Codec.decode(deep)
    end
  end

  describe "programs whose parts are shared" do
    test "meet the deadline, run or compiled" do
      program = %{"program" => shared(22)}
      opts = [timeout: 50, max_heap: 0]

      for fun <- [fn -> Json.run(program, opts) end, fn -> Json.compile(program, opts) end] do
        {elapsed, result} = Room.least_ms(700, fun)
        assert result == {:error, {:timeout, 50}}
        assert elapsed < 700
      end
    end

    test "meet the heap limit" do
      program = %{"program" => shared(22)}
      opts = [timeout: :infinity, max_heap: 1_000_000]
      assert Json.run(program, opts) == {:error, {:memory_exceeded, 8_000_000}}
      assert Json.compile(program, opts) == {:error, {:memory_exceeded, 8_000_000}}
      assert {:error, {limit, _}} = Json.Validator.validate(shared(22))
      assert limit in [:timeout, :memory_exceeded]
    end

    test "end with their caller" do
      opts = [timeout: :infinity, max_heap: 0]

      # Made there: what a process is sent is copied, and has no shared parts then.
      free_without(fn -> spawn(fn -> Json.compile(%{"program" => shared(26)}, opts) end) end)
    end

    test "give the right program where they are left many times" do
      program = %{"program" => shared(15)}
      assert {:ok, 32_768, _, _} = Json.run(program, timeout: :infinity, max_heap: 0)
      long = %{"op" => "and", "conditions" => List.duplicate(shared(3), 20_000)}
      assert {:ok, true, _, _} = Json.run(%{"program" => long}, timeout: :infinity, max_heap: 0)
    end
  end

  describe "what is left in the middle" do
    # All kinds of values, in a text of megabytes.
    defp rows(count \\ 40_000) do
      for n <- 1..count do
        %{
          "id" => n,
          "name" => "name ä \"#{n}\"",
          "tags" => [n / 7, nil, true, 12_345_678_901_234_567_890 * n],
          "nested" => %{"a-b" => %{}, "empty" => []}
        }
      end
    end

    test "comes to the same" do
      rows = rows()
      {:ok, json} = Codec.encode(rows)
      assert byte_size(json) > 4_000_000
      assert Codec.decode(json) == {:ok, rows}
      assert {:ok, ^rows, _, _} = Json.run(literal(json), timeout: :infinity, max_heap: 0)
      assert Parser.parse(literal(json)) == {:ok, %{"op" => "literal", "value" => rows}}
      assert JsonParser.parse("Here you are: #{json}. Anything else?") == {:ok, rows}
      assert JsonParser.parse("So [it] is: ```json\n#{json}\n```") == {:ok, rows}

      {:ok, program} = Json.compile(literal(json), timeout: :infinity, max_heap: 0)
      assert Json.run!(program) == rows
    end

    test "knows its text again" do
      {:ok, json} = Codec.encode(rows())
      limits = {:infinity, 0}
      {:more, state, terms} = Native.json_decode(json, :infinity, limits)
      other = put_elem(terms, 0, json <> " ")
      assert_raise ArgumentError, fn -> Native.resume(state, other, :more) end
      # What was taken up is gone.
      assert_raise ArgumentError, fn -> Native.resume(state, terms, :more) end
    end

    test "begins in slices and goes on in quanta" do
      {:ok, json} = Codec.encode(rows())
      kinds = kinds(Native.json_decode(json, :infinity, {:infinity, 0}))
      assert Enum.dedup(kinds) == [:more, :long, :ok]
      assert Enum.count(kinds, &(&1 == :more)) in 3..16
    end

    test "is written in slices first and then in quanta, too" do
      %{} = keys = Map.new(1..20_000, &{"key #{&1}", &1})
      text = String.duplicate("aä\n", 100_000)
      # A string that does not start at a byte.
      <<_::1, shifted::binary-size(300_000), _::7>> =
        <<0::1, binary_part(text, 0, 300_000)::binary, 0::7>>

      whole = [
        rows(10_000),
        keys,
        %{text => text, Integer.pow(7, 5_000) => keys},
        shifted,
        ~D[2026-01-01],
        %{a: {1}},
        rows(10_000)
      ]

      left = Native.json_encode(whole, 1_000_000_000, {:infinity, 0})
      kinds = kinds(left)
      # A slice that was disturbed does not count as a whole one, so there may be more than four.
      assert Enum.dedup(kinds) == [:more, :long, :partial]
      assert Enum.count(kinds, &(&1 == :more)) in 3..16
      # What the gaps stand for comes in the right order.
      assert {:partial, [_, ~D[2026-01-01], _, {1}, _]} =
               PtcRunner.Quanta.finish(Native.json_encode(whole, 1_000_000_000, {:infinity, 0}))

      readable = List.delete(whole, %{a: {1}})

      assert Codec.decode(Codec.encode!(readable)) ==
               {:ok,
                List.replace_at(List.replace_at(readable, 4, "2026-01-01"), 2, %{
                  text => text,
                  "#{Integer.pow(7, 5_000)}" => keys
                })}
    end

    test "is written by nobody else's terms" do
      {:more, state, terms} = Native.json_encode(rows(), 1_000_000_000, {:infinity, 0})
      assert_raise ArgumentError, fn -> Native.resume(state, {}, :more) end
      assert_raise ArgumentError, fn -> Native.resume(state, terms, :more) end

      for wrong <- [[], nil, 1, [1 | 2], [3], [%{}, [1], "a"], [[1 | 2] | 3]] do
        {:more, state, terms} = Native.json_encode(rows(), 1_000_000_000, {:infinity, 0})
        others = Tuple.duplicate(wrong, tuple_size(terms))
        assert {kind, _} = PtcRunner.Quanta.finish({:long, state, others})
        assert kind in [:ok, :error]
      end
    end

    defp kinds({kind, _state, _terms} = left) do
      # What was left must survive that its terms move.
      :erlang.garbage_collect()
      [kind | kinds(PtcRunner.Quanta.go_on(left))]
    end

    defp kinds({kind, _result}), do: [kind]
  end

  describe "operations on long texts" do
    defp mixed(count), do: String.duplicate("Příliš žluťoučký kůň ", count)

    # The mean time of a quantum on dirty schedulers in which this ran, in microseconds.
    defp quantum(fun) do
      {calls, total} = resumed()
      fun.()
      {calls_after, total_after} = resumed()
      div(total_after - total, 1_000 * max(calls_after - calls, 1))
    end

    defp resumed do
      lines = for %{name: "resume_dirty"} = line <- SliceClock.lines(), do: line
      {lines |> Enum.map(& &1.calls) |> Enum.sum(), lines |> Enum.map(& &1.total) |> Enum.sum()}
    end

    test "give their scheduler back between the pieces" do
      ascii = String.duplicate("Hello world abc ", 500_000)
      :rand.seed(:exsss, {7, 8, 9})
      random = for <<byte <- :rand.bytes(400_000)>>, into: "", do: <<?a + rem(byte, 2)>>
      <<_::3, shifted::binary>> = <<0::3, mixed(100_000)::binary>>

      # Each was done in one call before.
      for {step, text} <- [
            {%{"op" => "upper"}, mixed(200_000)},
            {%{"op" => "lower"}, ascii},
            {%{"op" => "length"}, mixed(200_000)},
            {%{"op" => "trim"}, String.duplicate(" ", 8_000_000) <> "a"},
            {%{"op" => "replace", "find" => " ", "with" => "-+-"}, ascii},
            {%{"op" => "split", "by" => String.duplicate("a", 1_000) <> "b"},
             String.duplicate("a", 8_000_000)},
            {%{"op" => "to_number"}, String.duplicate("9", 300_000)},
            {%{"op" => "matches", "pattern" => "[ab]*a[ab]{100}c"}, random},
            {%{"op" => "extract", "pattern" => "([ab]*)a([ab]{50})"}, random},
            {%{"op" => "matches", "pattern" => "\\bzzz\\b"}, mixed(200_000)},
            {%{"op" => "extract", "pattern" => "\\b\\p{Lu}+\\b"}, mixed(50_000)},
            {%{"op" => "extract", "pattern" => "(?s)^(.*)(.)$"}, mixed(50_000)},
            {%{"op" => "upper"}, shifted}
          ] do
        node = %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => "x"}, step]}
        {:ok, program} = Json.compile(%{"program" => node}, edition: 2)
        run = fn -> Json.run(program, context: %{"x" => text}, timeout: 60_000, max_heap: 0) end
        # Copies of whole texts, which the VM makes, are among them.
        quantum = quantum(fn -> assert {:ok, _, _, _} = run.() end)

        assert quantum < 6_000 * Room.slowness(),
               "#{inspect(step)} held the process for #{quantum} µs"
      end
    end

    test "are the same wherever they are interrupted" do
      long = mixed(20_000)
      joined = "e" <> String.duplicate("\u0301", 200_000) <> String.duplicate("👩\u200D👧", 20_000)
      <<_::3, shifted::binary>> = <<0::3, long::binary>>
      half = binary_part(long, 0, div(byte_size(long), 2))

      for {step, text, expected} <- [
            {%{"op" => "upper"}, long, String.upcase(long)},
            {%{"op" => "lower"}, shifted, String.downcase(long)},
            {%{"op" => "length"}, long, String.length(long)},
            {%{"op" => "length"}, joined, 20_001},
            {%{"op" => "split", "by" => "ň P"}, long, String.split(long, "ň P")},
            {%{"op" => "split", "by" => long}, long, ["", ""]},
            {%{"op" => "split", "by" => half}, long, String.split(long, half)},
            {%{"op" => "replace", "find" => "ů", "with" => "uu"}, long,
             String.replace(long, "ů", "uu")},
            {%{"op" => "replace", "find" => long, "with" => ""}, long, ""},
            {%{"op" => "trim"}, String.duplicate(" \u3000", 50_000) <> " a\n", "a"},
            {%{"op" => "to_number"}, " +" <> String.duplicate("12", 20_000),
             String.to_integer(String.duplicate("12", 20_000))},
            {%{"op" => "extract", "pattern" => "\\b(\\w)(?:l|x)(\\w+)", "all" => true}, long,
             List.duplicate(["ž", "uťoučký"], 20_000)},
            {%{"op" => "extract", "pattern" => "^(?<all>.*)(?<last>.)$"}, long,
             %{"all" => binary_part(long, 0, byte_size(long) - 1), "last" => " "}}
          ] do
        node = %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => "x"}, step]}
        options = [context: %{"x" => text}, timeout: 60_000, max_heap: 0]
        {:ok, value, _, _} = Json.run(%{"program" => node}, options)
        assert value == expected, inspect(step, printable_limit: 50)
      end
    end
  end

  test "an answer is judged within its deadline, too" do
    # A short text, each of whose objects is asked for each of many fields.
    fields = for n <- 1..20_000, do: {"f#{n}", {:optional, :int}}
    type = {:list, {:map, fields}}
    text = "[" <> Enum.map_join(1..20_000, ",", fn _ -> "{}" end) <> "]"

    judged =
      PtcRunner.Quanta.finish(Native.answer_read(text, type, true, false, false, false, {50, 0}))

    assert judged == {:error, :timeout}
    few = {:list, {:map, Enum.take(fields, 3)}}

    assert {:ok, _, _, _} =
             PtcRunner.Quanta.finish(
               Native.answer_read(text, few, true, false, false, false, {5_000, 0})
             )
  end

  test "the readings of one answer share its deadline" do
    rows = String.duplicate(~s({"a": "x", "b": [1, 2, 3]},), 200_000)
    # A long first reading; a short one, and long repairs.
    texts = ["[" <> rows <> "1]", ~s([{"a": "1" "c": x},) <> rows <> "1]"]
    signature = {:signature, [], {:list, {:map, [{"a", :int}]}}}
    opts = [timeout: 20, feedback: :detailed, repair: true]
    spent = fn -> SliceClock.lines() |> Enum.map(& &1.total) |> Enum.sum() |> div(1_000_000) end

    for text <- texts,
        {name, fun} <- [
          answer: fn ->
            agent = Answers.agent(signature)
            JsonHandler.handle_json_answer(text, agent, Answers.state(), opts)
          end,
          agent: fn -> PtcRunner.Agent.answer(text, signature, timeout: 20) end,
          program: fn -> PtcRunner.Agent.program(text, timeout: 20) end,
          repair: fn -> JsonParser.repair(text, signature, timeout: 20) end
        ] do
      Room.again(fn ->
        before = spent.()
        fun.()
        # It takes two to ten times as much without the deadline.
        assert spent.() - before < 60 * Room.slowness(), "#{inspect(name)} took too long"
      end)
    end
  end

  describe "writing" do
    test "meets the deadline, structs included" do
      term = Enum.reduce(1..60, 1, fn _, inner -> [inner, inner] end)

      assert {:error, %Codec.EncodeError{reason: :timeout, limit: 20}} =
               Codec.encode(term, timeout: 20)

      dates = List.duplicate(~D[2025-11-20], 300_000)
      assert {:error, %{reason: :timeout}} = Codec.encode(dates, timeout: 5)
      assert {:error, %{reason: :timeout} = error} = Codec.encode(term, timeout: 0)
      assert Exception.message(error) == "writing took more than 0 ms"
    end

    test "lets others have the dirty schedulers in between" do
      parent = self()

      Room.growing(2_000, fn timeout ->
        # Texts without end, made of a few words.
        writers =
          for _ <- 1..4 do
            spawn_link(fn ->
              term = Enum.reduce(1..60, 1, fn _, inner -> [inner, inner] end)
              send(parent, {self(), Codec.encode(term, timeout: timeout)})
            end)
          end

        Process.sleep(50)
        for _ <- 1..20, do: assert({:ok, 0} = Native.weigh_dirty([1], 0, 100))
        # None of them has ended: the dirty schedulers were free in between.
        {:messages, ended} = Process.info(self(), :messages)

        for writer <- writers do
          assert_receive {^writer, {:error, %{reason: reason}}}
          assert reason in [:timeout, :too_long]
        end

        assert ended == []
      end)
    end

    test "ends with its caller" do
      write = fn ->
        Codec.encode(Enum.reduce(1..60, 1, fn _, inner -> [inner, inner] end), timeout: :infinity)
      end

      free_without(fn -> spawn(write) end)
    end

    test "counts what is open, wherever it was left" do
      deep = Enum.reduce(1..2_000_000, [], fn _, inner -> [inner] end)
      assert {:error, %{reason: :memory_exceeded}} = Codec.encode(deep, max_heap: 1_000_000)
      assert byte_size(Codec.encode!(deep)) == 4_000_002
    end
  end
end
