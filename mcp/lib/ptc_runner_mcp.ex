defmodule PtcRunnerMcp do
  @moduledoc """
  A server of the Model Context Protocol with four tools in the place of many: `search_tools`, `describe_tools`, `run_program` and
  `plan_program`. A client's model writes one program over all of the tools that the server knows.

  `handle/3` is the whole server as a function from a message to its answer. `PtcRunnerMcp.Stdio` and `PtcRunnerMcp.Http` bring messages to it.

      iex> server = PtcRunnerMcp.new(tools: %{"rate" => {fn %{"day" => day} -> day * 0.5 end, signature: "(day :int) -> :float", effect: :read}})
      iex> program = %{"op" => "call", "tool" => "rate", "args" => %{"day" => 3}}
      iex> request = %{"jsonrpc" => "2.0", "id" => 1, "method" => "tools/call",
      ...>   "params" => %{"name" => "run_program", "arguments" => %{"program" => program}}}
      iex> PtcRunnerMcp.handle(server, request)["result"]["structuredContent"]
      %{"value" => 1.5, "calls" => %{"rate" => 1}}
  """

  alias PtcRunnerMcp.{Caller, Message, Methods, Offer, Protocol, Server}

  @doc """
  A server.

    * `:tools` - what programs may call, in each form that `PtcRunner.Agent` takes, or a function without arguments that returns a
      `PtcRunnerMcp.Catalogue`, for tools that change
    * `:context` - the data that programs `load`, by name
    * `:keys` - a list of 32 bytes each, which seal paused runs, see `PtcRunner.Json.Paused.seal/3`; by default a random one. Several nodes need the
      same ones. `:used` - a module of `PtcRunner.Json.Paused.Used`; `:ttl` - milliseconds that a run may wait, by default 15 minutes
    * `:approve_by_argument` - whether the sealed text and a decision may be arguments of `run_program`, by default `true`. With `false` only the form
      of the client decides, so that no model can.
    * `:on_call` - decides about each call, as in `PtcRunner.Json.run/2`
    * `:tool_context` - a function of the `PtcRunnerMcp.Caller` whose map tools of two arguments get
    * `:timeout`, `:max_heap`, `:max_tool_calls`, `:tool_concurrency` - of each run, by default 30 seconds, 12,500,000 words, 1,000 calls, and 8
      calls at a time
    * `:most_text` - bytes of a result, by default 20,000; more is cut with a note
    * `:language` - the language that the description of `run_program` explains: `:json` (the default) or `:lisp`. Programs of both are taken: PTC-JSON
      as the argument `program`, PTC-Lisp as the argument `lisp`.
    * `:operations` - the families of operations that the description of `run_program` explains, see `PtcRunner.Schema.to_prompt/1`
    * `:name`, `:version` - of the server
    * `:extra` - tools of this server beside the four: pairs of a definition and a function of a `t:PtcRunnerMcp.Methods.call/0`

  See the example above. Raises `ArgumentError` for other options.

      iex> length(PtcRunnerMcp.new([]).listed)
      4

  """
  @spec new(keyword()) :: Server.t()
  def new(opts), do: opts |> Server.new() |> Offer.described()

  @doc """
  The answer to a message: a map to be written as JSON, or nil for a notification and for a response.

      iex> PtcRunnerMcp.handle(PtcRunnerMcp.new([]), %{"jsonrpc" => "2.0", "id" => 1, "method" => "ping"})
      %{"id" => 1, "jsonrpc" => "2.0", "result" => %{}}

  """
  @spec handle(Server.t(), term(), Caller.t()) :: map() | nil
  def handle(server, message, caller \\ %Caller{}) do
    case Message.kind(message) do
      {:request, id, method, params} -> answer(server, id, method, params, caller)
      {:invalid, answer} -> answer
      _notification_or_response -> nil
    end
  end

  @doc """
  The answer to a request, as `handle/3` gives it.

      iex> PtcRunnerMcp.answer(PtcRunnerMcp.new([]), 1, "none", %{}, %PtcRunnerMcp.Caller{})["error"]["code"]
      -32_601

  """
  @spec answer(Server.t(), term(), String.t(), map(), Caller.t()) :: map()
  def answer(server, id, method, params, caller) do
    with {:ok, caller} <- of_era(Protocol.era(params), caller),
         {:ok, result} <- Methods.call(server, method, params, caller) do
      Protocol.result(id, result, caller.era, Server.info(server))
    else
      {:error, problem} -> Protocol.error(id, problem)
    end
  end

  defp of_era(:handshake, caller), do: {:ok, %{caller | era: :handshake}}

  defp of_era({:modern, capabilities}, caller),
    do: {:ok, %{caller | era: :modern, capabilities: capabilities}}

  defp of_era(error, _caller), do: error
end
