defmodule PtcRunner.Lisp.Answers.Format do
  @moduledoc false
  # The built-in `format`.
  #
  #   text ──▶ literal parts, and directives: flags and width (read and ignored), precision, letter ──▶ text, an argument each

  alias PtcRunner.Lisp.{Answers, Text, Words}

  # Erlang writes no more decimals.
  @most_decimals 253
  @large 1.0e22
  # A template is gone through without a look at the deadline.
  @longest 1_000_000
  @specials [:infinity, :negative_infinity, :nan]

  @doc """
  Formats a text.

      iex> alias PtcRunner.Lisp.Answers.Format
      iex> Format.answer(["%s: %d of %x (%e)", "n", 3, 255, 2.5])
      {true, "n: 3 of ff (2.500000e+00)"}

      iex> PtcRunner.Lisp.Answers.Format.answer(["%d", nil])
      {false, "runtime_error", "%d expects an integer, got: nil"}

  """
  @spec answer([term()]) :: Answers.answer()
  def answer([]), do: Answers.runtime_error("format requires at least a format string")

  def answer([template | _args]) when is_binary(template) and byte_size(template) > @longest,
    do: Answers.type_error("format: the format string is longer than #{@longest} bytes")

  def answer([template | args]) when is_binary(template) do
    if String.valid?(template),
      do: write(template, args, []),
      else: Answers.type_error("format: the format string is not valid UTF-8")
  end

  def answer([other | _args]),
    do: Answers.type_error("format: expected a format string, got #{Words.type(other)}")

  defp write(template, args, made) do
    case :binary.split(template, "%") do
      [text] -> {true, IO.iodata_to_binary(Enum.reverse([text | made]))}
      [text, directive] -> directive(directive, args, [text | made])
    end
  end

  defp directive("%" <> rest, args, made), do: write(rest, args, ["%" | made])

  defp directive(text, args, made) do
    text = text |> skip([?-, ?0]) |> skip(?0..?9)

    with {:ok, precision, letter} <- precision(text) do
      case letter do
        <<letter, rest::binary>> when letter in ~c"sdfexo" ->
          one(letter, precision, rest, args, made)

        _other ->
          Answers.runtime_error("unsupported format specifier in: %#{cut(letter)}")
      end
    end
  end

  defp skip(<<char, rest::binary>> = text, chars),
    do: if(char in chars, do: skip(rest, chars), else: text)

  defp skip("", _chars), do: ""

  defp precision("." <> rest) do
    case Integer.parse(rest) do
      {number, letter} when number >= 0 and binary_part(rest, 0, 1) not in ["-", "+"] ->
        {:ok, number, letter}

      _none ->
        Answers.runtime_error("expected digits after '.' in format specifier")
    end
  end

  defp precision(text), do: {:ok, nil, text}

  defp one(_letter, _precision, _rest, [], _made),
    do: Answers.runtime_error("not enough arguments for format string")

  defp one(letter, precision, rest, [arg | args], made) do
    case written(letter, precision, arg) do
      {:ok, text} -> write(rest, args, [text | made])
      error -> error
    end
  end

  defp written(?s, _precision, arg), do: {:ok, Text.str(arg)}

  defp written(letter, _precision, special) when letter in ~c"fe" and special in @specials,
    do: {:ok, Text.str(special)}

  defp written(letter, precision, number) when letter in ~c"fe" and is_number(number) do
    precision = precision || 6

    cond do
      precision > @most_decimals ->
        Answers.runtime_error(
          "%#{<<letter>>} cannot write #{precision} decimals, the most are #{@most_decimals}"
        )

      float = float(number) ->
        {:ok,
         if(letter == ?f, do: decimals(float, precision), else: scientific(float, precision))}

      true ->
        {:ok, if(letter == ?f, do: whole(number, precision), else: "Infinity")}
    end
  end

  defp written(letter, _precision, other) when letter in ~c"fe",
    do: Answers.runtime_error("%#{<<letter>>} expects a number, got: #{Words.shown(other)}")

  defp written(letter, _precision, integer) when is_integer(integer) do
    case letter do
      ?d -> {:ok, Integer.to_string(integer)}
      ?x -> {:ok, integer |> Integer.to_string(16) |> String.downcase()}
      ?o -> {:ok, Integer.to_string(integer, 8)}
    end
  end

  defp written(?d, _precision, float) when is_float(float) and trunc(float) == float,
    do: {:ok, Integer.to_string(trunc(float))}

  defp written(letter, _precision, other),
    do: Answers.runtime_error("%#{<<letter>>} expects an integer, got: #{Words.shown(other)}")

  # An integer beyond the range of floats has none.
  defp float(number) do
    number / 1
  rescue
    ArithmeticError -> nil
  end

  defp decimals(float, precision) when abs(float) >= @large, do: whole(trunc(float), precision)
  defp decimals(float, precision), do: :erlang.float_to_binary(float, decimals: precision)

  defp scientific(float, precision),
    do: :erlang.float_to_binary(float, scientific: min(precision, 249))

  defp whole(integer, 0), do: Integer.to_string(integer)
  defp whole(integer, precision), do: "#{integer}.#{String.duplicate("0", precision)}"

  defp cut(text),
    do: if(byte_size(text) <= 200, do: text, else: String.slice(text, 0, 100) <> "…")
end
