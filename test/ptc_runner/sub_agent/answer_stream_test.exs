defmodule PtcRunner.SubAgent.AnswerStreamTest do
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.AnswerStream
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.Test.{Answers, Environment, Peer, Room, Vectors}

  doctest AnswerStream
  doctest Answers

  @rows "() -> {results [{id :int, score :float, name :string}]}"

  describe "the verdict" do
    # Every text with every third signature of the vectors, each signature with every third text, in one and in chunks; with PTC_CASES,
    # every text with every signature.
    @tag timeout: 300_000
    test "is that of the whole text, wherever it is cut" do
      signatures = Enum.with_index(signatures())
      step = if Environment.many?(), do: 1, else: 3

      for {text, index} <- Enum.with_index(texts()),
          {signature, number} <- signatures,
          rem(index + number, step) == 0 do
        expected = verdict(text, signature)

        for opts <- [[], [halt: :certain]],
            sizes <- [[byte_size(text) + 1], [1 + rem(index, 7), 2, 11]] do
          case Answers.stream(AnswerStream.new(signature, opts), Answers.cut(text, sizes)) do
            # Of several values one counts as in `Agent.answer/3`, and a value may be bare.
            {:ended, {:ok, value}} ->
              assert {:ok, value} === expected or answered?(text, signature, value)

            {:ended, {:error, [_ | _]}} ->
              # `Agent.answer/3` refuses the value that counts, or converts it.
              assert elem(expected, 0) == :error or
                       not match?({:ok, _, []}, PtcRunner.Agent.answer(text, signature)),
                     inspect({text, signature, expected})

            {:halted, [_]} ->
              assert {:error, text} == {elem(expected, 0), text}
          end
        end
      end
    end

    test "comes with all errors at the end" do
      stream = fed(AnswerStream.new("{a :int, b :int}", halt: :certain), ~s({"a": "1", "b": "2"}))

      assert AnswerStream.finish(stream) ==
               {:error,
                [
                  %{path: ["a"], message: "expected int, got string"},
                  %{path: ["b"], message: "expected int, got string"}
                ]}
    end

    test "has dates, wrapped lists and keys with underscores" do
      stream = AnswerStream.new("[{at :datetime, user_id :int}]")
      stream = fed(stream, ~s({"items": [{"at": "2026-05-03T09:14:00Z", "user-id": 1}]}))

      assert AnswerStream.finish(stream) ==
               {:ok, [%{"at" => ~U[2026-05-03 09:14:00Z], "user_id" => 1}]}
    end
  end

  describe "a stream stops" do
    test "within the first row of ten thousand" do
      row = ~s({"id":"1","score":0.5,"name":"Ann"})
      text = ~s({"results":[) <> String.duplicate(row <> ",", 9_999) <> row <> "]}"
      chunks = Answers.cut(text, [20])
      {fed, error} = until_halt(AnswerStream.new(@rows), chunks, 0)
      assert fed <= byte_size(~s({"results":[) <> row)
      assert error == %{path: ["results", 0, "id"], message: "expected int, got string"}
    end

    test "at the first byte that cannot be right, in a fence" do
      for {text, path, message} <- [
            {~s({"results": [{"id": "), ["results", 0, "id"], "expected int, got string"},
            {~s({"results": [{"id": 1.), ["results", 0, "id"], "expected int, got float"},
            {~s({"results": [{"id": n), ["results", 0, "id"], "expected int, got keyword"},
            {~s({"results": {), ["results"], "expected list, got map"},
            {~s({"results": [1,), ["results", 0], "expected map, got int"},
            {~s({"results": [{"id": 1, "score": 2}), ["results", 0, "name"],
             "expected field, got nil"},
            {~s({}), ["results"], "expected field, got nil"},
            {"[", [], "Response must be a JSON object, not an array or primitive"}
          ] do
        whole = "Sure:\n```json\n" <> text
        assert {fed, error} = until_halt(AnswerStream.new(@rows), Answers.cut(whole, [1]), 0)
        assert {fed, error} == {byte_size(whole), %{path: path, message: message}}
      end
    end

    test "at JSON that is none, with line and column" do
      {fed, error} = until_halt(AnswerStream.new(nil), ["```json\n{\"a\": 1,\n", " }\n```"], 0)
      assert fed == 23
      assert error == %{path: [], message: ~s(JSON parse error at line 3, column 2: unexpected })}
    end

    test "at a key that a closed map must not have" do
      signature = {:signature, [], {:closed_map, [{"a", :int}]}}
      {_fed, error} = until_halt(AnswerStream.new(signature), [~s({"b"), ": ", "1}"], 0)
      assert %{path: ["b"], message: "unexpected field" <> _} = error
    end

    test "at a list that is not under items" do
      {_fed, error} =
        until_halt(AnswerStream.new("[:int]"), Answers.cut(~s({"rows": [1]}), [1]), 0)

      assert error.message == ~s(Expected {"items": [...]} wrapper for array response)
      {_fed, error} = until_halt(AnswerStream.new("[:int]"), [~s({"items": "none"}), ""], 0)
      assert error.message == ~s(Expected {"items": [...]} wrapper for array response)
    end

    test "at a word that is no keyword" do
      signature = "{status :keyword}"

      assert {:halted, [error]} =
               Answers.stream(AnswerStream.new(signature), [~s({"status": "no way"})])

      assert error.message == "expected keyword, got string"

      assert {:ended, {:ok, _}} =
               Answers.stream(AnswerStream.new(signature), [~s({"status": "ok"})])
    end

    test "at prose, where there is to be none" do
      for text <- ["Sure", "\n\n Sure", "```json\nHere", "42"] do
        stream = AnswerStream.new(nil, prose: false)
        assert {:halted, [%{path: []}]} = Answers.stream(stream, Answers.cut(text, [1]))
      end

      for text <- ["\uFEFF {}", "```json\n{}\n```", "\n{} as it is"] do
        stream = AnswerStream.new(nil, prose: false)
        assert Answers.stream(stream, Answers.cut(text, [1])) == {:ended, {:ok, %{}}}
      end
    end
  end

  describe "the text" do
    test "may be as long as it is allowed to be" do
      for {opts, most} <- [{[max_bytes: 10], 10}, {[], 16_777_216}] do
        stream = fed(AnswerStream.new(nil, opts), String.duplicate("x", most - 1))
        assert {:cont, full} = AnswerStream.feed(stream, "x")
        message = "expected at most #{most} bytes, got more"
        halted = {:halt, {:error, [%{path: [], message: message}]}}
        assert AnswerStream.feed(full, "x") == halted
        assert AnswerStream.feed(stream, "xx") == halted
        assert {:cont, _} = AnswerStream.feed(full, "")
      end

      stream = AnswerStream.new(nil, max_bytes: :infinity)
      assert {:cont, _} = AnswerStream.feed(stream, String.duplicate("x", 16_777_217))
    end

    test "is limited by a positive integer" do
      for max_bytes <- [0, -1, 1.0, nil, "10"] do
        assert_raise ArgumentError, ~r/:max_bytes/, fn ->
          AnswerStream.new(nil, max_bytes: max_bytes)
        end
      end
    end

    test "is no longer held than the stream, and seen by the VM meanwhile" do
      # In a VM of its own: what others do there counts too.
      peer = Peer.start()

      {peak, more, held, bytes} =
        Peer.eval(peer, ~S"""
        alias PtcRunner.SubAgent.AnswerStream
        feed = fn chunk, stream -> elem({:cont, _} = AnswerStream.feed(stream, chunk), 1) end
        chunk = String.duplicate("x", 10_000)

        # The process' own memory, which includes what the VM does not count; 0 on other systems than Linux.
        resident = fn ->
          with {:ok, status} <- File.read("/proc/self/status"),
               [_, kilobytes] <- Regex.run(~r/VmRSS:\s+(\d+)/, status),
               do: String.to_integer(kilobytes) * 1_024,
               else: (_ -> 0)
        end

        # Each in turn is abandoned, as a caller does that loses interest.
        peaks =
          for _ <- 1..400 do
            _stream = Enum.reduce(1..100, AnswerStream.new(nil), fn _, s -> feed.(chunk, s) end)
            {:erlang.memory(:binary), resident.()}
          end

        :erlang.garbage_collect()
        before = :erlang.memory(:binary)
        stream = feed.(String.duplicate("x", 10_000_000), AnswerStream.new(nil))
        :erlang.garbage_collect()
        {binaries, residents} = Enum.unzip(peaks)
        {early, later} = Enum.split(residents, 50)
        more = Enum.max(later) - Enum.max(early)
        {Enum.max(binaries), more, :erlang.memory(:binary) - before, stream.taken}
        """)

      assert peak < 100_000_000
      # Native memory that the VM does not count rose by half a megabyte with each: by 175 MB.
      assert more < 100_000_000
      assert held >= 9_000_000
      assert bytes == 10_000_000
    end

    test "takes a chunk's time for each chunk" do
      stream = fed(AnswerStream.new(nil), ~s({"text": ") <> String.duplicate("x", 4_000_000))
      feed = fn -> Enum.reduce(1..20_000, stream, fn _, stream -> fed(stream, "abcd") end) end
      # Copying the text for each chunk would take 80 GB.
      {ms, fed} = Room.least_ms(10_000, feed)
      assert ms < 10_000
      assert {:ok, %{"text" => text}} = AnswerStream.partial(fed)
      assert byte_size(text) == 4_080_000
    end

    test "of a key may come in parts, and be longer than any name" do
      key = String.duplicate("k", 100_000)
      stream = AnswerStream.new("{a :int}")
      stream = Enum.reduce(Answers.cut(~s({"#{key}": 1, "a": 2}), [7]), stream, &fed(&2, &1))
      assert AnswerStream.finish(stream) == {:ok, %{"a" => 2, key => 1}}
    end
  end

  describe "a stream goes on" do
    test "past prose in brackets" do
      for prose <- ["[Note] ", "{x} ", "See [1, 2] and [3", "[1 of 2] "] do
        stream = AnswerStream.new("{a :int}", [])
        assert {:cont, _stream} = AnswerStream.feed(stream, prose)
      end
    end

    test "where another key may still count" do
      text = ~s({"user-id": "x", "user_id": 1})
      stream = AnswerStream.new("{user_id :int}")
      # It is read to its end, where both keys are known.
      assert {:ended, {:error, [error]}} = Answers.stream(stream, Answers.cut(text, [1]))
      assert error.message =~ "are one field"
      stream = AnswerStream.new("{a :int}")
      assert {:ended, {:ok, %{"a" => 1}}} = Answers.stream(stream, [~S({"\u0061": 1, "a": "2"})])
    end

    test "for a fence that may come, if it is told to" do
      text = ~s({"a": "x"} or rather\n```json\n{"a": 1}\n```)
      stream = AnswerStream.new("{a :int}", halt: :certain)
      assert {:ended, {:ok, %{"a" => 1}}} = Answers.stream(stream, Answers.cut(text, [1]))
      assert {:halted, [_]} = Answers.stream(AnswerStream.new("{a :int}"), Answers.cut(text, [1]))
    end
  end

  describe "partial/1" do
    test "closes what is open, at every byte" do
      text = ~s(A: {"a": [1, {"b": "gr\\u00fcn 😀"}], "c": -1.5e3, "d": null})

      for size <- 0..byte_size(text) do
        stream = fed(AnswerStream.new(nil), binary_part(text, 0, size))

        case AnswerStream.partial(stream) do
          :none -> assert size < 4
          {:ok, value} -> assert is_map(value)
        end
      end

      assert {:ok, %{"a" => [1, %{"b" => "grün 😀"}], "c" => -1500.0, "d" => nil}} ==
               AnswerStream.partial(fed(AnswerStream.new(nil), text))
    end

    test "leaves out what cannot be shown yet" do
      for {text, value} <- [
            {~s({"a": "x\\), %{"a" => "x"}},
            {~s({"a": "x\\u00), %{"a" => "x"}},
            {~s({"a": "x\\ud83d), %{}},
            {~s({"a": "x) <> <<0xF0, 0x9F>>, %{"a" => "x"}},
            {~s({"a": 1, "b), %{"a" => 1}},
            {~s({"a": 1, "b": 12), %{"a" => 1}},
            {~s({"a": tru), %{}},
            {~s({"a": [[), %{"a" => [[]]}}
          ] do
        assert AnswerStream.partial(fed(AnswerStream.new(nil), text)) == {:ok, value}
      end

      assert AnswerStream.partial(fed(AnswerStream.new(nil), "{x} is")) == :none
    end

    test "of a wrapped list is the list" do
      assert AnswerStream.partial(fed(AnswerStream.new("[:int]"), ~s({"items": [1, 2))) ==
               {:ok, [1]}
    end
  end

  describe "streams are values" do
    test "an old one can be fed again" do
      stream = fed(AnswerStream.new("{a :int}"), ~s({"a": ))
      assert {:halt, _} = AnswerStream.feed(stream, ~s("x"))
      assert {:cont, one} = AnswerStream.feed(stream, "1}")
      assert {:cont, two} = AnswerStream.feed(stream, "2}")
      assert AnswerStream.finish(one) == {:ok, %{"a" => 1}}
      assert AnswerStream.finish(two) == {:ok, %{"a" => 2}}
      assert AnswerStream.partial(stream) == {:ok, %{}}
      assert {:error, [_]} = AnswerStream.finish(stream)
    end

    test "many processes can go on from the same one" do
      stream = fed(AnswerStream.new("{a :int}"), ~s({"a": ))

      1..50
      |> Enum.map(fn n ->
        Task.async(fn -> {n, stream |> fed("#{n}") |> fed("}") |> AnswerStream.finish()} end)
      end)
      |> Task.await_many(60_000)
      |> Enum.each(fn {n, answer} -> assert answer == {:ok, %{"a" => n}} end)
    end
  end

  test "chunks of any size, and long strings in short ones, take linear time" do
    string = String.duplicate("0123456789", 200_000)
    text = ~s({"a": "#{string}", "b": #{String.duplicate("1", 1_000)}})

    for sizes <- [[byte_size(text)], [20]] do
      {ms, outcome} =
        Room.least_ms(5_000, fn ->
          Answers.stream(AnswerStream.new("{a :string}"), Answers.cut(text, sizes))
        end)

      assert {:ended, {:ok, %{"a" => ^string}}} = outcome
      assert ms < 5_000
    end
  end

  test "deep nesting in chunks" do
    text = String.duplicate("[", 100_000) <> String.duplicate("]", 100_000)
    chunks = Answers.cut(~s({"a": #{text}}), [1000])
    assert {:ended, {:ok, %{"a" => [[_]]}}} = Answers.stream(AnswerStream.new("{a :any}"), chunks)
    assert {:halted, [_]} = Answers.stream(AnswerStream.new("{a :int}"), chunks)
  end

  test "what is no signature is refused" do
    assert_raise ArgumentError, fn -> AnswerStream.new("{a :nothing}") end
    assert_raise ArgumentError, fn -> AnswerStream.new(:int) end
  end

  defp answered?(text, signature, value) do
    with {:ok, answer, warnings} <- PtcRunner.Agent.answer(text, signature),
         do: answer === value and Enum.all?(warnings, &(&1 =~ "took the last of")),
         else: (_error -> false)
  end

  defp texts do
    (for(%{text: text} <- Vectors.read("json_parser"), do: text) ++
       for(%{f: :handle_json_answer, args: [text | _]} <- Vectors.read("json_handler"), do: text))
    |> Enum.filter(&(byte_size(&1) < 1_000))
    |> Enum.uniq()
  end

  defp signatures do
    for %{f: :handle_json_answer, args: [_, agent | _]} <- Vectors.read("json_handler"),
        signature = agent.parsed_signature,
        not match?({:signature, _, :qux}, signature) and is_tuple(signature),
        uniq: true,
        do: signature
  end

  defp verdict(text, signature) do
    case JsonHandler.handle_json_answer(text, Answers.agent(signature), Answers.state()) do
      {:stop, {:ok, step}, _turn, _tokens} -> {:ok, step.return}
      {:continue, _state, turn} -> {:error, turn.result}
    end
  end

  defp fed(stream, chunk) do
    {:cont, stream} = AnswerStream.feed(stream, chunk)
    stream
  end

  defp until_halt(stream, [chunk | chunks], fed) do
    case AnswerStream.feed(stream, chunk) do
      {:cont, stream} -> until_halt(stream, chunks, fed + byte_size(chunk))
      {:halt, {:error, [error]}} -> {fed + byte_size(chunk), error}
    end
  end

  test "a stream that says it took more than came is none" do
    {:cont, stream} = AnswerStream.feed(AnswerStream.new("{a :int}"), ~s({"a": ))
    assert_raise ArgumentError, fn -> AnswerStream.feed(%{stream | taken: 1_000}, "1}") end
  end
end
