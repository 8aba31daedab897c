defmodule PtcRunnerMcp.Http do
  @moduledoc """
  The transport over HTTP as a function from a request to its response, which any web server can call. Each request is a POST with one message, and its
  response is one JSON text: there are no sessions and no streams.

  In a Plug:

      def call(conn, server) do
        case Plug.Conn.read_body(conn, length: PtcRunnerMcp.Message.most()) do
          {:ok, body, conn} -> answer(conn, server, body)
          {:more, _body, conn} -> Plug.Conn.send_resp(conn, 413, "")
        end
      end

      defp answer(conn, server, body) do
        request = %{method: conn.method, headers: conn.req_headers, body: body, principal: conn.assigns.user_id}
        response = PtcRunnerMcp.Http.respond(server, request, hosts: ["mcp.example.com"])
        conn = Enum.reduce(response.headers, conn, fn {name, value}, conn -> Plug.Conn.put_resp_header(conn, name, value) end)
        Plug.Conn.send_resp(conn, response.status, response.body)
      end

  It stands before `Plug.Parsers`, which would read the body. What the web server does not give as the header `Host`, with HTTP/2 say, must be checked by it: then `hosts: :any`.
  A function of the application that raises, raises here.

  `PtcRunnerMcp.Http.Inets` is a web server for one machine.
  """

  alias PtcRunnerMcp.{Caller, Message, Protocol, Server}
  alias PtcRunnerMcp.Http.Headers

  @typedoc "A request. `principal` is who makes it, as the web server knows it; headers are pairs."
  @type request :: %{
          required(:method) => String.t(),
          required(:headers) => [{String.t(), String.t()}],
          required(:body) => binary(),
          optional(:principal) => term()
        }

  @typedoc "A response."
  @type response :: %{
          status: pos_integer(),
          headers: [{String.t(), String.t()}],
          body: String.t()
        }

  @local ["localhost", "127.0.0.1", "[::1]"]
  @json [{"content-type", "application/json"}]

  @doc """
  The response to a request.

  `:hosts` are the names that the header `Host` may have, and the hosts of `Origin`, by default those of the loopback address. Other names are refused, so that no page of
  the web reaches a server on the machine of its visitor. `:any` is for web servers that check them.

      iex> server = PtcRunnerMcp.new([])
      iex> request = %{method: "POST", headers: [{"host", "localhost:4000"}, {"content-type", "application/json"}],
      ...>   body: ~s({"jsonrpc": "2.0", "id": 1, "method": "ping"})}
      iex> PtcRunnerMcp.Http.respond(server, request)
      %{status: 200, headers: [{"content-type", "application/json"}], body: ~s({"id":1,"jsonrpc":"2.0","result":{}})}
      iex> PtcRunnerMcp.Http.respond(server, %{request | headers: [{"host", "evil.example"}]}).status
      403
      iex> PtcRunnerMcp.Http.respond(server, %{request | method: "GET"}).status
      405

  """
  @spec respond(Server.t(), request(), hosts: [String.t()] | :any) :: response()
  def respond(server, request, opts \\ []) do
    headers = for {name, value} <- request.headers, do: {String.downcase(name), value}
    hosts = Keyword.get(opts, :hosts, @local)

    cond do
      not Headers.local?(headers, hosts) ->
        refused(403, "This host or origin is not allowed")

      request.method != "POST" ->
        %{refused(405, "Only POST is served") | headers: [{"allow", "POST"} | @json]}

      not Headers.json?(headers, "content-type") ->
        refused(415, "The content-type must be application/json")

      not Headers.json?(headers, "accept") ->
        refused(406, "The client must accept application/json")

      true ->
        message(server, Message.read(request.body), headers, request[:principal])
    end
  end

  defp message(server, {:request, id, method, params}, headers, principal) do
    case Headers.agree(headers, method, params) do
      :ok ->
        caller = %Caller{principal: principal, headers: Map.new(headers)}
        answer = PtcRunnerMcp.answer(server, id, method, params, caller)
        # Errors of the earlier era are answers like others.
        era = if Protocol.named_version(params), do: :modern, else: :handshake
        json(if(era == :modern, do: Protocol.status(answer), else: 200), answer)

      {:error, problem} ->
        json(400, Protocol.error(id, problem))
    end
  end

  defp message(_server, {:invalid, answer}, _headers, _principal), do: json(400, answer)

  # Nothing is asked over this transport, so a response answers nothing.
  defp message(_server, {:response, _id, _response}, _headers, _principal),
    do: refused(400, "Nothing was asked")

  defp message(_server, {:notification, _method, _params}, headers, _principal) do
    case Headers.version(headers) do
      :ok -> %{status: 202, headers: [], body: ""}
      {:error, problem} -> json(400, Protocol.error(nil, problem))
    end
  end

  defp refused(status, text), do: json(status, Protocol.error(nil, {:invalid_request, text}))

  defp json(status, answer), do: %{status: status, headers: @json, body: Message.write(answer)}
end
