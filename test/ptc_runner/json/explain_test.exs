defmodule PtcRunner.Json.ExplainTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Explain}
  alias PtcRunner.Test.{Generator, Room, Vectors, Watch}

  doctest Explain
  doctest Explain.About
  doctest Explain.Encoded
  doctest Explain.Findings
  doctest Explain.Format
  doctest Explain.Observed

  @program ~s({"program": {"op": "pipe", "steps": [
    {"op": "load", "name": "orders"},
    {"op": "filter", "where": {"op": "and", "conditions": [
      {"op": "eq", "field": "customer", "value": "Ada"},
      {"op": "gt", "field": "total", "value": 50}]}},
    {"op": "map", "expr": {
      "gross": {"op": "mul", "left": {"op": "get", "field": "total"}, "right": {"op": "call", "tool": "rate"}}}},
    {"op": "sum", "field": "gross"}]}})

  defp orders(count) do
    for n <- 1..count, do: %{"customer" => Enum.at(~w(Ada Bob), rem(n, 2)), "total" => n}
  end

  defp opts(count \\ 100, rate \\ fn _args -> 2 end),
    do: [context: %{"orders" => orders(count)}, tools: %{"rate" => rate}]

  defp at(explanation, path), do: Enum.find(explanation.operations, &(&1.path == path))

  test "each operation has its place, its runs, its items and its tool calls" do
    explanation = Json.explain(@program, opts())
    assert explanation.result == Json.run(@program, opts())
    assert explanation.failed_at == nil

    rows =
      for operation <- explanation.operations,
          do:
            {Explain.path_text(operation.path), operation.op, operation.runs, operation.items_in,
             operation.items_out, operation.tool_calls}

    assert rows == [
             {"program", "pipe", 1, nil, nil, 0},
             {"program.steps[0]", "load", 1, nil, 100, 0},
             {"program.steps[1]", "filter", 1, 100, 25, 0},
             {"program.steps[1].where", "and", 100, nil, nil, 0},
             {"program.steps[1].where.conditions[0]", "eq", 100, nil, nil, 0},
             {"program.steps[1].where.conditions[1]", "gt", 50, nil, nil, 0},
             {"program.steps[2]", "map", 1, 25, 25, 0},
             {"program.steps[2].expr", "object", 25, nil, nil, 0},
             {"program.steps[2].expr.gross", "mul", 25, nil, nil, 0},
             {"program.steps[2].expr.gross.left", "get", 25, nil, nil, 0},
             {"program.steps[2].expr.gross.right", "call", 25, nil, nil, 25},
             {"program.steps[3]", "sum", 1, 25, nil, 0}
           ]

    assert Enum.all?(explanation.operations, &(&1.ended == &1.runs))
    assert at(explanation, ["program", "steps", 1, "where"]).held == 25
  end

  test "a part of the program is found at its path, in a program of terms too" do
    {:ok, parsed} = Codec.decode(@program)
    {:ok, compiled} = Json.compile(@program)

    for program <- [@program, parsed, compiled],
        operation <- Json.explain(program, opts(4)).operations do
      node =
        Enum.reduce(operation.path, parsed, fn
          index, list when is_integer(index) -> Enum.at(list, index)
          key, map -> Map.fetch!(map, key)
        end)

      assert Map.get(node, "op", "object") == operation.op
    end
  end

  test "one term that stands at several places of a program has each of them" do
    add = %{"op" => "add", "left" => 1, "right" => 2}

    program = %{
      "program" => %{
        "op" => "concat",
        "lists" => [
          %{"op" => "pipe", "steps" => [add, add, add]},
          %{"op" => "literal", "value" => []}
        ]
      }
    }

    paths = Enum.map(Json.explain(program).operations, &Explain.path_text(&1.path))
    assert "program.lists[0].steps[0]" in paths
    assert "program.lists[0].steps[2]" in paths
    assert paths == Enum.uniq(paths)
  end

  test "times and words add up" do
    slow = fn _args -> Process.sleep(3) && 2 end
    explanation = Json.explain(@program, opts(60, slow))
    root = at(explanation, ["program"])
    call = at(explanation, ["program", "steps", 2, "expr", "gross", "right"])

    own = explanation.operations |> Enum.map(&(&1.time + &1.tool_time)) |> Enum.sum()
    assert root.total_time == own
    assert root.total_words == explanation.words
    assert explanation.words > 0
    assert call.tool_calls == 5
    assert call.tool_time >= 5 * 3_000_000
    assert root.total_time >= call.tool_time
    assert explanation.duration >= root.total_time
  end

  test "a run that ends in the middle has what happened up to there" do
    ref = :counters.new(1, [])

    fails = fn _args ->
      :counters.add(ref, 1, 1)
      if :counters.get(ref, 1) == 3, do: raise("no network"), else: 1
    end

    explanation = Json.explain(@program, opts(100, fails))
    assert {:error, {:execution_error, "Tool 'rate' raised: no network"}} = explanation.result
    assert explanation.failed_at == ["program", "steps", 2, "expr", "gross", "right"]
    assert %{runs: 3, ended: 2} = at(explanation, explanation.failed_at)
    assert %{runs: 0} = at(explanation, ["program", "steps", 3])

    program =
      ~s({"program": {"op": "map", "expr": {"op": "add", "left": 1, "right": {"op": "get", "field": "n"}}}})

    memory = %{"__input" => [%{"n" => 1}, %{"n" => "x"}]}
    explanation = Json.explain(program, memory: memory)
    assert explanation.result == Json.run(program, memory: memory)
    assert explanation.failed_at == ["program", "expr"]
  end

  test "improper lists in fields that the operation does not know do no harm" do
    for field <- ["path", "fields"], list <- [["a" | "b"], ["a", 7 | "b"], ["a" | %{}], []] do
      step = %{"op" => "count", field => list}
      literal = %{"op" => "literal", "value" => [1, 2]}
      program = %{"program" => %{"op" => "pipe", "steps" => [literal, step]}}
      explanation = Json.explain(program)
      assert explanation.result == {:ok, 2, %{}, %{}}
      assert to_string(explanation) =~ if(list == [], do: "count", else: "count a")
    end
  end

  test "the deadline ends it, wherever it is" do
    hangs = fn _args -> Process.sleep(:infinity) end

    Room.growing(50, fn timeout ->
      explanation = Json.explain(@program, [timeout: timeout] ++ opts(100, hangs))
      assert explanation.result == {:error, {:timeout, timeout}}
      assert List.last(explanation.failed_at) == "right"
      assert at(explanation, explanation.failed_at).tool_time >= 20_000_000
    end)

    rows = Enum.to_list(1..200_000)

    program =
      ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"},
      {"op": "map", "expr": {"op": "pipe", "steps": [{"op": "load", "name": "rows"}, {"op": "sort_by", "field": "n"}]}}]}})

    Room.growing(60, fn timeout ->
      explanation = Json.explain(program, context: %{"rows" => rows}, timeout: timeout)
      assert explanation.result == {:error, {:timeout, timeout}}
      assert explanation.failed_at != nil
      assert Enum.any?(explanation.operations, &(&1.breaks > 0))
    end)
  end

  test "the heap limit ends it" do
    rows = Enum.to_list(1..100_000)

    program =
      ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"}, {"op": "map", "expr": {"n": 1}}]}})

    opts = [context: %{"rows" => rows}, max_heap: 10_000]
    explanation = Json.explain(program, opts)
    assert explanation.result == Json.run(program, opts)
    assert {:error, {:memory_exceeded, _bytes}} = explanation.result
    assert explanation.failed_at in [["program", "steps", 1], ["program", "steps", 1, "expr"]]
  end

  test "a program with a mistake has the place of it" do
    for {program, path} <- [
          {~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "x"}, {"op": "fitler"}]}}),
           ["program", "steps", 1]},
          {~s({"program": {"a": {"op": "object", "fields": {"b": {"op": "take", "count": -1}}}}}),
           ["program", "a", "fields", "b"]},
          {~s({"program": {"op": "map", "expr": 7}}), ["program", "expr"]},
          {~s({"program": {"op": "let", "name": "n", "value": {"op": "count"}}}), ["program"]}
        ] do
      explanation = Json.explain(program)
      assert explanation.result == Json.run(program)
      assert {:error, {:validation_error, _text}} = explanation.result
      assert explanation.failed_at == path
      assert explanation.operations == []

      {:ok, parsed} = Codec.decode(program)
      assert Json.explain(parsed).failed_at == path
    end

    assert %{result: {:error, {:parse_error, _}}, failed_at: nil} = Json.explain("{")
    assert %{result: {:error, {:parse_error, _}}} = Json.explain(:none)

    assert %{result: {:error, {:validation_error, "Tools must" <> _}}} =
             Json.explain(@program, tools: %{"t" => 1})
  end

  describe "findings" do
    test "a filter that kept nothing" do
      for step <- [
            ~s({"op": "filter", "where": {"op": "eq", "field": "customer", "value": "Cy"}}),
            ~s({"op": "reject", "where": {"op": "neq", "field": "customer", "value": "Cy"}}),
            ~s({"op": "filter_in", "field": "customer", "value": ["Cy"]})
          ] do
        program =
          ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "orders"}, #{step}, {"op": "count"}]}})

        explanation = Json.explain(program, opts(10))
        path = ["program", "steps", 1]

        assert [%{kind: :kept_nothing, path: ^path, message: "kept nothing of 10"}] =
                 explanation.findings

        assert to_string(explanation) =~ "! kept nothing of 10"
      end
    end

    test "not a filter that had nothing" do
      program =
        ~s({"program": {"op": "pipe", "steps": [{"op": "literal", "value": []}, {"op": "filter", "where": {"op": "eq", "field": "a", "value": 1}}]}})

      assert Json.explain(program).findings == []
    end

    test "a field that no value had" do
      for {step, message} <- [
            {~s({"op": "sum", "field": "totl"}), "none of 10 had totl"},
            {~s({"op": "sort_by", "field": "totl"}), "none of 10 had totl"},
            {~s({"op": "select", "fields": ["total", "nope", "customer"]}),
             "none of 10 had nope"},
            {~s({"op": "map", "expr": {"op": "get", "path": ["net", "total"]}}),
             "none of 10 had net.total"},
            {~s({"op": "map", "expr": {"op": "get", "field": "totl"}}), "none of 10 had totl"},
            {~s({"op": "max_by", "field": "totl"}), "none of 10 had totl"}
          ] do
        program =
          ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "orders"}, #{step}]}})

        explanation = Json.explain(program, opts(10))

        assert Enum.map(explanation.findings, &{&1.kind, &1.message}) == [
                 {:key_not_found, message}
               ]
      end
    end

    test "not a field that some row has, however late" do
      orders = orders(3_000) ++ [%{"late" => 1}]

      program =
        ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "orders"}, {"op": "sum", "field": "late"}]}})

      explanation = Json.explain(program, context: %{"orders" => orders})
      assert explanation.result == {:ok, 1, %{}, %{}}
      assert explanation.findings == []
      assert [%{key: "late", looked: 3_001, found: 1}] = List.last(explanation.operations).keys
    end
  end

  test "an explanation is data: it survives the external term format, and becomes JSON" do
    explanation = Json.explain(@program, opts())
    assert :erlang.binary_to_term(:erlang.term_to_binary(explanation)) == explanation

    {:ok, json} = Codec.decode(Explain.to_json(explanation))
    assert json["outcome"] == "ok"
    assert length(json["operations"]) == 12
    assert Enum.at(json["operations"], 2)["items_out"] == 25

    program = %{
      "program" => %{"op" => "object", "fields" => %{{:odd, "key"} => %{"op" => "count"}}}
    }

    {:ok, json} = program |> Json.explain() |> Explain.to_json() |> Codec.decode()
    assert json["outcome"] =~ "No input"
    assert List.last(json["failed_at"]) == ~s({:odd, "key"})
  end

  test "the tree shows each operation on a line, and control characters do not reach the terminal" do
    text = to_string(Json.explain(@program, opts()))
    assert text =~ "├─ filter"
    assert text =~ "│     ├─ eq customer \"Ada\""
    assert text =~ "100 → 25"
    assert text =~ "25 true"
    assert text =~ "left for a tool 25 times"

    program = %{"program" => %{"op" => "load", "name" => "a\e[31m\nb"}}
    text = to_string(Json.explain(program))
    refute text =~ "\e"
    assert text |> String.split("\n", trim: true) |> length() == 3
  end

  test "very many operations are a bounded text" do
    steps = for _ <- 1..3_000, do: %{"op" => "literal", "value" => 1}
    explanation = Json.explain(%{"program" => %{"op" => "pipe", "steps" => steps}})
    assert length(explanation.operations) == 3_001
    assert to_string(explanation) =~ "and 2501 operations more"
  end

  test "10,000 parts beside one another are each looked up at once" do
    parts = for n <- 1..10_000, do: %{"op" => "literal", "value" => n}
    {:reductions, before} = Process.info(self(), :reductions)

    explanation =
      Json.explain(%{"program" => %{"op" => "concat", "lists" => parts}}, timeout: 60_000)

    {:reductions, spent} = Process.info(self(), :reductions)

    assert [%{op: "concat"} | operations] = explanation.operations
    assert Enum.map(operations, & &1.about) == for(n <- 1..10_000, do: "literal #{n}")
    # A walk to each of them is 50 million steps.
    assert spent - before < 20_000_000
  end

  test "the explanation counts against both limits, and long paths are shortened" do
    nest = fn depth, last ->
      open = String.duplicate(~s({"op":"not","condition":), depth)
      ~s({"program":) <> open <> last <> String.duplicate("}", depth) <> "}"
    end

    one = ~s({"op":"literal","value":1})
    {:memory, before} = Process.info(self(), :memory)
    explanation = Json.explain(nest.(9_000, one), timeout: 20_000, max_heap: 1_250_000)
    {:memory, now} = Process.info(self(), :memory)
    assert explanation.result == {:error, {:memory_exceeded, 10_000_000}}
    assert explanation.operations == []
    assert now - before < 100_000_000

    # The place of an error is known however deep it is.
    explanation = Json.explain(nest.(9_000, ~s({"op":"count"})), max_heap: 1_250_000)
    assert {:error, {:execution_error, _}} = explanation.result
    assert length(explanation.failed_at) == 9_001
    assert explanation.operations == []

    operations = Json.explain(nest.(500, one)).operations
    assert length(operations) == 501
    assert Enum.at(operations, 64).path == ["program" | List.duplicate("condition", 64)]
    condition = List.duplicate("condition", 31)
    assert List.last(operations).path == ["program" | condition] ++ ["…", "condition" | condition]

    assert length(Json.explain(nest.(2_000, one), max_heap: 0, timeout: 20_000).operations) ==
             2_001
  end

  test "deep nesting is no recursion" do
    deep =
      Enum.reduce(
        1..5_000,
        %{"op" => "literal", "value" => 1},
        &%{"op" => "not", "condition" => &2, "x" => &1}
      )

    explanation = Json.explain(%{"program" => deep})

    assert explanation.result == {:ok, true, %{}, %{}} or
             explanation.result == {:ok, false, %{}, %{}}

    assert length(explanation.operations) == 5_001
  end

  test "the work for a deep program is linear" do
    counted = fn depth ->
      node =
        Enum.reduce(1..depth, %{"op" => "literal", "value" => 1}, fn _, inner ->
          condition = %{"op" => "literal", "value" => true}
          %{"op" => "if", "condition" => condition, "then" => inner, "else" => 1}
        end)

      program = Json.Codec.encode!(%{"program" => node})
      limits = [timeout: :infinity, max_heap: 0, max_depth: 100_000]
      {:reductions, before} = Process.info(self(), :reductions)
      explanation = Json.explain(program, limits)
      {:reductions, now} = Process.info(self(), :reductions)
      assert length(explanation.operations) == 2 * depth + 1
      assert ["program", "then" | _] = path = List.last(explanation.operations).path
      assert length(path) == 65
      now - before
    end

    # Collections of garbage count as work, too: the least of some fresh processes has few of them.
    least = fn depth ->
      Enum.min(for _ <- 1..4, do: Task.await(Task.async(fn -> counted.(depth) end), :infinity))
    end

    # Four times as deep. A square would be sixteen times as much.
    assert least.(2_400) < 12 * least.(600)
  end

  test "explained, every golden program gives what it gives otherwise" do
    for %{program: program} = vector <- Vectors.read("ptc_json"), vector.opts == [] do
      opts = [context: vector.context, memory: vector.memory, tools: Vectors.tools(vector.tools)]

      assert {vector.id, Json.explain(program, opts).result} ===
               {vector.id, Json.run(program, opts)}
    end
  end

  test "explained, random programs give what they give otherwise" do
    for seed <- 1..PtcRunner.Test.Environment.cases(400) do
      %{program: program, context: context, memory: memory} =
        Generator.random_case(seed, rem(seed, 5) + 1)

      opts = [context: context, memory: memory]
      program = %{"program" => program}
      assert {seed, Json.explain(program, opts).result} === {seed, Json.run(program, opts)}
    end
  end

  test "nothing stays behind" do
    {messages, started} =
      Watch.started(fn ->
        for _ <- 1..20, do: Json.explain(@program, opts())
        Process.info(self(), :messages)
      end)

    assert messages == {:messages, []}
    assert length(started) >= 20
    assert Watch.survivors(started) == []
  end

  test "the text of a deep program takes little time" do
    nest = fn _, node -> %{"op" => "not", "condition" => node} end
    program = %{"program" => Enum.reduce(1..2_000, %{"op" => "literal", "value" => 1}, nest)}
    explanation = PtcRunner.Json.explain(program, timeout: 20_000)
    {:reductions, before} = Process.info(self(), :reductions)
    text = to_string(explanation)
    {:reductions, reductions} = Process.info(self(), :reductions)
    assert reductions - before < 3_000_000
    assert [_head, _columns, "not" <> _, "└─ not" <> _ | _] = String.split(text, "\n")
  end
end
