defmodule PtcRunner.Agent.Spec.Expansion do
  @moduledoc false
  # The types of a function's parameters and of its result, with the definitions of the types it names in their places: types of
  # its module, of other modules, with parameters and with `when`.

  alias PtcRunner.Sandbox.Modules
  alias PtcRunner.SubAgent.TypeExtractor.Spec

  # Maximum depth of definitions within definitions.
  @expansions 3

  # Types of these modules have a meaning of their own, or none that a program could build.
  @kept [String, DateTime, Date, Time, NaiveDateTime, Decimal]
  @platform [:elixir, :kernel, :stdlib]

  # The definitions of the module where a type stands, what its variables stand for (a type behind `when`, or an
  # argument whose definitions are in their places), and how many definitions may still be opened.
  @typep env :: %{
           module: module(),
           definitions: map(),
           vars: %{atom() => {:constraint | :argument, tuple()}},
           left: non_neg_integer()
         }

  @doc """
  The type of a function's first parameter, and the other modules whose definitions it has, each with its MD5; nil without a spec. Several clauses
  of a spec are one union.

      iex> PtcRunner.Agent.Spec.Expansion.of(PtcRunner.Agent, :unknown, 1)
      nil

  """
  @spec of(module(), atom(), arity()) :: {tuple(), [{module(), binary()}]} | nil
  def of(module, name, arity) do
    with {[param], modules} <-
           types(module, name, arity, fn params, _returns -> [hd(params)] end),
         do: {param, modules}
  end

  @doc """
  The types of a function's parameters and of its result; nil without a spec.

      iex> {[_one, _other], {:type, _, name, []}} = PtcRunner.Agent.Spec.Expansion.function(String, :jaro_distance, 2)
      iex> name
      :float

  """
  @spec function(module(), atom(), arity()) :: {[tuple()], tuple()} | nil
  def function(module, name, arity) do
    with {types, _modules} <- types(module, name, arity, &(&1 ++ [&2])) do
      {params, [returns]} = Enum.split(types, arity)
      {params, returns}
    end
  end

  # The types that `pick` takes of the parameters and the result, each over all clauses.
  defp types(module, name, arity, pick) do
    with {[_ | _] = clauses, definitions} <- Spec.clauses(module, name, arity) do
      {types, modules} = Enum.map_reduce(clauses, %{}, &clause(&1, pick, module, definitions, &2))

      {Enum.zip_with(types, &one_of/1), Map.to_list(modules)}
    else
      _no_spec -> nil
    end
  end

  @doc "Whether these modules are still the ones that were read."
  @spec current?([{module(), binary()}]) :: boolean()
  def current?(modules), do: Enum.all?(modules, fn {module, md5} -> md5(module) == md5 end)

  defp one_of([param]), do: param
  defp one_of(params), do: {:type, 0, :union, params}

  defp clause(clause, pick, module, definitions, modules) do
    {{:type, _, :fun, [{:type, _, :product, params}, returns]}, constraints} = bounded(clause)

    vars =
      for {:type, _, :constraint, [_, [{:var, _, var}, type]]} <- constraints,
          into: %{},
          do: {var, {:constraint, type}}

    env = %{module: module, definitions: definitions, vars: vars, left: @expansions}
    params |> pick.(returns) |> expand(env, modules)
  end

  defp bounded({:type, _, :bounded_fun, [fun, constraints]}), do: {fun, constraints}
  defp bounded(fun), do: {fun, []}

  @spec expand(term(), env(), map()) :: {term(), map()}
  defp expand({:var, _, name} = var, env, modules) do
    case Map.get(env.vars, name) do
      {:constraint, type} when env.left > 0 -> expand(type, %{env | left: env.left - 1}, modules)
      {:argument, type} -> {type, modules}
      _unknown -> {var, modules}
    end
  end

  defp expand({:user_type, _, name, args} = type, env, modules),
    do: defined(type, env.module, env.definitions, name, args, env, modules)

  defp expand(
         {:remote_type, _, [{:atom, _, module}, {:atom, _, name}, args]} = type,
         env,
         modules
       ) do
    if env.left == 0 or module in @kept or platform?(module) do
      {type, modules}
    else
      modules = Map.put_new_lazy(modules, module, fn -> md5(module) end)
      defined(type, module, Spec.definitions(module), name, args, env, modules)
    end
  end

  defp expand(tuple, env, modules) when is_tuple(tuple) do
    {list, modules} = tuple |> Tuple.to_list() |> expand(env, modules)
    {List.to_tuple(list), modules}
  end

  defp expand(list, env, modules) when is_list(list),
    do: Enum.map_reduce(list, modules, &expand(&1, env, &2))

  defp expand(other, _env, modules), do: {other, modules}

  defp defined(type, module, definitions, name, args, env, modules) do
    case Map.get(definitions, {name, length(args)}) do
      {vars, body} when env.left > 0 ->
        {args, modules} = expand(args, env, modules)

        vars =
          for {{:var, _, var}, arg} <- Enum.zip(vars, args),
              into: %{},
              do: {var, {:argument, arg}}

        env = %{module: module, definitions: definitions, vars: vars, left: env.left - 1}
        expand(body, env, modules)

      _unknown ->
        {type, modules}
    end
  end

  defp platform?(module) do
    case :application.get_application(module) do
      {:ok, application} -> application in @platform
      :undefined -> :code.which(module) == :preloaded
    end
  end

  defp md5(module) do
    if Modules.loaded?(module) and function_exported?(module, :module_info, 1),
      do: module.module_info(:md5)
  end
end
