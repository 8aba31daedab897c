defmodule PtcRunner.SubAgent.JsonRepairMadeTest do
  # Broken answers that are made here: other names, strings and faults than those of the stored ones.
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.{JsonParser, Signature}
  alias PtcRunner.Test.BrokenAnswers
  alias PtcRunner.Test.BrokenAnswers.Faults

  @seed 20_261_121
  @count 1_500

  setup_all do
    # Not in the context of the tests: ExUnit copies that to each formatter, whose heaps make each change of code in the VM slow.
    :persistent_term.put(__MODULE__, %{
      cases: BrokenAnswers.cases(@seed, @count),
      # With these, so many that each fault is among them, in whatever order the VM has the keys of a map.
      more: BrokenAnswers.cases(1, 2 * @count)
    })
  end

  defp given, do: :persistent_term.get(__MODULE__)

  test "are the same for the same seed, with every fault" do
    %{cases: cases, more: more} = given()
    assert Enum.take(more, 500) == BrokenAnswers.cases(1, 500)
    kinds = (cases ++ more) |> Enum.flat_map(&String.split(&1.kind, ["+", ":"])) |> MapSet.new()
    assert for(fault <- Faults.all(), "#{fault}" not in kinds, do: fault) == []
  end

  test "with the signature: 98 % restored, at most 0.5 % wrong" do
    found =
      Enum.frequencies_by(
        given().cases,
        &outcome(&1, JsonParser.repair(&1.text, &1.signature, truncated: :complete))
      )

    assert found.restored >= 0.98 * @count, inspect(found)
    assert Map.get(found, :wrong, 0) <= 0.005 * @count, inspect(found)
  end

  # The cases of other releases of Erlang/OTP have other orders of keys: a few of them have a value that lacks something.
  test "with the signature: no wrong value, and hardly one in other cases" do
    cases = given().more ++ given().cases

    wrong =
      for case <- cases,
          read = JsonParser.repair(case.text, case.signature, truncated: :complete),
          outcome(case, read) == :wrong,
          do: case.text

    most = if System.otp_release() == "25", do: 0, else: 0.001 * length(cases)
    assert length(wrong) <= most, Enum.join(wrong, "\n\n")
  end

  test "a bracket that closes an item too early is left out where the syntax is broken, and not to please the type" do
    signature = "{l [{a {x :int}, b :int}]}"
    right = ~s({"a": {"x": 1}, "b": 3})
    early = ~s({"a": {"x": 1}}, "b": 2})

    for items <- [[early, right], [right, early, right], [early, early, right]] do
      text = ~s({"l": [#{Enum.join(items, ", ")}]})

      rows =
        for item <- items, do: %{"a" => %{"x" => 1}, "b" => if(item == early, do: 2, else: 3)}

      assert {:ok, %{"l" => ^rows}, [%{kind: :extra_close} | _]} =
               JsonParser.repair(text, signature, truncated: :complete)
    end

    # A text whose last bracket is missing is right where the type would like another bracket.
    nested = "{o {a {x :int}, b :int}}"
    assert {:ok, %{"b" => 2}, []} = JsonParser.repair(~s({"o": #{early}}), nested)

    assert {:error, :no_json_found} =
             JsonParser.repair(~s({"o": {"a": {"x": 1}}, "b": 2), nested, truncated: :complete)

    assert {:error, :no_json_found} =
             JsonParser.repair(~s({"o": {"a": {"x": 1}}, "b": "2), nested, truncated: :complete)
  end

  # A number between quotes inside of a text: with the quotes it may be an item of its own.
  test "with the signature: no value of another text is made of a number in quotes" do
    for text <- [
          ~s({"a": ["x", "Total: "12," of which 3 are open"]}),
          ~s({"a" ["Total: "12," of which 3 are open", "x"]}),
          ~s({"a": ["1", "no. "-4.5," or "]}),
          ~s({"a": [7, "Total: "12," of 3", "x"]})
        ] do
      assert JsonParser.repair(text, "{a [:string]}") == {:error, :invalid_json}
    end

    # Blanks between the two, or a comma, say that there are two.
    for text <- [~s({"a": ["x" 12, "y"]}), ~s({"a": ["x",12, "y"]})] do
      assert {:ok, %{"a" => ["x", "12", "y"]}, _repairs} =
               JsonParser.repair(text, "{a [:string]}")
    end
  end

  test "without, of the faults of syntax: 85 % restored, at most 3 % wrong" do
    cases = Enum.filter(given().cases, & &1.syntax?)

    found =
      Enum.frequencies_by(
        cases,
        &outcome(&1, JsonParser.repair(&1.text, nil, truncated: :complete))
      )

    assert found.restored >= 0.85 * length(cases), inspect(found)
    assert Map.get(found, :wrong, 0) <= 0.03 * length(cases), inspect(found)
  end

  test "what comes out is of the type, or what parse/1 gives" do
    for %{text: text, signature: signature} <- given().cases do
      case JsonParser.repair(text, signature) do
        {:ok, value, []} ->
          assert JsonParser.parse(text) == {:ok, value}

        {:ok, value, _repairs} ->
          {:ok, signature} = Signature.parse(signature)
          assert Signature.validate(signature, value) == :ok

        {:error, reason} ->
          assert match?({:ambiguous, [_ | _]}, reason) or
                   match?({:truncated, %{}}, reason) or reason in [:invalid_json, :no_json_found]
      end
    end
  end

  defp outcome(%{expect: expect}, {:ok, expect, _repairs}), do: :restored
  defp outcome(_case, {:ok, _other, _repairs}), do: :wrong
  defp outcome(_case, {:error, _reason}), do: :refused
end
