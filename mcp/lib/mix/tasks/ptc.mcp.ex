defmodule Mix.Tasks.Ptc.Mcp do
  @shortdoc "Serves the Model Context Protocol"
  @moduledoc """
  Serves the Model Context Protocol on standard input and output, or with `--http PORT` on the loopback address.

      mcp/bin/ptc-mcp --servers servers.json --config tools.exs

  The arguments are those of `PtcRunnerMcp.Cli`. A client starts the script `bin/ptc-mcp`, which calls this task with the protocol on descriptors of
  its own: nothing that the VM prints can come between its messages.
  """

  use Mix.Task

  @impl true
  def run(args) do
    unless System.get_env("PTC_MCP_FDS") == "3,4" or "--http" in args do
      Mix.raise(
        "start mix ptc.mcp with the script mcp/bin/ptc-mcp: it keeps what Mix prints out of the protocol"
      )
    end

    Mix.Task.run("app.config")
    PtcRunnerMcp.Cli.main(args)
  rescue
    error in ArgumentError -> Mix.raise(Exception.message(error))
  end
end
