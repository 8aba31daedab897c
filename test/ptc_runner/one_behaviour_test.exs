defmodule PtcRunner.OneBehaviourTest do
  # What is the same, or is said, wherever an application meets it: keys, hints, decimals as JSON, short forms of large structs.
  # The log that is captured is that of all tests which run.
  use ExUnit.Case, async: false

  import ExUnit.CaptureLog

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.CLI.Table
  alias PtcRunner.Json.Codec
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.Test.Oracle.Decimals

  doctest PtcRunner.Json.AtomKeys
  doctest PtcRunner.Shown.Brief
  doctest Table

  describe "atoms as keys of a context" do
    @load ~s({"program": {"op": "load", "name": "n"}})
    @sum ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "n"}, {"op": "sum", "field": "x"}]}})

    test "are said where the program has not found them" do
      for program <- [@load, elem(Json.compile(@load), 1), Codec.decode!(@load)] do
        log = capture_log(fn -> assert {:ok, nil, _, _} = Json.run(program, context: %{n: 1}) end)

        assert log =~
                 ~s(the context has the key :n, an atom, and keys are texts: give %{"n" => …}, or keys: :any)
      end

      log =
        capture_log(fn ->
          assert {:error, {:execution_error, _}} = Json.run(@sum, context: %{n: [%{"x" => 1}]})
        end)

      assert log =~ "the context has the key :n"
      assert {:error, {:execution_error, text}} = Json.run(@load, context: %{n: 1}, strict: true)

      assert text =~
               ~s(There are none. The context has the key :n, an atom, and keys are texts: give %{"n" => …}, or keys: :any)
    end

    test "are said of rows and objects, where a program has found nothing" do
      rows = fn operation ->
        ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"}, #{operation}]}})
      end

      for {operation, value} <- [
            {~s({"op": "sum", "field": "x"}), 0},
            {~s({"op": "avg", "field": "x"}), nil},
            {~s({"op": "filter", "where": {"op": "eq", "field": "x", "value": 1}}), []},
            {~s({"op": "map", "expr": {"op": "get", "field": "x"}}), [nil, nil]},
            {~s({"op": "some", "where": {"op": "gt", "field": "x", "value": 0}}), false}
          ],
          {row, options} <- [
            {%{x: 1}, "give keys: :any"},
            {%PtcRunner.Turn{number: 1}, "give keys: :any, structs: :values"}
          ] do
        log =
          capture_log(fn ->
            opts = [context: %{"rows" => [row, row]}]
            assert {:ok, ^value, _, _} = Json.run(rows.(operation), opts)
          end)

        assert log =~ ~r/the context has the key :\w+ in "rows", an atom, and keys are texts: /
        assert log =~ options
      end

      get = ~s({"op": "get", "path": ["rows", "x"]})
      run = ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"}, #{get}]}})
      log = capture_log(fn -> Json.run(run, context: %{"rows" => %{x: 1}}) end)
      assert log =~ ~s(the key :x in "rows")
    end

    test "are said of the memory, too" do
      var = ~s({"program": {"op": "var", "name": "n"}})
      log = capture_log(fn -> {:ok, nil, _, _} = Json.run(var, memory: %{n: 1}) end)
      assert log =~ "the memory has the key :n, an atom, and keys are texts"
      assert capture_log(fn -> Json.run(var, memory: %{n: 1}, keys: :any) end) == ""
      assert capture_log(fn -> Json.run(var, memory: %{"n" => nil}) end) == ""
    end

    test "are said once for a program and a place, and ten times for a place" do
      here = fn program -> {:ok, nil, _, _} = Json.run(program, context: %{once: 1}) end
      there = fn program -> {:ok, nil, _, _} = Json.run(program, context: %{once: 1}) end
      programs = for n <- 1..30, do: ~s({"program": {"op": "load", "name": "name#{n}"}})
      said = fn run, programs -> capture_log(fn -> Enum.each(programs, run) end) end
      count = fn log -> length(String.split(log, "the key :once, an atom")) - 1 end

      assert count.(said.(here, List.duplicate(hd(programs), 20))) == 1
      assert said.(here, [hd(programs)]) == ""
      assert count.(said.(there, [hd(programs)])) == 1
      assert count.(said.(here, programs)) == 9
      assert said.(here, programs) == ""
    end

    test "are said each time where code is typed in" do
      code =
        ~S|PtcRunner.Json.run(~s({"program": {"op": "load", "name": "x"}}), context: %{typed: 1})|

      for _ <- 1..3,
          do: assert(capture_log(fn -> Code.eval_string(code) end) =~ "the key :typed, an atom")
    end

    test "are not said where they are found, or where nothing is missing" do
      for {program, opts} <- [
            {@load, [context: %{n: 1}, keys: :any]},
            {@load, [context: %{n: nil}, keys: :any]},
            {@load, [context: %{"n" => nil}]},
            {~s({"program": {"op": "literal", "value": 1}}), [context: %{n: 1}]},
            {@sum, [context: %{n: [%{x: 0}]}, keys: :any]},
            {@sum, [context: %{"n" => [%{"x" => 0}]}]},
            {@sum, [context: %{"n" => [], "d" => ~D[2026-01-31], "t" => Json.text("[]")}]},
            {@load, []}
          ] do
        assert capture_log(fn -> Json.run(program, opts) end) == ""
      end
    end
  end

  describe "hints of unknown types" do
    test "name the form that has it" do
      for {word, form} <- [
            {"decimal", "[name: :decimal]"},
            {"date", "[name: :date]"},
            {"time", "[name: {:string, format: :time}]"},
            {"uuid", "[name: {:string, format: :uuid}]"},
            {"integer", ":int"},
            {"number", ":float"},
            {"list", "[:type]"},
            {"object", "{field :type}"}
          ] do
        for text <- ["{total :#{word}}", "(a :#{word}) -> :int", ":#{word}", "[:#{word}?]"] do
          {:error, message} = Signature.parse(text)
          assert message =~ "Hint: Valid types are"
          assert message =~ "unknown type :#{word}"
          # The hint stands behind the text that it is about.
          assert_raise ArgumentError, ~r/unknown type :#{word} in .*Hint: /, fn ->
            Signature.parsed!(text)
          end

          assert message =~ form
        end
      end

      {:error, message} = Signature.parse("{a :foo}")
      assert message =~ ~r/\{field :type\}$/
    end

    test "the forms that they name are read" do
      for given <- [
            [name: :decimal],
            [name: :date],
            [name: {:string, format: :time}],
            [name: {:string, enum: ["a", "b"]}],
            [name: {:map_of, :int}],
            [name: {:one_of, [:int, :string], nil}]
          ] do
        assert {:ok, {:signature, [], {:map, [{"name", _type}]}}} = Signature.parse(given)
      end
    end
  end

  describe "decimals as JSON" do
    test "are their digits, at any depth, in records and steps too" do
      for {coef, exp, text} <- [
            {1250, -2, "12.50"},
            {-1, -3, "-0.001"},
            {7, 0, "7"},
            {1, 3, "1E+3"}
          ] do
        decimal = Decimals.new(coef, exp)
        assert Codec.encode(decimal) == {:ok, ~s("#{text}")}
        assert Codec.encode!(%{"a" => [decimal]}) == ~s({"a":["#{text}"]})

        assert Codec.encode!(%{a: decimal}, as: :iodata) |> IO.iodata_to_binary() ==
                 ~s({"a":"#{text}"})

        assert %{PtcRunner.Step.ok(decimal, %{}) | turns: nil} |> Codec.encode!() =~ text
      end

      assert {:error, %Protocol.UndefinedError{}} =
               Codec.encode(%{__struct__: Decimal, sign: 1, coef: :bad, exp: 0})

      assert {:error, _too_long} = Codec.encode(Decimals.new(1250, -2), max_bytes: 3)
    end

    test "sums are as they would be written" do
      rows = for cents <- [1999, 1, 1250], do: %{"p" => Decimals.new(cents, -2)}

      program =
        ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"}, {"op": "sum", "field": "p"}]}})

      sum = Json.run!(program, context: %{"rows" => rows}, structs: :values)
      assert Codec.encode!(sum) == ~s("32.50")
    end
  end

  describe "large structs" do
    test "are one line" do
      program =
        ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"}, {"op": "filter", "where": {"op": "eq", "field": "id", "value": -1}}, {"op": "map", "expr": {"op": "call", "tool": "pay", "args": {"id": {"op": "get", "field": "id"}}}}]}})

      rows =
        for n <- 1..1_000, do: %{"id" => n, "text" => String.duplicate("x", 100), "_pin" => 4711}

      tools = %{"pay" => fn _ -> 1 end}
      opts = [context: %{"rows" => rows}, tools: tools]

      {:ok, plan} = Json.plan(program, tools: tools)
      explanation = Json.explain(program, opts)
      {:ok, checked} = Json.check(program, context: %{"rows" => {:sample, rows}}, tools: tools)

      {:ok, step} =
        Agent.loop(fn _ -> ~s({"program": {"op": "load", "name": "rows"}}) end,
          task: "x",
          context: %{"rows" => rows}
        )

      {:error, failed} = Agent.loop(fn _ -> {:halt, :enough} end, task: "x")

      pay = Map.new(tools, fn {name, fun} -> {name, {fun, approve: true}} end)
      call = ~s({"program": {"op": "call", "tool": "pay", "args": {"id": 7}}})

      {:paused, paused} =
        Agent.loop(fn _ -> call end, task: "x", context: opts[:context], tools: pay)

      assert inspect(paused) == ~S(#PtcRunner.Agent.Paused<loop, waits for pay with %{"id" => 7}>)
      assert inspect(paused.run) == ~S(#PtcRunner.Json.Paused<waits for pay with %{"id" => 7}>)

      for large <- [
            plan,
            explanation,
            checked,
            step,
            failed,
            paused,
            paused.run,
            %PtcRunner.Step{},
            %Json.Plan{},
            %Json.Checked{type: :any},
            %Json.Explain{result: {:error, {:timeout, 1}}}
          ] do
        line = inspect(large)
        assert byte_size(line) < 800
        refute line =~ "\n"
        assert line =~ "#" <> inspect(large.__struct__) <> "<"
        refute line =~ "4711"
      end

      assert inspect(plan) == "#PtcRunner.Json.Plan<pay (write): ≤ count(rows); reads rows.id>"

      assert inspect(explanation) =~
               ~r/^#PtcRunner.Json.Explain<ok: \[\], 7 operations, 1 finding, .* words?>$/

      assert inspect(step) =~ ~r/^#PtcRunner.Step<return: \[%\{.*, 1 turn, 0 tool calls>$/
      assert inspect(failed) =~ "#PtcRunner.Step<fail: :halted"
    end

    test "say the first warning of a check" do
      program =
        ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "rows"}, {"op": "sum", "field": "b"}]}})

      {:ok, checked} =
        Json.check(program,
          context: %{"rows" => {:sample, [%{"a" => 1}, %{"a" => 2, "b" => nil}]}}
        )

      if checked.warnings != [], do: assert(inspect(checked) =~ hd(checked.warnings).message)
    end
  end

  describe "columns of a table" do
    @rows [
      %{"id" => 2, "name" => "Ada", "total" => 12.5},
      %{"id" => 1, "name" => "Bob", "total" => 0.1 + 0.2}
    ]
    @data ~s({"orders": [{"id": 2, "total": 12.50, "name": "Ada"}]})

    defp head(rows, written),
      do: rows |> Table.text(written) |> String.split("\n") |> hd() |> String.split()

    test "stand in the order of the data, of the program if it names all, and new ones last" do
      assert head(@rows, [~s({"op": "load", "name": "orders"}), @data]) == ~w(id total name)
      select = ~s({"op": "select", "fields": ["name", "id", "total"]})
      assert head(@rows, [select, @data]) == ~w(name id total)
      set = ~s({"op": "set", "fields": {"b": 1, "a": 2}})

      assert head(Enum.map(@rows, &Map.merge(&1, %{"a" => 2, "b" => 1})), [set, @data]) ==
               ~w(id total name b a)

      assert head(@rows, []) == ~w(id name total)
    end

    test "floats have the digits of a double" do
      text = Table.text(@rows, ["", @data])
      assert text =~ "0.3 "
      refute text =~ "0.30000000000000004"

      assert Table.text([
               %{"a" => 1.0e3},
               %{"a" => 1 / 3},
               %{"a" => 1.0e300},
               %{"a" => 123_456_789.123_456_789}
             ]) =~ "1000.0"
    end
  end
end
