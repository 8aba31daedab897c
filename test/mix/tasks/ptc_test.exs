defmodule Mix.Tasks.PtcTest do
  # Not async: tasks write to the standard output, and Mix runs a task once.
  use ExUnit.Case, async: false

  import ExUnit.CaptureIO

  alias PtcRunner.CLI

  doctest CLI.Digits
  doctest CLI.Excerpt
  doctest CLI.LispFailure
  doctest CLI.LispRun
  doctest CLI.OverFile
  doctest CLI.Place
  doctest CLI.Plain
  doctest CLI.Pretty
  doctest CLI.Progress
  doctest CLI.Table

  setup do
    directory = Path.join(System.tmp_dir!(), "ptc-cli-#{System.unique_integer([:positive])}")
    File.mkdir_p!(directory)
    on_exit(fn -> File.rm_rf!(directory) end)
    %{directory: directory}
  end

  test "each task explains itself" do
    for name <- ["ptc.run", "ptc.check", "ptc.prompt"], switch <- ["--help", "-h"] do
      assert {0, out, ""} = task(name, [switch])
      assert out =~ "    mix #{name}"
    end
  end

  test "ptc.check --plan shows what a program will do", %{directory: directory} do
    program =
      file(
        directory,
        "plan.json",
        ~s({"program": {"op": "call", "tool": "mail", "args": {"to": {"op": "load", "name": "to"}}}})
      )

    assert {0, out, ""} = task("ptc.check", ["--plan", program])
    assert out =~ "  mail (write): 1\n    to: to\nIt reads: to\nThe result: answer of mail\n"
    assert out =~ "1 right, 0 wrong"
    assert {0, out, ""} = task("ptc.check", ["--plan", "--edition", "1", program])
    # In the first edition an argument is data, and the plan shows it.
    assert out =~ ~s(    to: %{"name" => "to", "op" => "load"}\n)
  end

  test "ptc.check finds faults by types, with line and column", %{directory: directory} do
    types =
      file(directory, "types.json", ~s({"rows": "[{id :int, name :string}]", "n": {"sample": 3}}))

    wrong =
      file(
        directory,
        "wrong.json",
        ~s({"program": {"op": "pipe", "steps": [\n  {"op": "load", "name": "rows"},\n  {"op": "sum", "field": "idd"}]}})
      )

    assert {1, "0 right, 1 wrong\n", errors} =
             task("ptc.check", ["--context-types", types, wrong])

    assert errors =~ "wrong.json:3:26: "
    assert errors =~ "sum reads field 'idd', which no value has. Did you mean 'id'?"
    assert {0, "1 right, 0 wrong\n", ""} = task("ptc.check", [wrong])

    right = file(directory, "right.json", ~s({"program": {"op": "load", "name": "n"}}))

    assert {0, _out, ""} =
             task("ptc.check", ["--context-types", types, "--returns", ":int", right])

    assert {1, _out, errors} =
             task("ptc.check", ["--context-types", types, "--returns", ":string", right])

    assert errors =~ "The result must be :string, and is :int"
    assert_raise Mix.Error, fn -> task("ptc.check", ["--returns", "nope", right]) end
  end

  defp file(directory, name, text) do
    path = Path.join(directory, name)
    File.write!(path, text)
    path
  end

  # {exit code, stdout, stderr}
  defp task(name, args) do
    me = self()

    errors =
      capture_io(:stderr, fn ->
        output =
          capture_io(fn ->
            code =
              try do
                Mix.Task.rerun(name, args)
                0
              catch
                :exit, {:shutdown, code} -> code
              end

            send(me, {:code, code})
          end)

        send(me, {:output, output})
      end)

    assert_received {:code, code}
    assert_received {:output, output}
    {code, output, errors}
  end

  @orders ~s({"orders": [{"id": 1, "customer": "Ada", "total": 120}, {"id": 2, "customer": "Bob", "total": 80}, {"id": 3, "customer": "Ada", "total": 9.5}]})

  defp program(steps),
    do: ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "orders"}, #{steps}]}})

  describe "mix ptc.run" do
    test "rows are a table, its columns in the order of the data's text", %{directory: directory} do
      data = file(directory, "data.json", @orders)

      path =
        file(
          directory,
          "p.json",
          program(
            ~s({"op": "filter", "where": {"op": "eq", "field": "customer", "value": "Ada"}})
          )
        )

      assert {0, output, ""} = task("ptc.run", [path, "--context", data])

      assert output == """
             id  customer  total
             ──  ────────  ─────
              1  Ada         120
              3  Ada         9.5

             """

      assert {0, output, ""} = task("ptc.run", [path, "--context", data, "--json"])
      assert {:ok, [%{"id" => 1}, %{"id" => 3}]} = PtcRunner.Json.Codec.decode(output)
    end

    test "everything else is JSON", %{directory: directory} do
      data = file(directory, "data.json", @orders)

      path =
        file(
          directory,
          "p.json",
          program(~s({"n": {"op": "count"}, "sum": {"op": "sum", "field": "total"}}))
        )

      assert {0, ~s({"n": 3, "sum": 209.5}\n), ""} = task("ptc.run", [path, "--context", data])
    end

    test "sums of decimals are as they would be written, wherever they stand", %{
      directory: directory
    } do
      data =
        file(
          directory,
          "sums.json",
          ~s({"rows": [{"p": 19.99, "q": 0.1}, {"p": 0.02, "q": 0.2}], "n": 123456789.10})
        )

      sum = fn field -> ~s({"op": "sum", "field": "#{field}"}) end

      for {steps, shown, exact} <- [
            {sum.("p"), "20.01\n", "20.009999999999998\n"},
            {~s({"a": #{sum.("p")}, "b": [#{sum.("q")}]}), ~s({"a": 20.01, "b": [0.3]}\n),
             ~s({"a": 20.009999999999998, "b": [0.30000000000000004]}\n)},
            {~s({"op": "list", "items": [{"a": {"b": #{sum.("q")}}}]}),
             "a\n─────────\n{\"b\":0.3}\n\n", ~s([{"a": {"b": 0.30000000000000004}}]\n)}
          ] do
        text =
          ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"}, #{steps}]}})

        path = file(directory, "sum.json", text)
        assert {0, output, ""} = task("ptc.run", [path, "--context", data])
        assert output == shown
        assert {0, ^exact, ""} = task("ptc.run", [path, "--context", data, "--json"])
      end
    end

    test "names and texts of any script, no rows at all, and files that are none", %{
      directory: directory
    } do
      path = file(directory, "p.json", ~s({"program": {"op": "load", "name": "rows"}}))
      data = file(directory, "u.json", ~s({"rows": [{"größe": "é"}, {"größe": null}]}))
      assert {0, output, ""} = task("ptc.run", [path, "--context", data])
      assert output == "größe\n─────\né\nnull\n\n"

      data = file(directory, "e.json", ~s({"rows": []}))
      assert {0, "[]\n", ""} = task("ptc.run", [path, "--context", data])

      for text <- ["", <<255, 254>>, "[1]"] do
        wrong = file(directory, "wrong.json", text)
        assert {1, "", "ParseError: " <> _} = task("ptc.run", [wrong])
      end

      assert_raise Mix.Error, ~r/cannot read .*directory/, fn -> task("ptc.run", [directory]) end
    end

    test "memory is read", %{directory: directory} do
      memory = file(directory, "m.json", ~s({"x": [1, 2]}))
      path = file(directory, "p.json", ~s({"program": {"op": "var", "name": "x"}}))
      assert {0, "[1, 2]\n", ""} = task("ptc.run", [path, "--memory", memory])
    end

    test "--explain shows the tree after the result", %{directory: directory} do
      data = file(directory, "data.json", @orders)
      path = file(directory, "p.json", program(~s({"op": "sum", "field": "totl"})))
      assert {0, output, ""} = task("ptc.run", [path, "--context", data, "--explain"])
      assert ["0" | tree] = String.split(output, "\n")
      assert Enum.any?(tree, &(&1 =~ "├─ load orders"))
      assert Enum.any?(tree, &(&1 =~ "! none of 3 had totl"))
    end

    test "a mistake in the program is marked", %{directory: directory} do
      path =
        file(
          directory,
          "p.json",
          ~s({"program":\n  {"op": "pipe", "steps": [\n    {"op": "fitler"}]}})
        )

      assert {1, "", errors} = task("ptc.run", [path])

      assert errors == """
             ValidationError: Unknown operation 'fitler'. Did you mean 'filter'?
               at program.steps[0]
               3 |     {"op": "fitler"}]}}
                 |     ^^^^^^^^^^^^^^^^

             """
    end

    test "what it reads of data that are not given is told", %{directory: directory} do
      steps = ~s([{"op": "load", "name": "orders"}, {"op": "sum", "field": "n"}])
      path = file(directory, "p.json", ~s({"program": {"op": "pipe", "steps": #{steps}}}))
      lisp = file(directory, "p.clj", "(+ 1 data/orders)")

      for path <- [path, lisp] do
        assert {1, "", errors} = task("ptc.run", [path])
        assert errors =~ "No data were given, and the program reads orders: see --context"

        data = file(directory, "data.json", "{}")
        assert {1, "", errors} = task("ptc.run", [path, "--context", data])
        refute errors =~ "No data were given"
      end
    end

    test "so is the operation in which a run failed", %{directory: directory} do
      path =
        file(
          directory,
          "p.json",
          ~s({"program": {"op": "concat", "lists": [{"op": "literal", "value": []}, {"op": "div", "left": 1, "right": 0}]}})
        )

      assert {1, "", errors} = task("ptc.run", [path])
      assert errors =~ "at program.lists[1]"

      [_message, _at, line, carets, ""] =
        errors |> String.trim_trailing("\n") |> Kernel.<>("\n") |> String.split("\n")

      start = carets |> String.graphemes() |> Enum.find_index(&(&1 == "^"))
      assert String.slice(line, start, 12) == ~s({"op": "div")
    end

    test "and the operation in which a run ended at a limit", %{directory: directory} do
      list = ~s({"op": "literal", "value": [#{Enum.map_join(1..300, ",", &to_string/1)}]})
      rows = ~s({"op": "pipe", "steps": [#{list}, {"op": "map", "expr": {"a": #{list}, "b": 1}}]})
      path = file(directory, "p.json", ~s({"program": {"x": #{rows}}}))
      assert {1, "", errors} = task("ptc.run", [path, "--max-heap", "3000"])
      assert errors =~ "MemoryError"
      assert errors =~ "  at program"

      nested = fn body ->
        ~s({"op": "pipe", "steps": [#{list}, {"op": "map", "expr": #{body}}]})
      end

      path =
        file(directory, "p.json", ~s({"program": #{nested.(nested.(nested.(nested.(list))))}}))

      assert {1, "", errors} = task("ptc.run", [path, "--timeout", "50", "--max-heap", "0"])
      assert errors =~ "TimeoutError: execution exceeded 50ms limit"
      assert errors =~ "  at program.steps[1].expr"
    end

    test "and the place where it is no JSON", %{directory: directory} do
      path = file(directory, "p.json", ~s({"program": {"op": "literal",\n "value": 1,}}))
      assert {1, "", errors} = task("ptc.run", [path])
      assert errors =~ "ParseError: JSON decode error: Unexpected token at position 42"
      assert errors =~ ~s(  2 |  "value": 1,}}\n    |             ^)
    end

    test "the timeout ends it, and a long run shows that it runs", %{directory: directory} do
      rows = Enum.map_join(1..20_000, ",", &~s({"n": #{&1}}))
      data = file(directory, "data.json", ~s({"orders": [#{rows}]}))

      endless =
        ~s({"op": "map", "expr": {"op": "pipe", "steps": [{"op": "load", "name": "orders"}, {"op": "sort_by", "field": "n"}, {"op": "count"}]}})

      path = file(directory, "p.json", program(endless))

      assert {1, "", errors} =
               task("ptc.run", [path, "--context", data, "--timeout", "1500", "--max-heap", "0"])

      assert errors =~ "TimeoutError: execution exceeded 1500ms limit"
      # After a second, on a busy machine later.
      assert errors =~ ~r/running: \d+\.\d s/
      assert errors =~ "of at most 1.5 s"
    end

    test "what does not fit together is said", %{directory: directory} do
      path = file(directory, "p.json", "{}")

      assert_raise Mix.Error, ~r/cannot read .*nope.json: no such file/, fn ->
        task("ptc.run", ["nope.json"])
      end

      assert_raise Mix.Error, ~r/unknown or wrong option --contxt/, fn ->
        task("ptc.run", [path, "--contxt", "x"])
      end

      assert_raise Mix.Error, ~r/expected one program: /, fn -> task("ptc.run", []) end

      assert_raise Mix.Error, ~r/got #{path} and d.json\..* --context d.json/, fn ->
        task("ptc.run", [path, "d.json"])
      end

      assert_raise Mix.Error, ~r/must not be negative/, fn ->
        task("ptc.run", [path, "--timeout", "-1"])
      end

      assert_raise Mix.Error, ~r/at most 4294967295/, fn ->
        task("ptc.run", [path, "--timeout", "99999999999"])
      end

      for words <- ["5", "-1"] do
        assert_raise Mix.Error, ~r/must be 0 \(no limit\) or at least 233 words/, fn ->
          task("ptc.run", [path, "--max-heap", words])
        end
      end

      data = file(directory, "list.json", "[1]")

      assert_raise Mix.Error, ~r/must be a JSON object/, fn ->
        task("ptc.run", [path, "--context", data])
      end

      data = file(directory, "text.json", "{")

      assert_raise Mix.Error, ~r/is no JSON: Unexpected end/, fn ->
        task("ptc.run", [path, "--context", data])
      end
    end

    test "data cannot move the cursor", %{directory: directory} do
      data =
        file(
          directory,
          "data.json",
          ~s({"orders": [{"name\\u001b[2J": "a\\u001b[31mb\\u202ec"}]})
        )

      path = file(directory, "p.json", program(~s({"op": "take", "count": 1})))
      assert {0, output, ""} = task("ptc.run", [path, "--context", data])
      refute output =~ "\e"
      refute output =~ "\u202e"
      assert output =~ "a·[31mb·c"
    end
  end

  describe "mix ptc.run over a file that is not decoded" do
    alias PtcRunner.CLI.{Files, OverFile}
    alias PtcRunner.Json
    alias PtcRunner.Json.Codec

    @rows for n <- 1..400,
              do: %{
                "id" => n,
                "name" => ~s(row "#{rem(n, 7)}" é),
                "at" => %{"x" => n / 8, "tags" => Enum.to_list(1..rem(n, 4)//1)}
              }

    @extra %{"n" => 3, "none" => nil, "yes" => true, "s" => "text", "name é" => []}

    @nodes [
      ~s({"op": "load", "name": "orders"}),
      ~s({"op": "load", "name": "missing"}),
      ~s({"op": "load", "name": "name é"}),
      ~s({"op": "load", "name": "none"}),
      ~s({"a": {"op": "load", "name": "n"}, "b": {"op": "load", "name": "yes"}, "c": {"op": "load", "name": "s"}}),
      ~s({"op": "pipe", "steps": [{"op": "load", "name": "orders"}, {"op": "count"}]}),
      ~s({"op": "pipe", "steps": [{"op": "load", "name": "orders"}, {"op": "filter", "where": {"op": "gt", "field": "id", "value": 390}}, {"op": "select", "fields": ["id", "name"]}]}),
      ~s({"op": "pipe", "steps": [{"op": "load", "name": "orders"}, {"op": "map", "expr": {"op": "get", "path": ["at", "x"]}}, {"op": "sum", "field": "x"}]}),
      ~s({"op": "pipe", "steps": [{"op": "load", "name": "orders"}, {"op": "group_by", "field": "name"}]}),
      ~s({"result": {"op": "load", "name": "n"}, "seen": {"op": "load", "name": "orders"}}),
      ~s({"op": "pipe", "steps": [{"op": "load", "name": "s"}, {"op": "sum", "field": "x"}]}),
      ~s({"op": "call", "tool": "t"}),
      ~s({"op": "div", "left": 1, "right": 0}),
      ~s({"op": "fitler"}),
      ~s({"op": "var", "name": "kept"})
    ]

    defp large(directory, text \\ Codec.encode!(Map.put(@extra, "orders", @rows))) do
      assert byte_size(text) > 4_096
      file(directory, "large.json", text)
    end

    test "gives what the decoded file gives", %{directory: directory} do
      data = large(directory)
      text = File.read!(data)
      context = Codec.decode!(text)

      for node <- @nodes, edition <- [1, 2], max_heap <- [1_000, 3_000, 1_250_000, 0] do
        program = ~s({"program": #{node}})
        opts = [memory: %{"kept" => [1]}, timeout: 60_000, max_heap: max_heap, edition: edition]
        expected = Json.run(program, [context: context] ++ opts)

        case OverFile.run(program, text, opts) do
          {:ok, _, _, _} = done ->
            assert done == expected

          {:error, :memory_exceeded} ->
            assert max_heap in [1_000, 3_000]

          {:error, reason} ->
            assert match?({:error, _}, expected), inspect({node, reason})
        end
      end
    end

    test "so the task does", %{directory: directory} do
      data = large(directory)

      for {node, number} <- Enum.with_index(@nodes) do
        path = file(directory, "p#{number}.json", ~s({"program": #{node}}))
        args = [path, "--context", data]
        {code, output, errors} = task("ptc.run", args)
        # This one decodes the file.
        assert {^code, explained, ^errors} = task("ptc.run", args ++ ["--explain"])
        assert String.starts_with?(explained, output), node
      end
    end

    test "of equal names the first one counts, and escaped names are equal", %{
      directory: directory
    } do
      pad = String.duplicate(" ", 5_000)
      data = large(directory, ~s( {"\\u0061": 1, "a": 2, "b": {"c": 1, "c": 2}#{pad}}))

      path =
        file(
          directory,
          "p.json",
          ~s({"program": {"x": {"op": "load", "name": "a"}, "y": {"op": "load", "name": "b"}}})
        )

      assert {0, ~s({"x": 1, "y": {"c": 1}}\n), ""} = task("ptc.run", [path, "--context", data])
    end

    test "the index does not count, and the whole file may be the result", %{directory: directory} do
      data = large(directory, Codec.encode!(%{"orders" => Enum.to_list(1..40_000)}))
      path = file(directory, "p.json", program(~s({"op": "count"})))
      args = ["--context", data, "--max-heap", "300"]
      assert {0, "40000\n", ""} = task("ptc.run", [path | args])
      path = file(directory, "p.json", ~s({"program": {"op": "load", "name": "orders"}}))
      assert {0, output, ""} = task("ptc.run", [path | args])
      assert Codec.decode!(output) == Enum.to_list(1..40_000)
    end

    test "an error says which option raises its limit", %{directory: directory} do
      data = large(directory)

      node =
        ~s({"op": "map", "expr": {"op": "merge", "objects": [{"op": "get", "field": "at"}, {"op": "literal", "value": {"a": 1}}]}})

      path = file(directory, "p.json", program(node))
      assert {1, "", errors} = task("ptc.run", [path, "--context", data, "--max-heap", "1000"])
      assert errors =~ "MemoryError"
      assert errors =~ "The limit can be raised with --max-heap, from 1000 words."
      assert {1, "", errors} = task("ptc.run", [path, "--context", data, "--timeout", "0"])
      assert errors =~ "TimeoutError: execution exceeded 0ms limit"
      assert errors =~ "The limit can be raised with --timeout, from 0 milliseconds."
    end

    test "a file that is no JSON, or no object, is the error of the decoder", %{
      directory: directory
    } do
      path = file(directory, "p.json", ~s({"program": {"op": "literal", "value": 1}}))
      valid = File.read!(large(directory))

      for wrong <- [
            binary_part(valid, 0, 9_000),
            valid <> "1",
            "\uFEFF" <> valid,
            "[" <> valid <> "]"
          ] do
        data = large(directory, wrong)
        context = fn -> task("ptc.run", [path, "--context", data]) end

        message =
          case Codec.decode(wrong) do
            {:error, error} -> "#{data} is no JSON: #{Exception.message(error)}"
            {:ok, _list} -> "the context in #{data} must be a JSON object"
          end

        assert_raise Mix.Error, message, context
        # Also if another file is wrong.
        memory = file(directory, "memory.json", "[")

        assert_raise Mix.Error, message, fn ->
          task("ptc.run", [path, "--context", data, "--memory", memory])
        end
      end
    end

    test "the standard input", %{directory: directory} do
      path = file(directory, "p.json", program(~s({"op": "count"})))
      text = Codec.encode!(%{"orders" => @rows, "x" => "é"})

      assert capture_io([input: text], fn ->
               Mix.Task.rerun("ptc.run", [path, "--context", "-"])
             end) ==
               "400\n"
    end

    test "no progress of a file is shown where stderr is no terminal", %{directory: directory} do
      pad = String.duplicate(" ", 50_000_001)
      data = file(directory, "huge.json", ~s({"orders": [1]}) <> pad)
      path = file(directory, "p.json", program(~s({"op": "count"})))
      assert {0, "1\n", told} = task("ptc.run", [path, "--context", data])
      # A run of more than a second is told of, on a busy machine this one too.
      assert told == "" or told =~ ~r/\Arunning: [^\n]*\n\z/

      assert capture_io(:stderr, fn -> assert byte_size(Files.large_text!(data)) == 50_000_016 end) ==
               ""
    end
  end

  describe "mix ptc.run with a journal" do
    alias PtcRunner.Json

    @rate ~s({"program": {"op": "let", "name": "r", "value": {"op": "call", "tool": "rate", "args": {"to": "USD"}},
      "in": {"rate": {"op": "var", "name": "r"}, "at": {"op": "now"}}}})

    test "the answers of a recorded run are those of its tools", %{directory: directory} do
      path = file(directory, "p.json", @rate)
      {{:ok, result, _, _}, journal} = Json.record(@rate, tools: %{"rate" => fn _ -> 1.25 end})
      recorded = file(directory, "journal.json", Json.Codec.encode!(journal))

      assert {0, output, ""} = task("ptc.run", [path, "--replay", recorded])
      assert Json.Codec.decode!(output) == result

      # A journal made in edition 1 is replayed in edition 1.
      first = ~s({"program": {"op": "call", "tool": "rate"}})
      opts = [tools: %{"rate" => fn _ -> [1] end}, edition: 1]
      {{:ok, [1], _, _}, journal} = Json.record(first, opts)
      path = file(directory, "first.json", first)
      recorded = file(directory, "first_journal.json", Json.Codec.encode!(journal))
      assert {0, "[1]\n", ""} = task("ptc.run", [path, "--replay", recorded])

      assert {1, "", errors} = task("ptc.run", [path, "--replay", recorded, "--edition", "2"])
      assert errors =~ "The journal is of edition 1 of the language, and the program of edition 2"
    end

    test "a recorded run is a file that is replayed", %{directory: directory} do
      data = file(directory, "data.json", @orders)
      path = file(directory, "p.json", program(~s({"op": "count"})))
      recorded = Path.join(directory, "journal.json")
      args = [path, "--context", data]
      assert {0, "3\n", ""} = task("ptc.run", args ++ ["--record", recorded])

      assert %{"journal" => 1, "calls" => [], "edition" => 2, "now" => now} =
               recorded |> File.read!() |> Json.Codec.decode!()

      assert {:ok, _now, 0} = DateTime.from_iso8601(now)
      assert {0, "3\n", ""} = task("ptc.run", args ++ ["--replay", recorded])

      # A run that fails is recorded too, and fails in the same way.
      path = file(directory, "rate.json", @rate)
      assert {1, "", errors} = task("ptc.run", [path, "--record", recorded])
      assert errors =~ "ExecutionError: Tool 'rate' not found"
      assert {1, "", ^errors} = task("ptc.run", [path, "--replay", recorded])

      # So is one whose program is none.
      path = file(directory, "none.json", "{")
      assert {1, "", errors} = task("ptc.run", [path, "--record", recorded])
      assert errors =~ "ParseError"
      assert %{"calls" => []} = recorded |> File.read!() |> Json.Codec.decode!()
    end

    test "a program that departs from the journal fails", %{directory: directory} do
      {_result, journal} = Json.record(@rate, tools: %{"rate" => fn _ -> 1.25 end})
      recorded = file(directory, "journal.json", Json.Codec.encode!(journal))
      path = file(directory, "p.json", String.replace(@rate, "USD", "EUR"))
      assert {1, "", errors} = task("ptc.run", [path, "--replay", recorded])

      assert errors =~
               ~S(The program calls 'rate' with %{"to" => "EUR"}, but the journal has 'rate' with %{"to" => "USD"})
    end

    test "journals that are none are said, each in its words", %{directory: directory} do
      path = file(directory, "p.json", @rate)
      {_result, journal} = Json.record(@rate, tools: %{"rate" => fn _ -> 1.25 end})
      entry = %{"id" => "1", "tool" => "rate", "args" => %{}}
      journal_of = fn calls -> Json.Codec.encode!(%{journal | "calls" => calls}) end
      missing = Path.join(directory, "missing.json")

      for {text, message} <- [
            {"{", ~r/none.json is no JSON: /},
            {"[]", ~r/the journal in .*none.json must be a JSON object/}
          ] do
        none = file(directory, "none.json", text)
        assert_raise Mix.Error, message, fn -> task("ptc.run", [path, "--replay", none]) end
      end

      assert_raise Mix.Error, ~r/cannot read .*missing.json: no such file or directory/, fn ->
        task("ptc.run", [path, "--replay", missing])
      end

      for {text, message} <- [
            {"{}", "No journal: %{}"},
            {~s({"journal": 7, "calls": []}),
             "The journal has version 7, and this library reads version 1"},
            {~s({"journal": 1, "calls": {}}), "No journal"},
            {journal_of.([7]), "The journal cannot be read: no entry of a journal: 7"},
            {journal_of.([%{entry | "id" => "x"}]), ~S(no id of a call: "x")},
            {journal_of.([entry]), "no answer of a call"},
            {journal_of.([Map.put(entry, "started", true)]),
             "The journal has a call without an answer"},
            {journal_of.([Map.put(entry, "answer", %{"$ptc" => "atom", "is" => "no_such_atom_1"})]),
             ~S(there is no atom "no_such_atom_1" in this VM)},
            {journal_of.([]),
             ~S(The program calls 'rate' with %{"to" => "USD"}, but the journal has no more calls)}
          ] do
        wrong = file(directory, "wrong.json", text)
        assert {1, "", errors} = task("ptc.run", [path, "--replay", wrong])
        assert errors =~ message
        refute errors =~ "** ("
      end
    end

    test "a file that cannot be written, and switches that exclude one another", %{
      directory: directory
    } do
      path = file(directory, "p.json", ~s({"program": 1}))
      nowhere = Path.join([directory, "no", "journal.json"])

      assert_raise Mix.Error, ~r/cannot write .*journal.json: no such file or directory/, fn ->
        task("ptc.run", [path, "--record", nowhere])
      end

      for switches <- [
            ["--record", nowhere, "--replay", nowhere],
            ["--record", nowhere, "--explain"],
            ["--replay", nowhere, "--explain"]
          ] do
        assert_raise Mix.Error, ~r/exclude one another/, fn ->
          task("ptc.run", [path | switches])
        end
      end
    end
  end

  describe "mix ptc.check" do
    test "right files are counted, and the exit code is 0", %{directory: directory} do
      program = file(directory, "p.json", ~s({"program": {"op": "literal", "value": 1}}))
      signature = file(directory, "s.sig", "(id :int) -> {name :string}\n")
      assert {0, "2 right, 0 wrong\n", ""} = task("ptc.check", [program, signature])
    end

    test "each mistake is a line with its place, and the exit code is 1", %{directory: directory} do
      right = file(directory, "right.json", ~s({"program": {"op": "literal", "value": 1}}))

      wrong =
        file(
          directory,
          "wrong.json",
          ~s({"program":\n  {"op": "not", "condition": {"op": "fitler"}}})
        )

      broken = file(directory, "broken.json", ~s({"program": {\n"op": }}))
      signature = file(directory, "s.sig", "(id :intt) -> :any")

      assert {1, "1 right, 3 wrong\n", errors} =
               task("ptc.check", [right, wrong, broken, signature])

      assert [first, second, third] = String.split(errors, "\n", trim: true)

      assert first ==
               wrong <>
                 ":2:30: ValidationError: Unknown operation 'fitler'. Did you mean 'filter'?"

      assert second =~ ~r/\A#{Regex.escape(broken)}:2:7: ParseError/
      assert third =~ ~r/\A#{Regex.escape(signature)}: /
    end

    test "a program of PTC-Lisp is no signature", %{directory: directory} do
      path = file(directory, "p.clj", "(inc 1)")
      assert {1, "0 right, 1 wrong\n", errors} = task("ptc.check", [path])

      assert errors ==
               path <>
                 ": a program of PTC-Lisp, which is not checked here but by PtcRunner.Lisp.check/2\n"
    end

    test "no files are a mistake" do
      assert_raise Mix.Error, ~r/expected files/, fn -> task("ptc.check", []) end
    end
  end

  describe "mix ptc.prompt" do
    test "is the prompt, or the schema" do
      assert {0, output, ""} = task("ptc.prompt", [])
      assert output == PtcRunner.Schema.to_prompt(edition: 2) <> "\n"
      assert {0, output, ""} = task("ptc.prompt", ["--schema"])
      assert {:ok, schema} = PtcRunner.Json.Codec.decode(output)

      assert {:ok, ^schema} =
               PtcRunner.Schema.to_llm_schema(edition: 2)
               |> PtcRunner.Json.Codec.encode!()
               |> PtcRunner.Json.Codec.decode()

      assert_raise Mix.Error, fn -> task("ptc.prompt", ["x"]) end
    end
  end

  test "pretty JSON reads back as what it was, however deep" do
    deep = Enum.reduce(1..2_000, 1, fn n, inside -> %{"k#{n}" => [inside, nil, "é\"\n"]} end)

    for term <- [deep, %{}, [], [[], %{}], 1.5, "x", Enum.to_list(1..200)] do
      text = term |> CLI.Pretty.json() |> IO.iodata_to_binary()
      assert PtcRunner.Json.Codec.decode(text) == {:ok, term}
    end
  end

  test "a place is found whatever stands before it" do
    text = ~s({"x\\"]}": "]}\\\\", "a": [{"b": null}, "s", {"a": 1, "c": {"d": -1.5e3}}], "a": 7})

    for {path, part} <- [
          {[], text},
          {["a", 2, "c", "d"], "-1.5e3"},
          {["a", 0, "b"], "null"},
          {["a", 1], ~s("s")},
          {["x\"]}"], ~s("]}\\\\")}
        ] do
      assert {:ok, {at, length}} = CLI.Place.of(text, path)
      assert binary_part(text, at, length) == part
    end

    for path <- [["b"], ["a", 3], ["a", "b"], [0], ["x\"]}", 0]],
        do: assert(CLI.Place.of(text, path) == :error)

    assert CLI.Place.of(~s({"a": [1), ["a", 1]) == :error
  end
end
