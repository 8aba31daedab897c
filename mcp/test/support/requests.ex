defmodule PtcRunnerMcp.Requests do
  @moduledoc false
  # Requests as clients of both eras make them, and a server with tools for them.

  def handshake(id, method, params \\ %{}),
    do: %{"jsonrpc" => "2.0", "id" => id, "method" => method, "params" => params}

  def modern(id, method, params \\ %{}, capabilities \\ %{}) do
    meta = %{
      "io.modelcontextprotocol/protocolVersion" => "2026-07-28",
      "io.modelcontextprotocol/clientInfo" => %{"name" => "test", "version" => "1"},
      "io.modelcontextprotocol/clientCapabilities" => capabilities
    }

    handshake(id, method, Map.update(params, "_meta", meta, &Map.merge(meta, &1)))
  end

  def run(program, more \\ %{}),
    do: Map.merge(%{"name" => "run_program", "arguments" => %{"program" => program}}, more)

  def call(tool, args), do: %{"op" => "call", "tool" => tool, "args" => args}

  # Calls a tool for each of these numbers.
  def each(numbers, tool, name) do
    steps = [
      %{"op" => "literal", "value" => numbers},
      %{"op" => "map", "expr" => call(tool, %{name => %{"op" => "it"}})}
    ]

    %{"op" => "pipe", "steps" => steps}
  end

  def server(opts \\ []), do: PtcRunnerMcp.new(Keyword.merge([tools: tools()], opts))

  def tools do
    %{
      "rate" =>
        {fn %{"day" => day} -> day * 0.5 end,
         signature: "(day :int) -> :float", effect: :read, description: "The rate of a day"},
      "refund" =>
        {fn %{"order" => order} -> "refunded #{order}" end,
         signature: "(order :int) -> :string", approve: true, description: "Pays back"}
    }
  end
end
