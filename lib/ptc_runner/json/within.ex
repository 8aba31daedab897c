defmodule PtcRunner.Json.Within do
  @moduledoc false
  # Keeps a run within a plan that was approved. What is known before the run is compared then; what is not (numbers that only the run knows, and
  # conditions of the application) is looked at before each call, by `PtcRunner.Json.Within.Counts`.
  #
  #   program ──▶ its plan ──▶ compared with the approved one ──▶ refused, or a run ──▶ each call counted ──▶ refused, or made

  alias PtcRunner.Json.{Budget, Control, Given, Limits, Plan, Planning, Program, Tools}
  alias PtcRunner.Json.Plan.{Comparison, Digest, Formula, Paths}
  alias PtcRunner.Json.Within.{Counts, Memory}
  alias PtcRunner.Lisp.Planning, as: LispPlanning
  alias PtcRunner.Lisp.Program, as: Lisp
  alias PtcRunner.Shown

  # `counts`: those of several runs, one after another, if they share them; `memory`: what the plan reads of the memory that the first one was given.
  defstruct plan: nil, counts: nil, memory: nil

  @type t :: %__MODULE__{plan: Plan.t(), counts: Counts.t() | nil, memory: map() | nil}

  @doc """
  The plans of an option. Raises `ArgumentError` for what is no plan.

      iex> PtcRunner.Json.Within.plans!(nil, "f/2")
      []

      iex> PtcRunner.Json.Within.plans!(%{"plan" => 2}, "f/2")
      ** (ArgumentError) option :within of f/2: the plan has version 2, and this library reads version 1

  """
  @spec plans!(term(), String.t()) :: [t()]
  def plans!(nil, _function), do: []
  def plans!(plans, function) when is_list(plans), do: Enum.flat_map(plans, &plans!(&1, function))
  def plans!(%__MODULE__{} = within, _function), do: [within]
  def plans!(%Plan{} = plan, _function), do: [%__MODULE__{plan: plan}]

  def plans!(map, function) when is_map(map) and not is_struct(map) do
    case Plan.from_map(map) do
      {:ok, plan} -> [%__MODULE__{plan: plan}]
      {:error, text} -> raise ArgumentError, "option :within of #{function}: #{text}"
    end
  end

  def plans!(other, function) do
    raise ArgumentError,
          "option :within of #{function} must be a PtcRunner.Json.Plan or the map of Plan.to_map/1, got: #{Shown.text(other, 200)}"
  end

  @doc "The plans as maps, for a run that is stored. Those of a loop are stored with it."
  @spec to_maps([t()]) :: [map()]
  def to_maps(within), do: for(%{plan: plan, counts: nil} <- within, do: Plan.to_map(plan))

  @doc "Whether the plans can be kept: a constant of a program that is no text may be a process, for example."
  @spec kept([t()]) :: :ok | {:error, String.t()}
  def kept([]), do: :ok

  def kept(within) do
    to_maps(within)
    :ok
  rescue
    error in ArgumentError -> {:error, Exception.message(error)}
  end

  @doc """
  The text of a refusal by who approves a plan.

      iex> PtcRunner.Json.Within.denied("not today")
      "The program was refused: not today"

  """
  @spec denied(term()) :: String.t()
  def denied(reason) when is_binary(reason), do: "The program was refused: " <> Shown.cut(reason)
  def denied(other), do: "The program was refused: " <> Shown.text(other)

  @doc """
  Plans of several runs, whose calls are counted together, and none of which may give a call what an earlier one has put into the memory in the place of what
  was there. `data` are the context and the memory of the first run, `before` what `counted/1` gave.
  """
  @spec shared([t()], {map(), map()}, [{[integer()], map()}] | nil) :: [t()]
  def shared(plans, data, before \\ nil)

  def shared(plans, {_context, memory} = data, nil) do
    none = for %{plan: plan} <- plans, do: {[], Memory.begun(plan, memory)}
    shared(plans, data, none)
  end

  def shared(plans, {context, _memory}, before) do
    for {%{plan: plan} = within, {counted, memory}} <- Enum.zip(plans, before) do
      counts = Counts.new(plan, data({context, memory}), :all)
      Counts.add(counts, counted)
      %{within | counts: counts, memory: memory}
    end
  end

  @doc "What was counted of plans that several runs share, and what they read of the memory at first."
  @spec counted([t()]) :: [{[integer()], map()}]
  def counted(plans),
    do: for(%{counts: counts, memory: memory} <- plans, do: {Counts.counted(counts), memory})

  @doc """
  Compares the program of a run with the plans of its control, and gives the control what must be counted in the run. Tools that a plan cannot count
  wait for a person if the application wants that.
  """
  @spec begin(Program.t() | Program.source() | Lisp.t(), Given.t(), Control.t(), map(), map()) ::
          {:ok, Control.t()} | {:error, PtcRunner.Json.error()}
  def begin(_program, _given, %Control{rules: %{within: []}} = control, _tools, _settings),
    do: {:ok, control}

  def begin(program, %Given{} = given, %Control{} = control, tools, settings) do
    forms = control.rules.forms || given.tools
    data = {given.context, given.memory}
    about = {program, given.limits, forms, data}

    Enum.reduce_while(control.rules.within, {:ok, control}, fn within, {:ok, control} ->
      case compared(within, about, control, tools) do
        {:ok, [], counts} -> {:cont, {:ok, counting(control, counts)}}
        {:ok, names, counts} -> {:cont, asking(control, names, counts, settings)}
        error -> {:halt, error}
      end
    end)
  end

  defp counting(control, nil), do: control

  defp counting(control, counts),
    do: Control.with_rules(control, counts: control.rules.counts ++ [counts])

  defp asking(%{rules: %{unknown: :ask} = rules} = control, names, counts, settings) do
    settings = Map.merge(control.settings, settings)

    asking =
      Map.new(names, fn name ->
        {name, settings |> Map.get(name, Tools.usual()) |> Map.put(:approve, true)}
      end)

    control = Control.with_rules(control, asking: Map.merge(rules.asking, asking))
    {:ok, counting(control, counts)}
  end

  defp asking(_control, [name | _], _counts, _settings),
    do:
      refused(
        "it calls '#{Paths.name(name)}', and the plan cannot say how often. Approve a number with Plan.approve/2, or give unknown: :ask"
      )

  # The tools that a person is asked about, and what is counted.
  defp compared(%{plan: plan} = within, {program, _limits, forms, data} = about, control, tools) do
    with {:ok, new} <- of_program(plan, about, control),
         :ok <- there(new, tools, control),
         :ok <- signatures(new, plan, forms, program),
         :ok <- remembered(new, within.memory, data),
         {:ok, names} <- within_plan(new, plan, data) do
      {:ok, names, within.counts || counts(new, plan, data)}
    end
  end

  # What the plan of the program itself does not say in numbers is what the program does.
  defp within_plan(new, plan, data) do
    plan = if Comparison.same?(new, plan), do: plan, else: filled(plan, data)

    case Comparison.check(new, plan, :run) do
      :ok -> {:ok, []}
      {:unknown, names} -> {:ok, names}
      {:refused, text} -> refused(text)
    end
  end

  defp refused(text), do: {:error, {:refused, "The program is not within the plan: #{text}"}}

  # The plan of the program. If it is the approved one, only its numbers are made anew.
  defp of_program(_plan, {%Lisp{} = program, _limits, forms, data}, control) do
    settings = Map.merge(control.settings, control.rules.said)

    {:ok,
     LispPlanning.of(
       program,
       LispPlanning.forms(forms),
       settings,
       data,
       control.rules.max_tool_calls
     )}
  end

  defp of_program(plan, {program, limits, forms, data}, control) do
    if whole?(plan) and same?(plan, program, limits),
      do: {:ok, again(plan, data)},
      else: Planning.of(program, limits, forms, data, control.rules.max_tool_calls)
  end

  defp same?(%{digest: digest, text: text}, program, limits) do
    {_timeout, _max_heap, reading} = Limits.about(limits, program)

    digest.options == Planning.options(program, reading) and
      ((text != nil and text == Digest.text(program)) or
         digest.program == Digest.program(program))
  end

  # Whether a plan has all tools of its program.
  defp whole?(%{digest: nil}), do: false
  defp whole?(%{flows: nil}), do: false
  defp whole?(%{flows: %{tools: flows}, tools: tools}), do: map_size(flows) == length(tools)

  defp again(plan, data) do
    data = data(data)

    # Numbers that the plan does not have are not compared.
    numbered = fn
      %{most: nil} = counted -> counted
      counted -> numbered(counted, Formula.numbers(counted.formula, data))
    end

    tools =
      for tool <- plan.tools,
          do: %{numbered.(tool) | sites: Enum.map(tool.sites, numbered)}

    %{plan | tools: tools}
  end

  # Numbers that the plan does not have, because it was made without the data.
  defp filled(plan, data) do
    data = data(data)

    fill = fn
      %{most: nil} = counted -> numbered(counted, Formula.numbers(counted.formula, data))
      counted -> counted
    end

    tools = for tool <- plan.tools, do: %{fill.(tool) | sites: Enum.map(tool.sites, fill)}
    %{plan | tools: tools}
  end

  defp numbered(counted, {least, most}), do: %{counted | least: least, most: most}

  defp data({context, memory}), do: %{context: context, memory: memory}

  # A journal answers without tools.
  defp there(_new, _tools, %{rules: %{replay?: true}}), do: :ok

  defp there(new, tools, _control) do
    case Enum.find(new.tools, &(not is_map_key(tools, &1.name))) do
      nil -> :ok
      tool -> refused("it calls '#{Paths.name(tool.name)}', and there is no such tool")
    end
  end

  defp signatures(_new, %{digest: nil}, _forms, _program), do: :ok

  defp signatures(new, %{digest: %{tools: signatures}}, forms, _program) do
    names = for %{name: name} <- new.tools, is_map_key(signatures, name), do: name
    now = Planning.signatures(names, forms)

    case Enum.find(names, &(is_map_key(now, &1) and now[&1] != signatures[&1])) do
      nil ->
        :ok

      name ->
        refused(
          "the signature of '#{Paths.name(name)}' is not what it was when the plan was made"
        )
    end
  end

  defp remembered(_new, nil, _data), do: :ok

  defp remembered(new, before, {_context, memory}) do
    case Memory.changed(new, before, memory) do
      nil ->
        :ok

      {tool, name} ->
        refused(
          "'#{Paths.name(tool)}' is given #{Paths.text({:memory, [name], true})}, which an earlier program has changed"
        )
    end
  end

  # Only what is not certain before the run is counted in it.
  defp counts(new, plan, data) do
    names =
      for tool <- new.tools,
          approved = Enum.find(plan.tools, &(&1.name == tool.name)),
          is_map_key(plan.where, tool.name) or not certain?(tool, approved, new, plan),
          do: tool.name

    if names != [], do: Counts.new(plan, data(data), names)
  end

  # Of the program itself, the numbers of its calls; of another one these were compared, unless they are narrowed.
  defp certain?(tool, approved, new, plan) do
    limit = plan.at_most[tool.name]

    cond do
      limit != nil ->
        tool.most != nil and tool.most <= limit and sites?(tool, approved, new, plan)

      Comparison.same?(new, plan) ->
        sites?(tool, approved, new, plan)

      true ->
        true
    end
  end

  defp sites?(tool, approved, new, plan) do
    not Comparison.same?(new, plan) or
      (less?(tool, approved) and
         tool.sites
         |> Enum.zip(approved.sites)
         |> Enum.all?(fn {one, other} -> less?(one, other) end))
  end

  # What a plan cannot say in numbers is what the program does.
  defp less?(_one, %{most: nil}), do: true
  defp less?(%{most: nil}, _approved), do: false
  defp less?(%{most: most}, %{most: approved}), do: most <= approved

  @doc "A budget that counts for plans too."
  @spec budget(Budget.t() | nil, [Counts.t()]) :: Budget.t() | nil
  def budget(budget, []), do: budget
  def budget(budget, counts), do: Budget.within(budget, counts)
end
