defmodule PtcRunnerMcp.Message do
  @moduledoc """
  Bytes to messages of JSON-RPC, and back. What is no message becomes the error that its sender gets.
  """

  alias PtcRunner.Json.Codec
  alias PtcRunnerMcp.Protocol

  # A program nests operations; a million brackets are no program.
  @depth 512

  @typedoc "A message by its kind."
  @type kind ::
          {:request, id :: term(), method :: String.t(), params :: map()}
          | {:notification, method :: String.t(), params :: map()}
          | {:response, id :: term(), map()}
          | {:invalid, answer :: map()}

  @doc """
  The bytes of a message that is read, where a transport is not told otherwise.

      iex> PtcRunnerMcp.Message.most()
      4_000_000

  """
  @spec most() :: pos_integer()
  def most, do: 4_000_000

  @doc """
  Reads one message.

      iex> PtcRunnerMcp.Message.read(~s({"jsonrpc": "2.0", "id": 1, "method": "ping"}))
      {:request, 1, "ping", %{}}
      iex> {:invalid, answer} = PtcRunnerMcp.Message.read("{")
      iex> answer["error"]
      %{"code" => -32_700, "message" => "This is no JSON: Unexpected end of input at position 1"}

  """
  @spec read(binary()) :: kind()
  def read(bytes) do
    case Codec.decode(bytes, depth: @depth) do
      {:ok, term} ->
        kind(term)

      {:error, error} ->
        invalid(nil, :parse_error, "This is no JSON: " <> Exception.message(error))
    end
  end

  @doc """
  The kind of a message that has been decoded.

      iex> PtcRunnerMcp.Message.kind(%{"jsonrpc" => "2.0", "method" => "notifications/initialized"})
      {:notification, "notifications/initialized", %{}}
      iex> {:invalid, answer} = PtcRunnerMcp.Message.kind(%{"jsonrpc" => "2.0", "id" => 1, "method" => "ping", "params" => []})
      iex> answer["error"]["message"]
      "params must be an object"

  """
  @spec kind(term()) :: kind()
  def kind(%{"jsonrpc" => "2.0", "method" => method} = message) when is_binary(method) do
    params = if message["params"] == nil, do: %{}, else: message["params"]

    cond do
      not is_map(params) ->
        invalid(id(message), :invalid_request, "params must be an object")

      not Map.has_key?(message, "id") ->
        {:notification, method, params}

      id(message) == nil ->
        invalid(nil, :invalid_request, "id must be a text or an integer")

      true ->
        {:request, message["id"], method, params}
    end
  end

  def kind(%{"jsonrpc" => "2.0", "id" => id} = message)
      when is_map_key(message, "result") or is_map_key(message, "error"),
      do: {:response, id, message}

  def kind(message) when is_map(message) do
    text = ~s(a message must be a request, a notification or a response of JSON-RPC "2.0")
    invalid(id(message), :invalid_request, text)
  end

  def kind(_other), do: invalid(nil, :invalid_request, "a message must be one object")

  defp id(%{"id" => id}) when is_binary(id) or is_integer(id), do: id
  defp id(_message), do: nil

  defp invalid(id, name, text), do: {:invalid, Protocol.error(id, {name, text})}

  @doc """
  Writes a message. What cannot be written is an error with the same id.

      iex> PtcRunnerMcp.Message.write(%{"id" => 1})
      ~s({"id":1})
      iex> PtcRunnerMcp.Message.write(%{"id" => 1, "result" => {1}}) =~ "-32603"
      true

  """
  @spec write(map()) :: String.t()
  def write(message) do
    case Codec.encode(message) do
      {:ok, text} ->
        text

      {:error, error} ->
        text = "The answer cannot be written: " <> Exception.message(error)
        Codec.encode!(Protocol.error(message["id"], {:internal_error, text}))
    end
  end
end
