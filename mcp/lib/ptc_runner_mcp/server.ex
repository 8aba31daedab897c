defmodule PtcRunnerMcp.Server do
  @moduledoc """
  What a server offers, and its limits: the options of `PtcRunnerMcp.new/1`, checked.
  """

  alias PtcRunner.Json.Paused.Used
  alias PtcRunnerMcp.{Catalogue, Protocol}

  @options [
    name: Protocol.me()["name"],
    version: Protocol.me()["version"],
    tools: [],
    context: %{},
    keys: nil,
    used: Used.Ets,
    ttl: 900_000,
    most_text: 20_000,
    timeout: 30_000,
    max_heap: 12_500_000,
    max_tool_calls: 1_000,
    tool_concurrency: 8,
    on_call: nil,
    tool_context: nil,
    language: :json,
    operations: :all,
    approve_by_argument: true,
    extra: []
  ]

  defstruct @options ++ [catalogue: nil, instructions: "", listed: []]

  @typedoc "See `PtcRunnerMcp.new/1`."
  @type t :: %__MODULE__{
          name: String.t(),
          version: String.t(),
          tools: term(),
          catalogue: (() -> Catalogue.t()),
          context: map(),
          keys: [binary()],
          used: module(),
          ttl: pos_integer(),
          most_text: pos_integer(),
          timeout: timeout(),
          max_heap: non_neg_integer(),
          max_tool_calls: non_neg_integer() | :infinity,
          tool_concurrency: pos_integer(),
          on_call: (PtcRunner.Json.Call.t() -> term()) | nil,
          tool_context: (PtcRunnerMcp.Caller.t() -> map()) | nil,
          language: :json | :lisp,
          operations: term(),
          approve_by_argument: boolean(),
          extra: [{map(), function()}],
          instructions: String.t(),
          listed: [map()]
        }

  @doc """
  Checks the options. Without keys, paused runs open in this VM only.

      iex> server = PtcRunnerMcp.Server.new(tools: %{"rate" => fn _ -> 1.5 end})
      iex> {length(server.catalogue.().tools), length(server.keys)}
      {1, 1}
      iex> PtcRunnerMcp.Server.new(tolls: [])
      ** (ArgumentError) unknown keys [:tolls] in [tolls: []], the allowed keys are: [:name, :version, :tools, :context, :keys, :used, :ttl, :most_text, :timeout, :max_heap, :max_tool_calls, :tool_concurrency, :on_call, :tool_context, :language, :operations, :approve_by_argument, :extra]

  """
  @spec new(keyword()) :: t()
  def new(opts) do
    server = struct!(__MODULE__, Keyword.validate!(opts, @options))

    if server.language not in [:json, :lisp] do
      raise ArgumentError,
            "option :language must be :json or :lisp, got: #{inspect(server.language)}"
    end

    keys = server.keys || [:crypto.strong_rand_bytes(32)]
    %{server | keys: keys, catalogue: catalogue(server.tools)}
  end

  defp catalogue(tools) when is_function(tools, 0), do: tools

  defp catalogue(tools) do
    catalogue = Catalogue.new(tools)
    fn -> catalogue end
  end

  @doc """
  Who answers, as the protocol names it.

      iex> PtcRunnerMcp.Server.info(PtcRunnerMcp.Server.new([]))
      %{"name" => "ptc_runner", "version" => "0.1.0"}

  """
  @spec info(t()) :: map()
  def info(server), do: %{"name" => server.name, "version" => server.version}

  @doc """
  Keeps a server where all processes find it without a copy: its tools and data may be large, and each request has a process of its own. `kept/1` finds it by
  the key, and `forget/1` ends that.

      iex> key = PtcRunnerMcp.Server.keep(PtcRunnerMcp.Server.new(name: "mine"))
      iex> PtcRunnerMcp.Server.kept(key).name
      "mine"
      iex> PtcRunnerMcp.Server.forget(key)
      :ok

  """
  @spec keep(t()) :: term()
  def keep(server) do
    key = {__MODULE__, System.unique_integer([:positive])}
    :persistent_term.put(key, server)
    key
  end

  @doc """
  The server of a key of `keep/1`.

      iex> key = PtcRunnerMcp.Server.keep(PtcRunnerMcp.Server.new([]))
      iex> PtcRunnerMcp.Server.kept(key).name
      "ptc_runner"

  """
  @spec kept(term()) :: t()
  def kept(key), do: :persistent_term.get(key)

  @doc """
  Ends what `keep/1` has begun.

      iex> key = PtcRunnerMcp.Server.keep(PtcRunnerMcp.Server.new([]))
      iex> {PtcRunnerMcp.Server.forget(key), PtcRunnerMcp.Server.forget(key)}
      {:ok, :ok}

  """
  @spec forget(term()) :: :ok
  def forget(key) do
    :persistent_term.erase(key)
    :ok
  end
end
