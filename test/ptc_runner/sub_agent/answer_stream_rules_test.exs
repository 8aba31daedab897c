defmodule PtcRunner.SubAgent.AnswerStreamRulesTest do
  @moduledoc "Rules of types, unions, names and structs in streams: found at the end of the value, and never too early."
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.AnswerStream
  alias PtcRunner.Test.Answers

  defp signature(type), do: {:signature, [], type}
  defp of_a(type), do: signature({:map, [{"a", type}]})

  # How many bytes were fed, and the error.
  defp halt(signature, text) do
    stream = AnswerStream.new(signature)

    text
    |> Answers.cut([1])
    |> Enum.reduce_while({stream, 0}, fn chunk, {stream, fed} ->
      case AnswerStream.feed(stream, chunk) do
        {:cont, stream} -> {:cont, {stream, fed + byte_size(chunk)}}
        {:halt, {:error, [error]}} -> {:halt, {:halted, fed + byte_size(chunk), error}}
      end
    end)
  end

  defp finish(signature, text) do
    {:cont, stream} = AnswerStream.feed(AnswerStream.new(signature, halt: :certain), text)
    AnswerStream.finish(stream)
  end

  # Of each kind: the type, a value that is right, and one that is wrong up to the byte where it is known.
  @kinds [
    {{:where, :int, [min: 1]}, "1", "0,"},
    {{:where, :int, [max: 5]}, "5", "99999999999999999999,"},
    {{:where, :float, [exclusive_min: 0]}, "0.5", "-0.0 "},
    {{:where, :float, [exclusive_max: 1]}, "0.99", "1e0}"},
    {{:where, :float, [multiple_of: 0.1]}, "0.3", "0.35}"},
    {{:where, :string, [min_length: 2]}, ~s("äö"), ~s("ä")},
    {{:where, :string, [max_length: 1]}, ~s("ä"), ~s("ab")},
    {{:where, :string, [pattern: "^[A-Z]+$"]}, ~s("AB"), ~s("Ab")},
    {{:where, :string, [format: :uuid]}, ~s("f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
     ~s("f81d4fae")},
    {{:where, :string, [enum: ["open", "paid"]]}, ~s("open"), ~s("lost")},
    {{:where, :int, [enum: [1, 3]]}, "3", "2}"},
    {{:where, :keyword, [enum: [:open, nil]]}, ~s("open"), ~s("opem")},
    {{:where, :any, [enum: [1, "a", true, nil]]}, "null", "false"},
    {{:where, {:list, :int}, [min_items: 1]}, "[1]", "[]"},
    {{:where, {:list, :int}, [max_items: 1]}, "[1]", "[1,2]"},
    {{:where, {:list, :any}, [max_items: 1]}, "[1]", "[1,{"},
    {{:where, {:list, :float}, [unique: true]}, "[1,2]", "[1,1.0]"},
    {{:where, {:list, :string}, [unique: true]}, ~s(["1","2"]), ~s(["1","1")},
    {:date, ~s("2024-02-29"), ~s("2023-02-29")},
    {:datetime, ~s("2024-02-29T10:00:00Z"), ~s("2024-02-29T10:00:00")},
    {:decimal, ~s("12.50"), ~s("many")},
    {{:where, :decimal, [max: 9]}, "9.0", "9.5}"},
    {{:map_of, {:where, :int, [min: 1]}}, ~s({"x": 1}), ~s({"x": 1, "y": 0})},
    {{:one_of, [:int, {:list, :int}], nil}, "[1]", ~s([")},
    {{:one_of, [:int, :bool], nil}, "1", ~s("x")},
    {{:one_of, [:int, :date], nil}, ~s("2024-02-29"), ~s("2024")},
    {{:defs, %{"S" => {:where, :string, [enum: ["a"]]}}, {:list, {:ref, "S"}}}, ~s(["a"]),
     ~s(["b")},
    {{:struct, Range, {:map, [{"first", {:where, :int, [min: 0]}}]}}, ~s({"first": 0}),
     ~s({"first": -1})}
  ]

  test "each rule halts at the end of its value, with the message of the whole answer" do
    for {type, right, wrong} <- @kinds do
      whole = ~s({"a": #{right}})
      assert {%AnswerStream{}, _} = halt(of_a(type), whole)
      assert {type, {:ok, %{}}} = {type, finish(of_a(type), whole)}

      text = ~s({"a": ) <> wrong
      assert {type, {:halted, fed, error}} = {type, halt(of_a(type), text)}
      assert {type, fed} == {type, byte_size(text)}

      # The answer goes on, with what is open closed.
      closed =
        cond do
          String.ends_with?(wrong, "{") -> "}]}"
          String.ends_with?(wrong, [",", " "]) -> ~s( "b": 1})
          String.ends_with?(wrong, "}") and not String.starts_with?(wrong, "{") -> ""
          wrong == ~s([") -> ~s(x"]})
          String.starts_with?(wrong, "[") and not String.ends_with?(wrong, "]") -> "]}"
          true -> "}"
        end

      rest = if String.ends_with?(wrong, " "), do: ", " <> closed, else: closed
      assert {type, {:error, errors}} = {type, finish(of_a(type), text <> rest)}
      assert {type, error.path} == {type, hd(errors).path}
      if wrong != "[1,{", do: assert({type, error} == {type, hd(errors)})
    end
  end

  test "texts with escapes are left to the end" do
    type = {:where, :string, [enum: ["a"]]}
    text = ~S({"a": "\u0061"})
    assert {%AnswerStream{}, _} = halt(of_a(type), text)
    assert finish(of_a(type), text) == {:ok, %{"a" => "a"}}
    assert {%AnswerStream{}, _} = halt(of_a(type), ~S({"a": "\u0062"}))
    assert {:error, [_]} = finish(of_a(type), ~S({"a": "\u0062"}))
  end

  test "of equal keys the first one counts" do
    type = {:map_of, :int}
    text = ~s({"a": {"x": 1, "x": "no", "y-z": "no", "y_z": 1}})
    {ended, _} = halt(of_a(type), ~s({"a": {"x": 1, "x": "no"}}))
    assert %AnswerStream{} = ended
    assert {:ok, %{"a" => %{"x" => 1}}} = finish(of_a(type), ~s({"a": {"x": 1, "x": "no"}}))
    assert {%AnswerStream{}, _} = halt(of_a(type), text)
  end

  @circle {:map, [{"kind", {:where, :string, [enum: ["circle"]]}}, {"radius", :float}]}
  @square {:map, [{"kind", {:where, :string, [enum: ["square"]]}}, {"side", :float}]}

  test "a union goes on with the types that are left" do
    shapes = signature({:map, [{"shapes", {:list, {:one_of, [@circle, @square], "kind"}}}]})
    right = ~s({"shapes": [{"kind": "circle", "radius": 1}, {"side": 2, "kind": "square"}]})
    assert {%AnswerStream{}, _} = halt(shapes, right)
    assert {:ok, _} = finish(shapes, right)

    # After the kind is known, the field's own error.
    text = ~s({"shapes": [{"kind": "square", "side": ")
    size = byte_size(text)

    assert {:halted, ^size, %{path: ["shapes", 0, "side"], message: "expected float, got string"}} =
             halt(shapes, text)

    text = ~s({"shapes": [{"kind": "line")
    size = byte_size(text)
    assert {:halted, ^size, %{path: ["shapes", 0]}} = halt(shapes, text)
    missing = ~s({"shapes": [{"kind": "circle"})
    size = byte_size(missing)
    assert {:halted, ^size, %{path: ["shapes", 0, "radius"]}} = halt(shapes, missing)
  end

  test "names that contain themselves are followed to any depth" do
    names = %{
      "E" => {:one_of, [{:ref, "N"}, {:ref, "Add"}], "op"},
      "N" => {:map, [{"op", {:where, :string, [enum: ["n"]]}}, {"v", {:where, :int, [min: 0]}}]},
      "Add" =>
        {:map,
         [{"op", {:where, :string, [enum: ["add"]]}}, {"a", {:ref, "E"}}, {"b", {:ref, "E"}}]}
    }

    type = signature({:defs, names, {:map, [{"e", {:ref, "E"}}]}})
    n = &~s({"op": "n", "v": #{&1}})
    add = &~s({"op": "add", "a": #{&1}, "b": #{&2}})
    assert {%AnswerStream{}, _} = halt(type, ~s({"e": #{add.(n.(1), add.(n.(2), n.(3)))}}))
    deep = Enum.reduce(1..200, n.(-1), fn _, inner -> add.(n.(0), inner) end)

    assert {:halted, fed, %{message: "expected at least 0, got -1"}} =
             halt(type, ~s({"e": #{deep}}))

    assert fed ==
             byte_size(~s({"e": )) + 200 * byte_size(~s({"op": "add", "a": , "b": ) <> n.(0)) +
               byte_size(n.(-1))

    # The kind comes last: the types are tried at the same time.
    late = ~s({"e": {"a": {"v": 1, "op": "n"}, "b": {"v": 2, "op": "n"}, "op": "add"}})
    assert {%AnswerStream{}, _} = halt(type, late)
    assert {:ok, _} = finish(type, late)
  end

  test "a root with rules is a list like any other" do
    rows = signature({:where, {:list, {:where, :int, [max: 3]}}, [max_items: 2]})
    assert finish(rows, "[1, 2]") == {:ok, [1, 2]}
    assert finish(rows, ~s({"items": [1, 2]})) == {:ok, [1, 2]}
    assert {:halted, _, %{path: [1], message: "expected at most 3, got 4"}} = halt(rows, "[1,4,")

    assert {:halted, _, %{path: [], message: "expected at most 2 items, got 3"}} =
             halt(rows, ~s({"items": [1,2,3,))
  end

  test "many unions and long patterns take no longer than others" do
    union = {:one_of, for(n <- 1..32, do: {:map, [{"f#{n}", {:optional, :int}}]}), nil}
    rows = signature({:map, [{"rows", {:list, union}}]})
    text = ~s({"rows": [) <> Enum.map_join(1..5_000, ",", &~s({"f1": #{&1}})) <> "]}"
    assert {:ok, %{"rows" => [_ | _]}} = finish(rows, text)
    pattern = of_a({:where, :string, [pattern: "^(a|b|ab)*c$"]})
    assert {:error, [_]} = finish(pattern, ~s({"a": "#{String.duplicate("ab", 40_000)}"}))
  end

  # Random types and values: a stream halts only if the whole answer is wrong.
  test "the verdict is that of the whole answer" do
    seed = String.to_integer(System.get_env("PTC_SEED") || "28")
    cases = 2_000 * String.to_integer(System.get_env("PTC_CASES") || "1")
    :rand.seed(:exsss, {seed, 28, 5})

    counts =
      for _ <- 1..cases, reduce: %{ok: 0, early: 0, late: 0} do
        counts ->
          type = {:map, [{"a", random_type(3)}, {"b", {:optional, random_type(2)}}]}
          value = of_type(type, %{})
          text = value |> encode() |> IO.iodata_to_binary()
          expected = finish(signature(type), text)
          sizes = Enum.random([[1], [3, 1, 7], [byte_size(text)]])

          case Answers.stream(AnswerStream.new(signature(type)), Answers.cut(text, sizes)) do
            {:halted, [error]} ->
              assert {type, text, {:error, errors}} = {type, text, expected}
              assert is_list(errors)
              refute error.message =~ "keeps the rules", inspect({type, text, error, errors})
              Map.update!(counts, :early, &(&1 + 1))

            {:ended, {:ok, _} = ended} ->
              assert {type, text, ended} === {type, text, expected}
              Map.update!(counts, :ok, &(&1 + 1))

            {:ended, {:error, _}} ->
              assert {type, text, :error} == {type, text, elem(expected, 0)}
              Map.update!(counts, :late, &(&1 + 1))
          end
      end

    assert counts.ok > div(cases, 10)
    assert counts.early > div(cases, 4)

    # What is found only at the end is rare: texts with escapes, keys with hyphens, unions whose field decides.
    assert counts.late < div(cases, 10), inspect(counts)
  end

  @scalars [
    :string,
    :int,
    :float,
    :bool,
    :keyword,
    :any,
    :date,
    :datetime,
    :decimal,
    {:where, :int, [min: 0, max: 5]},
    {:where, :float, [exclusive_min: 0]},
    {:where, :float, [multiple_of: 0.5]},
    {:where, :string, [enum: ["open", "paid"]]},
    {:where, :string, [pattern: "^[a-z]+$", max_length: 4]},
    {:where, :string, [format: :date]},
    {:where, :keyword, [enum: [:open, :paid]]},
    {:where, :any, [enum: [1, "open", true]]},
    {:where, :decimal, [max: 5]},
    {:where, :int, [enum: [1, 2]]}
  ]

  defp random_type(0), do: Enum.random(@scalars)

  defp random_type(depth) do
    case :rand.uniform(10) do
      1 ->
        {:list, random_type(depth - 1)}

      2 ->
        {:where, {:list, random_type(0)},
         Enum.random([[unique: true], [min_items: 1, max_items: 2]])}

      3 ->
        {:map, [{"a", random_type(depth - 1)}, {"b", {:optional, random_type(0)}}]}

      4 ->
        {:map_of, random_type(depth - 1)}

      5 ->
        {:one_of, for(_ <- 1..:rand.uniform(3), do: random_type(depth - 1)), nil}

      6 ->
        {:one_of, [@circle, @square, random_type(depth - 1)], "kind"}

      7 ->
        {:defs, %{"T" => {:map, [{"v", random_type(0)}, {"t", {:optional, {:ref, "T"}}}]}},
         {:ref, "T"}}

      8 ->
        {:closed_map, [{"a", random_type(depth - 1)}]}

      _other ->
        random_type(0)
    end
  end

  # Mostly of the type's kind.
  defp random_value(type, names),
    do: if(:rand.uniform(25) == 1, do: junk(), else: of_type(type, names))

  defp of_type(type, names) do
    case type do
      {:optional, type} ->
        if odd?(), do: nil, else: random_value(type, names)

      {:where, type, [enum: values]} ->
        if odd?(), do: text(Enum.random(values)), else: random_value(type, names)

      {:where, type, _rules} ->
        random_value(type, names)

      {:list, type} ->
        for _ <- 1..:rand.uniform(3), do: random_value(type, names)

      {:map_of, type} ->
        for key <- Enum.take_random(["x", "y", "a-b", "a_b"], 2),
            do: {key, random_value(type, names)}

      {:one_of, types, _} ->
        random_value(Enum.random(types), names)

      {:defs, names, type} ->
        random_value(type, names)

      {:ref, name} ->
        random_value(names[name], names)

      {kind, fields} when kind in [:map, :closed_map] ->
        fields(fields, names)

      scalar ->
        scalar(scalar)
    end
  end

  defp fields(fields, names) do
    for {name, type} <- Enum.shuffle(fields),
        not (match?({:optional, _}, type) and odd?()),
        do: {name, random_value(type, names)}
  end

  defp odd?, do: :rand.uniform(2) == 1
  defp text(atom) when is_atom(atom) and atom not in [true, nil], do: Atom.to_string(atom)
  defp text(value), do: value

  defp scalar(:int), do: Enum.random([0, 1, 2, 5, 6, -1, 12_345_678_901_234_567_890])
  defp scalar(:float), do: Enum.random([0, 1, 0.5, 2.25, -1.5, 1.0e30])
  defp scalar(:bool), do: odd?()
  defp scalar(:date), do: Enum.random(["2024-02-29", "2024-02-30", "2024-02-29", "x"])

  defp scalar(:datetime),
    do: Enum.random(["2024-02-29T10:00:00Z", "2024-02-29 10:00:00+02:00", "2024-02-29T10:00:00"])

  defp scalar(:decimal), do: Enum.random(["1.5", " +4", 4, 2.5, "12", ".5", "e"])
  defp scalar(:any), do: junk()

  defp scalar(_text),
    do: Enum.random(["open", "paid", "lost", "2024-02-29", "äöü", "long word", "a\"b", ""])

  defp junk,
    do:
      Enum.random([
        nil,
        true,
        false,
        1,
        2.5,
        "open",
        [],
        [1],
        [{"a", 1}],
        [{"kind", "circle"}, {"radius", 1}]
      ])

  # Objects are lists of pairs, in their order.
  defp encode([{_, _} | _] = pairs),
    do: [
      "{",
      pairs
      |> Enum.map(fn {key, value} -> [inspect(key), ":", encode(value)] end)
      |> Enum.intersperse(","),
      "}"
    ]

  defp encode(list) when is_list(list),
    do: ["[", list |> Enum.map(&encode/1) |> Enum.intersperse(","), "]"]

  defp encode(other), do: PtcRunner.Json.Codec.encode!(other)
end
