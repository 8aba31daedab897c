defmodule PtcRunner.Test.BrokenAnswers.Tokens do
  @moduledoc "Splits the JSON of a value into tokens, to which faults are applied."

  alias PtcRunner.Json.Codec

  @doc "The layout of an answer: `{after a comma, after a colon, indentation or nil}`."
  def style do
    Enum.random([
      {"", "", nil},
      {" ", " ", nil},
      {"", " ", "  "},
      {"", " ", "    "},
      {"", " ", "\t"}
    ])
  end

  @doc """
  The pieces: `{:open, bracket, path}`, `{:close, bracket, path}`, `{:key, name, path}`, `{:colon, ":"}`,
  `{:comma, ",", path}` (of what it stands in), `{:value, value, type, path}`, `{:blank, text}`.
  """
  def of(value, type, style), do: value |> pieces(type, [], style, 0) |> List.flatten()

  defp pieces(value, {:optional, _type}, path, _style, _depth) when value == nil,
    do: {:value, nil, :null, path}

  defp pieces(value, {:optional, type}, path, style, depth),
    do: pieces(value, type, path, style, depth)

  defp pieces(value, {:map, fields} = type, path, style, depth) do
    entries =
      for {name, type} <- fields do
        inner = path ++ [name]
        {_comma, colon, _indent} = style

        [
          {:key, name, inner},
          {:colon, ":"},
          {:blank, colon},
          pieces(value[name], type, inner, style, depth + 1)
        ]
      end

    around("{", "}", entries, type, path, style, depth)
  end

  defp pieces(value, {:list, of} = type, path, style, depth) do
    entries =
      for {value, index} <- Enum.with_index(value),
          do: pieces(value, of, path ++ [index], style, depth + 1)

    around("[", "]", entries, type, path, style, depth)
  end

  defp pieces(value, type, path, _style, _depth), do: {:value, value, type, path}

  defp around(open, close, entries, type, path, {comma, _colon, indent}, depth) do
    between = if indent, do: ["\n", List.duplicate(indent, depth + 1)], else: comma
    between = IO.iodata_to_binary(between)
    first = if indent, do: between, else: ""
    last = if indent, do: IO.iodata_to_binary(["\n", List.duplicate(indent, depth)]), else: ""

    [
      {:open, open, path, type},
      {:blank, first},
      Enum.intersperse(entries, [{:comma, ",", path}, {:blank, between}]),
      {:blank, last},
      {:close, close, path}
    ]
  end

  @doc "The text of tokens; `{:text, text}` is a token that a fault has made."
  def text(tokens), do: tokens |> Enum.map(&piece/1) |> IO.iodata_to_binary()

  defp piece({:text, text}), do: text
  defp piece({:blank, text}), do: text
  defp piece({:open, bracket, _path, _type}), do: bracket
  defp piece({:close, bracket, _path}), do: bracket
  defp piece({:key, name, _path}), do: Codec.encode!(name)
  defp piece({:colon, sign}), do: sign
  defp piece({:comma, sign, _path}), do: sign
  defp piece({:value, value, _type, _path}), do: Codec.encode!(value)
end
