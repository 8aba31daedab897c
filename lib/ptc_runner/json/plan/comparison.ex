defmodule PtcRunner.Json.Plan.Comparison do
  @moduledoc false
  # Compares the plan of a program with one that was approved.

  alias PtcRunner.Json.Plan
  alias PtcRunner.Json.Plan.{Formula, Paths, Pattern}

  @typedoc "Why a program is not within a plan; `:unknown`, with the tools of which the plan cannot say how often they are called."
  @type refusal :: {:refused, String.t()} | {:unknown, [String.t()]}

  @doc """
  Whether all calls of `new` are in `approved`. For a run, numbers that `PtcRunner.Json.Plan.approve/2` has narrowed are only an
  error where the program certainly exceeds them: the run counts.
  """
  @spec check(Plan.t(), Plan.t(), :plan | :run) :: :ok | refusal()
  def check(%Plan{} = new, %Plan{} = approved, goal) do
    known = Map.new(approved.tools, &{&1.name, &1})
    same? = same?(new, approved)

    Enum.reduce_while(new.tools, {:ok, []}, fn tool, {:ok, unknown} ->
      case tool(tool, known[tool.name], {approved, same?, goal}) do
        :ok -> {:cont, {:ok, unknown}}
        :unknown -> {:cont, {:ok, [tool.name | unknown]}}
        text -> {:halt, {:refused, text}}
      end
    end)
    |> case do
      {:ok, []} -> :ok
      {:ok, unknown} -> {:unknown, Enum.reverse(unknown)}
      refused -> refused
    end
  end

  @doc "Whether two plans are of one program that is read in one way."
  @spec same?(Plan.t(), Plan.t()) :: boolean()
  def same?(%Plan{digest: %{program: program, options: options}}, %Plan{digest: digest}),
    do: match?(%{program: ^program, options: ^options}, digest)

  def same?(_new, _approved), do: false

  defp tool(tool, nil, _about),
    do: "it calls '#{Paths.name(tool.name)}', which the plan does not have"

  defp tool(%{effect: :write} = tool, %{effect: :read}, _about),
    do: "'#{Paths.name(tool.name)}' writes, and only read when the plan was made"

  defp tool(tool, approved, {plan, same?, goal}) do
    limit = plan.at_most[tool.name]

    with :ok <- limited(tool, limit, goal),
         :ok <- counted(tool, approved, {limit, same?, goal}),
         do: if(same?, do: :ok, else: sites(tool, approved, limit != nil and goal == :run))
  end

  defp limited(_tool, nil, _goal), do: :ok

  defp limited(%{least: least} = tool, limit, _goal) when least != nil and least > limit,
    do: more(tool, "at least #{times(least)}", limit)

  defp limited(%{most: most} = tool, limit, :plan) when most == nil or most > limit,
    do: more(tool, if(most, do: "#{times(most)}", else: "#{tool.calls} times"), limit)

  defp limited(_tool, _limit, _goal), do: :ok

  defp more(tool, how_often, limit),
    do:
      "it calls '#{Paths.name(tool.name)}' #{how_often}, and the plan has at most #{calls(limit)}"

  # The number of the approved plan is narrowed, and was compared.
  defp counted(_tool, _approved, {limit, _same?, _goal}) when limit != nil, do: :ok

  defp counted(%{most: most} = tool, %{most: approved}, {_limit, same?, goal})
       when most != nil and approved != nil and most > approved do
    cond do
      # Only the data say whether it is more. A run of the program itself counts.
      not same? or goal == :plan ->
        more(tool, "up to #{times(most)}", approved)

      tool.least != nil and tool.least > approved ->
        more(tool, "at least #{times(tool.least)}", approved)

      true ->
        :ok
    end
  end

  defp counted(%{most: most}, %{most: approved}, _about) when most != nil and approved != nil,
    do: :ok

  defp counted(_tool, _approved, {_limit, true, _goal}), do: :ok
  defp counted(tool, approved, _about), do: of_formulas(tool, approved)

  defp of_formulas(%{formula: {_, most}} = tool, %{formula: {_, approved}} = other) do
    cond do
      Formula.minus(approved, most) != :more -> :ok
      approved == nil and other.most == nil -> :unknown
      most == nil and tool.most == nil -> :unknown
      true -> "it calls '#{Paths.name(tool.name)}' #{tool.calls}, and the plan has #{other.calls}"
    end
  end

  # Each call of the program takes from one of the plan's, those with the fewest values first.
  defp sites(tool, approved, counts?) do
    given = merged(approved.sites)

    tool.sites
    |> merged()
    |> Enum.reduce_while({:ok, given, false}, fn site, {:ok, left, unknown?} ->
      case taken(site, left, [], counts?) do
        {:ok, left} -> {:cont, {:ok, left, unknown?}}
        :unknown -> {:cont, {:ok, left, true}}
        why -> {:halt, text(why, tool, site, given)}
      end
    end)
    |> case do
      {:ok, _left, false} -> :ok
      {:ok, _left, true} -> :unknown
      text -> text
    end
  end

  # Calls with equal arguments are one, with the sum of their numbers.
  defp merged(sites) do
    sites
    |> Enum.group_by(& &1.arguments)
    |> Enum.map(fn {arguments, sites} ->
      numbers = Enum.map(sites, & &1.most)
      most = if nil not in numbers, do: Enum.sum(numbers)
      formula = sites |> Enum.map(&elem(&1.formula, 1)) |> Enum.reduce(&Formula.plus/2)
      %{arguments: arguments, most: most, formula: formula}
    end)
    |> Enum.sort_by(&weight(&1.arguments))
  end

  # Calls whose arguments are constants come first.
  defp weight({:object, fields}) do
    open = Enum.count(fields, fn {_name, pattern} -> not match?({:is, _value}, pattern) end)
    {open, map_size(fields)}
  end

  defp weight(_other), do: {1_000, 0}

  defp taken(site, [other | rest], passed, counts?) do
    if Pattern.within?(site.arguments, other.arguments) do
      case less(other, site, counts?) do
        :more -> taken(site, rest, [other | passed], counts?) |> instead(:more)
        :unknown -> :unknown
        left -> {:ok, Enum.reverse(passed, [left | rest])}
      end
    else
      taken(site, rest, [other | passed], counts?)
    end
  end

  defp taken(_site, [], _passed, _counts?), do: :none

  defp instead(:none, why), do: why
  defp instead(other, _why), do: other

  defp less(%{most: left} = other, %{most: most, formula: formula}, counts?) do
    rest = Formula.minus(other.formula, formula)

    cond do
      left != nil and most != nil and most <= left ->
        %{other | most: left - most, formula: if(rest == :more, do: nil, else: rest)}

      left != nil and most != nil ->
        :more

      rest != :more ->
        %{other | most: nil, formula: rest}

      # The run counts the calls of the tool.
      counts? ->
        other

      other.formula == nil or formula == nil ->
        :unknown

      true ->
        :more
    end
  end

  defp text(:more, tool, site, _given),
    do:
      "it calls '#{Paths.name(tool.name)}' #{with_arguments(site)} more often than the plan has such calls"

  defp text(:none, tool, site, given) do
    case wrong(site.arguments, given) do
      nil ->
        "it calls '#{Paths.name(tool.name)}' #{with_arguments(site)}, and the plan has no such call"

      {name, pattern, []} ->
        "the argument #{Paths.name(name)} of '#{Paths.name(tool.name)}' is #{Pattern.texts([pattern], [])}, and the plan has no such argument"

      {name, pattern, approved} ->
        "the argument #{Paths.name(name)} of '#{Paths.name(tool.name)}' is #{Pattern.texts([pattern], [])}, and the plan has #{Pattern.texts(approved, [])}"
    end
  end

  # An argument that no call of the plan has.
  defp wrong({:object, fields}, given) do
    Enum.find_value(Enum.sort(fields), fn {name, pattern} ->
      approved = for %{arguments: {:object, %{^name => other}}} <- given, uniq: true, do: other
      if not Enum.any?(approved, &Pattern.within?(pattern, &1)), do: {name, pattern, approved}
    end)
  end

  defp wrong(_arguments, _given), do: nil

  defp with_arguments(%{arguments: {:object, fields}}) when fields == %{}, do: "without arguments"
  defp with_arguments(%{arguments: arguments}), do: "with " <> Pattern.texts([arguments], [])

  @doc "A number of calls as text."
  @spec calls(non_neg_integer()) :: String.t()
  def calls(1), do: "1 call"
  def calls(number), do: "#{number} calls"

  defp times(1), do: "1 time"
  defp times(number), do: "#{number} times"
end
