defmodule PtcRunner.Test.LispOracle.Random do
  @moduledoc false
  # Random programs of `PtcRunner.Test.LispOracle`: most have a value, because an expression is made for the kind that it must be of.
  # The random state is that of the process.

  @kinds [:int, :text, :bool, :ints, :texts, :map, :rows]
  @keys [{:kw, "ka"}, {:kw, "kb"}, "kc"]
  # Once in so many expressions, another kind is made than is asked for.
  @wrong 80

  @doc "A program, with its data."
  @spec program() :: {PtcRunner.Test.LispOracle.expr(), map()}
  def program do
    data = %{
      "n" => integer(),
      "t" => word(),
      "ns" => list(&integer/0),
      "rows" => list(fn -> %{"ka" => integer(), "kc" => word()} end)
    }

    env = [{"data/n", :int}, {"data/t", :text}, {"data/ns", :ints}, {"data/rows", :rows}]
    {defined(:rand.uniform(3) - 1, env), data}
  end

  defp defined(0, env), do: expr(Enum.random(@kinds), 5, env)

  defp defined(count, env) do
    {name, kind} = {"g#{count}", Enum.random(@kinds)}
    {:def, name, expr(kind, 3, env), defined(count - 1, [{name, kind} | env])}
  end

  defp expr(kind, depth, env) do
    kind = if :rand.uniform(@wrong) == 1, do: Enum.random(@kinds), else: kind

    cond do
      depth <= 0 -> leaf(kind, env)
      :rand.uniform(2) == 1 -> form(:rand.uniform(12), kind, depth - 1, env)
      true -> op(kind, depth - 1, env)
    end
  end

  defp leaf(kind, env) do
    case for {name, ^kind} <- env, do: name do
      [_ | _] = names -> if chance(), do: {:var, Enum.random(names)}, else: const(kind)
      [] -> const(kind)
    end
  end

  defp const(:int), do: {:const, integer()}
  defp const(:text), do: {:const, word()}
  defp const(:bool), do: {:const, Enum.random([true, false, nil])}
  defp const(:ints), do: {:vec, list(fn -> const(:int) end)}
  defp const(:texts), do: {:vec, list(fn -> const(:text) end)}
  defp const(:map), do: {:map, for(key <- @keys, chance(), do: {key, const(:int)})}
  defp const(:rows), do: {:vec, list(fn -> const(:map) end)}

  # Forms that have a value of any kind.
  defp form(1, kind, depth, env) do
    {name, of} = {name(), Enum.random(@kinds)}
    {:let, [{name, expr(of, depth, env)}], expr(kind, depth, [{name, of} | env])}
  end

  defp form(2, kind, depth, env) do
    {a, rest} = names()
    inner = [{a, :int}, {rest, :ints} | env]
    {:let, [{{:items, [a], rest}, expr(:ints, depth, env)}], expr(kind, depth, inner)}
  end

  defp form(3, kind, depth, env) do
    inner = [{"ka", :int}, {"kc", :int} | env]
    {:let, [{{:keys, ["ka", "kc"]}, expr(:map, depth, env)}], expr(kind, depth, inner)}
  end

  defp form(4, kind, depth, env),
    do: {:if, expr(:bool, depth, env), expr(kind, depth, env), expr(kind, depth, env)}

  defp form(5, kind, depth, env),
    do: {:cond, [{expr(:bool, depth, env), expr(kind, depth, env)}], expr(kind, depth, env)}

  defp form(6, kind, depth, env) do
    clauses = for constant <- [1, "a", nil], do: {constant, expr(kind, depth - 1, env)}
    {:case, expr(Enum.random([:int, :text]), depth, env), clauses, expr(kind, depth, env)}
  end

  defp form(7, kind, depth, env) do
    {name, of} = {name(), Enum.random(@kinds)}
    {:call, {:fn, [name], expr(kind, depth, [{name, of} | env])}, [expr(of, depth, env)]}
  end

  defp form(8, kind, depth, env) do
    {a, b} = names()
    function = {:fn, [a, b], expr(kind, depth, [{b, :text}, {a, :int} | env])}
    {f, args} = {name(), [expr(:int, depth, env), expr(:text, depth, env)]}
    {:let, [{f, function}], {:call, {:var, f}, args}}
  end

  defp form(9, kind, depth, env) do
    {i, acc} = names()
    next = expr(kind, depth - 1, [{i, :int}, {acc, kind} | env])
    {:loop, i, acc, {:const, :rand.uniform(4) - 1}, expr(kind, depth, env), next}
  end

  defp form(10, kind, depth, env),
    do: {:print, expr(Enum.random(@kinds), depth, env), expr(kind, depth, env)}

  defp form(11, kind, depth, env),
    do: {Enum.random([:and, :or]), [expr(kind, depth, env), expr(kind, depth, env)]}

  defp form(12, kind, depth, env) do
    {acc, x} = names()
    function = {:fn, [acc, x], expr(kind, depth, [{acc, kind}, {x, :int} | env])}
    {:op, "reduce", [function, expr(kind, depth, env), expr(:ints, depth, env)]}
  end

  defp op(:int, depth, env) do
    e = &expr(&1, depth, env)

    case :rand.uniform(9) do
      1 -> {:op, Enum.random(["+", "-", "*"]), [e.(:int), e.(:int)]}
      2 -> {:op, Enum.random(["quot", "rem", "mod"]), [e.(:int), e.(:int)]}
      3 -> {:op, Enum.random(["inc", "dec", "abs"]), [e.(:int)]}
      4 -> {:op, "count", [e.(Enum.random([:text, :ints, :map, :rows]))]}
      5 -> {:op, Enum.random(["first", "last"]), [e.(:ints)]}
      6 -> {:op, "get", [e.(:map), {:const, Enum.random(@keys)}, e.(:int)]}
      7 -> {:call, {:const, {:kw, "ka"}}, [e.(:map)]}
      8 -> {:op, "apply", [{:const, {:builtin, "+"}}, {:vec, [e.(:int), e.(:int)]}]}
      9 -> {:op, "nth", [e.(:ints), {:const, :rand.uniform(4) - 1}]}
    end
  end

  defp op(:text, depth, env) do
    e = &expr(&1, depth, env)

    case :rand.uniform(5) do
      1 -> {:op, "str", [e.(Enum.random(@kinds)), e.(Enum.random(@kinds))]}
      2 -> {:op, Enum.random(["upper-case", "trim"]), [e.(:text)]}
      3 -> {:op, "subs", [e.(:text), {:const, :rand.uniform(3) - 1}]}
      4 -> {:op, "join", [{:const, ","}, e.(Enum.random([:texts, :ints]))]}
      5 -> {:op, Enum.random(["first", "last"]), [e.(:texts)]}
    end
  end

  defp op(:bool, depth, env) do
    e = &expr(&1, depth, env)
    kind = Enum.random(@kinds)

    case :rand.uniform(7) do
      1 ->
        {:op, Enum.random(["=", "not="]), [e.(kind), e.(kind)]}

      2 ->
        {:op, Enum.random(["<", ">"]), [e.(:int), e.(:int)]}

      3 ->
        {:op, Enum.random(["even?", "odd?", "pos?"]), [e.(:int)]}

      4 ->
        {:op, Enum.random(["nil?", "string?", "vector?", "map?", "not"]), [e.(kind)]}

      5 ->
        {:op, Enum.random(["some", "every?"]), [predicate(depth, env), e.(:ints)]}

      6 ->
        {:op, "contains?", [e.(Enum.random([:map, :ints])), {:const, Enum.random([1 | @keys])}]}

      7 ->
        {:op, "includes?", [e.(:text), e.(:text)]}
    end
  end

  defp op(:texts, depth, env) do
    e = &expr(&1, depth, env)

    case :rand.uniform(4) do
      1 -> {:op, "split", [e.(:text), {:const, ","}]}
      2 -> {:op, "map", [function(:int, :text, depth, env), e.(:ints)]}
      3 -> {:op, Enum.random(["rest", "reverse", "distinct"]), [e.(:texts)]}
      4 -> {:op, "concat", [e.(:texts), e.(:texts)]}
    end
  end

  defp op(:ints, depth, env) do
    e = &expr(&1, depth, env)

    case :rand.uniform(13) do
      1 ->
        {:op, Enum.random(["map", "keep"]), [function(:int, :int, depth, env), e.(:ints)]}

      2 ->
        {:op, "map", [{:const, {:kw, "ka"}}, e.(:rows)]}

      3 ->
        {:op, Enum.random(["filter", "remove", "take-while", "drop-while"]),
         [predicate(depth, env), e.(:ints)]}

      4 ->
        {:op, Enum.random(["rest", "reverse", "distinct"]), [e.(:ints)]}

      5 ->
        {:op, Enum.random(["take", "drop"]), [{:const, :rand.uniform(4) - 2}, e.(:ints)]}

      6 ->
        {:op, "range", [{:const, :rand.uniform(6) - 1}]}

      7 ->
        {:op, "conj", [e.(:ints), e.(:int)]}

      8 ->
        {:op, Enum.random(["concat", "into"]), [e.(:ints), e.(:ints)]}

      9 ->
        {:op, "cons", [e.(:int), e.(:ints)]}

      10 ->
        {:op, "vals", [e.(:map)]}

      11 ->
        in_for(depth, env)

      12 ->
        {:op, "map", [{:const, {:builtin, "+"}}, e.(:ints), e.(:ints)]}

      13 ->
        {:op, "map-indexed",
         [{:fn, ["i", "x"], {:op, "+", [{:var, "i"}, {:var, "x"}]}}, e.(:ints)]}
    end
  end

  defp op(:map, depth, env) do
    e = &expr(&1, depth, env)
    key = {:const, Enum.random(@keys)}

    case :rand.uniform(7) do
      1 -> {:op, "assoc", [e.(:map), key, e.(:int)]}
      2 -> {:op, "dissoc", [e.(:map), key]}
      3 -> {:op, "update", [e.(:map), key, function(:int, :int, depth, env)]}
      4 -> {:op, "merge", [e.(:map), e.(:map)]}
      5 -> {:op, "first", [e.(:rows)]}
      6 -> {:map, for(key <- @keys, chance(), do: {key, e.(:int)})}
      7 -> {:op, "zipmap", [{:vec, for(key <- @keys, do: {:const, key})}, e.(:ints)]}
    end
  end

  defp op(:rows, depth, env) do
    e = &expr(&1, depth, env)

    case :rand.uniform(5) do
      1 -> {:op, "filter", [function(:map, :bool, depth, env), e.(:rows)]}
      2 -> {:op, "map", [function(:int, :map, depth, env), e.(:ints)]}
      3 -> {:op, Enum.random(["rest", "reverse", "distinct"]), [e.(:rows)]}
      4 -> {:vec, [e.(:map), e.(:map)]}
      5 -> {:op, "filter", [{:const, {:kw, "kb"}}, e.(:rows)]}
    end
  end

  defp in_for(depth, env) do
    x = name()
    inner = [{x, :int} | env]

    # A constant that is no collection is an error of the analysis.
    items =
      case expr(:ints, depth, env) do
        {:const, _value} -> {:vec, []}
        items -> items
      end

    {:for, x, items, expr(:bool, depth, inner), expr(:int, depth, inner)}
  end

  defp function(from, to, depth, env) do
    x = name()
    {:fn, [x], expr(to, depth, [{x, from} | env])}
  end

  defp predicate(depth, env) do
    if chance(),
      do: {:const, {:builtin, Enum.random(["even?", "odd?", "pos?", "nil?"])}},
      else: function(:int, :bool, depth, env)
  end

  @names ["a", "b", "c", "d1", "x-y", "n?"]

  defp name, do: Enum.random(@names)
  defp names, do: @names |> Enum.take_random(2) |> List.to_tuple()
  defp chance, do: :rand.uniform(2) == 1
  defp list(make), do: for(_ <- 1..(:rand.uniform(5) - 1)//1, do: make.())

  defp integer,
    do:
      Enum.random([
        0,
        1,
        -1,
        2,
        3,
        7,
        10,
        -25,
        4_611_686_018_427_387_904,
        12_345_678_901_234_567_890
      ])

  defp word, do: Enum.random(["", "a", "b,c", " é ", "Abc", "1", "👍🏽x", "\n\"q\""])
end
