defmodule PtcRunner.Test.Flowing.Steps do
  @moduledoc """
  A step of a pipe that fits the value before it, with the type of its value: of each operation of the language that takes the
  current value.
  """

  import PtcRunner.Test.Flowing.Types
  import PtcRunner.Test.Flowing.Make

  alias PtcRunner.Test.Flowing.Make

  @type env :: Make.env()
  @type made :: {node :: map(), PtcRunner.Test.Flowing.Data.type()}

  @doc "A step."
  @spec step(PtcRunner.Test.Flowing.Data.type(), env()) :: made()
  def step(type, env) do
    env = %{env | cur: type}
    if chance(8), do: any(type, env), else: of(type, env)
  end

  # Of any value.
  defp any(type, env) do
    pick([
      fn -> {op("it"), type} end,
      fn -> {op("var", %{"name" => "__input"}), type} end,
      fn -> kind_of(type) end,
      fn -> bound(type, env) end,
      fn -> chosen(env) end,
      fn ->
        {a, s} = value(env)
        {op("coalesce", %{"values" => [op("it"), a]}), join(type, s)}
      end,
      fn ->
        {a, s} = value(env)
        {op("list", %{"items" => [op("it"), a]}), {:list, join(type, s), false}}
      end,
      fn ->
        {a, s} = value(env)

        {op("object", %{"fields" => %{"own" => op("it"), "more" => a}}),
         {:obj, %{"own" => type, "more" => s}}}
      end
    ])
  end

  # Of a value that is one of several, its kind is what decides.
  defp kind_of({:leaf, :any, _secret?} = type), do: {op("it"), type}

  defp kind_of({:obj, fields} = type),
    do: if(hidden?(fields), do: {op("it"), type}, else: {op("typeof"), leaf(:text)})

  defp kind_of(type), do: {op("typeof"), leaf(:text, counted?(type))}

  defp bound(_type, env) do
    name = "v#{:rand.uniform(3)}"
    {a, s} = value(env)
    {b, t} = value(%{env | names: Map.put(env.names, name, s)})
    {op("let", %{"name" => name, "value" => a, "in" => b}), t}
  end

  defp chosen(env) do
    {a, s} = value(env)
    {b, t} = value(env)
    {c, u} = value(env)
    when_ = fn -> condition(env.cur, env) end

    pick([
      fn -> {op("if", %{"condition" => when_.(), "then" => a, "else" => b}), join(s, t)} end,
      fn ->
        cases = [%{"when" => when_.(), "then" => a}, %{"when" => when_.(), "then" => b}]
        {op("switch", %{"cases" => cases, "else" => c}), s |> join(t) |> join(u)}
      end
    ])
  end

  defp of({:list, _item, _counted?} = type, env), do: list(type, env)
  defp of({:obj, fields}, env), do: object(fields, env)
  defp of({:dict, _value, _keys?} = type, env), do: dict(type, env)
  defp of({:leaf, kind, secret?}, env), do: leaf_step(kind, secret?, env)

  # Lists

  defp list({:list, item, counted?} = type, env) do
    # The number of calls in the rounds of a loop would be that of the items.
    env = if counted?, do: %{env | answers: %{}}, else: env

    pick(
      [
        fn -> {op("filter", where(item, env)), type} end,
        fn -> {op("reject", where(item, env)), type} end,
        fn -> {op("take", %{"count" => 2}), type} end,
        fn -> {op("drop", %{"count" => 1}), type} end,
        fn -> {op("first"), item} end,
        fn -> {op("last"), item} end,
        fn -> {op("nth", %{"index" => 1}), item} end,
        fn -> {op("reverse"), type} end,
        fn -> {op("chunk", %{"size" => 2}), {:list, type, counted?}} end,
        fn -> {op("distinct"), type} end,
        fn -> {op("count"), leaf(:int, counted?)} end,
        fn -> {op("length"), leaf(:int, counted?)} end,
        fn -> {op("find", where(item, env)), item} end,
        fn -> quantified(item, counted?, env) end,
        fn -> mapped(item, counted?, env) end,
        fn -> mapped(item, counted?, env) end,
        fn -> flat(item, counted?, env) end,
        fn -> folded(item, counted?, env) end,
        fn -> {op("concat", %{"lists" => [op("it"), op("it")]}), type} end,
        fn -> zipped(type, env) end,
        fn -> grouped(item, counted?, env) end,
        fn ->
          {a, s} = value(env)
          {op("contains", %{"value" => a}), leaf(:bool, secret?(type) or secret?(s))}
        end,
        fn -> {op("get", %{"key" => 0}), item} end,
        fn -> {op("get", %{"path" => [0]}), item} end
      ] ++ by_key(item, counted?, env) ++ items(item, counted?, env)
    )
  end

  defp quantified(item, counted?, env) do
    {where, secret?} = condition_of(item, env)

    pick([
      fn -> {op("some", %{"where" => where}), leaf(:bool, secret? or counted?)} end,
      fn -> {op("every", %{"where" => where}), leaf(:bool, secret? or counted?)} end,
      # As after a filter.
      fn -> {op("count", %{"where" => where}), leaf(:int, counted?)} end
    ])
  end

  defp where(item, env) do
    if chance(3),
      do: %{
        "where" => condition(item, %{env | names: Map.put(env.names, "row", item)}),
        "as" => "row"
      },
      else: %{"where" => condition(item, env)}
  end

  defp mapped(item, counted?, env) do
    {expr, type} = expr(item, %{env | names: Map.put(env.names, "row", item)})
    {op("map", %{"expr" => expr, "as" => "row"}), {:list, type, counted?}}
  end

  defp flat(item, counted?, env) do
    {expr, type} = value(%{env | cur: item})
    {node, of} = {op("list", %{"items" => [expr, expr]}), {:list, type, counted?}}

    case item do
      {:list, inner, more?} when not is_nil(inner) ->
        pick([
          fn -> {op("flat_map", %{"expr" => op("it")}), {:list, inner, counted? or more?}} end,
          fn -> {op("flatten"), {:list, inner, counted? or more?}} end
        ])

      _other ->
        {op("flat_map", %{"expr" => node}), of}
    end
  end

  defp folded(item, counted?, env) do
    {start, s} = value(env)
    {expr, of_expr} = value(%{env | cur: item})
    as = Enum.random(["acc", "sum"])
    acc = op("var", %{"name" => as})

    pick([
      fn ->
        {op("fold", %{
           "init" => 0,
           "as" => as,
           "expr" => op("add", %{"left" => acc, "right" => 1})
         }), leaf(:int, counted?)}
      end,
      fn ->
        {node, t} = value(%{env | cur: item})

        {op("fold", %{
           "init" => start,
           "as" => as,
           "expr" => op("coalesce", %{"values" => [node, acc]})
         }), leaf(:any, counted? or secret?(s) or secret?(t))}
      end,
      fn ->
        text = op("text", %{"parts" => [acc, op("to_text", %{"value" => expr_or_node(expr)})]})
        secret? = counted? or secret?(of_expr)
        {op("fold", %{"init" => "", "as" => as, "expr" => text}), leaf(:text, secret?)}
      end
    ])
  end

  defp zipped({:list, item, counted?}, env) do
    {expr, type} = expr(item, env)
    other = op("map", %{"expr" => expr})

    {op("zip", %{"lists" => [op("it"), other]}),
     {:list, {:list, join(item, type), false}, counted?}}
  end

  defp grouped(item, counted?, env) do
    {key, key_type} = scalar_expr(item, env)
    group = {:list, item, counted?}
    {each, of_each} = each(group, env)

    by =
      case item do
        {:obj, fields} ->
          name = pick_name(fields, &match?({:leaf, _, _}, &1))
          if name && chance(2), do: {%{"field" => name}, name, fields[name]}

        _other ->
          nil
      end

    {by, name, key_type} = by || {%{"expr" => key, "as" => "by"}, "by", key_type}

    pick([
      fn ->
        {op("group_by", Map.put(by, "each", each)),
         {:list, {:obj, Map.merge(%{name => key_type}, of_each)}, counted?}}
      end,
      fn ->
        {op("group_by", by),
         {:list, {:obj, Map.merge(%{name => key_type}, %{"items" => group})}, counted?}}
      end
    ])
  end

  defp each({:list, item, _} = group, env) do
    {mapped, of_mapped} = mapped(item, false, %{env | cur: group})
    {folded, of_folded} = list(group, %{env | cur: group})

    {%{"n" => op("count"), "of" => mapped, "more" => folded},
     %{"n" => leaf(:int, elem(group, 2)), "of" => of_mapped, "more" => of_folded}}
  end

  # Of lists of objects: by a field.
  defp by_key({:obj, fields} = item, counted?, env) do
    rows = {:list, item, counted?}
    scalar = fn -> pick_name(fields, &match?({:leaf, kind, _} when kind != :any, &1)) end

    numeric = fn ->
      pick_name(fields, &match?({:leaf, kind, _} when kind in [:int, :float, :dec], &1))
    end

    [
      fn ->
        {op("sort_by", %{"field" => scalar.() || "id", "order" => Enum.random(["asc", "desc"])}),
         rows}
      end,
      fn ->
        {expr, _} = scalar_expr(item, env)
        by = [%{"field" => scalar.() || "id"}, %{"expr" => expr, "order" => "desc"}]
        {op("sort_by", %{"by" => by}), rows}
      end,
      fn -> {op("distinct", %{"field" => scalar.() || "id"}), rows} end,
      fn -> {op(Enum.random(~w(min_by max_by)), %{"field" => scalar.() || "id"}), item} end,
      fn ->
        {op("filter_in", %{"field" => scalar.() || "id", "value" => [1, 2, "ada"]}), rows}
      end,
      fn -> totals(numeric.(), fields, counted?) end,
      fn -> totals(numeric.(), fields, counted?) end,
      fn ->
        field = pick_name(fields, &match?({:leaf, kind, _} when kind in [:int, :text], &1))
        {_, _, secret?} = if field, do: fields[field], else: leaf(:int)

        if field,
          do: {op("index_by", %{"field" => field}), {:dict, item, secret? or counted?}},
          else: {op("it"), rows}
      end,
      fn ->
        {expr, {:leaf, _, secret?}} = text_expr(item, env)
        {op("index_by", %{"expr" => expr}), {:dict, item, secret? or counted?}}
      end,
      fn -> joined(fields, counted?, env) end,
      fn ->
        {_, {:list, item, _}} = made = reshape(item, counted?, env)
        if match?({:obj, _}, item), do: made, else: {op("it"), rows}
      end,
      fn -> reshape(item, counted?, env) end,
      fn -> reshape(item, counted?, env) end
    ]
  end

  defp by_key({:list, {:obj, _} = item, inner?}, counted?, env) do
    [
      fn ->
        {node, type} = reshape(item, inner?, env)

        if node["op"] == "select",
          do: {node, {:list, {:list, item, inner?}, counted?}},
          else: {op("map", %{"expr" => node}), {:list, type, counted?}}
      end
    ]
  end

  defp by_key(_item, _counted?, _env), do: []

  defp totals(nil, _fields, counted?), do: {op("count"), leaf(:int, counted?)}

  defp totals(name, fields, counted?) do
    {_, kind, secret?} = fields[name]
    secret? = secret? or counted?

    pick([
      fn -> {op(Enum.random(~w(sum avg)), %{"field" => name}), leaf(kind, secret?)} end,
      fn -> {op(Enum.random(~w(min max)), %{"field" => name}), leaf(kind, secret?)} end,
      fn -> {op("median", %{"field" => name}), leaf(kind, secret?)} end,
      fn -> {op("percentile", %{"field" => name, "p" => 50}), leaf(kind, secret?)} end
    ])
  end

  defp joined(fields, counted?, env) do
    {with_, {:list, {:obj, others}, more?}} = rows(env)
    name = pick_name(Map.take(fields, Map.keys(others)), &match?({:leaf, _, _}, &1)) || "id"
    on = if chance(2), do: %{"on" => name}, else: %{"left" => name, "right" => "id"}
    both = {:obj, Map.merge(others, fields)}
    many? = counted? or more?

    pick([
      fn -> {op("join", Map.merge(on, %{"with" => with_})), {:list, both, many?}} end,
      fn ->
        {op("join", Map.merge(on, %{"with" => with_, "kind" => "left"})),
         {:list, join(both, {:obj, fields}), many?}}
      end,
      fn ->
        {op("join", Map.merge(on, %{"with" => with_, "as" => "other"})),
         {:list, {:obj, Map.put(fields, "other", {:obj, others})}, many?}}
      end,
      fn ->
        {op("join", Map.merge(on, %{"with" => with_, "as" => "others", "kind" => "group"})),
         {:list, {:obj, Map.put(fields, "others", {:list, {:obj, others}, more?})}, many?}}
      end
    ])
  end

  # Of lists of other values.
  defp items({:leaf, kind, secret?}, counted?, env)
       when kind in [:int, :float, :text, :date, :dec] do
    list = {:list, {:leaf, kind, secret?}, counted?}

    [
      fn -> {op("sort_by", %{"expr" => op("it")}), list} end,
      fn ->
        {op(Enum.random(~w(min max)), %{"expr" => op("it")}), leaf(kind, secret? or counted?)}
      end,
      fn -> {op(Enum.random(~w(min_by max_by)), %{"expr" => op("it")}), leaf(kind, secret?)} end,
      fn ->
        {op("text", %{"parts" => ["l", op("it")], "separator" => ","}),
         leaf(:text, secret? or counted?)}
      end,
      fn -> {op("in", %{"value" => 1}), leaf(:bool, secret? or counted?)} end,
      fn ->
        {key, {:leaf, _, keys?}} = text_expr({:leaf, kind, secret?}, env)
        {value, type} = value(%{env | cur: {:leaf, kind, secret?}})
        pairs = op("map", %{"expr" => %{"key" => key, "value" => value}})
        {op("pipe", %{"steps" => [pairs, op("from_entries")]}), {:dict, type, keys? or counted?}}
      end
    ]
  end

  defp items({:obj, %{"key" => {:leaf, :text, keys?}, "value" => value}}, counted?, _env),
    do: List.duplicate(fn -> {op("from_entries"), {:dict, value, keys? or counted?}} end, 6)

  defp items(item, counted?, env) do
    [
      fn ->
        {key, {:leaf, _, keys?}} = text_expr(item, env)
        {value, type} = value(%{env | cur: item})
        pairs = op("map", %{"expr" => %{"key" => key, "value" => value}})
        {op("pipe", %{"steps" => [pairs, op("from_entries")]}), {:dict, type, keys? or counted?}}
      end
    ]
  end

  # Objects

  @doc "Another form of an object, or of each object of a list."
  @spec reshape(PtcRunner.Test.Flowing.Data.type(), boolean(), env()) :: made()
  def reshape({:obj, fields}, counted?, env) do
    {node, fields} = reshaped(fields, env)
    {node, {:list, {:obj, fields}, counted?}}
  end

  # What is left of an object under a firewalled name is firewalled, whatever is taken out of it.
  defp reshaped(fields, env),
    do: if(hidden?(fields), do: {op("it"), fields}, else: other(fields, env))

  defp other(fields, env) do
    names = some(Map.keys(fields))

    pick([
      fn -> {op("select", %{"fields" => names}), Map.take(fields, names)} end,
      fn -> {op("unset", %{"fields" => names}), Map.drop(fields, names)} end,
      fn -> {op("unset", %{"fields" => secret(fields)}), Map.drop(fields, secret(fields))} end,
      fn ->
        others = Map.new(secret(fields), &{&1, nil})

        {op("set", %{"fields" => others}),
         Map.merge(fields, Map.new(others, fn {k, _} -> {k, leaf(:null)} end))}
      end,
      fn ->
        made = Map.new(some(["x", "y" | names]), &{&1, value(%{env | cur: {:obj, fields}})})

        {op("set", %{"fields" => Map.new(made, fn {k, {node, _}} -> {k, node} end)}),
         Map.merge(fields, Map.new(made, fn {k, {_, type}} -> {k, type} end))}
      end,
      fn ->
        renamed =
          for name <- names, into: %{}, do: {name, "to_" <> String.trim_leading(name, "_")}

        # Of two fields with one new name the second wins where it is there, which a plan does not know.
        names = Enum.uniq_by(names, &renamed[&1])
        renamed = Map.take(renamed, names)
        kept = Map.drop(fields, names)

        {op("rename", %{"fields" => renamed}),
         Map.merge(kept, Map.new(names, &{renamed[&1], fields[&1]}))}
      end
    ])
  end

  # The keys, the kind and absent fields of a value under a firewalled name are firewalled too.
  defp object(fields, env),
    do: if(hidden?(fields), do: get(fields, env), else: public_object(fields, env))

  defp public_object(fields, env) do
    type = {:obj, fields}

    pick([
      fn -> get(fields, env) end,
      fn -> get(fields, env) end,
      fn ->
        {node, fields} = reshaped(fields, env)
        {node, {:obj, fields}}
      end,
      fn ->
        {node, fields} = reshaped(fields, env)
        {node, {:obj, fields}}
      end,
      fn -> {op("keys"), {:list, leaf(:text, counted?(type)), counted?(type)}} end,
      fn ->
        value = fields |> Map.values() |> Enum.reduce(leaf(:null), &join/2)

        {op("entries"),
         {:list, {:obj, %{"key" => leaf(:text, counted?(type)), "value" => value}},
          counted?(type)}}
      end,
      fn -> {op("length"), leaf(:int, counted?(type))} end,
      fn ->
        {a, s} = value(env)

        {op("merge", %{"objects" => [op("it"), %{"more" => a}]}),
         {:obj, Map.put(fields, "more", s)}}
      end,
      fn -> merged(fields, env) end,
      fn ->
        {a, s} = value(env)
        {b, t} = value(env)
        {%{"p" => a, "q" => b}, {:obj, %{"p" => s, "q" => t}}}
      end,
      fn -> {op("to_text"), leaf(:text, secret?(type))} end,
      fn -> called(env) end
    ])
  end

  # With some of the fields of another object, each of which it may be without.
  defp merged(fields, env) do
    {rows, {:list, {:obj, others}, _counted?}} = rows(env)
    names = others |> Map.keys() |> some()
    {_kept, rest} = Map.split(others, names)
    more = Enum.random(["salary", "id", "_pin"])

    {step, others} =
      pick([
        fn -> {op("select", %{"fields" => names}), Map.take(others, names)} end,
        fn -> {op("select", %{"fields" => [more | names]}), Map.take(others, [more | names])} end,
        fn -> {op("unset", %{"fields" => names}), rest} end,
        fn ->
          # A row without the one keeps the other, and a plan does not know whether there are such rows.
          either = join(Map.get(others, more, leaf(:null)), others[hd(names)])

          {op("rename", %{"fields" => %{hd(names) => more}}),
           others |> Map.delete(hd(names)) |> Map.put(more, either)}
        end
      ])

    other = op("pipe", %{"steps" => [rows, op("first"), step]})
    {op("merge", %{"objects" => [op("it"), other]}), {:obj, joined(fields, others)}}
  end

  defp get(fields, env) do
    name = pick_name(fields, fn _ -> true end) || "id"
    type = Map.get(fields, name, leaf(:null))

    pick([
      fn -> {op("get", %{"field" => name}), type} end,
      fn -> {op("get", %{"path" => [name]}), type} end,
      fn -> {op("get", %{"key" => name}), type} end,
      fn -> {op("get", %{"key" => op("literal", %{"value" => name})}), computed_key(fields)} end,
      fn ->
        {op("get", %{"field" => name, "from" => op("it"), "default" => 0}),
         join(type, leaf(:int))}
      end,
      fn ->
        case type do
          {:obj, inner} ->
            deeper = pick_name(inner, fn _ -> true end)
            {op("get", %{"path" => [name, deeper]}), inner[deeper]}

          _other ->
            {expr, type} = value(env)
            {expr_or_node(expr), type}
        end
      end
    ])
  end

  # Which field a computed key reads is not known.
  defp computed_key(fields), do: leaf(:any, secret?({:obj, fields}))

  defp dict({:dict, value, _keys?} = type, env) do
    pick([
      fn ->
        {op("entries"),
         {:list, {:obj, %{"key" => leaf(:text, counted?(type)), "value" => value}},
          counted?(type)}}
      end,
      fn -> {op("keys"), {:list, leaf(:text, counted?(type)), counted?(type)}} end,
      fn -> {op("length"), leaf(:int, counted?(type))} end,
      fn -> {op("get", %{"field" => "k1"}), value} end,
      fn -> {op("get", %{"key" => op("text", %{"parts" => ["k", "2"]})}), value} end,
      fn ->
        {op("select", %{"fields" => ["k1", "k2"]}), {:obj, %{"k1" => value, "k2" => value}}}
      end,
      fn -> {op("unset", %{"fields" => ["k3"]}), type} end,
      # Of what may be a list, the number of calls would be that of the items.
      fn ->
        {a, s} = value(if(counted?(type), do: %{env | answers: %{}}, else: env))

        {op("set", %{"fields" => %{"s" => a}}), leaf(:any, secret?(type) or secret?(s))}
      end
    ])
  end

  # One value

  defp leaf_step(kind, secret?, env) when kind in [:int, :float, :dec] do
    other = fn -> number(env) end

    pick([
      fn ->
        {node, more?} = other.()

        {op(Enum.random(~w(add sub mul)), %{"left" => op("it"), "right" => node}),
         leaf(kind, secret? or more?)}
      end,
      fn -> {op(Enum.random(~w(abs floor ceil))), leaf(kind, secret?)} end,
      fn -> {op("round", %{"value" => op("it"), "precision" => 1}), leaf(kind, secret?)} end,
      fn -> {op("pct", %{"part" => op("it"), "whole" => 7}), leaf(kind, secret?)} end,
      fn -> {op("div", %{"left" => op("it"), "right" => 2}), leaf(kind, secret?)} end,
      fn -> {op("to_text"), leaf(:text, secret?)} end,
      fn -> {op("to_number"), leaf(kind, secret?)} end,
      fn -> {op("gt", %{"value" => 2}), leaf(:bool, secret?)} end,
      fn -> whole(kind, secret?) end
    ])
  end

  defp leaf_step(:text, secret?, env) do
    {node, more?} = text(env)

    pick([
      fn -> {op(Enum.random(~w(upper lower trim))), leaf(:text, secret?)} end,
      fn -> {op("length"), leaf(:int, secret?)} end,
      fn -> {op("split", %{"by" => "-"}), {:list, leaf(:text, secret?), secret?}} end,
      fn ->
        {op("replace", %{"find" => "a", "with" => expr_or_text(node)}),
         leaf(:text, secret? or more?)}
      end,
      fn ->
        {op("extract", %{"pattern" => "[a-z0-9]+", "all" => true}),
         {:list, leaf(:text, secret?), secret?}}
      end,
      fn -> {op("matches", %{"pattern" => "^a"}), leaf(:bool, secret?)} end,
      fn ->
        {op(Enum.random(~w(starts_with ends_with)), %{"value" => "a"}), leaf(:bool, secret?)}
      end,
      fn -> {op("to_number"), leaf(:any, secret?)} end,
      fn -> {op("text", %{"parts" => ["a", op("it"), node]}), leaf(:text, secret? or more?)} end,
      fn -> {op("eq", %{"value" => "ada"}), leaf(:bool, secret?)} end,
      fn -> {op("in", %{"value" => ["ada", node]}), leaf(:bool, secret? or more?)} end
    ])
  end

  defp leaf_step(:date, secret?, _env) do
    pick([
      fn ->
        {op("date_part", %{"part" => Enum.random(~w(year month day))}), leaf(:int, secret?)}
      end,
      fn -> {op("date_add", %{"amount" => 1, "unit" => "day"}), leaf(:text, secret?)} end,
      fn ->
        {op("date_diff", %{"from" => op("it"), "to" => op("now"), "unit" => "day"}),
         leaf(:int, secret?)}
      end,
      fn -> {op("to_text"), leaf(:text, secret?)} end
    ])
  end

  defp leaf_step(_kind, secret?, env) do
    pick([
      fn -> {op("neq", %{"value" => nil}), leaf(:bool, secret?)} end,
      fn -> {op("not", %{"condition" => op("it")}), leaf(:bool, secret?)} end,
      fn ->
        {node, more?} = number(env)
        {op("coalesce", %{"values" => [op("it"), node]}), leaf(:any, secret? or more?)}
      end
    ])
  end

  # Numbers that a program makes tell a number exactly, whatever it compares with them.
  defp exact(secret?) do
    number = op("var", %{"name" => "s"})
    below = op("lte", %{"left" => op("it"), "value" => number})
    range = op("range", %{"from" => 0, "to" => 6})
    acc = op("var", %{"name" => "acc"})
    next = op("add", %{"left" => acc, "right" => op("it")})
    more = op("add", %{"left" => acc, "right" => 1})
    fold = &op("fold", %{"init" => 0, "as" => "acc", "expr" => &1})
    one = &op("if", %{"condition" => below, "then" => &1, "else" => &2})
    list = {:list, leaf(:int, secret?), secret?}
    of = leaf(:int, secret?)

    {steps, type} =
      Enum.random([
        {[range, op("filter", %{"where" => below}), op("count")], of},
        {[range, op("reject", %{"where" => below}), op("length")], of},
        {[range, op("filter", %{"where" => below})], list},
        {[range, op("count", %{"where" => below})], of},
        {[range, op("find", %{"where" => Map.put(below, "op", "eq")})], of},
        {[range, op("get", %{"key" => number})], of},
        {[range, op("map", %{"expr" => one.(1, 0)}), op("sum", %{"expr" => op("it")})], of},
        {[range, op("map", %{"expr" => one.(1, 0)})], {:list, of, false}},
        {[range, op("sum", %{"expr" => one.(1, 0)})], of},
        {[range, op("flat_map", %{"expr" => one.([op("it")], [])}), op("count")], of},
        {[range, fold.(one.(more, acc))], of},
        {[range, op("sort_by", %{"expr" => below, "order" => "desc"}), op("first")], of},
        {[range, op("max_by", %{"expr" => Map.put(below, "op", "eq")})], of},
        {[
           range,
           op("group_by", %{"expr" => below, "as" => "by"}),
           op("map", %{
             "expr" => op("pipe", %{"steps" => [op("get", %{"field" => "items"}), op("count")]})
           })
         ], list},
        {[
           op("list", %{"items" => [4, 2, 1]}),
           fold.(
             op("if", %{
               "condition" => op("lte", %{"left" => next, "value" => number}),
               "then" => next,
               "else" => acc
             })
           )
         ], of}
      ])

    few = op("mod", %{"left" => op("it"), "right" => 7})
    in_ = op("pipe", %{"steps" => steps})
    {op("let", %{"name" => "s", "value" => few, "in" => in_}), type}
  end

  defp whole(:int, secret?) do
    pick([
      fn -> exact(secret?) end,
      fn -> exact(secret?) end,
      fn -> {op("mod", %{"left" => op("it"), "right" => 7}), leaf(:int, secret?)} end,
      fn ->
        few = op("mod", %{"left" => op("it"), "right" => 7})
        {op("range", %{"from" => 1, "to" => few}), {:list, leaf(:int, secret?), secret?}}
      end
    ])
  end

  defp whole(kind, secret?), do: {op("it"), leaf(kind, secret?)}
end
