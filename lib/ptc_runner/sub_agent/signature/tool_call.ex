defmodule PtcRunner.SubAgent.Signature.ToolCall do
  @moduledoc false
  # A validated tool call:
  #
  #   args ──validate, coerce──▶ fun ──validate──▶ result, warnings

  require Logger
  require PtcRunner.Native.Telemetry
  require PtcRunner.Quanta

  alias PtcRunner.{Native, Quanta}
  alias PtcRunner.Native.{Panic, Telemetry}

  alias PtcRunner.SubAgent.Signature.{
    Coercion,
    Conversions,
    ErrorText,
    Findings,
    Spelling,
    UnknownType,
    Validator
  }

  # A result that does not match is read by `read`, which may give a term that does. A result of which `valid?` is true was
  # validated before.
  @typep reading :: {read :: (term() -> term()), valid? :: (term() -> boolean())}

  @spec call(tuple(), term(), (term() -> term()), Coercion.mode()) :: tuple()
  def call({:signature, params, returns}, args, fun, mode) do
    with {:ok, args, warnings} <- input({:map, params}, args, mode),
         {:ok, result} <- run(fun, args),
         do: output(returns, result, mode, warnings, {& &1, &never/1})
  end

  @doc """
  The arguments of a call as its signature says. `:json`: they are values of JSON, whose null, true and false are no texts.

      iex> alias PtcRunner.SubAgent.Signature.ToolCall
      iex> ToolCall.input({:map, [{"n", :int}]}, %{"n" => "7"}, :enabled)
      {:ok, %{"n" => 7}, [~s(coerced string "7" to integer)]}
      iex> {:error, {:invalid_input, errors, _text}} = ToolCall.input({:map, [{"t", :string}]}, %{"t" => nil}, :json)
      iex> errors
      [%{path: ["t"], message: "expected string, got keyword"}]

  """
  @spec input(term(), term(), Coercion.mode() | :json) ::
          {:ok, term(), [String.t()]} | {:error, {:invalid_input, [map()], String.t()}}
  def input(_type, args, :disabled), do: {:ok, args, []}

  def input(type, args, :strict) do
    case Validator.validate_closed(args, type) do
      :ok -> {:ok, args, []}
      {:error, errors} -> invalid(:invalid_input, errors, args)
    end
  end

  def input(type, args, mode) do
    if Telemetry.on?(),
      do: Telemetry.coerce(fn -> coerced(type, args, mode == :json) end),
      else: coerced(type, args, mode == :json)
  end

  @doc """
  The result of a call, which has had these warnings, as its signature says.

      iex> alias PtcRunner.SubAgent.Signature.ToolCall
      iex> ToolCall.output(:int, 7, :enabled, ["a warning"], {& &1, fn _result -> false end})
      {:ok, 7, ["a warning"]}

  """
  @spec output(term(), term(), Coercion.mode(), [String.t()], reading()) ::
          {:ok, term(), [String.t()]} | {:error, {:invalid_output, [map()], String.t()}}
  def output(returns, result, mode, warnings, {read, valid?}) do
    mode = if valid?.(result), do: :disabled, else: mode

    with {:error, {:invalid_output, _, _}} = invalid <- output(mode, returns, result, warnings) do
      case read.(result) do
        ^result -> invalid
        plain -> output(mode, returns, plain, warnings)
      end
    end
  end

  @doc """
  The arguments of a call whose type is of a JSON Schema: keys are as declared, and fields that an open object does not declare arrive.

      iex> params = {:closed_map, [{"user-id", :int}, {"user_id", :string}]}
      iex> PtcRunner.SubAgent.Signature.ToolCall.data_input(params, %{"user-id" => "7", "user_id" => "a"})
      {:ok, %{"user-id" => 7, "user_id" => "a"}, ["coerced string \\"7\\" to integer"]}

  """
  @spec data_input(term(), term()) ::
          {:ok, term(), [String.t()]} | {:error, {:invalid_input, [map()], String.t()}}
  def data_input(type, args) do
    result =
      if Telemetry.on?(),
        do: Telemetry.coerce(fn -> Coercion.data(args, type) end),
        else: Coercion.data(args, type)

    case result do
      {:ok, _args, _warnings} = done -> done
      {:error, errors} when is_list(errors) -> invalid(:invalid_input, errors, args)
      {:error, text} -> {:error, {:invalid_input, [], text}}
    end
  end

  @doc """
  The result of such a call. `unfit` gets the lines of a result that does not fit, which are warnings then; without it they are an error.

      iex> alias PtcRunner.SubAgent.Signature.ToolCall
      iex> ToolCall.data_output(:int, "x", [], fn _lines -> :ok end, {& &1, fn _result -> false end})
      {:ok, "x", ["the result differs: expected integer, got string \\"x\\""]}

  """
  @spec data_output(term(), term(), [String.t()], ([String.t()] -> term()) | nil, reading()) ::
          {:ok, term(), [String.t()]} | {:error, {:invalid_output, [map()], String.t()}}
  def data_output(returns, result, warnings, unfit, {read, valid?}) do
    if returns == :any or valid?.(result),
      do: {:ok, result, warnings},
      else: data_fit(unfit, returns, result, read, warnings)
  end

  defp data_fit(unfit, returns, result, read, warnings) do
    plain = read.(result)

    case Validator.exact(plain, returns) do
      :ok ->
        {:ok, result, warnings}

      {:error, errors} when unfit == nil ->
        invalid(:invalid_output, errors, plain)

      {:error, errors} ->
        lines = for line <- ErrorText.lines(errors, plain), do: "the result differs: " <> line
        unfit.(lines)
        {:ok, result, warnings ++ lines}
    end
  end

  defp never(_result), do: false

  defp coerced(type, args, of_json?) do
    reply =
      with {:ask, questions} <- walk(type, args, nil, of_json?),
           do: walk(type, args, Conversions.answers(questions), of_json?)

    case Spelling.settled(reply, args, type) do
      {:ok, _args, _warnings} = done -> done
      {:error, errors, whole?} -> invalid(:invalid_input, Findings.finish(errors, whole?), args)
      :too_much -> {:error, {:invalid_input, [], "too many warnings"}}
      {:unknown, type} -> UnknownType.raise!(type)
    end
  catch
    :error, :nif_panicked -> {:error, {:invalid_input, [], Panic.caught()}}
  end

  defp walk(type, args, answers, of_json?),
    do: Quanta.run(Native.signature_input(type, args, answers, of_json?))

  defp run(fun, args) do
    case fun.(args) do
      {:error, reason} -> {:error, {:tool_error, reason}}
      result -> {:ok, result}
    end
  end

  defp output(:disabled, _type, result, warnings), do: {:ok, result, warnings}

  defp output(:strict, type, result, warnings),
    do: judge(Validator.validate_closed(result, type), result, warnings)

  defp output(:enabled, type, result, warnings),
    do: judge(Validator.validate(result, type), result, warnings)

  defp output(:warn_only, type, result, warnings) do
    case Validator.validate(result, type) do
      :ok ->
        {:ok, result, warnings}

      {:error, errors} ->
        Logger.warning(ErrorText.text(errors, result, []))
        {:ok, result, warnings ++ ErrorText.lines(errors, result)}
    end
  end

  defp judge(:ok, result, warnings), do: {:ok, result, warnings}
  defp judge({:error, errors}, result, _warnings), do: invalid(:invalid_output, errors, result)

  defp invalid(what, errors, data), do: {:error, {what, errors, ErrorText.text(errors, data, [])}}
end
