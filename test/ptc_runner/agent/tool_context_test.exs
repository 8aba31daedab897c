defmodule PtcRunner.Agent.ToolContextTest do
  # Tools of two arguments: what the application gives a run, which programs neither see nor change.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Agent.Tool
  alias PtcRunner.Json.Codec
  alias PtcRunner.Test.ToolsWithContext, as: Shop

  doctest PtcRunner.Json.ToolContext

  @call ~s({"program": {"op": "call", "tool": "who", "args": {"n": 1, "actor": "Eve", "context": {"actor": "Eve"}}}})

  # The tool of a name that answers who asks.
  defp who(options \\ []), do: %{"who" => {fn _args, %{context: c} -> c.actor end, options}}

  defp looped(n) do
    Codec.encode!(%{
      "program" => %{
        "op" => "pipe",
        "steps" => [
          %{"op" => "range", "from" => 1, "to" => n},
          %{
            "op" => "map",
            "expr" => %{"op" => "call", "tool" => "who", "args" => %{"n" => %{"op" => "it"}}}
          },
          %{"op" => "distinct"}
        ]
      }
    })
  end

  describe "Json.run/2" do
    test "a bare function, with options, with a signature, as a struct; a keyword list, a map and a struct" do
      fun = fn %{"n" => 1}, %{context: context} -> context.actor end

      forms = [
        fun,
        {fun, "(n :int) -> :string"},
        {fun, effect: :read, max_calls: 3},
        %Tool{name: "who", fun: fun}
      ]

      for form <- forms, context <- [[actor: "Ada"], %{actor: "Ada", tenant: 7}] do
        opts = [tools: %{"who" => form}, tool_context: context]
        assert Json.run!(@call, opts) == "Ada"
        {:ok, compiled} = Json.compile(@call)
        assert Json.run!(compiled, opts) == "Ada"
        assert Json.explain(@call, opts).result == {:ok, "Ada", %{}, %{}}
        assert {{:ok, "Ada", _, _}, journal} = Json.record(@call, opts)
        refute inspect(journal) =~ "Ada\", tenant"
      end

      range = {fn _args, %{context: %Range{last: last}} -> last end, []}
      assert Json.run!(@call, tools: %{"who" => range}, tool_context: 1..9) == 9
    end

    test "many calls, calls that overlap, and calls in a run that moves" do
      for n <- [1, 3, 500], most <- [1, 4], settings <- [[], [cache: true], [timeout: 60_000]] do
        opts = [tools: who(settings), tool_context: [actor: "Ada"], tool_concurrency: most]
        assert Json.run!(looped(n), opts) == ["Ada"]
      end
    end

    test "without the option, a bare function of two arguments is refused, and one with options gets an empty context" do
      tools = %{"who" => fn _args, _more -> 1 end}
      message = "Tools must be functions with arity 1. Invalid: who"
      assert Json.run(@call, tools: tools) == {:error, {:validation_error, message}}
      three = %{"who" => fn _, _, _ -> 1 end}

      assert Json.run(@call, tools: three, tool_context: %{}) ==
               {:error, {:validation_error, message}}

      seen = %{"who" => {fn _args, more -> map_size(more.context) end, []}}
      assert Json.run!(@call, tools: seen) == 0
    end

    test "a wrong context is an error of the application" do
      for wrong <- ["ada", [1], 7, [{"a", 1}]] do
        assert_raise ArgumentError,
                     ~r/option :tool_context of .* must be a map or a keyword list/,
                     fn ->
                       Json.run(@call, tools: who(), tool_context: wrong)
                     end
      end
    end

    test "decisions see the context, paused runs do not have it, and go on with that of then" do
      me = self()
      pause = fn call -> send(me, {:asked, call.context}) && :pause end
      opts = [tools: who(), tool_context: [actor: "Ada", secret: "s3cret"], on_call: pause]
      assert {:paused, paused} = Json.run(@call, opts)
      assert_received {:asked, %{actor: "Ada", secret: "s3cret"}}
      refute inspect(%Json.Call{tool: "t", args: %{}, context: %{secret: "s3cret"}}) =~ "s3cret"
      assert paused.hooks == [:on_call, :tool_context]

      {:ok, stored} =
        paused
        |> Json.Paused.to_map()
        |> Codec.encode!()
        |> Codec.decode!()
        |> Json.Paused.from_map()

      assert stored == paused
      refute :erlang.term_to_binary(paused) =~ "s3cret"

      again = Keyword.put(opts, :tool_context, actor: "Bob")
      assert {:ok, "Bob", _, _} = Json.resume(stored, :approve, again)

      assert {:error, {:execution_error, text}} =
               Json.resume(stored, :approve, Keyword.delete(opts, :tool_context))

      assert text ==
               "The run was paused with :tool_context, and would go on without it: give the context again, or tool_context: nil to go on without one"

      assert {:error, _} = Json.resume(stored, :approve, Keyword.put(opts, :tool_context, nil))
    end
  end

  describe "errors do not show the context" do
    @secret %{actor: %{token: "s3cret"}, n: 1}

    defp failing,
      do: [
        {fn _, more -> more.context.missing end, "KeyError"},
        {fn _, more -> more.missing end, "KeyError"},
        {fn _, %{context: %{missing: 1}} -> 1 end, "no function clause"},
        {fn _, more -> Map.get(more.context.actor.token, 1) end, "BadMapError"},
        {fn _, more -> {:ok, _} = more.context end, "MatchError"},
        {fn _, more -> case(more, do: (1 -> 1)) end, "CaseClauseError"},
        {fn _, more -> with(1 <- more, do: 1, else: (2 -> 2)) end, "WithClauseError"},
        {fn _, more -> more.context.(1) end, "BadFunctionError"},
        {fn _, more -> :erlang.error({:bad, more}) end, "ErlangError"},
        {fn _, more -> Enum.map(more.context.actor.token, & &1) end, "Protocol.UndefinedError"},
        {fn _, more -> throw(more) end, "threw"},
        {fn _, more -> exit({:noproc, more}) end, "exited"}
      ]

    test "in the program, the feedback, the record and the step" do
      for {fun, word} <- failing() do
        program =
          ~s({"program": {"op": "call", "tool": "t", "on_error": {"op": "var", "name": "error"}}})

        tools = %{"t" => {fun, effect: :read}}
        text = Json.run!(program, tools: tools, tool_context: @secret, edition: 2)
        assert text =~ word
        refute text =~ "s3cret"
        program = ~s({"program": {"op": "call", "tool": "t"}})

        assert {:error, error, feedback, info} =
                 Agent.run(program, tools, tool_context: @secret, info: true)

        refute inspect({error, feedback, info}) =~ "s3cret"

        {:error, step} =
          Agent.loop(fn _ -> program end, [task: "x", tools: tools, tool_context: @secret],
            max_turns: 2
          )

        refute inspect(step, limit: :infinity, printable_limit: :infinity, structs: false) =~
                 "s3cret"
      end
    end

    test "what a tool says of its own is told" do
      tools = %{"t" => {fn _, _ -> raise "the order is closed" end, []}}

      assert {:error, {_, text}} =
               Json.run(~s({"program": {"op": "call", "tool": "t"}}), tools: tools)

      assert text == "Tool 't' raised: the order is closed"
      tools = %{"t" => {fn _, _ -> {:error, "closed"} end, []}}

      assert {:error, {_, ~s(Tool 't' error: "closed")}} =
               Json.run(~s({"program": {"op": "call", "tool": "t"}}), tools: tools)
    end
  end

  describe "agents" do
    test "run, with a signature, keys of the spec, and the audit" do
      program =
        ~s({"program": {"op": "call", "tool": "refund", "args": {"order": "7", "by": "Eve"}}})

      opts = [
        tool_context: [
          actor: "Ada",
          tenant: 3,
          _token: "s3cret",
          at: ~D[2026-01-02],
          socket: self()
        ]
      ]

      {:ok, value, info} = Agent.run(program, %{"refund" => &Shop.refund/2}, opts)
      assert value == %{"order" => 7, "note" => nil, "by" => "Ada"}
      assert [%{args: %{order: 7}, context: context}] = info.tool_calls

      assert context == %{
               "actor" => "Ada",
               "tenant" => 3,
               "at" => "2026-01-02",
               "socket" => "a term"
             }

      prompt = Agent.prompt(tools: %{"refund" => &Shop.refund/2}, language: :none)
      assert prompt =~ "- refund(order :int, note :string?) -> :any"
    end

    test "a loop over several turns, a pause and what comes after it" do
      texts = [~s({"program": {"look": {"op": "call", "tool": "who"}}}), @call]
      model = fn messages -> Enum.at(texts, div(length(messages), 2) - 1) end

      opts = [task: "x", tools: who(), tool_context: [actor: "Ada"], returns: ":string"]
      {:ok, step} = Agent.loop(model, opts)
      assert step.return == "Ada"
      assert [%{turn: 1, context: %{"actor" => "Ada"}}, %{turn: 2}] = Agent.audit(step)
      {:ok, _json} = Codec.encode(step)
      refute Enum.any?(step.messages, &(&1.content =~ "tool_context"))

      {:paused, paused} = Agent.loop(model, Keyword.put(opts, :tools, who(approve: true)))
      refute Keyword.has_key?(paused.opts, :tool_context)

      given = [model: model, tools: who(approve: true), tool_context: [actor: "Bob"]]
      {:paused, paused} = Agent.resume(paused, :approve, given)
      {:ok, step} = Agent.resume(paused, :approve, given)
      assert step.return == "Bob"

      assert for(call <- Agent.audit(step), do: call.context) == [
               %{"actor" => "Bob"},
               %{"actor" => "Bob"}
             ]
    end

    test "a loop without its firewall runs what it would refuse with it" do
      program =
        ~s({"program": {"op": "call", "tool": "mail", "args": {"to": {"op": "load", "name": "_to"}}}})

      opts = [
        task: "x",
        context: %{"_to" => "a@b"},
        tools: %{"mail" => & &1["to"]},
        check: false,
        max_turns: 1
      ]

      assert {:error, _step} = Agent.loop(fn _ -> program end, opts)
      assert {:ok, %{return: "a@b"}} = Agent.loop(fn _ -> program end, [firewall: false] ++ opts)
    end

    test "without the option, audits have no context" do
      {:ok, step} = Agent.loop(fn _ -> @call end, task: "x", tools: %{"who" => fn _ -> 1 end})
      assert [call] = Agent.audit(step)
      refute Map.has_key?(call, :context)
    end

    test "handlers of ALLM get the context itself" do
      tool =
        struct(ALLM.Tool,
          name: "who",
          handler: fn _args, context -> context.actor end,
          schema: %{}
        )

      assert {:ok, "Ada", _} = Agent.run(@call, [tool], tool_context: [actor: "Ada"])
      assert {:ok, "Ada", _} = Agent.run(@call, %{"who" => tool}, tool_context: [actor: "Ada"])
    end
  end

  describe "from_module/2" do
    defp run(tools, name, args, opts) do
      program = Codec.encode!(%{"program" => %{"op" => "call", "tool" => name, "args" => args}})
      Json.run(program, [tools: Map.new(tools, &{&1.name, &1})] ++ opts)
    end

    test "parameters by key, by another key and by a function" do
      {:ok, tools, []} =
        Tool.from_module(Shop,
          only: [:orders, :pay, :whoami],
          context: [:actor, scope: &%{user: &1.actor}]
        )

      shown = for tool <- tools, do: PtcRunner.SubAgent.Signature.render(tool.signature)

      assert shown == [
               "(status :keyword, limit :int?) -> [:map]",
               "(to :string) -> :string",
               "-> :any"
             ]

      opts = [tool_context: [actor: "Ada"]]

      assert {:ok, [%{"by" => "Ada", "status" => :open, "limit" => 10}], _, _} =
               run(tools, "orders", %{"status" => "open"}, opts)

      assert {:ok, [%{"limit" => 2}], _, _} =
               run(tools, "orders", %{"status" => "open", "limit" => 2, "scope" => %{}}, opts)

      assert {:ok, "Ada pays Bob", _, _} =
               run(tools, "pay", %{"to" => "Bob", "actor" => "Eve"}, opts)

      assert {:ok, "Ada", _, _} = run(tools, "whoami", %{"actor" => "Eve"}, opts)

      {:ok, [tool], []} = Tool.from_module(Shop, only: [:whoami], context: [actor: "user"])
      assert {:ok, 1, _, _} = run([tool], "whoami", %{}, tool_context: %{"user" => 1})
    end

    test "a key that the context does not have, and a parameter that no function has" do
      {:ok, tools, []} = Tool.from_module(Shop, only: [:pay], context: [:actor])
      message = ~s(tool "pay" needs :actor in the option :tool_context, which has :tenant)

      assert_raise ArgumentError, message, fn ->
        run(tools, "pay", %{"to" => "x"}, tool_context: [tenant: 1])
      end

      message = ~s(tool "pay" needs :actor in the option :tool_context, which has no entry)
      assert_raise ArgumentError, message, fn -> run(tools, "pay", %{"to" => "x"}, []) end

      assert_raise ArgumentError, message, fn ->
        Agent.run(~s({"program": {"op": "count"}}), tools)
      end

      assert {:error, ~s(no function has a parameter "actr", which the option context: names)} =
               Tool.from_module(Shop, only: [:pay], context: [:actr])

      assert {:error, "the option context: is a list of names" <> _} =
               Tool.from_module(Shop, only: [:pay], context: ["actor"])
    end
  end
end
