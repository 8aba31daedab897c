defmodule PtcRunnerMcp.Config do
  @moduledoc """
  The file that says which other servers there are, in the form that clients of the protocol use:

      {"mcpServers": {"files": {
        "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/data"], "env": {"KEY": "…"},
        "ptc": {"readOnly": ["read_file"], "approve": ["write_file"], "timeout": 10000}}}}

  What clients do not know stands under `ptc`:

    * `trustReadOnlyHint` - whether tools are taken to only read if their server says so; by default `false`
    * `readOnly` - names of tools that only read
    * `approve` - `"writes"` (the default: a person approves each call of a tool that does not only read), `"none"`, or names of tools
    * `only` - the names of the tools that programs see; by default all
    * `timeout` - milliseconds of one call, by default 30,000
  """

  alias PtcRunner.Json.Codec

  @names ~w(trustReadOnlyHint readOnly approve only timeout)

  @typedoc "A server to be started, and how its tools are taken."
  @type t :: %{
          name: String.t(),
          command: String.t(),
          args: [String.t()],
          env: %{String.t() => String.t()},
          cwd: String.t() | nil,
          trust: boolean(),
          read_only: [String.t()],
          approve: :writes | :none | [String.t()],
          only: [String.t()] | nil,
          timeout: pos_integer()
        }

  @doc """
  The servers of a file. Those that are `disabled` are left out.

      iex> PtcRunnerMcp.Config.read("/no/such/file")
      {:error, "/no/such/file cannot be read: no such file or directory"}

  """
  @spec read(Path.t()) :: {:ok, [t()]} | {:error, String.t()}
  def read(path) do
    case File.read(path) do
      {:ok, text} -> with {:error, what} <- parse(text), do: {:error, "#{path}: #{what}"}
      {:error, reason} -> {:error, "#{path} cannot be read: #{:file.format_error(reason)}"}
    end
  end

  @doc """
  The servers of a text.

      iex> {:ok, [server]} = PtcRunnerMcp.Config.parse(~s({"mcpServers": {"a": {"command": "cat", "ptc": {"approve": "none"}}}}))
      iex> {server.name, server.command, server.approve, server.trust}
      {"a", "cat", :none, false}
      iex> PtcRunnerMcp.Config.parse(~s({"mcpServers": {"a": {"url": "https://example.com"}}}))
      {:error, "mcpServers.a: only servers with a command are supported, which speak over standard input and output"}
      iex> PtcRunnerMcp.Config.parse(~s({"mcpServers": {"a": "cat"}}))
      {:error, "mcpServers.a must be an object"}
      iex> PtcRunnerMcp.Config.parse(~s({"mcpServers": {"a": {"command": "cat", "ptc": {"aprove": []}}}}))
      {:error, "mcpServers.a.ptc: unknown key \\"aprove\\". There are: trustReadOnlyHint, readOnly, approve, only, timeout"}

  """
  @spec parse(String.t()) :: {:ok, [t()]} | {:error, String.t()}
  def parse(text) do
    case Codec.decode(text, depth: 64) do
      {:ok, %{"mcpServers" => %{} = servers}} ->
        {:ok,
         for(
           {name, entry} <- Enum.sort(servers),
           not match?(%{"disabled" => true}, entry),
           do: server!(name, entry)
         )}

      {:ok, _other} ->
        {:error, ~s(the file must be an object with "mcpServers", which is an object)}

      {:error, error} ->
        {:error, "the file is no JSON: " <> Exception.message(error)}
    end
  catch
    {:wrong, text} -> {:error, text}
  end

  defp server!(name, %{"command" => command} = entry) when is_binary(command) do
    place = "mcpServers.#{name}"
    ptc = is(entry["ptc"] || %{}, &is_map/1, "#{place}.ptc", "an object")

    for key <- Map.keys(ptc), key not in @names do
      throw(
        {:wrong,
         "#{place}.ptc: unknown key #{inspect(key)}. There are: #{Enum.join(@names, ", ")}"}
      )
    end

    %{
      name: name,
      command: command,
      args: is(entry["args"] || [], &texts?/1, "#{place}.args", "a list of texts"),
      env:
        is(
          entry["env"] || %{},
          &(is_map(&1) and texts?(Map.values(&1))),
          "#{place}.env",
          "an object of texts"
        ),
      cwd: is(entry["cwd"], &(&1 == nil or is_binary(&1)), "#{place}.cwd", "a text"),
      trust:
        is(
          ptc["trustReadOnlyHint"] || false,
          &is_boolean/1,
          "#{place}.ptc.trustReadOnlyHint",
          "true or false"
        ),
      read_only: is(ptc["readOnly"] || [], &texts?/1, "#{place}.ptc.readOnly", "a list of texts"),
      approve: approve(ptc["approve"], "#{place}.ptc.approve"),
      only: is(ptc["only"], &(&1 == nil or texts?(&1)), "#{place}.ptc.only", "a list of texts"),
      timeout:
        is(
          ptc["timeout"] || 30_000,
          &(is_integer(&1) and &1 > 0),
          "#{place}.ptc.timeout",
          "a number of milliseconds"
        )
    }
  end

  defp server!(name, entry) when not is_map(entry),
    do: throw({:wrong, "mcpServers.#{name} must be an object"})

  defp server!(name, _entry) do
    throw(
      {:wrong,
       "mcpServers.#{name}: only servers with a command are supported, which speak over standard input and output"}
    )
  end

  defp approve(none_given, _place) when none_given in [nil, "writes"], do: :writes
  defp approve("none", _place), do: :none

  defp approve(names, place),
    do: is(names, &texts?/1, place, ~s("writes", "none" or a list of texts))

  defp texts?(list), do: is_list(list) and Enum.all?(list, &is_binary/1)

  defp is(value, test, place, what),
    do: if(test.(value), do: value, else: throw({:wrong, "#{place} must be #{what}"}))
end
