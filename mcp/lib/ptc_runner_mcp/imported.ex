defmodule PtcRunnerMcp.Imported do
  @moduledoc """
  What another server lists, as tools. One entry that cannot be read does not hold the others.
  """

  alias PtcRunner.Agent.Tool
  alias PtcRunnerMcp.{Config, Result}

  # Of a description. Longer ones are no descriptions.
  @most_text 4_000
  # Of what is told about entries that cannot be read.
  @most_notes 5

  @doc """
  The tools of a list, and notes about what was left out. `call` makes a call of a name with arguments.

  A server's own `readOnlyHint` counts only where the configuration says so.

      iex> {:ok, [config]} = PtcRunnerMcp.Config.parse(~s({"mcpServers": {"a": {"command": "cat"}}}))
      iex> listed = [%{"name" => "get", "annotations" => %{"readOnlyHint" => true}, "inputSchema" => %{"type" => "object"}}, 7]
      iex> {[tool], notes} = PtcRunnerMcp.Imported.tools(listed, config, fn _name, _args -> nil end)
      iex> {tool.effect, tool.approve, notes}
      {:write, true, ["a: a tool is left out: tools[0] is no tool: 7"]}
      iex> {[tool], _notes} = PtcRunnerMcp.Imported.tools(listed, %{config | trust: true}, fn _name, _args -> nil end)
      iex> {tool.effect, tool.approve}
      {:read, false}

  """
  @spec tools([term()], Config.t(), (String.t(), map() -> term())) :: {[Tool.t()], [String.t()]}
  def tools(listed, config, call) do
    read = for entry <- listed, wanted?(entry, config), do: read(entry, config, call)
    {for({:ok, tool} <- read, do: tool), few(for({:note, note} <- read, do: note), config)}
  end

  # Each result repeats the notes.
  defp few(notes, config) do
    case Enum.split(notes, @most_notes) do
      {_notes, []} -> notes
      {first, more} -> first ++ ["#{config.name}: #{length(more)} more tools are left out"]
    end
  end

  defp wanted?(_entry, %{only: nil}), do: true
  defp wanted?(entry, %{only: names}), do: is_map(entry) and entry["name"] in names

  defp read(entry, config, call) do
    case Tool.from_mcp([entry], call) do
      {:ok, [tool], _not_validated} -> {:ok, taken(tool, config)}
      {:error, text} -> {:note, "#{config.name}: a tool is left out: #{Result.cut(text, 200)}"}
    end
  end

  defp taken(tool, config) do
    hint = if config.trust, do: tool.effect, else: :write
    effect = if tool.name in config.read_only, do: :read, else: hint
    description = tool.description && Result.cut(tool.description, @most_text)
    approve = approve?(config.approve, tool.name, effect)
    %{tool | effect: effect, approve: approve, description: description, timeout: config.timeout}
  end

  defp approve?(:writes, _name, effect), do: effect == :write
  defp approve?(:none, _name, _effect), do: false
  defp approve?(names, name, _effect), do: name in names
end
