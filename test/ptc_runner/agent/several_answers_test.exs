defmodule PtcRunner.Agent.SeveralAnswersTest do
  # Of several answers in a text one counts, or none; what a model thinks is no answer.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent

  doctest PtcRunner.Agent.Around
  doctest PtcRunner.Agent.Commented
  doctest PtcRunner.Agent.Elsewhere
  doctest PtcRunner.Agent.Parts
  doctest PtcRunner.Agent.Thinking
  doctest PtcRunner.Agent.Nearly

  defp read(text, type \\ "{t :int}"), do: Agent.answer(text, type)

  test "thinking is no answer" do
    for tag <- ["think", "thinking", "reasoning", "scratchpad"] do
      assert read(~s(<#{tag}>\n{"t": 1}?\n</#{tag}>\n{"t": 2})) == {:ok, %{"t" => 2}, []}

      assert read(~s(So: <#{tag}>{"t": 1</#{tag}>```json\n{"t": 2}\n```)) ==
               {:ok, %{"t" => 2}, []}

      assert {:error, _, _} = read(~s(<#{tag}>{"t": 1}</#{tag}> I do not know.))

      assert {:ok, %{"t" => "<think>1</think>"}, []} =
               read(~s({"t": "<think>1</think>"}), "{t :string}")

      program = ~s({"program": {"op": "literal", "value": 1}})

      assert {:ok, program, []} =
               Agent.program(~s(<#{tag}>{"program": {"op": "count"}}</#{tag}>#{program}))

      assert PtcRunner.Json.run!(program) == 1
    end
  end

  test "what stands in a comment is no answer and no program" do
    one = ~s({"program": {"op": "literal", "value": 1}})
    pay = ~s({"program": {"op": "call", "tool": "pay", "args": {}}})

    for {open, close} <- [
          {"<!--", "-->"},
          {"<!--\n", "\n-->"},
          {"/*", "*/"},
          {"//", "\n"},
          {"#", "\n"},
          {";;", "\n"},
          {"--", "\n"}
        ],
        fence <- ["", "```json\n"],
        comment = &"#{fence}#{open} #{&1} #{close}" do
      assert {:error, [%{message: "The answer stands in a comment" <> _}], _} =
               read(comment.(~s({"t": 1})))

      assert {:error, {:parse_error, "The program stands in a comment: write it alone"}, _} =
               Agent.program(comment.(pay))

      assert read(comment.(~s({"t": 1})) <> ~s({"t": 2})) == {:ok, %{"t" => 2}, []}
      assert {:ok, program, []} = Agent.program(comment.(pay) <> one)
      assert PtcRunner.Json.run!(program) == 1

      if fence == "",
        do: assert({:ok, %{"t" => 2}, []} = read(~s({"t": 2}\n) <> comment.(~s({"t": 1}))))
    end

    # Text, data, and comments that hold nothing of the kind.
    for {text, type, value} <- [
          {~s({"t": "/* {\\"a\\": 1} */"}), "{t :string}", %{"t" => ~s(/* {"a": 1} */)}},
          {~s("<!-- [1] -->"), ":string", "<!-- [1] -->"},
          {~s(// the value {t}:\n{"t": 1}), "{t :int}", %{"t" => 1}},
          {~s(/* {"t": 1), "{t :int}", :error},
          {~s(see https://a.b/* {"t": 1} */), "{t :int}", %{"t" => 1}},
          {~s(// {\n"t": 1}), "{t :int}", %{"t" => 1}},
          {~s(# Answer: {"t": 1}), "{t :int}", %{"t" => 1}},
          {"<!-- [9] --> 5", ":int", 5}
        ] do
      case read(text, type) do
        {:ok, read, _} -> assert {text, read} == {text, value}
        {:error, _, _} -> assert value == :error, text
      end
    end

    long = String.duplicate("/* x ", 100_000)
    assert {_long, false} = PtcRunner.Agent.Commented.blanked(long)
  end

  test "a declared field and an item beside the value are never lost without a word" do
    for {text, type} <- [
          {~s({"n": 1}\n"x": 2), "{n :int, x :int?}"},
          {~s({"n": 1}, x: 2), "{n :int, x :int?}"},
          {~s({"n": 1}}, "x": 2}), "{n :int, x :int?}"},
          {~s({"n": 1}\n- **x**: 2), "{n :int, x :int?}"},
          {~s("x": 2, {"n": 1}), "{n :int, x :int?}"},
          {~s({"n": 1}\ny: 3\nx_y = "a"), "{n :int, x_y :string?}"},
          {~s({"n": 1}\nx: [2]), "{n :int, x [:int]?}"},
          {"```json\n{\"n\": 1}\n```\nx: 2", "{n :int, x :int?}"},
          {~s({"n": 1}, {"x": 2}), "{n :int, x :int?}"},
          {~s({"x": 2}\n{n: 1}), "{n :int, x :int?}"},
          {~s({"n": 1}\n[{"n": 2}]), "[{n :int}]"},
          {~s([{"n": 1}], {"n": 2}), "[{n :int}]"},
          {~s({"n": 1}\n!{"n": 1}), "[{n :int}]"},
          {~s({"n": 1}\n!{"n": 1}), "{n :int}"},
          {~s([{"n": 1}] not {"n": 2}), "[{n :int}]"}
        ] do
      assert {:error, [%{path: [], message: message}], _} = read(text, type)

      assert message =~ ~r/(?:behind|before|beside) its value|2 different values/, text
    end

    for {text, type} <- [
          {~s(n: {"n": 1}), "{n :int, x :int?}"},
          {~s(x: {"n": 1}), "{n :int, x :int?}"},
          {~s({"n": 1}\nn: 1), "{n :int, x :int?}"},
          {~s({"n": 1}\nx: null), "{n :int, x :int?}"},
          {~s({"n": 1}\nNote: 2 were new. x: not known), "{n :int, x :int?, note :int?}"},
          {~s(Input: {\n"x": 2\n}. Answer: {"n": 1}), "{n :int, x :int?}"},
          {~s({"n": 1} {"y": 3}), "{n :int, x :int?}"}
        ] do
      assert {text, {:ok, %{"n" => 1}, []}} == {text, read(text, type)}
    end
  end

  test "the last one after a correction counts, with a warning" do
    for words <- ["Correction:", "No, that is wrong:", "wait, I forgot one.\n"],
        last <- [~s({"t": 2}), ~s({'t': 2,})] do
      assert {:ok, %{"t" => 2}, ["took the last of 2 answers" | _]} =
               read(~s({"t": 1} #{words} #{last}))

      assert {:ok, %{"t" => 2}, ["took the last of 2 answers" | _]} =
               read("```json\n{\"t\": 1}\n```\n#{words}\n```json\n#{last}\n```")
    end
  end

  test "words that take back the later one, or nothing, do not choose the later one" do
    for between <- [
          " instead of ",
          ", rather than ",
          " is the correction of ",
          " (correction of ",
          " replaces the old ",
          ". Ignore ",
          " corrects my earlier value ",
          ", and not the wrong ",
          ". No correction needed. ",
          ". I did not make a mistake. ",
          ". It is not wrong. "
        ] do
      assert {:error, [%{message: "The answer has 2 different values: write one"}], _} =
               read(~s({"t": 2}#{between}{"t": 1})),
             between
    end

    for between <- [
          " is wrong. ",
          ". No wait, ",
          ". Ignore that. ",
          ". It should be this instead: "
        ] do
      assert {:ok, %{"t" => 1}, ["took the last of 2 answers"]} =
               read(~s({"t": 2}#{between}{"t": 1})),
             between
    end
  end

  test "two different answers are an error that says so" do
    for between <- [" ", " or ", "\n", ". Answer: ", "\n```\n\n```json\n"] do
      text =
        if between =~ "```",
          do: "```json\n{\"t\": 1}#{between}{\"t\": 2}\n```",
          else: ~s({"t": 1}#{between}{"t": 2})

      assert {:error, [%{path: [], message: "The answer has 2 different values: write one"}],
              feedback} = read(text)

      assert feedback =~ "2 different values"
      assert {:error, [%{message: "The answer has 2 different values" <> _}], _} = read(text, nil)
    end

    # the same twice, one that does not fit, and one in a fence beside words
    assert read(~s({"t": 1} so {"t": 1})) == {:ok, %{"t" => 1}, []}
    assert read(~s({"x": 1} so {"t": 2})) == {:ok, %{"t" => 2}, []}
    assert read(~s(With {"t": 9} in mind:\n```json\n{"t": 2}\n```)) == {:ok, %{"t" => 2}, []}
    assert {:ok, [%{"t" => 1}, %{"t" => 2}], _} = read(~s({"t": 1}\n{"t": 2}), "[{t :int}]")
  end

  test "several values of any type: equal ones are one, different ones an error, unless the last takes the others back" do
    for {type, one, other, value} <- [
          {"{t :int}", ~s({"t": 1}), ~s({"t": 2}), %{"t" => 2}},
          {"{t {u [:string]}}", ~s({"t": {"u": ["a"]}}), ~s({"t": {"u": []}}),
           %{"t" => %{"u" => []}}},
          {"[:int]", "[1, 2]", "[2, 1]", [2, 1]},
          {"[{t :int}]", ~s([{"t": 1}]), ~s([{"t": 2}]), [%{"t" => 2}]},
          {":int", ~s({"value": 1}), ~s({"value": 2}), 2},
          {"{t :int}?", ~s({"t": 1}), ~s({"t": 2}), %{"t" => 2}}
        ] do
      fence = &"```json\n#{&1}\n```"

      for {a, b} <- [{one, other}, {fence.(one), fence.(other)}, {one, fence.(other)}] do
        assert {:ok, ^value, []} = read("<think>#{a}</think>#{b}", type)

        for words <- ["Correction:", "Wait, that is wrong.", "I made a mistake:", "Final answer:"] do
          assert {:ok, ^value, ["took the last of 2 answers"]} =
                   read("#{a}\n#{words}\n#{b}", type)

          assert {:ok, ^value, []} = read("#{b}\n#{words}\n#{b}", type)
        end

        for words <- ["", "or", "Another one:", "---", "Also"] do
          assert {:ok, ^value, []} = read("#{b}\n#{words}\n#{b}", type)

          assert {:error, [%{path: [], message: "The answer has 2 different values: write one"}],
                  _} = read("#{a}\n#{words}\n#{b}", type)
        end
      end

      assert {:error, [%{message: "The answer has 2 different values" <> _}], _} =
               read("#{one} or #{other} or #{one}", type)

      assert {:ok, ^value, ["took the last of 4 answers"]} =
               read(
                 "#{one} or #{one} x #{other}\nNo, wrong: #{one}\nSorry, instead:\n#{other}",
                 type
               )
    end
  end

  test "null is the default of a field that has one" do
    type =
      {:map,
       [
         {"n", {:optional, {:where, :int, [default: 5]}}},
         {"m", {:where, :int, [default: 6]}},
         {"o", {:optional, :int}}
       ]}

    signature = {:signature, [], type}

    assert {:ok, %{"n" => 5, "m" => 6, "o" => nil}, [_, _]} =
             read(~s({"n": null, "m": null, "o": null}), signature)

    assert {:ok, %{"n" => 5, "m" => 6}, []} = read(~s({}), signature)
    assert {:error, [%{path: ["o"]}], _} = read(~s({"n": null, "m": null, "o": "x"}), signature)
  end

  test "null is the default at any depth, and where a union, a name or a map of a type is around it" do
    row = {:map, [{"n", {:where, :int, [default: 5]}}]}
    shape = fn name, fields -> {:map, [{"kind", {:where, :string, [enum: [name]]}} | fields]} end

    for {type, text, value, place} <- [
          {{:list, row}, ~s([{"n": null}, {"n": 1}]), [%{"n" => 5}, %{"n" => 1}], "0.n"},
          {{:map, [{"o", {:optional, row}}]}, ~s({"o": {"n": null}}), %{"o" => %{"n" => 5}},
           "o.n"},
          {{:map, [{"m", {:map_of, row}}]}, ~s({"m": {"k": {"n": null}}}),
           %{"m" => %{"k" => %{"n" => 5}}}, "m.k.n"},
          {{:defs, %{"R" => row}, {:map, [{"r", {:list, {:ref, "R"}}}]}},
           ~s({"r": [{"n": null}]}), %{"r" => [%{"n" => 5}]}, "r.0.n"},
          {{:map, [{"u", {:one_of, [shape.("a", elem(row, 1)), shape.("b", [])], "kind"}}]},
           ~s({"u": {"kind": "a", "n": null}}), %{"u" => %{"kind" => "a", "n" => 5}}, "u.n"},
          {{:map, [{"u", {:one_of, [:int, {:list, row}], nil}}]}, ~s({"u": [{"n": null}]}),
           %{"u" => [%{"n" => 5}]}, "u.0.n"}
        ] do
      warning = "took the default of #{inspect(place)} for null"
      assert {:ok, ^value, [^warning]} = read(text, {:signature, [], type})
    end

    # inside a firewalled field no key is shown
    hidden = {:map, [{"_pin", {:map_of, row}}]}

    assert {:ok, %{"_pin" => %{"secret" => %{"n" => 5}}},
            [~s(took the default of "_pin" for null)]} =
             read(~s({"_pin": {"secret": {"n": null}}}), {:signature, [], hidden})
  end

  test "one object in a list, or under a key, is taken if nothing else fits" do
    assert read(~s([{"t": 1}])) == {:ok, %{"t" => 1}, ["took the only object of the list"]}

    assert read(~s({"Order": {"t": 1}})) ==
             {:ok, %{"t" => 1}, [~s(took the object under "Order")]}

    assert {:error, _, _} = read(~s([{"t": 1}, {"t": 1}]))
    assert {:error, _, _} = read(~s({"Order": {"x": 1}}))
    assert {:error, _, _} = read(~s({"Order": {"t": 1}, "Other": {"t": 2}}))
  end

  test "a number with grouping signs is one error, in quotes and without" do
    for number <- ["1,234", "12,345,678"], type <- ["int", "float"] do
      message = "expected #{type}, got string"

      for text <- [~s({"t": #{number}}), ~s({"t": "#{number}"})],
          do:
            assert({:error, [%{path: ["t"], message: ^message}], _} = read(text, "{t :#{type}}"))
    end
  end

  test "an object alone is taken at any depth, also in names and unions, and nowhere else" do
    object = {:map, [{"t", :int}]}

    for {type, text, value} <- [
          {{:map, [{"o", object}]}, ~s({"o": [{"t": 1}]}), %{"o" => %{"t" => 1}}},
          {{:map, [{"o", {:optional, object}}]}, ~s({"o": {"Order": {"t": 1}}}),
           %{"o" => %{"t" => 1}}},
          {{:list, object}, ~s([{"Order": {"t": 1}}, {"t": 2}]), [%{"t" => 1}, %{"t" => 2}]},
          {{:map, [{"m", {:map_of, object}}]}, ~s({"m": {"k": [{"t": 1}]}}),
           %{"m" => %{"k" => %{"t" => 1}}}},
          {{:defs, %{"O" => object}, {:map, [{"o", {:ref, "O"}}]}}, ~s({"o": {"O": {"t": 1}}}),
           %{"o" => %{"t" => 1}}}
        ] do
      assert {:ok, ^value, [_ | _]} = read(text, {:signature, [], type})
    end

    for text <- [
          ~s({"o": [{"t": 1}, {"t": 1}]}),
          ~s({"o": []}),
          ~s({"o": {"Order": {"t": 1}, "n": 2}}),
          ~s({"o": {"Order": {"x": 1}}}),
          ~s({"o": [[{"t": 1}]]})
        ] do
      assert {:error, [_ | _], _} = read(text, {:signature, [], {:map, [{"o", object}]}})
    end
  end

  test "grouping signs are the same error in rows, lists and defaults" do
    for number <- ["1,234", "12,345,678", "1,234.50", "1_234"],
        {type, text} <- [
          {"[{n :float, t :string}]", ~s([{"n": NUMBER, "t": "a"}])},
          {"{o {n :float}}", ~s({"o": {"n": NUMBER}})},
          {"{n :float?}", ~s({"n": NUMBER})}
        ] do
      quoted = read(String.replace(text, "NUMBER", inspect(number)), type)
      bare = read(String.replace(text, "NUMBER", number), type)
      assert {:error, [%{path: path, message: "expected float, got string"}], _} = quoted
      assert {:error, [%{path: ^path, message: "expected float, got string"}], _} = bare
      assert elem(bare, 2) == elem(quoted, 2)
    end
  end

  test "a datetime with more than six digits of a second is cut with a warning" do
    assert {:ok, %{"at" => ~U[2024-01-01 00:00:00.123456Z]}, [warning]} =
             read(~s({"at": "2024-01-01T00:00:00.1234567Z"}), "{at :datetime}")

    assert warning == ~s(cut "2024-01-01T00:00:00.1234567Z" to microseconds)
    assert {:ok, _, []} = read(~s({"at": "2024-01-01T00:00:00.123456Z"}), "{at :datetime}")
    assert {:ok, _, []} = read(~s({"at": "2024-01-01T00:00:00.1234567Z"}), "{at :string}")
  end

  test "objects one after another, where a list is declared, are all its items" do
    for {text, list} <- [
          {~s({"n": 1}\n{"n": 1}), [1, 1]},
          {~s({n: 1}\n{n: 1}\n{n: 1}), [1, 1, 1]},
          {~s({"n": 1} {"n": 1.0}), :error},
          {~s({"n": 1};{"n": 2}), [1, 2]},
          {~s({"n": 1};\n{"n": 2};\n), [1, 2]},
          {~s({"n": 1};\n{"n": "x"}), :error},
          {~s({"n": 1}; then {"n": 2}), :error},
          {~s(First {"n": 0}; answer: {"n": 2}), :error},
          {~s({"n": 1}\nCorrection: {"n": 2}), :error}
        ] do
      case {list, read(text, "[{n :int}]")} do
        {:error, read} ->
          assert {:error, [_ | _], _} = read

        {list, read} ->
          assert {text, {:ok, for(n <- list, do: %{"n" => n})}} ==
                   {text, Tuple.delete_at(read, 2)}
      end
    end
  end

  test "many numbers with grouping signs, and many times, take linear time" do
    pad = String.duplicate("añc ", 5_000)

    texts = fn count ->
      [
        {"{pad :string, n [:int]}",
         ~s({"pad": "#{pad}", "n": [) <> Enum.map_join(1..count, ", ", fn _ -> "+5" end) <> "]}"},
        {"[{n :int}]",
         "[" <>
           Enum.map_join(
             1..(count * 4),
             ",\n",
             &~s({"n": #{if rem(&1, 4) == 0, do: "1,234", else: "5"}})
           ) <> "]"},
        {"[{at :datetime}]",
         "[" <>
           Enum.map_join(
             1..count,
             ",",
             &~s({"at": "2024-01-01T00:00:00.#{1_000_001 + &1 * 10}Z"})
           ) <> "]"}
      ]
    end

    for {{type, few}, {type, many}} <- Enum.zip(texts.(200), texts.(1_600)) do
      assert reductions(few, type) * 20 > reductions(many, type)
    end
  end

  defp reductions(text, type) do
    {:reductions, before} = Process.info(self(), :reductions)
    read(text, type)
    {:reductions, now} = Process.info(self(), :reductions)
    now - before
  end
end
