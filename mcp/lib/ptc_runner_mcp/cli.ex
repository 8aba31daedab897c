defmodule PtcRunnerMcp.Cli do
  @moduledoc """
  Starts a server as a program: what `mix ptc.mcp` and `bin/ptc-mcp` do with their arguments.

    * `--config FILE` - a file of Elixir whose value is the options of `PtcRunnerMcp.new/1`
    * `--servers FILE` - a JSON file with `mcpServers`, whose tools programs may call
    * `--http PORT` - HTTP on the loopback address in the place of standard input and output
    * `--language LANGUAGE` - `json` or `lisp`: the language that `run_program` explains. Programs of both are taken.
    * `--help` - says these arguments on the standard error, and serves nothing

  `main/0` takes them from the variable `PTC_MCP_ARGS`, one a line: a release has no other way. The variable `PTC_MCP_KEYS` has the keys that seal runs which wait: 32 bytes each in Base64, with commas between them.
  """

  alias PtcRunnerMcp.Http.Inets
  alias PtcRunnerMcp.{Stdio, Upstreams}

  @switches [config: :string, servers: :string, http: :integer, language: :string]
  @known ["--config", "--servers", "--http", "--language"]
  @usage "--config FILE, --servers FILE, --http PORT, --language LANGUAGE"

  @doc "Does what `main/1` does, with the arguments of `PTC_MCP_ARGS`, and ends the VM with 1 where they are wrong."
  @spec main() :: :ok
  def main do
    "PTC_MCP_ARGS" |> System.get_env("") |> String.split("\n", trim: true) |> main()
  rescue
    error in ArgumentError ->
      IO.puts(:stderr, Exception.message(error))
      System.halt(1)
  end

  @doc """
  Serves until the client has gone. Where it reads no answers, the VM ends with 1. Raises `ArgumentError` for arguments that are none.

      iex> PtcRunnerMcp.Cli.main(["--sever", "x"])
      ** (ArgumentError) unknown argument --sever. There are: --config FILE, --servers FILE, --http PORT, --language LANGUAGE

      iex> PtcRunnerMcp.Cli.main(["--http", "abc"])
      ** (ArgumentError) --http needs another value. There are: --config FILE, --servers FILE, --http PORT, --language LANGUAGE

  """
  @spec main([String.t()]) :: :ok
  def main([help]) when help in ["--help", "-h"] do
    IO.puts(:stderr, """
    Serves the Model Context Protocol on standard input and output.
    There are: #{@usage}
    The README of this folder explains them.\
    """)
  end

  def main(args) do
    {opts, rest, wrong} = OptionParser.parse(args, strict: @switches)

    for name <- Enum.map(wrong, &elem(&1, 0)) ++ rest do
      what =
        if name in @known, do: "#{name} needs another value", else: "unknown argument #{name}"

      raise ArgumentError, "#{what}. There are: #{@usage}"
    end

    {:ok, _started} = Application.ensure_all_started(:ptc_runner_mcp)
    server = opts |> configured() |> Keyword.merge(keys()) |> Keyword.merge(language(opts))
    server = with_servers(server, opts[:servers])
    with :unread <- serve(PtcRunnerMcp.new(server), opts[:http]), do: abandoned()
  after
    Upstreams.stop()
  end

  defp configured(opts) do
    if opts[:config] && not File.regular?(opts[:config]),
      do: raise(ArgumentError, "#{opts[:config]} cannot be read: there is no such file")

    case opts[:config] && Code.eval_file(opts[:config]) do
      nil ->
        []

      {options, _binding} when is_list(options) ->
        options

      {other, _} ->
        raise ArgumentError,
              "#{opts[:config]} must end with a list of options, and ends with #{inspect(other, limit: 5)}"
    end
  end

  defp language(opts) do
    case opts[:language] do
      nil -> []
      "json" -> [language: :json]
      "lisp" -> [language: :lisp]
      _other -> raise ArgumentError, "--language must be json or lisp"
    end
  end

  defp keys do
    case System.get_env("PTC_MCP_KEYS", "") do
      "" ->
        []

      text ->
        [keys: for(key <- String.split(text, ","), do: key!(Base.decode64(String.trim(key))))]
    end
  end

  defp key!({:ok, <<_::binary-size(32)>> = key}), do: key

  defp key!(_other),
    do: raise(ArgumentError, "each key of PTC_MCP_KEYS must be 32 bytes in Base64")

  defp with_servers(options, nil), do: options

  defp with_servers(options, file) do
    :ok = Upstreams.start(file, Keyword.get(options, :tools, []))
    Keyword.put(options, :tools, &Upstreams.catalogue/0)
  end

  # A VM that ends as usual waits until its output is read.
  defp abandoned do
    Upstreams.stop()
    :erlang.halt(1, flush: false)
  end

  defp serve(server, nil), do: Stdio.serve(server)

  defp serve(server, port) do
    pid = listening!(Inets.start(server, port: port), port)
    IO.puts(:stderr, "The server listens at http://127.0.0.1:#{Inets.port(pid)}/mcp")
    monitor = Process.monitor(pid)

    receive do
      {:DOWN, ^monitor, :process, ^pid, _reason} -> :ok
    end
  end

  defp listening!({:ok, pid}, _port), do: pid

  defp listening!({:error, reason}, port) do
    why =
      if inspect(reason) =~ "eaddrinuse",
        do: "another program has it",
        else: reason |> inspect() |> String.slice(0, 300)

    raise ArgumentError, "the port #{port} cannot be listened to: #{why}"
  end
end
