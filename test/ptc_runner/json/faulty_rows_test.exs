defmodule PtcRunner.Json.FaultyRowsTest do
  # One bad row among many, with default options: a run is then suspended after 256 steps, wherever it
  # is. The answer must be the oracle's.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Test.Oracle

  @orders %{"op" => "load", "name" => "orders"}
  @input %{"op" => "var", "name" => "__input"}

  defp pipe(steps), do: %{"op" => "pipe", "steps" => steps}
  defp get(field), do: %{"op" => "get", "field" => field}
  defp map(expr), do: %{"op" => "map", "expr" => expr}
  defp filter(where), do: %{"op" => "filter", "where" => where}
  defp reject(where), do: %{"op" => "reject", "where" => where}
  defp sum(field), do: %{"op" => "sum", "field" => field}
  defp compare(op, field, value), do: %{"op" => op, "field" => field, "value" => value}
  defp lines(steps), do: pipe([@input, get("lines") | steps])

  defp programs do
    not_none = %{"op" => "not", "condition" => get("none")}

    # The bad row's `v` is no list of maps with numbers, its `lines` has such a map.
    bodies = [
      lines([map(get("v")), sum("a")]),
      lines([filter(get("v")), %{"op" => "count"}]),
      lines([filter(compare("gt", "q", 0)), sum("q")]),
      lines([reject(compare("lt", "q", 0)), sum("q")]),
      lines([
        filter(%{
          "op" => "and",
          "conditions" => [compare("gt", "q", 0), compare("neq", "q", 7)]
        }),
        sum("q")
      ]),
      lines([filter(not_none), sum("q")]),
      lines([map(%{"q" => get("q")}), sum("q")]),
      lines([map(%{"op" => "add", "left" => get("q"), "right" => 1}), %{"op" => "last"}]),
      lines([
        %{"op" => "sort_by", "field" => "q"},
        map(%{"op" => "add", "left" => get("q"), "right" => 1})
      ]),
      lines([sum("q")])
    ]

    nested =
      for body <- bodies,
          around <- [
            map(%{"best" => get("id"), "total" => body}),
            filter(%{"op" => "gt", "value" => body}),
            reject(body)
          ] do
        %{"n" => pipe([@orders, %{"op" => "count"}]), "per" => pipe([@orders, around])}
      end

    in_one_list =
      for steps <- [
            [sum("a")],
            [filter(not_none), sum("a")],
            [reject(compare("eq", "id", -1)), sum("a")],
            [filter(compare("gte", "id", 0)), sum("a")],
            [map(%{"a" => get("a")}), sum("a")],
            [map(%{"op" => "mul", "left" => get("a"), "right" => 2}), %{"op" => "count"}],
            [map(%{"op" => "mul", "left" => get("a"), "right" => 2}), %{"op" => "first"}]
          ],
          do: %{"n" => pipe([@orders, %{"op" => "count"}]), "x" => pipe([@orders | steps])}

    nested ++ in_one_list
  end

  defp row(id), do: %{"id" => id, "a" => id, "v" => 1, "lines" => [%{"q" => 1}, %{"q" => id}]}

  defp bad(id, 0), do: %{row(id) | "a" => "12.50", "lines" => [%{"q" => 1}, %{"q" => "12.50"}]}

  defp bad(id, 1),
    do: %{row(id) | "a" => [1], "lines" => [%{"q" => 1}, 5, %{"v" => %{"a" => "x"}}]}

  defp bad(id, 2), do: %{row(id) | "lines" => [%{"v" => %{"a" => "12.50"}} | :improper]}
  defp bad(_id, 3), do: 17

  @tag timeout: 300_000
  test "a sweep over 10 to 200 rows" do
    for program <- programs(), count <- sizes(), kind <- 0..3 do
      at = rem(count * 7 + kind, count)
      rows = for id <- 1..count, do: if(id == at + 1, do: bad(id, kind), else: row(id))
      assert_agreement(program, %{"orders" => rows})
    end
  end

  # Each size from 30 to 50, where most of these runs are suspended, and some of the others.
  defp sizes,
    do: Enum.to_list(30..50) ++ Enum.take_every(10..29, 3) ++ Enum.take_every(51..200, 13)

  test "a report over groups of orders, of which one has a text among its amounts" do
    total = pipe([@input, map(get("v")), sum("a")])

    report = %{
      "n" => pipe([@orders, %{"op" => "count"}]),
      "per_customer" => pipe([@orders, map(%{"best" => %{"op" => "first"}, "total" => total})])
    }

    {:ok, compiled} = Json.compile(%{"program" => report})
    text = "sum requires numeric values, got \"12.50\""

    for count <- 10..200, at <- [0, div(count, 2), count - 1] do
      groups = for id <- 1..count, do: [%{"v" => %{"a" => id}}, %{"v" => %{"a" => 1}}]
      groups = List.replace_at(groups, at, [%{"v" => %{"a" => "12.50"}}])

      for program <- [compiled, %{"program" => report}] do
        assert Json.run(program, context: %{"orders" => groups}) ==
                 {:error, {:execution_error, text}}
      end
    end
  end

  defp assert_agreement(program, context) do
    expected = Oracle.run(program, context, %{}, %{}, edition: 2)
    answer = Json.run(%{"program" => program}, context: context)
    assert answer == expected, "#{inspect(program)} over #{length(context["orders"])} rows"
  end
end
