defmodule PtcRunnerMcp.LispTest do
  # Programs of PTC-Lisp, with the same promises as those of PTC-JSON.
  use ExUnit.Case, async: true
  import PtcRunnerMcp.Requests
  alias PtcRunner.Json.Codec
  alias PtcRunnerMcp.Caller

  @elicits %{"elicitation" => %{}}

  defp lisp(text, more \\ %{}),
    do: Map.merge(%{"name" => "run_program", "arguments" => %{"lisp" => text}}, more)

  defp ask(server, params, caller \\ %Caller{}),
    do: PtcRunnerMcp.handle(server, modern(1, "tools/call", params, @elicits), caller)

  defp result(server, params), do: ask(server, params)["result"]
  defp text(result), do: hd(result["content"])["text"]

  test "a program calls tools, reads data, prints and returns its value" do
    server = server(context: %{"orders" => [%{total: 50}, %{"total" => 70}]})

    program =
      "(println \"two\" (count data/orders)) (mapv #(tool/rate {:day (:total %)}) data/orders)"

    result = result(server, lisp(program))

    assert result["structuredContent"] == %{
             "value" => [25.0, 35.0],
             "calls" => %{"rate" => 2},
             "prints" => ["two 2"]
           }

    assert [%{"text" => "[25.0,35.0]"}, %{"text" => "Printed:\ntwo 2"}] = result["content"]

    for {program, value} <- [
          {~S({:a :key :b #{1}}), %{"a" => "key", "b" => [1]}},
          {"```clojure\n(+ 1 2)\n```", 3},
          {"(return {:n 1})", %{"n" => 1}}
        ] do
      structured = result(server(), lisp(program))["structuredContent"]
      assert structured |> Codec.encode!() |> Codec.decode!() == %{"value" => value}
    end
  end

  test "both languages are in the list, and it is short" do
    for {language, most} <- [json: 9_000, lisp: 5_000] do
      [_, _, run, plan] = server(language: language, context: %{"orders" => [%{total: 1}]}).listed

      assert %{"program" => %{"type" => "object"}, "lisp" => %{"type" => "string"}} =
               run["inputSchema"]["properties"]

      assert %{"lisp" => %{"type" => "string"}} = plan["inputSchema"]["properties"]
      assert run["description"] =~ "(tool/"
      assert run["description"] =~ "orders [{total :int}]"
      assert byte_size(Codec.encode!(run)) < most
    end

    [_, _, run, _] = server(language: :lisp).listed
    refute run["description"] =~ "fence"
    refute run["description"] =~ "next program"

    assert_raise ArgumentError, "option :language must be :json or :lisp, got: :clojure", fn ->
      server(language: :clojure)
    end
  end

  test "the plan of a program" do
    params = %{lisp("(when data/late (tool/refund {:order 7}))") | "name" => "plan_program"}
    result = result(server(context: %{"late" => true}), params)
    assert text(result) =~ "refund"

    assert [%{"name" => "refund", "effect" => "write", "calls" => "≤ 1"}] =
             result["structuredContent"]["tools"]

    assert result["structuredContent"]["reads"] == ["late"]
  end

  test "errors are the library's, written for the model" do
    for {program, text} <- [
          {"(tool/rats)", "Available tools: rate, refund"},
          {"(+ 1", "unbalanced parentheses"},
          {"(/ 1 0)", "division by zero"},
          {"(fail \"no data\")", "no data"},
          {"(tool/rate {:day \"x\"})", "day"}
        ] do
      result = result(server(), lisp(program))
      assert result["isError"]
      assert text(result) =~ text
    end

    both = %{lisp("1") | "arguments" => %{"lisp" => "1", "program" => %{"op" => "it"}}}
    assert text(result(server(), both)) =~ "Give one program"
    none = %{lisp("1") | "arguments" => %{"lisp" => 7}}
    assert text(result(server(), none)) =~ "The arguments must have a program"
  end

  test "limits of time, memory and calls hold" do
    endless = "(loop [n 0] (recur (inc n)))"
    assert text(result(server(timeout: 50), lisp(endless))) =~ "50"
    large = "(count (reduce (fn [all n] (conj all (range 1000))) [] (range 100000)))"
    assert result(server(max_heap: 100_000), lisp(large))["isError"]
    calls = "(mapv #(tool/rate {:day %}) (range 9))"
    assert result(server(max_tool_calls: 8), lisp(calls))["isError"]

    assert result(server(max_tool_calls: 9), lisp(calls))["structuredContent"]["calls"] == %{
             "rate" => 9
           }
  end

  test "a tool that programs of PTC-Lisp cannot call is refused, and others are called" do
    tools = %{
      "pay" => {fn _ -> 1 end, signature: "(_card :string) -> :int"},
      "rate" => fn _ -> 2 end
    }

    server = server(tools: tools)
    assert result(server, lisp("(tool/rate)"))["structuredContent"]["value"] == 2
    assert text(result(server, lisp("(tool/pay)"))) =~ "firewalled parameters"
    assert text(result(server, lisp("(tool/pax)"))) =~ "Available tools: rate"
  end

  test "calls of a program wait for a person together, in a sealed text that fits this program only" do
    server = server()
    program = "(println \"asks\") (mapv #(tool/refund {:order %}) [1 2 3])"
    waits = result(server, lisp(program))
    assert waits["resultType"] == "input_required"
    message = waits["inputRequests"]["approval"]["params"]["message"]
    assert message =~ ~S(- refund with %{"order" => 3})
    assert message =~ "unknown"

    go = fn text, decision, caller ->
      content = %{"action" => "accept", "content" => %{"decision" => decision}}

      more = %{
        "requestState" => waits["requestState"],
        "inputResponses" => %{"approval" => content}
      }

      ask(server, lisp(text, more), caller)
    end

    for {text, caller} <- [
          {"(tool/refund {:order 9})", %Caller{}},
          {"(", %Caller{}},
          {program, %Caller{principal: "eve"}}
        ] do
      assert go.(text, "approve", caller)["error"]["message"] =~ "cannot be opened"
    end

    done = go.(program, "approve", %Caller{})["result"]
    assert done["structuredContent"]["value"] == ["refunded 1", "refunded 2", "refunded 3"]
    assert done["structuredContent"]["prints"] == ["asks"]
    assert go.(program, "approve", %Caller{})["error"]["message"] =~ "cannot be opened"
  end

  test "a client without forms goes on by arguments" do
    server = server()
    request = &handshake(1, "tools/call", &1)
    waits = PtcRunnerMcp.handle(server, request.(lisp("(tool/refund {:order 1})")))["result"]
    state = waits["structuredContent"]["state"]
    arguments = %{"state" => state, "decision" => "approve"}

    done =
      PtcRunnerMcp.handle(server, request.(%{"name" => "run_program", "arguments" => arguments}))

    assert done["result"]["structuredContent"]["value"] == "refunded 1"
  end
end
