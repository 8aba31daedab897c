defmodule Mix.Tasks.PtcLispTest do
  # Not async: tasks write to the standard output, and Mix runs a task once.
  use ExUnit.Case, async: false

  import ExUnit.CaptureIO

  setup do
    directory = Path.join(System.tmp_dir!(), "ptc-lisp-#{System.unique_integer([:positive])}")
    File.mkdir_p!(directory)
    on_exit(fn -> File.rm_rf!(directory) end)
    %{directory: directory}
  end

  # {exit code, stdout, stderr}
  defp run(directory, program, args \\ [], name \\ "p.clj") do
    path = file(directory, name, program)
    me = self()

    errors =
      capture_io(:stderr, fn ->
        output =
          capture_io(fn ->
            code =
              try do
                Mix.Task.rerun("ptc.run", [path | args])
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

  defp file(directory, name, text) do
    path = Path.join(directory, name)
    File.write!(path, text)
    path
  end

  @orders ~s({"orders": [{"id": 1, "customer": "Ada", "total": 120}, {"id": 2, "customer": "Bob", "total": 80}]})

  test "rows are a table, in the order of the data", %{directory: directory} do
    data = ["--context", file(directory, "data.json", @orders)]

    for name <- ["p.clj", "p.lisp", "p.ptcl"] do
      assert {0, out, ""} = run(directory, "(filter #(> (:total %) 90) data/orders)", data, name)

      assert out == "id  customer  total\n──  ────────  ─────\n 1  Ada         120\n\n"
    end

    assert {0, ~s({"Ada": 120}\n), ""} =
             run(directory, ~S|(return {"Ada" (:total (first data/orders))})|, data)
  end

  test "prints stand before the result, and before an error", %{directory: directory} do
    assert {0, "a\n· 1\n0.3\n", ""} = run(directory, ~s|(println "a\n\e" 1) (+ 0.1 0.2)|)
    assert {1, "a\n", errors} = run(directory, ~S|(println "a") (/ 1 0)|)

    assert errors == """
           arithmetic_error: division by zero
             at line 1, column 15
             1 | (println "a") (/ 1 0)
               |               ^^^^^^^

           """
  end

  test "what JSON does not have is shown as the language writes it", %{directory: directory} do
    assert {0, ~s(\#{1 "a"}\n), ""} = run(directory, ~S|#{1 "a"}|)
    assert {0, ~s([#fn[x] ##Inf]\n), ""} = run(directory, "[(fn [x] x) ##Inf]")
    assert {0, "{\"at\": \"2026-01-02\"}\n", ""} = run(directory, ~S|{:at (parse "2026-01-02")}|)

    assert_raise Mix.Error, "the value is no JSON: \#{1}", fn ->
      run(directory, "\#{1}", ["--json"])
    end

    assert {0, "0.30000000000000004\n", ""} = run(directory, "(+ 0.1 0.2)", ["--json"])
  end

  test "an error has its line and its column", %{directory: directory} do
    assert {1, "", errors} = run(directory, "(map inc\n  (if))")

    assert errors == """
           invalid_arity: Analysis error: expected (if cond then else?)
             at line 2, column 3
             2 |   (if))
               |   ^^^^

           """

    assert {1, "", errors} = run(directory, "; totl\n(str \"totl\" totl)")
    assert errors =~ "unbound_var: Undefined variable: totl\n  at line 2, column 13\n"
    assert {1, "", errors} = run(directory, "(+ 1\n (tool/find {:id 1}))")
    assert errors =~ "Unknown tool: find. No tools available.\n  at line 2, column 3\n"
    assert {1, "", errors} = run(directory, "(str \"é\" \"a)")
    assert errors =~ "at line 1, column 13"
    assert {1, "", errors} = run(directory, "(fail {:why 1})")
    assert errors =~ "The program has failed: {\"why\" 1}"
  end

  test "the memory is read, and limits say what raises them", %{directory: directory} do
    memory = ["--memory", file(directory, "memory.json", ~s({"rate": 2}))]
    assert {0, "84\n", ""} = run(directory, "(* rate 42)", memory)
    endless = "(loop [n 0] (recur (inc n)))"
    assert {1, "", errors} = run(directory, endless, ["--timeout", "30"])
    assert errors =~ "The limit can be raised with --timeout, from 30 milliseconds."

    assert {1, "", errors} =
             run(directory, "(count (vec (range 100000)))", ["--max-heap", "5000"])

    assert errors =~ "The limit can be raised with --max-heap, from 5000 words."
  end

  test "a run is recorded and replayed", %{directory: directory} do
    journal = Path.join(directory, "journal.json")
    assert {0, "3\n", ""} = run(directory, "(+ 1 2)", ["--record", journal])
    assert {0, "3\n", ""} = run(directory, "(+ 1 2)", ["--replay", journal])

    {_result, recorded} =
      PtcRunner.Lisp.record("(tool/price {:id 7})", tools: %{"price" => fn _ -> 12 end})

    File.write!(journal, PtcRunner.Json.Codec.encode!(recorded))
    assert {0, "12\n", ""} = run(directory, "(tool/price {:id 7})", ["--replay", journal])
  end

  test "options of the other language are said", %{directory: directory} do
    assert_raise Mix.Error,
                 ~r/works with programs in PTC-JSON, and .*p.clj is one in PTC-Lisp/,
                 fn -> run(directory, "1", ["--edition", "2"]) end
  end

  test "a run is explained", %{directory: directory} do
    assert {0, shown, ""} = run(directory, "(println 1)\n(+ 1 (inc 1))", ["--explain"])
    assert ["1", "3" | tree] = String.split(shown, "\n")
    assert Enum.any?(tree, &(&1 =~ ~r/└─ \(inc 1\) +1 /))

    assert {1, shown, error} = run(directory, "(inc \"a\")", ["--explain"])
    assert shown =~ "! ended here"
    assert error =~ "inc"
  end
end
