defmodule PtcRunner.Agent.RuledEverywhereTest do
  @moduledoc "Each kind of rule in each place: arguments and answers of tools, results, answers, streams, repairs, checks."
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Agent.Uncoerced
  alias PtcRunner.Json.Check.Constants
  alias PtcRunner.SubAgent.{AnswerStream, Signature}

  doctest Constants
  doctest Uncoerced

  # The type, a value that is right and what it becomes, and one that is wrong.
  @kinds [
    {{:where, :int, [min: 1]}, 1, 1, 0},
    {{:where, :int, [max: 5]}, 5, 5, 6},
    {{:where, :float, [exclusive_min: 0]}, 0.5, 0.5, -0.5},
    {{:where, :float, [exclusive_max: 1]}, 0.5, 0.5, 1.5},
    {{:where, :int, [multiple_of: 5]}, 10, 10, 11},
    {{:where, :string, [min_length: 2]}, "ab", "ab", "a"},
    {{:where, :string, [max_length: 2]}, "ab", "ab", "abc"},
    {{:where, :string, [pattern: "^[a-z]+$"]}, "ab", "ab", "A1"},
    {{:where, :string, [format: :email]}, "a@b.org", "a@b.org", "a"},
    {{:where, :string, [enum: ["open", "paid"]]}, "open", "open", "lost"},
    {{:where, :int, [enum: [1, 2]]}, 2, 2, 3},
    {{:where, {:list, :int}, [unique: true]}, [1, 2], [1, 2], [1, 1]},
    {{:where, {:list, :int}, [min_items: 1]}, [1], [1], []},
    {{:where, {:list, :int}, [max_items: 1]}, [1], [1], [1, 2]},
    {:date, "2024-02-29", ~D[2024-02-29], "2024-02-30"},
    {:datetime, "2024-02-29T10:00:00Z", ~U[2024-02-29 10:00:00Z], "2024-02-29"},
    {{:map_of, {:where, :int, [min: 1]}}, %{"x" => 1}, %{"x" => 1}, %{"x" => 0}},
    {{:one_of, [:int, {:list, :int}], nil}, [1], [1], "x"},
    {{:defs, %{"S" => {:where, :string, [enum: ["a"]]}}, {:ref, "S"}}, "a", "a", "b"},
    {{:struct, Range,
      {:map, [{"first", {:where, :int, [min: 1]}}, {"last", :int}, {"step", :int}]}},
     %{"first" => 1, "last" => 2, "step" => 1}, 1..2//1,
     %{"first" => 0, "last" => 2, "step" => 1}}
  ]

  defp of_a(type), do: {:signature, [], {:map, [{"a", type}]}}
  defp literal(value), do: Json.Codec.encode!(%{"program" => value})
  defp text(value), do: Json.Codec.encode!(%{"a" => value})

  test "arguments of tools are checked and converted" do
    for {type, right, made, wrong} <- @kinds do
      me = self()

      tool =
        {fn args -> send(me, {:args, args}) end,
         signature: {:signature, [{"a", type}], :any}, description: "d"}

      call = &literal(%{"op" => "call", "tool" => "t", "args" => %{"a" => &1}})
      assert {:ok, _, _} = Agent.run(call.(right), %{"t" => tool}, [])
      assert_received {:args, %{"a" => ^made}}
      assert {^type, {:error, _, feedback}} = {type, Agent.run(call.(wrong), %{"t" => tool}, [])}
      assert feedback =~ "a"
      refute_received {:args, _}
    end
  end

  test "answers of tools are checked" do
    for {type, _right, made, wrong} <- @kinds do
      tool = fn value ->
        {fn _ -> %{"a" => value} end, signature: of_a(type), description: "d"}
      end

      call =
        literal(%{
          "op" => "pipe",
          "steps" => [
            %{"op" => "call", "tool" => "t"},
            %{"op" => "get", "field" => "a"},
            %{"op" => "typeof"}
          ]
        })

      assert {^type, {:ok, _, _}} = {type, Agent.run(call, %{"t" => tool.(made)}, [])}
      assert {^type, {:error, _, _}} = {type, Agent.run(call, %{"t" => tool.(wrong)}, [])}
    end
  end

  test "results are checked and converted" do
    for {type, right, made, wrong} <- @kinds do
      program = &literal(%{"op" => "literal", "value" => %{"a" => &1}})
      assert {:ok, %{"a" => ^made}, _} = Agent.run(program.(right), %{}, returns: of_a(type))

      assert {^type, {:error, _, _}} =
               {type, Agent.run(program.(wrong), %{}, returns: of_a(type))}
    end
  end

  test "answers and repaired answers are checked and converted" do
    for {type, right, made, wrong} <- @kinds do
      assert {^type, {:ok, %{"a" => ^made}, _}} = {type, Agent.answer(text(right), of_a(type))}

      assert {^type, {:error, [%{path: ["a" | _]} | _], _}} =
               {type, Agent.answer(text(wrong), of_a(type))}

      broken = &(String.replace_suffix(text(&1), "}", ",") <> " // end")

      assert {^type, {:ok, %{"a" => ^made}, [_ | _]}} =
               {type, Agent.answer(broken.(right), of_a(type), truncated: :complete)}

      assert {^type, {:error, _, _}} =
               {type, Agent.answer(broken.(wrong), of_a(type), truncated: :complete)}
    end
  end

  test "streams are checked" do
    for {type, right, _made, wrong} <- @kinds do
      assert {:cont, stream} = AnswerStream.feed(AnswerStream.new(of_a(type)), text(right))
      assert {^type, {:ok, %{"a" => _}}} = {type, AnswerStream.finish(stream)}

      assert {^type, {:halt, {:error, [%{path: ["a" | _]}]}}} =
               {type, AnswerStream.feed(AnswerStream.new(of_a(type)), text(wrong))}
    end
  end

  test "a constant result is checked before the run" do
    for {type, right, _made, wrong} <- @kinds, not is_list(right), not is_list(wrong) do
      program = &literal(%{"op" => "literal", "value" => %{"a" => &1}})
      assert {^type, {:ok, _}} = {type, Json.check(program.(right), returns: of_a(type))}
      wrong = Json.check(program.(wrong), returns: of_a(type))

      if match?({:one_of, _, _}, type),
        do: assert({:error, [%{code: :wrong_result}]} = wrong),
        else:
          assert({^type, {:error, [%{code: :wrong_result, path: ["program"]}]}} = {type, wrong})
    end
  end

  test "constants in branches, lists and maps of a type" do
    type = of_a({:where, :int, [min: 1]})

    branch = fn a, b ->
      ~s({"program": {"a": {"op": "if", "condition": {"op": "pipe", "steps": [{"op": "load", "name": "x"}, {"op": "gt", "value": 1}]}, "then": #{a}, "else": #{b}}}})
    end

    opts = [context: %{"x" => :int}, returns: type]
    assert {:ok, %{warnings: []}} = Json.check(branch.(1, 2), opts)

    assert {:ok, %{warnings: [%{code: :maybe_wrong_result, message: message}]}} =
             Json.check(branch.(0, 2), opts)

    assert message == "The result is wrong, in a: expected at least 1, got 0"
    assert {:error, [%{code: :wrong_result}]} = Json.check(branch.(0, -1), opts)
    assert {:error, {:validation_error, text}} = Json.compile(branch.(0, -1), check: opts)
    assert text =~ "expected at least 1"

    assert {:ok, %{warnings: [%{message: message}]}} =
             Json.check(~s({"program": {"a": [0]}}),
               returns: of_a({:list, {:where, :int, [min: 1]}})
             )

    assert message =~ "a[]: expected at least 1, got 0"
    # An agent does not start such a program.
    assert {:error, _, feedback} =
             Agent.run(branch.(0, -1), %{}, context: %{"x" => 1}, returns: type)

    assert feedback =~ "at least 1"
  end

  test "other spellings of an argument are no findings" do
    signature =
      {:signature, [{"s", {:where, :string, [enum: ["open"], ignore_case: true]}}], :any}

    call = ~s({"program": {"op": "call", "tool": "t", "args": {"s": "Open"}}})
    assert {:ok, _} = Json.check(call, tools: %{"t" => signature})
    strict = {:signature, [{"s", {:where, :string, [enum: ["open"]]}}], :any}
    assert {:error, [%{code: :wrong_argument}]} = Json.check(call, tools: %{"t" => strict})
  end

  test "types by name are known to checks" do
    tree = {:defs, %{"T" => {:map, [{"v", :int}, {"t", {:optional, {:ref, "T"}}}]}}, {:ref, "T"}}

    get =
      &~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "t"}, {"op": "get", "field": "#{&1}"}]}})

    assert {:ok, _} = Json.check(get.("v"), context: %{"t" => tree})
    assert {:error, [%{code: :unknown_field}]} = Json.check(get.("w"), context: %{"t" => tree})
  end

  test "an answer's errors are those that coercion leaves" do
    type =
      {:map,
       [
         {"s", {:where, :string, [enum: ["open"]]}},
         {"n", :int},
         {"k", {:where, :int, [min: 1]}},
         {"_p", :int}
       ]}

    assert {:error, errors, feedback} =
             Agent.answer(
               ~s({"s": "lost", "n": "7", "k": "0", "_p": "1"}),
               {:signature, [], type}
             )

    assert errors == [
             %{path: ["s"], message: ~s(expected one of "open", got "lost")},
             %{path: ["k"], message: "expected at least 1, got 0"},
             %{path: ["_p"], message: "expected int, got string"}
           ]

    refute feedback =~ "- n:"
  end

  test "malformed structs are shown by their fields" do
    for struct <- [
          %{__struct__: Time, hour: 1},
          %{__struct__: Date},
          %{__struct__: DateTime, year: "x"}
        ] do
      assert {:error, [%{message: message}]} = Signature.validate("{a :int}", %{a: struct})
      refute message =~ "Inspect.Error"
      assert message =~ "__struct__: #{inspect(struct.__struct__)}"
    end
  end
end
