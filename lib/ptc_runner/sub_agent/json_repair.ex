defmodule PtcRunner.SubAgent.JsonRepair do
  @moduledoc false
  # Asks the native side for the value of an answer that is almost right, and words its repairs.

  alias PtcRunner.Native
  alias PtcRunner.SubAgent.JsonRepair.Sentence
  alias PtcRunner.SubAgent.Signature

  # Beyond that a repair may hold a scheduler for too long.
  @long_text 4_096

  # How much of the text a repair shows.
  @shown 40

  @typedoc "A repair, see `PtcRunner.SubAgent.JsonParser.repair/2`."
  @type repair :: %{
          kind: atom(),
          line: pos_integer(),
          column: pos_integer(),
          path: [String.t() | non_neg_integer()],
          message: String.t()
        }

  @type refusal :: :no_reading | :memory_exceeded | {:ambiguous, [map()]}

  @doc false
  # `type` is a type term, or nil for any value; `wrapped?`: a list may also stand under `items`.
  @spec read(String.t(), term(), boolean()) :: {:ok, term(), [repair()]} | {:error, refusal()}
  def read(text, type, wrapped?) do
    case native(text, type, wrapped?) do
      {:ok, value, repairs} ->
        {:ok, value, Enum.map(repairs, &told(&1, text))}

      {:error, {:ambiguous, places}} ->
        places = for {line, column} <- places, do: %{line: line, column: column}
        {:error, {:ambiguous, places}}

      {:error, reason} ->
        {:error, reason}
    end
  end

  defp native(text, type, wrapped?) when byte_size(text) > @long_text,
    do: Native.answer_repair_dirty(text, type, wrapped?)

  defp native(text, type, wrapped?) do
    with :busy <- Native.answer_repair(text, type, wrapped?),
         do: Native.answer_repair_dirty(text, type, wrapped?)
  end

  defp told({kind, start, stop, line, column, path}, text) do
    found = shown(binary_part(text, start, min(stop - start, @shown)))
    message = "line #{line}, column #{column}: #{Sentence.text(kind, found, path)}"
    %{kind: kind, line: line, column: column, path: path, message: message}
  end

  # A copy, without a character that was cut in two.
  defp shown(part) do
    case :unicode.characters_to_binary(part) do
      whole when is_binary(whole) -> :binary.copy(whole)
      {_incomplete, whole, _rest} -> whole
    end
  end

  @doc false
  # The type of a signature: as text, parsed, or a type itself.
  @spec type(term()) :: term()
  def type(nil), do: nil

  def type(text) when is_binary(text) do
    case Signature.parse(text) do
      {:ok, signature} -> type(signature)
      {:error, message} -> raise ArgumentError, message
    end
  end

  def type({:signature, _params, type}), do: type
  def type(type), do: type

  @doc false
  # Whether a value that was found is not all of the answer: the bracket before it is missing.
  @spec part?(String.t()) :: boolean()
  def part?(<<blank, rest::binary>>) when blank in [?\s, ?\t, ?\n, ?\r], do: part?(rest)

  def part?(<<byte, _rest::binary>> = text) when byte in [?", ?', 0xE2, 0xC2],
    do: Native.answer_is_part(text)

  def part?(_text), do: false
end
