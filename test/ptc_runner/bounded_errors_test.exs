defmodule PtcRunner.BoundedErrorsTest do
  # Whatever is wrong, and however large what is wrong with it: a message has at most 4 KB, feedback at
  # most 20 errors and 16 KB, and neither takes work in proportion to what it is about.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.{ErrorText, Message, Suggestion, ToolWorker}
  alias PtcRunner.Shown
  alias PtcRunner.Shown.{Head, Raised, Size}
  alias PtcRunner.SubAgent.AnswerStream
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.Loop.JsonHandler.Place
  alias PtcRunner.Test.{Answers, Environment}

  doctest Shown
  doctest Head
  doctest Size
  doctest Raised
  doctest PtcRunner.Shown.Line
  doctest PtcRunner.Shown.Budget

  @limit 4_096

  defmodule Failing do
    defstruct [:value]

    defimpl Inspect do
      def inspect(_struct, _opts), do: raise("not to be shown")
    end
  end

  defmodule Shy do
    defstruct [:value]

    defimpl Inspect do
      import Inspect.Algebra
      def inspect(shy, opts), do: concat(["#Shy<", to_doc(shy.value, opts), ">"])
    end
  end

  # Reductions are counted by process and do not depend on what else the machine does. Built-in
  # functions count as well, in proportion to what they do. (In this process: to send a term that
  # shares its parts is to write it out.)
  defp reductions(fun) do
    # A garbage collection counts too: the least of some tries has none of a large heap.
    tries = for _ <- 1..3, do: counted(fun)
    {tries |> Enum.map(&elem(&1, 0)) |> Enum.min(), elem(hd(tries), 1)}
  end

  defp counted(fun) do
    {:reductions, before} = Process.info(self(), :reductions)
    result = fun.()
    {:reductions, later} = Process.info(self(), :reductions)
    {later - before, result}
  end

  defp wide(depth), do: Enum.reduce(1..depth, 1, fn _, term -> List.duplicate(term, 12) end)

  defp huge do
    shared = Enum.reduce(1..40, %{"x" => 1}, fn _, term -> %{"a" => term, "b" => term} end)
    million = Enum.to_list(1..200_000)

    [
      binary: String.duplicate("a", 10_000_000),
      bytes: String.duplicate(<<255>>, 10_000_000),
      bits: <<String.duplicate(<<255>>, 1_000_000)::binary, 1::1>>,
      marks: "e" <> String.duplicate("\u0301", 1_000_000),
      shared_maps: shared,
      shared_lists: Enum.reduce(1..40, [1], fn _, term -> [term, term] end),
      shared_tuples: Enum.reduce(1..40, {1}, fn _, term -> {term, term} end),
      wide: wide(5),
      deep: Enum.reduce(1..100_000, [], fn _, term -> [term] end),
      long: million,
      charlist: List.duplicate(?a, 1_000_000),
      odd_charlist: List.duplicate(?a, 10_000) ++ [:x],
      improper: Enum.reduce(1..100_000, :end, fn n, tail -> [n | tail] end),
      keywords: Enum.map(million, &{:key, &1}),
      tuple: List.to_tuple(million),
      map: Map.new(million, &{&1, &1}),
      map_of_long_keys: Map.new(1..40, &{String.duplicate("k#{&1}", 100_000), &1}),
      set: MapSet.new(million),
      no_struct: Map.new(million, &{&1, &1}) |> Map.put(:__struct__, NoSuchModule),
      failing: %Failing{value: shared},
      shy: %Shy{value: shared},
      integer: Integer.pow(7, 200_000),
      integers: List.duplicate(Integer.pow(-7, 10_001), 100)
    ]
  end

  describe "PtcRunner.Shown" do
    test "shows as much of a term as there is room for, and takes no longer than that" do
      for {name, term} <- huge(), limit <- [100, 3_840] do
        {work, text} = reductions(fn -> Shown.text(term, limit) end)
        assert {name, byte_size(text) <= limit} == {name, true}
        assert {name, String.valid?(text)} == {name, true}
        # The digits of an integer and the characters of a string that is shown are the most.
        assert {name, work, work < 250_000} == {name, work, true}
      end
    end

    test "names the size of what it cuts" do
      for {term, size} <- [
            {String.duplicate("a", 10_000_000), "10000000 bytes"},
            {List.duplicate("name", 10), "a list of 10 elements"},
            {Enum.to_list(1..20_000), "a list of more than 10000 elements"},
            {Map.new(1..50, &{&1, &1}), "a map of 50 entries"},
            {Tuple.duplicate("name", 10), "a tuple of 10 elements"},
            {Integer.pow(10, 100), "an integer of 333 bits"},
            {%Shy{value: Enum.to_list(1..100)}, "a struct"}
          ] do
        assert String.ends_with?(Shown.text(term, 64), "… (#{size})")
        assert byte_size(Shown.text(term, 64)) <= 64
      end
    end

    test "shows the beginning of what `inspect/1` shows" do
      for {_name, term} <-
            Keyword.take(huge(), [:binary, :bits, :wide, :long, :tuple]) do
        [beginning | _size] = String.split(Shown.text(term, 100), "… (")
        assert {beginning, String.starts_with?(inspect(term), beginning)} == {beginning, true}
      end
    end

    test "shows a small struct by its fields if its module fails to, and says of a large one that it cannot be shown" do
      # The order of the keys is that of the atoms in this VM.
      shown = Shown.text(%Failing{value: 1})
      assert "%{" <> _ = shown
      assert shown =~ "__struct__: PtcRunner.BoundedErrorsTest.Failing"
      assert shown =~ "value: 1"

      assert Shown.text(%Failing{value: Enum.to_list(1..100_000)}) =~
               "(a term that cannot be shown)"
    end

    test "is `inspect/1` wherever that has room" do
      :rand.seed(:exsss, {8, 5, 1})

      for n <- 1..4_000 do
        term = term(rem(n, 7))
        whole = inspect(term)
        limit = Enum.random([40, 100, 500, 4_000])
        text = Shown.text(term, limit)

        if byte_size(whole) <= limit,
          do: assert(text == whole),
          else: assert(byte_size(text) <= limit)
      end
    end

    test "is `inspect/1` for collections around the number of elements that are shown" do
      for size <- [0, 1, 31, 32, 33, 34, 49, 50, 51, 52, 98],
          element <- [& &1, &{:a, &1}, &{:"k#{&1}", &1}, &"e#{&1}", fn n -> rem(n, 90) + 32 end] do
        list = Enum.map(1..size//1, element)
        map = Map.new(Enum.with_index(list))
        set = MapSet.new(list)
        improper = list ++ :tail
        mixed = list ++ [1]
        chars = List.duplicate(?a, size) ++ [0]

        for term <- [list, List.to_tuple(list), map, set, improper, mixed, chars, {map, list}],
            do: assert(Shown.text(term, 100_000) == inspect(term))

        if Keyword.keyword?(list),
          do: assert(Shown.text(Map.new(list), 100_000) == inspect(Map.new(list)))
      end
    end
  end

  defp term(0) do
    Enum.random([
      1,
      -2.5,
      nil,
      :atom,
      :"odd atom",
      Shown,
      "text",
      "tëxt\n\"",
      <<255, 1>>,
      <<5::3>>,
      ~c"chars",
      [],
      %{},
      {},
      1..5,
      ~D[2026-01-01],
      ~r/x/,
      MapSet.new([1, "a"]),
      self(),
      &Enum.map/2,
      %Shy{value: [a: 1]},
      %ArgumentError{message: "m"},
      URI.parse("http://x.y")
    ])
  end

  defp term(depth) do
    some = fn -> for _ <- 1..Enum.random(0..4)//1, do: term(Enum.random(0..(depth - 1))) end

    case Enum.random(1..7) do
      1 -> some.()
      2 -> List.to_tuple(some.())
      3 -> Map.new(some.(), &{term(0), &1})
      4 -> Enum.map(some.(), &{Enum.random([:a, :b_c, :"d e", Shown]), &1})
      5 -> Map.new(some.(), &{Enum.random([:a, :b_c, :"d e"]), &1})
      6 -> [1 | term(depth - 1)]
      7 -> %Shy{value: term(depth - 1)}
    end
  end

  describe "messages" do
    @codes [
      :node_not_a_map,
      :unknown_op,
      :field_negative,
      :unknown_order,
      :needs_list,
      :needs_map,
      :needs_list_of_maps,
      :needs_numbers,
      :needs_map_values,
      :needs_list_values,
      :path_through_non_map,
      :no_type_name,
      :precision_out_of_range,
      :context_key,
      :memory_key,
      :let_name,
      :not_a_count,
      :unchecked_not_list,
      :unchecked_not_map
    ]

    # Each term with every third code, each code with every third term; with PTC_CASES, all of them.
    test "of every kind are bounded" do
      step = if Environment.many?(), do: 1, else: 3

      for {{name, term}, index} <- Enum.with_index(huge()),
          {codes, terms} <- [
            {@codes, [term]},
            {[:needs_numeric_operands, :needs_value_and_precision], [term, term]}
          ],
          {code, number} <- Enum.with_index(codes),
          rem(index + number, step) == 0 do
        {work, {_kind, text}} =
          reductions(fn -> Message.error({:execution, code, "operation", "field", terms}) end)

        assert {name, code, byte_size(text) <= @limit} == {name, code, true}
        # Elixir 1.18 takes 606,000 reductions where 1.14 takes less than 600,000.
        assert {name, code, work, work < 620_000} == {name, code, work, true}
        assert ErrorText.format({:execution_error, text}) |> byte_size() <= @limit
      end
    end

    test "name an operation of any length" do
      for name <- [
            String.duplicate("x", 10_000_000),
            "e" <> String.duplicate("\u0301", 1_000_000)
          ] do
        program = %{"program" => %{"op" => name}}
        {:error, {:validation_error, text}} = Json.run(program)
        assert byte_size(text) <= 300
        assert text =~ "… (#{byte_size(name)} bytes)'"
        assert byte_size(Json.format_error({:validation_error, text})) <= @limit
      end
    end

    test "of a run meet its deadline" do
      program =
        ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "x"}, {"op": "keys"}]}})

      {work, {:error, {:execution_error, text}}} =
        reductions(fn -> Json.run(program, context: %{"x" => wide(5)}, timeout: 50) end)

      # The limit of `inspect/2` is that of each list, or since Elixir 1.20 that of the whole text.
      assert text =~
               ~r/\Akeys requires a map, got \[\[\[\[.*(… \(a list of 12 elements\)|\.\.\.\])\z/

      assert byte_size(text) <= @limit
      assert work < 1_000_000
    end

    test "about options and names" do
      long = String.duplicate("x", 1_000_000)
      program = ~s({"program": {"op": "literal", "value": 1}})
      node = %{"op" => "call", "tool" => long}

      messages = [
        Json.run(program, context: wide(5)),
        Json.run(program, tools: %{long => 1}),
        Json.run(program, tools: Map.new(1..1_000, &{"tool#{&1}", &1})),
        Json.run(%{"program" => node}, tools: %{}),
        Json.run(wide(5)),
        Json.Validator.validate(wide(5)),
        PtcRunner.Context.get_ctx(PtcRunner.Context.new(), wide(5)),
        PtcRunner.Sandbox.execute(1, PtcRunner.Context.new(),
          timeout: 60_000,
          eval_fn: fn _, _ -> wide(5) end
        ),
        PtcRunner.Sandbox.execute(1, PtcRunner.Context.new(),
          timeout: 60_000,
          eval_fn: fn _, _ -> exit(wide(5)) end
        )
      ]

      for {:error, {_kind, text}} <- messages, do: assert(byte_size(text) <= @limit)
      assert length(messages) == 9

      assert {:error, {:validation_error, text}} = Enum.at(messages, 2)
      assert text =~ ~r/Invalid: tool\d+, .*, and \d{3} more\z/

      for raising <- [
            fn -> Json.run(program, max_depth: wide(5)) end,
            fn -> Json.run(program, max_heap: wide(5)) end,
            fn -> PtcRunner.Json.Codec.decode("1", depth: wide(5)) end,
            fn -> AnswerStream.new({:none, wide(5)}) end,
            fn -> AnswerStream.feed(AnswerStream.new(nil), wide(5)) end,
            fn -> Json.run!(%{"program" => node}) end
          ] do
        assert (try do
                  raising.()
                rescue
                  error -> byte_size(Exception.message(error)) <= 8_300
                end) == true
      end
    end

    test "about signatures" do
      alias PtcRunner.SubAgent.Signature
      long = String.duplicate("x", 1_000_000)
      keys = Map.new(1..1_000, &{"key#{&1}", &1})

      deep =
        Enum.reduce(1..200, %{"type" => long}, fn n, schema ->
          %{"type" => "object", "properties" => %{"#{String.duplicate("p", 50)}#{n}" => schema}}
        end)

      for result <- [
            Signature.parse(wide(5)),
            Signature.from_json_schema(wide(5)),
            Signature.from_json_schema(%{"type" => long}),
            Signature.from_json_schema(%{"type" => "string", long => 1}),
            Signature.from_json_schema(Map.merge(keys, %{"type" => "string"})),
            Signature.from_json_schema(deep),
            Signature.Coercion.coerce(keys, {:closed_map, []}),
            Signature.Coercion.coerce(long, :datetime),
            Signature.Coercion.coerce(long, :int)
          ] do
        assert {:error, text} = result
        assert byte_size(text) <= @limit
      end

      assert {:error, text} = Signature.from_json_schema(deep)
      assert text =~ "property \"pppp"
      assert text =~ "unsupported type: \"xxx"
    end
  end

  describe "tools" do
    defmodule Wordy do
      defexception [:message]
    end

    test "that fail with something huge" do
      huge = huge()
      map = huge[:shared_maps]
      long = huge[:binary]

      for tool <- [
            fn _ -> {:error, map} end,
            fn _ -> throw(map) end,
            fn _ -> exit(map) end,
            fn _ -> raise KeyError, key: :no, term: map end,
            fn _ -> raise Wordy, message: long end,
            fn _ -> :erlang.error({:badmap, huge[:shared_lists]}) end,
            fn _ -> :erlang.error(huge[:shared_tuples]) end,
            fn _ -> raise Protocol.UndefinedError, protocol: Enumerable, value: map end
          ] do
        {work, {:error, {:tool_failed, text}}} =
          reductions(fn -> ToolWorker.run(long, tool, 1) end)

        assert byte_size(text) <= @limit
        assert text =~ ~r/\ATool 'a+… \(10000000 bytes\)' \w+: ./
        assert work < 600_000
      end
    end

    test "keep the words of small exceptions" do
      error = %KeyError{key: :a, term: %{b: 1}}
      assert Shown.exception(error) == Exception.message(error)
      assert Shown.exception(error) =~ "key :a not found in:"
    end
  end

  describe "format_error/1" do
    test "of anything" do
      for {name, term} <- huge(), kind <- [:parse_error, :execution_error, :timeout, :other] do
        text = Json.format_error({kind, term})
        assert {name, kind, byte_size(text) <= @limit} == {name, kind, true}
      end
    end

    test "reads a grapheme of any length as bytes" do
      marks = "e" <> String.duplicate("\u0301", 1_000_000)

      for message <- [marks, "expected a map, got: " <> marks, ~s(badmap, "#{marks}")] do
        {work, text} = reductions(fn -> Json.format_error({:execution_error, message}) end)
        assert byte_size(text) <= @limit
        assert work < 600_000
      end
    end
  end

  test "suggestions look at few bytes of a name" do
    names = PtcRunner.Schema.valid_operation_names()

    for name <- [
          "filte" <> String.duplicate("\u0301", 1_000_000),
          String.duplicate("é", 1_000_000)
        ] do
      {work, found} = reductions(fn -> Suggestion.closest(name, names) end)
      assert found == :error
      assert work < 50_000
    end

    assert Suggestion.closest("fïlter", names) == {:ok, "filter"}
  end

  describe "feedback" do
    @fields for n <- 1..30, do: {"field_number_#{n}", :int}
    @rows {:signature, [], {:list, {:map, @fields}}}

    defp feedback(content, signature, opts \\ []) do
      {:continue, state, turn} =
        JsonHandler.handle_json_answer(content, Answers.agent(signature), Answers.state(), opts)

      {List.last(state.messages).content, turn.result.error}
    end

    test "shows twenty errors of many, by default too" do
      rows = "[" <> Enum.map_join(1..11_000, ",", fn _ -> "{}" end) <> "]"
      {text, error} = feedback(rows, @rows)
      assert text =~ ~r/\AError: 0\.field_number_1: expected field, got nil; 0\.field_number_2: /

      assert text =~
               "; 0.field_number_20: expected field, got nil; and 329980 more. Please return"

      refute text =~ "field_number_21"
      assert byte_size(text) < 2_000

      assert byte_size(error) < 1_048_600
      assert error =~ ~r/; and \d{6} more\z/

      assert {text, _error} = feedback(rows, @rows, feedback: :detailed)
      assert text =~ "Error: 330000 values do not match"
      assert text =~ "\n- and 329980 more\n"
    end

    test "shows all of twenty" do
      fields = Enum.take(@fields, 20)
      {text, error} = feedback("{}", {:signature, [], {:map, fields}})
      assert text =~ "Error: #{error}. Please"
      refute text =~ " more"
      {text, _error} = feedback("{}", {:signature, [], {:map, Enum.take(@fields, 21)}})
      assert text =~ "; and 1 more. Please"
    end

    test "has a bound for long paths, names, values and texts" do
      long = String.duplicate("n", 100_000)
      fields = for n <- 1..25, do: {"#{n}#{long}", :int}
      deep = Enum.reduce(1..5_000, :string, fn _, type -> {:list, type} end)
      nested = String.duplicate("[", 5_000) <> "1" <> String.duplicate("]", 5_000)
      value = ~s({"n": "#{long}"})

      for {content, signature} <- [
            {"{}", {:signature, [], {:map, fields}}},
            {nested, {:signature, [], deep}},
            {value, {:signature, [], {:map, [{"n", :int}]}}},
            {"{" <> String.duplicate("\n", 100_000), {:signature, [], :map}},
            {~s({"#{long}": }), {:signature, [], :map}}
          ],
          opts <- [[], [feedback: :detailed]] do
        {text, error} = feedback(content, signature, opts)
        assert byte_size(text) <= 16_384
        assert byte_size(error) <= 1_048_600
        assert String.valid?(text)
      end

      {:continue, state, _turn} =
        JsonHandler.handle_parse_error(long, "", Answers.agent(nil), Answers.state())

      assert byte_size(List.last(state.messages).content) <= @limit + 100
    end

    # The line in plain Elixir.
    defp plain_line(errors) do
      texts =
        for %{path: path, message: message} <- errors do
          way = if path == [], do: "root", else: Enum.join(path, ".")
          Shown.cut(way, 2_000) <> ": " <> Shown.cut(message, 2_000)
        end

      ends = Enum.scan(texts, 0, &(byte_size(&1) + 2 + &2))
      count = Enum.count(ends, &(&1 <= 1_048_576))
      {shown, more} = Enum.split(texts, count)
      note = if more == [], do: [], else: ["and #{length(more)} more"]
      Enum.join(shown ++ note, "; ")
    end

    test "in one line is bounded, as in plain Elixir" do
      message = String.duplicate("ü", 500_000)
      error = fn n -> %{path: ["rows", n, "ä"], message: message} end
      errors = Enum.map(1..600, error)
      text = JsonHandler.format_validation_errors(errors)
      assert byte_size(text) <= 1_048_600
      assert text =~ ~r/\Arows\.1\.ä: ü+… \(1000000 bytes\); rows\.2\.ä: /u
      assert text =~ ~r/; and \d\d more\z/

      for errors <- [
            errors,
            for(n <- 1..5_000, do: %{path: [String.duplicate("päth", n), n], message: "m"}),
            for(n <- 1_980..2_010, do: %{path: [String.duplicate("a", n)], message: "m"}),
            for(n <- 1_980..2_010, do: %{path: [], message: String.duplicate("日", n)}),
            List.duplicate(%{path: [], message: "m"}, 20_000),
            for(n <- 1..2_000, do: %{path: List.duplicate(n, n), message: "m"})
          ] do
        assert JsonHandler.format_validation_errors(errors) == plain_line(errors)
      end
    end

    test "of Signature.format_errors/2 is bounded" do
      alias PtcRunner.SubAgent.Signature
      errors = for n <- 1..100_000, do: %{path: ["rows", n], message: "expected int, got string"}
      text = Signature.format_errors(errors, nil)
      assert byte_size(text) < 1_400_000
      assert text =~ ~r/\n- and \d+ more\z/

      type = {:list, {:map, [{"n", :int}]}}
      rows = for n <- 1..50_000, do: %{"n" => "text #{n}"}
      assert {:error, line} = Signature.Coercion.coerce(rows, type, mode: :strict)
      assert byte_size(line) <= 1_048_600
      assert line =~ ~r/; and \d+ more\z/

      ExUnit.CaptureLog.capture_log(fn ->
        signature = {:signature, [], type}

        assert {:ok, ^rows, warnings} =
                 Signature.call_tool(signature, %{}, fn _ -> rows end, mode: :warn_only)

        assert warnings |> Enum.map(&byte_size/1) |> Enum.sum() <= 1_048_600
        assert List.last(warnings) =~ ~r/\Aand \d+ more\z/
      end)

      long = String.duplicate("x", 1_000_000)
      text = Signature.format_errors([%{path: [long], message: long}], nil)
      assert byte_size(text) <= @limit + 100
    end
  end

  describe "places" do
    test "are counted without memory" do
      text = String.duplicate("\n", 20_000_000)

      {bytes, place} =
        Task.async(fn ->
          place = Place.line_and_column(text, 20_000_000)
          {:total_heap_size, words} = Process.info(self(), :total_heap_size)
          {8 * words, place}
        end)
        |> Task.await(:infinity)

      assert place == {20_000_001, 1, 20_000_000}
      assert bytes < 1_000_000
    end

    test "are those of lines and characters" do
      text = "a\näb\n\nöü{"

      for {offset, place} <- [
            {0, {1, 1, 0}},
            {1, {1, 2, 0}},
            {2, {2, 1, 2}},
            {4, {2, 2, 2}},
            {6, {3, 1, 6}},
            {7, {4, 1, 7}},
            {11, {4, 3, 7}},
            {99, {4, 4, 7}}
          ],
          do: assert(Place.line_and_column(text, offset) == place)
    end

    test "of a stream" do
      stream = AnswerStream.new("{a :int}", prose: false)
      chunk = "{" <> String.duplicate("\n", 1_000_000)
      {:cont, stream} = AnswerStream.feed(stream, chunk)
      assert {:halt, {:error, [%{path: [], message: message}]}} = AnswerStream.feed(stream, "x")
      assert message =~ "line 1000001, column 1"
    end
  end

  test "warnings of a coercion show the beginning of a long value and its size" do
    digits = String.duplicate("7", 5_000)
    float = "1." <> String.duplicate("7", 9_000)

    for {text, type} <- [{digits, :int}, {float, :float}, {float, :int}] do
      case PtcRunner.SubAgent.Signature.Coercion.coerce([text], {:list, type}) do
        {:ok, _value, [warning]} ->
          assert byte_size(warning) <= 4_096
          assert warning =~ "… (#{byte_size(text)} bytes)\" to "
          assert String.starts_with?(warning, "coerced string \"" <> String.slice(text, 0, 3_700))

        {:error, message} ->
          assert byte_size(message) <= 4_096
      end
    end

    assert {:ok, [_], [_]} = PtcRunner.SubAgent.Signature.Coercion.coerce([digits], {:list, :int})
  end
end
