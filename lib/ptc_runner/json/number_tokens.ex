defmodule PtcRunner.Json.NumberTokens do
  @moduledoc false
  # The numbers in a JSON text, outside of its strings.

  @token ~r/"(?:[^"\\]|\\.)*+"|-?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?/s

  # Only such a number can be beyond the largest float.
  @large ~r/[eE]\+?[0-9]{3}|[0-9]{309}/

  @doc """
  The text with each number as `fun` gives it.

      iex> PtcRunner.Json.NumberTokens.each(~s({"a": 1, "2": [3.5]}), [], fn digits, seen -> {"<" <> digits <> ">", [digits | seen]} end)
      {~s({"a": <1>, "2": [<3.5>]}), ["3.5", "1"]}

  """
  @spec each(String.t(), acc, (String.t(), acc -> {String.t(), acc})) :: {String.t(), acc}
        when acc: term()
  def each(text, acc, fun) do
    {parts, acc} =
      @token
      |> Regex.split(text, include_captures: true)
      |> Enum.map_reduce(acc, fn part, acc ->
        if number?(part), do: fun.(part, acc), else: {part, acc}
      end)

    {IO.iodata_to_binary(parts), acc}
  end

  # What stands between two tokens begins with neither.
  defp number?(<<first, _rest::binary>>) when first in ?0..?9, do: true
  defp number?(<<?-, second, _rest::binary>>) when second in ?0..?9, do: true
  defp number?(_part), do: false

  @doc """
  The text with the numbers that no float can hold as texts; nil if there are none.

      iex> PtcRunner.Json.NumberTokens.with_large_quoted("[1e400, 1e300, -2.5E+999]")
      ~s(["1e400", 1e300, "-2.5E+999"])
      iex> PtcRunner.Json.NumberTokens.with_large_quoted("[1e300]")
      nil

  """
  @spec with_large_quoted(String.t()) :: String.t() | nil
  def with_large_quoted(text) do
    if large?(text) do
      {quoted, found?} =
        each(text, false, fn digits, found? ->
          if infinite?(digits), do: {~s("#{digits}"), true}, else: {digits, found?}
        end)

      if found?, do: quoted
    end
  end

  @doc "Whether a text may have a number that no float can hold."
  @spec large?(String.t()) :: boolean()
  def large?(text), do: text =~ @large

  # An integer is no float.
  defp infinite?(digits) do
    digits =~ ~r/[.eE]/ and not match?({_float, ""}, Float.parse(digits))
  rescue
    ArgumentError -> true
  end
end
