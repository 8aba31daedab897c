defmodule PtcRunner.SubAgent.Loop.JsonHandler.Answer do
  @moduledoc false
  # From the text of an answer to its value or its errors, in one native call if possible.

  alias PtcRunner.Json.Limits
  alias PtcRunner.{Aligned, Native, Quanta}
  alias PtcRunner.Native.Panic
  alias PtcRunner.SubAgent.{JsonParser, KeyNormalizer}
  alias PtcRunner.SubAgent.Loop.JsonHandler.Atomizer
  require Quanta

  @type outcome ::
          {:ok, map() | list()}
          | {:invalid, errors(), String.t()}
          | {:map, map()}
          | {:list, list()}
          | {:error, reason()}

  @typedoc "Errors that a line of them can show, and the number of others."
  @type errors :: {[map()], more :: non_neg_integer()}

  @typedoc "Reasons that `message/1` describes."
  @type reason :: atom() | {:panicked, String.t()}

  # `:ok`: valid, with normalized keys. `:map` and `:list`: still to be atomized and validated.
  # Of the options only `:timeout` and `:max_heap` are used.
  @spec read(String.t(), map(), keyword()) :: outcome()
  def read(content, agent, opts \\ []) do
    case agent do
      %{parsed_signature: nil} -> native(content, :any, false, opts)
      %{parsed_signature: {:signature, _, type}} -> native(content, type, false, opts)
      _other -> content |> JsonParser.parse(opts) |> unjudged(agent)
    end
  end

  @doc """
  All errors of an invalid answer as `{:invalid, errors}`; they count for `:max_heap`. Otherwise like `read/3`.
  """
  @spec read_all(String.t(), term(), keyword()) :: outcome() | {:invalid, [map()]}
  def read_all(content, type, opts), do: native(content, type, true, opts)

  defp native(content, type, all?, opts) do
    limits = Limits.of_text(opts, byte_size(content))
    list? = match?({:list, _}, type)

    text = Aligned.text(content)

    Quanta.native(Native.answer_read(text, type, list?, all?, limits))
    |> Quanta.finish(byte_size(content))
    |> outcome(type)
  catch
    :error, :nif_panicked -> {:error, {:panicked, Panic.caught()}}
  end

  # Converts the native result to the terms of this module.
  defp outcome({:error, {reason, _place}}, _type), do: {:error, reason}

  # Which of two equal keys counts depends on which of them is an atom.
  defp outcome({:hyphens, value}, type),
    do: {:ok, value |> Atomizer.value(type) |> KeyNormalizer.normalize_keys()}

  defp outcome({:invalid, errors, more, line}, _type), do: {:invalid, {errors, more}, line}
  defp outcome(other, _type), do: other

  # An invalid type is not passed to the NIF; the validation reports it. An agent must have some signature.
  defp unjudged({:ok, value}, agent) when is_map(value) or is_list(value),
    do: unjudged(value, Map.fetch!(agent, :parsed_signature))

  defp unjudged({:ok, _primitive}, _agent), do: {:error, :not_an_object}
  defp unjudged({:error, reason}, _agent), do: {:error, reason}
  defp unjudged(map, _no_type) when is_map(map), do: {:map, map}
  defp unjudged(list, _no_type) when is_list(list), do: {:error, :not_an_object}

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
