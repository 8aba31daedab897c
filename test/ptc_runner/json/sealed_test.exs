defmodule PtcRunner.Json.SealedTest do
  # Paused runs as texts that may be given away: nothing that was changed opens, and each opens once. PTC_SEED repeats a run,
  # PTC_CASES=10 takes ten times as many.
  use ExUnit.Case, async: true

  import Bitwise

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Json.Paused
  alias PtcRunner.Json.Paused.{Base64, Sealed, Used}
  alias PtcRunner.Test.Environment

  doctest Base64
  doctest Sealed
  doctest Used.Ets

  @program ~s({"program": {"op": "let", "name": "a", "value": {"op": "call", "tool": "rate"},
    "in": {"op": "call", "tool": "pay", "args": {"n": {"op": "var", "name": "a"}}}}})

  @invalid {:error, :invalid_seal}

  defp key, do: :crypto.strong_rand_bytes(32)

  defp tools, do: %{"rate" => fn _ -> 7 end, "pay" => {fn %{"n" => n} -> n end, approve: true}}

  defp paused(program \\ @program) do
    {:paused, paused} = Json.run(program, tools: tools())
    paused
  end

  defp looped do
    task = [task: "Pay.", tools: tools(), returns: ":int"]
    {:paused, paused} = Agent.loop(fn _messages -> @program end, task)
    paused
  end

  defmodule Table do
    # As over a database: one table for all nodes, with a unique index.
    @behaviour Used
    @impl true
    def claim(id, %DateTime{}),
      do: if(:ets.insert_new(__MODULE__, {id}), do: :ok, else: :used)
  end

  test "what is opened is what was sealed, and goes on; the text shows nothing" do
    key = key()
    paused = paused()
    text = Paused.seal(paused, [key], bind: {:user, 7}, ttl: 60_000)
    assert text =~ ~r/\A[\w\-]+\z/
    refute Base.url_decode64!(text) =~ "pay"
    assert {:ok, ^paused} = Paused.open(text, [key], bind: {:user, 7})
    {:ok, opened} = Paused.open(text, [key], bind: {:user, 7})
    assert Json.resume(opened, :approve, tools: tools()) == {:ok, 7, %{}, %{}}

    refute Paused.seal(paused, [key], bind: 1, ttl: 9) ==
             Paused.seal(paused, [key], bind: 1, ttl: 9)
  end

  test "a loop too, and neither is taken for the other" do
    key = key()
    loop = looped()
    text = Agent.Paused.seal(loop, [key], bind: "ada", ttl: 60_000)
    assert Agent.Paused.open(text, [key], bind: "ada") == {:ok, loop}
    assert Paused.open(text, [key], bind: "ada") == @invalid
    {:ok, opened} = Agent.Paused.open(text, [key], bind: "ada")
    model = fn _messages -> raise "it is not asked" end
    assert {:ok, %{return: 7}} = Agent.resume(opened, :approve, model: model, tools: tools())

    text = Paused.seal(paused(), [key], bind: "ada", ttl: 60_000)
    assert Agent.Paused.open(text, [key], bind: "ada") == @invalid
  end

  test "memory, answers and messages of every kind come back" do
    key = key()
    memory = %{"t" => {:ok, <<255>>, 1.0e20, ~D[2026-02-28]}, "k" => %{1 => -0.0}}
    tools = Map.put(tools(), "rate", fn _ -> %{at: ~U[2026-02-28 09:00:00Z], n: 1.5} end)
    {:paused, paused} = Json.run(@program, tools: tools, memory: memory)
    text = Paused.seal(paused, [key], bind: nil, ttl: 60_000)
    assert Paused.open(text, [key], bind: nil) == {:ok, paused}
  end

  test "keys rotate: the first seals, any opens" do
    [old, new, other] = keys = for _ <- 1..3, do: key()
    paused = paused()
    text = Paused.seal(paused, [old], bind: 1, ttl: 60_000)
    assert Paused.open(text, [new, old], bind: 1) == {:ok, paused}
    assert Paused.open(text, Enum.reverse(keys), bind: 1) == {:ok, paused}
    assert Paused.open(text, [new, other], bind: 1) == @invalid
    text = Paused.seal(paused, [new, old], bind: 1, ttl: 60_000)
    assert Paused.open(text, [new], bind: 1) == {:ok, paused}
    assert Paused.open(text, [old], bind: 1) == @invalid
  end

  test "it is bound to a term by ===" do
    key = key()
    binds = [7, 7.0, "7", :"7", [7], {7}, nil, %{id: 7}, %{"id" => 7}, {:user, 7}, {:user, 8}]

    for bind <- binds, other <- binds do
      text = Paused.seal(paused(), [key], bind: bind, ttl: 60_000)
      assert match?({:ok, _}, Paused.open(text, [key], bind: other)) == (bind === other)
    end

    # The order in which a map was made does not count.
    large = for n <- 1..100, do: {n, n}
    text = Paused.seal(paused(), [key], bind: Map.new(large), ttl: 60_000)
    again = large |> Enum.reverse() |> Enum.reduce(%{}, fn {k, v}, map -> Map.put(map, k, v) end)
    assert {:ok, _} = Paused.open(text, [key], bind: again)
  end

  test "it ends" do
    key = key()
    text = Paused.seal(paused(), [key], bind: 1, ttl: 600_000)
    assert {:ok, _} = Paused.open(text, [key], bind: 1)
    text = Paused.seal(paused(), [key], bind: 1, ttl: 1)
    Process.sleep(10)
    assert Paused.open(text, [key], bind: 1) == @invalid
    # No time is too long.
    text = Paused.seal(paused(), [key], bind: 1, ttl: 1_000_000_000_000_000_000)
    assert {:ok, _} = Paused.open(text, [key], bind: 1)
  end

  test "wrong options and keys are errors of the application, and no key is shown" do
    secret = "secret of 31 bytes.............."
    paused = paused()
    good = [bind: 1, ttl: 1_000]

    for {keys, opts, message} <- [
          {[], good, "got: an empty list"},
          {secret, good, "got: no list"},
          {[key(), binary_part(secret, 0, 31)], good, "got: one whose element 1 has 31 bytes"},
          {[7], good, "got: one whose element 0 is no binary"},
          {[key() | key()], good, "got: an improper list"},
          {[key()], [ttl: 1], "PtcRunner.Json.Paused.seal/3 needs the option :bind"},
          {[key()], [bind: 1], "PtcRunner.Json.Paused.seal/3 needs the option :ttl"},
          {[key()], [bind: 1, ttl: 0],
           "option :ttl of PtcRunner.Json.Paused.seal/3 must be a positive integer, got: 0"},
          {[key()], [bind: 1, tll: 5], "has no option :tll"}
        ] do
      error = assert_raise ArgumentError, fn -> Paused.seal(paused, keys, opts) end
      assert error.message =~ message
      refute error.message =~ "secret"
    end

    text = Paused.seal(paused, [key()], good)

    assert_raise ArgumentError, ~r/needs the option :bind/, fn ->
      Paused.open(text, [key()], [])
    end

    assert_raise ArgumentError, ~r/keys of/, fn -> Paused.open(text, [], bind: 1) end

    for used <- [String, NoSuchModule, "Used", 7] do
      assert_raise ArgumentError, ~r/must be a module with the function claim\/2/, fn ->
        Paused.open(text, [key()], bind: 1, used: used)
      end
    end

    {:paused, large} =
      Json.run(@program, tools: tools(), memory: %{"m" => :crypto.strong_rand_bytes(6_000_000)})

    assert_raise ArgumentError, ~r/at most 8000000 bytes/, fn ->
      Paused.seal(large, [key()], good)
    end
  end

  describe "no text that was changed opens" do
    test "each bit" do
      key = key()
      text = Paused.seal(paused(), [key], bind: 1, ttl: 60_000)

      for at <- 0..(byte_size(text) - 1), bit <- 0..7 do
        <<before::binary-size(at), byte, rest::binary>> = text
        changed = <<before::binary, bxor(byte, bsl(1, bit)), rest::binary>>
        assert Paused.open(changed, [key], bind: 1) == @invalid
      end
    end

    test "each bit of what the text stands for, each beginning and end" do
      key = key()
      text = Paused.seal(paused(), [key], bind: 1, ttl: 60_000)
      bytes = Base.url_decode64!(text)

      for at <- 0..(bit_size(bytes) - 1) do
        <<before::bitstring-size(at), bit::1, rest::bitstring>> = bytes
        changed = <<before::bitstring, 1 - bit::1, rest::bitstring>>
        assert Paused.open(Base.url_encode64(changed), [key], bind: 1) == @invalid
      end

      for cut <- 1..byte_size(text) do
        assert Paused.open(binary_part(text, 0, byte_size(text) - cut), [key], bind: 1) ==
                 @invalid

        assert Paused.open(binary_part(text, cut, byte_size(text) - cut), [key], bind: 1) ==
                 @invalid
      end

      for more <- ["=", "A", "AAAA", "====", "\n", " ", text],
          changed <- [text <> more, more <> text],
          do: assert(Paused.open(changed, [key], bind: 1) == @invalid)
    end

    test "random splices, of texts of one key and of two" do
      keys = [key(), key()]
      runs = [paused(), paused(String.replace(@program, "\"a\"", "\"b\"")), looped().run]

      texts =
        for run <- runs,
            own <- [keys, Enum.reverse(keys)],
            bind <- [1, 2],
            _again <- 1..2,
            do: Paused.seal(run, own, bind: bind, ttl: 60_000)

      seed = Environment.seed()
      :rand.seed(:exsss, seed)

      for _ <- 1..Environment.cases(2_000) do
        [a, b] = for _ <- 1..2, do: texts |> Enum.random() |> Base.url_decode64!()
        spliced = splice(a, b)

        if spliced not in [a, b] do
          for bind <- [1, 2],
              do:
                assert(
                  Paused.open(Base.url_encode64(spliced), keys, bind: bind) == @invalid,
                  "PTC_SEED=#{seed}"
                )
        end
      end
    end

    test "terms that are no text, random bytes, and large texts, in bounded time" do
      key = key()
      text = Paused.seal(paused(), [key], bind: 1, ttl: 60_000)
      start = binary_part(text, 0, 60)

      for other <- [nil, :x, 7, %{}, [], "", <<1::1>>, ~c"AQ", "AQ", String.duplicate("A", 60)],
          do: assert(Paused.open(other, [key], bind: 1) == @invalid)

      for size <- [10, 100, 1_000, 100_000] do
        bytes = :crypto.strong_rand_bytes(size)
        assert Paused.open(bytes, [key], bind: 1) == @invalid
        assert Paused.open(Base.url_encode64(bytes), [key], bind: 1) == @invalid
        assert Paused.open(Base.url_encode64(<<1, bytes::binary>>), [key], bind: 1) == @invalid
        assert Paused.open(start <> Base.url_encode64(bytes), [key], bind: 1) == @invalid
      end

      # Of a text with no known key, and of one that is too large, only the beginning is read.
      large = String.duplicate("AQID", 25_000_000)
      {:ok, known} = {:ok, start <> large}

      for text <- [large, known] do
        {ms, result} =
          PtcRunner.Test.Room.least_ms(50, fn -> Paused.open(text, [key], bind: 1) end)

        assert result == @invalid
        assert ms < 50
      end
    end

    test "a term that another holder of the key has sealed is checked" do
      key = key()
      map = paused() |> Paused.to_map() |> Map.delete("answered")
      packed = paused().journal

      for term <- [
            nil,
            7,
            %{},
            map,
            {map, nil},
            {%{map | "paused" => 2}, packed},
            {%{map | "calls" => [1]}, packed},
            {%{map | "program" => 7}, packed}
          ] do
        text = Sealed.seal("run", term, [key], [bind: 1, ttl: 60_000], "f/3")
        assert Paused.open(text, [key], bind: 1) == @invalid
      end

      # A journal that is none is found where the run goes on, and no tool is called.
      # No atom is made of it.
      none = %{
        "rate" => fn _ -> raise "called" end,
        "pay" => {fn _ -> raise "called" end, approve: true}
      }

      for journal <- ["none", <<131, 119, 18, "no_atom_of_a_seal_">>] do
        text = Sealed.seal("run", {map, journal}, [key], [bind: 1, ttl: 60_000], "f/3")
        {:ok, opened} = Paused.open(text, [key], bind: 1)

        assert Json.resume(opened, :approve, tools: none) ==
                 {:error, {:execution_error, "The journal of the paused run cannot be read here"}}
      end

      assert_raise ArgumentError, fn -> String.to_existing_atom("no_atom_of_a_seal_") end
    end

    defp splice(a, b) do
      case :rand.uniform(4) do
        1 -> binary_part(a, 0, at(a)) <> last(b, at(b))
        2 -> with(n <- at(b), do: replaced(a, at(a), binary_part(b, 0, n)))
        3 -> at_same(a, b)
        4 -> a |> replaced(at(a), :crypto.strong_rand_bytes(:rand.uniform(8)))
      end
    end

    defp at(bytes), do: :rand.uniform(byte_size(bytes)) - 1
    defp last(bytes, at), do: binary_part(bytes, at, byte_size(bytes) - at)

    # A part of the one in the place that it has in the other.
    defp at_same(a, b) do
      size = min(byte_size(a), byte_size(b))
      from = :rand.uniform(size) - 1
      length = :rand.uniform(size - from)
      replaced(a, from, binary_part(b, from, length))
    end

    defp replaced(bytes, at, part) do
      rest = max(byte_size(bytes) - at - byte_size(part), 0)
      binary_part(bytes, 0, at) <> part <> binary_part(bytes, byte_size(bytes) - rest, rest)
    end
  end

  test "each row of the guide's table is tried in the guide, whose blocks are run" do
    text = File.read!("guides/tools_under_control.md")
    [_before, section] = String.split(text, "## Attacks, and what happens")
    rows = Regex.scan(~r/^\| (\d+) \| [^|]+ \| [^|]+ \|$/m, section, capture: :all_but_first)
    tried = Regex.scan(~r/^# (\d+)\n[^`]*?^# => /m, section, capture: :all_but_first)
    assert rows == tried
    assert List.flatten(rows) == Enum.map(1..11, &Integer.to_string/1)
  end

  describe "once" do
    test "a text that was used is refused; one that is shown is not used" do
      key = key()
      text = Paused.seal(paused(), [key], bind: 1, ttl: 60_000)
      for _ <- 1..3, do: assert({:ok, _} = Paused.open(text, [key], bind: 1))
      assert {:ok, _} = Paused.open(text, [key], bind: 1, used: Used.Ets)
      for _ <- 1..3, do: assert(Paused.open(text, [key], bind: 1, used: Used.Ets) == @invalid)
    end

    test "who may not open it does not use it up" do
      key = key()
      text = Paused.seal(paused(), [key], bind: 1, ttl: 60_000)
      assert Paused.open(text, [key], bind: 2, used: Used.Ets) == @invalid
      assert Paused.open(text <> "AAAA", [key], bind: 1, used: Used.Ets) == @invalid
      assert {:ok, _} = Paused.open(text, [key], bind: 1, used: Used.Ets)
    end

    test "one of many that open it at once" do
      :ets.new(Table, [:named_table, :public, :set])
      key = key()

      for used <- [Used.Ets, Table], _ <- 1..20 do
        text = Paused.seal(paused(), [key], bind: 1, ttl: 60_000)
        open = fn _ -> Paused.open(text, [key], bind: 1, used: used) end

        results =
          1..20
          |> Task.async_stream(open, max_concurrency: 20, timeout: :infinity)
          |> Enum.map(&elem(&1, 1))

        assert Enum.count(results, &match?({:ok, _}, &1)) == 1
        assert Enum.count(results, &(&1 == @invalid)) == 19
      end
    end

    test "a full table refuses, and forgets only what has expired" do
      table = :ets.new(:used, [:ordered_set, :public])
      now = System.system_time(:millisecond)

      # No time of this test is nearer than a minute to a limit: the machine may stand still for some seconds.
      id = fn n -> {now + 600_000, <<n::160>>} end
      assert for(n <- 1..3, do: Used.Ets.claim(table, id.(n), 3)) == [:ok, :ok, :ok]

      log =
        ExUnit.CaptureLog.capture_log(fn ->
          assert for(n <- [4, 1], do: Used.Ets.claim(table, id.(n), 3)) == [:used, :used]
        end)

      assert log =~ "the table of used texts is full (3)"
      assert Used.Ets.claim(table, id.(4), 4) == :ok

      # Those that expired make room; not within five minutes, because a clock may be set back.
      table = :ets.new(:used, [:ordered_set, :public])
      for n <- 1..3, do: Used.Ets.claim(table, {now - 200_000, <<n::160>>}, 9)
      assert :ets.info(table, :size) == 3
      for n <- 1..3, do: Used.Ets.claim(table, {now - 400_000, <<n::160>>}, 9)
      assert Used.Ets.claim(table, id.(1), 4) == :ok
      assert :ets.info(table, :size) == 4
    end

    test "a module that raises lets nothing through" do
      defmodule Down do
        @behaviour Used
        @impl true
        def claim(_id, _until), do: raise("no connection")
      end

      key = key()
      text = Paused.seal(paused(), [key], bind: 1, ttl: 60_000)
      assert_raise RuntimeError, fn -> Paused.open(text, [key], bind: 1, used: Down) end
    end
  end
end
