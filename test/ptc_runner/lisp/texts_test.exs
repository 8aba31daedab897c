defmodule PtcRunner.Lisp.TextsTest do
  # JSON texts in the context of programs of PTC-Lisp, which are read in place.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Paused}
  alias PtcRunner.Lisp
  alias PtcRunner.Test.LispVectors

  @rows for n <- 1..500, do: %{"id" => n, "total" => n * 2, "tags" => ["a#{rem(n, 3)}"]}

  defp text(value), do: value |> Codec.encode!() |> Json.text()

  # A text so long that it is not decoded first.
  defp long(value), do: Json.text(Codec.encode!(value) <> String.duplicate(" ", 5_000))

  test "a long text gives what its value gives, in less memory" do
    program = """
    (->> data/rows
         (filter #(> (:total %) 900))
         (group-by #(first (:tags %)))
         (map (fn [[tag rows]] {:tag tag :sum (sum-by :total rows) :first (first rows)}))
         (sort-by :tag))
    """

    run = &Lisp.run(program, [{:context, %{"rows" => &1}}, {:max_heap, &2}])
    assert {:ok, plain} = run.(@rows, 30_000)
    assert {:ok, %{return: value}} = run.(text(@rows), 30_000)
    assert value == plain.return
  end

  test "short texts, wrong ones, and limits" do
    run = &Lisp.run("[data/a (:n data/b)]", context: &1)
    assert {:ok, %{return: [1, 2]}} = run.(%{"a" => text(1), b: text(%{"n" => 2})})

    for wrong <- [Json.text("[1"), Json.text("[1" <> String.duplicate(" ", 5_000))] do
      assert {:error, step} = run.(%{"a" => wrong, "b" => nil})
      assert step.fail.reason == :execution_error
      assert step.fail.message =~ "Context 'a': JSON decode error"
    end

    assert {:error, step} =
             Lisp.run("(map :id data/rows)", context: %{"rows" => text(@rows)}, max_heap: 500)

    assert step.fail.reason == :memory_exceeded
    assert {:error, step} = Lisp.run("1", context: %{"rows" => text(@rows)}, timeout: 0)
    assert step.fail.reason == :timeout
  end

  test "a run over a text calls tools, prints, defines, pauses and goes on; its program may be from another node" do
    tools = %{"t" => {& &1["row"]["total"], approve: true}}

    program =
      "(def row (nth data/rows 7)) (println (:id row)) [(tool/t {:row row}) (format \"%d\" (:id row))]"

    opts = [context: %{"rows" => text(@rows)}, tools: tools]
    assert {:paused, paused} = Lisp.run(program, opts)
    assert {:ok, paused} = paused |> Paused.to_map() |> Paused.from_map()
    assert {:ok, step} = Lisp.resume(paused, :approve, opts)
    assert {step.return, step.prints, step.memory["row"]} == {[16, "8"], ["8"], Enum.at(@rows, 7)}
    changed = [context: %{"rows" => text(tl(@rows))}, tools: tools]
    assert {:error, step} = Lisp.resume(paused, :approve, changed)
    assert step.fail.message =~ "is not what it was"

    {:ok, compiled} = Lisp.compile("(:id (last data/rows))")
    elsewhere = %{compiled | handle: make_ref()}
    assert {:ok, %{return: 500}} = Lisp.run(elsewhere, context: %{"rows" => text(@rows)})
  end

  test "an agent, and a tool that answers a text" do
    tools = %{"rows" => fn _ -> text(@rows) end}
    program = "[(count data/rows) (count (tool/rows))]"
    opts = [language: :lisp, context: %{rows: text(@rows)}]
    assert {:ok, [500, 500], _info} = PtcRunner.Agent.run(program, tools, opts)
  end

  @tag timeout: 300_000
  test "golden cases whose context is JSON have the same results over texts" do
    cases =
      for file <- LispVectors.files(),
          case <- LispVectors.cases(file),
          map_size(case.context) > 0,
          Enum.all?(case.context, fn {_key, value} -> json?(value) end),
          do: case

    assert length(cases) > 100

    for case <- cases do
      over = fn program, opts ->
        context = Map.new(opts[:context], fn {key, value} -> {key, long(value)} end)
        Lisp.run(program, Keyword.put(opts, :context, context))
      end

      if LispVectors.wrong(case) == nil, do: assert(LispVectors.wrong(case, over) == nil)
    end
  end

  defp json?(value) do
    with {:ok, text} <- Codec.encode(value),
         {:ok, again} <- Codec.decode(text),
         do: again === value,
         else: (_ -> false)
  end
end
