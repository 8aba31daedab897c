defmodule PtcRunner.Json.Explain.Format do
  @moduledoc false
  # Formats numbers and texts for readers.

  alias PtcRunner.Shown.Line

  @doc """
  A text of at most `width` characters.

      iex> PtcRunner.Json.Explain.Format.fit("operation", 5)
      "oper…"

  """
  @spec fit(String.t(), pos_integer()) :: String.t()
  def fit(text, width) do
    if String.length(text) <= width, do: text, else: String.slice(text, 0, width - 1) <> "…"
  end

  # Bytes of a text that are looked at for a line.
  @bytes 512

  @doc """
  The beginning of a text on one line of at most `width` characters.

      iex> PtcRunner.Json.Explain.Format.line("(+ 1\\n   2)", 20)
      "(+ 1 2)"

  """
  @spec line(binary(), pos_integer()) :: String.t()
  def line(text, width) do
    text
    |> binary_part(0, min(byte_size(text), @bytes))
    |> String.split()
    |> Enum.join(" ")
    |> Line.escape()
    |> fit(width)
  end

  @doc """
  A whole number with separators.

      iex> PtcRunner.Json.Explain.Format.number(1234567)
      "1,234,567"

  """
  @spec number(non_neg_integer()) :: String.t()
  def number(number) do
    number
    |> Integer.to_string()
    |> String.replace(~r/\B(?=(\d{3})+\z)/, ",")
  end

  @doc """
  Nanoseconds in a unit that fits.

      iex> Enum.map([0, 950, 12_345, 1_234_567, 61_000_000_000], &PtcRunner.Json.Explain.Format.time/1)
      ["0 ns", "950 ns", "12.3 µs", "1.23 ms", "61.0 s"]

  """
  @spec time(non_neg_integer()) :: String.t()
  def time(nanos) when nanos < 1_000, do: "#{nanos} ns"
  def time(nanos) when nanos < 1_000_000, do: "#{three(nanos / 1_000)} µs"
  def time(nanos) when nanos < 1_000_000_000, do: "#{three(nanos / 1_000_000)} ms"
  def time(nanos), do: "#{three(nanos / 1_000_000_000)} s"

  defp three(value) when value < 10, do: :erlang.float_to_binary(value, decimals: 2)
  defp three(value) when value < 100, do: :erlang.float_to_binary(value, decimals: 1)
  defp three(value), do: :erlang.float_to_binary(value, decimals: 0)
end
