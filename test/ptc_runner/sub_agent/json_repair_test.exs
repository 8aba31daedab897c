defmodule PtcRunner.SubAgent.JsonRepairTest do
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.{JsonParser, Signature}
  alias PtcRunner.SubAgent.JsonRepair.Sentence
  alias PtcRunner.Test.Vectors

  # Faults that no one sees who does not know the type.
  @typed ~w(camel_keys bare_element stringified quoted_scalars)

  describe "2,810 broken answers, 1,680 of them here" do
    # Not in the context of the tests: ExUnit copies that to each formatter, whose heaps make each change of code in the VM slow.
    defp cases, do: Vectors.read("answer_repair")

    test "with the signature: 98 % restored, at most 0.5 % wrong" do
      cases = cases()

      {restored, wrong, all} =
        measure(cases, &JsonParser.repair(&1.text, &1.signature, truncated: :complete))

      assert restored / all >= 0.98, "restored #{restored} of #{all}"
      assert wrong / all <= 0.005, "wrong #{wrong} of #{all}"
    end

    test "without, of the faults of syntax: 85 % restored, at most 3 % wrong" do
      cases = Enum.reject(cases(), fn %{kind: kind} -> String.contains?(kind, @typed) end)

      {restored, wrong, all} =
        measure(cases, &JsonParser.repair(&1.text, nil, truncated: :complete))

      assert restored / all >= 0.85, "restored #{restored} of #{all}"
      assert wrong / all <= 0.03, "wrong #{wrong} of #{all}"
    end

    test "each kind: 90 % restored with the signature" do
      cases = cases()

      for {kind, cases} <- Enum.group_by(cases, & &1.kind) do
        {restored, _wrong, all} =
          measure(cases, &JsonParser.repair(&1.text, &1.signature, truncated: :complete))

        assert restored / all >= 0.9, "#{kind}: restored #{restored} of #{all}"
      end
    end

    test "what is repaired is of the type, and told" do
      cases = cases()

      for %{text: text, signature: signature} <- cases,
          {:ok, value, repairs} <- [JsonParser.repair(text, signature)] do
        {:ok, parsed} = Signature.parse(signature)
        assert Signature.validate(parsed, value) == :ok
        assert repairs != [] or JsonParser.parse(text) == {:ok, value}

        for repair <- repairs do
          assert %{kind: kind, line: line, column: column, path: path, message: message} = repair
          assert is_atom(kind) and is_list(path)
          assert String.starts_with?(message, "line #{line}, column #{column}: ")
        end
      end
    end

    defp measure(cases, repair) do
      outcomes =
        Enum.frequencies_by(cases, fn %{expect: expect} = case ->
          case repair.(case) do
            {:ok, ^expect, _repairs} -> :restored
            {:ok, _other, _repairs} -> :wrong
            {:error, _reason} -> :refused
          end
        end)

      {Map.get(outcomes, :restored, 0), Map.get(outcomes, :wrong, 0), length(cases)}
    end
  end

  describe "right texts" do
    test "give what parse/1 gives" do
      for %{text: text} <- Vectors.read("json_parser") do
        case JsonParser.parse(text) do
          {:ok, value} -> assert {text, JsonParser.repair(text)} == {text, {:ok, value, []}}
          {:error, _reason} -> assert elem(JsonParser.repair(text), 0) in [:ok, :error]
        end
      end
    end

    test "that are not of the type, and cannot be, give it too" do
      for text <- [~s({"n": "x"}), ~s({}), ~s({"n": null}), ~s([1])] do
        {:ok, value} = JsonParser.parse(text)
        assert JsonParser.repair(text, "{n :int}") == {:ok, value, []}
      end
    end
  end

  # Each kind: its name, the type or nil, a text, the value, where it is and what is said.
  @kinds [
    {:missing_comma, nil, ~s({"a": 1 "b": 2}), %{"a" => 1, "b" => 2}, ["a"],
     ~s(line 1, column 8: added a comma after "a")},
    {:extra_comma, nil, ~s([1,, 2]), [1, 2], [0],
     "line 1, column 4: left out a comma after element [0]"},
    {:trailing_comma, nil, ~s({"t": [1,]}), %{"t" => [1]}, ["t"],
     ~s(line 1, column 9: left out the last comma in "t")},
    {:semicolon, nil, ~s([1; 2]), [1, 2], [0],
     "line 1, column 3: read ; as a comma after element [0]"},
    {:missing_colon, nil, ~s({"a" 1}), %{"a" => 1}, ["a"],
     ~s(line 1, column 5: added a colon after "a")},
    {:wrong_colon, nil, ~s({"a" => 1}), %{"a" => 1}, ["a"],
     ~s(line 1, column 6: read => as a colon after "a")},
    {:comment, nil, "{\"a\": 1 // one\n}", %{"a" => 1}, [],
     ~s(line 1, column 9: left out the comment "// one")},
    {:ellipsis, nil, "[1, ...]", [1], [], "line 1, column 5: left out ..."},
    {:missing_close, nil, ~s({"a": [1}), %{"a" => [1]}, nil, nil},
    {:missing_close, nil, ~s({"a": {"b": "x"), %{"a" => %{"b" => "x"}}, ["a"],
     ~s(line 1, column 16: added the bracket that closes "a")},
    {:missing_open, nil, ~s("a": 1}), %{"a" => 1}, [],
     "line 1, column 1: added the bracket that opens the answer"},
    {:extra_close, "{a {x :int}, b :int}", ~s({"a": {"x": 1}}, "b": 2}),
     %{"a" => %{"x" => 1}, "b" => 2}, [], "line 1, column 15: left out a } that closes nothing"},
    {:extra_open, "{a :int}", ~s({{"a": 1}}), %{"a" => 1}, [],
     "line 1, column 2: left out a { too many"},
    {:single_quotes, nil, ~s({"a": 'x'}), %{"a" => "x"}, ["a"],
     ~s(line 1, column 7: read ' as a double quote at "a")},
    {:smart_quotes, nil, ~s({"a": “x”}), %{"a" => "x"}, ["a"],
     ~s(line 1, column 7: read “ as a double quote at "a")},
    {:triple_quotes, nil, ~s({"a": """x"""}), %{"a" => "x"}, ["a"],
     ~s(line 1, column 7: read """ as a double quote at "a")},
    {:missing_start_quote, nil, ~s({"a": it's x"}), %{"a" => "it's x"}, ["a"],
     ~s(line 1, column 7: added the quotes around "it's x")},
    {:missing_end_quote, nil, ~s({"a": "x, "b": 1}), %{"a" => "x", "b" => 1}, ["a"],
     ~s(line 1, column 9: added the quote that ends "a")},
    {:inner_quote, nil, ~s({"a": "x "y" z"}), %{"a" => ~s(x "y" z)}, ["a"],
     ~s(line 1, column 10: escaped a quote inside "a")},
    {:control_character, nil, "{\"a\": \"x\ny\"}", %{"a" => "x\ny"}, ["a"],
     ~s(line 1, column 9: escaped a line break or a tab inside "a")},
    {:bad_escape, nil, ~S({"a": "it\'s"}), %{"a" => "it's"}, ["a"],
     ~S(line 1, column 10: mended the escape \' inside "a")},
    {:bare_key, nil, "{a: 1}", %{"a" => 1}, ["a"],
     ~s(line 1, column 2: added quotes around the key "a")},
    {:bare_word, nil, "{\"a\": some words}", %{"a" => "some words"}, ["a"],
     ~s(line 1, column 7: added quotes around "some words")},
    {:foreign_word, nil, "{\"a\": None}", %{"a" => nil}, ["a"],
     ~s(line 1, column 7: read None as JSON has it at "a")},
    {:number_form, nil, "{\"a\": +1}", %{"a" => 1}, ["a"],
     ~s(line 1, column 7: read +1 as a number at "a")},
    {:thousands, nil, "{\"a\": 1,234}", %{"a" => 1234}, ["a"],
     ~s(line 1, column 7: read 1,234 as one number at "a")},
    {:stray_character, nil, "{\"a\": **1**}", %{"a" => 1}, [],
     ~s(line 1, column 7: left out "**")},
    {:key_spelling, "{user_id :int}", ~s({"userId": 1}), %{"user_id" => 1}, ["user_id"],
     ~s(line 1, column 3: read the key "userId" as "user_id")},
    {:quoted_number, "{n :int}", ~s({"n": "1"}), %{"n" => 1}, ["n"],
     ~s(line 1, column 8: coerced string "1" to a number at "n")},
    {:quoted_boolean, "{b :bool}", ~s({"b": "true"}), %{"b" => true}, ["b"],
     ~s(line 1, column 8: coerced string "true" to boolean at "b")},
    {:stringified, "{l [:int]}", ~s({"l": "[1]"}), %{"l" => [1]}, ["l"],
     ~s(line 1, column 8: read the string at "l" as JSON)},
    {:leftover, nil, "```json\n{\"a\": 1}}\n```", %{"a" => 1}, [],
     "line 2, column 9: left out what follows the answer"},
    {:bare_element, "{l [:int]}", ~s({"l": 1}), %{"l" => [1]}, ["l"],
     ~s(line 1, column 7: read "l" as a list of one element)}
  ]

  for {{kind, type, text, value, path, message}, index} <- Enum.with_index(@kinds) do
    @tag kind: kind, type: type, text: text, value: value, path: path, message: message
    test "kind #{index}: #{kind}", tag do
      assert {:ok, value, repairs} = JsonParser.repair(tag.text, tag.type)
      assert value === tag.value

      if tag.message do
        assert %{path: path, message: message} = Enum.find(repairs, &(&1.kind == tag.kind))
        assert {path, message} == {tag.path, tag.message}
      else
        assert repairs != []
      end
    end
  end

  test "every kind has its words" do
    for kind <- Enum.map(@kinds, &elem(&1, 0)),
        do: assert(IO.iodata_length(Sentence.text(kind, "x", [])) > 0)
  end

  describe "refusals" do
    test "where different values are as likely" do
      assert {:error, {:ambiguous, [%{line: 2, column: 5}]}} =
               JsonParser.repair("{\"a\": 1,}\nor: {\"a\": 2,}", "{a :int}")
    end

    test "where something required is missing, or cut off" do
      for text <- [~s({"a": 1,}), ~s({"a": 1), ~s({"a": 1, "b": ), ~s({"a": 1, "b": "x)] do
        opts = [truncated: :complete]
        assert {:error, reason} = JsonParser.repair(text, "{a :int, b :string}", opts)
        assert reason in [:invalid_json, :no_json_found]
        assert {:error, ^reason} = JsonParser.parse(text)
      end
    end

    test "prose stays prose" do
      for text <- [
            "",
            "I do not know.",
            "Use {name} and [Note: see below].",
            "a: 1, b: 2",
            "{",
            "\""
          ] do
        assert {:error, _reason} = JsonParser.repair(text)
        assert {:error, _reason} = JsonParser.repair(text, "{a :int}")
      end
    end

    test "a signature that is none" do
      assert_raise ArgumentError, fn -> JsonParser.repair("{}", "{a :wrong") end
    end
  end

  test "types as terms, signatures as text and parsed" do
    {:ok, signature} = Signature.parse("() -> {n :int}")

    for type <- ["() -> {n :int}", "{n :int}", signature, {:map, [{"n", :int}]}],
        do: assert({:ok, %{"n" => 1}, [_]} = JsonParser.repair("{\"n\": 1,}", type))
  end

  test "10,000 rows with a comma missing in every tenth" do
    rows =
      for n <- 1..10_000,
          do: ~s({"id": #{n}#{if rem(n, 10) == 0, do: "", else: ","} "name": "n#{n}"})

    text = ~s({"rows": [#{Enum.join(rows, ", ")}]})

    assert {:ok, %{"rows" => rows}, repairs} =
             JsonParser.repair(text, "{rows [{id :int, name :string}]}")

    assert length(rows) == 10_000
    assert length(repairs) == 1_000
    assert List.last(repairs).path == ["rows", 9_999, "id"]
    assert {:ok, %{"rows" => ^rows}, ^repairs} = JsonParser.repair(text)
  end
end
