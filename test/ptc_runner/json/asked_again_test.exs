defmodule PtcRunner.Json.AskedAgainTest do
  # Who asks the same of a compiled program again gets the answer from before: it is the one that the source gives.
  use ExUnit.Case, async: true

  alias PtcRunner.{Json, Native}
  alias PtcRunner.SubAgent.Signature

  @program ~s({"program": {"op": "pipe", "steps": [
    {"op": "load", "name": "rows"},
    {"op": "filter", "where": {"op": "gt", "field": "n", "value": 2}},
    {"op": "map", "expr": {"a": {"op": "get", "field": "n"}, "b": {"op": "get", "field": "text"}}},
    {"op": "call", "tool": "mail", "args": {"to": {"op": "load", "name": "who"}, "rows": {"op": "it"}}}]}})

  @questions [
    [context: %{"rows" => "[{n :int, text :string}]", "who" => ":string"}],
    [context: %{"rows" => "[{n :int, text :string?}]", "who" => ":string"}],
    [context: %{"rows" => "[{m :int}]"}],
    [context: %{"rows" => ":int"}, tools: %{"mail" => "(to :int) -> :bool"}],
    [memory: %{}],
    [returns: ":int"],
    [returns: {:list, {:literal, 0.0}}],
    [returns: {:list, {:literal, -0.0}}],
    [max_heap: 233],
    []
  ]

  defp compiled(source) do
    {:ok, program} = Json.compile(source)
    program
  end

  test "a check that is repeated has the same result" do
    program = compiled(@program)

    for order <- [@questions, Enum.reverse(@questions)], question <- order, _again <- 1..5 do
      assert Json.check(program, question) == Json.check(@program, question)
    end
  end

  test "questions that take turns have their own results" do
    program = compiled(@program)

    for _again <- 1..40, question <- @questions do
      assert Json.check(program, question) == Json.check(@program, question)
    end
  end

  test "a plan that is repeated has the same result, with other data and tools too" do
    program = compiled(@program)

    for _again <- 1..4,
        rows <- [[], [%{"n" => 1}]],
        tools <- [%{}, %{"mail" => {& &1, signature: "(to :string, rows :any) -> :bool"}}] do
      opts = [context: %{"rows" => rows, "who" => "Ada"}, tools: tools]
      assert Json.plan(program, opts) == Json.plan(@program, opts)
    end
  end

  test "a program that was given as a term has its own results" do
    term = Json.Codec.decode!(@program)
    program = compiled(term)

    for _again <- 1..4, question <- @questions do
      assert Json.check(program, question) == Json.check(term, question)
      assert Json.plan(program) == Json.plan(term)
    end
  end

  test "many processes ask at once" do
    program = compiled(@program)
    expected = Enum.map(@questions, &Json.check(@program, &1))

    for found <-
          Task.await_many(
            for _task <- 1..8 do
              Task.async(fn ->
                for _again <- 1..20, do: Enum.map(@questions, &Json.check(program, &1))
              end)
            end,
            60_000
          ),
        do: assert(Enum.uniq(found) == [expected])
  end

  test "large types are not kept, and a part of a long text is not kept alive" do
    program = compiled(~s({"program": {"op": "load", "name": "rows"}}))
    fields = for n <- 1..3_000, do: {"field_#{n}", :int}
    long = String.duplicate("name ", 20_000)
    {at, size} = {40_000, 4}

    for type <- [{:list, {:map, fields}}, {:map, [{binary_part(long, at, size), :int}]}],
        _again <- 1..4 do
      check = &Json.check(&1, context: %{"rows" => type})
      assert check.(program) == check.(program.source)
    end
  end

  test "the answer of the second question of a kind is kept" do
    program = compiled(@program)
    {:signature, _params, type} = Signature.parsed!("() -> [{n :int, text :string}]")

    ask = fn type ->
      {:ok, reply} =
        Native.check_compiled(
          program.handle,
          program.consts,
          program.source,
          :findings,
          %{"rows" => type},
          nil,
          nil,
          nil,
          {:infinity, 0}
        )

      reply
    end

    reply = ask.(type)
    for _again <- 1..3, do: assert(ask.(type) == reply)
    refute ask.({:list, {:map, [{"n", :string}, {"text", :string}]}}) == reply
    assert ask.(type) == reply
  end
end
