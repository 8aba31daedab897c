defmodule PtcRunner.LongWorkTest do
  # Work that once held a dirty scheduler for long in one call, or a normal one: it is suspended about every
  # millisecond now. What a call takes on average is measured, since a busy machine makes single ones long.
  use PtcRunner.Test.Apart
  import Bitwise

  alias PtcRunner.Json
  alias PtcRunner.Sandbox.Weight
  alias PtcRunner.SubAgent.{AnswerStream, Signature}
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.Loop.JsonHandler.Answer
  alias PtcRunner.SubAgent.Signature.{Coercion, Validator}
  alias PtcRunner.Test.{Room, SliceClock}

  # Hundreds of quanta; with PTC_CASES more.
  @rows if PtcRunner.Test.Environment.many?(), do: 200_000, else: 100_000
  @row {:list, {:map, [{"a", :string}]}}

  defp dirty do
    for %{dirty?: true, name: name} = line <- SliceClock.lines(),
        name != "clock_read",
        into: %{},
        do: {name, {line.calls, line.total}}
  end

  # The calls on dirty schedulers while `fun` ran, and their average time in microseconds.
  defp quanta(fun) do
    before = dirty()
    result = fun.()

    changes =
      for {name, {calls, total}} <- dirty(),
          {calls_before, total_before} = before[name] || {0, 0} do
        {calls - calls_before, total - total_before}
      end

    {calls, total} =
      Enum.reduce(changes, {0, 0}, fn {c, t}, {calls, total} -> {calls + c, total + t} end)

    {result, calls, if(calls > 0, do: div(total, calls * 1_000), else: 0)}
  end

  defp assert_quanta(least, fun) do
    {result, calls, average} = quanta(fun)
    assert calls >= least
    assert average < 4_000 * Room.slowness()
    result
  end

  defp wrong_rows, do: "[" <> Enum.map_join(1..@rows, ",", &"{\"a\":#{&1}}") <> "]"

  # A path is cut in the line, so that long ones do not use up its bytes.
  test "errors at the ends of long paths are kept as long as the line has room" do
    {depth, count} = {4_000, 400}
    type = Enum.reduce(1..depth, {:list, :int}, fn _, type -> {:list, type} end)
    strings = Enum.map_join(1..count, ",", fn _ -> ~s("x") end)
    text = String.duplicate("[", depth + 1) <> strings <> String.duplicate("]", depth + 1)
    agent = %{parsed_signature: {:signature, [], type}}

    {:invalid, {errors, more}, line, _found} = Answer.read(text, agent, timeout: :infinity)
    assert length(errors) + more == count

    # The line is that of all errors.
    path = List.duplicate(0, depth)
    all = for n <- 0..(count - 1), do: %{path: path ++ [n], message: "expected int, got string"}
    assert Enum.take(all, length(errors)) == errors
    assert line == JsonHandler.format_validation_errors(all)
    assert byte_size(line) > count * 2_000
  end

  for {fields, bytes} <- [{50, 100_000}, {5_000, 600}, {7_000, 300}, {30_000, 5}] do
    test "a type with #{fields} names of #{bytes} bytes does not fit into a slice" do
      pad = String.duplicate("x", unquote(bytes))
      type = {:map, for(i <- 1..unquote(fields), do: {"f#{i}" <> pad, {:optional, :int}})}

      for value <- [%{}, %{"a" => 1}],
          do: assert(PtcRunner.Native.signature_validate(type, value, false) == :busy)

      assert Validator.validate(%{"a" => 1}, type) == :ok
    end
  end

  describe "an answer whose rows are all wrong" do
    test "is judged in quanta; the errors of the line are kept, the others are counted" do
      agent = %{parsed_signature: {:signature, [], @row}}

      {:invalid, {errors, more}, line, _found} =
        assert_quanta(5, fn -> Answer.read(wrong_rows(), agent, timeout: :infinity) end)

      message = "expected string, got int"
      assert length(errors) + more == @rows
      assert length(errors) < 50_000

      for {error, n} <- Enum.with_index(errors),
          do: assert(error == %{path: [n, "a"], message: message})

      # The line is that of all errors.
      all = for n <- 0..(@rows - 1), do: %{path: [n, "a"], message: message}
      assert line == JsonHandler.format_validation_errors(all)
      assert byte_size(line) > 1_000_000
    end

    test "names the number of all further errors in its feedback" do
      agent = %{parsed_signature: {:signature, [], @row}, max_turns: 3, field_descriptions: nil}
      state = %{turn: 1, turns: [], messages: [], remaining_turns: 2}

      feedback = fn opts ->
        opts = [timeout: :infinity] ++ opts

        {:continue, state, _turn} =
          JsonHandler.handle_json_answer(wrong_rows(), agent, state, opts)

        List.last(state.messages).content
      end

      assert feedback.([]) =~ "; and #{@rows - 20} more."
      assert feedback.(feedback: :detailed) =~ "and #{@rows - 20} more\n"
      assert feedback.(feedback: :detailed) =~ "Error: #{@rows} values do not match"
    end

    test "has all its errors at the end of a stream, if they fit into the limit" do
      {:cont, stream} = AnswerStream.feed(AnswerStream.new({:signature, [], @row}), "[")
      # A stream halts at the first wrong row, so the text is put into its value.
      text = wrong_rows()
      stream = %{stream | text: text, taken: byte_size(text)}

      {:error, errors} =
        assert_quanta(8, fn -> AnswerStream.finish(stream, timeout: :infinity) end)

      assert length(errors) == @rows
      assert List.last(errors).path == [@rows - 1, "a"]

      too_much = [%{path: [], message: "Response takes too much memory to read"}]
      # The value takes seven words a row, its errors eleven.
      assert AnswerStream.finish(stream, max_heap: 9 * @rows) == {:error, too_much}
      assert {:error, [_, _ | _]} = AnswerStream.finish(stream, max_heap: 30 * @rows)
    end

    test "ends at its deadline" do
      agent = %{parsed_signature: {:signature, [], @row}}
      assert {:error, :timeout, _place} = Answer.read(wrong_rows(), agent, timeout: 5)
    end
  end

  test "errors of a validation are listed in quanta" do
    rows = for n <- 1..@rows, do: %{"a" => n}
    {:error, errors} = assert_quanta(5, fn -> Validator.validate(rows, @row) end)
    assert Enum.map(errors, & &1.path) == for(n <- 0..(@rows - 1), do: [n, "a"])
    # Those that Elixir completes, too.
    rows = for n <- 1..50_000, do: %{"a" => {n}}
    {:error, errors} = Validator.validate(rows, @row)

    assert Enum.map(errors, & &1.message) ==
             for(n <- 1..50_000, do: "expected string, got {#{n}}")
  end

  test "a type of 20,000 fields is read once, not in each quantum" do
    fields = for n <- 1..20_000, do: {"field_#{n}", {:optional, :int}}
    large = Map.new(fields, fn {name, _type} -> {name, 1} end)
    small = for n <- 1..500, do: %{"field_#{n}" => n}
    type = {:list, {:map, fields}}
    assert :ok = assert_quanta(5, fn -> Validator.validate(small, type) end)
    assert :ok = assert_quanta(5, fn -> Validator.validate([large, large], type) end)
    assert {:ok, _, []} = assert_quanta(5, fn -> Coercion.coerce([large, large], type) end)
    text = Enum.map_join(small, ",", fn map -> for {key, n} <- map, do: "{\"#{key}\":#{n}}" end)
    agent = %{parsed_signature: {:signature, [], type}}
    assert {:ok, ^small, _found} = assert_quanta(3, fn -> Answer.read("[#{text}]", agent) end)
  end

  test "a program given as a map is compiled in quanta, and each part of it is converted once" do
    # Before, each quantum converted all parts that were left: 2 s for these.
    item = %{"op" => "eq", "field" => "a", "value" => 1}
    one = %{"op" => "literal", "value" => 1}
    bind = &%{"op" => "let", "name" => "n#{&1}", "value" => one, "in" => one}

    for {op, field, parts} <- [
          {"and", "conditions", List.duplicate(item, 100_000)},
          {"concat", "lists", for(n <- 1..50_000, do: bind.(n))}
        ] do
      program = %{"program" => %{"op" => op, field => parts}}
      compile = fn -> Json.compile(program, timeout: :infinity, max_heap: 0) end
      {{:ok, _program}, calls, average} = quanta(compile)
      assert calls > 10
      assert calls * average < 600_000 * Room.slowness()
    end
  end

  test "a tool's answer is weighed in quanta" do
    twice = Enum.reduce(1..24, [], fn _, x -> [x, x] end)
    # Two cells for each of 2^24 - 1 lists.
    assert assert_quanta(15, fn -> Weight.of(twice, 0) end) == {:ok, 4 * (2 ** 24 - 1)}
    # Maps, tuples and funs, with the same result as in one call.
    n = 20_000
    parts = for n <- 1..n, do: {n, "a name that is on the heap", %{"k" => [n, 1.5]}, 1 <<< 70}
    large = Map.new(1..n, &{"key #{&1}", [&1]})
    fun = fn -> large end
    {:ok, words} = assert_quanta(2, fn -> Weight.of([parts, large, large], 0) end)
    {:ok, one} = Weight.of(hd(parts), 0)
    {:ok, map} = Weight.of(large, 0)
    assert words == 2 * n + n * one + 2 * map + 6
    {:ok, closed} = Weight.of([fun, parts], 0)
    assert closed > map + n * one
  end

  test "a long chunk is read in parts" do
    stream = AnswerStream.new("() -> [{a :string}]", max_bytes: :infinity)
    rows = String.duplicate(~s({"a":"é"},), 800_000)
    {:cont, fed} = assert_quanta(15, fn -> AnswerStream.feed(stream, "[" <> rows) end)
    assert fed.taken == byte_size(rows) + 1
    # The stream that was fed already gets a state of its own.
    assert {:cont, other} = AnswerStream.feed(fed, "{")
    assert {:cont, again} = assert_quanta(15, fn -> AnswerStream.feed(fed, "{\"a\"") end)
    assert {again.taken, other.taken} == {fed.taken + 4, fed.taken + 1}
    # A character that is in two parts is shown.
    for n <- 131_065..131_075 do
      stream = AnswerStream.new("() -> [:string]", prose: false)
      text = "[\"" <> String.duplicate("x", n) <> "\"é"
      assert {:halt, {:error, [%{message: message}]}} = AnswerStream.feed(stream, text <> "]")
      assert message =~ "unexpected é"
    end
  end

  describe "a type with many or long names" do
    # Each row has other keys, so the fields are looked for in every row.
    test "holds no scheduler" do
      long = &(String.duplicate("x", 900) <> String.pad_leading("#{&1}", 6, "0"))
      long_type = {:list, {:map, for(n <- 1..300, do: {long.(n), {:optional, :int}})}}
      long_rows = for r <- 1..100, do: Map.new(1..31, &{long.(r * 1_000 + &1), &1})
      fields = for n <- 1..2_000, do: {"f#{100_000 + n}", {:optional, :int}}
      rows = for r <- 1..1_000, do: Map.new(1..31, &{"f#{500_000 + 100 * r + &1}", &1})
      large = Map.new(fields, fn {name, _type} -> {name, 1} end)

      for {value, type} <- [
            {long_rows, long_type},
            {rows, {:list, {:map, fields}}},
            {large, {:map, fields}}
          ] do
        assert SliceClock.holds(fn -> Validator.validate(value, type) end) == []
        assert SliceClock.holds(fn -> Coercion.coerce(value, type) end) == []
      end
    end

    test "finds the same fields as a small one" do
      for length <- [1, 600], size <- [3, 40] do
        long = String.duplicate("n", length)
        name = &"#{long}_#{&1}#{Enum.at(["_", "-", "_-", "--"], rem(&1, 4))}x"
        fields = for n <- 1..size, do: {name.(n), :int}
        swaps = [& &1, &String.replace(&1, "_", "-"), &String.replace(&1, "-", "_")]

        for seed <- 1..30 do
          :rand.seed(:exsss, {seed, size, length})

          map =
            for n <- Enum.take_random(1..size, 9), _times <- 1..2, into: %{} do
              key = Enum.random(swaps).(name.(n))
              key = if length == 1 and :rand.uniform(3) == 1, do: String.to_atom(key), else: key
              {key, Enum.random([1, "wrong"])}
            end

          single = fn field ->
            with {:error, errors} <- Validator.validate(map, {:map, [field]}), do: errors
          end

          singles = for field <- fields, errors = single.(field), errors != :ok, do: errors

          expected =
            case Enum.concat(singles) do
              [] -> :ok
              errors -> {:error, errors}
            end

          assert Validator.validate(map, {:map, fields}) == expected
        end
      end
    end
  end

  test "an unknown type that a resumed walk meets is named" do
    rows = for n <- 1..100_000, do: %{"a" => n}
    signature = {:signature, [{"rows", {:list, {:map, [{"a", :int}]}}}, {"x", :no_type}], :any}

    assert_raise ArgumentError, ~r/no_type/, fn ->
      Signature.call_tool(signature, %{"rows" => rows, "x" => 1}, & &1)
    end
  end
end
