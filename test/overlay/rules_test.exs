defmodule PtcRunner.Native.RulesTest do
  # The rules of older releases. They apply to the whole VM, so no other test runs at the same time.
  use ExUnit.Case, async: false

  import ExUnit.CaptureLog

  alias PtcRunner.Json
  alias PtcRunner.Native.Rules
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Coercion, Validator}

  @releases ~w(0.4.1 0.5.0 0.5.2 0.6.0 0.7.0 0.8.0 0.9.0 0.10.0 0.10.1 0.11.0 0.12.0 0.13.0)
  @older Enum.take_while(@releases, &(&1 != "0.11.0"))

  doctest Rules

  defmodule Row do
    defstruct [:id, :name, :__meta__]
  end

  setup do
    on_exit(fn -> Rules.use(Rules.of(nil)) end)
  end

  defp beside(release), do: :ok = Rules.use(Rules.of(release))

  test "the native side takes nothing but a boolean" do
    for bad <- [nil, 0, "true", [], {}, self()],
        do: assert_raise(ArgumentError, fn -> PtcRunner.Native.use_rules(bad) end)
  end

  test "the rules change at 0.11.0" do
    for release <- @releases do
      beside(release)
      older? = release in @older
      assert {release, Validator.validate("active", :keyword) != :ok} == {release, older?}
      assert {release, Validator.validate(%URI{}, :map) == :ok} == {release, older?}
      assert {release, match?({:error, _}, Signature.parse(":datetime"))} == {release, older?}
    end

    for newest <- [nil, "1.0.0", "0.11.1-rc.1", "main"] do
      beside(newest)
      assert Validator.validate("active", :keyword) == :ok
    end
  end

  describe "values before 0.11.0" do
    setup do: beside("0.10.1")

    test "only atoms are keywords, wherever they are" do
      for value <- [:active, nil, true], do: assert(Validator.validate(value, :keyword) == :ok)

      for value <- ["active", "", "a b", String.duplicate("a", 100_000), <<255>>] do
        assert Validator.validate(value, :keyword) ==
                 {:error, [%{path: [], message: "expected keyword, got string"}]}
      end

      {:ok, signature} = Signature.parse("(s :keyword) -> {states [:keyword], _k :keyword?}")
      assert Signature.validate(signature, %{"states" => [:a, :b], "_k" => nil}) == :ok

      assert Signature.validate(signature, %{"states" => [:a, "b"], "_k" => "c"}) ==
               {:error,
                [
                  %{path: ["states", 1], message: "expected keyword, got string"},
                  %{path: ["_k"], message: "expected keyword, got string"}
                ]}

      assert {:error, [%{path: ["s"]}]} = Signature.validate_input(signature, %{"s" => "a"})
      assert {:error, text} = Coercion.coerce("a", :keyword, mode: :strict)
      assert text == ~s(expected keyword, got string "a")
      # Coercion makes an atom of it, in every release.
      assert {:ok, :active, [_]} = Coercion.coerce("active", :keyword)
    end

    test "structs are maps" do
      row = %Row{id: 1, name: "a"}

      for struct <- [%URI{}, row, ~D[2024-02-29], %{__struct__: Some.Thing}, 1..2] do
        assert Validator.validate(struct, :map) == :ok
        assert Validator.validate([struct, nil], {:list, {:optional, :map}}) == :ok
        assert Validator.validate(struct, {:map, []}) == :ok
      end

      type = {:map, [{"id", :int}, {"name", {:optional, :string}}]}
      assert Validator.validate(row, type) == :ok
      assert Validator.validate(List.duplicate(row, 1_000), {:list, type}) == :ok

      assert Validator.validate(%Row{id: "x"}, type) ==
               {:error, [%{path: ["id"], message: "expected int, got string"}]}

      large = Map.merge(row, for(n <- 1..40, into: %{}, do: {:"field_#{n}", n}))
      assert Validator.validate(large, type) == :ok
      assert Validator.validate(large, :map) == :ok

      assert Validator.validate(%{row: row}, {:map, [{"row", :int}]}) ==
               {:error, [%{path: ["row"], message: "expected int, got map"}]}

      for other <- [{1, 2}, self(), "a", [a: 1]] do
        assert {:error, [_]} = Validator.validate(other, :map)
      end
    end

    test "keys have underscores" do
      type = {:map, [{"user_id", :int}, {"a-b", {:optional, :int}}]}
      assert Validator.validate(%{user_id: 1}, type) == :ok
      assert Validator.validate(%{"user_id" => 1, "a_b" => 2}, type) == :ok
      assert {:error, [%{path: ["a-b"]}]} = Validator.validate(%{user_id: 1, a_b: "x"}, type)

      for map <- [%{"user-id" => 1}, %{"user-id": 1}] do
        for map <- [map, Map.merge(map, Map.new(1..40, &{&1, 0}))] do
          assert Validator.validate(map, type) ==
                   {:error, [%{path: ["user_id"], message: "expected field, got nil"}]}
        end
      end
    end

    test "an answer is checked by them" do
      {:ok, signature} = Signature.parse("{state :keyword, n :int}")
      agent = %{parsed_signature: signature}
      value = %{"state" => "open", "n" => 1}
      assert {:error, [%{path: ["state"]}]} = JsonHandler.validate_return(agent, value)
      assert JsonHandler.validate_return(agent, %{state: :open, n: 1}) == :ok
    end

    test "what stays: numbers, sizes, other types" do
      assert Validator.validate(1, :float) == :ok
      rows = for n <- 1..20_000, do: %{"id" => n, "at" => [n, n]}
      type = {:list, {:map, [{"id", :int}, {"at", {:list, :float}}]}}
      assert Validator.validate(rows, type) == :ok
      # The type is known, even if no signature can have it.
      assert Validator.validate(~U[2026-01-01 00:00:00Z], :datetime) == :ok
    end
  end

  describe "signatures before 0.11.0" do
    setup do: beside("0.6.0")

    test "types that the release lacks are refused, with their names" do
      for text <- [
            ":datetime",
            "(at :datetime) -> :int",
            "{rows [{at :datetime?}]}",
            ":boolean",
            "{ok :boolean?}"
          ] do
        assert {:error, message} = Signature.parse(text)
        assert message =~ "Hint: Valid types are :string, :int, :float, :bool, :keyword, :map"
        assert message =~ "from ptc_runner 0.11.0 on there are :datetime and :boolean"
      end

      assert {:error,
              "parse error at line 1, column 1: unknown type :datetime at offset 0. " <> _} =
               Signature.parse(":datetime")

      assert {:error, "parse error at line 1, column 0: unknown type :boolean at offset " <> _} =
               Signature.parse("{ok :boolean}")

      for text <- ["[:int]?", "{a [:int]?}", "(a {b :int}?) -> :int", "{}?"] do
        assert {:error, message} = Signature.parse(text)
        assert message =~ "found \"?\""
        assert message =~ "Before ptc_runner 0.11.0 a list or a map cannot be optional"
      end
    end

    test "as an ArgumentError where a signature must be valid" do
      for text <- [":datetime", "{a :boolean}", "[:int]?"] do
        assert_raise ArgumentError, ~r/^invalid signature: parse error at line 1/, fn ->
          Signature.call_tool(text, %{}, & &1)
        end
      end
    end

    test "all others are accepted, in both styles" do
      assert {:ok, {:signature, [{"a", {:optional, :bool}}], {:list, {:map, [{"b", :any}]}}}} =
               Signature.parse("(a :bool?) -> [{:b :any}] ; rows")
    end
  end

  describe "before 0.7.0" do
    setup do: beside("0.5.2")

    @program ~s({"program": {"op": "literal", "value": 42}})

    test "unknown options are ignored, with one warning each" do
      log =
        capture_log(fn ->
          for _ <- 1..3 do
            assert Json.run(@program, timeout_ms: 100, max_memory_mb: 10) == {:ok, 42, %{}, %{}}
            assert Json.run!(@program, timout: 100, memory: %{"a" => 1}) == 42
          end
        end)

      for option <- [:timeout_ms, :max_memory_mb, :timout] do
        assert [_, _] = String.split(log, "has no option #{inspect(option)} and ignores it")
      end

      assert capture_log(fn -> Json.run(@program, [{"timeout", 1}]) end) == ""

      {:ok, program} = Json.Parser.parse(@program)
      context = PtcRunner.Context.new()

      assert capture_log(fn ->
               assert {:ok, 42, _metrics, _memory} =
                        PtcRunner.Sandbox.execute(program, context, telemetry: 1)
             end) =~ "PtcRunner.Sandbox.execute/3 has no option :telemetry"
    end

    test "known options are checked, and functions that the original does not have check all" do
      assert_raise ArgumentError, fn -> Json.run(@program, timeout: -1) end
      assert_raise ArgumentError, fn -> Json.compile(@program, timeout_ms: 100) end
    end

    test "a comparison without its fields needs `field`, as it did" do
      for op <- ~w(eq neq gt gte lt lte contains in) do
        assert Json.run(~s({"program": {"op": "#{op}"}}), edition: 1) ==
                 {:error, {:validation_error, "Operation '#{op}' requires field 'field'"}}

        assert Json.run(~s({"program": {"op": "#{op}", "field": "a"}}), edition: 1) ==
                 {:error, {:validation_error, "Operation '#{op}' requires field 'value'"}}
      end

      assert {:error, {:validation_error, "Operation 'let' requires field 'in'"}} =
               Json.run(~s({"program": {"op": "let"}}))
    end
  end

  test "later, and without ptc_runner, unknown options are refused and messages are ours" do
    for release <- [nil, "0.7.0", "0.13.0"] do
      beside(release)
      assert_raise ArgumentError, fn -> Json.run(@program, timeout_ms: 100) end

      assert Json.run(~s({"program": {"op": "eq"}})) ==
               {:error, {:validation_error, "Operation 'eq' requires field 'value'"}}
    end
  end
end
