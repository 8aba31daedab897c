defmodule PtcRunnerMcp.Http.Headers do
  @moduledoc """
  What the headers of a request must say. Headers are pairs with names in small letters.
  """

  alias PtcRunnerMcp.Protocol

  @version "mcp-protocol-version"
  @once [@version, "mcp-method", "mcp-name"]
  @named %{"tools/call" => "name", "prompts/get" => "name", "resources/read" => "uri"}

  @doc """
  Whether `Host`, and `Origin` if there is one, name one of these hosts. A port does not count.

      iex> PtcRunnerMcp.Http.Headers.local?([{"host", "LOCALHOST:80"}, {"origin", "http://localhost:3000"}], ["localhost"])
      true
      iex> PtcRunnerMcp.Http.Headers.local?([{"host", "localhost"}, {"origin", "http://evil.example"}], ["localhost"])
      false
      iex> PtcRunnerMcp.Http.Headers.local?([], ["localhost"])
      false

  """
  @spec local?([{String.t(), String.t()}], [String.t()] | :any) :: boolean()
  def local?(_headers, :any), do: true

  def local?(headers, hosts) do
    origins = for {"origin", origin} <- headers, do: origin |> String.replace(~r{^[a-z]+://}i, "")
    named = for {"host", host} <- headers, do: host
    match?([_], named) and Enum.all?(named ++ origins, &(host(&1) in hosts))
  end

  defp host(text), do: text |> String.downcase() |> String.replace(~r/:\d*$/, "")

  @doc """
  Whether a header has a media type that stands for JSON. A header that is missing counts as one.

      iex> PtcRunnerMcp.Http.Headers.json?([{"accept", "text/event-stream, application/json; q=1"}], "accept")
      true
      iex> PtcRunnerMcp.Http.Headers.json?([{"accept", "text/html"}], "accept")
      false

  """
  @spec json?([{String.t(), String.t()}], String.t()) :: boolean()
  def json?(headers, name) do
    types = for {^name, value} <- headers, part <- String.split(value, ","), do: type(part)
    types == [] or Enum.any?(types, &(&1 in ["application/json", "application/*", "*/*"]))
  end

  defp type(part), do: part |> String.split(";") |> hd() |> String.trim() |> String.downcase()

  @doc """
  Whether the headers agree with the message. From 2026-07-28 on they repeat its version, its method and the name that it is about; before, only the version may stand
  there.

      iex> meta = %{"io.modelcontextprotocol/protocolVersion" => "2026-07-28"}
      iex> headers = [{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", "tools/list"}]
      iex> PtcRunnerMcp.Http.Headers.agree(headers, "tools/list", %{"_meta" => meta})
      :ok
      iex> PtcRunnerMcp.Http.Headers.agree(headers, "tools/call", %{"_meta" => meta})
      {:error, {:header_mismatch, "The header mcp-method must be the method of the message"}}

  """
  @spec agree([{String.t(), String.t()}], String.t(), map()) ::
          :ok | {:error, Protocol.problem()}
  def agree(headers, method, params) do
    named = Protocol.named_version(params)
    given = value(headers, @version)

    cond do
      twice = Enum.find(@once, &(Enum.count(headers, fn {name, _} -> name == &1 end) > 1)) ->
        mismatch("The header #{twice} stands there twice")

      named == nil and given in Protocol.modern() ->
        {:error,
         {:invalid_params, "params._meta must have the version, as the header #{@version} has"}}

      named == nil ->
        version(headers)

      given != named ->
        mismatch("The header #{@version} must be the version in params._meta")

      value(headers, "mcp-method") != method ->
        mismatch("The header mcp-method must be the method of the message")

      true ->
        name(headers, params[@named[method]])
    end
  end

  defp name(_headers, nil), do: :ok

  defp name(headers, name) do
    if decoded(value(headers, "mcp-name")) == name,
      do: :ok,
      else: mismatch("The header mcp-name must be the name in the message")
  end

  # A name that is no plain text stands in Base64.
  defp decoded("=?base64?" <> rest) do
    with true <- String.ends_with?(rest, "?="),
         text = binary_part(rest, 0, byte_size(rest) - 2),
         {:ok, name} <- Base.decode64(text),
         true <- Base.encode64(name) == text,
         do: name,
         else: (_other -> :none)
  end

  defp decoded(text), do: text

  @doc """
  Whether the version in the headers is served at all. A client of the era of `initialize` may leave it out.

      iex> PtcRunnerMcp.Http.Headers.version([])
      :ok
      iex> {:error, {:unsupported_version, text, _data}} = PtcRunnerMcp.Http.Headers.version([{"mcp-protocol-version", "1"}])
      iex> text
      "Unsupported protocol version"

  """
  @spec version([{String.t(), String.t()}]) :: :ok | {:error, Protocol.problem()}
  def version(headers) do
    given = value(headers, @version)

    if given == nil or given in Protocol.modern() or Protocol.handshake?(given) do
      :ok
    else
      data = %{"supported" => Protocol.modern(), "requested" => given}
      {:error, {:unsupported_version, "Unsupported protocol version", data}}
    end
  end

  defp value(headers, name) do
    case List.keyfind(headers, name, 0) do
      {^name, value} -> value
      nil -> nil
    end
  end

  defp mismatch(text), do: {:error, {:header_mismatch, text}}
end
