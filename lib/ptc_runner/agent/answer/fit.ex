defmodule PtcRunner.Agent.Answer.Fit do
  @moduledoc false
  # Whether a value fits what is asked, and what it becomes.

  alias PtcRunner.Agent.Answer.Asked
  alias PtcRunner.Agent.{Nearly, Wrapper}
  alias PtcRunner.SubAgent.JsonRepair.Names
  alias PtcRunner.SubAgent.KeyNormalizer
  alias PtcRunner.SubAgent.Loop.JsonHandler.Answer
  alias PtcRunner.SubAgent.Signature.{Base, Coercion, Enums}

  @type result ::
          {:ok, term(), warnings :: [String.t()]}
          | {:error, [map()] | String.t()}
          | {:limit, [map(), ...]}

  @doc "The error of an answer without a value."
  @spec error(Answer.reason()) :: map()
  def error(reason), do: %{path: [], message: Answer.message(reason)}

  # A number or string in a fence, where an object or a list is expected.
  @doc "The value with what it becomes, if it is of the type and its rules."
  @spec judged(term(), Asked.t(), [String.t()]) :: result()
  def judged(value, _asked, _warnings) when not is_map(value) and not is_list(value),
    do: {:error, [error(:not_an_object)]}

  def judged(value, asked, warnings) do
    with {:ok, value} <- Answer.judged(value, asked.signature),
         do: allowed(value, asked, warnings)
  end

  @doc "Whether a value fits of which only enumerations are not checked."
  @spec allowed(term(), Asked.t(), [String.t()]) :: result()
  def allowed(value, %{signature: nil}, warnings), do: {:ok, value, warnings}

  def allowed(value, asked, warnings) do
    until = Keyword.get(asked.limits, :until, :infinity)

    case Enums.errors(value, asked.type, asked.enums, until) do
      [] -> made(value, asked, warnings)
      :timeout -> {:limit, [error(:timeout)]}
      errors -> {:error, errors}
    end
  end

  defp made(value, %{coerce?: false}, warnings), do: {:ok, value, warnings}

  # Its keys are normalized already.
  defp made(value, %{type: type}, warnings) do
    if Base.makes?(type) do
      {value, told} = Nearly.defaults(value, type)
      {:ok, value |> Base.made(type) |> KeyNormalizer.normalize_keys(), warnings ++ told}
    else
      {:ok, value, warnings}
    end
  end

  @doc "The value with converted values at their places; `:literal` if null, true or false stands where a text is declared."
  @spec coerce(term(), Asked.t(), [String.t()]) :: result() | :error | :literal
  def coerce(_value, %{coerce?: false}, _warnings), do: :error

  def coerce(value, %{type: type} = asked, warnings) do
    {value, told} =
      value |> Wrapper.inner(type) |> Names.hyphenated(type) |> Nearly.defaults(type)

    with {:ok, coerced, more} <- Coercion.json(value, type),
         {:ok, value, warnings} <- allowed(coerced, asked, warnings ++ told ++ more) do
      {:ok, KeyNormalizer.normalize_keys(value), warnings}
    else
      {:error, _reason} -> uncoerced(value, asked)
      {:limit, errors} -> {:limit, errors}
    end
  end

  @doc "What follows from it that a value, which may be wrapped, was not coerced. A repair must not read null as a text without quotes."
  @spec uncoerced(term(), Asked.t()) :: :error | :literal
  def uncoerced(_value, %{coerce?: false}), do: :error

  def uncoerced(value, %{type: type}),
    do: if(match?({:ok, _, _}, Coercion.coerce(value, type)), do: :literal, else: :error)

  @doc "The value of a repaired text, if it fits without another conversion."
  @spec fitting(term(), [String.t()], Asked.t()) :: result() | :error
  def fitting(value, warnings, %{signature: nil}),
    do: if(is_map(value), do: {:ok, value, warnings}, else: :error)

  def fitting(value, warnings, asked) do
    # A key in another spelling is left only if its value does not fit.
    with {_value, []} <- Names.renamed(value, asked.type),
         {:ok, value, warnings} <- judged(value, asked, warnings) do
      {:ok, value, warnings}
    else
      {:limit, errors} -> {:limit, errors}
      _wrong -> :error
    end
  end

  @doc "The value of a repaired text, which may be in an object."
  @spec unwrapped(term(), Asked.t()) :: term()
  def unwrapped(value, %{type: nil}), do: value

  def unwrapped(value, asked) do
    value = Wrapper.inner(value, asked.type)
    if asked.wrapped?, do: Wrapper.object(value, asked.own), else: value
  end
end
