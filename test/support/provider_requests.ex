defmodule PtcRunner.Test.ProviderRequests do
  @moduledoc """
  Judges requests by what the providers' documents say: the paths, the headers, the fields, the order of messages, and the schemas (by
  `PtcRunner.Test.ProviderRules`).

      iex> alias PtcRunner.Test.ProviderRequests
      iex> body = %{"model" => "m", "messages" => [%{"role" => "user", "content" => "Hello"}]}
      iex> ProviderRequests.faults("/v1/chat/completions", %{"authorization" => "Bearer k"}, body)
      {:openai, []}
      iex> ProviderRequests.faults("/v1/chat/completions", %{}, %{body | "messages" => []})
      {:openai, ["no header authorization", "messages: there are none"]}
  """

  alias PtcRunner.Json.Codec
  alias PtcRunner.Test.ProviderRules

  @type provider :: :openai | :anthropic | :gemini | :gemini_cache | :unknown

  @doc "Which provider a request is for, and what is wrong with it."
  @spec faults(String.t(), map(), map()) :: {provider(), [String.t()]}
  def faults("/v1/chat/completions", headers, body) do
    known =
      ~w(model messages tools tool_choice parallel_tool_calls response_format prompt_cache_key)

    {:openai,
     header(headers, "authorization", ~r/^Bearer .+/) ++
       fields(body, ~w(model messages), known) ++
       openai_messages(body["messages"]) ++ openai_tools(body) ++ openai_format(body)}
  end

  def faults("/v1/messages", headers, body) do
    known = ~w(model max_tokens messages system cache_control tools tool_choice output_config)

    {:anthropic,
     header(headers, "x-api-key", ~r/./) ++
       header(headers, "anthropic-version", ~r/^2023-06-01$/) ++
       fields(body, ~w(model max_tokens messages), known) ++
       anthropic_messages(body["messages"]) ++
       anthropic_system(body["system"]) ++ anthropic_tools(body) ++ anthropic_format(body)}
  end

  def faults("/v1beta/models/" <> call, headers, body) do
    known = ~w(contents systemInstruction cachedContent generationConfig tools toolConfig)

    {:gemini,
     if(call =~ ~r/^[\w.-]+:generateContent$/, do: [], else: ["no method #{call}"]) ++
       header(headers, "x-goog-api-key", ~r/./) ++
       fields(body, ~w(contents), known) ++
       gemini_contents(body["contents"]) ++
       gemini_cache(body) ++ gemini_tools(body) ++ gemini_format(body["generationConfig"])}
  end

  def faults("/v1beta/cachedContents", headers, body) do
    {:gemini_cache,
     header(headers, "x-goog-api-key", ~r/./) ++
       fields(body, ~w(model systemInstruction ttl), ~w(model systemInstruction ttl)) ++
       when_not(match?(%{"model" => "models/" <> _}, body), "model: has no models/") ++
       when_not(
         match?(%{"systemInstruction" => %{"parts" => [%{"text" => _}]}}, body),
         "systemInstruction"
       ) ++
       when_not(is_binary(body["ttl"]) and body["ttl"] =~ ~r/^\d+s$/, "ttl: no seconds")}
  end

  def faults(path, _headers, _body), do: {:unknown, ["no path #{path}"]}

  defp header(headers, name, pattern) do
    case headers do
      %{^name => value} -> when_not(value =~ pattern, "header #{name}: #{value}")
      _none -> ["no header #{name}"]
    end
  end

  defp fields(body, required, known) do
    for(name <- required, not is_map_key(body, name), do: "no field #{name}") ++
      for name <- Map.keys(body), name not in known, do: "the field #{name}"
  end

  defp when_not(true, _fault), do: []
  defp when_not(_false, fault), do: [fault]

  # ## OpenAI

  # The result of a tool call stands right behind the message with the call.
  defp openai_messages([_first | _rest] = messages) do
    {faults, open} =
      Enum.flat_map_reduce(messages, nil, fn
        %{"role" => "tool", "tool_call_id" => id, "content" => text}, id when is_binary(text) ->
          {[], nil}

        message, nil ->
          openai_message(message)

        message, open ->
          {["messages: #{open} has no result before #{Codec.encode!(message)}"], nil}
      end)

    faults ++ when_not(open == nil, "messages: the last call has no result")
  end

  defp openai_messages(_none), do: ["messages: there are none"]

  defp openai_message(%{"role" => role, "content" => text} = message)
       when role in ~w(system user assistant) and is_binary(text) and map_size(message) == 2,
       do: {[], nil}

  defp openai_message(%{
         "role" => "assistant",
         "tool_calls" => [
           %{
             "id" => id,
             "type" => "function",
             "function" => %{"name" => name, "arguments" => arguments}
           }
         ]
       })
       when is_binary(name) and is_binary(arguments) do
    {when_not(match?({:ok, %{}}, Codec.decode(arguments)), "messages: arguments are no object"),
     id}
  end

  defp openai_message(other), do: {["messages: #{Codec.encode!(other)}"], nil}

  defp openai_tools(%{"tools" => tools, "tool_choice" => choice}) do
    names =
      for %{
            "type" => "function",
            "function" => %{"name" => name, "parameters" => %{"type" => "object"}}
          } <-
            tools,
          do: name

    when_not(length(names) == length(tools), "tools") ++
      when_not(
        match?(%{"type" => "function", "function" => %{"name" => _}}, choice) and
          choice["function"]["name"] in names,
        "tool_choice"
      )
  end

  defp openai_tools(body), do: when_not(not is_map_key(body, "tools"), "tools without a choice")

  defp openai_format(%{"response_format" => format}) do
    case format do
      %{
        "type" => "json_schema",
        "json_schema" => %{"name" => name, "strict" => true, "schema" => schema}
      }
      when is_binary(name) ->
        ProviderRules.faults(schema, :openai_strict)

      other ->
        ["response_format: #{Codec.encode!(other)}"]
    end
  end

  defp openai_format(_body), do: []

  # ## Anthropic

  defp anthropic_messages([%{"role" => "user"} | _rest] = messages) do
    {faults, _state} =
      Enum.flat_map_reduce(messages, {"assistant", nil}, fn message, {before, open} ->
        {faults, open} = anthropic_message(message, open)
        turn = when_not(message["role"] != before, "messages: two of #{before} in a row")
        {faults ++ turn, {message["role"], open}}
      end)

    faults
  end

  defp anthropic_messages(_other), do: ["messages: the first one is not the user's"]

  defp anthropic_message(%{"role" => role, "content" => text}, nil)
       when role in ~w(user assistant) and is_binary(text) and text != "",
       do: {[], nil}

  defp anthropic_message(%{"role" => "assistant", "content" => [call]}, nil) do
    case call do
      %{"type" => "tool_use", "id" => id, "name" => _name, "input" => %{}} -> {[], id}
      other -> {["messages: #{Codec.encode!(other)}"], nil}
    end
  end

  defp anthropic_message(%{"role" => "user", "content" => [result]}, id) when id != nil do
    case result do
      %{"type" => "tool_result", "tool_use_id" => ^id, "content" => text} when is_binary(text) ->
        {[], nil}

      other ->
        {["messages: #{Codec.encode!(other)} is no result of #{id}"], nil}
    end
  end

  defp anthropic_message(other, _open), do: {["messages: #{Codec.encode!(other)}"], nil}

  defp anthropic_system(nil), do: []
  defp anthropic_system(text) when is_binary(text), do: []

  # At most four breakpoints, one of which may be the automatic one.
  defp anthropic_system(blocks) do
    for(
      block <- blocks,
      not match?(%{"type" => "text", "text" => <<_, _::binary>>}, block),
      do: "system: #{Codec.encode!(block)}"
    ) ++
      when_not(Enum.count(blocks, & &1["cache_control"]) <= 3, "system: too many breakpoints") ++
      for %{"cache_control" => control} <- blocks,
          control["type"] != "ephemeral",
          do: "system: cache_control"
  end

  defp anthropic_tools(%{"tools" => tools, "tool_choice" => %{"type" => "tool", "name" => name}}) do
    names = for %{"name" => name, "input_schema" => %{"type" => "object"}} <- tools, do: name
    when_not(length(names) == length(tools) and name in names, "tools")
  end

  defp anthropic_tools(body),
    do: when_not(not is_map_key(body, "tools"), "tools without a choice")

  defp anthropic_format(%{"output_config" => config}) do
    case config do
      %{"format" => %{"type" => "json_schema", "schema" => schema}} ->
        ProviderRules.faults(schema, :anthropic)

      other ->
        ["output_config: #{Codec.encode!(other)}"]
    end
  end

  defp anthropic_format(_body), do: []

  # ## Gemini

  defp gemini_contents([%{"role" => "user"} | _rest] = contents) do
    {faults, called} = Enum.flat_map_reduce(contents, nil, &gemini_content/2)
    faults ++ when_not(called == nil, "contents: #{called} has no response")
  end

  defp gemini_contents(_other), do: ["contents: the first one is not the user's"]

  defp gemini_content(%{"role" => role, "parts" => [%{"text" => text}]}, nil)
       when role in ~w(user model) and is_binary(text),
       do: {[], nil}

  # Gemini 3 refuses a call without its signature.
  defp gemini_content(%{"role" => "model", "parts" => [%{"functionCall" => call} = part]}, nil) do
    sound? = match?(%{"name" => _, "args" => %{}}, call) and is_binary(part["thoughtSignature"])
    {when_not(sound?, "contents: #{Codec.encode!(part)}"), call["name"]}
  end

  defp gemini_content(%{"role" => "user", "parts" => [%{"functionResponse" => response}]}, name)
       when name != nil do
    {when_not(match?(%{"name" => ^name, "response" => %{}}, response), "contents: response"), nil}
  end

  defp gemini_content(other, _called), do: {["contents: #{Codec.encode!(other)}"], nil}

  # What a cache has must not be in the request too.
  defp gemini_cache(%{"cachedContent" => name} = body) do
    when_not(name =~ ~r/^cachedContents\/./, "cachedContent: #{name}") ++
      for field <- ~w(systemInstruction tools toolConfig),
          is_map_key(body, field),
          do: "#{field} beside cachedContent"
  end

  defp gemini_cache(body) do
    case body["systemInstruction"] do
      nil -> []
      %{"parts" => [%{"text" => text}]} when is_binary(text) -> []
      other -> ["systemInstruction: #{Codec.encode!(other)}"]
    end
  end

  defp gemini_tools(%{"tools" => tools, "toolConfig" => config}) do
    names =
      for %{"functionDeclarations" => functions} <- tools,
          %{"name" => name, "parametersJsonSchema" => %{"type" => "object"}} <- functions,
          do: name

    case config do
      %{"functionCallingConfig" => %{"mode" => "ANY", "allowedFunctionNames" => allowed}} ->
        when_not(allowed != [] and allowed -- names == [], "allowedFunctionNames")

      other ->
        ["toolConfig: #{Codec.encode!(other)}"]
    end
  end

  defp gemini_tools(body), do: when_not(not is_map_key(body, "tools"), "tools without toolConfig")

  defp gemini_format(nil), do: []

  defp gemini_format(%{"responseMimeType" => "application/json", "responseJsonSchema" => schema}),
    do: ProviderRules.faults(schema, :gemini)

  defp gemini_format(other), do: ["generationConfig: #{Codec.encode!(other)}"]
end
