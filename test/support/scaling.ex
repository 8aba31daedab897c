defmodule PtcRunner.Test.Scaling do
  @moduledoc """
  The code of `guides/scaling.md`.
  """

  alias PtcRunner.Json

  # What every node has: a part of the rows, and a supervisor for tasks that others start here.
  def serve(rows) do
    :persistent_term.put(__MODULE__, rows)

    Supervisor.start_child(
      PtcRunner.Native.Application,
      {Task.Supervisor, name: __MODULE__.Tasks}
    )
  end

  # Runs a program over the rows of this node.
  def here(program, opts \\ []) do
    rows = :persistent_term.get(__MODULE__)
    Json.run(program, [context: %{"orders" => rows}] ++ opts)
  end

  # Runs it over the rows of another node. The program goes there, and only the result comes back.
  def there(node, program, opts \\ []) do
    # The run has its own deadline; this one is for a node that does not answer.
    :erpc.call(node, __MODULE__, :here, [program, opts], 10_000)
  catch
    :error, {:erpc, reason} -> {:error, {:lost, node, reason}}
  end

  # The same in a task that is supervised there; it can be awaited, and shut down, from here.
  def task(node, program, opts \\ []) do
    Task.Supervisor.async_nolink({__MODULE__.Tasks, node}, __MODULE__, :here, [program, opts])
  end

  # Runs many programs, each on the next node, so many at a time on each.
  def fan_out(programs, nodes, on_each) do
    programs
    |> Stream.zip(Stream.cycle(nodes))
    |> Task.async_stream(fn {program, node} -> there(node, program) end,
      max_concurrency: on_each * length(nodes),
      timeout: :infinity
    )
    |> Enum.map(fn {:ok, result} -> result end)
  end

  # Runs one program on all nodes: the values that came, and the nodes that were lost.
  def gather(nodes, program, opts \\ []) do
    nodes
    |> Task.async_stream(&there(&1, program, opts),
      max_concurrency: length(nodes),
      timeout: :infinity
    )
    |> Enum.map(fn {:ok, result} -> result end)
    |> Enum.zip(nodes)
    |> Enum.reduce({[], []}, fn
      {{:ok, value, _delta, _memory}, _node}, {values, lost} -> {[value | values], lost}
      {{:error, reason}, node}, {values, lost} -> {values, [{node, reason} | lost]}
    end)
  end

  # Each node adds up its share; a second program adds up the shares.
  def total(nodes) do
    share = ~s({"program": {"op": "pipe", "steps": [
      {"op": "load", "name": "orders"},
      {"sum": {"op": "sum", "field": "total"}, "count": {"op": "count"}}]}})

    whole = ~s({"program": {"op": "pipe", "steps": [
      {"op": "load", "name": "shares"},
      {"sum": {"op": "sum", "field": "sum"}, "count": {"op": "sum", "field": "count"}}]}})

    {shares, lost} = gather(nodes, share)
    {Json.run!(whole, context: %{"shares" => shares}), lost}
  end
end
