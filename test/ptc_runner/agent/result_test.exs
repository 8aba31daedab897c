defmodule PtcRunner.Agent.ResultTest do
  # Results that programs give in another form than their signature says.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Json.Codec
  alias PtcRunner.Test.Models

  doctest PtcRunner.Agent.Result

  defp program(node), do: Codec.encode!(%{program: node})
  defp literal(value), do: program(%{op: "literal", value: value})

  defp returned(program, returns, opts \\ []) do
    {ask, _asked} = Models.canned([program])
    {:ok, step} = Agent.loop(ask, [task: "x", returns: returns] ++ opts)
    assert [turn] = step.turns
    {:ok, value, info} = Agent.run(program, %{}, [returns: returns] ++ opts)
    assert value === step.return and info.memory == step.memory
    assert turn.prints == info.warnings
    {value, info.warnings}
  end

  test "a float without a fraction fits :int" do
    div = program(%{op: "div", left: 6, right: 2})
    assert returned(div, ":int") == {3, ["converted 3.0 to an integer"]}
    assert {3, [_]} = returned(program(%{op: "round", value: 2.6}), ":int?")
    assert {0, [_]} = returned(literal(-0.0), ":int")
    assert {whole, [_]} = returned(literal(1.0e20), ":int")
    assert whole === 100_000_000_000_000_000_000

    rows = [%{"total" => 10}, %{"total" => 20}]
    steps = [%{op: "load", name: "rows"}, %{mean: %{op: "avg", field: "total"}, all: [1.0, 2]}]

    assert returned(program(%{op: "pipe", steps: steps}), "{mean :int, all [:int]}",
             context: %{"rows" => rows}
           ) ==
             {%{"mean" => 15, "all" => [1, 2]},
              ["all.[0]: converted 1.0 to an integer", "mean: converted 15.0 to an integer"]}
  end

  test "a float with a fraction does not, and strings are not numbers" do
    for value <- [2.5, "3", true] do
      assert {:error, {:invalid_result, [%{path: []}]}, _} =
               Agent.run(literal(value), %{}, returns: ":int")
    end

    mixed = [1.0, 2.5, 3.0]

    assert {:error, {:invalid_result, [%{path: [1]}]}, feedback} =
             Agent.run(literal(mixed), %{}, returns: "[:int]")

    assert feedback =~ "expected integer, got float 2.5"
  end

  test "many conversions are counted, and firewalled values are not shown" do
    {value, warnings} = returned(literal(List.duplicate(1.0, 50_000)), "[:int]")
    assert value == List.duplicate(1, 50_000) and length(warnings) == 21
    assert List.last(warnings) == "and 49980 values more were converted"

    assert {%{"_pin" => 1234}, [warning]} = returned(literal(%{"_pin" => 1234.0}), "{_pin :int}")
    refute warning =~ "1234"
  end

  test "ISO text fits :datetime" do
    at = "2026-03-01T12:00:00Z"
    assert {~U[2026-03-01 12:00:00Z], [_]} = returned(literal(at), ":datetime")

    assert {%{"at" => ~U[2026-03-01 12:00:00Z]}, [_]} =
             returned(literal(%{at: at}), "{at :datetime}")

    assert {%{"at" => nil}, []} = returned(literal(%{at: nil}), "{at :datetime?}")
    assert {:error, _, feedback} = Agent.run(literal("soon"), %{}, returns: ":datetime")
    assert feedback =~ "soon"
  end

  # The prompt says `:string` of a date, and no operation makes a text of it.
  test "dates, times and decimals fit :string, exact decimals :int and :float" do
    dec = fn sign, coef, exp -> %{__struct__: Decimal, sign: sign, coef: coef, exp: exp} end

    give = fn value, returns ->
      Agent.run(program(%{op: "load", name: "v"}), %{}, context: %{"v" => value}, returns: returns)
    end

    for {value, text} <- [
          {~D[2024-02-29], "2024-02-29"},
          {~T[10:00:00.5], "10:00:00.5"},
          {~N[2024-02-29 10:00:00], "2024-02-29T10:00:00"},
          {~U[2024-02-29 10:00:00Z], "2024-02-29T10:00:00Z"},
          {dec.(-1, 1250, -2), "-12.50"}
        ] do
      assert {:ok, ^text, %{warnings: [_]}} = give.(value, ":string")

      assert {:ok, %{"rows" => [%{at: ^text}]}, %{memory: memory, warnings: [warning]}} =
               give.(%{"rows" => [%{at: value}]}, "{rows [{at :string}]}")

      assert memory == %{"rows" => [%{at: value}]}
      assert warning == "rows.[0].at: converted \"#{text}\" to a text"
      assert {:error, {:invalid_result, _}, _} = give.(value, ":bool")
      if not match?(%{coef: _}, value), do: assert({:error, _, _} = give.(value, ":float"))
    end

    for {value, returns, want} <- [
          {dec.(1, 1250, -2), ":float", 12.5},
          {dec.(-1, 1250, -2), ":float?", -12.5},
          {dec.(1, 1, -1), ":float", 0.1},
          {dec.(1, 0, 5), ":float", 0.0},
          {dec.(1, 1, 300), ":float", 1.0e300},
          {dec.(1, 1_234_567, -20), ":float", 1.234567e-14},
          {dec.(1, 1200, -2), ":int", 12},
          {dec.(-1, 12, 3), ":int", -12_000},
          {dec.(1, 123_456_789_012_345_678_901, 0), ":int", 123_456_789_012_345_678_901}
        ] do
      assert {:ok, got, %{warnings: [_]}} = give.(value, returns)
      assert got === want
    end

    # No number is rounded, and none is built without bounds.
    for {value, returns} <- [
          {dec.(1, 1250, -2), ":int"},
          {dec.(1, 123_456_789_012_345_678_901, -2), ":float"},
          {dec.(1, 1, 400), ":float"},
          {dec.(1, 1, -400), ":float"},
          {dec.(1, 1, 1_000_000_000), ":int"},
          {dec.(1, 1, 1_000_000_000), ":float"},
          {dec.(1, :NaN, 0), ":float"},
          {dec.(1, :inf, 0), ":int"},
          {dec.(1, Integer.pow(7, 200_000), 0), ":int"}
        ] do
      assert {:error, {:invalid_result, [_]}, _} = give.(value, returns)
    end
  end

  describe "fields with a meaning" do
    test "a declared field named result" do
      node = %{result: 5, note: %{op: "literal", value: "n"}}

      assert {%{"result" => 5, "note" => "n"}, []} =
               returned(program(node), "{result :int, note :string}")

      assert {%{"result" => 5}, []} = returned(program(%{result: 5}), "{result :int}")
      # The rules of memory still hold where only the value under the key fits.
      assert {%{"result" => 5}, []} = returned(program(%{result: %{result: 5}}), "{result :int}")
      assert {5, []} = returned(program(%{result: 5, n: 1}), ":int")
    end

    test "a declared field named look" do
      {ask, asked} = Models.canned([program(%{look: %{op: "literal", value: "red"}})])
      assert {:ok, step} = Agent.loop(ask, task: "x", returns: "{look :string}")
      assert step.return == %{"look" => "red"} and length(asked.()) == 1

      # A look that is no result.
      {ask, asked} =
        Models.canned([program(%{look: 1}), program(%{look: %{op: "literal", value: "red"}})])

      assert {:ok, %{return: %{"look" => "red"}}} =
               Agent.loop(ask, task: "x", returns: "{look :string}")

      assert List.last(List.last(asked.())).content =~ "You looked at: 1"
    end
  end

  test "what cannot be is refused before the first turn" do
    ask = fn _ -> flunk() end

    for {returns, opts} <- [
          {"{a :int, a :string}", []},
          {"{rows [{a_b :int, a-b :string}]}", []},
          {":int", [enums: %{"" => ["one"]}]},
          {"{rows [{s :string}]}", [enums: %{"rows.s" => [:open, 1]}]}
        ] do
      assert_raise ArgumentError, ~r/^no result can fit: /, fn ->
        Agent.loop(ask, [task: "x", returns: returns] ++ opts)
      end
    end
  end
end
