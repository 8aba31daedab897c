defmodule PtcRunner.SubAgent.SignatureQuantaTest do
  # Work is counted in bytes, and what takes long goes on in quanta.
  use ExUnit.Case, async: true

  alias PtcRunner.Native
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.Signature.{Coercion, Renderer, Validator}

  doctest PtcRunner.Quanta

  # A walk over so many is left several times.
  @rows 60_000
  @row {:map, [{"id", :int}, {"_tag", {:optional, :string}}, {"inner", {:map, [{"n", :float}]}}]}

  # How often a walk was left before it ended, and what came of it.
  defp quanta(answer, count \\ 0)

  defp quanta({:long, state, terms}, count) do
    # What was left must survive that its terms move.
    :erlang.garbage_collect()
    quanta(Native.resume_dirty(state, terms, :more), count + 1)
  end

  defp quanta(answer, count), do: {answer, count}

  describe "a long walk is left and goes on" do
    @type_of_rows {:list, @row}

    # Not in the context of the tests: ExUnit copies that to each formatter, whose heaps make each change of code in the VM slow.
    defp rows, do: for(n <- 1..@rows, do: %{"id" => "#{n}", "inner" => %{"n" => n}})

    test "when it coerces" do
      {rows, type} = {rows(), @type_of_rows}
      {answer, count} = quanta(Native.signature_coerce_dirty(type, rows, nil, false))
      assert {:ok, coerced, warnings} = answer
      assert count > 1
      assert length(warnings) == @rows
      assert hd(warnings) == ~s(coerced string "1" to integer)
      expected = for n <- 1..@rows, do: %{"id" => n, "inner" => %{"n" => n * 1.0}}
      assert coerced === expected
      assert Coercion.coerce(rows, type) === {:ok, expected, warnings}
    end

    test "after a slice, whose work is kept" do
      {rows, type} = {rows(), @type_of_rows}
      {:long, _state, _terms} = left = Native.signature_coerce(type, rows, nil, false)
      {answer, count} = quanta(left)
      assert {:ok, coerced, warnings} = answer
      assert count > 0
      assert {length(coerced), length(warnings)} == {@rows, @rows}
      assert answer === Coercion.coerce(rows, type)
    end

    test "when it checks" do
      {rows, type} = {rows(), @type_of_rows}
      right = for row <- rows, do: %{row | "id" => 1}
      {answer, _count} = quanta(Native.signature_validate_dirty(type, right, false))
      assert answer == :ok
      wrong = right ++ [%{"id" => {1}, "inner" => %{}}]

      assert Validator.validate(wrong, type) ==
               {:error,
                [
                  %{path: [@rows, "id"], message: "expected int, got {1}"},
                  %{path: [@rows, "inner", "n"], message: "expected field, got nil"}
                ]}
    end

    test "when it needs answers" do
      type = {:map, [{"rows", @type_of_rows}, {"at", :datetime}]}
      rows = for n <- 1..@rows, do: %{"id" => n, "inner" => %{"n" => 1.5}}
      given = %{"rows" => rows, "at" => "2026-05-03T09:14:00Z"}

      assert {:ok, %{"rows" => same, "at" => ~U[2026-05-03 09:14:00Z]}, ["normalized to UTC"]} =
               Coercion.coerce(given, type)

      assert :erts_debug.same(same, rows)
    end

    test "when it takes a tool's arguments" do
      {rows, type} = {rows(), @type_of_rows}

      {answer, count} =
        quanta(
          Native.signature_input_dirty({:map, [{"rows", type}]}, %{"rows" => rows}, nil, false)
        )

      assert {:ok, %{"rows" => coerced}, warnings} = answer
      assert count > 1
      assert {length(coerced), length(warnings)} == {@rows, @rows}
    end

    test "once only" do
      {rows, type} = {rows(), @type_of_rows}
      {:long, state, terms} = Native.signature_coerce_dirty(type, rows, nil, false)
      # A walk knows no slices: it stays as it was left.
      assert Native.resume(state, terms, :more) == {:long, state, terms}
      Native.resume_dirty(state, terms, :more)
      # The state is that of a later quantum, or empty: never taken up with other terms unnoticed.
      assert_raise ArgumentError, fn -> Native.resume_dirty(state, {}, :more) end
    end
  end

  describe "bytes are counted before the work is done:" do
    test "digits" do
      million = String.duplicate("7", 1_000_000)
      assert Native.signature_coerce(:int, million, nil, false) == :busy
      many = List.duplicate(String.duplicate("7", 30_000), 300)
      assert Native.signature_coerce({:list, :int}, many, nil, false) == :busy
      assert {:ok, [_ | _], [_ | _]} = Coercion.coerce(Enum.take(many, 3), {:list, :int})
    end

    test "names of atoms" do
      long = String.duplicate("a", 20_000_000)
      reductions = fn -> elem(Process.info(self(), :reductions), 1) end
      before = reductions.()
      assert {:error, "cannot coerce string " <> _} = Coercion.coerce(long, :keyword)
      assert reductions.() - before < 100_000
      assert Native.signature_validate(:keyword, long, false) == :busy
      assert Validator.validate(long, :keyword) == :ok
      # as long as a name can be
      assert Coercion.coerce(String.duplicate("é", 256), :keyword) |> elem(0) == :error
    end

    test "names in Lisp style" do
      long = String.duplicate("a_", 5_000_000)
      assert Native.signature_lisp_key(long) == :busy
      assert Renderer.to_lisp_key(long) == String.duplicate("a-", 5_000_000)
      assert Renderer.to_lisp_key("_a_b") == "_a-b"
    end

    test "messages" do
      message = String.duplicate("m", 1_000_000)
      errors = List.duplicate(%{path: ["a"], message: message}, 100)
      # Of a long message only what is shown is copied.
      line = JsonHandler.format_validation_errors(errors)
      assert byte_size(line) < 100 * 2_010
      assert line =~ "(1000000 bytes)"

      # On a busy machine the time of a normal scheduler may end first.
      assert Native.error_line(errors, 1_000_000, 1_048_576, 0) in [{:ok, line}, :busy]
    end
  end
end
