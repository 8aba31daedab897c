defmodule PtcRunner.OptionsTest do
  # Every public function that takes options, with names and values that it does not take.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Json.Codec
  alias PtcRunner.SubAgent.{AnswerStream, JsonParser, Signature, Template}
  alias PtcRunner.SubAgent.Loop.{JsonHandler, Metrics}
  alias PtcRunner.SubAgent.Signature.{Coercion, Renderer}

  doctest PtcRunner.Options

  @program ~s({"program": {"op": "literal", "value": 1}})
  @agent %{parsed_signature: nil, max_turns: 1, field_descriptions: nil}
  @state %{turn: 1, turns: [], messages: [], turn_tokens: nil, start_time: 0, trace_mode: false}

  # The function with options, and options of its own that are right.
  defp functions do
    {:ok, compiled} = Json.compile(@program)

    tools = %{"x" => {& &1, approve: true}}
    call = ~s({"program": {"op": "call", "tool": "x"}})
    {:paused, paused} = Json.run(call, tools: tools)
    {:paused, waiting} = Agent.run(call, tools)
    keys = [:crypto.strong_rand_bytes(32)]
    of_who = [bind: "ada"]
    for_a_time = [bind: "ada", ttl: 1_000]
    sealed = Json.Paused.seal(paused, keys, for_a_time)

    [
      {&Json.run(@program, &1), [timeout: 1_000, max_heap: nil, memory: %{}]},
      {&Json.run(compiled, &1), [timeout: :infinity]},
      {&Json.run!(@program, &1), [max_depth: 5]},
      {&Json.compile(@program, &1), [max_heap: 0]},
      {&Json.compile(compiled, &1), [max_heap: 0]},
      {&Json.check(@program, &1), [returns: ":any", edition: 2]},
      {&Json.explain(@program, &1), [timeout: 1_000, tool_concurrency: 2]},
      {&Json.plan(@program, &1), [max_tool_calls: 3, context: nil]},
      {&Json.Plan.approve(elem(Json.plan(@program), 1), &1), [tools: [], at_most: %{}]},
      {&Json.record(@program, &1), [max_tool_calls: 3, on_call: fn _ -> :run end]},
      {&Json.replay(@program, elem(Json.record(@program), 1), &1), [timeout: 50]},
      {&Json.resume(paused, :approve, &1), [pause_ttl: 5, on_journal: nil]},
      {&Json.Paused.seal(paused, keys, &1), for_a_time},
      {&Json.Paused.open(sealed, keys, &1), of_who},
      {&Agent.Paused.seal(waiting, keys, &1), for_a_time},
      {&Agent.Paused.open("", keys, &1), of_who},
      {&Agent.prompt/1, [samples: false, max_turns: 3]},
      {&Agent.answer("{}", nil, &1), [timeout: nil, coerce: false]},
      {&Agent.program(@program, &1), [max_heap: nil, keys: :any, repair: false]},
      {&Agent.run(@program, %{}, &1), [tool_concurrency: 1_024]},
      {&Agent.loop(fn _ -> @program end, &1), [task: "x"]},
      {&Agent.loop(fn _ -> @program end, [], &1), [timeout: nil, max_heap: nil, strict: true]},
      {&Agent.resume(waiting, {:answer, 1}, &1), [tools: tools, timeout: 500]},
      {&Agent.replay(@program, elem(Json.record(@program), 1), &1), [tools: tools, timeout: 500]},
      {&Signature.to_json_schema("() -> [:int]", &1), [strict: true]},
      {&Signature.input_json_schema("(n :int) -> :int", &1),
       [descriptions: %{"n" => "how many"}]},
      {&Signature.type_to_json_schema(:int, &1), [enums: %{"" => [1, 2]}, for: :gemini]},
      {&Signature.unenforced("() -> [:int]", &1), [for: :anthropic]},
      {&Signature.from_json_schema(%{}, &1), [annotations: true]},
      {&Signature.from_schema(%{}, &1), [formats: false]},
      {&Signature.from_ecto(String, &1), [only: [:id], redacted: true]},
      {&Codec.encode(1, &1), [as: :iodata, max_bytes: 3]},
      {&Codec.encode!(1, &1), [timeout: 5]},
      {&Codec.decode("1", &1), [depth: :infinity]},
      {&Codec.decode!("1", &1), [depth: 0]},
      {&PtcRunner.Schema.to_prompt/1, [examples: 0, edition: 2, operations: [:text]]},
      {&PtcRunner.Schema.to_llm_schema/1, [edition: 2, operations: :all, optional: :null]},
      {&PtcRunner.Schema.to_json_schema/1, [edition: 2]},
      {&PtcRunner.Schema.operations/1, [edition: nil]},
      {&PtcRunner.Schema.valid_operation_names/1, [edition: 1]},
      {&PtcRunner.Schema.get_operation("load", &1), [edition: 2]},
      {&PtcRunner.Sandbox.execute(%{}, PtcRunner.Context.new(), &1), [timeout: 0]},
      {&AnswerStream.new(nil, &1), [halt: :certain, prose: false, max_bytes: :infinity]},
      {&AnswerStream.finish(AnswerStream.new(nil), &1), [timeout: 1]},
      {&JsonParser.parse("[]", &1), [max_heap: 1_000]},
      {&JsonParser.repair("[]", nil, &1), [timeout: 1_000]},
      {&JsonHandler.handle_json_answer("", @agent, @state, &1), nil},
      {&JsonHandler.handle_parse_error("", "", @agent, @state, &1), nil},
      {&JsonHandler.handle_validation_error([], "", @agent, @state, &1), nil},
      {&JsonHandler.validate_and_complete(%{}, "", @agent, @state, &1), nil},
      {&JsonHandler.validate_and_complete_list([], "", @agent, @state, &1), nil},
      {&Metrics.build_turn(%{turn: 1}, "", nil, 1, &1), [type: :normal]},
      {&PtcRunner.Agent.Tool.from_openapi(%{}, fn _request -> nil end, &1),
       [only: ["x"], tags: [], results: :warn]},
      {&PtcRunner.Agent.Tool.from_module(String, &1), [only: [:jaro_distance]]},
      {&Signature.format_errors([], 1, &1), [header: "x"]},
      {&Signature.call_tool("() -> :int", %{}, fn _ -> 1 end, &1), [mode: :strict]},
      {&ALLM.Serializer.from_json("1", &1), [as: ALLM.Tool]},
      {&ALLM.Error.ValidationError.new(:a, [], &1), [message: "m"]}
    ]
  end

  test "unknown options raise in every function, and name what there is" do
    for {function, opts} <- functions() do
      if opts, do: function.(opts)

      error = assert_raise ArgumentError, fn -> function.(nonsense_here: 7) end
      assert error.message =~ "has no option :nonsense_here (its value was 7). Options: :"
    end
  end

  # Those of ALLM are the documents': `merge_opts` and `resolve_*` never raise, `new` raises `KeyError`.
  @others [{ALLM.Engine, :merge_opts}, {ALLM.Engine, :resolve_model}] ++
            [{ALLM.Engine, :resolve_params}, {ALLM.Engine, :resolve_tools}] ++
            [{ALLM.Engine, :new}, {ALLM.Tool, :new}]

  # Golden cases pass these unknown options; see below. Programs of PTC-Lisp run with the options of the original.
  @lenient [{Coercion, :coerce}, {Renderer, :render_type}, {Template, :expand}] ++
             [{PtcRunner.Step, :error}] ++
             for(
               name <- ~w(run compile check plan explain record replay resume)a,
               do: {PtcRunner.Lisp, name}
             )

  test "no function with options is missing here" do
    {:ok, modules} = :application.get_key(:ptc_runner_native, :modules)

    public =
      for module <- modules,
          not String.starts_with?(inspect(module), "PtcRunner.Test."),
          {:docs_v1, _, _, _, %{"en" => _}, _, docs} <- [Code.fetch_docs(module)],
          {{:function, name, _arity}, _, [head], doc, _} when doc != :hidden <- docs,
          # `run!` is named as `run`
          head =~ ~r/[(,] *opts/ and not String.ends_with?("#{name}", "!"),
          do: {module, name}

    named =
      for {function, _opts} <- functions(),
          {:function, module, name, _arity} <- [raising(function)],
          do: {module, name}

    assert public -- (named ++ @others ++ @lenient) == []
    assert length(public) > 30
  end

  # The function whose options are refused, as the error names it.
  defp raising(function) do
    error = assert_raise ArgumentError, fn -> function.(nonsense_here: 7) end

    [_, module, name, arity] =
      Regex.run(~r/^([\w.]+)\.(\w+[!?]?)\/(\d) has no option/, error.message)

    {:function, Module.concat([module]), String.to_atom(name), arity}
  end

  test "what is no keyword list raises in every function" do
    for {function, _opts} <- functions(), opts <- [%{}, nil, :timeout, [:timeout], [1 | 2]] do
      error = assert_raise ArgumentError, fn -> function.(opts) end
      assert error.message =~ "must be a keyword list, got: #{inspect(opts)}"
    end
  end

  test "a name that is close to one that there is" do
    for {opts, meant} <- [
          {[timout: 5], "Did you mean :timeout?"},
          {[context: %{}, max_dept: 5], "Did you mean :max_depth?"},
          {[{"context", %{}}], "Did you mean :context?"}
        ] do
      error = assert_raise ArgumentError, fn -> Json.run(@program, opts) end
      assert error.message =~ meant
    end

    assert_raise ArgumentError, ~r/no option :hlat .* Did you mean :halt\?/, fn ->
      AnswerStream.new("[:int]", hlat: :early)
    end
  end

  test "values that an option does not take" do
    wrong = [
      {fn -> Json.run(@program, timeout: "1") end, ~s(:timeout of PtcRunner.Json.run/2), ~s("1")},
      {fn -> Json.compile(@program, max_heap: 5) end, ":max_heap of", "5"},
      {fn -> AnswerStream.new(nil, halt: :never) end, "must be :early or :certain", ":never"},
      {fn -> AnswerStream.new(nil, prose: nil) end, "must be true or false", "nil"},
      {fn -> AnswerStream.new(nil, max_bytes: 0) end, "a positive integer or :infinity", "0"},
      {fn -> Codec.encode(1, as: :list) end, "must be :binary or :iodata", ":list"},
      {fn -> Codec.encode(1, max_bytes: :infinity) end, "a positive integer", ":infinity"},
      {fn -> Codec.decode("1", depth: -1) end, "a non-negative integer or :infinity", "-1"},
      {fn -> JsonParser.parse("1", timeout: 1.5) end, ":timeout of", "1.5"},
      {fn -> PtcRunner.Schema.to_prompt(examples: "3") end, "non-negative integer", ~s("3")},
      {fn -> Coercion.coerce(1, :int, mode: :loose) end, ":disabled", ":loose"},
      {fn -> Signature.call_tool("() -> :int", %{}, & &1, mode: nil) end, ":disabled", "nil"},
      {fn -> JsonHandler.handle_json_answer("", @agent, @state, repair: 1) end, ":repair", "1"},
      {fn -> Json.explain(@program, timeout: "1") end, ":timeout of PtcRunner.Json.explain/2",
       ~s("1")},
      {fn -> Agent.run(@program, %{}, tool_concurrency: 1_025) end, "PtcRunner.Agent.run/3",
       "1025"},
      {fn -> Agent.run(@program, [1 | 2]) end, "tools must be a map", "[1 | 2]"},
      {fn -> Agent.run(@program, %{}, context: [a: 1]) end, ":context of", "[a: 1]"},
      {fn -> Agent.run(@program, %{}, memory: []) end, ":memory of", "[]"},
      {fn -> Agent.prompt(task: 5) end, ":task of", "5"},
      {fn -> Agent.answer("{}", "{a :int}", enums: %{"a" => [1 | 2]}) end, ":enums must be",
       ~s(%{"a" => [1 | 2]})},
      {fn -> Agent.loop(& &1, [], language: :xml) end, ":json, :lisp, :prompt, :schema or :none",
       ":xml"},
      {fn -> Signature.input_json_schema(":int", strict: 1) end, "input_json_schema/2", "1"}
    ]

    for {function, part, got} <- wrong do
      error = assert_raise ArgumentError, function
      assert error.message =~ part
      assert String.ends_with?(error.message, "got: " <> got)
    end
  end

  test "where golden cases pass unknown options, only those close to a known one are refused" do
    assert Coercion.coerce(1, :int, unknown: 1) == {:ok, 1, []}
    assert Renderer.render_type(:int, other: 1) == ":int"
    assert Template.expand("", %{}, unknown: 1) == {:ok, ""}
    assert %PtcRunner.Step{} = PtcRunner.Step.error(:a, "b", %{}, %{}, other: 2)
    assert_raise ArgumentError, fn -> Template.expand("", %{}, on_mising: :keep) end
    assert_raise ArgumentError, fn -> PtcRunner.Step.error(:a, "b", %{}, %{}, jornal: 1) end
    assert_raise ArgumentError, ~r/:mode/, fn -> Coercion.coerce(1, :int, moed: :strict) end
    assert_raise ArgumentError, fn -> Renderer.render_type(:int, key_stile: :lisp_prompt) end
  end

  test "a huge value or name does not make a huge message" do
    for opts <- [[{:timeout, Enum.to_list(1..100_000)}], [{String.duplicate("x", 100_000), 1}]] do
      error = assert_raise ArgumentError, fn -> Json.run(@program, opts) end
      assert byte_size(error.message) < 1_000
    end
  end
end
