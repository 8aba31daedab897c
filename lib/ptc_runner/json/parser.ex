defmodule PtcRunner.Json.Parser do
  @moduledoc """
  Extracts the program from its text, or from a decoded map.

  Checks only that the text is JSON, and that it has a `"program"` that is an
  object. `PtcRunner.Json.Validator` checks the program itself.
  """

  alias PtcRunner.Json.{Codec, Limits, Message}
  alias PtcRunner.Shown

  @typedoc "The error, or the exceeded limit: milliseconds, or bytes of memory."
  @type error ::
          {:parse_error, String.t()}
          | {:timeout, non_neg_integer()}
          | {:memory_exceeded, non_neg_integer()}

  @doc """
  Parses JSON text, or takes a map as already decoded.

  A text is read within 5,000 ms and 16 words of memory for each of its bytes (or 1,250,000 words, if
  that is more); no ordinary text reaches these limits.

  JSON is strict (RFC 8259); of equal keys in one object the first one counts. Positions in errors
  are zero-based byte offsets.

      iex> PtcRunner.Json.Parser.parse(~s({"program": {"op": "literal", "value": 42}}))
      {:ok, %{"op" => "literal", "value" => 42}}

      iex> PtcRunner.Json.Parser.parse(%{"program" => %{"op" => "count"}})
      {:ok, %{"op" => "count"}}

      iex> PtcRunner.Json.Parser.parse(~s({"program": 1}))
      {:error, {:parse_error, "program must be a map"}}

      iex> PtcRunner.Json.Parser.parse(~s({"program": ))
      {:error, {:parse_error, "JSON decode error: Unexpected end of input at position 12"}}

      iex> PtcRunner.Json.Parser.parse(:text)
      {:error, {:parse_error, "Input must be a string or map, got :text"}}

  """
  @spec parse(term()) :: {:ok, map()} | {:error, error()}
  def parse(text) when is_binary(text) do
    case Codec.decode(text) do
      {:ok, map} when is_map(map) -> parse(map)
      {:ok, _other} -> fault(:program_missing)
      {:error, error} -> {:error, error(error)}
    end
  end

  def parse(%{"program" => program}) when is_map(program), do: {:ok, program}
  def parse(%{"program" => _other}), do: fault(:program_not_map)
  def parse(%{}), do: fault(:program_missing)

  def parse(other),
    do: {:error, {:parse_error, "Input must be a string or map, got #{Shown.text(other)}"}}

  defp error(%{reason: :timeout, limit: timeout}), do: {:timeout, timeout}

  defp error(%{reason: :memory_exceeded, limit: words}),
    do: {:memory_exceeded, Limits.bytes(words)}

  defp error(%{reason: :failed, text: text}), do: {:parse_error, text}
  defp error(error), do: {:parse_error, Message.undecoded(error)}

  defp fault(reason), do: {:error, Message.error({:parse, reason})}
end
