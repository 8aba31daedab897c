defmodule PtcRunnerMcp.Names do
  @moduledoc """
  One name for each tool of several servers: a name that two of them have gets the name of its server in front.
  """

  alias PtcRunner.Agent.Tool
  alias PtcRunnerMcp.Catalogue

  @doc """
  The application's tools, whose names stay as they are, and those of the servers. What has no name of its own in the end is told.

      iex> tool = &%PtcRunner.Agent.Tool{name: &1, fun: fn _ -> nil end}
      iex> {tools, []} = PtcRunnerMcp.Names.merge([tool.("pay")], [{"git", [tool.("search"), tool.("pay")]}, {"wiki", [tool.("search"), tool.("read")]}])
      iex> for tool <- tools, do: tool.name
      ["pay", "git.search", "git.pay", "wiki.search", "read"]

  """
  @spec merge([Tool.t()], [{String.t(), [Tool.t()]}]) :: {[Tool.t()], notes :: [String.t()]}
  def merge(own, servers) do
    of_servers = for {_server, tools} <- servers, tool <- tools, do: tool.name
    taken = Catalogue.taken() ++ for(tool <- own, do: tool.name)
    counts = Enum.frequencies(taken ++ of_servers)

    named =
      for {server, tools} <- servers, tool <- tools do
        if counts[tool.name] > 1, do: %{tool | name: "#{server}.#{tool.name}"}, else: tool
      end

    {tools, _names, notes} =
      Enum.reduce(named, {[], MapSet.new(taken), []}, fn tool, {tools, names, notes} ->
        if MapSet.member?(names, tool.name),
          do:
            {tools, names,
             ["there are two tools #{inspect(tool.name)}: the second is left out" | notes]},
          else: {[tool | tools], MapSet.put(names, tool.name), notes}
      end)

    {own ++ Enum.reverse(tools), Enum.reverse(notes)}
  end
end
