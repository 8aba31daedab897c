defmodule PtcRunner.Test.Flowing do
  @moduledoc """
  Random programs over data with firewalled fields, whose values go to tools. Each step fits the value before it, so that most programs
  reach the tool. The generator knows of each value whether a part of it comes from a firewalled field, apart from the plan, so a
  flow that the plan does not see is found, and a program that is refused without one.
  """

  import PtcRunner.Test.Flowing.{Make, Types}

  alias PtcRunner.Test.Flowing.{Data, Steps}

  @typedoc "A program, what it runs over, and whether the generator knows of a flow into an argument."
  @type flowing :: %{
          program: map(),
          form: Data.form(),
          structs: :maps | :values,
          keys: :strings | :any,
          secret?: boolean()
        }

  @doc "A program whose value is given to a tool. `kind` is `:any`, or `:right` for those whose value has no firewalled part."
  @spec program(:any | :right) :: flowing()
  def program(kind \\ :any) do
    form = Enum.random([:strings, :strings, :atoms, :structs, :texts])
    structs = if form == :structs, do: :values, else: Enum.random([:maps, :values])
    {context, memory} = Data.types(form)

    env = %{
      cur: nil,
      names: %{},
      context: context,
      memory: memory,
      answers: answers(),
      # Keys that are atoms are equal to texts only where structs are values.
      texts?: form != :atoms or structs == :values,
      left: 2
    }

    {node, secret?} = sent(kind, env)

    %{
      program: node,
      form: form,
      structs: structs,
      keys: if(form in [:strings, :texts], do: Enum.random([:strings, :any]), else: :any),
      secret?: secret?
    }
  end

  @doc """
  Two programs: the first one keeps a value in the memory under a public name, the second one gives a part of it to a tool. `secret?` says
  whether that part comes from a firewalled field.
  """
  @spec kept() :: {first :: map(), flowing()}
  def kept do
    form = Enum.random([:strings, :strings, :atoms, :structs, :texts])
    {context, memory} = Data.types(form)
    env = %{cur: nil, names: %{}, context: context, memory: memory, answers: answers()}
    env = Map.merge(env, %{texts?: form != :atoms, left: 2})
    {start, type} = start(env)
    {steps, type} = steps(:rand.uniform(4) - 1, type, [start], env)
    env = %{env | memory: Map.put(memory, "kept", type)}
    var = op("var", %{"name" => "kept"})
    {steps_after, of_part} = steps(:rand.uniform(3) - 1, type, [var], env)
    {node, secret?} = once(:any, of_part, steps_after, env)

    flowing = %{
      program: node,
      form: form,
      structs: if(form == :structs, do: :values, else: :maps),
      keys: if(form in [:strings, :texts], do: :strings, else: :any),
      secret?: secret?
    }

    {%{"kept" => piped(steps), "more" => 1}, flowing}
  end

  # For each item of a list, or once. The number of calls is that of the items.
  defp sent(kind, env) do
    {start, type} = start(env)
    {steps, type} = steps(:rand.uniform(4) - 1, type, [start], env)

    case type do
      {:list, item, counted?} when kind == :any or not counted? ->
        if chance(2) do
          {own, of_own} = public(kind, item, [op("it")], env)
          each = op("map", %{"expr" => call(piped(own))})
          {piped([each | steps]), secret?(of_own) or counted?}
        else
          once(kind, type, steps, env)
        end

      _other ->
        once(kind, type, steps, env)
    end
  end

  defp once(kind, type, steps, env) do
    {steps, type} = public(kind, type, steps, env)
    {call(piped(steps)), secret?(type)}
  end

  defp piped(steps), do: op("pipe", %{"steps" => Enum.reverse(steps)})

  defp call(value) do
    tool = Enum.random(["send", "send", "look"])
    op("call", %{"tool" => tool, "args" => %{"x" => value}})
  end

  defp start(env) do
    pick([
      fn -> loaded(env) end,
      fn -> loaded(env) end,
      fn -> rows(env) end,
      fn -> called(env) end,
      fn -> value(env) |> then(fn {value, type} -> {expr_or_node(value), type} end) end
    ])
  end

  defp loaded(env) do
    {name, type} = Enum.random(env.context)
    {op("load", %{"name" => name}), type}
  end

  defp steps(0, type, done, _env), do: {done, type}

  defp steps(left, type, done, env) do
    {step, type} = Steps.step(type, env)
    steps(left - 1, type, [step | done], env)
  end

  # Two thirds of all programs, and all right ones, end with steps that take the firewalled parts out.
  defp public(kind, type, steps, env) do
    if secret?(type) and (kind == :right or not chance(3)),
      do: cleaned(type, steps, env),
      else: {steps, type}
  end

  defp cleaned(type, steps, env) do
    case clean(type, env) do
      nil -> {[op("literal", %{"value" => 1}) | steps], leaf(:int)}
      {step, type} -> {[step | steps], type}
    end
  end

  # A step that leaves nothing of the firewalled parts; nil if there is none.
  defp clean({:obj, fields}, env) do
    public = public(fields)
    if public == [], do: nil, else: clean(fields, public, env)
  end

  defp clean({:list, item, false}, env) do
    case {item, clean(item, env)} do
      {_item, nil} ->
        pick([fn -> {op("count"), leaf(:int)} end, fn -> nil end])

      {{:obj, _fields}, {%{"op" => op} = step, {:obj, fields}}}
      when op in ["select", "unset", "set"] ->
        pick([
          fn -> {step, {:list, {:obj, fields}, false}} end,
          fn -> {op("map", %{"expr" => step}), {:list, {:obj, fields}, false}} end
        ])

      {_item, {step, type}} ->
        pick([
          fn -> {op("map", %{"expr" => step}), {:list, type, false}} end,
          fn ->
            {op("flat_map", %{"expr" => op("list", %{"items" => [step]})}), {:list, type, false}}
          end,
          fn -> {op("count"), leaf(:int)} end
        ])
    end
  end

  defp clean(_type, _env), do: nil

  defp clean(fields, public, env) do
    kept = {:obj, Map.take(fields, public)}

    pick([
      fn -> {op("select", %{"fields" => public}), kept} end,
      fn -> {op("unset", %{"fields" => secret(fields)}), kept} end,
      fn -> {op("set", %{"fields" => Map.new(secret(fields), &{&1, nil})}), kept} end,
      fn -> deeper(fields, env) end,
      fn -> if env.texts?, do: by_keys(fields, public), else: deeper(fields, env) end,
      fn -> {op("get", %{"field" => hd(public)}), fields[hd(public)]} end
    ])
  end

  # Its entries, of which the public keys are kept.
  defp by_keys(fields, public) do
    key = &op(&1, %{"field" => "key", "value" => &2})
    none = op("and", %{"conditions" => Enum.map(secret(fields), &key.("neq", &1))})
    any = op("or", %{"conditions" => Enum.map(public, &key.("eq", &1))})
    left = op("in", %{"left" => op("get", %{"field" => "key"}), "value" => public})
    kept = {:dict, public |> Enum.map(&fields[&1]) |> Enum.reduce(leaf(:null), &join/2), false}

    {keep, type} =
      pick([
        fn -> {[op("filter", %{"where" => none}), op("from_entries")], kept} end,
        fn -> {[op("filter", %{"where" => any}), op("from_entries")], kept} end,
        fn -> {[op("filter", %{"where" => left}), op("from_entries")], kept} end,
        fn ->
          where = op("not", %{"condition" => none})
          {[op("reject", %{"where" => where}), op("from_entries")], kept}
        end,
        fn ->
          where = key.("in", secret(fields))
          {[op("reject", %{"where" => where}), op("reverse"), op("from_entries")], kept}
        end,
        fn ->
          others = for name <- secret(fields), not String.starts_with?(name, ["_", "-"]), do: name
          starts = for start <- ["_", "-"], do: key.("starts_with", start)
          where = op("or", %{"conditions" => starts ++ Enum.map(others, &key.("eq", &1))})
          {[op("reject", %{"where" => where}), op("from_entries")], kept}
        end,
        fn ->
          where = key.("eq", hd(public))

          {[op("find", %{"where" => where}), op("get", %{"field" => "value"})],
           fields[hd(public)]}
        end
      ])

    {op("pipe", %{"steps" => [op("entries") | keep]}), type}
  end

  # Into an object that has both.
  defp deeper(fields, env) do
    case for {name, {:obj, inner}} <- fields, public(inner) != [], do: {name, inner} do
      [] ->
        public = public(fields)
        {op("select", %{"fields" => public}), {:obj, Map.take(fields, public)}}

      objects ->
        {name, inner} = Enum.random(objects)
        {step, type} = clean({:obj, inner}, env)
        {op("pipe", %{"steps" => [op("get", %{"field" => name}), step]}), type}
    end
  end

  defp answers do
    row = Data.row(:strings)
    public = {:obj, %{"id" => leaf(:int), "name" => leaf(:text)}}

    %{
      "fetch" => {:list, row, false},
      "typed" =>
        {:list, {:obj, %{"id" => leaf(:int), "name" => leaf(:text), "_pin" => leaf(:int, true)}},
         false},
      "public" => {:list, public, false},
      "fail" => leaf(:any)
    }
  end

  @doc "The options of a run of it, over the data of a variant. `seen` is given the arguments."
  @spec options(flowing(), 0..2, (map() -> term())) :: keyword()
  def options(flowing, variant, seen) do
    [
      context: Data.context(flowing.form, variant),
      memory: Data.memory(flowing.form, variant),
      keys: flowing.keys,
      structs: flowing.structs,
      now: "2024-02-29T10:30:00Z",
      tools: tools(variant, seen)
    ]
  end

  @doc "The tools."
  @spec tools(0..2, (map() -> term())) :: map()
  def tools(variant, seen) do
    rows = for n <- 1..3, do: Data.row(:strings, variant, n)
    typed = Enum.map(rows, &Map.take(&1, ["id", "name", "_pin"]))

    %{
      "send" => fn args -> seen.(args) && true end,
      "look" => {fn args -> seen.(args) && true end, effect: :read},
      "fetch" => {fn _ -> rows end, effect: :read},
      "typed" =>
        {fn _ -> typed end,
         signature: "() -> [{id :int, name :string, _pin :int}]", effect: :read},
      "public" =>
        {fn _ -> Enum.map(typed, &Map.delete(&1, "_pin")) end,
         signature: "() -> [{id :int, name :string}]", effect: :read},
      "fail" => fn _ -> {:error, "no"} end
    }
  end
end
