defmodule PtcRunner.Json.ErrorText.Scan do
  @moduledoc false
  # Searches the text of an error, by bytes and in one pass: a message may contain user data
  # of any size. Written by hand because compiled regular expressions cannot be stored in a module
  # across OTP versions, and because backtracking over such a message can take very long.

  defguardp is_space(byte) when byte == ?\s or byte in ?\t..?\r

  # Latin-1 letters count, as in a regular expression without the Unicode flag.
  defguardp is_word(byte)
            when byte in ?a..?z or byte in ?A..?Z or byte in ?0..?9 or byte == ?_ or
                   byte in [0xAA, 0xB5, 0xBA] or byte in 0xC0..0xD6 or byte in 0xD8..0xF6 or
                   byte in 0xF8..0xFF

  @typedoc "One pattern or several alternatives."
  @type pattern :: binary() | [binary()]

  @doc """
  Whether the pattern occurs.

      iex> PtcRunner.Json.ErrorText.Scan.has?("a badkey", ["badmap", "badkey"])
      true

  """
  @spec has?(binary(), pattern()) :: boolean()
  def has?(text, pattern), do: :binary.match(text, pattern) != :nomatch

  @doc """
  The text before the first occurrence of the pattern, or all of it.

      iex> PtcRunner.Json.ErrorText.Scan.until("one\\ntwo", "\\n")
      "one"

  """
  @spec until(binary(), pattern()) :: binary()
  def until(text, pattern), do: hd(:binary.split(text, pattern))

  @doc """
  The text after each occurrence of the pattern, from left to right.

      iex> PtcRunner.Json.ErrorText.Scan.rests("a key and a key.", "key")
      [" and a key.", "."]

  """
  @spec rests(binary(), pattern()) :: [binary()]
  def rests(text, pattern) do
    for {at, size} <- :binary.matches(text, pattern) do
      binary_part(text, at + size, byte_size(text) - at - size)
    end
  end

  @doc """
  The text without its leading white space.

      iex> PtcRunner.Json.ErrorText.Scan.skip_space(" \\n\\ta b")
      "a b"

  """
  @spec skip_space(binary()) :: binary()
  def skip_space(<<byte, rest::binary>>) when is_space(byte), do: skip_space(rest)
  def skip_space(rest), do: rest

  @doc """
  The text without its leading white space, if there is any.

      iex> PtcRunner.Json.ErrorText.Scan.after_space(" a")
      {:ok, "a"}

      iex> PtcRunner.Json.ErrorText.Scan.after_space("a")
      :error

  """
  @spec after_space(binary()) :: {:ok, binary()} | :error
  def after_space(<<byte, rest::binary>>) when is_space(byte), do: {:ok, skip_space(rest)}
  def after_space(_rest), do: :error

  @doc """
  The text in the quotes that the text begins with, unless it is empty, and the rest.

      iex> PtcRunner.Json.ErrorText.Scan.quoted(~s("a b" c))
      {:ok, "a b", " c"}

      iex> PtcRunner.Json.ErrorText.Scan.quoted(~s(""))
      :error

  """
  @spec quoted(binary()) :: {:ok, binary(), binary()} | :error
  def quoted(<<?", rest::binary>>) do
    case :binary.split(rest, "\"") do
      [text, rest] when text != "" -> {:ok, text, rest}
      _unclosed_or_empty -> :error
    end
  end

  def quoted(_rest), do: :error

  @doc """
  The word at the start of the text, and the rest.

      iex> PtcRunner.Json.ErrorText.Scan.word("name_1, b")
      {:ok, "name_1", ", b"}

      iex> PtcRunner.Json.ErrorText.Scan.word(", b")
      :error

  """
  @spec word(binary()) :: {:ok, binary(), binary()} | :error
  def word(text) do
    case word_size(text, 0) do
      0 -> :error
      size -> {:ok, binary_part(text, 0, size), binary_part(text, size, byte_size(text) - size)}
    end
  end

  @doc """
  Whether the text is exactly one word.

      iex> PtcRunner.Json.ErrorText.Scan.word?("a b")
      false

  """
  @spec word?(binary()) :: boolean()
  def word?(text), do: match?({:ok, _word, ""}, word(text))

  defp word_size(<<byte, rest::binary>>, size) when is_word(byte), do: word_size(rest, size + 1)
  defp word_size(_rest, size), do: size
end
