defmodule PtcRunner.Json.CheckDatesTest do
  # What a check knows of dates and times: those of samples, and those that are declared.
  use ExUnit.Case, async: true

  alias PtcRunner.Json

  @rows [
    %{"d" => ~D[2024-02-29], "c" => ~T[10:30:00], "at" => ~U[2024-02-29 10:30:00Z], "n" => 1},
    %{"d" => ~D[2024-04-01], "c" => ~T[11:30:00], "at" => ~U[2024-04-01 10:30:00Z], "n" => 2}
  ]

  defp over(steps),
    do: %{
      "program" => %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => "rows"} | steps]}
    }

  defp checked(step, opts \\ []) do
    opts = Keyword.merge([context: %{"rows" => {:sample, @rows}}, structs: :values], opts)

    case Json.check(over([step]), opts) do
      {:ok, checked} -> {:ok, Enum.map(checked.warnings, & &1.message)}
      {:error, findings} -> {:error, Enum.map(findings, & &1.message)}
    end
  end

  defp ran(step) do
    case Json.run(over([step]), context: %{"rows" => @rows}, structs: :values) do
      {:ok, value, _, _} -> {:ok, value}
      {:error, _reason} -> :error
    end
  end

  defp where(op, field, value),
    do: %{"op" => "filter", "where" => %{"op" => op, "field" => field, "value" => value}}

  test "a date beside a text that is none" do
    for op <- ~w(gt gte lt lte), field <- ~w(d c at) do
      for text <- ["March", "02/29/2024", "2024-13", "", "2024-02-30", "yesterday"] do
        {:ok, [message]} = checked(where(op, field, text))

        assert message ==
                 "#{op} compares field '#{field}', which is a date or a time, with #{inspect(text)}, " <>
                   ~s(which is none. One is written as "2024-02-29" or "2024-02-29T10:30:00Z")

        assert {:ok, []} = ran(where(op, field, text))
      end

      # What a date or a time begins with is compared with its beginning.
      for text <- ["2024", "2024-03", "2024-02-29", "10:30", "2024-02-29T10"],
          do:
            assert(
              {op, field, text, checked(where(op, field, text))} == {op, field, text, {:ok, []}}
            )
    end

    # A beginning is no date that another one is equal to.
    for {op, kept} <- [{"eq", 0}, {"neq", 2}], text <- ["2024-02", "March"] do
      assert {:ok, [_one]} = checked(where(op, "d", text))
      assert {:ok, rows} = ran(where(op, "d", text))
      assert length(rows) == kept
    end

    assert checked(where("eq", "d", "2024-02-29")) == {:ok, []}
    turned = %{"op" => "gt", "left" => "March", "value" => %{"op" => "get", "field" => "d"}}
    assert {:ok, ["gt compares 'value'," <> _]} = checked(%{"op" => "filter", "where" => turned})
  end

  test "of texts, and where structs are objects, nothing is said" do
    texts = Json.Codec.decode!(Json.Codec.encode!(@rows))
    assert checked(where("gt", "d", "March"), context: %{"rows" => {:sample, texts}}) == {:ok, []}
    assert checked(where("gt", "d", "March"), structs: :maps) == {:ok, []}
    # A date may be missing.
    rows = [%{"d" => nil} | @rows]
    context = %{"rows" => {:sample, rows}}
    assert {:ok, [_one]} = checked(where("gt", "d", "March"), context: context)
  end

  test "a declared date is one" do
    context = %{"rows" => "[{d :datetime, n :int}]"}
    assert {:ok, [_one]} = checked(where("gt", "d", "March"), context: context)
    assert checked(where("gt", "d", "2024-03"), context: context) == {:ok, []}
  end

  test "numbers of dates" do
    for op <- ~w(avg median), field <- ~w(d c at) do
      step = %{"op" => op, "field" => field}

      assert checked(step) ==
               {:ok,
                ["#{op} needs numbers in field '#{field}' of the items, which are dates or times"]}

      assert ran(step) == {:ok, nil}
    end

    step = %{"op" => "sum", "field" => "d"}

    assert checked(step) ==
             {:error, ["sum needs numbers in field 'd' of the items, which are dates or times"]}

    assert ran(step) == :error

    step = %{
      "op" => "map",
      "expr" => %{"op" => "add", "left" => %{"op" => "get", "field" => "d"}, "right" => 1}
    }

    assert {:error, ["add needs a number in 'left', which is a date or a time"]} = checked(step)
    assert ran(step) == :error

    assert checked(where("gt", "d", 5)) ==
             {:ok,
              ["gt is always false: field 'd' is a date or a time, and is compared with a number"]}

    assert ran(where("gt", "d", 5)) == {:ok, []}
  end

  test "right programs have no finding" do
    get = fn field -> %{"op" => "get", "field" => field} end

    for step <- [
          %{"op" => "max", "field" => "d"},
          %{"op" => "sort_by", "field" => "at"},
          %{"op" => "group_by", "field" => "d"},
          %{"op" => "index_by", "field" => "d"},
          %{"op" => "distinct", "field" => "c"},
          %{"op" => "map", "expr" => %{"op" => "date_part", "field" => "d", "part" => "month"}},
          %{
            "op" => "map",
            "expr" => %{"op" => "date_add", "field" => "d", "amount" => 1, "unit" => "day"}
          },
          %{
            "op" => "map",
            "expr" => %{
              "op" => "date_diff",
              "from" => get.("d"),
              "to" => get.("at"),
              "unit" => "day"
            }
          },
          %{"op" => "map", "expr" => %{"op" => "text", "parts" => [get.("d"), "/", get.("c")]}},
          %{"op" => "map", "expr" => %{"op" => "split", "field" => "d", "by" => "-"}},
          %{"op" => "map", "expr" => %{"op" => "length", "field" => "d"}},
          where("starts_with", "d", "2024-02"),
          where("contains", "at", "T10"),
          where("in", "d", ["2024-02-29"]),
          %{"op" => "filter_in", "field" => "d", "value" => ["2024-02-29"]}
        ] do
      assert {step, checked(step)} == {step, {:ok, []}}
      assert {:ok, _value} = ran(step)
    end
  end
end
