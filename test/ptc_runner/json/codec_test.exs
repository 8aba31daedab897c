defmodule PtcRunner.Json.CodecTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Json.Codec
  alias PtcRunner.Json.Codec.{DecodeError, EncodeError}
  alias PtcRunner.Json.Encoder
  alias PtcRunner.Native

  doctest Codec
  doctest Encoder
  doctest EncodeError
  doctest DecodeError

  defmodule Money do
    defstruct [:amount, :note]

    defimpl Encoder do
      def encode(money), do: %{amount: money.amount, note: money.note}
    end
  end

  defmodule Plain do
    defstruct [:a]
  end

  describe "encode" do
    test "integers of any size" do
      for power <- [0, 31, 59, 60, 62, 63, 64, 65, 128, 4_000], sign <- [1, -1], more <- -1..1 do
        integer = sign * Integer.pow(2, power) + more
        assert Codec.encode!(integer) == Integer.to_string(integer)
        assert Codec.decode!(Codec.encode!([integer])) === [integer]
      end
    end

    test "an integer whose digits take long does not hold a scheduler" do
      integer = Integer.pow(2, 100_000)
      assert {:more, _, _} = Native.json_encode(integer, 1_000_000_000, {:infinity, 0})
      assert Codec.encode!(integer) == Integer.to_string(integer)
    end

    test "what takes long does not hold a scheduler, however short its text is" do
      date = ~D[2025-11-20]

      long = [
        Enum.to_list(1..1_000_000),
        String.duplicate("ä\n", 5_000_000),
        Map.new(1..200_000, &{&1, &1})
      ]

      for term <- [List.duplicate(date, 200_000) | long],
          do: assert({:more, _, _} = Native.json_encode(term, 1_000_000_000, {:infinity, 0}))

      assert {:partial, _pieces} =
               Native.json_encode(List.duplicate(date, 100), 1_000_000, {:infinity, 0})

      assert Codec.decode!(Codec.encode!(List.duplicate(date, 5_000))) ==
               List.duplicate("2025-11-20", 5_000)
    end

    test "others go on while long texts are written and read" do
      rows = for n <- 1..100_000, do: %{"id" => n, "name" => "row \#{n}"}
      text = Codec.encode!(rows)

      work =
        Task.async(fn ->
          for _ <- 1..5, do: text |> Codec.decode!() |> Codec.encode!() |> byte_size()
        end)

      ticks = tick_until_done(work, 0)
      assert Task.await(work, 60_000) == List.duplicate(byte_size(text), 5)
      assert ticks > 10
    end

    # The VM takes seconds to write a million digits, and about the square of their number.
    @written if PtcRunner.Test.Environment.many?(), do: 1_000_000, else: 200_000

    test "integers of a million digits, and no more" do
      integer = Integer.pow(10, @written - 1)
      text = Codec.encode!(integer)
      assert byte_size(text) == @written
      assert Codec.decode!(text) == integer

      text = "1" <> String.duplicate("0", 999_999)
      assert Codec.decode!(text) == Integer.pow(10, 999_999)

      assert {:error, %DecodeError{reason: :integer_too_long, position: 0}} =
               Codec.decode(text <> "0")
    end

    test "an integer whose digits take longer than the time that is left" do
      integer = Integer.pow(10, 299_999)
      expected = %EncodeError{reason: :timeout, limit: 1}
      assert Codec.encode(integer, timeout: 1) == {:error, expected}
    end

    test "a small term whose text has no end is refused" do
      endless = Enum.reduce(1..200, [1], fn _, below -> [below, below] end)
      expected = %EncodeError{reason: :too_long, limit: 10_000_000}
      opts = [max_bytes: 10_000_000, timeout: 60_000]
      assert Codec.encode(endless, opts) == {:error, expected}
      assert Exception.message(expected) == "the text is longer than 10000000 bytes"

      assert Codec.encode("abcdefgh", max_bytes: 10) == {:ok, ~s("abcdefgh")}
      assert {:error, %EncodeError{reason: :too_long}} = Codec.encode("abcdefghi", max_bytes: 10)
    end

    test "nobody is waited for" do
      # A copy of the term would have no end either: the process makes it itself.
      {pid, monitor} =
        spawn_monitor(fn ->
          endless = Enum.reduce(1..200, [1], fn _, below -> [below, below] end)
          Codec.encode(endless, max_bytes: Integer.pow(2, 40), timeout: 60_000)
        end)

      Process.sleep(20)
      Process.exit(pid, :kill)
      assert_receive {:DOWN, ^monitor, _, _, :killed}

      # Its thread is free again soon: as many dirty calls as there are threads get through.
      calls =
        for _ <- 1..(2 * System.schedulers_online()),
            do: Task.async(fn -> Codec.encode!(Enum.to_list(1..50_000)) end)

      assert length(Task.await_many(calls, 60_000)) == length(calls)
    end

    test "floats" do
      for {float, text} <- [
            {0.0, "0.0"},
            {-0.0, "-0.0"},
            {5.0e-324, "5.0e-324"},
            {1.0e22, "1.0e22"}
          ],
          do: assert(Codec.encode!(float) == text)
    end

    test "every byte and every character that is special, at every place of a word" do
      for before <- 0..17,
          char <- Enum.concat(0..0x7F, [0x80, 0x7FF, 0x800, 0xD7FF, 0xFFFF, 0x10FFFF]) do
        string = String.duplicate("a", before) <> <<char::utf8>> <> "b"
        text = Codec.encode!(string)
        assert Codec.decode!(text) == string
        if char in 0x20..0x7F and char not in [?", ?\\], do: assert(text == ~s("#{string}"))
      end
    end

    test "invalid UTF-8 is an error that says where" do
      for before <- [0, 1, 7, 8, 30, 50, 100],
          bad <- [<<0x80>>, <<0xC0, 0x80>>, <<0xED, 0xA0, 0x80>>, <<0xF5>>, <<0xE2, 0x82>>],
          behind <- ["", "b", String.duplicate("b", 40)] do
        string = String.duplicate("a", before) <> bad <> behind
        expected = %EncodeError{reason: :not_utf8, value: string, position: before}
        assert Codec.encode([string]) == {:error, expected}
        assert Codec.encode(%{"a" => %{string => 1}}) == {:error, expected}
        assert_raise EncodeError, Exception.message(expected), fn -> Codec.encode!(string) end
      end
    end

    test "parts of binaries, and long ones" do
      long = String.duplicate("äx", 50_000)
      assert Codec.encode!(long) == ~s("#{long}")
      <<_::binary-size(3), part::binary-size(11), _::binary>> = long
      assert Codec.encode!([part, part]) == ~s(["#{part}","#{part}"])
    end

    test "atoms" do
      longest = String.to_atom(String.duplicate("ü", 255))
      atoms = [:ok, String, :"", :"a\"b", :Grüße, :日本, longest]
      assert Codec.decode!(Codec.encode!(atoms)) == Enum.map(atoms, &Atom.to_string/1)

      map = Map.new(atoms, &{&1, &1})
      twice = Codec.decode!(Codec.encode!([map, map]))
      assert twice == List.duplicate(Map.new(atoms, &{"#{&1}", "#{&1}"}), 2)
      text = Codec.encode!(%{nil: nil, true: false})
      assert Codec.decode!(text) == %{"nil" => nil, "true" => false}
    end

    test "keys of every kind, short and long" do
      big = Integer.pow(10, 40)
      long = String.duplicate("k", 100)
      map = %{1 => 1, -2.5 => 2, big => 3, long => 4, "" => 5, a: 6}
      expected = %{"1" => 1, "-2.5" => 2, "#{big}" => 3, long => 4, "" => 5, "a" => 6}
      assert Codec.decode!(Codec.encode!([map, map])) == [expected, expected]
    end

    # The word of -1 on the BEAM has all bits set.
    test "keys that are small integers" do
      for n <- Enum.concat(-300..300, [-(2 ** 59), 2 ** 59 - 1, -(2 ** 63), 2 ** 64 - 1]) do
        assert Codec.encode(%{n => n}) == {:ok, ~s({"#{n}":#{n}})}
      end
    end

    test "maps of every size" do
      for size <- Enum.concat(0..40, [100, 1_000, 100_000]) do
        map = Map.new(1..size//1, &{"key #{&1}", &1})
        assert Codec.decode!(Codec.encode!(map)) == map
      end
    end

    test "long lists" do
      list = Enum.to_list(1..100_000)
      assert Codec.encode!(list) == "[#{Enum.join(list, ",")}]"
    end

    test "deep nesting, in lists and maps" do
      for depth <- [1_000, 300_000] do
        lists = Enum.reduce(1..depth, [], fn _, below -> [below] end)
        text = String.duplicate("[", depth + 1) <> String.duplicate("]", depth + 1)
        assert Codec.encode!(lists) == text
        assert Codec.decode!(text) == lists

        maps = Enum.reduce(1..depth, 1, fn _, below -> %{"a" => below} end)
        assert Codec.decode!(Codec.encode!(maps)) == maps
      end
    end

    test "what JSON has no form for, however deep it stands" do
      port = Port.open({:spawn, "true"}, [])

      for value <- [
            {},
            {1, 2},
            self(),
            make_ref(),
            port,
            &is_nil/1,
            <<1::7>>,
            [1 | 2],
            %Plain{},
            1..2
          ],
          wrap <- [& &1, &[&1], &%{a: &1}, &[1, %{"b" => [[2, &1]]}, 3], &deep/1] do
        assert {:error, %Protocol.UndefinedError{protocol: Encoder, value: ^value}} =
                 Codec.encode(wrap.(value))

        assert_raise Protocol.UndefinedError, fn -> Codec.encode!(wrap.(value)) end
      end
    end

    test "keys that are none" do
      for key <- [{1}, [], ~c"a", %{}, self(), ~D[2025-01-01], %Plain{}, <<1::7>>] do
        large = Map.new(1..50, &{&1, &1})

        for map <- [%{key => 1}, Map.put(large, key, 1)],
            do: assert({:error, %Protocol.UndefinedError{value: ^key}} = Codec.encode([map]))
      end
    end

    test "structs by their encoding, also within another and among many" do
      inner = %Money{amount: 1, note: ~D[2025-11-20]}
      # The order of atom keys is the VM's own since OTP 26.
      written = &Codec.decode!(Codec.encode!(&1))
      plain = %{"amount" => 1, "note" => "2025-11-20"}
      assert written.(inner) == plain

      assert written.(%Money{amount: inner, note: [inner]}) ==
               %{"amount" => plain, "note" => [plain]}

      many = List.duplicate(%{"a" => inner, "b" => 1}, 3_000)
      assert written.(many) == List.duplicate(%{"a" => plain, "b" => 1}, 3_000)
    end

    test "dates and times are ISO 8601" do
      {:ok, utc, 0} = DateTime.from_iso8601("2025-11-20T06:27:00.120Z")
      times = [~D[2025-11-20], ~T[06:27:00.5], ~N[2025-11-20 06:27:00], utc]

      assert Codec.decode!(Codec.encode!(times)) ==
               Enum.map(times, & &1.__struct__.to_iso8601(&1))
    end

    test "a map with a key :__struct__ that names no module is a map" do
      assert Codec.encode!(%{:__struct__ => 5, "a" => 1}) == ~s({"__struct__":5,"a":1})
    end

    test "of equal keys both are written, and the first one is read" do
      text = Codec.encode!(%{:a => 1, "a" => 2})
      assert text == ~s({"a":1,"a":2})
      assert Codec.decode!(text) == %{"a" => 1}
    end

    test "from many processes at once" do
      term = for n <- 1..2_000, do: %{"n" => n, "s" => "row #{n}"}
      text = Codec.encode!(term)
      tasks = for _ <- 1..50, do: Task.async(fn -> Codec.encode!(term) == text end)
      assert Enum.all?(Task.await_many(tasks, 60_000))
    end
  end

  describe "decode" do
    test "equal keys of many objects are one binary" do
      [%{} = first, %{} = second] =
        Codec.decode!(~s([{"a long enough key":1},{"a long enough key":2}]))

      assert :erts_debug.same(hd(Map.keys(first)), hd(Map.keys(second)))
    end

    test "repeated keys, once and in every object" do
      object = ~s({"b":1,"a":2,"b":3,"a":4})

      for count <- 1..4 do
        text = "[#{Enum.map_join(1..count, ",", fn _ -> object end)}]"
        assert Codec.decode!(text) == List.duplicate(%{"a" => 2, "b" => 1}, count)
      end
    end

    test "more keys than are remembered" do
      object = Map.new(1..5_000, &{"key #{&1}", &1})
      assert Codec.decode!(Codec.encode!([object, object])) == [object, object]

      rows = for n <- 1..3_000, do: %{"row #{n}" => n, "id" => n, "key #{rem(n, 7)}" => 1}
      assert Codec.decode!(Codec.encode!(rows)) == rows
    end

    test "no atom is made" do
      name = "qzx_codec_#{System.unique_integer([:positive])}"
      assert %{^name => [^name]} = Codec.decode!(~s({"#{name}":["#{name}"]}))
      assert_raise ArgumentError, fn -> String.to_existing_atom(name) end
    end

    test "the limit of nesting, exactly" do
      for depth <- [0, 1, 5, 100] do
        text = String.duplicate("[", depth) <> "1" <> String.duplicate("]", depth)
        assert {:ok, _} = Codec.decode(text, depth: depth)
        assert {:ok, _} = Codec.decode(text, depth: Integer.pow(2, 70))

        if depth > 0 do
          expected = %DecodeError{reason: :too_deep, limit: depth - 1, position: depth - 1}
          assert Codec.decode(text, depth: depth - 1) == {:error, expected}
        end
      end

      for wrong <- [-1, nil, 1.5],
          do: assert_raise(ArgumentError, fn -> Codec.decode("1", depth: wrong) end)
    end

    test "errors in short and long texts" do
      for pad <- [0, 100, 100_000] do
        pad = String.duplicate(" ", pad)
        at = byte_size(pad)

        assert Codec.decode(pad <> "[1,]") ==
                 {:error, %DecodeError{reason: :unexpected_token, position: at + 3}}

        assert Codec.decode(pad <> "[1") ==
                 {:error, %DecodeError{reason: :unexpected_end, position: at + 2}}

        assert {:error, %DecodeError{}} = Codec.decode(pad <> ~s(["a\xFF"]))
      end
    end

    test "the earthquakes" do
      text = File.read!("examples/data/earthquakes.json")
      term = Codec.decode!(text)
      assert length(term["features"]) == term["metadata"]["count"]
      assert Codec.decode!(Codec.encode!(term)) === term
    end
  end

  # Counts how often this process gets to run.
  defp tick_until_done(task, ticks) do
    Process.sleep(1)
    if Process.alive?(task.pid), do: tick_until_done(task, ticks + 1), else: ticks
  end

  defp deep(value), do: Enum.reduce(1..10_000, value, fn _, below -> [below] end)
end
