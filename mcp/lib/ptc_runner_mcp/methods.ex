defmodule PtcRunnerMcp.Methods do
  @moduledoc """
  The methods of the protocol that this server has. Everything else is not offered, and not declared.
  """

  alias PtcRunnerMcp.{Caller, Offer, Progress, Protocol, Server}

  # The list is the same for everybody until the server is started with other options.
  @fresh %{"ttlMs" => 300_000, "cacheScope" => "private"}

  @typedoc """
  A call of one of the server's tools: its arguments, what a client sends back after it was asked something, who calls, and a function
  that tells how far it is.
  """
  @type call :: %{
          server: Server.t(),
          args: map(),
          state: String.t() | nil,
          responses: map(),
          caller: Caller.t(),
          progress: (String.t() -> :ok) | nil
        }

  @doc """
  The result of a method.

      iex> PtcRunnerMcp.Methods.call(PtcRunnerMcp.new([]), "ping", %{}, %PtcRunnerMcp.Caller{})
      {:ok, %{}}

  """
  @spec call(Server.t(), String.t(), map(), Caller.t()) ::
          {:ok, map()} | {:error, Protocol.problem()}
  def call(server, "initialize", params, %{era: :handshake}) do
    {:ok,
     %{
       "protocolVersion" => Protocol.handshake(params["protocolVersion"]),
       "capabilities" => %{"tools" => %{}},
       "serverInfo" => Server.info(server),
       "instructions" => server.instructions
     }}
  end

  def call(_server, "ping", _params, %{era: :handshake}), do: {:ok, %{}}

  def call(server, "server/discover", _params, %{era: :modern}) do
    {:ok,
     Map.merge(@fresh, %{
       "supportedVersions" => Protocol.modern(),
       "capabilities" => %{"tools" => %{}},
       "instructions" => server.instructions
     })}
  end

  def call(server, "tools/list", params, caller) do
    if params["cursor"] in [nil, ""] do
      fresh = if caller.era == :modern, do: @fresh, else: %{}
      {:ok, Map.put(fresh, "tools", server.listed)}
    else
      {:error, {:invalid_params, "There is no such cursor: the list has one page"}}
    end
  end

  def call(server, "tools/call", params, caller) do
    args = if params["arguments"] == nil, do: %{}, else: params["arguments"]
    responses = if params["inputResponses"] == nil, do: %{}, else: params["inputResponses"]
    state = params["requestState"]

    cond do
      not is_map(args) -> invalid("arguments must be an object")
      not is_map(responses) -> invalid("inputResponses must be an object")
      not (state == nil or is_binary(state)) -> invalid("requestState must be a text")
      true -> called(server, params, args, state, responses, caller)
    end
  end

  def call(_server, method, _params, _caller) do
    shown = method |> String.slice(0, 100) |> inspect()
    {:error, {:method_not_found, "There is no method #{shown}"}}
  end

  defp called(server, params, args, state, responses, caller) do
    case Offer.function(server, params["name"]) do
      {:ok, function} ->
        function.(%{
          server: server,
          args: args,
          state: state,
          responses: responses,
          caller: caller,
          progress: Progress.function(caller, params)
        })

      :error ->
        shown = params["name"] |> inspect() |> String.slice(0, 100)
        invalid("There is no tool #{shown}. There are: #{Enum.join(Offer.names(server), ", ")}")
    end
  end

  defp invalid(text), do: {:error, {:invalid_params, text}}
end
