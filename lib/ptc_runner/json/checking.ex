defmodule PtcRunner.Json.Checking do
  @moduledoc false
  # Compiles and checks programs: reads the options of `compile/2`, `check/2` and of the option `:check`.

  alias PtcRunner.Json

  alias PtcRunner.Json.{
    Check,
    Checked,
    Codec,
    Evaluation,
    ExactArguments,
    Explain,
    Fence,
    Given,
    Limits,
    Message,
    Program,
    Text
  }

  alias PtcRunner.Options

  @known [
    context: {{:maybe, :map}, nil},
    memory: {{:maybe, :map}, nil},
    tools: {{:maybe, :map}, nil},
    returns: {:any, nil}
  ]

  @compile_options Options.table(Given.limits() ++ [check: {:any, nil}])
  @known_options Options.table(@known)
  @check_options Options.table(Given.limits() ++ @known)

  @doc "See `PtcRunner.Json.compile/2`."
  @spec compile(Json.program(), keyword()) :: {:ok, Program.t()} | {:error, Json.error()}
  def compile(program, opts) do
    with {:error, fault} <- faulted(program, opts), do: {:error, Message.error(fault)}
  end

  @doc "Compiles a program as `compile/2` does; an error is a fault, which has its code."
  @spec faulted(Json.program(), keyword()) :: {:ok, Program.t()} | {:error, Message.fault()}
  def faulted(program, opts) do
    {timeout, max_heap, max_depth, keys, strict, structs, edition, check} =
      Options.read!(opts, @compile_options, "PtcRunner.Json.compile/2")

    given = Limits.given(timeout, max_heap, max_depth, keys, strict, structs, edition)
    if check == nil, do: compiled(program, given), else: compiled(program, given, check)
  end

  @doc """
  Compiles a program for a run that is observed for findings. Where the limits do not allow that, it is compiled as usual. An error is a
  fault.

      iex> {:ok, program} = PtcRunner.Json.Checking.observed(~s({"program": {"op": "count"}}), edition: 2)
      iex> {program.observed, program.edition}
      {:findings, 2}

  """
  @spec observed(Json.program(), keyword()) :: {:ok, Program.t()} | {:error, Message.fault()}
  def observed(program, opts) do
    {timeout, max_heap, max_depth, keys, strict, structs, edition, nil} =
      Options.read!(opts, @compile_options, "PtcRunner.Json.compile/2")

    given = Limits.given(timeout, max_heap, max_depth, keys, strict, structs, edition)
    {timeout, max_heap, reading} = Limits.about(given, program)

    with {:ok, _source} <- Evaluation.source(program) do
      case Program.observe(program, reading, :findings, {timeout, max_heap}) do
        {:ok, program} -> {:ok, program}
        {:error, limit} when is_atom(limit) -> compiled(program, given)
        error -> {:error, refused(error, program, {timeout, max_heap})}
      end
    end
  end

  defp refused({:rejected, error, _path}, program, limits), do: refused(error, program, limits)

  defp refused({:error, fault}, program, limits),
    do: {:made, fault, fault |> Fence.note(program) |> Program.error(limits)}

  defp compiled(program, given, check) do
    {context, memory, tools, returns} =
      Options.read!(check, @known_options, "the option :check of PtcRunner.Json.compile/2")

    with {:ok, compiled} <- program |> ExactArguments.readable(tools) |> compiled(given) do
      case checked(compiled, given, Check.known(context, memory, tools, returns)) do
        {:ok, _checked} -> {:ok, compiled}
        {:error, findings} -> {:error, Check.error(findings)}
      end
    end
  end

  defp compiled(%Program{} = program, given), do: Evaluation.source(program, given)

  defp compiled(program, given) do
    {timeout, max_heap, reading} = Limits.about(given, program)
    limits = {timeout, max_heap}

    with {:ok, _source} <- Evaluation.source(program) do
      case Program.compile(program, reading, limits) do
        {:ok, program} -> {:ok, program}
        error -> {:error, refused(error, program, limits)}
      end
    end
  end

  @doc "See `PtcRunner.Json.check/2`."
  @spec check(Json.program(), keyword()) ::
          {:ok, Checked.t()} | {:error, [Checked.finding(), ...]}
  def check(program, opts) do
    {timeout, max_heap, max_depth, keys, strict, structs, edition, context, memory, tools,
     returns} = Options.read!(opts, @check_options, "PtcRunner.Json.check/2")

    given = Limits.given(timeout, max_heap, max_depth, keys, strict, structs, edition)

    program
    |> ExactArguments.readable(tools)
    |> checked(given, Check.known(context, memory, tools, returns))
  end

  defp checked(program, given, known) do
    {timeout, max_heap, reading} = Limits.about(given, program)

    with {:ok, source} <- checked_source(program),
         {:ok, checked, found} <- Check.run(source, reading, {timeout, max_heap}, known) do
      case Check.errors(found) do
        [] -> {:ok, checked}
        errors -> {:error, errors}
      end
    else
      {:error, finding} -> {:error, [finding]}
    end
  end

  defp checked_source(%Program{} = program), do: {:ok, program}

  defp checked_source(program) do
    with {:error, fault} <- Evaluation.source(program) do
      {_kind, message} = Message.error(fault)
      finding = %{path: [], message: message, suggestion: nil, line: nil, column: nil}
      {:error, Map.put(finding, :code, :invalid)}
    end
  end

  @doc "See `PtcRunner.Json.explain/2`."
  @spec explain(Json.program(), keyword()) :: Explain.t()
  def explain(program, opts) do
    {check, opts} = if Keyword.keyword?(opts), do: Keyword.pop(opts, :check), else: {nil, opts}
    given = Given.read(opts, "PtcRunner.Json.explain/2")
    explanation = Evaluation.explain(program, given)
    if check == nil, do: explanation, else: typed(explanation, program, given, check)
  end

  defp typed(explanation, program, given, check) do
    %Given{limits: limits, context: context, memory: memory} = given

    {types, kept, tools, returns} =
      Options.read!(check, @known_options, "the option :check of PtcRunner.Json.explain/2")

    known = Check.known(types || samples(context), kept || samples(memory), tools, returns)
    {timeout, max_heap, reading} = Limits.about(limits, program)

    with {:ok, source} <- checked_source(program) do
      types = Check.types(source, reading, {timeout, max_heap}, known)
      Explain.with_types(explanation, types)
    else
      {:error, _finding} -> explanation
    end
  end

  defp samples(map) when is_map(map) do
    if Enum.all?(map, fn {name, _value} -> is_binary(name) end),
      do: Map.new(map, fn {name, value} -> {name, sample(value)} end)
  end

  defp samples(_other), do: nil

  # Of a text that is no JSON the run says so.
  defp sample(%Text{binary: text} = sample) do
    if match?({:ok, _}, Codec.decode(text, timeout: :infinity, max_heap: 0)),
      do: {:sample, sample},
      else: :any
  end

  defp sample(value), do: {:sample, value}
end
