defmodule PtcRunner.Json.Texts.Broken do
  @moduledoc false
  # Why a text is not JSON, found without building anything.

  alias PtcRunner.Json.Codec.DecodeError
  alias PtcRunner.SubAgent.JsonParser

  @doc """
  The error of a text that is not one JSON value; nil if it is one, or if that is not known in this time.

      iex> alias PtcRunner.Json.Texts.Broken
      iex> for text <- ["[1, 2]", "[1,,2]", "[1] ]", "so [1]"], do: with({:error, error} <- Broken.error(text, 1_000), do: error.position)
      [nil, 3, 4, 0]

  """
  @spec error(binary(), timeout()) :: {:error, DecodeError.t()} | nil
  def error(binary, timeout) do
    case JsonParser.find(binary, timeout: timeout, max_heap: 0) do
      {:error, {_reason, {kind, position}}} when kind in [:unexpected_end, :unexpected_token] ->
        {:error, %DecodeError{reason: kind, position: position}}

      {:ok, json} ->
        beside(binary, blanks(binary, 0), json)

      _limit ->
        nil
    end
  end

  # What stands before or behind the value is not JSON.
  defp beside(binary, at, json) do
    size = byte_size(json)
    first? = at + size <= byte_size(binary) and binary_part(binary, at, size) == json
    position = if first?, do: blanks(binary, at + size), else: at

    if position < byte_size(binary),
      do: {:error, %DecodeError{reason: :unexpected_token, position: position}}
  end

  defp blanks(binary, at) do
    if at < byte_size(binary) and :binary.at(binary, at) in [?\s, ?\t, ?\r, ?\n],
      do: blanks(binary, at + 1),
      else: at
  end
end
