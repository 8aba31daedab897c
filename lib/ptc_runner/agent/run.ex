defmodule PtcRunner.Agent.Run do
  @moduledoc false
  # Runs one program with validated tool calls and a validated result.

  alias PtcRunner.Agent.{
    Approval,
    Calls,
    Catalogue,
    Checking,
    Describe,
    Feedback,
    Judging,
    Paused,
    Record,
    Replaying,
    Tool,
    Watching
  }

  alias PtcRunner.Firewall.{Flow, Guard, Hidden, Kept, Marks, Shape}
  alias PtcRunner.Json

  alias PtcRunner.Json.{
    Budget,
    Check,
    Contract,
    Edition,
    Evaluation,
    ExactArguments,
    Given,
    Message
  }

  alias PtcRunner.Json.{Resuming, Runner, ToolContext, Values}
  alias PtcRunner.Json.Explain.Noticed

  # The options of the run itself.
  @recording [:recorded_calls, :recorded_bytes]
  @own [
         :returns,
         :enums,
         :descriptions,
         :info,
         :findings,
         :max_tool_calls,
         :budget,
         :on_event,
         :check,
         :firewall,
         :catalogue,
         :approve
       ] ++
         [:resumes, :replays, :run_id, :made_before, :tool_calls_before, :approvals_before] ++
         @recording

  # Maximum number of calls, of one run or of all turns.
  @calls 1_000

  @type info :: %{
          memory: map(),
          delta: map(),
          tool_calls: [Record.call()],
          dropped_calls: %{String.t() => pos_integer()},
          made: String.t(),
          shape: Shape.t(),
          findings: [Noticed.finding()],
          whole: {term(), Shape.t(), Marks.told() | nil} | nil,
          before: map(),
          warnings: [String.t()]
        }

  @type result ::
          {:ok, term(), map()}
          | {:error, Json.error() | {:invalid_result, [map()]}, String.t()}
          | {:error, Json.error() | {:invalid_result, [map()]}, String.t(), map()}
          | {:paused, Paused.t()}

  @doc "See `PtcRunner.Agent.run/3`; the options are already validated."
  @spec run(Json.program(), [Tool.t()], keyword()) :: result()
  def run(program, tools, opts) do
    warnings = Tool.warnings(tools)
    budget = budget(tools, opts, nil)
    tools = Catalogue.tools(tools, opts)

    case checked(program, tools, opts) do
      [] -> run(program, tools, opts, warnings, budget)
      errors -> refused(errors, warnings, opts)
    end
  end

  # What a paused run goes on with was checked.
  defp checked(program, tools, opts) do
    if opts[:check] == true and opts[:resumes] == nil,
      do: program |> Checking.errors(tools, opts) |> elem(0),
      else: []
  end

  defp refused(errors, warnings, opts) do
    memory = Keyword.get(opts, :memory, %{})

    info = %{
      memory: memory,
      delta: %{},
      tool_calls: [],
      dropped_calls: %{},
      warnings: warnings
    }

    failed(Check.error(errors), Feedback.refused(errors), info, opts[:info])
  end

  defp run(program, tools, opts, warnings, budget) do
    case noted(program, tools, [{:budget, budget} | opts]) do
      {:ok, value, info} ->
        {:ok, value, shown(info, warnings, opts)}

      {:paused, paused, info} ->
        {:paused, Paused.of_run(paused, opts, info)}

      {:error, error, feedback, info} ->
        failed(error, feedback, shown(info, warnings, opts), opts[:info])
    end
  end

  @doc "Goes on with a run that was paused: see `PtcRunner.Agent.resume/3`."
  @spec resume(Paused.t(), term(), keyword()) :: result()
  def resume(paused, decisions, opts) do
    {tools, opts} = Keyword.pop(opts, :tools, %{})
    {program, opts} = going_on(paused, decisions, opts)
    run(program, Tool.list!(tools), opts)
  end

  @doc "The program of a run that goes on, and the options that it goes on with."
  @spec going_on(Paused.t(), term(), keyword()) :: {Json.program(), keyword()}
  def going_on(paused, decisions, opts) do
    more = [
      tool_calls_before: paused.tool_calls,
      made_before: paused.made,
      approvals_before: paused.approvals
    ]

    # The run has the plans that it is within.
    opts = paused.opts |> Keyword.drop([:within, :approve]) |> Keyword.merge(opts)
    {paused.run.program, [{:resumes, {paused.run, decisions}} | more] ++ opts}
  end

  @doc "The budget of calls of these tools, with the calls that were made before."
  @spec budget([Tool.t()], keyword(), {non_neg_integer(), map()} | nil) ::
          Budget.t() | nil
  def budget(tools, opts, made) do
    limits =
      for %{max_calls: most, name: name} when most != nil <- tools, into: %{}, do: {name, most}

    most = Keyword.get(opts, :max_tool_calls, @calls)
    most = if most != :infinity, do: most
    budget = Budget.new(Enum.map(tools, & &1.name), most, limits)
    if budget && made, do: Budget.add(budget, made)
    budget
  end

  defp failed(error, feedback, info, true), do: {:error, error, feedback, info}
  defp failed(error, feedback, _info, _false), do: {:error, error, feedback}

  defp shown(info, warnings, opts) do
    info = info |> Map.drop([:shape, :findings, :whole, :before]) |> Approval.told(opts)
    %{info | warnings: warnings ++ info.warnings}
  end

  @doc "Runs a program; an error includes the record of what happened before it."
  @spec noted(Json.program(), [Tool.t()], keyword()) ::
          {:ok, term(), info()}
          | {:error, term(), String.t(), info()}
          | {:paused, Json.Paused.t(), info()}
  def noted(program, tools, opts) do
    string_keys!(opts)
    program = ExactArguments.quoted(program, tools)
    given = opts |> Keyword.drop(@own) |> Keyword.replace_lazy(:context, &named/1) |> read()

    given = strict(given, program)
    findings? = Keyword.get(opts, :findings, :ignore) == :feedback
    firewall = if Keyword.get(opts, :firewall, true), do: Guard.tools(tools), else: false
    # It is asked before the run, and for what is kept after it.
    plan = if firewall != false and tools != [], do: planned(program, given)

    control = %{
      budget: opts[:budget],
      settings: Watching.settings(tools),
      firewall: firewall,
      plan: plan,
      run_id: opts[:run_id],
      forms: Map.new(tools, &{&1.name, &1})
    }

    {approval, decided} =
      Approval.asked(tools, opts, fn -> Approval.plan(program, tools, given) end)

    run = fn functions, record ->
      control = Watching.control(control, tools, opts, record)
      given = [{:tools, functions}, {:control, control} | given]

      cond do
        opts[:replays] -> replayed(program, given, findings?, {opts, record})
        match?({:error, _refused}, approval) -> approval
        true -> ran(program, Approval.given(approval, given), findings?, opts[:resumes])
      end
    end

    given_to_tools = ToolContext.named(opts[:tool_context])
    bound = Enum.map(tools, &ToolContext.bound(&1, given_to_tools))
    {result, noted} = Calls.noted(bound, Keyword.take(opts, @recording), run)
    # What the run had called before it was paused.
    made = Watching.audited(noted.calls, given_to_tools)
    calls = Keyword.get(opts, :tool_calls_before, []) ++ made
    noted = %{noted | calls: calls, told: Keyword.get(opts, :made_before, "") <> noted.told}

    info = %{
      memory: Keyword.get(opts, :memory, %{}),
      delta: %{},
      tool_calls: noted.calls,
      dropped_calls: noted.dropped,
      made: noted.told,
      shape: :clear,
      findings: [],
      whole: nil,
      before: Keyword.get(opts, :memory, %{}),
      approval: decided,
      warnings: warnings(noted)
    }

    case result do
      {:paused, paused} ->
        {:paused, paused, info}

      {:ok, whole, findings} ->
        {:ok, value, delta, memory} = Contract.of(whole, info.memory, :values)
        data = [Keyword.get(opts, :context, %{}), info.memory]
        called = for tool <- tools, called?(tool, noted), do: tool
        hidden? = fn -> Hidden.answered?(called) or Hidden.in?(Enum.map(data, &values/1)) end
        read = if is_map(whole), do: Flow.read(program), else: program
        shape = Flow.of(read, info.memory, hidden?)
        told = if is_map(whole), do: told(read, given, {firewall, plan}, shape)
        memory = marked(memory, delta, shape, told, info.memory)
        info = %{info | shape: Flow.result(shape, value, delta), findings: findings}
        whole = {whole, shape, told}
        Judging.judged(value, opts, %{info | delta: delta, memory: memory, whole: whole})

      {:error, fault} ->
        edition = edition(program, given)
        fault = Message.made(fault)
        {:error, Message.error(fault), Feedback.run(fault, tools, info.made, edition), info}
    end
  end

  # Which entries of the value get which marks in the memory.
  defp told(program, given, firewall, shape),
    do: {flows(program, given, firewall, shape), fn -> Flow.written(program) end}

  # Without a firewall, what is not shown counts as if it came from firewalled data.
  defp flows(_program, _given, {false, _plan}, shape), do: &(Shape.entry(shape, &1) != :clear)

  defp flows(program, given, {tools, plan}, shape) do
    given = Given.read(given, "PtcRunner.Json.run/2", :own)
    Kept.flows(program, {given.context, given.memory, tools, given.limits}, shape, plan)
  end

  defp planned(program, given) do
    given = Given.read(given, "PtcRunner.Json.run/2", :own)
    Evaluation.plan(program, given.limits)
  end

  defp marked(memory, delta, _shape, _told, _before) when delta == %{}, do: memory

  defp marked(memory, delta, shape, told, before),
    do: Marks.put(memory, delta, shape, told, before)

  defp called?(tool, noted),
    do: is_map_key(noted.dropped, tool.name) or Enum.any?(noted.calls, &(&1.name == tool.name))

  # Firewalled names of data are no fields: programs read them by name only.
  defp values(%_struct{} = data), do: data |> Values.fields() |> values()
  defp values(data), do: :maps.values(data)

  defp edition(%Json.Program{edition: edition}, _given), do: edition
  defp edition(_source, given), do: given[:edition]

  # A compiled program keeps the strictness that it was compiled with.
  defp strict(given, %Json.Program{}), do: given
  defp strict(given, _source), do: Keyword.put_new(given, :strict, true)

  # The journal answers: no tool is called, and what is said of tools does not count.
  defp replayed(program, given, findings?, {opts, record}) do
    watch = Watching.replay(record, opts)
    {firewall, memory} = {given[:control].firewall, Keyword.get(opts, :memory, %{})}

    Replaying.run(opts[:replays], {program, memory}, watch, fn answers, now ->
      control = Map.put(answers, :firewall, firewall)
      given = given |> Keyword.put(:control, control) |> Keyword.put_new(:now, now)
      ran(program, given, findings?, nil)
    end)
  end

  # The run itself is observed: its tools are called once.
  defp ran(program, opts, true, resumes) do
    with {:ok, {value, findings}} <- value(program, opts, resumes, &Noticed.run/1),
         do: {:ok, value, findings}
  end

  defp ran(program, opts, false, resumes) do
    with {:ok, value} <- value(program, opts, resumes, &Runner.run/1),
         do: {:ok, value, []}
  end

  defp value(program, opts, nil, run) do
    given = Given.read(opts, "PtcRunner.Json.run/2", :own)
    program |> Evaluation.run(given, run) |> Evaluation.value(program, given)
  end

  defp value(_program, opts, {paused, decisions}, run),
    do: Resuming.value(paused, decisions, opts, run)

  @doc "The warnings of calls, and how many were not recorded."
  @spec warnings(Calls.noted()) :: [String.t()]
  def warnings(%{calls: calls, dropped: dropped}) do
    for(call <- calls, warning <- call.warnings, do: "#{call.name}: #{warning}") ++
      for {name, n} <- Enum.sort(dropped),
          do: "#{name}: #{n} calls were made that are not recorded"
  end

  @doc """
  The options with those that say how programs read data (ordinary Elixir data has atom keys, structs and dates), and
  with the edition.

      iex> PtcRunner.Agent.Run.read(timeout: 50, edition: 2)
      [structs: :values, edition: 2, keys: :any, timeout: 50]

  """
  @spec read(keyword()) :: keyword()
  def read(opts) do
    {edition, opts} = Keyword.pop(opts, :edition)
    edition = edition || Edition.of_agents()
    [{:structs, :values}, {:edition, edition} | Keyword.put_new(opts, :keys, :any)]
  end

  @doc "The context by names that programs can write. Names of data may be atoms, because there are few of them."
  @spec named(map()) :: map()
  def named(%_struct{} = context), do: context |> Values.fields() |> named()
  def named(context), do: Map.new(context, fn {name, value} -> {name(name), value} end)

  # Programs cannot name the others.
  defp name(name) when is_atom(name) or is_number(name), do: to_string(name)
  defp name(name), do: name

  # With `keys: :strings`, atom keys inside the data are refused: programs would not find them, and would not
  # report it.
  defp string_keys!(opts) do
    context = Keyword.get(opts, :context, %{})

    with :strings <- Keyword.get(opts, :keys),
         path when path != nil <- Describe.atom_key(named(context)) do
      raise ArgumentError,
            "programs find string keys, and #{path} is an atom. Give data with string keys, or keys: :any"
    end
  end
end
