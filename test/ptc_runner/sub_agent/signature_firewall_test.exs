defmodule PtcRunner.SubAgent.SignatureFirewallTest do
  # Whatever goes wrong in a firewalled field, at any depth: no text shows what stands there.
  use ExUnit.Case, async: true

  import ExUnit.CaptureLog

  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Coercion, Validator}

  @secret "s3cret"

  # Types of a field, and values that are wrong or have to be coerced.
  @fields [
    {:int, @secret},
    {:int, "00987654321"},
    {:float, "98765.4321x"},
    {:bool, @secret},
    {:keyword, @secret <> " not an atom"},
    {:keyword, "not_a_secret_but_an_atom"},
    {:datetime, @secret},
    {:datetime, "2031-05-03T09:14:00"},
    {:datetime, "2031-05-03"},
    {:string, {:secret, @secret}},
    {:string, [@secret]},
    {:string, 987_654_321},
    {:string, %{__struct__: NoModule, pin: @secret}},
    {:map, {@secret}},
    {{:list, :int}, [1, 2, {@secret}]},
    {{:list, :int}, ["00987654321", @secret]},
    {{:map, [{"user", {:map, [{"pin", :int}]}}]}, %{"user" => %{"pin" => @secret}}},
    {{:map, [{"user", {:map, [{"pin", :int}]}}]}, %{user: %{pin: {@secret}}}},
    {{:closed_map, [{"pin", :int}]}, %{"pin" => 1, @secret => 2}},
    {{:closed_map, [{"pin", :int}]}, %{"pin" => 1, {@secret} => 2}},
    {{:optional, {:list, {:closed_map, []}}}, [%{@secret => 1}]}
  ]

  defp hidden!(shown, type, value) do
    text = inspect(shown, limit: :infinity, printable_limit: :infinity)

    for part <- [@secret, "987654", "98765.4", "2031-05"] do
      refute text =~ part, "#{inspect(type)} of #{inspect(value)} shows #{part}: #{text}"
    end
  end

  for name <- ["_token", "-token"], key <- ["_token", :_token, "-token"] do
    @tag name: name, key: key
    test "#{name} under #{inspect(key)}", %{name: name, key: key} do
      for {type, value} <- @fields, around <- [:map, :rows] do
        {type, value} =
          case around do
            :map ->
              {{:map, [{name, type}]}, %{key => value}}

            :rows ->
              {{:map, [{"rows", {:list, {:map, [{name, type}]}}}]}, %{rows: [%{key => value}]}}
          end

        hidden!(said(type, value), type, value)
      end
    end
  end

  # Everything that is said about a value, without the value itself.
  defp said(type, value) do
    validated = Validator.validate(value, type)
    formatted = with {:error, errors} <- validated, do: Signature.format_errors(errors, value)
    elsewhere = with {:error, errors} <- validated, do: Signature.format_errors(errors, nil)
    {:map, params} = type

    calls =
      for mode <- [:enabled, :warn_only, :strict] do
        input =
          Signature.call_tool({:signature, params, :any}, value, fn _ -> :ok end, mode: mode)

        {output, log} =
          with_log(fn ->
            Signature.call_tool({:signature, [], type}, %{}, fn _ -> value end, mode: mode)
          end)

        {without_value(input), without_value(output), log}
      end

    coerced = for mode <- [:enabled, :strict], do: Coercion.coerce(value, type, mode: mode)
    {validated, formatted, elsewhere, Enum.map(coerced, &without_value/1), calls}
  end

  defp without_value({:ok, _value, warnings}), do: {:ok, warnings}
  defp without_value(other), do: other

  test "kinds are named" do
    type = {:map, [{"_t", :string}, {"u", :string}]}

    assert Validator.validate(%{"_t" => {:secret, "pw"}, "u" => {:public, "x"}}, type) ==
             {:error,
              [
                %{path: ["_t"], message: "expected string, got tuple"},
                %{path: ["u"], message: ~s(expected string, got {:public, "x"})}
              ]}

    assert {:error, [%{message: "expected string, got struct Date"} | _]} =
             Validator.validate(%{"_t" => ~D[2024-02-29]}, type)

    assert Coercion.coerce(%{"_t" => "x"}, {:map, [{"_t", :int}]}) ==
             {:error, "cannot coerce string to integer"}

    assert Coercion.coerce(%{"_t" => "7"}, {:map, [{"_t", :int}]}) ==
             {:ok, %{"_t" => 7}, ["coerced string to integer"]}

    assert Coercion.coerce(%{"_t" => "x"}, {:map, [{"_t", :datetime}]}) ==
             {:error, "invalid datetime: invalid_format"}

    assert Coercion.coerce(%{"_t" => %{"x" => 1}}, {:map, [{"_t", {:closed_map, []}}]}) ==
             {:error, "unexpected field(s)"}
  end

  test "each undeclared key of a firewalled closed map has an error, whose path does not name it" do
    type =
      {:map,
       [{"_t", {:closed_map, [{"n", :int}, {"in", {:closed_map, []}}]}}, {"u", {:closed_map, []}}]}

    unexpected = "unexpected field — schema disallows additional properties"

    value = %{
      "_t" => %{@secret => 1, "n" => "x", "in" => %{@secret => 1, {@secret} => 2}, s: 2},
      "u" => %{"b" => 1, "a" => 2}
    }

    expected = [
      {["_t", "n"], "expected int, got string"},
      {["_t", "in", "…"], unexpected},
      {["_t", "in", "…"], unexpected},
      {["_t", "…"], unexpected},
      {["_t", "…"], unexpected},
      {["u", "a"], unexpected},
      {["u", "b"], unexpected}
    ]

    assert {:error, errors} = Validator.validate(value, type)
    assert for(%{path: path, message: message} <- errors, do: {path, message}) == expected
    hidden!(Signature.format_errors(errors, value), type, value)
    assert Signature.format_errors(errors, value) =~ "\n- _t.in.…: #{unexpected}\n"
  end

  test "what stands beside such a field is shown" do
    type = {:map, [{"_t", {:map, [{"n", :int}]}}, {"n", :int}]}

    assert Coercion.coerce(%{"_t" => %{"n" => "1"}, "n" => "2"}, type) ==
             {:ok, %{"_t" => %{"n" => 1}, "n" => 2},
              ["coerced string to integer", ~s(coerced string "2" to integer)]}

    assert Coercion.coerce(%{"_t" => %{"n" => 1}, "n" => "x"}, type) ==
             {:error, ~s(cannot coerce string "x" to integer)}
  end

  test "firewalled keys in what is shown of a public field" do
    type = {:map, [{"u", :string}]}
    map = %{"name" => "Ada", "_pin" => @secret, _token: {@secret}, "-key": @secret}
    large = Map.merge(map, Map.new(1..100, &{"k#{&1}", &1}))
    struct = %{__struct__: NoModule, _pin: @secret, name: "Ada"}

    for value <- [
          {map},
          {:a, [1, {map}]},
          {[map | :improper]},
          {large},
          {%{"a" => %{"b" => [map]}}},
          {struct},
          struct,
          {MapSet.new([map])},
          {%URI{userinfo: map}},
          {List.duplicate(map, 500)}
        ] do
      {:error, [%{message: message}]} = Validator.validate(%{"u" => value}, type)
      hidden!(message, type, value)
      assert message =~ "got "
    end

    {:error, [%{message: message}]} = Validator.validate(%{"u" => {map}}, type)
    assert message =~ ~s("name" => "Ada")
    assert message =~ ~s("_pin" => …)
    assert message =~ ~s(:_token => …)

    {:error, [%{message: message}]} = Validator.validate(%{"u" => {struct}}, type)
    # The order of atom keys is the VM's.
    assert ["expected string, got {%", "}"] = String.split(message, ~r/(?<=%)\{.*\}(?=\}$)/)
    for part <- ["__struct__: NoModule", "_pin: …", "name: \"Ada\""], do: assert(message =~ part)
    assert String.length(message) == 68
  end

  test "a stream does not name the keys of a firewalled field" do
    alias PtcRunner.SubAgent.AnswerStream
    type = {:closed_map, [{"n", :int}]}

    for {type, json} <- [{type, "{"}, {{:list, type}, "[{"}] do
      stream = AnswerStream.new({:signature, [], {:map, [{"_t", type}]}})

      assert {:halt, {:error, [%{path: path, message: message}]}} =
               AnswerStream.feed(stream, ~s({"_t": #{json}"#{@secret}": 1))

      assert message =~ "unexpected field"
      refute inspect(path) =~ @secret
      assert hd(path) == "_t"
    end

    stream = AnswerStream.new({:signature, [], {:map, [{"t", type}]}})

    assert {:halt, {:error, [%{path: ["t", "shown"]}]}} =
             AnswerStream.feed(stream, ~s({"t": {"shown": 1))
  end

  test "firewalled keys in what is shown of a key" do
    key = {%{"_pin" => @secret, "name" => "Ada"}}
    type = {:closed_map, []}
    {:error, [%{path: [segment]}]} = Validator.validate(%{key => 1}, type)
    {:error, refused} = Coercion.coerce(%{key => 1}, type)

    for text <- [segment, refused] do
      hidden!(text, type, key)
      assert text =~ ~s("name" => "Ada")
    end
  end

  test "values that are not in the enumeration of a firewalled field" do
    alias PtcRunner.Agent

    for {type, json, path} <- [
          {"{_t :string}", ~s({"_t": "#{@secret}"}), "_t"},
          {"{rows [{_t {pin :string}}]}", ~s({"rows": [{"_t": {"pin": "#{@secret}"}}]}),
           "rows._t.pin"},
          {"{u :any}", ~s({"u": {"_t": "#{@secret}"}}), "u"}
        ] do
      answer = Agent.answer(json, type, enums: %{path => ["a", "b"]})
      assert {:error, [%{message: message}], _feedback} = answer
      assert message =~ ~s(expected one of "a", "b", got )
      hidden!(answer, type, json)
    end
  end

  test "repairs of a firewalled field" do
    alias PtcRunner.SubAgent.JsonParser

    for json <- [
          ~s({"_t": s3cret}),
          ~s({"_t": "s3cret}),
          ~s({"_t": s3cret"}),
          ~s({"_t": 98,765}),
          ~s({"_t": [1 s3cret]}),
          ~s({"_t": {s3cret: 1}}),
          ~s({"_t": {"s3cret" 1}}),
          ~s({"_t": {"a": 1 /* s3cret */}}),
          ~s({"rows": [{"_t": {"a": ["s3cret" 1]}}]})
        ] do
      opts = [truncated: :complete]
      assert {:ok, value, [_ | _] = repairs} = JsonParser.repair(json, nil, opts)
      hidden!(repairs, :any, json)
      assert inspect(value) =~ ~r/s3cret|98765|"a"/
      assert List.last(hd(repairs).path) == "_t"
    end

    cut = ~s({"_t": {"s3cret": [1, 2)
    assert {:error, {:truncated, place}} = JsonParser.repair(cut, nil)
    hidden!(place, :any, cut)

    # Longer paths are truncated.
    deep = String.duplicate(~s({"a": ), 70) <> ~s({"_t": s3cret}) <> String.duplicate("}", 70)
    assert {:ok, _value, [repair]} = JsonParser.repair(deep, nil)
    hidden!(repair, :any, deep)

    assert {:ok, %{"_n" => 98_765}, [repair]} =
             JsonParser.repair(~s({"_n": "98765"}), "{_n :int}")

    assert repair.message == ~s(line 1, column 9: coerced string "…" to a number at "_n")

    # The key itself is shown.
    assert {:ok, _value, [%{message: message}]} = JsonParser.repair(~s({_t: 1}), nil)
    assert message == ~s(line 1, column 2: added quotes around the key "_t")
  end

  test "the place of an error after a firewalled field" do
    alias PtcRunner.SubAgent.AnswerStream
    alias PtcRunner.SubAgent.Loop.JsonHandler
    alias PtcRunner.Test.Answers

    for key <- ["_t", "-t", "\\u005Ft", "\\u002dt", "_a\\\"b", "_t\\u0020"],
        value <- [~s("#{@secret}"), ~s({"a": ["#{@secret}", 1]}), "98765"],
        between <- ["", " \n "] do
      json = ~s({"text": "a \\"_b\\" \\\\", "#{key}"#{between}: #{value} x)
      agent = Answers.agent({:signature, [], :map})

      {:continue, state, _turn} =
        JsonHandler.handle_json_answer(json, agent, Answers.state(), feedback: :detailed)

      feedback = List.last(state.messages).content
      assert feedback =~ "unexpected x\n"
      hidden!(feedback, :map, json)

      halted = AnswerStream.feed(AnswerStream.new("{text :string}", prose: false), json)
      assert {:halt, {:error, [%{message: message}]}} = halted
      assert message =~ ~r/unexpected x\z/
    end

    for text <- [~s({"text": "_t", x), ~s({"text": "- a", x), ~s({"text": "a\\"_b\\": 1", x)] do
      {:halt, {:error, [%{message: message}]}} =
        AnswerStream.feed(AnswerStream.new("{text :string}", prose: false), text)

      assert message =~ "unexpected x after {"
    end
  end

  test "firewalled keys in the errors of a run" do
    alias PtcRunner.Json
    map = %{"_t" => {:a, @secret}, "name" => "Ada"}
    load = %{"op" => "load", "name" => "x"}
    tool = %{"op" => "call", "tool" => "t"}

    for {node, context, fun} <- [
          {%{"op" => "pipe", "steps" => [load, %{"op" => "count"}]}, map, & &1},
          {%{"op" => "pipe", "steps" => [load, %{"op" => "keys"}]}, [map], & &1},
          {%{"op" => "add", "left" => load, "right" => 1}, [[map]], & &1},
          {tool, nil, fn _ -> {:error, map} end},
          {tool, nil, fn _ -> throw({map}) end},
          {tool, nil, fn _ -> exit([map]) end},
          {tool, nil, &Map.fetch!(map, &1)},
          {tool, nil, fn _ -> :erlang.error({:badmap, [map]}) end}
        ] do
      opts = [context: %{"x" => context}, tools: %{"t" => fun}]
      assert {:error, {:execution_error, text} = error} = Json.run(%{"program" => node}, opts)
      assert text =~ ~s("name" => "Ada")
      hidden!([text, Json.format_error(error)], node, context)
      hidden!(Json.Explain.to_json(Json.explain(%{"program" => node}, opts)), node, context)
    end

    hidden!(Json.format_error({:other, map}), :any, map)
  end

  test "a stream that is inspected" do
    alias PtcRunner.SubAgent.AnswerStream

    {:cont, stream} =
      AnswerStream.feed(AnswerStream.new("{_t :string}"), ~s({"_t": "#{@secret}"}))

    assert inspect(stream) == "#PtcRunner.SubAgent.AnswerStream<16 bytes>"
  end

  test "errors of others, about values that are not there" do
    error = %{path: ["_t"], message: ~s(expected string, got {:secret, "pw"})}
    assert Signature.format_error(error, %{}) == "_t: expected string, got term"
    error = %{path: ["t"], message: ~s(expected string, got {:public, "x"})}
    assert Signature.format_error(error, %{}) == ~s(t: expected string, got {:public, "x"})
  end
end
