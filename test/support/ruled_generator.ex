defmodule PtcRunner.Test.RuledGenerator do
  @moduledoc """
  Random types with rules, unions, names and maps of a type, and values of JSON that fit them, as a model sends them.

      iex> alias PtcRunner.Test.RuledGenerator
      iex> RuledGenerator.type(1, 1) == RuledGenerator.type(1, 1)
      true
  """

  @names ["id", "total", "rows", "when", "größe", "_x"]

  # A type and values of it.
  @scalars [
    {:string, ["", "a", "grün"]},
    {:int, [0, -7, 12_345_678_901_234_567_890]},
    {:float, [1.5, 2, -0.25]},
    {:bool, [true, false]},
    {:date, ["2026-11-23"]},
    {:datetime, ["2026-11-23T10:00:00Z"]},
    {:decimal, ["12.50", "-3"]},
    {{:where, :int, [min: 1, max: 9]}, [1, 9]},
    {{:where, :int, [exclusive_min: 0, exclusive_max: 10, multiple_of: 3]}, [3, 9]},
    {{:where, :float, [exclusive_min: 0.5]}, [0.75, 3]},
    {{:where, :float, [min: %{__struct__: Decimal, sign: 1, coef: 125, exp: -2}]}, [1.25]},
    {{:where, :decimal, [min: 0, description: "in euros."]}, ["0", "9.99"]},
    {{:where, :decimal, [enum: [%{__struct__: Decimal, sign: 1, coef: 15, exp: -1}]]}, ["1.5"]},
    {{:where, :string, [min_length: 1, max_length: 3]}, ["a", "äöü"]},
    {{:where, :string, [pattern: "^[A-Z]{2}-[0-9]+$"]}, ["DE-17"]},
    {{:where, :string, [pattern: "(?i)^x"]}, ["Xy"]},
    {{:where, :string, [pattern: "\\bvat\\b", description: "the number"]}, ["a vat b"]},
    {{:where, :string, [format: :email]}, ["ada@example.org"]},
    {{:where, :string, [format: :uri]}, ["https://example.org/a"]},
    {{:where, :string, [format: :uuid]}, ["f81d4fae-7dec-11d0-a765-00a0c91e6bf6"]},
    {{:where, :string, [format: :time]}, ["10:30:00Z"]},
    {{:where, :string, [format: :date]}, ["2024-02-29"]},
    {{:where, :string, [format: :datetime]}, ["2024-02-29T00:00:00Z"]},
    {{:where, :string, [enum: ["open", "paid"], ignore_case: true, aliases: %{"done" => "paid"}]},
     ["open", "paid"]},
    {{:where, :int, [enum: [1, 2, 3]]}, [1, 3]},
    {{:where, :bool, [enum: [true]]}, [true]},
    {{:where, :bool, [yes_no: true, description: "whether it is paid"]}, [true]},
    {{:where, :string, [default: "none"]}, ["x"]},
    {{:where, :int, [min: 0, default: 5]}, [0]},
    {{:where, :any, [enum: ["a", 1]]}, ["a", 1]}
  ]

  # Types that not every provider has.
  @open [
    {:any, [%{"b" => true}]},
    {:map, [%{}, %{"a" => 1}]},
    {{:where, :any, [min: 0]}, ["a", 1]}
  ]

  @doc "The `n`th type of a seed."
  @spec type(integer(), integer()) :: term()
  def type(seed, n) do
    :rand.seed(:exsss, {seed, n, 28})
    {type, open?} = {type(rem(n, 4)), rem(n, 5) == 0}
    if open?, do: {:map, [{"open", elem(pick(@open), 0)}, {"other", type}]}, else: type
  end

  defp type(0), do: @scalars |> pick() |> elem(0)

  defp type(depth) do
    case :rand.uniform(14) do
      n when n <= 2 -> type(0)
      n when n <= 4 -> {:list, type(depth - 1)}
      5 -> {:where, {:list, {:where, :int, [min: 0]}}, [unique: true, min_items: 2, max_items: 4]}
      n when n <= 9 -> {Enum.random([:map, :closed_map]), fields(depth)}
      10 -> {:one_of, [shape("circle", depth), shape("square", depth)], "kind"}
      11 -> {:one_of, [:int, {:list, :int}], nil}
      12 -> {:defs, %{"Tree" => tree(depth)}, {:ref, "Tree"}}
      13 -> {:struct, Range, {:map, for(name <- ["first", "last", "step"], do: {name, :int})}}
      14 -> if :rand.uniform(3) == 1, do: {:map_of, type(depth - 1)}, else: type(depth - 1)
    end
  end

  defp fields(depth) do
    for name <- Enum.take_random(@names, :rand.uniform(4)) do
      type = type(depth - 1)
      {name, if(:rand.uniform(3) == 1, do: {:optional, type}, else: type)}
    end
  end

  defp shape(kind, depth),
    do: {:map, [{"kind", {:where, :string, [enum: [kind]]}}, {kind, type(depth - 1)}]}

  defp tree(depth) do
    below = pick([{:ref, "Tree"}, {:where, {:ref, "Tree"}, [description: "below it"]}])
    {:map, [{"value", type(depth - 1)}, {"left", {:optional, below}}]}
  end

  @doc "A value of JSON that fits; `null?`: what is missing is null."
  @spec value(term(), boolean()) :: term()
  def value(type, null?), do: value(type, null?, %{}, 4)

  defp value(type, null?, names, deep) do
    case List.keyfind(@scalars ++ @open, type, 0) do
      {_type, values} -> pick(values)
      nil -> of(type, null?, names, deep)
    end
  end

  defp of({:list, type}, null?, names, deep),
    do: for(_ <- 1..:rand.uniform(3), do: value(type, null?, names, deep))

  defp of({:where, {:list, _type}, [{:unique, true} | _]}, _null?, _names, _deep), do: [3, 1, 2]
  defp of({:where, :string, [enum: values]}, _null?, _names, _deep), do: pick(values)
  defp of({:where, type, _rules}, null?, names, deep), do: value(type, null?, names, deep)

  defp of({:one_of, types, _field}, null?, names, deep),
    do: value(pick(types), null?, names, deep)

  defp of({:struct, _module, type}, null?, names, deep), do: value(type, null?, names, deep)
  defp of({:ref, name}, null?, names, deep), do: value(names[name], null?, names, deep - 1)

  defp of({:defs, defined, type}, null?, names, deep),
    do: value(type, null?, Map.merge(names, defined), deep)

  defp of({:map_of, type}, null?, names, deep),
    do: for(name <- ["a", "b c"], into: %{}, do: {name, value(type, null?, names, deep)})

  defp of({_map, fields}, null?, names, deep) do
    for {name, type} <- fields,
        field <- field(type, null?, names, deep),
        into: %{},
        do: {name, field}
  end

  defp field({:optional, type}, null?, names, deep) do
    cond do
      deep > 0 and :rand.uniform(2) == 1 -> [value(type, null?, names, deep)]
      null? -> [nil]
      true -> []
    end
  end

  defp field({:where, _type, rules} = type, null?, names, deep) do
    if not null? and rules[:default] != nil and :rand.uniform(2) == 1,
      do: [],
      else: [value(type, null?, names, deep)]
  end

  defp field(type, null?, names, deep), do: [value(type, null?, names, deep)]

  defp pick(list), do: Enum.random(list)
end
