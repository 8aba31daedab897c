defmodule PtcRunnerMcp.Http.Inets do
  @moduledoc """
  A web server on the loopback address, for clients on the same machine: Erlang/OTP's own. Everybody on the machine is one principal.
  """

  alias PtcRunnerMcp.{Http, Message, Protocol, Server}

  # Bytes of requests that wait for the response before them.
  @most_more 65_536

  require Record
  Record.defrecordp(:mod, Record.extract(:mod, from_lib: "inets/include/httpd.hrl"))

  @doc """
  Starts the web server. Options: `:port` (0 takes a free one), `:path` (by default `"/mcp"`), `:most` (bytes of a request, by default 4,000,000) and `:clients`, by default 200 at
  a time.

      iex> {:ok, pid} = PtcRunnerMcp.Http.Inets.start(PtcRunnerMcp.new([]), port: 0)
      iex> is_integer(PtcRunnerMcp.Http.Inets.port(pid))
      true
      iex> PtcRunnerMcp.Http.Inets.stop(pid)
      :ok

  """
  @spec start(Server.t(), keyword()) :: {:ok, pid()} | {:error, term()}
  def start(server, opts \\ []) do
    {:ok, _started} = Application.ensure_all_started(:inets)
    folder = to_charlist(System.tmp_dir!())

    # Options of the web server are looked up for each request, and would be copied.
    key = Server.keep(server)

    :inets.start(:httpd,
      port: Keyword.get(opts, :port, 0),
      bind_address: {127, 0, 0, 1},
      server_name: ~c"ptc_runner_mcp",
      server_root: folder,
      document_root: folder,
      modules: [__MODULE__],
      ptc_runner_mcp: {key, Keyword.get(opts, :path, "/mcp")},
      max_body_size: Keyword.get(opts, :most, Message.most()),
      max_clients: Keyword.get(opts, :clients, 200),
      keep_alive_timeout: 60,
      customize: __MODULE__.Plain
    )
  end

  @doc """
  The port that the web server listens to.

      iex> {:ok, pid} = PtcRunnerMcp.Http.Inets.start(PtcRunnerMcp.new([]), port: 0)
      iex> PtcRunnerMcp.Http.Inets.port(pid) in 1..65_535
      true
      iex> PtcRunnerMcp.Http.Inets.stop(pid)
      :ok

  """
  @spec port(pid()) :: :inet.port_number()
  def port(pid), do: :httpd.info(pid, [:port])[:port]

  @doc """
  Ends the web server.

      iex> {:ok, pid} = PtcRunnerMcp.Http.Inets.start(PtcRunnerMcp.new([]), port: 0)
      iex> PtcRunnerMcp.Http.Inets.stop(pid)
      :ok
      iex> PtcRunnerMcp.Http.Inets.stop(pid)
      {:error, :no_such_service}

  """
  @spec stop(pid()) :: :ok | {:error, term()}
  def stop(pid), do: :inets.stop(:httpd, pid)

  # A callback of httpd.
  @doc false
  @spec unquote(:do)(tuple()) :: {:proceed, list()}
  def unquote(:do)(request) do
    {key, path} = request |> mod(:config_db) |> :httpd_util.lookup(:ptc_runner_mcp)

    response =
      if request |> mod(:request_uri) |> to_string() |> String.split("?") |> hd() == path,
        do:
          watched(mod(request, :socket), fn -> Http.respond(Server.kept(key), read(request)) end),
        else: %{status: 404, headers: [], body: ""}

    head = [{:code, response.status}, {:content_length, to_charlist(byte_size(response.body))}]
    head = head ++ for {name, value} <- response.headers, do: header(name, value)
    {:proceed, [{:response, {:response, head, [response.body]}}]}
  end

  # A client that closes its connection cancels its request: the run ends with its tools.
  defp watched(socket, respond) do
    task = Task.async(respond)
    :inet.setopts(socket, active: :once)
    await(socket, task, "")
  end

  # `more` is what the client has sent after its request.
  defp await(socket, %{ref: ref, pid: pid} = task, more) do
    receive do
      {^ref, response} ->
        Process.demonitor(ref, [:flush])
        :inet.setopts(socket, active: false)
        :gen_tcp.unrecv(socket, more <> late(socket))
        unlinked(pid, response)

      # What the application has given, a function say, has raised.
      {:DOWN, ^ref, :process, ^pid, _reason} ->
        problem = {:internal_error, "The request ended with an error of the server"}
        body = Message.write(Protocol.error(nil, problem))
        unlinked(pid, %{status: 500, headers: [{"content-type", "application/json"}], body: body})

      {:tcp_closed, ^socket} ->
        Task.shutdown(task, :brutal_kill)
        unlinked(pid, %{status: 400, headers: [], body: ""})

      # The next requests of the client. It may still go away, so this goes on until they are many.
      {:tcp, ^socket, data} ->
        if byte_size(more) < @most_more, do: :inet.setopts(socket, active: :once)
        await(socket, task, more <> data)
    end
  end

  # The web server's process traps exits, and does not expect this one.
  defp unlinked(pid, response) do
    Process.unlink(pid)

    receive do
      {:EXIT, ^pid, _reason} -> response
    after
      0 -> response
    end
  end

  # What came while the response was made.
  defp late(socket) do
    receive do
      {:tcp, ^socket, data} -> data
    after
      0 -> ""
    end
  end

  defp header("content-type", value), do: {:content_type, to_charlist(value)}
  defp header("allow", value), do: {:allow, to_charlist(value)}

  defp read(request) do
    headers =
      for {name, value} <- mod(request, :parsed_header), do: {to_string(name), to_string(value)}

    body = IO.iodata_to_binary(mod(request, :entity_body))
    %{method: to_string(mod(request, :method)), headers: headers, body: body, principal: :local}
  end
end

defmodule PtcRunnerMcp.Http.Inets.Plain do
  @moduledoc false
  # The web server says of itself nothing that an attacker could use.

  @behaviour :httpd_custom_api

  @impl true
  def response_default_headers, do: []
  @impl true
  def response_header({~c"server", _name}), do: false
  def response_header(header), do: {true, header}

  # A body in chunks is held without a limit, however long it is. One of an encoding that is not known is refused before it is read.
  @impl true
  def request_header({~c"transfer-encoding", _encoding}),
    do: {true, {~c"transfer-encoding", ~c"none"}}

  def request_header(header), do: {true, header}
end
