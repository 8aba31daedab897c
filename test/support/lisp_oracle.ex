defmodule PtcRunner.Test.LispOracle do
  @moduledoc """
  An interpreter of the core of PTC-Lisp in plain Elixir, for differential tests: what random programs must give.

  A program is an AST, `t:expr/0`, of which `PtcRunner.Test.LispOracle.Written` makes the text. A value is that of Elixir; a keyword is
  `{:kw, name}`, a function a fun of a list of arguments. What has no value throws `:wrong`, and what this interpreter does not know `:unknown`.
  """

  alias PtcRunner.Test.LispOracle.BuiltIns

  @type expr ::
          {:const, term()}
          | {:var, String.t()}
          | {:vec, [expr()]}
          | {:map, [{term(), expr()}]}
          | {:let, [{pattern(), expr()}], expr()}
          | {:if, expr(), expr(), expr()}
          | {:cond, [{expr(), expr()}], expr()}
          | {:case, expr(), [{term(), expr()}], expr()}
          | {:and | :or, [expr()]}
          | {:fn, [String.t()], expr()}
          | {:call, expr(), [expr()]}
          | {:op, String.t(), [expr()]}
          | {:loop, String.t(), String.t(), expr(), expr(), expr()}
          | {:for, String.t(), expr(), expr(), expr()}
          | {:print, expr(), expr()}
          | {:def, String.t(), expr(), expr()}

  @type pattern :: String.t() | {:items, [String.t()], String.t()} | {:keys, [String.t()]}

  @doc """
  The value of a program as it leaves a run, with what it has printed and defined; `:wrong` with what it has printed if it has none; `:unknown` if this
  interpreter does not know.

      iex> alias PtcRunner.Test.LispOracle
      iex> LispOracle.run({:let, [{"a", {:const, 2}}], {:op, "+", [{:var, "a"}, {:const, 1}]}}, %{})
      {:ok, 3, [], %{}}
      iex> LispOracle.run({:print, {:const, "x"}, {:op, "+", [{:const, nil}, {:const, 1}]}}, %{})
      {:wrong, ["x"]}

  """
  @spec run(expr(), map()) ::
          {:ok, term(), [String.t()], %{String.t() => term()}} | {:wrong, [String.t()]} | :unknown
  def run(program, data) do
    Process.put(__MODULE__, {[], %{}})
    env = Map.new(data, fn {name, value} -> {"data/" <> name, value} end)
    value = eval(program, env)
    {prints, defined} = Process.delete(__MODULE__)

    {:ok, outside(value), Enum.reverse(prints),
     Map.new(defined, fn {n, v} -> {n, outside(v)} end)}
  catch
    :wrong -> {:wrong, __MODULE__ |> Process.delete() |> elem(0) |> Enum.reverse()}
    :unknown -> :unknown
  end

  @doc "A value as it leaves a run: keywords are their names."
  @spec outside(term()) :: term()
  def outside({:kw, name}), do: name
  def outside(list) when is_list(list), do: Enum.map(list, &outside/1)

  def outside(map) when is_map(map),
    do: Map.new(map, fn {key, value} -> {outside(key), outside(value)} end)

  def outside({:builtin, _name}), do: throw(:unknown)
  def outside(function) when is_function(function), do: throw(:unknown)
  def outside(other), do: other

  defp eval({:const, value}, _env), do: value

  defp eval({:var, name}, env) do
    {_prints, defined} = Process.get(__MODULE__)
    Map.get_lazy(env, name, fn -> Map.fetch!(defined, name) end)
  end

  defp eval({:vec, items}, env), do: Enum.map(items, &eval(&1, env))
  defp eval({:map, entries}, env), do: Map.new(entries, fn {key, e} -> {key, eval(e, env)} end)

  defp eval({:let, bindings, body}, env) do
    env = Enum.reduce(bindings, env, fn {pattern, e}, env -> bind(pattern, eval(e, env), env) end)
    eval(body, env)
  end

  defp eval({:if, test, yes, no}, env),
    do: if(eval(test, env), do: eval(yes, env), else: eval(no, env))

  defp eval({:cond, clauses, default}, env) do
    case Enum.find(clauses, fn {test, _} -> eval(test, env) end) do
      {_test, e} -> eval(e, env)
      nil -> eval(default, env)
    end
  end

  defp eval({:case, subject, clauses, default}, env) do
    value = eval(subject, env)

    case Enum.find(clauses, fn {constant, _} -> constant == value end) do
      {_constant, e} -> eval(e, env)
      nil -> eval(default, env)
    end
  end

  defp eval({:and, [last]}, env), do: eval(last, env)
  defp eval({:and, [e | rest]}, env), do: eval(e, env) && eval({:and, rest}, env)
  defp eval({:or, [last]}, env), do: eval(last, env)
  defp eval({:or, [e | rest]}, env), do: eval(e, env) || eval({:or, rest}, env)

  defp eval({:fn, params, body}, env) do
    fn args ->
      if length(args) != length(params), do: throw(:wrong)
      eval(body, params |> Enum.zip(args) |> Enum.into(env))
    end
  end

  defp eval({:call, function, args}, env) do
    function = eval(function, env)
    BuiltIns.apply(function, Enum.map(args, &eval(&1, env)))
  end

  defp eval({:op, name, args}, env), do: BuiltIns.call(name, Enum.map(args, &eval(&1, env)))

  # (loop [i count acc first] (if (<= i 0) acc (recur (dec i) next)))
  defp eval({:loop, i, acc, count, first, next}, env) do
    count = eval(count, env)
    # Bindings are made one after another.
    first = eval(first, Map.put(env, i, count))
    if is_integer(count), do: rounds(count, first, {i, acc, next}, env), else: throw(:unknown)
  end

  defp eval({:for, name, items, test, body}, env) do
    for item <- BuiltIns.items(eval(items, env)),
        env = Map.put(env, name, item),
        eval(test, env),
        do: eval(body, env)
  end

  defp eval({:print, e, body}, env) do
    text = BuiltIns.print(eval(e, env))
    {prints, defined} = Process.get(__MODULE__)
    Process.put(__MODULE__, {[text | prints], defined})
    eval(body, env)
  end

  defp eval({:def, name, e, body}, env) do
    value = eval(e, env)
    {prints, defined} = Process.get(__MODULE__)
    Process.put(__MODULE__, {prints, Map.put(defined, name, value)})
    eval(body, env)
  end

  defp rounds(i, acc, _loop, _env) when i <= 0, do: acc

  defp rounds(i, acc, {name, acc_name, next} = loop, env) do
    value = eval(next, Map.merge(env, %{name => i, acc_name => acc}))
    rounds(i - 1, value, loop, env)
  end

  defp bind(name, value, env) when is_binary(name), do: Map.put(env, name, value)

  defp bind({:items, names, rest}, value, env) when is_list(value) or value == nil do
    items = value || []
    env = Map.put(env, rest, Enum.drop(items, length(names)))

    names
    |> Enum.with_index()
    |> Enum.reduce(env, fn {name, at}, env -> Map.put(env, name, Enum.at(items, at)) end)
  end

  defp bind({:keys, names}, value, env) when is_map(value) or value == nil do
    Enum.reduce(names, env, &Map.put(&2, &1, BuiltIns.look(value, {:kw, &1}, nil)))
  end

  defp bind(_pattern, _value, _env), do: throw(:wrong)
end
