defmodule PtcRunnerMcp.Run do
  @moduledoc """
  The tools `run_program` and `plan_program`.
  """

  alias PtcRunner.Agent
  alias PtcRunnerMcp.{Approval, Methods, Result, Written}

  @doc """
  Runs a program, or goes on with one that waits for a person.

      iex> call = %{server: PtcRunnerMcp.new([]), args: %{"program" => %{"op" => "lod"}}, state: nil, responses: %{},
      ...>   caller: %PtcRunnerMcp.Caller{}, progress: nil}
      iex> {:ok, %{"isError" => true, "content" => [%{"text" => text}]}} = PtcRunnerMcp.Run.run(call)
      iex> text
      "ValidationError: Unknown operation 'lod'. Did you mean 'load'? Write the whole program again, as one JSON object."

  """
  @spec run(Methods.call()) :: {:ok, map()} | {:error, tuple()}
  def run(%{state: state} = call) when is_binary(state), do: go_on(call, Approval.answered(call))

  def run(%{args: %{"state" => state}, server: %{approve_by_argument: true}} = call)
      when is_binary(state),
      do: go_on(call, Approval.argued(call))

  def run(call) do
    with {:ok, program} <- Written.program(call.args, call.server),
         {:ok, tools} <- Written.tools(program, call.server) do
      program |> Written.run(tools, options(call) ++ hooks(call, :pause)) |> told(call)
    else
      {:none, result} -> {:ok, result}
    end
  end

  defp go_on(call, {:go_on, paused, decision, later}) do
    with {:ok, tools} <- paused |> Written.waiting(call.server) |> Written.tools(call.server) do
      opts = [tools: tools] ++ options(call) ++ hooks(call, later)
      paused |> Agent.resume(decision, opts) |> told(call)
    else
      {:none, result} -> {:ok, result}
    end
  end

  defp go_on(_call, other), do: other

  @doc """
  What a program will do.

      iex> call = %{server: PtcRunnerMcp.new(tools: %{"pay" => fn _ -> 1 end}), args: %{"program" => %{"op" => "call", "tool" => "pay"}}}
      iex> {:ok, result} = PtcRunnerMcp.Run.plan(call)
      iex> result["structuredContent"]["tools"]
      [%{"name" => "pay", "effect" => "write", "calls" => "1", "least" => 1, "most" => 1, "arguments" => %{}, "decided_by" => []}]

  """
  @spec plan(Methods.call()) :: {:ok, map()}
  def plan(%{server: server} = call) do
    with {:ok, program} <- Written.program(call.args, server),
         {:ok, plan} <- Written.plan(program, server) do
      {:ok, Result.result(cut(to_string(plan), server), summary(plan, server))}
    else
      {:none, result} -> {:ok, result}
      {:error, text} -> {:ok, Result.error(text)}
    end
  end

  defp summary(plan, server) do
    tools =
      for tool <- plan.tools do
        keys = [:name, :effect, :calls, :least, :most, :arguments, :decided_by]
        for key <- keys, into: %{}, do: {Atom.to_string(key), json(Map.fetch!(tool, key))}
      end

    structured = %{"tools" => tools, "reads" => plan.reads}

    case PtcRunner.Json.Codec.encode(structured, max_bytes: server.most_text) do
      {:ok, _text} -> structured
      {:error, _error} -> %{"cut" => true}
    end
  end

  defp json(effect) when effect in [:read, :write], do: Atom.to_string(effect)
  defp json(other), do: other

  defp cut(text, server), do: Result.cut(text, server.most_text)

  defp options(%{server: server, caller: caller}) do
    [
      context: server.context,
      timeout: server.timeout,
      max_heap: server.max_heap,
      max_tool_calls: server.max_tool_calls,
      tool_concurrency: server.tool_concurrency,
      tool_context: server.tool_context && server.tool_context.(caller)
    ]
  end

  # Who decides about calls: the application, and otherwise the tool says whether a person does. A person who has approved
  # all of a program is not asked again.
  defp hooks(%{server: %{on_call: nil}, progress: nil}, :pause), do: []

  defp hooks(%{server: server, progress: progress}, waiting) do
    decide = server.on_call || fn call -> if call.approve, do: :pause, else: :run end

    [
      on_call: fn call ->
        decision = decide.(call)
        if progress, do: progress.(call.tool)
        if decision == :pause, do: waiting, else: decision
      end
    ]
  end

  defp told({:ok, value, info}, call) do
    more = %{
      "calls" => calls(info),
      "warnings" => info.warnings,
      "prints" => Map.get(info, :prints, [])
    }

    more = for {key, value} <- more, value not in [[], %{}], into: %{}, do: {key, value}
    {:ok, value |> Written.value() |> Result.value(more, call.server.most_text)}
  end

  # What is missing may be a tool of a server that is not ready.
  defp told({:error, _error, feedback}, call) do
    notes = for note <- call.server.catalogue.().notes, do: "\nNote: " <> note
    {:ok, Result.error(cut(feedback <> Enum.join(notes), call.server))}
  end

  defp told({:paused, paused}, call), do: Approval.ask(paused, call)

  defp calls(info) do
    info.tool_calls
    |> Enum.frequencies_by(& &1.name)
    |> Map.merge(info.dropped_calls, fn _name, a, b -> a + b end)
  end
end
