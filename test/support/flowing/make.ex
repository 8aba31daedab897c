defmodule PtcRunner.Test.Flowing.Make do
  @moduledoc "Parts of programs that fit where they stand, with their types. The current value is `env.cur`."

  import PtcRunner.Test.Flowing.Types

  alias PtcRunner.Test.Flowing.{Data, Steps}

  @typedoc "The current value, the names that are bound, the data, the answers of tools, and how much may still be made."
  @type env :: %{
          cur: Data.type() | nil,
          names: %{String.t() => Data.type()},
          context: %{String.t() => Data.type()},
          memory: %{String.t() => Data.type()},
          answers: %{String.t() => Data.type()},
          left: integer()
        }

  @type made :: {term(), Data.type()}

  @doc "An operation."
  @spec op(String.t(), map()) :: map()
  def op(name, more \\ %{}), do: Map.put(more, "op", name)

  @doc "What one of the functions makes."
  @spec pick([(() -> made)]) :: made when made: term()
  def pick(functions), do: Enum.random(functions).()

  @doc "True once in `n` times."
  @spec chance(pos_integer()) :: boolean()
  def chance(n), do: :rand.uniform(n) == 1

  @doc "One to three of them."
  @spec some([name]) :: [name] when name: term()
  def some(names), do: Enum.take_random(names, :rand.uniform(3))

  @doc "The name of a field of such a type; nil if there is none. Firewalled ones are as frequent as there are such fields."
  @spec pick_name(%{String.t() => Data.type()}, (Data.type() -> boolean())) :: String.t() | nil
  def pick_name(fields, fits) do
    case for {name, type} <- fields, fits.(type), do: name do
      [] -> nil
      names -> names |> Enum.filter(&(not String.starts_with?(&1, ["_", "-"]))) |> one_of(names)
    end
  end

  # The others one time in five.
  defp one_of([], names), do: Enum.random(names)
  defp one_of(public, names), do: Enum.random(if(chance(5), do: names, else: public))

  @doc "A template."
  @spec value(env()) :: made()
  def value(%{left: left} = env) do
    env = %{env | left: left - 1}

    if left <= 0 or chance(4),
      do: constant(),
      else:
        pick([
          fn -> read(env) end,
          fn -> read(env) end,
          fn -> piped(env) end,
          fn -> loaded(env) end,
          fn -> named(env) end,
          fn -> number_value(env) end,
          fn -> text_value(env) end,
          fn -> compared(env) end,
          fn ->
            {a, s} = value(env)
            {b, t} = value(env)
            {%{"a" => a, "b" => b}, {:obj, %{"a" => s, "b" => t}}}
          end,
          fn ->
            {a, s} = value(env)
            {b, t} = value(env)
            {[a, b], {:list, join(s, t), false}}
          end,
          fn -> called(env) end
        ])
  end

  defp constant do
    Enum.random([
      {1, leaf(:int)},
      {2.5, leaf(:float)},
      {"ada", leaf(:text)},
      {nil, leaf(:null)},
      {true, leaf(:bool)}
    ])
  end

  # A part of the current value.
  defp read(%{cur: {:obj, fields}} = env) do
    case pick_name(fields, fn _ -> true end) do
      nil -> number_value(env)
      name -> {op("get", %{"field" => name}), fields[name]}
    end
  end

  defp read(%{cur: nil} = env), do: loaded(env)
  defp read(%{cur: type}), do: {op("it"), type}

  # One to three steps from a value.
  defp piped(env) do
    {start, type} = if env.cur == nil, do: rows(env), else: {op("it"), env.cur}
    {steps, type} = steps(start, type, env)
    {op("pipe", %{"steps" => steps}), type}
  end

  defp steps(start, type, env) do
    {steps, type} =
      Enum.reduce(1..:rand.uniform(3), {[start], type}, fn _, {steps, type} ->
        {step, type} = Steps.step(type, env)
        {[step | steps], type}
      end)

    {Enum.reverse(steps), type}
  end

  defp loaded(env) do
    {name, type} = Enum.random(env.context)
    {op("load", %{"name" => name}), type}
  end

  defp named(%{names: names, memory: memory}) do
    {name, type} = memory |> Map.merge(names) |> Enum.random()
    {op("var", %{"name" => name}), type}
  end

  @doc "A list of objects, from the data or from a tool."
  @spec rows(env()) :: made()
  def rows(env) do
    case Enum.random(
           for {name, type} <- Map.merge(env.memory, env.context),
               match?({:list, {:obj, _}, _}, type),
               do: {name, type}
         ) do
      {name, type} when is_map_key(env.context, name) -> {op("load", %{"name" => name}), type}
      {name, type} -> {op("var", %{"name" => name}), type}
    end
  end

  @doc "A call of a tool that is not one of those whose arguments are looked at."
  @spec called(env()) :: made()
  def called(%{answers: answers} = env) when answers == %{}, do: loaded(env)

  def called(env) do
    {name, type} = Enum.random(env.answers)
    call = op("call", %{"tool" => name, "args" => %{}})

    cond do
      name == "fail" ->
        other = Enum.random([op("var", %{"name" => "error"}), 1])
        {Map.put(call, "on_error", other), leaf(:any)}

      # What is either rows or numbers of a `range` counts as numbers.
      chance(4) ->
        {a, s} = value(%{env | left: 1})
        {a, s} = if match?({:list, _, _}, s), do: {1, leaf(:int)}, else: {a, s}
        {Map.put(call, "on_error", a), join(type, s)}

      true ->
        {call, type}
    end
  end

  @doc "A node that sees the current value, with the type of what it gives."
  @spec expr(Data.type(), env()) :: made()
  def expr(item, env) do
    env = %{env | cur: item, left: env.left - 1}

    pick([
      fn -> Steps.step(item, env) end,
      fn -> Steps.step(item, env) end,
      fn ->
        {value, type} = value(env)
        {expr_or_node(value), type}
      end,
      fn ->
        {steps, type} = steps(op("it"), item, env)
        {op("pipe", %{"steps" => steps}), type}
      end
    ])
  end

  @doc "A template as a node."
  @spec expr_or_node(term()) :: map()
  def expr_or_node(%{"op" => op} = node) when is_binary(op), do: node
  def expr_or_node(map) when is_map(map), do: map
  def expr_or_node(list) when is_list(list), do: op("list", %{"items" => list})
  def expr_or_node(constant), do: op("literal", %{"value" => constant})

  @doc "What stands where a text or an operation must stand."
  @spec expr_or_text(term()) :: term()
  def expr_or_text(text) when is_binary(text), do: text
  def expr_or_text(node), do: node

  @doc "A condition: also with firewalled fields, which decide and do not flow."
  @spec condition(Data.type(), env()) :: map()
  def condition(item, env), do: item |> condition_of(env) |> elem(0)

  @doc "A condition, and whether its value comes from a firewalled field."
  @spec condition_of(Data.type(), env()) :: {map(), boolean()}
  def condition_of({:obj, fields}, _env) do
    name = pick_name(fields, fn _ -> true end) || "id"
    secret? = fields |> Map.get(name, leaf(:null)) |> secret?()

    node =
      Enum.random([
        op("neq", %{"field" => name, "value" => nil}),
        op("neq", %{"field" => name, "value" => 3}),
        op("gt", %{"field" => name, "value" => 1}),
        op("not", %{"condition" => op("eq", %{"field" => name, "value" => 1})}),
        op("or", %{
          "conditions" => [
            op("eq", %{"left" => op("get", %{"field" => name}), "value" => 1}),
            op("neq", %{"left" => 1, "value" => 2})
          ]
        })
      ])

    if chance(3), do: {op("neq", %{"left" => 1, "value" => 2}), false}, else: {node, secret?}
  end

  def condition_of({:leaf, kind, secret?}, _env) when kind in [:int, :float, :text],
    do: {Enum.random([op("neq", %{"value" => 2}), op("neq", %{"value" => nil})]), secret?}

  def condition_of(_item, _env), do: {op("eq", %{"left" => 1, "value" => 1}), false}

  @doc "A node that gives one value of an item."
  @spec scalar_expr(Data.type(), env()) :: {map(), Data.type()}
  def scalar_expr(item, env), do: Enum.random([&text_expr/2, &number_expr/2]).(item, env)

  defp number_expr(item, env) do
    {node, secret?} = number(%{env | cur: item})
    {op("add", %{"left" => node, "right" => 1}), leaf(:int, secret?)}
  end

  @doc "A node that gives a text of an item."
  @spec text_expr(Data.type(), env()) :: {map(), Data.type()}
  def text_expr(item, env) do
    {node, secret?} = text(%{env | cur: item})
    {op("text", %{"parts" => ["k", node]}), leaf(:text, secret?)}
  end

  @doc "A number, or a node that gives one, and whether it comes from a firewalled field."
  @spec number(env()) :: {term(), boolean()}
  def number(env), do: of_kinds([:int, :float], {2, false}, env)

  @doc "A text, or a node that gives one."
  @spec text(env()) :: {term(), boolean()}
  def text(env), do: of_kinds([:text], {"b", false}, env)

  defp of_kinds(kinds, constant, env) do
    fits = &match?({:leaf, kind, _} when is_atom(kind), &1)
    fits = fn type -> fits.(type) and elem(type, 1) in kinds end

    own =
      case env.cur do
        {:obj, fields} ->
          name = pick_name(fields, fits)
          if name, do: [{op("get", %{"field" => name}), secret?(fields[name])}], else: []

        type ->
          if type != nil and fits.(type), do: [{op("it"), secret?(type)}], else: []
      end

    bound =
      for {name, type} <- env.names,
          fits.(type),
          do: {op("var", %{"name" => name}), secret?(type)}

    Enum.random([constant | own ++ own ++ bound])
  end

  defp number_value(env) do
    {a, s} = number(env)
    {b, t} = number(env)

    pick([
      fn ->
        {op(Enum.random(~w(add sub mul)), %{"left" => a, "right" => b}), leaf(:float, s or t)}
      end,
      fn ->
        {op("mod", %{"left" => op("floor", %{"value" => a}), "right" => 5}), leaf(:int, s)}
      end,
      fn -> {op("pct", %{"part" => a, "whole" => 7}), leaf(:float, s)} end,
      fn -> {op("div", %{"left" => a, "right" => 4}), leaf(:float, s)} end,
      fn -> {op("round", %{"value" => a, "precision" => 2}), leaf(:float, s)} end,
      fn -> {op(Enum.random(~w(abs floor ceil)), %{"value" => a}), leaf(:float, s)} end,
      fn ->
        {op("range", %{
           "from" => 1,
           "to" => op("mod", %{"left" => op("floor", %{"value" => b}), "right" => 4})
         }), {:list, leaf(:int, t), t}}
      end,
      fn -> {op("to_text", %{"value" => a, "decimals" => 1}), leaf(:text, s)} end
    ])
  end

  defp text_value(env) do
    {a, s} = text(env)
    {b, t} = text(env)

    pick([
      fn -> {op("text", %{"parts" => [a, "-", b]}), leaf(:text, s or t)} end,
      fn -> {op(Enum.random(~w(upper lower trim)), %{"value" => a}), leaf(:text, s)} end,
      fn -> {op("length", %{"value" => a}), leaf(:int, s)} end,
      fn ->
        {op("replace", %{"value" => a, "find" => "a", "with" => expr_or_text(b)}),
         leaf(:text, s or t)}
      end,
      fn -> {op("split", %{"value" => a, "by" => "-"}), {:list, leaf(:text, s), s}} end,
      fn -> {op("extract", %{"value" => a, "pattern" => "[0-9]+"}), leaf(:text, s)} end,
      fn -> {op("to_number", %{"value" => a}), leaf(:any, s)} end,
      fn -> {op("to_text", %{"value" => a}), leaf(:text, s)} end
    ])
  end

  defp compared(env) do
    {a, s} = value(%{env | left: min(env.left, 1)})
    {b, t} = value(%{env | left: min(env.left, 1)})
    secret? = secret?(s) or secret?(t)
    # Null in an optional field is no value.
    a = if a == nil, do: expr_or_node(a), else: a

    pick([
      fn ->
        {op(Enum.random(~w(eq neq gt gte lt lte)), %{"left" => a, "value" => b}),
         leaf(:bool, secret?)}
      end,
      fn -> {op("in", %{"left" => a, "value" => [b, 1]}), leaf(:bool, secret?)} end,
      fn -> {op("contains", %{"left" => [a], "value" => b}), leaf(:bool, secret?)} end,
      fn ->
        {op(Enum.random(~w(and or)), %{"conditions" => [expr_or_node(a), expr_or_node(b)]}),
         leaf(:bool, secret?)}
      end,
      fn -> {op("not", %{"condition" => expr_or_node(a)}), leaf(:bool, secret?(s))} end,
      fn -> {op("starts_with", %{"left" => a, "value" => b}), leaf(:bool, secret?)} end,
      fn -> {op("matches", %{"left" => a, "pattern" => "a"}), leaf(:bool, secret?(s))} end
    ])
  end
end
