defmodule PtcRunner.Json.HintsTest do
  # What a model is told besides the error of a typical mistake.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Json.Hints

  doctest Hints

  @rows [%{"city" => "Bern", "n" => 1}, %{"city" => "Basel", "n" => nil}]

  defp told(node, opts \\ []) do
    program = %{
      "program" => %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => "rows"}, node]}
    }

    {:ok, text} = Json.Codec.encode(program)
    opts = opts ++ [edition: 2]

    with {:ok, program, _warnings} <- Agent.program(text, Keyword.take(opts, [:edition])),
         {:ok, _value, _info} <- Agent.run(program, %{}, [context: %{"rows" => @rows}] ++ opts) do
      :nothing
    else
      {:error, _error, feedback} -> feedback
    end
  end

  test "a field where expr belongs" do
    assert told(%{"op" => "map", "field" => "n"}) =~
             ~s("expr" is a NODE that is computed for each item: {"op":"get","field":NAME} takes a field of it.)
  end

  test "a field where where belongs" do
    for op <- ~w(filter reject find some every) do
      assert told(%{"op" => op, "field" => "city", "value" => "Bern"}) =~
               ~s("where" is a NODE that is computed for each item, such as {"op":"eq","field":NAME,"value":VALUE}.)
    end
  end

  test "other names for the key of a group, one name for several keys, a computed number" do
    for field <- ["by", "key"] do
      group = %{"op" => "group_by", field => "city"}
      assert told(group) =~ ~s{"field" (a name), "fields" (several names) or "expr" (a NODE)}
    end

    assert told(%{"op" => "sort_by", "by" => "n"}) =~ ~s([{"field":NAME,"order":"desc"}])
    count = %{"op" => "count"}

    for node <- [%{"op" => "take", "count" => count}, %{"op" => "nth", "index" => count}],
        do: assert(told(node) =~ "It is never computed: a number stands there.")
  end

  test "a constant where a NODE belongs" do
    assert told(%{"op" => "map", "expr" => "n"}) =~
             ~s(A NODE belongs there: {"op":"get","field":NAME} reads a field)

    assert told(%{"op" => "filter", "where" => true}) =~
             ~s(A NODE belongs there: {"op":"literal","value":...} is a constant.)
  end

  test "arithmetic on null" do
    double = %{"op" => "mul", "left" => %{"op" => "get", "field" => "n"}, "right" => 2}

    assert told(%{"op" => "map", "expr" => double}) =~
             ~s(mul requires numeric operands, got: nil, 2\nA missing field is null: {"op":"coalesce")
  end

  test "edition 1 is told what it was told" do
    assert told(%{"op" => "map", "expr" => "n"}, edition: 1) ==
             "ValidationError: Node must be a map, got \"n\"\nWrite the whole program again, as one JSON object."
  end

  @tag :edition_2
  test "a total of groups that have no totals" do
    program = ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"},
      {"op": "group_by", "field": "city"}, {"op": "sum", "field": "n"}]}})

    explanation = Json.explain(program, context: %{"rows" => @rows}, edition: 2)

    assert [%{message: "none of 2 had n: without \"each\", group_by gives" <> _}] =
             explanation.findings

    test = self()

    Agent.loop(
      fn messages ->
        send(test, {:told, hd(Enum.reverse(messages)).content})
        program
      end,
      task: "x",
      context: %{"rows" => @rows},
      edition: 2,
      max_turns: 2
    )

    assert_received {:told, _task}
    assert_received {:told, feedback}

    assert feedback =~
             ~s(none of 2 had n: without "each", group_by gives objects with the key and "items")
  end

  @tag :edition_2
  test "groups with totals need no hint" do
    program =
      ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"},
      {"op": "group_by", "field": "city", "each": {"c": {"op": "count"}}}, {"op": "sum", "field": "n"}]}})

    explanation = Json.explain(program, context: %{"rows" => @rows}, edition: 2)
    assert for(finding <- explanation.findings, do: finding.message) == ["none of 2 had n"]
  end
end
