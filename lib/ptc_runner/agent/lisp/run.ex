defmodule PtcRunner.Agent.Lisp.Run do
  @moduledoc false
  # Runs one program of PTC-Lisp with validated tool calls, and judges its result.

  alias PtcRunner.Agent.{Calls, Result, Tool}
  alias PtcRunner.Agent.Lisp.{Allowed, Source, Told}
  alias PtcRunner.Agent.Run, as: JsonRun
  alias PtcRunner.Firewall.Hidden
  alias PtcRunner.Json.{Text, ToolContext, Values}
  alias PtcRunner.Lisp.{Evaluation, Given, Program}
  alias PtcRunner.Agent.Record

  @typedoc "How a run ended that has not failed."
  @type ended :: {:value | :return | :fail, term()}

  @doc "See `PtcRunner.Agent.run/3`; the options are already validated."
  @spec run(Program.t() | String.t(), [Tool.t()], keyword()) ::
          {:ok, term(), map()}
          | {:error, term(), String.t()}
          | {:error, term(), String.t(), map()}
  def run(program, tools, opts) do
    Allowed.tools!(tools, opts)
    Allowed.data!(JsonRun.named(Keyword.get(opts, :context, %{})), opts)
    warnings = Tool.warnings(tools)
    budget = JsonRun.budget(tools, opts, nil)

    with {:ok, program} <- compiled(program, opts),
         {:ok, ended, info} <- noted(program, tools, [{:budget, budget} | opts]) do
      result(ended, opts, %{info | warnings: warnings ++ info.warnings})
    else
      {:error, error, told} -> failed(error, told, nothing(opts, warnings), opts)
      {:error, error, told, info} -> failed(error, told, info, opts)
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
    failed(error, Told.failed(error, info.prints, info.made), info, opts)
  end

  defp result({_how, value}, opts, info) do
    case judged(value, opts) do
      {:ok, value, warnings} ->
        {:ok, value, shown(%{info | warnings: info.warnings ++ warnings})}

      {:error, errors} ->
        told = Told.unfit(errors, value, info.prints, info.made)
        failed({:invalid_result, errors}, told, info, opts)
    end
  end

  defp failed(error, told, info, opts),
    do: if(opts[:info], do: {:error, error, told, shown(info)}, else: {:error, error, told})

  defp shown(info), do: Map.delete(info, :made)

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
          {:ok, ended(), map()} | {:error, {atom(), String.t()}, String.t(), map()}
  def noted(program, tools, opts) do
    memory = Keyword.get(opts, :memory, %{})
    given_to_tools = ToolContext.named(opts[:tool_context])
    bound = for tool <- tools, do: tool |> ToolContext.bound(given_to_tools) |> answering(opts)

    run = fn functions, record ->
      Evaluation.run(program, given(functions, tools, record, memory, opts))
    end

    recording = Keyword.take(opts, [:recorded_calls, :recorded_bytes])
    {{how, step}, noted} = Calls.noted(bound, recording, run)

    info = %{
      memory: step.memory,
      delta: delta(memory, step.memory),
      tool_calls: JsonRun.audited(noted.calls, given_to_tools),
      dropped_calls: noted.dropped,
      prints: step.prints,
      made: noted.told,
      warnings: JsonRun.warnings(noted)
    }

    case how do
      :ok ->
        {:ok, ended(step.return), info}

      :error ->
        error = {step.fail.reason, step.fail.message}
        {:error, error, Told.failed(error, step.prints, noted.told), info}
    end
  end

  defp ended({:__ptc_return__, value}), do: {:return, value}
  defp ended({:__ptc_fail__, value}), do: {:fail, value}
  defp ended(value), do: {:value, value}

  defp delta(before, memory) do
    for {name, value} <- memory, Map.fetch(before, name) != {:ok, value}, into: %{} do
      {name, value}
    end
  end

  defp given(functions, tools, record, memory, opts) do
    context = opts |> Keyword.get(:context, %{}) |> JsonRun.named() |> Values.written()

    options =
      [context: context, memory: memory, tools: forms(functions, tools)] ++
        [turn_history: Keyword.get(opts, :history, [])] ++
        Keyword.take(opts, [:timeout, :max_heap])

    %{Given.read(options) | calls: calls(tools, record, opts[:budget])}
  end

  defp forms(functions, tools) do
    for %Tool{name: name, cache: cache?} <- tools, into: %{} do
      function = Map.fetch!(functions, name)

      {name, if(cache?, do: {function, cache: true}, else: function)}
    end
  end

  # What counts and limits the calls, and who is told of those that a cache answers.
  defp calls(tools, record, budget) do
    %{
      budget: budget,
      timeouts:
        for(%Tool{timeout: timeout, name: name} <- tools, timeout, into: %{}, do: {name, timeout}),
      cached: record && (&cached(record, &1, &2, &3))
    }
  end

  defp cached(record, name, args, value) do
    Record.decided(record, %{
      tool: name,
      args: args,
      given: args,
      asked: nil,
      decision: :cache,
      by: :cache,
      note: nil,
      at: nil,
      key: nil,
      outcome: {:ok, value, 0}
    })
  end

  # Programs read structs as maps of their fields, and nothing conceals what is firewalled.
  defp answering(%Tool{fun: fun} = tool, opts) do
    look? = opts[:firewall] != false and Hidden.answered?([tool])
    %{tool | fun: fn args -> args |> fun.() |> answer(look?) end}
  end

  defp answer({:ok, value}, look?), do: {:ok, seen(value, look?)}
  defp answer({:error, _reason} = error, _look?), do: error
  defp answer(value, look?), do: seen(value, look?)

  defp seen(%Text{} = text, look?), do: unhidden(text, look?)
  defp seen(value, look?), do: value |> unhidden(look?) |> Values.written()

  # It has been called, so this is no refusal.
  defp unhidden(value, look?) do
    if look? and Hidden.in?([value]),
      do: raise("its answer has firewalled fields. " <> Allowed.only_json()),
      else: value
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
