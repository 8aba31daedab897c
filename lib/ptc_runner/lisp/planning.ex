defmodule PtcRunner.Lisp.Planning do
  @moduledoc false
  # Makes plans of programs of PTC-Lisp, in the form of those of PTC-JSON: a static walk has found the places that call tools. How often a
  # place is reached in a loop or a function, and what flows into an argument that is no constant, only the run knows: "unknown".

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Json.{Plan, Planning}
  alias PtcRunner.Json.Plan.Digest
  alias PtcRunner.Lisp.{Given, Names, Preparing, Program, Remembered, Tools}

  # Any part of the data.
  @unknown [{:unknown, [], true}]

  @doc "See `PtcRunner.Lisp.plan/2`."
  @spec plan(String.t() | Program.t(), keyword()) :: {:ok, Plan.t()} | Program.fail()
  def plan(program, opts) do
    given = Given.read(opts)
    tools = if opts[:tools] == nil, do: nil, else: given.tools

    with {:ok, settings} <- said(tools, given.tool_context),
         {:ok, program} <- Preparing.with_memory(program, given),
         :ok <- Names.check(program, given, tools || :any) do
      context = opts[:context]
      forms = forms(tools || %{})
      {:ok, of(program, forms, settings, {context, given.memory}, given.max_tool_calls)}
    end
  end

  defp said(nil, _context), do: {:ok, %{}}

  defp said(tools, context) do
    case Tools.read(tools, context) do
      {:ok, _functions, settings} -> {:ok, settings}
      {:error, text} -> {:error, :invalid_tool, text, nil}
    end
  end

  @doc """
  The plan of a program that has the functions of its memory, with these tools and what they say.

      iex> {:ok, program} = PtcRunner.Lisp.compile(~S|(when data/late (tool/mail {:to "Ada" :text (str data/late)}))|)
      iex> plan = PtcRunner.Lisp.Planning.of(program, %{}, %{}, {%{}, %{}}, nil)
      iex> for tool <- plan.tools, do: {tool.name, tool.calls, tool.arguments}
      [{"mail", "≤ 1", %{"text" => ["unknown"], "to" => []}}]

  """
  @spec of(Program.t(), map(), map(), {map() | nil, map()}, non_neg_integer() | nil) :: Plan.t()
  def of(%Program{} = program, forms, settings, {context, memory}, most) do
    %{globals: globals, data: data, calls: sites} = program.names
    digest = digest(program)
    by_tool = Enum.group_by(sites, &elem(&1, 0))
    known = for {name, sites} <- by_tool, do: known(name, sites)
    remembered = for name <- globals, {:ok, _value} <- [Remembered.fetch(memory, name)], do: name

    reads =
      for(name <- data, do: {:context, [name], true}) ++
        for(name <- remembered, do: {:memory, [name], true})

    digests = %{
      program: digest,
      tools: by_tool |> Map.keys() |> Planning.signatures(forms),
      options: Digest.of("lisp")
    }

    sites = Enum.map(sites, &site(&1, digest))
    known = {known, reads, {@unknown, [], []}, []}

    Plan.new(
      {known, {:sites, sites}},
      %{context: context, memory: memory},
      settings,
      most,
      digests
    )
  end

  # The functions of the memory are parts of the program.
  defp digest(%Program{source: source, added: added}),
    do: Digest.of(["lisp", source, for({text, names} <- added, do: [text, names])])

  defp known(name, sites) do
    once? = Enum.all?(sites, fn {_tool, once?, _arguments} -> once? end)
    most = if once?, do: [{length(sites), []}]
    {name, [], most, [], [], sites |> Enum.map(&elem(&1, 2)) |> arguments()}
  end

  # What flows into each argument, in any of the calls.
  defp arguments(all) do
    if nil in all do
      [{nil, @unknown, [], []}]
    else
      constants = for arguments <- all, {name, value} <- arguments, do: {name, value != nil}

      for {name, constants} <- Enum.group_by(constants, &elem(&1, 0), &elem(&1, 1)),
          do: {name, if(Enum.all?(constants), do: [], else: @unknown), [], []}
    end
  end

  defp site({tool, once?, arguments}, digest) do
    most = if once?, do: [{1, []}]
    %{tool: tool, formula: {[], most}, arguments: pattern(arguments, digest)}
  end

  # What is computed is the same only in the same program.
  defp pattern(nil, digest), do: {:made, digest, []}

  defp pattern(arguments, digest) do
    {:object,
     Map.new(arguments, fn
       {name, {constant}} -> {name, {:is, constant}}
       {name, nil} -> {name, {:made, digest, []}}
     end)}
  end

  @doc """
  The tools in the forms whose signatures are known.

      iex> PtcRunner.Lisp.Planning.forms(%{a: {&is_map/1, "() -> :bool"}, b: %PtcRunner.Tool{name: "b"}}) |> Map.keys()
      ["a"]

  """
  @spec forms(map()) :: map()
  def forms(tools) do
    for {name, form} <- tools, form?(form), into: %{}, do: {to_string(name), form(form)}
  end

  defp form?(form), do: is_function(form) or is_tuple(form) or is_struct(form, Tool)

  defp form({fun, :skip}), do: fun

  defp form({fun, options}) when is_list(options),
    do: {fun, Enum.reject(options, fn {_name, value} -> value in [nil, :skip] end)}

  defp form(form), do: form
end
