defmodule PtcRunner.Native.NativeRecordTest do
  # Native records, a kind of term since OTP 29: opaque values, wherever a term enters. The interface has no number for
  # their kind: enif_term_type would end the VM.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json, Native, Shown}
  alias PtcRunner.Json.Codec
  alias PtcRunner.Native.NativeRecord
  alias PtcRunner.Sandbox.Weight
  alias PtcRunner.SubAgent.{KeyNormalizer, Signature}
  alias PtcRunner.SubAgent.Signature.{Coercion, Validator}
  alias PtcRunner.Test.Strange

  doctest NativeRecord
  doctest Strange

  @moduletag skip: not Strange.native_records?()
  @moduletag :tmp_dir

  @load %{"op" => "load", "name" => "x"}

  defp run(steps, opts), do: Json.run(%{"program" => pipe(steps)}, opts)
  defp pipe(steps), do: %{"op" => "pipe", "steps" => steps}
  defp over(value, step), do: run([@load, step], context: %{"x" => value})

  describe "the library" do
    @describetag skip: false

    test "does not import the function that ends the VM" do
      [library] = Path.wildcard(to_string(Native.Library.path()) <> ".{so,dll}")
      library = File.read!(library)
      assert library =~ "enif_is_tuple"
      refute library =~ "enif_term_type"
    end
  end

  describe "in a program" do
    test "records of the compiler are those of these tests", %{tmp_dir: folder} do
      source = Path.join(folder, "m.erl")

      File.write!(source, """
      -module(m).
      -export([new/2]).
      -record #p{x, y}.
      new(X, Y) -> #p{x = X, y = Y}.
      """)

      {:ok, :m, code} = :compile.file(to_charlist(source), [:binary])
      {:module, :m} = :code.load_binary(:m, ~c"m.erl", code)
      record = apply(:m, :new, [1, [2]])
      assert NativeRecord.is?(record)
      assert inspect(record) == inspect(Strange.record(x: 1, y: [2]))
      assert {:ok, ^record, _, _} = run([@load], context: %{"x" => record})
      assert NativeRecord.values(record) == [1, [2]]
    end

    test "they are values that are compared and sorted by the VM" do
      records = Strange.records()
      others = [1, 1.5, :a, "a", <<1::3>>, [], [1], {}, {1}, %{}, %{"a" => 1}, self(), make_ref()]
      all = Enum.shuffle(records ++ others ++ records)

      assert over(all, %{"op" => "count"}) == {:ok, length(all), %{}, %{}}
      assert {:ok, distinct, _, _} = over(all, %{"op" => "distinct"})
      assert distinct === Enum.uniq(all)

      rows = for value <- all, do: %{"v" => value}
      assert {:ok, sorted, _, _} = over(rows, %{"op" => "sort_by", "field" => "v"})
      assert sorted === Enum.sort_by(rows, & &1["v"])

      for record <- records do
        filter = %{"op" => "filter", "where" => %{"op" => "eq", "field" => "v", "value" => @load}}
        program = pipe([%{"op" => "load", "name" => "rows"}, filter])
        context = %{"rows" => rows, "x" => record}
        assert {:ok, kept, _, _} = Json.run(%{"program" => program}, context: context)
        assert kept === Enum.filter(rows, &(&1["v"] == record))
      end
    end

    test "each operation answers or refuses them, in every place" do
      for record <- Strange.records(),
          value <- [
            record,
            [record],
            [%{"a" => record}],
            %{"a" => record},
            {record},
            [1 | record]
          ],
          step <- steps(),
          keys <- [:strings, :any] do
        opts = [context: %{"x" => value, record => 1}, memory: %{"m" => value}, keys: keys]
        assert elem(run([@load, step], opts), 0) in [:ok, :error]
        assert elem(run([%{"op" => "var", "name" => "m"}, step], opts), 0) in [:ok, :error]
        literal = %{"op" => "literal", "value" => value}
        assert elem(run([literal, step], opts), 0) in [:ok, :error]
        assert elem(run([Map.put(step, "value", value)], opts), 0) in [:ok, :error]
        assert elem(run([value], opts), 0) in [:ok, :error]
        assert elem(Json.run(value, opts), 0) in [:ok, :error]
      end
    end

    test "they come from tools, go to tools, and stay in the memory" do
      for record <- Strange.records(), concurrency <- [1, 3] do
        me = self()

        tool = fn args ->
          send(me, args)
          record
        end

        call = %{"op" => "call", "tool" => "t", "args" => %{"a" => record}}
        opts = [tools: %{"t" => tool}, context: %{"x" => record}, tool_concurrency: concurrency]
        assert {:ok, ^record, %{}, %{}} = run([call], opts)
        assert_received %{"a" => ^record}

        map = %{"op" => "map", "expr" => call}
        rows = [%{"op" => "literal", "value" => [1, 2, 3]}, map]
        assert {:ok, [^record, ^record, ^record], _, _} = run(rows, opts)

        result = %{"op" => "object", "fields" => %{"kept" => call}}
        assert elem(run([result], opts), 0) in [:ok, :error]
      end
    end

    test "errors show the text of inspect/1, or the name" do
      for record <- Strange.plain() do
        assert {:error, {:execution_error, text}} = over(record, %{"op" => "sum", "field" => "x"})
        assert text == "sum requires a list, got #{inspect(record)}"
      end

      for record <- Strange.records() -- Strange.plain(), byte_size(Shown.text(record)) < 20 do
        assert Shown.text(record) == "#m:p{…}"
        assert {:error, {:execution_error, text}} = over(record, %{"op" => "keys"})
        refute text =~ "s3cret"
      end

      for record <- Strange.records(), do: refute(Shown.text([record]) =~ "s3cret")
    end
  end

  test "in types, names, weights and JSON" do
    for record <- Strange.records(),
        value <- [record, [record], %{"a" => record}, %{record => 1}] do
      for type <- [:int, :string, :map, :any, {:list, :any}, {:map, [{"a", :int}]}, :datetime] do
        assert Validator.validate(value, type) == :ok or
                 match?({:error, [_ | _]}, Validator.validate(value, type))

        assert elem(Coercion.coerce(value, type), 0) in [:ok, :error]
      end

      assert KeyNormalizer.normalize_keys(value) == value
      assert Signature.public_data(value) == value
      assert {:error, %{}} = Codec.encode(value)
      assert is_binary(Agent.prompt(task: "t", context: %{"x" => value}, language: :none))
      assert {:ok, words} = Weight.of(value, 0)
      assert words >= :erts_debug.size(value) - 40
    end

    big = Strange.record(x: Enum.to_list(1..10_000))
    assert {:ok, words} = Weight.of(big, 0)
    assert words > 20_000
    assert Weight.of(big, 1_000) == :too_much
  end

  defp steps do
    field = %{"field" => "a"}

    for(
      op <- ~w(sum avg min max first last count distinct keys typeof merge flatten),
      do: %{"op" => op}
    ) ++
      for(
        op <- ~w(sum avg min_by max_by sort_by pluck get group_by),
        do: Map.put(field, "op", op)
      ) ++
      for op <- ~w(filter reject),
          test <- ~w(eq neq gt lt contains in),
          do: %{"op" => op, "where" => %{"op" => test, "field" => "a", "value" => @load}}
  end
end
