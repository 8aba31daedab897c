defmodule PtcRunner.Agent.Tool.Names do
  @moduledoc false
  # Names of tools: each names one. The tools of two servers may have one name, and none of them is dropped silently.

  alias PtcRunner.Shown

  @typedoc "Where a tool stands: its place in a list, or its key in a map."
  @type place :: non_neg_integer() | {:key, term()}

  @doc """
  Names, tools and their places, sorted by name. Raises `ArgumentError` if two have one name.

      iex> PtcRunner.Agent.Tool.Names.different!([{"b", 1, 0}, {"a", 2, 1}])
      [{"a", 2, 1}, {"b", 1, 0}]

      iex> PtcRunner.Agent.Tool.Names.different!([{"a", %{description: "Adds"}, 0}, {"a", %{description: nil}, 1}])
      ** (ArgumentError) two tools have the name "a": rename one of them, as in %{tool | name: "other"}. They are tools[0] ("Adds") and tools[1]

      iex> PtcRunner.Agent.Tool.Names.different!([{"a", 1, {:key, "a"}}, {"a", 2, {:key, :a}}])
      ** (ArgumentError) two tools have the name "a": rename one of them. They are :a and "a"

  """
  @spec different!([{String.t(), term(), place()}]) :: [{String.t(), term(), place()}]
  def different!(placed) do
    placed = Enum.sort_by(placed, &elem(&1, 0))

    for {{name, _, _} = one, {name, _, _} = other} <- Enum.zip(placed, Enum.drop(placed, 1)),
        do: raise(ArgumentError, both(one, other))

    placed
  end

  defp both({name, _, {:key, _}}, _other), do: twins(name, "tools")

  defp both({name, one, at}, {name, other, other_at}) do
    "two tools have the name #{Shown.quoted(name)}: rename one of them, as in %{tool | name: \"other\"}. " <>
      "They are #{place(one, at)} and #{place(other, other_at)}"
  end

  @doc """
  The name that a map has as an atom and as a text; nil if there is none.

      iex> Enum.map([%{:a => 1, "a" => 2}, %{:a => 1, "b" => 2}], &PtcRunner.Agent.Tool.Names.twin/1)
      ["a", nil]

  """
  @spec twin(map()) :: String.t() | nil
  def twin(map) do
    Enum.find_value(map, fn {key, _value} ->
      if is_atom(key) and is_map_key(map, Atom.to_string(key)), do: Atom.to_string(key)
    end)
  end

  @doc """
  What is said of such a name.

      iex> PtcRunner.Agent.Tool.Names.twins("a", "tools")
      ~s(two tools have the name "a": rename one of them. They are :a and "a")

  """
  @spec twins(String.t(), String.t()) :: String.t()
  def twins(name, what) do
    atom =
      if name =~ ~r/^[a-z_][A-Za-z0-9_]*[?!]?$/, do: ":#{name}", else: ":#{Shown.quoted(name)}"

    "two #{what} have the name #{Shown.quoted(name)}: rename one of them. They are #{atom} and #{Shown.quoted(name)}"
  end

  @doc "The tools of a list, if each has a name of its own."
  @spec once!([%{name: String.t()}]) :: [%{name: String.t()}]
  def once!(tools) do
    different!(for {tool, at} <- Enum.with_index(tools), do: {tool.name, tool, at})
    tools
  end

  defp place(%{description: text}, at) when is_binary(text) and text != "",
    do: "tools[#{at}] (#{text |> Shown.cut(100) |> Shown.quoted()})"

  defp place(_tool, at), do: "tools[#{at}]"
end
