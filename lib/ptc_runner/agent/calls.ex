defmodule PtcRunner.Agent.Calls do
  @moduledoc false
  # Wraps tools for a run: functions that coerce and validate their arguments, validate the tool's
  # result, and record the call.

  require Logger

  alias PtcRunner.SubAgent.Signature.Base
  alias PtcRunner.Agent.{Literals, Made, Record, SchemaCall, Spec, Tool, ToolError}
  alias PtcRunner.Sandbox.Guarded
  alias PtcRunner.Shown
  alias PtcRunner.Shown.Line
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.Json.{Text, Texts, ToolWorker, Values}
  alias PtcRunner.SubAgent.KeyNormalizer
  alias PtcRunner.SubAgent.Signature.{Enums, ErrorText, Exact, ToolCall}

  # Maximum number of bytes of a result that are kept.
  @shown 256

  @unfit "its result is not what its signature says. "

  # Maximum number of undeclared arguments that are reported.
  @most 20

  # The tag of errors that are found after the arguments have been coerced. No tool has it.
  @refused :__ptc_refused_arguments__

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
          {tool.name, fn args -> call(tool, args, record) end}
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
    begin = fn _args, passed -> passed |> tool.fun.() |> unwrapped(tool) end
    logged = :counters.new(1, [])

    fn raw ->
      case answer(tool, raw, begin) do
        {:ok, value, _warnings} ->
          log(tool, undeclared(tool, raw), logged)
          value

        {:error, reason} ->
          {:error, ToolError.new(reason)}

        {_unfit, text} ->
          {:error, ToolError.new(text)}
      end
    end
  end

  # A run logs a number of calls of a tool at most.
  defp log(_tool, [], _logged), do: :ok

  defp log(tool, names, logged) do
    :counters.add(logged, 1, 1)

    if :counters.get(logged, 1) <= @most,
      do: Logger.warning("tool #{Shown.quoted(tool.name)}: #{Shown.few(names, &dropped/1)}")
  end

  # A call of a program. The errors of the tool itself pass through.
  defp call(tool, raw, record) do
    key = Record.key()

    # `passed` are the arguments as the function takes them: other keys alone are no difference.
    begin = fn args, passed ->
      Record.began(record, key, tool.name, passed, if(raw === args, do: passed, else: raw))
      passed |> tool.fun.() |> unwrapped(tool)
    end

    try do
      answer(tool, raw, begin)
    catch
      kind, reason ->
        text = Guarded.failure(kind, reason, __STACKTRACE__)
        Record.ended(record, key, {:error, text, [], true})
        :erlang.raise(kind, reason, __STACKTRACE__)
    else
      {:ok, value, warnings} ->
        warnings = Enum.map(undeclared(tool, raw), &dropped/1) ++ warnings
        Record.ended(record, key, {:ok, Texts.shown(value, @shown), warnings, value})
        value

      {:error, reason} ->
        failed(record, key, {:error, false}, reason)

      {:unfit, text} ->
        failed(record, key, {:error, true}, text)

      {:refused, text} ->
        Record.began(record, key, tool.name, raw, raw)
        failed(record, key, {:refused, false}, text)
    end
  end

  defp dropped(name) when is_binary(name),
    do: "dropped the undeclared argument #{Shown.quoted(name)}"

  defp dropped(name), do: "dropped the undeclared argument #{Shown.text(name, 200)}"

  # The arguments that are not passed on, because validation does not find them under a declared name: also those in
  # another spelling, and those inside other arguments, by their paths.
  defp undeclared(%Tool{data: data}, _raw) when data != nil, do: []

  defp undeclared(%Tool{signature: {:signature, params, _returns}}, raw) when is_map(raw),
    do: {:map, params} |> undeclared(raw, nil) |> Enum.sort() |> Enum.take(@most)

  defp undeclared(_tool, _raw), do: []

  defp undeclared({:optional, type}, value, path), do: undeclared(type, value, path)

  defp undeclared({kind, _, _} = type, value, path) when kind in [:where, :struct, :defs],
    do: undeclared(Base.bare(type), value, path)

  defp undeclared({:list, type}, [_ | _] = list, path) do
    if is_atom(type) or List.improper?(list),
      do: [],
      else: list |> Enum.take(@most) |> Enum.flat_map(&undeclared(type, &1, path)) |> Enum.uniq()
  end

  defp undeclared({kind, fields}, map, path) when kind in [:map, :closed_map] and is_map(map) do
    known = Map.new(Enum.flat_map(fields, &spellings/1))

    Enum.flat_map(:maps.to_list(map), fn {key, value} ->
      name = if is_atom(key), do: Atom.to_string(key), else: key

      case known do
        %{^name => type} when is_atom(type) -> []
        %{^name => type} -> undeclared(type, value, joined(path, name))
        _unknown -> [joined(path, key)]
      end
    end)
  end

  defp undeclared(_type, _value, _path), do: []

  # The keys under which validation finds a field.
  defp spellings({name, type}),
    do: for(spelling <- KeyNormalizer.spellings(name), do: {spelling, type})

  defp joined(nil, key), do: key
  defp joined(path, key) when is_binary(path) and is_binary(key), do: path <> "." <> key
  defp joined(_path, key), do: key

  # An error that the tool itself returns is its answer, and says that nothing has happened.
  defp failed(record, key, {status, effect?}, reason) do
    error = ToolError.new(reason)
    Record.ended(record, key, {status, Shown.cut(error.text), [], effect?})
    {:error, error}
  end

  # A row that is a struct is an object to the program, so it fits the type of an object by its fields. Nothing has been called where
  # the arguments are refused.
  defp answer(tool, args, begin) do
    with {:refused, _message} = refused <- judged(tool, args, begin) do
      case Values.written(args) do
        ^args -> refused
        written -> judged(tool, written, begin)
      end
    end
  end

  defp judged(%Tool{data: data} = tool, args, begin) when data != nil do
    case SchemaCall.call(tool, args, begin) do
      {:refused, message} -> {:refused, wrong_arguments(tool, message)}
      {:unfit, message} -> {:unfit, @unfit <> message}
      answered -> answered
    end
  end

  defp judged(%Tool{signature: nil}, args, begin) do
    case begin.(args, args) do
      {:error, reason} -> {:error, reason}
      value -> {:ok, value, []}
    end
  end

  defp judged(%Tool{} = tool, args, begin) do
    # A signature does not know structs, and programs read them as maps of their fields.
    checked = &checked(tool, args, &1, begin)

    reading = {&(&1 |> Values.plain() |> Exact.converted(returns(tool))), &is_struct(&1, Text)}

    case ToolCall.call(signature(tool), args, checked, :enabled, reading) do
      {:ok, value, warnings} ->
        {:ok, value, warnings}

      {:error, {:tool_error, {@refused, errors}}} ->
        {:refused, wrong_arguments(tool, ErrorText.text(errors, args, []))}

      {:error, {:tool_error, reason}} ->
        {:error, reason}

      {:error, {:invalid_input, errors, message}} ->
        {:refused, wrong_arguments(tool, with_enums(tool, args, errors, message))}

      {:error, {:invalid_output, _errors, message}} ->
        {:unfit, @unfit <> message}
    end
  end

  # The values outside of enumerations are told with the others.
  defp with_enums(
         %Tool{notes: %{enums: enums}, signature: {:signature, params, _}},
         args,
         errors,
         message
       )
       when enums != %{} and is_map(args) do
    case Enums.beside(errors, Values.plain(args), {:map, params}, enums, :infinity) do
      ^errors -> message
      all -> ErrorText.text(all, args, [])
    end
  end

  defp with_enums(_tool, _args, _errors, message), do: message

  defp wrong_arguments(%Tool{signature: nil}, message), do: message

  defp wrong_arguments(tool, message) do
    # Without arguments, the text of a signature begins with its arrow.
    none = if match?({:signature, [], _returns}, tool.signature), do: "() "
    signature = Line.escape(Signature.render(tool.signature))
    "#{message}\nIt is #{Shown.name(tool.name)}#{none}#{signature}"
  end

  defp signature(%Tool{spec: {signature, _form}}), do: signature
  defp signature(%Tool{signature: signature}), do: signature

  defp checked(tool, raw, args, begin) do
    {:signature, params, _returns} = signature(tool)

    with [] <- Literals.of_coercion(raw, args, {:map, params}),
         [] <- not_allowed(tool, args),
         {:ok, passed} <- passed(tool, args) do
      begin.(args, passed)
    else
      {:error, errors} -> {:error, {@refused, errors}}
      errors -> {:error, {@refused, errors}}
    end
  end

  defp not_allowed(%Tool{notes: nil}, _args), do: []

  defp not_allowed(%Tool{notes: notes, signature: {:signature, params, _}}, args),
    do: Enums.errors(args, {:map, params}, notes.enums, :infinity)

  # The function gets what its spec says.
  defp passed(%Tool{spec: nil}, args), do: {:ok, args}
  defp passed(%Tool{spec: {_signature, form}}, args), do: Spec.given(args, form)

  # Programs have no tuples, and the atom is what functions answer whose errors have no reason.
  defp unwrapped({:ok, value}, tool), do: typed(value, tool)
  defp unwrapped(:error, _tool), do: {:error, "the tool answered :error"}
  defp unwrapped(other, tool), do: typed(other, tool)

  defp typed(%Text{} = text, tool) do
    type = returns(tool)

    if Exact.within?(type),
      do: Texts.exact(text, type),
      else: Texts.typed(text, if(ToolWorker.in_place?(), do: type))
  end

  defp typed(other, _tool), do: other

  # What only is a warning is no reason to refuse a text.
  defp returns(%Tool{data: %{results: :warn_only}}), do: :any
  defp returns(%Tool{signature: nil}), do: :any

  defp returns(%Tool{} = tool) do
    {:signature, _params, returns} = signature(tool)
    returns
  end
end
