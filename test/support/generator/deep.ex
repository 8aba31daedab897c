defmodule PtcRunner.Test.Generator.Deep do
  @moduledoc """
  Random programs that are right for random typed data: nodes of a wanted type are made from what is there, nested in each other.

  They have `let` and `var`, branches, loops in loops, `fold`, `group_by` with `each`, `join`, `set`, templates, dates, texts, a memory,
  optional fields, unions, enumerations and nested lists. `PtcRunner.Test.Generator.Faults` puts one fault in.
  """

  @typedoc "Types of the context, the memory, the tools and the result, values of these types, and a program."
  @type deep_case :: %{
          program: map(),
          types: map(),
          context: map(),
          memory_types: map(),
          memory: map(),
          tools: map(),
          returns: term(),
          edition: 1 | 2
        }

  @words ~w(open closed Rome Oslo red blue)
  @times ["2024-02-29T10:30:00Z", "2024-12-31T23:59:59Z", "2025-06-01T00:00:00Z"]
  @statuses {:union, [{:literal, "open"}, {:literal, "paid"}, {:literal, "void"}]}
  @address {:map, [{"city", :string}, {"zip", :int}]}
  @item {:map, [{"sku", :string}, {"qty", :int}, {"price", :float}]}

  @columns [
    {"amount", :float},
    {"note", {:optional, :string}},
    {"bonus", {:optional, :int}},
    {"tags", {:list, :string}},
    {"status", @statuses},
    {"to", @address},
    {"items", {:list, @item}},
    {"at", :datetime},
    {"ref", {:union, [:int, :string]}},
    {"paid", :bool},
    {"grid", {:list, {:list, :int}}}
  ]

  @doc "Case number `n` of a seed."
  @spec deep_case(integer(), integer()) :: deep_case()
  def deep_case(seed, n) do
    _state = :rand.seed(:exsss, {seed, n, 11})
    edition = Enum.random([1, 2, 2])
    row = {:map, [{"id", :int}, {"name", :string} | Enum.take_random(@columns, integer(2..8))]}

    types = %{
      "rows" => {:list, row},
      "people" => {:list, {:map, [{"person", :int}, {"email", :string}]}},
      "n" => :int,
      "s" => :string,
      "at" => :datetime,
      "maybe" => {:optional, :int}
    }

    memory_types = %{"seen" => {:list, :int}, "who" => :string, "config" => @address}

    env = %{
      edition: edition,
      it: nil,
      each: false,
      loaded: types,
      vars: Map.to_list(memory_types),
      names: 0
    }

    {program, type} = top(env)

    %{
      program: program,
      types: types,
      context: Map.new(types, fn {name, type} -> {name, value(type)} end),
      memory_types: memory_types,
      memory: Map.new(memory_types, fn {name, type} -> {name, value(type)} end),
      tools: tools(),
      returns: type,
      edition: edition
    }
  end

  defp tools do
    %{
      "user" =>
        {fn _args -> %{"name" => "Ada", "level" => 2} end,
         "(id :int, note :string?) -> {name :string, level :int}"},
      "rate" => {fn _args -> 1.5 end, "(from :string, to :string) -> :float"}
    }
  end

  ## Values

  @doc "A value of a type."
  @spec value(term()) :: term()
  def value(:int), do: integer(-5..50)
  def value(:float), do: Enum.random([0.5, 2.0, -3.25, 7])
  def value(:string), do: Enum.random(@words)
  def value(:bool), do: Enum.random([true, false])
  def value(:datetime), do: Enum.random(@times)
  def value({:literal, value}), do: value
  def value({:union, types}), do: value(Enum.random(types))
  def value({:optional, type}), do: if(integer(1..3) == 1, do: nil, else: value(type))
  def value({:list, type}), do: for(_ <- 1..integer(1..4), do: value(type))

  def value({:map, fields}) do
    for {name, type} <- fields, not absent?(type), into: %{}, do: {name, value(type)}
  end

  defp absent?({:optional, _type}), do: integer(1..4) == 1
  defp absent?(_type), do: false

  defp integer(range), do: Enum.random(range)

  ## Programs

  defp top(env) do
    case integer(1..6) do
      1 -> of(:int, env, 4)
      2 -> of(:string, env, 4)
      3 -> of(:bool, env, 4)
      4 -> of({:list, Enum.random([:int, :string])}, env, 4)
      5 -> of({:map, [{"a", :int}, {"b", :string}, {"c", {:list, :int}}]}, env, 3)
      6 -> with({node, item} <- rows(env, 4), do: {node, {:list, item}})
    end
  end

  defp of(type, env, deep), do: {node(type, env, deep), type}

  # Candidates that cannot be made here are nil.
  defp node(type, env, deep) do
    few = found(type, env) ++ [fn -> literal(value(type)) end]
    more = if deep > 0, do: nested(type, env, deep - 1) ++ anywhere(type, env, deep - 1), else: []
    weighed = if deep > 0 and integer(1..4) > 1, do: more, else: few
    Enum.random(weighed).()
  end

  defp literal(value), do: %{"op" => "literal", "value" => value}
  defp pipe(steps), do: %{"op" => "pipe", "steps" => steps}
  defp get(field), do: %{"op" => "get", "field" => field}
  defp var(name), do: %{"op" => "var", "name" => name}

  # What has the type already: loaded, named, or a field of the current value.
  defp found(type, env) do
    loads = for {name, ^type} <- env.loaded, do: fn -> %{"op" => "load", "name" => name} end
    vars = for {name, ^type} <- visible(env), do: fn -> var(name) end
    loads ++ vars ++ fields(type, env) ++ inner(type, env) ++ own(type, env)
  end

  # An inner name hides an outer one.
  defp visible(env), do: Enum.uniq_by(env.vars, &elem(&1, 0))

  defp fields(type, %{it: {:map, fields}}),
    do: for({name, ^type} <- fields, _ <- 1..4, do: fn -> get(name) end)

  defp fields(_type, _env), do: []

  defp inner(type, %{it: {:map, fields}}) do
    for {name, {:map, inner}} <- fields, {key, ^type} <- inner do
      fn -> %{"op" => "get", "path" => [name, key]} end
    end
  end

  defp inner(_type, _env), do: []

  defp own(type, %{edition: 2, it: type}), do: [fn -> %{"op" => "it"} end]
  defp own(_type, _env), do: []

  # Forms that any type can have.
  defp anywhere(type, env, deep) do
    both = [
      fn ->
        %{
          "op" => "if",
          "condition" => node(:bool, env, deep),
          "then" => node(type, env, deep),
          "else" => node(type, env, deep)
        }
      end,
      fn -> bound(type, env, deep) end,
      fn -> bound(type, env, deep) end
    ]

    if env.edition == 1, do: both, else: both ++ newer(type, env, deep)
  end

  defp bound(type, env, deep) do
    name = "v#{env.names}"
    of = Enum.random([:int, :string, {:list, :int}, type])
    inside = %{env | vars: [{name, of} | env.vars], names: env.names + 1}

    %{
      "op" => "let",
      "name" => name,
      "value" => node(of, env, deep),
      "in" => node(type, inside, deep)
    }
  end

  defp newer(type, env, deep) do
    [
      fn ->
        %{
          "op" => "switch",
          "cases" =>
            for(
              _ <- 1..integer(1..2),
              do: %{"when" => node(:bool, env, deep), "then" => node(type, env, deep)}
            ),
          "else" => node(type, env, deep)
        }
      end,
      fn ->
        %{"op" => "coalesce", "values" => [maybe(type, env, deep), node(type, env, deep)]}
      end,
      fn ->
        {list, item} = rows(env, deep)
        inside = inside(env, item)
        named = %{inside | vars: [{"acc", type} | env.vars]}

        fold = %{
          "op" => "fold",
          "init" => value_node(type, %{env | it: nil}),
          "expr" => node(type, named, deep)
        }

        pipe([list, fold])
      end
    ]
  end

  # The start has the type as declared, not that of one value.
  defp value_node(type, env),
    do: Enum.random(found(type, env) ++ [fn -> literal(value(type)) end]).()

  # What may be null.
  defp maybe(type, env, deep) do
    fields = fields({:optional, type}, env)

    Enum.random([
      fn -> pipe([node({:list, type}, env, deep), %{"op" => Enum.random(~w(first last))}]) end
      | fields
    ]).()
  end

  ## By type

  defp nested(:int, env, deep) do
    both = [
      fn -> arithmetic(~w(add sub mul), :int, env, deep) end,
      fn -> pipe([list(env, deep), %{"op" => "count"}]) end,
      fn -> summed(:int, env, deep) end
    ]

    with_newer(both, env, [
      fn -> %{"op" => "length", "value" => node(:string, env, deep)} end,
      fn -> %{"op" => "length", "value" => list(env, deep)} end,
      fn -> %{"op" => "mod", "left" => node(:int, env, deep), "right" => integer(2..9)} end,
      fn -> %{"op" => "floor", "value" => node(:float, env, deep)} end,
      fn -> date_diff(env) end,
      fn ->
        {rows, item} = rows(env, deep)
        pipe([rows, %{"op" => "count", "where" => node(:bool, inside(env, item), deep)}])
      end,
      fn -> %{"op" => "get", "from" => user(env, deep), "field" => "level"} end
    ])
  end

  defp nested(:float, env, deep) do
    [
      fn -> arithmetic(~w(add sub mul), :float, env, deep) end,
      fn -> arithmetic(["div"], :int, env, deep) |> Map.put("right", integer(1..5)) end,
      fn -> %{"op" => "round", "value" => node(:float, env, deep), "precision" => 1} end,
      fn -> node(:int, env, deep) end,
      fn -> summed(:float, env, deep) end,
      fn -> call("rate", %{"from" => "EUR", "to" => "USD"}) end
    ]
  end

  defp nested(:string, env, deep) do
    both = [
      fn -> pipe([user(env, deep), get("name")]) end,
      fn -> pipe([list(env, deep), %{"op" => "typeof"}]) end
    ]

    with_newer(both, env, [
      fn -> %{"op" => Enum.random(~w(upper lower trim)), "value" => node(:string, env, deep)} end,
      fn -> %{"op" => "to_text", "value" => node(:int, env, deep)} end,
      fn ->
        %{"op" => "text", "parts" => ["a", node(:string, env, deep), node(:int, env, deep)]}
      end,
      fn ->
        %{
          "op" => "replace",
          "value" => node(:string, env, deep),
          "find" => "o",
          "with" => node(:string, env, 0)
        }
      end,
      fn -> %{"op" => "date_part", "value" => date(env), "part" => "year_month"} end,
      fn ->
        named(Map.put(call("user", %{"id" => 7}), "on_error", %{"name" => "x", "level" => 1}))
      end
    ])
  end

  defp nested(:datetime, env, _deep),
    do: [fn -> date(env) end]

  defp nested(:bool, env, deep) do
    both = [
      fn ->
        conditions = for _ <- 1..2, do: node(:bool, env, deep)
        %{"op" => Enum.random(~w(and or)), "conditions" => conditions}
      end,
      fn -> %{"op" => "not", "condition" => node(:bool, env, deep)} end
      | compared(env)
    ]

    with_newer(both, env, [
      fn ->
        type = Enum.random([:int, :string])

        %{
          "op" => Enum.random(~w(eq neq gt lt)),
          "left" => node(type, env, deep),
          "value" => node(type, env, deep)
        }
      end,
      fn ->
        {rows, item} = rows(env, deep)
        where = node(:bool, inside(env, item), deep)
        pipe([rows, %{"op" => Enum.random(~w(some every)), "where" => where}])
      end,
      fn ->
        %{
          "op" => Enum.random(~w(starts_with ends_with)),
          "left" => node(:string, env, deep),
          "value" => "R"
        }
      end,
      fn -> %{"op" => "in", "left" => node(:int, env, deep), "value" => [1, 2, 3]} end
    ])
  end

  defp nested({:list, type} = list, env, deep) do
    both = [
      fn ->
        {rows, item} = rows(env, deep)
        pipe([rows, %{"op" => "map", "expr" => node(type, inside(env, item), deep)}])
      end,
      fn -> pipe([node(list, env, deep), same(env)]) end,
      fn ->
        %{"op" => "concat", "lists" => [node(list, env, deep), node(list, env, deep)]}
      end
    ]

    special =
      case type do
        :int ->
          [fn -> %{"op" => "range", "from" => 1, "to" => node(:int, env, 0)} end]

        :string ->
          [fn -> %{"op" => "split", "value" => node(:string, env, deep), "by" => "o"} end]

        _other ->
          []
      end

    with_newer(both, env, [
      fn -> %{"op" => "list", "items" => for(_ <- 1..2, do: node(type, env, deep))} end,
      fn ->
        {rows, item} = rows(env, deep)
        pipe([rows, %{"op" => "flat_map", "expr" => node(list, inside(env, item), deep)}])
      end,
      fn ->
        pipe([node({:list, list}, env, 0), %{"op" => "flatten"}])
      end
      | special
    ])
  end

  defp nested({:map, fields}, env, deep) do
    [
      fn ->
        made = Map.new(fields, fn {name, type} -> {name, node(type, env, deep)} end)
        Enum.random([%{"op" => "object", "fields" => made}, made])
      end,
      fn ->
        {some, rest} = Enum.split(fields, 1)
        objects = [object(some, env, deep), object(rest, env, deep)]
        %{"op" => "merge", "objects" => objects}
      end
    ]
  end

  defp nested(type, _env, _deep), do: [fn -> literal(value(type)) end]

  defp object(fields, env, deep) do
    %{
      "op" => "object",
      "fields" => Map.new(fields, fn {name, type} -> {name, node(type, env, deep)} end)
    }
  end

  defp with_newer(both, %{edition: 1}, _newer), do: both
  defp with_newer(both, _env, newer), do: both ++ newer

  defp arithmetic(ops, type, env, deep) do
    %{
      "op" => Enum.random(ops),
      "left" => node(type, env, deep),
      "right" => Enum.random([fn -> integer(1..9) end, fn -> node(type, env, deep) end]).()
    }
  end

  defp summed(type, env, deep) do
    {rows, {:map, fields}} = rows(env, deep)

    case for({name, ^type} <- fields, do: name) do
      [] -> pipe([rows, %{"op" => "count"}])
      names -> pipe([rows, %{"op" => "sum", "field" => Enum.random(names)}])
    end
  end

  defp call(tool, args), do: %{"op" => "call", "tool" => tool, "args" => args}
  defp named(call), do: pipe([call, get("name")])

  # In edition 1 arguments are constants.
  defp user(%{edition: 1}, _deep), do: call("user", %{"id" => integer(1..9)})

  defp user(env, deep) do
    id = node(:int, env, deep)
    note = Enum.random([%{}, %{"note" => node(:string, env, deep)}])
    call("user", Map.put(note, "id", id))
  end

  defp date(env) do
    Enum.random(
      found(:datetime, env) ++
        [
          fn -> literal(value(:datetime)) end,
          fn ->
            %{"op" => "date_add", "value" => value(:datetime), "amount" => 3, "unit" => "day"}
          end
        ]
    ).()
  end

  defp date_diff(env),
    do: %{"op" => "date_diff", "from" => date(env), "to" => date(env), "unit" => "day"}

  # Comparisons with a field of the current value.
  defp compared(%{it: {:map, fields}}) do
    for {name, type} <- fields, made = comparison(name, type), do: fn -> made end
  end

  defp compared(_env), do: [fn -> literal(value(:bool)) end]

  defp comparison(name, type) when type in [:int, :float, {:optional, :int}] do
    %{"op" => Enum.random(~w(gt lt gte lte eq neq)), "field" => name, "value" => integer(0..9)}
  end

  defp comparison(name, type) when type in [:string, {:optional, :string}, @statuses] do
    %{"op" => Enum.random(~w(eq neq)), "field" => name, "value" => Enum.random(["open", "Rome"])}
  end

  defp comparison(name, {:list, :string}),
    do: %{"op" => "contains", "field" => name, "value" => Enum.random(@words)}

  defp comparison(name, {:optional, _type}),
    do: %{"op" => Enum.random(~w(eq neq)), "field" => name, "value" => nil}

  defp comparison(name, :bool), do: %{"op" => "eq", "field" => name, "value" => true}
  defp comparison(name, {:union, _}), do: %{"op" => "eq", "field" => name, "value" => 4}
  defp comparison(_name, _type), do: nil

  # Steps that keep the type of a list.
  defp same(%{edition: 1}),
    do: Enum.random([%{"op" => "take", "count" => integer(1..5)}, %{"op" => "distinct"}])

  defp same(_env) do
    Enum.random([
      %{"op" => "take", "count" => integer(1..5)},
      %{"op" => "distinct"},
      %{"op" => "reverse"},
      %{"op" => "drop", "count" => 0}
    ])
  end

  defp list(env, deep), do: elem(rows(env, deep), 0)

  ## Rows

  # A list of objects, and the type of these.
  defp rows(env, deep) do
    {source, {:list, item}} = source(env)

    {steps, item} =
      Enum.reduce(steps(deep), {[], item}, fn _n, {steps, item} ->
        {step, item} = step(item, env, deep - 1)
        {[step | steps], item}
      end)

    case steps do
      [] -> {source, item}
      steps -> {pipe([source | Enum.reverse(steps)]), item}
    end
  end

  defp steps(deep) when deep <= 0, do: []
  defp steps(deep), do: Enum.take([1, 2, 3], integer(0..min(deep, 3)))

  defp source(env) do
    loads =
      for {name, {:list, {:map, _}} = type} <- env.loaded,
          do: {%{"op" => "load", "name" => name}, type}

    own = for {name, {:list, {:map, _}} = type} <- fields_of(env.it), do: {get(name), type}

    # In edition 1 the first step of a pipe has no current value.
    Enum.random(if env.edition == 1, do: loads, else: loads ++ own ++ own)
  end

  defp fields_of({:map, fields}), do: fields
  defp fields_of(_type), do: []

  defp inside(env, item), do: %{env | it: item, each: true}

  defp step({:map, fields} = item, env, deep) do
    within = inside(env, item)
    deep = max(deep, 0)

    both = [
      fn -> {%{"op" => "filter", "where" => node(:bool, within, deep)}, item} end,
      fn -> {%{"op" => "reject", "where" => node(:bool, within, deep)}, item} end,
      fn -> {%{"op" => "sort_by", "field" => name(fields)}, item} end,
      fn -> {same(env), item} end,
      fn ->
        kept = Enum.take_random(fields, integer(1..length(fields)))
        {%{"op" => "select", "fields" => Enum.map(kept, &elem(&1, 0))}, {:map, kept}}
      end,
      fn ->
        made = [{"id", :int}, {"name", :string}, {"all", {:list, :int}}]
        {%{"op" => "map", "expr" => object(made, within, deep)}, {:map, made}}
      end
    ]

    with_newer(both, env, [
      fn ->
        {name, type} =
          Enum.random([{"extra", :int}, {"label", :string}, {"many", {:list, :string}}])

        set = %{"op" => "set", "fields" => %{name => node(type, within, deep)}}
        {set, {:map, List.keystore(fields, name, 0, {name, type})}}
      end,
      fn -> group(fields, env, deep) end,
      fn -> group(fields, env, deep) end,
      fn -> join(fields, env) end,
      fn ->
        {old, type} = Enum.random(fields)
        rest = fields |> List.keydelete(old, 0) |> List.keydelete("renamed", 0)
        {%{"op" => "rename", "fields" => %{old => "renamed"}}, {:map, [{"renamed", type} | rest]}}
      end,
      fn ->
        by = [
          %{"field" => name(fields), "order" => "desc"},
          %{"expr" => node(:int, within, deep)}
        ]

        {%{"op" => "sort_by", "by" => by}, item}
      end
    ])
    |> Enum.random()
    |> then(& &1.())
  end

  defp name(fields), do: fields |> Enum.random() |> elem(0)

  defp group(fields, env, deep) do
    {key, type} = Enum.random(fields)
    numbers = for {name, type} <- fields, type in [:int, :float], do: {name, type}
    inside = %{env | it: {:list, {:map, fields}}, each: true}

    each =
      [
        {"n", :int, %{"op" => "count"}},
        {"more", :int, node(:int, inside, deep)},
        {"ids", {:list, {:map, fields}}, %{"op" => "take", "count" => 2}}
      ] ++
        for(
          {name, type} <- Enum.take(numbers, 1),
          do: {"sum", type, %{"op" => "sum", "field" => name}}
        )

    each = Enum.reject(each, &(elem(&1, 0) == key))

    step = %{
      "op" => "group_by",
      "field" => key,
      "each" => Map.new(each, fn {n, _, e} -> {n, e} end)
    }

    {step, {:map, [{key, type} | Enum.map(each, fn {n, t, _} -> {n, t} end)]}}
  end

  defp join(fields, env) do
    {:list, other} = env.loaded["people"]

    case for({name, :int} <- fields, do: name) do
      [] ->
        {%{"op" => "reverse"}, {:map, fields}}

      [key | _] ->
        kind = Enum.random(["inner", "left", "group"])

        type =
          case kind do
            "inner" -> other
            "left" -> {:optional, other}
            "group" -> {:list, other}
          end

        step = %{
          "op" => "join",
          "with" => %{"op" => "load", "name" => "people"},
          "left" => key,
          "right" => "person",
          "as" => "other",
          "kind" => kind
        }

        {step, {:map, List.keystore(fields, "other", 0, {"other", type})}}
    end
  end
end
