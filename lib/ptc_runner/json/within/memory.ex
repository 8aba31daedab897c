defmodule PtcRunner.Json.Within.Memory do
  @moduledoc false
  # The memory of several runs within one plan. A plan names parts of the memory, and who approved it meant what was there. So no program may give a call
  # what an earlier program has put in its place.

  alias PtcRunner.Json.Plan

  @doc """
  What a plan reads of a memory.

      iex> {:ok, plan} = PtcRunner.Json.plan(~s({"program": {"op": "call", "tool": "pay", "args": {"to": {"op": "var", "name": "iban"}}}}))
      iex> PtcRunner.Json.Within.Memory.begun(plan, %{"iban" => "DE1", "rows" => [1, 2, 3]})
      %{"iban" => "DE1"}

  """
  @spec begun(Plan.t(), map()) :: map()
  def begun(%Plan{} = plan, memory) do
    case names(reads(plan)) do
      :all -> memory
      names -> :maps.filter(fn name, _value -> text(name) in names end, memory)
    end
  end

  @doc """
  The first tool that is given a part of the memory that is not what it was, with the name of that part; nil if there is none.

      iex> {:ok, plan} = PtcRunner.Json.plan(~s({"program": {"op": "call", "tool": "pay", "args": {"to": {"op": "var", "name": "iban"}}}}))
      iex> for memory <- [%{"iban" => "DE1", "n" => 1}, %{"iban" => "DE6"}, %{}], do: PtcRunner.Json.Within.Memory.changed(plan, %{"iban" => "DE1"}, memory)
      [nil, {"pay", "iban"}, {"pay", "iban"}]

  """
  @spec changed(Plan.t(), map(), map()) :: {String.t(), String.t()} | nil
  def changed(%Plan{} = plan, before, memory) do
    {before, memory} = {named(before), named(memory)}

    Enum.find_value(plan.tools, fn %{name: tool} ->
      name = plan |> given(tool) |> names() |> other(before, memory)
      if name, do: {tool, name}
    end)
  end

  # A name may be an atom.
  defp named(memory),
    do: Enum.group_by(memory, fn {name, _value} -> text(name) end, fn {_name, value} -> value end)

  defp other(:all, before, memory) do
    names = before |> Map.merge(memory) |> Map.keys()
    other(names, before, memory)
  end

  defp other(names, before, memory),
    do: Enum.find(names, &(Map.get(before, &1) !== Map.get(memory, &1)))

  # What flows into the arguments of a tool; where that is not known, all that the program reads.
  defp given(%Plan{flows: %{tools: tools}} = plan, tool) do
    case tools do
      %{^tool => %{arguments: arguments, counted: counted}} ->
        sources = Enum.concat(for({_name, from, _by} <- arguments, do: from))
        sources = sources ++ Enum.concat(for({_name, from} <- counted, do: from))
        if Enum.any?(sources, &match?({:unknown, _, _}, &1)), do: reads(plan), else: sources

      _other ->
        reads(plan)
    end
  end

  defp given(plan, _tool), do: reads(plan)

  defp reads(%Plan{flows: %{reads: reads}}), do: reads
  defp reads(_plan), do: [{:unknown, [], true}]

  defp names(sources) do
    if Enum.any?(sources, &(match?({:unknown, _, _}, &1) or match?({:memory, [], _}, &1))),
      do: :all,
      else: Enum.uniq(for {:memory, [name | _path], _whole?} <- sources, do: name)
  end

  defp text(name) when is_atom(name), do: Atom.to_string(name)
  defp text(name), do: name
end
