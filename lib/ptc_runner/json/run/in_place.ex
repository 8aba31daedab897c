defmodule PtcRunner.Json.Run.InPlace do
  @moduledoc false
  # Drives a run whose tools are called in its own process, without limits.

  alias PtcRunner.Json.{Run, ToolWorker}
  alias PtcRunner.Json.Run.{Driver, InCaller, Reply}
  alias PtcRunner.Native.Telemetry
  require Reply
  require Telemetry

  @behaviour Driver

  defstruct []

  @impl true
  def request(Reply.last(tool: name, args: args), run) do
    case called(name, args, run) do
      {:ok, value} -> {:ended, {:ok, value, 0}, run}
      error -> {:ended, error, run}
    end
  end

  def request(Reply.call(tool: name, args: args), run), do: go_on(name, args, run)
  def request(Reply.moves(tool: name, args: args), run), do: go_on(name, args, run)
  def request(Reply.calls(tool: name, args: [args | _later]), run), do: go_on(name, args, run)
  def request(Reply.moved_call(tool: name, args: args), run), do: go_on(name, args, run)

  def request(Reply.moved_calls(tool: name, args: [args | _later]), run),
    do: go_on(name, args, run)

  defp go_on(name, args, run) do
    case called(name, args, run) do
      {:ok, value} -> {:resume, {:moved, value, 0}, run}
      {:error, {:tool_failed, text}} -> {:failed, :failed_moved, text, run}
      error -> {:ended, error, run}
    end
  end

  defp called(name, args, %Run{} = run) do
    with {:ok, fun} <- InCaller.tool(run, name, args) do
      if Telemetry.on?(),
        do: Telemetry.tool(name, fn -> ToolWorker.run(name, fun, args) end),
        else: ToolWorker.run(name, fun, args)
    end
  end
end
