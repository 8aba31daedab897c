defmodule PtcRunner.SubAgent.JsonRepair.Left do
  @moduledoc false
  # A field behind an object, and an item behind a list, that the value lacks: a bracket closed it too early.

  alias PtcRunner.Json.Codec

  @scalar ~S/(?:-?\d[\d.eE+-]*+|"(?:[^"\\]|\\.)*+"|true|false|null)/
  # A key in quotes, or a bare one before a value and the bracket that closes it.
  @field ~r/\A[\s}\]]*+(?|,?\s*+"((?:[^"\\]|\\.)*+)"\s*+:|,\s*+([A-Za-z_][\w-]*+)[ \t]*+:(?=[ \t]*+(?:["\d-]|(?:true|false|null)\b)[^\n]*[}\]]))/
  # Behind a comma, or nothing else than items up to the end of the text.
  @item Regex.compile!(
          "\\A\\s*+(?:,\\s*+#{@scalar}\\s*+(?:[,\\]]|\\z)|(?:#{@scalar}(?:[\\s,]++|\\z))++\\z)"
        )

  @doc """
  What stands directly behind the object or list at a place of a text and is left out of `value`, which was read of it; nil if there is nothing.

      iex> alias PtcRunner.SubAgent.JsonRepair.Left
      iex> Left.behind({0, 8}, ~s({"n": 1}, "x": 2}), %{"n" => 1})
      ~s(, "x":)
      iex> Left.behind({0, 8}, ~s({"n": 1}}, x: 2}), %{"n" => 1})
      "}, x:"
      iex> for text <- ["[1]\\n2", "[1]\\n1. one item"], do: Left.behind({0, 3}, text, [1])
      ["2", nil]
      iex> Left.behind({0, 8}, ~s({"n": 1}, "x": 2}), %{"n" => 1, "x" => 2})
      nil

  """
  @spec behind({non_neg_integer(), non_neg_integer()}, String.t(), term()) :: String.t() | nil
  def behind({at, size}, text, value) do
    rest = binary_part(text, at + size, byte_size(text) - at - size)

    case :binary.at(text, at) do
      ?{ when is_map(value) ->
        with [sign, key] <- Regex.run(@field, rest),
             false <- is_map_key(value, key) or is_map_key(value, String.replace(key, "-", "_")),
             do: String.trim(sign),
             else: (_none -> nil)

      ?[ when is_list(value) ->
        with [sign] <- Regex.run(@item, rest),
             {:ok, own} <- Codec.decode(binary_part(text, at, size)),
             true <- length(own) == length(value),
             do: String.trim(sign),
             else: (_none -> nil)

      _other ->
        nil
    end
  end
end
