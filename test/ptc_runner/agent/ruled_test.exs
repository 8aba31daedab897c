defmodule PtcRunner.Agent.RuledTest do
  @moduledoc "Rules of types in answers, results of programs, tools, and the check of programs."
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Agent.Result
  alias PtcRunner.Json
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.Base

  doctest Base

  defp order do
    "{id :string, status :string, amount :int, at :string?}"
    |> Signature.annotate!("id", pattern: "^[A-Z]+-[0-9]+$")
    |> Signature.annotate!("status",
      enum: ["open", "paid"],
      ignore_case: true,
      aliases: %{"settled" => "paid"}
    )
    |> Signature.annotate!("amount", min: 1, max: 99, default: 1)
  end

  defp answer(text, signature, opts \\ []), do: Agent.answer(text, signature, opts)

  test "answers are judged, coerced and filled in by rules" do
    assert {:ok, %{"id" => "A-1", "status" => "open", "amount" => 5}, []} =
             answer(~s({"id": "A-1", "status": "open", "amount": 5}), order())

    assert {:ok, %{"amount" => 1, "status" => "open"}, []} =
             answer(~s({"id": "A-1", "status": "open"}), order())

    assert {:ok, %{"status" => "paid", "amount" => 7}, warnings} =
             answer(~s({"id": "A-1", "status": "Settled", "amount": "7"}), order())

    assert Enum.any?(warnings, &(&1 =~ ~s(coerced string "Settled" to "paid")))
    # A repair, with the same rules.
    assert {:ok, %{"status" => "paid", "amount" => 2}, [_ | _]} =
             answer(~s({'id': 'A-1', 'status': 'PAID', 'amount': 2,}), order())
  end

  test "the feedback names the rule" do
    assert {:error, _errors, feedback} =
             answer(~s({"id": "1", "status": "lost", "amount": 100}), order())

    assert feedback =~ ~s(expected one of "open", "paid", got "lost")
    assert feedback =~ "expected at most 99, got 100"
    assert feedback =~ ~s(expected a text that matches "^[A-Z]+-[0-9]+$", got "1")
  end

  test "answers become structs, dates and decimals" do
    type =
      {:struct, Range,
       {:map,
        [{"first", :int}, {"last", :int}, {"step", {:optional, {:where, :int, [default: 1]}}}]}}

    assert {:ok, 1..3//1, _} = answer(~s({"first": 1, "last": 3}), {:signature, [], type})

    assert {:ok, %{"at" => ~D[2024-02-29]}, _} =
             answer(~s({"at": "2024-02-29"}), {:signature, [], {:map, [{"at", :date}]}})

    assert {:ok, %{"by" => %{"a" => 1}}, _} =
             answer(~s({"by": {"a": "1"}}), {:signature, [], {:map, [{"by", {:map_of, :int}}]}})

    for number <- [~s("12.50"), "12.50"] do
      assert {:ok, %{"d" => %{__struct__: Decimal, sign: 1}}, _} =
               answer(~s({"d": #{number}}), {:signature, [], {:map, [{"d", :decimal}]}})
    end

    # A value without a container is wrapped.
    assert {:ok, 5, _} = answer("5", {:signature, [], {:where, :int, [min: 1]}})
    assert {:error, _, feedback} = answer("0", {:signature, [], {:where, :int, [min: 1]}})
    assert feedback =~ "expected at least 1, got 0"

    assert {:ok, [1], _} =
             answer("[1]", {:signature, [], {:where, {:list, :int}, [min_items: 1]}})

    assert {:error, _, _} =
             answer("[]", {:signature, [], {:where, {:list, :int}, [min_items: 1]}})
  end

  test "a date that is right is no error beside one that is wrong" do
    type =
      {:map,
       [
         {"day", :date},
         {"at", :datetime},
         {"sum", :decimal},
         {"rows", {:list, :date}},
         {"n", :int}
       ]}

    right =
      ~s({"day": "2026-11-23", "at": "2026-11-23T10:00:00Z", "sum": "1.5", "rows": ["2026-11-23", "soon"], "n": "x"})

    assert {:error, errors, feedback} = answer(right, {:signature, [], type})
    assert Enum.map(errors, & &1.path) == [["rows", 1], ["n"]]
    refute feedback =~ ~r/day|sum|at:/
    # JSON has dates and decimals as texts: that is no coercion.
    assert {:error, [_, _], _} = answer(right, {:signature, [], type}, coerce: false)
  end

  test "an enumeration or a range settles a repair that has two readings" do
    plain = {:signature, [], {:map, [{"a", :int}]}}
    text = ~s(First {"a": 1,} and then {"a": 2,})
    assert {:error, _, _} = answer(text, plain)

    for {rules, a} <- [{[min: 2], 2}, {[max: 1], 1}, {[exclusive_min: 1.5], 2}],
        do:
          assert(
            {:ok, %{"a" => ^a}, [_ | _]} = answer(text, Signature.annotate!(plain, "a", rules))
          )

    assert {:error, _, _} = answer(text, Signature.annotate!(plain, "a", min: 0))
    status = {:signature, [], {:map, [{"s", {:where, :string, [enum: ["open", "paid"]]}}]}}

    assert {:ok, %{"s" => "paid"}, [_ | _]} =
             answer(~s({"s": 'unknown',} or rather {"s": 'paid',}), status)

    assert {:error, _, feedback} = answer(~s({'s': 'lost',}), status)
    assert feedback =~ "s"
  end

  test "the values of a map of a type are repaired by their type, and settled by its rules" do
    by = &{:signature, [], {:map, [{"by", {:map_of, &1}}]}}

    assert {:ok, %{"by" => %{"x" => 1, "y" => 2}}, warnings} =
             answer(~s({'by': {x: '1', "y": 2,}}), by.(:int))

    assert [_ | _] = warnings

    text = ~s(First {"by": {"x": 1,}} and then {"by": {"x": 2,}})
    assert {:error, _, _} = answer(text, by.(:int))
    assert {:ok, %{"by" => %{"x" => 2}}, [_ | _]} = answer(text, by.({:where, :int, [min: 2]}))

    assert {:ok, %{"by" => %{"x" => 1}}, [_ | _]} =
             answer(text, by.({:where, :int, [enum: [1, 3]]}))

    text = ~s(First {"by": {"x": 'a',}} and then {"by": {"x": 'B7',}})

    assert {:ok, %{"by" => %{"x" => "B7"}}, [_ | _]} =
             answer(text, by.({:where, :string, [pattern: "^[A-Z][0-9]$"]}))
  end

  test "a long list of different items, and of two equal ones" do
    type = {:where, {:list, :any}, [unique: true]}
    check = &PtcRunner.SubAgent.Signature.Validator.validate(&1, type)
    texts = for n <- 1..50_000, do: "item #{n}"
    assert check.(texts) == :ok
    assert {:error, [%{message: message}]} = check.(texts ++ ["item 7"])
    assert message == ~s(expected different items, got "item 7" twice)
    mixed = Enum.concat([1..20_000, for(n <- 1..100, do: 2 ** 64 + n), ["1", :one, nil, true]])
    assert check.(mixed) == :ok
    assert {:error, _} = check.(mixed ++ [2 ** 64 + 9])
    assert {:error, _} = check.([20_000.0 | mixed])
    assert {:error, _} = check.([[1.0], [1] | mixed])
  end

  test "results of programs are fitted" do
    fit = fn value, type -> Result.fit(value, {:signature, [], type}, {%{}, :infinity}) end

    assert {:ok, %{"n" => 3}, ["n: converted 3.0 to an integer"]} =
             fit.(%{"n" => 3.0}, {:map, [{"n", {:where, :int, [min: 1]}}]})

    assert {:error, [%{message: "expected at least 1, got 0"}]} =
             fit.(%{"n" => 0}, {:map, [{"n", {:where, :int, [min: 1]}}]})

    assert {:ok, %{"n" => 1}, []} = fit.(%{}, {:map, [{"n", {:where, :int, [default: 1]}}]})

    assert {:ok, %{"at" => ~D[2024-02-29]}, [_]} =
             fit.(%{"at" => "2024-02-29"}, {:map, [{"at", :date}]})

    assert {:ok, %{"by" => %{"a" => 1}}, [_]} =
             fit.(%{"by" => %{"a" => 1.0}}, {:map, [{"by", {:map_of, :int}}]})
  end

  test "programs are checked against the base types, and literals against enumerations" do
    context = %{
      "orders" =>
        {:list,
         {:map,
          [
            {"status", {:where, :string, [enum: ["open", "paid"]]}},
            {"n", {:where, :int, [min: 0]}}
          ]}}
    }

    program = fn value ->
      ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "orders"}, {"op": "filter", "where": {"op": "eq", "field": "status", "value": "#{value}"}}, {"op": "sum", "field": "n"}]}})
    end

    assert {:ok, _checked} = Json.check(program.("paid"), context: context)
    assert {:ok, checked} = Json.check(program.("piad"), context: context)
    assert inspect(checked) =~ "piad"
    missing = String.replace(program.("paid"), ~s("field": "n"), ~s("field": "m"))
    assert {:error, _} = Json.check(missing, context: context)
  end
end
