defmodule PtcRunner.Json.Check do
  @moduledoc false
  # Checks a program against types: reads what is known of its data, calls the native checker, and words its findings.

  alias PtcRunner.{Aligned, Native, Quanta}
  alias PtcRunner.Agent.Tool
  alias PtcRunner.Agent.Tool.{Names, Schemas}
  alias PtcRunner.Json
  alias PtcRunner.Json.{Checked, Codec, Limits, Message, Program, Text}
  alias PtcRunner.Json.Check.{Arguments, Constants, Enums, Words}
  alias PtcRunner.Native.Panic
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Base, Coercion, Given}
  require Quanta

  # Maximum number of rows of a sample.
  @rows 1_000

  # A path of so many parts may not be whole (`native/ptc_program/src/typing/reply.rs`).
  @most_parts 64
  @results [:wrong_result, :maybe_wrong_result]

  @typedoc "What is known: types by name, signatures of tools by name, the result's type, and that type with its rules; nil where nothing is known."
  @type known :: %{
          required(:context) => map() | nil,
          required(:memory) => map() | nil,
          required(:tools) => map() | nil,
          required(:returns) => term(),
          optional(:ruled) => term(),
          optional(:callees) => %{String.t() => Tool.t()}
        }

  @typedoc "A finding with its severity."
  @type found :: {:error | :warning, Checked.finding()}

  @doc """
  What is known from the options of `PtcRunner.Json.check/2`.

      iex> PtcRunner.Json.Check.known(%{"n" => ":int"}, nil, nil, "[:string]")
      %{context: %{"n" => :int}, memory: nil, tools: nil, returns: {:list, :string}}

  """
  @spec known(map() | nil, map() | nil, map() | nil, term()) :: known()
  def known(context, memory, tools, returns) do
    if twin = tools && Names.twin(tools), do: raise(ArgumentError, Names.twins(twin, "tools"))
    read = for {name, form} <- tools || %{}, do: {"#{name}", tool("#{name}", form)}

    %{
      context: context && types(context),
      memory: memory && types(memory),
      tools: tools && Map.new(read, fn {name, tool} -> {name, tool && of_tool(tool)} end),
      returns: type(returns)
    }
    |> with_tools(read)
    |> with_rules(returns)
  end

  @doc "What is known, with the tools by whose signatures arguments are judged."
  @spec with_tools(map(), [{String.t(), Tool.t() | nil}]) :: map()
  def with_tools(known, tools) do
    case for {name, tool} <- tools, judged?(tool), do: {name, tool} do
      [] -> known
      tools -> Map.put(known, :callees, Map.new(tools))
    end
  end

  defp judged?(nil), do: false
  defp judged?(%Tool{signature: signature, data: data}), do: signature != nil or data != nil

  # A function has the signature of its spec only for agents.
  defp tool(_name, fun) when is_function(fun), do: nil

  defp tool(name, {fun, options} = form) when is_function(fun) and is_list(options) do
    if options[:signature], do: Tool.of!(name, form)
  end

  defp tool(name, form) do
    if signature?(form),
      do: %Tool{name: name, fun: & &1, signature: Signature.parsed!(form)},
      else: Tool.of!(name, form)
  end

  defp signature?(text) when is_binary(text), do: true
  defp signature?({:signature, _params, _type}), do: true
  defp signature?({given, _result}), do: is_list(given) or is_map(given)
  defp signature?(_form), do: false

  @doc """
  What is known, with the rules of the result's type.

      iex> PtcRunner.Json.Check.with_rules(%{returns: :int}, {:where, :int, [min: 1]})
      %{returns: :int, ruled: {:where, :int, [min: 1]}}

      iex> PtcRunner.Json.Check.with_rules(%{returns: :int}, ":int")
      %{returns: :int}

  """
  @spec with_rules(map(), term()) :: map()
  def with_rules(known, {:signature, _params, type}), do: with_rules(known, type)
  def with_rules(known, {:sample, _value}), do: known
  def with_rules(known, text) when is_binary(text), do: with_rules(known, known.returns)

  def with_rules(known, type),
    do: if(Constants.concern?(type), do: Map.put(known, :ruled, type), else: known)

  defp types(map) do
    case Enum.all?(map, fn {name, _type} -> is_binary(name) end) do
      true -> :maps.map(fn _name, type -> type(type) end, map)
      false -> Map.new(map, fn {name, type} -> {"#{name}", type(type)} end)
    end
  end

  @doc """
  A type from the text of a signature, a parsed signature, a sample, or a type.

      iex> PtcRunner.Json.Check.type({:sample, [%{"a" => 1}, %{"a" => "x", "b" => nil}]})
      {:list, {:map, [{"a", {:union, [:int, :string]}}, {"b", {:optional, {:literal, nil}}}]}}

  """
  @spec type(term()) :: Checked.type() | nil
  def type({:sample, value}), do: sampled(value, @rows)
  def type({:signature, _params, type}), do: Base.checked(type)
  def type(text) when is_binary(text), do: text |> Signature.parsed!() |> elem(2)

  def type(type) do
    if Given.given?(type) and not is_tuple(type),
      do: type |> Signature.parsed!() |> type(),
      else: Base.checked(type)
  end

  @doc "The type of a value, of which at most so many items of each list are looked at."
  @spec sampled(term(), pos_integer()) :: Checked.type()
  def sampled(%Text{binary: text}, rows) do
    case Codec.decode(text, timeout: :infinity, max_heap: 0) do
      {:ok, value} ->
        sampled(value, rows)

      {:error, error} ->
        raise ArgumentError, "a sample is no JSON text: #{Exception.message(error)}"
    end
  end

  def sampled(value, rows) do
    {:ok, type} = Quanta.finish(Quanta.native(Native.type_of(value, rows)))
    type
  catch
    :error, :nif_panicked -> Panic.raise!()
  end

  @doc "The signature that the arguments of a tool are checked against."
  @spec of_tool(Tool.t()) :: Signature.t() | nil
  def of_tool(%Tool{prepared: %{checked: checked}}), do: checked
  def of_tool(%Tool{spec: {signature, _form}}), do: signature |> Base.checked() |> noted()

  def of_tool(%Tool{signature: nil, data: data}) when data != nil,
    do: Schemas.checked({:signature, [], :any}, data)

  def of_tool(%Tool{signature: nil}), do: nil

  def of_tool(%Tool{signature: signature, notes: notes, data: data}) do
    {:signature, params, type} = signature |> Signature.parsed!() |> Base.checked()
    checked = {:signature, Enums.typed(params, notes), type}
    if data, do: Schemas.checked(checked, data), else: noted(checked)
  end

  # Calls of such a tool are noted, because the types of the native check do not have all rules.
  defp noted({:signature, params, type}), do: {:signature, params, type, :ruled}

  @doc """
  Checks a program: its type, what it reads and calls, and all findings in the order of the program; or why it is no program.
  """
  @spec run(Json.program(), Limits.reading(), {timeout(), non_neg_integer()}, known()) ::
          {:ok, Checked.t(), [found()]} | {:error, Checked.finding()}
  def run(program, reading, limits, known) do
    case native(program, reading, :findings, known, limits) do
      {:ok, {type, reads, tools, []}} when not is_map_key(known, :ruled) ->
        {:ok, %Checked{type: type, reads: reads, tools: tools}, []}

      {:ok, {type, reads, tools, all}} ->
        {findings, found} =
          all
          |> Enum.reject(&taken?/1)
          |> Enum.map(&(&1 |> coerced() |> dropped(known)))
          |> Arguments.found(known, program)

        found = found ++ for finding <- findings, do: worded(finding)
        found = found ++ constants(type, known, findings, program)
        warnings = for {:warning, finding} <- found, do: finding
        {:ok, %Checked{type: type, reads: reads, tools: tools, warnings: warnings}, found}

      {:rejected, {:error, fault}, path} ->
        fault = Program.error(fault, limits)
        {:error, invalid(fault, ["program" | path], place(program, path))}

      {:error, fault} ->
        {:error, invalid(Program.error(fault, limits), [], nil)}
    end
  end

  @doc """
  The types of a program's operations by their paths; an empty map if it is no program. Operations that are so deep that their paths are not
  whole are left out: several may have the same path.
  """
  @spec types(Json.program(), Limits.reading(), {timeout(), non_neg_integer()}, known()) ::
          %{list() => Checked.type()}
  def types(program, reading, limits, known) do
    case native(program, reading, :observed, known, limits) do
      {:ok, {_type, _reads, _tools, findings}} ->
        for {:note, :has_type, path, _op, [type], _place} <- findings,
            length(path) < @most_parts,
            into: %{},
            do: {["program" | path], type}

      _no_program ->
        %{}
    end
  end

  # Constants that break a rule of the result's type, unless they are found already.
  defp constants(type, %{ruled: ruled}, findings, program) do
    known =
      for {_severity, code, _path, _op, [path | _], _place} <- findings,
          code in @results,
          do: path

    case for({_, path, _} = found <- Constants.found(type, ruled), path not in known, do: found) do
      [] ->
        []

      found ->
        place = place(program, [])

        for {severity, path, reason} <- found do
          code = if severity == :error, do: :wrong_result, else: :maybe_wrong_result
          {message, nil} = Words.of(:rule, nil, [path, reason])
          {severity, finding(code, ["program"], message, nil, place)}
        end
    end
  end

  defp constants(_type, _known, _findings, _program), do: []

  # The atoms nil, true and false are keywords, so null and truth values fit where one is declared.
  defp taken?({_severity, code, _path, _op, details, _place})
       when code in [
              :wrong_argument,
              :maybe_wrong_argument,
              :wrong_result,
              :maybe_wrong_result
            ] do
    case Enum.take(details, -2) do
      [wanted, {:union, got}] -> keyword_in?(wanted) and Enum.all?(got, &keyword?/1)
      [wanted, got] -> keyword_in?(wanted) and atom?(got)
      _other -> false
    end
  end

  defp taken?(_finding), do: false

  defp keyword_in?({:optional, type}), do: keyword_in?(type)
  defp keyword_in?({:union, types}), do: Enum.any?(types, &keyword_in?/1)
  defp keyword_in?(type), do: type == :keyword

  defp atom?(type), do: type == :bool or match?({:literal, atom} when is_atom(atom), type)
  defp keyword?({:literal, text}) when is_binary(text), do: true
  defp keyword?(type), do: type in [:string, :keyword] or atom?(type)

  # The arguments of tools are coerced before they are checked.
  defp coerced({:error, :wrong_argument, path, op, details, place} = finding) do
    [_tool, _argument, _path, wanted, got] = details

    if coercible?(wanted, got),
      do: {:warning, :maybe_wrong_argument, path, op, details, place},
      else: finding
  end

  defp coerced(finding), do: finding

  # An argument that a run drops is no error.
  defp dropped({:error, :unknown_argument, path, op, [name | _] = details, place}, known) do
    severity =
      if match?(%{callees: %{^name => %Tool{data: nil}}}, known), do: :warning, else: :error

    {severity, :unknown_argument, path, op, details, place}
  end

  defp dropped(finding, _known), do: finding

  defp coercible?({:optional, wanted}, got), do: coercible?(wanted, got)
  defp coercible?({:union, wanted}, got), do: Enum.any?(wanted, &coercible?(&1, got))
  defp coercible?(wanted, {:union, got}), do: Enum.any?(got, &coercible?(wanted, &1))

  # A value of an enumeration, after it was coerced.
  defp coercible?({:literal, allowed}, {:literal, value}) do
    match?({:ok, ^allowed, _warnings}, Coercion.coerce(value, base(allowed)))
  end

  defp coercible?({:literal, allowed}, got), do: coercible?(base(allowed), got)

  defp coercible?(wanted, {:literal, value}) when value != nil and is_atom(wanted),
    do: match?({:ok, _value, _warnings}, Coercion.coerce(value, wanted))

  defp coercible?(wanted, got) when got in [:string, :keyword],
    do: wanted in [:int, :float, :bool, :datetime, :string, :keyword]

  defp coercible?(wanted, :bool), do: wanted in [:string, :keyword]
  defp coercible?(_wanted, _got), do: false

  defp base(value) when is_binary(value), do: :string
  defp base(value) when is_boolean(value), do: :bool
  defp base(value) when is_integer(value), do: :int
  defp base(value) when is_float(value), do: :float
  defp base(_other), do: :any

  defp worded({severity, code, path, op, details, place}) do
    {message, suggestion} = Words.of(code, op, details)
    {severity, finding(code, ["program" | path], message, suggestion, place)}
  end

  defp invalid({kind, text}, path, place) when kind in [:parse_error, :validation_error],
    do: finding(:invalid, path, text, nil, place)

  defp invalid(error, path, place),
    do: finding(:invalid, path, Json.format_error(error), nil, place)

  defp finding(code, path, message, suggestion, place) do
    {line, column} = place || {nil, nil}

    %{
      path: path,
      message: message,
      suggestion: suggestion,
      line: line,
      column: column,
      code: code
    }
  end

  defp native(program, reading, detail, known, limits) do
    %{context: context, tools: tools, memory: memory, returns: returns} = known

    Program.ask(
      program,
      reading,
      fn {handle, consts, text} ->
        Quanta.finish(
          Quanta.native(
            Native.check_compiled(
              handle,
              consts,
              text,
              detail,
              context,
              tools,
              memory,
              returns,
              limits
            )
          )
        )
      end,
      fn source, reading ->
        {source, reading} = {source(source), Program.observed(reading, detail)}

        Quanta.finish(
          Quanta.native(
            Native.check_program(source, reading, context, tools, memory, returns, limits)
          )
        )
      end
    )
  catch
    :error, :nif_panicked -> {:error, Panic.caught() |> then(&{:execution_error, &1})}
  end

  defp source(text) when is_binary(text), do: Aligned.text(text)
  defp source({:checked, node}), do: node
  defp source(%{"program" => node}), do: node

  # Only a text has lines.
  defp place(%Program{source: source} = program, path) when is_binary(source) do
    Program.ask(
      program,
      program.max_depth,
      fn {handle, _consts, text} -> located(handle, text, path) end,
      fn source, _reading -> place(source, path) end
    )
  end

  defp place(text, path) when is_binary(text), do: located(nil, Aligned.text(text), path)
  defp place(_source, _path), do: nil

  defp located(handle, text, path) do
    {:ok, place} = Quanta.finish(Quanta.native(Native.locate(handle, text, path)))
    place
  catch
    :error, :nif_panicked -> Panic.raise!()
  end

  @doc """
  The findings that are errors.
  """
  @spec errors([found()]) :: [Checked.finding()]
  def errors(found), do: for({:error, finding} <- found, do: finding)

  @doc """
  A finding as one line: where, and what.

      iex> finding = %{path: ["program", "steps", 1], message: "There is no tool 'x'", line: nil, column: nil, suggestion: nil, code: :unknown_tool}
      iex> PtcRunner.Json.Check.line(finding)
      "program.steps[1]: There is no tool 'x'"

  """
  @spec line(Checked.finding()) :: String.t()
  def line(%{path: [], message: message}), do: message

  def line(%{path: path, message: message}),
    do: "#{Json.Explain.path_text(path)}: #{message}"

  @doc false
  # The documented error of a program with these findings.
  @spec error([Checked.finding(), ...]) :: Message.error()
  def error(findings), do: {:validation_error, Enum.map_join(findings, "\n", &line/1)}
end
