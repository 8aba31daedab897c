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
  doctest PtcRunner.Json.ExactArguments.Forms
  doctest PtcRunner.Json.NumberTokens

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

  # A number that JSON does not have, and the number that it is.
  @loose [
    {"+12345678901234567.89", "12345678901234567.89"},
    {".12345678901234567891", "0.12345678901234567891"},
    {"-.12345678901234567891", "-0.12345678901234567891"},
    {"12345678901234567891.", "12345678901234567891"},
    {"0123456789012345678.123456789", "123456789012345678.123456789"},
    {"12_345_678_901_234_567.89", nil}
  ]

  test "numbers that are repaired keep their digits" do
    for {loose, number} <- @loose do
      case Agent.answer(~s({"d": #{loose}}), signature({:map, [{"d", :decimal}]})) do
        {:ok, %{"d" => decimal}, [warning]} ->
          assert {loose, told(decimal)} == {loose, number(number)}
          assert warning =~ "read #{loose} as a number"

        {:error, _errors, _feedback} ->
          assert {loose, number} == {loose, nil}
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

  describe "a number that reaches a decimal through operations" do
    @exact "12345678901234567.89"

    # Programs in which N ends in the argument x of the tool t, and nowhere else.
    @ways [
      ~s({"op":"call","tool":"t","args":{"x":{"op":"if","condition":C,"then":N,"else":1}}}),
      ~s({"op":"call","tool":"t","args":{"x":{"op":"if","condition":{"op":"not","condition":C},"then":{"op":"literal","value":2},"else":N}}}),
      ~s({"op":"call","tool":"t","args":{"x":{"op":"let","name":"a","value":N,"in":{"op":"var","name":"a"}}}}),
      ~s({"op":"let","name":"a","value":N,"in":{"op":"call","tool":"t","args":{"x":{"op":"var","name":"a"}}}}),
      ~s({"op":"let","name":"a","value":N,"in":{"op":"let","name":"b","value":{"op":"var","name":"a"},"in":{"op":"call","tool":"t","args":{"x":{"op":"var","name":"b"}}}}}),
      ~s({"op":"let","name":"a","value":{"k":[1,N]},"in":{"op":"call","tool":"t","args":{"x":{"op":"get","from":{"op":"var","name":"a"},"path":["k",1]}}}}),
      ~s({"op":"call","tool":"t","args":{"x":{"op":"coalesce","values":[null,N]}}}),
      ~s({"op":"call","tool":"t","args":{"x":{"op":"switch","cases":[{"when":C,"then":N}],"else":0}}}),
      ~s({"op":"pipe","steps":[{"op":"literal","value":[N]},{"op":"first"},{"op":"call","tool":"t","args":{"x":{"op":"it"}}}]}),
      ~s({"op":"pipe","steps":[{"op":"list","items":[{"op":"literal","value":N}]},{"op":"map","expr":{"op":"call","tool":"t","args":{"x":{"op":"it"}}}},{"op":"first"}]}),
      ~s({"op":"pipe","steps":[{"op":"object","fields":{"p":N}},{"op":"call","tool":"t","args":{"x":{"op":"get","field":"p"}}}]}),
      ~s({"op":"pipe","steps":[{"op":"literal","value":[{"p":N}]},{"op":"map","as":"row","expr":{"op":"call","tool":"t","args":{"x":{"op":"get","from":{"op":"var","name":"row"},"field":"p"}}}},{"op":"first"}]}),
      ~s({"op":"call","tool":"fails","args":{},"on_error":{"op":"call","tool":"t","args":{"x":N}}}),
      ~s({"op":"call","tool":"t","args":{"x":{"op":"get","from":{"op":"merge","objects":[{"x":1},{"x":N}]},"field":"x"}}}),
      ~s({"op":"pipe","steps":[{"op":"object","fields":{"a":1}},{"op":"set","fields":{"p":N}},{"op":"call","tool":"t","args":{"x":{"op":"get","field":"p"}}}]})
      | for step <- [
              ~s({"op":"last"}),
              ~s({"op":"nth","index":1}),
              ~s({"op":"drop","count":1},{"op":"take","count":1},{"op":"first"}),
              ~s({"op":"reverse"},{"op":"first"}),
              ~s({"op":"sort_by","field":"n"},{"op":"first"}),
              ~s({"op":"distinct","field":"n"},{"op":"last"}),
              ~s({"op":"flat_map","as":"r","expr":{"op":"list","items":[{"op":"var","name":"r"}]}},{"op":"last"}),
              ~s({"op":"concat","lists":[{"op":"it"},{"op":"it"}]},{"op":"last"}),
              # An index of a list whose items are others, or in another order.
              ~s({"op":"reverse"},{"op":"get","path":[0]}),
              ~s({"op":"drop","count":1},{"op":"get","path":[0]}),
              ~s({"op":"sort_by","field":"n"},{"op":"get","path":[0]}),
              ~s({"op":"map","expr":{"op":"it"}},{"op":"get","path":[1]}),
              ~s({"op":"concat","lists":[[0],{"op":"it"}]},{"op":"get","path":[2]})
            ] do
          ~s({"op":"pipe","steps":[{"op":"literal","value":[{"p":1,"n":2},{"p":N,"n":1}]},) <>
            step <> ~s(,{"op":"call","tool":"t","args":{"x":{"op":"get","field":"p"}}}]})
        end
    ]
    @yes ~s({"op":"eq","left":1,"value":1})

    defp tools_of(type) do
      tool = %Tool{name: "t", fun: & &1, signature: {:signature, [{"x", type}], :any}}
      [tool, %Tool{name: "fails", fun: fn _ -> {:error, "no"} end}]
    end

    test "keeps its digits, in a program of a text, compiled or not" do
      for way <- @ways, number <- [@exact, "0.1000000000000000055511151231257827", "1e-400"] do
        node = way |> String.replace("N", number) |> String.replace("C", @yes)
        text = ~s({"program": #{node}})
        tools = tools_of(:decimal)
        {:ok, compiled} = Json.compile(text)

        for program <- [text, compiled] do
          assert {:ok, %{"x" => x}, _, _} =
                   Json.run(program, tools: Map.new(tools, &{&1.name, &1}), structs: :values)

          assert told(x) == number(number), node
          assert {:ok, %{"x" => x}, _info} = Agent.run(program, tools)
          assert told(x) == number(number), node
        end
      end
    end

    test "a compiled program keeps its options" do
      {:ok, compiled} =
        Json.compile(~s({"program": {"op":"call","tool":"t","args":{"x":#{@exact}}}}),
          strict: true,
          edition: 2,
          max_depth: 50
        )

      again =
        PtcRunner.Json.ExactArguments.quoted(
          compiled,
          Map.new(tools_of(:decimal), &{&1.name, &1})
        )

      assert again.source != compiled.source
      fields = [:strict, :edition, :max_depth, :keys, :structs, :observed]
      assert Map.take(again, fields) == Map.take(compiled, fields)
    end

    test "and one that the program computes with is the float" do
      for node <- [
            ~s({"op":"let","name":"a","value":N,"in":{"op":"call","tool":"t","args":{"x":{"op":"add","left":{"op":"var","name":"a"},"right":0}}}}),
            ~s({"op":"let","name":"a","value":N,"in":{"op":"call","tool":"t","args":{"x":{"op":"var","name":"a"},"y":{"op":"var","name":"a"}}}}),
            ~s({"op":"pipe","steps":[{"op":"literal","value":[N]},{"op":"sum","expr":{"op":"it"}},{"op":"call","tool":"t","args":{"x":{"op":"it"}}}]}),
            ~s({"op":"let","name":"__input","value":N,"in":{"op":"call","tool":"t","args":{"x":{"op":"it"},"y":{"op":"var","name":"__input"}}}}),
            ~s({"op":"let","name":"l","value":[1.5,N],"in":{"op":"call","tool":"t","args":{"x":{"op":"get","from":{"op":"var","name":"l"},"path":[1]},) <>
              ~s("y":{"op":"pipe","steps":[{"op":"var","name":"l"},{"op":"reverse"},{"op":"get","path":[0]}]}}}}),
            # A field that is set to each item of a list.
            ~s({"op":"pipe","steps":[{"op":"literal","value":[{"p":N}]},{"op":"set","fields":{"q":{"op":"get","field":"p"}}},{"op":"first"},) <>
              ~s({"op":"call","tool":"t","args":{"x":{"op":"get","field":"p"},"y":{"op":"get","field":"q"}}}]})
          ] do
        text = ~s({"program": #{String.replace(node, "N", @exact)}})
        signature = {:signature, [{"x", :decimal}, {"y", {:optional, :any}}], :any}
        tool = %Tool{name: "t", fun: & &1, signature: signature}
        assert {:ok, %{"x" => x} = args, _info} = Agent.run(text, [tool])
        assert told(x) == number("1.2345678901234568e16"), node
        assert args["y"] in [nil, 1.2345678901234568e16]
      end

      # A text stands behind all numbers in an order, and is unequal to the text of another number with its float.
      for {step, first} <- [
            {~s({"op":"sort_by","field":"p"}), -1.2345678901234568e16},
            {~s({"op":"distinct"}), 1.5}
          ] do
        value =
          ~s({"op":"literal","value":[{"p":1.5},{"p":-#{@exact}},{"p":-12345678901234567.88}]})

        call =
          ~s({"op":"map","expr":{"op":"call","tool":"t","args":{"x":{"op":"get","field":"p"}}}})

        text = ~s({"program": {"op":"pipe","steps":[#{value},#{step},#{call}]}})
        assert {:ok, [%{"x" => x} | rest], _info} = Agent.run(text, tools_of(:decimal))
        assert told(x) == number(to_string(first)), step
        assert length(rest) == if(step =~ "sort", do: 2, else: 1)
      end

      # The digits alone are no sign: each place counts.
      text = ~s({"program": {"op":"call","tool":"t","args":{"x":#{@exact},"y":#{@exact}}}})
      signature = {:signature, [{"x", :decimal}, {"y", :any}], :any}
      tool = %Tool{name: "t", fun: & &1, signature: signature}
      assert {:ok, %{"x" => x, "y" => 1.2345678901234568e16}, _info} = Agent.run(text, [tool])
      assert told(x) == number(@exact)
    end
  end

  describe "a number that no float can hold" do
    test "is exact where a decimal is declared" do
      for number <- ["1e400", "-2.50E+999"] do
        assert told(answer(~s({"d": #{number}}), {:map, [{"d", :decimal}]}, [])) ==
                 %{"d" => number(number)}

        assert told(of_tool(Json.text(~s({"d": #{number}})), {:map, [{"d", :decimal}]})) ==
                 %{"d" => number(number)}

        tool = %Tool{name: "t", fun: & &1, signature: {:signature, [{"x", :decimal}], :any}}
        text = ~s({"program": {"op": "call", "tool": "t", "args": {"x": #{number}}}})
        assert {:ok, %{"x" => x}, _info} = Agent.run(text, [tool])
        assert told(x) == number(number)
      end
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

    # A float that lies in the middle between two decimals of so many digits, and both.
    defp tie do
      float = Enum.random(1..0x1FFFFFFFFFFFFF) / Integer.pow(2, Enum.random(1..12))
      {:ok, decimal, []} = Decimals.decimal(float, false, true)
      {float, for(more <- [-1, 0, 1], do: %{decimal | coef: decimal.coef + more})}
    end

    test "of two shortest texts of a float, the native one is that of the VM" do
      :rand.seed(:exsss, Environment.seed())

      for _ <- 1..Environment.cases(5_000), {_float, decimals} = tie(), decimal <- decimals do
        made = with {:error, _reason} <- Coercion.coerce(decimal, :float), do: :error
        made = with {:ok, float, _warnings} <- made, do: {:ok, float}

        # The text of a decimal is made only where they differ: its protocol is looked for on the disk.
        made == Values.float(decimal) || flunk(inspect(decimal))
      end
    end

    test "a number that is read exactly is what the VM makes of its text" do
      :rand.seed(:exsss, Environment.seed())

      for _ <- 1..Environment.cases(2_000), {float, decimals} = tie(), decimal <- decimals do
        text = Values.text(decimal)
        assert told(answer(text, :decimal, [])) == number(text), "#{float}"
      end
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

          assert {decimal, type, made} == {decimal, type, expected}
        end
      end
    end
  end
end
