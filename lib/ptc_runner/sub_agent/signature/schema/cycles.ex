defmodule PtcRunner.SubAgent.Signature.Schema.Cycles do
  @moduledoc false
  # Which definitions of a schema contain themselves, and which are used. Linear in the references.

  @type name :: :root | String.t()

  @doc """
  The number of each name's group: names of one group lead to each other.

      iex> groups = PtcRunner.SubAgent.Signature.Schema.Cycles.groups([{"a", "b"}, {"b", "a"}, {"b", "c"}])
      iex> {groups["a"] == groups["b"], groups["a"] == groups["c"]}
      {true, false}

  """
  @spec groups([{name(), name()}]) :: %{name() => non_neg_integer()}
  def groups(edges) do
    to = Enum.group_by(edges, &elem(&1, 0), &elem(&1, 1))
    from = Enum.group_by(edges, &elem(&1, 1), &elem(&1, 0))

    {_seen, last_first} =
      Enum.reduce(Map.keys(to), {MapSet.new(), []}, fn name, done -> finish(name, to, done) end)

    # From the other side, only the names of its group are reached that have none yet.
    {groups, _count} =
      Enum.reduce(last_first, {%{}, 0}, fn name, {groups, count} ->
        if is_map_key(groups, name),
          do: {groups, count},
          else: {mark([name], from, count, groups), count + 1}
      end)

    groups
  end

  # The names that are reached, each before those that it leads to.
  defp finish(name, to, {seen, done}) do
    if name in seen do
      {seen, done}
    else
      below = Map.get(to, name, [])
      {seen, done} = Enum.reduce(below, {MapSet.put(seen, name), done}, &finish(&1, to, &2))
      {seen, [name | done]}
    end
  end

  defp mark([], _from, _group, groups), do: groups

  defp mark([name | rest], from, group, groups) do
    if is_map_key(groups, name),
      do: mark(rest, from, group, groups),
      else:
        mark(
          :lists.append(Map.get(from, name, []), rest),
          from,
          group,
          Map.put(groups, name, group)
        )
  end

  @doc """
  The names that are reached from these.

      iex> PtcRunner.SubAgent.Signature.Schema.Cycles.reached(["a"], [{"a", "b"}, {"b", "a"}, {"c", "a"}]) |> Enum.sort()
      ["a", "b"]

  """
  @spec reached([name()], [{name(), name()}]) :: [name()]
  def reached(names, edges) do
    to = Enum.group_by(edges, &elem(&1, 0), &elem(&1, 1))
    names |> mark(to, 0, %{}) |> Map.keys()
  end
end
