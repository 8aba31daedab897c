defmodule PtcRunner.SubAgent.JsonRepair.Sentence do
  @moduledoc false
  # Describes a repair in words.

  alias PtcRunner.Shown

  # Maximum number of bytes that are shown of a name that needs escaping.
  @shown 256

  # `:path`: the name of the place; `:found`, `:quoted`: the text that was found.
  @sentences %{
    missing_comma: ["added a comma after ", :path],
    extra_comma: ["left out a comma after ", :path],
    trailing_comma: ["left out the last comma in ", :path],
    semicolon: ["read ; as a comma after ", :path],
    missing_colon: ["added a colon after ", :path],
    wrong_colon: ["read ", :found, " as a colon after ", :path],
    comment: ["left out the comment ", :quoted],
    ellipsis: ["left out ", :found],
    missing_close: ["added the bracket that closes ", :path],
    missing_open: ["added the bracket that opens the answer"],
    extra_close: ["left out a ", :found, " that closes nothing"],
    extra_open: ["left out a ", :found, " too many"],
    wrong_close: ["read ", :found, " as the bracket that closes ", :path],
    single_quotes: ["read ", :found, " as a double quote at ", :path],
    smart_quotes: ["read ", :found, " as a double quote at ", :path],
    triple_quotes: ["read ", :found, " as a double quote at ", :path],
    missing_start_quote: ["added the quotes around ", :quoted],
    missing_end_quote: ["added the quote that ends ", :path],
    inner_quote: ["escaped a quote inside ", :path],
    control_character: ["escaped a line break or a tab inside ", :path],
    bad_escape: ["mended the escape ", :found, " inside ", :path],
    bare_key: ["added quotes around the key ", :quoted],
    bare_word: ["added quotes around ", :quoted],
    foreign_word: ["read ", :found, " as JSON has it at ", :path],
    number_form: ["read ", :found, " as a number at ", :path],
    thousands: ["read ", :found, " as one number at ", :path],
    stray_character: ["left out ", :quoted],
    key_spelling: ["read the key ", :quoted, " as ", :path],
    quoted_number: ["coerced string ", :quoted, " to a number at ", :path],
    number_as_text: ["read the number ", :found, " as text at ", :path],
    quoted_boolean: ["coerced string ", :quoted, " to boolean at ", :path],
    stringified: ["read the string at ", :path, " as JSON"],
    bare_element: ["read ", :path, " as a list of one element"],
    leftover: ["left out what follows the answer"]
  }

  @doc """
  The kinds of repairs that can be told.

      iex> :missing_comma in PtcRunner.SubAgent.JsonRepair.Sentence.kinds()
      true

  """
  @spec kinds() :: [atom()]
  def kinds, do: Map.keys(@sentences)

  @doc false
  # `found` is the repaired text, `path` the path to its value.
  @spec text(atom(), String.t(), [String.t() | non_neg_integer()]) :: iodata()
  def text(kind, found, path) do
    Enum.map(Map.fetch!(@sentences, kind), fn
      :path -> name(path)
      :found -> found
      :quoted -> quoted(found)
      words -> words
    end)
  end

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
