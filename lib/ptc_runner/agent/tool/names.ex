defmodule PtcRunner.Agent.Tool.Names do
  @moduledoc false
  # Names of tools: each names one. The tools of two servers may have one name, and none of them is dropped silently.

  alias PtcRunner.Shown

  @doc """
  Names, tools and their places in a list (nil in a map), sorted by name. Raises `ArgumentError` if two have one name.

      iex> PtcRunner.Agent.Tool.Names.different!([{"b", 1, 0}, {"a", 2, 1}])
      [{"a", 2, 1}, {"b", 1, 0}]

      iex> PtcRunner.Agent.Tool.Names.different!([{"a", %{description: "Adds"}, 0}, {"a", %{description: nil}, 1}])
      ** (ArgumentError) two tools have the name "a": rename one of them, as in %{tool | name: "other"}. They are tools[0] ("Adds") and tools[1]

  """
  @spec different!([{String.t(), term(), non_neg_integer() | nil}]) :: [
          {String.t(), term(), non_neg_integer() | nil}
        ]
  def different!(placed) do
    placed = Enum.sort_by(placed, &elem(&1, 0))

    for {{name, one, at}, {name, other, other_at}} <- Enum.zip(placed, Enum.drop(placed, 1)) do
      both = if at, do: ". They are #{place(one, at)} and #{place(other, other_at)}"

      raise ArgumentError,
            "two tools have the name #{Shown.quoted(name)}: rename one of them, as in %{tool | name: \"other\"}#{both}"
    end

    placed
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
