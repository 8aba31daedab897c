defmodule PtcRunner.Agent.Calls do
  @moduledoc false
  # Wraps tools for a run: functions that coerce and validate their arguments, validate the tool's
  # result, and record the call.

  require Logger

  alias PtcRunner.Agent.{Arguments, Made, Record, SchemaCall, Tool, ToolError}
  alias PtcRunner.Sandbox.Guarded
  alias PtcRunner.Shown
  alias PtcRunner.Json.{Batch, Keyed, Text, Texts, ToolWorker, Values}
  alias PtcRunner.SubAgent.Signature.{Exact, ToolCall}

  # Maximum number of bytes of a result that are kept.
  @shown 256

  @unfit "its result is not what its signature says. "

  # Maximum number of calls of a tool whose undeclared arguments are logged.
  @most 20

  # What is recorded of a run by default: calls, and bytes of their arguments.
  @calls 1_000
  @bytes 1_000_000

  @typedoc "The calls of a run, what the model is told about them, and how many of which tools are not recorded."
  @type noted :: %{
          calls: [Record.call()],
          told: String.t(),
          dropped: %{String.t() => pos_integer()}
        }

  @doc """
  Calls `fun` with the tools' functions; returns its result and the calls. The options `:recorded_calls` and
  `:recorded_bytes` bound the record.
  """
  @spec noted(
          [Tool.t()],
          keyword(),
          (%{String.t() => (map() -> term())}, Record.t() | nil -> result)
        ) :: {result, noted()}
        when result: term()
  def noted([], _opts, fun), do: {fun.(%{}, nil), %{calls: [], told: "", dropped: %{}}}

  def noted(tools, opts, fun) do
    most = Keyword.get(opts, :recorded_calls, @calls)
    bytes = Keyword.get(opts, :recorded_bytes, @bytes)
    record = Record.new(Enum.map(tools, & &1.name), most, bytes)

    try do
      # What a function holds is copied to the process of the tools.
      functions =
        for tool <- tools, tool = %{tool | prepared: nil}, into: %{} do
          {tool.name, fn args -> recorded(tool, args, record) end}
        end

      result = fun.(functions, record)
      {calls, dropped} = Record.read(record)
      told = Made.text(calls, dropped, for(%{effect: :read, name: name} <- tools, do: name))
      {result, %{calls: Enum.map(calls, &elem(&1, 0)), told: told, dropped: dropped}}
    after
      Record.delete(record)
    end
  end

  @doc """
  The function of a tool with its arguments and its result validated, without a record. Arguments that the signature does not declare are
  not passed on. Nobody reads the warnings of such a run, so they are logged.
  """
  @spec validated(Tool.t()) :: (term() -> term())
  def validated(tool) do
    tool = %{tool | prepared: nil}
    begin = fn _args, passed -> called(tool, passed) end
    logged = :counters.new(1, [])

    fn
      %Batch{calls: calls} ->
        read = Enum.map(calls, &read(tool, &1))

        for {{_given, raw, _read}, answer} <- Enum.zip(read, together(tool, read)),
            do: plain(answer, tool, raw, logged)

      raw ->
        tool |> answer(raw, begin) |> plain(tool, raw, logged)
    end
  end

  defp plain({:ok, value, _warnings}, tool, raw, logged) do
    log(tool, Arguments.undeclared(tool, raw), logged)
    value
  end

  defp plain({_error, reason}, _tool, _raw, _logged), do: {:error, ToolError.new(reason)}

  # What the function answers to the arguments of one call.
  defp called(%Tool{batch: nil} = tool, passed), do: passed |> tool.fun.() |> unwrapped(tool)

  defp called(tool, passed) do
    [answer] = Batch.answers(tool.fun, [Batch.alone(passed)])
    unwrapped(answer, tool)
  end

  # Several calls at once: those whose arguments are not refused go to the function together, and each answer is judged as if it were alone.
  defp read(tool, given) do
    raw = Keyed.args(given)
    {given, raw, Arguments.read(tool, raw)}
  end

  defp together(tool, read) do
    case for {given, _raw, {:ok, _args, passed, _warnings}} <- read,
             do: Keyed.with_args(given, passed) do
      [] -> judged(read, [], tool)
      calls -> judged(read, Batch.answers(tool.fun, calls), tool)
    end
  end

  defp judged([{_given, _raw, {:ok, _args, _passed, warnings}} | read], [answer | rest], tool) do
    judged =
      case unwrapped(answer, tool) do
        {:error, reason} -> {:error, reason}
        value -> result(tool, value, warnings)
      end

    [judged | judged(read, rest, tool)]
  end

  defp judged([{_given, _raw, {:refused, _errors, _args, text}} | read], answers, tool),
    do: [{:refused, text} | judged(read, answers, tool)]

  defp judged([], [], _tool), do: []

  # A run logs a number of calls of a tool at most.
  defp log(_tool, [], _logged), do: :ok

  defp log(tool, names, logged) do
    :counters.add(logged, 1, 1)

    if :counters.get(logged, 1) <= @most,
      do: Logger.warning("tool #{Shown.quoted(tool.name)}: #{Shown.few(names, &dropped/1)}")
  end

  # Calls of a program that are made together.
  defp recorded(tool, %Batch{calls: calls}, record) do
    read = Enum.map(calls, &read(tool, &1))
    keys = for one <- read, do: {Record.key(), one}

    for {key, {given, raw, read}} <- keys,
        do: Keyed.of(given, fn -> began(record, key, tool, raw, read) end)

    recording(record, for({key, {_, _, {:ok, _, _, _}}} <- keys, do: key), fn ->
      together(tool, read)
    end)
    |> Enum.zip(keys)
    |> Enum.map(fn {answer, {key, {_given, raw, _read}}} ->
      ended(answer, tool, raw, record, key)
    end)
  end

  # A call of a program. The errors of the tool itself pass through.
  defp recorded(tool, raw, record) do
    key = Record.key()

    begin = fn args, passed ->
      began(record, key, tool, raw, {:ok, args, passed, []})
      called(tool, passed)
    end

    case recording(record, [key], fn -> answer(tool, raw, begin) end) do
      {:refused, text} = refused ->
        began(record, key, tool, raw, {:refused, [], raw, text})
        ended(refused, tool, raw, record, key)

      answer ->
        ended(answer, tool, raw, record, key)
    end
  end

  # `passed` are the arguments as the function takes them: other keys alone are no difference.
  defp began(record, key, tool, raw, {:ok, args, passed, _warnings}),
    do: Record.began(record, key, tool.name, passed, if(raw === args, do: passed, else: raw), raw)

  defp began(record, key, tool, raw, {:refused, _errors, _args, _text}),
    do: Record.began(record, key, tool.name, raw, raw, raw)

  defp recording(record, keys, fun) do
    fun.()
  catch
    kind, reason ->
      text = Guarded.failure(kind, reason, __STACKTRACE__)
      for key <- keys, do: Record.ended(record, key, {:error, text, [], true})
      :erlang.raise(kind, reason, __STACKTRACE__)
  end

  defp ended(answer, tool, raw, record, key) do
    case answer do
      {:ok, value, warnings} ->
        warnings = Enum.map(Arguments.undeclared(tool, raw), &dropped/1) ++ warnings
        Record.ended(record, key, {:ok, Texts.shown(value, @shown), warnings, value})
        value

      {:error, reason} ->
        failed(record, key, {:error, false}, reason)

      {:unfit, text} ->
        failed(record, key, {:error, true}, text)

      {:refused, text} ->
        failed(record, key, {:refused, false}, text)
    end
  end

  defp dropped(name) when is_binary(name),
    do: "dropped the undeclared argument #{Shown.quoted(name)}"

  defp dropped(name), do: "dropped the undeclared argument #{Shown.text(name, 200)}"

  # An error that the tool itself returns is its answer, and says that nothing has happened.
  defp failed(record, key, {status, effect?}, reason) do
    error = ToolError.new(reason)
    Record.ended(record, key, {status, Shown.cut(error.text), [], effect?})
    {:error, error}
  end

  # Nothing has been called where the arguments are refused.
  defp answer(tool, raw, begin) do
    with {:ok, args, passed, warnings} <- Arguments.read(tool, raw) do
      case begin.(args, passed) do
        {:error, reason} -> {:error, reason}
        value -> result(tool, value, warnings)
      end
    else
      {:refused, _errors, _args, text} -> {:refused, text}
    end
  end

  defp result(%Tool{data: nil, signature: nil}, value, warnings), do: {:ok, value, warnings}

  defp result(%Tool{data: data} = tool, value, warnings) when data != nil,
    do: tool |> SchemaCall.result(value, warnings) |> fit()

  defp result(tool, value, warnings) do
    {:signature, _params, returns} = Arguments.signature(tool)
    # A signature does not know structs, and programs read them as maps of their fields.
    reading = {&(&1 |> Values.plain() |> Exact.converted(returns)), &is_struct(&1, Text)}
    returns |> ToolCall.output(value, :enabled, warnings, reading) |> fit()
  end

  defp fit({:error, {:invalid_output, _errors, text}}), do: {:unfit, @unfit <> text}
  defp fit(answered), do: answered

  # Programs have no tuples, and the atom is what functions answer whose errors have no reason.
  defp unwrapped({:ok, value}, tool), do: typed(value, tool)
  defp unwrapped(:error, _tool), do: {:error, "the tool answered :error"}
  defp unwrapped(other, tool), do: typed(other, tool)

  defp typed(%Text{} = text, tool) do
    type = returns(tool)

    if Exact.made?(type),
      do: Texts.exact(text, type),
      else: Texts.typed(text, if(ToolWorker.in_place?(), do: type))
  end

  defp typed(other, _tool), do: other

  # What only is a warning is no reason to refuse a text.
  defp returns(%Tool{data: %{results: :warn_only}}), do: :any
  defp returns(%Tool{signature: nil}), do: :any

  defp returns(%Tool{} = tool) do
    {:signature, _params, returns} = Arguments.signature(tool)
    returns
  end
end
