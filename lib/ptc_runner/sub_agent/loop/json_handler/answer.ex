defmodule PtcRunner.SubAgent.Loop.JsonHandler.Answer do
  @moduledoc false
  # From the text of an answer to its value or its errors, in one native call if possible. What reading has found is
  # kept: coercion, repair and feedback work from it, and do not read the text again.

  alias PtcRunner.Json.Limits
  alias PtcRunner.{Aligned, Native, Quanta}
  alias PtcRunner.Native.Panic
  alias PtcRunner.SubAgent.{JsonParser, KeyNormalizer}
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.Loop.JsonHandler.Atomizer
  alias PtcRunner.SubAgent.Signature.{Base, Exact}
  require Quanta

  @typedoc "A valid value with normalized keys, or why there is none. The line of the errors is nil if it is not written."
  @type outcome ::
          {:ok, map() | list(), found()}
          | {:invalid, errors(), String.t() | nil, found()}
          | {:error, reason(), found()}

  @typedoc "An outcome of `read_all/4`, or a value that was coerced."
  @type judged :: outcome() | {:coerced, term(), warnings :: [String.t()], found()}

  @typedoc "The value as it stands in the text, with its own keys; or the position of the error, if there is one."
  @type found :: {:value, term()} | {:place, tuple() | nil}

  @typedoc "Errors that a line of them can show, and the number of others."
  @type errors :: {[map()], more :: non_neg_integer()}

  @typedoc "Reasons that `message/1` describes."
  @type reason :: atom() | {:panicked, String.t()}

  # Of the options only `:timeout` and `:max_heap` are used.
  @spec read(String.t(), map(), keyword()) :: outcome()
  def read(content, agent, opts \\ [])

  def read(content, %{parsed_signature: nil}, opts),
    do: native(content, nil, {false, false}, opts) |> elem(0)

  def read(content, %{parsed_signature: {:signature, _, _} = signature}, opts),
    do: native(content, signature, {false, false}, opts) |> elem(0)

  # An invalid signature is not passed to the NIF; the validation reports it. An agent must have some signature.
  def read(content, agent, opts) do
    case JsonParser.locate(content, opts) do
      {:ok, value} when is_map(value) or is_list(value) ->
        signature = Map.fetch!(agent, :parsed_signature)

        if is_map(value),
          do: outcome({:undecided, value}, signature),
          else: outcome({:unfit, :not_an_object, value}, signature)

      {:ok, value} ->
        outcome({:unfit, :not_an_object, value}, nil)

      error ->
        outcome(error, nil)
    end
  end

  @doc """
  Reads an answer of a signature, with all errors of an invalid answer; they count for `:max_heap`. Where a value was found, its form says where
  it is and what its keys are. `coerce?`: a value of another type is coerced, if its keys are the declared ones and no conversion needs Elixir.
  """
  @spec read_all(String.t(), JsonHandler.signature(), boolean(), keyword()) ::
          {judged(), Native.Types.form() | nil}
  def read_all(content, signature, coerce?, opts),
    do: native(content, signature, {true, coerce?}, opts)

  defp native(content, signature, {all?, coerce?}, opts) do
    limits = Limits.of_text(opts, byte_size(content))
    type = type(signature)
    list? = Base.list?(type)
    text = Aligned.text(content)
    exact? = Exact.within?(type)

    {reply, form} =
      Quanta.native(Native.answer_read(text, type, list?, all?, exact?, coerce?, limits))
      |> Quanta.finish(byte_size(content))
      |> formed()

    {reply |> placed(exact?, type) |> outcome(signature), form}
  catch
    :error, :nif_panicked -> {{:error, {:panicked, Panic.caught()}, {:place, nil}}, nil}
  end

  # The reply without the form, which stands before the value that was found.
  defp formed({:error, _reason} = error), do: {error, nil}

  defp formed(reply) do
    place = tuple_size(reply) - 2
    {Tuple.delete_at(reply, place), elem(reply, place)}
  end

  # The numbers of a type with decimals have their digits.
  defp placed(reply, false, _type), do: reply

  defp placed({:ok, value, found}, true, type),
    do: {:ok, Exact.placed(value, type), Exact.placed(found, type)}

  defp placed({:error, _reason} = error, true, _type), do: error

  defp placed(reply, true, type) do
    last = tuple_size(reply) - 1
    put_elem(reply, last, reply |> elem(last) |> Exact.placed(type))
  end

  # Converts the native result to the terms of this module.
  defp type({:signature, _params, type}), do: type
  defp type(nil), do: :any

  defp outcome({:ok, value, found}, _signature), do: {:ok, value, {:value, found}}

  defp outcome({:coerced, value, warnings, found}, _signature),
    do: {:coerced, value, warnings, {:value, found}}

  # Which of two equal keys counts depends on which of them is an atom.
  defp outcome({:hyphens, found}, signature) do
    value = found |> Atomizer.value(type(signature)) |> KeyNormalizer.normalize_keys()
    {:ok, value, {:value, found}}
  end

  defp outcome({:undecided, found}, signature) do
    case judged(found, signature) do
      {:ok, value} -> {:ok, value, {:value, found}}
      {:error, errors} -> {:invalid, {errors, 0}, nil, {:value, found}}
    end
  end

  defp outcome({:invalid, errors, nil, found}, _signature),
    do: {:invalid, {errors, 0}, nil, {:value, found}}

  defp outcome({:invalid, errors, {line, more}, found}, _signature),
    do: {:invalid, {errors, more}, line, {:value, found}}

  defp outcome({:unfit, reason, found}, _signature), do: {:error, reason, {:value, found}}
  defp outcome({:error, {reason, place}}, _signature), do: {:error, reason, {:place, place}}
  defp outcome({:error, limit}, _signature), do: {:error, limit, {:place, nil}}

  @doc """
  The value with normalized keys if it is valid, otherwise its errors: keys become atoms, and strings dates, before the
  value is validated.
  """
  @spec judged(map() | list(), JsonHandler.signature()) ::
          {:ok, map() | list()} | {:error, [map()] | String.t()}
  def judged(value, signature) do
    atomized =
      if is_list(value),
        do: JsonHandler.atomize_list(value, signature),
        else: JsonHandler.atomize_keys(value, signature)

    with :ok <- JsonHandler.validate_return(%{parsed_signature: signature}, atomized),
         do: {:ok, KeyNormalizer.normalize_keys(atomized)}
  end

  @doc """
  A valid value with the defaults, structs and decimals of its type.
  """
  @spec made(term(), JsonHandler.signature()) :: term()
  def made(value, {:signature, _params, type}), do: Base.made(value, type)
  def made(value, _signature), do: value

  @spec message(reason()) :: String.t()
  def message({:panicked, text}), do: text
  def message(:no_json_found), do: "No valid JSON found in response"
  def message(:invalid_json), do: "JSON parse error"
  def message(:timeout), do: "Response takes too long to read"
  def message(:memory_exceeded), do: "Response takes too much memory to read"
  def message(:not_wrapped), do: ~s(Expected {"items": [...]} wrapper for array response)

  def message(:not_an_object),
    do: "Response must be a JSON object, not an array or primitive"
end
