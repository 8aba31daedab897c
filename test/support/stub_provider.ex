defmodule PtcRunner.Test.StubProvider do
  @moduledoc """
  A local HTTP server that answers like OpenAI, Anthropic or Gemini, with answers that are written down. It refuses a request that is not of the
  form that the provider documents (`PtcRunner.Test.ProviderRequests`), with status 400 and what is wrong.

      {:ok, stub} = PtcRunner.Test.StubProvider.start(["3"])
      url = PtcRunner.Test.StubProvider.url(stub)

  An answer is a text, or `{status, headers}`. Each request takes the next one; the last one stays.
  """

  alias PtcRunner.Json.Codec
  alias PtcRunner.Test.ProviderRequests

  defstruct [:port, :pid]

  @type answer :: String.t() | {pos_integer(), [{String.t(), String.t()}]}
  @type t :: %__MODULE__{port: :inet.port_number(), pid: pid()}

  @doc "Starts a server that ends with the calling process."
  @spec start([answer(), ...]) :: {:ok, t()}
  def start(answers) do
    {:ok, listener} =
      :gen_tcp.listen(0, [
        :binary,
        packet: :raw,
        active: false,
        reuseaddr: true,
        ip: {127, 0, 0, 1}
      ])

    {:ok, port} = :inet.port(listener)
    pid = spawn_link(fn -> receive(do: (:go -> serve(listener, answers, []))) end)
    :ok = :gen_tcp.controlling_process(listener, pid)
    send(pid, :go)
    {:ok, %__MODULE__{port: port, pid: pid}}
  end

  @doc "The address of the server, without a path."
  @spec url(t()) :: String.t()
  def url(stub), do: "http://127.0.0.1:#{stub.port}"

  @doc "The requests so far: `{path, headers, body}`, the first one first."
  @spec requests(t()) :: [{String.t(), map(), map()}]
  def requests(%__MODULE__{pid: pid}) do
    ref = make_ref()
    send(pid, {:requests, self(), ref})

    receive do
      {^ref, requests} -> requests
    after
      60_000 -> raise "the stub does not answer"
    end
  end

  defp serve(listener, answers, requests) do
    receive do
      {:requests, to, ref} ->
        send(to, {ref, Enum.reverse(requests)})
        serve(listener, answers, requests)
    after
      0 -> accept(listener, answers, requests)
    end
  end

  defp accept(listener, answers, requests) do
    case :gen_tcp.accept(listener, 20) do
      {:ok, socket} ->
        {path, headers, body} = request = read(socket, "")
        {provider, reply} = reply(path, headers, body, hd(answers))
        :ok = :gen_tcp.send(socket, reply)
        :gen_tcp.close(socket)
        taken? = provider not in [:refused, :cache] and tl(answers) != []
        serve(listener, if(taken?, do: tl(answers), else: answers), [request | requests])

      {:error, :timeout} ->
        serve(listener, answers, requests)
    end
  end

  defp read(socket, text) do
    with [head, body] <- String.split(text, "\r\n\r\n", parts: 2),
         [first | lines] = String.split(head, "\r\n"),
         headers = Map.new(lines, &header/1),
         true <- byte_size(body) >= String.to_integer(headers["content-length"]) do
      ["POST", path, _http] = String.split(first, " ")
      {path, headers, Codec.decode!(body)}
    else
      _more ->
        {:ok, more} = :gen_tcp.recv(socket, 0, 60_000)
        read(socket, text <> more)
    end
  end

  defp header(line) do
    [name, value] = String.split(line, ":", parts: 2)
    {String.downcase(name), String.trim(value)}
  end

  defp reply(path, headers, body, answer) do
    {provider, faults} = ProviderRequests.faults(path, headers, body)

    cond do
      faults != [] ->
        {:refused, http(400, [], %{"error" => %{"message" => Enum.join(faults, "; ")}})}

      provider == :gemini_cache ->
        {:cache, http(200, [], %{"name" => "cachedContents/1"})}

      is_tuple(answer) ->
        {provider, http(elem(answer, 0), elem(answer, 1), %{"error" => %{}})}

      true ->
        {provider, http(200, [], message(provider, answer, body))}
    end
  end

  defp http(status, headers, body) do
    text = Codec.encode!(body)

    lines =
      for {name, value} <- [
            {"content-type", "application/json"},
            {"content-length", byte_size(text)},
            {"connection", "close"} | headers
          ],
          do: "#{name}: #{value}\r\n"

    ["HTTP/1.1 #{status} Stub\r\n", lines, "\r\n", text]
  end

  # The parts of the providers' answers that their documents name.
  defp message(:openai, text, body) do
    message =
      if body["tool_choice"],
        do: %{
          "role" => "assistant",
          "content" => nil,
          "tool_calls" => [
            %{
              "id" => "call_stub",
              "type" => "function",
              "function" => %{"name" => tool(body), "arguments" => text}
            }
          ]
        },
        else: %{"role" => "assistant", "content" => text, "refusal" => nil}

    %{
      "choices" => [%{"index" => 0, "finish_reason" => "stop", "message" => message}],
      "usage" => %{
        "prompt_tokens" => 2_000,
        "completion_tokens" => 100,
        "total_tokens" => 2_100,
        "prompt_tokens_details" => %{"cached_tokens" => 1_920}
      }
    }
  end

  defp message(:anthropic, text, body) do
    content =
      if body["tool_choice"],
        do: %{
          "type" => "tool_use",
          "id" => "toolu_stub",
          "name" => body["tool_choice"]["name"],
          "input" => Codec.decode!(text)
        },
        else: %{"type" => "text", "text" => text}

    %{
      "type" => "message",
      "role" => "assistant",
      "content" => [content],
      "stop_reason" => "end_turn",
      "usage" => %{
        "input_tokens" => 80,
        "cache_creation_input_tokens" => 0,
        "cache_read_input_tokens" => 1_920,
        "output_tokens" => 100
      }
    }
  end

  defp message(:gemini, text, body) do
    part =
      if body["toolConfig"],
        do: %{
          "functionCall" => %{"name" => "run_program", "args" => Codec.decode!(text)},
          "thoughtSignature" => "c3R1Yg=="
        },
        else: %{"text" => text}

    thought = %{"text" => "First I filter the orders.", "thought" => true}

    %{
      "candidates" => [
        %{"content" => %{"role" => "model", "parts" => [thought, part]}, "finishReason" => "STOP"}
      ],
      "usageMetadata" => %{
        "promptTokenCount" => 2_000,
        "cachedContentTokenCount" => 1_920,
        "candidatesTokenCount" => 60,
        "thoughtsTokenCount" => 40,
        "totalTokenCount" => 2_100
      }
    }
  end

  defp tool(body), do: body["tool_choice"]["function"]["name"]
end
