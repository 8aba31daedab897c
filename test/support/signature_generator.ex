defmodule PtcRunner.Test.SignatureGenerator do
  @moduledoc """
  Random types, and values that mostly match them.

      iex> alias PtcRunner.Test.SignatureGenerator
      iex> SignatureGenerator.random_case(1, 1) == SignatureGenerator.random_case(1, 1)
      true
  """

  import PtcRunner.Test.Random

  @scalars [:string, :int, :float, :bool, :keyword, :any, :map, :datetime]
  # Each is also an atom below.
  @names ["id", "user_id", "user-id", "a-b_c", "a_b-c", "_x", "größe", "名前", "x"]
  @atoms [:id, :user_id, :"user-id", :"a-b_c", :a_b_c, :"a-b-c", :_x, :größe, :名前, :x]
  @others [nil, :__struct__, 1, {:a}, "other", "", <<255>>]

  @type random_case :: %{type: term(), value: term()}

  @doc "The `n`th case of a seed."
  @spec random_case(integer(), pos_integer()) :: random_case()
  def random_case(seed, n) do
    {type, state} = build(type(rem(n, 4)), :rand.seed_s(:exsss, {seed, n, 7}))
    {value, _state} = build(value(type), state)
    %{type: type, value: value}
  end

  @doc "A template of types that nest so deep."
  def type(0), do: one_of(@scalars)

  def type(depth) do
    inner = lazy(fn -> type(depth - 1) end)

    frequency([
      {3, one_of(@scalars)},
      {2, {:optional, inner}},
      {3, {:list, inner}},
      {5, {:map, fields(inner)}},
      {1, {:closed_map, fields(inner)}}
    ])
  end

  defp fields(inner), do: list_of({one_of(@names), inner}, 0..4)

  @doc "A template of values, of which some do not fit the type."
  def value(type), do: frequency([{12, lazy(fn -> fitting(type) end)}, {1, any()}])

  defp fitting({:optional, type}), do: frequency([{1, nil}, {3, value(type)}])

  defp fitting({:list, type}) do
    frequency([
      {20, list_of(value(type), 0..5)},
      {1, map(list_of(value(type), 1..3), &improper/1)}
    ])
  end

  defp fitting({_map, fields}) do
    entries = for {name, type} <- fields, do: {keys(name), value(type)}
    wanted = map(entries, &Map.new(for {key, value} <- &1, key != :absent, do: {key, value}))

    frequency([
      {6, wanted},
      {2,
       map({wanted, entries(1..3)}, fn {wanted, more} -> Map.merge(Map.new(more), wanted) end)},
      {1, map({wanted, integer(28..40)}, fn {wanted, n} -> large(wanted, n) end)}
    ])
  end

  defp fitting(:string), do: one_of(["", "a", "grün", <<255>>, "42", :atom, ~D[2024-02-29]])
  defp fitting(:int), do: frequency([{4, integer(-9..9)}, {1, 2 ** 70}, {2, numeric()}])

  defp fitting(:float),
    do: frequency([{3, 1.5}, {2, integer(0..9)}, {1, 2 ** 1100}, {2, numeric()}])

  defp fitting(:bool), do: one_of([true, false, "true", "false", "yes"])

  defp fitting(:keyword),
    do: one_of([:ok, nil, :名前, "ok", "größe", "名前", "no such atom 17", "a.b"])

  defp fitting(:map), do: one_of([%{}, %{"a" => 1}, %{a: 1}, %{__struct__: 1}, ~D[2024-02-29]])

  defp fitting(:datetime) do
    one_of([
      ~U[2024-02-29 12:30:00Z],
      "2026-05-03T09:14:00Z",
      "2026-05-03T09:14:00+02:00",
      "2026-05-03T09:14:00",
      "soon"
    ])
  end

  defp fitting(_type), do: any()

  # The name, as a string or an atom, with other hyphens, or missing.
  defp keys(name) do
    low = String.replace(name, "-", "_")
    strings = [name, name, low, String.replace(low, "_", "-")]
    atoms = Enum.filter(@atoms, &(Atom.to_string(&1) in strings))
    frequency([{6, one_of(strings)}, {3, one_of([name | atoms])}, {1, :absent}])
  end

  defp entries(count),
    do: list_of({one_of(@names ++ @atoms ++ @others), lazy(fn -> any() end)}, count)

  defp improper(list), do: List.foldr(list, :tail, &[&1 | &2])

  defp large(map, size),
    do: for(n <- 1..size, into: map, do: {"filler #{n}", n})

  defp numeric do
    one_of([
      "42",
      "-5",
      "+7",
      "007",
      " 1 ",
      "1.5",
      "3.25abc",
      ".5",
      "1e3",
      "1e999",
      "x",
      "",
      "99999999999999999999",
      "\u00A03",
      "1_000",
      "-0",
      "1.e3",
      "0x10"
    ])
  end

  defp any do
    one_of([
      nil,
      true,
      :atom,
      0,
      2 ** 64,
      -1.5,
      "text",
      "42",
      <<1::3>>,
      {},
      {1, "a"},
      [],
      [1, "2"],
      [1 | 2],
      %{},
      %{"id" => 1},
      ~D[2024-02-29],
      ~T[12:00:00],
      ~N[2024-02-29 12:30:00],
      ~U[2024-02-29 12:30:00Z],
      %{__struct__: NoModule},
      %{__struct__: "x"},
      1..3
    ])
  end
end
