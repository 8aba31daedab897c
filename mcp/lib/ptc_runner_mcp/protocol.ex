defmodule PtcRunnerMcp.Protocol do
  @moduledoc """
  What the protocol's eras have in common and where they differ: versions, names of keys, codes of errors, and the form of answers.

  In the era of `initialize` (2025-06-18, 2025-11-25) a connection says once what the client is. From 2026-07-28 on, each request says it in
  `params._meta`, and each result has a `resultType`.
  """

  @modern ["2026-07-28"]
  @handshake ["2025-06-18", "2025-11-25"]

  @version "io.modelcontextprotocol/protocolVersion"
  @capabilities "io.modelcontextprotocol/clientCapabilities"
  @server_info "io.modelcontextprotocol/serverInfo"

  # Of this project, as a server and as a client.
  @me "ptc_runner"
  @own Mix.Project.config()[:version]

  @codes %{
    parse_error: -32_700,
    invalid_request: -32_600,
    method_not_found: -32_601,
    invalid_params: -32_602,
    internal_error: -32_603,
    header_mismatch: -32_020,
    missing_capability: -32_021,
    unsupported_version: -32_022
  }

  @typedoc "Why a request has no result."
  @type problem :: {atom(), String.t()} | {atom(), String.t(), map()}

  @doc """
  What this project calls itself.

      iex> PtcRunnerMcp.Protocol.me()["name"]
      "ptc_runner"

  """
  @spec me() :: %{String.t() => String.t()}
  def me, do: %{"name" => @me, "version" => @own}

  @doc """
  The versions in which each request speaks for itself.

      iex> PtcRunnerMcp.Protocol.modern()
      ["2026-07-28"]

  """
  @spec modern() :: [String.t()]
  def modern, do: @modern

  @doc """
  The version that `initialize` answers with: the one that was asked for, if it is served, and otherwise the latest of that era.

      iex> PtcRunnerMcp.Protocol.handshake("2025-06-18")
      "2025-06-18"
      iex> PtcRunnerMcp.Protocol.handshake("1999-01-01")
      "2025-11-25"

  """
  @spec handshake(term()) :: String.t()
  def handshake(asked), do: if(asked in @handshake, do: asked, else: List.last(@handshake))

  @doc """
  Whether a header may name this version in the era of `initialize`.

      iex> PtcRunnerMcp.Protocol.handshake?("2025-11-25")
      true

  """
  @spec handshake?(term()) :: boolean()
  def handshake?(version), do: version in @handshake

  @doc """
  What a request says of itself: the era, and the capabilities of its client.

      iex> meta = %{"io.modelcontextprotocol/protocolVersion" => "2026-07-28", "io.modelcontextprotocol/clientCapabilities" => %{}}
      iex> PtcRunnerMcp.Protocol.era(%{"_meta" => meta})
      {:modern, %{}}
      iex> PtcRunnerMcp.Protocol.era(%{})
      :handshake
      iex> {:error, {:unsupported_version, _text, data}} = PtcRunnerMcp.Protocol.era(%{"_meta" => %{meta | "io.modelcontextprotocol/protocolVersion" => "2031-01-01"}})
      iex> data
      %{"requested" => "2031-01-01", "supported" => ["2026-07-28"]}

  """
  @spec era(map()) :: {:modern, map()} | :handshake | {:error, problem()}
  def era(%{"_meta" => %{@version => version} = meta}) do
    capabilities = meta[@capabilities]

    cond do
      not is_map(capabilities) ->
        {:error, {:invalid_params, "params._meta must have the object #{inspect(@capabilities)}"}}

      not is_binary(version) ->
        {:error, {:invalid_params, "the version in params._meta must be a text"}}

      version not in @modern ->
        data = %{"supported" => @modern, "requested" => version}
        {:error, {:unsupported_version, "Unsupported protocol version", data}}

      true ->
        {:modern, capabilities}
    end
  end

  def era(_params), do: :handshake

  @doc """
  The version that a request names in `_meta`, or nil.

      iex> PtcRunnerMcp.Protocol.named_version(%{})
      nil

  """
  @spec named_version(map()) :: term()
  def named_version(%{"_meta" => %{@version => version}}), do: version
  def named_version(_params), do: nil

  @doc """
  The `_meta` of a request that this project makes as a client of another server.

      iex> PtcRunnerMcp.Protocol.envelope("2026-07-28") |> map_size()
      2

  """
  @spec envelope(String.t()) :: map()
  def envelope(version), do: %{@version => version, @capabilities => %{}}

  @doc """
  A result as its era has it: from 2026-07-28 on with its type and with who answers.

      iex> PtcRunnerMcp.Protocol.result(7, %{"tools" => []}, :handshake, %{})
      %{"id" => 7, "jsonrpc" => "2.0", "result" => %{"tools" => []}}
      iex> PtcRunnerMcp.Protocol.result(7, %{}, :modern, %{"name" => "ptc"})["result"]
      %{"_meta" => %{"io.modelcontextprotocol/serverInfo" => %{"name" => "ptc"}}, "resultType" => "complete"}

  """
  @spec result(term(), map(), :modern | :handshake, map()) :: map()
  def result(id, result, :modern, info) do
    result = Map.put_new(result, "resultType", "complete")
    reply(id, "result", Map.put(result, "_meta", %{@server_info => info}))
  end

  def result(id, result, :handshake, _info), do: reply(id, "result", result)

  @doc """
  An error.

      iex> PtcRunnerMcp.Protocol.error(7, {:method_not_found, "There is no method \\"x\\""})["error"]
      %{"code" => -32_601, "message" => ~s(There is no method "x")}

  """
  @spec error(term(), problem()) :: map()
  def error(id, {name, message}),
    do: reply(id, "error", %{"code" => Map.fetch!(@codes, name), "message" => message})

  def error(id, {name, message, data}),
    do: id |> error({name, message}) |> put_in(["error", "data"], data)

  defp reply(id, key, value), do: %{"jsonrpc" => "2.0", "id" => id, key => value}

  @doc """
  The status of HTTP for an answer.

      iex> PtcRunnerMcp.Protocol.status(%{"error" => %{"code" => -32_601}})
      404
      iex> PtcRunnerMcp.Protocol.status(%{"result" => %{}})
      200

  """
  @spec status(map()) :: 200 | 400 | 404
  def status(%{"error" => %{"code" => -32_601}}), do: 404
  def status(%{"error" => %{"code" => -32_603}}), do: 200
  def status(%{"error" => _other}), do: 400
  def status(_result), do: 200
end
