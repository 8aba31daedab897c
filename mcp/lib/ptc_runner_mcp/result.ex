defmodule PtcRunnerMcp.Result do
  @moduledoc """
  Values as results of `tools/call`: as structured content and as text, cut with a note where they are too long.
  """

  alias PtcRunner.Json.Codec

  # Nothing longer is written, not even to be cut.
  @most_bytes 16_000_000

  @doc """
  The result of a value, and of what else is to be known about it.

      iex> PtcRunnerMcp.Result.value([1, 2], %{"calls" => %{"rate" => 1}}, 100)
      %{"content" => [%{"type" => "text", "text" => "[1,2]"}], "structuredContent" => %{"value" => [1, 2], "calls" => %{"rate" => 1}}}

      iex> result = PtcRunnerMcp.Result.value(Enum.to_list(1..100), %{}, 10)
      iex> hd(result["content"])["text"]
      "[1,2,3,4,5 (cut: 10 of 293 bytes. Let the program return less: aggregate, take some rows, or select fields.)"
      iex> result["structuredContent"]
      %{"cut" => true, "bytes" => 293}

  """
  @spec value(term(), map(), pos_integer()) :: map()
  def value(value, more, most) do
    case Codec.encode(value, max_bytes: @most_bytes) do
      {:ok, text} when byte_size(text) <= most ->
        value |> plain(text) |> result(Map.put(more, "value", value)) |> noted(more)

      {:ok, text} ->
        bytes = byte_size(text)
        note = " (cut: #{most} of #{bytes} bytes. #{less()})"
        structured = Map.merge(more, %{"cut" => true, "bytes" => bytes})
        (cut(text, most) <> note) |> result(structured) |> noted(more)

      {:error, error} ->
        error("The value cannot be shown: #{Exception.message(error)}. #{less()}")
    end
  end

  defp less, do: "Let the program return less: aggregate, take some rows, or select fields."

  # A client may show its model the texts only.
  defp noted(result, more) do
    notes = Enum.concat(more["notes"] || [], more["warnings"] || [])

    result
    |> with_text("Printed:\n", more["prints"] || [], "\n")
    |> with_text("Notes: ", notes, "; ")
  end

  defp with_text(result, _title, [], _between), do: result

  defp with_text(result, title, texts, between) do
    text = title <> cut(Enum.join(texts, between), 2_000)
    Map.update!(result, "content", &(&1 ++ [item(text)]))
  end

  # A text is shown as it is.
  defp plain(value, _json) when is_binary(value), do: value
  defp plain(_value, json), do: json

  @doc """
  A result with a text and structured content.

      iex> PtcRunnerMcp.Result.result("two", %{"n" => 2})
      %{"content" => [%{"type" => "text", "text" => "two"}], "structuredContent" => %{"n" => 2}}

  """
  @spec result(String.t(), map()) :: map()
  def result(text, structured), do: Map.put(text(text), "structuredContent", structured)

  @doc """
  What went wrong, in words for the model.

      iex> PtcRunnerMcp.Result.error("No.")
      %{"content" => [%{"type" => "text", "text" => "No."}], "isError" => true}

  """
  @spec error(String.t()) :: map()
  def error(text), do: Map.put(text(text), "isError", true)

  defp text(text), do: %{"content" => [item(text)]}
  defp item(text), do: %{"type" => "text", "text" => text}

  @doc """
  The beginning of a text, whole characters of at most so many bytes.

      iex> PtcRunnerMcp.Result.cut("aä", 2)
      "a"

  """
  @spec cut(String.t(), non_neg_integer()) :: String.t()
  def cut(text, most) when byte_size(text) <= most, do: text
  def cut(text, most), do: text |> binary_part(0, most) |> whole()

  defp whole(text) do
    case :unicode.characters_to_binary(text) do
      {:incomplete, whole, _rest} -> whole
      {:error, whole, _rest} -> whole
      whole -> whole
    end
  end
end
