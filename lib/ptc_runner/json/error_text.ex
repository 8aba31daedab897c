defmodule PtcRunner.Json.ErrorText do
  @moduledoc false
  # Implements `PtcRunner.Json.format_error/1`: converts an error value to one line for a language model.
  # Payloads are only converted to text. Execution errors are distinguished by their text, because in the public
  # interface they carry nothing else.

  alias PtcRunner.Json.ErrorText.Scan
  alias PtcRunner.Shown

  @shown_value 50
  @shown_message 200

  # Maximum bytes of a message that are searched.
  @read 65_536

  @doc """
  Converts any term to text.

      iex> PtcRunner.Json.ErrorText.format({:execution_error, "get expected a map, got: 5"})
      "TypeError: expected an object but got: 5"

      iex> PtcRunner.Json.ErrorText.format(:what)
      "Error: :what"

  """
  @spec format(term()) :: String.t()
  def format({:execution_error, message}) when is_binary(message),
    do: message |> beginning(@read) |> execution() |> Shown.cut()

  def format({kind, payload} = error)
      when kind in [:parse_error, :validation_error, :refused, :timeout, :memory_exceeded] do
    labelled(kind, Shown.cut(Shown.string(payload), Shown.message_limit() - 64))
  catch
    # The payload has no string form, or the conversion fails.
    _kind, _reason -> other(error)
  end

  def format(error), do: other(error)

  defp labelled(:parse_error, text), do: "ParseError: " <> text
  defp labelled(:validation_error, text), do: "ValidationError: " <> text
  defp labelled(:refused, text), do: "RefusedError: " <> text
  defp labelled(:timeout, ms), do: "TimeoutError: execution exceeded #{ms}ms limit"
  defp labelled(:memory_exceeded, bytes), do: "MemoryError: exceeded #{bytes} byte limit"

  defp other(error), do: "Error: " <> Shown.text(error, Shown.value_limit(), limit: 5)

  defp beginning(text, size) when byte_size(text) <= size, do: text
  defp beginning(text, size), do: binary_part(text, 0, size)

  # A grapheme may be as long as the text.
  defp slice(text, graphemes),
    do: text |> beginning(Shown.message_limit()) |> String.slice(0, graphemes)

  # The order of the branches is part of the behaviour: the first match decides.
  defp execution(message) do
    cond do
      Scan.has?(message, ["badmap", "expected a map"]) ->
        type_error(message)

      Scan.has?(message, "badkey") or missing_key?(message) ->
        key_error(message)

      Scan.has?(message, "undefined_variable") ->
        variable_error(message)

      Scan.has?(message, "badarith") ->
        "ArithmeticError: invalid arithmetic operation (e.g., division by zero or wrong types)"

      Scan.has?(message, "function_clause") ->
        "TypeError: function received unexpected argument types"

      true ->
        "ExecutionError: " <> slice(Scan.until(message, "\n"), @shown_message)
    end
  end

  defp type_error(message) do
    expected = Scan.rests(message, "expected a map, got:")
    badmap = Scan.rests(message, "badmap,")

    cond do
      value = Enum.find_value(expected, &quoted_value/1) -> wrong_type(~s("#{value}"))
      value = Enum.find_value(expected, &bare_value/1) -> wrong_type(value)
      value = Enum.find_value(badmap, &quoted_value/1) -> wrong_type(~s("#{value}"))
      true -> "TypeError: expected an object but got a different type"
    end
  end

  defp wrong_type(value), do: "TypeError: expected an object but got: " <> value

  defp quoted_value(rest) do
    with {:ok, value, _rest} <- Scan.quoted(Scan.skip_space(rest)) do
      slice(value, @shown_value)
    else
      :error -> nil
    end
  end

  # The value up to a quote or the end of the line. If it is empty, white space before it other than
  # newlines counts as the value, and trimming makes it empty.
  defp bare_value(rest) do
    start = Scan.skip_space(rest)

    case Scan.until(start, ["\"", "\n"]) do
      "" ->
        space = binary_part(rest, 0, byte_size(rest) - byte_size(start))
        if not newlines?(space), do: ""

      value ->
        value |> String.trim() |> slice(@shown_value)
    end
  end

  defp newlines?(<<?\n, rest::binary>>), do: newlines?(rest)
  defp newlines?(rest), do: rest == ""

  # "key", then " not found" later on the same line, with at least one byte in between.
  defp missing_key?(message) do
    Scan.has?(message, " not found") and
      Enum.any?(:binary.split(message, "\n", [:global]), fn line ->
        case :binary.split(line, "key ") do
          [_before, <<_byte, rest::binary>>] -> Scan.has?(rest, " not found")
          _no_key -> false
        end
      end)
  end

  defp key_error(message) do
    rests = Scan.rests(message, "key")

    case Enum.find_value(rests, &key(&1, :atom)) || Enum.find_value(rests, &key(&1, :quoted)) do
      nil -> "KeyError: field not found in object"
      key -> "KeyError: field '#{key}' not found in object"
    end
  end

  # `key :name not found`, or `key "any name" not found`
  defp key(rest, kind) do
    with {:ok, rest} <- Scan.after_space(rest),
         {:ok, name, rest} <- name(rest, kind),
         {:ok, <<"not found", _::binary>>} <- Scan.after_space(rest) do
      name
    else
      _no_match -> nil
    end
  end

  defp name(<<?:, rest::binary>>, :atom), do: Scan.word(rest)
  defp name(_rest, :atom), do: :error
  defp name(rest, :quoted), do: Scan.quoted(rest)

  defp variable_error(message) do
    case variable(message) do
      nil -> "UndefinedVariable: variable not found in context"
      name -> "UndefinedVariable: '#{name}' is not defined in context"
    end
  end

  # The last quoted word on the line of "undefined_variable", or a quoted word at the start of a later
  # line. A second "undefined_variable" on a line is followed by less text than the first, so the first of each
  # line is enough.
  defp variable(message) do
    with [_before, rest] <- :binary.split(message, "undefined_variable") do
      line = Scan.until(rest, "\n")
      later = binary_part(rest, byte_size(line), byte_size(rest) - byte_size(line))
      first_word(later) || last_word(line) || variable(later)
    else
      [_no_more] -> nil
    end
  end

  defp first_word(text) do
    case Scan.quoted(Scan.skip_space(text)) do
      {:ok, word, _rest} -> if Scan.word?(word), do: word
      :error -> nil
    end
  end

  # Every piece except the first and the last is between two quotes.
  defp last_word(line) do
    [_unquoted | pieces] = :binary.split(line, "\"", [:global])
    pieces |> Enum.reverse() |> Enum.drop(1) |> Enum.find(&Scan.word?/1)
  end
end
