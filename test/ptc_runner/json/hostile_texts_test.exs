defmodule PtcRunner.Json.HostileTextsTest do
  # Runs over JSON texts that are not decoded: the texts of JSONTestSuite and hostile ones end as over what the decoder gives,
  # within the limits, and no call holds a scheduler.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.Codec
  alias PtcRunner.Test.{JsonSuite, Room, SliceClock}

  @files Path.expand("../../conformance", __DIR__)

  # A longer text is read in place.
  @pad String.duplicate(" ", 5_000)
  @million 1_000_000
  @load %{"op" => "load", "name" => "t"}

  defp run(value, steps, opts) do
    program = %{"program" => %{"op" => "pipe", "steps" => [@load | steps]}}
    Json.run(program, [context: %{"t" => value}] ++ Keyword.put_new(opts, :timeout, 120_000))
  end

  # As over the decoded text, or the error of the decoder; with `:ok` or `:error`.
  defp as_decoded(text, steps \\ []) do
    case Codec.decode(text, timeout: :infinity) do
      {:ok, value} ->
        {:ok, expected, delta, memory} = run(value, steps, max_heap: 0)
        assert {:ok, ^expected, ^delta, ^memory} = run(Json.text(text), steps, max_heap: 0)
        :ok

      {:error, error} ->
        message = "Context 't': JSON decode error: " <> Exception.message(error)
        assert {:error, {:execution_error, ^message}} = run(Json.text(text), steps, max_heap: 0)
        :error
    end
  end

  test "the texts of JSONTestSuite are accepted and refused as by the decoder" do
    texts = JsonSuite.texts()
    assert length(texts) == 318

    for {name, text} <- texts, padded <- [text, text <> @pad, @pad <> text] do
      read = as_decoded(padded)

      case name do
        "y_" <> _ -> assert read == :ok, name
        "n_" <> _ -> assert read == :error, name
        _open -> :ok
      end
    end
  end

  test "so are the texts of the project" do
    for name <- File.ls!(@files), String.ends_with?(name, ".json") do
      text = File.read!(Path.join(@files, name))
      read = as_decoded(text <> @pad)
      if String.starts_with?(name, "n_"), do: assert(read == :error, name)
      if String.starts_with?(name, "y_"), do: assert(read == :ok, name)
    end
  end

  describe "hostile texts" do
    defp brackets(open, close), do: String.duplicate("[", open) <> String.duplicate("]", close)

    # Millions; five times as many with PTC_CASES.
    @many if PtcRunner.Test.Environment.many?(), do: 10 * @million, else: 2 * @million

    test "millions of brackets" do
      half = div(@many, 2)
      valid = brackets(half, half)
      assert {:error, {:memory_exceeded, _}} = run(Json.text(valid), [], [])
      assert {:ok, 1, _, _} = run(Json.text(valid), [%{"op" => "count"}], max_heap: 0)
      message = "Context 't': JSON decode error: Unexpected end of input at position #{2 * half}"
      expected = {:error, {:execution_error, message}}
      assert run(Json.text(brackets(2 * half, 0)), [], max_heap: 0) == expected
    end

    test "fewer brackets, which are read in place" do
      steps = List.duplicate(%{"op" => "first"}, 50) ++ [%{"op" => "count"}]

      for {open, close} <- [
            {60_000, 60_000},
            {60_000, 59_999},
            {60_000, 60_001},
            {70_000, 70_000}
          ],
          do: as_decoded(brackets(open, close), steps)
    end

    test "a string of many megabytes" do
      text = ~s({"a": ") <> String.duplicate("x", 10 * @many) <> ~s(", "b": 1})
      get = [%{"op" => "get", "field" => "b"}]
      assert {:ok, 1, _, _} = run(Json.text(text), get, max_heap: 0)
      # Not closed.
      open = binary_part(text, 0, 9 * @many)
      message = "Context 't': JSON decode error: Unexpected end of input at position #{9 * @many}"
      assert run(Json.text(open), get, max_heap: 0) == {:error, {:execution_error, message}}
    end

    test "millions of empty objects" do
      objects = max(@many, 4 * @million)
      text = "[" <> String.duplicate("{},", objects) <> "{}]"
      count = [%{"op" => "count"}]
      assert {:ok, counted, _, _} = run(Json.text(text), count, [])
      assert counted == objects + 1
      last = [%{"op" => "last"}]
      assert {:ok, empty, _, _} = run(Json.text(text), last, [])
      assert empty == %{}
      assert {:error, {:memory_exceeded, _}} = run(Json.text(text), [], [])
      assert {:error, {:timeout, 5}} = run(Json.text(text), last, timeout: 5)
    end

    test "all escapes" do
      units = for unit <- 0..0xFFFF, unit not in 0xD800..0xDFFF, do: unit
      hex = fn unit -> unit |> Integer.to_string(16) |> String.pad_leading(4, "0") end
      strings = for unit <- units, do: ~s("a\\u#{hex.(unit)}b")
      list = "[" <> Enum.join(strings, ",") <> "]"
      assert as_decoded(list) == :ok
      as_decoded(list, [%{"op" => "distinct"}, %{"op" => "count"}])

      object =
        "[{" <>
          Enum.map_join(Enum.take_every(units, 80), ",", &~s("\\u#{hex.(&1)}": #{&1})) <> "}]"

      for unit <- [0, ?", ?\\, 0xE9, 0xFFFF] do
        get = [%{"op" => "first"}, %{"op" => "get", "field" => <<unit::utf8>>}]
        assert as_decoded(object <> @pad, get) == :ok
      end

      pairs = for high <- [0xD800, 0xDBFF], low <- [0xDC00, 0xDFFF], do: {high, low}
      lone = [{0xD800, ?a}, {0xDC00, 0xDC00}, {0xDFFF, 0xD800}, {0xDBFF, 0xDBFF}]
      text = fn {a, b} -> ~s(["\\u#{hex.(a)}\\u#{hex.(b)}"]) <> @pad end
      for pair <- pairs, do: assert(as_decoded(text.(pair)) == :ok)
      for pair <- lone, do: assert(as_decoded(text.(pair)) == :error)

      for escape <- ~w(\\b \\f \\n \\r \\t \\/ \\\\ \\"),
          do: assert(as_decoded(~s(["#{escape}"]) <> @pad) == :ok)

      for byte <- 0..127,
          <<byte>> not in ~w(b f n r t / \\ " u),
          do: assert(as_decoded(<<"[\"\\", byte, "\"]", @pad::binary>>) == :error)
    end

    test "byte order marks" do
      for mark <- ["\uFEFF", "\xFF\xFE", "\xFE\xFF", "\xEF\xBB"],
          text <- ["[]", ""],
          do: assert(as_decoded(mark <> text <> @pad) == :error)

      assert as_decoded(~s(["\uFEFF"]) <> @pad) == :ok
      assert as_decoded("[]\uFEFF" <> @pad) == :error
    end

    test "bytes that are not UTF-8, at every offset" do
      valid =
        ~s([{"ключ": "aä日😀 and more", "n": [1, -2.5e3, null]}, ") <>
          String.duplicate("日本ä", 40) <> ~s("]) <> @pad

      size = byte_size(valid) - byte_size(@pad)

      for at <- 0..size, bad <- ["\x80", "\xC3", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"] do
        <<before::binary-size(at), rest::binary>> = valid
        assert as_decoded(before <> bad <> rest) == :error
      end
    end

    test "many texts, of which one is wrong" do
      context = for n <- 1..500, into: %{}, do: {"t#{n}", Json.text(~s([#{n}]) <> @pad)}
      program = ~s({"program": {"op": "load", "name": "t77"}})
      assert {:ok, [77], _, _} = Json.run(program, context: context)
      wrong = %{context | "t400" => Json.text("[1" <> @pad)}

      assert {:error, {:execution_error, "Context 't400': " <> _}} =
               Json.run(program, context: wrong)
    end

    defp rows(value, count),
      do: "[" <> String.duplicate(~s({"a":#{value}},), count) <> "1]"

    test "hold no scheduler, and end at the deadline" do
      objects = "[" <> String.duplicate(~s({"a":"\\u00e9","b":[1,{"c":"x"}]},), 100_000) <> "1]"
      deep = String.duplicate(~s({"a":), 60_000) <> "1" <> String.duplicate("}", 60_000)

      wide =
        "[" <>
          String.duplicate(~s({#{Enum.map_join(1..900, ",", &~s("k#{&1}":#{&1}))}},), 100) <> "1]"

      long = "[" <> String.duplicate(~s("#{String.duplicate("é", 30_000)}",), 50) <> "1]"

      big = rows(String.duplicate("7", 25), 10_000)
      bigger = rows(String.duplicate("7", 127), 10_000)
      decoded = rows(String.duplicate("7", 1_000), 2_000)
      escaped = rows(~s("#{String.duplicate("\\\\u00e9", 300)}"), 2_000)
      floats = rows("-1." <> String.duplicate("3", 120), 10_000)

      steps = [
        [],
        [%{"op" => "sum", "field" => "a"}],
        [%{"op" => "max", "field" => "a"}],
        [%{"op" => "group_by", "field" => "a"}],
        [%{"op" => "distinct"}],
        [%{"op" => "sort_by", "field" => "a"}],
        [%{"op" => "filter", "where" => %{"op" => "contains", "field" => "a", "value" => "é"}}],
        [%{"op" => "last"}]
      ]

      texts = [
        objects,
        deep,
        wide,
        long,
        brackets(60_000, 60_000),
        big,
        bigger,
        decoded,
        escaped,
        floats
      ]

      # Every other program over each text, by turns; with PTC_CASES all of them.
      every = if PtcRunner.Test.Environment.many?(), do: 1, else: 2

      for {text, i} <- Enum.with_index(texts),
          {steps, j} <- Enum.with_index(steps),
          rem(i + j, every) == 0 do
        assert SliceClock.holds(fn -> run(Json.text(text), steps, max_heap: 0) end) == []

        {ms, _result} =
          Room.least_ms(500, fn -> run(Json.text(text), steps, timeout: 3, max_heap: 0) end)

        assert ms < 1_000
      end
    end
  end
end
