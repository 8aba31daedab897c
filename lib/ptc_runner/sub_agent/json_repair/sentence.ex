defmodule PtcRunner.SubAgent.JsonRepair.Sentence do
  @moduledoc false
  # Describes a repair in words.

  alias PtcRunner.Shown

  # Maximum number of bytes that are shown of a name that needs escaping.
  @shown 256

  @doc false
  # `found` is the repaired text, `path` the path to its value.
  @spec text(atom(), String.t(), [String.t() | non_neg_integer()]) :: iodata()
  def text(kind, found, path)

  def text(:missing_comma, _found, path), do: ["added a comma after ", name(path)]
  def text(:extra_comma, _found, path), do: ["left out a comma after ", name(path)]
  def text(:trailing_comma, _found, path), do: ["left out the last comma in ", name(path)]
  def text(:semicolon, _found, path), do: ["read ; as a comma after ", name(path)]
  def text(:missing_colon, _found, path), do: ["added a colon after ", name(path)]
  def text(:wrong_colon, found, path), do: ["read ", found, " as a colon after ", name(path)]
  def text(:comment, found, _path), do: ["left out the comment ", quoted(found)]
  def text(:ellipsis, found, _path), do: ["left out ", found]
  def text(:missing_close, _found, path), do: ["added the bracket that closes ", name(path)]
  def text(:missing_open, _found, _path), do: "added the bracket that opens the answer"
  def text(:extra_close, found, _path), do: ["left out a ", found, " that closes nothing"]
  def text(:extra_open, found, _path), do: ["left out a ", found, " too many"]

  def text(:wrong_close, found, path),
    do: ["read ", found, " as the bracket that closes ", name(path)]

  def text(:single_quotes, found, path),
    do: ["read ", found, " as a double quote at ", name(path)]

  def text(:smart_quotes, found, path), do: ["read ", found, " as a double quote at ", name(path)]

  def text(:triple_quotes, found, path),
    do: ["read ", found, " as a double quote at ", name(path)]

  def text(:missing_start_quote, found, _path), do: ["added the quotes around ", quoted(found)]
  def text(:missing_end_quote, _found, path), do: ["added the quote that ends ", name(path)]
  def text(:inner_quote, _found, path), do: ["escaped a quote inside ", name(path)]

  def text(:control_character, _found, path),
    do: ["escaped a line break or a tab inside ", name(path)]

  def text(:bad_escape, found, path), do: ["mended the escape ", found, " inside ", name(path)]
  def text(:bare_key, found, _path), do: ["added quotes around the key ", quoted(found)]
  def text(:bare_word, found, _path), do: ["added quotes around ", quoted(found)]
  def text(:foreign_word, found, path), do: ["read ", found, " as JSON has it at ", name(path)]
  def text(:number_form, found, path), do: ["read ", found, " as a number at ", name(path)]
  def text(:thousands, found, path), do: ["read ", found, " as one number at ", name(path)]
  def text(:stray_character, found, _path), do: ["left out ", quoted(found)]
  def text(:key_spelling, found, path), do: ["read the key ", quoted(found), " as ", name(path)]
  # The same words as the warnings of coercion.
  def text(:quoted_number, found, path),
    do: ["coerced string ", quoted(found), " to a number at ", name(path)]

  def text(:quoted_boolean, found, path),
    do: ["coerced string ", quoted(found), " to boolean at ", name(path)]

  def text(:stringified, _found, path), do: ["read the string at ", name(path), " as JSON"]
  def text(:bare_element, _found, path), do: ["read ", name(path), " as a list of one element"]
  def text(:leftover, _found, _path), do: "left out what follows the answer"

  # The last name with the list indices after it: `"total"`, `"tags"[2]`.
  defp name(path), do: name(path, nil, [])

  defp name([index | rest], name, places) when is_integer(index),
    do: name(rest, name, [places, ?[, Integer.to_string(index), ?]])

  defp name([name | rest], _name, _places), do: name(rest, quoted(name), [])
  defp name([], nil, []), do: "the answer"
  defp name([], nil, places), do: ["element " | places]
  defp name([], name, places), do: [name | places]

  # `inspect/1` takes longer than the repair.
  defp quoted(text) do
    name = Shown.name(text)
    if plain?(name), do: [?", name, ?"], else: Shown.text(text, @shown)
  end

  defp plain?(<<byte, rest::binary>>) when byte >= 0x20 and byte not in [?", ?\\, 0x7F],
    do: plain?(rest)

  defp plain?(rest), do: rest == ""
end
