defmodule PtcRunner.CLI.Failure do
  @moduledoc false
  # Formats an error in a program's text for a terminal: the message, its position, and the text there.

  alias PtcRunner.CLI.{Excerpt, Place}
  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Explain}

  @typedoc "Offset and length in bytes, of a text."
  @type range :: {non_neg_integer(), non_neg_integer()}

  @doc """
  The position of an error in a program's text: the part at the path, or the offset where the JSON is invalid.
  """
  @spec range(binary(), Json.error(), Explain.path() | nil) :: range() | nil
  def range(text, {:parse_error, _message}, _path) do
    case Codec.decode(text) do
      {:error, %{position: position}} when is_integer(position) ->
        {min(position, byte_size(text)), 1}

      _other ->
        nil
    end
  end

  def range(text, _error, path) when is_list(path) do
    case Place.of(text, path) do
      {:ok, range} -> range
      :error -> nil
    end
  end

  def range(_text, _error, nil), do: nil

  @doc """
  The lines for a reader.
  """
  @spec text(binary(), Json.error(), Explain.path() | nil) :: String.t()
  def text(text, error, path) do
    place = if path, do: ["  at ", Explain.path_text(path), "\n"], else: []

    excerpt =
      case range(text, error, path) do
        nil -> []
        range -> for line <- Excerpt.lines(text, range), do: [line, "\n"]
      end

    [:red, Json.format_error(error), :reset, "\n", place, marked(excerpt)]
    |> IO.ANSI.format()
    |> IO.iodata_to_binary()
  end

  defp marked([line, carets]), do: [line, :red, carets, :reset]
  defp marked([]), do: []
end
