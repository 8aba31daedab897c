defmodule PtcRunner.Agent.Lisp.Run do
  @moduledoc false
  # Runs one program of PTC-Lisp with validated tool calls, and judges its result.

  alias PtcRunner.Agent.{Approval, Calls, Paused, Replaying, Result, Tool, ToolError, Watching}
  alias PtcRunner.Agent.Lisp.{Allowed, Source, Told}
  alias PtcRunner.Agent.Run, as: JsonRun
  alias PtcRunner.Firewall.Hidden
  alias PtcRunner.Json.{Text, ToolContext, Values}

  alias PtcRunner.Lisp.{
    ErrorPlace,
    Evaluation,
    Firewalled,
    Given,
    GoingOn,
    Planning,
    Preparing,
    Program
  }

  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.{Json, Lisp, Step}

  @running [:timeout, :max_heap, :on_call, :on_journal, :pause_ttl, :tool_context, :now] ++
             [:within, :unknown, :tool_concurrency]

  @typedoc "How a run ended that has not failed."
  @type ended :: {:value | :return | :fail, term()}

  @doc "See `PtcRunner.Agent.run/3`; the options are already validated."
  @spec run(Program.t() | String.t(), [Tool.t()], keyword()) ::
          {:ok, term(), map()}
          | {:error, term(), String.t()}
          | {:error, term(), String.t(), map()}
          | {:paused, Paused.t()}
  def run(program, tools, opts) do
    Allowed.tools!(tools, opts)
    warnings = Tool.warnings(tools)
    budget = JsonRun.budget(tools, opts, nil)

    with {:ok, program} <- compiled(program, opts),
         {:ok, ended, info} <- noted(program, tools, [{:budget, budget} | opts]) do
      result(ended, opts, %{info | warnings: warnings ++ info.warnings})
    else
      {:paused, paused, info} -> {:paused, Paused.of_run(paused, opts, info)}
      {:error, error, told} -> failed(error, told, nothing(opts, warnings), opts)
      {:error, error, told, info} -> failed(error, told, info, opts)
    end
  end

  @doc "Goes on with a run that was paused: see `PtcRunner.Agent.resume/3`."
  @spec resume(Paused.t(), term(), keyword()) :: term()
  def resume(paused, decisions, opts) do
    {tools, opts} = Keyword.pop(opts, :tools, %{})
    {source, opts} = JsonRun.going_on(paused, decisions, opts)
    run(again!(source), Tool.list!(tools), opts)
  end

  @doc "The program of a paused run."
  @spec again!(String.t()) :: Program.t()
  def again!(source) do
    case Lisp.compile(source) do
      {:ok, program} ->
        program

      {:error, error} ->
        raise ArgumentError,
              "the program of the paused run is not one: #{Lisp.format_error(error)}"
    end
  end

  defp compiled(%Program{} = program, _opts), do: {:ok, program}

  defp compiled(source, opts) when is_binary(source) do
    fence = "```clojure\n#{source}\n```"
    with {:ok, program, _warnings} <- Source.read(fence, opts), do: {:ok, program}
  end

  defp compiled(other, _opts) do
    raise ArgumentError,
          "a program of PTC-Lisp is a text or a PtcRunner.Lisp.Program, got: " <>
            PtcRunner.Shown.text(other, 200)
  end

  defp nothing(opts, warnings) do
    memory = Keyword.get(opts, :memory, %{})

    %{
      memory: memory,
      delta: %{},
      tool_calls: [],
      dropped_calls: %{},
      prints: [],
      made: "",
      warnings: warnings
    }
  end

  defp result({:fail, value}, opts, info) do
    error = {:failed, message(value)}
    failed(error, Told.failed(error, nil, info.prints, info.made), info, opts)
  end

  defp result({_how, value}, opts, info) do
    case judged(value, opts) do
      {:ok, value, warnings} ->
        {:ok, value, Approval.told(%{info | warnings: info.warnings ++ warnings}, opts)}

      {:error, errors} ->
        told = Told.unfit(errors, value, info.prints, info.made)
        failed({:invalid_result, errors}, told, info, opts)
    end
  end

  defp failed(error, told, info, opts),
    do:
      if(opts[:info],
        do: {:error, error, told, Approval.told(info, opts)},
        else: {:error, error, told}
      )

  @doc """
  What a program that has called `(fail value)` says.

      iex> for value <- ["no data", %{"code" => 7}], do: PtcRunner.Agent.Lisp.Run.message(value)
      ["no data", ~S({"code" 7})]

  """
  @spec message(term()) :: String.t()
  def message(text) when is_binary(text), do: PtcRunner.Shown.cut(text, 4_000)
  def message(value), do: Told.shown(value)

  @doc "Runs a program; an error includes the record of what happened before it."
  @spec noted(Program.t(), [Tool.t()], keyword()) ::
          {:ok, ended(), map()}
          | {:error, {atom(), String.t()}, String.t(), map()}
          | {:paused, Json.Paused.t(), map()}
  def noted(program, tools, opts) do
    memory = Keyword.get(opts, :memory, %{})
    given_to_tools = ToolContext.named(opts[:tool_context])
    field = Firewalled.mentioned(program)

    bound =
      for tool <- tools, do: tool |> ToolContext.bound(given_to_tools) |> answering(field, opts)

    public = opts |> Keyword.get(:context, %{}) |> JsonRun.named() |> public(program, field, opts)

    run = fn functions, record ->
      with {:ok, context} <- public,
           do: ran(program, functions, tools, record, Keyword.put(opts, :context, context)),
           else: (refused -> {refused, nil})
    end

    recording = Keyword.take(opts, [:recorded_calls, :recorded_bytes])
    {{result, decided}, noted} = Calls.noted(bound, recording, run)
    # What the run had called before it was paused.
    made = Watching.audited(noted.calls, given_to_tools)
    told = Keyword.get(opts, :made_before, "") <> noted.told

    info = %{
      memory: memory,
      delta: %{},
      tool_calls: Keyword.get(opts, :tool_calls_before, []) ++ made,
      dropped_calls: noted.dropped,
      prints: [],
      made: told,
      approval: decided,
      warnings: JsonRun.warnings(noted)
    }

    case result do
      {:paused, paused} ->
        {:paused, paused, info}

      {:ok, step} ->
        {:ok, ended(step.return), with_step(info, step)}

      {:error, %Step{} = step} ->
        error = {step.fail.reason, step.fail.message}
        at = ErrorPlace.line(program.source, step.usage)
        {:error, error, Told.failed(error, at, step.prints, told), with_step(info, step)}

      # It has not begun.
      {:error, {reason, text}} ->
        {:error, {reason, text}, Told.failed({reason, text}, nil, [], told), info}
    end
  end

  defp with_step(info, step) do
    delta = delta(info.memory, step.memory)
    %{info | memory: step.memory, delta: delta, prints: step.prints}
  end

  defp ended({:__ptc_return__, value}), do: {:return, value}
  defp ended({:__ptc_fail__, value}), do: {:fail, value}
  defp ended(value), do: {:value, value}

  defp delta(before, memory) do
    for {name, value} <- memory, Map.fetch(before, name) != {:ok, value}, into: %{} do
      {name, value}
    end
  end

  defp ran(program, functions, tools, record, opts) do
    given = given(functions, opts)

    own = %{
      budget: opts[:budget],
      settings: Watching.settings(tools),
      run_id: opts[:run_id],
      forms: Map.new(tools, &{&1.name, &1})
    }

    given = %{given | own: Watching.control(own, tools, opts, record)}

    cond do
      opts[:replays] ->
        {replayed(program, given, record, opts), nil}

      opts[:resumes] ->
        {approval, decided} = Approval.asked(tools, opts, fn -> plan(program, given) end)
        {approval |> again(given) |> resumed(opts), decided}

      true ->
        {approval, decided} = Approval.asked(tools, opts, fn -> plan(program, given) end)
        {approved(approval, program, given), decided}
    end
  end

  defp plan(program, %Given{own: %{forms: forms, settings: settings}} = given) do
    case Preparing.with_memory(program, given) do
      {:ok, program} ->
        {:ok, Planning.of(program, forms, settings, {given.context, given.memory}, nil)}

      # Its run says what is wrong with it.
      error ->
        {:error, error}
    end
  end

  defp approved({:error, _refused} = refused, _program, _given), do: refused
  defp approved(:run, program, given), do: Evaluation.run(program, given)

  defp approved({:within, plans}, program, given),
    do: Evaluation.run(program, %{given | within: given.within ++ plans})

  defp approved({:hold, plan}, program, given),
    do: Evaluation.run(program, %{given | own: Map.put(given.own, :hold, plan)})

  defp again({:again, plans}, given),
    do: %{given | within: Approval.shared(given.within) ++ plans}

  defp again(:run, given), do: given
  defp again({:error, _refused} = refused, _given), do: refused

  defp resumed({:error, _refused} = refused, _opts), do: refused

  defp resumed(given, opts) do
    {paused, decisions} = opts[:resumes]

    with {:ok, program, given} <- GoingOn.prepared(paused, decisions, given, opts),
         do: Evaluation.run(program, given)
  end

  # The journal answers: no tool is called, and what is said of tools does not count.
  defp replayed(program, %Given{memory: memory} = given, record, opts) do
    watch = Watching.replay(record, opts)

    Replaying.run(opts[:replays], {program, memory}, watch, fn answers, now ->
      Evaluation.run(program, %{given | own: answers, now: given.now || now})
    end)
  end

  defp given(functions, opts) do
    context = opts |> Keyword.get(:context, %{}) |> written()
    memory = Keyword.get(opts, :memory, %{})
    firewall? = opts[:firewall] != false

    Given.read(
      [context: context, memory: memory, tools: functions, firewall: firewall?] ++
        [turn_history: Keyword.get(opts, :history, [])] ++ Keyword.take(opts, @running)
    )
  end

  # A JSON text stands for its value.
  defp written(context) do
    {texts, values} = Enum.split_with(context, &match?({_name, %Text{}}, &1))
    values |> Map.new() |> Values.written() |> Map.merge(Map.new(texts))
  end

  # The data that the program sees. One that names a firewalled field would find nothing there.
  defp public(context, program, field, opts) do
    public = Allowed.data!(context, opts)

    named =
      for name <- program.names.data, other <- [name, String.replace(name, "-", "_")], do: other

    case field && Enum.find(named, &(Map.get(public, &1) !== Map.get(context, &1))) do
      nil -> {:ok, public}
      name -> {:error, {:validation_error, names_field(field, "data/#{name}")}}
    end
  end

  defp names_field(field, what),
    do:
      "The program names the field #{field}, and #{what} has it, or other firewalled fields. Write it without such fields"

  # Programs read structs as maps of their fields, so what is firewalled is left out before.
  defp answering(%Tool{fun: fun} = tool, field, opts) do
    look = if opts[:firewall] != false and Hidden.answered?([tool]), do: {:public, field}
    seen = if tool.batch == nil, do: &answer(&1, look), else: &answers(&1, look)
    signature = if look, do: answered(tool.signature), else: tool.signature
    %{tool | fun: fn args -> args |> fun.() |> seen.() end, signature: signature}
  end

  # What is left out of an answer is not expected there.
  defp answered(nil), do: nil

  defp answered({:signature, params, returns}) do
    {:signature, [], returns} = Signature.public_view({:signature, [], returns})
    {:signature, params, returns}
  end

  # Of calls that were made together. What is no list of answers is the error of each call.
  defp answers({:ok, answers}, look), do: {:ok, answers(answers, look)}
  defp answers([answer | rest], look), do: [one_of(answer, look) | answers(rest, look)]
  defp answers(other, _look), do: other

  # An answer that the program must not see is the error of its own call.
  defp one_of(answer, look) do
    answer(answer, look)
  rescue
    error in RuntimeError -> {:error, ToolError.new(Exception.message(error))}
  end

  defp answer({:ok, value}, look), do: {:ok, seen(value, look)}
  defp answer({:error, _reason} = error, _look), do: error
  defp answer(value, look), do: seen(value, look)

  defp seen(value, look) do
    case unhidden(value, look) do
      %Text{} = text -> text
      value -> Values.written(value)
    end
  end

  defp unhidden(value, nil), do: value

  # It has been called, so this is no refusal.
  defp unhidden(value, {:public, field}) do
    case Firewalled.part(value) do
      {:ok, public} when public === value or field == nil -> public
      {:ok, _public} -> raise names_field(field, "its answer")
      :error -> raise "its answer may have firewalled fields. " <> Allowed.only_json()
    end
  end

  @doc """
  The value as the application gets it, if it fits: keywords that are keys are texts, and converted as `PtcRunner.Agent.Result` says.

      iex> signature = PtcRunner.SubAgent.Signature.parsed!("{name :string, n :int}")
      iex> PtcRunner.Agent.Lisp.Run.judged(%{:name => "a", "n" => 2.0}, returns: signature)
      {:ok, %{"name" => "a", "n" => 2}, ["n: converted 2.0 to an integer"]}

  """
  @spec judged(term(), keyword()) :: {:ok, term(), [String.t()]} | {:error, [map()]}
  def judged(value, opts) do
    signature = opts[:returns]

    allowed =
      if signature,
        do: PtcRunner.SubAgent.Signature.Annotations.of!(opts, elem(signature, 2)).enums,
        else: %{}

    value |> named() |> Result.fit(signature, {allowed, :infinity})
  end

  @doc """
  A value with texts as the keys of its maps.

      iex> PtcRunner.Agent.Lisp.Run.named([%{:name => :first, "id" => 1}])
      [%{"name" => :first, "id" => 1}]

  """
  @spec named(term()) :: term()
  def named(value), do: if(named?(value), do: value, else: renamed(value))

  defp named?(map) when is_map(map) and not is_struct(map),
    do: Enum.all?(map, fn {key, value} -> not is_atom(key) and named?(value) end)

  defp named?([item | rest]), do: named?(item) and named?(rest)
  defp named?(_other), do: true

  defp renamed(map) when is_map(map) and not is_struct(map),
    do: Map.new(map, fn {key, value} -> {name(key), renamed(value)} end)

  defp renamed([item | rest]), do: [renamed(item) | renamed(rest)]
  defp renamed(other), do: other

  defp name(key) when is_atom(key), do: Atom.to_string(key)
  defp name(key), do: key
end
