defmodule PtcRunner.Agent.RuleNotesTest do
  @moduledoc "What prompts and feedback say of the rules of types."
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Agent.{Prompt, Tool}
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.RuleNotes

  doctest RuleNotes

  defp lines(type), do: RuleNotes.lines(type, nil, 10_000)
  defp line(type), do: hd(lines({:map, [{"x", type}]}))

  test "each rule has its words" do
    for {type, rules, words} <- [
          {:int, [min: 1, max: 9], "at least 1, at most 9"},
          {:float, [exclusive_min: 0, exclusive_max: 1.5], "more than 0, less than 1.5"},
          {:int, [multiple_of: 5], "a multiple of 5"},
          {:string, [min_length: 1, max_length: 80],
           "at least 1 character, at most 80 characters"},
          {:string, [pattern: "^[A-Z]+$"], ~s(a text that matches "^[A-Z]+$")},
          {:string, [format: :email], "an email address"},
          {:string, [format: :datetime], "a date and time with an offset (YYYY-MM-DDThh:mm:ssZ)"},
          {:int, [default: 3], "3 if it is missing"},
          {:string, [description: "As printed."], "As printed"},
          {:string, [min_length: 1, description: "the name"], "the name; at least 1 character"},
          {{:list, :int}, [unique: true, min_items: 1, max_items: 3],
           "different items, at least 1 item, at most 3 items"}
        ] do
      assert line({:where, type, rules}) == "x: " <> words
    end

    assert line({:where, :string, [enum: ["open", "paid"]]}) == ~s(x is one of "open", "paid")

    assert lines(
             {:map,
              [{"x", {:where, :bool, [yes_no: true]}}, {"y", {:where, :int, [whole: true]}}]}
           ) == []

    assert lines({:where, :int, [min: 1]}) == ["the value: at least 1"]
    assert lines({:where, :int, [enum: [1]]}) == ["It is one of 1"]
  end

  test "types that the text of a signature does not have" do
    assert line({:one_of, [], nil}) == "x: no value"
    assert line(:date) == "x: a date (YYYY-MM-DD)"
    assert line({:optional, :decimal}) == "x: a decimal number such as 12.50, or its text"

    assert lines({:map, [{"prices", {:map_of, {:where, :float, [min: 0]}}}]}) ==
             ["prices: any keys, each with :float", "prices.*: at least 0"]

    circle =
      {:map, [{"kind", {:where, :string, [enum: ["circle"]]}}, {"r", {:where, :float, [min: 0]}}]}

    square = {:map, [{"kind", {:where, :string, [enum: ["square"]]}}, {"_s", :float}]}

    assert lines({:map, [{"shape", {:one_of, [circle, square], "kind"}}]}) == [
             "shape: one of {kind :string, r :float}, {kind :string}",
             ~s[shape("circle").kind is one of "circle"],
             ~s[shape("circle").r: at least 0],
             ~s[shape("square").kind is one of "square"]
           ]

    tree = {:map, [{"value", {:where, :int, [min: 0]}}, {"left", {:optional, {:ref, "Tree"}}}]}

    assert lines({:defs, %{"Tree" => tree}, {:map, [{"root", {:ref, "Tree"}}]}}) == [
             "root: a Tree",
             "Tree: {value :int, left Tree?}",
             "Tree.value: at least 0",
             "Tree.left: a Tree"
           ]
  end

  defp order do
    "{rows [{total :float, status :string, _cost :float}], _token :string}"
    |> Signature.annotate!("rows.total", min: 0, description: "in euros")
    |> Signature.annotate!("rows.status", enum: ["open", "paid"])
    |> Signature.annotate!("rows._cost", max: 1234)
    |> Signature.annotate!("_token", pattern: "^s3cret", description: "s3cret")
  end

  test "the result in a prompt, without what is firewalled" do
    for answer <- [:program, :value] do
      prompt = Agent.prompt(language: :none, returns: order(), answer: answer)

      assert prompt =~
               ~s(\nrows.total: in euros; at least 0\nrows.status is one of "open", "paid")

      refute prompt =~ ~r/1234|s3cret/
    end

    assert Agent.prompt(
             language: :none,
             answer: :value,
             returns: {:signature, [], {:where, :int, [min: 1]}}
           ) =~
             "\nvalue: at least 1"
  end

  test "a signature without rules has the prompt that it had" do
    prompt = Agent.prompt(language: :none, returns: "{a :int, b [:string]?}")
    assert String.ends_with?(prompt, "null or missing.")
  end

  test "the arguments and answers of tools" do
    signature =
      "(city :string, days :int?, _pin :int) -> {mean :float, _raw :int}"
      |> Signature.annotate!("city", min_length: 2, description: "a name.")
      |> Signature.annotate!("days", default: 3, max: 14)
      |> Signature.annotate!("_pin", max: 9999)
      |> Signature.annotate!("mean", min: -90)
      |> Signature.annotate!("_raw", min: 4711)

    [tool] = Tool.list!(%{"forecast" => {& &1, signature: signature, description: "The weather"}})

    assert Prompt.tool(tool) ==
             "- forecast(city :string, days :int?) -> {mean :float}\n" <>
               "  The weather. city: a name; at least 2 characters. days: at most 14, 3 if it is missing. answer.mean: at least -90"
  end

  test "thousands of rules have their room, and the number of the others" do
    fields = for n <- 1..5_000, do: {"field_#{n}", {:where, :int, [min: n, max: 2 * n]}}

    prompt =
      Agent.prompt(language: :none, returns: {:signature, [], {:map, fields}}, answer: :value)

    [_types, rules] = String.split(prompt, "null or missing.\n")
    assert byte_size(rules) < 16_500
    assert rules =~ ~r/\nand \d+ more rules$/

    [tool] = Tool.list!(%{"t" => {& &1, signature: {:signature, fields, {:map, fields}}}})
    [_signature, rules] = tool |> Prompt.tool() |> String.split("\n  ")
    assert byte_size(rules) < 3_500

    shared =
      Enum.reduce(1..60, {:where, :int, [min: 0]}, fn _, type ->
        {:map, [{"a", type}, {"b", type}]}
      end)

    assert List.last(RuleNotes.lines(shared, nil, 100_000)) =~ "more rules"

    unions =
      Enum.reduce(1..60, :int, fn _, type -> {:one_of, [type, {:map, [{"a", type}]}], nil} end)

    assert length(RuleNotes.lines(unions, nil, 1_000)) < 100
  end

  test "names and descriptions are data" do
    type = {:map, [{"a\n## Task", {:where, :string, [description: "x\n## Task\ny"]}}]}
    [line] = lines(type)
    refute line =~ "\n## Task"
  end

  test "the feedback names the rules, and conceals firewalled values" do
    {:error, _errors, feedback} =
      Agent.answer(
        ~s({"rows": [{"total": -1, "status": "lost", "_cost": 9876}], "_token": "mine"}),
        order()
      )

    assert feedback =~ "rows[0].total: expected at least 0, got -1"
    assert feedback =~ ~s(rows[0].status: expected one of "open", "paid", got "lost")
    assert feedback =~ "rows[0]._cost: expected at most 1234, got"
    refute feedback =~ ~r/9876|mine/
  end
end
