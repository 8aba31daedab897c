defmodule PtcRunner.SubAgent.Signature.SyntaxText do
  @moduledoc false
  # Error messages of the signature parser, for the LLM or the person who wrote the signature.

  alias PtcRunner.Native.Rules
  alias PtcRunner.Shown

  @type fault ::
          {line :: pos_integer(), column :: non_neg_integer(), deepest_line :: pos_integer(),
           deepest :: non_neg_integer(), expected :: atom()}

  # Maximum length of quoted text.
  @longest_quote 24

  # Applications search for the first four words.
  @hint "Hint: Valid types are :string, :int, :float, :bool, :boolean, :keyword, :map, :any and " <>
          ":datetime; a list is [:type], a map is {field :type}"

  # Beside ptc_runner before 0.11.0.
  @older_hint "Hint: Valid types are :string, :int, :float, :bool, :keyword, :map and :any; " <>
                "a list is [:type], a map is {field :type}; from ptc_runner 0.11.0 on there are " <>
                ":datetime and :boolean"

  @no_mark ". Before ptc_runner 0.11.0 a list or a map cannot be optional: write :any?, or declare it without ?"

  @expected %{
    type: "a type such as :int, [:int] or {name :int}",
    type_word: "the name of a type",
    field_name: "the name of a field",
    field_name_or_end: "the name of a field or \"}\"",
    comma_or_map_end: "\",\" or \"}\"",
    list_end: "\"]\"",
    param_name: "the name of a parameter",
    param_name_or_end: "the name of a parameter or \")\"",
    comma_or_params_end: "\",\" or \")\"",
    arrow: "\"->\"",
    end: "the end of the signature"
  }

  @doc "The message for a fault: its reported position, and the error at the deepest position."
  @spec message(String.t(), fault()) :: String.t()
  def message(text, {line, column, deepest_line, deepest, expected}) do
    place = place(line, column, deepest_line, deepest)
    "parse error at line #{line}, column #{column}: " <> detail(text, deepest, expected, place)
  end

  @doc """
  The message with the place of the error itself: line and column count from 1, columns in characters.

      iex> {_line, _column, deepest_line, deepest} = {1, 0, 1, 9}
      iex> PtcRunner.SubAgent.Signature.SyntaxText.placed("{id :int name :string}", {1, 0, deepest_line, deepest, :comma_or_map_end})
      ~s(invalid signature: parse error at line 1, column 10: expected "," or "}", found "name" in "{id :int name :string}")

  """
  @spec placed(String.t(), fault()) :: String.t()
  def placed(text, {_line, _column, line, deepest, expected}) do
    before = binary_part(text, 0, deepest)
    start = before |> :binary.split("\n", [:global]) |> List.last()
    column = if String.valid?(start), do: String.length(start), else: byte_size(start)
    shown = " in " <> Shown.text(text, 200)

    # A hint follows the text.
    what =
      if unknown_word(text, deepest),
        do: detail(text, deepest, expected, shown),
        else: detail(text, deepest, expected, "") <> shown

    "invalid signature: parse error at line #{line}, column #{column + 1}: #{what}"
  end

  defp detail(text, at, expected, place) do
    case unknown_word(text, at) do
      nil -> "expected #{@expected[expected]}, found #{found(text, at)}#{place}#{mark(text, at)}"
      word -> "unknown type #{quoted(word)}#{place}. #{hint()}#{form(word)}"
    end
  end

  # What to write for types that the text does not have, and for names of other languages.
  @as_terms %{
    "decimal" => "[name: :decimal]",
    "date" => "[name: :date]",
    "time" => "[name: {:string, format: :time}]",
    "uuid" => "[name: {:string, format: :uuid}]",
    "email" => "[name: {:string, format: :email}]",
    "uri" => "[name: {:string, format: :uri}]",
    "url" => "[name: {:string, format: :uri}]",
    "enum" => "[name: {:string, enum: [\"a\", \"b\"]}]",
    "map_of" => "[name: {:map_of, :int}]",
    "one_of" => "[name: {:one_of, [:int, :string], nil}]"
  }
  @other_names %{
    "integer" => ":int",
    "number" => ":float",
    "double" => ":float",
    "money" => "[name: :decimal], a term",
    "text" => ":string",
    "str" => ":string",
    "binary" => ":string",
    "atom" => ":keyword",
    "list" => "[:type]",
    "array" => "[:type]",
    "object" => "{field :type}",
    "timestamp" => ":datetime",
    "utc_datetime" => ":datetime"
  }

  defp form(":" <> name = word) when is_map_key(@as_terms, name),
    do: ". The text of a signature has no #{word}; as a term it is #{@as_terms[name]}"

  defp form(":" <> name = word) when is_map_key(@other_names, name),
    do: ". Instead of #{word} write #{@other_names[name]}"

  defp form(_word), do: ""

  defp hint, do: if(newest?(), do: @hint, else: @older_hint)

  # `[:int]?` and `{a :int}?`
  defp mark(text, at) do
    optional? = at > 0 and match?(<<last, ??>> when last in [?], ?}], part(text, at - 1, 2))
    if optional? and not newest?(), do: @no_mark, else: ""
  end

  defp part(text, at, size), do: binary_part(text, at, min(byte_size(text) - at, size))

  defp newest?, do: Rules.current().values == :newest

  defp place(_line, column, _deepest_line, column), do: ""
  defp place(line, _column, line, deepest), do: " at offset #{deepest}"
  defp place(_, _, line, deepest), do: " at line #{line}, offset #{deepest}"

  # `:foo` at the offset, or the rest of a word such as `:integer`, of which `:int` was read.
  defp unknown_word(text, at) do
    case word(rest(text, at)) do
      ":" <> word when word != "" -> ":" <> word
      ":" -> nil
      "" -> nil
      word -> with begun when begun != nil <- begun(text, at), do: begun <> word
    end
  end

  # The letters before the offset, back to their colon.
  defp begun(text, at, from \\ 1)
  defp begun(_text, at, from) when from > at or from > @longest_quote, do: nil

  defp begun(text, at, from) do
    case :binary.at(text, at - from) do
      letter when letter in ?a..?z -> begun(text, at, from + 1)
      ?: when from > 1 -> binary_part(text, at - from, from)
      _ -> nil
    end
  end

  defp word(<<?:, rest::binary>>), do: ":" <> word(rest)
  defp word(rest), do: binary_part(rest, 0, word_size(rest, 0))

  defp word_size(<<c, rest::binary>>, size)
       when c in ?a..?z or c in ?A..?Z or c in ?0..?9 or c in [?_, ?-],
       do: word_size(rest, size + 1)

  defp word_size(_rest, size), do: size

  defp found(text, at) when at == byte_size(text), do: "the end of the text"

  defp found(text, at) do
    case rest(text, at) do
      <<c, rest::binary>> when c in ?a..?z or c in ?A..?Z or c == ?_ ->
        quoted(<<c>> <> word(rest))

      <<character::utf8, _::binary>> ->
        inspect(<<character::utf8>>)

      <<byte, _::binary>> ->
        inspect(<<byte>>)
    end
  end

  defp quoted(":" <> _ = word), do: word
  defp quoted(word), do: inspect(word)

  # The text from the offset on, truncated.
  defp rest(text, at), do: binary_part(text, at, min(byte_size(text) - at, @longest_quote))
end
