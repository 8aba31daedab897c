defmodule PtcRunner.Lisp.CollectionsTest do
  # Maps and sets on the VM: their order, and changes of single entries, which share the parts of large maps.

  use ExUnit.Case, async: true

  alias PtcRunner.Lisp

  # Maps of up to 32 keys are arrays, larger ones are trees.
  @sizes [0, 1, 2, 31, 32, 33, 34, 1_000]

  defp value(source, context) do
    {:ok, step} = Lisp.run(source, context: context)
    step.return
  end

  defp key(place) do
    case rem(place, 4) do
      0 -> place
      1 -> "key #{place}"
      2 -> [place, "x"]
      3 -> place + 0.5
    end
  end

  defp map(size), do: Map.new(1..size//1, &{key(&1), &1})

  test "pairs come in the order of the map's iterator" do
    for size <- @sizes do
      map = map(size)
      pairs = for {key, value} <- map, do: [key, value]
      assert value("(map identity data/m)", %{"m" => map}) == pairs
      assert value("(for [pair data/m] pair)", %{"m" => map}) == pairs
      items = for {item, _value} <- map, do: item
      assert value("(vec data/s)", %{"s" => MapSet.new(Map.keys(map))}) == items
    end
  end

  test "keys, values and entries are sorted by key" do
    for size <- @sizes do
      map = map(size)
      sorted = Enum.sort_by(map, &elem(&1, 0))
      assert value("(keys data/m)", %{"m" => map}) == Enum.map(sorted, &elem(&1, 0))
      assert value("(vals data/m)", %{"m" => map}) == Enum.map(sorted, &elem(&1, 1))
      assert value("(entries data/m)", %{"m" => map}) == Enum.map(sorted, &Tuple.to_list/1)
    end
  end

  test "one entry more, another one, and one less" do
    for size <- @sizes do
      map = map(size)
      context = %{"m" => map, "k" => key(1), "new" => "another"}
      assert value("(assoc data/m data/new 7)", context) == Map.put(map, "another", 7)
      assert value("(assoc data/m data/k 7)", context) == Map.put(map, key(1), 7)
      assert value("(dissoc data/m data/k)", context) == Map.delete(map, key(1))
      assert value("(dissoc data/m data/new)", context) == map

      assert value("(merge data/m {data/k 8 \"z\" 9})", context) ==
               Map.merge(map, %{key(1) => 8, "z" => 9})
    end
  end

  test "sets of any size" do
    for left <- @sizes, right <- @sizes do
      {a, b} = {MapSet.new(1..left//1), MapSet.new(20..(19 + right)//1)}
      context = %{"a" => a, "b" => b}
      assert value("(union data/a data/b)", context) == MapSet.union(a, b)
      assert value("(intersection data/a data/b)", context) == MapSet.intersection(a, b)
      assert value("(difference data/a data/b)", context) == MapSet.difference(a, b)
      assert value("(conj data/a 5000)", context) == MapSet.put(a, 5_000)
      assert value("(disj data/a 1)", context) == MapSet.delete(a, 1)
      assert value("(into data/a data/b)", context) == MapSet.union(a, b)
    end
  end

  test "a map that grows one by one" do
    expected = Map.new(0..4_999, &{&1, &1 * &1})
    source = "(reduce (fn [m x] (assoc m x (* x x))) {} (range 5000))"
    {:ok, step} = Lisp.run(source, timeout: 10_000)
    assert step.return == expected

    {:ok, step} =
      Lisp.run("(reduce (fn [m x] (dissoc m x)) data/m (range 4990))",
        context: %{"m" => expected},
        timeout: 10_000
      )

    assert step.return == Map.new(4_990..4_999, &{&1, &1 * &1})
  end

  test "data that no program could make" do
    for {source, improper} <- [
          {"(count data/x)", [1 | 2]},
          {"(reverse data/x)", [1 | 2]},
          {"(flatten data/x)", [[1 | 2]]}
        ] do
      assert {:error, %{fail: %{reason: :type_error}}} =
               Lisp.run(source, context: %{"x" => improper})
    end

    assert value("(map first [data/x])", %{"x" => "\xFFa"}) == ["\xFF"]
    assert value("(count data/x)", %{"x" => "a\xFFb"}) == 3
  end
end
