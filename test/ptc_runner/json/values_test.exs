defmodule PtcRunner.Json.ValuesTest do
  # `structs: :values`: structs are maps of their fields; dates, times and decimals are values that are
  # compared by their meaning; atoms are compared as their texts.
  use ExUnit.Case, async: true

  alias Ecto.Association.NotLoaded
  alias PtcRunner.Json
  alias PtcRunner.Json.Values
  alias PtcRunner.Test.JsonText

  doctest PtcRunner.Json.Contract
  doctest Values

  defmodule User do
    defstruct [:name, :email, __meta__: :built]
  end

  defmodule Order do
    defstruct [:id, :total, :day, :user, __meta__: :built]
  end

  @states [:open, "closed", :paid, "open", nil]

  # Made at compile time: other tests count the atoms that are made while they run.
  @wide Map.new(1..40, &{:"wide_field_#{&1}", &1})

  defp op(name, fields \\ %{}), do: Map.put(fields, "op", name)
  defp get(field), do: op("get", %{"field" => field})
  defp lit(value), do: op("literal", %{"value" => value})
  defp load, do: op("load", %{"name" => "x"})
  defp pipe(steps), do: op("pipe", %{"steps" => steps})
  defp dec(sign \\ 1, coef, exp), do: %Decimal{sign: sign, coef: coef, exp: exp}

  # The value of the steps after `x` is loaded, in each form in which a program runs.
  defp run(steps, x, opts \\ []) do
    node = pipe([load() | List.wrap(steps)])
    map = %{"program" => node}
    opts = [context: %{"x" => x}, structs: :values] ++ opts
    answer = Json.run(map, opts)
    # A program as a map may contain what no text can.
    text =
      case JsonText.encode(map) do
        {:ok, text} -> text
        :error -> map
      end

    assert Json.run(text, opts) == answer
    {:ok, program} = Json.compile(text, [structs: :values] ++ Keyword.take(opts, [:edition]))
    assert program.structs == :values
    assert Json.run(program, Keyword.delete(opts, :structs)) == answer
    {:ok, plain} = Json.compile(text, Keyword.take(opts, [:edition]))
    assert Json.run(plain, opts) == answer
    assert Json.explain(text, opts).result == answer
    assert Json.explain(program, Keyword.delete(opts, :structs)).result == answer

    # After a tool has been called, in its process, and in a loop whose rounds overlap.
    called = pipe([op("call", %{"tool" => "get"}) | List.wrap(steps)])
    tools = %{"get" => fn _args -> x end, "one" => fn _args -> 1 end}
    answer_of_tool = Json.run(%{"program" => called}, [tools: tools] ++ opts)
    assert answer_of_tool == answer

    rounds = [lit([1, 2, 3]), op("map", %{"expr" => op("call", %{"tool" => "one"})}), load()]
    again = %{"program" => pipe(rounds ++ List.wrap(steps))}
    assert Json.run(again, [tools: tools] ++ opts) == answer
    assert Json.run(again, [tools: tools, tool_concurrency: 2] ++ opts) == answer

    case answer do
      {:ok, value, _delta, _memory} -> value
      {:error, {_kind, text}} -> {:error, text}
    end
  end

  # Whether `{"op": op, "value": value}` holds for `x`, as a constant and as an operand.
  defp holds?(op, x, value, opts \\ []) do
    answer = run(op(op, %{"value" => value}), x, opts)
    assert run(op(op, %{"field" => "f", "value" => value}), %{"f" => x}, opts) == answer
    assert run(op(op, %{"value" => lit(value)}), x, opts) == answer
    where = op(op, %{"field" => "f", "value" => value})
    kept = if answer, do: 1, else: 0
    filtered = [op("filter", %{"where" => where}), op("count")]
    assert run(filtered, [%{"f" => x}], opts) == kept
    answer
  end

  defp assert_order(lesser, greater, opts \\ []) do
    for {op, forth} <- [eq: false, neq: true, lt: true, lte: true, gt: false, gte: false] do
      assert {op, holds?("#{op}", lesser, greater, opts)} == {op, forth}
    end

    for op <- ~w(gt gte), do: assert(holds?(op, greater, lesser, opts))
  end

  # Values of two kinds have an order in edition 1. In edition 2 neither is greater.
  defp assert_unlike(lesser, greater) do
    assert_order(lesser, greater, edition: 1)

    for op <- ~w(lt lte gt gte), {a, b} <- [{lesser, greater}, {greater, lesser}] do
      refute holds?(op, a, b, edition: 2)
    end
  end

  defp assert_equal(a, b, opts \\ []) do
    for {op, answer} <- [eq: true, neq: false, lt: false, lte: true, gt: false, gte: true],
        {a, b} <- [{a, b}, {b, a}],
        do: assert({op, holds?("#{op}", a, b, opts)} == {op, answer})

    for {a, b} <- [{a, b}, {b, a}] do
      assert holds?("contains", [a], b)
      assert holds?("in", [a], b)
      assert run([op("distinct"), op("count")], [a, b]) == 1
      many = Enum.map(1..20, &%{"n" => &1}) ++ [a, b]
      assert run([op("distinct"), op("count")], many) == 21
      rows = op("filter_in", %{"field" => "f", "value" => [b]})
      assert run([rows, op("count")], [%{"f" => a}]) == 1
    end
  end

  describe "structs" do
    test "are maps of their fields" do
      rows = [
        %Order{id: 1, total: 50, user: %User{name: "Ada"}},
        %Order{id: 2, total: 150, user: %NotLoaded{__field__: :user}}
      ]

      assert run(op("sum", %{"field" => "total"}), rows) == 200

      assert run(op("map", %{"expr" => op("get", %{"path" => ["user", "name"]})}), rows) == [
               "Ada",
               nil
             ]

      assert run(op("map", %{"expr" => get("user")}), rows) == [%User{name: "Ada"}, nil]
      assert run(op("map", %{"expr" => get("__struct__")}), rows) == [nil, nil]
      assert run(op("map", %{"expr" => get("__meta__")}), rows) == [nil, nil]
      assert run([op("first"), op("keys")], rows) == [:day, :id, :total, :user]
      assert run([op("first"), op("typeof")], rows) == "object"
      assert run([op("first"), op("contains", %{"value" => "total"})], rows)
      refute run([op("first"), op("contains", %{"value" => "__meta__"})], rows)
      fields = ["id", "__struct__", "user"]
      assert run([op("select", %{"fields" => fields}), op("last")], rows) == %{id: 2, user: nil}
      where = op("eq", %{"field" => "user", "value" => nil})
      assert run([op("filter", %{"where" => where}), op("count")], rows) == 1
      assert run(op("max_by", %{"field" => "total"}), rows) == List.last(rows)
      merged = op("merge", %{"objects" => [load(), lit(%{"a" => 1})]})
      assert run(merged, %User{name: "Ada"}) == %{:name => "Ada", :email => nil, "a" => 1}
      assert run(op("merge", %{"objects" => [load()]}), %User{}) == %{name: nil, email: nil}
    end

    test "with more fields than a small map has" do
      wide = Map.put(@wide, :__struct__, Order)
      assert run(get("wide_field_40"), wide) == 40
      assert run(get("__struct__"), wide) == nil
      assert run([op("keys"), op("count")], wide) == 40
    end

    test "plain maps keep the keys of structs, and other data are as before" do
      assert run(get("__meta__"), %{"__meta__" => 1}) == 1
      assert run(get("__meta__"), %{__meta__: 1}, keys: :any) == 1
      assert run(get("a"), %{a: 1}) == nil
      assert run(op("typeof"), %{__struct__: 1, a: 2}) == "object"
      assert run(op("keys"), %{__struct__: 1, a: 2}) == [:__struct__, :a]
      assert {:error, "typeof does not support this value: {1, 2}"} = run(op("typeof"), {1, 2})
    end

    test "as a result, they give their fields to the memory" do
      program = %{"program" => load()}
      order = %Order{id: 1}
      {:ok, result, delta, memory} = Json.run(program, context: %{"x" => order}, structs: :values)
      assert result == order
      assert delta == %{id: 1, total: nil, day: nil, user: nil}
      assert memory == delta
      {:ok, nil, %{}, %{}} = Json.run(program, context: %{"x" => %NotLoaded{}}, structs: :values)
    end

    test "edition 1's rule stays without the option" do
      program = %{"program" => load()}
      date = ~D[2024-01-31]
      assert {:ok, ^date, ^date, memory} = Json.run(program, context: %{"x" => date})
      assert memory.__struct__ == Date

      assert Json.run!(%{"program" => pipe([load(), op("typeof")])}, context: %{"x" => date}) ==
               "object"

      dates = [%{"d" => ~D[2024-01-31]}, %{"d" => ~D[2024-02-01]}]
      max = %{"program" => pipe([load(), op("max", %{"field" => "d"})])}
      assert Json.run!(max, context: %{"x" => dates}) == ~D[2024-01-31]
    end
  end

  describe "values" do
    test "are no maps, and never the memory" do
      for {value, type} <- [
            {~D[2024-02-29], "string"},
            {~T[10:00:00], "string"},
            {~N[2024-02-29 10:00:00], "string"},
            {~U[2024-02-29 10:00:00Z], "string"},
            {dec(125, -2), "number"}
          ] do
        program = %{"program" => load()}
        opts = [context: %{"x" => value}, memory: %{"a" => 1}, structs: :values]
        assert Json.run(program, opts) == {:ok, value, %{}, %{"a" => 1}}
        assert run(op("typeof"), value) == type
        assert run(get("year"), value) == nil
        assert run(get("coef"), value, keys: :any) == nil
        assert {:error, "keys requires a map, got " <> _} = run(op("keys"), value)

        assert {:error, "eq requires a map, got " <> _} =
                 run(op("eq", %{"field" => "a", "value" => 1}), value)

        assert {:error, "get expected a map, got: " <> _} =
                 run(op("get", %{"path" => ["a", "b"]}), %{"a" => value})

        assert {:error, "merge requires map values" <> _} =
                 run(op("merge", %{"objects" => [load()]}), value)

        refute run(op("contains", %{"value" => "year"}), value)
        assert run(op("select", %{"fields" => ["year"]}), [value]) == [value]
      end

      assert {:error, "sum requires numeric values, got " <> _} =
               run(op("sum", %{"field" => "f"}), [%{"f" => ~D[2024-02-29]}])

      assert run(op("sum", %{"field" => "f"}), [%{"f" => dec(1, 0)}]) == dec(1, 0)
      assert run(op("avg", %{"field" => "f"}), [%{"f" => dec(1, 0)}]) == dec(1, 0)
    end

    test "dates and times are ordered by time" do
      assert_order(~D[2024-01-31], ~D[2024-02-01])
      assert_order(~D[2023-12-31], "2024-01-01")
      assert_order("2023-12-31", ~D[2024-01-01])
      assert_order(~D[-0001-12-31], ~D[0000-01-01])
      assert_order(~T[09:59:59.999999], ~T[10:00:00])
      assert_order(~T[09:59:59], "10:00:00")
      assert_order(~N[2024-02-29 23:59:59], ~N[2024-03-01 00:00:00])
      assert_order(~U[2024-02-29 10:00:00Z], "2024-02-29T13:00:00+02:00")
      # Of another kind, by the same timeline.
      assert_order(~U[2023-12-31 23:59:59Z], "2024-01-01")
      assert_order("2024-01-01", ~U[2024-01-01 00:00:00Z])
      # After everything else.
      for other <- [nil, true, 1, "zzz", [1], %{"a" => 1}, {1}],
          do: assert_unlike(other, ~D[2024-01-01])
    end

    test "and equal if they mean the same" do
      berlin = %{
        ~U[2024-02-29 12:00:00Z]
        | time_zone: "Europe/Berlin",
          zone_abbr: "CET",
          utc_offset: 3_600,
          std_offset: 0
      }

      assert_equal(~D[2024-02-29], "2024-02-29")
      assert_equal(~T[10:00:00], ~T[10:00:00.000])
      assert_equal(~T[10:00:00], "10:00:00.0")
      assert_equal(~N[2024-02-29 10:00:00], "2024-02-29T10:00:00")
      assert_equal(~U[2024-02-29 11:00:00Z], berlin)
      assert_equal(berlin, "2024-02-29T11:00:00Z")
      assert_equal(berlin, "2024-02-29T12:00:00.000+01:00")
      refute holds?("eq", ~D[2024-02-29], ~N[2024-02-29 00:00:00])
      refute holds?("eq", ~D[2024-02-29], "2024-02-30")
      refute holds?("in", ["2024-02-29"], "2024-2-29")
    end

    test "decimals are ordered by their value" do
      assert_order(dec(-1, 1, 0), dec(1, -9))
      assert_order(dec(995, -2), dec(10, 0))
      assert_order(dec(995, -2), 10)
      assert_order(9.5, dec(995, -2))
      assert_order(dec(995, -2), "10.5")
      assert_order(dec(9, 0), "10")
      big = Integer.pow(10, 5_000)
      assert_order(big, dec(big + 1, 0))
      assert_order(dec(big, 0), dec(1, 1_000_000_000))
      assert_order(dec(-1, 1, 1_000_000_000), dec(big, -1_000_000_000))
      assert_order(dec(big, 0), dec(:inf, 0))
      assert_order(dec(-1, :inf, 0), dec(-1, 1, 1_000_000_000))
      assert_order(dec(:inf, 0), dec(:NaN, 0))
      # Where numbers stand.
      for other <- [nil, true, "x", [1], %{"a" => 1}], do: assert_unlike(dec(1, 0), other)
    end

    test "and equal if they are the same number" do
      assert_equal(dec(10, -1), dec(1000, -3))
      assert_equal(dec(10, -1), 1)
      assert_equal(dec(10, -1), 1.0)
      assert_equal(dec(1, -1), 0.1)
      assert_equal(dec(1250, -2), "12.5")
      assert_equal(dec(-1, 0, 5), dec(0, 0))
      assert_equal(dec(10, 999_999_999), dec(1, 1_000_000_000))
      assert_equal(dec(:NaN, 0), dec(-1, :NaN, 0))
      big = Integer.pow(10, 2_000)
      assert_equal(dec(big, -2_000), 1)
      assert run([op("distinct"), op("count")], [1, 1.0]) == 2
    end

    test "sort_by, min, max, min_by, max_by" do
      for {values, order} <- [
            {[~D[2024-01-31], ~D[2023-12-31], "2024-02-01", ~D[2024-02-29], nil],
             [4, 1, 0, 2, 3]},
            {[dec(10, 0), 9, dec(95, -1), "9.6", nil, 9.7], [1, 2, 3, 5, 0, 4]},
            {[~U[2024-01-01 12:00:00Z], "2024-01-01T12:30:00+01:00", ~U[2024-01-01 11:45:00Z]],
             [1, 2, 0]},
            {[[~D[2024-01-31], 1], [~D[2023-12-31], 2], [~D[2023-12-31], 1]], [2, 1, 0]}
          ] do
        rows = for {value, n} <- Enum.with_index(values), do: %{"v" => value, "n" => n}
        sorted = [op("sort_by", %{"field" => "v"}), op("map", %{"expr" => get("n")})]
        assert run(sorted, rows) == order

        desc = [
          op("sort_by", %{"field" => "v", "order" => "desc"}),
          op("map", %{"expr" => get("n")})
        ]

        assert run(desc, rows) == Enum.reverse(order)
        first = [op("sort_by", %{"field" => "v"}), op("first"), get("n")]
        assert run(first, rows) == hd(order)
        given = Enum.reject(order, &(Enum.at(values, &1) == nil))
        assert run(op("min", %{"field" => "v"}), rows) == Enum.at(values, hd(given))
        assert run(op("max", %{"field" => "v"}), rows) == Enum.at(values, List.last(given))
        assert run([op("min_by", %{"field" => "v"}), get("n")], rows) == hd(given)
        assert run([op("max_by", %{"field" => "v"}), get("n")], rows) == List.last(given)
      end
    end

    test "inside lists and maps" do
      row = fn day, price -> %{"day" => day, "price" => price, "zip" => "01"} end
      a = row.(~D[2024-02-29], dec(10, -1))
      same = [row.("2024-02-29", dec(1, 0)), row.(~D[2024-02-29], 1)]
      others = [%{a | "zip" => "1"}, row.(~D[2024-03-01], dec(1, 0))]
      assert run([op("distinct"), op("count")], [a | same]) == 1
      assert run([op("distinct"), op("count")], [a | others]) == 3

      assert run(
               [op("distinct"), op("count")],
               Enum.flat_map(1..20, fn _ -> [a | same ++ others] end)
             ) == 3

      for other <- same,
          do:
            assert(
              run(op("eq", %{"field" => "a", "value" => op("get", %{"field" => "b"})}), %{
                "a" => a,
                "b" => other
              })
            )

      for other <- others,
          do:
            refute(
              run(op("eq", %{"field" => "a", "value" => op("get", %{"field" => "b"})}), %{
                "a" => a,
                "b" => other
              })
            )

      assert run(op("contains", %{"value" => ["2024-02-29", 1]}), [[~D[2024-02-29], 1]])
      assert run([op("distinct"), op("count")], [{~D[2024-02-29]}, {"2024-02-29"}, {1}]) == 2
    end

    test "of another calendar, or malformed, are compared by their fields" do
      other = %{~D[2024-02-29] | calendar: __MODULE__}
      assert holds?("eq", other, other)
      refute holds?("eq", other, "2024-02-29")
      assert run(op("typeof"), other) == "string"

      broken = [
        %{__struct__: Decimal, sign: 1},
        dec("x", 0),
        dec(1.5, 0),
        dec(-5, 0),
        %{~D[2024-02-29] | day: nil}
      ]

      for value <- broken do
        assert run([op("distinct"), op("count")], [value, value, ~D[2024-02-29], dec(1, 0)]) == 3
        rows = for v <- [value, ~D[2024-02-29], dec(1, 0), 5, "x"], do: %{"v" => v}
        assert run([op("sort_by", %{"field" => "v"}), op("count")], rows) == 5
        assert is_binary(Values.text(value))
      end
    end

    test "atoms are ordered as their texts" do
      assert_order(:closed, "open")
      assert_order("closed", :open)
      assert_order(:ab, "abc")
      assert_order("ab", :abc)
      assert_order(:"", "a")
      assert_order(:zlutý, "žluť")
      assert_order("é", :日本)
      # As all texts, after everything else but bitstrings and dates.
      for other <- [nil, true, false, 1, dec(1, 0), {1}, self(), [1], [:z], %{"a" => 1}, %{a: 1}],
          do: assert_unlike(other, :a)

      assert_unlike(:zzz, ~D[2024-01-01])
      assert_unlike(<<1::3>>, :a)
      assert_unlike(:a, <<255, 1::1>>)
      # Their texts can be dates and numbers.
      assert_order(:"2023-12-31", ~D[2024-01-01])
      assert_order(dec(995, -2), :"10.5")
    end

    test "and equal the texts" do
      assert_equal(:open, "open")
      assert_equal(:"", "")
      assert_equal(:žluť, "žluť")
      assert_equal(:日本, "日本")
      assert_equal(String.to_atom(String.duplicate("é", 255)), String.duplicate("é", 255))
      assert_equal(Date, "Elixir.Date")
      assert_equal(~D[2024-02-29], :"2024-02-29")
      assert_equal(dec(1250, -2), :"12.5")
      assert_equal([:open, 1], ["open", 1])
      assert_equal({:ok, :open}, {"ok", "open"}, edition: 1)
      assert_equal(%{"s" => [:open]}, %{"s" => ["open"]})
      # Keys too, and a struct is the map of its fields.
      assert_equal(%{status: :open}, %{"status" => "open"})
      assert_equal(%{1 => 2, a: nil}, %{1 => 2, "a" => nil})
      assert_equal(%User{name: :ada}, %{"name" => "ada", "email" => nil})
      assert_equal(%User{name: "a", __meta__: 1}, %User{name: "a", __meta__: 2})
      assert_equal([%NotLoaded{}], [nil])
      assert_equal(@wide, Map.new(@wide, fn {key, value} -> {"#{key}", value} end))

      for {atom, other} <- [
            nil: "nil",
            true: "true",
            false: "false",
            open: "opened",
            open: "Open"
          ],
          do: refute(holds?("eq", atom, other))

      refute holds?("eq", %{a: 1}, %{"a" => 2})
      refute holds?("eq", %{:a => 1, "a" => 2}, %{:a => 2, "a" => 1})
      assert holds?("eq", %{:a => 1, "a" => 2}, %{:a => 1, "a" => 2})
      refute holds?("eq", %User{name: "a"}, %{"name" => "a"})
    end

    test "contains, in and typeof" do
      assert holds?("contains", :reopened, "open")
      assert holds?("contains", :open, "")
      assert holds?("contains", "reopened", :open)
      assert holds?("contains", :reopened, :open)
      refute holds?("contains", :open, "opened")
      refute holds?("contains", :open, 1)
      refute holds?("contains", :open, nil)
      assert holds?("in", %{"open" => 1}, :open)
      assert holds?("contains", %User{}, :name)
      refute holds?("contains", %User{}, :__meta__)
      refute holds?("in", %{"open" => 1}, :closed)

      assert run(op("filter_in", %{"field" => "s", "value" => %{"open" => 1}}), [%{"s" => :open}]) ==
               [%{"s" => :open}]

      assert run(op("typeof"), :open) == "string"
      assert run([op("keys"), op("contains", %{"value" => "name"})], %User{})
      assert run(op("keys"), %{:b => 1, "a" => 2, 1 => 3}) == [1, "a", :b]
    end

    test "sets and order of atoms and texts, which stay what they are" do
      values = [:open, "closed", nil, "open", :closed, :paid, 3, true]
      rows = for {value, n} <- Enum.with_index(values), do: %{s: value, n: n}
      column = op("map", %{"expr" => get("s")})
      keys = [keys: :any]
      assert run([column, op("distinct")], rows, keys) == [:open, "closed", nil, :paid, 3, true]

      assert run([column, op("distinct"), op("count")], rows ++ Enum.reverse(rows), keys) == 6

      for {order, expected} <- [
            {"asc", [6, 2, 7, 1, 4, 0, 3, 5]},
            {"desc", [5, 0, 3, 1, 4, 7, 2, 6]}
          ] do
        sort = op("sort_by", %{"field" => "s", "order" => order})
        assert run([sort, op("map", %{"expr" => get("n")})], rows, keys) == expected
      end

      assert run(op("min", %{"field" => "s"}), rows, keys) == 3
      assert run(op("max", %{"field" => "s"}), rows, keys) == :paid
      assert run([op("max_by", %{"field" => "s"}), get("n")], rows, keys) == 5
      assert run([op("min_by", %{"field" => "s"}), get("n")], Enum.take(rows, 2), keys) == 1
      kept = op("filter_in", %{"field" => "s", "value" => ["open", "paid"]})
      assert run([kept, op("map", %{"expr" => get("n")})], rows, keys) == [0, 3, 5]

      open = op("eq", %{"field" => "s", "value" => "open"})
      late = op("gt", %{"field" => "s", "value" => "open"})
      test = op("or", %{"conditions" => [open, late]})
      assert run([op("filter", %{"where" => test}), op("count")], rows, keys) == 3
      assert run([op("reject", %{"where" => open}), op("count")], rows, keys) == 6
      found = [op("filter", %{"where" => open}), op("first")]
      assert run(found, rows, keys) == %{s: :open, n: 0}
    end

    test "without the option atoms are no texts" do
      program = fn op, value -> %{"program" => pipe([load(), op(op, %{"value" => value})])} end
      plain = &Json.run!(program.(&1, &3), context: %{"x" => &2})
      refute plain.("eq", :open, "open")
      refute plain.("contains", [:open], "open")
      refute plain.("contains", :reopened, "open")
      refute plain.("in", %{"open" => 1}, :open)
      refute plain.("lt", :zzz, "a")
      one = &Json.run!(program.(&1, &3), context: %{"x" => &2}, edition: 1)
      assert one.("lt", :zzz, "a")
    end

    test "of a large list, while the run is suspended" do
      n = if PtcRunner.Test.Environment.many?(), do: 20_000, else: 3_000

      rows =
        for i <- 1..n,
            do: %{
              "n" => i,
              "d" => Date.add(~D[2020-01-01], rem(i * 7919, n)),
              "s" => Enum.at(@states, rem(i, 5)),
              "p" => dec(rem(i * 7919, n), -2)
            }

      sorted = [op("sort_by", %{"field" => "s"}), op("map", %{"expr" => get("n")})]

      assert run(sorted, rows, timeout: 30_000) ==
               rows |> Enum.sort_by(&to_string(&1["s"])) |> Enum.map(& &1["n"])

      states = [op("map", %{"expr" => get("s")}), op("distinct")]
      assert run(states, rows, timeout: 30_000) == ["closed", :paid, "open", nil]

      for field <- ["d", "p"] do
        sorted =
          run([op("sort_by", %{"field" => field}), op("map", %{"expr" => get("n")})], rows,
            timeout: 30_000
          )

        assert sorted ==
                 rows
                 |> Enum.sort_by(&{&1["d"].year, &1["d"].month, &1["d"].day})
                 |> Enum.map(& &1["n"])

        values = Enum.map(rows, & &1[field])
        assert run([op("distinct"), op("count")], values ++ values, timeout: 30_000) == n
        wanted = Enum.take(values, div(n, 4))

        assert run(
                 [
                   op("filter_in", %{
                     "field" => field,
                     "value" => lit(Enum.map(wanted, &Values.text/1))
                   }),
                   op("count")
                 ],
                 rows,
                 timeout: 30_000
               ) == div(n, 4)
      end
    end

    test "whose numbers are huge end at the limits of the run" do
      huge = Integer.pow(3, 1_000_000)
      rows = for n <- 0..3, do: %{"v" => dec(huge + n, n)}

      assert run(
               [op("sort_by", %{"field" => "v"}), op("map", %{"expr" => get("v")}), op("count")],
               rows,
               timeout: 60_000
             ) == 4

      assert run([op("distinct"), op("count")], Enum.map(rows, & &1["v"]), timeout: 60_000) == 4
    end
  end

  test "in edition 2 values are compared with what has the same meaning, and with nothing else" do
    decimal = fn coef, exp -> %{__struct__: Decimal, sign: 1, coef: coef, exp: exp} end

    larger = fn items, value ->
      node = %{"op" => "filter", "where" => %{"op" => "gt", "value" => value}}
      program = %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => "x"}, node]}
      opts = [context: %{"x" => items}, edition: 2, structs: :values]
      assert {:ok, kept, _delta, _memory} = PtcRunner.Json.run(%{"program" => program}, opts)
      kept
    end

    assert larger.([:open, :a, "z", nil, true, 5, ~D[2024-01-01], %{}], "m") == [:open, "z"]
    dates = [~D[2024-02-01], ~U[2023-01-01 00:00:00Z], nil, "2025-01-01", 5, ~T[10:00:00]]
    assert larger.(dates, "2024-01-31") == [~D[2024-02-01], "2025-01-01"]
    assert larger.([decimal.(125, -1), 13, "14", nil, :b], 12) == [decimal.(125, -1), 13]
    assert larger.([decimal.(125, -1), decimal.(115, -1)], "12.0") == [decimal.(125, -1)]
  end

  test "the text of a date or a time is its ISO 8601 text, if it exists" do
    text = fn value -> run(op("text", %{"parts" => [load(), "."]}), value, edition: 2) end

    for value <- [
          ~D[0000-01-01],
          ~D[9999-12-31],
          ~T[23:59:59.000],
          ~T[00:00:00.123456],
          ~N[2024-02-29 10:00:00.5],
          ~U[2024-02-29 10:00:00Z],
          %{~U[2024-02-29 10:00:00Z] | utc_offset: -12_600, time_zone: "X/Y", zone_abbr: "X"}
        ] do
      assert text.(value) == value.__struct__.to_iso8601(value) <> "."
    end

    for broken <- [
          %{~D[2024-02-29] | day: 31},
          %{~D[2024-02-29] | month: 13},
          %{~D[2024-02-29] | year: 10_000}
        ] do
      assert {:error, "text does not support this value: " <> _} = text.(broken)
    end
  end

  test "an atom is the text of its name as the key of get" do
    load = &op("load", %{"name" => &1})

    read = fn map, key, opts ->
      node = %{"op" => "get", "from" => load.("m"), "key" => load.("k"), "default" => "none"}
      opts = [context: %{"m" => map, "k" => key}, edition: 2] ++ opts
      PtcRunner.Json.run!(%{"program" => node}, opts)
    end

    assert read.(%{"open" => 1}, :open, structs: :values) == 1
    assert read.(%{open: 1}, :open, structs: :values) == 1
    assert read.(%{open: 1}, :open, structs: :values, keys: :any) == 1
    assert read.(%{"open" => nil}, :open, structs: :values) == "none"
    assert read.(%{"paid" => 1}, :open, structs: :values) == "none"
    assert read.(%{"open" => 1}, :open, []) == "none"
  end

  test "the keys of a group are those of its first item" do
    day = ~D[2024-01-31]

    rows =
      for {k, n} <- [{:open, 1}, {"open", 2}, {"open", 1}, {day, 3}, {"2024-01-31", 4}],
          do: %{"k" => k, "n" => n}

    counted =
      for {k, n, count} <- [{:open, 1, 2}, {"open", 2, 1}, {day, 3, 1}, {"2024-01-31", 4, 1}],
          do: %{"k" => k, "n" => n, "count" => count}

    group = op("group_by", %{"fields" => ["k", "n"], "each" => %{"count" => op("count")}})
    items = op("group_by", %{"fields" => ["k", "n"]})
    opts = [context: %{"x" => rows}, edition: 2, structs: :values]

    for keys <- [:strings, :any], opts = [keys: keys] ++ opts do
      run = fn step ->
        steps = [op("load", %{"name" => "x"}), step]
        PtcRunner.Json.run!(%{"program" => op("pipe", %{"steps" => steps})}, opts)
      end

      assert run.(group) == counted

      assert for(found <- run.(items), do: Map.take(found, ["k", "n"])) ==
               for(found <- counted, do: Map.delete(found, "count"))

      # With one key they are one group.
      one = op("group_by", %{"field" => "k", "each" => %{"count" => op("count")}})
      assert run.(one) == [%{"k" => :open, "count" => 3}, %{"k" => day, "count" => 2}]
    end
  end
end
