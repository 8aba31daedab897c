defmodule PtcRunner.Json.CheckLargeTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Json

  defp text(program), do: Json.Codec.encode!(%{"program" => program})

  test "an object type that was given is returned as it was given" do
    type =
      {:map, [{"z", :int}, {"a", {:optional, :string}}, {"m", {:list, {:map, [{"q", :float}]}}}]}

    program = text(%{"op" => "pipe", "steps" => [%{"op" => "load", "name" => "x"}]})
    assert {:ok, %{type: ^type}} = Json.check(program, context: %{"x" => type})
    # What is written in another way is returned in the usual way.
    odd = {:closed_map, [{"z", :number}, {"a", :boolean}]}

    assert {:ok, %{type: {:map, [{"a", :bool}, {"z", :float}]}}} =
             Json.check(program, context: %{"x" => odd})

    wrong = {:map, [{"z", :what}, {"a", {:b, :c, :d}}]}

    assert {:ok, %{type: {:map, [{"a", :any}, {"z", :any}]}}} =
             Json.check(program, context: %{"x" => wrong})

    twice = {:map, [{"a", :int}, {"a", :string}]}
    assert {:ok, %{type: {:map, [{"a", :int}]}}} = Json.check(program, context: %{"x" => twice})
  end

  test "many findings with long texts, in the order of the program, with their places" do
    names = for n <- 1..300, do: "#{n}#{String.duplicate("ä", 400)}"
    fields = for n <- 1..2_000, do: {"field#{n}#{String.duplicate("x", 200)}", :int}

    steps =
      for name <- names,
          do: %{"op" => "map", "expr" => %{"op" => "get", "field" => name}}

    parts = Map.new(Enum.with_index(steps), fn {step, n} -> {"p#{1_000 + n}", pipe([step])} end)
    context = %{"rows" => {:list, {:map, fields}}}
    assert {:error, findings} = Json.check(text(parts), context: context)
    assert length(findings) == 300
    assert length(Enum.uniq_by(findings, & &1.path)) == 300
    assert Enum.all?(findings, &(&1.code == :unknown_field and &1.line == 1))
    columns = Enum.map(findings, & &1.column)
    assert columns == columns |> Enum.sort() |> Enum.uniq()
  end

  defp pipe(steps),
    do: %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => "rows"} | steps]}

  test "large types" do
    fields =
      for n <- 1..4_000, do: {"field#{n}", if(rem(n, 2) == 0, do: :int, else: {:literal, n})}

    wide = {:list, {:map, fields}}
    program = text(pipe([%{"op" => "set", "fields" => %{"more" => 1}}]))
    assert {:ok, checked} = Json.check(program, context: %{"rows" => wide})
    assert checked.type == {:list, :any}
    assert length(checked.reads) == 1_000
    long = {:list, {:map, [{String.duplicate("n", 5_000_000), :int}, {"a", :int}]}}
    sum = &text(pipe([%{"op" => "sum", "field" => &1}]))
    assert {:ok, _} = Json.check(sum.("other"), context: %{"rows" => long})
    assert {:ok, _} = Json.check(sum.("a"), context: %{"rows" => long})
    returns = {:list, {:map, for(n <- 1..4_000, do: {"other_#{n}", :int})}}

    assert {:error, findings} =
             Json.check(text(pipe([])), context: %{"rows" => wide}, returns: returns)

    assert length(findings) in 1..20
  end

  test "the place of a mistake in a large text" do
    parts = for n <- 1..20_000, do: %{"op" => "literal", "value" => n}
    wrong = parts ++ [%{"op" => "nothing"}]
    assert {:error, [finding]} = Json.check(text(%{"op" => "concat", "lists" => wrong}), [])
    assert finding.code == :invalid
    assert {finding.line, is_integer(finding.column)} == {1, true}
  end
end
