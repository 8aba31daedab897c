defmodule PtcRunner.Json.Planning do
  @moduledoc false
  # Makes plans: reads the options, and calls the native side.

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Agent.Tool.Names
  alias PtcRunner.{Aligned, Native, Options, Quanta}

  alias PtcRunner.Json.{
    Evaluation,
    ExactArguments,
    Fence,
    Given,
    Limits,
    Message,
    Plan,
    Program,
    Run,
    Tools
  }

  alias PtcRunner.Json.Paused
  alias PtcRunner.Json.Plan.Digest
  alias PtcRunner.Native.Panic
  alias PtcRunner.SubAgent.Signature
  require Quanta

  @options Options.table(
             Given.limits() ++
               [
                 context: {{:maybe, :map}, nil},
                 memory: {{:maybe, :map}, nil},
                 tools: {{:maybe, :map}, nil},
                 max_tool_calls: {{:maybe, :count}, nil}
               ]
           )

  @doc "See `PtcRunner.Json.plan/2`."
  @spec plan(PtcRunner.Json.program(), keyword()) :: {:ok, Plan.t()} | {:error, term()}
  def plan(program, opts) do
    {timeout, max_heap, max_depth, keys, strict, structs, edition, context, memory, tools, most} =
      Options.read!(opts, @options, "PtcRunner.Json.plan/2")

    if twin = tools && Names.twin(tools), do: raise(ArgumentError, Names.twins(twin, "tools"))
    # The plan is of the program as it is run.
    program = ExactArguments.quoted(program, tools)

    limits = Limits.given(timeout, max_heap, max_depth, keys, strict, structs, edition)
    of(program, limits, tools, {context, memory}, most)
  end

  @doc """
  The plan of a program, of which the option `:tools` gives the signatures and settings.

      iex> {:ok, plan} = PtcRunner.Json.Planning.of(~s({"program": {"op": "load", "name": "n"}}), {nil, nil, 100}, %{}, {%{}, %{}}, nil)
      iex> plan.reads
      ["n"]

  """
  @spec of(
          PtcRunner.Json.program(),
          Limits.given(),
          map() | nil,
          {map() | nil, map() | nil},
          non_neg_integer() | nil
        ) :: {:ok, Plan.t()} | {:error, Message.error()}
  def of(program, given, tools, {context, memory}, most) do
    {timeout, max_heap, reading} = Limits.about(given, program)
    limits = {timeout, max_heap}

    with {:ok, source} <- source(program) do
      case native(source, reading, limits, :recipes) do
        {:ok, {known, recipes, bytes}} ->
          data = %{context: context, memory: memory}
          settings = settings(known, tools)
          {digest, text} = Digest.of_source(source, bytes)
          digest = digests(digest, source, reading, known, tools)
          plan = Plan.new({known, recipes}, data, settings, most, digest)
          {:ok, %{plan | text: text}}

        {:error, fault} ->
          {:error, fault |> Fence.note(program) |> Program.error(limits)}
      end
    end
  end

  # The bytes of a text are made where it is read.
  defp digests(digest, source, reading, {called, _reads, _result, _kept}, tools) do
    names = for {name, _, _, _, _, _} <- called, do: name

    %{
      program: digest,
      tools: signatures(names, tools),
      options: options(source, reading)
    }
  end

  # There are few, and each run within a plan asks for one.
  @options for any_keys? <- [true, false],
               strict? <- [true, false],
               values? <- [true, false],
               edition <- [1, 2],
               options = {any_keys?, strict?, values?, edition},
               into: %{},
               do: {options, Digest.of(options)}

  @doc "The digest of the options that say how a program is read."
  @spec options(Program.t() | Program.source(), Limits.reading()) :: String.t()
  def options(source, reading) do
    {_depth, any_keys?, strict?, values?, edition} = Paused.reading(source, reading)
    Map.fetch!(@options, {any_keys?, strict?, values?, edition})
  end

  @doc "The digests of the signatures of these tools, as far as they are given."
  @spec signatures([String.t()], map() | nil) :: %{String.t() => String.t()}
  def signatures(_names, nil), do: %{}

  def signatures(names, tools) do
    for name <- names,
        %{^name => form} <- [tools],
        signature = signature(name, form),
        into: %{},
        do: {name, Digest.of(signature)}
  end

  # A function alone has none.
  defp signature(_name, fun) when is_function(fun), do: nil
  defp signature(_name, {:signature, _params, _type} = signature), do: signature
  defp signature(_name, text) when is_binary(text), do: Signature.parsed!(text)

  defp signature(name, {fun, options}) when is_list(options) and is_function(fun) do
    # A function has the signature of its spec only for agents.
    if options[:signature], do: signature(name, Tool.of!(name, {fun, options}))
  end

  defp signature(name, form), do: Tool.of!(name, form).signature

  @typedoc "What flows into tools, and what the entries of the value are made of."
  @type flows ::
          {:ok, %{String.t() => [{String.t() | :calls | nil, [Plan.source()]}]},
           %{(String.t() | nil) => {made :: [Plan.source()], parts :: [Plan.source()]}}}

  @doc """
  What flows into the arguments of each tool that a program may call, and as `:calls` into the number of its calls; and what the entries of
  its value are made of: by name, and as `nil` for all others, the parts that they are computed from, and the parts that stand in them as
  they are. What stands in them under firewalled names is in neither. For a program in the form in which it is run.

      iex> program = ~s({"program": {"to": {"op": "call", "tool": "mail", "args": {"to": {"op": "load", "name": "who"}}}, "b": {"op": "load", "name": "b"}}})
      iex> {:ok, tools, kept} = PtcRunner.Json.Planning.flows(program, {nil, nil, 10_000})
      iex> {tools, kept["b"]}
      {%{"mail" => [{:calls, []}, {"to", [{:context, ["who"], true}]}]}, {[], [{:context, ["b"], true}]}}

  """
  @spec flows(Run.program(), Limits.given()) :: flows() | {:error, Message.error()}
  def flows(program, limits) do
    {timeout, max_heap, reading} = of_run(limits, program)

    case native(program, reading, {timeout, max_heap}, :plan) do
      {:ok, {tools, _reads, _result, kept}} ->
        {any_keys?, values?} = Program.read_as(program, reading)
        read = &keys(&1, {any_keys?, any_keys? and values?})
        {:ok, into_tools(tools, read), into_entries(kept, read)}

      {:error, fault} ->
        {:error, Program.error(fault, {timeout, max_heap})}
    end
  end

  @doc """
  Whether a program may call a tool. Of one that is given as terms it is not known.

      iex> for program <- [~s({"program": {"op": "count"}}), %{"op" => "count"}], do: PtcRunner.Json.Planning.calls?(program)
      [false, true]

  """
  @spec calls?(Run.program()) :: boolean()
  def calls?(%Program{source: source}), do: calls?(source)
  def calls?(text) when is_binary(text), do: has?(text, ~s("call")) or escapes?(text)
  def calls?(_node), do: true

  # An escape may be any character. A single byte is searched for much faster than several patterns at once.
  defp escapes?(text), do: has?(text, "\\") and has?(text, "\\u")

  defp has?(text, part), do: :binary.match(text, part) != :nomatch

  # It takes no more time than the run may take.
  defp of_run(limits, program) do
    {timeout, _max_heap, _reading} = Limits.resolve(limits)
    limits |> Limits.about(program) |> put_elem(0, timeout)
  end

  defp into_tools(tools, read) do
    Map.new(tools, fn {name, _least, _most, _guard, counted, arguments} ->
      flows = for {name, from, _by, counted} <- arguments, do: {name, read.(from ++ counted)}
      {name, [{:calls, read.(counted)} | flows]}
    end)
  end

  defp into_entries(kept, read),
    do: Map.new(kept, fn {name, made, parts} -> {name, {read.(made), read.(parts)}} end)

  # Where atoms are keys too, an object without a name is without the atom of that name. A key that an entry has is compared with a
  # text: an atom is equal to it where structs are read as values.
  defp keys(from, atoms),
    do: for({root, path, whole?} <- from, do: {root, Enum.map(path, &step(&1, atoms)), whole?})

  defp step({:without, names}, atoms), do: {:without, Enum.flat_map(names, &left_out(&1, atoms))}
  defp step(step, _atoms), do: step

  defp left_out({:starting, text}, {_any?, texts?}), do: [{:starting, text, texts?}]
  defp left_out({:text, name}, {_any?, true}), do: [name | existing_atom(name)]
  defp left_out({:text, name}, _atoms), do: [name]
  defp left_out(name, {true, _texts?}), do: [name | existing_atom(name)]
  defp left_out(name, _atoms), do: [name]

  defp existing_atom(name) do
    [String.to_existing_atom(name)]
  rescue
    ArgumentError -> []
  end

  defp source(%Program{} = program), do: {:ok, program}
  defp source({:checked, _node} = source), do: {:ok, source}

  defp source(program), do: Evaluation.source(program)

  # The plan as the firewall needs it, or with `:recipes` as people do, with how the arguments of each call are made, and with the canonical
  # bytes of a text.
  defp native(program, reading, limits, detail) do
    Program.ask(
      program,
      reading,
      fn {handle, consts, text} ->
        Quanta.finish(
          Quanta.native(
            Native.check_compiled(handle, consts, text, detail, nil, nil, nil, nil, limits)
          )
        )
      end,
      fn source, reading ->
        source = if is_binary(source), do: Aligned.text(source), else: node_of(source)
        reading = Program.observed(reading, detail)

        Quanta.finish(
          Quanta.native(Native.check_program(source, reading, nil, nil, nil, nil, limits))
        )
      end
    )
  catch
    :error, :nif_panicked -> {:error, {:execution_error, Panic.caught()}}
  end

  defp node_of({:checked, node}), do: node
  defp node_of(%{"program" => node}), do: node

  # What the tools that may be called say about themselves. A tool may also be given as its signature alone.
  defp settings(_known, nil), do: %{}

  defp settings({called, _reads, _result, _kept}, tools) do
    for {name, _least, _most, _guard, _counted, _arguments} <- called,
        %{^name => form} <- [tools],
        setting = setting(name, form),
        into: %{},
        do: {name, setting}
  end

  defp setting(_name, fun) when is_function(fun), do: nil
  defp setting(_name, signature) when is_binary(signature), do: nil
  defp setting(_name, {:signature, _params, _type}), do: nil
  defp setting(name, form), do: name |> Tool.of!(form) |> Tools.of()
end
