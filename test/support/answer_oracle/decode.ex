defmodule PtcRunner.Test.AnswerOracle.Decode do
  @moduledoc false
  # A simple JSON decoder: one function per rule of RFC 8259.

  @doc "The value a text begins with, and what follows it."
  @spec prefix(binary()) :: {:ok, term(), binary()} | :error
  def prefix(text) do
    {value, rest} = value(blank(text))
    {:ok, value, rest}
  catch
    :no_json -> :error
  end

  @doc "The value that is all of a text."
  @spec whole(binary()) :: {:ok, term()} | :error
  def whole(text) do
    case prefix(text) do
      {:ok, value, rest} -> if blank(rest) == "", do: {:ok, value}, else: :error
      :error -> :error
    end
  end

  defp value("null" <> rest), do: {nil, rest}
  defp value("true" <> rest), do: {true, rest}
  defp value("false" <> rest), do: {false, rest}
  defp value("\"" <> rest), do: string(rest, [])
  defp value("[" <> rest), do: array(blank(rest))
  defp value("{" <> rest), do: object(blank(rest))
  defp value(text), do: number(text)

  defp array("]" <> rest), do: {[], rest}
  defp array(text), do: elements(text, [])

  defp elements(text, before) do
    {element, rest} = value(text)

    case blank(rest) do
      "," <> rest -> elements(blank(rest), [element | before])
      "]" <> rest -> {Enum.reverse([element | before]), rest}
      _other -> throw(:no_json)
    end
  end

  defp object("}" <> rest), do: {%{}, rest}
  defp object(text), do: pairs(text, %{})

  defp pairs("\"" <> text, before) do
    {key, rest} = string(text, [])
    ":" <> rest = or_none(blank(rest), ":")
    {value, rest} = value(blank(rest))
    map = Map.put_new(before, key, value)

    case blank(rest) do
      "," <> rest -> pairs(blank(rest), map)
      "}" <> rest -> {map, rest}
      _other -> throw(:no_json)
    end
  end

  defp pairs(_text, _before), do: throw(:no_json)

  defp or_none(text, start),
    do: if(String.starts_with?(text, start), do: text, else: throw(:no_json))

  # The parts are collected in a list: with `<<text::binary, char>>`, whose place the compiler of Erlang 27 and 29 reuses,
  # the VM ended with a segmentation fault in a garbage collection.
  defp string("\"" <> rest, parts), do: {parts |> Enum.reverse() |> IO.iodata_to_binary(), rest}
  defp string("\\u" <> rest, parts), do: unicode(rest, parts)

  defp string(<<?\\, char, rest::binary>>, parts) do
    escapes = %{?" => ?", ?\\ => ?\\, ?/ => ?/, ?b => 8, ?f => 12, ?n => 10, ?r => 13, ?t => 9}
    char = escapes[char] || throw(:no_json)
    string(rest, [char | parts])
  end

  defp string(<<char::utf8, rest::binary>>, parts) when char >= 0x20 and char != ?\\,
    do: string(rest, [<<char::utf8>> | parts])

  defp string(_other, _parts), do: throw(:no_json)

  defp unicode(rest, parts) do
    case hex(rest) do
      {high, "\\u" <> rest} when high in 0xD800..0xDBFF ->
        case hex(rest) do
          {low, rest} when low in 0xDC00..0xDFFF ->
            char = 0x10000 + (high - 0xD800) * 0x400 + low - 0xDC00
            string(rest, [<<char::utf8>> | parts])

          _other ->
            throw(:no_json)
        end

      {char, rest} when char not in 0xD800..0xDFFF ->
        string(rest, [<<char::utf8>> | parts])

      _other ->
        throw(:no_json)
    end
  end

  defp hex(<<digits::binary-size(4), rest::binary>>) do
    if digits =~ ~r/\A[0-9a-fA-F]{4}\z/,
      do: {String.to_integer(digits, 16), rest},
      else: throw(:no_json)
  end

  defp hex(_other), do: throw(:no_json)

  defp number(text) do
    case Regex.run(~r/\A(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][+-]?[0-9]+)?/, text) do
      nil -> throw(:no_json)
      [token, _whole] -> {integer(token), after_token(text, token)}
      [token, whole, fraction] -> {float(whole, fraction, ""), after_token(text, token)}
      [token, whole, fraction, e] -> {float(whole, fraction, e), after_token(text, token)}
    end
  end

  # `1.` and `1e` are not numbers, and not numbers followed by other text.
  defp after_token(text, token) do
    case binary_part(text, byte_size(token), byte_size(text) - byte_size(token)) do
      <<char, _::binary>> when char in [?., ?e, ?E] or char in ?0..?9 -> throw(:no_json)
      rest -> rest
    end
  end

  defp integer(token) when byte_size(token) > 1024, do: throw(:no_json)
  defp integer(token), do: String.to_integer(token)

  # A whole number before an exponent is converted to an integer first, so -0 loses its sign.
  defp float("-0", "", exponent), do: float("0", "", exponent)

  defp float(whole, fraction, exponent) do
    fraction = if fraction == "", do: ".0", else: fraction
    {float, ""} = Float.parse(whole <> fraction <> exponent)
    float
  rescue
    _overflow -> throw(:no_json)
  end

  defp blank(<<char, rest::binary>>) when char in ~c" \t\n\r", do: blank(rest)
  defp blank(text), do: text
end
