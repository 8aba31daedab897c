defmodule PtcRunner.Lisp.Prints do
  @moduledoc false
  # What a program prints.

  @doc """
  An entry of at most so many characters.

      iex> PtcRunner.Lisp.Prints.entry("abcdefghij", 5)
      "abcde... (5/10 chars)"

  """
  @spec entry(String.t(), non_neg_integer()) :: String.t()
  def entry(text, most) when byte_size(text) <= most, do: text

  def entry(text, most) do
    case String.split_at(text, most) do
      {_all, ""} -> text
      {start, rest} -> "#{start}... (#{most}/#{most + String.length(rest)} chars)"
    end
  end
end
