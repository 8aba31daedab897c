defmodule PtcRunner.Json.FoundReadsTest do
  # A program whose every read finds a value has no finding about reads: random programs that read only what random rows have.
  # PTC_SEED repeats a run, PTC_CASES=10 takes ten times as many.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.Explain.Noticed
  alias PtcRunner.Test.Environment

  @cases 800

  # Shapes: {:object, %{key => shape}}, {:list, shape} of at least two items, or a scalar.
  @keys ~w(id name total by items note user-id a.b 7)

  defp shape(depth) do
    case Enum.random(if(depth == 0, do: [1, 2, 3], else: [1, 2, 4, 5])) do
      1 -> :int
      2 -> :text
      3 -> :null
      4 -> {:list, shape(depth - 1)}
      5 -> object(depth - 1)
    end
  end

  defp object(depth) do
    keys = Enum.take_random(@keys -- ["id"], Enum.random(1..4))
    {:object, keys |> Map.new(&{&1, shape(depth)}) |> Map.put("id", :int)}
  end

  defp value(:int), do: Enum.random(-3..3)
  defp value(:text), do: Enum.random(["", "a", "b c", "2024-01-01"])
  defp value(:null), do: nil
  defp value({:list, shape}), do: for(_ <- 1..Enum.random(2..4), do: value(shape))
  defp value({:object, fields}), do: Map.new(fields, fn {key, shape} -> {key, value(shape)} end)

  defp op(name, fields),
    do: fields |> Map.new(fn {key, value} -> {to_string(key), value} end) |> Map.put("op", name)

  # A node and the shape of its value. `now` is the shape of the current value, `names` those of the names that are bound.
  defp node(now, names, 0), do: Enum.random([got(now, names), {op("it", []), now}])

  defp node(now, names, depth) do
    case Enum.random(1..6) do
      n when n <= 2 -> got(now, names)
      3 -> step(now, names, depth - 1)
      4 -> pipe(now, names, depth)
      5 -> bound(now, names, depth - 1)
      6 -> made(now, names, depth - 1)
    end
  end

  defp pipe(now, names, depth) do
    {steps, shape} =
      Enum.map_reduce(1..Enum.random(1..3), now, fn _, now ->
        Enum.random([fn -> step(now, names, depth - 1) end, fn -> got(now, names) end]).()
      end)

    {op("pipe", steps: steps), shape}
  end

  defp bound(now, names, depth) do
    {value, shape} = node(now, names, depth)
    name = Enum.random(["x", "y"])
    {inner, inner_shape} = node(now, Map.put(names, name, shape), depth)
    {op("let", name: name, value: value, in: inner), inner_shape}
  end

  defp made(now, names, depth) do
    fields =
      for key <- Enum.take_random(@keys, Enum.random(1..2)), do: {key, node(now, names, depth)}

    {Map.new(fields, fn {key, {node, _}} -> {key, node} end),
     {:object, Map.new(fields, fn {key, {_, shape}} -> {key, shape} end)}}
  end

  # A read of what is there: from the current value, or from what a node gives.
  defp got(now, names) do
    {from, of} =
      case Enum.random([:now | Map.keys(names)]) do
        :now -> {Enum.random([%{}, %{"from" => op("it", [])}]), now}
        name -> {%{"from" => op("var", name: name)}, names[name]}
      end

    case read(of) do
      {fields, shape} -> {Map.merge(op("get", fields), from), shape}
      :none -> if from == %{}, do: {op("it", []), now}, else: {from["from"] || op("it", []), of}
    end
  end

  defp read({:object, fields}) do
    {key, shape} = Enum.random(fields)

    case Enum.random(1..4) do
      1 ->
        {[field: key], shape}

      2 ->
        {[key: Enum.random([key, op("literal", value: key)])], shape}

      _ ->
        with(
          {path, shape} <- path({:object, fields}, Enum.random(1..3)),
          do: {[path: path], shape}
        )
    end
  end

  defp read({:list, shape}),
    do: Enum.random([{[key: Enum.random(0..1)], shape}, {[path: [Enum.random(0..1)]], shape}])

  defp read(_scalar), do: :none

  defp path({:object, fields}, left) when left > 0 do
    {key, shape} = Enum.random(fields)
    # A text of digits is a key too.
    {rest, last} = path(shape, left - 1)
    {[key | rest], last}
  end

  defp path({:list, shape}, left) when left > 0 do
    {rest, last} = path(shape, left - 1)
    {[Enum.random(0..1) | rest], last}
  end

  defp path(shape, _left), do: {[], shape}

  # An operation on the current value.
  defp step({:list, item} = now, names, depth) do
    as = Enum.random([nil, "it1"])
    inside = if as, do: Map.put(names, as, item), else: names
    {each, shape} = node(item, inside, depth)

    common = [
      fn -> {op("map", expr: each, as: as), {:list, shape}} end,
      fn -> {op("filter", where: condition(item, inside, depth), as: as), {:maybe, now}} end,
      fn -> {op("count", where: condition(item, names, depth)), :int} end,
      fn -> {op("some", where: condition(item, inside, depth), as: as), :bool} end,
      fn -> {op("sort_by", expr: elem(node(item, names, depth), 0)), now} end,
      fn -> {op("first", []), item} end,
      fn -> {op("nth", index: 1), item} end,
      fn -> {op("reverse", []), now} end,
      fn -> {op("chunk", size: 5), :some} end,
      fn -> {op("distinct", expr: elem(node(item, names, depth), 0)), {:maybe, now}} end,
      fn ->
        {op("fold", init: 0, expr: op("list", items: [elem(node(item, names, depth), 0)])), :some}
      end
    ]

    of_rows =
      with {:object, %{"id" => :int} = fields} <- item do
        field = fields |> Map.keys() |> Enum.random()

        [
          fn -> {op("sort_by", field: field), now} end,
          fn -> {op("min_by", field: "id"), item} end,
          fn -> {op("sum", field: "id"), :int} end,
          fn -> {op("max", field: "id"), :int} end,
          fn ->
            {op("select", fields: [field, "id"]),
             {:list, {:object, Map.take(fields, [field, "id"])}}}
          end,
          fn -> {op("filter", where: op("gte", field: "id", value: -9)), now} end,
          fn -> {op("filter_in", field: "id", value: [-3, -2, -1, 0, 1, 2, 3]), now} end,
          fn -> {op("index_by", field: "id"), :some} end,
          fn -> {op("set", fields: %{"new" => elem(node(item, names, depth), 0)}), now} end,
          fn -> {op("distinct", field: field), {:maybe, now}} end,
          fn -> grouped(now, names, depth, field) end,
          fn -> {op("join", with: op("it", []), on: "id", as: "other", kind: "left"), now} end
        ]
      end

    Enum.random(if(is_list(of_rows), do: common ++ of_rows, else: common)).() |> sure()
  end

  defp step({:object, fields} = now, names, depth) do
    Enum.random([
      fn -> got(now, names) end,
      fn -> {op("set", fields: %{"new" => elem(node(now, names, depth), 0)}), now} end,
      fn -> without(now) end,
      fn -> {op("entries", []), entries(fields)} end,
      fn ->
        {op("if",
           condition: condition(now, names, depth),
           then: elem(node(now, names, depth), 0),
           else: 1
         ), :some}
      end,
      fn ->
        {op("merge", objects: [op("it", []), %{"z" => elem(node(now, names, depth), 0)}]),
         {:object, fields}}
      end
    ]).()
  end

  defp step(now, _names, _depth), do: {op("it", []), now}

  defp without({:object, fields} = now) when map_size(fields) < 2, do: {op("it", []), now}

  defp without({:object, fields}) do
    key = fields |> Map.keys() |> Enum.random()
    {op("unset", fields: [key]), {:object, Map.delete(fields, key)}}
  end

  # A list has at least two items, and an object may have one field.
  defp entries(fields) when map_size(fields) < 2, do: :some
  defp entries(_fields), do: {:list, {:object, %{"key" => :text, "value" => :some}}}

  # What may be empty is read no further.
  defp sure({node, {:maybe, _now}}), do: {node, :some}
  # There may be only one group.
  defp sure({node, {:groups, group}}), do: {op("pipe", steps: [node, op("first", [])]), group}
  defp sure(sure), do: sure

  # A group may have only one item.
  defp grouped({:list, item}, names, depth, field) do
    {each, _shape} = node(item, names, depth)
    fields = %{"n" => op("map", expr: each), "sum" => op("sum", field: "id")}
    group = %{"g" => elem(item, 1)[field], "n" => :some, "sum" => :int}
    {op("group_by", field: field, as: "g", each: fields), {:groups, {:object, group}}}
  end

  defp condition(now, names, depth) do
    {left, _shape} = node(now, names, depth)
    op(Enum.random(~w(eq neq)), left: left, value: 1)
  end

  defp bare(map) when is_map(map),
    do:
      for(
        {key, value} <- map,
        value != nil or key not in ["as"],
        into: %{},
        do: {key, bare(value)}
      )

  defp bare(list) when is_list(list), do: Enum.map(list, &bare/1)
  defp bare(other), do: other

  test "random programs over random rows" do
    :rand.seed(:exsss, Environment.seed())

    {ran, reads} =
      Enum.reduce(1..Environment.cases(@cases), {0, 0}, fn _, {ran, reads} ->
        rows = {:list, object(2)}
        {node, _shape} = pipe(rows, %{}, 3)
        node = bare(op("pipe", steps: [op("load", name: "rows") | node["steps"]]))
        opts = [context: %{"rows" => value(rows)}, edition: 2]
        explain = Json.explain(%{"program" => node}, opts)

        case explain.result do
          {:ok, value, _, _} ->
            found = Enum.filter(explain.findings, &(&1.kind == :key_not_found))
            assert {node, opts[:context], found} == {node, opts[:context], []}

            {:ok, {noticed, findings}, _words} =
              Noticed.run(%Json.Run{
                program: {:checked, node},
                context: opts[:context],
                limits: {5_000, 0, 100},
                most: 2
              })

            assert noticed == value
            assert {node, Enum.filter(findings, &(&1.kind == :key_not_found))} == {node, []}
            {ran + 1, reads + length(Enum.filter(explain.operations, &(&1.op == "get")))}

          {:error, _reason} ->
            {ran, reads}
        end
      end)

    assert ran > div(Environment.cases(@cases), 2)
    assert reads > ran
  end
end
