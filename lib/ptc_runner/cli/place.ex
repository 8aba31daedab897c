defmodule PtcRunner.CLI.Place do
  @moduledoc false
  # Finds the position of the value at a path in a JSON text. The text was already parsed, so it is valid.

  @open_object ?\{
  @open_list ?\[
  @closing [?\}, ?\]]

  @doc """
  The offset and the length in bytes, or `:error`.

      iex> PtcRunner.CLI.Place.of(~s({"a": [1, {"b": 22}]}), ["a", 1, "b"])
      {:ok, {16, 2}}

      iex> PtcRunner.CLI.Place.of(~s({"a": [1]}), ["a", 7])
      :error

  """
  @spec of(binary(), [String.t() | non_neg_integer()]) ::
          {:ok, {non_neg_integer(), pos_integer()}} | :error
  def of(text, path) do
    find(text, blank(text, 0), path)
  catch
    # The text is not valid after all.
    :end_of_text -> :error
  end

  @doc """
  Line and column of an offset, both from 1; columns count characters.

      iex> PtcRunner.CLI.Place.line_and_column("{\\n é: 1", 5)
      {2, 3}

  """
  @spec line_and_column(binary(), non_neg_integer()) :: {pos_integer(), pos_integer()}
  def line_and_column(text, offset) do
    before = binary_part(text, 0, min(offset, byte_size(text)))
    lines = String.split(before, "\n")
    {length(lines), (lines |> List.last() |> String.length()) + 1}
  end

  defp find(text, at, []), do: {:ok, {at, past(text, at) - at}}

  defp find(text, at, [part | path]) do
    case {byte(text, at), part} do
      {@open_object, key} when is_binary(key) ->
        member(text, blank(text, at + 1), key, path)

      {@open_list, index} when is_integer(index) ->
        element(text, blank(text, at + 1), index, path)

      _other ->
        :error
    end
  end

  # Of duplicate keys the first one counts.
  defp member(text, at, key, path) do
    case byte(text, at) do
      ?" ->
        colon = past(text, at)
        {:ok, name} = PtcRunner.Json.Codec.decode(binary_part(text, at, colon - at))
        value = blank(text, blank(text, colon) + 1)

        if name == key,
          do: find(text, value, path),
          else: member(text, after_value(text, value), key, path)

      _end ->
        :error
    end
  end

  defp element(text, at, 0, path),
    do: if(byte(text, at) == ?\], do: :error, else: find(text, at, path))

  defp element(text, at, index, path) do
    case byte(text, at) do
      ?\] -> :error
      _value -> element(text, after_value(text, at), index - 1, path)
    end
  end

  # The offset of the next member or element, or of the closing bracket.
  defp after_value(text, at) do
    comma = blank(text, past(text, at))
    if byte(text, comma) == ?,, do: blank(text, comma + 1), else: comma
  end

  defp past(text, at) do
    case byte(text, at) do
      ?" -> past_string(text, at + 1)
      open when open in [@open_object, @open_list] -> past_brackets(text, at + 1, 1)
      _scalar -> past_scalar(text, at)
    end
  end

  defp past_brackets(_text, at, 0), do: at

  defp past_brackets(text, at, depth) do
    case byte(text, at) do
      ?" -> past_brackets(text, past_string(text, at + 1), depth)
      open when open in [@open_object, @open_list] -> past_brackets(text, at + 1, depth + 1)
      close when close in @closing -> past_brackets(text, at + 1, depth - 1)
      _other -> past_brackets(text, at + 1, depth)
    end
  end

  defp past_string(text, at) do
    case byte(text, at) do
      ?" -> at + 1
      ?\\ -> past_string(text, at + 2)
      _other -> past_string(text, at + 1)
    end
  end

  defp past_scalar(text, at) when at == byte_size(text), do: at

  defp past_scalar(text, at) do
    if :binary.at(text, at) in [?, | [?\s, ?\n, ?\r, ?\t | @closing]],
      do: at,
      else: past_scalar(text, at + 1)
  end

  defp blank(text, at) do
    if byte(text, at) in [?\s, ?\n, ?\r, ?\t], do: blank(text, at + 1), else: at
  end

  defp byte(text, at) when at < byte_size(text), do: :binary.at(text, at)
  defp byte(_text, _at), do: throw(:end_of_text)
end
