defmodule PtcRunner.SubAgent.KeyNormalizerTest do
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.{KeyNormalizer, Signature}
  alias PtcRunner.Test.{Environment, Random, Shared}

  # The rules in plain Elixir.
  defmodule Plain do
    def keys(%_{} = struct), do: struct
    def keys(map) when is_map(map), do: rekey(map, &keys/1)
    def keys(list) when is_list(list), do: Enum.map(list, &keys/1)
    def keys(other), do: other

    def cache(%_{} = struct), do: struct
    def cache(map) when is_map(map), do: rekey(map, &cache/1)
    def cache(list) when is_list(list), do: Enum.map(list, &cache/1)
    def cache(tuple) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> cache()
    def cache(float) when is_float(float) and trunc(float) == float, do: trunc(float)
    def cache(other), do: other

    def public(%_{} = struct), do: struct

    def public(map) when is_map(map) do
      for {key, value} <- map, not hidden?(key), into: %{}, do: {key, public(value)}
    end

    def public([head | tail]), do: [public(head) | public(tail)]

    def public(tuple) when is_tuple(tuple),
      do: tuple |> Tuple.to_list() |> public() |> List.to_tuple()

    def public(other), do: other

    defp rekey(map, fun) do
      for {key, value} <- Enum.sort_by(Map.to_list(map), &elem(&1, 0)), into: %{} do
        {KeyNormalizer.normalize_key(key), fun.(value)}
      end
    end

    defp hidden?(key) when is_atom(key), do: hidden?(Atom.to_string(key))
    defp hidden?(<<first, _::binary>>), do: first in [?_, ?-]
    defp hidden?(_key), do: false
  end

  @keys [:a, :b, :"a-b", :a_b, "a-b", "a_b", "a", "_a", :_a, "-a", :"-a", "", nil, true] ++
          [1, 1.0, {:k}, [1], <<1::3>>, "é-è", :"é-è", :"ключ-а", "ключ_а", "_", "-"]
  @leaves [
    1,
    -0.0,
    2.0,
    2.5,
    1.0e300,
    -1.0e20,
    9.1e18,
    nil,
    :ok,
    "a-b",
    [],
    %{},
    {},
    ~D[2025-11-20]
  ]

  defp value(0), do: Random.one_of(@leaves)

  defp value(depth) do
    inner = Random.lazy(fn -> value(depth - 1) end)
    entries = Random.map(Random.one_of([1, 2, 4, 40]), &List.duplicate({key(), inner}, &1))

    Random.frequency([
      {3, Random.map(entries, &Map.new/1)},
      {2, Random.list_of(inner, 1..4)},
      {1, Random.map(Random.list_of(inner, 1..3), &List.to_tuple/1)},
      {2, value(0)}
    ])
  end

  defp key,
    do:
      Random.frequency([
        {1, Random.map(Random.integer(1..60), &"key-#{&1}")},
        {2, Random.one_of(@keys)}
      ])

  test "random values, against the rules in plain Elixir" do
    seed = Environment.seed()

    for n <- 1..Environment.cases(200) do
      {value, _state} = Random.build(value(4), :rand.seed_s(:exsss, {seed, n, 0}))
      assert KeyNormalizer.normalize_keys(value) === Plain.keys(value)
      assert Signature.public_data(value) === Plain.public(value)

      if is_map(value),
        do: assert(KeyNormalizer.canonical_cache_key("t", value) === {"t", Plain.cache(value)})
    end
  end

  test "large tables, on a dirty scheduler" do
    rows =
      for n <- 1..25_000, do: %{"user-id": n, tags: [%{"x-y" => 1.0}], _h: n, s: {n, %{a: n}}}

    rows = [%{rows: rows}]
    assert KeyNormalizer.normalize_keys(rows) === Plain.keys(rows)
    assert Signature.public_data(rows) === Plain.public(rows)
    assert {"t", cache} = KeyNormalizer.canonical_cache_key("t", hd(rows))
    assert cache === Plain.cache(hd(rows))
  end

  test "large maps whose keys become equal" do
    map =
      for n <- 1..2_000, key <- ["k-#{n}", "k_#{n}", :"k-#{n}"], into: %{}, do: {key, {n, key}}

    assert KeyNormalizer.normalize_keys(map) === Plain.keys(map)
  end

  test "the last in term order wins, of strings and atoms" do
    map = %{:"a-b" => 1, :a_b => 2, "a-b" => 3, "a_b" => 4}
    assert KeyNormalizer.normalize_keys(map) == %{"a_b" => 4}
    assert KeyNormalizer.normalize_keys(Map.delete(map, "a_b")) == %{"a_b" => 3}
    assert KeyNormalizer.normalize_keys(Map.take(map, [:"a-b", :a_b])) == %{"a_b" => 2}
  end

  test "what does not change is the very term" do
    value = %{"rows" => for(n <- 1..50, do: %{"id" => n, "t" => {:"a-b"}})}
    assert :erts_debug.same(KeyNormalizer.normalize_keys(value), value)
    assert :erts_debug.same(Signature.public_data(value), value)
    changed = KeyNormalizer.normalize_keys(%{"x" => value, "y-z" => 1})
    assert :erts_debug.same(changed["x"], value)
    # public_data leaves a struct as it is, whatever its keys are
    struct = %{__struct__: NoSuchModule, _a: 1}
    assert :erts_debug.same(Signature.public_data(struct), struct)
    assert Signature.public_data(%{__struct__: "text", _a: 1}) == %{}
  end

  test "an improper list raises, as a list without an end that is known" do
    for value <- [[1 | 2], %{a: [[1 | :x]]}, [%{"a-b" => [1 | %{}]}]] do
      assert_raise FunctionClauseError, fn -> KeyNormalizer.normalize_keys(value) end
    end

    assert_raise FunctionClauseError, fn ->
      KeyNormalizer.canonical_cache_key("t", %{a: [1 | 2]})
    end

    assert KeyNormalizer.normalize_keys({[1 | 2]}) == {[1 | 2]}
  end

  describe "2^40 parts" do
    test "in maps, lists and tuples take no longer than the parts that there are" do
      shared = [
        Shared.map(%{"a-b" => 1, _c: 2}, 40),
        Shared.times(%{"a-b" => 1}, 40, &%{:"a-b" => &1, "b" => &1}),
        Shared.times([%{"a-b" => 1.0}], 40, &[&1, &1]),
        Shared.times([%{"a-b" => 1.0}], 40, &[&1 | &1]),
        Shared.times(%{"a-b" => 1}, 40, &%{x: [&1, %{y: &1}], _z: &1})
      ]

      for term <- shared do
        assert deep_size(KeyNormalizer.normalize_keys(term)) < 10_000_000
        assert {"t", key} = KeyNormalizer.canonical_cache_key("t", %{t: term})
        assert deep_size(key) < 10_000_000
        assert deep_size(Signature.public_data(term)) < 10_000_000
      end

      tuples = Shared.times(%{"a-b" => 1.0, _c: 1}, 40, &{&1, &1})
      assert deep_size(Signature.public_data(tuples)) < 10_000_000
      assert {"t", key} = KeyNormalizer.canonical_cache_key("t", %{t: tuples})
      assert deep_size(key) < 10_000_000
    end

    test "come out right" do
      assert %{"a" => part, "b" => part} = KeyNormalizer.normalize_keys(Shared.map(%{c: 1}, 40))
      assert Shared.times(part, 39, & &1["b"]) == %{"c" => 1}
      assert Shared.times(part, 39, & &1["a"]) == %{"c" => 1}
    end

    test "in the rest of lists" do
      list = Enum.reduce(1..20_000, [%{a: 1}], &[&1 | &2])
      tails = list |> Stream.iterate(&tl/1) |> Enum.take(20_000)
      result = KeyNormalizer.normalize_keys(tails)
      assert List.last(result) |> List.last() == %{"a" => 1}
      assert length(hd(result)) == 20_001
    end
  end

  # The words of this process' heap with the term on it: a walk over all of its parts would not end.
  defp deep_size(term) do
    :erlang.garbage_collect()
    {:total_heap_size, words} = Process.info(self(), :total_heap_size)
    if is_function(term), do: 0, else: words
  end
end
