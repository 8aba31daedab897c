# The options of the server that the official conformance suite calls. The suite names the tools that it wants. Those about approval are programs of this
# server, whose runs wait, are sealed, and go on: only the suite's answer is translated into a decision.

alias PtcRunnerMcp.{Result, Run}

define = fn name, schema ->
  %{"name" => name, "description" => "For the conformance suite", "inputSchema" => schema}
end

none = %{"type" => "object", "properties" => %{}}

constant = fn name, content ->
  {define.(name, none), fn _call -> {:ok, %{"content" => content}} end}
end

text = %{"type" => "text", "text" => "This is a simple text response for testing."}

pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

image = %{"type" => "image", "data" => pixel, "mimeType" => "image/png"}

sound = %{
  "type" => "audio",
  "data" => "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=",
  "mimeType" => "audio/wav"
}

resource = fn uri, type, text ->
  %{"type" => "resource", "resource" => %{"uri" => uri, "mimeType" => type, "text" => text}}
end

# A program that waits for a person as often as it calls this tool.
confirm = %{"op" => "call", "tool" => "confirm", "args" => %{"step" => 1}}

twice = %{
  "op" => "let",
  "name" => "first",
  "value" => confirm,
  "in" => put_in(confirm["args"]["step"], 2)
}

decided = fn
  %{"approval" => %{"action" => "accept"} = given} = responses ->
    %{
      responses
      | "approval" => put_in(given, [Access.key("content", %{}), "decision"], "approve")
    }

  responses ->
    responses
end

waits = fn name, program ->
  {define.(name, none),
   fn call ->
     Run.run(%{call | args: %{"program" => program}, responses: decided.(call.responses)})
   end}
end

ask = fn key, request ->
  {:ok, %{"resultType" => "input_required", "inputRequests" => %{key => request}}}
end

form = %{
  "method" => "elicitation/create",
  "params" => %{
    "message" => "What is your name?",
    "requestedSchema" => %{
      "type" => "object",
      "properties" => %{"name" => %{"type" => "string"}},
      "required" => ["name"]
    }
  }
}

sampling = %{
  "method" => "sampling/createMessage",
  "params" => %{
    "messages" => [%{"role" => "user", "content" => %{"type" => "text", "text" => "?"}}],
    "maxTokens" => 10
  }
}

name = fn
  %{responses: %{"user_name" => %{"action" => "accept", "content" => %{"name" => name}}}} ->
    {:ok, Result.result("Hello, #{name}!", %{})}

  _call ->
    ask.("user_name", form)
end

schema = %{
  "$schema" => "https://json-schema.org/draft/2020-12/schema",
  "type" => "object",
  "$defs" => %{
    "address" => %{
      "$anchor" => "addressDef",
      "type" => "object",
      "properties" => %{"street" => %{"type" => "string"}, "city" => %{"type" => "string"}}
    }
  },
  "properties" => %{
    "name" => %{"type" => "string"},
    "address" => %{"$ref" => "#/$defs/address"},
    "contactMethod" => %{"type" => "string", "enum" => ["phone", "email"]},
    "phone" => %{"type" => "string"},
    "email" => %{"type" => "string"}
  },
  "allOf" => [%{"anyOf" => [%{"required" => ["phone"]}, %{"required" => ["email"]}]}],
  "if" => %{
    "properties" => %{"contactMethod" => %{"const" => "phone"}},
    "required" => ["contactMethod"]
  },
  "then" => %{"required" => ["phone"]},
  "else" => %{"required" => ["email"]},
  "additionalProperties" => false
}

[
  tools: %{
    "confirm" =>
      {fn %{"step" => step} -> "step #{step} is confirmed" end,
       signature: "(step :int) -> :string", approve: true}
  },
  extra: [
    constant.("test_simple_text", [text]),
    constant.("test_logging_tool", [text]),
    constant.("test_image_content", [image]),
    constant.("test_audio_content", [sound]),
    constant.("test_embedded_resource", [
      resource.("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ]),
    constant.("test_multiple_content_types", [
      %{text | "text" => "Multiple content types test:"},
      image,
      resource.(
        "test://mixed-content-resource",
        "application/json",
        ~s({"test":"data","value":123})
      )
    ]),
    {define.("test_error_handling", none),
     fn _call -> {:ok, Result.error("This tool intentionally returns an error for testing")} end},
    {define.("json_schema_2020_12_tool", schema),
     fn _call -> {:ok, Result.result("ok", %{})} end},
    {define.("test_input_required_result_elicitation", none), name},
    {define.("test_input_required_result_capabilities", none),
     fn call ->
       if call.caller.capabilities["sampling"],
         do: ask.("sampling", sampling),
         else: ask.("user_name", form)
     end},
    waits.("test_input_required_result_request_state", confirm),
    waits.("test_input_required_result_tampered_state", confirm),
    waits.("test_input_required_result_multi_round", twice),
    waits.("test_streaming_elicitation", confirm),
    {define.("test_missing_capability", none),
     fn call ->
       if call.caller.capabilities["sampling"],
         do: {:ok, Result.result("ok", %{})},
         else:
           {:error,
            {:missing_capability, "The client must declare sampling",
             %{"requiredCapabilities" => %{"sampling" => %{}}}}}
     end}
  ]
]
