defmodule PtcRunner.Test.FirstCalls do
  @moduledoc """
  The first calls in a VM: each way into the library is called once, in a process of its own.
  `test/ptc_runner/native/first_calls_test.exs` starts VMs that have loaded nothing but what starts the application.
  """

  alias PtcRunner.{Agent, Json, Native, Schema}
  alias PtcRunner.Agent.{Paused, Tool}
  alias PtcRunner.Json.{Codec, Explain}
  alias PtcRunner.SubAgent.{AnswerStream, JsonParser, KeyNormalizer, Signature, Template}
  alias PtcRunner.SubAgent.{Loop.JsonHandler, TypeExtractor}
  alias PtcRunner.SubAgent.Signature.Coercion
  alias PtcRunner.Test.{Answers, HostileCalls}

  @rows for n <- 1..2_000, do: %{"id" => n, "day" => ~D[2024-02-29], "name" => "n#{n}"}
  @call %{"op" => "call", "tool" => "t", "args" => %{"n" => 1}}
  @load %{"op" => "load", "name" => "rows"}
  @each %{"program" => %{"op" => "pipe", "steps" => [@load, %{"op" => "map", "expr" => @call}]}}

  @doc """
  Starts the application and calls everything; prints a line for each kind of call that loads modules, and the number of kinds.
  """
  @spec loaded() :: :ok
  def loaded do
    {:ok, _apps} = Application.ensure_all_started(:ptc_runner_native)
    started = :erlang.loaded()
    kinds = kinds()

    Enum.reduce(kinds, started, fn {kind, call}, before ->
      {pid, monitor} = spawn_monitor(fn -> attempt(call) end)

      receive do
        {:DOWN, ^monitor, :process, ^pid, _reason} -> :ok
      end

      after_call = :erlang.loaded()
      more = after_call -- before
      if more != [], do: IO.puts("#{kind} loads #{inspect(Enum.sort(more), limit: :infinity)}")
      after_call
    end)

    IO.puts("#{length(kinds)} kinds of calls")
  end

  @doc """
  Starts the application, and a caller with a limit on its heap whose first run calls a tool for each row; prints how it ended.
  """
  @spec capped(pos_integer(), String.t()) :: :ok
  def capped(words, kind) do
    {:ok, _apps} = Application.ensure_all_started(:ptc_runner_native)
    {_kind, run} = List.keyfind(capped(), kind, 0)
    limit = %{size: words, kill: true, error_logger: false}
    {_pid, monitor} = :erlang.spawn_opt(run, [:monitor, {:max_heap_size, limit}])

    receive do
      {:DOWN, ^monitor, :process, _pid, reason}
      when reason in [:killed, :normal, {:normal, []}] ->
        IO.puts("ended")

      {:DOWN, ^monitor, :process, _pid, reason} ->
        IO.puts("failed: #{inspect(reason)}")
    end
  end

  @doc "The runs of callers with a limit, by name."
  @spec capped() :: [{String.t(), (() -> term())}]
  def capped do
    opts = [context: %{"rows" => @rows}, tools: %{"t" => fn %{"n" => n} -> n end}]

    [
      {"run", fn -> Json.run(@each, opts) end},
      {"text", fn -> Json.run(Codec.encode!(@each), opts) end},
      {"overlap", fn -> Json.run(@each, [tool_concurrency: 4] ++ opts) end},
      {"control", fn -> Json.run(@each, [on_call: fn _ -> :run end] ++ opts) end},
      {"agent", fn -> Agent.run(@each, opts[:tools], context: opts[:context]) end},
      # The spec of the function is read from its module's file.
      {"spec",
       fn ->
         rows = %{"op" => "map", "expr" => %{@call | "args" => %{"term" => @load}}}
         program = %{"program" => %{"op" => "pipe", "steps" => [@load, rows]}}
         Agent.run(program, %{"t" => &KeyNormalizer.normalize_keys/1}, context: opts[:context])
       end},
      # There is no module of decimals, for which the code server is asked each time.
      {"decimals", fn -> Coercion.coerce(Enum.map(@rows, & &1["id"]), {:list, :decimal}) end}
    ]
  end

  # What a call raises or exits with is shown, as an application does.
  defp attempt(call) do
    inspect(call.(), limit: :infinity, printable_limit: :infinity)
  catch
    kind, reason -> Exception.format(kind, reason, __STACKTRACE__)
  end

  defp kinds do
    public =
      for {module, name, args} <- HostileCalls.public(HostileCalls.handles()),
          do: {"#{inspect(module)}.#{name}", fn -> apply(module, name, args) end}

    runs() ++ errors() ++ controlled() ++ texts() ++ agents() ++ signatures() ++ public
  end

  defp pipe(steps), do: %{"program" => %{"op" => "pipe", "steps" => steps}}
  defp opts, do: [context: %{"rows" => @rows}, tools: %{"t" => & &1["n"]}, timeout: 60_000]

  defp runs do
    sum = pipe([@load, %{"op" => "sum", "field" => "id"}])

    [
      {"run", fn -> Json.run(@each, opts()) end},
      {"run of a text", fn -> Json.run(Codec.encode!(sum), opts()) end},
      {"run!", fn -> Json.run!(sum, opts()) end},
      {"compiled run",
       fn ->
         {:ok, program} = Json.compile(@each)
         Json.run(program, opts())
       end},
      {"values",
       fn -> Json.run(sum, [structs: :values, keys: :any, edition: 2, strict: true] ++ opts()) end},
      {"explain", fn -> @each |> Json.explain(opts()) |> Explain.to_json() end},
      {"explanation as text", fn -> @each |> Json.explain(opts()) |> to_string() end},
      {"check",
       fn -> Json.check(sum, context: %{"rows" => {:sample, @rows}}, returns: ":int") end},
      {"check of names",
       fn -> Json.check(pipe([%{"op" => "lod"}]), context: %{"rows" => "[:any]"}) end},
      {"plan", fn -> @each |> Json.plan(tools: opts()[:tools]) |> inspect() end},
      {"context", fn -> PtcRunner.Context.new(%{}, %{}, %{}) end},
      {"sandbox",
       fn -> PtcRunner.Sandbox.execute(@each["program"], PtcRunner.Context.new(), []) end},
      {"schema", fn -> Schema.to_prompt() end},
      {"JSON schema", fn -> Schema.to_json_schema() end},
      {"info", fn -> Native.info() end}
    ]
  end

  defp errors do
    failing = [
      raise: fn _ -> raise "no" end,
      exit: fn _ -> exit(:no) end,
      throw: fn _ -> throw(%{a: MapSet.new([1])}) end,
      error: fn _ -> {:error, {:gone, ~D[2024-02-29]}} end,
      clause: fn %{"x" => 1} -> 1 end,
      hang: fn _ -> Process.sleep(:infinity) end,
      large: fn _ -> Enum.to_list(1..1_000_000) end,
      killed: fn _ -> Process.exit(self(), :kill) end
    ]

    for({name, tool} <- failing, concurrency <- [1, 2]) do
      opts = [
        tools: %{"t" => tool},
        tool_concurrency: concurrency,
        timeout: 50,
        max_heap: 100_000
      ]

      {"a tool that fails: #{name}, #{concurrency}", fn -> Json.run(@each, opts ++ opts()) end}
    end ++
      for program <- [
            "{",
            "Here:\n```json\n{}\n```",
            %{},
            pipe([%{"op" => "lod"}]),
            pipe([%{"op" => "load", "nam" => "rows"}]),
            pipe([%{"op" => "load", "name" => "row"}]),
            pipe([%{"op" => "call", "tool" => "x"}]),
            pipe([@load, %{"op" => "sum"}]),
            pipe([@load, %{"op" => "sum", "field" => "name"}]),
            pipe([%{"op" => "literal", "value" => "x"}, %{"op" => "keys"}])
          ],
          strict <- [false, true] do
        {"an error",
         fn -> Json.format_error(elem(Json.run(program, [strict: strict] ++ opts()), 1)) end}
      end ++
      [
        {"timeout", fn -> Json.run(@each, [timeout: 0] ++ opts()) end},
        {"memory", fn -> Json.run(@each, [max_heap: 300] ++ opts()) end},
        {"a wrong option", fn -> Json.run(@each, contxt: %{}) end},
        {"a wrong limit", fn -> Json.run(@each, timeout: -1) end},
        {"a wrong program", fn -> Json.run({:a, self()}) end}
      ]
  end

  defp controlled do
    paid = [
      tools: %{"t" => {& &1["n"], approve: true, cache: true, timeout: 1_000, max_calls: 3}}
    ]

    one = pipe([@call])

    [
      {"on_call",
       fn -> Json.run(@each, [on_call: fn _ -> :run end, on_journal: & &1] ++ opts()) end},
      {"a budget", fn -> Json.run(@each, [max_tool_calls: 3] ++ opts()) end},
      {"a firewall", fn -> Json.run(@each, [firewall: true] ++ opts()) end},
      {"pause and resume",
       fn ->
         {:paused, paused} = Json.run(one, paid)

         {:ok, stored} =
           paused
           |> Json.Paused.to_map()
           |> Codec.encode!()
           |> Codec.decode!()
           |> Json.Paused.from_map()

         Json.resume(stored, :approve, paid)
       end},
      {"deny",
       fn ->
         {:paused, paused} = Json.run(one, paid)
         Json.resume(paused, {:deny, "no"}, paid)
       end},
      {"record and replay",
       fn ->
         {_result, journal} = Json.record(@each, opts())

         {Json.replay(@each, journal, Keyword.take(opts(), [:context])),
          Json.replay(one, journal)}
       end}
    ]
  end

  defp texts do
    text = Json.text(Codec.encode!(for n <- 1..5_000, do: %{"id" => n, "n" => 1.5}))

    [
      {"a text", fn -> Json.run(@each, [context: %{"rows" => text}] ++ opts()) end},
      {"a text of a tool",
       fn -> Json.run(pipe([@call, %{"op" => "count"}]), tools: %{"t" => fn _ -> text end}) end},
      {"a text that is no JSON",
       fn -> Json.run(@each, [context: %{"rows" => Json.text("[1,")}] ++ opts()) end},
      {"codec", fn -> {Codec.decode("[1,"), Codec.encode({1}), Codec.decode!("[1e400]")} end}
    ]
  end

  defp agents do
    program = Codec.encode!(pipe([@call]))
    reply = "Here it is:\n```json\n#{program}\n```"
    tools = %{"t" => {& &1["n"], "(n :int) -> :int"}}
    task = [task: "x", tools: tools, context: %{"rows" => @rows}, returns: "{n :int}"]

    [
      {"prompt", fn -> Agent.prompt(task) end},
      {"agent's run",
       fn -> Agent.run(program, tools, context: %{rows: @rows}, returns: ":int") end},
      {"loop", fn -> Agent.loop(fn _ -> reply end, task, max_turns: 2) end},
      {"loop of values",
       fn -> Agent.loop(fn _ -> ~s({"n": "1"}) end, [answer: :value] ++ task) end},
      {"loop that waits",
       fn ->
         tools = %{"t" => {& &1["n"], approve: true}}
         opts = [tools: tools, returns: ":int"]
         {:paused, paused} = Agent.loop(fn _ -> reply end, [task: "x"] ++ opts)

         {:ok, stored} =
           paused |> Paused.to_map() |> Codec.encode!() |> Codec.decode!() |> Paused.from_map()

         {:ok, step} = Agent.resume(stored, :approve, [model: fn _ -> reply end] ++ opts)
         Agent.audit(step)
       end},
      {"answer",
       fn -> Agent.answer(~s({n: '1', "at": "2024-02-29", "x": 2}), n: :int, at: :date) end},
      {"program", fn -> Agent.program("Sure: {'program': {'op': 'load'", repair: true) end},
      {"tools of a module", fn -> Tool.from_module(KeyNormalizer) end},
      {"tools of others",
       fn ->
         schema = %{"type" => "object", "properties" => %{"n" => %{"type" => "integer"}}}
         mcp = [%{"name" => "t", "description" => "x", "inputSchema" => schema}]

         openai = [
           %{"type" => "function", "function" => %{"name" => "t", "parameters" => schema}}
         ]

         paths = %{"/pets/{id}" => %{"get" => %{"operationId" => "pet"}}}
         document = %{"openapi" => "3.1.0", "paths" => paths}

         {Tool.from_mcp(mcp, fn _, _ -> {:ok, 1} end), Tool.from_openai(openai, fn _, _ -> 1 end),
          Tool.from_openapi(document, & &1)}
       end}
    ]
  end

  defp signatures do
    text = "(n :int) -> {at :datetime, rows [{id :int, k :keyword?}]}"

    [
      {"signature", fn -> Signature.parse(text) end},
      {"a signature that is wrong", fn -> Signature.parse("{a :itn") end},
      {"coercion",
       fn ->
         for v <- ["1", "2024-02-29", 1, nil],
             t <- [:int, :date, :datetime, :keyword, :decimal],
             do: Coercion.coerce(v, t)
       end},
      {"tool call",
       fn ->
         for mode <- [:enabled, :strict, :warn_only],
             do: Signature.call_tool(text, %{"n" => "1"}, & &1, mode: mode)
       end},
      {"answers",
       fn ->
         {:ok, signature} = Signature.parse("{at :datetime, n :int}")
         agent = Answers.agent(signature)

         for text <- [~s({"at": "2024-02-29T00:00:00Z", "n": 1}), ~s({"n": "x"}), "no", "{n: 1"],
             opts <- [[], [feedback: :detailed], [repair: true]],
             do: JsonHandler.handle_json_answer(text, agent, Answers.state(), opts)
       end},
      {"stream",
       fn ->
         stream = AnswerStream.new(n: :int, at: {:optional, :date})
         {:cont, stream} = AnswerStream.feed(stream, ~s(Sure: {"n": 1, ))
         {AnswerStream.partial(stream), AnswerStream.finish(stream)}
       end},
      {"repair", fn -> JsonParser.repair("{a: [1,, 'x']", "{a [:string]}") end},
      {"types of a function", fn -> TypeExtractor.extract(&KeyNormalizer.normalize_keys/1) end},
      {"template", fn -> Template.expand("{{a.b}} {{c}}", %{"a" => %{"b" => 1}}) end},
      {"a JSON schema",
       fn ->
         schema = %{
           "type" => "object",
           "properties" => %{"a" => %{"type" => "string", "pattern" => "^x", "format" => "date"}}
         }

         Signature.from_json_schema(schema, annotations: true)
       end}
    ]
  end
end
