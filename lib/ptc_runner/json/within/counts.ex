defmodule PtcRunner.Json.Within.Counts do
  @moduledoc false
  # Looks at each call of a run whether a plan has it: its tool, its constants, and its number. Processes of the run share the counters.
  #
  # A call takes from one entry of the plan: a pattern of arguments with a number of calls. Where patterns are nested, it takes from the narrowest one
  # first, because only fewer calls can use that one; so no order of the calls of a program that is within the plan exceeds a number.
  # Patterns that overlap otherwise have one number together.

  alias PtcRunner.Firewall.Outline
  alias PtcRunner.Json.Plan
  alias PtcRunner.Json.Plan.{Comparison, Formula, Paths, Pattern}
  alias PtcRunner.Sandbox.Guarded
  alias PtcRunner.Shown

  # Maximum number of patterns of a tool that are told apart; of more, only the calls of the tool are counted.
  @most_patterns 64
  # Bytes of arguments in an error.
  @shown 256

  @typep limit :: non_neg_integer() | :infinity
  @typep pool :: {place :: pos_integer(), limit(), [Pattern.t()]}

  @typedoc """
  The counters; by tool the place of its counter and its number of calls, its patterns (or `:any`), and the condition of the application.
  `all?`: whether tools that are not here are refused.
  """
  @type t ::
          {:atomics.atomics_ref(),
           %{
             String.t() =>
               {pos_integer(), limit(), [pool()] | :any, (term() -> term()) | :given_again | nil}
           }, all? :: boolean()}

  @doc """
  The counters of a plan, for all of its tools or for these.

      iex> {:ok, plan} = PtcRunner.Json.plan(~s({"program": {"op": "call", "tool": "pay", "args": {"to": "Ada"}}}))
      iex> counts = PtcRunner.Json.Within.Counts.new(plan, %{context: %{}, memory: %{}}, :all)
      iex> for args <- [%{"to" => "Bob"}, %{"to" => "Ada"}, %{"to" => "Ada"}], do: PtcRunner.Json.Within.Counts.take(counts, "pay", args)
      [{:error, {:refused, ~S(The call of 'pay' with %{"to" => "Bob"} is not within the plan: to is "Ada" there)}}, :ok,
       {:error, {:refused, ~S(The call of 'pay' with %{"to" => "Ada"} is not within the plan: it has at most 1 call)}}]

  """
  @spec new(Plan.t(), %{context: term(), memory: term()}, :all | [String.t()]) :: t()
  def new(%Plan{} = plan, data, names) do
    tools = for tool <- plan.tools, names == :all or tool.name in names, do: tool

    {tools, places} =
      Enum.map_reduce(tools, 1, fn tool, place ->
        {pools, next} = pools(tool.sites, place + 1, data)
        most = number(tool, data, plan.at_most[tool.name])
        {{tool.name, {place, most, pools, plan.where[tool.name]}}, next}
      end)

    {:atomics.new(max(places - 1, 1), signed: true), Map.new(tools), names == :all}
  end

  # `:infinity` compares greater than every integer.
  defp number(%{most: most}, _data, limit) when most != nil and limit != nil, do: min(most, limit)
  defp number(%{most: most}, _data, _limit) when most != nil, do: most
  defp number(_counted, _data, limit) when limit != nil, do: limit

  defp number(%{formula: formula}, data, nil) do
    {_least, most} = Formula.numbers(formula, data)
    most || :infinity
  end

  defp pools(sites, place, data) do
    entries =
      for {pattern, sites} <- Enum.group_by(sites, & &1.arguments),
          do: {pattern, sites |> Enum.map(&number(&1, data, nil)) |> sum()}

    if length(entries) > @most_patterns do
      {:any, place}
    else
      entries
      |> groups()
      |> Enum.flat_map(&together/1)
      |> Enum.map_reduce(place, fn {patterns, most}, place ->
        {{place, most, patterns}, place + 1}
      end)
    end
  end

  defp sum(numbers), do: if(:infinity in numbers, do: :infinity, else: Enum.sum(numbers))

  # Groups of entries that overlap, directly or through others.
  defp groups(entries), do: Enum.reduce(entries, [], &grouped/2)

  defp grouped({pattern, _most} = entry, groups) do
    {overlapping, others} =
      Enum.split_with(groups, fn group ->
        Enum.any?(group, fn {other, _most} -> Pattern.overlap?(pattern, other) end)
      end)

    [[entry | Enum.concat(overlapping)] | others]
  end

  # The narrowest first, if all that overlap are nested; else all together.
  defp together(group) do
    pairs =
      for {one, _} <- group,
          {other, _} <- group,
          one != other,
          Pattern.overlap?(one, other),
          do: {one, other}

    if Enum.all?(pairs, fn {one, other} ->
         Pattern.narrower?(one, other) or Pattern.narrower?(other, one)
       end) do
      group
      |> Enum.sort_by(fn {one, _} ->
        Enum.count(group, fn {other, _} -> Pattern.narrower?(other, one) end)
      end)
      |> Enum.map(fn {pattern, most} -> {[pattern], most} end)
    else
      {patterns, numbers} = Enum.unzip(group)
      [{patterns, sum(numbers)}]
    end
  end

  @doc "Counts a call before it starts, or says why the plan does not have it."
  @spec take(t(), term(), term()) :: :ok | {:error, {:refused, String.t()}}
  def take({counts, tools, all?}, name, args) do
    case tools do
      %{^name => {place, most, pools, where}} ->
        with :ok <- condition(where, args),
             :ok <- count(counts, place, most),
             do: counts |> entry(pools, args, :none) |> counted(counts, place, name, args),
             else: (why -> refused(why, name, args, {most, pools}))

      _other when all? and is_binary(name) ->
        refused(:tool, name, args, nil)

      _certain ->
        :ok
    end
  end

  defp counted(:ok, _counts, _place, _name, _args), do: :ok

  defp counted({why, pools}, counts, place, name, args) do
    :atomics.sub(counts, place, 1)
    refused(why, name, args, {nil, pools})
  end

  defp condition(nil, _args), do: :ok
  defp condition(:given_again, _args), do: :given_again

  defp condition(fun, args) do
    if fun.(args), do: :ok, else: :condition
  catch
    kind, reason -> {:failed, Guarded.failure(kind, reason, __STACKTRACE__)}
  end

  defp count(_counts, _place, :infinity), do: :ok

  defp count(counts, place, most) do
    if :atomics.add_get(counts, place, 1) > most do
      :atomics.sub(counts, place, 1)
      :more
    else
      :ok
    end
  end

  defp entry(_counts, :any, _args, _found), do: :ok

  defp entry(counts, [{place, most, patterns} = pool | rest], args, found) do
    cond do
      not Enum.any?(patterns, &Pattern.fits?(args, &1)) ->
        entry(counts, rest, args, pass(found, pool))

      count(counts, place, most) == :ok ->
        :ok

      true ->
        entry(counts, rest, args, {:used, most})
    end
  end

  defp entry(_counts, [], _args, {:used, most}), do: {{:used, most}, []}
  defp entry(_counts, [], _args, {:others, pools}), do: {:arguments, Enum.reverse(pools)}
  defp entry(_counts, [], _args, :none), do: {:arguments, []}

  defp pass({:used, _most} = used, _pool), do: used
  defp pass({:others, pools}, pool), do: {:others, [pool | pools]}
  defp pass(:none, pool), do: {:others, [pool]}

  defp refused(why, name, args, about) do
    shown = Shown.text(Outline.of(args), @shown)
    text = "The call of '#{Shown.name(name)}' with #{shown} is not within the plan: "
    {:error, {:refused, text <> reason(why, args, about)}}
  end

  defp reason(:tool, _args, _about), do: "it does not have this tool"
  defp reason(:condition, _args, _about), do: "the condition does not hold"
  defp reason({:failed, text}, _args, _about), do: "the condition #{text}"

  defp reason(:given_again, _args, _about),
    do: "its condition was not given again. Use PtcRunner.Json.Plan.approve/2"

  defp reason(:more, _args, {most, _pools}), do: "it has at most #{Comparison.calls(most)}"

  defp reason({:used, most}, _args, _about),
    do: "it has at most #{Comparison.calls(most)} with these arguments"

  defp reason(:arguments, args, {_most, pools}) do
    patterns = for {_place, _most, patterns} <- pools, pattern <- patterns, do: pattern

    case wrong(args, patterns) do
      nil -> "it has no call with these arguments"
      {name, texts} -> "#{Paths.name(name)} is #{texts} there"
    end
  end

  # An argument that has another value in all calls of the plan.
  defp wrong(args, patterns) when is_map(args) do
    args
    |> Enum.filter(fn {name, _value} -> is_binary(name) end)
    |> Enum.sort()
    |> Enum.find_value(fn {name, value} ->
      others = for {:object, %{^name => pattern}} <- patterns, do: pattern
      others = Enum.uniq_by(others, &Pattern.exact/1)
      fits? = Enum.any?(others, &Pattern.fits?(value, &1))
      if others != [] and not fits?, do: {name, Pattern.texts(others, [])}
    end)
  end

  defp wrong(_args, _patterns), do: nil

  @doc "What was counted."
  @spec counted(t()) :: [integer()]
  def counted({counts, _tools, _all?}) do
    %{size: size} = :atomics.info(counts)
    for place <- 1..size, do: :atomics.get(counts, place)
  end

  @doc "Adds what was counted before by the same plan."
  @spec add(t(), [integer()]) :: :ok
  def add({counts, _tools, _all?}, before) do
    %{size: size} = :atomics.info(counts)

    for {count, place} <- Enum.with_index(before, 1),
        place <= size,
        do: :atomics.add(counts, place, count)

    :ok
  end
end
