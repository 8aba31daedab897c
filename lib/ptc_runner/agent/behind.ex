defmodule PtcRunner.Agent.Behind do
  @moduledoc false
  # What stands directly behind the object or list of an answer, in its line, and says that the value is another one: an operator with what it is
  # applied to, a call, or that items are left out. Sentences and Markdown say nothing of the kind.

  alias PtcRunner.Agent.Parts
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.JsonRepair.Left

  # Maximum number of values that are looked at, and of the characters that an error shows.
  @most 64
  @shown 20

  # By bytes: the text need not be UTF-8. The last alternatives are ×, ÷, ², ³, ½, °, ≠, ≤, ≥, ≈ and …
  @signs [
    # `.sort`, `[0]`
    ~S"\.[A-Za-z_]\w*",
    ~S"\[(?=[\s\w\x22':-]*\])",
    # `* 3`, `/2`, `- [1]`: an operator and an operand
    ~S"[ \t]*[*\/+%-][ \t]*(?=[\d\[{(])",
    ~S"[*\/^%+-](?=\w)",
    ~S"[ \t]*\*\*(?=[ \t]*[\d(])",
    ~S"[ \t]*(?:<=?|>=?)[ \t]*(?=[\d\[{\x22'])",
    ~S"[ \t]*(?:\|\||&&|\?\?|\^|\+\+|[=!]=|=>|->|:=|,?[ \t]*\.\.+|=)",
    ~S"[ \t]*%(?!\w)",
    ~S"[ \t]*\|(?!\|)[ \t]*(?=[A-Za-z_])",
    ~S"[ \t]*(?:\xC3[\x97\xB7]|\xC2[\xB2\xB3\xBD\xB0\xB1]|\xE2\x89[\x88\xA0\xA4\xA5]|\xE2\x80\xA6)",
    # A unit, and signs of it: $, £, § and €
    ~S"(?:\w+|\$|\xC2[\xA3\xA7]|\xE2\x82\xAC)",
    # `and 3 more`, `, etc.`
    ~S"[ \t]*,?[ \t]*\(?(?:(?:and|plus|or)[ \t]+)?\d+[ \t]+(?:more|others?)\b",
    ~S"[ \t]*,?[ \t]*\(?(?:and|plus|or|times|minus)[ \t]+\d+",
    ~S"[ \t]*,?[ \t]*\(?(?:(?i:etc)\b|and[ \t]+(?:more|others|so[ \t]+on)\b)",
    # `if x else 9`, `for i in x`
    ~S"[ \t]*(?:if\b[^\n]*\belse\b|for[ \t]+\w+[ \t]+in\b)"
  ]

  @here Regex.compile!("\\A(?:" <> Enum.join(@signs, "|") <> ")")

  @doc """
  What stands behind the value of an answer, nil if nothing that matters: a sign that the value is another one, or a field or an item that the
  value lacks. `spans` are the places of the objects and lists of the text; `part` is the text of the value, where several were found; `value` is
  what was read of it.

      iex> alias PtcRunner.Agent.{Behind, Parts}
      iex> found = fn text, value -> Behind.found(text, text |> Parts.of() |> elem(0), nil, value) end
      iex> for text <- ["[1, 2] * 3", "[2, 1].sort()", "[1] and 3 more", ~s({"n": 1} - as asked), "**[1]** it is", ~s(see {"n": "[1] * 3"})],
      ...>   do: found.(text, nil)
      ["*", ".sort", "and 3 more", nil, nil, nil]
      iex> found.(~s({"n": 1}, "x": 2}), %{"n" => 1})
      ~s(, "x":)
      iex> found.("[1, 2], 3]", [1, 2])
      ", 3]"
      iex> for {text, value} <- [{~s({"n": 1}, "x": 2}), %{"n" => 1, "x" => 2}}, {"[1, 2], 3 of them", [1, 2]}], do: found.(text, value)
      [nil, nil]

  """
  @spec found(String.t(), [Parts.span()], String.t() | nil, term()) :: String.t() | nil
  def found(text, spans, part, value) do
    spans =
      spans |> Enum.take(@most) |> Enum.filter(&(part == nil or Parts.text(text, &1) == part))

    sign =
      Enum.find_value(spans, &behind(&1, text)) ||
        Enum.find_value(spans, &Left.behind(&1, text, value))

    sign && sign |> String.split() |> Enum.join(" ") |> Shown.cut(@shown)
  end

  defp behind({at, size}, text) do
    from = at + size
    rest = binary_part(text, from, byte_size(text) - from)

    with [sign] <- Regex.run(@here, rest, capture: :first),
         false <- markdown?(sign, binary_part(text, 0, at)),
         do: sign,
         else: (_none -> nil)
  end

  # The value stands between two signs, or in a row of a table.
  defp markdown?(sign, before) do
    line = before |> String.split("\n") |> List.last()

    case String.trim(sign) do
      "**" -> String.ends_with?(before, "**")
      "|" -> String.contains?(line, "|")
      "*" -> String.ends_with?(before, "*")
      _other -> false
    end
  end
end
