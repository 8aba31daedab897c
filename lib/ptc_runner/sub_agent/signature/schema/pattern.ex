defmodule PtcRunner.SubAgent.Signature.Schema.Pattern do
  @moduledoc false
  # Which patterns may stand in a JSON Schema. A rule's pattern has the syntax of Rust's `regex`; the one of a schema is read
  # as one of ECMAScript. Where both have the same syntax, it is portable.

  # Escapes that mean the same, and characters that need an escape.
  @classes ~c"dDwWsStnrfv"
  @boundaries ~c"bB"
  @escaped ~c".^$*+?()[]{}|\\/-"

  # Greatest count of a repetition in a simple pattern.
  @most 64

  @doc """
  Whether a provider that takes such patterns takes this one.

      iex> alias PtcRunner.SubAgent.Signature.Schema.Pattern
      iex> Enum.map(["^[A-Z]{2}-[0-9]+$", "(?i)abc", "\\\\pL+", "[[:alpha:]]", "\\\\bword"], &Pattern.takes?(:portable, &1))
      [true, false, false, false, true]

      iex> alias PtcRunner.SubAgent.Signature.Schema.Pattern
      iex> Enum.map(["^[A-Z]{2}-[0-9]+$", "^.{1,500}$", "\\\\bword"], &Pattern.takes?(:simple, &1))
      [true, false, false]

  """
  @spec takes?(:portable | :simple | :none, String.t()) :: boolean()
  def takes?(:none, _pattern), do: false
  def takes?(kind, pattern), do: outside(pattern, kind)

  defp outside("", _kind), do: true
  defp outside("(?:" <> rest, kind), do: outside(rest, kind)
  defp outside("(?" <> _rest, _kind), do: false
  defp outside("[^" <> rest, kind), do: first(rest, kind)
  defp outside("[" <> rest, kind), do: first(rest, kind)

  defp outside("{" <> rest, kind) do
    case Regex.run(~r/\A([0-9]+)(?:,([0-9]*))?\}/, rest) do
      [all | counts] -> counts?(counts, kind) and rest |> after_text(all) |> outside(kind)
      nil -> false
    end
  end

  defp outside(<<char, _rest::binary>>, _kind) when char in ~c"]}", do: false

  defp outside(<<?\\, char, rest::binary>>, kind) when char in @classes or char in @escaped,
    do: outside(rest, kind)

  defp outside(<<?\\, char, rest::binary>>, :portable) when char in @boundaries,
    do: outside(rest, :portable)

  defp outside("\\" <> _rest, _kind), do: false
  defp outside(<<_char, rest::binary>>, kind), do: outside(rest, kind)

  # A bracket that is the first character of a class is read in different ways.
  defp first("]" <> _rest, _kind), do: false
  defp first(rest, kind), do: inside(rest, kind)

  defp inside("", _kind), do: false
  defp inside("]" <> rest, kind), do: outside(rest, kind)

  # Classes in classes, and their differences.
  defp inside("[" <> _rest, _kind), do: false

  defp inside(<<char, char, _rest::binary>>, _kind) when char in ~c"&-~", do: false

  defp inside(<<?\\, char, rest::binary>>, kind) when char in @classes or char in @escaped,
    do: inside(rest, kind)

  defp inside("\\" <> _rest, _kind), do: false
  defp inside(<<_char, rest::binary>>, kind), do: inside(rest, kind)

  defp counts?(_counts, :portable), do: true

  defp counts?(counts, :simple),
    do: Enum.all?(counts, &(byte_size(&1) < 3 and (&1 == "" or String.to_integer(&1) <= @most)))

  defp after_text(text, start),
    do: binary_part(text, byte_size(start), byte_size(text) - byte_size(start))
end
