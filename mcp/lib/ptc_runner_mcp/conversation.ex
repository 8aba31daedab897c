defmodule PtcRunnerMcp.Conversation do
  @moduledoc """
  A request of a client of the era of `initialize`, which is asked by requests of the server, and not by results. From 2026-07-28 on the client
  itself sends the answers, so there a request has one answer.
  """

  alias PtcRunnerMcp.{Caller, Protocol, Result, Server}

  # A program that waits more often than this ends.
  @most 100
  @asked_enough "The client was asked #{@most} times for one request. What waits now was not called."

  @doc """
  The answer to a request, after all that is asked in between. `ask` is a function of a method and params that gives the response of the client.

      iex> server = PtcRunnerMcp.new(tools: %{"pay" => {fn _ -> "paid" end, approve: true}})
      iex> params = %{"name" => "run_program", "arguments" => %{"program" => %{"op" => "call", "tool" => "pay"}}}
      iex> ask = fn "elicitation/create", %{"message" => _} -> %{"result" => %{"action" => "accept", "content" => %{"decision" => "approve"}}} end
      iex> caller = %PtcRunnerMcp.Caller{capabilities: %{"elicitation" => %{}}}
      iex> PtcRunnerMcp.Conversation.answer(server, {1, "tools/call", params}, caller, ask)["result"]["structuredContent"]["value"]
      "paid"

  """
  @spec answer(Server.t(), {term(), String.t(), map()}, Caller.t(), (String.t(), map() -> map())) ::
          map()
  def answer(server, {id, method, params}, caller, ask) do
    server
    |> PtcRunnerMcp.answer(id, method, params, caller)
    |> asked(server, {id, method, params}, caller, ask, @most)
  end

  defp asked(
         %{"result" => %{"resultType" => "input_required", "inputRequests" => requests} = result} =
           answer,
         server,
         {id, method, params},
         caller,
         ask,
         left
       ) do
    # A result of the later era has this key beside its type.
    cond do
      Map.has_key?(result, "_meta") ->
        answer

      left == 0 ->
        Protocol.result(id, Result.error(@asked_enough), :handshake, %{})

      true ->
        responses = for {name, request} <- requests, into: %{}, do: {name, response(request, ask)}
        more = %{"inputResponses" => responses, "requestState" => result["requestState"]}

        server
        |> PtcRunnerMcp.answer(id, method, Map.merge(params, more), caller)
        |> asked(server, {id, method, params}, caller, ask, left - 1)
    end
  end

  defp asked(answer, _server, _request, _caller, _ask, _left), do: answer

  # A client that cannot ask decides nothing.
  defp response(%{"method" => method, "params" => params}, ask) do
    case ask.(method, params) do
      %{"result" => %{} = result} -> result
      _error -> %{"action" => "cancel"}
    end
  end
end
