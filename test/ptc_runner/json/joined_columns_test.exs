defmodule PtcRunner.Json.JoinedColumnsTest do
  # A loop behind a join that reads its rows by field gets them in two parts. Here its result is compared with Elixir's.
  use ExUnit.Case, async: true

  alias PtcRunner.Json

  @column %{
    "op" => "set",
    "fields" => %{
      "net" => %{
        "op" => "mul",
        "left" => %{"op" => "get", "field" => "n"},
        "right" => %{"op" => "get", "field" => "d"}
      }
    }
  }

  defp program(join, step) do
    join = Map.merge(%{"op" => "join", "with" => %{"op" => "load", "name" => "with"}}, join)
    steps = [%{"op" => "load", "name" => "rows"}, join, step]
    %{"program" => %{"op" => "pipe", "steps" => steps}}
  end

  defp run(program, rows, others, options \\ []) do
    context = %{"rows" => rows, "with" => others}
    defaults = [context: context, edition: 2, max_heap: 0, timeout: :infinity]
    {:ok, value, _delta, _memory} = Json.run(program, options ++ defaults)
    value
  end

  # Rows with and without a key that the others have, and some that are no flat maps.
  defp row(n) when rem(n, 50) == 0,
    do: Map.merge(Map.new(1..40, &{"k#{&1}", &1}), %{"id" => n, "n" => n / 2})

  defp row(n) when rem(n, 3) == 0, do: %{"id" => n, "n" => n}
  defp row(n), do: %{"id" => n, "n" => n / 2, "own" => n}

  defp other(n), do: %{"id" => n, "d" => rem(n, 7), "own" => "other"}

  for keys <- [:strings, :any], structs <- [:maps, :values] do
    test "a computed column, keys: #{inspect(keys)}, structs: #{inspect(structs)}" do
      for count <- [0, 1, 3, 200, 5_000] do
        rows = for n <- 1..count//1, do: row(n)
        others = for n <- count..1//-1, do: other(n)

        expected =
          for %{"id" => id, "n" => n} = row <- rows do
            other(id) |> Map.merge(row) |> Map.put("net", n * rem(id, 7))
          end

        options = [keys: unquote(keys), structs: unquote(structs)]
        assert run(program(%{"on" => "id"}, @column), rows, others, options) === expected
      end
    end
  end

  test "a column of rows without a match" do
    rows = for n <- 1..200, do: row(n)
    others = for n <- 1..200//2, do: other(n)

    step = %{
      "op" => "set",
      "fields" => %{"d" => %{"op" => "get", "field" => "d", "default" => 0}}
    }

    expected =
      for %{"id" => id} = row <- rows do
        if rem(id, 2) == 1, do: Map.merge(other(id), row), else: Map.put(row, "d", 0)
      end

    assert run(program(%{"on" => "id", "kind" => "left"}, step), rows, others) === expected
  end

  test "new maps with fields of both" do
    rows = for n <- 1..200, do: row(n)
    others = for n <- 1..200, do: other(n)
    get = &%{"op" => "get", "field" => &1}
    step = %{"op" => "map", "expr" => %{"a" => get.("own"), "b" => [get.("d"), get.("none")]}}

    expected =
      for %{"id" => id} = row <- rows,
          do: %{"a" => Map.get(row, "own", "other"), "b" => [rem(id, 7), nil]}

    assert run(program(%{"on" => "id"}, step), rows, others) === expected
  end

  test "with atoms as keys, a field of the row wins over one of its match in the other form" do
    step = %{"op" => "set", "fields" => %{"x" => %{"op" => "get", "field" => "name"}}}
    rows = [%{id: 1, name: "atom"}]
    others = [%{"id" => 1, "name" => "string"}]
    assert [joined] = run(program(%{"on" => "id"}, step), rows, others, keys: :any)
    assert joined == %{:id => 1, :name => "atom", "x" => "atom"}
  end

  test "a row that cannot be computed is an error, as if the rows were built" do
    rows = [%{"id" => 1, "n" => "text"}]
    named = %{"on" => "id", "as" => "m"}
    nested = put_in(@column, ["fields", "net", "right"], 2)

    for {join, step} <- [{%{"on" => "id"}, @column}, {named, nested}] do
      options = [context: %{"rows" => rows, "with" => [other(1)]}, edition: 2]
      assert {:error, {:execution_error, message}} = Json.run(program(join, step), options)
      assert message =~ "text"
    end
  end
end
