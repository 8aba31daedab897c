defmodule PtcRunnerMcp.Approval do
  @moduledoc """
  A person in the middle of a program: what they are shown, and what their answer means.

  A run that waits is sealed into one text, which the client keeps and sends back. This server stores nothing but that the text was used.
  The text opens for the same principal only, once, and for a limited time.
  """

  alias PtcRunner.Agent
  alias PtcRunner.Json
  alias PtcRunnerMcp.{Caller, Message, Methods, Result, Written}

  # What one form shows.
  @most_calls 20
  @most_text 6_000
  # Bytes of a message beside the text and the arguments.
  @envelope 10_000

  @form "approval"
  @invalid "The waiting run cannot be opened: it was changed, was used, has expired, or is of somebody else. Run the program again."

  @doc """
  Asks about the calls that wait: with a form if the client has declared that it shows forms, and otherwise with a result that says how to go on.

      iex> tools = PtcRunner.Agent.Tool.list!(%{"pay" => {fn _ -> 1 end, approve: true}})
      iex> {:paused, paused} = PtcRunner.Agent.run(%{"program" => %{"op" => "call", "tool" => "pay"}}, tools)
      iex> call = %{server: PtcRunnerMcp.new(tools: tools), caller: %PtcRunnerMcp.Caller{capabilities: %{"elicitation" => %{}}}}
      iex> {:ok, result} = PtcRunnerMcp.Approval.ask(paused, call)
      iex> {result["resultType"], Map.keys(result["inputRequests"])}
      {"input_required", ["approval"]}

  """
  @spec ask(Agent.Paused.t(), Methods.call()) :: {:ok, map()} | {:error, tuple()}
  def ask(paused, %{server: server, caller: caller} = call) do
    state = Agent.Paused.seal(paused, server.keys, bind: caller.principal, ttl: server.ttl)
    bytes = sent_back(state, call)

    if bytes > Message.most() - @envelope,
      do: {:ok, Result.error(too_large(bytes))},
      else: asked(paused, state, call)
  rescue
    # The run is too large for a text.
    error in ArgumentError ->
      {:ok, Result.error("The run cannot wait: " <> Exception.message(error))}
  end

  # What a client sends to go on, in one message: from 2026-07-28 on its arguments once more. Before, the text of a form stays at the server.
  defp sent_back(state, %{caller: caller} = call) do
    cond do
      not Caller.asks?(caller) -> byte_size(state)
      caller.era == :modern -> byte_size(state) + byte_size(Message.write(call[:args] || %{}))
      true -> 0
    end
  end

  defp too_large(bytes) do
    "The run cannot wait: the client would send #{bytes} bytes to go on, and no more than #{Message.most()} are read. " <>
      "Nothing that waits was called. Let the program make fewer calls, with less data."
  end

  defp asked(paused, state, %{server: server, caller: caller}) do
    cond do
      Caller.asks?(caller) -> {:ok, form(message(paused, server), state)}
      server.approve_by_argument -> {:ok, waiting(paused, state)}
      true -> formless(paused, caller)
    end
  end

  # From 2026-07-28 on there is an error for this.
  defp formless(_paused, %{era: :modern}) do
    data = %{"requiredCapabilities" => %{"elicitation" => %{}}}

    {:error,
     {:missing_capability, "A person must approve: the client must declare elicitation", data}}
  end

  defp formless(paused, _caller) do
    {:ok,
     Result.error(
       "#{calls(paused)}\n\nA person must approve, and this client shows no forms. Nothing of this was done."
     )}
  end

  defp form(message, state) do
    schema = %{
      "type" => "object",
      "required" => ["decision"],
      "properties" => %{
        "decision" => %{
          "type" => "string",
          "title" => "Decision",
          "enum" => ["approve", "approve_all", "deny"],
          "enumNames" => ["Approve these calls", "Approve all calls of this program", "Deny"]
        },
        "reason" => %{"type" => "string", "title" => "Reason", "maxLength" => 500}
      }
    }

    params = %{"mode" => "form", "message" => message, "requestedSchema" => schema}

    %{
      "resultType" => "input_required",
      "inputRequests" => %{@form => %{"method" => "elicitation/create", "params" => params}},
      "requestState" => state
    }
  end

  defp waiting(paused, state) do
    text =
      calls(paused) <>
        "\n\nThe run waits for a person. Ask them. Then call run_program with \"decision\": \"approve\" (or \"approve_all\", \"deny\"), " <>
        "no program, and \"state\": \"#{state}\""

    waiting = for call <- shown(paused), do: %{"tool" => call.tool, "call" => call.text}
    Result.result(text, %{"waiting" => waiting, "state" => state})
  end

  defp message(paused, server) do
    plan =
      case paused |> Written.waiting(server) |> Written.plan(server) do
        {:ok, plan} -> "\n\n#{plan}"
        _no_plan -> ""
      end

    Result.cut(calls(paused) <> plan, @most_text)
  end

  defp shown(paused), do: Enum.take(paused.calls, @most_calls)

  defp calls(paused) do
    more = length(paused.calls) - @most_calls
    lines = for call <- shown(paused), do: "- " <> call.text
    lines = if more > 0, do: lines ++ ["- and #{more} more"], else: lines
    Enum.join(["A program waits to make these calls:" | lines], "\n")
  end

  @doc """
  What the form of a client has answered: the run goes on, is asked about once more, or stays as it is.

  `{:go_on, paused, decision, later}`: `later` is what becomes of calls that would wait after these.

      iex> call = %{server: PtcRunnerMcp.new([]), caller: %PtcRunnerMcp.Caller{}, args: %{}, state: "forged", responses: %{}}
      iex> {:error, {:invalid_params, text}} = PtcRunnerMcp.Approval.answered(call)
      iex> text
      "The waiting run cannot be opened: it was changed, was used, has expired, or is of somebody else. Run the program again."

  """
  @spec answered(Methods.call()) ::
          {:go_on, Agent.Paused.t(), Json.answer(), :pause | :run}
          | {:ok, map()}
          | {:error, tuple()}
  def answered(%{state: state, responses: responses} = call) do
    case responses[@form] do
      %{"action" => "accept", "content" => %{"decision" => decision} = content} ->
        decided(state, decision, content["reason"], call)

      %{"action" => "decline"} ->
        decided(state, "deny", "the person declined", call)

      %{"action" => "cancel"} ->
        {:ok, Result.error("Nobody has decided. Nothing that waits was called.")}

      _other ->
        again(state, call)
    end
    |> refused()
  end

  @doc """
  What a decision does that a client without forms has sent: its arguments have the text of the run and the decision.

      iex> call = %{server: PtcRunnerMcp.new([]), caller: %PtcRunnerMcp.Caller{}, args: %{"state" => "forged", "decision" => "yes"}}
      iex> {:ok, result} = PtcRunnerMcp.Approval.argued(call)
      iex> hd(result["content"])["text"]
      ~s(decision must be "approve", "approve_all" or "deny")

  """
  @spec argued(Methods.call()) ::
          {:go_on, Agent.Paused.t(), Json.answer(), :pause | :run} | {:ok, map()}
  def argued(%{args: %{"state" => state} = args} = call) do
    case decided(state, args["decision"], nil, call) do
      :invalid -> {:ok, Result.error(@invalid)}
      :unknown -> {:ok, Result.error(~s(decision must be "approve", "approve_all" or "deny"))}
      other -> other
    end
  end

  defp refused(:invalid), do: {:error, {:invalid_params, @invalid}}

  defp refused(:unknown),
    do: {:error, {:invalid_params, ~s(the decision must be "approve", "approve_all" or "deny")}}

  defp refused(other), do: other

  # Without an answer the person is asked once more. The text is not used up.
  defp again(state, call) do
    with {:ok, paused} <- open(state, call, nil), do: asked(paused, state, call)
  end

  defp decided(state, "approve", _reason, call), do: opened(state, :approve, :pause, call)
  defp decided(state, "approve_all", _reason, call), do: opened(state, :approve, :run, call)

  defp decided(state, "deny", reason, call) do
    reason =
      if is_binary(reason) and reason != "",
        do: Result.cut(reason, 500),
        else: "a person has denied it"

    opened(state, {:deny, reason}, :pause, call)
  end

  defp decided(_state, _other, _reason, _call), do: :unknown

  # What the client asks for now must be what waits.
  defp opened(state, decision, later, %{server: server} = call) do
    with {:ok, paused} <- open(state, call, nil),
         true <- same?(paused, call),
         {:ok, paused} <- open(state, call, server.used) do
      {:go_on, paused, decision, later}
    else
      _other -> :invalid
    end
  end

  defp same?(paused, %{args: args, server: server}) do
    case Written.program(args, server) do
      {:ok, program} -> Written.waits?(program, paused)
      {:none, _result} -> args["lisp"] == nil
    end
  end

  defp open(state, %{server: server, caller: caller}, used) do
    case Agent.Paused.open(state, server.keys, bind: caller.principal, used: used) do
      {:ok, %{kind: :run} = paused} -> {:ok, paused}
      _other -> :invalid
    end
  end
end
