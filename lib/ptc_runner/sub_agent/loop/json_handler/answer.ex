defmodule PtcRunner.SubAgent.Loop.JsonHandler.Answer do
  @moduledoc false
  # From the text of an answer to its value or its errors: one native call, as far as it goes.

  alias PtcRunner.Native
  alias PtcRunner.Native.Panic
  alias PtcRunner.SubAgent.{JsonParser, KeyNormalizer}
  alias PtcRunner.SubAgent.Loop.JsonHandler.Atomizer

  # A longer text would hold a scheduler for too long.
  @long_text 32_768

  @type outcome ::
          {:ok, map() | list()}
          | {:invalid, [map()], String.t()}
          | {:map, map()}
          | {:list, list()}
          | {:error, String.t()}

  # `:ok`: right, with normalized keys. `:map` and `:list`: still to be atomized and validated.
  @spec read(String.t(), map()) :: outcome()
  def read(content, agent) do
    case agent do
      %{parsed_signature: nil} -> native(content, :any, false)
      %{parsed_signature: {:signature, _, {:list, _} = type}} -> native(content, type, true)
      %{parsed_signature: {:signature, _, type}} -> native(content, type, false)
      _other -> content |> JsonParser.parse() |> parsed(agent)
    end
  end

  @doc false
  def native(content, type, list?) do
    case now(content, type, list?) do
      :busy -> content |> Native.answer_dirty(type, list?) |> outcome(type)
      answer -> outcome(answer, type)
    end
  catch
    :error, :nif_panicked -> {:error, Panic.caught()}
  end

  defp now(content, _type, _list?) when byte_size(content) > @long_text, do: :busy
  defp now(content, type, list?), do: Native.answer_now(content, type, list?)

  @doc false
  # What the native side said, in the terms of this module.
  def outcome({:error, {reason, _place}}, _type), do: {:error, message(reason)}

  # Which of two keys counts that become one depends on which of them is an atom.
  def outcome({:hyphens, value}, type),
    do: {:ok, value |> Atomizer.value(type) |> KeyNormalizer.normalize_keys()}

  def outcome(other, _type), do: other

  # No signature that could be handed over: its owner finds out when it is looked at.
  defp parsed({:ok, map}, agent) when is_map(map) do
    _signature = agent.parsed_signature
    {:map, map}
  end

  defp parsed({:ok, list}, agent) when is_list(list) do
    _signature = agent.parsed_signature
    {:error, message(:not_an_object)}
  end

  defp parsed({:ok, _primitive}, _agent), do: {:error, message(:not_an_object)}
  defp parsed({:error, reason}, _agent), do: {:error, message(reason)}

  @doc false
  def message(:no_json_found), do: "No valid JSON found in response"
  def message(:invalid_json), do: "JSON parse error"
  def message(:not_wrapped), do: ~s(Expected {"items": [...]} wrapper for array response)

  def message(:not_an_object),
    do: "Response must be a JSON object, not an array or primitive"
end
