defmodule PtcRunner.Test.Generator.Data do
  @moduledoc false
  # Random values, contexts and memories. Sizes are small on purpose: operations differ in ties, empty lists and
  # repeated values, and failures stay readable.

  import PtcRunner.Test.Random

  alias PtcRunner.Test.Strange

  @doc "A context: a name determines the kind of its value, as programs expect it."
  def context(row \\ row()) do
    %{
      "rows" => rows(row),
      "more" => rows(row),
      "empty" => [],
      "user" => row,
      "n" => number(),
      "s" => string(),
      "flag" => one_of([true, false]),
      "nums" => list_of(number(), 0..4),
      "any" => any(),
      "odd" => odd(),
      "wide" => maybe(30, wide_map())
    }
  end

  @doc "A memory, rarely with a current value for the outermost node."
  def memory do
    %{
      "cache" => maybe(80, rows()),
      "total" => maybe(80, number()),
      "seen" => maybe(50, any()),
      "__input" => maybe(15, frequency([{3, rows()}, {1, row()}, {1, any()}]))
    }
  end

  @doc "A list of row maps."
  def rows(row \\ row()) do
    frequency([
      {9, list_of(row, 1..6)},
      {3, map([row, row], &list_of(one_of(&1), 1..5))},
      {1, []},
      {1, list_of(frequency([{8, row}, {1, any()}, {1, odd()}]), 1..4)}
    ])
  end

  @doc "A map with string keys; any field may be missing or nil."
  def row do
    %{
      "id" => maybe(95, id()),
      "name" => maybe(95, string()),
      "amount" => maybe(90, frequency([{30, number()}, {2, nil}, {1, string()}])),
      "active" => maybe(80, one_of([true, false, nil])),
      "tags" => maybe(60, list_of(string(), 0..3)),
      "nested" => maybe(50, %{"a" => one_of([nil, 1, string(), %{"b" => integer(0..2)}])}),
      "items" => maybe(50, list_of(%{"id" => id(), "amount" => number()}, 0..3)),
      "date" => maybe(10, odd())
    }
  end

  @doc "Few numbers, so that they often meet; some are equal but not identical."
  def id, do: frequency([{3, integer(1..3)}, {1, one_of([1.0, 2.0, 3.0])}])

  @doc "Numbers: mostly small, with ties of integer and float, some huge."
  def number do
    frequency([
      {4, id()},
      {6, integer(-3..12)},
      {4, one_of([0.5, -1.5, 2.5, 3.25, 1.005, -0.0])},
      {2, map(integer(-100_000..100_000), &(&1 / 64))},
      {1, one_of([0, 0.0, -0.0, -0.4, 1.0e-300, 9.0e15, 1.0e22, 123_456_789.987])},
      {1, bigint()}
    ])
  end

  @doc "Numbers half way between two others, or almost, and those that become -0.0."
  def edge_of_rounding do
    one_of([-0.4, -0.0, 0.5, 1.5, 2.5, -2.5, 0.125, 2.675, 1.005, 1.0e15, 0.3, 5.0e-16])
  end

  @doc "Integers around the edges of machine words and of the exact doubles."
  def bigint do
    map({one_of([53, 59, 60, 63, 64, 65, 128, 200]), integer(-2..2), one_of([1, -1])}, fn
      {bits, distance, sign} -> sign * (Integer.pow(2, bits) + distance)
    end)
  end

  @doc "Numbers at which arithmetic of the VM fails."
  def enormous, do: one_of([1.7e308, -1.7e308, Integer.pow(10, 310), -Integer.pow(10, 400)])

  @doc "Short strings that often repeat or contain each other."
  def string do
    frequency([
      {3, one_of(["a", "b", "ab", ""])},
      {2, one_of(["abc", "1", "name", "é", "žlutý", "日本", "🙂", "a\"b", "x\ny"])}
    ])
  end

  @doc "Values that JSON has."
  def any do
    lazy(fn ->
      frequency([
        {6, number()},
        {4, string()},
        {3, one_of([nil, true, false])},
        {1, enormous()},
        {2, row()},
        {2, list_of(number(), 0..3)},
        {2, list_of(string(), 0..3)},
        {1, list_of(any(), 0..3)},
        {1, %{"a" => any(), "b" => any()}}
      ])
    end)
  end

  @doc "Values that only Elixir has, and maps that need a hash map."
  def odd do
    lazy(fn ->
      frequency([
        {3,
         one_of([~D[2024-01-31], ~D[2023-12-01], MapSet.new(["a", 1]), ~U[2024-01-31 10:00:00Z]])},
        {2, one_of([:ok, :error, :undefined])},
        {2, {one_of([:ok, :error]), any()}},
        {2, %{id: integer(1..3), result: any()}},
        {1, %{1 => "one", "a" => any(), b: nil}},
        {2, one_of([self(), make_ref(), &Map.get/2] ++ Strange.plain())},
        {2, one_of([<<255>>, <<0, 255, 65>>, "ab" <> <<0xC3>>, <<1::3>>])},
        {1, map({any(), string()}, fn {head, tail} -> [head | tail] end)},
        {1, wide_map()}
      ])
    end)
  end

  # More than 32 keys: the VM stores such a map in another form.
  defp wide_map do
    map({integer(33..40), list_of({string(), number()}, 0..3)}, fn {size, entries} ->
      1..size |> Map.new(&{"k#{&1}", rem(&1, 7)}) |> Map.merge(Map.new(entries))
    end)
  end
end
