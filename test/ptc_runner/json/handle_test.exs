defmodule PtcRunner.Json.HandleTest do
  # What a compiled program keeps of its source answers questions about it: the source is not read again.
  use ExUnit.Case, async: false

  alias PtcRunner.{Agent, Json, Native}
  alias PtcRunner.Json.{Checking, Codec, Evaluation, Given, Program}
  alias PtcRunner.Json.Explain.Noticed
  alias PtcRunner.Test.{Calling, Environment}

  @program ~s({"program": {"op": "pipe", "steps": [
    {"op": "load", "name": "rows"},
    {"op": "filter", "where": {"op": "gt", "field": "n", "value": 2}},
    {"op": "map", "expr": {"a": {"op": "get", "field": "n"}, "big": {"op": "literal", "value": {"k": [1, 2]}}}},
    {"op": "call", "tool": "mail", "args": {"to": {"op": "load", "name": "who"}, "rows": {"op": "it"}}, "on_error": null}]}})

  # The numbers of texts and terms that were read as programs, and of walks of the compiler; and the result.
  defp counted(fun) do
    Native.count_programs(true)
    result = fun.()
    counts = Native.programs_counted()
    Native.count_programs(false)
    {counts, result}
  end

  # The number of calls of a native function, in any process.
  defp calls(name, arity, fun) do
    :erlang.trace(:all, true, [:call])
    :erlang.trace_pattern({Native, name, arity}, true, [:call_count])
    result = fun.()
    {:call_count, count} = :erlang.trace_info({Native, name, arity}, :call_count)
    :erlang.trace_pattern({Native, name, arity}, false, [:call_count])
    :erlang.trace(:all, false, [:call])
    {count, result}
  end

  defp compiled(source, opts \\ []) do
    {:ok, program} = Json.compile(source, opts)
    program
  end

  defp gone(program), do: %{program | handle: make_ref()}

  defp known do
    [
      context: %{"rows" => "[{n :int}]", "who" => ":string"},
      tools: %{"mail" => "(to :string, rows :any) -> :bool"}
    ]
  end

  describe "a compiled program" do
    test "is checked, planned and located without its source" do
      for source <- [@program, Codec.decode!(@program)], returns <- [":bool", ":string"] do
        program = compiled(source)
        known = [{:returns, returns} | known()]
        ask = &{Json.check(&1, known), Json.plan(&1), Json.check(&1)}
        assert counted(fn -> ask.(program) end) == {{0, 0, 0}, ask.(source)}
      end
    end

    test "is planned once in a run with a firewall, before it and for what it keeps, and its term is made once" do
      program =
        ~s({"program": {"sent": {"op": "call", "tool": "mail", "args": {"n": 1}},
        "id": {"op": "pipe", "steps": [{"op": "load", "name": "rows"}, {"op": "first"}, {"op": "get", "field": "id"}]},
        "pin": {"op": "pipe", "steps": [{"op": "load", "name": "rows"}, {"op": "first"}, {"op": "get", "field": "_pin"}]}}})

      mail = fn _ -> true end
      context = %{"rows" => [%{"id" => 1, "_pin" => 2}]}
      opts = [context: context, tools: %{"mail" => mail}, firewall: true]
      run = &fn -> Json.run(&1, opts) end
      compiled = compiled(program)

      assert {1, {:ok, _, _, %{"_concealed" => ["pin"]}}} =
               calls(:check_program, 7, run.(program))

      assert {1, {:ok, _, _, %{"_concealed" => ["pin"]}}} =
               calls(:check_compiled, 9, run.(compiled))

      assert {1, _result} = calls(:program_part, 3, run.(compiled))

      agent = fn -> Agent.run(compiled, %{"mail" => mail}, context: context) end
      assert {1, {:ok, _value, info}} = calls(:check_compiled, 9, agent)
      assert info.memory["_concealed"] == ["pin"]
      assert {1, _result} = calls(:program_part, 3, agent)
    end

    test "is explained without its text: it is compiled again, for that" do
      opts = [
        context: %{"rows" => [%{"n" => 3}], "who" => "x"},
        tools: %{"mail" => fn _ -> true end}
      ]

      paths =
        &for operation <- &1.operations, do: {operation.path, operation.about, operation.runs}

      program = compiled(@program)
      {counts, explanation} = counted(fn -> Json.explain(program, opts) end)
      assert counts == {0, 0, 1}
      assert paths.(explanation) == paths.(Json.explain(@program, opts))

      # The terms of all keys and constants are in the term only.
      term = compiled(Codec.decode!(@program))
      {counts, explanation} = counted(fn -> Json.explain(term, opts) end)
      assert counts == {0, 1, 1}
      assert paths.(explanation) == paths.(Json.explain(@program, opts))
    end

    test "is asked by its source where more is asked than it was compiled with" do
      for source <- [@program, Codec.decode!(@program)],
          opts <- [[keys: :any], [strict: true], [structs: :values]] do
        {counts, plan} = counted(fn -> Json.plan(compiled(source), opts) end)
        assert Tuple.sum(counts) == 4
        assert plan == Json.plan(source, opts)
      end
    end

    test "is asked by its source where its native part is gone" do
      opts = [
        context: %{"rows" => [%{"n" => 3}], "who" => "x"},
        tools: %{"mail" => fn _ -> true end}
      ]

      for source <- [@program, Codec.decode!(@program)],
          program = compiled(source),
          program <- [
            gone(program),
            %{program | handle: nil},
            %{program | handle: gone(program).handle, consts: nil},
            program |> gone() |> :erlang.term_to_binary() |> :erlang.binary_to_term()
          ] do
        assert Json.check(program, known()) == Json.check(source, known())
        assert Json.plan(program) == Json.plan(source)
        assert Json.explain(program, opts).result == Json.run(source, opts)

        given = Given.read(opts, "test")
        assert {:ok, {true, []}, _words} = Evaluation.run(program, given, &Noticed.run/1)
      end
    end

    test "is not asked with another text" do
      program = %{compiled(@program) | source: ~s({"program": {"op": "count"}})}
      assert {:error, [%{message: message}]} = Json.check(program, context: %{})
      assert message =~ "count"
    end

    test "keeps terms that no table has: long texts, and keys of any kind" do
      long = String.duplicate("x", 5_000)

      node = %{
        "op" => "object",
        "fields" => %{long => %{"op" => "literal", "value" => {1, %{long => 2}}}}
      }

      program = compiled(%{"program" => node})
      ask = &{Json.check(&1, returns: "{a :int}"), Json.check(&1), Json.plan(&1)}
      assert counted(fn -> ask.(program) end) == {{0, 0, 0}, ask.(%{"program" => node})}
    end

    test "keeps the digest of its program for its own text only" do
      text = ~s({"program": {"op": "load", "name": "aa"}})
      other = String.replace(text, "aa", "bb")
      digest = fn program -> elem(Json.plan(program), 1).digest.program end
      program = compiled(text)
      before = Native.source_bytes(program.handle)
      assert for(_ <- 1..3, do: digest.(program)) == List.duplicate(digest.(text), 3)
      assert Native.source_bytes(program.handle) == before + 128
      assert digest.(%{program | source: other}) == digest.(other)
      assert digest.(program) == digest.(text)
    end

    test "takes for its source at most 32 bytes a part, besides the text" do
      for steps <- [1, 10, 1_000, 30_000] do
        text = Enum.map_join(1..steps, ",", fn _ -> ~s({"op":"count"}) end)
        program = compiled(~s({"program":{"op":"pipe","steps":[#{text}]}}), max_heap: 0)
        assert Native.source_bytes(program.handle) <= 32 * (3 * steps + 40)
      end
    end
  end

  describe "a turn of an agent" do
    @rows for n <- 1..10, do: %{"id" => n, "n" => n * 10}
    @turn ~s({"program": {"op": "pipe", "steps": [
      {"op": "load", "name": "rows"},
      {"op": "filter", "where": {"op": "gt", "field": "n", "value": 20}},
      {"op": "set", "fields": {"limit": {"op": "call", "tool": "limit", "args": {"id": {"op": "get", "field": "id"}}}}},
      {"op": "sum", "field": "limit"}]}})

    defp turn(text, opts \\ []) do
      tools = %{
        "limit" => {fn %{"id" => id} -> id end, signature: "(id :int) -> :int", effect: :read}
      }

      own = [
        task: "Add.",
        context: %{"rows" => @rows},
        tools: tools,
        returns: ":int",
        max_turns: 1
      ]

      Agent.loop(fn _messages -> text end, Keyword.merge(own, opts))
    end

    test "reads its program once and compiles it once, with all defaults" do
      {counts, {:ok, step}} = counted(fn -> turn(@turn) end)
      assert {counts, step.return} == {{1, 0, 1}, 52}

      # In prose and in a fence.
      {counts, {:ok, step}} = counted(fn -> turn("Here it is:\n```json\n#{@turn}\n```") end)
      assert {counts, step.return} == {{1, 0, 1}, 52}

      # A text that was repaired is a term.
      {counts, {:ok, step}} =
        counted(fn -> turn(String.replace(@turn, ~s("op": "load"), "op: 'load'")) end)

      assert {counts, step.return} == {{0, 1, 1}, 52}
    end

    test "reads its program once also where hooks see the paths of calls, and where a program shows fields" do
      me = self()
      hook = fn call -> send(me, {:called, call.path}) && :run end

      shows =
        String.replace(
          @turn,
          ~s({"op": "sum", "field": "limit"}),
          ~s({"op": "map", "expr": {"op": "entries"}})
        )

      {counts, {:ok, _step}} = counted(fn -> turn(shows, on_call: hook, returns: ":any") end)
      assert counts == {1, 0, 1}
      assert_received {:called, ["program", "steps", 2, "fields", "limit"]}
    end

    test "reads its program once also where it has findings" do
      text =
        ~s({"program": {"op": "pipe", "steps": [
        {"op": "load", "name": "rows"}, {"op": "group_by", "field": "id"}, {"op": "sum", "field": "n"}]}})

      {counts, {:error, step}} = counted(fn -> turn(text, check: false) end)
      assert counts == {1, 0, 1}
      assert hd(step.turns).result.error =~ "group_by gives objects"
    end

    test "decodes no program" do
      {count, {:ok, _step}} = calls(:json_decode, 3, fn -> turn(@turn) end)
      assert count == 0
    end

    test "without findings compiles its program once too" do
      {counts, {:ok, step}} = counted(fn -> turn(@turn, findings: :ignore) end)
      assert {counts, step.return} == {{1, 0, 1}, 52}
    end

    test "compiles a program again, and does not read it again, where a limit ends the observed run" do
      # The observed run makes the list of the rows that are kept.
      text = ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"},
          {"op": "filter", "where": {"op": "gt", "field": "id", "value": 0}}, {"op": "count"}]}})

      rows = for n <- 1..1_000, do: %{"id" => n}
      {:ok, program} = Checking.observed(text, edition: 2)
      given = Given.read([context: %{"rows" => rows}, max_heap: 300], "test")
      {counts, result} = counted(fn -> Evaluation.run(program, given, &Noticed.run/1) end)
      assert {counts, elem(result, 1)} == {{0, 0, 1}, {1_000, []}}
    end
  end

  @tag timeout: 300_000
  test "the path of each call leads to that call" do
    seed = Environment.seed()

    for n <- 1..Environment.cases(200),
        program = Calling.program(seed, n),
        form <- [:text, :term] do
      source = if form == :text, do: Codec.encode!(program), else: program
      me = self()
      hook = fn call -> send(me, {:called, call.tool, call.path}) && :run end
      tools = Calling.tools(fn _, _ -> :ok end)
      Json.run(source, context: Calling.context(), tools: tools, on_call: hook)
      check_paths(program, "PTC_SEED=#{seed}, case #{n}")
    end
  end

  defp check_paths(program, where) do
    receive do
      {:called, tool, ["program" | path]} ->
        assert %{"op" => "call", "tool" => ^tool} = Program.part(program, path), where
        check_paths(program, where)
    after
      0 -> :ok
    end
  end
end
