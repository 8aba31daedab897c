defmodule PtcRunner.Test.Generator.Typed do
  @moduledoc """
  Random typed data, and programs that are right for it: each step is generated for the columns that the rows have there. One
  fault can be put in.
  """

  @typedoc "Signatures of the context, the tools and the result, data for them, and a program."
  @type typed_case :: %{
          program: map(),
          types: %{String.t() => String.t()},
          context: map(),
          tools: map(),
          returns: String.t(),
          edition: 1 | 2
        }

  @names ~w(amount category price quantity status country discount created_on customer weight)
  @words ~w(open closed Rome Oslo red blue)
  @scalars [":int", ":float", ":string", ":bool", ":int?", ":string?", "[:string]", "{zip :int}"]

  @faults [
    :unknown_field,
    :text_arithmetic,
    :sum_of_text,
    :list_operation,
    :field_of_number,
    :missing_argument,
    :unknown_argument,
    :wrong_argument,
    :wrong_result,
    :unknown_name,
    :unknown_tool,
    :no_input
  ]

  @doc "The kinds of faults."
  @spec faults() :: [atom()]
  def faults, do: @faults

  @doc "Case number `n` of a seed; the same with a fault."
  @spec typed_case(integer(), integer(), atom() | nil) :: typed_case()
  def typed_case(seed, n, fault \\ nil) do
    _state = :rand.seed(:exsss, {seed, n, 7})
    edition = Enum.random([1, 2])
    # There is always a number and a text.
    columns = [{"id", ":int"}, {"name", ":string"} | columns()]
    rows = for _ <- 1..Enum.random([1, 2, 5, 20]), do: row(columns)

    {steps, last} = steps(Enum.random(0..4), columns, edition, [])
    {final, returns} = final(last)
    load = %{"op" => "load", "name" => "rows"}
    steps = [load | Enum.reverse(steps)] ++ final

    typed = %{
      program: pipe(steps),
      types: %{"rows" => "[#{object(columns)}]", "n" => ":int"},
      context: %{"rows" => rows, "n" => 3},
      tools: %{
        "user" =>
          {fn _args -> %{"name" => "Ada"} end, "(id :int, note :string?) -> {name :string}"}
      },
      returns: returns,
      edition: edition
    }

    if fault, do: put(fault, typed, last, Enum.drop(steps, -length(final))), else: typed
  end

  defp pipe(steps), do: %{"op" => "pipe", "steps" => steps}

  defp columns do
    for name <- Enum.take_random(@names, Enum.random(1..6)), do: {name, Enum.random(@scalars)}
  end

  defp object(columns), do: "{#{Enum.map_join(columns, ", ", fn {n, t} -> "#{n} #{t}" end)}}"

  defp row(columns) do
    for {name, type} <- columns, value = value(type), value != :missing, into: %{} do
      {name, if(value == :null, do: nil, else: value)}
    end
  end

  defp value(":int"), do: Enum.random(-5..100)
  defp value(":float"), do: Enum.random([0.5, 2.0, -3.25, 7])
  defp value(":string"), do: Enum.random(@words)
  defp value(":bool"), do: if(:rand.uniform(2) == 1, do: true, else: :null) |> boolean()
  defp value("[:string]"), do: Enum.take_random(@words, Enum.random(0..2))
  defp value("{zip :int}"), do: %{"zip" => Enum.random(1..9)}

  defp value(optional) do
    case :rand.uniform(4) do
      1 -> :missing
      2 -> :null
      _ -> value(String.trim_trailing(optional, "?"))
    end
  end

  # `for` filters by truth, so false is made of another value.
  defp boolean(:null), do: Enum.random([true, true])
  defp boolean(true), do: true

  defp steps(0, columns, _edition, done), do: {done, columns}

  defp steps(n, columns, edition, done) do
    {step, columns} = step(columns, edition)
    steps(n - 1, columns, edition, [step | done])
  end

  defp step(columns, edition) do
    case Enum.random(1..if(edition == 2, do: 10, else: 7)) do
      1 -> {%{"op" => "filter", "where" => condition(columns)}, columns}
      2 -> {%{"op" => "reject", "where" => condition(columns)}, columns}
      3 -> {%{"op" => "sort_by", "field" => column(columns)}, columns}
      4 -> {%{"op" => "take", "count" => Enum.random(1..9)}, columns}
      5 -> {%{"op" => "distinct"}, columns}
      6 -> select(columns)
      7 -> mapped(columns)
      8 -> set(columns)
      9 -> group(columns)
      10 -> join(columns)
    end
  end

  defp column(columns), do: columns |> Enum.random() |> elem(0)

  defp of_type(columns, types), do: for({name, type} <- columns, type in types, do: name)

  defp get(name), do: %{"op" => "get", "field" => name}

  defp condition(columns) do
    {name, type} = Enum.random(columns)

    case type do
      type when type in [":int", ":float", ":int?"] ->
        %{
          "op" => Enum.random(~w(gt lt gte lte eq neq)),
          "field" => name,
          "value" => Enum.random(0..50)
        }

      type when type in [":string", ":string?"] ->
        %{"op" => Enum.random(~w(eq neq)), "field" => name, "value" => Enum.random(@words)}

      ":bool" ->
        %{"op" => "eq", "field" => name, "value" => true}

      "[:string]" ->
        %{"op" => "contains", "field" => name, "value" => Enum.random(@words)}

      _object ->
        left = %{"op" => "gt", "field" => "id", "value" => 3}

        if List.keymember?(columns, "id", 0),
          do: %{"op" => "not", "condition" => left},
          else: %{"op" => "literal", "value" => true}
    end
  end

  defp select(columns) do
    kept = Enum.take_random(columns, Enum.random(1..length(columns)))
    # The steps need a number and a text.
    kept = Enum.uniq(Enum.filter(columns, &(elem(&1, 0) in ["id", "name"])) ++ kept)
    {%{"op" => "select", "fields" => Enum.map(kept, &elem(&1, 0))}, kept}
  end

  defp mapped(columns) do
    fields = %{"id" => get("id"), "name" => get("name"), "twice" => twice(columns)}

    {%{"op" => "map", "expr" => %{"op" => "object", "fields" => fields}},
     [{"id", ":int"}, {"name", ":string"}, {"twice", ":float"}]}
  end

  defp twice(columns) do
    number = columns |> of_type([":int", ":float"]) |> Enum.random()

    %{
      "op" => Enum.random(~w(add sub mul)),
      "left" => get(number),
      "right" => Enum.random([1, 2, 0.5])
    }
  end

  defp set(columns),
    do:
      {%{"op" => "set", "fields" => %{"twice" => twice(columns)}},
       List.keystore(columns, "twice", 0, {"twice", ":float"})}

  defp group(columns) do
    [number | _] = columns |> of_type([":int", ":float"]) |> Enum.shuffle()
    each = %{"id" => %{"op" => "count"}, "total" => %{"op" => "sum", "field" => number}}

    {%{"op" => "group_by", "field" => "name", "each" => each},
     [{"name", ":string"}, {"id", ":int"}, {"total", ":float"}]}
  end

  defp join(columns) do
    with_rows = for id <- 1..5, do: %{"of" => id, "label" => Enum.random(@words)}

    step = %{
      "op" => "join",
      "with" => with_rows,
      "left" => "id",
      "right" => "of",
      "as" => "other"
    }

    {step, List.keystore(columns, "other", 0, {"other", ":any"})}
  end

  defp final(columns) do
    number = columns |> of_type([":int", ":float"]) |> Enum.random()
    {name, type} = Enum.random(columns)

    Enum.random([
      {[%{"op" => "count"}], ":int"},
      {[%{"op" => "sum", "field" => number}], ":float"},
      {[%{"op" => "map", "expr" => get(name)}], "[#{String.trim_trailing(type, "?")}?]"},
      {[%{"op" => "map", "expr" => get("id")}, %{"op" => "first"}], ":int?"},
      {[%{"op" => "max_by", "field" => number}, get(name)],
       String.trim_trailing(type, "?") <> "?"},
      {[%{"op" => "map", "expr" => %{"op" => "call", "tool" => "user", "args" => %{"id" => 1}}}],
       "[{name :string}]"},
      {[], "[#{object(columns)}]"}
    ])
  end

  ## Faults

  defp put(:wrong_result, typed, _last, steps),
    do: %{
      typed
      | program: pipe(steps ++ [%{"op" => "count"}]),
        returns: Enum.random([":string", "[:int]", "{a :int}", ":bool"])
    }

  defp put(:wrong_argument, typed, _last, steps) do
    id = Enum.random([[1], %{"a" => 1}, true, "seven"])
    %{typed | program: pipe(steps ++ [call("user", %{"id" => id})]), returns: ":any"}
  end

  defp put(fault, typed, last, steps),
    do: %{typed | program: pipe(faulty(fault, steps, last)), returns: ":any"}

  defp faulty(:unknown_field, steps, _last) do
    steps ++
      [
        Enum.random([
          %{"op" => "filter", "where" => %{"op" => "eq", "field" => "nmae", "value" => "x"}},
          %{"op" => "sum", "field" => "idd"},
          %{"op" => "sort_by", "field" => "nam"},
          %{"op" => "map", "expr" => get("idx")},
          %{"op" => "select", "fields" => ["id", "nmae"]}
        ])
      ]
  end

  defp faulty(:text_arithmetic, steps, _last) do
    sum = %{"op" => Enum.random(~w(add sub mul div)), "left" => get("name"), "right" => 1}
    steps ++ [%{"op" => "map", "expr" => sum}]
  end

  defp faulty(:sum_of_text, steps, _last),
    do: steps ++ [%{"op" => "sum", "field" => "name"}]

  defp faulty(:list_operation, steps, _last) do
    last =
      Enum.random([
        %{"op" => "count"},
        %{"op" => "first"},
        %{"op" => "take", "count" => 1},
        %{"op" => "sum", "field" => "id"},
        %{"op" => "sort_by", "field" => "id"}
      ])

    steps ++ [%{"op" => "count"}, last]
  end

  defp faulty(:field_of_number, steps, _last), do: steps ++ [%{"op" => "count"}, get("id")]
  defp faulty(:missing_argument, steps, _last), do: steps ++ [call("user", %{"note" => "x"})]

  defp faulty(:unknown_argument, steps, _last),
    do: steps ++ [call("user", %{"id" => 1, "idd" => 2})]

  defp faulty(:unknown_tool, steps, _last), do: steps ++ [call("usr", %{"id" => 1})]

  defp faulty(:unknown_name, [_load | steps], _last),
    do: [%{"op" => "load", "name" => "rosw"} | steps]

  defp faulty(:no_input, _steps, _last),
    do: [Enum.random([%{"op" => "count"}, %{"op" => "sum", "field" => "id"}])]

  defp call(tool, args), do: %{"op" => "call", "tool" => tool, "args" => args}
end
