defmodule PtcRunner.Agent.SpecTest do
  # Tools whose arguments are those of a `@spec`: they get what it says.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Test.SpecTools

  doctest PtcRunner.Agent.Spec
  doctest PtcRunner.Agent.Spec.Expansion
  doctest PtcRunner.Agent.Spec.Merged

  defp run(fun, args, opts \\ []) do
    program = %{"program" => %{"op" => "call", "tool" => "t", "args" => args}}
    Agent.run(program, %{"t" => fun}, opts)
  end

  test "known keys are passed as the spec says, coerced" do
    assert {:ok, "7: 5.0", info} = run(&SpecTools.refund/1, %{"order" => "7", "amount" => 5})

    assert [%{args: %{order: 7, amount: 5.0}, raw_args: %{"order" => "7"}, ok?: true}] =
             info.tool_calls

    assert {:ok, _, %{tool_calls: [call]}} =
             run(&SpecTools.refund/1, %{"order" => 7, "amount" => 5.5})

    refute is_map_key(call, :raw_args)

    assert {:error, {:execution_error, text}, _} = run(&SpecTools.refund/1, %{"order" => 7})
    assert text =~ "amount: expected field"

    assert Agent.prompt(language: :none, tools: %{"t" => &SpecTools.refund/1}) =~
             "- t(order :int, amount :float) -> :any\n  Refunds an order"
  end

  test "optional keys stay, and may be absent" do
    assert {:ok, ~s({"x", %{limit: 3, q: "x"}}), _} =
             run(&SpecTools.search/1, %{"q" => "x", "limit" => "3"})

    for args <- [%{"q" => "x"}, %{"q" => "x", "limit" => nil}, %{"q" => "x", "other" => 1}],
        do: assert({:ok, ~s({"x", %{q: "x"}}), _} = run(&SpecTools.search/1, args))

    assert Agent.prompt(language: :none, tools: %{"t" => &SpecTools.search/1}) =~
             "- t(q :string, limit :int?) -> :any"

    assert {:error, _, feedback} = run(&SpecTools.search/1, %{"q" => "x", "limit" => "many"})
    assert feedback =~ ~s(- limit: expected integer, got string "many")
  end

  test "maps in maps and lists, of the module's own types" do
    args = %{"to" => %{"city" => "Rome"}, "rows" => [%{"n" => "1"}, %{"n" => 2, "note" => "x"}]}
    assert {:ok, text, _} = run(&SpecTools.nested/1, args)

    assert text ==
             SpecTools.sorted(%{
               open: nil,
               rows: [%{n: 1}, %{n: 2, note: "x"}],
               to: %{city: "Rome", zip: nil}
             })

    context = %{"to" => %{city: "Bonn", zip: "1"}}

    program = %{
      "program" => %{
        "op" => "pipe",
        "steps" => [
          %{"op" => "load", "name" => "to"},
          %{"op" => "call", "tool" => "t", "args" => args}
        ]
      }
    }

    assert {:ok, _, _} =
             Agent.run(program, %{"t" => &SpecTools.nested/1}, context: context, keys: :any)
  end

  test "dates are dates on both sides" do
    args = %{
      "at" => "2026-11-22T12:00:00+02:00",
      "day" => "2026-11-22",
      "local" => "2026-11-22T12:00:00"
    }

    assert {:ok, ~U[2026-11-22 10:00:00Z], info} = run(&SpecTools.at/1, args)

    assert [%{args: %{at: ~U[2026-11-22 10:00:00Z], day: ~D[2026-11-22], time: nil}}] =
             info.tool_calls

    assert {:ok, _, _} = run(&SpecTools.at/1, Map.put(args, "time", "10:00:00"))

    assert Agent.prompt(language: :none, tools: %{"t" => &SpecTools.at/1}) =~
             "at :datetime, day :string, time :string?, local :string"

    for {key, value, message} <- [
          {"at", "soon", ~s(- at: expected datetime, got string "soon")},
          {"day", "soon", ~s(- day: expected date, as ISO 8601 text, got "soon")},
          {"day", 7, "- day: expected date, as ISO 8601 text, got 7"},
          {"time", "25:00", ~s(- time: expected time, as ISO 8601 text, got "25:00")},
          {"local", nil, "- local: expected datetime without offset, as ISO 8601 text, got nil"}
        ] do
      assert {:error, {:execution_error, _}, feedback, info} =
               run(&SpecTools.at/1, Map.put(args, key, value), info: true)

      assert feedback =~ message
      assert [%{status: status, ok?: false}] = info.tool_calls
      assert status == :refused
    end

    # Its answer is shown as ISO text.
    model = fn messages ->
      send(self(), List.last(messages).content)
      PtcRunner.Json.Codec.encode!(%{program: %{look: %{op: "call", tool: "t", args: args}}})
    end

    Agent.loop(model, [task: "x", tools: %{"t" => &SpecTools.at/1}], max_turns: 2)
    assert_received ~s(You looked at: "2026-11-22T10:00:00Z") <> _

    failing = %{
      "program" => %{
        "op" => "pipe",
        "steps" => [
          %{"op" => "call", "tool" => "t", "args" => args},
          %{"op" => "sum", "field" => "x"}
        ]
      }
    }

    assert {:error, _, feedback} = Agent.run(failing, %{"t" => &SpecTools.at/1})
    assert feedback =~ ~s(-> "2026-11-22T10:00:00Z")
    # The text of the document stays.
    assert {:ok, {text, _}} = PtcRunner.SubAgent.TypeExtractor.extract(&SpecTools.at/1)
    assert text =~ "at :string, day :string"
  end

  test "dates that are dates already are passed too" do
    data = %{
      "at" => ~U[2026-11-22 10:00:00Z],
      "day" => ~D[2026-11-22],
      "local" => ~N[2026-11-22 10:00:00]
    }

    assert {:ok, ~U[2026-11-22 10:00:00Z], %{warnings: []}} = run(&SpecTools.at/1, data)
  end

  test "atoms that the spec lists" do
    assert {:ok, ":open", _} = run(&SpecTools.status/1, %{"status" => "open"})
    assert {:ok, "nil", _} = run(&SpecTools.status/1, %{"status" => nil})
    assert {:ok, "nil", _} = run(&SpecTools.status/1, %{})
    assert {:error, _, feedback} = run(&SpecTools.status/1, %{"status" => "error"})
    assert feedback =~ ~s(- status: expected one of "open", "closed", got "error")
  end

  test "structs" do
    assert {:ok, text, _} = run(&SpecTools.own/1, %{"ticket" => %{"id" => "3", "title" => "x"}})
    assert text == inspect(%SpecTools.Ticket{id: 3, title: "x"})
    assert {:error, _, _} = run(&SpecTools.own/1, %{"ticket" => %{"title" => "x"}})
    # A type of another module.
    assert {:ok, text, _} = run(&SpecTools.close/1, %{"id" => "3"})
    assert text == inspect(%SpecTools.Ticket{id: 3})
  end

  test "types of other modules, with parameters and with when" do
    args = %{"price" => %{"cents" => "5", "currency" => "eur"}, "dry_run?" => true}
    price = %{cents: 5, currency: :eur}

    for from <- [%{}, %{"from" => %{"iban" => "DE1"}}] do
      assert {:ok, text, _} = run(&SpecTools.pay/1, Map.merge(args, from))
      from = Map.new(from, fn {_, iban} -> {:from, %{iban: iban["iban"]}} end)
      assert text == SpecTools.sorted(Map.merge(%{price: price, dry_run?: true}, from))
    end

    assert Agent.prompt(language: :none, tools: %{"t" => &SpecTools.pay/1}) =~
             "- t(price {cents :int, currency :keyword}, from {iban :string}?, dry_run? :bool) -> :any"

    args = %{"items" => [%{"cents" => 5, "currency" => "usd"}], "size" => 1}
    assert {:ok, 6, _} = run(&SpecTools.page/1, args)
    args = put_in(args, ["items", Access.at(0), "currency"], "yen")
    assert {:error, _, feedback} = run(&SpecTools.page/1, args)
    assert feedback =~ "currency"

    assert {:ok, 6, _} = run(&SpecTools.bounded/1, %{"id" => "1", "all" => ["2", 3]})
  end

  test "single atoms, ranges and other integers" do
    args = %{"kind" => "refund", "level" => "3", "less" => "-1", "on" => "true"}
    assert {:ok, "2", _} = run(&SpecTools.small/1, args)
    assert {:error, _, feedback} = run(&SpecTools.small/1, %{args | "kind" => "error"})
    assert feedback =~ ~s(- kind: expected one of "refund", got "error")
  end

  test "several clauses, and a union of maps" do
    assert {:ok, "7", _} = run(&SpecTools.clauses/1, %{"id" => "7", "kind" => "one"})
    assert {:ok, "x", _} = run(&SpecTools.clauses/1, %{"name" => "x", "kind" => "two"})
    assert {:error, _, feedback} = run(&SpecTools.clauses/1, %{"id" => 7, "kind" => "error"})
    assert feedback =~ ~s(expected one of "one", "two")

    assert Agent.prompt(language: :none, tools: %{"t" => &SpecTools.clauses/1}) =~
             "- t(id :int?, kind :keyword, name :string?) -> :any"

    assert {:ok, "7", _} = run(&SpecTools.either/1, %{"id" => "7"})
    assert {:ok, "x", _} = run(&SpecTools.either/1, %{"name" => "x"})
  end

  test "functions without known keys, and those with a signature of their own, get string keys" do
    assert {:ok, %{"a" => 1}, _} = run(&SpecTools.any_map/1, %{"a" => 1})
    assert {:ok, 4, _} = run(&SpecTools.pair/1, %{"id" => 4})
    assert {:ok, "5", _} = run(&SpecTools.others/1, %{"id" => 5, "x" => 1})
    tool = {fn %{"order" => id} -> id end, "(order :int) -> :int"}
    assert {:ok, 4, _} = run(tool, %{"order" => "4"})
    assert {:ok, _, _} = run({&SpecTools.any_map/1, "(order :int) -> :map"}, %{"order" => "4"})

    assert {:ok, "7: 5.0", _} =
             run({&SpecTools.refund/1, description: "x", enums: %{"order" => [7]}}, %{
               "order" => 7,
               "amount" => 5.0
             })

    assert {:error, _, feedback} =
             run({&SpecTools.refund/1, enums: %{"order" => [8]}}, %{"order" => 7, "amount" => 5.0})

    assert feedback =~ "order: expected one of 8"
  end

  test "no atom is made of what a program gives" do
    keys = for i <- 1..50, do: "key_#{i}_#{System.unique_integer()}"
    for key <- keys, do: run(&SpecTools.search/1, %{"q" => "x", key => 1})

    atoms = for i <- 1..50, do: "atom_#{i}_#{System.unique_integer()}"
    for atom <- atoms, do: run(&SpecTools.status/1, %{"status" => atom})

    for text <- keys ++ atoms,
        do: assert_raise(ArgumentError, fn -> String.to_existing_atom(text) end)
  end

  test "a spec is read once" do
    Agent.Spec.of(&SpecTools.nested/1)
    {:reductions, before} = Process.info(self(), :reductions)
    Agent.Spec.of(&SpecTools.nested/1)
    Agent.Spec.of(&SpecTools.any_map/1)
    Agent.Spec.of(&SpecTools.any_map/1)
    {:reductions, afterwards} = Process.info(self(), :reductions)
    assert afterwards - before < 100_000
  end
end
