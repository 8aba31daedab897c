defmodule PtcRunner.Test.Flowing do
  @moduledoc """
  Random programs over rows with firewalled fields, whose value goes to a tool. Each step fits the value before it, so that most
  programs reach the tool. One in twelve of the fields that they name are firewalled.
  """

  @public ~w(id name tags owner)
  @secret ~w(_pin _card _note _when _more _list)

  @doc "The data: rows, one row, lists of rows, an object of rows."
  @spec context() :: map()
  def context do
    rows = for n <- 1..4, do: row(n)

    %{
      "rows" => rows,
      "one" => row(7),
      "lists" => Enum.chunk_every(rows, 2),
      "named" => Map.new(rows, &{"k#{&1["id"]}", &1}),
      "mixed" => [hd(rows), [row(8)], 5, "text", nil, %{"id" => [row(9)]}]
    }
  end

  # Secrets of each kind have the marker in their text.
  defp row(n) do
    %{
      "id" => n,
      "name" => Enum.at(~w(ada bob cy), rem(n, 3)),
      "tags" => ["a", "b#{n}"],
      "owner" => %{"id" => n * 10, "name" => "o#{n}", "_pin" => 7_341_852_000 + n},
      "_pin" => 7_341_852_100 + n,
      "_card" => "zq-card-#{n}",
      "_note" => %{"text" => "zq-note", "n" => 7_341_852_200.5},
      "_when" => Date.add(~D[7341-08-05], n),
      "_more" => %{__struct__: Decimal, sign: 1, coef: 7_341_852_300 + n, exp: -2},
      "_list" => ["zq-list", [7_341_852_400 + n]]
    }
  end

  @doc "Whether a text shows a part of a secret."
  @spec secret?(String.t()) :: boolean()
  def secret?(text), do: text =~ ~r/zq|7341852|73418\.52|7341-0|7_341/

  @doc "A program whose value is given to the tool `send`."
  @spec program() :: map()
  def program do
    {start, type} =
      Enum.random([
        {load("rows"), :rows},
        {load("rows"), :rows},
        {load("one"), :row},
        {load("lists"), :lists},
        {load("named"), :named},
        {load("mixed"), :mixed}
      ])

    {steps, type} = steps(:rand.uniform(4), type, [start])
    steps = if :rand.uniform(5) == 1, do: steps, else: [last(type) | steps]

    %{
      "op" => "call",
      "tool" => "send",
      "args" => %{"x" => %{"op" => "pipe", "steps" => Enum.reverse(steps)}}
    }
  end

  # What takes the firewalled fields out again, as far as they are known.
  defp last(:rows), do: Enum.random([public(), op("map", %{"expr" => public()}), op("count")])
  defp last(:row), do: public()

  defp last(:lists),
    do: Enum.random([op("map", %{"expr" => public()}), op("select", %{"fields" => ["id"]})])

  defp last(:named), do: op("length")
  defp last(_value), do: op("it")

  defp public do
    Enum.random([
      op("select", %{"fields" => Enum.take_random(~w(id name tags a b), 2)}),
      op("unset", %{"fields" => ["owner", "items", "other" | @secret]}),
      op("set", %{"fields" => Map.new(["owner", "other" | @secret], &{&1, nil})})
    ])
  end

  defp load(name), do: %{"op" => "load", "name" => name}
  defp op(name, more \\ %{}), do: Map.put(more, "op", name)

  defp field, do: Enum.random(if(:rand.uniform(12) == 1, do: @secret, else: @public))
  defp fields, do: for(_ <- 1..:rand.uniform(3), do: field()) |> Enum.uniq()
  defp get(name \\ field()), do: op("get", %{"field" => name})

  defp steps(0, type, done), do: {done, type}

  defp steps(left, type, done) do
    {step, type} = step(type)
    steps(left - 1, type, [step | done])
  end

  defp condition do
    Enum.random([
      op("eq", %{"field" => field(), "value" => 1}),
      op("neq", %{"field" => field(), "value" => nil}),
      op("gt", %{"field" => field(), "value" => 1})
    ])
  end

  defp reshape do
    Enum.random([
      op("select", %{"fields" => fields()}),
      op("unset", %{"fields" => Enum.random([fields(), @secret, ["owner" | @secret]])}),
      op("set", %{"fields" => Map.new(fields(), &{&1, Enum.random([nil, 1, get()])})}),
      op("rename", %{"fields" => Map.new(fields(), &{&1, Enum.random(~w(a b id name))})})
    ])
  end

  defp object, do: Map.new(~w(a b), &{&1, get()})

  defp step(:rows) do
    Enum.random([
      {op("filter", %{"where" => condition()}), :rows},
      {op("sort_by", %{"field" => field()}), :rows},
      {op("take", %{"count" => 2}), :rows},
      {op("reverse"), :rows},
      {op("distinct", %{"field" => field()}), :rows},
      {reshape(), :rows},
      {reshape(), :rows},
      {op("map", %{"expr" => reshape()}), :rows},
      {op("map", %{"expr" => object()}), :value},
      {op("map", %{"expr" => get()}), :value},
      {op("flat_map", %{"expr" => op("list", %{"items" => [get(), get()]})}), :value},
      {op("first"), :row},
      {op("find", %{"where" => condition()}), :row},
      {op("min_by", %{"field" => field()}), :row},
      {op("count", %{"where" => condition()}), :value},
      {op("group_by", %{
         "field" => field(),
         "each" => %{"n" => op("count"), "of" => op("map", %{"expr" => get()})}
       }), :value},
      {op("group_by", %{"field" => field()}), :value},
      {op("index_by", %{"expr" => op("to_text", %{"value" => get()})}), :named},
      {op("index_by", %{"field" => "id"}), :named},
      {op("join", %{"with" => load("rows"), "on" => "id", "as" => "other"}), :rows},
      {op("chunk", %{"size" => 2}), :lists},
      {op("map", %{"expr" => %{"key" => op("to_text", %{"value" => get()}), "value" => get()}}),
       :pairs},
      {op("fold", %{"init" => 0, "expr" => op("coalesce", %{"values" => [get(), 1]})}), :value},
      {op("zip", %{"lists" => [op("it"), op("map", %{"expr" => get()})]}), :value}
    ])
  end

  defp step(:pairs), do: {op("from_entries"), :value}

  defp step(:row) do
    Enum.random([
      {reshape(), :row},
      {reshape(), :row},
      {object(), :value},
      {get(), :value},
      {op("entries"), :value},
      {op("keys"), :value},
      {op("merge", %{"objects" => [op("it"), Map.new(fields(), &{&1, 1})]}), :row},
      {op("get", %{"key" => op("literal", %{"value" => field()})}), :value},
      {op("list", %{"items" => [op("it"), op("select", %{"fields" => fields()})]}), :rows}
    ])
  end

  defp step(:lists) do
    Enum.random([
      {op("flatten"), :rows},
      {op("first"), :rows},
      {op("select", %{"fields" => fields()}), :value},
      {op("map", %{"expr" => op("select", %{"fields" => fields()})}), :lists},
      {op("map", %{"expr" => op("first")}), :rows},
      {op("flat_map", %{"expr" => op("it")}), :rows}
    ])
  end

  defp step(:named) do
    Enum.random([
      {op("entries"), :value},
      {op("keys"), :value},
      {op("get", %{"field" => "k1"}), :row},
      {op("get", %{"key" => "k1"}), :row},
      {op("unset", %{"fields" => ["k1", "k2"]}), :named},
      {op("select", %{"fields" => ["k1"]}), :named}
    ])
  end

  defp step(:mixed) do
    Enum.random([
      {op("select", %{"fields" => fields()}), :value},
      {op("first"), :row},
      {op("count"), :value},
      {op("flatten"), :value}
    ])
  end

  defp step(:value), do: {op(Enum.random(~w(to_text typeof it))), :value}
end
