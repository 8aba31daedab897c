defmodule PtcRunner.SubAgent.LinearHelpersTest do
  # Helpers that took quadratic time, or had no deadline.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json.Codec, SubAgent.Signature, SubAgent.Template}
  alias PtcRunner.SubAgent.Signature.Enums
  alias PtcRunner.Test.Room

  doctest Enums

  test "a template with 40,000 missing names" do
    for prefix <- ["", "user."] do
      text = Enum.map_join(1..40_000, " ", &"{{#{prefix}missing_#{&1}_x}}")

      {ms, result} =
        Room.least_ms(3_000, fn -> Template.expand(text, %{"user" => %{name: 1}}) end)

      assert {:error, {:missing_keys, names}} = result
      assert length(names) == 40_000
      assert ms < 3_000
    end
  end

  test "names of either kind, few and many, in small and large maps" do
    context = %{"s" => 1, a: 2, n: nil, f: false, user: %{"x" => 3, y: 4, z: nil}}
    large = Map.merge(context, Map.new(1..500, &{"k#{&1}", &1}))
    text = "{{s}} {{a}} [{{n}}] [{{f}}] {{user.x}} {{user.y}} [{{user.z}}] {{a}}"
    rest = Enum.map_join(1..200, " ", &"{{k#{&1}}}")
    assert Template.expand(text, context) == {:ok, "1 2 [] [] 3 4 [] 2"}
    assert Template.expand(text, large) == {:ok, "1 2 [] [] 3 4 [] 2"}
    expected = "1 2 [] [] 3 4 [] 2 " <> Enum.map_join(1..200, " ", &"#{&1}")
    assert Template.expand(text <> " " <> rest, large) == {:ok, expected}
    assert Template.expand("{{year}} {{month}}", ~D[2026-05-03]) == {:ok, "2026 5"}

    assert {:error, {:missing_keys, ["a.b", "user.q", "zz"]}} =
             Template.expand("{{a.b}} {{user.q}} {{zz}}", context)
  end

  test "a schema with annotations for 20,000 fields" do
    fields = for n <- 1..20_000, do: {"f#{n}", :string}
    about = Map.new(1..20_000, &{"f#{&1}", "about"})
    enums = Map.new(1..20_000, &{"f#{&1}", ["a"]})
    signature = {:signature, [], {:map, fields}}
    opts = [descriptions: about, enums: enums]
    {ms, schema} = Room.least_ms(3_000, fn -> Signature.to_json_schema(signature, opts) end)
    assert %{"description" => "about", "enum" => ["a"]} = schema["properties"]["f20000"]
    assert ms < 3_000
  end

  describe "enumerations" do
    @type_of_rows {:map, [{"rows", {:list, {:map, [{"status", :string}]}}}]}

    test "50,000 wrong items: linear time, a bounded list of errors" do
      rows = for n <- 1..50_000, do: %{"status" => "wrong #{n}"}
      enums = %{"rows.status" => for(n <- 1..2_000, do: "value #{n}")}

      {ms, errors} =
        Room.least_ms(3_000, fn ->
          Enums.errors(%{"rows" => rows}, @type_of_rows, enums, :infinity)
        end)

      assert length(errors) == 1_001
      assert hd(errors).path == ["rows", 0, "status"]
      assert List.last(errors).message == "49000 more values are not among those allowed"
      assert ms < 3_000
    end

    test "the deadline holds, in answers and in runs" do
      rows = for _ <- 1..200_000, do: %{"status" => "wrong"}
      value = %{"rows" => rows}
      enums = %{"rows.status" => ["right"]}

      assert Enums.errors(value, @type_of_rows, enums, System.monotonic_time(:millisecond)) ==
               :timeout

      text = Codec.encode!(%{"rows" => Enum.take(rows, 50_000)})
      returns = "{rows [{status :string}]}"

      {ms, result} =
        Room.least_ms(3_000, fn -> Agent.answer(text, returns, enums: enums, timeout: 50) end)

      assert {:error, [_ | _] = errors, feedback} = result
      assert length(errors) <= 1_001 and byte_size(feedback) < 20_000
      assert ms < 3_000

      program = %{"program" => %{"op" => "load", "name" => "value"}}
      context = %{"value" => %{"rows" => Enum.take(rows, 50_000)}}
      opts = [context: context, returns: returns, enums: enums]

      Room.growing(50, fn timeout ->
        run = fn -> Agent.run(program, %{}, [{:timeout, timeout} | opts]) end
        {ms, result} = Room.least_ms(3_000, run)
        assert {:error, {:invalid_result, [_ | _]}, _feedback} = result
        assert ms < 3_000
      end)
    end

    test "null, other spellings of a key, nested lists" do
      type =
        {:list,
         {:map, [{"s", {:optional, :string}}, {"k", :keyword}, {"l", {:list, {:list, :int}}}]}}

      enums = %{"s" => ["a"], "k" => ["x", nil], "l" => [1, 2]}
      right = [%{"s" => nil, "k" => nil, "l" => [[1], [2, 2]]}, %{s: "a", k: "x", l: []}]
      assert Enums.errors(right, type, enums, :infinity) == []
      wrong = [%{"s" => "b", "k" => true, "l" => [[1], [2, 3]]}, %{s: nil, k: :x, l: [[1.0]]}]
      paths = for error <- Enums.errors(wrong, type, enums, :infinity), do: error.path

      assert paths == [[0, "s"], [0, "k"], [0, "l", 1, 1], [1, "k"], [1, "l", 0, 0]]
    end
  end
end
