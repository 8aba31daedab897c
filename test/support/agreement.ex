defmodule PtcRunner.Test.Agreement do
  @moduledoc """
  Compares the library with the oracle: results, and the tool calls that led to them.
  """

  import ExUnit.Assertions

  alias PtcRunner.{Context, Json}
  alias PtcRunner.Json.Runner
  alias PtcRunner.Json.Codec

  alias PtcRunner.Test.{
    Disguise,
    Environment,
    Generator,
    JsonText,
    Oracle,
    Random,
    Shrink,
    Spelled
  }

  alias PtcRunner.Test.Oracle.{Eval, Fail}

  @typedoc "The result of a run, and its tool calls with their arguments, in order."
  @type answer :: {term(), [{String.t(), term()}]}

  @typedoc "The expected result of a case, and the results of the library by form of program."
  @type sides ::
          {(Generator.random_case() -> answer()),
           (Generator.random_case() -> [{form :: atom(), answer()}])}

  @type generator :: (seed :: integer(), n :: pos_integer() -> Generator.random_case())

  @doc """
  Lets both sides answer this many cases of a generator. The first case on which they differ is
  made smaller and shown. The environment can set the seed (PTC_SEED) and multiply the number (PTC_CASES).
  """
  @spec assert_agreement(generator(), pos_integer(), sides()) :: :ok
  def assert_agreement(generator, cases, sides) do
    seed = Environment.seed()

    for n <- 1..Environment.cases(cases) do
      random_case = generator.(seed, n)

      unless agree?(random_case, sides),
        do: fail(random_case, sides, "PTC_SEED=#{seed}, case #{n}")
    end

    :ok
  end

  defp fail(random_case, sides, which) do
    random_case
    |> Shrink.shrink(&(well_formed?(&1, random_case) and not agree?(&1, sides)))
    |> report(sides, which)
  end

  # While it is shrunk, a case may lose parts that a case must have.
  defp well_formed?(smaller, random_case) do
    match?(%{program: _, context: %{}, memory: %{}}, smaller) and
      edition(smaller) == edition(random_case)
  end

  @doc "The edition of a case."
  @spec edition(Generator.random_case()) :: 1 | 2
  def edition(random_case), do: Map.get(random_case, :edition, 1)

  # What `now` gives in every case.
  @now "2024-02-29T10:30:00Z"

  @doc "Whether every result of the case is the expected one."
  @spec agree?(Generator.random_case(), sides()) :: boolean()
  def agree?(random_case, {expected, answers}) do
    expected = expected.(random_case)
    Enum.all?(answers.(random_case), fn {_form, answer} -> same?(answer, expected) end)
  end

  # The text about a wrong pattern is that of the library for patterns.
  @no_pattern "Field 'pattern' is not a valid regular expression: "

  defp same?(one, other) do
    case {one, other} do
      {{{:error, {kind, @no_pattern <> _}}, calls}, {{:error, {kind, @no_pattern <> _}}, calls}} ->
        true

      _ ->
        identical?(one, other)
    end
  end

  # On older VMs `===` treats 0.0 and -0.0 as equal; the external format does not.
  defp identical?(one, other) do
    one === other and :erlang.term_to_binary(one) == :erlang.term_to_binary(other)
  end

  @doc "The sides for whole programs: the oracle, and the library with each form of the program."
  @spec validated() :: sides()
  def validated, do: {&expected/1, &answers/1}

  @doc "The sides for nodes that were not validated: the oracle, and what `PtcRunner.Json.Interpreter` calls."
  @spec unvalidated() :: sides()
  def unvalidated, do: {&expected_unchecked/1, &answers_unchecked/1}

  defp expected(%{program: program} = random_case) when is_map(program) do
    opts = [edition: edition(random_case), now: @now]
    traced(&Oracle.run(program, random_case.context, random_case.memory, &1, opts))
  end

  # The parser finds this, and the oracle has no parser.
  defp expected(_random_case), do: {{:error, {:parse_error, "program must be a map"}}, []}

  defp answers(%{program: program} = random_case) do
    map = %{"program" => program}

    forms =
      case JsonText.encode(map) do
        {:ok, text} -> [map: map, text: text, compiled: compile(text, random_case)]
        :error -> [map: map, compiled: compile(map, random_case)]
      end

    answers = for {form, program} <- forms, do: {form, traced(&run(program, random_case, &1))}
    answers ++ with_default_limits(map, random_case)
  end

  # Without limits a run begins with a probe, and is suspended after it. Cases with thousands of rows
  # may take longer than the default timeout on a busy machine.
  defp with_default_limits(program, %{context: context, memory: memory} = random_case) do
    opts = [context: context, memory: memory] ++ options(random_case)

    case Enum.any?(Map.values(context), &longer?(&1, 1_000)) do
      true -> []
      false -> [default: traced(&Json.run(program, [tools: &1] ++ opts))]
    end
  end

  defp longer?([_ | _], 0), do: true
  defp longer?([_ | rest], count), do: longer?(rest, count - 1)
  defp longer?(_end_or_other, _count), do: false

  defp compile(program, random_case), do: Json.compile(program, edition: edition(random_case))

  defp options(random_case), do: [edition: edition(random_case), now: @now]

  defp run({:error, _} = error, _random_case, _tools), do: error

  # A compiled program keeps its edition.
  defp run({:ok, %Json.Program{} = program}, random_case, tools),
    do: run(program, random_case, tools, now: @now)

  defp run(program, random_case, tools),
    do: run(program, random_case, tools, options(random_case))

  defp run(program, %{context: context, memory: memory}, tools, opts) do
    given = [
      context: context,
      memory: memory,
      tools: tools,
      timeout: 30_000,
      max_heap: 50_000_000
    ]

    Json.run(program, given ++ opts)
  end

  @doc """
  The sides for structs that are values: the oracle over plain data, and the library over the same data in a
  disguise. Of an error only the kind is compared, because its text shows the data.
  """
  @spec values() :: sides()
  def values, do: {&expected_plain/1, &answers_of_values/1}

  defp expected_plain(%{program: program}) when not is_map(program),
    do: {{:error, :parse_error}, []}

  defp expected_plain(%{context: context, memory: memory} = random_case) do
    program = random_case.program |> Disguise.undated() |> Disguise.plain_program()

    [context, memory] =
      Enum.map([context, memory], &(&1 |> Disguise.undated() |> Disguise.plain()))

    opts = [edition: edition(random_case), now: @now]

    fn tools -> Oracle.run(program, context, memory, Map.new(tools, &plain_tool/1), opts) end
    |> traced()
    |> plain_answer()
  end

  # An error of a tool is a tuple with an atom; every other answer is data.
  defp plain_tool({name, tool}) do
    {name,
     fn args ->
       case tool.(args) do
         {:error, _reason} = error -> error
         answer -> answer |> Disguise.undated() |> Disguise.plain()
       end
     end}
  end

  defp answers_of_values(%{context: context, memory: memory} = random_case) do
    program = Disguise.undated(random_case.program)
    # Merging would keep a name beside its atom.
    keys? = not (inspect(program, limit: :infinity) =~ ~s("merge"))
    state = :rand.seed_s(:exsss, :erlang.phash2({context, memory}))
    {context, state} = disguised(context, keys?, state)
    {memory, _state} = disguised(memory, keys?, state)
    values = [structs: :values, keys: :any, context: context, memory: memory]
    map = %{"program" => program}
    limits = [timeout: 30_000, max_heap: 50_000_000]

    for {form, program, opts} <- [
          {:map, {:ok, map}, options(random_case)},
          {:compiled, compile(map, random_case), [now: @now]}
        ] do
      run = fn tools ->
        with {:ok, program} <- program,
             do: Json.run(program, [tools: tools] ++ limits ++ values ++ opts)
      end

      {form, run |> traced() |> plain_answer()}
    end
  end

  # The names of the data themselves stay strings.
  defp disguised(data, keys?, state) do
    Enum.reduce(data, {%{}, state}, fn {name, value}, {done, state} ->
      {value, state} =
        value
        |> Disguise.undated()
        |> Disguise.plain()
        |> Disguise.disguise(keys?)
        |> Random.build(state)

      {Map.put(done, name, value), state}
    end)
  end

  defp plain_answer({{:ok, value, _delta, _memory}, calls}),
    do: {{:ok, Disguise.plain(value)}, Disguise.plain(calls)}

  defp plain_answer({{:error, {kind, _text}}, calls}), do: {{:error, kind}, Disguise.plain(calls)}

  defp expected_unchecked(%{program: program, context: context, memory: memory} = random_case) do
    opts = [edition: edition(random_case)]

    traced(fn tools ->
      Fail.catching(:execution_error, fn ->
        {:ok, Eval.eval(program, Eval.environment(context, memory, tools, opts)), memory}
      end)
    end)
  end

  defp answers_unchecked(%{program: program, context: context, memory: memory} = random_case) do
    [
      eval:
        traced(fn tools ->
          context = Context.new(context, memory, tools)

          with {:ok, value} <- Runner.eval(program, context, edition(random_case)),
               do: {:ok, value, memory}
        end)
    ]
  end

  @doc """
  The sides for JSON texts: the library over the decoded texts, and over the texts, which tools answer as well. With a
  heap limit that is tight, a run may end because of that.
  """
  @spec over_texts() :: sides()
  def over_texts, do: {&over_decoded/1, &answers_over_texts/1}

  # Each value of the context as a text, where it is JSON.
  defp over_decoded(%{program: program} = random_case) do
    given = %{random_case | context: texts(random_case.context, &Codec.decode!/1)}

    traced(
      &run(%{"program" => program}, given, answering(&1, fn text -> Codec.decode!(text) end))
    )
  end

  defp answers_over_texts(%{program: program} = random_case) do
    given = %{random_case | context: texts(random_case.context, &Json.text/1)}
    map = %{"program" => program}
    words = 233 + :erlang.phash2(program, 4_000)
    opts = [context: given.context, memory: given.memory, max_heap: words, timeout: 30_000]
    tight = fn tools -> Json.run(map, [tools: tools] ++ opts ++ options(given)) end

    forms =
      case JsonText.encode(map) do
        {:ok, text} -> [map: map, text: text, compiled: compile(text, given)]
        :error -> [map: map, compiled: compile(map, given)]
      end

    answers =
      for {form, program} <- forms do
        {form, traced(&run(program, given, answering(&1, fn text -> Json.text(text) end)))}
      end

    case traced(&tight.(answering(&1, fn text -> Json.text(text) end))) do
      {{:error, {:memory_exceeded, _bytes}}, _calls} -> answers
      answer -> [{:tight, answer} | answers]
    end
  end

  @doc "The values of a context that are JSON as what `read` makes of their texts, in one of many spellings."
  @spec texts(map(), (String.t() -> term())) :: map()
  def texts(context, read),
    do: Map.new(context, fn {name, value} -> {name, of_text(value, read)} end)

  defp of_text(value, read) do
    case Spelled.text(value) do
      {:ok, text} -> read.(text)
      :error -> value
    end
  end

  @doc "Tools that answer what `read` makes of the texts of their answers, where these are JSON."
  @spec answering(%{String.t() => (term() -> term())}, (String.t() -> term())) ::
          %{String.t() => (term() -> term())}
  def answering(tools, read) do
    Map.new(tools, fn {name, tool} ->
      {name, fn args -> args |> tool.() |> of_text(read) end}
    end)
  end

  defp traced(run) do
    answer = run.(tools(self()))
    {answer, calls()}
  end

  defp calls do
    receive do
      {:tool, name, args} -> [{name, args} | calls()]
    after
      0 -> []
    end
  end

  @doc "The tools of the cases, which tell a process of their calls."
  @spec tools(pid()) :: %{String.t() => (term() -> term())}
  def tools(test) do
    %{
      "echo" => fn args -> args end,
      "rows" => fn _args -> [%{"id" => 1, "amount" => 2}, %{"id" => 2, "name" => "b"}] end,
      "odd" => fn _args -> {:ok, ~D[2024-01-31]} end,
      "fail" => fn args -> {:error, args} end,
      "boom" => fn _args -> raise "kaboom" end,
      "throws" => fn args -> throw(args) end,
      "exits" => fn _args -> exit(:killed) end
    }
    |> Map.new(fn {name, tool} ->
      {name,
       fn args ->
         send(test, {:tool, name, args})
         tool.(args)
       end}
    end)
  end

  ## The report of a disagreement

  defp report(random_case, {expected, answers}, which) do
    expected = expected.(random_case)

    wrong =
      for {form, answer} <- answers.(random_case), not same?(answer, expected) do
        "#{form}: #{show(answer)}"
      end

    flunk("""
    The library and the oracle disagree (#{which}, made smaller).

    program: #{show(random_case.program)}
    context: #{show(random_case.context)}
    memory: #{show(random_case.memory)}

    Answers, and the calls of tools:

    oracle: #{show(expected)}
    #{Enum.join(wrong, "\n")}
    """)
  end

  defp show(term), do: inspect(term, pretty: true, limit: :infinity, printable_limit: :infinity)
end
