defmodule PtcRunner.Json.PlanLimitsTest do
  # What runs with default limits is planned, checked and explained with them, as a text, as a map and compiled.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.Codec

  # With PTC_CASES programs are as wide as a default limit lets them.
  @wide if PtcRunner.Test.Environment.many?(), do: 20_000, else: 2_000

  @long if PtcRunner.Test.Environment.many?(), do: 5_000, else: 2_500

  @rows %{"op" => "load", "name" => "rows"}
  @context %{"rows" => [%{"id" => 1, "n" => 2}, %{"id" => 2, "n" => nil}]}
  @types %{"rows" => "[{id :int, n :int?}]"}

  defp op(op, fields \\ []),
    do: Map.put(Map.new(fields, fn {k, v} -> {to_string(k), v} end), "op", op)

  defp get(field), do: op("get", field: field)
  defp is(field, value), do: op("eq", field: field, value: value)
  defp steps(steps), do: op("pipe", steps: [@rows | steps])
  defp first(step), do: steps([op("first"), step])

  defp nested(depth, inner, around),
    do: Enum.reduce(1..depth//1, inner, fn _, node -> around.(node) end)

  defp cases(count, of), do: op("switch", cases: Enum.map(1..count//1, of), else: 7)

  # Deep and wide programs. Findings at each depth have paths of their own.
  defp deep(n) do
    [
      nested(
        n,
        op("literal", value: 1),
        &op("switch", cases: [%{"when" => is("id", 7), "then" => get("n")}], else: &1)
      )
      |> first(),
      nested(n, get("id"), &op("if", condition: is("id", 7), then: 1, else: &1)) |> first(),
      nested(n, op("literal", value: 1), &op("not", condition: &1)),
      nested(n, op("literal", value: 1), &op("add", left: &1, right: 1)),
      nested(
        n,
        op("var", name: "x"),
        &op("let", name: "x", value: op("coalesce", values: [op("load", name: "y"), 1]), in: &1)
      )
    ]
  end

  defp wide(n) do
    [
      op("list", items: List.duplicate(op("literal", value: 1), n)),
      op("object", fields: Map.new(1..n, &{"k#{&1}", op("literal", value: &1)})),
      cases(n, &%{"when" => op("eq", left: 0, value: &1), "then" => &1}),
      cases(n, &%{"when" => is("id", -&1), "then" => %{"a#{&1}" => get("id")}}) |> first(),
      op("coalesce", values: List.duplicate(get("n"), n)) |> first(),
      op("call", tool: "t", args: %{"x" => List.duplicate(op("literal", value: 1), n)})
    ]
  end

  # Values that grow with each step would have as many parts as the square of their number.
  defp long(n) do
    [
      steps(List.duplicate(op("filter", where: op("gt", field: "id", value: 0)), n)),
      steps(List.duplicate(op("group_by", field: "id"), n)),
      steps(Enum.map(1..n, &op("unset", fields: ["f#{&1}"]))),
      steps(Enum.map(1..n, &op("rename", fields: %{"f#{&1}" => "g#{&1}"}))),
      op("merge", objects: Enum.map(1..n, &%{"k#{&1}" => get("id")})) |> first()
    ]
  end

  defp tools, do: %{"t" => fn _ -> 1 end}

  defp holds!(node, forms) do
    program = %{"program" => node}
    {:ok, text} = Codec.encode(program, max_heap: 0, timeout: :infinity)

    for form <- forms do
      program =
        case form do
          :text -> text
          :map -> program
          :compiled -> text |> Json.compile() |> elem(1)
        end

      opts = [context: @context, tools: tools()]
      about = "#{form}: #{String.slice(text, 0, 300)}"
      assert {:ok, value, _, _} = Json.run(program, opts), about
      assert {:ok, ^value, _, _} = Json.run(program, [firewall: true] ++ opts), about
      assert {:ok, plan} = Json.plan(program, opts), about
      assert plan.result.from != ["unknown"]
      assert %Json.Explain{result: {:ok, ^value, _, _}} = Json.explain(program, opts), about

      # Fields that no row has are findings; a limit is none.
      case Json.check(program, context: @types) do
        {:ok, _checked} -> :ok
        {:error, findings} -> refute Enum.any?(findings, &(&1.code == :invalid)), about
      end
    end
  end

  @tag timeout: 600_000
  test "deep programs" do
    for n <- [900, 4_500], node <- deep(n), do: holds!(node, [:text])
    for node <- deep(900), do: holds!(node, [:map, :compiled])
  end

  @tag timeout: 600_000
  test "wide programs" do
    for node <- wide(@wide), do: holds!(node, [:text])
    for node <- wide(div(@wide, 4)), do: holds!(node, [:map, :compiled])
  end

  @tag timeout: 600_000
  test "long programs" do
    for n <- [1_000, @long], node <- long(n), do: holds!(node, [:text])
    for node <- long(1_000), do: holds!(node, [:map])
  end

  test "paths of findings have at most 65 parts; an operation whose path is not whole has no type in an explanation" do
    [node | _] = deep(900)
    {:ok, text} = Codec.encode(%{"program" => node})
    {:ok, checked} = Json.check(text, context: @types)
    lengths = for finding <- checked.warnings, do: length(finding.path)
    assert Enum.max(lengths, fn -> 0 end) <= 65

    explained = Json.explain(text, context: @context, check: [context: @types])
    assert {:ok, _, _, _} = explained.result

    for %{path: path, type: type} <- explained.operations do
      assert length(path) <= 65
      if length(path) == 65, do: assert(type == nil)
    end

    assert Enum.at(explained.operations, 2).type != nil
  end
end
