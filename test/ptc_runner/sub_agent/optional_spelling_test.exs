defmodule PtcRunner.SubAgent.OptionalSpellingTest do
  # Optional fields in another spelling are matched like required ones.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json.Codec, SubAgent.JsonParser, SubAgent.Signature}
  alias PtcRunner.SubAgent.JsonRepair.Names
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.Test.Answers

  doctest Names

  @spellings ~w(paidAt PaidAt paid-At PAID_AT paidat) ++ ["paid at", "Paid At"]

  test "each spelling, in an object, in a list and below another field" do
    for key <- @spellings, value <- ["x", nil] do
      row = %{"id" => 1, key => value}
      right = %{"id" => 1, "paid_at" => value}
      warning = ~s(read the key "#{key}" as "paid_at")
      row_type = "{id :int, paid_at :string?}"

      for {given, type, expected} <- [
            {row, row_type, right},
            {[row, right], "[#{row_type}]", [right, right]},
            {%{"items" => [row]}, "[#{row_type}]", [right]},
            {%{"a" => %{"rows" => [row]}}, "{a {rows [#{row_type}]}?}",
             %{"a" => %{"rows" => [right]}}}
          ] do
        text = Codec.encode!(given)
        assert Agent.answer(text, type) == {:ok, expected, [warning]}
        # A parser knows no wrapped lists.
        if not match?(%{"items" => _}, given),
          do: assert({:ok, ^expected, [_ | _]} = JsonParser.repair(text, type))

        {:ok, signature} = Signature.parse(type)
        agent = Answers.agent(signature)

        assert {:stop,
                {:ok, %{return: ^expected, usage: %{repairs: [%{kind: :key_spelling} | _]}}}, _,
                _} = JsonHandler.handle_json_answer(text, agent, Answers.state(), repair: true)
      end
    end
  end

  test "dates, numbers in strings, and broken JSON" do
    type = "{paid_at :datetime?, n_items :int?, id :int}"
    value = %{"id" => 1, "n_items" => 7, "paid_at" => ~U[2026-05-03 09:14:00Z]}

    for text <- [
          ~s({"id": 1, "nItems": 7, "paidAt": "2026-05-03T09:14:00Z"}),
          ~s({"id": "1", "nItems": "7", "paidAt": "2026-05-03T11:14:00+02:00"}),
          ~s({id: 1, nItems: 7, paidAt: '2026-05-03T09:14:00Z',})
        ] do
      assert {:ok, ^value, [_ | _] = warnings} = Agent.answer(text, type)
      assert Enum.any?(warnings, &(&1 =~ ~s(the key "paidAt" as "paid_at")))
    end
  end

  test "keys with hyphens are not lost in coercions" do
    at = ~U[2026-05-03 09:14:00Z]

    for {text, type, value} <- [
          {~s({"paid-at": "2026-05-03T09:14:00Z"}), "{paid_at :datetime?}", %{"paid_at" => at}},
          {~s({"paid_at": "2026-05-03T09:14:00Z"}), "{paid-at :datetime?}", %{"paid_at" => at}},
          {~s({"paid-at": "7"}), "{paid_at :int?}", %{"paid_at" => 7}},
          {~s({"paid-at": 7, "id": "1"}), "{paid_at :int?, id :int}",
           %{"paid_at" => 7, "id" => 1}},
          {~s([{"a-b": {"c-d": "1"}}]), "[{a_b {c_d :int?}?}]", [%{"a_b" => %{"c_d" => 1}}]},
          {~s({"a-b": "2", "a_b": "2"}), "{a-b :int?, a_b :int?}", %{"a_b" => 2}}
        ],
        repair? <- [true, false] do
      assert {^text, {:ok, ^value, [_ | _]}} = {text, Agent.answer(text, type, repair: repair?)}
    end

    assert {:error, [%{path: ["paid_at"]}], _} =
             Agent.answer(~s({"paid-at": "x"}), "{paid_at :int?}")
  end

  test "a date in another spelling is found by JsonHandler too" do
    {:ok, signature} = Signature.parse("{id :int, paid_at :datetime?, a {at :datetime?}?}")
    agent = Answers.agent(signature)
    at = ~U[2026-05-03 09:14:00Z]

    for {text, value} <- [
          {~s({"id": 1, "paidAt": "2026-05-03T09:14:00Z"}), %{"id" => 1, "paid_at" => at}},
          {~s({"id": 1, "paidAt": null}), %{"id" => 1, "paid_at" => nil}},
          {~s({"id": 1, "a": {"At": "2026-05-03T09:14:00Z"}}), %{"id" => 1, "a" => %{"at" => at}}}
        ] do
      {:stop, {:ok, step}, _turn, _tokens} =
        JsonHandler.handle_json_answer(text, agent, Answers.state(), repair: true)

      assert {step.return, length(step.usage.repairs)} == {value, 1}
    end

    text = ~s({"id": 1, "paidAt": "2026-05-03T09:14:00Z"})
    {:stop, {:ok, step}, _, _} = JsonHandler.handle_json_answer(text, agent, Answers.state())
    assert step.return == %{"id" => 1, "paidAt" => "2026-05-03T09:14:00Z"}
  end

  test "a value of another type is an error, as for a required field" do
    assert {:error, [%{path: ["paid_at"], message: "expected int, got list"}], _} =
             Agent.answer(~s({"paidAt": [1]}), "{paid_at :int?}")
  end

  test "what is not one spelling of one absent field stays as it is" do
    for {text, type, value} <- [
          {~s({"paid_at": 1, "paidAt": 1}), "{paid_at :int?}", %{"paid_at" => 1, "paidAt" => 1}},
          {~s({"paidAt": 1, "PaidAt": 1}), "{paid_at :int?}", %{"paidAt" => 1, "PaidAt" => 1}},
          {~s({"paidAt": 1}), "{paid_at :int?, paidat :int?}", %{"paidAt" => 1}},
          {~s({"paid-at": 1}), "{paid_at :int?}", %{"paid_at" => 1}},
          {~s({"paid": 1}), "{paid_at :int?}", %{"paid" => 1}}
        ] do
      assert Agent.answer(text, type) == {:ok, value, []}
    end

    for text <- [~s({"paid_at": 1, "paidAt": 2}), ~s({"paidAt": 1, "PaidAt": 2})],
        do: assert({:error, [%{path: []}], _} = Agent.answer(text, "{paid_at :int?}"))

    assert {:ok, %{"paidAt" => 1}, []} =
             Agent.answer(~s({"paidAt": 1}), "{paid_at :int?}", repair: false)
  end

  test "59 rows keep all their values" do
    rows = for n <- 1..59, do: Map.put(%{"id" => n}, Enum.at(@spellings, rem(n, 7)), "p#{n}")
    text = Codec.encode!(%{"rows" => rows})
    {:ok, value, warnings} = Agent.answer(text, "{rows [{id :int, paid_at :string?}]}")
    assert for(row <- value["rows"], do: row["paid_at"]) == for(n <- 1..59, do: "p#{n}")
    assert length(warnings) == 59
  end

  test "keys inside a firewalled field are not shown" do
    type = "{_person {first_name :string?}, id :int}"
    answer = Agent.answer(~s({"_person": {"firstName": "Ann"}, "id": 1}), type)
    value = %{"_person" => %{"first_name" => "Ann"}, "id" => 1}
    assert answer == {:ok, value, [~s(read a key in "_person" as declared)]}
  end
end
