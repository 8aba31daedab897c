defmodule PtcRunner.Test.HostileCalls do
  @moduledoc """
  Arguments for calls of any function: valid ones, valid ones with a replaced part, those of other
  functions, and any terms; handles of every kind: in use, used and forged.
  """

  alias PtcRunner.{Json, Native}
  alias PtcRunner.SubAgent.{AnswerStream, Signature}

  @call ~s({"program":{"op":"pipe","steps":[{"op":"load","name":"rows"},{"op":"call","tool":"t"},{"op":"count"}]}})
  @lisp "(def total (reduce + (map :n data/rows))) (fn [x] (map inc [total x]))"
  @given {%{"rows" => [%{"n" => 1}, %{"n" => 2}]}, %{"m" => 1}, 50, 10_000}
  @type_term {:map, [{"a", :int}, {"b", {:optional, {:list, :keyword}}}, {"_c", :datetime}]}

  @observed {:observed, 100, false, false, false, 1}
  @limits {50, 10_000}

  # Functions that are not NIFs, the clock that measures them all, and the rules of the VM, which all tests share.
  @not_called [:load, :info, :attach, :detach, :clock_switch, :clock_read, :use_rules]

  @doc "The NIFs that are called, as the library has them."
  @spec functions() :: [{atom(), arity()}]
  def functions,
    do:
      for({name, _arity} = call <- Native.__info__(:functions), name not in @not_called, do: call)

  @doc """
  New handles and their data: a compiled program, runs that are suspended at a tool call, at the end of a
  slice and at a loop, a program with explanation, a stream.

      iex> handles = PtcRunner.Test.HostileCalls.handles()
      iex> Enum.sort(Map.keys(handles))
      [:call, :fork, :limits, :more, :observed, :program, :stream]
  """
  @spec handles() :: %{atom() => list()}
  def handles do
    call = @call

    {:moves, state, terms, _tool, _args, _left, _weight} = Native.start(call, 100, @given, nil)
    each = %{"op" => "map", "expr" => %{"op" => "call", "tool" => "t"}}
    loop = %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => "rows"}, each]}
    {:ok, forking, forking_consts} = Native.compile_node(loop, 100, {1_000, 0})

    {:fork, at_loop, loop_terms, _loop, _rows, _left, _tools} =
      Native.start(forking, forking_consts, @given, {true, false})

    {:ok, program, consts} = Native.compile_text(call, 100, {1_000, 0})
    {:ok, watched, watched_consts} = Native.compile_text(call, @observed, {1_000, 0})
    {:ok, stream} = Native.stream_new(@type_term, false, true, true)

    %{
      call: [state, terms],
      fork: [at_loop, loop_terms],
      program: [program, consts],
      observed: [Native.observation(watched), watched_consts, watched],
      stream: [stream],
      more: left(long_run()),
      limits: left(Native.start(call, 100, {%{"rows" => [1]}, %{}, nil, nil}, nil))
    }
  end

  defp left({_why, state, terms}) when is_reference(state), do: [state, terms]

  defp left(step) when is_tuple(step) and elem(step, 0) in [:call, :moves],
    do: [elem(step, 1), elem(step, 2)]

  defp left(_ended), do: [make_ref(), {}]

  # Long enough to be suspended.
  defp long_run do
    step = %{"op" => "sort_by", "field" => "n"}
    load = %{"op" => "load", "name" => "rows"}
    node = %{"op" => "pipe", "steps" => [load, step, step, %{"op" => "count"}]}
    rows = :persistent_term.get({__MODULE__, :rows}, nil) || keep_rows()
    Native.start({:checked, node}, 100, {%{"rows" => rows}, %{}, 5_000, 0}, nil)
  end

  defp keep_rows do
    rows = for n <- 1..20_000, do: %{"n" => rem(n * 7_919, 20_011)}
    :persistent_term.put({__MODULE__, :rows}, rows)
    rows
  end

  @doc "Valid arguments for the NIFs, by name and arity; `functions/0` has no others."
  @spec nifs(%{atom() => list()}) :: %{{atom(), arity()} => list()}
  def nifs(handles) do
    %{call: [state, terms], program: [program, consts], stream: [stream]} = handles
    %{observed: [observation, observed_consts, observed]} = handles
    text = ~s({"program":{"op":"add","left":1,"right":2.5}})
    node = %{"op" => "filter", "where" => %{"op" => "eq", "field" => "n", "value" => 1}}
    answer = ~s(Sure: {"a": 1, "b": ["x"]})
    value = %{"a" => "7", "b" => ["k"], :_c => ~U[2024-01-01 00:00:00Z]}
    errors = [%{path: ["a", 1], message: "expected int, got string"}]

    paired(%{
      {:operations, 1} => [2],
      {:built_ins, 0} => [],
      {:map_view, 0} => [],
      {:exiting, 0} => [],
      {:take_orphans, 0} => [],
      {:take_panics, 0} => [],
      {:panic_for_test, 1} => ["a message"],
      {:bare_objects, 1} => [[%{"id" => 1, "name" => "a", "amount" => 2}]],
      {:aligned, 1} => [text],
      {:weigh, 3} => [[value, text, & &1], 0, 1_000],
      {:normalize, 2} => [value, :cache_key],
      {:json_decode, 3} => [text, 10, @limits],
      {:json_decode_exact, 2} => [text, @limits],
      {:json_measure, 3} => [text, 10, @limits],
      {:json_encode, 3} => [%{a: [1.5, nil, "x"]}, 1_000, @limits],
      {:merge_tools, 2} => [[%{name: "a"}, %{name: "b"}], [%{name: "a"}]],
      {:compile_text, 3} => [text, 10, @limits],
      {:compile_node, 3} => [node, {10, true, true, true, 2}, @limits],
      {:check_program, 7} => [
        text,
        10,
        %{"rows" => {:list, {:map, [{"n", :int}]}}},
        %{"t" => {:signature, [{"n", {:optional, :int}}], {:union, [:string, {:literal, nil}]}}},
        %{"m" => :any},
        {:list, :float},
        @limits
      ],
      {:check_compiled, 9} => [
        program,
        consts,
        @call,
        :findings,
        %{"rows" => {:list, {:map, [{"n", :int}]}}},
        %{"t" => {:signature, [], :any}},
        %{"m" => :any},
        :int,
        @limits
      ],
      {:lisp_compile, 3} => hd(compilations()),
      {:compile_again, 4} => [program, @call, :findings, @limits],
      {:count_programs, 1} => [false],
      {:programs_counted, 0} => [],
      {:locate, 3} => [program, @call, ["steps", 1, "tool"]],
      {:type_of, 2} => [value, 100],
      {:start, 4} => hd(starts(handles)),
      {:time_left, 1} => [state],
      {:guard, 1} => [self()],
      {:unguard, 1} => [self()],
      {:keep_answers, 2} => [0, 1_000_000_000],
      {:keep_answer, 3} => [Native.keep_answers(0, 1_000), value, 10],
      {:kept_time, 1} => [Native.keep_answers(0, 1_000)],
      {:kept_answers, 1} => [Native.keep_answers(0, 1_000)],
      {:observation, 1} => [observed],
      {:text_has_type, 2} => [text, @type_term],
      {:call_path, 4} => [program, consts, @call, 2],
      {:program_part, 3} => [program, @call, ["steps", 1, "tool"]],
      {:source_bytes, 1} => [program],
      {:keep_digest, 3} => [program, "text", "program"],
      {:kept_digest, 2} => [program, "text"],
      {:context_names, 2} => [program, consts],
      {:observed, 2} => [observation, observed_consts],
      {:resume, 3} => [state, terms, {:answer, value, 10}],
      {:answer_find, 2} => [answer, @limits],
      {:answer_parse, 2} => [answer, @limits],
      {:answer_read, 7} => [answer, @type_term, false, false, true, true, @limits],
      {:answer_is_part, 1} => [~s({"a": [1)],
      {:repair_value, 5} => [~s({a: 1, 'b': ["x",]), @type_term, 1, true, {1_000, 0}],
      {:repair_answer, 6} => [~s(Sure: {a: 1, "b": ["x"}), @type_term, false, 0, true, {1_000, 0}],
      {:signature_lisp_key, 1} => ["some_key"],
      {:signature_parse, 1} => ["(a :int) -> {b [:string?]}"],
      {:signature_render, 2} => [@type_term, true],
      {:signature_schema, 1} => [@type_term],
      {:signature_public, 1} => [@type_term],
      {:signature_validate, 3} => [@type_term, value, false],
      {:signature_coerce, 4} => [@type_term, value, nil, false],
      {:signature_spelled, 2} => [{:map, [{"a_b", :int}]}, %{"a-b" => 1}],
      {:signature_input, 4} => [[{"a", :int}], %{"a" => "1"}, nil, true],
      {:signature_data, 3} => [[{"a", :int}], %{"a" => "1"}, nil],
      {:signature_exact, 2} => [@type_term, value],
      {:error_line, 4} => [errors, 1_000_000, 1_048_576, 0],
      {:stream_new, 4} => [@type_term, false, true, true],
      {:stream_feed, 4} => [stream, 0, ~s({"a":), true],
      {:stream_again, 2} => [stream, ""],
      {:stream_partial, 2} => [stream, ""],
      {:name_twin, 3} => [%{"a-b" => 1, a_b: 2}, "a-b", :string],
      {:name_twin_value, 3} => [%{"a-b" => 1, a_b: 2}, :"a-b", :atom],
      {:nearest, 2} => ["ab", ["ba", "abc", "\u{1F600}"]]
    })
  end

  @doc "Valid arguments that start a run, for each form of a program and each way to run one."
  @spec starts(%{atom() => list()}) :: [list()]
  def starts(handles) do
    %{program: [program, consts], observed: [observation, observed_consts, _watched]} = handles
    node = %{"op" => "filter", "where" => %{"op" => "eq", "field" => "n", "value" => 1}}

    [
      [program, consts, @given, nil],
      [program, consts, {%{}, %{}, nil, nil}, :unless_calls],
      [program, consts, @given, {true, false}],
      [program, consts, @given, {false, :together}],
      [program, consts, @given, {:texts, {7, ~s([{"n": 1}, 2])}}],
      [observation, observed_consts, @given, {true, true}],
      [~s({"program":{"op":"add","left":1,"right":2.5}}), 10, @given, nil],
      [
        ~s({"program":{"op":"add","left":1,"right":2.5}}),
        10,
        {%{}, %{}, nil, nil},
        :unless_calls
      ],
      [{:checked, node}, {10, true, true, true, 2}, @given, nil],
      [{:unchecked, node}, 10, @given, nil]
    ]
  end

  @doc "Valid arguments that compile a program of PTC-Lisp, for all that is compiled."
  @spec compilations() :: [list()]
  def compilations do
    program = {@lisp, [{"(fn [x] k)", ["k"]}], ["map"], true}

    [
      [program, {:program, MapSet.new(), 100}, @limits],
      [program, {:place, [9, 20]}, @limits]
    ]
  end

  # A function and its twin for dirty schedulers, if it has one, take the same arguments.
  defp paired(calls) do
    twins =
      for {{name, arity}, args} <- calls,
          twin = {:"#{name}_dirty", arity},
          twin in functions(),
          into: %{},
          do: {twin, args}

    Map.merge(calls, twins)
  end

  @doc "Valid arguments for public functions."
  @spec public(%{atom() => list()}) :: [{module(), atom(), list()}]
  def public(handles) do
    %{program: [program, consts]} = handles
    text = ~s({"program":{"op":"call","tool":"t","args":{"a":1}}})
    compiled = %Json.Program{source: text, handle: program, consts: consts, max_depth: 100}
    {:ok, signature} = Signature.Parser.parse("(a :int) -> {b [:string?]}")
    ruled = Signature.annotate!(signature, "b", min_items: 1, max_length: 9)
    stream = AnswerStream.new(signature)
    options = [timeout: 50, tools: %{"t" => & &1}, context: %{"a" => 1}]

    [
      {Json, :run, [text, options]},
      {Json, :run, [compiled, options]},
      {Json, :compile, [text, [max_depth: 9]]},
      {Json, :format_error, [{:parse_error, "Unexpected token at position 3"}]},
      {Json.Parser, :parse, [text]},
      {Json.Validator, :validate, [%{"op" => "literal", "value" => 1}]},
      {Json.Codec, :decode, [text, []]},
      {Json.Codec, :encode, [%{a: [1.5, nil, "x"]}, []]},
      {PtcRunner.SubAgent.JsonParser, :parse, ["Sure ```json\n{\"a\": 1}\n```"]},
      {PtcRunner.SubAgent.KeyNormalizer, :normalize_key, ["some-key"]},
      {PtcRunner.SubAgent.KeyNormalizer, :normalize_keys, [%{"a-b" => [%{"c-d" => 1}]}]},
      {PtcRunner.SubAgent.KeyNormalizer, :canonical_cache_key, ["t", %{"a-b" => 1}]},
      {AnswerStream, :new, ["{a :int}", [halt: :early]]},
      {AnswerStream, :feed, [stream, ~s({"b": ["x)]},
      {AnswerStream, :finish, [stream]},
      {AnswerStream, :partial, [stream]},
      {Signature.Parser, :parse, ["{a :int, b [:string?]}"]},
      {Signature, :validate, [signature, %{b: ["x"]}]},
      {Signature, :validate_input, [signature, %{"a" => 1}]},
      {Signature, :to_json_schema, [signature]},
      {Signature, :to_json_schema, [signature, [strict: true, enums: %{"b" => ["x"]}]]},
      {Signature, :input_json_schema, [signature, [descriptions: %{"a" => "x"}]]},
      {Signature, :to_json_schema, [ruled, [for: :openai_strict]]},
      {Signature, :type_to_json_schema, [elem(ruled, 2), [for: :gemini]]},
      {Signature, :unenforced, [ruled, [for: :anthropic]]},
      {Signature, :from_json_schema,
       [%{"type" => ["string", "null"], "enum" => ["a", nil]}, [annotations: true]]},
      {PtcRunner.Agent, :prompt, [[context: %{"a" => [%{"b" => 1}]}, tools: %{"t" => & &1}]]},
      {PtcRunner.Agent, :answer, [~s({"b": ["x"]}), signature, [enums: %{"b" => ["x"]}]]},
      {PtcRunner.Agent, :program, ["Sure: " <> text, [repair: true]]},
      {PtcRunner.Agent, :run, [text, %{"t" => {& &1, "(a :int) -> :any"}}, [timeout: 50]]},
      {PtcRunner.Agent, :loop, [&model(&1, text), [task: "x"], [max_turns: 2]]},
      {Signature, :from_json_schema, [%{"type" => "array", "items" => %{"type" => "string"}}]},
      {Signature, :public_view, [signature]},
      {Signature, :public_data, [%{_secret: 1, a: [%{"_b" => 2}]}]},
      {Signature, :call_tool, ["(a :int) -> :int", %{"a" => "1"}, & &1["a"]]},
      {Signature, :format_errors, [[%{path: ["a"], message: "x"}], %{"a" => 1}]},
      {Signature.Coercion, :coerce, ["7", {:list, :int}]},
      {Signature.Coercion, :coerce, ["7", :int, [mode: :input]]},
      {Signature.Validator, :validate_closed, [%{"a" => 1}, @type_term]},
      {Signature.Renderer, :render, [signature]},
      {Signature.Renderer, :render_type, [@type_term, [key_style: :lisp]]},
      {Signature.Renderer, :to_lisp_key, ["a_b"]},
      {Signature.TypeResolver, :resolve_path, [signature, ["a", "b"]]},
      {PtcRunner.SubAgent.Template, :expand, ["{{a}} {{b.c}}", %{"a" => 1, "b" => %{"c" => 2}}]},
      {PtcRunner.SubAgent.Template, :check_placeholders, ["{{a}}", signature]},
      {PtcRunner.Schema, :get_operation, ["take"]}
    ]
  end

  @doc """
  The arguments, unchanged or with some parts replaced by terms of `pool`.
  """
  @spec spoiled(list(), pool :: tuple()) :: list()
  def spoiled([], _pool), do: []

  def spoiled(args, pool) do
    case :rand.uniform(10) do
      1 -> args
      2 -> Enum.map(args, fn _arg -> any(pool) end)
      n -> Enum.reduce(1..div(n, 3), args, fn _time, args -> replaced(args, pool) end)
    end
  end

  # Descends to a random part and replaces it.
  defp replaced([_ | _] = list, pool) when length(list) < 50 do
    at = :rand.uniform(length(list)) - 1
    List.update_at(list, at, &replaced_below(&1, pool))
  rescue
    _improper -> any(pool)
  end

  defp replaced(tuple, pool) when is_tuple(tuple) and tuple_size(tuple) in 1..50 do
    case :rand.uniform(8) do
      1 -> Tuple.delete_at(tuple, 0)
      2 -> Tuple.insert_at(tuple, tuple_size(tuple), any(pool))
      _ -> tuple |> Tuple.to_list() |> replaced(pool) |> List.to_tuple()
    end
  end

  defp replaced(map, pool) when is_map(map) and not is_struct(map) and map_size(map) in 1..50 do
    {key, value} = Enum.random(map)

    if :rand.uniform(4) == 1,
      do: Map.put(map, any(pool), value),
      else: %{map | key => replaced_below(value, pool)}
  end

  defp replaced(text, pool) when is_binary(text) and text != "" do
    at = :rand.uniform(byte_size(text)) - 1
    {start, byte} = {binary_part(text, 0, at), :binary.at(text, at)}
    rest = binary_part(text, at + 1, byte_size(text) - at - 1)

    case :rand.uniform(5) do
      1 -> start
      2 -> rest
      3 -> <<start::binary, byte, byte, rest::binary>>
      4 -> <<start::binary, :rand.uniform(256) - 1, rest::binary>>
      5 -> any(pool)
    end
  end

  defp replaced(integer, _pool) when is_integer(integer) and integer < 1_000_000_000,
    do: Enum.random([-1, 0, integer + 1, integer * 1_000, 1.5, nil])

  defp replaced(_other, pool), do: any(pool)

  defp any(pool), do: elem(pool, :rand.uniform(tuple_size(pool)) - 1)

  # A model that gives up: with a replaced `max_turns` the conversation would be as long as that.
  defp model(messages, _text) when length(messages) > 20, do: {:error, "no more turns"}
  defp model(_messages, text), do: text

  defp replaced_below(part, pool) do
    if :rand.uniform(3) == 1, do: any(pool), else: replaced(part, pool)
  end

  @doc "Terms of every kind, among them the handles and parts of other calls."
  @spec pool(%{atom() => list()}) :: [term()]
  def pool(handles) do
    others = handles |> Map.values() |> Enum.concat()
    forged = for ref <- others, is_reference(ref), do: inspect(ref)
    small = for n <- [-1, 0, 1, 255, -129, 134_217_728, 18_446_744_073_709_551_616], do: n

    small ++
      others ++
      forged ++
      PtcRunner.Test.Strange.records() ++
      [
        make_ref(),
        self(),
        hd(Port.list()),
        fn -> :ok end,
        &Function.identity/1,
        nil,
        true,
        false,
        :ok,
        :infinity,
        :more,
        :ü,
        :日本,
        "",
        "a",
        "op",
        <<255>>,
        <<1::5>>,
        binary_part("0123456789", 3, 4),
        "e\u0301",
        1.5,
        -0.0,
        1.0e308,
        Bitwise.bsl(1, 5_000),
        [],
        [1 | 2],
        [[[]]],
        ~c"charlist",
        {},
        {1, 2},
        {:answer, 1, 0},
        {:answer, 1, -1},
        {:optional, :int},
        {:list, {:list, :nothing}},
        {:map, [{"a", :int}, {"a", :int}]},
        {:closed_map, [{:a, :any}]},
        %{},
        %{"op" => "count"},
        %{"op" => "sum", "field" => 1},
        %{:__struct__ => Nothing},
        %{__struct__: 1},
        %{nil => nil},
        %{1 => 2, 1.0 => 3},
        %{[1 | 2] => {}},
        ~D[2024-01-01],
        MapSet.new([1]),
        1..3,
        Enum.to_list(1..40),
        Map.new(1..40, &{&1, &1}),
        List.duplicate("x", 30),
        Enum.reduce(1..30, 1, fn _, deep -> %{"a" => [deep]} end),
        Enum.reduce(1..12, "s", fn _, part -> [part, part] end)
      ]
  end
end
