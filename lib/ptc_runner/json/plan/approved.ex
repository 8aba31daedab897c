defmodule PtcRunner.Json.Plan.Approved do
  @moduledoc false
  # Narrows a plan to what was approved of it.

  alias PtcRunner.Json.Plan
  alias PtcRunner.Options
  alias PtcRunner.Shown

  @options %{tools: :any, at_most: :any, where: :any}

  @doc "See `PtcRunner.Json.Plan.approve/2`."
  @spec approve(Plan.t(), keyword()) :: Plan.t()
  def approve(%Plan{} = plan, opts) do
    Options.check!(opts, @options, "PtcRunner.Json.Plan.approve/2")
    names = names!(opts[:tools], plan)
    at_most = at_most!(opts[:at_most] || %{}, plan)
    where = where!(opts[:where], names, plan)
    kept = for tool <- plan.tools, names == nil or tool.name in names, do: tool
    of_kept = &Map.take(&1, Enum.map(kept, fn tool -> tool.name end))
    at_most = Map.merge(plan.at_most, at_most, fn _name, one, other -> min(one, other) end)

    %{
      plan
      | tools: Enum.map(kept, &limited(&1, at_most)),
        at_most: of_kept.(at_most),
        where: of_kept.(Map.merge(plan.where, where, &both/3))
    }
  end

  # A plan that was narrowed before stays narrowed.
  defp both(_name, one, :given_again) when is_function(one, 1), do: one
  defp both(_name, :given_again, other), do: other
  defp both(_name, one, other), do: fn args -> one.(args) && other.(args) end

  defp limited(tool, at_most) do
    case Map.fetch(at_most, tool.name) do
      {:ok, most} ->
        limited = %{least: less(tool.least, most), most: less(tool.most, most)}
        Map.merge(tool, Map.put(limited, :calls, calls(tool, most)))

      :error ->
        tool
    end
  end

  defp calls(%{most: nil, calls: "unknown"}, most), do: "≤ #{most}"

  defp calls(%{calls: calls, most: before}, most) do
    case Integer.parse(calls) do
      {number, ""} when number <= most -> calls
      _formula when before != nil and before <= most -> calls
      _formula -> "#{calls}, no more than #{most}"
    end
  end

  defp less(nil, most), do: most
  defp less(number, most), do: min(number, most)

  defp names!(nil, _plan), do: nil

  defp names!(names, plan) do
    if not is_list(names) or List.improper?(names),
      do: wrong!(:tools, "a list of names of tools", names)

    Enum.each(names, &known!(&1, :tools, plan))
    names
  end

  defp at_most!(numbers, plan) when is_map(numbers) and not is_struct(numbers) do
    for {name, number} <- numbers do
      known!(name, :at_most, plan)

      if not (is_integer(number) and number >= 0),
        do: wrong!(:at_most, "numbers of calls", number)
    end

    numbers
  end

  defp at_most!(other, _plan), do: wrong!(:at_most, "a map of tools and numbers of calls", other)

  defp where!(nil, _names, _plan), do: %{}

  defp where!(fun, names, plan) when is_function(fun, 1) do
    for tool <- plan.tools,
        if(names, do: tool.name in names, else: tool.effect == :write),
        into: %{},
        do: {tool.name, fun}
  end

  defp where!(functions, _names, plan) when is_map(functions) and not is_struct(functions) do
    for {name, fun} <- functions do
      known!(name, :where, plan)
      if not is_function(fun, 1), do: wrong!(:where, "functions of one argument", fun)
    end

    functions
  end

  defp where!(other, _names, _plan),
    do: wrong!(:where, "a function of the arguments, or a map of tools and such functions", other)

  defp known!(name, option, plan) do
    names = Enum.map(plan.tools, & &1.name)

    if name not in names do
      raise ArgumentError,
            "option #{inspect(option)} of PtcRunner.Json.Plan.approve/2 names the tool #{Shown.text(name, 100)}, which the plan does not have. " <>
              "It has: #{Shown.few(names, &inspect/1)}"
    end
  end

  @spec wrong!(atom(), String.t(), term()) :: no_return()
  defp wrong!(option, wanted, got) do
    raise ArgumentError,
          "option #{inspect(option)} of PtcRunner.Json.Plan.approve/2 must be #{wanted}, got: #{Shown.text(got, 200)}"
  end
end
