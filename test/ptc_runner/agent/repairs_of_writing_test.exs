defmodule PtcRunner.Agent.RepairsOfWritingTest do
  # A program that calls a tool which may write is repaired in the spelling of keys and quotes, in commas and in closing brackets, and
  # in nothing else. One text for each fault that the repair knows.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Agent.Tool
  alias PtcRunner.SubAgent.JsonParser
  alias PtcRunner.SubAgent.JsonRepair.Sentence

  doctest Sentence
  doctest PtcRunner.SubAgent.JsonRepair.Joined

  @args ~s({"id": 1, "to": "bob"})
  @program ~s({"program": {"op": "call", "tool": "pay", "args": #{@args}}})

  # The fault, and the arguments that have it, or what becomes of the whole program.
  @kept [
    missing_comma: ~s({"id": 1 "to": "bob"}),
    extra_comma: ~s({"id": 1,, "to": "bob"}),
    trailing_comma: ~s({"id": 1, "to": "bob",}),
    semicolon: ~s({"id": 1; "to": "bob"}),
    single_quotes: ~s({"id": 1, "to": 'bob'}),
    single_quotes: ~s({'id': 1, "to": "bob"}),
    smart_quotes: ~s({"id": 1, "to": “bob”}),
    triple_quotes: ~s({"id": 1, "to": """bob"""}),
    bare_key: ~s({id: 1, "to": "bob"}),
    wrong_close: ~s({"id": 1, "to": "bob"])
  ]

  @refused [
    missing_colon: ~s({"id" 1, "to": "bob"}),
    wrong_colon: ~s({"id" = 1, "to": "bob"}),
    comment: ~s({"id": 1, /* or 2 */ "to": "bob"}),
    comment: ~s({"id": 1, // or 2\n "to": "bob"}),
    ellipsis: ~s({"id": 1, "to": "bob", ...}),
    missing_end_quote: ~s({"to": "bob,\n"id": 1}),
    missing_start_quote: ~s({"id": 1, "to": bob"}),
    inner_quote: ~s({"id": 1, "to": "b "o" b"}),
    control_character: ~s({"id": 1, "to": "bo\nb"}),
    bad_escape: ~S({"id": 1, "to": "b\ob"}),
    bare_word: ~s({"id": 1, "to": bob}),
    foreign_word: ~s({"id": 1, "to": None}),
    number_form: ~s({"id": +1, "to": "bob"}),
    number_form: ~s({"id": 1., "to": "bob"}),
    thousands: ~s({"id": 1,000, "to": "bob"}),
    stray_character: ~s({"id": **1**, "to": "bob"})
  ]

  # They need a type, which the arguments of a program do not have, or a text that is no program.
  @typed [
    :key_spelling,
    :quoted_number,
    :number_as_text,
    :quoted_boolean,
    :stringified,
    :bare_element
  ]

  @around [:missing_close, :missing_open, :extra_close, :extra_open, :leftover]

  test "each fault is named here" do
    named = Keyword.keys(@kept) ++ Keyword.keys(@refused) ++ @typed ++ @around
    assert named |> Enum.uniq() |> Enum.sort() == Enum.sort(Sentence.kinds())
  end

  test "spelling of keys and quotes, commas and closing brackets" do
    for {fault, args} <- @kept, tools <- [[], tools(:write), tools(:read)] do
      text = String.replace(@program, @args, args)
      assert fault in kinds(text), "#{fault}: #{text}"
      assert {:ok, program, [_ | _]} = Agent.program(text, tools: tools), "#{fault}: #{text}"
      assert called(program) == %{"id" => 1, "to" => "bob"}
    end
  end

  test "nothing else" do
    for {fault, args} <- @refused, nested <- [& &1, &in_pipe/1, &in_branch/1] do
      text = @program |> String.replace(@args, args) |> nested.()
      assert fault in kinds(text), "#{fault}: #{text}, #{inspect(kinds(text))}"

      for tools <- [[], tools(:write)] do
        assert {:error, {:parse_error, message}, feedback} = Agent.program(text, tools: tools),
               "#{fault}: #{text}"

        assert message =~ "which may write (pay)" or message =~ "JSON parse error", message
        assert feedback =~ "program"
      end
    end
  end

  test "brackets around the whole program" do
    # a bracket that closes nothing, and the last one in a fence that is closed
    assert {:ok, program, []} = Agent.program(@program <> "}")
    assert called(program) == %{"id" => 1, "to" => "bob"}

    assert {:ok, program, [_]} =
             Agent.program("```json\n#{String.slice(@program, 0..-2//1)}\n```")

    assert called(program) == %{"id" => 1, "to" => "bob"}

    # brackets that open, and half a program
    for text <- [
          "{" <> @program,
          String.slice(@program, 0..-2//1),
          String.slice(@program, 0..-3//1),
          "```json\n#{String.slice(@program, 0..-3//1)}\n```"
        ] do
      case Agent.program(text) do
        {:error, {:parse_error, _message}, _feedback} -> :ok
        {:ok, program, _} -> flunk("#{text} gives #{inspect(program.source)}")
      end
    end
  end

  test "a program whose tools only read is repaired in all of them" do
    for {fault, args} <- Keyword.drop(@refused, [:thousands]) do
      text = String.replace(@program, @args, args)
      {:ok, _value, _repairs} = JsonParser.repair(text)
      assert {:ok, _program, [_ | _]} = Agent.program(text, tools: tools(:read)), "#{fault}"
    end
  end

  defp kinds(text) do
    case JsonParser.repair(text) do
      {:ok, _value, repairs} -> Enum.map(repairs, & &1.kind)
      other -> flunk("#{text}: #{inspect(other)}")
    end
  end

  defp tools(effect), do: [%Tool{name: "pay", fun: & &1, effect: effect}]

  defp called(program) do
    {:ok, args, _, _} = Json.run(program, tools: %{"pay" => & &1})
    args
  end

  defp in_pipe(text),
    do: around(text, ~s({"op": "pipe", "steps": [{"op": "literal", "value": 0}, ), "]}")

  defp in_branch(text) do
    condition = ~s({"op": "literal", "value": true})

    around(
      text,
      ~s({"op": "if", "condition": #{condition}, "then": ),
      ~s(, "else": {"op": "literal", "value": 0}})
    )
  end

  defp around(text, before, behind) do
    node = binary_part(text, 12, byte_size(text) - 13)
    ~s({"program": ) <> before <> node <> behind <> "}"
  end
end
