defmodule PtcRunner.SubAgent.ExactNumbersTest do
  # A number of JSON keeps its digits where the type is a decimal, wherever the type stands and however the text is read; elsewhere it is the
  # float that it was.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Agent.Tool
  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Values}
  alias PtcRunner.SubAgent.{AnswerStream, JsonParser}
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.Signature.{Coercion, Decimals, Exact}
  alias PtcRunner.Test.Environment

  doctest Exact
  doctest PtcRunner.Json.ExactArguments

  # Texts of numbers; some have more digits than a float.
  @numbers ~w(12345678901234567.89 -0.1000000000000000055511151231257827 1e-400 9007199254740993.5 0.1 12.50 7 -3
              123456789012345678901234567890 1.5e3 1E+22 0.30000000000000004 -98765432109876543210.123456789)

  # Types with a decimal at one place, and a text with the number there.
  @places [
    {:decimal, ~s(N)},
    {{:map, [{"d", :decimal}]}, ~s({"d": N})},
    {{:closed_map, [{"d", {:optional, :decimal}}]}, ~s({"d": N})},
    {{:list, :decimal}, ~s([N, N])},
    {{:list, {:map, [{"d", {:where, :decimal, [description: "x"]}}]}}, ~s([{"d": N}, {"d": N}])},
    {{:map_of, :decimal}, ~s({"x": N, "y z": N})},
    {{:map, [{"a", {:map, [{"d", {:list, {:list, :decimal}}}]}}]}, ~s({"a": {"d": [[N]]}})},
    {{:map, [{"u", {:one_of, [:bool, :decimal], nil}}]}, ~s({"u": N})},
    {{:map, [{"u", {:one_of, [{:map, [{"k", :string}]}, {:map, [{"d", :decimal}]}], nil}}]},
     ~s({"u": {"d": N}})},
    {{:defs, %{"T" => {:map, [{"d", :decimal}, {"t", {:optional, {:ref, "T"}}}]}}, {:ref, "T"}},
     ~s({"d": N, "t": {"d": N}})},
    {{:map, [{"d-e", :decimal}]}, ~s({"d-e": N})}
  ]

  defp signature(type), do: {:signature, [], type}

  # A value with its decimals as the texts of their numbers, without zeros at the end.
  defp told(%{__struct__: Decimal} = decimal), do: decimal |> Values.text() |> number()
  defp told(map) when is_map(map), do: Map.new(map, fn {key, value} -> {key, told(value)} end)
  defp told(list) when is_list(list), do: Enum.map(list, &told/1)
  defp told(text) when is_binary(text), do: number(text)
  defp told(other), do: other

  defp number(text) do
    {:ok, made, _warnings} = Decimals.decimal(text, false, true)
    normal(made.sign * made.coef, made.exp)
  end

  defp normal(0, _exp), do: {:decimal, 0, 0}
  defp normal(coef, exp) when rem(coef, 10) == 0, do: normal(div(coef, 10), exp + 1)
  defp normal(coef, exp), do: {:decimal, coef, exp}

  # What the text stands for, with the decimals in the places of the numbers.
  defp meant(text, number) do
    text |> String.replace("N", ~s("N")) |> Codec.decode!() |> meant_at(number(number))
  end

  defp meant_at("N", decimal), do: decimal
  defp meant_at(list, decimal) when is_list(list), do: Enum.map(list, &meant_at(&1, decimal))

  defp meant_at(map, decimal),
    do:
      Map.new(map, fn {key, value} ->
        {String.replace(key, "-", "_"), meant_at(value, decimal)}
      end)

  defp keys(map) when is_map(map) and not is_struct(map),
    do:
      Map.new(map, fn {key, value} -> {String.replace(to_string(key), "-", "_"), keys(value)} end)

  defp keys(list) when is_list(list), do: Enum.map(list, &keys/1)
  defp keys(other), do: other

  for {type, text} <- @places do
    test "#{text} of #{inspect(type)}" do
      {type, text} = unquote(Macro.escape({type, text}))

      for number <- @numbers ++ random_numbers() do
        json = String.replace(text, "N", number)
        meant = meant(text, number)
        assert {number, told(answer(json, type, [])), []} == {number, meant, []}
        assert told(answer(json, type, coerce: false)) == meant
        assert told(answer("Here:\n```json\n#{json}\n```", type, [])) == meant

        # With repairs.
        if String.starts_with?(json, ["{", "["]) do
          broken = String.replace(json, ~r/[}\]]\z/, ",\\0")
          assert told(answer(broken, type, [])) == meant
          assert told(handled(json, type, [])) == meant
          assert told(handled(broken, type, repair: true)) == meant
          assert told(streamed(json, type)) == meant
        end

        assert told(of_tool(Json.text(json), type)) == meant
        assert told(of_tool(Json.text(String.duplicate(" ", 20_000) <> json), type)) == meant
      end
    end
  end

  defp random_numbers do
    :rand.seed(:exsss, Environment.seed())

    for _ <- 1..Environment.cases(20) do
      digits = fn count ->
        for _ <- 1..count, into: "", do: Integer.to_string(Enum.random(0..9))
      end

      whole =
        0..3
        |> Enum.random()
        |> then(&Enum.random(["0", "7#{digits.(&1 + 1)}", "1#{digits.(20)}"]))

      exp = Enum.random(["", "", "e#{Enum.random(-30..30)}"])
      "#{Enum.random(["", "-"])}#{whole}.#{digits.(Enum.random(1..30))}#{exp}"
    end
  end

  defp answer(text, type, opts) do
    assert {:ok, value, _warnings} = Agent.answer(text, signature(type), opts)
    keys(value)
  end

  defp handled(text, type, opts) do
    agent = %{parsed_signature: signature(type), max_turns: 1, field_descriptions: nil}

    state = %{
      turn: 1,
      turns: [],
      messages: [],
      remaining_turns: 0,
      turn_tokens: nil,
      start_time: 0,
      trace_mode: false,
      collect_messages: false,
      expanded_prompt: "",
      original_prompt: "",
      llm_requests: 1,
      total_input_tokens: 0,
      total_output_tokens: 0
    }

    assert {:stop, {:ok, step}, _turn, _tokens} =
             JsonHandler.handle_json_answer(text, agent, state, opts)

    keys(step.return)
  end

  defp streamed(text, type) do
    assert {:cont, stream} = type |> signature() |> AnswerStream.new() |> AnswerStream.feed(text)
    assert {:ok, value} = AnswerStream.finish(stream)
    keys(value)
  end

  @call ~s({"program": {"op": "call", "tool": "t", "args": {}}})

  defp of_tool(answer, type) do
    tool = %Tool{name: "t", fun: fn _ -> answer end, signature: signature(type)}
    assert {:ok, value, _, _} = Json.run(@call, tools: %{"t" => tool}, structs: :values)
    keys(value)
  end

  test "elsewhere numbers are the floats that they were" do
    type = {:map, [{"d", :decimal}, {"f", :float}, {"a", :any}, {"l", {:list, :float}}]}
    n = "12345678901234567.89"
    float = 1.2345678901234568e16
    text = ~s({"d": #{n}, "f": #{n}, "a": {"x": [#{n}]}, "l": [#{n}], "other": #{n}})
    assert {:ok, value, []} = Agent.answer(text, signature(type))
    assert %{"f" => ^float, "a" => %{"x" => [^float]}, "l" => [^float]} = keys(value)
    assert told(value["d"]) == number(n)

    # Errors show the float.
    assert {:error, [%{message: "expected string, got float"}], feedback} =
             Agent.answer(
               ~s({"d": 1, "s": #{n}}),
               signature({:map, [{"d", :decimal}, {"s", :string}]}),
               repair: false
             )

    assert feedback =~ "s: expected string, got float"

    # Without a decimal in the type nothing is different.
    assert Agent.answer(~s({"f": #{n}}), "{f :float}") == {:ok, %{"f" => float}, []}
    assert JsonParser.parse(~s({"f": #{n}})) == {:ok, %{"f" => float}}
  end

  test "a number with too many digits is an error" do
    text = ~s({"d": 0.#{String.duplicate("1", 2_000)}})

    assert {:error, [%{path: ["d"]}], _feedback} =
             Agent.answer(text, signature({:map, [{"d", :decimal}]}))
  end

  describe "a number in the text of a program" do
    @long "12345678901234567.89"

    defp told_of(args, params, more \\ []) do
      program = ~s({"program": {"op": "call", "tool": "t", "args": #{args}}})
      tool = %Tool{name: "t", fun: & &1, signature: {:signature, params, :any}}
      forms = [tool, {& &1, signature: {:signature, params, :any}}]
      {:ok, plain} = Codec.decode(program)

      runs =
        for form <- forms, run <- [&Json.run/2, &Json.explain(&1, &2).result] do
          assert {:ok, value, _, _} =
                   run.(program, [tools: %{"t" => form}, structs: :values] ++ more)

          told_all(value)
        end

      assert {:ok, value, _info} = Agent.run(program, [tool], more)
      assert Enum.uniq([told_all(value) | runs]) |> length() == 1
      assert {:ok, _value, _, _} = Json.run(plain, tools: %{"t" => tool}, structs: :values)
      told_all(value)
    end

    defp told_all(%{__struct__: Decimal} = decimal), do: told(decimal)

    defp told_all(map) when is_map(map),
      do: Map.new(map, fn {key, value} -> {key, told_all(value)} end)

    defp told_all(list) when is_list(list), do: Enum.map(list, &told_all/1)

    defp told_all(text) when is_binary(text),
      do: if(text =~ ~r/\A[-0-9.eE+]+\z/, do: told(text), else: text)

    defp told_all(other), do: other

    test "is exact where the tool declares a decimal" do
      decimal = number(@long)

      for {args, params, value} <- [
            {~s({"x": #{@long}}), [{"x", :decimal}], %{"x" => decimal}},
            {~s({"x": [#{@long}, 0.5]}), [{"x", {:list, :decimal}}],
             %{"x" => [decimal, number("0.5")]}},
            {~s({"x": {"op": "literal", "value": #{@long}}}), [{"x", :decimal}],
             %{"x" => decimal}},
            {~s({"x": [{"op": "literal", "value": #{@long}}, {"op": "literal", "value": 0.5}]}),
             [{"x", {:list, :decimal}}], %{"x" => [decimal, number("0.5")]}},
            {~s({"x": {"op": "literal", "value": {"a": [#{@long}]}}}),
             [{"x", {:map, [{"a", {:list, :decimal}}]}}], %{"x" => %{"a" => [decimal]}}},
            {~s({"x": {"a": {"b": #{@long}}}}), [{"x", {:map, [{"a", {:map_of, :decimal}}]}}],
             %{"x" => %{"a" => %{"b" => decimal}}}},
            {~s({"x": #{@long}, "y": 1.5}), [{"x", {:optional, :decimal}}, {"y", :float}],
             %{"x" => decimal, "y" => 1.5}},
            {~s({"x": {"op": "call", "tool": "t", "args": {"x": #{@long}}}}),
             [{"x", {:one_of, [:decimal, :map], nil}}], %{"x" => %{"x" => decimal}}}
          ] do
        assert told_of(args, params) == value
      end
    end

    test "is the float elsewhere" do
      float = String.to_float(@long)

      for args <- [~s({"x": #{@long}}), ~s({"x": [#{@long}]})] do
        assert %{"x" => value} = told_of(args, [{"x", :any}])
        assert value in [float, [float]]
      end

      # The same number at both places: the program computes with it.
      args = ~s({"x": 0.5, "y": {"op": "add", "left": #{@long}, "right": 0}})

      assert told_of(args, [{"x", :decimal}, {"y", :float}]) == %{
               "x" => number("0.5"),
               "y" => float
             }

      text = ~s({"x": 0.5, "s": "#{@long} \\" #{@long}"})
      assert %{"s" => text} = told_of(text, [{"x", :decimal}, {"s", :string}])
      assert text == ~s(#{@long} " #{@long})
    end
  end

  describe "a decimal where a number or a text is declared" do
    defp decimal(coef, exp),
      do: %{__struct__: Decimal, sign: if(coef < 0, do: -1, else: 1), coef: abs(coef), exp: exp}

    @call_with ~s({"program": {"op": "call", "tool": "t", "args": {"x": {"op": "load", "name": "d"}}}})

    defp sent(value, type) do
      tool = %Tool{name: "t", fun: & &1["x"], signature: {:signature, [{"x", type}], :any}}
      opts = [tools: %{"t" => tool}, context: %{"d" => value}, structs: :values]

      with {:ok, value, _, _} <- Json.run(@call_with, opts), do: value
    end

    test "is that, as an argument, as a result and as the result of a program" do
      for {decimal, type, value} <- [
            {decimal(1250, -2), :float, 12.5},
            {decimal(1200, -2), :float, 12.0},
            {decimal(1200, -2), :int, 12},
            {decimal(-12, 3), :int, -12_000},
            {decimal(0, 5), :int, 0},
            {decimal(1, -1), :float, 0.1},
            {decimal(1250, -2), :string, "12.50"},
            {decimal(12_345_678_901_234_567_891, -2), :string, "123456789012345678.91"},
            {decimal(12_345_678_901_234_567_891, 0), :int, 12_345_678_901_234_567_891}
          ] do
        assert sent(decimal, type) === value
        assert sent(decimal, {:optional, type}) === value
        assert sent(decimal, {:one_of, [:bool, type], nil}) === value
        assert sent([decimal], {:list, type}) === [value]
        assert sent(%{"a" => decimal}, {:map, [{"a", type}]}) === %{"a" => value}
        assert of_tool(decimal, type) === value
        assert of_tool([decimal], {:list, type}) === [value]

        load = ~s({"program": {"op": "load", "name": "d"}})

        assert {:ok, ^value, _info} =
                 Agent.run(load, %{}, context: %{"d" => decimal}, returns: signature(type))
      end
    end

    test "is an error where it is no such number" do
      for {decimal, type} <- [
            {decimal(1250, -2), :int},
            {decimal(12_345_678_901_234_567_891, -2), :float},
            {decimal(1, 10_000), :int},
            {decimal(1, 10_000), :float},
            {decimal(1, -10_000), :float},
            {%{decimal(1, 0) | coef: :NaN}, :float},
            {%{decimal(1, 0) | coef: :inf}, :int},
            {decimal(125, -1), :bool}
          ] do
        assert {:error, {:execution_error, text}} = sent(decimal, type)
        assert text =~ "- x: expected "
        tool = %Tool{name: "t", fun: fn _ -> decimal end, signature: signature(type)}

        assert {:error, {:execution_error, text}} =
                 Json.run(@call, tools: %{"t" => tool}, structs: :values)

        assert text =~ "its result is not what its signature says"
        load = ~s({"program": {"op": "load", "name": "d"}})

        assert {:error, {:invalid_result, _}, _} =
                 Agent.run(load, %{}, context: %{"d" => decimal}, returns: signature(type))
      end
    end

    # Whether the float lies in the middle between the decimal and the next one of so many digits: then either is its shortest text.
    defp tie?(float, %{sign: sign, coef: coef, exp: exp}) do
      {:decimal, _coef, exp} = normal(sign * coef, exp)
      {numerator, denominator} = Float.ratio(float)

      {twice, of} =
        {2 * numerator * Integer.pow(10, max(-exp, 0)),
         denominator * Integer.pow(10, max(exp, 0))}

      rem(twice, of) == 0 and rem(div(twice, of), 2) != 0
    end

    test "native conversions are those of the values" do
      :rand.seed(:exsss, Environment.seed())

      for _ <- 1..Environment.cases(2_000) do
        coef =
          Enum.random([
            Enum.random(-999..999),
            Enum.random(-10..10) * Integer.pow(10, Enum.random(0..30)),
            Enum.random(1..10_000_000_000_000_000_000)
          ])

        decimal = decimal(coef, Enum.random([Enum.random(-25..25), Enum.random(-420..420)]))

        for {type, expected} <- [int: Values.integer(decimal), float: Values.float(decimal)] do
          made =
            case Coercion.coerce(decimal, type) do
              {:ok, value, [_warning]} -> {:ok, value}
              {:error, _reason} -> :error
            end

          case {made, expected} do
            {{:ok, float}, :error} when is_float(float) ->
              assert tie?(float, decimal), inspect(decimal)

            {:error, {:ok, float}} when is_float(float) ->
              assert tie?(float, decimal), inspect(decimal)

            _same ->
              assert {decimal, type, made} == {decimal, type, expected}
          end
        end
      end
    end
  end
end
