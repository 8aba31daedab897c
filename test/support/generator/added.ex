defmodule PtcRunner.Test.Generator.Added do
  @moduledoc false
  # What edition 2 has added, for a value of each kind: from the current value, and from other values.

  import PtcRunner.Test.Generator.Template, only: [any_fields: 1, fields: 1, template: 2]
  import PtcRunner.Test.Random

  alias PtcRunner.Test.Generator.{Data, Listed, Program, Texts}

  @fields ~w(id name amount active tags nested items text at)

  @doc "A node of edition 2 that computes a value of `kind` from the current value; nil if there is none."
  @spec node(Program.kind(), Program.scope()) :: PtcRunner.Test.Random.generator(map()) | nil
  def node(kind, scope), do: made(kind, scope.current, scope)

  ## From rows

  defp made(:rows, :rows, scope) do
    one_of([
      Listed.loop(["filter", "reject"], "where", :bool, scope),
      Listed.loop(["map"], "expr", :row, scope),
      Listed.loop(["flat_map"], "expr", :rows, scope),
      Listed.sorted(scope),
      Listed.keyed(["distinct"], scope),
      %{"op" => "reverse"},
      pipe([it(), %{"op" => "chunk", "size" => integer(1..3)}, %{"op" => "flatten"}]),
      lazy(fn -> %{"op" => "set", "fields" => any_fields(Listed.item(scope))} end),
      changed(),
      Listed.join(scope),
      Listed.join(scope),
      Listed.group(scope),
      Listed.group(scope)
    ])
  end

  defp made(:row, :rows, scope) do
    one_of([
      Listed.loop(["find"], "where", :bool, scope),
      Listed.keyed(["min_by", "max_by"], scope),
      Listed.fold(:row, scope),
      lazy(fn -> %{"op" => "get", "key" => one_of([0, 1, template(:number, scope)])} end)
    ])
  end

  defp made(:number, :rows, scope) do
    one_of([
      Listed.aggregate(scope),
      Listed.aggregate(scope),
      lazy(fn -> %{"op" => "count", "where" => Program.node(:bool, Listed.item(scope))} end),
      Listed.fold(:number, scope),
      %{"op" => "length"}
    ])
  end

  defp made(:bool, :rows, scope) do
    one_of([Listed.loop(["some", "every"], "where", :bool, scope), compared(scope)])
  end

  defp made(:any, :rows, scope) do
    one_of([
      Listed.keyed(["index_by"], scope),
      %{"op" => "chunk", "size" => integer(1..3)},
      Listed.loop(["map"], "expr", :any, scope),
      Listed.loop(["flat_map"], "expr", :any, scope),
      pipe([
        it(),
        Listed.loop(["map"], "expr", :any, scope),
        %{"op" => one_of(~w(flatten reverse distinct))}
      ]),
      pipe([it(), %{"op" => "map", "expr" => entry()}, %{"op" => "from_entries"}]),
      %{"op" => "to_text"},
      Listed.fold(:any, scope),
      Listed.aggregate(scope)
    ])
  end

  ## From a row

  defp made(:row, :row, scope) do
    one_of([
      lazy(fn -> %{"op" => "set", "fields" => any_fields(scope)} end),
      changed(),
      pipe([it(), %{"op" => "entries"}, %{"op" => "from_entries"}]),
      lazy(fn -> fields(scope) end)
    ])
  end

  defp made(:rows, :row, _scope), do: one_of([%{"op" => "entries"}, get("items", [])])

  defp made(:number, :row, scope) do
    one_of([
      %{"op" => one_of(~w(abs floor ceil)), "field" => one_of(~w(amount id amount name))},
      %{"op" => "to_number", "field" => one_of(~w(text amount))},
      %{"op" => "length", "field" => field()},
      %{"op" => "date_part", "part" => Texts.part(), "field" => "at"},
      lazy(fn -> between(get("at", nil), scope) end)
    ])
  end

  defp made(:string, :row, scope) do
    one_of([
      %{"op" => one_of(~w(upper lower trim to_text)), "field" => one_of(~w(text name text id))},
      lazy(fn -> Map.put(replace(scope), "field", "text") end),
      %{"op" => "extract", "pattern" => Texts.pattern(), "field" => "text"},
      %{"op" => "date_part", "part" => Texts.part(), "field" => "at"},
      lazy(fn -> later("field", "at", scope) end)
    ])
  end

  defp made(:bool, :row, scope), do: one_of([compared(scope), searched(scope), asked(scope)])

  defp made(:any, :row, scope) do
    one_of([
      it(),
      lazy(fn -> %{"op" => "get", "key" => one_of([field(), template(:string, scope)])} end),
      lazy(fn -> %{"op" => "split", "by" => needle(scope), "field" => "text"} end),
      %{
        "op" => "extract",
        "all" => one_of([true, false, nil]),
        "pattern" => Texts.pattern(),
        "field" => "text"
      },
      made(:number, :row, scope),
      made(:string, :row, scope),
      %{"op" => "entries"}
    ])
  end

  ## From something else

  defp made(:any, :any, scope) do
    one_of([
      it(),
      %{
        "op" => one_of(~w(to_text to_number upper length entries flatten reverse trim abs floor))
      },
      %{"op" => "date_part", "part" => Texts.part()},
      %{"op" => "extract", "pattern" => Texts.pattern()},
      lazy(fn -> %{"op" => "get", "key" => template(:any, scope)} end)
    ])
  end

  defp made(:bool, current, scope) when current not in [:absent, :null],
    do: one_of([compared(scope), asked(scope)])

  defp made(_kind, _current, _scope), do: nil

  @doc "A node of edition 2 that computes a value of `kind` from others."
  @spec grown(Program.kind(), Program.scope()) :: PtcRunner.Test.Random.generator(map())
  def grown(kind, scope) do
    lazy(fn ->
      frequency([{3, chosen(kind, scope)}, {2, called(kind, scope)}, {8, of_kind(kind, scope)}])
    end)
  end

  defp chosen(kind, scope) do
    one_of([
      %{"op" => "coalesce", "values" => list_of(template(kind, scope), 0..3)},
      %{
        "op" => "switch",
        "cases" =>
          list_of(%{"when" => Program.node(:bool, scope), "then" => template(kind, scope)}, 0..2),
        "else" => maybe(70, template(kind, scope))
      }
    ])
  end

  # The arguments are computed, and the failure of the tool may be caught.
  defp called(kind, scope) do
    failed = %{scope | names: [{"error", :string} | List.keydelete(scope.names, "error", 0)]}
    tool = frequency([{6, one_of(~w(echo rows odd))}, {3, one_of(~w(fail boom throws exits))}])

    %{
      "op" => "call",
      "tool" => frequency([{20, tool}, {1, "none"}]),
      "args" => maybe(80, any_fields(scope)),
      "on_error" => maybe(60, frequency([{4, template(kind, failed)}, {1, nil}]))
    }
  end

  defp of_kind(:rows, scope) do
    one_of([
      %{"op" => "list", "items" => list_of(template(:row, scope), 0..3)},
      %{"op" => "entries", "__input" => Data.row()},
      Program.pipe(:rows, scope)
    ])
  end

  defp of_kind(:row, scope), do: one_of([fields(scope), Program.pipe(:row, scope)])

  defp of_kind(:number, scope) do
    one_of([
      %{"op" => "mod", "left" => integer(-20..20), "right" => operand(:number, scope)},
      %{"op" => one_of(~w(abs floor ceil)), "value" => operand(:number, scope)},
      %{"op" => "to_number", "value" => one_of([Texts.text(), template(:string, scope)])},
      %{"op" => "length", "value" => template(:any, scope)},
      %{"op" => "date_part", "part" => Texts.part(), "value" => date(scope)},
      between(date(scope), scope),
      from(scope)
    ])
  end

  defp of_kind(:string, scope) do
    one_of([
      %{
        "op" => "text",
        "parts" => list_of(some(scope), 0..3),
        "separator" => maybe(30, Data.string())
      },
      %{"op" => "text", "parts" => lists(scope), "separator" => ", "},
      %{
        "op" => one_of(~w(upper lower trim)),
        "value" => one_of([Texts.text(), template(:string, scope)])
      },
      %{"op" => "to_text", "value" => some(scope)},
      %{
        "op" => "to_text",
        "value" => one_of([template(:number, scope), 0.125, 2.675, -0.004, 1.0e300]),
        "decimals" => one_of([0, 1, 2, 20, maybe(50, 21)])
      },
      Map.put(replace(scope), "value", one_of([Texts.text(), template(:string, scope)])),
      later("value", date(scope), scope),
      %{"op" => "now"},
      from(scope)
    ])
  end

  defp of_kind(:bool, scope) do
    left = one_of([template(:number, scope), template(:string, scope), template(:any, scope)])

    one_of([
      %{"op" => one_of(~w(eq neq gt gte lt lte contains in)), "left" => left, "value" => left},
      %{
        "op" => one_of(~w(starts_with ends_with)),
        "left" => one_of([Texts.text(), left]),
        "value" => left
      },
      %{"op" => "matches", "left" => one_of([Texts.text(), left]), "pattern" => Texts.pattern()}
    ])
  end

  defp of_kind(:any, scope) do
    one_of([
      %{"op" => "list", "items" => list_of(template(:any, scope), 0..3)},
      %{"op" => "range", "from" => small(scope), "to" => small(scope)},
      %{"op" => "split", "by" => needle(scope), "value" => Texts.text()},
      %{"op" => "extract", "all" => true, "pattern" => Texts.pattern(), "value" => Texts.text()},
      from(scope),
      made(:any, :any, %{scope | current: :any})
    ])
  end

  # What is read from is computed.
  defp from(scope) do
    %{
      "op" => "get",
      "from" => some(scope),
      "default" => maybe(40, Data.any())
    }
    |> map(fn node ->
      one_of([
        Map.put(node, "field", field()),
        Map.put(node, "key", frequency([{3, field()}, {1, template(:any, scope)}])),
        Map.put(node, "path", list_of(field(), 0..2)),
        Map.put(node, "path", list_of(frequency([{2, field()}, {1, integer(-1..2)}]), 1..3))
      ])
    end)
  end

  ## Parts

  # Some of the fields get other names, one is dropped.
  defp changed do
    one_of([
      %{"op" => "unset", "fields" => list_of(field(), 0..3)},
      map(list_of({field(), one_of(["name", "id", "x", "amount"])}, 0..3), fn names ->
        %{"op" => "rename", "fields" => Map.new(names)}
      end)
    ])
  end

  defp entry do
    %{"key" => one_of([get("id", 0), get("name", "k"), 7]), "value" => get(field(), nil)}
  end

  defp replace(scope) do
    %{"op" => "replace", "find" => needle(scope), "with" => one_of(["", "x", "é", needle(scope)])}
  end

  defp needle(scope),
    do: frequency([{8, one_of(["a", "-", ",", " ", "é", "ab"])}, {1, text_node(scope)}])

  defp text_node(scope), do: lazy(fn -> Program.node(:string, scope) end)

  defp later(place, from, scope) do
    %{
      "op" => "date_add",
      place => from,
      "amount" => frequency([{6, integer(-14..40)}, {1, template(:number, scope)}]),
      "unit" => Texts.unit()
    }
  end

  defp between(from, scope) do
    %{
      "op" => "date_diff",
      "from" => one_of([from, date(scope)]),
      "to" => one_of([from, date(scope)]),
      "unit" => Texts.unit()
    }
  end

  defp date(%{current: :row} = scope) do
    frequency([
      {3, Texts.date_text()},
      {2, get("at", nil)},
      {1, %{"op" => "now"}},
      {1, text_node(scope)}
    ])
  end

  defp date(_scope), do: frequency([{3, Texts.date_text()}, {1, %{"op" => "now"}}, {1, nil}])

  # Comparisons of computed values, and searches in texts.
  defp compared(scope) do
    kind = one_of([:number, :string, :any])

    map(kind, fn kind ->
      %{
        "op" => one_of(~w(eq neq gt gte lt lte contains in)),
        "left" => template(kind, scope),
        "value" => template(kind, scope)
      }
    end)
  end

  defp asked(scope) do
    one_of([
      %{"op" => "in", "field" => one_of([nil, field()]), "value" => list_of(Data.any(), 0..4)},
      %{"op" => "in", "field" => field(), "value" => template(:any, scope)},
      %{"op" => one_of(~w(gt gte lt lte)), "field" => field(), "value" => template(:any, scope)}
    ])
  end

  defp searched(scope) do
    one_of([
      %{"op" => one_of(~w(starts_with ends_with)), "field" => "text", "value" => needle(scope)},
      %{"op" => "matches", "field" => one_of(["text", "name"]), "pattern" => Texts.pattern()}
    ])
  end

  # A template of any kind.
  defp some(scope), do: map(one_of([:number, :string, :any, :row, :rows]), &template(&1, scope))

  defp operand(kind, scope), do: frequency([{3, Program.node(kind, scope)}, {1, integer(-7..7)}])
  # The limits of a range are small, also those that are computed: the oracle has no heap limit.
  defp small(scope) do
    computed = map(template(:number, scope), &%{"op" => "mod", "left" => &1, "right" => 6})
    frequency([{6, integer(-2..5)}, {1, computed}])
  end

  defp pipe(steps), do: %{"op" => "pipe", "steps" => steps}
  defp it, do: %{"op" => "it"}
  defp field, do: frequency([{10, one_of(@fields)}, {1, "nope"}])
  defp get(field, default), do: %{"op" => "get", "field" => field, "default" => default}

  # Nodes that give lists, and some that may give something else.
  defp lists(scope) do
    one_of([
      %{"op" => "list", "items" => list_of(some(scope), 0..3)},
      %{"op" => "split", "by" => needle(scope), "value" => Texts.text()},
      %{"op" => "concat", "lists" => [list_of(some(scope), 0..2), [1, nil]]},
      %{"op" => "coalesce", "values" => [some(scope), []]}
    ])
  end
end
